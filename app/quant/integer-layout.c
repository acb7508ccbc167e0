#include "quant/integer-layout.h"

#include <string.h>

#include "quant/half.h"
#include "quant/kernels.h"
#include "quant/quant-private.h"

static const guint8 awq_nibble[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };

static guint
codes_a_word (const TmCodeLayout *layout)
{
  return 32 / layout->bits;
}

/* Widths of the planes, low bits first; 0 ends them. */
static const guint8 *
planes_of (guint bits)
{
  static const guint8 planes[9][4] = { { 0 }, { 1 }, { 2 }, { 2, 1 }, { 4 }, { 4, 1 }, { 4, 2 }, { 4, 2, 1 }, { 8 } };

  return planes[MIN (bits, 8)];
}

guint64
tm_layout_get_stream_bits (const TmCodeLayout *layout, guint64 n)
{
  switch (layout->order)
    {
    case TM_ORDER_PADDED:
      return (n / codes_a_word (layout) + (n % codes_a_word (layout) != 0)) * 32;
    case TM_ORDER_PLANES:
      return (n / 32 + (n % 32 != 0)) * 32 * layout->bits;
    case TM_ORDER_AWQ:
      return (n / 8 + (n % 8 != 0)) * 32;
    case TM_ORDER_STREAM:
    default:
      return n * layout->bits;
    }
}

/* A run of bits of a line's stream, as runs of the stored tensor's bits. */
static guint
place (const TmCodeLayout *layout, guint64 base, guint64 line, guint64 bit, guint bits, TmCodePiece *pieces, guint n)
{
  if (!layout->down)
    {
      pieces[n++] = (TmCodePiece) { base + line * layout->pitch * 8 + bit, bits };
      return n;
    }
  while (bits > 0 && n < TM_MAX_CODE_PIECES)
    {
      guint low = MIN (bits, 32 - (guint) (bit & 31));

      pieces[n++] = (TmCodePiece) { base + ((bit >> 5) * layout->pitch + line) * 32 + (bit & 31), low };
      bit += low;
      bits -= low;
    }
  return n;
}

guint
tm_layout_locate (const TmCodeLayout *layout, guint64 slice, guint64 line, guint64 a,
                  TmCodePiece pieces[TM_MAX_CODE_PIECES])
{
  const guint64 base = slice * layout->slice * 8;
  const guint8 *plane;
  guint64 at;
  guint n = 0;

  switch (layout->order)
    {
    case TM_ORDER_PADDED:
      return place (layout, base, line, a / codes_a_word (layout) * 32 + a % codes_a_word (layout) * layout->bits,
                    layout->bits, pieces, 0);
    case TM_ORDER_AWQ:
      return place (layout, base, line, a / 8 * 32 + 4 * awq_nibble[a % 8], 4, pieces, 0);
    case TM_ORDER_PLANES:
      at = a / 32 * 32 * layout->bits;
      for (plane = planes_of (layout->bits); plane < planes_of (layout->bits) + 4 && *plane; plane++)
        {
          n = place (layout, base, line, at + a % 32 * *plane, *plane, pieces, n);
          at += 32 * (guint64) *plane;
        }
      return n;
    case TM_ORDER_STREAM:
    default:
      return place (layout, base, line, a * layout->bits, layout->bits, pieces, 0);
    }
}

static guint8
bits_at (const guint8 *stream, gsize readable, guint64 bit, guint bits)
{
  guint8 code;

  tm_fields_unpack (stream, readable, bit, bits, 1, &code);
  return code;
}

