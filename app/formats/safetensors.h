/* safetensors: one file (formats/safetensors.md). */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* Names that stand twice are the matter of who puts the set together: tm_model_report_duplicates(). */
gboolean tm_safetensors_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error);

G_END_DECLS
