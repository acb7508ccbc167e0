/* Colour range of a tensor: the 99.9th percentile of magnitude over a fixed sample. */
#include "view/tiles.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE 65536u
#define N_PIECES 1024u
#define PIECE (SAMPLE / N_PIECES)

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* Even steps through the tensor would fall on the same columns of every row: each piece is moved within its step by a
 * fixed scramble of its number. */
static guint64
piece_start (guint64 n_elements, guint64 i)
{
  guint64 step = n_elements / N_PIECES, room = step - PIECE + 1;

  return i * step + (i * 0x9E3779B97F4A7C15u >> 20) % room;
}

static gboolean
read_sample (const TmTensor *tensor, TmQuantity quantity, float *values, gsize *n, GCancellable *cancellable,
             GError **error)
{
  const guint64 n_held = tensor->fault != NULL ? tensor->available : tensor->n_elements;

  if (n_held <= SAMPLE)
    {
      *n = (gsize) n_held;
      return *n == 0 || tm_tensor_decode (tensor, quantity, 0, *n, values, cancellable, error);
    }
  for (guint64 i = 0; i < N_PIECES; i++)
    if (!tm_tensor_decode (tensor, quantity, piece_start (n_held, i), PIECE, values + i * PIECE, cancellable,
                           error))
      return FALSE;
  *n = SAMPLE;
  return TRUE;
}

float
tm_tensor_sample_range (const TmTensor *tensor, TmQuantity quantity, GCancellable *cancellable, GError **error)
{
  g_autofree float *values = g_new (float, SAMPLE);
  gsize n = 0, finite = 0, rank;

  if (!read_sample (tensor, quantity, values, &n, cancellable, error))
    return 0;
  for (gsize i = 0; i < n; i++)
    if (isfinite (values[i]))
      values[finite++] = fabsf (values[i]);
  if (!finite)
    return 0;
  qsort (values, finite, sizeof *values, compare_floats);
  rank = (finite * 999 + 999) / 1000;
  /* All but a few are zero: the few set the range. */
  return values[rank - 1] > 0 ? values[rank - 1] : values[finite - 1];
}
