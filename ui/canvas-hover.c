/* What is under the pointer: hover of the document, tooltip with raw and value, and the menu of actions on it. */
#include "ui/canvas-private.h"

#include "io/text.h"
#include "ui/canvas-record.h"

#include <math.h>

#define REST_MS 150 /* a pointer that stays for that long may want a tooltip: the record is read before it is asked for */

/* --- The record under the pointer ---------------------------------------------------------------------------------- */

static void
on_record (TmRecord *record, gpointer data)
{
  TmCanvas *self = data;

  if (self->tip_waits)
    gtk_widget_trigger_tooltip_query (GTK_WIDGET (self->plane));
  self->tip_waits = FALSE;
}

static void
read_record (TmCanvas *self, guint tensor, guint64 flat)
{
  TmModel *model = self->layout->model;

  if (tm_record_is (self->hovered, model, tensor, flat))
    return;
  g_clear_pointer (&self->hovered, tm_record_free);
  self->tip_waits = FALSE;
  self->hovered = tm_record_new (model, tensor, flat, on_record, self);
}

static gboolean
on_rest (gpointer data)
{
  TmCanvas *self = data;
  const TmBox *box = tm_canvas_get_box (self, self->hit.box);

  self->rest_source = 0;
  if (box && box->kind == TM_BOX_TENSOR && self->hit.has_element)
    read_record (self, box->tensor, self->hit.flat);
  return G_SOURCE_REMOVE;
}

/* --- Hover ------------------------------------------------------------------------------------------------------- */

void
tm_canvas_update_hover (TmCanvas *self)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;
  TmHit hit = { .box = TM_NO_BOX };

  /* While the plane moves under the pointer nothing is asked about what passes. */
  if (self->dragging || self->motion.source)
    return;
  if (self->inside)
    hit = tm_canvas_pick (self, self->pointer_x, self->pointer_y);
  if (hit.box != self->hit.box)
    tm_canvas_queue_frame (self);
  if (hit.box != self->hit.box || hit.has_element != self->hit.has_element || hit.flat != self->hit.flat)
    {
      gtk_widget_trigger_tooltip_query (GTK_WIDGET (self->plane));
      g_clear_handle_id (&self->rest_source, g_source_remove);
      if (hit.has_element)
        self->rest_source = g_timeout_add (REST_MS, on_rest, self);
    }
  if (hit.badge != self->hit.badge)
    gtk_widget_set_cursor_from_name (GTK_WIDGET (self->plane), hit.badge ? "pointer" : NULL);
  self->hit = hit;
  if (hit.box != TM_NO_BOX && tm_canvas_hit_address (self, &hit, &address))
    tm_document_set_hover (self->document, &address);
  else
    tm_document_set_hover (self->document, NULL);
}

static void
on_motion (GtkEventControllerMotion *motion, double x, double y, TmCanvas *self)
{
  gboolean moved = x != self->pointer_x || y != self->pointer_y;

  if (self->inside && !moved)
    return;
  if (moved) /* a popover that closes lets the pointer enter where it stands */
    self->pointer_stands = FALSE;
  self->inside = TRUE;
  self->pointer_x = x;
  self->pointer_y = y;
  tm_canvas_update_hover (self);
}

static void
on_leave (GtkEventControllerMotion *motion, TmCanvas *self)
{
  self->inside = FALSE;
  tm_canvas_update_hover (self);
}

/* --- Tooltip ----------------------------------------------------------------------------------------------------- */

static GdkRectangle
get_tip_area (TmCanvas *self, const TmBox *box, guint64 flat)
{
  gint64 x, y;
  double left, top, size = self->camera.scale / self->scale;

  tm_sheet_locate (&box->sheet, flat, &x, &y);
  left = tm_camera_pixel_x (&self->camera, box->sheet_x + x) / self->scale;
  top = tm_camera_pixel_y (&self->camera, box->sheet_y + y) / self->scale;
  return (GdkRectangle) { (int) floor (left), (int) floor (top), (int) ceil (MAX (size, 1)), (int) ceil (MAX (size, 1)) };
}

static char *
tip_of_box (TmCanvas *self, const TmBox *box)
{
  const TmTensor *tensor;
  GString *text;

  if (box->kind != TM_BOX_TENSOR)
    {
      if (!box->module || !box->module->parent || box->fold_count < 2)
        return NULL;
      return g_strdup_printf ("%s\n%u equal blocks drawn once; the badge unfolds them", box->caption, box->fold_count);
    }
  tensor = tm_model_tensor (self->layout->model, box->tensor);
  text = g_string_new (NULL);
  {
    g_autofree char *name = tm_text_escape (tensor->name, -1), *dtype = tm_text_escape (tensor->dtype_label, -1);

    g_string_append_printf (text, "%s\n%s [", name, dtype);
  }
  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", tensor->shape[i]);
  g_string_append_c (text, ']');
  if (tensor->quantized)
    {
      g_autofree char *granularity = tm_granularity_describe (tensor->granularity);

      g_string_append_printf (text, "\n%s", granularity);
    }
  if (tensor->fault)
    {
      g_autofree char *fault = tm_text_escape (tensor->fault, -1);

      g_string_append_printf (text, "\n%s", fault);
    }
  else if (tensor->n_elements == 0)
    g_string_append (text, "\nno elements: nothing to show");
  return g_string_free (text, FALSE);
}

