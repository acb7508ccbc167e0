/* Tiles that are there: a hash of plain keys, bounded in bytes, least recently used out first, top levels last of all.
 * Main thread only. Internal to the tiles. */
#pragma once

#include "view/tiles.h"

G_BEGIN_DECLS

/* Texels are shared with jobs that merge them: an atomic box (g_atomic_rc_box_acquire, _release), never written again. */
typedef struct
{
  TmTile tile; /* what painters see */
  gsize bytes;
  guint64 frame; /* last frame it was asked for */
  gboolean pinned;
  GList link;
} TmTileEntry;

typedef struct
{
  GHashTable *entries; /* &entry->tile.key → TmTileEntry */
  GQueue recent, pinned; /* most recent first */
  gsize bytes, max_bytes;
  guint64 frame;
} TmTileCache;

guint tm_tile_key_hash (gconstpointer key);
gboolean tm_tile_key_equal (gconstpointer a, gconstpointer b);

void tm_tile_cache_init (TmTileCache *cache, gsize max_bytes);
void tm_tile_cache_clear (TmTileCache *cache);
TmTileEntry *tm_tile_cache_find (TmTileCache *cache, const TmTileKey *key);
/* Asked for in this frame: not evicted before the next one begins. */
void tm_tile_cache_touch (TmTileCache *cache, TmTileEntry *entry);
/* Bytes that height rows of texels count. */
gsize tm_tile_cache_get_cost (guint height);
/* Takes texels. Replaces in place what the key had. FALSE (and nothing taken in) where tiles of this frame fill the cache. */
gboolean tm_tile_cache_put (TmTileCache *cache, const TmTileKey *key, TmTileState state, float *texels, guint width,
                            guint height, const char *message, gboolean pinned);

G_END_DECLS
