/* Rulers: per frame and visible pane two short arrays, one entry a pixel column and one a pixel row, that hold the element
 * under the pixel, line and halo strength (overlay-math.md: footprint rule, run numbers, fade, flat blocks).
 * The fragment shader and the CPU painter fetch two entries and do no coordinate arithmetic at all. */
#pragma once

#include "architecture/sheet.h"
#include "view/camera.h"

G_BEGIN_DECLS

/* Granularity over one pane of a sheet, normalised once when the tensor is first drawn. */
typedef enum { TM_RUN_RECTANGLE, TM_RUN_FLAT } TmRunKind;

typedef struct
{
  TmRunKind kind;
  guint64 rows, columns;      /* RECTANGLE: extents; an extent ≥ the axis' length draws no line on that axis */
  guint32 *row_runs, *column_runs; /* or a table: run number (changes before index) of each row / column; NULL if none */
  guint64 flat;               /* FLAT: elements a block, counted row-major over the pane (stacks: panes merged to rows) */
  guint width;                /* line width in logical px: 2 for the first of several levels and 2-D blocks alone, else 1 */
  const char *label;          /* static: "super-block" */
  char *size;                 /* "256", "128 × 128" for the legend; owned */
} TmRun;

typedef struct
{
  guint64 rows, columns;      /* of the plane: one pane, or all panes merged */
  guint64 slice_rows;         /* rows of one slice of a merged stack; = rows otherwise */
  guint n_runs;
  TmRun run[4];               /* coarse to fine */
} TmBoundaries;

/* tensor->granularity over its sheet. NULL for an ordinary tensor. (transfer full) */
TmBoundaries *tm_boundaries_new (const TmTensor *tensor, const TmSheet *sheet);
/* For tests and the views of overlay-math section 7. Runs are copied, tables included; label and size may be NULL.
 * slice_rows 0: one pane. */
TmBoundaries *tm_boundaries_new_manual (guint64 rows, guint64 columns, guint64 slice_rows, guint n_runs, const TmRun *runs);
void tm_boundaries_free (TmBoundaries *boundaries);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmBoundaries, tm_boundaries_free)

/* What painters read; the GL painter packs an entry into RG32I, flat ones stay RGBA32I. */
typedef struct { gint32 element, strengths, fraction, spare; } TmRulerEntry;
typedef struct { gint32 cm, dx, cm_halo, dx_halo; } TmFlatEntry;

#define TM_RULER_LINE(s) ((s) & 255)
#define TM_RULER_HALO(s) (((s) >> 8) & 255)
#define TM_RULER_OUTSIDE (1 << 16)
#define TM_RULER_NEAR (1 << 17)

typedef struct
{
  int first_x, n_x; /* pixel columns first_x … first_x + n_x − 1 of the viewport have entries */
  int first_y, n_y;
  TmRulerEntry *x, *y;         /* y runs downwards; the GL painter flips when it uploads */
  guint n_flat;
  TmFlatEntry *flat_x[4], *flat_y[4];
  guint8 flat_line[4], flat_halo[4]; /* strengths 0 … 255 */
  gint32 flat_block[4];        /* B: elements a block, what the test m + dx + dy ≥ B compares with */
  double finer;                /* what strengths below the coarsest visible level were multiplied by, to keep ink ≤ 0.20 */
} TmRulers;

/* Fills rulers for the pane (its left upper corner at element origin_x, origin_y of the plane) and the pixels where the pane
 * with its outline is on screen. boundaries NULL, or show_lines FALSE: elements only, plus the outline.
 * device_scale multiplies widths and thresholds. outline_width: px, 2 as the default, 0 for none. Reuses the arrays. */
void tm_rulers_build (TmRulers *rulers, const TmCamera *camera, gint64 origin_x, gint64 origin_y, guint64 rows,
                      guint64 columns, const TmBoundaries *boundaries, gboolean show_lines, guint outline_width,
                      guint device_scale);
/* The same for pane number p of a stack: base is the flat index of the pane's first element (p·rows·columns). Only flat
 * blocks, which may run on from one pane to the next, look at it; tm_rulers_build() is base 0. */
void tm_rulers_build_at (TmRulers *rulers, const TmCamera *camera, gint64 origin_x, gint64 origin_y, guint64 rows,
                         guint64 columns, guint64 base, const TmBoundaries *boundaries, gboolean show_lines,
                         guint outline_width, guint device_scale);
void tm_rulers_clear (TmRulers *rulers);

/* Line and halo strength 0 … 255 of a pixel inside the rulers' range, as the shader computes them. */
void tm_rulers_get_ink (const TmRulers *rulers, int px, int py, guint *line, guint *halo);

/* Fade: S(4w,10w,P)·255 and S(4(w+2), 8(w+2), P)·255, rounded. */
guint tm_ruler_line_strength (double pitch, double width);
guint tm_ruler_halo_strength (double pitch, double width);

G_END_DECLS
