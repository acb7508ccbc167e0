/* The scalar record's texts: key order and numbers of cli.md. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "model/tensor.h"
#include "quant/codecs.h"

typedef struct
{
  TmStored stored;
  TmTensor tensor;
  guint64 shape[2];
} Fixture;

static void
setup (Fixture *f, TmDtype dtype, const char *name, guint64 rows, guint64 columns, const void *bytes, gsize n_bytes)
{
  g_autoptr (GBytes) contents = g_bytes_new (bytes, n_bytes);

  memset (f, 0, sizeof *f);
  f->shape[0] = rows;
  f->shape[1] = columns;
  f->stored = (TmStored){ .name = (char *)name,
                          .dtype = dtype,
                          .rank = 2,
                          .shape = f->shape,
                          .n_elements = rows * columns,
                          .bytes = n_bytes,
                          .source = tm_source_new_bytes ("/x/m.gguf", contents) };
  f->tensor = (TmTensor){ .name = (char *)name,
                          .rank = 2,
                          .shape = f->shape,
                          .n_elements = rows * columns,
                          .bytes = n_bytes,
                          .values = &f->stored };
  tm_codec_attach_simple (&f->tensor);
}

static void
teardown (Fixture *f)
{
  g_clear_pointer (&f->tensor.granularity, tm_granularity_unref);
  g_free (f->tensor.fault);
  tm_source_unref (f->stored.source);
}

/* The example of the contract, built backwards: code 41, sub-scale 46, d 0x1.06p-15. */
static void
fill_q6_k (guint8 *block, guint element)
{
  guint half = element >> 7, in = element & 127;

  memset (block, 0, 210);
  block[64 * half + (in & 63)] = (guint8)((41 & 15) << (in >= 64 ? 4 : 0));
  block[128 + 32 * half + (in & 31)] = (guint8)((41 >> 4) << (2 * (in >> 5)));
  block[192 + (element >> 4)] = 46;
  block[208] = 0x0C;
  block[209] = 0x02;
}

static void
test_json (void)
{
  g_autofree guint8 *blocks = g_malloc0 (38 * 8 * 210);
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autofree char *json = NULL, *formula = NULL, *bits = NULL, *text = NULL;
  const guint64 index[2] = { 37, 530 };
  Fixture f;

  fill_q6_k (blocks + (37 * 8 + 2) * 210, 530 - 512);
  setup (&f, TM_DTYPE_Q6_K, "blk.0.attn_v.weight", 38, 2048, blocks, 38 * 8 * 210);
  g_assert_true (tm_tensor_explain (&f.tensor, index, &scalar, NULL));
  json = tm_scalar_to_json (&scalar);
  g_assert_cmpstr (json, ==,
                   "{\"tensor\":\"blk.0.attn_v.weight\",\"index\":[37,530],\"dtype\":\"Q6_K\",\"quantized\":true,"
                   "\"raw\":41,\"raw_bits\":6,\"raw_hex\":\"0x29\",\"scale\":0.0014367104,\"zero_point\":32,"
                   "\"offset\":null,\"value\":0.012930393,\"group\":{\"level\":1,\"start\":[37,528],\"end\":[38,544]},"
                   "\"formula\":\"d × sc × (q − 32)\",\"terms\":{\"d\":3.123283386230469e-05,\"sc\":46,\"q\":41},"
                   "\"location\":[{\"file\":\"m.gguf\",\"byte\":62598,\"bit\":0,\"bits\":4},"
                   "{\"file\":\"m.gguf\",\"byte\":62726,\"bit\":0,\"bits\":2}]}");
  formula = tm_scalar_format_formula (&scalar);
  g_assert_cmpstr (formula, ==, "3.1232834e-05 × 46 × (41 − 32)");
  bits = tm_scalar_format_bits (&scalar);
  g_assert_cmpstr (bits, ==, "101001");
  text = tm_scalar_to_text (&scalar);
  g_assert_nonnull (strstr (text, "raw          41           dequantized  0.012930393\n"));
  g_assert_nonnull (strstr (text, "per-group 16 ⊂ super-block 256"));
  teardown (&f);
}

