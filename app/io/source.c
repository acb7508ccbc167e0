#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/error.h"

#define RESOURCE "resource://"

/* Linux transfers at most 2 GiB − 4 KiB in one call. */
#define MAX_TRANSFER ((gsize) 1 << 30)

struct _TmSource
{
  gint ref_count;
  int fd;        /* −1 for bytes in memory */
  GBytes *bytes; /* NULL for a file */
  char *path;
  char *name;
  guint64 size;
};

static TmSource *
source_new (const char *path, int fd, GBytes *bytes, guint64 size)
{
  TmSource *source = g_new0 (TmSource, 1);

  source->ref_count = 1;
  source->fd = fd;
  source->bytes = bytes;
  source->path = g_strdup (path);
  source->name = g_path_get_basename (path);
  source->size = size;
  return source;
}

static TmSource *
open_resource (const char *path, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path + strlen (RESOURCE), G_RESOURCE_LOOKUP_FLAGS_NONE, &why);

  if (bytes == NULL)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_IO, why->message);
      return NULL;
    }
  return tm_source_new_bytes (path, bytes);
}

TmSource *
tm_source_open (const char *path, GError **error)
{
  struct stat info;
  int fd;

  g_return_val_if_fail (path != NULL, NULL);

  if (g_str_has_prefix (path, RESOURCE "/"))
    return open_resource (path, error);
  /* O_NONBLOCK: opening a named pipe must not wait for a writer; regular files are not affected by it. */
  do
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  if (fd < 0 || fstat (fd, &info) < 0)
    {
      int saved = errno;

      if (fd >= 0)
        close (fd);
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "%s", g_strerror (saved));
      return NULL;
    }
  if (!S_ISREG (info.st_mode))
    {
      close (fd);
      g_set_error_literal (error, TM_ERROR, TM_ERROR_KIND,
                           S_ISDIR (info.st_mode) ? "is a folder, not a file" : "is not a regular file");
      return NULL;
    }
  return source_new (path, fd, NULL, (guint64) info.st_size);
}

TmSource *
tm_source_new_bytes (const char *path, GBytes *bytes)
{
  return source_new (path, -1, g_bytes_ref (bytes), g_bytes_get_size (bytes));
}

TmSource *
tm_source_ref (TmSource *source)
{
  g_atomic_int_inc (&source->ref_count);
  return source;
}

void
tm_source_unref (TmSource *source)
{
  if (source == NULL || !g_atomic_int_dec_and_test (&source->ref_count))
    return;
  if (source->fd >= 0)
    close (source->fd);
  g_clear_pointer (&source->bytes, g_bytes_unref);
  g_free (source->path);
  g_free (source->name);
  g_free (source);
}

const char *
tm_source_get_path (TmSource *source)
{
  return source->path;
}

const char *
tm_source_get_name (TmSource *source)
{
  return source->name;
}

guint64
tm_source_get_size (TmSource *source)
{
  return source->size;
}

static gboolean
past_end (TmSource *source, guint64 offset, gsize count, GError **error)
{
  guint64 first_missing = MAX (offset, source->size);

  g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
               "byte %" G_GUINT64_FORMAT " is past the end of the file (%" G_GUINT64_FORMAT " bytes); %" G_GSIZE_FORMAT
               " bytes were wanted at byte %" G_GUINT64_FORMAT,
               first_missing, source->size, count, offset);
  return FALSE;
}

gboolean
tm_source_read (TmSource *source, guint64 offset, void *buffer, gsize count, GError **error)
{
  guint8 *out = buffer;
  gsize done = 0;

  if (offset > source->size || count > source->size - offset)
    return past_end (source, offset, count, error);

  if (source->bytes != NULL)
    {
      if (count > 0)
        memcpy (out, (const guint8 *) g_bytes_get_data (source->bytes, NULL) + offset, count);
      return TRUE;
    }

  while (done < count)
    {
      gssize got = pread (source->fd, out + done, MIN (count - done, MAX_TRANSFER), (off_t) (offset + done));

      if (got > 0)
        done += (gsize) got;
      else if (got == 0)
        {
          g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
                       "the file now ends at byte %" G_GUINT64_FORMAT "; it had %" G_GUINT64_FORMAT
                       " bytes when it was opened",
                       offset + done, source->size);
          return FALSE;
        }
      else if (errno != EINTR)
        {
          int saved = errno;

          g_set_error (error, TM_ERROR, TM_ERROR_IO, "cannot read byte %" G_GUINT64_FORMAT ": %s", offset + done,
                       g_strerror (saved));
          return FALSE;
        }
    }
  return TRUE;
}
