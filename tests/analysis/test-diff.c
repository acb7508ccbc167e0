/* Metrics against plain double loops, errors planted and found, ranking, roll-ups, one scalar, the error as a picture. */
#include "planted.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/diff.h"
#include "recognise/recognise.h"
#include "view/tiles.h"

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

static const TmDiffTensor *
find (const TmDiff *diff, const char *name)
{
  gint64 index = tm_model_find_tensor (diff->alignment->candidate, name);
  const TmDiffTensor *tensor = tm_diff_find (diff, (guint) index);

  g_assert_nonnull (tensor);
  return tensor;
}

static void
assert_near (double a, double b, double relative)
{
  if (!(fabs (a - b) <= relative * fabs (b)))
    g_error ("%.17g is not %.17g", a, b);
}

/* One matrix on both sides. */
static TmModel *
make_f32 (const char *name, guint64 rows, guint64 columns, const float *values)
{
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, name, rows, columns, values);
  return planted_end (&planted);
}

static TmModel *
make_q8_0 (const char *name, guint64 rows, guint64 columns, const float *values)
{
  Planted planted;
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, rows * columns, &count);

  planted_begin (&planted, "GGUF", "llama");
  planted_bytes (&planted, name, TM_DTYPE_Q8_0, 2, (guint64[]) { rows, columns }, bytes, count);
  return planted_end (&planted);
}

static float *
decode (TmModel *model, guint index)
{
  const TmTensor *tensor = tm_model_tensor (model, index);
  float *values = g_new (float, tensor->n_elements);
  g_autoptr (GError) error = NULL;

  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, tensor->n_elements, values, NULL, &error));
  return values;
}

/* --- Metrics ------------------------------------------------------------------------------------------------------ */

static void
check_metrics (const TmDiffTensor *tensor, const float *y, const float *x, gsize n)
{
  long double xx = 0, yy = 0, ee = 0, xy = 0;
  double max = 0;
  gsize at = 0;

  for (gsize i = 0; i < n; i++)
    {
      double a = (double) x[i], b = (double) y[i], e = b - a;

      xx += (long double) a * a;
      yy += (long double) b * b;
      xy += (long double) a * b;
      ee += (long double) e * e;
      if (fabs (e) > max)
        {
          max = fabs (e);
          at = i;
        }
    }
  g_assert_null (tensor->fault);
  g_assert_cmpuint (tensor->n, ==, n);
  g_assert_cmpfloat (tensor->max_abs, ==, max);
  g_assert_cmpuint (tensor->max_at, ==, at);
  assert_near (tensor->mse, (double) (ee / n), 1e-12);
  assert_near (tensor->sqnr_db, 10 * log10 ((double) (xx / ee)), 1e-12);
  assert_near (tensor->cosine, (double) (xy / sqrtl (xx) / sqrtl (yy)), 1e-12);
}

