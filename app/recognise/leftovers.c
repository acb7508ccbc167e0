#include "recognise/leftovers.h"

#include "quant/operand.h"

/* A piece that has the codes, and companions that tell of it. Only in this company is a plain name suspicious. */
static const struct
{
  const char *codes, *other_codes; /* other_codes: another name of the same, or NULL */
  gboolean telling;                /* the name alone says that it is quantized */
  const char *companions[10];
  const char *wanted; /* "weight is F32, and … is wanted" */
} kinds[] = {
  { ".qweight",
    NULL,
    TRUE,
    { ".qzeros", ".g_idx", ".weight_scales" },
    "I32 words (GPTQ, AWQ), I16 ones (AWQ GEMV-fast) or I8 codes (EETQ), with scales" },
  { ".weight_packed",
    NULL,
    TRUE,
    { ".weight_shape", ".weight_g_idx", ".weight_global_scale", ".scale_packed" },
    "I32 words, or pairs of FP4 codes in U8, with weight_scale" },
  { ".weight._data", ".weight._data._data", TRUE, { ".weight._scale", ".weight._shift" }, "codes and their _scale" },
  { "._weight_qdata",
    NULL,
    TRUE,
    { "._weight_scale", "._weight_zero_point" },
    "I8 or float8 codes with _weight_scale" },
  { ".weight",
    NULL,
    FALSE,
    { ".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_zero_point", ".SCB", ".weight.quant_map",
      ".weight.nested_absmax", ".pre_quant_scale", ".weight_format" },
    "I8, float8 or packed U8 codes whose shape goes with it" },
  { ".W_q", NULL, TRUE, { ".nbits", ".unpack_view_dtype", ".packing" }, "codes with scale and zero" },
  { ".codes", NULL, FALSE, { ".codebooks" }, "I8 or I16 codes for the codebooks" },
  { ".q_weight", NULL, TRUE, { ".q_groups", ".q_scale", ".q_scale_max", ".q_invperm" }, "I32 words" },
  { ".trellis", NULL, TRUE, { ".suh", ".svh" }, "a trellis" },
  { ".Qidxs", NULL, TRUE, { ".SU", ".SV", ".Wscale", ".codebook_id" }, "indices" },
  { ".indices", NULL, FALSE, { ".centroids.weight", ".res_centroids.weight" }, "packed indices" },
};

/* Words or bytes under the names of ordinary weights and scales: what is wrong with them, or NULL. (transfer full) */
static char *
look_at_plain_names (TmFolding *folding, const TmBundle *bundle)
{
  static const struct
  {
    const char *codes, *scales;
  } pairs[] = { { "_blocks", "_scales" }, { ".blocks", ".scales" } };
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"),
                 *scales = tm_bundle_get (folding, bundle, ".scales"), *codes = tm_bundle_get (folding, bundle, ".codes"),
                 *blocks;
  const gboolean biases = tm_bundle_get (folding, bundle, ".biases") != NULL;
  const gboolean words = weight != NULL && tm_operand_is_integer (weight);

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      blocks = tm_bundle_get (folding, bundle, pairs[i].codes);
      if (blocks != NULL && tm_bundle_get (folding, bundle, pairs[i].scales) != NULL)
        return g_strdup_printf ("its blocks are %s, and U8 […, 16] is wanted", tm_dtype_get_name (blocks->dtype));
      if (blocks == NULL && tm_bundle_get (folding, bundle, pairs[i].scales) != NULL
          && tm_bundle_get (folding, bundle, pairs[i].scales)->dtype == TM_DTYPE_U8 && weight == NULL)
        return g_strdup ("its scales are there, and what they scale is missing");
    }
  if (codes != NULL && scales != NULL && codes->rank == 3 && scales->rank == 4)
    return g_strdup ("codebooks is missing");
  if (tm_bundle_get (folding, bundle, "_scale_inv") != NULL)
    {
      const TmStored *stack = tm_folding_find_stored (folding, bundle->prefix);

      return stack == NULL ? g_strdup ("what its scale_inv is for is missing")
                           : g_strdup_printf ("it is %s, and float8 of a shape that goes with scale_inv is wanted",
                                              tm_dtype_get_name (stack->dtype));
    }
  if (scales != NULL && biases)
    return weight == NULL ? g_strdup ("weight is missing")
                          : g_strdup_printf ("weight is %s, and its scales and biases do not go with it",
                                             tm_dtype_get_name (weight->dtype));
  if (words && (scales != NULL || biases || tm_bundle_get (folding, bundle, ".scale") != NULL))
    return g_strdup_printf ("weight is %s, and its scales do not go with it", tm_dtype_get_name (weight->dtype));
  if (weight != NULL && weight->dtype == TM_DTYPE_U32 && weight->rank > 1)
    return g_strdup ("weight is U32 words, and its scales are missing");
  return NULL;
}

