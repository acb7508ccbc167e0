/* What the numbers look like: histogram and figures of a tensor, a module, the model; which codes a quantized tensor uses. */
#include "ui/histogram.h"
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include "io/number.h"

#include <math.h>

#define BINS 81   /* odd: zero is in the middle of one */
#define REACH 1.5 /* of the colour range: the few values beyond would squeeze all others into one bin */

static char *
format_number (double number)
{
  return g_strdup_printf ("%s%.4g", number < 0 ? "−" : "", fabs (number));
}

static void
add_number (GtkWidget *card, const char *key, double number, const char *tooltip)
{
  g_autofree char *text = format_number (number);

  tm_card_add_row (card, key, text, tooltip);
}

static void
add_pair (GtkWidget *card, const char *key, double low, double high, const char *tooltip)
{
  g_autofree char *from = format_number (low), *to = format_number (high);
  g_autofree char *text = g_strdup_printf ("%s … %s", from, to);

  tm_card_add_row (card, key, text, tooltip);
}

static void
add_count (GtkWidget *card, const char *key, guint64 count, guint64 of, const char *tooltip)
{
  g_autofree char *number = tm_format_count (count);
  const double share = of ? (double) count / (double) of * 100 : 0;
  g_autofree char *text = g_strdup_printf (share > 0 && share < 0.005 ? "%s (< 0.01 %%)" : "%s (%.2f %%)", number, share);

  tm_card_add_row (card, key, text, tooltip);
}

/* --- Colour range ------------------------------------------------------------------------------------------------ */

typedef struct
{
  TmDocument *document;
  guint tensor;
} Range;

static void
on_range_dragged (double range, gpointer data)
{
  Range *of = data;

  tm_document_set_range (of->document, of->tensor, (float) range);
}

static void
range_free (gpointer data)
{
  g_object_unref (((Range *) data)->document);
  g_free (data);
}

static void
let_drag (GtkWidget *histogram, TmDocument *document, guint tensor)
{
  TmTiles *tiles = tm_document_get_tiles (document);
  Range *range = g_new0 (Range, 1);
  float now = 0;

  range->document = g_object_ref (document);
  range->tensor = tensor;
  g_object_set_data_full (G_OBJECT (histogram), "range", range, range_free);
  if (tiles)
    tm_tiles_get_range (tiles, tensor, TM_QUANTITY_VALUE, &now);
  tm_histogram_set_range (TM_HISTOGRAM (histogram), (double) now, on_range_dragged, range);
  gtk_widget_set_tooltip_text (histogram, "Drag to set the colour range; a double click takes it back");
}

/* --- Cards ------------------------------------------------------------------------------------------------------- */

/* Both signs: symmetric, as the colours are. */
static GtkWidget *
distribution_view_new (TmDocument *document, const TmDistribution *values, guint64 *beyond)
{
  double counts[BINS] = { 0 };
  const double colours = tm_distribution_get_magnitude_percentile (values, 99.9);
  const double reach = colours > 0 ? MIN (values->absmax, REACH * colours) : values->absmax;
  double low = values->min < 0 ? -reach : 0, high = values->max > 0 ? reach : 0, inside = 0;

  if (!(high > low))
    return NULL;
  tm_distribution_rebin (values, low, high, BINS, counts);
  for (guint i = 0; i < BINS; i++)
    inside += counts[i];
  *beyond = (guint64) MAX ((double) values->n_finite - inside + 0.5, 0);
  return tm_histogram_new (tm_document_get_theme (document), counts, BINS, low, high, "");
}

static void
add_figures (GtkWidget *card, const TmDistribution *values)
{
  if (values->n_finite)
    {
      add_pair (card, "min … max", values->min, values->max, "Of the finite values");
      add_pair (card, "1 % … 99 %", tm_distribution_get_percentile (values, 1), tm_distribution_get_percentile (values, 99),
                "Percentiles: the smallest value that this share is not above");
      add_number (card, "mean", values->mean, NULL);
      add_number (card, "std", values->std, "Standard deviation");
      add_number (card, "RMS", values->rms, "Root of the mean square");
    }
  add_count (card, "zeros", values->n_zeros, values->count, "Values that are 0, −0 too");
  if (values->n_nan)
    add_count (card, "NaN", values->n_nan, values->count, NULL);
  if (values->n_inf)
    add_count (card, "Inf", values->n_inf, values->count, NULL);
}

