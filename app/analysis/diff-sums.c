#include "analysis/diff-sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define STEP_TOLERANCE 1e-6f /* of a step: float arithmetic */

TmDiffSums *
tm_diff_sums_new (const TmGroupLayout *layout, guint64 first, guint64 count)
{
  TmDiffSums *sums = g_new0 (TmDiffSums, 1);
  guint64 low = 0, high = 0;

  if (!layout->grouped || count == 0)
    return sums;
  tm_group_layout_next (layout, first, 1, &low);
  tm_group_layout_next (layout, first + count - 1, 1, &high);
  if (layout->band_lines > 1 || layout->table != NULL)
    {
      low = low / layout->width * layout->width;
      high = high / layout->width * layout->width;
      sums->done_groups = high - low;
      high += layout->width - 1;
    }
  else
    sums->done_groups = high - low;
  sums->first_group = low;
  sums->n_groups = high - low + 1;
  sums->group = g_new0 (TmGroupSum, sums->n_groups);
  return sums;
}

void
tm_diff_sums_free (TmDiffSums *sums)
{
  if (sums == NULL)
    return;
  g_free (sums->group);
  g_free (sums);
}

/* --- Moments ------------------------------------------------------------------------------------------------------ */

/* Whether any element's exponent is all ones: no branch inside, so many are looked at at once. */
static gboolean
any_not_finite (const float *values, gsize n)
{
  guint32 found = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, values + i, sizeof bits);
      found |= (bits & 0x7f800000u) == 0x7f800000u;
    }
  return found != 0;
}

static void
leave_out (TmDiffSums *sums, const TmDiffPiece *piece)
{
  for (gsize i = 0; i < piece->count; i++)
    {
      float x = piece->x[i], y = piece->y[i];

      if (isfinite (x) && isfinite (y))
        continue;
      if ((isnan (x) && isnan (y)) || x == y)
        sums->n_same_nonfinite++;
      else
        sums->n_other_nonfinite++;
      sums->n--;
      piece->x[i] = piece->y[i] = 0;
      if (piece->scale != NULL)
        piece->scale[i] = 0; /* no step either */
    }
}

typedef struct
{
  double xx, yy, ee, e, max;
} Moments;

/* Two pairs of numbers at a time, in C alone; the order of additions is the same on every machine. */
typedef float Floats __attribute__ ((vector_size (2 * sizeof (float))));
typedef double Doubles __attribute__ ((vector_size (2 * sizeof (double))));
typedef gint64 Longs __attribute__ ((vector_size (2 * sizeof (gint64))));

typedef struct
{
  Doubles xx, yy, ee, e, max;
} Pair;

static inline void
add_pair (Pair *pair, const float *y, const float *x)
{
  const Longs magnitude_bits = { G_MAXINT64, G_MAXINT64 };
  Floats near_x, near_y;

  memcpy (&near_x, x, sizeof near_x);
  memcpy (&near_y, y, sizeof near_y);
  Doubles a = __builtin_convertvector(near_x, Doubles), b = __builtin_convertvector(near_y, Doubles), e = b - a;
  Doubles magnitude = (Doubles) ((Longs) e & magnitude_bits);
  Longs larger = magnitude > pair->max;

  pair->xx += a * a;
  pair->yy += b * b;
  pair->ee += e * e;
  pair->e += e;
  pair->max = (Doubles) (((Longs) magnitude & larger) | ((Longs) pair->max & ~larger));
}

