/* Steps, rounding and clipping: the expected figures for weights of a known distribution, code books, and the sample against
 * what it was quantized from. */
#include "planted.h"

#include <math.h>
#include <string.h>

#include "analysis/diff.h"
#include "recognise/recognise.h"

static const char *sample_path, *sample_float_path;

static TmDiff *
compare (TmModel *candidate, TmModel *reference)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmAlignment) alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, &error);
  TmDiff *diff;

  g_assert_no_error (error);
  diff = tm_diff_run (alignment, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return diff;
}

/* --- Weights and encoders ----------------------------------------------------------------------------------------- */

static guint32 state = 12345;

static double
uniform (void) /* (0, 1) */
{
  state = state * 1664525u + 1013904223u;
  return ((double) (state >> 8) + 0.5) / 16777216.0;
}

static float
gauss (void)
{
  double radius = sqrt (-2 * log (uniform ()));

  return (float) (radius * cos (2 * G_PI * uniform ()));
}

static float
laplace (void)
{
  double u = uniform () - 0.5;

  return (float) ((u < 0 ? 1 : -1) * log (1 - 2 * fabs (u)) / sqrt (2));
}

/* A half of at least the value's magnitude, or at most: the scale that is stored is the one that is used. */
static float
put_half (guint8 *at, float value)
{
  guint32 bits, magnitude;
  guint16 half;

  memcpy (&bits, &value, sizeof bits);
  magnitude = (bits & 0x7fffffffu) + 0x1000u;
  half = (guint16) ((bits >> 16 & 0x8000u) | ((magnitude - 0x38000000u) >> 13));
  at[0] = (guint8) (half & 255);
  at[1] = (guint8) (half >> 8);
  return ldexpf ((float) ((half & 0x3ff) | 0x400), (half >> 10 & 31) - 25) * (half & 0x8000 ? -1 : 1);
}

static void
put_nibbles (guint8 *at, const int codes[32])
{
  for (int i = 0; i < 16; i++)
    at[i] = (guint8) (codes[i] | codes[16 + i] << 4);
}

static void
encode_q4_0 (const float *x, guint8 *block)
{
  float extreme = 0, d;
  int codes[32];

  for (int i = 0; i < 32; i++)
    if (fabsf (x[i]) > fabsf (extreme))
      extreme = x[i];
  d = put_half (block, extreme / -8);
  for (int i = 0; i < 32; i++)
    codes[i] = (int) CLAMP (rintf (x[i] / d) + 8, 0, 15);
  put_nibbles (block + 2, codes);
}

static void
encode_q4_1 (const float *x, guint8 *block)
{
  float low = x[0], high = x[0], d, m;
  int codes[32];

  for (int i = 0; i < 32; i++)
    {
      low = fminf (low, x[i]);
      high = fmaxf (high, x[i]);
    }
  d = put_half (block, (high - low) / 15 * 1.0006f);
  m = put_half (block + 2, low);
  for (int i = 0; i < 32; i++)
    codes[i] = (int) CLAMP (rintf ((x[i] - m) / d), 0, 15);
  put_nibbles (block + 4, codes);
}

