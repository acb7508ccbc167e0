/* Comparison: what a document's model differs from a reference in, ready to be shown. Main thread; the diff in it is
 * immutable and may be read on any thread that holds a reference. */
#pragma once

#include "analysis/diff.h"
#include "analysis/scale-ranges.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct _TmComparison TmComparison;

/* Takes a reference on diff; changed: called on the main context when tiles of the error arrived. */
TmComparison *tm_comparison_new (TmDiff *diff, void (*changed) (gpointer), gpointer data);
void tm_comparison_free (TmComparison *comparison);

TmDiff *tm_comparison_get_diff (const TmComparison *comparison);
TmTiles *tm_comparison_get_tiles (const TmComparison *comparison); /* of the signed error */
/* By tensor of the candidate; of a folded stack the first block's tensor speaks for the worst of the stack. */
const TmTensorMark *tm_comparison_get_marks (TmComparison *comparison, const TmLayout *layout, const TmTheme *theme);
void tm_comparison_forget_marks (TmComparison *comparison); /* layout or theme changed */
/* A tensor's scales against the reference; NULL while a worker measures them, and where it is not aligned. measured (of
 * tm_comparison_watch()) is called when they are there. One tensor at a time: asking for another ends the work for the last. */
const TmScaleRanges *tm_comparison_want_scale_ranges (TmComparison *comparison, guint tensor);
gboolean tm_comparison_has_scale_ranges (TmComparison *comparison, guint tensor); /* asks for nothing */
void tm_comparison_watch (TmComparison *comparison, void (*measured) (gpointer), gpointer data);

#define TM_SQNR_BAD 10 /* dB: the ends of the colours */
#define TM_SQNR_GOOD 45

/* "TinyLlama-1.1B (BF16 safetensors)" (transfer full), escaped */
char *tm_comparison_name_model (TmModel *model);
/* "201 tensors aligned, 0 left over · rotary row order undone for 44": all of it in words (transfer full) */
char *tm_comparison_describe (const TmComparison *comparison);

G_END_DECLS
