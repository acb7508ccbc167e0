#include "paint/sheet-fixture.h"

#include <math.h>
#include <string.h>

#include "ui/paint/painter.h"

void
sheet_fixture_init (SheetFixture *fixture)
{
  fixture->scene = tm_scene_new ();
  fixture->tiles = g_ptr_array_new ();
  tm_theme_init (&fixture->theme, FALSE, 0);
}

static void
free_tiles (SheetFixture *fixture)
{
  for (guint i = 0; i < fixture->tiles->len; i++)
    {
      TmTile *tile = g_ptr_array_index (fixture->tiles, i);
      g_free (tile->texels);
      g_free (tile);
    }
  g_ptr_array_set_size (fixture->tiles, 0);
}

void
sheet_fixture_clear (SheetFixture *fixture)
{
  free_tiles (fixture);
  g_ptr_array_unref (fixture->tiles);
  tm_scene_free (fixture->scene);
}

static const TmTile *
make_tile (SheetFixture *fixture, guint level, guint32 column, guint32 row, guint64 rows, guint64 columns,
           ValueFunc value, gpointer data)
{
  static guint serial = 1;
  for (guint i = 0; i < fixture->tiles->len; i++)
    {
      const TmTile *tile = g_ptr_array_index (fixture->tiles, i);
      if (tile->key.level == level && tile->key.column == column && tile->key.row == row)
        return tile;
    }
  TmTile *tile = g_new0 (TmTile, 1);
  tile->key = (TmTileKey) { .level = (guint8) level, .column = column, .row = row };
  tile->state = TM_TILE_EXACT;
  tile->serial = serial++;
  tile->texels = g_new0 (float, TM_TILE *TM_TILE);
  for (int y = 0; y < TM_TILE; y++)
    for (int x = 0; x < TM_TILE; x++)
      {
        gint64 c = ((gint64) column * TM_TILE + x) << level, r = ((gint64) row * TM_TILE + y) << level;
        if (c < (gint64) columns && r < (gint64) rows)
          tile->texels[y * TM_TILE + x] = value (c, r, data);
      }
  tile->width = tile->height = TM_TILE;
  g_ptr_array_add (fixture->tiles, tile);
  return tile;
}

void
sheet_fixture_fill (SheetFixture *fixture, const TmCamera *camera, guint64 rows, guint64 columns,
                    const TmBoundaries *boundaries, ValueFunc value, gpointer data, guint missing)
{
  free_tiles (fixture);
  tm_scene_clear (fixture->scene);
  TmRulers *rulers = tm_scene_take_rulers (fixture->scene);
  tm_rulers_build (rulers, camera, 0, 0, rows, columns, boundaries, TRUE, 2, 1);
  TmPrimSheet sheet = {
    .x = rulers->first_x,
    .y = rulers->first_y,
    .width = rulers->n_x,
    .height = rulers->n_y,
    .rulers = rulers,
    .level = tm_tiles_level_for_scale (camera->scale),
    .palette = TM_PALETTE_DIVERGING,
    .range = 1,
    .columns = columns,
    .n_elements = rows * columns,
    .under = fixture->theme.background,
    .blank = fixture->theme.card_border,
    .cell_px = camera->scale >= 8 ? (int) camera->scale : 0,
  };
  if (rulers->n_x > 0 && rulers->n_y > 0)
    {
      guint shift = sheet.level + 8;
      gint64 x0 = CLAMP (rulers->x[0].element, 0, (gint64) columns - 1) >> shift;
      gint64 x1 = CLAMP (rulers->x[rulers->n_x - 1].element, 0, (gint64) columns - 1) >> shift;
      gint64 y0 = CLAMP (rulers->y[0].element, 0, (gint64) rows - 1) >> shift;
      gint64 y1 = CLAMP (rulers->y[rulers->n_y - 1].element, 0, (gint64) rows - 1) >> shift;
      sheet.page_x = (guint32) x0;
      sheet.page_y = (guint32) y0;
      sheet.n_pages_x = (guint32) (x1 - x0 + 1);
      sheet.n_pages_y = (guint32) (y1 - y0 + 1);
      sheet.pages = tm_scene_alloc (fixture->scene, sizeof (TmPage) * sheet.n_pages_x * sheet.n_pages_y);
      for (guint32 i = 0; i < sheet.n_pages_x * sheet.n_pages_y; i++)
        {
          guint32 column = sheet.page_x + i % sheet.n_pages_x, row = sheet.page_y + i / sheet.n_pages_x;
          guint up = missing > 0 && (column + row) % missing == 1 ? 2 : 0;
          gboolean absent = missing > 0 && (column + row) % missing == 2;
          sheet.pages[i] = (TmPage) {
            absent ? NULL : make_tile (fixture, sheet.level + up, column >> up, row >> up, rows, columns, value, data),
            absent ? 0 : up
          };
        }
      tm_scene_add (fixture->scene, TM_LAYER_SHEET, TM_PRIM_SHEET)->as.sheet = sheet;
    }
  tm_scene_finish (fixture->scene);
}

