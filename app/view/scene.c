/* Scene: memory of a frame, and the order in which its parts are added. */
#include "view/scene-private.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define CHUNK 65536
#define MAX_BOUNDARIES 4096 /* tensors whose boundaries are kept */
#define CUT 64              /* rectangles are cut this far outside the viewport; a multiple of the hatch's period */

static void
free_rulers (gpointer data)
{
  tm_rulers_clear (data);
  g_free (data);
}

TmScene *
tm_scene_new (void)
{
  TmScene *scene = g_new0 (TmScene, 1);
  for (guint i = 0; i < TM_N_LAYERS; i++)
    scene->layer[i] = g_array_new (FALSE, TRUE, sizeof (TmPrim));
  scene->prims = g_array_new (FALSE, FALSE, sizeof (TmPrim));
  scene->chunks = g_array_new (FALSE, FALSE, sizeof (TmChunk));
  scene->rulers = g_ptr_array_new_with_free_func (free_rulers);
  scene->boundaries = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) tm_boundaries_free);
  scene->marked = g_byte_array_new ();
  scene->legend.tensor = G_MAXUINT;
  return scene;
}

void
tm_scene_free (TmScene *scene)
{
  if (scene == NULL)
    return;
  for (guint i = 0; i < TM_N_LAYERS; i++)
    g_array_unref (scene->layer[i]);
  g_array_unref (scene->prims);
  for (guint i = 0; i < scene->chunks->len; i++)
    g_free (g_array_index (scene->chunks, TmChunk, i).data);
  g_array_unref (scene->chunks);
  g_ptr_array_unref (scene->rulers);
  g_hash_table_unref (scene->boundaries);
  g_byte_array_unref (scene->marked);
  g_clear_object (&scene->model);
  g_free (scene);
}

const TmPrim *
tm_scene_get_prims (const TmScene *scene, guint *n)
{
  *n = scene->prims->len;
  return (const TmPrim *) (gpointer) scene->prims->data;
}

const TmLegend *
tm_scene_get_legend (const TmScene *scene)
{
  return &scene->legend;
}

gpointer
tm_scene_alloc (TmScene *scene, gsize size)
{
  size = (size + 15) & ~(gsize) 15;
  while (scene->chunk < scene->chunks->len)
    {
      TmChunk *chunk = &g_array_index (scene->chunks, TmChunk, scene->chunk);
      if (chunk->size - chunk->used >= size)
        {
          gpointer data = (char *) chunk->data + chunk->used;
          chunk->used += size;
          return data;
        }
      scene->chunk++;
    }
  TmChunk chunk = { .size = MAX (size, CHUNK), .used = size };
  chunk.data = g_malloc (chunk.size);
  g_array_append_val (scene->chunks, chunk);
  return chunk.data;
}

const char *
tm_scene_copy (TmScene *scene, const char *text)
{
  gsize size = strlen (text) + 1;
  return memcpy (tm_scene_alloc (scene, size), text, size);
}

const char *
tm_scene_format (TmScene *scene, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start (args, format);
  g_vsnprintf (text, sizeof text, format, args);
  va_end (args);
  return tm_scene_copy (scene, text);
}

TmRulers *
tm_scene_take_rulers (TmScene *scene)
{
  if (scene->n_rulers == scene->rulers->len)
    g_ptr_array_add (scene->rulers, g_new0 (TmRulers, 1));
  return g_ptr_array_index (scene->rulers, scene->n_rulers++);
}

TmPrim *
tm_scene_add (TmScene *scene, TmLayer layer, TmPrimKind kind)
{
  GArray *prims = scene->layer[layer];
  g_array_set_size (prims, prims->len + 1);
  TmPrim *prim = &g_array_index (prims, TmPrim, prims->len - 1);
  prim->kind = kind;
  return prim;
}

TmPrimRect *
tm_scene_rect (TmScene *scene, TmLayer layer, int x, int y, int width, int height, TmColor fill)
{
  TmPrimRect *rect = &tm_scene_add (scene, layer, TM_PRIM_RECT)->as.rect;
  *rect = (TmPrimRect) { .x = x, .y = y, .width = width, .height = height, .fill = fill };
  return rect;
}

void
tm_scene_hatch (TmScene *scene, int x, int y, int width, int height, TmColor fill)
{
  TmPrimRect *rect = &tm_scene_add (scene, TM_LAYER_SHEET, TM_PRIM_HATCH)->as.rect;
  *rect = (TmPrimRect) {
    .x = x, .y = y, .width = width, .height = height, .fill = fill, .stroke = scene->view->theme->hatch
  };
}

