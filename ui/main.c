#include "ui/application.h"

int
main (int argc, char **argv)
{
  g_autoptr (GtkApplication) application = tm_application_new ();

  return g_application_run (G_APPLICATION (application), argc, argv);
}
