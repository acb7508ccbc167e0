/* HQQ (formats/quant-conventions.md 8): M.W_q and about twenty companions; all facts are in the file. */
#include <math.h>
#include <string.h>

#include "recognise/bundle.h"

extern const TmConvention tm_convention_hqq;

static const char *const suffixes[] = { ".W_q",
                                        ".scale",
                                        ".zero",
                                        ".nbits",
                                        ".group_size",
                                        ".axis",
                                        ".shape",
                                        ".packing",
                                        ".unpack_view_dtype",
                                        ".view_as_float",
                                        ".quant_scale",
                                        ".quant_zero",
                                        ".compute_dtype",
                                        ".offload_meta",
                                        ".encoded_state_dict",
                                        ".stores_quant_config",
                                        ".channel_wise",
                                        ".optimize",
                                        ".round_zero",
                                        ".scale_q",
                                        ".zero_q",
                                        ".meta_scale",
                                        ".meta_zero",
                                        NULL };

static const struct
{
  const char *name;
  guint bits, n_fields, word_bytes; /* bits of a field */
} packings[] = { { "8bit_u8", 8, 1, 1 },
                 { "4bit_u8", 4, 2, 1 },
                 { "2bit_u8", 2, 4, 1 },
                 { "1bit_u8", 1, 8, 1 },
                 { "3bit_32", 3, 10, 4 } };

typedef struct
{
  guint packing;
  guint bits; /* of a code, at most the field's */
  guint64 group, n;
  gboolean axis0;
  guint rank;
  guint64 shape[8];
} Facts;

static gboolean
read_number (TmFolding *folding, const TmBundle *bundle, const char *suffix, double *number)
{
  const TmStored *stored = tm_bundle_get (folding, bundle, suffix);
  float value;

  if (stored == NULL || stored->fault != NULL || stored->n_elements != 1
      || !tm_operand_read_f32 (stored, 0, 1, &value, NULL) || !isfinite (value))
    return FALSE;
  *number = (double) value;
  return TRUE;
}

