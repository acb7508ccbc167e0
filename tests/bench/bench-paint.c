/* Frame times of both painters while panning each depth at 1600 × 1000, beside their targets. A frame is the scene made anew
 * and drawn; presenting it in a window is not in it. "all" is processor time summed over threads: on a busy machine it
 * tells what wall time cannot. */
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "paint/gl-context.h"
#include "paint/synthetic.h"
#include "ui/paint/painter.h"

enum
{
  W = 1600,
  H = 1000,
  FRAMES = 24
};

/* 20 frames a second in a window of which presentation takes 20 ms; 15 where flat blocks are on the screen. */
#define GL_TARGET 30.0
#define GL_FLAT_TARGET 46.0
#define CPU_TARGET 33.0

typedef struct
{
  TmGlyphs *glyphs;
  TmScene *scene;
  TmTheme theme;
  TmCpuPainter *cpu;
  TmGlPainter *gl;
  cairo_surface_t *surface;
  GlContext context;
} Bench;

static int
compare_times (gconstpointer a, gconstpointer b)
{
  return *(const double *) a < *(const double *) b ? -1 : *(const double *) a > *(const double *) b;
}

static double
median (double *times)
{
  qsort (times, FRAMES, sizeof *times, compare_times);
  return times[FRAMES / 2];
}

static double
now (void)
{
  return (double) g_get_monotonic_time () / 1000.0;
}

