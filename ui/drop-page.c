#include "ui/drop-page.h"

GtkWidget *
tm_drop_page_new (void)
{
  GtkWidget *page = g_object_new (GTK_TYPE_BOX, "css-name", "tm-drop", "orientation", GTK_ORIENTATION_VERTICAL, NULL);
  GtkWidget *target = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *icon = gtk_image_new_from_icon_name ("document-open-symbolic");
  GtkWidget *title = gtk_label_new (NULL);
  GtkWidget *text = gtk_label_new (NULL);

  gtk_image_set_pixel_size (GTK_IMAGE (icon), 32);
  gtk_widget_add_css_class (target, "target");
  gtk_widget_add_css_class (title, "title-2");
  gtk_widget_set_vexpand (target, TRUE);
  gtk_widget_set_hexpand (target, TRUE);
  gtk_widget_set_valign (icon, GTK_ALIGN_END);
  gtk_widget_set_vexpand (icon, TRUE);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_justify (GTK_LABEL (text), GTK_JUSTIFY_CENTER);
  gtk_widget_set_valign (text, GTK_ALIGN_START);
  gtk_widget_set_vexpand (text, TRUE);
  gtk_box_append (GTK_BOX (target), icon);
  gtk_box_append (GTK_BOX (target), title);
  gtk_box_append (GTK_BOX (target), text);
  gtk_box_append (GTK_BOX (page), target);
  gtk_widget_set_can_target (page, FALSE); /* the drop is for what lies under it */
  gtk_widget_set_visible (page, FALSE);
  g_object_set_data (G_OBJECT (page), "title", title);
  g_object_set_data (G_OBJECT (page), "text", text);
  return page;
}

void
tm_drop_page_set_text (GtkWidget *page, const char *title, const char *text)
{
  gtk_label_set_text (g_object_get_data (G_OBJECT (page), "title"), title);
  gtk_label_set_text (g_object_get_data (G_OBJECT (page), "text"), text);
}
