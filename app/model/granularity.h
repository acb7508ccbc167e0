/* Granularity: which elements share one set of quantization parameters, written as nested block shapes, coarse to fine.
 *
 *   [256, 2048], Q4_K           levels [1,256] (super-block: d, dmin) then [1,32] (sub-block: 6-bit scale and min)
 *   [524288] reshape, 64        bitsandbytes: blocks that run across row ends
 *   axis 1 through a table      act-order: entry i of the table is the group of index i on that axis
 *
 * Nobody who uses a granularity knows a scheme by name: overlay, inspector and reports see block shapes only.
 * A granularity is immutable once attached to a tensor and may be shared by many (reference counted). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_MAX_LEVELS 4

typedef enum
{
  TM_PER_TENSOR,
  TM_PER_CHANNEL, /* one axis has extent 1, every other its whole length */
  TM_PER_GROUP,   /* exactly one axis is cut into runs of more than one element, short of the whole; the others are 1 */
  TM_PER_BLOCK,   /* anything else: cut on two axes or more, or every element its own */
} TmGranularityKind;

typedef struct
{
  guint64 *extent;   /* one extent an axis of the counted shape, at least 1, at most the axis' length (or 1) */
  guint64 *written;  /* the same before clamping to a short axis: what schemes are compared and described by */
  const char *label; /* static: "super-block", "group", "block", "channel", "tensor" */
} TmGranularityLevel;

/* Indices of an axis sorted by their group, equal groups in the order of their indices; and back. */
typedef struct
{
  guint64 length;
  guint32 *logical; /* what index is shown at a place */
  guint32 *shown;   /* at which place an index is shown */
} TmAxisOrder;

typedef struct
{
  gint ref_count;
  guint rank;                /* of the counted shape */
  guint64 *shape;            /* counted shape: the tensor's own, or a reshape of it with the same number of elements */
  gboolean reshaped;         /* shape is not the tensor's own */
  guint n_levels;            /* 1 … TM_MAX_LEVELS */
  TmGranularityLevel level[TM_MAX_LEVELS]; /* coarse to fine */
  gint table_axis;           /* −1, or the axis that goes through table */
  guint32 *table;            /* group number of each index on table_axis (shape[table_axis] entries) */
  TmAxisOrder *order;        /* of table_axis; made when first asked for */
} TmGranularity;

/* level_extents: n_levels × rank numbers, coarse level first. Extents are clamped to the axis. labels: n_levels static
 * strings. (transfer full) */
TmGranularity *tm_granularity_new (guint rank, const guint64 *shape, gboolean reshaped, guint n_levels,
                                   const guint64 *level_extents, const char *const *labels);
/* Takes table (g_malloc'ed, shape[axis] entries). Before the granularity is shared. */
void tm_granularity_set_table (TmGranularity *granularity, guint axis, guint32 *table);
/* The table's axis so that groups are contiguous; NULL without a table or where it is too long to be sorted. Any thread. */
const TmAxisOrder *tm_granularity_get_order (TmGranularity *granularity);
TmGranularity *tm_granularity_ref (TmGranularity *granularity);
void tm_granularity_unref (TmGranularity *granularity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmGranularity, tm_granularity_unref)

gboolean tm_granularity_equal_levels (const TmGranularity *a, const TmGranularity *b); /* extents, reshape, table or not;
                                       NULL equals NULL. Extents are compared as written, not clamped to a short axis */
TmGranularityKind tm_granularity_get_kind (const TmGranularity *granularity); /* of the finest level */
const char *tm_granularity_kind_get_name (TmGranularityKind kind);            /* "per-tensor" … */
/* The axis the finest level cuts (per-channel, per-group), −1 otherwise. */
gint tm_granularity_get_axis (const TmGranularity *granularity);
/* "per-group 32 ⊂ super-block 256"; NULL granularity: "not quantized". (transfer full) */
char *tm_granularity_describe (const TmGranularity *granularity);

/* The block of a level that holds an element, as half-open ranges in the counted shape. With a table, on table_axis the
 * range is the contiguous run of equal groups that holds the index. start and end: rank numbers each. */
void tm_granularity_get_block (const TmGranularity *granularity, guint level, const guint64 *index, guint64 *start,
                               guint64 *end);
/* With a table: how many indices of table_axis are of the group that index is of. */
guint64 tm_granularity_count_members (const TmGranularity *granularity, guint64 index);

G_END_DECLS
