/* Feeds golden files to a fuzz target: cut at every length, and with every byte of the header altered in several ways.
 * Bounded in time: what does not fit is left out at even steps. Each input is a block of its own size, so that a sanitizer
 * sees a read past its end. */
#include <string.h>

#include <glib.h>

#include "fuzz.h"

#ifndef FUZZ_FOLDERS
#error "FUZZ_FOLDERS: golden folders, separated by colons"
#endif

#define SECONDS_PER_FILE_SET 6
#define LARGEST (128 * 1024)

static void
feed (const guint8 *data, gsize size)
{
  guint8 *copy = g_malloc (MAX (size, 1));

  memcpy (copy, data, size);
  LLVMFuzzerTestOneInput (copy, size);
  g_free (copy);
}

static guint
replay (const char *path, gint64 until)
{
  static const guint8 masks[] = { 0xff, 0x01, 0x80, 0x20 };
  g_autofree char *text = NULL;
  guint8 *data;
  gsize size, header;
  guint n = 0;

  if (!g_file_get_contents (path, &text, &size, NULL) || size > LARGEST)
    return 0;
  data = (guint8 *) text;
  header = MIN (size, 4096);
  feed (data, size);
  for (gsize length = 0; length < header && g_get_monotonic_time () < until; length++, n++)
    feed (data, length);
  for (gsize at = 0; at < header && g_get_monotonic_time () < until; at++)
    for (guint i = 0; i < G_N_ELEMENTS (masks); i++, n++)
      {
        data[at] ^= masks[i];
        feed (data, size);
        data[at] ^= masks[i];
      }
  return n;
}

static void
collect (const char *folder, GPtrArray *paths)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        {
          collect (path, paths);
          g_free (path);
        }
      else if (g_str_has_suffix (name, FUZZ_SUFFIX))
        g_ptr_array_add (paths, path);
      else
        g_free (path);
    }
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
test_replay (void)
{
  g_auto (GStrv) folders = g_strsplit (FUZZ_FOLDERS, ":", -1);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  gint64 start = g_get_monotonic_time ();
  guint n = 0;

  for (guint i = 0; folders[i] != NULL; i++)
    {
      g_autofree char *folder = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", folders[i], NULL);

      collect (folder, paths);
    }
  g_assert_cmpuint (paths->len, >, 0);
  g_ptr_array_sort (paths, compare);
  for (guint i = 0; i < paths->len; i++) /* every file gets its share of the time */
    n += replay (g_ptr_array_index (paths, i), start + (i + 1) * SECONDS_PER_FILE_SET * G_USEC_PER_SEC / paths->len);
  g_test_message ("%u inputs from %u files", n, paths->len);
  g_assert_cmpuint (n, >, 1000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fuzz/replay", test_replay);
  return g_test_run ();
}
