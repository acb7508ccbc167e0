#include "formats/beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/error.h"

static gboolean
is_inside (const char *path, const char *folder)
{
  gsize length = strlen (folder);

  if (length > 0 && folder[length - 1] == '/') /* the root */
    return g_str_has_prefix (path, folder);
  return strncmp (path, folder, length) == 0 && path[length] == '/';
}

/* The nearest parent that holds both "snapshots" and "blobs": the root of one model in a hub cache. */
static char *
find_cache_root (const char *folder)
{
  g_autofree char *at = g_canonicalize_filename (folder, NULL);

  for (;;)
    {
      g_autofree char *snapshots = g_build_filename (at, "snapshots", NULL);
      g_autofree char *blobs = g_build_filename (at, "blobs", NULL);
      char *parent;

      if (g_file_test (snapshots, G_FILE_TEST_IS_DIR) && g_file_test (blobs, G_FILE_TEST_IS_DIR))
        return g_steal_pointer (&at);
      parent = g_path_get_dirname (at);
      if (strcmp (parent, at) == 0)
        {
          g_free (parent);
          return NULL;
        }
      g_free (at);
      at = parent;
    }
}

TmBeside
tm_beside_resolve (const char *folder, const char *name, char **path)
{
  g_autofree char *full = NULL;
  g_autofree char *root = NULL;
  char *real = NULL, *real_folder = NULL, *real_root = NULL;
  gboolean inside;

  *path = NULL;
  if (*name == '\0' || strcmp (name, ".") == 0 || strcmp (name, "..") == 0 || strchr (name, '/') != NULL)
    return TM_BESIDE_UNSAFE_NAME;
  full = g_build_filename (folder, name, NULL);
  real = realpath (full, NULL);
  if (real == NULL)
    {
      *path = g_steal_pointer (&full);
      return TM_BESIDE_MISSING;
    }
  real_folder = realpath (folder, NULL);
  inside = real_folder != NULL && is_inside (real, real_folder);
  if (!inside && (root = find_cache_root (folder)) != NULL)
    {
      real_root = realpath (root, NULL);
      inside = real_root != NULL && is_inside (real, real_root);
    }
  free (real);
  free (real_folder);
  free (real_root);
  if (!inside)
    return TM_BESIDE_OUTSIDE;
  *path = g_steal_pointer (&full);
  return TM_BESIDE_OK;
}

TmBeside
tm_beside_read (const char *folder, const char *name, guint limit, TmSource **source, char **text, gsize *length, GError **error)
{
  g_autofree char *path = NULL;
  const TmBeside beside = tm_beside_resolve (folder, name, &path);
  guint64 size;

  *source = NULL;
  *text = NULL;
  *length = 0;
  if (beside != TM_BESIDE_OK || (*source = tm_source_open (path, error)) == NULL)
    return beside;
  size = tm_source_get_size (*source);
  if (size > limit)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT, "%" G_GUINT64_FORMAT " bytes are over the limit of %u", size, limit);
      return beside;
    }
  *length = (gsize) size;
  *text = g_malloc (*length + 1);
  (*text)[*length] = '\0';
  if (!tm_source_read (*source, 0, *text, *length, error))
    g_clear_pointer (text, g_free);
  return beside;
}

static gboolean
read_five (const char *text, guint *number)
{
  *number = 0;
  for (int i = 0; i < 5; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return FALSE;
      *number = *number * 10 + (guint) (text[i] - '0');
    }
  return TRUE;
}

gboolean
tm_beside_parse_part (const char *name, const char *suffix, char **prefix, guint *number, guint *count)
{
  const gsize tail = strlen ("-00001-of-00002");
  gsize length = strlen (name), end = strlen (suffix);
  const char *part;

  if (length < tail + end || !g_str_has_suffix (name, suffix))
    return FALSE;
  part = name + length - end - tail;
  if (part[0] != '-' || !read_five (part + 1, number) || memcmp (part + 6, "-of-", 4) != 0 || !read_five (part + 10, count)
      || *number < 1 || *number > *count)
    return FALSE;
  *prefix = g_strndup (name, (gsize) (part - name));
  return TRUE;
}

char *
tm_beside_format_part (const char *prefix, guint number, guint count, const char *suffix)
{
  return g_strdup_printf ("%s-%05u-of-%05u%s", prefix, number, count, suffix);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
tm_beside_list (const char *folder, const char *suffix)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (dir == NULL)
    return names;
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, suffix))
      g_ptr_array_add (names, g_strdup (name));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_names);
  return names;
}