/* Larger than a chunk, and no whole number of pieces; groups go on from one chunk to the next. */
static void
test_metrics (void)
{
  enum
  {
    ROWS = 2111,
    COLUMNS = 1024,
    N = ROWS * COLUMNS
  };
  g_autofree float *x = planted_noise (N, 1), *y = NULL;
  g_autoptr (TmModel) candidate = make_q8_0 ("w.weight", ROWS, COLUMNS, x),
                      reference = make_f32 ("w.weight", ROWS, COLUMNS, x);
  g_autoptr (TmDiff) diff = compare (candidate, reference), again = compare (candidate, reference);
  const TmDiffTensor *tensor = find (diff, "w.weight");
  guint64 histogram = 0, over = 0;
  double steps2 = 0, worst = 0;

  y = decode (candidate, 0);
  check_metrics (tensor, y, x, N);

  /* steps and groups by their definition */
  for (gsize block = 0; block < N / 32; block++)
    {
      float scale;
      double sum = 0;

      g_assert_true (
          tm_tensor_decode (tm_model_tensor (candidate, 0), TM_QUANTITY_SCALE, 32 * block, 1, &scale, NULL, NULL));
      for (gsize i = 32 * block; i < 32 * block + 32; i++)
        {
          double e = (double) y[i] - (double) x[i];

          sum += e * e;
          steps2 += e * e / (double) scale / (double) scale;
          over += fabs (e) > (double) scale * 0.50001 + (double) fabsf (y[i]) * 0x1p-11;
        }
      worst = MAX (worst, sum / 32);
    }
  g_assert_true (tensor->has_steps);
  g_assert_cmpuint (tensor->n_stepped, ==, N);
  g_assert_cmpuint (over, ==, 0);
  g_assert_cmpuint (tensor->n_over, ==, 0);
  g_assert_cmpuint (tensor->n_clipped, ==, 0);
  assert_near (tensor->rms_steps, sqrt (steps2 / N), 1e-9);
  g_assert_cmpfloat (tensor->rms_steps, >, 0.27);
  g_assert_cmpfloat (tensor->rms_steps, <, 0.29);
  for (guint i = 0; i < TM_DIFF_BINS; i++)
    {
      histogram += tensor->histogram[i];
      if (i < 24 || i > 75)
        g_assert_cmpuint (tensor->histogram[i], ==, 0);
    }
  g_assert_cmpuint (histogram, ==, N);
  g_assert_cmpuint (tensor->n_worst, ==, TM_DIFF_WORST_GROUPS);
  assert_near (tensor->worst[0].mse, worst, 1e-12);
  for (guint i = 0; i < tensor->n_worst; i++)
    {
      g_assert_cmpuint (tensor->worst[i].count, ==, 32);
      g_assert_cmpuint (tensor->worst[i].first % 32, ==, 0);
      g_assert_cmpuint (tensor->worst[i].group, ==, tensor->worst[i].first / 32);
      g_assert_true (i == 0 || tensor->worst[i].mse <= tensor->worst[i - 1].mse);
    }
  /* whatever thread was first, the sums are the same to the bit */
  g_assert_cmpmem (&tensor->sum_ee, sizeof (double), &find (again, "w.weight")->sum_ee, sizeof (double));
  assert_near (diff->total.sqnr_db, tensor->sqnr_db, 1e-15);
}

/* Rows that are one group each, across chunks, with the other quantities of an ordinary tensor. */
static void
test_ordinary (void)
{
  enum
  {
    ROWS = 3,
    COLUMNS = 700001,
    N = ROWS * COLUMNS
  };
  g_autofree float *x = planted_noise (N, 2), *y = g_memdup2 (x, N * sizeof *x);
  g_autoptr (TmModel) candidate = NULL, reference = make_f32 ("w.weight", ROWS, COLUMNS, x);
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *tensor;
  double sum[ROWS] = { 0 };

  for (gsize i = 0; i < N; i++)
    y[i] += (float) (i % 7) * 0.001f * (float) (1 + i / COLUMNS);
  for (gsize i = 0; i < N; i++)
    sum[i / COLUMNS] += ((double) y[i] - (double) x[i]) * ((double) y[i] - (double) x[i]);
  candidate = make_f32 ("w.weight", ROWS, COLUMNS, y);
  diff = compare (candidate, reference);
  tensor = find (diff, "w.weight");
  check_metrics (tensor, y, x, N);
  g_assert_false (tensor->has_steps);
  g_assert_true (isnan (tensor->over_half_step) && isnan (tensor->clipped));
  g_assert_cmpuint (tensor->n_worst, ==, ROWS);
  for (guint i = 0; i < ROWS; i++)
    {
      g_assert_cmpuint (tensor->worst[i].group, ==, ROWS - 1 - i);
      g_assert_cmpuint (tensor->worst[i].count, ==, COLUMNS);
      assert_near (tensor->worst[i].mse, sum[ROWS - 1 - i] / COLUMNS, 1e-10);
    }
}

static void
test_not_finite (void)
{
  g_autofree float *x = planted_noise (256, 3), *y = g_memdup2 (x, 256 * sizeof *x);
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *tensor;

  x[3] = y[3] = NAN;
  x[4] = y[4] = -INFINITY;
  x[5] = INFINITY; /* y finite */
  y[6] = NAN;
  x[7] = INFINITY;
  y[7] = -INFINITY;
  y[9] += 0.5f;
  candidate = make_f32 ("w.weight", 8, 32, y);
  reference = make_f32 ("w.weight", 8, 32, x);
  diff = compare (candidate, reference);
  tensor = find (diff, "w.weight");
  g_assert_cmpuint (tensor->n, ==, 251);
  g_assert_cmpuint (tensor->n_same_nonfinite, ==, 2);
  g_assert_cmpuint (tensor->n_other_nonfinite, ==, 3);
  g_assert_false (tensor->exact);
  assert_near (tensor->max_abs, 0.5, 1e-6);
  g_assert_cmpuint (tensor->max_at, ==, 9);
  g_assert_false (tensor->has_offset);
}

