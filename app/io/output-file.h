/* A file that appears whole or not at all: written under a temporary name beside its place, renamed when complete. */
#pragma once

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

typedef struct _TmOutputFile TmOutputFile;

TmOutputFile *tm_output_file_new (const char *path, GError **error);

/* Buffered. Errors: TM_ERROR_IO with the system's words. */
gboolean tm_output_file_write (TmOutputFile *file, gconstpointer bytes, gsize count, GError **error);

/* Flushes, renames, frees. On failure nothing is left at a new path, and an old file stays as it was. */
gboolean tm_output_file_commit (TmOutputFile *file, GError **error);

/* Removes what was written and frees. */
void tm_output_file_discard (TmOutputFile *file);

G_END_DECLS
