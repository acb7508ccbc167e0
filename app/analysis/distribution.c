#include "analysis/distribution.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGN (TM_N_CELLS / 2)

const double tm_percentiles[TM_N_PERCENTILES] = { 0.1, 1, 5, 25, 50, 75, 95, 99, 99.9 };

void
tm_distribution_init (TmDistribution *distribution)
{
  const double none = (double) NAN;

  *distribution = (TmDistribution){ .min = none, .max = none, .absmax = none, .mean = none, .std = none, .rms = none,
                                    .coarse = TRUE };
}

void
tm_distribution_clear (TmDistribution *distribution)
{
  g_free (distribution->cells);
  tm_distribution_init (distribution);
}

void
tm_distribution_copy (const TmDistribution *from, TmDistribution *to)
{
  *to = *from;
  to->cells = g_memdup2 (from->cells, from->n_cells * sizeof *from->cells);
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */

/* Magnitude from which a cell counts on; the next one's is where it ends. */
static double
get_edge (guint32 cell)
{
  guint32 magnitude = cell & (SIGN - 1), exponent = magnitude >> TM_CELL_BITS, rest = magnitude & ((1u << TM_CELL_BITS) - 1);

  if (exponent == 0)
    return ldexp ((double) rest, -126 - TM_CELL_BITS);
  return ldexp ((double) (rest | 1u << TM_CELL_BITS), (int) exponent - 127 - TM_CELL_BITS);
}

static double
get_end (guint32 cell)
{
  return get_edge ((cell & (SIGN - 1)) + 1);
}

/* Ascending with the numbers in it. */
static gint32
get_order (guint32 cell)
{
  return cell >= SIGN ? (gint32) SIGN - 1 - (gint32) cell : (gint32) cell;
}

static void
add_cells (TmDistribution *to, const TmDistribution *from)
{
  TmCellCount *cells = g_new (TmCellCount, (gsize) to->n_cells + from->n_cells + 1);
  guint n = 0, i = 0, j = 0;

  while (i < to->n_cells || j < from->n_cells)
    {
      gint32 a = i < to->n_cells ? get_order (to->cells[i].cell) : G_MAXINT32;
      gint32 b = j < from->n_cells ? get_order (from->cells[j].cell) : G_MAXINT32;

      cells[n] = a <= b ? to->cells[i] : from->cells[j];
      if (a == b)
        cells[n].count += from->cells[j].count;
      i += a <= b;
      j += b <= a;
      n++;
    }
  g_free (to->cells);
  to->cells = g_realloc_n (cells, n + 1, sizeof *cells);
  to->n_cells = n;
}

void
tm_distribution_add (TmDistribution *to, const TmDistribution *from)
{
  double a = (double) to->n_finite, b = (double) from->n_finite;

  to->count += from->count;
  to->n_nan += from->n_nan;
  to->n_inf += from->n_inf;
  to->n_zeros += from->n_zeros;
  to->n_negative_zeros += from->n_negative_zeros;
  to->n_subnormal += from->n_subnormal;
  to->n_finite += from->n_finite;
  to->coarse = to->coarse && from->coarse;
  if (from->n_cells > 0)
    add_cells (to, from);
  if (!(b > 0))
    return;
  if (a > 0)
    {
      double apart = from->mean - to->mean;

      to->min = MIN (to->min, from->min);
      to->max = MAX (to->max, from->max);
      to->mean += apart * (b / (a + b));
      to->sum_squares_about_mean += from->sum_squares_about_mean + apart * apart * (a * b / (a + b));
    }
  else
    {
      to->min = from->min;
      to->max = from->max;
      to->mean = from->mean;
      to->sum_squares_about_mean = from->sum_squares_about_mean;
    }
  to->absmax = MAX (fabs (to->min), fabs (to->max));
  to->std = sqrt (to->sum_squares_about_mean / (a + b));
  to->rms = sqrt (to->sum_squares_about_mean / (a + b) + to->mean * to->mean);
}

/* --- Percentiles -------------------------------------------------------------------------------------------------- */

/* 1 … n. Products that should be whole are taken so. */
static guint64
get_rank (guint64 n, double percent)
{
  double rank = ceil (percent / 100 * (double) n * (1 - 4 * DBL_EPSILON));

  return rank <= 1 ? 1 : rank >= (double) n ? n : (guint64) rank;
}

/* The place-th magnitude of a cell, from zero on. */
static double
get_inside (const TmDistribution *distribution, const TmCellCount *cell, guint64 place)
{
  double low = get_edge (cell->cell), high = get_end (cell->cell);

  return distribution->coarse ? low : low + (high - low) * ((double) place - 0.5) / (double) cell->count;
}

double
tm_distribution_get_percentile (const TmDistribution *distribution, double percent)
{
  guint64 rank = get_rank (distribution->n_finite, percent), before = 0;
  gboolean zeros_passed = FALSE;

  if (distribution->n_finite == 0)
    return (double) NAN;
  if (percent <= 0)
    return distribution->min;
  if (percent >= 100)
    return distribution->max;
  for (guint i = 0; i < distribution->n_cells; i++)
    {
      const TmCellCount *cell = &distribution->cells[i];
      double value;

      if (!zeros_passed && cell->cell < SIGN)
        {
          zeros_passed = TRUE;
          before += distribution->n_zeros;
          if (rank <= before)
            return 0;
        }
      if (rank - before > cell->count)
        {
          before += cell->count;
          continue;
        }
      value = cell->cell < SIGN ? get_inside (distribution, cell, rank - before)
                                : -get_inside (distribution, cell, cell->count + 1 - (rank - before));
      return CLAMP (value, distribution->min, distribution->max);
    }
  return zeros_passed ? distribution->max : 0;
}

double
tm_distribution_get_magnitude_percentile (const TmDistribution *distribution, double percent)
{
  guint64 rank = get_rank (distribution->n_finite, percent), before = distribution->n_zeros;
  guint i = 0, j;

  if (distribution->n_finite == 0)
    return (double) NAN;
  if (percent >= 100)
    return distribution->absmax;
  if (rank <= before)
    return 0;
  while (i < distribution->n_cells && distribution->cells[i].cell >= SIGN)
    i++;
  j = i; /* i goes down through the negative cells, j up through the positive ones */
  while (i > 0 || j < distribution->n_cells)
    {
      guint32 a = i > 0 ? distribution->cells[i - 1].cell - SIGN : G_MAXUINT32;
      guint32 b = j < distribution->n_cells ? distribution->cells[j].cell : G_MAXUINT32;
      TmCellCount both = { MIN (a, b), 0 };

      if (a <= b)
        both.count += distribution->cells[--i].count;
      if (b <= a)
        both.count += distribution->cells[j++].count;
      if (rank - before <= both.count)
        return MIN (get_inside (distribution, &both, rank - before), distribution->absmax);
      before += both.count;
    }
  return distribution->absmax;
}

/* --- Outliers ----------------------------------------------------------------------------------------------------- */

#define FAR_DEVIATIONS (3 * 1.4826)
#define FAR_OCTAVES 2.0 /* a factor of 4 */

typedef struct
{
  double at;
  guint64 count;
} Weighted;

static int
compare_weighted (gconstpointer a, gconstpointer b)
{
  const Weighted *x = a, *y = b;

  return x->at < y->at ? -1 : x->at > y->at;
}

static double
get_weighted_median (Weighted *weighted, guint n, guint64 all)
{
  guint64 before = 0;

  qsort (weighted, n, sizeof *weighted, compare_weighted);
  for (guint i = 0; i < n; i++)
    {
      before += weighted[i].count;
      if (2 * before >= all)
        return weighted[i].at;
    }
  return (double) NAN;
}

guint64
tm_distribution_count_outliers (const TmDistribution *distribution, double *median)
{
  guint n = distribution->n_cells;
  guint64 all = distribution->n_finite - distribution->n_zeros, found = 0;
  g_autofree Weighted *weighted = g_new (Weighted, (gsize) n + 1);
  double middle, deviation;

  for (guint i = 0; i < n; i++)
    {
      const TmCellCount *cell = &distribution->cells[i];
      double from = get_edge (cell->cell), to = distribution->coarse ? from : get_end (cell->cell);

      weighted[i] = (Weighted){ log2 (MAX ((from + to) / 2, 0x1p-149)), cell->count };
    }
  middle = get_weighted_median (weighted, n, all);
  if (median != NULL)
    *median = exp2 (middle);
  if (isnan (middle))
    return 0;
  for (guint i = 0; i < n; i++)
    weighted[i].at = fabs (weighted[i].at - middle);
  deviation = get_weighted_median (weighted, n, all);
  for (guint i = 0; i < n; i++)
    if (weighted[i].at > FAR_OCTAVES && weighted[i].at > FAR_DEVIATIONS * deviation)
      found += weighted[i].count;
  return found;
}

/* --- Histograms --------------------------------------------------------------------------------------------------- */

void
tm_histogram_clear (TmHistogram *histogram)
{
  g_free (histogram->edges);
  g_free (histogram->counts);
  *histogram = (TmHistogram){ 0 };
}

void
tm_distribution_get_histogram (const TmDistribution *distribution, TmHistogram *histogram)
{
  double absmax = MIN (distribution->absmax, (double) FLT_MAX);
  gint64 middle;
  int exponent;

  *histogram = (TmHistogram){ 0 };
  if (distribution->n_finite == 0)
    return;
  frexp (absmax, &exponent); /* absmax is below 2^exponent */
  histogram->width = absmax > 0 ? ldexp (1, MAX (exponent - TM_CELL_BITS, -125 - TM_CELL_BITS)) : 0;
  middle = absmax > 0 ? (gint64) floor (absmax / histogram->width + 0.5) : 0;
  histogram->n = (guint) (2 * middle + 1);
  histogram->edges = g_new (double, histogram->n + 1);
  histogram->counts = g_new0 (guint64, histogram->n);
  for (guint i = 0; i <= histogram->n; i++)
    histogram->edges[i] = ((double) i - (double) middle - 0.5) * histogram->width;
  histogram->counts[middle] = distribution->n_zeros;
  for (guint i = 0; i < distribution->n_cells; i++)
    {
      const TmCellCount *cell = &distribution->cells[i];
      gint64 away = MIN ((gint64) floor (get_edge (cell->cell) / histogram->width + 0.5), middle);

      histogram->counts[cell->cell < SIGN ? middle + away : middle - away] += cell->count;
    }
}

typedef struct
{
  double low, width;
  guint n;
  double *counts;
} Bins;

static void
share_out (const Bins *bins, double low, double high, double count)
{
  double first = (low - bins->low) / bins->width, last = (high - bins->low) / bins->width;

  if (!(last > first)) /* one number */
    {
      if (first >= 0 && first <= bins->n)
        bins->counts[MIN ((guint) first, bins->n - 1)] += count;
      return;
    }
  for (guint i = (guint) CLAMP (first, 0, bins->n); i < bins->n && (double) i < last; i++)
    {
      double from = MAX (first, (double) i), to = MIN (last, (double) i + 1);

      bins->counts[i] += count * MAX (to - from, 0) / (last - first);
    }
}

void
tm_distribution_rebin (const TmDistribution *distribution, double low, double high, guint n, double *counts)
{
  Bins bins = { low, (high - low) / MAX (n, 1), n, counts };

  memset (counts, 0, n * sizeof *counts);
  if (n == 0 || !(high > low) || isinf (high - low))
    return;
  share_out (&bins, 0, 0, (double) distribution->n_zeros);
  for (guint i = 0; i < distribution->n_cells; i++)
    {
      const TmCellCount *cell = &distribution->cells[i];
      double from = get_edge (cell->cell), to = distribution->coarse ? from : get_end (cell->cell);

      /* Nothing lies between the outermost number and the end of its cell. */
      to = MAX (MIN (to, cell->cell < SIGN ? distribution->max : -distribution->min), from);
      if (cell->cell < SIGN)
        share_out (&bins, from, to, (double) cell->count);
      else
        share_out (&bins, -to, -from, (double) cell->count);
    }
}

void
tm_distribution_rebin_log (const TmDistribution *distribution, double log_low, double log_high, guint n, double *counts)
{
  Bins bins = { log_low, (log_high - log_low) / MAX (n, 1), n, counts };

  memset (counts, 0, n * sizeof *counts);
  if (n == 0 || !(log_high > log_low) || isinf (log_high - log_low))
    return;
  for (guint i = 0; i < distribution->n_cells; i++)
    {
      const TmCellCount *cell = &distribution->cells[i];
      double from = log2 (MAX (get_edge (cell->cell), 0x1p-149));

      share_out (&bins, from, distribution->coarse ? from : log2 (get_end (cell->cell)), (double) cell->count);
    }
}