static void
test_ordinary (void)
{
  const guint32 words[4] = { 0x3A83126F, 0x80000000, 0x7FC00001, 0xFF800000 };
  static const char *const expected[4] = {
    "\"raw_hex\":\"0x3a83126f\",\"scale\":null,\"zero_point\":null,\"offset\":null,\"value\":0.001,",
    "\"raw_hex\":\"0x80000000\",\"scale\":null,\"zero_point\":null,\"offset\":null,\"value\":-0.0,",
    "\"raw_hex\":\"0x7fc00001\",\"scale\":null,\"zero_point\":null,\"offset\":null,\"value\":\"NaN\",",
    "\"raw_hex\":\"0xff800000\",\"scale\":null,\"zero_point\":null,\"offset\":null,\"value\":\"-Infinity\",",
  };
  Fixture f;

  setup (&f, TM_DTYPE_F32, "norm", 1, 4, words, sizeof words);
  for (guint i = 0; i < 4; i++)
    {
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;
      g_autofree char *json = NULL;
      const guint64 index[2] = { 0, i };

      g_assert_true (tm_tensor_explain (&f.tensor, index, &scalar, NULL));
      json = tm_scalar_to_json (&scalar);
      g_assert_nonnull (strstr (json, expected[i]));
      g_assert_nonnull (strstr (json, "\"quantized\":false,\"raw\":null,\"raw_bits\":32,"));
      g_assert_nonnull (
          strstr (json, "\"group\":null,\"formula\":null,\"terms\":{},\"location\":[{\"file\":\"m.gguf\","));
    }
  teardown (&f);
}

/* Integers of 64 bits are exact, not through a double; complex numbers and float64 have their own forms. */
static void
test_wide (void)
{
  const guint64 words[4] = { G_MAXUINT64, G_GUINT64_CONSTANT (0x8000000000000001),
                             G_GUINT64_CONSTANT (0x3FB999999999999A), G_GUINT64_CONSTANT (0xBF8000003F000000) };
  static const struct
  {
    TmDtype dtype;
    guint at;
    const char *text;
  } cases[] = {
    { TM_DTYPE_U64, 0, "\"value\":18446744073709551615," },
    { TM_DTYPE_I64, 1, "\"value\":-9223372036854775807," },
    { TM_DTYPE_F64, 2, "\"value\":0.1," },
    { TM_DTYPE_C64, 3, "\"raw_bits\":64,\"raw_hex\":\"0xbf8000003f000000\"" },
    { TM_DTYPE_C64, 3, "\"value\":[0.5,-1]," },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;
      g_autofree char *json = NULL;
      const guint64 index[2] = { 0, cases[i].at };
      Fixture f;

      setup (&f, cases[i].dtype, "x", 1, 4, words, sizeof words);
      g_assert_true (tm_tensor_explain (&f.tensor, index, &scalar, NULL));
      json = tm_scalar_to_json (&scalar);
      g_assert_nonnull (strstr (json, cases[i].text));
      teardown (&f);
    }
}

/* One rounding in d × q + m: the exact sum stands beside the value, and only where it differs. */
static void
test_exact (void)
{
  guint8 block[20] = { 0x01, 0x3C, 0xFF, 0x03 }; /* d = 1 + 2^-10, m the largest subnormal half */
  g_auto (TmScalar) rounded = TM_SCALAR_INIT, exact = TM_SCALAR_INIT;
  g_autofree char *with = NULL, *without = NULL;
  const guint64 first[2] = { 0, 0 }, second[2] = { 0, 1 };
  Fixture f;

  block[4] = 15;
  setup (&f, TM_DTYPE_Q4_1, "w", 1, 32, block, sizeof block);
  g_assert_true (tm_tensor_explain (&f.tensor, first, &rounded, NULL));
  g_assert_true (tm_tensor_explain (&f.tensor, second, &exact, NULL));
  g_assert_true (rounded.has_exact);
  g_assert_cmpfloat (rounded.exact, ==, 15 * (1 + 0x1p-10) + 1023 * 0x1p-24);
  g_assert_false (exact.has_exact);
  with = tm_scalar_to_json (&rounded);
  without = tm_scalar_to_json (&exact);
  g_assert_nonnull (strstr (with, ",\"exact\":15.014709413051605,\"group\""));
  g_assert_null (strstr (without, "exact"));
  g_assert_nonnull (strstr (without, "\"zero_point\":null,\"offset\":6.097555e-05,"));
  teardown (&f);
}

