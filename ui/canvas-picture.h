/* The canvas as a file: what it shows now, as PNG or SVG. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* By the path's ending (.svg; else PNG). The file appears whole or not at all. */
gboolean tm_canvas_write_picture (GtkWidget *canvas, const char *path, GError **error);

G_END_DECLS
