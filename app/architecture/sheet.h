/* A sheet: which element is where on the plane, for a tensor of any rank. One unit is one element, cells are square.
 *
 *   rank 2                    rows down, columns right
 *   rank 1, single-row        wrapped at the power of two next to √n (the larger one where two are as near)
 *   rank 0                    one cell
 *   rank ≥ 3, axes after the first < 65 536 elements (convolutions): first axis rows, the others merged to columns
 *   rank ≥ 3 otherwise (expert stacks): every slice of the last two axes is a pane; panes in a near-square grid with a gap
 *
 * A sheet is panes × (rows × columns). Every kind but the stack has one pane. Pane p, row r, column c is the flat index
 * p·rows·columns + r·columns + c (row-major), if that is below n_elements (a wrapped sheet's last row may be short). */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

typedef enum { TM_SHEET_MATRIX, TM_SHEET_WRAPPED, TM_SHEET_MERGED, TM_SHEET_STACK } TmSheetKind;

typedef struct
{
  TmSheetKind kind;
  guint64 rows, columns;    /* of one pane; 0 for an empty tensor */
  guint64 n_elements;
  guint64 n_panes;
  guint64 panes_across;     /* panes a row of the grid */
  guint64 gap;              /* elements between panes; 0 for one pane */
  gint64 width, height;     /* of the whole sheet in elements, gaps included */
  const TmAxisOrder *order; /* MATRIX, STACK: columns stand in this order (it lives as long as the tensor); NULL: in their own */
  guint64 slice_columns;    /* MERGED: columns of one index of the second axis, for thin slice edges; else 0 */
} TmSheet;

/* Shows columns sorted by group where a table gives them their groups (act-order): places change, indices do not. FALSE where
 * there is nothing to sort. */
gboolean tm_sheet_sort_columns (TmSheet *sheet, const TmTensor *tensor);
void tm_sheet_init (TmSheet *sheet, const TmTensor *tensor);
/* Where a flat index is on the sheet: left upper corner of its cell relative to the sheet's. */
void tm_sheet_locate (const TmSheet *sheet, guint64 flat, gint64 *x, gint64 *y);
/* The element under a cell of the sheet; FALSE in gaps, outside, and past a short last row. */
gboolean tm_sheet_pick (const TmSheet *sheet, gint64 x, gint64 y, guint64 *flat);
/* Left upper corner of a pane relative to the sheet's. */
void tm_sheet_get_pane_origin (const TmSheet *sheet, guint64 pane, gint64 *x, gint64 *y);

G_END_DECLS
