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

typedef struct
{
  TmBlockKernels block[TM_N_DTYPES];
  TmRowKernel row[TM_N_DTYPES]; /* float8 go through tables instead */
} TmKernels;

extern const TmKernels tm_kernels_portable;
#ifdef TM_HAVE_AVX2
extern const TmKernels tm_kernels_avx2;
#endif

/* Chosen once by the processor. */
const TmKernels *tm_kernels_get (void);
