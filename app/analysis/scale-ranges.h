/* Scales against the reference: for each group of a candidate, the scale that it has and the one that the reference's values
 * there would need. Shows clipping, and scales that are larger than they have to be.
 *
 * Needed is the smallest scale with which no value of the reference's group lies more than half a step beyond the end codes:
 * with the zero point kept where all groups have the same one (symmetric schemes, code books), else with whatever offset suits
 * best, (max − min) / (last code − first code + 1). A group clips where a value does lie farther out than that. Both are
 * magnitudes: the sign of a scale only says which way codes run. */
#pragma once

#include "analysis/align.h"
#include "analysis/distribution.h"

G_BEGIN_DECLS

typedef struct
{
  char *fault;         /* NULL, or why it cannot be told; then nothing below counts */
  guint64 groups;      /* with a finite value in the reference */
  guint64 clipped;     /* of them */
  guint64 too_small;   /* of those that clip: whose scale is below what is needed; the others' zero point or offset is off */
  gboolean moves;      /* zero points or offsets differ between groups */
  TmDistribution stored, needed; /* of the groups */
} TmScaleRanges;

/* Blocking; several threads of its own; memory does not grow with the tensor. Errors: G_IO_ERROR_CANCELLED alone. */
TmScaleRanges *tm_scale_ranges_measure (const TmAlignment *alignment, const TmAlignedPair *pair, GCancellable *cancellable,
                                        GError **error);
void tm_scale_ranges_free (TmScaleRanges *ranges);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmScaleRanges, tm_scale_ranges_free)

/* "12 of 4 096 groups clip (0.29 %): …" (transfer full) */
char *tm_scale_ranges_describe (const TmScaleRanges *ranges);

G_END_DECLS
