#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "io/cursor.h"
#include "io/error.h"

static char *
write_numbers (gsize n)
{
  g_autoptr (GError) error = NULL;
  char *path = NULL;
  g_autofree guint8 *data = g_malloc (n);
  int fd = g_file_open_tmp ("tensormorph-XXXXXX", &path, &error);

  g_assert_no_error (error);
  close (fd);
  for (gsize i = 0; i < n; i++)
    data[i] = (guint8) (i * 7 + i / 256);
  g_assert_true (g_file_set_contents (path, (const char *) data, (gssize) n, NULL));
  return path;
}

static void
check_reads (TmSource *source)
{
  g_autoptr (GError) error = NULL;
  guint8 buffer[16];

  g_assert_cmpuint (tm_source_get_size (source), ==, 1000);
  g_assert_true (tm_source_read (source, 990, buffer, 10, &error));
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (buffer[i], ==, (guint8) ((990 + i) * 7 + (990 + i) / 256));
  g_assert_true (tm_source_read (source, 1000, buffer, 0, &error));
  g_assert_false (tm_source_read (source, 995, buffer, 10, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TRUNCATED);
  g_assert_nonnull (strstr (error->message, "byte 1000"));
  g_clear_error (&error);
  g_assert_false (tm_source_read (source, G_MAXUINT64 - 3, buffer, 10, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TRUNCATED);
}

static void
test_file (void)
{
  g_autofree char *path = write_numbers (1000);
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (TmSource) source = tm_source_open (path, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (tm_source_get_path (source), ==, path);
  g_assert_cmpstr (tm_source_get_name (source), ==, name);
  check_reads (source);
  g_unlink (path);
}

static void
test_bytes (void)
{
  g_autofree char *path = write_numbers (1000);
  g_autofree char *text = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (TmSource) source = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  bytes = g_bytes_new (text, length);
  source = tm_source_new_bytes ("folder/name.bin", bytes);
  g_assert_cmpstr (tm_source_get_name (source), ==, "name.bin");
  check_reads (source);
  g_unlink (path);
}

/* A file that is cut while it is open: an error that names the byte, not a signal. */
static void
test_shrinks (void)
{
  g_autofree char *path = write_numbers (1000);
  g_autoptr (GError) error = NULL;
  g_autoptr (TmSource) source = tm_source_open (path, NULL);
  guint8 buffer[600];

  g_assert_cmpint (truncate (path, 700), ==, 0);
  g_assert_true (tm_source_read (source, 100, buffer, 600, &error));
  g_assert_false (tm_source_read (source, 400, buffer, 600, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TRUNCATED);
  g_assert_nonnull (strstr (error->message, "byte 700"));
  g_unlink (path);
}

static void
test_not_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-XXXXXX", NULL);
  g_autofree char *pipe_path = g_build_filename (folder, "pipe", NULL);

  g_assert_null (tm_source_open (folder, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_KIND);
  g_clear_error (&error);
  g_assert_null (tm_source_open ("/nonexistent/file", &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_IO);
  g_clear_error (&error);
  g_assert_null (tm_source_open ("/dev/null", &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_KIND);
  g_clear_error (&error);
  g_assert_cmpint (mkfifo (pipe_path, 0600), ==, 0);
  g_assert_null (tm_source_open (pipe_path, &error)); /* and does not wait for a writer */
  g_assert_error (error, TM_ERROR, TM_ERROR_KIND);
  g_unlink (pipe_path);
  g_rmdir (folder);
}

static void
test_close_on_exec (void)
{
  g_autofree char *path = write_numbers (10);
  int next = open (path, O_RDONLY | O_CLOEXEC);
  g_autoptr (TmSource) source = NULL;

  close (next);
  source = tm_source_open (path, NULL); /* takes the number that has just become free */
  g_assert_cmpint (fcntl (next, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
  g_unlink (path);
}

static gpointer
read_many (gpointer data)
{
  TmSource *source = data;

  for (guint i = 0; i < 2000; i++)
    {
      gsize at = (i * 37) % 900;
      guint8 buffer[64];

      g_assert_true (tm_source_read (source, at, buffer, 64, NULL));
      for (guint k = 0; k < 64; k++)
        g_assert_cmpuint (buffer[k], ==, (guint8) ((at + k) * 7 + (at + k) / 256));
      tm_source_unref (tm_source_ref (source));
    }
  return NULL;
}

static void
test_threads (void)
{
  g_autofree char *path = write_numbers (1000);
  g_autoptr (TmSource) source = tm_source_open (path, NULL);
  GThread *threads[4];

  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("reader", read_many, source);
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
  g_unlink (path);
}

/* --- Cursor ----------------------------------------------------------------------------------------------------------- */

static void
test_numbers (void)
{
  static const guint8 data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 'a', 'b', 0, 'c' };
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, sizeof data);
  g_autoptr (TmSource) source = tm_source_new_bytes ("x", bytes);

  for (gboolean big = FALSE; big <= TRUE; big++)
    {
      g_auto (TmCursor) cursor = { 0 };
      g_autofree char *text = NULL;

      tm_cursor_init (&cursor, source, 0, G_MAXUINT64, NULL);
      cursor.big_endian = big;
      g_assert_cmpuint (tm_cursor_u8 (&cursor), ==, 1);
      g_assert_cmpuint (tm_cursor_u16 (&cursor), ==, big ? 0x0203 : 0x0302);
      g_assert_cmpuint (tm_cursor_u32 (&cursor), ==, big ? 0x04050607 : 0x07060504);
      g_assert_cmpuint (tm_cursor_u64 (&cursor), ==, big ? G_GUINT64_CONSTANT (0x08090a0b0c0d0e0f) : G_GUINT64_CONSTANT (0x0f0e0d0c0b0a0908));
      g_assert_cmpuint (tm_cursor_get_left (&cursor), ==, 4);
      text = tm_cursor_dup (&cursor, 4);
      g_assert_cmpmem (text, 5, "ab\0c", 5);
      g_assert_null (cursor.error);

      g_assert_cmpuint (tm_cursor_u32 (&cursor), ==, 0);
      g_assert_error (cursor.error, TM_ERROR, TM_ERROR_TRUNCATED);
      g_assert_nonnull (strstr (cursor.error->message, "byte 19"));
    }
}

/* The first error stays, and nothing moves after it. */
static void
test_latch (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("0123456789", 10);
  g_autoptr (TmSource) source = tm_source_new_bytes ("x", bytes);
  g_auto (TmCursor) cursor = { 0 };

  tm_cursor_init (&cursor, source, 2, 6, NULL);
  g_assert_cmpuint (tm_cursor_get_left (&cursor), ==, 4);
  g_assert_false (tm_cursor_skip (&cursor, 5));
  g_assert_nonnull (strstr (cursor.error->message, "byte 2"));
  g_assert_false (tm_cursor_fail (&cursor, TM_ERROR_FORMAT, "later"));
  g_assert_error (cursor.error, TM_ERROR, TM_ERROR_TRUNCATED);
  g_assert_cmpuint (tm_cursor_u8 (&cursor), ==, 0);
  g_assert_null (tm_cursor_dup (&cursor, 1));
  g_assert_null (tm_cursor_take (&cursor, 1));
  g_assert_cmpuint (cursor.position, ==, 2);
}

/* Across the borders of its pieces, and past them. */
static void
test_pieces (void)
{
  const gsize n = 1000000;
  g_autofree char *path = write_numbers (n);
  g_autoptr (TmSource) source = tm_source_open (path, NULL);
  g_auto (TmCursor) cursor = { 0 };
  gsize at = 0;

  tm_cursor_init (&cursor, source, 0, G_MAXUINT64, NULL);
  while (at + 3000 < n)
    {
      const guint8 *span = tm_cursor_take (&cursor, 999);

      for (gsize i = 0; i < 999; i++)
        if (span[i] != (guint8) ((at + i) * 7 + (at + i) / 256))
          g_error ("byte %" G_GSIZE_FORMAT, at + i);
      at += 999;
      g_assert_true (tm_cursor_skip (&cursor, at % 1013));
      at += at % 1013;
      g_assert_cmpuint (cursor.position, ==, at);
    }
  {
    g_autofree char *rest = tm_cursor_dup (&cursor, tm_cursor_get_left (&cursor));

    g_assert_nonnull (rest);
    g_assert_cmpuint (tm_cursor_get_left (&cursor), ==, 0);
  }
  g_unlink (path);
}

static void
test_cancel (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("0123456789", 10);
  g_autoptr (TmSource) source = tm_source_new_bytes ("x", bytes);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (TmCursor) cursor = { 0 };

  g_cancellable_cancel (cancellable);
  tm_cursor_init (&cursor, source, 0, G_MAXUINT64, cancellable);
  g_assert_cmpuint (tm_cursor_u32 (&cursor), ==, 0);
  g_assert_error (cursor.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/source/file", test_file);
  g_test_add_func ("/source/bytes", test_bytes);
  g_test_add_func ("/source/shrinks", test_shrinks);
  g_test_add_func ("/source/not-files", test_not_files);
  g_test_add_func ("/source/close-on-exec", test_close_on_exec);
  g_test_add_func ("/source/threads", test_threads);
  g_test_add_func ("/cursor/numbers", test_numbers);
  g_test_add_func ("/cursor/latch", test_latch);
  g_test_add_func ("/cursor/pieces", test_pieces);
  g_test_add_func ("/cursor/cancel", test_cancel);
  return g_test_run ();
}
