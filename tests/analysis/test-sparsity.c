/* Zeros by cause: planted masks found again with and without a reference, the expected table of rounding zeros, lines, groups,
 * patterns and blocks against plain loops. */
#include "planted.h"

#include <math.h>
#include <string.h>

#include "analysis/sparsity.h"

/* --- Weights ------------------------------------------------------------------------------------------------------ */

static double
draw (guint64 *state) /* 0 < x < 1 */
{
  guint64 z = (*state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));

  z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return ((double) ((z ^ z >> 31) >> 12) + 0.5) / 0x1p52;
}

/* Of variance 1. */
static float *
draw_weights (gboolean laplace, gsize n, guint64 seed)
{
  float *values = g_new (float, n);

  for (gsize i = 0; i < n; i++)
    {
      double u = draw (&seed), v = draw (&seed);

      values[i] = (float) (laplace ? (v < 0.5 ? 1 : -1) * log (u) / sqrt (2) : sqrt (-2 * log (u)) * cos (2 * G_PI * v));
    }
  return values;
}

static guint64
prune (float *values, gsize n, double share, guint64 seed)
{
  guint64 pruned = 0;

  for (gsize i = 0; i < n; i++)
    if (draw (&seed) < share)
      {
        values[i] = 0;
        pruned++;
      }
  return pruned;
}

static TmSparsity *
look (TmModel *model, TmModel *reference)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmAlignment) alignment = reference != NULL ? tm_align (model, reference, NULL, 0, NULL, NULL, NULL, &error) : NULL;
  g_autoptr (GPtrArray) results = tm_sparsity_run (model, alignment, NULL, 0, NULL, NULL, NULL, &error);
  TmSparsity *one;

  g_assert_no_error (error);
  one = g_ptr_array_index (results, 0);
  g_assert_null (one->fault);
  return tm_sparsity_ref (one);
}

static TmModel *
make_f32 (guint64 rows, guint64 columns, const float *values)
{
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, "model.layers.0.mlp.up_proj.weight", rows, columns, values);
  return planted_end (&planted);
}

static TmModel *
make_bytes (TmDtype dtype, guint64 rows, guint64 columns, const guint8 *bytes, gsize count)
{
  Planted planted;

  planted_begin (&planted, "GGUF", "llama");
  planted_bytes (&planted, "blk.0.ffn_up.weight", dtype, 2, (guint64[]){ rows, columns }, bytes, count);
  return planted_end (&planted);
}

static TmModel *
make_q8_0 (guint64 rows, guint64 columns, const float *values)
{
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, rows * columns, &count);

  return make_bytes (TM_DTYPE_Q8_0, rows, columns, bytes, count);
}

static float *
decode (TmModel *model)
{
  const TmTensor *tensor = tm_model_tensor (model, 0);
  float *values = g_new (float, tensor->n_elements);

  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, tensor->n_elements, values, NULL, NULL));
  return values;
}

/* --- The expected table ------------------------------------------------------------------------------------------- */

#define N 1048576u

/* Symmetric codes in groups of 32: how many are 0, ±1, ±2, as nearest rounding has them. */
static void
count_codes (const float *values, guint bits, guint64 *zero, guint64 above[2], guint64 below[2], guint *used)
{
  const int top = (1 << (bits - 1)) - 1;
  guint64 codes[256] = { 0 };

  *used = 0;
  for (gsize g = 0; g < N; g += 32)
    {
      double most = 0;

      for (gsize i = g; i < g + 32; i++)
        most = fmax (most, fabs ((double) values[i]));
      for (gsize i = g; i < g + 32; i++)
        codes[128 + (int) CLAMP (rint ((double) values[i] / (most / top)), -top, top)]++;
    }
  *zero = codes[128];
  for (int i = 0; i < 2; i++)
    {
      above[i] = codes[129 + i];
      below[i] = codes[127 - i];
    }
  for (int i = 0; i < 256; i++)
    *used += codes[i] > 0;
}

