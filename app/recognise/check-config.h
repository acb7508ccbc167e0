/* The config file against what was found: the convention it names, and of those that have no check of their own bits and
 * group sizes. Tensors win; what differs is told. */
#pragma once

#include "recognise/config.h"
#include "model/model.h"

G_BEGIN_DECLS

void tm_check_config (TmModel *model, const TmConfig *config);

G_END_DECLS
