#include "formats/shard-index.h"

#include <string.h>

#include "formats/readers.h"
#include "io/error.h"
#include "io/json.h"

static void
clear_indexed (gpointer data)
{
  g_free (((TmIndexed *) data)->name);
}

void
tm_shard_index_free (TmShardIndex *index)
{
  g_ptr_array_unref (index->shards);
  g_hash_table_unref (index->by_name);
  g_array_unref (index->tensors);
  g_free (index);
}

static gboolean
read_metadata (TmShardIndex *index, TmJson *json)
{
  if (tm_json_next (json) != TM_JSON_OBJECT)
    return tm_json_skip (json);
  while (tm_json_next (json) == TM_JSON_KEY)
    {
      gboolean total = tm_json_string_equals (json, "total_size");

      if (tm_json_next (json) == TM_JSON_ERROR)
        return FALSE;
      if (total)
        index->has_total = tm_json_get_u64 (json, &index->total);
      if (!tm_json_skip (json))
        return FALSE;
    }
  return json->error == NULL;
}

static gboolean
read_map (TmShardIndex *index, TmJson *json, GHashTable *shards)
{
  if (tm_json_next (json) != TM_JSON_OBJECT)
    return json->error == NULL ? tm_json_fail (json, "weight_map is not an object") : FALSE;
  while (tm_json_next (json) == TM_JSON_KEY)
    {
      gsize length;
      char *name = tm_json_dup_string (json, &length);
      TmIndexed item = { .name = tm_name_from_bytes (name, length) };
      g_autofree char *shard = NULL;
      gpointer found;

      g_array_append_val (index->tensors, item);
      if (!g_hash_table_insert (index->by_name, item.name, GUINT_TO_POINTER (index->tensors->len)))
        return tm_json_fail (json, "a tensor name stands twice in weight_map");
      if (tm_json_next (json) != TM_JSON_STRING)
        return json->error == NULL ? tm_json_fail (json, "a shard name in weight_map is not a string") : FALSE;
      shard = tm_json_dup_string (json, &length);
      shard = tm_name_from_bytes (g_steal_pointer (&shard), length);
      found = g_hash_table_lookup (shards, shard);
      if (found == NULL)
        {
          g_ptr_array_add (index->shards, g_steal_pointer (&shard));
          found = GUINT_TO_POINTER (index->shards->len);
          g_hash_table_insert (shards, g_ptr_array_index (index->shards, index->shards->len - 1), found);
        }
      g_array_index (index->tensors, TmIndexed, index->tensors->len - 1).shard = GPOINTER_TO_UINT (found) - 1;
    }
  return json->error == NULL;
}

static gboolean
read_index (TmShardIndex *index, TmJson *json)
{
  g_autoptr (GHashTable) shards = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean has_map = FALSE;

  if (tm_json_next (json) != TM_JSON_OBJECT)
    return json->error == NULL ? tm_json_fail (json, "not an object") : FALSE;
  while (tm_json_next (json) == TM_JSON_KEY)
    {
      if (tm_json_string_equals (json, "weight_map"))
        {
          if (has_map)
            return tm_json_fail (json, "weight_map stands twice");
          has_map = TRUE;
          if (!read_map (index, json, shards))
            return FALSE;
        }
      else if (tm_json_string_equals (json, "metadata"))
        {
          if (!read_metadata (index, json))
            return FALSE;
        }
      else if (tm_json_next (json) == TM_JSON_ERROR || !tm_json_skip (json))
        return FALSE;
    }
  if (json->error == NULL && !has_map)
    return tm_json_fail (json, "no weight_map before the end");
  return json->error == NULL && tm_json_next (json) == TM_JSON_END;
}

TmShardIndex *
tm_shard_index_read (TmSource *source, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmShardIndex) index = NULL;
  g_auto (TmJson) json = { 0 };
  g_autofree char *text = NULL;
  guint64 size = tm_source_get_size (source);

  if (size > TM_MAX_INDEX_FILE)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT, "an index of %" G_GUINT64_FORMAT " bytes is over the limit of %u", size,
                   TM_MAX_INDEX_FILE);
      return NULL;
    }
  text = g_try_malloc ((gsize) size + 1);
  if (text == NULL)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "no memory for an index of %" G_GUINT64_FORMAT " bytes", size);
      return NULL;
    }
  if (!tm_source_read (source, 0, text, (gsize) size, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  index = g_new0 (TmShardIndex, 1);
  index->shards = g_ptr_array_new_with_free_func (g_free);
  index->tensors = g_array_new (FALSE, FALSE, sizeof (TmIndexed));
  g_array_set_clear_func (index->tensors, clear_indexed);
  index->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  tm_json_init (&json, text, (gsize) size, 0);
  if (!read_index (index, &json))
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&json.error), "shard index: ");
      return NULL;
    }
  return g_steal_pointer (&index);
}
