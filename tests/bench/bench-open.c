/* How long a model takes to open, and how much memory: header-only work. Every figure is the median of several runs,
 * each in a process of its own, so that the peak is one model's. Targets are printed beside the figures, not asserted.
 */
#define _GNU_SOURCE
#include "recognise/recognise.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 5

/* --- Synthetic files ---------------------------------------------------------------------------------------------- */

typedef struct
{
  FILE *stream;
  guint64 data; /* bytes of the data section so far */
} Maker;

static void
put (Maker *maker, guint64 number, gsize bytes)
{
  for (gsize i = 0; i < bytes; i++)
    putc ((int)((number >> (8 * i)) & 0xff), maker->stream);
}

static void
put_string (Maker *maker, const char *text)
{
  put (maker, strlen (text), 8);
  fputs (text, maker->stream);
}

static void
put_key (Maker *maker, const char *key, guint type)
{
  put_string (maker, key);
  put (maker, type, 4);
}

static void
put_tensor (Maker *maker, const char *name, guint type, guint64 columns, guint64 rows, guint64 bytes)
{
  put_string (maker, name);
  put (maker, rows > 0 ? 2 : 1, 4);
  put (maker, columns, 8);
  if (rows > 0)
    put (maker, rows, 8);
  put (maker, type, 4);
  put (maker, maker->data, 8);
  maker->data += (bytes + 31) / 32 * 32;
}

/* A llama-like header; hidden and feed-forward sizes decide how large the hole after it is. */
static void
put_llama (Maker *maker, guint blocks, guint64 hidden, guint64 feed_forward, guint64 vocabulary)
{
  static const char *const roles[] = { "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down" };

  put_tensor (maker, "token_embd.weight", 12, hidden, vocabulary, vocabulary * hidden / 256 * 144);
  for (guint block = 0; block < blocks; block++)
    {
      char name[64];

      g_snprintf (name, sizeof name, "blk.%u.attn_norm.weight", block);
      put_tensor (maker, name, 0, hidden, 0, hidden * 4);
      g_snprintf (name, sizeof name, "blk.%u.ffn_norm.weight", block);
      put_tensor (maker, name, 0, hidden, 0, hidden * 4);
      for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
        {
          guint64 columns = i == 6 ? feed_forward : hidden, rows = i < 4 || i == 6 ? hidden : feed_forward;
          gboolean fine = (i == 2 || i == 6) && block % 2 == 0;

          g_snprintf (name, sizeof name, "blk.%u.%s.weight", block, roles[i]);
          put_tensor (maker, name, fine ? 14 : 12, columns, rows, rows * columns / 256 * (fine ? 210 : 144));
        }
    }
  put_tensor (maker, "output_norm.weight", 0, hidden, 0, hidden * 4);
  put_tensor (maker, "output.weight", 14, hidden, vocabulary, vocabulary * hidden / 256 * 210);
}

static void
put_vocabulary (Maker *maker, guint n_tokens, guint n_merges)
{
  char text[48];

  put_key (maker, "tokenizer.ggml.tokens", 9);
  put (maker, 8, 4);
  put (maker, n_tokens, 8);
  for (guint i = 0; i < n_tokens; i++)
    {
      g_snprintf (text, sizeof text, "token%u", i * 7919u % 100003u);
      put_string (maker, text);
    }
  put_key (maker, "tokenizer.ggml.scores", 9);
  put (maker, 6, 4);
  put (maker, n_tokens, 8);
  for (guint i = 0; i < n_tokens; i++)
    put (maker, 0, 4);
  put_key (maker, "tokenizer.ggml.token_type", 9);
  put (maker, 5, 4);
  put (maker, n_tokens, 8);
  for (guint i = 0; i < n_tokens; i++)
    put (maker, 1, 4);
  put_key (maker, "tokenizer.ggml.merges", 9);
  put (maker, 8, 4);
  put (maker, n_merges, 8);
  for (guint i = 0; i < n_merges; i++)
    {
      g_snprintf (text, sizeof text, "tok%u en%u", i % 10007u, i % 257u);
      put_string (maker, text);
    }
}

typedef struct
{
  const char *name;
  guint blocks;
  guint64 hidden, feed_forward, vocabulary;
  guint tokens, merges;
  double target; /* milliseconds; 0 for none */
} Case;

