#include "ui/empty-page.h"

#include "io/text.h"
#include "ui/icon.h"
#include "ui/settings.h"

struct _TmEmptyPage
{
  GtkWidget parent_instance;
  GtkWidget *scroller, *recent_box, *recent_list;
  GtkImage *logo;
};

G_DEFINE_FINAL_TYPE (TmEmptyPage, tm_empty_page, GTK_TYPE_WIDGET)

static GtkWidget *
row_new (const TmRecent *recent)
{
  g_autofree char *name = g_path_get_basename (recent->path);
  g_autofree char *shown = tm_text_escape (name, -1);
  g_autofree char *path = tm_text_escape (recent->path, -1);
  g_autofree char *label_text = g_strdup_printf ("Open %s", shown);
  GtkWidget *button = gtk_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = gtk_label_new (shown);
  GtkWidget *note = gtk_label_new (recent->note);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (note), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (note, "dim-label");
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), note);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "recent");
  gtk_widget_set_tooltip_text (button, path);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label_text, -1);
  /* The parameter is the path's bytes: names need not be UTF-8. */
  gtk_actionable_set_action_target_value (GTK_ACTIONABLE (button), g_variant_new_bytestring (recent->path));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-path");
  return button;
}

void
tm_empty_page_refresh (TmEmptyPage *self)
{
  g_autoptr (GPtrArray) list = tm_recent_list ();
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->recent_list)))
    gtk_box_remove (GTK_BOX (self->recent_list), child);
  for (guint i = 0; i < list->len; i++)
    gtk_box_append (GTK_BOX (self->recent_list), row_new (g_ptr_array_index (list, i)));
  gtk_widget_set_visible (self->recent_box, list->len > 0);
}

static void
tm_empty_page_dispose (GObject *object)
{
  g_clear_pointer (&TM_EMPTY_PAGE (object)->scroller, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_empty_page_parent_class)->dispose (object);
}

static void
tm_empty_page_class_init (TmEmptyPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_empty_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/org/tensormorph/Tensormorph/empty-page.ui");
  gtk_widget_class_bind_template_child (widget_class, TmEmptyPage, scroller);
  gtk_widget_class_bind_template_child (widget_class, TmEmptyPage, recent_box);
  gtk_widget_class_bind_template_child (widget_class, TmEmptyPage, recent_list);
  gtk_widget_class_bind_template_child (widget_class, TmEmptyPage, logo);
  gtk_widget_class_set_css_name (widget_class, "tm-empty");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_empty_page_init (TmEmptyPage *self)
{
  g_autoptr (GdkPaintable) logo = tm_icon_new (TM_ICON_LOGO, 104);

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "No model is open", -1);
  gtk_image_set_from_paintable (self->logo, logo);
  tm_empty_page_refresh (self);
}

GtkWidget *
tm_empty_page_new (void)
{
  return g_object_new (TM_TYPE_EMPTY_PAGE, NULL);
}