static void
encode_iq4_nl (const float *x, guint8 *block)
{
  static const int levels[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
  float largest = 0, d;
  int codes[32];

  for (int i = 0; i < 32; i++)
    largest = fmaxf (largest, fabsf (x[i]));
  d = put_half (block, largest / 112.8f);
  for (int i = 0; i < 32; i++)
    {
      codes[i] = 0;
      for (int k = 1; k < 16; k++)
        if (fabsf (d * (float) levels[k] - x[i]) < fabsf (d * (float) levels[codes[i]] - x[i]))
          codes[i] = k;
    }
  put_nibbles (block + 2, codes);
}

typedef struct
{
  TmDtype dtype;
  guint bytes;
  void (*encode) (const float *x, guint8 *block);
} Encoder;

static TmDiff *
compare_encoded (const Encoder *encoder, float (*draw) (void), guint rows, guint columns)
{
  gsize n = (gsize) rows * columns, count = n / 32 * encoder->bytes;
  g_autofree float *x = g_new (float, n);
  g_autofree guint8 *bytes = g_malloc0 (count);
  Planted a, b;
  g_autoptr (TmModel) candidate = NULL, reference = NULL;

  for (gsize i = 0; i < n; i++)
    x[i] = draw ();
  for (gsize i = 0; i < n / 32; i++)
    encoder->encode (x + 32 * i, bytes + encoder->bytes * i);
  planted_begin (&a, "GGUF", "llama");
  planted_bytes (&a, "w.weight", encoder->dtype, 2, (guint64[]) { rows, columns }, bytes, count);
  candidate = planted_end (&a);
  planted_begin (&b, "safetensors", NULL);
  planted_matrix (&b, "w.weight", rows, columns, x);
  reference = planted_end (&b);
  return compare (candidate, reference);
}

static void
assert_about (double value, double expected, double within)
{
  if (!(fabs (value - expected) <= within))
    g_error ("%g is not about %g", value, expected);
}

/* Groups of 32: dB, root mean square in steps and the share over half a step that such weights have. Where the signed range
 * has no room at one end, up to a whole step is right, and those elements are clipped. */
static void
test_expected (void)
{
  static const Encoder q4_0 = { TM_DTYPE_Q4_0, 18, encode_q4_0 }, q4_1 = { TM_DTYPE_Q4_1, 20, encode_q4_1 };
  static const struct
  {
    const Encoder *encoder;
    float (*draw) (void);
    double sqnr, rms, over;
  } rows[] = {
    { &q4_0, gauss, 21.32, 0.289, 0.0053 },
    { &q4_1, gauss, 22.14, 0.279, 0 },
    { &q4_0, laplace, 19.43, 0.286, 0.0033 },
    { &q4_1, laplace, 20.75, 0.280, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (TmDiff) diff = compare_encoded (rows[i].encoder, rows[i].draw, 1024, 1024);
      const TmDiffTensor *tensor = tm_diff_tensor (diff, 0);
      g_autofree char *rounding = tm_diff_describe_rounding (diff, tensor);

      assert_about (tensor->sqnr_db, rows[i].sqnr, 0.06);
      assert_about (tensor->rms_steps, rows[i].rms, 0.002);
      assert_about (tensor->over_half_step, rows[i].over, 0.0003);
      g_assert_cmpuint (tensor->n_over, ==, tensor->n_clipped);
      g_assert_cmpfloat (tensor->max_steps, <=, 1 + 8 * 0x1p-11); /* the scale is a half */
      g_assert_cmpint (strcmp (rounding, "nearest rounding") == 0, ==, rows[i].over < 0.001);
    }
}

/* As converters do it: codes are made with float scale and minimum, which are rounded when they are stored. */
static void
encode_q4_1_before_rounding (const float *x, guint8 *block)
{
  float low = x[0], high = x[0], d;
  int codes[32];

  for (int i = 1; i < 32; i++)
    {
      low = fminf (low, x[i]);
      high = fmaxf (high, x[i]);
    }
  d = (high - low) / 15;
  put_half (block, d);
  put_half (block + 2, low);
  for (int i = 0; i < 32; i++)
    codes[i] = (int) CLAMP (rintf ((x[i] - low) / d), 0, 15);
  put_nibbles (block + 4, codes);
}

/* The reference as 16 bits of what was quantized; spoiled: so many of its elements are 0.8 of a step off. */
static TmDiff *
compare_with_copy (const Encoder *encoder, TmDtype dtype, gboolean of_copy, guint spoiled)
{
  enum { ROWS = 256, COLUMNS = 512, N = ROWS * COLUMNS };
  g_autofree float *x = g_new (float, N);
  g_autofree guint16 *copy = g_new (guint16, N);
  gsize count = N / 32 * encoder->bytes;
  g_autofree guint8 *bytes = g_malloc0 (count);
  Planted a, b;
  g_autoptr (TmModel) candidate = NULL, reference = NULL;

  for (gsize i = 0; i < N; i++)
    {
      guint32 bits;

      x[i] = gauss ();
      if (fabsf (x[i]) < 0x1p-10f) /* put_half knows no subnormal numbers */
        x[i] = 0x1p-10f;
      memcpy (&bits, x + i, sizeof bits);
      if (dtype == TM_DTYPE_F16)
        {
          put_half ((guint8 *) &copy[i], x[i]);
          continue;
        }
      copy[i] = (guint16) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
      bits = (guint32) copy[i] << 16;
      if (of_copy)
        memcpy (x + i, &bits, sizeof bits);
    }
  for (gsize i = 0; i < N / 32; i++)
    encoder->encode (x + 32 * i, bytes + encoder->bytes * i);
  for (guint i = 0; i < spoiled; i++)
    {
      /* a group's second element that is neither of its ends: moved away from its value by most of a step */
      float *group = x + 32 * (i * 7), low = group[0], high = group[0], value;
      guint32 bits;

      for (guint k = 1; k < 32; k++)
        {
          low = fminf (low, group[k]);
          high = fmaxf (high, group[k]);
        }
      value = group[1] + (group[1] < 0 ? 1.35f : -1.35f) * (high - low) / 15;
      memcpy (&bits, &value, sizeof bits);
      copy[32 * (i * 7) + 1] = (guint16) (bits >> 16);
    }
  planted_begin (&a, "GGUF", "llama");
  planted_bytes (&a, "w.weight", encoder->dtype, 2, (guint64[]) { ROWS, COLUMNS }, bytes, count);
  candidate = planted_end (&a);
  planted_begin (&b, "safetensors", NULL);
  planted_bytes (&b, "w.weight", dtype, 2, (guint64[]) { ROWS, COLUMNS }, copy, N * sizeof *copy);
  reference = planted_end (&b);
  return compare (candidate, reference);
}

/* What rounding of scales, offsets and of the reference itself explains is not over half a step; what it does not, is. */
static void
test_rounded_reference (void)
{
  static const Encoder q4_1 = { TM_DTYPE_Q4_1, 20, encode_q4_1_before_rounding };
  g_autoptr (TmDiff) plain = compare_encoded (&q4_1, gauss, 256, 512);
  g_autoptr (TmDiff) bf16 = compare_with_copy (&q4_1, TM_DTYPE_BF16, FALSE, 0);
  g_autoptr (TmDiff) f16 = compare_with_copy (&q4_1, TM_DTYPE_F16, FALSE, 0);
  g_autoptr (TmDiff) source = compare_with_copy (&q4_1, TM_DTYPE_BF16, TRUE, 0);
  g_autoptr (TmDiff) spoiled = compare_with_copy (&q4_1, TM_DTYPE_BF16, TRUE, 60);
  const TmDiff *const within[] = { plain, bf16, f16, source };

  for (guint i = 0; i < G_N_ELEMENTS (within); i++)
    {
      g_assert_cmpuint (tm_diff_tensor (within[i], 0)->n_stepped, ==, 256 * 512);
      g_assert_cmpuint (tm_diff_tensor (within[i], 0)->n_over, ==, 0);
      g_assert_cmpint (tm_diff_tensor (within[i], 0)->rounded_reference, ==, within[i] == bf16);
      g_assert_cmpfloat (tm_diff_tensor (within[i], 0)->max_steps, >, 0.5);
    }
  g_assert_false (tm_diff_tensor (spoiled, 0)->rounded_reference);
  g_assert_cmpuint (tm_diff_tensor (spoiled, 0)->n_over, ==, 60);
}

/* Uneven levels: half a step is half of the way to the neighbour on the side of the reference. */
static void
test_code_book (void)
{
  static const Encoder iq4_nl = { TM_DTYPE_IQ4_NL, 18, encode_iq4_nl };
  g_autoptr (TmDiff) diff = compare_encoded (&iq4_nl, gauss, 256, 1024);
  const TmDiffTensor *tensor = tm_diff_tensor (diff, 0);

  g_assert_true (tensor->has_steps);
  g_assert_cmpuint (tensor->n_stepped, ==, 256 * 1024);
  /* only beyond the last level there is more than half a step: −127 and 113 are not alike, and the largest is at 112.8 */
  g_assert_cmpuint (tensor->n_over, ==, tensor->n_clipped);
  g_assert_cmpfloat (tensor->over_half_step, <, 0.001);
  g_assert_cmpfloat (tensor->rms_steps, >, 0.25);
  g_assert_cmpfloat (tensor->rms_steps, <, 0.31);
}

/* --- The sample --------------------------------------------------------------------------------------------------- */

static TmModel *
open_model (const char *path)
{
  g_autoptr (GError) error = NULL;
  TmModel *model = tm_open_model (path, NULL, &error);

  g_assert_no_error (error);
  return model;
}

static void
test_sample (void)
{
  g_autoptr (TmModel) sample = open_model (sample_path), source = open_model (sample_float_path);
  g_autoptr (TmDiff) diff = compare (sample, source), back = compare (source, sample);
  guint n_quantized = 0, n_exact = 0, n_rotary = 0, n_rotary_back = 0;

  g_assert_cmpuint (diff->tensors->len, ==, sample->tensors->len);
  g_assert_cmpuint (diff->alignment->reference_left->len, ==, 0);
  for (guint i = 0; i < diff->tensors->len; i++)
    {
      const TmDiffTensor *tensor = tm_diff_tensor (diff, i);
      const TmTensor *candidate = tm_model_tensor (sample, tensor->pair->candidate);
      gboolean rotary = strstr (candidate->name, "attn_q") != NULL || strstr (candidate->name, "attn_k") != NULL;

      g_assert_null (tensor->fault);
      g_assert_false (tensor->pair->guess || tensor->pair->doubtful);
      g_assert_cmpstr (tensor->pair->reading->words, ==,
                       !rotary                                      ? "identity"
                       : strstr (candidate->name, "attn_q") != NULL ? "rotary-permutation(heads=8)"
                                                                    : "rotary-permutation(heads=4)");
      n_rotary += rotary;
      if (candidate->dtype == TM_DTYPE_F32)
        {
          g_assert_true (tensor->exact);
          n_exact++;
        }
      if (!candidate->quantized)
        continue;
      /* its encoders round to nearest: no more than half a step but where the range ends */
      n_quantized++;
      g_assert_cmpuint (tensor->n_stepped, >, candidate->n_elements / 2);
      g_assert_cmpuint (tensor->n_over, ==, tensor->n_clipped);
      g_assert_cmpfloat (tensor->rms_steps, <, 0.31);
      if (candidate->dtype == TM_DTYPE_Q8_0)
        g_assert_cmpuint (tensor->n_over, ==, 0);
      g_assert_cmpfloat (tensor->sqnr_db, >,
                         candidate->dtype == TM_DTYPE_Q8_0   ? 40
                         : candidate->dtype == TM_DTYPE_Q6_K ? 31
                                                             : 19);
    }
  g_assert_cmpuint (n_quantized, >, 40);
  g_assert_cmpuint (n_exact, ==, 13);
  g_assert_cmpuint (n_rotary, ==, 12);

  /* the other way round: the same error, undone the other way */
  for (guint i = 0; i < back->tensors->len; i++)
    n_rotary_back += g_str_has_prefix (tm_diff_tensor (back, i)->pair->reading->words, "rotary");
  g_assert_cmpuint (n_rotary_back, ==, 12);
  assert_about (back->total.sum_ee / diff->total.sum_ee, 1, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc != 3)
    g_error ("the sample and its float source are the arguments");
  sample_path = argv[1];
  sample_float_path = argv[2];
  g_test_add_func ("/rounding/expected", test_expected);
  g_test_add_func ("/rounding/rounded-reference", test_rounded_reference);
  g_test_add_func ("/rounding/code-book", test_code_book);
  g_test_add_func ("/rounding/sample", test_sample);
  return g_test_run ();
}
