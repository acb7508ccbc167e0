/* The loops over every number, built as the codecs' kernels are: vectors at any build type. */
#include "analysis/count.h"

#include <math.h>
#include <string.h>

#define LANES 8

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_WIDE 1
#else
#define HAVE_WIDE 0
#endif

static inline guint32
get_bits (float number)
{
  guint32 bits;

  memcpy (&bits, &number, sizeof bits);
  return bits;
}

__attribute__ ((always_inline)) static inline void
sum_chunk (const float *restrict numbers, gsize n, float shift, TmChunkSums *out)
{
  double sum[LANES] = { 0 }, squares[LANES] = { 0 };
  float min[LANES], max[LANES];
  guint32 bits[LANES] = { 0 }, zeros[LANES] = { 0 }, negative_zeros[LANES] = { 0 }, not_finite[LANES] = { 0 };
  gsize i = 0;

  for (int j = 0; j < LANES; j++)
    min[j] = max[j] = numbers[0];
  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      {
        float x = numbers[i + j];
        guint32 b = get_bits (x);
        double d = (double) x - (double) shift;

        sum[j] += d;
        squares[j] += d * d;
        min[j] = x < min[j] ? x : min[j];
        max[j] = x > max[j] ? x : max[j];
        bits[j] |= b;
        zeros[j] += (b & 0x7fffffffu) == 0;
        negative_zeros[j] += b == 0x80000000u;
        not_finite[j] |= (b & 0x7f800000u) == 0x7f800000u;
      }
  for (; i < n; i++)
    {
      float x = numbers[i];
      guint32 b = get_bits (x);
      double d = (double) x - (double) shift;

      sum[0] += d;
      squares[0] += d * d;
      min[0] = x < min[0] ? x : min[0];
      max[0] = x > max[0] ? x : max[0];
      bits[0] |= b;
      zeros[0] += (b & 0x7fffffffu) == 0;
      negative_zeros[0] += b == 0x80000000u;
      not_finite[0] |= (b & 0x7f800000u) == 0x7f800000u;
    }
  *out = (TmChunkSums){ .min = min[0], .max = max[0] };
  for (int j = 0; j < LANES; j++)
    {
      out->sum += sum[j];
      out->squares += squares[j];
      out->min = MIN (out->min, min[j]);
      out->max = MAX (out->max, max[j]);
      out->bits |= bits[j];
      out->zeros += zeros[j];
      out->negative_zeros += negative_zeros[j];
      out->not_finite |= not_finite[j] != 0;
    }
}

#if HAVE_WIDE
__attribute__ ((target ("avx2"))) static void
sum_chunk_wide (const float *numbers, gsize n, float shift, TmChunkSums *sums)
{
  sum_chunk (numbers, n, shift, sums);
}
#endif

/* n at least 1. */
void
tm_count_chunk (const float *numbers, gsize n, float shift, TmChunkSums *sums)
{
#if HAVE_WIDE
  if (__builtin_cpu_supports ("avx2"))
    {
      sum_chunk_wide (numbers, n, shift, sums);
      return;
    }
#endif
  sum_chunk (numbers, n, shift, sums);
}
