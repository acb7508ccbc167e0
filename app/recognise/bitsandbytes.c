/* bitsandbytes (formats/quant-conventions.md 3): NF4 and FP4 in blocks over the flattened matrix, absmax plain or nested;
 * int8 with the largest magnitude of each row. */
#include <string.h>

#include "io/error.h"
#include "recognise/bundle.h"
#include "recognise/quant-state.h"

extern const TmConvention tm_convention_bitsandbytes, tm_convention_bitsandbytes_int8;

#define MAX_STATE_BYTES 65536u

static const char *const suffixes[] = { ".weight",
                                        ".weight.absmax",
                                        ".weight.quant_map",
                                        ".weight.nested_absmax",
                                        ".weight.nested_quant_map",
                                        ".weight.quant_state.bitsandbytes__nf4",
                                        ".weight.quant_state.bitsandbytes__fp4",
                                        NULL };

typedef struct
{
  const TmStored *weight, *absmax, *map, *nested, *nested_map, *state;
  gboolean named_fp4;
} Parts;

/* NULL, or what is wrong with the parts. (transfer full) */
static char *
check_parts (const Parts *parts, const TmQuantState *state)
{
  guint64 blocks = (state->n_elements - 1) / state->block + 1, bytes = (state->n_elements - 1) / 2 + 1;
  guint item = MAX (tm_dtype_get_info (parts->weight->dtype)->block_bytes, 1);

  if (parts->weight->bytes < bytes || parts->weight->bytes - bytes >= item)
    return g_strdup_printf ("its %" G_GUINT64_FORMAT " elements need %" G_GUINT64_FORMAT
                            " bytes and there are %" G_GUINT64_FORMAT,
                            state->n_elements, bytes, parts->weight->bytes);
  if (parts->map == NULL)
    return g_strdup ("quant_map, its code book, is missing");
  if (parts->map->dtype != TM_DTYPE_F32 || parts->map->n_elements != 16)
    return g_strdup ("quant_map is not sixteen float32 numbers");
  if (parts->absmax->n_elements != blocks)
    return g_strdup_printf ("absmax has %" G_GUINT64_FORMAT " entries for %" G_GUINT64_FORMAT " blocks",
                            parts->absmax->n_elements, blocks);
  if (parts->absmax->dtype == TM_DTYPE_F32)
    return NULL;
  if (parts->absmax->dtype != TM_DTYPE_U8)
    return g_strdup_printf ("absmax is %s", tm_dtype_get_name (parts->absmax->dtype));
  if (!state->nested)
    return g_strdup ("absmax is nested, and the state does not say how");
  if (parts->nested == NULL || parts->nested_map == NULL)
    return g_strdup_printf ("%s is missing", parts->nested == NULL ? "nested_absmax" : "nested_quant_map");
  if (parts->nested_map->dtype != TM_DTYPE_F32 || parts->nested_map->n_elements != 256)
    return g_strdup ("nested_quant_map is not 256 float32 numbers");
  if (parts->nested->dtype != TM_DTYPE_F32 || parts->nested->n_elements != (blocks - 1) / state->nested_block + 1)
    return g_strdup ("nested_absmax is not one float32 number a run of blocks");
  return NULL;
}

/* Without the JSON the shape is lost: one row, with the block size that the counts give. */
static gboolean
guess_state (const Parts *parts, TmQuantState *state)
{
  guint64 n;

  if (parts->absmax->dtype != TM_DTYPE_F32 || parts->absmax->n_elements == 0 || parts->weight->bytes > G_MAXINT64 / 2
      || parts->weight->bytes == 0)
    return FALSE;
  memset (state, 0, sizeof *state);
  state->rank = 1;
  state->shape[0] = state->n_elements = n = 2 * parts->weight->bytes;
  for (state->block = 32; state->block <= 4096; state->block *= 2)
    if ((n - 1) / state->block + 1 == parts->absmax->n_elements)
      return TRUE;
  return FALSE;
}

static TmTensor *
begin (TmFolding *folding, const TmBundle *bundle, const Parts *parts, const TmQuantState *state)
{
  TmTensor *tensor
      = tm_folding_begin (folding, &tm_convention_bitsandbytes, g_strdup (parts->weight->name),
                          state->is_fp4 ? TM_DTYPE_CODE_FP4 : TM_DTYPE_CODE_NF4, state->rank, state->shape);
  TmGrouped grouped = { 0 };

  if (tensor == NULL)
    return NULL;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, parts->weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, parts->absmax);
  tm_folding_add (folding, tensor, TM_ROLE_CODEBOOK, parts->map);
  if (parts->absmax->dtype == TM_DTYPE_U8)
    {
      tm_folding_add (folding, tensor, TM_ROLE_GLOBAL_SCALE, parts->nested);
      tm_folding_add (folding, tensor, TM_ROLE_CODEBOOK, parts->nested_map);
    }
  tm_folding_add_rest (folding, &tm_convention_bitsandbytes, bundle, tensor);
  tm_grouped_set_bitsandbytes (&grouped, parts->weight, parts->map, parts->absmax,
                               tm_folding_is_high_first (folding, tensor->name, TRUE));
  if (parts->absmax->dtype == TM_DTYPE_U8)
    tm_grouped_set_nested (&grouped, parts->nested, parts->nested_map, state->nested_block, state->nested_offset);
  tm_grouped_set_flat (&grouped, tensor, state->block);
  tm_tensor_set_reshaped (tensor, 1, tensor->n_elements, 1, state->block,
                          parts->absmax->dtype == TM_DTYPE_U8 ? state->block * state->nested_block : 0);
  tm_codec_attach_grouped (tensor, &grouped);
  tm_folding_record_order (folding, tensor);
  return tensor;
}

