/* Keys: one table of what every key does. Accelerators, the shortcuts window and the command palette are made from it. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  TM_KEY_WINDOW, /* wherever the focus is */
  TM_KEY_BUBBLE, /* only if nothing that has the focus takes it: letters, digits, copy */
  TM_KEY_CANVAS, /* bound by the canvas itself; listed here */
} TmKeyScope;

typedef struct
{
  TmKeyScope scope;
  const char *group;
  const char *title;  /* "Boundaries on and off"; NULL: a second accelerator that is not listed */
  const char *action; /* detailed: "win.overlay::value"; NULL where there is none to name */
  const char *accels; /* separated by spaces */
} TmKey;

/* Terminated by a NULL group. */
extern const TmKey tm_keys[];

/* Sets the application's accelerators (TM_KEY_WINDOW). */
void tm_keys_install (GtkApplication *application);
/* TM_KEY_BUBBLE ones, for a window. (transfer full) */
GtkEventController *tm_keys_new_controller (void);
/* "Ctrl+O" (transfer full) */
char *tm_key_get_label (const TmKey *key);

GtkWidget *tm_shortcuts_window_new (GtkWindow *parent);

G_END_DECLS
