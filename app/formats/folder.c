/* safetensors sets: a folder, an index, or the files beside one shard (formats/safetensors.md, section 4). */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "formats/beside.h"
#include "formats/readers.h"
#include "formats/safetensors.h"
#include "formats/shard-index.h"
#include "io/error.h"
#include "io/text.h"

#define SUFFIX ".safetensors"
#define INDEX_SUFFIX ".safetensors.index.json"

/* One shard, read apart from the others. */
typedef struct
{
  const char *name;
  guint n_indexed; /* tensors that the index sends there */
  TmBeside beside;
  TmModel *part;   /* NULL: it could not be read */
  GError *error;
} Shard;

typedef struct
{
  TmModel *model;
  Shard *shards;
  guint n_shards;
  const char *folder;
  TmSource *opened;     /* what the person opened, or NULL: it may be a link to anywhere */
  GCancellable *cancellable;
  GHashTable *metadata; /* "key\0value" taken so far */
  guint n_read;
  char *first_fault;    /* why the first unusable shard is so */
} Set;

static void
set_clear (Set *set)
{
  for (guint i = 0; i < set->n_shards; i++)
    {
      g_clear_pointer (&set->shards[i].part, g_object_unref);
      g_clear_error (&set->shards[i].error);
    }
  g_free (set->shards);
  g_hash_table_unref (set->metadata);
  g_free (set->first_fault);
}

/* Every shard repeats the same few entries: one of each is enough. */
static void
take_metadata (Set *set, TmModel *part)
{
  for (guint i = 0; i < part->metadata->len; i++)
    {
      TmMetadata *entry = g_ptr_array_index (part->metadata, i);
      GBytes *pair;
      GByteArray *bytes = g_byte_array_new ();

      g_byte_array_append (bytes, (const guint8 *) entry->key, (guint) entry->key_length + 1);
      g_byte_array_append (bytes, (const guint8 *) entry->string, (guint) entry->string_length);
      pair = g_byte_array_free_to_bytes (bytes);
      if (!g_hash_table_add (set->metadata, pair) && set->n_read > 0)
        continue;
      g_ptr_array_add (set->model->metadata, entry);
      part->metadata->pdata[i] = NULL;
    }
}

/* On any thread. */
static void
read_shard (gpointer data, gpointer user_data)
{
  Shard *shard = data;
  const Set *set = user_data;
  g_autofree char *path = NULL;
  g_autoptr (TmSource) source = NULL;
  g_autoptr (TmModel) part = NULL;

  shard->beside = tm_beside_resolve (set->folder, shard->name, &path);
  if (shard->n_indexed > 0 && strchr (shard->name, '\\') != NULL) /* a path, to those who wrote the index elsewhere */
    shard->beside = TM_BESIDE_UNSAFE_NAME;
  if (set->opened != NULL && strcmp (shard->name, tm_source_get_name (set->opened)) == 0)
    {
      source = tm_source_ref (set->opened);
      shard->beside = TM_BESIDE_OK;
    }
  if (shard->beside != TM_BESIDE_OK)
    return;
  if (source == NULL)
    source = tm_source_open (path, &shard->error);
  part = tm_model_new (shard->name);
  if (source != NULL && tm_kind_check (source, &shard->error)
      && tm_safetensors_read (source, part, set->cancellable, &shard->error))
    shard->part = g_steal_pointer (&part);
}

/* Shards know nothing of each other: their headers are read side by side, and taken in their order. n_indexed: NULL without
 * an index. */
static void
read_shards (Set *set, GPtrArray *names, const guint *n_indexed)
{
  GThreadPool *pool;

  set->n_shards = names->len;
  set->shards = g_new0 (Shard, MAX (names->len, 1));
  pool = g_thread_pool_new (read_shard, set, (gint) MIN (g_get_num_processors (), 8), FALSE, NULL);
  for (guint i = 0; i < names->len; i++)
    {
      set->shards[i].name = g_ptr_array_index (names, i);
      set->shards[i].n_indexed = n_indexed != NULL ? n_indexed[i] : 0;
      g_thread_pool_push (pool, &set->shards[i], NULL);
    }
  g_thread_pool_free (pool, FALSE, TRUE);
}

