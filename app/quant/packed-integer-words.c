/* Words of every arrangement unpacked to a byte a code, and where one code is. */
#include <string.h>

#include "io/error.h"
#include "quant/kernels.h"
#include "quant/packed-integer.h"
#include "quant/quant-private.h"

/* Column 8a + 2b + c of 32 is in slot 8b + 4c + a of its tile row (AWQ GEMV-fast). */
static guint
tile_slot (guint k)
{
  return 8 * (k >> 1 & 3) + 4 * (k & 1) + (k >> 3);
}

/* Row o of a tile of four, 64 columns from 64t on: 32 bytes, nibble after nibble in slot order. */
static guint64
tile_byte (const TmPackedInteger *data, guint64 row, guint64 tile)
{
  return (row / 4 * data->n_columns + tile * 64) * 2 + row % 4 * 32;
}

static gboolean
read_tiles (const TmPackedInteger *data, guint64 row, gsize n_rows, guint64 column, gsize n_columns, guint8 *out,
            GError **error)
{
  const guint64 first = column / 64, last = (column + n_columns - 1) / 64;
  const gsize n_tiles = (gsize) (last - first + 1);
  g_autofree guint8 *packed = g_malloc (n_tiles * 128), *codes = g_malloc (n_tiles * 64);
  guint64 have = G_MAXUINT64;

  for (gsize r = 0; r < n_rows; r++)
    {
      const guint64 o = row + r;

      if (have != o / 4)
        {
          have = o / 4;
          if (!tm_stored_read (data->words, tile_byte (data, have * 4, first), n_tiles * 128, packed, error))
            return FALSE;
        }
      for (gsize t = 0; t < n_tiles; t++)
        tm_kernels_get ()->integer.untile (packed + t * 128 + o % 4 * 32, 2, codes + 64 * t);
      memcpy (out + r * n_columns, codes + column % 64, n_columns);
    }
  return TRUE;
}

static gboolean
read_pairs (const TmPackedInteger *data, guint64 slice, guint64 row, gsize n_rows, guint64 column, gsize n_columns,
            guint8 *out, GError **error)
{
  g_autofree guint8 *packed = g_malloc (n_columns), *other = g_malloc (n_columns);

  for (guint64 pair = row / 2; pair <= (row + n_rows - 1) / 2; pair++)
    {
      guint8 *low = 2 * pair >= row ? out + (2 * pair - row) * n_columns : other;
      guint8 *high = 2 * pair + 1 < row + n_rows ? out + (2 * pair + 1 - row) * n_columns : other;

      if (!tm_stored_read (data->words, slice * data->layout.slice + pair * data->n_columns + column, n_columns, packed,
                           error))
        return FALSE;
      tm_kernels_get ()->integer.split_pairs (packed, n_columns, low, high);
    }
  return TRUE;
}

static TmCodeLayout
ragged_layout (const TmPackedInteger *data, guint group)
{
  return (TmCodeLayout) { .order = TM_ORDER_STREAM,
                          .bits = data->ragged->bits[group],
                          .down = TRUE,
                          .pitch = data->layout.pitch,
                          /* a slice is what comes before the group's first word row */
                          .slice = (guint64) data->ragged->word_row[group] * data->layout.pitch * 4 };
}

