#include "ui/paint/legend-strip.h"

#include "io/number.h"
#include "view/scene-private.h"

#include <math.h>

typedef struct
{
  TmScene *scene;
  const TmTheme *theme;
  int x, right, middle, scale;
  TmMeasure measure;
  gpointer data;
} Strip;

#define PX(n) ((n) *strip->scale)

static int
measure (const Strip *strip, TmFont font, int px, const char *text)
{
  return strip->measure != NULL ? strip->measure (font, (guint) px, text, strip->data)
                                : (int) ((double) g_utf8_strlen (text, -1) * px * 0.6);
}

/* A piece of text, if there is room for it. */
static gboolean
add_text (Strip *strip, TmFont font, int px, TmColor color, const char *text)
{
  int width = measure (strip, font, px, text);
  if (strip->x + width > strip->right)
    return FALSE;
  tm_scene_text (strip->scene, strip->x, strip->middle + px * 9 / 25, 0, font, px, TM_ALIGN_LEFT, color,
                 tm_scene_copy (strip->scene, text));
  strip->x += width;
  return TRUE;
}

static void
add_color_bar (Strip *strip, const TmLegend *legend)
{
  gboolean diverging = legend->palette == TM_PALETTE_DIVERGING;
  int width = PX (120), height = PX (12);
  if (strip->x + width > strip->right)
    return;
  for (int i = 0; i < width; i++)
    {
      int entry = diverging ? 1 + i * 254 / (width - 1) : i * 255 / (width - 1);
      tm_scene_rect (strip->scene, TM_LAYER_BOX, strip->x + i, strip->middle - height / 2, 1, height,
                     diverging ? strip->theme->diverging[entry] : strip->theme->sequential[entry]);
    }
  strip->x += width + PX (8);
  if (!(legend->range > 0))
    {
      add_text (strip, TM_FONT_SANS, PX (11), strip->theme->text_dim, "all zero");
      strip->x += PX (18);
      return;
    }
  char low[TM_NUMBER_SIZE], high[TM_NUMBER_SIZE];
  tm_format_cell (low, diverging ? -legend->range : legend->palette == TM_PALETTE_SEQUENTIAL ? legend->low : 0.0f, 8);
  tm_format_cell (high, legend->range, 7);
  g_autofree char *text = g_strdup_printf ("%s … %s", low, high);
  add_text (strip, TM_FONT_MONO, PX (11), strip->theme->text, text);
  strip->x += PX (18);
}

static void
add_line_sample (Strip *strip, int thick, const char *label, const char *size)
{
  g_autofree char *text = size != NULL ? g_strdup_printf ("%s %s", label, size) : g_strdup (label);
  if (strip->x + PX (28) + measure (strip, TM_FONT_SANS, PX (11), text) > strip->right)
    return;
  tm_scene_rect (strip->scene, TM_LAYER_BOX, strip->x, strip->middle - PX (thick) / 2, PX (22), PX (thick),
                 strip->theme->line);
  strip->x += PX (28);
  add_text (strip, TM_FONT_SANS, PX (11), strip->theme->text, text);
  strip->x += PX (18);
}

static void
add_chip (Strip *strip, TmDtype dtype)
{
  const char *name = tm_dtype_get_name (dtype);
  TmColor fill = strip->theme->family[tm_dtype_get_info (dtype)->family];
  int width = measure (strip, TM_FONT_MONO_BOLD, PX (10), name) + PX (14);
  if (strip->x + width > strip->right)
    return;
  TmPrimRect *chip = tm_scene_rect (strip->scene, TM_LAYER_BOX, strip->x, strip->middle - PX (8), width, PX (16), fill);
  chip->radius = PX (8);
  TmColor text = tm_color_contrast (0xffffffff, fill) >= 4.5 ? 0xffffffff : 0x000000ff;
  tm_scene_text (strip->scene, strip->x + width / 2, strip->middle + PX (4), 0, TM_FONT_MONO_BOLD, PX (10),
                 TM_ALIGN_CENTRE, text, name);
  strip->x += width + PX (8);
}

static const char *
describe_overlay (TmOverlay overlay, const TmLegend *legend)
{
  switch (overlay)
    {
    case TM_OVERLAY_RAW:
      return "raw codes";
    case TM_OVERLAY_SCALE:
      return "magnitude of the scale";
    case TM_OVERLAY_ERROR:
      return "error against the reference";
    case TM_OVERLAY_SPARSITY:
      return "zeros by cause";
    case TM_OVERLAY_BACKEND:
      return "backend support";
    case TM_OVERLAY_VALUE:
      return legend->pixels_per_element < 1 ? "largest magnitude a pixel" : "value";
    case TM_OVERLAY_NONE:
    case TM_OVERLAY_DTYPE:
    case TM_N_OVERLAYS:
      break;
    }
  return "dtype";
}

