/* The codec of ggml's block types: runs of elements that may begin and end inside a block.
 *
 * Blocks never cross rows and rows hold whole blocks, so in a row-major tensor the block of flat element f is simply
 * f / block_elements. */
#include "io/error.h"
#include "quant/block-type.h"
#include "quant/quant-private.h"

#define MAX_BLOCK_ELEMENTS 256
#define MAX_BLOCK_BYTES 292

typedef enum
{
  PART_VALUE,
  PART_RAW,
  PART_SCALE,
  PART_OFFSET
} Part;

typedef struct
{
  float companion_value; /* one factor for the whole tensor */
  float *companion;      /* or one an outermost index (expert) */
  guint64 n_companions;
} NvfpData;

static void
decode_blocks (const TmBlockCodec *codec, Part part, const guint8 *packed, gsize n_blocks, gpointer out)
{
  switch (part)
    {
    case PART_VALUE:
      codec->values (packed, n_blocks, out);
      break;
    case PART_RAW:
      codec->raw (packed, n_blocks, out);
      break;
    case PART_SCALE:
      codec->scale (packed, n_blocks, out);
      break;
    case PART_OFFSET:
      codec->offset (packed, n_blocks, out);
      break;
    }
}

/* Values, raw codes, scales and offsets are all four bytes an element. */
static gboolean
decode (const TmTensor *tensor, Part part, guint64 first, gsize count, gpointer to, GError **error)
{
  const TmBlockCodec *codec = tm_block_codec_get (tensor->dtype);
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  const guint elements = info->block_elements, bytes = info->block_bytes;
  guint8 packed[TM_READ_BYTES];
  guint32 one[MAX_BLOCK_ELEMENTS];
  guint32 *out = to;

  while (count > 0)
    {
      guint64 block = first / elements, last = (first + count - 1) / elements;
      gsize n_blocks = (gsize)MIN (last - block + 1, TM_READ_BYTES / bytes), done = 0;
      gsize skip = (gsize)(first % elements);

      if (!tm_stored_read (tensor->values, block * bytes, n_blocks * bytes, packed, error))
        return FALSE;
      if (tensor->values->big_endian)
        tm_block_swap_fields (tensor->dtype, packed, n_blocks);
      while (done < n_blocks)
        {
          if (skip == 0 && count >= elements)
            {
              gsize whole = MIN (n_blocks - done, count / elements);

              decode_blocks (codec, part, packed + done * bytes, whole, out);
              out += whole * elements;
              first += whole * elements;
              count -= whole * elements;
              done += whole;
            }
          else
            {
              gsize n = MIN (elements - skip, count);

              decode_blocks (codec, part, packed + done * bytes, 1, one);
              memcpy (out, one + skip, n * sizeof *out);
              out += n;
              first += n;
              count -= n;
              done++;
              skip = 0;
            }
        }
    }
  return TRUE;
}

/* --- NVFP4's companion ---------------------------------------------------------------------------------------------
 */

static float
companion_at (const TmTensor *tensor, guint64 flat)
{
  const NvfpData *data = tensor->codec_data;
  guint64 each;

  if (data == NULL)
    return 1;
  if (data->companion == NULL)
    return data->companion_value;
  each = tensor->n_elements / data->n_companions;
  return data->companion[MIN (flat / MAX (each, 1), data->n_companions - 1)];
}

static void
multiply_companion (const TmTensor *tensor, guint64 first, gsize count, float *out)
{
  const NvfpData *data = tensor->codec_data;
  guint64 each;

  if (data == NULL)
    return;
  each = data->companion ? MAX (tensor->n_elements / data->n_companions, 1) : G_MAXUINT64;
  while (count > 0)
    {
      gsize n = (gsize)MIN ((guint64)count, each - first % each);
      float factor = companion_at (tensor, first);

      for (gsize i = 0; i < n; i++)
        out[i] *= factor;
      out += n;
      first += n;
      count -= n;
    }
}

static void
free_data (gpointer pointer)
{
  NvfpData *data = pointer;

  g_free (data->companion);
  g_free (data);
}

