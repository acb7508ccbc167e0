/* Heavy lines: where neighbours differ in what their numbers are stored as. Arrows: from card to card. */
#include "architecture/plan.h"

#include <string.h>

static gboolean
differ (const TmTensor *a, const TmTensor *b)
{
  return a->dtype != b->dtype || g_strcmp0 (a->scheme, b->scheme) != 0
         || g_strcmp0 (a->dtype_label, b->dtype_label) != 0
         || !tm_granularity_equal_levels (a->granularity, b->granularity);
}

static void
add_line (TmLayout *layout, gint64 x0, gint64 y0, gint64 x1, gint64 y1, guint a, guint b)
{
  const TmHeavyLine line = { x0, y0, x1, y1, a, b };

  g_array_append_val (layout->lines, line);
}

static void
draw_neighbours (TmPlan *plan, TmLayout *layout, const guint *box_of_node)
{
  for (guint i = 0; i < plan->neighbours->len; i++)
    {
      const TmNeighbours *pair = &g_array_index (plan->neighbours, TmNeighbours, i);
      const guint index_a = box_of_node[pair->a], index_b = box_of_node[pair->b];
      const TmBox *a, *b;

      if (index_a == TM_NO_BOX || index_b == TM_NO_BOX)
        continue;
      a = tm_layout_box (layout, index_a);
      b = tm_layout_box (layout, index_b);
      if (!differ (tm_model_tensor (plan->model, a->tensor), tm_model_tensor (plan->model, b->tensor)))
        continue;
      if (pair->below)
        {
          const gint64 y = a->y + a->height + (b->y - a->y - a->height) / 2;
          add_line (layout, b->x, y, b->x + b->width, y, index_a, index_b);
        }
      else
        {
          const gint64 x = a->x + a->width + (b->x - a->x - a->width) / 2;
          add_line (layout, x, b->y + b->caption_height, x, b->y + b->height, index_a, index_b);
        }
    }
}

/* Tensors drawn in a card itself, by their name in it. Cards inside the card compare among themselves. */
static GHashTable *
list_tensors (TmLayout *layout, guint card)
{
  GHashTable *found = g_hash_table_new (g_str_hash, g_str_equal); /* name after the card's path → box + 1 */
  const gsize skip = strlen (tm_layout_box (layout, card)->module->path) + 1;
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_val (left, card);
  while (left->len > 0)
    {
      const TmBox *box = tm_layout_box (layout, g_array_index (left, guint, left->len - 1));

      g_array_set_size (left, left->len - 1);
      for (guint i = 0; i < box->n_children; i++)
        {
          const guint child = box->first_child + i;
          const TmBox *inside = tm_layout_box (layout, child);

          if (inside->kind == TM_BOX_TENSOR)
            g_hash_table_insert (found, tm_model_tensor (layout->model, inside->tensor)->name + skip,
                                 GUINT_TO_POINTER (child + 1));
          else if (inside->kind != TM_BOX_CARD)
            g_array_append_val (left, child);
        }
    }
  return found;
}

static int
compare_boxes (gconstpointer a, gconstpointer b)
{
  return *(const guint *) a < *(const guint *) b ? -1 : *(const guint *) a > *(const guint *) b;
}

static void
draw_cards (TmPlan *plan, TmLayout *layout, const guint *box_of_node)
{
  g_autoptr (GHashTable) before = NULL;
  guint before_card = TM_NO_BOX;

  for (guint i = 0; i < plan->cards->len; i++)
    {
      const TmNeighbours *pair = &g_array_index (plan->cards, TmNeighbours, i);
      const guint card_a = box_of_node[pair->a], card_b = box_of_node[pair->b];
      const TmBox *a = tm_layout_box (layout, card_a), *b = tm_layout_box (layout, card_b);
      const gint64 y = a->y + a->height + (b->y - a->y - a->height) / 2;
      const gint64 centre = a->x + a->width / 2;
      const TmHeavyLine arrow = { centre, a->y + a->height, centre, b->y, card_a, card_b };
      g_autoptr (GHashTable) here = list_tensors (layout, card_b);
      g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint));
      GHashTableIter iter;
      gpointer name, value;

      g_array_append_val (layout->arrows, arrow);
      if (before == NULL || before_card != card_a)
        {
          g_clear_pointer (&before, g_hash_table_unref);
          before = list_tensors (layout, card_a);
        }
      g_hash_table_iter_init (&iter, here);
      while (g_hash_table_iter_next (&iter, &name, &value))
        if (g_hash_table_contains (before, name))
          {
            const guint box = GPOINTER_TO_UINT (value) - 1;
            g_array_append_val (boxes, box);
          }
      g_array_sort (boxes, compare_boxes); /* a hash table's order is nobody's */
      for (guint k = 0; k < boxes->len; k++)
        {
          const guint index_b = g_array_index (boxes, guint, k);
          const TmBox *lower = tm_layout_box (layout, index_b);
          const TmTensor *tensor_b = tm_model_tensor (plan->model, lower->tensor);
          const guint index_a
              = GPOINTER_TO_UINT (g_hash_table_lookup (before, tensor_b->name + strlen (b->module->path) + 1)) - 1;

          if (differ (tm_model_tensor (plan->model, tm_layout_box (layout, index_a)->tensor), tensor_b))
            add_line (layout, lower->x, y, lower->x + lower->width, y, index_a, index_b);
        }
      g_clear_pointer (&before, g_hash_table_unref);
      before = g_steal_pointer (&here);
      before_card = card_b;
    }
}

void
tm_plan_draw_lines (TmPlan *plan, TmLayout *layout, const guint *box_of_node)
{
  draw_neighbours (plan, layout, box_of_node);
  draw_cards (plan, layout, box_of_node);
}
