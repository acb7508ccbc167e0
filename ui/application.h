/* Application: one process, its windows, what its command line chose, app.* actions. */
#pragma once

#include <gtk/gtk.h>

#include "ui/appearance.h"
#include "ui/widgets.h"

G_BEGIN_DECLS

#define TM_APPLICATION_ID "org.tensormorph.Tensormorph"
#define TM_RESOURCES "/org/tensormorph/Tensormorph/"

#define TM_TYPE_APPLICATION (tm_application_get_type ())
G_DECLARE_FINAL_TYPE (TmApplication, tm_application, TM, APPLICATION, GtkApplication)

/* new_instance: a process of its own even if there is one already. */
TmApplication *tm_application_new (TmRenderer renderer, gboolean new_instance);
TmRenderer tm_application_get_renderer (TmApplication *application);
TmAppearance *tm_application_get_appearance (TmApplication *application);
void tm_application_recent_changed (TmApplication *application); /* every window's list */

G_END_DECLS
