#include "ui/canvas-plane.h"

#include <math.h>

/* --- A page that shows what the CPU painted ---------------------------------------------------------------------- */

#define TM_TYPE_CPU_PAGE (tm_cpu_page_get_type ())
G_DECLARE_FINAL_TYPE (TmCpuPage, tm_cpu_page, TM, CPU_PAGE, GtkWidget)

struct _TmCpuPage
{
  GtkWidget parent_instance;
  TmPlane *plane; /* its parent's parent */
  TmCpuPainter *painter;
  GdkTexture *texture;
  gboolean stale;
};

struct _TmPlane
{
  GtkWidget parent_instance;
  GtkWidget *stack;
  GtkWidget *area; /* NULL without OpenGL */
  TmCpuPage *page;

  TmGlPainter *painter;
  int gl_width, gl_height;

  TmPlaneFrame make_frame;
  gpointer frame_data;

  char *why; /* why it is the CPU, or NULL */
  gboolean cpu;
  guint fall_back_source;
};

G_DEFINE_FINAL_TYPE (TmCpuPage, tm_cpu_page, GTK_TYPE_WIDGET)
G_DEFINE_FINAL_TYPE (TmPlane, tm_plane, GTK_TYPE_WIDGET)

static guint renderer_changed;

static gboolean
make_frame (TmPlane *self, int width, int height, TmFrame *frame)
{
  return self->make_frame && width > 0 && height > 0 && self->make_frame (self, width, height, frame, self->frame_data);
}

static void
paint_page (TmCpuPage *self, int width, int height)
{
  cairo_surface_t *surface;
  TmFrame frame;

  if (!make_frame (self->plane, width, height, &frame))
    return;
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  if (cairo_surface_status (surface) == CAIRO_STATUS_SUCCESS)
    {
      int stride = cairo_image_surface_get_stride (surface);
      g_autoptr (GBytes) bytes = NULL;

      if (!self->painter)
        self->painter = tm_cpu_painter_new ();
      tm_cpu_painter_draw (self->painter, surface, frame.scene, frame.theme, frame.glyphs);
      cairo_surface_flush (surface);
      bytes = g_bytes_new_with_free_func (cairo_image_surface_get_data (surface), (gsize) stride * (gsize) height,
                                          (GDestroyNotify) cairo_surface_destroy, cairo_surface_reference (surface));
      g_clear_object (&self->texture);
      self->texture = gdk_memory_texture_new (width, height, GDK_MEMORY_DEFAULT, bytes, (gsize) stride);
    }
  cairo_surface_destroy (surface);
}

static void
tm_cpu_page_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  TmCpuPage *self = TM_CPU_PAGE (widget);
  double scale = tm_plane_get_scale (self->plane);
  int width = (int) ceil (gtk_widget_get_width (widget) * scale);
  int height = (int) ceil (gtk_widget_get_height (widget) * scale);

  if (self->stale || !self->texture || gdk_texture_get_width (self->texture) != width
      || gdk_texture_get_height (self->texture) != height)
    {
      self->stale = FALSE;
      paint_page (self, width, height);
    }
  if (self->texture)
    gtk_snapshot_append_texture (snapshot, self->texture,
                                 &GRAPHENE_RECT_INIT (0, 0, (float) (gdk_texture_get_width (self->texture) / scale),
                                                      (float) (gdk_texture_get_height (self->texture) / scale)));
}

static void
tm_cpu_page_dispose (GObject *object)
{
  TmCpuPage *self = TM_CPU_PAGE (object);

  g_clear_object (&self->texture);
  g_clear_pointer (&self->painter, tm_cpu_painter_free);
  G_OBJECT_CLASS (tm_cpu_page_parent_class)->dispose (object);
}

static void
tm_cpu_page_class_init (TmCpuPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_cpu_page_dispose;
  GTK_WIDGET_CLASS (klass)->snapshot = tm_cpu_page_snapshot;
}

static void
tm_cpu_page_init (TmCpuPage *self)
{
}

/* --- OpenGL ------------------------------------------------------------------------------------------------------ */

static void
use_cpu (TmPlane *self)
{
  GtkWidget *area = g_steal_pointer (&self->area);

  self->cpu = TRUE;
  gtk_stack_set_visible_child (GTK_STACK (self->stack), GTK_WIDGET (self->page));
  if (area)
    gtk_stack_remove (GTK_STACK (self->stack), area);
  g_signal_emit (self, renderer_changed, 0, "CPU", self->why);
  tm_plane_queue_frame (self);
}

static gboolean
fall_back_idle (gpointer data)
{
  TmPlane *self = data;

  self->fall_back_source = 0;
  use_cpu (self);
  return G_SOURCE_REMOVE;
}

/* The area is in the middle of being realized or drawn when it fails: it is taken away a little later. Until then it
 * would draw the toolkit's words for the failure, so it draws nothing. */
static void
fall_back (TmPlane *self, const GError *error)
{
  if (self->fall_back_source || self->cpu)
    return;
  g_free (self->why);
  self->why = g_strdup_printf ("no OpenGL: %s", error ? error->message : "unknown reason");
  gtk_widget_set_opacity (self->area, 0);
  self->fall_back_source = g_idle_add_full (G_PRIORITY_HIGH, fall_back_idle, self, NULL);
}

