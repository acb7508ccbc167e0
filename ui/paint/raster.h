/* Raster: pixels in memory and the one way of blending into them. The formulas are those of the shaders (rect.frag,
 * glyph.frag), written with the same operations in the same order. Not installed, not used outside the painters. */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 *pixels; /* premultiplied 0xAARRGGBB in host order */
  int stride;      /* in pixels */
  int width, height;
} TmRaster;

static inline guint32
tm_raster_opaque (TmColor color)
{
  return color >> 8 | 0xff000000u;
}

/* Round (x / 255) for 0 ≤ x ≤ 65025. */
static inline guint32
tm_raster_div255 (guint32 x)
{
  x += 128;
  return (x + (x >> 8)) >> 8;
}

/* Source over with a premultiplied source, as GL_ONE, GL_ONE_MINUS_SRC_ALPHA does it on 8-bit channels. */
static inline guint32
tm_raster_over (guint32 source, guint32 below)
{
  guint32 k = 255u - (source >> 24);
  if (k == 0)
    return source;
  if (k == 255 && source == 0)
    return below;
  guint32 a = (source >> 24) + tm_raster_div255 ((below >> 24) * k);
  guint32 r = (source >> 16 & 255u) + tm_raster_div255 ((below >> 16 & 255u) * k);
  guint32 g = (source >> 8 & 255u) + tm_raster_div255 ((below >> 8 & 255u) * k);
  guint32 b = (source & 255u) + tm_raster_div255 ((below & 255u) * k);
  return a << 24 | r << 16 | g << 8 | b;
}

/* A straight-alpha colour at coverage 0 … 255, premultiplied. */
static inline guint32
tm_raster_premultiply (TmColor color, guint coverage)
{
  float k = (float) (TM_COLOR_ALPHA (color) * coverage);
  guint32 a = (guint32) (255.0f * k * (1.0f / 65025.0f) + 0.5f);
  guint32 r = (guint32) ((float) TM_COLOR_RED (color) * k * (1.0f / 65025.0f) + 0.5f);
  guint32 g = (guint32) ((float) TM_COLOR_GREEN (color) * k * (1.0f / 65025.0f) + 0.5f);
  guint32 b = (guint32) ((float) TM_COLOR_BLUE (color) * k * (1.0f / 65025.0f) + 0.5f);
  return a << 24 | r << 16 | g << 8 | b;
}

/* An infinity's mark: the middle 0.4 of its cell, both ends included, in the rulers' 24-bit fractions. */
#define TM_MARK_FIRST 5033165
#define TM_MARK_LAST 11744051

void tm_raster_fill (TmRaster *raster, int x, int y, int width, int height, TmColor color); /* clipped, blended */
void tm_raster_rect (TmRaster *raster, const TmPrimRect *rect);
void tm_raster_hatch (TmRaster *raster, const TmPrimRect *rect);
/* Sheets: values and boundaries. columns and so on are scratch arrays kept between frames. */
typedef struct _TmSheetScratch TmSheetScratch;
TmSheetScratch *tm_sheet_scratch_new (void);
void tm_sheet_scratch_free (TmSheetScratch *scratch);
void tm_raster_sheet (TmRaster *raster, const TmPrimSheet *sheet, const TmTheme *theme, TmSheetScratch *scratch);

/* Cuts a range of pixels to those that are drawn: in the pane, or reached by its outline. first: pixel of entries[0]. */
void tm_rulers_trim (const TmRulerEntry *entries, int first, int *from, int *to);

/* Stripes of a hatch: TRUE on a stripe, by the pixel's place relative to the hatch's corner. */
static inline gboolean
tm_raster_is_stripe (int x, int y)
{
  return ((x + y) & 7) < 2;
}

G_END_DECLS
