/* Settings: one small key file in the user's configuration folder; no schema has to be installed. Main thread only.
 * A file that cannot be read or written is as good as none: nothing here is worth an error. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

int tm_settings_get_int (const char *group, const char *key, int fallback);
void tm_settings_set_int (const char *group, const char *key, int value);
char *tm_settings_get_string (const char *group, const char *key, const char *fallback); /* (transfer full) */
void tm_settings_set_string (const char *group, const char *key, const char *value);

/* --- Recent models, newest first ------------------------------------------------------------------------------- */
typedef struct
{
  char *path;
  char *note; /* "636 MiB · Q4_K, Q6_K" */
} TmRecent;

#define TM_MAX_RECENT 8

GPtrArray *tm_recent_list (void); /* of TmRecent, those that still exist (transfer full) */
void tm_recent_add (const char *path, const char *note);
void tm_recent_clear (void);

G_END_DECLS
