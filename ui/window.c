#include "ui/window-private.h"

#include "io/text.h"
#include "ui/accessible.h"
#include "ui/icon.h"
#include "ui/keys.h"
#include "ui/settings.h"

#define MIN_TITLE 150 /* px that the header keeps for the title before the buttons lose their words */

G_DEFINE_FINAL_TYPE (TmWindow, tm_window, GTK_TYPE_APPLICATION_WINDOW)

TmDocument *
tm_window_get_document (TmWindow *self)
{
  return self->document;
}

void
tm_window_show_problem (TmWindow *self, const char *message)
{
  tm_banner_show (self->banner, message);
}

static void
on_problem (TmWindow *self, const char *message)
{
  tm_banner_show (self->banner, message);
}

static void
on_model_changed (TmWindow *self)
{
  TmModel *model = tm_document_get_model (self->document);
  g_autofree char *title = tm_text_escape (model ? model->title : "Tensormorph", -1);
  g_autofree char *description = model ? tm_model_describe (model) : NULL;
  g_autofree char *subtitle = description ? tm_text_escape (description, -1) : NULL;
  g_autofree char *path = model ? tm_text_escape (model->path, -1) : NULL;

  gtk_window_set_title (GTK_WINDOW (self), title);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_widget_set_tooltip_text (self->title, path);
  gtk_label_set_text (GTK_LABEL (self->subtitle), subtitle ? subtitle : "");
  gtk_widget_set_tooltip_text (self->subtitle, subtitle);
  gtk_widget_set_visible (self->subtitle, subtitle != NULL);
  gtk_stack_set_visible_child_name (self->stack, model ? "model" : "empty");
  if (self->dock)
    tm_window_update_dock (self, FALSE);
  tm_window_stop_comparing (self);
  if (!tm_document_keeps_view (self->document))
    g_clear_object (&self->reference);
  else if (self->reference)
    tm_window_compare_again (self, self->reference);
  tm_window_update_actions (self);
}

static void
on_comparison_changed (TmWindow *self)
{
  tm_window_update_dock (self, TRUE);
  tm_window_update_actions (self);
}

static void
on_view_changed (TmWindow *self)
{
  static const char *const names[TM_N_OVERLAYS] = { "None", "Dtype", "Value", "Raw", "Scale", "Error", "Zeros", "Backend" };
  const char *name = names[tm_document_get_overlay (self->document)];
  g_autofree char *label = g_strdup_printf ("Overlay: %s", name);

  gtk_label_set_text (GTK_LABEL (self->overlay_label), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->overlay_button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  tm_window_update_actions (self);
}

/* The inspector makes its pages anew; their parts get names when the work is done. */
static gboolean
name_new_parts (gpointer data)
{
  TmWindow *self = data;

  self->naming = 0;
  tm_accessible_name_parts (self->inspector);
  return G_SOURCE_REMOVE;
}

static void
on_selection_changed (TmWindow *self)
{
  tm_window_update_actions (self);
  if (!self->naming)
    self->naming = g_idle_add_full (G_PRIORITY_LOW, name_new_parts, self, NULL);
}

/* Menus make their items when they are opened. */
static void
name_menu_when_open (GtkMenuButton *button)
{
  g_signal_connect_after (gtk_menu_button_get_popover (button), "map", G_CALLBACK (tm_accessible_name_parts), NULL);
}

static void
on_appearance (TmWindow *self)
{
  const gboolean dark = tm_appearance_get_dark (self->appearance);

  if (dark)
    gtk_widget_add_css_class (GTK_WIDGET (self), "dark");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "dark");
  tm_document_set_theme (self->document, dark, tm_appearance_get_accent (self->appearance));
}

/* What the wider of the header's ends wants: the title stands in the middle. */
static int
measure_end (TmWindow *self)
{
  GtkWidget *buttons[] = { GTK_WIDGET (self->open_button), GTK_WIDGET (self->overlay_button) };
  int natural[G_N_ELEMENTS (buttons)];

  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    gtk_widget_measure (gtk_widget_get_parent (buttons[i]), GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural[i], NULL, NULL);
  return MAX (natural[0], natural[1]);
}

