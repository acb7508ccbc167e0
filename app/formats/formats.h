/* Containers: one reader each, and the registry that sniffs. Readers list stored tensors and metadata into a TmModel and
 * read headers only. They never look at a file's name to decide its kind. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* Fills model (files, stored, metadata, format, version, byte_order, architecture, name, problems) from path: a file, one
 * shard of a set (all parts beside it are opened), an index (*.safetensors.index.json) or a folder.
 * FALSE: nothing of it can be used (refused); the error says what and where.
 *
 * Metadata of config.json beside safetensors files has keys "config.NAME"; nested members are TM_META_JSON.
 *
 * Codes of problems:
 *   errors    unknown-dtype removed-dtype byte-order shape-overflow row-not-blocks size-mismatch sub-byte past-end
 *             dtype shape offsets tensor-field duplicate-field (of one tensor, which has the same words as its fault)
 *             missing-shard shard-unreadable unsafe-shard-name not-in-shard index-unreadable
 *             split-name split-count split-number split-tensor-count duplicate-name (in two parts) too-many-problems
 *   warnings  version-1 big-endian empty-key duplicate-key odd-bool nested-array long-array long-name many-dimensions
 *             duplicate-name misaligned overlap gap tensor-order no-tail-padding
 *             hole empty-range trailing-bytes metadata-type odd-entry not-in-index in-two-shards total-size
 *             config-unreadable
 *   notes     trailing-bytes (GGUF) several-indices */
gboolean tm_formats_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error);

G_END_DECLS
