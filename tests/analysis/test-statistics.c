/* Statistics against plain loops in double over sorted copies; codes, scales, sums, the cache, cancelling. */
#include "planted.h"

#include <glib/gstdio.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <utime.h>

#include "analysis/statistics.h"
#include "recognise/recognise.h"

static TmStatistics *
count_one (TmModel *model, guint index)
{
  g_autoptr (TmStatisticsSet) set = tm_statistics_set_new (model);
  g_autoptr (GError) error = NULL;
  TmStatistics *one;

  g_assert_true (tm_statistics_set_compute (set, &index, 1, TM_STATISTICS_ALL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  one = tm_statistics_set_get (set, index);
  g_assert_nonnull (one);
  g_assert_cmpint (one->parts, ==, TM_STATISTICS_ALL);
  return one;
}

static TmModel *
make_f32 (gsize n, const float *values)
{
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_vector (&planted, "a.weight", n, values);
  return planted_end (&planted);
}

static TmModel *
make_f64 (gsize n, const double *values)
{
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_bytes (&planted, "a.weight", TM_DTYPE_F64, 1, (guint64[]){ n }, values, n * sizeof *values);
  return planted_end (&planted);
}

/* --- Plain loops -------------------------------------------------------------------------------------------------- */

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return *x < *y ? -1 : *x > *y ? 1 : 0;
}

static void
assert_near (double a, double b, double tolerance)
{
  if (!(fabs (a - b) <= tolerance))
    g_error ("%.17g is not %.17g within %g", a, b, tolerance);
}

static void
check_histogram (const TmDistribution *got, const double *sorted, gsize n)
{
  g_auto (TmHistogram) histogram = { 0 };
  g_autofree guint64 *counts = NULL;

  tm_distribution_get_histogram (got, &histogram);
  g_assert_cmpuint (histogram.n % 2, ==, 1);
  counts = g_new0 (guint64, histogram.n);
  for (gsize i = 0; i < n; i++)
    {
      guint bin = 0;

      /* Edges below zero belong to the bin on their left, as the header says. */
      while (bin + 1 < histogram.n
             && (sorted[i] >= 0 ? sorted[i] >= histogram.edges[bin + 1] : sorted[i] > histogram.edges[bin + 1]))
        bin++;
      counts[bin]++;
    }
  for (guint i = 0; i < histogram.n; i++)
    g_assert_cmpuint (histogram.counts[i], ==, counts[i]);
  if (n > 0 && got->absmax > 0 && got->absmax < (double) FLT_MAX)
    g_assert_true (histogram.edges[0] <= sorted[0] && sorted[n - 1] < histogram.edges[histogram.n]);
  for (guint i = 0; i <= histogram.n; i++)
    g_assert_true (histogram.edges[i] == -histogram.edges[histogram.n - i]);
}

/* percentile_error: of the number itself. */
static void
check (const TmDistribution *got, const double *values, gsize n, double percentile_error)
{
  g_autofree double *sorted = g_new (double, n + 1);
  guint64 n_nan = 0, n_inf = 0, n_zeros = 0, m = 0;
  long double sum = 0, squares = 0, about = 0;
  double mean;

  for (gsize i = 0; i < n; i++)
    {
      n_nan += isnan (values[i]) != 0;
      n_inf += isinf (values[i]) != 0;
      n_zeros += values[i] == 0;
      if (!isfinite (values[i]))
        continue;
      sorted[m++] = values[i];
      sum += (long double) values[i];
      squares += (long double) values[i] * (long double) values[i];
    }
  qsort (sorted, m, sizeof *sorted, compare_doubles);
  g_assert_cmpuint (got->count, ==, n);
  g_assert_cmpuint (got->n_finite, ==, m);
  g_assert_cmpuint (got->n_nan, ==, n_nan);
  g_assert_cmpuint (got->n_inf, ==, n_inf);
  g_assert_cmpuint (got->n_zeros, ==, n_zeros);
  if (m == 0)
    {
      g_assert_true (isnan (got->min) && isnan (got->mean) && isnan (tm_distribution_get_percentile (got, 50)));
      return;
    }
  mean = (double) (sum / m);
  for (gsize i = 0; i < m; i++)
    about += ((long double) sorted[i] - sum / m) * ((long double) sorted[i] - sum / m);
  g_assert_true (got->min == sorted[0]);
  g_assert_true (got->max == sorted[m - 1]);
  g_assert_true (got->absmax == fmax (fabs (sorted[0]), fabs (sorted[m - 1])));
  assert_near (got->mean, mean, 1e-13 * got->absmax);
  assert_near (got->std, (double) sqrtl (about / m), 1e-11 * (double) sqrtl (about / m) + 1e-15 * got->absmax);
  assert_near (got->rms, (double) sqrtl (squares / m), 1e-12 * (double) sqrtl (squares / m));
  for (guint i = 0; i < TM_N_PERCENTILES; i++)
    {
      guint64 rank = (guint64) ceil (tm_percentiles[i] * (double) m / 100 - 1e-9);
      double wanted = sorted[MAX (rank, 1) - 1];

      assert_near (tm_distribution_get_percentile (got, tm_percentiles[i]), wanted,
                   percentile_error * fabs (wanted) + 0x1p-134); /* subnormal numbers share cells */
    }
  g_assert_true (tm_distribution_get_percentile (got, 0) == sorted[0]);
  g_assert_true (tm_distribution_get_percentile (got, 100) == sorted[m - 1]);
  check_histogram (got, sorted, m);
}

static void
check_floats (const float *values, gsize n, double percentile_error)
{
  g_autoptr (TmModel) model = make_f32 (n, values);
  g_autoptr (TmStatistics) one = count_one (model, 0);
  g_autofree double *wide = g_new (double, n + 1);

  for (gsize i = 0; i < n; i++)
    wide[i] = (double) values[i];
  check (&one->values, wide, n, percentile_error);
  g_assert_null (one->codes);
  g_assert_false (one->has_scales);
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* More than one piece of a thread, a rest at the end. */
static void
test_noise (void)
{
  const gsize n = 2 * 1048576 + 70001;
  g_autofree float *values = planted_noise (n, 3);

  for (gsize i = 0; i < n; i++)
    values[i] *= 0.02f;
  check_floats (values, n, 1.0 / 256);
}

static void
test_specials (void)
{
  const gsize n = 200000;
  g_autofree float *values = planted_noise (n, 4);
  const float special[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-45f, -1e-40f, FLT_MIN, 1.5f, -1.5f };
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatistics) one = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (special) * 20; i++)
    values[i * 997] = special[i % G_N_ELEMENTS (special)];
  check_floats (values, n, 1.0 / 256);
  model = make_f32 (n, values);
  one = count_one (model, 0);
  g_assert_cmpuint (one->values.n_negative_zeros, ==, 20);
  g_assert_cmpuint (one->values.n_subnormal, ==, 40);
}

