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
        level[128 * half + 32 * plane + j] = (gint8) ((b[16 + 32 * half + j] >> (2 * plane)) & 3);
}

static inline void
Q2_K_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b + 80);

  for (guint s = 0; s < 16; s++)
    scale[s] = d * (float) (b[s] & 15);
}

static inline void
Q2_K_offsets (const guint8 *restrict b, float *restrict offset)
{
  float dmin = tm_load_f16 (b + 82);

  for (guint s = 0; s < 16; s++)
    offset[s] = -(dmin * (float) (b[s] >> 4));
}

/* Q3_K, 110 bytes                           value = d × (sc − 32) × (q − 4)
 *   0    hmask[32]: bit e>>5 of byte e&31 = bit 2 of element e
 *   32   qs[64], two-bit planes, low two bits
 *   96   scales[12]: sixteen 6-bit codes. Sub-block s = e>>4: bits 0-3 are the low (s < 8) or high nibble of byte s&7,
 *        bits 4-5 are bits 2(s>>2) … +1 of byte 8 + (s&3)
 *   108  fp16 d */
#define Q3_K_BYTES 110
static inline guint
Q3_K_scale_code (const guint8 *p, guint s)
{
  guint low = s < 8 ? p[s] & 15 : p[s - 8] >> 4;

  return low | ((p[8 + (s & 3)] >> (2 * (s >> 2))) & 3u) << 4;
}

static inline void
Q3_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint half = 0; half < 2; half++)
    for (guint plane = 0; plane < 4; plane++)
      for (guint j = 0; j < 32; j++)
        {
          guint low = (b[32 + 32 * half + j] >> (2 * plane)) & 3, high = (b[j] >> (4 * half + plane)) & 1;

          level[128 * half + 32 * plane + j] = (gint8) ((low | high << 2) - 4);
        }
}

static inline void
Q3_K_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b + 108);

  for (guint s = 0; s < 16; s++)
    scale[s] = d * (float) ((gint) Q3_K_scale_code (b + 96, s) - 32);
}

/* Q4_K, 144 bytes                           value = d × sc × q − dmin × m
 *   0   fp16 d    2  fp16 dmin
 *   4   scales[12]: eight 6-bit scale codes sc and eight 6-bit min codes m. Sub-block s = e>>5:
 *         s < 4: sc = bits 0-5 of byte s, m = bits 0-5 of byte s+4
 *         else:  sc = low nibble of byte s+4 and bits 6-7 of byte s-4, m = high nibble of byte s+4 and bits 6-7 of byte s
 *   16  qs[128], nibble planes */
#define Q4_K_BYTES 144
static inline guint
Q4_K_scale_code (const guint8 *p, guint s)
{
  return s < 4 ? p[s] & 63 : (p[s + 4] & 15) | (p[s - 4] >> 6) << 4;
}

static inline guint
Q4_K_min_code (const guint8 *p, guint s)
{
  return s < 4 ? p[s + 4] & 63 : (p[s + 4] >> 4) | (p[s] >> 6) << 4;
}

static inline void
Q4_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint run = 0; run < 4; run++)
    SPLIT_NIBBLES (b + 16 + 32 * run, 32, level + 64 * run);
}

static inline void
Q4_K_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint s = 0; s < 8; s++)
    scale[s] = d * (float) Q4_K_scale_code (b + 4, s);
}

static inline void
Q4_K_offsets (const guint8 *restrict b, float *restrict offset)
{
  float dmin = tm_load_f16 (b + 2);

  for (guint s = 0; s < 8; s++)
    offset[s] = -(dmin * (float) Q4_K_min_code (b + 4, s));
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

        level[64 * run + j] = (gint8) ((q & 15) | (high & 1) << 4);
        level[64 * run + 32 + j] = (gint8) (q >> 4 | (high & 2) << 3);
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
          out[j] = (gint8) (((ql[j] & 15) | (qh[j] & 3) << 4) - 32);
          out[32 + j] = (gint8) (((ql[32 + j] & 15) | (qh[j] >> 2 & 3) << 4) - 32);
          out[64 + j] = (gint8) ((ql[j] >> 4 | (qh[j] >> 4 & 3) << 4) - 32);
          out[96 + j] = (gint8) ((ql[32 + j] >> 4 | (qh[j] >> 6) << 4) - 32);
        }
    }
}

static inline void
Q6_K_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b + 208);

  for (guint s = 0; s < 16; s++)
    scale[s] = d * (float) (gint8) b[192 + s];
}