void
tm_codec_attach_nvfp4_companion (TmTensor *tensor, const TmStored *companion)
{
  g_autoptr (GError) error = NULL;
  NvfpData *data;
  guint64 n = companion->n_elements;

  if (tensor->codec != &tm_codec_ggml || tensor->dtype != TM_DTYPE_NVFP4 || tensor->fault)
    return;
  if (companion->fault)
    {
      tensor->fault = g_strdup_printf ("its scale %s: %s", companion->name, companion->fault);
      return;
    }
  /* One factor, or one an expert: an axis-0 entry each. */
  if (companion->dtype != TM_DTYPE_F32 || n == 0 || (n != 1 && (tensor->rank < 3 || n != tensor->shape[0])))
    {
      tensor->fault = g_strdup_printf ("its scale %s fits neither the tensor nor its experts", companion->name);
      return;
    }
  data = g_new0 (NvfpData, 1);
  data->n_companions = n;
  data->companion = g_try_new (float, n);
  if (data->companion == NULL || n > G_MAXSIZE / sizeof (float)
      || !tm_stored_read (companion, 0, (gsize)n * sizeof (float), data->companion, &error))
    {
      tensor->fault = g_strdup_printf ("its scale %s cannot be read: %s", companion->name,
                                       error ? error->message : "out of memory");
      free_data (data);
      return;
    }
  for (guint64 i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, data->companion + i, sizeof bits);
      bits = companion->big_endian ? GUINT32_FROM_BE (bits) : GUINT32_FROM_LE (bits);
      memcpy (data->companion + i, &bits, sizeof bits);
    }
  if (n == 1)
    {
      data->companion_value = data->companion[0];
      g_clear_pointer (&data->companion, g_free);
    }
  if (tensor->codec_data)
    free_data (tensor->codec_data);
  tensor->codec_data = data;
}

/* --- The codec -------------------------------------------------------------------------------------------------------
 */

static gboolean
values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  if (!decode (tensor, PART_VALUE, first, count, out, error))
    return FALSE;
  multiply_companion (tensor, first, count, out);
  return TRUE;
}

static gboolean
raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GError **error)
{
  return decode (tensor, PART_RAW, first, count, out, error);
}

static gboolean
has_parameter (const TmTensor *tensor, TmQuantity quantity)
{
  const TmBlockType *type = tm_block_type_get (tensor->dtype);

  if (quantity == TM_QUANTITY_ZERO_POINT)
    return type->form == TM_FORM_SL && type->zero_point >= 0;
  if (quantity == TM_QUANTITY_OFFSET)
    return type->form == TM_FORM_SL_PLUS_O;
  return quantity == TM_QUANTITY_SCALE;
}

static gboolean
parameter (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, GError **error)
{
  if (quantity == TM_QUANTITY_ZERO_POINT)
    {
      float zero_point = (float)tm_block_type_get (tensor->dtype)->zero_point;

      for (gsize i = 0; i < count; i++)
        out[i] = zero_point;
      return TRUE;
    }
  if (quantity == TM_QUANTITY_OFFSET)
    return decode (tensor, PART_OFFSET, first, count, out, error);
  if (!decode (tensor, PART_SCALE, first, count, out, error))
    return FALSE;
  multiply_companion (tensor, first, count, out);
  return TRUE;
}

static gboolean
explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  guint64 block = flat / info->block_elements;
  guint8 packed[MAX_BLOCK_BYTES];

  if (!tm_stored_read (tensor->values, block * info->block_bytes, info->block_bytes, packed, error))
    return FALSE;
  if (tensor->values->big_endian)
    tm_block_swap_fields (tensor->dtype, packed, 1);
  tm_block_explain (tensor->dtype, packed, (guint)(flat % info->block_elements), tensor->values->source,
                    tensor->values->offset + block * info->block_bytes, scalar);
  if (tensor->dtype == TM_DTYPE_NVFP4)
    {
      float factor = companion_at (tensor, flat), block_value = scalar->value.as.f32;

      tm_scalar_add_term_f32 (scalar, "factor", factor);
      if (tensor->codec_data)
        {
          double exact = (double)block_value * (double)factor;

          scalar->formula = "d × codebook[q] × factor";
          scalar->scale = (double)((float)scalar->scale * factor);
          scalar->value.as.f32 = block_value * factor;
          /* 8 significant bits times 24: exact in binary64 */
          scalar->has_exact = exact == exact && exact != (double)scalar->value.as.f32;
          scalar->exact = scalar->has_exact ? exact : 0;
        }
    }
  tm_explain_group (tensor, scalar);
  return TRUE;
}

static gboolean
describe_block (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  guint64 block = flat / info->block_elements;
  guint8 packed[MAX_BLOCK_BYTES];

  if (!tm_stored_read (tensor->values, block * info->block_bytes, info->block_bytes, packed, error))
    return FALSE;
  if (tensor->values->big_endian)
    tm_block_swap_fields (tensor->dtype, packed, 1);
  tm_block_describe (tensor->dtype, packed, (guint)(flat % info->block_elements), tensor->values,
                     block * info->block_bytes, packing);
  return TRUE;
}

const TmCodec tm_codec_ggml = {
  .name = "ggml",
  .values = values,
  .raw = raw,
  .parameter = parameter,
  .has_parameter = has_parameter,
  .explain = explain,
  .free_data = free_data,
  .describe_block = describe_block,
};
