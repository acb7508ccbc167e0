/* A strict pull scanner for JSON in untrusted files: no tree, no recursion, no copy. It goes over the text once and gives
 * spans into it. Strict means RFC 8259: valid UTF-8, no control characters in strings, paired surrogate escapes, no
 * leading zeros, no trailing commas, one value. Duplicate keys are the caller's matter.
 *
 *   TmJson json;
 *   tm_json_init (&json, text, length, base);
 *   while ((token = tm_json_next (&json)) > TM_JSON_END) …
 *
 * Inside an object a KEY token comes before every value. After an error every call returns TM_JSON_ERROR. */
#pragma once

#include <glib.h>

#include "io/limits.h"

G_BEGIN_DECLS

typedef enum
{
  TM_JSON_ERROR,
  TM_JSON_END, /* after the one value */
  TM_JSON_OBJECT, TM_JSON_OBJECT_END,
  TM_JSON_ARRAY, TM_JSON_ARRAY_END,
  TM_JSON_KEY,
  TM_JSON_STRING,
  TM_JSON_NUMBER,
  TM_JSON_TRUE, TM_JSON_FALSE, TM_JSON_NULL,
} TmJsonToken;

typedef struct
{
  const char *text;
  gsize length;
  gsize position;   /* of the next byte */
  guint64 base;     /* what messages add to positions: where the text is in its file */
  /* the last token */
  TmJsonToken token;
  gsize start;      /* of the token; of a string's or key's text after its quote */
  gsize size;       /* of a string's text as written, of a number */
  gboolean escaped; /* the string has escapes */
  /* inside */
  guint depth;
  guint expect;
  guint8 stack[TM_MAX_JSON_DEPTH + 1];
  gboolean too_deep; /* the error is the depth */
  GError *error;
} TmJson;

void tm_json_init (TmJson *json, const char *text, gsize length, guint64 base);
void tm_json_clear (TmJson *json);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmJson, tm_json_clear)

TmJsonToken tm_json_next (TmJson *json);

/* After OBJECT or ARRAY: goes to its end. After anything else: nothing. FALSE on error. */
gboolean tm_json_skip (TmJson *json);

/* Skips the value whose first token was the last one, and gives its text as written. */
gboolean tm_json_skip_span (TmJson *json, const char **text, gsize *length);

/* The last token, a number, as an unsigned integer: plain digits only, 64 bits exactly. */
gboolean tm_json_get_u64 (const TmJson *json, guint64 *value);
/* The last token, a number: whole and in range for one of them, else FALSE and the double. */
gboolean tm_json_get_i64 (const TmJson *json, gint64 *value);
double tm_json_get_double (const TmJson *json);

/* The last token, a string or key, without escapes. length may be NULL; embedded NULs count. (transfer full) */
char *tm_json_dup_string (const TmJson *json, gsize *length);
gboolean tm_json_string_equals (const TmJson *json, const char *other);

/* The same in place: text is what the scanner was given, and stays; its next byte behind the string becomes NUL. Only once
 * for a token. */
char *tm_json_take_string (const TmJson *json, char *text, gsize *length);

/* Error with the position of the last token: "… at byte 123". Returns FALSE. */
gboolean tm_json_fail (TmJson *json, const char *message);

G_END_DECLS
