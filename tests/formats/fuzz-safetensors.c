/* Fuzz target: a safetensors file in memory. */
#include "fuzz.h"

#include <string.h>

#include "formats/readers.h"
#include "formats/safetensors.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (TmSource) source = tm_source_new_bytes ("fuzz.safetensors", bytes);
  g_autoptr (TmModel) model = tm_model_new ("fuzz.safetensors");
  g_autoptr (GError) error = NULL;

  if (!tm_kind_check (source, &error) || !tm_safetensors_read (source, model, NULL, &error))
    {
      g_assert_nonnull (error);
      return 0;
    }
  tm_model_seal (model);
  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *stored = tm_model_stored (model, i);

      g_assert_true (g_utf8_validate (stored->name, -1, NULL) || strstr (stored->name, "\xc0\x80") != NULL);
      if (stored->fault == NULL && stored->bytes > 0)
        {
          g_assert_cmpuint (stored->offset, <=, size);
          g_assert_cmpuint (stored->bytes, <=, size - stored->offset);
        }
    }
  return 0;
}
