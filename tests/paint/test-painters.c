/* Whole frames by both painters: the same list of primitives must give the same picture. */
#include <string.h>

#include "paint/gl-context.h"
#include "paint/sheet-fixture.h"
#include "paint/synthetic.h"
#include "ui/paint/painter.h"
#include "view/colormap.h"

static const gboolean es = TEST_ES;

enum
{
  W = 900,
  H = 600
};

static gboolean
begin (GlContext *gl)
{
  const char *why = gl_context_init (gl, es, 3, es ? 0 : 3);
  g_assert_cmpstr (why, ==, NULL);
  gl_context_set_size (gl, W, H);
  return TRUE;
}

static guint32 *
draw (GlContext *gl, const TmScene *scene, const TmTheme *theme)
{
  g_autoptr (GError) error = NULL;
  TmGlPainter *painter = tm_gl_painter_new (&error);
  g_assert_no_error (error);
  TmGlyphs *glyphs = tm_glyphs_new ();
  tm_gl_painter_draw (painter, W, H, scene, theme, glyphs);
  guint32 *pixels = gl_context_read (gl);
  tm_gl_painter_free (painter);
  tm_glyphs_free (glyphs);
  return pixels;
}

static guint
count_colors (const guint32 *pixels, int n)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (int i = 0; i < n; i++)
    g_hash_table_add (seen, GUINT_TO_POINTER (pixels[i]));
  return g_hash_table_size (seen);
}

/* Blending happens in fixed-function hardware with a rounding of its own, so where a partly transparent pixel (edge of a
 * letter or of a round corner, a tint) lies over another, the two may differ by 1 in 255; everything opaque may not. */
static void
compare (GlContext *gl, const TmScene *scene, const TmTheme *theme, const char *what)
{
  guint largest, n = W * H;
  g_autofree guint32 *a = draw (gl, scene, theme), *b = draw_by_cpu (scene, theme, W, H);
  guint different = count_differences (a, b, (int) n, 0, &largest);
  g_test_message ("%s: %u of %u pixels differ, by at most %u", what, different, n, largest);
  g_assert_cmpuint (largest, <=, 1);
  g_assert_cmpuint (count_colors (b, (int) n), >, 8);
}

/* What stands in the middle of an element is the colour of its kind, if it is not a boundary's or a letter's. */
static void
check_kinds (const TmScene *scene, const TmTheme *theme, TmModel *kinds, const TmBox *box, const TmCamera *camera)
{
  g_autofree guint32 *pixels = draw_by_cpu (scene, theme, W, H);
  const TmTensor *tensor = tm_model_tensor (kinds, box->tensor);
  guint right = 0, wrong = 0, seen[TM_N_KINDS] = { 0 };
  for (int y = 1; y < H; y += 3)
    for (int x = 1; x < W; x += 3)
      {
        gint64 column = tm_camera_element_x (camera, x) - box->sheet_x, row = tm_camera_element_y (camera, y) - box->sheet_y;
        float kind;
        if (column < 0 || row < 0 || column >= (gint64) box->sheet.columns || row >= (gint64) box->sheet.rows)
          continue;
        g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, (guint64) row * box->sheet.columns + (guint64) column, 1,
                                         &kind, NULL, NULL));
        gboolean same = (pixels[y * W + x] & 0xffffffu) == theme->kind[(guint) kind] >> 8;
        right += same;
        wrong += !same;
        seen[(guint) kind] += same;
      }
  g_test_message ("%u of %u pixels are of their kind's colour", right, right + wrong);
  g_assert_cmpuint (right, >, wrong); /* the others: lines, letters, axes */
  for (guint i = 0; i < TM_N_KINDS; i++)
    g_assert_cmpuint (seen[i], >, 0);
}

