/* What to bring into view, and how much of it: selection, tensor, scalar, the whole model. */
#include "ui/canvas-private.h"

#include <math.h>

#define THIN_PX 24 /* a strip thinner than that shows no values */

typedef struct { gint64 x, y, width, height; } Area;

static double
scale_of (TmCanvas *self)
{
  return tm_plane_get_scale (self->plane);
}

typedef struct { int left, top, right, bottom; } Insets;

/* Room for breadcrumb, caption and numbers along a sheet, legend; less of it in a small window. */
static Insets
get_insets (TmCanvas *self)
{
  double f = MIN (scale_of (self), MIN (self->camera.width, self->camera.height) / 400.0);

  return (Insets) { (int) (64 * f), (int) (98 * f), (int) (40 * f), (int) (66 * f) };
}

static TmCamera
camera_for (TmCanvas *self, const Area *area, double max_px)
{
  Insets in = get_insets (self);
  int width = self->camera.width, height = self->camera.height;
  TmCamera camera;

  /* Fitted into what the insets leave, and moved there. */
  tm_camera_init (&camera, MAX (width - in.left - in.right, 1), MAX (height - in.top - in.bottom, 1));
  tm_camera_fit (&camera, area->x, area->y, MAX (area->width, 1), MAX (area->height, 1), 0);
  if (camera.scale > max_px * scale_of (self))
    tm_camera_set_at (&camera, area->x + area->width / 2, area->width % 2 ? 0.5 : 0, area->y + area->height / 2,
                      area->height % 2 ? 0.5 : 0, max_px * scale_of (self));
  tm_camera_pan (&camera, in.left, in.top);
  camera.width = width;
  camera.height = height;
  return camera;
}

/* A whole tensor; of one that is a thin strip as much from its start on as can be seen. */
static TmCamera
camera_for_tensor (TmCanvas *self, const Area *area)
{
  TmCamera camera = camera_for (self, area, TM_CELL_PX);
  gint64 shorter = MAX (MIN (area->width, area->height), 1);
  double scale = MIN (THIN_PX * scale_of (self) / (double) shorter, TM_CELL_PX * scale_of (self));
  Insets in = get_insets (self);

  if (camera.scale >= scale)
    return camera;
  tm_camera_zoom (&camera, scale / camera.scale, camera.width / 2.0, camera.height / 2.0);
  if (area->width > area->height)
    tm_camera_pan (&camera, in.left - tm_camera_pixel_x (&camera, area->x), 0);
  else
    tm_camera_pan (&camera, 0, in.top - tm_camera_pixel_y (&camera, area->y));
  return camera;
}

static Area
area_of_box (const TmBox *box)
{
  if (box->kind == TM_BOX_TENSOR && box->sheet.width > 0 && box->sheet.height > 0)
    return (Area) { box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height };
  return (Area) { box->x, box->y, box->width, box->height };
}

/* TM_NO_BOX while a closed fold hides what the address names. */
static guint
find_box (TmCanvas *self, const TmAddress *address)
{
  switch (address->kind)
    {
    case TM_ADDRESS_MODEL:
    case TM_ADDRESS_STORED:
      return 0;
    case TM_ADDRESS_MODULE:
      return tm_layout_find_module (self->layout, address->module);
    case TM_ADDRESS_FOLD:
      {
        const TmFold *fold = &g_array_index (address->module->folds, TmFold, address->fold);

        return tm_layout_find_module (self->layout, g_ptr_array_index (address->module->children, fold->first));
      }
    case TM_ADDRESS_TENSOR:
      return self->layout->box_of_tensor[address->tensor];
    }
  return TM_NO_BOX;
}

static void
open_hiding_fold (TmCanvas *self, const TmAddress *address)
{
  guint fold;
  TmModule *module;

  if (address->kind != TM_ADDRESS_TENSOR)
    return;
  fold = tm_layout_find_hiding_fold (self->layout, address->tensor);
  module = fold != TM_NO_BOX ? tm_layout_box (self->layout, fold)->module : NULL;
  if (module)
    tm_document_set_unfolded (self->document, module->path, TRUE);
}

static Area
area_of_region (const TmBox *box, const TmTensor *tensor, const TmAddress *address)
{
  g_autofree guint64 *last = g_new0 (guint64, MAX (tensor->rank, 1));
  gint64 x0, y0, x1, y1;

  for (guint i = 0; i < tensor->rank; i++)
    {
      if (address->end[i] <= address->start[i])
        return area_of_box (box);
      last[i] = address->end[i] - 1;
    }
  tm_sheet_locate (&box->sheet, tm_tensor_flatten (tensor, address->start), &x0, &y0);
  tm_sheet_locate (&box->sheet, tm_tensor_flatten (tensor, last), &x1, &y1);
  if (box->sheet.order && tensor->rank > 0 && last[tensor->rank - 1] != address->start[tensor->rank - 1]) /* its columns lie where their groups are: the row as a whole has them all */
    {
      const gint64 left = x0 - x0 % (gint64) (box->sheet.columns + box->sheet.gap);

      x0 = left;
      x1 = MAX (x1, left + (gint64) box->sheet.columns - 1);
    }
  return (Area) { box->sheet_x + MIN (x0, x1), box->sheet_y + MIN (y0, y1), ABS (x1 - x0) + 1, ABS (y1 - y0) + 1 };
}

