/* Tiles: 256 × 256 texels of one quantity of one pane at one level of detail, made on worker threads, kept in a cache
 * bounded in bytes. A texel of level L stands for 2^L × 2^L elements: the one of largest magnitude with its sign (order
 * NaN > Inf > finite), the mean or the RMS. First a sample (and labelled so), then exact.
 *
 * tm_tiles_begin() … tm_tiles_want() … tm_tiles_end() is one frame's request: what was wanted before and is not now is
 * cancelled. Everything here is main-thread API; workers publish through one idle with a generation number. */
#pragma once

#include "architecture/sheet.h"
#include "model/model.h"

G_BEGIN_DECLS

#define TM_TILE 256

/* The texel of elements that the file does not hold (a partial download): a NaN with all bits set, which beats every value
 * in the order of magnitude, so no reduction hides it. Painters hatch it. */
#define TM_TEXEL_MISSING_BITS 0x7fffffffu

/* Elements that are kinds: whole numbers below this, 0 for none in particular. */
#define TM_N_KINDS 7
#define TM_KIND_SHARES 36

/* Level 0 is the element itself under the first three. KINDS: the elements are kinds, and a texel of any level is
 * kind · TM_KIND_SHARES + share: the most frequent kind but 0 (the lower of equals) and its share of the elements in steps
 * of 1 / (TM_KIND_SHARES − 1), rounded up, so that a single one still shows; 0 where no element is of any. */
typedef enum { TM_REDUCE_LARGEST, TM_REDUCE_MEAN, TM_REDUCE_RMS, TM_REDUCE_KINDS } TmReduce;

typedef struct
{
  guint tensor;
  guint8 quantity; /* TmQuantity */
  guint8 reduce;   /* TmReduce */
  guint8 level;    /* L */
  guint64 pane;
  guint32 column, row; /* tile coordinates: element >> L >> 8 */
  guint8 sorted;       /* the sheet's columns stand sorted by group */
} TmTileKey;

typedef enum { TM_TILE_SAMPLED, TM_TILE_EXACT, TM_TILE_FAILED } TmTileState;

typedef struct
{
  TmTileKey key;
  TmTileState state;
  guint serial;      /* changes whenever texels change: the painters' upload key */
  guint width, height; /* texels in use, ≤ TM_TILE */
  float *texels;     /* rows of TM_TILE, height of them (no more are there); NULL when failed */
  char *message;     /* FAILED: why (hatched, on hover) */
} TmTile;

typedef struct _TmTiles TmTiles;

/* changed: called on the main context after tiles arrived; at most one pending call. */
TmTiles *tm_tiles_new (TmModel *model, gsize max_bytes, void (*changed) (gpointer), gpointer data);
void tm_tiles_free (TmTiles *tiles); /* cancels; waits for nothing on the main thread */

void tm_tiles_begin (TmTiles *tiles);
/* The best tile there is now for the key: itself, or its nearest cached ancestor (level differs), or NULL; asks for what is
 * missing. priority: smaller first (distance from the centre). Owned by the cache, valid until the next begin. */
const TmTile *tm_tiles_want (TmTiles *tiles, const TmTileKey *key, const TmSheet *sheet, int priority);
void tm_tiles_end (TmTiles *tiles);

/* Levels: smallest L with scale·2^L ≥ 1, at most 40. */
guint tm_tiles_level_for_scale (double scale);

/* One tile, synchronously, on any thread: what the workers call. exact FALSE: a sample. texels: TM_TILE². */
gboolean tm_tile_make (const TmTensor *tensor, const TmSheet *sheet, const TmTileKey *key, gboolean exact, float *texels,
                       guint *width, guint *height, GCancellable *cancellable, GError **error);

/* Colour range: 99.9th percentile of magnitude of a fixed sample of at most 65 536 elements, finite values only; found once
 * a tensor and quantity on a worker and cached. FALSE while it is not there yet (then asked for). */
gboolean tm_tiles_get_range (TmTiles *tiles, guint tensor, TmQuantity quantity, float *range);
/* Whether the sample could not be read: the range is then 0, and says nothing about the values. */
gboolean tm_tiles_range_failed (TmTiles *tiles, guint tensor, TmQuantity quantity);
/* In place of what the sample gave: a person's choice, or exact statistics. 0: the sample's again. */
void tm_tiles_set_range (TmTiles *tiles, guint tensor, TmQuantity quantity, float range);
float tm_tensor_sample_range (const TmTensor *tensor, TmQuantity quantity, GCancellable *cancellable, GError **error);

guint tm_tiles_count_pending (TmTiles *tiles);
/* Whether a picture of any TmTiles waits for a tile that can be had soon; exact tiles of much data do not count, since there
 * is a sample of them. A TmWorkBusy (unused: anything); any thread. */
gboolean tm_tiles_are_waited_for (gpointer unused);
gsize tm_tiles_get_bytes (TmTiles *tiles);
double tm_tiles_get_last_ms (TmTiles *tiles); /* how long the last tile took, for the status line */

G_END_DECLS
