/* Glyphs: one A8 atlas that Pango and cairo fill on demand, and text laid out into quads of it.
 *
 * Positions are whole pixels and there is no subpixel colour, so a quad is a plain copy for both painters. Plain ASCII in a
 * fixed-pitch font (numbers in cells, by the thousand) does not go through Pango again once its characters are known. */
#include "ui/paint/painter.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define ATLAS_WIDTH 1024
#define FIRST_ATLAS_HEIGHT 256
#define MAX_ATLAS_HEIGHT 2048 /* what GLES 3.0 promises a texture */
#define MAX_RUNS 20000
#define MAX_TEXT_BYTES 1024 /* nobody reads more of a caption; keeps hostile names cheap */

typedef struct
{
  TmFont font;
  guint px;
  int max_width;
  char *text;
} RunKey;

typedef struct
{
  guint n, first; /* quads */
  int width;      /* advance */
} Run;

typedef struct
{
  PangoFont *font;
  guint32 glyph;
} GlyphKey;
typedef struct
{
  int x, y, width, height, atlas_x, atlas_y;
} Glyph; /* x, y from the pen to the image's corner */

typedef struct
{
  guint px;
  int advance[TM_N_FONTS]; /* fixed-pitch fonts: pixels a character; 0 unknown yet */
  Glyph ascii[TM_N_FONTS][96];
  guint8 known[TM_N_FONTS][96];
} AsciiTable;

struct _TmGlyphs
{
  PangoContext *context;
  PangoLayout *layout;
  PangoFontDescription *description[TM_N_FONTS];
  GHashTable *runs;   /* RunKey → Run */
  GHashTable *glyphs; /* GlyphKey → Glyph */
  GHashTable *ascii;  /* px → AsciiTable */
  GArray *quads;      /* TmGlyphQuad of all runs, relative to a left-aligned baseline */
  GArray *result;     /* TmGlyphQuad of the last layout call */
  guint8 *atlas;
  int height, shelf_x, shelf_y, shelf_height;
  gboolean full;
  guint serial;
};

static guint
run_key_hash (gconstpointer data)
{
  const RunKey *key = data;
  return g_str_hash (key->text) ^ (key->px * 2654435761u) ^ ((guint) key->font << 28) ^ ((guint) key->max_width << 7);
}

static gboolean
run_key_equal (gconstpointer a, gconstpointer b)
{
  const RunKey *x = a, *y = b;
  return x->font == y->font && x->px == y->px && x->max_width == y->max_width && strcmp (x->text, y->text) == 0;
}

static void
run_key_free (gpointer data)
{
  RunKey *key = data;
  g_free (key->text);
  g_free (key);
}

static guint
glyph_key_hash (gconstpointer data)
{
  const GlyphKey *key = data;
  return g_direct_hash (key->font) ^ (key->glyph * 2654435761u);
}

static gboolean
glyph_key_equal (gconstpointer a, gconstpointer b)
{
  const GlyphKey *x = a, *y = b;
  return x->font == y->font && x->glyph == y->glyph;
}

static void
glyph_key_free (gpointer data)
{
  GlyphKey *key = data;
  g_object_unref (key->font);
  g_free (key);
}

TmGlyphs *
tm_glyphs_new (void)
{
  static const char *const family[]
      = { "Cantarell, Adwaita Sans, DejaVu Sans, sans-serif", "DejaVu Sans Mono, monospace" };
  TmGlyphs *glyphs = g_new0 (TmGlyphs, 1);
  g_autoptr (PangoFontMap) map
      = pango_cairo_font_map_new (); /* an own one: whatever the desktop sets does not reach it */
  pango_cairo_font_map_set_resolution (PANGO_CAIRO_FONT_MAP (map), 96);
  glyphs->context = pango_font_map_create_context (map);
  cairo_font_options_t *options = cairo_font_options_create ();
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_ON);
  pango_cairo_context_set_font_options (glyphs->context, options);
  cairo_font_options_destroy (options);
  pango_context_set_round_glyph_positions (glyphs->context, TRUE);
  pango_context_set_base_dir (glyphs->context, PANGO_DIRECTION_LTR);
  glyphs->layout = pango_layout_new (glyphs->context);
  pango_layout_set_single_paragraph_mode (glyphs->layout, TRUE);
  for (guint i = 0; i < TM_N_FONTS; i++)
    {
      glyphs->description[i] = pango_font_description_new ();
      pango_font_description_set_family_static (glyphs->description[i], family[i / 2]);
      if (i % 2 == 1)
        pango_font_description_set_weight (glyphs->description[i], PANGO_WEIGHT_BOLD);
    }
  glyphs->runs = g_hash_table_new_full (run_key_hash, run_key_equal, run_key_free, g_free);
  glyphs->glyphs = g_hash_table_new_full (glyph_key_hash, glyph_key_equal, glyph_key_free, g_free);
  glyphs->ascii = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, g_free);
  glyphs->quads = g_array_new (FALSE, FALSE, sizeof (TmGlyphQuad));
  glyphs->result = g_array_new (FALSE, FALSE, sizeof (TmGlyphQuad));
  glyphs->height = FIRST_ATLAS_HEIGHT;
  glyphs->atlas = g_malloc0 ((gsize) ATLAS_WIDTH * FIRST_ATLAS_HEIGHT);
  glyphs->serial = 1;
  return glyphs;
}