static void
test_table (void)
{
  /* Shares of analysis.md 4.1 (groups of 32, symmetric). tolerance: five standard deviations at this many samples, four times
   * as close as those of 65 536, and half a digit of the table. */
  static const struct
  {
    gboolean laplace;
    guint bits;
    double zero, side, tolerance;
    TmEstimateVerdict plain, pruned;
  } rows[] = {
    { FALSE, 8, 0.0074, 0.0073, 0.0005, TM_ESTIMATE_ROUNDING, TM_ESTIMATE_PRUNED },
    { FALSE, 4, 0.1323, 0.1247, 0.0026, TM_ESTIMATE_ROUNDING, TM_ESTIMATE_PRUNED },
    { FALSE, 3, 0.3024, 0.2216, 0.0026, TM_ESTIMATE_ROUNDING, TM_ESTIMATE_UNTOLD },
    { FALSE, 2, 0.7453, 0.1273, 0.0026, TM_ESTIMATE_UNTOLD, TM_ESTIMATE_UNTOLD },
    { TRUE, 8, 0.0157, 0.0153, 0.0005, TM_ESTIMATE_ROUNDING, TM_ESTIMATE_PRUNED },
    { TRUE, 4, 0.2472, 0.1583, 0.0026, TM_ESTIMATE_ROUNDING, TM_ESTIMATE_PRUNED },
    { TRUE, 3, 0.4782, 0.1823, 0.0026, TM_ESTIMATE_UNTOLD, TM_ESTIMATE_UNTOLD },
    { TRUE, 2, 0.8429, 0.0785, 0.0026, TM_ESTIMATE_UNTOLD, TM_ESTIMATE_UNTOLD },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree float *values = draw_weights (rows[i].laplace, N, 100 + i);
      guint64 zero, above[2], below[2], pruned;
      TmSparsityEstimate estimate;
      guint used;

      count_codes (values, rows[i].bits, &zero, above, below, &used);
      g_assert_cmpfloat_with_epsilon ((double) zero / N, rows[i].zero, rows[i].tolerance);
      g_assert_cmpfloat_with_epsilon ((double) (above[0] + below[0]) / 2 / N, rows[i].side, rows[i].tolerance);
      tm_sparsity_estimate (N, zero, above, below, rows[i].bits, used, &estimate);
      g_assert_cmpint (estimate.verdict, ==, rows[i].plain);
      if (estimate.verdict == TM_ESTIMATE_ROUNDING)
        g_assert_true (estimate.pruned_low == 0 && estimate.pruned_high < 0.1 * N);

      pruned = prune (values, N, 0.1, 7);
      count_codes (values, rows[i].bits, &zero, above, below, &used);
      tm_sparsity_estimate (N, zero, above, below, rows[i].bits, used, &estimate);
      g_assert_cmpint (estimate.verdict, ==, rows[i].pruned);
      if (estimate.verdict == TM_ESTIMATE_PRUNED && !(estimate.pruned_low <= (double) pruned && (double) pruned <= estimate.pruned_high))
        g_error ("row %u: %" G_GUINT64_FORMAT " is not within %g … %g", (guint) i, pruned, estimate.pruned_low, estimate.pruned_high);
    }
}

/* Weights of one sign in groups of 32, zero point 0: there are no codes below zero, and half of zero's cell. */
static void
test_one_sided (void)
{
  for (guint pruning = 0; pruning < 2; pruning++)
    {
      g_autofree float *values = draw_weights (FALSE, N, 300);
      guint64 codes[256] = { 0 }, pruned;
      TmSparsityEstimate estimate;
      guint used = 0;

      for (gsize i = 0; i < N; i++)
        values[i] = fabsf (values[i]);
      pruned = pruning ? prune (values, N, 0.1, 8) : 0;
      for (gsize g = 0; g < N; g += 32)
        {
          double most = 0;

          for (gsize i = g; i < g + 32; i++)
            most = fmax (most, (double) values[i]);
          for (gsize i = g; i < g + 32; i++)
            codes[(int) rint ((double) values[i] / most * 255)]++;
        }
      for (guint i = 0; i < 256; i++)
        used += codes[i] > 0;
      tm_sparsity_estimate (N, codes[0], codes + 1, NULL, 8, used, &estimate);
      g_assert_cmpint (estimate.verdict, ==, pruning ? TM_ESTIMATE_PRUNED : TM_ESTIMATE_ROUNDING);
      g_assert_cmpfloat (estimate.pruned_low, <=, (double) pruned);
      g_assert_cmpfloat (estimate.pruned_high, >=, (double) pruned);
      g_assert_cmpfloat (estimate.pruned_high - estimate.pruned_low, <, 0.02 * N);
    }
}

