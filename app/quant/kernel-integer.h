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

/* --- Ribbons: words of eight lines side by side, running down ----------------------------------------------------------- */

#ifdef __AVX2__
/* Eight columns of eight numbers, each along its row. */
static inline void
store_turned (__m256 a[8], float *const row[8], gsize at)
{
  __m256 b[8];

  for (guint k = 0; k < 8; k += 2)
    {
      b[k] = _mm256_unpacklo_ps (a[k], a[k + 1]);
      b[k + 1] = _mm256_unpackhi_ps (a[k], a[k + 1]);
    }
  for (guint k = 0; k < 8; k += 4)
    for (guint j = 0; j < 2; j++)
      {
        a[k + 2 * j] = _mm256_shuffle_ps (b[k + j], b[k + j + 2], _MM_SHUFFLE (1, 0, 1, 0));
        a[k + 2 * j + 1] = _mm256_shuffle_ps (b[k + j], b[k + j + 2], _MM_SHUFFLE (3, 2, 3, 2));
      }
  for (guint k = 0; k < 4; k++)
    {
      _mm256_storeu_ps (row[k] + at, _mm256_permute2f128_ps (a[k], a[k + 4], 0x20));
      _mm256_storeu_ps (row[k + 4] + at, _mm256_permute2f128_ps (a[k], a[k + 4], 0x31));
    }
}
#endif

/* One step of turning 8 × 8 squares of nibbles: squares of shift bits change places. */
#define SWAP_SQUARES(a, b, shift, mask)                                                                                \
  do                                                                                                                   \
    {                                                                                                                  \
      Words t = ((a) >> (shift) ^ (b)) & (mask);                                                                       \
      (b) ^= t;                                                                                                        \
      (a) ^= t << (shift);                                                                                             \
    }                                                                                                                  \
  while (0)

typedef guint32 Words __attribute__ ((vector_size (32)));
typedef guint32 WordsAnywhere __attribute__ ((vector_size (32), aligned (1), may_alias));

/* n_rows (a multiple of eight) rows of n words of nibbles, pitch bytes from row to row, as n ribbons, out_pitch bytes from one
 * to the next: word k of row r of the w-th holds code k of word w of rows 8r …, the first in the lowest nibble. nibble: where
 * code k of a word is. */
static void
turn_nibbles (const guint8 *restrict packed, gsize pitch, gsize n, gsize n_rows, const guint8 nibble[8],
              guint8 *restrict out, gsize out_pitch)
{
  for (gsize w = 0; w < n; w += 8)
    for (gsize r = 0; r < n_rows; r += 8)
      {
        const guint8 *from = packed + r * pitch + 4 * w;
        guint8 *to = out + w * out_pitch + 4 * r;
        const guint here = (guint) MIN (n - w, 8);
        Words x[8];

        for (guint k = 0; k < 8; k++)
          {
            if (here == 8)
              x[k] = *(const WordsAnywhere *) (gconstpointer) (from + k * pitch);
            else
              {
                x[k] = (Words) { 0 };
                memcpy (&x[k], from + k * pitch, 4 * here);
              }
#if G_BYTE_ORDER != G_LITTLE_ENDIAN
            for (guint j = 0; j < 8; j++)
              x[k][j] = GUINT32_FROM_LE (x[k][j]);
#endif
          }
        for (guint k = 0; k < 4; k++)
          SWAP_SQUARES (x[k], x[k + 4], 16, 0x0000FFFFu);
        for (guint k = 0; k < 8; k += 4)
          {
            SWAP_SQUARES (x[k], x[k + 2], 8, 0x00FF00FFu);
            SWAP_SQUARES (x[k + 1], x[k + 3], 8, 0x00FF00FFu);
          }
        for (guint k = 0; k < 8; k += 2)
          SWAP_SQUARES (x[k], x[k + 1], 4, 0x0F0F0F0Fu);
#ifdef __AVX2__
        if (here == 8)
          {
            __m256 square[8];
            float *row[8];

            for (guint k = 0; k < 8; k++)
              {
                square[k] = (__m256) x[nibble[k]];
                row[k] = (float *) (gpointer) (to + k * out_pitch);
              }
            store_turned (square, row, 0);
            continue;
          }
#endif
        for (guint j = 0; j < here; j++)
          for (guint k = 0; k < 8; k++)
            {
              const guint32 word = GUINT32_TO_LE (x[nibble[k]][j]);

              memcpy (to + j * out_pitch + 4 * k, &word, 4);
            }
      }
}

#ifdef __AVX2__
static inline gboolean
is_one_group (const guint32 group[8])
{
  const __m256i all = _mm256_loadu_si256 ((const __m256i *) (gconstpointer) group);

  return _mm256_movemask_epi8 (_mm256_cmpeq_epi32 (all, _mm256_set1_epi32 ((gint) group[0]))) == -1;
}