/* What is finite is the same: there is no constant to tell of. */
static void
test_only_not_finite (void)
{
  g_autofree float *x = planted_noise (256, 3), *y = g_memdup2 (x, 256 * sizeof *x);
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *tensor;

  y[6] = NAN;
  candidate = make_f32 ("w.weight", 8, 32, y);
  reference = make_f32 ("w.weight", 8, 32, x);
  diff = compare (candidate, reference);
  tensor = find (diff, "w.weight");
  g_assert_cmpuint (tensor->n_other_nonfinite, ==, 1);
  g_assert_false (tensor->exact);
  g_assert_false (tensor->has_offset);
  g_assert_false (tensor->has_ratio);
}

/* The other sign is a constant, and no sign of a wrong pair. */
static void
test_other_sign (void)
{
  g_autofree float *x = planted_noise (4096, 4), *y = g_new (float, 4096);
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *tensor;

  for (guint i = 0; i < 4096; i++)
    y[i] = -x[i];
  candidate = make_f32 ("w.weight", 64, 64, y);
  reference = make_f32 ("w.weight", 64, 64, x);
  diff = compare (candidate, reference);
  tensor = find (diff, "w.weight");
  g_assert_true (tensor->has_ratio);
  assert_near (tensor->ratio, -1, 1e-12);
  assert_near (tensor->sqnr_db, -6.020599913279624, 1e-9);
  g_assert_false (tensor->pair->doubtful);
}

static guint16 *
to_bf16 (const float *values, gsize n)
{
  guint16 *halves = g_new (guint16, n);

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, values + i, sizeof bits);
      halves[i] = (guint16) (bits >> 16);
    }
  return halves;
}

/* A widened copy is exact, and no number of dB; F16 against BF16 is not. */
static void
test_exact (void)
{
  g_autofree float *x = planted_noise (64 * 64, 4), *wide = NULL;
  g_autofree guint16 *narrow = to_bf16 (x, 64 * 64);
  Planted a, b;
  g_autoptr (TmModel) bf16 = NULL, f32 = NULL;
  g_autoptr (TmDiff) diff = NULL, rounded = NULL;
  g_autofree char *words = NULL;

  planted_begin (&a, "safetensors", NULL);
  planted_bytes (&a, "w.weight", TM_DTYPE_BF16, 2, (guint64[]) { 64, 64 }, narrow, 64 * 64 * 2);
  bf16 = planted_end (&a);
  wide = decode (bf16, 0);
  f32 = make_f32 ("w.weight", 64, 64, wide);
  diff = compare (f32, bf16);
  g_assert_true (find (diff, "w.weight")->exact);
  g_assert_true (isinf (find (diff, "w.weight")->sqnr_db) && find (diff, "w.weight")->sqnr_db > 0);
  words = tm_diff_format_sqnr (find (diff, "w.weight")->sqnr_db);
  g_assert_cmpstr (words, ==, "exact");
  g_assert_cmpuint (find (diff, "w.weight")->n_worst, ==, 0);

  planted_begin (&b, "safetensors", NULL);
  planted_bytes (&b, "w.weight", TM_DTYPE_F16, 2, (guint64[]) { 64, 64 }, narrow,
                 64 * 64 * 2); /* the same bits, another meaning */
  {
    g_autoptr (TmModel) f16 = planted_end (&b);
    g_autofree float *y = decode (f16, 0);

    rounded = compare (f16, bf16);
    g_assert_false (find (rounded, "w.weight")->exact);
    if (find (rounded, "w.weight")->n == 64 * 64)
      check_metrics (find (rounded, "w.weight"), y, wide, 64 * 64);
  }
}

/* --- Planted ------------------------------------------------------------------------------------------------------ */

