#include "model/quantization.h"

static void
add (TmQuantizationPart *part, guint64 parameters, guint64 bytes)
{
  part->tensors++;
  part->parameters += parameters;
  part->bytes += bytes;
}

static gboolean
is_floating (TmDtype dtype)
{
  switch (tm_dtype_get_info (dtype)->family)
    {
    case TM_FAMILY_FLOAT:
    case TM_FAMILY_HALF:
    case TM_FAMILY_FLOAT8:
      return TRUE;
    default:
      return FALSE;
    }
}

void
tm_model_summarise_quantization (TmModel *model, TmQuantizationSummary *summary)
{
  *summary = (TmQuantizationSummary) { .schemes = tm_model_count_schemes (model) };

  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);

      if (tensor->quantized)
        add (&summary->quantized, tensor->n_elements, tensor->bytes);
      else if (tensor->rank >= 2 && is_floating (tensor->dtype))
        {
          add (&summary->matrices, tensor->n_elements, tensor->bytes);
          summary->matrices_excluded += tensor->config_excludes ? 1 : 0;
        }
      else
        add (&summary->small, tensor->n_elements, tensor->bytes);
      summary->conflicts += tensor->config_conflict ? 1 : 0;
      for (guint o = 1; o < tensor->n_operands; o++)
        {
          const TmStored *stored = tm_model_stored (model, tensor->operand[o].stored);
          add (tensor->operand[o].role == TM_ROLE_OTHER ? &summary->bookkeeping : &summary->companions, stored->n_elements,
               stored->bytes);
        }
    }
  if (__builtin_mul_overflow (model->parameters, (guint64) 2, &summary->bfloat16_bytes))
    summary->bfloat16_bytes = G_MAXUINT64;
}

void
tm_quantization_summary_clear (TmQuantizationSummary *summary)
{
  g_clear_pointer (&summary->schemes, g_array_unref);
}

const char *
tm_scheme_count_get_config (TmModel *model, const TmSchemeCount *count)
{
  return model->quantization_file == NULL ? "absent" : count->conflicts > 0 ? "differs" : "agrees";
}

const char *
tm_operand_role_get_name (TmOperandRole role)
{
  static const char *const names[] = {
    [TM_ROLE_VALUES] = "values",         [TM_ROLE_SCALE] = "scale",
    [TM_ROLE_ZERO_POINT] = "zero_point", [TM_ROLE_GROUP_INDEX] = "group_index",
    [TM_ROLE_CODEBOOK] = "codebook",     [TM_ROLE_GLOBAL_SCALE] = "global_scale",
    [TM_ROLE_OFFSET] = "offset",         [TM_ROLE_OTHER] = "other",
  };
  return names[role];
}

gint64
tm_model_find_owner (TmModel *model, guint stored)
{
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      for (guint o = 0; o < tensor->n_operands; o++)
        if (tensor->operand[o].stored == stored)
          return i;
    }
  return -1;
}

GArray *
tm_model_group_assumptions (TmModel *model)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (TmAssumptionGroup));
  g_autoptr (GHashTable) by_text = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);
      g_autofree char *text = g_strjoin ("\x01", assumption->key, assumption->value, assumption->evidence, NULL);
      guint at = GPOINTER_TO_UINT (g_hash_table_lookup (by_text, text));

      if (at == 0)
        {
          TmAssumptionGroup fresh = { assumption, 0 };
          g_array_append_val (groups, fresh);
          at = groups->len;
          g_hash_table_insert (by_text, g_steal_pointer (&text), GUINT_TO_POINTER (at));
        }
      g_array_index (groups, TmAssumptionGroup, at - 1).tensors++;
    }
  return groups;
}
