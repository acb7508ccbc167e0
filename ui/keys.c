#include "ui/keys.h"

#include "ui/accessible.h"

#include <string.h>

#define FILES "File"
#define GO "Go"
#define SEE "See"
#define SELECTION "Selection"
#define PANELS "Panels and help"

const TmKey tm_keys[] = {
  { TM_KEY_WINDOW, FILES, "Open a file", "win.open", "<Control>o" },
  { TM_KEY_WINDOW, FILES, "Open a folder", "win.open-folder", "<Control><Alt>o" },
  { TM_KEY_WINDOW, FILES, "New window", "app.new-window", "<Control>n" },
  { TM_KEY_WINDOW, FILES, "Open the sample", "win.open-sample", "" },
  { TM_KEY_WINDOW, FILES, "Compare with a file", "win.compare", "<Control><Shift>o" },
  { TM_KEY_WINDOW, FILES, "Compare with a folder", "win.compare-folder", "" },
  { TM_KEY_WINDOW, FILES, "End the comparison", "win.stop-comparing", "" },
  { TM_KEY_WINDOW, FILES, "Export", "win.export", "<Control>e" },
  { TM_KEY_WINDOW, FILES, "Export the region", "win.export-region", "" },
  { TM_KEY_WINDOW, FILES, "Export the tensor", "win.export-tensor", "" },
  { TM_KEY_WINDOW, FILES, "Reload", "win.reload", "<Control>r F5" },
  { TM_KEY_WINDOW, FILES, "Close the window", "window.close", "<Control>w" },
  { TM_KEY_WINDOW, FILES, "Quit", "app.quit", "<Control>q" },

  { TM_KEY_WINDOW, GO, "Command palette", "win.palette", "<Control>k" },
  { TM_KEY_WINDOW, GO, "Address bar", "win.address", "<Control>l" },
  { TM_KEY_WINDOW, GO, "Filter tensors", "win.filter", "<Control>f" },
  { TM_KEY_WINDOW, GO, "Back", "win.back", "<Alt>Left Back" },
  { TM_KEY_WINDOW, GO, "Forward", "win.forward", "<Alt>Right Forward" },
  { TM_KEY_WINDOW, GO, "Into the selection", "win.into", "<Alt>Down" },
  { TM_KEY_CANVAS, GO, NULL, "canvas.into", "Return" },
  { TM_KEY_WINDOW, GO, "Out to its parent", "win.up", "<Alt>Up" },
  { TM_KEY_BUBBLE, GO, NULL, "win.up", "BackSpace" },
  { TM_KEY_BUBBLE, GO, "Next tensor", "win.next-tensor", "Page_Down KP_Page_Down" },
  { TM_KEY_BUBBLE, GO, "Previous tensor", "win.previous-tensor", "Page_Up KP_Page_Up" },

  { TM_KEY_BUBBLE, SEE, "Boundaries on and off", "win.boundaries", "b" },
  { TM_KEY_WINDOW, SEE, "Sort columns by group", "win.sort-columns", "" },
  { TM_KEY_BUBBLE, SEE, "Overlay: none", "win.overlay::none", "1" },
  { TM_KEY_BUBBLE, SEE, "Overlay: dtype", "win.overlay::dtype", "2" },
  { TM_KEY_BUBBLE, SEE, "Overlay: value", "win.overlay::value", "3" },
  { TM_KEY_BUBBLE, SEE, "Overlay: raw", "win.overlay::raw", "4" },
  { TM_KEY_BUBBLE, SEE, "Overlay: scale", "win.overlay::scale", "5" },
  { TM_KEY_BUBBLE, SEE, "Overlay: error", "win.overlay::error", "6" },
  { TM_KEY_BUBBLE, SEE, "Overlay: zeros by cause", "win.overlay::sparsity", "7" },
  { TM_KEY_BUBBLE, SEE, "Overlay: backend support", "win.overlay::backend", "8" },
  { TM_KEY_WINDOW, SEE, "A pixel shows the largest magnitude", "win.reduce::largest", "" },
  { TM_KEY_WINDOW, SEE, "A pixel shows the mean", "win.reduce::mean", "" },
  { TM_KEY_WINDOW, SEE, "A pixel shows the RMS", "win.reduce::rms", "" },
  { TM_KEY_CANVAS, SEE, "Zoom in", "canvas.zoom-in", "plus" },
  { TM_KEY_CANVAS, SEE, "Zoom out", "canvas.zoom-out", "minus" },
  { TM_KEY_CANVAS, SEE, "Fit the selection", "canvas.fit", "f" },
  { TM_KEY_CANVAS, SEE, "1 element = 1 pixel", "canvas.one-to-one", "0" },
  { TM_KEY_CANVAS, SEE, "Whole model", "canvas.whole-model", "Home" },

  { TM_KEY_CANVAS, SELECTION, "Move the selected scalar, or to the neighbour box", NULL, "Left Up Right Down" },
  { TM_KEY_CANVAS, SELECTION, "To the next boundary", NULL, "<Shift>Left <Shift>Right" },
  { TM_KEY_CANVAS, SELECTION, "To the start of the group", "canvas.group-start", "g" },
  { TM_KEY_CANVAS, SELECTION, "Previous slice of the leading axis", "canvas.previous-slice", "bracketleft" },
  { TM_KEY_CANVAS, SELECTION, "Next slice of the leading axis", "canvas.next-slice", "bracketright" },
  { TM_KEY_BUBBLE, SELECTION, "Copy the value", "win.copy-value", "<Control>c" },
  { TM_KEY_BUBBLE, SELECTION, "Copy the record", "win.copy-record", "<Control><Shift>c" },
  { TM_KEY_WINDOW, SELECTION, "Copy the address", "win.copy-address", "" },

  { TM_KEY_WINDOW, PANELS, "Outliner", "win.outliner", "F9" },
  { TM_KEY_WINDOW, PANELS, "Inspector", "win.inspector", "<Control>F9" },
  { TM_KEY_WINDOW, PANELS, "Tensor table", "win.table", "<Control>t" },
  { TM_KEY_WINDOW, PANELS, "Statistics of all tensors", "win.statistics", "" },
  { TM_KEY_WINDOW, PANELS, "Count the zeros of the selected tensor", "win.count-zeros", "" },
  { TM_KEY_WINDOW, PANELS, "Full screen", "win.fullscreen", "F11" },
  { TM_KEY_WINDOW, PANELS, "Problems", "win.problems", "" },
  { TM_KEY_WINDOW, PANELS, "Follow the desktop's colours", "app.theme::system", "" },
  { TM_KEY_WINDOW, PANELS, "Light", "app.theme::light", "" },
  { TM_KEY_WINDOW, PANELS, "Dark", "app.theme::dark", "" },
  { TM_KEY_WINDOW, PANELS, "Glossary", "win.glossary", "F1" },
  { TM_KEY_WINDOW, PANELS, "Shortcuts", "win.shortcuts", "<Control>question <Control>slash" },
  { TM_KEY_WINDOW, PANELS, "About Tensormorph", "win.about", "" },
  { 0 },
};

