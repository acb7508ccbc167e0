/* Running sums of a diff: one chunk's, then a tensor's. Internal to the diff. */
#pragma once

#include "analysis/diff.h"
#include "analysis/groups.h"
#include "analysis/steps.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 first, count;
  double sum_ee, max_abs;
} TmGroupSum;

typedef struct
{
  guint64 n, n_same_nonfinite, n_other_nonfinite, n_stepped, n_over, n_clipped;
  guint64 n_over_rounded, n_clipped_rounded; /* of them, those that no rounding of the reference explains */
  double expected_over;                      /* if the reference is a rounded copy of what was quantized */
  double sum_xx, sum_yy, sum_ee, sum_e, sum_steps2;
  double max_abs, max_steps;
  guint64 max_at;
  guint64 histogram[TM_DIFF_BINS], below, above;
  guint64 first_group, n_groups; /* group[i] is the sum of group first_group + i */
  guint64 done_groups;           /* of them, those that no later element can be in */
  TmGroupSum *group;
} TmDiffSums;

/* Sums of elements first … first + count − 1, all zero. */
TmDiffSums *tm_diff_sums_new (const TmGroupLayout *layout, guint64 first, guint64 count);
void tm_diff_sums_free (TmDiffSums *sums);

/* What goes with a piece of a chunk. y and x are changed: elements that are not finite become 0. scale and raw are NULL where
 * steps are not defined; raw may be NULL too where codes are uniform, then fetch is called if they are needed. */
typedef struct
{
  const TmSteps *steps;
  const TmGroupLayout *layout;
  guint64 first;
  gsize count;
  float *y, *x, *scale;
  const gint32 *raw;
  const gint32 *(*fetch_raw) (gpointer data, GError **error);
  const float *(*fetch_offset) (gpointer data, GError **error); /* NULL where there is no offset */
  float rounded;      /* half a unit in the last place of the reference's dtype, of its value; 0: wider ones */
  float rounded_mean; /* what of it goes beyond the tolerance of the steps, in the mean */
  gpointer data;
} TmDiffPiece;

gboolean tm_diff_sums_add (TmDiffSums *sums, const TmDiffPiece *piece, GError **error);

/* Numbers that float32 does not hold are compared as what they are; no steps. */
typedef struct
{
  const TmTensor *tensor;
  const TmReading *reading;
  const TmGroupLayout *layout;
  guint64 first;
  gsize count; /* all covered by the reading */
  GCancellable *cancellable;
} TmDiffWidePiece;

gboolean tm_diff_is_wide (const TmTensor *candidate, const TmReading *reading);
gboolean tm_diff_sums_add_wide (TmDiffSums *sums, const TmDiffWidePiece *piece, GError **error);

/* later is what follows in the tensor; it is freed. Groups that are done are offered to worst (worst first, at most
 * TM_DIFF_WORST_GROUPS), the others wait in sums. */
void tm_diff_sums_merge (TmDiffSums *sums, TmDiffSums *later, GArray *worst);
/* The last groups. */
void tm_diff_sums_finish (TmDiffSums *sums, GArray *worst);

G_END_DECLS