static void
test_untold (void)
{
  TmSparsityEstimate estimate;

  tm_sparsity_estimate (0, 0, (guint64[]){ 0, 0 }, (guint64[]){ 0, 0 }, 8, 9, &estimate);
  g_assert_cmpint (estimate.verdict, ==, TM_ESTIMATE_UNTOLD);
  /* Zero is at the end of the codes. */
  tm_sparsity_estimate (100000, 9000, (guint64[]){ 9000, 9000 }, (guint64[]){ 0, 0 }, 8, 200, &estimate);
  g_assert_cmpint (estimate.verdict, ==, TM_ESTIMATE_UNTOLD);
  g_assert_nonnull (estimate.why);
  /* Magnitude pruning leaves a hole, and all zeros were pruned. */
  tm_sparsity_estimate (100000, 50000, (guint64[]){ 0, 0 }, (guint64[]){ 0, 0 }, 8, 200, &estimate);
  g_assert_cmpint (estimate.verdict, ==, TM_ESTIMATE_PRUNED);
  g_assert_cmpfloat (estimate.pruned_high, ==, 50000);
  g_assert_cmpfloat (estimate.pruned_low, >, 49000);
}

/* --- A mask that was planted -------------------------------------------------------------------------------------- */

static void
test_planted_mask (void)
{
  const guint64 rows = 64, columns = 1024, n = rows * columns;
  g_autofree float *values = draw_weights (FALSE, n, 1), *candidate = NULL;
  guint64 pruned = prune (values, n, 0.1, 2), zeros = 0, rounded = 0;
  g_autoptr (TmModel) reference = make_f32 (rows, columns, values), model = make_q8_0 (rows, columns, values);
  g_autoptr (TmSparsity) with = look (model, reference), without = look (model, NULL), source = look (reference, NULL);

  candidate = decode (model);
  for (guint64 i = 0; i < n; i++)
    {
      zeros += candidate[i] == 0;
      rounded += candidate[i] == 0 && values[i] != 0;
    }
  g_assert_cmpuint (source->zeros, ==, pruned);
  g_assert_cmpint (source->estimate.verdict, ==, TM_ESTIMATE_NONE);
  g_assert_true (with->has_reference);
  g_assert_cmpuint (with->compared, ==, n);
  g_assert_cmpuint (with->zeros, ==, zeros);
  g_assert_cmpuint (with->pruned, ==, pruned);
  g_assert_cmpuint (with->reference_zeros, ==, pruned);
  g_assert_cmpuint (with->rounded, ==, rounded);
  g_assert_cmpuint (rounded, >, 0);
  g_assert_cmpuint (with->forced, ==, 0);
  g_assert_cmpuint (with->revived, ==, 0);
  g_assert_cmpuint (with->kept_nonzero, ==, n - pruned - rounded);
  g_assert_cmpint (with->estimate.verdict, ==, TM_ESTIMATE_NONE);

  g_assert_false (without->has_reference);
  g_assert_cmpint (without->estimate.verdict, ==, TM_ESTIMATE_PRUNED);
  g_assert_true (without->estimate.pruned_low <= (double) pruned && (double) pruned <= without->estimate.pruned_high);
  g_assert_true (without->estimate.pruned_low > 0.095 * (double) n && without->estimate.pruned_high < 0.106 * (double) n);
}

/* Elements whose codes were set to zero later are farther than half a step. */
static void
test_forced (void)
{
  const guint64 rows = 16, columns = 64, n = rows * columns;
  g_autofree float *values = draw_weights (FALSE, n, 3);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, n, &count), *causes = g_malloc (n);
  g_autoptr (TmModel) reference = make_f32 (rows, columns, values), model = NULL, picture = NULL;
  g_autoptr (TmAlignment) alignment = NULL;
  g_autoptr (TmSparsity) one = NULL;
  guint64 forced = 0, found = 0;
  g_autofree float *shown = NULL;

  for (guint64 i = 5; i < n; i += 50)
    {
      gint8 *code = (gint8 *) bytes + i / 32 * 34 + 2 + i % 32;

      forced += *code != 0;
      *code = 0;
    }
  model = make_bytes (TM_DTYPE_Q8_0, rows, columns, bytes, count);
  one = look (model, reference);
  g_assert_cmpuint (one->forced, ==, forced);
  g_assert_cmpuint (one->rounded, >=, forced);
  alignment = tm_align (model, reference, NULL, 0, NULL, NULL, NULL, NULL);
  g_assert_true (tm_sparsity_classify (model, alignment, 0, 0, n, causes, NULL, NULL));
  picture = tm_sparsity_new_cause_model (model, alignment);
  shown = decode (picture);
  for (guint64 i = 0; i < n; i++)
    {
      found += causes[i] == TM_ZERO_FORCED;
      g_assert_true (shown[i] == (float) causes[i]);
    }
  g_assert_cmpuint (found, ==, forced);
}

