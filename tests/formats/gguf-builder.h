/* Writes GGUF files by hand, right or wrong, in every version and byte order. */
#pragma once

#include <string.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "model/metadata.h"

typedef struct
{
  GByteArray *bytes;
  guint version;
  gboolean big_endian;
} Gguf;

static inline void
gguf_raw (Gguf *gguf, gconstpointer data, gsize length)
{
  g_byte_array_append (gguf->bytes, data, (guint) length);
}

static inline void
gguf_uint (Gguf *gguf, guint64 value, guint size)
{
  guint8 bytes[8];

  for (guint i = 0; i < size; i++)
    bytes[gguf->big_endian ? size - 1 - i : i] = (guint8) (value >> (8 * i));
  gguf_raw (gguf, bytes, size);
}

static inline void
gguf_length (Gguf *gguf, guint64 value)
{
  gguf_uint (gguf, value, gguf->version == 1 ? 4 : 8);
}

static inline void
gguf_bytes (Gguf *gguf, gconstpointer text, gsize length)
{
  gguf_length (gguf, length);
  gguf_raw (gguf, text, length);
}

static inline void
gguf_string (Gguf *gguf, const char *text)
{
  gguf_bytes (gguf, text, strlen (text));
}

static inline void
gguf_begin (Gguf *gguf, guint version, gboolean big_endian, guint64 n_tensors, guint64 n_kv)
{
  gguf->bytes = g_byte_array_new ();
  gguf->version = version;
  gguf->big_endian = big_endian;
  gguf_raw (gguf, "GGUF", 4);
  gguf_uint (gguf, version, 4);
  gguf_length (gguf, n_tensors);
  gguf_length (gguf, n_kv);
}

static inline void
gguf_key (Gguf *gguf, const char *key, TmMetaType type)
{
  gguf_string (gguf, key);
  gguf_uint (gguf, type, 4);
}

static inline void
gguf_key_u32 (Gguf *gguf, const char *key, guint32 value)
{
  gguf_key (gguf, key, TM_META_U32);
  gguf_uint (gguf, value, 4);
}

static inline void
gguf_key_string (Gguf *gguf, const char *key, const char *value)
{
  gguf_key (gguf, key, TM_META_STRING);
  gguf_string (gguf, value);
}

/* ne: fastest first, as the file has it. */
static inline void
gguf_info (Gguf *gguf, const char *name, guint n_dims, const guint64 *ne, guint32 type, guint64 offset)
{
  gguf_string (gguf, name);
  gguf_uint (gguf, n_dims, 4);
  for (guint i = 0; i < n_dims; i++)
    gguf_length (gguf, ne[i]);
  gguf_uint (gguf, type, 4);
  gguf_uint (gguf, offset, 8);
}

static inline void
gguf_pad (Gguf *gguf, guint alignment)
{
  static const guint8 zero;

  while (gguf->bytes->len % alignment != 0)
    gguf_raw (gguf, &zero, 1);
}

static inline void
gguf_floats (Gguf *gguf, const float *values, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, &values[i], 4);
      gguf_uint (gguf, bits, 4);
    }
}

/* Writes the file and frees the bytes. (transfer full) path */
static inline char *
gguf_save (Gguf *gguf, const char *folder, const char *name)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder, name, NULL);

  g_unlink (path);
  g_file_set_contents_full (path, (const char *) gguf->bytes->data, gguf->bytes->len, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
  g_clear_pointer (&gguf->bytes, g_byte_array_unref);
  return path;
}
