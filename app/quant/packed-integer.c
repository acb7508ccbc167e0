#include "quant/packed-integer.h"

#include <string.h>

#include "io/error.h"
#include "quant/kernels.h"
#include "quant/quant-private.h"

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
               TmParameterNumbers out, GError **error)
{
  const gboolean down = p->row_step == 1; /* [group, row]: a run of rows for each group */
  const guint64 base = slice * p->slice_step + row * p->row_step + group * p->group_step;
  const guint64 run_step = down ? p->group_step : p->row_step, step = down ? 1 : p->group_step;
  const gsize run_to = down ? out.group : out.row, to = down ? out.row : out.group;
  gsize n_runs = down ? n_groups : n_rows, n = down ? n_rows : n_groups;
  float few[256];

  if (step == 1 && to == 1 && run_step == n && run_to == n) /* one after another, here and there */
    {
      n *= n_runs;
      n_runs = 1;
    }
  for (gsize r = 0; r < n_runs; r++)
    for (gsize i = 0, here; i < n; i += here)
      {
        float *at = out.at + r * run_to + i * to, *from = to == 1 ? at : few;

        here = step != 1 ? 1 : to == 1 ? n - i : MIN (n - i, G_N_ELEMENTS (few));
        if (!tm_operand_read_f32 (p->stored, base + r * run_step + i * step, here, from, error))
          return FALSE;
        for (gsize k = 0; k < here && (to != 1 || p->shift != 0); k++)
          at[k * to] = p->shift != 0 ? from[k] + p->shift : from[k];
      }
  return TRUE;
}

static gboolean
read_codes (const TmGroupParameter *p, guint64 slice, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
            TmParameterNumbers out, GError **error)
{
  g_autofree guint8 *codes = g_malloc (n_rows * n_groups);
  const gboolean across = p->lines_are_groups;
  const gsize n_lines = across ? n_groups : n_rows, n = across ? n_rows : n_groups;
  const gsize line_to = across ? out.group : out.row, to = across ? out.row : out.group;
  const guint mask = (1u << p->layout.bits) - 1;

  if (!tm_layout_read (&p->layout, p->stored, slice, across ? group : row, n_lines, across ? row : group, n, codes,
                       error))
    return FALSE;
  for (gsize l = 0; l < n_lines; l++)
    for (gsize i = 0; i < n; i++)
      out.at[l * line_to + i * to] = (float) ((codes[l * n + i] + p->add) & mask);
  return TRUE;
}

/* EXL2: scale = (s + 1)² × max / 256, s a nibble; the zero point is the middle of the group's own width. */
static gboolean
read_ragged (const TmPackedInteger *data, gboolean is_scale, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
             TmParameterNumbers out, GError **error)
{
  g_autofree guint8 *codes = g_malloc (n_rows * n_groups);

  if (is_scale
      && !tm_layout_read (&data->scale.layout, data->scale.stored, 0, group, n_groups, row, n_rows, codes, error))
    return FALSE;
  for (gsize g = 0; g < n_groups; g++)
    for (gsize r = 0; r < n_rows; r++)
      {
        const guint s = is_scale ? codes[g * n_rows + r] + 1u : 0;

        out.at[r * out.row + g * out.group] = is_scale ? (float) (s * s) * data->ragged->scale_max[group + g] / 256
                                                       : (float) (1u << (data->ragged->bits[group + g] - 1));
      }
  return TRUE;
}

gboolean
tm_packed_integer_read_parameter (const TmPackedInteger *data, const TmGroupParameter *p, guint64 slice, guint64 row,
                                  gsize n_rows, guint64 group, gsize n_groups, TmParameterNumbers out, GError **error)
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
      for (gsize r = 0; r < n_rows; r++)
        for (gsize g = 0; g < n_groups; g++)
          out.at[r * out.row + g * out.group] = p->constant;
      return TRUE;
    }
}

/* --- Rows × columns --------------------------------------------------------------------------------------------------- */

static void
fill_row (const TmPackedInteger *data, TmQuantity quantity, const TmPackedRectangle *at, const guint8 *codes,
          const float *scales, const float *zeros, float *out)
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
      const guint64 group = (at->column + i) / data->group_size, first = at->column / data->group_size;
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

