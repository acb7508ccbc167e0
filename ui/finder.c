#include "ui/finder.h"

#include <string.h>

#include "io/text.h"
#include "ui/keys.h"

#define MAX_RESULTS 100

/* --- Results ----------------------------------------------------------------------------------------------------- */

#define TM_TYPE_FINDER_ITEM (tm_finder_item_get_type ())
G_DECLARE_FINAL_TYPE (TmFinderItem, tm_finder_item, TM, FINDER_ITEM, GObject)

struct _TmFinderItem
{
  GObject parent_instance;
  char *title, *detail;
  const char *action; /* or NULL: then address */
  char *address;
};

G_DEFINE_FINAL_TYPE (TmFinderItem, tm_finder_item, G_TYPE_OBJECT)

static void
tm_finder_item_finalize (GObject *object)
{
  TmFinderItem *self = TM_FINDER_ITEM (object);

  g_free (self->title);
  g_free (self->detail);
  g_free (self->address);
  G_OBJECT_CLASS (tm_finder_item_parent_class)->finalize (object);
}

static void
tm_finder_item_class_init (TmFinderItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = tm_finder_item_finalize;
}

static void
tm_finder_item_init (TmFinderItem *self)
{
}

/* --- Palette ----------------------------------------------------------------------------------------------------- */

struct _TmFinder
{
  GtkWidget parent_instance;
  GtkWidget *box, *entry, *list, *stack;
  GListStore *store;
  GtkSingleSelection *selection;
  TmDocument *document;
  void (*activate) (const char *action, gpointer data);
  gpointer data;
  GtkWidget *focus_before;
  char *searched; /* what the results are for */
};

G_DEFINE_FINAL_TYPE (TmFinder, tm_finder, GTK_TYPE_WIDGET)

static void
add (GPtrArray *results, const char *title, char *detail, const char *action, char *address)
{
  TmFinderItem *item = g_object_new (TM_TYPE_FINDER_ITEM, NULL);

  item->title = tm_text_escape (title, -1);
  item->detail = detail;
  item->action = action;
  item->address = address;
  g_ptr_array_add (results, item);
}

/* Every word is somewhere in the text, case aside (ASCII: names of tensors are). */
static gboolean
matches (const char *text, char **words)
{
  for (; *words; words++)
    {
      const gsize length = strlen (*words);
      const char *at = text;

      while (*at && g_ascii_strncasecmp (at, *words, length) != 0)
        at++;
      if (!*at && length)
        return FALSE;
    }
  return TRUE;
}

static void
add_address (TmFinder *self, GPtrArray *results, const char *text)
{
  TmModel *model = tm_document_get_model (self->document);
  g_auto (TmAddress) address = TM_ADDRESS_INIT;

  if (model && *text && tm_address_parse (model, text, &address, NULL) && address.kind != TM_ADDRESS_MODEL)
    add (results, text, g_strdup ("go to"), NULL, g_strdup (text));
}

static void
add_actions (GPtrArray *results, char **words)
{
  for (const TmKey *key = tm_keys; key->group && results->len < MAX_RESULTS; key++)
    {
      g_autofree char *text = NULL;

      if (!key->title || !key->action)
        continue;
      text = g_strconcat (key->group, " ", key->title, NULL);
      if (matches (text, words))
        add (results, key->title, tm_key_get_label (key), key->action, NULL);
    }
}

/* Backends for the overlay of that name: only where one is looked for. */
static void
add_backends (GPtrArray *results, char **words)
{
  for (guint i = 0; *words && i < tm_backends_get_n () && results->len < MAX_RESULTS; i++)
    {
      const TmBackend *backend = tm_backends_get (i);
      g_autofree char *title = g_strconcat ("Backend support: ", backend->name, NULL);
      g_autofree char *action = g_strconcat ("win.backend::", backend->id, NULL);

      if (matches (title, words))
        add (results, title, g_strdup ("backend"), g_intern_string (action), NULL);
    }
}

static void
add_modules (TmFinder *self, GPtrArray *results, char **words)
{
  TmModel *model = tm_document_get_model (self->document);
  g_autoptr (GPtrArray) pending = g_ptr_array_new ();

  if (!*words)
    return;
  g_ptr_array_add (pending, model->root);
  while (pending->len && results->len < MAX_RESULTS)
    {
      TmModule *module = g_ptr_array_steal_index (pending, pending->len - 1);

      if (module->parent && module->n_tensors > 1 && matches (module->path, words))
        add (results, module->path, g_strdup ("module"), NULL, g_strdup (module->path));
      for (guint i = module->children->len; i-- > 0;)
        g_ptr_array_add (pending, g_ptr_array_index (module->children, i));
    }
}

static void
add_tensors (TmFinder *self, GPtrArray *results, char **words)
{
  TmModel *model = tm_document_get_model (self->document);

  for (guint i = 0; i < model->tensors->len && results->len < MAX_RESULTS; i++)
    {
      TmTensor *tensor = tm_model_tensor (model, i);

      if (matches (tensor->name, words))
        {
          TmAddress address = { .kind = TM_ADDRESS_TENSOR, .tensor = i };

          add (results, tensor->name, tm_text_escape (tensor->dtype_label, -1), NULL,
               tm_address_format (model, &address));
        }
    }
}

static void
search (TmFinder *self)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->entry));
  g_autofree char *trimmed = g_strstrip (g_strdup (text));
  g_auto (GStrv) words = g_strsplit_set (trimmed, " \t", -1);
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (g_object_unref);

  g_free (self->searched);
  self->searched = g_strdup (text);
  add_address (self, results, trimmed);
  add_actions (results, words);
  if (tm_document_get_model (self->document))
    {
      add_backends (results, words);
      add_modules (self, results, words);
      add_tensors (self, results, words);
    }
  g_list_store_splice (self->store, 0, g_list_model_get_n_items (G_LIST_MODEL (self->store)), results->pdata,
                       results->len);
  gtk_single_selection_set_selected (self->selection, 0);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), results->len ? "list" : "none");
}

