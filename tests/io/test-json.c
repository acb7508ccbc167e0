#include <math.h>
#include <string.h>

#include "io/error.h"
#include "io/json.h"

/* The tokens of a text as one letter each: { } [ ] k(ey) s(tring) n(umber) t f 0(null), and . at the end or ! for an error. */
static char *
scan (const char *text, gsize length, gsize *error_at)
{
  g_auto (TmJson) json = { 0 };
  GString *tokens = g_string_new (NULL);

  tm_json_init (&json, text, length, 0);
  for (;;)
    {
      TmJsonToken token = tm_json_next (&json);

      g_string_append_c (tokens, "!.{}[]ksntf0"[token]);
      if (token <= TM_JSON_END)
        break;
    }
  if (json.error != NULL && error_at != NULL)
    {
      const char *at = strstr (json.error->message, "at byte ");

      g_assert_nonnull (at);
      *error_at = (gsize) g_ascii_strtoull (at + 8, NULL, 10);
    }
  g_assert_cmpint (tm_json_next (&json) == TM_JSON_ERROR, ==, json.error != NULL);
  return g_string_free (tokens, FALSE);
}

static void
test_valid (void)
{
  static const struct { const char *text, *tokens; } rows[] = {
    { "{}", "{}." }, { " [ ] \n", "[]." }, { "\"\"", "s." }, { "-0", "n." }, { "1.5e-3", "n." }, { "0E+1", "n." }, { "null", "0." },
    { "{\"a\":1,\"b\":[true,false,null,{}],\"c\":{\"d\":\"\\u00e9\\ud83d\\ude00\"}}", "{knk[tf0{}]k{ks}}." },
    { "{\"a\" \t:\r\n 1 , \"a\":2}", "{knkn}." }, { "\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\x7f\"", "s." },
    { "                    [1]                    ", "[n]." }, { "[[[[]]]]", "[[[[]]]]." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *tokens = scan (rows[i].text, strlen (rows[i].text), NULL);

      g_assert_cmpstr (tokens, ==, rows[i].tokens);
    }
}

static void
test_invalid (void)
{
  static const struct { const char *text; gsize at; } rows[] = {
    { "", 0 }, { "  ", 2 }, { "{", 1 }, { "{\"a\"", 4 }, { "{\"a\":", 5 }, { "{\"a\":1", 6 }, { "[1,", 3 }, { "{,}", 1 }, { "[,]", 1 },
    { "[1,]", 3 }, { "{\"a\":1,}", 7 }, { "{a:1}", 1 }, { "{'a':1}", 1 }, { "[1 2]", 3 }, { "{\"a\" 1}", 5 }, { "[1}", 2 }, { "{\"a\":1]", 6 },
    { "1 2", 2 }, { "{} x", 3 }, { "]", 0 }, { "}", 0 }, { "nul", 0 }, { "True", 0 }, { "NaN", 0 }, { "+1", 0 }, { ".5", 0 }, { "1.", 2 },
    { "1e", 2 }, { "1e+", 3 }, { "-", 1 }, { "01", 0 }, { "-01", 1 }, { "\"a", 2 }, { "\"\\x\"", 1 }, { "\"\\u12g4\"", 1 },
    { "\"\\ud800\"", 1 }, { "\"\\udc00\"", 1 }, { "\"\\ud800\\u0041\"", 1 }, { "\"\\", 1 }, { "\"\n\"", 1 }, { "\"\x01\"", 1 },
    { "\"\xff\"", 1 }, { "\"\xc0\x80\"", 1 }, { "\"\xed\xa0\x80\"", 1 }, { "\"\xf4\x90\x80\x80\"", 1 }, { "\"\xe6\x97\"", 1 },
    { "\"\xe0\x80\x80\"", 1 }, { "\"\xf0\x80\x80\x80\"", 1 }, { "\"\x80\"", 1 }, { "\xef\xbb\xbf{}", 0 }, { "// x", 0 }, { "{}\xa0", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gsize at = G_MAXSIZE;
      g_autofree char *tokens = scan (rows[i].text, strlen (rows[i].text), &at);

      if (tokens[strlen (tokens) - 1] != '!' || at != rows[i].at)
        g_error ("%s: %s at %" G_GSIZE_FORMAT, rows[i].text, tokens, at);
    }
}

/* 127 containers are taken and 128 refused, as the reference reader does; a great many do not recurse. */
static void
test_depth (void)
{
  for (guint depth = 127; depth <= 128; depth++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *tokens = NULL;

      for (guint i = 0; i < depth; i++)
        g_string_append_c (text, '[');
      for (guint i = 0; i < depth; i++)
        g_string_append_c (text, ']');
      tokens = scan (text->str, text->len, NULL);
      g_assert_cmpint (tokens[strlen (tokens) - 1], ==, depth == 127 ? '.' : '!');
    }
  {
    g_autofree char *deep = g_strnfill (5000000, '[');
    g_auto (TmJson) json = { 0 };

    tm_json_init (&json, deep, 5000000, 8);
    while (tm_json_next (&json) > TM_JSON_END)
      ;
    g_assert_true (json.too_deep);
    g_assert_nonnull (strstr (json.error->message, "byte 135"));
  }
}

static TmJsonToken
one (TmJson *json, const char *text)
{
  tm_json_init (json, text, strlen (text), 0);
  return tm_json_next (json);
}

static void
test_numbers (void)
{
  static const struct { const char *text; gboolean u_ok; guint64 u; gboolean i_ok; gint64 i; } rows[] = {
    { "0", TRUE, 0, TRUE, 0 },
    { "18446744073709551615", TRUE, G_MAXUINT64, FALSE, 0 },
    { "18446744073709551616", FALSE, 0, FALSE, 0 },
    { "9223372036854775807", TRUE, G_MAXINT64, TRUE, G_MAXINT64 },
    { "-9223372036854775808", FALSE, 0, TRUE, G_MININT64 },
    { "-9223372036854775809", FALSE, 0, FALSE, 0 },
    { "9007199254740993", TRUE, 9007199254740993, TRUE, 9007199254740993 },
    { "-0", FALSE, 0, TRUE, 0 }, { "1.0", FALSE, 0, FALSE, 0 }, { "1e0", FALSE, 0, FALSE, 0 },
    { "99999999999999999999999999", FALSE, 0, FALSE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (TmJson) json = { 0 };
      guint64 u = 0;
      gint64 s = 0;

      g_assert_cmpint (one (&json, rows[i].text), ==, TM_JSON_NUMBER);
      g_assert_cmpint (tm_json_get_u64 (&json, &u), ==, rows[i].u_ok);
      g_assert_cmpint (tm_json_get_i64 (&json, &s), ==, rows[i].i_ok);
      if (rows[i].u_ok)
        g_assert_cmpuint (u, ==, rows[i].u);
      if (rows[i].i_ok)
        g_assert_cmpint (s, ==, rows[i].i);
    }
  {
    g_auto (TmJson) json = { 0 };

    one (&json, "-1.25e2");
    g_assert_true (tm_json_get_double (&json) == -125.0);
    one (&json, "true");
    g_assert_false (tm_json_get_u64 (&json, &(guint64){ 0 }));
  }
}

static void
test_strings (void)
{
  g_auto (TmJson) json = { 0 };
  g_autofree char *text = NULL;
  gsize length;

  one (&json, "\"a\\u0000b\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude00\"");
  text = tm_json_dup_string (&json, &length);
  g_assert_cmpuint (length, ==, 13);
  g_assert_cmpmem (text, length, "a\0b\n\"\\/\xc3\xa9\xf0\x9f\x98\x80", 13);
  one (&json, "\"\\u0064type\"");
  g_assert_true (tm_json_string_equals (&json, "dtype"));
  g_assert_false (tm_json_string_equals (&json, "dtyp"));
  one (&json, "\"dtype\"");
  g_assert_true (tm_json_string_equals (&json, "dtype"));
  g_assert_false (tm_json_string_equals (&json, "dtypes"));
  one (&json, "\"a\\u0000\"");
  g_assert_false (tm_json_string_equals (&json, "a"));
}

static void
test_skip (void)
{
  static const char text[] = "{\"a\":[1,{\"b\":[2]}],\"c\":\"x\",\"d\": {\"e\":1} ,\"f\":3}";
  g_auto (TmJson) json = { 0 };
  const char *span;
  gsize length;

  tm_json_init (&json, text, strlen (text), 0);
  g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_OBJECT);
  g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_KEY);
  tm_json_next (&json);
  g_assert_true (tm_json_skip (&json));
  g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_KEY);
  tm_json_next (&json);
  g_assert_true (tm_json_skip_span (&json, &span, &length));
  g_assert_cmpmem (span, length, "\"x\"", 3);
  tm_json_next (&json);
  tm_json_next (&json);
  g_assert_true (tm_json_skip_span (&json, &span, &length));
  g_assert_cmpmem (span, length, "{\"e\":1}", 7);
  g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_KEY);
  g_assert_true (tm_json_string_equals (&json, "f"));
  tm_json_init (&json, "[[[1,", 5, 0);
  tm_json_next (&json);
  g_assert_false (tm_json_skip (&json));
}

