#include "quant/grouped.h"

#include <string.h>

#include "io/error.h"
#include "quant/half.h"
#include "quant/operand.h"

#define CHUNK 16384u /* elements decoded at once */
#define WINDOW 2048u /* parameters read at once */

const float tm_book_e2m1[16] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6 };

const float *
tm_book_float8 (TmDtype dtype)
{
  static float books[4][256];
  static gsize ready;
  static const TmDtype dtypes[4] = { TM_DTYPE_F8_E4M3, TM_DTYPE_F8_E4M3FNUZ, TM_DTYPE_F8_E5M2, TM_DTYPE_F8_E5M2FNUZ };

  if (g_once_init_enter (&ready))
    {
      guint8 codes[256];

      for (guint c = 0; c < 256; c++)
        codes[c] = (guint8) c;
      for (guint d = 0; d < 4; d++)
        tm_row_kernel_get (dtypes[d]) (codes, 256, books[d]);
      g_once_init_leave (&ready, 1);
    }
  for (guint d = 0; d < 4; d++)
    if (dtypes[d] == dtype)
      return books[d];
  return NULL;
}

gboolean
tm_read_as (const TmStored *stored, TmDtype as, guint64 first, gsize count, float *out, GError **error)
{
  TmStored other;

  if (stored->dtype == as)
    return tm_operand_read_f32 (stored, first, count, out, error);
  other = *stored;
  other.dtype = as;
  return tm_operand_read_f32 (&other, first, count, out, error);
}

/* --- Parameters ------------------------------------------------------------------------------------------------------ */

guint64
tm_grouped_entry (const TmGrouped *grouped, guint64 flat, guint64 *slice)
{
  const guint64 row = flat / grouped->columns, column = flat % grouped->columns;

  *slice = row / grouped->rows;
  if (grouped->fold)
    return column * grouped->grid_rows + row / grouped->block_rows;
  return (*slice * grouped->grid_rows + row % grouped->rows / grouped->block_rows) * grouped->grid_columns
         + column / grouped->block_columns;
}

/* n elements, pitch apart. */
static gboolean
read_strided (const TmStored *stored, TmDtype as, guint64 first, guint64 pitch, gsize n, float *out, GError **error)
{
  const guint size = tm_dtype_get_info (as)->block_bytes;
  guint8 packed[WINDOW * 4];
  TmStored other;

  if (pitch == 1)
    return tm_read_as (stored, as, first, n, out, error);
  if (size > 4 || n > WINDOW)
    { /* F64 scales of a strided grid: one at a time */
      for (gsize i = 0; i < n; i++)
        if (!tm_read_as (stored, as, first + i * pitch, 1, out + i, error))
          return FALSE;
      return TRUE;
    }
  if (!tm_operand_read_band (stored, first * size, pitch * size, n, size, packed, size, error))
    return FALSE;
  { /* the band is what a stored tensor of n elements would be */
    g_autoptr (GBytes) bytes = g_bytes_new_static (packed, n * size);
    g_autoptr (TmSource) source = tm_source_new_bytes ("band", bytes);

    other = *stored;
    other.dtype = as;
    other.source = source;
    other.offset = 0;
    other.bytes = n * size;
    return tm_operand_read_f32 (&other, 0, n, out, error);
  }
}

