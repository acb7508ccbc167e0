/* Axis numbers along the edges of the tensor in the middle of the view. Where an edge is off the screen they stand on a
 * strip along the view's own edge. */
#include "view/scene-private.h"

#include <math.h>
#include <string.h>

#define TEXT_PX 11
#define STRIP 18
#define MIN_SIDE 180 /* pane's longer side from which it has numbers */

/* The finest boundary on an axis that repeats with one extent: numbers stand on its multiples. 1 if there is none. */
static guint64
get_extent (const TmBoundaries *boundaries, gboolean rows)
{
  for (guint i = 0; boundaries != NULL && i < boundaries->n_runs; i++)
    {
      const TmRun *run = &boundaries->run[i];
      guint64 extent = rows ? run->rows : run->columns, length = rows ? boundaries->slice_rows : boundaries->columns;
      if (run->kind == TM_RUN_RECTANGLE && extent > 1 && extent < length
          && (rows ? run->row_runs : run->column_runs) == NULL)
        return extent;
    }
  return 1;
}

static guint64
choose_step (guint64 extent, double scale, double least)
{
  guint64 step = 1;
  if ((double) extent * scale >= least)
    { /* between the boundaries there is room too: halves of a power of two, else the boundaries themselves */
      step = extent;
      while (step % 2 == 0 && (double) (step / 2) * scale >= least)
        step /= 2;
      return step;
    }
  if (extent > 1)
    step = extent;
  while ((double) step * scale < least && step < G_MAXUINT64 / 4)
    step *= 2;
  return step;
}

static const char *
format_number (TmScene *scene, guint64 n)
{
  return tm_scene_format (scene, "%" G_GUINT64_FORMAT, n);
}

/* Where columns stand sorted by group, a cell has its column's own number and an edge that of the group behind it. */
static const char *
format_column (TmScene *scene, const TmSheet *sheet, const TmGranularity *granularity, guint64 e, gboolean cells)
{
  if (sheet->order == NULL)
    return format_number (scene, e);
  if (e >= sheet->columns)
    return "";
  guint32 logical = sheet->order->logical[e];
  return cells ? format_number (scene, logical) : tm_scene_format (scene, "group %u", granularity->table[logical]);
}

static void
add_columns (TmScene *scene, const TmSheet *sheet, const TmGranularity *granularity, gint64 x0, guint64 length, guint64 step,
             TmPixels at, int strip_left)
{
  const TmView *view = scene->view;
  const TmTheme *theme = view->theme;
  int size = TEXT_PX * scene->ds, ds = scene->ds;
  gboolean cells = scene->scale >= 16 * ds, strip = at.y < STRIP * ds;
  int baseline = strip ? 13 * ds : at.y - 9 * ds;
  if (strip)
    {
      tm_scene_rect (scene, TM_LAYER_STRIP, 0, 0, view->camera.width, STRIP * ds, theme->background);
    }
  guint64 first = (guint64) MAX (scene->left - x0, 0) / step * step;
  gboolean last_done = FALSE;
  for (guint64 e = first; e < length + step; e += step)
    {
      if (e >= length)
        { /* the end itself, where it does not stand on the number before */
          if (cells || last_done)
            break;
          last_done = TRUE;
          if (length % step != 0 && tm_scene_length (scene, (gint64) (length % step)) < 44 * ds)
            break;
          e = length;
        }
      double x = tm_camera_pixel_x (&view->camera, x0 + (gint64) e) + (cells ? scene->scale * 0.5 : 0);
      if (x > view->camera.width + 40)
        break;
      if (x < strip_left)
        continue;
      tm_scene_text_on_layer (scene, TM_LAYER_STRIP_TEXT, (int) x, baseline, 0, TM_FONT_MONO, size, TM_ALIGN_CENTRE,
                              theme->text_dim, format_column (scene, sheet, granularity, e, cells));
      if (!strip && !cells)
        tm_scene_rect (scene, TM_LAYER_LINE, tm_camera_snap_x (&view->camera, x0 + (gint64) e) - (e == length ? ds : 0),
                       at.y - 6 * ds, ds, 5 * ds, theme->text_dim);
      if (e == length)
        break;
    }
}

static void
add_rows (TmScene *scene, gint64 y0, guint64 length, guint64 step, guint64 factor, TmPixels at, int strip_width,
          int strip_top)
{
  const TmView *view = scene->view;
  const TmTheme *theme = view->theme;
  int size = TEXT_PX * scene->ds, ds = scene->ds;
  gboolean cells = scene->scale >= 16 * ds, strip = at.x < strip_width;
  int right = strip ? strip_width - 5 * ds : at.x - 9 * ds;
  if (strip)
    {
      tm_scene_rect (scene, TM_LAYER_STRIP, 0, strip_top, strip_width, view->camera.height - strip_top,
                     theme->background);
    }
  guint64 first = (guint64) MAX (scene->top - y0, 0) / step * step;
  for (guint64 e = first; e < length + step; e += step)
    {
      gboolean last = e >= length;
      if (last && (cells || (length % step != 0 && tm_scene_length (scene, (gint64) (length % step)) < 16 * ds)))
        break;
      e = MIN (e, length);
      double y = tm_camera_pixel_y (&view->camera, y0 + (gint64) e) + (cells ? scene->scale * 0.5 : 0);
      if (y > view->camera.height + 20)
        break;
      if (y >= strip_top)
        {
          tm_scene_text_on_layer (scene, TM_LAYER_STRIP_TEXT, right, (int) y + 4 * ds, 0, TM_FONT_MONO, size,
                                  TM_ALIGN_RIGHT, theme->text_dim, format_number (scene, e * factor));
          if (!strip && !cells)
            tm_scene_rect (scene, TM_LAYER_LINE, at.x - 6 * ds,
                           tm_camera_snap_y (&view->camera, y0 + (gint64) e) - (last ? ds : 0), 5 * ds, ds,
                           theme->text_dim);
        }
      if (last)
        break;
    }
}

