/* Where keys and marked rectangles lead on sheets: edges, groups, slices, regions. */
#include "ui/canvas-steps.h"

typedef struct
{
  TmTensor tensor;
  TmSheet sheet;
} Grid;

static Grid
grid_new (guint rank, const guint64 *shape, TmGranularity *granularity)
{
  Grid grid = { .tensor = { .rank = rank, .shape = (guint64 *) shape, .n_elements = 1, .granularity = granularity } };

  for (guint i = 0; i < rank; i++)
    grid.tensor.n_elements *= shape[i];
  tm_sheet_init (&grid.sheet, &grid.tensor);
  return grid;
}

static TmGranularity *
levels (guint rank, const guint64 *shape, gboolean reshaped, guint n, const guint64 *extents)
{
  static const char *const labels[] = { "super-block", "group", "block" };

  return tm_granularity_new (rank, shape, reshaped, n, extents, labels);
}

#define NOWHERE G_MAXUINT64

static guint64
step (const Grid *grid, guint64 flat, int dx, int dy)
{
  guint64 result;

  return tm_step_scalar (&grid->sheet, flat, dx, dy, &result) ? result : NOWHERE;
}

static guint64
boundary (const Grid *grid, guint64 flat, int dx, int dy)
{
  guint64 result;

  return tm_step_boundary (&grid->tensor, &grid->sheet, flat, dx, dy, &result) ? result : NOWHERE;
}

static void
test_neighbours (void)
{
  const guint64 shape[] = { 3, 5 };
  Grid grid = grid_new (2, shape, NULL);

  g_assert_cmpuint (step (&grid, 7, 1, 0), ==, 8);
  g_assert_cmpuint (step (&grid, 7, -1, 0), ==, 6);
  g_assert_cmpuint (step (&grid, 7, 0, -1), ==, 2);
  g_assert_cmpuint (step (&grid, 7, 0, 1), ==, 12);
  g_assert_cmpuint (step (&grid, 9, 1, 0), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 5, -1, 0), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 2, 0, -1), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 12, 0, 1), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 15, -1, 0), ==, NOWHERE);
}

/* A vector of 10 is wrapped into rows; its last row is short, and there is nothing below the gap. */
static void
test_short_last_row (void)
{
  const guint64 shape[] = { 10 };
  Grid grid = grid_new (1, shape, NULL);
  guint64 columns = grid.sheet.columns;

  g_assert_cmpuint (columns, ==, 4);
  g_assert_cmpuint (step (&grid, 9, 1, 0), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 6, 0, 1), ==, NOWHERE);
  g_assert_cmpuint (step (&grid, 5, 0, 1), ==, 9);
}

static void
test_empty (void)
{
  const guint64 shape[] = { 0, 5 };
  Grid grid = grid_new (2, shape, NULL);

  g_assert_cmpuint (step (&grid, 0, 1, 0), ==, NOWHERE);
  g_assert_cmpuint (boundary (&grid, 0, 1, 0), ==, NOWHERE);
}

static void
test_boundaries (void)
{
  const guint64 shape[] = { 4, 600 };
  const guint64 extents[] = { 1, 256, 1, 32 };
  g_autoptr (TmGranularity) nested = levels (2, shape, FALSE, 2, extents);
  Grid grid = grid_new (2, shape, nested);

  g_assert_cmpuint (boundary (&grid, 600 + 37, 1, 0), ==, 600 + 64);
  g_assert_cmpuint (boundary (&grid, 600 + 37, -1, 0), ==, 600 + 32);
  g_assert_cmpuint (boundary (&grid, 600 + 32, -1, 0), ==, 600);
  g_assert_cmpuint (boundary (&grid, 600, -1, 0), ==, NOWHERE);
  g_assert_cmpuint (boundary (&grid, 600 + 576, 1, 0), ==, 600 + 599); /* a short last group ends at the edge */
  g_assert_cmpuint (boundary (&grid, 600 + 37, 0, 1), ==, 1200 + 37);
  g_assert_cmpuint (boundary (&grid, 37, 0, -1), ==, NOWHERE);
  g_assert_cmpuint (tm_step_group_start (&grid.tensor, 600 + 37), ==, 600 + 32);
}

static void
test_blocks (void)
{
  const guint64 shape[] = { 300, 300 };
  const guint64 extents[] = { 128, 128 };
  g_autoptr (TmGranularity) block = levels (2, shape, FALSE, 1, extents);
  Grid grid = grid_new (2, shape, block);

  g_assert_cmpuint (boundary (&grid, 130 * 300 + 5, 0, 1), ==, 256 * 300 + 5);
  g_assert_cmpuint (boundary (&grid, 130 * 300 + 5, 0, -1), ==, 128 * 300 + 5);
  g_assert_cmpuint (boundary (&grid, 128 * 300 + 5, 0, -1), ==, 5);
  g_assert_cmpuint (tm_step_group_start (&grid.tensor, 130 * 300 + 131), ==, 128 * 300 + 128);
}

