/* Swatch of the legend: a colour map, a colour or a line, in the colours of the picture. */
#pragma once

#include <gtk/gtk.h>

#include "view/scene.h"

G_BEGIN_DECLS

#define TM_TYPE_SWATCH (tm_swatch_get_type ())
G_DECLARE_FINAL_TYPE (TmSwatch, tm_swatch, TM, SWATCH, GtkWidget)

typedef enum { TM_SWATCH_DIVERGING, TM_SWATCH_SEQUENTIAL, TM_SWATCH_JUDGEMENT, TM_SWATCH_LINE, TM_SWATCH_FLAT } TmSwatchKind;

GtkWidget *tm_swatch_new (void);
/* Cheap when nothing changed. kind: one of the first three. */
void tm_swatch_set_map (GtkWidget *swatch, TmSwatchKind kind, const TmTheme *theme);
void tm_swatch_set_line (GtkWidget *swatch, int width, const TmTheme *theme); /* width: in px */
/* A single colour; its edge sets it off the legend's ground. */
void tm_swatch_set_flat (GtkWidget *swatch, TmColor color, const TmTheme *theme);

G_END_DECLS