void
tm_glyphs_free (TmGlyphs *glyphs)
{
  if (glyphs == NULL)
    return;
  g_hash_table_unref (glyphs->runs);
  g_hash_table_unref (glyphs->glyphs);
  g_hash_table_unref (glyphs->ascii);
  g_array_unref (glyphs->quads);
  g_array_unref (glyphs->result);
  for (guint i = 0; i < TM_N_FONTS; i++)
    pango_font_description_free (glyphs->description[i]);
  g_object_unref (glyphs->layout);
  g_object_unref (glyphs->context);
  g_free (glyphs->atlas);
  g_free (glyphs);
}

static void
forget_everything (TmGlyphs *glyphs)
{
  g_hash_table_remove_all (glyphs->runs);
  g_hash_table_remove_all (glyphs->glyphs);
  g_hash_table_remove_all (glyphs->ascii);
  g_array_set_size (glyphs->quads, 0);
  memset (glyphs->atlas, 0, (gsize) ATLAS_WIDTH * (gsize) glyphs->height);
  glyphs->shelf_x = glyphs->shelf_y = glyphs->shelf_height = 0;
  glyphs->full = FALSE;
  glyphs->serial++;
}

/* Room for a glyph's image, one empty pixel around it. FALSE: the atlas is full, the glyph stays invisible until the next
 * frame starts it anew. */
static gboolean
reserve (TmGlyphs *glyphs, Glyph *glyph)
{
  if (glyphs->shelf_x + glyph->width + 1 > ATLAS_WIDTH)
    {
      glyphs->shelf_y += glyphs->shelf_height + 1;
      glyphs->shelf_x = glyphs->shelf_height = 0;
    }
  while (glyphs->shelf_y + glyph->height + 1 > glyphs->height)
    {
      if (glyphs->height >= MAX_ATLAS_HEIGHT)
        {
          glyphs->full = TRUE;
          return FALSE;
        }
      glyphs->atlas = g_realloc (glyphs->atlas, (gsize) ATLAS_WIDTH * (gsize) glyphs->height * 2);
      memset (glyphs->atlas + (gsize) ATLAS_WIDTH * (gsize) glyphs->height, 0,
              (gsize) ATLAS_WIDTH * (gsize) glyphs->height);
      glyphs->height *= 2;
    }
  glyph->atlas_x = glyphs->shelf_x;
  glyph->atlas_y = glyphs->shelf_y;
  glyphs->shelf_x += glyph->width + 1;
  glyphs->shelf_height = MAX (glyphs->shelf_height, glyph->height);
  return TRUE;
}

