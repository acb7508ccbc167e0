/* GL painter: the scene in paint order, neighbours of one kind in one instanced draw call. */
#include "ui/paint/gl-painter-private.h"

#define HATCHED 0xffffffffu

typedef struct
{
  GLint rect[4];
  GLuint style[4];
} RectInstance;
typedef struct
{
  GLint rect[4];
  GLint atlas[2];
  GLuint color;
} GlyphInstance;

typedef enum
{
  BATCH_NONE,
  BATCH_RECTS,
  BATCH_GLYPHS,
  BATCH_SHEETS
} Batch;

typedef struct
{
  GLuint program, vertex_array, buffer;
  GLint size, height;
  GArray *instances;
} Quads;

struct _TmGlPainter
{
  gboolean masks;
  Quads rects, glyphs;
  GLuint atlas;
  int atlas_height;
  guint atlas_serial;
  TmGlSheets *sheets;
  int width, height;
};

static gboolean
quads_init (Quads *quads, const char *name, gsize size, GError **error)
{
  quads->instances = g_array_new (FALSE, FALSE, (guint) size);
  quads->program = tm_gl_program_new (name, "", error);
  if (quads->program == 0)
    return FALSE;
  quads->size = glGetUniformLocation (quads->program, "u_size");
  quads->height = glGetUniformLocation (quads->program, "u_height");
  glGenVertexArrays (1, &quads->vertex_array);
  glGenBuffers (1, &quads->buffer);
  glBindVertexArray (quads->vertex_array);
  glBindBuffer (GL_ARRAY_BUFFER, quads->buffer);
  return TRUE;
}

static void
quads_clear (Quads *quads)
{
  if (quads->program != 0)
    {
      glDeleteProgram (quads->program);
      glDeleteBuffers (1, &quads->buffer);
      glDeleteVertexArrays (1, &quads->vertex_array);
    }
  g_clear_pointer (&quads->instances, g_array_unref);
}

static void
integer_attribute (GLuint index, int n, GLenum type, gsize stride, gsize offset)
{
  glEnableVertexAttribArray (index);
  glVertexAttribIPointer (index, n, type, (GLsizei) stride, GSIZE_TO_POINTER (offset));
  glVertexAttribDivisor (index, 1);
}

static TmGlPainter *
painter_new (gboolean masks, GError **error)
{
  if (!tm_gl_check_version (error))
    return NULL;
  TmGlPainter *painter = g_new0 (TmGlPainter, 1);
  painter->masks = masks;
  gboolean made = quads_init (&painter->rects, "rect", sizeof (RectInstance), error);
  if (made)
    {
      integer_attribute (0, 4, GL_INT, sizeof (RectInstance), G_STRUCT_OFFSET (RectInstance, rect));
      integer_attribute (1, 4, GL_UNSIGNED_INT, sizeof (RectInstance), G_STRUCT_OFFSET (RectInstance, style));
      made = quads_init (&painter->glyphs, "glyph", sizeof (GlyphInstance), error);
    }
  if (made)
    {
      integer_attribute (0, 4, GL_INT, sizeof (GlyphInstance), G_STRUCT_OFFSET (GlyphInstance, rect));
      integer_attribute (1, 2, GL_INT, sizeof (GlyphInstance), G_STRUCT_OFFSET (GlyphInstance, atlas));
      integer_attribute (2, 1, GL_UNSIGNED_INT, sizeof (GlyphInstance), G_STRUCT_OFFSET (GlyphInstance, color));
      painter->sheets = tm_gl_sheets_new (masks, error);
      made = painter->sheets != NULL;
    }
  glBindVertexArray (0);
  glUseProgram (0);
  if (!made)
    {
      tm_gl_painter_free (painter);
      return NULL;
    }
  glGenTextures (1, &painter->atlas);
  return painter;
}

TmGlPainter *
tm_gl_painter_new (GError **error)
{
  return painter_new (FALSE, error);
}

TmGlPainter *
tm_gl_painter_new_masks (GError **error)
{
  return painter_new (TRUE, error);
}

void
tm_gl_painter_free (TmGlPainter *painter)
{
  if (painter == NULL)
    return;
  quads_clear (&painter->rects);
  quads_clear (&painter->glyphs);
  tm_gl_sheets_free (painter->sheets);
  if (painter->atlas != 0)
    glDeleteTextures (1, &painter->atlas);
  g_free (painter);
}

