/* SVG: a scene as a vector picture: boxes, lines and text as such, panes of values as images in it. */
#pragma once

#include "ui/paint/painter.h"

G_BEGIN_DECLS

/* (transfer full); NULL with an error where there is no memory for the images. */
GString *tm_svg_from_scene (const TmScene *scene, const TmTheme *theme, int width, int height, GError **error);

G_END_DECLS
