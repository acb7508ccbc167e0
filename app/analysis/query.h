/* The filter language of outliner, tensor table and command line.
 *
 *   attn_q                       name contains it; * and ? make it a pattern for the whole name; "…" takes any character
 *   dtype:Q6_K  module:*.ffn_*   text fields: name, module, dtype, scheme, granularity. A word without * and ? is to be the
 *                                whole (dtype, scheme, granularity) or a part (name, module). Case does not matter
 *   rows>4096  bpw<=4.5          numbers: > >= < <= = !=, with K M G (thousands) or Ki Mi Gi behind them; : is =
 *   zeros>50%                    shares of the elements with %, counts without: zeros nan inf
 *   is:quantized                 is:quantized, is:ordinary, is:readable, is:faulty, is:matrix
 *   a b, a and b, a or b, not a, -a, ( )    and binds closer than or
 *
 * What is not known (a tensor without a counterpart has no sqnr) is neither matched nor, with not, matched. */
#pragma once

#include "analysis/diff.h"
#include "analysis/statistics.h"

G_BEGIN_DECLS

typedef struct _TmQuery TmQuery;

typedef enum
{
  TM_QUERY_NEEDS_VALUES = 1 << 0, /* statistics of values */
  TM_QUERY_NEEDS_CODES = 1 << 1,
  TM_QUERY_NEEDS_DIFF = 1 << 2,   /* a comparison with a reference */
} TmQueryNeeds;

/* An empty text matches everything. Errors: TM_ERROR_ADDRESS, "… at character 7"; at (may be NULL): the character, counted
 * from 0, for marking it. */
TmQuery *tm_query_parse (const char *text, guint *at, GError **error);
void tm_query_free (TmQuery *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmQuery, tm_query_free)

/* What has to be computed before it can be answered, in whole. */
TmQueryNeeds tm_query_get_needs (const TmQuery *query);

/* statistics and diff: of this tensor, or NULL. */
gboolean tm_query_matches (const TmQuery *query, TmModel *model, guint tensor, const TmStatistics *statistics,
                           const TmDiffTensor *diff);
/* All tensors that match, ascending. set and diff may be NULL. (transfer full) (element-type guint) */
GArray *tm_query_run (const TmQuery *query, TmModel *model, TmStatisticsSet *set, const TmDiff *diff);
/* Computes what the query needs of values and codes. Errors: as tm_statistics_set_compute(). */
gboolean tm_query_prepare (const TmQuery *query, TmStatisticsSet *set, TmProgressFunc progress, gpointer data,
                           GCancellable *cancellable, GError **error);

/* For completion and help: every field, in order. */
typedef struct
{
  const char *name, *meaning; /* "rows", "rows: all axes but the last" */
  gboolean is_text;
  TmQueryNeeds needs;
} TmQueryField;
const TmQueryField *tm_query_get_fields (guint *n);

G_END_DECLS