/* The part of one shard, or NULL and the reason as a problem, which goes to fault too. */
static TmModel *
take_shard (Set *set, guint number, char **fault)
{
  Shard *shard = &set->shards[number];
  const char *code;

  if (shard->part != NULL)
    {
      take_metadata (set, shard->part);
      set->n_read++;
      return g_steal_pointer (&shard->part);
    }

  g_autofree char *escaped = tm_text_escape (shard->name, -1);
  g_autofree char *holds = shard->n_indexed == 1 ? g_strdup (" (1 tensor)")
                          : shard->n_indexed > 1 ? g_strdup_printf (" (%u tensors)", shard->n_indexed) : g_strdup ("");
  switch (shard->beside)
    {
    case TM_BESIDE_MISSING:
      code = "missing-shard";
      *fault = g_strdup_printf ("shard \"%s\"%s is missing", escaped, holds);
      break;
    case TM_BESIDE_UNSAFE_NAME:
      code = "unsafe-shard-name";
      *fault = g_strdup_printf ("shard name \"%s\"%s is not a plain file name and is not opened", escaped, holds);
      break;
    case TM_BESIDE_OUTSIDE:
      code = "unsafe-shard-name";
      *fault = g_strdup_printf ("shard \"%s\"%s is a link that leaves the folder and is not opened", escaped, holds);
      break;
    case TM_BESIDE_OK:
    default:
      code = "shard-unreadable";
      *fault = g_strdup_printf ("shard \"%s\"%s cannot be read: %s", escaped, holds, shard->error->message);
      break;
    }
  tm_model_add_file_problem (set->model, code, shard->beside == TM_BESIDE_UNSAFE_NAME ? NULL : shard->name, "%s", *fault);
  if (set->first_fault == NULL)
    set->first_fault = g_strdup (*fault);
  return NULL;
}

static void
set_init (Set *set, TmModel *model, const char *folder, TmSource *opened, GCancellable *cancellable)
{
  memset (set, 0, sizeof *set);
  set->model = model;
  set->folder = folder;
  set->opened = opened;
  set->cancellable = cancellable;
  set->metadata = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
}

/* Whether anything could be read, and the rest of what a set has. */
static gboolean
finish (Set *set, guint n_shards, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (set->cancellable, error))
    return FALSE;
  if (set->n_read == 0 && n_shards > 0)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "none of its %u shards can be opened: %s", n_shards, set->first_fault);
      return FALSE;
    }
  g_free (set->model->format);
  g_free (set->model->byte_order);
  set->model->format = g_strdup ("safetensors");
  set->model->byte_order = g_strdup ("little");
  tm_config_read (set->folder, set->model);
  return TRUE;
}

/* --- With an index -------------------------------------------------------------------------------------------------- */

static void
add_absent (TmModel *model, const char *name, const char *fault)
{
  TmStored *stored = tm_stored_new (name, strlen (name));

  stored->fault = g_strdup (fault);
  g_ptr_array_add (model->stored, stored);
}

/* Where the index has each of a shard's tensors: found. FALSE if a name may stand twice in the shard. */
static gboolean
find_indexed (const TmShardIndex *index, guint shard, const TmModel *part, guint *found, guint *last_shard)
{
  guint guess = 0, n_unknown = 0;
  gboolean distinct = TRUE;

  for (guint i = 0; i < part->stored->len; i++)
    {
      const guint place = tm_shard_index_find (index, tm_model_stored (part, i)->name, guess);

      found[i] = place;
      if (place == TM_NO_NUMBER)
        {
          n_unknown++;
          continue;
        }
      distinct = distinct && last_shard[place] != shard + 1;
      last_shard[place] = shard + 1;
      guess = place + 1;
    }
  return distinct && n_unknown <= 1;
}

