/* Sheets: which panes of a tensor are on the screen, their rulers, the tiles they want. */
#include "view/scene-private.h"

#include <math.h>

/* Panes of one stack that may be drawn with values in a frame; more are smaller than they need to be. */
#define MAX_PANES 1024

typedef struct
{
  const TmBox *box;
  const TmTensor *tensor;
  TmColor under, blank;
  gboolean has_quantity, has_range;
  TmQuantity quantity;
  TmPalette palette;
  float range, low;
  const TmBoundaries *boundaries;
  gboolean lines;
  guint outline;
} Look;

const TmTensorMark *
tm_scene_get_mark (const TmScene *scene, guint tensor)
{
  const TmView *view = scene->view;
  return view->overlay >= TM_OVERLAY_ERROR && view->marks != NULL ? &view->marks[tensor] : NULL;
}

TmTiles *
tm_scene_get_tiles (const TmView *view)
{
  return view->overlay == TM_OVERLAY_ERROR ? view->error_tiles : view->overlay == TM_OVERLAY_SPARSITY ? view->kind_tiles : view->tiles;
}

TmReduce
tm_scene_get_reduce (const TmView *view)
{
  return view->overlay == TM_OVERLAY_SPARSITY ? TM_REDUCE_KINDS : view->reduce;
}

/* Near enough that single elements, and no more the tensor as a whole, are what one looks at. */
static gboolean
is_close (const TmScene *scene, const TmBox *box)
{
  const TmCamera *camera = &scene->view->camera;
  return scene->scale >= 8 * scene->ds
         || tm_scene_length (scene, MAX (box->sheet.width, box->sheet.height)) >= 0.4 * MIN (camera->width, camera->height);
}

gboolean
tm_scene_get_quantity (TmOverlay overlay, const TmTensor *tensor, TmQuantity *quantity)
{
  if (!tm_tensor_is_readable (tensor))
    return FALSE;
  switch (overlay)
    {
    case TM_OVERLAY_VALUE:
    case TM_OVERLAY_ERROR:
    case TM_OVERLAY_SPARSITY:
      *quantity = TM_QUANTITY_VALUE;
      return TRUE;
    case TM_OVERLAY_RAW:
      *quantity
          = tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW) ? TM_QUANTITY_RAW : TM_QUANTITY_VALUE;
      return TRUE;
    case TM_OVERLAY_SCALE:
      *quantity = TM_QUANTITY_SCALE;
      return tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE);
    case TM_OVERLAY_NONE:
    case TM_OVERLAY_DTYPE:
    case TM_OVERLAY_BACKEND:
    case TM_N_OVERLAYS:
      break;
    }
  return FALSE;
}

TmPalette
tm_scene_get_palette (const TmView *view, TmQuantity quantity)
{
  if (view->overlay == TM_OVERLAY_SPARSITY)
    return TM_PALETTE_KINDS;
  if (quantity == TM_QUANTITY_VALUE)
    return view->reduce == TM_REDUCE_RMS ? TM_PALETTE_MAGNITUDE : TM_PALETTE_DIVERGING;
  return quantity == TM_QUANTITY_RAW ? TM_PALETTE_SEQUENTIAL : TM_PALETTE_MAGNITUDE;
}

const TmBoundaries *
tm_scene_get_boundaries (TmScene *scene, guint tensor, const TmSheet *sheet)
{
  const TmTensor *of = tm_model_tensor (scene->view->layout->model, tensor);
  if (of->granularity == NULL || sheet->rows == 0 || sheet->columns == 0)
    return NULL;
  gpointer key = GUINT_TO_POINTER (2 * tensor + (sheet->order != NULL ? 1 : 0) + 1);
  TmBoundaries *boundaries = g_hash_table_lookup (scene->boundaries, key);
  if (boundaries == NULL && !g_hash_table_contains (scene->boundaries, key))
    {
      boundaries = tm_boundaries_new (of, sheet);
      if (boundaries != NULL)
        g_hash_table_insert (scene->boundaries, key, boundaries);
    }
  return boundaries;
}

static gboolean
pane_is_shown (const TmScene *scene, const TmBox *box)
{
  double width = tm_scene_length (scene, (gint64) MIN (box->sheet.columns, (guint64) G_MAXINT64 / 2));
  double height = tm_scene_length (scene, (gint64) MIN (box->sheet.rows, (guint64) G_MAXINT64 / 2));
  double ds = scene->ds;
  return MIN (width, height) >= TM_MIN_PANE * ds && width * height >= TM_MIN_PANE_AREA * ds * ds;
}

