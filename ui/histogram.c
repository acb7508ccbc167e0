#include "ui/histogram.h"

#include "io/number.h"

#include <math.h>

#define HEIGHT 76
#define MIN_WIDTH 120

struct _TmHistogramView
{
  GtkWidget parent_instance;
  GtkWidget *bars, *read, *log;
  TmColor bar, text, dim;
  double *counts, *outline; /* outline: NULL for none */
  char *bars_name, *outline_name;
  guint n;
  double low, high, most, sum;
  char *unit, *summary;
  gboolean has_mark, has_range, whole;
  gint64 first;
  double mark, range;
  gint bin; /* that is read; −1: none */
  void (*dragged) (double range, gpointer data);
  gpointer data;
  double drag_x;
};

G_DEFINE_FINAL_TYPE (TmHistogramView, tm_histogram, GTK_TYPE_WIDGET)

/* --- Bars -------------------------------------------------------------------------------------------------------- */

#define TM_TYPE_BARS (tm_bars_get_type ())
G_DECLARE_FINAL_TYPE (TmBars, tm_bars, TM, BARS, GtkWidget)

struct _TmBars
{
  GtkWidget parent_instance;
  TmHistogramView *owner; /* its parent */
};

G_DEFINE_FINAL_TYPE (TmBars, tm_bars, GTK_TYPE_WIDGET)

static GdkRGBA
rgba (TmColor color, float alpha)
{
  return (GdkRGBA) { (float) TM_COLOR_RED (color) / 255, (float) TM_COLOR_GREEN (color) / 255,
                     (float) TM_COLOR_BLUE (color) / 255, alpha };
}

static double
to_x (TmHistogramView *self, double value, double width)
{
  return (value - self->low) / (self->high - self->low) * width;
}

static void
draw_line (GtkSnapshot *snapshot, double x, double width, double height, float thick, GdkRGBA color)
{
  if (x >= 0 && x <= width)
    gtk_snapshot_append_color (snapshot, &color,
                               &GRAPHENE_RECT_INIT ((float) CLAMP (x - thick / 2.0, 0, width - thick), 0, thick, (float) height));
}

static double
get_height (TmHistogramView *self, double count, double height, gboolean logarithmic)
{
  const double share = logarithmic ? log1p (count) / log1p (self->most) : count / self->most;

  return count > 0 ? MAX (share * (height - 2), 1) : 0;
}

/* Steps along the tops, and down between bins of different height. */
static void
draw_outline (TmHistogramView *self, GtkSnapshot *snapshot, double width, double height, gboolean logarithmic, const GdkRGBA *color)
{
  double before = 0;

  for (guint i = 0; i <= self->n && self->most > 0; i++)
    {
      const double x = floor (i * width / self->n), end = floor ((i + 1) * width / self->n);
      const double tall = i < self->n ? get_height (self, self->outline[i], height, logarithmic) : 0;
      const double low = MIN (tall, before), high = MAX (tall, before);

      if (high > low)
        gtk_snapshot_append_color (snapshot, color,
                                   &GRAPHENE_RECT_INIT ((float) MIN (x, width - 1.5), (float) (height - 1 - high), 1.5f,
                                                        (float) (high - low)));
      if (tall > 0)
        gtk_snapshot_append_color (snapshot, color,
                                   &GRAPHENE_RECT_INIT ((float) x, (float) (height - 1 - tall), (float) (end - x), 1.5f));
      before = tall;
    }
}

static void
tm_bars_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  TmHistogramView *self = TM_BARS (widget)->owner;
  const double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  const gboolean logarithmic = gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->log));
  const GdkRGBA bar = rgba (self->bar, 1), read = rgba (self->text, 1), ground = rgba (self->dim, 0.5f);

  for (guint i = 0; i < self->n && self->most > 0; i++)
    {
      const double x = floor (i * width / self->n), end = floor ((i + 1) * width / self->n);
      const double tall = get_height (self, self->counts[i], height, logarithmic);
      const double gap = end - x >= 3 ? 1 : 0;

      if (tall > 0)
        gtk_snapshot_append_color (snapshot, (gint) i == self->bin ? &read : &bar,
                                   &GRAPHENE_RECT_INIT ((float) x, (float) (height - 1 - tall), (float) MAX (end - x - gap, 1),
                                                        (float) tall));
    }
  if (self->outline)
    draw_outline (self, snapshot, width, height, logarithmic, &read);
  gtk_snapshot_append_color (snapshot, &ground, &GRAPHENE_RECT_INIT (0, (float) height - 1, (float) width, 1));
  if (self->has_range && self->range > 0)
    {
      draw_line (snapshot, to_x (self, -self->range, width), width, height, 1, rgba (self->dim, 1));
      draw_line (snapshot, to_x (self, self->range, width), width, height, 1, rgba (self->dim, 1));
    }
  if (self->has_mark)
    draw_line (snapshot, to_x (self, self->mark, width), width, height, 3, rgba (self->text, 1));
}

