#include "ui/paint/gl-painter-private.h"

#include <gio/gio.h>

#include "ui/paint/paint-resources.h"

#define PREFIX "/org/tensormorph/Tensormorph/shaders/"

/* One source for both dialects: what differs is this. */
static const char desktop_prefix[] = "#version 330 core\n";
static const char es_prefix[] = "#version 300 es\n"
                                "precision highp float;\nprecision highp int;\n"
                                "precision highp sampler2D;\nprecision highp sampler2DArray;\n"
                                "precision highp isampler2D;\nprecision highp usampler2D;\n";

gboolean
tm_gl_check_version (GError **error)
{
  gboolean desktop = epoxy_is_desktop_gl ();
  int version = epoxy_gl_version (), needed = desktop ? 33 : 30;
  if (version >= needed)
    return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "%s %d.%d is there, %d.%d is needed",
               desktop ? "OpenGL" : "OpenGL ES", version / 10, version % 10, needed / 10, needed % 10);
  return FALSE;
}

static gboolean
append_source (GString *source, const char *file, GError **error)
{
  g_autofree char *path = g_strconcat (PREFIX, file, NULL);
  g_autoptr (GBytes) bytes
      = g_resource_lookup_data (tm_paint_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE, error);
  if (bytes == NULL)
    return FALSE;
  gsize size;
  const char *text = g_bytes_get_data (bytes, &size);
  g_string_append_len (source, text, (gssize) size);
  return TRUE;
}

static GLuint
compile (GLenum kind, const char *name, const char *defines, GError **error)
{
  g_autoptr (GString) source = g_string_new (epoxy_is_desktop_gl () ? desktop_prefix : es_prefix);
  g_autofree char *file = g_strconcat (name, kind == GL_VERTEX_SHADER ? ".vert" : ".frag", NULL);
  g_string_append (source, defines);
  if (!append_source (source, kind == GL_VERTEX_SHADER ? "quad.glsl" : "common.glsl", error)
      || !append_source (source, file, error))
    return 0;

  GLuint shader = glCreateShader (kind);
  const char *text = source->str;
  glShaderSource (shader, 1, &text, NULL);
  glCompileShader (shader);
  GLint compiled = GL_FALSE;
  glGetShaderiv (shader, GL_COMPILE_STATUS, &compiled);
  if (compiled)
    return shader;
  char log[1024] = "";
  glGetShaderInfoLog (shader, sizeof log, NULL, log);
  g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "%s does not compile: %s", file, g_strstrip (log));
  glDeleteShader (shader);
  return 0;
}

GLuint
tm_gl_program_new (const char *name, const char *defines, GError **error)
{
  GLuint vertex = compile (GL_VERTEX_SHADER, name, defines, error);
  if (vertex == 0)
    return 0;
  GLuint fragment = compile (GL_FRAGMENT_SHADER, name, defines, error);
  if (fragment == 0)
    {
      glDeleteShader (vertex);
      return 0;
    }
  GLuint program = glCreateProgram ();
  glAttachShader (program, vertex);
  glAttachShader (program, fragment);
  glLinkProgram (program);
  glDetachShader (program, vertex);
  glDetachShader (program, fragment);
  glDeleteShader (vertex);
  glDeleteShader (fragment);
  GLint linked = GL_FALSE;
  glGetProgramiv (program, GL_LINK_STATUS, &linked);
  if (linked)
    return program;
  char log[1024] = "";
  glGetProgramInfoLog (program, sizeof log, NULL, log);
  g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "%s does not link: %s", name, g_strstrip (log));
  glDeleteProgram (program);
  return 0;
}

void
tm_gl_linear_init (TmGlLinear *linear)
{
  glGenTextures (1, &linear->texture);
  linear->rows = 0;
}

void
tm_gl_linear_clear (TmGlLinear *linear)
{
  glDeleteTextures (1, &linear->texture);
  linear->texture = 0;
}

void
tm_gl_linear_upload (TmGlLinear *linear, GArray *texels)
{
  static const struct
  {
    GLint internal;
    GLenum format, type;
  } kinds[] = { { GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT },
                { GL_RG32I, GL_RG_INTEGER, GL_INT },
                { GL_RGBA32I, GL_RGBA_INTEGER, GL_INT } };
  guint size = g_array_get_element_size (texels), kind = size == 4 ? 0 : size == 8 ? 1 : 2;
  GLenum format = kinds[kind].format, type = kinds[kind].type;
  int rows = MAX (1, (int) ((texels->len + TM_GL_LINEAR_WIDTH - 1) / TM_GL_LINEAR_WIDTH));
  g_array_set_size (texels, (guint) rows * TM_GL_LINEAR_WIDTH);
  glBindTexture (GL_TEXTURE_2D, linear->texture);
  if (rows > linear->rows)
    {
      linear->rows = rows;
      glTexImage2D (GL_TEXTURE_2D, 0, kinds[kind].internal, TM_GL_LINEAR_WIDTH, rows, 0, format, type, texels->data);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    }
  else
    glTexSubImage2D (GL_TEXTURE_2D, 0, 0, 0, TM_GL_LINEAR_WIDTH, rows, format, type, texels->data);
}
