/* See camera.h. Every position is an integer with 32 fraction bits, so that two askers can never differ by a rounding. */
#include "view/camera.h"

#include <math.h>

typedef __int128 TmFixed;

#define ONE ((TmFixed) 1 << 32)
/* Whole parts stay within 62 bits: elements fit a gint64 and sums of two positions never overflow. */
#define FAR ((TmFixed) 1 << (62 + 32))

static TmFixed
clamp_position (TmFixed x)
{
  return CLAMP (x, -FAR, FAR);
}

static double
clamp_scale (double scale)
{
  return scale >= TM_MIN_SCALE ? MIN (scale, TM_MAX_SCALE) : TM_MIN_SCALE; /* NaN is the smallest */
}

static guint64
step_of_scale (double scale)
{
  return (guint64) llround (2147483648.0 / scale);
}

/* whole + fraction, the fraction's 2^32nds cut off. */
static TmFixed
fixed_from_parts (gint64 whole, double fraction)
{
  double down = floor (fraction);

  if (!(fabs (down) < 0x1p62))
    return fraction > 0 ? FAR : -FAR;
  return clamp_position (((TmFixed) whole + (gint64) down) * ONE + (TmFixed) ((fraction - down) * 0x1p32));
}

static gint64
whole_of (TmFixed x)
{
  return (gint64) (x >> 32);
}

static TmFixed
divide_up (TmFixed a, TmFixed b)
{
  TmFixed q = a / b;

  return q + (a % b > 0 ? 1 : 0);
}

void
tm_camera_init (TmCamera *camera, int width, int height)
{
  *camera = (TmCamera) { .width = MAX (width, 0), .height = MAX (height, 0) };
  tm_camera_set (camera, 0, 0, 1);
}

void
tm_camera_set (TmCamera *camera, double centre_x, double centre_y, double scale)
{
  camera->scale = clamp_scale (scale);
  camera->d = step_of_scale (camera->scale);
  camera->x0 = fixed_from_parts (0, centre_x - camera->width / (2 * camera->scale));
  camera->y0 = fixed_from_parts (0, centre_y - camera->height / (2 * camera->scale));
}

void
tm_camera_set_at (TmCamera *camera, gint64 x, double fraction_x, gint64 y, double fraction_y, double scale)
{
  camera->scale = clamp_scale (scale);
  camera->d = step_of_scale (camera->scale);
  camera->x0 = clamp_position (fixed_from_parts (x, fraction_x) - (TmFixed) camera->width * camera->d);
  camera->y0 = clamp_position (fixed_from_parts (y, fraction_y) - (TmFixed) camera->height * camera->d);
}

static TmFixed
pan_axis (TmFixed x0, guint64 d, double pixels)
{
  double whole, fraction;

  if (!(fabs (pixels) < 1e9))
    return x0;
  fraction = modf (pixels, &whole);
  return clamp_position (x0 - 2 * (TmFixed) (gint64) whole * d - (TmFixed) llround (2 * fraction * (double) d));
}

void
tm_camera_pan (TmCamera *camera, double dx, double dy)
{
  camera->x0 = pan_axis (camera->x0, camera->d, dx);
  camera->y0 = pan_axis (camera->y0, camera->d, dy);
}

void
tm_camera_zoom (TmCamera *camera, double factor, double px, double py)
{
  double scale = clamp_scale (camera->scale * factor);
  guint64 d = step_of_scale (scale);
  gint64 hx = llround (2 * fmin (fmax (px, -1e9), 1e9)), hy = llround (2 * fmin (fmax (py, -1e9), 1e9));
  TmFixed change = (TmFixed) camera->d - d;

  if (!(factor > 0) || !isfinite (px) || !isfinite (py))
    return;
  camera->x0 = clamp_position (camera->x0 + hx * change);
  camera->y0 = clamp_position (camera->y0 + hy * change);
  camera->d = d;
  camera->scale = scale;
}

void
tm_camera_resize (TmCamera *camera, int width, int height)
{
  width = MAX (width, 0);
  height = MAX (height, 0);
  camera->x0 = clamp_position (camera->x0 + ((TmFixed) camera->width - width) * camera->d);
  camera->y0 = clamp_position (camera->y0 + ((TmFixed) camera->height - height) * camera->d);
  camera->width = width;
  camera->height = height;
}

void
tm_camera_fit (TmCamera *camera, gint64 x, gint64 y, gint64 width, gint64 height, int margin)
{
  double across = MAX (camera->width - 2.0 * margin, 1), down = MAX (camera->height - 2.0 * margin, 1);
  double scale = MIN (across / (double) MAX (width, 1), down / (double) MAX (height, 1));

  tm_camera_set_at (camera, x + width / 2, width % 2 ? 0.5 : 0, y + height / 2, height % 2 ? 0.5 : 0, scale);
}

