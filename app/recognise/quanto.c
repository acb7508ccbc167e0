/* optimum-quanto (formats/quant-conventions.md 9): qint8 and qfloat8 (M.weight._data, M.weight._scale), qint4 and qint2
 * (M.weight._data._data, M.weight._scale, M.weight._shift), of which the file does not have the shape. */
#include <string.h>

#include "recognise/bundle.h"

extern const TmConvention tm_convention_quanto;

static const char *const suffixes[] = {
  ".weight._data", ".weight._data._data", ".weight._scale", ".weight._shift", ".input_scale", ".output_scale", NULL
};

static char *
logical_name (const TmBundle *bundle)
{
  return g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL);
}

static void
set_scale (TmGrouped *grouped, const TmStored *scale)
{
  grouped->scale = scale;
  grouped->scale_as = scale->dtype;
  grouped->scale_term = "scale";
  grouped->scale_meaning = "scale of the group";
}

/* --- A byte a scalar ------------------------------------------------------------------------------------------------- */

static TmClaim
fold_bytes (TmFolding *folding, const TmBundle *bundle, const TmStored *data, const TmStored *scale)
{
  guint64 rows, columns, grid_rows = 1, grid_columns = 1;
  const gboolean is_float = tm_book_float8 (data->dtype) != NULL;
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  if (!tm_get_matrix (data, &rows, &columns) || (!is_float && data->dtype != TM_DTYPE_I8))
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "companion-dtype",
                              "_data is %s, and empty or no code", tm_dtype_get_name (data->dtype));
  if (scale->n_elements != 1
      && !(data->rank == 2 && scale->n_elements > 0
           && (scale->rank == 2 ? (scale->shape[0] == 1 || scale->shape[0] == rows)
                                      && (scale->shape[1] == 1 || scale->shape[1] == columns)
                                : scale->rank == 1 && scale->n_elements == rows)))
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "companion-shape",
                              "_scale is neither one number nor one a row or column");
  if (!tm_operand_is_float (scale))
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "companion-dtype", "_scale is no float");
  tensor = tm_folding_begin (folding, &tm_convention_quanto, logical_name (bundle),
                             is_float ? data->dtype : TM_DTYPE_CODE_I8, data->rank, data->shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, data);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add_rest (folding, &tm_convention_quanto, bundle, tensor);
  if (is_float)
    tm_grouped_set_float8 (&grouped, data, data->dtype);
  else
    tm_grouped_set_int8 (&grouped, data);
  tm_grouped_set_scale (&grouped, scale, scale->dtype);
  if (scale->n_elements == 1)
    {
      tm_grouped_set_flat (&grouped, tensor, tensor->n_elements);
      tm_tensor_set_whole (tensor, FALSE);
    }
  else
    {
      grid_rows = scale->rank == 2 ? scale->shape[0] : rows;
      grid_columns = scale->rank == 2 ? scale->shape[1] : 1;
      tm_grouped_set_blocks (&grouped, tensor, grid_rows == 1 ? rows : 1, grid_columns == 1 ? columns : 1, grid_rows,
                             grid_columns);
      tm_tensor_set_blocks (tensor, grouped.block_rows, grouped.block_columns, FALSE);
      tensor->group_size = 0;
    }
  tensor->symmetric = is_float ? -1 : 1;
  tm_codec_attach_grouped (tensor, &grouped);
  return tm_folding_commit (folding, tensor);
}

/* --- Packed ---------------------------------------------------------------------------------------------------------- */

typedef struct
{
  guint bits;
  gboolean axis0, assumed;
  const char *evidence;
  guint64 n_groups, group, step, n;
  guint64 shape[2];
} Facts;

/* qint4 or qint2 by the config, 0 where it says neither. */
static guint
config_bits (const TmConfig *config, const char *prefix)
{
  g_autofree char *key = g_strdup_printf ("quanto_qmap.json:%s.weights", prefix);
  const char *type = tm_config_get_path (config, key);

  if (type == NULL)
    type = tm_config_get_quantization (config, "weights");
  return type == NULL ? 0 : g_str_has_suffix (type, "int4") ? 4 : g_str_has_suffix (type, "int2") ? 2 : 0;
}

