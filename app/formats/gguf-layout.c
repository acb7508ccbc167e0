#include "formats/gguf-layout.h"

#include "formats/readers.h"
#include "io/error.h"

typedef struct
{
  TmSource *source;
  TmModel *model;
  const GArray *infos;
  guint64 size;       /* of the file */
  guint64 data_start;
  guint64 alignment;
  gboolean *sized;    /* bytes follow from dtype and shape */
  guint *order;       /* indices of tensors whose start is known, by start, then number */
  guint n_order;
  gboolean laid_out;  /* nothing of the layout has been complained of yet */
} Layout;

#define INFO(layout, i) (&g_array_index ((layout)->infos, TmGgufInfo, (i)))
#define STORED(layout, i) tm_model_stored ((layout)->model, (i))

/* Type ids of GGUF (formats/ggml.md, section 1). */
static const TmDtype known_types[] = {
  [0] = TM_DTYPE_F32,      [1] = TM_DTYPE_F16,      [2] = TM_DTYPE_Q4_0,    [3] = TM_DTYPE_Q4_1,    [6] = TM_DTYPE_Q5_0,
  [7] = TM_DTYPE_Q5_1,     [8] = TM_DTYPE_Q8_0,     [9] = TM_DTYPE_Q8_1,    [10] = TM_DTYPE_Q2_K,   [11] = TM_DTYPE_Q3_K,
  [12] = TM_DTYPE_Q4_K,    [13] = TM_DTYPE_Q5_K,    [14] = TM_DTYPE_Q6_K,   [15] = TM_DTYPE_Q8_K,   [16] = TM_DTYPE_IQ2_XXS,
  [17] = TM_DTYPE_IQ2_XS,  [18] = TM_DTYPE_IQ3_XXS, [19] = TM_DTYPE_IQ1_S,  [20] = TM_DTYPE_IQ4_NL, [21] = TM_DTYPE_IQ3_S,
  [22] = TM_DTYPE_IQ2_S,   [23] = TM_DTYPE_IQ4_XS,  [24] = TM_DTYPE_I8,     [25] = TM_DTYPE_I16,    [26] = TM_DTYPE_I32,
  [27] = TM_DTYPE_I64,     [28] = TM_DTYPE_F64,     [29] = TM_DTYPE_IQ1_M,  [30] = TM_DTYPE_BF16,   [34] = TM_DTYPE_TQ1_0,
  [35] = TM_DTYPE_TQ2_0,   [39] = TM_DTYPE_MXFP4,   [40] = TM_DTYPE_NVFP4,  [41] = TM_DTYPE_Q1_0,   [42] = TM_DTYPE_Q2_0,
};

static const char *
get_removed_name (guint32 type)
{
  switch (type)
    {
    case 4:
      return "Q4_2";
    case 5:
      return "Q4_3";
    case 31:
      return "Q4_0_4_4";
    case 32:
      return "Q4_0_4_8";
    case 33:
      return "Q4_0_8_8";
    case 36:
      return "IQ4_NL_4_4";
    case 37:
      return "IQ4_NL_4_8";
    case 38:
      return "IQ4_NL_8_8";
    default:
      return NULL;
    }
}

/* Block types with words of more than one byte besides their fp16 fields: nobody has settled what a big-endian file does
 * with those (formats/ggml.md, 5.2). */
static gboolean
has_no_byte_order_convention (TmDtype dtype)
{
  switch ((int) dtype)
    {
    case TM_DTYPE_Q5_0:
    case TM_DTYPE_Q5_1:
    case TM_DTYPE_Q8_K:
    case TM_DTYPE_IQ2_XXS:
    case TM_DTYPE_IQ2_XS:
    case TM_DTYPE_IQ3_XXS:
    case TM_DTYPE_IQ1_S:
    case TM_DTYPE_IQ1_M:
    case TM_DTYPE_IQ4_XS:
      return TRUE;
    default:
      return FALSE;
    }
}

