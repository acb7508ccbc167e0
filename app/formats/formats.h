/* Containers: one reader each, and the registry that sniffs. Readers list stored tensors and metadata into a TmModel and
 * read headers only. They never look at a file's name to decide its kind. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* Fills model (files, stored, metadata, format, version, byte_order, architecture, name, problems) from path: a file, one
 * shard of a set (all parts beside it are opened), an index (*.safetensors.index.json) or a folder.
 * FALSE: nothing of it can be used (refused); the error says what and where. */
gboolean tm_formats_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error);

G_END_DECLS
