#include "io/json-writer.h"

#include "io/number.h"
#include "io/text.h"

#include <math.h>

void
tm_json_writer_init (TmJsonWriter *writer, GString *out)
{
  *writer = (TmJsonWriter){ .out = out };
}

/* A comma, unless a key or the beginning of the level stands before. */
static void
separate (TmJsonWriter *writer)
{
  guint64 level = G_GUINT64_CONSTANT (1) << writer->depth;

  if (writer->after_key)
    writer->after_key = FALSE;
  else if (writer->has_items & level)
    g_string_append_c (writer->out, ',');
  writer->has_items |= level;
}

static void
begin (TmJsonWriter *writer, char bracket)
{
  separate (writer);
  g_string_append_c (writer->out, bracket);
  g_return_if_fail (writer->depth + 1 < TM_JSON_WRITER_DEPTH);
  writer->depth++;
  writer->has_items &= ~(G_GUINT64_CONSTANT (1) << writer->depth);
}

static void
end (TmJsonWriter *writer, char bracket)
{
  g_return_if_fail (writer->depth > 0);
  writer->depth--;
  g_string_append_c (writer->out, bracket);
}

void
tm_json_begin_object (TmJsonWriter *writer)
{
  begin (writer, '{');
}

void
tm_json_end_object (TmJsonWriter *writer)
{
  end (writer, '}');
}

void
tm_json_begin_array (TmJsonWriter *writer)
{
  begin (writer, '[');
}

void
tm_json_end_array (TmJsonWriter *writer)
{
  end (writer, ']');
}

void
tm_json_key (TmJsonWriter *writer, const char *key)
{
  separate (writer);
  tm_json_append_string (writer->out, key, -1);
  g_string_append_c (writer->out, ':');
  writer->after_key = TRUE;
}

void
tm_json_string (TmJsonWriter *writer, const char *text, gssize length)
{
  if (text == NULL)
    {
      tm_json_null (writer);
      return;
    }
  separate (writer);
  tm_json_append_string (writer->out, text, length);
}

void
tm_json_int (TmJsonWriter *writer, gint64 number)
{
  separate (writer);
  g_string_append_printf (writer->out, "%" G_GINT64_FORMAT, number);
}

void
tm_json_uint (TmJsonWriter *writer, guint64 number)
{
  separate (writer);
  g_string_append_printf (writer->out, "%" G_GUINT64_FORMAT, number);
}

static void
append_number (TmJsonWriter *writer, const char *text, gboolean finite)
{
  separate (writer);
  if (finite)
    g_string_append (writer->out, text);
  else
    g_string_append_printf (writer->out, "\"%s\"", text);
}

void
tm_json_float32 (TmJsonWriter *writer, float number)
{
  char buffer[TM_NUMBER_SIZE];
  append_number (writer, tm_format_float32 (buffer, number), isfinite (number) != 0);
}

void
tm_json_float64 (TmJsonWriter *writer, double number)
{
  char buffer[TM_NUMBER_SIZE];
  append_number (writer, tm_format_float64 (buffer, number), isfinite (number) != 0);
}

void
tm_json_bool (TmJsonWriter *writer, gboolean truth)
{
  tm_json_raw (writer, truth ? "true" : "false", -1);
}

void
tm_json_null (TmJsonWriter *writer)
{
  tm_json_raw (writer, "null", 4);
}

void
tm_json_raw (TmJsonWriter *writer, const char *json, gssize length)
{
  separate (writer);
  g_string_append_len (writer->out, json, length);
}

void
tm_json_text (TmJsonWriter *writer, const char *json, gsize length)
{
  separate (writer);
  tm_json_append_text (writer->out, json, length);
}

void
tm_json_uints (TmJsonWriter *writer, const guint64 *numbers, gsize n)
{
  tm_json_begin_array (writer);
  for (gsize i = 0; i < n; i++)
    tm_json_uint (writer, numbers[i]);
  tm_json_end_array (writer);
}
