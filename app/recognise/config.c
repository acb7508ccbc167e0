#include "recognise/config.h"

#include <string.h>

#include "formats/beside.h"
#include "io/error.h"
#include "io/json.h"
#include "io/limits.h"
#include "io/number.h"
#include "io/source.h"

#define MAX_PATH_BYTES 4096u      /* module paths are some hundred */

struct _TmConfig
{
  GHashTable *values; /* "config.json:quantization_config.bits" → "4" */
  GPtrArray *paths;   /* the same keys in file order, for foreach; owned by the table */
  const char *quantization_file; /* static, or NULL: found once, asked for every tensor */
};

static TmConfig *
config_new (void)
{
  TmConfig *config = g_new0 (TmConfig, 1);
  config->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  config->paths = g_ptr_array_new ();
  return config;
}

void
tm_config_free (TmConfig *config)
{
  if (config == NULL)
    return;
  g_ptr_array_unref (config->paths);
  g_hash_table_unref (config->values);
  g_free (config);
}

static void
put (TmConfig *config, const GString *path, char *value)
{
  /* a duplicate key: the first stays; a long one before many items would be copied for each */
  if (path->len > MAX_PATH_BYTES || g_hash_table_contains (config->values, path->str))
    {
      g_free (value);
      return;
    }
  char *key = g_strdup (path->str);
  g_hash_table_insert (config->values, key, value);
  g_ptr_array_add (config->paths, key);
}

/* One level of nesting: how long the path was before it, and how many items it has had. */
typedef struct { gsize path_length; guint64 n_items; gboolean array; } Level;

static gboolean
flatten (TmConfig *config, const char *file, const char *text, gsize length, GError **error)
{
  g_auto (TmJson) json = { 0 };
  g_autoptr (GString) path = g_string_new (file);
  Level level[TM_MAX_JSON_DEPTH + 1];
  guint depth = 0;
  TmJsonToken token;

  g_string_append_c (path, ':');
  const gsize root = path->len;
  tm_json_init (&json, text, length, 0);
  while ((token = tm_json_next (&json)) > TM_JSON_END)
    {
      if (token == TM_JSON_OBJECT_END || token == TM_JSON_ARRAY_END)
        {
          depth--;
          g_string_truncate (path, level[depth].path_length);
          if (level[depth].array || (level[depth].n_items == 0 && depth > 0))
            {
              gsize at = path->len;
              g_string_append (path, ".#");
              put (config, path, g_strdup_printf ("%" G_GUINT64_FORMAT, level[depth].n_items));
              g_string_truncate (path, at);
            }
          if (depth > 0)
            g_string_truncate (path, level[depth - 1].path_length);
          continue;
        }
      if (token == TM_JSON_KEY)
        {
          g_autofree char *key = tm_json_dup_string (&json, NULL);
          if (path->len > root)
            g_string_append_c (path, '.');
          g_string_append (path, key);
          level[depth - 1].n_items++;
          continue;
        }
      if (depth > 0 && level[depth - 1].array)
        g_string_append_printf (path, ".%" G_GUINT64_FORMAT, level[depth - 1].n_items++);
      if (token == TM_JSON_OBJECT || token == TM_JSON_ARRAY)
        {
          level[depth] = (Level) { path->len, 0, token == TM_JSON_ARRAY };
          depth++;
          continue;
        }
      if (token == TM_JSON_STRING)
        put (config, path, tm_json_dup_string (&json, NULL));
      else if (token == TM_JSON_NUMBER)
        put (config, path, g_strndup (text + json.start, json.size));
      else if (token != TM_JSON_NULL)
        put (config, path, g_strdup (token == TM_JSON_TRUE ? "true" : "false"));
      if (depth > 0)
        g_string_truncate (path, level[depth - 1].path_length);
    }
  if (token == TM_JSON_ERROR)
    {
      g_propagate_error (error, g_steal_pointer (&json.error));
      return FALSE;
    }
  return TRUE;
}

/* Where the settings can be, most specific first. */
static const struct { const char *file, *prefix; } places[] = {
  { "config.json", "config.json:quantization_config." },
  { "config.json", "config.json:text_config.quantization_config." },
  { "quantize_config.json", "quantize_config.json:" },
  { "quant_config.json", "quant_config.json:" },
  { "config.json", "config.json:quantization." },
  { "hf_quant_config.json", "hf_quant_config.json:quantization." },
};

