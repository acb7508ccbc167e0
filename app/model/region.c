#include "model/region.h"

#define PIECE 65536u /* numbers in the buffer */

static gboolean
is_native (const TmTensor *tensor, TmQuantity quantity)
{
  return quantity == TM_QUANTITY_VALUE && tensor->codec != NULL && tensor->codec->native != NULL;
}

TmDtype
tm_region_get_dtype (const TmTensor *tensor, TmQuantity quantity)
{
  if (quantity == TM_QUANTITY_RAW)
    return TM_DTYPE_I32;
  return is_native (tensor, quantity) ? tm_tensor_get_native_dtype (tensor) : TM_DTYPE_F32;
}

gsize
tm_region_get_number_size (const TmTensor *tensor, TmQuantity quantity)
{
  return is_native (tensor, quantity) ? tm_tensor_get_native_size (tensor) : 4;
}

static gboolean
decode (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, gpointer out,
        GCancellable *cancellable, GError **error)
{
  if (is_native (tensor, quantity))
    return tm_tensor_decode_native (tensor, first, count, out, cancellable, error);
  if (quantity == TM_QUANTITY_RAW)
    return tm_tensor_decode_raw (tensor, first, count, out, cancellable, error);
  return tm_tensor_decode (tensor, quantity, first, count, out, cancellable, error);
}

/* The axis that cuts the region into contiguous runs: every axis after it is whole. A run is its range times those. */
static guint
find_run (const TmTensor *tensor, const guint64 *start, const guint64 *end, guint64 *length)
{
  guint axis = tensor->rank;

  *length = 1;
  while (axis > 0)
    {
      axis--;
      *length *= end[axis] - start[axis];
      if (start[axis] > 0 || end[axis] < tensor->shape[axis])
        break;
    }
  return axis;
}

/* The next index over the axes before the run's; FALSE after the last. */
static gboolean
advance (guint64 *index, guint n_axes, const guint64 *start, const guint64 *end)
{
  for (guint axis = n_axes; axis > 0; axis--)
    {
      if (++index[axis - 1] < end[axis - 1])
        return TRUE;
      index[axis - 1] = start[axis - 1];
    }
  return FALSE;
}

gboolean
tm_region_foreach (const TmTensor *tensor, TmQuantity quantity, const guint64 *start, const guint64 *end,
                   TmRegionFunc func, gpointer user_data, GCancellable *cancellable, GError **error)
{
  gsize size = tm_region_get_number_size (tensor, quantity), filled = 0;
  guint64 length;
  guint axis = find_run (tensor, start, end, &length);
  g_autofree guint64 *index = g_memdup2 (start, tensor->rank * sizeof *start);
  g_autofree char *buffer = NULL;

  for (guint i = 0; i < tensor->rank; i++)
    if (start[i] >= end[i]) /* nothing in it, but a tensor at fault or a quantity that is not there still is an error */
      return decode (tensor, quantity, 0, 0, NULL, cancellable, error);
  buffer = g_malloc (PIECE * size);

  /* Short runs share the buffer, so that a narrow region is handed over in few pieces. */
  do
    {
      guint64 first = tm_tensor_flatten (tensor, index), done = 0;

      while (done < length)
        {
          gsize count = (gsize)MIN (length - done, (guint64)(PIECE - filled));

          if (!decode (tensor, quantity, first + done, count, buffer + filled * size, cancellable, error))
            return FALSE;
          done += count;
          filled += count;
          if (filled == PIECE)
            {
              if (!func (buffer, filled, user_data, error))
                return FALSE;
              filled = 0;
            }
        }
    }
  while (advance (index, axis, start, end));
  return filled == 0 || func (buffer, filled, user_data, error);
}
