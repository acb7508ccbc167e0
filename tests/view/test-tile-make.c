/* One tile against the elements themselves: every kind of sheet, every reduction, every level. */
#include "view/camera.h"
#include "view/tile-make.h"
#include "fake-model.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

static float special_values[64];

static float
hash_value (guint64 flat)
{
  guint64 hash = (flat + 1) * 0x9E3779B97F4A7C15u;

  hash ^= hash >> 31;
  return (float) (gint32) (hash & 0xffffff) / 4096.0f - 2000.0f;
}

static float
special_value (guint64 flat)
{
  return special_values[flat * 2654435761u >> 7 & 63];
}

/* Larger by the order NaN > Inf > finite; the positive one of two equal magnitudes. */
static gboolean
is_larger (float a, float b)
{
  int rank_a = isnan (a) ? 2 : isinf (a) ? 1 : 0, rank_b = isnan (b) ? 2 : isinf (b) ? 1 : 0;

  if (rank_a != rank_b)
    return rank_a > rank_b;
  if (rank_a == 0 && fabsf (a) != fabsf (b))
    return fabsf (a) > fabsf (b);
  return !signbit (a) && signbit (b);
}

static float
brute_texel (const TmTensor *tensor, const TmSheet *sheet, const TmTileKey *key, guint tx, guint ty)
{
  float (*value) (guint64) = FAKE (tensor)->value;
  guint64 side = (guint64) 1 << key->level, n = 0;
  guint64 c0 = ((guint64) key->column * 256 + tx) * side, r0 = ((guint64) key->row * 256 + ty) * side;
  double sum = 0, squares = 0;
  float largest = 0;

  for (guint64 r = r0; r < MIN (r0 + side, sheet->rows); r++)
    for (guint64 c = c0; c < MIN (c0 + side, sheet->columns); c++)
      {
        guint64 flat = (key->pane * sheet->rows + r) * sheet->columns + c;
        float v;

        if (flat >= sheet->n_elements)
          continue;
        v = value (flat);
        if (n == 0 || is_larger (v, largest))
          largest = v;
        sum += (double) v;
        squares += (double) v * (double) v;
        n++;
      }
  if (key->reduce == TM_REDUCE_LARGEST || key->level == 0)
    return largest;
  return (float) (key->reduce == TM_REDUCE_MEAN ? sum / (double) MAX (n, 1) : sqrt (squares / (double) MAX (n, 1)));
}

static void
assert_same (float a, float b, gboolean exact)
{
  if (isnan (a) && isnan (b))
    return;
  if (exact ? a == b : fabsf (a - b) <= 1e-5f * MAX (1, fabsf (b)) || a == b)
    return;
  g_error ("%.9g is not %.9g", (double) a, (double) b);
}

static void
check_tensor (TmTensor *tensor, guint n_tiles)
{
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmSheet sheet;

  tm_sheet_init (&sheet, tensor);
  for (guint i = 0; i < n_tiles; i++)
    {
      TmTileKey key = { .reduce = (guint8) (i % 3), .level = (guint8) pick_int (0, (gint) tm_tile_get_top_level (&sheet) + 2) };
      guint shift = key.level + 8u, width, height, w, h;
      guint64 elements;

      key.pane = (guint64) pick_int (0, (gint) sheet.n_panes);
      key.column = (guint32) pick_int (0, (gint) ((sheet.columns - 1) >> shift) + 1);
      key.row = (guint32) pick_int (0, (gint) ((sheet.rows - 1) >> shift) + 1);
      g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
      g_assert_true (tm_tile_measure (&sheet, &key, &w, &h, &elements));
      g_assert_cmpuint (width, ==, w);
      g_assert_cmpuint (height, ==, h);
      g_assert_cmpuint (width, ==, MIN (256, ((sheet.columns - 1) >> key.level) + 1 - key.column * 256));
      for (guint t = 0; t < 60; t++)
        {
          guint x = (guint) pick_int (0, (gint) width), y = (guint) pick_int (0, (gint) height);

          if (t == 0)
            x = width - 1, y = height - 1;
          assert_same (texels[y * TM_TILE + x], brute_texel (tensor, &sheet, &key, x, y),
                       key.reduce == TM_REDUCE_LARGEST || key.level == 0);
        }
    }
  tm_tensor_free (tensor);
}

#define SHAPE(...) (guint) (sizeof ((guint64[]) { __VA_ARGS__ }) / sizeof (guint64)), (guint64[]) { __VA_ARGS__ }