static gboolean
shows (const TmCamera *camera, const Area *area)
{
  return tm_camera_pixel_x (camera, area->x + area->width) > 0 && tm_camera_pixel_x (camera, area->x) < camera->width
         && tm_camera_pixel_y (camera, area->y + area->height) > 0
         && tm_camera_pixel_y (camera, area->y) < camera->height;
}

static double
overhang (double low, double high, double from, double to)
{
  if (low < from || high - low > to - from)
    return from - low;
  return high > to ? to - high : 0;
}

/* Pans by whole pixels, and only as far as it takes. */
static void
pan_into_view (TmCanvas *self, TmCamera *camera, const Area *area)
{
  Insets in = get_insets (self);
  double dx = overhang (tm_camera_pixel_x (camera, area->x), tm_camera_pixel_x (camera, area->x + area->width), in.left,
                        camera->width - in.right);
  double dy = overhang (tm_camera_pixel_y (camera, area->y), tm_camera_pixel_y (camera, area->y + area->height), in.top,
                        camera->height - in.bottom);

  if (dx != 0 || dy != 0)
    tm_camera_pan (camera, dx < 0 ? floor (dx) : ceil (dx), dy < 0 ? floor (dy) : ceil (dy));
}

/* What is selected as an area of the plane; FALSE if it is not on it (yet). */
static gboolean
get_selected_area (TmCanvas *self, Area *area, const TmBox **box)
{
  const TmAddress *address = tm_document_get_selection (self->document);
  guint index = self->layout ? find_box (self, address) : TM_NO_BOX;

  if (index == TM_NO_BOX)
    return FALSE;
  *box = tm_layout_box (self->layout, index);
  *area = area_of_box (*box);
  if (address->kind == TM_ADDRESS_TENSOR && address->within != TM_WITHIN_WHOLE && (*box)->sheet.n_elements > 0)
    *area = area_of_region (*box, tm_model_tensor (self->layout->model, address->tensor), address);
  return TRUE;
}

static void
fly_to_selection (TmCanvas *self, gboolean closer)
{
  const TmAddress *address = tm_document_get_selection (self->document);
  Area area;
  const TmBox *box;
  TmCamera camera;

  if (!self->layout || !self->camera_ready || !get_selected_area (self, &area, &box))
    {
      self->fly_pending = TRUE;
      if (self->layout && self->camera_ready)
        open_hiding_fold (self, address);
      return;
    }
  self->fly_pending = FALSE;
  if (address->kind == TM_ADDRESS_TENSOR && address->within == TM_WITHIN_INDEX)
    {
      Area sheet = area_of_box (box);

      camera = self->camera;
      if (closer || !shows (&camera, &sheet) || camera.scale < TM_READABLE_PX * scale_of (self))
        camera = camera_for (self, &area, TM_CELL_PX);
      else
        pan_into_view (self, &camera, &area);
    }
  else if (address->kind == TM_ADDRESS_TENSOR && address->within == TM_WITHIN_WHOLE)
    camera = camera_for_tensor (self, &area);
  else
    camera = camera_for (self, &area, TM_CELL_PX);
  tm_canvas_fly_to_camera (self, &camera);
}

void
tm_canvas_fly_to_selection (TmCanvas *self)
{
  fly_to_selection (self, FALSE);
}

void
tm_canvas_fit_selection (TmCanvas *self)
{
  fly_to_selection (self, TRUE);
}

void
tm_canvas_show_all (TmCanvas *self, gboolean fly)
{
  const TmBox *model;
  TmCamera camera;
  Area area;

  if (!self->layout || self->layout->boxes->len == 0)
    return;
  model = tm_layout_box (self->layout, 0);
  area = area_of_box (model);
  camera = camera_for (self, &area, TM_CELL_PX);
  if (fly)
    tm_canvas_fly_to_camera (self, &camera);
  else
    self->camera = camera;
}

void
tm_canvas_zoom_by (TmCanvas *self, double factor, double px, double py)
{
  const TmBox *model = tm_canvas_get_box (self, 0);
  double least;

  if (!model)
    return;
  least = camera_for (self, &(Area) { model->x, model->y, model->width, model->height }, TM_MAX_SCALE).scale / 8;
  if (factor < 1)
    factor = MIN (MAX (factor, least / self->camera.scale), 1);
  tm_camera_zoom (&self->camera, factor, px, py);
  tm_canvas_camera_changed (self);
}

/* About the selection where it is on the screen, else about the middle. */
void
tm_canvas_zoom_to (TmCanvas *self, double px_per_element)
{
  TmCamera camera = self->camera;
  Area area;
  const TmBox *box;
  double px = camera.width / 2, py = camera.height / 2;

  if (!self->layout)
    return;
  if (tm_document_get_selection (self->document)->kind != TM_ADDRESS_MODEL && get_selected_area (self, &area, &box))
    {
      double x = tm_camera_pixel_x (&camera, area.x + area.width / 2);
      double y = tm_camera_pixel_y (&camera, area.y + area.height / 2);

      if (x >= 0 && x < camera.width && y >= 0 && y < camera.height)
        {
          px = x;
          py = y;
        }
    }
  tm_camera_zoom (&camera, px_per_element / camera.scale, px, py);
  tm_canvas_fly_to_camera (self, &camera);
}

void
tm_canvas_follow_selection (TmCanvas *self)
{
  Area area;
  const TmBox *box;

  if (!get_selected_area (self, &area, &box))
    return;
  tm_canvas_stop_motion (self);
  pan_into_view (self, &self->camera, &area);
  tm_canvas_camera_changed (self);
}
