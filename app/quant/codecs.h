/* Codecs: one a scheme family. A logical tensor gets its codec, scheme and granularity from here. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

/* Sets dtype, quantized, scheme, granularity, codec (and fault) of a logical tensor whose first operand alone holds it:
 * plain dtypes and ggml block types. tensor has its name, shape, operands and values set. */
void tm_codec_attach_simple (TmTensor *tensor);

/* NVFP4 of ggml with a per-tensor (or per-expert) F32 companion: value = block value × companion (formats/ggml.md 3.6). */
void tm_codec_attach_nvfp4_companion (TmTensor *tensor, const TmStored *companion);

/* --- One ggml block type, for benchmarks and tests. NULL for plain dtypes. --------------------------------------- */
typedef struct
{
  TmDtype dtype;
  guint granularity;  /* elements that share one effective scale */
  /* n_blocks packed blocks → block_elements × n_blocks numbers. packed need not be aligned. */
  void (*values) (const guint8 *packed, gsize n_blocks, float *out);
  void (*raw) (const guint8 *packed, gsize n_blocks, gint32 *out);
  void (*scale) (const guint8 *packed, gsize n_blocks, float *out);
  void (*offset) (const guint8 *packed, gsize n_blocks, float *out); /* NULL where the type has none */
} TmBlockCodec;
const TmBlockCodec *tm_block_codec_get (TmDtype dtype);

G_END_DECLS
