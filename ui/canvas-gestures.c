/* The pointer on the plane: click, drag, wheel, two fingers, pinch (interaction.md has the table). */
#include "ui/canvas-private.h"

#include "ui/canvas-steps.h"

#include <math.h>

#define CLICK_PX 4.0        /* logical px a pointer may move and still click */
#define WHEEL_STEP 1.25     /* zoom factor a notch */
#define WHEEL_PAN_PX 90.0   /* logical px a notch with Shift */
#define SURFACE_STEP_PX 1.0 /* touchpads that count px */
#define SMOOTH_STEP_PX 12.0 /* touchpads that count notches, as on X11 */

/* --- Click ------------------------------------------------------------------------------------------------------- */

static void
on_pressed (GtkGestureClick *gesture, int n_press, double x, double y, TmCanvas *self)
{
  tm_canvas_stop_motion (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->plane));
}

static void
on_released (GtkGestureClick *gesture, int n_press, double x, double y, TmCanvas *self)
{
  TmHit hit = tm_canvas_pick (self, x, y);

  if (self->dragging)
    return;
  if (n_press == 1)
    self->badge_pressed = hit.badge;
  else if (self->badge_pressed)
    return; /* the second click of two on a badge is none on what came to lie there */
  if (n_press == 1 && hit.badge)
    tm_canvas_unfold (self, hit.box, x, y);
  else if (n_press == 1)
    tm_canvas_select_hit (self, &hit, FALSE);
  else if (n_press == 2)
    {
      tm_canvas_select_hit (self, &hit, FALSE);
      tm_canvas_fit_selection (self);
    }
}

static void
on_menu (GtkGestureClick *gesture, int n_press, double x, double y, TmCanvas *self)
{
  TmHit hit = tm_canvas_pick (self, x, y);

  tm_canvas_stop_motion (self);
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_grab_focus (GTK_WIDGET (self->plane));
  /* What the menu acts on is the selection; a region under the pointer stays it. */
  if (!tm_canvas_region_holds (self, &hit))
    tm_canvas_select_hit (self, &hit, FALSE);
  tm_canvas_popup_menu (self, x, y);
}

/* --- Drag -------------------------------------------------------------------------------------------------------- */

static gboolean
element_at (TmCanvas *self, const TmBox *box, double x, double y, guint64 inside, guint64 *flat)
{
  gint64 ex = tm_camera_element_x (&self->camera, (int) floor (x * self->scale)) - box->sheet_x;
  gint64 ey = tm_camera_element_y (&self->camera, (int) floor (y * self->scale)) - box->sheet_y;

  if (inside != G_MAXUINT64)
    tm_step_clamp_to_pane (&box->sheet, inside, &ex, &ey);
  return tm_sheet_pick (&box->sheet, ex, ey, flat);
}

static void
begin_mark (TmCanvas *self, double x, double y)
{
  TmHit hit = tm_canvas_pick (self, x, y);
  const TmBox *box = tm_canvas_get_box (self, hit.box);

  if (!box || box->kind != TM_BOX_TENSOR || !element_at (self, box, x, y, G_MAXUINT64, &self->mark_flat))
    return;
  self->mark_tensor = box->tensor;
  self->marking = TRUE;
}

static void
update_mark (TmCanvas *self, double x, double y)
{
  const TmBox *box = tm_canvas_get_tensor_box (self, self->mark_tensor);
  guint64 flat;

  if (!box || !element_at (self, box, x, y, self->mark_flat, &flat))
    return;
  tm_address_clear (&self->mark);
  tm_step_region (tm_model_tensor (self->layout->model, self->mark_tensor), &box->sheet, self->mark_flat, flat,
                  &self->mark);
  self->mark.tensor = self->mark_tensor;
  tm_canvas_queue_frame (self);
}

static void
on_drag_begin (GtkGestureDrag *gesture, double x, double y, TmCanvas *self)
{
  guint button = gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture));

  self->dragging = self->marking = FALSE;
  if (button > 2 || !self->layout)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  tm_canvas_stop_motion (self);
  self->dragged_x = self->dragged_y = 0;
}

static void
on_drag_update (GtkGestureDrag *gesture, double dx, double dy, TmCanvas *self)
{
  double x, y;

  gtk_gesture_drag_get_start_point (gesture, &x, &y);
  if (!self->dragging)
    {
      GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));

      if (hypot (dx, dy) < CLICK_PX)
        return;
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
      self->dragging = TRUE;
      if ((state & GDK_SHIFT_MASK) && gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture)) == 1)
        begin_mark (self, x, y);
      gtk_widget_set_cursor_from_name (GTK_WIDGET (self->plane), self->marking ? "crosshair" : "grabbing");
    }

  if (self->marking)
    update_mark (self, x + dx, y + dy);
  else
    {
      /* From the start and in whole pixels: the grabbed point stays under the pointer however the events come. */
      int to_x = (int) (floor ((x + dx) * self->scale) - floor (x * self->scale));
      int to_y = (int) (floor ((y + dy) * self->scale) - floor (y * self->scale));

      tm_camera_pan (&self->camera, to_x - self->dragged_x, to_y - self->dragged_y);
      self->dragged_x = to_x;
      self->dragged_y = to_y;
      tm_canvas_camera_changed (self);
    }
}

static void
on_drag_end (GtkGestureDrag *gesture, double dx, double dy, TmCanvas *self)
{
  gtk_widget_set_cursor (GTK_WIDGET (self->plane), NULL);
  if (self->marking)
    {
      g_auto (TmAddress) region = TM_ADDRESS_INIT;

      self->marking = FALSE;
      if (self->mark.within == TM_WITHIN_REGION)
        {
          tm_address_copy (&self->mark, &region);
          tm_document_select (self->document, &region, FALSE);
        }
    }
  self->dragging = FALSE;
  tm_canvas_queue_frame (self);
}

