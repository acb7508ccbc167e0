/* Ordinary dtypes: every one of the golden file, every code of the small floats, byte orders, packing. */
#include <math.h>

#include "recognise/recognise.h"
#include "stored.h"

static gboolean
same_float (float a, float b)
{
  return (isnan (a) && isnan (b)) || memcmp (&a, &b, sizeof a) == 0;
}

static void
test_golden (void)
{
  /* name, first element in expected.f32 */
  static const struct
  {
    const char *name;
    guint at;
  } tensors[] = {
    { "bool", 0 },          { "u8", 8 },
    { "i8", 14 },           { "u16", 20 },
    { "i16", 26 },          { "u32", 32 },
    { "i32", 38 },          { "u64", 44 },
    { "i64", 50 },          { "f16", 56 },
    { "bf16", 68 },         { "f32", 80 },
    { "f64", 89 },          { "f8_e4m3", 95 },
    { "f8_e5m2", 351 },     { "f8_e8m0", 607 },
    { "f8_e4m3fnuz", 863 }, { "f8_e5m2fnuz", 1119 },
    { "f4", 1375 },         { "f6_e2m3", 1391 },
    { "f6_e3m2", 1455 },
  };
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden/quant/plain-dtypes/model.safetensors", NULL);
  g_autofree char *values_path = g_test_build_filename (G_TEST_DIST, "golden/quant/plain-dtypes/expected.f32", NULL);
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = tm_open_model (path, NULL, &error);
  gsize length;

  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (values_path, &expected, &length, &error));
  for (guint t = 0; t < G_N_ELEMENTS (tensors); t++)
    {
      gint64 found = tm_model_find_tensor (model, tensors[t].name);
      const TmTensor *tensor;
      const float *values = (const float *)(gpointer)expected + tensors[t].at;
      float out[256];
      gsize n;

      g_assert_cmpint (found, >=, 0);
      tensor = tm_model_tensor (model, (guint)found);
      n = (gsize)tensor->n_elements;
      g_assert_false (tensor->quantized);
      g_assert_null (tensor->scheme);
      g_assert_null (tensor->granularity);
      g_assert_cmpuint (4 * (tensors[t].at + n), <=, length);
      for (gsize first = 0; first < n; first += 5)
        {
          g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, first, n - first, out, NULL, &error));
          g_assert_no_error (error);
          for (gsize i = first; i < n; i++)
            if (!same_float (out[i - first], values[i]))
              g_error ("%s [%zu]: %a, expected %a", tensors[t].name, i, (double)out[i - first], (double)values[i]);
        }
      g_assert_false (tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW));
      g_assert_false (tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE));
    }
}

/* The record's pattern, put together from its places, is the element, whatever the byte order. */
static void
check_pattern (const TmScalar *scalar)
{
  guint64 pattern[2] = { 0, 0 };
  guint shift = 0;

  for (guint i = 0; i < scalar->n_locations; i++)
    for (guint bit = 0; bit < scalar->location[i].bits; bit++, shift++)
      {
        guint at = scalar->location[i].bit + bit;
        guint8 byte;

        g_assert_true (tm_source_read (scalar->location[i].source, scalar->location[i].byte + at / 8, &byte, 1, NULL));
        pattern[shift / 64] |= (guint64)(byte >> (at & 7) & 1) << (shift % 64);
      }
  g_assert_cmpuint (shift, ==, scalar->raw_bits);
  g_assert_cmphex (pattern[0], ==, scalar->pattern[0]);
  g_assert_cmphex (pattern[1], ==, scalar->pattern[1]);
}

