/* torchao: a tensor subclass flattened into its parts, with its type told in the header's metadata.
 *
 *   M._weight_qdata       I8 [O, I]
 *   M._weight_scale       [O, G] or [O]
 *   M._weight_zero_point  I8 … [O, G]
 *   __metadata__["M.weight"]   {"_type": "Int8Tensor", "_data": {"block_size": [1, g]}, …}
 *
 * Int8Tensor and IntxUnpackedToInt8Tensor are decoded: value = scale × (q − zero point). The others are listed. */
#include <string.h>

#include "io/json.h"
#include "recognise/integer-claim.h"

extern const TmConvention tm_convention_torchao;

static const char *const suffixes[]
    = { "._weight_qdata",      "._weight_scale",         "._weight_zero_point",        "._weight_scale_and_zero",
        "._weight_group_scale", "._weight_row_scale",    "._weight_group_zero",        "._weight_per_tensor_scale",
        "._weight_act_pre_scale", "._weight_act_quant_scale", NULL };

/* Types that are listed, and what their codes are. */
static const struct
{
  const char *type, *what;
} listed[] = {
  { "Int4Tensor", "two 4-bit codes a byte along the row, with a row of scales and one of zero points for each group of "
                  "columns" },
  { "Int4PlainInt32Tensor", "eight 4-bit codes a word in the order of one accelerator's kernel" },
  { "Int4TilePackedTo4dTensor", "4-bit codes in tiles of four axes, in the order of a GPU kernel" },
  { "Int4PreshuffledTensor", "4-bit codes shuffled for one kind of GPU" },
  { "Int4OpaqueTensor", "4-bit codes in the order of the machine that packed them" },
  { "Int4MarlinSparseTensor", "the kept half of 4-bit codes in tiles of a GPU kernel" },
  { "MXTensor", "codes of a microscaling format; whether its scales are swizzled for a kernel is told apart from them" },
  { "NVFP4Tensor", "pairs of FP4 codes; whether its scales are swizzled for a kernel is told apart from them" },
};

static TmClaim
list (TmFolding *folding, const TmBundle *bundle, const char *type, const TmStored *qdata)
{
  const char *what = "parts of a type that is not known here";

  for (guint i = 0; i < G_N_ELEMENTS (listed); i++)
    if (strcmp (type, listed[i].type) == 0)
      what = listed[i].what;
  tm_model_add_problem (tm_folding_get_model (folding), TM_SEVERITY_NOTE, "values-not-defined", qdata->source,
                        qdata->offset, qdata->name,
                        "%s is torchao's %s: %s. Its pieces are shown as they are stored, without values of the weight",
                        bundle->prefix[0] ? bundle->prefix : qdata->name, type, what);
  return TM_CLAIM_BROKEN;
}

/* The metadata's text of a weight, and in it the string after "key": "…". */
static char *
find_type (TmFolding *folding, const char *name)
{
  const TmMetadata *entry = tm_model_find_metadata (tm_folding_get_model (folding), name);
  g_auto (TmJson) json = { 0 };
  TmJsonToken token;
  gboolean is_type = FALSE;
  guint depth = 0;

  if (entry == NULL || entry->string == NULL)
    return NULL;
  tm_json_init (&json, entry->string, entry->string_length, 0);
  while ((token = tm_json_next (&json)) > TM_JSON_END)
    {
      if (token == TM_JSON_OBJECT || token == TM_JSON_ARRAY)
        depth++;
      else if (token == TM_JSON_OBJECT_END || token == TM_JSON_ARRAY_END)
        depth--;
      else if (token == TM_JSON_KEY)
        {
          g_autofree char *key = tm_json_dup_string (&json, NULL);
          is_type = depth == 1 && strcmp (key, "_type") == 0;
        }
      else if (token == TM_JSON_STRING && is_type)
        return tm_json_dup_string (&json, NULL);
    }
  return NULL;
}

