/* Compare panel: what the comparison says, under the canvas: in words, then tensor by tensor, worst first; what has no
 * counterpart on either side. A click selects the tensor and flies to it. */
#include "ui/table-columns.h"
#include "ui/widgets.h"

#include "io/text.h"

#include <math.h>

#define TM_TYPE_COMPARE_PANEL (tm_compare_panel_get_type ())
G_DECLARE_FINAL_TYPE (TmComparePanel, tm_compare_panel, TM, COMPARE_PANEL, GtkWidget)

struct _TmComparePanel
{
  GtkWidget parent_instance;
  TmDocument *document;
  TmDiff *diff; /* own reference: rows read from it */
  GtkWidget *box, *title, *words, *left_button, *left_list, *view;
  GListStore *rows;
  GtkSortListModel *sorted;
  GtkSingleSelection *selection;
  gboolean syncing; /* our own change of the selection */
};

G_DEFINE_FINAL_TYPE (TmComparePanel, tm_compare_panel, GTK_TYPE_WIDGET)

/* --- Columns ----------------------------------------------------------------------------------------------------- */

static const TmDiffTensor *
get_diff (const TmTableRow *row)
{
  return row->data;
}

static const TmTensor *
get_tensor (const TmTableRow *row)
{
  return tm_model_tensor (((TmDiff *) row->owner)->alignment->candidate, row->tensor);
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

static double
get_sqnr (const TmTableRow *row)
{
  return get_diff (row)->fault ? (double) NAN : get_diff (row)->sqnr_db;
}

static char *
format_sqnr (const TmTableRow *row)
{
  return get_diff (row)->fault ? g_strdup ("not compared") : tm_diff_format_sqnr (get_diff (row)->sqnr_db);
}

static double
get_max (const TmTableRow *row)
{
  return get_diff (row)->fault ? (double) NAN : get_diff (row)->max_abs;
}

static char *
format_max (const TmTableRow *row)
{
  const double max = get_max (row);

  return isnan (max) ? NULL : g_strdup_printf ("%.4g", max);
}

static double
get_cosine (const TmTableRow *row)
{
  return get_diff (row)->fault ? (double) NAN : get_diff (row)->cosine;
}

static char *
format_cosine (const TmTableRow *row)
{
  const double cosine = get_cosine (row);

  return isnan (cosine) ? NULL : g_strdup_printf ("%.5f", cosine);
}

static double
get_over (const TmTableRow *row)
{
  return get_diff (row)->fault || !get_diff (row)->has_steps ? (double) NAN : get_diff (row)->over_half_step;
}

static double
get_clipped (const TmTableRow *row)
{
  return get_diff (row)->fault || !get_diff (row)->has_steps ? (double) NAN : get_diff (row)->clipped;
}

static char *
format_share (double share)
{
  return isnan (share) ? NULL : g_strdup_printf (share > 0 && share < 5e-5 ? "< 0.01 %%" : "%.2f %%", share * 100);
}

static char *
format_over (const TmTableRow *row)
{
  return format_share (get_over (row));
}

static char *
format_clipped (const TmTableRow *row)
{
  return format_share (get_clipped (row));
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

static const TmTableColumn columns[] = {
  { "tensor", 0, format_name, NULL },
  { "dtype", 84, format_dtype, NULL },
  { "SQNR", 92, format_sqnr, get_sqnr },
  { "max |error|", 108, format_max, get_max },
  { "cosine", 86, format_cosine, get_cosine },
  { "> ½ step", 88, format_over, get_over },
  { "clipped", 86, format_clipped, get_clipped },
  { "bits/w", 70, format_bits, get_bits },
};

/* --- Selection --------------------------------------------------------------------------------------------------- */

static void
on_row_selected (TmComparePanel *self)
{
  TmTableRow *row = gtk_single_selection_get_selected_item (self->selection);

  if (row && !self->syncing)
    tm_document_show_tensor (self->document, row->tensor);
}

static void
on_selection_changed (TmComparePanel *self)
{
  guint tensor, found = GTK_INVALID_LIST_POSITION;

  if (self->diff && tm_document_get_tensor (self->document, &tensor))
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

/* --- What it says ------------------------------------------------------------------------------------------------ */

static void
add_left (GPtrArray *names, const char *side, TmModel *model, const GArray *indices)
{
  for (guint i = 0; i < indices->len; i++)
    {
      g_autofree char *name = tm_text_escape (tm_model_tensor (model, g_array_index (indices, guint, i))->name, -1);

      g_ptr_array_add (names, g_strdup_printf ("%s: %s", side, name));
    }
}

static void
show_left (TmComparePanel *self, const TmAlignment *alignment)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *label = NULL;

  add_left (names, "candidate only", alignment->candidate, alignment->candidate_left);
  add_left (names, "reference only", alignment->reference, alignment->reference_left);
  gtk_widget_set_visible (self->left_button, names->len > 0);
  label = g_strdup_printf ("%u left over", names->len);
  gtk_menu_button_set_label (GTK_MENU_BUTTON (self->left_button), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->left_button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_ptr_array_add (names, NULL);

  g_autoptr (GtkStringList) list = gtk_string_list_new ((const char *const *) names->pdata);
  g_autoptr (GtkSelectionModel) none = GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (g_steal_pointer (&list))));

  gtk_list_view_set_model (GTK_LIST_VIEW (self->left_list), none);
}

static void
on_comparison_changed (TmComparePanel *self)
{
  TmComparison *comparison = tm_document_get_comparison (self->document);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);
  TmDiff *diff = comparison ? tm_comparison_get_diff (comparison) : NULL;

  self->syncing = TRUE;
  g_list_store_remove_all (self->rows);
  g_clear_pointer (&self->diff, tm_diff_unref);
  if (diff)
    {
      g_autofree char *candidate = tm_comparison_name_model (diff->alignment->candidate);
      g_autofree char *reference = tm_comparison_name_model (diff->alignment->reference);
      g_autofree char *title = g_strdup_printf ("%s against %s", candidate, reference);
      g_autofree char *said = tm_comparison_describe (comparison);
      g_autofree char *total = diff->total.tensors ? tm_diff_format_sqnr (diff->total.sqnr_db) : NULL;
      g_autofree char *words = g_strdup_printf ("Worst first · %s%s%s", said, total ? " · all together " : "", total ? total : "");

      self->diff = tm_diff_ref (diff);
      gtk_label_set_text (GTK_LABEL (self->title), title);
      gtk_widget_set_tooltip_text (self->title, title);
      gtk_label_set_text (GTK_LABEL (self->words), words);
      gtk_widget_set_tooltip_text (self->words, words);
      show_left (self, diff->alignment);
      for (guint i = 0; i < diff->tensors->len; i++)
        {
          const TmDiffTensor *tensor = tm_diff_tensor (diff, i);

          g_ptr_array_add (rows, tm_table_row_new (tensor->pair->candidate, self->diff, tensor));
        }
      g_list_store_splice (self->rows, 0, 0, rows->pdata, rows->len);
    }
  self->syncing = FALSE;
  on_selection_changed (self);
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static void
setup_left (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_list_item_set_child (item, label);
}

static void
bind_left (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)),
                      gtk_string_object_get_string (gtk_list_item_get_item (item)));
}

