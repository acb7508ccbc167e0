#include "view/tile-cache.h"

#include <string.h>

guint
tm_tile_key_hash (gconstpointer data)
{
  const TmTileKey *key = data;
  guint64 hash = key->tensor;

  hash = hash * 0x9E3779B97F4A7C15u + ((guint64) key->sorted << 24 | (guint64) key->quantity << 16 | (guint64) key->reduce << 8 | key->level);
  hash = hash * 0x9E3779B97F4A7C15u + key->pane;
  hash = hash * 0x9E3779B97F4A7C15u + ((guint64) key->column << 32 | key->row);
  hash *= 0x9E3779B97F4A7C15u;
  return (guint) (hash >> 32);
}

gboolean
tm_tile_key_equal (gconstpointer data_a, gconstpointer data_b)
{
  const TmTileKey *a = data_a, *b = data_b;

  return a->tensor == b->tensor && a->quantity == b->quantity && a->reduce == b->reduce && a->level == b->level
         && a->pane == b->pane && a->column == b->column && a->row == b->row && a->sorted == b->sorted;
}

static GQueue *
queue_of (TmTileCache *cache, const TmTileEntry *entry)
{
  return entry->pinned ? &cache->pinned : &cache->recent;
}

static void
entry_drop_content (TmTileEntry *entry)
{
  g_clear_pointer (&entry->tile.texels, g_atomic_rc_box_release);
  g_clear_pointer (&entry->tile.message, g_free);
}

static void
cache_remove (TmTileCache *cache, TmTileEntry *entry)
{
  g_queue_unlink (queue_of (cache, entry), &entry->link);
  g_hash_table_remove (cache->entries, &entry->tile.key);
  cache->bytes -= entry->bytes;
  entry_drop_content (entry);
  g_free (entry);
}

void
tm_tile_cache_init (TmTileCache *cache, gsize max_bytes)
{
  *cache = (TmTileCache) { .max_bytes = max_bytes };
  cache->entries = g_hash_table_new (tm_tile_key_hash, tm_tile_key_equal);
  g_queue_init (&cache->recent);
  g_queue_init (&cache->pinned);
}

void
tm_tile_cache_clear (TmTileCache *cache)
{
  while (cache->recent.tail)
    cache_remove (cache, cache->recent.tail->data);
  while (cache->pinned.tail)
    cache_remove (cache, cache->pinned.tail->data);
  g_clear_pointer (&cache->entries, g_hash_table_unref);
}

TmTileEntry *
tm_tile_cache_find (TmTileCache *cache, const TmTileKey *key)
{
  return g_hash_table_lookup (cache->entries, key);
}

void
tm_tile_cache_touch (TmTileCache *cache, TmTileEntry *entry)
{
  GQueue *queue = queue_of (cache, entry);

  entry->frame = cache->frame;
  g_queue_unlink (queue, &entry->link);
  g_queue_push_head_link (queue, &entry->link);
}

gsize
tm_tile_cache_get_cost (guint height)
{
  return sizeof (TmTileEntry) + (gsize) height * TM_TILE * sizeof (float);
}

/* The oldest of a queue is asked for in this frame only if all are. */
static gboolean
evict_one (TmTileCache *cache, const TmTileEntry *spared)
{
  GQueue *queues[] = { &cache->recent, &cache->pinned };

  for (gsize i = 0; i < G_N_ELEMENTS (queues); i++)
    for (GList *link = queues[i]->tail; link; link = link->prev)
      {
        TmTileEntry *entry = link->data;

        if (entry->frame == cache->frame)
          break;
        if (entry == spared)
          continue;
        cache_remove (cache, entry);
        return TRUE;
      }
  return FALSE;
}

/* Never twice in a process: a painter may keep what it uploaded while a window goes from one model to another. */
static guint
next_serial (void)
{
  static gint serial;

  return (guint) g_atomic_int_add (&serial, 1) + 1;
}

gboolean
tm_tile_cache_put (TmTileCache *cache, const TmTileKey *key, TmTileState state, float *texels, guint width,
                   guint height, const char *message, gboolean pinned)
{
  TmTileEntry *entry = tm_tile_cache_find (cache, key);
  gsize old = entry ? entry->bytes : 0;
  gsize cost = tm_tile_cache_get_cost (texels ? height : 0) + (message ? strlen (message) : 0);

  while (cache->bytes - old + cost > cache->max_bytes)
    if (!evict_one (cache, entry))
      {
        if (texels)
          g_atomic_rc_box_release (texels);
        return FALSE;
      }
  if (!entry)
    {
      entry = g_new0 (TmTileEntry, 1);
      entry->tile.key = *key;
      entry->pinned = pinned;
      entry->link.data = entry;
      entry->frame = cache->frame;
      g_queue_push_head_link (queue_of (cache, entry), &entry->link);
      g_hash_table_insert (cache->entries, &entry->tile.key, entry);
    }
  entry_drop_content (entry);
  entry->tile.state = state;
  entry->tile.serial = next_serial ();
  entry->tile.texels = texels;
  entry->tile.width = width;
  entry->tile.height = height;
  entry->tile.message = g_strdup (message);
  entry->bytes = cost;
  cache->bytes += cost - old;
  return TRUE;
}
