/* A source is random-access bytes: one local file, or a block of memory. It is the only way to bytes of a model.
 *
 * Reads are bounded and pread-like, never a mapping: a file that shrinks, a disk that fails or a share that goes away
 * is a GError (TM_ERROR_TRUNCATED or TM_ERROR_IO), not a signal. All functions may be called from any thread. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _TmSource TmSource; /* reference counted */

/* Opens a regular file for reading, or by resource:///PATH what the program carries itself (never copied). Errors: TM_ERROR_IO (with the system's words), TM_ERROR_KIND for a folder or device. */
TmSource *tm_source_open (const char *path, GError **error);

/* Bytes in memory under a file-like name, for tests and resources. Takes its own reference on bytes. */
TmSource *tm_source_new_bytes (const char *path, GBytes *bytes);

TmSource *tm_source_ref (TmSource *source);
void tm_source_unref (TmSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmSource, tm_source_unref)

const char *tm_source_get_path (TmSource *source); /* as it was opened; owned by the source */
const char *tm_source_get_name (TmSource *source); /* last component of the path; owned by the source */
guint64 tm_source_get_size (TmSource *source);     /* bytes, when it was opened */

/* Reads exactly count bytes at offset, or fails and says which byte could not be had. */
gboolean tm_source_read (TmSource *source, guint64 offset, void *buffer, gsize count, GError **error);

G_END_DECLS
