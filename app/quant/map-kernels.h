/* Loops under the codecs that go from packed codes to numbers in two steps: codes to bytes, bytes to values by groups.
 * Two builds as in kernels.h; both give the same bits. */
#pragma once

#include <glib.h>

/* How a code becomes a value, every operation rounded to binary32 in the order written. c: code, s, z: the group's. */
typedef enum
{
  TM_MAP_BOOK,    /* book[c] × s */
  TM_MAP_SIGNED,  /* c × s, the byte as two's complement */
  TM_MAP_ROW_MAX, /* (c × s) × f32(1/127), the byte as two's complement: bitsandbytes int8 */
  TM_MAP_SUB_MUL, /* (c − z) × s */
  TM_MAP_MUL_SUB, /* s × c − z */
  TM_MAP_MUL_ADD, /* s × c + z */
} TmMapForm;

#define TM_ONE_127TH 0.007874015718698502f

typedef struct
{
  /* n_eights × 8 codes of bits (2 … 6) each from a dense little-endian stream that begins at packed; up to 8 bytes more are
   * read than the codes take. */
  void (*unpack) (const guint8 *packed, gsize n_eights, guint bits, guint8 *codes);
  /* two codes a byte, the first in the high nibble */
  void (*unpack_high_first) (const guint8 *packed, gsize n_bytes, guint8 *codes);
  /* bits shift … of n bytes, or of n little-endian words of 4 bytes */
  void (*field8) (const guint8 *packed, gsize n, guint shift, guint mask, guint8 *codes);
  void (*field32) (const guint8 *packed, gsize n, guint shift, guint mask, guint8 *codes);
  /* n values; the first group has lost its first skip codes, the last may be short. book: n_book numbers (16 or 256). */
  void (*map) (TmMapForm form, const guint8 *codes, gsize n, gsize skip, gsize group, const float *s, const float *z,
               const float *book, guint n_book, float *out);
} TmMapKernels;

extern const TmMapKernels tm_map_kernels_portable;
#ifdef TM_HAVE_AVX2
extern const TmMapKernels tm_map_kernels_avx2;
#endif

/* Chosen once by the processor. */
const TmMapKernels *tm_map_kernels_get (void);
