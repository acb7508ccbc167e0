/* The index of a sharded folder: which tensor is in which file (formats/safetensors.md, section 4). */
#pragma once

#include <gio/gio.h>

#include "io/source.h"

G_BEGIN_DECLS

typedef struct
{
  char *name;
  guint shard; /* index into shards */
} TmIndexed;

typedef struct
{
  GPtrArray *shards;   /* char *, in order of first mention; not checked */
  GArray *tensors;     /* TmIndexed */
  GHashTable *by_name; /* name → GUINT_TO_POINTER (index into tensors + 1) */
  gboolean has_total;
  guint64 total;       /* metadata.total_size, where it is a whole number */
} TmShardIndex;

TmShardIndex *tm_shard_index_read (TmSource *source, GCancellable *cancellable, GError **error);
void tm_shard_index_free (TmShardIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmShardIndex, tm_shard_index_free)

G_END_DECLS
