/* Sheets by shader, under GL 3.3 core and GLES 3.0: the fifteen views with their exact numbers, masks equal to the CPU
 * painter's and to brute-force block arithmetic, colours equal to the CPU painter's, and what holds for any view. */
#include <math.h>
#include <string.h>

#include "paint/gl-context.h"
#include "paint/sheet-fixture.h"
#include "ui/paint/gl-painter-private.h"
#include "view/seeded.h"
#include "view/views.h"

static const gboolean es = TEST_ES;

static const char *
open_context (GlContext *gl)
{
  return gl_context_init (gl, es, 3, es ? 0 : 3);
}

static gboolean
begin (GlContext *gl, int width, int height)
{
  const char *why = open_context (gl);
  g_assert_cmpstr (why, ==, NULL);
  g_assert_cmpint (epoxy_is_desktop_gl (), ==, !es);
  gl_context_set_size (gl, width, height);
  return TRUE;
}

static guint32 *
draw_by_gl (GlContext *gl, const SheetFixture *fixture, gboolean masks)
{
  g_autoptr (GError) error = NULL;
  TmGlPainter *painter = masks ? tm_gl_painter_new_masks (&error) : tm_gl_painter_new (&error);
  g_assert_no_error (error);
  TmGlyphs *glyphs = tm_glyphs_new ();
  tm_gl_painter_draw (painter, gl->width, gl->height, fixture->scene, &fixture->theme, glyphs);
  guint32 *pixels = gl_context_read (gl);
  tm_glyphs_free (glyphs);
  tm_gl_painter_free (painter);
  return pixels;
}

/* Some of everything: whole range and beyond, zeros, denormals, infinities, NaN. */
static float
some_value (gint64 column, gint64 row, gpointer data)
{
  guint32 hash = (guint32) column * 2654435761u ^ (guint32) row * 2246822519u;
  hash = (hash ^ hash >> 15) * 3266489917u;
  switch (hash >> 24)
    {
    case 0:
      return NAN;
    case 1:
      return INFINITY;
    case 2:
      return -INFINITY;
    case 3:
      return 0.0f;
    case 4:
      return -1e-40f;
    case 5:
      return 3e38f;
    default:
      return ((float) (hash & 0xffff) - 32768.0f) * (1.2f / 32768.0f);
    }
}

/* The CPU painter's line mask: a black picture with black halos and white lines. */
static guint32 *
draw_cpu_mask (const SheetFixture *fixture, int width, int height)
{
  TmTheme theme = fixture->theme;
  guint n;
  TmPrim *prims = (TmPrim *) tm_scene_get_prims (fixture->scene, &n);
  theme.background = theme.halo = 0x000000ff;
  theme.line = 0xffffffff;
  TmPrimSheet saved = { 0 };
  if (n > 0)
    {
      saved = prims[0].as.sheet;
      prims[0].as.sheet.under = prims[0].as.sheet.blank = 0x000000ff;
      prims[0].as.sheet.pages = g_new0 (TmPage, saved.n_pages_x * saved.n_pages_y);
    }
  guint32 *pixels = draw_by_cpu (fixture->scene, &theme, width, height);
  if (n > 0)
    {
      g_free (prims[0].as.sheet.pages);
      prims[0].as.sheet = saved;
    }
  return pixels;
}

