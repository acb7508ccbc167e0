/* What a diff says of one scalar, of one group, and in words; the error as a picture. */
#include "analysis/diff.h"

#include <math.h>
#include <string.h>

#include "analysis/steps.h"
#include "io/error.h"

#define NEAREST 0.001 /* share over half a step up to which it is nearest rounding */

/* --- One scalar --------------------------------------------------------------------------------------------------- */

gboolean
tm_diff_explain (const TmAlignment *alignment, const TmAlignedPair *pair, const guint64 *index, TmDelta *delta,
                 GError **error)
{
  const TmTensor *tensor = tm_model_tensor (alignment->candidate, pair->candidate);
  guint64 flat = tm_tensor_flatten (tensor, index);
  const TmReadingPart *part = tm_reading_locate (pair->reading, flat, &delta->reference_flat);
  g_autofree TmSteps *steps = g_new (TmSteps, 1);
  float scale, offset = 0;
  gint32 raw;

  *delta = (TmDelta) { .reference_flat = delta->reference_flat };
  if (part == NULL)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_ADDRESS, "the reference has no such element");
      return FALSE;
    }
  delta->reference = part->index;
  if (!tm_tensor_decode (tensor, TM_QUANTITY_VALUE, flat, 1, &delta->candidate, NULL, error)
      || !tm_reading_decode (pair->reading, flat, 1, &delta->baseline, NULL, error)
      || !tm_steps_init (steps, alignment->candidate, tensor, NULL, error))
    return FALSE;
  delta->delta = (double) delta->candidate - (double) delta->baseline;
  if (!steps->defined || !isfinite (delta->delta))
    return TRUE;
  if (!tm_tensor_decode (tensor, TM_QUANTITY_SCALE, flat, 1, &scale, NULL, error)
      || (tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET)
          && !tm_tensor_decode (tensor, TM_QUANTITY_OFFSET, flat, 1, &offset, NULL, error))
      || !tm_tensor_decode_raw (tensor, flat, 1, &raw, NULL, error))
    return FALSE;
  delta->step = tm_steps_get (steps, scale, raw, delta->delta, &delta->clipped);
  delta->has_step = delta->step > 0;
  if (delta->has_step)
    {
      delta->delta_in_steps = delta->delta / (double) delta->step;
      delta->over_half_step = fabs (delta->delta_in_steps)
                              > 0.5 + 1e-6 + (double) ((fabsf (delta->candidate - offset) + fabsf (offset)) * steps->tolerance
                                                   / delta->step);
    }
  delta->clipped = delta->clipped && delta->over_half_step;
  return TRUE;
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */

void
tm_diff_group_get_range (const TmTensor *tensor, const TmDiffGroup *group, guint64 **start, guint64 **end, guint *rank)
{
  const TmGranularity *granularity = tensor->granularity;
  const guint64 *shape = granularity != NULL ? granularity->shape : tensor->shape;
  g_autofree guint64 *index = NULL;
  guint64 flat = group->first;

  *rank = granularity != NULL ? granularity->rank : tensor->rank;
  index = g_new0 (guint64, *rank + 1);
  *start = g_new0 (guint64, *rank + 1);
  *end = g_new0 (guint64, *rank + 1);
  for (guint axis = *rank; axis-- > 0; flat /= MAX (shape[axis], 1))
    index[axis] = flat % MAX (shape[axis], 1);
  if (granularity != NULL)
    {
      tm_granularity_get_block (granularity, granularity->n_levels - 1, index, *start, *end);
      return;
    }
  for (guint axis = 0; axis < *rank; axis++)
    {
      (*start)[axis] = axis + 1 == *rank ? 0 : index[axis];
      (*end)[axis] = axis + 1 == *rank ? shape[axis] : index[axis] + 1;
    }
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

/* Why more than half a step need not be a defect: from what the tensor has, not from what its scheme is called. */
static const char *
find_reason (const TmTensor *tensor)
{
  if (tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET))
    return "scale and offset are fitted, and may be quantized themselves";
  if (tensor->granularity != NULL && tensor->granularity->n_levels > 1)
    return "scales are quantized themselves, and codes may be searched for";
  if (!tm_tensor_has_quantity (tensor, TM_QUANTITY_ZERO_POINT))
    return "the last levels cannot follow the largest value";
  if (tensor->symmetric == 1 && tensor->code_bits <= 5)
    return "one end of a signed code range has no room";
  return "other rounding, other weights, or another reference";
}

char *
tm_diff_describe_rounding (const TmDiff *diff, const TmDiffTensor *tensor)
{
  if (tensor->fault != NULL || !tensor->has_steps)
    return NULL;
  if (tensor->over_half_step <= NEAREST)
    return g_strdup (tensor->rounded_reference ? "nearest rounding, of what the reference is a rounded copy of"
                                               : "nearest rounding");
  return g_strdup_printf ("not nearest rounding: %s",
                          find_reason (tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate)));
}

/* --- The picture -------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmAlignment *alignment;
  const TmAlignedPair *pair;
  gboolean transposed;
  gint serial; /* never the same for two */
} Error;

