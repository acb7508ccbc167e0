#include "analysis/scale-ranges.h"

#include <math.h>

#include "analysis/count.h"
#include "analysis/groups.h"
#include "analysis/steps.h"
#include "analysis/work.h"
#include "io/number.h"

#define ITEM 1048576u       /* elements that one thread takes at a time, about */
#define MAX_TALL 2097152u   /* where the reference lies across, tall pieces save reads */
#define PIECE 65536u        /* decoded at once */
#define FOUND 4096u         /* scales counted at once */
#define MAX_LEVELS 16       /* of a code book: so many a sample shows for certain */
#define SPOTS 64            /* groups looked at for whether the zero point moves */
#define TOLERANCE 1e-6      /* of a step: float arithmetic */

/* What is known of a tensor before its groups are looked at. */
typedef struct
{
  const TmTensor *tensor;
  const TmReading *reading;
  TmSteps steps;
  TmGroupLayout layout;
  gboolean has_zero_point, has_offset, moves;
  double lowest, highest, below, above; /* code books: end levels, and half the gap to their neighbours */
  guint64 n, item;
  gboolean transposed;
} Subject;

/* A group under way. */
typedef struct
{
  float min, max, scale, zero_point, offset;
  gboolean begun, any;
} Group;

typedef struct
{
  float *x, *scale, *other;
  gsize size;
  Group *group; /* of a band */
  guint32 *stored, *needed; /* cells */
} Thread;

typedef struct
{
  guint64 groups, clipped, too_small;
  TmMoments stored, needed;
} Sums;

typedef struct
{
  const Subject *subject;
  Thread *thread;
  Sums *sums; /* of each item, added up in order */
  GCancellable *cancellable;
} Run;

/* --- One group ------------------------------------------------------------------------------------------------------ */

/* Where the codes end, in steps from the zero point or offset, for values that grow. */
static void
get_reach (const Subject *subject, const Group *group, double *down, double *up)
{
  double low = subject->lowest, high = subject->highest, below = subject->below, above = subject->above;

  if (!subject->steps.leveled)
    {
      const double zero = subject->has_zero_point ? (double) group->zero_point : 0;

      low = subject->steps.first - zero;
      high = subject->steps.last - zero;
      below = above = 0.5;
    }
  *down = group->scale < 0 ? -high - above : low - below;
  *up = group->scale < 0 ? -low + below : high + above;
}

static double
get_needed (const Subject *subject, const Group *group, double down, double up)
{
  const double min = (double) group->min, max = (double) group->max;
  double needed = 0;

  if (subject->moves || (max > 0 && !(up > 0)) || (min < 0 && !(down < 0)))
    return (max - min) / (up - down);
  if (max > 0)
    needed = max / up;
  if (min < 0)
    needed = MAX (needed, min / down);
  return needed;
}

static gboolean
does_clip (const Subject *subject, const Group *group, double down, double up)
{
  const double step = fabs ((double) group->scale), offset = subject->has_offset ? (double) group->offset : 0;
  const double lowest = step * down + offset, highest = step * up + offset;
  const double tolerance = (double) subject->steps.tolerance;

  return (double) group->max > highest + step * TOLERANCE + fabs (highest) * tolerance
         || (double) group->min < lowest - step * TOLERANCE - fabs (lowest) * tolerance;
}

typedef struct
{
  Thread *thread;
  Sums *sums;
  float stored[FOUND], needed[FOUND];
  gsize n;
} Found;

static void
count_found (Found *found)
{
  tm_count_floats (&found->sums->stored, found->thread->stored, found->stored, found->n);
  tm_count_floats (&found->sums->needed, found->thread->needed, found->needed, found->n);
  found->n = 0;
}

static void
finish_group (const Subject *subject, Group *group, Found *found)
{
  double down, up, needed;
  gboolean clips;

  if (group->any && isfinite (group->scale))
    {
      get_reach (subject, group, &down, &up);
      needed = get_needed (subject, group, down, up);
      clips = does_clip (subject, group, down, up);
      found->sums->groups++;
      found->sums->clipped += clips;
      found->sums->too_small += clips && needed > fabs ((double) group->scale);
      found->stored[found->n] = fabsf (group->scale);
      found->needed[found->n] = (float) needed;
      if (++found->n == FOUND)
        count_found (found);
    }
  *group = (Group) { 0 };
}

