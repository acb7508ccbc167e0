/* Granularities of real schemes normalised over every kind of sheet, against the block number of every element. */
#include "view/ruler.h"

#include "quant/codecs.h"

#include <string.h>

#define SHAPE(...) (guint) (sizeof ((guint64[]) { __VA_ARGS__ }) / sizeof (guint64)), (guint64[]) { __VA_ARGS__ }

typedef struct
{
  TmTensor tensor;
  TmSheet sheet;
  TmBoundaries *boundaries;
} Case;

static const char *const labels[] = { "super-block", "block", "group" };

static void
case_init (Case *test, guint rank, const guint64 *shape, TmGranularity *granularity)
{
  *test = (Case) { .tensor = { .rank = rank, .shape = (guint64 *) shape, .n_elements = 1, .granularity = granularity } };
  for (guint k = 0; k < rank; k++)
    test->tensor.n_elements *= shape[k];
  tm_sheet_init (&test->sheet, &test->tensor);
  test->boundaries = tm_boundaries_new (&test->tensor, &test->sheet);
}

static void
case_clear (Case *test)
{
  tm_boundaries_free (test->boundaries);
  tm_granularity_unref (test->tensor.granularity);
}

static TmGranularity *
levels (guint rank, const guint64 *shape, gboolean reshaped, guint n, ...)
{
  guint64 extents[3 * 8];
  va_list arguments;

  va_start (arguments, n);
  for (guint i = 0; i < n * rank; i++)
    extents[i] = va_arg (arguments, guint64);
  va_end (arguments);
  return tm_granularity_new (rank, shape, reshaped, n, extents, labels);
}

#define U(n) ((guint64) (n))

/* --- Block numbers by the definition ---------------------------------------------------------------------------------- */

static gboolean
same_block (const TmGranularity *granularity, guint level, guint64 a, guint64 b)
{
  for (guint k = granularity->rank; k-- > 0;)
    {
      guint64 length = granularity->shape[k], extent = granularity->level[level].extent[k];
      guint64 at = a % length, bt = b % length;
      gboolean through = granularity->table && granularity->table_axis == (gint) k && extent < length;

      if (through ? granularity->table[at] != granularity->table[bt] : at / extent != bt / extent)
        return FALSE;
      a /= length;
      b /= length;
    }
  return TRUE;
}

static gboolean
line_right_of (const TmBoundaries *b, guint level, guint64 base, guint64 r, guint64 c)
{
  const TmRun *run = &b->run[level];

  if (run->kind == TM_RUN_FLAT)
    return (base + r * b->columns + c) / run->flat != (base + r * b->columns + c + 1) / run->flat;
  return run->column_runs ? run->column_runs[c] != run->column_runs[c + 1] : c / run->columns != (c + 1) / run->columns;
}

static gboolean
line_below (const TmBoundaries *b, guint level, guint64 base, guint64 r, guint64 c)
{
  const TmRun *run = &b->run[level];

  if (run->kind == TM_RUN_FLAT)
    return (base + r * b->columns + c) / run->flat != (base + (r + 1) * b->columns + c) / run->flat;
  return run->row_runs ? run->row_runs[r] != run->row_runs[r + 1] : r / run->rows != (r + 1) / run->rows;
}

/* A line stands between two neighbours exactly where their blocks differ, at every level and in every pane. */
static void
check_all_neighbours (const Case *test)
{
  const TmGranularity *granularity = test->tensor.granularity;
  const TmSheet *sheet = &test->sheet;

  g_assert_nonnull (test->boundaries);
  g_assert_cmpuint (test->boundaries->n_runs, ==, granularity->n_levels);
  for (guint l = 0; l < granularity->n_levels; l++)
    for (guint64 pane = 0; pane < sheet->n_panes; pane++)
      for (guint64 r = 0; r < sheet->rows; r++)
        for (guint64 c = 0; c < sheet->columns; c++)
          {
            guint64 base = pane * sheet->rows * sheet->columns, at = base + r * sheet->columns + c;

            if (c + 1 < sheet->columns && at + 1 < sheet->n_elements)
              g_assert_cmpint (line_right_of (test->boundaries, l, base, r, c), ==, !same_block (granularity, l, at, at + 1));
            if (r + 1 < sheet->rows && at + sheet->columns < sheet->n_elements)
              g_assert_cmpint (line_below (test->boundaries, l, base, r, c), ==,
                               !same_block (granularity, l, at, at + sheet->columns));
          }
}

