/* Schemes whose words are shuffled for one processor's kernels: there are integers in them, but which is W[o][i] cannot be
 * told without the kernel's permutation. Listed, with a note that says so. */
#include "recognise/convention.h"

static const char *const suffixes[]
    = { ".B", ".s", ".workspace", ".s_channel", ".s_group", ".bitmask", ".compressed", ".shape", ".row_offsets", ".dense_weights", ".col_vals", ".in_perm", NULL };

extern const TmConvention tm_convention_hardware_order;

static const struct
{
  const char *name;
  const char *wanted[3]; /* all of these, the first with that dtype */
  TmDtype dtype;
  const char *note;
} schemes[] = {
  { "Marlin",
    { ".B", ".s", ".workspace" },
    TM_DTYPE_I32,
    "4-bit codes in tiles of 16 × 64 in the order of a GPU kernel, with scales in the same order" },
  { "QQQ",
    { ".B", ".s_channel" },
    TM_DTYPE_I32,
    "4-bit codes in the order of a GPU kernel, with a scale a row and one a group" },
  { "SpQR",
    { ".dense_weights", ".row_offsets", ".col_vals" },
    TM_DTYPE_UNKNOWN,
    "tiles of packed codes with their own quantized scales, and outliers one after another beside them" },
  { "sparse-bitmask",
    { ".compressed", ".bitmask", ".shape" },
    TM_DTYPE_UNKNOWN,
    "the weights that are not zero, one after another, and a bit for each weight that says which they are" },
};

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      const TmStored *first = tm_bundle_get (folding, bundle, schemes[i].wanted[0]);
      gboolean all = first != NULL && (schemes[i].dtype == TM_DTYPE_UNKNOWN || first->dtype == schemes[i].dtype);

      for (guint w = 1; w < G_N_ELEMENTS (schemes[i].wanted) && schemes[i].wanted[w] && all; w++)
        all = tm_bundle_get (folding, bundle, schemes[i].wanted[w]) != NULL;
      if (!all)
        continue;
      tm_model_add_problem (
          tm_folding_get_model (folding), TM_SEVERITY_NOTE, "values-not-defined", first->source, first->offset,
          first->name,
          "%s is %s: %s. Its pieces are shown as they are stored; which code belongs to which weight is "
          "not told",
          bundle->prefix[0] ? bundle->prefix : first->name, schemes[i].name, schemes[i].note);
      return TM_CLAIM_BROKEN;
    }
  return TM_CLAIM_NO;
}

const TmConvention tm_convention_hardware_order = { "hardware-order", suffixes, claim };
