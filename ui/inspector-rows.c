#include "ui/inspector-rows.h"

void
tm_copy_text (GtkWidget *widget, const char *text)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

static void
copy_clicked (GtkButton *button, gpointer data)
{
  tm_copy_text (GTK_WIDGET (button), g_object_get_data (G_OBJECT (button), "copy-text"));
}

static GtkWidget *
copy_button_new (const char *what, const char *text)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("edit-copy-symbolic");
  g_autofree char *name = g_strdup_printf ("Copy %s", what);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "copy-button");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data_full (G_OBJECT (button), "copy-text", g_strdup (text), g_free);
  g_signal_connect (button, "clicked", G_CALLBACK (copy_clicked), NULL);
  return button;
}

/* A label whose text can be marked with the pointer; Tab passes it by, since the copy button beside it takes the focus. */
static GtkWidget *
value_label_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_can_focus (label, FALSE);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  return label;
}

GtkWidget *
tm_card_new (GtkWidget *parent, const char *title)
{
  if (title != NULL)
    {
      GtkWidget *heading = gtk_label_new (title);
      gtk_label_set_xalign (GTK_LABEL (heading), 0);
      gtk_label_set_wrap (GTK_LABEL (heading), TRUE);
      gtk_label_set_wrap_mode (GTK_LABEL (heading), PANGO_WRAP_WORD_CHAR);
      gtk_widget_add_css_class (heading, "card-title");
      gtk_box_append (GTK_BOX (parent), heading);
    }
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_add_css_class (card, "inspector-card");
  gtk_box_append (GTK_BOX (parent), card);
  return card;
}

GtkWidget *
tm_card_add_row (GtkWidget *card, const char *key, const char *value, const char *tooltip)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_add_css_class (row, "inspector-row");
  GtkWidget *name = gtk_label_new (key);
  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_widget_set_valign (name, GTK_ALIGN_BASELINE);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (name), 9);
  gtk_label_set_max_width_chars (GTK_LABEL (name), 18);
  gtk_widget_set_tooltip_text (name, key);
  gtk_widget_add_css_class (name, "dim-label");

  GtkWidget *label = value_label_new (value);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_RIGHT);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (label, GTK_ALIGN_BASELINE);
  gtk_widget_add_css_class (label, "monospace");
  gtk_widget_set_tooltip_text (label, tooltip);

  gtk_box_append (GTK_BOX (row), name);
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), copy_button_new (key, value));
  gtk_box_append (GTK_BOX (card), row);
  return label;
}

GtkWidget *
tm_card_add_text (GtkWidget *card, const char *text, gboolean monospace)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_add_css_class (row, "inspector-row");
  GtkWidget *label = value_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  if (monospace)
    gtk_widget_add_css_class (label, "monospace");
  gtk_box_append (GTK_BOX (row), label);
  if (monospace)
    gtk_box_append (GTK_BOX (row), copy_button_new ("formula", text));
  gtk_box_append (GTK_BOX (card), row);
  return label;
}

GtkWidget *
tm_card_new_big (GtkWidget *parent, const char *caption, const char *value, const char *details, const char *tooltip,
                 gboolean accent)
{
  GtkWidget *card = tm_card_new (parent, NULL);
  gtk_widget_add_css_class (card, "big-card");
  gtk_widget_set_hexpand (card, TRUE);
  GtkWidget *top = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *name = gtk_label_new (caption);
  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (name, TRUE);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_widget_add_css_class (name, "caption");
  gtk_box_append (GTK_BOX (top), name);
  gtk_box_append (GTK_BOX (top), copy_button_new (caption, value));
  gtk_box_append (GTK_BOX (card), top);

  GtkWidget *label = value_label_new (value);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_CHAR);
  gtk_widget_add_css_class (label, "big-value");
  if (accent)
    gtk_widget_add_css_class (label, "dequantized");
  if (g_utf8_strlen (value, -1) > 9)
    gtk_widget_add_css_class (label, "long-value");
  gtk_widget_set_tooltip_text (label, tooltip);
  gtk_box_append (GTK_BOX (card), label);

  if (details != NULL)
    {
      GtkWidget *under = value_label_new (details);
      gtk_label_set_xalign (GTK_LABEL (under), 0);
      gtk_widget_add_css_class (under, "dim-label");
      gtk_widget_add_css_class (under, "caption");
      gtk_widget_add_css_class (under, "monospace");
      gtk_box_append (GTK_BOX (card), under);
    }
  return label;
}

typedef struct { double share; GdkRGBA color; } Bar;

static void
draw_bar (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  const Bar *bar = data;
  if (!(bar->share > 0))
    return;
  gdk_cairo_set_source_rgba (cr, &bar->color);
  cairo_rectangle (cr, 0, 0, MAX (2.0, bar->share * width), height); /* a sliver of a share still shows */
  cairo_fill (cr);
}

GtkWidget *
tm_card_add_bar (GtkWidget *card, GtkWidget *label, double share, const char *text, const GdkRGBA *color)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_add_css_class (row, "inspector-row");
  gtk_widget_set_size_request (label, 72, -1);
  gtk_widget_set_halign (label, GTK_ALIGN_START);
  Bar *bar = g_new0 (Bar, 1);
  bar->share = CLAMP (share, 0, 1);
  bar->color = *color;
  GtkWidget *area = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (area), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (area), 14);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_bar, bar, g_free);
  gtk_widget_set_hexpand (area, TRUE);
  gtk_widget_set_valign (area, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (area, "share-bar");
  GtkWidget *number = value_label_new (text);
  gtk_label_set_wrap (GTK_LABEL (number), FALSE);
  gtk_widget_add_css_class (number, "monospace");
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), area);
  gtk_box_append (GTK_BOX (row), number);
  gtk_box_append (GTK_BOX (card), row);
  return row;
}

/* --- Expanders ----------------------------------------------------------------------------------------------------- */

/* A closed expander still hands the focus to its child, which is in no window then: it has it only while it is open. */
static void
on_expanded (GtkExpander *expander, GParamSpec *pspec, GtkWidget *inner)
{
  gtk_expander_set_child (expander, gtk_expander_get_expanded (expander) ? inner : NULL);
}

GtkWidget *
tm_expander_new (GtkWidget *box, const char *title, GtkWidget **expander)
{
  GtkWidget *made = gtk_expander_new (title), *inner = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_widget_add_css_class (made, "card-title");
  g_object_ref_sink (inner);
  g_signal_connect_data (made, "notify::expanded", G_CALLBACK (on_expanded), inner, (GClosureNotify) (GCallback) g_object_unref, 0);
  gtk_box_append (GTK_BOX (box), made);
  if (expander)
    *expander = made;
  return inner;
}
