/* Banner: what stops something, in bars under the header: each can be copied and dismissed, the rest of the window stays
 * as it is. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define TM_TYPE_BANNER (tm_banner_get_type ())
G_DECLARE_FINAL_TYPE (TmBanner, tm_banner, TM, BANNER, GtkWidget)

/* message is text, not markup; it is escaped here. The same message is not shown twice. */
void tm_banner_show (TmBanner *banner, const char *message);
void tm_banner_clear (TmBanner *banner);

G_END_DECLS
