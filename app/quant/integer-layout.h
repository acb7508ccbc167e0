/* Where an integer code lies in packed words.
 *
 * A stored matrix of words is a number of lines, each a stream of codes; a line is a row of the stored matrix, or (down) a
 * column of it: then word k of the stream is row k of that column. Code a of line b:
 *
 *   STREAM   bits a·bits …          dense and little-endian; a code may straddle two words
 *   PADDED   word a div n, field a mod n, n = ⌊32 / bits⌋; the bits left over at the top of each word mean nothing
 *   PLANES   every 32 codes in bit planes, one after another, low bits first: 3 = 2+1, 5 = 4+1, 6 = 4+2, 7 = 4+2+1
 *   AWQ      word a div 8, nibble 0 4 1 5 2 6 3 7 of a mod 8
 *
 *   word       31              …               0
 *   STREAM 4   | a+7 | a+6 | a+5 | a+4 | a+3 | a+2 | a+1 | a |
 *   AWQ        | a+7 | a+5 | a+3 | a+1 | a+6 | a+4 | a+2 | a |
 */
#pragma once

#include "quant/operand.h"

G_BEGIN_DECLS

typedef enum
{
  TM_ORDER_STREAM,
  TM_ORDER_PADDED,
  TM_ORDER_PLANES,
  TM_ORDER_AWQ
} TmCodeOrder;

typedef struct
{
  TmCodeOrder order;
  guint bits;    /* 1 … 8 */
  gboolean down; /* lines are columns of words */
  guint64 pitch; /* down: words in a row of the stored matrix; else bytes of a line */
  guint64 slice; /* bytes of one slice (expert); 0 where there is one */
} TmCodeLayout;

typedef struct
{
  guint64 bit;
  guint bits;
} TmCodePiece; /* of the stored tensor; low bits of the code first */
#define TM_MAX_CODE_PIECES 4

/* Bits of a stream that hold n codes. */
guint64 tm_layout_get_stream_bits (const TmCodeLayout *layout, guint64 n);
guint tm_layout_locate (const TmCodeLayout *layout, guint64 slice, guint64 line, guint64 a,
                        TmCodePiece pieces[TM_MAX_CODE_PIECES]);
/* Codes first … first + n − 1 of a stream in memory, readable bytes of it from its bit 0 on. */
void tm_layout_unpack (const TmCodeLayout *layout, const guint8 *stream, gsize readable, guint64 first, gsize n,
                       guint8 *out);
/* Codes first … of each of n_lines lines: out[(line − first line) × n + (a − first)]. */
gboolean tm_layout_read (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line, gsize n_lines,
                         guint64 first, gsize n, guint8 *out, GError **error);
/* The same with the lines across: out[(a − first) × n_lines + (line − first line)]. */
gboolean tm_layout_read_across (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line,
                                gsize n_lines, guint64 first, gsize n, guint8 *out, GError **error);

/* --- Words in memory -------------------------------------------------------------------------------------------------- */

/* Lines that are columns of words, pitch bytes from row to row: their codes 0 … n − 1, each line to a row of out. */
void tm_layout_unpack_columns (const TmCodeLayout *layout, const guint8 *words, gsize pitch, gsize n_lines, gsize n,
                               guint8 *out, gsize out_pitch);

/* A ribbon: the words of eight lines side by side, running down, so that a code of all eight is in one vector, and the words
 * of eight rows of a matrix lie together. Ribbons of n codes each follow one another, out_pitch bytes from one to the next. */
#define TM_RIBBON_LINES 8u
#define TM_RIBBON_PITCH 32u /* bytes from one row of words to the next */

/* How a ribbon of a layout is laid out: as the layout itself where lines are columns of words, and for rows of nibbles, whose
 * codes become the lines, a stream of nibbles down. FALSE: no ribbons of it. */
gboolean tm_layout_get_ribbon (const TmCodeLayout *layout, TmCodeLayout *ribbon);
gsize tm_layout_get_ribbon_bytes (const TmCodeLayout *ribbon, gsize n);
/* Codes begin … begin + n − 1 (begin: a multiple of 32) of n_lines lines. */
gboolean tm_layout_read_ribbons (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 line,
                                 gsize n_lines, guint64 begin, gsize n, guint8 *out, gsize out_pitch, GError **error);
/* Rows of nibbles turned: the ribbons' lines are codes first … (a multiple of 8), n_lines of them, and their codes are the n
 * rows from row on. */
gboolean tm_layout_turn_ribbons (const TmCodeLayout *layout, const TmStored *stored, guint64 slice, guint64 first,
                                 gsize n_lines, guint64 row, gsize n, guint8 *out, gsize out_pitch, GError **error);

const char *tm_layout_get_order_text (const TmCodeLayout *layout); /* NULL: as one expects */

G_END_DECLS
