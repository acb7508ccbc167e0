/* Outliner: the module tree as a list that a keyboard and a screen reader can walk, with dtype chips, sizes and a name
 * filter. It observes the document's selection and sets it; nothing else. */
#include "ui/outline-model.h"
#include "ui/query-entry.h"
#include "ui/panes.h"
#include "ui/widgets.h"

#include "io/number.h"
#include "io/text.h"
#include "model/quantization.h"

#define TM_TYPE_OUTLINER (tm_outliner_get_type ())
G_DECLARE_FINAL_TYPE (TmOutliner, tm_outliner, TM, OUTLINER, GtkWidget)

struct _TmOutliner
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *box, *entry, *stack, *list_view, *empty_label;
  GtkTreeListModel *tree;       /* NULL while a filter is on or nothing is open */
  TmOutlineList *flat;          /* the filter's result */
  GtkSingleSelection *selection;
  gboolean syncing;             /* our own selection change: do not answer it */
};

G_DEFINE_FINAL_TYPE (TmOutliner, tm_outliner, GTK_TYPE_WIDGET)

/* --- Rows ------------------------------------------------------------------------------------------------------- */

typedef struct { GtkWidget *expander, *label, *size, *chip, *mark; } RowWidgets;

static TmOutlineRow *
row_of_item (GObject *item)
{
  if (GTK_IS_TREE_LIST_ROW (item))
    return TM_OUTLINE_ROW (gtk_tree_list_row_get_item (GTK_TREE_LIST_ROW (item)));
  return TM_OUTLINE_ROW (g_object_ref (item));
}

static void
setup_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  RowWidgets *w = g_new0 (RowWidgets, 1);
  w->expander = gtk_tree_expander_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  w->label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (w->label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (w->label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_hexpand (w->label, TRUE);
  w->mark = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  gtk_accessible_update_property (GTK_ACCESSIBLE (w->mark), GTK_ACCESSIBLE_PROPERTY_LABEL, "at fault", -1);
  w->size = gtk_label_new (NULL);
  gtk_widget_add_css_class (w->size, "dim-label");
  gtk_widget_add_css_class (w->size, "numeric");
  w->chip = tm_chip_new (TM_DTYPE_F32, NULL);
  gtk_box_append (GTK_BOX (box), w->label);
  gtk_box_append (GTK_BOX (box), w->mark);
  gtk_box_append (GTK_BOX (box), w->size);
  gtk_box_append (GTK_BOX (box), w->chip);
  gtk_tree_expander_set_child (GTK_TREE_EXPANDER (w->expander), box);
  gtk_list_item_set_child (item, w->expander);
  g_object_set_data_full (G_OBJECT (item), "row-widgets", w, g_free);
}

static void
bind_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  RowWidgets *w = g_object_get_data (G_OBJECT (item), "row-widgets");
  GObject *object = gtk_list_item_get_item (item);
  g_autoptr (TmOutlineRow) row = row_of_item (object);
  gtk_tree_expander_set_list_row (GTK_TREE_EXPANDER (w->expander),
                                  GTK_IS_TREE_LIST_ROW (object) ? GTK_TREE_LIST_ROW (object) : NULL);

  g_autofree char *text = tm_outline_row_get_text (row);
  gtk_label_set_text (GTK_LABEL (w->label), text);
  gboolean is_tensor = row->kind == TM_OUTLINE_TENSOR || row->kind == TM_OUTLINE_STORED;
  gtk_widget_set_visible (w->chip, is_tensor);
  gtk_widget_set_visible (w->size, !is_tensor);
  gtk_widget_set_visible (w->mark, FALSE);

  g_autofree char *tip = NULL;
  if (row->kind == TM_OUTLINE_STORED)
    {
      const TmStored *stored = tm_model_stored (row->model, row->index);
      const TmTensor *owner = tm_model_tensor (row->model, row->owner);
      g_autofree char *name = tm_text_escape (stored->name, -1);
      g_autofree char *size = tm_format_size (stored->bytes);
      g_autofree char *file = stored->source != NULL ? tm_text_escape (tm_source_get_name (stored->source), -1) : NULL;
      const char *role = "other";
      for (guint o = 0; o < owner->n_operands; o++)
        if (owner->operand[o].stored == row->index)
          role = owner->operand[o].role == TM_ROLE_OTHER ? "bookkeeping" : tm_operand_role_get_name (owner->operand[o].role);
      tm_chip_set (w->chip, stored->dtype, stored->type_label != NULL ? stored->type_label : tm_dtype_get_name (stored->dtype));
      gtk_widget_set_visible (w->mark, stored->fault != NULL);
      tip = g_strdup_printf ("%s\n%s · %s · %s", name, role, size, file != NULL ? file : "missing file");
    }
  else if (is_tensor)
    {
      const TmTensor *tensor = tm_model_tensor (row->model, row->index);
      tm_chip_set (w->chip, tensor->dtype, tensor->dtype_label);
      g_autofree char *name = tm_text_escape (tensor->name, -1);
      g_autofree char *size = tm_format_size (tensor->bytes);
      g_autofree char *parameters = tm_format_count (tensor->n_elements);
      gtk_widget_set_visible (w->mark, tensor->fault != NULL);
      g_autofree char *fault = tensor->fault != NULL ? tm_text_escape (tensor->fault, -1) : NULL;
      tip = g_strdup_printf ("%s\n%s elements · %s%s%s", name, parameters, size, fault != NULL ? "\n" : "",
                             fault != NULL ? fault : "");
    }
  else
    {
      const TmModule *module = row->module;
      guint64 parameters = module->parameters;
      if (row->kind == TM_OUTLINE_FOLD)
        {
          const TmFold *fold = &g_array_index (module->folds, TmFold, row->index);
          parameters = 0;
          for (guint i = 0; i < fold->count; i++)
            parameters += ((TmModule *) g_ptr_array_index (module->children, fold->first + i))->parameters;
        }
      g_autofree char *short_count = tm_format_parameters (parameters);
      g_autofree char *count = tm_format_count (parameters);
      gtk_label_set_text (GTK_LABEL (w->size), short_count);
      tip = g_strdup_printf ("%s\n%s parameters", text, count);
    }
  gtk_widget_set_tooltip_text (w->expander, tip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (w->expander), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static GListModel *
create_children (gpointer item, gpointer data)
{
  return tm_outline_list_get_children (TM_OUTLINE_ROW (item));
}

/* --- What the list shows ---------------------------------------------------------------------------------------- */

static void
show_message (TmOutliner *self, const char *message)
{
  gtk_label_set_text (GTK_LABEL (self->empty_label), message);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), message != NULL ? "empty" : "list");
}

