#include "ui/canvas-private.h"

#include "ui/canvas-record.h"

#include <math.h>

G_DEFINE_FINAL_TYPE (TmCanvas, tm_canvas, GTK_TYPE_WIDGET)

static guint renderer_changed;

/* --- View and frames --------------------------------------------------------------------------------------------- */

const TmBox *
tm_canvas_get_box (TmCanvas *self, guint box)
{
  return self->layout && box < self->layout->boxes->len ? tm_layout_box (self->layout, box) : NULL;
}

const TmBox *
tm_canvas_get_tensor_box (TmCanvas *self, guint tensor)
{
  return self->layout && tensor < self->layout->model->tensors->len
             ? tm_canvas_get_box (self, self->layout->box_of_tensor[tensor])
             : NULL;
}

void
tm_canvas_get_view (TmCanvas *self, TmView *view)
{
  TmComparison *comparison = tm_document_get_comparison (self->document);
  const gboolean zeros = self->layout && tm_document_get_overlay (self->document) == TM_OVERLAY_SPARSITY;

  *view = (TmView) {
    .layout = self->layout,
    .camera = self->camera,
    .tiles = tm_document_get_tiles (self->document),
    .error_tiles = comparison ? tm_comparison_get_tiles (comparison) : NULL,
    .kind_tiles = zeros ? tm_zeros_get_tiles (tm_document_get_zeros (self->document)) : NULL,
    .marks = tm_document_get_marks (self->document),
    .theme = tm_document_get_theme (self->document),
    .overlay = tm_document_get_overlay (self->document),
    .reduce = tm_document_get_reduce (self->document),
    .boundaries = tm_document_get_boundaries (self->document),
    .device_scale = (guint) MAX (1, lround (self->scale)),
    .selection = self->marking ? &self->mark : tm_document_get_selection (self->document),
    .hover_box = self->inside && !self->dragging ? self->hit.box : TM_NO_BOX,
    .measure = tm_glyphs_measure,
    .measure_data = self->glyphs,
  };
}

void
tm_canvas_queue_frame (TmCanvas *self)
{
  if (self->plane)
    tm_plane_queue_frame (self->plane);
}

static gboolean
after_frame (gpointer data)
{
  TmCanvas *self = data;

  self->after_frame = 0;
  if (!self->document)
    return G_SOURCE_REMOVE;
  tm_canvas_update_hover (self);
  tm_canvas_update_label (self);
  return G_SOURCE_REMOVE;
}

/* Before the next frame, however fast those follow: words must not lag behind the picture. */
static void
queue_after_frame (TmCanvas *self)
{
  if (!self->after_frame)
    self->after_frame = g_idle_add_full (G_PRIORITY_DEFAULT, after_frame, self, NULL);
}

void
tm_canvas_camera_changed (TmCanvas *self)
{
  self->moved = TRUE;
  tm_canvas_queue_frame (self);
}

/* The viewport as the painter has it; the picture keeps its middle when the window grows, and what it shows when the
 * window moves to a denser screen. */
static void
take_size (TmCanvas *self, int width, int height)
{
  double scale = tm_plane_get_scale (self->plane);
  TmCamera *cameras[] = { &self->camera, &self->motion.from, &self->motion.to };

  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++)
    {
      if (i > 0 && !self->motion.source)
        break;
      if (cameras[i]->width != width || cameras[i]->height != height)
        tm_camera_resize (cameras[i], width, height);
      if (self->scale > 0 && scale != self->scale)
        tm_camera_zoom (cameras[i], scale / self->scale, width / 2.0, height / 2.0);
    }
  self->scale = scale;
}

static gboolean
make_frame (TmPlane *plane, int width, int height, TmFrame *frame, gpointer data)
{
  TmCanvas *self = data;
  gboolean resized = self->camera.width != width || self->camera.height != height;
  TmView view;

  take_size (self, width, height);
  /* The first sizes of a window are not its last: until somebody moves the view, it shows the whole model. */
  if (self->layout && (!self->camera_ready || (resized && !self->moved)))
    {
      self->camera_ready = TRUE;
      tm_canvas_show_all (self, FALSE);
    }
  tm_canvas_get_view (self, &view);
  if (!view.layout)
    return FALSE;
  tm_scene_update (self->scene, &view);
  self->n_frames++;
  *frame = (TmFrame) { self->scene, view.theme, self->glyphs };
  queue_after_frame (self);
  return TRUE;
}