static void
on_realize (GtkGLArea *area, TmPlane *self)
{
  g_autoptr (GError) error = NULL;

  gtk_gl_area_make_current (area);
  if (gtk_gl_area_get_error (area))
    {
      fall_back (self, gtk_gl_area_get_error (area));
      return;
    }
  self->painter = tm_gl_painter_new (&error);
  if (!self->painter)
    fall_back (self, error);
  else
    g_signal_emit (self, renderer_changed, 0, "OpenGL", NULL);
}

static void
on_unrealize (GtkGLArea *area, TmPlane *self)
{
  if (!self->painter)
    return;
  gtk_gl_area_make_current (area);
  if (!gtk_gl_area_get_error (area))
    tm_gl_painter_free (self->painter);
  self->painter = NULL;
}

static void
on_resize (GtkGLArea *area, int width, int height, TmPlane *self)
{
  self->gl_width = width;
  self->gl_height = height;
}

static gboolean
on_render (GtkGLArea *area, GdkGLContext *context, TmPlane *self)
{
  TmFrame frame;

  if (gtk_gl_area_get_error (area))
    {
      fall_back (self, gtk_gl_area_get_error (area));
      return TRUE;
    }
  if (self->painter && make_frame (self, self->gl_width, self->gl_height, &frame))
    tm_gl_painter_draw (self->painter, self->gl_width, self->gl_height, frame.scene, frame.theme, frame.glyphs);
  return TRUE;
}

/* --- Plane ------------------------------------------------------------------------------------------------------- */

static void
tm_plane_realize (GtkWidget *widget)
{
  TmPlane *self = TM_PLANE (widget);

  GTK_WIDGET_CLASS (tm_plane_parent_class)->realize (widget);
  if (self->cpu)
    g_signal_emit (self, renderer_changed, 0, "CPU", self->why);
}

static void
tm_plane_dispose (GObject *object)
{
  TmPlane *self = TM_PLANE (object);

  g_clear_handle_id (&self->fall_back_source, g_source_remove);
  self->make_frame = NULL;
  self->area = NULL;
  self->page = NULL;
  g_clear_pointer (&self->stack, gtk_widget_unparent);
  G_OBJECT_CLASS (tm_plane_parent_class)->dispose (object);
}

static void
tm_plane_finalize (GObject *object)
{
  g_free (TM_PLANE (object)->why);
  G_OBJECT_CLASS (tm_plane_parent_class)->finalize (object);
}

static void
tm_plane_class_init (TmPlaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_plane_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_plane_finalize;
  widget_class->realize = tm_plane_realize;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "tm-plane");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  renderer_changed = g_signal_new ("renderer-changed", TM_TYPE_PLANE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);
}

static void
tm_plane_init (TmPlane *self)
{
  self->stack = gtk_stack_new ();
  gtk_widget_set_parent (self->stack, GTK_WIDGET (self));
  self->page = g_object_new (TM_TYPE_CPU_PAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
  self->page->plane = self;
  gtk_stack_add_child (GTK_STACK (self->stack), GTK_WIDGET (self->page));
  g_signal_connect_swapped (self, "notify::scale-factor", G_CALLBACK (tm_plane_queue_frame), self);
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
}

GtkWidget *
tm_plane_new (TmRenderer renderer, TmPlaneFrame frame, gpointer data)
{
  TmPlane *self = g_object_new (TM_TYPE_PLANE, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);

  self->make_frame = frame;
  self->frame_data = data;
  if (renderer == TM_RENDERER_CPU)
    {
      self->cpu = TRUE;
      return GTK_WIDGET (self);
    }

  self->area = g_object_new (GTK_TYPE_GL_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, "auto-render", FALSE,
                             "has-depth-buffer", FALSE, "has-stencil-buffer", FALSE, NULL);
  g_signal_connect (self->area, "realize", G_CALLBACK (on_realize), self);
  g_signal_connect (self->area, "unrealize", G_CALLBACK (on_unrealize), self);
  g_signal_connect (self->area, "resize", G_CALLBACK (on_resize), self);
  g_signal_connect (self->area, "render", G_CALLBACK (on_render), self);
  gtk_stack_add_child (GTK_STACK (self->stack), self->area);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->area);
  return GTK_WIDGET (self);
}

void
tm_plane_queue_frame (TmPlane *self)
{
  if (self->area)
    gtk_gl_area_queue_render (GTK_GL_AREA (self->area));
  else if (self->page)
    {
      self->page->stale = TRUE;
      gtk_widget_queue_draw (GTK_WIDGET (self->page));
    }
}

void
tm_plane_stop (TmPlane *self)
{
  self->make_frame = NULL;
}

double
tm_plane_get_scale (TmPlane *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));

  /* The area chose its buffer's size; whatever it made of the scale is the scale. */
  if (self->area && self->gl_width > 0 && width > 0)
    {
      double scale = (double) self->gl_width / width;
      double whole = round (scale);

      return fabs (scale - whole) * width < 2 && whole >= 1 ? whole : scale;
    }
#if GTK_CHECK_VERSION (4, 12, 0)
  GtkNative *native = gtk_widget_get_native (GTK_WIDGET (self));

  if (native && gtk_native_get_surface (native))
    {
      G_GNUC_BEGIN_IGNORE_DEPRECATIONS
      return gdk_surface_get_scale (gtk_native_get_surface (native));
      G_GNUC_END_IGNORE_DEPRECATIONS
    }
#endif
  return gtk_widget_get_scale_factor (GTK_WIDGET (self));
}

const char *
tm_plane_get_renderer (TmPlane *self, const char **why)
{
  if (why)
    *why = self->why;
  return self->cpu ? "CPU" : "OpenGL";
}
