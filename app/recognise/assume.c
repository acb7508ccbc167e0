#include "recognise/assume.h"

#include <string.h>

#include "io/error.h"
#include "io/number.h"

struct _TmAssume
{
  GHashTable *choices; /* "KEY" or "KEY\x01TENSOR" → value; no key holds \x01 */
};

static const char *const keys[] = {
  "gptq-zeros=v1|v2", "nibbles=interleaved|linear", "bits=N", "group=N", "fp4-order=low|high", "packing=padded|dense",
  "global-scale=factor|divisor", "float8=fn|fnuz", "g-idx=literal|sequential", "void=DTYPE", NULL,
};

const char *const *
tm_assume_get_keys (void)
{
  return keys;
}

static char *
choice_key (const char *tensor, const char *key)
{
  return tensor != NULL ? g_strdup_printf ("%s\x01%s", key, tensor) : g_strdup (key);
}

TmAssume *
tm_assume_new (void)
{
  TmAssume *assume = g_new0 (TmAssume, 1);
  assume->choices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return assume;
}

void
tm_assume_free (TmAssume *assume)
{
  if (assume == NULL)
    return;
  g_hash_table_unref (assume->choices);
  g_free (assume);
}

TmAssume *
tm_assume_copy (const TmAssume *assume)
{
  TmAssume *copy = tm_assume_new ();
  GHashTableIter iter;
  gpointer key, value;
  if (assume == NULL)
    return copy;
  g_hash_table_iter_init (&iter, assume->choices);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (copy->choices, g_strdup (key), g_strdup (value));
  return copy;
}

gboolean
tm_assume_is_empty (const TmAssume *assume)
{
  return assume == NULL || g_hash_table_size (assume->choices) == 0;
}

static gboolean
value_fits (const char *allowed, const char *value)
{
  guint64 number;
  if (strcmp (allowed, "N") == 0)
    return tm_parse_u64 (value, -1, &number) && number > 0;
  if (strcmp (allowed, "DTYPE") == 0)
    return value[0] != '\0';
  g_auto (GStrv) words = g_strsplit (allowed, "|", -1);
  return g_strv_contains ((const char *const *) words, value);
}

gboolean
tm_assume_set (TmAssume *assume, const char *tensor, const char *key, const char *value, GError **error)
{
  gsize length = strlen (key);
  for (guint i = 0; keys[i] != NULL; i++)
    if (strncmp (keys[i], key, length) == 0 && keys[i][length] == '=')
      {
        if (!value_fits (keys[i] + length + 1, value))
          {
            g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "“%s” is no value of %s", value, keys[i]);
            return FALSE;
          }
        g_hash_table_replace (assume->choices, choice_key (tensor, key), g_strdup (value));
        return TRUE;
      }
  g_autofree char *all = g_strjoinv (", ", (char **) keys);
  g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "unknown key “%s”; there are %s", key, all);
  return FALSE;
}

void
tm_assume_unset (TmAssume *assume, const char *tensor, const char *key)
{
  g_autofree char *at = choice_key (tensor, key);
  g_hash_table_remove (assume->choices, at);
}

const char *
tm_assume_get (const TmAssume *assume, const char *tensor, const char *key)
{
  if (assume == NULL)
    return NULL;
  if (tensor != NULL)
    {
      g_autofree char *at = choice_key (tensor, key);
      const char *own = g_hash_table_lookup (assume->choices, at);
      if (own != NULL)
        return own;
    }
  return g_hash_table_lookup (assume->choices, key);
}
