/* FP8: "M.weight" in float8 with a scale that multiplies it, whatever it is called ("weight_scale_inv" too): one number,
 * one a row, or a grid of blocks whose edge blocks are short (formats/quant-conventions.md 4). Expert stacks: a grid a slice. */
#include <string.h>

#include "io/number.h"
#include "recognise/bundle.h"

extern const TmConvention tm_convention_fp8;

static const char *const suffixes[] = { ".weight",
                                        ".weight_scale_inv",
                                        ".weight_scale",
                                        ".scale",
                                        "_scale_inv",
                                        "_weight_scale",
                                        "._weight_qdata",
                                        "._weight_scale",
                                        ".input_scale",
                                        ".output_scale",
                                        ".k_scale",
                                        ".v_scale",
                                        ".input_global_scale",
                                        NULL };

/* Block shape and grid; assumed: nothing in the file says that it is these. */
typedef struct
{
  guint64 block_rows, block_columns, grid_rows, grid_columns;
  gboolean one; /* one number for all */
  gboolean first_axis;
  gboolean assumed, conflict;
  char *evidence;
} Fit;

static guint64
blocks_in (guint64 length, guint64 block)
{
  return (length - 1) / block + 1;
}

/* Block size that the config has for the module: weight_block_size, or the block_structure of its group, a list or "128x128".
 * FALSE: none. */
static gboolean
config_blocks (TmFolding *folding, const char *module, guint64 *rows, guint64 *columns)
{
  const TmConfig *config = tm_folding_get_config (folding);
  TmModuleSettings *settings = tm_folding_get_settings (folding);
  const char *text = tm_module_settings_get_weights (settings, module, "block_structure");
  const char *cross = text != NULL ? strchr (text, 'x') : NULL;

  if (cross != NULL)
    return tm_parse_u64 (text, cross - text, rows) && tm_parse_u64 (cross + 1, -1, columns) && *rows > 0 && *columns > 0;
  if (tm_module_settings_get_weights_u64 (settings, module, "block_structure.0", rows)
      && tm_module_settings_get_weights_u64 (settings, module, "block_structure.1", columns))
    return *rows > 0 && *columns > 0;
  return tm_config_get_quantization_u64 (config, "weight_block_size.0", rows)
         && tm_config_get_quantization_u64 (config, "weight_block_size.1", columns) && *rows > 0 && *columns > 0;
}

/* A grid rounded up to a whole number of some power of two, as kernels like it. */
static gboolean
is_padded (guint64 grid, guint64 blocks)
{
  for (guint64 unit = 1; unit <= 128; unit *= 2)
    if (grid == (blocks - 1) / unit * unit + unit)
      return TRUE;
  return FALSE;
}

/* Whole blocks of a size that is a power of two. */
static gboolean
fits_evenly (guint64 length, guint64 grid)
{
  const guint64 block = length % grid == 0 ? length / grid : 0;

  return block > 0 && (block & (block - 1)) == 0;
}

