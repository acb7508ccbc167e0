#include "quant/kernels.h"

#include "quant/map-kernels.h"

#ifdef TM_HAVE_AVX2
#include <cpuid.h>

static gboolean
processor_has_avx2 (void)
{
  guint a, b, c, d;

  /* The builtin asks the system too whether it keeps the wide registers. */
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx2") && __get_cpuid (1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}
#endif

const TmKernels *
tm_kernels_get (void)
{
#ifdef TM_HAVE_AVX2
  static gsize chosen;

  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, (gsize)(processor_has_avx2 () ? &tm_kernels_avx2 : &tm_kernels_portable));
  return (const TmKernels *)chosen;
#else
  return &tm_kernels_portable;
#endif
}

const TmMapKernels *
tm_map_kernels_get (void)
{
#ifdef TM_HAVE_AVX2
  if (tm_kernels_get () == &tm_kernels_avx2)
    return &tm_map_kernels_avx2;
#endif
  return &tm_map_kernels_portable;
}
