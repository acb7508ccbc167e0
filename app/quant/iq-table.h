/* Code books of the IQ and FP4 block types (formats/ggml.md section 4), generated from data/tables by
 * data/tables/make-iq-table.py. */
#pragma once

#include <glib.h>

extern const guint8 tm_iq2xxs_grid[256][8];
extern const guint8 tm_iq2xs_grid[512][8];
extern const guint8 tm_iq2s_grid[1024][8];
extern const guint8 tm_iq3xxs_grid[256][4];
extern const guint8 tm_iq3s_grid[512][4];
extern const gint8 tm_iq1s_grid[2048][8];
extern const guint8 tm_ksigns_iq2xs[128];
extern const gint8 tm_kvalues_iq4nl[16];
extern const gint8 tm_kvalues_fp4[16];
