/* Vector code books: one stored grid index for 4 or 8 neighbours, signs beside it. Part of kernel.h.
 *
 * signs7(c): seven stored bits, the eighth makes the number of ones even. Bit j set: element j of the group is
 * negative. Levels of IQ2 and IQ3 are never 0, so a sign is a sign. */

/* Eight magnitudes and eight signs: negation is inversion plus one, byte by byte; no magnitude is 0, so nothing
 * carries. */
static inline void
signed_8 (const guint8 *magnitudes, guint8 signs, gint8 *level)
{
  guint64 x, ones = expand_bits (signs);

  memcpy (&x, magnitudes, 8);
  x = (x ^ (ones * 0xFF)) + ones;
  memcpy (level, &x, 8);
}

static inline void
signed_4_4 (const guint8 *first, const guint8 *second, guint8 signs, gint8 *level)
{
  guint8 both[8];

  memcpy (both, first, 4);
  memcpy (both + 4, second, 4);
  signed_8 (both, signs, level);
}

/* IQ2_XXS, 66 bytes                         value = d × (0.5 + sc) / 4 × sign × grid[index][lane]
 *   0  fp16 d
 *   2  eight groups of 8 bytes, one per 32 elements: index[4] (one per 8 elements), then a 32-bit word:
 *        bits 7l … 7l+6 signs7 of the l-th eight, bits 28-31 sc */
#define IQ2_XXS_BYTES 66
static inline void
IQ2_XXS_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 8; g++)
    {
      const guint8 *p = b + 2 + 8 * g;
      guint32 w = tm_load_u32 (p + 4);

      for (guint l = 0; l < 4; l++)
        signed_8 (tm_iq2xxs_grid[p[l]], tm_ksigns_iq2xs[(w >> (7 * l)) & 127], level + 32 * g + 8 * l);
    }
}

static inline void
IQ2_XXS_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint i = 0; i < 32; i++)
    code[i] = b[2 + 8 * (i >> 2) + (i & 3)];
}

static inline void
IQ2_XXS_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint g = 0; g < 8; g++)
    scale[g] = d * (0.5f + (float)(b[2 + 8 * g + 7] >> 4)) * 0.25f;
}

/* IQ2_XS, 74 bytes                          value = d × (0.5 + sc) / 4 × sign × grid[index][lane]
 *   0   fp16 d
 *   2   u16 qs[32], one per 8 elements: bits 0-8 index, bits 9-15 signs7
 *   66  scales[8]: sub-block s = e>>4: sc = low (s even) or high nibble of byte s>>1 */
#define IQ2_XS_BYTES 74
static inline void
IQ2_XS_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 32; g++)
    {
      guint q = tm_load_u16 (b + 2 + 2 * g);

      signed_8 (tm_iq2xs_grid[q & 511], tm_ksigns_iq2xs[q >> 9], level + 8 * g);
    }
}

static inline void
IQ2_XS_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint g = 0; g < 32; g++)
    code[g] = tm_load_u16 (b + 2 + 2 * g) & 511;
}

static inline void
nibble_scales_16 (const guint8 *b, const guint8 *scales, float *scale)
{
  float d = tm_load_f16 (b);

  for (guint s = 0; s < 16; s++)
    scale[s] = d * (0.5f + (float)((scales[s >> 1] >> (4 * (s & 1))) & 15)) * 0.25f;
}

static inline void
IQ2_XS_scales (const guint8 *restrict b, float *restrict scale)
{
  nibble_scales_16 (b, b + 66, scale);
}

/* IQ2_S, 82 bytes                           value = d × (0.5 + sc) / 4 × sign × grid[index][lane]
 *   0   fp16 d
 *   2   qs[32], bits 0-7 of the index, one per 8 elements
 *   34  signs[32]: bit e&7 of byte e>>3
 *   66  qh[8]: bits 2(g&3) … +1 of byte g>>2 = bits 8-9 of the index of group g = e>>3
 *   74  scales[8] as IQ2_XS */
#define IQ2_S_BYTES 82
static inline guint
IQ2_S_index (const guint8 *b, guint g)
{
  return b[2 + g] | ((b[66 + (g >> 2)] >> (2 * (g & 3))) & 3u) << 8;
}

static inline void
IQ2_S_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 32; g++)
    signed_8 (tm_iq2s_grid[IQ2_S_index (b, g)], b[34 + g], level + 8 * g);
}

static inline void
IQ2_S_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint g = 0; g < 32; g++)
    code[g] = (guint16)IQ2_S_index (b, g);
}

static inline void
IQ2_S_scales (const guint8 *restrict b, float *restrict scale)
{
  nibble_scales_16 (b, b + 74, scale);
}

/* IQ3_XXS, 98 bytes                         value = d × (0.5 + sc) / 2 × sign × grid[index][lane]
 *   0   fp16 d
 *   2   qs[64], one index per 4 elements
 *   66  eight 32-bit words, one per 32 elements: bits 7l … 7l+6 signs7 of the l-th eight, bits 28-31 sc */
#define IQ3_XXS_BYTES 98
static inline void
IQ3_XXS_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 8; g++)
    {
      guint32 w = tm_load_u32 (b + 66 + 4 * g);

      for (guint l = 0; l < 4; l++)
        {
          const guint8 *index = b + 2 + 8 * g + 2 * l;

          signed_4_4 (tm_iq3xxs_grid[index[0]], tm_iq3xxs_grid[index[1]], tm_ksigns_iq2xs[(w >> (7 * l)) & 127],
                      level + 32 * g + 8 * l);
        }
    }
}

