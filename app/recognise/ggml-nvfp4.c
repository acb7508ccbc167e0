/* NVFP4 of ggml with a scale of its own: "X.weight" may have "X.scale" beside it, F32, one number or one an expert
 * (formats/ggml.md 3.6). Without it the factor is 1 and the weight is an ordinary block type. */
#include "quant/codecs.h"
#include "recognise/convention.h"

extern const TmConvention tm_convention_ggml_nvfp4;

static const char *const suffixes[] = { ".weight", ".scale", NULL };

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"), *scale = tm_bundle_get (folding, bundle, ".scale");

  if (weight == NULL || scale == NULL || weight->dtype != TM_DTYPE_NVFP4 || weight->fault != NULL || scale->fault != NULL
      || scale->dtype != TM_DTYPE_F32
      || !(scale->n_elements == 1 || (weight->rank == 3 && scale->n_elements == weight->shape[0])))
    return TM_CLAIM_NO;

  TmTensor *tensor = tm_folding_begin (folding, &tm_convention_ggml_nvfp4, g_strdup (weight->name), TM_DTYPE_NVFP4,
                                       weight->rank, weight->shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, weight);
  tm_folding_add (folding, tensor, TM_ROLE_GLOBAL_SCALE, scale);
  tm_codec_attach_simple (tensor);
  tm_codec_attach_nvfp4_companion (tensor, scale);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_ggml_nvfp4 = { "ggml", suffixes, claim };
