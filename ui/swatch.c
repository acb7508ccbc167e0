#include "ui/swatch.h"

#include <math.h>
#include <string.h>

struct _TmSwatch
{
  GtkWidget parent_instance;
  TmSwatchKind kind;
  int line_width;
  TmColor stops[17], line, halo;
};

G_DEFINE_FINAL_TYPE (TmSwatch, tm_swatch, GTK_TYPE_WIDGET)

static GdkRGBA
rgba (TmColor color)
{
  return (GdkRGBA) { (float) (color >> 24) / 255, (float) (color >> 16 & 255) / 255, (float) (color >> 8 & 255) / 255,
                     (float) (color & 255) / 255 };
}

static void
tm_swatch_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                   int *minimum_baseline, int *natural_baseline)
{
  TmSwatch *self = TM_SWATCH (widget);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    *minimum = *natural = self->kind == TM_SWATCH_FLAT ? 14 : self->kind == TM_SWATCH_LINE ? 24 : 100;
  else
    *minimum = *natural = 12;
}

static void
tm_swatch_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  TmSwatch *self = TM_SWATCH (widget);
  float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);

  if (self->kind == TM_SWATCH_LINE)
    {
      float thick = (float) self->line_width, top = floorf ((height - thick) / 2);
      GdkRGBA line = rgba (self->line), halo = rgba (self->halo);

      gtk_snapshot_append_color (snapshot, &halo, &GRAPHENE_RECT_INIT (0, top - 1, width, thick + 2));
      gtk_snapshot_append_color (snapshot, &line, &GRAPHENE_RECT_INIT (0, top, width, thick));
    }
  else if (self->kind == TM_SWATCH_FLAT)
    {
      GdkRGBA fill = rgba (self->stops[0]), edge = rgba (self->line);

      gtk_snapshot_append_color (snapshot, &edge, &GRAPHENE_RECT_INIT (0, 0, width, height));
      gtk_snapshot_append_color (snapshot, &fill, &GRAPHENE_RECT_INIT (1, 1, width - 2, height - 2));
    }
  else
    {
      GskColorStop stops[G_N_ELEMENTS (self->stops)];

      for (guint i = 0; i < G_N_ELEMENTS (stops); i++)
        stops[i] = (GskColorStop) { (float) i / (G_N_ELEMENTS (stops) - 1), rgba (self->stops[i]) };
      gtk_snapshot_append_linear_gradient (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height),
                                           &GRAPHENE_POINT_INIT (0, 0), &GRAPHENE_POINT_INIT (width, 0), stops,
                                           G_N_ELEMENTS (stops));
    }
}

static void
tm_swatch_class_init (TmSwatchClass *klass)
{
  GTK_WIDGET_CLASS (klass)->measure = tm_swatch_measure;
  GTK_WIDGET_CLASS (klass)->snapshot = tm_swatch_snapshot;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-swatch");
}

static void
tm_swatch_init (TmSwatch *self)
{
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
}

GtkWidget *
tm_swatch_new (void)
{
  return g_object_new (TM_TYPE_SWATCH, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
}

void
tm_swatch_set_map (GtkWidget *widget, TmSwatchKind kind, const TmTheme *theme)
{
  TmSwatch *self = TM_SWATCH (widget);
  const TmColor *map = kind == TM_SWATCH_DIVERGING ? theme->diverging : theme->sequential;
  TmColor stops[G_N_ELEMENTS (self->stops)];

  /* Entry 0 of the diverging map is free: its lower end is entry 1. */
  for (guint i = 0; i < G_N_ELEMENTS (stops); i++)
    stops[i] = kind == TM_SWATCH_JUDGEMENT ? tm_theme_judgement_color (theme, i / 16.0)
                                           : map[kind == TM_SWATCH_DIVERGING ? 1 + i * 254 / 16 : i * 255 / 16];
  if (self->kind == kind && !memcmp (stops, self->stops, sizeof stops))
    return;
  self->kind = kind;
  memcpy (self->stops, stops, sizeof stops);
  gtk_widget_queue_draw (widget);
}

void
tm_swatch_set_line (GtkWidget *widget, int width, const TmTheme *theme)
{
  TmSwatch *self = TM_SWATCH (widget);

  if (self->kind == TM_SWATCH_LINE && self->line_width == width && self->line == theme->line && self->halo == theme->halo)
    return;
  self->kind = TM_SWATCH_LINE;
  self->line_width = width;
  self->line = theme->line;
  self->halo = theme->halo;
  gtk_widget_queue_draw (widget);
}

void
tm_swatch_set_flat (GtkWidget *widget, TmColor color, const TmTheme *theme)
{
  TmSwatch *self = TM_SWATCH (widget);
  const TmColor edge = tm_color_mix (color, theme->text, 70);

  if (self->kind == TM_SWATCH_FLAT && self->stops[0] == color && self->line == edge)
    return;
  if (self->kind != TM_SWATCH_FLAT)
    gtk_widget_queue_resize (widget);
  self->kind = TM_SWATCH_FLAT;
  self->stops[0] = color;
  self->line = edge;
  gtk_widget_queue_draw (widget);
}