static void
begin (Strip *strip, TmScene *scene, const TmTheme *theme, int width, int height, int scale, gboolean above,
       TmMeasure measure_text, gpointer data)
{
  tm_scene_clear (scene);
  *strip = (Strip) { scene, theme, 14 * scale, width - 14 * scale, height / 2, scale, measure_text, data };
  tm_scene_rect (scene, TM_LAYER_BOX, 0, 0, width, height, theme->card);
  tm_scene_rect (scene, TM_LAYER_BOX, 0, above ? height - scale : 0, width, scale, theme->card_border);
}

void
tm_title_strip_fill (TmScene *scene, const TmTheme *theme, int width, int height, int scale, const char *title,
                     const char *subtitle, const char *right, TmMeasure measure_text, gpointer data)
{
  Strip s, *strip = &s;
  begin (strip, scene, theme, width, height, scale, TRUE, measure_text, data);
  int reserved = measure (strip, TM_FONT_MONO, PX (12), right) + PX (16);
  if (reserved + PX (160) < strip->right)
    {
      tm_scene_text (scene, strip->right, strip->middle + PX (4), 0, TM_FONT_MONO, PX (12), TM_ALIGN_RIGHT,
                     theme->text_dim, tm_scene_copy (scene, right));
      strip->right -= reserved;
    }
  int title_width = MIN (measure (strip, TM_FONT_SANS_BOLD, PX (14), title), strip->right - strip->x);
  tm_scene_text (scene, strip->x, strip->middle + PX (5), title_width, TM_FONT_SANS_BOLD, PX (14), TM_ALIGN_LEFT,
                 theme->text, tm_scene_copy (scene, title));
  strip->x += title_width + PX (14);
  int left = strip->right - strip->x;
  if (left > PX (40))
    tm_scene_text (scene, strip->x, strip->middle + PX (4), left, TM_FONT_SANS, PX (12), TM_ALIGN_LEFT, theme->text_dim,
                   tm_scene_copy (scene, subtitle));
  tm_scene_finish (scene);
}

void
tm_legend_strip_fill (TmScene *scene, const TmTheme *theme, int width, int height, int scale, const TmLegend *legend,
                      TmOverlay overlay, TmMeasure measure_text, gpointer data)
{
  Strip s, *strip = &s;
  begin (strip, scene, theme, width, height, scale, FALSE, measure_text, data);

  g_autofree char *zoom
      = g_strdup_printf ("1 element = %.*f px", legend->pixels_per_element >= 10 ? 0 : 4, legend->pixels_per_element);
  int reserved = measure (strip, TM_FONT_SANS, PX (11), zoom) + PX (18);
  tm_scene_text (scene, strip->right, strip->middle + PX (4), 0, TM_FONT_SANS, PX (11), TM_ALIGN_RIGHT, theme->text_dim,
                 tm_scene_copy (scene, zoom));
  strip->right -= reserved;

  if (legend->any_sheet && legend->depth != TM_DEPTH_ARCHITECTURE)
    {
      add_color_bar (strip, legend);
      if (legend->depth == TM_DEPTH_CELLS)
        add_text (strip, TM_FONT_SANS, PX (11), theme->text,
                  legend->raw_and_value ? "cell: raw over dequantized" : "cell: value");
      else
        add_text (strip, TM_FONT_SANS, PX (11), theme->text, describe_overlay (overlay, legend));
      strip->x += PX (18);
      if (legend->sampled)
        {
          add_text (strip, TM_FONT_SANS, PX (11), theme->text_dim, "sampled");
          strip->x += PX (18);
        }
    }
  gboolean families = legend->depth == TM_DEPTH_ARCHITECTURE || !legend->any_sheet;
  for (guint i = 0; families && i < legend->n_dtypes; i++)
    add_chip (strip, (TmDtype) legend->dtypes[i]);
  if (legend->heavy_lines && families)
    {
      strip->x += PX (8);
      add_line_sample (strip, 3, "granularity changes here", NULL);
    }
  for (guint i = 0; legend->runs != NULL && i < legend->runs->n_runs; i++)
    if (legend->level_visible[i])
      add_line_sample (strip, (int) legend->runs->run[i].width,
                       legend->runs->run[i].label != NULL ? legend->runs->run[i].label : "", legend->runs->run[i].size);
  tm_scene_finish (scene);
}
