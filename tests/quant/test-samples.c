/* GGUF files written by the library: fifty elements of every tensor, through the reader, against its own numbers. */
#include <math.h>

#include "quant/codecs.h"
#include "recognise/recognise.h"

enum
{
  TENSOR,
  TYPE,
  FLAT,
  I0,
  I1,
  I2,
  I3,
  RAW,
  LEVEL,
  SCALE_BITS,
  OFFSET_BITS,
  VALUE_BITS,
  VALUE,
  N_FIELDS
};

static guint32
bits_of (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static guint32
parse_hex (const char *text)
{
  return (guint32)g_ascii_strtoull (text, NULL, 16);
}

static void
check_sample (const TmTensor *tensor, char **field)
{
  guint64 flat = g_ascii_strtoull (field[FLAT], NULL, 10), index[8];
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  float value, scale;

  tm_tensor_unflatten (tensor, flat, index);
  for (guint axis = 0; axis < tensor->rank; axis++)
    g_assert_cmpuint (index[tensor->rank - 1 - axis], ==, g_ascii_strtoull (field[I0 + axis], NULL, 10));
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  g_assert_no_error (error);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, flat, 1, &value, NULL, &error));
  if (scalar.value.kind == TM_NUMBER_F64)
    {
      g_assert_cmphex (scalar.pattern[0], ==, g_ascii_strtoull (field[VALUE_BITS], NULL, 16));
      g_assert_cmpfloat ((float)scalar.value.as.f64, ==, value);
    }
  else if (field[VALUE_BITS][0] != '-')
    {
      g_assert_cmphex (bits_of (value), ==, parse_hex (field[VALUE_BITS]));
      if (scalar.value.kind == TM_NUMBER_F32)
        g_assert_cmphex (bits_of (scalar.value.as.f32), ==, parse_hex (field[VALUE_BITS]));
    }
  else
    {
      g_autofree char *text = tm_scalar_format_value (&scalar);

      g_assert_cmpstr (text, ==, field[VALUE]);
    }
  if (!tensor->quantized)
    {
      g_autofree char *hex = tm_scalar_format_hex (&scalar);

      if (g_str_has_prefix (field[RAW], "0x"))
        g_assert_cmpstr (hex, ==, field[RAW]);
      return;
    }
  g_assert_cmpint (scalar.raw, ==, g_ascii_strtoll (field[RAW], NULL, 10));
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_SCALE, flat, 1, &scale, NULL, &error));
  g_assert_cmphex (bits_of (scale), ==, parse_hex (field[SCALE_BITS]));
  g_assert_cmphex (bits_of ((float)scalar.scale), ==, parse_hex (field[SCALE_BITS]));
  if (scalar.has_offset)
    g_assert_cmphex (bits_of ((float)scalar.offset), ==, parse_hex (field[OFFSET_BITS]));
  if (tm_scalar_get_term (&scalar, "level"))
    g_assert_cmpint (tm_scalar_get_term (&scalar, "level")->value.as.i64, ==, g_ascii_strtoll (field[LEVEL], NULL, 10));
}

static void
test_samples (gconstpointer data)
{
  const char *stem = data;
  g_autofree char *gguf = g_strdup_printf ("golden/gguf/valid/%s.gguf", stem);
  g_autofree char *tsv = g_strdup_printf ("golden/gguf/valid/%s.samples.tsv", stem);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, gguf, NULL);
  g_autofree char *table_path = g_test_build_filename (G_TEST_DIST, tsv, NULL), *table = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = tm_open_model (path, NULL, &error);
  guint checked = 0;

  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (table_path, &table, NULL, &error));
  lines = g_strsplit (table, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) field = g_strsplit (lines[i], "\t", -1);
      gint64 found;

      if (lines[i][0] == '#' || g_strv_length (field) != N_FIELDS)
        continue;
      found = tm_model_find_tensor (model, field[TENSOR]);
      g_assert_cmpint (found, >=, 0);
      g_assert_cmpstr (tm_model_tensor (model, (guint)found)->dtype_label, ==, field[TYPE]);
      check_sample (tm_model_tensor (model, (guint)found), field);
      checked++;
    }
  g_assert_cmpuint (checked, >, 300);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/samples/all-types", "all-types", test_samples);
  g_test_add_data_func ("/samples/tiny-llama-mixed", "tiny-llama-mixed", test_samples);
  return g_test_run ();
}
