/* Empty page: what to do in a window without a model. Its buttons are the window's actions. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define TM_TYPE_EMPTY_PAGE (tm_empty_page_get_type ())
G_DECLARE_FINAL_TYPE (TmEmptyPage, tm_empty_page, TM, EMPTY_PAGE, GtkWidget)

GtkWidget *tm_empty_page_new (void);
void tm_empty_page_refresh (TmEmptyPage *page); /* the recent models */

G_END_DECLS
