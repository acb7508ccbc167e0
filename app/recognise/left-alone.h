/* Which unquantized tensors the config file says are to be left alone. */
#pragma once

#include "model/model.h"
#include "recognise/config.h"

G_BEGIN_DECLS

/* Sets config_excludes of every unquantized tensor whose module the quantization settings list: by path, by a part of it, by
 * a pattern ("re:…", "lm_head*"), or by an override ("-:…", MLX's "path": false). After modules are known. */
void tm_mark_left_alone (TmModel *model, const TmConfig *config);

G_END_DECLS
