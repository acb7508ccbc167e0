/* Fuzz target: JSON text for the scanner, and for the shard index on top of it. */
#include "fuzz.h"

#include <string.h>

#include "formats/shard-index.h"
#include "io/json.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (TmSource) source = tm_source_new_bytes ("fuzz.json", bytes);
  g_autoptr (TmShardIndex) index G_GNUC_UNUSED = tm_shard_index_read (source, NULL, NULL);
  g_auto (TmJson) json = { 0 };
  gsize last = 0;

  tm_json_init (&json, (const char *) data, size, 0);
  while (tm_json_next (&json) > TM_JSON_END)
    {
      g_assert_cmpuint (json.position, <=, size);
      g_assert_cmpuint (json.position, >, last);
      g_assert_cmpuint (json.start + json.size, <=, json.position);
      last = json.position;
      if (json.token == TM_JSON_STRING || json.token == TM_JSON_KEY)
        {
          gsize length;
          g_autofree char *text = tm_json_dup_string (&json, &length);

          g_assert_true (g_utf8_validate_len (text, length, NULL) || memchr (text, '\0', length) != NULL);
        }
      else if (json.token == TM_JSON_NUMBER)
        tm_json_get_double (&json);
    }
  g_assert_true ((json.token == TM_JSON_ERROR) == (json.error != NULL));
  return 0;
}
