/* A cursor reads a range of a source from front to back: numbers in the file's byte order, spans and strings, every
 * length checked against the bytes left. It reads in large pieces and keeps one of them, so memory stays flat.
 *
 * The first error is latched: later calls return 0, NULL or FALSE and do nothing, so a record can be read field by field
 * and checked once. */
#pragma once

#include "io/source.h"

G_BEGIN_DECLS

typedef struct
{
  TmSource *source;          /* own reference */
  GCancellable *cancellable; /* borrowed; looked at whenever the file is read */
  guint64 position;          /* of the next byte in the source */
  guint64 end;               /* one past the last byte that may be read */
  gboolean big_endian;
  GError *error;
  guint8 *buffer;
  guint64 buffer_start;      /* position of buffer[0] in the source */
  gsize buffer_length;
} TmCursor;

void tm_cursor_init (TmCursor *cursor, TmSource *source, guint64 start, guint64 end, GCancellable *cancellable);
void tm_cursor_clear (TmCursor *cursor);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmCursor, tm_cursor_clear)

static inline guint64
tm_cursor_get_left (const TmCursor *cursor)
{
  return cursor->end - cursor->position;
}

/* A span of at most TM_CURSOR_SPAN bytes, valid until the next call; moves past it. */
#define TM_CURSOR_SPAN 4096
const guint8 *tm_cursor_take (TmCursor *cursor, gsize count);

guint8 tm_cursor_u8 (TmCursor *cursor);
guint16 tm_cursor_u16 (TmCursor *cursor);
guint32 tm_cursor_u32 (TmCursor *cursor);
guint64 tm_cursor_u64 (TmCursor *cursor);

gboolean tm_cursor_skip (TmCursor *cursor, guint64 count);
/* count bytes and a NUL after them; NULL on error. (transfer full) */
char *tm_cursor_dup (TmCursor *cursor, guint64 count);

/* Latches an error unless there is one already. Returns FALSE. */
gboolean tm_cursor_fail (TmCursor *cursor, int code, const char *format, ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS
