/* What only a comparison's report has: the ranking, pictures of the worst errors, modules, what was left over. */
#include "analysis/report-html.h"

#include <math.h>

#include "io/number.h"
#include "io/text.h"

#define PICTURES 12
#define BEST_DB 60.0 /* a full bar */

static void
append_total (const TmDiff *diff, GString *out)
{
  g_autofree char *sqnr = tm_diff_format_sqnr (diff->total.sqnr_db), *count = tm_format_count (diff->total.parameters);
  const TmAlignment *alignment = diff->alignment;
  guint left = alignment->candidate_left->len + alignment->reference_left->len;

  tm_html_append_heading (out, "What quantization changed");
  g_string_append (out, "<p>");
  if (diff->total.tensors > 0)
    g_string_append_printf (out, "<b>%s</b> over %s parameters in %u tensors; largest error %.4g. ", sqnr, count,
                            diff->total.tensors, diff->total.max_abs);
  g_string_append_printf (out, "%u tensors aligned, %u left over.</p>\n", alignment->pairs->len, left);
}

static void
append_share (GString *out, double share)
{
  tm_html_take_cell (out, isnan (share) ? g_strdup ("") : g_strdup_printf ("%.2f %%", 100 * share), TRUE);
}

static void
append_row (const TmDiff *diff, const TmDiffTensor *tensor, GString *out)
{
  const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate);
  g_autofree char *rounding = tm_diff_describe_rounding (diff, tensor);
  g_autofree char *alignment = tm_diff_describe_alignment (diff, tensor);
  gboolean known = tensor->fault == NULL;

  g_string_append (out, "<tr>");
  tm_html_take_cell (out, g_strdup (candidate->name), FALSE);
  g_string_append (out, "<td>");
  tm_html_append_dtype (out, candidate);
  g_string_append (out, "</td>");
  tm_html_take_cell (out, known ? tm_diff_format_sqnr (tensor->sqnr_db) : g_strdup ("?"), TRUE);
  g_string_append (out, "<td>");
  if (known)
    tm_html_append_bar (out, isinf (tensor->sqnr_db) ? (tensor->sqnr_db > 0 ? 1 : 0) : tensor->sqnr_db / BEST_DB,
                        "part");
  g_string_append (out, "</td>");
  tm_html_take_cell (out, known ? g_strdup_printf ("%.4g", tensor->max_abs) : g_strdup (""), TRUE);
  tm_html_take_cell (out, known && !isnan (tensor->cosine) ? g_strdup_printf ("%.6f", tensor->cosine) : g_strdup (""),
                     TRUE);
  append_share (out, known ? tensor->over_half_step : (double) NAN);
  append_share (out, known ? tensor->clipped : (double) NAN);
  tm_html_take_cell (out, g_strdup (alignment), FALSE);
  tm_html_take_cell (out, g_strdup (rounding != NULL ? rounding : ""), FALSE);
  g_string_append (out, "</tr>\n");
}

static void
append_ranking (const TmDiff *diff, GString *out)
{
  static const char *const titles[]
      = { "tensor",   "dtype",      ">SQNR",    "",  ">max |error|", ">cosine", ">> ½ step",
          ">clipped", "aligned by", "rounding", NULL };

  tm_html_begin_table (out, "Worst first", titles);
  for (guint i = 0; i < diff->tensors->len; i++)
    append_row (diff, tm_diff_tensor (diff, i), out);
  tm_html_end_table (out);
}

/* --- Pictures ----------------------------------------------------------------------------------------------------- */

static void
append_histogram (const TmDiff *diff, const TmDiffTensor *tensor, GString *out)
{
  const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate);
  guint64 most = 1;

  for (guint i = 0; i < TM_DIFF_BINS; i++)
    most = MAX (most, tensor->histogram[i]);
  g_string_append (out, "<figure><figcaption>");
  tm_html_append_text (out, candidate->name);
  g_string_append_printf (out,
                          "</figcaption><svg class=\"histogram\" viewBox=\"0 0 %d 60\" preserveAspectRatio=\"none\" "
                          "role=\"img\" aria-label=\"Error in steps, from −1 to 1\">",
                          TM_DIFF_BINS);
  for (guint i = 0; i < TM_DIFF_BINS; i++)
    {
      char height[TM_NUMBER_SIZE], top[TM_NUMBER_SIZE];
      double share = 58 * (double) tensor->histogram[i] / (double) most;

      if (tensor->histogram[i] == 0)
        continue;
      share = MAX (share, 0.4);
      g_ascii_formatd (height, sizeof height, "%.2f", share);
      g_ascii_formatd (top, sizeof top, "%.2f", 60 - share);
      g_string_append_printf (out, "<rect x=\"%u\" y=\"%s\" width=\"0.9\" height=\"%s\"%s/>", i, top, height,
                              i < TM_DIFF_BINS / 4 || i >= TM_DIFF_BINS / 4 * 3 ? " class=\"over\"" : "");
    }
  g_string_append_printf (
      out, "<line x1=\"%d\" y1=\"0\" x2=\"%d\" y2=\"60\"/><line x1=\"%d\" y1=\"0\" x2=\"%d\" y2=\"60\"/></svg>",
      TM_DIFF_BINS / 4, TM_DIFF_BINS / 4, TM_DIFF_BINS / 4 * 3, TM_DIFF_BINS / 4 * 3);
  g_string_append_printf (out,
                          "<p class=\"dim\">−1 … 1 steps, half a step marked; root mean square %.3f</p></figure>\n",
                          tensor->rms_steps);
}

