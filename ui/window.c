#include "ui/window.h"

struct _TmWindow
{
  GtkApplicationWindow parent_instance;
  TmDocument *document;
};

G_DEFINE_FINAL_TYPE (TmWindow, tm_window, GTK_TYPE_APPLICATION_WINDOW)

static void
tm_window_dispose (GObject *object)
{
  g_clear_object (&TM_WINDOW (object)->document);
  G_OBJECT_CLASS (tm_window_parent_class)->dispose (object);
}

static void
tm_window_class_init (TmWindowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_window_dispose;
}

static void
tm_window_init (TmWindow *self)
{
  self->document = tm_document_new ();
  gtk_window_set_title (GTK_WINDOW (self), "Tensormorph");
  gtk_window_set_default_size (GTK_WINDOW (self), 1440, 900);
  gtk_window_set_child (GTK_WINDOW (self), tm_canvas_new (self->document, TM_RENDERER_AUTO));
}

GtkWidget *
tm_window_new (TmApplication *application)
{
  return g_object_new (TM_TYPE_WINDOW, "application", application, NULL);
}
