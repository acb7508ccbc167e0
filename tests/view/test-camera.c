/* Camera: pans, zooms and fits are integer arithmetic, and everybody's element under a pixel is the same. */
#include "view/camera.h"
#include "seeded.h"

#include <math.h>

static void
random_camera (TmCamera *camera)
{
  tm_camera_init (camera, pick_int (1, 2000), pick_int (1, 1500));
  tm_camera_set (camera, pick_double (-1e9, 1e9), pick_double (-1e9, 1e9),
                 pow (10, pick_double (-7, 2.6)));
}

static void
test_pan_whole (void)
{
  for (int i = 0; i < 400; i++)
    {
      int k = pick_int (-500, 500), l = pick_int (-500, 500);
      TmCamera a, b;

      random_camera (&a);
      b = a;
      tm_camera_pan (&b, k, l);
      g_assert_true (b.d == a.d);
      for (int p = -20; p < 2000; p += 7)
        {
          g_assert_cmpint (tm_camera_element_x (&a, p - k), ==, tm_camera_element_x (&b, p));
          g_assert_cmpint (tm_camera_element_y (&a, p - l), ==, tm_camera_element_y (&b, p));
        }
      tm_camera_pan (&b, -k, -l);
      g_assert_true (a.x0 == b.x0 && a.y0 == b.y0);
    }
}

static void
test_pan_fraction (void)
{
  TmCamera camera;

  tm_camera_init (&camera, 100, 100);
  tm_camera_set (&camera, 50, 50, 1);
  tm_camera_pan (&camera, 0.25, -0.5);
  g_assert_cmpfloat ((double) camera.x0 / 0x1p32, ==, -0.25);
  g_assert_cmpfloat ((double) camera.y0 / 0x1p32, ==, 0.5);
  tm_camera_pan (&camera, NAN, INFINITY);
  g_assert_cmpfloat ((double) camera.x0 / 0x1p32, ==, -0.25);
}

static void
test_zoom_keeps_point (void)
{
  for (int i = 0; i < 1000; i++)
    {
      int h = pick_int (0, 4000), k = pick_int (0, 3000);
      TmCamera a, b;

      random_camera (&a);
      b = a;
      tm_camera_zoom (&b, pow (2, pick_double (-6, 6)), h / 2.0, k / 2.0);
      g_assert_true (a.x0 + h * (__int128) a.d == b.x0 + h * (__int128) b.d);
      g_assert_true (a.y0 + k * (__int128) a.d == b.y0 + k * (__int128) b.d);
      g_assert_cmpfloat (b.scale, >=, TM_MIN_SCALE);
      g_assert_cmpfloat (b.scale, <=, TM_MAX_SCALE);
    }
}

static void
test_snap (void)
{
  for (int i = 0; i < 2000; i++)
    {
      TmCamera camera;
      gint64 e;
      int p;

      random_camera (&camera);
      e = tm_camera_element_x (&camera, pick_int (-100, 3000)) + pick_int (-3, 4);
      p = tm_camera_snap_x (&camera, e);
      g_assert_cmpint (tm_camera_element_x (&camera, p), >=, e);
      g_assert_cmpint (tm_camera_element_x (&camera, p - 1), <, e);
      g_assert_cmpfloat (fabs (tm_camera_pixel_x (&camera, e) - p), <=, 0.5 + 1e-6);
      e = tm_camera_element_y (&camera, pick_int (-100, 3000)) + pick_int (-3, 4);
      p = tm_camera_snap_y (&camera, e);
      g_assert_cmpint (tm_camera_element_y (&camera, p), >=, e);
      g_assert_cmpint (tm_camera_element_y (&camera, p - 1), <, e);
    }
}

static void
test_snap_far (void)
{
  TmCamera camera;

  tm_camera_init (&camera, 100, 100);
  tm_camera_set (&camera, 0, 0, 400);
  g_assert_cmpint (tm_camera_snap_x (&camera, G_MAXINT64), ==, 1 << 30);
  g_assert_cmpint (tm_camera_snap_x (&camera, G_MININT64), ==, -(1 << 30));
  tm_camera_set (&camera, 1e300, -1e300, 1);
  g_assert_cmpint (tm_camera_element_x (&camera, 0), ==, (gint64) 1 << 62);
  g_assert_cmpint (tm_camera_element_y (&camera, 0), ==, -((gint64) 1 << 62));
}

