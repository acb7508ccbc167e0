#include "ui/query-entry.h"

#include "ui/query-filter.h"

#define EXAMPLE "dtype:Q6_K rows>1000 …"
#define HELP \
  "A part of the name, or a query: dtype:Q6_K, module:*.ffn_*, rows>4096, sqnr<20, absmax>8, nan>0, zeros>50%, with and, or, not " \
  "and parentheses"

#define TM_TYPE_QUERY_ENTRY (tm_query_entry_get_type ())
G_DECLARE_FINAL_TYPE (TmQueryEntry, tm_query_entry, TM, QUERY_ENTRY, GtkWidget)

struct _TmQueryEntry
{
  GtkWidget parent_instance;
  TmDocument *document;
  TmQueryFilter *filter;
  GtkWidget *entry, *foot, *words, *cancel;
  TmQueryFound found;
  void (*stopped) (gpointer data);
  gpointer data;
};

G_DEFINE_FINAL_TYPE (TmQueryEntry, tm_query_entry, GTK_TYPE_WIDGET)

static const char *
get_text (TmQueryEntry *self)
{
  return gtk_editable_get_text (GTK_EDITABLE (self->entry));
}

/* words: under the entry, NULL for nothing; can_cancel: they are of something under way. */
static void
say (TmQueryEntry *self, const char *words, gboolean can_cancel)
{
  gtk_label_set_text (GTK_LABEL (self->words), words ? words : " "); /* of nothing GTK makes its class's name */
  gtk_widget_set_visible (self->cancel, can_cancel);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->foot), words != NULL);
}

/* The character that could not be read; at the end of the text its last one. */
static void
mark (TmQueryEntry *self, gint64 at)
{
  GtkEditable *text = gtk_editable_get_delegate (GTK_EDITABLE (self->entry));
  g_autoptr (PangoAttrList) marks = NULL;

  if (at >= 0 && *get_text (self))
    {
      const char *all = get_text (self);
      const glong length = g_utf8_strlen (all, -1);
      const char *from = g_utf8_offset_to_pointer (all, MIN ((glong) at, length - 1));
      PangoAttribute *line = pango_attr_underline_new (PANGO_UNDERLINE_ERROR), *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);

      line->start_index = bold->start_index = (guint) (from - all);
      line->end_index = bold->end_index = (guint) (g_utf8_next_char (from) - all);
      marks = pango_attr_list_new ();
      pango_attr_list_insert (marks, line);
      pango_attr_list_insert (marks, bold);
    }
  if (GTK_IS_TEXT (text))
    gtk_text_set_attributes (GTK_TEXT (text), marks);
}

static void
show_problem (TmQueryEntry *self, const char *problem, gint64 at)
{
  mark (self, at);
  gtk_widget_add_css_class (self->entry, "error");
  gtk_widget_add_css_class (self->words, "fault");
  say (self, problem, FALSE);
}

static void
clear_problem (TmQueryEntry *self)
{
  mark (self, -1);
  gtk_widget_remove_css_class (self->entry, "error");
  gtk_widget_remove_css_class (self->words, "fault");
  say (self, NULL, FALSE);
}

static void
answered (const TmQueryAnswer *answer, gpointer data)
{
  TmQueryEntry *self = data;

  if (answer->problem)
    show_problem (self, answer->problem, answer->has_place ? (gint64) answer->at : -1);
  else if (answer->found)
    {
      clear_problem (self);
      self->found (answer->found, self->data);
    }
  else
    {
      g_autofree char *words = g_strdup_printf ("Statistics… %.0f %%", answer->progress * 100);

      say (self, words, TRUE);
    }
}

static void
ask (TmQueryEntry *self)
{
  const gboolean any = *get_text (self) && tm_document_get_model (self->document);

  clear_problem (self);
  tm_query_filter_ask (self->filter, any ? get_text (self) : NULL);
  if (!any)
    self->found (NULL, self->data);
}

