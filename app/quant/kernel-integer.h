/* Codes of a byte each, times scale and minus zero point; nibbles of words spread out to bytes. Part of kernel.h. */

/* n codes of one group. bias: what two's complement needs (codes ^ flip − bias); both 0 for unsigned codes. */
static void
scale_codes (const guint8 *restrict codes, gsize n, guint8 flip, float scale, float zero, float *restrict out)
{
  const gint bias = flip;

  for (gsize i = 0; i < n; i++)
    out[i] = scale * ((float) ((gint) (codes[i] ^ flip) - bias) - zero);
}

static void
scale_codes_offset (const guint8 *restrict codes, gsize n, float scale, float offset, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = scale * (float) codes[i] + offset;
}

/* A row whose column i is of group[i]. */
static void
scale_codes_by_index (const guint8 *restrict codes, gsize n, guint8 flip, const guint32 *restrict group,
                      const float *restrict scales, const float *restrict zeros, float *restrict out)
{
  const gint bias = flip;
  gsize i = 0;

#ifdef __AVX2__
  const __m256i flips = _mm256_set1_epi32 (flip), biases = _mm256_set1_epi32 (bias);

  for (; i + 8 <= n; i += 8)
    {
      const __m256i g = _mm256_loadu_si256 ((const __m256i *) (gconstpointer) (group + i));
      __m256i q = _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) (gconstpointer) (codes + i)));
      __m256 level;

      q = _mm256_sub_epi32 (_mm256_xor_si256 (q, flips), biases);
      level = _mm256_sub_ps (_mm256_cvtepi32_ps (q), _mm256_i32gather_ps (zeros, g, 4));
      _mm256_storeu_ps (out + i, _mm256_mul_ps (_mm256_i32gather_ps (scales, g, 4), level));
    }
#endif
  for (; i < n; i++)
    out[i] = scales[group[i]] * ((float) ((gint) (codes[i] ^ flip) - bias) - zeros[group[i]]);
}

/* The same from a table of every value: [group][code]. */
static void
look_up (const guint8 *restrict codes, gsize n, guint bits, const guint32 *restrict group, const float *restrict table,
         float *restrict out)
{
  gsize i = 0;

#ifdef __AVX2__
  for (; i + 8 <= n; i += 8)
    {
      const __m256i g = _mm256_loadu_si256 ((const __m256i *) (gconstpointer) (group + i));
      const __m256i q = _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) (gconstpointer) (codes + i)));
      const __m256i at = _mm256_or_si256 (_mm256_sll_epi32 (g, _mm_cvtsi32_si128 ((gint) bits)), q);

      _mm256_storeu_ps (out + i, _mm256_i32gather_ps (table, at, 4));
    }
#endif
  for (; i < n; i++)
    out[i] = table[group[i] << bits | codes[i]];
}

/* Eight nibbles of a word as eight bytes, the lowest first. */
static inline guint64
spread_nibbles (guint32 word)
{
  guint64 x = word;

  x = (x | x << 16) & 0x0000FFFF0000FFFFu;
  x = (x | x << 8) & 0x00FF00FF00FF00FFu;
  return (x | x << 4) & 0x0F0F0F0F0F0F0F0Fu;
}

static inline void
store_u64 (guint8 *p, guint64 x)
{
  x = GUINT64_TO_LE (x);
  memcpy (p, &x, sizeof x);
}

/* n_words rows of n_lines words, pitch bytes from row to row: each line's codes go to its own row of out. */
static void
spread_columns (const guint8 *restrict band, gsize pitch, gsize n_lines, guint bits, gsize n_words,
                guint8 *restrict out, gsize out_pitch)
{
  /* As many rows of words as the first cache holds, line by line. */
  for (gsize begin = 0; begin < n_words; begin += 128)
    for (gsize l = 0; l < n_lines; l++)
      for (gsize w = begin; w < MIN (begin + 128, n_words); w++)
        {
          const guint8 *p = band + w * pitch + l * 4;
          guint8 *to = out + l * out_pitch + w * (32 / bits);
          guint32 word = tm_load_u32 (p);

          if (bits == 4)
            store_u64 (to, spread_nibbles (word));
          else if (bits == 8)
            memcpy (to, p, 4);
          else
            {
              guint64 x = spread_nibbles (word), y = x >> 2 & 0x0303030303030303u;

              x &= 0x0303030303030303u;
              for (guint k = 0; k < 8; k++)
                {
                  to[2 * k] = (guint8) (x >> (8 * k));
                  to[2 * k + 1] = (guint8) (y >> (8 * k));
                }
            }
        }
}

