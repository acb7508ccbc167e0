/* Settings and recent models: kept in the user's folder, harmless when that folder is of no use. */
#include <glib/gstdio.h>

#include "ui/settings.h"

static void
values (void)
{
  g_autofree char *none = tm_settings_get_string ("a", "b", "fallback");
  g_autofree char *set = NULL;

  g_assert_cmpstr (none, ==, "fallback");
  g_assert_cmpint (tm_settings_get_int ("a", "n", 7), ==, 7);
  tm_settings_set_string ("a", "b", "dark");
  tm_settings_set_int ("a", "n", 12);
  set = tm_settings_get_string ("a", "b", "fallback");
  g_assert_cmpstr (set, ==, "dark");
  g_assert_cmpint (tm_settings_get_int ("a", "n", 7), ==, 12);
  tm_settings_set_string ("a", "n", "no number");
  g_assert_cmpint (tm_settings_get_int ("a", "n", 7), ==, 7);
}

static const char *
recent_path (GPtrArray *list, guint i)
{
  return ((TmRecent *) g_ptr_array_index (list, i))->path;
}

static void
recent (void)
{
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-XXXXXX", NULL);
  g_autoptr (GPtrArray) list = NULL, fewer = NULL, none = NULL;
  char *path[12];

  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      /* not UTF-8, with a percent sign: names are bytes */
      g_autofree char *name = g_strdup_printf ("m%%41 \xff %u", i);

      path[i] = g_build_filename (folder, name, NULL);
      g_assert_true (g_file_set_contents (path[i], "x", 1, NULL));
      tm_recent_add (path[i], i == 11 ? "1 B · F32" : NULL);
    }
  tm_recent_add (path[6], NULL);
  list = tm_recent_list ();
  g_assert_cmpuint (list->len, ==, TM_MAX_RECENT);
  g_assert_cmpstr (recent_path (list, 0), ==, path[6]);
  g_assert_cmpstr (recent_path (list, 1), ==, path[11]);
  g_assert_cmpstr (((TmRecent *) g_ptr_array_index (list, 1))->note, ==, "1 B · F32");
  g_assert_cmpstr (recent_path (list, 2), ==, path[10]);
  g_remove (path[11]);
  fewer = tm_recent_list ();
  g_assert_cmpuint (fewer->len, ==, TM_MAX_RECENT - 1);
  g_assert_cmpstr (recent_path (fewer, 1), ==, path[10]);
  tm_recent_clear ();
  none = tm_recent_list ();
  g_assert_cmpuint (none->len, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      g_remove (path[i]);
      g_free (path[i]);
    }
  g_rmdir (folder);
}

static void
unusable (void)
{
  g_autofree char *file = g_build_filename (g_get_user_config_dir (), "tensormorph", "settings.ini", NULL);

  tm_settings_set_int ("a", "n", 5); /* makes the folder */
  g_assert_true (g_file_set_contents (file, "\xff not a key file [", -1, NULL));
  g_assert_cmpint (tm_settings_get_int ("a", "n", 3), ==, 3);
  tm_settings_set_int ("a", "n", 4);
  g_assert_cmpint (tm_settings_get_int ("a", "n", 3), ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  g_test_add_func ("/settings/values", values);
  g_test_add_func ("/settings/recent", recent);
  g_test_add_func ("/settings/unusable", unusable);
  return g_test_run ();
}