/* NULL, or what is wrong. */
static const char *
read_facts (TmFolding *folding, const TmBundle *bundle, const TmStored *data, const TmStored *scale, Facts *facts)
{
  const guint said = config_bits (tm_folding_get_config (folding), bundle->prefix);
  g_autofree char *name = logical_name (bundle);
  guint64 asked, inputs, outputs;
  const char *evidence;

  if (data->dtype != TM_DTYPE_U8 || data->rank != 2 || data->n_elements == 0)
    return "_data is no matrix of bytes";
  if (scale->rank != 2 || scale->n_elements == 0 || (scale->shape[0] != 1 && scale->shape[1] != 1))
    return "_scale is no column and no row";
  facts->axis0 = scale->shape[1] == 1;
  facts->n_groups = scale->n_elements;
  facts->step = data->shape[0];
  if (facts->axis0)
    { /* the rows of the grouped matrix are the groups: the step tells the bits */
      facts->group = data->shape[1];
      facts->bits = facts->step == (facts->n_groups - 1) / 2 + 1   ? 4
                    : facts->step == (facts->n_groups - 1) / 4 + 1 ? 2
                                                                   : 0;
      if (facts->n_groups == 1)
        facts->bits = said ? said : 4;
      if (facts->bits == 0)
        return "_data has neither half nor a quarter as many rows as there are groups";
    }
  else
    {
      if (data->shape[1] != facts->n_groups)
        return "_data has not a column a group";
      facts->bits = said ? said : 4;
      facts->evidence = said ? "config.json says so" : "the file does not say; int4 is the usual one";
      facts->assumed = TRUE;
      if (tm_folding_get_number (folding, name, "bits", &asked) && (asked == 2 || asked == 4))
        {
          facts->bits = (guint) asked;
          facts->evidence = "as asked for";
        }
      if (facts->step > G_MAXINT64 / 4)
        return "_data is larger than can be counted";
      facts->group = facts->step * (8 / facts->bits);
    }
  if (__builtin_mul_overflow (facts->n_groups, facts->group, &facts->n) || facts->n > G_MAXINT64 / 8)
    return "it has more elements than can be counted";
  tm_folding_find_widths (folding, bundle->prefix, &inputs, &outputs, &evidence);
  if (outputs == 0 && inputs > 0 && facts->n % inputs == 0)
    outputs = facts->n / inputs;
  if (outputs == 0 || facts->n % outputs != 0 || (!facts->axis0 && outputs % facts->group != 0))
    return outputs == 0 ? "its shape is not stored, and no bias, norm or config file gives a width"
                        : "its shape is not stored, and the width found elsewhere does not divide it";
  facts->shape[0] = outputs;
  facts->shape[1] = facts->n / outputs;
  return NULL;
}

static TmClaim
fold_packed (TmFolding *folding, const TmBundle *bundle, const TmStored *data, const TmStored *scale,
             const TmStored *shift)
{
  Facts facts = { 0 };
  const char *why;
  TmGrouped grouped = { 0 };
  TmTensor *tensor;
  guint64 plane;

  if (shift == NULL)
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "missing-companion", "_shift is missing");
  if (shift->rank != scale->rank || memcmp (shift->shape, scale->shape, sizeof (guint64) * scale->rank) != 0
      || !tm_operand_is_float (scale)
      || !(tm_operand_is_float (shift) || shift->dtype == TM_DTYPE_U8 || shift->dtype == TM_DTYPE_I8))
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "companion-shape",
                              "_shift is not shaped as _scale");
  why = read_facts (folding, bundle, data, scale, &facts);
  if (why != NULL)
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "quanto-shape", "%s", why);
  tensor = tm_folding_begin (folding, &tm_convention_quanto, logical_name (bundle),
                             tm_dtype_get_code (facts.bits, FALSE), 2, facts.shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, data);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add (folding, tensor, TM_ROLE_ZERO_POINT, shift);
  tm_folding_add_rest (folding, &tm_convention_quanto, bundle, tensor);
  plane = facts.step * data->shape[1];
  tm_grouped_set_quanto (&grouped, data, facts.bits, plane, shift);
  set_scale (&grouped, scale);
  if (!facts.axis0)
    {
      grouped.fold = facts.group;
      grouped.rows = facts.shape[0];
      grouped.columns = grouped.grid_columns = facts.shape[1];
      grouped.block_rows = facts.group;
      grouped.block_columns = 1;
      grouped.grid_rows = facts.shape[0] / facts.group;
      tm_tensor_set_blocks (tensor, facts.group, 1, FALSE);
      tensor->group_size = 0;
    }
  else
    {
      tm_grouped_set_flat (&grouped, tensor, facts.group);
      if (facts.shape[1] % facts.group == 0)
        tm_tensor_set_blocks (tensor, 1, facts.group, FALSE);
      else
        tm_tensor_set_reshaped (tensor, facts.n_groups, facts.group, 1, facts.group, 0);
    }
  tm_codec_attach_grouped (tensor, &grouped);
  tensor->symmetric = 0;
  if (facts.assumed)
    tm_folding_assume (folding, tensor, "bits", facts.bits == 4 ? "4" : "2", "2|4", "%s", facts.evidence);
  return tm_folding_commit (folding, tensor);
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *bytes = tm_bundle_get (folding, bundle, ".weight._data");
  const TmStored *packed = tm_bundle_get (folding, bundle, ".weight._data._data");
  const TmStored *scale = tm_bundle_get (folding, bundle, ".weight._scale");

  if (bytes == NULL && packed == NULL)
    return TM_CLAIM_NO;
  if (scale == NULL)
    return tm_folding_refuse (folding, &tm_convention_quanto, bundle, "missing-companion", "_scale is missing");
  return packed != NULL
             ? fold_packed (folding, bundle, packed, scale, tm_bundle_get (folding, bundle, ".weight._shift"))
             : fold_bytes (folding, bundle, bytes, scale);
}

const TmConvention tm_convention_quanto = { "quanto", suffixes, claim };