/* "qweight I8 [4, 8], scales F16 [1, 8]" */
static char *
list_pieces (const TmFolding *folding, const TmBundle *bundle)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < bundle->parts->len; p++)
    {
      const TmPart *part = &g_array_index (bundle->parts, TmPart, p);
      const TmStored *stored = tm_model_stored (tm_folding_get_model (folding), part->stored);

      if (p == 8)
        {
          g_string_append_printf (text, " and %u more", bundle->parts->len - p);
          break;
        }
      g_string_append_printf (text, "%s%s %s [", p ? ", " : "", part->suffix + 1,
                              stored->type_label ? stored->type_label : tm_dtype_get_name (stored->dtype));
      for (guint axis = 0; axis < stored->rank; axis++)
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, axis ? ", " : "", stored->shape[axis]);
      g_string_append_c (text, ']');
    }
  return g_string_free (text, FALSE);
}

static void
report (TmFolding *folding, const TmBundle *bundle, TmSeverity severity, const char *what)
{
  const TmStored *at
      = tm_model_stored (tm_folding_get_model (folding), g_array_index (bundle->parts, TmPart, 0).stored);
  const char *method = tm_config_get_quantization (tm_folding_get_config (folding), "quant_method");
  g_autofree char *pieces = list_pieces (folding, bundle);
  g_autofree char *said = method != NULL ? g_strdup_printf (" (the config's quant_method is %s)", method) : g_strdup ("");

  tm_model_add_problem (tm_folding_get_model (folding), severity, "unrecognised-pieces", at->source, at->offset,
                        at->name, "%s has pieces of a quantized weight that fit no convention%s: %s; there are %s, shown as stored",
                        bundle->prefix[0] != '\0' ? bundle->prefix : at->name, said, what, pieces);
}

void
tm_report_leftovers (TmFolding *folding, const TmBundle *bundle)
{
  g_autofree char *plain = NULL;

  if (g_strcmp0 (tm_folding_get_model (folding)->format, "safetensors") != 0)
    return;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      const TmStored *codes = tm_bundle_get (folding, bundle, kinds[k].codes);
      gboolean telling;
      g_autofree char *what = NULL;

      if (codes == NULL && kinds[k].other_codes != NULL)
        codes = tm_bundle_get (folding, bundle, kinds[k].other_codes);
      telling = codes != NULL && kinds[k].telling;
      for (guint c = 0; c < G_N_ELEMENTS (kinds[k].companions) && kinds[k].companions[c] != NULL; c++)
        telling = telling || tm_bundle_get (folding, bundle, kinds[k].companions[c]) != NULL;
      if (!telling)
        continue;
      if (codes == NULL)
        what = g_strdup_printf ("%s is missing", kinds[k].codes + 1);
      else
        what = g_strdup_printf ("%s is %s, and wanted are %s", kinds[k].codes + 1,
                                codes->type_label ? codes->type_label : tm_dtype_get_name (codes->dtype),
                                kinds[k].wanted);
      /* a float weight with something called its scale may be just that */
      report (folding, bundle,
              codes != NULL && !kinds[k].telling
                      && (tm_dtype_get_info (codes->dtype)->family == TM_FAMILY_FLOAT
                          || tm_dtype_get_info (codes->dtype)->family == TM_FAMILY_HALF)
                  ? TM_SEVERITY_WARNING
                  : TM_SEVERITY_ERROR,
              what);
      return;
    }
  plain = look_at_plain_names (folding, bundle);
  if (plain != NULL)
    report (folding, bundle, TM_SEVERITY_ERROR, plain);
}
