/* The fifteen views of the boundary arithmetic with their exact numbers: elements under the first and last pixel, pixels
 * outside, pixels with full line strength, sums of line and halo over the picture. Rulers, CPU painter and shaders are all
 * held to them. */
#pragma once

#include "view/ruler.h"

#define WIDTH 320
#define HEIGHT 200
#define RECTANGLE(r, c, w) { .kind = TM_RUN_RECTANGLE, .rows = (r), .columns = (c), .width = (w) }
#define FLAT(b, w) { .kind = TM_RUN_FLAT, .flat = (b), .width = (w) }

typedef struct
{
  const char *name;
  guint64 rows, columns, slice_rows;
  double x, y, scale;
  guint n_runs;
  TmRun run[3];
  gboolean table;
  gint64 first_column, last_column, first_row, last_row;
  guint outside, full, line, halo;
} View;

#define BIG 128256, 16384, 0
#define NESTED 3, { RECTANGLE (1, 256, 2), RECTANGLE (1, 32, 1), RECTANGLE (1, 16, 1) }, FALSE

static const View views[] = {
  { "per-tensor", BIG, 16380, 128252, 20, 1, { RECTANGLE (128256, 16384, 1) }, FALSE,
    16372, 16387, 128247, 128256, 20800, 840, 214200, 428400 },
  { "row-channel", BIG, 8192.25, 64000.5, 8, 1, { RECTANGLE (1, 16384, 1) }, FALSE,
    8172, 8212, 63988, 64012, 0, 0, 1512000, 0 },
  { "column-channel", BIG, 8192.25, 64000.5, 7, 1, { RECTANGLE (128256, 1, 1) }, FALSE,
    8169, 8215, 63986, 64014, 0, 0, 1177600, 0 },
  { "group-32", BIG, 16374, 128251, 10, 1, { RECTANGLE (1, 32, 1) }, FALSE,
    16358, 16389, 128241, 128260, 25000, 4446, 1133730, 418200 },
  { "nested-near", BIG, 8190, 64000, 12, NESTED, 8176, 8203, 63991, 64008, 0, 5806, 1480530, 204000 },
  { "nested-middle", BIG, 8190, 64000, 0.5, NESTED, 7871, 8509, 63801, 64199, 0, 4600, 1929000, 1285200 },
  { "nested-far", BIG, 8190, 64000, 0.125, NESTED, 6914, 9466, 63204, 64796, 0, 4000, 1020000, 2040000 },
  { "blocks-128", 4099, 11017, 0, 11000, 4080, 0.75, 1, { RECTANGLE (128, 128, 2) }, FALSE,
    10787, 11212, 3947, 4212, 44278, 1698, 432990, 770610 },
  { "flat-64-near", 30519, 32767, 0, 32760, 30515, 16, 1, { FLAT (64, 1) }, FALSE,
    32750, 32769, 30508, 30521, 19392, 3702, 944010, 1000770 },
  { "flat-64-far", 30519, 32767, 0, 32760, 30515, 1, 1, { FLAT (64, 1) }, FALSE,
    32600, 32919, 30415, 30614, 46632, 542, 138210, 276420 },
  { "flat-nested", 128000, 5003, 0, 2500.5, 64000.25, 12, 2, { FLAT (4096, 2), FLAT (64, 1) }, FALSE,
    2487, 2513, 63991, 64008, 0, 5506, 1404030, 0 },
  { "flat-rows", 300000, 1000, 0, 500, 150000, 0.5, 1, { FLAT (65536, 2) }, FALSE,
    181, 819, 149801, 150199, 0, 3844, 980220, 1960440 },
  { "every-element", 4096, 4096, 0, 2048, 2048, 9, 1, { RECTANGLE (1, 1, 1) }, FALSE,
    2030, 2065, 2036, 2059, 0, 0, 3198980, 0 },
  { "act-order", 4096, 4096, 0, 2048, 2048, 12, 1, { RECTANGLE (1, 128, 1) }, TRUE,
    2034, 2061, 2039, 2056, 0, 6904, 1760520, 1224000 },
  { "expert-stack", 256 * 1411, 4096, 1411, 2048, 359805, 1, 2, { RECTANGLE (128, 128, 2), RECTANGLE (1, 32, 1) }, FALSE,
    1888, 2207, 359705, 359904, 0, 3828, 976140, 2195295 },
};

static TmBoundaries *
boundaries_of_view (const View *view)
{
  TmRun run[3] = { view->run[0], view->run[1], view->run[2] };
  g_autofree guint32 *runs = NULL;

  if (view->table)
    {
      runs = g_new0 (guint32, view->columns);
      for (guint64 c = 1; c < view->columns; c++)
        runs[c] = runs[c - 1] + (37 * c % 4096 / 128 != 37 * (c - 1) % 4096 / 128);
      run[0].column_runs = runs;
    }
  return tm_boundaries_new_manual (view->rows, view->columns, view->slice_rows, view->n_runs, run);
}
