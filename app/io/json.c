#include "io/json.h"

#include <stdlib.h>
#include <string.h>

#include "io/error.h"

enum
{
  EXPECT_VALUE,
  EXPECT_VALUE_OR_END, /* first in an array */
  EXPECT_KEY_OR_END,   /* first in an object */
  EXPECT_KEY,          /* after a comma */
  EXPECT_COMMA_OR_END,
  EXPECT_NOTHING,      /* after the one value */
};

enum { IN_ARRAY, IN_OBJECT };

void
tm_json_init (TmJson *json, const char *text, gsize length, guint64 base)
{
  memset (json, 0, sizeof *json);
  json->text = text;
  json->length = length;
  json->base = base;
  json->expect = EXPECT_VALUE;
  json->token = TM_JSON_END;
}

void
tm_json_clear (TmJson *json)
{
  g_clear_error (&json->error);
}

static TmJsonToken
fail_at (TmJson *json, gsize position, const char *message)
{
  json->token = TM_JSON_ERROR;
  if (json->error == NULL)
    g_set_error (&json->error, TM_ERROR, TM_ERROR_FORMAT, "%s at byte %" G_GUINT64_FORMAT, message,
                 json->base + (guint64) position);
  return TM_JSON_ERROR;
}

gboolean
tm_json_fail (TmJson *json, const char *message)
{
  fail_at (json, json->start, message);
  return FALSE;
}

/* Length of the well-formed UTF-8 sequence at p, at least two bytes long; 0 if it is malformed, overlong, a surrogate or
 * past U+10FFFF. */
static gsize
utf8_sequence (const guchar *p, gsize left)
{
  guint32 c = p[0];
  gsize n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  guint32 least = n == 4 ? 0x10000 : n == 3 ? 0x800 : 0x80;

  if (c < 0xc2 || c > 0xf4 || left < n)
    return 0;
  c &= n == 4 ? 0x07 : n == 3 ? 0x0f : 0x1f;
  for (gsize i = 1; i < n; i++)
    {
      if ((p[i] & 0xc0) != 0x80)
        return 0;
      c = c << 6 | (p[i] & 0x3f);
    }
  return c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

static gboolean
read_hex4 (const char *p, gsize left, guint32 *value)
{
  *value = 0;
  if (left < 4)
    return FALSE;
  for (int i = 0; i < 4; i++)
    {
      int digit = g_ascii_xdigit_value (p[i]);

      if (digit < 0)
        return FALSE;
      *value = *value << 4 | (guint32) digit;
    }
  return TRUE;
}

/* One escape at p, which points behind the backslash. Gives its length and code point; 0 if it is none. */
static gsize
read_escape (const char *p, gsize left, gunichar *character)
{
  guint32 high, low;

  if (left == 0)
    return 0;
  switch (*p)
    {
    case '"':
    case '\\':
    case '/':
      *character = (guchar) *p;
      return 1;
    case 'b':
      *character = '\b';
      return 1;
    case 'f':
      *character = '\f';
      return 1;
    case 'n':
      *character = '\n';
      return 1;
    case 'r':
      *character = '\r';
      return 1;
    case 't':
      *character = '\t';
      return 1;
    case 'u':
      if (!read_hex4 (p + 1, left - 1, &high))
        return 0;
      *character = high;
      if (high < 0xd800 || high > 0xdfff)
        return 5;
      if (high > 0xdbff || left < 11 || p[5] != '\\' || p[6] != 'u' || !read_hex4 (p + 7, left - 7, &low) || low < 0xdc00
          || low > 0xdfff)
        return 0;
      *character = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
      return 11;
    default:
      return 0;
    }
}

/* How many of eight bytes come before the first that is below 0x20, above 0x7f, a quote or a backslash. */
static guint
count_plain_bytes (const char *text)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  guint64 eight, quote, backslash, special;

  memcpy (&eight, text, sizeof eight);
  eight = GUINT64_FROM_LE (eight);
  quote = eight ^ ones * '"';
  backslash = eight ^ ones * '\\';
  /* a borrow can only mark bytes behind the first one that is marked by right */
  special = (eight | (eight - ones * 0x20) | (quote - ones) | (backslash - ones)) & ones * 0x80;
  return special != 0 ? (guint) __builtin_ctzll (special) / 8 : 8;
}

/* The position is behind the opening quote. */
static gboolean
scan_string (TmJson *json)
{
  const char *text = json->text;
  gsize i = json->position, length = json->length;

  json->start = i;
  json->escaped = FALSE;
  while (i < length)
    {
      guchar c;

      for (guint plain = 8; plain == 8 && i + 8 <= length; i += plain)
        plain = count_plain_bytes (text + i);
      if (i == length)
        break;
      c = (guchar) text[i];
      if (G_LIKELY (c >= 0x20 && c < 0x80 && c != '"' && c != '\\'))
        i++;
      else if (c == '"')
        {
          json->size = i - json->start;
          json->position = i + 1;
          return TRUE;
        }
      else if (c == '\\')
        {
          gunichar character;
          gsize n = read_escape (text + i + 1, length - i - 1, &character);

          if (n == 0)
            return fail_at (json, i, "invalid escape in a string"), FALSE;
          json->escaped = TRUE;
          i += 1 + n;
        }
      else if (c < 0x20)
        return fail_at (json, i, "control character in a string"), FALSE;
      else
        {
          gsize n = utf8_sequence ((const guchar *) text + i, length - i);

          if (n == 0)
            return fail_at (json, i, "invalid UTF-8"), FALSE;
          i += n;
        }
    }
  return fail_at (json, length, "the text ends inside a string"), FALSE;
}