static const Glyph *
find_glyph (TmGlyphs *glyphs, PangoFont *font, PangoGlyph id)
{
  GlyphKey key = { font, id };
  Glyph *glyph = g_hash_table_lookup (glyphs->glyphs, &key);
  if (glyph != NULL)
    return glyph;

  PangoRectangle ink;
  pango_font_get_glyph_extents (font, id, &ink, NULL);
  glyph = g_new0 (Glyph, 1);
  /* One pixel more on every side: hinting and anti-aliasing may reach past the extents. */
  glyph->x = (int) floor ((double) ink.x / PANGO_SCALE) - 1;
  glyph->y = (int) floor ((double) ink.y / PANGO_SCALE) - 1;
  glyph->width = (int) ceil ((double) (ink.x + ink.width) / PANGO_SCALE) + 1 - glyph->x;
  glyph->height = (int) ceil ((double) (ink.y + ink.height) / PANGO_SCALE) + 1 - glyph->y;
  if (ink.width <= 0 || ink.height <= 0 || glyph->width > 512 || glyph->height > 512 || !reserve (glyphs, glyph))
    glyph->width = glyph->height = 0;
  if (glyph->width > 0)
    {
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, glyph->width, glyph->height);
      cairo_t *cr = cairo_create (surface);
      PangoGlyphInfo info = { .glyph = id };
      PangoGlyphString string = { .num_glyphs = 1, .glyphs = &info };
      cairo_move_to (cr, -glyph->x, -glyph->y);
      pango_cairo_show_glyph_string (cr, font, &string);
      cairo_destroy (cr);
      cairo_surface_flush (surface);
      const guint8 *pixels = cairo_image_surface_get_data (surface);
      int stride = cairo_image_surface_get_stride (surface);
      for (int y = 0; y < glyph->height; y++)
        memcpy (glyphs->atlas + (gsize) (glyph->atlas_y + y) * ATLAS_WIDTH + glyph->atlas_x,
                pixels + (gsize) y * stride, (gsize) glyph->width);
      cairo_surface_destroy (surface);
      glyphs->serial++;
    }
  GlyphKey *kept = g_new (GlyphKey, 1);
  *kept = (GlyphKey) { g_object_ref (font), id };
  g_hash_table_insert (glyphs->glyphs, kept, glyph);
  return glyph;
}

static void
append_quad (TmGlyphs *glyphs, const Glyph *glyph, int pen_x, int pen_y)
{
  if (glyph->width == 0)
    return;
  TmGlyphQuad quad
      = { pen_x + glyph->x, pen_y + glyph->y, glyph->width, glyph->height, glyph->atlas_x, glyph->atlas_y };
  g_array_append_val (glyphs->quads, quad);
}

static const Run *
shape (TmGlyphs *glyphs, TmFont font, guint px, int max_width, const char *text)
{
  RunKey probe = { font, px, max_width, (char *) text };
  Run *run = g_hash_table_lookup (glyphs->runs, &probe);
  if (run != NULL)
    return run;
  if (g_hash_table_size (glyphs->runs) >= MAX_RUNS)
    {
      g_hash_table_remove_all (glyphs->runs);
      g_array_set_size (glyphs->quads, 0);
    }

  gsize length = strnlen (text, MAX_TEXT_BYTES);
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) length);
  pango_font_description_set_absolute_size (glyphs->description[font], (double) px * PANGO_SCALE);
  pango_layout_set_font_description (glyphs->layout, glyphs->description[font]);
  pango_layout_set_ellipsize (glyphs->layout, max_width > 0 ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_NONE);
  pango_layout_set_width (glyphs->layout, max_width > 0 ? max_width * PANGO_SCALE : -1);
  pango_layout_set_text (glyphs->layout, valid, -1);

  run = g_new0 (Run, 1);
  run->first = glyphs->quads->len;
  PangoLayoutLine *line = pango_layout_get_line_readonly (glyphs->layout, 0);
  int pen = 0;
  for (GSList *l = line != NULL ? line->runs : NULL; l != NULL; l = l->next)
    {
      PangoGlyphItem *item = l->data;
      for (int i = 0; i < item->glyphs->num_glyphs; i++)
        {
          PangoGlyphInfo *info = &item->glyphs->glyphs[i];
          if (info->glyph != PANGO_GLYPH_EMPTY)
            append_quad (glyphs, find_glyph (glyphs, item->item->analysis.font, info->glyph),
                         PANGO_PIXELS (pen + info->geometry.x_offset),
                         PANGO_PIXELS (info->geometry.y_offset - item->y_offset));
          pen += info->geometry.width;
        }
    }
  run->n = glyphs->quads->len - run->first;
  run->width = PANGO_PIXELS_CEIL (pen);

  RunKey *kept = g_new (RunKey, 1);
  *kept = (RunKey) { font, px, max_width, g_strdup (text) };
  g_hash_table_insert (glyphs->runs, kept, run);
  return run;
}

