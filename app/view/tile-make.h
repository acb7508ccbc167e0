/* One tile, made on whatever thread calls. Internal to the tiles. */
#pragma once

#include "view/tiles.h"

G_BEGIN_DECLS

/* Elements of a tile up to which nobody samples: the exact pass is as quick. */
#define TM_TILE_CHEAP (1u << 20)

/* Called between chunks of an exact pass, so that a long one lets short work pass. */
typedef void (*TmTileBetween) (gpointer data);

gboolean tm_tile_make_full (const TmTensor *tensor, const TmSheet *sheet, const TmTileKey *key, gboolean exact,
                            float *texels, guint *width, guint *height, TmTileBetween between, gpointer between_data,
                            GCancellable *cancellable, GError **error);

/* Texels in use of a tile; FALSE where the key is outside of the sheet. elements: cells the tile covers. */
gboolean tm_tile_measure (const TmSheet *sheet, const TmTileKey *key, guint *width, guint *height, guint64 *elements);

/* Smallest level at which a pane is one tile. */
guint tm_tile_get_top_level (const TmSheet *sheet);

/* The same tile from its four finer ones (left upper, right upper, left lower, right lower; NULL where the pane ends),
 * bit for bit what the exact pass gives. TM_REDUCE_LARGEST only. */
void tm_tile_merge (const float *const child[4], const guint child_width[4], const guint child_height[4], guint width,
                    guint height, float *texels);

G_END_DECLS
