#include "ui/widgets.h"

GtkWidget *
tm_outliner_new (TmDocument *document)
{
  return g_object_new (GTK_TYPE_BOX, "css-name", "tm-outliner", NULL);
}

void
tm_outliner_focus_filter (GtkWidget *outliner)
{
  gtk_widget_grab_focus (outliner);
}