/* Causes sum up to the count, whatever is known; words are of what was found. */
static void
test_causes_and_words (void)
{
  TmSparsity with = { .count = 1000, .zeros = 400, .has_reference = TRUE, .compared = 900, .pruned = 100, .rounded = 250, .forced = 30,
                      .revived = 20 };
  TmSparsity without = { .count = 1000, .zeros = 400, .without_scale = 64, .zero_scales = 2, .zero_rows = 1, .zero_columns = 3,
                         .block_size = 8, .estimate = { .verdict = TM_ESTIMATE_PRUNED, .pruned_low = 91, .pruned_high = 101 } };
  g_autofree char *facts = tm_sparsity_describe_facts (&without), *none = tm_sparsity_describe_facts (&with);
  g_autofree char *estimate = tm_sparsity_describe_estimate (&without), *exact = tm_sparsity_describe_estimate (&with);
  guint64 cause[TM_N_ZERO_CAUSES], sum = 0;

  tm_sparsity_count_causes (&with, cause);
  g_assert_cmpuint (cause[TM_ZERO_PRUNED], ==, 100);
  g_assert_cmpuint (cause[TM_ZERO_ROUNDED], ==, 220);
  g_assert_cmpuint (cause[TM_ZERO_FORCED], ==, 30);
  g_assert_cmpuint (cause[TM_ZERO_REVIVED], ==, 20);
  g_assert_cmpuint (cause[TM_ZERO_PLAIN], ==, 50); /* zeros without a counterpart */
  for (guint i = 0; i < TM_N_ZERO_CAUSES; i++)
    sum += cause[i];
  g_assert_cmpuint (sum, ==, 1000);
  tm_sparsity_count_causes (&without, cause);
  g_assert_cmpuint (cause[TM_ZERO_NO_SCALE], ==, 64);
  g_assert_cmpuint (cause[TM_ZERO_PLAIN], ==, 336);
  g_assert_cmpuint (cause[TM_ZERO_NONE], ==, 600);
  g_assert_cmpstr (facts, ==, "2 groups without a scale, 1 row of zeros, 3 columns of zeros, in blocks of 8×8");
  g_assert_null (none);
  g_assert_null (exact);
  g_assert_true (g_str_has_prefix (estimate, "Between 9.1 and 10.1 % of the elements were zero before quantization"));
  g_assert_nonnull (strstr (estimate, "three sigma"));
}

/* A group whose scale is 0 is nothing but zeros, and that is certain without a reference; with one the cause is exact. */
static void
test_no_scale (void)
{
  const guint64 rows = 8, columns = 64, n = rows * columns;
  g_autofree float *values = draw_weights (FALSE, n, 9);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, n, &count), *causes = g_malloc (n);
  g_autoptr (TmModel) reference = make_f32 (rows, columns, values), model = NULL;
  g_autoptr (TmAlignment) alignment = NULL;
  g_autoptr (TmSparsity) with = NULL, without = NULL;

  bytes[3 * 34] = bytes[3 * 34 + 1] = 0;
  bytes[7 * 34 + 2] = 0; /* one zero more, of a group that has a scale */
  model = make_bytes (TM_DTYPE_Q8_0, rows, columns, bytes, count);
  without = look (model, NULL);
  with = look (model, reference);
  g_assert_cmpuint (without->without_scale, ==, 32);
  g_assert_cmpuint (without->zero_scales, ==, 1);
  g_assert_cmpuint (without->zero_group[0], ==, 3);
  g_assert_cmpuint (with->without_scale, ==, 32);
  g_assert_true (tm_sparsity_classify (model, NULL, 0, 0, n, causes, NULL, NULL));
  for (guint64 i = 0; i < n; i++)
    if (i / 32 == 3)
      g_assert_cmpuint (causes[i], ==, TM_ZERO_NO_SCALE);
    else
      g_assert_cmpuint (causes[i], !=, TM_ZERO_NO_SCALE);
  g_assert_cmpuint (causes[7 * 32], ==, TM_ZERO_PLAIN);
  alignment = tm_align (model, reference, NULL, 0, NULL, NULL, NULL, NULL);
  g_assert_true (tm_sparsity_classify (model, alignment, 0, 0, n, causes, NULL, NULL));
  for (guint64 i = 3 * 32; i < 4 * 32; i++)
    g_assert_true (causes[i] == TM_ZERO_ROUNDED || causes[i] == TM_ZERO_FORCED);
}

