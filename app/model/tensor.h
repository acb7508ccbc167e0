/* Stored tensors and logical tensors.
 *
 * A stored tensor is bytes in a file with a dtype and a shape. A logical tensor is what a person means by "the weight":
 * a name, a shape, a dtype and a value at every index; it is a codec applied to stored tensors (its operands).
 * Both are plain structs owned by their TmModel and immutable once it is open, so any thread may read them.
 *
 * Shapes are outermost axis first (rows, columns). Flat indices count row-major in the logical shape, 64 bits. */
#pragma once

#include "io/source.h"
#include "model/dtype.h"
#include "model/granularity.h"
#include "model/scalar.h"

G_BEGIN_DECLS

typedef struct _TmCodec TmCodec;

typedef struct
{
  char *name;          /* bytes as the file has them plus a NUL; valid UTF-8 or not; may be empty; a NUL inside is C0 80 */
  guint ordinal;       /* 0 if the name is unique; else 1 for the first of that name in file order, 2 … */
  TmDtype dtype;
  char *type_label;    /* what the file calls a dtype unknown here ("type 137", "F8_WEIRD"); else NULL */
  guint rank;
  guint64 *shape;
  gint64 *stride;      /* in elements; row-major unless the container says otherwise */
  guint64 n_elements;  /* product of shape; 0 where it overflows (then fault is set) */
  TmSource *source;    /* own reference; NULL where the file is missing */
  guint64 offset;      /* byte offset in source */
  guint64 bytes;       /* bytes in the file: from shape and dtype; where that is not known, up to the next tensor */
  gboolean big_endian;
  char *device;        /* what the file records, or NULL */
  char *fault;         /* NULL, or why its values cannot be had (one line, the same words as its problem) */
  guint64 available;   /* past-end fault: leading bytes that the file does hold (a partial download); else 0 */
  gboolean one_piece;  /* made by tm_stored_new(): what of it lies in its own memory is not freed by itself */
  guint index;         /* its place among the model's stored tensors; set by recognise */
} TmStored;

typedef enum { TM_ROLE_VALUES, TM_ROLE_SCALE, TM_ROLE_ZERO_POINT, TM_ROLE_GROUP_INDEX, TM_ROLE_CODEBOOK,
               TM_ROLE_GLOBAL_SCALE, TM_ROLE_OFFSET,
               TM_ROLE_OTHER /* bookkeeping: does not enter the values */ } TmOperandRole;

typedef struct
{
  TmOperandRole role;
  guint stored; /* index into the model's stored tensors */
} TmOperand;

typedef enum
{
  TM_QUANTITY_VALUE,
  TM_QUANTITY_RAW,
  TM_QUANTITY_SCALE,
  TM_QUANTITY_ZERO_POINT,
  TM_QUANTITY_OFFSET,
  TM_N_QUANTITIES
} TmQuantity;

typedef struct
{
  char *name;          /* logical name; for GGUF and unfolded safetensors the stored one */
  guint ordinal;       /* as TmStored.ordinal, among logical names */
  TmDtype dtype;
  const char *dtype_label; /* shown name: the dtype's, or the file's own for an unknown one; owned elsewhere */
  gboolean quantized;
  const char *scheme;  /* static: "ggml", …; NULL for an ordinary dtype */
  guint code_bits;     /* bits of one stored code; 0 for an ordinary dtype */
  guint64 group_size;  /* elements a row that share one scale; 0: per channel, per tensor or not along the row */
  gint symmetric;      /* 1: zero is the middle code (or 0) everywhere, 0: it varies, −1: does not apply or not known */
  gboolean config_conflict; /* the config file says otherwise than the tensors */
  gboolean config_excludes; /* not quantized, and the config file lists its module among those to leave alone */
  guint rank;
  guint64 *shape;
  gint64 *stride;      /* elements */
  guint64 n_elements;
  guint64 bytes;       /* of all operands */
  TmGranularity *granularity; /* NULL for an ordinary dtype */
  TmOperand *operand;
  guint n_operands;    /* at least 1; the first holds the values */
  const TmStored *values; /* the first operand, for convenience */
  const TmCodec *codec;   /* NULL when fault is set */
  gpointer codec_data;    /* the codec's own, freed by codec->free_data */
  const char *module;  /* dotted path of its module ("blk.0.attn_v"), the module's own; "" at the root; set by recognise */
  struct _TmModule *owner; /* that module; NULL where there is no tree */
  char *fault;         /* as TmStored.fault */
  guint64 available;   /* with a fault: leading elements (flat) that can be read all the same; else 0 */
  gboolean shares_stored; /* name, shape and stride are those of values, which outlives it */
  TmOperand only_operand; /* what operand points to where there is no more than one; see tm_tensor_add_operand() */
} TmTensor;

