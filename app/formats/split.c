/* Split GGUF files: every part is a GGUF file, the set is the model (formats/ggml.md, 5.3). */
#include <string.h>

#include "formats/beside.h"
#include "formats/readers.h"

typedef struct
{
  TmModel *model;
  char *prefix;
  guint number, count;       /* as the name of the opened file has them */
  guint64 said_tensors;      /* split.tensors.count of the first part that has it; G_MAXUINT64 if none */
  guint n_read;
  GHashTable *names;         /* tensor name → part number of its first */
  GHashTable *keys;          /* metadata keys taken so far */
} Set;

/* Whatever integer type a writer chose. */
static gboolean
find_count (TmModel *part, const char *key, guint64 *value)
{
  const TmMetadata *entry = tm_model_find_metadata (part, key);

  if (entry == NULL)
    return FALSE;
  switch ((int) entry->type)
    {
    case TM_META_U8:
    case TM_META_U16:
    case TM_META_U32:
    case TM_META_U64:
      *value = entry->as.u;
      return TRUE;
    case TM_META_I8:
    case TM_META_I16:
    case TM_META_I32:
    case TM_META_I64:
      *value = (guint64) entry->as.i;
      return entry->as.i >= 0;
    default:
      return FALSE;
    }
}

static void
take_metadata (Set *set, TmModel *part)
{
  gboolean first = set->n_read == 0;

  for (guint i = 0; i < part->metadata->len; i++)
    {
      TmMetadata *entry = g_ptr_array_index (part->metadata, i);

      if (!first && (g_str_has_prefix (entry->key, "split.") || g_hash_table_contains (set->keys, entry->key)))
        continue;
      g_hash_table_add (set->keys, entry->key);
      g_ptr_array_add (set->model->metadata, entry);
      part->metadata->pdata[i] = NULL;
    }
  if (set->model->architecture == NULL)
    set->model->architecture = g_steal_pointer (&part->architecture);
  if (set->model->name == NULL)
    set->model->name = g_steal_pointer (&part->name);
}

static void
check_part (Set *set, TmModel *part, guint number)
{
  TmSource *source = g_ptr_array_index (part->files, 0);
  guint64 value;

  if (!find_count (part, "split.count", &value) || value != set->count)
    tm_model_add_problem (part, TM_SEVERITY_ERROR, "split-count", source, TM_NO_OFFSET, NULL,
                          "part %u of %u does not say that the set has %u parts", number, set->count, set->count);
  if (!find_count (part, "split.no", &value) || value != number - 1)
    tm_model_add_problem (part, TM_SEVERITY_ERROR, "split-number", source, TM_NO_OFFSET, NULL,
                          "part %u of %u by its name says another number in split.no", number, set->count);
  if (find_count (part, "split.tensors.count", &value))
    {
      if (set->said_tensors == G_MAXUINT64)
        set->said_tensors = value;
      else if (set->said_tensors != value)
        tm_model_add_problem (part, TM_SEVERITY_ERROR, "split-tensor-count", source, TM_NO_OFFSET, NULL,
                              "part %u of %u says %" G_GUINT64_FORMAT " tensors in all, another part says %" G_GUINT64_FORMAT, number,
                              set->count, value, set->said_tensors);
    }
  else
    tm_model_add_problem (part, TM_SEVERITY_WARNING, "split-tensor-count", source, TM_NO_OFFSET, NULL,
                          "part %u of %u does not say how many tensors the set has", number, set->count);
  for (guint i = 0; i < part->stored->len; i++)
    {
      TmStored *stored = tm_model_stored (part, i);
      guint before = GPOINTER_TO_UINT (g_hash_table_lookup (set->names, stored->name));

      if (before == 0)
        g_hash_table_insert (set->names, stored->name, GUINT_TO_POINTER (number));
      else if (before != number)
        tm_model_add_problem (part, TM_SEVERITY_ERROR, "duplicate-name", source, TM_NO_OFFSET, stored->name,
                              "tensor \"%s\" is in part %u and in part %u; the bare name is the first", stored->name, before, number);
    }
}

static void
add_part (Set *set, TmModel *part, guint number)
{
  TmModel *model = set->model;

  check_part (set, part, number);
  if (model->format == NULL)
    {
      model->format = g_strdup (part->format);
      model->version = g_strdup (part->version);
      model->byte_order = g_strdup (part->byte_order);
    }
  take_metadata (set, part);
  tm_model_take_part (model, part);
  set->n_read++;
}