static void
on_closed_focus (TmFinder *self)
{
  if (self->focus_before && gtk_widget_get_mapped (self->focus_before))
    gtk_widget_grab_focus (self->focus_before);
  g_clear_weak_pointer (&self->focus_before);
}

void
tm_finder_close (TmFinder *self)
{
  if (!gtk_widget_get_visible (GTK_WIDGET (self)))
    return;
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  on_closed_focus (self);
}

static void
run (TmFinder *self, guint position)
{
  g_autoptr (TmFinderItem) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  if (!item)
    return;
  tm_finder_close (self);
  if (item->action)
    self->activate (item->action, self->data);
  else
    tm_document_go_to (self->document, item->address, NULL);
}

static void
on_entry_activate (TmFinder *self)
{
  /* The entry waits a little before it says that its text has changed; Enter may be quicker. */
  if (g_strcmp0 (self->searched, gtk_editable_get_text (GTK_EDITABLE (self->entry))) != 0)
    search (self);
  run (self, gtk_single_selection_get_selected (self->selection));
}

static void
on_list_activate (GtkListView *list, guint position, TmFinder *self)
{
  run (self, position);
}

static gboolean
on_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, TmFinder *self)
{
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (self->store));
  guint selected = gtk_single_selection_get_selected (self->selection);

  if (key == GDK_KEY_Escape)
    {
      tm_finder_close (self);
      return TRUE;
    }
  if (n == 0 || (key != GDK_KEY_Down && key != GDK_KEY_Up))
    return FALSE;
  selected = (selected + (key == GDK_KEY_Down ? 1 : n - 1)) % n;
  gtk_single_selection_set_selected (self->selection, selected);
  gtk_widget_activate_action (self->list, "list.scroll-to-item", "u", selected);
  return TRUE;
}

static void
on_focus_left (TmFinder *self)
{
  tm_finder_close (self);
}

void
tm_finder_open (TmFinder *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));

  g_clear_weak_pointer (&self->focus_before);
  g_set_weak_pointer (&self->focus_before, gtk_root_get_focus (root));
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  search (self);
  gtk_widget_grab_focus (self->entry);
}

static void
setup_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = gtk_label_new (NULL);
  GtkWidget *detail = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_widget_add_css_class (detail, "dim-label");
  gtk_box_append (GTK_BOX (row), title);
  gtk_box_append (GTK_BOX (row), detail);
  gtk_list_item_set_child (item, row);
}

static void
bind_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *title = gtk_widget_get_first_child (gtk_list_item_get_child (item));
  TmFinderItem *result = gtk_list_item_get_item (item);

  gtk_label_set_text (GTK_LABEL (title), result->title);
  gtk_widget_set_tooltip_text (title, result->title);
  gtk_label_set_text (GTK_LABEL (gtk_widget_get_next_sibling (title)), result->detail);
}

static void
tm_finder_dispose (GObject *object)
{
  TmFinder *self = TM_FINDER (object);

  g_clear_weak_pointer (&self->focus_before);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->searched, g_free);
  g_clear_object (&self->selection);
  g_clear_object (&self->store);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_finder_parent_class)->dispose (object);
}

static void
tm_finder_class_init (TmFinderClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = tm_finder_dispose;
  gtk_widget_class_set_css_name (widget_class, "tm-finder");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_finder_init (TmFinder *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *none = gtk_label_new ("Nothing has this text. Try a part of a tensor's name, or an action.");

  self->store = g_list_store_new (TM_TYPE_FINDER_ITEM);
  self->selection = gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->store)));
  g_signal_connect (factory, "setup", G_CALLBACK (setup_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), NULL);

  self->entry = gtk_search_entry_new ();
  g_object_set (self->entry, "placeholder-text", "Action, tensor, module or address", NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, "Command palette", -1);
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (search), self);
  g_signal_connect_swapped (self->entry, "activate", G_CALLBACK (on_entry_activate), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (widget, keys);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (on_focus_left), self);
  gtk_widget_add_controller (widget, focus);

  self->list = gtk_list_view_new (GTK_SELECTION_MODEL (g_object_ref (self->selection)), factory);
  gtk_list_view_set_single_click_activate (GTK_LIST_VIEW (self->list), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Results", -1);
  g_signal_connect (self->list, "activate", G_CALLBACK (on_list_activate), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), 360);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);

  gtk_label_set_wrap (GTK_LABEL (none), TRUE);
  gtk_widget_add_css_class (none, "dim-label");
  gtk_widget_set_margin_top (none, 12);
  gtk_widget_set_margin_bottom (none, 12);
  self->stack = gtk_stack_new ();
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_add_named (GTK_STACK (self->stack), scroller, "list");
  gtk_stack_add_named (GTK_STACK (self->stack), none, "none");

  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_box_append (GTK_BOX (self->box), self->entry);
  gtk_box_append (GTK_BOX (self->box), self->stack);
  gtk_widget_set_parent (self->box, widget);

  gtk_widget_set_halign (widget, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (widget, GTK_ALIGN_START);
  gtk_widget_set_size_request (widget, 340, -1);
  gtk_widget_set_visible (widget, FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Command palette", -1);
}

GtkWidget *
tm_finder_new (TmDocument *document, void (*activate) (const char *action, gpointer data), gpointer data)
{
  TmFinder *self = g_object_new (TM_TYPE_FINDER, NULL);

  self->document = g_object_ref (document);
  self->activate = activate;
  self->data = data;
  return GTK_WIDGET (self);
}