/* Sorts a shard's tensors: those the index sends there, those it does not know, and those it sends elsewhere, which come
 * after all others so that the bare name is the one the index means. */
static void
take_indexed (Set *set, TmShardIndex *index, guint shard, TmModel *part, guint *last_shard, gboolean *seen, GPtrArray *elsewhere,
              guint64 *total)
{
  TmModel *model = set->model;
  TmSource *source = g_ptr_array_index (part->files, 0);
  GPtrArray *stored_array = part->stored;
  g_autofree guint *found = g_new (guint, MAX (part->stored->len, 1));

  if (!find_indexed (index, shard, part, found, last_shard))
    tm_model_report_duplicates (part);
  part->stored = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_stored_free);
  tm_model_take_part (model, part);
  for (guint i = 0; i < stored_array->len; i++)
    {
      TmStored *stored = g_ptr_array_index (stored_array, i);
      const TmIndexed *item = found[i] != TM_NO_NUMBER ? &g_array_index (index->tensors, TmIndexed, found[i]) : NULL;

      if (item == NULL)
        tm_model_add_problem (model, TM_SEVERITY_WARNING, "not-in-index", source, TM_NO_OFFSET, stored->name,
                              "tensor \"%s\" is in this shard but not in the index", stored->name);
      else if (item->shard != shard)
        {
          tm_model_add_problem (model, TM_SEVERITY_WARNING, "in-two-shards", source, TM_NO_OFFSET, stored->name,
                                "tensor \"%s\": the index says it is in another shard (%s); the bare name is that one", stored->name,
                                (const char *) g_ptr_array_index (index->shards, item->shard));
          g_ptr_array_add (elsewhere, stored);
          continue;
        }
      else
        seen[found[i]] = TRUE;
      if (__builtin_add_overflow (*total, stored->bytes, total))
        *total = G_MAXUINT64;
      g_ptr_array_add (model->stored, stored);
    }
  g_ptr_array_set_free_func (stored_array, NULL);
  g_ptr_array_unref (stored_array);
}

/* Whether the index sends anything into one of the shards that are here. */
static gboolean
names_any (const TmShardIndex *index, const GPtrArray *shards)
{
  g_autoptr (GHashTable) here = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < shards->len; i++)
    g_hash_table_add (here, g_ptr_array_index (shards, i));
  for (guint i = 0; i < index->shards->len; i++)
    if (g_hash_table_contains (here, g_ptr_array_index (index->shards, i)))
      return TRUE;
  return FALSE;
}

/* Shards in the folder that the index does not name are left alone, and that is said once. */
static void
report_unlisted (TmModel *model, const char *folder, const TmShardIndex *index, TmSource *index_source)
{
  g_autoptr (GPtrArray) shards = tm_beside_list (folder, SUFFIX);
  g_autoptr (GHashTable) listed = g_hash_table_new (g_str_hash, g_str_equal);
  const char *first = NULL;
  guint n = 0;

  for (guint i = 0; i < index->shards->len; i++)
    g_hash_table_add (listed, g_ptr_array_index (index->shards, i));
  for (guint i = 0; i < shards->len; i++)
    if (!g_hash_table_contains (listed, g_ptr_array_index (shards, i)))
      {
        first = first != NULL ? first : g_ptr_array_index (shards, i);
        n++;
      }
  if (n > 0)
    {
      g_autofree char *name = tm_text_escape (first, -1);
      g_autofree char *others = n > 1 ? g_strdup_printf (" and %u more", n - 1) : g_strdup ("");

      tm_model_add_problem (model, TM_SEVERITY_NOTE, "unlisted-shard", index_source, TM_NO_OFFSET, NULL,
                            "\"%s\"%s in the folder %s not in the index and %s not opened", name, others, n > 1 ? "are" : "is",
                            n > 1 ? "are" : "is");
    }
}

