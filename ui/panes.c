#include "ui/panes.h"

#define MIN_PANEL 160
#define MAX_PANEL 720
#define MIN_CENTRE 280
#define HANDLE 7
#define SLIDE_US 180000
#define SHEET_EDGE 40 /* of the canvas, left free beside a sliding panel: touching it closes the panel */

typedef struct
{
  GtkWidget *child, *handle;
  int width;
  gboolean wide_shown;  /* beside the canvas */
  gboolean slid_in;     /* over the canvas, in a narrow window */
  double progress;      /* of the slide: 0 out, 1 in */
  double from;
  gint64 started;
  guint tick;
  int drag_width;
} Side;

struct _TmPanes
{
  GtkWidget parent_instance;
  GtkWidget *centre, *scrim;
  Side side[TM_N_SIDES];
  gboolean narrow;
  guint changed_idle;
};

G_DEFINE_FINAL_TYPE (TmPanes, tm_panes, GTK_TYPE_WIDGET)

static guint changed_signal;

static gboolean
emit_changed (gpointer data)
{
  TmPanes *self = data;

  self->changed_idle = 0;
  g_signal_emit (self, changed_signal, 0);
  return G_SOURCE_REMOVE;
}

/* Never from inside an allocation: those who listen change widgets. */
static void
queue_changed (TmPanes *self)
{
  if (!self->changed_idle)
    self->changed_idle = g_idle_add_full (G_PRIORITY_HIGH_IDLE, emit_changed, self, NULL);
}

static void
tm_panes_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                  int *minimum_baseline, int *natural_baseline)
{
  TmPanes *self = TM_PANES (widget);
  GtkWidget *children[] = { self->centre, self->side[0].child, self->side[1].child };

  *minimum = *natural = 0;
  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    {
      int child_minimum, child_natural;

      gtk_widget_measure (children[i], orientation, -1, &child_minimum, &child_natural, NULL, NULL);
      /* A panel that is too wide for a small window is cut, not the window made larger. */
      if (orientation == GTK_ORIENTATION_VERTICAL || i == 0)
        *minimum = MAX (*minimum, child_minimum);
      *natural = MAX (*natural, child_natural);
    }
}

static void
allocate_at (GtkWidget *child, int x, int width, int height)
{
  gtk_widget_allocate (child, MAX (width, 1), MAX (height, 1), -1,
                       gsk_transform_translate (NULL, &GRAPHENE_POINT_INIT ((float) x, 0)));
}

/* A panel gets at least its own minimum: what does not fit is cut at the window's edge. */
static void
allocate_panel (GtkWidget *panel, int x, int width, int height)
{
  int minimum;

  gtk_widget_measure (panel, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL, NULL);
  allocate_at (panel, x, MAX (width, minimum), height);
}

static void
allocate_wide (TmPanes *self, int width, int height)
{
  int panel[TM_N_SIDES], minimum[TM_N_SIDES], spare = width - MIN_CENTRE;

  /* With large text a panel needs more than the person gave it: nothing in it is cut. */
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      gtk_widget_measure (self->side[i].child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum[i], NULL, NULL, NULL);
      minimum[i] = MAX (minimum[i], MIN_PANEL);
      panel[i] = self->side[i].wide_shown ? MAX (self->side[i].width, minimum[i]) : 0;
    }
  /* Both shrink alike when the window does. */
  if (panel[0] + panel[1] > spare && panel[0] + panel[1] > 0)
    {
      int both = panel[0] + panel[1];

      for (guint i = 0; i < TM_N_SIDES; i++)
        panel[i] = panel[i] ? MAX (minimum[i], panel[i] * spare / both) : 0;
    }
  allocate_at (self->centre, panel[0], width - panel[0] - panel[1], height);
  gtk_widget_set_child_visible (self->scrim, FALSE);
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      Side *side = &self->side[i];
      int edge = i == TM_SIDE_START ? panel[0] : width - panel[1];

      gtk_widget_set_child_visible (side->child, panel[i] > 0);
      gtk_widget_set_child_visible (side->handle, panel[i] > 0);
      if (panel[i] == 0)
        continue;
      allocate_panel (side->child, i == TM_SIDE_START ? 0 : edge, panel[i], height);
      allocate_at (side->handle, edge - HANDLE / 2, HANDLE, height);
    }
}

static void
allocate_narrow (TmPanes *self, int width, int height)
{
  gboolean scrim = FALSE;

  allocate_at (self->centre, 0, width, height);
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      Side *side = &self->side[i];
      int panel = MIN (side->width, width - SHEET_EDGE);
      int minimum, out;

      gtk_widget_measure (side->child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL, NULL);
      panel = MAX (panel, minimum);
      out = (int) ((1 - side->progress) * panel);
      gtk_widget_set_child_visible (side->handle, FALSE);
      gtk_widget_set_child_visible (side->child, side->progress > 0);
      if (side->progress > 0)
        allocate_at (side->child, i == TM_SIDE_START ? -out : width - panel + out, panel, height);
      scrim = scrim || side->progress > 0;
    }
  gtk_widget_set_child_visible (self->scrim, scrim);
  if (scrim)
    allocate_at (self->scrim, 0, width, height);
}

