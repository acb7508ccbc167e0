/* Architecture: cards, groups and tensors as boxes with captions of constant size, heavy lines and arrows between them. */
#include "view/scene-private.h"

#include <string.h>

/* Text sizes in logical pixels. */
#define TITLE_PX 14
#define NAME_PX 12
#define SMALL_PX 10

static int
px (const TmScene *scene, int logical)
{
  return logical * scene->ds;
}

/* --- Cards and groups ------------------------------------------------------------------------------------------- */

/* The colour of a box whose content cannot be told apart on the screen: that of the first tensor in it. */
static TmColor
get_color (const TmScene *scene, const TmBox *box)
{
  const TmLayout *layout = scene->view->layout;
  const TmTheme *theme = scene->view->theme;
  const TmBox *first = box;
  for (guint depth = 0; depth < 64 && first->kind != TM_BOX_TENSOR && first->n_children > 0; depth++)
    first = tm_layout_box (layout, first->first_child);
  const TmTensorMark *mark = first->kind == TM_BOX_TENSOR ? tm_scene_get_mark (scene, first->tensor) : NULL;
  if (mark != NULL)
    return mark->hatched ? theme->hatch : mark->fill;
  if (first->kind != TM_BOX_TENSOR || scene->view->overlay == TM_OVERLAY_NONE)
    return theme->card_border;
  return theme->family_fill[tm_dtype_get_info (tm_model_tensor (layout->model, first->tensor)->dtype)->family];
}

static void
add_speck (TmScene *scene, const TmBox *box)
{
  TmPixels at = tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height);
  tm_scene_rect (scene, TM_LAYER_BOX, at.x, at.y, at.width, at.height, get_color (scene, box));
}

/* Boxes of less than a few pixels: one small square where there is none yet, so that a hundred thousand of them are still
 * something to see and never more squares than the screen has room for. */
static void
add_mark (TmScene *scene, const TmBox *box)
{
  const TmCamera *camera = &scene->view->camera;
  int side = TM_MIN_BOX * scene->ds, across = camera->width / side + 1, down = camera->height / side + 1;
  int x = tm_camera_snap_x (camera, box->x), y = tm_camera_snap_y (camera, box->y);
  if (x < 0 || y < 0 || x >= camera->width || y >= camera->height)
    return;
  if (scene->marked->len == 0)
    {
      g_byte_array_set_size (scene->marked, (guint) across * (guint) down);
      memset (scene->marked->data, 0, scene->marked->len);
    }
  guint8 *mark = &scene->marked->data[(gsize) (y / side) * (gsize) across + (gsize) (x / side)];
  if (!*mark)
    tm_scene_rect (scene, TM_LAYER_BOX, x / side * side, y / side * side, side, side, get_color (scene, box));
  *mark = 1;
}

typedef struct
{
  int title_px, left, baseline, title_width;
  TmPixels badge;
} TitlePlace; /* badge.width 0: none */

/* Where a card's title and badge stand; FALSE where there is no room for them. */
static gboolean
place_title (const TmScene *scene, const TmBox *box, TmPixels at, TitlePlace *place)
{
  int room = (int) tm_scene_length (scene, box->caption_height), width = at.width - px (scene, 20);
  int title_px = CLAMP (room - px (scene, 2), px (scene, 10), px (scene, TITLE_PX)),
      badge_px = MIN (title_px, px (scene, NAME_PX));
  if (room < px (scene, 12) || width < px (scene, 24) || box->caption == NULL || at.y <= -px (scene, 60))
    return FALSE;
  *place = (TitlePlace) { .left = at.x + px (scene, 12),
                          .title_px = title_px,
                          .baseline = at.y + MIN (room / 2 + px (scene, TITLE_PX) * 2 / 5, px (scene, 22)) };
  if (place->left < px (scene, 8)) /* a card that reaches out at the left keeps its title in sight */
    place->left = MIN (px (scene, 8), at.x + at.width - px (scene, 24));
  width -= place->left - at.x - px (scene, 12);
  char badge[16];
  g_snprintf (badge, sizeof badge, "×%u", box->fold_count);
  int badge_width
      = box->fold_count > 1 ? tm_scene_measure (scene, TM_FONT_SANS_BOLD, badge_px, badge) + px (scene, 14) : 0;
  place->title_width = MIN (tm_scene_measure (scene, TM_FONT_SANS_BOLD, title_px, box->caption),
                            MAX (width - badge_width - px (scene, 8), 0));
  if (place->title_width < px (scene, 16))
    place->title_width = 0;
  if (badge_width > 0 && badge_width <= width)
    place->badge = (TmPixels) { .x = place->left + (place->title_width > 0 ? place->title_width + px (scene, 8) : 0),
                                .y = place->baseline - px (scene, 13),
                                .width = badge_width,
                                .height = px (scene, 17) };
  return TRUE;
}

