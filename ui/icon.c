#include "ui/icon.h"

struct _TmIcon
{
  GObject parent_instance;
  TmIconKind kind;
  int size;
};

static void tm_icon_paintable_init (GdkPaintableInterface *iface);
static void tm_icon_symbolic_init (GtkSymbolicPaintableInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (TmIcon, tm_icon, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GDK_TYPE_PAINTABLE, tm_icon_paintable_init)
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_SYMBOLIC_PAINTABLE, tm_icon_symbolic_init))

static void
rounded (cairo_t *cr, double x, double y, double width, double height, double radius)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + width - radius, y + radius, radius, -(G_PI / 2), 0);
  cairo_arc (cr, x + width - radius, y + height - radius, radius, 0, (G_PI / 2));
  cairo_arc (cr, x + radius, y + height - radius, radius, (G_PI / 2), G_PI);
  cairo_arc (cr, x + radius, y + radius, radius, G_PI, 3 * (G_PI / 2));
  cairo_close_path (cr);
}

/* A heat map cut in two by a boundary, on 128 × 128: the same as data/org.tensormorph.Tensormorph.svg. */
static void
draw_logo (cairo_t *cr)
{
  static const guint8 opacity[6][6] = {
    { 92, 86, 74, 30, 26, 44 }, { 52, 62, 34, 18, 95, 82 }, { 70, 22, 24, 48, 54, 66 },
    { 28, 16, 97, 84, 70, 24 }, { 22, 40, 50, 66, 20, 18 }, { 97, 82, 72, 28, 22, 42 },
  };

  rounded (cr, 4, 4, 120, 120, 22);
  cairo_set_source_rgb (cr, 0x82 / 255.0, 0x50 / 255.0, 0xc4 / 255.0);
  cairo_fill (cr);
  for (int row = 0; row < 6; row++)
    for (int column = 0; column < 6; column++)
      {
        cairo_set_source_rgba (cr, 1, 1, 1, opacity[row][column] / 100.0);
        rounded (cr, 15 + column * 16.5, 15 + row * 16.5, 15, 15, 1.5);
        cairo_fill (cr);
      }
  cairo_set_source_rgb (cr, 0x17 / 255.0, 0x13 / 255.0, 0x1f / 255.0);
  rounded (cr, 61.25, 8, 5, 112, 2.5);
  cairo_fill (cr);
}

/* On 16 × 16, in the current source. */
static void
draw_symbol (cairo_t *cr, TmIconKind kind)
{
  switch (kind)
    {
    case TM_ICON_BOUNDARIES:
      cairo_set_line_width (cr, 1);
      for (int i = 0; i < 3; i++)
        cairo_rectangle (cr, 1.5, 2.5 + i * 4, 13, 3);
      cairo_stroke (cr);
      cairo_rectangle (cr, 7, 0, 2, 16);
      cairo_fill (cr);
      break;
    case TM_ICON_OVERLAY:
      cairo_rectangle (cr, 1, 1, 6, 6);
      cairo_rectangle (cr, 9, 9, 6, 6);
      cairo_fill (cr);
      cairo_set_line_width (cr, 1);
      cairo_rectangle (cr, 9.5, 1.5, 5, 5);
      cairo_rectangle (cr, 1.5, 9.5, 5, 5);
      cairo_stroke (cr);
      break;
    case TM_ICON_COMPARE:
      cairo_set_line_width (cr, 1.5);
      for (int i = 0; i < 2; i++)
        {
          const double tip = i ? 14.5 : 1.5, tail = i ? 1.5 : 14.5, back = i ? 11 : 5, y = i ? 11 : 5;

          cairo_move_to (cr, tail, y);
          cairo_line_to (cr, tip, y);
          cairo_move_to (cr, back, y - 3.5);
          cairo_line_to (cr, tip, y);
          cairo_line_to (cr, back, y + 3.5);
        }
      cairo_stroke (cr);
      break;
    case TM_ICON_OUTLINER:
    case TM_ICON_INSPECTOR:
      rounded (cr, 1, 2, 14, 12, 2);
      cairo_set_line_width (cr, 1.5);
      cairo_stroke (cr);
      cairo_rectangle (cr, kind == TM_ICON_OUTLINER ? 2 : 9.5, 3, 4.5, 10);
      cairo_fill (cr);
      break;
    case TM_ICON_LOGO:
      break;
    }
}

static void
draw (TmIcon *self, GdkSnapshot *snapshot, double width, double height, const GdkRGBA *color)
{
  const double grid = self->kind == TM_ICON_LOGO ? 128 : 16;
  const double scale = MIN (width, height) / grid;
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height));

  cairo_translate (cr, (width - grid * scale) / 2, (height - grid * scale) / 2);
  cairo_scale (cr, scale, scale);
  if (self->kind == TM_ICON_LOGO)
    draw_logo (cr);
  else
    {
      gdk_cairo_set_source_rgba (cr, color);
      draw_symbol (cr, self->kind);
    }
  cairo_destroy (cr);
}

static void
tm_icon_snapshot (GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height)
{
  draw (TM_ICON (paintable), snapshot, width, height, &(GdkRGBA) { 0.5f, 0.5f, 0.5f, 1.f });
}

static void
tm_icon_snapshot_symbolic (GtkSymbolicPaintable *paintable, GdkSnapshot *snapshot, double width, double height,
                           const GdkRGBA *colors, gsize n_colors)
{
  draw (TM_ICON (paintable), snapshot, width, height, &colors[0]);
}

static int
tm_icon_get_size (GdkPaintable *paintable)
{
  return TM_ICON (paintable)->size;
}

static GdkPaintableFlags
tm_icon_get_flags (GdkPaintable *paintable)
{
  return GDK_PAINTABLE_STATIC_CONTENTS | GDK_PAINTABLE_STATIC_SIZE;
}

static void
tm_icon_paintable_init (GdkPaintableInterface *iface)
{
  iface->snapshot = tm_icon_snapshot;
  iface->get_flags = tm_icon_get_flags;
  iface->get_intrinsic_width = tm_icon_get_size;
  iface->get_intrinsic_height = tm_icon_get_size;
}

static void
tm_icon_symbolic_init (GtkSymbolicPaintableInterface *iface)
{
  iface->snapshot_symbolic = tm_icon_snapshot_symbolic;
}

static void
tm_icon_class_init (TmIconClass *klass)
{
}

static void
tm_icon_init (TmIcon *self)
{
}

GdkPaintable *
tm_icon_new (TmIconKind kind, int size)
{
  TmIcon *self = g_object_new (TM_TYPE_ICON, NULL);

  self->kind = kind;
  self->size = size;
  return GDK_PAINTABLE (self);
}
