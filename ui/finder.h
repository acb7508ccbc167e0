/* Command palette: one entry that finds actions, tensors, modules and addresses. Lies over the window's content. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

#define TM_TYPE_FINDER (tm_finder_get_type ())
G_DECLARE_FINAL_TYPE (TmFinder, tm_finder, TM, FINDER, GtkWidget)

/* activate: called to run a detailed action name. */
GtkWidget *tm_finder_new (TmDocument *document, void (*activate) (const char *action, gpointer data), gpointer data);
void tm_finder_open (TmFinder *palette);
void tm_finder_close (TmFinder *palette);

G_END_DECLS