static void
append_pictures (const TmDiff *diff, GString *out)
{
  guint shown = 0;

  for (guint i = 0; i < diff->tensors->len && shown < PICTURES; i++)
    {
      const TmDiffTensor *tensor = tm_diff_tensor (diff, i);

      if (tensor->fault != NULL || !tensor->has_steps)
        continue;
      if (shown++ == 0)
        {
          tm_html_append_heading (out, "Error in steps");
          g_string_append (out, "<div class=\"pictures\">\n");
        }
      append_histogram (diff, tensor, out);
    }
  if (shown > 0)
    g_string_append (out, "</div>\n");
}

/* --- Groups, modules, what is left -------------------------------------------------------------------------------- */

static char *
format_range (const TmTensor *tensor, const TmDiffGroup *group)
{
  g_autofree guint64 *start = NULL, *end = NULL;
  GString *text = g_string_new (NULL);
  guint rank;

  tm_diff_group_get_range (tensor, group, &start, &end, &rank);
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, i > 0 ? "," : "", start[i], end[i]);
  return g_string_free (text, FALSE);
}

static void
append_groups (const TmDiff *diff, GString *out)
{
  static const char *const titles[]
      = { "tensor", "elements", ">RMS error", ">times the tensor's", ">max |error|", NULL };
  guint shown = 0;

  for (guint i = 0; i < diff->tensors->len && shown < 2 * PICTURES; i++)
    {
      const TmDiffTensor *tensor = tm_diff_tensor (diff, i);
      const TmTensor *candidate = tm_model_tensor (diff->alignment->candidate, tensor->pair->candidate);

      if (tensor->fault != NULL || tensor->n_worst == 0)
        continue;
      if (shown++ == 0)
        {
          tm_html_append_heading (out, "Worst groups");
          tm_html_begin_table (out, "The group with the largest error of each of the worst tensors", titles);
        }
      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (candidate->name), FALSE);
      tm_html_take_cell (out, format_range (candidate, &tensor->worst[0]), FALSE);
      tm_html_take_cell (out, g_strdup_printf ("%.4g", sqrt (tensor->worst[0].mse)), TRUE);
      tm_html_take_cell (out, g_strdup_printf ("%.2f", sqrt (tensor->worst[0].mse / tensor->mse)), TRUE);
      tm_html_take_cell (out, g_strdup_printf ("%.4g", tensor->worst[0].max_abs), TRUE);
      g_string_append (out, "</tr>\n");
    }
  if (shown > 0)
    tm_html_end_table (out);
}

static void
append_modules (const TmDiff *diff, GString *out)
{
  static const char *const titles[] = { "module", ">SQNR", ">parameters", ">max |error|", "worst tensor", NULL };
  TmModel *candidate = diff->alignment->candidate;

  tm_html_append_heading (out, "Modules");
  tm_html_begin_table (out, "In the order of the model", titles);
  for (guint i = 0; i < candidate->root->children->len; i++)
    {
      const TmModule *module = g_ptr_array_index (candidate->root->children, i);
      TmDiffTotal total = tm_diff_sum_module (diff, module);

      if (total.tensors == 0)
        continue;
      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (module->path), FALSE);
      tm_html_take_cell (out, tm_diff_format_sqnr (total.sqnr_db), TRUE);
      tm_html_take_cell (out, tm_format_count (total.parameters), TRUE);
      tm_html_take_cell (out, g_strdup_printf ("%.4g", total.max_abs), TRUE);
      tm_html_take_cell (out, g_strdup (tm_model_tensor (candidate, total.worst->pair->candidate)->name), FALSE);
      g_string_append (out, "</tr>\n");
    }
  tm_html_end_table (out);
}

static void
append_left (TmModel *model, const GArray *left, const char *label, GString *out)
{
  static const char *const titles[] = { "tensor", "dtype", ">parameters", NULL };

  if (left->len == 0)
    return;
  tm_html_begin_table (out, label, titles);
  for (guint i = 0; i < left->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, g_array_index (left, guint, i));

      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (tensor->name), FALSE);
      g_string_append (out, "<td>");
      tm_html_append_dtype (out, tensor);
      g_string_append (out, "</td>");
      tm_html_take_cell (out, tm_format_count (tensor->n_elements), TRUE);
      g_string_append (out, "</tr>\n");
    }
  tm_html_end_table (out);
}

void
tm_report_append_diff (const TmDiff *diff, GString *out)
{
  const TmAlignment *alignment = diff->alignment;

  append_total (diff, out);
  append_ranking (diff, out);
  append_pictures (diff, out);
  append_groups (diff, out);
  append_modules (diff, out);
  if (alignment->candidate_left->len + alignment->reference_left->len > 0)
    tm_html_append_heading (out, "Without a counterpart");
  append_left (alignment->candidate, alignment->candidate_left, "In the candidate", out);
  append_left (alignment->reference, alignment->reference_left, "In the reference", out);
}
