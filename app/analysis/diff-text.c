/* A diff for programs and people: the object of `diff --json`, and the words that window, report and command line share. */
#include "analysis/diff.h"

#include <math.h>

/* NaN: there is no such number. */
static void
write_number (TmJsonWriter *json, const char *key, double number)
{
  tm_json_key (json, key);
  if (isnan (number))
    tm_json_null (json);
  else
    tm_json_float64 (json, number);
}

static void
write_flag (TmJsonWriter *json, const char *key, gboolean flag)
{
  if (!flag)
    return;
  tm_json_key (json, key);
  tm_json_bool (json, TRUE);
}

static void
write_range (TmJsonWriter *json, const TmTensor *tensor, const TmDiffGroup *group)
{
  g_autofree guint64 *start = NULL, *end = NULL;
  guint rank;

  tm_diff_group_get_range (tensor, group, &start, &end, &rank);
  tm_json_key (json, "start");
  tm_json_uints (json, start, rank);
  tm_json_key (json, "end");
  tm_json_uints (json, end, rank);
}

static void
write_more (TmJsonWriter *json, const TmDiff *diff, const TmDiffTensor *tensor, const TmTensor *candidate)
{
  g_autofree char *rounding = tm_diff_describe_rounding (diff, tensor);

  if (rounding != NULL)
    {
      tm_json_key (json, "rounding");
      tm_json_string (json, rounding, -1);
      write_number (json, "max_steps", tensor->max_steps);
      write_number (json, "rms_steps", tensor->rms_steps);
    }
  tm_json_key (json, "worst_groups");
  tm_json_begin_array (json);
  for (guint i = 0; i < tensor->n_worst; i++)
    {
      tm_json_begin_object (json);
      write_range (json, candidate, &tensor->worst[i]);
      write_number (json, "mse", tensor->worst[i].mse);
      write_number (json, "max_abs", tensor->worst[i].max_abs);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_tensor (TmJsonWriter *json, const TmDiff *diff, const TmDiffTensor *tensor, gboolean full)
{
  const TmAlignedPair *pair = tensor->pair;
  const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, pair->candidate);
  g_autofree char *reference = tm_alignment_format_references (diff->alignment, pair);
  gboolean known = tensor->fault == NULL;

  tm_json_begin_object (json);
  tm_json_key (json, "name");
  tm_json_string (json, candidate->name, -1);
  tm_json_key (json, "reference_name");
  tm_json_string (json, reference, -1);
  tm_json_key (json, "transform");
  tm_json_string (json, pair->reading->words, -1);
  tm_json_key (json, "parameters");
  tm_json_uint (json, tensor->n + tensor->n_same_nonfinite + tensor->n_other_nonfinite);
  write_number (json, "bits_per_weight", tm_tensor_get_bits_per_weight (candidate));
  write_number (json, "max_abs", known ? tensor->max_abs : (double) NAN);
  write_number (json, "mse", known ? tensor->mse : (double) NAN);
  write_number (json, "sqnr_db", known ? tensor->sqnr_db : (double) NAN);
  write_number (json, "cosine", known ? tensor->cosine : (double) NAN);
  write_number (json, "over_half_step", known ? tensor->over_half_step : (double) NAN);
  write_number (json, "clipped", known ? tensor->clipped : (double) NAN);
  /* What there is to say beyond. */
  if (tensor->has_offset)
    write_number (json, "offset", tensor->offset);
  if (tensor->has_ratio)
    write_number (json, "ratio", tensor->ratio);
  if (tensor->n_other_nonfinite > 0)
    {
      tm_json_key (json, "nonfinite");
      tm_json_uint (json, tensor->n_other_nonfinite);
    }
  write_flag (json, "rounded_reference", tensor->rounded_reference);
  write_flag (json, "guess", pair->guess);
  write_flag (json, "doubtful", pair->doubtful);
  if (!known)
    {
      tm_json_key (json, "fault");
      tm_json_string (json, tensor->fault, -1);
    }
  if (full && known)
    write_more (json, diff, tensor, candidate);
  tm_json_end_object (json);
}

/* Every module that more than one tensor was compared below, in the order of the model. */
static void
write_modules (TmJsonWriter *json, const TmDiff *diff)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new ();

  tm_json_key (json, "modules");
  tm_json_begin_array (json);
  g_ptr_array_add (open, diff->alignment->candidate->root);
  while (open->len > 0)
    {
      const TmModule *module = g_ptr_array_steal_index (open, open->len - 1);
      TmDiffTotal total;

      for (guint i = module->children->len; i-- > 0;)
        g_ptr_array_add (open, g_ptr_array_index (module->children, i));
      if (module->n_tensors < 2 || module->parent == NULL)
        continue;
      total = tm_diff_sum_module (diff, module);
      if (total.tensors < 2)
        continue;
      tm_json_begin_object (json);
      tm_json_key (json, "module");
      tm_json_string (json, module->path, -1);
      tm_json_key (json, "tensors");
      tm_json_uint (json, total.tensors);
      tm_json_key (json, "parameters");
      tm_json_uint (json, total.parameters);
      write_number (json, "sqnr_db", total.sqnr_db);
      write_number (json, "max_abs", total.max_abs);
      tm_json_key (json, "worst");
      tm_json_string (json, tm_model_tensor (diff->alignment->candidate, total.worst->pair->candidate)->name, -1);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_names (TmJsonWriter *json, const char *key, TmModel *model, const GArray *indices)
{
  tm_json_key (json, key);
  tm_json_begin_array (json);
  for (guint i = 0; i < indices->len; i++)
    tm_json_string (json, tm_model_tensor (model, g_array_index (indices, guint, i))->name, -1);
  tm_json_end_array (json);
}

static void
write_diff (TmJsonWriter *json, const TmDiff *diff, gboolean full)
{
  const TmAlignment *alignment = diff->alignment;

  tm_json_begin_object (json);
  tm_json_key (json, "candidate");
  tm_json_string (json, alignment->candidate->path, -1);
  tm_json_key (json, "reference");
  tm_json_string (json, alignment->reference->path, -1);
  tm_json_key (json, "tensors");
  tm_json_begin_array (json);
  for (guint i = 0; i < diff->tensors->len; i++)
    write_tensor (json, diff, tm_diff_tensor (diff, i), full);
  tm_json_end_array (json);
  tm_json_key (json, "unaligned");
  tm_json_begin_object (json);
  write_names (json, "candidate", alignment->candidate, alignment->candidate_left);
  write_names (json, "reference", alignment->reference, alignment->reference_left);
  tm_json_end_object (json);
  tm_json_key (json, "total");
  tm_json_begin_object (json);
  write_number (json, "sqnr_db", diff->total.tensors > 0 ? diff->total.sqnr_db : (double) NAN);
  tm_json_key (json, "parameters");
  tm_json_uint (json, diff->total.parameters);
  tm_json_end_object (json);
  if (full)
    write_modules (json, diff);
  tm_json_end_object (json);
}

void
tm_diff_write_json (TmJsonWriter *json, const TmDiff *diff)
{
  write_diff (json, diff, FALSE);
}

void
tm_diff_write_full_json (TmJsonWriter *json, const TmDiff *diff)
{
  write_diff (json, diff, TRUE);
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

char *
tm_diff_format_sqnr (double sqnr_db)
{
  return isinf (sqnr_db) && sqnr_db > 0 ? g_strdup ("exact") : g_strdup_printf ("%.1f dB", sqnr_db);
}

char *
tm_diff_describe_alignment (const TmDiff *diff, const TmDiffTensor *tensor)
{
  GString *text = g_string_new (tensor->pair->reading->words);

  if (tensor->has_offset)
    g_string_append_printf (text, ", constant offset %.6g", tensor->offset);
  if (tensor->has_ratio)
    g_string_append_printf (text, ", constant ratio %.6g", tensor->ratio);
  if (tensor->n_other_nonfinite > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " not finite on one side", tensor->n_other_nonfinite);
  if (tensor->pair->guess)
    g_string_append (text, ", a guess by shape and order");
  if (tensor->pair->doubtful)
    g_string_append (text, ", doubtful: the values have nothing in common");
  if (tensor->fault != NULL)
    g_string_append_printf (text, ", %s", tensor->fault);
  return g_string_free (text, FALSE);
}
