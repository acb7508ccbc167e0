/* Shared by the codecs of this room. */
#pragma once

#include "quant/codecs.h"
#include "quant/operand.h"

/* Packed bytes that a codec reads at once: on the stack, and a whole number of blocks of any type fits many times. */
#define TM_READ_BYTES 65536u

extern const TmCodec tm_codec_plain, tm_codec_ggml;

/* A block's record: everything but tensor, index and group. base: offset of the block in the file. */
void tm_block_explain (TmDtype dtype, const guint8 *block, guint element, TmSource *source, guint64 base,
                       TmScalar *scalar);
/* The block's picture. stored and first: the tensor that holds it, and the block's first byte in that. */
void tm_block_describe (TmDtype dtype, const guint8 *block, guint element, const TmStored *stored, guint64 first,
                        TmPacking *packing);

/* The block of the finest level. */
void tm_explain_group (const TmTensor *tensor, TmScalar *scalar);