/* --- Picking ----------------------------------------------------------------------------------------------------- */

/* A stamp-sized heat map on the architecture is picked as a tensor: none of its elements could be meant. The measure is the
 * one by which the scene tells a heat map from the architecture. */
static gboolean
is_close (TmCanvas *self, const TmBox *box)
{
  double longer = (double) MAX (box->sheet.width, box->sheet.height) * self->camera.scale;

  return self->camera.scale >= TM_READABLE_PX * self->scale
         || longer >= 0.4 * MIN (self->camera.width, self->camera.height);
}

TmHit
tm_canvas_pick (TmCanvas *self, double x, double y)
{
  TmView view;

  tm_canvas_get_view (self, &view);
  if (!view.layout || !self->camera_ready)
    return (TmHit) { .box = TM_NO_BOX };
  TmHit hit = tm_view_pick (&view, (int) floor (x * self->scale), (int) floor (y * self->scale));
  hit.has_element = hit.has_element && is_close (self, tm_layout_box (view.layout, hit.box));
  return hit;
}

static gint
find_fold (const TmModule *module)
{
  const TmModule *parent = module->parent;

  for (guint i = 0; i < parent->folds->len; i++)
    if (g_ptr_array_index (parent->children, g_array_index (parent->folds, TmFold, i).first) == module)
      return (gint) i;
  return -1;
}

gboolean
tm_canvas_hit_address (TmCanvas *self, const TmHit *hit, TmAddress *address)
{
  const TmBox *box = tm_canvas_get_box (self, hit->box);

  *address = (TmAddress) { .kind = TM_ADDRESS_MODEL };
  if (!box)
    return FALSE;
  if (box->kind == TM_BOX_TENSOR)
    {
      address->kind = TM_ADDRESS_TENSOR;
      address->tensor = box->tensor;
      if (hit->has_element)
        {
          const TmTensor *tensor = tm_model_tensor (self->layout->model, box->tensor);

          address->within = TM_WITHIN_INDEX;
          address->rank = tensor->rank;
          address->start = g_new0 (guint64, MAX (tensor->rank, 1));
          address->end = g_new0 (guint64, MAX (tensor->rank, 1));
          tm_tensor_unflatten (tensor, hit->flat, address->start);
          for (guint i = 0; i < tensor->rank; i++)
            address->end[i] = address->start[i] + 1;
        }
      return TRUE;
    }

  /* A plain group without a module of its own stands for the card around it. */
  while (box->kind != TM_BOX_MODEL && !box->module && box->parent != TM_NO_BOX)
    box = tm_layout_box (self->layout, box->parent);
  if (box->kind == TM_BOX_MODEL || !box->module || !box->module->parent)
    return TRUE;
  if (box->fold_count > 1 && find_fold (box->module) >= 0)
    {
      address->kind = TM_ADDRESS_FOLD;
      address->module = box->module->parent;
      address->fold = (guint) find_fold (box->module);
    }
  else
    {
      address->kind = TM_ADDRESS_MODULE;
      address->module = box->module;
    }
  return TRUE;
}

void
tm_canvas_select_hit (TmCanvas *self, const TmHit *hit, gboolean fly)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;

  if (!self->layout)
    return;
  tm_canvas_hit_address (self, hit, &address); /* beside the model: the model */
  tm_document_select (self->document, &address, fly);
}

/* --- Folds ------------------------------------------------------------------------------------------------------- */