static gsize
skip_digits (const TmJson *json, gsize i)
{
  while (i < json->length && g_ascii_isdigit (json->text[i]))
    i++;
  return i;
}

static gboolean
scan_number (TmJson *json)
{
  const char *text = json->text;
  gsize i = json->start, end;

  if (i < json->length && text[i] == '-')
    i++;
  end = skip_digits (json, i);
  if (end == i)
    return fail_at (json, i, "digit expected"), FALSE;
  if (text[i] == '0' && end > i + 1)
    return fail_at (json, i, "number with a leading zero"), FALSE;
  i = end;
  if (i < json->length && text[i] == '.')
    {
      end = skip_digits (json, i + 1);
      if (end == i + 1)
        return fail_at (json, end, "digit expected"), FALSE;
      i = end;
    }
  if (i < json->length && (text[i] == 'e' || text[i] == 'E'))
    {
      i++;
      if (i < json->length && (text[i] == '+' || text[i] == '-'))
        i++;
      end = skip_digits (json, i);
      if (end == i)
        return fail_at (json, end, "digit expected"), FALSE;
      i = end;
    }
  json->size = i - json->start;
  json->position = i;
  return TRUE;
}

static void
after_value (TmJson *json)
{
  json->expect = json->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
}

static gboolean
scan_word (TmJson *json, const char *word)
{
  gsize n = strlen (word);

  if (json->length - json->start < n || memcmp (json->text + json->start, word, n) != 0)
    return fail_at (json, json->start, "unexpected text"), FALSE;
  json->size = n;
  json->position = json->start + n;
  after_value (json);
  return TRUE;
}

static TmJsonToken
open_container (TmJson *json, guint8 kind)
{
  if (json->depth == TM_MAX_JSON_DEPTH)
    {
      json->too_deep = TRUE;
      return fail_at (json, json->start, "nested too deep");
    }
  json->stack[json->depth++] = kind;
  json->position++;
  json->expect = kind == IN_OBJECT ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
  return json->token = kind == IN_OBJECT ? TM_JSON_OBJECT : TM_JSON_ARRAY;
}

static TmJsonToken
close_container (TmJson *json)
{
  guint8 kind = json->stack[--json->depth];

  json->position++;
  after_value (json);
  return json->token = kind == IN_OBJECT ? TM_JSON_OBJECT_END : TM_JSON_ARRAY_END;
}

