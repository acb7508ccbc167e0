#include "recognise/left-alone.h"

#include <string.h>

#define MAX_PATTERNS 256u /* a person writes a few; each is tried on every unquantized tensor */

typedef struct
{
  GHashTable *paths;   /* whole dotted names or runs of their parts */
  GPtrArray *globs;    /* GPatternSpec * */
  GPtrArray *regexes;  /* GRegex * */
} Exclusions;

/* What writers call their list of modules to leave alone. */
static const char *const members[] = { "modules_to_not_convert", "ignore", "ignored_layers", "llm_int8_skip_modules",
                                       "skip_modules", "exclude_modules" };

static void
add_regex (Exclusions *exclusions, const char *pattern)
{
  GRegex *regex = exclusions->regexes->len < MAX_PATTERNS
                      ? g_regex_new (pattern, G_REGEX_OPTIMIZE, G_REGEX_MATCH_ANCHORED, NULL)
                      : NULL; /* as Python's re.match has it: from the beginning */
  if (regex != NULL)
    g_ptr_array_add (exclusions->regexes, regex);
}

static void
add_entry (Exclusions *exclusions, const char *entry)
{
  if (g_str_has_prefix (entry, "re:"))
    add_regex (exclusions, entry + strlen ("re:"));
  else if (strpbrk (entry, "*?") != NULL)
    {
      if (exclusions->globs->len < MAX_PATTERNS)
        { /* of a module, and of all below it */
          g_autofree char *below = g_strconcat (entry, ".*", NULL);

          g_ptr_array_add (exclusions->globs, g_pattern_spec_new (entry));
          g_ptr_array_add (exclusions->globs, g_pattern_spec_new (below));
        }
    }
  else if (entry[0] != '\0')
    g_hash_table_add (exclusions->paths, g_strdup (entry));
}

/* One flattened setting: an item of a list, an override's key, or a module set to false. */
static void
take_setting (const char *name, const char *value, gpointer data)
{
  Exclusions *exclusions = data;
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      gsize length = strlen (members[i]);
      if (strncmp (name, members[i], length) == 0 && name[length] == '.' && g_ascii_isdigit (name[length + 1]))
        {
          add_entry (exclusions, value);
          return;
        }
    }
  if (g_str_has_prefix (name, "dynamic.-:"))
    {
      g_autofree char *pattern = g_strdup (name + strlen ("dynamic.-:"));
      char *end = strrchr (pattern, '.');
      if (end != NULL && strcmp (end, ".#") == 0) /* an object without members */
        *end = '\0';
      add_regex (exclusions, pattern);
    }
  else if (strcmp (value, "false") == 0 && (strchr (name, '.') != NULL || strcmp (name, "lm_head") == 0))
    add_entry (exclusions, name);
}

/* Any run of whole parts of the path: "lm_head", "mlp.gate", "model.layers.0". */
static gboolean
has_listed_part (const Exclusions *exclusions, const char *module)
{
  if (g_hash_table_size (exclusions->paths) == 0)
    return FALSE;
  g_autofree char *copy = g_strdup (module);
  gsize length = strlen (copy);
  for (gsize start = 0; start < length; start++)
    {
      if (start > 0 && module[start - 1] != '.')
        continue;
      for (gsize end = length; end > start; end--)
        if (module[end] == '.' || end == length)
          {
            copy[end] = '\0';
            gboolean found = g_hash_table_contains (exclusions->paths, copy + start);
            copy[end] = module[end];
            if (found)
              return TRUE;
          }
    }
  return FALSE;
}

/* The whole path, or a pattern: a part of a path may be meant otherwise where it is quantized all the same. */
static gboolean
is_named (const Exclusions *exclusions, const char *module)
{
  if (g_hash_table_contains (exclusions->paths, module))
    return TRUE;
  for (guint i = 0; i < exclusions->globs->len; i++)
    if (g_pattern_spec_match_string (g_ptr_array_index (exclusions->globs, i), module))
      return TRUE;
  for (guint i = 0; i < exclusions->regexes->len; i++) /* one that runs too long matches nothing */
    if (g_regex_match (g_ptr_array_index (exclusions->regexes, i), module, 0, NULL))
      return TRUE;
  return FALSE;
}

static gboolean
is_excluded (const Exclusions *exclusions, const char *module)
{
  return has_listed_part (exclusions, module) || is_named (exclusions, module);
}

void
tm_mark_left_alone (TmModel *model, const TmConfig *config)
{
  if (!tm_config_has_quantization (config))
    return;
  Exclusions exclusions = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                            g_ptr_array_new_with_free_func ((GDestroyNotify) g_pattern_spec_free),
                            g_ptr_array_new_with_free_func ((GDestroyNotify) g_regex_unref) };
  tm_config_foreach_quantization (config, "", take_setting, &exclusions);

  for (guint i = 0; i < model->tensors->len; i++)
    {
      TmTensor *tensor = tm_model_tensor (model, i);
      if (tensor->module == NULL || !g_utf8_validate (tensor->module, -1, NULL))
        continue;
      if (!tensor->quantized)
        tensor->config_excludes = is_excluded (&exclusions, tensor->module);
      else if (!tensor->config_conflict && is_named (&exclusions, tensor->module))
        {
          tensor->config_conflict = TRUE;
          tm_model_add_problem (model, TM_SEVERITY_WARNING, "config-conflict", tensor->values->source,
                                tensor->values->offset, tensor->name,
                                "%s: %s lists it among those to leave alone, and it is quantized", tensor->name,
                                tm_config_get_quantization_file (config));
        }
    }
  g_hash_table_unref (exclusions.paths);
  g_ptr_array_unref (exclusions.globs);
  g_ptr_array_unref (exclusions.regexes);
}