/* Remembers a point of a box, so that the next layout can put it back where it is now. */
static void
drop_anchor (TmCanvas *self, const TmLayout *layout, double px, double py)
{
  gint64 x = tm_camera_element_x (&self->camera, (int) floor (px));
  gint64 y = tm_camera_element_y (&self->camera, (int) floor (py));
  guint index = tm_layout_pick (layout, x, y);
  const TmBox *box;

  self->anchored = FALSE;
  if (index == TM_NO_BOX)
    return;
  box = tm_layout_box (layout, index);
  while (box->kind != TM_BOX_TENSOR && !box->module && box->parent != TM_NO_BOX)
    box = tm_layout_box (layout, box->parent);
  self->anchored = TRUE;
  self->anchor_module = box->kind == TM_BOX_TENSOR ? NULL : box->module;
  self->anchor_tensor = box->kind == TM_BOX_TENSOR ? box->tensor : G_MAXUINT;
  self->anchor_dx = x - box->x;
  self->anchor_dy = y - box->y;
  self->anchor_px = px;
  self->anchor_py = py;
}

static void
weigh_anchor (TmCanvas *self)
{
  guint index = TM_NO_BOX;
  const TmBox *box;

  if (!self->anchored)
    return;
  self->anchored = FALSE;
  if (self->anchor_tensor != G_MAXUINT)
    {
      index = self->layout->box_of_tensor[self->anchor_tensor];
      if (index == TM_NO_BOX)
        index = tm_layout_find_hiding_fold (self->layout, self->anchor_tensor);
    }
  else if (self->anchor_module)
    index = tm_layout_find_module (self->layout, self->anchor_module);
  if (index == TM_NO_BOX)
    index = 0;
  box = tm_layout_box (self->layout, index);
  tm_camera_pan (&self->camera,
                 round (self->anchor_px - tm_camera_pixel_x (&self->camera, box->x + self->anchor_dx)),
                 round (self->anchor_py - tm_camera_pixel_y (&self->camera, box->y + self->anchor_dy)));
}

void
tm_canvas_unfold (TmCanvas *self, guint index, double x, double y)
{
  const TmBox *box = tm_canvas_get_box (self, index);

  if (!box || !box->module || box->fold_count < 2)
    return;
  tm_canvas_stop_motion (self);
  drop_anchor (self, self->layout, x * self->scale, y * self->scale);
  tm_document_set_unfolded (self->document, box->module->path, TRUE);
}

/* --- What the document says -------------------------------------------------------------------------------------- */

static gboolean
on_slow (gpointer data)
{
  TmCanvas *self = data;

  self->slow_source = 0;
  self->slow = TRUE;
  tm_canvas_update_label (self);
  return G_SOURCE_REMOVE;
}

static void
on_model_changed (TmCanvas *self)
{
  self->slow = FALSE;
  g_clear_handle_id (&self->slow_source, g_source_remove);
  if (tm_document_get_model (self->document))
    self->slow_source = g_timeout_add (200, on_slow, self);
  tm_canvas_stop_motion (self);
  self->layout = NULL;
  if (!tm_document_keeps_view (self->document))
    self->camera_ready = self->moved = FALSE;
  self->fly_pending = self->anchored = FALSE;
  self->dragging = self->marking = FALSE;
  self->hit = (TmHit) { .box = TM_NO_BOX };
  tm_address_clear (&self->mark);
  g_clear_handle_id (&self->rest_source, g_source_remove);
  g_clear_pointer (&self->selected, tm_record_free);
  g_clear_pointer (&self->hovered, tm_record_free);
  /* It holds boundaries of tensors that are gone. */
  tm_scene_free (self->scene);
  self->scene = tm_scene_new ();
  tm_canvas_queue_frame (self);
  tm_canvas_update_label (self);
}

/* The selected scalar stands elsewhere on its sheet than before: columns were sorted, or put back. */
static gboolean
has_scalar_moved (TmCanvas *self, const TmLayout *old, const TmLayout *new)
{
  guint tensor, before, now;
  guint64 flat;

  if (!old || !new || old->model != new->model || !tm_document_get_scalar (self->document, &tensor, &flat))
    return FALSE;
  before = old->box_of_tensor[tensor];
  now = new->box_of_tensor[tensor];
  return before != TM_NO_BOX && now != TM_NO_BOX
         && tm_layout_box (old, before)->sheet.order != tm_layout_box (new, now)->sheet.order;
}

