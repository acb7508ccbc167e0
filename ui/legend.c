#include "ui/legend.h"

#include "ui/swatch.h"
#include "ui/widgets.h"

#include <math.h>

#define MAX_CHIPS 8
#define MAX_LINES 4
#define SPACING 14
#define ROW_SPACING 4

/* --- Bar --------------------------------------------------------------------------------------------------------- */

#define TM_TYPE_LEGEND_BAR (tm_legend_bar_get_type ())
G_DECLARE_FINAL_TYPE (TmLegendBar, tm_legend_bar, TM, LEGEND_BAR, GtkWidget)

struct _TmLegendBar
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *map, *range, *hatched, *reduce, *cell, *sampled;
  GtkWidget *chips[MAX_CHIPS];
  GtkWidget *entries[TM_LEGEND_ENTRIES], *entry_swatches[TM_LEGEND_ENTRIES], *entry_labels[TM_LEGEND_ENTRIES];
  GtkWidget *backend, *paler, *facts;
  GtkWidget *heavy, *heavy_swatch;
  GtkWidget *lines[MAX_LINES], *line_swatches[MAX_LINES], *line_labels[MAX_LINES];
  char *spoken;
};

G_DEFINE_FINAL_TYPE (TmLegendBar, tm_legend_bar, GTK_TYPE_WIDGET)

/* Places the visible children in rows of at most width; with place FALSE only measures. Gives the height. */
static int
wrap (GtkWidget *widget, int width, gboolean place, int *widest)
{
  int x = 0, y = 0;
  GtkWidget *row = gtk_widget_get_first_child (widget);

  while (row)
    {
      int height = 0, end = 0;
      GtkWidget *child, *next = NULL;

      for (child = row; child; child = gtk_widget_get_next_sibling (child))
        {
          int natural, tall;

          if (!gtk_widget_should_layout (child))
            continue;
          gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
          natural = MIN (natural, width);
          if (end > 0 && end + SPACING + natural > width)
            {
              next = child;
              break;
            }
          gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, natural, NULL, &tall, NULL, NULL);
          height = MAX (height, tall);
          end += (end > 0 ? SPACING : 0) + natural;
        }
      if (place)
        for (x = 0, child = row; child && child != next; child = gtk_widget_get_next_sibling (child))
          {
            int natural;

            if (!gtk_widget_should_layout (child))
              continue;
            gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
            natural = MIN (natural, width);
            gtk_widget_size_allocate (child, &(GtkAllocation) { x, y, natural, height }, -1);
            x += natural + SPACING;
          }
      *widest = MAX (*widest, end);
      y += height + (next ? ROW_SPACING : 0);
      row = next;
    }
  return y;
}

static void
tm_legend_bar_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                       int *minimum_baseline, int *natural_baseline)
{
  int widest = 0, sum = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child; child = gtk_widget_get_next_sibling (child))
    {
      int least, wanted;

      if (!gtk_widget_should_layout (child))
        continue;
      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wanted, NULL, NULL);
      widest = MAX (widest, least);
      sum += (sum > 0 ? SPACING : 0) + wanted;
    }
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = widest;
      *natural = sum;
    }
  else
    *minimum = *natural = wrap (widget, for_size < 0 ? sum : MAX (for_size, widest), FALSE, &(int) { 0 });
}

static void
tm_legend_bar_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  wrap (widget, width, TRUE, &(int) { 0 });
}

int
tm_legend_bar_tighten (GtkWidget *bar, int width)
{
  int content, outer, widest = 0, around;

  tm_legend_bar_measure (bar, GTK_ORIENTATION_HORIZONTAL, -1, &(int) { 0 }, &content, NULL, NULL);
  gtk_widget_measure (bar, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &outer, NULL, NULL);
  around = outer - content; /* margin, border and padding */
  wrap (bar, width - around, FALSE, &widest);
  return MIN (widest + around, width);
}

static GtkSizeRequestMode
tm_legend_bar_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
tm_legend_bar_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))))
    gtk_widget_unparent (child);
  g_clear_object (&TM_LEGEND_BAR (object)->document);
  G_OBJECT_CLASS (tm_legend_bar_parent_class)->dispose (object);
}

