#include "ui/paint/picture.h"

#include "io/error.h"
#include "io/text.h"
#include "model/address.h"
#include "ui/paint/legend-strip.h"
#include "ui/paint/painter.h"

#define TILE_BYTES ((gsize) 256 << 20)
#define MAX_WAIT (60 * G_USEC_PER_SEC)
#define STRIP 40
#define SCALAR_PX 72 /* a cell of a scalar's picture */

typedef struct
{
  TmModel *model;
  TmAddress address;
  TmLayout *layout;
  TmTiles *tiles;
  TmScene *scene;
  TmGlyphs *glyphs;
  TmTheme theme;
  TmView view;
  gboolean changed;
} Picture;

static void
on_changed (gpointer data)
{
  ((Picture *) data)->changed = TRUE;
}

/* A tensor that a fold hides is shown by opening the fold. */
static gboolean
make_layout (Picture *picture, GError **error)
{
  g_autoptr (GHashTable) unfolded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint tries = 0; tries < 64; tries++)
    {
      g_clear_pointer (&picture->layout, tm_layout_free);
      picture->layout = tm_layout_new (picture->model, unfolded, NULL);
      if (picture->layout == NULL || picture->layout->boxes->len == 0)
        break;
      if (picture->address.kind != TM_ADDRESS_TENSOR
          || picture->layout->box_of_tensor[picture->address.tensor] != TM_NO_BOX)
        return TRUE;
      guint fold = tm_layout_find_hiding_fold (picture->layout, picture->address.tensor);
      if (fold == TM_NO_BOX || tm_layout_box (picture->layout, fold)->module == NULL
          || !g_hash_table_add (unfolded, g_strdup (tm_layout_box (picture->layout, fold)->module->path)))
        return TRUE;
    }
  g_set_error_literal (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "the model has nothing to lay out");
  return FALSE;
}

static void
fit_within (Picture *picture, const TmBox *box, const TmTensor *tensor)
{
  const TmAddress *address = &picture->address;
  TmCamera *camera = &picture->view.camera;
  gint64 x0, y0, x1, y1;
  g_autofree guint64 *last = g_new0 (guint64, MAX (address->rank, 1));
  for (guint i = 0; i < address->rank; i++)
    last[i] = address->end[i] > 0 ? address->end[i] - 1 : 0;
  tm_sheet_locate (&box->sheet, tm_tensor_flatten (tensor, address->start), &x0, &y0);
  tm_sheet_locate (&box->sheet, tm_tensor_flatten (tensor, last), &x1, &y1);
  x0 += box->sheet_x;
  y0 += box->sheet_y;
  x1 += box->sheet_x;
  y1 += box->sheet_y;
  if (address->within == TM_WITHIN_INDEX)
    tm_camera_set_at (camera, x0, 0.5, y0, 0.5, SCALAR_PX);
  else
    tm_camera_fit (camera, MIN (x0, x1), MIN (y0, y1), ABS (x1 - x0) + 1, ABS (y1 - y0) + 1, 60);
}

static gboolean
fit (Picture *picture, GError **error)
{
  const TmAddress *address = &picture->address;
  const TmLayout *layout = picture->layout;
  TmCamera *camera = &picture->view.camera;
  int margin = CLAMP (MIN (camera->width, camera->height) / 9, 8, 72);
  guint index = 0;
  if (address->kind == TM_ADDRESS_MODULE)
    index = tm_layout_find_module (layout, address->module);
  else if (address->kind == TM_ADDRESS_FOLD)
    index = tm_layout_find_module (
        layout, g_ptr_array_index (address->module->children,
                                   g_array_index (address->module->folds, TmFold, address->fold).first));
  else if (address->kind == TM_ADDRESS_TENSOR)
    index = layout->box_of_tensor[address->tensor];
  else if (address->kind == TM_ADDRESS_STORED)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_ADDRESS,
                           "a stored tensor has no place on the plane; name the logical one");
      return FALSE;
    }
  if (index == TM_NO_BOX)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_ADDRESS, "the address has no place on the plane");
      return FALSE;
    }
  const TmBox *box = tm_layout_box (layout, index);
  if (address->kind != TM_ADDRESS_TENSOR || box->sheet.width <= 0 || box->sheet.height <= 0)
    tm_camera_fit (camera, box->x, box->y, box->width, box->height, margin);
  else if (address->within == TM_WITHIN_WHOLE)
    tm_camera_fit (camera, box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height, margin);
  else
    fit_within (picture, box, tm_model_tensor (picture->model, address->tensor));
  picture->view.overlay = address->kind == TM_ADDRESS_TENSOR ? TM_OVERLAY_VALUE : TM_OVERLAY_DTYPE;
  return TRUE;
}

