/* Scales against the reference: every group again by plain double loops over decoded values; planted clipping is counted. */
#include "planted.h"

#include <math.h>
#include <string.h>

#include "analysis/scale-ranges.h"

static TmScaleRanges *
measure (TmModel *candidate, TmModel *reference)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmAlignment) alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, &error);
  TmScaleRanges *ranges;

  g_assert_no_error (error);
  g_assert_cmpuint (alignment->pairs->len, ==, 1);
  ranges = tm_scale_ranges_measure (alignment, tm_alignment_pair (alignment, 0), NULL, &error);
  g_assert_no_error (error);
  return ranges;
}

static TmModel *
make (TmDtype dtype, guint64 rows, guint64 columns, gconstpointer bytes, gsize count)
{
  Planted planted;

  planted_begin (&planted, dtype == TM_DTYPE_F32 ? "safetensors" : "GGUF", "llama");
  planted_bytes (&planted, "w.weight", dtype, 2, (guint64[]){ rows, columns }, bytes, count);
  return planted_end (&planted);
}

static float *
decode (TmModel *model, TmQuantity quantity)
{
  const TmTensor *tensor = tm_model_tensor (model, 0);
  float *numbers = g_new (float, tensor->n_elements);

  g_assert_true (tm_tensor_decode (tensor, quantity, 0, tensor->n_elements, numbers, NULL, NULL));
  return numbers;
}

/* What a group's codes can stand for, and what it needs: by the words of scale-ranges.h. */
typedef struct
{
  guint64 clipped, too_small;
  double least_needed, most_needed, least_stored, most_stored, sum_needed;
} Expected;

static Expected
expect (TmModel *candidate, const float *x, gsize n, gsize group, int first, int last, double rounded)
{
  g_autofree float *scale = decode (candidate, TM_QUANTITY_SCALE), *zero = NULL, *offset = NULL;
  const TmTensor *tensor = tm_model_tensor (candidate, 0);
  Expected e = { .least_needed = (double) INFINITY, .least_stored = (double) INFINITY };

  if (tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET))
    offset = decode (candidate, TM_QUANTITY_OFFSET);
  else
    zero = decode (candidate, TM_QUANTITY_ZERO_POINT);
  for (gsize g = 0; g < n / group; g++)
    {
      double min = (double) INFINITY, max = -(double) INFINITY, needed = 0;
      const double s = (double) scale[g * group], size = fabs (s);
      const double a = s * (first - (zero ? (double) zero[g * group] : 0)), b = s * (last - (zero ? (double) zero[g * group] : 0));
      const double o = offset ? (double) offset[g * group] : 0;
      const double low = MIN (a, b) - size / 2 + o, high = MAX (a, b) + size / 2 + o;
      gboolean clips;

      for (gsize i = g * group; i < (g + 1) * group; i++)
        {
          min = MIN (min, (double) x[i]);
          max = MAX (max, (double) x[i]);
        }
      if (offset)
        needed = (max - min) / (last - first + 1);
      else
        needed = size * MAX (max / high, min / low);
      clips = max > high + size * 1e-6 + fabs (high) * rounded || min < low - size * 1e-6 - fabs (low) * rounded;
      e.clipped += clips;
      e.too_small += clips && needed > size;
      e.least_needed = MIN (e.least_needed, needed);
      e.most_needed = MAX (e.most_needed, needed);
      e.least_stored = MIN (e.least_stored, size);
      e.most_stored = MAX (e.most_stored, size);
      e.sum_needed += needed;
    }
  return e;
}

static void
assert_near (double a, double b)
{
  if (!(fabs (a - b) <= 1e-6 * fabs (b)))
    g_error ("%.17g is not %.17g", a, b);
}

static void
check (const TmScaleRanges *ranges, const Expected *e, guint64 groups)
{
  g_assert_null (ranges->fault);
  g_assert_cmpuint (ranges->groups, ==, groups);
  g_assert_cmpuint (ranges->clipped, ==, e->clipped);
  g_assert_cmpuint (ranges->too_small, ==, e->too_small);
  g_assert_cmpuint (ranges->stored.count, ==, groups);
  g_assert_cmpuint (ranges->needed.count, ==, groups);
  assert_near (ranges->stored.min, e->least_stored);
  assert_near (ranges->stored.max, e->most_stored);
  assert_near (ranges->needed.min, e->least_needed);
  assert_near (ranges->needed.max, e->most_needed);
  assert_near (ranges->needed.mean, e->sum_needed / (double) groups);
}