static void
test_nothing (void)
{
  check_floats ((const float[]){ NAN, INFINITY }, 2, 0);
  check_floats ((const float[]){ 0 }, 0, 0);
  check_floats ((const float[]){ 0, 0, -0.0f }, 3, 0);
  check_floats ((const float[]){ -3 }, 1, 0);
  check_floats ((const float[]){ 1e-45f, -1e-44f, 2e-39f }, 3, 0);
  check_floats ((const float[]){ FLT_MAX, -FLT_MAX, 1 }, 3, 1.0 / 256);
}

/* Numbers that a percentile can hit: whole ones, and eighths. */
static void
test_exact_percentiles (void)
{
  const gsize n = 50000;
  g_autofree float *values = planted_noise (n, 5);

  for (gsize i = 0; i < n; i++)
    values[i] = rintf (values[i] * 40) / 8;
  check_floats (values, n, 0);
}

/* A small spread about a large mean keeps its digits; an outlier comes first. */
static void
test_far_from_zero (void)
{
  const gsize n = 300000;
  g_autofree float *values = planted_noise (n, 6);

  for (gsize i = 0; i < n; i++)
    values[i] = 4096 + values[i] * 0.01f;
  check_floats (values, n, 1.0 / 256);
  values[0] = -1e6f;
  check_floats (values, n, 1.0 / 256);
}

