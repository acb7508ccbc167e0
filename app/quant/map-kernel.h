/* Template of map-portable.c and map-avx2.c, which define TM_MAP_KERNELS. */
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "quant/half.h"
#include "quant/map-kernels.h"

/* --- Codes to bytes -------------------------------------------------------------------------------------------------- */

/* Eight codes of b bits spread to eight bytes by halves. */
#define SPREAD(b)                                                                                                      \
  static inline guint64 spread_##b (guint64 x)                                                                         \
  {                                                                                                                    \
    const guint64 m4 = ((guint64) 1 << (4 * (b))) - 1, m2 = (((guint64) 1 << (2 * (b))) - 1) * 0x0000000100000001u;    \
    const guint64 m1 = (((guint64) 1 << (b)) - 1) * 0x0001000100010001u;                                               \
    x = (x & m4) | ((x >> (4 * (b))) & m4) << 32;                                                                      \
    x = (x & m2) | ((x >> (2 * (b))) & m2) << 16;                                                                      \
    return (x & m1) | ((x >> (b)) & m1) << 8;                                                                          \
  }                                                                                                                    \
  static void unpack_##b (const guint8 *restrict packed, gsize n_eights, guint8 *restrict codes)                       \
  {                                                                                                                    \
    for (gsize i = 0; i < n_eights; i++, packed += (b), codes += 8)                                                    \
      {                                                                                                                \
        guint64 x = GUINT64_TO_LE (spread_##b (tm_load_u64 (packed)));                                                 \
        memcpy (codes, &x, 8);                                                                                         \
      }                                                                                                                \
  }
SPREAD (2)
SPREAD (3)
SPREAD (5)
SPREAD (6)

static void
unpack_4 (const guint8 *restrict packed, gsize n_bytes, guint8 *restrict codes)
{
  for (gsize i = 0; i < n_bytes; i++)
    {
      codes[2 * i] = packed[i] & 15;
      codes[2 * i + 1] = packed[i] >> 4;
    }
}

static void
unpack_high_first (const guint8 *restrict packed, gsize n_bytes, guint8 *restrict codes)
{
  for (gsize i = 0; i < n_bytes; i++)
    {
      codes[2 * i] = packed[i] >> 4;
      codes[2 * i + 1] = packed[i] & 15;
    }
}

static void
unpack (const guint8 *packed, gsize n_eights, guint bits, guint8 *codes)
{
  switch (bits)
    {
    case 2:
      unpack_2 (packed, n_eights, codes);
      break;
    case 3:
      unpack_3 (packed, n_eights, codes);
      break;
    case 4:
      unpack_4 (packed, 4 * n_eights, codes);
      break;
    case 5:
      unpack_5 (packed, n_eights, codes);
      break;
    case 6:
    default:
      unpack_6 (packed, n_eights, codes);
      break;
    }
}

/* Shifts that the compiler knows: it has vectors of bytes for those. */
static void
field8 (const guint8 *restrict packed, gsize n, guint shift, guint mask_, guint8 *restrict codes)
{
  const guint8 mask = (guint8) mask_;

#define SHIFT(k)                                                                                                       \
  case k:                                                                                                              \
    for (gsize i = 0; i < n; i++)                                                                                      \
      codes[i] = (guint8) (packed[i] >> (k)) & mask;                                                                   \
    break;
  switch (shift)
    {
      SHIFT (0)
      SHIFT (1)
      SHIFT (2)
      SHIFT (3)
      SHIFT (4)
      SHIFT (5)
      SHIFT (6)
      SHIFT (7)
    default:
      break;
    }
#undef SHIFT
}

static void
field32 (const guint8 *restrict packed, gsize n, guint shift, guint mask, guint8 *restrict codes)
{
  for (gsize i = 0; i < n; i++)
    codes[i] = (guint8) (tm_load_u32 (packed + 4 * i) >> shift & mask);
}

/* --- Bytes to values ------------------------------------------------------------------------------------------------- */

#define GROUP_LOOP(name, expression)                                                                                   \
  static inline void name##_group (const guint8 *restrict code, gsize n, float s, float z, float *restrict out)        \
  {                                                                                                                    \
    (void) z;                                                                                                          \
    for (gsize i = 0; i < n; i++)                                                                                      \
      out[i] = expression;                                                                                             \
  }                                                                                                                    \
  static void name##_single (const guint8 *restrict code, gsize n, const float *restrict s_, const float *restrict z_, \
                             float *restrict out)                                                                      \
  {                                                                                                                    \
    for (gsize i = 0; i < n; i++)                                                                                      \
      {                                                                                                                \
        const float s = s_[i], z = z_ ? z_[i] : 0;                                                                     \
        (void) z;                                                                                                      \
        out[i] = expression;                                                                                           \
      }                                                                                                                \
  }