static void
on_layout_changed (TmCanvas *self)
{
  const TmLayout *old = self->layout;
  const gboolean moved = has_scalar_moved (self, old, tm_document_get_layout (self->document));

  /* Whoever opened the fold, what is in the middle of the view stays there. */
  if (old && self->camera_ready && !self->anchored)
    drop_anchor (self, old, self->camera.width / 2.0, self->camera.height / 2.0);
  self->layout = tm_document_get_layout (self->document);
  if (!self->layout)
    return;
  g_clear_handle_id (&self->slow_source, g_source_remove);
  if (old && self->camera_ready)
    weigh_anchor (self);
  if (moved && self->camera_ready)
    tm_canvas_follow_selection (self);
  self->hit = (TmHit) { .box = TM_NO_BOX };
  self->marking = FALSE;
  if (self->fly_pending)
    {
      if (!self->camera_ready && self->camera.width > 0)
        {
          self->camera_ready = TRUE;
          tm_canvas_show_all (self, FALSE);
        }
      tm_canvas_fly_to_selection (self);
    }
  tm_canvas_queue_frame (self);
  tm_canvas_update_label (self);
}

static void
on_selection_changed (TmCanvas *self)
{
  self->marking = FALSE;
  tm_canvas_update_record (self);
  tm_canvas_queue_frame (self);
  tm_canvas_update_label (self);
}

static void
on_renderer_changed (TmCanvas *self, const char *name, const char *why)
{
  g_signal_emit (self, renderer_changed, 0, name, why);
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static gboolean
tm_canvas_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (TM_CANVAS (widget)->plane));
}

static void
tm_canvas_dispose (GObject *object)
{
  TmCanvas *self = TM_CANVAS (object);

  g_clear_handle_id (&self->after_frame, g_source_remove);
  g_clear_handle_id (&self->slow_source, g_source_remove);
  g_clear_handle_id (&self->rest_source, g_source_remove);
  if (self->plane)
    {
      tm_canvas_stop_motion (self);
      tm_plane_stop (self->plane);
    }
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  self->plane = NULL;
  self->breadcrumb = self->legend = self->zoom = self->message = NULL;
  g_clear_pointer (&self->overlay, gtk_widget_unparent);
  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  self->layout = NULL;
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_canvas_parent_class)->dispose (object);
}

static void
tm_canvas_finalize (GObject *object)
{
  TmCanvas *self = TM_CANVAS (object);

  tm_address_clear (&self->mark);
  g_free (self->label);
  tm_record_free (self->selected);
  tm_record_free (self->hovered);
  tm_scene_free (self->scene);
  tm_glyphs_free (self->glyphs);
  G_OBJECT_CLASS (tm_canvas_parent_class)->finalize (object);
}

static void
tm_canvas_class_init (TmCanvasClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_canvas_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_canvas_finalize;
  widget_class->grab_focus = tm_canvas_grab_focus;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "tm-canvas");
  tm_canvas_install_actions (widget_class);
  renderer_changed = g_signal_new ("renderer-changed", TM_TYPE_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);
}

static void
tm_canvas_init (TmCanvas *self)
{
  self->scene = tm_scene_new ();
  self->glyphs = tm_glyphs_new ();
  self->scale = 1;
  self->hit = (TmHit) { .box = TM_NO_BOX };
  tm_camera_init (&self->camera, 0, 0);
}

#define NARROW 480 /* logical px: below that, or with large text, the zoom label stands above the legend, not beside it */

/* The legend has what the zoom label leaves of the bottom edge, and no more than its rows need: what is not covered belongs
 * to the plane. */
static GdkRectangle
get_legend_place (TmCanvas *self, int width, int height, int taken)
{
  int least, wanted, tall;

  gtk_widget_measure (self->legend, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wanted, NULL, NULL);
  wanted = MAX (MIN (wanted, width - taken), least);
  wanted = tm_legend_bar_tighten (self->legend, wanted);
  gtk_widget_measure (self->legend, GTK_ORIENTATION_VERTICAL, wanted, NULL, &tall, NULL, NULL);
  return (GdkRectangle) { 0, MAX (height - tall, 0), wanted, tall };
}

