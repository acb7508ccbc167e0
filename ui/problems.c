#include "ui/problems.h"

#include "io/number.h"
#include "io/text.h"

/* One cause may be at hundreds of tensors, and a list lays out two hundred wrapped rows before it shows the first. */
#define SHOWN_LIKE_ANOTHER 20

/* --- A list model that makes a row object only for what is on the screen ----------------------------------------- */

#define TM_TYPE_PROBLEM_LIST (tm_problem_list_get_type ())
G_DECLARE_FINAL_TYPE (TmProblemList, tm_problem_list, TM, PROBLEM_LIST, GObject)

struct _TmProblemList
{
  GObject parent_instance;
  TmModel *model;
  GArray *rows; /* Row */
};

typedef struct
{
  const TmProblem *problem; /* NULL: the last row says what is left out */
  guint more;
} Row;

static GType
problem_list_get_item_type (GListModel *list)
{
  return GTK_TYPE_STRING_OBJECT;
}

static guint
problem_list_get_n_items (GListModel *list)
{
  return TM_PROBLEM_LIST (list)->rows->len;
}

static gpointer
problem_list_get_item (GListModel *list, guint position)
{
  GArray *rows = TM_PROBLEM_LIST (list)->rows;
  g_autofree char *text = NULL;
  GtkStringObject *item;
  const Row *row;

  if (position >= rows->len)
    return NULL;
  row = &g_array_index (rows, Row, position);
  if (row->problem)
    text = tm_problem_describe (row->problem);
  else
    {
      g_autofree char *count = tm_format_count (row->more);

      text = g_strdup_printf ("%s more of the same kinds: Copy All has them", count);
    }
  item = gtk_string_object_new (text);
  g_object_set_data (G_OBJECT (item), "problem", (gpointer) row->problem);
  return item;
}

static void
problem_list_iface_init (GListModelInterface *iface)
{
  iface->get_item_type = problem_list_get_item_type;
  iface->get_n_items = problem_list_get_n_items;
  iface->get_item = problem_list_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TmProblemList, tm_problem_list, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, problem_list_iface_init))

static void
tm_problem_list_finalize (GObject *object)
{
  g_array_unref (TM_PROBLEM_LIST (object)->rows);
  g_clear_object (&TM_PROBLEM_LIST (object)->model);
  G_OBJECT_CLASS (tm_problem_list_parent_class)->finalize (object);
}

static void
tm_problem_list_class_init (TmProblemListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = tm_problem_list_finalize;
}

static void
tm_problem_list_init (TmProblemList *self)
{
  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
}

static TmProblemList *
problem_list_new (TmModel *model)
{
  TmProblemList *self = g_object_new (TM_TYPE_PROBLEM_LIST, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal); /* code → how many */
  Row last = { 0 };

  self->model = g_object_ref (model);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);
      const Row row = { .problem = problem };
      const char *code = problem->code ? problem->code : "";
      const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (seen, code));

      g_hash_table_insert (seen, (gpointer) code, GUINT_TO_POINTER (n + 1));
      if (n < SHOWN_LIKE_ANOTHER)
        g_array_append_val (self->rows, row);
      else
        last.more++;
    }
  if (last.more)
    g_array_append_val (self->rows, last);
  return self;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

char *
tm_problem_describe (const TmProblem *problem)
{
  g_autofree char *message = tm_text_escape (problem->message, -1);
  g_autofree char *file = problem->file ? tm_text_escape (problem->file, -1) : NULL;
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s: %s", tm_severity_get_name (problem->severity), message);
  if (file && problem->offset != TM_NO_OFFSET)
    g_string_append_printf (text, " (%s, byte %" G_GUINT64_FORMAT ")", file, problem->offset);
  else if (file)
    g_string_append_printf (text, " (%s)", file);
  return g_string_free (text, FALSE);
}

static void
on_copy (GtkButton *button, GtkLabel *label)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (button)), gtk_label_get_text (label));
}