GROUP_LOOP (as_signed, (float) (gint8) code[i] * s)
GROUP_LOOP (row_max, ((float) (gint8) code[i] * s) * TM_ONE_127TH)
GROUP_LOOP (sub_mul, ((float) code[i] - z) * s)
GROUP_LOOP (mul_sub, s *(float) code[i] - z)
GROUP_LOOP (mul_add, s *(float) code[i] + z)

/* The book times the scale first: as few products as there are codes, and the same single rounding. */
static inline void
book16_group (const guint8 *restrict code, gsize n, float s, const float *restrict book, float *restrict out)
{
  gsize i = 0;

#ifdef __AVX2__
  const __m256 scale = _mm256_set1_ps (s);
  const __m256 low = _mm256_mul_ps (_mm256_loadu_ps (book), scale);
  const __m256 high = _mm256_mul_ps (_mm256_loadu_ps (book + 8), scale);

  for (; i + 8 <= n; i += 8)
    {
      __m256i c = _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) (gconstpointer) (code + i)));
      __m256 a = _mm256_permutevar8x32_ps (low, c), b = _mm256_permutevar8x32_ps (high, c);

      /* bit 3 of the code as the sign that the blend looks at */
      _mm256_storeu_ps (out + i, _mm256_blendv_ps (a, b, _mm256_castsi256_ps (_mm256_slli_epi32 (c, 28))));
    }
  for (; i < n; i++)
    out[i] = book[code[i]] * s;
#else
  if (n >= 16)
    {
      float scaled[16];

      for (guint c = 0; c < 16; c++)
        scaled[c] = book[c] * s;
      for (; i < n; i++)
        out[i] = scaled[code[i]];
    }
  for (; i < n; i++)
    out[i] = book[code[i]] * s;
#endif
}

static inline void
book256_group (const guint8 *restrict code, gsize n, float s, const float *restrict book, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = book[code[i]] * s;
}

#define EVERY_GROUP(call)                                                                                              \
  for (gsize at = 0, g = 0, k; at < n; at += k, g++, skip = 0)                                                         \
    {                                                                                                                  \
      k = MIN (n - at, group - skip);                                                                                  \
      call;                                                                                                            \
    }

/* Groups of the customary lengths: the loop inside is of a length the compiler knows. */
#define ARITHMETIC(form, name)                                                                                         \
  case form:                                                                                                           \
    if (group == 1)                                                                                                    \
      name##_single (codes, n, s, z, out);                                                                             \
    else                                                                                                               \
      EVERY_GROUP (name##_group (codes + at, k, s[g], z ? z[g] : 0, out + at))                                         \
    break;

static void
map (TmMapForm form, const guint8 *codes, gsize n, gsize skip, gsize group, const float *s, const float *z,
     const float *book, guint n_book, float *out)
{
  switch (form)
    {
    case TM_MAP_BOOK:
      if (n_book > 16)
        EVERY_GROUP (book256_group (codes + at, k, s[g], book, out + at))
      else if (group == 16 && skip == 0 && n % 16 == 0)
        for (gsize g = 0; g < n / 16; g++)
          book16_group (codes + 16 * g, 16, s[g], book, out + 16 * g);
      else if (group == 32 && skip == 0 && n % 32 == 0)
        for (gsize g = 0; g < n / 32; g++)
          book16_group (codes + 32 * g, 32, s[g], book, out + 32 * g);
      else
        EVERY_GROUP (book16_group (codes + at, k, s[g], book, out + at))
      break;
      ARITHMETIC (TM_MAP_SIGNED, as_signed)
      ARITHMETIC (TM_MAP_ROW_MAX, row_max)
      ARITHMETIC (TM_MAP_SUB_MUL, sub_mul)
      ARITHMETIC (TM_MAP_MUL_SUB, mul_sub)
    case TM_MAP_MUL_ADD:
    default:
      if (group == 1)
        mul_add_single (codes, n, s, z, out);
      else
        EVERY_GROUP (mul_add_group (codes + at, k, s[g], z ? z[g] : 0, out + at))
      break;
    }
}

const TmMapKernels TM_MAP_KERNELS = { unpack, unpack_high_first, field8, field32, map };
