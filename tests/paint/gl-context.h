/* A GL context without a display (EGL_MESA_platform_surfaceless) and a picture to draw into. */
#pragma once

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <glib.h>

typedef struct
{
  EGLDisplay display;
  EGLContext context;
  GLuint framebuffer, renderbuffer;
  int width, height;
} GlContext;

/* Why there is none (static), or NULL. */
const char *gl_context_init (GlContext *gl, gboolean es, int major, int minor);
void gl_context_clear (GlContext *gl);
void gl_context_set_size (GlContext *gl, int width, int height);
/* RGBA bytes, upper row first, as 0xAARRGGBB. (transfer full) */
guint32 *gl_context_read (GlContext *gl);
