/* A layout while it is made: boxes of known size, placed relative to what holds them. Rows, columns and flows are nodes
 * without a box of their own; they dissolve when the plan becomes a layout. */
#pragma once

#include "architecture/layout.h"
#include "recognise/names.h"

G_BEGIN_DECLS

#define TM_NO_NODE G_MAXUINT

typedef struct
{
  gboolean boxed;          /* FALSE: arranges only */
  TmBoxKind kind;
  gint64 x, y;             /* relative to the node that holds it */
  gint64 width, height;
  gint64 caption_height;
  guint first, last, next; /* children, and the next of its siblings; TM_NO_NODE */
  const char *caption;
  TmModule *module;
  guint fold_count;
  gint fold;
  guint tensor;
  TmSheet sheet;
  gint64 sheet_x, sheet_y;
  guint head, tail;        /* tensor nodes that stand for an arrangement beside and under its neighbours */
} TmPlanNode;

typedef struct { guint a, b; gboolean below; } TmNeighbours; /* tensor nodes: b right of a, or below it */
typedef struct { const TmModule *module; guint node; } TmPlanned;

typedef struct
{
  TmModel *model;
  TmLayout *layout;        /* for its strings */
  GHashTable *unfolded;
  TmNames *names;
  GArray *nodes;           /* TmPlanNode */
  GArray *neighbours;      /* TmNeighbours */
  GArray *cards;           /* TmNeighbours: consecutive cards of a stack, by their nodes */
  GArray *planned;         /* TmPlanned: which node shows a module */
  gint64 unit;
  gint64 margin, gap, padding, caption, tensor_caption;
} TmPlan;

#define tm_plan_node(plan, i) (&g_array_index ((plan)->nodes, TmPlanNode, (i)))

/* Coordinates stop at a limit that their sums cannot leave. */
#define TM_PLANE_LIMIT (G_GINT64_CONSTANT (1) << 60)
static inline gint64
tm_plane_add (gint64 a, gint64 b)
{
  return MIN (a + b, TM_PLANE_LIMIT); /* both are at most the limit */
}

guint tm_plan_add_tensor (TmPlan *plan, guint tensor, const char *caption);
/* A box around a node, with its caption above. */
guint tm_plan_add_box (TmPlan *plan, TmBoxKind kind, guint content, const char *caption, TmModule *module);
void tm_plan_show_module (TmPlan *plan, const TmModule *module, guint node);

/* Arrangements. Neighbours in a row or column are noted for the heavy lines where the plan is told so. */
guint tm_plan_row (TmPlan *plan, const guint *nodes, guint n, gint64 gap, gboolean note);
guint tm_plan_column (TmPlan *plan, const guint *nodes, guint n, gint64 gap, gboolean note);
/* Rows in the given order, wrapped so that the whole is near to a square, or no wider than width where that is not 0. */
guint tm_plan_flow (TmPlan *plan, const guint *nodes, guint n, gint64 width, gboolean note);
/* An empty arrangement, and a node put into it. Its size grows. */
guint tm_plan_arrange (TmPlan *plan);
void tm_plan_place (TmPlan *plan, guint arrangement, guint node, gint64 x, gint64 y);
void tm_plan_note (TmPlan *plan, guint a, guint b, gboolean below); /* arrangements or tensors */

/* A module's own tensors as one arrangement: the largest, and the others small under it. */
guint tm_plan_add_cell (TmPlan *plan, TmModule *module);
guint tm_plan_add_parameter (TmPlan *plan, TmModule *module, guint tensor); /* one tensor, named in its module */

/* What stands in a card whose children are done. shown: see tm_plan_stack(). */
guint tm_plan_card_content (TmPlan *plan, TmModule *card, GHashTable *node_of_module);

/* Siblings that repeat, from children[first] on, as cards one under the other (experts: in a flow). Folds are one card.
 * Returns how many children it took. node_of_module: content of every card that is shown. */
guint tm_plan_stack (TmPlan *plan, TmModule *parent, guint first, GHashTable *node_of_module, guint *node);

/* Which modules are boxes, what is drawn inside a card, and what a fold hides. */
gboolean tm_plan_is_element (const TmModule *module);   /* of a repeated list, shown as a card */
gboolean tm_plan_is_hidden (const TmPlan *plan, const TmModule *parent, guint child);

/* The module tree as a plan; its root node, or TM_NO_NODE when cancelled. */
guint tm_plan_model (TmPlan *plan, GCancellable *cancellable);

/* Heavy lines and arrows of a finished layout. box_of_node: TM_NO_BOX for nodes without one. */
void tm_plan_draw_lines (TmPlan *plan, TmLayout *layout, const guint *box_of_node);

/* Finding boxes on the plane (pick.c): made once a layout. */
typedef struct _TmBoxIndex TmBoxIndex;
TmBoxIndex *tm_box_index_new (const TmLayout *layout);
void tm_box_index_free (TmBoxIndex *index);
guint tm_box_index_pick (const TmBoxIndex *index, const TmLayout *layout, gint64 x, gint64 y);

G_END_DECLS