static void
test_doubles (void)
{
  const gsize n = 100000;
  g_autofree float *noise = planted_noise (n, 7);
  g_autofree double *values = g_new (double, n);
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatistics) one = NULL;

  for (gsize i = 0; i < n; i++)
    values[i] = (double) noise[i] * (1 + 1e-12);
  for (int k = 1; k < 200; k++) /* a hair below edges of cells: float32 would round it over */
    {
      values[2 * k] = nextafter (k / 64.0, 0);
      values[2 * k + 1] = -nextafter (k / 128.0, 10);
    }
  values[500] = 0.0;
  values[501] = 1e-300; /* not zero, though its float32 is */
  model = make_f64 (n, values);
  one = count_one (model, 0);
  check (&one->values, values, n, 1.0 / 256 + 1e-9);
}

static void
test_integers (void)
{
  const gint64 values[] = { G_MAXINT64, G_MININT64, 16777217, -3, 0, 7 };
  Planted planted;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatistics) one = NULL;

  planted_begin (&planted, "safetensors", NULL);
  planted_bytes (&planted, "a", TM_DTYPE_I64, 1, (guint64[]){ 6 }, values, sizeof values);
  planted_bytes (&planted, "b", TM_DTYPE_U32, 1, (guint64[]){ 3 }, (const guint32[]){ 4294967295u, 1, 0 }, 12);
  planted_bytes (&planted, "c", TM_DTYPE_I32, 1, (guint64[]){ 3 }, (const gint32[]){ -2147483647, 16777217, 0 }, 12);
  model = planted_end (&planted);
  one = count_one (model, 0);
  g_assert_true (one->values.max == 9223372036854775807.0 && one->values.min == -9223372036854775808.0);
  g_assert_cmpuint (one->values.n_zeros, ==, 1);
  tm_statistics_unref (one);
  one = count_one (model, 1);
  g_assert_true (one->values.max == 4294967295.0);
  tm_statistics_unref (one);
  one = count_one (model, 2);
  g_assert_true (one->values.min == -2147483647.0 && one->values.max == 16777217.0);
}

static void
test_rebin (void)
{
  const gsize n = 100000;
  g_autofree float *values = planted_noise (n, 8);
  g_autoptr (TmModel) model = make_f32 (n, values);
  g_autoptr (TmStatistics) one = count_one (model, 0);
  double counts[10], total = 0, logs[40];
  guint64 inside = 0, above = 0;

  tm_distribution_rebin (&one->values, -1, 1, 10, counts);
  for (guint i = 0; i < 10; i++)
    total += counts[i];
  for (gsize i = 0; i < n; i++)
    inside += values[i] >= -1 && values[i] < 1;
  assert_near (total, (double) inside, 1);
  tm_distribution_rebin_log (&one->values, -20, 20, 40, logs); /* bin 20: 1 to 2 */
  for (gsize i = 0; i < n; i++)
    above += fabsf (values[i]) >= 1 && fabsf (values[i]) < 2;
  assert_near (logs[20], (double) above, 1e-6 * n);
  /* From the least number to the largest nothing is left out. */
  tm_distribution_rebin (&one->values, one->values.min, one->values.max, 10, counts);
  total = 0;
  for (guint i = 0; i < 10; i++)
    total += counts[i];
  assert_near (total, (double) n, 1e-6);
  for (gsize i = 0; i < n; i++)
    values[i] = fabsf (values[i]);
  {
    g_autofree double *sorted = g_new (double, n);

    for (gsize i = 0; i < n; i++)
      sorted[i] = (double) values[i];
    qsort (sorted, n, sizeof *sorted, compare_doubles);
    assert_near (tm_distribution_get_magnitude_percentile (&one->values, 99.9), sorted[99899], sorted[99899] / 256);
  }
}

