/* Compare panel: what the comparison says, under the canvas: in words, then tensor by tensor, worst first; what has no
 * counterpart on either side. A click selects the tensor and flies to it. */
#include "ui/table-view.h"
#include "ui/widgets.h"

#include "io/text.h"

#include <math.h>
#include <string.h>

#define TM_TYPE_COMPARE_PANEL (tm_compare_panel_get_type ())
G_DECLARE_FINAL_TYPE (TmComparePanel, tm_compare_panel, TM, COMPARE_PANEL, GtkWidget)

struct _TmComparePanel
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *table, *title, *words, *left_button, *left_list;
  char *said; /* of the comparison */
};

G_DEFINE_FINAL_TYPE (TmComparePanel, tm_compare_panel, GTK_TYPE_WIDGET)

/* --- Columns ----------------------------------------------------------------------------------------------------- */

static const TmDiffTensor *
get_diff (const TmTableEntry *entry)
{
  return entry->data;
}

static const TmTensor *
get_tensor (const TmTableEntry *entry)
{
  return tm_model_tensor (((TmDiff *) entry->owner)->alignment->candidate, entry->tensor);
}

static char *
format_name (const TmTableEntry *entry)
{
  return tm_text_escape (get_tensor (entry)->name, -1);
}

static char *
format_dtype (const TmTableEntry *entry)
{
  return tm_text_escape (get_tensor (entry)->dtype_label, -1);
}

static double
get_sqnr (const TmTableEntry *entry)
{
  return get_diff (entry)->fault ? (double) NAN : get_diff (entry)->sqnr_db;
}

static char *
format_sqnr (const TmTableEntry *entry)
{
  return get_diff (entry)->fault ? g_strdup ("not compared") : tm_diff_format_sqnr (get_diff (entry)->sqnr_db);
}

static double
get_max (const TmTableEntry *entry)
{
  return get_diff (entry)->fault ? (double) NAN : get_diff (entry)->max_abs;
}

static char *
format_max (const TmTableEntry *entry)
{
  return tm_table_format_number (get_max (entry));
}

static double
get_cosine (const TmTableEntry *entry)
{
  return get_diff (entry)->fault ? (double) NAN : get_diff (entry)->cosine;
}

static char *
format_cosine (const TmTableEntry *entry)
{
  const double cosine = get_cosine (entry);

  return isnan (cosine) ? NULL : g_strdup_printf ("%.5f", cosine);
}

static double
get_over (const TmTableEntry *entry)
{
  return get_diff (entry)->fault || !get_diff (entry)->has_steps ? (double) NAN : get_diff (entry)->over_half_step;
}

static double
get_clipped (const TmTableEntry *entry)
{
  return get_diff (entry)->fault || !get_diff (entry)->has_steps ? (double) NAN : get_diff (entry)->clipped;
}

static char *
format_over (const TmTableEntry *entry)
{
  return tm_table_format_share (get_over (entry));
}

static char *
format_clipped (const TmTableEntry *entry)
{
  return tm_table_format_share (get_clipped (entry));
}

static double
get_bits (const TmTableEntry *entry)
{
  return tm_tensor_get_bits_per_weight (get_tensor (entry));
}

static char *
format_bits (const TmTableEntry *entry)
{
  return g_strdup_printf ("%.2f", get_bits (entry));
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
show_words (gpointer data)
{
  TmComparePanel *self = data;
  g_autofree char *count = tm_table_view_count (TM_TABLE_VIEW (self->table));
  g_autofree char *words = g_strdup_printf ("%s%s%s", strstr (count, " of ") ? count : "Worst first", self->said ? " · " : "",
                                            self->said ? self->said : "");

  gtk_label_set_text (GTK_LABEL (self->words), words);
  gtk_widget_set_tooltip_text (self->words, words);
}

static void
unref_diff (gpointer diff)
{
  tm_diff_unref (diff);
}

static void
on_comparison_changed (TmComparePanel *self)
{
  TmComparison *comparison = tm_document_get_comparison (self->document);
  TmDiff *diff = comparison ? tm_comparison_get_diff (comparison) : NULL;
  GArray *entries;

  g_clear_pointer (&self->said, g_free);
  if (!diff)
    {
      tm_table_view_set_entries (TM_TABLE_VIEW (self->table), NULL, NULL, NULL);
      return;
    }
  g_autofree char *candidate = tm_comparison_name_model (diff->alignment->candidate);
  g_autofree char *reference = tm_comparison_name_model (diff->alignment->reference);
  g_autofree char *title = g_strdup_printf ("%s against %s", candidate, reference);
  g_autofree char *said = tm_comparison_describe (comparison);
  g_autofree char *total = diff->total.tensors ? tm_diff_format_sqnr (diff->total.sqnr_db) : NULL;

  self->said = g_strdup_printf ("%s%s%s", said, total ? " · all together " : "", total ? total : "");
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_widget_set_tooltip_text (self->title, title);
  show_left (self, diff->alignment);
  entries = g_array_sized_new (FALSE, FALSE, sizeof (TmTableEntry), diff->tensors->len);
  for (guint i = 0; i < diff->tensors->len; i++)
    {
      const TmDiffTensor *tensor = tm_diff_tensor (diff, i);
      const TmTableEntry entry = { tensor->pair->candidate, diff, tensor };

      g_array_append_val (entries, entry);
    }
  tm_table_view_set_entries (TM_TABLE_VIEW (self->table), entries, tm_diff_ref (diff), unref_diff);
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
title_new (TmComparePanel *self)
{
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1);

  self->title = gtk_label_new (NULL);
  self->words = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->title, "heading");
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  gtk_label_set_xalign (GTK_LABEL (self->words), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_ellipsize (GTK_LABEL (self->words), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (texts), self->title);
  gtk_box_append (GTK_BOX (texts), self->words);
  return texts;
}

static void
tm_compare_panel_dispose (GObject *object)
{
  TmComparePanel *self = TM_COMPARE_PANEL (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_pointer (&self->table, gtk_widget_unparent);
  g_clear_pointer (&self->said, g_free);
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
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Comparison", -1);
}

GtkWidget *
tm_compare_panel_new (TmDocument *document)
{
  TmComparePanel *self = g_object_new (TM_TYPE_COMPARE_PANEL, NULL);

  self->document = g_object_ref (document);
  self->table = tm_table_view_new (document, "Tensors, worst first", "Filter the comparison", columns,
                                   G_N_ELEMENTS (columns));
  self->left_button = left_button_new (self);
  gtk_widget_set_valign (self->left_button, GTK_ALIGN_CENTER);
  tm_table_view_set_head (TM_TABLE_VIEW (self->table), title_new (self), self->left_button, "win.stop-comparing",
                          "End the comparison");
  tm_table_view_watch (TM_TABLE_VIEW (self->table), show_words, self);
  gtk_widget_set_parent (self->table, GTK_WIDGET (self));
  g_signal_connect_swapped (document, "comparison-changed", G_CALLBACK (on_comparison_changed), self);
  on_comparison_changed (self);
  return GTK_WIDGET (self);
}