gboolean
tm_scene_sheet_is_shown (const TmScene *scene, const TmBox *box)
{
  const TmTensor *tensor = tm_model_tensor (scene->view->layout->model, box->tensor);
  if (box->sheet.rows == 0 || box->sheet.columns == 0 || !tm_tensor_is_readable (tensor))
    return FALSE;
  const TmTensorMark *mark = tm_scene_get_mark (scene, box->tensor);
  if (mark != NULL && (mark->hatched || !is_close (scene, box)))
    return FALSE;
  if (pane_is_shown (scene, box))
    return TRUE;
  /* A single cell or a short row shows from cells' size on. */
  return scene->scale >= TM_MIN_PANE * scene->ds;
}

/* Raw codes have a range of their own: all that the code can say, whatever is stored. */
static void
find_range (TmScene *scene, Look *look)
{
  const TmDtypeInfo *info = tm_dtype_get_info (look->tensor->dtype);
  look->low = 0;
  if (look->palette == TM_PALETTE_KINDS)
    {
      look->range = 255;
      look->has_range = TRUE;
      return;
    }
  if (look->quantity == TM_QUANTITY_RAW && info->code_bits > 0 && info->code_bits <= 16)
    {
      gboolean is_signed = info->family == TM_FAMILY_BITS_8;
      look->range = (float) ((1 << (info->code_bits - (is_signed ? 1 : 0))) - 1);
      look->low = is_signed ? -look->range - 1 : 0;
      look->has_range = TRUE;
      return;
    }
  look->range = 0;
  look->has_range = tm_tiles_get_range (tm_scene_get_tiles (scene->view), look->box->tensor, look->quantity, &look->range);
  if (look->palette == TM_PALETTE_SEQUENTIAL)
    look->low = -look->range;
}

static void
want_pages (TmScene *scene, const Look *look, TmPrimSheet *prim, guint64 pane, gint64 pane_x, gint64 pane_y)
{
  const TmView *view = scene->view;
  const TmRulers *rulers = prim->rulers;
  const TmRulerEntry *first_x = &rulers->x[0], *last_x = &rulers->x[rulers->n_x - 1];
  const TmRulerEntry *first_y = &rulers->y[0], *last_y = &rulers->y[rulers->n_y - 1];
  gint64 columns = (gint64) look->box->sheet.columns, rows = (gint64) look->box->sheet.rows;
  guint shift = prim->level + 8;
  gint64 x0 = CLAMP (first_x->element, 0, columns - 1) >> shift, x1 = CLAMP (last_x->element, 0, columns - 1) >> shift;
  gint64 y0 = CLAMP (first_y->element, 0, rows - 1) >> shift, y1 = CLAMP (last_y->element, 0, rows - 1) >> shift;
  prim->page_x = (guint32) x0;
  prim->page_y = (guint32) y0;
  prim->n_pages_x = (guint32) (x1 - x0 + 1);
  prim->n_pages_y = (guint32) (y1 - y0 + 1);
  prim->pages = tm_scene_alloc (scene, sizeof (TmPage) * prim->n_pages_x * prim->n_pages_y);

  double tile_px = ldexp (scene->scale, (int) shift);
  double left = tm_camera_pixel_x (&view->camera, pane_x + (x0 << shift)) - view->camera.width / 2.0;
  double top = tm_camera_pixel_y (&view->camera, pane_y + (y0 << shift)) - view->camera.height / 2.0;
  for (guint32 j = 0; j < prim->n_pages_y; j++)
    for (guint32 i = 0; i < prim->n_pages_x; i++)
      {
        TmPage *page = &prim->pages[j * prim->n_pages_x + i];
        *page = (TmPage) { NULL, 0 };
        if (!look->has_quantity)
          continue;
        TmTileKey key = { .tensor = look->box->tensor,
                          .quantity = (guint8) look->quantity,
                          .reduce = (guint8) tm_scene_get_reduce (view),
                          .sorted = look->box->sheet.order != NULL,
                          .level = (guint8) prim->level,
                          .pane = pane,
                          .column = prim->page_x + i,
                          .row = prim->page_y + j };
        double distance = hypot (left + (i + 0.5) * tile_px, top + (j + 0.5) * tile_px);
        const TmTile *tile = tm_tiles_want (tm_scene_get_tiles (view), &key, &look->box->sheet, (int) MIN (distance, 1e6));
        if (tile == NULL || !look->has_range || tile->key.level < prim->level)
          continue;
        *page = (TmPage) { tile, tile->key.level - prim->level };
        if (tile->state == TM_TILE_SAMPLED || page->up > 0)
          scene->legend.sampled = TRUE;
      }
}

