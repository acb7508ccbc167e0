#include "model/tensor.h"

#include <string.h>

#include "io/error.h"

/* Between two looks at the cancellable. A multiple of every block, so that only the ends of a run are ragged. */
#define PIECE 65536u

#define ROOM 4 /* axes; a model can have half a million tensors, and pieces of memory are what takes time */

typedef struct
{
  TmStored stored;
  guint64 shape[ROOM];
  gint64 stride[ROOM];
  char name[];
} Record;

TmStored *
tm_stored_new (const char *name, gsize length)
{
  Record *record = g_malloc (sizeof *record + length + 1);

  memset (record, 0, sizeof *record);
  memcpy (record->name, name, length);
  record->name[length] = '\0';
  record->stored.one_piece = TRUE;
  record->stored.name = record->name;
  record->stored.shape = record->shape;
  record->stored.stride = record->stride;
  return &record->stored;
}

/* Whether a field of a record from tm_stored_new() is in it; name, shape and stride of any other were allocated. */
static gboolean
is_inside (const TmStored *stored, gconstpointer field)
{
  const Record *record = (const Record *) stored;

  return stored->one_piece && (field == record->name || field == record->shape || field == record->stride);
}

void
tm_stored_set_rank (TmStored *stored, guint rank)
{
  Record *record = (Record *) stored;
  const gboolean fits = stored->one_piece && rank <= ROOM;

  if (!is_inside (stored, stored->shape))
    g_free (stored->shape);
  if (!is_inside (stored, stored->stride))
    g_free (stored->stride);
  stored->rank = rank;
  stored->shape = fits ? record->shape : g_new0 (guint64, MAX (rank, 1));
  stored->stride = fits ? record->stride : g_new0 (gint64, MAX (rank, 1));
  if (fits)
    {
      memset (record->shape, 0, sizeof record->shape);
      memset (record->stride, 0, sizeof record->stride);
    }
}

void
tm_stored_free (TmStored *stored)
{
  if (stored == NULL)
    return;
  if (!is_inside (stored, stored->name))
    g_free (stored->name);
  g_free (stored->type_label);
  if (!is_inside (stored, stored->shape))
    g_free (stored->shape);
  if (!is_inside (stored, stored->stride))
    g_free (stored->stride);
  g_clear_pointer (&stored->source, tm_source_unref);
  g_free (stored->device);
  g_free (stored->fault);
  g_free (stored);
}

void
tm_tensor_add_operand (TmTensor *tensor, TmOperandRole role, guint stored)
{
  const TmOperand operand = { role, stored };

  if (tensor->n_operands == 0)
    tensor->operand = &tensor->only_operand;
  else if (tensor->operand == &tensor->only_operand)
    {
      tensor->operand = g_new (TmOperand, 2);
      tensor->operand[0] = tensor->only_operand;
    }
  else
    tensor->operand = g_renew (TmOperand, tensor->operand, tensor->n_operands + 1);
  tensor->operand[tensor->n_operands++] = operand;
}

void
tm_tensor_free (TmTensor *tensor)
{
  if (tensor == NULL)
    return;
  if (tensor->codec && tensor->codec->free_data && tensor->codec_data)
    tensor->codec->free_data (tensor->codec_data);
  g_clear_pointer (&tensor->granularity, tm_granularity_unref);
  if (!tensor->shares_stored)
    {
      g_free (tensor->name);
      g_free (tensor->shape);
      g_free (tensor->stride);
    }
  if (tensor->operand != &tensor->only_operand)
    g_free (tensor->operand);
  g_free (tensor->fault);
  g_free (tensor);
}

gboolean
tm_tensor_is_readable (const TmTensor *tensor)
{
  return tensor->codec != NULL && (tensor->fault == NULL || tensor->available > 0);
}

/* A partial download has a fault and some elements: those below available. */
static gboolean
check_codec (const TmTensor *tensor, guint64 last, GError **error)
{
  if (tm_tensor_is_readable (tensor) && (tensor->fault == NULL || last < tensor->available))
    return TRUE;
  /* A dtype that nobody here decodes is not damage. */
  g_set_error_literal (error, TM_ERROR, tensor->dtype == TM_DTYPE_UNKNOWN ? TM_ERROR_UNSUPPORTED : TM_ERROR_TENSOR,
                       tensor->fault ? tensor->fault : "no decoder for this dtype");
  return FALSE;
}

