/* Pictures: a view of a model painted by the CPU painter into a PNG file, with no display and no GTK. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

#define TM_PICTURE_MIN_SIDE 64
#define TM_PICTURE_MAX_SIDE 16384

/* address NULL or "": the whole model; a module fits, a tensor fills the picture, a scalar is shown among its neighbours' cells.
 * Waits for exact values (a minute at most). A strip above says what it is, one below what colours and lines mean. The file
 * is replaced at once or not at all. Runs the default main context, on its thread. */
gboolean tm_picture_write (TmModel *model, const char *address, int width, int height, gboolean dark,
                           const char *out_png, GError **error);

G_END_DECLS