/* --- Brute force ------------------------------------------------------------------------------------------------ */

typedef struct
{
  gint64 a, b, centre, length;
} Footprint;

static gint64
element (__int128 x0, guint64 d, int h)
{
  return (gint64) ((x0 + (__int128) h * d) >> 32);
}

static Footprint
footprint (__int128 x0, guint64 d, int pixel, int width, guint64 length)
{
  return (Footprint) { element (x0, d, 2 * pixel + 1 - width), element (x0, d, 2 * pixel + 1 + width),
                       element (x0, d, 2 * pixel + 1), (gint64) length };
}

static gint64
inside (const Footprint *f, gint64 e)
{
  return CLAMP (e, 0, f->length - 1);
}

static guint64
block_of (const guint32 *table, guint64 extent, guint64 slice, gint64 e)
{
  if (table != NULL)
    return table[e];
  guint64 blocks = (slice + extent - 1) / extent;
  return (guint64) e / slice * blocks + (guint64) e % slice / extent;
}

static guint
strength (double pitch, int width, gboolean halo)
{
  return halo ? tm_ruler_halo_strength (pitch, width) : tm_ruler_line_strength (pitch, width);
}

/* Pitch of a table around a pixel: changes within ±8 px. */
static double
table_pitch (const guint32 *table, __int128 x0, guint64 d, double scale, int pixel, guint64 length)
{
  /* The window begins one element earlier, so that a change at its very edge counts. */
  gint64 a = CLAMP (element (x0, d, 2 * pixel + 1 - 16), 0, (gint64) length - 1) - 1;
  a = MAX (a, 0);
  gint64 b = CLAMP (element (x0, d, 2 * pixel + 1 + 16), 0, (gint64) length - 1);
  return table[a] == table[b] ? 1e300 : (double) (b - a) * scale / (table[b] - table[a]);
}

static guint
axis_ink (const TmBoundaries *boundaries, gboolean rows, const TmCamera *camera, int pixel, gboolean halo)
{
  __int128 x0 = rows ? camera->y0 : camera->x0;
  guint64 length = rows ? boundaries->rows : boundaries->columns, slice = rows ? boundaries->slice_rows : length;
  Footprint outline = footprint (x0, camera->d, pixel, halo ? 4 : 2, length);
  gboolean a_out = outline.a < 0 || outline.a >= outline.length, b_out = outline.b < 0 || outline.b >= outline.length;
  guint ink = a_out != b_out ? 255 : 0;
  for (guint i = 0; i < boundaries->n_runs; i++)
    {
      const TmRun *run = &boundaries->run[i];
      if (run->kind == TM_RUN_FLAT)
        continue;
      guint64 extent = rows ? run->rows : run->columns;
      const guint32 *table = rows ? run->row_runs : run->column_runs;
      if (table == NULL && extent >= slice && slice == length)
        continue;
      if (i + 1 < boundaries->n_runs && (rows ? boundaries->run[i + 1].rows : boundaries->run[i + 1].columns) >= extent)
        continue; /* not coarser than the next level: the finer one draws these */
      int width = (int) run->width;
      Footprint f = footprint (x0, camera->d, pixel, width + (halo ? 2 : 0), length);
      if (block_of (table, MIN (extent, slice), slice, inside (&f, f.a))
          == block_of (table, MIN (extent, slice), slice, inside (&f, f.b)))
        continue;
      double pitch = table != NULL ? table_pitch (table, x0, camera->d, camera->scale, pixel, length)
                                   : (double) MIN (extent, slice) * camera->scale;
      ink = MAX (ink, strength (pitch, width, halo));
    }
  return ink;
}