void
tm_keys_install (GtkApplication *application)
{
  for (const TmKey *key = tm_keys; key->group; key++)
    if (key->scope == TM_KEY_WINDOW && *key->accels)
      {
        g_auto (GStrv) accels = g_strsplit (key->accels, " ", -1);

        gtk_application_set_accels_for_action (application, key->action, (const char *const *) accels);
      }
}

GtkEventController *
tm_keys_new_controller (void)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();

  for (const TmKey *key = tm_keys; key->group; key++)
    {
      g_auto (GStrv) accels = g_strsplit (key->accels, " ", -1);

      if (key->scope != TM_KEY_BUBBLE)
        continue;
      for (char **accel = accels; *accel; accel++)
        {
          g_autofree char *name = NULL;
          g_autoptr (GVariant) target = NULL;
          GtkShortcut *shortcut;

          if (!g_action_parse_detailed_name (key->action, &name, &target, NULL))
            continue;
          shortcut = gtk_shortcut_new (gtk_shortcut_trigger_parse_string (*accel), gtk_named_action_new (name));
          gtk_shortcut_set_arguments (shortcut, target);
          gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller), shortcut);
        }
    }
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_BUBBLE);
  return controller;
}

char *
tm_key_get_label (const TmKey *key)
{
  g_auto (GStrv) accels = g_strsplit (key->accels, " ", -1);
  GString *label = g_string_new (NULL);
  /* Canvas rows name several keys that belong together, the others alternatives of which the first is enough. */
  guint max = key->scope == TM_KEY_CANVAS ? G_MAXUINT : 1;

  for (guint i = 0; accels[i] && i < max; i++)
    {
      guint value;
      GdkModifierType modifiers;

      if (!gtk_accelerator_parse (accels[i], &value, &modifiers))
        continue;
      /* The toolkit says Shift first; people, and every other place here, say Ctrl+Shift. */
      g_autofree char *named = gtk_accelerator_get_label (value, modifiers);
      g_autofree char *one = g_str_has_prefix (named, "Shift+Ctrl+")
                                 ? g_strconcat ("Ctrl+Shift+", named + strlen ("Shift+Ctrl+"), NULL)
                                 : g_steal_pointer (&named);
      if (label->len)
        g_string_append_c (label, ' ');
      g_string_append (label, one);
    }
  return g_string_free (label, FALSE);
}

