/* Block kernels, a template: kernel-portable.c and kernel-avx2.c include it with other compiler options and another
 * TM_KERNELS. Every type has four small steps on one block, and the loops below combine them:
 *
 *   NAME_levels   gint8 levels: code − zero point, or the code book's number with its sign
 *   NAME_codes    raw codes exactly as stored (only where they are not level + zero point)
 *   NAME_scales   one effective scale S a group
 *   NAME_offsets  one offset O a group (types that add)
 *
 * All products S × L are exact in binary32, so the order of multiplication is free; signs of zeros follow from
 * multiplying the integer level by the scale. Bytes in the drawings count from the block's start, bits from the low
 * end. */
#include "quant/half.h"
#include "quant/iq-table.h"
#include "quant/kernels.h"

/* TM_PLAIN_C: as on a processor of another kind; for the test that all three give the same bits. */
#if defined __SSE2__ && !defined TM_PLAIN_C
#define TM_SSE2
#include <immintrin.h>
#endif

/* A byte's eight bits as eight bytes 0 or 1, in memory order. */
static inline guint64
expand_bits (guint8 byte)
{
  guint64 one_each = ((guint64)byte * 0x0101010101010101u) & 0x8040201008040201u;

  return GUINT64_TO_LE (((one_each + 0x7F7F7F7F7F7F7F7Fu) >> 7) & 0x0101010101010101u);
}

/* n bytes of nibbles through a table of sixteen numbers: low nibbles first, then the high ones (n 8 or 16) */
static inline void
lookup_nibbles (const gint8 table[16], const guint8 *restrict qs, guint n, gint8 *restrict out)
{
#ifdef __AVX2__
  const __m128i t = _mm_loadu_si128 ((const __m128i *)(gconstpointer)table), mask = _mm_set1_epi8 (15);
  __m128i q, low, high;

  if (n == 16)
    q = _mm_loadu_si128 ((const __m128i *)(gconstpointer)qs);
  else
    q = _mm_loadl_epi64 ((const __m128i *)(gconstpointer)qs);
  low = _mm_shuffle_epi8 (t, _mm_and_si128 (q, mask));
  high = _mm_shuffle_epi8 (t, _mm_and_si128 (_mm_srli_epi16 (q, 4), mask));
  if (n == 16)
    {
      _mm_storeu_si128 ((__m128i *)(gpointer)out, low);
      _mm_storeu_si128 ((__m128i *)(gpointer)(out + 16), high);
    }
  else
    _mm_storeu_si128 ((__m128i *)(gpointer)out, _mm_unpacklo_epi64 (low, high));
#else
  for (guint j = 0; j < n; j++)
    {
      out[j] = table[qs[j] & 15];
      out[n + j] = table[qs[j] >> 4];
    }
#endif
}

/* Eight levels times a scale, with and without an offset. Written out where the compiler's own vectors are poor. */
#if defined __AVX2__
typedef __m256 Eight;
#define EIGHT(x) _mm256_set1_ps (x)
#define EIGHT_LEVELS(p)                                                                                                \
  _mm256_cvtepi32_ps (_mm256_cvtepi8_epi32 (_mm_loadl_epi64 ((const __m128i *)(gconstpointer)(p))))
