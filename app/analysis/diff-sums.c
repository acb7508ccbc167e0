#include "analysis/diff-sums.h"

#include <math.h>
#include <string.h>

#define LANES 4
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

static inline Moments
measure (const float *restrict y, const float *restrict x, gsize n)
{
  double xx[LANES] = { 0 }, yy[LANES] = { 0 }, ee[LANES] = { 0 }, es[LANES] = { 0 }, max[LANES] = { 0 };
  Moments sum = { 0 };
  gsize i = 0;

  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      {
        double a = (double) x[i + j], b = (double) y[i + j], e = b - a, magnitude = fabs (e);

        xx[j] += a * a;
        yy[j] += b * b;
        ee[j] += e * e;
        es[j] += e;
        max[j] = magnitude > max[j] ? magnitude : max[j];
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
  for (int j = 0; j < LANES; j++)
    {
      sum.xx += xx[j];
      sum.yy += yy[j];
      sum.ee += ee[j];
      sum.e += es[j];
      sum.max = MAX (sum.max, max[j]);
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
add_moments (TmDiffSums *sums, const TmDiffPiece *piece)
{
  for (gsize at = 0; at < piece->count;)
    {
      guint64 group;
      gsize n = (gsize) tm_group_layout_next (piece->layout, piece->first + at, piece->count - at, &group);
      Moments m = measure (piece->y + at, piece->x + at, n);

      sums->sum_xx += m.xx;
      sums->sum_yy += m.yy;
      sums->sum_ee += m.ee;
      sums->sum_e += m.e;
      if (m.max > sums->max_abs)
        {
          sums->max_abs = m.max;
          find_max (sums, piece, at, n, m.max);
        }
      if (sums->group != NULL)
        {
          TmGroupSum *sum = &sums->group[group - sums->first_group];

          if (sum->count == 0)
            sum->first = piece->first + at;
          sum->count += n;
          sum->sum_ee += m.ee;
          sum->max_abs = MAX (sum->max_abs, m.max);
        }
      at += n;
    }
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static inline void
count_step (TmDiffSums *sums, double steps, gboolean over, gboolean clipped)
{
  double at = steps * (TM_DIFF_BINS / 2) + TM_DIFF_BINS / 2;

  sums->n_stepped++;
  sums->sum_steps2 += steps * steps;
  sums->max_steps = MAX (sums->max_steps, fabs (steps));
  sums->n_over += over;
  sums->n_clipped += clipped;
  if (at < 0)
    sums->below++;
  else if (at >= TM_DIFF_BINS)
    sums->above++;
  else
    sums->histogram[(guint) at]++;
}

static inline gboolean
is_over (double error, float step, float value, float tolerance)
{
  return fabs (error) > (double) (step * (0.5f + STEP_TOLERANCE) + fabsf (value) * tolerance);
}

static gboolean
add_uniform_steps (TmDiffSums *sums, const TmDiffPiece *piece, GError **error)
{
  const gint32 *raw = piece->raw;
  float last = 0;
  double per = 0;

  for (gsize i = 0; i < piece->count; i++)
    {
      float size = fabsf (piece->scale[i]);
      double e = (double) piece->y[i] - (double) piece->x[i];
      gboolean at_end = FALSE, over;

      if (!(size > 0) || isinf (size))
        continue;
      if (size != last)
        {
          last = size;
          per = 1 / (double) size;
        }
      over = is_over (e, size, piece->y[i], piece->steps->tolerance);
      if (over)
        {
          if (raw == NULL && (raw = piece->fetch_raw (piece->data, error)) == NULL)
            return FALSE;
          tm_steps_get (piece->steps, piece->scale[i], raw[i], e, &at_end);
        }
      count_step (sums, e * per, over, at_end);
    }
  return TRUE;
}

static gboolean
add_leveled_steps (TmDiffSums *sums, const TmDiffPiece *piece, GError **error)
{
  const gint32 *raw = piece->raw != NULL ? piece->raw : piece->fetch_raw (piece->data, error);

  for (gsize i = 0; raw != NULL && i < piece->count; i++)
    {
      double e = (double) piece->y[i] - (double) piece->x[i];
      gboolean at_end;
      float step = tm_steps_get (piece->steps, piece->scale[i], raw[i], e, &at_end);
      gboolean over = step > 0 && is_over (e, step, piece->y[i], piece->steps->tolerance);

      if (step > 0)
        count_step (sums, e / (double) step, over, over && at_end);
    }
  return raw != NULL;
}

gboolean
tm_diff_sums_add (TmDiffSums *sums, const TmDiffPiece *piece, GError **error)
{
  gboolean all_finite = !any_not_finite (piece->x, piece->count) && !any_not_finite (piece->y, piece->count);

  sums->n += piece->count;
  if (!all_finite)
    leave_out (sums, piece);
  add_moments (sums, piece);
  if (!piece->steps->defined)
    return TRUE;
  return piece->steps->leveled ? add_leveled_steps (sums, piece, error) : add_uniform_steps (sums, piece, error);
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
