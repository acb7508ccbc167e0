/* Columns sorted by group (act-order): places change and addresses do not; tiles, boundaries and hit test agree. */
#include "view/ruler.h"
#include "view/tile-make.h"

#include <string.h>

#include "quant/stored.h"

#define ROWS 37
#define COLUMNS 700
#define GROUPS 7

typedef struct
{
  TmStored *stored;
  TmTensor *tensor;
  TmSheet sheet, sorted;
} Fixture;

/* Element (r, c) is r × 1000 + c; group of a column by a seeded shuffle, every group as long as the others but the last. */
static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint64 shape[2] = { ROWS, COLUMNS }, extents[2] = { 1, COLUMNS / GROUPS };
  const char *label = "group";
  g_autofree float *values = g_new (float, ROWS * COLUMNS);
  guint32 *table = g_new (guint32, COLUMNS);

  for (guint r = 0; r < ROWS; r++)
    for (guint c = 0; c < COLUMNS; c++)
      values[r * COLUMNS + c] = (float) (r * 1000 + c);
  fixture->tensor = make_tensor (TM_DTYPE_F32, 2, shape, values, sizeof (float) * ROWS * COLUMNS, 0, FALSE, &fixture->stored);
  for (guint c = 0; c < COLUMNS; c++)
    table[c] = c % GROUPS;
  for (guint c = COLUMNS - 1; c > 0; c--)
    {
      guint other = (guint) g_rand_int_range (rand, 0, (gint32) c + 1);
      guint32 kept = table[c];
      table[c] = table[other];
      table[other] = kept;
    }
  fixture->tensor->granularity = tm_granularity_new (2, shape, FALSE, 1, extents, &label);
  tm_granularity_set_table (fixture->tensor->granularity, 1, table);
  tm_sheet_init (&fixture->sheet, fixture->tensor);
  fixture->sorted = fixture->sheet;
  g_assert_true (tm_sheet_sort_columns (&fixture->sorted, fixture->tensor));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  free_tensor (fixture->tensor, fixture->stored);
}

static void
test_places (Fixture *fixture, gconstpointer data)
{
  const guint32 *table = fixture->tensor->granularity->table;
  guint32 before = 0;
  guint64 before_column = 0;

  for (gint64 x = 0; x < COLUMNS; x++)
    {
      guint64 flat;
      gint64 back_x, back_y;

      g_assert_true (tm_sheet_pick (&fixture->sorted, x, 5, &flat));
      tm_sheet_locate (&fixture->sorted, flat, &back_x, &back_y);
      g_assert_cmpint (back_x, ==, x);
      g_assert_cmpint (back_y, ==, 5);
      g_assert_cmpuint (flat / COLUMNS, ==, 5);
      guint32 group = table[flat % COLUMNS];
      g_assert_cmpuint (group, >=, before);
      if (x > 0 && group == before) /* equal groups in the order of their columns */
        g_assert_cmpuint (flat % COLUMNS, >, before_column);
      before = group;
      before_column = flat % COLUMNS;
    }
  /* one that has no table stays as it is */
  guint64 shape[2] = { 4, 4 };
  TmStored *stored;
  float numbers[16] = { 0 };
  TmTensor *plain = make_tensor (TM_DTYPE_F32, 2, shape, numbers, sizeof numbers, 0, FALSE, &stored);
  TmSheet sheet;
  tm_sheet_init (&sheet, plain);
  g_assert_false (tm_sheet_sort_columns (&sheet, plain));
  g_assert_null (sheet.order);
  free_tensor (plain, stored);
}

static void
test_tiles (Fixture *fixture, gconstpointer data)
{
  g_autofree float *texels = g_new0 (float, TM_TILE * TM_TILE);

  for (guint level = 0; level <= 2; level++)
    for (guint exact = 0; exact <= 1; exact++)
      for (guint32 column = 0; column <= (COLUMNS - 1u) >> level >> 8; column++)
        {
          TmTileKey key = { .level = (guint8) level, .column = column, .sorted = 1 };
          g_autoptr (GError) error = NULL;
          guint width, height;

          g_assert_true (tm_tile_make (fixture->tensor, &fixture->sorted, &key, exact, texels, &width, &height, NULL, &error));
          g_assert_no_error (error);
          for (guint ty = 0; ty < height && exact; ty++)
            for (guint tx = 0; tx < width; tx++)
              {
                float largest = 0;
                for (gint64 y = (gint64) ty << level; y < MIN ((gint64) (ty + 1) << level, (gint64) ROWS); y++)
                  for (gint64 i = 0; i < 1 << level; i++)
                    {
                      gint64 x = (((gint64) column << 8) + tx) * (1 << level) + i;
                      guint64 flat;
                      if (tm_sheet_pick (&fixture->sorted, x, y, &flat))
                        largest = MAX (largest, (float) (flat / COLUMNS * 1000 + flat % COLUMNS));
                    }
                g_assert_cmpfloat (texels[ty * TM_TILE + tx], ==, largest);
              }
        }
}

/* Scattered: a change at nearly every column. Sorted: six lines, and all groups equally long. */
static void
test_boundaries (Fixture *fixture, gconstpointer data)
{
  g_autoptr (TmBoundaries) scattered = tm_boundaries_new (fixture->tensor, &fixture->sheet);
  g_autoptr (TmBoundaries) sorted = tm_boundaries_new (fixture->tensor, &fixture->sorted);

  g_assert_nonnull (scattered->run[0].column_runs);
  g_assert_cmpuint (scattered->run[0].column_runs[COLUMNS - 1], >, COLUMNS / 2);
  g_assert_null (sorted->run[0].column_runs);
  g_assert_cmpuint (sorted->run[0].columns, ==, COLUMNS / GROUPS);
  g_assert_cmpuint (sorted->run[0].rows, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/column-order/places", Fixture, NULL, set_up, test_places, tear_down);
  g_test_add ("/column-order/tiles", Fixture, NULL, set_up, test_tiles, tear_down);
  g_test_add ("/column-order/boundaries", Fixture, NULL, set_up, test_boundaries, tear_down);
  return g_test_run ();
}
