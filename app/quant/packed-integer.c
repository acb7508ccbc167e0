#include "quant/packed-integer.h"

#include <string.h>

#include "io/error.h"
#include "quant/kernels.h"
#include "quant/quant-private.h"

enum
{
  STRIPE_WORDS,
  STRIPE_CODES,
  STRIPE_SCALES
};

/* --- Groups and their parameters -------------------------------------------------------------------------------------- */

guint
tm_packed_integer_get_group (const TmPackedInteger *data, guint64 column)
{
  return data->index ? data->index[column] : (guint) (column / data->group_size);
}

guint
tm_packed_integer_locate_zero (const TmPackedInteger *data, guint64 slice, guint64 row, guint64 group,
                               TmCodePiece pieces[TM_MAX_CODE_PIECES])
{
  const TmGroupParameter *zero = &data->zero;

  if (zero->kind != TM_PARAMETER_CODES)
    return 0;
  return zero->lines_are_groups ? tm_layout_locate (&zero->layout, slice, group, row, pieces)
                                : tm_layout_locate (&zero->layout, slice, row, group, pieces);
}

static gboolean
read_elements (const TmGroupParameter *p, guint64 slice, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
               float *out, GError **error)
{
  const guint64 base = slice * p->slice_step + row * p->row_step + group * p->group_step;
  float few[256];

  if (p->row_step == 1)
    { /* [group, row]: a run of rows for each group */
      for (gsize g = 0; g < n_groups; g++)
        for (gsize r = 0; r < n_rows; r += G_N_ELEMENTS (few))
          {
            gsize n = MIN (n_rows - r, G_N_ELEMENTS (few));

            if (!tm_operand_read_f32 (p->stored, base + g * p->group_step + r, n, few, error))
              return FALSE;
            for (gsize i = 0; i < n; i++)
              out[(r + i) * n_groups + g] = few[i];
          }
    }
  else if (p->group_step == 1 && p->row_step == n_groups)
    {
      if (!tm_operand_read_f32 (p->stored, base, n_rows * n_groups, out, error))
        return FALSE;
    }
  else
    for (gsize r = 0; r < n_rows; r++)
      {
        float *to = out + r * n_groups;

        if (r > 0 && p->row_step == 0)
          {
            memcpy (to, out, n_groups * sizeof *out);
            continue;
          }
        if (p->group_step == 1)
          {
            if (!tm_operand_read_f32 (p->stored, base + r * p->row_step, n_groups, to, error))
              return FALSE;
            continue;
          }
        for (gsize g = 0; g < n_groups; g++)
          if (!tm_operand_read_f32 (p->stored, base + r * p->row_step + g * p->group_step, 1, to + g, error))
            return FALSE;
      }
  if (p->shift != 0)
    for (gsize i = 0; i < n_rows * n_groups; i++)
      out[i] += p->shift;
  return TRUE;
}

static gboolean
read_codes (const TmGroupParameter *p, guint64 slice, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
            float *out, GError **error)
{
  g_autofree guint8 *codes = g_malloc (n_rows * n_groups);
  const guint mask = (1u << p->layout.bits) - 1;

  if (p->lines_are_groups)
    {
      if (!tm_layout_read (&p->layout, p->stored, slice, group, n_groups, row, n_rows, codes, error))
        return FALSE;
      for (gsize g = 0; g < n_groups; g++)
        for (gsize r = 0; r < n_rows; r++)
          out[r * n_groups + g] = (float) ((codes[g * n_rows + r] + p->add) & mask);
      return TRUE;
    }
  if (!tm_layout_read (&p->layout, p->stored, slice, row, n_rows, group, n_groups, codes, error))
    return FALSE;
  for (gsize i = 0; i < n_rows * n_groups; i++)
    out[i] = (float) ((codes[i] + p->add) & mask);
  return TRUE;
}

/* EXL2: scale = (s + 1)² × max / 256, s a nibble; the zero point is the middle of the group's own width. */
static gboolean
read_ragged (const TmPackedInteger *data, gboolean is_scale, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
             float *out, GError **error)
{
  g_autofree guint8 *codes = g_malloc (n_rows * n_groups);

  if (is_scale
      && !tm_layout_read (&data->scale.layout, data->scale.stored, 0, group, n_groups, row, n_rows, codes, error))
    return FALSE;
  for (gsize g = 0; g < n_groups; g++)
    for (gsize r = 0; r < n_rows; r++)
      {
        const guint s = is_scale ? codes[g * n_rows + r] + 1u : 0;

        out[r * n_groups + g] = is_scale ? (float) (s * s) * data->ragged->scale_max[group + g] / 256
                                         : (float) (1u << (data->ragged->bits[group + g] - 1));
      }
  return TRUE;
}

