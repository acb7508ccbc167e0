/* Appearance: light or dark, and the accent colour. Follows the desktop's settings portal where there is one, else GTK's
 * dark preference; the person may set it. One for the process; emits "changed". */
#pragma once

#include <gtk/gtk.h>

#include "view/scene.h"

G_BEGIN_DECLS

#define TM_TYPE_APPEARANCE (tm_appearance_get_type ())
G_DECLARE_FINAL_TYPE (TmAppearance, tm_appearance, TM, APPEARANCE, GObject)

TmAppearance *tm_appearance_new (void); /* after GTK is initialised; asks the portal without waiting */
gboolean tm_appearance_get_dark (TmAppearance *appearance);
TmColor tm_appearance_get_accent (TmAppearance *appearance); /* 0: none told */
/* "system", "light", "dark"; kept in the settings. */
const char *tm_appearance_get_choice (TmAppearance *appearance);
void tm_appearance_set_choice (TmAppearance *appearance, const char *choice);

G_END_DECLS