static void
find_quantization_file (TmConfig *config)
{
  for (guint i = 0; config->quantization_file == NULL && i < G_N_ELEMENTS (places); i++)
    for (guint p = 0; p < config->paths->len; p++)
      if (g_str_has_prefix (g_ptr_array_index (config->paths, p), places[i].prefix))
        {
          config->quantization_file = places[i].file;
          break;
        }
}

TmConfig *
tm_config_new_from_text (const char *file_name, const char *text, gssize length, GError **error)
{
  TmConfig *config = config_new ();
  if (!flatten (config, file_name, text, length < 0 ? strlen (text) : (gsize) length, error))
    g_clear_pointer (&config, tm_config_free);
  else
    find_quantization_file (config);
  return config;
}

static const char *const files[] = { "config.json", "quantize_config.json", "quant_config.json", "hf_quant_config.json",
                                     "quanto_qmap.json" };

static gboolean
load_file (TmConfig *config, const char *folder, const char *name, GError **error)
{
  g_autoptr (TmSource) source = NULL;
  g_autofree char *text = NULL;
  gsize size;
  const TmBeside beside = tm_beside_read (folder, name, TM_MAX_CONFIG_FILE, &source, &text, &size, error);
  if (beside == TM_BESIDE_MISSING)
    return TRUE;
  if (beside != TM_BESIDE_OK)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_KIND, "a link that leaves the folder is not followed");
      return FALSE;
    }
  return text != NULL && flatten (config, name, text, size, error);
}

TmConfig *
tm_config_load (const char *folder, GPtrArray *faults)
{
  TmConfig *config = config_new ();
  for (guint i = 0; folder != NULL && i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GError) error = NULL;
      if (!load_file (config, folder, files[i], &error) && faults != NULL)
        g_ptr_array_add (faults, g_strdup_printf ("%s: %s", files[i], error->message));
    }
  find_quantization_file (config);
  return config;
}

const char *
tm_config_get (const TmConfig *config, const char *path)
{
  g_autofree char *key = g_strconcat ("config.json:", path, NULL);
  return g_hash_table_lookup (config->values, key);
}

const char *
tm_config_get_path (const TmConfig *config, const char *file_and_path)
{
  return g_hash_table_lookup (config->values, file_and_path);
}

const char *
tm_config_get_quantization (const TmConfig *config, const char *member)
{
  if (config->paths->len == 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *key = g_strconcat (places[i].prefix, member, NULL);
      const char *value = g_hash_table_lookup (config->values, key);
      if (value != NULL)
        return value;
    }
  return NULL;
}

gboolean
tm_config_get_quantization_u64 (const TmConfig *config, const char *member, guint64 *value)
{
  const char *text = tm_config_get_quantization (config, member);
  return text != NULL && tm_parse_u64 (text, -1, value);
}

const char *
tm_config_get_quantization_file (const TmConfig *config)
{
  return config->quantization_file;
}

gboolean
tm_config_has_quantization (const TmConfig *config)
{
  return tm_config_get_quantization_file (config) != NULL;
}

typedef struct
{
  gsize skip;
  void (*func) (const char *path, const char *value, gpointer data);
  gpointer data;
} Below;

static void
call_below (const char *path, const char *value, gpointer data)
{
  const Below *below = data;

  below->func (path + below->skip, value, below->data);
}

void
tm_config_foreach_quantization (const TmConfig *config, const char *prefix,
                                void (*func) (const char *path, const char *value, gpointer data), gpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *whole = g_strconcat (places[i].prefix, prefix, NULL);
      Below below = { strlen (whole), func, data };

      tm_config_foreach (config, whole, call_below, &below);
    }
}

void
tm_config_foreach (const TmConfig *config, const char *prefix, void (*func) (const char *path, const char *value, gpointer data),
                   gpointer data)
{
  for (guint p = 0; p < config->paths->len; p++)
    {
      const char *path = g_ptr_array_index (config->paths, p);
      if (g_str_has_prefix (path, prefix))
        func (path, g_hash_table_lookup (config->values, path), data);
    }
}
