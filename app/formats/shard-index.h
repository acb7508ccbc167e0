/* The index of a sharded folder: which tensor is in which file (formats/safetensors.md, section 4). */
#pragma once

#include <gio/gio.h>

#include "io/source.h"
#include "model/name-table.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* in the index's text */
  guint shard; /* index into shards */
} TmIndexed;

typedef struct
{
  GPtrArray *shards;   /* const char * in the text, in order of first mention; not checked */
  GArray *tensors;     /* TmIndexed */
  TmNameTable *by_name; /* of the tensors; NULL where they are sorted by name */
  char *text;          /* of the file: where the names are */
  gboolean has_total;
  guint64 total;       /* metadata.total_size, where it is a whole number */
} TmShardIndex;

TmShardIndex *tm_shard_index_read (TmSource *source, GCancellable *cancellable, GError **error);
/* The place of a name among its tensors, or TM_NO_NUMBER. guess: the place that is tried first. */
guint tm_shard_index_find (const TmShardIndex *index, const char *name, guint guess);
void tm_shard_index_free (TmShardIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmShardIndex, tm_shard_index_free)

G_END_DECLS
