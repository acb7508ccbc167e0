/* Actions of the canvas and the keys that do them. What belongs to the document as a whole (into, out, next tensor, overlays,
 * boundaries, copy) the window has as win.* for every widget; here is what needs the view. */
#include "ui/canvas-private.h"

#include "ui/canvas-steps.h"

#define ZOOM_STEP 1.5

static const struct { const char *name; int dx, dy; } directions[] = {
  { "left", -1, 0 }, { "right", 1, 0 }, { "up", 0, -1 }, { "down", 0, 1 },
};

static gboolean
parse_direction (GVariant *parameter, int *dx, int *dy)
{
  const char *name = g_variant_get_string (parameter, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (directions); i++)
    if (g_str_equal (directions[i].name, name))
      {
        *dx = directions[i].dx;
        *dy = directions[i].dy;
        return TRUE;
      }
  return FALSE;
}

/* --- Moving the selection ---------------------------------------------------------------------------------------- */

/* The scalar that arrow keys start from: the selected one, the region's first, or what is in the middle of the view where
 * the tensor is selected and its elements are to be seen. first: it is not selected yet, so it is itself the step. */
static gboolean
get_start (TmCanvas *self, guint *tensor, guint64 *flat, gboolean *first)
{
  const TmAddress *selection = tm_document_get_selection (self->document);
  const TmLegend *legend = tm_scene_get_legend (self->scene);
  const TmBox *box;
  gint64 x, y;

  *first = FALSE;
  if (!tm_document_get_tensor (self->document, tensor))
    return FALSE;
  if (selection->within != TM_WITHIN_WHOLE)
    {
      *flat = tm_tensor_flatten (tm_model_tensor (self->layout->model, *tensor), selection->start);
      return TRUE;
    }
  box = tm_canvas_get_tensor_box (self, *tensor);
  if (legend->depth == TM_DEPTH_ARCHITECTURE || !box || box->sheet.n_elements == 0)
    return FALSE;
  x = tm_camera_element_x (&self->camera, self->camera.width / 2) - box->sheet_x;
  y = tm_camera_element_y (&self->camera, self->camera.height / 2) - box->sheet_y;
  x = CLAMP (x, 0, box->sheet.width - 1);
  y = CLAMP (y, 0, box->sheet.height - 1);
  if (!tm_sheet_pick (&box->sheet, x, y, flat))
    *flat = 0;
  *first = TRUE;
  return TRUE;
}

static void
select_scalar (TmCanvas *self, guint tensor, guint64 flat)
{
  tm_document_select_scalar (self->document, tensor, flat, FALSE);
  tm_canvas_follow_selection (self);
}

static guint
get_selected_box (TmCanvas *self)
{
  const TmAddress *selection = tm_document_get_selection (self->document);
  const TmFold *fold;

  switch (selection->kind)
    {
    case TM_ADDRESS_TENSOR:
      return self->layout->box_of_tensor[selection->tensor];
    case TM_ADDRESS_MODULE:
      return tm_layout_find_module (self->layout, selection->module);
    case TM_ADDRESS_FOLD:
      fold = &g_array_index (selection->module->folds, TmFold, selection->fold);
      return tm_layout_find_module (self->layout, g_ptr_array_index (selection->module->children, fold->first));
    default:
      return TM_NO_BOX;
    }
}

static void
move_box (TmCanvas *self, int dx, int dy)
{
  guint box = get_selected_box (self);
  TmHit hit = { .box = TM_NO_BOX };

  if (box == TM_NO_BOX || box == 0)
    {
      /* Nothing selected: what is in the middle of the view, else the first thing of the model. */
      hit = tm_canvas_pick (self, self->camera.width / 2 / self->scale, self->camera.height / 2 / self->scale);
      hit.has_element = FALSE;
      if (hit.box == TM_NO_BOX || hit.box == 0)
        {
          tm_document_go_into (self->document);
          return;
        }
    }
  else
    hit.box = tm_layout_get_neighbour (self->layout, box, dx, dy);
  if (hit.box == TM_NO_BOX)
    return;
  tm_canvas_select_hit (self, &hit, FALSE);
  tm_canvas_follow_selection (self);
}

static void
step (GtkWidget *widget, GVariant *parameter, gboolean to_boundary)
{
  TmCanvas *self = TM_CANVAS (widget);
  int dx, dy;
  guint tensor;
  guint64 flat, next;
  gboolean first;
  const TmBox *box;

  if (!self->layout || !parse_direction (parameter, &dx, &dy))
    return;
  if (!get_start (self, &tensor, &flat, &first))
    move_box (self, dx, dy);
  else if (first)
    select_scalar (self, tensor, flat);
  else if ((box = tm_canvas_get_tensor_box (self, tensor))
           && (to_boundary ? tm_step_boundary (tm_model_tensor (self->layout->model, tensor), &box->sheet, flat, dx, dy, &next)
                           : tm_step_scalar (&box->sheet, flat, dx, dy, &next)))
    select_scalar (self, tensor, next);
}

