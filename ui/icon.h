/* Icons that no icon theme has, and the program's own: drawn, so that nothing has to be installed or loaded. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum { TM_ICON_LOGO, TM_ICON_BOUNDARIES, TM_ICON_OVERLAY, TM_ICON_COMPARE, TM_ICON_OUTLINER, TM_ICON_INSPECTOR } TmIconKind;

#define TM_TYPE_ICON (tm_icon_get_type ())
G_DECLARE_FINAL_TYPE (TmIcon, tm_icon, TM, ICON, GObject)

/* Symbolic ones take the text's colour in a GtkImage; the logo has its own colours. */
GdkPaintable *tm_icon_new (TmIconKind kind, int size);

G_END_DECLS
