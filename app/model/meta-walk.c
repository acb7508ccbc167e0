#include "model/meta-walk.h"

#include "io/error.h"
#include "io/limits.h"

guint
tm_meta_get_size (guint32 type)
{
  switch (type)
    {
    case TM_META_U8:
    case TM_META_I8:
    case TM_META_BOOL:
      return 1;
    case TM_META_U16:
    case TM_META_I16:
      return 2;
    case TM_META_U32:
    case TM_META_I32:
    case TM_META_F32:
      return 4;
    case TM_META_U64:
    case TM_META_I64:
    case TM_META_F64:
      return 8;
    default:
      return 0;
    }
}

guint64
tm_meta_read_length (TmCursor *cursor, guint version)
{
  return version == 1 ? tm_cursor_u32 (cursor) : tm_cursor_u64 (cursor);
}

static gboolean
find_odd_bool (TmCursor *cursor, guint64 n, guint64 *odd_bool)
{
  while (n > 0)
    {
      gsize count = (gsize) MIN (n, TM_CURSOR_SPAN);
      const guint8 *span = tm_cursor_take (cursor, count);

      if (span == NULL)
        return FALSE;
      for (gsize i = 0; i < count; i++)
        if (span[i] > 1 && *odd_bool == G_MAXUINT64)
          *odd_bool = cursor->position - count + i;
      n -= count;
    }
  return TRUE;
}

/* Counts are checked against the bytes left before anything is walked. */
static gboolean
check_count (TmCursor *cursor, guint version, guint32 item_type, guint64 n_items, guint64 count_at)
{
  guint64 smallest = tm_meta_get_size (item_type);
  guint64 bytes;

  if (item_type == TM_META_STRING)
    smallest = version == 1 ? 4 : 8;
  else if (item_type == TM_META_ARRAY)
    smallest = version == 1 ? 8 : 12;
  else if (smallest == 0)
    return tm_cursor_fail (cursor, TM_ERROR_FORMAT, "unknown array type %u at byte %" G_GUINT64_FORMAT, item_type, count_at - 4);
  if (__builtin_mul_overflow (n_items, smallest, &bytes) || bytes > tm_cursor_get_left (cursor))
    return tm_cursor_fail (cursor, TM_ERROR_TRUNCATED,
                           "an array of %" G_GUINT64_FORMAT " items at byte %" G_GUINT64_FORMAT " does not fit in the %" G_GUINT64_FORMAT
                           " bytes left",
                           n_items, count_at, tm_cursor_get_left (cursor));
  return TRUE;
}

gboolean
tm_meta_skip_items (TmCursor *cursor, guint version, guint32 item_type, guint64 n_items, guint64 count_at, guint depth,
                    guint64 *odd_bool)
{
  struct { guint32 type; guint64 left; } stack[TM_MAX_ARRAY_DEPTH];
  guint n = 0;

  if (cursor->error != NULL)
    return FALSE;
  if (depth > TM_MAX_ARRAY_DEPTH)
    return tm_cursor_fail (cursor, TM_ERROR_FORMAT, "arrays nested deeper than %d at byte %" G_GUINT64_FORMAT,
                           TM_MAX_ARRAY_DEPTH, count_at - 4);
  if (!check_count (cursor, version, item_type, n_items, count_at))
    return FALSE;
  stack[n].type = item_type;
  stack[n++].left = n_items;

  while (n > 0)
    {
      guint32 type = stack[n - 1].type;
      guint64 left = stack[n - 1].left;

      if (type == TM_META_ARRAY && left > 0)
        {
          guint32 inner_type = tm_cursor_u32 (cursor);
          guint64 inner_at = cursor->position;
          guint64 inner = tm_meta_read_length (cursor, version);

          if (cursor->error != NULL)
            return FALSE;
          stack[n - 1].left--;
          if (depth + n > TM_MAX_ARRAY_DEPTH)
            return tm_cursor_fail (cursor, TM_ERROR_FORMAT, "arrays nested deeper than %d at byte %" G_GUINT64_FORMAT,
                                   TM_MAX_ARRAY_DEPTH, inner_at - 4);
          if (!check_count (cursor, version, inner_type, inner, inner_at))
            return FALSE;
          stack[n].type = inner_type;
          stack[n++].left = inner;
          continue;
        }
      if (type == TM_META_STRING)
        {
          for (; left > 0; left--)
            {
              guint64 at = cursor->position;
              guint64 length = tm_meta_read_length (cursor, version);

              if (cursor->error == NULL && length > tm_cursor_get_left (cursor))
                return tm_cursor_fail (cursor, TM_ERROR_TRUNCATED,
                                       "a string of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT
                                       " does not fit in the %" G_GUINT64_FORMAT " bytes left",
                                       length, at, tm_cursor_get_left (cursor));
              if (!tm_cursor_skip (cursor, length))
                return FALSE;
            }
        }
      else if (type == TM_META_BOOL && odd_bool != NULL)
        {
          if (!find_odd_bool (cursor, left, odd_bool))
            return FALSE;
        }
      else if (left > 0 && !tm_cursor_skip (cursor, left * tm_meta_get_size (type)))
        return FALSE;
      n--;
    }
  return TRUE;
}
