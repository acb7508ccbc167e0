#include "ui/packing-view.h"

#define TM_TYPE_PACKING_VIEW (tm_packing_view_get_type ())
G_DECLARE_FINAL_TYPE (TmPackingView, tm_packing_view, TM, PACKING_VIEW, GtkWidget)

#define GAP 1 /* logical px between cells */
#define STRIP 3 /* height of the marks of single bits */

struct _TmPackingView
{
  GtkWidget parent_instance;
  TmPackingCard *card; /* reference */
  const TmPackingRun *run;
  TmTheme theme;
  int cell_width, cell_height; /* least size by the font */
};

G_DEFINE_FINAL_TYPE (TmPackingView, tm_packing_view, GTK_TYPE_WIDGET)

/* Far apart from each other in hue, in the families' colours: the eye knows them. */
TmColor
tm_packing_color (const TmTheme *theme, const TmPackingLegend *entry)
{
  static const TmFamily order[] = { TM_FAMILY_BITS_4, TM_FAMILY_BITS_6_7, TM_FAMILY_BITS_2, TM_FAMILY_BITS_8,
                                    TM_FAMILY_BITS_3, TM_FAMILY_HALF, TM_FAMILY_BITS_5, TM_FAMILY_BITS_1 };
  return theme->family[order[entry->color % G_N_ELEMENTS (order)]];
}

static GdkRGBA
rgba (TmColor color)
{
  return (GdkRGBA) { (float) TM_COLOR_RED (color) / 255.0f, (float) TM_COLOR_GREEN (color) / 255.0f,
                     (float) TM_COLOR_BLUE (color) / 255.0f, (float) TM_COLOR_ALPHA (color) / 255.0f };
}

/* --- Geometry -------------------------------------------------------------------------------------------------------- */

static PangoLayout *
layout_new (TmPackingView *self)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), "00");
  PangoFontDescription *font = pango_font_description_copy (pango_context_get_font_description (pango_layout_get_context (layout)));
  pango_font_description_set_family_static (font, "monospace");
  pango_font_description_set_size (font, pango_font_description_get_size (font) * 7 / 10);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  return layout;
}

static void
measure_cell (TmPackingView *self)
{
  g_autoptr (PangoLayout) layout = layout_new (self);
  int width, height;
  pango_layout_get_pixel_size (layout, &width, &height);
  self->cell_width = width + 1;
  self->cell_height = height + STRIP + 1;
}

/* Bytes a row: a power of two that fits, at most sixteen. */
static guint
get_columns (TmPackingView *self, int width)
{
  guint columns = 16;
  while (columns / 2 >= MAX (self->run->n, 4)) /* a word alone may be wider */
    columns /= 2;
  while (columns > 4 && (int) columns * (self->cell_width + GAP) - GAP > width)
    columns /= 2;
  return columns;
}

static double
get_pitch (TmPackingView *self, int width)
{
  guint columns = get_columns (self, width);
  double widest = 1.6 * self->cell_width;
  return MIN ((double) (width + GAP) / columns, widest + GAP);
}

static void
tm_packing_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                         int *minimum_baseline, int *natural_baseline)
{
  TmPackingView *self = TM_PACKING_VIEW (widget);
  measure_cell (self);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = 4 * (self->cell_width + GAP) - GAP;
      *natural = 16 * (self->cell_width + GAP) - GAP;
    }
  else
    {
      int width = for_size >= 0 ? for_size : 16 * (self->cell_width + GAP) - GAP;
      guint columns = get_columns (self, width), rows = (self->run->n + columns - 1) / columns;
      *minimum = *natural = (int) rows * (self->cell_height + GAP) - GAP;
    }
}

static GtkSizeRequestMode
tm_packing_view_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

/* --- Drawing --------------------------------------------------------------------------------------------------------- */

static void
draw_bits (TmPackingView *self, GtkSnapshot *snapshot, const graphene_rect_t *cell, guint8 own, const GdkRGBA *ink)
{
  float step = cell->size.width / 8;
  for (guint bit = 0; bit < 8; bit++)
    if (own >> bit & 1) /* the high bit stands left, as in the number */
      gtk_snapshot_append_color (snapshot, ink,
                                 &GRAPHENE_RECT_INIT (cell->origin.x + (float) (7 - bit) * step,
                                                      cell->origin.y + cell->size.height - STRIP, MAX (step - 0.5f, 0.5f), STRIP));
}

