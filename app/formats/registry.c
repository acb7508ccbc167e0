#include <string.h>

#include "formats/formats.h"
#include "formats/readers.h"
#include "io/error.h"

/* An index, or another JSON text: an object whose first bytes are no safetensors header length (below 2^27). */
static gboolean
looks_like_json (const char *head, gsize length)
{
  gsize i = 0;

  if (length >= 8 && memcmp (head + 4, "\0\0\0\0", 4) == 0)
    return FALSE;
  while (i < length && g_ascii_isspace (head[i]))
    i++;
  return i < length && head[i] == '{';
}

gboolean
tm_formats_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmSource) source = NULL;
  char head[64] = "";
  gsize length;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return tm_folder_read (path, model, cancellable, error);
  source = tm_source_open (path, error);
  if (source == NULL || !tm_kind_check (source, error))
    return FALSE;
  length = (gsize) MIN (tm_source_get_size (source), sizeof head);
  if (!tm_source_read (source, 0, head, length, error))
    return FALSE;
  if (length >= 4 && memcmp (head, "GGUF", 4) == 0)
    return tm_split_read (source, model, cancellable, error);
  /* Only text is an index; the name decides no more than which error a damaged one gets. */
  if (looks_like_json (head, length) || g_str_has_suffix (tm_source_get_name (source), ".json"))
    return tm_index_file_read (path, model, cancellable, error);
  return tm_shard_read (source, model, cancellable, error);
}
