/* Histogram: bars of equal bins with a mark for one value, limits that can be dragged, and a line under it that reads the
 * bin under the pointer (or the one that the arrow keys are on). Counts are shown linear or logarithmic. */
#pragma once

#include "view/scene.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define TM_TYPE_HISTOGRAM (tm_histogram_get_type ())
G_DECLARE_FINAL_TYPE (TmHistogramView, tm_histogram, TM, HISTOGRAM, GtkWidget)

/* n counts over low … high, copied. unit: "steps", or "" where bins are plain values. */
GtkWidget *tm_histogram_new (const TmTheme *theme, const double *counts, guint n, double low, double high, const char *unit);
/* Bins stand for whole numbers from first on. */
void tm_histogram_set_whole (TmHistogramView *histogram, gint64 first);
/* A second row of counts over the same bins, drawn as an outline; names: of the bars and of the outline, for the legend. */
void tm_histogram_set_outline (TmHistogramView *histogram, const double *counts, const char *bars, const char *outline);
void tm_histogram_set_mark (TmHistogramView *histogram, double at);
/* Lines at ± range; dragged: called with the magnitude under the pointer while it is dragged over the bars, 0 on a double
 * click (back to what it was). */
void tm_histogram_set_range (TmHistogramView *histogram, double range, void (*dragged) (double range, gpointer data),
                             gpointer data);

G_END_DECLS