gboolean
tm_scene_box_badge_holds (const TmScene *scene, const TmBox *box, int x, int y)
{
  TitlePlace place;
  if (box->fold_count < 2
      || !place_title (scene, box, tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height), &place))
    return FALSE;
  return x >= place.badge.x && x < place.badge.x + place.badge.width && y >= place.badge.y
         && y < place.badge.y + place.badge.height;
}

static void
add_title (TmScene *scene, const TmBox *box, TmPixels at)
{
  const TmTheme *theme = scene->view->theme;
  TitlePlace place;
  if (!place_title (scene, box, at, &place))
    return;
  if (place.title_width > 0)
    tm_scene_text (scene, place.left, place.baseline, place.title_width, TM_FONT_SANS_BOLD, (guint) place.title_px,
                   TM_ALIGN_LEFT, theme->text, box->caption);
  if (place.badge.width == 0)
    return;
  TmColor ground = tm_color_mix (theme->card, theme->text_dim, 40);
  TmPrimRect *pill = tm_scene_rect (scene, TM_LAYER_LINE, place.badge.x, place.badge.y, place.badge.width,
                                    place.badge.height, ground);
  pill->radius = px (scene, 8);
  tm_scene_text (scene, place.badge.x + place.badge.width / 2, place.baseline - px (scene, 1), 0, TM_FONT_SANS_BOLD,
                 px (scene, NAME_PX), TM_ALIGN_CENTRE, tm_color_readable (theme->text, ground, 4.5),
                 tm_scene_format (scene, "×%u", box->fold_count));
}

static void
add_card (TmScene *scene, const TmBox *box)
{
  const TmTheme *theme = scene->view->theme;
  TmPixels at = tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height);
  int shorter = MIN (at.width, at.height);
  /* A pile of cards behind a folded one: what differs is never hidden, what is equal shows that it is many. */
  for (int i = box->fold_count > 1 && shorter > px (scene, 48) ? 2 : 0; i > 0; i--)
    {
      TmPrimRect *behind = tm_scene_rect (scene, TM_LAYER_BOX, at.x + px (scene, 4 * i), at.y + px (scene, 4 * i),
                                          at.width, at.height, theme->card);
      behind->radius = px (scene, 10);
      behind->border = scene->ds;
      behind->stroke = theme->card_border;
    }
  TmPrimRect *card = tm_scene_rect (scene, TM_LAYER_BOX, at.x, at.y, at.width, at.height, theme->card);
  card->radius = MIN (px (scene, 10), shorter / 6);
  card->border = shorter >= 6 ? scene->ds : 0;
  card->stroke = theme->card_border;
  add_title (scene, box, at);
}

static void
add_group (TmScene *scene, const TmBox *box)
{
  const TmTheme *theme = scene->view->theme;
  TmPixels at = tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height);
  int room = (int) tm_scene_length (scene, box->caption_height);
  if (box->caption == NULL || box->caption[0] == '\0' || room < px (scene, 12) || at.width < px (scene, 28))
    return;
  tm_scene_text (scene, at.x, at.y + MIN (room - px (scene, 4), px (scene, 14)), at.width, TM_FONT_SANS,
                 px (scene, SMALL_PX + 1), TM_ALIGN_LEFT, theme->text_dim, box->caption);
}

