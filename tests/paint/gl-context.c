#include "paint/gl-context.h"

static EGLDisplay shared_display = EGL_NO_DISPLAY;

static const char *
open_display (void)
{
  if (shared_display != EGL_NO_DISPLAY)
    return NULL;
  if (!epoxy_has_egl_extension (EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    return "EGL_MESA_platform_surfaceless is missing";
  EGLDisplay display = eglGetPlatformDisplayEXT (EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (display == EGL_NO_DISPLAY || !eglInitialize (display, NULL, NULL))
    return "EGL without a surface does not start";
  shared_display = display;
  return NULL;
}

const char *
gl_context_init (GlContext *gl, gboolean es, int major, int minor)
{
  const char *why = open_display ();
  if (why != NULL)
    return why;
  const EGLint core[] = {
    EGL_CONTEXT_MAJOR_VERSION,           major,   EGL_CONTEXT_MINOR_VERSION, minor, EGL_CONTEXT_OPENGL_PROFILE_MASK,
    EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE
  };
  const EGLint embedded[] = { EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor, EGL_NONE };
  gboolean old = !es && major < 3;
  const EGLint compatible[] = { EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor, EGL_NONE };
  eglBindAPI (es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
  *gl = (GlContext) { .display = shared_display };
  gl->context = eglCreateContext (gl->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT,
                                  es    ? embedded
                                  : old ? compatible
                                        : core);
  if (gl->context == EGL_NO_CONTEXT)
    return "no such context";
  if (!eglMakeCurrent (gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context))
    return "the context cannot be made current";
  return NULL;
}

void
gl_context_clear (GlContext *gl)
{
  if (gl->framebuffer != 0)
    {
      glDeleteFramebuffers (1, &gl->framebuffer);
      glDeleteRenderbuffers (1, &gl->renderbuffer);
    }
  eglMakeCurrent (gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext (gl->display, gl->context);
}

void
gl_context_set_size (GlContext *gl, int width, int height)
{
  if (gl->framebuffer == 0)
    {
      glGenFramebuffers (1, &gl->framebuffer);
      glGenRenderbuffers (1, &gl->renderbuffer);
    }
  gl->width = width;
  gl->height = height;
  glBindRenderbuffer (GL_RENDERBUFFER, gl->renderbuffer);
  glRenderbufferStorage (GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer (GL_FRAMEBUFFER, gl->framebuffer);
  glFramebufferRenderbuffer (GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, gl->renderbuffer);
  g_assert_cmpint (glCheckFramebufferStatus (GL_FRAMEBUFFER), ==, GL_FRAMEBUFFER_COMPLETE);
}

guint32 *
gl_context_read (GlContext *gl)
{
  g_autofree guint8 *bytes = g_malloc ((gsize) gl->width * gl->height * 4);
  guint32 *pixels = g_new (guint32, (gsize) gl->width * gl->height);
  glPixelStorei (GL_PACK_ALIGNMENT, 4);
  glReadPixels (0, 0, gl->width, gl->height, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
  g_assert_cmpuint (glGetError (), ==, GL_NO_ERROR);
  for (int y = 0; y < gl->height; y++)
    for (int x = 0; x < gl->width; x++)
      {
        const guint8 *p = bytes + ((gsize) (gl->height - 1 - y) * gl->width + x) * 4;
        pixels[(gsize) y * gl->width + x] = (guint32) p[3] << 24 | (guint32) p[0] << 16 | (guint32) p[1] << 8 | p[2];
      }
  return pixels;
}
