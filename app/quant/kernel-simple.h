/* Blocks of one or two fp16 numbers and plain fields, and the ternary ones. Part of kernel.h. */

/* Q4_0, 18 bytes, 32 elements               value = d × (q − 8)
 *   0  fp16 d
 *   2  qs[16]: byte j = element j (bits 0-3), element 16+j (bits 4-7) */
#define Q4_0_BYTES 18
static inline void
Q4_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint j = 0; j < 16; j++)
    {
      level[j] = (gint8)((b[2 + j] & 15) - 8);
      level[16 + j] = (gint8)((b[2 + j] >> 4) - 8);
    }
}

static inline void
Q4_0_scales (const guint8 *restrict b, float *restrict scale)
{
  scale[0] = tm_load_f16 (b);
}

/* Q4_1, 20 bytes, 32 elements               value = d × q + m
 *   0  fp16 d    2  fp16 m    4  qs[16], nibbles as Q4_0 */
#define Q4_1_BYTES 20
static inline void
Q4_1_levels (const guint8 *restrict b, gint8 *restrict level)
{
  SPLIT_NIBBLES (b + 4, 16, level);
}

#define Q4_1_scales Q4_0_scales
static inline void
Q4_1_offsets (const guint8 *restrict b, float *restrict offset)
{
  offset[0] = tm_load_f16 (b + 2);
}

/* Low nibbles of sixteen bytes, then high ones, eight elements at a time, with a number 0 … 255 added to those whose
 * fifth bit is `when`: bit e&7 of byte e>>3 of qh belongs to element e. */
static inline void
split_with_fifth_bits (const guint8 *restrict qs, const guint8 *restrict qh, guint8 when, guint64 add,
                       gint8 *restrict level)
{
  for (guint i = 0; i < 4; i++)
    {
      guint64 q;

      memcpy (&q, qs + 8 * (i & 1), 8);
      q = (q >> (i < 2 ? 0 : 4) & 0x0F0F0F0F0F0F0F0Fu) | expand_bits (qh[i] ^ when) * add;
      memcpy (level + 8 * i, &q, 8);
    }
}

/* Q5_0, 22 bytes, 32 elements               value = d × (q − 16)
 *   0  fp16 d
 *   2  qh[4]: bit e&7 of byte e>>3 = bit 4 of element e
 *   6  qs[16], low four bits, nibbles as Q4_0 */
#define Q5_0_BYTES 22
static inline void
Q5_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  /* With a fifth bit the level is the low four bits, without it 16 less: the sign is extended. */
  split_with_fifth_bits (b + 6, b + 2, 0xFF, 0xF0, level);
}

#define Q5_0_scales Q4_0_scales

/* Q5_1, 24 bytes, 32 elements               value = d × q + m
 *   0  fp16 d    2  fp16 m    4  qh[4] as Q5_0    8  qs[16] as Q5_0 */
#define Q5_1_BYTES 24
static inline void
Q5_1_levels (const guint8 *restrict b, gint8 *restrict level)
{
  split_with_fifth_bits (b + 8, b + 4, 0, 0x10, level);
}

#define Q5_1_scales Q4_0_scales
#define Q5_1_offsets Q4_1_offsets

/* Q8_0, 34 bytes, 32 elements               value = d × q
 *   0  fp16 d    2  int8 qs[32] */
#define Q8_0_BYTES 34
static inline void
Q8_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  memcpy (level, b + 2, 32);
}

#define Q8_0_scales Q4_0_scales

/* Q8_1, 36 bytes, 32 elements               value = d × q
 *   0  fp16 d    2  fp16 s (d × sum of qs, not needed)    4  int8 qs[32] */
#define Q8_1_BYTES 36
static inline void
Q8_1_levels (const guint8 *restrict b, gint8 *restrict level)
{
  memcpy (level, b + 4, 32);
}

#define Q8_1_scales Q4_0_scales

/* Q8_K, 292 bytes, 256 elements             value = d × q (rounds: d is binary32)
 *   0  float d    4  int8 qs[256]    260  int16 bsums[16] (not needed) */
