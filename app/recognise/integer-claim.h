/* What the conventions of integer codes have in common when they claim a bundle. */
#pragma once

#include "quant/packed-integer.h"
#include "recognise/convention.h"

G_BEGIN_DECLS

/* "q_proj" → "q_proj.weight"; "" → "weight". (transfer full) */
char *tm_claim_weight_name (const TmBundle *bundle);
gboolean tm_claim_is_matrix (const TmStored *stored, TmDtype dtype); /* rank 2, of that dtype, not empty */
gboolean tm_claim_is_float_matrix (const TmStored *stored);          /* rank 2 of F16, BF16, F32 …, not empty */
char *tm_claim_format_shape (const TmStored *stored);                /* "[16, 64]" (transfer full) */

/* A person's choice if it is one of alternatives ("v1|v2", or NULL for any number), else fallback; records it as an
 * assumption either way. (transfer none) */
const char *tm_claim_choose (TmFolding *folding, const TmTensor *tensor, const char *key, const char *fallback,
                             const char *alternatives, const char *evidence, ...) G_GNUC_PRINTF (6, 7);

/* The config says otherwise than the tensors: a warning, and the tensor is marked. */
void tm_claim_conflict (TmFolding *folding, TmTensor *tensor, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Groups of group_size columns (or by table, taken): granularity, group_size and data's n_groups, group_size, index. */
void tm_claim_set_groups (TmTensor *tensor, TmPackedInteger *data, guint64 n_groups, guint64 group_size,
                          guint32 *table);

/* A group index: every entry below n_groups. *table: NULL where entry i is i / group_size for one group_size; that, or the
 * largest count of one entry, is *group_size. all_zero: it says nothing. FALSE with error: it cannot be used. */
gboolean tm_claim_read_index (const TmStored *stored, guint64 n_columns, guint64 n_groups, guint32 **table,
                              guint64 *group_size, gboolean *all_zero, GError **error);
/* The size of equal groups, the last of which may be short: I / G where that divides, else the least power of two that
 * leaves no group empty; 0: none. */
guint64 tm_claim_guess_group_size (guint64 n_columns, guint64 n_groups);
/* Several sizes give as many groups where the last may be short: a stated one that does is taken. */
void tm_claim_take_group_size (guint64 stated, guint64 n_columns, guint64 n_groups, guint64 *group_size);

/* Zero points as they are stored, from a part of them that is quick to read. */
typedef struct
{
  gboolean known, uniform;
  guint least, most;
  guint64 n_read, n_all;
} TmZeroCensus;
TmZeroCensus tm_claim_count_zeros (const TmGroupParameter *zero, guint64 n_rows, guint64 n_groups);

G_END_DECLS