static gboolean
place_float (GtkOverlay *overlay, GtkWidget *child, GdkRectangle *place, TmCanvas *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (overlay)), height = gtk_widget_get_height (GTK_WIDGET (overlay));
  gboolean narrow;
  int wide = 0, tall = 0;

  if (child != self->legend && child != self->zoom)
    return FALSE;
  if (gtk_widget_get_visible (self->zoom))
    {
      gtk_widget_measure (self->zoom, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wide, NULL, NULL);
      gtk_widget_measure (self->zoom, GTK_ORIENTATION_VERTICAL, -1, NULL, &tall, NULL, NULL);
    }
  narrow = (width < NARROW || wide * 5 > width * 2) && gtk_widget_get_visible (self->legend);
  if (child == self->legend)
    *place = get_legend_place (self, width, height, narrow ? 0 : wide);
  else
    {
      /* Both have a margin of 12: above each other one of them is enough. */
      int bottom = narrow ? get_legend_place (self, width, height, 0).y + 18 : height;

      *place = (GdkRectangle) { MAX (width - wide, 0), MAX (bottom - tall, 0), wide, tall };
    }
  return TRUE;
}

/* Floats stand in the corners, the message in the middle. */
static void
build (TmCanvas *self, TmRenderer renderer)
{
  GtkOverlay *overlay = GTK_OVERLAY (gtk_overlay_new ());

  self->overlay = GTK_WIDGET (overlay);
  gtk_widget_set_parent (self->overlay, GTK_WIDGET (self));
  g_signal_connect (overlay, "get-child-position", G_CALLBACK (place_float), self);
  self->plane = TM_PLANE (tm_plane_new (renderer, make_frame, self));
  gtk_overlay_set_child (overlay, GTK_WIDGET (self->plane));
  g_signal_connect_swapped (self->plane, "renderer-changed", G_CALLBACK (on_renderer_changed), self);

  self->breadcrumb = tm_breadcrumb_new (self->document);
  gtk_widget_set_halign (self->breadcrumb, GTK_ALIGN_START);
  gtk_widget_set_valign (self->breadcrumb, GTK_ALIGN_START);
  gtk_overlay_add_overlay (overlay, self->breadcrumb);

  self->legend = tm_legend_bar_new (self->document);
  gtk_overlay_add_overlay (overlay, self->legend);

  self->zoom = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->zoom, "tm-float");
  gtk_widget_add_css_class (self->zoom, "tm-zoom");
  gtk_widget_set_halign (self->zoom, GTK_ALIGN_END);
  gtk_widget_set_valign (self->zoom, GTK_ALIGN_END);
  gtk_widget_set_can_target (self->zoom, FALSE);
  gtk_widget_set_visible (self->zoom, FALSE);
  gtk_overlay_add_overlay (overlay, self->zoom);

  self->message = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->message), TRUE);
  gtk_label_set_justify (GTK_LABEL (self->message), GTK_JUSTIFY_CENTER);
  gtk_widget_add_css_class (self->message, "tm-float");
  gtk_widget_add_css_class (self->message, "tm-message");
  gtk_widget_set_halign (self->message, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->message, GTK_ALIGN_CENTER);
  gtk_widget_set_can_target (self->message, FALSE);
  gtk_widget_set_visible (self->message, FALSE);
  gtk_overlay_add_overlay (overlay, self->message);
}

GtkWidget *
tm_canvas_new (TmDocument *document, TmRenderer renderer)
{
  TmCanvas *self = g_object_new (TM_TYPE_CANVAS, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Canvas", -1);
  self->document = g_object_ref (document);
  build (self, renderer);
  tm_canvas_add_gestures (self);
  tm_canvas_add_keys (self);
  tm_canvas_add_hover (self);

  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (document, "layout-changed", G_CALLBACK (on_layout_changed), self);
  g_signal_connect_swapped (document, "selection-changed", G_CALLBACK (on_selection_changed), self);
  g_signal_connect_swapped (document, "fly-to", G_CALLBACK (tm_canvas_fly_to_selection), self);
  g_signal_connect_swapped (document, "view-changed", G_CALLBACK (tm_canvas_queue_frame), self);
  g_signal_connect_swapped (document, "tiles-changed", G_CALLBACK (tm_canvas_queue_frame), self);

  self->layout = tm_document_get_layout (document);
  tm_canvas_update_label (self);
  return GTK_WIDGET (self);
}
