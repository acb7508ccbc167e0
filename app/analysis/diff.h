/* Quantization diff: what a candidate's values differ from the reference's, tensor by tensor, worst first.
 *
 * x is the reference as the alignment reads it, y the candidate, e = y − x, in double. Elements that are not finite on one
 * side are left out and counted. A step is the distance between two codes at an element (steps.h). */
#pragma once

#include "analysis/align.h"
#include "io/json-writer.h"

G_BEGIN_DECLS

#define TM_DIFF_WORST_GROUPS 16
#define TM_DIFF_BINS 100 /* of e in steps, −1 … 1: bins of 0.02; the half step is on a border */

typedef struct
{
  guint64 group;   /* its number (groups.h) */
  guint64 first;   /* flat index of its first element */
  guint64 count;   /* finite elements */
  double mse, max_abs;
} TmDiffGroup;

typedef struct
{
  const TmAlignedPair *pair;
  char *fault;               /* NULL, or why it could not be compared; then nothing below counts */
  guint64 n;                 /* elements compared: finite on both sides */
  guint64 n_same_nonfinite;  /* NaN on both sides, or the same infinity */
  guint64 n_other_nonfinite; /* not finite on one side alone, or differently */
  double sum_xx, sum_yy, sum_ee, sum_e;
  double max_abs;
  guint64 max_at;            /* flat index of the (first) largest error */

  gboolean exact;            /* no element differs */
  double mse, sqnr_db;       /* dB: +∞ exact, −∞ where the reference is all zero */
  double cosine;             /* NaN where one side is all zero */
  gboolean has_offset, has_ratio; /* a constant explains nearly all of the error: y = x + offset, or y = ratio × x */
  double offset, ratio;

  gboolean has_steps;        /* below: over elements with a step */
  gboolean rounded_reference; /* a rounded copy of what was quantized: over and clipped allow for that */
  guint64 n_stepped, n_over, n_clipped;
  double over_half_step, clipped; /* fractions; NaN where there is no step */
  double max_steps, rms_steps;
  guint64 histogram[TM_DIFF_BINS], below, above;

  TmDiffGroup *worst;        /* by mse, worst first; groups of the finest granularity, rows of an ordinary tensor */
  guint n_worst;
} TmDiffTensor;

typedef struct
{
  guint64 parameters; /* compared */
  guint tensors;
  double sum_xx, sum_ee, max_abs, sqnr_db;
  const TmDiffTensor *worst; /* NULL where there is none */
} TmDiffTotal;

typedef struct
{
  gint ref_count;
  TmAlignment *alignment; /* own reference */
  GPtrArray *tensors;     /* TmDiffTensor *, worst first; what could not be compared comes last */
  TmDiffTensor **of_pair; /* the same, by pair */
  TmDiffTotal total;
} TmDiff;

/* Blocking; several threads of its own. Errors: G_IO_ERROR_CANCELLED alone; what cannot be read is its tensor's fault. */
TmDiff *tm_diff_run (TmAlignment *alignment, TmProgressFunc progress, gpointer data, GCancellable *cancellable,
                     GError **error);
TmDiff *tm_diff_ref (TmDiff *diff);
void tm_diff_unref (TmDiff *diff);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmDiff, tm_diff_unref)

#define tm_diff_tensor(diff, i) ((const TmDiffTensor *) g_ptr_array_index ((diff)->tensors, (i)))
const TmDiffTensor *tm_diff_find (const TmDiff *diff, guint candidate); /* NULL if it is not aligned */

/* Everything below a module of the candidate; the root is the model. */
TmDiffTotal tm_diff_sum_module (const TmDiff *diff, const TmModule *module);

/* Element ranges of a worst group in the granularity's counted shape (an ordinary tensor's own). start, end: rank numbers,
 * (transfer full). */
void tm_diff_group_get_range (const TmTensor *tensor, const TmDiffGroup *group, guint64 **start, guint64 **end, guint *rank);

/* "nearest rounding", "not nearest rounding: …": what the steps say, and why more than half a step may be right. (transfer
 * full); NULL where there is no step. */
char *tm_diff_describe_rounding (const TmDiff *diff, const TmDiffTensor *tensor);

/* "exact", "20.1 dB" (transfer full) */
char *tm_diff_format_sqnr (double sqnr_db);
/* What was undone, and what else there is to say: "rotary-permutation(heads=4), constant ratio 2". (transfer full) */
char *tm_diff_describe_alignment (const TmDiff *diff, const TmDiffTensor *tensor);
/* The object of `diff --json`. */
void tm_diff_write_json (TmJsonWriter *json, const TmDiff *diff);
/* The same with each tensor's worst groups, what its steps say, and every module's sum. */
void tm_diff_write_full_json (TmJsonWriter *json, const TmDiff *diff);

/* --- One scalar -------------------------------------------------------------------------------------------------- */

typedef struct
{
  float baseline, candidate;
  double delta;              /* candidate − baseline */
  gboolean has_step;
  float step;                /* on the side of the error */
  double delta_in_steps;
  gboolean over_half_step, clipped;
  guint reference;           /* tensor index of the reference, and where in it */
  guint64 reference_flat;
} TmDelta;

/* index: in the candidate's shape. Errors: as tm_tensor_decode; TM_ERROR_ADDRESS where the reference has no such element. */
gboolean tm_diff_explain (const TmAlignment *alignment, const TmAlignedPair *pair, const guint64 *index, TmDelta *delta,
                          GError **error);

/* --- The picture ------------------------------------------------------------------------------------------------- */

/* A model like the candidate, tensor for tensor: the same shapes, modules and granularity, and as values the signed error.
 * It can be shown as tiles like any other. It has no stored tensors and no module tree of its own, and its tensors no
 * operands. Tensors without a counterpart have a fault. (transfer full) */
TmModel *tm_diff_new_error_model (TmAlignment *alignment);

G_END_DECLS
