/* Breadcrumb: where the selection is, each part a button; the same place is the address bar. */
#include "ui/widgets.h"

#include "io/text.h"

#include <string.h>

/* --- Crumbs: a row that gives up its middle before its ends ------------------------------------------------------- */

#define TM_TYPE_CRUMBS (tm_crumbs_get_type ())
G_DECLARE_FINAL_TYPE (TmCrumbs, tm_crumbs, TM, CRUMBS, GtkWidget)

struct _TmCrumbs
{
  GtkWidget parent_instance;
  GPtrArray *items;    /* GtkWidget *; children in order, owned by the tree */
  GtkWidget *ellipsis; /* stands for the left-out ones */
};

G_DEFINE_FINAL_TYPE (TmCrumbs, tm_crumbs, GTK_TYPE_WIDGET)

static int
width_of (GtkWidget *widget, gboolean natural)
{
  int minimum, wanted;

  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &wanted, NULL, NULL);
  return natural ? wanted : minimum;
}

static void
tm_crumbs_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                   int *minimum_baseline, int *natural_baseline)
{
  TmCrumbs *self = TM_CRUMBS (widget);

  *minimum = *natural = 0;
  for (guint i = 0; i < self->items->len; i++)
    {
      GtkWidget *item = g_ptr_array_index (self->items, i);

      if (orientation == GTK_ORIENTATION_HORIZONTAL)
        {
          *natural += width_of (item, TRUE);
          if (i + 1 == self->items->len)
            *minimum = width_of (item, FALSE) + (i > 0 ? width_of (self->ellipsis, FALSE) : 0);
        }
      else
        {
          int least, wanted;

          gtk_widget_measure (item, orientation, -1, &least, &wanted, NULL, NULL);
          *minimum = MAX (*minimum, least);
          *natural = MAX (*natural, wanted);
        }
    }
}

static void
tm_crumbs_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  TmCrumbs *self = TM_CRUMBS (widget);
  guint n = self->items->len, from = 1, to;
  int total = 0, x = 0;

  for (guint i = 0; i < n; i++)
    total += width_of (g_ptr_array_index (self->items, i), TRUE);
  /* Crumbs from … to − 1 are left out: first those after the model, then the model itself. */
  to = from;
  if (total > width && n > 1)
    {
      total += width_of (self->ellipsis, TRUE);
      while (to + 1 < n && total > width)
        total -= width_of (g_ptr_array_index (self->items, to++), TRUE);
      if (total > width)
        {
          total -= width_of (g_ptr_array_index (self->items, 0), TRUE);
          from = 0;
        }
      if (from == to)
        total -= width_of (self->ellipsis, TRUE);
    }
  gtk_widget_set_child_visible (self->ellipsis, from < to);
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *item = g_ptr_array_index (self->items, i);
      int wanted = width_of (item, TRUE);
      gboolean out = i >= from && i < to;

      if (i == from && from < to)
        {
          int dots = width_of (self->ellipsis, TRUE);

          gtk_widget_size_allocate (self->ellipsis, &(GtkAllocation) { x, 0, dots, height }, -1);
          x += dots;
        }
      gtk_widget_set_child_visible (item, !out);
      if (out)
        continue;
      if (i + 1 == n)
        wanted = MAX (MIN (wanted, width - x), width_of (item, FALSE));
      gtk_widget_size_allocate (item, &(GtkAllocation) { x, 0, wanted, height }, -1);
      x += wanted;
    }
}

static void
tm_crumbs_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))))
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (tm_crumbs_parent_class)->dispose (object);
}

static void
tm_crumbs_finalize (GObject *object)
{
  g_ptr_array_unref (TM_CRUMBS (object)->items);
  G_OBJECT_CLASS (tm_crumbs_parent_class)->finalize (object);
}

static void
tm_crumbs_class_init (TmCrumbsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_crumbs_dispose;
  G_OBJECT_CLASS (klass)->finalize = tm_crumbs_finalize;
  GTK_WIDGET_CLASS (klass)->measure = tm_crumbs_measure;
  GTK_WIDGET_CLASS (klass)->size_allocate = tm_crumbs_size_allocate;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-crumbs");
}