gboolean
tm_packed_integer_read_parameter (const TmPackedInteger *data, const TmGroupParameter *p, guint64 slice, guint64 row,
                                  gsize n_rows, guint64 group, gsize n_groups, float *out, GError **error)
{
  if (data->ragged)
    return read_ragged (data, p == &data->scale, row, n_rows, group, n_groups, out, error);
  switch (p->kind)
    {
    case TM_PARAMETER_ELEMENTS:
      return read_elements (p, slice, row, n_rows, group, n_groups, out, error);
    case TM_PARAMETER_CODES:
      return read_codes (p, slice, row, n_rows, group, n_groups, out, error);
    case TM_PARAMETER_CONSTANT:
    case TM_PARAMETER_NONE:
    default:
      for (gsize i = 0; i < n_rows * n_groups; i++)
        out[i] = p->constant;
      return TRUE;
    }
}

/* --- Stripes ----------------------------------------------------------------------------------------------------------
 * A run along a row of a packing that goes down columns touches a word of every row of words: the same words hold the
 * rows beside it, so a stripe of rows is unpacked at once and kept for the next runs. */

static gboolean
is_strided (const TmPackedInteger *data)
{
  return data->layout.down || data->arrangement == TM_WORDS_ALONG_COLUMNS || data->arrangement == TM_WORDS_RAGGED;
}

typedef struct
{
  guint64 slice, row, column;
  gsize n_rows, n_columns;
} Rectangle;

/* Rows around the wanted ones: as many as the scratch holds. */
static void
widen (const TmPackedInteger *data, gsize bytes, gsize bytes_a_row, guint64 *row, gsize *n_rows)
{
  const guint64 at_once = CLAMP (bytes / MAX (bytes_a_row, 1) / 32 * 32, 1, data->n_rows);
  const guint64 from = *row / at_once * at_once, to = MIN (from + at_once, data->n_rows);

  if (*row + *n_rows > to)
    return;
  *row = from;
  *n_rows = (gsize) (to - from);
}

static gboolean
is_long (const TmPackedInteger *data, const Rectangle *at)
{
  return at->n_rows < 64 && (at->n_columns >= 4096 || at->n_columns >= data->n_columns / 2);
}

static gboolean
wants_stripe (const TmPackedInteger *data, const Rectangle *at)
{
  return is_strided (data) && is_long (data, at);
}

static TmStripe *
take (gsize size, GError **error)
{
  TmStripe *stripe = tm_stripe_take (size);

  if (stripe == NULL)
    g_set_error_literal (error, TM_ERROR, TM_ERROR_TENSOR, "out of memory");
  return stripe;
}

/* The words of a broad stripe of rows as they are in the file, and from them the codes of a narrow one that the processor's
 * cache holds. FALSE: not this packing. */
#define NARROW_BYTES 524288u

static gboolean
unpack_stripe (const TmPackedInteger *data, const Rectangle *at, guint8 *out, gsize out_pitch, gboolean *done,
               GError **error)
{
  const gboolean down
      = data->arrangement == TM_WORDS_ALONG_ROWS && data->layout.down && data->layout.order != TM_ORDER_PADDED;
  const guint64 n_word_rows
      = down ? (tm_layout_get_stream_bits (&data->layout, data->n_columns) + 31) / 32 : data->n_columns;
  Rectangle broad = *at;
  TmStripe *stripe;

  *done = FALSE;
  if ((!down && (data->arrangement != TM_WORDS_ALONG_COLUMNS || !tm_layout_can_turn (&data->layout)))
      || n_word_rows > TM_STRIPE_BYTES / 128)
    return TRUE;
  stripe = tm_stripe_find (data->owner, STRIPE_WORDS, at->slice * data->n_rows + at->row, at->n_rows, 0, 1);
  if (stripe == NULL)
    {
      gsize row_bytes;

      /* Down columns there are few pieces to read, so a stripe can be as small as the second cache. */
      widen (data, down ? TM_STRIPE_BYTES * 3 / 8 : TM_STRIPE_BYTES, (gsize) n_word_rows * (down ? 5 : 1), &broad.row,
             &broad.n_rows);
      if (!down && broad.row % 8 != 0)
        return TRUE;
      row_bytes = down ? broad.n_rows * 4 : (broad.n_rows + 7) / 8 * 4;
      stripe = tm_stripe_take ((gsize) n_word_rows * (row_bytes + 64));
      if (stripe == NULL)
        return TRUE;
      if (!tm_operand_read_band (data->words,
                                 at->slice * data->layout.slice + (down ? broad.row * 4 : broad.row / 8 * 4),
                                 down ? data->layout.pitch * 4 : data->layout.pitch, (gsize) n_word_rows, row_bytes,
                                 stripe->bytes, row_bytes + 64, error))
        return FALSE;
      stripe->owner = data->owner;
      stripe->key = STRIPE_WORDS;
      stripe->row = at->slice * data->n_rows + broad.row;
      stripe->n_rows = broad.n_rows;
      stripe->column = 0;
      stripe->n_columns = 1;
      stripe->pitch = row_bytes + 64;
    }
  {
    const gsize skip = (gsize) (at->slice * data->n_rows + at->row - stripe->row);

    if (down)
      tm_layout_unpack_columns (&data->layout, stripe->bytes + skip * 4, stripe->pitch, at->n_rows,
                                (gsize) data->n_columns, out, out_pitch);
    else
      tm_layout_turn (&data->layout, stripe->bytes + skip / 8 * 4, stripe->pitch, (gsize) data->n_columns, skip % 8,
                      at->n_rows, out, out_pitch);
  }
  *done = TRUE;
  return TRUE;
}