static gboolean
read_nested (const TmGrouped *grouped, guint64 entry, gsize n, float *out, GError **error)
{
  float book[256], outer = 0;
  guint64 held = G_MAXUINT64;
  guint8 code[WINDOW];

  if (!tm_operand_read_f32 (grouped->nested_book, 0, 256, book, error)
      || !tm_stored_read (grouped->scale, entry, n, code, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      guint64 block = (entry + i) / grouped->nested_block;

      if (block != held && !tm_operand_read_f32 (grouped->nested, block, 1, &outer, error))
        return FALSE;
      held = block;
      out[i] = book[code[i]] * outer;
      out[i] += grouped->nested_offset;
    }
  return TRUE;
}

gboolean
tm_grouped_read_scales (const TmGrouped *grouped, guint64 entry, guint64 pitch, gsize n, float *out, GError **error)
{
  float global = 1;
  guint64 each;

  if (grouped->nested)
    return read_nested (grouped, entry, n, out, error);
  if (!read_strided (grouped->scale, grouped->scale_as, entry, pitch, n, out, error))
    return FALSE;
  if (grouped->global_kind == TM_GLOBAL_NONE)
    return TRUE;
  /* One number for all, or one a slice: runs of entries that share it. */
  each = grouped->global->n_elements > 1 ? grouped->grid_rows * grouped->grid_columns : G_MAXUINT64;
  for (gsize i = 0, k; i < n; i += k)
    {
      guint64 slice = (entry + i * pitch) / each;

      k = (gsize) MIN ((guint64) (n - i), (each - (entry + i * pitch) % each - 1) / pitch + 1);
      if (!tm_operand_read_f32 (grouped->global, slice, 1, &global, error))
        return FALSE;
      if (grouped->global_kind == TM_GLOBAL_FACTOR)
        for (gsize e = i; e < i + k; e++)
          out[e] *= global;
      else
        for (gsize e = i; e < i + k; e++)
          out[e] /= global;
    }
  return TRUE;
}

const float *
tm_grouped_read_book (const TmGrouped *grouped, float buffer[256], GError **error)
{
  if (grouped->book || grouped->form != TM_MAP_BOOK)
    return grouped->book ? grouped->book : buffer;
  return tm_operand_read_f32 (grouped->book_stored, 0, grouped->n_book, buffer, error) ? buffer : NULL;
}

/* What part of the parameters is in memory. */
typedef struct
{
  const TmGrouped *grouped;
  gboolean flat;          /* groups follow each other across rows and slices */
  gboolean scales, zeros; /* which are wanted */
  guint64 first;
  gsize n;
  float scale[WINDOW], zero[WINDOW];
} Window;

typedef struct
{
  gsize n, skip, group;
  const float *scale, *zero;
} Strip;

static void
window_init (Window *window, const TmGrouped *grouped, gboolean scales, gboolean zeros)
{
  window->grouped = grouped;
  window->flat = grouped->fold == 0 && grouped->block_rows == 1 && grouped->grid_rows == grouped->rows
                 && grouped->columns % grouped->block_columns == 0
                 && grouped->columns / grouped->block_columns == grouped->grid_columns;
  window->scales = scales;
  window->zeros = zeros && grouped->zero != NULL;
  window->n = 0;
}

/* As many elements from flat on, at most count, as have their parameters in one run. */
static gboolean
window_next (Window *window, guint64 flat, gsize count, Strip *strip, GError **error)
{
  const TmGrouped *grouped = window->grouped;
  const guint64 column = flat % grouped->columns, skip = column % grouped->block_columns;
  guint64 slice, entry = tm_grouped_entry (grouped, flat, &slice), pitch = grouped->fold ? grouped->grid_rows : 1;
  guint64 n = window->flat ? (guint64) count : MIN ((guint64) count, grouped->columns - column);
  gsize groups = (gsize) MIN ((skip + n - 1) / grouped->block_columns + 1, WINDOW);

  strip->n = (gsize) (groups == WINDOW ? MIN (n, groups * grouped->block_columns - skip) : n);
  strip->skip = (gsize) skip;
  strip->group = (gsize) MIN (grouped->block_columns, G_MAXSIZE);
  if (pitch == 1 && window->n > 0 && entry >= window->first && entry - window->first < window->n
      && groups <= window->n - (gsize) (entry - window->first))
    {
      strip->scale = window->scale + (entry - window->first);
      strip->zero = window->zeros ? window->zero + (entry - window->first) : NULL;
      return TRUE;
    }
  window->n = 0;
  if ((window->scales && !tm_grouped_read_scales (grouped, entry, pitch, groups, window->scale, error))
      || (window->zeros
          && !read_strided (grouped->zero, grouped->zero->dtype, entry, pitch, groups, window->zero, error)))
    return FALSE;
  window->first = entry;
  window->n = groups;
  strip->scale = window->scale;
  strip->zero = window->zeros ? window->zero : NULL;
  return TRUE;
}

/* --- Codes ----------------------------------------------------------------------------------------------------------- */

guint64
tm_grouped_code_bit (const TmGrouped *grouped, guint64 flat)
{
  guint64 word, field;
  guint top;

  if (grouped->plane == 0)
    return grouped->high_first ? (flat ^ 1) * 4 : flat * grouped->bits;
  if (grouped->fold)
    {
      const guint64 row = flat / grouped->columns, column = flat % grouped->columns, g = grouped->fold;
      const guint64 per_row = grouped->rows / g * grouped->columns, q = row % g; /* grouped matrix is [g, per_row] */
      const guint64 step = grouped->plane / per_row;

      field = q / step;
      word = q % step * per_row + column * (grouped->rows / g) + row / g;
    }
  else
    {
      field = flat / grouped->plane;
      word = flat % grouped->plane;
    }
  top = grouped->n_fields - 1;
  return word * 8 * grouped->word_bytes + (grouped->first_is_top ? top - field : field) * grouped->bits;
}

static gboolean
read_dense (const TmGrouped *grouped, guint64 first, gsize n, guint8 *codes, gsize *skip, GError **error)
{
  const TmMapKernels *kernels = tm_map_kernels_get ();
  const guint bits = grouped->bits;
  guint8 packed[CHUNK + 64];
  guint64 from = first / 8 * bits, end = first + n;
  gsize bytes = (gsize) (end / 8 * bits + (end % 8 * bits + 7) / 8 - from), eights = (gsize) (end / 8 - first / 8);

  *skip = (gsize) (first % 8);
  if (bits == 8)
    {
      *skip = 0;
      return tm_stored_read (grouped->codes, first, n, codes, error);
    }
  if (!tm_stored_read (grouped->codes, from, bytes, packed, error))
    return FALSE;
  memset (packed + bytes, 0, 16);
  /* What is left over at the end is unpacked with the zeros behind it. */
  if (grouped->high_first)
    kernels->unpack_high_first (packed, bytes, codes);
  else
    kernels->unpack (packed, eights + 1, bits, codes);
  return TRUE;
}

/* n elements that are one run in their plane (and, folded, in their row). */
static gboolean
read_planes (const TmGrouped *grouped, guint64 first, gsize n, guint8 *codes, GError **error)
{
  const TmMapKernels *kernels = tm_map_kernels_get ();
  guint64 bit = tm_grouped_code_bit (grouped, first);
  const guint word = grouped->word_bytes, mask = (1u << grouped->bits) - 1;
  guint8 packed[CHUNK];
  guint64 at = bit / (8 * word) * word, pitch = grouped->fold ? grouped->rows / grouped->fold : 1;

  if (!tm_operand_read_band (grouped->codes, at, pitch * word, n, word, packed, word, error))
    return FALSE;
  (word == 1 ? kernels->field8 : kernels->field32) (packed, n, (guint) (bit % (8 * word)), mask, codes);
  return TRUE;
}

/* At most CHUNK codes from first on; *n is how many there are, from codes + *skip on. */
static gboolean
read_codes (const TmGrouped *grouped, guint64 first, gsize *n, guint8 *codes, gsize *skip, GError **error)
{
  *n = MIN (*n, CHUNK);
  if (grouped->plane == 0)
    return read_dense (grouped, first, *n, codes, skip, error);
  *skip = 0;
  *n = MIN (*n, CHUNK / grouped->word_bytes);
  *n = (gsize) MIN ((guint64) *n, grouped->fold ? grouped->columns - first % grouped->columns
                                                : grouped->plane - first % grouped->plane);
  return read_planes (grouped, first, *n, codes, error);
}

/* --- The codec ------------------------------------------------------------------------------------------------------- */

static gboolean
values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  const TmGrouped *grouped = tensor->codec_data;
  const TmMapKernels *kernels = tm_map_kernels_get ();
  guint8 codes[CHUNK + 32];
  float buffer[256];
  const float *book = tm_grouped_read_book (grouped, buffer, error);
  Window window;

  if (book == NULL)
    return FALSE;
  window_init (&window, grouped, TRUE, TRUE);
  while (count > 0)
    {
      gsize n = count, skip;

      if (!read_codes (grouped, first, &n, codes, &skip, error))
        return FALSE;
      count -= n;
      for (const guint8 *code = codes + skip; n > 0;)
        {
          Strip strip;

          if (!window_next (&window, first, n, &strip, error))
            return FALSE;
          kernels->map (grouped->form, code, strip.n, strip.skip, strip.group, strip.scale, strip.zero, book,
                        grouped->n_book, out);
          code += strip.n;
          out += strip.n;
          first += strip.n;
          n -= strip.n;
        }
    }
  return TRUE;
}