static void
tm_crumbs_init (TmCrumbs *self)
{
  self->items = g_ptr_array_new ();
  self->ellipsis = gtk_label_new ("\u203a \u2026 ");
  gtk_widget_add_css_class (self->ellipsis, "dim-label");
  gtk_widget_set_parent (self->ellipsis, GTK_WIDGET (self));
}

static void
crumbs_clear (TmCrumbs *self)
{
  for (guint i = 0; i < self->items->len; i++)
    gtk_widget_unparent (g_ptr_array_index (self->items, i));
  g_ptr_array_set_size (self->items, 0);
}

/* --- Breadcrumb -------------------------------------------------------------------------------------------------- */

#define TM_TYPE_BREADCRUMB (tm_breadcrumb_get_type ())
G_DECLARE_FINAL_TYPE (TmBreadcrumb, tm_breadcrumb, TM, BREADCRUMB, GtkWidget)

struct _TmBreadcrumb
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *box, *back, *forward, *stack, *entry, *error;
  TmCrumbs *crumbs;
};

G_DEFINE_FINAL_TYPE (TmBreadcrumb, tm_breadcrumb, GTK_TYPE_WIDGET)

typedef struct
{
  TmDocument *document;
  TmAddress address;
} Target;

static void
target_free (gpointer data, GClosure *closure)
{
  Target *target = data;

  tm_address_clear (&target->address);
  g_free (target);
}

static void
on_crumb (GtkButton *button, Target *target)
{
  tm_document_select (target->document, &target->address, TRUE);
}

static void
add_crumb (TmBreadcrumb *self, const char *text, const char *full, const TmAddress *address, gboolean current)
{
  GtkWidget *item = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *button = gtk_button_new (), *label;
  g_autofree char *shown = tm_text_escape (text, -1), *tip = tm_text_escape (full, -1);
  Target *target = g_new0 (Target, 1);

  target->document = self->document;
  tm_address_copy (address, &target->address);
  label = gtk_label_new (shown);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 36);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, tip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, shown, -1);
  if (current)
    gtk_widget_add_css_class (button, "current");
  g_signal_connect_data (button, "clicked", G_CALLBACK (on_crumb), target, target_free, 0);
  if (self->crumbs->items->len)
    {
      GtkWidget *separator = gtk_label_new ("\u203a");

      gtk_widget_add_css_class (separator, "dim-label");
      gtk_box_append (GTK_BOX (item), separator);
    }
  gtk_widget_set_hexpand (button, FALSE);
  gtk_box_append (GTK_BOX (item), button);
  gtk_widget_set_parent (item, GTK_WIDGET (self->crumbs));
  g_ptr_array_add (self->crumbs->items, item);
}

/* A module that only wraps one tensor ("attn_q" of "attn_q.weight") is told by the tensor's crumb. */
static gboolean
is_wrapper (const TmModule *module)
{
  return module->children->len == 0 && module->tensors->len == 1;
}

static const TmModule *
add_modules (TmBreadcrumb *self, const TmModule *module, gboolean to_tensor, gboolean current)
{
  g_autoptr (GPtrArray) chain = g_ptr_array_new ();

  if (to_tensor && module && is_wrapper (module))
    module = module->parent;
  for (const TmModule *m = module; m && m->parent; m = m->parent)
    g_ptr_array_insert (chain, 0, (gpointer) m);
  for (guint i = 0; i < chain->len; i++)
    {
      TmModule *m = g_ptr_array_index (chain, i);

      add_crumb (self, m->name, m->path, &(TmAddress) { .kind = TM_ADDRESS_MODULE, .module = m },
                 current && i + 1 == chain->len);
    }
  return module;
}

static void
add_within (TmBreadcrumb *self, const TmAddress *address)
{
  GString *text;

  if (address->within == TM_WITHIN_WHOLE)
    return;
  text = g_string_new ("[");
  for (guint i = 0; i < address->rank; i++)
    {
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", address->start[i]);
      if (address->within == TM_WITHIN_REGION)
        g_string_append_printf (text, ":%" G_GUINT64_FORMAT, address->end[i]);
    }
  g_string_append_c (text, ']');
  add_crumb (self, text->str, text->str, address, TRUE);
  g_string_free (text, TRUE);
}