static inline void
IQ3_XXS_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint i = 0; i < 64; i++)
    code[i] = b[2 + i];
}

static inline void
IQ3_XXS_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint g = 0; g < 8; g++)
    scale[g] = d * (0.5f + (float)(b[66 + 4 * g + 3] >> 4)) * 0.5f;
}

/* IQ3_S, 110 bytes                          value = d × (1 + 2 sc) × sign × grid[index][lane]
 *   0    fp16 d
 *   2    qs[64], bits 0-7 of the index, one per 4 elements
 *   66   qh[8]: bit g&7 of byte g>>3 = bit 8 of the index of group g = e>>2
 *   74   signs[32]: bit e&7 of byte e>>3
 *   106  scales[4]: sub-block s = e>>5: sc = low (s even) or high nibble of byte s>>1 */
#define IQ3_S_BYTES 110
static inline guint
IQ3_S_index (const guint8 *b, guint g)
{
  return b[2 + g] | ((b[66 + (g >> 3)] >> (g & 7)) & 1u) << 8;
}

static inline void
IQ3_S_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 32; g++)
    signed_4_4 (tm_iq3s_grid[IQ3_S_index (b, 2 * g)], tm_iq3s_grid[IQ3_S_index (b, 2 * g + 1)], b[74 + g],
                level + 8 * g);
}

static inline void
IQ3_S_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint g = 0; g < 64; g++)
    code[g] = (guint16)IQ3_S_index (b, g);
}

static inline void
IQ3_S_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint s = 0; s < 8; s++)
    scale[s] = d * (float)(1 + 2 * ((b[106 + (s >> 1)] >> (4 * (s & 1))) & 15));
}

/* IQ1_S, 50 bytes                           value = d × (2 sc + 1) × (grid[index][lane] + delta)
 *   0   fp16 d
 *   2   qs[32], bits 0-7 of the index, one per 8 elements
 *   34  u16 qh[8], one per 32 elements: bits 3l … 3l+2 = bits 8-10 of the index of its l-th eight, bits 12-14 sc,
 *       bit 15 set: delta = -1/8, else +1/8 */
#define IQ1_S_BYTES 50
static inline guint
IQ1_S_index (const guint8 *b, guint g)
{
  return b[2 + g] | ((guint)(tm_load_u16 (b + 34 + 2 * (g >> 2)) >> (3 * (g & 3))) & 7) << 8;
}

static inline void
IQ1_S_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 32; g++)
    memcpy (level + 8 * g, tm_iq1s_grid[IQ1_S_index (b, g)], 8);
}

static inline void
IQ1_S_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint g = 0; g < 32; g++)
    code[g] = (guint16)IQ1_S_index (b, g);
}

static inline void
IQ1_S_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint g = 0; g < 8; g++)
    scale[g] = d * (float)(2 * ((b[34 + 2 * g + 1] >> 4) & 7) + 1);
}

static inline void
IQ1_S_offsets (const guint8 *restrict b, float *restrict offset)
{
  for (guint g = 0; g < 8; g++)
    offset[g] = b[34 + 2 * g + 1] & 0x80 ? -0.125f : 0.125f;
}

/* IQ1_M, 56 bytes                           value = d × (2 sc + 1) × (grid[index][lane] + delta)
 *   0   qs[32], bits 0-7 of the index, one per 8 elements
 *   32  qh[16], one nibble per 8 elements (low first): bits 0-2 = bits 8-10 of the index, bit 3 set: delta = -1/8
 *   48  u16 w[4]: fp16 d has its bits 4k … 4k+3 in bits 12-15 of w[k]; sub-block s = e>>4: sc = bits 3(s&3) … +2 of
 * w[s>>2] */
#define IQ1_M_BYTES 56
static inline guint
IQ1_M_high (const guint8 *b, guint g)
{
  return (b[32 + (g >> 1)] >> (4 * (g & 1))) & 15;
}

static inline guint
IQ1_M_index (const guint8 *b, guint g)
{
  return b[g] | (IQ1_M_high (b, g) & 7) << 8;
}

static inline float
IQ1_M_d (const guint8 *b)
{
  guint bits = 0;

  for (guint k = 0; k < 4; k++)
    bits |= (guint)(b[48 + 2 * k + 1] >> 4) << (4 * k);
  return tm_half_to_float ((guint16)bits);
}

static inline guint
IQ1_M_scale_code (const guint8 *b, guint s)
{
  return (guint)(tm_load_u16 (b + 48 + 2 * (s >> 2)) >> (3 * (s & 3))) & 7;
}

static inline void
IQ1_M_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint g = 0; g < 32; g++)
    memcpy (level + 8 * g, tm_iq1s_grid[IQ1_M_index (b, g)], 8);
}

static inline void
IQ1_M_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint g = 0; g < 32; g++)
    code[g] = (guint16)IQ1_M_index (b, g);
}

static inline void
IQ1_M_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = IQ1_M_d (b);

  for (guint s = 0; s < 16; s++)
    scale[s] = d * (float)(2 * IQ1_M_scale_code (b, s) + 1);
}

static inline void
IQ1_M_offsets (const guint8 *restrict b, float *restrict offset)
{
  for (guint g = 0; g < 32; g++)
    offset[g] = IQ1_M_high (b, g) & 8 ? -0.125f : 0.125f;
}
