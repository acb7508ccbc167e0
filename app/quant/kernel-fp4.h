/* Four-bit code books: uneven integers and E2M1. Part of kernel.h. */

/* qs begins at byte first, in n_runs runs of n bytes */
#define NIBBLE_BOOK(T, book, first, n, n_runs)                                                                         \
  static inline void T##_levels (const guint8 *restrict b, gint8 *restrict level)                                      \
  {                                                                                                                    \
    for (guint i = 0; i < (n_runs); i++)                                                                               \
      lookup_nibbles (book, b + (first) + (n)*i, n, level + 2 * (n)*i);                                                \
  }                                                                                                                    \
  static inline void T##_codes (const guint8 *restrict b, guint16 *restrict out)                                       \
  {                                                                                                                    \
    for (guint i = 0; i < (n_runs); i++)                                                                               \
      SPLIT_NIBBLES (b + (first) + (n)*i, n, out + 2 * (n)*i);                                                         \
  }

/* IQ4_NL, 18 bytes, 32 elements             value = d × codebook[q]
 *   0  fp16 d    2  qs[16], nibbles as Q4_0 */
#define IQ4_NL_BYTES 18
NIBBLE_BOOK (IQ4_NL, tm_kvalues_iq4nl, 2, 16, 1)

/* IQ4_XS, 136 bytes, 256 elements           value = d × (sc − 32) × codebook[q]
 *   0  fp16 d
 *   2  u16 scales_h: bits 2s … 2s+1 = bits 4-5 of sub-block s = e>>5
 *   4  scales_l[4]: low (s even) or high nibble of byte s>>1 = bits 0-3
 *   8  qs[128]: sub-block s has bytes 16s …; element j < 16 low nibble of byte j, 16+j high */
#define IQ4_XS_BYTES 136
NIBBLE_BOOK (IQ4_XS, tm_kvalues_iq4nl, 8, 16, 8)

static inline guint
IQ4_XS_scale_code (const guint8 *b, guint s)
{
  guint low = (b[4 + (s >> 1)] >> (4 * (s & 1))) & 15;

  return low | ((guint)(tm_load_u16 (b + 2) >> (2 * s)) & 3) << 4;
}

static inline void
IQ4_XS_scales (const guint8 *restrict b, float *restrict scale)
{
  float d = tm_load_f16 (b);

  for (guint s = 0; s < 8; s++)
    scale[s] = d * (float)((gint)IQ4_XS_scale_code (b, s) - 32);
}

#define IQ4_NL_scales Q4_0_scales

/* MXFP4, 17 bytes, 32 elements              value = 2^(e − 128) × codebook[q] (code book doubled, scale halved)
 *   0  E8M0 e    1  qs[16], nibbles as Q4_0 */
#define MXFP4_BYTES 17
NIBBLE_BOOK (MXFP4, tm_kvalues_fp4, 1, 16, 1)

static inline void
MXFP4_scales (const guint8 *restrict b, float *restrict scale)
{
  scale[0] = tm_e8m0_half_to_float (b[0]);
}

/* NVFP4, 36 bytes, 64 elements              value = d × codebook[q] (code book doubled, scale halved)
 *   0  d[4], unsigned E4M3, one a sub-block of 16
 *   4  qs[32]: sub-block s has bytes 8s …; element j < 8 low nibble of byte j, 8+j high */
#define NVFP4_BYTES 36
NIBBLE_BOOK (NVFP4, tm_kvalues_fp4, 4, 8, 4)

static inline void
NVFP4_scales (const guint8 *restrict b, float *restrict scale)
{
  for (guint s = 0; s < 4; s++)
    scale[s] = tm_ue4m3_half_to_float (b[s]);
}