static void
tm_bars_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                 int *minimum_baseline, int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? MIN_WIDTH : HEIGHT;
}

static void
tm_bars_class_init (TmBarsClass *klass)
{
  GTK_WIDGET_CLASS (klass)->snapshot = tm_bars_snapshot;
  GTK_WIDGET_CLASS (klass)->measure = tm_bars_measure;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "bars");
}

static void
tm_bars_init (TmBars *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

static char *
format_edge (double value)
{
  return g_strdup_printf ("%s%.4g", value < 0 ? "−" : "", fabs (value));
}

static char *
describe_bin (TmHistogramView *self, guint bin)
{
  const double width = (self->high - self->low) / self->n, count = self->counts[bin];
  g_autofree char *from = self->whole ? g_strdup_printf ("%" G_GINT64_FORMAT, self->first + bin) : format_edge (self->low + bin * width);
  g_autofree char *to = format_edge (self->low + (bin + 1) * width);
  g_autofree char *number = tm_format_count ((guint64) (count + 0.5));
  const double share = self->sum > 0 ? count / self->sum * 100 : 0;

  if (self->outline)
    {
      g_autofree char *other = tm_format_count ((guint64) (self->outline[bin] + 0.5));

      return g_strdup_printf ("%s … %s: %s %s, %s %s", from, to, number, self->bars_name, other, self->outline_name);
    }

  return g_strdup_printf ("%s%s%s%s%s: %s · %.2g %%", from, self->whole ? "" : " … ", self->whole ? "" : to, *self->unit ? " " : "",
                          self->unit, number, share);
}

static void
update_read (TmHistogramView *self)
{
  g_autofree char *text = self->bin >= 0 ? describe_bin (self, (guint) self->bin) : NULL;

  gtk_label_set_text (GTK_LABEL (self->read), text ? text : self->summary);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bars), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text ? text : self->summary, -1);
  gtk_widget_queue_draw (self->bars);
}

static void
read_bin (TmHistogramView *self, gint bin)
{
  if (bin == self->bin)
    return;
  self->bin = bin;
  update_read (self);
}

static void
on_motion (GtkEventControllerMotion *motion, double x, double y, TmHistogramView *self)
{
  const int width = gtk_widget_get_width (self->bars);

  if (width > 0 && self->n > 0)
    read_bin (self, CLAMP ((gint) (x * self->n / width), 0, (gint) self->n - 1));
}

static void
on_leave (GtkEventControllerMotion *motion, TmHistogramView *self)
{
  read_bin (self, -1);
}

static gboolean
on_key (GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, TmHistogramView *self)
{
  const gint step = key == GDK_KEY_Right ? 1 : key == GDK_KEY_Left ? -1 : 0;

  if (!step || state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK) || !self->n)
    return FALSE;
  read_bin (self, self->bin < 0 ? (gint) self->n / 2 : CLAMP (self->bin + step, 0, (gint) self->n - 1));
  return TRUE;
}

/* --- Dragging ---------------------------------------------------------------------------------------------------- */

static void
drag_to (TmHistogramView *self, double x)
{
  const int width = gtk_widget_get_width (self->bars);

  if (!self->dragged || width <= 0)
    return;
  self->range = fabs (self->low + CLAMP (x / width, 0, 1) * (self->high - self->low));
  gtk_widget_queue_draw (self->bars);
  if (self->range > 0)
    self->dragged (self->range, self->data);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, TmHistogramView *self)
{
  self->drag_x = x;
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, TmHistogramView *self)
{
  if (fabs (dx) >= 3)
    drag_to (self, self->drag_x + dx);
}

static void
on_pressed (GtkGestureClick *click, int n, double x, double y, TmHistogramView *self)
{
  gtk_widget_grab_focus (self->bars);
  if (n == 2 && self->dragged)
    self->dragged (0, self->data);
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static void
tm_histogram_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))))
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (tm_histogram_parent_class)->dispose (object);
}

static void
tm_histogram_finalize (GObject *object)
{
  TmHistogramView *self = TM_HISTOGRAM (object);

  g_free (self->counts);
  g_free (self->outline);
  g_free (self->bars_name);
  g_free (self->outline_name);
  g_free (self->unit);
  g_free (self->summary);
  G_OBJECT_CLASS (tm_histogram_parent_class)->finalize (object);
}