static void
set_list (TmOutliner *self, GListModel *model /* taken */)
{
  self->syncing = TRUE;
  gtk_single_selection_set_model (self->selection, model);
  self->syncing = FALSE;
  g_clear_object (&model);
}

/* Opens the rows that lead to the address and selects it; with a filter on, selects it among the results. */
static void
sync_selection (TmOutliner *self)
{
  const TmAddress *address = tm_document_get_selection (self->document);
  guint position = GTK_INVALID_LIST_POSITION;

  if (address != NULL && self->flat != NULL)
    {
      position = tm_outline_list_find (self->flat, address);
    }
  else if (address != NULL && self->tree != NULL && address->kind != TM_ADDRESS_MODEL)
    {
      TmOutlineList *list = TM_OUTLINE_LIST (gtk_tree_list_model_get_model (self->tree));
      g_autoptr (GtkTreeListRow) row = NULL;
      while (list != NULL)
        {
          guint index = tm_outline_list_find (list, address);
          if (index == G_MAXUINT)
            break;
          GtkTreeListRow *next = row != NULL ? gtk_tree_list_row_get_child_row (row, index)
                                             : gtk_tree_list_model_get_child_row (self->tree, index);
          g_clear_object (&row);
          row = next;
          g_autoptr (TmOutlineRow) item = TM_OUTLINE_ROW (gtk_tree_list_row_get_item (row));
          gboolean here = (item->kind == TM_OUTLINE_MODULE && address->kind == TM_ADDRESS_MODULE && item->module == address->module)
                          || (item->kind == TM_OUTLINE_FOLD && address->kind == TM_ADDRESS_FOLD
                              && item->module == address->module && item->index == address->fold);
          if (here || item->kind == TM_OUTLINE_STORED || (item->kind == TM_OUTLINE_TENSOR && address->kind != TM_ADDRESS_STORED))
            break;
          gtk_tree_list_row_set_expanded (row, TRUE);
          GListModel *children = gtk_tree_list_row_get_children (row);
          list = children != NULL ? TM_OUTLINE_LIST (children) : NULL;
        }
      if (row != NULL)
        position = gtk_tree_list_row_get_position (row);
    }

  self->syncing = TRUE;
  gtk_single_selection_set_selected (self->selection, position);
  self->syncing = FALSE;
  if (position != GTK_INVALID_LIST_POSITION)
    gtk_widget_activate_action (self->list_view, "list.scroll-to-item", "u", position);
}

static void
show_tree (TmOutliner *self)
{
  TmModel *model = tm_document_get_model (self->document);
  g_clear_object (&self->flat);
  g_clear_object (&self->tree);
  if (model == NULL || model->root == NULL)
    {
      set_list (self, NULL);
      show_message (self, "Nothing is open");
      return;
    }
  TmOutlineList *top = tm_outline_list_new (model, model->root, -1);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (top));
  self->tree = gtk_tree_list_model_new (G_LIST_MODEL (top), FALSE, FALSE, create_children, NULL, NULL);
  set_list (self, G_LIST_MODEL (g_object_ref (self->tree)));
  show_message (self, n == 0 ? "This model has no tensors" : NULL);
  sync_selection (self);
}

/* --- Filter -------------------------------------------------------------------------------------------------------- */

