/* The window's actions: menus, buttons, keys and the palette name the same ones. */
#include "io/text.h"
#include "ui/file-dialog.h"
#include "ui/glossary.h"
#include "ui/icon.h"
#include "ui/keys.h"
#include "ui/window-private.h"

static const char *const overlay_names[TM_N_OVERLAYS] = { "none", "dtype", "value", "raw", "scale", "error", "sparsity", "backend" };
static const char *const reduce_names[] = { "largest", "mean", "rms" };

/* --- Files ------------------------------------------------------------------------------------------------------- */

static void
on_files_chosen (GListModel *files, gpointer data)
{
  TmWindow *self = data;
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < g_list_model_get_n_items (files); i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);
      char *path = g_file_get_path (file);

      if (path)
        g_ptr_array_add (paths, path);
    }
  tm_window_open_all (self, paths);
}

static void
open_file (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_file_dialog_open (GTK_WINDOW (self), "Open a Model", FALSE, on_files_chosen, self);
}

static void
open_folder (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_file_dialog_open (GTK_WINDOW (self), "Open a Model Folder", TRUE, on_files_chosen, self);
}

static void
open_path (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_open (self, g_variant_get_bytestring (parameter));
}

static void
open_sample (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_open_sample (self);
}

static void
reload (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_reload (self);
}

static void
compare (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_choose_reference (self, FALSE);
}

static void
compare_folder (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_choose_reference (self, TRUE);
}

static void
export (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_export (self);
}

static void
export_region (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_export_region (self);
}

static void
export_tensor (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  tm_window_export_tensor (self);
}

static void
stop_comparing (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;

  g_clear_object (&self->reference);
  tm_document_set_diff (self->document, NULL);
}

/* --- Going ------------------------------------------------------------------------------------------------------- */

static void
go_to (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;
  g_autoptr (GError) error = NULL;

  if (!tm_document_go_to (self->document, g_variant_get_string (parameter, NULL), &error))
    tm_window_show_problem (self, error->message);
}

static void
back (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_go_back (TM_WINDOW (data)->document);
}

static void
forward (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_go_forward (TM_WINDOW (data)->document);
}

static void
up (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_go_up (TM_WINDOW (data)->document);
}

static void
into (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_go_into (TM_WINDOW (data)->document);
}

static void
next_tensor (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_step_tensor (TM_WINDOW (data)->document, 1);
}

static void
previous_tensor (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_document_step_tensor (TM_WINDOW (data)->document, -1);
}

static void
address (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_widget_activate_action (TM_WINDOW (data)->canvas, "canvas.edit-address", NULL);
}

static void
filter (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;

  tm_panes_set_shown (self->panes, TM_SIDE_START, TRUE);
  tm_outliner_focus_filter (self->outliner);
}

static void
show_in_outliner (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;

  tm_panes_set_shown (self->panes, TM_SIDE_START, TRUE);
  gtk_widget_child_focus (self->outliner, GTK_DIR_TAB_FORWARD);
}

static void
palette (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;

  if (gtk_widget_get_visible (self->palette))
    tm_finder_close (TM_FINDER (self->palette));
  else
    tm_finder_open (TM_FINDER (self->palette));
}

/* --- Copying ----------------------------------------------------------------------------------------------------- */

static gboolean
explain (TmWindow *self, TmScalar *scalar)
{
  TmModel *model = tm_document_get_model (self->document);
  g_autoptr (GError) error = NULL;
  guint tensor;
  guint64 flat;

  if (!tm_document_get_scalar (self->document, &tensor, &flat))
    return FALSE;
  if (tm_tensor_explain (tm_model_tensor (model, tensor), tm_document_get_selection (self->document)->start, scalar,
                         &error))
    return TRUE;
  tm_window_show_problem (self, error->message);
  return FALSE;
}

static void
copy (TmWindow *self, const char *text, const char *what)
{
  g_autofree char *message = g_strdup_printf ("Copied the %s", what);

  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
  tm_status_bar_set_message (self->status_bar, message);
}

static void
copy_value (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;

  if (explain (self, &scalar))
    {
      g_autofree char *text = tm_scalar_format_value (&scalar);

      copy (self, text, "value");
    }
}

static void
copy_record (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;

  if (explain (self, &scalar))
    {
      g_autofree char *text = tm_scalar_to_text (&scalar);

      copy (self, text, "record");
    }
}

static void
copy_address (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  TmWindow *self = data;
  TmModel *model = tm_document_get_model (self->document);
  g_autofree char *text = model ? tm_address_format (model, tm_document_get_selection (self->document)) : NULL;

  if (text && g_utf8_validate (text, -1, NULL))
    copy (self, text, "address");
}