static void
move (GtkWidget *widget, const char *name, GVariant *parameter)
{
  step (widget, parameter, FALSE);
}

static void
move_to_boundary (GtkWidget *widget, const char *name, GVariant *parameter)
{
  step (widget, parameter, TRUE);
}

static void
move_to_group_start (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TmCanvas *self = TM_CANVAS (widget);
  guint tensor;
  guint64 flat;

  if (self->layout && tm_document_get_scalar (self->document, &tensor, &flat))
    select_scalar (self, tensor, tm_step_group_start (tm_model_tensor (self->layout->model, tensor), flat));
}

/* Next or previous index of the leading axis: the scalar keeps its other indices; without one, the slice is marked. */
static void
move_slice (TmCanvas *self, int by)
{
  const TmAddress *selection = tm_document_get_selection (self->document);
  g_auto (TmAddress) slice = TM_ADDRESS_INIT;
  const TmTensor *tensor;
  guint index;
  guint64 flat, next, at;

  if (!self->layout || !tm_document_get_tensor (self->document, &index))
    return;
  tensor = tm_model_tensor (self->layout->model, index);
  if (tm_document_get_scalar (self->document, &index, &flat))
    {
      if (tm_step_slice (tensor, flat, by, &next))
        tm_document_select_scalar (self->document, index, next, TRUE);
      return;
    }
  if (tensor->rank < 3 || tensor->n_elements == 0)
    return;

  at = selection->within == TM_WITHIN_REGION ? selection->start[0] : 0;
  if (selection->within == TM_WITHIN_REGION && (by < 0 ? at == 0 : at + 1 >= tensor->shape[0]))
    return;
  if (selection->within == TM_WITHIN_REGION)
    at = by < 0 ? at - 1 : at + 1;
  slice = (TmAddress) { .kind = TM_ADDRESS_TENSOR, .tensor = index, .within = TM_WITHIN_REGION, .rank = tensor->rank };
  slice.start = g_new0 (guint64, tensor->rank);
  slice.end = g_memdup2 (tensor->shape, tensor->rank * sizeof *tensor->shape);
  slice.start[0] = at;
  slice.end[0] = at + 1;
  tm_document_select (self->document, &slice, TRUE);
}

static void
next_slice (GtkWidget *widget, const char *name, GVariant *parameter)
{
  move_slice (TM_CANVAS (widget), 1);
}

static void
previous_slice (GtkWidget *widget, const char *name, GVariant *parameter)
{
  move_slice (TM_CANVAS (widget), -1);
}

/* A closed fold opens in place, its middle staying where it is; anything else is entered. */
static void
into (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TmCanvas *self = TM_CANVAS (widget);
  const TmAddress *selection = tm_document_get_selection (self->document);
  guint index = self->layout ? get_selected_box (self) : TM_NO_BOX;
  const TmBox *box = tm_canvas_get_box (self, index);

  if (selection->kind == TM_ADDRESS_FOLD && box && box->fold_count > 1)
    tm_canvas_unfold (self, index, tm_camera_pixel_x (&self->camera, box->x + box->width / 2) / self->scale,
                      tm_camera_pixel_y (&self->camera, box->y + box->height / 2) / self->scale);
  else
    tm_document_go_into (self->document);
}

static void
clear_region (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TmCanvas *self = TM_CANVAS (widget);
  guint tensor;

  tm_canvas_stop_motion (self);
  if (self->marking)
    {
      self->marking = FALSE;
      tm_canvas_queue_frame (self);
    }
  else if (tm_document_get_tensor (self->document, &tensor)
           && tm_document_get_selection (self->document)->within == TM_WITHIN_REGION)
    tm_document_select_tensor (self->document, tensor, FALSE);
}

/* --- View -------------------------------------------------------------------------------------------------------- */

static void
zoom (GtkWidget *widget, double factor)
{
  TmCanvas *self = TM_CANVAS (widget);

  if (!self->layout)
    return;
  tm_canvas_stop_motion (self);
  tm_canvas_zoom_by (self, factor, self->camera.width / 2.0, self->camera.height / 2.0);
}

static void
zoom_in (GtkWidget *widget, const char *name, GVariant *parameter)
{
  zoom (widget, ZOOM_STEP);
}

static void
zoom_out (GtkWidget *widget, const char *name, GVariant *parameter)
{
  zoom (widget, 1 / ZOOM_STEP);
}

static void
fit (GtkWidget *widget, const char *name, GVariant *parameter)
{
  tm_canvas_fit_selection (TM_CANVAS (widget));
}

static void
one_to_one (GtkWidget *widget, const char *name, GVariant *parameter)
{
  tm_canvas_zoom_to (TM_CANVAS (widget), 1);
}

static void
whole_model (GtkWidget *widget, const char *name, GVariant *parameter)
{
  tm_canvas_show_all (TM_CANVAS (widget), TRUE);
}

static void
edit_address (GtkWidget *widget, const char *name, GVariant *parameter)
{
  tm_breadcrumb_edit (TM_CANVAS (widget)->breadcrumb);
}