static void
draw_outline (GtkSnapshot *snapshot, const graphene_rect_t *cell, const GdkRGBA *ink)
{
  GskRoundedRect outline;
  gsk_rounded_rect_init_from_rect (&outline, &GRAPHENE_RECT_INIT (cell->origin.x - 1, cell->origin.y - 1, cell->size.width + 2,
                                                                   cell->size.height + 2), 1);
  const float width[4] = { 1.5f, 1.5f, 1.5f, 1.5f };
  const GdkRGBA colors[4] = { *ink, *ink, *ink, *ink };
  gtk_snapshot_append_border (snapshot, &outline, width, colors);
}

static void
draw_cell (TmPackingView *self, GtkSnapshot *snapshot, PangoLayout *layout, guint i, const graphene_rect_t *cell)
{
  const TmPackingByte *byte = &self->run->byte[i];
  const TmTheme *theme = &self->theme;
  TmColor ground = theme->card, ink = theme->text;

  if (byte->legend != TM_NO_LEGEND)
    {
      TmColor color = tm_packing_color (theme, &g_array_index (self->card->legend, TmPackingLegend, byte->legend));
      ground = byte->own ? color : tm_color_mix (theme->card, color, theme->dark ? 96 : 66);
    }
  if (byte->own)
    ink = tm_color_contrast (ground, theme->cell_text) > tm_color_contrast (ground, theme->cell_text_inverse)
              ? theme->cell_text : theme->cell_text_inverse;
  GdkRGBA fill = rgba (ground), text = rgba (ink), line = rgba (theme->line);
  gtk_snapshot_append_color (snapshot, &fill, cell);

  char hex[4];
  int width, height;
  g_snprintf (hex, sizeof hex, "%02X", byte->value);
  pango_layout_set_text (layout, hex, 2);
  pango_layout_get_pixel_size (layout, &width, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (cell->origin.x + (cell->size.width - (float) width) / 2, cell->origin.y));
  gtk_snapshot_append_layout (snapshot, layout, &text);
  gtk_snapshot_restore (snapshot);
  if (byte->own && byte->own != 255)
    draw_bits (self, snapshot, cell, byte->own, &text);
  if (byte->own)
    draw_outline (snapshot, cell, &line);
}

static void
tm_packing_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  TmPackingView *self = TM_PACKING_VIEW (widget);
  int width = gtk_widget_get_width (widget);
  guint columns = get_columns (self, width);
  double pitch = get_pitch (self, width);
  g_autoptr (PangoLayout) layout = layout_new (self);

  /* Outlines reach into their neighbours: the scalar's own cells come last. */
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->run->n; i++)
      if ((self->run->byte[i].own != 0) == (pass == 1))
        draw_cell (self, snapshot, layout, i,
                   &GRAPHENE_RECT_INIT ((float) (pitch * (i % columns)), (float) (i / columns) * (float) (self->cell_height + GAP),
                                        (float) pitch - GAP, (float) self->cell_height));
}

static gboolean
tm_packing_view_query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  TmPackingView *self = TM_PACKING_VIEW (widget);
  int width = gtk_widget_get_width (widget);
  guint columns = get_columns (self, width);
  double pitch = get_pitch (self, width);
  if (keyboard || x < 0 || y < 0)
    return FALSE;
  guint column = (guint) (x / pitch), row = (guint) (y / (self->cell_height + GAP));
  guint i = row * columns + column;
  if (column >= columns || i >= self->run->n)
    return FALSE;
  g_autofree char *text = tm_packing_card_describe_byte (self->card, self->run, i);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle) { (int) (pitch * column), (int) row * (self->cell_height + GAP), (int) pitch,
                                                       self->cell_height });
  return TRUE;
}

/* --- Widget ---------------------------------------------------------------------------------------------------------- */

static void
tm_packing_view_finalize (GObject *object)
{
  tm_packing_card_unref (TM_PACKING_VIEW (object)->card);
  G_OBJECT_CLASS (tm_packing_view_parent_class)->finalize (object);
}

static void
tm_packing_view_class_init (TmPackingViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = tm_packing_view_finalize;
  widget_class->measure = tm_packing_view_measure;
  widget_class->get_request_mode = tm_packing_view_get_request_mode;
  widget_class->snapshot = tm_packing_view_snapshot;
  widget_class->query_tooltip = tm_packing_view_query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "tm-packing");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
tm_packing_view_init (TmPackingView *self)
{
}

GtkWidget *
tm_packing_view_new (TmPackingCard *card, guint run, const TmTheme *theme)
{
  TmPackingView *self = g_object_new (TM_TYPE_PACKING_VIEW, "has-tooltip", TRUE, "hexpand", TRUE, NULL);
  self->card = tm_packing_card_ref (card);
  self->run = g_ptr_array_index (card->runs, run);
  self->theme = *theme;
  measure_cell (self);
  return GTK_WIDGET (self);
}