/* --- View -------------------------------------------------------------------------------------------------------- */

static void
boundaries (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_document_set_boundaries (TM_WINDOW (data)->document, g_variant_get_boolean (value));
}

static void
sort_columns (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_document_set_sort_columns (TM_WINDOW (data)->document, g_variant_get_boolean (value));
}

static gboolean
index_of (const char *const *names, guint n, GVariant *value, guint *index)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (names[i], g_variant_get_string (value, NULL)))
      {
        *index = i;
        return TRUE;
      }
  return FALSE;
}

static void
overlay (GSimpleAction *action, GVariant *value, gpointer data)
{
  guint index;

  if (!index_of (overlay_names, TM_N_OVERLAYS, value, &index))
    return;
  if (index == TM_OVERLAY_ERROR && !tm_document_get_comparison (TM_WINDOW (data)->document))
    tm_status_bar_set_message (TM_WINDOW (data)->status_bar,
                               "The error is against a reference: compare with one first (Ctrl+Shift+O)");
  else
    {
      const gboolean again = tm_document_get_overlay (TM_WINDOW (data)->document) == index;

      tm_document_set_overlay (TM_WINDOW (data)->document, index);
      if (again && index == TM_OVERLAY_SPARSITY) /* counting may have been cancelled */
        tm_window_count_zeros (data, -1);
    }
}

static void
backend (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_document_set_backend (TM_WINDOW (data)->document, tm_backends_find (g_variant_get_string (value, NULL)));
}

static void
reduce (GSimpleAction *action, GVariant *value, gpointer data)
{
  guint index;

  if (index_of (reduce_names, G_N_ELEMENTS (reduce_names), value, &index))
    tm_document_set_reduce (TM_WINDOW (data)->document, index);
}

static void
outliner (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_panes_set_shown (TM_WINDOW (data)->panes, TM_SIDE_START, g_variant_get_boolean (value));
}

static void
inspector (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_panes_set_shown (TM_WINDOW (data)->panes, TM_SIDE_END, g_variant_get_boolean (value));
}

static void
table (GSimpleAction *action, GVariant *value, gpointer data)
{
  tm_window_show_table (data, g_variant_get_boolean (value));
  g_simple_action_set_state (action, value);
}

static void
close_table (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_action_change_state (g_action_map_lookup_action (data, "table"), g_variant_new_boolean (FALSE));
}

static void
statistics (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_window_compute_all (data);
}

static void
count_zeros (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  guint tensor;

  if (tm_document_get_tensor (TM_WINDOW (data)->document, &tensor))
    tm_window_count_zeros (data, tensor);
}

static void
stop_counting (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_window_stop_counting (data);
}

static void
fullscreen (GSimpleAction *action, GVariant *value, gpointer self)
{
  if (g_variant_get_boolean (value))
    gtk_window_fullscreen (self);
  else
    gtk_window_unfullscreen (self);
  g_simple_action_set_state (action, value);
}

static void
problems (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  tm_status_bar_show_problems (TM_WINDOW (data)->status_bar);
}

/* --- Help -------------------------------------------------------------------------------------------------------- */

static void
present_dressed (TmWindow *self, GtkWidget *window)
{
  if (tm_appearance_get_dark (self->appearance))
    gtk_widget_add_css_class (window, "dark");
  gtk_window_present (GTK_WINDOW (window));
}

static void
shortcuts (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  present_dressed (self, tm_shortcuts_window_new (GTK_WINDOW (self)));
}

static void
glossary (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  present_dressed (self, tm_glossary_window_new (GTK_WINDOW (self)));
}

static void
about (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  g_autoptr (GdkPaintable) logo = tm_icon_new (TM_ICON_LOGO, 96);

  gtk_show_about_dialog (GTK_WINDOW (self), "program-name", "Tensormorph", "version", TM_VERSION, "logo", logo,
                         "comments", "From a model's architecture to a single number, raw and dequantized.",
                         "license-type", GTK_LICENSE_MIT_X11, NULL);
}

/* --- Table ------------------------------------------------------------------------------------------------------- */

