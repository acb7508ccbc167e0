/* Drop page: what lies over the window while files are dragged over it, and says what a drop would do. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *tm_drop_page_new (void);
void tm_drop_page_set_text (GtkWidget *page, const char *title, const char *text);

G_END_DECLS