/* Whether the header has no room for its buttons' words, in whatever size the text has, and a title. */
static gboolean
is_tight (TmWindow *self, int width)
{
  if (!self->tight)
    self->end_with_words = measure_end (self);
  return width < TM_NARROW_WIDTH || width < 2 * self->end_with_words + MIN_TITLE;
}

/* The buttons get what the title leaves on either side: so that it does not cut their words, it is as wide as they leave. */
static int
get_title_chars (TmWindow *self, GtkWidget *label, int width)
{
  PangoFontMetrics *metrics = pango_context_get_metrics (gtk_widget_get_pango_context (label), NULL, NULL);
  int one = pango_font_metrics_get_approximate_char_width (metrics) / PANGO_SCALE;

  pango_font_metrics_unref (metrics);
  return MAX (8, (width - 2 * measure_end (self) - 64) / MAX (one, 1));
}

static void
set_tight (TmWindow *self, gboolean tight)
{
  GtkWidget *words[]
      = { self->open_label, self->compare_label, self->overlay_label, self->boundaries_label, self->open_arrow, self->overlay_arrow };

  self->tight = tight;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    gtk_widget_set_visible (words[i], !tight);
}

static void
set_narrow (TmWindow *self, gboolean narrow)
{
  self->narrow = narrow;
  tm_status_bar_set_narrow (self->status_bar, narrow);
  /* 360 pixels hold one button less; the menu has it too. */
  gtk_widget_set_visible (gtk_widget_get_ancestor (self->compare_label, GTK_TYPE_BUTTON), !narrow);
  if (narrow)
    gtk_widget_add_css_class (GTK_WIDGET (self), "narrow");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "narrow");
}

static gboolean
apply_width (gpointer data)
{
  TmWindow *self = data;
  const int width = gtk_widget_get_width (GTK_WIDGET (self));

  if (!gtk_widget_in_destruction (data))
    {
      set_narrow (self, width < TM_NARROW_WIDTH);
      set_tight (self, is_tight (self, width));
      self->title_chars = get_title_chars (self, self->title, width);
      gtk_label_set_max_width_chars (GTK_LABEL (self->title), self->title_chars);
      gtk_label_set_max_width_chars (GTK_LABEL (self->subtitle), get_title_chars (self, self->subtitle, width));
      tm_window_update_actions (self);
    }
  return G_SOURCE_REMOVE;
}

static void
tm_window_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  TmWindow *self = TM_WINDOW (widget);

  GTK_WIDGET_CLASS (tm_window_parent_class)->size_allocate (widget, width, height, baseline);
  if ((width < TM_NARROW_WIDTH) != self->narrow || is_tight (self, width) != self->tight
      || get_title_chars (self, self->title, width) != self->title_chars)
    g_idle_add_full (G_PRIORITY_HIGH_IDLE, apply_width, g_object_ref (self), g_object_unref);
}

static void
on_renderer_changed (TmWindow *self, const char *name, const char *why)
{
  g_autofree char *shown = why ? tm_text_escape (why, -1) : NULL;
  g_autofree char *note = shown ? g_strdup_printf ("painted by the %s, %s", name, shown) : NULL;

  tm_status_bar_set_note (self->status_bar, note);
}

static void
activate_by_name (const char *detailed, gpointer data)
{
  TmWindow *self = data;
  g_autofree char *name = NULL;
  g_autoptr (GVariant) target = NULL;

  if (g_action_parse_detailed_name (detailed, &name, &target, NULL))
    gtk_widget_activate_action_variant (self->canvas, name, target);
}

static gboolean
tm_window_close_request (GtkWindow *window)
{
  TmWindow *self = TM_WINDOW (window);
  int width, height;

  tm_window_stop_comparing (self);
  tm_window_stop_statistics (self);
  tm_window_stop_counting (self);
  tm_jobs_cancel_all (self->jobs);
  gtk_window_get_default_size (window, &width, &height);
  if (width >= TM_NARROW_WIDTH && !gtk_window_is_maximized (window) && !gtk_window_is_fullscreen (window))
    {
      tm_settings_set_int ("window", "width", width);
      tm_settings_set_int ("window", "height", height);
    }
  tm_settings_set_int ("window", "outliner-width", tm_panes_get_width (self->panes, TM_SIDE_START));
  tm_settings_set_int ("window", "inspector-width", tm_panes_get_width (self->panes, TM_SIDE_END));
  return GTK_WINDOW_CLASS (tm_window_parent_class)->close_request (window);
}

