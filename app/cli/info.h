/* The parts of `info`: what it counts, its record, its text. */
#pragma once

#include "cli/cli.h"

G_BEGIN_DECLS

#define CLI_INFO_CUT 16u /* entries of a metadata array that are shown without --full */

/* The model's census is by dtype too; this one is by granularity alone. */
typedef struct
{
  const TmGranularity *granularity; /* NULL: not quantized */
  GString *dtypes;                  /* "Q4_K, Q5_K" */
  guint tensors;
} CliGranularityRow;

/* Largest first. (transfer full) (element-type CliGranularityRow) */
GArray *cli_info_count_granularities (TmModel *model);
double cli_info_get_bits_per_weight (guint64 bytes, guint64 parameters);

gboolean cli_info_print_json (TmModel *model, gboolean full, GError **error);
gboolean cli_info_print_text (TmModel *model, gboolean full, GError **error);

G_END_DECLS