static void
test_view (gconstpointer data)
{
  const View *view = data;
  GlContext gl;
  if (!begin (&gl, WIDTH, HEIGHT))
    return;
  g_autoptr (TmBoundaries) boundaries = boundaries_of_view (view);
  TmCamera camera;
  SheetFixture fixture;
  sheet_fixture_init (&fixture);
  tm_camera_init (&camera, WIDTH, HEIGHT);
  tm_camera_set (&camera, view->x, view->y, view->scale);
  sheet_fixture_fill (&fixture, &camera, view->rows, view->columns, boundaries, some_value, NULL, 0);

  g_autofree guint32 *mask = draw_by_gl (&gl, &fixture, TRUE), *by_cpu = draw_cpu_mask (&fixture, WIDTH, HEIGHT);
  guint outside = 0, full = 0, sum_line = 0, sum_halo = 0, not_cpu = 0, not_brute = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    {
      guint line = mask[i] >> 16 & 255, halo = mask[i] >> 8 & 255, true_line, true_halo;
      outside += (mask[i] & 255) == 255 ? 1 : 0;
      full += line == 255 ? 1 : 0;
      sum_line += line;
      sum_halo += halo;
      not_cpu += (by_cpu[i] & 255) != line ? 1 : 0;
      brute_force_ink (boundaries, &camera, i % WIDTH, i / WIDTH, &true_line, &true_halo);
      not_brute += line != true_line || halo != true_halo ? 1 : 0;
    }
  g_assert_cmpuint (outside, ==, view->outside);
  g_assert_cmpuint (full, ==, view->full);
  g_assert_cmpuint (sum_line, ==, view->line);
  g_assert_cmpuint (sum_halo, ==, view->halo);
  g_assert_cmpuint (not_cpu, ==, 0);
  g_assert_cmpuint (not_brute, ==, 0);

  for (int dark = 0; dark < 2; dark++)
    {
      guint largest;
      tm_theme_init (&fixture.theme, dark, 0);
      g_autofree guint32 *a = draw_by_gl (&gl, &fixture, FALSE),
                         *b = draw_by_cpu (fixture.scene, &fixture.theme, WIDTH, HEIGHT);
      g_assert_cmpuint (count_differences (a, b, WIDTH * HEIGHT, 0, &largest), ==, 0);
    }
  sheet_fixture_clear (&fixture);
  gl_context_clear (&gl);
}

/* Random places and zooms of every view's granularity. */
static void
test_random_views (void)
{
  enum
  {
    W = 240,
    H = 150,
    EACH = 5
  };
  GlContext gl;
  if (!begin (&gl, W, H))
    return;
  SheetFixture fixture;
  sheet_fixture_init (&fixture);
  for (guint v = 0; v < G_N_ELEMENTS (views); v++)
    {
      const View *view = &views[v];
      g_autoptr (TmBoundaries) boundaries = boundaries_of_view (view);
      for (int k = 0; k < EACH; k++)
        {
          TmCamera camera;
          tm_camera_init (&camera, W, H);
          double x = pick_double (0, (double) view->columns), y = pick_double (0, (double) view->rows);
          if (k % 2 == 0)
            x = floor (x), y = floor (y); /* exactly on an edge: ties */
          if (k == 0)
            x = (double) view->columns, y = (double) view->rows; /* the far corner */
          tm_camera_set (&camera, x, y, exp (pick_double (log (0.02), log (200))));
          sheet_fixture_fill (&fixture, &camera, view->rows, view->columns, boundaries, some_value, NULL, 3);
          g_autofree guint32 *mask = draw_by_gl (&gl, &fixture, TRUE), *color = draw_by_gl (&gl, &fixture, FALSE);
          g_autofree guint32 *by_cpu = draw_cpu_mask (&fixture, W, H),
                             *cpu_color = draw_by_cpu (fixture.scene, &fixture.theme, W, H);
          guint wrong = 0, largest;
          for (int i = 0; i < W * H; i++)
            {
              guint line, halo;
              brute_force_ink (boundaries, &camera, i % W, i / W, &line, &halo);
              if ((mask[i] >> 16 & 255) != line || (mask[i] >> 8 & 255) != halo || (by_cpu[i] & 255) != line)
                wrong++;
            }
          g_test_message ("%s at %.3f, %.3f, s %.6f", view->name, x, y, camera.scale);
          g_assert_cmpuint (wrong, ==, 0);
          g_assert_cmpuint (count_differences (color, cpu_color, W * H, 0, &largest), ==, 0);
        }
    }
  sheet_fixture_clear (&fixture);
  gl_context_clear (&gl);
}

