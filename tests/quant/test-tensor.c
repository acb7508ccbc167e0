/* Tensors through the codec: any run of any quantity equals what the record of each element says. */
#include <math.h>

#include "io/error.h"
#include "stored.h"

static gboolean
same_float (double a, double b)
{
  return (isnan (a) && isnan (b)) || (a == b && signbit (a) == signbit (b));
}

/* raw, put together from the places the record names. */
static guint64
gather (const TmScalar *scalar)
{
  guint64 raw = 0;
  guint shift = 0;

  for (guint i = 0; i < scalar->n_locations; i++)
    {
      const TmLocation *location = &scalar->location[i];
      guint8 bytes[16] = { 0 };
      guint64 piece = 0;

      g_assert_cmpstr (tm_source_get_name (location->source), ==, "made.bin");
      g_assert_true (
          tm_source_read (location->source, location->byte, bytes, (location->bit + location->bits + 7) / 8, NULL));
      for (guint b = 0; b < 8; b++)
        piece |= (guint64)bytes[b] << (8 * b);
      piece >>= location->bit;
      if (location->bits < 64)
        piece &= (G_GUINT64_CONSTANT (1) << location->bits) - 1;
      raw |= piece << shift;
      shift += location->bits;
    }
  return raw;
}

static void
check_quantized (const TmTensor *tensor, const TmScalar *scalar, float value, gint32 raw, float scale, float offset)
{
  g_assert_true (same_float ((double)scalar->value.as.f32, (double)value));
  g_assert_cmpint (scalar->raw, ==, raw);
  g_assert_true (same_float (scalar->scale, (double)scale));
  g_assert_cmpint (scalar->has_offset, ==, tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET));
  g_assert_cmpint (scalar->has_zero_point, ==, tm_tensor_has_quantity (tensor, TM_QUANTITY_ZERO_POINT));
  if (scalar->has_offset)
    g_assert_true (same_float (scalar->offset, (double)offset));
  if (tensor->dtype != TM_DTYPE_TQ1_0)
    g_assert_cmphex (gather (scalar), ==, scalar->pattern[0]);
  g_assert_cmphex (scalar->pattern[0], ==, (guint64)raw & ((1u << scalar->raw_bits) - 1));
  g_assert_cmpuint (scalar->raw_bits, ==, tm_dtype_get_info (tensor->dtype)->code_bits);
  g_assert_nonnull (scalar->formula);
  g_assert_true (scalar->has_group);
}

