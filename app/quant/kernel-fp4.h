/* Four-bit code books: uneven integers and E2M1. Part of kernel.h. */

/* IQ4_NL, 18 bytes, 32 elements             value = d × codebook[q]
 *   0  fp16 d    2  qs[16], nibbles as Q4_0 */
#define IQ4_NL_BYTES 18
static inline void
IQ4_NL_nibbles (const guint8 *b, guint8 *code)
{
  SPLIT_NIBBLES (b + 2, 16, code);
}

/* IQ4_XS, 136 bytes, 256 elements           value = d × (sc − 32) × codebook[q]
 *   0  fp16 d
 *   2  u16 scales_h: bits 2s … 2s+1 = bits 4-5 of sub-block s = e>>5
 *   4  scales_l[4]: low (s even) or high nibble of byte s>>1 = bits 0-3
 *   8  qs[128]: sub-block s has bytes 16s …; element j < 16 low nibble of byte j, 16+j high */
#define IQ4_XS_BYTES 136
static inline void
IQ4_XS_nibbles (const guint8 *b, guint8 *code)
{
  for (guint s = 0; s < 8; s++)
    SPLIT_NIBBLES (b + 8 + 16 * s, 16, code + 32 * s);
}

static inline guint
IQ4_XS_scale_code (const guint8 *b, guint s)
{
  guint low = (b[4 + (s >> 1)] >> (4 * (s & 1))) & 15;

  return low | ((guint) (tm_load_u16 (b + 2) >> (2 * s)) & 3) << 4;
}

static inline void
IQ4_XS_scales (const guint8 *b, float *scale)
{
  float d = tm_load_f16 (b);

  for (guint s = 0; s < 8; s++)
    scale[s] = d * (float) ((gint) IQ4_XS_scale_code (b, s) - 32);
}

#define IQ4_NL_scales Q4_0_scales

/* MXFP4, 17 bytes, 32 elements              value = 2^(e − 128) × codebook[q] (code book doubled, scale halved)
 *   0  E8M0 e    1  qs[16], nibbles as Q4_0 */
#define MXFP4_BYTES 17
static inline void
MXFP4_nibbles (const guint8 *b, guint8 *code)
{
  SPLIT_NIBBLES (b + 1, 16, code);
}

static inline void
MXFP4_scales (const guint8 *b, float *scale)
{
  scale[0] = tm_e8m0_half_to_float (b[0]);
}

/* NVFP4, 36 bytes, 64 elements              value = d × codebook[q] (code book doubled, scale halved)
 *   0  d[4], unsigned E4M3, one a sub-block of 16
 *   4  qs[32]: sub-block s has bytes 8s …; element j < 8 low nibble of byte j, 8+j high */
#define NVFP4_BYTES 36
static inline void
NVFP4_nibbles (const guint8 *b, guint8 *code)
{
  for (guint s = 0; s < 4; s++)
    SPLIT_NIBBLES (b + 4 + 8 * s, 8, code + 16 * s);
}

static inline void
NVFP4_scales (const guint8 *b, float *scale)
{
  for (guint s = 0; s < 4; s++)
    scale[s] = tm_ue4m3_half_to_float (b[s]);
}

#define NIBBLE_BOOK(T, elements, book) \
  static inline void T##_levels (const guint8 *b, gint8 *level) \
  { \
    guint8 code[elements]; \
    T##_nibbles (b, code); \
    for (guint i = 0; i < (elements); i += 16) \
      lookup_16 (book, code + i, level + i); \
  } \
  static inline void T##_codes (const guint8 *b, guint16 *out) \
  { \
    guint8 code[elements]; \
    T##_nibbles (b, code); \
    for (guint i = 0; i < (elements); i++) \
      out[i] = code[i]; \
  }

NIBBLE_BOOK (IQ4_NL, 32, tm_kvalues_iq4nl)
NIBBLE_BOOK (IQ4_XS, 256, tm_kvalues_iq4nl)
NIBBLE_BOOK (MXFP4, 32, tm_kvalues_fp4)
NIBBLE_BOOK (NVFP4, 64, tm_kvalues_fp4)