static void
add_slice_edges (TmScene *scene, const Look *look, TmPixels at)
{
  const TmSheet *sheet = &look->box->sheet;
  if (sheet->kind != TM_SHEET_MERGED || sheet->slice_columns < 2
      || tm_scene_length (scene, (gint64) sheet->slice_columns) < 8 * scene->ds)
    return;
  TmColor color = tm_color_with_alpha (scene->view->theme->text_dim, 150);
  gint64 slice = (gint64) sheet->slice_columns, x = look->box->sheet_x;
  gint64 first = MAX ((scene->left - x) / slice, 1),
         last = MIN ((scene->right - x) / slice + 1, (gint64) sheet->columns / slice - 1);
  for (gint64 i = first; i <= last; i++)
    tm_scene_rect (scene, TM_LAYER_LINE, tm_camera_snap_x (&scene->view->camera, x + i * slice), at.y, scene->ds,
                   at.height, color);
}

/* The leading indices of a pane: "[3,17]". */
const char *
tm_scene_format_pane (TmScene *scene, const TmTensor *tensor, guint64 pane)
{
  GString *text = g_string_new ("[");
  guint64 rest = pane, product = 1;
  for (guint i = 0; i + 2 < tensor->rank; i++)
    product *= MAX (tensor->shape[i], 1);
  for (guint i = 0; i + 2 < tensor->rank; i++)
    {
      product = MAX (product / MAX (tensor->shape[i], 1), 1);
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? "," : "", rest / product);
      rest %= product;
    }
  g_string_append_c (text, ']');
  const char *copy = tm_scene_copy (scene, text->str);
  g_string_free (text, TRUE);
  return copy;
}

/* In the pane's corner. */
static void
add_pane_label (TmScene *scene, const Look *look, TmPixels at, guint64 pane)
{
  if (look->tensor->rank < 3 || MIN (at.width, at.height) < 40 * scene->ds)
    return;
  const TmTheme *theme = scene->view->theme;
  const char *text = tm_scene_format_pane (scene, look->tensor, pane);
  int size = 10 * scene->ds, width = tm_scene_measure (scene, TM_FONT_MONO, size, text) + 8 * scene->ds;
  int x = MAX (at.x, 0) + 3 * scene->ds, y = MAX (at.y, 0) + 3 * scene->ds;
  if (width + 6 * scene->ds > at.width)
    return;
  TmPrimRect *pill
      = tm_scene_rect (scene, TM_LAYER_LINE, x, y, width, 15 * scene->ds, tm_color_with_alpha (theme->card, 235));
  pill->radius = 4 * scene->ds;
  tm_scene_text (scene, x + 4 * scene->ds, y + 11 * scene->ds, 0, TM_FONT_MONO, size, TM_ALIGN_LEFT, theme->text, text);
}

static void
add_pane (TmScene *scene, const Look *look, guint64 pane)
{
  const TmView *view = scene->view;
  const TmSheet *sheet = &look->box->sheet;
  gint64 x, y;
  tm_sheet_get_pane_origin (sheet, pane, &x, &y);
  x += look->box->sheet_x;
  y += look->box->sheet_y;
  if (!tm_scene_is_visible (scene, x, y, (gint64) sheet->columns, (gint64) sheet->rows))
    return;
  TmRulers *rulers = tm_scene_take_rulers (scene);
  tm_rulers_build_at (rulers, &view->camera, x, y, sheet->rows, sheet->columns, pane * sheet->rows * sheet->columns,
                      look->boundaries, look->lines, look->outline, (guint) scene->ds);
  if (rulers->n_x <= 0 || rulers->n_y <= 0)
    return;
  TmPrimSheet prim = {
    .x = rulers->first_x,
    .y = rulers->first_y,
    .width = rulers->n_x,
    .height = rulers->n_y,
    .rulers = rulers,
    .level = look->has_quantity ? MIN (scene->level, 23u) : 23,
    .palette = look->palette,
    .range = look->range,
    .low = look->low,
    .columns = sheet->columns,
    .n_elements = sheet->n_elements,
    .base = pane * sheet->rows * sheet->columns,
    .under = look->under,
    .blank = look->blank,
    .cell_px = scene->scale >= 8 && scene->scale < TM_MIN_CELL * scene->ds ? (int) scene->scale : 0, /* text says it */
  };
  want_pages (scene, look, &prim, pane, x, y);
  tm_scene_add (scene, TM_LAYER_SHEET, TM_PRIM_SHEET)->as.sheet = prim;
  scene->legend.any_sheet |= look->has_quantity;
  if (scene->legend.tensor == G_MAXUINT || look->has_range)
    {
      gint64 cx = tm_camera_element_x (&view->camera, view->camera.width / 2);
      gint64 cy = tm_camera_element_y (&view->camera, view->camera.height / 2);
      const TmBox *box = look->box;
      if (cx >= box->x && cx < box->x + box->width && cy >= box->y && cy < box->y + box->height)
        {
          scene->legend.range = look->range;
          scene->legend.low = look->low;
        }
    }

  TmPixels at = tm_scene_to_pixels (scene, x, y, (gint64) sheet->columns, (gint64) sheet->rows);
  add_slice_edges (scene, look, at);
  if (sheet->n_panes > 1)
    add_pane_label (scene, look, at, pane);
  if (scene->scale >= TM_MIN_CELL * scene->ds)
    tm_scene_add_cells (scene, look->box, &prim, pane, x, y);
}