static void
tm_panes_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  TmPanes *self = TM_PANES (widget);
  gboolean narrow = width < TM_NARROW_WIDTH;

  if (narrow != self->narrow)
    {
      self->narrow = narrow;
      for (guint i = 0; i < TM_N_SIDES; i++)
        {
          self->side[i].slid_in = FALSE;
          self->side[i].progress = 0;
          if (narrow)
            gtk_widget_add_css_class (self->side[i].child, "floating");
          else
            gtk_widget_remove_css_class (self->side[i].child, "floating");
        }
      queue_changed (self);
    }
  if (narrow)
    allocate_narrow (self, width, height);
  else
    allocate_wide (self, width, height);
}

static gboolean
slide (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Side *side = data;
  const gint64 now = gdk_frame_clock_get_frame_time (clock);
  const double target = side->slid_in ? 1 : 0;
  double t = (double) (now - side->started) / SLIDE_US;

  t = CLAMP (t, 0, 1);
  t = 1 - (1 - t) * (1 - t) * (1 - t);
  side->progress = side->from + (target - side->from) * t;
  gtk_widget_queue_allocate (widget);
  if (t < 1)
    return G_SOURCE_CONTINUE;
  side->progress = target;
  side->tick = 0;
  return G_SOURCE_REMOVE;
}

static void
start_slide (TmPanes *self, Side *side)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GdkFrameClock *clock = gtk_widget_get_frame_clock (widget);
  gboolean animate = TRUE;

  g_object_get (gtk_widget_get_settings (widget), "gtk-enable-animations", &animate, NULL);
  if (!animate || !clock)
    {
      side->progress = side->slid_in ? 1 : 0;
      gtk_widget_queue_allocate (widget);
      return;
    }
  side->from = side->progress;
  side->started = gdk_frame_clock_get_frame_time (clock);
  if (!side->tick)
    side->tick = gtk_widget_add_tick_callback (widget, slide, side, NULL);
}

gboolean
tm_panes_get_narrow (TmPanes *self)
{
  return self->narrow;
}

gboolean
tm_panes_get_shown (TmPanes *self, TmSide side)
{
  return self->narrow ? self->side[side].slid_in : self->side[side].wide_shown;
}

void
tm_panes_set_shown (TmPanes *self, TmSide which, gboolean shown)
{
  Side *side = &self->side[which];

  shown = !!shown;
  if (tm_panes_get_shown (self, which) == shown)
    return;
  if (!shown && gtk_widget_get_focus_child (GTK_WIDGET (self)) == side->child)
    gtk_widget_child_focus (self->centre, GTK_DIR_TAB_FORWARD);
  if (self->narrow)
    {
      if (shown) /* one at a time */
        tm_panes_set_shown (self, which == TM_SIDE_START ? TM_SIDE_END : TM_SIDE_START, FALSE);
      side->slid_in = shown;
      start_slide (self, side);
    }
  else
    side->wide_shown = shown;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  queue_changed (self);
}

int
tm_panes_get_width (TmPanes *self, TmSide side)
{
  return self->side[side].width;
}

/* Own widgets' values are not told to assistive programs: the name says the width too. */
static void
name_handle (Side *side, TmSide which)
{
  g_autofree char *name = g_strdup_printf ("Width of the %s: %d pixels", which == TM_SIDE_START ? "outliner" : "inspector",
                                           side->width);

  gtk_accessible_update_property (GTK_ACCESSIBLE (side->handle), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void
tm_panes_set_width (TmPanes *self, TmSide side, int width)
{
  self->side[side].width = CLAMP (width, MIN_PANEL, MAX_PANEL);
  name_handle (&self->side[side], side);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* The width that a panel can have now: what it needs, up to what canvas and other panel leave. */
static int
limit_width (TmPanes *self, TmSide which, int width)
{
  const Side *other = &self->side[!which];
  int minimum, most = gtk_widget_get_width (GTK_WIDGET (self)) - MIN_CENTRE - (other->wide_shown ? other->width : 0);

  gtk_widget_measure (self->side[which].child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL, NULL);
  return MAX (MIN (width, most), MAX (minimum, MIN_PANEL));
}

/* A handle with the focus is moved as a list's edge is: by steps, with Ctrl by larger ones, Home and End for its limits. */
static gboolean
on_handle_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, TmPanes *self)
{
  GtkWidget *handle = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller));
  const TmSide which = handle == self->side[TM_SIDE_START].handle ? TM_SIDE_START : TM_SIDE_END;
  const int step = (state & GDK_CONTROL_MASK ? 64 : 16) * (which == TM_SIDE_START ? 1 : -1);
  int width = limit_width (self, which, self->side[which].width);

  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      width -= step;
      break;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      width += step;
      break;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      width = MIN_PANEL;
      break;
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      width = MAX_PANEL;
      break;
    default:
      return FALSE;
    }
  /* What it cannot have is not remembered: else the next keys would seem to do nothing. */
  tm_panes_set_width (self, which, limit_width (self, which, width));
  return TRUE;
}