static void
expect_rectangle (const Case *test, guint level, guint64 rows, guint64 columns)
{
  const TmRun *run = &test->boundaries->run[level];

  g_assert_cmpint (run->kind, ==, TM_RUN_RECTANGLE);
  g_assert_null (run->row_runs);
  g_assert_null (run->column_runs);
  g_assert_cmpuint (run->rows, ==, rows);
  g_assert_cmpuint (run->columns, ==, columns);
}

/* --- Schemes on matrices ----------------------------------------------------------------------------------------------- */

static void
test_super_blocks (void)
{
  Case test;

  case_init (&test, SHAPE (64, 512), levels (SHAPE (64, 512), FALSE, 2, U (1), U (256), U (1), U (32)));
  expect_rectangle (&test, 0, 1, 256);
  expect_rectangle (&test, 1, 1, 32);
  g_assert_cmpuint (test.boundaries->run[0].width, ==, 2);
  g_assert_cmpuint (test.boundaries->run[1].width, ==, 1);
  g_assert_cmpstr (test.boundaries->run[0].size, ==, "256");
  g_assert_cmpstr (test.boundaries->run[1].size, ==, "32");
  g_assert_cmpstr (test.boundaries->run[0].label, ==, "super-block");
  check_all_neighbours (&test);
  case_clear (&test);
}

static void
test_plain_matrices (void)
{
  Case test;

  case_init (&test, SHAPE (30, 50), levels (SHAPE (30, 50), FALSE, 1, U (30), U (50))); /* per tensor */
  expect_rectangle (&test, 0, 30, 50);
  g_assert_cmpstr (test.boundaries->run[0].size, ==, "30 × 50");
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (30, 50), levels (SHAPE (30, 50), FALSE, 1, U (1), U (50))); /* a row each */
  expect_rectangle (&test, 0, 1, 50);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (30, 50), levels (SHAPE (30, 50), FALSE, 1, U (30), U (1))); /* a column each */
  expect_rectangle (&test, 0, 30, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (70, 110), levels (SHAPE (70, 110), FALSE, 1, U (32), U (32))); /* blocks, the last ones short */
  expect_rectangle (&test, 0, 32, 32);
  g_assert_cmpuint (test.boundaries->run[0].width, ==, 2);
  g_assert_cmpstr (test.boundaries->run[0].size, ==, "32 × 32");
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (30, 50), levels (SHAPE (30, 50), FALSE, 1, U (1), U (1)));
  expect_rectangle (&test, 0, 1, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (30, 100), levels (SHAPE (30, 100), FALSE, 1, U (1), U (32))); /* rows' last group short */
  expect_rectangle (&test, 0, 1, 32);
  check_all_neighbours (&test);
  case_clear (&test);
}

static void
test_none (void)
{
  Case test;

  case_init (&test, SHAPE (30, 50), NULL);
  g_assert_null (test.boundaries);
  tm_boundaries_free (test.boundaries);
  case_init (&test, SHAPE (0, 50), levels (SHAPE (0, 50), FALSE, 1, U (1), U (1)));
  g_assert_null (test.boundaries);
  case_clear (&test);
}

/* --- Reshapes ------------------------------------------------------------------------------------------------------------ */

static void
check_reshape (guint64 rows, guint64 columns, guint64 block, TmRunKind kind, guint64 expect_rows, guint64 expect_columns)
{
  Case test;

  case_init (&test, SHAPE (rows, columns), levels (SHAPE (rows *columns), TRUE, 1, block));
  g_assert_cmpint (test.boundaries->run[0].kind, ==, kind);
  if (kind == TM_RUN_FLAT)
    g_assert_cmpuint (test.boundaries->run[0].flat, ==, block);
  else
    expect_rectangle (&test, 0, expect_rows, expect_columns);
  check_all_neighbours (&test);
  case_clear (&test);
}