static void
tm_legend_bar_finalize (GObject *object)
{
  g_free (TM_LEGEND_BAR (object)->spoken);
  G_OBJECT_CLASS (tm_legend_bar_parent_class)->finalize (object);
}

static void
tm_legend_bar_class_init (TmLegendBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_legend_bar_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_legend_bar_finalize;
  widget_class->measure = tm_legend_bar_measure;
  widget_class->size_allocate = tm_legend_bar_size_allocate;
  widget_class->get_request_mode = tm_legend_bar_get_request_mode;
  gtk_widget_class_set_css_name (widget_class, "tm-legend");
}

static GtkWidget *
add_item (TmLegendBar *self, GtkWidget *first, GtkWidget *second)
{
  GtkWidget *item = first;

  if (second)
    {
      item = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
      gtk_box_append (GTK_BOX (item), first);
      gtk_box_append (GTK_BOX (item), second);
    }
  gtk_widget_set_visible (item, FALSE);
  gtk_widget_set_parent (item, GTK_WIDGET (self));
  return item;
}

static GtkWidget *
label_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

static GtkWidget *
backend_button_new (void)
{
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr (GMenuModel) menu = tm_backend_menu_new ();

  gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (button), FALSE);
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (button), GTK_ARROW_UP);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), menu);
  gtk_widget_set_tooltip_text (button, "The backend whose support is shown");
  return button;
}

static void
tm_legend_bar_init (TmLegendBar *self)
{
  g_autoptr (GMenu) menu = g_menu_new ();

  g_menu_append (menu, "Largest magnitude", "win.reduce::largest");
  g_menu_append (menu, "Mean", "win.reduce::mean");
  g_menu_append (menu, "RMS", "win.reduce::rms");

  self->backend = backend_button_new ();
  add_item (self, self->backend, NULL);
  for (guint i = 0; i < TM_LEGEND_ENTRIES; i++)
    {
      self->entry_swatches[i] = tm_swatch_new ();
      self->entry_labels[i] = label_new (NULL);
      gtk_widget_add_css_class (self->entry_labels[i], "numeric");
      self->entries[i] = add_item (self, self->entry_swatches[i], self->entry_labels[i]);
    }
  self->paler = add_item (self, label_new ("paler: a smaller share"), NULL);
  gtk_widget_set_tooltip_text (self->paler, "What stands for many elements has the colour of the most frequent cause among them");
  self->facts = add_item (self, label_new (NULL), NULL);
  for (guint i = 0; i < MAX_CHIPS; i++)
    self->chips[i] = add_item (self, tm_chip_new (TM_DTYPE_F32, NULL), NULL);
  self->heavy_swatch = tm_swatch_new ();
  self->heavy = add_item (self, self->heavy_swatch, label_new ("granularity changes here"));
  self->cell = add_item (self, label_new (NULL), NULL);
  self->map = add_item (self, tm_swatch_new (), NULL);
  self->range = add_item (self, label_new (NULL), NULL);
  gtk_widget_add_css_class (self->range, "numeric");
  self->hatched = add_item (self, label_new ("hatched: not aligned"), NULL);
  self->reduce = gtk_menu_button_new ();
  gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (self->reduce), FALSE);
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (self->reduce), GTK_ARROW_UP);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->reduce), G_MENU_MODEL (menu));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->reduce), GTK_ACCESSIBLE_PROPERTY_LABEL, "What a pixel shows", -1);
  gtk_widget_set_tooltip_text (self->reduce, "What a pixel shows that stands for several elements");
  add_item (self, self->reduce, NULL);
  self->sampled = add_item (self, label_new ("sampled"), NULL);
  gtk_widget_add_css_class (self->sampled, "tm-sampled");
  gtk_widget_set_tooltip_text (self->sampled, "Made from a sample; the exact picture is on its way");
  for (guint i = 0; i < MAX_LINES; i++)
    {
      self->line_swatches[i] = tm_swatch_new ();
      self->line_labels[i] = label_new (NULL);
      self->lines[i] = add_item (self, self->line_swatches[i], self->line_labels[i]);
    }
}

GtkWidget *
tm_legend_bar_new (TmDocument *document)
{
  TmLegendBar *self = g_object_new (TM_TYPE_LEGEND_BAR, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);

  self->document = g_object_ref (document);
  gtk_widget_add_css_class (GTK_WIDGET (self), "tm-float");
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  return GTK_WIDGET (self);
}