static void
add_values (Group *group, const float *x, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      if (!isfinite (x[i]))
        continue;
      group->min = group->any ? fminf (group->min, x[i]) : x[i];
      group->max = group->any ? fmaxf (group->max, x[i]) : x[i];
      group->any = TRUE;
    }
}

/* Groups of a band lie side by side and come back line by line; else they follow each other. */
static gboolean
is_scattered (const TmGroupLayout *layout)
{
  return layout->grouped && (layout->band_lines > 1 || layout->table != NULL);
}

/* --- Items ---------------------------------------------------------------------------------------------------------- */

static void
grow (Thread *thread, const Subject *subject, gsize size)
{
  if (thread->size < size)
    {
      g_free (thread->x);
      g_free (thread->scale);
      g_free (thread->other);
      thread->x = g_new (float, size);
      thread->scale = g_new (float, size);
      thread->other = g_new (float, size);
      thread->size = size;
    }
  if (thread->stored == NULL)
    {
      thread->stored = g_new0 (guint32, TM_COUNT_CELLS);
      thread->needed = g_new0 (guint32, TM_COUNT_CELLS);
      thread->group = g_new0 (Group, is_scattered (&subject->layout) ? subject->layout.width + 1 : 1);
    }
}

static gboolean
decode (const Subject *subject, Thread *thread, guint64 first, gsize n, GCancellable *cancellable, GError **error)
{
  TmQuantity other = subject->has_offset ? TM_QUANTITY_OFFSET : TM_QUANTITY_ZERO_POINT;

  return tm_reading_decode (subject->reading, first, n, thread->x, cancellable, error)
         && tm_tensor_decode (subject->tensor, TM_QUANTITY_SCALE, first, n, thread->scale, cancellable, error)
         && (!(subject->has_offset || subject->has_zero_point)
             || tm_tensor_decode (subject->tensor, other, first, n, thread->other, cancellable, error));
}

/* An item is whole bands, or whole groups where they follow each other. */
static gboolean
measure_item (guint64 item, guint number, gpointer data, GError **error)
{
  const Run *run = data;
  const Subject *subject = run->subject;
  const TmGroupLayout *layout = &subject->layout;
  Thread *thread = &run->thread[number];
  Found *found = g_new (Found, 1);
  const gboolean scattered = is_scattered (layout);
  const guint64 first = item * subject->item, end = MIN (first + subject->item, subject->n);
  const gsize piece = subject->transposed ? (gsize) MIN (subject->item, MAX_TALL) : PIECE;
  guint64 open = 0, band = 0; /* the group, or the first of the band, that is under way */
  gboolean ok = TRUE;

  grow (thread, subject, piece);
  found->thread = thread;
  found->sums = &run->sums[item];
  found->n = 0;
  tm_moments_init (&found->sums->stored);
  tm_moments_init (&found->sums->needed);
  for (guint64 at = first; ok && at < end;)
    {
      const gsize n = (gsize) MIN (end - at, piece);

      ok = decode (subject, thread, at, n, run->cancellable, error) && tm_work_pause (run->cancellable, error);
      for (gsize i = 0; ok && i < n;)
        {
          guint64 group;
          const gsize some = (gsize) tm_group_layout_next (layout, at + i, n - i, &group);
          const guint64 base = scattered ? group / layout->width * layout->width : group;
          Group *of;

          if (at + i == first)
            open = band = base;
          if (scattered && base != band)
            for (guint64 j = 0; j < layout->width; j++)
              finish_group (subject, &thread->group[j], found);
          else if (!scattered && group != open)
            finish_group (subject, &thread->group[0], found);
          open = group;
          band = base;
          of = &thread->group[scattered ? group - base : 0];
          if (!of->begun)
            {
              of->begun = TRUE;
              of->scale = thread->scale[i];
              of->zero_point = of->offset = thread->other[i];
            }
          add_values (of, thread->x + i, some);
          i += some;
        }
      at += n;
    }
  for (guint64 j = 0; j < (scattered ? layout->width : 1); j++)
    if (ok)
      finish_group (subject, &thread->group[j], found);
    else
      thread->group[j] = (Group) { 0 };
  count_found (found);
  g_free (found);
  return ok;
}

