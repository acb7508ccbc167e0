/* Shared by the benchmarks of conventions: operands in memory, and how long decoding them takes. */
#pragma once

#include <string.h>

#include "quant/codecs.h"

#define ROWS 4096u
#define COLUMNS 4096u
#define N ((gsize) ROWS * COLUMNS)
#define RUN 65536u

/* A stored tensor of random bytes whose exponents stay in the middle, in memory. */
static inline TmStored *
store (TmDtype dtype, guint rank, const guint64 *shape)
{
  TmStored *stored = g_new0 (TmStored, 1);
  static guint64 x = 88172645463325252u;
  guint8 *bytes;
  g_autoptr (GBytes) held = NULL;
  guint64 elements = 1;

  for (guint axis = 0; axis < rank; axis++)
    elements *= shape[axis];
  stored->name = g_strdup ("w");
  stored->dtype = dtype;
  stored->rank = rank;
  stored->shape = g_memdup2 (shape, sizeof *shape * rank);
  stored->n_elements = elements;
  stored->bytes = elements / tm_dtype_get_info (dtype)->block_elements * tm_dtype_get_info (dtype)->block_bytes;
  bytes = g_malloc (stored->bytes);
  for (gsize i = 0; i < stored->bytes; i++)
    {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      bytes[i] = dtype == TM_DTYPE_U8 || dtype == TM_DTYPE_U32 || dtype == TM_DTYPE_I8 || dtype == TM_DTYPE_I32
                     ? (guint8) (x >> 32)
                     : ((guint8) (x >> 32) & 0x1F) | 0x20;
    }
  held = g_bytes_new_take (bytes, stored->bytes);
  stored->source = tm_source_new_bytes ("bench", held);
  return stored;
}

#define STORE(dtype, ...)                                                                                              \
  store (TM_DTYPE_##dtype, (guint) (sizeof ((guint64[]) { __VA_ARGS__ }) / 8), (const guint64[]) { __VA_ARGS__ })

static inline TmTensor *
tensor_new (const TmStored *values)
{
  static const guint64 shape[2] = { ROWS, COLUMNS };
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->name = g_strdup ("w");
  tensor->rank = 2;
  tensor->shape = g_memdup2 (shape, sizeof shape);
  tensor->n_elements = N;
  tensor->values = values;
  return tensor;
}

/* Called before every pass over the tensor, where something is to be forgotten. */
static void (*bench_before) (TmTensor *tensor);

static inline void
report (const char *name, TmTensor *tensor, double *q4)
{
  static float *out, *from;
  double best = 1e9, copy = 1e9;

  if (out == NULL)
    {
      out = g_malloc (RUN * sizeof *out);
      from = g_malloc0 (N * sizeof *from);
    }
  for (guint repeat = 0; repeat < 12; repeat++)
    {
      gint64 start = g_get_monotonic_time (), middle;

      for (gsize at = 0; at < N; at += RUN)
        {
          memcpy (out, from + at, RUN * sizeof *out);
          __asm__ volatile("" : : "r"(out) : "memory");
        }
      if (bench_before)
        bench_before (tensor);
      middle = g_get_monotonic_time ();
      for (gsize at = 0; at < N; at += RUN)
        if (!tm_tensor_decode (tensor, TM_QUANTITY_VALUE, at, RUN, out, NULL, NULL))
          g_error ("%s: cannot be decoded", name);
      copy = MIN (copy, (double) (middle - start));
      best = MIN (best, (double) (g_get_monotonic_time () - middle));
    }
  if (*q4 == 0)
    *q4 = best;
  g_print ("%-28s %8.2f %10.2f %10.2f\n", name, (double) N / best / 1e3, copy / best, *q4 / best);
}
