/* Small GGUF files for tests, field by field. */
#pragma once

#include <glib.h>

typedef struct
{
  GString *metadata, *tensors, *data;
  guint n_keys, n_tensors;
} MakeGguf;

void make_gguf_init (MakeGguf *make);
void make_gguf_uint (GString *out, guint64 number, guint bytes);
void make_gguf_string (GString *out, const char *text, gssize length);
void make_gguf_key (MakeGguf *make, const char *key, guint type); /* the value goes to metadata after it */
/* dims fastest first, as the file has them. bytes NULL: zeros. */
void make_gguf_tensor (MakeGguf *make, const char *name, guint rank, const guint64 *dims, guint type,
                       gconstpointer bytes, gsize count);
/* Writes the file and clears. extra_hole: zero bytes after the data that take no room on the disk. */
void make_gguf_write (MakeGguf *make, const char *path, guint64 extra_hole);
