#include "ui/widgets.h"

GtkWidget *
tm_breadcrumb_new (TmDocument *document)
{
  return g_object_new (GTK_TYPE_BOX, "css-name", "tm-breadcrumb", NULL);
}

void
tm_breadcrumb_edit (GtkWidget *breadcrumb)
{
  gtk_widget_grab_focus (breadcrumb);
}
