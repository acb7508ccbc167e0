/* Tensor table: every tensor with its figures, sortable; statistics are asked for when it is shown. */
#include "ui/table-columns.h"
#include "ui/tensor-table.h"

#include "io/number.h"
#include "io/text.h"

#include <math.h>

#define TM_TYPE_TENSOR_TABLE (tm_tensor_table_get_type ())
G_DECLARE_FINAL_TYPE (TmTensorTable, tm_tensor_table, TM, TENSOR_TABLE, GtkWidget)

/* What rows read from: outlives them, since they hold no reference. */
typedef struct
{
  TmModel *model;
  TmStatisticsSet *set;
} Source;

struct _TmTensorTable
{
  GtkWidget parent_instance;
  TmDocument *document;
  Source *source; /* NULL: not filled */
  GtkWidget *box, *title, *view;
  GListStore *rows;
  GtkSortListModel *sorted;
  GtkSingleSelection *selection;
  gboolean syncing;
};

G_DEFINE_FINAL_TYPE (TmTensorTable, tm_tensor_table, GTK_TYPE_WIDGET)

/* --- Columns ----------------------------------------------------------------------------------------------------- */

static const TmTensor *
get_tensor (const TmTableRow *row)
{
  return tm_model_tensor (((Source *) row->owner)->model, row->tensor);
}

/* (transfer full); NULL where nothing is known. */
static TmStatistics *
get_statistics (const TmTableRow *row)
{
  TmStatistics *statistics = tm_statistics_set_get (((Source *) row->owner)->set, row->tensor);

  if (statistics && (statistics->fault || !(statistics->parts & TM_STATISTICS_VALUES)))
    g_clear_pointer (&statistics, tm_statistics_unref);
  return statistics;
}

static char *
format_name (const TmTableRow *row)
{
  return tm_text_escape (get_tensor (row)->name, -1);
}

static char *
format_dtype (const TmTableRow *row)
{
  return tm_text_escape (get_tensor (row)->dtype_label, -1);
}

static char *
format_shape (const TmTableRow *row)
{
  const TmTensor *tensor = get_tensor (row);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? " × " : "", tensor->shape[i]);
  return g_string_free (text, FALSE);
}

static double
get_parameters (const TmTableRow *row)
{
  return (double) get_tensor (row)->n_elements;
}

static char *
format_parameters (const TmTableRow *row)
{
  return tm_format_parameters (get_tensor (row)->n_elements);
}

static double
get_bytes (const TmTableRow *row)
{
  return (double) get_tensor (row)->bytes;
}

static char *
format_bytes (const TmTableRow *row)
{
  return tm_format_size (get_tensor (row)->bytes);
}

static double
get_bits (const TmTableRow *row)
{
  return tm_tensor_get_bits_per_weight (get_tensor (row));
}

static char *
format_bits (const TmTableRow *row)
{
  return g_strdup_printf ("%.2f", get_bits (row));
}

static char *
format_number (double number)
{
  return isnan (number) ? NULL : g_strdup_printf ("%s%.4g", number < 0 ? "−" : "", fabs (number));
}

/* A figure of the distribution and its column's two functions. */
#define FIGURE(name, expression)                                                                                      \
  static double get_##name (const TmTableRow *row)                                                                    \
  {                                                                                                                   \
    g_autoptr (TmStatistics) statistics = get_statistics (row);                                                       \
    const TmDistribution *values = statistics ? &statistics->values : NULL;                                           \
    return values ? (expression) : (double) NAN;                                                                      \
  }

FIGURE (min, values->min)
FIGURE (max, values->max)
FIGURE (mean, values->mean)
FIGURE (std, values->std)
FIGURE (zeros, values->count ? (double) values->n_zeros / (double) values->count : 0)
FIGURE (strange, (double) (values->n_nan + values->n_inf))

static char *
format_min (const TmTableRow *row)
{
  return format_number (get_min (row));
}

static char *
format_max (const TmTableRow *row)
{
  return format_number (get_max (row));
}

static char *
format_mean (const TmTableRow *row)
{
  return format_number (get_mean (row));
}

static char *
format_std (const TmTableRow *row)
{
  return format_number (get_std (row));
}

static char *
format_zeros (const TmTableRow *row)
{
  const double share = get_zeros (row);

  return isnan (share) ? NULL : g_strdup_printf (share > 0 && share < 5e-5 ? "< 0.01 %%" : "%.2f %%", share * 100);
}

static char *
format_strange (const TmTableRow *row)
{
  const double count = get_strange (row);

  return isnan (count) ? NULL : tm_format_count ((guint64) count);
}

static const TmTableColumn columns[] = {
  { "tensor", 0, format_name, NULL },
  { "dtype", 72, format_dtype, NULL },
  { "shape", 118, format_shape, NULL },
  { "parameters", 92, format_parameters, get_parameters },
  { "size", 84, format_bytes, get_bytes },
  { "bits/w", 66, format_bits, get_bits },
  { "min", 84, format_min, get_min },
  { "max", 84, format_max, get_max },
  { "mean", 92, format_mean, get_mean },
  { "std", 84, format_std, get_std },
  { "zeros", 78, format_zeros, get_zeros },
  { "NaN, Inf", 78, format_strange, get_strange },
};

