/* AQLM (formats/quant-conventions.md 11): M.codes, M.codebooks, M.scales. Values are defined, integers of a scalar not. */
#include "quant/aqlm.h"
#include "recognise/bundle.h"

extern const TmConvention tm_convention_aqlm;

static const char *const suffixes[] = { ".codes", ".codebooks", ".scales", NULL };

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *codes = tm_bundle_get (folding, bundle, ".codes"),
                 *books = tm_bundle_get (folding, bundle, ".codebooks");
  const TmStored *scales = tm_bundle_get (folding, bundle, ".scales");
  TmAqlm aqlm = { .codes = codes, .codebooks = books, .scales = scales };
  guint64 shape[2], most;
  TmTensor *tensor;

  if (codes == NULL || books == NULL)
    return TM_CLAIM_NO;
  if (scales == NULL)
    return tm_folding_refuse (folding, &tm_convention_aqlm, bundle, "missing-companion", "scales is missing");
  if (codes->rank != 3 || books->rank != 4 || codes->n_elements == 0 || books->n_elements == 0
      || (tm_dtype_get_info (codes->dtype)->bits != 8 && tm_dtype_get_info (codes->dtype)->bits != 16)
      || !tm_operand_is_integer (codes) || !tm_operand_is_float (books) || !tm_operand_is_float (scales)
      || codes->shape[2] != books->shape[0])
    return tm_folding_refuse (folding, &tm_convention_aqlm, bundle, "companion-shape",
                              "codes and codebooks are not shaped for each other");
  most = G_GUINT64_CONSTANT (1) << tm_dtype_get_info (codes->dtype)->bits;
  if (books->shape[0] > TM_AQLM_MAX_BOOKS || books->shape[1] > most || (books->shape[1] & (books->shape[1] - 1)) != 0
      || books->shape[2] > 64 || books->shape[3] > 64 || books->n_elements > TM_AQLM_MAX_NUMBERS)
    return tm_folding_refuse (folding, &tm_convention_aqlm, bundle, "companion-shape",
                              "its codebooks are larger than the codes can reach or memory should hold");
  if (scales->n_elements != codes->shape[0])
    return tm_folding_refuse (folding, &tm_convention_aqlm, bundle, "companion-shape",
                              "scales is not one number a row of codes");
  aqlm.n_books = (guint) books->shape[0];
  aqlm.n_entries = (guint) books->shape[1];
  aqlm.out_group = (guint) books->shape[2];
  aqlm.in_group = (guint) books->shape[3];
  if (__builtin_mul_overflow (codes->shape[0], books->shape[2], &shape[0])
      || __builtin_mul_overflow (codes->shape[1], books->shape[3], &shape[1]))
    return TM_CLAIM_NO;
  aqlm.columns = shape[1];
  tensor = tm_folding_begin (folding, &tm_convention_aqlm,
                             g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL),
                             tm_dtype_get_info (codes->dtype)->bits == 8 ? TM_DTYPE_CODE_U8 : TM_DTYPE_U16, 2, shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, codes);
  tm_folding_add (folding, tensor, TM_ROLE_CODEBOOK, books);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scales);
  tm_tensor_set_blocks (tensor, aqlm.out_group, aqlm.in_group, FALSE);
  tensor->code_bits = tm_dtype_get_info (codes->dtype)->bits;
  tm_codec_attach_aqlm (tensor, &aqlm);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_aqlm = { "aqlm", suffixes, claim };
