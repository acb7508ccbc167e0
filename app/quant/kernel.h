/* Block kernels, a template: kernel-portable.c and kernel-avx2.c include it with other compiler options and another
 * TM_KERNELS. Every type has four small steps on one block, and the loops below combine them:
 *
 *   NAME_levels   gint8 levels: code − zero point, or the code book's number with its sign
 *   NAME_codes    raw codes exactly as stored (only where they are not level + zero point)
 *   NAME_scales   one effective scale S a group
 *   NAME_offsets  one offset O a group (types that add)
 *
 * All products S × L are exact in binary32, so the order of multiplication is free; signs of zeros follow from
 * multiplying the integer level by the scale. Bytes in the drawings count from the block's start, bits from the low end. */
#include "quant/half.h"
#include "quant/iq-table.h"
#include "quant/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* A byte's eight bits as eight bytes 0 or 1, in memory order. */
static inline guint64
expand_bits (guint8 byte)
{
  guint64 one_each = ((guint64) byte * 0x0101010101010101u) & 0x8040201008040201u;

  return GUINT64_TO_LE (((one_each + 0x7F7F7F7F7F7F7F7Fu) >> 7) & 0x0101010101010101u);
}

/* sixteen codes 0 … 15 through a table of sixteen numbers */
static inline void
lookup_16 (const gint8 table[16], const guint8 *codes, gint8 *out)
{
#ifdef __AVX2__
  __m128i t = _mm_loadu_si128 ((const __m128i *) (gconstpointer) table);
  __m128i c = _mm_loadu_si128 ((const __m128i *) (gconstpointer) codes);

  _mm_storeu_si128 ((__m128i *) (gpointer) out, _mm_shuffle_epi8 (t, c));
#else
  for (guint j = 0; j < 16; j++)
    out[j] = table[codes[j] & 15];
#endif
}

/* n bytes of nibbles: low nibbles first, then the high ones (n 8 or 16; 32 for K types) */
#define SPLIT_NIBBLES(qs, n, out) \
  G_STMT_START { \
    for (guint j_ = 0; j_ < (n); j_++) \
      { \
        (out)[j_] = (qs)[j_] & 15; \
        (out)[(n) + j_] = (qs)[j_] >> 4; \
      } \
  } G_STMT_END

#include "quant/kernel-simple.h"
#include "quant/kernel-k.h"
#include "quant/kernel-iq.h"
#include "quant/kernel-fp4.h"

/* --- Loops over blocks ------------------------------------------------------------------------------------------- */

#define LEVEL_LOOP(T, elements) \
  static void T##_level_blocks (const guint8 *b, gsize n_blocks, gint32 *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        gint8 level[elements]; \
        T##_levels (b, level); \
        for (guint e = 0; e < (elements); e++) \
          out[e] = level[e]; \
      } \
  }

#define RAW_FROM_LEVEL(T, elements, zero_point) \
  static void T##_raw_blocks (const guint8 *b, gsize n_blocks, gint32 *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        gint8 level[elements]; \
        T##_levels (b, level); \
        for (guint e = 0; e < (elements); e++) \
          out[e] = level[e] + (zero_point); \
      } \
  }

/* shared: neighbours that have one code in common (grids), else 1 */
#define RAW_FROM_CODES(T, elements, shared) \
  static void T##_raw_blocks (const guint8 *b, gsize n_blocks, gint32 *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        guint16 code[(elements) / (shared)]; \
        T##_codes (b, code); \
        for (guint e = 0; e < (elements); e++) \
          out[e] = code[e / (shared)]; \
      } \
  }

#define SCALE_LOOP(T, elements, group) \
  static void T##_scale_blocks (const guint8 *b, gsize n_blocks, float *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        float scale[(elements) / (group)]; \
        T##_scales (b, scale); \
        for (guint e = 0; e < (elements); e++) \
          out[e] = scale[e / (group)]; \
      } \
  }

#define OFFSET_LOOP(T, elements, group) \
  static void T##_offset_blocks (const guint8 *b, gsize n_blocks, float *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        float offset[(elements) / (group)]; \
        T##_offsets (b, offset); \
        for (guint e = 0; e < (elements); e++) \
          out[e] = offset[e / (group)]; \
      } \
  }

#define VALUES_SL(T, elements, group) \
  static void T##_value_blocks (const guint8 *b, gsize n_blocks, float *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        gint8 level[elements]; \
        float scale[(elements) / (group)]; \
        T##_levels (b, level); \
        T##_scales (b, scale); \
        for (guint g = 0; g < (elements) / (group); g++) \
          for (guint e = 0; e < (group); e++) \
            out[g * (group) + e] = scale[g] * (float) level[g * (group) + e]; \
      } \
  }

#define VALUES_SL_PLUS_O(T, elements, group) \
  static void T##_value_blocks (const guint8 *b, gsize n_blocks, float *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        gint8 level[elements]; \
        float scale[(elements) / (group)], offset[(elements) / (group)]; \
        T##_levels (b, level); \
        T##_scales (b, scale); \
        T##_offsets (b, offset); \
        for (guint g = 0; g < (elements) / (group); g++) \
          for (guint e = 0; e < (group); e++) \
            out[g * (group) + e] = scale[g] * (float) level[g * (group) + e] + offset[g]; \
      } \
  }