/* Mean ink ≤ 0.20, with halo ≤ 0.25, over a series of zooms. */
static void
test_ink_bounds (void)
{
  enum
  {
    W = 800,
    H = 500
  };
  GlContext gl;
  if (!begin (&gl, W, H))
    return;
  g_autoptr (GError) error = NULL;
  TmGlPainter *painter = tm_gl_painter_new_masks (&error);
  g_assert_no_error (error);
  TmGlyphs *glyphs = tm_glyphs_new ();
  SheetFixture fixture;
  sheet_fixture_init (&fixture);
  const guint which[] = { 4, 7, 9, 10, 11, 12, 13 };
  for (guint v = 0; v < G_N_ELEMENTS (which); v++)
    {
      const View *view = &views[which[v]];
      g_autoptr (TmBoundaries) boundaries = boundaries_of_view (view);
      for (double s = 0.02; s < 60; s *= 1.15)
        {
          TmCamera camera;
          tm_camera_init (&camera, W, H);
          tm_camera_set (&camera, (double) view->columns / 2, (double) view->rows / 2, s);
          if (W / s > (double) view->columns * 0.9 || H / s > (double) view->rows * 0.9)
            continue; /* the outline is no boundary between blocks */
          sheet_fixture_fill (&fixture, &camera, view->rows, view->columns, boundaries, some_value, NULL, 0);
          tm_gl_painter_draw (painter, W, H, fixture.scene, &fixture.theme, glyphs);
          g_autofree guint32 *mask = gl_context_read (&gl);
          double line = 0, both = 0;
          for (int i = 0; i < W * H; i++)
            {
              double l = (mask[i] >> 16 & 255) / 255.0, h = (mask[i] >> 8 & 255) / 255.0 * 0.75;
              line += l;
              both += 1 - (1 - l) * (1 - h);
            }
          line /= W * H;
          both /= W * H;
          g_test_message ("%s, s %.4f: line %.3f, with halo %.3f", view->name, s, line, both);
          g_assert_cmpfloat (line, <=, 0.20);
          g_assert_cmpfloat (both, <=, 0.25);
        }
    }
  sheet_fixture_clear (&fixture);
  tm_glyphs_free (glyphs);
  tm_gl_painter_free (painter);
  gl_context_clear (&gl);
}

/* A value of a texel above level 0 is that of the largest element in it: here the outlier, wherever it is. */
typedef struct
{
  gint64 column, row;
  guint level;
} Outlier;

static float
outlier_value (gint64 column, gint64 row, gpointer data)
{
  const Outlier *outlier = data;
  return column >> outlier->level == outlier->column >> outlier->level
                 && row >> outlier->level == outlier->row >> outlier->level
             ? 1.0f
             : 0.0f;
}

static void
test_lone_outlier (void)
{
  enum
  {
    W = 200,
    H = 150
  };
  GlContext gl;
  if (!begin (&gl, W, H))
    return;
  SheetFixture fixture;
  sheet_fixture_init (&fixture);
  for (int k = 0; k < 24; k++)
    {
      TmCamera camera;
      double s = exp (pick_double (log (0.002), log (3)));
      Outlier outlier = { pick_int (40000, 60000), pick_int (40000, 60000), tm_tiles_level_for_scale (s) };
      tm_camera_init (&camera, W, H);
      tm_camera_set (&camera, (double) outlier.column + pick_double (-W / s / 3, W / s / 3),
                     (double) outlier.row + pick_double (-H / s / 3, H / s / 3), s);
      sheet_fixture_fill (&fixture, &camera, 100000, 100000, NULL, outlier_value, &outlier, 0);
      g_autofree guint32 *pixels = draw_by_gl (&gl, &fixture, FALSE);
      guint32 wanted = fixture.theme.diverging[255] >> 8 | 0xff000000u;
      guint seen = 0;
      for (int i = 0; i < W * H; i++)
        seen += pixels[i] == wanted ? 1 : 0;
      g_assert_cmpuint (seen, >=, 1);
    }
  sheet_fixture_clear (&fixture);
  gl_context_clear (&gl);
}