static void
on_cancel (TmQueryEntry *self)
{
  tm_query_filter_ask (self->filter, NULL);
  say (self, "Cancelled: Enter asks again", FALSE);
}

static void
on_stop (TmQueryEntry *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  ask (self); /* at once, not when typing would have come to rest */
  if (self->stopped)
    self->stopped (self->data);
}

static void
on_model_changed (TmQueryEntry *self)
{
  if (!tm_document_keeps_view (self->document))
    gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  self->found (NULL, self->data); /* what was found is of the model before */
  ask (self);
}

/* What is found by the error may be found otherwise now. */
static void
on_comparison_changed (TmQueryEntry *self)
{
  if (*get_text (self))
    ask (self);
}

static void
tm_query_entry_dispose (GObject *object)
{
  TmQueryEntry *self = TM_QUERY_ENTRY (object);
  GtkWidget *child;

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_pointer (&self->filter, tm_query_filter_free);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))))
    gtk_widget_unparent (child);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_query_entry_parent_class)->dispose (object);
}

static void
tm_query_entry_class_init (TmQueryEntryClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_query_entry_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-query");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_query_entry_init (TmQueryEntry *self)
{
  GtkWidget *foot;

  gtk_orientable_set_orientation (GTK_ORIENTABLE (gtk_widget_get_layout_manager (GTK_WIDGET (self))), GTK_ORIENTATION_VERTICAL);
  self->entry = gtk_search_entry_new ();
  g_object_set (self->entry, "placeholder-text", EXAMPLE, NULL);
  gtk_widget_set_tooltip_text (self->entry, HELP);
  foot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  /* Not hidden when empty: what comes into being is not told over the accessibility bus by every GTK. */
  self->foot = gtk_revealer_new ();
  gtk_revealer_set_transition_duration (GTK_REVEALER (self->foot), 0);
  gtk_revealer_set_child (GTK_REVEALER (self->foot), foot);
  self->words = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->words), 0);
  gtk_label_set_wrap (GTK_LABEL (self->words), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (self->words), PANGO_WRAP_WORD_CHAR);
  gtk_widget_set_hexpand (self->words, TRUE);
  gtk_widget_add_css_class (self->words, "caption");
  self->cancel = gtk_button_new_with_label ("Cancel");
  gtk_widget_add_css_class (self->cancel, "flat");
  gtk_widget_add_css_class (self->cancel, "log-button");
  gtk_widget_set_valign (self->cancel, GTK_ALIGN_START);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->cancel), GTK_ACCESSIBLE_PROPERTY_LABEL, "Cancel the filter's statistics", -1);
  gtk_box_append (GTK_BOX (foot), self->words);
  gtk_box_append (GTK_BOX (foot), self->cancel);
  gtk_widget_set_parent (self->entry, GTK_WIDGET (self));
  gtk_widget_set_parent (self->foot, GTK_WIDGET (self));
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (ask), self);
  g_signal_connect_swapped (self->entry, "activate", G_CALLBACK (ask), self);
  g_signal_connect_swapped (self->entry, "stop-search", G_CALLBACK (on_stop), self);
  g_signal_connect_swapped (self->cancel, "clicked", G_CALLBACK (on_cancel), self);
  say (self, NULL, FALSE);
}

GtkWidget *
tm_query_entry_new (TmDocument *document, const char *label, TmQueryFound found, void (*stopped) (gpointer data), gpointer data)
{
  TmQueryEntry *self = g_object_new (TM_TYPE_QUERY_ENTRY, NULL);

  self->document = g_object_ref (document);
  self->found = found;
  self->stopped = stopped;
  self->data = data;
  self->filter = tm_query_filter_new (document, answered, self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Filter", -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (document, "comparison-changed", G_CALLBACK (on_comparison_changed), self);
  return GTK_WIDGET (self);
}

void
tm_query_entry_focus (GtkWidget *entry)
{
  gtk_widget_grab_focus (TM_QUERY_ENTRY (entry)->entry);
}
