#include "recognise/module-settings.h"

#include <string.h>

#include "io/number.h"

#define MAX_RULES 1024u   /* a person writes a few; tools that measure every layer write hundreds */
#define MAX_TARGETS 4096u /* of one group */

typedef struct
{
  char *key;            /* the pattern, or the group's name */
  GRegex *regex;        /* dynamic */
  gboolean left_alone;  /* dynamic: "-:" */
  GHashTable *names;    /* config groups: whole names */
  GPtrArray *regexes;   /* GRegex * */
  GPtrArray *classes;   /* char * */
  GHashTable *members;  /* "num_bits" → "4" */
} Rule;

typedef struct
{
  GPtrArray *rules; /* Rule *, in the order of the file */
  GHashTable *by_key;
  char *last_module; /* a module is asked for several members in a row */
  const Rule *last;
} Rules;

struct _TmModuleSettings
{
  Rules dynamic, groups;
};

/* --- Reading --------------------------------------------------------------------------------------------------------- */

static void
rule_free (gpointer data)
{
  Rule *rule = data;

  g_free (rule->key);
  g_clear_pointer (&rule->regex, g_regex_unref);
  g_hash_table_unref (rule->names);
  g_ptr_array_unref (rule->regexes);
  g_ptr_array_unref (rule->classes);
  g_hash_table_unref (rule->members);
  g_free (rule);
}

static Rule *
get_rule (Rules *rules, const char *key, gsize length)
{
  g_autofree char *text = g_strndup (key, length);
  Rule *rule = g_hash_table_lookup (rules->by_key, text);

  if (rule != NULL || rules->rules->len >= MAX_RULES)
    return rule;
  rule = g_new0 (Rule, 1);
  rule->key = g_steal_pointer (&text);
  rule->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  rule->regexes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_regex_unref);
  rule->classes = g_ptr_array_new_with_free_func (g_free);
  rule->members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (rules->by_key, rule->key, rule);
  g_ptr_array_add (rules->rules, rule);
  return rule;
}

static void
set_member (Rule *rule, const char *member, const char *value)
{
  if (!g_hash_table_contains (rule->members, member))
    g_hash_table_insert (rule->members, g_strdup (member), g_strdup (value));
}

/* "+:PATTERN.bits"; a pattern has dots of its own, a member none. A "-:" has no members: "-:PATTERN.#". */
static void
read_dynamic (const char *path, const char *value, gpointer data)
{
  TmModuleSettings *settings = data;
  const char *end = strrchr (path, '.');
  Rule *rule;

  if (end == NULL)
    return;
  rule = get_rule (&settings->dynamic, path, (gsize) (end - path));
  if (rule == NULL)
    return;
  if (rule->regex == NULL)
    {
      const char *pattern = rule->key;

      rule->left_alone = g_str_has_prefix (pattern, "-:");
      if (rule->left_alone || g_str_has_prefix (pattern, "+:"))
        pattern += 2;
      rule->regex = g_regex_new (pattern, G_REGEX_OPTIMIZE, G_REGEX_MATCH_ANCHORED, NULL);
    }
  set_member (rule, end + 1, value);
}

static void
add_target (Rule *rule, const char *target)
{
  if (rule->regexes->len + rule->classes->len + g_hash_table_size (rule->names) >= MAX_TARGETS)
    return;
  if (g_str_has_prefix (target, "re:"))
    {
      GRegex *regex = g_regex_new (target + strlen ("re:"), G_REGEX_OPTIMIZE, G_REGEX_MATCH_ANCHORED, NULL);

      if (regex != NULL)
        g_ptr_array_add (rule->regexes, regex);
    }
  else if (g_ascii_isupper (target[0]) && strchr (target, '.') == NULL)
    g_ptr_array_add (rule->classes, g_strdup (target));
  else
    g_hash_table_add (rule->names, g_strdup (target));
}

