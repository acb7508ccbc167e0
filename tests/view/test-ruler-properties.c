/* What must hold at any view and any zoom, against brute-force 64-bit block numbers. */
#include "view/ruler.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

typedef __int128 Fixed;

#define RECTANGLE(r, c, w) { .kind = TM_RUN_RECTANGLE, .rows = (r), .columns = (c), .width = (w) }
#define FLAT(b, w) { .kind = TM_RUN_FLAT, .flat = (b), .width = (w) }

typedef enum { NO_TABLE, SHUFFLED, UNEVEN } TableKind;

typedef struct
{
  const char *name;
  guint64 rows, columns, slice_rows;
  guint n_runs;
  TmRun run[3];
  TableKind table;
} Scheme;

static const Scheme schemes[] = {
  { "group", 128256, 16384, 0, 1, { RECTANGLE (1, 32, 1) } },
  { "nested", 128256, 16384, 0, 3, { RECTANGLE (1, 256, 2), RECTANGLE (1, 32, 1), RECTANGLE (1, 16, 1) } },
  { "blocks", 4099, 11017, 0, 1, { RECTANGLE (128, 128, 2) } },
  { "flat", 30519, 65537, 0, 1, { FLAT (64, 1) } },
  { "flat-nested", 300000, 1000, 0, 2, { FLAT (65536, 2), FLAT (4096, 1) } },
  { "flat-short", 128000, 5003, 0, 2, { FLAT (4096, 2), FLAT (64, 1) } },
  { "every", 4096, 4096, 0, 1, { RECTANGLE (1, 1, 1) } },
  { "shuffled", 4096, 4096, 0, 1, { RECTANGLE (1, 128, 1) }, SHUFFLED },
  { "uneven", 4096, 4096, 0, 1, { RECTANGLE (4096, 128, 1) }, UNEVEN },
  { "stack", 256 * 1411, 4096, 1411, 2, { RECTANGLE (128, 128, 2), RECTANGLE (1, 32, 1) } },
  { "stack-pane", 14110, 40960, 0, 2, { RECTANGLE (128, 128, 2), RECTANGLE (1, 32, 1) } },
  { "wide", 30518, 32768, 0, 1, { RECTANGLE (1, 4096, 3) } },
};

static guint32 *
make_table (TableKind kind, guint64 length)
{
  guint32 *runs = g_new0 (guint32, length);
  guint64 next = 0;

  for (guint64 c = 1; c < length; c++)
    {
      if (c >= next)
        next = c + (guint64) pick_int (8, 129);
      runs[c] = runs[c - 1] + (kind == SHUFFLED ? pick_int (0, 32) != 0 : c + 1 == next);
    }
  return runs;
}

static TmBoundaries *
boundaries_of (const Scheme *scheme)
{
  TmRun run[3] = { scheme->run[0], scheme->run[1], scheme->run[2] };
  g_autofree guint32 *runs = NULL;

  if (scheme->table != NO_TABLE)
    run[0].column_runs = runs = make_table (scheme->table, scheme->columns);
  return tm_boundaries_new_manual (scheme->rows, scheme->columns, scheme->slice_rows, scheme->n_runs, run);
}

static void
random_camera (TmCamera *camera, const Scheme *scheme, int width, int height)
{
  double scale = pow (10, pick_double (-3, 2.3));
  gboolean edge = pick_int (0, 2);
  double x = pick_double (0, 1) * (double) scheme->columns, y = pick_double (0, 1) * (double) scheme->rows;

  switch (pick_int (0, 4))
    {
    case 0: x = y = 0; break;
    case 1: x = (double) scheme->columns; y = (double) scheme->rows; break;
    default: break;
    }
  tm_camera_init (camera, width, height);
  if (edge) /* ties: the viewport begins exactly on an element's edge */
    {
      static const double round[] = { 200, 32, 20, 10, 8, 2, 1, 0.5, 0.25, 0.125, 1.0 / 64 };

      tm_camera_set (camera, x, y, round[pick_int (0, G_N_ELEMENTS (round))]);
      camera->x0 = (camera->x0 >> 32) * ((Fixed) 1 << 32);
      camera->y0 = (camera->y0 >> 32) * ((Fixed) 1 << 32);
    }
  else
    tm_camera_set (camera, x, y, scale);
}

