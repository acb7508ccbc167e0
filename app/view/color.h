/* Colours as straight-alpha 0xRRGGBBAA in sRGB bytes, and the arithmetic on them that painters and scene share. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef guint32 TmColor;

#define TM_COLOR_RED(c) (((c) >> 24) & 255u)
#define TM_COLOR_GREEN(c) (((c) >> 16) & 255u)
#define TM_COLOR_BLUE(c) (((c) >> 8) & 255u)
#define TM_COLOR_ALPHA(c) ((c) &255u)

/* The boundaries' blend: (c·(255 − k) + with·k + 127) div 255 a channel, k in 0 … 255; alpha stays opaque. */
TmColor tm_color_mix (TmColor color, TmColor with, guint k);
TmColor tm_color_with_alpha (TmColor color, guint alpha);
/* WCAG relative luminance and contrast ratio (1 … 21) of opaque colours. */
double tm_color_luminance (TmColor color);
double tm_color_contrast (TmColor a, TmColor b);
/* The colour, moved towards black or white until it has this contrast on the ground. */
TmColor tm_color_readable (TmColor color, TmColor ground, double contrast);

G_END_DECLS
