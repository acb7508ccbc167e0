#include <string.h>

#include <glib.h>

#include "io/text.h"

static void
assert_escaped (const char *bytes, gssize length, const char *expected)
{
  g_autofree char *text = tm_text_escape (bytes, length);

  g_assert_cmpstr (text, ==, expected);
  g_assert_true (g_utf8_validate (text, -1, NULL));
}

static void
test_escape (void)
{
  assert_escaped ("blk.0.attn_v.weight", -1, "blk.0.attn_v.weight");
  assert_escaped ("größe 权重 🙂", -1, "größe 权重 🙂");
  assert_escaped ("a\nb\tc\x1b[31m", -1, "a\\nb\\tc\\e[31m");
  assert_escaped ("a\0b", 3, "a\\x00b");
  assert_escaped ("\x7f", -1, "\\x7F");
  assert_escaped ("\xff\xc0\xaf", -1, "\\xFF\\xC0\\xAF");
  assert_escaped ("a\xc0\x80z", -1, "a\\x00z"); /* NUL in a name */
  assert_escaped ("\xc0\x80", 2, "\\xC0\\x80");
  assert_escaped ("\xe2\x82", -1, "\\xE2\\x82");
  assert_escaped ("\xed\xa0\x80", -1, "\\xED\\xA0\\x80");
  assert_escaped ("x\u202Ey\u2066", -1, "x\\u{202E}y\\u{2066}");
  assert_escaped ("\u2028\xc2\x85\uFEFF", -1, "\\u{2028}\\u{0085}\\u{FEFF}");
  assert_escaped ("<b>&amp;</b>", -1, "<b>&amp;</b>");
}

static void
test_json (void)
{
  g_autoptr (GString) out = g_string_new ("x");

  tm_json_append_string (out, "a\"b\\c\n\x01\xffé\0z", 11);
  g_assert_cmpstr (out->str, ==, "x\"a\\\"b\\\\c\\n\\u0001\uFFFDé\\u0000\"");

  /* What would act on a terminal is escaped in JSON too. */
  g_string_truncate (out, 0);
  tm_json_append_string (out, "\xc2\x9b\u202Ex\u200D\U000E0041\xc0\x80", -1);
  g_assert_cmpstr (out->str, ==, "\"\\u009b\\u202ex\u200D\\udb40\\udc41\\u0000\"");
  g_string_truncate (out, 0);
  tm_json_append_text (out, "{\n\"\xc2\x9b\\u0000é\":1}", strlen ("{\n\"\xc2\x9b\\u0000é\":1}"));
  g_assert_cmpstr (out->str, ==, "{\n\"\\u009b\\u0000é\":1}");
}

static void
test_elide (void)
{
  g_autofree char *whole = tm_text_elide ("weight", 6), *cut = tm_text_elide ("model.layers.0.weight", 9);
  g_autofree char *wide = tm_text_elide ("äöüßäöüß", 4), *none = tm_text_elide ("abc", 0),
                  *one = tm_text_elide ("abc", 1);

  g_assert_cmpstr (whole, ==, "weight");
  g_assert_cmpstr (cut, ==, "mode…ight");
  g_assert_cmpstr (wide, ==, "ä…üß");
  g_assert_cmpstr (none, ==, "");
  g_assert_cmpstr (one, ==, "…");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/escape", test_escape);
  g_test_add_func ("/text/json", test_json);
  g_test_add_func ("/text/elide", test_elide);
  return g_test_run ();
}