/* The bug: norms stored as 1 + w, or rescaled, were reported as damage. */
static void
test_b033 (void)
{
  enum
  {
    N = 256
  };
  g_autofree float *w = planted_noise (N, 5), *plus = g_new (float, N), *twice = g_new (float, N),
                   *shifted = g_new (float, N);
  g_autofree float *minus = g_new (float, N);
  Planted a, b;
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  g_autofree char *ratio = NULL, *offset = NULL;

  for (guint i = 0; i < N; i++)
    {
      plus[i] = w[i] + 1;
      minus[i] = w[i] - 1;
      twice[i] = w[i] * 2;
      shifted[i] = w[i] + 0.25f;
    }
  planted_begin (&a, "GGUF", "gemma2");
  planted_vector (&a, "blk.0.attn_norm.weight", N, plus);
  planted_vector (&a, "blk.1.attn_norm.weight", N, twice);
  planted_vector (&a, "blk.2.attn_norm.weight", N, shifted);
  planted_vector (&a, "blk.3.attn_norm.weight", N, minus);
  planted_vector (&a, "blk.4.attn_norm.weight", N, w);
  candidate = planted_end (&a);
  planted_begin (&b, "safetensors", NULL);
  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *name = g_strdup_printf ("model.layers.%u.input_layernorm.weight", i);

      planted_vector (&b, name, N, w);
    }
  reference = planted_end (&b);
  diff = compare (candidate, reference);

  g_assert_cmpstr (find (diff, "blk.0.attn_norm.weight")->pair->reading->words, ==, "norm-plus-one");
  g_assert_true (find (diff, "blk.0.attn_norm.weight")->exact);
  g_assert_cmpstr (find (diff, "blk.3.attn_norm.weight")->pair->reading->words, ==, "norm-minus-one");
  g_assert_true (find (diff, "blk.3.attn_norm.weight")->exact);
  g_assert_cmpstr (find (diff, "blk.4.attn_norm.weight")->pair->reading->words, ==, "identity");
  g_assert_true (find (diff, "blk.4.attn_norm.weight")->exact);
  g_assert_true (find (diff, "blk.1.attn_norm.weight")->has_ratio);
  assert_near (find (diff, "blk.1.attn_norm.weight")->ratio, 2, 1e-9);
  g_assert_false (find (diff, "blk.1.attn_norm.weight")->has_offset);
  g_assert_true (find (diff, "blk.2.attn_norm.weight")->has_offset);
  assert_near (find (diff, "blk.2.attn_norm.weight")->offset, 0.25, 1e-6);
  ratio = tm_diff_describe_alignment (diff, find (diff, "blk.1.attn_norm.weight"));
  offset = tm_diff_describe_alignment (diff, find (diff, "blk.2.attn_norm.weight"));
  g_assert_cmpstr (ratio, ==, "identity, constant ratio 2");
  g_assert_true (g_str_has_prefix (offset, "identity, constant offset 0.25"));
}

/* A group whose codes are wrong is the worst of its tensor, its tensor the worst of the model, and its block the worst block. */
static void
test_bad_group (void)
{
  enum
  {
    ROWS = 64,
    COLUMNS = 256,
    BAD = 277
  };
  Planted a, b;
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *worst;
  g_autofree guint64 *start = NULL, *end = NULL;
  g_autofree char *rounding = NULL;
  guint rank;

  planted_begin (&a, "GGUF", "llama");
  planted_begin (&b, "safetensors", NULL);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree float *values = planted_noise (ROWS * COLUMNS, 30 + i);
      g_autofree char *name = g_strdup_printf ("blk.%u.ffn_up.weight", i),
                      *other = g_strdup_printf ("model.layers.%u.mlp.up_proj.weight", i);
      gsize count;
      g_autofree guint8 *bytes = planted_q8_0 (values, ROWS * COLUMNS, &count);

      if (i == 2)
        for (guint k = 0; k < 32; k++)
          bytes[34 * BAD + 2 + k] = (guint8) (gint8) ((gint8) bytes[34 * BAD + 2 + k] / 2);
      planted_bytes (&a, name, TM_DTYPE_Q8_0, 2, (guint64[]) { ROWS, COLUMNS }, bytes, count);
      planted_matrix (&b, other, ROWS, COLUMNS, values);
    }
  candidate = planted_end (&a);
  reference = planted_end (&b);
  diff = compare (candidate, reference);
  worst = tm_diff_tensor (diff, 0);
  g_assert_cmpstr (tm_model_tensor (candidate, worst->pair->candidate)->name, ==, "blk.2.ffn_up.weight");
  g_assert_cmpuint (worst->worst[0].group, ==, BAD);
  g_assert_cmpfloat (worst->worst[0].mse, >, 100 * worst->worst[1].mse);
  tm_diff_group_get_range (tm_model_tensor (candidate, worst->pair->candidate), &worst->worst[0], &start, &end, &rank);
  g_assert_cmpuint (rank, ==, 2);
  g_assert_cmpuint (start[0], ==, BAD / 8);
  g_assert_cmpuint (end[0], ==, BAD / 8 + 1);
  g_assert_cmpuint (start[1], ==, BAD % 8 * 32);
  g_assert_cmpuint (end[1], ==, BAD % 8 * 32 + 32);
  g_assert_cmpuint (worst->n_over, >, 20);
  g_assert_cmpuint (worst->n_over, <=, 32);
  g_assert_cmpuint (worst->n_clipped, ==, 0); /* wrong, and not at an end of the range */
  rounding = tm_diff_describe_rounding (diff, worst);
  g_assert_true (g_str_has_prefix (rounding, "not nearest rounding"));

  for (guint i = 1; i < diff->tensors->len; i++)
    {
      g_autofree char *nearest = tm_diff_describe_rounding (diff, tm_diff_tensor (diff, i));

      g_assert_cmpstr (nearest, ==, "nearest rounding");
      g_assert_cmpfloat (tm_diff_tensor (diff, i)->sqnr_db, >=, tm_diff_tensor (diff, i - 1)->sqnr_db);
    }
  {
    TmDiffTotal model = tm_diff_sum_module (diff, candidate->root);
    TmDiffTotal block = tm_diff_sum_module (diff, tm_module_find (candidate->root, "blk.2"));

    g_assert_cmpuint (model.tensors, ==, 4);
    g_assert_cmpuint (model.parameters, ==, 4 * ROWS * COLUMNS);
    assert_near (model.sum_ee, diff->total.sum_ee, 1e-12);
    g_assert_true (model.worst == worst && block.worst == worst);
    g_assert_cmpuint (block.tensors, ==, 1);
    assert_near (block.sqnr_db, worst->sqnr_db, 1e-12);
  }
}