/* Every byte at every place of a string that is looked at eight bytes at a time. */
static void
test_every_byte (void)
{
  for (guint length = 1; length <= 20; length++)
    for (guint at = 0; at < length; at++)
      for (guint byte = 0; byte < 256; byte++)
        {
          const gboolean plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
          char text[24];
          gsize error_at = 0;
          g_autofree char *tokens = NULL;

          memset (text, 'a', sizeof text);
          text[0] = '"';
          text[1 + at] = (char) byte;
          text[1 + length] = '"';
          tokens = scan (text, length + 2, &error_at);
          if (byte == '"') /* the string ends here, and something is behind it */
            {
              g_assert_cmpstr (tokens, ==, "s!");
              g_assert_cmpuint (error_at, ==, at + 2);
            }
          else
            {
              g_assert_cmpstr (tokens, ==, plain ? "s." : "!");
              if (!plain) /* a backslash at the end takes the quote with it */
                g_assert_cmpuint (error_at, ==, byte == '\\' && at + 1 == length ? length + 2 : at + 1);
            }
        }
}

/* In its own place a string is the same as in a copy. */
static void
test_take (void)
{
  static const char *const rows[] = { "\"\"", "\"plain\"", "\"a\\n\\u00e9\\ud83d\\ude00z\"", "\"\\u0000\\u0041\"", "\"\\\\\\\"\\/\"",
                                      "\"caf\xc3\xa9 \\b\"" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strdup (rows[i]), *copy = NULL;
      g_auto (TmJson) json = { 0 };
      gsize length, own_length;
      const char *own;

      tm_json_init (&json, text, strlen (text), 0);
      g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_STRING);
      copy = tm_json_dup_string (&json, &length);
      own = tm_json_take_string (&json, text, &own_length);
      g_assert_cmpmem (own, own_length + 1, copy, length + 1);
      g_assert_true (own > text && own + own_length < text + strlen (rows[i]));
      g_assert_cmpint (tm_json_next (&json), ==, TM_JSON_END);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/valid", test_valid);
  g_test_add_func ("/json/invalid", test_invalid);
  g_test_add_func ("/json/depth", test_depth);
  g_test_add_func ("/json/numbers", test_numbers);
  g_test_add_func ("/json/strings", test_strings);
  g_test_add_func ("/json/skip", test_skip);
  g_test_add_func ("/json/every-byte", test_every_byte);
  g_test_add_func ("/json/take", test_take);
  return g_test_run ();
}