static guint
flat_ink (const TmBoundaries *boundaries, const TmCamera *camera, int px, int py, gboolean halo)
{
  guint ink = 0;
  for (guint i = 0; i < boundaries->n_runs; i++)
    {
      const TmRun *run = &boundaries->run[i];
      if (run->kind != TM_RUN_FLAT)
        continue;
      int width = (int) run->width + (halo ? 2 : 0);
      guint64 columns = boundaries->columns;
      Footprint x = footprint (camera->x0, camera->d, px, width, columns),
                y = footprint (camera->y0, camera->d, py, width, boundaries->rows);
      if (run->flat < columns && i + 1 < boundaries->n_runs)
        y.a = y.b = y.centre;
      guint64 first = (guint64) inside (&y, y.a) * columns + (guint64) inside (&x, x.a);
      guint64 last = (guint64) inside (&y, y.b) * columns + (guint64) inside (&x, x.b);
      double pitch = run->flat < columns ? camera->scale : (double) (run->flat / columns) * camera->scale;
      if (first / run->flat != last / run->flat)
        ink = MAX (ink, strength (pitch, (int) run->width, halo));
    }
  return ink;
}

static guint
pixel_ink (const TmBoundaries *boundaries, const TmCamera *camera, int px, int py, gboolean halo)
{
  Footprint x = footprint (camera->x0, camera->d, px, 0, boundaries->columns),
            y = footprint (camera->y0, camera->d, py, 0, boundaries->rows);
  gboolean outside_x = x.centre < 0 || x.centre >= x.length, outside_y = y.centre < 0 || y.centre >= y.length;
  /* Beyond the outline and its halo nothing is drawn, whatever the other axis says. */
  guint near_x = axis_ink (boundaries, FALSE, camera, px, TRUE) + axis_ink (boundaries, FALSE, camera, px, FALSE);
  guint near_y = axis_ink (boundaries, TRUE, camera, py, TRUE) + axis_ink (boundaries, TRUE, camera, py, FALSE);
  if ((outside_x && near_x == 0) || (outside_y && near_y == 0))
    return 0;
  guint of_x = axis_ink (boundaries, FALSE, camera, px, halo), of_y = axis_ink (boundaries, TRUE, camera, py, halo);
  if (outside_x && outside_y)
    return MIN (of_x, of_y);
  if (outside_x || outside_y)
    return outside_x ? of_x : of_y;
  return MAX (MAX (of_x, of_y), flat_ink (boundaries, camera, px, py, halo));
}

void
brute_force_ink (const TmBoundaries *boundaries, const TmCamera *camera, int px, int py, guint *line, guint *halo)
{
  *line = pixel_ink (boundaries, camera, px, py, FALSE);
  *halo = pixel_ink (boundaries, camera, px, py, TRUE);
}

/* --- Pictures --------------------------------------------------------------------------------------------------- */

guint32 *
draw_by_cpu (const TmScene *scene, const TmTheme *theme, int width, int height)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  TmCpuPainter *painter = tm_cpu_painter_new ();
  TmGlyphs *glyphs = tm_glyphs_new ();
  tm_cpu_painter_draw (painter, surface, scene, theme, glyphs);
  tm_glyphs_free (glyphs);
  tm_cpu_painter_free (painter);
  guint32 *pixels = g_new (guint32, (gsize) width * height);
  for (int y = 0; y < height; y++)
    memcpy (pixels + (gsize) y * width,
            cairo_image_surface_get_data (surface) + (gsize) y * cairo_image_surface_get_stride (surface),
            (gsize) width * 4);
  cairo_surface_destroy (surface);
  return pixels;
}

guint
count_differences (const guint32 *a, const guint32 *b, int n, guint tolerance, guint *largest)
{
  guint count = 0;
  *largest = 0;
  for (int i = 0; i < n; i++)
    {
      guint worst = 0;
      for (int shift = 0; shift < 32; shift += 8)
        worst = MAX (worst, (guint) ABS ((int) (a[i] >> shift & 255u) - (int) (b[i] >> shift & 255u)));
      *largest = MAX (*largest, worst);
      count += worst > tolerance ? 1 : 0;
    }
  return count;
}
