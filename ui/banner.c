#include "ui/banner.h"

#include "io/text.h"

#define MAX_BARS 4 /* of a folder of broken files the newest few; all of them would hide the model */

struct _TmBanner
{
  GtkWidget parent_instance;
  GtkWidget *box;
  GtkWidget *rest; /* says how many are no longer there */
  GQueue bars; /* GtkBox *, newest first */
  guint dropped;
};

G_DEFINE_FINAL_TYPE (TmBanner, tm_banner, GTK_TYPE_WIDGET)

static void
show_rest (TmBanner *self)
{
  g_autofree char *text
      = g_strdup_printf (self->dropped == 1 ? "%u earlier message is not shown" : "%u earlier messages are not shown", self->dropped);

  gtk_label_set_text (GTK_LABEL (self->rest), text);
  gtk_widget_set_visible (self->rest, self->dropped > 0);
}

static void
remove_bar (TmBanner *self, GtkWidget *bar)
{
  g_queue_remove (&self->bars, bar);
  gtk_box_remove (GTK_BOX (self->box), bar);
  gtk_widget_set_visible (GTK_WIDGET (self), self->bars.length > 0);
  if (self->bars.length == 0)
    self->dropped = 0;
}

static void
on_dismissed (GtkButton *button, GtkWidget *bar)
{
  remove_bar (TM_BANNER (gtk_widget_get_ancestor (bar, TM_TYPE_BANNER)), bar);
}

static void
on_copy (GtkButton *button, GtkLabel *label)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (button)), gtk_label_get_text (label));
}

static GtkWidget *
button_new (const char *icon, const char *tooltip)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  return button;
}

void
tm_banner_show (TmBanner *self, const char *message)
{
  g_autofree char *text = tm_text_escape (message, -1);
  GtkWidget *bar = g_object_new (GTK_TYPE_BOX, "spacing", 8, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);
  GtkWidget *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  GtkWidget *label = gtk_label_new (text);
  GtkWidget *copy = button_new ("edit-copy-symbolic", "Copy this message");
  GtkWidget *dismiss = button_new ("window-close-symbolic", "Dismiss");

  for (GList *old = self->bars.head; old; old = old->next)
    if (g_strcmp0 (g_object_get_data (old->data, "message"), text) == 0)
      {
        remove_bar (self, old->data);
        break;
      }
  if (self->bars.length == MAX_BARS)
    {
      remove_bar (self, g_queue_peek_tail (&self->bars));
      self->dropped++;
    }
  show_rest (self);

  gtk_widget_add_css_class (bar, "bar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_PROPERTY_LABEL, "Problem", -1);
  g_object_set_data_full (G_OBJECT (bar), "message", g_strdup (text), g_free);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_lines (GTK_LABEL (label), 4);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_tooltip_text (label, text);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (icon), GTK_ACCESSIBLE_PROPERTY_LABEL, "Problem", -1);
  g_signal_connect_object (copy, "clicked", G_CALLBACK (on_copy), label, 0);
  g_signal_connect_object (dismiss, "clicked", G_CALLBACK (on_dismissed), bar, 0);
  gtk_box_append (GTK_BOX (bar), icon);
  gtk_box_append (GTK_BOX (bar), label);
  gtk_box_append (GTK_BOX (bar), copy);
  gtk_box_append (GTK_BOX (bar), dismiss);
  gtk_box_prepend (GTK_BOX (self->box), bar);
  g_queue_push_head (&self->bars, bar);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
}

void
tm_banner_clear (TmBanner *self)
{
  while (self->bars.length)
    remove_bar (self, g_queue_peek_tail (&self->bars));
}

static void
tm_banner_dispose (GObject *object)
{
  TmBanner *self = TM_BANNER (object);

  g_queue_clear (&self->bars);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_banner_parent_class)->dispose (object);
}

static void
tm_banner_class_init (TmBannerClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_banner_dispose;
  gtk_widget_class_set_css_name (widget_class, "tm-banner");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_banner_init (TmBanner *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  self->rest = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->rest, "bar");
  gtk_label_set_xalign (GTK_LABEL (self->rest), 0);
  gtk_widget_set_visible (self->rest, FALSE);
  gtk_box_append (GTK_BOX (self->box), self->rest);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Messages", -1);
}
