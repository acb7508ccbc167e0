#include "analysis/reading.h"

#include <math.h>

TmReading *
tm_reading_new (guint64 columns, char *words)
{
  TmReading *reading = g_new0 (TmReading, 1);

  reading->columns = columns;
  reading->parts = g_array_new (FALSE, FALSE, sizeof (TmReadingPart));
  reading->words = words;
  return reading;
}

void
tm_reading_free (TmReading *reading)
{
  if (reading == NULL)
    return;
  g_array_unref (reading->parts);
  g_free (reading->words);
  g_free (reading);
}

void
tm_reading_add (TmReading *reading, const TmReadingPart *part)
{
  TmReadingPart added = *part;

  added.first_row = reading->rows;
  reading->rows += part->n_rows;
  if (reading->parts->len > 0)
    {
      TmReadingPart *last = &g_array_index (reading->parts, TmReadingPart, reading->parts->len - 1);

      if (last->tensor == part->tensor && last->order == part->order && last->head == part->head
          && last->unit == part->unit && last->ways == part->ways && last->row_step == part->row_step && last->column_step == part->column_step
          && part->base == last->base + last->n_rows * last->row_step
          && (part->order == TM_ROWS_AS_THEY_ARE || last->n_rows % part->head == 0))
        {
          last->n_rows += part->n_rows;
          return;
        }
    }
  g_array_append_val (reading->parts, added);
}

static gboolean
is_order_sound (const TmReadingPart *part)
{
  guint64 deal;

  switch (part->order)
    {
    case TM_ROWS_ROTARY:
    case TM_ROWS_ROTARY_BACK:
      return part->head >= 2 && part->head % 2 == 0 && part->n_rows % part->head == 0;
    case TM_ROWS_DEALT:
      return part->head > 0 && part->n_rows % part->head == 0
             && !__builtin_mul_overflow (part->unit, part->ways, &deal) && deal > 0 && part->head % deal == 0;
    case TM_ROWS_AS_THEY_ARE:
    default:
      return TRUE;
    }
}

gboolean
tm_reading_is_sound (const TmReading *reading)
{
  if (reading->rows == 0 || reading->columns == 0)
    return FALSE;
  for (guint i = 0; i < reading->parts->len; i++)
    {
      const TmReadingPart *part = &g_array_index (reading->parts, TmReadingPart, i);
      guint64 down, across, last;

      if (!is_order_sound (part))
        return FALSE;
      if (part->n_rows == 0 || __builtin_mul_overflow (part->n_rows - 1, part->row_step, &down)
          || __builtin_mul_overflow (reading->columns - 1, part->column_step, &across)
          || __builtin_add_overflow (down, across, &last) || __builtin_add_overflow (last, part->base, &last)
          || last >= part->tensor->n_elements)
        return FALSE;
    }
  return TRUE;
}

gboolean
tm_reading_is_transposed (const TmReading *reading)
{
  for (guint i = 0; i < reading->parts->len; i++)
    if (g_array_index (reading->parts, TmReadingPart, i).column_step != 1 && reading->columns > 1)
      return TRUE;
  return FALSE;
}

float
tm_reading_get_rounding (const TmReading *reading)
{
  const TmTensor *first = g_array_index (reading->parts, TmReadingPart, 0).tensor;

  for (guint i = 1; i < reading->parts->len; i++)
    if (g_array_index (reading->parts, TmReadingPart, i).tensor->dtype != first->dtype)
      return 0;
  if (first->quantized)
    return 0;
  return first->dtype == TM_DTYPE_BF16 ? 0x1p-8f : first->dtype == TM_DTYPE_F16 ? 0x1p-11f : 0;
}

float
tm_value_change_apply (TmValueChange change, float value)
{
  switch (change)
    {
    case TM_CHANGE_PLUS_ONE:
      return value + 1;
    case TM_CHANGE_MINUS_ONE:
      return value - 1;
    case TM_CHANGE_NEG_EXP:
      return -expf (value);
    case TM_CHANGE_LOG_NEG:
      return logf (-value);
    case TM_CHANGE_NONE:
    default:
      return value;
    }
}

static guint64
order_row (const TmReadingPart *part, guint64 row)
{
  guint64 within = part->head > 0 ? row % part->head : 0, unit;

  switch (part->order)
    {
    case TM_ROWS_ROTARY:
      return row - within + within % 2 * (part->head / 2) + within / 2;
    case TM_ROWS_ROTARY_BACK:
      return row - within + 2 * (within % (part->head / 2)) + within / (part->head / 2);
    case TM_ROWS_DEALT:
      unit = within / part->unit;
      unit = unit % part->ways * (part->head / part->unit / part->ways) + unit / part->ways;
      return row - within + unit * part->unit + within % part->unit;
    case TM_ROWS_AS_THEY_ARE:
    default:
      return row;
    }
}

static const TmReadingPart *
find_part (const TmReading *reading, guint64 row)
{
  guint low = 0, high = reading->parts->len;

  while (high - low > 1)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (reading->parts, TmReadingPart, middle).first_row <= row)
        low = middle;
      else
        high = middle;
    }
  return &g_array_index (reading->parts, TmReadingPart, low);
}