static gboolean
is_exact (const TmScene *scene)
{
  guint n;
  const TmPrim *prims = tm_scene_get_prims (scene, &n);
  for (guint i = 0; i < n; i++)
    if (prims[i].kind == TM_PRIM_SHEET)
      for (gsize k = 0; k < (gsize) prims[i].as.sheet.n_pages_x * prims[i].as.sheet.n_pages_y; k++)
        {
          const TmPage *page = &prims[i].as.sheet.pages[k];
          if (page->tile == NULL || page->up > 0 || page->tile->state == TM_TILE_SAMPLED)
            return FALSE;
        }
  return TRUE;
}

static gboolean
on_tick (gpointer data)
{
  return G_SOURCE_CONTINUE; /* wakes the loop, which then looks at the clock */
}

/* Asks for what the view wants until it is there and exact. */
static void
settle (Picture *picture)
{
  gint64 until = g_get_monotonic_time () + MAX_WAIT;
  gboolean values = picture->view.overlay != TM_OVERLAY_DTYPE;
  guint tick = g_timeout_add (100, on_tick, NULL);
  guint calm = 0;
  for (;;)
    {
      picture->changed = FALSE;
      tm_scene_update (picture->scene, &picture->view);
      gboolean done = tm_tiles_count_pending (picture->tiles) == 0 && (!values || is_exact (picture->scene));
      /* What arrives may be asked for again in more detail: calm twice is done. */
      calm = done ? calm + 1 : 0;
      if (calm >= 2 || g_get_monotonic_time () > until)
        break;
      if (!done)
        while (!picture->changed && g_main_context_iteration (NULL, TRUE) && g_get_monotonic_time () < until
               && tm_tiles_count_pending (picture->tiles) > 0)
          ;
    }
  g_source_remove (tick);
}

static void
paint (Picture *picture, cairo_surface_t *surface, int width, int height, int strip)
{
  TmCpuPainter *painter = tm_cpu_painter_new ();
  TmScene *words = tm_scene_new ();
  unsigned char *data = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);
  g_autofree char *title = tm_text_escape (picture->model->title != NULL ? picture->model->title : "", -1);
  g_autofree char *description = tm_model_describe (picture->model);
  g_autofree char *place = tm_address_format (picture->model, &picture->address);
  g_autofree char *shown = tm_text_escape (place, -1);

  cairo_surface_t *above = cairo_image_surface_create_for_data (data, CAIRO_FORMAT_RGB24, width, strip, stride);
  cairo_surface_t *middle = cairo_image_surface_create_for_data (data + (gsize) strip * stride, CAIRO_FORMAT_RGB24,
                                                                 width, height - 2 * strip, stride);
  cairo_surface_t *below = cairo_image_surface_create_for_data (data + (gsize) (height - strip) * stride,
                                                                CAIRO_FORMAT_RGB24, width, strip, stride);
  tm_cpu_painter_draw (painter, middle, picture->scene, &picture->theme, picture->glyphs);
  if (strip > 0)
    {
      tm_title_strip_fill (words, &picture->theme, width, strip, 1, title, description, shown, tm_glyphs_measure,
                           picture->glyphs);
      tm_cpu_painter_draw (painter, above, words, &picture->theme, picture->glyphs);
      tm_legend_strip_fill (words, &picture->theme, width, strip, 1, tm_scene_get_legend (picture->scene),
                            picture->view.overlay, tm_glyphs_measure, picture->glyphs);
      tm_cpu_painter_draw (painter, below, words, &picture->theme, picture->glyphs);
    }
  cairo_surface_destroy (above);
  cairo_surface_destroy (middle);
  cairo_surface_destroy (below);
  cairo_surface_mark_dirty (surface);
  tm_scene_free (words);
  tm_cpu_painter_free (painter);
}

