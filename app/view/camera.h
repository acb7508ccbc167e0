/* Camera: device pixels ↔ elements in fixed point 32.32 (overlay-math.md section 1). Everybody who asks which element is
 * under a pixel asks here: hit test, status line, rulers, tests.
 *
 * Position of half-pixel index h (pixel p spans h = 2p … 2p+2, centre 2p+1) is X(h) = X0 + h·D, D = round(2^31 / s),
 * s = device pixels an element. X0 has 64 bits of whole part: it is kept in an __int128 with 32 fraction bits. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_MIN_SCALE 1e-7
#define TM_MAX_SCALE 400.0

typedef struct
{
  __int128 x0, y0; /* 32 fraction bits; element position at the left and upper edge of the viewport */
  guint64 d;       /* elements a half pixel, 32 fraction bits; both axes */
  double scale;    /* s, what d was rounded from */
  int width, height; /* viewport in device pixels */
} TmCamera;

void tm_camera_init (TmCamera *camera, int width, int height);
/* origin = centre − size/(2s) in double, whole part floor, fraction × 2^32 truncated (the views of overlay-math section 7). */
void tm_camera_set (TmCamera *camera, double centre_x, double centre_y, double scale);
/* The same with an exact 64-bit whole part. */
void tm_camera_set_at (TmCamera *camera, gint64 x, double fraction_x, gint64 y, double fraction_y, double scale);
/* Moves the picture by (dx, dy) device pixels, as a drag does; whole ones move it exactly. */
void tm_camera_pan (TmCamera *camera, double dx, double dy);
void tm_camera_zoom (TmCamera *camera, double factor, double px, double py); /* the point under (px, py) stays */
void tm_camera_resize (TmCamera *camera, int width, int height); /* the centre stays */
/* Shows a rectangle of elements with a margin in pixels; scale clamped. */
void tm_camera_fit (TmCamera *camera, gint64 x, gint64 y, gint64 width, gint64 height, int margin);

/* Element (floor) under the centre of a pixel. */
gint64 tm_camera_element_x (const TmCamera *camera, int px);
gint64 tm_camera_element_y (const TmCamera *camera, int py);
/* Pixel position of an element edge, in double and rounded to the pixel border at or right of it: pixel p's centre is at or
 * right of the edge from the returned p on. */
double tm_camera_pixel_x (const TmCamera *camera, gint64 element);
double tm_camera_pixel_y (const TmCamera *camera, gint64 element);
int tm_camera_snap_x (const TmCamera *camera, gint64 element); /* clamped to ±2^30 */
int tm_camera_snap_y (const TmCamera *camera, gint64 element);

void tm_camera_get_centre (const TmCamera *camera, double *x, double *y);
/* Eased interpolation for flights: at 0 from, at 1 to; zooms out on the way where the way is long. */
void tm_camera_interpolate (const TmCamera *from, const TmCamera *to, double t, TmCamera *result);

G_END_DECLS