#define EIGHT_CODES EIGHT_LEVELS
#define EIGHT_MULTIPLY(a, b) _mm256_mul_ps (a, b)
#define EIGHT_ADD(a, b) _mm256_add_ps (a, b)
#define EIGHT_STORE(p, x) _mm256_storeu_ps (p, x)
#elif defined TM_SSE2
typedef struct
{
  __m128 a, b;
} Eight;
#define EIGHT(x) ((Eight){ _mm_set1_ps (x), _mm_set1_ps (x) })
static inline Eight
EIGHT_LEVELS (const gint8 *p)
{
  __m128i x = _mm_loadl_epi64 ((const __m128i *)(gconstpointer)p);

  x = _mm_srai_epi16 (_mm_unpacklo_epi8 (x, x), 8);
  return (Eight){ _mm_cvtepi32_ps (_mm_srai_epi32 (_mm_unpacklo_epi16 (x, x), 16)),
                  _mm_cvtepi32_ps (_mm_srai_epi32 (_mm_unpackhi_epi16 (x, x), 16)) };
}
/* The same where no level is negative. */
static inline Eight
EIGHT_CODES (const gint8 *p)
{
  const __m128i zero = _mm_setzero_si128 ();
  __m128i x = _mm_unpacklo_epi8 (_mm_loadl_epi64 ((const __m128i *)(gconstpointer)p), zero);

  return (Eight){ _mm_cvtepi32_ps (_mm_unpacklo_epi16 (x, zero)), _mm_cvtepi32_ps (_mm_unpackhi_epi16 (x, zero)) };
}
#define EIGHT_MULTIPLY(x, y) ((Eight){ _mm_mul_ps ((x).a, (y).a), _mm_mul_ps ((x).b, (y).b) })
#define EIGHT_ADD(x, y) ((Eight){ _mm_add_ps ((x).a, (y).a), _mm_add_ps ((x).b, (y).b) })
#define EIGHT_STORE(p, x) (_mm_storeu_ps (p, (x).a), _mm_storeu_ps ((p) + 4, (x).b))
#else
typedef struct
{
  float x[8];
} Eight;
static inline Eight
EIGHT (float x)
{
  return (Eight){ { x, x, x, x, x, x, x, x } };
}
static inline Eight
EIGHT_LEVELS (const gint8 *p)
{
  Eight r;
  for (guint i = 0; i < 8; i++)
    r.x[i] = (float)p[i];
  return r;
}
#define EIGHT_CODES EIGHT_LEVELS
static inline Eight
EIGHT_MULTIPLY (Eight a, Eight b)
{
  for (guint i = 0; i < 8; i++)
    a.x[i] *= b.x[i];
  return a;
}
static inline Eight
EIGHT_ADD (Eight a, Eight b)
{
  for (guint i = 0; i < 8; i++)
    a.x[i] += b.x[i];
  return a;
}
#define EIGHT_STORE(p, r) memcpy (p, (r).x, sizeof (r).x)
#endif

/* n bytes of nibbles: low nibbles first, then the high ones (n 8 or 16; 32 for K types) */
#define SPLIT_NIBBLES(qs, n, out)                                                                                      \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    for (guint j_ = 0; j_ < (n); j_++)                                                                                 \
      {                                                                                                                \
        (out)[j_] = (qs)[j_] & 15;                                                                                     \
        (out)[(n) + j_] = (qs)[j_] >> 4;                                                                               \
      }                                                                                                                \
  }                                                                                                                    \
  G_STMT_END

#include "quant/kernel-simple.h"
#include "quant/kernel-k.h"
#include "quant/kernel-iq.h"
#include "quant/kernel-fp4.h"

/* --- Loops over blocks ------------------------------------------------------------------------------------------- */

#define LEVEL_LOOP(T, elements)                                                                                        \
  static void T##_level_blocks (const guint8 *restrict b, gsize n_blocks, gint32 *restrict out)                        \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      {                                                                                                                \
        gint8 level[elements];                                                                                         \
        T##_levels (b, level);                                                                                         \
        for (guint e = 0; e < (elements); e++)                                                                         \
          out[e] = level[e];                                                                                           \
      }                                                                                                                \
  }

#define RAW_FROM_LEVEL(T, elements, zero_point)                                                                        \
  static void T##_raw_blocks (const guint8 *restrict b, gsize n_blocks, gint32 *restrict out)                          \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      {                                                                                                                \
        gint8 level[elements];                                                                                         \
        T##_levels (b, level);                                                                                         \
        for (guint e = 0; e < (elements); e++)                                                                         \
          out[e] = level[e] + (zero_point);                                                                            \
      }                                                                                                                \
  }

/* shared: neighbours that have one code in common (grids), else 1 */
#define RAW_FROM_CODES(T, elements, shared)                                                                            \
  static void T##_raw_blocks (const guint8 *restrict b, gsize n_blocks, gint32 *restrict out)                          \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      {                                                                                                                \
        guint16 code[(elements) / (shared)];                                                                           \
        T##_codes (b, code);                                                                                           \
        for (guint e = 0; e < (elements); e++)                                                                         \
          out[e] = code[e / (shared)];                                                                                 \
      }                                                                                                                \
  }

#define SCALE_LOOP(T, elements, group)                                                                                 \
  static void T##_scale_blocks (const guint8 *restrict b, gsize n_blocks, float *restrict out)                         \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      {                                                                                                                \
        float scale[(elements) / (group)];                                                                             \
        T##_scales (b, scale);                                                                                         \
        for (guint e = 0; e < (elements); e++)                                                                         \
          out[e] = scale[e / (group)];                                                                                 \
      }                                                                                                                \
  }

