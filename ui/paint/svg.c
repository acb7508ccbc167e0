#include "ui/paint/svg.h"

#include "io/error.h"
#include "ui/paint/raster.h"

#include <string.h>

typedef struct
{
  GString *out;
  const TmTheme *theme;
  int width, height;
  cairo_surface_t *surface; /* for one image at a time */
  TmSheetScratch *scratch;
} Svg;

static void
add_color (GString *out, const char *name, TmColor color)
{
  g_string_append_printf (out, " %s=\"#%06x\"", name, color >> 8);
  if (TM_COLOR_ALPHA (color) != 255)
    g_string_append_printf (out, " %s-opacity=\"%u.%03u\"", name, TM_COLOR_ALPHA (color) / 255,
                            TM_COLOR_ALPHA (color) * 1000 / 255 % 1000);
}

/* A border lies inside of its rectangle. */
static void
add_rect (Svg *svg, const TmPrimRect *rect)
{
  const int border = MIN (rect->border, MIN (rect->width, rect->height) / 2);

  g_string_append_printf (svg->out, "<rect x=\"%d%s\" y=\"%d%s\" width=\"%d\" height=\"%d\"", rect->x + border / 2,
                          border % 2 ? ".5" : "", rect->y + border / 2, border % 2 ? ".5" : "", MAX (rect->width - border, 0),
                          MAX (rect->height - border, 0));
  if (rect->radius)
    g_string_append_printf (svg->out, " rx=\"%d\"", rect->radius);
  add_color (svg->out, "fill", rect->fill);
  if (border)
    {
      add_color (svg->out, "stroke", rect->stroke);
      g_string_append_printf (svg->out, " stroke-width=\"%d\"", border);
    }
  g_string_append (svg->out, "/>\n");
}

static void
add_text (Svg *svg, const TmPrimText *text, TmGlyphs *glyphs)
{
  static const char *const anchors[] = { "start", "middle", "end" };
  const gboolean mono = text->font == TM_FONT_MONO || text->font == TM_FONT_MONO_BOLD;
  const gboolean bold = text->font == TM_FONT_SANS_BOLD || text->font == TM_FONT_MONO_BOLD;
  g_autofree char *escaped = g_markup_escape_text (text->text, -1);
  const int natural = tm_glyphs_measure (text->font, text->px, text->text, glyphs);

  g_string_append_printf (svg->out, "<text x=\"%d\" y=\"%d\" font-family=\"%s\" font-size=\"%u\"", text->x, text->y,
                          mono ? "monospace" : "sans-serif", text->px);
  if (bold)
    g_string_append (svg->out, " font-weight=\"bold\"");
  if (text->align != TM_ALIGN_LEFT)
    g_string_append_printf (svg->out, " text-anchor=\"%s\"", anchors[text->align]);
  if (text->max_width > 0 && natural > text->max_width) /* in a picture that scales nothing need be cut */
    g_string_append_printf (svg->out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", text->max_width);
  add_color (svg->out, "fill", text->color);
  g_string_append_printf (svg->out, ">%s</text>\n", escaped);
}

static cairo_status_t
append_bytes (void *closure, const unsigned char *bytes, unsigned int n)
{
  g_byte_array_append (closure, bytes, n);
  return CAIRO_STATUS_SUCCESS;
}

/* What the painter makes of it, cut to its place. */
static gboolean
add_image (Svg *svg, const TmPrim *prim, int x, int y, int width, int height)
{
  const int left = CLAMP (x, 0, svg->width), top = CLAMP (y, 0, svg->height);
  const int right = CLAMP (x + width, left, svg->width), bottom = CLAMP (y + height, top, svg->height);
  const int stride = cairo_image_surface_get_stride (svg->surface);
  unsigned char *data = cairo_image_surface_get_data (svg->surface);
  TmRaster raster = { (guint32 *) (gpointer) data, stride / 4, svg->width, svg->height };
  g_autoptr (GByteArray) png = g_byte_array_new ();
  g_autofree char *base64 = NULL;
  cairo_surface_t *part;
  gboolean written;

  if (right <= left || bottom <= top)
    return TRUE;
  cairo_surface_flush (svg->surface);
  memset (data, 0, (gsize) stride * (gsize) svg->height);
  if (prim->kind == TM_PRIM_SHEET)
    tm_raster_sheet (&raster, &prim->as.sheet, svg->theme, svg->scratch);
  else
    tm_raster_hatch (&raster, &prim->as.rect);
  cairo_surface_mark_dirty (svg->surface);
  part = cairo_image_surface_create_for_data (data + (gsize) top * (gsize) stride + (gsize) left * 4, CAIRO_FORMAT_ARGB32,
                                              right - left, bottom - top, stride);
  written = cairo_surface_write_to_png_stream (part, append_bytes, png) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy (part);
  if (!written)
    return FALSE;
  base64 = g_base64_encode (png->data, png->len);
  g_string_append_printf (svg->out,
                          "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" style=\"image-rendering:pixelated\" "
                          "href=\"data:image/png;base64,%s\"/>\n",
                          left, top, right - left, bottom - top, base64);
  return TRUE;
}

GString *
tm_svg_from_scene (const TmScene *scene, const TmTheme *theme, int width, int height, GError **error)
{
  Svg svg = { g_string_new (NULL), theme, width, height, cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height),
              tm_sheet_scratch_new () };
  TmGlyphs *glyphs = tm_glyphs_new ();
  gboolean ok = cairo_surface_status (svg.surface) == CAIRO_STATUS_SUCCESS;
  guint n;
  const TmPrim *prims = tm_scene_get_prims (scene, &n);

  g_string_append_printf (svg.out,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
                          "<rect width=\"%d\" height=\"%d\"",
                          width, height, width, height, width, height);
  add_color (svg.out, "fill", theme->background);
  g_string_append (svg.out, "/>\n");
  for (guint i = 0; i < n && ok; i++)
    switch (prims[i].kind)
      {
      case TM_PRIM_RECT:
        add_rect (&svg, &prims[i].as.rect);
        break;
      case TM_PRIM_TEXT:
        add_text (&svg, &prims[i].as.text, glyphs);
        break;
      case TM_PRIM_SHEET:
        ok = add_image (&svg, &prims[i], prims[i].as.sheet.x, prims[i].as.sheet.y, prims[i].as.sheet.width,
                        prims[i].as.sheet.height);
        break;
      case TM_PRIM_HATCH:
        ok = add_image (&svg, &prims[i], prims[i].as.rect.x, prims[i].as.rect.y, prims[i].as.rect.width,
                        prims[i].as.rect.height);
        break;
      }
  g_string_append (svg.out, "</svg>\n");
  tm_glyphs_free (glyphs);
  tm_sheet_scratch_free (svg.scratch);
  cairo_surface_destroy (svg.surface);
  if (ok)
    return svg.out;
  g_string_free (svg.out, TRUE);
  g_set_error (error, TM_ERROR, TM_ERROR_IO, "no memory for a picture of %d × %d pixels", width, height);
  return NULL;
}
