/* Bounded reads of a codec's operands: whatever dtype a scale, zero point, index or word has, as the numbers a codec
 * computes with. Every function checks the stored tensor's range and says which byte could not be had; nothing keeps or
 * allocates memory in proportion to a tensor but tm_operand_load_*, which have a limit. Any thread. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

/* Bytes first … first + count − 1 of a stored tensor, as the file has them. */
gboolean tm_stored_read (const TmStored *stored, guint64 first, gsize count, gpointer to, GError **error);

/* --- Elements (row-major, by the stored tensor's own dtype) --------------------------------------------------------- */

/* Every float and integer dtype of a byte or more, as float32 (F64, I32, I64: rounded). E8M0 is 2^(code − 127). */
gboolean tm_operand_read_f32 (const TmStored *stored, guint64 first, gsize count, float *out, GError **error);
/* Integer dtypes and BOOL of a byte or more (U64 above the signed range is an error). */
gboolean tm_operand_read_i64 (const TmStored *stored, guint64 first, gsize count, gint64 *out, GError **error);
gboolean tm_operand_is_float (const TmStored *stored);   /* read_f32 makes sense of it and it is no integer */
gboolean tm_operand_is_integer (const TmStored *stored); /* read_i64 takes it */

/* A whole small operand, at most max elements. (transfer full); NULL with error set. */
float *tm_operand_load_f32 (const TmStored *stored, guint64 max, GError **error);
gint64 *tm_operand_load_i64 (const TmStored *stored, guint64 max, GError **error);

/* --- Bits ------------------------------------------------------------------------------------------------------------ */

/* count fields of bits (1 … 25) each, the first at bit first_bit of the stored tensor, one after the other: the dense
 * little-endian stream. The tensor's dtype is no matter. */
gboolean tm_operand_read_fields (const TmStored *stored, guint64 first_bit, guint bits, gsize count, guint32 *out,
                                 GError **error);
/* The same from memory; readable: how many bytes of packed may be read. Bits past them are 0. */
void tm_fields_unpack (const guint8 *packed, gsize readable, guint64 first_bit, guint bits, gsize count, guint8 *out);

/* bits bits from bit first_bit on as pieces of the record's code, the low ones first, cut at byte borders. */
void tm_operand_add_location (TmScalar *scalar, const TmStored *stored, guint64 first_bit, guint bits);

/* --- Bands ----------------------------------------------------------------------------------------------------------- */

/* n_rows pieces of n_bytes each, one every pitch bytes from byte first on, into out every out_pitch bytes: several a read
 * where they lie close, else one a piece. */
gboolean tm_operand_read_band (const TmStored *stored, guint64 first, guint64 pitch, gsize n_rows, gsize n_bytes,
                               guint8 *out, gsize out_pitch, GError **error);

/* Scratch of a thread, so that runs over a transposed packing unpack a stripe of rows once and not once a run. Kept until
 * the thread's next few stripes; at most TM_STRIPE_BYTES a slot. */
#define TM_STRIPE_BYTES 4194304u

typedef struct
{
  guint64 owner;                          /* tm_stripe_owner_new() of the codec's data: never used twice */
  guint64 key;                            /* which of its operands or unpackings */
  guint64 row, n_rows, column, n_columns; /* what of the matrix is in bytes */
  guint8 *bytes;
  gsize pitch; /* from row to row in bytes, as who filled it has them */
  gsize size;  /* allocated */
} TmStripe;

guint64 tm_stripe_owner_new (void);
/* The thread's stripe that covers the rectangle, or NULL. */
TmStripe *tm_stripe_find (guint64 owner, guint64 key, guint64 row, guint64 n_rows, guint64 column, guint64 n_columns);
/* A slot of at least size bytes, the one longest unused; empty (owner 0) until the caller has filled it and writes owner,
 * key and place. NULL where size is past the limit. */
TmStripe *tm_stripe_take (gsize size);

G_END_DECLS