static inline Moments
measure (const float *y, const float *x, gsize n)
{
  Pair first = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 } }, second = first;
  Moments sum = { 0 };
  gsize i = 0;

  for (; i + 4 <= n; i += 4)
    {
      add_pair (&first, y + i, x + i);
      add_pair (&second, y + i + 2, x + i + 2);
    }
  for (; i < n; i++)
    {
      double a = (double) x[i], b = (double) y[i], e = b - a;

      sum.xx += a * a;
      sum.yy += b * b;
      sum.ee += e * e;
      sum.e += e;
      sum.max = MAX (sum.max, fabs (e));
    }
  for (int j = 0; j < 2; j++)
    {
      sum.xx += first.xx[j] + second.xx[j];
      sum.yy += first.yy[j] + second.yy[j];
      sum.ee += first.ee[j] + second.ee[j];
      sum.e += first.e[j] + second.e[j];
      sum.max = MAX (sum.max, MAX (first.max[j], second.max[j]));
    }
  return sum;
}

static void
find_max (TmDiffSums *sums, const TmDiffPiece *piece, gsize from, gsize count, double max)
{
  for (gsize i = from; i < from + count; i++)
    if (fabs ((double) piece->y[i] - (double) piece->x[i]) == max)
      {
        sums->max_at = piece->first + i;
        return;
      }
}

static void
add_moments (TmDiffSums *sums, const TmDiffPiece *piece, gsize at, gsize n, guint64 group, const Moments *m)
{
  sums->sum_xx += m->xx;
  sums->sum_yy += m->yy;
  sums->sum_ee += m->ee;
  sums->sum_e += m->e;
  if (m->max > sums->max_abs)
    {
      sums->max_abs = m->max;
      find_max (sums, piece, at, n, m->max);
    }
  if (sums->group != NULL)
    {
      TmGroupSum *sum = &sums->group[group - sums->first_group];

      if (sum->count == 0)
        sum->first = piece->first + at;
      sum->count += n;
      sum->sum_ee += m->ee;
      sum->max_abs = MAX (sum->max_abs, m->max);
    }
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

/* A piece's histogram: below, the bins, above. */
typedef struct
{
  guint32 count[TM_DIFF_BINS + 2];
} Histogram;

static inline gint32
find_bin (float steps)
{
  float at = steps * (TM_DIFF_BINS / 2) + (TM_DIFF_BINS / 2 + 1);

  at = at > 0 ? at : 0; /* NaN too */
  at = at < TM_DIFF_BINS + 1 ? at : TM_DIFF_BINS + 1;
  return (gint32) at;
}

static void
add_histogram (TmDiffSums *sums, const Histogram *histogram)
{
  sums->below += histogram->count[0];
  for (guint i = 0; i < TM_DIFF_BINS; i++)
    sums->histogram[i] += histogram->count[i + 1];
  sums->above += histogram->count[TM_DIFF_BINS + 1];
}

static inline gboolean
is_over (double error, float step, float magnitude, float tolerance)
{
  return error > (double) (step * (0.5f + STEP_TOLERANCE) + magnitude * tolerance);
}

/* Scale and offset were both rounded when they were stored: what that can move the value by. */
static inline float
get_magnitude (float value, const float *offset)
{
  return offset == NULL ? fabsf (value) : fabsf (value - *offset) + fabsf (*offset);
}

/* One element by itself: uneven levels, scales that change within a group, errors of more than half a step. */
static void
add_step (TmDiffSums *sums, const TmDiffPiece *piece, const gint32 *raw, const float *offset, gsize i,
          Histogram *histogram)
{
  double e = (double) piece->y[i] - (double) piece->x[i], steps;
  float magnitude;
  gboolean at_end;
  float step = tm_steps_get (piece->steps, piece->scale[i], raw[i], e, &at_end);

  if (!(step > 0))
    return;
  steps = e / (double) step;
  sums->n_stepped++;
  sums->sum_steps2 += steps * steps;
  sums->max_steps = MAX (sums->max_steps, fabs (steps));
  histogram->count[find_bin ((float) steps)]++;
  sums->expected_over += fabs ((double) piece->x[i]) * ((double) piece->rounded_mean / (double) step);
  magnitude = get_magnitude (piece->y[i], offset != NULL ? offset + i : NULL);
  if (!is_over (fabs (e), step, magnitude, piece->steps->tolerance))
    return;
  sums->n_over++;
  sums->n_clipped += at_end;
  /* The wider tolerance is for both. */
  if (is_over (fabs (e) - fabs ((double) piece->x[i]) * (double) piece->rounded, step, magnitude, piece->steps->tolerance))
    {
      sums->n_over_rounded++;
      sums->n_clipped_rounded += at_end;
    }
}

static gboolean
is_even (const float *scale, gsize n)
{
  guint32 first, differs = 0;

  memcpy (&first, scale, sizeof first);
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, scale + i, sizeof bits);
      differs |= bits ^ first;
    }
  return differs == 0;
}

