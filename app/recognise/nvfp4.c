/* NVFP4: pairs of E2M1 codes, an E4M3 scale for every 16 of a row, and one float32 for the tensor
 * (formats/quant-conventions.md 6). Writers differ in what the float32 does; its name tells, never its size:
 *   compressed-tensors  M.weight_packed, M.weight_scale, M.weight_global_scale: the scale is DIVIDED by it
 *   ModelOpt            M.weight U8, M.weight_scale, M.weight_scale_2: the scale is MULTIPLIED by it */
#include <math.h>
#include <string.h>

#include "recognise/bundle.h"

extern const TmConvention tm_convention_ct_nvfp4, tm_convention_modelopt_nvfp4;

static const char *const ct_suffixes[] = { ".weight_packed",
                                           ".weight_scale",
                                           ".weight_global_scale",
                                           ".input_scale",
                                           ".input_global_scale",
                                           ".output_scale",
                                           NULL };
static const char *const modelopt_suffixes[] = { ".weight",      ".weight_scale", ".weight_scale_2",
                                                 ".input_scale", ".output_scale", ".pre_quant_scale",
                                                 ".k_scale",     ".v_scale",      NULL };

/* One number decides for all of a tensor, so a wrong one is worth a word. */
static void
warn_of_global (TmFolding *folding, const TmTensor *tensor, const TmStored *global, TmGlobal kind)
{
  float number;

  if (global->fault == NULL && tm_operand_read_f32 (global, 0, 1, &number, NULL)
      && (!isfinite (number) || (number == 0 && kind == TM_GLOBAL_DIVISOR)))
    tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "scale-not-finite", "%s is %g", global->name,
                     (double) number);
}

static TmClaim
fold (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, const TmStored *codes,
      const TmStored *scale, const TmStored *global, const char *global_name, TmGlobal kind)
{
  g_autofree guint64 *shape = NULL;
  guint64 rows, bytes, scale_rows, groups, slices;
  const char *choice;
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  if (!tm_get_matrix (codes, &rows, &bytes) || codes->rank < 2 || bytes > G_MAXINT64 / 2)
    return TM_CLAIM_NO;
  if (!tm_get_matrix (scale, &scale_rows, &groups) || !tm_same_slices (codes, scale) || rows != scale_rows
      || bytes % 8 != 0 || groups != bytes / 8)
    return tm_folding_refuse (folding, convention, bundle, "companion-shape",
                              "weight_scale is not one scale for every 16 elements of a row");
  if (global == NULL)
    return tm_folding_refuse (folding, convention, bundle, "missing-companion", "%s is missing", global_name);
  slices = codes->n_elements / rows / bytes;
  if (!tm_operand_is_float (global) || !(global->n_elements == 1 || global->n_elements == slices))
    return tm_folding_refuse (folding, convention, bundle, "companion-shape",
                              "%s is neither one number nor one a slice", global_name);
  shape = tm_shape_with_columns (codes, 2 * bytes);
  tensor = tm_folding_begin (folding, convention,
                             g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL), TM_DTYPE_F4,
                             codes->rank, shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, codes);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add (folding, tensor, TM_ROLE_GLOBAL_SCALE, global);
  tm_folding_add_rest (folding, convention, bundle, tensor);
  choice = tm_folding_get_choice (folding, tensor->name, "global-scale");
  if (choice != NULL)
    kind = strcmp (choice, "divisor") == 0 ? TM_GLOBAL_DIVISOR : TM_GLOBAL_FACTOR;
  tm_grouped_set_float4 (&grouped, codes, tm_folding_is_high_first (folding, tensor->name, FALSE));
  tm_grouped_set_scale (&grouped, scale, scale->dtype);
  tm_grouped_set_global (&grouped, global, kind);
  tm_grouped_set_blocks (&grouped, tensor, 1, 16, rows, groups);
  tm_tensor_set_blocks (tensor, 1, 16, TRUE);
  tm_codec_attach_grouped (tensor, &grouped);
  tm_folding_assume (folding, tensor, "global-scale", kind == TM_GLOBAL_DIVISOR ? "divisor" : "factor",
                     "factor|divisor", choice != NULL ? "as asked for; it is named %s" : "it is named %s", global_name);
  tm_folding_record_order (folding, tensor);
  warn_of_global (folding, tensor, global, kind);
  return tm_folding_commit (folding, tensor);
}

static TmClaim
claim_ct (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *packed = tm_bundle_get (folding, bundle, ".weight_packed");
  const TmStored *scale = tm_bundle_get (folding, bundle, ".weight_scale");

  if (packed == NULL || packed->dtype != TM_DTYPE_U8 || scale == NULL || scale->dtype == TM_DTYPE_U8
      || scale->dtype == TM_DTYPE_F8_E8M0)
    return TM_CLAIM_NO;
  if (scale->dtype != TM_DTYPE_F8_E4M3)
    return tm_folding_refuse (folding, &tm_convention_ct_nvfp4, bundle, "companion-dtype", "weight_scale is %s",
                              tm_dtype_get_name (scale->dtype));
  return fold (folding, &tm_convention_ct_nvfp4, bundle, packed, scale,
               tm_bundle_get (folding, bundle, ".weight_global_scale"), "weight_global_scale", TM_GLOBAL_DIVISOR);
}

static TmClaim
claim_modelopt (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight");
  const TmStored *scale = tm_bundle_get (folding, bundle, ".weight_scale");

  if (weight == NULL || weight->dtype != TM_DTYPE_U8 || scale == NULL || scale->dtype != TM_DTYPE_F8_E4M3)
    return TM_CLAIM_NO;
  return fold (folding, &tm_convention_modelopt_nvfp4, bundle, weight, scale,
               tm_bundle_get (folding, bundle, ".weight_scale_2"), "weight_scale_2", TM_GLOBAL_FACTOR);
}

const TmConvention tm_convention_ct_nvfp4 = { "compressed-tensors", ct_suffixes, claim_ct };
const TmConvention tm_convention_modelopt_nvfp4 = { "modelopt", modelopt_suffixes, claim_modelopt };