static GtkWidget *
group_new (const char *group)
{
  GtkWidget *grid = gtk_grid_new ();
  GtkWidget *heading = gtk_label_new (group);
  int row = 1;

  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_add_css_class (heading, "heading");
  gtk_grid_set_column_spacing (GTK_GRID (grid), 16);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_grid_attach (GTK_GRID (grid), heading, 0, 0, 2, 1);
  for (const TmKey *key = tm_keys; key->group; key++)
    {
      g_autofree char *accel = tm_key_get_label (key);
      GtkWidget *title, *cap;

      if (!key->title || !*accel || !g_str_equal (key->group, group))
        continue;
      cap = gtk_label_new (accel);
      gtk_widget_add_css_class (cap, "tm-key");
      gtk_widget_set_halign (cap, GTK_ALIGN_START);
      title = gtk_label_new (key->title);
      gtk_label_set_xalign (GTK_LABEL (title), 0);
      gtk_label_set_wrap (GTK_LABEL (title), TRUE);
      gtk_grid_attach (GTK_GRID (grid), cap, 0, row, 1, 1);
      gtk_grid_attach (GTK_GRID (grid), title, 1, row++, 1, 1);
    }
  gtk_widget_set_valign (grid, GTK_ALIGN_START);
  return grid;
}

static gboolean
close_on_escape (GtkWidget *window, GVariant *arguments, gpointer data)
{
  gtk_window_close (GTK_WINDOW (window));
  return TRUE;
}

GtkWidget *
tm_shortcuts_window_new (GtkWindow *parent)
{
  static const char *const groups[] = { FILES, GO, SEE, SELECTION, PANELS };
  GtkWidget *window = gtk_window_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *flow = gtk_flow_box_new ();
  GtkEventController *keys = gtk_shortcut_controller_new ();

  gtk_window_set_title (GTK_WINDOW (window), "Shortcuts");
  gtk_window_set_titlebar (GTK_WINDOW (window), gtk_header_bar_new ());
  gtk_window_set_transient_for (GTK_WINDOW (window), parent);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (window), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (window), 860, 620);
  gtk_widget_add_css_class (window, "tm-shortcuts");
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Escape, 0), gtk_callback_action_new (close_on_escape, NULL, NULL)));
  gtk_widget_add_controller (window, keys);

  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (flow), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (flow), 2);
  gtk_flow_box_set_row_spacing (GTK_FLOW_BOX (flow), 24);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (flow), 32);
  gtk_accessible_update_property (GTK_ACCESSIBLE (flow), GTK_ACCESSIBLE_PROPERTY_LABEL, "Keys", -1);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      GtkWidget *child = gtk_flow_box_child_new ();

      gtk_flow_box_child_set_child (GTK_FLOW_BOX_CHILD (child), group_new (groups[i]));
      gtk_widget_set_focusable (child, FALSE);
      gtk_accessible_update_property (GTK_ACCESSIBLE (child), GTK_ACCESSIBLE_PROPERTY_LABEL, groups[i], -1);
      gtk_flow_box_append (GTK_FLOW_BOX (flow), child);
    }
  gtk_widget_set_margin_start (flow, 18);
  gtk_widget_set_margin_end (flow, 18);
  gtk_widget_set_margin_top (flow, 18);
  gtk_widget_set_margin_bottom (flow, 18);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), flow);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_window_set_child (GTK_WINDOW (window), scroller);
  tm_accessible_name_parts (window);
  return window;
}
