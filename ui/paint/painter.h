/* Painters: two that draw one scene. Both take glyphs from one atlas, so text is the same too. */
#pragma once

#include <cairo.h>

#include "view/scene.h"

G_BEGIN_DECLS

/* --- Glyphs: Pango and cairo make an A8 atlas; no GTK needed. -------------------------------------------------- */
typedef struct _TmGlyphs TmGlyphs;
typedef struct { int x, y, width, height, atlas_x, atlas_y; } TmGlyphQuad; /* destination relative to the text's origin */

TmGlyphs *tm_glyphs_new (void);
void tm_glyphs_free (TmGlyphs *glyphs);
/* At the start of a frame: a full atlas begins anew here, and only here, so quads stay right for a whole frame. */
void tm_glyphs_begin (TmGlyphs *glyphs);
int tm_glyphs_measure (TmFont font, guint px, const char *text, gpointer glyphs); /* a TmMeasure */
/* Quads of one text primitive (elided to max_width, aligned). The array is valid until the next call of layout. */
const TmGlyphQuad *tm_glyphs_layout (TmGlyphs *glyphs, const TmPrimText *text, guint *n);
const guint8 *tm_glyphs_get_atlas (TmGlyphs *glyphs, int *width, int *height, guint *serial); /* serial changes when pixels do */

/* --- CPU painter: the reference. Draws into premultiplied ARGB32. ----------------------------------------------- */
typedef struct _TmCpuPainter TmCpuPainter;
TmCpuPainter *tm_cpu_painter_new (void);
void tm_cpu_painter_free (TmCpuPainter *painter);
/* surface: CAIRO_FORMAT_RGB24 or ARGB32 image of the viewport's size. */
void tm_cpu_painter_draw (TmCpuPainter *painter, cairo_surface_t *surface, const TmScene *scene, const TmTheme *theme,
                          TmGlyphs *glyphs);

/* --- OpenGL painter: GL 3.3 core or GLES 3.0, whichever is current. ---------------------------------------------- */
typedef struct _TmGlPainter TmGlPainter;
/* In a current context. NULL with an error below GL 3.3 / GLES 3.0 or where a shader does not compile. */
TmGlPainter *tm_gl_painter_new (GError **error);
void tm_gl_painter_free (TmGlPainter *painter); /* in the same context */
/* Draws into the bound framebuffer, viewport 0, 0, width, height. */
void tm_gl_painter_draw (TmGlPainter *painter, int width, int height, const TmScene *scene, const TmTheme *theme,
                         TmGlyphs *glyphs);

G_END_DECLS
