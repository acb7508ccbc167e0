/* Cards and rows of the inspector. Every value is a label that can be selected, with a copy button beside it. All texts
 * are plain, never markup; callers escape what comes from a file. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *tm_card_new (GtkWidget *parent, const char *title); /* a titled card appended to a vertical box; returns its inner box */
/* key left, value right; tooltip may be NULL. Returns the value's label. */
GtkWidget *tm_card_add_row (GtkWidget *card, const char *key, const char *value, const char *tooltip);
GtkWidget *tm_card_add_text (GtkWidget *card, const char *text, gboolean monospace);
/* A large value with a caption over and details under it. */
GtkWidget *tm_card_new_big (GtkWidget *parent, const char *caption, const char *value, const char *details,
                            const char *tooltip, gboolean accent);
/* Bar of a share 0 … 1 with a label left and a text right. */
GtkWidget *tm_card_add_bar (GtkWidget *card, GtkWidget *label, double share, const char *text, const GdkRGBA *color);
void tm_copy_text (GtkWidget *widget, const char *text);

/* A part that is closed at first: the box for what it shows. The expander is its parent while it is open. */
GtkWidget *tm_expander_new (GtkWidget *box, const char *title, GtkWidget **expander);

G_END_DECLS
