/* Cells: from about 40 px an element every number is written into its cell, raw large and dequantized under it. The numbers
 * come from level-0 tiles of both quantities; until they are there the cell is only coloured. */
#include "view/scene-private.h"

#include "io/number.h"
#include "view/colormap.h"

#include <math.h>

#define MAX_TILES 16 /* of one pane, each quantity: 4096 × 4096 cells of 40 px are more than any screen has */

typedef struct
{
  const TmTile *tile[MAX_TILES];
  gint64 first_x, first_y, n_x, n_y; /* in tiles */
  gboolean wanted;
} Values;

static void
want_values (TmScene *scene, TmTiles *tiles, const TmBox *box, TmQuantity quantity, guint64 pane, gint64 c0, gint64 r0, gint64 c1,
             gint64 r1, Values *values)
{
  values->first_x = c0 / TM_TILE;
  values->first_y = r0 / TM_TILE;
  values->n_x = c1 / TM_TILE - values->first_x + 1;
  values->n_y = r1 / TM_TILE - values->first_y + 1;
  values->wanted = values->n_x * values->n_y <= MAX_TILES;
  for (gint64 i = 0; values->wanted && i < values->n_x * values->n_y; i++)
    {
      TmTileKey key = { .tensor = box->tensor,
                        .quantity = (guint8) quantity,
                        .reduce = (guint8) scene->view->reduce,
                         .sorted = box->sheet.order != NULL,
                        .pane = pane,
                        .column = (guint32) (values->first_x + i % values->n_x),
                        .row = (guint32) (values->first_y + i / values->n_x) };
      values->tile[i] = tm_tiles_want (tiles, &key, &box->sheet, 0);
    }
}

/* FALSE: not there yet, or only as part of something coarser. */
static gboolean
get_value (const Values *values, gint64 column, gint64 row, float *value)
{
  if (!values->wanted)
    return FALSE;
  const TmTile *tile
      = values->tile[(row / TM_TILE - values->first_y) * values->n_x + column / TM_TILE - values->first_x];
  if (tile == NULL || tile->key.level != 0 || tile->state != TM_TILE_EXACT || tile->texels == NULL)
    return FALSE;
  *value = tile->texels[(row % TM_TILE) * TM_TILE + column % TM_TILE];
  return TRUE;
}

static const char *
format_value (TmScene *scene, float value, guint max_chars)
{
  if (isnan (value))
    return "NaN";
  if (isinf (value))
    return value > 0 ? "+Inf" : "−Inf";
  char buffer[TM_NUMBER_SIZE];
  return tm_scene_copy (scene, tm_format_cell (buffer, value, max_chars));
}

static TmColor
get_ground (const TmScene *scene, const TmPrimSheet *sheet, const TmColormapScale *scale, gint64 column, gint64 row)
{
  gint64 i = (row >> (sheet->level + 8)) - sheet->page_y, j = (column >> (sheet->level + 8)) - sheet->page_x;
  if (i < 0 || j < 0 || i >= sheet->n_pages_y || j >= sheet->n_pages_x)
    return sheet->blank;
  const TmPage *page = &sheet->pages[i * sheet->n_pages_x + j];
  if (page->tile == NULL || page->tile->texels == NULL)
    return sheet->blank;
  guint shift = sheet->level + page->up;
  float value = page->tile->texels[((row >> shift) & (TM_TILE - 1)) * TM_TILE + ((column >> shift) & (TM_TILE - 1))];
  return tm_theme_value_color (scene->view->theme, scale, value);
}

/* Faint lines between cells where no boundary is, so that equal neighbours stay two. */
static void
add_separators (TmScene *scene, const TmPrimSheet *sheet, gint64 pane_x, gint64 pane_y, gint64 c0, gint64 r0, gint64 c1,
                gint64 r1)
{
  const TmRulers *rulers = sheet->rulers;
  const TmCamera *camera = &scene->view->camera;
  if (rulers->n_flat > 0)
    return;
  TmColor color = tm_color_with_alpha (scene->view->theme->text_dim, 46);
  int left = MAX (tm_camera_snap_x (camera, pane_x + c0), 0),
      right = MIN (tm_camera_snap_x (camera, pane_x + c1 + 1), camera->width);
  int top = MAX (tm_camera_snap_y (camera, pane_y + r0), 0),
      bottom = MIN (tm_camera_snap_y (camera, pane_y + r1 + 1), camera->height);
  for (gint64 c = MAX (c0, 1); c <= c1; c++)
    {
      int x = tm_camera_snap_x (camera, pane_x + c), i = x - rulers->first_x;
      if (i >= 1 && i < rulers->n_x && TM_RULER_LINE (rulers->x[i].strengths) == 0
          && TM_RULER_LINE (rulers->x[i - 1].strengths) == 0)
        tm_scene_rect (scene, TM_LAYER_LINE, x, top, scene->ds, bottom - top, color);
    }
  for (gint64 r = MAX (r0, 1); r <= r1; r++)
    {
      int y = tm_camera_snap_y (camera, pane_y + r), i = y - rulers->first_y;
      if (i >= 1 && i < rulers->n_y && TM_RULER_LINE (rulers->y[i].strengths) == 0
          && TM_RULER_LINE (rulers->y[i - 1].strengths) == 0)
        tm_scene_rect (scene, TM_LAYER_LINE, left, y, right - left, scene->ds, color);
    }
}