/* Both byte orders of every dtype give the same numbers; records agree with runs and with native numbers. */
static void
test_orders (void)
{
  for (guint d = TM_DTYPE_F64; d < TM_DTYPE_STRING; d++)
    {
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype)d);
      const guint unit = d == TM_DTYPE_C64 || d == TM_DTYPE_C128 ? info->block_bytes / 2 : MAX (info->block_bytes, 1);
      const guint64 shape[2] = { 5, 16 };
      const gsize n = 80, n_bytes = n * info->bits / 8;
      g_autofree guint8 *little = g_malloc (n_bytes), *big = g_malloc (n_bytes);
      TmStored *stored[2];
      TmTensor *tensor[2];

      for (gsize i = 0; i < n_bytes; i++)
        {
          little[i] = (guint8)g_test_rand_int ();
          big[i / unit * unit + unit - 1 - i % unit] = little[i];
        }
      tensor[0] = make_tensor ((TmDtype)d, 2, shape, little, n_bytes, 7, FALSE, &stored[0]);
      tensor[1] = make_tensor ((TmDtype)d, 2, shape, big, n_bytes, 7, TRUE, &stored[1]);
      for (guint order = 0; order < 2; order++)
        for (gsize first = 0; first < n; first++)
          {
            gsize count = n - first;
            float value[80];
            guint8 native[80 * 16];
            gsize size = tm_tensor_get_native_size (tensor[order]);
            g_auto (TmScalar) scalar = TM_SCALAR_INIT;
            guint64 index[2];

            g_assert_null (tensor[order]->fault);
            g_assert_true (tm_tensor_decode (tensor[order], TM_QUANTITY_VALUE, first, count, value, NULL, NULL));
            g_assert_true (tm_tensor_decode_native (tensor[order], first, count, native, NULL, NULL));
            tm_tensor_unflatten (tensor[order], first, index);
            g_assert_true (tm_tensor_explain (tensor[order], index, &scalar, NULL));
            check_pattern (&scalar);
            g_assert_null (scalar.formula);
            g_assert_false (scalar.has_raw);
            g_assert_cmpuint (scalar.raw_bits, ==, info->bits);
            if (info->bits >= 8)
              g_assert_cmpmem (scalar.pattern, MIN (info->block_bytes, 16), little + first * info->block_bytes,
                               info->block_bytes);
            switch (scalar.value.kind)
              {
              case TM_NUMBER_F32:
                g_assert_true (same_float (scalar.value.as.f32, value[0]));
                g_assert_cmpuint (size, ==, 4);
                g_assert_cmpmem (native, 4 * count, value, 4 * count);
                break;
              case TM_NUMBER_F64:
                g_assert_true (same_float ((float)scalar.value.as.f64, value[0]));
                g_assert_cmpmem (native, 8, &scalar.value.as.f64, 8);
                break;
              case TM_NUMBER_I64:
                g_assert_true (same_float ((float)scalar.value.as.i64, value[0]));
                g_assert_cmpmem (native, size, &scalar.value.as.i64, size);
                break;
              case TM_NUMBER_U64:
                g_assert_true (same_float ((float)scalar.value.as.u64, value[0]));
                g_assert_cmpmem (native, size, &scalar.value.as.u64, size);
                break;
              case TM_NUMBER_BOOL:
                g_assert_true (same_float (scalar.value.as.b, value[0]));
                g_assert_cmpuint (scalar.value.stored_bool, ==, native[0]);
                break;
              default:
                g_assert_cmpuint (size, ==, info->block_bytes);
                g_assert_true (same_float ((float)scalar.value.as.c.re, value[0]));
                g_assert_cmpmem (native, size, scalar.pattern, size);
                break;
              }
          }
      free_tensor (tensor[0], stored[0]);
      free_tensor (tensor[1], stored[1]);
    }
}

static void
test_sub_byte (void)
{
  const guint8 bytes[4] = { 0x1F, 0x80, 0xE4, 0x7A };
  guint64 shape[1] = { 8 };
  TmStored *stored;
  TmTensor *tensor = make_tensor (TM_DTYPE_I4, 1, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  gint8 codes[16];
  float out[16];

  g_assert_true (tm_tensor_decode_native (tensor, 0, 8, codes, NULL, NULL));
  g_assert_cmpmem (codes, 8, ((gint8[]){ -1, 1, 0, -8, 4, -2, -6, 7 }), 8);
  free_tensor (tensor, stored);
  shape[0] = 16;
  tensor = make_tensor (TM_DTYPE_U2, 1, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 7, 9, out, NULL, NULL));
  for (guint i = 7; i < 16; i++)
    g_assert_cmpfloat (out[i - 7], ==, (float)(bytes[i / 4] >> (2 * (i % 4)) & 3));
  free_tensor (tensor, stored);
  decode_row (TM_DTYPE_F4, bytes, sizeof bytes, 8, out);
  for (guint i = 0; i < 8; i++)
    g_assert_true (same_float (out[i], ((const float[]){ -6, 0.5f, 0, -0.0f, 2, -4, -1, 6 })[i]));
}

