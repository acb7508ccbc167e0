/* Hit test: the same fixed point as the rulers, so what is picked is what is drawn. */
#include "view/scene-private.h"

TmHit
tm_view_pick (const TmView *view, int px, int py)
{
  TmHit hit = { .box = TM_NO_BOX };
  if (view->layout == NULL || view->layout->boxes->len == 0)
    return hit;
  gint64 x = tm_camera_element_x (&view->camera, px), y = tm_camera_element_y (&view->camera, py);
  hit.box = tm_layout_pick (view->layout, x, y);
  if (hit.box == TM_NO_BOX)
    return hit;
  const TmBox *box = tm_layout_box (view->layout, hit.box);
  TmScene scene = { .view = view, .ds = (int) MAX (view->device_scale, 1u), .scale = view->camera.scale };
  /* A group may reach into the strip of its card's title. */
  for (guint i = hit.box; i != TM_NO_BOX && !hit.badge; i = tm_layout_box (view->layout, i)->parent)
    if (tm_scene_box_badge_holds (&scene, tm_layout_box (view->layout, i), px, py))
      {
        hit.box = i;
        hit.badge = TRUE;
      }
  if (box->kind == TM_BOX_TENSOR && !hit.badge && tm_scene_sheet_is_shown (&scene, box))
    hit.has_element = tm_sheet_pick (&box->sheet, x - box->sheet_x, y - box->sheet_y, &hit.flat);
  return hit;
}
