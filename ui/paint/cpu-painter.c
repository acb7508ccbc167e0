/* CPU painter: the whole scene into a cairo image surface. Cairo itself draws nothing: whole-pixel rectangles, sheets and
 * copies of glyphs are quicker without it, and exactly what the shaders do. */
#include "ui/paint/painter.h"

#include "ui/paint/raster.h"

struct _TmCpuPainter
{
  TmSheetScratch *scratch;
};

TmCpuPainter *
tm_cpu_painter_new (void)
{
  TmCpuPainter *painter = g_new0 (TmCpuPainter, 1);
  painter->scratch = tm_sheet_scratch_new ();
  return painter;
}

void
tm_cpu_painter_free (TmCpuPainter *painter)
{
  if (painter == NULL)
    return;
  tm_sheet_scratch_free (painter->scratch);
  g_free (painter);
}

static void
paint_text (TmRaster *raster, const TmPrimText *text, TmGlyphs *glyphs)
{
  guint n, serial;
  const TmGlyphQuad *quads = tm_glyphs_layout (glyphs, text, &n);
  int atlas_width, atlas_height;
  const guint8 *atlas = tm_glyphs_get_atlas (glyphs, &atlas_width, &atlas_height, &serial);
  guint32 source[256]; /* by coverage: a text has one colour and many pixels */
  guint8 known[256] = { 0 };
  for (guint i = 0; i < n; i++)
    {
      const TmGlyphQuad *quad = &quads[i];
      int x0 = text->x + quad->x, y0 = text->y + quad->y;
      int left = MAX (x0, 0), right = MIN (x0 + quad->width, raster->width);
      int top = MAX (y0, 0), bottom = MIN (y0 + quad->height, raster->height);
      for (int y = top; y < bottom; y++)
        {
          const guint8 *in = atlas + (gsize) (quad->atlas_y + y - y0) * (gsize) atlas_width + quad->atlas_x - x0;
          guint32 *out = raster->pixels + (gsize) y * raster->stride;
          for (int x = left; x < right; x++)
            {
              guint8 k = in[x];
              if (k == 0)
                continue;
              if (!known[k])
                {
                  source[k] = tm_raster_premultiply (text->color, k);
                  known[k] = 1;
                }
              out[x] = tm_raster_over (source[k], out[x]);
            }
        }
    }
}

void
tm_cpu_painter_draw (TmCpuPainter *painter, cairo_surface_t *surface, const TmScene *scene, const TmTheme *theme,
                     TmGlyphs *glyphs)
{
  cairo_surface_flush (surface);
  TmRaster raster = {
    .pixels = (guint32 *) (gpointer) cairo_image_surface_get_data (surface),
    .stride = cairo_image_surface_get_stride (surface) / 4,
    .width = cairo_image_surface_get_width (surface),
    .height = cairo_image_surface_get_height (surface),
  };
  if (raster.pixels == NULL)
    return;
  tm_glyphs_begin (glyphs);
  tm_raster_fill (&raster, 0, 0, raster.width, raster.height, theme->background | 255u);
  guint n;
  const TmPrim *prims = tm_scene_get_prims (scene, &n);
  for (guint i = 0; i < n; i++)
    switch (prims[i].kind)
      {
      case TM_PRIM_RECT:
        tm_raster_rect (&raster, &prims[i].as.rect);
        break;
      case TM_PRIM_HATCH:
        tm_raster_hatch (&raster, &prims[i].as.rect);
        break;
      case TM_PRIM_TEXT:
        paint_text (&raster, &prims[i].as.text, glyphs);
        break;
      case TM_PRIM_SHEET:
        tm_raster_sheet (&raster, &prims[i].as.sheet, theme, painter->scratch);
        break;
      }
  cairo_surface_mark_dirty (surface);
}
