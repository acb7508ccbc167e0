/* Which tensor of a candidate is which of a reference, across formats: by names, with converters' changes found by error; by
 * shape, role and order where names say nothing. What has no counterpart is listed on both sides. */
#pragma once

#include "analysis/reading.h"
#include "analysis/work.h"

G_BEGIN_DECLS

typedef struct
{
  guint candidate;    /* tensor index */
  GArray *references; /* guint: tensor indices, in the order of first use; at least one */
  TmReading *reading;
  gboolean guess;     /* by shape, role and order, and the values agree */
  gboolean doubtful;  /* names agree, and the values have nothing to do with each other */
} TmAlignedPair;

/* Immutable once made; any thread may read it and hold a reference. */
typedef struct
{
  gint ref_count;
  TmModel *candidate, *reference;         /* own references */
  GPtrArray *pairs;                       /* TmAlignedPair *, in the candidate's order */
  GArray *candidate_left, *reference_left; /* guint: tensor indices without a counterpart */
} TmAlignment;

/* Reads samples of values only; a few hundred thousand elements for most models. tensors: the candidate's tensors asked
 * for, n of them; NULL for all (then reference_left is filled). (transfer full) */
TmAlignment *tm_align (TmModel *candidate, TmModel *reference, const guint *tensors, guint n, TmProgressFunc progress,
                       gpointer data, GCancellable *cancellable, GError **error);
TmAlignment *tm_alignment_ref (TmAlignment *alignment);
void tm_alignment_unref (TmAlignment *alignment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmAlignment, tm_alignment_unref)

#define tm_alignment_pair(alignment, i) ((TmAlignedPair *) g_ptr_array_index ((alignment)->pairs, (i)))

/* The pair of a candidate's tensor; NULL if it has none. */
const TmAlignedPair *tm_alignment_find (const TmAlignment *alignment, guint candidate);
/* "model.layers.0.mlp.experts.0.w1.weight … model.layers.0.mlp.experts.7.w1.weight (8)" (transfer full) */
char *tm_alignment_format_references (const TmAlignment *alignment, const TmAlignedPair *pair);

G_END_DECLS