/* An offset leaves no code for zero: pruned weights come back. */
static void
test_revived (void)
{
  const guint64 rows = 8, columns = 64, n = rows * columns;
  g_autofree float *values = draw_weights (FALSE, n, 4);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 pruned = prune (values, n, 0.5, 5);
  g_autoptr (TmModel) reference = NULL, model = NULL;
  g_autoptr (TmSparsity) one = NULL;

  for (guint64 block = 0; block < n; block += 32)
    {
      guint8 packed[20] = { 0x00, 0x30, 0x20, 0xbc }; /* d = 0.125, m = −1.03125 */

      for (guint64 i = 0; i < 32; i++)
        {
          float q = CLAMP (rintf ((values[block + i] + 1.03125f) / 0.125f), 0, 15);

          packed[4 + i % 16] = (guint8) (packed[4 + i % 16] | (guint8) q << (i < 16 ? 0 : 4));
        }
      g_byte_array_append (bytes, packed, sizeof packed);
    }
  reference = make_f32 (rows, columns, values);
  model = make_bytes (TM_DTYPE_Q4_1, rows, columns, bytes->data, bytes->len);
  one = look (model, reference);
  g_assert_true (one->no_zero_code);
  g_assert_cmpuint (one->zeros, ==, 0);
  g_assert_cmpuint (one->pruned, ==, 0);
  g_assert_cmpuint (one->revived, ==, pruned);
}

/* --- Lines, groups, patterns -------------------------------------------------------------------------------------- */

static void
test_lines_and_groups (void)
{
  const guint64 rows = 100, columns = 1312; /* a tile and a rest, in both directions */
  g_autofree float *values = draw_weights (FALSE, rows * columns, 6);
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmSparsity) one = NULL;

  for (guint64 r = 0; r < rows; r++)
    for (guint64 c = 0; c < columns; c++)
      if (r == 7 || r == 99 || c == 3 || c == 1100 || c == 1311 || (r == 20 && c / 32 == 33))
        values[r * columns + c] = 0;
  model = make_q8_0 (rows, columns, values);
  one = look (model, NULL);
  g_assert_cmpuint (one->zero_rows, ==, 2);
  g_assert_cmpuint (one->zero_row[0], ==, 7);
  g_assert_cmpuint (one->zero_row[1], ==, 99);
  g_assert_cmpuint (one->zero_columns, ==, 3);
  g_assert_cmpuint (one->zero_column[1], ==, 1100);
  g_assert_cmpuint (one->groups, ==, rows * columns / 32);
  g_assert_cmpuint (one->zero_groups, ==, 2 * columns / 32 + 1);
  g_assert_cmpuint (one->zero_group[0], ==, 7 * columns / 32);
}

/* A group without a scale: nothing is divided by it, and it is told. */
static void
test_zero_scale (void)
{
  const guint64 rows = 16, columns = 1024;
  g_autofree float *values = draw_weights (FALSE, rows * columns, 8);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (values, rows * columns, &count);
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmSparsity) one = NULL;

  memset (bytes + 34 * 5, 0, 34);
  model = make_bytes (TM_DTYPE_Q8_0, rows, columns, bytes, count);
  one = look (model, NULL);
  g_assert_cmpuint (one->zero_scales, ==, 1);
  g_assert_cmpuint (one->zero_groups, ==, 1);
  g_assert_cmpuint (one->zero_group[0], ==, 5);
  g_assert_true (one->estimate.pruned_low >= 32 && isfinite (one->estimate.pruned_high));
}

