/* Selection and hover: outlines in the accent colour over everything else. */
#include "view/scene-private.h"

#include <stdlib.h>

#define MAX_REGION_PANES 64
#define MAX_COLUMN_RUNS 4096

static void
add_outline (TmScene *scene, TmPixels at, int gap, int thick, int radius)
{
  const TmTheme *theme = scene->view->theme;
  int grow = (gap + thick) * scene->ds;
  TmPrimRect *rect
      = tm_scene_rect (scene, TM_LAYER_LINE, at.x - grow, at.y - grow, at.width + 2 * grow, at.height + 2 * grow, 0);
  rect->border = thick * scene->ds;
  rect->stroke = theme->accent;
  rect->radius = radius * scene->ds;
}

static TmPixels
box_pixels (TmScene *scene, const TmBox *box)
{
  if (box->kind == TM_BOX_TENSOR && box->sheet.width > 0
      && tm_scene_length (scene, MIN (box->sheet.width, box->sheet.height)) >= 24)
    return tm_scene_to_pixels (scene, box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height);
  return tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height);
}

/* One cell; where cells are small, a ring that can be seen around its place. */
static void
add_cell (TmScene *scene, const TmBox *box, guint64 flat)
{
  gint64 x, y;
  if (flat >= box->sheet.n_elements)
    return;
  tm_sheet_locate (&box->sheet, flat, &x, &y);
  TmPixels at = tm_scene_to_pixels (scene, box->sheet_x + x, box->sheet_y + y, 1, 1);
  if (scene->scale >= 14 * scene->ds)
    { /* within the cell, so that neighbours and boundaries stay visible */
      TmPrimRect *halo = tm_scene_rect (scene, TM_LAYER_LINE, at.x - scene->ds, at.y - scene->ds,
                                        at.width + 2 * scene->ds, at.height + 2 * scene->ds, 0);
      halo->border = 5 * scene->ds;
      halo->stroke = tm_color_with_alpha (scene->view->theme->halo, 150);
      halo->radius = 3 * scene->ds;
      add_outline (scene, at, -3, 3, 2);
      return;
    }
  int size = 13 * scene->ds;
  TmPixels ring = { at.x + at.width / 2 - size / 2, at.y + at.height / 2 - size / 2, size, size };
  TmPrimRect *halo = tm_scene_rect (scene, TM_LAYER_LINE, ring.x - scene->ds, ring.y - scene->ds, size + 2 * scene->ds,
                                    size + 2 * scene->ds, 0);
  halo->border = 4 * scene->ds;
  halo->stroke = tm_color_with_alpha (scene->view->theme->halo, 200);
  halo->radius = size;
  add_outline (scene, ring, -2, 2, size);
}

static void
add_area (TmScene *scene, const TmBox *box, guint64 pane, gint64 c0, gint64 r0, gint64 c1, gint64 r1)
{
  gint64 x, y;
  if (c1 <= c0 || r1 <= r0)
    return;
  tm_sheet_get_pane_origin (&box->sheet, pane, &x, &y);
  x += box->sheet_x + c0;
  y += box->sheet_y + r0;
  if (!tm_scene_is_visible (scene, x, y, c1 - c0, r1 - r0))
    return;
  TmPixels at = tm_scene_to_pixels (scene, x, y, c1 - c0, r1 - r0);
  TmPrimRect *rect
      = tm_scene_rect (scene, TM_LAYER_LINE, at.x, at.y, at.width, at.height, scene->view->theme->accent_soft);
  rect->border = MIN (at.width, at.height) > 4 * scene->ds ? 2 * scene->ds : 0;
  rect->stroke = scene->view->theme->accent;
}

/* Wrapped rows: what remains of the first row, whole rows, what there is of the last. */
static void
add_run (TmScene *scene, const TmBox *box, guint64 start, guint64 end)
{
  gint64 columns = (gint64) box->sheet.columns, r0 = (gint64) start / columns, r1 = (gint64) (end - 1) / columns;
  gint64 c0 = (gint64) start % columns, c1 = (gint64) (end - 1) % columns + 1;
  if (r0 == r1)
    {
      add_area (scene, box, 0, c0, r0, c1, r0 + 1);
      return;
    }
  gint64 whole = c0 == 0 ? r0 : r0 + 1, last = c1 == columns ? r1 + 1 : r1;
  if (whole > r0)
    add_area (scene, box, 0, c0, r0, columns, r0 + 1);
  add_area (scene, box, 0, 0, whole, columns, last);
  if (last == r1)
    add_area (scene, box, 0, 0, r1, c1, r1 + 1);
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  return x < y ? -1 : x > y ? 1 : 0;
}

/* Columns that stand in another order: every run of them that lies together. */
static void
add_columns (TmScene *scene, const TmBox *box, guint64 pane, guint64 c0, guint64 r0, guint64 c1, guint64 r1)
{
  const TmAxisOrder *order = box->sheet.order;
  if (order == NULL || (c0 == 0 && c1 == order->length))
    {
      add_area (scene, box, pane, (gint64) c0, (gint64) r0, (gint64) c1, (gint64) r1);
      return;
    }
  gsize n = (gsize) (c1 - c0);
  g_autofree guint32 *places = g_memdup2 (order->shown + c0, n * sizeof *places);
  qsort (places, n, sizeof *places, compare_places);
  guint drawn = 0;
  for (gsize i = 0; i < n && drawn < MAX_COLUMN_RUNS; drawn++)
    {
      gsize end = i + 1;
      while (end < n && places[end] == places[end - 1] + 1)
        end++;
      add_area (scene, box, pane, places[i], (gint64) r0, (gint64) places[end - 1] + 1, (gint64) r1);
      i = end;
    }
}