#define OFFSET_LOOP(T, elements, group)                                                                                \
  static void T##_offset_blocks (const guint8 *restrict b, gsize n_blocks, float *restrict out)                        \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      {                                                                                                                \
        float offset[(elements) / (group)];                                                                            \
        T##_offsets (b, offset);                                                                                       \
        for (guint e = 0; e < (elements); e++)                                                                         \
          out[e] = offset[e / (group)];                                                                                \
      }                                                                                                                \
  }

/* Values go in two passes over a batch of blocks that stays in the nearest cache: levels as bytes, then the products.
 * Each pass is one kind of loop, which vectorises well, and no load waits for the narrower stores just before it. */
#define BATCH_ELEMENTS 2048

#define VALUES(T, elements, product, ...)                                                                              \
  static void T##_value_blocks (const guint8 *restrict b, gsize n_blocks, float *restrict out)                         \
  {                                                                                                                    \
    gint8 levels[BATCH_ELEMENTS];                                                                                      \
    while (n_blocks > 0)                                                                                               \
      {                                                                                                                \
        const gsize n = MIN (n_blocks, BATCH_ELEMENTS / (elements));                                                   \
        for (gsize i = 0; i < n; i++)                                                                                  \
          T##_levels (b + i * T##_BYTES, levels + i * (elements));                                                     \
        for (gsize i = 0; i < n; i++, b += T##_BYTES, out += (elements))                                               \
          product (T, elements, __VA_ARGS__, (levels + i * (elements)));                                               \
        n_blocks -= n;                                                                                                 \
      }                                                                                                                \
  }

#define PRODUCT_SL(T, elements, group, level)                                                                          \
  {                                                                                                                    \
    float scale[(elements) / (group)];                                                                                 \
    T##_scales (b, scale);                                                                                             \
    for (guint g = 0; g < (elements) / (group); g++)                                                                   \
      {                                                                                                                \
        const Eight s = EIGHT (scale[g]);                                                                              \
        for (guint e = g * (group); e < (g + 1) * (group); e += 8)                                                     \
          EIGHT_STORE (out + e, EIGHT_MULTIPLY (s, EIGHT_LEVELS (level + e)));                                         \
      }                                                                                                                \
  }

#define PRODUCT_SL_PLUS_O(T, elements, group, level)                                                                   \
  {                                                                                                                    \
    float scale[(elements) / (group)], offset[(elements) / (group)];                                                   \
    T##_scales (b, scale);                                                                                             \
    T##_offsets (b, offset);                                                                                           \
    for (guint g = 0; g < (elements) / (group); g++)                                                                   \
      {                                                                                                                \
        const Eight s = EIGHT (scale[g]), o = EIGHT (offset[g]);                                                       \
        for (guint e = g * (group); e < (g + 1) * (group); e += 8)                                                     \
          EIGHT_STORE (out + e, EIGHT_ADD (EIGHT_MULTIPLY (s, EIGHT_CODES (level + e)), o));                           \
      }                                                                                                                \
  }

#define PRODUCT_S_L_PLUS_O(T, elements, group, offset_group, level)                                                    \
  {                                                                                                                    \
    float scale[(elements) / (group)], offset[(elements) / (offset_group)];                                            \
    T##_scales (b, scale);                                                                                             \
    T##_offsets (b, offset);                                                                                           \
    for (guint e = 0; e < (elements); e += 8)                                                                          \
      EIGHT_STORE (out + e,                                                                                            \
                   EIGHT_MULTIPLY (EIGHT (scale[e / (group)]),                                                         \
                                   EIGHT_ADD (EIGHT_LEVELS (level + e), EIGHT (offset[e / (offset_group)]))));         \
  }

/* Whole bytes need no unpacking. */
#define VALUES_BYTES(T, elements, first)                                                                               \
  static void T##_value_blocks (const guint8 *restrict b, gsize n_blocks, float *restrict out)                         \
  {                                                                                                                    \
    for (gsize i = 0; i < n_blocks; i++, b += T##_BYTES, out += (elements))                                            \
      PRODUCT_SL (T, elements, elements, ((const gint8 *)b + (first)))                                                 \
  }

#define TYPE_INTEGER(T, elements, group, zero_point)                                                                   \
  LEVEL_LOOP (T, elements)                                                                                             \
  RAW_FROM_LEVEL (T, elements, zero_point) SCALE_LOOP (T, elements, group) VALUES (T, elements, PRODUCT_SL, group)
#define TYPE_AFFINE(T, elements, group)                                                                                \
  LEVEL_LOOP (T, elements)                                                                                             \
  RAW_FROM_LEVEL (T, elements, 0) SCALE_LOOP (T, elements, group) OFFSET_LOOP (T, elements, group)                     \
      VALUES (T, elements, PRODUCT_SL_PLUS_O, group)
#define TYPE_BYTES(T, elements, first)                                                                                 \
  LEVEL_LOOP (T, elements)                                                                                             \
  RAW_FROM_LEVEL (T, elements, 0) SCALE_LOOP (T, elements, elements) VALUES_BYTES (T, elements, first)
#define TYPE_BOOK(T, elements, group, shared)                                                                          \
  LEVEL_LOOP (T, elements)                                                                                             \
  RAW_FROM_CODES (T, elements, shared) SCALE_LOOP (T, elements, group) VALUES (T, elements, PRODUCT_SL, group)
#define TYPE_DELTA(T, elements, group, offset_group)                                                                   \
  LEVEL_LOOP (T, elements)                                                                                             \
  RAW_FROM_CODES (T, elements, 8) SCALE_LOOP (T, elements, group) OFFSET_LOOP (T, elements, offset_group)              \
      VALUES (T, elements, PRODUCT_S_L_PLUS_O, group, offset_group)

TYPE_INTEGER (Q4_0, 32, 32, 8)
TYPE_AFFINE (Q4_1, 32, 32)
TYPE_INTEGER (Q5_0, 32, 32, 16)
TYPE_AFFINE (Q5_1, 32, 32)
TYPE_BYTES (Q8_0, 32, 2)
TYPE_BYTES (Q8_1, 32, 4)
TYPE_BYTES (Q8_K, 256, 4)
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

#include "quant/kernel-row.h"
#include "quant/kernel-integer.h"

#define ENTRY(T) [TM_DTYPE_##T] = { T##_value_blocks, T##_raw_blocks, T##_scale_blocks, NULL, T##_level_blocks }
#define ENTRY_O(T)                                                                                                     \
  [TM_DTYPE_##T] = { T##_value_blocks, T##_raw_blocks, T##_scale_blocks, T##_offset_blocks, T##_level_blocks }

const TmKernels TM_KERNELS = {
  .integer = { scale_codes, scale_codes_offset, scale_codes_by_index, look_up, spread_columns, turn_nibbles,
                scale_ribbon, split_nibbles, split_pairs, untile, unpack_eights },
  .block = {
    ENTRY (Q4_0), ENTRY_O (Q4_1), ENTRY (Q5_0), ENTRY_O (Q5_1), ENTRY (Q8_0), ENTRY (Q8_1), ENTRY_O (Q2_K),
    ENTRY (Q3_K), ENTRY_O (Q4_K), ENTRY_O (Q5_K), ENTRY (Q6_K), ENTRY (Q8_K), ENTRY (IQ2_XXS), ENTRY (IQ2_XS),
    ENTRY (IQ2_S), ENTRY (IQ3_XXS), ENTRY (IQ3_S), ENTRY_O (IQ1_S), ENTRY_O (IQ1_M), ENTRY (IQ4_NL), ENTRY (IQ4_XS),
    ENTRY (TQ1_0), ENTRY (TQ2_0), ENTRY (MXFP4), ENTRY (NVFP4), ENTRY (Q1_0), ENTRY (Q2_0),
  },
  .row = {
    [TM_DTYPE_F64] = f64_row, [TM_DTYPE_F16] = f16_row, [TM_DTYPE_BF16] = bf16_row, [TM_DTYPE_I64] = i64_row,
    [TM_DTYPE_U64] = u64_row, [TM_DTYPE_I32] = i32_row, [TM_DTYPE_U32] = u32_row, [TM_DTYPE_I16] = i16_row,
    [TM_DTYPE_U16] = u16_row, [TM_DTYPE_I8] = i8_row, [TM_DTYPE_U8] = u8_row, [TM_DTYPE_BOOL] = bool_row,
    [TM_DTYPE_C64] = c64_row, [TM_DTYPE_C128] = c128_row, [TM_DTYPE_F32] = f32_row,
  },
};
