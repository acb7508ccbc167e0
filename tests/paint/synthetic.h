/* Models made in memory, for painters and their benchmark: no file, no names to recognise, values from a generator. */
#pragma once

#include "view/scene.h"

/* n_tensors matrices of rows × columns, a few a module, cycling through dtypes with and without boundaries; every
 * thirty-second has a fault, every fortieth is empty. (transfer full) */
TmModel *synthetic_model_new (guint n_tensors, guint64 rows, guint64 columns);
/* One tensor of that shape. flat > 0: its blocks of so many elements run on across row ends. (transfer full) */
TmModel *synthetic_tensor_new (guint64 rows, guint64 columns, guint64 flat);

/* Tensor for tensor like model, of kinds: patches of them and strewn ones. (transfer full) */
TmModel *synthetic_kinds_new (TmModel *model);

/* Updates the scene until no tile is pending and nothing on it is sampled or missing. */
void settle_scene (TmScene *scene, const TmView *view);