/* --- Codes, scales, sums ------------------------------------------------------------------------------------------ */

static float
read_half (const guint8 *at)
{
  guint half = (guint) at[0] | (guint) at[1] << 8;

  return ldexpf ((float) ((half & 0x3ff) | 0x400), (int) (half >> 10) - 25);
}

static void
test_codes_and_scales (void)
{
  const guint64 rows = 37, columns = 96;
  g_autofree float *values = planted_noise (rows * columns, 9);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, rows * columns, &count);
  g_autofree double *scales = g_new (double, count / 34);
  guint64 codes[256] = { 0 };
  guint used = 0;
  Planted planted;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatistics) one = NULL;
  g_autofree char *words = NULL, *wanted = NULL;

  planted_begin (&planted, "GGUF", "llama");
  planted_bytes (&planted, "blk.0.attn_q.weight", TM_DTYPE_Q8_0, 2, (guint64[]){ rows, columns }, bytes, count);
  model = planted_end (&planted);
  one = count_one (model, 0);
  for (gsize block = 0; block < count / 34; block++)
    {
      scales[block] = (double) read_half (bytes + 34 * block);
      for (guint i = 0; i < 32; i++)
        codes[(gint8) bytes[34 * block + 2 + i] + 128]++;
    }
  g_assert_cmpint (one->first_code, ==, -128);
  g_assert_cmpuint (one->n_codes, ==, 256);
  for (guint i = 0; i < 256; i++)
    {
      g_assert_cmpuint (one->codes[i], ==, codes[i]);
      used += codes[i] > 0;
    }
  g_assert_cmpuint (one->codes_used, ==, used);
  words = tm_statistics_describe_codes (one);
  wanted = g_strdup_printf ("%u of 256 codes used", used);
  g_assert_cmpstr (words, ==, wanted);
  g_assert_true (one->has_scales);
  check (&one->scales, scales, count / 34, 1.0 / 256);
}

/* One element a thousand times its value: its group's scale is far from the others; groups of zeros are told apart. */
static void
test_scale_outliers (void)
{
  const gsize n = 64 * 256;
  g_autofree float *values = planted_noise (n, 12);

  for (guint planted_outliers = 0; planted_outliers < 4; planted_outliers++)
    {
      gsize count;
      g_autofree guint8 *bytes = NULL;
      g_autoptr (TmModel) model = NULL;
      g_autoptr (TmStatistics) one = NULL;
      g_autofree char *words = NULL;
      double median;
      Planted planted;

      if (planted_outliers > 0)
        values[320 * planted_outliers] = 1000;
      bytes = planted_q8_0 (values, n, &count);
      if (planted_outliers > 0)
        memset (bytes + 2 * 34, 0, 34);
      planted_begin (&planted, "GGUF", "llama");
      planted_bytes (&planted, "blk.0.attn_q.weight", TM_DTYPE_Q8_0, 2, (guint64[]){ 64, 256 }, bytes, count);
      model = planted_end (&planted);
      one = count_one (model, 0);
      g_assert_cmpuint (tm_distribution_count_outliers (&one->scales, &median), ==, planted_outliers);
      g_assert_cmpfloat (median, >, one->scales.min);
      g_assert_cmpfloat (median, <, 0.1);
      g_assert_cmpuint (one->scales.n_zeros, ==, planted_outliers > 0);
      words = tm_statistics_describe_scales (one);
      g_assert_cmpint (strstr (words, ", 1 zero") != NULL, ==, planted_outliers > 0);
      g_assert_cmpint (strstr (words, "far from the others") != NULL, ==, planted_outliers > 0);
    }
}