/* --- Tensors ---------------------------------------------------------------------------------------------------- */

static const char *
format_shape (TmScene *scene, const TmTensor *tensor)
{
  if (tensor->rank == 0)
    return "scalar";
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < tensor->rank && i < 8; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? "×" : "", tensor->shape[i]);
  if (tensor->rank > 8)
    g_string_append (text, "×…");
  const char *copy = tm_scene_copy (scene, text->str);
  g_string_free (text, TRUE);
  return copy;
}

/* Name, and under it dtype and shape, above the sheet or inside its upper edge. */
static void
add_caption (TmScene *scene, const TmBox *box, TmPixels sheet, gboolean shown, gboolean axes, TmColor fill)
{
  const TmTheme *theme = scene->view->theme;
  const TmTensor *tensor = tm_model_tensor (scene->view->layout->model, box->tensor);
  TmFamily family = tm_dtype_get_info (tensor->dtype)->family;
  TmPixels at = tm_scene_to_pixels (scene, box->x, box->y, box->width, box->height);
  int numbers = axes ? px (scene, 18) : 0; /* axis numbers stand between caption and sheet */
  int room = (int) tm_scene_length (scene, box->caption_height) - numbers, left = sheet.x,
      width = at.x + at.width - sheet.x, baseline;
  int name_px = px (scene, NAME_PX), small_px = px (scene, SMALL_PX);
  gboolean both = room >= px (scene, 25);
  TmColor name_color = theme->text, type_color = theme->family_text[family], dim = theme->text_dim;
  if (width < px (scene, 22))
    return;
  if (room >= px (scene, 13))
    baseline = sheet.y - numbers - px (scene, both ? 16 : 4);
  else if (!shown && sheet.width >= px (scene, 40) && sheet.height >= px (scene, 18))
    {
      both = sheet.height >= px (scene, 34);
      left = sheet.x + px (scene, 4);
      width = sheet.width - px (scene, 8);
      baseline = sheet.y + px (scene, 14);
      name_color = tm_color_readable (theme->text, fill, 4.5);
      type_color = tm_color_readable (theme->family[family], fill, 4.5);
      dim = tm_color_readable (theme->text_dim, fill, 4.5);
    }
  else
    return;
  if (left < 0 && left + width > px (scene, 60))
    { /* its beginning is off the screen: keep the name in sight */
      width += left - px (scene, 6);
      left = px (scene, 6);
    }
  if (box->caption != NULL)
    tm_scene_text (scene, left, baseline, width, TM_FONT_SANS, name_px, TM_ALIGN_LEFT, name_color, box->caption);
  if (!both)
    return;
  int below = baseline + px (scene, 12);
  const TmTensorMark *mark = tm_scene_get_mark (scene, box->tensor);
  if (mark != NULL)
    {
      tm_scene_text (scene, left, below, width, TM_FONT_MONO, small_px, TM_ALIGN_LEFT, name_color, mark->text);
      return;
    }
  int used = tm_scene_measure (scene, TM_FONT_MONO, small_px, tensor->dtype_label);
  tm_scene_text (scene, left, below, width, TM_FONT_MONO, small_px, TM_ALIGN_LEFT, type_color, tensor->dtype_label);
  const char *shape = format_shape (scene, tensor);
  used += px (scene, 7);
  if (used + tm_scene_measure (scene, TM_FONT_MONO, small_px, shape) <= width)
    tm_scene_text (scene, left + used, below, 0, TM_FONT_MONO, small_px, TM_ALIGN_LEFT, dim, shape);
}

static void
count_family (TmScene *scene, const TmTensor *tensor)
{
  scene->legend.families |= 1u << tm_dtype_get_info (tensor->dtype)->family;
  if (tensor->dtype < TM_N_DTYPES)
    scene->dtype_count[tensor->dtype]++;
}