static void
add_tensor (TmBreadcrumb *self, TmModel *model, const TmAddress *address)
{
  const TmTensor *tensor = tm_model_tensor (model, address->tensor);
  TmAddress whole = { .kind = TM_ADDRESS_TENSOR, .tensor = address->tensor };
  g_autofree char *full = tm_address_format (model, &whole);
  const TmModule *module = tensor->owner, *shown;
  const char *name = full;

  shown = add_modules (self, module, TRUE, FALSE);
  if (shown && shown->parent && g_str_has_prefix (full, shown->path) && full[strlen (shown->path)] == '.')
    name = full + strlen (shown->path) + 1;
  add_crumb (self, name, full, &whole, address->within == TM_WITHIN_WHOLE);
  add_within (self, address);
}

static void
update (TmBreadcrumb *self)
{
  TmModel *model = tm_document_get_model (self->document);
  const TmAddress *at = tm_document_get_selection (self->document);

  crumbs_clear (self->crumbs);
  gtk_widget_set_visible (GTK_WIDGET (self), model != NULL);
  if (!model)
    return;
  add_crumb (self, model->title, model->path, &(TmAddress) { .kind = TM_ADDRESS_MODEL }, at->kind == TM_ADDRESS_MODEL);
  switch (at->kind)
    {
    case TM_ADDRESS_MODEL:
      break;
    case TM_ADDRESS_MODULE:
      add_modules (self, at->module, FALSE, TRUE);
      break;
    case TM_ADDRESS_FOLD:
      {
        g_autofree char *text = tm_address_format (model, at);

        add_modules (self, at->module, FALSE, FALSE);
        add_crumb (self, text, text, at, TRUE);
        break;
      }
    case TM_ADDRESS_TENSOR:
      add_tensor (self, model, at);
      break;
    case TM_ADDRESS_STORED:
      {
        TmAddress whole = { .kind = TM_ADDRESS_STORED, .tensor = at->tensor };
        g_autofree char *text = tm_address_format (model, &whole);

        add_crumb (self, text, text, &whole, at->within == TM_WITHIN_WHOLE);
        add_within (self, at);
        break;
      }
    }
  gtk_widget_queue_resize (GTK_WIDGET (self->crumbs));
}

static void
update_history (TmBreadcrumb *self)
{
  gtk_widget_set_sensitive (self->back, tm_document_can_go_back (self->document));
  gtk_widget_set_sensitive (self->forward, tm_document_can_go_forward (self->document));
}

/* --- Address bar ------------------------------------------------------------------------------------------------- */

static gboolean
is_editing (TmBreadcrumb *self)
{
  return gtk_stack_get_visible_child (GTK_STACK (self->stack)) == self->entry;
}

static void
set_error (TmBreadcrumb *self, const char *message)
{
  gtk_label_set_text (GTK_LABEL (self->error), message ? message : "");
  gtk_widget_set_visible (self->error, message != NULL);
  if (message)
    gtk_widget_add_css_class (self->entry, "error");
  else
    gtk_widget_remove_css_class (self->entry, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_STATE_INVALID,
                               message ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  message ? message : "", -1);
}

static void
stop_editing (TmBreadcrumb *self, gboolean focus_canvas)
{
  if (!is_editing (self))
    return;
  gtk_stack_set_visible_child (GTK_STACK (self->stack), GTK_WIDGET (self->crumbs));
  set_error (self, NULL);
  gtk_widget_set_hexpand (GTK_WIDGET (self), FALSE);
  gtk_widget_set_halign (GTK_WIDGET (self), GTK_ALIGN_START);
  if (focus_canvas)
    {
      GtkWidget *canvas = gtk_widget_get_ancestor (GTK_WIDGET (self), g_type_from_name ("TmCanvas"));

      if (canvas)
        gtk_widget_grab_focus (canvas);
    }
}

static void
on_activate (GtkEntry *entry, TmBreadcrumb *self)
{
  g_autoptr (GError) error = NULL;

  if (tm_document_go_to (self->document, gtk_editable_get_text (GTK_EDITABLE (entry)), &error))
    stop_editing (self, TRUE);
  else
    {
      g_autofree char *message = tm_text_escape (error->message, -1);

      set_error (self, message);
    }
}

