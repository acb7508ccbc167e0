/* The canvas in a window on a virtual display: real pointer and keys by xdotool, what they did read from the widget. */
#include "ui/canvas-private.h"

#include "recognise/recognise.h"
#include "ui/canvas-record.h"

#include <string.h>

typedef struct
{
  TmDocument *document;
  GtkWidget *window;
  TmCanvas *canvas;
  char *id; /* X11 window, as xdotool wants it */
} Fixture;

static TmRenderer renderer = TM_RENDERER_AUTO;

/* --- Waiting and pointing ---------------------------------------------------------------------------------------- */

static void
spin (guint ms)
{
  gint64 end = g_get_monotonic_time () + ms * 1000;

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

/* Until nothing happened for a while: a slow machine gets the time it needs. */
static void
spin_down (void)
{
  gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC, quiet = g_get_monotonic_time () + 60 * 1000;

  while (g_get_monotonic_time () < MIN (quiet, end))
    if (g_main_context_iteration (NULL, FALSE))
      quiet = g_get_monotonic_time () + 60 * 1000;
    else
      g_usleep (1000);
}

#define WAIT(condition) \
  G_STMT_START \
  { \
    gint64 end_ = g_get_monotonic_time () + 40 * G_USEC_PER_SEC; \
    while (!(condition) && g_get_monotonic_time () < end_) \
      spin (5); \
    g_assert_true (condition); \
  } \
  G_STMT_END

static void G_GNUC_PRINTF (1, 2)
xdo (const char *format, ...)
{
  va_list args;
  g_autofree char *arguments = NULL, *command = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  va_start (args, format);
  arguments = g_strdup_vprintf (format, args);
  va_end (args);
  command = g_strdup_printf ("xdotool %s", arguments);
  g_spawn_command_line_sync (command, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  spin_down ();
}

/* A point of the plane in the X window's coordinates; without decorations they differ by the canvas's place only. */
static void
point_at (Fixture *fixture, double x, double y)
{
  graphene_point_t at = GRAPHENE_POINT_INIT ((float) x, (float) y), in_window;
  double left, top;

  g_assert_true (gtk_widget_compute_point (GTK_WIDGET (fixture->canvas->plane), fixture->window, &at, &in_window));
  gtk_native_get_surface_transform (GTK_NATIVE (fixture->window), &left, &top);
  xdo ("mousemove --window %s %d %d", fixture->id, (int) (in_window.x + left), (int) (in_window.y + top));
}

static void
settle (Fixture *fixture)
{
  WAIT (!fixture->canvas->motion.source);
  spin (120);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = tm_open_model (g_getenv ("SAMPLE"), NULL, &error);
  g_autofree char *found = NULL;
  int status;

  g_assert_no_error (error);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  fixture->document = tm_document_new ();
  fixture->window = gtk_window_new ();
  gtk_window_set_title (GTK_WINDOW (fixture->window), "canvas-test");
  gtk_window_set_decorated (GTK_WINDOW (fixture->window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 900, 700);
  fixture->canvas = TM_CANVAS (tm_canvas_new (fixture->document, renderer));
  gtk_window_set_child (GTK_WINDOW (fixture->window), GTK_WIDGET (fixture->canvas));
  gtk_window_present (GTK_WINDOW (fixture->window));
  tm_document_set_model (fixture->document, model);
  WAIT (tm_document_get_layout (fixture->document) && fixture->canvas->camera_ready && fixture->canvas->n_frames > 0);
  g_spawn_command_line_sync ("xdotool search --sync --onlyvisible --name ^canvas-test$", &found, NULL, &status, &error);
  g_assert_no_error (error);
  fixture->id = g_strdup (strrchr (g_strchomp (found), '\n') ? strrchr (found, '\n') + 1 : found);
  xdo ("windowactivate --sync %s", fixture->id);
  gtk_widget_grab_focus (GTK_WIDGET (fixture->canvas));
  point_at (fixture, 5, 300);
  spin (100);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  spin (30);
  g_assert_finalize_object (fixture->document);
  g_free (fixture->id);
}

static guint
tensor_named (Fixture *fixture, const char *name)
{
  gint64 index = tm_model_find_tensor (tm_document_get_model (fixture->document), name);

  g_assert_cmpint (index, >=, 0);
  return (guint) index;
}

static void
go_to (Fixture *fixture, const char *address)
{
  g_autoptr (GError) error = NULL;

  tm_document_go_to (fixture->document, address, &error);
  g_assert_no_error (error);
  WAIT (!fixture->canvas->fly_pending);
  settle (fixture);
}

static char *
selected (Fixture *fixture)
{
  return tm_address_format (tm_document_get_model (fixture->document), tm_document_get_selection (fixture->document));
}

#define assert_selected(fixture, expected) \
  G_STMT_START \
  { \
    g_autofree char *is_ = selected (fixture); \
    for (guint tries_ = 0; tries_ < 500 && !g_str_equal (is_, expected); tries_++) \
      { \
        spin (10); \
        g_free (is_); \
        is_ = selected (fixture); \
      } \
    g_assert_cmpstr (is_, ==, expected); \
  } \
  G_STMT_END

/* --- Tests ------------------------------------------------------------------------------------------------------- */

static void
test_opens_whole (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  const TmBox *model = tm_layout_box (canvas->layout, 0);

  g_assert_cmpstr (canvas->label, ==, "Model sample.gguf, 57 tensors, architecture; nothing selected");
  g_assert_cmpfloat (tm_camera_pixel_x (&canvas->camera, model->x), >, 0);
  g_assert_cmpfloat (tm_camera_pixel_y (&canvas->camera, model->y), >, 0);
  g_assert_cmpfloat (tm_camera_pixel_x (&canvas->camera, model->x + model->width), <, canvas->camera.width);
  g_assert_cmpfloat (tm_camera_pixel_y (&canvas->camera, model->y + model->height), <, canvas->camera.height);
}

static void
test_click (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  guint tensor = tensor_named (fixture, "blk.2.attn_q.weight"), got;
  g_autofree char *spoken = NULL;
  guint64 flat;
  TmHit hit;

  go_to (fixture, "blk.2.attn_q.weight");
  hit = tm_canvas_pick (canvas, 451, 340);
  g_assert_true (hit.has_element);
  point_at (fixture, 451, 340);
  xdo ("click 1");
  g_assert_true (tm_document_get_scalar (fixture->document, &got, &flat));
  g_assert_cmpuint (got, ==, tensor);
  g_assert_cmpuint (flat, ==, hit.flat);
  WAIT (canvas->selected && canvas->selected->ready);
  spoken = g_strdup_printf ("blk.2.attn_q.weight, Q4_K, heat map; scalar %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                            ": raw %s, dequantized %s",
                            flat / 256, flat % 256, canvas->selected->raw, canvas->selected->value);
  g_assert_cmpstr (canvas->label, ==, spoken);
}

/* Exact at every zoom: the origin moves by whole pixels, the element under the pointer goes along. */
static void
test_drag (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  const double scales[] = { 0.07, 1.0, 3.7, 71.0 };

  go_to (fixture, "blk.2.ffn_up.weight[300,100]");
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    for (guint button = 1; button <= 2; button++)
      {
        TmCamera before;

        tm_camera_zoom (&canvas->camera, scales[i] / canvas->camera.scale, 450, 350);
        tm_canvas_camera_changed (canvas);
        before = canvas->camera;
        point_at (fixture, 400, 330);
        xdo ("mousedown %u sleep .05 mousemove_relative 31 -17 sleep .05 mousemove_relative -- -4 90 sleep .05 mouseup %u",
             button, button);
        g_assert_true (canvas->camera.x0 == before.x0 - 2 * 27 * (__int128) before.d);
        g_assert_true (canvas->camera.y0 == before.y0 - 2 * 73 * (__int128) before.d);
        g_assert_cmpint (tm_camera_element_x (&canvas->camera, 427), ==, tm_camera_element_x (&before, 400));
        g_assert_cmpint (tm_camera_element_y (&canvas->camera, 403), ==, tm_camera_element_y (&before, 330));
      }
  assert_selected (fixture, "blk.2.ffn_up.weight[300,100]"); /* a drag selects nothing */
}

static void
test_wheel (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  TmHit before, after;
  double scale;

  go_to (fixture, "blk.2.ffn_up.weight");
  point_at (fixture, 460, 240);
  before = tm_canvas_pick (canvas, 460, 240);
  scale = canvas->camera.scale;
  g_assert_true (before.has_element);
  xdo ("click --repeat 6 --delay 20 4");
  g_assert_cmpfloat (canvas->camera.scale, >, 3 * scale);
  after = tm_canvas_pick (canvas, 460, 240);
  g_assert_cmpuint (after.flat, ==, before.flat);
  xdo ("click --repeat 6 --delay 20 5");
  g_assert_cmpfloat_with_epsilon (canvas->camera.scale, scale, scale * 1e-9);
  after = tm_canvas_pick (canvas, 460, 240);
  g_assert_cmpuint (after.flat, ==, before.flat);
  xdo ("keydown ctrl click 4 keyup ctrl");
  g_assert_cmpfloat (canvas->camera.scale, >, scale);
}

static void
test_shift_wheel (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  TmCamera before;

  point_at (fixture, 460, 240);
  before = canvas->camera;
  xdo ("keydown shift click 5 keyup shift");
  g_assert_cmpfloat (canvas->camera.scale, ==, before.scale);
  g_assert_true (canvas->camera.y0 == before.y0);
  g_assert_true (canvas->camera.x0 > before.x0);
}

static void
test_double_click (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  const TmBox *box = tm_canvas_get_tensor_box (canvas, tensor_named (fixture, "blk.2.ffn_up.weight"));
  double x = tm_camera_pixel_x (&canvas->camera, box->sheet_x + box->sheet.width / 2);
  double y = tm_camera_pixel_y (&canvas->camera, box->sheet_y + box->sheet.height / 2);

  point_at (fixture, x, y);
  xdo ("click 1");
  assert_selected (fixture, "blk.2.ffn_up.weight");
  spin (600); /* so that the next is no double click of both */
  xdo ("click --repeat 2 --delay 50 1");
  settle (fixture);
  g_assert_cmpint (tm_scene_get_legend (canvas->scene)->depth, ==, TM_DEPTH_HEAT_MAP);
  g_assert_cmpfloat (tm_camera_pixel_y (&canvas->camera, box->sheet_y), >, 0);
  g_assert_cmpfloat (tm_camera_pixel_y (&canvas->camera, box->sheet_y + box->sheet.height), <, canvas->camera.height);
  spin (600);
  point_at (fixture, canvas->camera.width / 2, canvas->camera.height / 2);
  xdo ("click --repeat 2 --delay 50 1");
  settle (fixture);
  g_assert_cmpint (tm_scene_get_legend (canvas->scene)->depth, ==, TM_DEPTH_CELLS);
  g_assert_cmpint (tm_document_get_selection (fixture->document)->within, ==, TM_WITHIN_INDEX);
}

static gboolean
find_badge (TmCanvas *canvas, int *x, int *y)
{
  for (*y = 0; *y < canvas->camera.height; *y += 4)
    for (*x = 0; *x < canvas->camera.width; *x += 4)
      if (tm_canvas_pick (canvas, *x, *y).badge)
        return TRUE;
  return FALSE;
}

static void
test_badge (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  const TmLayout *old;
  const TmBox *card;
  gint64 dx, dy;
  TmModule *module;
  int x = 0, y = 0;

  go_to (fixture, "blk.0-1");
  g_assert_true (find_badge (canvas, &x, &y));
  card = tm_canvas_get_box (canvas, tm_canvas_pick (canvas, x, y).box);
  module = card->module;
  dx = tm_camera_element_x (&canvas->camera, x) - card->x;
  dy = tm_camera_element_y (&canvas->camera, y) - card->y;
  old = canvas->layout;
  point_at (fixture, x, y);
  xdo ("click 1");
  WAIT (canvas->layout != old);
  spin (100);
  g_assert_true (tm_document_get_unfolded (fixture->document, module->path));
  card = tm_canvas_get_box (canvas, tm_layout_find_module (canvas->layout, module));
  g_assert_cmpuint (card->fold_count, <, 2);
  /* The same point of the card is under the pointer, to the pixel. */
  g_assert_cmpfloat_with_epsilon (tm_camera_pixel_x (&canvas->camera, card->x + dx), x, 1);
  g_assert_cmpfloat_with_epsilon (tm_camera_pixel_y (&canvas->camera, card->y + dy), y, 1);
}

static void
test_fold_keys (Fixture *fixture, gconstpointer data)
{
  const TmLayout *old = fixture->canvas->layout;

  go_to (fixture, "blk.3-4");
  xdo ("key Return");
  WAIT (fixture->canvas->layout != old);
  g_assert_true (tm_document_get_unfolded (fixture->document, "blk.3"));
}

static void
test_hidden (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  guint tensor = tensor_named (fixture, "blk.1.attn_v.weight");
  const TmBox *box;

  g_assert_null (tm_canvas_get_tensor_box (canvas, tensor));
  tm_document_select_tensor (fixture->document, tensor, TRUE);
  WAIT (tm_canvas_get_tensor_box (canvas, tensor));
  WAIT (!canvas->fly_pending);
  settle (fixture);
  box = tm_canvas_get_tensor_box (canvas, tensor);
  g_assert_cmpuint (tm_scene_get_legend (canvas->scene)->tensor, ==, tensor);
  g_assert_cmpfloat (tm_camera_pixel_x (&canvas->camera, box->sheet_x), >, 0);
}

static void
test_keys (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  double scale;

  go_to (fixture, "blk.2.attn_q.weight[37,100]");
  xdo ("key Right");
  assert_selected (fixture, "blk.2.attn_q.weight[37,101]");
  xdo ("key Down Left Left");
  assert_selected (fixture, "blk.2.attn_q.weight[38,99]");
  xdo ("key shift+Right");
  assert_selected (fixture, "blk.2.attn_q.weight[38,128]");
  xdo ("key shift+Left");
  assert_selected (fixture, "blk.2.attn_q.weight[38,96]");
  xdo ("key Right g");
  assert_selected (fixture, "blk.2.attn_q.weight[38,96]");
  /* The camera follows, and no further than it must. */
  xdo ("key --repeat 12 --delay 20 Right");
  settle (fixture);
  g_assert_cmpint (tm_scene_get_legend (canvas->scene)->depth, ==, TM_DEPTH_CELLS);
  {
    const TmBox *box = tm_canvas_get_tensor_box (canvas, tensor_named (fixture, "blk.2.attn_q.weight"));
    double x = tm_camera_pixel_x (&canvas->camera, box->sheet_x + 108);

    assert_selected (fixture, "blk.2.attn_q.weight[38,108]");
    g_assert_cmpfloat (x, >, 0);
    g_assert_cmpfloat (x + canvas->camera.scale, <, canvas->camera.width);
  }
  scale = canvas->camera.scale;
  xdo ("key plus");
  g_assert_cmpfloat (canvas->camera.scale, >, scale);
  xdo ("key minus");
  g_assert_cmpfloat_with_epsilon (canvas->camera.scale, scale, scale * 1e-9);
  xdo ("key 0");
  g_assert_cmpfloat (canvas->camera.scale, ==, 1);
  xdo ("key Home");
  g_assert_cmpint (tm_scene_get_legend (canvas->scene)->depth, ==, TM_DEPTH_ARCHITECTURE);
  xdo ("key f");
  settle (fixture);
  g_assert_cmpint (tm_scene_get_legend (canvas->scene)->depth, ==, TM_DEPTH_CELLS);
}

static void
test_neighbours (Fixture *fixture, gconstpointer data)
{
  tm_document_select_tensor (fixture->document, tensor_named (fixture, "blk.2.ffn_gate.weight"), FALSE);
  xdo ("key Right");
  assert_selected (fixture, "blk.2.ffn_up.weight");
  xdo ("key Left");
  assert_selected (fixture, "blk.2.ffn_gate.weight");
}

static void
test_region (Fixture *fixture, gconstpointer data)
{
  const TmAddress *selection;
  TmHit from, to;

  go_to (fixture, "blk.2.attn_q.weight");
  from = tm_canvas_pick (fixture->canvas, 400, 300);
  to = tm_canvas_pick (fixture->canvas, 370, 350);
  point_at (fixture, 400, 300);
  xdo ("keydown shift mousedown 1 sleep .05 mousemove_relative -- -20 20 sleep .05 mousemove_relative -- -10 30 sleep .05 "
       "mouseup 1 keyup shift");
  selection = tm_document_get_selection (fixture->document);
  g_assert_cmpint (selection->within, ==, TM_WITHIN_REGION);
  g_assert_cmpuint (selection->start[0], ==, from.flat / 256);
  g_assert_cmpuint (selection->end[0], ==, to.flat / 256 + 1);
  g_assert_cmpuint (selection->start[1], ==, to.flat % 256);
  g_assert_cmpuint (selection->end[1], ==, from.flat % 256 + 1);
  xdo ("key Escape");
  assert_selected (fixture, "blk.2.attn_q.weight");
}

static void
test_hover (Fixture *fixture, gconstpointer data)
{
  const TmAddress *hover;

  go_to (fixture, "blk.2.attn_q.weight[37,100]");
  point_at (fixture, fixture->canvas->camera.width / 2, fixture->canvas->camera.height / 2);
  hover = tm_document_get_hover (fixture->document);
  g_assert_nonnull (hover);
  g_assert_cmpint (hover->within, ==, TM_WITHIN_INDEX);
  g_assert_cmpuint (hover->start[0], ==, 37);
  g_assert_cmpuint (hover->start[1], ==, 100);
}

static void
test_flight (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  g_autofree char *said = NULL;
  TmCamera stopped;

  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", TRUE, NULL);
  point_at (fixture, 450, 350);
  tm_document_select_tensor (fixture->document, tensor_named (fixture, "blk.2.attn_q.weight"), TRUE);
  g_assert_cmpuint (canvas->motion.source, !=, 0);
  /* Held in the air: on a slow machine it would have landed before the button is down. */
  WAIT (canvas->motion.start != 0);
  canvas->motion.start = g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC;
  spin (50);
  g_assert_cmpuint (canvas->motion.source, !=, 0);
  xdo ("mousedown 1"); /* any input ends it where it is */
  WAIT (canvas->motion.source == 0);
  stopped = canvas->camera;
  g_assert_true (stopped.d != canvas->motion.to.d);
  spin (300);
  g_assert_true (canvas->camera.x0 == stopped.x0 && canvas->camera.d == stopped.d);
  xdo ("mouseup 1");
  tm_document_select_tensor (fixture->document, tensor_named (fixture, "blk.2.attn_v.weight"), TRUE);
  WAIT (!canvas->motion.source && tm_scene_get_legend (canvas->scene)->depth == TM_DEPTH_HEAT_MAP);
  /* What is written beside the picture is about where it landed. */
  said = g_strdup_printf ("1 element = %.4g px", canvas->camera.scale);
  WAIT (g_str_equal (gtk_label_get_text (GTK_LABEL (canvas->zoom)), said));
  WAIT (strstr (canvas->label, "blk.2.attn_v.weight, Q8_0, heat map"));
}

/* Nothing moves, nothing arrives: nothing is drawn. */
static void
test_rest (Fixture *fixture, gconstpointer data)
{
  guint frames;

  go_to (fixture, "blk.2.attn_q.weight");
  WAIT (tm_tiles_count_pending (tm_document_get_tiles (fixture->document)) == 0);
  spin (600);
  frames = fixture->canvas->n_frames;
  spin (500);
  g_assert_cmpuint (fixture->canvas->n_frames, ==, frames);
}

/* A window that moves to another screen, a pane that is reparented: the context is lost and made again. */
static void
test_realize_twice (Fixture *fixture, gconstpointer data)
{
  guint frames;

  g_object_ref (fixture->canvas);
  for (guint i = 0; i < 2; i++)
    {
      gtk_window_set_child (GTK_WINDOW (fixture->window), NULL);
      spin (50);
      frames = fixture->canvas->n_frames;
      gtk_window_set_child (GTK_WINDOW (fixture->window), GTK_WIDGET (fixture->canvas));
      tm_canvas_queue_frame (fixture->canvas); /* the CPU's picture outlives the window */
      WAIT (fixture->canvas->n_frames > frames);
    }
  g_object_unref (fixture->canvas);
  go_to (fixture, "blk.2.attn_q.weight");
  g_assert_cmpint (tm_scene_get_legend (fixture->canvas->scene)->depth, ==, TM_DEPTH_HEAT_MAP);
}

static void
test_resize (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  double x, y, nx, ny;

  go_to (fixture, "blk.2.attn_q.weight");
  tm_camera_get_centre (&canvas->camera, &x, &y);
  xdo ("windowsize --sync %s 700 560", fixture->id);
  WAIT (canvas->camera.width == 700);
  tm_camera_get_centre (&canvas->camera, &nx, &ny);
  g_assert_cmpfloat_with_epsilon (x, nx, 1 / canvas->camera.scale);
  g_assert_cmpfloat_with_epsilon (y, ny, 1 / canvas->camera.scale);
}

/* What legend and labels do not cover belongs to the plane. */
static void
test_floats (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  graphene_rect_t legend, zoom;
  GtkWidget *picked;

  go_to (fixture, "blk.2.attn_q.weight");
  spin (200);
  g_assert_true (gtk_widget_compute_bounds (canvas->legend, GTK_WIDGET (canvas), &legend));
  g_assert_true (gtk_widget_compute_bounds (canvas->zoom, GTK_WIDGET (canvas), &zoom));
  g_assert_cmpfloat (legend.origin.x + legend.size.width + 8, <, zoom.origin.x);
  picked = gtk_widget_pick (GTK_WIDGET (canvas), (legend.origin.x + legend.size.width + zoom.origin.x) / 2,
                            zoom.origin.y + zoom.size.height / 2, GTK_PICK_DEFAULT);
  g_assert_true (picked && (picked == GTK_WIDGET (canvas->plane) || gtk_widget_is_ancestor (picked, GTK_WIDGET (canvas->plane))));
}

/* A model cannot be lost by zooming out. */
static void
test_zoom_limits (Fixture *fixture, gconstpointer data)
{
  TmCanvas *canvas = fixture->canvas;
  const TmBox *model = tm_layout_box (canvas->layout, 0);

  point_at (fixture, 450, 350);
  xdo ("click --repeat 40 --delay 5 5");
  g_assert_cmpfloat (tm_camera_pixel_y (&canvas->camera, model->y + model->height) - tm_camera_pixel_y (&canvas->camera, model->y),
                     >, 50);
  xdo ("click --repeat 120 --delay 5 4");
  g_assert_cmpfloat (canvas->camera.scale, ==, TM_MAX_SCALE);
}

static void
test_empty (Fixture *fixture, gconstpointer data)
{
  tm_document_set_model (fixture->document, NULL);
  spin (100);
  xdo ("key Right shift+Right Return plus 0 f Home bracketright Escape");
  point_at (fixture, 450, 350);
  xdo ("click 1 click 4 click 3");
  g_assert_cmpstr (fixture->canvas->label, ==, "Canvas, no model open");
}

static void
add (const char *name, void (*test) (Fixture *, gconstpointer))
{
  g_test_add (name, Fixture, NULL, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  if (!gtk_init_check ())
    return 77;
  if (g_getenv ("TENSORMORPH_TEST_CPU"))
    renderer = TM_RENDERER_CPU;
  g_test_init (&argc, &argv, NULL);
  add ("/canvas/opens-whole", test_opens_whole);
  add ("/canvas/click", test_click);
  add ("/canvas/drag", test_drag);
  add ("/canvas/wheel", test_wheel);
  add ("/canvas/shift-wheel", test_shift_wheel);
  add ("/canvas/double-click", test_double_click);
  add ("/canvas/badge", test_badge);
  add ("/canvas/fold-keys", test_fold_keys);
  add ("/canvas/hidden", test_hidden);
  add ("/canvas/keys", test_keys);
  add ("/canvas/neighbours", test_neighbours);
  add ("/canvas/region", test_region);
  add ("/canvas/hover", test_hover);
  add ("/canvas/flight", test_flight);
  add ("/canvas/rest", test_rest);
  add ("/canvas/realize-twice", test_realize_twice);
  add ("/canvas/resize", test_resize);
  add ("/canvas/floats", test_floats);
  add ("/canvas/zoom-limits", test_zoom_limits);
  add ("/canvas/empty", test_empty);
  return g_test_run ();
}