/* --- What it is about ------------------------------------------------------------------------------------------------ */

static gboolean
is_one_group (const TmGranularity *granularity)
{
  for (guint axis = 0; granularity != NULL && axis < granularity->rank; axis++)
    if (granularity->level[granularity->n_levels - 1].extent[axis] < granularity->shape[axis])
      return FALSE;
  return TRUE;
}

/* Whether zero points differ, by groups from all over the tensor. */
static gboolean
look_at_zero_points (Subject *subject, GCancellable *cancellable, GError **error)
{
  const guint64 last = subject->tensor->n_elements - 1, step = MAX (last / (SPOTS - 1), 1);
  float first = 0, one;

  for (guint i = 0; i < SPOTS && !subject->moves; i++)
    {
      const guint64 flat = MIN (step * i, last);

      if (!tm_tensor_decode (subject->tensor, TM_QUANTITY_ZERO_POINT, flat, 1, &one, cancellable, error))
        return FALSE;
      if (i == 0)
        first = one;
      subject->moves = one != first;
    }
  return TRUE;
}

/* FALSE without an error: why not is in *why. */
static gboolean
init_subject (Subject *subject, const TmAlignment *alignment, const TmAlignedPair *pair, const char **why,
              GCancellable *cancellable, GError **error)
{
  const TmTensor *tensor = tm_model_tensor (alignment->candidate, pair->candidate);
  TmSteps *steps = &subject->steps;
  guint64 unit;

  subject->tensor = tensor;
  subject->reading = pair->reading;
  subject->transposed = tm_reading_is_transposed (pair->reading);
  subject->n = MIN (pair->reading->rows * pair->reading->columns, tensor->n_elements);
  *why = "The candidate is not quantized: it has no scales.";
  if (!tensor->quantized || subject->n == 0 || !tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE))
    return FALSE;
  if (!tm_steps_init (steps, alignment->candidate, tensor, cancellable, error))
    return FALSE;
  *why = "A code of this scheme does not stand for one level, so how far a group's codes reach is not told.";
  if (!steps->defined)
    return FALSE;
  *why = "The codes of this scheme stand for more levels than a sample shows, so how far they reach is not told.";
  if (steps->leveled && (1u << MIN (tensor->code_bits, 16u)) > MAX_LEVELS)
    return FALSE;
  tm_steps_get_ends (steps, &subject->lowest, &subject->below, &subject->highest, &subject->above);
  *why = "The groups of this tensor lie scattered.";
  tm_group_layout_init (&subject->layout, tensor);
  if (!subject->layout.grouped && !is_one_group (tensor->granularity))
    return FALSE;
  *why = NULL;
  subject->has_offset = tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET);
  subject->has_zero_point = !subject->has_offset && tm_tensor_has_quantity (tensor, TM_QUANTITY_ZERO_POINT);
  subject->moves = subject->has_offset;
  if (subject->has_zero_point && !look_at_zero_points (subject, cancellable, error))
    return FALSE;

  unit = subject->n;
  if (subject->layout.grouped)
    {
      const TmGroupLayout *layout = &subject->layout;
      const gboolean follow = !is_scattered (layout) && layout->line % layout->extent == 0;

      if (follow && !subject->transposed)
        unit = layout->extent;
      else if (__builtin_mul_overflow (layout->line, layout->band_lines, &unit))
        unit = subject->n;
    }
  subject->item = unit >= ITEM ? unit : ITEM / unit * unit;
  return TRUE;
}

/* --- The pass -------------------------------------------------------------------------------------------------------- */

static void
collect (const Run *run, guint64 n_items, TmScaleRanges *ranges)
{
  g_autofree guint64 *stored_cells = g_new0 (guint64, TM_N_CELLS), *needed_cells = g_new0 (guint64, TM_N_CELLS);
  TmMoments stored, needed;

  tm_moments_init (&stored);
  tm_moments_init (&needed);
  for (guint64 i = 0; i < n_items; i++)
    {
      ranges->groups += run->sums[i].groups;
      ranges->clipped += run->sums[i].clipped;
      ranges->too_small += run->sums[i].too_small;
      tm_moments_add (&stored, &run->sums[i].stored);
      tm_moments_add (&needed, &run->sums[i].needed);
    }
  for (guint i = 0; i < tm_work_get_threads (); i++)
    if (run->thread[i].stored != NULL)
      {
        tm_count_flush (run->thread[i].stored, stored_cells);
        tm_count_flush (run->thread[i].needed, needed_cells);
      }
  tm_count_finish (&stored, stored_cells, &ranges->stored);
  tm_count_finish (&needed, needed_cells, &ranges->needed);
}

