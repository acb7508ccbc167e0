/* "How is this packed": the block or the words that hold the scalar, byte by byte, and how its bits are put together. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"
#include "ui/packing-view.h"

#include <string.h>

static void
draw_swatch (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  const GdkRGBA *color = data;
  gdk_cairo_set_source_rgba (cr, color);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_fill (cr);
}

static GtkWidget *
legend_item_new (const TmPackingLegend *entry, const TmTheme *theme)
{
  TmColor color = tm_packing_color (theme, entry);
  GdkRGBA *rgba = g_new (GdkRGBA, 1);
  *rgba = (GdkRGBA) { (float) TM_COLOR_RED (color) / 255.0f, (float) TM_COLOR_GREEN (color) / 255.0f,
                      (float) TM_COLOR_BLUE (color) / 255.0f, 1.0f };
  GtkWidget *item = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *swatch = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (swatch), 9);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (swatch), 9);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), draw_swatch, rgba, g_free);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  g_autofree char *text = entry->meaning != NULL && entry->meaning[0] != '\0' ? g_strdup_printf ("%s  %s", entry->name, entry->meaning)
                                                                               : g_strdup (entry->name);
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_widget_set_hexpand (label, TRUE);
  PangoAttrList *attributes = pango_attr_list_new ();
  PangoAttribute *family = pango_attr_family_new ("monospace");
  family->end_index = (guint) strlen (entry->name);
  pango_attr_list_insert (attributes, family);
  if (entry->own)
    {
      PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);
      bold->end_index = (guint) strlen (entry->name);
      pango_attr_list_insert (attributes, bold);
    }
  gtk_label_set_attributes (GTK_LABEL (label), attributes);
  pango_attr_list_unref (attributes);
  gtk_widget_add_css_class (label, "caption");
  gtk_box_append (GTK_BOX (item), swatch);
  gtk_box_append (GTK_BOX (item), label);
  return item;
}

static GtkWidget *
caption_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "monospace");
  return label;
}

static void
add_runs (GtkWidget *card, TmPackingCard *packing, const TmTheme *theme)
{
  for (guint r = 0; r < packing->runs->len; r++)
    {
      const TmPackingRun *run = g_ptr_array_index (packing->runs, r);
      if (packing->runs->len > 1 || packing->place == NULL)
        {
          GtkWidget *caption = caption_new (run->title);
          gtk_widget_add_css_class (caption, "dim-label");
          gtk_box_append (GTK_BOX (card), caption);
        }
      GtkWidget *view = tm_packing_view_new (packing, r, theme);
      gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      r == 0 ? packing->description : run->title, -1);
      gtk_box_append (GTK_BOX (card), view);
      if (run->cut_before || run->cut_after)
        {
          GtkWidget *note = caption_new ("only the bytes around this value are shown");
          gtk_widget_add_css_class (note, "dim-label");
          gtk_box_append (GTK_BOX (card), note);
        }
    }
}

void
tm_inspector_add_packing (GtkWidget *box, TmDocument *document, TmPackingCard *packing)
{
  const TmTheme *theme = tm_document_get_theme (document);
  g_autofree char *title = g_strdup_printf ("How is this packed · %s", packing->title);
  GtkWidget *card = tm_card_new (box, title);
  gtk_widget_add_css_class (card, "packing-card");
  if (packing->place != NULL)
    gtk_box_append (GTK_BOX (card), caption_new (packing->place));
  add_runs (card, packing, theme);
  if (packing->order != NULL)
    {
      g_autofree char *order = g_strdup_printf ("order of codes: %s", packing->order);
      gtk_box_append (GTK_BOX (card), caption_new (order));
    }
  for (guint i = 0; i < packing->legend->len; i++)
    gtk_box_append (GTK_BOX (card), legend_item_new (&g_array_index (packing->legend, TmPackingLegend, i), theme));
  if (packing->bits[0] != '\0')
    tm_card_add_text (tm_card_new (box, "Bits of this value"), packing->bits, TRUE);
}
