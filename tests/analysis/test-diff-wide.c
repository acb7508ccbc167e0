/* Numbers that float32 does not hold are compared as what they are: what is not the same is never "exact". */
#include "planted.h"

#include <math.h>
#include <string.h>

#include "analysis/diff.h"

typedef struct
{
  TmDtype dtype;
  gsize size;
  gconstpointer y, x; /* four elements each */
  double max_abs;     /* 0: exact */
  double mse;
} Row;

static TmModel *
make (TmDtype dtype, gconstpointer values, gsize size)
{
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_bytes (&planted, "w.weight", dtype, 2, (guint64[]) { 2, 2 }, values, 4 * size);
  return planted_end (&planted);
}

static TmDiff *
compare (TmModel *candidate, TmModel *reference)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmAlignment) alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, &error);
  TmDiff *diff = tm_diff_run (alignment, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return diff;
}

static void
test_dtypes (void)
{
  static const double f64[] = { 1, 2, 3, 1e60 }, f64_near[] = { 1 + 0x1p-40, 2, 3, 1e60 };
  static const double f64_huge[] = { 1, 2, 3, 2e60 };
  static const gint32 i32[] = { 16777216, 5, -7, G_MININT32 }, i32_next[] = { 16777217, 5, -7, G_MININT32 };
  static const guint32 u32[] = { G_MAXUINT32, 1, 2, 3 }, u32_next[] = { G_MAXUINT32 - 1, 1, 2, 3 };
  static const gint64 i64[] = { G_MAXINT64, 1, 2, 3 }, i64_next[] = { G_MAXINT64 - 1, 1, 2, 3 };
  static const guint64 u64[] = { G_MAXUINT64, 1, 2, 3 }, u64_next[] = { G_MAXUINT64 - 2, 1, 2, 3 };
  static const float c64[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, c64_other[] = { 1, 2, 3, 4, 5, 6, 10, 12 };
  static const Row rows[] = {
    { TM_DTYPE_F64, 8, f64, f64, 0, 0 },
    { TM_DTYPE_F64, 8, f64_near, f64, 0x1p-40, 0x1p-80 / 4 },
    { TM_DTYPE_F64, 8, f64_huge, f64, 1e60, 1e120 / 4 },
    { TM_DTYPE_I32, 4, i32, i32, 0, 0 },
    { TM_DTYPE_I32, 4, i32_next, i32, 1, 0.25 },
    { TM_DTYPE_U32, 4, u32_next, u32, 1, 0.25 },
    { TM_DTYPE_I64, 8, i64, i64, 0, 0 },
    { TM_DTYPE_I64, 8, i64_next, i64, 1, 0.25 },
    { TM_DTYPE_U64, 8, u64_next, u64, 2, 1 },
    { TM_DTYPE_C64, 8, c64, c64, 0, 0 },
    { TM_DTYPE_C64, 8, c64_other, c64, 5, 25.0 / 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (TmModel) candidate = make (rows[i].dtype, rows[i].y, rows[i].size);
      g_autoptr (TmModel) reference = make (rows[i].dtype, rows[i].x, rows[i].size);
      g_autoptr (TmDiff) diff = compare (candidate, reference);
      const TmDiffTensor *tensor = tm_diff_tensor (diff, 0);

      g_assert_null (tensor->fault);
      g_assert_cmpuint (tensor->n, ==, 4);
      g_assert_cmpint (tensor->exact, ==, rows[i].max_abs == 0);
      g_assert_cmpfloat (tensor->max_abs, ==, rows[i].max_abs);
      g_assert_cmpfloat_with_epsilon (tensor->mse, rows[i].mse, 1e-12 * rows[i].mse + 1e-300);
      g_assert_cmpint (isinf (tensor->sqnr_db) != 0, ==, rows[i].max_abs == 0);
    }
}

/* A float32 copy of doubles is off by what rounding took, and NaN is left out on either side. */
static void
test_crossed (void)
{
  static const double f64[] = { 0.1, 0.5, NAN, INFINITY };
  static const float f32[] = { 0.1f, 0.5f, NAN, 1 };
  g_autoptr (TmModel) candidate = make (TM_DTYPE_F32, f32, sizeof (float));
  g_autoptr (TmModel) reference = make (TM_DTYPE_F64, f64, sizeof (double));
  g_autoptr (TmDiff) diff = compare (candidate, reference);
  const TmDiffTensor *tensor = tm_diff_tensor (diff, 0);

  g_assert_cmpuint (tensor->n, ==, 2);
  g_assert_cmpuint (tensor->n_same_nonfinite, ==, 1);
  g_assert_cmpuint (tensor->n_other_nonfinite, ==, 1);
  g_assert_cmpfloat (tensor->max_abs, ==, (double) 0.1f - 0.1);
}

/* Rows moved, one added, many pieces: the same readings as for float32. */
static void
test_readings (void)
{
  enum { ROWS = 64, COLUMNS = 3000, N = ROWS * COLUMNS };
  g_autofree double *x = g_new (double, N), *y = g_new (double, N), *norm = g_new (double, COLUMNS), *plus = g_new (double, COLUMNS);
  g_autoptr (TmModel) candidate = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  Planted planted;

  for (guint i = 0; i < N; i++)
    x[i] = sin (i) + 1e-12 * cos (i);
  for (guint row = 0; row < ROWS; row++) /* 2 heads */
    memcpy (y + row * COLUMNS, x + (row / 32 * 32 + row % 32 % 2 * 16 + row % 32 / 2) * COLUMNS, COLUMNS * sizeof *x);
  for (guint i = 0; i < COLUMNS; i++)
    {
      norm[i] = x[i];
      plus[i] = x[i] + 1;
    }
  planted_begin (&planted, "GGUF", "llama");
  planted_number (&planted, "llama.attention.head_count", 2);
  planted_bytes (&planted, "blk.0.attn_q.weight", TM_DTYPE_F64, 2, (guint64[]) { ROWS, COLUMNS }, y, N * sizeof *y);
  planted_bytes (&planted, "blk.0.attn_norm.weight", TM_DTYPE_F64, 1, (guint64[]) { COLUMNS }, plus, COLUMNS * sizeof *y);
  planted_bytes (&planted, "blk.0.ffn_up.weight", TM_DTYPE_F64, 2, (guint64[]) { COLUMNS, ROWS }, y, N * sizeof *y);
  candidate = planted_end (&planted);
  planted_begin (&planted, "safetensors", NULL);
  planted_bytes (&planted, "model.layers.0.self_attn.q_proj.weight", TM_DTYPE_F64, 2, (guint64[]) { ROWS, COLUMNS }, x, N * sizeof *y);
  planted_bytes (&planted, "model.layers.0.input_layernorm.weight", TM_DTYPE_F64, 1, (guint64[]) { COLUMNS }, norm, COLUMNS * sizeof *y);
  {
    g_autofree double *turned = g_new (double, N);

    for (guint row = 0; row < COLUMNS; row++)
      for (guint column = 0; column < ROWS; column++)
        turned[column * COLUMNS + row] = y[row * ROWS + column];
    planted_bytes (&planted, "model.layers.0.mlp.up_proj.weight", TM_DTYPE_F64, 2, (guint64[]) { ROWS, COLUMNS }, turned, N * sizeof *y);
  }
  reference = planted_end (&planted);
  diff = compare (candidate, reference);
  g_assert_cmpuint (diff->tensors->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (tm_diff_tensor (diff, i)->exact);
      g_assert_cmpstr (tm_diff_tensor (diff, i)->pair->reading->words, !=, "identity");
    }
  /* a twelfth digit of one element */
  y[2 * COLUMNS + 77] += 1e-12;
  g_clear_object (&candidate);
  planted_begin (&planted, "GGUF", "llama");
  planted_bytes (&planted, "blk.0.attn_q.weight", TM_DTYPE_F64, 2, (guint64[]) { ROWS, COLUMNS }, y, N * sizeof *y);
  candidate = planted_end (&planted);
  {
    g_autoptr (TmDiff) second = compare (candidate, reference);
    const TmDiffTensor *tensor = tm_diff_tensor (second, 0);

    g_assert_false (tensor->exact);
    g_assert_cmpuint (tensor->max_at, ==, 2 * COLUMNS + 77);
    g_assert_cmpuint (tensor->n_worst, ==, 1);
    g_assert_cmpuint (tensor->worst[0].group, ==, 2); /* rows are the groups of an ordinary tensor */
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff-wide/dtypes", test_dtypes);
  g_test_add_func ("/diff-wide/crossed", test_crossed);
  g_test_add_func ("/diff-wide/readings", test_readings);
  return g_test_run ();
}
