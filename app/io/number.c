#include "io/number.h"

#include <math.h>
#include <string.h>

/* A number as its significant digits and the place of the point: 0.d1d2d3… × 10^point. */
typedef struct
{
  char digits[800]; /* 767 are the most a double has */
  gint n;
  gint point;
} Decimal;

/* --- Layout ----------------------------------------------------------------------------------------------------------
 */

/* Digits to text: with an exponent below 1e-04 and from 1e+16, as printf's %g and Python have it. size is large enough.
 */
static char *
lay_out (char *out, gboolean negative, const char *digits, gint n, gint point)
{
  char *p = out;

  while (n > 1 && digits[n - 1] == '0')
    n--;
  if (negative)
    *p++ = '-';
  if (point > 16 || point < -3)
    {
      gint exponent = point - 1, magnitude = ABS (exponent);

      *p++ = digits[0];
      if (n > 1)
        {
          *p++ = '.';
          memcpy (p, digits + 1, (gsize)n - 1);
          p += n - 1;
        }
      *p++ = 'e';
      *p++ = exponent < 0 ? '-' : '+';
      if (magnitude >= 100)
        *p++ = (char)('0' + magnitude / 100);
      *p++ = (char)('0' + magnitude / 10 % 10);
      *p++ = (char)('0' + magnitude % 10);
    }
  else if (point <= 0)
    {
      *p++ = '0';
      *p++ = '.';
      for (gint i = point; i < 0; i++)
        *p++ = '0';
      memcpy (p, digits, (gsize)n);
      p += n;
    }
  else
    {
      for (gint i = 0; i < MAX (n, point); i++)
        {
          if (i == point)
            *p++ = '.';
          *p++ = i < n ? digits[i] : '0';
        }
    }
  *p = 0;
  return out;
}

static char *
special (char *out, double value)
{
  if (isnan (value))
    return strcpy (out, "NaN");
  if (isinf (value))
    return strcpy (out, value < 0 ? "-Infinity" : "Infinity");
  return strcpy (out, signbit (value) ? "-0.0" : "0");
}

static gboolean
is_special (double value)
{
  return !isfinite (value) || value == 0;
}

/* value rounded to n significant digits, correctly; trailing zeros stay. */
static void
to_decimal (double value, gint n, Decimal *decimal)
{
  char format[16], text[820];
  char *mantissa_end;

  g_snprintf (format, sizeof format, "%%.%de", n - 1);
  g_ascii_formatd (text, sizeof text, format, fabs (value));
  mantissa_end = strchr (text, 'e');
  decimal->point = (gint)g_ascii_strtoll (mantissa_end + 1, NULL, 10) + 1;
  decimal->digits[0] = text[0];
  decimal->n = 1;
  for (char *p = text + 2; p < mantissa_end; p++)
    decimal->digits[decimal->n++] = *p;
}

/* The double nearest to a decimal. */
static double
from_decimal (const char *digits, gint n, gint point)
{
  char text[840];

  memcpy (text, digits, (gsize)n);
  g_snprintf (text + n, sizeof text - (gsize)n, "e%d", point - n);
  return g_ascii_strtod (text, NULL);
}

/* --- Fewest digits: binary32
 * ------------------------------------------------------------------------------------------ */

/* Raffaello Giulietti's Schubfach for 24-bit significands: the decimal with the fewest digits inside the interval that
 * rounds to the number, of those the nearest. The table holds 10^k for k from -31 to 45, rounded up to 64 bits. */
