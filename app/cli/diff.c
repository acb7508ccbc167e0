#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/table.h"

#include <math.h>

#include "analysis/scale-ranges.h"
#include "io/error.h"
#include "io/json-writer.h"
#include "io/number.h"
#include "io/text.h"

/* --- Text --------------------------------------------------------------------------------------------------------- */

static char *
format_share (double share)
{
  return isnan (share) ? g_strdup ("") : g_strdup_printf ("%.2f %%", 100 * share);
}

static void
add_row (CliTable *table, const TmDiff *diff, const TmDiffTensor *tensor)
{
  const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate);
  const char *label = candidate->dtype_label != NULL ? candidate->dtype_label : tm_dtype_get_name (candidate->dtype);
  g_autofree char *alignment = tm_diff_describe_alignment (diff, tensor);
  gboolean known = tensor->fault == NULL;

  cli_table_add (table, tm_text_escape (candidate->name, -1), "");
  cli_table_add (table, tm_text_escape (label, -1), cli_style_dtype (candidate->dtype));
  cli_table_add (table, known ? tm_diff_format_sqnr (tensor->sqnr_db) : g_strdup ("?"), "");
  cli_table_add (table, known ? g_strdup_printf ("%.4g", tensor->max_abs) : g_strdup (""), "");
  cli_table_add (table, known && !isnan (tensor->cosine) ? g_strdup_printf ("%.6f", tensor->cosine) : g_strdup (""),
                 "");
  cli_table_add (table, known ? format_share (tensor->over_half_step) : g_strdup (""), "");
  cli_table_add (table, known ? format_share (tensor->clipped) : g_strdup (""), "");
  cli_table_add (table, g_strdup_printf ("%.2f", tm_tensor_get_bits_per_weight (candidate)), "");
  cli_table_add (table, tm_text_escape (alignment, -1), cli_style_dim ());
}

static void
append_left (GString *out, const char *side, TmModel *model, const GArray *left)
{
  if (left->len == 0)
    return;
  g_string_append_printf (out, "\n%sWithout a counterpart, %s:%s\n", cli_style_heading (), side, cli_style_end ());
  for (guint i = 0; i < left->len; i++)
    {
      g_autofree char *name = tm_text_escape (tm_model_tensor (model, g_array_index (left, guint, i))->name, -1);

      g_string_append_printf (out, "  %s\n", name);
    }
}

static gboolean
print_text (const TmDiff *diff, GError **error)
{
  static const char *const titles[]
      = { "tensor", "dtype", "SQNR", "max |error|", "cosine", "> ½ step", "clipped", "bits/w", "aligned by", NULL };
  const TmAlignment *alignment = diff->alignment;
  g_autoptr (CliTable) table = cli_table_new ("llrrrrrrl");
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *total = tm_diff_format_sqnr (diff->total.sqnr_db),
                  *parameters = tm_format_count (diff->total.parameters);

  for (guint i = 0; titles[i] != NULL; i++)
    cli_table_add (table, g_strdup (titles[i]), cli_style_dim ());
  for (guint i = 0; i < diff->tensors->len; i++)
    add_row (table, diff, tm_diff_tensor (diff, i));
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    {
      cli_table_append_row (table, row, "", out);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  g_string_append_printf (out, "\n%u tensors aligned, %u left over · %s parameters", alignment->pairs->len,
                          alignment->candidate_left->len + alignment->reference_left->len, parameters);
  if (diff->total.tensors > 0)
    g_string_append_printf (out, " · %s", total);
  g_string_append_c (out, '\n');
  append_left (out, "candidate", alignment->candidate, alignment->candidate_left);
  append_left (out, "reference", alignment->reference, alignment->reference_left);
  return cli_flush (out, 0, error);
}

/* Scales against the reference's groups: of tensors that were asked for by name, since it reads them once more. */
static gboolean
print_scales (const TmDiff *diff, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  GCancellable *cancellable = cli_start_work ();

  for (guint i = 0; i < diff->tensors->len; i++)
    {
      const TmDiffTensor *tensor = tm_diff_tensor (diff, i);
      const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate);
      g_autoptr (TmScaleRanges) ranges = NULL;

      if (!candidate->quantized || tensor->fault != NULL)
        continue;
      ranges = tm_scale_ranges_measure (diff->alignment, tensor->pair, cancellable, error);
      if (ranges == NULL)
        return FALSE;
      g_autofree char *name = tm_text_escape (candidate->name, -1);
      g_autofree char *words = tm_scale_ranges_describe (ranges), *shown = tm_text_escape (words, -1);

      g_string_append_printf (out, "%s%s%s%s\n", cli_style_heading (), name, cli_style_end (), " · scales");
      if (ranges->fault == NULL && ranges->groups > 0)
        g_string_append_printf (out, "  stored %.4g … %.4g, needed %.4g … %.4g\n", ranges->stored.min, ranges->stored.max,
                                ranges->needed.min, ranges->needed.max);
      g_string_append_printf (out, "  %s\n", shown);
    }
  if (out->len > 0)
    g_string_prepend_c (out, '\n');
  return cli_flush (out, 0, error);
}

