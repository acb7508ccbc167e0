#include "recognise/names.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "model/name-table.h"

#define MAX_KINDS 20000
#define MAX_NAME 512 /* a longer name is no word of the field */

struct _TmNames
{
  TmNameTable *kinds; /* names with their numbers made equal → places among roles */
  GStringChunk *texts;
  GPtrArray *roles;   /* role, or "" */
  regex_t *patterns;
};

/* --- Words and numbers ------------------------------------------------------------------------------------------- */

gboolean
tm_is_list_word (const char *word, gssize length)
{
  const gsize n = length < 0 ? strlen (word) : (gsize) length;

  for (guint low = 0, high = tm_n_list_words; low < high;)
    {
      const guint middle = (low + high) / 2;
      const char *listed = tm_list_words[middle];
      int order = strncmp (word, listed, n);

      if (order == 0 && listed[n] != '\0')
        order = -1;
      if (order == 0)
        return TRUE;
      if (order < 0)
        high = middle;
      else
        low = middle + 1;
    }
  return FALSE;
}

gint64
tm_parse_number (const char *text, gssize length)
{
  const gsize n = length < 0 ? strlen (text) : (gsize) length;
  gint64 number = 0;

  if (n == 0 || n > 18)
    return -1;
  for (gsize i = 0; i < n; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return -1;
      number = number * 10 + (text[i] - '0');
    }
  return number;
}

/* --- Kinds of names ---------------------------------------------------------------------------------------------- */

/* The name with numbers that only count made 0: those after a list word, and any run of three digits or more. A "layer.1"
 * inside a numbered block is T5's, where the number says which sub-block it is. kind: as long as the name, and a NUL. Gives its
 * length. */
static gsize
write_kind (char *kind, const char *name)
{
  const char *start = kind;
  const char *before = NULL; /* the segment before this one */
  gsize before_length = 0;
  guint depth = 0;

  for (const char *segment = name;;)
    {
      const char *dot = strchr (segment, '.');
      const gsize length = dot != NULL ? (gsize) (dot - segment) : strlen (segment);

      if (g_ascii_isdigit (segment[0]) && before != NULL && tm_parse_number (segment, (gssize) length) >= 0
          && !(depth > 0 && before_length == 5 && memcmp (before, "layer", 5) == 0)
          && tm_is_list_word (before, (gssize) before_length))
        {
          *kind++ = '0';
          depth++;
        }
      else
        for (gsize i = 0; i < length;)
          {
            gsize digits = 0;

            while (i + digits < length && g_ascii_isdigit (segment[i + digits]))
              digits++;
            if (digits < 3)
              for (gsize copied = MAX (digits, 1), k = 0; k < copied; k++)
                *kind++ = segment[i + k];
            else
              *kind++ = '0';
            i += MAX (digits, 1);
          }
      if (segment[length] == '\0')
        break;
      *kind++ = '.';
      before = segment;
      before_length = length;
      segment += length + 1;
    }
  *kind = '\0';
  return (gsize) (kind - start);
}

static int
compare_rows (const void *name, const void *row)
{
  return strcmp (name, ((const TmNameRow *) row)->name);
}

const TmNameRow *
tm_name_row_find (const char *name)
{
  return bsearch (name, tm_name_rows, tm_n_name_rows, sizeof *tm_name_rows, compare_rows);
}

static regex_t *
compile_patterns (const char *const *first, gsize stride, guint n)
{
  regex_t *compiled = g_new0 (regex_t, n);

  for (guint i = 0; i < n; i++)
    {
      const char *pattern = *(const char *const *) (const void *) ((const char *) first + stride * i);

      if (regcomp (&compiled[i], pattern, REG_EXTENDED | REG_NOSUB) != 0)
        g_error ("a pattern of the name table does not compile: %s", pattern);
    }
  return compiled;
}

TmNames *
tm_names_new (void)
{
  TmNames *names = g_new0 (TmNames, 1);

  names->kinds = tm_name_table_new (0);
  names->texts = g_string_chunk_new (4096);
  names->roles = g_ptr_array_new ();
  return names;
}

