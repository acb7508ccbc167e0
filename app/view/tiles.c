/* See tiles.h. What is asked for, what is there, and what is on its way; all on the main thread. */
#include "view/tiles.h"

#include "view/tile-cache.h"
#include "view/tile-schedule.h"

struct _TmTiles
{
  TmModel *model;
  TmTileCache cache;
  TmJobQueue *queue;
  GHashTable *jobs;   /* &job->key → TmJob: tiles on their way, own references */
  GHashTable *ranges; /* &range->key → Range */
  GHashTable *refused; /* keys that found no room; not tried again before the screen needs less */
  gsize frame_bytes;  /* of what this frame asked for */
  guint pending_ranges;
  double last_ms;
  void (*changed) (gpointer);
  gpointer data;
};

typedef struct
{
  TmTileKey key; /* tensor and quantity */
  gboolean known;
  float range;
  gboolean failed;
  float set; /* above 0: stands in its place */
} Range;

static void on_jobs_done (GPtrArray *jobs, gpointer data);

TmTiles *
tm_tiles_new (TmModel *model, gsize max_bytes, void (*changed) (gpointer), gpointer data)
{
  TmTiles *tiles = g_new0 (TmTiles, 1);

  tiles->model = g_object_ref (model);
  tm_tile_cache_init (&tiles->cache, max_bytes);
  tiles->queue = tm_job_queue_new (MAX (g_get_num_processors (), 2) - 1, on_jobs_done, tiles);
  tiles->jobs = g_hash_table_new_full (tm_tile_key_hash, tm_tile_key_equal, NULL, (GDestroyNotify) tm_job_unref);
  tiles->ranges = g_hash_table_new_full (tm_tile_key_hash, tm_tile_key_equal, NULL, g_free);
  tiles->refused = g_hash_table_new_full (tm_tile_key_hash, tm_tile_key_equal, g_free, NULL);
  tiles->changed = changed;
  tiles->data = data;
  return tiles;
}

void
tm_tiles_free (TmTiles *tiles)
{
  if (!tiles)
    return;
  tm_job_queue_close (tiles->queue);
  g_hash_table_unref (tiles->jobs);
  g_hash_table_unref (tiles->ranges);
  g_hash_table_unref (tiles->refused);
  tm_tile_cache_clear (&tiles->cache);
  g_object_unref (tiles->model);
  g_free (tiles);
}

/* --- Jobs ----------------------------------------------------------------------------------------------------------- */

/* The four finer tiles, when they are all there and exact. */
static gboolean
job_take_children (TmTiles *tiles, TmJob *job)
{
  TmTileEntry *entry[4] = { NULL };
  guint n = 0;

  if (job->key.reduce != TM_REDUCE_LARGEST || job->key.level == 0)
    return FALSE;
  for (guint i = 0; i < 4; i++)
    {
      TmTileKey key = job->key;
      guint width, height;
      guint64 elements;

      key.level--;
      key.column = 2 * key.column + i % 2;
      key.row = 2 * key.row + i / 2;
      if (!tm_tile_measure (&job->sheet, &key, &width, &height, &elements))
        continue;
      entry[i] = tm_tile_cache_find (&tiles->cache, &key);
      if (!entry[i] || entry[i]->tile.state != TM_TILE_EXACT)
        return FALSE;
      n++;
    }
  for (guint i = 0; i < 4; i++)
    if (entry[i])
      {
        job->child[i] = g_atomic_rc_box_acquire (entry[i]->tile.texels);
        job->child_width[i] = entry[i]->tile.width;
        job->child_height[i] = entry[i]->tile.height;
      }
  return n > 0;
}

static void
start_job (TmTiles *tiles, const TmTileKey *key, const TmSheet *sheet, guint64 elements, gboolean sampled_is_there,
           guint64 frame, int priority)
{
  TmJob *job = tm_job_new (tiles->model, tm_model_tensor (tiles->model, key->tensor), key, sheet);

  job->merge = job_take_children (tiles, job);
  job->exact = job->merge || sampled_is_there || elements <= TM_TILE_CHEAP;
  job->costly = job->exact && !job->merge && elements > TM_TILE_CHEAP;
  job->frame = frame;
  job->priority = priority;
  g_hash_table_insert (tiles->jobs, &job->key, job);
  tm_job_queue_push (tiles->queue, job);
}

