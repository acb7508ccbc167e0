#include "ui/export-dialog.h"

#include "io/number.h"
#include "io/text.h"
#include "ui/file-dialog.h"

typedef struct
{
  const char *title, *ending;
  enum { ANY, TENSOR, CODES } needs;
} Kind;

static const Kind kinds[TM_N_TAKES] = {
  { "Picture of the view (PNG)", "png", ANY },    { "Picture of the view (SVG)", "svg", ANY },
  { "Values (CSV)", "csv", TENSOR },              { "Values (NPY)", "npy", TENSOR },
  { "Raw codes (CSV)", "csv", CODES },            { "Raw codes (NPY)", "npy", CODES },
  { "Report (HTML)", "html", ANY },               { "Report (JSON)", "json", ANY },
};

typedef struct
{
  GtkWidget *window, *drop_down, *about;
  TmDocument *document;
  TmModel *model; /* that the address is of */
  TmAddress address;
  gboolean part;
  TmTake takes[TM_N_TAKES]; /* of the entries */
  guint n;
  TmTaken chosen;
  gpointer data;
  TmTake take; /* a file is being chosen for */
} Dialog;

static void
dialog_free (gpointer data)
{
  Dialog *dialog = data;

  g_object_unref (dialog->document);
  g_object_unref (dialog->model);
  tm_address_clear (&dialog->address);
  g_free (dialog);
}

static TmTake
get_take (Dialog *dialog)
{
  return dialog->takes[MIN (gtk_drop_down_get_selected (GTK_DROP_DOWN (dialog->drop_down)), dialog->n - 1)];
}

/* What would be in the file. */
static char *
describe (Dialog *dialog, TmTake take)
{
  TmModel *model = dialog->model;
  const TmAddress *selection = &dialog->address;
  TmComparison *comparison = tm_document_get_comparison (dialog->document);
  guint64 count = 1;

  if (take <= TM_TAKE_PICTURE_SVG)
    return g_strdup ("The canvas as it is now, without its panels");
  if (take >= TM_TAKE_REPORT_HTML)
    return g_strdup (comparison ? "The comparison: model, tensors, errors" : "The model: tensors, dtypes, granularity, backends");
  g_autofree char *address = tm_address_format (model, selection);
  g_autofree char *shown = tm_text_escape (address, -1);
  const TmTensor *tensor = tm_model_tensor (model, selection->tensor);

  if (selection->within == TM_WITHIN_WHOLE)
    count = tensor->n_elements;
  else
    for (guint i = 0; i < selection->rank; i++)
      count *= selection->end[i] - selection->start[i];
  g_autofree char *number = tm_format_count (count);

  return g_strdup_printf ("%s: %s %s", shown, number, count == 1 ? "element" : "elements");
}

static void
on_kind (Dialog *dialog)
{
  g_autofree char *text = describe (dialog, get_take (dialog));

  gtk_label_set_text (GTK_LABEL (dialog->about), text);
}

static void
on_path (const char *path, gpointer data)
{
  Dialog *dialog = data;

  if (dialog->model == tm_document_get_model (dialog->document))
    dialog->chosen (dialog->take, &dialog->address, path, dialog->data);
  gtk_window_close (GTK_WINDOW (dialog->window));
}

static void
on_save (Dialog *dialog)
{
  TmModel *model = dialog->model;
  g_autofree char *name = NULL, *file = NULL;

  dialog->take = get_take (dialog);
  name = g_strdup (dialog->address.kind == TM_ADDRESS_TENSOR && dialog->take < TM_TAKE_REPORT_HTML
                       ? tm_model_tensor (model, dialog->address.tensor)->name
                       : model->title);
  g_strdelimit (name, "/\\:", '_');
  file = g_strdup_printf ("%s.%s", name, kinds[dialog->take].ending);
  tm_file_dialog_save (GTK_WINDOW (dialog->window), kinds[dialog->take].title, file, on_path, dialog);
}

static gboolean
close_on_escape (GtkWidget *window, GVariant *arguments, gpointer data)
{
  gtk_window_close (GTK_WINDOW (window));
  return TRUE;
}