/* NULL, or what is wrong. */
static const char *
read_facts (TmFolding *folding, const TmBundle *bundle, Facts *facts)
{
  const TmStored *shape = tm_bundle_get (folding, bundle, ".shape"),
                 *packing = tm_bundle_get (folding, bundle, ".packing");
  double number;
  gint64 axis_length[8];

  if (!read_number (folding, bundle, ".nbits", &number) || number < 1 || number > 8)
    return "nbits is missing or no width";
  facts->bits = (guint) ceil (number); /* 1.58 bits are kept in two */
  facts->packing = G_N_ELEMENTS (packings);
  for (guint i = 0; i < G_N_ELEMENTS (packings); i++)
    {
      char name[16] = { 0 };

      if (packing == NULL ? packings[i].bits == (facts->bits > 4 ? 8 : facts->bits)
                          : packing->bytes == strlen (packings[i].name) && packing->bytes < sizeof name
                                && tm_stored_read (packing, 0, (gsize) packing->bytes, name, NULL)
                                && strcmp (name, packings[i].name) == 0)
        facts->packing = i;
    }
  if (facts->packing == G_N_ELEMENTS (packings) || packings[facts->packing].bits < facts->bits)
    return "its packing is none that is known";
  if (!read_number (folding, bundle, ".axis", &number) || (number != 0 && number != 1))
    return "axis is missing or neither 0 nor 1";
  facts->axis0 = number == 0;
  if (shape == NULL || shape->fault != NULL || shape->n_elements == 0 || shape->n_elements > G_N_ELEMENTS (axis_length)
      || !tm_operand_read_i64 (shape, 0, (gsize) shape->n_elements, axis_length, NULL))
    return "shape is missing or no list of sizes";
  facts->rank = (guint) shape->n_elements;
  facts->n = 1;
  for (guint axis = 0; axis < facts->rank; axis++)
    {
      if (axis_length[axis] <= 0 || __builtin_mul_overflow (facts->n, (guint64) axis_length[axis], &facts->n)
          || facts->n > G_MAXINT64 / 64)
        return "shape is no shape";
      facts->shape[axis] = (guint64) axis_length[axis];
    }
  if ((read_number (folding, bundle, ".quant_scale", &number) && number != 0)
      || (read_number (folding, bundle, ".quant_zero", &number) && number != 0))
    return "its scales or zeros are themselves quantized, which is not decoded";
  return NULL;
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *codes = tm_bundle_get (folding, bundle, ".W_q"), *scale = tm_bundle_get (folding, bundle, ".scale");
  const TmStored *zero = tm_bundle_get (folding, bundle, ".zero");
  Facts facts;
  const char *why;
  double group;
  guint64 rows, columns, step, n_groups;
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  if (codes == NULL)
    return TM_CLAIM_NO;
  if (scale == NULL || zero == NULL)
    return tm_folding_refuse (folding, &tm_convention_hqq, bundle, "missing-companion", "%s is missing",
                              scale == NULL ? "scale" : "zero");
  why = read_facts (folding, bundle, &facts);
  if (why != NULL)
    return tm_folding_refuse (folding, &tm_convention_hqq, bundle, "hqq-facts", "%s", why);
  n_groups = scale->n_elements;
  if (read_number (folding, bundle, ".group_size", &group) && !(group >= 1 && group <= 1e9 && group == floor (group)))
    return tm_folding_refuse (folding, &tm_convention_hqq, bundle, "companion-shape", "group_size %g is no size", group);
  facts.group = read_number (folding, bundle, ".group_size", &group) && group >= 1 && group <= 1e9 ? (guint64) group
                : n_groups > 0                                                                     ? facts.n / n_groups
                                                                                                   : 0;
  if (facts.group == 0 || facts.n % facts.group != 0 || n_groups != facts.n / facts.group
      || zero->n_elements != n_groups || !tm_operand_is_float (scale) || !tm_operand_is_float (zero))
    return tm_folding_refuse (folding, &tm_convention_hqq, bundle, "companion-shape",
                              "scale and zero are not one number for every group_size elements");
  rows = facts.axis0 ? facts.group : n_groups;
  columns = facts.axis0 ? n_groups : facts.group;
  step = (rows - 1) / packings[facts.packing].n_fields + 1;
  if (codes->bytes != step * columns * packings[facts.packing].word_bytes)
    return tm_folding_refuse (folding, &tm_convention_hqq, bundle, "companion-shape",
                              "W_q is not of the size that its shape and packing give");
  tensor = tm_folding_begin (folding, &tm_convention_hqq,
                             g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL),
                             tm_dtype_get_code (facts.bits, FALSE), facts.rank, facts.shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, codes);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add (folding, tensor, TM_ROLE_ZERO_POINT, zero);
  tm_folding_add_rest (folding, &tm_convention_hqq, bundle, tensor);
  tm_grouped_set_hqq (&grouped, codes, packings[facts.packing].bits, packings[facts.packing].n_fields,
                      packings[facts.packing].word_bytes, step * columns, zero);
  grouped.scale = scale;
  grouped.scale_as = scale->dtype;
  grouped.scale_term = "scale";
  grouped.scale_meaning = "scale of the group";
  if (facts.axis0)
    { /* a column of the reshape is a group */
      grouped.rows = grouped.block_rows = rows;
      grouped.columns = grouped.grid_columns = columns;
      grouped.block_columns = grouped.grid_rows = 1;
      tm_tensor_set_reshaped (tensor, rows, columns, rows, 1, 0);
    }
  else
    {
      tm_grouped_set_flat (&grouped, tensor, columns);
      if (tensor->shape[tensor->rank - 1] % columns == 0)
        tm_tensor_set_blocks (tensor, 1, columns, FALSE);
      else
        tm_tensor_set_reshaped (tensor, rows, columns, 1, columns, 0);
    }
  tm_codec_attach_grouped (tensor, &grouped);
  tensor->code_bits = facts.bits;
  tensor->symmetric = 0;
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_hqq = { "hqq", suffixes, claim };