/* Unaligned runs of every quantity against the record of every element in them. */
static void
test_runs (gconstpointer data)
{
  const TmDtype dtype = (TmDtype)GPOINTER_TO_UINT (data);
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  const guint64 shape[3] = { 2, 3, 2 * info->block_elements };
  const gsize n = 12 * info->block_elements, n_bytes = 12 * info->block_bytes;
  g_autofree guint8 *bytes = g_malloc (n_bytes);
  g_autofree float *value = g_new (float, n), *scale = g_new (float, n), *offset = g_new0 (float, n);
  g_autofree float *zero = g_new (float, n);
  g_autofree gint32 *raw = g_new (gint32, n);
  TmStored *stored;
  TmTensor *tensor;

  for (gsize i = 0; i < n_bytes; i++)
    bytes[i] = (guint8)g_test_rand_int ();
  tensor = make_tensor (dtype, 3, shape, bytes, n_bytes, 41, FALSE, &stored);
  g_assert_null (tensor->fault);
  g_assert_cmpstr (tensor->scheme, ==, "ggml");
  for (guint round = 0; round < 40; round++)
    {
      gsize first = (gsize)g_test_rand_int_range (0, (gint32)n);
      gsize count = (gsize)g_test_rand_int_range (0, (gint32)(n - first) + 1);
      g_autoptr (GError) error = NULL;

      if (round == 0)
        first = 0, count = n;
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, first, count, value, NULL, &error));
      g_assert_true (tm_tensor_decode_raw (tensor, first, count, raw, NULL, &error));
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_RAW, first, count, zero, NULL, &error));
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_SCALE, first, count, scale, NULL, &error));
      if (tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET))
        g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_OFFSET, first, count, offset, NULL, &error));
      /* every element of the first round, some of the others */
      for (gsize i = 0; i < count; i += round ? 1 + (gsize)g_test_rand_int_range (0, 97) : 1)
        {
          g_auto (TmScalar) scalar = TM_SCALAR_INIT;
          guint64 index[3], in_row;

          tm_tensor_unflatten (tensor, first + i, index);
          g_assert_cmpuint (tm_tensor_flatten (tensor, index), ==, first + i);
          g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
          check_quantized (tensor, &scalar, value[i], raw[i], scale[i], offset[i]);
          g_assert_cmpfloat (zero[i], ==, (float)raw[i]);
          in_row = index[2] / tm_block_codec_get (dtype)->granularity * tm_block_codec_get (dtype)->granularity;
          g_assert_cmpuint (scalar.group_start[2], ==, in_row);
          g_assert_cmpuint (scalar.group_end[2], ==, in_row + tm_block_codec_get (dtype)->granularity);
          g_assert_cmpuint (scalar.group_start[1], ==, index[1]);
          g_assert_cmpuint (scalar.group_end[0], ==, index[0] + 1);
        }
      if (tm_tensor_has_quantity (tensor, TM_QUANTITY_ZERO_POINT) && count)
        {
          g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_ZERO_POINT, first, count, zero, NULL, &error));
          g_assert_cmpfloat (zero[count - 1], ==, (float)tm_block_codec_get (dtype)->zero_point);
        }
      g_assert_no_error (error);
    }
  free_tensor (tensor, stored);
}

/* Longer than one read and one piece. */
static void
test_long_run (void)
{
  const guint64 shape[2] = { 700, 512 };
  const gsize n = 700 * 512, n_bytes = n / 256 * 210;
  g_autofree guint8 *bytes = g_malloc (n_bytes);
  g_autofree float *whole = g_new (float, n), *part = g_new (float, n);
  TmStored *stored;
  TmTensor *tensor;

  for (gsize i = 0; i < n_bytes; i++)
    bytes[i] = (guint8)(i * 2654435761u >> 13) & 0x3F;
  tensor = make_tensor (TM_DTYPE_Q6_K, 2, shape, bytes, n_bytes, 1, FALSE, &stored);
  tm_block_codec_get (TM_DTYPE_Q6_K)->values (bytes, n / 256, whole);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 77, n - 99, part, NULL, NULL));
  g_assert_cmpmem (part, (n - 99) * sizeof (float), whole + 77, (n - 99) * sizeof (float));
  free_tensor (tensor, stored);
}

