/* Files of a set beside the one that was opened. Names come from files, so they may ask for anything: only plain names in
 * the same folder are followed, and links only as far as the folder, or the hub cache it is part of (design/bad-input.md). */
#pragma once

#include "io/source.h"

G_BEGIN_DECLS

typedef enum
{
  TM_BESIDE_OK,
  TM_BESIDE_MISSING,
  TM_BESIDE_UNSAFE_NAME, /* not a plain file name */
  TM_BESIDE_OUTSIDE,     /* a link that leaves the folder */
} TmBeside;

/* Where name in folder is. path: set for OK and MISSING. (transfer full) */
TmBeside tm_beside_resolve (const char *folder, const char *name, char **path);

/* The whole of a small file beside, with a NUL behind it: for OK text and source, or neither and the error (over the limit of bytes,
 * or it cannot be read). Everything is (transfer full). */
TmBeside tm_beside_read (const char *folder, const char *name, guint limit, TmSource **source, char **text, gsize *length,
                         GError **error);

/* "PREFIX-00002-of-00005SUFFIX" → prefix (transfer full), number, count. FALSE if the name is not like that. */
gboolean tm_beside_parse_part (const char *name, const char *suffix, char **prefix, guint *number, guint *count);
/* The other way round. (transfer full) */
char *tm_beside_format_part (const char *prefix, guint number, guint count, const char *suffix);

/* Names in folder that end in suffix, sorted. (transfer full) (element-type utf8) */
GPtrArray *tm_beside_list (const char *folder, const char *suffix);

G_END_DECLS