/* Values beyond the last code are clipped, and said to be; in the middle of the range they are not. */
static void
test_clipped (void)
{
  enum
  {
    N = 1024
  };
  g_autofree float *values = planted_noise (N, 6), *larger = NULL;
  g_autoptr (TmModel) candidate = make_q8_0 ("w.weight", 4, 256, values), reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  const TmDiffTensor *tensor;
  g_autofree float *y = decode (candidate, 0);
  guint at_end = 0;

  larger = g_memdup2 (values, N * sizeof *values);
  for (guint i = 0; i < N; i++)
    {
      gint32 raw;

      g_assert_true (tm_tensor_decode_raw (tm_model_tensor (candidate, 0), i, 1, &raw, NULL, NULL));
      if (ABS (raw) == 127 && i % 2 == 0)
        {
          larger[i] = y[i] * 1.5f; /* further out than the last code */
          at_end++;
        }
    }
  larger[100] = y[100] + 1; /* far off, and somewhere in the range */
  reference = make_f32 ("w.weight", 4, 256, larger);
  diff = compare (candidate, reference);
  tensor = find (diff, "w.weight");
  g_assert_cmpuint (at_end, >, 4);
  g_assert_cmpuint (tensor->n_clipped, ==, at_end);
  g_assert_cmpuint (tensor->n_over, ==, at_end + 1);
  assert_near (tensor->clipped, at_end / (double) N, 1e-12);
}

/* --- One scalar, the picture -------------------------------------------------------------------------------------- */

