/* Seeded random numbers: every run of a test sees the same views. */
#pragma once

#include <glib.h>

static inline GRand *
seeded (void)
{
  static GRand *rand;

  if (!rand)
    rand = g_rand_new_with_seed (20240607);
  return rand;
}

static inline gint32
pick_int (gint32 from, gint32 to)
{
  return g_rand_int_range (seeded (), from, to);
}

static inline double
pick_double (double from, double to)
{
  return g_rand_double_range (seeded (), from, to);
}