static GtkWidget *
content_new (Dialog *dialog)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *cancel = gtk_button_new_with_label ("Cancel"), *save = gtk_button_new_with_label ("Save…");
  GtkStringList *titles = gtk_string_list_new (NULL);
  const TmTensor *of = dialog->address.kind == TM_ADDRESS_TENSOR
                           ? tm_model_tensor (dialog->model, dialog->address.tensor)
                           : NULL;

  for (guint i = 0; i < TM_N_TAKES; i++)
    {
      const gboolean readable = of && tm_tensor_is_readable (of);

      if (kinds[i].needs == ANY || (kinds[i].needs == TENSOR && readable)
          || (kinds[i].needs == CODES && readable && of->quantized && tm_tensor_has_quantity (of, TM_QUANTITY_RAW)))
        {
          dialog->takes[dialog->n++] = (TmTake) i;
          gtk_string_list_append (titles, kinds[i].title);
        }
    }
  dialog->drop_down = gtk_drop_down_new (G_LIST_MODEL (titles), NULL);
  for (guint i = 0; dialog->part && i < dialog->n; i++)
    if (dialog->takes[i] == TM_TAKE_VALUES_CSV)
      gtk_drop_down_set_selected (GTK_DROP_DOWN (dialog->drop_down), i);
  gtk_accessible_update_property (GTK_ACCESSIBLE (dialog->drop_down), GTK_ACCESSIBLE_PROPERTY_LABEL, "What to export", -1);
  g_signal_connect_swapped (dialog->drop_down, "notify::selected", G_CALLBACK (on_kind), dialog);
  dialog->about = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (dialog->about), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (dialog->about), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (dialog->about), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (dialog->about), 48);
  gtk_widget_add_css_class (dialog->about, "dim-label");
  gtk_widget_set_vexpand (dialog->about, TRUE);
  gtk_widget_set_valign (dialog->about, GTK_ALIGN_START);
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (gtk_window_close), dialog->window);
  g_signal_connect_swapped (save, "clicked", G_CALLBACK (on_save), dialog);
  gtk_widget_add_css_class (save, "suggested-action");
  gtk_widget_set_halign (buttons, GTK_ALIGN_END);
  gtk_box_append (GTK_BOX (buttons), cancel);
  gtk_box_append (GTK_BOX (buttons), save);
  gtk_box_append (GTK_BOX (box), dialog->drop_down);
  gtk_box_append (GTK_BOX (box), dialog->about);
  gtk_box_append (GTK_BOX (box), buttons);
  gtk_widget_set_margin_top (box, 18);
  gtk_widget_set_margin_bottom (box, 18);
  gtk_widget_set_margin_start (box, 18);
  gtk_widget_set_margin_end (box, 18);
  gtk_window_set_default_widget (GTK_WINDOW (dialog->window), save);
  return box;
}

GtkWidget *
tm_export_dialog_new (GtkWindow *parent, TmDocument *document, const TmAddress *address, gboolean part, TmTaken chosen,
                      gpointer data)
{
  Dialog *dialog = g_new0 (Dialog, 1);
  GtkEventController *keys = gtk_shortcut_controller_new ();

  dialog->window = gtk_window_new ();
  dialog->document = g_object_ref (document);
  dialog->model = g_object_ref (tm_document_get_model (document));
  tm_address_copy (address, &dialog->address);
  dialog->part = part;
  dialog->chosen = chosen;
  dialog->data = data;
  gtk_window_set_title (GTK_WINDOW (dialog->window), "Export");
  gtk_window_set_titlebar (GTK_WINDOW (dialog->window), gtk_header_bar_new ());
  gtk_window_set_transient_for (GTK_WINDOW (dialog->window), parent);
  gtk_window_set_modal (GTK_WINDOW (dialog->window), TRUE);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (dialog->window), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (dialog->window), 420, 210);
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Escape, 0), gtk_callback_action_new (close_on_escape, NULL, NULL)));
  gtk_widget_add_controller (dialog->window, keys);
  gtk_window_set_child (GTK_WINDOW (dialog->window), content_new (dialog));
  g_object_set_data_full (G_OBJECT (dialog->window), "dialog", dialog, dialog_free);
  on_kind (dialog);
  return dialog->window;
}
