/* Experts stacked or one by one, gate and up together or apart. */
#include "analysis/transforms-private.h"

#include <string.h>

#define MAX_JOINED_ROWS (1u << 19) /* a part each, where rows of two tensors take turns */

/* --- Experts ------------------------------------------------------------------------------------------------------ */

void
tm_transforms_add_stack (const TmTransforms *transforms, const TmTensor *candidate, const guint *references, guint n,
                         GArray *hypotheses)
{
  guint64 columns = tm_tensor_get_columns (candidate), rows;

  if (candidate->rank < 2 || candidate->rank > 3 || candidate->shape[0] != n || candidate->n_elements == 0)
    return;
  rows = candidate->rank == 3 ? candidate->shape[1] : 1;
  for (guint transposed = 0; transposed < 2; transposed++)
    {
      TmReading *reading = tm_reading_new (
          columns, g_strdup_printf (transposed ? "stacked-experts(%u) + transpose" : "stacked-experts(%u)", n));
      gboolean fits = TRUE;

      for (guint i = 0; i < n && fits; i++)
        {
          const TmTensor *one = tm_transforms_get_reference (transforms, references[i]);
          TmReadingPart part = tm_transforms_make_plane (transforms, references[i], 0, rows, columns, transposed);

          fits = one->n_elements == rows * columns && tm_tensor_get_columns (one) == (transposed ? rows : columns);
          if (fits)
            tm_reading_add (reading, &part);
        }
      if (fits && (!transposed || rows > 1))
        tm_hypotheses_add (hypotheses, reading, transposed && rows == columns ? 1 : 0);
      else
        tm_reading_free (reading);
    }
}

void
tm_transforms_add_expert (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 expert,
                          GArray *hypotheses)
{
  const TmTensor *stack = tm_transforms_get_reference (transforms, reference);
  guint64 columns = tm_tensor_get_columns (candidate), rows = candidate->n_elements / MAX (columns, 1);

  if (stack->rank < 2 || stack->rank > 3 || expert >= stack->shape[0] || candidate->n_elements == 0
      || stack->n_elements / stack->shape[0] != candidate->n_elements)
    return;
  for (guint transposed = 0; transposed < 2; transposed++)
    {
      TmReadingPart part
          = tm_transforms_make_plane (transforms, reference, expert * candidate->n_elements, rows, columns, transposed);
      TmReading *reading;

      if (tm_tensor_get_columns (stack) != (transposed ? rows : columns) || (transposed && rows == 1))
        continue;
      reading = tm_reading_new (columns, g_strdup_printf (transposed ? "expert-slice(%" G_GUINT64_FORMAT ") + transpose"
                                                                     : "expert-slice(%" G_GUINT64_FORMAT ")",
                                                          expert));
      tm_reading_add (reading, &part);
      tm_hypotheses_add (hypotheses, reading, transposed && rows == columns ? 1 : 0);
    }
}

/* --- Gate and up -------------------------------------------------------------------------------------------------- */

/* [experts, rows, columns], from rank 3, or one expert's from rank 2; vectors have columns 1. */
static gboolean
get_stack (const TmTensor *tensor, gboolean bias, guint64 stack[3])
{
  guint rank = tensor->rank + (bias ? 1 : 0);

  if (tensor->n_elements == 0 || (rank != 2 && rank != 3))
    return FALSE;
  stack[0] = rank == 3 ? tensor->shape[0] : 1;
  stack[2] = bias ? 1 : tm_tensor_get_columns (tensor);
  stack[1] = tensor->n_elements / stack[0] / stack[2];
  return TRUE;
}

static gboolean
is_vector (const TmTensor *candidate, const TmTensor *reference, gboolean stacked)
{
  return candidate->rank == reference->rank && candidate->rank == (stacked ? 2 : 1);
}

void
tm_transforms_add_gate_up_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                GArray *hypotheses)
{
  const TmTensor *fused = tm_transforms_get_reference (transforms, reference);
  /* A matrix of gate rows has half of the fused one's rows; a stack of biases half of its columns. */
  gboolean bias
      = is_vector (candidate, fused, FALSE)
        || (is_vector (candidate, fused, TRUE) && tm_tensor_get_columns (fused) == 2 * tm_tensor_get_columns (candidate)
            && candidate->shape[0] == fused->shape[0]);
  guint64 a[3], b[3];

  if (!get_stack (candidate, bias, a) || !get_stack (fused, bias, b) || a[0] != b[0] || a[0] > TM_MAX_PLANES)
    return;
  for (guint transposed = 0; transposed < 2; transposed++)
    for (guint alternate = 0; alternate < 2; alternate++)
      {
        guint64 rows = a[1], columns = a[2], step = transposed ? 1 : columns;
        TmReading *reading;

        if (transposed ? bias || b[1] != columns || b[2] != 2 * rows : b[1] != 2 * rows || b[2] != columns)
          continue;
        reading = tm_reading_new (columns, g_strconcat ("split-gate-up(", alternate ? "alternate" : "halves", ")",
                                                        transposed ? " + transpose" : "", NULL));
        for (guint64 expert = 0; expert < a[0]; expert++)
          {
            guint64 base = expert * 2 * rows * columns + which * (alternate ? step : rows * step);
            TmReadingPart part = tm_transforms_make_part (transforms, reference, base, rows,
                                                          alternate ? 2 * step : step, transposed ? 2 * rows : 1);

            tm_reading_add (reading, &part);
          }
        tm_hypotheses_add (hypotheses, reading, 0);
      }
}

/* Rows of gate, then of up, or by turns. half: experts, rows, columns. */
static void
add_joined (const TmTransforms *transforms, guint gate, guint up, const guint64 half[3], gboolean alternate,
            GArray *hypotheses)
{
  guint64 rows = alternate ? 1 : half[1], turns = alternate ? half[1] : 1;
  TmReading *reading;

  if (alternate && half[0] * turns > MAX_JOINED_ROWS)
    return;
  reading = tm_reading_new (half[2], g_strdup (alternate ? "fused-gate-up(alternate)" : "fused-gate-up"));
  for (guint64 expert = 0; expert < half[0]; expert++)
    for (guint64 turn = 0; turn < turns; turn++)
      for (guint which = 0; which < 2; which++)
        {
          guint64 base = (expert * half[1] + turn * rows) * half[2];
          TmReadingPart part
              = tm_transforms_make_plane (transforms, which == 0 ? gate : up, base, rows, half[2], FALSE);

          tm_reading_add (reading, &part);
        }
  tm_hypotheses_add (hypotheses, reading, 0);
}

void
tm_transforms_add_gate_up_join (const TmTransforms *transforms, const TmTensor *candidate, guint gate, guint up,
                                GArray *hypotheses)
{
  const TmTensor *half = tm_transforms_get_reference (transforms, gate);
  gboolean bias
      = is_vector (candidate, half, FALSE)
        || (is_vector (candidate, half, TRUE) && tm_tensor_get_columns (candidate) == 2 * tm_tensor_get_columns (half)
            && candidate->shape[0] == half->shape[0]);
  guint64 a[3], b[3], c[3];

  if (!get_stack (candidate, bias, a) || !get_stack (half, bias, b)
      || !get_stack (tm_transforms_get_reference (transforms, up), bias, c) || memcmp (b, c, sizeof b) != 0
      || a[0] != b[0] || a[0] > TM_MAX_PLANES)
    return;
  if (a[1] == 2 * b[1] && a[2] == b[2])
    for (guint alternate = 0; alternate < 2; alternate++)
      add_joined (transforms, gate, up, b, alternate, hypotheses);
}
