/* Panes: outliner, canvas and inspector side by side with handles between; in a narrow window the canvas has it all and
 * the side panels slide in over it. (GtkPaned cannot: it never gets narrower than its children together.) */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define TM_NARROW_WIDTH 760

#define TM_TYPE_PANES (tm_panes_get_type ())
G_DECLARE_FINAL_TYPE (TmPanes, tm_panes, TM, PANES, GtkWidget)

typedef enum { TM_SIDE_START, TM_SIDE_END, TM_N_SIDES } TmSide;

/* Emits "changed" when a panel is shown or hidden or the panes become narrow or wide. */
GtkWidget *tm_panes_new (GtkWidget *start, GtkWidget *centre, GtkWidget *end);
gboolean tm_panes_get_narrow (TmPanes *panes);
gboolean tm_panes_get_shown (TmPanes *panes, TmSide side);
void tm_panes_set_shown (TmPanes *panes, TmSide side, gboolean shown);
int tm_panes_get_width (TmPanes *panes, TmSide side); /* as the person set it, whether it is shown or not */
void tm_panes_set_width (TmPanes *panes, TmSide side, int width);
/* Moves the focus to what follows a panel on the way to the canvas: its handle, or the canvas. */
gboolean tm_panes_focus_beyond (TmPanes *panes, TmSide side);

G_END_DECLS
