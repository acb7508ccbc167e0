/* A reading: the reference's values in the candidate's places, whatever a converter did to them: rows moved, transposed,
 * stacked, split, one added. It is put together from parts, each an affine map into one reference tensor, and read in
 * rectangles, so a reference is never held whole.
 *
 * Places are rows and columns: the candidate's last axis is the columns, all others together the rows. A vector is one row,
 * or one column where its elements move. Immutable once in use; any thread may read through it. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef enum
{
  TM_ROWS_AS_THEY_ARE,
  TM_ROWS_ROTARY,      /* halves of a head to pairs: row j is the reference's (j % 2) × (d / 2) + j / 2 */
  TM_ROWS_ROTARY_BACK, /* pairs to halves: row j is the reference's 2 × (j % (d / 2)) + j / (d / 2) */
  TM_ROWS_DEALT,       /* units of rows dealt out: unit u of n is the reference's (u % ways) × (n / ways) + u / ways */
} TmRowOrder;

typedef enum
{
  TM_CHANGE_NONE,
  TM_CHANGE_PLUS_ONE,  /* reference + 1 */
  TM_CHANGE_MINUS_ONE,
  TM_CHANGE_NEG_EXP,   /* −exp (reference) */
  TM_CHANGE_LOG_NEG,   /* ln (−reference) */
} TmValueChange;

/* Element (r, c) is the tensor's element base + order (r) × row_step + c × column_step, r counted from first_row. */
typedef struct
{
  const TmTensor *tensor;
  guint index; /* of the tensor in the reference model */
  guint64 first_row, n_rows;
  guint64 base, row_step, column_step;
  TmRowOrder order;
  guint64 head; /* rows that are put in order together: of one head; of dealt ones all units */
  guint64 unit, ways; /* for dealt ones: rows of a unit */
} TmReadingPart;

typedef struct
{
  guint64 rows, columns; /* what is covered; the candidate may have more rows */
  GArray *parts;         /* TmReadingPart, first_row ascending, without gaps */
  TmValueChange change;
  char *words;           /* "identity", "rotary-permutation(heads=4)": what was undone */
} TmReading;

/* words are taken. */
TmReading *tm_reading_new (guint64 columns, char *words);
void tm_reading_free (TmReading *reading);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmReading, tm_reading_free)

/* Adds rows at the end; what continues the part before it becomes one with it. */
void tm_reading_add (TmReading *reading, const TmReadingPart *part);
/* Whether every element is inside of its tensor. To be asked once, when all parts are there. */
gboolean tm_reading_is_sound (const TmReading *reading);
/* Whether rows lie in the file across: then only tall rectangles are quick. */
gboolean tm_reading_is_transposed (const TmReading *reading);

/* Largest error of rounding to the reference's dtype, as a share of the value; 0 where that is wider than 16 bits, or
 * quantized. */
float tm_reading_get_rounding (const TmReading *reading);

/* Rows r0 … r1 − 1, columns c0 … c1 − 1, all covered. out: rows of c1 − c0. */
gboolean tm_reading_decode_rectangle (const TmReading *reading, guint64 r0, guint64 r1, guint64 c0, guint64 c1, float *out,
                                      GCancellable *cancellable, GError **error);
/* Elements first … first + count − 1, row-major; those past the last covered row are NaN. */
gboolean tm_reading_decode (const TmReading *reading, guint64 first, gsize count, float *out, GCancellable *cancellable,
                            GError **error);
/* The part that holds an element, and its flat index in that part's tensor. NULL past the last covered row. */
const TmReadingPart *tm_reading_locate (const TmReading *reading, guint64 flat, guint64 *reference_flat);
float tm_value_change_apply (TmValueChange change, float value);

G_END_DECLS