void
tm_layout_unpack (const TmCodeLayout *layout, const guint8 *stream, gsize readable, guint64 first, gsize n, guint8 *out)
{
  const guint8 *plane;
  const guint each = codes_a_word (layout);

  switch (layout->order)
    {
    case TM_ORDER_PADDED:
      for (gsize i = 0; i < n; i++)
        out[i] = bits_at (stream, readable, (first + i) / each * 32 + (first + i) % each * layout->bits, layout->bits);
      return;
    case TM_ORDER_AWQ:
      for (gsize i = 0; i < n;)
        {
          const guint k = (guint) ((first + i) % 8);
          const gsize at = (gsize) ((first + i) / 8 * 4), here = MIN (8 - k, n - i);
          const guint32 word = at + 4 <= readable ? tm_load_u32 (stream + at) : 0;

          for (gsize c = 0; c < here; c++)
            out[i + c] = (guint8) (word >> (4 * awq_nibble[k + c]) & 15);
          i += here;
        }
      return;
    case TM_ORDER_PLANES:
      for (gsize i = 0; i < n; i++)
        {
          guint64 a = first + i, at = a / 32 * 32 * layout->bits;
          guint shift = 0;

          out[i] = 0;
          for (plane = planes_of (layout->bits); plane < planes_of (layout->bits) + 4 && *plane; plane++)
            {
              out[i] |= (guint8) (bits_at (stream, readable, at + a % 32 * *plane, *plane) << shift);
              shift += *plane;
              at += 32 * (guint64) *plane;
            }
        }
      return;
    case TM_ORDER_STREAM:
    default:
      tm_fields_unpack (stream, readable, first * layout->bits, layout->bits, n, out);
      return;
    }
}

/* Codes that begin and end at a word: what can be read alone. */
static guint
codes_a_unit (const TmCodeLayout *layout)
{
  switch (layout->order)
    {
    case TM_ORDER_PADDED:
      return codes_a_word (layout);
    case TM_ORDER_AWQ:
      return 8;
    case TM_ORDER_STREAM:
    case TM_ORDER_PLANES:
    default:
      return 32;
    }
}

/* Lines that are rows: each a run of bytes. */
static gboolean
read_rows (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
           guint64 first, gsize n, guint8 *out, GError **error)
{
  const guint unit = codes_a_unit (layout);
  const guint64 begin = first / unit * unit, from = tm_layout_get_stream_bits (layout, begin) / 8;
  const guint64 to = MIN ((tm_layout_get_stream_bits (layout, first + n) + 7) / 8, layout->pitch);
  const gsize size = (gsize) (to - from);
  const gsize at_once = CLAMP (TM_READ_BYTES / MAX (size, 1), 1, n_lines);
  g_autofree guint8 *packed = g_try_malloc (at_once * size);

  if (packed == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "out of memory");
      return FALSE;
    }
  for (gsize l = 0; l < n_lines; l += at_once)
    {
      gsize n_here = MIN (at_once, n_lines - l);

      if (!tm_operand_read_band (stored, slice * layout->slice + (line + l) * layout->pitch + from, layout->pitch,
                                 n_here, size, packed, size, error))
        return FALSE;
      for (gsize i = 0; i < n_here; i++)
        tm_layout_unpack (layout, packed + i * size, size, first - begin, n, out + (l + i) * n);
    }
  return TRUE;
}

#define LINES 16 /* words of a cache line */

void
tm_layout_unpack_columns (const TmCodeLayout *layout, const guint8 *band, gsize pitch, gsize n_lines, gsize n,
                          guint8 *out, gsize out_pitch)
{
  const TmIntegerKernels *kernels = &tm_kernels_get ()->integer;
  const gsize n_words = (gsize) (tm_layout_get_stream_bits (layout, n) + 31) / 32;
  const gboolean spreads
      = layout->order == TM_ORDER_STREAM && (layout->bits == 4 || layout->bits == 8 || layout->bits == 2);
  const gsize whole = spreads ? n / (32 / layout->bits) : 0, done = spreads ? whole * (32 / layout->bits) : 0;
  guint8 stream[8192 + 8];

  for (gsize l = 0; l < n_lines && whole; l += LINES)
    kernels->spread_columns (band + 4 * l, pitch, MIN (n_lines - l, LINES), layout->bits, whole, out + l * out_pitch,
                             out_pitch);
  if (done == n)
    return;
  /* Any other width: a line's words one after another, some thousand codes at a time. */
  for (gsize l = 0; l < n_lines; l++)
    for (gsize a = done; a < n;)
      {
        const guint unit = codes_a_unit (layout), words = (guint) (tm_layout_get_stream_bits (layout, unit) / 32);
        const gsize begin = a / unit * unit, row = begin / unit * words;
        const gsize here = MIN (n_words - row, 8192 / 4 / words * words),
                    stop = MIN (n, begin + here / words * unit + (here % words ? unit : 0));

        for (gsize w = 0; w < here; w++)
          memcpy (stream + 4 * w, band + (row + w) * pitch + 4 * l, 4);
        memset (stream + 4 * here, 0, 8);
        tm_layout_unpack (layout, stream, 4 * here + 8, a - begin, stop - a, out + l * out_pitch + a);
        a = stop;
      }
}