static void
tm_window_dispose (GObject *object)
{
  TmWindow *self = TM_WINDOW (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  if (self->appearance)
    g_signal_handlers_disconnect_by_data (self->appearance, self);
  g_clear_object (&self->appearance);
  g_clear_object (&self->comparing);
  tm_window_stop_statistics (self);
  if (self->counting)
    g_cancellable_cancel (self->counting);
  g_clear_object (&self->counting);
  g_clear_object (&self->reference);
  g_clear_handle_id (&self->naming, g_source_remove);
  G_OBJECT_CLASS (tm_window_parent_class)->dispose (object);
  /* After the widgets: they leave the document in their own dispose. */
  g_clear_object (&self->jobs);
  g_clear_object (&self->document);
}

static void
tm_window_class_init (TmWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_window_dispose;
  widget_class->size_allocate = tm_window_size_allocate;
  GTK_WINDOW_CLASS (klass)->close_request = tm_window_close_request;
  g_type_ensure (TM_TYPE_BANNER);
  gtk_widget_class_set_template_from_resource (widget_class, TM_RESOURCES "window.ui");
  gtk_widget_class_bind_template_child (widget_class, TmWindow, title);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, subtitle);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, open_button);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, overlay_button);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, backend_menu);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, menu_button);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, boundaries_button);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, open_label);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, compare_label);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, compare_icon);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, overlay_label);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, boundaries_label);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, open_arrow);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, overlay_arrow);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, overlay_icon);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, boundaries_icon);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, banner);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, over);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, content);
  gtk_widget_class_bind_template_child (widget_class, TmWindow, recent_menu);
}

static void
tm_window_init (TmWindow *self)
{
  g_autoptr (GdkPaintable) overlay = tm_icon_new (TM_ICON_OVERLAY, 16);
  g_autoptr (GdkPaintable) boundaries = tm_icon_new (TM_ICON_BOUNDARIES, 16);
  g_autoptr (GdkPaintable) compare = tm_icon_new (TM_ICON_COMPARE, 16);

  self->document = tm_document_new ();
  self->jobs = tm_jobs_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_image_set_from_paintable (self->overlay_icon, overlay);
  gtk_image_set_from_paintable (self->boundaries_icon, boundaries);
  gtk_image_set_from_paintable (self->compare_icon, compare);
}

/* The canvas, and under it what a table says of all tensors. */
static GtkWidget *
centre_new (TmWindow *self)
{
  GtkWidget *paned = gtk_paned_new (GTK_ORIENTATION_VERTICAL);

  gtk_paned_set_start_child (GTK_PANED (paned), self->canvas);
  gtk_paned_set_end_child (GTK_PANED (paned), self->dock);
  gtk_paned_set_resize_end_child (GTK_PANED (paned), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (paned), TRUE);
  gtk_paned_set_shrink_start_child (GTK_PANED (paned), TRUE);
  gtk_widget_add_css_class (paned, "centre");
  return paned;
}

