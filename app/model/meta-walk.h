/* Walking GGUF values: shared by the reader, which steps over arrays, and by metadata, which fetches their items. */
#pragma once

#include "io/cursor.h"
#include "model/metadata.h"

G_BEGIN_DECLS

/* Bytes of a value of fixed size; 0 for strings, arrays and unknown types. */
guint tm_meta_get_size (guint32 type);

/* A count or a length: 64 bits, 32 in version 1. */
guint64 tm_meta_read_length (TmCursor *cursor, guint version);

/* Steps over n_items items, count_at being where their count stands (for messages). depth: arrays around the items, this
 * one included. odd_bool: set to the position of the first bool that is neither 0 nor 1, otherwise left alone. */
gboolean tm_meta_skip_items (TmCursor *cursor, guint version, guint32 item_type, guint64 n_items, guint64 count_at,
                             guint depth, guint64 *odd_bool);

G_END_DECLS
