/* A partial download: rows that are there are shown, the rest is marked missing (the second half of trap B034). */
#include <math.h>
#include <string.h>

#include "quant/codecs.h"
#include "view/tiles.h"

#define ROWS 4
#define COLUMNS 4
#define HELD 10 /* elements that the file holds */

static TmTensor *
tensor_new (TmStored *stored)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);
  tensor->name = g_strdup ("w");
  tensor->rank = 2;
  tensor->shape = g_memdup2 (stored->shape, sizeof (guint64) * 2);
  tensor->n_elements = ROWS * COLUMNS;
  tensor->operand = g_new0 (TmOperand, 1);
  tensor->n_operands = 1;
  tensor->values = stored;
  tm_codec_attach_simple (tensor);
  return tensor;
}

static TmStored *
stored_new (void)
{
  float numbers[HELD];
  TmStored *stored = g_new0 (TmStored, 1);
  for (guint i = 0; i < HELD; i++)
    numbers[i] = (float) i + 1;
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, sizeof numbers);
  stored->name = g_strdup ("w");
  stored->dtype = TM_DTYPE_F32;
  stored->rank = 2;
  stored->shape = g_new (guint64, 2);
  stored->shape[0] = ROWS;
  stored->shape[1] = COLUMNS;
  stored->n_elements = ROWS * COLUMNS;
  stored->source = tm_source_new_bytes ("cut.gguf", bytes);
  stored->bytes = ROWS * COLUMNS * sizeof (float);
  stored->available = sizeof numbers;
  stored->fault = g_strdup ("tensor \"w\" reaches past the end of the file");
  return stored;
}

static void
test_b034_truncated (void)
{
  TmStored *stored = stored_new ();
  TmTensor *tensor = tensor_new (stored);
  float out[ROWS * COLUMNS];
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (tensor->available, ==, HELD);
  g_assert_true (tm_tensor_is_readable (tensor));
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, HELD, out, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (out[HELD - 1], ==, HELD);
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, HELD + 1, out, NULL, &error));
  g_assert_cmpstr (error->message, ==, stored->fault);
  g_clear_error (&error);

  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_assert_true (tm_tensor_explain (tensor, (guint64[]) { 2, 1 }, &scalar, NULL));
  g_assert_cmpfloat (scalar.value.as.f32, ==, HELD);
  g_assert_false (tm_tensor_explain (tensor, (guint64[]) { 2, 2 }, &scalar, &error));
  g_assert_cmpstr (error->message, ==, stored->fault);
  g_clear_error (&error);

  TmSheet sheet;
  guint width, height;
  g_autofree float *texels = g_new0 (float, TM_TILE * TM_TILE);
  TmTileKey key = { 0 };
  tm_sheet_init (&sheet, tensor);
  g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, &error));
  for (guint i = 0; i < ROWS * COLUMNS; i++)
    {
      float texel = texels[i / COLUMNS * TM_TILE + i % COLUMNS];
      guint32 bits;
      memcpy (&bits, &texel, sizeof bits);
      if (i < HELD)
        g_assert_cmpfloat (texel, ==, (float) i + 1);
      else
        g_assert_cmphex (bits, ==, TM_TEXEL_MISSING_BITS);
    }
  g_assert_cmpfloat (tm_tensor_sample_range (tensor, TM_QUANTITY_VALUE, NULL, &error), ==, HELD);

  tm_tensor_free (tensor);
  tm_stored_free (stored);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traps/B034/truncated", test_b034_truncated);
  return g_test_run ();
}
