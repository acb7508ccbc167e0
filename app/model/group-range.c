#include "model/group-range.h"

#include <math.h>

#include "io/error.h"

/* The indices of one axis that a group takes: a run, or what a table says. */
typedef struct
{
  guint64 start, count;
  guint64 *member; /* NULL: start … start + count − 1 */
} Span;

static guint64
get_index (const Span *span, guint64 i)
{
  return span->member != NULL ? span->member[i] : span->start + i;
}

static Span
make_span (const TmGranularity *granularity, const TmScalar *scalar, guint axis)
{
  Span span = { scalar->group_start[axis], scalar->group_end[axis] - scalar->group_start[axis], NULL };

  if (granularity->table == NULL || (gint) axis != granularity->table_axis)
    return span;
  const guint32 *table = granularity->table;
  guint32 group = table[span.start];
  span.count = tm_granularity_count_members (granularity, span.start);
  span.member = g_new (guint64, span.count);
  for (guint64 i = 0, n = 0; n < span.count; i++)
    if (table[i] == group)
      span.member[n++] = i;
  return span;
}

static void
take (TmGroupRange *range, float value)
{
  if (isnan (value))
    {
      range->n_nan++;
      return;
    }
  if (!(value >= range->min))
    range->min = value;
  if (!(value <= range->max))
    range->max = value;
}

/* Members of the last axis are decoded as one piece from the first to the last, what belongs to others is passed over. */
static gboolean
scan (const TmTensor *tensor, const TmGranularity *granularity, const Span *span, guint64 count, TmGroupRange *range,
      GCancellable *cancellable, GError **error)
{
  guint rank = granularity->rank;
  const Span *last = &span[rank - 1];
  guint64 first = get_index (last, 0), run = get_index (last, last->count - 1) - first + 1;
  g_autofree float *values = g_new (float, run);
  g_autofree guint64 *at = g_new0 (guint64, rank);

  for (guint64 done = 0; done < count; done += last->count)
    {
      guint64 flat = 0;

      for (guint a = 0; a + 1 < rank; a++)
        flat = flat * granularity->shape[a] + get_index (&span[a], at[a]);
      flat = flat * granularity->shape[rank - 1] + first;
      if (!tm_tensor_decode (tensor, TM_QUANTITY_VALUE, flat, run, values, cancellable, error))
        return FALSE;
      for (guint64 i = 0; i < last->count; i++)
        take (range, values[get_index (last, i) - first]);
      for (guint a = rank - 1; a > 0; a--)
        {
          if (++at[a - 1] < span[a - 1].count)
            break;
          at[a - 1] = 0;
        }
    }
  range->count = count;
  return TRUE;
}

gboolean
tm_tensor_get_group_range (const TmTensor *tensor, const TmScalar *scalar, TmGroupRange *range, GCancellable *cancellable,
                           GError **error)
{
  const TmGranularity *granularity = tensor->granularity;
  *range = (TmGroupRange) { 0, 0, NAN, NAN };
  if (granularity == NULL || granularity->rank == 0 || !scalar->has_group || scalar->group_rank != granularity->rank)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_QUANTITY, "this scalar belongs to no group");
      return FALSE;
    }

  guint rank = granularity->rank;
  g_autofree Span *span = g_new0 (Span, rank);
  guint64 count = 1;
  gboolean small = TRUE, ok = TRUE;
  for (guint a = 0; a < rank; a++)
    {
      span[a] = make_span (granularity, scalar, a);
      small = small && !__builtin_mul_overflow (count, span[a].count, &count) && count <= TM_GROUP_RANGE_MAX;
    }
  if (!small)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_QUANTITY, "the group is too large to scan here");
      ok = FALSE;
    }
  else if (count > 0)
    ok = scan (tensor, granularity, span, count, range, cancellable, error);
  for (guint a = 0; a < rank; a++)
    g_free (span[a].member);
  return ok;
}