/* One step of turning an 8 × 8 square of bytes: squares of shift bits change places. */
#define SWAP_SQUARES(a, b, shift, mask)                                                                                \
  do                                                                                                                   \
    {                                                                                                                  \
      guint64 t = ((a) >> (shift) ^ (b)) & (mask);                                                                     \
      (b) ^= t;                                                                                                        \
      (a) ^= t << (shift);                                                                                             \
    }                                                                                                                  \
  while (0)

static inline void
turn_square (guint64 x[8])
{
  for (guint i = 0; i < 4; i++)
    SWAP_SQUARES (x[i], x[i + 4], 32, 0x00000000FFFFFFFFu);
  for (guint i = 0; i < 8; i += 4)
    {
      SWAP_SQUARES (x[i], x[i + 2], 16, 0x0000FFFF0000FFFFu);
      SWAP_SQUARES (x[i + 1], x[i + 3], 16, 0x0000FFFF0000FFFFu);
    }
  for (guint i = 0; i < 8; i += 2)
    SWAP_SQUARES (x[i], x[i + 1], 8, 0x00FF00FF00FF00FFu);
}

#ifdef TM_SSE2
/* Byte columns of eight rows: out[c] is byte c of every row. */
static inline void
turn_bytes (const __m128i a[8], guint8 out[128])
{
  for (guint half = 0; half < 2; half++)
    {
      __m128i t[4], u[4];

      for (guint k = 0; k < 4; k++)
        t[k] = half ? _mm_unpackhi_epi8 (a[2 * k], a[2 * k + 1]) : _mm_unpacklo_epi8 (a[2 * k], a[2 * k + 1]);
      u[0] = _mm_unpacklo_epi16 (t[0], t[1]);
      u[1] = _mm_unpackhi_epi16 (t[0], t[1]);
      u[2] = _mm_unpacklo_epi16 (t[2], t[3]);
      u[3] = _mm_unpackhi_epi16 (t[2], t[3]);
      for (guint k = 0; k < 2; k++)
        {
          _mm_storeu_si128 ((__m128i *) (gpointer) (out + 64 * half + 32 * k), _mm_unpacklo_epi32 (u[k], u[k + 2]));
          _mm_storeu_si128 ((__m128i *) (gpointer) (out + 64 * half + 32 * k + 16),
                            _mm_unpackhi_epi32 (u[k], u[k + 2]));
        }
    }
}

/* Four words of eight lines: 32 codes each. */
static inline void
turn_four_words (const guint8 *band, gsize pitch, const guint8 code_of_nibble[8], guint8 *out, gsize out_pitch)
{
  const __m128i mask = _mm_set1_epi8 (15);
  __m128i low[8], high[8];
  guint8 even[128], odd[128];

  for (guint k = 0; k < 8; k++)
    {
      __m128i words = _mm_loadu_si128 ((const __m128i *) (gconstpointer) (band + k * pitch));

      low[k] = _mm_and_si128 (words, mask);
      high[k] = _mm_and_si128 (_mm_srli_epi16 (words, 4), mask);
    }
  turn_bytes (low, even);
  turn_bytes (high, odd);
  for (guint c = 0; c < 16; c++)
    {
      memcpy (out + (c / 4 * 8 + code_of_nibble[c % 4 * 2]) * out_pitch, even + 8 * c, 8);
      memcpy (out + (c / 4 * 8 + code_of_nibble[c % 4 * 2 + 1]) * out_pitch, odd + 8 * c, 8);
    }
}
#endif

/* n_lines rows of n_words words of nibbles, pitch bytes from row to row; code a of line l goes to
 * out[(a − first) × out_pitch + l], for n codes from first on. nibble: where code k of a word is, NULL for nibble k. */