/* --- (a) ------------------------------------------------------------------------------------------------------------ */

static void
test_elements (void)
{
  for (int i = 0; i < 600; i++)
    {
      const Scheme *scheme = &schemes[pick_int (0, G_N_ELEMENTS (schemes))];
      gint64 ox = pick_int (-1000000, 1000000), oy = pick_int (-1000000, 1000000);
      TmRulers rulers = { 0 };
      TmCamera camera;

      random_camera (&camera, scheme, pick_int (1, 900), pick_int (1, 700));
      camera.x0 += ox * ((Fixed) 1 << 32);
      camera.y0 += oy * ((Fixed) 1 << 32);
      tm_rulers_build (&rulers, &camera, ox, oy, scheme->rows, scheme->columns, NULL, FALSE, i % 2 ? 2 : 0, 1);
      for (int p = 0; p < camera.width; p++)
        {
          gint64 e = tm_camera_element_x (&camera, p) - ox;
          gboolean has = p >= rulers.first_x && p < rulers.first_x + rulers.n_x;
          gboolean inside = e >= 0 && e < (gint64) scheme->columns;

          g_assert_true (has || !inside);
          if (!has)
            continue;
          g_assert_cmpint (rulers.x[p - rulers.first_x].element, ==, CLAMP (e, -2, (gint64) scheme->columns + 2));
          g_assert_cmpint (!(rulers.x[p - rulers.first_x].strengths & TM_RULER_OUTSIDE), ==, inside);
        }
      for (int p = rulers.first_y; p < rulers.first_y + rulers.n_y; p++)
        g_assert_cmpint (rulers.y[p - rulers.first_y].element, ==,
                         CLAMP (tm_camera_element_y (&camera, p) - oy, -2, (gint64) scheme->rows + 2));
      tm_rulers_clear (&rulers);
    }
}

/* --- (b) ------------------------------------------------------------------------------------------------------------ */

static void
test_line_width (void)
{
  guint64 lines = 0;

  for (int i = 0; i < 3000; i++)
    {
      guint width = (guint) pick_int (1, 4), device_scale = (guint) pick_int (1, 3);
      int w = (int) (width * device_scale), run = 0, before = 0;
      guint64 extent = (guint64) pick_int (1, 300), length = 100000;
      double pitch = pick_double (10.0 * w, 80.0 * w); /* strength is full */
      TmRun level = RECTANGLE (1, extent, width);
      g_autoptr (TmBoundaries) boundaries = NULL;
      TmRulers rulers = { 0 };
      TmCamera camera;

      tm_camera_init (&camera, 640, 4);
      tm_camera_set (&camera, pick_double (20000, 80000), 2, MIN (pitch / (double) extent, TM_MAX_SCALE));
      if ((double) extent * camera.scale < 10.0 * w)
        continue;
      level.rows = 4;
      boundaries = tm_boundaries_new_manual (4, length, 0, 1, &level);
      tm_rulers_build (&rulers, &camera, 0, 0, 4, length, boundaries, TRUE, 0, device_scale);
      g_assert_cmpint (rulers.n_x, ==, 640);
      for (int p = 0; p < 640; p++)
        {
          gboolean ink = TM_RULER_LINE (rulers.x[p].strengths) == 255;

          before = ink ? before : 1;
          if (ink)
            run++;
          else if (run)
            {
              if (p - run > 0) /* the first may have begun left of the picture */
                {
                  g_assert_cmpint (run, ==, w);
                  lines++;
                }
              run = 0;
            }
        }
      tm_rulers_clear (&rulers);
    }
  g_assert_cmpuint (lines, >, 20000);
}

/* --- (c) ------------------------------------------------------------------------------------------------------------ */

typedef struct
{
  const TmBoundaries *b;
  const TmCamera *camera;
  guint device_scale;
  guint64 base;
  double finer;
} Brute;

static gint64
brute_at (Fixed x0, guint64 d, gint64 h, guint64 length)
{
  gint64 e = (gint64) ((x0 + (Fixed) h * d) >> 32);

  return CLAMP (e, 0, (gint64) length - 1);
}

static guint64
brute_block_row (const TmBoundaries *b, const TmRun *run, gint64 r)
{
  guint64 row = (guint64) r, slice = b->slice_rows, per_slice = (slice + run->rows - 1) / run->rows;

  return run->row_runs ? run->row_runs[row] : row / slice * per_slice + row % slice / run->rows;
}