static void
test_errors (void)
{
  const guint64 shape[2] = { 1, 32 }, outside[2] = { 0, 32 };
  const guint8 bytes[34] = { 0 };
  float out[64];
  gint32 raw[64];
  TmStored *stored;
  TmTensor *tensor = make_tensor (TM_DTYPE_Q8_0, 2, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;

  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 1, 32, out, NULL, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
  g_clear_error (&error);
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, G_MAXUINT64, 2, out, NULL, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
  g_clear_error (&error);
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_OFFSET, 0, 32, out, NULL, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_QUANTITY);
  g_clear_error (&error);
  g_assert_false (tm_tensor_explain (tensor, outside, &scalar, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
  g_clear_error (&error);
  g_cancellable_cancel (cancelled);
  g_assert_false (tm_tensor_decode_raw (tensor, 0, 32, raw, cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  free_tensor (tensor, stored);

  /* fewer bytes than the shape needs */
  tensor = make_tensor (TM_DTYPE_Q8_0, 2, shape, bytes, 33, 0, FALSE, &stored);
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 32, out, NULL, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TRUNCATED);
  g_clear_error (&error);
  free_tensor (tensor, stored);

  tensor = make_tensor (TM_DTYPE_UNKNOWN, 2, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  g_assert_nonnull (tensor->fault);
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 1, out, NULL, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  free_tensor (tensor, stored);

  /* a row that is no whole number of blocks */
  tensor = make_tensor (TM_DTYPE_Q4_K, 2, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  g_assert_nonnull (tensor->fault);
  g_assert_false (tm_tensor_explain (tensor, (const guint64[]){ 0, 0 }, &scalar, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TENSOR);
  free_tensor (tensor, stored);
}

/* A big-endian file swaps the fp16 fields of the block types whose convention is known, and nothing else. */
static void
test_big_endian_blocks (void)
{
  static const TmDtype known[] = { TM_DTYPE_Q4_0, TM_DTYPE_Q8_0, TM_DTYPE_Q4_K, TM_DTYPE_Q6_K, TM_DTYPE_MXFP4 };

  for (guint k = 0; k < G_N_ELEMENTS (known); k++)
    {
      const TmDtypeInfo *info = tm_dtype_get_info (known[k]);
      const TmBlockCodec *codec = tm_block_codec_get (known[k]);
      const guint64 shape[1] = { 2 * info->block_elements };
      const gsize n = 2 * info->block_elements, n_bytes = 2 * info->block_bytes;
      g_autofree guint8 *little = g_malloc (n_bytes), *big = NULL;
      g_autofree float *expected = g_new (float, n), *out = g_new (float, n);
      TmStored *stored;
      TmTensor *tensor;
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;

      for (gsize i = 0; i < n_bytes; i++)
        little[i] = (guint8)((g_test_rand_int () & 0x1F) | 0x20);
      big = g_memdup2 (little, n_bytes);
      for (guint block = 0; block < 2; block++)
        for (guint f = 0; f < codec->n_fields; f++)
          if (codec->field[f].kind == TM_FIELD_F16)
            {
              guint8 *p = big + block * info->block_bytes + codec->field[f].offset, low = p[0];

              p[0] = p[1];
              p[1] = low;
            }
      codec->values (little, 2, expected);
      tensor = make_tensor (known[k], 1, shape, big, n_bytes, 5, TRUE, &stored);
      g_assert_null (tensor->fault);
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 1, n - 1, out, NULL, NULL));
      g_assert_cmpmem (out, (n - 1) * sizeof (float), expected + 1, (n - 1) * sizeof (float));
      g_assert_true (tm_tensor_explain (tensor, (const guint64[]){ 7 }, &scalar, NULL));
      g_assert_cmpfloat (scalar.value.as.f32, ==, expected[7]);
      free_tensor (tensor, stored);
    }
  {
    const guint8 bytes[22] = { 0 };
    const guint64 shape[1] = { 32 };
    TmStored *stored;
    TmTensor *tensor = make_tensor (TM_DTYPE_Q5_0, 1, shape, bytes, sizeof bytes, 0, TRUE, &stored);

    g_assert_nonnull (tensor->fault);
    free_tensor (tensor, stored);
  }
}

/* Value = block value × companion, one for all or one an expert. */
static void
test_nvfp4_companion (void)
{
  const guint64 shape[3] = { 3, 2, 64 }, experts[1] = { 3 }, one[1] = { 1 };
  const gsize n = 384, n_bytes = 6 * 36;
  static const float factors[3] = { 0.1f, -2.5f, 1e-3f };
  g_autofree guint8 *bytes = g_malloc (n_bytes);
  g_autofree float *block_value = g_new (float, n), *value = g_new (float, n), *scale = g_new (float, n);
  guint rounded = 0;

  for (gsize i = 0; i < n_bytes; i++)
    bytes[i] = (guint8)g_test_rand_int () & 0x6F;
  tm_block_codec_get (TM_DTYPE_NVFP4)->values (bytes, 6, block_value);
  for (guint n_factors = 0; n_factors <= 3; n_factors += n_factors ? 2 : 1)
    {
      TmStored *stored, *companion = NULL;
      TmTensor *tensor = make_tensor (TM_DTYPE_NVFP4, 3, shape, bytes, n_bytes, 9, FALSE, &stored), *holder = NULL;

      if (n_factors)
        {
          holder = make_tensor (TM_DTYPE_F32, 1, n_factors == 1 ? one : experts, factors, 4 * n_factors, 2, FALSE,
                                &companion);
          tm_codec_attach_nvfp4_companion (tensor, companion);
        }
      g_assert_null (tensor->fault);
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 5, n - 5, value + 5, NULL, NULL));
      g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_SCALE, 5, n - 5, scale + 5, NULL, NULL));
      for (gsize i = 5; i < n; i++)
        {
          float factor = n_factors == 0 ? 1 : n_factors == 1 ? factors[0] : factors[i / 128];
          g_auto (TmScalar) scalar = TM_SCALAR_INIT;
          guint64 index[3];

          tm_tensor_unflatten (tensor, i, index);
          g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
          g_assert_cmpfloat (value[i], ==, block_value[i] * factor);
          g_assert_cmpfloat (scalar.value.as.f32, ==, value[i]);
          g_assert_cmpfloat ((float)scalar.scale, ==, scale[i]);
          g_assert_cmpfloat (tm_scalar_get_term (&scalar, "factor")->value.as.f32, ==, factor);
          g_assert_cmpint (scalar.has_exact, ==, (double)block_value[i] * (double)factor != (double)value[i]);
          rounded += scalar.has_exact;
        }
      free_tensor (tensor, stored);
      if (holder)
        free_tensor (holder, companion);
    }
  g_assert_cmpuint (rounded, >, 0);
}

