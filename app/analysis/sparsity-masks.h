/* A tile of zeros as bits, and what is counted on them: lines, N:M patterns, blocks. Internal to sparsity. */
#pragma once

#include "analysis/sparsity.h"

G_BEGIN_DECLS

/* A set of bits that several threads add to. */
typedef struct _TmBits TmBits;
TmBits *tm_bits_new (guint64 n);
void tm_bits_free (TmBits *bits);
guint64 tm_bits_get_size (const TmBits *bits);
void tm_bits_set (TmBits *bits, guint64 i);
gboolean tm_bits_get (const TmBits *bits, guint64 i);

typedef struct
{
  gsize rows, columns, words; /* words of a row */
  guint64 *zero;              /* bit c & 63 of word c >> 6: the element is zero; those past the last column are not */
  gsize size;                 /* words there is room for */
} TmMask;

void tm_mask_clear (TmMask *mask);
void tm_mask_set (TmMask *mask, const float *values, gsize rows, gsize columns, guint64 *zeros, guint64 *negative_zeros);
gboolean tm_mask_is_zero (const TmMask *mask, gsize row, gsize column, gsize count); /* all of them */
/* first_column: a multiple of 64. */
void tm_mask_mark_lines (const TmMask *mask, guint64 first_row, guint64 first_column, TmBits *rows_used, TmBits *columns_used);

typedef struct
{
  guint64 elements, zeros;    /* that patterns were looked for in */
  guint64 groups[TM_SPARSITY_PATTERNS], complying[TM_SPARSITY_PATTERNS];
  guint64 blocks[TM_SPARSITY_BLOCKS], zero_blocks[TM_SPARSITY_BLOCKS];
  guint64 row_blocks[TM_SPARSITY_BLOCKS], zero_row_blocks[TM_SPARSITY_BLOCKS];
} TmMaskSums;

void tm_mask_count_patterns (const TmMask *mask, TmMaskSums *sums); /* along rows */
/* Along the input channels of one output channel: n_rows rows in which the same place of two channels is inner apart. */
void tm_mask_count_channels (const TmMask *mask, gsize first_row, gsize n_rows, guint64 inner, TmMaskSums *sums);
/* The mask begins at a row that is a multiple of 64. matrix_rows: of each matrix of a stack; 0: there is one. */
void tm_mask_count_blocks (const TmMask *mask, guint64 matrix_rows, TmMaskSums *sums);
void tm_mask_sums_add (TmMaskSums *sums, const TmMaskSums *other);
/* code_bits: 0 of an ordinary tensor. The zeros of a quantized one cluster where scales are large, and of two bits and fewer
 * they are so many that only a very large tensor says anything. Returns the number of patterns. */
guint tm_mask_sums_find_patterns (const TmMaskSums *sums, guint code_bits, TmSparsityPattern pattern[TM_SPARSITY_PATTERNS]);
void tm_mask_sums_find_blocks (const TmMaskSums *sums, TmSparsity *result);

G_END_DECLS
