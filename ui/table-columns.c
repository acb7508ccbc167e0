#include "ui/table-columns.h"

#include <math.h>

G_DEFINE_FINAL_TYPE (TmTableRow, tm_table_row, G_TYPE_OBJECT)

static guint changed_signal;

static void
tm_table_row_class_init (TmTableRowClass *klass)
{
  changed_signal = g_signal_new ("changed", TM_TYPE_TABLE_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

void
tm_table_row_changed (TmTableRow *row)
{
  g_signal_emit (row, changed_signal, 0);
}

static void
tm_table_row_init (TmTableRow *self)
{
}

TmTableRow *
tm_table_row_new (guint tensor, gpointer owner, gconstpointer data)
{
  TmTableRow *row = g_object_new (TM_TYPE_TABLE_ROW, NULL);

  row->tensor = tensor;
  row->owner = owner;
  row->data = data;
  return row;
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const TmTableColumn *column = data;

  if (column->number)
    {
      const double x = column->number (a), y = column->number (b);

      if (isnan (x) || isnan (y))
        return !!isnan (x) - !!isnan (y);
      return (x > y) - (x < y);
    }
  g_autofree char *x = column->format (a), *y = column->format (b);

  return g_strcmp0 (x, y);
}

static void
setup_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const TmTableColumn *column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), column->width ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_MIDDLE);
  if (!column->width)
    gtk_label_set_width_chars (GTK_LABEL (label), 24); /* names stay names; what has no room scrolls */
  if (column->number)
    gtk_widget_add_css_class (label, "monospace");
  g_object_set_data (G_OBJECT (label), "column", (gpointer) column);
  gtk_list_item_set_child (item, label);
}

static void
show_row (TmTableRow *row, GtkWidget *label)
{
  const TmTableColumn *column = g_object_get_data (G_OBJECT (label), "column");
  g_autofree char *text = column->format (row);

  gtk_label_set_text (GTK_LABEL (label), text ? text : "–");
  gtk_widget_set_tooltip_text (label, column->width ? NULL : text);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const TmTableColumn *column)
{
  TmTableRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);

  g_signal_connect (row, "changed", G_CALLBACK (show_row), label);
  show_row (row, label);
}

static void
unbind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const TmTableColumn *column)
{
  g_signal_handlers_disconnect_by_func (gtk_list_item_get_item (item), show_row, gtk_list_item_get_child (item));
}

void
tm_table_add_columns (GtkColumnView *view, const TmTableColumn *columns, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const TmTableColumn *column = &columns[i];
      GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
      GtkColumnViewColumn *shown = gtk_column_view_column_new (column->title, factory);
      g_autoptr (GtkSorter) sorter = GTK_SORTER (gtk_custom_sorter_new (compare_rows, (gpointer) column, NULL));

      g_signal_connect (factory, "setup", G_CALLBACK (setup_cell), (gpointer) column);
      g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), (gpointer) column);
      g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cell), (gpointer) column);
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
