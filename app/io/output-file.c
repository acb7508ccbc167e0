#include "io/output-file.h"

#include "io/error.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct _TmOutputFile
{
  char *path;
  char *temporary;
  FILE *stream;
};

static gboolean
fail (GError **error, const char *path, int code)
{
  g_set_error (error, TM_ERROR, TM_ERROR_IO, "cannot write %s: %s", path, g_strerror (code));
  return FALSE;
}

/* g_mkstemp() makes files for the owner alone; the finished one gets what the umask gives, or what it had. */
static void
set_mode (int descriptor, const char *path)
{
  GStatBuf old;
  mode_t mode = umask (0);

  umask (mode);
  mode = 0666 & ~mode;
  if (g_stat (path, &old) == 0)
    mode = old.st_mode & 07777;
  if (fchmod (descriptor, mode) != 0)
    g_debug ("mode of %s: %s", path, g_strerror (errno));
}

TmOutputFile *
tm_output_file_new (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = g_strdup_printf (".tensormorph-%d-XXXXXX", (int)getpid ());
  g_autofree char *temporary = g_build_filename (folder, name, NULL);
  int descriptor;
  FILE *stream;
  TmOutputFile *file;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      fail (error, path, EISDIR);
      return NULL;
    }
  descriptor = g_mkstemp (temporary);
  if (descriptor < 0)
    {
      fail (error, path, errno);
      return NULL;
    }
  set_mode (descriptor, path);
  stream = fdopen (descriptor, "wb");
  if (stream == NULL)
    {
      fail (error, path, errno);
      close (descriptor);
      g_unlink (temporary);
      return NULL;
    }
  file = g_new0 (TmOutputFile, 1);
  file->path = g_strdup (path);
  file->temporary = g_steal_pointer (&temporary);
  file->stream = stream;
  return file;
}

gboolean
tm_output_file_write (TmOutputFile *file, gconstpointer bytes, gsize count, GError **error)
{
  if (fwrite (bytes, 1, count, file->stream) == count)
    return TRUE;
  return fail (error, file->path, errno);
}

static void
output_file_free (TmOutputFile *file)
{
  g_free (file->path);
  g_free (file->temporary);
  g_free (file);
}

gboolean
tm_output_file_commit (TmOutputFile *file, GError **error)
{
  int code = 0;

  if (fflush (file->stream) != 0)
    code = errno;
  if (fclose (file->stream) != 0 && code == 0)
    code = errno;
  if (code == 0 && g_rename (file->temporary, file->path) != 0)
    code = errno;
  if (code != 0)
    g_unlink (file->temporary);
  if (code != 0)
    fail (error, file->path, code);
  output_file_free (file);
  return code == 0;
}

void
tm_output_file_discard (TmOutputFile *file)
{
  if (file == NULL)
    return;
  fclose (file->stream);
  g_unlink (file->temporary);
  output_file_free (file);
}