static void
build (TmWindow *self, TmRenderer renderer)
{
  self->empty_page = TM_EMPTY_PAGE (tm_empty_page_new ());
  self->outliner = tm_outliner_new (self->document);
  self->canvas = tm_canvas_new (self->document, renderer);
  self->inspector = tm_inspector_new (self->document);
  tm_window_build_dock (self);
  self->panes = TM_PANES (tm_panes_new (self->outliner, centre_new (self), self->inspector));
  self->status_bar = TM_STATUS_BAR (tm_status_bar_new (self->document, self->jobs));
  self->palette = tm_finder_new (self->document, activate_by_name, self);

  tm_panes_set_width (self->panes, TM_SIDE_START, tm_settings_get_int ("window", "outliner-width", 260));
  tm_panes_set_width (self->panes, TM_SIDE_END, tm_settings_get_int ("window", "inspector-width", 320));
  gtk_window_set_default_size (GTK_WINDOW (self), MAX (tm_settings_get_int ("window", "width", 1440), 360),
                               MAX (tm_settings_get_int ("window", "height", 900), 300));
  gtk_stack_add_titled (self->stack, GTK_WIDGET (self->empty_page), "empty", "No model");
  gtk_stack_add_titled (self->stack, GTK_WIDGET (self->panes), "model", "Model");
  gtk_box_append (GTK_BOX (self->content), GTK_WIDGET (self->status_bar));
  gtk_overlay_add_overlay (self->over, self->palette);
  tm_window_install_drop (self);

  if (g_signal_lookup ("renderer-changed", G_OBJECT_TYPE (self->canvas)))
    g_signal_connect_object (self->canvas, "renderer-changed", G_CALLBACK (on_renderer_changed), self, G_CONNECT_SWAPPED);
}

GtkWidget *
tm_window_new (TmApplication *application)
{
  TmWindow *self = g_object_new (TM_TYPE_WINDOW, "application", application, NULL);

  self->appearance = g_object_ref (tm_application_get_appearance (application));
  tm_window_install_actions (self);
  build (self, tm_application_get_renderer (application));
  gtk_widget_add_controller (GTK_WIDGET (self), tm_keys_new_controller ());

  g_signal_connect_swapped (self->document, "model-changed", G_CALLBACK (on_model_changed), self);
  {
    g_autoptr (GMenuModel) backends = tm_backend_menu_new ();

    g_menu_append_section (self->backend_menu, NULL, backends);
  }
  tm_window_install_statistics (self);
  tm_window_install_sparsity (self);
  g_signal_connect_swapped (self->document, "comparison-changed", G_CALLBACK (on_comparison_changed), self);
  g_signal_connect_swapped (self->document, "view-changed", G_CALLBACK (on_view_changed), self);
  g_signal_connect_swapped (self->document, "selection-changed", G_CALLBACK (on_selection_changed), self);
  g_signal_connect_swapped (self->document, "history-changed", G_CALLBACK (tm_window_update_actions), self);
  g_signal_connect_swapped (self->document, "problem", G_CALLBACK (on_problem), self);
  g_signal_connect_swapped (self->document, "reopen", G_CALLBACK (tm_window_reopen), self);
  g_signal_connect_swapped (self->appearance, "changed", G_CALLBACK (on_appearance), self);
  g_signal_connect_object (self->panes, "changed", G_CALLBACK (tm_window_update_actions), self, G_CONNECT_SWAPPED);
  on_appearance (self);
  on_model_changed (self);
  on_view_changed (self);
  tm_status_bar_set_message (self->status_bar, "Ctrl+K finds everything · F1 glossary · Ctrl+? shortcuts");
  tm_window_refresh_recent (self);
  tm_accessible_name_parts (GTK_WIDGET (self));
  name_menu_when_open (self->open_button);
  name_menu_when_open (self->overlay_button);
  name_menu_when_open (self->menu_button);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->canvas), GTK_ACCESSIBLE_PROPERTY_LABEL, "Canvas", -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->outliner), GTK_ACCESSIBLE_PROPERTY_LABEL, "Outliner", -1);
  return GTK_WIDGET (self);
}

void
tm_window_refresh_recent (TmWindow *self)
{
  g_autoptr (GPtrArray) list = tm_recent_list ();

  tm_empty_page_refresh (self->empty_page);
  g_menu_remove_all (self->recent_menu);
  for (guint i = 0; i < list->len; i++)
    {
      TmRecent *recent = g_ptr_array_index (list, i);
      g_autofree char *name = g_path_get_basename (recent->path);
      g_autofree char *shown = tm_text_escape (name, -1);
      g_auto (GStrv) pieces = g_strsplit (shown, "_", -1);
      g_autofree char *label = g_strjoinv ("__", pieces); /* menus take one underscore for a mnemonic */
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);

      g_menu_item_set_action_and_target_value (item, "win.open-path", g_variant_new_bytestring (recent->path));
      g_menu_append_item (self->recent_menu, item);
    }
}
