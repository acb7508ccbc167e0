#include "analysis/count.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIGN (TM_N_CELLS / 2)
#define FIRST_NOT_FINITE (0xffu << TM_CELL_BITS)
#define BELOW_CELL ((1u << (23 - TM_CELL_BITS)) - 1)
#define BELOW_CELL_DOUBLE ((G_GUINT64_CONSTANT (1) << (52 - TM_CELL_BITS)) - 1)

/* --- Moments ------------------------------------------------------------------------------------------------------ */

void
tm_moments_init (TmMoments *moments)
{
  *moments = (TmMoments){ .min = (double) INFINITY, .max = -(double) INFINITY };
}

void
tm_moments_add (TmMoments *moments, const TmMoments *later)
{
  double a = (double) moments->n_finite, b = (double) later->n_finite, apart = later->mean - moments->mean;

  if (later->n_finite > 0)
    {
      moments->mean += apart * (b / (a + b));
      moments->squares += later->squares + apart * apart * (a * b / (a + b));
    }
  moments->count += later->count;
  moments->n_finite += later->n_finite;
  moments->n_nan += later->n_nan;
  moments->n_inf += later->n_inf;
  moments->n_zeros += later->n_zeros;
  moments->n_negative_zeros += later->n_negative_zeros;
  moments->min = MIN (moments->min, later->min);
  moments->max = MAX (moments->max, later->max);
  moments->fine = moments->fine || later->fine;
}

/* sum and squares are of the n_finite numbers less shift. */
static void
add_chunk (TmMoments *moments, TmMoments *chunk, double shift, double sum, double squares)
{
  double n = (double) chunk->n_finite;

  if (chunk->n_finite > 0)
    {
      chunk->mean = shift + sum / n;
      chunk->squares = MAX (squares - sum / n * sum, 0);
    }
  tm_moments_add (moments, chunk);
}

/* --- Counting ----------------------------------------------------------------------------------------------------- */

/* A chunk with NaN or infinities in it. */
static void
count_some (TmMoments *moments, guint32 *cells, const float *numbers, gsize n)
{
  TmMoments chunk;
  double shift = 0, sum = 0, squares = 0;

  tm_moments_init (&chunk);
  chunk.count = n;
  for (gsize i = 0; i < n; i++)
    {
      double x = (double) numbers[i], d;
      guint32 bits;

      memcpy (&bits, numbers + i, sizeof bits);
      if (isnan (x) || isinf (x))
        {
          *(isnan (x) ? &chunk.n_nan : &chunk.n_inf) += 1;
          continue;
        }
      if (chunk.n_finite++ == 0)
        shift = x;
      d = x - shift;
      sum += d;
      squares += d * d;
      chunk.min = MIN (chunk.min, x);
      chunk.max = MAX (chunk.max, x);
      chunk.n_zeros += bits << 1 == 0;
      chunk.n_negative_zeros += bits == 0x80000000u;
      chunk.fine = chunk.fine || (bits & BELOW_CELL) != 0;
      if (bits << 1 != 0)
        cells[2 * (bits >> (23 - TM_CELL_BITS))]++;
    }
  add_chunk (moments, &chunk, shift, sum, squares);
}

static void
count_cells (guint32 *cells, const float *numbers, gsize n)
{
  gsize i = 0;

  for (; i + 2 <= n; i += 2)
    {
      guint32 bits[2];

      memcpy (bits, numbers + i, sizeof bits);
      cells[2 * (bits[0] >> (23 - TM_CELL_BITS))]++;
      cells[2 * (bits[1] >> (23 - TM_CELL_BITS)) + 1]++;
    }
  for (; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, numbers + i, sizeof bits);
      cells[2 * (bits >> (23 - TM_CELL_BITS))]++;
    }
}

/* A number near to where the others are: the middle one of three, as one may be far off. */
static float
choose_shift (const float *numbers, gsize n)
{
  float a = numbers[0], b = numbers[n / 2], c = numbers[n - 1];

  return MAX (MIN (a, b), MIN (MAX (a, b), c));
}

void
tm_count_floats (TmMoments *moments, guint32 *cells, const float *numbers, gsize n)
{
  TmChunkSums sums;
  TmMoments chunk;
  float shift;

  if (n == 0)
    return;
  shift = choose_shift (numbers, n);
  tm_count_chunk (numbers, n, shift, &sums);
  if (sums.not_finite)
    {
      count_some (moments, cells, numbers, n);
      return;
    }
  chunk = (TmMoments){ .count = n, .n_finite = n, .n_zeros = sums.zeros, .n_negative_zeros = sums.negative_zeros,
                       .min = (double) sums.min, .max = (double) sums.max, .fine = (sums.bits & BELOW_CELL) != 0 };
  if (sums.zeros < n)
    {
      count_cells (cells, numbers, n);
      cells[0] -= sums.zeros - sums.negative_zeros; /* modulo 2^32: the other of the pair may hold them */
      cells[2 * SIGN] -= sums.negative_zeros;
    }
  add_chunk (moments, &chunk, (double) shift, sums.sum, sums.squares);
}

