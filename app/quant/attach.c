/* Which codec a tensor gets, and its granularity: one operand, a plain dtype or a ggml block type. */
#include "io/error.h"
#include "quant/block-type.h"
#include "quant/quant-private.h"

gboolean
tm_stored_read (const TmStored *stored, guint64 first, gsize count, gpointer to, GError **error)
{
  guint64 end, offset;

  if (stored->source == NULL)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_TENSOR, "the file that holds it is missing");
      return FALSE;
    }
  if (__builtin_add_overflow (first, (guint64)count, &end) || end > stored->bytes
      || __builtin_add_overflow (stored->offset, first, &offset))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
                   "bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " are past its %" G_GUINT64_FORMAT " bytes",
                   first, first + (guint64)count, stored->bytes);
      return FALSE;
    }
  return count == 0 || tm_source_read (stored->source, offset, to, count, error);
}

void
tm_explain_group (const TmTensor *tensor, TmScalar *scalar)
{
  const TmGranularity *granularity = tensor->granularity;
  g_autofree guint64 *index = NULL;
  guint64 flat;

  if (granularity == NULL)
    return;
  index = g_new (guint64, MAX (granularity->rank, 1));
  flat = tm_tensor_flatten (tensor, scalar->index);
  for (guint axis = granularity->rank; axis-- > 0;)
    {
      index[axis] = flat % MAX (granularity->shape[axis], 1);
      flat /= MAX (granularity->shape[axis], 1);
    }
  scalar->has_group = TRUE;
  scalar->group_level = granularity->n_levels - 1;
  scalar->group_rank = granularity->rank;
  scalar->group_start = g_new (guint64, MAX (granularity->rank, 1));
  scalar->group_end = g_new (guint64, MAX (granularity->rank, 1));
  tm_granularity_get_block (granularity, scalar->group_level, index, scalar->group_start, scalar->group_end);
}

static TmGranularity *
block_granularity (const TmTensor *tensor)
{
  static const char *const super_block[] = { "super-block", "group" }, *const block[] = { "block", "group" };
  guint elements = tm_dtype_get_info (tensor->dtype)->block_elements;
  guint group = tm_block_type_get (tensor->dtype)->granularity, n_levels = 0;
  g_autofree guint64 *extents = g_new (guint64, 2 * tensor->rank);

  for (guint axis = 0; axis < 2 * tensor->rank; axis++)
    extents[axis] = 1;
  /* NVFP4's 64 are only how four scales lie together: nothing is shared by all of them. */
  if (group < elements && tensor->dtype != TM_DTYPE_NVFP4)
    extents[n_levels++ * tensor->rank + tensor->rank - 1] = elements;
  extents[n_levels++ * tensor->rank + tensor->rank - 1] = group;
  return tm_granularity_new (tensor->rank, tensor->shape, FALSE, n_levels, extents,
                             n_levels == 2 ? super_block : block);
}

static void
set_fault (TmTensor *tensor, char *fault)
{
  g_free (tensor->fault);
  tensor->fault = fault;
}

void
tm_codec_attach_simple (TmTensor *tensor)
{
  const TmStored *stored = tensor->values;
  const TmDtypeInfo *info = tm_dtype_get_info (stored->dtype);

  tensor->dtype = stored->dtype;
  tensor->dtype_label = stored->type_label ? stored->type_label : info->name;
  tensor->quantized = info->quantized;
  tensor->scheme = info->quantized ? "ggml" : NULL;
  if (tensor->fault == NULL && stored->fault)
    tensor->fault = g_strdup (stored->fault);
  if (info->quantized && tensor->rank > 0 && tensor->granularity == NULL)
    tensor->granularity = block_granularity (tensor);
  tensor->code_bits = info->quantized ? info->code_bits : 0;
  tensor->group_size = info->quantized ? tm_block_type_get (tensor->dtype)->granularity : 0;
  tensor->symmetric = -1;
  if (info->quantized && tm_block_type_get (tensor->dtype)->zero_point >= 0)
    tensor->symmetric = tm_block_codec_get (tensor->dtype)->offset == NULL ? 1 : 0;
  if (tensor->fault && stored->available == 0)
    return;
  if (info->bits == 0)
    set_fault (tensor, g_strdup_printf ("dtype %s is not decoded", tensor->dtype_label));
  else if (!info->quantized)
    tensor->codec = &tm_codec_plain;
  else if (tensor->rank == 0 || tensor->shape[tensor->rank - 1] % info->block_elements != 0)
    set_fault (tensor, g_strdup_printf ("its rows are not a whole number of blocks of %u", info->block_elements));
  else if (stored->big_endian && !tm_block_type_get (stored->dtype)->big_endian_known)
    set_fault (tensor, g_strdup_printf ("no byte order convention is known for big-endian %s", info->name));
  else
    tensor->codec = &tm_codec_ggml;

  /* Whole blocks, or whole elements, of what a partial download holds. */
  if (tensor->fault && tensor->codec != NULL)
    {
      if (info->block_bytes > 0)
        tensor->available = stored->available / info->block_bytes * info->block_elements;
      else if (info->bits > 0)
        tensor->available = stored->available / info->bits * 8;
      tensor->available = MIN (tensor->available, tensor->n_elements);
    }
}

gboolean
tm_codec_attach_bytes (TmTensor *tensor)
{
  const TmStored *stored = tensor->values;

  if (stored->source == NULL || stored->bytes == 0)
    return FALSE;
  if (tensor->shares_stored)
    {
      tensor->name = g_strdup (tensor->name);
      tensor->shares_stored = FALSE;
    }
  else
    {
      g_free (tensor->shape);
      g_free (tensor->stride);
    }
  g_clear_pointer (&tensor->granularity, tm_granularity_unref);
  g_clear_pointer (&tensor->fault, g_free);
  tensor->rank = 1;
  tensor->shape = g_new (guint64, 1);
  tensor->shape[0] = tensor->n_elements = tensor->bytes = stored->bytes;
  tensor->stride = g_new (gint64, 1);
  tensor->stride[0] = 1;
  tensor->dtype = TM_DTYPE_U8;
  tensor->dtype_label = tm_dtype_get_name (TM_DTYPE_U8);
  tensor->quantized = FALSE;
  tensor->scheme = NULL;
  tensor->codec = &tm_codec_plain;
  return TRUE;
}

TmTensor *
tm_tensor_new_stored (TmModel *model, guint index)
{
  const TmStored *stored = tm_model_stored (model, index);
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->shares_stored = TRUE;
  tensor->name = stored->name;
  tensor->ordinal = stored->ordinal;
  tensor->rank = stored->rank;
  tensor->shape = stored->shape;
  tensor->stride = stored->stride;
  tensor->n_elements = stored->n_elements;
  tensor->bytes = stored->bytes;
  tm_tensor_add_operand (tensor, TM_ROLE_VALUES, index);
  tensor->values = stored;
  tm_codec_attach_simple (tensor);
  return tensor;
}