static const guint8 *
get_codes (const TmPackedInteger *data, const Rectangle *at, gsize *pitch, GError **error)
{
  const guint64 row = at->slice * data->n_rows + at->row;
  TmStripe *stripe = tm_stripe_find (data->owner, STRIPE_CODES, row, at->n_rows, at->column, at->n_columns);

  if (stripe == NULL)
    {
      Rectangle whole = *at;
      gsize whole_pitch;
      gboolean wide = wants_stripe (data, at), done = FALSE;

      if (wide)
        {
          whole.column = 0;
          whole.n_columns = (gsize) data->n_columns;
          widen (data, data->arrangement == TM_WORDS_RAGGED ? TM_STRIPE_BYTES : NARROW_BYTES, whole.n_columns,
                 &whole.row, &whole.n_rows);
          if (whole.n_rows > TM_STRIPE_BYTES / 2 / whole.n_columns) /* not even one row: only what is asked */
            {
              whole = *at;
              wide = FALSE;
            }
        }
      /* Rows a power of two apart would all fall on the same few lines of the cache. */
      whole_pitch = whole.n_columns + (wide && data->arrangement != TM_WORDS_RAGGED ? 64 : 0);
      stripe = take (whole.n_rows * whole_pitch, error);
      if (stripe == NULL)
        return NULL;
      if (whole_pitch != whole.n_columns && !unpack_stripe (data, &whole, stripe->bytes, whole_pitch, &done, error))
        return NULL;
      if (!done)
        {
          whole_pitch = whole.n_columns;
          if (!tm_packed_integer_read_codes (data, whole.slice, whole.row, whole.n_rows, whole.column, whole.n_columns,
                                             stripe->bytes, error))
            return NULL;
        }
      stripe->owner = data->owner;
      stripe->key = STRIPE_CODES;
      stripe->row = whole.slice * data->n_rows + whole.row;
      stripe->n_rows = whole.n_rows;
      stripe->column = whole.column;
      stripe->n_columns = whole.n_columns;
      stripe->pitch = whole_pitch;
    }
  *pitch = stripe->pitch;
  return stripe->bytes + (row - stripe->row) * stripe->pitch + (at->column - stripe->column);
}

