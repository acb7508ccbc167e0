#include "model/group-range.h"

#include <math.h>

#include "io/error.h"

gboolean
tm_tensor_get_group_range (const TmTensor *tensor, const TmScalar *scalar, TmGroupRange *range, GCancellable *cancellable,
                           GError **error)
{
  const TmGranularity *granularity = tensor->granularity;
  *range = (TmGroupRange) { 0, 0, NAN, NAN };
  if (granularity == NULL || !scalar->has_group || scalar->group_rank != granularity->rank)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_QUANTITY, "this scalar belongs to no group");
      return FALSE;
    }

  guint rank = granularity->rank;
  guint64 count = 1;
  for (guint a = 0; a < rank; a++)
    if (__builtin_mul_overflow (count, scalar->group_end[a] - scalar->group_start[a], &count)
        || count > TM_GROUP_RANGE_MAX)
      {
        g_set_error_literal (error, TM_ERROR, TM_ERROR_QUANTITY, "the group is too large to scan here");
        return FALSE;
      }
  if (count == 0)
    return TRUE;

  /* Runs along the last axis are contiguous; an odometer walks the other axes. */
  guint64 run = rank > 0 ? scalar->group_end[rank - 1] - scalar->group_start[rank - 1] : 1;
  g_autofree float *values = g_new (float, run);
  g_autofree guint64 *at = g_memdup2 (scalar->group_start, sizeof (guint64) * MAX (rank, 1));
  for (guint64 done = 0; done < count; done += run)
    {
      guint64 flat = 0;
      for (guint a = 0; a < rank; a++)
        flat = flat * granularity->shape[a] + at[a];
      if (!tm_tensor_decode (tensor, TM_QUANTITY_VALUE, flat, run, values, cancellable, error))
        return FALSE;
      for (guint64 i = 0; i < run; i++)
        {
          if (isnan (values[i]))
            {
              range->n_nan++;
              continue;
            }
          if (!(values[i] >= range->min))
            range->min = values[i];
          if (!(values[i] <= range->max))
            range->max = values[i];
        }
      for (guint a = rank - 1; a > 0; a--)
        {
          if (++at[a - 1] < scalar->group_end[a - 1])
            break;
          at[a - 1] = scalar->group_start[a - 1];
        }
    }
  range->count = count;
  return TRUE;
}
