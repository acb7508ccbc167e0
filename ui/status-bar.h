/* Status bar: left what is under the pointer or the last message, right the running job and the problems. */
#pragma once

#include "ui/document.h"
#include "ui/jobs.h"

G_BEGIN_DECLS

#define TM_TYPE_STATUS_BAR (tm_status_bar_get_type ())
G_DECLARE_FINAL_TYPE (TmStatusBar, tm_status_bar, TM, STATUS_BAR, GtkWidget)

GtkWidget *tm_status_bar_new (TmDocument *document, TmJobs *jobs);
/* Stands until the pointer moves over something, or for a few seconds over one that rests on it. */
void tm_status_bar_set_message (TmStatusBar *bar, const char *message);
/* Stands behind every message; NULL for none: what is worth knowing as long as it is so. */
void tm_status_bar_set_note (TmStatusBar *bar, const char *note);
void tm_status_bar_set_narrow (TmStatusBar *bar, gboolean narrow);
void tm_status_bar_show_problems (TmStatusBar *bar);

G_END_DECLS
