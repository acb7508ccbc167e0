/* Support map: how one backend runs each tensor of a model. Looked up on a worker. Main thread. */
#pragma once

#include "analysis/backends.h"
#include "ui/legend-entry.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct _TmSupportMap TmSupportMap;

/* backend −1: the first of those that the table knows most tensors for (processors come last). changed: called on the main
 * context when the map is there. */
TmSupportMap *tm_support_map_new (TmModel *model, gint backend, void (*changed) (gpointer), gpointer data);
void tm_support_map_free (TmSupportMap *map);

const guint *tm_support_map_get_counts (const TmSupportMap *map); /* tensors, by state; all 0 until it is there */
gint tm_support_map_get_backend (const TmSupportMap *map); /* −1 as long as it is not known */
/* NULL until the map is there. Of a folded stack the first block's tensor speaks for the worst of the stack. */
const TmTensorMark *tm_support_map_get_marks (TmSupportMap *map, const TmLayout *layout, const TmTheme *theme);
void tm_support_map_forget_marks (TmSupportMap *map); /* layout or theme changed */
/* An entry a state that a tensor has, with how many; the others are left out. */
guint tm_support_map_list_legend (const TmSupportMap *map, const TmTheme *theme, TmLegendEntry entries[TM_LEGEND_ENTRIES]);

/* "native", "by conversion", "fallback", "not supported", "unknown" */
const char *tm_support_state_get_title (TmSupportState state);
const char *tm_support_state_get_tooltip (TmSupportState state);
/* Every backend, by family, for win.backend. (transfer full) */
GMenuModel *tm_backend_menu_new (void);

G_END_DECLS
