/* An entry of the legend of an overlay that colours by a few kinds: a colour and what it stands for, with numbers. */
#pragma once

#include "view/color.h"

G_BEGIN_DECLS

#define TM_LEGEND_ENTRIES 8

typedef struct
{
  TmColor color;
  char text[64];
  const char *tooltip; /* static, or NULL */
} TmLegendEntry;

G_END_DECLS