gint64
tm_camera_element_x (const TmCamera *camera, int px)
{
  return whole_of (camera->x0 + (2 * (TmFixed) px + 1) * camera->d);
}

gint64
tm_camera_element_y (const TmCamera *camera, int py)
{
  return whole_of (camera->y0 + (2 * (TmFixed) py + 1) * camera->d);
}

double
tm_camera_pixel_x (const TmCamera *camera, gint64 element)
{
  return (double) (element * ONE - camera->x0) / (2 * (double) camera->d);
}

double
tm_camera_pixel_y (const TmCamera *camera, gint64 element)
{
  return (double) (element * ONE - camera->y0) / (2 * (double) camera->d);
}

/* Smallest p with x0 + (2p + 1)·d ≥ the edge. */
static int
snap (TmFixed x0, guint64 d, gint64 element)
{
  TmFixed p = divide_up (element * ONE - x0 - d, 2 * (TmFixed) d);

  return (int) CLAMP (p, -((TmFixed) 1 << 30), (TmFixed) 1 << 30);
}

int
tm_camera_snap_x (const TmCamera *camera, gint64 element)
{
  return snap (camera->x0, camera->d, element);
}

int
tm_camera_snap_y (const TmCamera *camera, gint64 element)
{
  return snap (camera->y0, camera->d, element);
}

void
tm_camera_get_centre (const TmCamera *camera, double *x, double *y)
{
  *x = (double) (camera->x0 + (TmFixed) camera->width * camera->d) / 0x1p32;
  *y = (double) (camera->y0 + (TmFixed) camera->height * camera->d) / 0x1p32;
}

/* --- Flights -------------------------------------------------------------------------------------------------------
 * The path of least optical flow (van Wijk and Nuij, Smooth and efficient zooming and panning): zooms out far enough that
 * the way passes at an even pace, and back in. RHO weighs zooming against panning. */
#define RHO 1.3

typedef struct
{
  double w0, w1;   /* elements across at both ends */
  double distance; /* elements between the centres */
  double r0, length;
} Path;

static void
path_init (Path *path, double w0, double w1, double distance)
{
  *path = (Path) { .w0 = w0, .w1 = w1, .distance = distance };
  if (distance < 1e-6 * MIN (w0, w1)) /* pure zoom */
    {
      path->distance = 0;
      path->length = fabs (log (w1 / w0)) / RHO;
      return;
    }

  double rr = RHO * RHO, u = distance;
  double b0 = (w1 * w1 - w0 * w0 + rr * rr * u * u) / (2 * w0 * rr * u);
  double b1 = (w1 * w1 - w0 * w0 - rr * rr * u * u) / (2 * w1 * rr * u);

  path->r0 = -asinh (b0);
  path->length = (-asinh (b1) - path->r0) / RHO;
}

/* Elements across and share of the way at share t of the path's length. */
static void
path_at (const Path *path, double t, double *w, double *share)
{
  double s = t * path->length;

  if (path->distance == 0)
    {
      *w = path->w0 * pow (path->w1 / path->w0, t);
      *share = t;
      return;
    }
  *w = path->w0 * cosh (path->r0) / cosh (RHO * s + path->r0);
  *share = path->w0 * (cosh (path->r0) * tanh (RHO * s + path->r0) - sinh (path->r0)) / (RHO * RHO * path->distance);
  *share = CLAMP (*share, 0, 1);
}

void
tm_camera_interpolate (const TmCamera *from, const TmCamera *to, double t, TmCamera *result)
{
  TmFixed from_x = from->x0 + (TmFixed) from->width * from->d, from_y = from->y0 + (TmFixed) from->height * from->d;
  TmFixed to_x = to->x0 + (TmFixed) to->width * to->d, to_y = to->y0 + (TmFixed) to->height * to->d;
  double dx = (double) (to_x - from_x) / 0x1p32, dy = (double) (to_y - from_y) / 0x1p32;
  double across = MAX (to->width, 1), w, share, eased;
  TmFixed centre_x, centre_y;
  TmCamera made = *to;
  Path path;

  if (!(t > 0) || t >= 1)
    {
      *result = t >= 1 ? *to : *from;
      return;
    }
  eased = t * t * (3 - 2 * t);
  path_init (&path, across / from->scale, across / to->scale, hypot (dx, dy));
  path_at (&path, eased, &w, &share);
  made.scale = clamp_scale (across / w);
  made.d = step_of_scale (made.scale);
  centre_x = from_x + (TmFixed) (dx * share * 0x1p32);
  centre_y = from_y + (TmFixed) (dy * share * 0x1p32);
  made.x0 = clamp_position (centre_x - (TmFixed) made.width * made.d);
  made.y0 = clamp_position (centre_y - (TmFixed) made.height * made.d);
  *result = made;
}
