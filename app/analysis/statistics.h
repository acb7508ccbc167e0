/* Statistics of a model's tensors: values, raw codes (code usage), scales. Found tensor by tensor when asked for, kept, and
 * kept on disk too, so that a file that did not change is not read twice.
 *
 *   set = tm_statistics_set_new (model);
 *   tm_statistics_set_load (set);                                   what the cache has, at once
 *   tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, …)  the rest, on a worker
 *   one = tm_statistics_set_get (set, tensor);                      any time, any thread; NULL: not yet
 *   sum = tm_statistics_set_sum (set, module, &missing);            of everything below a module */
#pragma once

#include "analysis/distribution.h"
#include "analysis/work.h"
#include "io/json-writer.h"
#include "model/model.h"

G_BEGIN_DECLS

typedef enum
{
  TM_STATISTICS_VALUES = 1 << 0,
  TM_STATISTICS_CODES = 1 << 1,
  TM_STATISTICS_SCALES = 1 << 2,
  TM_STATISTICS_ALL = 7,
} TmStatisticsParts;

/* Immutable, reference counted. */
typedef struct
{
  gint ref_count;
  TmStatisticsParts parts;  /* looked at; a part that the tensor does not have is looked at, and empty */
  char *fault;              /* NULL, or why the values cannot be had; then nothing below counts */
  guint tensors;            /* 1, or of a sum: how many */
  TmDistribution values;

  /* Raw codes as stored. NULL where there are none or they are wider than 16 bits; of a sum: where the tensors' codes are
   * not of one kind. */
  guint64 *codes;           /* codes[i]: elements whose code is first_code + i */
  gint32 first_code;
  guint n_codes;            /* all that the dtype has: 16 of four bits */
  guint codes_used;         /* of them, those with a count */

  gboolean has_scales;
  TmDistribution scales;    /* one number a group (as many as there are groups), as effective scale */
} TmStatistics;

TmStatistics *tm_statistics_ref (TmStatistics *statistics);
void tm_statistics_unref (TmStatistics *statistics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmStatistics, tm_statistics_unref)

/* A set may be used from any thread, also while it computes. */
typedef struct _TmStatisticsSet TmStatisticsSet;

TmStatisticsSet *tm_statistics_set_new (TmModel *model); /* its own reference on model */
TmStatisticsSet *tm_statistics_set_ref (TmStatisticsSet *set);
void tm_statistics_set_unref (TmStatisticsSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmStatisticsSet, tm_statistics_set_unref)
TmModel *tm_statistics_set_get_model (TmStatisticsSet *set);

/* Takes what was kept on disk of this very model: same files, sizes, times, and readings. Reads one small file. Compute does
 * it too. */
void tm_statistics_set_load (TmStatisticsSet *set);
/* Where the cache is: "tensormorph/statistics" below the user's cache folder. NULL: none, nothing is kept or found. For tests
 * and the command line; before any set is made. */
void tm_statistics_set_cache_folder (const char *folder);

/* What is missing of tensors (indices, n of them; NULL: all). Blocking, several threads of its own; what was found is there
 * for get as soon as its tensor is done, and stays when cancelled; then it is kept on disk. What cannot be read is its
 * tensor's fault. Errors: G_IO_ERROR_CANCELLED alone. */
gboolean tm_statistics_set_compute (TmStatisticsSet *set, const guint *tensors, guint n, TmStatisticsParts parts,
                                    TmProgressFunc progress, gpointer data, GCancellable *cancellable, GError **error);

/* (transfer full); NULL where none of it was computed. Look at parts. */
TmStatistics *tm_statistics_set_get (TmStatisticsSet *set, guint tensor);

/* How many of the first tensors of a list are computed in all their parts or at fault, up to the first that is not. */
guint tm_statistics_set_count_done (TmStatisticsSet *set, const guint *tensors, guint n);

/* Nothing below a module is missing. */
gboolean tm_statistics_set_has_all (TmStatisticsSet *set, const TmModule *module);

/* Everything below a module (the root: the model) that has been computed, added up. missing (may be NULL): tensors that have
 * not been. parts: those that all have. (transfer full) */
TmStatistics *tm_statistics_set_sum (TmStatisticsSet *set, const TmModule *module, guint *missing);

/* "12 of 16 codes used"; NULL where there are no codes. (transfer full) */
char *tm_statistics_describe_codes (const TmStatistics *statistics);

/* The object of `stats --json`; of a tensor without a fault. full: scales too. */
void tm_statistics_write_json (TmJsonWriter *json, const TmStatistics *statistics, const TmTensor *tensor, gboolean full);
/* The same of a sum: "module" and "tensors" instead of the tensor. */
void tm_statistics_write_sum_json (TmJsonWriter *json, const TmStatistics *statistics, const char *module, gboolean full);
/* "512, 0.001 … 0.02, median 0.01, 3 zero, 1 far from the others"; NULL where there are none. (transfer full) */
char *tm_statistics_describe_scales (const TmStatistics *statistics);

/* How percentiles are found, for --help and tooltips. */
#define TM_PERCENTILE_METHOD \
  "Percentiles are of nearest rank: the smallest number of which p percent of all finite ones are not above it. They are\n" \
  "exact where numbers have 9 significant bits or fewer (BF16, float8, small integers), elsewhere within 0.4 %: numbers\n" \
  "are counted in cells of 1/256 of an octave or less, in one pass. Edges of the histogram are edges of such cells, so its\n" \
  "counts are exact; a number on an edge is in the bin farther from zero. Magnitudes below 2^-126 are in cells of 2^-134,\n" \
  "and F64 numbers outside of float32's range in its last cells. Of complex numbers the real part counts.\n"

G_END_DECLS