void
tm_scene_text (TmScene *scene, int x, int y, int max_width, TmFont font, int px, TmAlign align, TmColor color,
               const char *text)
{
  tm_scene_text_on_layer (scene, TM_LAYER_TEXT, x, y, max_width, font, px, align, color, text);
}

void
tm_scene_text_on_layer (TmScene *scene, TmLayer layer, int x, int y, int max_width, TmFont font, int px, TmAlign align,
                        TmColor color, const char *text)
{
  TmPrimText *prim = &tm_scene_add (scene, layer, TM_PRIM_TEXT)->as.text;
  *prim = (TmPrimText) {
    .x = x, .y = y, .max_width = max_width, .font = font, .px = (guint) px, .align = align, .color = color, .text = text
  };
}

int
tm_scene_measure (const TmScene *scene, TmFont font, int px, const char *text)
{
  if (scene->view->measure != NULL)
    return scene->view->measure (font, (guint) px, text, scene->view->measure_data);
  return (int) ((double) g_utf8_strlen (text, -1) * px * 0.6);
}

TmColor
tm_scene_contrasting (const TmScene *scene, TmColor ground)
{
  const TmTheme *theme = scene->view->theme;
  return tm_color_contrast (theme->cell_text, ground) >= tm_color_contrast (theme->cell_text_inverse, ground)
             ? theme->cell_text
             : theme->cell_text_inverse;
}

static void
cut (int *from, int *to, int limit)
{
  if (*from < -CUT)
    *from = -CUT + (*from & 7); /* the hatch's stripes stay where they were */
  *to = MIN (*to, limit + CUT);
}

TmPixels
tm_scene_to_pixels (const TmScene *scene, gint64 x, gint64 y, gint64 width, gint64 height)
{
  const TmCamera *camera = &scene->view->camera;
  int left = tm_camera_snap_x (camera, x), right = MAX (tm_camera_snap_x (camera, x + width), left + 1);
  int top = tm_camera_snap_y (camera, y), bottom = MAX (tm_camera_snap_y (camera, y + height), top + 1);
  cut (&left, &right, camera->width);
  cut (&top, &bottom, camera->height);
  return (TmPixels) { left, top, MAX (right - left, 0), MAX (bottom - top, 0) };
}

double
tm_scene_length (const TmScene *scene, gint64 elements)
{
  return (double) elements * scene->scale;
}

gboolean
tm_scene_is_visible (const TmScene *scene, gint64 x, gint64 y, gint64 width, gint64 height)
{
  return x < scene->right && y < scene->bottom && x + width >= scene->left && y + height >= scene->top;
}

void
tm_scene_clear (TmScene *scene)
{
  for (guint i = 0; i < TM_N_LAYERS; i++)
    g_array_set_size (scene->layer[i], 0);
  g_array_set_size (scene->prims, 0);
  for (guint i = 0; i < scene->chunks->len; i++)
    g_array_index (scene->chunks, TmChunk, i).used = 0;
  scene->chunk = 0;
  scene->n_rulers = 0;
  g_byte_array_set_size (scene->marked, 0);
}

void
tm_scene_finish (TmScene *scene)
{
  for (guint i = 0; i < TM_N_LAYERS; i++)
    if (scene->layer[i]->len > 0)
      g_array_append_vals (scene->prims, scene->layer[i]->data, scene->layer[i]->len);
}

static void
begin (TmScene *scene, const TmView *view)
{
  const TmCamera *camera = &view->camera;
  tm_scene_clear (scene);
  scene->view = view;
  scene->ds = (int) MAX (view->device_scale, 1u);
  scene->scale = camera->scale;
  scene->level = tm_tiles_level_for_scale (camera->scale);
  /* What lies a few pixels outside may still reach in: outlines, captions, halos. */
  gint64 margin = (gint64) ceil (CUT / camera->scale);
  scene->left = tm_camera_element_x (camera, 0) - margin;
  scene->top = tm_camera_element_y (camera, 0) - margin;
  scene->right = tm_camera_element_x (camera, MAX (camera->width - 1, 0)) + margin + 1;
  scene->bottom = tm_camera_element_y (camera, MAX (camera->height - 1, 0)) + margin + 1;
  memset (scene->dtype_count, 0, sizeof scene->dtype_count);
  memset (&scene->legend, 0, sizeof scene->legend);
  scene->legend.tensor = G_MAXUINT;
  scene->middle = TM_NO_BOX;
  scene->legend.pixels_per_element = camera->scale;

  TmModel *model = view->layout != NULL ? view->layout->model : NULL;
  if (model != scene->model || g_hash_table_size (scene->boundaries) > MAX_BOUNDARIES)
    {
      g_hash_table_remove_all (scene->boundaries);
      g_set_object (&scene->model, model);
    }
}

