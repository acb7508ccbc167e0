/* Fuzz target: a GGUF file in memory. Whatever the bytes say, it opens or is refused, and what is listed can be asked for. */
#include "fuzz.h"

#include "formats/readers.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (TmSource) source = tm_source_new_bytes ("fuzz.gguf", bytes);
  g_autoptr (TmModel) model = tm_model_new ("fuzz.gguf");
  g_autoptr (GError) error = NULL;

  if (!tm_gguf_read (source, model, NULL, &error))
    {
      g_assert_nonnull (error);
      return 0;
    }
  tm_model_seal (model);
  for (guint i = 0; i < model->metadata->len; i++)
    {
      g_autofree char *text = tm_metadata_format (g_ptr_array_index (model->metadata, i), 4);

      g_assert_true (g_utf8_validate (text, -1, NULL));
    }
  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *stored = tm_model_stored (model, i);
      guint8 byte;

      /* Without a fault every byte is in the file. */
      if (stored->fault == NULL && stored->bytes > 0)
        {
          g_assert_cmpuint (stored->offset, <=, size);
          g_assert_cmpuint (stored->bytes, <=, size - stored->offset);
          g_assert_true (tm_source_read (stored->source, stored->offset + stored->bytes - 1, &byte, 1, NULL));
        }
    }
  return 0;
}
