#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"

static float
from_bits (guint32 bits)
{
  float x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

static double
double_from_bits (guint64 bits)
{
  double x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

static void
assert_float (float value, const char *expected)
{
  char buffer[TM_NUMBER_SIZE];

  g_assert_cmpstr (tm_format_float32 (buffer, value), ==, expected);
}

static void
assert_double (double value, const char *expected)
{
  char buffer[TM_NUMBER_SIZE];

  g_assert_cmpstr (tm_format_float64 (buffer, value), ==, expected);
}

static void
test_float32 (void)
{
  assert_float (0.0f, "0");
  assert_float (-0.0f, "-0.0");
  assert_float (3.0f, "3");
  assert_float (-3.0f, "-3");
  assert_float (0.5f, "0.5");
  assert_float (3.1232834e-05f, "3.1232834e-05");
  assert_float (0.012930393f, "0.012930393");
  assert_float (0.0014367104f, "0.0014367104");
  assert_float (1e-4f, "0.0001");
  assert_float (1e-5f, "1e-05");
  assert_float (16777216.0f, "16777216");
  assert_float (33554432.0f, "33554432");
  assert_float (667090944.0f, "667090940"); /* eight digits are enough */
  assert_float (1e10f, "10000000000");
  assert_float (1e16f, "1e+16");
  assert_float (INFINITY, "Infinity");
  assert_float (-INFINITY, "-Infinity");
  assert_float (NAN, "NaN");
  assert_float (-NAN, "NaN");
  assert_float (from_bits (1), "1e-45");
  assert_float (from_bits (0x007FFFFF), "1.1754942e-38");
  assert_float (from_bits (0x00800000), "1.1754944e-38");
  assert_float (from_bits (0x7F7FFFFF), "3.4028235e+38");
  assert_float (from_bits (0x7F7F0000), "3.3895314e+38");
}

static void
test_float64 (void)
{
  assert_double (0.0, "0");
  assert_double (-0.0, "-0.0");
  assert_double (0.1, "0.1");
  assert_double (0x1.06p-15, "3.123283386230469e-05");
  assert_double (1.0 / 3, "0.3333333333333333");
  assert_double (5e-324, "5e-324");
  assert_double (0x1p-44, "5.684341886080802e-14");
  assert_double (9007199254740993.0, "9007199254740992");
  assert_double (123456789012345680.0, "1.2345678901234568e+17");
  assert_double (1.7976931348623157e308, "1.7976931348623157e+308");
  assert_double (NAN, "NaN");
  assert_double (-INFINITY, "-Infinity");
}

/* Significant digits of a text. */
static guint
count_digits (const char *text)
{
  guint n = 0, zeros = 0;

  for (; *text && *text != 'e'; text++)
    if (g_ascii_isdigit (*text) && (n > 0 || *text != '0'))
      {
        n++;
        zeros = *text == '0' ? zeros + 1 : 0;
      }
  return n - zeros;
}

/* Fewest digits, by trying: correctly rounded to 1, 2, 3 … */
static guint
fewest_digits_32 (float value)
{
  char text[40];

  for (gint n = 1; n < 9; n++)
    {
      g_snprintf (text, sizeof text, "%.*e", n - 1, (double)value);
      if (strtof (text, NULL) == value)
        return count_digits (text);
    }
  return 9;
}

static void
test_round_trip_32 (void)
{
  char buffer[TM_NUMBER_SIZE];

  for (guint i = 0; i < 400000; i++)
    {
      guint32 bits = (guint32)g_test_rand_int ();
      float value, read;

      /* every exponent's first numbers too, where the interval is lopsided */
      if (i < 1024)
        bits = (i / 4) << 23 | (i % 4);
      value = from_bits (bits);
      if (!isfinite (value))
        continue;
      tm_format_float32 (buffer, value);
      read = strtof (buffer, NULL);
      if (memcmp (&read, &value, sizeof read) != 0)
        g_error ("%08x: %s does not read back", bits, buffer);
      if (value != 0 && count_digits (buffer) > fewest_digits_32 (fabsf (value)))
        g_error ("%08x: %s has too many digits", bits, buffer);
      g_assert_cmpuint (strlen (buffer), <, TM_NUMBER_SIZE);
    }
}

static void
test_round_trip_64 (void)
{
  char buffer[TM_NUMBER_SIZE];

  for (guint i = 0; i < 100000; i++)
    {
      guint64 bits = (guint64)(guint32)g_test_rand_int () << 32 | (guint32)g_test_rand_int ();
      double value = double_from_bits (i < 2047 ? (guint64)i << 52 : bits), read;

      if (!isfinite (value))
        continue;
      tm_format_float64 (buffer, value);
      read = strtod (buffer, NULL);
      if (memcmp (&read, &value, sizeof read) != 0)
        g_error ("%s does not read back", buffer);
      g_assert_cmpuint (strlen (buffer), <, TM_NUMBER_SIZE);
    }
}

/* B171: binary32 0x3A83126F is 0.001, not 0.0010000000474974513; likewise the narrower floats. */
static void
test_b171 (void)
{
  char buffer[TM_NUMBER_SIZE];
  g_autofree char *exact = tm_format_exact ((double)from_bits (0x3A83126F));

  assert_float (from_bits (0x3A83126F), "0.001");
  g_assert_cmpstr (exact, ==, "0.001000000047497451305389404296875");
  g_assert_cmpstr (tm_format_narrow_float (buffer, 0x1.998p-4f, 11), ==, "0.1"); /* binary16 0x2E66 */
  g_assert_cmpstr (tm_format_narrow_float (buffer, from_bits (0x3DCD0000), 8), ==, "0.1");
  g_assert_cmpstr (tm_format_narrow_float (buffer, 0x1p-24f, 11), ==, "6e-08");
  g_assert_cmpstr (tm_format_narrow_float (buffer, 65504.0f, 11), ==, "65504");
  g_assert_cmpstr (tm_format_narrow_float (buffer, 0.001953125f, 4), ==, "0.002");
  g_assert_cmpstr (tm_format_narrow_float (buffer, 448.0f, 4), ==, "448");
  g_assert_cmpstr (tm_format_narrow_float (buffer, -0.0f, 4), ==, "-0.0");
  g_assert_cmpstr (tm_format_narrow_float (buffer, NAN, 8), ==, "NaN");
  g_assert_cmpstr (tm_format_narrow_float (buffer, -1.5f, 3), ==, "-1.5");
}

static void
test_exact (void)
{
  g_autofree char *tiny = tm_format_exact (5e-324), *tenth = tm_format_exact (0.1), *whole = tm_format_exact (-1024);

  g_assert_true (g_str_has_prefix (tiny, "4.940656458412465441765687928682213723650598026143247644255856825006755"));
  g_assert_true (g_str_has_suffix (tiny, "63203125e-324") || g_str_has_suffix (tiny, "625e-324"));
  g_assert_cmpstr (tenth, ==, "0.1000000000000000055511151231257827021181583404541015625");
  g_assert_cmpstr (whole, ==, "-1024");
}

static void
test_counts (void)
{
  static const struct
  {
    guint64 n;
    const char *count, *parameters, *size;
  } cases[] = {
    { 0, "0", "0", "0 B" },
    { 999, "999", "999", "999 B" },
    { 1000, "1\u2009000", "1.00 K", "1000 B" },
    { 1100048384, "1\u2009100\u2009048\u2009384", "1.10 B", "1.02 GiB" },
    { 667090944, "667\u2009090\u2009944", "667 M", "636 MiB" },
    { 999999999, "999\u2009999\u2009999", "1.00 B", "954 MiB" },
    { 1048575, "1\u2009048\u2009575", "1.05 M", "1.00 MiB" },
    { 12800, "12\u2009800", "12.8 K", "12.5 KiB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *count = tm_format_count (cases[i].n), *parameters = tm_format_parameters (cases[i].n);
      g_autofree char *size = tm_format_size (cases[i].n);

      g_assert_cmpstr (count, ==, cases[i].count);
      g_assert_cmpstr (parameters, ==, cases[i].parameters);
      g_assert_cmpstr (size, ==, cases[i].size);
    }
}

static void
test_cells (void)
{
  char buffer[TM_NUMBER_SIZE];

  g_assert_cmpstr (tm_format_cell (buffer, 0.012930393f, 6), ==, "0.0129");
  g_assert_cmpstr (tm_format_cell (buffer, -0.012930393f, 7), ==, "-0.0129");
  g_assert_cmpstr (tm_format_cell (buffer, 0.012930393f, 20), ==, "0.012930393");
  g_assert_cmpstr (tm_format_cell (buffer, 3.1232834e-05f, 6), ==, "3.1e-5");
  g_assert_cmpstr (tm_format_cell (buffer, 1e30f, 4), ==, "1e30");
  g_assert_cmpstr (tm_format_cell (buffer, NAN, 4), ==, "NaN");
  g_assert_cmpstr (tm_format_cell (buffer, -INFINITY, 4), ==, "-Inf");
  g_assert_cmpstr (tm_format_cell (buffer, 123456.0f, 3), ==, "");
  for (guint i = 0; i < 20000; i++)
    {
      guint width = (guint)g_test_rand_int_range (1, 14);

      tm_format_cell (buffer, from_bits ((guint32)g_test_rand_int ()), width);
      g_assert_cmpuint (strlen (buffer), <=, width);
    }
}

static void
test_parse (void)
{
  guint64 value = 7;

  g_assert_true (tm_parse_u64 ("18446744073709551615", -1, &value));
  g_assert_cmpuint (value, ==, G_MAXUINT64);
  g_assert_false (tm_parse_u64 ("18446744073709551616", -1, &value));
  g_assert_false (tm_parse_u64 ("", -1, &value));
  g_assert_false (tm_parse_u64 ("-1", -1, &value));
  g_assert_false (tm_parse_u64 (" 1", -1, &value));
  g_assert_false (tm_parse_u64 ("1x", -1, &value));
  g_assert_true (tm_parse_u64 ("12x", 2, &value));
  g_assert_cmpuint (value, ==, 12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/number/float32", test_float32);
  g_test_add_func ("/number/float64", test_float64);
  g_test_add_func ("/number/round-trip-32", test_round_trip_32);
  g_test_add_func ("/number/round-trip-64", test_round_trip_64);
  g_test_add_func ("/traps/B171", test_b171);
  g_test_add_func ("/number/exact", test_exact);
  g_test_add_func ("/number/counts", test_counts);
  g_test_add_func ("/number/cells", test_cells);
  g_test_add_func ("/number/parse", test_parse);
  return g_test_run ();
}
