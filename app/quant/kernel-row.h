/* Rows of plain dtypes as binary32. Part of kernel.h. */

#ifdef __AVX2__
/* Numbers before the first that begins 32 bytes: a store across two cache lines costs as much as two. */
static inline gsize
numbers_before_line (const float *out, gsize n)
{
  return MIN (n, (0 - (guintptr)out / sizeof *out) % 8);
}
#endif

static void
f16_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
  gsize i = 0;

#if defined __AVX2__ && defined __F16C__
  for (const gsize before = numbers_before_line (out, n); i < before; i++)
    out[i] = tm_half_to_float (tm_load_u16 (packed + 2 * i));
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps (out + i, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *)(gconstpointer)(packed + 2 * i))));
#endif
  for (; i < n; i++)
    out[i] = tm_half_to_float (tm_load_u16 (packed + 2 * i));
}

static void
bf16_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
  gsize i = 0;

#if defined __AVX2__
  for (const gsize before = numbers_before_line (out, n); i < before; i++)
    out[i] = tm_bfloat_to_float (tm_load_u16 (packed + 2 * i));
  for (; i + 16 <= n; i += 16)
    for (gsize j = i; j < i + 16; j += 8)
      {
        __m128i x = _mm_loadu_si128 ((const __m128i *)(gconstpointer)(packed + 2 * j));

        _mm256_storeu_si256 ((__m256i *)(gpointer)(out + j), _mm256_slli_epi32 (_mm256_cvtepu16_epi32 (x), 16));
      }
#elif defined TM_SSE2
  for (; i + 8 <= n; i += 8)
    {
      __m128i x = _mm_loadu_si128 ((const __m128i *)(gconstpointer)(packed + 2 * i)), zero = _mm_setzero_si128 ();

      _mm_storeu_si128 ((__m128i *)(gpointer)(out + i), _mm_unpacklo_epi16 (zero, x));
      _mm_storeu_si128 ((__m128i *)(gpointer)(out + i + 4), _mm_unpackhi_epi16 (zero, x));
    }
#endif
  for (; i < n; i++)
    out[i] = tm_bfloat_to_float (tm_load_u16 (packed + 2 * i));
}

#define NUMBER_ROW(name, type, load)                                                                                   \
  static void name (const guint8 *restrict packed, gsize n, float *restrict out)                                       \
  {                                                                                                                    \
    for (gsize i = 0; i < n; i++)                                                                                      \
      out[i] = (float)(type)load (packed + i * sizeof (type));                                                         \
  }

#define LOAD_BYTE(p) (*(p))
#define LOAD_F64(p) tm_double_from_bits (tm_load_u64 (p))
NUMBER_ROW (f64_row, double, LOAD_F64)
NUMBER_ROW (i64_row, gint64, tm_load_u64)
NUMBER_ROW (u64_row, guint64, tm_load_u64)
NUMBER_ROW (i32_row, gint32, tm_load_u32)
NUMBER_ROW (u32_row, guint32, tm_load_u32)
NUMBER_ROW (i16_row, gint16, tm_load_u16)
NUMBER_ROW (u16_row, guint16, tm_load_u16)
NUMBER_ROW (i8_row, gint8, LOAD_BYTE)
NUMBER_ROW (u8_row, guint8, LOAD_BYTE)

static void
f32_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  memcpy (out, packed, n * sizeof *out);
#else
  for (gsize i = 0; i < n; i++)
    out[i] = tm_load_f32 (packed + 4 * i);
#endif
}

static void
bool_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = packed[i] != 0;
}

/* The real part stands for a complex number where one number is asked for. */
static void
c64_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = tm_load_f32 (packed + 8 * i);
}

static void
c128_row (const guint8 *restrict packed, gsize n, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = (float)LOAD_F64 (packed + 16 * i);
}
