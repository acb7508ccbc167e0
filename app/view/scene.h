/* Scene: what is on the screen as a flat list of primitives in paint order. Made anew for every frame from layout, camera,
 * tiles and selection; both painters (OpenGL, CPU) draw the same list, so they draw the same picture.
 * All coordinates are whole device pixels of the viewport, y downwards. Colours are straight-alpha 0xRRGGBBAA (color.h). */
#pragma once

#include "architecture/layout.h"
#include "model/address.h"
#include "view/color.h"
#include "view/ruler.h"
#include "view/tiles.h"

G_BEGIN_DECLS

typedef enum
{
  TM_PRIM_RECT,  /* filled, optional border and radius */
  TM_PRIM_HATCH, /* diagonal stripes: data missing, empty, not decodable */
  TM_PRIM_TEXT,
  TM_PRIM_SHEET, /* a pane of values with its boundaries */
} TmPrimKind;

typedef enum { TM_FONT_SANS, TM_FONT_SANS_BOLD, TM_FONT_MONO, TM_FONT_MONO_BOLD, TM_N_FONTS } TmFont;
typedef enum { TM_ALIGN_LEFT, TM_ALIGN_CENTRE, TM_ALIGN_RIGHT } TmAlign;

typedef struct { int x, y, width, height, radius, border; TmColor fill, stroke; } TmPrimRect;
/* (x, y) is the baseline's start, middle or end; text is cut with an ellipsis in the middle to max_width (0: no limit). */
typedef struct { int x, y, max_width; TmFont font; guint px; TmAlign align; TmColor color; const char *text; } TmPrimText;

/* DIVERGING: entry 128 is zero, the ends are −range and +range. SEQUENTIAL: from low to range. MAGNITUDE: the sequential map
 * of |value|, from 0 to range. KINDS: texels are entries of the theme's kinds; low is 0, range 255. */
typedef enum { TM_PALETTE_DIVERGING, TM_PALETTE_SEQUENTIAL, TM_PALETTE_MAGNITUDE, TM_PALETTE_KINDS } TmPalette;

/* One page-table entry a wanted tile, in rows of n_pages_x: the tile found, and how many levels above the wanted one it is
 * (NULL tile: not there yet, blank; FAILED: hatch). Wanted tile (i, j) is (page_x + i, page_y + j) at level. */
typedef struct { const TmTile *tile; guint up; } TmPage;

typedef struct
{
  int x, y, width, height;     /* clip: the pixels that belong to the pane and its outline */
  TmRulers *rulers;            /* owned by the scene */
  guint level;                 /* wanted level */
  guint32 page_x, page_y, n_pages_x, n_pages_y;
  TmPage *pages;               /* owned by the scene */
  TmPalette palette;
  float range;                 /* colour range; ≤ 0: nothing but zero seen */
  float low;                   /* SEQUENTIAL: value of the palette's lower end (upper end is range) */
  guint64 columns, n_elements; /* last row may be short: cell (r, c) is empty where base + r·columns + c ≥ n_elements */
  guint64 base;
  TmColor under;               /* opaque: what surrounds the pane and shows in empty cells; outline and halo blend on it */
  TmColor blank;               /* opaque: where no tile is there yet */
  int cell_px;                 /* whole px of an element, for Inf marks; 0 below 8 */
} TmPrimSheet;

typedef struct
{
  TmPrimKind kind;
  union { TmPrimRect rect; TmPrimText text; TmPrimSheet sheet; } as;
} TmPrim;

/* From ERROR on overlays judge tensors: far away each tensor is one colour and a few words (TmTensorMark). */
typedef enum
{
  TM_OVERLAY_NONE,
  TM_OVERLAY_DTYPE,
  TM_OVERLAY_VALUE,
  TM_OVERLAY_RAW,
  TM_OVERLAY_SCALE,
  TM_OVERLAY_ERROR,
  TM_OVERLAY_SPARSITY, /* zeros by cause: the kinds are TmZeroCause */
  TM_OVERLAY_BACKEND,  /* how a backend runs it; near by the sheet has that colour too */
  TM_N_OVERLAYS
} TmOverlay;

/* What a judging overlay says of a tensor. */
typedef struct
{
  TmColor fill;     /* opaque */
  gboolean hatched; /* nothing can be said of this one, and nothing shown */
  char text[24];    /* under the name, in place of dtype and shape */
} TmTensorMark;

