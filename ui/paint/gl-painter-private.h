/* Parts of the OpenGL painter. Everything is made in, and dies with, the context that is current. */
#pragma once

#include <epoxy/gl.h>

#include "io/error.h"
#include "ui/paint/painter.h"

G_BEGIN_DECLS

/* --- Programs: shaders from the resource, with the prefix of the current context's dialect --------------------- */
/* name: "rect" for rect.vert and rect.frag. defines: lines put behind the prefix, or "". 0 with an error. */
GLuint tm_gl_program_new (const char *name, const char *defines, GError **error);
/* FALSE with an error below GL 3.3 / GLES 3.0. */
gboolean tm_gl_check_version (GError **error);

/* --- Linear data in 2-D integer textures, 2048 texels a row: no one is longer than any GL's limit ---------------- */
#define TM_GL_LINEAR_WIDTH 2048
typedef struct
{
  GLuint texture;
  int rows;
} TmGlLinear;
void tm_gl_linear_init (TmGlLinear *linear);
void tm_gl_linear_clear (TmGlLinear *linear);
/* Uploads a whole array of texels: GLuint (R32UI), two GLint (RG32I) or four (RGBA32I); it is padded to whole rows. */
void tm_gl_linear_upload (TmGlLinear *linear, GArray *texels);

/* --- Tiles: a cache of layers in one array texture ------------------------------------------------------------- */
typedef struct _TmGlTiles TmGlTiles;
TmGlTiles *tm_gl_tiles_new (void);
void tm_gl_tiles_free (TmGlTiles *tiles);
/* Room for n tiles at once, if the limits allow; forgets everything when it grows. */
void tm_gl_tiles_reserve (TmGlTiles *tiles, guint n);
/* Nothing used before this call needs to stay. */
void tm_gl_tiles_begin (TmGlTiles *tiles);
/* The layer that holds a tile's texels, uploaded if they are not there; −1: every layer is in use since begin. */
int tm_gl_tiles_get (TmGlTiles *tiles, const TmTile *tile);
GLuint tm_gl_tiles_get_texture (TmGlTiles *tiles);

/* --- Sheets ---------------------------------------------------------------------------------------------------- */
typedef struct _TmGlSheets TmGlSheets;
/* masks: the shaders write line and halo strengths (red, green) and "outside" (blue) instead of colours. */
TmGlSheets *tm_gl_sheets_new (gboolean masks, GError **error);
void tm_gl_sheets_free (TmGlSheets *sheets);
/* At the start of a frame; n_tiles: how many tiles its sheets name. */
void tm_gl_sheets_begin (TmGlSheets *sheets, int width, int height, const TmTheme *theme, guint n_tiles);
void tm_gl_sheets_add (TmGlSheets *sheets, const TmPrimSheet *sheet);
void tm_gl_sheets_flush (TmGlSheets *sheets); /* draws what was added */

/* A painter for shader tests, see masks above: only sheets are drawn. */
TmGlPainter *tm_gl_painter_new_masks (GError **error);

G_END_DECLS
