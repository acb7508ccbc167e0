/* Folders made from the description of the formats by golden/quant-made/make.py, apart from the program: every value and every
 * code, scales and zero points at some places. */
#include <math.h>
#include <string.h>

#include "recognise/conv-check.h"

static char *
made_folder (const char *name)
{
  return g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant-made", name, NULL);
}

static gboolean
same (float a, float b)
{
  return a == b || (isnan (a) && isnan (b));
}

/* null: the record has none; "nan", "inf" and "-inf" are text. */
static void
check_number (const JsonTree *sample, const char *key, gboolean has, double found)
{
  const JsonTree *wanted = json_tree_get (sample, key);

  if (wanted->kind == JSON_NULL)
    g_assert_false (has);
  else
    {
      g_assert_true (has);
      if (!same ((float) found, (float) g_ascii_strtod (wanted->text, NULL)))
        g_error ("%s is %.9g, not %s", key, found, wanted->text);
    }
}

static void
check_sample (const TmTensor *tensor, const JsonTree *sample)
{
  const JsonTree *index = json_tree_get (sample, "index");
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  guint64 at[8];

  for (guint axis = 0; axis < tensor->rank; axis++)
    at[axis] = g_ascii_strtoull (json_tree_at (index, axis)->text, NULL, 10);
  g_assert_true (tm_tensor_explain (tensor, at, &scalar, &error));
  check_number (sample, "raw", scalar.has_raw, (double) scalar.raw);
  check_number (sample, "scale", scalar.has_scale, scalar.scale);
  check_number (sample, "zero_point", scalar.has_zero_point, scalar.zero_point);
  check_number (sample, "offset", scalar.has_offset, scalar.offset);
  check_number (sample, "value", TRUE, (double) scalar.value.as.f32);
}

static gsize
check_tensor (const TmTensor *tensor, const JsonTree *expected, const char *numbers, gsize n_bytes)
{
  const JsonTree *shape = json_tree_get (expected, "shape"), *samples = json_tree_get (expected, "samples");
  const gboolean has_raw = tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW);
  const guint64 n = tensor->n_elements;
  g_autofree float *values = g_new (float, n);
  g_autofree gint32 *raw = g_new (gint32, n);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (tensor->rank, ==, json_tree_length (shape));
  for (guint axis = 0; axis < tensor->rank; axis++)
    g_assert_cmpuint (tensor->shape[axis], ==, g_ascii_strtoull (json_tree_at (shape, axis)->text, NULL, 10));
  if (json_tree_get (expected, "scheme")->kind != JSON_NULL)
    g_assert_cmpstr (tensor->scheme, ==, json_tree_text (expected, "scheme"));
  if (json_tree_get (expected, "dtype")->kind != JSON_NULL)
    g_assert_cmpstr (tensor->dtype_label, ==, json_tree_text (expected, "dtype"));
  g_assert_cmpuint (n * (has_raw ? 6 : 4), <=, n_bytes);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, n, values, NULL, &error));
  if (has_raw)
    g_assert_true (tm_tensor_decode_raw (tensor, 0, n, raw, NULL, &error));
  for (guint64 i = 0; i < n; i++)
    {
      float value;
      gint16 code;

      memcpy (&value, numbers + 4 * i, 4);
      if (!same (values[i], value))
        g_error ("%s: element %" G_GUINT64_FORMAT " is %.9g, not %.9g", tensor->name, i, (double) values[i],
                 (double) value);
      memcpy (&code, has_raw ? numbers + 4 * n + 2 * i : "\0", 2);
      if (has_raw)
        g_assert_cmpint (raw[i], ==, code);
    }
  for (guint s = 0; s < json_tree_length (samples); s++)
    check_sample (tensor, json_tree_at (samples, s));
  return (gsize) n * (has_raw ? 6 : 4);
}

static void
test_folder (gconstpointer data)
{
  g_autofree char *folder = made_folder (data);
  g_autofree char *json_path = g_build_filename (folder, "expected.json", NULL);
  g_autofree char *numbers_path = g_build_filename (folder, "expected.bin", NULL);
  g_autofree char *json = NULL, *numbers = NULL;
  g_autoptr (TmModel) model = open_with (folder, NULL);
  g_autoptr (JsonTree) tree = NULL;
  gsize n_bytes, at = 0;

  g_assert_true (g_file_get_contents (json_path, &json, NULL, NULL));
  g_assert_true (g_file_get_contents (numbers_path, &numbers, &n_bytes, NULL));
  tree = json_tree_read (json);
  for (guint t = 0; t < json_tree_length (json_tree_get (tree, "logical")); t++)
    {
      const JsonTree *expected = json_tree_at (json_tree_get (tree, "logical"), t);
      const TmTensor *tensor = need_tensor (model, json_tree_text (expected, "name"));

      g_assert_true (tensor->quantized);
      g_assert_false (tensor->config_conflict);
      at += check_tensor (tensor, expected, numbers + at, n_bytes - at);
      check_agrees (tensor, 20);
    }
  g_assert_cmpuint (at, ==, n_bytes);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 0);
}

int
main (int argc, char **argv)
{
  g_autofree char *all = NULL;
  g_autoptr (GDir) dir = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_test_init (&argc, &argv, NULL);
  all = made_folder (".");
  dir = g_dir_open (all, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_suffix (name, ".py"))
      g_ptr_array_add (names, g_strdup (name));
  g_assert_cmpuint (names->len, >=, 50);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_strconcat ("/made/", g_ptr_array_index (names, i), NULL);

      g_test_add_data_func (path, g_ptr_array_index (names, i), test_folder);
    }
  return g_test_run ();
}
