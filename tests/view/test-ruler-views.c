/* The fifteen views of the boundary arithmetic (views.h), by rulers alone. */
#include "view/views.h"

static gboolean
pixel_is_outside (const View *view, const TmCamera *camera, int px, int py)
{
  gint64 x = tm_camera_element_x (camera, px), y = tm_camera_element_y (camera, py);

  return x < 0 || y < 0 || (guint64) x >= view->columns || (guint64) y >= view->rows;
}

static void
test_view (gconstpointer data)
{
  const View *view = data;
  g_autoptr (TmBoundaries) boundaries = boundaries_of_view (view);
  TmRulers rulers = { 0 };
  TmCamera camera;
  guint outside = 0, full = 0, sum_line = 0, sum_halo = 0;

  tm_camera_init (&camera, WIDTH, HEIGHT);
  tm_camera_set (&camera, view->x, view->y, view->scale);
  tm_rulers_build (&rulers, &camera, 0, 0, view->rows, view->columns, boundaries, TRUE, 2, 1);
  for (int py = 0; py < HEIGHT; py++)
    for (int px = 0; px < WIDTH; px++)
      {
        guint line, halo;

        tm_rulers_get_ink (&rulers, px, py, &line, &halo);
        outside += pixel_is_outside (view, &camera, px, py) ? 1 : 0;
        full += line == 255 ? 1 : 0;
        sum_line += line;
        sum_halo += halo;
      }
  g_assert_cmpint (tm_camera_element_x (&camera, 0), ==, view->first_column);
  g_assert_cmpint (tm_camera_element_x (&camera, WIDTH - 1), ==, view->last_column);
  g_assert_cmpint (tm_camera_element_y (&camera, 0), ==, view->first_row);
  g_assert_cmpint (tm_camera_element_y (&camera, HEIGHT - 1), ==, view->last_row);
  g_assert_cmpuint (outside, ==, view->outside);
  g_assert_cmpuint (full, ==, view->full);
  g_assert_cmpuint (sum_line, ==, view->line);
  g_assert_cmpuint (sum_halo, ==, view->halo);
  tm_rulers_clear (&rulers);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (views); i++)
    {
      g_autofree char *path = g_strconcat ("/ruler/view/", views[i].name, NULL);

      g_test_add_data_func (path, &views[i], test_view);
    }
  return g_test_run ();
}