static void
test_sheets (void)
{
  check_tensor (fake_tensor_new (SHAPE (1300, 1100), hash_value), 12);
  check_tensor (fake_tensor_new (SHAPE (300, 70000), hash_value), 9); /* rows longer than a chunk */
  check_tensor (fake_tensor_new (SHAPE (90000, 3), hash_value), 9);
  check_tensor (fake_tensor_new (SHAPE (100003), hash_value), 12);    /* wrapped, short last row */
  check_tensor (fake_tensor_new (SHAPE (1, 700), hash_value), 6);
  check_tensor (fake_tensor_new (SHAPE (512, 16, 3, 3), hash_value), 9);    /* merged */
  check_tensor (fake_tensor_new (SHAPE (5, 400, 300), hash_value), 12);     /* stack */
  check_tensor (fake_tensor_new (SHAPE (1), hash_value), 3);
  check_tensor (fake_tensor_new (0, (guint64[]) { 1 }, hash_value), 3);
}

static float
kind_value (guint64 flat)
{
  guint64 hash = (flat + 1) * 0x9E3779B97F4A7C15u;

  return (hash >> 40) % 5 < 3 ? 0 : (float) ((hash >> 50) % TM_N_KINDS);
}

static float
rare_kind (guint64 flat)
{
  return flat == 1234 ? 4 : 0;
}

static float
kind_or_nan (guint64 flat)
{
  return flat == 77 ? NAN : 2;
}