static guint64
brute_block_column (const TmRun *run, gint64 c)
{
  return run->column_runs ? run->column_runs[c] : (guint64) c / run->columns;
}

static gboolean
brute_coarser (const TmBoundaries *b, guint l, gboolean rows)
{
  const TmRun *own = &b->run[l], *finer = &b->run[l + 1];

  if (l + 1 >= b->n_runs)
    return TRUE;
  if (rows)
    return brute_block_row (b, own, (gint64) b->rows - 1) < brute_block_row (b, finer, (gint64) b->rows - 1);
  return brute_block_column (own, (gint64) b->columns - 1) < brute_block_column (finer, (gint64) b->columns - 1);
}

static double
table_pitch (const TmRun *run, const Brute *brute, int px)
{
  gint64 reach = 16 * brute->device_scale;
  gint64 a = brute_at (brute->camera->x0, brute->camera->d, 2 * px + 1 - reach, brute->b->columns);
  gint64 z = brute_at (brute->camera->x0, brute->camera->d, 2 * px + 1 + reach, brute->b->columns);
  guint changes = 0, elements = 0;

  for (gint64 c = MAX (a, 1); c <= z; c++, elements++)
    changes += run->column_runs[c] != run->column_runs[c - 1] ? 1 : 0;
  return changes ? elements * brute->camera->scale / changes : HUGE_VAL;
}

/* One width's ink of one level at a pixel: footprint's corners, times the fade of the axis that changes. */
static guint
brute_level (const Brute *brute, guint l, int px, int py, gboolean halo)
{
  const TmBoundaries *b = brute->b;
  const TmCamera *camera = brute->camera;
  const TmRun *run = &b->run[l];
  guint (*fade) (double, double) = halo ? tm_ruler_halo_strength : tm_ruler_line_strength;
  gint64 w = (gint64) (run->width + (halo ? 2 : 0)) * brute->device_scale;
  double scale = camera->scale / brute->device_scale;
  gint64 ca = brute_at (camera->x0, camera->d, 2 * px + 1 - w, b->columns);
  gint64 cb = brute_at (camera->x0, camera->d, 2 * px + 1 + w, b->columns);
  gint64 ra = brute_at (camera->y0, camera->d, 2 * py + 1 - w, b->rows);
  gint64 rb = brute_at (camera->y0, camera->d, 2 * py + 1 + w, b->rows);
  guint ink = 0;

  if (run->kind == TM_RUN_FLAT)
    {
      guint64 first, last;

      if (run->flat < b->columns && l + 1 < b->n_runs)
        ra = rb = brute_at (camera->y0, camera->d, 2 * py + 1, b->rows);
      first = (brute->base + (guint64) ra * b->columns + (guint64) ca) / run->flat;
      last = (brute->base + (guint64) rb * b->columns + (guint64) cb) / run->flat;
      return first != last ? fade (scale * (double) (run->flat < b->columns ? 1 : run->flat / b->columns), run->width) : 0;
    }
  if (brute_block_column (run, ca) != brute_block_column (run, cb) && brute_coarser (b, l, FALSE))
    ink = fade (run->column_runs ? table_pitch (run, brute, px) / brute->device_scale : scale * (double) run->columns,
                run->width);
  if (brute_block_row (b, run, ra) != brute_block_row (b, run, rb) && brute_coarser (b, l, TRUE))
    ink = MAX (ink, fade (scale * (double) MIN (run->rows, b->slice_rows), run->width));
  return ink;
}

static void
compare_with_brute_force (const Brute *brute, const TmRulers *rulers)
{
  const TmCamera *camera = brute->camera;

  for (int py = 0; py < camera->height; py++)
    for (int px = 0; px < camera->width; px++)
      {
        gint64 x = tm_camera_element_x (camera, px), y = tm_camera_element_y (camera, py);
        guint line, halo, expected_line = 0, expected_halo = 0;

        tm_rulers_get_ink (rulers, px, py, &line, &halo);
        if (x >= 0 && y >= 0 && x < (gint64) brute->b->columns && y < (gint64) brute->b->rows)
          for (guint l = 0; l < brute->b->n_runs; l++)
            {
              double share = l ? brute->finer : 1;

              expected_line = MAX (expected_line, (guint) floor (brute_level (brute, l, px, py, FALSE) * share + 0.5));
              expected_halo = MAX (expected_halo, (guint) floor (brute_level (brute, l, px, py, TRUE) * share + 0.5));
            }
        if (line != expected_line || halo != expected_halo)
          g_error ("pixel %d, %d at scale %.17g: line %u for %u, halo %u for %u", px, py, camera->scale, line,
                   expected_line, halo, expected_halo);
      }
}

