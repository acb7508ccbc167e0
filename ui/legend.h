/* Legend: what colours and lines mean on the canvas, with numbers. Real widgets that wrap into rows where space is short. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

GtkWidget *tm_legend_bar_new (TmDocument *document);
/* After a frame; NULL hides it. Cheap when nothing changed. */
void tm_legend_bar_update (GtkWidget *bar, const TmLegend *legend);
/* The least width up to width that needs no more rows than width does. */
int tm_legend_bar_tighten (GtkWidget *bar, int width);

G_END_DECLS