/* The most frequent kind but 0 and its share, counted the plain way; exact at every level, the lowest too. */
static void
test_kinds (void)
{
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmTensor *tensor = fake_tensor_new (SHAPE (700, 900), kind_value);
  TmTensor *rare = fake_tensor_new (SHAPE (512, 512), rare_kind), *broken = fake_tensor_new (SHAPE (64, 64), kind_or_nan);
  guint width, height;
  TmSheet sheet;

  tm_sheet_init (&sheet, tensor);
  for (guint level = 0; level <= tm_tile_get_top_level (&sheet); level++)
    {
      TmTileKey key = { .reduce = TM_REDUCE_KINDS, .level = (guint8) level };
      const guint64 side = (guint64) 1 << level;

      g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
      for (guint t = 0; t < 300; t++)
        {
          guint x = (guint) pick_int (0, (gint) width), y = (guint) pick_int (0, (gint) height), best = 1;
          guint64 count[TM_N_KINDS] = { 0 }, n = 0;

          for (guint64 r = y * side; r < MIN ((y + 1) * side, 700); r++)
            for (guint64 c = x * side; c < MIN ((x + 1) * side, 900); c++, n++)
              count[(guint) kind_value (r * 900 + c)]++;
          for (guint k = 2; k < TM_N_KINDS; k++)
            best = count[k] > count[best] ? k : best;
          if (count[best] == 0)
            g_assert_cmpfloat (texels[y * TM_TILE + x], ==, 0);
          else /* whole steps, rounded up */
            {
              g_assert_cmpint ((int) texels[y * TM_TILE + x] / TM_KIND_SHARES, ==, (int) best);
              g_assert_cmpint ((int) texels[y * TM_TILE + x] % TM_KIND_SHARES, ==,
                               (int) ceil ((double) count[best] / (double) n * (TM_KIND_SHARES - 1) - 1e-6));
            }
        }
    }
  tm_sheet_init (&sheet, rare);
  {
    TmTileKey key = { .reduce = TM_REDUCE_KINDS, .level = 1 };

    g_assert_true (tm_tile_make (rare, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
    g_assert_cmpfloat (texels[1 * TM_TILE + 105], ==, 4 * TM_KIND_SHARES + 9); /* one of four */
    g_assert_cmpfloat (texels[1 * TM_TILE + 106], ==, 0);
  }
  tm_sheet_init (&sheet, broken);
  {
    TmTileKey key = { .reduce = TM_REDUCE_KINDS, .level = 2 };

    g_assert_true (tm_tile_make (broken, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
    g_assert_true (isnan (texels[0 * TM_TILE + 3])); /* element 77 is row 1, column 13 */
    g_assert_cmpfloat (texels[0], ==, 2 * TM_KIND_SHARES + TM_KIND_SHARES - 1);
  }
  tm_tensor_free (tensor);
  tm_tensor_free (rare);
  tm_tensor_free (broken);
}

static void
test_special (void)
{
  for (int i = 0; i < 64; i++)
    special_values[i] = (float) (i % 5) - 2;
  special_values[3] = INFINITY;
  special_values[17] = -INFINITY;
  special_values[40] = NAN;
  special_values[41] = -0.0f;
  check_tensor (fake_tensor_new (SHAPE (700, 600), special_value), 30);
}

/* The sign of the largest stays, and each rank of the order beats everything below it. */
static void
test_order (void)
{
  static const float order[] = { 0, 1e-45f, -1, 3.4e38f, -INFINITY, INFINITY, NAN };
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);

  for (gsize i = 1; i < G_N_ELEMENTS (order); i++)
    {
      TmTensor *tensor = fake_tensor_new (SHAPE (64, 64), special_value);
      TmTileKey key = { .level = 6 };
      TmSheet sheet;
      guint width, height;

      for (gsize k = 0; k < 64; k++)
        special_values[k] = k == 23 ? order[i] : order[i - 1];
      tm_sheet_init (&sheet, tensor);
      g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
      g_assert_cmpuint (width * height, ==, 1);
      g_assert_cmpmem (texels, sizeof (float), &order[i], sizeof (float));
      tm_tensor_free (tensor);
    }
}

/* Four finer tiles merged are bit for bit the exact pass. */
static void
test_merge (void)
{
  static const guint64 shapes[][2] = { { 1300, 1100 }, { 700, 200 }, { 1, 200003 }, { 3, 5000 } };

  for (gsize i = 0; i < 64; i++)
    special_values[i] = i == 7 ? -0.0f : i == 9 ? NAN : (float) ((int) i % 9 - 4);
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (shapes); i++)
    {
      TmTensor *tensor = fake_tensor_new (2, shapes[i / 2], i % 2 ? special_value : hash_value);
      TmSheet sheet;

      tm_sheet_init (&sheet, tensor);
      for (guint8 level = 1; level <= tm_tile_get_top_level (&sheet); level++)
        {
          TmTileKey key = { .level = level };
          guint width, height, w[4] = { 0 }, h[4] = { 0 };
          g_autofree float *whole = g_new0 (float, TM_TILE * TM_TILE), *merged = g_new0 (float, TM_TILE * TM_TILE);
          g_autofree float *parts = g_new0 (float, 4 * TM_TILE * TM_TILE);
          const float *child[4] = { NULL };

          for (guint q = 0; q < 4; q++)
            {
              TmTileKey finer = { .level = (guint8) (level - 1), .column = q % 2, .row = q / 2 };
              guint64 elements;

              if (!tm_tile_measure (&sheet, &finer, &w[q], &h[q], &elements))
                continue;
              child[q] = parts + q * TM_TILE * TM_TILE;
              g_assert_true (tm_tile_make (tensor, &sheet, &finer, TRUE, parts + q * TM_TILE * TM_TILE, &w[q], &h[q], NULL, NULL));
            }
          g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, whole, &width, &height, NULL, NULL));
          tm_tile_merge (child, w, h, width, height, merged);
          for (guint y = 0; y < height; y++)
            g_assert_cmpmem (whole + y * TM_TILE, width * sizeof (float), merged + y * TM_TILE, width * sizeof (float));
        }
      tm_tensor_free (tensor);
    }
}

/* --- (f) ------------------------------------------------------------------------------------------------------------ */

static guint64 outlier;

static float
outlier_value (guint64 flat)
{
  return flat == outlier ? -7.5f : 0.25f;
}

/* At every zoom: level for the scale, the exact tile, and some pixel centre that shows the texel. (Not in the ragged last
 * texel of a row or column, which may be narrower than a pixel: the outline covers it.) */
