/* Text from files is never markup and never reaches a terminal or a label unescaped. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Valid UTF-8 on one line: control characters, bidi controls, line separators and invalid bytes become \n, \t, \e, \xHH,
 * \u{HHHH}. Printable text of any script stays as it is. length −1: NUL-terminated, and C0 80 in it stands for NUL, which
 * names from files may hold. (transfer full) */
char *tm_text_escape (const char *bytes, gssize length);

/* Appends a JSON string with its quotes: valid UTF-8 as it is, what tm_text_escape() escapes as \uHHHH, invalid bytes as
 * U+FFFD. length as above. */
void tm_json_append_string (GString *out, const char *bytes, gssize length);
/* Appends JSON text from a file as it is but for what tm_text_escape() escapes: inside of its strings as \uHHHH. */
void tm_json_append_text (GString *out, const char *json, gsize length);

/* Elided in the middle to max_chars characters ("model.layers…weight"). (transfer full) */
char *tm_text_elide (const char *text, gsize max_chars);

G_END_DECLS