static void
test_brute_force (gconstpointer data)
{
  const Scheme *scheme = data;
  g_autoptr (TmBoundaries) boundaries = boundaries_of (scheme);
  TmRulers rulers = { 0 };

  for (int i = 0; i < 40; i++)
    {
      guint device_scale = i % 3 == 2 ? 2 : 1;
      TmCamera camera;
      Brute brute = { boundaries, &camera, device_scale, i % 2 ? (guint64) pick_int (0, 1 << 30) << 20 : 0 };

      random_camera (&camera, scheme, 120, 80);
      tm_rulers_build_at (&rulers, &camera, 0, 0, scheme->rows, scheme->columns, brute.base, boundaries, TRUE, 0,
                          device_scale);
      brute.finer = rulers.finer;
      g_assert_true (rulers.finer == 1 || g_str_has_prefix (scheme->name, "stack"));
      compare_with_brute_force (&brute, &rulers);
    }
  tm_rulers_clear (&rulers);
}

/* Outline: its own line at the pane's edge, the smaller of both beyond a corner, nothing further out. */
static void
test_outline (void)
{
  for (int i = 0; i < 200; i++)
    {
      guint device_scale = (guint) pick_int (1, 3), width = (guint) pick_int (1, 4);
      guint64 rows = (guint64) pick_int (30, 90), columns = (guint64) pick_int (30, 90);
      TmRulers rulers = { 0 };
      TmCamera camera;
      int l, r, t, b, w;

      tm_camera_init (&camera, 200, 160);
      tm_camera_set (&camera, pick_double (0, (double) columns), pick_double (0, (double) rows), pick_double (1, 4));
      tm_rulers_build (&rulers, &camera, 0, 0, rows, columns, NULL, TRUE, width, device_scale);
      l = tm_camera_snap_x (&camera, 0);
      r = tm_camera_snap_x (&camera, (gint64) columns);
      t = tm_camera_snap_y (&camera, 0);
      b = tm_camera_snap_y (&camera, (gint64) rows);
      w = (int) (width * device_scale);
      for (int py = 0; py < 160; py++)
        for (int px = 0; px < 200; px++)
          {
            gboolean inside = px >= l && px < r && py >= t && py < b, ink_x, ink_y;
            gint64 xa = (gint64) ((camera.x0 + (2 * px + 1 - w) * (Fixed) camera.d) >> 32);
            gint64 xb = (gint64) ((camera.x0 + (2 * px + 1 + w) * (Fixed) camera.d) >> 32);
            gint64 ya = (gint64) ((camera.y0 + (2 * py + 1 - w) * (Fixed) camera.d) >> 32);
            gint64 yb = (gint64) ((camera.y0 + (2 * py + 1 + w) * (Fixed) camera.d) >> 32);
            gboolean in_x = px >= l && px < r, in_y = py >= t && py < b;
            guint line, halo, expected;

            ink_x = (xa < 0 || xa >= (gint64) columns) != (xb < 0 || xb >= (gint64) columns);
            ink_y = (ya < 0 || ya >= (gint64) rows) != (yb < 0 || yb >= (gint64) rows);
            expected = inside ? ink_x || ink_y : in_y ? ink_x : in_x ? ink_y : ink_x && ink_y;
            tm_rulers_get_ink (&rulers, px, py, &line, &halo);
            g_assert_cmpuint (line, ==, expected ? 255 : 0);
            g_assert_cmpuint (halo, >=, line);
          }
      tm_rulers_clear (&rulers);
    }
}

/* --- (d) ------------------------------------------------------------------------------------------------------------ */

