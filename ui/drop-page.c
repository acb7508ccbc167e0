#include "ui/drop-page.h"

#include "ui/icon.h"

typedef struct
{
  GtkWidget *box, *text;
} Target;

struct _TmDropPage
{
  GtkWidget parent_instance;
  Target target[TM_N_DROPS];
};

G_DEFINE_FINAL_TYPE (TmDropPage, tm_drop_page, GTK_TYPE_WIDGET)

static void
add_target (TmDropPage *self, TmDrop drop, GtkWidget *icon, const char *title)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *heading = gtk_label_new (title), *text = gtk_label_new (NULL);

  gtk_image_set_pixel_size (GTK_IMAGE (icon), 32);
  gtk_widget_add_css_class (box, "target");
  gtk_widget_add_css_class (heading, "title-2");
  gtk_widget_set_vexpand (box, TRUE);
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_valign (icon, GTK_ALIGN_END);
  gtk_widget_set_vexpand (icon, TRUE);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_justify (GTK_LABEL (text), GTK_JUSTIFY_CENTER);
  gtk_widget_set_valign (text, GTK_ALIGN_START);
  gtk_widget_set_vexpand (text, TRUE);
  gtk_box_append (GTK_BOX (box), icon);
  gtk_box_append (GTK_BOX (box), heading);
  gtk_box_append (GTK_BOX (box), text);
  gtk_widget_set_parent (box, GTK_WIDGET (self));
  self->target[drop] = (Target) { box, text };
}

static void
tm_drop_page_dispose (GObject *object)
{
  TmDropPage *self = TM_DROP_PAGE (object);

  for (guint i = 0; i < TM_N_DROPS; i++)
    g_clear_pointer (&self->target[i].box, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_drop_page_parent_class)->dispose (object);
}

static void
tm_drop_page_class_init (TmDropPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_drop_page_dispose;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-drop");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BOX_LAYOUT);
}

static void
tm_drop_page_init (TmDropPage *self)
{
  g_autoptr (GdkPaintable) compare = tm_icon_new (TM_ICON_COMPARE, 32);
  GtkBoxLayout *layout = GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (GTK_WIDGET (self)));

  gtk_box_layout_set_spacing (layout, 14);
  gtk_box_layout_set_homogeneous (layout, TRUE);
  add_target (self, TM_DROP_OPEN, gtk_image_new_from_icon_name ("document-open-symbolic"), "Open");
  add_target (self, TM_DROP_COMPARE, gtk_image_new_from_paintable (compare), "Compare");
  gtk_label_set_text (GTK_LABEL (self->target[TM_DROP_COMPARE].text), "The model is the reference that this one is held against");
  gtk_widget_set_can_target (GTK_WIDGET (self), FALSE); /* the drop is for what lies under it */
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

GtkWidget *
tm_drop_page_new (void)
{
  return g_object_new (TM_TYPE_DROP_PAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);
}

void
tm_drop_page_offer (TmDropPage *self, const char *open, gboolean compare)
{
  gtk_label_set_text (GTK_LABEL (self->target[TM_DROP_OPEN].text), open);
  gtk_widget_set_visible (self->target[TM_DROP_COMPARE].box, compare);
}

TmDrop
tm_drop_page_point (TmDropPage *self, double x, double y)
{
  /* The page covers its parent; it has no size of its own before it is shown and after it is hidden, when a drop arrives. */
  const int width = gtk_widget_get_width (gtk_widget_get_parent (GTK_WIDGET (self)));
  const gboolean compare = gtk_widget_get_visible (self->target[TM_DROP_COMPARE].box) && x >= width / 2.0;

  for (guint i = 0; i < TM_N_DROPS; i++)
    if (compare == (i == TM_DROP_COMPARE))
      gtk_widget_add_css_class (self->target[i].box, "hot");
    else
      gtk_widget_remove_css_class (self->target[i].box, "hot");
  return compare ? TM_DROP_COMPARE : TM_DROP_OPEN;
}
