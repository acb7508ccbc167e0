#include "ui/widgets.h"

GtkWidget *
tm_chip_new (TmDtype dtype, const char *label)
{
  return gtk_label_new (label);
}

void
tm_chip_set (GtkWidget *chip, TmDtype dtype, const char *label)
{
  gtk_label_set_text (GTK_LABEL (chip), label);
}
