#include "make-gguf.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void
make_gguf_init (MakeGguf *make)
{
  *make = (MakeGguf){ g_string_new (NULL), g_string_new (NULL), g_string_new (NULL), 0, 0 };
}

void
make_gguf_uint (GString *out, guint64 number, guint bytes)
{
  for (guint i = 0; i < bytes; i++)
    g_string_append_c (out, (char)(number >> (8 * i)));
}

void
make_gguf_string (GString *out, const char *text, gssize length)
{
  gsize n = length < 0 ? strlen (text) : (gsize)length;

  make_gguf_uint (out, n, 8);
  g_string_append_len (out, text, (gssize)n);
}

void
make_gguf_key (MakeGguf *make, const char *key, guint type)
{
  make->n_keys++;
  make_gguf_string (make->metadata, key, -1);
  make_gguf_uint (make->metadata, type, 4);
}

void
make_gguf_tensor (MakeGguf *make, const char *name, guint rank, const guint64 *dims, guint type, gconstpointer bytes,
                  gsize count)
{
  make->n_tensors++;
  make_gguf_string (make->tensors, name, -1);
  make_gguf_uint (make->tensors, rank, 4);
  for (guint i = 0; i < rank; i++)
    make_gguf_uint (make->tensors, dims[i], 8);
  make_gguf_uint (make->tensors, type, 4);
  make_gguf_uint (make->tensors, make->data->len, 8);
  if (bytes != NULL)
    g_string_append_len (make->data, bytes, (gssize)count);
  else
    for (gsize i = 0; i < count; i++)
      g_string_append_c (make->data, 0);
  while (make->data->len % 32 != 0)
    g_string_append_c (make->data, 0);
}

void
make_gguf_write (MakeGguf *make, const char *path, guint64 extra_hole)
{
  g_autoptr (GString) whole = g_string_new ("GGUF");
  g_autoptr (GError) error = NULL;

  make_gguf_uint (whole, 3, 4);
  make_gguf_uint (whole, make->n_tensors, 8);
  make_gguf_uint (whole, make->n_keys, 8);
  g_string_append_len (whole, make->metadata->str, (gssize)make->metadata->len);
  g_string_append_len (whole, make->tensors->str, (gssize)make->tensors->len);
  while (whole->len % 32 != 0)
    g_string_append_c (whole, 0);
  g_string_append_len (whole, make->data->str, (gssize)make->data->len);
  g_file_set_contents (path, whole->str, (gssize)whole->len, &error);
  g_assert_no_error (error);
  if (extra_hole > 0)
    g_assert_cmpint (truncate (path, (off_t)(whole->len + extra_hole)), ==, 0);
  g_string_free (make->metadata, TRUE);
  g_string_free (make->tensors, TRUE);
  g_string_free (make->data, TRUE);
}
