/* Strips of an exported picture: a title above, a legend below, as primitives of a scene of their own. */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

/* scene is emptied and filled; scale: device scale of texts. measure as in TmView. */
void tm_title_strip_fill (TmScene *scene, const TmTheme *theme, int width, int height, int scale, const char *title,
                          const char *subtitle, const char *right, TmMeasure measure, gpointer data);
void tm_legend_strip_fill (TmScene *scene, const TmTheme *theme, int width, int height, int scale,
                           const TmLegend *legend, TmOverlay overlay, TmMeasure measure, gpointer data);

G_END_DECLS
