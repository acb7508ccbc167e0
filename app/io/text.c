#include "io/text.h"

#include <string.h>

/* One character at text: its code point and length in bytes, or −1 and length 1 for a byte that begins none.
 * Overlong forms, surrogates and numbers above U+10FFFF are none; C0 80 may be meant as NUL. */
static gint32
next_char (const guint8 *text, gsize left, gboolean nul_as_c080, gsize *length)
{
  static const gint32 least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
  guint n;
  gint32 c;

  *length = 1;
  if (text[0] < 0x80)
    return text[0];
  if (nul_as_c080 && left >= 2 && text[0] == 0xC0 && text[1] == 0x80)
    {
      *length = 2;
      return 0;
    }
  if (text[0] >= 0xC2 && text[0] <= 0xDF)
    n = 2, c = text[0] & 0x1F;
  else if (text[0] >= 0xE0 && text[0] <= 0xEF)
    n = 3, c = text[0] & 0x0F;
  else if (text[0] >= 0xF0 && text[0] <= 0xF4)
    n = 4, c = text[0] & 0x07;
  else
    return -1;
  if (left < n)
    return -1;
  for (guint i = 1; i < n; i++)
    {
      if ((text[i] & 0xC0) != 0x80)
        return -1;
      c = c << 6 | (text[i] & 0x3F);
    }
  if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
    return -1;
  *length = n;
  return c;
}

/* Characters that show nothing of themselves and change how others are read. */
static gboolean
is_hidden (gint32 c)
{
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F || c == 0x2028 || c == 0x2029
         || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB)
         || (c >= 0xE0000 && c <= 0xE007F);
}

char *
tm_text_escape (const char *bytes, gssize length)
{
  const guint8 *p = (const guint8 *)bytes;
  gsize left = length < 0 ? strlen (bytes) : (gsize)length, n;
  GString *out = g_string_sized_new (left);

  for (; left > 0; p += n, left -= n)
    {
      gint32 c = next_char (p, left, length < 0, &n);

      if (c == '\n')
        g_string_append (out, "\\n");
      else if (c == '\t')
        g_string_append (out, "\\t");
      else if (c == '\r')
        g_string_append (out, "\\r");
      else if (c == 0x1B)
        g_string_append (out, "\\e");
      else if (c < 0)
        g_string_append_printf (out, "\\x%02X", *p);
      else if (c < 0x20 || c == 0x7F)
        g_string_append_printf (out, "\\x%02X", (guint)c);
      else if (is_hidden (c))
        g_string_append_printf (out, "\\u{%04X}", (guint)c);
      else
        g_string_append_len (out, (const char *)p, (gssize)n);
    }
  return g_string_free (out, FALSE);
}

static void
append_json_escape (GString *out, gint32 c)
{
  if (c > 0xFFFF)
    g_string_append_printf (out, "\\u%04x\\u%04x", 0xD800u + ((guint)(c - 0x10000) >> 10), 0xDC00u + ((guint)c & 0x3FF));
  else
    g_string_append_printf (out, "\\u%04x", (guint)c);
}

void
tm_json_append_string (GString *out, const char *bytes, gssize length)
{
  const guint8 *p = (const guint8 *)bytes;
  gsize left = length < 0 ? strlen (bytes) : (gsize)length, n;

  g_string_append_c (out, '"');
  for (; left > 0; p += n, left -= n)
    {
      gint32 c = next_char (p, left, length < 0, &n);

      switch (c)
        {
        case -1:
          g_string_append (out, "\uFFFD");
          break;
        case '"':
          g_string_append (out, "\\\"");
          break;
        case '\\':
          g_string_append (out, "\\\\");
          break;
        case '\n':
          g_string_append (out, "\\n");
          break;
        case '\r':
          g_string_append (out, "\\r");
          break;
        case '\t':
          g_string_append (out, "\\t");
          break;
        default:
          if (is_hidden (c))
            append_json_escape (out, c);
          else
            g_string_append_len (out, (const char *)p, (gssize)n);
          break;
        }
    }
  g_string_append_c (out, '"');
}

void
tm_json_append_text (GString *out, const char *json, gsize length)
{
  const guint8 *p = (const guint8 *)json;
  gsize n;

  for (; length > 0; p += n, length -= n)
    {
      gint32 c = next_char (p, length, FALSE, &n);

      if (c >= 0x7F && is_hidden (c)) /* outside of strings there is nothing but ASCII */
        append_json_escape (out, c);
      else
        g_string_append_len (out, (const char *)p, (gssize)n);
    }
}

char *
tm_text_elide (const char *text, gsize max_chars)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  gsize length = (gsize)g_utf8_strlen (valid, -1), head, tail;
  const char *head_end, *tail_start;

  if (length <= max_chars)
    return g_steal_pointer (&valid);
  if (max_chars == 0)
    return g_strdup ("");
  /* Names differ at their ends, so the end gets the odd character. */
  head = (max_chars - 1) / 2;
  tail = max_chars - 1 - head;
  head_end = g_utf8_offset_to_pointer (valid, (glong)head);
  tail_start = g_utf8_offset_to_pointer (valid, (glong)(length - tail));
  return g_strdup_printf ("%.*s…%s", (gint)(head_end - valid), valid, tail_start);
}