/* Rows of tens of thousands: several reads that begin inside bytes. */
static void
test_long_sub_byte (void)
{
  const gsize n = 200003 / 4 * 4;
  const guint64 shape[1] = { n };
  g_autofree guint8 *bytes = g_malloc (n * 6 / 8);
  g_autofree float *out = g_new (float, n);
  TmStored *stored;
  TmTensor *tensor;

  for (gsize i = 0; i < n * 6 / 8; i++)
    bytes[i] = (guint8)(i * 2654435761u >> 11);
  tensor = make_tensor (TM_DTYPE_F6_E3M2, 1, shape, bytes, n * 6 / 8, 0, FALSE, &stored);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 3, n - 3, out, NULL, NULL));
  for (gsize i = 3; i < n; i++)
    {
      guint code = 0;
      float x;

      for (guint b = 0; b < 6; b++)
        code |= (guint)(bytes[(6 * i + b) / 8] >> ((6 * i + b) % 8) & 1) << b;
      x = code >> 2 & 7 ? ldexpf (1 + (float)(code & 3) / 4, (gint)(code >> 2 & 7) - 3) : (float)(code & 3) / 16;
      g_assert_true (same_float (out[i - 3], code & 32 ? -x : x));
    }
  free_tensor (tensor, stored);
}

static void
test_bool_byte (void)
{
  const guint8 bytes[3] = { 0, 1, 7 };
  guint64 shape[1] = { 3 }, index[1] = { 2 };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autofree char *json = NULL;
  TmStored *stored;
  TmTensor *tensor = make_tensor (TM_DTYPE_BOOL, 1, shape, bytes, sizeof bytes, 0, FALSE, &stored);

  g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
  json = tm_scalar_to_json (&scalar);
  g_assert_nonnull (strstr (json, "\"raw_hex\":\"0x07\""));
  g_assert_nonnull (strstr (json, "\"value\":true,"));
  free_tensor (tensor, stored);
}

static void
test_empty_and_scalar (void)
{
  const guint64 shape[2] = { 0, 4 };
  float out[1];
  TmStored *stored;
  TmTensor *tensor = make_tensor (TM_DTYPE_F32, 2, shape, "", 0, 0, FALSE, &stored);
  const float pi = 3.25f;

  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 0, out, NULL, NULL));
  g_assert_cmpfloat (tm_tensor_get_bits_per_weight (tensor), ==, 0);
  free_tensor (tensor, stored);
  tensor = make_tensor (TM_DTYPE_F32, 0, shape, &pi, 4, 0, FALSE, &stored);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 1, out, NULL, NULL));
  g_assert_cmpfloat (out[0], ==, pi);
  {
    g_auto (TmScalar) scalar = TM_SCALAR_INIT;
    g_autofree char *json = NULL;

    g_assert_true (tm_tensor_explain (tensor, NULL, &scalar, NULL));
    json = tm_scalar_to_json (&scalar);
    g_assert_nonnull (strstr (json, "\"index\":[],"));
  }
  free_tensor (tensor, stored);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plain/golden", test_golden);
  g_test_add_func ("/plain/orders", test_orders);
  g_test_add_func ("/plain/sub-byte", test_sub_byte);
  g_test_add_func ("/plain/long-sub-byte", test_long_sub_byte);
  g_test_add_func ("/plain/bool-byte", test_bool_byte);
  g_test_add_func ("/plain/empty-and-scalar", test_empty_and_scalar);
  return g_test_run ();
}