static const guint64 powers[77] = {
  0x81CEB32C4B43FCF5, 0xA2425FF75E14FC32, 0xCAD2F7F5359A3B3F, 0xFD87B5F28300CA0E, 0x9E74D1B791E07E49,
  0xC612062576589DDB, 0xF79687AED3EEC552, 0x9ABE14CD44753B53, 0xC16D9A0095928A28, 0xF1C90080BAF72CB2,
  0x971DA05074DA7BEF, 0xBCE5086492111AEB, 0xEC1E4A7DB69561A6, 0x9392EE8E921D5D08, 0xB877AA3236A4B44A,
  0xE69594BEC44DE15C, 0x901D7CF73AB0ACDA, 0xB424DC35095CD810, 0xE12E13424BB40E14, 0x8CBCCC096F5088CC,
  0xAFEBFF0BCB24AAFF, 0xDBE6FECEBDEDD5BF, 0x89705F4136B4A598, 0xABCC77118461CEFD, 0xD6BF94D5E57A42BD,
  0x8637BD05AF6C69B6, 0xA7C5AC471B478424, 0xD1B71758E219652C, 0x83126E978D4FDF3C, 0xA3D70A3D70A3D70B,
  0xCCCCCCCCCCCCCCCD, 0x8000000000000000, 0xA000000000000000, 0xC800000000000000, 0xFA00000000000000,
  0x9C40000000000000, 0xC350000000000000, 0xF424000000000000, 0x9896800000000000, 0xBEBC200000000000,
  0xEE6B280000000000, 0x9502F90000000000, 0xBA43B74000000000, 0xE8D4A51000000000, 0x9184E72A00000000,
  0xB5E620F480000000, 0xE35FA931A0000000, 0x8E1BC9BF04000000, 0xB1A2BC2EC5000000, 0xDE0B6B3A76400000,
  0x8AC7230489E80000, 0xAD78EBC5AC620000, 0xD8D726B7177A8000, 0x878678326EAC9000, 0xA968163F0A57B400,
  0xD3C21BCECCEDA100, 0x84595161401484A0, 0xA56FA5B99019A5C8, 0xCECB8F27F4200F3A, 0x813F3978F8940985,
  0xA18F07D736B90BE6, 0xC9F2C9CD04674EDF, 0xFC6F7C4045812297, 0x9DC5ADA82B70B59E, 0xC5371912364CE306,
  0xF684DF56C3E01BC7, 0x9A130B963A6C115D, 0xC097CE7BC90715B4, 0xF0BDC21ABB48DB21, 0x96769950B50D88F5,
  0xBC143FA4E250EB32, 0xEB194F8E1AE525FE, 0x92EFD1B8D0CF37BF, 0xB7ABC627050305AE, 0xE596B7B0C643C71A,
  0x8F7E32CE7BEA5C70, 0xB35DBF821AE4F38C,
};

static guint32
round_to_odd (guint64 power, guint32 c)
{
  guint64 low = (power & 0xFFFFFFFFu) * c;
  guint64 high = (power >> 32) * c + (low >> 32);
  guint32 y0 = (guint32)high, y1 = (guint32)(high >> 32);

  return y1 | (y0 > 1);
}

static void
shortest_32 (guint32 bits, guint32 *decimal, gint *exponent)
{
  guint32 mantissa = bits & 0x7FFFFF, biased = bits >> 23 & 255;
  guint32 c = biased ? mantissa | 0x800000 : mantissa;
  gint q = (biased ? (gint)biased : 1) - 150, k, h;
  gboolean even = (c & 1) == 0, closer = mantissa == 0 && biased > 1;
  guint32 vb, vbl, vbr, lower, upper, s, mid;
  guint64 power;

  if (q <= 0 && q > -24 && (c & ((1u << -q) - 1)) == 0)
    {
      *decimal = c >> -q;
      *exponent = 0;
      return;
    }
  k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
  h = q + ((-k * 1741647) >> 19) + 1;
  power = powers[-k + 31];
  vbl = round_to_odd (power, (4 * c - 2 + closer) << h);
  vb = round_to_odd (power, (4 * c) << h);
  vbr = round_to_odd (power, (4 * c + 2) << h);
  lower = vbl + !even;
  upper = vbr - !even;
  s = vb / 4;
  if (s >= 10)
    {
      guint32 tenth = s / 10;
      gboolean down = lower <= 40 * tenth, up = 40 * tenth + 40 <= upper;

      if (down != up)
        {
          *decimal = tenth + up;
          *exponent = k + 1;
          return;
        }
    }
  *exponent = k;
  {
    gboolean down = lower <= 4 * s, up = 4 * s + 4 <= upper;

    mid = 4 * s + 2;
    *decimal = down != up ? s + up : s + (vb > mid || (vb == mid && (s & 1) != 0));
  }
}

