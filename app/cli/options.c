#include "cli/cli.h"

#include <string.h>

typedef struct
{
  const char *name;
  CliOptionFlags flag;
  gboolean takes_value;
} Option;

static const Option known_options[] = {
  { "--json", CLI_OPTION_JSON, FALSE },    { "--strict", CLI_OPTION_STRICT, FALSE },
  { "--full", CLI_OPTION_FULL, FALSE },    { "--stored", CLI_OPTION_STORED, FALSE },
  { "--region", CLI_OPTION_REGION, TRUE }, { "--quantity", CLI_OPTION_QUANTITY, TRUE },
  { "-o", CLI_OPTION_OUTPUT, TRUE },       { "--assume", CLI_OPTION_ASSUME, TRUE },
  { "--reference", CLI_OPTION_REFERENCE, TRUE }, { "--filter", CLI_OPTION_FILTER, TRUE },
};

static const char *const quantities[TM_N_QUANTITIES] = {
  [TM_QUANTITY_VALUE] = "value",           [TM_QUANTITY_RAW] = "raw",       [TM_QUANTITY_SCALE] = "scale",
  [TM_QUANTITY_ZERO_POINT] = "zero-point", [TM_QUANTITY_OFFSET] = "offset",
};

const char *
cli_quantity_get_name (TmQuantity quantity)
{
  return quantities[quantity];
}

void
cli_options_clear (CliOptions *options)
{
  g_clear_pointer (&options->assume, tm_assume_free);
  g_clear_pointer (&options->arguments, g_ptr_array_unref);
}

static gboolean
parse_quantity (CliOptions *options, const char *value)
{
  for (guint i = 0; i < TM_N_QUANTITIES; i++)
    if (strcmp (quantities[i], value) == 0)
      {
        options->quantity = (TmQuantity)i;
        return TRUE;
      }
  cli_usage ("unknown quantity '%s': value, raw, scale, zero-point or offset", value);
  return FALSE;
}

static gboolean
parse_assumption (CliOptions *options, const char *text)
{
  const char *equals = strchr (text, '=');
  g_autofree char *key = g_strndup (text, equals ? (gsize)(equals - text) : strlen (text));
  g_autoptr (GError) error = NULL;

  if (tm_assume_set (options->assume, NULL, key, equals ? equals + 1 : "", &error))
    return TRUE;
  cli_usage ("--assume %s: %s", text, error->message);
  return FALSE;
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
    case CLI_OPTION_REFERENCE:
      options->reference = value;
      return TRUE;
    case CLI_OPTION_FILTER:
      options->filter = value;
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

  options->assume = tm_assume_new ();
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