static gboolean
read_indexed (const char *folder, TmSource *opened, TmSource *index_source, TmShardIndex *index, TmModel *model,
              GCancellable *cancellable, GError **error)
{
  guint n_shards = index->shards->len, n_tensors = index->tensors->len;
  g_autofree guint *n_indexed = g_new0 (guint, MAX (n_shards, 1));
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (n_tensors, 1));
  g_autofree guint *last_shard = g_new0 (guint, MAX (n_tensors, 1)); /* the last shard that had the name, + 1 */
  g_autoptr (GPtrArray) faults = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) elsewhere = g_ptr_array_new ();
  guint64 total = 0;
  gboolean ok;
  Set set;

  for (guint i = 0; i < n_tensors; i++)
    n_indexed[g_array_index (index->tensors, TmIndexed, i).shard]++;
  set_init (&set, model, folder, opened, cancellable);
  read_shards (&set, index->shards, n_indexed);
  for (guint shard = 0; shard < n_shards; shard++)
    {
      char *fault = NULL;
      g_autoptr (TmModel) part = take_shard (&set, shard, &fault);

      g_ptr_array_add (faults, fault);
      if (part != NULL)
        take_indexed (&set, index, shard, part, last_shard, seen, elsewhere, &total);
      if (g_cancellable_is_cancelled (cancellable))
        break;
    }
  for (guint i = 0; i < n_tensors && faults->len == n_shards; i++)
    {
      const TmIndexed *item = &g_array_index (index->tensors, TmIndexed, i);
      const char *fault = g_ptr_array_index (faults, item->shard);

      if (seen[i])
        continue;
      if (fault == NULL)
        {
          g_autofree char *lacking = g_strdup_printf ("tensor \"%s\": the index says it is in %s, which does not hold it", item->name,
                                                      (const char *) g_ptr_array_index (index->shards, item->shard));

          tm_model_add_problem (model, TM_SEVERITY_ERROR, "not-in-shard", index_source, TM_NO_OFFSET, item->name, "%s", lacking);
          add_absent (model, item->name, lacking);
        }
      else
        add_absent (model, item->name, fault);
    }
  for (guint i = 0; i < elsewhere->len; i++)
    g_ptr_array_add (model->stored, g_ptr_array_index (elsewhere, i));
  if (index->has_total && set.n_read == n_shards && total != index->total)
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "total-size", index_source, TM_NO_OFFSET, NULL,
                          "the index says %" G_GUINT64_FORMAT " bytes in all, the shards hold %" G_GUINT64_FORMAT, index->total, total);
  ok = finish (&set, n_shards, error);
  if (ok)
    report_unlisted (model, folder, index, index_source);
  set_clear (&set);
  return ok;
}

/* --- Without ---------------------------------------------------------------------------------------------------------- */

/* Numbered parts that are not among the names. */
static void
report_missing_parts (TmModel *model, GPtrArray *names)
{
  g_autoptr (GHashTable) here = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) sets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < names->len; i++)
    g_hash_table_add (here, g_ptr_array_index (names, i));
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *prefix = NULL;
      guint number, count;

      if (!tm_beside_parse_part (g_ptr_array_index (names, i), SUFFIX, &prefix, &number, &count)
          || !g_hash_table_add (sets, g_strdup_printf ("%05u%s", count, prefix)))
        continue;
      for (number = 1; number <= count; number++)
        {
          g_autofree char *name = tm_beside_format_part (prefix, number, count, SUFFIX);

          if (!g_hash_table_contains (here, name))
            tm_model_add_file_problem (model, "missing-shard", name, "shard %u of %u is missing: %s", number, count, name);
        }
    }
}

