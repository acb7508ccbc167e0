#include "view/colormap.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Software and hardware GL may or may not flush denormals: nobody may depend on it, so they are zero here and there. */
static float
flush_denormal (float x)
{
  return fabsf (x) < FLT_MIN ? 0.0f : x;
}

void
tm_colormap_scale_init (TmColormapScale *scale, TmPalette palette, float low, float range)
{
  float span = flush_denormal (palette == TM_PALETTE_SEQUENTIAL ? range - low : range);
  scale->palette = palette;
  scale->low = palette == TM_PALETTE_SEQUENTIAL ? flush_denormal (low) : 0.0f;
  scale->inverse = span > 0.0f ? flush_denormal (CLAMP (1.0f / span, 0.0f, FLT_MAX)) : 0.0f;
}

int
tm_colormap_index (const TmColormapScale *scale, float value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  guint32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return TM_COLORMAP_NAN;
  if (magnitude == 0x7f800000u)
    return (bits >> 31) && scale->palette == TM_PALETTE_DIVERGING    ? 1
           : (bits >> 31) && scale->palette == TM_PALETTE_SEQUENTIAL ? 0
                                                                     : 255;
  if (scale->inverse == 0.0f)
    return scale->palette == TM_PALETTE_DIVERGING ? 128 : 0;
  if (magnitude < 0x00800000u)
    value = 0.0f;
  if (scale->palette == TM_PALETTE_DIVERGING)
    {
      float x = floorf (value * scale->inverse * 127.0f + 0.5f);
      return 128 + (int) CLAMP (x, -127.0f, 127.0f);
    }
  if (scale->palette == TM_PALETTE_MAGNITUDE)
    value = fabsf (value);
  float x = floorf ((value - scale->low) * scale->inverse * 255.0f + 0.5f);
  return (int) CLAMP (x, 0.0f, 255.0f);
}

TmColor
tm_theme_value_color (const TmTheme *theme, const TmColormapScale *scale, float value)
{
  int index = tm_colormap_index (scale, value);
  if (index < 0)
    return theme->nan;
  return tm_theme_get_map (theme, scale->palette)[index];
}

const TmColor *
tm_theme_get_map (const TmTheme *theme, TmPalette palette)
{
  return palette == TM_PALETTE_DIVERGING ? theme->diverging : palette == TM_PALETTE_KINDS ? theme->kinds : theme->sequential;
}
