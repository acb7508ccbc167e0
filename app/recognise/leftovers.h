/* Pieces of quantized weights that no convention claimed: named with what is missing or wrong, so that nothing stays a
 * meaningless table without a word. */
#pragma once

#include "recognise/convention.h"

G_BEGIN_DECLS

void tm_report_leftovers (TmFolding *folding, const TmBundle *bundle);

G_END_DECLS