static void
test_granularity (void)
{
  static const struct
  {
    TmDtype dtype;
    guint n_levels;
    guint64 coarse, fine;
    const char *text;
  } cases[] = {
    { TM_DTYPE_Q4_0, 1, 32, 32, "per-group 32" },
    { TM_DTYPE_Q6_K, 2, 256, 16, "per-group 16 ⊂ super-block 256" },
    { TM_DTYPE_Q4_K, 2, 256, 32, "per-group 32 ⊂ super-block 256" },
    { TM_DTYPE_IQ1_M, 2, 256, 16, "per-group 16 ⊂ super-block 256" },
    { TM_DTYPE_NVFP4, 1, 16, 16, "per-group 16" },
    { TM_DTYPE_Q8_K, 1, 256, 256, "per-group 256" },
    { TM_DTYPE_TQ1_0, 1, 256, 256, "per-group 256" },
    { TM_DTYPE_Q1_0, 1, 128, 128, "per-group 128" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const guint64 shape[2] = { 4, 1024 };
      g_autofree guint8 *bytes = g_malloc0 (4096 * 8);
      g_autofree char *text = NULL;
      TmStored *stored;
      TmTensor *tensor = make_tensor (cases[i].dtype, 2, shape, bytes, 4096 * 8, 0, FALSE, &stored);

      g_assert_cmpuint (tensor->granularity->n_levels, ==, cases[i].n_levels);
      g_assert_cmpuint (tensor->granularity->level[0].extent[0], ==, 1);
      g_assert_cmpuint (tensor->granularity->level[0].extent[1], ==, cases[i].coarse);
      g_assert_cmpuint (tensor->granularity->level[cases[i].n_levels - 1].extent[1], ==, cases[i].fine);
      text = tm_granularity_describe (tensor->granularity);
      g_assert_cmpstr (text, ==, cases[i].text);
      free_tensor (tensor, stored);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < TM_DTYPE_CODE_U1; i++)
    if (tm_dtype_get_info ((TmDtype)i)->quantized)
      {
        g_autofree char *path = g_strdup_printf ("/tensor/runs/%s", tm_dtype_get_name ((TmDtype)i));

        g_test_add_data_func (path, GUINT_TO_POINTER (i), test_runs);
      }
  g_test_add_func ("/tensor/long-run", test_long_run);
  g_test_add_func ("/tensor/errors", test_errors);
  g_test_add_func ("/tensor/big-endian-blocks", test_big_endian_blocks);
  g_test_add_func ("/tensor/nvfp4-companion", test_nvfp4_companion);
  g_test_add_func ("/tensor/granularity", test_granularity);
  return g_test_run ();
}