/* A tile corner in the middle of the view, tiles missing around it: every pixel has its own element's value, or that of the
 * first element of its ancestor's texel, or none. */
static float
position_value (gint64 column, gint64 row, gpointer data)
{
  return ((float) ((column * 7 + row * 13) % 255) - 127.0f) / 127.0f;
}

static void
test_tile_corner (void)
{
  enum
  {
    W = 200,
    H = 150
  };
  GlContext gl;
  if (!begin (&gl, W, H))
    return;
  SheetFixture fixture;
  sheet_fixture_init (&fixture);
  for (int k = 0; k < 12; k++)
    {
      TmCamera camera;
      double s = exp (pick_double (log (0.01), log (40)));
      guint level = tm_tiles_level_for_scale (s);
      gint64 corner = (gint64) pick_int (1, 9) * 4 * (TM_TILE << level);
      tm_camera_init (&camera, W, H);
      tm_camera_set (&camera, (double) corner, (double) corner + (double) ((gint64) TM_TILE << level) * (k % 4), s);
      sheet_fixture_fill (&fixture, &camera, (guint64) 1 << 30, (guint64) 1 << 30, NULL, position_value, NULL, 4);
      g_autofree guint32 *pixels = draw_by_gl (&gl, &fixture, FALSE);
      guint n, wrong = 0;
      const TmPrimSheet *sheet = &tm_scene_get_prims (fixture.scene, &n)[0].as.sheet;
      for (int i = 0; i < W * H; i++)
        {
          gint64 x = tm_camera_element_x (&camera, i % W), y = tm_camera_element_y (&camera, i / W);
          gint64 tile_x = x >> (level + 8), tile_y = y >> (level + 8);
          TmColor color = sheet->blank;
          if ((tile_x + tile_y) % 4 != 2)
            {
              guint shift = level + ((tile_x + tile_y) % 4 == 1 ? 2 : 0);
              float v = position_value (x >> shift << shift, y >> shift << shift, NULL);
              color = fixture.theme.diverging[128 + (int) floorf (v * 1.0f * 127.0f + 0.5f)];
            }
          wrong += pixels[i] != (color >> 8 | 0xff000000u) ? 1 : 0;
        }
      g_assert_cmpuint (wrong, ==, 0);
    }
  sheet_fixture_clear (&fixture);
  gl_context_clear (&gl);
}

/* Below GL 3.3 and GLES 3.0 the painter says no, and why. Mesa gives an older version only to a process that asks for it. */
static void
test_refusal (void)
{
  if (!g_test_subprocess ())
    {
      g_setenv (es ? "MESA_GLES_VERSION_OVERRIDE" : "MESA_GL_VERSION_OVERRIDE", es ? "2.0" : "3.2", TRUE);
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_unsetenv (es ? "MESA_GLES_VERSION_OVERRIDE" : "MESA_GL_VERSION_OVERRIDE");
      g_test_trap_assert_passed ();
      return;
    }
  GlContext gl;
  const char *why = gl_context_init (&gl, es, es ? 2 : 3, es ? 0 : 2);
  g_assert_cmpstr (why, ==, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (epoxy_gl_version (), <, es ? 30 : 33);
  g_assert_null (tm_gl_painter_new (&error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "is needed"));
  gl_context_clear (&gl);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (views); i++)
    {
      g_autofree char *path = g_strconcat ("/shaders/view/", views[i].name, NULL);
      g_test_add_data_func (path, &views[i], test_view);
    }
  g_test_add_func ("/shaders/random-views", test_random_views);
  g_test_add_func ("/shaders/ink-bounds", test_ink_bounds);
  g_test_add_func ("/shaders/lone-outlier", test_lone_outlier);
  g_test_add_func ("/shaders/tile-corner", test_tile_corner);
  g_test_add_func ("/shaders/refusal", test_refusal);
  return g_test_run ();
}