#define Q8_K_BYTES 292
static inline void
Q8_K_levels (const guint8 *restrict b, gint8 *restrict level)
{
  memcpy (level, b + 4, 256);
}

static inline void
Q8_K_scales (const guint8 *restrict b, float *restrict scale)
{
  scale[0] = tm_load_f32 (b);
}

/* Q1_0, 18 bytes, 128 elements              value = d × (2 q − 1)
 *   0  fp16 d    2  qs[16]: bit e&7 of byte e>>3 = element e */
#define Q1_0_BYTES 18
static inline void
Q1_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint i = 0; i < 16; i++)
    {
      /* 1 where the bit is set, else all bits: −1 */
      guint64 x = expand_bits (b[2 + i]) | expand_bits ((guint8)~b[2 + i]) * 0xFF;

      memcpy (level + 8 * i, &x, 8);
    }
}

static inline void
Q1_0_codes (const guint8 *restrict b, guint16 *restrict code)
{
  for (guint e = 0; e < 128; e++)
    code[e] = (b[2 + (e >> 3)] >> (e & 7)) & 1;
}

#define Q1_0_scales Q4_0_scales

/* Q2_0, 18 bytes, 64 elements               value = d × (q − 1)
 *   0  fp16 d    2  qs[16]: bits 2(e&3) … +1 of byte e>>2 = element e (four neighbours a byte) */
#define Q2_0_BYTES 18
static inline void
Q2_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint j = 0; j < 16; j++)
    {
      /* Field k moves by 6k to the low end of byte k; then 1 less in every byte, nothing borrowed. */
      guint32 q = b[2 + j], x = (q | q << 6 | q << 12 | q << 18) & 0x03030303u;

      x = GUINT32_TO_LE (((x | 0x80808080u) - 0x01010101u) ^ 0x80808080u);
      memcpy (level + 4 * j, &x, 4);
    }
}

#define Q2_0_scales Q4_0_scales

/* TQ1_0, 54 bytes, 256 elements             value = d × (q − 1)
 *   0   qs[48], five base-3 digits a byte as a fraction of 256, the first digit the most significant
 *         element e < 160: byte e%32, digit e/32;   160 … 239: byte 32 + e'%16, digit e'/16
 *   48  qh[4], four digits a byte: element 240 + e': byte 48 + e'%4, digit e'/4
 *   52  fp16 d */
#define TQ1_0_BYTES 54
static inline gint8
trit (guint8 byte, guint power)
{
  guint8 fraction = (guint8)(byte * power);

  return (gint8)((((guint16)fraction * 3) >> 8) - 1);
}

static inline void
TQ1_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  static const guint8 power[5] = { 1, 3, 9, 27, 81 };

  for (guint digit = 0; digit < 5; digit++)
    for (guint j = 0; j < 32; j++)
      level[32 * digit + j] = trit (b[j], power[digit]);
  for (guint digit = 0; digit < 5; digit++)
    for (guint j = 0; j < 16; j++)
      level[160 + 16 * digit + j] = trit (b[32 + j], power[digit]);
  for (guint digit = 0; digit < 4; digit++)
    for (guint j = 0; j < 4; j++)
      level[240 + 4 * digit + j] = trit (b[48 + j], power[digit]);
}

static inline void
TQ1_0_scales (const guint8 *restrict b, float *restrict scale)
{
  scale[0] = tm_load_f16 (b + 52);
}

/* TQ2_0, 66 bytes, 256 elements             value = d × (q − 1)
 *   0   qs[64], two-bit planes: element e is in byte 32 (e>>7) + (e&31), bits 2((e>>5)&3) … +1
 *   64  fp16 d */
#define TQ2_0_BYTES 66
static inline void
TQ2_0_levels (const guint8 *restrict b, gint8 *restrict level)
{
  for (guint half = 0; half < 2; half++)
    for (guint plane = 0; plane < 4; plane++)
      for (guint j = 0; j < 32; j++)
        level[128 * half + 32 * plane + j] = (gint8)(((b[32 * half + j] >> (2 * plane)) & 3) - 1);
}

static inline void
TQ2_0_scales (const guint8 *restrict b, float *restrict scale)
{
  scale[0] = tm_load_f16 (b + 64);
}