/* More than one item for every thread; a few groups have a value far beyond what their scale was made for. */
static void
test_symmetric (void)
{
  enum { ROWS = 2600, COLUMNS = 1024, N = ROWS * COLUMNS, PLANTED = 37 };
  g_autofree float *x = planted_noise (N, 3);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (x, N, &count);
  g_autofree char *none = NULL, *words = NULL;

  {
    g_autoptr (TmModel) candidate = make (TM_DTYPE_Q8_0, ROWS, COLUMNS, bytes, count);
    g_autoptr (TmModel) reference = make (TM_DTYPE_F32, ROWS, COLUMNS, x, N * sizeof *x);
    g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);
    const Expected e = expect (candidate, x, N, 32, -127, 127, 0x1p-11);

    check (ranges, &e, N / 32);
    g_assert_cmpuint (ranges->clipped, ==, 0);
    none = tm_scale_ranges_describe (ranges);
    g_assert_nonnull (strstr (none, "None of"));
  }
  for (gsize i = 0; i < PLANTED; i++)
    x[(i * 2129 + 5) * 32 % N + i % 32] *= i % 2 ? 40.0f : -40.0f;
  g_autoptr (TmModel) candidate = make (TM_DTYPE_Q8_0, ROWS, COLUMNS, bytes, count);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, ROWS, COLUMNS, x, N * sizeof *x);
  g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);
  const Expected e = expect (candidate, x, N, 32, -127, 127, 0x1p-11);

  check (ranges, &e, N / 32);
  g_assert_cmpuint (ranges->clipped, >, PLANTED / 2);
  g_assert_cmpuint (ranges->clipped, <=, PLANTED);
  g_assert_cmpuint (ranges->too_small, ==, ranges->clipped);
  words = tm_scale_ranges_describe (ranges);
  g_assert_nonnull (strstr (words, "groups clip"));
  g_assert_nonnull (strstr (words, "the scale is too small"));
}

/* Q4_0: scales of either sign, −8 … 7. The side that hits 7 is clipped in some groups and stays within a step (analysis.md 2). */
static guint8 *
make_q4_0 (const float *x, gsize n, gsize *count)
{
  guint8 *bytes = g_malloc0 (n / 32 * 18);

  *count = n / 32 * 18;
  for (gsize g = 0; g < n / 32; g++)
    {
      float largest = 0, d;
      guint32 bits;
      guint16 half;

      for (gsize i = 0; i < 32; i++)
        if (fabsf (x[32 * g + i]) > fabsf (largest))
          largest = x[32 * g + i];
      d = largest / -8;
      memcpy (&bits, &d, sizeof bits);
      half = (guint16) (((bits >> 16) & 0x8000) | ((bits >> 13) & 0x3ff) | ((((bits >> 23) & 255) - 112) << 10));
      bits = ((guint32) (half & 0x8000) << 16) | (((guint32) ((half >> 10) & 31) + 112) << 23) | ((guint32) (half & 0x3ff) << 13);
      memcpy (&d, &bits, sizeof d);
      bytes[18 * g] = (guint8) (half & 255);
      bytes[18 * g + 1] = (guint8) (half >> 8);
      for (gsize i = 0; i < 32; i++)
        bytes[18 * g + 2 + i % 16] |= (guint8) ((guint) CLAMP (rintf (x[32 * g + i] / d) + 8, 0, 15) << (i < 16 ? 0 : 4));
    }
  return bytes;
}

static void
test_signed_scales (void)
{
  enum { ROWS = 96, COLUMNS = 512, N = ROWS * COLUMNS };
  g_autofree float *x = planted_noise (N, 5);
  gsize count;
  g_autofree guint8 *bytes = make_q4_0 (x, N, &count);
  g_autoptr (TmModel) candidate = make (TM_DTYPE_Q4_0, ROWS, COLUMNS, bytes, count);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, ROWS, COLUMNS, x, N * sizeof *x);
  g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);
  const Expected e = expect (candidate, x, N, 32, 0, 15, 0x1p-11);

  check (ranges, &e, N / 32);
  g_assert_false (ranges->moves);
  g_assert_cmpuint (ranges->clipped, >, 0);
  g_assert_cmpuint (ranges->clipped, <, ranges->groups / 3);
}