static void
turn_nibbles (const guint8 *restrict band, gsize pitch, gsize n_lines, gsize n_words, const guint8 *nibble, gsize first,
              gsize n, guint8 *restrict out, gsize out_pitch)
{
#ifdef TM_SSE2
  guint8 code_of_nibble[8];

  for (guint8 k = 0; k < 8; k++)
    code_of_nibble[nibble ? nibble[k] : k] = k;
#endif
  for (gsize l = 0; l < n_lines; l += 8)
    {
      const gsize rows = MIN (n_lines - l, 8);

      for (gsize w = 0; w < n_words; w++)
        {
          guint64 x[8] = { 0 };

#ifdef TM_SSE2
          if (rows == 8 && w + 4 <= n_words && w * 8 >= first && w * 8 + 32 - first <= n)
            {
              turn_four_words (band + l * pitch + w * 4, pitch, code_of_nibble, out + (w * 8 - first) * out_pitch + l,
                               out_pitch);
              w += 3;
              continue;
            }
#endif

          for (gsize k = 0; k < rows; k++)
            x[k] = spread_nibbles (tm_load_u32 (band + (l + k) * pitch + w * 4));
          turn_square (x);
          if (rows == 8 && w * 8 >= first && w * 8 + 8 - first <= n)
            {
              guint8 *to = out + (w * 8 - first) * out_pitch + l;

              for (gsize k = 0; k < 8; k++)
                store_u64 (to + k * out_pitch, x[nibble ? nibble[k] : k]);
              continue;
            }
          for (gsize k = 0; k < 8; k++)
            {
              const gsize a = w * 8 + k;
              const guint64 codes = x[nibble ? nibble[k] : k];

              if (a < first || a - first >= n)
                continue;
              for (gsize j = 0; j < rows; j++)
                out[(a - first) * out_pitch + l + j] = (guint8) (codes >> (8 * j));
            }
        }
    }
}

/* n bytes, each two codes: low nibble first. */
static void
split_nibbles (const guint8 *restrict packed, gsize n, guint8 *restrict out)
{
  for (gsize i = 0; i < n; i++)
    {
      out[2 * i] = packed[i] & 15;
      out[2 * i + 1] = packed[i] >> 4;
    }
}

/* n bytes of two rows each. */
static void
split_pairs (const guint8 *restrict packed, gsize n, guint8 *restrict low, guint8 *restrict high)
{
  for (gsize i = 0; i < n; i++)
    {
      low[i] = packed[i] & 15;
      high[i] = packed[i] >> 4;
    }
}

/* n runs of sixteen bytes, 32 codes each: nibble a of 16-bit word j is code 8a + j (AWQ GEMV-fast). */
static void
untile (const guint8 *restrict packed, gsize n, guint8 *restrict out)
{
  for (gsize t = 0; t < n; t++)
    {
      const guint8 *p = packed + 16 * t;
      guint8 *to = out + 32 * t;
#ifdef TM_SSE2
      const __m128i words = _mm_loadu_si128 ((const __m128i *) (gconstpointer) p), mask = _mm_set1_epi16 (15);
      const __m128i a = _mm_and_si128 (words, mask), b = _mm_and_si128 (_mm_srli_epi16 (words, 4), mask);
      const __m128i c = _mm_and_si128 (_mm_srli_epi16 (words, 8), mask), d = _mm_srli_epi16 (words, 12);

      _mm_storeu_si128 ((__m128i *) (gpointer) to, _mm_packus_epi16 (a, b));
      _mm_storeu_si128 ((__m128i *) (gpointer) (to + 16), _mm_packus_epi16 (c, d));
#else
      for (guint j = 0; j < 8; j++)
        {
          const guint word = tm_load_u16 (p + 2 * j);

          for (guint a = 0; a < 4; a++)
            to[8 * a + j] = (guint8) (word >> (4 * a) & 15);
        }
#endif
    }
}

/* 8n codes of a dense stream from a byte's border on; eight bytes from each eighth code on can be read. */
static void
unpack_eights (const guint8 *restrict packed, gsize n, guint bits, guint8 *restrict out)
{
  const guint64 one = ((guint64) 1 << bits) - 1, two = ((guint64) 1 << (2 * bits)) - 1;
  const guint64 four = ((guint64) 1 << (4 * bits)) - 1;
  const guint64 ones = one * 0x0001000100010001u, twos = two * 0x0000000100000001u;

  for (gsize i = 0; i < n; i++)
    {
      guint64 x = tm_load_u64 (packed + i * bits);

      x = (x & four) | (x >> (4 * bits) & four) << 32;
      x = (x & twos) | (x << (16 - 2 * bits) & twos << 16);
      x = (x & ones) | (x << (8 - bits) & ones << 8);
      store_u64 (out + 8 * i, x);
    }
}
