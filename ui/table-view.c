#include "ui/table-view.h"

#include "io/number.h"
#include "ui/query-entry.h"
#include "ui/table-rows.h"

#define HEIGHT 170
#define FILTER_WIDTH 240
#define SORT_AGAIN_MS 1000

struct _TmTableView
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *box, *filter, *view, *empty, *stack;
  TmTableCells *cells;
  TmTableRows *rows;
  GtkSingleSelection *selection;
  guint again; /* sorting by a late column */
  gboolean syncing; /* our own change of the selection */
  void (*changed) (gpointer data);
  gpointer data;
};

G_DEFINE_FINAL_TYPE (TmTableView, tm_table_view, GTK_TYPE_WIDGET)

/* --- Selection --------------------------------------------------------------------------------------------------- */

static void
select_position (TmTableView *self, guint position)
{
  self->syncing = TRUE;
  gtk_single_selection_set_selected (self->selection, position);
  self->syncing = FALSE;
}

static void
on_selection_changed (TmTableView *self)
{
  guint tensor;

  select_position (self, tm_document_get_tensor (self->document, &tensor) ? tm_table_rows_find (self->rows, tensor)
                                                                          : GTK_INVALID_LIST_POSITION);
}

/* What is selected elsewhere is brought into sight; sorting and filtering leave the list where it is. */
static void
on_selected_elsewhere (TmTableView *self)
{
  const guint before = gtk_single_selection_get_selected (self->selection);
  guint now;

  on_selection_changed (self);
  now = gtk_single_selection_get_selected (self->selection);
  if (now != before && now != GTK_INVALID_LIST_POSITION) /* the list is the column view's last child */
    gtk_widget_activate_action (gtk_widget_get_last_child (self->view), "list.scroll-to-item", "u", now);
}

static void
on_row_selected (TmTableView *self)
{
  TmTableRow *row = gtk_single_selection_get_selected_item (self->selection);

  if (row && !self->syncing)
    tm_document_show_tensor (self->document, tm_table_row_get_entry (row)->tensor);
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

static void
on_changing (TmTableView *self)
{
  select_position (self, GTK_INVALID_LIST_POSITION);
}

static void
on_changed (TmTableView *self)
{
  const gboolean none = g_list_model_get_n_items (G_LIST_MODEL (self->rows)) == 0 && tm_table_rows_count_all (self->rows) > 0;

  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), none ? "empty" : "rows");
  on_selection_changed (self);
  if (self->changed)
    self->changed (self->data);
}

static void
on_found (const GArray *found, gpointer data)
{
  tm_table_rows_filter (TM_TABLE_VIEW (data)->rows, found);
}

static void
on_stopped (gpointer data)
{
  gtk_widget_grab_focus (TM_TABLE_VIEW (data)->view);
}

static void
sort (TmTableView *self)
{
  gboolean descending;
  const TmTableColumn *column = tm_table_get_sorted (GTK_COLUMN_VIEW (self->view), &descending);

  tm_table_rows_sort (self->rows, column, descending);
}

static gboolean
sort_again (gpointer data)
{
  TmTableView *self = data;

  self->again = 0;
  sort (self);
  return G_SOURCE_REMOVE;
}

void
tm_table_view_set_entries (TmTableView *self, GArray *entries, gpointer owner, GDestroyNotify release)
{
  tm_table_rows_set (self->rows, entries, owner, release);
}

void
tm_table_view_refresh (TmTableView *self)
{
  gboolean descending;
  const TmTableColumn *column = tm_table_get_sorted (GTK_COLUMN_VIEW (self->view), &descending);

  tm_table_cells_refresh (self->cells);
  if (column && column->is_late && !self->again)
    self->again = g_timeout_add (SORT_AGAIN_MS, sort_again, self);
}

char *
tm_table_view_count (TmTableView *self)
{
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows)), of = tm_table_rows_count_all (self->rows);
  g_autofree char *shown = tm_format_count (n), *all = tm_format_count (of);

  return n == of ? g_steal_pointer (&all) : g_strdup_printf ("%s of %s", shown, all);
}

void
tm_table_view_watch (TmTableView *self, void (*changed) (gpointer data), gpointer data)
{
  self->changed = changed;
  self->data = data;
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static void
tm_table_view_dispose (GObject *object)
{
  TmTableView *self = TM_TABLE_VIEW (object);

  self->changed = NULL;
  g_clear_handle_id (&self->again, g_source_remove);
  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  if (self->selection)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  if (self->rows)
    g_signal_handlers_disconnect_by_data (self->rows, self);
  if (self->view)
    g_signal_handlers_disconnect_by_data (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (self->view)), self);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  self->view = NULL;
  g_clear_object (&self->rows);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_table_view_parent_class)->dispose (object);
}

static void
tm_table_view_finalize (GObject *object)
{
  g_hash_table_unref (TM_TABLE_VIEW (object)->cells);
  G_OBJECT_CLASS (tm_table_view_parent_class)->finalize (object);
}

static void
tm_table_view_class_init (TmTableViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_table_view_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_table_view_finalize;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-table");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
}

static void
tm_table_view_init (TmTableView *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  self->cells = tm_table_cells_new ();
  self->rows = tm_table_rows_new ();
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->rows)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  self->view = gtk_column_view_new (GTK_SELECTION_MODEL (g_object_ref (self->selection)));
  g_signal_connect_swapped (self->selection, "notify::selected", G_CALLBACK (on_row_selected), self);
  g_signal_connect_swapped (self->rows, "changing", G_CALLBACK (on_changing), self);
  g_signal_connect_swapped (self->rows, "items-changed", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (self->view)), "changed", G_CALLBACK (sort), self);

  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->view);
  self->empty = gtk_label_new ("No tensor is like this.\nEscape clears the filter.");
  gtk_label_set_justify (GTK_LABEL (self->empty), GTK_JUSTIFY_CENTER);
  gtk_widget_add_css_class (self->empty, "dim-label");
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), scrolled, "rows");
  gtk_stack_add_named (GTK_STACK (self->stack), self->empty, "empty");
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_widget_set_size_request (self->stack, -1, HEIGHT);
  gtk_box_append (GTK_BOX (self->box), self->stack);
}

void
tm_table_view_set_head (TmTableView *self, GtkWidget *title, GtkWidget *end, const char *close_action, const char *close)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *button = gtk_button_new_from_icon_name ("window-close-symbolic");

  gtk_widget_add_css_class (head, "dock-head");
  gtk_widget_set_hexpand (title, TRUE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), close_action);
  gtk_widget_set_tooltip_text (button, close);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, close, -1);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->filter);
  if (end)
    gtk_box_append (GTK_BOX (head), end);
  gtk_box_append (GTK_BOX (head), button);
  gtk_box_prepend (GTK_BOX (self->box), head);
}

GtkWidget *
tm_table_view_new (TmDocument *document, const char *label, const char *filter, const TmTableColumn *columns, guint n)
{
  TmTableView *self = g_object_new (TM_TYPE_TABLE_VIEW, NULL);

  self->document = g_object_ref (document);
  tm_table_add_columns (GTK_COLUMN_VIEW (self->view), columns, n, self->cells);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Table", -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  self->filter = tm_query_entry_new (document, filter, on_found, on_stopped, self);
  gtk_widget_set_size_request (self->filter, FILTER_WIDTH, -1);
  gtk_widget_set_valign (self->filter, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (document, "selection-changed", G_CALLBACK (on_selected_elsewhere), self);
  return GTK_WIDGET (self);
}