static void
test_flat_reshape (void)
{
  check_reshape (40, 128, 64, TM_RUN_RECTANGLE, 1, 64);  /* blocks divide rows */
  check_reshape (40, 16, 64, TM_RUN_RECTANGLE, 4, 16);   /* rows divide blocks */
  check_reshape (40, 64, 64, TM_RUN_RECTANGLE, 1, 64);
  check_reshape (40, 100, 64, TM_RUN_FLAT, 0, 0);        /* neither */
  check_reshape (40, 48, 64, TM_RUN_FLAT, 0, 0);
  check_reshape (40, 50, 100000, TM_RUN_RECTANGLE, 40, 50); /* one block holds all */
}

static void
test_reshape_of_rows (void)
{
  Case test;

  /* [A, N], block [1, B] with B dividing N: flat B whatever N is */
  case_init (&test, SHAPE (40, 96), levels (SHAPE (10, 384), TRUE, 1, U (1), U (64)));
  g_assert_cmpint (test.boundaries->run[0].kind, ==, TM_RUN_FLAT);
  g_assert_cmpuint (test.boundaries->run[0].flat, ==, 64);
  check_all_neighbours (&test);
  case_clear (&test);
}

/* [A, N], block [A, 1]: element i belongs to group i mod N. */
static void
test_strided_groups (void)
{
  Case test;

  case_init (&test, SHAPE (32, 64), levels (SHAPE (64, 32), TRUE, 1, U (64), U (1))); /* N divides the row */
  expect_rectangle (&test, 0, 32, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (32, 64), levels (SHAPE (16, 128), TRUE, 1, U (16), U (1))); /* the row divides N */
  expect_rectangle (&test, 0, 1, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (48, 60), levels (SHAPE (64, 45), TRUE, 1, U (64), U (1))); /* neither */
  expect_rectangle (&test, 0, 1, 1);
  check_all_neighbours (&test);
  case_clear (&test);
}

/* --- Tables --------------------------------------------------------------------------------------------------------------- */

static guint32 *
act_order (guint64 length)
{
  guint32 *table = g_new (guint32, length);

  for (guint64 i = 0; i < length; i++)
    table[i] = (guint32) (37 * i % length / 64);
  return table;
}

static void
test_table (void)
{
  TmGranularity *granularity = levels (SHAPE (20, 256), FALSE, 1, U (1), U (16));
  Case test;

  tm_granularity_set_table (granularity, 1, act_order (256));
  case_init (&test, SHAPE (20, 256), granularity);
  g_assert_nonnull (test.boundaries->run[0].column_runs);
  g_assert_cmpuint (test.boundaries->run[0].rows, ==, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  granularity = levels (SHAPE (256, 20), FALSE, 1, U (16), U (1));
  tm_granularity_set_table (granularity, 0, act_order (256));
  case_init (&test, SHAPE (256, 20), granularity);
  g_assert_nonnull (test.boundaries->run[0].row_runs);
  g_assert_cmpuint (test.boundaries->run[0].columns, ==, 1);
  check_all_neighbours (&test);
  case_clear (&test);

  granularity = levels (SHAPE (20, 256), FALSE, 1, U (1), U (16)); /* a table in order is plain groups */
  {
    guint32 *table = g_new (guint32, 256);

    for (guint32 i = 0; i < 256; i++)
      table[i] = i / 16;
    tm_granularity_set_table (granularity, 1, table);
  }
  case_init (&test, SHAPE (20, 256), granularity);
  expect_rectangle (&test, 0, 1, 16);
  check_all_neighbours (&test);
  case_clear (&test);
}

/* B094: rows in groups 1,0,1,0 … differ at every row, though two rows apart they are the same. */
static void
test_trap_b094 (void)
{
  TmGranularity *granularity = levels (SHAPE (8, 4), FALSE, 1, U (4), U (1));
  guint32 *table = g_new (guint32, 8);
  TmRulers rulers = { 0 };
  TmCamera camera;
  guint n_lines = 0;
  Case test;

  for (guint32 i = 0; i < 8; i++)
    table[i] = 1 - i % 2;
  tm_granularity_set_table (granularity, 0, table);
  case_init (&test, SHAPE (8, 4), granularity);
  check_all_neighbours (&test);
  tm_camera_init (&camera, 200, 400);
  tm_camera_set (&camera, 2, 4, 40);
  tm_rulers_build (&rulers, &camera, 0, 0, 8, 4, test.boundaries, TRUE, 0, 1);
  for (int p = 0; p < rulers.n_y; p++)
    n_lines += TM_RULER_LINE (rulers.y[p].strengths) > 0 ? 1 : 0;
  g_assert_cmpuint (n_lines, ==, 7);
  tm_rulers_clear (&rulers);
  case_clear (&test);
}

/* --- Other sheets --------------------------------------------------------------------------------------------------------- */

static void
test_wrapped (void)
{
  Case test;

  case_init (&test, SHAPE (5000), levels (SHAPE (5000), FALSE, 1, U (16))); /* 64 columns, short last row */
  expect_rectangle (&test, 0, 1, 16);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (5000), levels (SHAPE (5000), FALSE, 2, U (256), U (32)));
  expect_rectangle (&test, 0, 4, 64);
  expect_rectangle (&test, 1, 1, 32);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (1, 5000), levels (SHAPE (1, 5000), FALSE, 1, U (1), U (100)));
  g_assert_cmpint (test.boundaries->run[0].kind, ==, TM_RUN_FLAT);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (5000), levels (SHAPE (5000), FALSE, 1, U (5000)));
  expect_rectangle (&test, 0, test.sheet.rows, test.sheet.columns);
  case_clear (&test);
}

