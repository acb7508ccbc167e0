#include "ui/widgets.h"

GtkWidget *
tm_inspector_new (TmDocument *document)
{
  return g_object_new (GTK_TYPE_BOX, "css-name", "tm-inspector", NULL);
}
