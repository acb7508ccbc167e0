/* Exported pictures: written whole, of the right size, showing what they say; refusals leave no file. */
#include <cairo.h>
#include <glib/gstdio.h>

#include "io/error.h"
#include "paint/synthetic.h"
#include "ui/paint/picture.h"

static char *folder;

typedef struct
{
  int width, height;
  guint colors, boundary, text;
} Picture;

static Picture
look_at (const char *path, gboolean dark)
{
  TmTheme theme;
  tm_theme_init (&theme, dark, 0);
  Picture picture = { 0 };
  cairo_surface_t *surface = cairo_image_surface_create_from_png (path);
  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  picture.width = cairo_image_surface_get_width (surface);
  picture.height = cairo_image_surface_get_height (surface);
  int stride = cairo_image_surface_get_stride (surface);
  const unsigned char *data = cairo_image_surface_get_data (surface);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (int y = 0; y < picture.height; y++)
    for (int x = 0; x < picture.width; x++)
      {
        guint32 pixel = ((const guint32 *) (gconstpointer) (data + (gsize) y * stride))[x] & 0xffffff;
        g_hash_table_add (seen, GUINT_TO_POINTER (pixel));
        picture.boundary += pixel == theme.line >> 8 ? 1 : 0;
        picture.text += pixel == theme.text >> 8 ? 1 : 0;
      }
  picture.colors = g_hash_table_size (seen);
  cairo_surface_destroy (surface);
  return picture;
}

static void
test_depths (void)
{
  static const char *const address[]
      = { NULL, "", "blk.2", "blk.2.attn_q.weight", "blk.2.attn_q.weight[37,300]", "blk.2.attn_q.weight[0:8,256:320]" };
  g_autoptr (TmModel) model = synthetic_model_new (48, 512, 512);
  g_autofree char *path = g_build_filename (folder, "picture.png", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (address); i++)
    for (int dark = 0; dark < 2; dark++)
      {
        g_autoptr (GError) error = NULL;
        g_assert_true (tm_picture_write (model, address[i], 900, 640, dark, path, &error));
        g_assert_no_error (error);
        Picture picture = look_at (path, dark);
        g_test_message ("%s: %u colours, %u boundary pixels, %u of text", address[i], picture.colors, picture.boundary,
                        picture.text);
        g_assert_cmpint (picture.width, ==, 900);
        g_assert_cmpint (picture.height, ==, 640);
        g_assert_cmpuint (picture.colors, >, 60);
        g_assert_cmpuint (picture.boundary, >, 200);
        g_assert_cmpuint (picture.text, >, 100);
        g_remove (path);
      }
}

static void
test_sizes (void)
{
  static const int size[][2] = { { 64, 64 }, { 100, 2000 }, { 2000, 100 }, { 360, 480 } };
  g_autoptr (TmModel) model = synthetic_tensor_new (300, 700, 64);
  g_autofree char *path = g_build_filename (folder, "size.png", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (size); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_true (tm_picture_write (model, "blk.0.attn_q.weight", size[i][0], size[i][1], FALSE, path, &error));
      Picture picture = look_at (path, FALSE);
      g_assert_cmpint (picture.width, ==, size[i][0]);
      g_assert_cmpint (picture.height, ==, size[i][1]);
      g_assert_cmpuint (picture.colors, >, 20);
      g_remove (path);
    }
}

static void
refuse (TmModel *model, const char *address, int width, int height, const char *path, int code)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (tm_picture_write (model, address, width, height, FALSE, path, &error));
  g_assert_error (error, TM_ERROR, code);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_refusals (void)
{
  g_autoptr (TmModel) model = synthetic_tensor_new (30, 70, 0);
  g_autofree char *path = g_build_filename (folder, "none.png", NULL),
                  *nowhere = g_build_filename (folder, "no", "such", "folder.png", NULL);
  refuse (model, "blk.7.attn_q.weight", 300, 300, path, TM_ERROR_ADDRESS);
  refuse (model, "blk.0.attn_q.weight[1,70]", 300, 300, path, TM_ERROR_ADDRESS);
  refuse (model, "", 20, 300, path, TM_ERROR_UNSUPPORTED);
  refuse (model, "", 300, 1 << 20, path, TM_ERROR_UNSUPPORTED);
  refuse (model, "", 300, 300, nowhere, TM_ERROR_IO);
}

/* Tensors with nothing to show have a place in the picture all the same. */
static void
test_nothing_to_show (void)
{
  g_autoptr (TmModel) model = synthetic_model_new (48, 512, 512);
  g_autofree char *path = g_build_filename (folder, "hatch.png", NULL);
  static const char *const address[] = { "blk.3.ffn_down.weight", "blk.4.ffn_down.weight" }; /* at fault, empty */
  for (guint i = 0; i < G_N_ELEMENTS (address); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 start = g_get_monotonic_time ();
      g_assert_true (tm_picture_write (model, address[i], 500, 400, FALSE, path, &error));
      g_assert_cmpint (g_get_monotonic_time () - start, <, 20 * G_USEC_PER_SEC);
      g_assert_cmpuint (look_at (path, FALSE).colors, >, 8);
      g_remove (path);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp (NULL, NULL);
  g_test_add_func ("/picture/depths", test_depths);
  g_test_add_func ("/picture/sizes", test_sizes);
  g_test_add_func ("/picture/refusals", test_refusals);
  g_test_add_func ("/picture/nothing-to-show", test_nothing_to_show);
  int status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