/* The data section is a hole: nothing may read it. */
static gboolean
make_gguf (const Case *what, const char *path)
{
  Maker maker = { fopen (path, "wb"), 0 };
  long header;
  gboolean ok;

  if (maker.stream == NULL)
    return FALSE;
  fputs ("GGUF", maker.stream);
  put (&maker, 3, 4);
  put (&maker, 2 + 9 * (guint64)what->blocks + 1, 8);
  put (&maker, what->tokens > 0 ? 5 : 1, 8);
  put_key (&maker, "general.architecture", 8);
  put_string (&maker, "llama");
  if (what->tokens > 0)
    put_vocabulary (&maker, what->tokens, what->merges);
  put_llama (&maker, what->blocks, what->hidden, what->feed_forward, what->vocabulary);
  header = (ftell (maker.stream) + 31) / 32 * 32;
  ok = fflush (maker.stream) == 0 && ftruncate (fileno (maker.stream), (off_t)header + (off_t)maker.data) == 0;
  return fclose (maker.stream) == 0 && ok;
}

static gboolean
make_safetensors (guint n_tensors, const char *path)
{
  GString *header = g_string_new ("{");
  FILE *stream = fopen (path, "wb");
  guint64 offset = 0, bytes = 4096 * 4096 * 2;
  guint8 length[8];
  gboolean ok;

  if (stream == NULL)
    return FALSE;
  for (guint i = 0; i < n_tensors; i++, offset += bytes)
    g_string_append_printf (header,
                            "%s\"model.layers.%u.part%u.weight\":{\"dtype\":\"BF16\",\"shape\":[4096,4096],"
                            "\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}",
                            i > 0 ? "," : "", i / 10, i % 10, offset, offset + bytes);
  g_string_append_c (header, '}');
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  for (guint i = 0; i < 8; i++)
    length[i] = (guint8)(header->len >> (8 * i));
  ok = fwrite (length, 1, 8, stream) == 8 && fwrite (header->str, 1, header->len, stream) == header->len
       && fflush (stream) == 0 && ftruncate (fileno (stream), (off_t)(8 + header->len + offset)) == 0;
  g_string_free (header, TRUE);
  return fclose (stream) == 0 && ok;
}

static void
name_expert (char name[64], guint i)
{
  static const char *const roles[] = { "gate", "up", "down" };

  g_snprintf (name, 64, "model.layers.%u.mlp.experts.%u.%s_proj.weight", i / 3 / 2770, i / 3 % 2770, roles[i % 3]);
}

/* Two shards and an index over them; every tensor is there. */
static gboolean
make_sharded (guint n_tensors, const char *folder)
{
  g_autofree char *index_path = g_build_filename (folder, "model.safetensors.index.json", NULL);
  FILE *index = g_mkdir (folder, 0700) == 0 ? fopen (index_path, "wb") : NULL;
  gboolean ok = index != NULL;
  char name[64];

  for (guint shard = 0, i = 0; shard < 2 && ok; shard++)
    {
      g_autofree char *file = g_strdup_printf ("model-%05u-of-00002.safetensors", shard + 1);
      g_autofree char *path = g_build_filename (folder, file, NULL);
      FILE *stream = fopen (path, "wb");
      Maker maker = { stream, 0 };
      long length;

      ok = stream != NULL;
      if (!ok)
        break;
      if (shard == 0)
        fputs ("{\"weight_map\":{", index);
      put (&maker, 0, 8);
      for (guint64 offset = 0; i < (shard + 1) * (n_tensors / 2); i++, offset += 8)
        {
          name_expert (name, i);
          fprintf (stream, "%c\"%s\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}",
                   offset == 0 ? '{' : ',', name, offset, offset + 8);
          fprintf (index, "%s\"%s\":\"%s\"", i > 0 ? "," : "", name, file);
        }
      putc ('}', stream);
      length = ftell (stream) - 8;
      rewind (stream);
      put (&maker, (guint64) length, 8);
      ok = fflush (stream) == 0 && ftruncate (fileno (stream), 8 + length + (off_t) (n_tensors / 2) * 8) == 0;
      ok = fclose (stream) == 0 && ok;
    }
  if (index != NULL)
    {
      fputs ("}}", index);
      ok = fclose (index) == 0 && ok;
    }
  return ok;
}