static void
test_outlier_visible (void)
{
  const guint64 rows = 3000, columns = 2500;
  TmTensor *tensor = fake_tensor_new (SHAPE (rows, columns), outlier_value);
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmSheet sheet;

  tm_sheet_init (&sheet, tensor);
  for (int i = 0; i < 60; i++)
    {
      double scale = pow (10, pick_double (-2.8, 0.6));
      guint level = tm_tiles_level_for_scale (scale), seen = 0, width, height;
      gint64 x = pick_int (0, MAX ((gint) (columns >> level << level), 1)), y = pick_int (0, MAX ((gint) (rows >> level << level), 1));
      TmTileKey key = { .level = (guint8) level, .column = (guint32) (x >> level >> 8), .row = (guint32) (y >> level >> 8) };
      TmCamera camera;

      g_assert_cmpfloat (scale * (double) (1 << level), >=, 1);
      g_assert_true (level == 0 || scale * (double) (1 << (level - 1)) < 1);
      outlier = (guint64) y * columns + (guint64) x;
      tm_camera_init (&camera, 400, 300);
      tm_camera_set (&camera, (double) x + pick_double (0, 1), (double) y + pick_double (0, 1), scale);
      g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
      for (int py = 0; py < 300; py++)
        for (int px = 0; px < 400; px++)
          {
            gint64 ex = tm_camera_element_x (&camera, px), ey = tm_camera_element_y (&camera, py);

            if (ex < 0 || ey < 0 || ex >= (gint64) columns || ey >= (gint64) rows || ex >> level >> 8 != key.column
                || ey >> level >> 8 != key.row)
              continue;
            seen += texels[(ey >> level & 255) * TM_TILE + (ex >> level & 255)] == -7.5f;
          }
      g_assert_cmpuint (seen, >=, 1);
    }
  tm_tensor_free (tensor);
}

static void
test_levels (void)
{
  g_assert_cmpuint (tm_tiles_level_for_scale (200), ==, 0);
  g_assert_cmpuint (tm_tiles_level_for_scale (1), ==, 0);
  g_assert_cmpuint (tm_tiles_level_for_scale (0.999), ==, 1);
  g_assert_cmpuint (tm_tiles_level_for_scale (0.5), ==, 1);
  g_assert_cmpuint (tm_tiles_level_for_scale (0.25), ==, 2);
  g_assert_cmpuint (tm_tiles_level_for_scale (1e-7), ==, 24);
  g_assert_cmpuint (tm_tiles_level_for_scale (0), ==, 40);
}

/* --- Samples -------------------------------------------------------------------------------------------------------- */

static float
row_value (guint64 flat)
{
  return (float) (flat / 40000 % 1000);
}

/* A sample reads a bounded amount however large the tensor, and shows only values that are there. */
static void
test_sample_is_bounded (void)
{
  static const guint64 shapes[][2] = { { 128256, 16384 }, { 3, 700000000 }, { 700000000, 3 }, { 1, 2147483648 },
                                       { 256000, 4096 } };
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      TmTensor *tensor = fake_tensor_new (2, shapes[i], row_value);
      TmSheet sheet;

      tm_sheet_init (&sheet, tensor);
      for (guint level = 1; level <= tm_tile_get_top_level (&sheet); level += 5)
        {
          TmTileKey key = { .level = (guint8) level };
          guint width, height;

          FAKE (tensor)->decoded = FAKE (tensor)->calls = 0;
          g_assert_true (tm_tile_make (tensor, &sheet, &key, FALSE, texels, &width, &height, NULL, NULL));
          g_assert_cmpint (FAKE (tensor)->decoded, <=, 256 * 2 * 16384);
          g_assert_cmpint (FAKE (tensor)->calls, <=, 256 * 64 * 2); /* a decode may be cut in two */
          for (guint t = 0; t < width * height; t++)
            {
              float v = texels[t / width * TM_TILE + t % width];

              g_assert_true (v >= 0 && v < 1000 && v == floorf (v));
            }
        }
      tm_tensor_free (tensor);
    }
}

static float
constant_value (guint64 flat)
{
  return -3;
}

static void
test_sample_has_no_gaps (void)
{
  TmTensor *tensor = fake_tensor_new (SHAPE (2000, 300000), constant_value);
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmSheet sheet;

  tm_sheet_init (&sheet, tensor);
  for (guint i = 0; i < 3 * 11; i++)
    {
      TmTileKey key = { .reduce = (guint8) (i % 3), .level = (guint8) (i / 3) };
      guint width, height;

      if (!key.level)
        continue;
      g_assert_true (tm_tile_make (tensor, &sheet, &key, FALSE, texels, &width, &height, NULL, NULL));
      for (guint t = 0; t < width * height; t++)
        g_assert_cmpfloat (texels[t / width * TM_TILE + t % width], ==, key.reduce == TM_REDUCE_RMS ? 3 : -3);
    }
  tm_tensor_free (tensor);
}

/* --- Each element once ---------------------------------------------------------------------------------------------- */