static gboolean
on_tooltip (GtkWidget *plane, int x, int y, gboolean keyboard, GtkTooltip *tooltip, TmCanvas *self)
{
  TmHit hit = self->hit;
  const TmBox *box;
  g_autofree char *text = NULL;

  if (keyboard || self->dragging || self->motion.source || self->pointer_stands || !self->inside
      || !(box = tm_canvas_get_box (self, hit.box)))
    return FALSE;
  if (box->kind == TM_BOX_TENSOR && hit.has_element)
    {
      TmModel *model = self->layout->model;
      const TmTensor *tensor = tm_model_tensor (model, box->tensor);
      g_autofree guint64 *index = g_new0 (guint64, MAX (tensor->rank, 1));
      g_autofree char *name = tm_text_escape (tensor->name, -1);
      GString *tip;
      GdkRectangle area = get_tip_area (self, box, hit.flat);

      read_record (self, box->tensor, hit.flat);
      if (!self->hovered->ready)
        {
          self->tip_waits = TRUE; /* asked again when it has been read */
          return FALSE;
        }

      tip = g_string_new (NULL);
      tm_tensor_unflatten (tensor, hit.flat, index);
      g_string_append_printf (tip, "%s[", name);
      for (guint i = 0; i < tensor->rank; i++)
        g_string_append_printf (tip, "%s%" G_GUINT64_FORMAT, i ? "," : "", index[i]);
      g_string_append_c (tip, ']');
      if (self->hovered->problem)
        {
          g_autofree char *problem = tm_text_escape (self->hovered->problem, -1);

          g_string_append_printf (tip, "\n%s", problem);
        }
      else if (self->hovered->raw)
        g_string_append_printf (tip, "\nraw %s\ndequantized %s", self->hovered->raw, self->hovered->value);
      else
        g_string_append_printf (tip, "\nvalue %s", self->hovered->value);
      text = g_string_free (tip, FALSE);
      gtk_tooltip_set_tip_area (tooltip, &area);
    }
  else
    text = tip_of_box (self, box);
  if (!text)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* --- Menu -------------------------------------------------------------------------------------------------------- */

gboolean
tm_canvas_region_holds (TmCanvas *self, const TmHit *hit)
{
  const TmAddress *selection = tm_document_get_selection (self->document);
  const TmBox *box = tm_canvas_get_box (self, hit->box);
  g_autofree guint64 *index = NULL;

  if (selection->kind != TM_ADDRESS_TENSOR || selection->within != TM_WITHIN_REGION || !box || !hit->has_element
      || box->kind != TM_BOX_TENSOR || box->tensor != selection->tensor)
    return FALSE;
  index = g_new0 (guint64, MAX (selection->rank, 1));
  tm_tensor_unflatten (tm_model_tensor (self->layout->model, box->tensor), hit->flat, index);
  for (guint i = 0; i < selection->rank; i++)
    if (index[i] < selection->start[i] || index[i] >= selection->end[i])
      return FALSE;
  return TRUE;
}

static GMenuModel *
make_menu (TmCanvas *self)
{
  const TmAddress *selection = tm_document_get_selection (self->document);
  gboolean scalar = selection->kind == TM_ADDRESS_TENSOR && selection->within == TM_WITHIN_INDEX;
  gboolean region = selection->kind == TM_ADDRESS_TENSOR && selection->within == TM_WITHIN_REGION;
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) copy = g_menu_new (), go = g_menu_new (), view = g_menu_new (), take = g_menu_new ();

  if (scalar)
    g_menu_append (copy, "Copy _value", "win.copy-value");
  g_menu_append (copy, "Copy _address", "win.copy-address");
  if (scalar)
    g_menu_append (copy, "Copy _record", "win.copy-record");
  if (scalar)
    g_menu_append (go, "_Go to group start", "canvas.group-start");
  if (selection->kind == TM_ADDRESS_FOLD)
    g_menu_append (go, "_Unfold", "canvas.into");
  g_menu_append (go, "Show in _outliner", "win.show-in-outliner");
  g_menu_append (view, "_Fit", "canvas.fit");
  if (region)
    g_menu_append (view, "_Clear region", "canvas.clear-region");
  g_menu_append (view, "Whole _model", "canvas.whole-model");
  if (tm_document_can_sort_columns (self->document))
    g_menu_append (view, "_Sort columns by group", "win.sort-columns");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (copy));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (go));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (view));
  if (region)
    g_menu_append (take, "_Export region…", "win.export-region");
  if (selection->kind == TM_ADDRESS_TENSOR)
    g_menu_append (take, "Export _tensor…", "win.export-tensor");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (take));
  return G_MENU_MODEL (menu);
}

void
tm_canvas_popup_menu (TmCanvas *self, double x, double y)
{
  g_autoptr (GMenuModel) menu = NULL;

  if (!self->layout)
    return;
  menu = make_menu (self);
  if (!self->menu)
    {
      self->menu = gtk_popover_menu_new_from_model (menu);
      gtk_popover_set_has_arrow (GTK_POPOVER (self->menu), FALSE);
      gtk_widget_set_halign (self->menu, GTK_ALIGN_START);
      gtk_widget_set_parent (self->menu, GTK_WIDGET (self->plane));
    }
  else
    gtk_popover_menu_set_menu_model (GTK_POPOVER_MENU (self->menu), menu);
  gtk_popover_set_pointing_to (GTK_POPOVER (self->menu), &(GdkRectangle) { (int) x, (int) y, 1, 1 });
  gtk_popover_popup (GTK_POPOVER (self->menu));
}

void
tm_canvas_add_hover (TmCanvas *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();

  g_signal_connect (motion, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  gtk_widget_add_controller (GTK_WIDGET (self->plane), motion);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self->plane), TRUE);
  g_signal_connect (self->plane, "query-tooltip", G_CALLBACK (on_tooltip), self);
}