/* --- The command -------------------------------------------------------------------------------------------------- */

/* Indices of the tensors named after both models; NULL for none named. */
static GArray *
find_tensors (TmModel *model, const GPtrArray *arguments, GError **error)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 2; i < arguments->len; i++)
    {
      const char *name = g_ptr_array_index (arguments, i);
      gint64 found = tm_model_find_tensor (model, name);
      guint index = (guint) found;

      if (found < 0)
        {
          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "there is no tensor \"%s\"", name);
          return NULL;
        }
      if (g_hash_table_add (seen, GUINT_TO_POINTER (index)))
        g_array_append_val (tensors, index);
    }
  return g_steal_pointer (&tensors);
}

TmDiff *
cli_make_diff (TmModel *candidate, TmModel *reference, const GArray *tensors, GError **error)
{
  GCancellable *cancellable = cli_start_work ();
  g_autoptr (TmAlignment) alignment = tm_align (
      candidate, reference, tensors != NULL && tensors->len > 0 ? (const guint *) (const void *) tensors->data : NULL,
      tensors != NULL ? tensors->len : 0, cli_progress, (gpointer) "Aligning", cancellable, error);
  TmDiff *diff
      = alignment != NULL ? tm_diff_run (alignment, cli_progress, (gpointer) "Comparing", cancellable, error) : NULL;

  cli_end_progress ();
  return diff;
}

static gboolean
print_json (const TmDiff *diff, gboolean full, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  TmJsonWriter json;

  tm_json_writer_init (&json, out);
  if (full)
    tm_diff_write_full_json (&json, diff);
  else
    tm_diff_write_json (&json, diff);
  g_string_append_c (out, '\n');
  return cli_flush (out, 0, error);
}

int
cli_diff (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0),
             *reference_path = g_ptr_array_index (options->arguments, 1);
  GError *error = NULL;
  g_autoptr (TmModel) candidate = cli_open_model (path, options, &error);
  g_autoptr (TmModel) reference = NULL;
  g_autoptr (GArray) tensors = NULL;
  g_autoptr (TmDiff) diff = NULL;

  if (candidate == NULL)
    return cli_fail (path, error);
  reference = cli_open_model (reference_path, options, &error);
  if (reference == NULL)
    return cli_fail (reference_path, error);
  tensors = find_tensors (candidate, options->arguments, &error);
  if (tensors == NULL)
    return cli_fail (path, error);
  diff = cli_make_diff (candidate, reference, tensors, &error);
  if (diff == NULL)
    return cli_fail (path, error);
  if (!(options->given & CLI_OPTION_JSON ? print_json (diff, (options->given & CLI_OPTION_FULL) != 0, &error)
                                          : print_text (diff, &error) && (tensors->len == 0 || print_scales (diff, &error))))
    return cli_fail (path, error);
  return CLI_OK;
}