static gboolean
check_run (const TmTensor *tensor, guint64 first, gsize count, GError **error)
{
  if (tm_tensor_is_readable (tensor) && (first > tensor->n_elements || count > tensor->n_elements - first))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                   "elements %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " are outside the tensor's %" G_GUINT64_FORMAT,
                   first, first + (guint64) count, tensor->n_elements);
      return FALSE;
    }
  return check_codec (tensor, count > 0 ? first + count - 1 : 0, error);
}

static const char *
quantity_name (TmQuantity quantity)
{
  static const char *const names[TM_N_QUANTITIES] = { "value", "raw", "scale", "zero point", "offset" };

  return (guint)quantity < TM_N_QUANTITIES ? names[quantity] : "unknown";
}

static gboolean
check_quantity (const TmTensor *tensor, TmQuantity quantity, GError **error)
{
  if (tm_tensor_has_quantity (tensor, quantity))
    return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_QUANTITY, "dtype %s has no %s",
               tensor->dtype_label ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype), quantity_name (quantity));
  return FALSE;
}

gboolean
tm_tensor_has_quantity (const TmTensor *tensor, TmQuantity quantity)
{
  const TmCodec *codec = tensor->codec;

  if (!tm_tensor_is_readable (tensor))
    return FALSE;
  switch (quantity)
    {
    case TM_QUANTITY_VALUE:
      return codec->values != NULL;
    case TM_QUANTITY_RAW:
      return codec->raw != NULL;
    case TM_QUANTITY_SCALE:
    case TM_QUANTITY_ZERO_POINT:
    case TM_QUANTITY_OFFSET:
      return codec->parameter != NULL && codec->has_parameter != NULL && codec->has_parameter (tensor, quantity);
    case TM_N_QUANTITIES:
    default:
      return FALSE;
    }
}