/* [O, G], [O, 1], [O] or one number. */
static gboolean
set_parameter (const TmStored *stored, guint64 n_rows, guint64 n_columns, TmGroupParameter *parameter,
               guint64 *n_groups)
{
  *parameter = (TmGroupParameter) { .kind = TM_PARAMETER_ELEMENTS, .stored = stored };
  *n_groups = 1;
  if (stored->n_elements == 1)
    return TRUE;
  if (stored->rank == 0 || stored->rank > 2 || stored->n_elements == 0 || stored->shape[0] != n_rows)
    return FALSE;
  *n_groups = stored->rank == 2 ? stored->shape[1] : 1;
  parameter->row_step = *n_groups;
  parameter->group_step = *n_groups > 1;
  return *n_groups <= n_columns && n_columns % *n_groups == 0;
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmConvention *self = &tm_convention_torchao;
  const TmStored *qdata = tm_bundle_get (folding, bundle, "._weight_qdata");
  const TmStored *scale = tm_bundle_get (folding, bundle, "._weight_scale");
  const TmStored *zero = tm_bundle_get (folding, bundle, "._weight_zero_point");
  g_autofree char *name = NULL, *type = NULL;
  TmGroupParameter scales, zeros = { .kind = TM_PARAMETER_NONE };
  guint64 n_groups, n_zeros;
  TmPackedInteger *data;
  TmTensor *tensor;

  if (qdata == NULL)
    return TM_CLAIM_NO;
  name = tm_claim_weight_name (bundle);
  type = find_type (folding, name);
  if (type != NULL && strcmp (type, "Int8Tensor") != 0 && strcmp (type, "IntxUnpackedToInt8Tensor") != 0
      && strcmp (type, "Float8Tensor") != 0)
    return list (folding, bundle, type, qdata);
  if (qdata->dtype != TM_DTYPE_I8)
    return TM_CLAIM_NO;
  if (scale == NULL)
    return tm_folding_refuse (folding, self, bundle, "missing-companion", "_weight_scale is missing");
  if (!tm_claim_is_matrix (qdata, TM_DTYPE_I8) || !tm_operand_is_float (scale)
      || tm_dtype_get_info (scale->dtype)->bits < 16
      || !set_parameter (scale, qdata->shape[0], qdata->shape[1], &scales, &n_groups))
    {
      g_autofree char *a = tm_claim_format_shape (qdata), *b = tm_claim_format_shape (scale);

      return tm_folding_refuse (folding, self, bundle, "shape", "codes of the shape %s have scales of the shape %s", a,
                                b);
    }
  if (zero != NULL
      && ((!tm_operand_is_integer (zero) && !tm_operand_is_float (zero))
          || !set_parameter (zero, qdata->shape[0], qdata->shape[1], &zeros, &n_zeros) || n_zeros != n_groups))
    {
      g_autofree char *shape = tm_claim_format_shape (zero);

      return tm_folding_refuse (folding, self, bundle, "shape",
                                "_weight_zero_point has the shape %s, not that of the scales", shape);
    }
  tensor = tm_folding_begin (folding, self, g_steal_pointer (&name), TM_DTYPE_CODE_I8, 2, qdata->shape);
  if (tensor == NULL)
    return tm_folding_refuse (folding, self, bundle, "shape", "it has more elements than can be counted");
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, qdata);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add (folding, tensor, TM_ROLE_ZERO_POINT, zero);
  tensor->code_bits = 8;
  tensor->symmetric = zero == NULL ? 1 : 0;
  data = g_new0 (TmPackedInteger, 1);
  data->arrangement = TM_WORDS_ALONG_ROWS;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, 8, FALSE, qdata->shape[1], 0 };
  data->words = qdata;
  data->n_slices = 1;
  data->n_rows = qdata->shape[0];
  data->n_columns = qdata->shape[1];
  data->is_signed = TRUE;
  data->flip = 0x80;
  data->formula = zero ? "scale × (q − zero)" : "scale × q";
  data->scale = scales;
  data->zero = zeros;
  tm_claim_set_groups (tensor, data, n_groups, qdata->shape[1] / n_groups, NULL);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_torchao = { "torchao", suffixes, claim };
