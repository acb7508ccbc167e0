/* The HTML of a report. Internal to it. */
#pragma once

#include "analysis/diff.h"

G_BEGIN_DECLS

void tm_report_make_html (TmModel *model, const TmDiff *diff, GString *out);

/* The parts that only a comparison has. */
void tm_report_append_diff (const TmDiff *diff, GString *out);

/* Text from files: no control characters, and no markup. */
void tm_html_append_text (GString *out, const char *text);
void tm_html_append_heading (GString *out, const char *heading);
/* <table> with its head row; titles NULL-terminated, a title that begins with '>' is of a column of numbers. */
void tm_html_begin_table (GString *out, const char *label, const char *const *titles);
void tm_html_end_table (GString *out);
/* A cell; text is taken. */
void tm_html_take_cell (GString *out, char *text, gboolean number);
/* A bar within a cell, share of its whole length; what: css class. */
void tm_html_append_bar (GString *out, double share, const char *css_class);
/* "Q4_K" as a coloured chip. */
void tm_html_append_dtype (GString *out, const TmTensor *tensor);

G_END_DECLS