/* --- What it says ------------------------------------------------------------------------------------------------ */

static void
show (GtkWidget *widget, gboolean visible)
{
  if (gtk_widget_get_visible (widget) != visible)
    gtk_widget_set_visible (widget, visible);
}

static void
set_label (GtkWidget *label, const char *text)
{
  if (g_strcmp0 (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
}

static void
speak (GString *spoken, const char *text)
{
  g_string_append_printf (spoken, "%s%s", spoken->len ? "; " : "", text);
}

static char *
format_number (double value, gboolean sign)
{
  char number[40];

  g_snprintf (number, sizeof number, "%.3g", fabs (value));
  return g_strconcat (value < 0 ? "\u2212" : sign && value > 0 ? "+" : "", number, NULL);
}

static char *
format_range (TmLegendBar *self, const TmLegend *legend, TmPalette palette)
{
  static const TmQuantity quantities[] = { TM_QUANTITY_VALUE, TM_QUANTITY_RAW, TM_QUANTITY_SCALE };
  TmComparison *comparison = tm_document_get_comparison (self->document);
  TmTiles *tiles = tm_document_get_overlay (self->document) == TM_OVERLAY_ERROR && comparison
                       ? tm_comparison_get_tiles (comparison)
                       : tm_document_get_tiles (self->document);
  float known;

  g_autofree char *low = NULL, *high = NULL;

  if (legend->tensor == G_MAXUINT || legend->depth == TM_DEPTH_ARCHITECTURE)
    return g_strdup ("each tensor\u2019s own range");
  if (!(legend->range > 0) && tiles && tm_tiles_range_failed (tiles, legend->tensor, quantities[palette]))
    return g_strdup ("values could not be read");
  if (!(legend->range > 0))
    return g_strdup (tiles && tm_tiles_get_range (tiles, legend->tensor, quantities[palette], &known)
                         ? "nothing but zeros seen"
                         : "range not known yet");
  low = palette == TM_PALETTE_DIVERGING   ? format_number (-(double) legend->range, TRUE)
        : palette == TM_PALETTE_MAGNITUDE ? g_strdup ("0")
                                          : format_number ((double) legend->low, FALSE);
  high = format_number ((double) legend->range, palette == TM_PALETTE_DIVERGING);
  return g_strdup_printf ("%s \u2026 %s", low, high);
}

/* What the colours stand for: an overlay that a tensor has not shows its values instead. */
static const char *
get_quantity (const TmLegend *legend, TmOverlay overlay, TmPalette palette, TmReduce reduce)
{
  if (overlay == TM_OVERLAY_RAW && legend->depth != TM_DEPTH_ARCHITECTURE && palette != TM_PALETTE_SEQUENTIAL)
    return "value (no raw integers)";
  if (overlay == TM_OVERLAY_RAW)
    return "raw";
  if (overlay == TM_OVERLAY_SCALE)
    return "|scale|";
  if (overlay == TM_OVERLAY_ERROR)
    return reduce == TM_REDUCE_RMS ? "|error|" : "error";
  return reduce == TM_REDUCE_RMS ? "|value|" : "value";
}

static TmPalette
get_palette (const TmLegend *legend, TmOverlay overlay)
{
  if (legend->tensor != G_MAXUINT && legend->depth != TM_DEPTH_ARCHITECTURE)
    return legend->palette;
  return overlay == TM_OVERLAY_RAW ? TM_PALETTE_SEQUENTIAL : overlay == TM_OVERLAY_SCALE ? TM_PALETTE_MAGNITUDE
                                                                                        : TM_PALETTE_DIVERGING;
}

static const char *
get_cell_text (TmLegendBar *self, const TmLegend *legend)
{
  TmModel *model = tm_document_get_model (self->document);

  if (tm_document_get_overlay (self->document) == TM_OVERLAY_ERROR)
    return "cell: dequantized over error";
  if (!model || legend->tensor >= model->tensors->len)
    return "cell: value";
  return legend->raw_and_value ? "cell: raw over dequantized"
         : tm_model_tensor (model, legend->tensor)->quantized ? "cell: dequantized" : "cell: stored value";
}

/* --- Overlays that colour by a few kinds --------------------------------------------------------------------------- */

static void
set_menu_label (GtkWidget *button, const char *text)
{
  if (g_strcmp0 (gtk_menu_button_get_label (GTK_MENU_BUTTON (button)), text) == 0)
    return;
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

/* Near by an entry's share is that of the tensor in the middle. TRUE: the overlay is one of those. */
static gboolean
update_entries (TmLegendBar *self, const TmLegend *legend, GString *spoken)
{
  const TmTheme *theme = tm_document_get_theme (self->document);
  const TmOverlay overlay = tm_document_get_overlay (self->document);
  const gboolean kinds = overlay == TM_OVERLAY_SPARSITY || overlay == TM_OVERLAY_BACKEND;
  const gboolean near = legend->depth != TM_DEPTH_ARCHITECTURE && legend->tensor != G_MAXUINT;
  const gint backend = tm_document_get_backend (self->document);
  const gboolean paler = overlay == TM_OVERLAY_SPARSITY && (!near || legend->pixels_per_element < 1);
  g_autofree char *facts = NULL;
  TmLegendEntry entries[TM_LEGEND_ENTRIES];
  guint n = kinds ? tm_document_list_legend (self->document, near ? (gint64) legend->tensor : -1, entries, &facts) : 0;

  show (self->backend, overlay == TM_OVERLAY_BACKEND);
  if (overlay == TM_OVERLAY_BACKEND)
    {
      set_menu_label (self->backend, backend < 0 ? "Backend" : tm_backends_get ((guint) backend)->name);
      g_string_append_printf (spoken, "%ssupport by %s", spoken->len ? "; " : "",
                              backend < 0 ? "a backend" : tm_backends_get ((guint) backend)->name);
    }
  for (guint i = 0; i < TM_LEGEND_ENTRIES; i++)
    {
      if (i < n)
        {
          tm_swatch_set_flat (self->entry_swatches[i], entries[i].color, theme);
          set_label (self->entry_labels[i], entries[i].text);
          if (g_strcmp0 (gtk_widget_get_tooltip_text (self->entries[i]), entries[i].tooltip))
            gtk_widget_set_tooltip_text (self->entries[i], entries[i].tooltip);
          speak (spoken, entries[i].text);
        }
      show (self->entries[i], i < n);
    }
  show (self->paler, paler && n > 0);
  if (paler && n > 0)
    speak (spoken, "paler: a smaller share");
  show (self->facts, facts != NULL);
  if (facts)
    {
      set_label (self->facts, facts);
      speak (spoken, facts);
    }
  return kinds;
}

/* Far away a judging overlay's colours are of tensors. */
static gboolean
update_judgement (TmLegendBar *self, const TmLegend *legend, GString *spoken)
{
  const gboolean judging = tm_document_get_overlay (self->document) == TM_OVERLAY_ERROR && tm_document_get_marks (self->document)
                           && (legend->depth == TM_DEPTH_ARCHITECTURE || !legend->any_sheet);
  g_autofree char *text = NULL;

  show (self->hatched, judging);
  if (!judging)
    return FALSE;
  text = g_strdup_printf ("%d … %d dB SQNR", TM_SQNR_BAD, TM_SQNR_GOOD);
  tm_swatch_set_map (self->map, TM_SWATCH_JUDGEMENT, tm_document_get_theme (self->document));
  set_label (self->range, text);
  show (self->map, TRUE);
  show (self->range, TRUE);
  g_string_append_printf (spoken, "%scolours of tensors: %s; hatched: not aligned", spoken->len ? "; " : "", text);
  return TRUE;
}

static void
update_colours (TmLegendBar *self, const TmLegend *legend, GString *spoken)
{
  static const char *const reductions[] = { "largest magnitude a pixel", "mean a pixel", "RMS a pixel" };
  const TmTheme *theme = tm_document_get_theme (self->document);
  TmOverlay overlay = tm_document_get_overlay (self->document);
  TmReduce reduce = tm_document_get_reduce (self->document);
  gboolean kinds = update_entries (self, legend, spoken);
  gboolean judging = update_judgement (self, legend, spoken) || kinds;
  gboolean map = !judging && legend->any_sheet && overlay >= TM_OVERLAY_VALUE;
  gboolean reduced = map && legend->pixels_per_element < 1;
  gboolean cells = legend->depth == TM_DEPTH_CELLS;

  show (self->cell, cells);
  if (cells)
    {
      set_label (self->cell, get_cell_text (self, legend));
      speak (spoken, gtk_label_get_text (GTK_LABEL (self->cell)));
    }

  show (self->map, map || (judging && !kinds));
  show (self->range, map || (judging && !kinds));
  if (map)
    {
      TmPalette palette = get_palette (legend, overlay);
      const char *quantity = get_quantity (legend, overlay, palette, reduce);
      g_autofree char *range = format_range (self, legend, palette);
      g_autofree char *text = g_strcmp0 (quantity, "value") ? g_strdup_printf ("%s %s", quantity, range) : g_strdup (range);

      tm_swatch_set_map (self->map, palette == TM_PALETTE_DIVERGING ? TM_SWATCH_DIVERGING : TM_SWATCH_SEQUENTIAL, theme);
      set_label (self->range, text);
      g_string_append_printf (spoken, "%scolours of %s: %s", spoken->len ? "; " : "", quantity, range);
    }

  show (self->reduce, reduced);
  if (reduced)
    {
      const char *text = reductions[MIN (reduce, G_N_ELEMENTS (reductions) - 1)];

      set_menu_label (self->reduce, text);
      speak (spoken, text);
    }
  show (self->sampled, (map || kinds) && legend->sampled);
  if ((map || kinds) && legend->sampled)
    speak (spoken, "sampled");

  for (guint i = 0; i < MAX_CHIPS; i++)
    {
      gboolean chip = !judging && (!map || legend->depth == TM_DEPTH_ARCHITECTURE) && i < legend->n_dtypes;

      if (chip)
        {
          const char *name = tm_dtype_get_name ((TmDtype) legend->dtypes[i]);

          if (!gtk_widget_get_visible (self->chips[i]) || g_strcmp0 (gtk_label_get_text (GTK_LABEL (self->chips[i])), name))
            tm_chip_set (self->chips[i], (TmDtype) legend->dtypes[i], name);
          speak (spoken, name);
        }
      show (self->chips[i], chip);
    }
}

static void
update_lines (TmLegendBar *self, const TmLegend *legend, GString *spoken)
{
  const TmTheme *theme = tm_document_get_theme (self->document);
  gboolean boundaries = tm_document_get_boundaries (self->document);
  gboolean heavy = boundaries && legend->heavy_lines && legend->depth == TM_DEPTH_ARCHITECTURE;

  show (self->heavy, heavy);
  if (heavy)
    {
      tm_swatch_set_line (self->heavy_swatch, 3, theme);
      speak (spoken, "heavy line: granularity changes here");
    }
  for (guint i = 0; i < MAX_LINES; i++)
    {
      gboolean line = boundaries && legend->runs && i < legend->runs->n_runs && legend->level_visible[i];

      if (line)
        {
          const TmRun *run = &legend->runs->run[i];
          g_autofree char *text = g_strdup_printf ("%s %s", run->label ? run->label : "block", run->size ? run->size : "");

          tm_swatch_set_line (self->line_swatches[i], run->width >= 2 ? 3 : 1, theme);
          set_label (self->line_labels[i], g_strchomp (text));
          g_string_append_printf (spoken, "%s%s line: %s", spoken->len ? "; " : "", run->width >= 2 ? "heavy" : "thin",
                                  text);
        }
      show (self->lines[i], line);
    }
}

void
tm_legend_bar_update (GtkWidget *bar, const TmLegend *legend)
{
  TmLegendBar *self = TM_LEGEND_BAR (bar);
  GString *spoken;

  if (!legend)
    {
      show (bar, FALSE);
      return;
    }
  spoken = g_string_new (NULL);
  update_colours (self, legend, spoken);
  update_lines (self, legend, spoken);
  show (bar, spoken->len > 0);
  g_string_prepend (spoken, "Legend: ");
  if (g_strcmp0 (spoken->str, self->spoken))
    {
      gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken->str, -1);
      g_free (self->spoken);
      self->spoken = g_string_free (spoken, FALSE);
    }
  else
    g_string_free (spoken, TRUE);
}
