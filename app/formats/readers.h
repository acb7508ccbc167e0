/* The readers behind tm_formats_read(). A reader appends what one file holds to a model; whoever puts a set together
 * reads every part into a model of its own and merges them. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* One GGUF file, whatever set it is part of. */
gboolean tm_gguf_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

/* One GGUF file or, where its metadata say that it is a part, the set it belongs to. */
gboolean tm_split_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

/* A folder; an index file; one safetensors file with the set it belongs to, if any. */
gboolean tm_folder_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error);
gboolean tm_index_file_read (const char *path, TmModel *model, GCancellable *cancellable, GError **error);
gboolean tm_shard_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

/* config.json of a folder, if there is one: its members as metadata "config.NAME", and the architecture. */
void tm_config_read (const char *folder, TmModel *model);

/* Another kind of file than the readers read? Then FALSE and TM_ERROR_KIND with what it is. */
gboolean tm_kind_check (TmSource *source, GError **error);

/* --- Shared by readers ---------------------------------------------------------------------------------------------- */

/* A tensor's name from length bytes and a NUL. A C string cannot hold a NUL: one inside becomes C0 80, which no valid UTF-8
 * text contains. Takes bytes. (transfer full) */
char *tm_name_from_bytes (char *bytes, gsize length);

/* A tensor at fault: an error among the problems and, unless it has one already, the tensor's fault in the same words. */
void tm_stored_mark (TmModel *model, TmStored *stored, const char *code, guint64 offset, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

/* n_elements and row-major strides from the shape. FALSE if the product does not fit 64 bits, left to right; with
 * zero_wins an axis of length 0 anywhere makes it 0. n_elements is 0 then. */
gboolean tm_stored_measure (TmStored *stored, gboolean zero_wins);

/* A warning for every stored tensor whose name has been seen before it. */
void tm_model_report_duplicates (TmModel *model);

/* As tm_model_add_problem(), about a file that is not open. */
void tm_model_add_file_problem (TmModel *model, const char *code, const char *file, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* Moves files, stored tensors and problems of a part to the end of a model's. Metadata stays in the part. */
void tm_model_take_part (TmModel *model, TmModel *part);

G_END_DECLS
