#include "sample-quantize.h"

#include <math.h>
#include <string.h>

/* --- Numbers ---------------------------------------------------------------------------------------------------- */

/* Round to nearest, ties to even, by bits alone: the same on every machine. */
uint16_t
sample_float_to_half (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;

  if (magnitude >= 0x477ff000u) /* rounds to 65 536 or more */
    return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 0x33000001u) /* at most half of the smallest subnormal */
    return sign;
  if (magnitude < 0x38800000u)
    {
      uint32_t shift = 126 - (magnitude >> 23);
      uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
      uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
      return (uint16_t)(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
    }
  magnitude += 0xfffu + ((magnitude >> 13) & 1);
  return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
}

float
sample_half_to_float (uint16_t half)
{
  uint32_t exponent = (half >> 10) & 31, mantissa = half & 0x3ffu;
  float magnitude
      = exponent == 0 ? ldexpf ((float)mantissa, -24) : ldexpf ((float)(mantissa | 0x400u), (int)exponent - 25);
  return half & 0x8000u ? -magnitude : magnitude;
}

static void
put_half (uint8_t *out, float value, float *stored)
{
  uint16_t half = sample_float_to_half (value);
  out[0] = (uint8_t)(half & 0xff);
  out[1] = (uint8_t)(half >> 8);
  *stored = sample_half_to_float (half);
}

static int
round_to (float value, int low, int high)
{
  float nearest = rintf (value);
  if (!(nearest > (float)low))
    return low;
  return nearest < (float)high ? (int)nearest : high;
}

/* --- Plain ------------------------------------------------------------------------------------------------------ */

static void
put_u32 (uint8_t *out, uint32_t bits)
{
  for (int i = 0; i < 4; i++)
    out[i] = (uint8_t)(bits >> (8 * i));
}

static void
encode_f32 (const float *values, uint8_t *block)
{
  uint32_t bits;
  memcpy (&bits, values, sizeof bits);
  put_u32 (block, bits);
}

static void
encode_f16 (const float *values, uint8_t *block)
{
  float stored;
  put_half (block, values[0], &stored);
}

/* --- Q8_0: d, then 32 signed bytes ------------------------------------------------------------------------------- */

static void
encode_q8_0 (const float *values, uint8_t *block)
{
  float largest = 0, d;
  for (int i = 0; i < 32; i++)
    largest = fmaxf (largest, fabsf (values[i]));
  put_half (block, largest / 127, &d);
  for (int i = 0; i < 32; i++)
    block[2 + i] = (uint8_t)(int8_t)(d > 0 ? round_to (values[i] / d, -127, 127) : 0);
}

/* --- Q4_K: d, dmin, eight 6-bit scales and mins in 12 bytes, 256 nibbles ------------------------------------------ */

/* Scale and min of 32 values: a few steps around the spread, the one with the least squared error. */
static float
fit_scale_and_min (const float *values, float *min)
{
  float low = 0, high = values[0];
  for (int i = 0; i < 32; i++)
    {
      low = fminf (low, values[i]);
      high = fmaxf (high, values[i]);
    }
  *min = -low;
  if (!(high > low))
    return 0;
  float best_scale = (high - low) / 15, best_error = INFINITY;
  for (int step = 0; step < 4; step++)
    {
      float scale = (high - low) / (15 + 0.5f * (float)step), error = 0;
      for (int i = 0; i < 32; i++)
        {
          float difference = scale * (float)round_to ((values[i] - low) / scale, 0, 15) + low - values[i];
          error += difference * difference;
        }
      if (error < best_error)
        {
          best_error = error;
          best_scale = scale;
        }
    }
  return best_scale;
}