static void
add_tensor (TmScene *scene, const TmBox *box)
{
  const TmTheme *theme = scene->view->theme;
  const TmTensor *tensor = tm_model_tensor (scene->view->layout->model, box->tensor);
  TmFamily family = tm_dtype_get_info (tensor->dtype)->family;
  gboolean plain = scene->view->overlay == TM_OVERLAY_NONE;
  TmColor color = plain ? theme->text_dim : theme->family[family];
  TmColor fill = plain ? tm_color_mix (theme->card, theme->text_dim, 30) : theme->family_fill[family];
  count_family (scene, tensor);
  const TmTensorMark *mark = tm_scene_get_mark (scene, box->tensor);
  if (mark != NULL)
    {
      fill = mark->hatched ? theme->card : mark->fill;
      color = mark->hatched ? theme->text_dim : tm_color_mix (fill, theme->text, 90);
    }

  /* The frame: what is left of the box under its caption. A sheet that nearly fills it needs none. */
  gint64 body_y = MIN (box->y + box->caption_height, box->y + box->height);
  TmPixels body = tm_scene_to_pixels (scene, box->x, body_y, box->width, box->y + box->height - body_y);
  gboolean empty = box->sheet.width <= 0 || box->sheet.height <= 0;
  TmPixels sheet
      = empty ? body : tm_scene_to_pixels (scene, box->sheet_x, box->sheet_y, box->sheet.width, box->sheet.height);
  double body_width = tm_scene_length (scene, box->width),
         body_height = tm_scene_length (scene, box->y + box->height - body_y);
  double sheet_width = tm_scene_length (scene, box->sheet.width),
         sheet_height = tm_scene_length (scene, box->sheet.height);
  gboolean framed = empty || sheet_width * 5 < body_width * 3 || sheet_height * 5 < body_height * 3;
  TmColor under = theme->card;
  if (framed)
    {
      under = mark != NULL ? fill : tm_color_mix (theme->card, color, theme->dark ? 40 : 28);
      TmPrimRect *frame = tm_scene_rect (scene, TM_LAYER_BOX, body.x, body.y, body.width, body.height, under);
      frame->radius = MIN (px (scene, 5), MIN (body.width, body.height) / 5);
      frame->border = MIN (body.width, body.height) >= px (scene, 8) ? scene->ds : 0;
      frame->stroke = tm_color_mix (theme->card, color, 160);
    }

  gboolean shown = FALSE;
  if (empty || !tm_tensor_is_readable (tensor) || (mark != NULL && mark->hatched))
    {
      if (MIN (sheet.width, sheet.height) >= px (scene, 6))
        tm_scene_hatch (scene, sheet.x, sheet.y, sheet.width, sheet.height, under);
      else
        tm_scene_rect (scene, TM_LAYER_BOX, sheet.x, sheet.y, sheet.width, sheet.height, theme->hatch);
    }
  else if (!(shown = tm_scene_add_sheet (scene, box, under)))
    {
      TmPrimRect *rect = tm_scene_rect (scene, TM_LAYER_BOX, sheet.x, sheet.y, sheet.width, sheet.height,
                                        MIN (sheet.width, sheet.height) < 3 ? color : fill);
      if (MIN (sheet.width, sheet.height) >= px (scene, 4))
        {
          rect->border = scene->ds;
          rect->stroke = color;
        }
    }
  if (body_width >= px (scene, 22))
    add_caption (scene, box, framed ? body : sheet, shown || framed || !tm_tensor_is_readable (tensor) || (mark != NULL && mark->hatched),
                 scene->middle != TM_NO_BOX && box == tm_layout_box (scene->view->layout, scene->middle), fill);
}

/* --- The tree --------------------------------------------------------------------------------------------------- */

