#include "ui/appearance.h"

#include "ui/settings.h"

#define PORTAL_NAME "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define PORTAL_SETTINGS "org.freedesktop.portal.Settings"
#define PORTAL_APPEARANCE "org.freedesktop.appearance"

struct _TmAppearance
{
  GObject parent_instance;

  const char *choice;
  gboolean gtk_dark;     /* what GTK was told before we told it anything */
  gboolean forced_dark;  /* GTK_THEME names a dark theme: nothing else counts */
  gint portal_scheme;    /* −1 unknown, 0 no preference, 1 dark, 2 light */
  TmColor accent;
  gboolean dark;

  GtkCssProvider *accent_css;
  GDBusConnection *bus;
  guint subscription;
  GCancellable *cancellable;
};

G_DEFINE_FINAL_TYPE (TmAppearance, tm_appearance, G_TYPE_OBJECT)

static guint changed_signal;

static void
set_accent_css (TmAppearance *self)
{
  const TmColor accent = self->accent ? self->accent : 0x3584e4ff;
  g_autofree char *css = g_strdup_printf ("@define-color tm_accent #%06x;", accent >> 8);
  GdkDisplay *display = gdk_display_get_default ();

  if (!self->accent_css)
    {
      self->accent_css = gtk_css_provider_new ();
      gtk_style_context_add_provider_for_display (display, GTK_STYLE_PROVIDER (self->accent_css),
                                                  GTK_STYLE_PROVIDER_PRIORITY_APPLICATION + 1);
    }
#if GTK_CHECK_VERSION(4, 12, 0)
  G_GNUC_BEGIN_IGNORE_DEPRECATIONS
  gtk_css_provider_load_from_string (self->accent_css, css);
  G_GNUC_END_IGNORE_DEPRECATIONS
#else
  gtk_css_provider_load_from_data (self->accent_css, css, -1);
#endif
}

static void
update (TmAppearance *self)
{
  gboolean dark;

  if (g_str_equal (self->choice, "system"))
    dark = self->portal_scheme > 0 ? self->portal_scheme == 1 : self->gtk_dark;
  else
    dark = g_str_equal (self->choice, "dark");
  dark = dark || self->forced_dark;

  self->dark = dark;
  g_object_set (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", dark, NULL);
  set_accent_css (self);
  g_signal_emit (self, changed_signal, 0);
}

/* (ddd) red, green, blue from 0 to 1; anything outside means none is set. */
static TmColor
read_accent (GVariant *value)
{
  double part[3];
  TmColor color = 0;

  if (!g_variant_is_of_type (value, G_VARIANT_TYPE ("(ddd)")))
    return 0;
  g_variant_get (value, "(ddd)", &part[0], &part[1], &part[2]);
  for (guint i = 0; i < 3; i++)
    {
      if (!(part[i] >= 0 && part[i] <= 1))
        return 0;
      color = color << 8 | (TmColor) (part[i] * 255 + 0.5);
    }
  return color << 8 | 0xff;
}

static gboolean
take_setting (TmAppearance *self, const char *key, GVariant *value)
{
  g_autoptr (GVariant) inner = NULL;

  /* Read() wraps the value once more than ReadOne() and the signal do. */
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARIANT))
    {
      inner = g_variant_get_variant (value);
      return take_setting (self, key, inner);
    }
  if (g_str_equal (key, "color-scheme") && g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32))
    self->portal_scheme = (gint) MIN (g_variant_get_uint32 (value), 2);
  else if (g_str_equal (key, "accent-color"))
    self->accent = read_accent (value);
  else
    return FALSE;
  return TRUE;
}

