/* Sheets: every element has exactly one cell and every cell at most one element, for every rank. */
#include "architecture/sheet.h"

static TmSheet
sheet_of (guint rank, const guint64 *shape)
{
  TmTensor tensor = { .rank = rank, .shape = (guint64 *) shape, .n_elements = 1 };
  TmSheet sheet;

  for (guint axis = 0; axis < rank; axis++)
    tensor.n_elements *= shape[axis];
  tm_sheet_init (&sheet, &tensor);
  return sheet;
}
#define SHEET(...) sheet_of (G_N_ELEMENTS (((guint64[]) { __VA_ARGS__ })), (guint64[]) { __VA_ARGS__ })

/* Walks every cell of the sheet and one beyond each edge. */
static void
check_bijection (const TmSheet *sheet)
{
  g_autofree guint8 *seen = g_malloc0 (sheet->n_elements + 1);
  guint64 n_seen = 0;

  for (gint64 y = -1; y <= sheet->height; y++)
    for (gint64 x = -1; x <= sheet->width; x++)
      {
        guint64 flat;
        gint64 at_x, at_y;

        if (!tm_sheet_pick (sheet, x, y, &flat))
          continue;
        g_assert_cmpuint (flat, <, sheet->n_elements);
        g_assert_cmpuint (seen[flat], ==, 0);
        seen[flat] = 1;
        n_seen++;
        tm_sheet_locate (sheet, flat, &at_x, &at_y);
        g_assert_cmpint (at_x, ==, x);
        g_assert_cmpint (at_y, ==, y);
      }
  g_assert_cmpuint (n_seen, ==, sheet->n_elements);
}

/* The same for a few elements of a sheet too large to walk. */
static void
check_samples (const TmSheet *sheet)
{
  const guint64 flats[]
      = { 0, MIN (1, sheet->n_elements - 1), sheet->n_elements / 3, sheet->n_elements / 2, sheet->n_elements - 1 };

  g_assert_cmpint (sheet->width, >, 0);
  g_assert_cmpint (sheet->height, >, 0);
  g_assert_cmpint (sheet->width, <=, G_GINT64_CONSTANT (1) << 36);
  g_assert_cmpint (sheet->height, <=, G_GINT64_CONSTANT (1) << 36);
  for (guint i = 0; i < G_N_ELEMENTS (flats); i++)
    {
      guint64 flat = 0;
      gint64 x, y;

      tm_sheet_locate (sheet, flats[i], &x, &y);
      g_assert_cmpint (x, <, sheet->width);
      g_assert_cmpint (y, <, sheet->height);
      g_assert_true (tm_sheet_pick (sheet, x, y, &flat));
      g_assert_cmpuint (flat, ==, flats[i]);
    }
}

static void
test_matrix (void)
{
  TmSheet sheet = SHEET (5, 7);

  g_assert_cmpint (sheet.kind, ==, TM_SHEET_MATRIX);
  g_assert_cmpint (sheet.width, ==, 7);
  g_assert_cmpint (sheet.height, ==, 5);
  check_bijection (&sheet);
  sheet = SHEET (9, 1);
  g_assert_cmpint (sheet.kind, ==, TM_SHEET_MATRIX);
  g_assert_cmpint (sheet.height, ==, 9);
  check_bijection (&sheet);
}

static void
test_scalar (void)
{
  TmSheet sheet = sheet_of (0, NULL);

  g_assert_cmpint (sheet.width, ==, 1);
  g_assert_cmpint (sheet.height, ==, 1);
  check_bijection (&sheet);
}