/* --- How a scalar is packed ------------------------------------------------------------------------------------- */

typedef enum
{
  TM_PACK_CODE,
  TM_PACK_SCALE,
  TM_PACK_ZERO_POINT,
  TM_PACK_OFFSET,
  TM_PACK_SIGN,
  TM_PACK_GROUP_INDEX,
  TM_PACK_CODEBOOK,
  TM_PACK_OTHER /* padding, sums, other tensors' business */
} TmPackRole;

#define TM_NO_ELEMENT G_MAXUINT64

/* A run of bits in a stored tensor. Bit k of a stored tensor is bit k & 7 of its byte k >> 3, as the file has them. */
typedef struct
{
  const char *name;        /* static: "d", "scales", "qs"; "qweight", "zero" */
  const char *meaning;     /* static, a few words: "low four bits of the codes" */
  TmPackRole role;
  const TmStored *stored;  /* which operand; borrowed */
  guint64 byte;            /* of its first bit, counted from the stored tensor's first byte */
  guint bit;               /* 0 … 7 within that byte */
  guint64 bits;
  guint unit;              /* bits of each of the equal parts it falls into; 0: it is one number */
  guint64 element;         /* flat index of the scalar whose code this is, where a field is one code; else TM_NO_ELEMENT */
  gboolean has_number;
  double number;           /* what the bits say: the code, the scale's value, the sub-scale's integer, −1 or 1 for a sign */
} TmPackField;

/* The block, or the words of every operand, that hold one scalar. */
typedef struct
{
  const char *title;       /* static: "block of 256 elements in 144 bytes", "32-bit word of eight codes" */
  const char *order;       /* static, how codes follow each other in it ("0 2 4 6 1 3 5 7"); NULL: as one expects */
  GArray *fields;          /* TmPackField: all of the block or words, by operand, then by place */
  GArray *own;             /* TmPackField: this scalar's: pieces of its code from the low bits up, sign, scales, zero */
  gint8 grid[8];           /* the grid entry that its code chooses */
  guint n_grid, lane;      /* entries in it (0: no grid), and which one is this scalar's */
} TmPacking;

#define TM_PACKING_INIT { 0 }
void tm_packing_clear (TmPacking *packing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmPacking, tm_packing_clear)
/* Appends to own or fields and gives the new field to fill further; everything not named is zero or TM_NO_ELEMENT. The
 * pointer is good until the next one is added. */
TmPackField *tm_packing_add_field (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning,
                                   TmPackRole role, guint64 byte, guint bit, guint64 bits);
TmPackField *tm_packing_add_own (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning,
                                 TmPackRole role, guint64 byte, guint bit, guint64 bits, double number);

/* The way to values. A codec decodes runs of elements and explains one scalar; it never allocates per element.
 * Runs are row-major in the logical shape: element first … first + count − 1, all inside the tensor (the caller's duty,
 * checked by tm_tensor_decode). Functions that a scheme does not have are NULL. */