gboolean
tm_scene_has_axes (const TmScene *scene, const TmBox *box)
{
  const TmSheet *sheet = &box->sheet;
  const TmCamera *camera = &scene->view->camera;
  if (sheet->n_panes == 0 || sheet->rows == 0 || sheet->columns == 0)
    return FALSE;
  double width = tm_scene_length (scene, (gint64) sheet->columns),
         height = tm_scene_length (scene, (gint64) sheet->rows);
  /* Between the panes of a stack there is no room for numbers: one of them must be what one looks at. */
  if (sheet->n_panes > 1 && width < 0.6 * camera->width && height < 0.6 * camera->height)
    return FALSE;
  return MAX (width, height) >= MIN_SIDE * scene->ds;
}

void
tm_scene_add_axes (TmScene *scene, const TmBox *box, const TmBoundaries *boundaries)
{
  const TmView *view = scene->view;
  const TmSheet *sheet = &box->sheet;
  /* Of a stack, the pane that is in the middle. */
  gint64 cx = tm_camera_element_x (&view->camera, view->camera.width / 2) - box->sheet_x;
  gint64 cy = tm_camera_element_y (&view->camera, view->camera.height / 2) - box->sheet_y;
  gint64 step_x = (gint64) (sheet->columns + sheet->gap), step_y = (gint64) (sheet->rows + sheet->gap);
  gint64 across = (gint64) MAX (sheet->panes_across, 1);
  gint64 pane
      = CLAMP (cy / step_y, 0, ((gint64) sheet->n_panes - 1) / across) * across + CLAMP (cx / step_x, 0, across - 1);
  if (pane >= (gint64) sheet->n_panes)
    return;
  gint64 x, y;
  tm_sheet_get_pane_origin (sheet, (guint64) pane, &x, &y);
  x += box->sheet_x;
  y += box->sheet_y;
  TmPixels at = tm_scene_to_pixels (scene, x, y, (gint64) sheet->columns, (gint64) sheet->rows);

  guint64 factor = sheet->kind == TM_SHEET_WRAPPED ? sheet->columns : 1;
  const char *widest = format_number (scene, sheet->rows * factor);
  int strip_width = tm_scene_measure (scene, TM_FONT_MONO, TEXT_PX * scene->ds, widest) + 10 * scene->ds;
  int digits = (int) strlen (format_number (scene, sheet->columns));
  int strip_top = at.y < STRIP * scene->ds ? STRIP * scene->ds : 0;
  int strip_left = at.x < strip_width ? strip_width + 8 * scene->ds : -40 * scene->ds;
  if (sheet->n_panes > 1 && strip_top > 0)
    { /* the pane's own label may lie under the strip: it stands where the strips begin */
      const TmTensor *tensor = tm_model_tensor (view->layout->model, box->tensor);
      const char *label = tm_scene_format_pane (scene, tensor, (guint64) pane);
      int width = tm_scene_measure (scene, TM_FONT_MONO, TEXT_PX * scene->ds, label) + 8 * scene->ds;
      tm_scene_text_on_layer (scene, TM_LAYER_STRIP_TEXT, 4 * scene->ds, 13 * scene->ds, 0, TM_FONT_MONO,
                              TEXT_PX * scene->ds, TM_ALIGN_LEFT, view->theme->text, label);
      strip_left = MAX (strip_left, width + 12 * scene->ds);
    }
  add_rows (scene, y, sheet->rows, choose_step (get_extent (boundaries, TRUE), scene->scale, 26 * scene->ds), factor,
            at, strip_width, strip_top);
  guint64 across_extent = sheet->kind == TM_SHEET_MERGED && sheet->slice_columns > 1 ? sheet->slice_columns
                                                                                     : get_extent (boundaries, FALSE);
  const TmGranularity *granularity = tm_model_tensor (view->layout->model, box->tensor)->granularity;
  int across_digits = sheet->order != NULL ? 8 : digits; /* "group 12" */
  guint64 step = choose_step (across_extent, scene->scale, (across_digits * 7 + 24) * scene->ds);
  if (sheet->order != NULL && scene->scale < 16 * scene->ds)
    step = MAX (step, across_extent); /* a group is named once */
  add_columns (scene, sheet, granularity, x, sheet->columns, step, at, strip_left);
}
