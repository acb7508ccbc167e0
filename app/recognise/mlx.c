/* MLX (formats/quant-conventions.md 7): M.weight U32 with M.scales and, for affine, M.biases.
 *
 * Affine shapes give bits × group only (4 × 64 and 8 × 32 are the same): config.json, a width from elsewhere, or a guess
 * that is said to be one. Without biases the ratio of words to scales gives the mode. */
#include <string.h>

#include "recognise/bundle.h"

extern const TmConvention tm_convention_mlx;

static const char *const suffixes[] = { ".weight", ".scales", ".biases", NULL };

static gboolean
bits_fit (guint64 product, guint64 bits, guint64 *group)
{
  if (!(bits >= 2 && bits <= 8 && bits != 7) || product % bits != 0)
    return FALSE;
  *group = product / bits;
  return *group >= 8;
}

typedef struct
{
  guint64 bits, group;
  char *evidence;
  gboolean conflict;
} Reading;

static gboolean
read_config (TmFolding *folding, const char *prefix, guint64 product, Reading *reading)
{
  const TmConfig *config = tm_folding_get_config (folding);
  g_autofree char *own_bits = g_strconcat (prefix, ".bits", NULL),
                  *own_group = g_strconcat (prefix, ".group_size", NULL);
  guint64 bits, group, fits;
  gboolean own = tm_config_get_quantization_u64 (config, own_bits, &bits);

  if (!own && !tm_config_get_quantization_u64 (config, "bits", &bits))
    return FALSE;
  if (!(own && tm_config_get_quantization_u64 (config, own_group, &group))
      && !tm_config_get_quantization_u64 (config, "group_size", &group))
    group = 64;
  if (!bits_fit (product, bits, &fits) || fits != group)
    {
      reading->conflict = TRUE;
      return FALSE;
    }
  reading->bits = bits;
  reading->group = group;
  reading->evidence = g_strdup_printf ("config.json says so%s, and the shapes agree", own ? " for this layer" : "");
  return TRUE;
}

static gboolean
read_width (TmFolding *folding, const char *prefix, guint64 words, guint64 product, Reading *reading)
{
  guint64 inputs, outputs;
  const char *evidence;

  tm_folding_find_widths (folding, prefix, &inputs, &outputs, &evidence);
  if (inputs == 0 || evidence == NULL || words > G_MAXUINT64 / 32 || 32 * words % inputs != 0
      || !bits_fit (product, 32 * words / inputs, &reading->group))
    return FALSE;
  reading->bits = 32 * words / inputs;
  reading->evidence = g_strdup_printf ("a row has %" G_GUINT64_FORMAT " elements: %s", inputs, evidence);
  return TRUE;
}

static gboolean
read_affine (TmFolding *folding, const char *name, const char *prefix, guint64 words, guint64 product, Reading *reading)
{
  static const guint64 usual[] = { 64, 32, 128 };
  guint64 asked;

  if (tm_folding_get_number (folding, name, "bits", &asked) && bits_fit (product, asked, &reading->group))
    reading->bits = asked;
  else if (tm_folding_get_number (folding, name, "group", &asked) && product % asked == 0
           && bits_fit (product, product / asked, &reading->group))
    reading->bits = product / asked;
  if (reading->bits != 0)
    {
      reading->evidence = g_strdup ("as asked for");
      return TRUE;
    }
  if (read_config (folding, prefix, product, reading) || read_width (folding, prefix, words, product, reading))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    if (product % usual[i] == 0 && bits_fit (product, product / usual[i], &reading->group))
      {
        reading->bits = product / usual[i];
        reading->evidence
            = g_strdup_printf ("the shapes give bits × group = %" G_GUINT64_FORMAT
                               "; the customary group of %" G_GUINT64_FORMAT " is taken%s",
                               product, usual[i], reading->conflict ? ", as config.json does not fit" : "");
        return TRUE;
      }
  return FALSE;
}

static void
record (TmFolding *folding, const TmTensor *tensor, guint64 product, const Reading *reading)
{
  g_autoptr (GString) all_bits = g_string_new (NULL), all_groups = g_string_new (NULL);
  g_autofree char *bits = g_strdup_printf ("%" G_GUINT64_FORMAT, reading->bits);
  g_autofree char *group = g_strdup_printf ("%" G_GUINT64_FORMAT, reading->group);