static void
show_found (const GArray *found, gpointer data)
{
  TmOutliner *self = data;

  if (found == NULL)
    {
      show_tree (self);
      return;
    }
  g_clear_object (&self->flat);
  g_clear_object (&self->tree);
  self->flat = tm_outline_list_new_flat (tm_document_get_model (self->document), g_array_ref ((GArray *) found));
  set_list (self, G_LIST_MODEL (g_object_ref (self->flat)));
  show_message (self, found->len == 0 ? "No tensor is like this.\nEscape clears the filter." : NULL);
  sync_selection (self);
}

static void
filter_stopped (gpointer data)
{
  gtk_widget_grab_focus (((TmOutliner *) data)->list_view);
}

/* --- Document ----------------------------------------------------------------------------------------------------- */

static void
select_row (TmOutliner *self, guint position, gboolean fly)
{
  g_autoptr (GObject) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);
  if (item == NULL)
    return;
  g_autoptr (TmOutlineRow) row = row_of_item (item);
  g_auto (TmAddress) address = TM_ADDRESS_INIT;
  tm_outline_row_get_address (row, &address);
  /* A piece of a weight has no place of its own on the canvas: that goes on showing the weight. */
  tm_document_select (self->document, &address, fly && row->kind != TM_OUTLINE_STORED);
}

static void
selected_changed (GtkSingleSelection *selection, GParamSpec *pspec, TmOutliner *self)
{
  guint position = gtk_single_selection_get_selected (selection);
  if (self->syncing || position == GTK_INVALID_LIST_POSITION)
    return;
  self->syncing = TRUE;
  select_row (self, position, TRUE);
  self->syncing = FALSE;
}

/* The toolkit lets Tab walk every row, and each would be selected. Rows are for the arrow keys; Tab leaves the list. */
static gboolean
list_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, TmOutliner *self)
{
  if (key == GDK_KEY_ISO_Left_Tab || (key == GDK_KEY_Tab && (state & GDK_SHIFT_MASK)))
    {
      tm_query_entry_focus (self->entry);
      return TRUE;
    }
  if (key == GDK_KEY_Tab || key == GDK_KEY_KP_Tab)
    {
      GtkWidget *panes = gtk_widget_get_ancestor (self->box, TM_TYPE_PANES);

      return panes && tm_panes_focus_beyond (TM_PANES (panes), TM_SIDE_START);
    }
  return FALSE;
}

static void
row_activated (GtkListView *view, guint position, TmOutliner *self)
{
  select_row (self, position, TRUE);
  g_autoptr (GObject) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);
  if (GTK_IS_TREE_LIST_ROW (item) && gtk_tree_list_row_is_expandable (GTK_TREE_LIST_ROW (item)))
    gtk_tree_list_row_set_expanded (GTK_TREE_LIST_ROW (item), !gtk_tree_list_row_get_expanded (GTK_TREE_LIST_ROW (item)));
}

static void
document_selected (TmDocument *document, TmOutliner *self)
{
  if (!self->syncing)
    sync_selection (self);
}

/* --- Widget ------------------------------------------------------------------------------------------------------- */

static void
tm_outliner_dispose (GObject *object)
{
  TmOutliner *self = TM_OUTLINER (object);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->flat);
  g_clear_object (&self->tree);
  g_clear_object (&self->selection);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_outliner_parent_class)->dispose (object);
}

static void
tm_outliner_class_init (TmOutlinerClass *class)
{
  G_OBJECT_CLASS (class)->dispose = tm_outliner_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "outliner");
}

static void
tm_outliner_init (TmOutliner *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));

  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  g_signal_connect (self->selection, "notify::selected", G_CALLBACK (selected_changed), self);

  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (setup_row), self);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), self);
  self->list_view = gtk_list_view_new (GTK_SELECTION_MODEL (g_object_ref (self->selection)), factory);
  gtk_widget_add_css_class (self->list_view, "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list_view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Modules and tensors", -1);
  g_signal_connect (self->list_view, "activate", G_CALLBACK (row_activated), self);
  GtkEventController *keys = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (list_key), self);
  gtk_widget_add_controller (self->list_view, keys);

  GtkWidget *scrolled = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->list_view);
  self->empty_label = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->empty_label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (self->empty_label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_justify (GTK_LABEL (self->empty_label), GTK_JUSTIFY_CENTER);
  gtk_widget_add_css_class (self->empty_label, "dim-label");
  gtk_widget_add_css_class (self->empty_label, "empty-message");

  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), scrolled, "list");
  gtk_stack_add_named (GTK_STACK (self->stack), self->empty_label, "empty");
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (self->box), self->stack);
}

GtkWidget *
tm_outliner_new (TmDocument *document)
{
  TmOutliner *self = g_object_new (TM_TYPE_OUTLINER, NULL);
  self->document = g_object_ref (document);
  self->entry = tm_query_entry_new (document, "Filter tensors by name", show_found, filter_stopped, self);
  gtk_widget_add_css_class (self->entry, "outline-filter");
  gtk_box_prepend (GTK_BOX (self->box), self->entry); /* it tells what to show when the model changes */
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (document_selected), self, 0);
  show_tree (self);
  return GTK_WIDGET (self);
}

void
tm_outliner_focus_filter (GtkWidget *outliner)
{
  tm_query_entry_focus (TM_OUTLINER (outliner)->entry);
}
