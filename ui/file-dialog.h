/* The one place that asks for a file or folder: the toolkit's dialog for it has changed since the oldest one supported. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* chosen: called with the paths (local files only), never when the person cancels. data must live as long as parent. */
void tm_file_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                          void (*chosen) (GListModel *files, gpointer data), gpointer data);

/* name: what is proposed. chosen: with the path, never when the person cancels; the person was asked about a file that is
 * there. data must live as long as parent. */
void tm_file_dialog_save (GtkWindow *parent, const char *title, const char *name,
                          void (*chosen) (const char *path, gpointer data), gpointer data);

G_END_DECLS