/* Lines that are columns of words: a band of them is read, as many word rows as fit. */
static gboolean
read_columns (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
              guint64 first, gsize n, guint8 *out, GError **error)
{
  const guint unit = codes_a_unit (layout), words = (guint) (tm_layout_get_stream_bits (layout, unit) / 32);
  const gsize most = MAX (4 * TM_READ_BYTES / (n_lines * 4 * words), 1); /* units of one band */
  const guint64 end = first + n;
  g_autofree guint8 *band = g_try_malloc (most * words * n_lines * 4), *whole = NULL;

  if (band == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "out of memory");
      return FALSE;
    }
  for (guint64 a = first / unit * unit; a < end; a += most * unit)
    {
      const guint64 stop = MIN (a + most * unit, end), row = tm_layout_get_stream_bits (layout, a) / 32;
      const gsize n_rows = (gsize) ((tm_layout_get_stream_bits (layout, stop) + 31) / 32 - row),
                  codes = (gsize) (stop - a);

      if (!tm_operand_read_band (stored, slice * layout->slice + (row * layout->pitch + line) * 4, layout->pitch * 4,
                                 n_rows, n_lines * 4, band, n_lines * 4, error))
        return FALSE;
      if (a >= first)
        {
          tm_layout_unpack_columns (layout, band, n_lines * 4, n_lines, codes, out + (a - first), n);
          continue;
        }
      whole = g_malloc (n_lines * codes); /* begins inside a unit */
      tm_layout_unpack_columns (layout, band, n_lines * 4, n_lines, codes, whole, codes);
      for (gsize l = 0; l < n_lines; l++)
        memcpy (out + l * n, whole + l * codes + (first - a), codes - (gsize) (first - a));
    }
  return TRUE;
}

gboolean
tm_layout_read (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
                guint64 first, gsize n, guint8 *out, GError **error)
{
  if (n_lines == 0 || n == 0)
    return TRUE;
  return (layout->down ? read_columns : read_rows) (layout, stored, slice, line, n_lines, first, n, out, error);
}

gboolean
tm_layout_read_across (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
                       guint64 first, gsize n, guint8 *out, GError **error)
{
  g_autofree guint8 *codes = g_try_malloc (MAX (n_lines * n, 1));

  if (codes == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "out of memory");
      return FALSE;
    }
  if (!tm_layout_read (layout, stored, slice, line, n_lines, first, n, codes, error))
    return FALSE;
  for (gsize l = 0; l < n_lines; l++)
    for (gsize i = 0; i < n; i++)
      out[i * n_lines + l] = codes[l * n + i];
  return TRUE;
}

/* --- Ribbons ---------------------------------------------------------------------------------------------------------- */

gboolean
tm_layout_get_ribbon (const TmCodeLayout *layout, TmCodeLayout *ribbon)
{
  const gboolean turns = !layout->down && layout->bits == 4 && layout->pitch % 4 == 0
                         && (layout->order == TM_ORDER_AWQ || layout->order == TM_ORDER_STREAM);

  if (!turns && (!layout->down || layout->order == TM_ORDER_PADDED))
    return FALSE;
  *ribbon = turns ? (TmCodeLayout) { .order = TM_ORDER_STREAM, .bits = 4, .down = TRUE } : *layout;
  return TRUE;
}