/* Where the reference lies across, its rows come cheap only many at a time: each thread keeps the last ones it read. */
#define BAND_ELEMENTS 1048576u
typedef struct
{
  gint serial;
  guint64 first_row, n_rows;
  float *values;
} Band;

static void
free_band (gpointer data)
{
  g_free (((Band *) data)->values);
  g_free (data);
}

static GPrivate this_band = G_PRIVATE_INIT (free_band);

static gboolean
fill_band (Band *band, const Error *data, guint64 row, GError **error)
{
  const TmReading *reading = data->pair->reading;
  guint64 rows = CLAMP (BAND_ELEMENTS / reading->columns, 1, 256), first = row / rows * rows;

  if (band->serial == data->serial && row >= band->first_row && row - band->first_row < band->n_rows)
    return TRUE;
  band->serial = 0;
  rows = MIN (rows, reading->rows - first);
  band->values = g_renew (float, band->values, rows * reading->columns);
  if (!tm_reading_decode_rectangle (reading, first, first + rows, 0, reading->columns, band->values, NULL, error))
    return FALSE;
  *band = (Band) { data->serial, first, rows, band->values };
  return TRUE;
}

/* As much of a run as is in one row, or all of it where rows lie as they should. */
static gboolean
decode_reference (const Error *data, guint64 first, gsize max, float *out, gsize *n, GError **error)
{
  const TmReading *reading = data->pair->reading;
  guint64 row = first / reading->columns, column = first % reading->columns;
  Band *band = g_private_get (&this_band);

  *n = max;
  if (!data->transposed || row >= reading->rows || reading->columns > BAND_ELEMENTS)
    return tm_reading_decode (reading, first, max, out, NULL, error);
  if (band == NULL)
    g_private_set (&this_band, band = g_new0 (Band, 1));
  if (!fill_band (band, data, row, error))
    return FALSE;
  *n = (gsize) MIN (max, reading->columns - column);
  memcpy (out, band->values + (row - band->first_row) * reading->columns + column, *n * sizeof *out);
  return TRUE;
}

static gboolean
decode_error (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  const Error *data = tensor->codec_data;
  const TmTensor *candidate = tm_model_tensor (data->alignment->candidate, data->pair->candidate);
  float reference[4096];

  if (!tm_tensor_decode (candidate, TM_QUANTITY_VALUE, first, count, out, NULL, error))
    return FALSE;
  while (count > 0)
    {
      gsize n;

      if (!decode_reference (data, first, MIN (count, G_N_ELEMENTS (reference)), reference, &n, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = out[i] == reference[i] ? 0 : (float) ((double) out[i] - (double) reference[i]);
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

static void
free_error (gpointer data)
{
  tm_alignment_unref (((Error *) data)->alignment);
  g_free (data);
}

static const TmCodec error_codec = { .name = "error", .values = decode_error, .free_data = free_error };

static gint serials;

static TmTensor *
make_error_tensor (TmAlignment *alignment, guint index)
{
  const TmTensor *candidate = tm_model_tensor (alignment->candidate, index);
  const TmAlignedPair *pair = tm_alignment_find (alignment, index);
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->name = g_strdup (candidate->name);
  tensor->dtype = TM_DTYPE_F32;
  tensor->dtype_label = "error";
  tensor->symmetric = -1;
  tensor->rank = candidate->rank;
  tensor->shape = g_memdup2 (candidate->shape, candidate->rank * sizeof *candidate->shape);
  tensor->stride
      = g_memdup2 (candidate->stride, candidate->stride != NULL ? candidate->rank * sizeof *candidate->stride : 0);
  tensor->n_elements = candidate->n_elements;
  tensor->bytes = candidate->bytes;
  tensor->granularity = candidate->granularity != NULL ? tm_granularity_ref (candidate->granularity) : NULL;
  tensor->values = candidate->values; /* alive as long as the alignment, which the model keeps */
  tensor->module = candidate->module;
  if (candidate->fault != NULL)
    tensor->fault = g_strdup (candidate->fault);
  else if (pair == NULL)
    tensor->fault = g_strdup ("the reference has no counterpart");
  else
    {
      Error *data = g_new (Error, 1);

      *data = (Error) { tm_alignment_ref (alignment), pair, tm_reading_is_transposed (pair->reading),
                        g_atomic_int_add (&serials, 1) + 1 };
      tensor->codec = &error_codec;
      tensor->codec_data = data;
    }
  return tensor;
}

TmModel *
tm_diff_new_error_model (TmAlignment *alignment)
{
  TmModel *candidate = alignment->candidate, *model = tm_model_new (candidate->path);

  g_object_set_data_full (G_OBJECT (model), "tm-alignment", tm_alignment_ref (alignment),
                          (GDestroyNotify) tm_alignment_unref);
  for (guint i = 0; i < candidate->tensors->len; i++)
    g_ptr_array_add (model->tensors, make_error_tensor (alignment, i));
  tm_model_seal (model);
  return model;
}
