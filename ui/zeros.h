/* Zeros: what is zero in a document's model and why, as far as it was counted, ready to be shown. Main thread. */
#pragma once

#include "analysis/sparsity.h"
#include "ui/legend-entry.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct _TmZeros TmZeros;

/* alignment: what the model is the candidate of, or NULL. changed: called on the main context when tiles of the causes are
 * there to be asked for, and when they arrived. */
TmZeros *tm_zeros_new (TmModel *model, TmAlignment *alignment, void (*changed) (gpointer), gpointer data);
void tm_zeros_free (TmZeros *zeros);

TmAlignment *tm_zeros_get_alignment (const TmZeros *zeros); /* or NULL */
TmTiles *tm_zeros_get_tiles (const TmZeros *zeros);         /* of the causes; NULL until they are made */
TmModel *tm_zeros_get_causes (const TmZeros *zeros);        /* whose values are TmZeroCause; likewise */
void tm_zeros_take (TmZeros *zeros, TmSparsity *one);       /* takes a reference */
TmSparsity *tm_zeros_get (const TmZeros *zeros, guint tensor); /* NULL: not counted yet. Borrowed. */
guint tm_zeros_count_missing (const TmZeros *zeros);

/* By tensor: the most frequent cause, the paler the smaller its share. Of a folded stack the first block's tensor speaks for
 * all of the stack together. */
const TmTensorMark *tm_zeros_get_marks (TmZeros *zeros, const TmLayout *layout, const TmTheme *theme);
void tm_zeros_forget_marks (TmZeros *zeros); /* layout or theme changed */

/* What the legend says: an entry a cause with its share, of one tensor or (−1) of all that were counted. facts: what else is
 * known, or NULL. (transfer full) */
guint tm_zeros_list_legend (const TmZeros *zeros, gint64 tensor, const TmTheme *theme, TmLegendEntry entries[TM_LEGEND_ENTRIES],
                            char **facts);
const char *tm_zeros_get_tooltip (TmZeroCause cause);
/* "12.3 %", "< 0.1 %". (transfer full) */
char *tm_zeros_format_share (guint64 part, guint64 of);

G_END_DECLS