void
tm_scene_add_boxes (TmScene *scene)
{
  const TmLayout *layout = scene->view->layout;
  double least = TM_MIN_BOX * scene->ds;
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));
  guint root = 0;
  g_array_append_val (stack, root);
  while (stack->len > 0)
    {
      guint index = g_array_index (stack, guint, stack->len - 1);
      g_array_set_size (stack, stack->len - 1);
      const TmBox *box = tm_layout_box (layout, index);
      if (!tm_scene_is_visible (scene, box->x, box->y, box->width, box->height))
        continue;
      double width = tm_scene_length (scene, box->width), height = tm_scene_length (scene, box->height);
      if (MAX (width, height) < least)
        {
          add_mark (scene, box);
          continue;
        }
      if (box->kind == TM_BOX_TENSOR)
        {
          add_tensor (scene, box);
          continue;
        }
      if (index != 0 && MIN (width, height) < least * 3)
        { /* what is in it would be smaller than a few pixels */
          add_speck (scene, box);
          continue;
        }
      if (box->kind == TM_BOX_CARD)
        add_card (scene, box);
      else if (box->kind == TM_BOX_GROUP)
        add_group (scene, box);
      for (guint i = box->n_children; i-- > 0;)
        {
          guint child = box->first_child + i;
          g_array_append_val (stack, child);
        }
    }
}

/* --- Heavy lines and arrows ------------------------------------------------------------------------------------- */

static void
add_heavy_line (TmScene *scene, const TmHeavyLine *line)
{
  const TmTheme *theme = scene->view->theme;
  gint64 x = MIN (line->x0, line->x1), y = MIN (line->y0, line->y1);
  gint64 width = MAX (line->x0, line->x1) - x, height = MAX (line->y0, line->y1) - y;
  if (!tm_scene_is_visible (scene, x, y, width, height) || tm_scene_length (scene, MAX (width, height)) < px (scene, 9))
    return;
  TmPixels at = tm_scene_to_pixels (scene, x, y, width, height);
  int thick = px (scene, 3), pad = scene->ds;
  if (height > width)
    {
      at.x -= thick / 2;
      at.width = thick;
    }
  else
    {
      at.y -= thick / 2;
      at.height = thick;
    }
  tm_scene_rect (scene, TM_LAYER_LINE, at.x - pad, at.y - pad, at.width + 2 * pad, at.height + 2 * pad,
                 tm_color_with_alpha (theme->halo, 170));
  tm_scene_rect (scene, TM_LAYER_LINE, at.x, at.y, at.width, at.height, theme->line);
  scene->legend.heavy_lines = TRUE;
}

/* A thin line with an open head at its end; only upright and level ones. */
static void
add_arrow (TmScene *scene, const TmHeavyLine *line)
{
  TmColor color = scene->view->theme->text_dim;
  gint64 x = MIN (line->x0, line->x1), y = MIN (line->y0, line->y1);
  gint64 width = MAX (line->x0, line->x1) - x, height = MAX (line->y0, line->y1) - y;
  double length = tm_scene_length (scene, MAX (width, height));
  if (!tm_scene_is_visible (scene, x, y, width, height) || length < px (scene, 6))
    return;
  TmPixels at = tm_scene_to_pixels (scene, x, y, width, height);
  gboolean upright = height >= width, forward = upright ? line->y1 >= line->y0 : line->x1 >= line->x0;
  int thick = scene->ds, head = MIN (px (scene, 5), (int) (length / 2));
  tm_scene_rect (scene, TM_LAYER_LINE, at.x, at.y, upright ? thick : at.width, upright ? at.height : thick, color);
  int tip_x = upright || !forward ? at.x : at.x + at.width - thick;
  int tip_y = !upright || !forward ? at.y : at.y + at.height - thick;
  for (int i = 1; i <= head; i++)
    for (int side = -1; side <= 1; side += 2)
      tm_scene_rect (scene, TM_LAYER_LINE,
                     tip_x
                         + (upright   ? side * i
                            : forward ? -i
                                      : i),
                     tip_y + (upright ? (forward ? -i : i) : side * i), thick, thick, color);
}

void
tm_scene_add_lines (TmScene *scene)
{
  const TmLayout *layout = scene->view->layout;
  for (guint i = 0; i < layout->arrows->len; i++)
    add_arrow (scene, &g_array_index (layout->arrows, TmHeavyLine, i));
  for (guint i = 0; scene->view->boundaries && i < layout->lines->len; i++)
    add_heavy_line (scene, &g_array_index (layout->lines, TmHeavyLine, i));
}
