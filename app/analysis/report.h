/* A report of a model, or of a comparison: one HTML file that needs nothing else, or JSON. */
#pragma once

#include "analysis/diff.h"

G_BEGIN_DECLS

typedef enum { TM_REPORT_HTML, TM_REPORT_JSON } TmReportFormat;

/* By a path's ending: .html, .htm, .json. FALSE for any other. */
gboolean tm_report_format_of_path (const char *path, TmReportFormat *format);

/* The whole text. diff may be NULL; else it is of this model as candidate. (transfer full) */
GString *tm_report_make (TmModel *model, const TmDiff *diff, TmReportFormat format);

/* Writes it at once or not at all. Errors: TM_ERROR_IO. */
gboolean tm_report_write (TmModel *model, const TmDiff *diff, TmReportFormat format, const char *path, GError **error);

G_END_DECLS
