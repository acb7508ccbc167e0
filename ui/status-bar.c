#include "ui/status-bar.h"

#include "ui/hover-text.h"
#include "ui/icon.h"
#include "ui/problems.h"

#define HOLD_MS 5000 /* a message stays for that long over a pointer that rests on the canvas */

struct _TmStatusBar
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkToggleButton *outliner, *inspector;
  GtkLabel *text;
  GtkWidget *job_box;
  GtkLabel *job_label;
  GtkProgressBar *job_progress;
  GtkWidget *job_cancel;
  GtkMenuButton *problems;
  GtkLabel *problems_label;
  GtkImage *problems_icon;
  GtkWidget *problems_list;

  TmDocument *document;
  TmJobs *jobs;
  TmHoverText *hover;
  char *message, *note, *hovered; /* hovered: what is under the pointer, NULL for nothing */
  GtkEventController *motion;     /* of the window: whether the pointer rests */
  guint pulse, hold;
  gboolean placed;                /* while a message is held: where the pointer rests */
  double pointer_x, pointer_y;
  gboolean narrow;
};

G_DEFINE_FINAL_TYPE (TmStatusBar, tm_status_bar, GTK_TYPE_WIDGET)

static void
show_text (TmStatusBar *self, const char *text)
{
  gtk_label_set_text (self->text, text ? text : "");
}

/* Only what was cut needs telling again. */
static gboolean
on_text_tooltip (GtkWidget *label, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  if (!pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (label))))
    return FALSE;
  gtk_tooltip_set_text (tooltip, gtk_label_get_text (GTK_LABEL (label)));
  return TRUE;
}

static void
show_message (TmStatusBar *self)
{
  g_autofree char *text = g_strconcat (self->message ? self->message : "", self->message && self->note ? " · " : "",
                                       self->note ? self->note : "", NULL);

  show_text (self, text);
}

static void
on_hover_text (const char *text, gpointer data)
{
  TmStatusBar *self = data;

  g_free (self->hovered);
  self->hovered = g_strdup (text);
  if (text && !self->hold)
    show_text (self, text);
  else
    show_message (self);
}

/* --- A message over a pointer that rests --------------------------------------------------------------------------- */

static void
show_hovered (TmStatusBar *self)
{
  g_clear_handle_id (&self->hold, g_source_remove);
  if (self->hovered)
    show_text (self, self->hovered);
}

static gboolean
on_held (gpointer data)
{
  TmStatusBar *self = data;

  self->hold = 0;
  show_hovered (self);
  return G_SOURCE_REMOVE;
}

/* A dialog that closes lets the pointer enter where it is: that is no movement, and the place it tells is not to be relied on
 * (GTK 4.8 counts it from the window's shadow). */
static void
on_enter (GtkEventControllerMotion *motion, double x, double y, TmStatusBar *self)
{
  self->placed = FALSE;
}

static void
on_motion (GtkEventControllerMotion *motion, double x, double y, TmStatusBar *self)
{
  const gboolean moved = self->placed && (x != self->pointer_x || y != self->pointer_y);

  self->placed = TRUE;
  self->pointer_x = x;
  self->pointer_y = y;
  if (moved && self->hold)
    show_hovered (self);
}

static void
tm_status_bar_root (GtkWidget *widget)
{
  TmStatusBar *self = TM_STATUS_BAR (widget);

  GTK_WIDGET_CLASS (tm_status_bar_parent_class)->root (widget);
  self->motion = gtk_event_controller_motion_new ();
  gtk_event_controller_set_propagation_phase (self->motion, GTK_PHASE_CAPTURE);
  g_signal_connect (self->motion, "enter", G_CALLBACK (on_enter), self);
  g_signal_connect (self->motion, "motion", G_CALLBACK (on_motion), self);
  gtk_widget_add_controller (GTK_WIDGET (gtk_widget_get_root (widget)), self->motion);
}

static void
tm_status_bar_unroot (GtkWidget *widget)
{
  TmStatusBar *self = TM_STATUS_BAR (widget);

  gtk_widget_remove_controller (GTK_WIDGET (gtk_widget_get_root (widget)), self->motion);
  self->motion = NULL;
  GTK_WIDGET_CLASS (tm_status_bar_parent_class)->unroot (widget);
}

void
tm_status_bar_set_message (TmStatusBar *self, const char *message)
{
  g_free (self->message);
  self->message = g_strdup (message);
  show_message (self);
  g_clear_handle_id (&self->hold, g_source_remove);
  self->hold = g_timeout_add (HOLD_MS, on_held, self);
}

void
tm_status_bar_set_note (TmStatusBar *self, const char *note)
{
  g_free (self->note);
  self->note = g_strdup (note);
  show_message (self);
}

static gboolean
on_pulse (gpointer data)
{
  gtk_progress_bar_pulse (TM_STATUS_BAR (data)->job_progress);
  return G_SOURCE_CONTINUE;
}

