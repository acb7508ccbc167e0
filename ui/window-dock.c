/* The dock under the canvas: the comparison and the tensor table, one at a time; gone where there is neither. */
#include "ui/tensor-table.h"
#include "ui/window-private.h"

#define COMPARISON "comparison"
#define TABLE "table"

void
tm_window_build_dock (TmWindow *self)
{
  GtkWidget *switcher = gtk_stack_switcher_new ();

  self->dock = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->dock_stack = GTK_STACK (gtk_stack_new ());
  self->dock_switcher = switcher;
  gtk_stack_set_vhomogeneous (self->dock_stack, FALSE);
  gtk_stack_add_titled (self->dock_stack, tm_compare_panel_new (self->document), COMPARISON, "Comparison");
  gtk_stack_add_titled (self->dock_stack, tm_tensor_table_new (self->document), TABLE, "Tensors");
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (switcher), self->dock_stack);
  gtk_widget_add_css_class (switcher, "dock-switcher");
  gtk_widget_set_halign (switcher, GTK_ALIGN_START);
  gtk_widget_set_vexpand (GTK_WIDGET (self->dock_stack), TRUE);
  gtk_widget_add_css_class (self->dock, "dock");
  gtk_box_append (GTK_BOX (self->dock), switcher);
  gtk_box_append (GTK_BOX (self->dock), GTK_WIDGET (self->dock_stack));
  tm_window_update_dock (self, FALSE);
}

void
tm_window_update_dock (TmWindow *self, gboolean show_comparison)
{
  const gboolean compared = tm_document_get_comparison (self->document) != NULL;
  const gboolean table = self->table_shown && tm_document_get_model (self->document);

  if ((show_comparison || !table) && compared)
    gtk_stack_set_visible_child_name (self->dock_stack, COMPARISON);
  else if (table && !compared)
    gtk_stack_set_visible_child_name (self->dock_stack, TABLE);
  gtk_widget_set_visible (self->dock_switcher, compared && table);
  gtk_widget_set_visible (self->dock, compared || table);
}

void
tm_window_show_table (TmWindow *self, gboolean shown)
{
  self->table_shown = shown;
  if (shown)
    {
      gtk_stack_set_visible_child_name (self->dock_stack, TABLE);
      tm_window_compute_all (self);
    }
  tm_window_update_dock (self, FALSE);
}