/* Raw codes as float32, through a buffer on the stack. */
static gboolean
decode_raw_piece (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  gint32 codes[1024];

  while (count > 0)
    {
      gsize n = MIN (count, G_N_ELEMENTS (codes) - (gsize)(first % G_N_ELEMENTS (codes)));

      if (!tensor->codec->raw (tensor, first, n, codes, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = (float)codes[i];
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

gboolean
tm_tensor_decode (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out,
                  GCancellable *cancellable, GError **error)
{
  if (!check_run (tensor, first, count, error) || !check_quantity (tensor, quantity, error))
    return FALSE;
  while (count > 0)
    {
      gsize n = MIN (count, PIECE - (gsize)(first % PIECE));
      gboolean ok;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (quantity == TM_QUANTITY_VALUE)
        ok = tensor->codec->values (tensor, first, n, out, error);
      else if (quantity == TM_QUANTITY_RAW)
        ok = decode_raw_piece (tensor, first, n, out, error);
      else
        ok = tensor->codec->parameter (tensor, quantity, first, n, out, error);
      if (!ok)
        return FALSE;
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

gboolean
tm_tensor_decode_rectangle (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize n_rows, gsize n_columns,
                            float *out, GCancellable *cancellable, GError **error)
{
  guint64 length = tensor->rank ? tensor->shape[tensor->rank - 1] : 1, last;

  if (n_rows == 0 || n_columns == 0)
    return check_run (tensor, first, 0, error);
  if (length == 0 || first % length + n_columns > length || __builtin_mul_overflow (length, (guint64)n_rows - 1, &last)
      || __builtin_add_overflow (last, first, &last))
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_ADDRESS, "a rectangle leaves its rows");
      return FALSE;
    }
  if (!check_run (tensor, last, n_columns, error) || !check_quantity (tensor, quantity, error))
    return FALSE;
  if (tensor->codec->rectangle == NULL)
    {
      for (gsize r = 0; r < n_rows; r++)
        if (!tm_tensor_decode (tensor, quantity, first + r * length, n_columns, out + r * n_columns, cancellable, error))
          return FALSE;
      return TRUE;
    }
  for (gsize r = 0; r < n_rows;)
    {
      gsize n = CLAMP (4 * PIECE / n_columns, 1, n_rows - r);

      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !tensor->codec->rectangle (tensor, quantity, first + r * length, n, n_columns, out + r * n_columns, error))
        return FALSE;
      r += n;
    }
  return TRUE;
}

gboolean
tm_tensor_decode_raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GCancellable *cancellable,
                      GError **error)
{
  if (!check_run (tensor, first, count, error) || !check_quantity (tensor, TM_QUANTITY_RAW, error))
    return FALSE;
  while (count > 0)
    {
      gsize n = MIN (count, PIECE - (gsize)(first % PIECE));

      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !tensor->codec->raw (tensor, first, n, out, error))
        return FALSE;
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

gboolean
tm_tensor_decode_native (const TmTensor *tensor, guint64 first, gsize count, gpointer out, GCancellable *cancellable,
                         GError **error)
{
  gsize size = tm_tensor_get_native_size (tensor);
  guint8 *to = out;

  if (!check_run (tensor, first, count, error))
    return FALSE;
  while (count > 0)
    {
      gsize n = MIN (count, PIECE - (gsize)(first % PIECE));

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      /* A quantized tensor has no element of its own: its native number is the float32 value. */
      if (!(tensor->codec->native ? tensor->codec->native (tensor, first, n, to, error)
                                  : tensor->codec->values (tensor, first, n, (float *)(gpointer)to, error)))
        return FALSE;
      to += n * size;
      first += n;
      count -= n;
    }
  return TRUE;
}

TmDtype
tm_tensor_get_native_dtype (const TmTensor *tensor)
{
  if (tensor->quantized)
    return TM_DTYPE_F32;
  switch ((gint)tensor->dtype)
    {
    case TM_DTYPE_F16:
    case TM_DTYPE_BF16:
    case TM_DTYPE_F8_E4M3:
    case TM_DTYPE_F8_E4M3FNUZ:
    case TM_DTYPE_F8_E5M2:
    case TM_DTYPE_F8_E5M2FNUZ:
    case TM_DTYPE_F8_E8M0:
    case TM_DTYPE_F6_E2M3:
    case TM_DTYPE_F6_E3M2:
    case TM_DTYPE_F4:
      return TM_DTYPE_F32;
    case TM_DTYPE_I4:
    case TM_DTYPE_I2:
      return TM_DTYPE_I8;
    case TM_DTYPE_U4:
    case TM_DTYPE_U2:
      return TM_DTYPE_U8;
    default:
      return tensor->dtype;
    }
}

gsize
tm_tensor_get_native_size (const TmTensor *tensor)
{
  return tm_dtype_get_info (tm_tensor_get_native_dtype (tensor))->block_bytes;
}

static gboolean
check_index (const TmTensor *tensor, const guint64 *index, GError **error)
{
  for (guint axis = 0; axis < tensor->rank; axis++)
    if (index[axis] >= tensor->shape[axis])
      {
        g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                     "index %" G_GUINT64_FORMAT " is outside axis %u, which has %" G_GUINT64_FORMAT, index[axis], axis,
                     tensor->shape[axis]);
        return FALSE;
      }
  return TRUE;
}

gboolean
tm_tensor_explain (const TmTensor *tensor, const guint64 *index, TmScalar *scalar, GError **error)
{
  if (!check_codec (tensor, 0, error) || !check_index (tensor, index, error)
      || !check_codec (tensor, tm_tensor_flatten (tensor, index), error))
    return FALSE;
  tm_scalar_clear (scalar);
  scalar->tensor = tensor;
  scalar->rank = tensor->rank;
  scalar->index = g_new (guint64, MAX (tensor->rank, 1));
  for (guint axis = 0; axis < tensor->rank; axis++)
    scalar->index[axis] = index[axis];
  if (tensor->codec->explain (tensor, tm_tensor_flatten (tensor, index), scalar, error))
    return TRUE;
  tm_scalar_clear (scalar);
  return FALSE;
}

gboolean
tm_tensor_describe_block (const TmTensor *tensor, const guint64 *index, TmPacking *packing, GError **error)
{
  tm_packing_clear (packing);
  if (!check_codec (tensor, 0, error) || !check_index (tensor, index, error)
      || !check_codec (tensor, tm_tensor_flatten (tensor, index), error))
    return FALSE;
  if (tensor->codec->describe_block == NULL)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_QUANTITY, "%s has no block or word to show", tensor->dtype_label);
      return FALSE;
    }
  if (tensor->codec->describe_block (tensor, tm_tensor_flatten (tensor, index), packing, error))
    return TRUE;
  tm_packing_clear (packing);
  return FALSE;
}

guint64
tm_tensor_flatten (const TmTensor *tensor, const guint64 *index)
{
  guint64 flat = 0;

  for (guint axis = 0; axis < tensor->rank; axis++)
    flat = flat * tensor->shape[axis] + index[axis];
  return flat;
}

void
tm_tensor_unflatten (const TmTensor *tensor, guint64 flat, guint64 *index)
{
  for (guint axis = tensor->rank; axis-- > 0;)
    {
      guint64 length = MAX (tensor->shape[axis], 1);

      index[axis] = flat % length;
      flat /= length;
    }
}

double
tm_tensor_get_bits_per_weight (const TmTensor *tensor)
{
  return tensor->n_elements ? (double)tensor->bytes * 8 / (double)tensor->n_elements : 0;
}