char *
tm_format_float32 (char buffer[TM_NUMBER_SIZE], float value)
{
  guint32 bits, decimal;
  gint exponent, n = 0;
  char reversed[12], digits[12];

  if (is_special ((double)value))
    return special (buffer, (double)value);
  memcpy (&bits, &value, sizeof bits);
  shortest_32 (bits & 0x7FFFFFFF, &decimal, &exponent);
  for (; decimal > 0; decimal /= 10)
    reversed[n++] = (char)('0' + decimal % 10);
  for (gint i = 0; i < n; i++)
    digits[i] = reversed[n - 1 - i];
  return lay_out (buffer, value < 0, digits, n, n + exponent);
}

/* --- Fewest digits: wider and narrower
 * -------------------------------------------------------------------------------- */

/* The decimal one unit of its last digit above. */
static void
next_up (Decimal *decimal)
{
  gint i = decimal->n - 1;

  while (i >= 0 && decimal->digits[i] == '9')
    decimal->digits[i--] = '0';
  if (i >= 0)
    {
      decimal->digits[i]++;
      return;
    }
  decimal->digits[0] = '1';
  decimal->point++;
}

char *
tm_format_float64 (char buffer[TM_NUMBER_SIZE], double value)
{
  Decimal decimal;
  double magnitude = fabs (value);
  gint exponent;

  if (is_special (value))
    return special (buffer, value);
  /* Every decimal of 15 digits survives a normal double, so fewer digits than that show as trailing zeros. */
  for (gint n = magnitude < 0x1p-1022 ? 1 : 15; n < 17; n++)
    {
      to_decimal (magnitude, n, &decimal);
      if (from_decimal (decimal.digits, decimal.n, decimal.point) == magnitude)
        return lay_out (buffer, value < 0, decimal.digits, decimal.n, decimal.point);
      /* Above a power of two lies twice as much room as below: the neighbour may fit where the nearest does not. */
      if (frexp (magnitude, &exponent) == 0.5)
        {
          next_up (&decimal);
          if (from_decimal (decimal.digits, decimal.n, decimal.point) == magnitude)
            return lay_out (buffer, value < 0, decimal.digits, decimal.n, decimal.point);
        }
    }
  to_decimal (magnitude, 17, &decimal);
  return lay_out (buffer, value < 0, decimal.digits, decimal.n, decimal.point);
}

char *
tm_format_narrow_float (char buffer[TM_NUMBER_SIZE], float value, guint significant_bits)
{
  Decimal decimal;
  double magnitude = fabs ((double)value), above, below;
  gint exponent, least;
  gboolean power_of_two;

  if (is_special ((double)value) || significant_bits == 0 || significant_bits >= 24)
    return tm_format_float32 (buffer, value);
  /* A whole number is as short when it is told exactly: 448, not 450. */
  if (magnitude < 16777216 && magnitude == floor (magnitude))
    {
      g_snprintf (buffer, TM_NUMBER_SIZE, "%d", (gint)value);
      return buffer;
    }
  power_of_two = frexp (magnitude, &exponent) == 0.5;
  exponent -= (gint)significant_bits;
  /* binary16 and bfloat16 have one significand length each, so their least subnormal is known too. */
  least = significant_bits == 11 ? -24 : significant_bits == 8 ? -133 : -1000;
  if (exponent <= least)
    exponent = least, power_of_two = FALSE;
  above = ldexp (0.5, exponent);
  below = power_of_two ? above / 2 : above;
  for (gint n = 1; n < 12; n++)
    {
      double read;

      to_decimal (magnitude, n, &decimal);
      read = from_decimal (decimal.digits, decimal.n, decimal.point);
      if (read - magnitude < above && magnitude - read < below)
        break;
    }
  return lay_out (buffer, value < 0, decimal.digits, decimal.n, decimal.point);
}