static void
on_changed (GtkEditable *editable, TmBreadcrumb *self)
{
  if (gtk_widget_get_visible (self->error))
    set_error (self, NULL);
}

static gboolean
on_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, TmBreadcrumb *self)
{
  if (key != GDK_KEY_Escape)
    return FALSE;
  stop_editing (self, TRUE);
  return TRUE;
}

static void
on_focus_left (GtkEventControllerFocus *controller, TmBreadcrumb *self)
{
  stop_editing (self, FALSE);
}

void
tm_breadcrumb_edit (GtkWidget *breadcrumb)
{
  TmBreadcrumb *self = TM_BREADCRUMB (breadcrumb);
  TmModel *model = tm_document_get_model (self->document);
  g_autofree char *text = NULL, *valid = NULL;

  if (!model)
    return;
  text = tm_address_format (model, tm_document_get_selection (self->document));
  valid = g_utf8_make_valid (text, -1);
  gtk_editable_set_text (GTK_EDITABLE (self->entry), valid);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->entry);
  gtk_widget_grab_focus (self->entry);
  gtk_editable_select_region (GTK_EDITABLE (self->entry), 0, -1);
}

/* --- Making ------------------------------------------------------------------------------------------------------ */

static void
tm_breadcrumb_dispose (GObject *object)
{
  TmBreadcrumb *self = TM_BREADCRUMB (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_breadcrumb_parent_class)->dispose (object);
}

static void
tm_breadcrumb_class_init (TmBreadcrumbClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_breadcrumb_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-breadcrumb");
}

static GtkWidget *
history_button (const char *icon, const char *name)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_button_set_has_frame (GTK_BUTTON (button), FALSE);
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return button;
}

static void
tm_breadcrumb_init (TmBreadcrumb *self)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkEventController *keys = gtk_event_controller_key_new (), *focus = gtk_event_controller_focus_new ();

  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "tm-float");

  self->back = history_button ("go-previous-symbolic", "Back");
  self->forward = history_button ("go-next-symbolic", "Forward");
  gtk_box_append (GTK_BOX (row), self->back);
  gtk_box_append (GTK_BOX (row), self->forward);

  self->stack = gtk_stack_new ();
  gtk_stack_set_hhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  self->crumbs = g_object_new (TM_TYPE_CRUMBS, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->crumbs), GTK_ACCESSIBLE_PROPERTY_LABEL, "Path", -1);
  gtk_stack_add_child (GTK_STACK (self->stack), GTK_WIDGET (self->crumbs));
  self->entry = gtk_entry_new ();
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), 12);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (self->entry), 56);
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->entry), "blk.0.attn_v.weight[37,530]");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, "Address", -1);
  gtk_stack_add_child (GTK_STACK (self->stack), self->entry);
  gtk_box_append (GTK_BOX (row), self->stack);
  gtk_box_append (GTK_BOX (self->box), row);

  self->error = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->error), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (self->error), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (self->error), 56);
  gtk_label_set_xalign (GTK_LABEL (self->error), 0);
  gtk_widget_add_css_class (self->error, "fault");
  gtk_widget_add_css_class (self->error, "tm-address-error");
  gtk_widget_set_visible (self->error, FALSE);
  gtk_box_append (GTK_BOX (self->box), self->error);

  g_signal_connect (self->entry, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect (self->entry, "changed", G_CALLBACK (on_changed), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (self->entry, keys);
  g_signal_connect (focus, "leave", G_CALLBACK (on_focus_left), self);
  gtk_widget_add_controller (self->entry, focus);
}

GtkWidget *
tm_breadcrumb_new (TmDocument *document)
{
  TmBreadcrumb *self = g_object_new (TM_TYPE_BREADCRUMB, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Address", -1);
  self->document = g_object_ref (document);
  g_signal_connect_swapped (self->back, "clicked", G_CALLBACK (tm_document_go_back), document);
  g_signal_connect_swapped (self->forward, "clicked", G_CALLBACK (tm_document_go_forward), document);
  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (update), self);
  g_signal_connect_swapped (document, "selection-changed", G_CALLBACK (update), self);
  g_signal_connect_swapped (document, "history-changed", G_CALLBACK (update_history), self);
  update (self);
  update_history (self);
  return GTK_WIDGET (self);
}
