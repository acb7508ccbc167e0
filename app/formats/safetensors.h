/* safetensors: one file (formats/safetensors.md). */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

gboolean tm_safetensors_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

G_END_DECLS
