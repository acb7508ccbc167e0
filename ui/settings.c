#include "ui/settings.h"

#include <gio/gio.h>

static char *
settings_path (void)
{
  return g_build_filename (g_get_user_config_dir (), "tensormorph", "settings.ini", NULL);
}

/* Read anew every time: another instance may have written it. It is a page long and read on human events only. */
static GKeyFile *
load (void)
{
  g_autofree char *path = settings_path ();
  GKeyFile *file = g_key_file_new ();

  g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL);
  return file;
}

static void
save (GKeyFile *file)
{
  g_autofree char *path = settings_path ();
  g_autofree char *folder = g_path_get_dirname (path);

  if (g_mkdir_with_parents (folder, 0700) == 0)
    g_key_file_save_to_file (file, path, NULL);
}

int
tm_settings_get_int (const char *group, const char *key, int fallback)
{
  g_autoptr (GKeyFile) file = load ();
  g_autoptr (GError) error = NULL;
  int value = g_key_file_get_integer (file, group, key, &error);

  return error ? fallback : value;
}

void
tm_settings_set_int (const char *group, const char *key, int value)
{
  g_autoptr (GKeyFile) file = load ();

  g_key_file_set_integer (file, group, key, value);
  save (file);
}

char *
tm_settings_get_string (const char *group, const char *key, const char *fallback)
{
  g_autoptr (GKeyFile) file = load ();
  char *value = g_key_file_get_string (file, group, key, NULL);

  return value ? value : g_strdup (fallback);
}

void
tm_settings_set_string (const char *group, const char *key, const char *value)
{
  g_autoptr (GKeyFile) file = load ();

  g_key_file_set_string (file, group, key, value);
  save (file);
}

/* --- Recent ------------------------------------------------------------------------------------------------------ */

static void
recent_free (gpointer data)
{
  TmRecent *recent = data;

  g_free (recent->path);
  g_free (recent->note);
  g_free (recent);
}

static GPtrArray *
recent_read (GKeyFile *file)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (recent_free);

  for (guint i = 0; i < TM_MAX_RECENT; i++)
    {
      g_autofree char *group = g_strdup_printf ("recent %u", i);
      /* Paths are bytes, key files are UTF-8: they are kept as URIs. */
      g_autofree char *uri = g_key_file_get_string (file, group, "uri", NULL);
      g_autofree char *path = uri ? g_filename_from_uri (uri, NULL, NULL) : NULL;
      TmRecent *recent;

      if (!path)
        continue;
      recent = g_new0 (TmRecent, 1);
      recent->path = g_steal_pointer (&path);
      recent->note = g_key_file_get_string (file, group, "note", NULL);
      g_ptr_array_add (list, recent);
    }
  return list;
}

GPtrArray *
tm_recent_list (void)
{
  g_autoptr (GKeyFile) file = load ();
  GPtrArray *list = recent_read (file);

  for (guint i = list->len; i-- > 0;)
    if (!g_file_test (((TmRecent *) g_ptr_array_index (list, i))->path, G_FILE_TEST_EXISTS))
      g_ptr_array_remove_index (list, i);
  return list;
}

static void
recent_write (GKeyFile *file, GPtrArray *list)
{
  for (guint i = 0; i < TM_MAX_RECENT; i++)
    {
      g_autofree char *group = g_strdup_printf ("recent %u", i);
      TmRecent *recent = i < list->len ? g_ptr_array_index (list, i) : NULL;
      g_autofree char *uri = recent ? g_filename_to_uri (recent->path, NULL, NULL) : NULL;

      g_key_file_remove_group (file, group, NULL);
      if (!uri)
        continue;
      g_key_file_set_string (file, group, "uri", uri);
      if (recent->note)
        g_key_file_set_string (file, group, "note", recent->note);
    }
  save (file);
}

void
tm_recent_add (const char *path, const char *note)
{
  g_autoptr (GKeyFile) file = load ();
  g_autoptr (GPtrArray) list = recent_read (file);
  TmRecent *recent = g_new0 (TmRecent, 1);

  recent->path = g_canonicalize_filename (path, NULL);
  recent->note = g_strdup (note);
  for (guint i = list->len; i-- > 0;)
    if (g_str_equal (((TmRecent *) g_ptr_array_index (list, i))->path, recent->path))
      g_ptr_array_remove_index (list, i);
  g_ptr_array_insert (list, 0, recent);
  recent_write (file, list);
}

void
tm_recent_clear (void)
{
  g_autoptr (GKeyFile) file = load ();
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  recent_write (file, list);
}