/* Whole columns in stored order, then every column from its stored row. */
static gboolean
read_ragged (const TmPackedInteger *data, guint64 row, gsize n_rows, guint64 column, gsize n_columns, guint8 *out,
             GError **error)
{
  const TmRaggedWords *ragged = data->ragged;
  const gsize length = (gsize) data->n_columns;
  const gsize at_once = CLAMP (TM_STRIPE_BYTES / MAX (length, 1), 1, n_rows);
  g_autofree guint8 *stored = g_try_malloc (at_once * length), *group = g_try_malloc (at_once * length);

  if (stored == NULL || group == NULL)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_TENSOR, "out of memory");
      return FALSE;
    }
  for (gsize r = 0; r < n_rows; r += at_once)
    {
      const gsize n = MIN (at_once, n_rows - r);

      for (guint g = 0; g < data->n_groups; g++)
        {
          const TmCodeLayout layout = ragged_layout (data, g);
          const gsize first = ragged->first[g];
          const gsize rows = (g + 1 < data->n_groups ? ragged->first[g + 1] : length) - first;

          if (!tm_layout_read (&layout, data->words, 1, row + r, n, 0, rows, group, error))
            return FALSE;
          for (gsize l = 0; l < n; l++)
            memcpy (stored + l * length + first, group + l * rows, rows);
        }
      for (gsize l = 0; l < n; l++)
        for (gsize i = 0; i < n_columns; i++)
          out[(r + l) * n_columns + i] = stored[l * length + ragged->stored_row[column + i]];
    }
  return TRUE;
}

gboolean
tm_packed_integer_read_codes (const TmPackedInteger *data, guint64 slice, guint64 row, gsize n_rows, guint64 column,
                              gsize n_columns, guint8 *out, GError **error)
{
  switch (data->arrangement)
    {
    case TM_WORDS_ALONG_COLUMNS:
      return tm_layout_read_across (&data->layout, data->words, slice, column, n_columns, row, n_rows, out, error);
    case TM_WORDS_ROW_PAIRS:
      return read_pairs (data, slice, row, n_rows, column, n_columns, out, error);
    case TM_WORDS_TILES:
      return read_tiles (data, row, n_rows, column, n_columns, out, error);
    case TM_WORDS_RAGGED:
      return read_ragged (data, row, n_rows, column, n_columns, out, error);
    case TM_WORDS_ALONG_ROWS:
    default:
      return tm_layout_read (&data->layout, data->words, slice, row, n_rows, column, n_columns, out, error);
    }
}

gboolean
tm_packed_integer_get_ribbon (const TmPackedInteger *data, TmCodeLayout *ribbon)
{
  const gboolean across = data->arrangement == TM_WORDS_ALONG_COLUMNS;

  return (across || data->arrangement == TM_WORDS_ALONG_ROWS) && across == !data->layout.down
         && tm_layout_get_ribbon (&data->layout, ribbon);
}

gboolean
tm_packed_integer_read_ribbons (const TmPackedInteger *data, guint64 slice, guint64 row, gsize n_rows, guint64 column,
                                gsize n_columns, guint8 *out, gsize out_pitch, GError **error)
{
  return (data->layout.down ? tm_layout_read_ribbons : tm_layout_turn_ribbons) (
      &data->layout, data->words, slice, row, n_rows, column, n_columns, out, out_pitch, error);
}

guint
tm_packed_integer_locate (const TmPackedInteger *data, guint64 slice, guint64 row, guint64 column,
                          TmCodePiece pieces[TM_MAX_CODE_PIECES])
{
  TmCodeLayout layout;
  guint group;

  switch (data->arrangement)
    {
    case TM_WORDS_ALONG_COLUMNS:
      return tm_layout_locate (&data->layout, slice, column, row, pieces);
    case TM_WORDS_ROW_PAIRS:
      pieces[0]
          = (TmCodePiece) { (slice * data->layout.slice + row / 2 * data->n_columns + column) * 8 + 4 * (row & 1), 4 };
      return 1;
    case TM_WORDS_TILES:
      pieces[0] = (TmCodePiece) {
        tile_byte (data, row, column / 64) * 8 + 4 * (column % 64 / 32 * 32 + tile_slot ((guint) (column % 32))), 4
      };
      return 1;
    case TM_WORDS_RAGGED:
      group = data->ragged->group_of_row[data->ragged->stored_row[column]];
      layout = ragged_layout (data, group);
      return tm_layout_locate (&layout, 1, row, data->ragged->stored_row[column] - data->ragged->first[group], pieces);
    case TM_WORDS_ALONG_ROWS:
    default:
      return tm_layout_locate (&data->layout, slice, row, column, pieces);
    }
}