/* Signatures follow GActionEntry: activate, parameter type, state, change state. */
static const GActionEntry entries[] = {
  { "open", open_file },
  { "open-folder", open_folder },
  { "open-path", open_path, "ay" },
  { "open-sample", open_sample },
  { "reload", reload },
  { "compare", compare },
  { "compare-folder", compare_folder },
  { "stop-comparing", stop_comparing },
  { "export", export },
  { "export-region", export_region },
  { "export-tensor", export_tensor },
  { "go-to", go_to, "s" },
  { "back", back },
  { "forward", forward },
  { "up", up },
  { "into", into },
  { "next-tensor", next_tensor },
  { "previous-tensor", previous_tensor },
  { "address", address },
  { "filter", filter },
  { "show-in-outliner", show_in_outliner },
  { "palette", palette },
  { "copy-value", copy_value },
  { "copy-record", copy_record },
  { "copy-address", copy_address },
  { "boundaries", NULL, NULL, "true", boundaries },
  { "sort-columns", NULL, NULL, "false", sort_columns },
  { "overlay", NULL, "s", "'value'", overlay },
  { "backend", NULL, "s", "''", backend },
  { "reduce", NULL, "s", "'largest'", reduce },
  { "outliner", NULL, NULL, "true", outliner },
  { "inspector", NULL, NULL, "true", inspector },
  { "table", NULL, NULL, "false", table },
  { "close-table", close_table },
  { "statistics", statistics },
  { "count-zeros", count_zeros },
  { "stop-counting", stop_counting },
  { "fullscreen", NULL, NULL, "false", fullscreen },
  { "problems", problems },
  { "shortcuts", shortcuts },
  { "glossary", glossary },
  { "about", about },
};

static GSimpleAction *
lookup (TmWindow *self, const char *name)
{
  return G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), name));
}

static void
enable (TmWindow *self, gboolean enabled, const char *const *names)
{
  for (; *names; names++)
    g_simple_action_set_enabled (lookup (self, *names), enabled);
}

void
tm_window_update_actions (TmWindow *self)
{
  static const char *const with_model[] = { "reload",  "go-to",    "up",           "into",     "next-tensor", "previous-tensor",
                                            "address", "filter",   "copy-address", "outliner", "inspector",   "problems",
                                            "compare", "compare-folder", "table", "statistics", "export", "backend", NULL };
  static const char *const with_scalar[] = { "copy-value", "copy-record", NULL };
  TmDocument *document = self->document;
  const TmAddress *selection = tm_document_get_selection (document);
  guint tensor;
  guint64 flat;

  if (!self->panes || gtk_widget_in_destruction (GTK_WIDGET (self)))
    return;
  enable (self, tm_document_get_model (document) != NULL, with_model);
  enable (self, tm_document_get_scalar (document, &tensor, &flat), with_scalar);
  g_simple_action_set_enabled (lookup (self, "stop-comparing"), tm_document_get_comparison (document) != NULL);
  g_simple_action_set_enabled (lookup (self, "export-tensor"), tm_document_get_tensor (document, &tensor));
  g_simple_action_set_enabled (lookup (self, "export-region"),
                               selection->kind == TM_ADDRESS_TENSOR && selection->within == TM_WITHIN_REGION);
  g_simple_action_set_enabled (lookup (self, "back"), tm_document_can_go_back (document));
  g_simple_action_set_enabled (lookup (self, "forward"), tm_document_can_go_forward (document));
  g_simple_action_set_state (lookup (self, "boundaries"), g_variant_new_boolean (tm_document_get_boundaries (document)));
  g_simple_action_set_enabled (lookup (self, "sort-columns"), tm_document_can_sort_columns (document));
  g_simple_action_set_state (lookup (self, "sort-columns"), g_variant_new_boolean (tm_document_get_sort_columns (document)));
  g_simple_action_set_state (lookup (self, "overlay"),
                             g_variant_new_string (overlay_names[tm_document_get_overlay (document)]));
  {
    const TmBackend *backend = tm_document_get_backend (document) < 0 ? NULL : tm_backends_get ((guint) tm_document_get_backend (document));

    g_simple_action_set_state (lookup (self, "backend"), g_variant_new_string (backend ? backend->id : ""));
  }
  g_simple_action_set_enabled (lookup (self, "count-zeros"), tm_document_get_tensor (document, &tensor));
  g_simple_action_set_state (lookup (self, "reduce"),
                             g_variant_new_string (reduce_names[tm_document_get_reduce (document)]));
  g_simple_action_set_state (lookup (self, "outliner"),
                             g_variant_new_boolean (tm_panes_get_shown (self->panes, TM_SIDE_START)));
  g_simple_action_set_state (lookup (self, "inspector"),
                             g_variant_new_boolean (tm_panes_get_shown (self->panes, TM_SIDE_END)));
}

void
tm_window_install_actions (TmWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}