static void
test_model (void)
{
  GlContext gl;
  if (!begin (&gl))
    return;
  g_autoptr (TmModel) model = synthetic_model_new (48, 512, 512);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  TmTiles *tiles = tm_tiles_new (model, (gsize) 64 << 20, NULL, NULL);
  TmGlyphs *glyphs = tm_glyphs_new ();
  g_autoptr (TmScene) scene = tm_scene_new ();
  g_auto (TmAddress) selection = { 0 };
  g_assert_true (tm_address_parse (model, "blk.2.attn_q.weight[5,7]", &selection, NULL));
  const TmBox *box = tm_layout_box (layout, layout->box_of_tensor[selection.tensor]);
  g_autoptr (TmModel) kinds = synthetic_kinds_new (model);
  TmTiles *kind_tiles = tm_tiles_new (kinds, (gsize) 64 << 20, NULL, NULL);
  g_autofree TmTensorMark *marks = g_new0 (TmTensorMark, model->tensors->len);
  for (int dark = 0; dark < 2; dark++)
    {
      TmTheme theme;
      tm_theme_init (&theme, dark, 0);
      for (guint i = 0; i < model->tensors->len; i++)
        marks[i] = (TmTensorMark) { .fill = tm_theme_kind_color (&theme, i % TM_N_KINDS, 0.1 * (i % 11)), .text = "12.5 % zeros" };
      const struct
      {
        double scale;
        TmOverlay overlay;
        const char *name;
      } shot[] = {
        { 0, TM_OVERLAY_DTYPE, "whole, dtype" },   { 0, TM_OVERLAY_VALUE, "whole, value" },
        { 0.2, TM_OVERLAY_SCALE, "boxes, scale" }, { 0.5, TM_OVERLAY_NONE, "boxes, plain" },
        { 1.3, TM_OVERLAY_RAW, "heat map, raw" },  { 9, TM_OVERLAY_VALUE, "heat map, near" },
        { 70, TM_OVERLAY_VALUE, "cells" },         { 64, TM_OVERLAY_DTYPE, "cells, dtype" },
        { 0.2, TM_OVERLAY_SPARSITY, "boxes, zeros" },  { 2.2, TM_OVERLAY_SPARSITY, "heat map, zeros" },
        { 0.6, TM_OVERLAY_SPARSITY, "far, zeros" },    { 66, TM_OVERLAY_SPARSITY, "cells, zeros" },
        { 0.3, TM_OVERLAY_BACKEND, "boxes, backend" }, { 3, TM_OVERLAY_BACKEND, "near, backend" },
      };
      for (guint i = 0; i < G_N_ELEMENTS (shot); i++)
        {
          TmView view = { .layout = layout,
                          .tiles = tiles,
                          .kind_tiles = kind_tiles,
                          .marks = shot[i].overlay >= TM_OVERLAY_ERROR ? marks : NULL,
                          .theme = &theme,
                          .overlay = shot[i].overlay,
                          .boundaries = TRUE,
                          .device_scale = i == 3 ? 2 : 1,
                          .selection = &selection,
                          .hover_box = 1,
                          .measure = tm_glyphs_measure,
                          .measure_data = glyphs };
          const TmBox *all = tm_layout_box (layout, 0);
          tm_camera_init (&view.camera, W, H);
          if (shot[i].scale > 0)
            tm_camera_set_at (&view.camera, box->sheet_x + 5, 0.3, box->sheet_y + 4, 0.6, shot[i].scale);
          else
            tm_camera_fit (&view.camera, all->x, all->y, all->width, all->height, 20);
          settle_scene (scene, &view);
          compare (&gl, scene, &theme, shot[i].name);
          if (shot[i].overlay == TM_OVERLAY_SPARSITY && shot[i].scale > 1)
            check_kinds (scene, &theme, kinds, box, &view.camera);
        }
    }
  tm_tiles_free (kind_tiles);
  tm_tiles_free (tiles);
  tm_glyphs_free (glyphs);
  gl_context_clear (&gl);
}

/* One painter over many frames and a lost context: what is cached must never show through. */
static void
test_reuse (void)
{
  GlContext gl;
  if (!begin (&gl))
    return;
  g_autoptr (TmModel) model = synthetic_tensor_new (3000, 3000, 0);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  TmTiles *tiles = tm_tiles_new (model, (gsize) 16 << 20, NULL, NULL);
  TmGlyphs *glyphs = tm_glyphs_new ();
  g_autoptr (TmScene) scene = tm_scene_new ();
  g_autoptr (GError) error = NULL;
  TmGlPainter *painter = tm_gl_painter_new (&error);
  g_assert_no_error (error);
  const TmBox *box = tm_layout_box (layout, layout->box_of_tensor[0]);
  for (int i = 0; i < 14; i++)
    {
      TmTheme theme;
      tm_theme_init (&theme, i % 3 == 2, 0);
      TmView view = { .layout = layout,
                      .tiles = tiles,
                      .theme = &theme,
                      .overlay = i % 4 == 3 ? TM_OVERLAY_RAW : TM_OVERLAY_VALUE,
                      .boundaries = TRUE,
                      .device_scale = 1,
                      .hover_box = TM_NO_BOX,
                      .measure = tm_glyphs_measure,
                      .measure_data = glyphs };
      tm_camera_init (&view.camera, W, H);
      tm_camera_set_at (&view.camera, box->sheet_x + 200 * i, 0.1, box->sheet_y + 150 * i, 0.9,
                        i % 2 == 0 ? 1.0 : 50.0 / (i + 1));
      settle_scene (scene, &view);
      if (i == 7)
        { /* as when a window moves to another screen */
          tm_gl_painter_free (painter);
          gl_context_clear (&gl);
          g_assert_true (begin (&gl));
          painter = tm_gl_painter_new (&error);
          g_assert_no_error (error);
        }
      tm_gl_painter_draw (painter, W, H, scene, &theme, glyphs);
      guint largest;
      g_autofree guint32 *a = gl_context_read (&gl), *b = draw_by_cpu (scene, &theme, W, H);
      count_differences (a, b, W * H, 0, &largest);
      g_assert_cmpuint (largest, <=, 1);
    }
  tm_gl_painter_free (painter);
  tm_tiles_free (tiles);
  tm_glyphs_free (glyphs);
  gl_context_clear (&gl);
}