/* Blocks of 64 over rows of 100 run across row ends. */
static void
test_flat_blocks (void)
{
  const guint64 shape[] = { 5, 100 }, counted[] = { 500 }, extents[] = { 64 };
  g_autoptr (TmGranularity) flat = levels (1, counted, TRUE, 1, extents);
  Grid grid = grid_new (2, shape, flat);

  g_assert_cmpuint (boundary (&grid, 70, 1, 0), ==, 99);
  g_assert_cmpuint (boundary (&grid, 110, 1, 0), ==, 128);
  g_assert_cmpuint (boundary (&grid, 150, -1, 0), ==, 128);
  g_assert_cmpuint (boundary (&grid, 128, -1, 0), ==, 100);
  g_assert_cmpuint (boundary (&grid, 110, 0, 1), ==, 210);
  g_assert_cmpuint (tm_step_group_start (&grid.tensor, 110), ==, 64);
}

static void
test_not_quantized (void)
{
  const guint64 shape[] = { 4, 600 };
  Grid grid = grid_new (2, shape, NULL);

  g_assert_cmpuint (boundary (&grid, 637, 1, 0), ==, 1199);
  g_assert_cmpuint (boundary (&grid, 637, -1, 0), ==, 600);
  g_assert_cmpuint (boundary (&grid, 637, 0, 1), ==, 1837);
  g_assert_cmpuint (boundary (&grid, 1199, 1, 0), ==, NOWHERE);
  g_assert_cmpuint (tm_step_group_start (&grid.tensor, 637), ==, 637);
}

static void
test_slices (void)
{
  const guint64 shape[] = { 3, 256, 512 }, matrix[] = { 4, 4 };
  Grid stack = grid_new (3, shape, NULL), flat = grid_new (2, matrix, NULL);
  guint64 slice = 256 * 512, result;

  g_assert_cmpint (stack.sheet.kind, ==, TM_SHEET_STACK);
  g_assert_true (tm_step_slice (&stack.tensor, 77, 1, &result));
  g_assert_cmpuint (result, ==, slice + 77);
  g_assert_false (tm_step_slice (&stack.tensor, 77, -1, &result));
  g_assert_true (tm_step_slice (&stack.tensor, 2 * slice + 5, -1, &result));
  g_assert_cmpuint (result, ==, slice + 5);
  g_assert_false (tm_step_slice (&stack.tensor, 2 * slice, 1, &result));
  g_assert_false (tm_step_slice (&flat.tensor, 3, 1, &result));
  /* Arrows do not leave a pane. */
  g_assert_cmpuint (step (&stack, slice - 1, 0, 1), ==, NOWHERE);
  g_assert_cmpuint (step (&stack, slice, 0, -1), ==, NOWHERE);
}

static void
check_region (const Grid *grid, guint64 a, guint64 b, const guint64 *start, const guint64 *end)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;

  tm_step_region (&grid->tensor, &grid->sheet, a, b, &address);
  g_assert_cmpint (address.within, ==, TM_WITHIN_REGION);
  g_assert_cmpuint (address.rank, ==, grid->tensor.rank);
  for (guint i = 0; i < address.rank; i++)
    {
      g_assert_cmpuint (address.start[i], ==, start[i]);
      g_assert_cmpuint (address.end[i], ==, end[i]);
    }
}

static void
test_regions (void)
{
  const guint64 matrix[] = { 10, 20 }, stack[] = { 3, 256, 512 }, filter[] = { 8, 4, 3, 3 };
  Grid grid = grid_new (2, matrix, NULL);

  check_region (&grid, 2 * 20 + 15, 7 * 20 + 4, (guint64[]) { 2, 4 }, (guint64[]) { 8, 16 });
  check_region (&grid, 0, 0, (guint64[]) { 0, 0 }, (guint64[]) { 1, 1 });
  grid = grid_new (3, stack, NULL);
  check_region (&grid, 256 * 512 + 3, 256 * 512 + 512 + 9, (guint64[]) { 1, 0, 3 }, (guint64[]) { 2, 2, 10 });
  /* Merged columns: between two channels lie whole kernels. */
  grid = grid_new (4, filter, NULL);
  g_assert_cmpint (grid.sheet.kind, ==, TM_SHEET_MERGED);
  check_region (&grid, 1 * 36 + 1 * 9 + 5, 2 * 36 + 2 * 9 + 1, (guint64[]) { 1, 1, 0, 0 }, (guint64[]) { 3, 3, 3, 3 });
  check_region (&grid, 1 * 36 + 9 + 3, 1 * 36 + 9 + 5, (guint64[]) { 1, 1, 1, 0 }, (guint64[]) { 2, 2, 2, 3 });
}

static void
test_clamp (void)
{
  const guint64 shape[] = { 3, 256, 512 };
  Grid grid = grid_new (3, shape, NULL);
  gint64 left, top, x = -50, y = 100000;

  tm_sheet_get_pane_origin (&grid.sheet, 1, &left, &top);
  tm_step_clamp_to_pane (&grid.sheet, 256 * 512 + 7, &x, &y);
  g_assert_cmpint (x, ==, left);
  g_assert_cmpint (y, ==, top + 255);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/steps/neighbours", test_neighbours);
  g_test_add_func ("/steps/short-last-row", test_short_last_row);
  g_test_add_func ("/steps/empty", test_empty);
  g_test_add_func ("/steps/boundaries", test_boundaries);
  g_test_add_func ("/steps/blocks", test_blocks);
  g_test_add_func ("/steps/flat-blocks", test_flat_blocks);
  g_test_add_func ("/steps/not-quantized", test_not_quantized);
  g_test_add_func ("/steps/slices", test_slices);
  g_test_add_func ("/steps/regions", test_regions);
  g_test_add_func ("/steps/clamp", test_clamp);
  return g_test_run ();
}
