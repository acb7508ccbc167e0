#include "view/color.h"

#include <math.h>

static guint
mix_channel (guint a, guint b, guint k)
{
  return (a * (255u - k) + b * k + 127u) / 255u;
}

TmColor
tm_color_mix (TmColor color, TmColor with, guint k)
{
  return mix_channel (TM_COLOR_RED (color), TM_COLOR_RED (with), k) << 24
         | mix_channel (TM_COLOR_GREEN (color), TM_COLOR_GREEN (with), k) << 16
         | mix_channel (TM_COLOR_BLUE (color), TM_COLOR_BLUE (with), k) << 8 | 255u;
}

TmColor
tm_color_with_alpha (TmColor color, guint alpha)
{
  return (color & 0xffffff00u) | MIN (alpha, 255u);
}

static double
to_linear (guint channel)
{
  double x = channel / 255.0;
  return x <= 0.04045 ? x / 12.92 : pow ((x + 0.055) / 1.055, 2.4);
}

double
tm_color_luminance (TmColor color)
{
  return 0.2126 * to_linear (TM_COLOR_RED (color)) + 0.7152 * to_linear (TM_COLOR_GREEN (color))
         + 0.0722 * to_linear (TM_COLOR_BLUE (color));
}

double
tm_color_contrast (TmColor a, TmColor b)
{
  double la = tm_color_luminance (a), lb = tm_color_luminance (b);
  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}

TmColor
tm_color_readable (TmColor color, TmColor ground, double contrast)
{
  TmColor towards = tm_color_luminance (ground) > 0.18 ? 0x000000ff : 0xffffffff;
  for (guint k = 0; k <= 255; k += 5)
    {
      TmColor candidate = tm_color_mix (color, towards, k);
      if (tm_color_contrast (candidate, ground) >= contrast)
        return candidate;
    }
  return towards;
}