static void
on_portal_signal (GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal,
                  GVariant *parameters, gpointer data)
{
  TmAppearance *self = data;
  g_autoptr (GVariant) value = NULL;
  const char *group, *key;

  if (!g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(ssv)")))
    return;
  g_variant_get (parameters, "(&s&sv)", &group, &key, &value);
  if (g_str_equal (group, PORTAL_APPEARANCE) && take_setting (self, key, value))
    update (self);
}

static void
on_portal_answer (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GVariant) answer = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);
  g_autoptr (GVariant) groups = NULL;
  g_autoptr (GVariantIter) settings = NULL;
  g_autoptr (TmAppearance) self = data;
  const char *key;
  GVariant *value;
  gboolean any = FALSE;

  if (!answer) /* no portal, or one without this interface: GTK's own preference holds */
    return;
  groups = g_variant_get_child_value (answer, 0);
  if (!g_variant_lookup (groups, PORTAL_APPEARANCE, "a{sv}", &settings))
    return;
  while (g_variant_iter_next (settings, "{&sv}", &key, &value))
    {
      any = take_setting (self, key, value) || any;
      g_variant_unref (value);
    }
  if (any)
    update (self);
}

static void
on_bus (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GDBusConnection) bus = g_bus_get_finish (result, NULL);
  g_autoptr (TmAppearance) self = data;
  const char *groups[] = { PORTAL_APPEARANCE, NULL };

  if (!bus || g_cancellable_is_cancelled (self->cancellable))
    return;
  self->bus = g_object_ref (bus);
  self->subscription
      = g_dbus_connection_signal_subscribe (bus, PORTAL_NAME, PORTAL_SETTINGS, "SettingChanged", PORTAL_PATH,
                                            PORTAL_APPEARANCE, G_DBUS_SIGNAL_FLAGS_NONE, on_portal_signal, self, NULL);
  g_dbus_connection_call (bus, PORTAL_NAME, PORTAL_PATH, PORTAL_SETTINGS, "ReadAll", g_variant_new ("(^as)", groups),
                          G_VARIANT_TYPE ("(a{sa{sv}})"), G_DBUS_CALL_FLAGS_NONE, 2000, self->cancellable,
                          on_portal_answer, g_object_ref (self));
}

static void
tm_appearance_dispose (GObject *object)
{
  TmAppearance *self = TM_APPEARANCE (object);

  g_cancellable_cancel (self->cancellable);
  if (self->subscription)
    g_dbus_connection_signal_unsubscribe (self->bus, self->subscription);
  self->subscription = 0;
  g_clear_object (&self->bus);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->accent_css);
  G_OBJECT_CLASS (tm_appearance_parent_class)->dispose (object);
}

static void
tm_appearance_class_init (TmAppearanceClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_appearance_dispose;
  changed_signal = g_signal_new ("changed", TM_TYPE_APPEARANCE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static const char *
known_choice (const char *choice)
{
  if (g_strcmp0 (choice, "dark") == 0)
    return "dark";
  return g_strcmp0 (choice, "light") == 0 ? "light" : "system";
}

static void
tm_appearance_init (TmAppearance *self)
{
  g_autofree char *choice = tm_settings_get_string ("appearance", "theme", "system");
  const char *forced = g_getenv ("GTK_THEME");

  self->choice = known_choice (choice);
  self->portal_scheme = -1;
  self->forced_dark = forced && (g_str_has_suffix (forced, ":dark") || g_str_has_suffix (forced, "-dark"));
  self->cancellable = g_cancellable_new ();
  g_object_get (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", &self->gtk_dark, NULL);
}

TmAppearance *
tm_appearance_new (void)
{
  TmAppearance *self = g_object_new (TM_TYPE_APPEARANCE, NULL);

  update (self);
  g_bus_get (G_BUS_TYPE_SESSION, self->cancellable, on_bus, g_object_ref (self));
  return self;
}

gboolean
tm_appearance_get_dark (TmAppearance *self)
{
  return self->dark;
}

TmColor
tm_appearance_get_accent (TmAppearance *self)
{
  return self->accent;
}

const char *
tm_appearance_get_choice (TmAppearance *self)
{
  return self->choice;
}

void
tm_appearance_set_choice (TmAppearance *self, const char *choice)
{
  self->choice = known_choice (choice);
  tm_settings_set_string ("appearance", "theme", self->choice);
  update (self);
}
