/* Names for the parts that the toolkit makes by itself and leaves with its own class's name. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Scroll bars, overlays and stack pages under widget, those that are there now. */
void tm_accessible_name_parts (GtkWidget *widget);

G_END_DECLS
