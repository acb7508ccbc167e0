/* Window: header bar, outliner, canvas, inspector, status line, banner; one document. */
#pragma once

#include "ui/application.h"

G_BEGIN_DECLS

#define TM_TYPE_WINDOW (tm_window_get_type ())
G_DECLARE_FINAL_TYPE (TmWindow, tm_window, TM, WINDOW, GtkApplicationWindow)

GtkWidget *tm_window_new (TmApplication *application);
TmDocument *tm_window_get_document (TmWindow *window);

/* No model, and none being opened: the next file may come here. */
gboolean tm_window_is_free (TmWindow *window);
/* Opens a model here if the window is free, else in a window of its own. Failures go to this window's banner. */
void tm_window_open (TmWindow *window, const char *path);
/* Several at once: shards of one set are one model, others get a window each. */
void tm_window_open_all (TmWindow *window, GPtrArray *paths);
void tm_window_show_problem (TmWindow *window, const char *message);

G_END_DECLS
