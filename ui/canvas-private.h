/* What the files of the canvas share. canvas.c holds it together and makes frames, canvas-gestures.c has the pointer,
 * canvas-keys.c actions and keys, canvas-flight.c motion, canvas-hover.c what is under the pointer, canvas-fly.c what to
 * bring into view, canvas-record.c scalar records read off the main thread. */
#pragma once

#include "ui/canvas-plane.h"
#include "ui/legend.h"
#include "ui/widgets.h"

G_BEGIN_DECLS

#define TM_TYPE_CANVAS (tm_canvas_get_type ())
G_DECLARE_FINAL_TYPE (TmCanvas, tm_canvas, TM, CANVAS, GtkWidget)

#define TM_CELL_PX 70    /* logical px of an element where one flies to a scalar */
#define TM_READABLE_PX 8 /* from here on a scalar can be told from its neighbours */

typedef struct
{
  guint source;     /* tick callback, 0 when at rest */
  gboolean kinetic; /* else a flight */
  gint64 start;
  TmCamera from, to;
  double velocity_x, velocity_y; /* px a second */
  int gone_x, gone_y;            /* px the picture has moved already */
} TmMotion;

struct _TmCanvas
{
  GtkWidget parent_instance;

  TmDocument *document;
  GtkWidget *overlay, *breadcrumb, *legend, *zoom, *message, *menu;
  TmPlane *plane;

  TmScene *scene;
  TmGlyphs *glyphs;
  TmCamera camera;
  gboolean camera_ready; /* it has shown this model once */
  gboolean moved;        /* somebody moved it since */
  guint n_frames;        /* made so far */
  double scale;          /* device pixels a logical one, as the camera has it */
  TmMotion motion;
  char *label;       /* the accessible one, as it was last set */
  guint slow_source; /* fires when a layout takes long enough to speak of */
  gboolean slow;
  guint after_frame; /* idle that brings labels up to date */

  const TmLayout *layout; /* the document's when it was last looked at */
  gboolean fly_pending;   /* fly to the selection as soon as there is a layout that has it */
  gboolean anchored;      /* after the next layout this point of a box goes back to where it was on the screen */
  TmModule *anchor_module;
  guint anchor_tensor;
  gint64 anchor_dx, anchor_dy;
  double anchor_px, anchor_py;

  /* pointer; logical px of the plane */
  gboolean inside;
  double pointer_x, pointer_y;
  gboolean pointer_stands; /* not moved since the last flight: no tooltip over what was flown to */
  TmHit hit;
  int dragged_x, dragged_y; /* device px a drag has moved already */
  gboolean dragging, marking, badge_pressed;
  guint mark_tensor;
  guint64 mark_flat;
  TmAddress mark;
  double pinch;
  double rest_x, rest_y; /* parts of a device px that scrolling has not moved yet */
  gboolean scroll_pans;

  /* the records of the selection and of what is under the pointer */
  struct _TmRecord *selected, *hovered;
  guint rest_source;
  gboolean tip_waits;
};

/* canvas.c */
void tm_canvas_get_view (TmCanvas *self, TmView *view);
void tm_canvas_queue_frame (TmCanvas *self);
void tm_canvas_camera_changed (TmCanvas *self); /* the view moved: new frame, hover looked up again */
TmHit tm_canvas_pick (TmCanvas *self, double x, double y);         /* logical px */
const TmBox *tm_canvas_get_box (TmCanvas *self, guint box);        /* NULL for TM_NO_BOX */
gboolean tm_canvas_hit_address (TmCanvas *self, const TmHit *hit, TmAddress *address); /* cleared by the caller */
void tm_canvas_select_hit (TmCanvas *self, const TmHit *hit, gboolean fly);
/* The box of the tensor with its sheet, or NULL while it is hidden. */
const TmBox *tm_canvas_get_tensor_box (TmCanvas *self, guint tensor);
/* Opens a fold; the point under (x, y), logical px, stays there. */
void tm_canvas_unfold (TmCanvas *self, guint box, double x, double y);

/* canvas-flight.c */
void tm_canvas_stop_motion (TmCanvas *self);
void tm_canvas_fly_to_camera (TmCanvas *self, const TmCamera *to);
void tm_canvas_glide (TmCanvas *self, double velocity_x, double velocity_y);

/* canvas-fly.c */
void tm_canvas_fly_to_selection (TmCanvas *self);
void tm_canvas_show_all (TmCanvas *self, gboolean fly);
void tm_canvas_fit_selection (TmCanvas *self);
void tm_canvas_zoom_to (TmCanvas *self, double px_per_element);
/* The point (px, py), device px, stays; the model stays a good part of the view. */
void tm_canvas_zoom_by (TmCanvas *self, double factor, double px, double py);
void tm_canvas_follow_selection (TmCanvas *self); /* moves no more than is needed to see the selection */

/* canvas-gestures.c, canvas-keys.c, canvas-hover.c */
void tm_canvas_add_gestures (TmCanvas *self);
void tm_canvas_install_actions (GtkWidgetClass *klass);
void tm_canvas_add_keys (TmCanvas *self);
void tm_canvas_add_hover (TmCanvas *self);
void tm_canvas_update_hover (TmCanvas *self);
void tm_canvas_popup_menu (TmCanvas *self, double x, double y);
gboolean tm_canvas_region_holds (TmCanvas *self, const TmHit *hit);

/* canvas-label.c: what a screen reader says; message in the middle */
void tm_canvas_update_label (TmCanvas *self);
void tm_canvas_update_record (TmCanvas *self);

G_END_DECLS
