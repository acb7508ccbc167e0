#include "ui/widgets.h"

GtkWidget *
tm_canvas_new (TmDocument *document, TmRenderer renderer)
{
  return g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, "focusable", TRUE, NULL);
}