/* A grid of scales over a matrix. NULL, or why it does not fit. (transfer full) */
static char *
fit_blocks (TmFolding *folding, const char *module, const char *name, const TmStored *scale, guint64 rows,
            guint64 columns, Fit *fit)
{
  const guint64 r = fit->grid_rows, c = fit->grid_columns;
  guint64 block_rows, block_columns, asked;

  if (tm_folding_get_number (folding, name, "group", &asked))
    {
      fit->block_rows = r == rows ? 1 : asked;
      fit->block_columns = c == columns ? 1 : asked;
      fit->assumed = TRUE;
      fit->evidence = g_strdup ("as asked for");
      return r >= blocks_in (rows, fit->block_rows) && c >= blocks_in (columns, fit->block_columns)
                 ? NULL
                 : g_strdup_printf ("blocks of %" G_GUINT64_FORMAT " need more scales", asked);
    }
  if (tm_dtype_get_info (scale->dtype)->bits == 8 && r == rows && columns % 32 == 0 && c == columns / 32)
    {
      fit->block_rows = 1;
      fit->block_columns = 32;
      return NULL;
    }
  if (scale->dtype == TM_DTYPE_U8)
    return g_strdup ("its scale of bytes is not one for 32 elements of a row");
  if (config_blocks (folding, module, &block_rows, &block_columns))
    {
      const guint64 need_r = blocks_in (rows, block_rows), need_c = blocks_in (columns, block_columns);

      fit->block_rows = block_rows;
      fit->block_columns = block_columns;
      if (r == need_r && c == need_c)
        return NULL;
      if (r != rows && r >= need_r && c >= need_c
          && ((is_padded (r, need_r) && is_padded (c, need_c)) || !fits_evenly (rows, r) || !fits_evenly (columns, c)))
        { /* a grid padded beyond the last block fits too, unless it is plainly one of other blocks */
          fit->assumed = TRUE;
          fit->evidence = g_strdup_printf ("the config says so; there are %" G_GUINT64_FORMAT " × %" G_GUINT64_FORMAT
                                           " scales, of which such blocks need %" G_GUINT64_FORMAT
                                           " × %" G_GUINT64_FORMAT,
                                           r, c, need_r, need_c);
          return NULL;
        }
      fit->conflict = TRUE;
    }
  /* One a row, one a column, all of an axis: there is only one way. */
  fit->block_rows = r == rows ? 1 : r == 1 ? rows : 0;
  fit->block_columns = c == columns ? 1 : c == 1 ? columns : 0;
  if (fit->block_rows && fit->block_columns)
    return NULL;
  fit->assumed = TRUE;
  fit->evidence
      = g_strdup_printf ("%" G_GUINT64_FORMAT " × %" G_GUINT64_FORMAT " scales for %" G_GUINT64_FORMAT
                         " × %" G_GUINT64_FORMAT " elements, and %s",
                         r, c, rows, columns,
                         fit->conflict ? "the config's block size does not fit" : "no config file that gives the block size");
  if (r == blocks_in (rows, 128) && c == blocks_in (columns, 128))
    {
      fit->block_rows = fit->block_columns = 128;
      return NULL;
    }
  if (fit->block_rows == 0)
    fit->block_rows = r == blocks_in (rows, 128) ? 128 : rows % r == 0 ? rows / r : 0;
  if (fit->block_columns == 0)
    fit->block_columns = c == blocks_in (columns, 128) ? 128 : columns % c == 0 ? columns / c : 0;
  if (fit->block_rows && fit->block_columns)
    return NULL;
  fit->block_rows = fit->block_columns = 128;
  return is_padded (r, blocks_in (rows, 128)) && is_padded (c, blocks_in (columns, 128))
             ? NULL
             : g_strdup_printf ("%" G_GUINT64_FORMAT " × %" G_GUINT64_FORMAT
                                " scales fit no block size of %" G_GUINT64_FORMAT " × %" G_GUINT64_FORMAT " elements",
                                r, c, rows, columns);
}

static char *
fit_scale (TmFolding *folding, const char *module, const char *name, const TmStored *weight, const TmStored *scale,
           Fit *fit)
{
  guint64 rows, columns;
  guint rank = scale->rank;

  if (!tm_operand_is_float (scale) && scale->dtype != TM_DTYPE_U8)
    return g_strdup_printf ("%s is %s", scale->name, tm_dtype_get_name (scale->dtype));
  if (!tm_get_matrix (weight, &rows, &columns) || scale->n_elements == 0)
    return g_strdup ("it is empty");
  if (scale->n_elements == 1)
    {
      guint64 block_rows, block_columns;

      fit->one = TRUE;
      fit->conflict = config_blocks (folding, module, &block_rows, &block_columns)
                      && (block_rows < rows || block_columns < columns || weight->rank > 2);
      return scale->dtype == TM_DTYPE_U8 ? g_strdup ("its scale is one byte") : NULL;
    }
  /* One for each index of the first axis: rows, channels of a convolution, experts. */
  if (scale->shape[0] == weight->shape[0] && scale->n_elements == weight->shape[0])
    {
      fit->first_axis = TRUE;
      return scale->dtype == TM_DTYPE_U8 ? g_strdup ("its scale is a byte a row") : NULL;
    }
  if (rank == 1)
    return g_strdup_printf ("its %" G_GUINT64_FORMAT
                            " scales are neither one nor one a row, and which part of a merged module each is "
                            "for is not stored",
                            scale->n_elements);
  fit->grid_rows = scale->shape[rank - 2];
  fit->grid_columns = scale->shape[rank - 1];
  if (weight->rank == 3 && rank == 2 && scale->shape[0] == weight->shape[0] && scale->shape[1] == rows)
    { /* experts: one a row */
      fit->grid_rows = rows;
      fit->grid_columns = 1;
    }
  else if (rank != weight->rank || !tm_same_slices (weight, scale))
    return g_strdup_printf ("the shape of %s does not go with it", scale->name);
  return fit_blocks (folding, module, name, scale, rows, columns, fit);
}

static const char *
scheme_of (const TmConfig *config, const char *scale_suffix)
{
  const char *method = tm_config_get_quantization (config, "quant_method");

  if (strcmp (scale_suffix, "._weight_scale") == 0)
    return "torchao";
  /* The same tensors, written by another tool that says who it is. */
  if (method != NULL && strcmp (scale_suffix, ".weight_scale") == 0)
    {
      if (strcmp (method, "compressed-tensors") == 0)
        return "compressed-tensors";
      if (strcmp (method, "modelopt") == 0)
        return "modelopt";
    }
  else if (strcmp (scale_suffix, ".weight_scale") == 0 && tm_config_get_quantization (config, "quant_algo") != NULL)
    return "modelopt"; /* hf_quant_config.json alone */
  return "fp8";
}

