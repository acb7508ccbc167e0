/* The bytes of a packing card as a grid: a colour a field, the scalar's own bytes in full colour and outlined, its own bits
 * marked along the lower edge of each. Hover names the field, the offset and the bits. */
#pragma once

#include <gtk/gtk.h>

#include "view/packing-card.h"
#include "view/scene.h"

G_BEGIN_DECLS

/* One run of a card, of which the widget keeps a reference. */
GtkWidget *tm_packing_view_new (TmPackingCard *card, guint run, const TmTheme *theme);
TmColor tm_packing_color (const TmTheme *theme, const TmPackingLegend *entry);

G_END_DECLS