/* Stored patterns of negative codes, narrow floats in the fewest digits of their own type, names that need escapes. */
static void
test_forms (void)
{
  const guint8 q8_0[34] = { 0x00, 0x3C, (guint8)-36 }, half[2] = { 0x66, 0x2E };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT, narrow = TM_SCALAR_INIT;
  g_autofree char *json = NULL, *value = NULL, *narrow_json = NULL, *formula = NULL, *text = NULL;
  const guint64 index[2] = { 0, 0 };
  Fixture f;

  setup (&f, TM_DTYPE_Q8_0, "a\"\x1b[1m\xff", 1, 32, q8_0, sizeof q8_0);
  g_assert_true (tm_tensor_explain (&f.tensor, index, &scalar, NULL));
  json = tm_scalar_to_json (&scalar);
  g_assert_true (g_str_has_prefix (json, "{\"tensor\":\"a\\\"\\u001b[1m\uFFFD\",\"index\":[0,0],"));
  g_assert_nonnull (strstr (json, "\"raw\":-36,\"raw_bits\":8,\"raw_hex\":\"0xdc\",\"scale\":1,\"zero_point\":0,"));
  formula = tm_scalar_format_formula (&scalar);
  g_assert_cmpstr (formula, ==, "1 × (-36)");
  text = tm_scalar_to_text (&scalar);
  g_assert_null (strchr (text, 0x1B));
  teardown (&f);
  setup (&f, TM_DTYPE_F16, "h", 1, 1, half, sizeof half);
  g_assert_true (tm_tensor_explain (&f.tensor, index, &narrow, NULL));
  value = tm_scalar_format_value (&narrow);
  g_assert_cmpstr (value, ==, "0.1");
  narrow_json = tm_scalar_to_json (&narrow);
  g_assert_nonnull (strstr (narrow_json, "\"value\":0.099975586,"));
  teardown (&f);
}

/* A look-up stands in the formula as such and is replaced by the number found. */
static void
test_look_up (void)
{
  guint8 iq4_nl[18] = { 0x00, 0x38, 0x00 }, iq2_xs[74] = { 0x00, 0x3C };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT, grid = TM_SCALAR_INIT;
  g_autofree char *formula = NULL, *grid_formula = NULL;
  const guint64 index[2] = { 0, 0 };
  Fixture f;

  setup (&f, TM_DTYPE_IQ4_NL, "w", 1, 32, iq4_nl, sizeof iq4_nl);
  g_assert_true (tm_tensor_explain (&f.tensor, index, &scalar, NULL));
  g_assert_cmpstr (scalar.formula, ==, "d × codebook[q]");
  formula = tm_scalar_format_formula (&scalar);
  g_assert_cmpstr (formula, ==, "0.5 × (-127)");
  g_assert_false (scalar.has_zero_point || scalar.has_offset);
  teardown (&f);
  iq2_xs[3] = 0x02; /* sign of the first element */
  setup (&f, TM_DTYPE_IQ2_XS, "w", 1, 256, iq2_xs, sizeof iq2_xs);
  g_assert_true (tm_tensor_explain (&f.tensor, index, &grid, NULL));
  grid_formula = tm_scalar_format_formula (&grid);
  g_assert_cmpstr (grid_formula, ==, "1 × (0.5 + 0) / 4 × (-1) × 8");
  g_assert_cmpfloat (grid.value.as.f32, ==, -1);
  teardown (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scalar/json", test_json);
  g_test_add_func ("/scalar/ordinary", test_ordinary);
  g_test_add_func ("/scalar/wide", test_wide);
  g_test_add_func ("/scalar/exact", test_exact);
  g_test_add_func ("/scalar/forms", test_forms);
  g_test_add_func ("/scalar/look-up", test_look_up);
  return g_test_run ();
}
