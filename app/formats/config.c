#include <string.h>

#include "formats/beside.h"
#include "formats/readers.h"
#include "io/error.h"
#include "io/json.h"
#include "io/limits.h"

static void
add_member (TmModel *model, TmJson *json, const char *name)
{
  TmMetadata *entry = g_new0 (TmMetadata, 1);
  const char *text = "";
  gsize length = 0;

  entry->key = g_strconcat ("config.", name, NULL);
  entry->key_length = strlen (entry->key);
  entry->type = TM_META_JSON;
  g_ptr_array_add (model->metadata, entry);
  switch (json->token)
    {
    case TM_JSON_STRING:
      entry->type = TM_META_STRING;
      entry->string = tm_json_dup_string (json, &entry->string_length);
      return;
    case TM_JSON_TRUE:
    case TM_JSON_FALSE:
      entry->type = TM_META_BOOL;
      entry->as.b = json->token == TM_JSON_TRUE;
      entry->raw_bool = entry->as.b ? 1 : 0;
      return;
    case TM_JSON_NUMBER:
      if (tm_json_get_i64 (json, &entry->as.i))
        entry->type = TM_META_I64;
      else if (tm_json_get_u64 (json, &entry->as.u))
        entry->type = TM_META_U64;
      else
        {
          entry->type = TM_META_F64;
          entry->as.f = tm_json_get_double (json);
        }
      return;
    default:
      break;
    }
  tm_json_skip_span (json, &text, &length);
  entry->string = g_strndup (text, length);
  entry->string_length = length;
}

/* "architectures": ["LlamaForCausalLM"]: the first, where there is no model_type. */
static char *
find_architecture (TmModel *model)
{
  const TmMetadata *type = tm_model_find_metadata (model, "config.model_type");
  const TmMetadata *list = tm_model_find_metadata (model, "config.architectures");
  g_auto (TmJson) json = { 0 };

  if (type != NULL && type->type == TM_META_STRING && type->string_length > 0)
    return g_strdup (type->string);
  if (list == NULL || list->type != TM_META_JSON)
    return NULL;
  tm_json_init (&json, list->string, list->string_length, 0);
  if (tm_json_next (&json) == TM_JSON_ARRAY && tm_json_next (&json) == TM_JSON_STRING)
    return tm_json_dup_string (&json, NULL);
  return NULL;
}

static gboolean
read_members (TmModel *model, TmSource *source, TmJson *json)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (tm_json_next (json) != TM_JSON_OBJECT)
    return json->error == NULL ? tm_json_fail (json, "not an object") : FALSE;
  while (tm_json_next (json) == TM_JSON_KEY)
    {
      guint64 at = json->start;
      char *name = tm_json_dup_string (json, NULL);

      if (tm_json_next (json) != TM_JSON_ERROR)
        add_member (model, json, name);
      if (!g_hash_table_add (seen, name))
        tm_model_add_problem (model, TM_SEVERITY_WARNING, "duplicate-key", source, at, NULL, "\"%s\" stands more than once", name);
    }
  return json->error == NULL && tm_json_next (json) == TM_JSON_END;
}

void
tm_config_read (const char *folder, TmModel *model)
{
  g_autofree char *text = NULL;
  g_autoptr (TmSource) source = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (TmJson) json = { 0 };
  guint first = model->metadata->len;
  gsize length;

  if (tm_beside_read (folder, "config.json", TM_MAX_CONFIG_FILE, &source, &text, &length, &error) != TM_BESIDE_OK)
    return;
  if (text != NULL)
    {
      tm_json_init (&json, text, length, 0);
      if (!read_members (model, source, &json))
        {
          g_ptr_array_set_size (model->metadata, (gint) first);
          error = g_steal_pointer (&json.error);
        }
    }
  if (error != NULL)
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "config-unreadable", source, TM_NO_OFFSET, NULL, "config.json cannot be read: %s",
                          error->message);
  if (model->architecture == NULL)
    model->architecture = find_architecture (model);
}