static double
used (void)
{
  struct timespec t = { 0 };
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void
measure (Bench *bench, TmModel *model, const char *name, double scale, TmOverlay overlay, gboolean flat)
{
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  TmTiles *tiles = tm_tiles_new (model, (gsize) 256 << 20, NULL, NULL);
  TmView view = { .layout = layout,
                  .tiles = tiles,
                  .theme = &bench->theme,
                  .overlay = overlay,
                  .boundaries = TRUE,
                  .device_scale = 1,
                  .hover_box = TM_NO_BOX,
                  .measure = tm_glyphs_measure,
                  .measure_data = bench->glyphs };
  const TmBox *all = tm_layout_box (layout, 0),
              *box = tm_layout_box (layout, layout->box_of_tensor[model->tensors->len > 1 ? 1 : 0]);
  tm_camera_init (&view.camera, W, H);
  if (scale > 0)
    tm_camera_set_at (&view.camera, box->sheet_x + box->sheet.width / 2, 0.1, box->sheet_y + box->sheet.height / 2, 0.2,
                      scale);
  else if (scale == 0)
    tm_camera_fit (&view.camera, all->x, all->y, all->width, all->height, 20);
  else
    tm_camera_fit (&view.camera, all->x, all->y, all->width, all->width * H / W, 20);
  settle_scene (bench->scene, &view);
  double update[FRAMES], by_gl[FRAMES], by_cpu[FRAMES], gl_used[FRAMES], cpu_used[FRAMES];
  for (int i = 0; i < FRAMES; i++)
    {
      tm_camera_pan (&view.camera, i % 2 == 0 ? 7 : -5, i % 3 == 0 ? -4 : 3);
      double t0 = now ();
      tm_scene_update (bench->scene, &view);
      double t1 = now (), u1 = used ();
      if (bench->gl != NULL)
        {
          tm_gl_painter_draw (bench->gl, W, H, bench->scene, &bench->theme, bench->glyphs);
          glFinish ();
        }
      double t2 = now (), u2 = used ();
      tm_cpu_painter_draw (bench->cpu, bench->surface, bench->scene, &bench->theme, bench->glyphs);
      double t3 = now ();
      gl_used[i] = u2 - u1;
      cpu_used[i] = used () - u2;
      update[i] = t1 - t0;
      by_gl[i] = t2 - t1;
      by_cpu[i] = t3 - t2;
    }
  guint n;
  tm_scene_get_prims (bench->scene, &n);
  double scene = median (update), gl = scene + median (by_gl), cpu = scene + median (by_cpu);
  double gl_target = flat ? GL_FLAT_TARGET : GL_TARGET;
  printf ("%-32s %6u %6.1f", name, n, scene);
  if (bench->gl != NULL)
    printf ("  %7.1f %6.1f %5.0f %-4s", gl, median (gl_used), gl_target, gl <= gl_target ? "ok" : "OVER");
  printf ("  %7.1f %6.1f %5.0f %s\n", cpu, median (cpu_used), CPU_TARGET, cpu <= CPU_TARGET ? "ok" : "OVER");
  fflush (stdout);
  tm_tiles_free (tiles);
}

int
main (void)
{
  Bench bench = { 0 };
  g_autoptr (GError) error = NULL;
  const char *why = gl_context_init (&bench.context, FALSE, 3, 3);
  if (why == NULL)
    {
      gl_context_set_size (&bench.context, W, H);
      bench.gl = tm_gl_painter_new (&error);
      why = error != NULL ? error->message : NULL;
    }
  printf ("frame while panning, %d x %d, median of %d, ms; GL: %s\n", W, H, FRAMES,
          why != NULL ? why : (const char *) glGetString (GL_RENDERER));
  printf ("%-32s %6s %6s", "", "prims", "scene");
  if (bench.gl != NULL)
    printf ("  %7s %6s %5s     ", "GL", "all", "<=");
  printf ("  %7s %6s %5s\n", "CPU", "all", "<=");
  bench.glyphs = tm_glyphs_new ();
  bench.scene = tm_scene_new ();
  bench.cpu = tm_cpu_painter_new ();
  bench.surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, W, H);
  tm_theme_init (&bench.theme, FALSE, 0);

  g_autoptr (TmModel) small = synthetic_model_new (200, 2048, 2048), large = synthetic_model_new (10000, 2048, 2048);
  measure (&bench, small, "architecture, 200 tensors", 0, TM_OVERLAY_DTYPE, FALSE);
  measure (&bench, small, "architecture, 200, near", -1, TM_OVERLAY_DTYPE, FALSE);
  measure (&bench, small, "architecture, 200, values", -1, TM_OVERLAY_VALUE, FALSE);
  measure (&bench, large, "architecture, 10 000 tensors", 0, TM_OVERLAY_DTYPE, FALSE);
  measure (&bench, large, "architecture, 10 000, near", -1, TM_OVERLAY_DTYPE, FALSE);
  g_autoptr (TmModel) nested = synthetic_tensor_new (6000, 8192, 0), flat = synthetic_tensor_new (6000, 5003, 64);
  measure (&bench, nested, "heat map, nested, 0.3 px", 0.3, TM_OVERLAY_VALUE, FALSE);
  measure (&bench, nested, "heat map, nested, 1 px", 1, TM_OVERLAY_VALUE, FALSE);
  measure (&bench, nested, "heat map, nested, 12 px", 12, TM_OVERLAY_VALUE, FALSE);
  measure (&bench, nested, "heat map, raw, 5 px", 5, TM_OVERLAY_RAW, FALSE);
  measure (&bench, flat, "heat map, flat blocks, 1 px", 1, TM_OVERLAY_VALUE, TRUE);
  measure (&bench, flat, "heat map, flat blocks, 12 px", 12, TM_OVERLAY_VALUE, TRUE);
  measure (&bench, nested, "cells, 40 px", 40, TM_OVERLAY_VALUE, FALSE);
  measure (&bench, nested, "cells, 72 px", 72, TM_OVERLAY_VALUE, FALSE);

  cairo_surface_destroy (bench.surface);
  tm_cpu_painter_free (bench.cpu);
  tm_scene_free (bench.scene);
  tm_glyphs_free (bench.glyphs);
  if (bench.gl != NULL)
    {
      tm_gl_painter_free (bench.gl);
      gl_context_clear (&bench.context);
    }
  return 0;
}