static void
skip_space (TmJson *json)
{
  const char *text = json->text;
  gsize i = json->position;

  /* Headers are padded with spaces, up to 100 MB of them. */
  for (guint64 eight; i + 8 <= json->length; i += 8)
    {
      memcpy (&eight, text + i, 8);
      if (eight != G_GUINT64_CONSTANT (0x2020202020202020))
        break;
    }
  while (i < json->length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r'))
    i++;
  json->position = i;
}

static TmJsonToken
scan_value (TmJson *json, char c)
{
  switch (c)
    {
    case '{':
      return open_container (json, IN_OBJECT);
    case '[':
      return open_container (json, IN_ARRAY);
    case '"':
      json->position++;
      if (!scan_string (json))
        return TM_JSON_ERROR;
      after_value (json);
      return json->token = TM_JSON_STRING;
    case 't':
      return scan_word (json, "true") ? (json->token = TM_JSON_TRUE) : TM_JSON_ERROR;
    case 'f':
      return scan_word (json, "false") ? (json->token = TM_JSON_FALSE) : TM_JSON_ERROR;
    case 'n':
      return scan_word (json, "null") ? (json->token = TM_JSON_NULL) : TM_JSON_ERROR;
    default:
      if (c != '-' && !g_ascii_isdigit (c))
        return fail_at (json, json->start, (c & 0x80) != 0 ? "unexpected byte" : "a JSON value is expected");
      if (!scan_number (json))
        return TM_JSON_ERROR;
      after_value (json);
      return json->token = TM_JSON_NUMBER;
    }
}

TmJsonToken
tm_json_next (TmJson *json)
{
  char c;

  if (json->error != NULL)
    return TM_JSON_ERROR;
  skip_space (json);
  json->start = json->position;
  json->size = 0;
  if (json->position == json->length)
    {
      if (json->expect == EXPECT_NOTHING)
        return json->token = TM_JSON_END;
      return fail_at (json, json->position, "the text ends early");
    }
  c = json->text[json->position];

  if (json->expect == EXPECT_COMMA_OR_END)
    {
      gboolean in_object = json->stack[json->depth - 1] == IN_OBJECT;

      if (c == (in_object ? '}' : ']'))
        return close_container (json);
      if (c != ',')
        return fail_at (json, json->start, in_object ? "',' or '}' expected" : "',' or ']' expected");
      json->position++;
      skip_space (json);
      json->start = json->position;
      if (json->position == json->length)
        return fail_at (json, json->position, "the text ends early");
      c = json->text[json->position];
      json->expect = in_object ? EXPECT_KEY : EXPECT_VALUE;
    }

  switch (json->expect)
    {
    case EXPECT_NOTHING:
      return fail_at (json, json->start, "text after the value");
    case EXPECT_VALUE_OR_END:
      return c == ']' ? close_container (json) : scan_value (json, c);
    case EXPECT_KEY_OR_END:
    case EXPECT_KEY:
      if (c == '}' && json->expect == EXPECT_KEY_OR_END)
        return close_container (json);
      if (c != '"')
        return fail_at (json, json->start, "a key is expected");
      json->position++;
      if (!scan_string (json))
        return TM_JSON_ERROR;
      skip_space (json);
      if (json->position == json->length || json->text[json->position] != ':')
        return fail_at (json, json->position, "':' expected");
      json->position++;
      json->expect = EXPECT_VALUE;
      return json->token = TM_JSON_KEY;
    case EXPECT_VALUE:
    default:
      return scan_value (json, c);
    }
}

gboolean
tm_json_skip (TmJson *json)
{
  guint depth = json->depth;

  if (json->token != TM_JSON_OBJECT && json->token != TM_JSON_ARRAY)
    return json->error == NULL;
  while (json->depth >= depth)
    if (tm_json_next (json) == TM_JSON_ERROR)
      return FALSE;
  return TRUE;
}

gboolean
tm_json_skip_span (TmJson *json, const char **text, gsize *length)
{
  gsize start = json->token == TM_JSON_STRING ? json->start - 1 : json->start;

  if (!tm_json_skip (json))
    return FALSE;
  *text = json->text + start;
  *length = json->position - start;
  return TRUE;
}

gboolean
tm_json_get_u64 (const TmJson *json, guint64 *value)
{
  guint64 number = 0;

  if (json->token != TM_JSON_NUMBER)
    return FALSE;
  for (gsize i = 0; i < json->size; i++)
    {
      char c = json->text[json->start + i];

      if (!g_ascii_isdigit (c) || __builtin_mul_overflow (number, (guint64) 10, &number)
          || __builtin_add_overflow (number, (guint64) (c - '0'), &number))
        return FALSE;
    }
  *value = number;
  return TRUE;
}

gboolean
tm_json_get_i64 (const TmJson *json, gint64 *value)
{
  gboolean negative = json->token == TM_JSON_NUMBER && json->text[json->start] == '-';
  TmJson digits = *json;
  guint64 number;

  if (negative)
    {
      digits.start++;
      digits.size--;
    }
  if (!tm_json_get_u64 (&digits, &number) || number > (guint64) G_MAXINT64 + (negative ? 1 : 0))
    return FALSE;
  *value = negative ? (gint64) (0 - number) : (gint64) number;
  return TRUE;
}

double
tm_json_get_double (const TmJson *json)
{
  g_autofree char *copy = g_strndup (json->text + json->start, json->size);

  return g_ascii_strtod (copy, NULL);
}

/* The last token, a string or key, without escapes, to where there is room for it: out may be its own place, for an escape is
 * never shorter than what it stands for. */
static gsize
unescape (const TmJson *json, char *out)
{
  const char *text = json->text + json->start;
  gsize n = 0;

  if (!json->escaped)
    {
      memmove (out, text, json->size);
      n = json->size;
    }
  for (gsize i = n; i < json->size;)
    if (text[i] == '\\')
      {
        gunichar character = 0;

        i += 1 + read_escape (text + i + 1, json->size - i - 1, &character);
        n += (gsize) g_unichar_to_utf8 (character, out + n);
      }
    else
      out[n++] = text[i++];
  out[n] = '\0';
  return n;
}

char *
tm_json_dup_string (const TmJson *json, gsize *length)
{
  char *out = g_malloc (json->size + 1);
  const gsize n = unescape (json, out);

  if (length != NULL)
    *length = n;
  return out;
}

char *
tm_json_take_string (const TmJson *json, char *text, gsize *length)
{
  *length = unescape (json, text + json->start); /* the NUL falls on the closing quote, at the latest */
  return text + json->start;
}

gboolean
tm_json_string_equals (const TmJson *json, const char *other)
{
  gsize length = strlen (other);

  if (json->escaped)
    {
      gsize n;
      g_autofree char *plain = tm_json_dup_string (json, &n);

      return n == length && memcmp (plain, other, n) == 0;
    }
  return json->size == length && memcmp (json->text + json->start, other, length) == 0;
}