/* The next codes of eight lines, in the low bits of eight numbers: so many bits from bit `shift` of a row of words on. */
static inline __m256i
fetch_codes (const guint8 *words, guint shift, guint bits)
{
  __m256i x = _mm256_loadu_si256 ((const __m256i *) (gconstpointer) words);

  x = _mm256_srl_epi32 (x, _mm_cvtsi32_si128 ((gint) shift));
  if (shift + bits > 32)
    x = _mm256_or_si256 (x, _mm256_sll_epi32 (_mm256_loadu_si256 ((const __m256i *) (gconstpointer) (words + 32)),
                                              _mm_cvtsi32_si128 ((gint) (32 - shift))));
  return x;
}
#endif

/* The values of a ribbon, n codes of each line from code first on: line l's go to row[l]. A column of eight codes is of one
 * group, whatever the groups' order: group[i] is the i-th's, and has its eight scales and zero points one after another, from
 * group to group pitch floats. */
static inline __attribute__ ((always_inline)) void
scale_ribbon_of (const guint8 *restrict ribbon, guint bits, gsize first, gsize n, guint8 flip,
                 const guint32 *restrict group, const float *restrict scales, const float *restrict zeros, gsize pitch,
                 float *const row[8])
{
  const guint32 mask = (1u << bits) - 1, flips = flip;
  const gint bias = flip;
  gsize i = 0;

#ifdef __AVX2__
  const guint at_once = bits <= 4 ? 8 : 4; /* columns whose codes fit into 32 bits */
  const __m256i width = _mm256_set1_epi32 ((gint) bits), masks = _mm256_set1_epi32 ((gint) mask),
                signs = _mm256_set1_epi32 (flip);

  for (; i + 8 <= n; i += 8)
    {
      gsize bit = (first + i) * bits;
      __m256i x = fetch_codes (ribbon + bit / 32 * 32, (guint) (bit % 32), at_once * bits);
      __m256 square[8];

      if (i % 16 == 0) /* a cache line of each row: eight are more than the processor foresees */
        for (guint k = 0; k < 8; k++)
          __builtin_prefetch (row[k] + i + 48, 1);
      for (guint k = 0; k < 8; k++)
        {
          __m256i q;

          if (k == 4 && at_once == 4)
            {
              bit += 4 * bits;
              x = fetch_codes (ribbon + bit / 32 * 32, (guint) (bit % 32), 4 * bits);
            }
          q = _mm256_and_si256 (x, masks);
          x = _mm256_srlv_epi32 (x, width);
          if (flip)
            q = _mm256_sub_epi32 (_mm256_xor_si256 (q, signs), signs);
          square[k] = _mm256_cvtepi32_ps (q);
        }
      if (is_one_group (group + i))
        {
          const __m256 scale = _mm256_loadu_ps (scales + group[i] * pitch),
                       zero = _mm256_loadu_ps (zeros + group[i] * pitch);

          for (guint k = 0; k < 8; k++)
            square[k] = _mm256_mul_ps (scale, _mm256_sub_ps (square[k], zero));
        }
      else
        for (guint k = 0; k < 8; k++)
          square[k] = _mm256_mul_ps (_mm256_loadu_ps (scales + group[i + k] * pitch),
                                     _mm256_sub_ps (square[k], _mm256_loadu_ps (zeros + group[i + k] * pitch)));
      store_turned (square, row, i);
    }
#endif
  for (; i < n; i += 8)
    {
      const guint here = (guint) MIN (n - i, 8);
      float square[8][8];

      for (guint k = 0; k < here; k++)
        {
          const float *scale = scales + group[i + k] * pitch, *zero = zeros + group[i + k] * pitch;
          const gsize bit = (first + i + k) * bits;
          const guint8 *words = ribbon + bit / 32 * 32;
          const guint shift = bit % 32;
          guint32 x[8];

          for (guint l = 0; l < 8; l++)
            x[l] = tm_load_u32 (words + 4 * l) >> shift;
          if (shift + bits > 32)
            for (guint l = 0; l < 8; l++)
              x[l] |= tm_load_u32 (words + 32 + 4 * l) << (32 - shift);
          for (guint l = 0; l < 8; l++)
            square[k][l] = scale[l] * ((float) ((gint) ((x[l] & mask) ^ flips) - bias) - zero[l]);
        }
#ifdef TM_SSE2
      for (guint l = 0; l < 8 && here == 8; l += 4)
        for (guint k = 0; k < 8; k += 4)
          {
            __m128 a[4];

            for (guint j = 0; j < 4; j++)
              a[j] = _mm_loadu_ps (square[k + j] + l);
            _MM_TRANSPOSE4_PS (a[0], a[1], a[2], a[3]);
            for (guint j = 0; j < 4; j++)
              _mm_storeu_ps (row[l + j] + i + k, a[j]);
          }
      if (here == 8)
        continue;
#endif
      for (guint l = 0; l < 8; l++)
        for (guint k = 0; k < here; k++)
          row[l][i + k] = square[k][l];
    }
}

static void
scale_ribbon (const guint8 *restrict ribbon, guint bits, gsize first, gsize n, guint8 flip,
              const guint32 *restrict group, const float *restrict scales, const float *restrict zeros, gsize pitch,
              float *const row[8])
{
  if (flip)
    scale_ribbon_of (ribbon, bits, first, n, flip, group, scales, zeros, pitch, row);
  else
    scale_ribbon_of (ribbon, bits, first, n, 0, group, scales, zeros, pitch, row);
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