static gboolean
read_state (const TmStored *stored, TmQuantState *state, GError **error)
{
  g_autofree char *text = NULL;

  if (stored->fault != NULL || stored->bytes > MAX_STATE_BYTES)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_FORMAT, stored->fault ? stored->fault : "it is far too long");
      return FALSE;
    }
  text = g_malloc ((gsize) stored->bytes + 1);
  return tm_stored_read (stored, 0, (gsize) stored->bytes, text, error)
         && tm_quant_state_parse (text, (gsize) stored->bytes, state, error);
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  Parts parts = { .weight = tm_bundle_get (folding, bundle, ".weight"),
                  .absmax = tm_bundle_get (folding, bundle, ".weight.absmax"),
                  .map = tm_bundle_get (folding, bundle, ".weight.quant_map"),
                  .nested = tm_bundle_get (folding, bundle, ".weight.nested_absmax"),
                  .nested_map = tm_bundle_get (folding, bundle, ".weight.nested_quant_map"),
                  .state = tm_bundle_get (folding, bundle, ".weight.quant_state.bitsandbytes__nf4") };
  g_autoptr (GError) error = NULL;
  g_autofree char *why = NULL;
  TmQuantState state;
  TmTensor *tensor;

  if (parts.state == NULL)
    {
      parts.state = tm_bundle_get (folding, bundle, ".weight.quant_state.bitsandbytes__fp4");
      parts.named_fp4 = parts.state != NULL;
    }
  if (parts.state == NULL && parts.absmax == NULL)
    return TM_CLAIM_NO;
  if (parts.weight == NULL || parts.absmax == NULL)
    return tm_folding_refuse (folding, &tm_convention_bitsandbytes, bundle, "missing-companion", "%s is missing",
                              parts.weight == NULL ? "weight" : "absmax");
  if (parts.state != NULL && !read_state (parts.state, &state, &error))
    return tm_folding_refuse (folding, &tm_convention_bitsandbytes, bundle, "quant-state",
                              "its quant_state cannot be used: %s", error->message);
  if (parts.state == NULL && !guess_state (&parts, &state))
    return tm_folding_refuse (folding, &tm_convention_bitsandbytes, bundle, "quant-state",
                              "quant_state, the only place that has its shape, is missing");
  why = check_parts (&parts, &state);
  if (why != NULL)
    return tm_folding_refuse (folding, &tm_convention_bitsandbytes, bundle, "companion-shape", "%s", why);
  tensor = begin (folding, bundle, &parts, &state);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  if (parts.state == NULL)
    {
      g_autofree char *block = g_strdup_printf ("%" G_GUINT64_FORMAT, state.block);

      tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "quant-state",
                       "quant_state is missing, and with it the shape: shown as one row");
      tm_folding_assume (folding, tensor, "group", block, "N", "absmax has %" G_GUINT64_FORMAT " entries",
                         parts.absmax->n_elements);
    }
  else if (parts.named_fp4 != state.is_fp4)
    tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "quant-state", "quant_state says %s, its name another",
                     state.is_fp4 ? "fp4" : "nf4");
  if (parts.state != NULL && state.nested && parts.absmax->dtype == TM_DTYPE_F32)
    tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "quant-state",
                     "quant_state says that absmax is nested, and it is float32: taken as it is");
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_bitsandbytes = { "bitsandbytes", suffixes, claim };

/* --- int8 ------------------------------------------------------------------------------------------------------------ */

static const char *const int8_suffixes[] = { ".weight", ".SCB", ".weight_format", NULL };

static TmClaim
claim_int8 (TmFolding *folding, const TmBundle *bundle)
{
  const TmStored *weight = tm_bundle_get (folding, bundle, ".weight"),
                 *row_max = tm_bundle_get (folding, bundle, ".SCB");
  const TmStored *format = tm_bundle_get (folding, bundle, ".weight_format");
  guint64 rows, columns;
  TmGrouped grouped = { 0 };
  TmTensor *tensor;

  if (row_max == NULL || weight == NULL || weight->dtype != TM_DTYPE_I8 || !tm_get_matrix (weight, &rows, &columns))
    return TM_CLAIM_NO;
  if (weight->rank != 2 || row_max->dtype != TM_DTYPE_F32 || row_max->n_elements != rows)
    return tm_folding_refuse (folding, &tm_convention_bitsandbytes_int8, bundle, "companion-shape",
                              "SCB is not one float32 number a row");
  if (format != NULL)
    {
      guint8 code = 0;

      if (format->fault != NULL || format->bytes < 1 || !tm_stored_read (format, 0, 1, &code, NULL) || code != 0)
        return tm_folding_refuse (folding, &tm_convention_bitsandbytes_int8, bundle, "weight-format",
                                  "weight_format %u is a layout for a GPU, not rows", code);
    }
  tensor = tm_folding_begin (folding, &tm_convention_bitsandbytes_int8, g_strdup (weight->name), TM_DTYPE_CODE_I8, 2,
                             weight->shape);
  if (tensor == NULL)
    return TM_CLAIM_NO;
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, row_max);
  tm_folding_add_rest (folding, &tm_convention_bitsandbytes_int8, bundle, tensor);
  tm_grouped_set_row_max (&grouped, weight, row_max);
  tm_grouped_set_blocks (&grouped, tensor, 1, columns, rows, 1);
  tm_tensor_set_whole (tensor, TRUE);
  tensor->symmetric = 1;
  tm_codec_attach_grouped (tensor, &grouped);
  return tm_folding_commit (folding, tensor);
}

const TmConvention tm_convention_bitsandbytes_int8 = { "bitsandbytes", int8_suffixes, claim_int8 };