gboolean
tm_scene_add_sheet (TmScene *scene, const TmBox *box, TmColor under)
{
  const TmView *view = scene->view;
  const TmTheme *theme = view->theme;
  if (!tm_scene_sheet_is_shown (scene, box))
    return FALSE;
  Look look = { .box = box, .tensor = tm_model_tensor (view->layout->model, box->tensor), .under = under };
  look.has_quantity = tm_scene_get_tiles (view) != NULL && tm_scene_get_quantity (view->overlay, look.tensor, &look.quantity);
  double longer = tm_scene_length (scene, (gint64) MAX (box->sheet.columns, box->sheet.rows)) / scene->ds;
  double shorter = tm_scene_length (scene, (gint64) MIN (box->sheet.columns, box->sheet.rows)) / scene->ds;
  look.lines = view->boundaries && longer >= TM_MIN_LINES && shorter >= TM_MIN_PANE;
  if (!look.has_quantity && shorter < TM_MIN_LINES && scene->scale < TM_MIN_PANE * scene->ds)
    return FALSE; /* a plain box says as much */
  TmFamily family = tm_dtype_get_info (look.tensor->dtype)->family;
  const TmTensorMark *mark = tm_scene_get_mark (scene, box->tensor);
  look.blank = view->overlay == TM_OVERLAY_SPARSITY             ? theme->kind[0]
               : view->overlay == TM_OVERLAY_BACKEND && mark != NULL ? mark->fill
               : view->overlay == TM_OVERLAY_NONE               ? tm_color_mix (theme->card, theme->text_dim, 30)
                                                                : theme->family_fill[family];
  look.outline = shorter >= 2 * TM_MIN_LINES || scene->scale >= TM_MIN_PANE * scene->ds ? 2 : 0;
  if (look.has_quantity)
    {
      look.palette = tm_scene_get_palette (view, look.quantity);
      find_range (scene, &look);
    }
  if (look.lines)
    look.boundaries = tm_scene_get_boundaries (scene, box->tensor, &box->sheet);
  if (look.outline == 0)
    { /* small: its frame is the box's own, not the boundaries' black */
      TmPixels at = tm_scene_to_pixels (scene, box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height);
      tm_scene_rect (scene, TM_LAYER_BOX, at.x - scene->ds, at.y - scene->ds, at.width + 2 * scene->ds,
                     at.height + 2 * scene->ds,
                     view->overlay == TM_OVERLAY_NONE ? theme->text_dim : theme->family[family]);
    }

  /* Panes that can be on the screen, from the grid. */
  const TmSheet *sheet = &box->sheet;
  gint64 step_x = (gint64) (sheet->columns + sheet->gap), step_y = (gint64) (sheet->rows + sheet->gap);
  gint64 across = (gint64) MAX (sheet->panes_across, 1), down = ((gint64) sheet->n_panes + across - 1) / across;
  gint64 c0 = CLAMP ((scene->left - box->sheet_x) / step_x, 0, across),
         c1 = CLAMP ((scene->right - box->sheet_x) / step_x + 1, 0, across);
  gint64 r0 = CLAMP ((scene->top - box->sheet_y) / step_y, 0, down),
         r1 = CLAMP ((scene->bottom - box->sheet_y) / step_y + 1, 0, down);
  guint drawn = 0;
  for (gint64 r = r0; r < r1; r++)
    for (gint64 c = c0; c < c1 && drawn < MAX_PANES; c++, drawn++)
      if (r * across + c < (gint64) sheet->n_panes)
        add_pane (scene, &look, (guint64) (r * across + c));
  return TRUE;
}