gsize
tm_layout_get_ribbon_bytes (const TmCodeLayout *ribbon, gsize n)
{
  return (gsize) (tm_layout_get_stream_bits (ribbon, n) + 31) / 32 * TM_RIBBON_PITCH;
}

/* Rows of n_bytes that are read at once, a multiple of so many. */
static guint8 *
new_rows (gsize n_bytes, gsize multiple, gsize *n_rows, GError **error)
{
  guint8 *rows;

  *n_rows = MAX (TM_READ_BYTES / MAX (n_bytes, 1) / multiple, 1) * multiple;
  rows = g_try_malloc0 (*n_rows * n_bytes + 1);
  if (rows == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "out of memory");
  return rows;
}

gboolean
tm_layout_read_ribbons (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
                        guint64 begin, gsize n, guint8 *out, gsize out_pitch, GError **error)
{
  const guint64 row = tm_layout_get_stream_bits (layout, begin) / 32;
  const gsize n_ribbons = (n_lines + TM_RIBBON_LINES - 1) / TM_RIBBON_LINES, pitch = n_ribbons * TM_RIBBON_PITCH;
  const gsize n_rows = tm_layout_get_ribbon_bytes (layout, n) / TM_RIBBON_PITCH;
  gsize at_once;
  g_autofree guint8 *packed = new_rows (pitch, 1, &at_once, error);

  if (packed == NULL)
    return FALSE;
  for (gsize r = 0; r < n_rows; r += at_once)
    {
      const gsize here = MIN (at_once, n_rows - r);

      if (!tm_operand_read_band (stored, slice * layout->slice + ((row + r) * layout->pitch + line) * 4,
                                 layout->pitch * 4, here, n_lines * 4, packed, pitch, error))
        return FALSE;
      for (gsize k = 0; k < n_ribbons; k++)
        for (gsize i = 0; i < here; i++)
          memcpy (out + k * out_pitch + (r + i) * TM_RIBBON_PITCH, packed + i * pitch + k * TM_RIBBON_PITCH,
                  TM_RIBBON_PITCH);
    }
  return TRUE;
}

gboolean
tm_layout_turn_ribbons (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 first, gsize n_lines,
                        guint64 row, gsize n, guint8 *out, gsize out_pitch, GError **error)
{
  static const guint8 straight[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  const gsize n_words = (n_lines + 7) / 8, pitch = n_words * 4 + 64;
  gsize at_once;
  g_autofree guint8 *packed = new_rows (pitch, 8, &at_once, error);

  if (packed == NULL)
    return FALSE;
  for (gsize r = 0; r < n; r += at_once)
    {
      const gsize here = MIN (at_once, n - r);

      if (!tm_operand_read_band (stored, slice * layout->slice + (row + r) * layout->pitch + first / 8 * 4, layout->pitch,
                                 here, n_words * 4, packed, pitch, error))
        return FALSE;
      tm_kernels_get ()->integer.turn_nibbles (packed, pitch, n_words, (here + 7) / 8 * 8,
                                               layout->order == TM_ORDER_AWQ ? awq_nibble : straight,
                                               out + r / 8 * TM_RIBBON_PITCH, out_pitch);
    }
  return TRUE;
}

const char *
tm_layout_get_order_text (const TmCodeLayout *layout)
{
  switch (layout->order)
    {
    case TM_ORDER_AWQ:
      return "nibbles hold codes 0 2 4 6 1 3 5 7";
    case TM_ORDER_PADDED:
      return 32 % layout->bits ? "fields from the low end; the top bits of each word are unused" : NULL;
    case TM_ORDER_PLANES:
      return "32 codes in bit planes, one after another";
    case TM_ORDER_STREAM:
    default:
      return layout->down ? "one dense stream down each column of words" : "one dense stream along each row";
    }
}