static void
on_drag_cancel (GtkGesture *gesture, GdkEventSequence *sequence, TmCanvas *self)
{
  gtk_widget_set_cursor (GTK_WIDGET (self->plane), NULL);
  self->dragging = self->marking = FALSE;
  tm_canvas_queue_frame (self);
}

/* --- Wheel and two fingers --------------------------------------------------------------------------------------- */

static void
zoom_at (TmCanvas *self, double factor, double x, double y)
{
  /* The middle of the pixel under the pointer: it shows the same element before and after. */
  tm_canvas_zoom_by (self, factor, floor (x * self->scale) + 0.5, floor (y * self->scale) + 0.5);
}

/* A wheel has notches; a touchpad does not. Wayland says which it was, X11 only by the device or by fractions. */
static gboolean
is_wheel (GtkEventControllerScroll *scroll, double dx, double dy)
{
  GdkEvent *event = gtk_event_controller_get_current_event (GTK_EVENT_CONTROLLER (scroll));
  GdkDevice *device = event ? gdk_event_get_device (event) : NULL;

  if (gtk_event_controller_scroll_get_unit (scroll) == GDK_SCROLL_UNIT_SURFACE)
    return FALSE;
  if (event && gdk_event_get_event_type (event) == GDK_SCROLL && gdk_scroll_event_get_direction (event) != GDK_SCROLL_SMOOTH)
    return TRUE;
  if (device && gdk_device_get_source (device) == GDK_SOURCE_TOUCHPAD)
    return FALSE;
  return dx == rint (dx) && dy == rint (dy);
}

static gboolean
on_scroll (GtkEventControllerScroll *scroll, double dx, double dy, TmCanvas *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (scroll));
  gboolean wheel = is_wheel (scroll, dx, dy);
  gboolean surface = gtk_event_controller_scroll_get_unit (scroll) == GDK_SCROLL_UNIT_SURFACE;

  if (!self->layout)
    return FALSE;
  tm_canvas_stop_motion (self);
  self->scroll_pans = FALSE;
  if ((state & GDK_CONTROL_MASK) || (wheel && !(state & GDK_SHIFT_MASK) && dy != 0))
    {
      double notches = surface ? dy / 60 : dy;

      zoom_at (self, pow (WHEEL_STEP, -CLAMP (notches, -8, 8)), self->pointer_x, self->pointer_y);
      return TRUE;
    }
  if (state & GDK_SHIFT_MASK && dx == 0)
    {
      dx = dy;
      dy = 0;
    }
  double step = self->scale * (wheel ? WHEEL_PAN_PX : surface ? SURFACE_STEP_PX : SMOOTH_STEP_PX);

  /* The rest of a pixel waits for the next event. */
  self->rest_x -= dx * step;
  self->rest_y -= dy * step;
  tm_camera_pan (&self->camera, trunc (self->rest_x), trunc (self->rest_y));
  self->rest_x -= trunc (self->rest_x);
  self->rest_y -= trunc (self->rest_y);
  self->scroll_pans = !wheel;
  tm_canvas_camera_changed (self);
  return TRUE;
}

static void
on_decelerate (GtkEventControllerScroll *scroll, double velocity_x, double velocity_y, TmCanvas *self)
{
  double step = self->scale;

  if (!self->scroll_pans)
    return;
  if (gtk_event_controller_scroll_get_unit (scroll) != GDK_SCROLL_UNIT_SURFACE)
    step *= SMOOTH_STEP_PX;
  tm_canvas_glide (self, -velocity_x * step, -velocity_y * step);
}

/* --- Pinch ------------------------------------------------------------------------------------------------------- */

static void
on_pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, TmCanvas *self)
{
  tm_canvas_stop_motion (self);
  self->pinch = 1;
  gtk_gesture_set_state (gesture, GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
on_pinch (GtkGestureZoom *gesture, double scale, TmCanvas *self)
{
  double x, y;

  if (!self->layout || !(scale > 0))
    return;
  if (!gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    {
      x = self->pointer_x;
      y = self->pointer_y;
    }
  zoom_at (self, scale / self->pinch, x, y);
  self->pinch = scale;
}

void
tm_canvas_add_gestures (TmCanvas *self)
{
  GtkWidget *plane = GTK_WIDGET (self->plane);
  GtkGesture *click = gtk_gesture_click_new (), *menu = gtk_gesture_click_new ();
  GtkGesture *drag = gtk_gesture_drag_new (), *pinch = gtk_gesture_zoom_new ();
  GtkEventController *scroll
      = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES | GTK_EVENT_CONTROLLER_SCROLL_KINETIC);

  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (plane, GTK_EVENT_CONTROLLER (click));

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (menu), GDK_BUTTON_SECONDARY);
  g_signal_connect (menu, "pressed", G_CALLBACK (on_menu), self);
  gtk_widget_add_controller (plane, GTK_EVENT_CONTROLLER (menu));

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), 0);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (drag, "cancel", G_CALLBACK (on_drag_cancel), self);
  gtk_widget_add_controller (plane, GTK_EVENT_CONTROLLER (drag));

  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect (scroll, "decelerate", G_CALLBACK (on_decelerate), self);
  gtk_widget_add_controller (plane, scroll);

  g_signal_connect (pinch, "begin", G_CALLBACK (on_pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinch), self);
  gtk_widget_add_controller (plane, GTK_EVENT_CONTROLLER (pinch));
}
