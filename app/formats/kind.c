/* What a file is if it is no model: told by its first bytes, so that the message helps. */
#include <string.h>

#include "formats/readers.h"
#include "io/error.h"

typedef struct
{
  guint offset;
  guint length;
  const char *bytes;
  const char *what;
} Magic;

static const Magic magics[] = {
  { 0, 4, "PK\x03\x04", "a zip archive; PyTorch checkpoints (.pt, .pth, .bin) are such archives and are not read" },
  { 0, 4, "PK\x05\x06", "an empty zip archive" },
  { 0, 23, "version https://git-lfs", "a Git LFS pointer, not the file itself; fetch it with git lfs pull" },
  { 0, 4, "lmgg", "a ggml file from before GGUF; convert it to GGUF" },
  { 0, 4, "fmgg", "a ggml file from before GGUF; convert it to GGUF" },
  { 0, 4, "tjgg", "a ggml file from before GGUF; convert it to GGUF" },
  { 0, 4, "algg", "a ggml adapter from before GGUF; convert it to GGUF" },
  { 0, 6, "\x93NUMPY", "a NumPy array, which is not read" },
  { 0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file, which is not read" },
  { 4, 4, "TFL3", "a TensorFlow Lite model, which is not read" },
  { 0, 2, "\x1f\x8b", "a gzip archive; unpack it first" },
  { 0, 4, "\x28\xb5\x2f\xfd", "a zstd archive; unpack it first" },
  { 0, 3, "BZh", "a bzip2 archive; unpack it first" },
  { 0, 6, "\xfd" "7zXZ\0", "an xz archive; unpack it first" },
  { 0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first" },
  { 257, 5, "ustar", "a tar archive; unpack it first" },
};

static gboolean
begins_with (const char *text, gsize length, const char *word)
{
  gsize n = strlen (word);

  return length >= n && g_ascii_strncasecmp (text, word, n) == 0;
}

static const char *
find_text_kind (const char *head, gsize length)
{
  if (length >= 3 && memcmp (head, "\xef\xbb\xbf", 3) == 0)
    {
      head += 3;
      length -= 3;
    }
  while (length > 0 && g_ascii_isspace (*head))
    {
      head++;
      length--;
    }
  if (begins_with (head, length, "<!doctype html") || begins_with (head, length, "<html"))
    return "an HTML page: probably the answer of a server and not the model";
  if (begins_with (head, length, "<?xml"))
    return "an XML text: probably the answer of a server and not the model";
  return NULL;
}

gboolean
tm_kind_check (TmSource *source, GError **error)
{
  char head[512] = "";
  gsize length = (gsize) MIN (tm_source_get_size (source), sizeof head);
  const char *what = NULL;
  gboolean plausible;

  if (!tm_source_read (source, 0, head, length, error))
    return FALSE;
  if (length == 0)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_KIND, "the file is empty (0 bytes)");
      return FALSE;
    }
  /* A safetensors header length is below 2^27, so four zero bytes and a brace tell it from everything else. */
  plausible = length > 8 && memcmp (head + 4, "\0\0\0\0", 4) == 0 && head[8] == '{';
  for (guint i = 0; i < G_N_ELEMENTS (magics) && what == NULL && !plausible; i++)
    if (length >= magics[i].offset + magics[i].length
        && memcmp (head + magics[i].offset, magics[i].bytes, magics[i].length) == 0)
      what = magics[i].what;
  if (what == NULL && !plausible && length >= 4 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5
      && memcmp (head + 4, "\0\0\0\0", MIN (4, length - 4)) != 0)
    what = "a Python pickle (an old PyTorch checkpoint), which is not read";
  if (what == NULL && !plausible)
    what = find_text_kind (head, length);
  if (what == NULL && length >= 4 && memcmp (head, "GGUF", 4) == 0 && g_str_has_suffix (tm_source_get_name (source), ".safetensors"))
    what = "a GGUF file under a safetensors name; give it a name that ends in .gguf";
  if (what == NULL)
    return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_KIND, "this is %s", what);
  return FALSE;
}