void
tm_scene_add_cells (TmScene *scene, const TmBox *box, const TmPrimSheet *sheet, guint64 pane, gint64 pane_x,
                    gint64 pane_y)
{
  const TmView *view = scene->view;
  const TmTensor *tensor = tm_model_tensor (view->layout->model, box->tensor);
  const TmRulers *rulers = sheet->rulers;
  gint64 columns = (gint64) box->sheet.columns, rows = (gint64) box->sheet.rows;
  gint64 c0 = CLAMP (rulers->x[0].element, 0, columns - 1),
         c1 = CLAMP (rulers->x[rulers->n_x - 1].element, 0, columns - 1);
  gint64 r0 = CLAMP (rulers->y[0].element, 0, rows - 1), r1 = CLAMP (rulers->y[rulers->n_y - 1].element, 0, rows - 1);
  add_separators (scene, sheet, pane_x, pane_y, c0, r0, c1, r1);
  if (view->tiles == NULL || tm_scene_get_tiles (view) == NULL || tensor->codec == NULL)
    return;

  Values value = { 0 }, raw = { 0 };
  gboolean error = view->overlay == TM_OVERLAY_ERROR; /* the candidate's value over what it is off by */
  gboolean two = error || (tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW));
  want_values (scene, error ? view->error_tiles : view->tiles, box, TM_QUANTITY_VALUE, pane, c0, r0, c1, r1, &value);
  if (two)
    want_values (scene, view->tiles, box, error ? TM_QUANTITY_VALUE : TM_QUANTITY_RAW, pane, c0, r0, c1, r1, &raw);

  double logical = scene->scale / scene->ds;
  int large = (int) CLAMP (logical * 0.22, 10, 26) * scene->ds,
      small = (int) CLAMP (logical * 0.145, 8, 17) * scene->ds;
  if (!two)
    small = (int) CLAMP (logical * 0.19, 8, 22) * scene->ds;
  int digit = MAX (tm_scene_measure (scene, TM_FONT_MONO, small, "0"), 1), room = (int) scene->scale - 4 * scene->ds;
  guint max_chars = (guint) CLAMP ((int) (scene->scale * 0.8) / digit, 4, 24);
  TmColormapScale scale;
  tm_colormap_scale_init (&scale, sheet->palette, sheet->low, sheet->range);
  if (error)
    large = MIN (large, small + 2 * scene->ds);
  int baseline_raw = (int) (scene->scale * 0.5 - small * 0.1),
      baseline_value = (int) (scene->scale * 0.5 + small * 1.25);
  if (!two)
    baseline_value = (int) (scene->scale * 0.5 + small * 0.36);
  for (gint64 r = r0; r <= r1; r++)
    for (gint64 c = c0; c <= c1; c++)
      {
        if (sheet->base + (guint64) r * sheet->columns + (guint64) c >= sheet->n_elements)
          break;
        float number;
        int x = (int) floor (tm_camera_pixel_x (&view->camera, pane_x + c) + scene->scale * 0.5);
        int y = (int) floor (tm_camera_pixel_y (&view->camera, pane_y + r));
        TmColor color = tm_scene_contrasting (scene, get_ground (scene, sheet, &scale, c, r));
        if (two && get_value (&raw, c, r, &number))
          tm_scene_text (scene, x, y + baseline_raw, room, TM_FONT_MONO_BOLD, large, TM_ALIGN_CENTRE, color,
                         error ? format_value (scene, number, max_chars)
                               : tm_scene_format (scene, "%" G_GINT64_FORMAT, (gint64) number));
        if (get_value (&value, c, r, &number))
          tm_scene_text (scene, x, y + baseline_value, room, TM_FONT_MONO, small, TM_ALIGN_CENTRE, color,
                         format_value (scene, number, max_chars));
      }
}
