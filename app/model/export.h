/* A region as a file or a stream of text: npy, CSV, aligned rows. For the command line and for the window's export. */
#pragma once

#include "model/region.h"

G_BEGIN_DECLS

typedef enum
{
  TM_EXPORT_TEXT, /* aligned columns, one row of the last axis a line, an empty line between matrices */
  TM_EXPORT_CSV,  /* the same rows with commas */
  TM_EXPORT_NPY,  /* version 1.0, host byte order, C order */
  TM_EXPORT_JSON, /* nested arrays */
} TmExportFormat;

/* By a file name's ending (".npy", ".csv"); FALSE for any other. */
gboolean tm_export_format_from_path (const char *path, TmExportFormat *format);

typedef struct
{
  const TmTensor *tensor;
  TmQuantity quantity;
  const guint64 *start, *end; /* rank numbers; NULL for the whole tensor */
  TmExportFormat format;
  /* Takes what was written; FALSE stops, with error set. */
  gboolean (*write) (gconstpointer bytes, gsize count, gpointer user_data, GError **error);
  /* After every piece; may be NULL. FALSE stops, with error set. */
  gboolean (*progress) (guint64 done, guint64 total, gpointer user_data, GError **error);
  gpointer user_data;
} TmExport;

/* Memory does not depend on the region. Errors as in tm_region_foreach(), and the callbacks'. */
gboolean tm_export_region (const TmExport *export, GCancellable *cancellable, GError **error);

/* The same into a file that appears whole or not at all; write and user_data of export are for progress alone. */
gboolean tm_export_file (const TmExport *export, const char *path, GCancellable *cancellable, GError **error);

G_END_DECLS
