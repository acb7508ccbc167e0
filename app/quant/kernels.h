/* The two builds of the kernels. The portable one is always there; both give the same bits. */
#pragma once

#include "quant/codecs.h"

typedef struct
{
  void (*values) (const guint8 *packed, gsize n_blocks, float *out);
  void (*raw) (const guint8 *packed, gsize n_blocks, gint32 *out);
  void (*scale) (const guint8 *packed, gsize n_blocks, float *out);
  void (*offset) (const guint8 *packed, gsize n_blocks, float *out);
  void (*level) (const guint8 *packed, gsize n_blocks, gint32 *out);
} TmBlockKernels;

/* Integer codes of a byte each (kernel-integer.h). */
typedef struct
{
  void (*scale) (const guint8 *codes, gsize n, guint8 flip, float scale, float zero, float *out);
  void (*scale_offset) (const guint8 *codes, gsize n, float scale, float offset, float *out);
  void (*scale_by_index) (const guint8 *codes, gsize n, guint8 flip, const guint32 *group, const float *scales,
                          const float *zeros, float *out);
  void (*look_up) (const guint8 *codes, gsize n, guint bits, const guint32 *group, const float *table, float *out);
  void (*spread_columns) (const guint8 *band, gsize pitch, gsize n_lines, guint bits, gsize n_words, guint8 *out,
                          gsize out_pitch);
  void (*turn_nibbles) (const guint8 *packed, gsize pitch, gsize n, gsize n_rows, const guint8 nibble[8], guint8 *out,
                        gsize out_pitch);
  void (*scale_ribbon) (const guint8 *ribbon, guint bits, gsize first, gsize n, guint8 flip, const guint32 *group,
                        const float *scales, const float *zeros, gsize pitch, float *const row[8]);
  void (*split_nibbles) (const guint8 *packed, gsize n, guint8 *out);
  void (*split_pairs) (const guint8 *packed, gsize n, guint8 *low, guint8 *high);
  void (*untile) (const guint8 *packed, gsize n, guint8 *out);
  void (*unpack_eights) (const guint8 *packed, gsize n, guint bits, guint8 *out);
} TmIntegerKernels;

typedef struct
{
  TmIntegerKernels integer;
  TmBlockKernels block[TM_N_DTYPES];
  TmRowKernel row[TM_N_DTYPES]; /* float8 go through tables instead */
} TmKernels;

extern const TmKernels tm_kernels_portable;
#ifdef TM_HAVE_AVX2
extern const TmKernels tm_kernels_avx2;
#endif

/* Chosen once by the processor. */
const TmKernels *tm_kernels_get (void);
