/* Codecs: one a scheme family. A logical tensor gets its codec, scheme and granularity from here. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* Sets dtype, quantized, scheme, granularity, codec (and fault) of a logical tensor whose first operand alone holds it:
 * plain dtypes and ggml block types. tensor has its name, shape, operands and values set. */
void tm_codec_attach_simple (TmTensor *tensor);

/* A stored tensor as a logical one with its plain codec: the packed words themselves. Not after the model. (transfer full) */
TmTensor *tm_tensor_new_stored (TmModel *model, guint stored);

/* A dtype that is unknown here: its bytes as they are, U8 in one axis. tensor as above; shape and stride are replaced.
 * FALSE, and nothing changed, where there are no bytes. */
gboolean tm_codec_attach_bytes (TmTensor *tensor);

/* NVFP4 of ggml with a per-tensor (or per-expert) F32 companion: value = block value × companion (formats/ggml.md 3.6).
 */
void tm_codec_attach_nvfp4_companion (TmTensor *tensor, const TmStored *companion);

/* --- One ggml block type: how it is packed and decoded. NULL for plain dtypes. ------------------------------------ */

typedef enum
{
  TM_FIELD_F16, /* little-endian binary16 */
  TM_FIELD_F32,
  TM_FIELD_E8M0,  /* power of two, one byte */
  TM_FIELD_UE4M3, /* float8 without a sign, one byte each */
  TM_FIELD_I8,
  TM_FIELD_I16,
  TM_FIELD_U8,  /* whole bytes: grid indices */
  TM_FIELD_U16, /* 16-bit words cut into bit fields */
  TM_FIELD_U32,
  TM_FIELD_6_BITS, /* scale codes packed across bytes */
  TM_FIELD_NIBBLES,
  TM_FIELD_2_BITS,
  TM_FIELD_1_BIT,
  TM_FIELD_TRITS, /* base-3 digits */
} TmFieldKind;

typedef struct
{
  const char *name;    /* as in the formula and the facts: "d", "scales", "qs" */
  guint offset, bytes; /* within the block */
  TmFieldKind kind;
  const char *meaning; /* a few words: "low four bits of the codes" */
} TmBlockField;

/* How value comes from scale S, level L and offset O, in binary32. */
typedef enum
{
  TM_FORM_SL,        /* S × L */
  TM_FORM_SL_PLUS_O, /* S × L + O: one rounding */
  TM_FORM_S_L_PLUS_O /* S × (L + O): IQ1 */
} TmBlockForm;

typedef struct
{
  TmDtype dtype;
  guint granularity; /* elements that share one effective scale */
  /* n_blocks packed blocks → block_elements × n_blocks numbers. packed need not be aligned. */
  void (*values) (const guint8 *packed, gsize n_blocks, float *out);
  void (*raw) (const guint8 *packed, gsize n_blocks, gint32 *out);
  void (*scale) (const guint8 *packed, gsize n_blocks, float *out);
  void (*offset) (const guint8 *packed, gsize n_blocks, float *out); /* NULL where the type has none */
  void (*level) (const guint8 *packed, gsize n_blocks, gint32 *out); /* the integer that the scale multiplies */
  TmBlockForm form;
  gint zero_point;     /* L = raw − zero_point; −1 where L comes from a code book */
  const char *formula; /* static */
  const TmBlockField *field;
  guint n_fields;
  gboolean big_endian_known; /* a file of the other byte order is known to swap its fp16 fields and nothing else */
} TmBlockCodec;
const TmBlockCodec *tm_block_codec_get (TmDtype dtype);
/* The same in portable C alone, where tm_block_codec_get() may choose instructions by the processor. */
const TmBlockCodec *tm_block_codec_get_portable (TmDtype dtype);

/* Elements of a plain dtype as float32, n of them packed from the first byte on (F32 F16 BF16 float8 …: 8 bits or
 * more). */
typedef void (*TmRowKernel) (const guint8 *packed, gsize n, float *out);
TmRowKernel tm_row_kernel_get (TmDtype dtype); /* NULL where there is none */
TmRowKernel tm_row_kernel_get_portable (TmDtype dtype);

G_END_DECLS