static void
remove_sharded (const char *folder)
{
  static const char *const names[]
      = { "model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/* --- Measuring ---------------------------------------------------------------------------------------------------- */

typedef struct
{
  double milliseconds;
  double mebibytes; /* peak of the whole process */
  guint tensors;
} Figure;

/* In the child: opens, and reports through the pipe. */
static void
open_once (const char *path, int out)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  TmModel *model = path ? tm_open_model (path, NULL, &error) : NULL;
  Figure figure = { (double)(g_get_monotonic_time () - begin) / 1000, 0, model ? model->tensors->len : 0 };
  gssize written;

  if (path && model == NULL)
    fprintf (stderr, "bench-open: %s: %s\n", path, error->message);
  written = write (out, &figure, sizeof figure);
  _exit (written == (gssize)sizeof figure && (path == NULL || model) ? 0 : 1);
}

static gboolean
measure_once (const char *path, Figure *figure)
{
  int ends[2], status;
  struct rusage usage;
  pid_t child;
  gboolean ok;

  if (pipe (ends) != 0)
    return FALSE;
  child = fork ();
  if (child == 0)
    open_once (path, ends[1]);
  close (ends[1]);
  ok = child > 0 && read (ends[0], figure, sizeof *figure) == (gssize)sizeof *figure;
  close (ends[0]);
  if (child > 0 && wait4 (child, &status, 0, &usage) == child)
    figure->mebibytes = (double)usage.ru_maxrss / 1024;
  return ok && status == 0;
}

static int
compare_figures (const void *a, const void *b)
{
  double left = ((const Figure *)a)->milliseconds, right = ((const Figure *)b)->milliseconds;
  return left < right ? -1 : left > right;
}

static gboolean
measure (const char *path, Figure *figure)
{
  Figure runs[RUNS];

  for (gsize i = 0; i < RUNS; i++)
    if (!measure_once (path, &runs[i]))
      return FALSE;
  qsort (runs, RUNS, sizeof *runs, compare_figures);
  *figure = runs[RUNS / 2];
  return TRUE;
}

static void
print_case (const char *name, const char *path, gboolean made, double target)
{
  Figure figure;
  GStatBuf stat_buffer;

  if (!made)
    {
      printf ("%-46s cannot be made here: %s\n", name, g_strerror (errno));
      return;
    }
  if (!measure (path, &figure))
    printf ("%-46s cannot be opened\n", name);
  else if (g_stat (path, &stat_buffer) == 0)
    {
      g_autofree char *aim = target > 0 ? g_strdup_printf ("< %.0f ms", target) : g_strdup ("");
      printf ("%-46s %9.1f MiB %8u %9.2f ms  %-8s %9.1f MiB\n", name, (double)stat_buffer.st_size / 1048576,
              figure.tensors, figure.milliseconds, aim, figure.mebibytes);
    }
  fflush (stdout);
}

int
main (void)
{
  static const Case cases[] = {
    { "GGUF, 22 blocks, 1.1 B", 22, 2048, 5632, 32000, 32000, 61249, 50 },
    { "GGUF, 262 144 tokens and 524 288 merges", 22, 2048, 5632, 262144, 262144, 524288, 60 },
    { "GGUF, 1 002 tensors", 111, 4096, 14336, 128256, 0, 0, 50 },
    { "GGUF, 100 GB", 93, 12288, 32768, 128256, 0, 0, 0 },
  };
  g_autofree char *folder = g_dir_make_tmp ("tensormorph-bench-XXXXXX", NULL);
  g_autofree char *path = NULL;
  Figure nothing;

  if (folder == NULL)
    return 1;
  path = g_build_filename (folder, "model", NULL);
  printf ("open: header-only work, median of %d\n%-46s %13s %8s %12s  %-8s %13s\n", RUNS, "", "file", "tensors", "time",
          "target", "peak memory");
  if (measure (NULL, &nothing))
    printf ("%-46s %13s %8s %12s  %-8s %9.1f MiB\n", "(a process that opens nothing)", "", "", "", "",
            nothing.mebibytes);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      print_case (cases[i].name, path, make_gguf (&cases[i], path), cases[i].target);
      g_unlink (path);
    }
  print_case ("safetensors, 1 000 tensors", path, make_safetensors (1000, path), 50);
  g_unlink (path);
  print_case ("safetensors, index and 2 shards", path, make_sharded (498600, path), 2000);
  remove_sharded (path);
  g_rmdir (folder);
  return 0;
}
