/* From a number to its entry in a colour map, with the same operations in the same order as the shader: both give the same
 * entry for every float, denormals (zero for both) and infinities included. NaN has no entry. */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

#define TM_COLORMAP_NAN (-1)

typedef struct
{
  TmPalette palette;
  float low;     /* SEQUENTIAL: value of entry 0; else 0 */
  float inverse; /* 1 / (range − low), finite and normal, or 0 where there is no range */
} TmColormapScale;

void tm_colormap_scale_init (TmColormapScale *scale, TmPalette palette, float low, float range);
/* 0 … 255, or TM_COLORMAP_NAN. */
int tm_colormap_index (const TmColormapScale *scale, float value);
/* The palette's 256 entries. */
const TmColor *tm_theme_get_map (const TmTheme *theme, TmPalette palette);
TmColor tm_theme_value_color (const TmTheme *theme, const TmColormapScale *scale, float value);

G_END_DECLS
