/* A distribution: what many numbers look like, from one pass and without knowing their range first. Distributions can be
 * added up, so a module's and a model's are as exact as a tensor's.
 *
 * Numbers are counted in cells: a number's float32 bits without the lowest 15, so a cell is 1/256 of an octave wide or
 * less, on either side of zero. Zero (0 and −0) has none. From cells come, exactly, histograms whose bin edges are cell
 * edges, and percentiles to within a cell.
 *
 * NaN and infinities are counted and left out of everything else. Moments are in double. F64 numbers beyond the range of
 * float32 are counted at its ends. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_CELL_BITS 8                                     /* of the mantissa */
#define TM_N_CELLS (1u << (1 + 8 + TM_CELL_BITS))          /* negative numbers have the upper half */

typedef struct { guint32 cell; guint64 count; } TmCellCount;

typedef struct
{
  guint64 count;             /* all, NaN and infinities too */
  guint64 n_finite, n_nan, n_inf;
  guint64 n_zeros;           /* −0 too */
  guint64 n_negative_zeros, n_subnormal;
  double min, max, absmax;   /* of the finite ones, as all below; NaN where there are none */
  double mean, std, rms;     /* std: of the population, divided by n */
  double sum_squares_about_mean; /* std² × n_finite: what adding up needs */
  gboolean coarse;           /* every number is its cell's edge (9 significant bits or fewer): percentiles are exact */
  TmCellCount *cells;        /* finite numbers but zeros, from the lowest to the highest number, empty ones left out */
  guint n_cells;
} TmDistribution;

void tm_distribution_init (TmDistribution *distribution); /* of nothing */
void tm_distribution_clear (TmDistribution *distribution);
void tm_distribution_copy (const TmDistribution *from, TmDistribution *to);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmDistribution, tm_distribution_clear)
/* Adds what another one counted. */
void tm_distribution_add (TmDistribution *to, const TmDistribution *from);

/* The smallest number of which at least percent of a hundred finite ones are not above it (nearest rank). Exact where
 * coarse; else within 0.4 % of it, spread evenly inside its cell. 0: min, 100: max. NaN where there is none. */
double tm_distribution_get_percentile (const TmDistribution *distribution, double percent);
/* The same of magnitudes: the colour range is that of 99.9. */
double tm_distribution_get_magnitude_percentile (const TmDistribution *distribution, double percent);
/* Numbers far from the others, as scales are looked at: more than a factor of 4 from the median of all magnitudes but zeros,
 * and more than three robust standard deviations (1.4826 × the median deviation) of their logarithms. median may be NULL; NaN
 * where there is none. */
guint64 tm_distribution_count_outliers (const TmDistribution *distribution, double *median);
/* The percentiles that records and tables show, ascending: 0.1 1 5 25 50 75 95 99 99.9. */
extern const double tm_percentiles[];
#define TM_N_PERCENTILES 9

/* Symmetric about zero: n bins, an odd number, of equal width; the middle one is centred on zero, and holds the zeros. A
 * number on an edge is in the bin farther from zero (bins are closed towards zero). edges: n + 1 numbers. */
typedef struct
{
  guint n;
  double width;
  double *edges;
  guint64 *counts;
} TmHistogram;

void tm_histogram_clear (TmHistogram *histogram);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmHistogram, tm_histogram_clear)

/* Exact counts. The width is a power of two, such that there are 257 to 513 bins (fewer below 2⁻¹²⁶); none at all where nothing is finite. All
 * zero: one bin of width 0. Freed with tm_histogram_clear(). */
void tm_distribution_get_histogram (const TmDistribution *distribution, TmHistogram *histogram);

/* For pictures: n equal bins from low to high; cells that an edge cuts are shared out, so counts are fractions. What lies
 * outside is left out. */
void tm_distribution_rebin (const TmDistribution *distribution, double low, double high, guint n, double *counts);
/* The same of magnitudes over equal steps of log₂ |x|, from log_low to log_high; zeros are left out. */
void tm_distribution_rebin_log (const TmDistribution *distribution, double log_low, double log_high, guint n, double *counts);

G_END_DECLS