static void
encode_q4_k (const float *values, uint8_t *block)
{
  float scale[8], min[8], largest_scale = 0, largest_min = 0, d, dmin;
  uint8_t *packed = block + 4, *nibbles = block + 16;

  for (int s = 0; s < 8; s++)
    {
      scale[s] = fit_scale_and_min (values + 32 * s, &min[s]);
      largest_scale = fmaxf (largest_scale, scale[s]);
      largest_min = fmaxf (largest_min, min[s]);
    }
  memset (block, 0, 144);
  put_half (block, largest_scale / 63, &d);
  put_half (block + 2, largest_min / 63, &dmin);

  for (int s = 0; s < 8; s++)
    {
      int sc = d > 0 ? round_to (scale[s] / d, 0, 63) : 0, mn = dmin > 0 ? round_to (min[s] / dmin, 0, 63) : 0;
      if (s < 4)
        {
          packed[s] |= (uint8_t)sc;
          packed[s + 4] |= (uint8_t)mn;
        }
      else
        {
          packed[s + 4] = (uint8_t)((sc & 15) | (mn & 15) << 4);
          packed[s - 4] |= (uint8_t)((sc >> 4) << 6);
          packed[s] |= (uint8_t)((mn >> 4) << 6);
        }
      float step = d * (float)sc, offset = dmin * (float)mn;
      for (int i = 0; i < 32; i++)
        {
          int code = step > 0 ? round_to ((values[32 * s + i] + offset) / step, 0, 15) : 0;
          nibbles[32 * (s / 2) + i] |= (uint8_t)(s & 1 ? code << 4 : code);
        }
    }
}

/* --- Q6_K: low nibbles, upper two bits, 16 signed scales, d --------------------------------------------------------
 */

/* Signed scale of 16 values: the value of largest magnitude goes to −32, or nearly so. */
static float
fit_signed_scale (const float *values)
{
  float extreme = 0;
  for (int i = 0; i < 16; i++)
    if (fabsf (values[i]) > fabsf (extreme))
      extreme = values[i];
  if (extreme == 0)
    return 0;
  float best_scale = 0, best_error = INFINITY;
  for (int step = 0; step < 4; step++)
    {
      float scale = extreme / -(31 + 0.5f * (float)step), error = 0;
      for (int i = 0; i < 16; i++)
        {
          float difference = scale * (float)round_to (values[i] / scale, -32, 31) - values[i];
          error += difference * difference;
        }
      if (error < best_error)
        {
          best_error = error;
          best_scale = scale;
        }
    }
  return best_scale;
}

static void
encode_q6_k (const float *values, uint8_t *block)
{
  float scale[16], largest = 0, d;
  uint8_t *low = block, *high = block + 128;

  for (int s = 0; s < 16; s++)
    {
      scale[s] = fit_signed_scale (values + 16 * s);
      largest = fmaxf (largest, fabsf (scale[s]));
    }
  memset (block, 0, 210);
  put_half (block + 208, largest / 127, &d);

  for (int s = 0; s < 16; s++)
    {
      int sc = d > 0 ? round_to (scale[s] / d, -127, 127) : 0;
      float step = d * (float)sc;
      block[192 + s] = (uint8_t)(int8_t)sc;
      for (int i = 0; i < 16; i++)
        {
          int e = 16 * s + i, within = e & 127;
          int code = 32 + (step != 0 ? round_to (values[e] / step, -32, 31) : 0);
          low[64 * (e >> 7) + (within & 63)] |= (uint8_t)(within < 64 ? code & 15 : (code & 15) << 4);
          high[32 * (e >> 7) + (e & 31)] |= (uint8_t)((code >> 4) << (2 * ((e >> 5) & 3)));
        }
    }
}

const SampleTypeInfo sample_types[N_SAMPLE_TYPES] = {
  [SAMPLE_F32] = { 0, 1, 4, encode_f32 },        [SAMPLE_F16] = { 1, 1, 2, encode_f16 },
  [SAMPLE_Q8_0] = { 8, 32, 34, encode_q8_0 },    [SAMPLE_Q4_K] = { 12, 256, 144, encode_q4_k },
  [SAMPLE_Q6_K] = { 14, 256, 210, encode_q6_k },
};