#define TM_N_SUPPORTS 5

typedef enum { TM_DEPTH_ARCHITECTURE, TM_DEPTH_HEAT_MAP, TM_DEPTH_CELLS } TmDepth;

typedef struct
{
  TmColor background, card, card_border, text, text_dim, accent, accent_soft, line, halo, hatch, cell_text, cell_text_inverse;
  TmColor family[TM_N_FAMILIES];      /* the family's own colour: borders, chips */
  TmColor family_fill[TM_N_FAMILIES]; /* opaque tint of it on a card: boxes, flat sheets */
  TmColor family_text[TM_N_FAMILIES]; /* with contrast 4.5 : 1 on a card: captions */
  TmColor diverging[256], sequential[256]; /* entry 128 of diverging is zero; entry 0 is free */
  TmColor nan;
  TmColor kind[TM_N_KINDS];           /* 0: the ground; told apart also by people who see fewer colours */
  TmColor kinds[256];                 /* kind · TM_KIND_SHARES + share */
  TmColor support[TM_N_SUPPORTS];     /* TmSupportState, native … unknown */
  gboolean dark;
} TmTheme;

void tm_theme_init (TmTheme *theme, gboolean dark, TmColor accent /* 0: #3584e4 */);
/* From bad (0, red) over middling to good (1, teal); darker towards both ends of the picture's ground. */
TmColor tm_theme_judgement_color (const TmTheme *theme, double goodness);
/* A kind's colour, the paler the smaller its share 0 … 1 is; as texels have it. */
TmColor tm_theme_kind_color (const TmTheme *theme, guint kind, double share);

/* Measures text for the scene (width in px); given by the painters' room. NULL: 0.6 em a character. */
typedef int (*TmMeasure) (TmFont font, guint px, const char *text, gpointer data);

typedef struct
{
  const TmLayout *layout;
  TmCamera camera;
  TmTiles *tiles;              /* NULL: sheets are drawn flat in their dtype's colour */
  TmTiles *error_tiles;        /* ERROR: signed errors, near by; NULL: none */
  TmTiles *kind_tiles;         /* SPARSITY: causes, near by; NULL: none */
  const TmTensorMark *marks;   /* by tensor, for overlays that judge; else NULL */
  const TmTheme *theme;
  TmOverlay overlay;
  TmReduce reduce;
  gboolean boundaries;
  guint device_scale;
  const TmAddress *selection;  /* or NULL */
  guint hover_box;             /* or TM_NO_BOX */
  TmMeasure measure;
  gpointer measure_data;
} TmView;

/* What the legend must say of a frame. */
typedef struct
{
  TmDepth depth;               /* of what fills the middle of the view */
  guint tensor;                /* the tensor in the middle, G_MAXUINT if none */
  TmPalette palette;
  float range, low;            /* of the tensor in the middle; range ≤ 0 where it is not known (yet) */
  gboolean sampled;            /* some tile on the screen is a sample or an ancestor */
  gboolean any_sheet;
  guint families;              /* bit a TmFamily that is on the screen (dtype overlay) */
  guint dtypes[8]; guint n_dtypes; /* TmDtype on the screen, most frequent first */
  gboolean heavy_lines;        /* architecture lines are on the screen */
  const TmBoundaries *runs;    /* levels visible on tensor, or NULL; owned by the scene's cache */
  gboolean level_visible[4];
  double pixels_per_element;
  gboolean raw_and_value;      /* cells of the tensor in the middle hold two numbers, raw over dequantized */
} TmLegend;

typedef struct _TmScene TmScene; /* keeps arrays, rulers and boundaries between frames */

TmScene *tm_scene_new (void);
void tm_scene_free (TmScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmScene, tm_scene_free)

/* Rebuilds the list. Calls tm_tiles_begin/want/end. Never reads a file, never decodes (cell texts come from level-0 tiles
 * of value and raw). */
void tm_scene_update (TmScene *scene, const TmView *view);
const TmPrim *tm_scene_get_prims (const TmScene *scene, guint *n);
const TmLegend *tm_scene_get_legend (const TmScene *scene);

/* What is under a pixel: the box, where cells or heat map are shown the element, and whether it is a fold's badge. */
typedef struct { guint box; gboolean has_element; guint64 flat; gboolean badge; } TmHit;
TmHit tm_view_pick (const TmView *view, int px, int py);

G_END_DECLS
