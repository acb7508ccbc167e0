/* Schemes of which no scalar of the weight can be read off the file: vector code books behind transforms, and layouts made
 * for a GPU. Their tensors are listed as they are stored, with one note a module that says what they hold. */
#include "recognise/bundle.h"

extern const TmConvention tm_convention_quip_sharp, tm_convention_vptq, tm_convention_exl3, tm_convention_eetq,
    tm_convention_marlin_24;

static TmClaim
note (TmFolding *folding, const TmBundle *bundle, const TmStored *stored, const char *scheme, const char *what)
{
  tm_model_add_problem (tm_folding_get_model (folding), TM_SEVERITY_NOTE, "values-not-defined", stored->source,
                        stored->offset, stored->name, "%s is %s: %s", bundle->prefix[0] ? bundle->prefix : stored->name,
                        scheme, what);
  return TM_CLAIM_BROKEN;
}

static const char *const quip_suffixes[] = { ".Qidxs", ".SU", ".SV", ".Wscale", ".codebook_id", NULL };

static TmClaim
claim_quip (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *indices = tm_bundle_get (folding, bundle, ".Qidxs");

  return indices == NULL || !tm_operand_is_integer (indices)
             ? TM_CLAIM_NO
             : note (folding, bundle, indices, "QuIP#",
                     "Qidxs are indices of lattice points of eight values, SU and SV signs; the weight exists only "
                     "after two "
                     "Hadamard transforms, so no element of it is shown");
}

static const char *const vptq_suffixes[] = { ".indices",
                                             ".centroids.weight",
                                             ".res_centroids.weight",
                                             ".outlier_indices",
                                             ".outlier_centroids.weight",
                                             ".perm",
                                             ".weight_scale",
                                             ".weight_bias",
                                             NULL };

static TmClaim
claim_vptq (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *indices = tm_bundle_get (folding, bundle, ".indices");

  return indices == NULL || tm_bundle_get (folding, bundle, ".centroids.weight") == NULL
             ? TM_CLAIM_NO
             : note (
                 folding, bundle, indices, "VPTQ",
                 "indices are packed numbers of centroids (main and residual), each a vector of the weight; no integer "
                 "belongs to one element, so the tensors are shown as they are stored");
}

static const char *const exl3_suffixes[] = { ".trellis", ".suh", ".svh", ".mcg", ".mul1", NULL };

static TmClaim
claim_exl3 (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *trellis = tm_bundle_get (folding, bundle, ".trellis");

  return trellis == NULL || trellis->dtype != TM_DTYPE_I16
             ? TM_CLAIM_NO
             : note (folding, bundle, trellis, "EXL3",
                     "trellis is a bit stream walked through a code book made by a generator, suh and svh are signs; "
                     "the weight "
                     "exists only after transforms, so no element of it is shown");
}

static const char *const eetq_suffixes[] = { ".qweight", ".weight_scales", NULL };

static TmClaim
claim_eetq (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".qweight");

  return weight == NULL || weight->dtype != TM_DTYPE_I8 || tm_bundle_get (folding, bundle, ".weight_scales") == NULL
             ? TM_CLAIM_NO
             : note (folding, bundle, weight, "EETQ",
                     "qweight has int8 codes biased, permuted and interleaved for one kind of GPU; which element is "
                     "where is "
                     "not stored");
}

static const char *const marlin_suffixes[] = { ".weight_packed", ".scale_packed", ".meta", NULL };

static TmClaim
claim_marlin (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *packed = tm_bundle_get (folding, bundle, ".weight_packed");

  return packed == NULL || tm_bundle_get (folding, bundle, ".scale_packed") == NULL
                 || tm_bundle_get (folding, bundle, ".meta") == NULL
             ? TM_CLAIM_NO
             : note (folding, bundle, packed, "Marlin 2:4",
                     "weight_packed has the kept half of the values in tiles permuted for a GPU kernel; which element "
                     "is where "
                     "is not stored");
}

const TmConvention tm_convention_quip_sharp = { "quip#", quip_suffixes, claim_quip };
const TmConvention tm_convention_vptq = { "vptq", vptq_suffixes, claim_vptq };
const TmConvention tm_convention_exl3 = { "exl3", exl3_suffixes, claim_exl3 };
const TmConvention tm_convention_eetq = { "eetq", eetq_suffixes, claim_eetq };
const TmConvention tm_convention_marlin_24 = { "marlin-24", marlin_suffixes, claim_marlin };
