#include "ui/paint/raster.h"

#include <math.h>

static void
blend_span (guint32 *out, int n, guint32 source)
{
  if (n <= 0)
    return;
  if (source >> 24 == 255)
    for (int i = 0; i < n; i++)
      out[i] = source;
  else if (source != 0)
    for (int i = 0; i < n; i++)
      out[i] = tm_raster_over (source, out[i]);
}

/* One row of equal pixels from x to x + n, clipped. */
static void
span (TmRaster *raster, int x, int y, int n, guint32 source)
{
  int left = MAX (x, 0), right = MIN (x + n, raster->width);
  if (y >= 0 && y < raster->height && left < right)
    blend_span (raster->pixels + (gsize) y * raster->stride + left, right - left, source);
}

void
tm_raster_fill (TmRaster *raster, int x, int y, int width, int height, TmColor color)
{
  guint32 source = tm_raster_premultiply (color, 255);
  int top = MAX (y, 0), bottom = MIN (y + height, raster->height);
  for (int row = top; row < bottom; row++)
    span (raster, x, row, width, source);
}

/* Signed distance of a pixel's centre to the rounded rectangle's edge; x and y relative to its corner. */
static float
distance (const TmPrimRect *rect, float radius, int x, int y)
{
  float hw = (float) rect->width * 0.5f, hh = (float) rect->height * 0.5f;
  float qx = fabsf ((float) x + 0.5f - hw) - (hw - radius), qy = fabsf ((float) y + 0.5f - hh) - (hh - radius);
  float ox = MAX (qx, 0.0f), oy = MAX (qy, 0.0f);
  return MIN (MAX (qx, qy), 0.0f) + sqrtf (ox * ox + oy * oy) - radius;
}

static guint
coverage (float d)
{
  float c = 0.5f - d;
  return (guint) (CLAMP (c, 0.0f, 1.0f) * 255.0f + 0.5f);
}

static guint32
rect_pixel (const TmPrimRect *rect, float radius, int x, int y)
{
  float d = distance (rect, radius, x, y);
  guint outer = coverage (d), inner = rect->border > 0 ? coverage (d + (float) rect->border) : outer;
  return tm_raster_premultiply (rect->fill, inner) + tm_raster_premultiply (rect->stroke, outer - inner);
}

void
tm_raster_rect (TmRaster *raster, const TmPrimRect *rect)
{
  if (rect->width <= 0 || rect->height <= 0)
    return;
  float radius = (float) MIN (rect->radius, MIN (rect->width, rect->height) / 2);
  int corner = MIN (MAX ((int) radius, rect->border), (rect->width + 1) / 2);
  int band = MAX ((int) radius, rect->border);
  int border = MIN (rect->border, (rect->width + 1) / 2);
  guint32 fill = tm_raster_premultiply (rect->fill, 255), stroke = tm_raster_premultiply (rect->stroke, 255);
  int top = MAX (rect->y, 0), bottom = MIN (rect->y + rect->height, raster->height);
  if (rect->x >= raster->width || rect->x + rect->width <= 0)
    return;
  for (int py = top; py < bottom; py++)
    {
      int y = py - rect->y;
      if (y >= band && y < rect->height - band)
        { /* straight sides */
          span (raster, rect->x, py, border, stroke);
          span (raster, rect->x + border, py, rect->width - 2 * border, fill);
          span (raster, rect->x + rect->width - MIN (border, rect->width - border), py,
                MIN (border, rect->width - border), stroke);
          continue;
        }
      for (int x = 0; x < corner; x++)
        {
          span (raster, rect->x + x, py, 1, rect_pixel (rect, radius, x, y));
          int mirrored = rect->width - 1 - x;
          if (mirrored >= corner)
            span (raster, rect->x + mirrored, py, 1, rect_pixel (rect, radius, mirrored, y));
        }
      if (rect->width > 2 * corner)
        span (raster, rect->x + corner, py, rect->width - 2 * corner, rect_pixel (rect, radius, rect->width / 2, y));
    }
}

void
tm_raster_hatch (TmRaster *raster, const TmPrimRect *rect)
{
  guint32 fill = tm_raster_premultiply (rect->fill, 255), stroke = tm_raster_premultiply (rect->stroke, 255);
  int left = MAX (rect->x, 0), right = MIN (rect->x + rect->width, raster->width);
  int top = MAX (rect->y, 0), bottom = MIN (rect->y + rect->height, raster->height);
  for (int py = top; py < bottom; py++)
    {
      guint32 *out = raster->pixels + (gsize) py * raster->stride;
      for (int px = left; px < right; px++)
        out[px] = tm_raster_over (tm_raster_is_stripe (px - rect->x, py - rect->y) ? stroke : fill, out[px]);
    }
}