/* Scales, then zero points, of the rows and of groups first … : [row][group], pitch floats a row. */
static gboolean
get_parameters (const TmPackedInteger *data, const Rectangle *at, const float **scales, const float **zeros,
                guint64 *first, gsize *pitch, GError **error)
{
  const guint64 row = at->slice * data->n_rows + at->row;
  const guint64 group = data->index ? 0 : at->column / data->group_size;
  const gsize n_groups
      = (gsize) ((data->index ? data->n_groups : (at->column + at->n_columns - 1) / data->group_size + 1) - group);
  TmStripe *stripe = tm_stripe_find (data->owner, STRIPE_SCALES, row, at->n_rows, group, n_groups);
  gsize n;

  if (stripe == NULL)
    {
      Rectangle whole = { at->slice, at->row, group, at->n_rows, n_groups };

      if (is_long (data, at) && data->scale.row_step <= 1 && data->n_groups > 1 && data->n_groups <= NARROW_BYTES / 8)
        {
          whole.column = 0;
          whole.n_columns = (gsize) data->n_groups;
          widen (data, NARROW_BYTES, whole.n_columns * 8, &whole.row, &whole.n_rows);
        }
      n = whole.n_rows * whole.n_columns;
      stripe = take (n * 8, error);
      if (stripe == NULL
          || !tm_packed_integer_read_parameter (data, &data->scale, whole.slice, whole.row, whole.n_rows, whole.column,
                                                whole.n_columns, (float *) (gpointer) stripe->bytes, error)
          || !tm_packed_integer_read_parameter (data, &data->zero, whole.slice, whole.row, whole.n_rows, whole.column,
                                                whole.n_columns, (float *) (gpointer) stripe->bytes + n, error))
        return FALSE;
      stripe->owner = data->owner;
      stripe->key = STRIPE_SCALES;
      stripe->row = whole.slice * data->n_rows + whole.row;
      stripe->n_rows = whole.n_rows;
      stripe->column = whole.column;
      stripe->n_columns = whole.n_columns;
    }
  n = (gsize) (stripe->n_rows * stripe->n_columns);
  *pitch = (gsize) stripe->n_columns;
  *first = stripe->column;
  *scales = (const float *) (gpointer) stripe->bytes + (row - stripe->row) * stripe->n_columns;
  *zeros = *scales + n;
  return TRUE;
}

/* --- Rows × columns --------------------------------------------------------------------------------------------------- */

static void
fill_row (const TmPackedInteger *data, TmQuantity quantity, const Rectangle *at, const guint8 *codes,
          const float *scales, const float *zeros, guint64 first, float *out)
{
  const TmIntegerKernels *kernels = &tm_kernels_get ()->integer;

  if (data->index)
    {
      const guint32 *index = data->index + at->column;
      const guint bits = data->layout.bits;
      float table[4096];

      /* Few groups of few codes: every value there is, once. */
      if (quantity == TM_QUANTITY_VALUE && !data->zero_is_offset && !data->ragged && bits <= 4
          && data->n_groups << bits <= MIN (at->n_columns, G_N_ELEMENTS (table)))
        {
          static const guint8 every[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

          for (guint64 g = 0; g < data->n_groups; g++)
            kernels->scale (every, (gsize) 1 << bits, data->flip, scales[g], zeros[g], table + (g << bits));
          kernels->look_up (codes, at->n_columns, bits, index, table, out);
          return;
        }

      if (quantity == TM_QUANTITY_VALUE && !data->zero_is_offset)
        kernels->scale_by_index (codes, at->n_columns, data->flip, index, scales, zeros, out);
      else
        for (gsize i = 0; i < at->n_columns; i++)
          out[i] = quantity == TM_QUANTITY_SCALE   ? scales[index[i]]
                   : quantity != TM_QUANTITY_VALUE ? zeros[index[i]]
                                                   : scales[index[i]] * (float) codes[i] + zeros[index[i]];
      return;
    }
  for (guint64 i = 0; i < at->n_columns;)
    {
      const guint64 group = (at->column + i) / data->group_size;
      const gsize n = (gsize) MIN (at->n_columns - i, (group + 1) * data->group_size - (at->column + i));
      const float scale = scales[group - first], zero = zeros[group - first];

      if (quantity != TM_QUANTITY_VALUE)
        for (gsize k = 0; k < n; k++)
          out[i + k] = quantity == TM_QUANTITY_SCALE ? scale : zero;
      else if (data->zero_is_offset)
        kernels->scale_offset (codes + i, n, scale, zero, out + i);
      else
        kernels->scale (codes + i, n, data->flip, scale, zero, out + i);
      i += n;
    }
}

/* Rows of one slice. Raw codes as int32 or as float32, the rest as float32. */
static gboolean
decode (const TmPackedInteger *data, TmQuantity quantity, const Rectangle *at, float *out, gint32 *raw, GError **error)
{
  const guint8 *codes = NULL;
  const float *scales = NULL, *zeros = NULL;
  gsize pitch = 0, parameter_pitch = 0;
  guint64 first = 0;

  if ((raw || quantity == TM_QUANTITY_VALUE || quantity == TM_QUANTITY_RAW)
      && (codes = get_codes (data, at, &pitch, error)) == NULL)
    return FALSE;
  if (raw || quantity == TM_QUANTITY_RAW)
    {
      for (gsize r = 0; r < at->n_rows; r++)
        for (gsize i = 0; i < at->n_columns; i++)
          {
            const guint8 code = codes[r * pitch + i];
            const gint32 number = data->is_signed ? (gint8) code : code;

            if (raw)
              raw[r * at->n_columns + i] = number;
            else
              out[r * at->n_columns + i] = (float) number;
          }
      return TRUE;
    }
  if (!get_parameters (data, at, &scales, &zeros, &first, &parameter_pitch, error))
    return FALSE;
  for (gsize r = 0; r < at->n_rows; r++)
    {
      Rectangle row = *at;

      row.row += r;
      row.n_rows = 1;
      fill_row (data, quantity, &row, codes ? codes + r * pitch : NULL, scales + r * parameter_pitch,
                zeros + r * parameter_pitch, first, out + r * at->n_columns);
    }
  return TRUE;
}

/* Rows count on through the slices; what is unpacked at once fits the scratch. */
static gboolean
decode_rows (const TmPackedInteger *data, TmQuantity quantity, guint64 row, gsize n_rows, guint64 column,
             gsize n_columns, float *out, gint32 *raw, GError **error)
{
  const gsize n_groups
      = data->index ? (gsize) data->n_groups : n_columns / (gsize) MIN (data->group_size, G_MAXINT32) + 2;
  const gsize most = MAX (TM_STRIPE_BYTES / MAX (n_columns, 8 * n_groups), 1);

  while (n_rows > 0)
    {
      Rectangle at = { row / data->n_rows, row % data->n_rows, column, 0, n_columns };

      at.n_rows = (gsize) MIN (MIN (n_rows, most), data->n_rows - at.row);
      if (!decode (data, quantity, &at, out, raw, error))
        return FALSE;
      if (raw)
        raw += at.n_rows * n_columns;
      else
        out += at.n_rows * n_columns;
      row += at.n_rows;
      n_rows -= at.n_rows;
    }
  return TRUE;
}

/* --- The codec -------------------------------------------------------------------------------------------------------- */

static gboolean
decode_run (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, gint32 *raw,
            GError **error)
{
  const TmPackedInteger *data = tensor->codec_data;

  while (count > 0)
    {
      const guint64 column = first % data->n_columns;
      gsize n_rows = 1, n_columns = (gsize) MIN (count, data->n_columns - column);

      if (column == 0 && count > data->n_columns)
        n_rows = count / (gsize) data->n_columns;
      if (!decode_rows (data, quantity, first / data->n_columns, n_rows, column, n_columns, out, raw, error))
        return FALSE;
      if (raw)
        raw += n_rows * n_columns;
      else
        out += n_rows * n_columns;
      first += n_rows * n_columns;
      count -= n_rows * n_columns;
    }
  return TRUE;
}

static gboolean
values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  return decode_run (tensor, TM_QUANTITY_VALUE, first, count, out, NULL, error);
}

