/* Throughput of the decoders as a ratio to memcpy measured in the same run: in cache (32 Ki elements) and in memory.
 * The targets are the generic library's ratios; they stand beside the figures and nothing is asserted.
 *
 *   bench-decode [--portable] [--memory ELEMENTS] [TYPE…] */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "quant/codecs.h"

#define CACHE_ELEMENTS 32768u

typedef struct
{
  const char *dtype;
  double cache, memory;
} Target;

static const Target targets[] = {
  { "Q4_0", 0.18, 0.79 },    { "Q8_0", 0.63, 1.63 }, { "Q4_K", 0.48, 1.61 },
  { "Q5_K", 0.36, 1.49 },    { "Q6_K", 0.07, 0.33 }, { "IQ4_XS", 0.07, 0.35 },
  { "IQ2_XXS", 0.11, 0.53 }, { "F16", 0.07, 0.38 },  { "BF16", 1.01, 1.60 },
};

typedef void (*Decode) (const guint8 *packed, gsize n, float *out);

static void
copy_floats (const guint8 *packed, gsize n, float *out)
{
  memcpy (out, packed, n * sizeof *out);
}

/* Seconds of one call. */
static double
time_once (Decode decode, const guint8 *packed, gsize n, float *out, gsize loops)
{
  gint64 start = g_get_monotonic_time ();

  for (gsize i = 0; i < loops; i++)
    {
      decode (packed, n, out);
      __asm__ volatile("" : : "r"(out) : "memory");
    }
  return (double)(g_get_monotonic_time () - start) / 1e6 / (double)loops;
}

/* Best times of a decode and of a copy of as many floats, taken in turn: other work on the machine meets both. */
static double
measure (Decode decode, const guint8 *packed, gsize n, const guint8 *floats, float *out, gsize elements, double *copy)
{
  double best = 1e9;
  gsize loops = MAX (1, (gsize)2 * 1024 * 1024 / elements);
  guint repeats = loops > 1 ? 40 : 4;

  *copy = 1e9;
  decode (packed, n, out);
  for (guint repeat = 0; repeat < repeats; repeat++)
    {
      *copy = MIN (*copy, time_once (copy_floats, floats, elements, out, loops));
      best = MIN (best, time_once (decode, packed, n, out, loops));
    }
  return best;
}

static void
fill (guint8 *packed, gsize n)
{
  guint64 x = 88172645463325252u;

  /* No exponent of any scale is so small or so large that products are subnormal or infinite. */
  for (gsize i = 0; i < n; i++)
    {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      packed[i] = ((guint8)(x >> 32) & 0x1F) | 0x20;
    }
}

int
main (int argc, char **argv)
{
  gsize memory = 16 * 1024 * 1024;
  gboolean portable = FALSE;
  g_autoptr (GPtrArray) only = g_ptr_array_new ();
  g_autofree float *out = NULL;
  g_autofree guint8 *floats = NULL;

  for (gint i = 1; i < argc; i++)
    if (g_str_equal (argv[i], "--portable"))
      portable = TRUE;
    else if (g_str_equal (argv[i], "--memory") && i + 1 < argc)
      memory = (gsize)g_ascii_strtoull (argv[++i], NULL, 10) / 256 * 256;
    else
      g_ptr_array_add (only, argv[i]);
  out = g_malloc (MAX (memory, CACHE_ELEMENTS) * sizeof *out);
  floats = g_malloc (MAX (memory, CACHE_ELEMENTS) * sizeof *out);
  fill (floats, MAX (memory, CACHE_ELEMENTS) * sizeof *out);
  g_print ("%s build; in cache %u elements, in memory %zu\n", portable ? "portable" : "chosen", CACHE_ELEMENTS, memory);
  g_print ("%-12s %10s %10s %8s %10s %8s\n", "type", "cache Ge/s", "x memcpy", "target", "memory x", "target");
  for (guint i = 0; i < TM_N_DTYPES; i++)
    {
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype)i);
      const TmBlockCodec *codec = portable ? tm_block_codec_get_portable ((TmDtype)i) : tm_block_codec_get ((TmDtype)i);
      Decode decode = codec ? codec->values
                            : (portable ? tm_row_kernel_get_portable ((TmDtype)i) : tm_row_kernel_get ((TmDtype)i));
      const Target *target = NULL;
      gsize largest = MAX (memory, CACHE_ELEMENTS);
      g_autofree guint8 *packed = NULL;
      double cache, copy;

      if (decode == NULL || (only->len && !g_ptr_array_find_with_equal_func (only, info->name, g_str_equal, NULL)))
        continue;
      for (guint t = 0; t < G_N_ELEMENTS (targets); t++)
        if (g_str_equal (targets[t].dtype, info->name))
          target = &targets[t];
      packed = g_malloc (largest / info->block_elements * info->block_bytes);
      fill (packed, largest / info->block_elements * info->block_bytes);
      cache = measure (decode, packed, CACHE_ELEMENTS / info->block_elements, floats, out, CACHE_ELEMENTS, &copy);
      g_print ("%-12s %10.2f %10.2f ", info->name, CACHE_ELEMENTS / cache / 1e9, copy / cache);
      if (target)
        g_print ("%8.2f ", target->cache);
      else
        g_print ("%8s ", "-");
      if (memory)
        {
          double time = measure (decode, packed, memory / info->block_elements, floats, out, memory, &copy);

          g_print ("%10.2f ", copy / time);
          if (target)
            g_print ("%8.2f", target->memory);
          else
            g_print ("%8s", "-");
        }
      g_print ("\n");
    }
  return EXIT_SUCCESS;
}