static void
test_wrapped (void)
{
  /* elements, columns: the power of two next to the root; 9 and 36 are as near to both */
  const guint64 cases[][2]
      = { { 1, 1 },  { 2, 1 },  { 3, 2 },     { 8, 2 },     { 9, 4 },     { 16, 4 },    { 35, 4 },
          { 36, 8 }, { 64, 8 }, { 2048, 32 }, { 2303, 32 }, { 2304, 64 }, { 4096, 64 }, { 1000000000, 32768 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      TmSheet sheet = SHEET (cases[i][0]);
      TmSheet row = SHEET (1, cases[i][0]);

      g_assert_cmpint (sheet.kind, ==, TM_SHEET_WRAPPED);
      g_assert_cmpuint (sheet.columns, ==, cases[i][1]);
      g_assert_cmpuint (row.columns, ==, cases[i][1]);
      check_samples (&sheet);
    }
  for (guint64 n = 1; n < 150; n++)
    {
      TmSheet sheet = SHEET (n);
      check_bijection (&sheet);
    }
}

static void
test_merged (void)
{
  TmSheet sheet = SHEET (8, 3, 5, 2);

  g_assert_cmpint (sheet.kind, ==, TM_SHEET_MERGED);
  g_assert_cmpint (sheet.height, ==, 8);
  g_assert_cmpint (sheet.width, ==, 30);
  g_assert_cmpuint (sheet.slice_columns, ==, 10);
  check_bijection (&sheet);
  sheet = SHEET (64, 255, 257); /* 65 535 after the first axis */
  g_assert_cmpint (sheet.kind, ==, TM_SHEET_MERGED);
  sheet = SHEET (2, 256, 256);
  g_assert_cmpint (sheet.kind, ==, TM_SHEET_STACK);
}

static void
test_stack (void)
{
  TmSheet sheet = SHEET (8, 256, 512);

  g_assert_cmpint (sheet.kind, ==, TM_SHEET_STACK);
  g_assert_cmpuint (sheet.n_panes, ==, 8);
  g_assert_cmpuint (sheet.rows, ==, 256);
  g_assert_cmpuint (sheet.columns, ==, 512);
  g_assert_cmpuint (sheet.gap, >, 0);
  g_assert_cmpuint (sheet.panes_across, ==, 2);
  check_bijection (&sheet);
  sheet = SHEET (5, 300, 301);
  check_bijection (&sheet);
  sheet = SHEET (2, 3, 17, 4001); /* leading axes counted together; 6 panes */
  g_assert_cmpuint (sheet.n_panes, ==, 6);
  check_bijection (&sheet);
  sheet = SHEET (2, 70000, 3, 2); /* many small panes */
  g_assert_cmpuint (sheet.n_panes, ==, 140000);
  check_bijection (&sheet);
  sheet = SHEET (1, 50, 512); /* axes of length one in front: the matrix behind them */
  g_assert_cmpuint (sheet.rows, ==, 50);
  g_assert_cmpuint (sheet.columns, ==, 512);
  check_bijection (&sheet);
  sheet = SHEET (1, 64, 3, 3); /* one row, merged: wrapped like any single row */
  g_assert_cmpint (sheet.kind, ==, TM_SHEET_WRAPPED);
  check_bijection (&sheet);
}

static void
test_near_square (void)
{
  const guint64 shapes[][3]
      = { { 8, 14336, 4096 }, { 128, 768, 2048 }, { 60, 1408, 5120 }, { 256, 2048, 7168 }, { 8, 4096, 14336 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      TmSheet sheet = SHEET (shapes[i][0], shapes[i][1], shapes[i][2]);

      check_samples (&sheet);
      g_assert_cmpint (sheet.width, <, sheet.height * 5 / 2);
      g_assert_cmpint (sheet.height, <, sheet.width * 5 / 2);
    }
}

static void
test_empty (void)
{
  const TmSheet sheets[] = { SHEET (0), SHEET (0, 4), SHEET (4, 0), SHEET (3, 0, 70000), SHEET (0, 70000, 3) };

  for (guint i = 0; i < G_N_ELEMENTS (sheets); i++)
    {
      guint64 flat;
      gint64 x = 5, y = 5;

      g_assert_cmpuint (sheets[i].rows, ==, 0);
      g_assert_cmpuint (sheets[i].columns, ==, 0);
      g_assert_cmpint (sheets[i].width, ==, 0);
      g_assert_false (tm_sheet_pick (&sheets[i], 0, 0, &flat));
      tm_sheet_locate (&sheets[i], 0, &x, &y);
      g_assert_cmpint (x, ==, 0);
    }
}

static void
test_huge (void)
{
  const guint64 g = G_GUINT64_CONSTANT (1);
  const TmSheet sheets[] = {
    SHEET (1, 1000000000),      SHEET (g << 40),
    SHEET (g << 40, 1),         SHEET (2, g << 40),
    SHEET (g << 62, 1),         SHEET (g << 63),
    SHEET (G_MAXUINT64),        SHEET (3, g << 61),
    SHEET (g << 40, 300, 300),  SHEET (g << 31, g << 16, g << 16),
    SHEET (1000000000, 1),      SHEET (g << 20, 1, 1, 1, g << 43),
    SHEET (2, 2, g << 60),      SHEET (g << 61, 7, 1),
    SHEET (4, g << 36, g << 3),
  };

  for (guint i = 0; i < G_N_ELEMENTS (sheets); i++)
    check_samples (&sheets[i]);
}

static void
test_random (void)
{
  for (guint i = 0; i < 300; i++)
    {
      guint64 shape[5];
      guint rank = (guint) g_test_rand_int_range (0, 6);
      TmSheet sheet;

      for (guint axis = 0; axis < rank; axis++)
        shape[axis] = (guint64) g_test_rand_int_range (rank > 2 && axis == rank - 1 && i % 2 ? 1000 : 1,
                                                       rank > 2 && axis == rank - 1 && i % 2 ? 3000 : 9);
      sheet = sheet_of (rank, shape);
      if (sheet.n_elements < 400000)
        check_bijection (&sheet);
      else
        check_samples (&sheet);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sheet/matrix", test_matrix);
  g_test_add_func ("/sheet/scalar", test_scalar);
  g_test_add_func ("/sheet/wrapped", test_wrapped);
  g_test_add_func ("/sheet/merged", test_merged);
  g_test_add_func ("/sheet/stack", test_stack);
  g_test_add_func ("/sheet/near-square", test_near_square);
  g_test_add_func ("/sheet/empty", test_empty);
  g_test_add_func ("/sheet/huge", test_huge);
  g_test_add_func ("/sheet/random", test_random);
  return g_test_run ();
}
