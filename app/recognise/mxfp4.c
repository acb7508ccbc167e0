/* MXFP4: pairs of E2M1 codes, and a power of two for every 32 of a row (formats/quant-conventions.md 6).
 *   gpt-oss             X_blocks U8 […, I/32, 16] with X_scales U8 […, I/32]; OpenAI's own files X.blocks, X.scales
 *   compressed-tensors  M.weight_packed U8 [O, I/2] with M.weight_scale U8 [O, I/32]
 *   DeepSeek-V4         M.weight I8 [O, I/2] with M.scale F8_E8M0 [O, I/32] */
#include <string.h>

#include "recognise/bundle.h"

extern const TmConvention tm_convention_gpt_oss, tm_convention_ct_mxfp4, tm_convention_deepseek_fp4;

/* Shapes have been checked: scales has the rows and one entry a group of 32. */
static TmClaim
fold (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, char *name, guint rank,
      const guint64 *shape, const TmStored *codes, const TmStored *scale)
{
  TmTensor *tensor = tm_folding_begin (folding, convention, name, TM_DTYPE_F4, rank, shape);
  const guint64 columns = shape[rank - 1];
  TmGrouped grouped = { 0 };

  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, codes);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add_rest (folding, convention, bundle, tensor);
  tm_grouped_set_float4 (&grouped, codes, tm_folding_is_high_first (folding, tensor->name, FALSE));
  tm_grouped_set_scale (&grouped, scale, TM_DTYPE_F8_E8M0);
  tm_grouped_set_blocks (&grouped, tensor, 1, 32, rank > 1 ? shape[rank - 2] : 1, columns / 32);
  tm_tensor_set_blocks (tensor, 1, 32, FALSE);
  tm_codec_attach_grouped (tensor, &grouped);
  tm_folding_record_order (folding, tensor);
  return tm_folding_commit (folding, tensor);
}

/* --- gpt-oss --------------------------------------------------------------------------------------------------------- */

static const char *const gpt_oss_suffixes[] = { "_blocks", "_scales", ".blocks", ".scales", NULL };

static TmClaim
claim_gpt_oss (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *blocks = tm_bundle_get (folding, bundle, "_blocks"),
                 *scales = tm_bundle_get (folding, bundle, "_scales");
  g_autofree guint64 *shape = NULL;
  guint rank;
  TmClaim claim;

  if (blocks == NULL)
    {
      blocks = tm_bundle_get (folding, bundle, ".blocks");
      scales = tm_bundle_get (folding, bundle, ".scales");
    }
  if (blocks == NULL || blocks->dtype != TM_DTYPE_U8 || blocks->rank < 2 || blocks->n_elements == 0
      || blocks->shape[blocks->rank - 1] != 16)
    return TM_CLAIM_NO;
  rank = blocks->rank - 1;
  if (scales == NULL)
    return tm_folding_refuse (folding, &tm_convention_gpt_oss, bundle, "missing-companion", "its scales are missing");
  if (scales->dtype != TM_DTYPE_U8 || scales->rank != rank
      || memcmp (scales->shape, blocks->shape, sizeof *shape * rank) != 0)
    return tm_folding_refuse (folding, &tm_convention_gpt_oss, bundle, "companion-shape",
                              "its scales are not one byte for every 16 bytes of codes");
  shape = g_memdup2 (blocks->shape, sizeof *shape * rank);
  if (__builtin_mul_overflow (shape[rank - 1], (guint64) 32, &shape[rank - 1]))
    return TM_CLAIM_NO;
  claim = fold (folding, &tm_convention_gpt_oss, bundle, g_strdup (bundle->prefix), rank, shape, blocks, scales);
  if (claim == TM_CLAIM_FOLDED && (strstr (bundle->prefix, "gate_up") || strstr (bundle->prefix, "mlp1_weight")))
    tm_model_add_problem (tm_folding_get_model (folding), TM_SEVERITY_NOTE, "interleaved-rows", blocks->source,
                          blocks->offset, bundle->prefix,
                          "%s: rows alternate, row 2k is row k of gate, row 2k + 1 is row k of up", bundle->prefix);
  return claim;
}

const TmConvention tm_convention_gpt_oss = { "mxfp4", gpt_oss_suffixes, claim_gpt_oss };

/* --- Two-dimensional forms ------------------------------------------------------------------------------------------- */

static TmClaim
fold_pairs (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, const TmStored *codes,
            const TmStored *scale)
{
  g_autofree guint64 *shape = NULL;
  guint64 rows, bytes, scale_rows, groups;

  if (!tm_get_matrix (codes, &rows, &bytes) || !tm_get_matrix (scale, &scale_rows, &groups) || codes->rank < 2
      || bytes > G_MAXINT64 / 2)
    return TM_CLAIM_NO;
  if (!tm_same_slices (codes, scale) || rows != scale_rows || bytes % 16 != 0 || groups != bytes / 16)
    return tm_folding_refuse (folding, convention, bundle, "companion-shape",
                              "%s is not one scale for every 32 elements of a row", scale->name);
  shape = tm_shape_with_columns (codes, 2 * bytes);
  return fold (folding, convention, bundle,
               g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL), codes->rank, shape, codes,
               scale);
}

static const char *const ct_suffixes[]
    = { ".weight_packed", ".weight_scale", ".input_scale", ".output_scale", ".input_global_scale", NULL };

static TmClaim
claim_ct (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *packed = tm_bundle_get (folding, bundle, ".weight_packed");
  const TmStored *scale = tm_bundle_get (folding, bundle, ".weight_scale");

  if (packed == NULL || packed->dtype != TM_DTYPE_U8)
    return TM_CLAIM_NO;
  if (scale == NULL)
    return tm_folding_refuse (folding, &tm_convention_ct_mxfp4, bundle, "missing-companion", "weight_scale is missing");
  if (scale->dtype != TM_DTYPE_U8 && scale->dtype != TM_DTYPE_F8_E8M0)
    return TM_CLAIM_NO;
  return fold_pairs (folding, &tm_convention_ct_mxfp4, bundle, packed, scale);
}

const TmConvention tm_convention_ct_mxfp4 = { "compressed-tensors", ct_suffixes, claim_ct };

static const char *const deepseek_suffixes[] = { ".weight", ".scale", ".input_scale", NULL };

static TmClaim
claim_deepseek (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"),
                 *scale = tm_bundle_get (folding, bundle, ".scale");

  if (weight == NULL || scale == NULL || weight->dtype != TM_DTYPE_I8 || scale->dtype != TM_DTYPE_F8_E8M0)
    return TM_CLAIM_NO;
  return fold_pairs (folding, &tm_convention_deepseek_fp4, bundle, weight, scale);
}

const TmConvention tm_convention_deepseek_fp4 = { "mxfp4", deepseek_suffixes, claim_deepseek };