static void
check_counts (const TmSparsity *one, const float *values, guint64 rows, guint64 columns)
{
  for (guint i = 0; i < one->n_patterns; i++)
    {
      const TmSparsityPattern *pattern = &one->pattern[i];
      guint64 groups = 0, complying = 0;

      for (guint64 r = 0; r < rows; r++)
        for (guint64 c = 0; c + pattern->m <= columns; c += pattern->m)
          {
            guint zeros = 0;

            for (guint j = 0; j < pattern->m; j++)
              zeros += values[r * columns + c + j] == 0;
            groups++;
            complying += zeros >= pattern->m - pattern->n;
          }
      g_assert_cmpuint (pattern->groups, ==, groups);
      g_assert_cmpuint (pattern->complying, ==, complying);
    }
  for (guint i = 0; i < TM_SPARSITY_BLOCKS; i++)
    {
      guint64 size = 4u << i, blocks = 0, zero = 0;

      for (guint64 r = 0; r + size <= rows; r += size)
        for (guint64 c = 0; c + size <= columns; c += size)
          {
            gboolean used = FALSE;

            for (guint64 j = 0; j < size * size; j++)
              used = used || values[(r + j / size) * columns + c + j % size] != 0;
            blocks++;
            zero += !used;
          }
      g_assert_cmpuint (one->blocks[i], ==, blocks);
      g_assert_cmpuint (one->zero_blocks[i], ==, zero);
    }
}

static void
test_counts (void)
{
  static const guint64 shapes[][2] = { { 70, 1500 }, { 200, 37 }, { 130, 64 }, { 5, 5 }, { 1, 3000 } };
  static const double shares[] = { 0.2, 0.6, 0.95 };

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (shares); j++)
      {
        guint64 rows = shapes[i][0], columns = shapes[i][1];
        g_autofree float *values = draw_weights (FALSE, rows * columns, 10 + i);
        g_autoptr (TmModel) model = NULL;
        g_autoptr (TmSparsity) one = NULL;

        prune (values, rows * columns, shares[j], 20 + i);
        for (guint64 r = 0; r < MIN (rows, 64); r++) /* a block that is zero */
          for (guint64 c = 0; c < MIN (columns, 64); c++)
            values[r * columns + c] = 0;
        model = make_f32 (rows, columns, values);
        one = look (model, NULL);
        check_counts (one, values, rows, columns);
      }
}

/* The two smallest of four. */
static void
prune_2_of_4 (float *values, gsize n, gsize stride, gsize from)
{
  for (gsize g = from; g < n; g += 4 * stride)
    for (int k = 0; k < 2; k++)
      {
        gsize least = g;

        while (values[least] == 0)
          least += stride;
        for (gsize i = g; i < g + 4 * stride; i += stride)
          if (values[i] != 0 && fabsf (values[i]) < fabsf (values[least]))
            least = i;
        values[least] = 0;
      }
}

static void
assert_patterns (TmModel *model, const char *wanted)
{
  g_autoptr (TmSparsity) one = look (model, NULL);
  g_autoptr (GPtrArray) names = tm_sparsity_list_patterns (one);
  g_autofree char *joined = NULL;

  g_ptr_array_add (names, NULL);
  joined = g_strjoinv (", ", (char **) names->pdata);
  g_assert_cmpstr (joined, ==, wanted);
}

static void
test_two_of_four (void)
{
  const guint64 rows = 64, columns = 512;
  g_autofree float *values = draw_weights (FALSE, rows * columns, 30), *random = draw_weights (FALSE, rows * columns, 31);
  g_autofree float *zeros = g_new0 (float, rows * columns);
  g_autoptr (TmModel) model = NULL, quantized = NULL, spoiled = NULL, half = NULL, empty = NULL;

  prune_2_of_4 (values, rows * columns, 1, 0);
  model = make_f32 (rows, columns, values);
  quantized = make_q8_0 (rows, columns, values);
  assert_patterns (model, "2:4");
  assert_patterns (quantized, "2:4");
  values[400] = values[401] = values[402] = values[403] = 1;
  spoiled = make_f32 (rows, columns, values);
  assert_patterns (spoiled, "mostly 2:4");
  prune (random, rows * columns, 0.5, 32); /* as many zeros, strewn */
  half = make_f32 (rows, columns, random);
  assert_patterns (half, "");
  empty = make_f32 (rows, columns, zeros); /* zeros are no pattern */
  assert_patterns (empty, "");
}

