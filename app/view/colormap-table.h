/* Colour map tables, made at build time by data/make-colormaps.py (what they are: there). */
#pragma once

#include "view/color.h"

enum
{
  TM_COLORMAP_DIVERGING_LIGHT,
  TM_COLORMAP_DIVERGING_DARK,
  TM_COLORMAP_SEQUENTIAL_LIGHT,
  TM_COLORMAP_SEQUENTIAL_DARK,
  TM_N_COLORMAPS
};

extern const TmColor tm_colormap_table[TM_N_COLORMAPS][256];
