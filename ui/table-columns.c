#include "ui/table-columns.h"

#include <math.h>

struct _TmTableRow
{
  GObject parent_instance;
  TmTableEntry entry;
};

G_DEFINE_FINAL_TYPE (TmTableRow, tm_table_row, G_TYPE_OBJECT)

static void
tm_table_row_class_init (TmTableRowClass *klass)
{
}

static void
tm_table_row_init (TmTableRow *self)
{
}

TmTableRow *
tm_table_row_new (const TmTableEntry *entry)
{
  TmTableRow *row = g_object_new (TM_TYPE_TABLE_ROW, NULL);

  row->entry = *entry;
  return row;
}

const TmTableEntry *
tm_table_row_get_entry (TmTableRow *row)
{
  return &row->entry;
}

/* --- Words ------------------------------------------------------------------------------------------------------- */

char *
tm_table_format_number (double number)
{
  return isnan (number) ? NULL : g_strdup_printf ("%s%.4g", number < 0 ? "−" : "", fabs (number));
}

char *
tm_table_format_share (double share)
{
  return isnan (share) ? NULL : g_strdup_printf (share > 0 && share < 5e-5 ? "< 0.01 %%" : "%.2f %%", share * 100);
}

/* --- Cells ------------------------------------------------------------------------------------------------------- */

TmTableCells *
tm_table_cells_new (void)
{
  return g_hash_table_new (NULL, NULL);
}

static void
show_row (GtkWidget *label, TmTableRow *row)
{
  const TmTableColumn *column = g_object_get_data (G_OBJECT (label), "column");
  g_autofree char *text = column->format (&row->entry);

  if (g_strcmp0 (gtk_label_get_text (GTK_LABEL (label)), text ? text : "–") != 0)
    gtk_label_set_text (GTK_LABEL (label), text ? text : "–");
}

/* Asked for, not set on every label: setting it asks the display server where the pointer is, each time. */
static gboolean
on_tooltip (GtkWidget *label, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  gtk_tooltip_set_text (tooltip, gtk_label_get_text (GTK_LABEL (label)));
  return TRUE;
}

void
tm_table_cells_refresh (TmTableCells *cells)
{
  GHashTableIter iter;
  gpointer label, row;

  g_hash_table_iter_init (&iter, cells);
  while (g_hash_table_iter_next (&iter, &label, &row))
    show_row (label, row);
}

static void
setup_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const TmTableColumn *column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), column->width ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_MIDDLE);
  if (!column->width)
    {
      gtk_label_set_width_chars (GTK_LABEL (label), 32); /* names stay names; what has no room scrolls */
      g_object_set (label, "has-tooltip", TRUE, NULL);
      g_signal_connect (label, "query-tooltip", G_CALLBACK (on_tooltip), NULL);
    }
  if (column->number)
    gtk_widget_add_css_class (label, "monospace");
  g_object_set_data (G_OBJECT (label), "column", (gpointer) column);
  gtk_list_item_set_child (item, label);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, TmTableCells *cells)
{
  g_hash_table_insert (cells, gtk_list_item_get_child (item), gtk_list_item_get_item (item));
  show_row (gtk_list_item_get_child (item), gtk_list_item_get_item (item));
}

static void
unbind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, TmTableCells *cells)
{
  g_hash_table_remove (cells, gtk_list_item_get_child (item));
}

/* --- Headers ----------------------------------------------------------------------------------------------------- */

/* The column view's own sorter tells nobody its columns before GTK 4.10. It asks the first of them before the others, so it is
 * made to compare, and who is asked says so; nothing is sorted by it. */
static const TmTableColumn *asked;

static int
note_column (gconstpointer a, gconstpointer b, gpointer column)
{
  if (!asked)
    asked = column;
  return -1;
}

const TmTableColumn *
tm_table_get_sorted (GtkColumnView *view, gboolean *descending)
{
  const TmTableEntry none = { 0 };
  g_autoptr (TmTableRow) a = tm_table_row_new (&none), b = tm_table_row_new (&none);

  asked = NULL;
  *descending = gtk_sorter_compare (gtk_column_view_get_sorter (view), a, b) == GTK_ORDERING_LARGER;
  return asked;
}

void
tm_table_add_columns (GtkColumnView *view, const TmTableColumn *columns, guint n, TmTableCells *cells)
{
  for (guint i = 0; i < n; i++)
    {
      const TmTableColumn *column = &columns[i];
      GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
      GtkColumnViewColumn *shown = gtk_column_view_column_new (column->title, factory);
      g_autoptr (GtkSorter) sorter = GTK_SORTER (gtk_custom_sorter_new (note_column, (gpointer) column, NULL));

      g_signal_connect (factory, "setup", G_CALLBACK (setup_cell), (gpointer) column);
      g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), cells);
      g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cell), cells);
      gtk_column_view_column_set_sorter (shown, sorter);
      gtk_column_view_column_set_resizable (shown, TRUE);
      if (column->width)
        gtk_column_view_column_set_fixed_width (shown, column->width);
      else
        gtk_column_view_column_set_expand (shown, TRUE);
      gtk_column_view_append_column (view, shown);
      g_object_unref (shown);
    }
}
