#include "ui/file-set.h"

#include <string.h>

#define INDEX_SUFFIX ".safetensors.index.json"

/* "dir/model-00002-of-00003.gguf" → "dir/model|3.gguf", NULL if it is no shard's name. */
static char *
shard_key (const char *path)
{
  const char *dot = strrchr (path, '.');
  gsize stem;

  if (!dot || !(g_str_equal (dot, ".gguf") || g_str_equal (dot, ".safetensors")))
    return NULL;
  stem = (gsize) (dot - path);
  if (stem < 15) /* "-00001-of-00003" */
    return NULL;
  stem -= 15;
  for (guint i = 0; i < 15; i++)
    {
      char pattern = "-00000-of-00000"[i];
      char c = path[stem + i];

      if (pattern == '0' ? !g_ascii_isdigit (c) : c != pattern)
        return NULL;
    }
  return g_strdup_printf ("%.*s|%.5s%s", (int) stem, path, path + stem + 10, dot);
}

/* An index stands for the shards beside it whose names begin like its own. */
static gboolean
is_of_index (GPtrArray *paths, const char *path)
{
  if (!g_str_has_suffix (path, ".safetensors"))
    return FALSE;
  for (guint i = 0; i < paths->len; i++)
    {
      const char *index = g_ptr_array_index (paths, i);

      if (g_str_has_suffix (index, INDEX_SUFFIX)
          && strncmp (index, path, strlen (index) - strlen (INDEX_SUFFIX)) == 0
          && !strchr (path + strlen (index) - strlen (INDEX_SUFFIX), '/'))
        return TRUE;
    }
  return FALSE;
}

GPtrArray *
tm_file_set_group (GPtrArray *paths)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *models = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = g_ptr_array_index (paths, i);
      char *key;

      if (is_of_index (paths, path))
        continue;
      key = shard_key (path);
      if (g_hash_table_add (seen, key ? key : g_strdup (path)))
        g_ptr_array_add (models, g_strdup (path));
    }
  return models;
}
