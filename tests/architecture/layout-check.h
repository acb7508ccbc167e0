/* What is true of every layout: used by all layout tests. */
#pragma once

#include "architecture/layout.h"

/* Children inside their parents, siblings apart, sheets inside boxes, every tensor drawn once or hidden by one fold. */
void check_layout (const TmLayout *layout);
