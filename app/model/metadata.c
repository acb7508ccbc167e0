#include "model/metadata.h"

#include <string.h>

#include "io/error.h"
#include "io/limits.h"
#include "io/number.h"
#include "io/text.h"
#include "model/meta-walk.h"

void
tm_metadata_free (TmMetadata *entry)
{
  if (entry == NULL)
    return;
  g_free (entry->key);
  g_free (entry->string);
  tm_source_unref (entry->source);
  g_free (entry);
}

const char *
tm_meta_type_get_name (TmMetaType type)
{
  static const char *const names[] = { "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64",
                                       "i64", "f64", "json" };

  return (guint) type < G_N_ELEMENTS (names) ? names[type] : "unknown";
}

static TmMetadata *
read_item (const TmMetadata *entry, TmCursor *cursor, guint64 number)
{
  TmMetadata *item = g_new0 (TmMetadata, 1);
  guint32 bits;

  item->type = entry->item_type;
  item->key = g_strdup ("");
  switch (entry->item_type)
    {
    case TM_META_U8:
      item->as.u = tm_cursor_u8 (cursor);
      break;
    case TM_META_I8:
      item->as.i = (gint8) tm_cursor_u8 (cursor);
      break;
    case TM_META_U16:
      item->as.u = tm_cursor_u16 (cursor);
      break;
    case TM_META_I16:
      item->as.i = (gint16) tm_cursor_u16 (cursor);
      break;
    case TM_META_U32:
      item->as.u = tm_cursor_u32 (cursor);
      break;
    case TM_META_I32:
      item->as.i = (gint32) tm_cursor_u32 (cursor);
      break;
    case TM_META_F32:
      {
        float value;

        bits = tm_cursor_u32 (cursor);
        memcpy (&value, &bits, sizeof value);
        item->as.f = (double) value;
        break;
      }
    case TM_META_BOOL:
      item->raw_bool = tm_cursor_u8 (cursor);
      item->as.b = item->raw_bool != 0;
      break;
    case TM_META_U64:
    case TM_META_I64:
    case TM_META_F64:
      item->as.u = tm_cursor_u64 (cursor);
      break;
    case TM_META_STRING:
      item->string_length = (gsize) tm_meta_read_length (cursor, entry->version);
      item->string = tm_cursor_dup (cursor, item->string_length);
      break;
    case TM_META_ARRAY:
      {
        guint64 count_at;

        item->item_type = (TmMetaType) tm_cursor_u32 (cursor);
        count_at = cursor->position;
        item->n_items = tm_meta_read_length (cursor, entry->version);
        item->offset = cursor->position;
        tm_meta_skip_items (cursor, entry->version, item->item_type, item->n_items, count_at, 1, NULL);
        item->size = cursor->position - item->offset;
        item->source = tm_source_ref (entry->source);
        item->version = entry->version;
        item->big_endian = entry->big_endian;
        break;
      }
    case TM_META_JSON:
    default:
      tm_cursor_fail (cursor, TM_ERROR_FORMAT, "item %" G_GUINT64_FORMAT " has unknown type %d", number, (int) entry->item_type);
      break;
    }
  return item;
}

GPtrArray *
tm_metadata_read_items (const TmMetadata *entry, guint64 max, GError **error)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_metadata_free);
  g_auto (TmCursor) cursor = { 0 };

  if (entry->type != TM_META_ARRAY || entry->source == NULL)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_FORMAT, "not an array");
      return NULL;
    }
  tm_cursor_init (&cursor, entry->source, entry->offset, entry->offset + entry->size, NULL);
  cursor.big_endian = entry->big_endian;
  for (guint64 i = 0; i < entry->n_items && i < max; i++)
    {
      g_ptr_array_add (items, read_item (entry, &cursor, i));
      if (cursor.error != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&cursor.error));
          return NULL;
        }
    }
  return g_steal_pointer (&items);
}

/* --- Text ---------------------------------------------------------------------------------------------------------- */

static void
append_scalar (GString *text, const TmMetadata *entry)
{
  char number[TM_NUMBER_SIZE];
  g_autofree char *escaped = NULL;

  switch (entry->type)
    {
    case TM_META_U8:
    case TM_META_U16:
    case TM_META_U32:
    case TM_META_U64:
      g_string_append_printf (text, "%" G_GUINT64_FORMAT, entry->as.u);
      break;
    case TM_META_I8:
    case TM_META_I16:
    case TM_META_I32:
    case TM_META_I64:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, entry->as.i);
      break;
    case TM_META_F32:
      g_string_append (text, tm_format_float32 (number, (float) entry->as.f));
      break;
    case TM_META_F64:
      g_string_append (text, tm_format_float64 (number, entry->as.f));
      break;
    case TM_META_BOOL:
      g_string_append (text, entry->as.b ? "true" : "false");
      if (entry->raw_bool > 1)
        g_string_append_printf (text, " (stored as %u)", entry->raw_bool);
      break;
    case TM_META_STRING:
    case TM_META_JSON:
      escaped = tm_text_escape (entry->string, (gssize) entry->string_length);
      g_string_append (text, escaped);
      break;
    case TM_META_ARRAY:
    default:
      break;
    }
}

/* Nested arrays: one frame an array that is open, at most TM_MAX_ARRAY_DEPTH of them. */
char *
tm_metadata_format (const TmMetadata *entry, guint64 max_items)
{
  struct { GPtrArray *items; guint next; guint64 total; } stack[TM_MAX_ARRAY_DEPTH + 1];
  GString *text = g_string_new (NULL);
  const TmMetadata *value = entry;
  guint n = 0;

  for (;;)
    {
      if (value->type != TM_META_ARRAY)
        append_scalar (text, value);
      else if (n > TM_MAX_ARRAY_DEPTH)
        g_string_append (text, "[…]");
      else
        {
          g_autoptr (GError) error = NULL;
          GPtrArray *items = tm_metadata_read_items (value, max_items, &error);

          if (items == NULL)
            g_string_append_printf (text, "(%s)", error->message);
          else
            {
              g_string_append_c (text, '[');
              stack[n].items = items;
              stack[n].next = 0;
              stack[n++].total = value->n_items;
            }
        }

      while (n > 0 && stack[n - 1].next == stack[n - 1].items->len)
        {
          guint64 total = stack[n - 1].total;

          if (total > stack[n - 1].items->len)
            g_string_append_printf (text, "%s… %" G_GUINT64_FORMAT " items", stack[n - 1].items->len > 0 ? ", " : "", total);
          g_string_append_c (text, ']');
          g_ptr_array_unref (stack[--n].items);
        }
      if (n == 0)
        return g_string_free (text, FALSE);
      if (stack[n - 1].next > 0)
        g_string_append (text, ", ");
      value = g_ptr_array_index (stack[n - 1].items, stack[n - 1].next++);
    }
}