void
tm_names_free (TmNames *names)
{
  if (names == NULL)
    return;
  for (guint i = 0; names->patterns != NULL && i < tm_n_role_patterns; i++)
    regfree (&names->patterns[i]);
  g_free (names->patterns);
  tm_name_table_free (names->kinds);
  g_string_chunk_free (names->texts);
  g_ptr_array_unref (names->roles);
  g_free (names);
}

const char *
tm_name_skip_container (const char *name)
{
  static const char *const containers[] = { "module.",
                                            "_orig_mod.",
                                            "_fsdp_wrapped_module.",
                                            "state_dict.",
                                            "base_model.model.",
                                            "language_model.",
                                            "model.",
                                            "transformer.",
                                            "backbone.",
                                            "gpt_neox.",
                                            "bert.",
                                            "roberta.",
                                            "distilbert." };

  for (guint i = 0; i < G_N_ELEMENTS (containers); i++)
    if (g_str_has_prefix (name, containers[i]))
      return name + strlen (containers[i]);
  return NULL;
}

static const char *
find_role (TmNames *names, const char *key)
{
  g_autofree char *lower = NULL;

  for (const char *rest = key; rest != NULL; rest = tm_name_skip_container (rest))
    {
      const TmNameRow *row = tm_name_row_find (rest);

      if (row != NULL)
        return row->role;
    }
  if (names->patterns == NULL)
    names->patterns = compile_patterns (&tm_role_patterns[0].pattern, sizeof *tm_role_patterns, tm_n_role_patterns);
  lower = g_ascii_strdown (key, -1);
  for (guint i = 0; i < tm_n_role_patterns; i++)
    if (regexec (&names->patterns[i], lower, 0, NULL, 0) == 0)
      return tm_role_patterns[i].role;
  return "";
}

const char *
tm_names_find_role (TmNames *names, const char *name)
{
  char kind[MAX_NAME + 1];
  const char *role;
  gsize length;
  guint known;

  if (strnlen (name, MAX_NAME + 1) > MAX_NAME)
    return NULL;
  length = write_kind (kind, name);
  known = tm_name_table_find (names->kinds, kind, length);
  if (known != TM_NO_NUMBER)
    role = g_ptr_array_index (names->roles, known);
  else
    {
      if (names->roles->len >= MAX_KINDS)
        return NULL;
      role = find_role (names, kind);
      tm_name_table_add (names->kinds, g_string_chunk_insert_len (names->texts, kind, (gssize) length), length, names->roles->len);
      g_ptr_array_add (names->roles, (gpointer) role);
    }
  return role[0] != '\0' ? role : NULL;
}

/* --- Roles ------------------------------------------------------------------------------------------------------- */

TmModuleRole
tm_role_get_module_role (const char *role)
{
  static const struct
  {
    const char *prefix;
    TmModuleRole role;
  } roles[] = {
    { "attn", TM_MODULE_ATTENTION },
    { "cross_attn", TM_MODULE_ATTENTION },
    { "mlp", TM_MODULE_FEED_FORWARD },
    { "moe.router", TM_MODULE_ROUTER },
    { "moe.expert", TM_MODULE_EXPERTS },
    { "moe.shared", TM_MODULE_FEED_FORWARD },
    { "norm", TM_MODULE_NORM },
    { "mtp.norm", TM_MODULE_NORM },
    { "embedding.norm", TM_MODULE_NORM },
    { "embedding", TM_MODULE_EMBEDDING },
    { "ssm", TM_MODULE_SSM },
    { "conv", TM_MODULE_CONVOLUTION },
    { "head", TM_MODULE_HEAD },
  };

  for (guint i = 0; role != NULL && i < G_N_ELEMENTS (roles); i++)
    if (g_str_has_prefix (role, roles[i].prefix))
      return roles[i].role;
  return TM_MODULE_OTHER;
}

