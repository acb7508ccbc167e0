/* A scene that is one sheet, over tiles made of numbers that depend on the element alone. */
#pragma once

#include "view/scene-private.h"

typedef float (*ValueFunc) (gint64 column, gint64 row, gpointer data);

typedef struct
{
  TmScene *scene;
  TmTheme theme;
  GPtrArray *tiles; /* TmTile * */
} SheetFixture;

void sheet_fixture_init (SheetFixture *fixture);
void sheet_fixture_clear (SheetFixture *fixture);
/* missing: one tile in so many has only an ancestor (two levels up), one more is not there at all; 0: all are there.
 * value: of an element at level 0; of a texel above, that of its first element. */
void sheet_fixture_fill (SheetFixture *fixture, const TmCamera *camera, guint64 rows, guint64 columns,
                         const TmBoundaries *boundaries, ValueFunc value, gpointer data, guint missing);

/* Line and halo of a pixel by 64-bit block numbers at the footprint's ends, from the definition alone: no rulers. */
void brute_force_ink (const TmBoundaries *boundaries, const TmCamera *camera, int px, int py, guint *line, guint *halo);

/* Draws by the CPU painter into pixels 0xAARRGGBB. (transfer full) */
guint32 *draw_by_cpu (const TmScene *scene, const TmTheme *theme, int width, int height);
/* Pixels whose largest channel difference is more than tolerance; the largest difference. */
guint count_differences (const guint32 *a, const guint32 *b, int n, guint tolerance, guint *largest);