/* Group of every column, from that of the first on. */
static guint32 *
count_groups (const TmPackedInteger *data, const TmPackedRectangle *at)
{
  guint32 *group = g_new (guint32, at->n_columns), g = 0;
  guint64 left = data->group_size - at->column % data->group_size;

  for (gsize i = 0; i < at->n_columns; g++, left = data->group_size)
    for (const gsize end = i + (gsize) MIN (left, at->n_columns - i); i < end; i++)
      group[i] = g;
  return group;
}

/* Values from ribbons of words, eight rows at a time: eight codes of a column are of one group each, so its groups may come
 * in any order. */
static gboolean
decode_ribbons (const TmPackedInteger *data, const TmPackedRectangle *at, float *out, GError **error)
{
  gsize pitch, line, first;
  TmPackedParameters parameters;
  const guint8 *words;
  g_autofree guint32 *counted = data->index ? NULL : count_groups (data, at);
  g_autofree float *spare = g_new (float, at->n_columns);
  TmCodeLayout ribbon;

  if (!tm_packed_integer_has_ribbons (data, &ribbon)
      || (words = tm_packed_integer_get_ribbons (data, &ribbon, at, &pitch, &line, &first, error)) == NULL
      || !tm_packed_integer_get_parameters (data, at, TRUE, &parameters, error))
    return FALSE;
  for (gsize r = 0, n; r < at->n_rows; r += n, line = 0, words += pitch)
    {
      float *row[TM_RIBBON_LINES];

      n = MIN (TM_RIBBON_LINES - line, at->n_rows - r);
      for (gsize k = 0; k < TM_RIBBON_LINES; k++)
        row[k] = k >= line && k < line + n ? out + (r + k - line) * at->n_columns : spare;
      tm_kernels_get ()->integer.scale_ribbon (words, ribbon.bits, first, at->n_columns, data->flip,
                                               counted ? counted : data->index + at->column,
                                               parameters.scales + r - line, parameters.zeros + r - line,
                                               parameters.group, row);
    }
  return TRUE;
}

static gboolean
decode_values (const TmPackedInteger *data, const TmPackedRectangle *at, float *out, GError **error)
{
  const float *from;

  if (!tm_packed_integer_wants_values (data, at))
    return decode_ribbons (data, at, out, error);
  from = tm_packed_integer_get_values (data, at, decode_ribbons, error);
  if (from == NULL)
    return FALSE;
  for (gsize r = 0; r < at->n_rows; r++)
    memcpy (out + r * at->n_columns, from + r * data->n_columns, at->n_columns * sizeof *out);
  return TRUE;
}

/* Rows of one slice. Raw codes as int32 or as float32, the rest as float32. */
static gboolean
decode (const TmPackedInteger *data, TmQuantity quantity, const TmPackedRectangle *at, float *out, gint32 *raw,
        GError **error)
{
  const guint8 *codes = NULL;
  TmPackedParameters parameters;
  TmCodeLayout ribbon;
  gsize pitch = 0;

  if (!raw && quantity == TM_QUANTITY_VALUE && !data->zero_is_offset && tm_packed_integer_has_ribbons (data, &ribbon)
      && ribbon.order == TM_ORDER_STREAM)
    return decode_values (data, at, out, error);
  if ((raw || quantity == TM_QUANTITY_VALUE || quantity == TM_QUANTITY_RAW)
      && (codes = tm_packed_integer_get_codes (data, at, &pitch, error)) == NULL)
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
  if (!tm_packed_integer_get_parameters (data, at, FALSE, &parameters, error))
    return FALSE;
  for (gsize r = 0; r < at->n_rows; r++)
    {
      TmPackedRectangle row = *at;

      row.row += r;
      row.n_rows = 1;
      fill_row (data, quantity, &row, codes ? codes + r * pitch : NULL, parameters.scales + r * parameters.row,
                parameters.zeros + r * parameters.row, out + r * at->n_columns);
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
  const gsize most = MAX (TM_STRIPE_BYTES / 2 / MAX (n_columns + 64, 8 * n_groups), 1);

  while (n_rows > 0)
    {
      TmPackedRectangle at = { row / data->n_rows, row % data->n_rows, column, 0, n_columns };

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