static void
on_jobs (TmStatusBar *self)
{
  const char *label;
  double fraction;
  gboolean can_cancel;
  gboolean any = tm_jobs_get_shown (self->jobs, &label, &fraction, &can_cancel);

  gtk_widget_set_visible (self->job_box, any);
  if (any)
    {
      gtk_label_set_text (self->job_label, label);
      gtk_widget_set_visible (self->job_cancel, can_cancel);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->job_progress), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
      if (fraction >= 0)
        gtk_progress_bar_set_fraction (self->job_progress, fraction);
    }
  if (any && fraction < 0 && !self->pulse)
    self->pulse = g_timeout_add (120, on_pulse, self);
  else if (!(any && fraction < 0))
    g_clear_handle_id (&self->pulse, g_source_remove);
}

static void
on_model (TmStatusBar *self)
{
  TmModel *model = tm_document_get_model (self->document);
  guint n = model ? model->problems->len : 0;
  g_autofree char *label = NULL, *name = g_strdup_printf (n == 1 ? "%u problem" : "%u problems", n);

  tm_problems_set_model (self->problems_list, model);
  gtk_widget_set_visible (GTK_WIDGET (self->problems), model != NULL);
  label = self->narrow ? g_strdup_printf ("%u", n) : g_strdup (name);
  gtk_label_set_text (self->problems_label, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->problems), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  if (n)
    gtk_widget_add_css_class (GTK_WIDGET (self->problems), "some");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->problems), "some");
  gtk_widget_set_visible (GTK_WIDGET (self->outliner), model && self->narrow);
  gtk_widget_set_visible (GTK_WIDGET (self->inspector), model && self->narrow);
}

void
tm_status_bar_set_narrow (TmStatusBar *self, gboolean narrow)
{
  self->narrow = narrow;
  gtk_widget_set_visible (GTK_WIDGET (self->job_label), !narrow);
  on_model (self);
}

void
tm_status_bar_show_problems (TmStatusBar *self)
{
  if (gtk_widget_get_visible (GTK_WIDGET (self->problems)))
    gtk_menu_button_popup (self->problems);
}

static void
on_cancel (TmStatusBar *self)
{
  tm_jobs_cancel_shown (self->jobs);
}

static void
tm_status_bar_dispose (GObject *object)
{
  TmStatusBar *self = TM_STATUS_BAR (object);

  g_clear_handle_id (&self->pulse, g_source_remove);
  g_clear_handle_id (&self->hold, g_source_remove);
  g_clear_pointer (&self->hover, tm_hover_text_free);
  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  if (self->jobs)
    g_signal_handlers_disconnect_by_data (self->jobs, self);
  g_clear_object (&self->document);
  g_clear_object (&self->jobs);
  g_clear_pointer (&self->message, g_free);
  g_clear_pointer (&self->note, g_free);
  g_clear_pointer (&self->hovered, g_free);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_status_bar_parent_class)->dispose (object);
}

static void
tm_status_bar_class_init (TmStatusBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_status_bar_dispose;
  widget_class->root = tm_status_bar_root;
  widget_class->unroot = tm_status_bar_unroot;
  gtk_widget_class_set_template_from_resource (widget_class, "/org/tensormorph/Tensormorph/status-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, box);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, outliner);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, inspector);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, text);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, job_box);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, job_label);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, job_progress);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, job_cancel);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, problems);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, problems_label);
  gtk_widget_class_bind_template_child (widget_class, TmStatusBar, problems_icon);
  gtk_widget_class_bind_template_callback (widget_class, on_cancel);
  gtk_widget_class_bind_template_callback (widget_class, on_text_tooltip);
  gtk_widget_class_set_css_name (widget_class, "tm-status");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
set_icon (GtkToggleButton *button, TmIconKind kind)
{
  g_autoptr (GdkPaintable) icon = tm_icon_new (kind, 16);
  GtkWidget *image = g_object_new (GTK_TYPE_IMAGE, "paintable", icon, "accessible-role",
                                   GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

  gtk_button_set_child (GTK_BUTTON (button), image);
}

static void
tm_status_bar_init (TmStatusBar *self)
{
  GtkWidget *popover = gtk_popover_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Status", -1);
  set_icon (self->outliner, TM_ICON_OUTLINER);
  set_icon (self->inspector, TM_ICON_INSPECTOR);
  self->problems_list = tm_problems_new ();
  gtk_popover_set_child (GTK_POPOVER (popover), self->problems_list);
  gtk_menu_button_set_popover (self->problems, popover);
}

GtkWidget *
tm_status_bar_new (TmDocument *document, TmJobs *jobs)
{
  TmStatusBar *self = g_object_new (TM_TYPE_STATUS_BAR, NULL);

  self->document = g_object_ref (document);
  self->jobs = g_object_ref (jobs);
  self->hover = tm_hover_text_new (document, on_hover_text, self);
  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (on_model), self);
  g_signal_connect_swapped (jobs, "changed", G_CALLBACK (on_jobs), self);
  on_model (self);
  on_jobs (self);
  return GTK_WIDGET (self);
}