static void
test_sums (void)
{
  const gsize n = 150000;
  g_autofree float *values = planted_noise (n, 10);
  g_autofree double *wide = g_new (double, n);
  Planted planted;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatisticsSet) set = NULL;
  g_autoptr (TmStatistics) none = NULL, all = NULL, part = NULL;
  guint missing;

  for (gsize i = 0; i < n; i++)
    wide[i] = (double) values[i];
  planted_begin (&planted, "safetensors", NULL);
  planted_vector (&planted, "model.layers.0.a.weight", 100000, values);
  planted_vector (&planted, "model.layers.1.a.weight", 50000, values + 100000);
  model = planted_end (&planted);
  set = tm_statistics_set_new (model);
  none = tm_statistics_set_sum (set, model->root, &missing);
  g_assert_cmpuint (missing, ==, 2);
  g_assert_cmpuint (none->values.count, ==, 0);
  g_assert_true (tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, NULL, NULL, NULL, NULL));
  all = tm_statistics_set_sum (set, model->root, &missing);
  g_assert_cmpuint (missing, ==, 0);
  g_assert_cmpuint (all->tensors, ==, 2);
  check (&all->values, wide, n, 1.0 / 256);
  part = tm_statistics_set_sum (set, tm_module_find (model->root, "model.layers.1"), NULL);
  check (&part->values, wide + 100000, 50000, 1.0 / 256);
}

/* --- Cache -------------------------------------------------------------------------------------------------------- */

static char *
only_file_of (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name = dir != NULL ? g_dir_read_name (dir) : NULL;

  return name != NULL ? g_build_filename (folder, name, NULL) : NULL;
}

static gboolean
is_kept (TmModel *model)
{
  g_autoptr (TmStatisticsSet) set = tm_statistics_set_new (model);
  g_autoptr (TmStatistics) one = NULL;

  tm_statistics_set_load (set);
  one = tm_statistics_set_get (set, 0);
  return one != NULL;
}

static void
assert_equal (const TmDistribution *a, const TmDistribution *b)
{
  g_assert_cmpmem (&a->mean, sizeof a->mean, &b->mean, sizeof b->mean);
  g_assert_cmpmem (&a->std, sizeof a->std, &b->std, sizeof b->std);
  g_assert_true (a->count == b->count && a->n_zeros == b->n_zeros && a->n_finite == b->n_finite && a->coarse == b->coarse);
  g_assert_cmpuint (a->n_cells, ==, b->n_cells);
  for (guint i = 0; i < a->n_cells; i++)
    g_assert_true (a->cells[i].cell == b->cells[i].cell && a->cells[i].count == b->cells[i].count);
}