/* Not by way of float32, which would round numbers over a cell's edge. */
static guint32
find_cell (double x, gboolean *fine)
{
  const int lowest = 1023 - 126, highest = 1023 + 127;
  guint64 bits;
  guint32 sign, cell;
  int exponent;

  memcpy (&bits, &x, sizeof bits);
  sign = bits >> 63 != 0 ? SIGN : 0;
  exponent = (int) (bits >> 52 & 0x7ff);
  *fine = *fine || (bits & BELOW_CELL_DOUBLE) != 0 || exponent < lowest || exponent > highest;
  if (exponent > highest)
    cell = FIRST_NOT_FINITE - 1;
  else if (exponent < lowest)
    cell = (guint32) ldexp (fabs (x), 126 + TM_CELL_BITS);
  else
    cell = (guint32) (exponent - lowest + 1) << TM_CELL_BITS | (guint32) (bits >> (52 - TM_CELL_BITS) & ((1u << TM_CELL_BITS) - 1));
  return sign + cell;
}

void
tm_count_doubles (TmMoments *moments, guint32 *cells, const double *numbers, gsize n)
{
  TmMoments chunk;
  double shift = 0, sum = 0, squares = 0;

  tm_moments_init (&chunk);
  chunk.count = n;
  for (gsize i = 0; i < n; i++)
    {
      double x = numbers[i], d;

      if (isnan (x) || isinf (x))
        {
          *(isnan (x) ? &chunk.n_nan : &chunk.n_inf) += 1;
          continue;
        }
      if (chunk.n_finite++ == 0)
        shift = x;
      d = x - shift;
      sum += d;
      squares += d * d;
      chunk.min = MIN (chunk.min, x);
      chunk.max = MAX (chunk.max, x);
      if (x == 0)
        {
          chunk.n_zeros++;
          chunk.n_negative_zeros += signbit (x) != 0;
        }
      else
        cells[2 * find_cell (x, &chunk.fine)]++;
    }
  add_chunk (moments, &chunk, shift, sum, squares);
}

void
tm_count_flush (guint32 *cells, guint64 *sums)
{
  for (gsize i = 0; i < TM_N_CELLS; i++)
    sums[i] += (guint32) (cells[2 * i] + cells[2 * i + 1]);
  memset (cells, 0, TM_COUNT_CELLS * sizeof *cells);
}

/* --- Result ------------------------------------------------------------------------------------------------------- */

static void
collect_cells (TmDistribution *distribution, const guint64 *sums)
{
  guint n = 0;

  for (guint i = 0; i < TM_N_CELLS; i++)
    n += sums[i] != 0;
  distribution->cells = g_new (TmCellCount, n + 1);
  for (guint i = TM_N_CELLS; i-- > SIGN;)
    if (sums[i] != 0)
      distribution->cells[distribution->n_cells++] = (TmCellCount){ i, sums[i] };
  for (guint i = 0; i < SIGN; i++)
    if (sums[i] != 0)
      distribution->cells[distribution->n_cells++] = (TmCellCount){ i, sums[i] };
  for (guint i = 0; i < distribution->n_cells; i++)
    if ((distribution->cells[i].cell & (SIGN - 1)) >> TM_CELL_BITS == 0)
      distribution->n_subnormal += distribution->cells[i].count;
}

void
tm_count_finish (const TmMoments *moments, const guint64 *sums, TmDistribution *distribution)
{
  double n = (double) moments->n_finite;

  tm_distribution_init (distribution);
  distribution->count = moments->count;
  distribution->n_finite = moments->n_finite;
  distribution->n_nan = moments->n_nan;
  distribution->n_inf = moments->n_inf;
  distribution->n_zeros = moments->n_zeros;
  distribution->n_negative_zeros = moments->n_negative_zeros;
  distribution->coarse = !moments->fine;
  if (sums != NULL)
    collect_cells (distribution, sums);
  if (moments->n_finite == 0)
    return;
  distribution->min = moments->min;
  distribution->max = moments->max;
  distribution->absmax = MAX (fabs (moments->min), fabs (moments->max));
  distribution->mean = moments->mean;
  distribution->sum_squares_about_mean = moments->squares;
  distribution->std = sqrt (moments->squares / n);
  distribution->rms = sqrt (moments->squares / n + moments->mean * moments->mean);
}
