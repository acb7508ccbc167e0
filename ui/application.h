/* Application: one process, its windows, its command line and app.* actions. */
#pragma once

#include <gtk/gtk.h>

#include "ui/widgets.h"

G_BEGIN_DECLS

#define TM_APPLICATION_ID "org.tensormorph.Tensormorph"
#define TM_RESOURCES "/org/tensormorph/Tensormorph/"

#define TM_TYPE_APPLICATION (tm_application_get_type ())
G_DECLARE_FINAL_TYPE (TmApplication, tm_application, TM, APPLICATION, GtkApplication)

GtkApplication *tm_application_new (void);

G_END_DECLS
