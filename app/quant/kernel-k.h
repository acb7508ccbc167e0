/* K super-blocks: 256 elements, sub-blocks of 16 or 32 with small integer scales. Part of kernel.h.
 *
 * Two-bit planes (Q2_K, Q3_K, Q6_K's qh): element e is in byte 32 (e>>7) + (e&31), bits 2((e>>5)&3) … +1.
 * Nibble planes (Q4_K, Q5_K): element e is in byte 32 (e>>6) + (e&31), low nibble if (e&63) < 32, else high. */

/* Q2_K, 84 bytes                            value = d × sc × q − dmin × m
 *   0   scales[16]: sub-block s = e>>4: sc = bits 0-3, m = bits 4-7
 *   16  qs[64], two-bit planes
 *   80  fp16 d    82  fp16 dmin */
#define Q2_K_BYTES 84
static inline void
Q2_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint half = 0; half < 2; half++)
    for (guint plane = 0; plane < 4; plane++)
      for (guint j = 0; j < 32; j++)
        level[128 * half + 32 * plane + j] = (gint8)((b[16 + 32 * half + j] >> (2 * plane)) & 3);
}

static inline void
Q2_K_nibbles (const guint8 *restrict b, guint shift, float factor, float *restrict out)
{
  for (guint s = 0; s < 16; s += 8)
    {
      guint64 x;

      memcpy (&x, b + s, 8);
      x = x >> shift & 0x0F0F0F0F0F0F0F0Fu;
      EIGHT_STORE (out + s, EIGHT_MULTIPLY (EIGHT (factor), EIGHT_LEVELS ((const gint8 *)&x)));
    }
}

static inline void
Q2_K_scales (const guint8 *restrict b, float *restrict scale)
{
  Q2_K_nibbles (b, 0, tm_load_f16 (b + 80), scale);
}

static inline void
Q2_K_offsets (const guint8 *restrict b, float *restrict offset)
{
  Q2_K_nibbles (b, 4, -tm_load_f16 (b + 82), offset);
}

/* Q3_K, 110 bytes                           value = d × (sc − 32) × (q − 4)
 *   0    hmask[32]: bit e>>5 of byte e&31 = bit 2 of element e
 *   32   qs[64], two-bit planes, low two bits
 *   96   scales[12]: sixteen 6-bit codes. Sub-block s = e>>4: bits 0-3 are the low (s < 8) or high nibble of byte s&7,
 *        bits 4-5 are bits 2(s>>2) … +1 of byte 8 + (s&3)
 *   108  fp16 d */
#define Q3_K_BYTES 110
static inline void
Q3_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint half = 0; half < 2; half++)
    for (guint plane = 0; plane < 4; plane++)
      for (guint j = 0; j < 32; j++)
        {
          guint low = (b[32 + 32 * half + j] >> (2 * plane)) & 3, high = (b[j] >> (4 * half + plane)) & 1;

          level[128 * half + 32 * plane + j] = (gint8)((low | high << 2) - 4);
        }
}

/* Four codes a word: low nibbles from the first eight bytes, high bits from the last four, then 32 less in every byte.
 */
static inline void
Q3_K_scales (const guint8 *restrict b, float *restrict scale)
{
  guint32 low[2] = { tm_load_u32 (b + 96), tm_load_u32 (b + 100) }, high = tm_load_u32 (b + 104), code[4];
  const Eight d = EIGHT (tm_load_f16 (b + 108));

  for (guint i = 0; i < 4; i++)
    {
      guint32 x = (low[i & 1] >> (i < 2 ? 0 : 4) & 0x0F0F0F0Fu) | (high >> (2 * i) & 0x03030303u) << 4;

      code[i] = GUINT32_TO_LE (((x | 0x80808080u) - 0x20202020u) ^ 0x80808080u);
    }
  for (guint s = 0; s < 16; s += 8)
    EIGHT_STORE (scale + s, EIGHT_MULTIPLY (d, EIGHT_LEVELS ((const gint8 *)code + s)));
}