static void
set_dtype (Layout *layout, guint i)
{
  const TmGgufInfo *info = INFO (layout, i);
  TmStored *stored = STORED (layout, i);
  const char *removed = get_removed_name (info->type);

  if (info->type < G_N_ELEMENTS (known_types) && known_types[info->type] != TM_DTYPE_UNKNOWN)
    {
      stored->dtype = known_types[info->type];
      return;
    }
  stored->dtype = TM_DTYPE_UNKNOWN;
  if (removed != NULL)
    {
      stored->type_label = g_strdup_printf ("type %u (removed)", info->type);
      tm_stored_mark (layout->model, stored, "removed-dtype", info->at,
                      "tensor \"%s\": type %u (%s) was removed from the format and is not decoded", stored->name, info->type, removed);
    }
  else
    {
      stored->type_label = g_strdup_printf ("type %u", info->type);
      tm_stored_mark (layout->model, stored, "unknown-dtype", info->at, "tensor \"%s\": type %u is unknown and not decoded",
                      stored->name, info->type);
    }
}

/* Shape and dtype → elements and bytes. */
static void
set_size (Layout *layout, guint i)
{
  const TmGgufInfo *info = INFO (layout, i);
  TmStored *stored = STORED (layout, i);
  const TmDtypeInfo *dtype = tm_dtype_get_info (stored->dtype);
  guint64 row = stored->rank > 0 ? stored->shape[stored->rank - 1] : 1;

  if (stored->rank > 4)
    tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "many-dimensions", layout->source, info->at, stored->name,
                          "tensor \"%s\": %u dimensions, common loaders take 4", stored->name, stored->rank);
  if (!tm_stored_measure (stored, TRUE))
    {
      tm_stored_mark (layout->model, stored, "shape-overflow", info->at,
                      "tensor \"%s\": its number of elements does not fit 64 bits", stored->name);
      return;
    }
  for (guint axis = 0; axis < stored->rank; axis++)
    if (stored->shape[axis] > G_MAXINT64)
      {
        stored->n_elements = 0;
        tm_stored_mark (layout->model, stored, "shape-overflow", info->at,
                        "tensor \"%s\": a dimension of %" G_GUINT64_FORMAT " is negative or out of range", stored->name,
                        stored->shape[axis]);
        return;
      }
  if (stored->dtype == TM_DTYPE_UNKNOWN)
    return;
  if (row % dtype->block_elements != 0)
    {
      tm_stored_mark (layout->model, stored, "row-not-blocks", info->at,
                      "tensor \"%s\": a row of %" G_GUINT64_FORMAT " elements is not a multiple of %s's block of %u", stored->name,
                      row, dtype->name, dtype->block_elements);
      return;
    }
  if (!tm_dtype_get_bytes (stored->dtype, stored->n_elements, row, &stored->bytes))
    {
      tm_stored_mark (layout->model, stored, "shape-overflow", info->at,
                      "tensor \"%s\": its number of bytes does not fit 64 bits", stored->name);
      return;
    }
  layout->sized[i] = TRUE;
  if (stored->big_endian && has_no_byte_order_convention (stored->dtype))
    tm_stored_mark (layout->model, stored, "byte-order", info->at,
                    "tensor \"%s\": there is no byte-order convention for %s in a big-endian file", stored->name, dtype->name);
}

static gint
compare_starts (gconstpointer a, gconstpointer b, gpointer data)
{
  Layout *layout = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  guint64 x = STORED (layout, i)->offset, y = STORED (layout, j)->offset;

  if (x != y)
    return x < y ? -1 : 1;
  return i < j ? -1 : i > j;
}

