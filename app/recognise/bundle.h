/* What several conventions ask of a bundle: grids of blocks, companions that only travel along, widths known from elsewhere. */
#pragma once

#include "quant/grouped.h"
#include "recognise/convention.h"

G_BEGIN_DECLS

/* Last two axes of a stored tensor; rank 1 is one row. FALSE where an axis is empty or it has none. */
gboolean tm_get_matrix (const TmStored *stored, guint64 *rows, guint64 *columns);
/* The axes before the last two are the same. */
gboolean tm_same_slices (const TmStored *a, const TmStored *b);
/* The shape with another last axis, ready for tm_folding_begin(). (transfer full) */
guint64 *tm_shape_with_columns (const TmStored *stored, guint64 columns);

/* Block shape of the tensor's last two axes, and the grid of scales that goes with it. */
void tm_grouped_set_blocks (TmGrouped *grouped, const TmTensor *tensor, guint64 block_rows, guint64 block_columns,
                            guint64 grid_rows, guint64 grid_columns);
/* One run of blocks over the flattened tensor. */
void tm_grouped_set_flat (TmGrouped *grouped, const TmTensor *tensor, guint64 block);
/* Granularity and group size for blocks of the last two axes; nested: all of the tensor (or slice) shares a scale too. */
void tm_tensor_set_blocks (TmTensor *tensor, guint64 block_rows, guint64 block_columns, gboolean nested);
/* All of every axis is one block; per_first: one for each index of the first axis. */
void tm_tensor_set_whole (TmTensor *tensor, gboolean per_first);
/* The same for blocks over a reshape [rows, columns]; outer: a coarser run of blocks along the row, or 0. */
void tm_tensor_set_reshaped (TmTensor *tensor, guint64 rows, guint64 columns, guint64 block_rows, guint64 block_columns,
                             guint64 outer);

/* Every part of the bundle that the convention may own and that is not an operand yet, except the module's bias. */
void tm_folding_add_rest (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, TmTensor *tensor);

/* A choice of the person's that is a number; FALSE if none. */
gboolean tm_folding_get_number (TmFolding *folding, const char *tensor, const char *key, guint64 *value);
/* FP4: the even element is in the high nibble, because a person said so (which is recorded). */
gboolean tm_folding_is_high_first (TmFolding *folding, const char *name, gboolean usual);
void tm_folding_record_order (TmFolding *folding, const TmTensor *tensor);

/* Inputs and outputs of a linear layer as norms, biases and config.json have them; 0 where nothing tells. evidence: static. */
void tm_folding_find_widths (TmFolding *folding, const char *prefix, guint64 *inputs, guint64 *outputs,
                             const char **evidence);

G_END_DECLS