TmModuleRole
tm_segment_get_module_role (const char *segment)
{
  static const struct
  {
    const char *part;
    gboolean whole;
    TmModuleRole role;
  } words[] = {
    { "experts", FALSE, TM_MODULE_EXPERTS },
    { "moe", TRUE, TM_MODULE_FEED_FORWARD },
    { "block_sparse_moe", TRUE, TM_MODULE_FEED_FORWARD },
    { "linear_attn", TRUE, TM_MODULE_SSM },
    { "attn", FALSE, TM_MODULE_ATTENTION },
    { "attention", FALSE, TM_MODULE_ATTENTION },
    { "mlp", FALSE, TM_MODULE_FEED_FORWARD },
    { "ffn", FALSE, TM_MODULE_FEED_FORWARD },
    { "feed_forward", FALSE, TM_MODULE_FEED_FORWARD },
    { "densereludense", FALSE, TM_MODULE_FEED_FORWARD },
    { "ff", TRUE, TM_MODULE_FEED_FORWARD },
    { "intermediate", TRUE, TM_MODULE_FEED_FORWARD },
    { "mixer", TRUE, TM_MODULE_SSM },
    { "mamba", FALSE, TM_MODULE_SSM },
    { "ssm", TRUE, TM_MODULE_SSM },
    { "embeddings", TRUE, TM_MODULE_EMBEDDING },
    { "classifier", TRUE, TM_MODULE_HEAD },
    { "head", TRUE, TM_MODULE_HEAD },
    { "lm_head", TRUE, TM_MODULE_HEAD },
  };
  g_autofree char *lower = NULL;

  if (strnlen (segment, 65) > 64)
    return TM_MODULE_OTHER;
  lower = g_ascii_strdown (segment, -1);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].whole ? strcmp (lower, words[i].part) == 0 : strstr (lower, words[i].part) != NULL)
      return words[i].role;
  return TM_MODULE_OTHER;
}

/* --- Architecture ------------------------------------------------------------------------------------------------ */

static gboolean
any_matches (const GPtrArray *kinds, const char *pattern)
{
  regex_t compiled;
  gboolean found = FALSE;

  if (regcomp (&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
    g_error ("a pattern of the name table does not compile: %s", pattern);
  for (guint i = 0; i < kinds->len && !found; i++)
    found = regexec (&compiled, g_ptr_array_index (kinds, i), 0, NULL, 0) == 0;
  regfree (&compiled);
  return found;
}

/* The kinds of names in the tree, each once. Of equal blocks the first has them all. */
static GPtrArray *
list_kinds (const TmModule *root, const GPtrArray *tensors)
{
  g_autoptr (TmNameTable) seen = tm_name_table_new (0);
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  GPtrArray *kinds = g_ptr_array_new_with_free_func (g_free);
  char kind[MAX_NAME + 1];

  g_ptr_array_add (left, (gpointer) root);
  while (left->len > 0 && kinds->len < MAX_KINDS / 10)
    {
      const TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);

      for (guint i = module->children->len; i-- > 0;)
        {
          const TmFold *fold = tm_module_get_fold (module, i);

          if (fold == NULL || fold->first == i)
            g_ptr_array_add (left, g_ptr_array_index (module->children, i));
        }
      for (guint i = 0; i < module->tensors->len; i++)
        {
          const TmTensor *tensor = g_ptr_array_index (tensors, g_array_index (module->tensors, guint, i));
          gsize length;

          if (strnlen (tensor->name, MAX_NAME + 1) > MAX_NAME)
            continue;
          length = write_kind (kind, tensor->name);
          if (tm_name_table_find (seen, kind, length) != TM_NO_NUMBER)
            continue;
          g_ptr_array_add (kinds, g_strdup (kind));
          tm_name_table_add (seen, g_ptr_array_index (kinds, kinds->len - 1), length, 0);
        }
    }
  return kinds;
}

const char *
tm_detect_architecture (const TmModule *root, const GPtrArray *tensors)
{
  g_autoptr (GPtrArray) kinds = list_kinds (root, tensors);

  for (guint i = 0; i < tm_n_detect_rows; i++)
    {
      const TmDetectRow *row = &tm_detect_rows[i];
      gboolean fits = row->none == NULL || !any_matches (kinds, row->none);

      for (guint a = 0; fits && a < G_N_ELEMENTS (row->all) && row->all[a] != NULL; a++)
        fits = any_matches (kinds, row->all[a]);
      if (fits)
        return row->architecture;
    }
  return NULL;
}