static void
draw_quads (TmGlPainter *painter, Quads *quads)
{
  guint n = quads->instances->len;
  if (n == 0)
    return;
  glUseProgram (quads->program);
  glUniform2i (quads->size, painter->width, painter->height);
  glUniform1i (quads->height, painter->height);
  glBindVertexArray (quads->vertex_array);
  glBindBuffer (GL_ARRAY_BUFFER, quads->buffer);
  glBufferData (GL_ARRAY_BUFFER, (GLsizeiptr) (n * g_array_get_element_size (quads->instances)), quads->instances->data,
                GL_STREAM_DRAW);
  glEnable (GL_BLEND);
  glBlendFunc (GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDrawArraysInstanced (GL_TRIANGLE_STRIP, 0, 4, (GLsizei) n);
  g_array_set_size (quads->instances, 0);
}

static void
upload_atlas (TmGlPainter *painter, TmGlyphs *glyphs)
{
  int width, height;
  guint serial;
  const guint8 *pixels = tm_glyphs_get_atlas (glyphs, &width, &height, &serial);
  glActiveTexture (GL_TEXTURE0);
  glBindTexture (GL_TEXTURE_2D, painter->atlas);
  if (serial == painter->atlas_serial)
    return;
  painter->atlas_serial = serial;
  glPixelStorei (GL_UNPACK_ALIGNMENT, 1);
  if (height != painter->atlas_height)
    {
      painter->atlas_height = height;
      glTexImage2D (GL_TEXTURE_2D, 0, GL_R8, width, height, 0, GL_RED, GL_UNSIGNED_BYTE, pixels);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    }
  else
    glTexSubImage2D (GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RED, GL_UNSIGNED_BYTE, pixels);
  glPixelStorei (GL_UNPACK_ALIGNMENT, 4);
}

static void
flush (TmGlPainter *painter, Batch batch, TmGlyphs *glyphs)
{
  if (batch == BATCH_RECTS)
    draw_quads (painter, &painter->rects);
  else if (batch == BATCH_SHEETS)
    tm_gl_sheets_flush (painter->sheets);
  else if (batch == BATCH_GLYPHS)
    {
      upload_atlas (painter, glyphs);
      draw_quads (painter, &painter->glyphs);
    }
}

static void
add_rect (TmGlPainter *painter, const TmPrimRect *rect, gboolean hatched)
{
  if (rect->width <= 0 || rect->height <= 0)
    return;
  RectInstance instance = {
    .rect = { rect->x, rect->y, rect->width, rect->height },
    .style = { rect->fill, rect->stroke, (GLuint) MIN (rect->radius, MIN (rect->width, rect->height) / 2),
               hatched ? HATCHED : (GLuint) rect->border },
  };
  g_array_append_val (painter->rects.instances, instance);
}

static void
add_text (TmGlPainter *painter, const TmPrimText *text, TmGlyphs *glyphs)
{
  guint n;
  const TmGlyphQuad *quads = tm_glyphs_layout (glyphs, text, &n);
  for (guint i = 0; i < n; i++)
    {
      const TmGlyphQuad *quad = &quads[i];
      GlyphInstance instance = { .rect = { text->x + quad->x, text->y + quad->y, quad->width, quad->height },
                                 .atlas = { quad->atlas_x, quad->atlas_y },
                                 .color = text->color };
      g_array_append_val (painter->glyphs.instances, instance);
    }
}

static guint
count_tiles (const TmPrim *prims, guint n)
{
  guint tiles = 0;
  for (guint i = 0; i < n; i++)
    if (prims[i].kind == TM_PRIM_SHEET)
      tiles += prims[i].as.sheet.n_pages_x * prims[i].as.sheet.n_pages_y;
  return tiles;
}

static Batch
batch_of (TmPrimKind kind)
{
  return kind == TM_PRIM_TEXT ? BATCH_GLYPHS : kind == TM_PRIM_SHEET ? BATCH_SHEETS : BATCH_RECTS;
}

void
tm_gl_painter_draw (TmGlPainter *painter, int width, int height, const TmScene *scene, const TmTheme *theme,
                    TmGlyphs *glyphs)
{
  guint n;
  const TmPrim *prims = tm_scene_get_prims (scene, &n);
  painter->width = width;
  painter->height = height;
  glViewport (0, 0, width, height);
  glDisable (GL_DEPTH_TEST);
  glDisable (GL_SCISSOR_TEST);
  glDisable (GL_CULL_FACE);
  if (painter->masks)
    glClearColor (0, 0, 1, 1); /* outside */
  else
    glClearColor ((float) TM_COLOR_RED (theme->background) / 255.0f,
                  (float) TM_COLOR_GREEN (theme->background) / 255.0f,
                  (float) TM_COLOR_BLUE (theme->background) / 255.0f, 1.0f);
  glClear (GL_COLOR_BUFFER_BIT);
  tm_glyphs_begin (glyphs);
  tm_gl_sheets_begin (painter->sheets, width, height, theme, count_tiles (prims, n));

  Batch batch = BATCH_NONE;
  for (guint i = 0; i < n; i++)
    {
      const TmPrim *prim = &prims[i];
      if (painter->masks && prim->kind != TM_PRIM_SHEET)
        continue;
      if (batch_of (prim->kind) != batch)
        {
          flush (painter, batch, glyphs);
          batch = batch_of (prim->kind);
        }
      if (prim->kind == TM_PRIM_TEXT)
        add_text (painter, &prim->as.text, glyphs);
      else if (prim->kind == TM_PRIM_SHEET)
        tm_gl_sheets_add (painter->sheets, &prim->as.sheet);
      else
        add_rect (painter, &prim->as.rect, prim->kind == TM_PRIM_HATCH);
    }
  flush (painter, batch, glyphs);
  glDisable (GL_BLEND);
  glBindVertexArray (0);
  glUseProgram (0);
}