static gboolean
raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GError **error)
{
  const TmGrouped *grouped = tensor->codec_data;
  guint8 codes[CHUNK + 32];

  while (count > 0)
    {
      gsize n = count, skip;

      if (!read_codes (grouped, first, &n, codes, &skip, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = grouped->is_signed ? (gint8) codes[skip + i] : codes[skip + i];
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

static gboolean
has_parameter (const TmTensor *tensor, TmQuantity quantity)
{
  const TmGrouped *grouped = tensor->codec_data;

  switch ((gint) quantity)
    {
    case TM_QUANTITY_SCALE:
      return TRUE;
    case TM_QUANTITY_ZERO_POINT:
      return grouped->has_zero_point || (grouped->zero && !grouped->zero_is_offset);
    case TM_QUANTITY_OFFSET:
      return grouped->zero && grouped->zero_is_offset;
    default:
      return FALSE;
    }
}

static gboolean
parameter (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, GError **error)
{
  const TmGrouped *grouped = tensor->codec_data;
  const gboolean scale = quantity == TM_QUANTITY_SCALE;
  Window window;

  if (!scale && grouped->zero == NULL)
    {
      for (gsize i = 0; i < count; i++)
        out[i] = 0;
      return TRUE;
    }
  window_init (&window, grouped, scale, !scale);
  while (count > 0)
    {
      Strip strip;
      const float *from;

      if (!window_next (&window, first, count, &strip, error))
        return FALSE;
      from = scale ? strip.scale : strip.zero;
      for (gsize at = 0, g = 0, k; at < strip.n; at += k, g++, strip.skip = 0)
        {
          float x = from[g];

          k = MIN (strip.n - at, strip.group - strip.skip);
          if (scale && grouped->form == TM_MAP_ROW_MAX)
            x *= TM_ONE_127TH;
          if (!scale && grouped->zero_negated)
            x = -x;
          for (gsize i = 0; i < k; i++)
            out[at + i] = x;
        }
      out += strip.n;
      first += strip.n;
      count -= strip.n;
    }
  return TRUE;
}

void
tm_codec_attach_grouped (TmTensor *tensor, const TmGrouped *grouped)
{
  tensor->codec_data = g_memdup2 (grouped, sizeof *grouped);
  tensor->codec = &tm_codec_grouped;
  tensor->code_bits = grouped->bits;
}

const TmCodec tm_codec_grouped = {
  .name = "grouped",
  .values = values,
  .raw = raw,
  .parameter = parameter,
  .has_parameter = has_parameter,
  .explain = tm_grouped_explain,
  .describe_block = tm_grouped_describe_block,
  .free_data = g_free,
};
