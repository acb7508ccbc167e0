#include "ui/file-dialog.h"

typedef struct
{
  GtkWindow *parent; /* weak: it may be closed while the dialog is open */
  void (*chosen) (GListModel *files, gpointer data);
  gpointer data;
} Request;

static Request *
request_new (GtkWindow *parent, void (*chosen) (GListModel *files, gpointer data), gpointer data)
{
  Request *request = g_new0 (Request, 1);

  g_set_weak_pointer (&request->parent, parent);
  request->chosen = chosen;
  request->data = data;
  return request;
}

static void
request_finish (Request *request, GListModel *files)
{
  if (files && request->parent)
    request->chosen (files, request->data);
  g_clear_weak_pointer (&request->parent);
  g_free (request);
}

typedef struct
{
  GtkWindow *parent; /* weak */
  void (*chosen) (const char *path, gpointer data);
  gpointer data;
} SaveRequest;

static SaveRequest *
save_request_new (GtkWindow *parent, void (*chosen) (const char *path, gpointer data), gpointer data)
{
  SaveRequest *request = g_new0 (SaveRequest, 1);

  g_set_weak_pointer (&request->parent, parent);
  request->chosen = chosen;
  request->data = data;
  return request;
}

static void
save_request_finish (SaveRequest *request, GFile *file)
{
  g_autofree char *path = file ? g_file_get_path (file) : NULL;

  if (path && request->parent)
    request->chosen (path, request->data);
  g_clear_weak_pointer (&request->parent);
  g_free (request);
}

static GListModel *
new_filters (void)
{
  GListStore *filters = g_list_store_new (GTK_TYPE_FILE_FILTER);
  g_autoptr (GtkFileFilter) models = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (models, "Models");
  gtk_file_filter_add_pattern (models, "*.gguf");
  gtk_file_filter_add_pattern (models, "*.safetensors");
  gtk_file_filter_add_pattern (models, "*.safetensors.index.json");
  gtk_file_filter_set_name (all, "All files");
  gtk_file_filter_add_pattern (all, "*");
  g_list_store_append (filters, models);
  g_list_store_append (filters, all);
  return G_LIST_MODEL (filters);
}

#if GTK_CHECK_VERSION(4, 10, 0)

G_GNUC_BEGIN_IGNORE_DEPRECATIONS

static void
on_files (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GListModel) files = gtk_file_dialog_open_multiple_finish (GTK_FILE_DIALOG (source), result, NULL);

  request_finish (data, files);
}

static void
on_folder (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GFile) folder = gtk_file_dialog_select_folder_finish (GTK_FILE_DIALOG (source), result, NULL);
  g_autoptr (GListStore) files = NULL;

  if (folder)
    {
      files = g_list_store_new (G_TYPE_FILE);
      g_list_store_append (files, folder);
    }
  request_finish (data, files ? G_LIST_MODEL (files) : NULL);
}

void
tm_file_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                     void (*chosen) (GListModel *files, gpointer data), gpointer data)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();
  g_autoptr (GListModel) filters = new_filters ();
  Request *request = request_new (parent, chosen, data);

  gtk_file_dialog_set_title (dialog, title);
  if (folder)
    gtk_file_dialog_select_folder (dialog, parent, NULL, on_folder, request);
  else
    {
      gtk_file_dialog_set_filters (dialog, filters);
      gtk_file_dialog_open_multiple (dialog, parent, NULL, on_files, request);
    }
}

static void
on_saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GFile) file = gtk_file_dialog_save_finish (GTK_FILE_DIALOG (source), result, NULL);

  save_request_finish (data, file);
}

void
tm_file_dialog_save (GtkWindow *parent, const char *title, const char *name, void (*chosen) (const char *path, gpointer data),
                     gpointer data)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();

  gtk_file_dialog_set_title (dialog, title);
  gtk_file_dialog_set_initial_name (dialog, name);
  gtk_file_dialog_save (dialog, parent, NULL, on_saved, save_request_new (parent, chosen, data));
}

G_GNUC_END_IGNORE_DEPRECATIONS

#else

static void
on_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  g_autoptr (GListModel) files = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (dialog));
  request_finish (data, files);
  g_object_unref (dialog);
}

void
tm_file_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                     void (*chosen) (GListModel *files, gpointer data), gpointer data)
{
  GtkFileChooserAction action = folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN;
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (title, parent, action, "_Open", "_Cancel");
  g_autoptr (GListModel) filters = new_filters ();

  if (!folder)
    {
      for (guint i = 0; i < g_list_model_get_n_items (filters); i++)
        {
          g_autoptr (GtkFileFilter) filter = g_list_model_get_item (filters, i);

          gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
        }
      gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (dialog), TRUE);
    }
  g_signal_connect (dialog, "response", G_CALLBACK (on_response), request_new (parent, chosen, data));
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
on_save_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  g_autoptr (GFile) file = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;

  save_request_finish (data, file);
  g_object_unref (dialog);
}

void
tm_file_dialog_save (GtkWindow *parent, const char *title, const char *name, void (*chosen) (const char *path, gpointer data),
                     gpointer data)
{
  GtkFileChooserNative *dialog
      = gtk_file_chooser_native_new (title, parent, GTK_FILE_CHOOSER_ACTION_SAVE, "_Save", "_Cancel");

  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect (dialog, "response", G_CALLBACK (on_save_response), save_request_new (parent, chosen, data));
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

#endif