/* Where the data are; tensors whose size does not follow from their dtype reach to the next one. */
static void
place (Layout *layout)
{
  guint n = layout->infos->len;
  guint64 next = layout->size, last = layout->size;

  for (guint i = 0; i < n; i++)
    {
      const TmGgufInfo *info = INFO (layout, i);
      TmStored *stored = STORED (layout, i);

      if (__builtin_add_overflow (layout->data_start, info->offset, &stored->offset))
        {
          stored->offset = G_MAXUINT64;
          layout->laid_out = FALSE;
          tm_stored_mark (layout->model, stored, "past-end", info->at,
                          "tensor \"%s\": its data offset %" G_GUINT64_FORMAT " is far past the end of the file", stored->name,
                          info->offset);
          continue;
        }
      layout->order[layout->n_order++] = i;
    }
  g_qsort_with_data (layout->order, (gint) layout->n_order, sizeof (guint), compare_starts, layout);

  for (guint k = layout->n_order; k-- > 0;)
    {
      guint i = layout->order[k];
      TmStored *stored = STORED (layout, i);

      if (stored->offset != last)
        {
          next = last;
          last = stored->offset;
        }
      if (!layout->sized[i])
        stored->bytes = stored->offset < MIN (next, layout->size) ? MIN (next, layout->size) - stored->offset : 0;
    }
}

static void
check_ranges (Layout *layout)
{
  for (guint k = 0; k < layout->n_order; k++)
    {
      guint i = layout->order[k];
      const TmGgufInfo *info = INFO (layout, i);
      TmStored *stored = STORED (layout, i);
      guint64 end;

      if (stored->offset > layout->size || __builtin_add_overflow (stored->offset, stored->bytes, &end) || end > layout->size)
        {
          if (stored->bytes == 0 && layout->sized[i] && stored->offset - layout->data_start <= layout->alignment)
            continue; /* nothing to read, and no more than the padding is missing */
          layout->laid_out = FALSE;
          stored->available = stored->offset < layout->size ? layout->size - stored->offset : 0;
          tm_stored_mark (layout->model, stored, "past-end", stored->offset,
                          "tensor \"%s\": its %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT
                          " reach past the end of the file (%" G_GUINT64_FORMAT " bytes)",
                          stored->name, stored->bytes, stored->offset, layout->size);
        }
      else if (info->offset % layout->alignment != 0)
        {
          layout->laid_out = FALSE;
          tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "misaligned", layout->source, info->at, stored->name,
                                "tensor \"%s\": its data offset %" G_GUINT64_FORMAT " is not a multiple of the alignment %" G_GUINT64_FORMAT,
                                stored->name, info->offset, layout->alignment);
        }
    }
}

static void
report_overlap (Layout *layout, const TmStored *stored, const TmStored *other)
{
  layout->laid_out = FALSE;
  tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "overlap", layout->source, stored->offset, stored->name,
                        "tensor \"%s\" shares bytes with \"%s\"", stored->name, other->name);
}

static guint64
round_up (guint64 value, guint64 alignment)
{
  guint64 sum;

  return __builtin_add_overflow (value, alignment - 1, &sum) ? G_MAXUINT64 : sum & ~(alignment - 1);
}