static TmDtype
read_as (TmFolding *folding, const TmTensor *tensor, TmDtype dtype)
{
  const char *choice = tm_folding_get_choice (folding, tensor->name, "float8");

  if (choice == NULL)
    return dtype;
  tm_folding_assume (folding, tensor, "float8", choice, "fn|fnuz", "as asked for; the file says %s",
                     tm_dtype_get_name (dtype));
  if (dtype == TM_DTYPE_F8_E4M3 || dtype == TM_DTYPE_F8_E4M3FNUZ)
    return strcmp (choice, "fnuz") == 0 ? TM_DTYPE_F8_E4M3FNUZ : TM_DTYPE_F8_E4M3;
  return strcmp (choice, "fnuz") == 0 ? TM_DTYPE_F8_E5M2FNUZ : TM_DTYPE_F8_E5M2;
}

static void
set_grid (TmTensor *tensor, TmGrouped *grouped, const Fit *fit)
{
  if (fit->one)
    {
      tm_grouped_set_flat (grouped, tensor, tensor->n_elements);
      tm_tensor_set_whole (tensor, FALSE);
    }
  else if (fit->first_axis)
    {
      tm_grouped_set_flat (grouped, tensor, tensor->n_elements / tensor->shape[0]);
      tm_tensor_set_whole (tensor, TRUE);
    }
  else
    {
      tm_grouped_set_blocks (grouped, tensor, fit->block_rows, fit->block_columns, fit->grid_rows, fit->grid_columns);
      tm_tensor_set_blocks (tensor, fit->block_rows, fit->block_columns, FALSE);
    }
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  static const char *const names[]
      = { ".weight_scale_inv", ".weight_scale", ".scale", "._weight_scale", "_scale_inv", "_weight_scale" };
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"), *scale = NULL;
  const char *suffix = NULL;
  g_autofree char *name = NULL, *why = NULL;
  Fit fit = { 0 };
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  for (guint i = 0; i < G_N_ELEMENTS (names) && scale == NULL; i++)
    {
      scale = tm_bundle_get (folding, bundle, names[i]);
      suffix = names[i];
    }
  if (scale == NULL)
    return TM_CLAIM_NO;
  if (strcmp (suffix, "._weight_scale") == 0) /* torchao's Float8Tensor, flattened */
    weight = tm_bundle_get (folding, bundle, "._weight_qdata");
  else if (suffix[0] == '_') /* an expert stack without ".weight" */
    weight = tm_folding_find_stored (folding, bundle->prefix);
  if (weight == NULL || tm_book_float8 (weight->dtype) == NULL)
    return TM_CLAIM_NO;
  name = strcmp (suffix, "._weight_scale") == 0
             ? g_strconcat (bundle->prefix, bundle->prefix[0] ? ".weight" : "weight", NULL)
             : g_strdup (weight->name);
  why = fit_scale (folding, bundle->prefix, name, weight, scale, &fit);
  if (why != NULL)
    {
      g_free (fit.evidence);
      return tm_folding_refuse (folding, &tm_convention_fp8, bundle, "fp8-scale", "%s", why);
    }
  tensor = tm_folding_begin (folding, &tm_convention_fp8, g_steal_pointer (&name), weight->dtype, weight->rank,
                             weight->shape);
  if (tensor == NULL)
    {
      g_free (fit.evidence);
      return TM_CLAIM_NO;
    }
  tensor->scheme = scheme_of (tm_folding_get_config (folding), suffix);
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, scale);
  tm_folding_add_rest (folding, &tm_convention_fp8, bundle, tensor);
  tensor->dtype = read_as (folding, tensor, weight->dtype);
  tensor->dtype_label = tm_dtype_get_name (tensor->dtype);
  tm_grouped_set_float8 (&grouped, weight, tensor->dtype);
  tm_grouped_set_scale (&grouped, scale, scale->dtype == TM_DTYPE_U8 ? TM_DTYPE_F8_E8M0 : scale->dtype);
  set_grid (tensor, &grouped, &fit);
  tm_codec_attach_grouped (tensor, &grouped);
  if (fit.assumed)
    {
      g_autofree char *value
          = g_strdup_printf ("%" G_GUINT64_FORMAT, fit.block_columns > 1 ? fit.block_columns : fit.block_rows);

      tm_folding_assume (folding, tensor, "group", value, "N", "%s", fit.evidence);
    }
  if (fit.conflict)
    {
      tensor->config_conflict = TRUE;
      tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "config-conflict",
                       "%s gives another block size than its grid of scales has",
                       tm_config_get_quantization_file (tm_folding_get_config (folding)));
    }
  g_free (fit.evidence);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_fp8 = { "fp8", suffixes, claim };
