#include <string.h>

#include "formats/formats.h"
#include "formats/readers.h"
#include "formats/safetensors.h"
#include "io/error.h"

gboolean
tm_formats_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmSource) source = NULL;
  char magic[4];

  source = tm_source_open (path, error);
  if (source == NULL)
    return FALSE;
  if (tm_source_get_size (source) < 4 || !tm_source_read (source, 0, magic, 4, NULL) || memcmp (magic, "GGUF", 4) != 0)
    {
      return tm_safetensors_read (source, model, cancellable, error);
    }
  return tm_gguf_read (source, model, cancellable, error);
}