static void
menu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TmCanvas *self = TM_CANVAS (widget);
  const TmBox *box = self->layout ? tm_canvas_get_box (self, get_selected_box (self)) : NULL;
  double x = self->camera.width / 2, y = self->camera.height / 2;

  if (box)
    {
      x = CLAMP (tm_camera_pixel_x (&self->camera, box->x), 0, self->camera.width);
      y = CLAMP (tm_camera_pixel_y (&self->camera, box->y), 0, self->camera.height);
    }
  tm_canvas_popup_menu (self, x / self->scale, y / self->scale);
}

/* --- Tables ------------------------------------------------------------------------------------------------------ */

void
tm_canvas_install_actions (GtkWidgetClass *klass)
{
  static const struct { const char *name, *type; GtkWidgetActionActivateFunc run; } actions[] = {
    { "canvas.move", "s", move },
    { "canvas.move-to-boundary", "s", move_to_boundary },
    { "canvas.group-start", NULL, move_to_group_start },
    { "canvas.into", NULL, into },
    { "canvas.next-slice", NULL, next_slice },
    { "canvas.previous-slice", NULL, previous_slice },
    { "canvas.clear-region", NULL, clear_region },
    { "canvas.zoom-in", NULL, zoom_in },
    { "canvas.zoom-out", NULL, zoom_out },
    { "canvas.fit", NULL, fit },
    { "canvas.one-to-one", NULL, one_to_one },
    { "canvas.whole-model", NULL, whole_model },
    { "canvas.edit-address", NULL, edit_address },
    { "canvas.menu", NULL, menu },
  };

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (klass, actions[i].name, actions[i].type, actions[i].run);
}

static void
bind (GtkShortcutController *keys, guint key, GdkModifierType modifiers, const char *action, const char *parameter)
{
  GtkShortcut *shortcut = gtk_shortcut_new (gtk_keyval_trigger_new (key, modifiers), gtk_named_action_new (action));

  if (parameter)
    gtk_shortcut_set_arguments (shortcut, g_variant_new_string (parameter));
  gtk_shortcut_controller_add_shortcut (keys, shortcut);
}

/* On the plane, not on the whole canvas: the address entry keeps its arrows. */
void
tm_canvas_add_keys (TmCanvas *self)
{
  static const guint arrows[] = { GDK_KEY_Left, GDK_KEY_Right, GDK_KEY_Up, GDK_KEY_Down };
  static const guint keypad[] = { GDK_KEY_KP_Left, GDK_KEY_KP_Right, GDK_KEY_KP_Up, GDK_KEY_KP_Down };
  static const struct { guint key; GdkModifierType modifiers; const char *action; } keys[] = {
    { GDK_KEY_KP_Enter, 0, "canvas.into" },
    { GDK_KEY_Return, 0, "canvas.into" },
    { GDK_KEY_bracketright, 0, "canvas.next-slice" },
    { GDK_KEY_bracketleft, 0, "canvas.previous-slice" },
    { GDK_KEY_plus, 0, "canvas.zoom-in" },
    { GDK_KEY_equal, 0, "canvas.zoom-in" },
    { GDK_KEY_KP_Add, 0, "canvas.zoom-in" },
    { GDK_KEY_minus, 0, "canvas.zoom-out" },
    { GDK_KEY_KP_Subtract, 0, "canvas.zoom-out" },
    { GDK_KEY_plus, GDK_CONTROL_MASK, "canvas.zoom-in" },
    { GDK_KEY_minus, GDK_CONTROL_MASK, "canvas.zoom-out" },
    { GDK_KEY_f, 0, "canvas.fit" },
    { GDK_KEY_KP_0, 0, "canvas.one-to-one" },
    { GDK_KEY_0, 0, "canvas.one-to-one" },
    { GDK_KEY_KP_Home, 0, "canvas.whole-model" },
    { GDK_KEY_Home, 0, "canvas.whole-model" },
    { GDK_KEY_Escape, 0, "canvas.clear-region" },
    { GDK_KEY_g, 0, "canvas.group-start" },
    { GDK_KEY_Menu, 0, "canvas.menu" },
    { GDK_KEY_F10, GDK_SHIFT_MASK, "canvas.menu" },
  };
  GtkShortcutController *controller = GTK_SHORTCUT_CONTROLLER (gtk_shortcut_controller_new ());

  for (guint i = 0; i < G_N_ELEMENTS (directions); i++)
    {
      bind (controller, arrows[i], 0, "canvas.move", directions[i].name);
      bind (controller, keypad[i], 0, "canvas.move", directions[i].name);
      bind (controller, arrows[i], GDK_SHIFT_MASK, "canvas.move-to-boundary", directions[i].name);
      bind (controller, keypad[i], GDK_SHIFT_MASK, "canvas.move-to-boundary", directions[i].name);
    }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    bind (controller, keys[i].key, keys[i].modifiers, keys[i].action, NULL);
  gtk_widget_add_controller (GTK_WIDGET (self->plane), GTK_EVENT_CONTROLLER (controller));
}