static gboolean
measure (const Subject *subject, TmScaleRanges *ranges, GCancellable *cancellable, GError **error)
{
  Run run = { .subject = subject, .cancellable = cancellable };
  const guint64 n_items = (subject->n - 1) / subject->item + 1;
  gboolean ok;

  run.thread = g_new0 (Thread, tm_work_get_threads ());
  run.sums = g_new0 (Sums, n_items);
  ok = tm_work_run (n_items, measure_item, &run, cancellable, error);
  if (ok)
    collect (&run, n_items, ranges);
  for (guint i = 0; i < tm_work_get_threads (); i++)
    {
      g_free (run.thread[i].x);
      g_free (run.thread[i].scale);
      g_free (run.thread[i].other);
      g_free (run.thread[i].group);
      g_free (run.thread[i].stored);
      g_free (run.thread[i].needed);
    }
  g_free (run.thread);
  g_free (run.sums);
  return ok;
}

TmScaleRanges *
tm_scale_ranges_measure (const TmAlignment *alignment, const TmAlignedPair *pair, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmScaleRanges) ranges = g_new0 (TmScaleRanges, 1);
  g_autofree Subject *subject = g_new0 (Subject, 1);
  g_autoptr (GError) failed = NULL;
  const char *why = NULL;

  tm_distribution_init (&ranges->stored);
  tm_distribution_init (&ranges->needed);
  if (init_subject (subject, alignment, pair, &why, cancellable, &failed))
    {
      ranges->moves = subject->moves;
      measure (subject, ranges, cancellable, &failed);
    }
  if (g_error_matches (failed, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&failed));
      return NULL;
    }
  if (failed != NULL || why != NULL)
    ranges->fault = g_strdup (failed != NULL ? failed->message : why);
  return g_steal_pointer (&ranges);
}

void
tm_scale_ranges_free (TmScaleRanges *ranges)
{
  if (ranges == NULL)
    return;
  tm_distribution_clear (&ranges->stored);
  tm_distribution_clear (&ranges->needed);
  g_free (ranges->fault);
  g_free (ranges);
}

char *
tm_scale_ranges_describe (const TmScaleRanges *ranges)
{
  g_autofree char *groups = tm_format_count (ranges->groups), *clipped = tm_format_count (ranges->clipped);
  const double share = ranges->groups > 0 ? (double) ranges->clipped / (double) ranges->groups * 100 : 0;
  GString *text;

  if (ranges->fault != NULL)
    return g_strdup (ranges->fault);
  if (ranges->clipped == 0)
    return g_strdup_printf (ranges->groups == 1 ? "The group does not clip: its codes reach as far as the reference's values."
                                                : "None of %s groups clips: their codes reach as far as the reference's values.",
                            groups);
  text = g_string_new (NULL);
  g_string_append_printf (text, "%s of %s %s (", clipped, groups,
                          ranges->groups == 1 ? "group clips" : ranges->clipped == 1 ? "groups clips" : "groups clip");
  g_string_append_printf (text, share < 0.005 ? "< 0.01 %%" : "%.2f %%", share);
  g_string_append (text, "): the reference goes more than half a step beyond the end codes");
  if (ranges->too_small == ranges->clipped)
    g_string_append (text, "; the scale is too small.");
  else if (ranges->too_small == 0)
    g_string_append (text, ranges->moves ? "; the scale would do, the offset is off." : ".");
  else
    {
      g_autofree char *small = tm_format_count (ranges->too_small);
      g_autofree char *rest = tm_format_count (ranges->clipped - ranges->too_small);

      g_string_append_printf (text, "; for %s the scale is too small, for %s the offset is off.", small, rest);
    }
  return g_string_free (text, FALSE);
}