gboolean
tm_panes_focus_beyond (TmPanes *self, TmSide side)
{
  GtkWidget *handle = self->side[side].handle;

  return (gtk_widget_get_child_visible (handle) && gtk_widget_grab_focus (handle))
         || gtk_widget_child_focus (self->centre, GTK_DIR_TAB_FORWARD);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, Side *side)
{
  side->drag_width = side->width;
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, TmPanes *self)
{
  GtkWidget *handle = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (drag));
  TmSide which = handle == self->side[TM_SIDE_START].handle ? TM_SIDE_START : TM_SIDE_END;
  graphene_point_t at;
  double start_x, start_y;
  int width = gtk_widget_get_width (GTK_WIDGET (self));

  /* The handle moves with the pointer, so offsets are of no use: ask where the pointer is on the whole. */
  gtk_gesture_drag_get_start_point (drag, &start_x, &start_y);
  if (!gtk_widget_compute_point (handle, GTK_WIDGET (self),
                                 &GRAPHENE_POINT_INIT ((float) (start_x + dx), (float) (start_y + dy)), &at))
    return;
  tm_panes_set_width (self, which, which == TM_SIDE_START ? (int) at.x : width - (int) at.x);
}

static void
on_scrim_pressed (GtkGestureClick *click, int n_press, double x, double y, TmPanes *self)
{
  tm_panes_set_shown (self, TM_SIDE_START, FALSE);
  tm_panes_set_shown (self, TM_SIDE_END, FALSE);
}

/* Before what has the focus: while a panel lies over the canvas, Escape is for the panel. */
static gboolean
on_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, TmPanes *self)
{
  if (key != GDK_KEY_Escape || !self->narrow || !(self->side[0].slid_in || self->side[1].slid_in))
    return FALSE;
  on_scrim_pressed (NULL, 1, 0, 0, self);
  return TRUE;
}

static void
tm_panes_dispose (GObject *object)
{
  TmPanes *self = TM_PANES (object);

  g_clear_handle_id (&self->changed_idle, g_source_remove);
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      if (self->side[i].tick)
        gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->side[i].tick);
      self->side[i].tick = 0;
      g_clear_pointer (&self->side[i].handle, gtk_widget_unparent);
      g_clear_pointer (&self->side[i].child, gtk_widget_unparent);
    }
  g_clear_pointer (&self->scrim, gtk_widget_unparent);
  g_clear_pointer (&self->centre, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_panes_parent_class)->dispose (object);
}

static void
tm_panes_class_init (TmPanesClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_panes_dispose;
  widget_class->measure = tm_panes_measure;
  widget_class->size_allocate = tm_panes_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "tm-panes");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  changed_signal = g_signal_new ("changed", TM_TYPE_PANES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
tm_panes_init (TmPanes *self)
{
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Model", -1);
  self->side[TM_SIDE_START].width = 260;
  self->side[TM_SIDE_END].width = 320;
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      Side *side = &self->side[i];
      GtkGesture *drag = gtk_gesture_drag_new ();
      GtkEventController *keys = gtk_event_controller_key_new ();

      side->wide_shown = TRUE;
      side->handle = gtk_separator_new (GTK_ORIENTATION_VERTICAL);
      gtk_widget_set_cursor_from_name (side->handle, "col-resize");
      gtk_widget_add_css_class (side->handle, "handle");
      gtk_widget_set_focusable (side->handle, TRUE);
      gtk_widget_set_tooltip_text (side->handle, "Drag, or press the arrow keys, to change the width");
      name_handle (side, i);
      g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), side);
      g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
      gtk_widget_add_controller (side->handle, GTK_EVENT_CONTROLLER (drag));
      g_signal_connect (keys, "key-pressed", G_CALLBACK (on_handle_key), self);
      gtk_widget_add_controller (side->handle, keys);
    }
  GtkGesture *click = gtk_gesture_click_new ();

  self->scrim = g_object_new (GTK_TYPE_BOX, "css-name", "scrim", NULL);
  g_signal_connect (click, "pressed", G_CALLBACK (on_scrim_pressed), self);
  gtk_widget_add_controller (self->scrim, GTK_EVENT_CONTROLLER (click));

  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
}

GtkWidget *
tm_panes_new (GtkWidget *start, GtkWidget *centre, GtkWidget *end)
{
  TmPanes *self = g_object_new (TM_TYPE_PANES, NULL);
  GtkWidget *widget = GTK_WIDGET (self);

  self->centre = centre;
  self->side[TM_SIDE_START].child = start;
  self->side[TM_SIDE_END].child = end;
  gtk_widget_add_css_class (start, "panel");
  gtk_widget_add_css_class (end, "panel");
  /* Order of parents is order of painting and of Tab: panel, canvas, panel; scrim and panels over the canvas. */
  gtk_widget_set_parent (centre, widget);
  gtk_widget_set_parent (self->scrim, widget);
  for (guint i = 0; i < TM_N_SIDES; i++)
    {
      gtk_widget_set_parent (self->side[i].child, widget);
      gtk_widget_set_parent (self->side[i].handle, widget);
    }
  return widget;
}