/* A group of one scale, with every error within half a step, or what rounding explains beyond it. */
static void
add_even_steps (TmDiffSums *sums, const TmDiffPiece *piece, gsize at, gsize n, const Moments *m, Histogram *histogram)
{
  float size = fabsf (piece->scale[at]), per = 1 / size;
  double steps = m->max / (double) size;
  gint32 bin[256];

  if (!(size > 0) || isinf (size))
    return;
  sums->n_stepped += n;
  sums->sum_steps2 += m->ee / (double) size / (double) size;
  sums->max_steps = MAX (sums->max_steps, steps);
  /* The mean magnitude of a bell is 0.8 of the root of the mean square. */
  sums->expected_over += 0.8 * sqrt ((double) n * m->xx) * (double) (piece->rounded_mean / size);
  /* Found many at once, then counted one by one. */
  for (gsize done = 0; done < n;)
    {
      const float *y = piece->y + at + done, *x = piece->x + at + done;
      gsize some = MIN (n - done, G_N_ELEMENTS (bin));

      for (gsize i = 0; i < some; i++)
        bin[i] = find_bin ((y[i] - x[i]) * per);
      for (gsize i = 0; i < some; i++)
        histogram->count[bin[i]]++;
      done += some;
    }
}

/* Whether an error may be over half a step and what rounding of the scale explains: no branch inside, and a little too often
 * rather than too seldom. */
static gboolean
may_be_over (const float *y, const float *x, gsize n, float size, float tolerance)
{
  float limit = size * 0.49999f;
  guint32 over = 0;

  for (gsize i = 0; i < n; i++)
    over |= fabsf (y[i] - x[i]) - fabsf (y[i]) * tolerance > limit;
  return over != 0;
}

gboolean
tm_diff_sums_add (TmDiffSums *sums, const TmDiffPiece *piece, GError **error)
{
  const TmSteps *steps = piece->steps;
  const gint32 *raw = piece->raw;
  const float *offset = NULL;
  Histogram histogram = { { 0 } };
  TmGroupCursor cursor;

  sums->n += piece->count;
  if (any_not_finite (piece->x, piece->count) || any_not_finite (piece->y, piece->count))
    leave_out (sums, piece);
  tm_group_cursor_init (&cursor, piece->layout, piece->first);
  for (gsize at = 0; at < piece->count;)
    {
      guint64 group;
      gsize n = (gsize) tm_group_cursor_next (&cursor, piece->count - at, &group);
      Moments m = measure (piece->y + at, piece->x + at, n);

      add_moments (sums, piece, at, n, group, &m);
      if (!steps->defined)
        ;
      else if (!steps->leveled && is_even (piece->scale + at, n) && fabsf (piece->scale[at]) >= FLT_MIN
               && (!is_over (m.max, fabsf (piece->scale[at]), 0, 0)
                   || (piece->fetch_offset == NULL
                       && !may_be_over (piece->y + at, piece->x + at, n, fabsf (piece->scale[at]), steps->tolerance))))
        add_even_steps (sums, piece, at, n, &m, &histogram);
      else
        {
          if (raw == NULL && (raw = piece->fetch_raw (piece->data, error)) == NULL)
            return FALSE;
          if (offset == NULL && piece->fetch_offset != NULL
              && (offset = piece->fetch_offset (piece->data, error)) == NULL)
            return FALSE;
          for (gsize i = at; i < at + n; i++)
            add_step (sums, piece, raw, offset, i, &histogram);
        }
      at += n;
    }
  add_histogram (sums, &histogram);
  return TRUE;
}