static void
test_merged (void)
{
  Case test;

  case_init (&test, SHAPE (16, 8, 3, 3), levels (SHAPE (16, 8, 3, 3), FALSE, 1, U (1), U (8), U (3), U (3)));
  g_assert_cmpint (test.sheet.kind, ==, TM_SHEET_MERGED);
  expect_rectangle (&test, 0, 1, 72);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (16, 8, 3, 3), levels (SHAPE (16, 8, 3, 3), FALSE, 1, U (16), U (1), U (3), U (3)));
  expect_rectangle (&test, 0, 16, 9);
  check_all_neighbours (&test);
  case_clear (&test);

  /* A kernel's row each, for all input channels: no rectangle, a table of columns. */
  case_init (&test, SHAPE (16, 8, 3, 3), levels (SHAPE (16, 8, 3, 3), FALSE, 1, U (1), U (8), U (1), U (3)));
  expect_rectangle (&test, 0, 1, 3);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (16, 8, 5), levels (SHAPE (16, 8, 5), FALSE, 1, U (4), U (8), U (2)));
  g_assert_nonnull (test.boundaries->run[0].column_runs);
  g_assert_cmpuint (test.boundaries->run[0].rows, ==, 4);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (16, 8, 3, 3), levels (SHAPE (16, 8, 3, 3), FALSE, 1, U (1), U (8), U (3), U (1)));
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (16, 8, 3, 3), levels (SHAPE (16, 72), TRUE, 1, U (1), U (32)));
  expect_rectangle (&test, 0, 1, 32);
  check_all_neighbours (&test);
  case_clear (&test);
}

static void
test_stack (void)
{
  Case test;

  case_init (&test, SHAPE (3, 300, 256), levels (SHAPE (3, 300, 256), FALSE, 2, U (1), U (128), U (128), U (1), U (1), U (32)));
  g_assert_cmpint (test.sheet.kind, ==, TM_SHEET_STACK);
  g_assert_cmpuint (test.sheet.n_panes, ==, 3);
  expect_rectangle (&test, 0, 128, 128);
  expect_rectangle (&test, 1, 1, 32);
  check_all_neighbours (&test);
  case_clear (&test);

  case_init (&test, SHAPE (3, 300, 256), levels (SHAPE (3, 300, 256), FALSE, 1, U (1), U (300), U (256))); /* a scale an expert */
  expect_rectangle (&test, 0, 300, 256);
  check_all_neighbours (&test);
  case_clear (&test);

  /* Blocks that run on from one slice to the next: each pane's first block is cut at another place. */
  case_init (&test, SHAPE (3, 301, 251), levels (SHAPE (3 * 301 * 251), TRUE, 1, U (64)));
  g_assert_cmpint (test.boundaries->run[0].kind, ==, TM_RUN_FLAT);
  check_all_neighbours (&test);
  case_clear (&test);

  /* Whole rows to a block, but slices do not hold whole blocks. */
  case_init (&test, SHAPE (3, 303, 256), levels (SHAPE (3 * 303 * 256), TRUE, 1, U (1024)));
  g_assert_cmpint (test.boundaries->run[0].kind, ==, TM_RUN_FLAT);
  check_all_neighbours (&test);
  case_clear (&test);
}

