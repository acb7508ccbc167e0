#include "ui/application.h"
#include "ui/window.h"

struct _TmApplication
{
  GtkApplication parent_instance;
};

G_DEFINE_FINAL_TYPE (TmApplication, tm_application, GTK_TYPE_APPLICATION)

static void
tm_application_activate (GApplication *application)
{
  GtkWidget *window = tm_window_new (TM_APPLICATION (application));

  gtk_window_present (GTK_WINDOW (window));
}

static void
tm_application_class_init (TmApplicationClass *klass)
{
  G_APPLICATION_CLASS (klass)->activate = tm_application_activate;
}

static void
tm_application_init (TmApplication *self)
{
}

GtkApplication *
tm_application_new (void)
{
  return g_object_new (TM_TYPE_APPLICATION, "application-id", TM_APPLICATION_ID, NULL);
}