static void
test_scalar (void)
{
  enum
  {
    ROWS = 32,
    COLUMNS = 64
  };
  g_autofree float *values = planted_noise (ROWS * COLUMNS, 7), *source = g_new (float, ROWS *COLUMNS);
  Planted a, b;
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, ROWS * COLUMNS, &count);
  g_autoptr (TmModel) candidate = NULL, reference = NULL, picture = NULL;
  g_autoptr (TmDiff) diff = NULL;
  g_autofree float *y = NULL, *errors = NULL;

  for (guint r = 0; r < ROWS;
       r++) /* 2 heads: the candidate's row h × 16 + j is the source's h × 16 + (j % 2) × 8 + j / 2 */
    memcpy (source + (r / 16 * 16 + r % 2 * 8 + r % 16 / 2) * COLUMNS, values + r * COLUMNS, COLUMNS * sizeof *values);
  planted_begin (&a, "GGUF", "llama");
  planted_number (&a, "llama.attention.head_count", 2);
  planted_bytes (&a, "blk.0.attn_q.weight", TM_DTYPE_Q8_0, 2, (guint64[]) { ROWS, COLUMNS }, bytes, count);
  planted_bytes (&a, "lonely.weight", TM_DTYPE_Q8_0, 2, (guint64[]) { ROWS, COLUMNS }, bytes, count);
  candidate = planted_end (&a);
  planted_begin (&b, "safetensors", NULL);
  planted_matrix (&b, "model.layers.0.self_attn.q_proj.weight", ROWS, COLUMNS, source);
  reference = planted_end (&b);
  diff = compare (candidate, reference);
  y = decode (candidate, 0);
  picture = tm_diff_new_error_model (diff->alignment);
  errors = decode (picture, 0);
  for (guint i = 0; i < ROWS * COLUMNS; i += 7)
    {
      TmDelta delta;
      float scale;
      g_autoptr (GError) error = NULL;
      double e = (double) y[i] - (double) values[i];

      g_assert_true (tm_diff_explain (diff->alignment, tm_alignment_pair (diff->alignment, 0),
                                      (guint64[]) { i / COLUMNS, i % COLUMNS }, &delta, &error));
      g_assert_no_error (error);
      g_assert_true (tm_tensor_decode (tm_model_tensor (candidate, 0), TM_QUANTITY_SCALE, i, 1, &scale, NULL, NULL));
      g_assert_cmpfloat ((double) delta.baseline, ==, (double) values[i]);
      g_assert_cmpfloat ((double) delta.candidate, ==, (double) y[i]);
      g_assert_cmpfloat (delta.delta, ==, e);
      g_assert_true (delta.has_step && !delta.over_half_step && !delta.clipped);
      assert_near (delta.delta_in_steps, e / (double) scale, 1e-9);
      g_assert_cmpuint (delta.reference, ==, 0);
      g_assert_cmpfloat ((double) source[delta.reference_flat], ==, (double) values[i]);
      g_assert_cmpfloat ((double) errors[i], ==, (double) (float) e);
    }

  /* as a picture: a tile's texel is the largest error under it; what has no counterpart says so */
  {
    TmSheet sheet;
    TmTileKey key = { .tensor = 0, .quantity = TM_QUANTITY_VALUE, .reduce = TM_REDUCE_LARGEST, .level = 3 };
    g_autofree float *texels = g_new (float, TM_TILE *TM_TILE);
    g_autoptr (GError) error = NULL;
    guint width, height;

    tm_sheet_init (&sheet, tm_model_tensor (picture, 0));
    g_assert_true (
        tm_tile_make (tm_model_tensor (picture, 0), &sheet, &key, TRUE, texels, &width, &height, NULL, &error));
    g_assert_cmpuint (width, ==, COLUMNS / 8);
    g_assert_cmpuint (height, ==, ROWS / 8);
    for (guint r = 0; r < height; r++)
      for (guint c = 0; c < width; c++)
        {
          float largest = 0;

          for (guint i = 0; i < 64; i++)
            largest = fmaxf (largest, fabsf (errors[(8 * r + i / 8) * COLUMNS + 8 * c + i % 8]));
          g_assert_cmpfloat ((double) fabsf (texels[r * TM_TILE + c]), ==, (double) largest);
        }
    g_assert_cmpstr (tm_model_tensor (picture, 1)->fault, ==, "the reference has no counterpart");
    g_assert_true (tm_granularity_equal_levels (tm_model_tensor (picture, 0)->granularity,
                                                tm_model_tensor (candidate, 0)->granularity));
  }
}

static void
count_progress (double fraction, const char *text, gpointer data)
{
  double *last = data;

  g_assert_nonnull (text);
  g_assert_cmpfloat (fraction, >=, *last);
  *last = fraction;
}

static void
cancel_at_once (double fraction, const char *text, gpointer data)
{
  g_cancellable_cancel (data);
}