char *
tm_format_exact (double value)
{
  Decimal decimal;
  char out[840];

  if (is_special (value))
    return g_strdup (special (out, value));
  to_decimal (value, 767, &decimal);
  return g_strdup (lay_out (out, value < 0, decimal.digits, decimal.n, decimal.point));
}

/* --- For people
 * --------------------------------------------------------------------------------------------------------- */

char *
tm_format_count (guint64 n)
{
  char digits[24];
  gint length = g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, n);
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < length; i++)
    {
      if (i > 0 && (length - i) % 3 == 0)
        g_string_append (text, "\u2009");
      g_string_append_c (text, digits[i]);
    }
  return g_string_free (text, FALSE);
}

/* Three digits and a unit. */
static char *
with_unit (double value, double step, const char *const *units, guint n_units)
{
  char number[32];
  guint unit = 0;

  /* What would round to a full step belongs to the next unit. */
  while (unit + 1 < n_units && value >= step - (unit ? 0.5 : 0))
    {
      value /= step;
      unit++;
    }
  g_ascii_formatd (number, sizeof number,
                   unit == 0 || value >= 99.95 ? "%.0f"
                   : value >= 9.995            ? "%.1f"
                                               : "%.2f",
                   value);
  return *units[unit] ? g_strdup_printf ("%s %s", number, units[unit]) : g_strdup (number);
}

char *
tm_format_parameters (guint64 n)
{
  static const char *const units[] = { "", "K", "M", "B", "T" };

  return with_unit ((double)n, 1000, units, G_N_ELEMENTS (units));
}

char *
tm_format_size (guint64 bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

  return with_unit ((double)bytes, 1024, units, G_N_ELEMENTS (units));
}

/* "3e-05" to "3e-5" */
static void
shorten_exponent (char *text)
{
  char *e = strchr (text, 'e');

  if (e == NULL)
    return;
  if (e[1] == '+')
    memmove (e + 1, e + 2, strlen (e + 2) + 1);
  e += e[1] == '-' ? 2 : 1;
  if (e[0] == '0' && e[1] != 0)
    memmove (e, e + 1, strlen (e + 1) + 1);
}

char *
tm_format_cell (char buffer[TM_NUMBER_SIZE], float value, guint max_chars)
{
  if (isnan (value))
    strcpy (buffer, "NaN");
  else if (isinf (value))
    strcpy (buffer, value < 0 ? "-Inf" : "+Inf");
  else if (value == 0)
    strcpy (buffer, max_chars < 4 ? "0" : signbit (value) ? "-0.0" : "0");
  else
    {
      tm_format_float32 (buffer, value);
      for (gint n = 9; n > 0 && strlen (buffer) > max_chars; n--)
        {
          Decimal decimal;

          to_decimal ((double)value, n, &decimal);
          lay_out (buffer, value < 0, decimal.digits, decimal.n, decimal.point);
          shorten_exponent (buffer);
        }
    }
  /* A number is never cut. */
  if (strlen (buffer) > max_chars)
    buffer[0] = 0;
  return buffer;
}

gboolean
tm_parse_u64 (const char *text, gssize length, guint64 *value)
{
  gsize n = length < 0 ? strlen (text) : (gsize)length;
  guint64 x = 0;

  if (n == 0)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isdigit (text[i]) || __builtin_mul_overflow (x, (guint64)10, &x)
        || __builtin_add_overflow (x, (guint64)(text[i] - '0'), &x))
      return FALSE;
  *value = x;
  return TRUE;
}
