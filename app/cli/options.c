#include "cli/cli.h"

#include <string.h>

typedef struct
{
  const char *name;
  CliOptionFlags flag;
  gboolean takes_value;
} Option;

static const Option known_options[] = {
  { "--json", CLI_OPTION_JSON, FALSE },         { "--strict", CLI_OPTION_STRICT, FALSE },
  { "--full", CLI_OPTION_FULL, FALSE },         { "--stored", CLI_OPTION_STORED, FALSE },
  { "--region", CLI_OPTION_REGION, TRUE },      { "--quantity", CLI_OPTION_QUANTITY, TRUE },
  { "-o", CLI_OPTION_OUTPUT, TRUE },            { "--assume", CLI_OPTION_ASSUME, TRUE },
};

static const char *const quantities[TM_N_QUANTITIES] = {
  [TM_QUANTITY_VALUE] = "value",           [TM_QUANTITY_RAW] = "raw",       [TM_QUANTITY_SCALE] = "scale",
  [TM_QUANTITY_ZERO_POINT] = "zero-point", [TM_QUANTITY_OFFSET] = "offset",
};

/* Readings that a file may leave open. values NULL: a whole number; "*": a dtype's name. */
static const struct { const char *key, *values; } assumptions[] = {
  { "gptq-zeros", "v1|v2" },        { "nibbles", "interleaved|linear" },     { "bits", NULL },
  { "group", NULL },                { "fp4-order", "low|high" },             { "packing", "padded|dense" },
  { "global-scale", "factor|divisor" }, { "float8", "fn|fnuz" },             { "g-idx", "literal|sequential" },
  { "void", "*" },
};

const char *
cli_quantity_get_name (TmQuantity quantity)
{
  return quantities[quantity];
}

void
cli_options_clear (CliOptions *options)
{
  g_clear_pointer (&options->assumptions, g_hash_table_unref);
  g_clear_pointer (&options->arguments, g_ptr_array_unref);
}

static gboolean
parse_quantity (CliOptions *options, const char *value)
{
  for (guint i = 0; i < TM_N_QUANTITIES; i++)
    if (strcmp (quantities[i], value) == 0)
      {
        options->quantity = (TmQuantity) i;
        return TRUE;
      }
  cli_usage ("unknown quantity '%s': value, raw, scale, zero-point or offset", value);
  return FALSE;
}

static gboolean
is_allowed (const char *values, const char *value)
{
  g_auto (GStrv) choices = NULL;

  if (values == NULL)
    return value[0] != '\0' && strspn (value, "0123456789") == strlen (value) && strlen (value) < 10;
  if (strcmp (values, "*") == 0)
    {
      g_autofree char *upper = g_ascii_strup (value, -1);
      return tm_dtype_from_name (upper) != TM_DTYPE_UNKNOWN;
    }
  choices = g_strsplit (values, "|", -1);
  return g_strv_contains ((const char *const *) choices, value);
}

static gboolean
parse_assumption (CliOptions *options, const char *text)
{
  const char *equals = strchr (text, '=');
  g_autofree char *key = g_strndup (text, equals ? (gsize) (equals - text) : strlen (text));
  GString *known = g_string_new (NULL);
  gboolean ok = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (assumptions); i++)
    {
      const char *values = assumptions[i].values;
      g_autofree char *choice = g_strdup_printf ("%s%s=%s", i > 0 ? ", " : "", assumptions[i].key,
                                                 values == NULL ? "N" : values[0] == '*' ? "DTYPE" : values);
      g_string_append (known, choice);
      if (equals == NULL || strcmp (assumptions[i].key, key) != 0)
        continue;
      ok = is_allowed (values, equals + 1);
      if (!ok)
        {
          cli_usage ("--assume %s cannot be '%s': %s", key, equals + 1, choice + (i > 0 ? 2 : 0));
          g_string_free (known, TRUE);
          return FALSE;
        }
    }
  if (ok)
    g_hash_table_replace (options->assumptions, g_steal_pointer (&key), g_strdup (equals + 1));
  else
    cli_usage ("unknown assumption '%s': %s", text, known->str);
  g_string_free (known, TRUE);
  return ok;
}

static gboolean
take (CliOptions *options, const Option *option, const char *value)
{
  options->given |= option->flag;
  switch (option->flag)
    {
    case CLI_OPTION_REGION:
      options->region = value;
      return TRUE;
    case CLI_OPTION_QUANTITY:
      return parse_quantity (options, value);
    case CLI_OPTION_OUTPUT:
      options->output = value;
      return TRUE;
    case CLI_OPTION_ASSUME:
      return parse_assumption (options, value);
    case CLI_OPTION_JSON:
    case CLI_OPTION_STRICT:
    case CLI_OPTION_FULL:
    case CLI_OPTION_STORED:
    default:
      return TRUE;
    }
}

/* "--region=R" gives its value too, "-oF" as well. */
static const Option *
find_option (CliOptionFlags known, const char *argument, const char **value)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known_options); i++)
    {
      const Option *option = &known_options[i];
      gsize length = strlen (option->name);

      if (!(known & option->flag) || !g_str_has_prefix (argument, option->name))
        continue;
      *value = NULL;
      if (argument[length] == '\0')
        return option;
      if (!option->takes_value)
        continue;
      if (option->name[1] != '-')
        *value = argument + length;
      else if (argument[length] == '=')
        *value = argument + length + 1;
      if (*value != NULL)
        return option;
    }
  return NULL;
}

gboolean
cli_options_parse (CliOptions *options, CliOptionFlags known, int argc, char **argv)
{
  gboolean literal = FALSE;

  options->assumptions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  options->arguments = g_ptr_array_new ();
  for (int i = 0; i < argc; i++)
    {
      const char *argument = argv[i], *value;
      const Option *option;

      if (literal || argument[0] != '-' || argument[1] == '\0' || g_ascii_isdigit (argument[1]))
        {
          g_ptr_array_add (options->arguments, argv[i]);
          continue;
        }
      if (strcmp (argument, "--") == 0)
        {
          literal = TRUE;
          continue;
        }
      if (strcmp (argument, "--help") == 0 || strcmp (argument, "-h") == 0)
        {
          options->help = TRUE;
          return TRUE;
        }
      option = find_option (known, argument, &value);
      if (option == NULL)
        {
          cli_usage ("unknown option '%s'", argument);
          return FALSE;
        }
      if (option->takes_value && value == NULL)
        {
          if (i + 1 >= argc)
            {
              cli_usage ("option '%s' needs a value", argument);
              return FALSE;
            }
          value = argv[++i];
        }
      if (!take (options, option, value))
        return FALSE;
    }
  return TRUE;
}
