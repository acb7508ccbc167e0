#include "analysis/align-names.h"

#include <string.h>

#include "recognise/names.h"

/* --- The name's ending -------------------------------------------------------------------------------------------- */

static const struct
{
  const char *ending, *stem;
  gboolean bias;
} endings[] = {
  { ".dt_bias", ".dt_proj", TRUE }, /* named as if it were a parameter of its own */
  { ".weight", "", FALSE },         { ".bias", "", TRUE }, { ".gamma", "", FALSE }, { ".beta", "", TRUE },
};

static char *
take_ending (const char *name, gboolean *bias)
{
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i].ending))
      {
        g_autofree char *stem = g_strndup (name, strlen (name) - strlen (endings[i].ending));

        *bias = endings[i].bias;
        return g_strconcat (stem, endings[i].stem, NULL);
      }
  *bias = g_str_has_suffix (name, "_bias");
  return g_strdup (name);
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

/* Numbers of blocks and experts become 0. "layer.1" within a block is a place in it, not a count. */
static char *
take_numbers (const char *stem, char **block, gint64 *expert)
{
  g_auto (GStrv) part = g_strsplit (stem, ".", -1);
  guint depth = 0;

  *block = NULL;
  *expert = -1;
  for (guint i = 1; part[0] != NULL && part[i] != NULL; i++)
    {
      gint64 number = tm_parse_number (part[i], -1);

      if (number < 0 || !tm_is_list_word (part[i - 1], -1) || (depth > 0 && strcmp (part[i - 1], "layer") == 0))
        continue;
      depth++;
      if (strcmp (part[i - 1], "experts") == 0)
        *expert = number;
      else if (*block == NULL)
        *block = g_strdup_printf ("%" G_GINT64_FORMAT, number);
      else
        continue;
      g_free (part[i]);
      part[i] = g_strdup ("0");
    }
  return g_strjoinv (".", part);
}

/* --- The listed name ---------------------------------------------------------------------------------------------- */

static const TmNameRow *
find_row (const char *stem)
{
  for (const char *rest = stem; rest != NULL; rest = tm_name_skip_container (rest))
    {
      const TmNameRow *row = tm_name_row_find (rest);
      g_autofree char *within = row == NULL && rest != stem ? g_strconcat ("model.", rest, NULL) : NULL;

      if (within != NULL)
        row = tm_name_row_find (within);
      if (row != NULL)
        return row;
    }
  return NULL;
}

/* MLX stacks experts under a name of its own, Baichuan fuses attention under one; some checkpoints glue "bias" to the parameter. */
static const TmNameRow *
find_row_of_variants (const char *stem)
{
  static const char stacked[] = ".switch_mlp.", packed[] = ".self_attn.W_pack", sparse[] = ".block_sparse_moe";
  const char *at = strstr (stem, stacked);
  const TmNameRow *row = find_row (stem);

  if (row == NULL && at != NULL)
    {
      g_autofree char *before = g_strndup (stem, (gsize) (at - stem));
      g_autofree char *experts = g_strconcat (before, ".experts.", at + strlen (stacked), NULL);

      row = find_row (experts);
      if (row == NULL && g_str_has_suffix (before, sparse))
        {
          g_autofree char *layer = g_strndup (before, strlen (before) - strlen (sparse));
          g_autofree char *usual = g_strconcat (layer, ".mlp.experts.", at + strlen (stacked), NULL);

          row = find_row (usual);
        }
    }
  if (row == NULL && g_str_has_suffix (stem, packed))
    {
      g_autofree char *before = g_strndup (stem, strlen (stem) - strlen (packed));
      g_autofree char *fused = g_strconcat (before, ".self_attn.qkv_proj", NULL);

      row = find_row (fused);
    }
  if (row == NULL && g_str_has_suffix (stem, "_bias"))
    {
      g_autofree char *without = g_strndup (stem, strlen (stem) - strlen ("_bias"));

      row = find_row (without);
    }
  return row;
}

static char *
make_key (const char *listed, const char *block, gboolean bias)
{
  const char *at = strstr (listed, "blk.0.");

  if (at == NULL || block == NULL)
    return g_strconcat (listed, bias ? ".bias" : ".weight", NULL);
  g_autofree char *before = g_strndup (listed, (gsize) (at - listed));
  return g_strconcat (before, "blk.", block, ".", at + strlen ("blk.0."), bias ? ".bias" : ".weight", NULL);
}

void
tm_name_key_init (TmNameKey *key, const char *name)
{
  g_autofree char *block = NULL, *stem = NULL, *numbered = take_ending (name, &key->bias);
  const TmNameRow *row;

  stem = take_numbers (numbered, &block, &key->expert);
  row = find_row_of_variants (stem);
  key->kind = NULL;
  key->post_norm = FALSE;
  if (row != NULL)
    {
      const char *at = strstr (row->key, "blk.0.");

      key->kind = at != NULL ? at + strlen ("blk.0.") : row->key;
      key->post_norm = strcmp (key->kind, "ffn_norm") == 0 && g_str_has_suffix (stem, "post_attention_layernorm");
      key->key = make_key (row->key, block, key->bias);
      return;
    }
  /* Unlisted: only containers come off, so that two checkpoints of one kind still meet. */
  const char *rest = numbered;
  for (const char *within = rest; within != NULL; within = tm_name_skip_container (within))
    rest = within;
  key->key = g_strconcat (rest, key->bias ? ".bias" : ".weight", NULL);
  key->expert = -1; /* its number is in the name */
}

void
tm_name_key_clear (TmNameKey *key)
{
  g_clear_pointer (&key->key, g_free);
}

char *
tm_name_key_sibling (const TmNameKey *key, const char *kind)
{
  const char *ending = key->bias ? ".bias" : ".weight";
  gsize length = strlen (key->key) - strlen (ending), kind_length = key->kind != NULL ? strlen (key->kind) : 0;
  g_autofree char *before = g_strndup (key->key, length - MIN (kind_length, length));

  return g_strconcat (before, kind, ending, NULL);
}

void
tm_name_key_set_post_norm (TmNameKey *key)
{
  char *other = tm_name_key_sibling (key, "post_attention_norm");

  g_free (key->key);
  key->key = other;
  key->kind = "post_attention_norm";
}
