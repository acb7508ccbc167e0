/* The codec of integer codes in packed words: value = scale × (code − zero point), or scale × code + offset, by groups of
 * columns. Which words, which order, where scales and zero points are and which group a column is in is data: every
 * convention of integer codes is a filled TmPackedInteger.
 *
 * Logical shape [rows, columns], or [slices, rows, columns]: each slice packed alone. */
#pragma once

#include "quant/integer-layout.h"

G_BEGIN_DECLS

typedef enum
{
  TM_WORDS_ALONG_ROWS,    /* a line of the layout is a row, its codes are columns; down: GPTQ */
  TM_WORDS_ALONG_COLUMNS, /* a line is a column, its codes are rows: AWQ GEMM */
  TM_WORDS_ROW_PAIRS,     /* a byte holds rows 2k (low nibble) and 2k + 1 of one column: ModelOpt */
  TM_WORDS_TILES,         /* AWQ GEMV-fast: four rows × 64 columns in 64 16-bit words */
  TM_WORDS_RAGGED,        /* EXL2: down columns, every group with its own width; rows go through a permutation */
} TmWordArrangement;

typedef enum
{
  TM_PARAMETER_NONE,
  TM_PARAMETER_CONSTANT,
  TM_PARAMETER_ELEMENTS, /* an element of stored each */
  TM_PARAMETER_CODES,    /* packed codes: (code + add) mod 2^bits */
} TmParameterKind;

typedef struct
{
  TmParameterKind kind;
  const TmStored *stored;
  float constant;
  guint64 slice_step, row_step, group_step; /* ELEMENTS: index = slice × … + row × … + group × … */
  float shift;                              /* ELEMENTS: added */
  TmCodeLayout layout;                      /* CODES */
  gboolean lines_are_groups;                /* CODES: line = group, code = row; else line = row, code = group */
  guint add;
} TmGroupParameter;

/* EXL2 (facts: quant-conventions.md section 11). */
typedef struct
{
  guint8 *bits;          /* of each group */
  guint32 *word_row;     /* first word row of each group */
  guint32 *first;        /* first stored row of each group */
  guint32 *stored_row;   /* of each column */
  guint32 *column;       /* of each stored row */
  guint32 *group_of_row; /* of each stored row */
  float *scale_max;      /* of each group */
} TmRaggedWords;

typedef struct
{
  TmWordArrangement arrangement;
  TmCodeLayout layout;
  const TmStored *words;
  guint64 n_slices, n_rows, n_columns;
  guint64 n_groups, group_size; /* group of column i: i / group_size, or index[i] */
  const guint32 *index;         /* borrowed from the granularity's table, or NULL */
  const TmStored *index_stored; /* the tensor it is from, for the picture */
  TmGroupParameter scale, zero;
  gboolean zero_is_offset; /* zero is an offset that is added */
  gboolean is_signed;      /* raw is signed: int8 */
  guint8 flip;             /* two's complement: the sign bit; else 0 */
  guint middle;            /* codes are stored with this added, which the record tells too; else 0 */
  const char *formula;     /* static; terms scale, q, zero or offset */
  TmRaggedWords *ragged;
  guint64 owner; /* of stripes */
} TmPackedInteger;

/* Sets codec and codec_data of a tensor (takes data). What is set first: name, shape, granularity, code_bits. */
void tm_packed_integer_attach (TmTensor *tensor, TmPackedInteger *data);
void tm_packed_integer_free (TmPackedInteger *data);

/* Effective scale or zero point of rows × groups: at[r × row + g × group]. */
typedef struct
{
  float *at;
  gsize row, group;
} TmParameterNumbers;

gboolean tm_packed_integer_read_parameter (const TmPackedInteger *data, const TmGroupParameter *parameter,
                                           guint64 slice, guint64 row, gsize n_rows, guint64 group, gsize n_groups,
                                           TmParameterNumbers out, GError **error);
/* Where a code is; the number of pieces. */
guint tm_packed_integer_locate (const TmPackedInteger *data, guint64 slice, guint64 row, guint64 column,
                                TmCodePiece pieces[TM_MAX_CODE_PIECES]);
guint tm_packed_integer_get_group (const TmPackedInteger *data, guint64 column);
/* Where a zero point's code is; 0 where it is none. */
guint tm_packed_integer_locate_zero (const TmPackedInteger *data, guint64 slice, guint64 row, guint64 group,
                                     TmCodePiece pieces[TM_MAX_CODE_PIECES]);

/* --- packed-integer-stripes.c: what is read and unpacked, kept for the thread's next runs ------------------------------- */

/* Of one slice. */
typedef struct
{
  guint64 slice, row, column;
  gsize n_rows, n_columns;
} TmPackedRectangle;

typedef gboolean (*TmPackedDecode) (const TmPackedInteger *data, const TmPackedRectangle *at, float *out,
                                    GError **error);

/* As tm_packed_integer_get_ribbon(), where some of them fit the scratch. */
gboolean tm_packed_integer_has_ribbons (const TmPackedInteger *data, TmCodeLayout *ribbon);
/* Ribbons that hold the rectangle, *pitch bytes from one to the next: its first row is line *line of the first, its first
 * column code *first. */
const guint8 *tm_packed_integer_get_ribbons (const TmPackedInteger *data, const TmCodeLayout *ribbon,
                                             const TmPackedRectangle *at, gsize *pitch, gsize *line, gsize *first,
                                             GError **error);
const guint8 *tm_packed_integer_get_codes (const TmPackedInteger *data, const TmPackedRectangle *at, gsize *pitch,
                                           GError **error);
/* Of the rectangle's rows and groups, from that of the first column on (from 0 where groups have an index): that of a row and
 * a group at [r × row + g × group], group 1 or, for ribbons, row 1; then as many rows before and behind can be read as
 * ribbons of these rows have. */
typedef struct
{
  const float *scales, *zeros;
  gsize row, group;
} TmPackedParameters;

gboolean tm_packed_integer_get_parameters (const TmPackedInteger *data, const TmPackedRectangle *at, gboolean ribbons,
                                           TmPackedParameters *parameters, GError **error);
/* A few long rows, decoded with their neighbours; n_columns floats of the tensor from row to row. */
gboolean tm_packed_integer_wants_values (const TmPackedInteger *data, const TmPackedRectangle *at);
const float *tm_packed_integer_get_values (const TmPackedInteger *data, const TmPackedRectangle *at,
                                           TmPackedDecode decode, GError **error);

/* packed-integer-explain.c */
gboolean tm_packed_integer_explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error);
gboolean tm_packed_integer_describe (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error);
/* packed-integer-words.c: rows × columns of codes, a byte each, row after row. */
gboolean tm_packed_integer_read_codes (const TmPackedInteger *data, guint64 slice, guint64 row, gsize n_rows,
                                       guint64 column, gsize n_columns, guint8 *out, GError **error);
/* Its words as ribbons whose lines are rows (integer-layout.h); row: a multiple of 8, column: of 32. */
gboolean tm_packed_integer_get_ribbon (const TmPackedInteger *data, TmCodeLayout *ribbon);
gboolean tm_packed_integer_read_ribbons (const TmPackedInteger *data, guint64 slice, guint64 row, gsize n_rows,
                                         guint64 column, gsize n_columns, guint8 *out, gsize out_pitch,
                                         GError **error);

G_END_DECLS