/* --- Merging ------------------------------------------------------------------------------------------------------ */

static void
offer (GArray *worst, guint64 number, const TmGroupSum *sum)
{
  TmDiffGroup group = { number, sum->first, sum->count, 0, sum->max_abs };
  guint at = worst->len;

  if (sum->count == 0)
    return;
  group.mse = sum->sum_ee / (double) sum->count;
  if (!(group.mse > 0))
    return;
  while (at > 0 && g_array_index (worst, TmDiffGroup, at - 1).mse < group.mse)
    at--;
  if (at >= TM_DIFF_WORST_GROUPS)
    return;
  g_array_insert_val (worst, at, group);
  if (worst->len > TM_DIFF_WORST_GROUPS)
    g_array_set_size (worst, TM_DIFF_WORST_GROUPS);
}

static void
add_group (TmGroupSum *sum, const TmGroupSum *added)
{
  if (sum->count == 0)
    sum->first = added->first;
  sum->count += added->count;
  sum->sum_ee += added->sum_ee;
  sum->max_abs = MAX (sum->max_abs, added->max_abs);
}

/* sums->group: what waits from before; later's may continue it. */
static void
merge_groups (TmDiffSums *sums, TmDiffSums *later, GArray *worst)
{
  for (guint64 i = 0; i < sums->n_groups; i++)
    {
      guint64 number = sums->first_group + i;

      if (later->n_groups > 0 && number >= later->first_group && number - later->first_group < later->n_groups)
        {
          TmGroupSum before = sums->group[i];

          add_group (&before, &later->group[number - later->first_group]);
          later->group[number - later->first_group] = before;
        }
      else
        offer (worst, number, &sums->group[i]);
    }
  for (guint64 i = 0; i < later->done_groups; i++)
    offer (worst, later->first_group + i, &later->group[i]);
  g_free (sums->group);
  sums->first_group = later->first_group + later->done_groups;
  sums->n_groups = later->n_groups - later->done_groups;
  sums->group = g_memdup2 (later->group != NULL ? later->group + later->done_groups : NULL,
                           sums->n_groups * sizeof *later->group);
}

void
tm_diff_sums_merge (TmDiffSums *sums, TmDiffSums *later, GArray *worst)
{
  sums->n += later->n;
  sums->n_same_nonfinite += later->n_same_nonfinite;
  sums->n_other_nonfinite += later->n_other_nonfinite;
  sums->n_stepped += later->n_stepped;
  sums->n_over += later->n_over;
  sums->n_clipped += later->n_clipped;
  sums->n_over_rounded += later->n_over_rounded;
  sums->n_clipped_rounded += later->n_clipped_rounded;
  sums->expected_over += later->expected_over;
  sums->sum_xx += later->sum_xx;
  sums->sum_yy += later->sum_yy;
  sums->sum_ee += later->sum_ee;
  sums->sum_e += later->sum_e;
  sums->sum_steps2 += later->sum_steps2;
  sums->max_steps = MAX (sums->max_steps, later->max_steps);
  if (later->max_abs > sums->max_abs)
    {
      sums->max_abs = later->max_abs;
      sums->max_at = later->max_at;
    }
  for (guint i = 0; i < TM_DIFF_BINS; i++)
    sums->histogram[i] += later->histogram[i];
  sums->below += later->below;
  sums->above += later->above;
  merge_groups (sums, later, worst);
  tm_diff_sums_free (later);
}

void
tm_diff_sums_finish (TmDiffSums *sums, GArray *worst)
{
  for (guint64 i = 0; i < sums->n_groups; i++)
    offer (worst, sums->first_group + i, &sums->group[i]);
}