/* Q4_K, 144 bytes                           value = d × sc × q − dmin × m
 *   0   fp16 d    2  fp16 dmin
 *   4   scales[12]: eight 6-bit scale codes sc and eight 6-bit min codes m. Sub-block s = e>>5:
 *         s < 4: sc = bits 0-5 of byte s, m = bits 0-5 of byte s+4
 *         else:  sc = low nibble of byte s+4 and bits 6-7 of byte s-4, m = high nibble of byte s+4 and bits 6-7 of byte
 * s 16  qs[128], nibble planes */
#define Q4_K_BYTES 144
static inline void
Q4_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint run = 0; run < 4; run++)
    SPLIT_NIBBLES (b + 16 + 32 * run, 32, level + 64 * run);
}

/* Four codes a word: the first four are the low six bits of their bytes, the others put together from two. */
static inline void
Q4_K_scales (const guint8 *restrict b, float *restrict scale)
{
  guint32 first = tm_load_u32 (b + 4), last = tm_load_u32 (b + 12);
  guint32 code[2]
      = { GUINT32_TO_LE (first & 0x3F3F3F3Fu), GUINT32_TO_LE ((last & 0x0F0F0F0Fu) | (first >> 6 & 0x03030303u) << 4) };

  EIGHT_STORE (scale, EIGHT_MULTIPLY (EIGHT (tm_load_f16 (b)), EIGHT_LEVELS ((const gint8 *)code)));
}

/* −(dmin × m), which is (−dmin) × m to the sign of zero. */
static inline void
Q4_K_offsets (const guint8 *restrict b, float *restrict offset)
{
  guint32 first = tm_load_u32 (b + 8), last = tm_load_u32 (b + 12);
  guint32 code[2] = { GUINT32_TO_LE (first & 0x3F3F3F3Fu),
                      GUINT32_TO_LE ((last >> 4 & 0x0F0F0F0Fu) | (first >> 6 & 0x03030303u) << 4) };

  EIGHT_STORE (offset, EIGHT_MULTIPLY (EIGHT (-tm_load_f16 (b + 2)), EIGHT_LEVELS ((const gint8 *)code)));
}

/* Q5_K, 176 bytes                           value = d × sc × q − dmin × m
 *   0   fp16 d    2  fp16 dmin    4  scales[12] as Q4_K
 *   16  qh[32]: bit e>>5 of byte e&31 = bit 4 of element e
 *   48  qs[128], nibble planes, low four bits */
#define Q5_K_BYTES 176
static inline void
Q5_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint run = 0; run < 4; run++)
    for (guint j = 0; j < 32; j++)
      {
        guint q = b[48 + 32 * run + j], high = b[16 + j] >> (2 * run);

        level[64 * run + j] = (gint8)((q & 15) | (high & 1) << 4);
        level[64 * run + 32 + j] = (gint8)(q >> 4 | (high & 2) << 3);
      }
}

#define Q5_K_scales Q4_K_scales
#define Q5_K_offsets Q4_K_offsets

/* Q6_K, 210 bytes                           value = d × sc × (q − 32)
 *   0    ql[128]: within each half (128 elements, 64 bytes) element e' is in byte e'&63, low nibble if e' < 64
 *   128  qh[64], two-bit planes: bits 4-5
 *   192  int8 scales[16], sub-block e>>4
 *   208  fp16 d */
#define Q6_K_BYTES 210
static inline void
Q6_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint half = 0; half < 2; half++)
    {
      const guint8 *ql = b + 64 * half, *qh = b + 128 + 32 * half;
      gint8 *out = level + 128 * half;

      for (guint j = 0; j < 32; j++)
        {
          out[j] = (gint8)(((ql[j] & 15) | (qh[j] & 3) << 4) - 32);
          out[32 + j] = (gint8)(((ql[32 + j] & 15) | (qh[j] >> 2 & 3) << 4) - 32);
          out[64 + j] = (gint8)((ql[j] >> 4 | (qh[j] >> 4 & 3) << 4) - 32);
          out[96 + j] = (gint8)((ql[32 + j] >> 4 | (qh[j] >> 6) << 4) - 32);
        }
    }
}

static inline void
Q6_K_scales (const guint8 *restrict b, float *restrict scale)
{
  const Eight d = EIGHT (tm_load_f16 (b + 208));

  for (guint s = 0; s < 16; s += 8)
    EIGHT_STORE (scale + s, EIGHT_MULTIPLY (d, EIGHT_LEVELS ((const gint8 *)b + 192 + s)));
}
