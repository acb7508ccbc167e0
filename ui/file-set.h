/* File sets: which of several files opened at once are one model. The shards of a set are one; so are an index and its
 * shards. Only names are looked at: what a file is, its bytes tell when it is opened. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* paths: strings. One path a model, in the order given (transfer full) (element-type utf8). */
GPtrArray *tm_file_set_group (GPtrArray *paths);

G_END_DECLS
