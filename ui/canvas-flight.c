/* Motion of the camera by itself: flights to a place, and gliding on after a flick. One tick callback, only while moving. */
#include "ui/canvas-private.h"

#include <math.h>

#define FLIGHT_US 250000
#define FRICTION 4.0   /* a second: speed falls to 1/e in a quarter of it, as the toolkit's own lists do */
#define SLOWEST 12.0   /* device px a second: below that it stands */

void
tm_canvas_stop_motion (TmCanvas *self)
{
  if (self->motion.source)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self->plane), self->motion.source);
  self->motion.source = 0;
}

static gboolean
fly (TmCanvas *self, gint64 elapsed)
{
  double t = CLAMP ((double) elapsed / FLIGHT_US, 0, 1);

  tm_camera_interpolate (&self->motion.from, &self->motion.to, t, &self->camera);
  return t < 1;
}

static gboolean
glide (TmCanvas *self, gint64 elapsed)
{
  TmMotion *motion = &self->motion;
  double left = exp (-FRICTION * (double) elapsed / G_USEC_PER_SEC);
  int x = (int) lround (motion->velocity_x / FRICTION * (1 - left));
  int y = (int) lround (motion->velocity_y / FRICTION * (1 - left));

  /* Whole pixels, so that the picture only moves. */
  tm_camera_pan (&self->camera, x - motion->gone_x, y - motion->gone_y);
  motion->gone_x = x;
  motion->gone_y = y;
  return hypot (motion->velocity_x, motion->velocity_y) * left > SLOWEST;
}

static gboolean
tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  TmCanvas *self = data;
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  gboolean more;

  if (self->motion.start == 0)
    self->motion.start = now;
  more = self->motion.kinetic ? glide (self, now - self->motion.start) : fly (self, now - self->motion.start);
  if (!more)
    self->motion.source = 0;
  tm_canvas_camera_changed (self);
  return more ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean
wants_animations (TmCanvas *self)
{
  gboolean animations = TRUE;

  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-enable-animations", &animations, NULL);
  return animations;
}

static void
start (TmCanvas *self)
{
  self->motion.start = 0;
  self->motion.gone_x = self->motion.gone_y = 0;
  self->motion.source = gtk_widget_add_tick_callback (GTK_WIDGET (self->plane), tick, self, NULL);
}

void
tm_canvas_fly_to_camera (TmCanvas *self, const TmCamera *to)
{
  tm_canvas_stop_motion (self);
  self->pointer_stands = TRUE;
  if (!wants_animations (self) || !gtk_widget_get_mapped (GTK_WIDGET (self->plane)))
    {
      self->camera = *to;
      tm_canvas_camera_changed (self);
      return;
    }
  self->motion.kinetic = FALSE;
  self->motion.from = self->camera;
  self->motion.to = *to;
  start (self);
}

void
tm_canvas_glide (TmCanvas *self, double velocity_x, double velocity_y)
{
  tm_canvas_stop_motion (self);
  if (!wants_animations (self) || hypot (velocity_x, velocity_y) < 4 * SLOWEST)
    return;
  self->motion.kinetic = TRUE;
  self->motion.velocity_x = velocity_x;
  self->motion.velocity_y = velocity_y;
  start (self);
}