struct _TmCodec
{
  const char *name;
  /* float32 values as the scheme's reference implementation computes them (wider dtypes are narrowed). */
  gboolean (*values) (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error);
  /* raw codes exactly as stored, before any offset is taken away. */
  gboolean (*raw) (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GError **error);
  /* TM_QUANTITY_SCALE, ZERO_POINT or OFFSET: effective parameters. has_parameter says which exist. */
  gboolean (*parameter) (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out,
                         GError **error);
  gboolean (*has_parameter) (const TmTensor *tensor, TmQuantity quantity);
  /* Ordinary dtypes: the elements themselves in host byte order, unpacked to whole bytes: F64 double, F32 float, other
   * floats float, I64 U64 I32 … as they are, I4 I2 gint8, U4 U2 guint8, BOOL guint8 as stored, C64 2 floats, C128 2
   * doubles. NULL for quantized codecs. Element size: tm_tensor_get_native_size(). */
  gboolean (*native) (const TmTensor *tensor, guint64 first, gsize count, gpointer out, GError **error);
  /* Fills everything of the record but tensor and index, which are set. */
  gboolean (*explain) (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error);
  void (*free_data) (gpointer data);
  /* Optional, for packings in which a row is strided: n_rows × n_columns elements, row r of it beginning at
   * first + r × (length of the last axis) and ending in its row; rows count on through the outer axes. Any quantity that
   * has_parameter or the functions above offer, raw codes as float32 too. */
  gboolean (*rectangle) (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize n_rows, gsize n_columns,
                         float *out, GError **error);
  /* Optional: the block or words that hold one scalar. packing is zeroed. */
  gboolean (*describe_block) (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error);
};

/* A stored tensor in one piece of memory with its name (length bytes, copied) and room for the axes that most have. */
TmStored *tm_stored_new (const char *name, gsize length);
/* Zeroed shape and stride of so many axes. */
void tm_stored_set_rank (TmStored *stored, guint rank);
void tm_stored_free (TmStored *stored);

void tm_tensor_add_operand (TmTensor *tensor, TmOperandRole role, guint stored);
void tm_tensor_free (TmTensor *tensor);

/* --- The only way to values ------------------------------------------------------------------------------------- */

/* Any quantity as float32 (raw codes are whole numbers below 2^24). Errors: the tensor's fault as TM_ERROR_TENSOR or
 * _UNSUPPORTED; TM_ERROR_QUANTITY; TM_ERROR_ADDRESS for a run outside the tensor; reads as in source.h; G_IO_ERROR_CANCELLED.
 * Long runs are cut into pieces of about 64 Ki elements; cancellable is looked at between them. */
gboolean tm_tensor_decode (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out,
                           GCancellable *cancellable, GError **error);
gboolean tm_tensor_decode_raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out,
                               GCancellable *cancellable, GError **error);
gboolean tm_tensor_decode_native (const TmTensor *tensor, guint64 first, gsize count, gpointer out,
                                  GCancellable *cancellable, GError **error);
/* n_rows × n_columns elements of the last two axes into out, row after row without gaps: row r begins at flat element
 * first + r × (length of the last axis) and must end in its row. At once where the codec can, else run by run. */
gboolean tm_tensor_decode_rectangle (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize n_rows,
                                     gsize n_columns, float *out, GCancellable *cancellable, GError **error);
/* Some values can be had: no fault, or one that only concerns the end of the tensor. */
gboolean tm_tensor_is_readable (const TmTensor *tensor);
gboolean tm_tensor_has_quantity (const TmTensor *tensor, TmQuantity quantity);
/* What tm_tensor_decode_native() writes: its dtype (F4 … F16 come as F32) and the size of one element in bytes. */
TmDtype tm_tensor_get_native_dtype (const TmTensor *tensor);
gsize tm_tensor_get_native_size (const TmTensor *tensor);

/* One scalar record. index: tensor->rank numbers. */
gboolean tm_tensor_explain (const TmTensor *tensor, const guint64 *index, TmScalar *scalar, GError **error);

/* How one scalar is packed. FALSE with TM_ERROR_QUANTITY where the codec has no picture of it (ordinary dtypes). */
gboolean tm_tensor_describe_block (const TmTensor *tensor, const guint64 *index, TmPacking *packing, GError **error);

/* Index arithmetic, checked against the shape by the caller. */
guint64 tm_tensor_flatten (const TmTensor *tensor, const guint64 *index);
void tm_tensor_unflatten (const TmTensor *tensor, guint64 flat, guint64 *index);

/* bytes × 8 / elements; 0 for an empty tensor. */
double tm_tensor_get_bits_per_weight (const TmTensor *tensor);

G_END_DECLS