static cairo_status_t
append_bytes (void *closure, const unsigned char *bytes, unsigned int n)
{
  g_byte_array_append (closure, bytes, n);
  return CAIRO_STATUS_SUCCESS;
}

static gboolean
write_png (cairo_surface_t *surface, const char *path, GError **error)
{
  g_autoptr (GByteArray) png = g_byte_array_new ();
  cairo_status_t status = cairo_surface_write_to_png_stream (surface, append_bytes, png);
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "the picture cannot be encoded: %s", cairo_status_to_string (status));
      return FALSE;
    }
  g_autoptr (GError) why = NULL;
  if (g_file_set_contents (path, (const char *) png->data, png->len, &why))
    return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_IO, "%s", why->message);
  return FALSE;
}

static void
picture_clear (Picture *picture)
{
  tm_scene_free (picture->scene);
  if (picture->tiles != NULL)
    tm_tiles_free (picture->tiles);
  tm_glyphs_free (picture->glyphs);
  g_clear_pointer (&picture->layout, tm_layout_free);
  tm_address_clear (&picture->address);
}

gboolean
tm_picture_write (TmModel *model, const char *address, int width, int height, gboolean dark, const char *out_png,
                  GError **error)
{
  if (MIN (width, height) < TM_PICTURE_MIN_SIDE || MAX (width, height) > TM_PICTURE_MAX_SIDE)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "a picture's sides are %d to %d pixels", TM_PICTURE_MIN_SIDE,
                   TM_PICTURE_MAX_SIDE);
      return FALSE;
    }
  Picture picture = { .model = model };
  if (!tm_address_parse (model, address != NULL ? address : "", &picture.address, error)
      || !make_layout (&picture, error))
    {
      picture_clear (&picture);
      return FALSE;
    }
  int strip = height >= 4 * STRIP ? STRIP : 0;
  tm_theme_init (&picture.theme, dark, 0);
  picture.scene = tm_scene_new ();
  picture.glyphs = tm_glyphs_new ();
  picture.tiles = tm_tiles_new (model, TILE_BYTES, on_changed, &picture);
  picture.view = (TmView) {
    .layout = picture.layout,
    .tiles = picture.tiles,
    .theme = &picture.theme,
    .reduce = TM_REDUCE_LARGEST,
    .boundaries = TRUE,
    .device_scale = 1,
    .selection = &picture.address,
    .hover_box = TM_NO_BOX,
    .measure = tm_glyphs_measure,
    .measure_data = picture.glyphs,
  };
  if (picture.address.within == TM_WITHIN_WHOLE)
    picture.view.selection = NULL; /* what fills the picture needs no outline */
  tm_camera_init (&picture.view.camera, width, height - 2 * strip);
  gboolean written = fit (&picture, error);
  if (written)
    {
      settle (&picture);
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
      written = cairo_surface_status (surface) == CAIRO_STATUS_SUCCESS;
      if (written)
        {
          paint (&picture, surface, width, height, strip);
          written = write_png (surface, out_png, error);
        }
      else
        g_set_error (error, TM_ERROR, TM_ERROR_IO, "no memory for a picture of %d × %d pixels", width, height);
      cairo_surface_destroy (surface);
    }
  picture_clear (&picture);
  return written;
}
