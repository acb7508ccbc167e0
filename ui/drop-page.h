/* Drop page: what lies over the window while files are dragged over it, and says what a drop would do: one target, or two
 * side by side where the window has a model. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum { TM_DROP_OPEN, TM_DROP_COMPARE, TM_N_DROPS } TmDrop;

#define TM_TYPE_DROP_PAGE (tm_drop_page_get_type ())
G_DECLARE_FINAL_TYPE (TmDropPage, tm_drop_page, TM, DROP_PAGE, GtkWidget)

GtkWidget *tm_drop_page_new (void);
/* open: what opening would do. */
void tm_drop_page_offer (TmDropPage *page, const char *open, gboolean compare);
/* Which target a point of the page is on; it is lit up. */
TmDrop tm_drop_page_point (TmDropPage *page, double x, double y);

G_END_DECLS