static gboolean
read_names (const char *folder, TmSource *opened, GPtrArray *names, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmNameTable) seen = tm_name_table_new (0); /* names → file numbers */
  gboolean ok;
  Set set;

  set_init (&set, model, folder, opened, cancellable);
  report_missing_parts (model, names);
  read_shards (&set, names, NULL);
  for (guint i = 0; i < names->len && !g_cancellable_is_cancelled (cancellable); i++)
    {
      g_autofree char *fault = NULL;
      g_autoptr (TmModel) part = take_shard (&set, i, &fault);

      if (part == NULL)
        continue;
      tm_model_report_duplicates (part);
      for (guint j = 0; j < part->stored->len; j++)
        {
          TmStored *stored = tm_model_stored (part, j);
          guint before = tm_name_table_add (seen, stored->name, strlen (stored->name), i);

          if (before != TM_NO_NUMBER && before != i)
            tm_model_add_problem (model, TM_SEVERITY_WARNING, "in-two-shards", stored->source, TM_NO_OFFSET, stored->name,
                                  "tensor \"%s\" is in %s too; the bare name is that one", stored->name,
                                  (const char *) g_ptr_array_index (names, before));
        }
      tm_model_take_part (model, part);
    }
  ok = finish (&set, names->len, error);
  set_clear (&set);
  return ok;
}

/* --- Ways in ---------------------------------------------------------------------------------------------------------- */

static TmShardIndex *
open_index (const char *folder, const char *name, TmSource **source, GCancellable *cancellable, GError **error)
{
  g_autofree char *path = NULL;
  TmBeside beside = tm_beside_resolve (folder, name, &path);

  *source = NULL;
  if (beside == TM_BESIDE_OUTSIDE)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_KIND, "shard index: a link that leaves the folder");
      return NULL;
    }
  if (path == NULL || (*source = tm_source_open (path, error)) == NULL)
    {
      g_prefix_error (error, "shard index: ");
      return NULL;
    }
  return tm_shard_index_read (*source, cancellable, error);
}

gboolean
tm_index_file_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (TmSource) source = tm_source_open (path, error);
  g_autoptr (TmShardIndex) index = NULL;

  if (source == NULL)
    return FALSE;
  index = tm_shard_index_read (source, cancellable, error);
  if (index == NULL)
    {
      g_autoptr (GPtrArray) shards = tm_beside_list (folder, SUFFIX);

      if (shards->len > 0 && error != NULL && *error != NULL)
        {
          g_autofree char *message = g_strdup_printf ("%s; the %u shards beside it can be opened without it", (*error)->message, shards->len);
          GError *longer = g_error_new_literal ((*error)->domain, (*error)->code, message);

          g_clear_error (error);
          g_propagate_error (error, longer);
        }
      return FALSE;
    }
  return read_indexed (folder, NULL, source, index, model, cancellable, error);
}

/* The parts of one split set have one prefix and count: opening the first opens all. */
static gboolean
read_gguf_folder (const char *path, GPtrArray *names, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autofree char *first_prefix = NULL;
  g_autofree char *name = NULL;
  g_autoptr (TmSource) source = NULL;
  guint number, count, first_count = 0;
  gboolean one = tm_beside_parse_part (g_ptr_array_index (names, 0), ".gguf", &first_prefix, &number, &first_count) || names->len == 1;

  for (guint i = 1; i < names->len && one; i++)
    {
      g_autofree char *prefix = NULL;

      one = tm_beside_parse_part (g_ptr_array_index (names, i), ".gguf", &prefix, &number, &count) && count == first_count
            && strcmp (prefix, first_prefix) == 0;
    }
  if (!one)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_KIND, "a folder with %u GGUF files; open one of them", names->len);
      return FALSE;
    }
  switch (tm_beside_resolve (path, g_ptr_array_index (names, 0), &name))
    {
    case TM_BESIDE_OK:
      source = tm_source_open (name, error);
      return source != NULL && tm_split_read (source, model, cancellable, error);
    case TM_BESIDE_OUTSIDE:
    case TM_BESIDE_MISSING:
    case TM_BESIDE_UNSAFE_NAME:
    default:
      g_set_error (error, TM_ERROR, TM_ERROR_KIND, "its GGUF file is a link that leads nowhere or leaves the folder");
      return FALSE;
    }
}

