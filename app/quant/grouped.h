/* The codec that most conventions share: a code a scalar, and parameters on a grid of blocks. What differs is written in
 * one struct; the families' files fill it and own the words of the record.
 *
 * Where the code of flat element f is:
 *   dense    bits f·b … of one little-endian stream; with high_first two codes a byte, the first in the high nibble
 *   planes   the elements are cut into n_fields runs of plane elements; run k's codes are field k of the words 0 … plane−1
 *            (the last run may be short)
 *   strided  planes of a grouped matrix that is the weight transposed in pieces: see TmGrouped.fold
 *
 * Where its parameters are: the elements are slices of rows × columns (the tensor's own last axes, or a reshape of them);
 * block (r / block_rows, c / block_columns) of slice k has entry (k·grid_rows + …)·grid_columns + … of the scales. */
#pragma once

#include "quant/map-kernels.h"
#include "quant/quant-private.h"

G_BEGIN_DECLS

typedef enum
{
  TM_GLOBAL_NONE,
  TM_GLOBAL_FACTOR,
  TM_GLOBAL_DIVISOR
} TmGlobal;

typedef struct
{
  /* --- codes */
  const TmStored *codes;
  guint bits;
  gboolean is_signed;  /* raw is two's complement */
  gboolean high_first; /* dense, 4 bits */
  guint64 plane;       /* 0: dense */
  guint n_fields, word_bytes;
  gboolean first_is_top; /* field 0 is the highest of the word */
  guint64 fold;          /* 0, or g of a matrix [g, n/g]: element (o, i) of the weight is at row o mod g, column
                           i·(rows/g) + o div g, and so are the scales' columns */
  /* --- parameters */
  guint64 rows, columns, block_rows, block_columns, grid_rows, grid_columns;
  const TmStored *scale, *zero;          /* zero: NULL where there is none */
  TmDtype scale_as;                      /* what the scale's bytes mean */
  gboolean zero_is_offset, zero_negated; /* the record's offset instead of its zero point, and with its sign turned */
  gboolean has_zero_point;               /* without a zero operand: it is 0 */
  const TmStored *global;                /* one number, or one a slice */
  TmGlobal global_kind;
  const TmStored *nested,
      *nested_book; /* scale bytes are codes of the book times an entry of nested, plus nested_offset */
  guint64 nested_block;
  float nested_offset;
  /* --- values */
  TmMapForm form;
  const float *book; /* static; NULL: book_stored holds it, as float32 */
  guint n_book;
  const TmStored *book_stored;
  /* --- the record */
  const char *formula;
  const char *scale_term, *zero_term, *level_term; /* names in the formula; NULL: no such term */
  const char *scale_meaning, *zero_meaning;        /* for the picture of the packing */
} TmGrouped;

extern const TmCodec tm_codec_grouped;

/* Takes a copy; what the families' files and recognisers filled in must fit: grids cover the elements, operands have the
 * dtypes. Sets the tensor's codec and, from it, code_bits. */
void tm_codec_attach_grouped (TmTensor *tensor, const TmGrouped *grouped);

/* The two halves of explain and describe_block, in grouped-explain.c. */
gboolean tm_grouped_explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error);
gboolean tm_grouped_describe_block (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error);

/* --- Parts, shared by decoding and explaining ------------------------------------------------------------------------ */

/* Entry of the scales that element flat uses, and of the slice. */
guint64 tm_grouped_entry (const TmGrouped *grouped, guint64 flat, guint64 *slice);
/* First bit of its code in the codes' bytes. */
guint64 tm_grouped_code_bit (const TmGrouped *grouped, guint64 flat);
/* n effective scales: entry, entry + pitch … */
gboolean tm_grouped_read_scales (const TmGrouped *grouped, guint64 entry, guint64 pitch, gsize n, float *out,
                                 GError **error);
/* The code book as n_book numbers: the static one, or buffer filled. */
const float *tm_grouped_read_book (const TmGrouped *grouped, float buffer[256], GError **error);

/* Elements of a stored tensor as float32, its bytes taken for another dtype of the same size. */
gboolean tm_read_as (const TmStored *stored, TmDtype as, guint64 first, gsize count, float *out, GError **error);

/* --- What the families fill in --------------------------------------------------------------------------------------- */

void tm_grouped_set_float8 (TmGrouped *grouped, const TmStored *codes, TmDtype dtype);
void tm_grouped_set_int8 (TmGrouped *grouped, const TmStored *codes);
void tm_grouped_set_float4 (TmGrouped *grouped, const TmStored *codes, gboolean high_first);
/* After the codes; as: the scale's own dtype, or E8M0 for bytes that are powers of two. */
void tm_grouped_set_scale (TmGrouped *grouped, const TmStored *scale, TmDtype as);
void tm_grouped_set_global (TmGrouped *grouped, const TmStored *global, TmGlobal kind);
void tm_grouped_set_bitsandbytes (TmGrouped *grouped, const TmStored *codes, const TmStored *map,
                                  const TmStored *absmax, gboolean high_first);
void tm_grouped_set_nested (TmGrouped *grouped, const TmStored *absmax, const TmStored *map, guint64 block,
                            float offset);
void tm_grouped_set_row_max (TmGrouped *grouped, const TmStored *codes, const TmStored *row_max);
void tm_grouped_set_affine (TmGrouped *grouped, const TmStored *codes, guint bits, const TmStored *biases);
void tm_grouped_set_hqq (TmGrouped *grouped, const TmStored *codes, guint bits, guint n_fields, guint word_bytes,
                         guint64 plane, const TmStored *zero);
void tm_grouped_set_quanto (TmGrouped *grouped, const TmStored *codes, guint bits, guint64 plane,
                            const TmStored *shift);

/* Code books: E2M1 by code; float8 by byte. */
extern const float tm_book_e2m1[16];
const float *tm_book_float8 (TmDtype dtype); /* NULL for other dtypes */

/* value and, where it differs, exact. */
void tm_scalar_set_f32 (TmScalar *scalar, float value, double exact);

G_END_DECLS
