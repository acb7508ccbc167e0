#include "architecture/layout-check.h"

#include <stdlib.h>

static gboolean
overlap (const TmBox *a, const TmBox *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static int
compare_left (const void *a, const void *b)
{
  const TmBox *x = *(const TmBox *const *) a, *y = *(const TmBox *const *) b;

  return x->x < y->x ? -1 : x->x > y->x;
}

/* Sweep from left to right; pairs further right than this box's right edge cannot touch it. */
static void
check_siblings (const TmLayout *layout, const TmBox *parent)
{
  g_autofree const TmBox **sorted = g_new (const TmBox *, MAX (parent->n_children, 1));

  for (guint i = 0; i < parent->n_children; i++)
    sorted[i] = tm_layout_box (layout, parent->first_child + i);
  qsort (sorted, parent->n_children, sizeof *sorted, compare_left);
  for (guint i = 0; i < parent->n_children; i++)
    for (guint k = i + 1; k < parent->n_children && k < i + 3000 && sorted[k]->x < sorted[i]->x + sorted[i]->width; k++)
      g_assert_false (overlap (sorted[i], sorted[k]));
}

static void
check_box (const TmLayout *layout, guint index)
{
  const TmBox *box = tm_layout_box (layout, index);

  g_assert_cmpint (box->width, >, 0);
  g_assert_cmpint (box->height, >, 0);
  g_assert_cmpint (box->caption_height, >, 0);
  g_assert_nonnull (box->caption);
  g_assert_true (g_utf8_validate (box->caption, -1, NULL));
  if (index == 0)
    g_assert_cmpuint (box->parent, ==, TM_NO_BOX);
  else
    {
      const TmBox *parent = tm_layout_box (layout, box->parent);

      g_assert_cmpuint (box->parent, <, index);
      g_assert_cmpuint (index, >=, parent->first_child);
      g_assert_cmpuint (index, <, parent->first_child + parent->n_children);
      g_assert_cmpint (box->x, >=, parent->x);
      g_assert_cmpint (box->y, >=, parent->y + parent->caption_height);
      g_assert_cmpint (box->x + box->width, <=, parent->x + parent->width);
      g_assert_cmpint (box->y + box->height, <=, parent->y + parent->height);
    }
  if (box->kind == TM_BOX_TENSOR)
    {
      const gint64 margin = layout->unit / 8;

      g_assert_cmpuint (layout->box_of_tensor[box->tensor], ==, index);
      g_assert_cmpuint (box->n_children, ==, 0);
      g_assert_cmpint (box->sheet_x, >=, box->x + margin);
      g_assert_cmpint (box->sheet_y, >=, box->y + MAX (box->caption_height, margin));
      g_assert_cmpint (box->sheet_x + box->sheet.width, <=, box->x + box->width - margin);
      g_assert_cmpint (box->sheet_y + box->sheet.height, <=, box->y + box->height - margin);
      g_assert_cmpint (box->width, >=, box->height / 17 - layout->unit);
      g_assert_cmpint (box->height, >=, box->width / 17 - layout->unit);
    }
  check_siblings (layout, box);
}

/* Points in the middle and at the corners of boxes find what is there. */
static void
check_picking (const TmLayout *layout)
{
  const guint step = layout->boxes->len / 2000 + 1;

  for (guint i = 0; i < layout->boxes->len; i += step)
    {
      const TmBox *box = tm_layout_box (layout, i);
      guint found = tm_layout_pick (layout, box->x, box->y);

      g_assert_cmpuint (found, ==, i); /* children begin under the caption */
      if (box->n_children == 0)
        g_assert_cmpuint (tm_layout_pick (layout, box->x + box->width - 1, box->y + box->height - 1), ==, i);
      found = tm_layout_pick (layout, box->x + box->width / 2, box->y + box->height / 2);
      g_assert_cmpuint (found, !=, TM_NO_BOX);
      while (found != i && found != TM_NO_BOX)
        found = tm_layout_box (layout, found)->parent;
      g_assert_cmpuint (found, ==, i);
    }
  g_assert_cmpuint (tm_layout_pick (layout, -1, 5), ==, TM_NO_BOX);
  g_assert_cmpuint (tm_layout_pick (layout, tm_layout_box (layout, 0)->width, 5), ==, TM_NO_BOX);
}

static gboolean
is_inside (const TmBox *box, gint64 x, gint64 y)
{
  return x > box->x && y > box->y && x < box->x + box->width && y < box->y + box->height;
}

void
check_layout (const TmLayout *layout)
{
  guint n_drawn = 0, n_hidden = 0, n_tensors = 0;

  for (guint i = 0; i < layout->boxes->len; i++)
    {
      check_box (layout, i);
      n_drawn += tm_layout_box (layout, i)->kind == TM_BOX_TENSOR;
    }
  for (guint i = 0; i < layout->model->tensors->len; i++)
    {
      const guint fold = tm_layout_find_hiding_fold (layout, i);

      n_tensors++;
      if (layout->box_of_tensor[i] != TM_NO_BOX)
        {
          g_assert_cmpuint (fold, ==, TM_NO_BOX);
          g_assert_cmpuint (tm_layout_box (layout, layout->box_of_tensor[i])->tensor, ==, i);
        }
      else
        {
          n_hidden++;
          g_assert_cmpuint (fold, !=, TM_NO_BOX);
          g_assert_cmpint (tm_layout_box (layout, fold)->kind, ==, TM_BOX_CARD);
          g_assert_cmpuint (tm_layout_box (layout, fold)->fold_count, >=, 2);
        }
    }
  g_assert_cmpuint (n_drawn + n_hidden, ==, n_tensors);

  for (guint i = 0; i < layout->lines->len; i++)
    {
      const TmHeavyLine *line = &g_array_index (layout->lines, TmHeavyLine, i);
      const TmBox *a = tm_layout_box (layout, line->box_a), *b = tm_layout_box (layout, line->box_b);

      g_assert_cmpint (a->kind, ==, TM_BOX_TENSOR);
      g_assert_cmpint (b->kind, ==, TM_BOX_TENSOR);
      g_assert_true ((line->x0 == line->x1) != (line->y0 == line->y1));
      g_assert_false (is_inside (a, (line->x0 + line->x1) / 2, (line->y0 + line->y1) / 2));
      g_assert_false (is_inside (b, (line->x0 + line->x1) / 2, (line->y0 + line->y1) / 2));
    }
  for (guint i = 0; i < layout->arrows->len; i++)
    {
      const TmHeavyLine *arrow = &g_array_index (layout->arrows, TmHeavyLine, i);

      g_assert_cmpint (tm_layout_box (layout, arrow->box_a)->kind, ==, TM_BOX_CARD);
      g_assert_cmpint (tm_layout_box (layout, arrow->box_b)->kind, ==, TM_BOX_CARD);
      g_assert_cmpint (arrow->x0, ==, arrow->x1);
      g_assert_cmpint (arrow->y0, <, arrow->y1);
    }
  check_picking (layout);
}
