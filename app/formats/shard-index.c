#include "formats/shard-index.h"

#include <string.h>

#include "formats/readers.h"
#include "io/error.h"
#include "io/json.h"

#define SHORT_ITEM 64 /* bytes of text that a tensor takes, at least in models that have many */

#define TENSOR(index, i) (&g_array_index ((index)->tensors, TmIndexed, (i)))

void
tm_shard_index_free (TmShardIndex *index)
{
  g_ptr_array_unref (index->shards);
  g_clear_pointer (&index->by_name, tm_name_table_free);
  g_array_unref (index->tensors);
  g_free (index->text);
  g_free (index);
}

guint
tm_shard_index_find (const TmShardIndex *index, const char *name, guint guess)
{
  guint low = 0, high = index->tensors->len;

  /* shards have their tensors in the index's order, or nearly so */
  if (guess < high && strcmp (TENSOR (index, guess)->name, name) == 0)
    return guess;
  if (index->by_name != NULL)
    return tm_name_table_find (index->by_name, name, strlen (name));
  while (low < high)
    {
      const guint middle = low + (high - low) / 2;
      const int order = strcmp (name, TENSOR (index, middle)->name);

      if (order == 0)
        return middle;
      if (order < 0)
        high = middle;
      else
        low = middle + 1;
    }
  return TM_NO_NUMBER;
}

static const char *
name_at (gconstpointer tensors, guint i)
{
  return g_array_index ((const GArray *) tensors, TmIndexed, i).name;
}

static void
note_first (guint i, guint number, gpointer data)
{
  guint *first = data;

  *first = MIN (*first, i);
}

/* After the tensors are read, or what there is of them: enters the names and fails at the first that stands before it. Where they
 * are sorted, as most writers have them, none is entered. */
static gboolean
check_names (TmShardIndex *index, TmJson *json)
{
  const guint n = index->tensors->len;
  guint sorted = 1, first = G_MAXUINT;

  while (sorted < n && strcmp (TENSOR (index, sorted - 1)->name, TENSOR (index, sorted)->name) < 0)
    sorted++;
  if (sorted >= n)
    return TRUE;
  index->by_name = tm_name_table_new (n);
  tm_name_table_add_all (index->by_name, n, name_at, index->tensors, note_first, &first);
  if (first == G_MAXUINT)
    return TRUE;
  g_clear_error (&json->error); /* what came first in the text is told */
  json->start = (gsize) (TENSOR (index, first)->name - index->text);
  return tm_json_fail (json, "a tensor name stands twice in weight_map");
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

/* The last token as a name, in the index's own text. */
static const char *
take_name (TmShardIndex *index, const TmJson *json, gsize *length)
{
  char *name = tm_json_take_string (json, index->text, length);

  /* NUL inside: written as six bytes, kept as two (see tm_name_from_bytes()) */
  if (json->escaped && memchr (name, '\0', *length) != NULL)
    {
      g_autofree char *longer = tm_name_from_bytes (g_memdup2 (name, *length + 1), *length);

      *length = strlen (longer);
      memcpy (name, longer, *length + 1);
    }
  return name;
}

static gboolean
read_map (TmShardIndex *index, TmJson *json, GHashTable *shards)
{
  guint before = 0; /* the last tensor's shard */

  if (tm_json_next (json) != TM_JSON_OBJECT)
    return json->error == NULL ? tm_json_fail (json, "weight_map is not an object") : FALSE;
  while (tm_json_next (json) == TM_JSON_KEY)
    {
      gsize length;
      TmIndexed item = { .name = take_name (index, json, &length) };
      const char *shard;
      gpointer found;

      g_array_append_val (index->tensors, item);
      if (tm_json_next (json) != TM_JSON_STRING)
        return json->error == NULL ? tm_json_fail (json, "a shard name in weight_map is not a string") : FALSE;
      /* most often that of the tensor before */
      if (index->shards->len == 0 || !tm_json_string_equals (json, g_ptr_array_index (index->shards, before)))
        {
          shard = take_name (index, json, &length);
          found = g_hash_table_lookup (shards, shard);
          if (found == NULL)
            {
              g_ptr_array_add (index->shards, (gpointer) shard);
              found = GUINT_TO_POINTER (index->shards->len);
              g_hash_table_insert (shards, (gpointer) shard, found);
            }
          before = GPOINTER_TO_UINT (found) - 1;
        }
      TENSOR (index, index->tensors->len - 1)->shard = before;
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
          const gboolean read = read_map (index, json, shards);

          if (!check_names (index, json) || !read)
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
  char *text;
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
  index = g_new0 (TmShardIndex, 1);
  index->text = text;
  index->shards = g_ptr_array_new ();
  index->tensors = g_array_sized_new (FALSE, FALSE, sizeof (TmIndexed), (guint) (size / SHORT_ITEM));
  if (!tm_source_read (source, 0, text, (gsize) size, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  tm_json_init (&json, text, (gsize) size, 0);
  if (!read_index (index, &json))
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&json.error), "shard index: ");
      return NULL;
    }
  return g_steal_pointer (&index);
}
