/* What the makers of hypotheses share. Internal to transforms. */
#pragma once

#include "analysis/transforms.h"

G_BEGIN_DECLS

/* What a file may claim and still be looked at: real ones have a few hundred. */
#define TM_MAX_PLANES 65536u

/* Takes the reading; one that reaches outside of its tensors is dropped. */
void tm_hypotheses_add (GArray *hypotheses, TmReading *reading, guint tier);

const TmTensor *tm_transforms_get_reference (const TmTransforms *transforms, guint index);
guint64 tm_tensor_get_columns (const TmTensor *tensor); /* length of the last axis; 1 without axes */

TmReadingPart tm_transforms_make_part (const TmTransforms *transforms, guint index, guint64 base, guint64 n_rows,
                                       guint64 row_step, guint64 column_step);
/* A matrix of rows × columns at base: as it lies, or lying the other way round. */
TmReadingPart tm_transforms_make_plane (const TmTransforms *transforms, guint index, guint64 base, guint64 rows,
                                        guint64 columns, gboolean transposed);

/* Fused on both sides, heads regrouped. */
void tm_transforms_add_qkv_regrouped (const TmTransforms *transforms, const TmTensor *candidate, guint reference,
                                      guint64 columns, GArray *hypotheses);

/* Value heads of linear attention in the other order, what comes before them left alone. Where columns move, the plain
 * reading is made in columns of one head: 0, or how many. */
guint64 tm_transforms_get_value_columns (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate);
void tm_transforms_add_value_heads (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate,
                                    const TmReading *plain, GArray *hypotheses);

/* A copy with words of its own, taken; and "plain's words + word". */
TmReading *tm_reading_copy (const TmReading *reading, char *words);
char *tm_words_join (const char *first, const char *second);

G_END_DECLS
