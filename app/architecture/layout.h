/* Layout: the module tree on one plane measured in elements (design: canvas.md). No drawing here, no floating point that
 * could differ between machines: coordinates are 64-bit integers, y downwards. Deterministic.
 *
 * A box is a card (module, or a fold of equal blocks drawn once), a tensor (box around its sheet) or a plain group.
 * Heavy lines stand between neighbouring boxes where (scheme, dtype of the code, granularity levels) differ. */
#pragma once

#include "architecture/sheet.h"
#include "model/model.h"

G_BEGIN_DECLS

typedef enum { TM_BOX_MODEL, TM_BOX_CARD, TM_BOX_GROUP, TM_BOX_TENSOR } TmBoxKind;

#define TM_NO_BOX G_MAXUINT

typedef struct
{
  TmBoxKind kind;
  gint64 x, y, width, height; /* elements */
  guint parent;               /* index of the box around it, TM_NO_BOX for the model's */
  guint first_child, n_children; /* children are consecutive; 0 of them for tensors */
  const char *caption;        /* owned by the layout, escaped: "blk.3 – 20", "attn_q", "attention" */
  /* cards and groups */
  TmModule *module;           /* of a fold: the first folded one; of a group NULL or its module */
  guint fold_count;           /* 0, or how many equal blocks this card stands for */
  gint fold;                  /* index into module->parent->folds, or −1 */
  /* tensors */
  guint tensor;
  TmSheet sheet;
  gint64 sheet_x, sheet_y;    /* left upper corner of the sheet; the sheet lies inside the box */
  /* gap under the box's upper edge that is kept for the caption, elements */
  gint64 caption_height;
} TmBox;

typedef struct
{
  gint64 x0, y0, x1, y1; /* a horizontal or vertical segment in the gap between two boxes */
  guint box_a, box_b;    /* the tensors' boxes at both sides */
} TmHeavyLine;

typedef struct
{
  TmModel *model;      /* own reference */
  GArray *boxes;       /* TmBox; box 0 is the model; parents come before their children */
  GArray *lines;       /* TmHeavyLine */
  GArray *arrows;      /* TmHeavyLine used as arrows between consecutive cards (from a to b) */
  gint64 unit;         /* the model's median matrix side, what margins are made of */
  guint *box_of_tensor;/* tensor index → box, TM_NO_BOX for tensors hidden in a fold */
  guint *drawn_of_tensor; /* → the tensor drawn in its place: itself, or of a fold the first block's; G_MAXUINT: none */
  GStringChunk *strings;
} TmLayout;

/* unfolded: set of paths of first folded modules (g_str_hash; NULL for none) whose fold is shown open. (transfer full)
 * Cancellable; NULL only when cancelled. */
TmLayout *tm_layout_new (TmModel *model, GHashTable *unfolded, GCancellable *cancellable);
void tm_layout_free (TmLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmLayout, tm_layout_free)

#define tm_layout_box(layout, i) (&g_array_index ((layout)->boxes, TmBox, (i)))

/* Columns that a table puts into groups (act-order) are shown sorted by group. Before the layout is shared. */
void tm_layout_sort_columns (TmLayout *layout);

/* Smallest box that holds the point; TM_NO_BOX outside the model's. O(depth × children) at most, indexed where many. */
guint tm_layout_pick (const TmLayout *layout, gint64 x, gint64 y);
/* Box of a module: its card or group, its section where a card draws it ("self_attn"), its tensor where it holds only one,
 * the fold's card that stands for it, or the nearest of a module above it. TM_NO_BOX for a module of another model. */
guint tm_layout_find_module (const TmLayout *layout, const TmModule *module);
/* The fold that hides a tensor (its card's box), TM_NO_BOX if the tensor has a box of its own. */
guint tm_layout_find_hiding_fold (const TmLayout *layout, guint tensor);
/* Neighbouring box in a direction for the arrow keys (dx, dy one of −1, 0, 1); TM_NO_BOX. */
guint tm_layout_get_neighbour (const TmLayout *layout, guint box, int dx, int dy);

G_END_DECLS