/* Few groups are enough of exact values; half of the rows are "mostly", and one pattern alone is told. */
static void
test_small_and_half (void)
{
  g_autofree float *small = draw_weights (FALSE, 8 * 16, 34), *half = draw_weights (FALSE, 64 * 512, 35);
  g_autoptr (TmModel) small_model = NULL, half_model = NULL;

  prune_2_of_4 (small, 8 * 16, 1, 0);
  small_model = make_f32 (8, 16, small);
  assert_patterns (small_model, "2:4");
  prune_2_of_4 (half, 32 * 512, 1, 0);
  half_model = make_f32 (64, 512, half);
  assert_patterns (half_model, "mostly 2:4");
}

/* Whether the quantized one keeps the pattern that its reference has: with an offset there is no code for zero. */
static void
test_lost_pattern (void)
{
  const guint64 rows = 64, columns = 512;
  g_autofree float *values = draw_weights (FALSE, rows * columns, 36);
  g_autofree guint8 *bytes = g_malloc0 (rows * columns / 32 * 20);
  g_autoptr (TmModel) reference = NULL, kept = NULL, lost = NULL;
  g_autoptr (GError) error = NULL;

  prune_2_of_4 (values, rows * columns, 1, 0);
  reference = make_f32 (rows, columns, values);
  kept = make_q8_0 (rows, columns, values);
  for (guint64 i = 0; i < rows * columns / 32; i++) /* Q4_1: d = 1, m = 0.5: no zeros */
    {
      bytes[20 * i + 1] = 0x3c;
      bytes[20 * i + 3] = 0x38;
    }
  lost = make_bytes (TM_DTYPE_Q4_1, rows, columns, bytes, rows * columns / 32 * 20);
  for (guint i = 0; i < 2; i++)
    {
      TmModel *model = i == 0 ? kept : lost;
      g_autoptr (TmAlignment) alignment = tm_align (model, reference, NULL, 0, NULL, NULL, NULL, &error);
      g_autoptr (GPtrArray) results = tm_sparsity_run (model, alignment, NULL, 0, NULL, NULL, NULL, &error);
      const TmSparsity *one = g_ptr_array_index (results, 0);
      g_autoptr (GPtrArray) names = tm_sparsity_list_reference_patterns (one);
      g_autofree char *words = tm_sparsity_describe (one);

      g_assert_cmpuint (names->len, ==, 1);
      g_assert_cmpstr (g_ptr_array_index (names, 0), ==, "2:4");
      g_assert_cmpuint (one->reference_zeros, ==, rows * columns / 2);
      g_assert_cmpint (strstr (words, "2:4 of the reference is lost") != NULL, ==, i == 1);
    }
}

/* Zeros in runs of 16 along rows, and in whole rows alone. */
static void
test_blocks (void)
{
  g_autofree float *runs = draw_weights (FALSE, 64 * 512, 37), *lines = draw_weights (FALSE, 64 * 512, 38);
  g_autofree float *squares = draw_weights (FALSE, 64 * 512, 39);
  const struct { float *values; const char *block; } rows[] = { { runs, "1×16" }, { lines, NULL }, { squares, "16×16" } };

  for (guint block = 0; block < 64 * 32; block++)
    if (block % 3 == 0)
      memset (runs + 16 * block, 0, 16 * sizeof *runs);
  memset (lines + 512, 0, 512 * sizeof *lines);
  for (guint row = 0; row < 64; row++)
    for (guint block = 0; block < 32; block++)
      if ((row / 16 + block) % 3 == 0)
        memset (squares + row * 512 + block * 16, 0, 16 * sizeof *squares);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (TmModel) model = make_f32 (64, 512, rows[i].values);
      g_autoptr (TmSparsity) one = look (model, NULL);
      g_autofree char *block = tm_sparsity_format_block (one);
      g_autoptr (GPtrArray) names = tm_sparsity_list_patterns (one);

      g_assert_cmpstr (block, ==, rows[i].block);
      g_assert_cmpuint (names->len, ==, 0);
    }
}