  for (guint64 b = 2; b <= 8; b++)
    {
      guint64 g;

      if (bits_fit (product, b, &g) && (g & (g - 1)) == 0)
        {
          g_string_append_printf (all_bits, "%s%" G_GUINT64_FORMAT, all_bits->len ? "|" : "", b);
          g_string_append_printf (all_groups, "%s%" G_GUINT64_FORMAT, all_groups->len ? "|" : "", g);
        }
    }
  tm_folding_assume (folding, tensor, "bits", bits, all_bits->str, "%s", reading->evidence);
  tm_folding_assume (folding, tensor, "group", group, all_groups->str, "%s", reading->evidence);
  if (reading->conflict)
    tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "config-conflict",
                     "config.json's bits and group size do not fit its shapes");
}

/* The modes without biases. */
static gboolean
read_mode (guint64 product, TmDtype scale_dtype, Reading *reading, TmDtype *scale_as)
{
  if (scale_dtype != TM_DTYPE_U8)
    return FALSE;
  reading->bits = product == 256 ? 8 : 4;
  reading->group = product == 64 ? 16 : 32;
  *scale_as = product == 64 ? TM_DTYPE_F8_E4M3 : TM_DTYPE_F8_E8M0;
  return product == 64 || product == 128 || product == 256;
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"),
                 *scales = tm_bundle_get (folding, bundle, ".scales");
  const TmStored *biases = tm_bundle_get (folding, bundle, ".biases");
  guint64 rows, words, scale_rows, groups, product;
  g_autofree guint64 *shape = NULL;
  TmDtype scale_as, code;
  Reading reading = { 0 };
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  if (weight == NULL || weight->dtype != TM_DTYPE_U32 || (scales == NULL && biases == NULL)
      || !tm_get_matrix (weight, &rows, &words) || words > G_MAXINT64 / 32)
    return TM_CLAIM_NO;
  if (scales == NULL)
    return tm_folding_refuse (folding, &tm_convention_mlx, bundle, "missing-companion", "scales is missing");
  if (!tm_get_matrix (scales, &scale_rows, &groups) || scale_rows != rows || !tm_same_slices (weight, scales)
      || 32 * words % groups != 0)
    return tm_folding_refuse (folding, &tm_convention_mlx, bundle, "companion-shape",
                              "its scales do not divide its rows");
  if (biases != NULL
      && (biases->rank != scales->rank || memcmp (biases->shape, scales->shape, sizeof (guint64) * scales->rank) != 0
          || !tm_operand_is_float (biases)))
    return tm_folding_refuse (folding, &tm_convention_mlx, bundle, "companion-shape",
                              "its biases are not shaped as its scales");
  scale_as = scales->dtype;
  product = 32 * words / groups;
  if (biases == NULL && !read_mode (product, scales->dtype, &reading, &scale_as))
    return tm_folding_refuse (folding, &tm_convention_mlx, bundle, "missing-companion",
                              "biases are missing and its scales are of none of the modes without them");
  if (biases != NULL
      && (!tm_operand_is_float (scales)
          || !read_affine (folding, weight->name, bundle->prefix, words, product, &reading)))
    return tm_folding_refuse (folding, &tm_convention_mlx, bundle, "companion-shape",
                              "bits × group = %" G_GUINT64_FORMAT " is of no width that it writes", product);
  code = biases != NULL      ? tm_dtype_get_code ((guint) reading.bits, FALSE)
         : reading.bits == 8 ? TM_DTYPE_F8_E4M3
                             : TM_DTYPE_F4;
  shape = tm_shape_with_columns (weight, groups * reading.group);
  tensor = tm_folding_begin (folding, &tm_convention_mlx, g_strdup (weight->name), code, weight->rank, shape);
  if (tensor == NULL)
    {
      g_free (reading.evidence);
      return TM_CLAIM_NO;
    }
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scales);
  tm_folding_add (folding, tensor, TM_ROLE_OFFSET, biases);
  if (biases != NULL)
    tm_grouped_set_affine (&grouped, weight, (guint) reading.bits, biases);
  else if (reading.bits == 8)
    tm_grouped_set_float8 (&grouped, weight, TM_DTYPE_F8_E4M3);
  else
    tm_grouped_set_float4 (&grouped, weight, tm_folding_is_high_first (folding, tensor->name, FALSE));
  tm_grouped_set_scale (&grouped, scales, scale_as);
  tm_grouped_set_blocks (&grouped, tensor, 1, reading.group, rows, groups);
  tm_tensor_set_blocks (tensor, 1, reading.group, FALSE);
  tm_codec_attach_grouped (tensor, &grouped);
  tensor->config_conflict = reading.conflict;
  if (biases != NULL)
    {
      tensor->symmetric = 0;
      record (folding, tensor, product, &reading);
    }
  else if (reading.bits == 4)
    tm_folding_record_order (folding, tensor);
  g_free (reading.evidence);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_mlx = { "mlx", suffixes, claim };
