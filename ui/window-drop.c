/* Drag and drop of files and folders from other programs. */
#include "io/text.h"
#include "ui/drop-page.h"
#include "ui/window-private.h"

static void
add_file (TmWindow *self, GPtrArray *paths, GFile *file)
{
  char *path = g_file_get_path (file);

  if (path)
    g_ptr_array_add (paths, path);
  else
    {
      g_autofree char *uri = g_file_get_uri (file);
      g_autofree char *message = g_strdup_printf ("%s is not a local file. Download it, then drop the copy.", uri);

      tm_window_show_problem (self, message);
    }
}

/* Plain text: a path or URI a line, as terminals and browsers give it. */
static void
add_text (TmWindow *self, GPtrArray *paths, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", 1000);
  gboolean any = FALSE;

  for (char **line = lines; *line; line++)
    {
      g_autoptr (GFile) file = NULL;

      g_strstrip (*line);
      if (g_path_is_absolute (*line))
        file = g_file_new_for_path (*line);
      else if (g_uri_is_valid (*line, G_URI_FLAGS_NONE, NULL))
        file = g_file_new_for_uri (*line);
      if (!file)
        continue;
      any = TRUE;
      add_file (self, paths, file);
    }
  if (!any)
    tm_window_show_problem (self, "What was dropped is text and names no file.");
}

static gboolean
on_drop (GtkDropTarget *target, const GValue *value, double x, double y, TmWindow *self)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  gtk_widget_set_visible (self->drop_page, FALSE);
  if (G_VALUE_HOLDS (value, GDK_TYPE_FILE_LIST))
    {
      g_autoptr (GSList) files = gdk_file_list_get_files (g_value_get_boxed (value));

      for (GSList *link = files; link; link = link->next)
        add_file (self, paths, link->data);
    }
  else if (G_VALUE_HOLDS (value, G_TYPE_FILE))
    add_file (self, paths, g_value_get_object (value));
  else if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value))
    add_text (self, paths, g_value_get_string (value));
  else
    return FALSE;

  if (tm_drop_page_point (TM_DROP_PAGE (self->drop_page), x, y) == TM_DROP_COMPARE)
    tm_window_compare_any (self, paths);
  else
    tm_window_open_all (self, paths);
  return TRUE;
}

static GdkDragAction
on_enter (GtkDropTarget *target, double x, double y, TmWindow *self)
{
  tm_drop_page_offer (TM_DROP_PAGE (self->drop_page),
                      tm_window_is_free (self) ? "The model opens in this window"
                                               : "The model opens in a window of its own; this one stays as it is",
                      tm_document_get_model (self->document) != NULL);
  tm_drop_page_point (TM_DROP_PAGE (self->drop_page), x, y);
  gtk_widget_set_visible (self->drop_page, TRUE);
  return GDK_ACTION_COPY;
}

static GdkDragAction
on_motion (GtkDropTarget *target, double x, double y, TmWindow *self)
{
  tm_drop_page_point (TM_DROP_PAGE (self->drop_page), x, y);
  return GDK_ACTION_COPY;
}

static void
on_leave (GtkDropTarget *target, TmWindow *self)
{
  gtk_widget_set_visible (self->drop_page, FALSE);
}

void
tm_window_install_drop (TmWindow *self)
{
  /* The first of these that the source offers is delivered: files before text. */
  GType types[] = { GDK_TYPE_FILE_LIST, G_TYPE_FILE, G_TYPE_STRING };
  GtkDropTarget *target = gtk_drop_target_new (G_TYPE_INVALID, GDK_ACTION_COPY);

  gtk_drop_target_set_gtypes (target, types, G_N_ELEMENTS (types));
  g_signal_connect (target, "drop", G_CALLBACK (on_drop), self);
  g_signal_connect (target, "enter", G_CALLBACK (on_enter), self);
  g_signal_connect (target, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (target, "leave", G_CALLBACK (on_leave), self);
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (target), GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (GTK_WIDGET (self->over), GTK_EVENT_CONTROLLER (target));
  self->drop_page = tm_drop_page_new ();
  gtk_overlay_add_overlay (self->over, self->drop_page);
}
