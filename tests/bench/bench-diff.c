/* A diff of two large models: time as a ratio to memcpy of the same bytes, cores in use, peak memory. Each case is a process
 * of its own, so that the peak is its own. Targets stand beside the figures, and are not asserted. */
#define _GNU_SOURCE
#include "analysis/diff.h"
#include "recognise/recognise.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_TARGET 300 /* MiB */

/* --- Files -------------------------------------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  guint blocks; /* a matrix each */
  guint64 rows, columns;
  guint gguf_type;     /* 1 F16, 8 Q8_0 */
  const char *dtype;   /* of the checkpoint */
  gboolean transposed; /* in the checkpoint */
  gboolean filled;     /* with noise; else a hole of zeros that takes no room */
} Case;

static void
put (FILE *file, guint64 number, guint bytes)
{
  for (guint i = 0; i < bytes; i++)
    putc ((int) (number >> (8 * i) & 255), file);
}

static void
put_string (FILE *file, const char *text)
{
  put (file, strlen (text), 8);
  fputs (text, file);
}

static guint64
get_gguf_bytes (const Case *c)
{
  return c->gguf_type == 8 ? c->rows * c->columns / 32 * 34 : c->rows * c->columns * 2;
}

/* One line of values, the same for every line: what is measured does not depend on it. */
static void
fill (FILE *file, guint64 bytes, const guint8 *line, gsize length)
{
  for (guint64 at = 0; at < bytes; at += length)
    fwrite (line, 1, MIN (length, bytes - at), file);
}

#define LINE_BLOCKS 128
static void
make_lines (guint8 q8_0[34 * LINE_BLOCKS], guint8 bf16[64 * LINE_BLOCKS])
{
  guint32 state = 1;

  for (guint b = 0; b < LINE_BLOCKS; b++)
    {
      q8_0[34 * b] = 0x00;
      q8_0[34 * b + 1] = 0x20; /* 2^−7 */
      for (guint i = 0; i < 32; i++)
        {
          float value;
          guint32 bits;

          state = state * 1664525u + 1013904223u;
          value = ((float) (state >> 8) / 8388608.0f - 1) * 0.99f;
          q8_0[34 * b + 2 + i] = (guint8) (gint8) rintf (value * 128);
          memcpy (&bits, &value, sizeof bits);
          bf16[2 * (32 * b + i)] = (guint8) (bits >> 16 & 255);
          bf16[2 * (32 * b + i) + 1] = (guint8) (bits >> 24);
        }
    }
}

static gboolean
finish (FILE *file, const Case *c, guint64 bytes, const guint8 *line, gsize length)
{
  long header = ftell (file);
  gboolean ok;

  if (c->filled)
    fill (file, bytes, line, length);
  ok = fflush (file) == 0 && ftruncate (fileno (file), (off_t) header + (off_t) bytes) == 0;
  return fclose (file) == 0 && ok;
}

static gboolean
make_gguf (const Case *c, const char *path, const guint8 *line, gsize length)
{
  FILE *file = fopen (path, "wb");

  if (file == NULL)
    return FALSE;
  fputs ("GGUF", file);
  put (file, 3, 4);
  put (file, c->blocks, 8);
  put (file, 1, 8);
  put_string (file, "general.architecture");
  put (file, 8, 4);
  put_string (file, c->transposed ? "gpt2" : "llama");
  for (guint i = 0; i < c->blocks; i++)
    {
      g_autofree char *name = g_strdup_printf ("blk.%u.ffn_up.weight", i);

      put_string (file, name);
      put (file, 2, 4);
      put (file, c->columns, 8);
      put (file, c->rows, 8);
      put (file, c->gguf_type, 4);
      put (file, i * get_gguf_bytes (c), 8);
    }
  while (ftell (file) % 32 != 0)
    putc (0, file);
  return finish (file, c, c->blocks * get_gguf_bytes (c), line, length);
}

static gboolean
make_checkpoint (const Case *c, const char *path, const guint8 *line, gsize length)
{
  GString *header = g_string_new ("{");
  guint64 bytes = c->rows * c->columns * 2;
  FILE *file = fopen (path, "wb");

  for (guint i = 0; i < c->blocks; i++)
    g_string_append_printf (header,
                            "%s\"%s.%u.mlp.%s.weight\":{\"dtype\":\"%s\",\"shape\":[%" G_GUINT64_FORMAT
                            ",%" G_GUINT64_FORMAT "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}",
                            i > 0 ? "," : "", c->transposed ? "transformer.h" : "model.layers", i,
                            c->transposed ? "c_fc" : "up_proj", c->dtype, c->transposed ? c->columns : c->rows,
                            c->transposed ? c->rows : c->columns, i * bytes, (i + 1) * bytes);
  g_string_append_c (header, '}');
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  if (file == NULL)
    return FALSE;
  put (file, header->len, 8);
  fputs (header->str, file);
  g_string_free (header, TRUE);
  return finish (file, c, c->blocks * bytes, line, length);
}