static void
test_pan_moves_entries (void)
{
  guint64 compared = 0;

  for (int i = 0; i < 300; i++)
    {
      const Scheme *scheme = &schemes[pick_int (0, G_N_ELEMENTS (schemes))];
      g_autoptr (TmBoundaries) boundaries = boundaries_of (scheme);
      int k = pick_int (-150, 150), m = pick_int (-150, 150);
      TmRulers before = { 0 }, after = { 0 };
      TmCamera camera;

      random_camera (&camera, scheme, 400, 300);
      tm_rulers_build (&before, &camera, 0, 0, scheme->rows, scheme->columns, boundaries, TRUE, 2, 1);
      tm_camera_pan (&camera, k, m);
      tm_rulers_build (&after, &camera, 0, 0, scheme->rows, scheme->columns, boundaries, TRUE, 2, 1);
      g_assert_cmpuint (before.n_flat, ==, after.n_flat);
      for (int p = MAX (before.first_x, after.first_x - k); p < MIN (before.first_x + before.n_x, after.first_x + after.n_x - k);
           p++, compared++)
        {
          g_assert_cmpmem (&before.x[p - before.first_x], sizeof (TmRulerEntry), &after.x[p + k - after.first_x],
                           sizeof (TmRulerEntry));
          for (guint l = 0; l < before.n_flat; l++)
            g_assert_cmpmem (&before.flat_x[l][p - before.first_x], sizeof (TmFlatEntry),
                             &after.flat_x[l][p + k - after.first_x], sizeof (TmFlatEntry));
        }
      for (int p = MAX (before.first_y, after.first_y - m); p < MIN (before.first_y + before.n_y, after.first_y + after.n_y - m);
           p++, compared++)
        {
          g_assert_cmpmem (&before.y[p - before.first_y], sizeof (TmRulerEntry), &after.y[p + m - after.first_y],
                           sizeof (TmRulerEntry));
          for (guint l = 0; l < before.n_flat; l++)
            g_assert_cmpmem (&before.flat_y[l][p - before.first_y], sizeof (TmFlatEntry),
                             &after.flat_y[l][p + m - after.first_y], sizeof (TmFlatEntry));
        }
      tm_rulers_clear (&before);
      tm_rulers_clear (&after);
    }
  g_assert_cmpuint (compared, >, 50000);
}

/* --- (e) ------------------------------------------------------------------------------------------------------------ */

static void
test_ink_bound (gconstpointer data)
{
  const Scheme *scheme = data;
  g_autoptr (TmBoundaries) boundaries = boundaries_of (scheme);
  TmRulers rulers = { 0 };
  double most_line = 0, most_both = 0;

  for (double scale = 0.02; scale < 60; scale *= 1.12)
    {
      double line_sum = 0, both_sum = 0;
      TmCamera camera;

      tm_camera_init (&camera, 640, 400);
      tm_camera_set (&camera, (double) scheme->columns / 2 + 0.3, (double) scheme->rows / 2 + 0.7, scale);
      tm_rulers_build (&rulers, &camera, 0, 0, scheme->rows, scheme->columns, boundaries, TRUE, 0, 1);
      for (int py = 0; py < 400; py++)
        for (int px = 0; px < 640; px++)
          {
            guint line, halo;

            tm_rulers_get_ink (&rulers, px, py, &line, &halo);
            line_sum += line / 255.0;
            both_sum += 1 - (1 - line / 255.0) * (1 - halo / 255.0 * 0.75);
          }
      most_line = MAX (most_line, line_sum / (640 * 400));
      most_both = MAX (most_both, both_sum / (640 * 400));
    }
  g_test_message ("%s: line %.3f, line and halo %.3f", scheme->name, most_line, most_both);
  g_assert_cmpfloat (most_line, <=, 0.20);
  g_assert_cmpfloat (most_both, <=, 0.25);
  g_assert_cmpfloat (most_line, >, 0.03);
  tm_rulers_clear (&rulers);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ruler/a-elements", test_elements);
  g_test_add_func ("/ruler/b-line-width", test_line_width);
  g_test_add_func ("/ruler/outline", test_outline);
  g_test_add_func ("/ruler/d-pan-moves-entries", test_pan_moves_entries);
  for (gsize i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      g_autofree char *brute = g_strconcat ("/ruler/c-brute-force/", schemes[i].name, NULL);
      g_autofree char *ink = g_strconcat ("/ruler/e-ink-bound/", schemes[i].name, NULL);

      g_test_add_data_func (brute, &schemes[i], test_brute_force);
      g_test_add_data_func (ink, &schemes[i], test_ink_bound);
    }
  return g_test_run ();
}