static void
test_exact_decodes_once (void)
{
  TmTensor *tensor = fake_tensor_new (SHAPE (1000, 3000), hash_value);
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  TmTileKey key = { .level = 4 };
  TmSheet sheet;
  guint width, height;

  tm_sheet_init (&sheet, tensor);
  g_assert_true (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, NULL));
  g_assert_cmpint (FAKE (tensor)->decoded, ==, 1000 * 3000);
  g_assert_cmpint (FAKE (tensor)->calls, <=, 100);
  tm_tensor_free (tensor);
}

static void
test_errors (void)
{
  TmTensor *tensor = fake_tensor_new (SHAPE (1000, 3000), hash_value);
  g_autofree float *texels = g_new (float, TM_TILE * TM_TILE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  static const TmTileKey outside[] = { { .level = 4, .column = 1 }, { .level = 0, .row = 4 }, { .level = 41 }, { .pane = 1 },
                                       { .level = 40, .column = G_MAXUINT32 } };
  TmTileKey key = { .level = 4 };
  g_autoptr (GError) error = NULL;
  TmSheet sheet;
  guint width, height;

  tm_sheet_init (&sheet, tensor);
  for (gsize i = 0; i < G_N_ELEMENTS (outside); i++)
    {
      g_assert_false (tm_tile_make (tensor, &sheet, &outside[i], TRUE, texels, &width, &height, NULL, &error));
      g_assert_nonnull (error);
      g_clear_error (&error);
    }
  key.quantity = TM_QUANTITY_SCALE;
  g_assert_false (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  key.quantity = TM_QUANTITY_VALUE;
  FAKE (tensor)->fail_from = 2000000;
  g_assert_false (tm_tile_make (tensor, &sheet, &key, TRUE, texels, &width, &height, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (tm_tile_make (tensor, &sheet, &key, FALSE, texels, &width, &height, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  tm_tensor_free (tensor);
}

/* --- Range ---------------------------------------------------------------------------------------------------------- */

static float
ramp_value (guint64 flat)
{
  return flat == 5 ? NAN : flat == 6 ? -INFINITY : flat % 2 ? -(float) flat : (float) flat;
}

static float
sparse_value (guint64 flat)
{
  return flat == 7 ? -0.5f : 0;
}

static float
zero_value (guint64 flat)
{
  return 0;
}

static float
nan_value (guint64 flat)
{
  return NAN;
}

static float
column_value (guint64 flat)
{
  return flat % 4096 == 4000 ? 100 : 1; /* one column in 4096 */
}

static float
sample_range (TmTensor *tensor)
{
  g_autoptr (GError) error = NULL;
  float range = tm_tensor_sample_range (tensor, TM_QUANTITY_VALUE, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (FAKE (tensor)->decoded, <=, 65536);
  tm_tensor_free (tensor);
  return range;
}

static void
test_range (void)
{
  TmTensor *tensor = fake_tensor_new (SHAPE (10, 10), hash_value);
  g_autoptr (GError) error = NULL;

  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (1002), ramp_value)), ==, 1000); /* 1000 finite ones: the 999th */
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (100, 100), sparse_value)), ==, 0.5f);
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (100, 100), zero_value)), ==, 0);
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (30), nan_value)), ==, 0);
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (0, 30), nan_value)), ==, 0);
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (131072, 16384), hash_value)), >, 1900);
  /* Rows of a power of two: the sample must not always fall on the same columns. */
  g_assert_cmpfloat (sample_range (fake_tensor_new (SHAPE (65536, 4096), column_value)), ==, 1);
  FAKE (tensor)->fail_from = 50;
  g_assert_cmpfloat (tm_tensor_sample_range (tensor, TM_QUANTITY_VALUE, NULL, &error), ==, 0);
  g_assert_nonnull (error);
  tm_tensor_free (tensor);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tile-make/kinds", test_kinds);
  g_test_add_func ("/tile/sheets", test_sheets);
  g_test_add_func ("/tile/special", test_special);
  g_test_add_func ("/tile/order", test_order);
  g_test_add_func ("/tile/merge", test_merge);
  g_test_add_func ("/tile/f-outlier-visible", test_outlier_visible);
  g_test_add_func ("/tile/levels", test_levels);
  g_test_add_func ("/tile/sample/bounded", test_sample_is_bounded);
  g_test_add_func ("/tile/sample/no-gaps", test_sample_has_no_gaps);
  g_test_add_func ("/tile/exact/decodes-once", test_exact_decodes_once);
  g_test_add_func ("/tile/errors", test_errors);
  g_test_add_func ("/tile/range", test_range);
  return g_test_run ();
}