static void
add_codes (GtkWidget *box, TmDocument *document, const TmStatistics *statistics)
{
  g_autofree char *used = tm_statistics_describe_codes (statistics);
  GtkWidget *card;

  if (!statistics->codes || !used)
    return;
  card = tm_card_new (box, "Raw codes");
  if (statistics->n_codes <= 256)
    {
      g_autofree double *counts = g_new0 (double, statistics->n_codes);
      GtkWidget *histogram;

      for (guint i = 0; i < statistics->n_codes; i++)
        counts[i] = (double) statistics->codes[i];
      histogram = tm_histogram_new (tm_document_get_theme (document), counts, statistics->n_codes, statistics->first_code,
                                    (double) statistics->first_code + statistics->n_codes, "");
      tm_histogram_set_whole (TM_HISTOGRAM (histogram), statistics->first_code);
      gtk_box_append (GTK_BOX (card), histogram);
    }
  tm_card_add_row (card, "usage", used, "How many of the codes that the dtype has the values make use of");
}

/* What nearly all of the magnitudes are within; the few beyond are told in numbers. */
static void
add_scales (GtkWidget *box, TmDocument *document, const TmStatistics *statistics)
{
  const TmDistribution *scales = &statistics->scales;
  double counts[BINS] = { 0 }, median;
  GtkWidget *card;

  if (!statistics->has_scales || !scales->n_finite)
    return;
  card = tm_card_new (box, "Scales");
  const double reach = MIN (scales->absmax, REACH * tm_distribution_get_magnitude_percentile (scales, 99));
  const guint64 outliers = tm_distribution_count_outliers (scales, &median);

  if (reach > 0)
    {
      const double from = scales->min < 0 ? -reach : 0, to = scales->max > 0 ? reach : 0;

      tm_distribution_rebin (scales, from, to, BINS, counts);
      gtk_box_append (GTK_BOX (card), tm_histogram_new (tm_document_get_theme (document), counts, BINS, from, to, ""));
    }
  g_autofree char *count = tm_format_count (scales->count);

  tm_card_add_row (card, "scales", count, "Effective scales, one a group");
  add_pair (card, "min … max", scales->min, scales->max, NULL);
  if (!isnan (median))
    add_number (card, "median", median, "Of magnitudes, zeros left out");
  add_count (card, "outliers", outliers, scales->count,
             "Magnitudes more than a factor of 4, and more than three robust deviations, from the median");
  if (scales->n_zeros)
    add_count (card, "zero", scales->n_zeros, scales->count, "Groups of which every value is zero, or the offset");
}

void
tm_inspector_add_distribution (GtkWidget *box, TmDocument *document, guint tensor, double selected)
{
  TmStatisticsSet *set = tm_document_get_statistics (document);
  g_autoptr (TmStatistics) statistics = set ? tm_statistics_set_get (set, tensor) : NULL;
  GtkWidget *card, *histogram;
  guint64 beyond = 0;

  if (!statistics || statistics->fault || !(statistics->parts & TM_STATISTICS_VALUES) || statistics->values.count == 0)
    return;
  card = tm_card_new (box, "Distribution");
  histogram = distribution_view_new (document, &statistics->values, &beyond);
  if (histogram)
    {
      tm_histogram_set_mark (TM_HISTOGRAM (histogram), selected);
      let_drag (histogram, document, tensor);
      gtk_box_append (GTK_BOX (card), histogram);
    }
  if (beyond)
    add_count (card, "beyond", beyond, statistics->values.count, "Finite values that are farther out than the bars");
  add_figures (card, &statistics->values);
  add_codes (box, document, statistics);
  add_scales (box, document, statistics);
}

void
tm_inspector_add_total_distribution (GtkWidget *box, TmDocument *document, const TmModule *module)
{
  TmStatisticsSet *set = tm_document_get_statistics (document);
  guint missing = 0;
  g_autoptr (TmStatistics) sum = set ? tm_statistics_set_sum (set, module, &missing) : NULL;
  GtkWidget *card, *histogram;
  guint64 beyond = 0;

  if (!sum || sum->tensors == 0 || sum->values.count == 0)
    return;
  card = tm_card_new (box, "Distribution");
  histogram = distribution_view_new (document, &sum->values, &beyond);
  if (histogram)
    gtk_box_append (GTK_BOX (card), histogram);
  if (missing)
    {
      g_autofree char *text = g_strdup_printf ("%u of %u", sum->tensors, sum->tensors + missing);

      tm_card_add_row (card, "tensors", text, "Those whose statistics have been computed");
    }
  if (beyond)
    add_count (card, "beyond", beyond, sum->values.count, "Finite values that are farther out than the bars");
  add_figures (card, &sum->values);
}