/* Q4_1: an offset of its own in each group; in some it is shifted, in some the scale is halved. */
static void
test_offsets (void)
{
  enum { ROWS = 64, COLUMNS = 512, N = ROWS * COLUMNS };
  g_autofree float *x = planted_noise (N, 7);
  g_autofree guint8 *bytes = g_malloc0 (N / 32 * 20);

  for (gsize g = 0; g < N / 32; g++)
    {
      /* d and m are whole eighths, so that halves hold them; x is then spread over exactly what they reach. */
      const float d = 0.25f * (float) (1 + g % 3), m = -2.0f - (float) (g % 2);
      const guint16 half_d = (guint16) (g % 3 == 0 ? 0x3400 : g % 3 == 1 ? 0x3800 : 0x3a00);
      const guint16 half_m = (guint16) (g % 2 ? 0xc200 : 0xc000);

      memcpy (bytes + 20 * g, &half_d, 2);
      memcpy (bytes + 20 * g + 2, &half_m, 2);
      for (gsize i = 0; i < 32; i++)
        {
          const float level = (float) (i % 16);

          x[32 * g + i] = m + d * level;
          bytes[20 * g + 4 + i % 16] |= (guint8) ((guint) level << (i < 16 ? 0 : 4));
        }
      if (g % 8 == 3) /* out of place by a step */
        for (gsize i = 0; i < 32; i++)
          x[32 * g + i] += d;
      if (g % 8 == 5) /* twice as wide */
        for (gsize i = 0; i < 32; i++)
          x[32 * g + i] = m + 2 * (x[32 * g + i] - m);
    }
  g_autoptr (TmModel) candidate = make (TM_DTYPE_Q4_1, ROWS, COLUMNS, bytes, N / 32 * 20);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, ROWS, COLUMNS, x, N * sizeof *x);
  g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);
  const Expected e = expect (candidate, x, N, 32, 0, 15, 0x1p-11);

  check (ranges, &e, N / 32);
  g_assert_true (ranges->moves);
  g_assert_cmpuint (ranges->clipped, ==, N / 32 / 4);
  g_assert_cmpuint (ranges->too_small, ==, N / 32 / 8);
  g_autofree char *words = tm_scale_ranges_describe (ranges);
  g_assert_nonnull (strstr (words, "the offset is off"));
}

/* NaN and infinities of the reference are left out; a group of nothing else does not count. A scale of 0 reaches nothing. */
static void
test_specials (void)
{
  enum { N = 1024 };
  g_autofree float *x = planted_noise (N, 9);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (x, N, &count);

  x[40] = (float) INFINITY;
  x[41] = (float) NAN;
  for (gsize i = 96; i < 128; i++)
    x[i] = (float) NAN;
  bytes[34 * 4] = bytes[34 * 4 + 1] = 0;
  g_autoptr (TmModel) candidate = make (TM_DTYPE_Q8_0, 1, N, bytes, count);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, 1, N, x, N * sizeof *x);
  g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);

  g_assert_cmpuint (ranges->groups, ==, N / 32 - 1);
  g_assert_cmpuint (ranges->clipped, ==, 1);
  g_assert_cmpuint (ranges->stored.n_zeros, ==, 1);
  g_assert_cmpuint (ranges->needed.n_nan + ranges->needed.n_inf, ==, 0);
}

static void
test_not_told (void)
{
  enum { N = 1024 };
  g_autofree float *x = planted_noise (N, 11);
  g_autoptr (TmModel) candidate = make (TM_DTYPE_F32, 2, N / 2, x, N * sizeof *x);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, 2, N / 2, x, N * sizeof *x);
  g_autoptr (TmScaleRanges) ranges = measure (candidate, reference);

  g_assert_nonnull (strstr (ranges->fault, "not quantized"));
}

static void
test_cancelled (void)
{
  enum { N = 1024 };
  g_autofree float *x = planted_noise (N, 13);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (x, N, &count);
  g_autoptr (TmModel) candidate = make (TM_DTYPE_Q8_0, 1, N, bytes, count);
  g_autoptr (TmModel) reference = make (TM_DTYPE_F32, 1, N, x, N * sizeof *x);
  g_autoptr (TmAlignment) alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (tm_scale_ranges_measure (alignment, tm_alignment_pair (alignment, 0), cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scale-ranges/symmetric", test_symmetric);
  g_test_add_func ("/scale-ranges/signed-scales", test_signed_scales);
  g_test_add_func ("/scale-ranges/offsets", test_offsets);
  g_test_add_func ("/scale-ranges/specials", test_specials);
  g_test_add_func ("/scale-ranges/not-told", test_not_told);
  g_test_add_func ("/scale-ranges/cancelled", test_cancelled);
  return g_test_run ();
}
