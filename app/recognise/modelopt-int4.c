/* ModelOpt INT4-AWQ: a weight [O, I] in bytes of two rows each.
 *
 *   weight           U8 [O/2, I]   row 2k in the low nibble, row 2k + 1 in the high one, two's complement
 *   weight_scale     [O, G]
 *   pre_quant_scale  [I]           multiplies activations when the model runs; not part of the weight
 *   weight_scale_2                 the same
 *
 * value = scale × q, q = −8 … 7 */
#include "recognise/integer-claim.h"

extern const TmConvention tm_convention_modelopt_int4;

static const char *const suffixes[] = { ".weight", ".weight_scale", ".weight_scale_2", ".pre_quant_scale", NULL };

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"),
                 *scale = tm_bundle_get (folding, bundle, ".weight_scale");
  const TmConfig *config = tm_folding_get_config (folding);
  guint64 shape[2], n_groups, stated;
  TmPackedInteger *data;
  TmTensor *tensor;

  if (weight == NULL || weight->dtype != TM_DTYPE_U8 || weight->rank != 2 || weight->n_elements == 0
      || !tm_claim_is_float_matrix (scale) || scale->shape[0] != 2 * weight->shape[0])
    return TM_CLAIM_NO;
  shape[0] = scale->shape[0];
  shape[1] = weight->shape[1];
  n_groups = scale->shape[1];
  if (n_groups > shape[1] || shape[1] % n_groups != 0)
    return tm_folding_refuse (folding, &tm_convention_modelopt_int4, bundle, "shape",
                              "%" G_GUINT64_FORMAT " columns do not fall into %" G_GUINT64_FORMAT " whole groups",
                              shape[1], n_groups);
  tensor = tm_folding_begin (folding, &tm_convention_modelopt_int4, tm_claim_weight_name (bundle), TM_DTYPE_CODE_I4, 2,
                             shape);
  if (tensor == NULL)
    return tm_folding_refuse (folding, &tm_convention_modelopt_int4, bundle, "shape",
                              "it has more elements than can be counted");
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add (folding, tensor, TM_ROLE_OTHER, tm_bundle_get (folding, bundle, ".weight_scale_2"));
  tm_folding_add (folding, tensor, TM_ROLE_OTHER, tm_bundle_get (folding, bundle, ".pre_quant_scale"));
  tensor->code_bits = 4;
  tensor->symmetric = 1;
  data = g_new0 (TmPackedInteger, 1);
  data->arrangement = TM_WORDS_ROW_PAIRS;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, 4, FALSE, shape[1], 0 };
  data->words = weight;
  data->n_slices = 1;
  data->n_rows = shape[0];
  data->n_columns = shape[1];
  data->flip = 8;
  data->formula = "scale × q";
  data->scale
      = (TmGroupParameter) { .kind = TM_PARAMETER_ELEMENTS, .stored = scale, .row_step = n_groups, .group_step = 1 };
  tm_claim_set_groups (tensor, data, n_groups, shape[1] / n_groups, NULL);
  if (tm_config_get_quantization_u64 (config, "group_size", &stated) && stated != shape[1] / n_groups && n_groups > 1)
    tm_claim_conflict (folding, tensor, "groups of %" G_GUINT64_FORMAT ", its shapes %" G_GUINT64_FORMAT, stated,
                       shape[1] / n_groups);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_modelopt_int4 = { "modelopt", suffixes, claim };