static void
tm_histogram_class_init (TmHistogramViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_histogram_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_histogram_finalize;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-histogram");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
add_controllers (TmHistogramView *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new (), *keys = gtk_event_controller_key_new ();
  GtkGesture *drag = gtk_gesture_drag_new (), *click = gtk_gesture_click_new ();

  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  gtk_widget_add_controller (self->bars, motion);
  gtk_widget_add_controller (self->bars, keys);
  gtk_widget_add_controller (self->bars, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (self->bars, GTK_EVENT_CONTROLLER (click));
}

static void
tm_histogram_init (TmHistogramView *self)
{
  GtkWidget *foot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_orientable_set_orientation (GTK_ORIENTABLE (gtk_widget_get_layout_manager (GTK_WIDGET (self))), GTK_ORIENTATION_VERTICAL);
  self->bin = -1;
  self->bars = g_object_new (TM_TYPE_BARS, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
  TM_BARS (self->bars)->owner = self;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bars), GTK_ACCESSIBLE_PROPERTY_LABEL, "Histogram", -1);
  self->read = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->read), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->read), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (self->read, TRUE);
  gtk_widget_add_css_class (self->read, "caption");
  gtk_widget_add_css_class (self->read, "numeric");
  self->log = gtk_toggle_button_new_with_label ("log");
  gtk_widget_add_css_class (self->log, "flat");
  gtk_widget_add_css_class (self->log, "log-button");
  gtk_widget_set_tooltip_text (self->log, "Counts on a logarithmic scale");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->log), GTK_ACCESSIBLE_PROPERTY_LABEL, "Logarithmic counts", -1);
  g_signal_connect_swapped (self->log, "toggled", G_CALLBACK (gtk_widget_queue_draw), self->bars);
  gtk_box_append (GTK_BOX (foot), self->read);
  gtk_box_append (GTK_BOX (foot), self->log);
  gtk_widget_set_parent (self->bars, GTK_WIDGET (self));
  gtk_widget_set_parent (foot, GTK_WIDGET (self));
  add_controllers (self);
}

GtkWidget *
tm_histogram_new (const TmTheme *theme, const double *counts, guint n, double low, double high, const char *unit)
{
  TmHistogramView *self = g_object_new (TM_TYPE_HISTOGRAM, NULL);
  g_autofree char *from = format_edge (low), *to = format_edge (high);

  self->bar = theme->accent;
  self->text = theme->text;
  self->dim = theme->text_dim;
  self->counts = g_memdup2 (counts, n * sizeof *counts);
  self->n = n;
  self->low = low;
  self->high = high > low ? high : low + 1;
  self->unit = g_strdup (unit);
  for (guint i = 0; i < n; i++)
    {
      self->most = MAX (self->most, counts[i]);
      self->sum += counts[i];
    }
  self->summary = g_strdup_printf ("%s … %s%s%s", from, to, *unit ? " " : "", unit);
  update_read (self);
  return GTK_WIDGET (self);
}

void
tm_histogram_set_whole (TmHistogramView *self, gint64 first)
{
  self->whole = TRUE;
  self->first = first;
  g_free (self->summary);
  self->summary = g_strdup_printf ("%" G_GINT64_FORMAT " … %" G_GINT64_FORMAT, first, first + self->n - 1);
  update_read (self);
}

static GtkWidget *
swatch_new (const char *name, const char *css_class)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5), *swatch = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *label = gtk_label_new (name);

  gtk_widget_add_css_class (swatch, css_class);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (label, "caption");
  gtk_box_append (GTK_BOX (box), swatch);
  gtk_box_append (GTK_BOX (box), label);
  return box;
}

void
tm_histogram_set_outline (TmHistogramView *self, const double *counts, const char *bars, const char *outline)
{
  GtkWidget *legend = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 14);

  self->outline = g_memdup2 (counts, self->n * sizeof *counts);
  self->bars_name = g_strdup (bars);
  self->outline_name = g_strdup (outline);
  for (guint i = 0; i < self->n; i++)
    self->most = MAX (self->most, counts[i]);
  gtk_box_append (GTK_BOX (legend), swatch_new (bars, "swatch-bars"));
  gtk_box_append (GTK_BOX (legend), swatch_new (outline, "swatch-outline"));
  gtk_widget_set_parent (legend, GTK_WIDGET (self));
  update_read (self);
}

void
tm_histogram_set_mark (TmHistogramView *self, double at)
{
  self->has_mark = isfinite (at);
  self->mark = at;
}

void
tm_histogram_set_range (TmHistogramView *self, double range, void (*dragged) (double range, gpointer data), gpointer data)
{
  self->has_range = TRUE;
  self->range = range;
  self->dragged = dragged;
  self->data = data;
  gtk_widget_set_cursor_from_name (self->bars, dragged ? "ew-resize" : NULL);
}
