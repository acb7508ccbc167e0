/* Counting numbers into cells, and their moments: one chunk at a time, while it is in the cache. Internal to statistics. */
#pragma once

#include "analysis/distribution.h"

G_BEGIN_DECLS

/* Sums of some chunks; about their mean, so that a small spread about a large mean keeps its digits. */
typedef struct
{
  guint64 count, n_finite, n_nan, n_inf, n_zeros, n_negative_zeros;
  double min, max, mean, squares; /* squares: about the mean */
  gboolean fine;                  /* a number is not its cell's edge */
} TmMoments;

void tm_moments_init (TmMoments *moments);
/* later follows; the order matters to the last digits. */
void tm_moments_add (TmMoments *moments, const TmMoments *later);

/* Cells are counted twice over, side by side: equal numbers in a row do not wait for each other. */
#define TM_COUNT_CELLS (2 * TM_N_CELLS)

/* Adds n numbers, below 2^31 in all, to moments and cells (TM_COUNT_CELLS of them). */
void tm_count_floats (TmMoments *moments, guint32 *cells, const float *numbers, gsize n);
void tm_count_doubles (TmMoments *moments, guint32 *cells, const double *numbers, gsize n);
/* Moves what was counted to sums (TM_N_CELLS of them); cells are zero after it. */
void tm_count_flush (guint32 *cells, guint64 *sums);

/* All of it as a distribution. sums NULL: nothing was counted. */
void tm_count_finish (const TmMoments *moments, const guint64 *sums, TmDistribution *distribution);

/* The inner loop: sums of n finite numbers less shift. */
typedef struct
{
  double sum, squares;
  float min, max;
  guint32 bits;                   /* of all numbers, or'ed */
  guint32 zeros, negative_zeros;
  gboolean not_finite;            /* a number is not finite: nothing above counts */
} TmChunkSums;

void tm_count_chunk (const float *numbers, gsize n, float shift, TmChunkSums *sums);

G_END_DECLS