static void
test_progress_and_cancel (void)
{
  enum
  {
    N = 4096 * 1024
  };
  g_autofree float *values = planted_noise (N, 8);
  g_autoptr (TmModel) model = make_f32 ("w.weight", 4096, 1024, values);
  g_autoptr (GError) error = NULL;
  g_autoptr (TmAlignment) alignment = tm_align (model, model, NULL, 0, NULL, NULL, NULL, &error);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (TmDiff) diff = NULL;
  double last = 0;

  diff = tm_diff_run (alignment, count_progress, &last, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (tm_diff_tensor (diff, 0)->exact);
  g_assert_cmpfloat (last, ==, 1);
  g_assert_null (tm_diff_run (alignment, cancel_at_once, cancellable, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A model is never held whole: the peak does not grow by what is read. */
#if !defined(__SANITIZE_ADDRESS__)
static long
get_peak (void) /* KiB */
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static TmModel *
make_hole (const char *name, guint64 rows, guint64 columns)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("tensormorph-diff-XXXXXX", &path, &error);
  Planted planted;
  TmModel *model;
  TmStored *stored;
  TmSource *source;

  g_assert_no_error (error);
  g_assert_cmpint (ftruncate (file, (off_t) (rows * columns * 4)), ==, 0);
  g_assert_cmpint (close (file), ==, 0);
  source = tm_source_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_unlink (path), ==, 0);
  planted_begin (&planted, "safetensors", NULL);
  planted_bytes (&planted, name, TM_DTYPE_F32, 2, (guint64[]) { rows, columns }, "", 0);
  model = planted_end (&planted);
  stored = tm_model_stored (model, 0);
  g_clear_pointer (&stored->source, tm_source_unref);
  stored->source = source;
  stored->offset = 0;
  stored->bytes = rows * columns * 4;
  return model;
}

static void
test_memory (void)
{
  enum
  {
    ROWS = 4096,
    COLUMNS = 12288
  }; /* 192 MiB */
  g_autoptr (TmModel) candidate = make_hole ("blk.0.ffn_up.weight", ROWS, COLUMNS);
  g_autoptr (TmModel) reference = make_hole ("transformer.h.0.mlp.c_fc.weight", COLUMNS, ROWS);
  long before = get_peak ();

  {
    g_autoptr (TmDiff) straight = compare (candidate, candidate), transposed = compare (candidate, reference);

    g_assert_cmpuint (tm_diff_tensor (straight, 0)->n, ==, (guint64) ROWS * COLUMNS);
    g_assert_true (tm_diff_tensor (straight, 0)->exact);
    g_assert_cmpstr (tm_diff_tensor (transposed, 0)->pair->reading->words, ==, "transpose");
    g_assert_true (tm_diff_tensor (transposed, 0)->exact);
  }
  g_assert_cmpint (get_peak () - before, <, 100 * 1024);
}
#endif

/* What cannot be read is that tensor's fault, and comes last. */
static void
test_fault (void)
{
  g_autofree float *values = planted_noise (64 * 64, 9);
  Planted a;
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;

  planted_begin (&a, "safetensors", NULL);
  planted_matrix (&a, "good.weight", 64, 64, values);
  planted_matrix (&a, "short.weight", 64, 64, values);
  candidate = planted_end (&a);
  tm_model_stored (candidate, 1)->offset += 4; /* past the end of the file */
  planted_begin (&a, "safetensors", NULL);
  planted_matrix (&a, "good.weight", 64, 64, values);
  planted_matrix (&a, "short.weight", 64, 64, values);
  reference = planted_end (&a);
  diff = compare (candidate, reference);
  g_assert_cmpuint (diff->tensors->len, ==, 2);
  g_assert_null (tm_diff_tensor (diff, 0)->fault);
  g_assert_nonnull (tm_diff_tensor (diff, 1)->fault);
  g_assert_cmpuint (diff->total.tensors, ==, 1);
  g_assert_cmpuint (diff->total.parameters, ==, 64 * 64);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff/metrics", test_metrics);
  g_test_add_func ("/diff/ordinary", test_ordinary);
  g_test_add_func ("/diff/not-finite", test_not_finite);
  g_test_add_func ("/diff/only-not-finite", test_only_not_finite);
  g_test_add_func ("/diff/other-sign", test_other_sign);
  g_test_add_func ("/diff/exact", test_exact);
  g_test_add_func ("/traps/B033", test_b033);
  g_test_add_func ("/diff/bad-group", test_bad_group);
  g_test_add_func ("/diff/clipped", test_clipped);
  g_test_add_func ("/diff/scalar", test_scalar);
  g_test_add_func ("/diff/progress-and-cancel", test_progress_and_cancel);
#if !defined(__SANITIZE_ADDRESS__)
  g_test_add_func ("/diff/memory", test_memory);
#endif
  g_test_add_func ("/diff/fault", test_fault);
  return g_test_run ();
}