static void
setup_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *icon = gtk_image_new ();
  GtkWidget *label = gtk_label_new (NULL);
  GtkWidget *copy = gtk_button_new_from_icon_name ("edit-copy-symbolic");

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (icon, GTK_ALIGN_START);
  gtk_widget_set_margin_top (icon, 9);
  gtk_widget_set_valign (copy, GTK_ALIGN_START);
  gtk_widget_add_css_class (copy, "flat");
  gtk_widget_set_tooltip_text (copy, "Copy this problem");
  gtk_accessible_update_property (GTK_ACCESSIBLE (copy), GTK_ACCESSIBLE_PROPERTY_LABEL, "Copy this problem", -1);
  g_signal_connect_object (copy, "clicked", G_CALLBACK (on_copy), label, 0);
  gtk_box_append (GTK_BOX (row), icon);
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), copy);
  gtk_list_item_set_child (item, row);
  gtk_list_item_set_activatable (item, FALSE);
}

static void
bind_row (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  static const char *const icons[] = { "dialog-information-symbolic", "dialog-warning-symbolic", "dialog-error-symbolic" };
  GtkWidget *icon = gtk_widget_get_first_child (gtk_list_item_get_child (item));
  GtkStringObject *string = gtk_list_item_get_item (item);
  const TmProblem *problem = g_object_get_data (G_OBJECT (string), "problem");

  gtk_widget_set_opacity (icon, problem ? 1 : 0);
  gtk_widget_set_visible (gtk_widget_get_last_child (gtk_list_item_get_child (item)), problem != NULL);
  if (problem)
    {
      gtk_image_set_from_icon_name (GTK_IMAGE (icon), icons[MIN (problem->severity, TM_SEVERITY_ERROR)]);
      gtk_accessible_update_property (GTK_ACCESSIBLE (icon), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      tm_severity_get_name (problem->severity), -1);
    }
  gtk_label_set_text (GTK_LABEL (gtk_widget_get_next_sibling (icon)), gtk_string_object_get_string (string));
}

static void
on_copy_all (GtkButton *button, GtkWidget *stack)
{
  TmModel *model = g_object_get_data (G_OBJECT (stack), "model");
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; model && i < model->problems->len; i++)
    {
      g_autofree char *line = tm_problem_describe (g_ptr_array_index (model->problems, i));

      g_string_append_printf (text, "%s\n", line);
    }
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (button)), text->str);
}

GtkWidget *
tm_problems_new (void)
{
  GtkWidget *stack = gtk_stack_new ();
  GtkWidget *page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *none = gtk_label_new ("No problems: everything in the file was understood.");
  GtkWidget *copy_all = gtk_button_new_with_label ("Copy All");
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkWidget *list;

  g_signal_connect (factory, "setup", G_CALLBACK (setup_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_row), NULL);
  list = gtk_list_view_new (NULL, factory);
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Problems", -1);
  gtk_widget_add_css_class (list, "tm-problems");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_widget_set_halign (copy_all, GTK_ALIGN_END);
  g_signal_connect_object (copy_all, "clicked", G_CALLBACK (on_copy_all), stack, 0);
  gtk_box_append (GTK_BOX (page), scroller);
  gtk_box_append (GTK_BOX (page), copy_all);
  gtk_label_set_wrap (GTK_LABEL (none), TRUE);

  gtk_stack_set_vhomogeneous (GTK_STACK (stack), FALSE);
  gtk_stack_set_hhomogeneous (GTK_STACK (stack), FALSE);
  gtk_stack_add_named (GTK_STACK (stack), none, "none");
  gtk_stack_add_named (GTK_STACK (stack), page, "list");
  g_object_set_data (G_OBJECT (stack), "list", list);
  g_object_set_data (G_OBJECT (stack), "scroller", scroller);
  return stack;
}

void
tm_problems_set_model (GtkWidget *stack, TmModel *model)
{
  GtkListView *view = g_object_get_data (G_OBJECT (stack), "list");
  const int n = model ? (int) MIN (model->problems->len, 6) : 0;
  g_autoptr (GtkSelectionModel) selection = NULL;

  if (model)
    selection = GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (problem_list_new (model))));
  gtk_list_view_set_model (view, selection);
  /* A list does not know its height before it is shown: room for what there is, three lines each, up to six. */
  gtk_widget_set_size_request (g_object_get_data (G_OBJECT (stack), "scroller"), 420, CLAMP (n * 64, 64, 380));
  g_object_set_data_full (G_OBJECT (stack), "model", model ? g_object_ref (model) : NULL, g_object_unref);
  gtk_stack_set_visible_child_name (GTK_STACK (stack), model && model->problems->len ? "list" : "none");
}
