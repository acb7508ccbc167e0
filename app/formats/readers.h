/* The readers behind tm_formats_read(). A reader appends what one file holds to a model; whoever puts a set together
 * reads every part into a model of its own and merges them. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* One GGUF file, whatever set it is part of. */
gboolean tm_gguf_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

/* One GGUF file or, where its metadata say that it is a part, the set it belongs to. */
gboolean tm_split_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

/* --- Shared by readers ---------------------------------------------------------------------------------------------- */

/* A tensor's name from length bytes and a NUL. A C string cannot hold a NUL: one inside becomes C0 80, which no valid UTF-8
 * text contains. (transfer full) of both */
char *tm_name_from_bytes (char *bytes, gsize length);

/* A tensor at fault: an error among the problems and, unless it has one already, the tensor's fault in the same words. */
void tm_stored_mark (TmModel *model, TmStored *stored, const char *code, guint64 offset, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

/* n_elements and row-major strides from the shape. FALSE if the product does not fit 64 bits, left to right; with
 * zero_wins an axis of length 0 anywhere makes it 0. n_elements is 0 then. */
gboolean tm_stored_measure (TmStored *stored, gboolean zero_wins);

/* A warning for every stored tensor whose name has been seen before it. */
void tm_model_report_duplicates (TmModel *model);

/* Moves files, stored tensors and problems of a part to the end of a model's. Metadata stays in the part. */
void tm_model_take_part (TmModel *model, TmModel *part);

G_END_DECLS