/* Asks for a tile unless it is exact, failed, or on its way. */
static void
request (TmTiles *tiles, const TmTileKey *key, const TmSheet *sheet, gboolean sample_will_do, int priority)
{
  TmTileEntry *entry = tm_tile_cache_find (&tiles->cache, key);
  TmJob *job = g_hash_table_lookup (tiles->jobs, key);
  guint width, height;
  guint64 elements;

  if (entry && (entry->tile.state != TM_TILE_SAMPLED || sample_will_do))
    return;
  if (job)
    {
      if (job->frame != tiles->cache.frame && !entry)
        tiles->frame_bytes += tm_tile_cache_get_cost (TM_TILE);
      job->frame = tiles->cache.frame;
      tm_job_queue_set_priority (tiles->queue, job, priority);
      return;
    }
  if (!tm_tile_measure (sheet, key, &width, &height, &elements))
    return;
  if (!entry)
    {
      gsize cost = tm_tile_cache_get_cost (height);

      /* More than fits is not begun: it would push out what is on the screen and come back at the next frame. */
      if (tiles->frame_bytes + cost > tiles->cache.max_bytes || g_hash_table_contains (tiles->refused, key))
        return;
      tiles->frame_bytes += cost;
    }
  start_job (tiles, key, sheet, elements, entry != NULL, tiles->cache.frame, priority);
}

static gboolean
is_top (const TmSheet *sheet, const TmTileKey *key)
{
  return key->level >= tm_tile_get_top_level (sheet);
}

static void
take_tile (TmTiles *tiles, TmJob *job)
{
  gboolean pinned = is_top (&job->sheet, &job->key), taken;

  /* The table's reference is the job's: the array keeps another. */
  if (g_hash_table_lookup (tiles->jobs, &job->key) == job)
    g_hash_table_remove (tiles->jobs, &job->key);
  tiles->last_ms = job->ms;
  if (job->error)
    {
      tm_tile_cache_put (&tiles->cache, &job->key, TM_TILE_FAILED, NULL, 0, 0, job->error->message, pinned);
      return;
    }
  taken = tm_tile_cache_put (&tiles->cache, &job->key, job->exact ? TM_TILE_EXACT : TM_TILE_SAMPLED,
                             g_steal_pointer (&job->texels), job->width, job->height, NULL, pinned);
  if (!taken)
    g_hash_table_add (tiles->refused, g_memdup2 (&job->key, sizeof job->key));
  /* A sample that was wanted for itself, not only to fill holes, is made exact. */
  if (taken && !job->exact && job->frame == tiles->cache.frame && job->priority != G_MININT)
    {
      guint width, height;
      guint64 elements;

      if (tm_tile_measure (&job->sheet, &job->key, &width, &height, &elements))
        start_job (tiles, &job->key, &job->sheet, elements, TRUE, job->frame, job->priority);
    }
}

static void
take_range (TmTiles *tiles, TmJob *job)
{
  Range *range = g_hash_table_lookup (tiles->ranges, &job->key);

  tiles->pending_ranges--;
  range->known = TRUE;
  range->failed = job->error != NULL;
  range->range = job->error ? 0 : job->range;
}

static void
on_jobs_done (GPtrArray *jobs, gpointer data)
{
  TmTiles *tiles = data;

  for (guint i = 0; i < jobs->len; i++)
    {
      TmJob *job = g_ptr_array_index (jobs, i);

      if (job->kind == TM_JOB_RANGE)
        take_range (tiles, job);
      else
        take_tile (tiles, job);
    }
  if (jobs->len && tiles->changed)
    tiles->changed (tiles->data);
}

/* --- A frame -------------------------------------------------------------------------------------------------------- */

void
tm_tiles_begin (TmTiles *tiles)
{
  if (tiles->frame_bytes + tm_tile_cache_get_cost (TM_TILE) <= tiles->cache.max_bytes)
    g_hash_table_remove_all (tiles->refused);
  tiles->cache.frame++;
  tiles->frame_bytes = 0;
}

static void
touch (TmTiles *tiles, TmTileEntry *entry)
{
  if (entry->frame != tiles->cache.frame)
    tiles->frame_bytes += entry->bytes;
  tm_tile_cache_touch (&tiles->cache, entry);
}

static TmTileEntry *
find_ancestor (TmTiles *tiles, const TmTileKey *key, guint top)
{
  TmTileKey above = *key;

  while (above.level < top)
    {
      TmTileEntry *entry;

      above.level++;
      above.column >>= 1;
      above.row >>= 1;
      entry = tm_tile_cache_find (&tiles->cache, &above);
      if (entry && entry->tile.texels)
        return entry;
    }
  return NULL;
}

