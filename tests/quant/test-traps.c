/* Known traps of block decoding and plain dtypes, each a test of its own. */
#include <math.h>

#include "stored.h"

#define F16_ONE 0x00, 0x3C
#define F16_TEN 0x00, 0x49

static void
assert_bits (float value, guint32 bits)
{
  guint32 got;

  memcpy (&got, &value, sizeof got);
  g_assert_cmphex (got, ==, bits);
}

/* B040: nibbles are halves of the block, not neighbours, and not two's complement. */
static void
test_b040 (void)
{
  guint8 block[18] = { F16_ONE };
  float out[32];

  for (guint i = 0; i < 16; i++)
    block[2 + i] = (guint8)i;
  decode_row (TM_DTYPE_Q4_0, block, sizeof block, 32, out);
  for (guint i = 0; i < 16; i++)
    {
      g_assert_cmpfloat (out[i], ==, (float)i - 8);
      g_assert_cmpfloat (out[16 + i], ==, -8);
    }
}

/* B041: Q4_1's header is four bytes. */
static void
test_b041 (void)
{
  guint8 block[20] = { F16_ONE, F16_TEN };
  float out[32];

  memset (block + 4, 0x21, 16);
  decode_row (TM_DTYPE_Q4_1, block, sizeof block, 32, out);
  for (guint i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, i < 16 ? 11 : 12);
}

/* B042: the fifth bit of element e is bit e of the word. */
static void
test_b042 (void)
{
  guint8 q5_0[22] = { F16_ONE, 0x01, 0x00, 0x01, 0x00 }, q5_1[24] = { F16_ONE, F16_TEN, 0x01, 0x00, 0x01, 0x00 };
  float out[32];

  decode_row (TM_DTYPE_Q5_0, q5_0, sizeof q5_0, 32, out);
  for (guint i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, i == 0 || i == 16 ? 0 : -16);
  decode_row (TM_DTYPE_Q5_1, q5_1, sizeof q5_1, 32, out);
  for (guint i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, i == 0 || i == 16 ? 26 : 10);
}

/* B045: in GGUF the nibbles of MXFP4 are halves of the block; the scale byte holds twice the effective scale. */
static void
test_b045 (void)
{
  static const float expected[32] = { 0,   1,    2, 4, 0,    -1,    -2, -4, 0,   1,    2, 4, 0,    -1,    -2, -4,
                                      .5f, 1.5f, 3, 6, -.5f, -1.5f, -3, -6, .5f, 1.5f, 3, 6, -.5f, -1.5f, -3, -6 };
  guint8 block[17] = { 127 };
  float out[32];

  for (guint i = 0; i < 16; i++)
    block[1 + i] = (guint8)(((2 * i + 1) & 15) << 4 | ((2 * i) & 15));
  decode_row (TM_DTYPE_MXFP4, block, sizeof block, 32, out);
  for (guint i = 0; i < 32; i++)
    g_assert_cmpfloat (out[i], ==, expected[i]);
  /* The block type's table has level 0 for the code of minus zero: the value is +0, the raw code stays 8. */
  assert_bits (out[4], 0);
}

/* B046: four neighbours a byte. */
static void
test_b046 (void)
{
  guint8 block[18] = { F16_ONE };
  float out[64];

  memset (block + 2, 0x64, 16);
  decode_row (TM_DTYPE_Q2_0, block, sizeof block, 64, out);
  for (guint i = 0; i < 64; i++)
    g_assert_cmpfloat (out[i], ==, ((const float[]){ -1, 0, 1, 0 })[i & 3]);
}

/* B047: one wrong entry in a lattice table is seen, and nothing is compared with a tolerance. */
static void
test_b047 (void)
{
  guint8 block[110] = { F16_ONE };
  float out[256];
  guint fifteens = 0;

  for (guint set = 0; set < 8; set++)
    {
      for (guint g = 0; g < 64; g++)
        block[2 + g] = (guint8)(64 * (set & 3) + g);
      memset (block + 66, set & 4 ? 0xFF : 0, 8);
      decode_row (TM_DTYPE_IQ3_S, block, sizeof block, 256, out);
      for (guint i = 0; i < 256; i++)
        {
          g_assert_true (out[i] >= 1 && out[i] <= 15 && ((gint)out[i] & 1) == 1 && out[i] == floorf (out[i]));
          fifteens += out[i] == 15;
        }
    }
  g_assert_cmpuint (fifteens, >, 100);
}

/* B048: what the bytes of an IQ1_S block mean. */
static void
test_b048 (void)
{
  guint8 block[50] = { F16_ONE };
  guint64 shape[1] = { 256 }, index[1] = { 9 };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  TmStored *stored;
  TmTensor *tensor;

  block[2 + 1] = 0x34;
  /* third and fourth bytes: group 1's high bits 5, scale code 3, delta negative */
  block[34] = 5 << 3;
  block[35] = 0x80 | 3 << 4;
  tensor = make_tensor (TM_DTYPE_IQ1_S, 1, shape, block, sizeof block, 0, FALSE, &stored);
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  g_assert_cmpint (scalar.raw, ==, 0x534);
  g_assert_cmpuint (scalar.raw_bits, ==, 11);
  g_assert_cmpint (tm_scalar_get_term (&scalar, "index")->value.as.i64, ==, 0x534);
  g_assert_cmpint (tm_scalar_get_term (&scalar, "lane")->value.as.i64, ==, 1);
  g_assert_cmpint (tm_scalar_get_term (&scalar, "sc")->value.as.i64, ==, 3);
  g_assert_cmpfloat (tm_scalar_get_term (&scalar, "delta")->value.as.f32, ==, -0.125f);
  g_assert_cmpfloat (scalar.scale, ==, 7);
  g_assert_false (scalar.has_offset);
  g_assert_cmpuint (scalar.n_locations, ==, 2);
  g_assert_cmpuint (scalar.location[0].byte, ==, 3);
  g_assert_cmpuint (scalar.location[1].byte, ==, 34);
  g_assert_cmpuint (scalar.location[1].bit, ==, 3);
  g_assert_cmpuint (scalar.location[1].bits, ==, 3);
  free_tensor (tensor, stored);
}