/* Along the input channels. */
static void
test_convolution (void)
{
  const guint64 shape[] = { 24, 16, 3, 3 }, inner = 9, slab = 16 * 9, n = 24 * slab;
  g_autofree float *values = draw_weights (FALSE, n, 33);
  Planted planted;
  g_autoptr (TmModel) model = NULL;

  for (guint64 o = 0; o < 24; o++)
    for (guint64 place = 0; place < inner; place++)
      prune_2_of_4 (values, o * slab + slab, inner, o * slab + place);
  planted_begin (&planted, "safetensors", NULL);
  planted_f32 (&planted, "conv.weight", 4, shape, values);
  model = planted_end (&planted);
  assert_patterns (model, "2:4");
}

static void
test_chance (void)
{
  static const struct { double p, two_of_four, four_of_eight; } rows[] = {
    { 0.0100, 0.0006, 0.0000 }, { 0.1320, 0.0871, 0.0136 }, { 0.2500, 0.2617, 0.1138 }, { 0.5000, 0.6875, 0.6367 },
    { 0.6200, 0.8431, 0.8557 }, { 0.8400, 0.9856, 0.9962 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_assert_cmpfloat_with_epsilon (tm_sparsity_get_chance (2, 4, rows[i].p), rows[i].two_of_four, 0.00006);
      g_assert_cmpfloat_with_epsilon (tm_sparsity_get_chance (4, 8, rows[i].p), rows[i].four_of_eight, 0.00006);
    }
}

static void
test_words (void)
{
  const guint64 rows = 64, columns = 1024;
  g_autofree float *values = draw_weights (FALSE, rows * columns, 34);
  g_autoptr (TmModel) plain = make_q8_0 (rows, columns, values), pruned = NULL, reference = NULL;
  g_autoptr (TmSparsity) first = look (plain, NULL), second = NULL, third = NULL;
  g_autofree char *one = tm_sparsity_describe (first), *two = NULL, *three = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  TmJsonWriter json;

  prune (values, rows * columns, 0.1, 35);
  pruned = make_q8_0 (rows, columns, values);
  reference = make_f32 (rows, columns, values);
  second = look (pruned, NULL);
  third = look (pruned, reference);
  two = tm_sparsity_describe (second);
  three = tm_sparsity_describe (third);
  g_assert_true (g_str_has_suffix (one, "rounding alone explains them"));
  g_assert_nonnull (strstr (two, "% were zero before quantization, the rest rounded to zero"));
  g_assert_nonnull (strstr (two, "–"));
  g_assert_nonnull (strstr (three, "were zero before, "));
  tm_json_writer_init (&json, text);
  tm_sparsity_write_json (&json, third, pruned);
  g_assert_nonnull (strstr (text->str, "\"patterns\":[],\"reference\":{\"pruned\":"));
  g_assert_true (g_str_has_suffix (text->str, "\"revived\":0},\"estimate\":null}"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sparsity/causes-and-words", test_causes_and_words);
  g_test_add_func ("/sparsity/no-scale", test_no_scale);
  g_test_add_func ("/sparsity/table", test_table);
  g_test_add_func ("/sparsity/one-sided", test_one_sided);
  g_test_add_func ("/sparsity/untold", test_untold);
  g_test_add_func ("/sparsity/planted-mask", test_planted_mask);
  g_test_add_func ("/sparsity/forced", test_forced);
  g_test_add_func ("/sparsity/revived", test_revived);
  g_test_add_func ("/sparsity/lines-and-groups", test_lines_and_groups);
  g_test_add_func ("/sparsity/zero-scale", test_zero_scale);
  g_test_add_func ("/sparsity/counts", test_counts);
  g_test_add_func ("/sparsity/two-of-four", test_two_of_four);
  g_test_add_func ("/sparsity/small-and-half", test_small_and_half);
  g_test_add_func ("/sparsity/lost-pattern", test_lost_pattern);
  g_test_add_func ("/sparsity/blocks", test_blocks);
  g_test_add_func ("/sparsity/convolution", test_convolution);
  g_test_add_func ("/sparsity/chance", test_chance);
  g_test_add_func ("/sparsity/words", test_words);
  return g_test_run ();
}