/* A coarse level that is no coarser on an axis leaves that axis to the finer one. */
static void
test_hierarchy (void)
{
  TmRulers rulers = { 0 };
  TmCamera camera;
  guint heavy_rows = 0, heavy_columns = 0;
  Case test;

  case_init (&test, SHAPE (64, 512), levels (SHAPE (64, 512), FALSE, 2, U (1), U (256), U (1), U (32)));
  tm_camera_init (&camera, 800, 600);
  tm_camera_set (&camera, 256, 32, 25);
  tm_rulers_build (&rulers, &camera, 0, 0, 64, 512, test.boundaries, TRUE, 0, 1);
  for (int p = 1; p < rulers.n_y; p++)
    heavy_rows += TM_RULER_LINE (rulers.y[p].strengths) && TM_RULER_LINE (rulers.y[p - 1].strengths) ? 1 : 0;
  for (int p = 1; p < rulers.n_x; p++)
    heavy_columns += TM_RULER_LINE (rulers.x[p].strengths) && TM_RULER_LINE (rulers.x[p - 1].strengths) ? 1 : 0;
  g_assert_cmpuint (heavy_rows, ==, 0);
  g_assert_cmpuint (heavy_columns, ==, 1);
  tm_rulers_clear (&rulers);
  case_clear (&test);
}

/* Hostile sizes: no overflow, no endless table. */
static void
test_huge (void)
{
  TmRulers rulers = { 0 };
  TmCamera camera;
  Case test;

  case_init (&test, SHAPE (3, 3000000000), levels (SHAPE (3, 3000000000), FALSE, 1, U (1), U (32)));
  expect_rectangle (&test, 0, 1, 32);
  tm_camera_init (&camera, 100, 100);
  tm_camera_set (&camera, 2.9e9, 1, 10);
  tm_rulers_build (&rulers, &camera, 0, 0, test.sheet.rows, test.sheet.columns, test.boundaries, TRUE, 2, 1);
  tm_rulers_clear (&rulers);
  case_clear (&test);

  case_init (&test, SHAPE (2, 4000000000, 1000), levels (SHAPE (2, 4000000000, 1000), FALSE, 1, U (1), U (3), U (7)));
  expect_rectangle (&test, 0, 3, 7);
  case_clear (&test);

  case_init (&test, SHAPE (3000000000000000), levels (SHAPE (3000000000000000), FALSE, 1, U (1000000007)));
  tm_camera_set (&camera, 1e7, 1e7, 1e-3);
  tm_rulers_build (&rulers, &camera, 0, 0, test.sheet.rows, test.sheet.columns, test.boundaries, TRUE, 2, 1);
  tm_rulers_clear (&rulers);
  case_clear (&test);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/boundaries/super-blocks", test_super_blocks);
  g_test_add_func ("/boundaries/matrices", test_plain_matrices);
  g_test_add_func ("/boundaries/none", test_none);
  g_test_add_func ("/boundaries/reshape/flat", test_flat_reshape);
  g_test_add_func ("/boundaries/reshape/rows", test_reshape_of_rows);
  g_test_add_func ("/boundaries/reshape/strided", test_strided_groups);
  g_test_add_func ("/boundaries/table", test_table);
  g_test_add_func ("/traps/B094", test_trap_b094);
  g_test_add_func ("/boundaries/wrapped", test_wrapped);
  g_test_add_func ("/boundaries/merged", test_merged);
  g_test_add_func ("/boundaries/stack", test_stack);
  g_test_add_func ("/boundaries/hierarchy", test_hierarchy);
  g_test_add_func ("/boundaries/huge", test_huge);
  return g_test_run ();
}