/* --- Rows -------------------------------------------------------------------------------------------------------- */

static void
source_free (Source *source)
{
  g_object_unref (source->model);
  tm_statistics_set_unref (source->set);
  g_free (source);
}

static void
empty (TmTensorTable *self)
{
  self->syncing = TRUE;
  g_list_store_remove_all (self->rows);
  g_clear_pointer (&self->source, source_free);
  self->syncing = FALSE;
}

static void
on_selection_changed (TmTensorTable *self)
{
  guint tensor, found = GTK_INVALID_LIST_POSITION;

  if (self->source && tm_document_get_tensor (self->document, &tensor))
    for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->sorted)) && found == GTK_INVALID_LIST_POSITION; i++)
      {
        g_autoptr (TmTableRow) row = g_list_model_get_item (G_LIST_MODEL (self->sorted), i);

        if (row->tensor == tensor)
          found = i;
      }
  self->syncing = TRUE;
  gtk_single_selection_set_selected (self->selection, found);
  self->syncing = FALSE;
}

static void
fill (TmTensorTable *self)
{
  TmModel *model = tm_document_get_model (self->document);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *count = NULL, *title = NULL;

  if (self->source || !model)
    return;
  self->source = g_new0 (Source, 1);
  self->source->model = g_object_ref (model);
  self->source->set = tm_statistics_set_ref (tm_document_get_statistics (self->document));
  for (guint i = 0; i < model->tensors->len; i++)
    g_ptr_array_add (rows, tm_table_row_new (i, self->source, NULL));
  self->syncing = TRUE;
  g_list_store_splice (self->rows, 0, 0, rows->pdata, rows->len);
  self->syncing = FALSE;
  count = tm_format_count (rows->len);
  title = g_strdup_printf (rows->len == 1 ? "%s tensor" : "%s tensors", count);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  on_selection_changed (self);
}

static void
on_model_changed (TmTensorTable *self)
{
  empty (self);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    fill (self);
}

static void
on_statistics_changed (TmTensorTable *self)
{
  for (guint i = 0; self->source && i < g_list_model_get_n_items (G_LIST_MODEL (self->rows)); i++)
    {
      g_autoptr (TmTableRow) row = g_list_model_get_item (G_LIST_MODEL (self->rows), i);

      tm_table_row_changed (row);
    }
}

static void
on_row_selected (TmTensorTable *self)
{
  TmTableRow *row = gtk_single_selection_get_selected_item (self->selection);

  if (row && !self->syncing)
    tm_document_show_tensor (self->document, row->tensor);
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static void
tm_tensor_table_map (GtkWidget *widget)
{
  fill (TM_TENSOR_TABLE (widget));
  GTK_WIDGET_CLASS (tm_tensor_table_parent_class)->map (widget);
}

static void
tm_tensor_table_dispose (GObject *object)
{
  TmTensorTable *self = TM_TENSOR_TABLE (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  if (self->selection)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  self->sorted = NULL;
  g_clear_object (&self->rows);
  g_clear_pointer (&self->source, source_free);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_tensor_table_parent_class)->dispose (object);
}

static void
tm_tensor_table_class_init (TmTensorTableClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_tensor_table_dispose;
  GTK_WIDGET_CLASS (klass)->map = tm_tensor_table_map;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-dock");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
head_new (TmTensorTable *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *close = gtk_button_new_from_icon_name ("window-close-symbolic");

  gtk_widget_add_css_class (head, "dock-head");
  self->title = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->title, "heading");
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  gtk_widget_set_hexpand (self->title, TRUE);
  gtk_button_set_has_frame (GTK_BUTTON (close), FALSE);
  gtk_widget_set_tooltip_text (close, "Close the table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (close), GTK_ACCESSIBLE_PROPERTY_LABEL, "Close the table", -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (close), "win.close-table");
  gtk_box_append (GTK_BOX (head), self->title);
  gtk_box_append (GTK_BOX (head), close);
  return head;
}

static void
tm_tensor_table_init (TmTensorTable *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Tensor table", -1);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_box_append (GTK_BOX (self->box), head_new (self));
  self->view = gtk_column_view_new (NULL);
  tm_table_add_columns (GTK_COLUMN_VIEW (self->view), columns, G_N_ELEMENTS (columns));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Tensors", -1);
  self->rows = g_list_store_new (TM_TYPE_TABLE_ROW);
  self->sorted = gtk_sort_list_model_new (G_LIST_MODEL (g_object_ref (self->rows)),
                                          g_object_ref (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (self->view))));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (self->sorted));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (GTK_COLUMN_VIEW (self->view), GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (self->selection, "notify::selected", G_CALLBACK (on_row_selected), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->view);
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_widget_set_size_request (scrolled, -1, 170);
  gtk_box_append (GTK_BOX (self->box), scrolled);
}

GtkWidget *
tm_tensor_table_new (TmDocument *document)
{
  TmTensorTable *self = g_object_new (TM_TYPE_TENSOR_TABLE, NULL);

  self->document = g_object_ref (document);
  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (document, "selection-changed", G_CALLBACK (on_selection_changed), self);
  g_signal_connect_swapped (document, "statistics-changed", G_CALLBACK (on_statistics_changed), self);
  return GTK_WIDGET (self);
}
