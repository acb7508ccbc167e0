#include "ui/application.h"

#include "ui/keys.h"
#include "ui/settings.h"
#include "ui/window-private.h"

struct _TmApplication
{
  GtkApplication parent_instance;
  TmRenderer renderer;
  TmAppearance *appearance;
};

G_DEFINE_FINAL_TYPE (TmApplication, tm_application, GTK_TYPE_APPLICATION)

static TmWindow *
new_window (TmApplication *self)
{
  GtkWidget *window = tm_window_new (self);

  gtk_window_present (GTK_WINDOW (window));
  return TM_WINDOW (window);
}

static void
tm_application_activate (GApplication *application)
{
  new_window (TM_APPLICATION (application));
}

/* The window in use if it has nothing in it yet, else a new one. */
static TmWindow *
free_window (TmApplication *self)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));

  if (TM_IS_WINDOW (window) && tm_window_is_free (TM_WINDOW (window)))
    return TM_WINDOW (window);
  return new_window (self);
}

static void
tm_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  TmApplication *self = TM_APPLICATION (application);
  TmWindow *window = free_window (self);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (int i = 0; i < n_files; i++)
    {
      char *path = g_file_get_path (files[i]);
      g_autofree char *uri = g_file_get_uri (files[i]);
      g_autofree char *message = g_strdup_printf ("%s is not a local file. Download it, then open the copy.", uri);

      if (path)
        g_ptr_array_add (paths, path);
      else
        tm_window_show_problem (window, message);
    }
  tm_window_open_all (window, paths);
  gtk_window_present (GTK_WINDOW (window));
}

static void
on_new_window (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  new_window (self);
}

static void
on_quit (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  GList *windows = g_list_copy (gtk_application_get_windows (GTK_APPLICATION (self)));

  /* Closed one by one, so that each keeps its size and stops its work. */
  for (GList *link = windows; link; link = link->next)
    gtk_window_close (link->data);
  g_list_free (windows);
}

static void
on_theme (GSimpleAction *action, GVariant *value, gpointer data)
{
  TmApplication *self = data;

  tm_appearance_set_choice (self->appearance, g_variant_get_string (value, NULL));
  g_simple_action_set_state (action, g_variant_new_string (tm_appearance_get_choice (self->appearance)));
}

static const GActionEntry entries[] = {
  { "new-window", on_new_window },
  { "quit", on_quit },
  { "theme", NULL, "s", "'system'", on_theme },
};

static void
tm_application_startup (GApplication *application)
{
  TmApplication *self = TM_APPLICATION (application);
  g_autoptr (GtkCssProvider) css = gtk_css_provider_new ();
  GAction *theme;

  G_APPLICATION_CLASS (tm_application_parent_class)->startup (application);

  self->appearance = tm_appearance_new ();
  gtk_css_provider_load_from_resource (css, TM_RESOURCES "style.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (), GTK_STYLE_PROVIDER (css),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  theme = g_action_map_lookup_action (G_ACTION_MAP (self), "theme");
  g_simple_action_set_state (G_SIMPLE_ACTION (theme), g_variant_new_string (tm_appearance_get_choice (self->appearance)));
  tm_keys_install (GTK_APPLICATION (self));
}

static void
tm_application_shutdown (GApplication *application)
{
  G_APPLICATION_CLASS (tm_application_parent_class)->shutdown (application);
  g_clear_object (&TM_APPLICATION (application)->appearance);
}

static void
tm_application_class_init (TmApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  application_class->startup = tm_application_startup;
  application_class->shutdown = tm_application_shutdown;
  application_class->activate = tm_application_activate;
  application_class->open = tm_application_open;
}

static void
tm_application_init (TmApplication *self)
{
}

TmApplication *
tm_application_new (TmRenderer renderer, gboolean new_instance)
{
  GApplicationFlags flags = G_APPLICATION_HANDLES_OPEN | (new_instance ? G_APPLICATION_NON_UNIQUE : 0);
  TmApplication *self = g_object_new (TM_TYPE_APPLICATION, "application-id", TM_APPLICATION_ID, "flags", flags,
                                      "resource-base-path", "/org/tensormorph/Tensormorph", NULL);

  self->renderer = renderer;
  return self;
}

TmRenderer
tm_application_get_renderer (TmApplication *self)
{
  return self->renderer;
}

TmAppearance *
tm_application_get_appearance (TmApplication *self)
{
  return self->appearance;
}

void
tm_application_recent_changed (TmApplication *self)
{
  for (GList *link = gtk_application_get_windows (GTK_APPLICATION (self)); link; link = link->next)
    if (TM_IS_WINDOW (link->data))
      tm_window_refresh_recent (link->data);
}