static gboolean
raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GError **error)
{
  return decode_run (tensor, TM_QUANTITY_RAW, first, count, NULL, out, error);
}

static gboolean
has_parameter (const TmTensor *tensor, TmQuantity quantity)
{
  const TmPackedInteger *data = tensor->codec_data;

  return quantity == TM_QUANTITY_SCALE
         || quantity == (data->zero_is_offset ? TM_QUANTITY_OFFSET : TM_QUANTITY_ZERO_POINT);
}

static gboolean
parameter (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, GError **error)
{
  return decode_run (tensor, quantity, first, count, out, NULL, error);
}

static gboolean
rectangle (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize n_rows, gsize n_columns, float *out,
           GError **error)
{
  const TmPackedInteger *data = tensor->codec_data;

  return decode_rows (data, quantity, first / data->n_columns, n_rows, first % data->n_columns, n_columns, out, NULL,
                      error);
}

void
tm_packed_integer_free (TmPackedInteger *data)
{
  TmRaggedWords *ragged = data->ragged;

  if (ragged)
    {
      g_free (ragged->bits);
      g_free (ragged->word_row);
      g_free (ragged->first);
      g_free (ragged->stored_row);
      g_free (ragged->column);
      g_free (ragged->group_of_row);
      g_free (ragged->scale_max);
      g_free (ragged);
    }
  g_free (data);
}

static void
free_data (gpointer data)
{
  tm_packed_integer_free (data);
}

static const TmCodec codec = {
  .name = "packed-integer",
  .values = values,
  .raw = raw,
  .parameter = parameter,
  .has_parameter = has_parameter,
  .explain = tm_packed_integer_explain,
  .free_data = free_data,
  .rectangle = rectangle,
  .describe_block = tm_packed_integer_describe,
};

void
tm_packed_integer_attach (TmTensor *tensor, TmPackedInteger *data)
{
  data->owner = tm_stripe_owner_new ();
  tensor->codec = &codec;
  tensor->codec_data = data;
}
