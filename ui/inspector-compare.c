/* What the comparison says of the selection: baseline, candidate and delta of a scalar; a tensor's error; a module's. */
#include "ui/histogram.h"
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"
#include "ui/table-columns.h"

#include "io/number.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

static char *
format_signed (double number, const char *format)
{
  g_autofree char *magnitude = g_strdup_printf (format, fabs (number));

  return g_strconcat (number < 0 ? "−" : "", magnitude, NULL);
}

static char *
format_title (const TmScalar *scalar)
{
  GString *text = g_string_new ("Against the reference [");

  for (guint i = 0; i < scalar->rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", scalar->index[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

void
tm_inspector_add_delta (GtkWidget *box, TmDocument *document, guint index, const TmScalar *scalar, const TmDelta *delta,
                        const TmScalar *baseline, const char *fault)
{
  TmModel *model = tm_document_get_model (document);
  const TmTensor *tensor = tm_model_tensor (model, index);
  TmComparison *comparison = tm_document_get_comparison (document);
  GtkWidget *pair, *card;
  char number[TM_NUMBER_SIZE];

  if (!comparison)
    return;
  if (fault)
    {
      card = tm_card_new (box, "Against the reference");
      tm_card_add_text (card, fault, FALSE);
      return;
    }
  const TmTensor *reference = tm_model_tensor (tm_comparison_get_diff (comparison)->alignment->reference, delta->reference);
  g_autofree char *hex = baseline->raw_bits ? tm_scalar_format_hex (baseline) : NULL;
  g_autofree char *dtype = tm_text_escape (reference->dtype_label, -1), *own = tm_text_escape (tensor->dtype_label, -1);
  g_autofree char *details = reference->quantized && baseline->has_raw
                                 ? g_strdup_printf ("raw %" G_GINT64_FORMAT " · %s", baseline->raw, dtype)
                                 : g_strdup_printf ("%s %s", dtype, hex ? hex : "");
  g_autofree char *candidate_details
      = scalar->has_raw && tensor->quantized ? g_strdup_printf ("raw %" G_GINT64_FORMAT " · %s", scalar->raw, own) : g_strdup (own);
  g_autofree char *name = tm_text_escape (reference->name, -1);

  g_autofree char *title = format_title (scalar);
  GtkWidget *heading = gtk_label_new (title);

  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_label_set_wrap (GTK_LABEL (heading), TRUE);
  gtk_widget_add_css_class (heading, "card-title");
  gtk_box_append (GTK_BOX (box), heading);
  pair = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  gtk_box_set_homogeneous (GTK_BOX (pair), TRUE);
  gtk_box_append (GTK_BOX (box), pair);
  tm_card_new_big (pair, "baseline", tm_format_float32 (number, delta->baseline), g_strchomp (details), name, FALSE);
  tm_card_new_big (pair, "candidate", tm_format_float32 (number, delta->candidate), candidate_details, NULL, TRUE);

  card = tm_card_new (box, NULL);
  g_autofree char *exact = isfinite (delta->delta) ? tm_format_exact (delta->delta) : NULL;
  g_autofree char *shown = format_signed (delta->delta, "%.6g");
  tm_card_add_row (card, "delta", shown, exact);
  if (delta->has_step)
    {
      g_autofree char *steps = format_signed (delta->delta_in_steps, "%.2f");

      tm_card_add_row (card, "in steps", steps, "The delta divided by the distance to the next code on that side");
      tm_card_add_row (card, "within ½ step",
                       !delta->over_half_step ? "yes" : delta->clipped ? "no: clipped" : "no",
                       "Rounding to the nearest code leaves at most half a step");
    }
}

static void
add_histogram (GtkWidget *box, TmDocument *document, const TmDiffTensor *diff)
{
  double counts[TM_DIFF_BINS];
  GtkWidget *card = tm_card_new (box, "Error in steps");

  for (guint i = 0; i < TM_DIFF_BINS; i++)
    counts[i] = (double) diff->histogram[i];
  gtk_box_append (GTK_BOX (card), tm_histogram_new (tm_document_get_theme (document), counts, TM_DIFF_BINS, -1, 1, "steps"));
  if (diff->below + diff->above > 0)
    {
      g_autofree char *outside = tm_format_count (diff->below + diff->above);

      tm_card_add_row (card, "beyond", outside, "Elements whose error is more than one step");
    }
}

/* --- Scales against the reference ------------------------------------------------------------------------------- */

#define SCALE_BINS 48

/* Up to where nearly all of both are: single groups far out would squeeze all others into one bin. */
static double
get_scale_end (const TmScaleRanges *ranges)
{
  const TmDistribution *stored = &ranges->stored, *needed = &ranges->needed;
  const double common = MAX (tm_distribution_get_percentile (stored, 99), tm_distribution_get_percentile (needed, 99));

  return MIN (MAX (stored->max, needed->max), common * 1.25);
}

static void
add_scale_histogram (GtkWidget *card, TmDocument *document, const TmScaleRanges *ranges)
{
  double stored[SCALE_BINS] = { 0 }, needed[SCALE_BINS] = { 0 }, inside = 0;
  const double end = get_scale_end (ranges);
  double low = MIN (tm_distribution_get_percentile (&ranges->stored, 1), tm_distribution_get_percentile (&ranges->needed, 1));
  GtkWidget *histogram;

  low = low > end / 3 ? MIN (ranges->stored.min, ranges->needed.min) : 0; /* near zero the axis begins there */
  if (!(end > low))
    return;
  tm_distribution_rebin (&ranges->stored, low, end, SCALE_BINS, stored);
  tm_distribution_rebin (&ranges->needed, low, end, SCALE_BINS, needed);
  for (guint i = 0; i < SCALE_BINS; i++)
    inside += stored[i] + needed[i];
  histogram = tm_histogram_new (tm_document_get_theme (document), stored, SCALE_BINS, low, end, "");
  tm_histogram_set_outline (TM_HISTOGRAM (histogram), needed, "stored", "needed");
  gtk_box_append (GTK_BOX (card), histogram);
  if (MAX (ranges->stored.max, ranges->needed.max) > end)
    {
      const double beyond = (double) (ranges->stored.n_finite + ranges->needed.n_finite - ranges->stored.n_zeros
                                      - ranges->needed.n_zeros) - inside;
      g_autofree char *number = tm_format_count ((guint64) MAX (beyond + 0.5, 1));

      tm_card_add_row (card, "beyond", number, "Scales, stored or needed, that are farther out than the bars");
    }
}

void
tm_inspector_add_scale_ranges (GtkWidget *box, TmDocument *document, guint index)
{
  TmComparison *comparison = tm_document_get_comparison (document);
  const TmTensor *tensor = tm_model_tensor (tm_document_get_model (document), index);
  const TmScaleRanges *ranges;
  GtkWidget *card;

  if (!comparison || !tensor->quantized || !tm_alignment_find (tm_comparison_get_diff (comparison)->alignment, index))
    return;
  ranges = tm_comparison_want_scale_ranges (comparison, index);
  card = tm_card_new (box, "Scales against the reference");
  if (!ranges)
    {
      tm_card_add_text (card, "Measuring the reference's group ranges…", FALSE);
      return;
    }
  g_autofree char *words = tm_scale_ranges_describe (ranges), *shown = tm_text_escape (words, -1);
  GtkWidget *text;

  if (!ranges->fault && ranges->groups > 0)
    add_scale_histogram (card, document, ranges);
  text = tm_card_add_text (card, shown, FALSE);
  gtk_label_set_xalign (GTK_LABEL (text), 0);
  gtk_widget_set_tooltip_text (text, "Needed: the smallest scale with which no value of the reference's group lies more than half a "
                                     "step beyond the end codes. Bars left of the outline mean clipping.");
}

static char *
format_range (const guint64 *start, const guint64 *end, guint rank)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < rank; i++)
    if (end[i] - start[i] == 1)
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", start[i]);
    else
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, i ? ", " : "", start[i], end[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static void
add_worst_group (GtkWidget *card, const TmTensor *tensor, const TmDiffTensor *diff)
{
  g_autofree guint64 *start = NULL, *end = NULL;
  guint rank;

  if (diff->n_worst == 0 || !(diff->worst[0].mse > 0))
    return;
  tm_diff_group_get_range (tensor, &diff->worst[0], &start, &end, &rank);
  g_autofree char *where = format_range (start, end, rank);
  g_autofree char *text = g_strdup_printf ("%s\nRMS %.4g", where, sqrt (diff->worst[0].mse));
  tm_card_add_row (card, tensor->granularity ? "worst group" : "worst row", text, "Where the mean squared error is largest");
}

void
tm_inspector_add_tensor_error (GtkWidget *box, TmDocument *document, guint index)
{
  TmComparison *comparison = tm_document_get_comparison (document);
  TmDiff *diff = comparison ? tm_comparison_get_diff (comparison) : NULL;
  const TmDiffTensor *of = diff ? tm_diff_find (diff, index) : NULL;
  const TmTensor *tensor = tm_model_tensor (tm_document_get_model (document), index);
  GtkWidget *card;

  if (!diff)
    return;
  card = tm_card_new (box, "Error against the reference");
  if (!of || of->fault)
    {
      g_autofree char *fault = of ? tm_text_escape (of->fault, -1) : NULL;

      tm_card_add_text (card, of ? fault : "Not aligned: the reference has no counterpart of this tensor.", FALSE);
      return;
    }
  g_autofree char *sqnr = tm_diff_format_sqnr (of->sqnr_db);
  g_autofree char *max = of->has_steps && isfinite (of->max_steps) ? g_strdup_printf ("%.4g (%.2f steps)", of->max_abs, of->max_steps)
                                                                   : g_strdup_printf ("%.4g", of->max_abs);
  g_autofree char *aligned = tm_diff_describe_alignment (diff, of);
  g_autofree char *words = g_str_has_prefix (aligned, "identity")
                               ? g_strconcat ("name; values as they are", aligned + strlen ("identity"), NULL)
                               : g_strdup (aligned);
  g_autofree char *aligned_shown = tm_text_escape (words, -1);
  g_autofree char *names = tm_alignment_format_references (diff->alignment, of->pair);
  g_autofree char *names_shown = tm_text_escape (names, -1);
  g_autofree char *rounding = tm_diff_describe_rounding (diff, of);

  tm_card_add_row (card, "SQNR", sqnr, "Signal to quantization noise ratio: 10 log₁₀ (Σ x² / Σ e²)");
  tm_card_add_row (card, "max |error|", max, "The largest difference");
  if (!isnan (of->cosine))
    {
      g_autofree char *cosine = g_strdup_printf ("%.5f", of->cosine);

      tm_card_add_row (card, "cosine", cosine, "Of the angle between both, taken as vectors");
    }
  if (of->has_steps && !isnan (of->over_half_step))
    {
      g_autofree char *over = tm_table_format_share (of->over_half_step), *clipped = tm_table_format_share (of->clipped);

      tm_card_add_row (card, "over ½ step", over, rounding);
      tm_card_add_row (card, "clipped", clipped, "More than half a step off, at an end of the range of codes");
    }
  add_worst_group (card, tensor, of);
  tm_card_add_row (card, "aligned by", aligned_shown, "What a converter did to the values, and was undone to compare");
  tm_card_add_row (card, "reference", names_shown, NULL);
  if (of->has_steps && of->n_stepped > 0 && !of->exact)
    add_histogram (box, document, of);
}

void
tm_inspector_add_total_error (GtkWidget *box, TmDocument *document, const TmModule *module)
{
  TmComparison *comparison = tm_document_get_comparison (document);
  TmDiff *diff = comparison ? tm_comparison_get_diff (comparison) : NULL;

  if (!diff)
    return;
  const TmDiffTotal total = tm_diff_sum_module (diff, module);
  GtkWidget *card = tm_card_new (box, "Error against the reference");

  if (total.tensors == 0)
    {
      tm_card_add_text (card, "Not aligned: the reference has no counterpart of these tensors.", FALSE);
      return;
    }
  g_autofree char *sqnr = tm_diff_format_sqnr (total.sqnr_db);
  g_autofree char *max = g_strdup_printf ("%.4g", total.max_abs);
  g_autofree char *tensors = g_strdup_printf ("%u", total.tensors);

  tm_card_add_row (card, "SQNR", sqnr, "Of all values together");
  tm_card_add_row (card, "max |error|", max, "The largest difference");
  tm_card_add_row (card, "compared", tensors, "Tensors that have a counterpart");
  if (total.worst)
    {
      g_autofree char *name
          = tm_text_escape (tm_model_tensor (diff->alignment->candidate, total.worst->pair->candidate)->name, -1);
      g_autofree char *worst = tm_diff_format_sqnr (total.worst->sqnr_db);
      g_autofree char *text = g_strdup_printf ("%s\n%s", name, worst);

      tm_card_add_row (card, "worst", text, NULL);
    }
}
