#include "ui/accessible.h"

static void
set_label (GtkWidget *widget, const char *label)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static void
name_scrollbar (GtkWidget *scrollbar)
{
  const char *label = gtk_orientable_get_orientation (GTK_ORIENTABLE (scrollbar)) == GTK_ORIENTATION_VERTICAL
                          ? "Vertical scroll bar"
                          : "Horizontal scroll bar";

  set_label (scrollbar, label);
  for (GtkWidget *child = gtk_widget_get_first_child (scrollbar); child; child = gtk_widget_get_next_sibling (child))
    set_label (child, label);
}

static void
name_pages (GtkStack *stack)
{
  g_autoptr (GtkSelectionModel) pages = gtk_stack_get_pages (stack);

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pages)); i++)
    {
      GtkStackPage *page = g_list_model_get_item (G_LIST_MODEL (pages), i);

      if (!gtk_stack_page_get_title (page))
        gtk_stack_page_set_title (page, gtk_stack_page_get_name (page) ? gtk_stack_page_get_name (page) : "Page");
      g_object_unref (page);
    }
}

static void
name_search_icons (GtkWidget *entry)
{
  GtkWidget *last = gtk_widget_get_last_child (entry);

  for (GtkWidget *child = gtk_widget_get_first_child (entry); child; child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_IMAGE (child))
      set_label (child, child == last ? "Clear" : "Search");
}

static void
name_expander (GtkExpander *expander)
{
  const char *label = gtk_expander_get_label (expander);

  set_label (GTK_WIDGET (expander), label ? label : "More");
}

/* Marks and frames that are private to the toolkit: known by their class's name alone. */
static void
name_private_part (GtkWidget *widget)
{
  const char *type = G_OBJECT_TYPE_NAME (widget);

  if (g_str_equal (type, "GtkBuiltinIcon"))
    set_label (widget, "Mark");
  else if (g_str_equal (type, "GtkPopoverContent"))
    set_label (widget, "Details");
  else if (g_str_equal (type, "GtkPanedHandle"))
    set_label (widget, "Edge");
}

void
tm_accessible_name_parts (GtkWidget *widget)
{
  if (GTK_IS_SCROLLBAR (widget))
    {
      name_scrollbar (widget);
      return;
    }
  if (GTK_IS_STACK (widget))
    name_pages (GTK_STACK (widget));
  else if (GTK_IS_OVERLAY (widget))
    set_label (widget, "Content");
  else if (GTK_IS_PANED (widget))
    set_label (widget, "Content and what stands under it");
  else if (GTK_IS_POPOVER_MENU (widget))
    set_label (widget, "Menu");
  else if (GTK_IS_POPOVER (widget))
    set_label (widget, "Details");
  else if (GTK_IS_SEARCH_ENTRY (widget))
    name_search_icons (widget);
  else if (GTK_IS_EXPANDER (widget))
    name_expander (GTK_EXPANDER (widget));
  else
    name_private_part (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child; child = gtk_widget_get_next_sibling (child))
    tm_accessible_name_parts (child);
}