gboolean
tm_folder_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) indices = tm_beside_list (path, INDEX_SUFFIX);
  g_autoptr (GPtrArray) shards = tm_beside_list (path, SUFFIX);
  g_autoptr (GPtrArray) gguf = NULL;
  DIR *dir;

  if (indices->len > 0)
    {
      const char *name = g_ptr_array_index (indices, 0);
      g_autoptr (GError) fault = NULL;
      g_autoptr (TmSource) source = NULL;
      g_autoptr (TmShardIndex) index = NULL;

      for (guint i = 1; i < indices->len; i++) /* variants ("model.fp16…") stand beside the plain one */
        if (strcmp (g_ptr_array_index (indices, i), "model" INDEX_SUFFIX) == 0)
          name = g_ptr_array_index (indices, i);
      index = open_index (path, name, &source, cancellable, &fault);
      if (indices->len > 1)
        {
          tm_model_add_problem (model, TM_SEVERITY_NOTE, "several-indices", source, TM_NO_OFFSET, NULL,
                                "the folder has %u shard indices; this is the one that is followed", indices->len);
        }
      if (index != NULL && (shards->len == 0 || names_any (index, shards)))
        return read_indexed (path, NULL, source, index, model, cancellable, error);
      if (index != NULL)
        g_set_error (&fault, TM_ERROR, TM_ERROR_FORMAT, "shard index: it names none of the %u shards in the folder", shards->len);
      if (shards->len == 0 || g_error_matches (fault, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_propagate_error (error, g_steal_pointer (&fault));
          return FALSE;
        }
      tm_model_add_file_problem (model, "index-unreadable", name, "%s; the shards are opened without it",
                                 fault != NULL ? fault->message : "the index cannot be opened");
    }
  if (shards->len > 0)
    return read_names (path, NULL, shards, model, cancellable, error);
  gguf = tm_beside_list (path, ".gguf");
  if (gguf->len > 0)
    return read_gguf_folder (path, gguf, model, cancellable, error);
  dir = opendir (path);
  if (dir == NULL)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "the folder cannot be listed: %s", g_strerror (errno));
      return FALSE;
    }
  closedir (dir);
  g_set_error_literal (error, TM_ERROR, TM_ERROR_KIND, "a folder without a model: no safetensors and no GGUF file is in it");
  return FALSE;
}

gboolean
tm_shard_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error)
{
  const char *own = tm_source_get_name (source);
  g_autofree char *folder = g_path_get_dirname (tm_source_get_path (source));
  g_autoptr (GPtrArray) indices = tm_beside_list (folder, INDEX_SUFFIX);
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *prefix = NULL;
  guint number, count;

  for (guint i = 0; i < indices->len; i++)
    {
      g_autoptr (GError) fault = NULL;
      g_autoptr (TmSource) index_source = NULL;
      g_autoptr (TmShardIndex) index = open_index (folder, g_ptr_array_index (indices, i), &index_source, cancellable, &fault);

      if (index == NULL)
        tm_model_add_file_problem (model, "index-unreadable", g_ptr_array_index (indices, i), "%s; the shards are opened without it",
                                   fault != NULL ? fault->message : "the index cannot be opened");
      else if (g_ptr_array_find_with_equal_func (index->shards, own, g_str_equal, NULL))
        return read_indexed (folder, source, index_source, index, model, cancellable, error);
    }

  names = g_ptr_array_new_with_free_func (g_free);
  if (tm_beside_parse_part (own, SUFFIX, &prefix, &number, &count) && count > 1)
    {
      g_autoptr (GPtrArray) all = tm_beside_list (folder, SUFFIX);

      for (guint i = 0; i < all->len; i++)
        {
          g_autofree char *other = NULL;
          guint other_count;

          if (tm_beside_parse_part (g_ptr_array_index (all, i), SUFFIX, &other, &number, &other_count) && other_count == count
              && strcmp (other, prefix) == 0)
            g_ptr_array_add (names, g_strdup (g_ptr_array_index (all, i)));
        }
    }
  if (names->len > 0)
    return read_names (folder, source, names, model, cancellable, error);
  if (!tm_safetensors_read (source, model, cancellable, error))
    return FALSE;
  tm_model_report_duplicates (model);
  tm_config_read (folder, model);
  return TRUE;
}