static GtkWidget *
left_button_new (TmComparePanel *self)
{
  GtkWidget *button = gtk_menu_button_new (), *popover = gtk_popover_new (), *scrolled = gtk_scrolled_window_new ();
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (setup_left), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_left), NULL);
  self->left_list = gtk_list_view_new (NULL, factory);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->left_list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  "Tensors without a counterpart", -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->left_list);
  gtk_widget_set_size_request (scrolled, 380, 260);
  gtk_popover_set_child (GTK_POPOVER (popover), scrolled);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (button), popover);
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (button), GTK_ARROW_UP);
  gtk_menu_button_set_has_frame (GTK_MENU_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, "Tensors that have no counterpart on the other side");
  return button;
}

static GtkWidget *
head_new (TmComparePanel *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1);
  GtkWidget *close = gtk_button_new_from_icon_name ("window-close-symbolic");

  gtk_widget_add_css_class (head, "dock-head");
  self->title = gtk_label_new (NULL);
  self->words = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->title, "heading");
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  gtk_label_set_xalign (GTK_LABEL (self->words), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_ellipsize (GTK_LABEL (self->words), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (texts), self->title);
  gtk_box_append (GTK_BOX (texts), self->words);
  gtk_widget_set_hexpand (texts, TRUE);
  self->left_button = left_button_new (self);
  gtk_widget_set_valign (self->left_button, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (close, GTK_ALIGN_CENTER);
  gtk_button_set_has_frame (GTK_BUTTON (close), FALSE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (close), "win.stop-comparing");
  gtk_widget_set_tooltip_text (close, "End the comparison");
  gtk_accessible_update_property (GTK_ACCESSIBLE (close), GTK_ACCESSIBLE_PROPERTY_LABEL, "End the comparison", -1);
  gtk_box_append (GTK_BOX (head), texts);
  gtk_box_append (GTK_BOX (head), self->left_button);
  gtk_box_append (GTK_BOX (head), close);
  return head;
}

static void
tm_compare_panel_dispose (GObject *object)
{
  TmComparePanel *self = TM_COMPARE_PANEL (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  if (self->selection)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  self->sorted = NULL;
  g_clear_object (&self->rows);
  g_clear_pointer (&self->diff, tm_diff_unref);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_compare_panel_parent_class)->dispose (object);
}

static void
tm_compare_panel_class_init (TmComparePanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_compare_panel_dispose;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-dock");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_compare_panel_init (TmComparePanel *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Comparison", -1);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_box_append (GTK_BOX (self->box), head_new (self));

  self->view = gtk_column_view_new (NULL);
  tm_table_add_columns (GTK_COLUMN_VIEW (self->view), columns, G_N_ELEMENTS (columns));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Tensors, worst first", -1);
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
tm_compare_panel_new (TmDocument *document)
{
  TmComparePanel *self = g_object_new (TM_TYPE_COMPARE_PANEL, NULL);

  self->document = g_object_ref (document);
  g_signal_connect_swapped (document, "comparison-changed", G_CALLBACK (on_comparison_changed), self);
  g_signal_connect_swapped (document, "selection-changed", G_CALLBACK (on_selection_changed), self);
  on_comparison_changed (self);
  return GTK_WIDGET (self);
}
