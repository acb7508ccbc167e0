/* Scene, inside: one frame's state and the parts that add to it. Tests of the painters fill scenes by hand through it. */
#pragma once

#include "view/scene.h"

G_BEGIN_DECLS

/* Paint order; within a layer, the order of adding. Primitives of one kind lie together, so that a painter has few batches. */
typedef enum
{
  TM_LAYER_BOX,
  TM_LAYER_SHEET,
  TM_LAYER_LINE,
  TM_LAYER_TEXT,
  TM_LAYER_STRIP, /* along the view's edges, over everything, with the axis numbers on it */
  TM_LAYER_STRIP_TEXT,
  TM_N_LAYERS
} TmLayer;

/* Sizes in logical pixels. */
#define TM_MIN_BOX 3          /* smaller boxes are not drawn one by one */
#define TM_MIN_LINES 64       /* a pane has boundaries from this side on (its longer one) */
#define TM_MIN_PANE 32        /* a pane has values from this side on (its shorter one) … */
#define TM_MIN_PANE_AREA 1600 /* … and this area */
#define TM_MIN_CELL 40        /* cells have text from this side on */

typedef struct
{
  gpointer data;
  gsize size, used;
} TmChunk;

struct _TmScene
{
  GArray *layer[TM_N_LAYERS]; /* TmPrim */
  GArray *prims;              /* all of them in paint order */
  GArray *chunks;             /* TmChunk: strings and page tables of the frame */
  guint chunk;                /* the one that is being filled */
  GPtrArray *rulers;          /* TmRulers *, reused */
  guint n_rulers;             /* in use this frame */
  GHashTable *boundaries;     /* tensor + 1 → TmBoundaries *, of model */
  TmModel *model;             /* own reference: what boundaries belongs to */
  TmLegend legend;

  /* one frame */
  const TmView *view;
  int ds; /* device scale */
  double scale;
  guint level;                     /* of tiles at this scale */
  gint64 left, top, right, bottom; /* elements that are on the screen, and a few around */
  guint dtype_count[TM_N_DTYPES];
  GByteArray *marked; /* squares of TM_MIN_BOX px that hold a mark already; empty until one is needed */
  guint middle;       /* box of the tensor in the middle that has axis numbers, or TM_NO_BOX */
};

TmPrim *tm_scene_add (TmScene *scene, TmLayer layer, TmPrimKind kind);
void tm_scene_clear (TmScene *scene);  /* empties all layers */
void tm_scene_finish (TmScene *scene); /* layers → the list */
TmRulers *tm_scene_take_rulers (TmScene *scene);
gpointer tm_scene_alloc (TmScene *scene, gsize size); /* until the next clear */
const char *tm_scene_copy (TmScene *scene, const char *text);
const char *tm_scene_format (TmScene *scene, const char *format, ...) G_GNUC_PRINTF (2, 3);

TmPrimRect *tm_scene_rect (TmScene *scene, TmLayer layer, int x, int y, int width, int height, TmColor fill);
/* text is kept by reference: a copy of the frame's, or the layout's. */
void tm_scene_text_on_layer (TmScene *scene, TmLayer layer, int x, int y, int max_width, TmFont font, int px,
                             TmAlign align, TmColor color, const char *text);
void tm_scene_text (TmScene *scene, int x, int y, int max_width, TmFont font, int px, TmAlign align, TmColor color,
                    const char *text);
int tm_scene_measure (const TmScene *scene, TmFont font, int px, const char *text);
void tm_scene_hatch (TmScene *scene, int x, int y, int width, int height, TmColor fill);

typedef struct
{
  int x, y, width, height;
} TmPixels;
/* A rectangle of elements in whole device pixels, at least 1 × 1, cut a little outside the viewport. */
TmPixels tm_scene_to_pixels (const TmScene *scene, gint64 x, gint64 y, gint64 width, gint64 height);
/* Its size on the screen, uncut. */
double tm_scene_length (const TmScene *scene, gint64 elements);
gboolean tm_scene_is_visible (const TmScene *scene, gint64 x, gint64 y, gint64 width, gint64 height);

TmColor tm_scene_contrasting (const TmScene *scene, TmColor ground); /* cell text in black or white */

/* --- Parts of a frame ------------------------------------------------------------------------------------------- */
void tm_scene_add_boxes (TmScene *scene);
void tm_scene_add_lines (TmScene *scene); /* heavy lines and arrows */
/* A tensor's sheet where it is drawn with values or boundaries; FALSE: too small, it is a plain box. */
gboolean tm_scene_add_sheet (TmScene *scene, const TmBox *box, TmColor under);
gboolean tm_scene_sheet_is_shown (const TmScene *scene, const TmBox *box);
/* Whether a pixel is on the badge of a folded card. */
gboolean tm_scene_box_badge_holds (const TmScene *scene, const TmBox *box, int x, int y);
void tm_scene_add_cells (TmScene *scene, const TmBox *box, const TmPrimSheet *sheet, guint64 pane, gint64 pane_x,
                         gint64 pane_y);
gboolean tm_scene_has_axes (const TmScene *scene, const TmBox *box);
void tm_scene_add_axes (TmScene *scene, const TmBox *box, const TmBoundaries *boundaries);
void tm_scene_add_selection (TmScene *scene);

/* What a judging overlay says of the tensor; NULL under the others. */
const TmTensorMark *tm_scene_get_mark (const TmScene *scene, guint tensor);
/* The tiles that the overlay's heat maps are made of; NULL: none. */
TmTiles *tm_scene_get_tiles (const TmView *view);
/* What a texel of them stands for. */
TmReduce tm_scene_get_reduce (const TmView *view);
/* Which quantity an overlay shows of a tensor; FALSE: none, the sheet is flat. */
gboolean tm_scene_get_quantity (TmOverlay overlay, const TmTensor *tensor, TmQuantity *quantity);
const char *tm_scene_format_pane (TmScene *scene, const TmTensor *tensor, guint64 pane);
TmPalette tm_scene_get_palette (const TmView *view, TmQuantity quantity);
const TmBoundaries *tm_scene_get_boundaries (TmScene *scene, guint tensor, const TmSheet *sheet);

G_END_DECLS