/* --- Measuring ---------------------------------------------------------------------------------------------------- */

typedef struct
{
  double seconds, align_seconds, sqnr_db;
  guint aligned;
} Figure;

static int
compare_in_child (const char *candidate_path, const char *reference_path, int out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) candidate = tm_open_model (candidate_path, NULL, &error);
  g_autoptr (TmModel) reference = candidate != NULL ? tm_open_model (reference_path, NULL, &error) : NULL;
  gint64 begin = g_get_monotonic_time (), aligned;
  g_autoptr (TmAlignment) alignment
      = reference != NULL ? tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, &error) : NULL;
  g_autoptr (TmDiff) diff = NULL;
  Figure figure = { 0 };

  aligned = g_get_monotonic_time ();
  diff = alignment != NULL ? tm_diff_run (alignment, NULL, NULL, NULL, &error) : NULL;
  if (diff == NULL)
    {
      fprintf (stderr, "bench-diff: %s\n", error->message);
      return 1;
    }
  figure = (Figure) { (double) (g_get_monotonic_time () - aligned) / 1e6, (double) (aligned - begin) / 1e6,
                      diff->total.sqnr_db, diff->total.tensors };
  return write (out, &figure, sizeof figure) == (gssize) sizeof figure ? 0 : 1;
}

static double
time_memcpy (gsize bytes)
{
  g_autofree guint8 *from = g_malloc (bytes), *to = g_malloc (bytes);
  double best = HUGE_VAL;

  memset (from, 1, bytes);
  memset (to, 2, bytes);
  for (int i = 0; i < 5; i++)
    {
      gint64 begin = g_get_monotonic_time ();

      memcpy (to, from, bytes);
      best = MIN (best, (double) (g_get_monotonic_time () - begin) / 1e6);
    }
  return best / (double) bytes;
}

static void
run_case (const Case *c, const char *folder, double memcpy_per_byte)
{
  g_autofree char *candidate = g_build_filename (folder, "candidate", NULL),
                  *reference = g_build_filename (folder, "reference", NULL);
  static guint8 q8_0[34 * LINE_BLOCKS], bf16[64 * LINE_BLOCKS];
  int ends[2], status = 1;
  struct rusage usage = { 0 };
  Figure figure;

  make_lines (q8_0, bf16);
  if (make_gguf (c, candidate, c->gguf_type == 8 ? q8_0 : bf16, c->gguf_type == 8 ? sizeof q8_0 : sizeof bf16)
      && make_checkpoint (c, reference, bf16, sizeof bf16) && pipe (ends) == 0)
    {
      pid_t child = fork ();
      double elements = (double) c->blocks * (double) c->rows * (double) c->columns, bytes, cpu;
      gboolean ok;

      if (child == 0)
        _exit (compare_in_child (candidate, reference, ends[1]));
      close (ends[1]);
      ok = child > 0 && read (ends[0], &figure, sizeof figure) == (gssize) sizeof figure;
      close (ends[0]);
      ok = child > 0 && wait4 (child, &status, 0, &usage) == child && ok && status == 0;
      bytes = (double) c->blocks * (double) get_gguf_bytes (c) + 2 * elements;
      cpu = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
      if (ok)
        printf ("%-44s %6.2f G %8.2f s %8.0f M/s %7.1f × memcpy %6.2f cores (of %u) %7.1f MiB (< %d)\n", c->name,
                elements / 1e9, figure.seconds, elements / figure.seconds / 1e6,
                figure.seconds / (bytes * memcpy_per_byte), cpu / (figure.seconds + figure.align_seconds),
                g_get_num_processors (), (double) usage.ru_maxrss / 1024, MEMORY_TARGET);
      else
        printf ("%-44s failed\n", c->name);
    }
  else
    printf ("%-44s cannot be made here\n", c->name);
  g_unlink (candidate);
  g_unlink (reference);
  fflush (stdout);
}

int
main (int argc, char **argv)
{
  static const Case cases[] = {
    { "Q8_0 GGUF against BF16, noise", 4, 4096, 4096, 8, "BF16", FALSE, TRUE },
    { "F16 GGUF against transposed BF16, noise", 2, 4096, 4096, 1, "BF16", TRUE, TRUE },
    { "F16 GGUF, 4 GB, against BF16, 4 GB", 32, 16384, 4096, 1, "BF16", FALSE, FALSE },
    { "the same, the checkpoint transposed", 8, 4096, 16384, 1, "BF16", TRUE, FALSE },
  };
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-bench-XXXXXX", NULL);
  double memcpy_per_byte = time_memcpy (64u << 20);
  gsize n = argc > 1 && strcmp (argv[1], "--quick") == 0 ? 2 : G_N_ELEMENTS (cases);

  if (folder == NULL)
    return 1;
  printf ("diff: memcpy %.1f GB/s\n", 1e-9 / memcpy_per_byte);
  for (gsize i = 0; i < n; i++)
    run_case (&cases[i], folder, memcpy_per_byte);
  g_rmdir (folder);
  return 0;
}