/* "group_0.weights.num_bits", "group_0.targets.0" */
static void
read_groups (const char *path, const char *value, gpointer data)
{
  TmModuleSettings *settings = data;
  const char *dot = strchr (path, '.');
  Rule *rule = dot != NULL ? get_rule (&settings->groups, path, (gsize) (dot - path)) : NULL;

  if (rule == NULL)
    return;
  if (g_str_has_prefix (dot, ".targets.") && g_ascii_isdigit (dot[strlen (".targets.")]))
    add_target (rule, value);
  else if (g_str_has_prefix (dot, ".weights."))
    set_member (rule, dot + strlen (".weights."), value);
  else if (strcmp (dot, ".format") == 0)
    set_member (rule, "format", value);
}

static void
rules_init (Rules *rules)
{
  rules->rules = g_ptr_array_new_with_free_func (rule_free);
  rules->by_key = g_hash_table_new (g_str_hash, g_str_equal);
}

static void
rules_clear (Rules *rules)
{
  g_hash_table_unref (rules->by_key);
  g_ptr_array_unref (rules->rules);
  g_free (rules->last_module);
}

TmModuleSettings *
tm_module_settings_new (const TmConfig *config)
{
  TmModuleSettings *settings = g_new0 (TmModuleSettings, 1);

  rules_init (&settings->dynamic);
  rules_init (&settings->groups);
  tm_config_foreach_quantization (config, "dynamic.", read_dynamic, settings);
  tm_config_foreach_quantization (config, "config_groups.", read_groups, settings);
  return settings;
}

void
tm_module_settings_free (TmModuleSettings *settings)
{
  if (settings == NULL)
    return;
  rules_clear (&settings->dynamic);
  rules_clear (&settings->groups);
  g_free (settings);
}

/* --- Asking ---------------------------------------------------------------------------------------------------------- */

static const Rule *
find_dynamic (const Rules *rules, const char *module)
{
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules->rules, i);

      if (rule->regex != NULL && g_regex_match (rule->regex, module, 0, NULL)) /* one that runs too long matches nothing */
        return rule;
    }
  return NULL;
}

static const Rule *
find_group (const Rules *rules, const char *module)
{
  const gboolean embedding = strstr (module, "embed") != NULL;
  const Rule *by_class = NULL;

  for (guint i = 0; i < rules->rules->len; i++)
    if (g_hash_table_contains (((const Rule *) g_ptr_array_index (rules->rules, i))->names, module))
      return g_ptr_array_index (rules->rules, i);
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules->rules, i);

      for (guint r = 0; r < rule->regexes->len; r++)
        if (g_regex_match (g_ptr_array_index (rule->regexes, r), module, 0, NULL))
          return rule;
      for (guint c = 0; c < rule->classes->len; c++)
        if (by_class == NULL || (embedding && strcmp (g_ptr_array_index (rule->classes, c), "Embedding") == 0))
          by_class = rule;
    }
  return by_class;
}

static const Rule *
find (Rules *rules, const char *module, const Rule *(*look_up) (const Rules *, const char *))
{
  if (rules->rules->len == 0)
    return NULL;
  if (g_strcmp0 (rules->last_module, module) != 0)
    {
      rules->last = g_utf8_validate (module, -1, NULL) ? look_up (rules, module) : NULL;
      g_free (rules->last_module);
      rules->last_module = g_strdup (module);
    }
  return rules->last;
}

const char *
tm_module_settings_get_dynamic (TmModuleSettings *settings, const char *module, const char *member, gboolean *left_alone)
{
  const Rule *rule = find (&settings->dynamic, module, find_dynamic);

  if (left_alone != NULL)
    *left_alone = rule != NULL && rule->left_alone;
  return rule != NULL ? g_hash_table_lookup (rule->members, member) : NULL;
}

const char *
tm_module_settings_get_weights (TmModuleSettings *settings, const char *module, const char *member)
{
  const Rule *rule = find (&settings->groups, module, find_group);

  return rule != NULL ? g_hash_table_lookup (rule->members, member) : NULL;
}

gboolean
tm_module_settings_get_weights_u64 (TmModuleSettings *settings, const char *module, const char *member, guint64 *value)
{
  const char *text = tm_module_settings_get_weights (settings, module, member);

  return text != NULL && tm_parse_u64 (text, -1, value);
}