/* A tensor that is what one looks at: a good part of the picture, or nearly all of one of its sides. */
static gboolean
fills_the_view (const TmScene *scene, const TmBox *box)
{
  const TmCamera *camera = &scene->view->camera;
  TmPixels at = tm_scene_to_pixels (scene, box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height);
  int width = MIN (at.x + at.width, camera->width) - MAX (at.x, 0),
      height = MIN (at.y + at.height, camera->height) - MAX (at.y, 0);
  return (double) width * height >= 0.18 * camera->width * camera->height || width >= 0.75 * camera->width
         || height >= 0.75 * camera->height;
}

/* What fills the middle of the view decides what the legend says and whose axes have numbers. */
static void
look_at_the_middle (TmScene *scene)
{
  const TmView *view = scene->view;
  const TmLayout *layout = view->layout;
  TmLegend *legend = &scene->legend;
  legend->depth = TM_DEPTH_ARCHITECTURE;
  guint index = tm_layout_pick (layout, tm_camera_element_x (&view->camera, view->camera.width / 2),
                                tm_camera_element_y (&view->camera, view->camera.height / 2));
  if (index == TM_NO_BOX || tm_layout_box (layout, index)->kind != TM_BOX_TENSOR)
    return;
  const TmBox *box = tm_layout_box (layout, index);
  const TmTensor *tensor = tm_model_tensor (layout->model, box->tensor);
  legend->tensor = box->tensor;
  legend->raw_and_value = tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW);
  if (!tm_scene_sheet_is_shown (scene, box))
    return;
  if (scene->scale >= TM_MIN_CELL * scene->ds)
    legend->depth = TM_DEPTH_CELLS;
  else if (fills_the_view (scene, box))
    legend->depth = TM_DEPTH_HEAT_MAP;
  else
    return;

  legend->runs = tm_scene_get_boundaries (scene, box->tensor, &box->sheet);
  TmQuantity quantity;
  if (tm_scene_get_quantity (view->overlay, tensor, &quantity))
    legend->palette = tm_scene_get_palette (view, quantity);
  for (guint i = 0; view->boundaries && legend->runs != NULL && i < legend->runs->n_runs; i++)
    {
      const TmRun *run = &legend->runs->run[i];
      gint64 extent = (gint64) (run->kind == TM_RUN_FLAT ? MIN (run->flat, legend->runs->columns)
                                : run->columns < legend->runs->columns || run->column_runs != NULL ? run->columns
                                                                                                   : run->rows);
      legend->level_visible[i]
          = tm_ruler_line_strength (tm_scene_length (scene, MAX (extent, 1)) / scene->ds, run->width) > 0;
    }
  if (tm_scene_has_axes (scene, box))
    scene->middle = index;
}

static void
count_dtypes (TmScene *scene)
{
  TmLegend *legend = &scene->legend;
  for (legend->n_dtypes = 0; legend->n_dtypes < G_N_ELEMENTS (legend->dtypes); legend->n_dtypes++)
    {
      guint most = 0;
      for (guint i = 1; i < TM_N_DTYPES; i++)
        if (scene->dtype_count[i] > scene->dtype_count[most])
          most = i;
      if (scene->dtype_count[most] == 0)
        return;
      legend->dtypes[legend->n_dtypes] = most;
      scene->dtype_count[most] = 0;
    }
}

void
tm_scene_update (TmScene *scene, const TmView *view)
{
  begin (scene, view);
  if (view->layout != NULL && view->layout->boxes->len > 0 && view->camera.scale > 0)
    {
      TmTiles *tiles[] = { view->tiles, view->error_tiles, view->kind_tiles };
      for (guint i = 0; i < G_N_ELEMENTS (tiles); i++)
        if (tiles[i] != NULL)
          tm_tiles_begin (tiles[i]);
      look_at_the_middle (scene);
      tm_scene_add_boxes (scene);
      tm_scene_add_lines (scene);
      if (scene->middle != TM_NO_BOX)
        tm_scene_add_axes (scene, tm_layout_box (view->layout, scene->middle), scene->legend.runs);
      tm_scene_add_selection (scene);
      for (guint i = 0; i < G_N_ELEMENTS (tiles); i++)
        if (tiles[i] != NULL)
          tm_tiles_end (tiles[i]);
      count_dtypes (scene);
    }
  tm_scene_finish (scene);
  scene->view = NULL;
}