static TmModel *
read_other_part (Set *set, const char *folder, guint number, GCancellable *cancellable)
{
  g_autofree char *name = tm_beside_format_part (set->prefix, number, set->count, ".gguf");
  g_autofree char *path = NULL;
  g_autoptr (TmSource) source = NULL;
  g_autoptr (TmModel) part = NULL;
  g_autoptr (GError) error = NULL;
  TmBeside beside = tm_beside_resolve (folder, name, &path);

  if (beside == TM_BESIDE_MISSING)
    {
      tm_model_add_file_problem (set->model, "missing-shard", name, "part %u of %u is missing: %s", number, set->count, name);
      return NULL;
    }
  if (beside != TM_BESIDE_OK)
    {
      tm_model_add_file_problem (set->model, "unsafe-shard-name", name, "part %u of %u is a link that leaves the folder: %s", number,
                                 set->count, name);
      return NULL;
    }
  part = tm_model_new (path);
  source = tm_source_open (path, &error);
  if (source == NULL || !tm_gguf_read (source, part, cancellable, &error))
    {
      tm_model_add_file_problem (set->model, "shard-unreadable", name, "part %u of %u (%s) cannot be read: %s", number, set->count, name,
                                 error->message);
      return NULL;
    }
  return g_steal_pointer (&part);
}

static void
adopt_whole (TmModel *model, TmModel *part)
{
  model->format = g_steal_pointer (&part->format);
  model->version = g_steal_pointer (&part->version);
  model->byte_order = g_steal_pointer (&part->byte_order);
  model->architecture = g_steal_pointer (&part->architecture);
  model->name = g_steal_pointer (&part->name);
  g_ptr_array_extend_and_steal (model->metadata, g_steal_pointer (&part->metadata));
  part->metadata = g_ptr_array_new ();
  tm_model_take_part (model, part);
}

static gboolean
has_sibling (const Set *set, const char *folder)
{
  gboolean found = FALSE;

  for (guint number = 1; number <= set->count && !found; number++)
    if (number != set->number)
      {
        g_autofree char *name = tm_beside_format_part (set->prefix, number, set->count, ".gguf");
        g_autofree char *path = g_build_filename (folder, name, NULL);

        found = g_file_test (path, G_FILE_TEST_EXISTS);
      }
  return found;
}

gboolean
tm_split_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmModel) opened = tm_model_new (tm_source_get_path (source));
  g_autofree char *folder = g_path_get_dirname (tm_source_get_path (source));
  Set set = { .model = model, .said_tensors = G_MAXUINT64 };
  guint64 said_count;
  gboolean named, said;

  if (!tm_gguf_read (source, opened, cancellable, error))
    return FALSE;
  named = tm_beside_parse_part (tm_source_get_name (source), ".gguf", &set.prefix, &set.number, &set.count) && set.count > 1;
  said = find_count (opened, "split.count", &said_count);
  /* Without the key it is the name alone that speaks of parts: only where there are some. */
  if (!(said && said_count > 1) && !(named && (said || has_sibling (&set, folder))))
    {
      adopt_whole (model, opened);
      g_free (set.prefix);
      return TRUE;
    }
  if (!named)
    {
      tm_model_add_problem (opened, TM_SEVERITY_ERROR, "split-name", source, TM_NO_OFFSET, NULL,
                            "one of %" G_GUINT64_FORMAT " parts, but its name does not say which: the others cannot be found",
                            said_count);
      adopt_whole (model, opened);
      g_free (set.prefix);
      return TRUE;
    }

  set.names = g_hash_table_new (g_str_hash, g_str_equal); /* keys belong to the tensors */
  set.keys = g_hash_table_new (g_str_hash, g_str_equal);  /* and to the entries */
  for (guint number = 1; number <= set.count && !g_cancellable_is_cancelled (cancellable); number++)
    {
      g_autoptr (TmModel) part = number == set.number ? g_object_ref (opened) : read_other_part (&set, folder, number, cancellable);

      if (part != NULL)
        add_part (&set, part, number);
    }
  if (set.n_read == set.count && set.said_tensors != G_MAXUINT64 && set.said_tensors != model->stored->len)
    tm_model_add_problem (model, TM_SEVERITY_ERROR, "split-tensor-count", NULL, TM_NO_OFFSET, NULL,
                          "the parts hold %u tensors, split.tensors.count says %" G_GUINT64_FORMAT, model->stored->len, set.said_tensors);
  g_hash_table_unref (set.names);
  g_hash_table_unref (set.keys);
  g_free (set.prefix);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
