/* Models made in memory, for tests that want a model and no file. Header-only parts: none; link fake_model (tests/meson.build). */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* An empty model to add stored tensors to; then tm_fake_model_finish(). */
TmModel *tm_fake_model_new (const char *title);
/* Adds a stored tensor; returns its index. Bytes are set by finish. */
guint tm_fake_model_add (TmModel *model, const char *name, TmDtype dtype, guint rank, const guint64 *shape);
#define tm_fake_model_add_shape(model, name, dtype, ...) \
  tm_fake_model_add (model, name, dtype, G_N_ELEMENTS (((guint64[]) { __VA_ARGS__ })), (guint64[]) { __VA_ARGS__ })
/* Gives every stored tensor its bytes (up to 64 MiB in all: plausible weights in memory, the same on every run; more: a
 * sparse temporary file of zeros), then recognises and seals. Returns model. */
TmModel *tm_fake_model_finish (TmModel *model);

/* blk.N like llama: embed 256, key/value 64, feed-forward 768, vocabulary 1024. Weights Q4_K, norms F32; mixed: attn_v and
 * ffn_down are Q6_K in the first two blocks and the last, output too. (transfer full) */
TmModel *tm_fake_model_new_llama (guint blocks, gboolean mixed);
/* The same with TinyLlama's sizes (2048, 256, 5632, 32000) and 22 blocks, sparse. */
TmModel *tm_fake_model_new_tinyllama (gboolean mixed);

G_END_DECLS