/* scale groups of `group`, offset groups of 8 */
#define VALUES_S_L_PLUS_O(T, elements, group, offset_group) \
  static void T##_value_blocks (const guint8 *b, gsize n_blocks, float *out) \
  { \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements)) \
      { \
        gint8 level[elements]; \
        float scale[(elements) / (group)], offset[(elements) / (offset_group)]; \
        T##_levels (b, level); \
        T##_scales (b, scale); \
        T##_offsets (b, offset); \
        for (guint g = 0; g < (elements) / 8; g++) \
          for (guint e = 0; e < 8; e++) \
            out[g * 8 + e] = scale[g * 8 / (group)] * ((float) level[g * 8 + e] + offset[g * 8 / (offset_group)]); \
      } \
  }

#define TYPE_INTEGER(T, elements, group, zero_point) \
  LEVEL_LOOP (T, elements) RAW_FROM_LEVEL (T, elements, zero_point) SCALE_LOOP (T, elements, group) \
  VALUES_SL (T, elements, group)
#define TYPE_AFFINE(T, elements, group) \
  LEVEL_LOOP (T, elements) RAW_FROM_LEVEL (T, elements, 0) SCALE_LOOP (T, elements, group) \
  OFFSET_LOOP (T, elements, group) VALUES_SL_PLUS_O (T, elements, group)
#define TYPE_BOOK(T, elements, group, shared) \
  LEVEL_LOOP (T, elements) RAW_FROM_CODES (T, elements, shared) SCALE_LOOP (T, elements, group) \
  VALUES_SL (T, elements, group)
#define TYPE_DELTA(T, elements, group, offset_group) \
  LEVEL_LOOP (T, elements) RAW_FROM_CODES (T, elements, 8) SCALE_LOOP (T, elements, group) \
  OFFSET_LOOP (T, elements, offset_group) VALUES_S_L_PLUS_O (T, elements, group, offset_group)

TYPE_INTEGER (Q4_0, 32, 32, 8)
TYPE_AFFINE (Q4_1, 32, 32)
TYPE_INTEGER (Q5_0, 32, 32, 16)
TYPE_AFFINE (Q5_1, 32, 32)
TYPE_INTEGER (Q8_0, 32, 32, 0)
TYPE_INTEGER (Q8_1, 32, 32, 0)
TYPE_INTEGER (Q8_K, 256, 256, 0)
TYPE_BOOK (Q1_0, 128, 128, 1)
TYPE_INTEGER (Q2_0, 64, 64, 1)
TYPE_AFFINE (Q2_K, 256, 16)
TYPE_INTEGER (Q3_K, 256, 16, 4)
TYPE_AFFINE (Q4_K, 256, 32)
TYPE_AFFINE (Q5_K, 256, 32)
TYPE_INTEGER (Q6_K, 256, 16, 32)
TYPE_INTEGER (TQ1_0, 256, 256, 1)
TYPE_INTEGER (TQ2_0, 256, 256, 1)
TYPE_BOOK (IQ4_NL, 32, 32, 1)
TYPE_BOOK (IQ4_XS, 256, 32, 1)
TYPE_BOOK (MXFP4, 32, 32, 1)
TYPE_BOOK (NVFP4, 64, 16, 1)
TYPE_BOOK (IQ2_XXS, 256, 32, 8)
TYPE_BOOK (IQ2_XS, 256, 16, 8)
TYPE_BOOK (IQ2_S, 256, 16, 8)
TYPE_BOOK (IQ3_XXS, 256, 32, 4)
TYPE_BOOK (IQ3_S, 256, 32, 4)
TYPE_DELTA (IQ1_S, 256, 32, 32)
TYPE_DELTA (IQ1_M, 256, 16, 8)

/* --- Rows of plain dtypes ---------------------------------------------------------------------------------------- */

static void
f16_row (const guint8 *packed, gsize n, float *out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = tm_half_to_float (tm_load_u16 (packed + 2 * i));
}

static void
bf16_row (const guint8 *packed, gsize n, float *out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = tm_bfloat_to_float (tm_load_u16 (packed + 2 * i));
}

#define ENTRY(T) [TM_DTYPE_##T] = { T##_value_blocks, T##_raw_blocks, T##_scale_blocks, NULL, T##_level_blocks }
#define ENTRY_O(T) \
  [TM_DTYPE_##T] = { T##_value_blocks, T##_raw_blocks, T##_scale_blocks, T##_offset_blocks, T##_level_blocks }

const TmKernels TM_KERNELS = {
  .block = {
    ENTRY (Q4_0), ENTRY_O (Q4_1), ENTRY (Q5_0), ENTRY_O (Q5_1), ENTRY (Q8_0), ENTRY (Q8_1), ENTRY_O (Q2_K),
    ENTRY (Q3_K), ENTRY_O (Q4_K), ENTRY_O (Q5_K), ENTRY (Q6_K), ENTRY (Q8_K), ENTRY (IQ2_XXS), ENTRY (IQ2_XS),
    ENTRY (IQ2_S), ENTRY (IQ3_XXS), ENTRY (IQ3_S), ENTRY_O (IQ1_S), ENTRY_O (IQ1_M), ENTRY (IQ4_NL), ENTRY (IQ4_XS),
    ENTRY (TQ1_0), ENTRY (TQ2_0), ENTRY (MXFP4), ENTRY (NVFP4), ENTRY (Q1_0), ENTRY (Q2_0),
  },
  .f16 = f16_row,
  .bf16 = bf16_row,
};