/* Primitives one by one: round corners, borders, tints, stripes, letters, at the edges of the picture too. */
static void
test_primitives (void)
{
  GlContext gl;
  if (!begin (&gl))
    return;
  g_autoptr (TmScene) scene = tm_scene_new ();
  TmTheme theme;
  tm_theme_init (&theme, FALSE, 0);
  for (int i = 0; i < 60; i++)
    {
      TmPrimRect *rect = tm_scene_rect (scene, TM_LAYER_BOX, i * 37 % 900 - 20, i * 53 % 600 - 20, 5 + i * 7 % 160,
                                        4 + i * 11 % 130, theme.family[i % TM_N_FAMILIES]);
      rect->radius = i % 9 * 3;
      rect->border = i % 4;
      rect->stroke = i % 5 == 0 ? theme.accent_soft : theme.line;
      if (i % 6 == 1)
        rect->fill = i % 12 == 1 ? 0 : theme.accent_soft;
      TmPrimRect *hatch = &tm_scene_add (scene, TM_LAYER_SHEET, TM_PRIM_HATCH)->as.rect;
      *hatch = (TmPrimRect) { .x = i * 71 % 900 - 9,
                              .y = i * 29 % 600 - 9,
                              .width = 30,
                              .height = 21,
                              .fill = theme.card,
                              .stroke = theme.hatch };
      tm_scene_add (scene, TM_LAYER_TEXT, TM_PRIM_TEXT)->as.text = (TmPrimText) {
        .x = i * 67 % 900,
        .y = i * 31 % 600,
        .max_width = i % 3 == 0 ? 60 : 0,
        .font = (TmFont) (i % TM_N_FONTS),
        .px = (guint) (8 + i % 13),
        .align = (TmAlign) (i % 3),
        .color = i % 2 == 0 ? theme.text : 0x3584e480,
        .text = i % 2 == 0 ? "model.layers.17.attn_output.weight" : "−0.01293 ×18 größe 重み",
      };
    }
  tm_scene_finish (scene);
  compare (&gl, scene, &theme, "primitives");
  gl_context_clear (&gl);
}

/* 100 000 boxes: one frame's list is made and is short enough to draw. */
static void
test_many_boxes (void)
{
  g_autoptr (TmModel) model = synthetic_model_new (20000, 64, 64);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  g_autoptr (TmScene) scene = tm_scene_new ();
  TmTheme theme;
  tm_theme_init (&theme, FALSE, 0);
  TmView view = { .layout = layout,
                  .theme = &theme,
                  .overlay = TM_OVERLAY_DTYPE,
                  .boundaries = TRUE,
                  .device_scale = 1,
                  .hover_box = TM_NO_BOX };
  const TmBox *all = tm_layout_box (layout, 0);
  tm_camera_init (&view.camera, W, H);
  for (double zoom = 1; zoom < 1e4; zoom *= 4)
    {
      tm_camera_fit (&view.camera, all->x, all->y, all->width, all->height, 10);
      tm_camera_zoom (&view.camera, zoom, W / 2, H / 2);
      tm_scene_update (scene, &view);
      guint n;
      tm_scene_get_prims (scene, &n);
      g_test_message ("zoom %.0f: %u primitives", zoom, n);
      g_assert_cmpuint (n, >, 0);
      g_assert_cmpuint (n, <, 120000);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/painters/primitives", test_primitives);
  g_test_add_func ("/painters/model", test_model);
  g_test_add_func ("/painters/reuse", test_reuse);
  g_test_add_func ("/painters/many-boxes", test_many_boxes);
  return g_test_run ();
}