void
tm_glyphs_begin (TmGlyphs *glyphs)
{
  if (glyphs->full)
    forget_everything (glyphs);
}

static gboolean
is_fixed_pitch (TmFont font)
{
  return font == TM_FONT_MONO || font == TM_FONT_MONO_BOLD;
}

/* Short plain text in a fixed-pitch font: the table, filled character by character through shape(). NULL otherwise. */
static AsciiTable *
find_ascii (TmGlyphs *glyphs, TmFont font, guint px, const char *text, guint *n)
{
  if (!is_fixed_pitch (font))
    return NULL;
  for (*n = 0; text[*n] != '\0'; (*n)++)
    if (*n >= 32 || text[*n] < 32 || text[*n] > 126)
      return NULL;
  AsciiTable *table = g_hash_table_lookup (glyphs->ascii, GUINT_TO_POINTER (px));
  if (table == NULL)
    {
      table = g_new0 (AsciiTable, 1);
      table->px = px;
      g_hash_table_insert (glyphs->ascii, GUINT_TO_POINTER (px), table);
    }
  for (guint i = 0; i < *n; i++)
    {
      guint c = (guint) text[i] - 32;
      if (table->known[font][c])
        continue;
      char one[2] = { text[i], '\0' };
      const Run *run = shape (glyphs, font, px, 0, one);
      if (run->n > 1 || (table->advance[font] != 0 && table->advance[font] != run->width))
        return NULL; /* the font that stands in for the wished one is not fixed-pitch */
      table->advance[font] = run->width;
      if (run->n == 1)
        {
          const TmGlyphQuad *quad = &g_array_index (glyphs->quads, TmGlyphQuad, run->first);
          table->ascii[font][c] = (Glyph) { quad->x, quad->y, quad->width, quad->height, quad->atlas_x, quad->atlas_y };
        }
      table->known[font][c] = TRUE;
    }
  return table;
}

int
tm_glyphs_measure (TmFont font, guint px, const char *text, gpointer data)
{
  TmGlyphs *glyphs = data;
  guint n;
  AsciiTable *table = find_ascii (glyphs, font, px, text, &n);
  if (table != NULL)
    return (int) n * table->advance[font];
  return shape (glyphs, font, px, 0, text)->width;
}

const TmGlyphQuad *
tm_glyphs_layout (TmGlyphs *glyphs, const TmPrimText *text, guint *n)
{
  g_array_set_size (glyphs->result, 0);
  guint length;
  int width;
  AsciiTable *table = find_ascii (glyphs, text->font, text->px, text->text, &length);
  if (table != NULL && (text->max_width <= 0 || (int) length * table->advance[text->font] <= text->max_width))
    {
      int advance = table->advance[text->font];
      width = (int) length * advance;
      for (guint i = 0; i < length; i++)
        {
          const Glyph *g = &table->ascii[text->font][(guint) text->text[i] - 32];
          TmGlyphQuad quad = { (int) i * advance + g->x, g->y, g->width, g->height, g->atlas_x, g->atlas_y };
          if (g->width > 0)
            g_array_append_val (glyphs->result, quad);
        }
    }
  else
    {
      const Run *run = shape (glyphs, text->font, text->px, 0, text->text);
      if (text->max_width > 0 && run->width > text->max_width)
        run = shape (glyphs, text->font, text->px, text->max_width, text->text);
      width = run->width;
      if (run->n > 0)
        g_array_append_vals (glyphs->result, &g_array_index (glyphs->quads, TmGlyphQuad, run->first), run->n);
    }
  int shift = text->align == TM_ALIGN_CENTRE ? -(width / 2) : text->align == TM_ALIGN_RIGHT ? -width : 0;
  for (guint i = 0; shift != 0 && i < glyphs->result->len; i++)
    g_array_index (glyphs->result, TmGlyphQuad, i).x += shift;
  *n = glyphs->result->len;
  return (const TmGlyphQuad *) (gpointer) glyphs->result->data;
}

const guint8 *
tm_glyphs_get_atlas (TmGlyphs *glyphs, int *width, int *height, guint *serial)
{
  *width = ATLAS_WIDTH;
  *height = glyphs->height;
  *serial = glyphs->serial;
  return glyphs->atlas;
}