/* A tensor that is known to be at fault fails without a job. */
static TmTileEntry *
fail_at_once (TmTiles *tiles, const TmTileKey *key)
{
  const TmTensor *tensor = tm_model_tensor (tiles->model, key->tensor);

  if (tm_tensor_is_readable (tensor)
      || !tm_tile_cache_put (&tiles->cache, key, TM_TILE_FAILED, NULL, 0, 0,
                             tensor->fault != NULL ? tensor->fault : "no decoder for this dtype", FALSE))
    return NULL;
  return tm_tile_cache_find (&tiles->cache, key);
}

const TmTile *
tm_tiles_want (TmTiles *tiles, const TmTileKey *key, const TmSheet *sheet, int priority)
{
  guint top = tm_tile_get_top_level (sheet), width, height;
  TmTileEntry *entry, *above;
  guint64 elements;

  if (key->tensor >= tiles->model->tensors->len || key->quantity >= TM_N_QUANTITIES
      || !tm_tile_measure (sheet, key, &width, &height, &elements))
    return NULL;
  entry = tm_tile_cache_find (&tiles->cache, key);
  if (!entry)
    entry = fail_at_once (tiles, key);
  if (entry)
    {
      touch (tiles, entry);
      request (tiles, key, sheet, FALSE, MAX (priority, G_MININT + 1));
      return &entry->tile;
    }

  above = find_ancestor (tiles, key, top);
  if (above)
    touch (tiles, above);
  else if (key->level < top)
    {
      /* One sample of the whole pane fills every hole of it at once. */
      TmTileKey whole = { key->tensor, key->quantity, key->reduce, (guint8) top, key->pane, 0, 0, key->sorted };

      request (tiles, &whole, sheet, TRUE, G_MININT);
    }
  request (tiles, key, sheet, FALSE, MAX (priority, G_MININT + 1));
  return above ? &above->tile : NULL;
}

void
tm_tiles_end (TmTiles *tiles)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, tiles->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      TmJob *job = value;

      if (job->frame == tiles->cache.frame)
        continue;
      tm_job_queue_cancel (tiles->queue, job);
      g_hash_table_iter_remove (&iter);
    }
}

/* --- Questions ------------------------------------------------------------------------------------------------------ */

void
tm_tiles_set_range (TmTiles *tiles, guint tensor, TmQuantity quantity, float set)
{
  TmTileKey key = { .tensor = tensor, .quantity = (guint8) quantity };
  Range *range;
  float found;

  tm_tiles_get_range (tiles, tensor, quantity, &found); /* makes the entry */
  range = g_hash_table_lookup (tiles->ranges, &key);
  if (range)
    range->set = set;
}

gboolean
tm_tiles_range_failed (TmTiles *tiles, guint tensor, TmQuantity quantity)
{
  TmTileKey key = { .tensor = tensor, .quantity = (guint8) quantity };
  const Range *range = g_hash_table_lookup (tiles->ranges, &key);

  return range && range->failed;
}

gboolean
tm_tiles_get_range (TmTiles *tiles, guint tensor, TmQuantity quantity, float *result)
{
  TmTileKey key = { .tensor = tensor, .quantity = (guint8) quantity };
  Range *range = g_hash_table_lookup (tiles->ranges, &key);
  TmJob *job;

  if (range && range->set > 0)
    {
      *result = range->set;
      return TRUE;
    }
  if (range && range->known)
    {
      *result = range->range;
      return TRUE;
    }
  if (range || tensor >= tiles->model->tensors->len)
    return FALSE;
  range = g_new0 (Range, 1);
  range->key = key;
  g_hash_table_insert (tiles->ranges, &range->key, range);
  job = tm_job_new (tiles->model, tm_model_tensor (tiles->model, tensor), &key, NULL);
  job->kind = TM_JOB_RANGE;
  job->priority = G_MININT;
  tm_job_queue_push (tiles->queue, job);
  tm_job_unref (job);
  tiles->pending_ranges++;
  return FALSE;
}

guint
tm_tiles_count_pending (TmTiles *tiles)
{
  return g_hash_table_size (tiles->jobs) + tiles->pending_ranges;
}

gboolean
tm_tiles_are_waited_for (gpointer unused)
{
  return tm_job_queues_count_urgent () > 0;
}

gsize
tm_tiles_get_bytes (TmTiles *tiles)
{
  return tiles->cache.bytes;
}

double
tm_tiles_get_last_ms (TmTiles *tiles)
{
  return tiles->last_ms;
}
