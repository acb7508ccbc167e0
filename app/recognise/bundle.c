#include "recognise/bundle.h"

#include <string.h>

#include "io/number.h"

gboolean
tm_get_matrix (const TmStored *stored, guint64 *rows, guint64 *columns)
{
  if (stored == NULL || stored->rank == 0 || stored->n_elements == 0)
    return FALSE;
  *columns = stored->shape[stored->rank - 1];
  *rows = stored->rank > 1 ? stored->shape[stored->rank - 2] : 1;
  return TRUE;
}

gboolean
tm_same_slices (const TmStored *a, const TmStored *b)
{
  if (a->rank != b->rank)
    return FALSE;
  for (guint axis = 0; axis + 2 < a->rank; axis++)
    if (a->shape[axis] != b->shape[axis])
      return FALSE;
  return TRUE;
}

guint64 *
tm_shape_with_columns (const TmStored *stored, guint64 columns)
{
  guint64 *shape = g_memdup2 (stored->shape, sizeof *shape * stored->rank);

  shape[stored->rank - 1] = columns;
  return shape;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------------- */

void
tm_grouped_set_blocks (TmGrouped *grouped, const TmTensor *tensor, guint64 block_rows, guint64 block_columns,
                       guint64 grid_rows, guint64 grid_columns)
{
  grouped->columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
  grouped->rows = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
  grouped->block_rows = block_rows;
  grouped->block_columns = block_columns;
  grouped->grid_rows = grid_rows;
  grouped->grid_columns = grid_columns;
}

void
tm_grouped_set_flat (TmGrouped *grouped, const TmTensor *tensor, guint64 block)
{
  grouped->rows = grouped->block_rows = grouped->grid_rows = 1;
  grouped->columns = tensor->n_elements;
  grouped->block_columns = block;
  grouped->grid_columns = (tensor->n_elements - 1) / block + 1;
}

void
tm_tensor_set_blocks (TmTensor *tensor, guint64 block_rows, guint64 block_columns, gboolean nested)
{
  static const char *const labels[][2] = { { "block", NULL }, { "tensor", "group" } };
  const guint rank = tensor->rank;
  g_autofree guint64 *extents = g_new (guint64, 2 * MAX (rank, 1));
  guint64 *fine = extents;
  guint n_levels = 1;

  if (nested)
    {
      for (guint axis = 0; axis < rank; axis++)
        extents[axis] = tensor->shape[axis];
      fine += rank;
      n_levels = 2;
    }
  for (guint axis = 0; axis < rank; axis++)
    fine[axis] = axis + 1 == rank ? block_columns : axis + 2 == rank ? block_rows : 1;
  tensor->granularity = tm_granularity_new (rank, tensor->shape, FALSE, n_levels, extents, labels[nested ? 1 : 0]);
  /* a block wider than a short matrix is still the block that its sisters have */
  tensor->group_size = rank > 0 && block_columns != tensor->shape[rank - 1] ? block_columns : 0;
}

void
tm_tensor_set_whole (TmTensor *tensor, gboolean per_first)
{
  static const char *const labels[] = { "tensor", "channel" };
  g_autofree guint64 *extents = g_memdup2 (tensor->shape, sizeof *extents * MAX (tensor->rank, 1));

  if (per_first && tensor->rank > 0)
    extents[0] = 1;
  tensor->granularity
      = tm_granularity_new (tensor->rank, tensor->shape, FALSE, 1, extents, labels + (per_first ? 1 : 0));
  tensor->group_size = 0;
}

void
tm_tensor_set_reshaped (TmTensor *tensor, guint64 rows, guint64 columns, guint64 block_rows, guint64 block_columns,
                        guint64 outer)
{
  static const char *const labels[] = { "super-block", "block" };
  const guint64 shape[2] = { rows, columns };
  const guint64 extents[4] = { block_rows, outer, block_rows, block_columns };

  if (rows == 1)
    { /* flattened */
      const guint64 flat[2] = { outer, block_columns };

      tensor->granularity = outer ? tm_granularity_new (1, shape + 1, TRUE, 2, flat, labels)
                                  : tm_granularity_new (1, shape + 1, TRUE, 1, flat + 1, labels + 1);
    }
  else
    tensor->granularity = tm_granularity_new (2, shape, TRUE, 1, extents + 2, labels + 1);
  tensor->group_size = block_columns > 1 ? block_columns : 0;
}

/* --- Companions ------------------------------------------------------------------------------------------------------ */

void
tm_folding_add_rest (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, TmTensor *tensor)
{
  for (guint p = 0; p < bundle->parts->len; p++)
    {
      const TmPart *part = &g_array_index (bundle->parts, TmPart, p);
      gboolean own = g_strv_contains (convention->suffixes, part->suffix) && strcmp (part->suffix, ".bias") != 0;

      for (guint o = 0; o < tensor->n_operands && own; o++)
        own = tensor->operand[o].stored != part->stored;
      if (own)
        tm_folding_add (folding, tensor, TM_ROLE_OTHER, tm_model_stored (tm_folding_get_model (folding), part->stored));
    }
}

gboolean
tm_folding_get_number (TmFolding *folding, const char *tensor, const char *key, guint64 *value)
{
  const char *text = tm_folding_get_choice (folding, tensor, key);

  return text != NULL && tm_parse_u64 (text, -1, value) && *value > 0;
}

gboolean
tm_folding_is_high_first (TmFolding *folding, const char *name, gboolean usual)
{
  const char *choice = tm_folding_get_choice (folding, name, "fp4-order");

  return choice != NULL ? strcmp (choice, "high") == 0 : usual;
}

void
tm_folding_record_order (TmFolding *folding, const TmTensor *tensor)
{
  const char *choice = tm_folding_get_choice (folding, tensor->name, "fp4-order");

  if (choice != NULL)
    tm_folding_assume (folding, tensor, "fp4-order", choice, "low|high", "as asked for; files do not say it");
}

/* --- Widths ---------------------------------------------------------------------------------------------------------- */

static guint64
config_number (const TmConfig *config, const char *key)
{
  g_autofree char *nested = g_strconcat ("text_config.", key, NULL);
  const char *text = tm_config_get (config, key);
  guint64 value = 0;

  if (text == NULL)
    text = tm_config_get (config, nested);
  return text != NULL && tm_parse_u64 (text, -1, &value) ? value : 0;
}

static guint64
heads_width (const TmConfig *config, const char *heads_key)
{
  guint64 heads = config_number (config, heads_key), all = config_number (config, "num_attention_heads");
  guint64 dim = config_number (config, "head_dim"), width;

  if (heads == 0)
    heads = all;
  if (dim == 0 && all > 0)
    dim = config_number (config, "hidden_size") / all;
  return __builtin_mul_overflow (heads, dim, &width) ? 0 : width;
}

/* The length of the norm in front of a layer: "…layers.3.self_attn.q_proj" has "…layers.3.input_layernorm.weight". */
static guint64
norm_width (TmFolding *folding, const char *prefix)
{
  static const char *const norms[] = { "input_layernorm.weight", "post_attention_layernorm.weight" };
  const char *last = strrchr (prefix, '.');
  const char *block = last != NULL ? g_strrstr_len (prefix, last - prefix, ".") : NULL;

  for (guint i = 0; block != NULL && i < G_N_ELEMENTS (norms); i++)
    {
      g_autofree char *name = g_strdup_printf ("%.*s.%s", (int) (block - prefix), prefix, norms[i]);
      const TmStored *norm = tm_folding_find_stored (folding, name);

      if (norm != NULL && norm->rank == 1 && norm->n_elements > 0)
        return norm->n_elements;
    }
  return 0;
}

void
tm_folding_find_widths (TmFolding *folding, const char *prefix, guint64 *inputs, guint64 *outputs,
                        const char **evidence)
{
  static const struct
  {
    const char *ending;
    gboolean from_hidden, to_hidden;
    const char *to; /* config key of the outputs, or of their heads */
  } layers[] = {
    { "q_proj", TRUE, FALSE, "num_attention_heads" },
    { "k_proj", TRUE, FALSE, "num_key_value_heads" },
    { "v_proj", TRUE, FALSE, "num_key_value_heads" },
    { "o_proj", FALSE, TRUE, NULL },
    { "gate_proj", TRUE, FALSE, "intermediate_size" },
    { "up_proj", TRUE, FALSE, "intermediate_size" },
    { "down_proj", FALSE, TRUE, NULL },
    { "lm_head", TRUE, FALSE, "vocab_size" },
    { "embed_tokens", TRUE, FALSE, "vocab_size" },
  };
  const TmConfig *config = tm_folding_get_config (folding);
  const char *dot = strrchr (prefix, '.'), *last = dot != NULL ? dot + 1 : prefix;
  g_autofree char *bias_name = g_strconcat (prefix, ".bias", NULL);
  const TmStored *bias = tm_folding_find_stored (folding, bias_name);

  *inputs = *outputs = 0;
  *evidence = NULL;
  if (bias != NULL && bias->rank == 1 && bias->n_elements > 0)
    {
      *outputs = bias->n_elements;
      *evidence = "the module's bias is as long";
    }
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    if (strcmp (last, layers[i].ending) == 0)
      {
        guint64 norm = norm_width (folding, prefix), hidden = norm ? norm : config_number (config, "hidden_size");
        const char *heads = layers[i].to != NULL ? strstr (layers[i].to, "_heads") : NULL;

        if (layers[i].from_hidden)
          *inputs = hidden;
        if (*outputs == 0 && layers[i].to_hidden)
          *outputs = hidden;
        if (*outputs == 0 && layers[i].to != NULL)
          *outputs = heads != NULL ? heads_width (config, layers[i].to) : config_number (config, layers[i].to);
        if (*evidence == NULL && (*inputs || *outputs))
          *evidence = norm ? "the layer's norm is as wide" : "config.json gives the width";
        return;
      }
}
