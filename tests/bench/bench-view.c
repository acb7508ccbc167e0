/* What the picture costs before it is painted: rulers, first tile, exact passes, memory. Targets stand beside the
 * figures and nothing is asserted. */
#define _GNU_SOURCE
#include "recognise/recognise.h"
#include "view/ruler.h"
#include "view/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH 1600
#define HEIGHT 1000
#define CACHE_BYTES ((gsize) 256 << 20)

static double
milliseconds_since (gint64 begin)
{
  return (double) (g_get_monotonic_time () - begin) / 1000;
}

static double
peak_mebibytes (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (double) usage.ru_maxrss / 1024;
}

/* --- Rulers --------------------------------------------------------------------------------------------------------- */

#define RECTANGLE(r, c, w) { .kind = TM_RUN_RECTANGLE, .rows = (r), .columns = (c), .width = (w) }
#define FLAT(b, w) { .kind = TM_RUN_FLAT, .flat = (b), .width = (w) }

static int
compare_doubles (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static void
bench_rulers (const char *name, guint64 rows, guint64 columns, double scale, guint n_runs, const TmRun *runs)
{
  g_autoptr (TmBoundaries) boundaries = tm_boundaries_new_manual (rows, columns, 0, n_runs, runs);
  TmRulers rulers = { 0 };
  double times[301];
  TmCamera camera;

  tm_camera_init (&camera, WIDTH, HEIGHT);
  tm_camera_set (&camera, (double) columns / 2, (double) rows / 2, scale);
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    {
      gint64 begin = g_get_monotonic_time ();

      for (int k = 0; k < 4; k++)
        {
          tm_camera_pan (&camera, 1, 1);
          tm_rulers_build (&rulers, &camera, 0, 0, rows, columns, boundaries, TRUE, 2, 1);
        }
      times[i] = milliseconds_since (begin) / 4;
    }
  qsort (times, G_N_ELEMENTS (times), sizeof *times, compare_doubles);
  printf ("%-40s %8.3f ms   < 0.2 ms\n", name, times[G_N_ELEMENTS (times) / 2]);
  tm_rulers_clear (&rulers);
}

static void
bench_all_rulers (void)
{
  static const TmRun nested[] = { RECTANGLE (1, 256, 2), RECTANGLE (1, 32, 1), RECTANGLE (1, 16, 1) };
  static const TmRun flat[] = { FLAT (4096, 2), FLAT (64, 1) };
  g_autofree guint32 *table = g_new (guint32, 16384);
  TmRun shuffled = RECTANGLE (1, 128, 1);

  for (guint32 c = 0; c < 16384; c++)
    table[c] = c;
  shuffled.column_runs = table;
  printf ("rulers of a frame, %d × %d, median\n", WIDTH, HEIGHT);
  bench_rulers ("three levels, 1 px an element", 128256, 16384, 1, 3, nested);
  bench_rulers ("three levels, 12 px an element", 128256, 16384, 12, 3, nested);
  bench_rulers ("flat, two levels, 1 px an element", 128000, 5003, 1, 2, flat);
  bench_rulers ("flat, two levels, 12 px an element", 128000, 5003, 12, 2, flat);
  bench_rulers ("table of 16 384 columns, 8 px an element", 128256, 16384, 8, 1, &shuffled);
}

/* --- A sparse GGUF file ----------------------------------------------------------------------------------------------- */

typedef struct { const char *name; guint type; guint64 columns, rows, bytes; } Stored;

static const Stored stored[] = {
  { "token_embd.weight", 12, 16384, 128256, G_GUINT64_CONSTANT (16384) / 256 * 144 * 128256 },
  { "blk.0.ffn_down.weight", 1, 16384, 1048576, G_GUINT64_CONSTANT (16384) * 2 * 1048576 },
  { "blk.1.ffn_down.weight", 1, 16384, 1048576, G_GUINT64_CONSTANT (16384) * 2 * 1048576 },
  { "blk.2.ffn_down.weight", 1, 16384, 1048576, G_GUINT64_CONSTANT (16384) * 2 * 1048576 },
};

static void
put (FILE *stream, guint64 number, gsize bytes)
{
  for (gsize i = 0; i < bytes; i++)
    putc ((int) (number >> 8 * i & 0xff), stream);
}

static void
put_string (FILE *stream, const char *text)
{
  put (stream, strlen (text), 8);
  fputs (text, stream);
}

static gboolean
make_file (int fd)
{
  FILE *stream = fdopen (dup (fd), "wb");
  guint64 offset = 0;
  long header;
  gboolean ok;

  if (!stream)
    return FALSE;
  fputs ("GGUF", stream);
  put (stream, 3, 4);
  put (stream, G_N_ELEMENTS (stored), 8);
  put (stream, 1, 8);
  put_string (stream, "general.architecture");
  put (stream, 8, 4);
  put_string (stream, "llama");
  for (gsize i = 0; i < G_N_ELEMENTS (stored); i++)
    {
      put_string (stream, stored[i].name);
      put (stream, 2, 4);
      put (stream, stored[i].columns, 8);
      put (stream, stored[i].rows, 8);
      put (stream, stored[i].type, 4);
      put (stream, offset, 8);
      offset += (stored[i].bytes + 31) / 32 * 32;
    }
  header = (ftell (stream) + 31) / 32 * 32;
  ok = fflush (stream) == 0 && ftruncate (fileno (stream), (off_t) header + (off_t) offset) == 0;
  return fclose (stream) == 0 && ok;
}

/* --- Tiles ------------------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmModel *model;
  TmTiles *tiles;
  guint changes;
} Window;

static void
on_changed (gpointer data)
{
  ((Window *) data)->changes++;
}

/* One frame that shows a tensor around an element at a scale. */
static guint
want_view (Window *window, guint tensor, double x, double y, double scale)
{
  guint level = tm_tiles_level_for_scale (scale), shift = level + 8, n = 0;
  TmSheet sheet;
  gint64 x0 = (gint64) MAX (x - WIDTH / scale / 2, 0), y0 = (gint64) MAX (y - HEIGHT / scale / 2, 0);

  tm_sheet_init (&sheet, tm_model_tensor (window->model, tensor));
  tm_tiles_begin (window->tiles);
  for (gint64 j = y0 >> shift; j <= (gint64) MIN (y + HEIGHT / scale / 2, (double) sheet.rows - 1) >> shift; j++)
    for (gint64 i = x0 >> shift; i <= (gint64) MIN (x + WIDTH / scale / 2, (double) sheet.columns - 1) >> shift; i++, n++)
      {
        TmTileKey key = { .tensor = tensor, .level = (guint8) level, .column = (guint32) i, .row = (guint32) j };

        tm_tiles_want (window->tiles, &key, &sheet, (int) n);
      }
  tm_tiles_end (window->tiles);
  return n;
}

static void
until_change (Window *window)
{
  guint before = window->changes;

  while (window->changes == before)
    g_main_context_iteration (NULL, TRUE);
}

static void
print_first_tile (TmModel *model, const char *name, guint tensor, double x, double y, double scale)
{
  Window window = { model, NULL, 0 };
  double first, all;
  gint64 begin;
  guint n;

  window.tiles = tm_tiles_new (model, CACHE_BYTES, on_changed, &window);
  begin = g_get_monotonic_time ();
  n = want_view (&window, tensor, x, y, scale);
  until_change (&window);
  first = milliseconds_since (begin);
  for (gboolean missing = TRUE; missing;) /* every tile of the view, sampled or exact */
    {
      TmSheet sheet;
      guint level = tm_tiles_level_for_scale (scale);

      missing = FALSE;
      tm_sheet_init (&sheet, tm_model_tensor (model, tensor));
      want_view (&window, tensor, x, y, scale);
      tm_tiles_begin (window.tiles);
      for (guint32 j = 0; j <= (sheet.rows - 1) >> level >> 8 && j < 4096; j++)
        for (guint32 i = 0; i <= (sheet.columns - 1) >> level >> 8; i++)
          {
            gint64 span = (gint64) 256 << level;
            TmTileKey key = { .tensor = tensor, .level = (guint8) level, .column = i, .row = j };
            const TmTile *tile;

            if ((double) (i * span) > x + WIDTH / scale / 2 || (double) ((i + 1) * span) < x - WIDTH / scale / 2
                || (double) (j * span) > y + HEIGHT / scale / 2 || (double) ((j + 1) * span) < y - HEIGHT / scale / 2)
              continue;
            tile = tm_tiles_want (window.tiles, &key, &sheet, 0);
            missing = missing || !tile || tile->key.level != level;
          }
      tm_tiles_end (window.tiles);
      if (missing)
        until_change (&window);
    }
  all = milliseconds_since (begin);
  printf ("%-40s %8.1f ms   < 100 ms     all %2u: %.0f ms\n", name, first, n, all);
  tm_tiles_free (window.tiles);
}

static void
print_exact (TmModel *model, const char *name, guint tensor, guint level)
{
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmTileKey key = { .tensor = tensor, .level = (guint8) level, .row = 1 };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  guint width, height;
  TmSheet sheet;

  tm_sheet_init (&sheet, tm_model_tensor (model, tensor));
  if (!tm_tile_make (tm_model_tensor (model, tensor), &sheet, &key, TRUE, texels, &width, &height, NULL, &error))
    {
      printf ("%-40s %s\n", name, error->message);
      return;
    }
  printf ("%-40s %8.0f million elements a second\n", name,
          (double) width * height * (double) ((guint64) 1 << 2 * level) / 1000 / milliseconds_since (begin));
}

static void
look_around (TmModel *model)
{
  Window window = { model, NULL, 0 };
  double before = peak_mebibytes ();

  window.tiles = tm_tiles_new (model, CACHE_BYTES, on_changed, &window);
  for (guint i = 0; i < 60; i++)
    {
      want_view (&window, 1 + i % 3, 500.0 + i * 250, 5000.0 + i * 17000, 1.0 / (1 << i % 9));
      for (int k = 0; k < 3 && tm_tiles_count_pending (window.tiles); k++)
        until_change (&window);
    }
  printf ("%-40s %8.1f MiB, of which %.1f cached; before looking %.1f\n", "peak memory after 60 views of 100 GB",
          peak_mebibytes (), (double) tm_tiles_get_bytes (window.tiles) / 1048576, before);
  tm_tiles_free (window.tiles);
}

static void
in_child (void (*work) (TmModel *), const char *path)
{
  pid_t child;

  fflush (stdout);
  child = fork ();
  if (child == 0)
    {
      g_autoptr (GError) error = NULL;
      TmModel *model = tm_open_model (path, NULL, &error);

      if (model)
        work (model);
      else
        printf ("%s\n", error->message);
      fflush (stdout);
      _exit (0);
    }
  if (child > 0)
    waitpid (child, NULL, 0);
}

static void
bench_first_tiles (TmModel *model)
{
  print_first_tile (model, "2.1 billion elements of Q4_K, whole", 0, 8192, 64128, 0.0077);
  print_first_tile (model, "the same, 0.1 px an element", 0, 8192, 64128, 0.1);
  print_first_tile (model, "the same, 1 px an element", 0, 8192, 64128, 1);
  print_first_tile (model, "17 billion elements of F16, whole", 1, 8192, 524288, 0.00095);
}

static void
bench_exact (TmModel *model)
{
  print_exact (model, "exact pass, Q4_K, 64 × 64 a texel", 0, 6);
  print_exact (model, "exact pass, F16, 64 × 64 a texel", 1, 6);
  print_exact (model, "exact pass, F16, one element a texel", 1, 0);
}

int
main (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("tensormorph-bench-XXXXXX.gguf", &path, NULL);

  bench_all_rulers ();
  if (fd < 0 || !make_file (fd))
    printf ("a sparse file of 100 GB cannot be made here\n");
  else
    {
      printf ("first tile, from asking to there                     target\n");
      in_child (bench_first_tiles, path);
      in_child (bench_exact, path);
      in_child (look_around, path);
    }
  if (fd >= 0)
    close (fd);
  if (path)
    unlink (path);
  return 0;
}
