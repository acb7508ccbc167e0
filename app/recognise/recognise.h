/* Stored tensors → logical tensors, names → module tree. Evidence is in the file; what is not folded stays visible. */
#pragma once

#include "model/model.h"
#include "recognise/assume.h"

G_BEGIN_DECLS

/* The one way to open a model: formats, then recognise, then tm_model_seal(). (transfer full) */
TmModel *tm_open_model (const char *path, GCancellable *cancellable, GError **error);
/* The same with a person's choices where the file leaves a reading open. assume may be NULL. */
TmModel *tm_open_model_with (const char *path, const TmAssume *assume, GCancellable *cancellable, GError **error);

/* Steps of the above, for tests. */
void tm_recognise_tensors (TmModel *model); /* fills model->tensors */
void tm_recognise_modules (TmModel *model); /* fills model->root, every tensor's module, architecture where only names tell */

G_END_DECLS
