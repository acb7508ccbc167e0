/* Statistics of a whole tensor as a ratio to copying its bytes with memcpy: a sparse file of zeros, as large as asked for, and
 * noise of which there is less, as zeros are easier. Printed, never asserted.
 *
 *   bench-stats [ELEMENTS] */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/statistics.h"
#include "recognise/recognise.h"

#define COPIED 268435456u /* bytes: more than any cache */
#define NOISE 67108864u   /* elements */

/* Seconds to copy one byte. */
static double
time_copy (void)
{
  guint8 *from = g_malloc (COPIED), *to = g_malloc (COPIED);
  double best = 1e9;

  memset (from, 1, COPIED);
  memset (to, 2, COPIED);
  for (guint i = 0; i < 5; i++)
    {
      gint64 start = g_get_monotonic_time ();

      memcpy (to, from, COPIED);
      best = MIN (best, (double) (g_get_monotonic_time () - start) / 1e6);
    }
  g_print ("%s", to[COPIED / 2] == 1 ? "" : "?");
  g_free (from);
  g_free (to);
  return best / COPIED;
}

static void
write_noise (FILE *file, const char *dtype, guint64 elements)
{
  guint64 state = 1, bytes = elements * (strcmp (dtype, "F32") == 0 ? 4 : 2);
  guint32 block[16384];

  for (guint64 done = 0; done < bytes; done += sizeof block)
    {
      for (gsize i = 0; i < G_N_ELEMENTS (block); i++)
        {
          state = state * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407;
          /* Exponents as of weights near 0.01: eight octaves. */
          block[i] = (guint32) (state >> 32 & 0x807fffff) | (guint32) (113 + __builtin_ctzll (state >> 40 | 0x80)) << 23;
        }
      fwrite (block, 1, sizeof block, file);
    }
}

static void
run (const char *folder, const char *dtype, guint64 elements, gboolean noise, double copy)
{
  guint64 bytes = elements * (strcmp (dtype, "F32") == 0 ? 4 : 2), length;
  g_autofree char *path = g_build_filename (folder, "large.safetensors", NULL);
  g_autofree char *header = g_strdup_printf ("{\"a.weight\":{\"dtype\":\"%s\",\"shape\":[%" G_GUINT64_FORMAT ",4096],\"data_offsets\":[0,%"
                                             G_GUINT64_FORMAT "]}}",
                                             dtype, elements / 4096, bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (TmStatisticsSet) set = NULL;
  FILE *file = g_fopen (path, "wb");
  double seconds;
  gint64 start;

  length = GUINT64_TO_LE ((guint64) strlen (header));
  fwrite (&length, 1, sizeof length, file);
  fputs (header, file);
  if (noise)
    write_noise (file, dtype, elements);
  fclose (file);
  if (!noise && truncate (path, (off_t) (8 + strlen (header) + bytes)) != 0)
    return;
  model = tm_open_model_with (path, NULL, NULL, &error);
  if (model == NULL)
    g_error ("%s", error->message);
  set = tm_statistics_set_new (model);
  start = g_get_monotonic_time ();
  tm_statistics_set_compute (set, NULL, 0, TM_STATISTICS_ALL, NULL, NULL, NULL, NULL);
  seconds = (double) (g_get_monotonic_time () - start) / 1e6;
  g_print ("%-6s %-6s %10.1f %8.2f %8.2f %10.2f\n", dtype, noise ? "noise" : "zeros", (double) elements / 1e6, seconds,
           seconds / (double) elements * 1e9, seconds / (copy * (double) bytes));
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-XXXXXX", NULL);
  guint64 elements = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 1073741824u;
  double copy = time_copy ();

  elements = MAX (elements / 4096, 1) * 4096;
  tm_statistics_set_cache_folder (NULL);
  g_print ("%-6s %-6s %10s %8s %8s %10s\n", "dtype", "values", "Melements", "s", "ns/e", "x memcpy");
  run (folder, "BF16", elements, FALSE, copy);
  run (folder, "F32", elements, FALSE, copy);
  run (folder, "BF16", MIN (elements, NOISE), TRUE, copy);
  run (folder, "F32", MIN (elements, NOISE), TRUE, copy);
  g_rmdir (folder);
  return 0;
}
