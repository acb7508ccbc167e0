/* Unaligned little-endian loads and narrow floats as binary32, without a branch so that loops over them vectorise. */
#pragma once

#include <glib.h>
#include <string.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

static inline guint16
tm_load_u16 (const guint8 *p)
{
  guint16 x;

  memcpy (&x, p, sizeof x);
  return GUINT16_FROM_LE (x);
}

static inline guint32
tm_load_u32 (const guint8 *p)
{
  guint32 x;

  memcpy (&x, p, sizeof x);
  return GUINT32_FROM_LE (x);
}

static inline guint64
tm_load_u64 (const guint8 *p)
{
  guint64 x;

  memcpy (&x, p, sizeof x);
  return GUINT64_FROM_LE (x);
}

static inline float
tm_float_from_bits (guint32 bits)
{
  float x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

static inline guint32
tm_float_to_bits (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static inline double
tm_double_from_bits (guint64 bits)
{
  double x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

static inline float
tm_load_f32 (const guint8 *p)
{
  return tm_float_from_bits (tm_load_u32 (p));
}

/* binary16. Normal numbers, infinities and NaN: move the fields into place with the exponent 112 too high, which keeps
 * exponent 31 at 255, and multiply by 2^-112 (exact; no subnormal is touched). Subnormals: put the bits under 0.5's and
 * take 0.5 away (exact). */
static inline float
tm_half_to_float (guint16 half)
{
#ifdef __F16C__
  return _cvtsh_ss (half);
#else
  guint32 word = (guint32)half << 16;
  guint32 twice = word + word;
  float normal = tm_float_from_bits ((twice >> 4) + (0xE0u << 23)) * 0x1p-112f;
  float subnormal = tm_float_from_bits ((twice >> 17) | (126u << 23)) - 0.5f;
  guint32 magnitude = twice < (1u << 27) ? tm_float_to_bits (subnormal) : tm_float_to_bits (normal);

  return tm_float_from_bits ((word & 0x80000000u) | magnitude);
#endif
}

static inline float
tm_load_f16 (const guint8 *p)
{
  return tm_half_to_float (tm_load_u16 (p));
}

static inline float
tm_bfloat_to_float (guint16 x)
{
  return tm_float_from_bits ((guint32)x << 16);
}

/* Half of an E8M0 scale: 2^(code − 128); codes 0 and 1 are binary32 subnormals; 255 is no NaN (ggml). */
static inline float
tm_e8m0_half_to_float (guint8 code)
{
  return tm_float_from_bits (code < 2 ? 0x00200000u << code : (guint32)(code - 1) << 23);
}

/* Half of an unsigned E4M3 scale. Bit 7 is ignored, except that 0x7F is 0 and 0xFF is not (ggml). */
static inline float
tm_ue4m3_half_to_float (guint8 code)
{
  guint32 exponent = (code >> 3) & 15, mantissa = code & 7;

  if (code == 0x7F)
    return 0;
  if (exponent == 0)
    return (float)mantissa * 0x1p-10f;
  return tm_float_from_bits ((exponent + 119) << 23 | mantissa << 20);
}