/* B050: every block type shows values. */
static void
test_b050 (void)
{
  for (guint i = 0; i < TM_DTYPE_CODE_U1; i++)
    {
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype)i);
      g_autofree guint8 *bytes = g_malloc0 (info->block_bytes + 1);
      g_autofree float *out = g_new (float, MAX (info->block_elements, 1));

      if (info->quantized)
        decode_row ((TmDtype)i, bytes, info->block_bytes, info->block_elements, out);
    }
}

/* B051: BF16 is the upper half of binary32; the NaN keeps its sign in the pattern. */
static void
test_b051 (void)
{
  const guint8 bytes[6] = { 0x7F, 0x7F, 0x80, 0x00, 0xC1, 0xFF };
  guint64 shape[1] = { 3 }, index[1] = { 2 };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autofree char *hex = NULL;
  TmStored *stored;
  TmTensor *tensor;
  float out[3];

  decode_row (TM_DTYPE_BF16, bytes, sizeof bytes, 3, out);
  assert_bits (out[0], 0x7F7F0000);
  assert_bits (out[1], 0x00800000);
  g_assert_true (isnan (out[2]));
  tensor = make_tensor (TM_DTYPE_BF16, 1, shape, bytes, sizeof bytes, 0, FALSE, &stored);
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
  hex = tm_scalar_format_hex (&scalar);
  g_assert_cmpstr (hex, ==, "0xffc1");
  g_assert_true (isnan (scalar.value.as.f32));
  free_tensor (tensor, stored);
}

static void
test_b074 (void)
{
  const guint8 bytes[4] = { 0x7E, 0x7F, 0xFF, 0x01 };
  float out[4];

  decode_row (TM_DTYPE_F8_E4M3, bytes, sizeof bytes, 4, out);
  g_assert_cmpfloat (out[0], ==, 448);
  g_assert_true (isnan (out[1]) && isnan (out[2]));
  g_assert_cmpfloat (out[3], ==, 0.001953125f);
}

static void
test_b075 (void)
{
  const guint8 bytes[3] = { 0x40, 0x7F, 0x80 };
  float out[3];

  decode_row (TM_DTYPE_F8_E4M3FNUZ, bytes, sizeof bytes, 3, out);
  g_assert_cmpfloat (out[0], ==, 1);
  g_assert_cmpfloat (out[1], ==, 240);
  g_assert_true (isnan (out[2]));
}

static void
test_b077 (void)
{
  const guint8 bytes[3] = { 0xFF, 0x00, 0xFE };
  float out[3];

  decode_row (TM_DTYPE_F8_E8M0, bytes, sizeof bytes, 3, out);
  g_assert_true (isnan (out[0]));
  assert_bits (out[1], 0x00400000); /* 2^-127: a binary32 subnormal, not 0 */
  assert_bits (out[2], 0x7F000000);
}

/* MXFP4 of ggml, in contrast: 255 is no NaN, and large levels overflow. The exact numbers are told. */
static void
test_mxfp4_scales (void)
{
  guint8 block[17] = { 255 };
  guint64 shape[1] = { 32 }, index[1] = { 0 };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  TmStored *stored;
  TmTensor *tensor;
  float out[32];

  block[1] = 0x17; /* 12 low, 1 high */
  decode_row (TM_DTYPE_MXFP4, block, sizeof block, 32, out);
  g_assert_true (isinf (out[0]) && out[0] > 0);
  g_assert_cmpfloat (out[16], ==, 0x1p127f);
  tensor = make_tensor (TM_DTYPE_MXFP4, 1, shape, block, sizeof block, 0, FALSE, &stored);
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
  g_assert_true (scalar.has_exact);
  g_assert_cmpfloat (scalar.exact, ==, 12 * 0x1p127);
  free_tensor (tensor, stored);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traps/B040", test_b040);
  g_test_add_func ("/traps/B041", test_b041);
  g_test_add_func ("/traps/B042", test_b042);
  g_test_add_func ("/traps/B045", test_b045);
  g_test_add_func ("/traps/B046", test_b046);
  g_test_add_func ("/traps/B047", test_b047);
  g_test_add_func ("/traps/B048", test_b048);
  g_test_add_func ("/traps/B050", test_b050);
  g_test_add_func ("/traps/B051", test_b051);
  g_test_add_func ("/traps/B074", test_b074);
  g_test_add_func ("/traps/B075", test_b075);
  g_test_add_func ("/traps/B077", test_b077);
  g_test_add_func ("/blocks/mxfp4-scales", test_mxfp4_scales);
  return g_test_run ();
}
