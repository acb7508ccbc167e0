#include "ui/table-columns.h"

#include <math.h>

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
  if (column->number)
    gtk_widget_add_css_class (label, "monospace");
  gtk_list_item_set_child (item, label);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const TmTableColumn *column)
{
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = column->format (gtk_list_item_get_item (item));

  gtk_label_set_text (GTK_LABEL (label), text ? text : "–");
  gtk_widget_set_tooltip_text (label, column->width ? NULL : text);
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