const TmReadingPart *
tm_reading_locate (const TmReading *reading, guint64 flat, guint64 *reference_flat)
{
  guint64 row = flat / reading->columns, column = flat % reading->columns;
  const TmReadingPart *part;

  if (row >= reading->rows)
    return NULL;
  part = find_part (reading, row);
  *reference_flat = part->base + order_row (part, row - part->first_row) * part->row_step + column * part->column_step;
  return part;
}

/* --- Rectangles --------------------------------------------------------------------------------------------------- */

typedef struct
{
  GCancellable *cancellable;
  GError **error;
} Reader;

static gboolean
decode (const Reader *reader, const TmTensor *tensor, guint64 first, guint64 count, float *out)
{
  return tm_tensor_decode (tensor, TM_QUANTITY_VALUE, first, (gsize) count, out, reader->cancellable, reader->error);
}

static gboolean
is_flat (const TmReading *reading, const TmReadingPart *part)
{
  return part->order == TM_ROWS_AS_THEY_ARE && (part->column_step == 1 || reading->columns == 1)
         && part->row_step == reading->columns;
}

/* Rows of the part r0 … r1 − 1, counted within it. */
static gboolean
decode_rows (const Reader *reader, const TmReading *reading, const TmReadingPart *part, guint64 r0, guint64 r1,
             guint64 c0, guint64 c1, float *out)
{
  if (is_flat (reading, part) && c0 == 0 && c1 == reading->columns)
    return decode (reader, part->tensor, part->base + r0 * reading->columns, (r1 - r0) * reading->columns, out);
  for (guint64 r = r0; r < r1; r++, out += c1 - c0)
    if (!decode (reader, part->tensor, part->base + order_row (part, r) * part->row_step + c0, c1 - c0, out))
      return FALSE;
  return TRUE;
}

/* Columns of the candidate lie in a row in the file: each is read as one span and dealt out. */
static gboolean
decode_across (const Reader *reader, const TmReadingPart *part, guint64 r0, guint64 r1, guint64 c0, guint64 c1,
               float *out)
{
  g_autofree guint64 *place = g_new (guint64, r1 - r0);
  guint64 low = G_MAXUINT64, high = 0;

  for (guint64 r = r0; r < r1; r++)
    {
      place[r - r0] = order_row (part, r) * part->row_step;
      low = MIN (low, place[r - r0]);
      high = MAX (high, place[r - r0]);
    }
  g_autofree float *span = g_new (float, high - low + 1);
  for (guint64 c = c0; c < c1; c++)
    {
      if (!decode (reader, part->tensor, part->base + c * part->column_step + low, high - low + 1, span))
        return FALSE;
      for (guint64 r = 0; r < r1 - r0; r++)
        out[r * (c1 - c0) + c - c0] = span[place[r] - low];
    }
  return TRUE;
}

static void
apply_change (TmValueChange change, float *values, guint64 n)
{
  if (change == TM_CHANGE_PLUS_ONE || change == TM_CHANGE_MINUS_ONE)
    {
      const float added = change == TM_CHANGE_PLUS_ONE ? 1 : -1;

      for (guint64 i = 0; i < n; i++)
        values[i] += added;
    }
  else if (change != TM_CHANGE_NONE)
    for (guint64 i = 0; i < n; i++)
      values[i] = tm_value_change_apply (change, values[i]);
}

gboolean
tm_reading_decode_rectangle (const TmReading *reading, guint64 r0, guint64 r1, guint64 c0, guint64 c1, float *out,
                             GCancellable *cancellable, GError **error)
{
  const Reader reader = { cancellable, error };
  float *at = out;

  for (guint64 row = r0; row < r1;)
    {
      const TmReadingPart *part = find_part (reading, row);
      guint64 from = row - part->first_row, to = MIN (r1 - part->first_row, part->n_rows);
      gboolean across = part->column_step != 1 && reading->columns > 1;

      if (across ? !decode_across (&reader, part, from, to, c0, c1, at)
                 : !decode_rows (&reader, reading, part, from, to, c0, c1, at))
        return FALSE;
      at += (to - from) * (c1 - c0);
      row += to - from;
    }
  apply_change (reading->change, out, (r1 - r0) * (c1 - c0));
  return TRUE;
}

gboolean
tm_reading_decode (const TmReading *reading, guint64 first, gsize count, float *out, GCancellable *cancellable,
                   GError **error)
{
  const guint64 columns = reading->columns, covered = reading->rows * columns;
  guint64 end = first + count;

  for (guint64 i = MAX (first, covered); i < end; i++)
    out[i - first] = NAN;
  end = MIN (end, covered);
  if (first < end)
    {
      const Reader reader = { cancellable, error };
      const TmReadingPart *part = find_part (reading, first / columns);
      guint64 start = part->first_row * columns;

      if (is_flat (reading, part) && end - start <= part->n_rows * columns)
        {
          if (!decode (&reader, part->tensor, part->base + (first - start), end - first, out))
            return FALSE;
          apply_change (reading->change, out, end - first);
          return TRUE;
        }
    }
  /* The rest of a row, whole rows, the start of a row. */
  while (first < end)
    {
      guint64 row = first / columns, column = first % columns, rows = (end - first) / columns, n;

      if (column != 0 || rows == 0)
        {
          n = MIN (columns - column, end - first);
          rows = 1;
        }
      else
        n = columns;
      if (!tm_reading_decode_rectangle (reading, row, row + rows, column, column + n, out, cancellable, error))
        return FALSE;
      out += rows * n;
      first += rows * n;
    }
  return TRUE;
}