static void
test_set_at_exact (void)
{
  const gint64 far = 4000000000000000001;
  TmCamera camera;

  tm_camera_init (&camera, 301, 200);
  tm_camera_set_at (&camera, far, 0.5, -far, 0.25, 8);
  g_assert_cmpint (tm_camera_element_x (&camera, 150), ==, far);
  g_assert_true (camera.x0 + 301 * (__int128) camera.d == ((__int128) far << 32) + ((__int128) 1 << 31));
  g_assert_true (camera.y0 + 200 * (__int128) camera.d == -((__int128) far << 32) + ((__int128) 1 << 30));
}

static void
test_resize_keeps_centre (void)
{
  TmCamera camera;
  double x, y, x2, y2;

  tm_camera_init (&camera, 640, 480);
  tm_camera_set (&camera, 1000.5, 77, 3);
  tm_camera_get_centre (&camera, &x, &y);
  g_assert_cmpfloat_with_epsilon (x, 1000.5, 1e-6);
  tm_camera_resize (&camera, 1023, 767);
  tm_camera_get_centre (&camera, &x2, &y2);
  g_assert_cmpfloat (x, ==, x2);
  g_assert_cmpfloat (y, ==, y2);
  g_assert_cmpint (camera.width, ==, 1023);
}

static void
test_fit (void)
{
  TmCamera camera;

  tm_camera_init (&camera, 1600, 1000);
  tm_camera_fit (&camera, -50, 300, 16384, 128256, 20);
  g_assert_cmpint (tm_camera_snap_y (&camera, 300), ==, 20);
  g_assert_cmpint (tm_camera_snap_y (&camera, 300 + 128256), ==, 980);
  g_assert_cmpint (tm_camera_snap_x (&camera, -50), >=, 20);
  g_assert_cmpint (tm_camera_snap_x (&camera, -50 + 16384), <=, 1580);
  tm_camera_fit (&camera, 7, 7, 1, 1, 20); /* one cell: the largest scale */
  g_assert_cmpfloat (camera.scale, ==, TM_MAX_SCALE);
  g_assert_cmpint (tm_camera_element_x (&camera, 800), ==, 7);
  tm_camera_fit (&camera, 0, 0, 0, 0, 5000); /* margins larger than the viewport */
  g_assert_cmpfloat (camera.scale, >=, TM_MIN_SCALE);
}

static void
test_flight (void)
{
  TmCamera from, to, at;
  double smallest = G_MAXDOUBLE, x = 0, y = 0, last = -1;

  tm_camera_init (&from, 800, 600);
  to = from;
  tm_camera_set (&from, 0, 0, 20);
  tm_camera_set (&to, 100000, 50000, 40);
  tm_camera_interpolate (&from, &to, 0, &at);
  g_assert_true (at.x0 == from.x0 && at.d == from.d);
  tm_camera_interpolate (&from, &to, 1, &at);
  g_assert_true (at.x0 == to.x0 && at.y0 == to.y0 && at.d == to.d);
  for (int i = 1; i < 200; i++)
    {
      tm_camera_interpolate (&from, &to, i / 200.0, &at);
      tm_camera_get_centre (&at, &x, &y);
      g_assert_cmpfloat (x, >=, last);
      g_assert_cmpfloat (x, <=, 100000.5);
      g_assert_cmpfloat_with_epsilon (y, x / 2, 1);
      smallest = MIN (smallest, at.scale);
      last = x;
    }
  g_assert_cmpfloat (smallest, <, 0.05); /* it went out on the way */
  g_assert_cmpfloat (x, >, 99000);
  tm_camera_set (&to, 0, 0, 200); /* a pure zoom stays on its point */
  tm_camera_interpolate (&from, &to, 0.5, &at);
  tm_camera_get_centre (&at, &x, &y);
  g_assert_cmpfloat_with_epsilon (x, 0, 1e-3);
  g_assert_cmpfloat_with_epsilon (at.scale, sqrt (20.0 * 200), 1e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/camera/pan/whole-pixels-exact", test_pan_whole);
  g_test_add_func ("/camera/pan/fraction", test_pan_fraction);
  g_test_add_func ("/camera/zoom/keeps-point", test_zoom_keeps_point);
  g_test_add_func ("/camera/snap", test_snap);
  g_test_add_func ("/camera/snap-far", test_snap_far);
  g_test_add_func ("/camera/set-at-exact", test_set_at_exact);
  g_test_add_func ("/camera/resize-keeps-centre", test_resize_keeps_centre);
  g_test_add_func ("/camera/fit", test_fit);
  g_test_add_func ("/camera/flight", test_flight);
  return g_test_run ();
}
