#include "ui/canvas-picture.h"

#include "io/error.h"
#include "ui/canvas-private.h"
#include "ui/paint/svg.h"

static cairo_status_t
append_bytes (void *closure, const unsigned char *bytes, unsigned int n)
{
  g_string_append_len (closure, (const char *) bytes, n);
  return CAIRO_STATUS_SUCCESS;
}

static GString *
make_png (TmCanvas *self, const TmScene *scene, const TmTheme *theme, int width, int height, GError **error)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  TmCpuPainter *painter = tm_cpu_painter_new ();
  GString *png = g_string_new (NULL);
  cairo_status_t status = cairo_surface_status (surface);

  if (status == CAIRO_STATUS_SUCCESS)
    {
      tm_cpu_painter_draw (painter, surface, scene, theme, self->glyphs);
      cairo_surface_mark_dirty (surface);
      status = cairo_surface_write_to_png_stream (surface, append_bytes, png);
    }
  tm_cpu_painter_free (painter);
  cairo_surface_destroy (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    return png;
  g_set_error (error, TM_ERROR, TM_ERROR_IO, "the picture cannot be encoded: %s", cairo_status_to_string (status));
  g_string_free (png, TRUE);
  return NULL;
}

gboolean
tm_canvas_write_picture (GtkWidget *canvas, const char *path, GError **error)
{
  TmCanvas *self = TM_CANVAS (canvas);
  g_autoptr (GError) why = NULL;
  GString *file;
  TmView view;
  gboolean written;

  tm_canvas_get_view (self, &view);
  view.hover_box = TM_NO_BOX;
  if (!view.layout || view.camera.width <= 0 || view.camera.height <= 0)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_IO, "there is no picture yet");
      return FALSE;
    }
  tm_glyphs_begin (self->glyphs);
  tm_scene_update (self->scene, &view);
  file = g_str_has_suffix (path, ".svg")
             ? tm_svg_from_scene (self->scene, view.theme, view.camera.width, view.camera.height, error)
             : make_png (self, self->scene, view.theme, view.camera.width, view.camera.height, error);
  tm_canvas_queue_frame (self);
  if (!file)
    return FALSE;
  written = g_file_set_contents (path, file->str, (gssize) file->len, &why);
  if (!written)
    g_set_error (error, TM_ERROR, TM_ERROR_IO, "%s", why->message);
  g_string_free (file, TRUE);
  return written;
}