static void
add_region (TmScene *scene, const TmBox *box, const TmTensor *tensor, const TmAddress *address)
{
  guint rank = address->rank;
  if (rank != tensor->rank || box->sheet.columns == 0)
    return;
  for (guint i = 0; i < rank; i++)
    if (address->start[i] >= address->end[i] || address->end[i] > tensor->shape[i])
      return;
  guint64 columns = 1, first = 0, last = 0; /* axes after the first, merged: the smallest range that holds the region */
  switch (box->sheet.kind)
    {
    case TM_SHEET_WRAPPED:
      if (rank > 0)
        add_run (scene, box, tm_tensor_flatten (tensor, address->start), address->end[rank - 1]);
      break;
    case TM_SHEET_MATRIX:
      if (rank == 2)
        add_columns (scene, box, 0, address->start[1], address->start[0], address->end[1], address->end[0]);
      else
        add_area (scene, box, 0, 0, 0, (gint64) box->sheet.columns, (gint64) box->sheet.rows);
      break;
    case TM_SHEET_MERGED:
      for (guint i = rank; i-- > 1; columns *= tensor->shape[i])
        {
          first += address->start[i] * columns;
          last += (address->end[i] - 1) * columns;
        }
      add_area (scene, box, 0, (gint64) first, (gint64) address->start[0], (gint64) last + 1, (gint64) address->end[0]);
      break;
    case TM_SHEET_STACK:
      for (guint i = rank - 2; i-- > 0; columns *= tensor->shape[i])
        {
          first += address->start[i] * columns;
          last += (address->end[i] - 1) * columns;
        }
      for (guint64 pane = first; pane <= last && pane < first + MAX_REGION_PANES; pane++)
        add_columns (scene, box, pane, address->start[rank - 1], address->start[rank - 2], address->end[rank - 1],
                     address->end[rank - 2]);
      break;
    }
}

static guint
find_logical (TmModel *model, guint stored)
{
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      for (guint k = 0; k < tensor->n_operands; k++)
        if (tensor->operand[k].stored == stored)
          return i;
    }
  return G_MAXUINT;
}

static void
add_tensor (TmScene *scene, guint tensor, const TmAddress *address)
{
  const TmLayout *layout = scene->view->layout;
  if (tensor >= layout->model->tensors->len)
    return;
  guint index = layout->box_of_tensor[tensor];
  if (index == TM_NO_BOX)
    {
      index = tm_layout_find_hiding_fold (layout, tensor);
      if (index != TM_NO_BOX)
        add_outline (scene, box_pixels (scene, tm_layout_box (layout, index)), 1, 2, 11);
      return;
    }
  const TmBox *box = tm_layout_box (layout, index);
  if (!tm_scene_is_visible (scene, box->x, box->y, box->width, box->height))
    return;
  TmPixels at = box_pixels (scene, box);
  const TmTensor *of = tm_model_tensor (layout->model, tensor);
  gboolean small = MIN (at.width, at.height) < 40 * scene->ds;
  if (address->within == TM_WITHIN_WHOLE || small)
    add_outline (scene, at, 2, 2, 4);
  if (small || address->kind != TM_ADDRESS_TENSOR)
    return;
  if (address->within == TM_WITHIN_INDEX && address->rank == of->rank)
    add_cell (scene, box, tm_tensor_flatten (of, address->start));
  else if (address->within == TM_WITHIN_REGION)
    add_region (scene, box, of, address);
}

static void
add_hover (TmScene *scene, const TmBox *box)
{
  TmPixels at = box_pixels (scene, box);
  /* Where a box fills the view its outline says nothing. */
  if (box->kind == TM_BOX_MODEL || (at.width > scene->view->camera.width && at.height > scene->view->camera.height))
    return;
  TmPrimRect *rect = tm_scene_rect (scene, TM_LAYER_LINE, at.x - 2 * scene->ds, at.y - 2 * scene->ds,
                                    at.width + 4 * scene->ds, at.height + 4 * scene->ds, 0);
  rect->border = scene->ds;
  rect->stroke = tm_color_with_alpha (scene->view->theme->accent, 170);
  rect->radius = (box->kind == TM_BOX_TENSOR ? 4 : 11) * scene->ds;
}

void
tm_scene_add_selection (TmScene *scene)
{
  const TmView *view = scene->view;
  const TmAddress *address = view->selection;
  if (view->hover_box != TM_NO_BOX && view->hover_box < view->layout->boxes->len)
    add_hover (scene, tm_layout_box (view->layout, view->hover_box));
  if (address == NULL)
    return;
  guint index = TM_NO_BOX;
  switch (address->kind)
    {
    case TM_ADDRESS_MODEL:
      return;
    case TM_ADDRESS_TENSOR:
      add_tensor (scene, address->tensor, address);
      return;
    case TM_ADDRESS_STORED:
      add_tensor (scene, find_logical (view->layout->model, address->tensor), address);
      return;
    case TM_ADDRESS_MODULE:
      index = address->module != NULL ? tm_layout_find_module (view->layout, address->module) : TM_NO_BOX;
      break;
    case TM_ADDRESS_FOLD:
      if (address->module != NULL && address->fold < address->module->folds->len)
        {
          const TmFold *fold = &g_array_index (address->module->folds, TmFold, address->fold);
          index = tm_layout_find_module (view->layout, g_ptr_array_index (address->module->children, fold->first));
        }
      break;
    }
  if (index == TM_NO_BOX || index == 0)
    return;
  const TmBox *box = tm_layout_box (view->layout, index);
  if (tm_scene_is_visible (scene, box->x, box->y, box->width, box->height))
    add_outline (scene, tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height), 1, 2, 11);
}
