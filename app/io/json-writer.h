/* Writes JSON: commas and nesting are kept here, numbers have the fewest digits that read back, and text goes through
 * tm_json_append_string(). One line, no spaces. The caller owns the GString and may empty it between two calls, so
 * that a long document never lies in memory whole. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_JSON_WRITER_DEPTH 64

typedef struct
{
  GString *out;
  guint depth;
  guint64 has_items; /* one bit a level: a comma goes before the next */
  gboolean after_key;
} TmJsonWriter;

void tm_json_writer_init (TmJsonWriter *writer, GString *out);

void tm_json_begin_object (TmJsonWriter *writer);
void tm_json_end_object (TmJsonWriter *writer);
void tm_json_begin_array (TmJsonWriter *writer);
void tm_json_end_array (TmJsonWriter *writer);
void tm_json_key (TmJsonWriter *writer, const char *key); /* within an object, before every value */

/* text NULL: null. length −1: NUL-terminated. */
void tm_json_string (TmJsonWriter *writer, const char *text, gssize length);
void tm_json_int (TmJsonWriter *writer, gint64 number);
void tm_json_uint (TmJsonWriter *writer, guint64 number);
/* NaN and infinities are the strings "NaN", "Infinity", "-Infinity". */
void tm_json_float32 (TmJsonWriter *writer, float number);
void tm_json_float64 (TmJsonWriter *writer, double number);
void tm_json_bool (TmJsonWriter *writer, gboolean truth);
void tm_json_null (TmJsonWriter *writer);
/* A value that is JSON already. */
void tm_json_raw (TmJsonWriter *writer, const char *json, gssize length);
/* JSON text from a file, with what is hidden in its strings escaped. */
void tm_json_text (TmJsonWriter *writer, const char *json, gsize length);
void tm_json_uints (TmJsonWriter *writer, const guint64 *numbers, gsize n); /* an array of numbers */

G_END_DECLS
