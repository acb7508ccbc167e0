/* Plane: the surface of the canvas, painted by OpenGL or by the CPU. It knows frames, not models: somebody makes the scene
 * when a frame is due, the painter at work draws it.
 *
 * Signal: renderer-changed (char *name, char *why): "OpenGL" or "CPU"; why is NULL or one line ("no OpenGL: …"). */
#pragma once

#include <gtk/gtk.h>

#include "ui/paint/painter.h"
#include "ui/widgets.h"

G_BEGIN_DECLS

#define TM_TYPE_PLANE (tm_plane_get_type ())
G_DECLARE_FINAL_TYPE (TmPlane, tm_plane, TM, PLANE, GtkWidget)

typedef struct
{
  const TmScene *scene;
  const TmTheme *theme;
  TmGlyphs *glyphs;
} TmFrame;

/* Fills frame for a viewport in device pixels; FALSE: nothing to draw yet. */
typedef gboolean (*TmPlaneFrame) (TmPlane *plane, int width, int height, TmFrame *frame, gpointer data);

GtkWidget *tm_plane_new (TmRenderer renderer, TmPlaneFrame make_frame, gpointer data);
/* Something changed: draw once more. The only way to a frame besides the toolkit's own needs. */
void tm_plane_queue_frame (TmPlane *plane);
/* No frame is made after this: what make_frame needs is going away. */
void tm_plane_stop (TmPlane *plane);
/* Device pixels a logical pixel; whole below GTK 4.12. */
double tm_plane_get_scale (TmPlane *plane);
const char *tm_plane_get_renderer (TmPlane *plane, const char **why);

G_END_DECLS