/* One sweep by start: overlaps, unused bytes between tensors, and the end of the data. */
static void
sweep (Layout *layout)
{
  g_autofree gboolean *told = g_new0 (gboolean, MAX (layout->infos->len, 1));
  guint64 covered = layout->data_start, n_gaps = 0, gap_bytes = 0, first_gap = 0;
  guint holder = G_MAXUINT; /* the tensor that reaches farthest */
  gboolean any = FALSE, complete = TRUE;

  for (guint k = 0; k < layout->n_order; k++)
    {
      guint i = layout->order[k];
      const TmStored *stored = STORED (layout, i);
      guint64 end;

      if (stored->bytes == 0)
        continue;
      any = TRUE;
      if (__builtin_add_overflow (stored->offset, stored->bytes, &end))
        end = G_MAXUINT64;
      if (stored->offset >= layout->size || end > layout->size)
        complete = FALSE;
      if (stored->offset < covered && holder != G_MAXUINT)
        {
          if (!told[holder])
            report_overlap (layout, STORED (layout, holder), stored);
          report_overlap (layout, stored, STORED (layout, holder));
          told[holder] = told[i] = TRUE;
        }
      else if (stored->offset > round_up (covered, layout->alignment) && stored->offset <= layout->size)
        {
          if (n_gaps++ == 0)
            first_gap = covered;
          gap_bytes += stored->offset - covered;
        }
      if (end > covered || holder == G_MAXUINT)
        {
          covered = MAX (end, covered);
          holder = i;
        }
    }

  if (n_gaps > 0)
    {
      layout->laid_out = FALSE;
      tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "gap", layout->source, first_gap, NULL,
                            "gaps between tensors: %" G_GUINT64_FORMAT " bytes belong to none, the first is byte %" G_GUINT64_FORMAT,
                            gap_bytes, first_gap);
    }
  covered = round_up (covered, layout->alignment);
  if (complete && any && layout->size < covered)
    {
      tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "no-tail-padding", layout->source, layout->size, NULL,
                            "the padding after the last tensor is missing (%" G_GUINT64_FORMAT " bytes)", covered - layout->size);
    }
  else if (layout->size > covered)
    tm_model_add_problem (layout->model, TM_SEVERITY_NOTE, "trailing-bytes", layout->source, covered, NULL,
                          "%" G_GUINT64_FORMAT " bytes after the last tensor", layout->size - covered);
}

/* Common loaders want every tensor exactly where the padded one before it ends. */
static void
check_order (Layout *layout)
{
  guint64 expected = 0;

  for (guint i = 0; i < layout->infos->len; i++)
    {
      const TmGgufInfo *info = INFO (layout, i);
      const TmStored *stored = STORED (layout, i);

      if (!layout->sized[i])
        return;
      if (info->offset != expected)
        {
          tm_model_add_problem (layout->model, TM_SEVERITY_WARNING, "tensor-order", layout->source, info->at, stored->name,
                                "tensor \"%s\": its data do not follow those of the tensor listed before it; common loaders refuse this",
                                stored->name);
          return;
        }
      expected = round_up (expected + stored->bytes, layout->alignment);
    }
}

/* A count that is too high makes the reader take padding for one more info: an unnamed scalar that lies on the first
 * tensor, and a data section that seems to begin too late. */
static gboolean
check_blank (Layout *layout, GError **error)
{
  guint blank = G_MAXUINT;
  gboolean taken = FALSE;

  for (guint i = 0; i < layout->infos->len; i++)
    if (INFO (layout, i)->blank)
      blank = i;
    else if (INFO (layout, i)->offset == 0 && STORED (layout, i)->bytes > 0)
      taken = TRUE;
  if (blank == G_MAXUINT || !taken)
    return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_FORMAT,
               "tensor %u of %u at byte %" G_GUINT64_FORMAT " is blank: the header announces more tensors than it lists", blank + 1,
               layout->infos->len, INFO (layout, blank)->at);
  return FALSE;
}

gboolean
tm_gguf_lay_out (TmSource *source, TmModel *model, const GArray *infos, guint64 header_end, guint64 alignment, GError **error)
{
  Layout layout = {
    .source = source,
    .model = model,
    .infos = infos,
    .size = tm_source_get_size (source),
    .data_start = round_up (header_end, alignment),
    .alignment = alignment,
    .laid_out = TRUE,
  };
  gboolean ok;

  layout.sized = g_new0 (gboolean, MAX (infos->len, 1));
  layout.order = g_new (guint, MAX (infos->len, 1));
  for (guint i = 0; i < infos->len; i++)
    {
      set_dtype (&layout, i);
      set_size (&layout, i);
    }
  place (&layout);
  ok = check_blank (&layout, error);
  if (ok)
    {
      check_ranges (&layout);
      sweep (&layout);
      if (layout.laid_out)
        check_order (&layout);
      tm_model_report_duplicates (model);
    }
  g_free (layout.sized);
  g_free (layout.order);
  return ok;
}
