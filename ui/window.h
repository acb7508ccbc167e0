/* Window: header bar, outliner, canvas, inspector, status line, banner; one document. */
#pragma once

#include "ui/application.h"

G_BEGIN_DECLS

#define TM_TYPE_WINDOW (tm_window_get_type ())
G_DECLARE_FINAL_TYPE (TmWindow, tm_window, TM, WINDOW, GtkApplicationWindow)

GtkWidget *tm_window_new (TmApplication *application);

G_END_DECLS
