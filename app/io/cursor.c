#include "io/cursor.h"

#include <string.h>

#include "io/error.h"

#define CHUNK ((gsize) 256 * 1024)

G_STATIC_ASSERT (TM_CURSOR_SPAN <= CHUNK);

void
tm_cursor_init (TmCursor *cursor, TmSource *source, guint64 start, guint64 end, GCancellable *cancellable)
{
  memset (cursor, 0, sizeof *cursor);
  cursor->source = tm_source_ref (source);
  cursor->cancellable = cancellable;
  cursor->end = MIN (end, tm_source_get_size (source));
  cursor->position = MIN (start, cursor->end);
}

void
tm_cursor_clear (TmCursor *cursor)
{
  g_clear_pointer (&cursor->source, tm_source_unref);
  g_clear_pointer (&cursor->buffer, g_free);
  g_clear_error (&cursor->error);
}

gboolean
tm_cursor_fail (TmCursor *cursor, int code, const char *format, ...)
{
  va_list args;

  if (cursor->error != NULL)
    return FALSE;
  va_start (args, format);
  cursor->error = g_error_new_valist (TM_ERROR, code, format, args);
  va_end (args);
  return FALSE;
}

static gboolean
too_short (TmCursor *cursor, guint64 count)
{
  return tm_cursor_fail (cursor, TM_ERROR_TRUNCATED,
                         "%" G_GUINT64_FORMAT " bytes are wanted at byte %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                         " are left",
                         count, cursor->position, tm_cursor_get_left (cursor));
}

/* Makes at least count bytes at the position available in the buffer; count ≤ CHUNK and within the end. */
static gboolean
fill (TmCursor *cursor, gsize count)
{
  gsize size;

  if (cursor->error != NULL || g_cancellable_set_error_if_cancelled (cursor->cancellable, &cursor->error))
    return FALSE;
  if (cursor->buffer == NULL)
    cursor->buffer = g_malloc ((gsize) MIN (CHUNK, tm_cursor_get_left (cursor)));
  size = (gsize) MIN (CHUNK, tm_cursor_get_left (cursor));
  g_return_val_if_fail (count <= size, FALSE);
  cursor->buffer_length = 0;
  if (!tm_source_read (cursor->source, cursor->position, cursor->buffer, size, &cursor->error))
    return FALSE;
  cursor->buffer_start = cursor->position;
  cursor->buffer_length = size;
  return TRUE;
}

const guint8 *
tm_cursor_take (TmCursor *cursor, gsize count)
{
  const guint8 *span;
  guint64 ahead;

  if (cursor->error != NULL)
    return NULL;
  if (count > tm_cursor_get_left (cursor))
    {
      too_short (cursor, count);
      return NULL;
    }
  if (count == 0)
    return (const guint8 *) "";
  g_return_val_if_fail (count <= TM_CURSOR_SPAN, NULL);
  ahead = cursor->position - cursor->buffer_start; /* skipping past the buffer makes it larger than the length */
  if (ahead > cursor->buffer_length || cursor->buffer_length - (gsize) ahead < count)
    {
      if (!fill (cursor, count))
        return NULL;
      ahead = 0;
    }
  span = cursor->buffer + ahead;
  cursor->position += count;
  return span;
}

guint8
tm_cursor_u8 (TmCursor *cursor)
{
  const guint8 *span = tm_cursor_take (cursor, 1);

  return span != NULL ? *span : 0;
}

guint16
tm_cursor_u16 (TmCursor *cursor)
{
  const guint8 *span = tm_cursor_take (cursor, 2);
  guint16 value;

  if (span == NULL)
    return 0;
  memcpy (&value, span, 2);
  return (guint16) (cursor->big_endian ? GUINT16_FROM_BE (value) : GUINT16_FROM_LE (value));
}

guint32
tm_cursor_u32 (TmCursor *cursor)
{
  const guint8 *span = tm_cursor_take (cursor, 4);
  guint32 value;

  if (span == NULL)
    return 0;
  memcpy (&value, span, 4);
  return cursor->big_endian ? GUINT32_FROM_BE (value) : GUINT32_FROM_LE (value);
}

guint64
tm_cursor_u64 (TmCursor *cursor)
{
  const guint8 *span = tm_cursor_take (cursor, 8);
  guint64 value;

  if (span == NULL)
    return 0;
  memcpy (&value, span, 8);
  return cursor->big_endian ? GUINT64_FROM_BE (value) : GUINT64_FROM_LE (value);
}

gboolean
tm_cursor_skip (TmCursor *cursor, guint64 count)
{
  if (cursor->error != NULL)
    return FALSE;
  if (count > tm_cursor_get_left (cursor))
    return too_short (cursor, count);
  cursor->position += count;
  return TRUE;
}

char *
tm_cursor_dup (TmCursor *cursor, guint64 count)
{
  g_autofree char *copy = NULL;

  if (cursor->error != NULL)
    return NULL;
  if (count > tm_cursor_get_left (cursor) || count >= G_MAXSIZE)
    {
      too_short (cursor, count);
      return NULL;
    }
  copy = g_try_malloc ((gsize) count + 1);
  if (copy == NULL)
    {
      tm_cursor_fail (cursor, TM_ERROR_IO, "no memory for the %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT, count,
                      cursor->position);
      return NULL;
    }
  if (count <= TM_CURSOR_SPAN)
    {
      const guint8 *span = tm_cursor_take (cursor, (gsize) count);

      if (span == NULL)
        return NULL;
      memcpy (copy, span, (gsize) count);
    }
  else
    {
      if (!tm_source_read (cursor->source, cursor->position, copy, (gsize) count, &cursor->error))
        return NULL;
      cursor->position += count;
    }
  copy[count] = '\0';
  return g_steal_pointer (&copy);
}