static void
test_cache (void)
{
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-XXXXXX", NULL), *cache = g_build_filename (folder, "cache", NULL);
  g_autofree char *path = g_build_filename (folder, "model.gguf", NULL), *bytes = NULL, *kept = NULL, *record = NULL;
  g_autofree char *sample = g_test_build_filename (G_TEST_DIST, "golden", "gguf", "valid", "tiny-llama-mixed.gguf", NULL);
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatisticsSet) set = NULL, again = NULL;
  gsize size, record_size;

  g_assert_true (g_file_get_contents (sample, &bytes, &size, NULL));
  tm_statistics_set_cache_folder (cache);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  model = tm_open_model_with (path, NULL, NULL, NULL);
  g_assert_false (is_kept (model));
  set = tm_statistics_set_new (model);
  g_assert_true (tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_VALUES, NULL, NULL, NULL, NULL));
  g_assert_true (tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, NULL, NULL, NULL, NULL));
  g_assert_true (is_kept (model));

  again = tm_statistics_set_new (model);
  tm_statistics_set_load (again);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      g_autoptr (TmStatistics) a = tm_statistics_set_get (set, i), b = tm_statistics_set_get (again, i);

      g_assert_nonnull (b);
      g_assert_cmpint (b->parts, ==, TM_STATISTICS_ALL);
      assert_equal (&a->values, &b->values);
      assert_equal (&a->scales, &b->scales);
      g_assert_true (a->n_codes == b->n_codes && a->first_code == b->first_code && a->codes_used == b->codes_used);
      g_assert_cmpmem (a->codes, a->n_codes * sizeof *a->codes, b->codes, b->n_codes * sizeof *b->codes);
    }

  /* Damage is noticed, anywhere, and no reason to fail. */
  kept = only_file_of (cache);
  g_assert_true (g_file_get_contents (kept, &record, &record_size, NULL));
  for (guint i = 0; i < 40; i++)
    {
      gsize at = record_size * i / 40;

      record[at] ^= 0x41;
      g_assert_true (g_file_set_contents (kept, record, (gssize) record_size, NULL));
      g_assert_false (is_kept (model));
      record[at] ^= 0x41;
      g_assert_true (g_file_set_contents (kept, record, (gssize) at, NULL));
      g_assert_false (is_kept (model));
    }
  g_assert_true (g_file_set_contents (kept, record, (gssize) record_size, NULL));
  g_assert_true (is_kept (model));

  /* Another time, another file. */
  {
    struct utimbuf times = { 1000000000, 1000000000 };

    g_assert_cmpint (g_utime (path, &times), ==, 0);
  }
  g_assert_false (is_kept (model));
  g_unlink (kept);
  g_rmdir (cache);
  g_unlink (path);
  g_rmdir (folder);
  tm_statistics_set_cache_folder (NULL);
}

/* --- Long work ---------------------------------------------------------------------------------------------------- */

static void
note_progress (double fraction, const char *text, gpointer data)
{
  double *last = data;

  g_assert_true (fraction >= *last && fraction <= 1);
  g_assert_nonnull (text);
  *last = fraction;
}

static void
test_progress_and_cancel (void)
{
  const gsize n = 3000000;
  g_autofree float *values = planted_noise (n, 11);
  g_autoptr (TmModel) model = make_f32 (n, values);
  g_autoptr (TmStatisticsSet) set = tm_statistics_set_new (model);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (TmStatistics) one = NULL;
  double last = 0;

  g_cancellable_cancel (cancellable);
  g_assert_false (tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (tm_statistics_set_get (set, 0));
  g_assert_true (tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, note_progress, &last, NULL, NULL));
  g_assert_true (last == 1);
  one = tm_statistics_set_get (set, 0);
  g_assert_cmpuint (one->values.count, ==, n);
}

/* The same to the last bit, whatever thread was first. */
static void
test_repeatable (void)
{
  const gsize n = 5 * 1048576;
  g_autofree float *values = planted_noise (n, 12);
  g_autoptr (TmModel) model = make_f32 (n, values);
  g_autoptr (TmStatistics) first = count_one (model, 0);

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (TmStatistics) again = count_one (model, 0);

      assert_equal (&first->values, &again->values);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  tm_statistics_set_cache_folder (NULL);
  g_test_add_func ("/statistics/noise", test_noise);
  g_test_add_func ("/statistics/specials", test_specials);
  g_test_add_func ("/statistics/nothing", test_nothing);
  g_test_add_func ("/statistics/exact-percentiles", test_exact_percentiles);
  g_test_add_func ("/statistics/far-from-zero", test_far_from_zero);
  g_test_add_func ("/statistics/doubles", test_doubles);
  g_test_add_func ("/statistics/integers", test_integers);
  g_test_add_func ("/statistics/rebin", test_rebin);
  g_test_add_func ("/statistics/codes-and-scales", test_codes_and_scales);
  g_test_add_func ("/statistics/scale-outliers", test_scale_outliers);
  g_test_add_func ("/statistics/sums", test_sums);
  g_test_add_func ("/statistics/cache", test_cache);
  g_test_add_func ("/statistics/progress-and-cancel", test_progress_and_cancel);
  g_test_add_func ("/statistics/repeatable", test_repeatable);
  return g_test_run ();
}
