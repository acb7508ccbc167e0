#include "architecture/layout.h"

#include <stdlib.h>
#include <string.h>

#include "architecture/plan.h"

/* What a layout keeps for its own questions, behind what everybody sees. */
typedef struct
{
  TmLayout layout;
  GHashTable *box_of_module; /* box + 1 */
  TmModule **module_of_tensor;
  TmBoxIndex *index;
} Layout;

/* --- The unit ---------------------------------------------------------------------------------------------------- */

static int
compare_sides (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* Median of the sides of all matrices; of all sheets where there is no matrix. */
static gint64
find_unit (TmModel *model)
{
  g_autoptr (GHashTable) counts
      = g_hash_table_new (g_int64_hash, g_int64_equal); /* side → how many, matrices and others */
  g_autoptr (GArray) sides = g_array_new (FALSE, FALSE, sizeof (gint64));
  typedef struct
  {
    gint64 side;
    guint n[2];
  } Count;
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  guint64 total[2] = { 0, 0 }, before = 0;
  guint which;

  for (guint i = 0; i < model->tensors->len; i++)
    {
      TmSheet sheet;

      tm_sheet_init (&sheet, tm_model_tensor (model, i));
      if (sheet.n_elements == 0)
        continue;
      for (guint axis = 0; axis < 2; axis++)
        {
          const gint64 side = (gint64) (axis == 0 ? sheet.rows : sheet.columns);
          Count *count = g_hash_table_lookup (counts, &side);

          if (count == NULL)
            {
              count = g_new0 (Count, 1);
              count->side = side;
              g_ptr_array_add (all, count);
              g_hash_table_insert (counts, &count->side, count);
            }
          count->n[sheet.kind == TM_SHEET_WRAPPED || sheet.n_elements == 1]++;
          total[sheet.kind == TM_SHEET_WRAPPED || sheet.n_elements == 1]++;
        }
    }
  which = total[0] > 0 ? 0 : 1;
  for (guint i = 0; i < all->len; i++)
    g_array_append_val (sides, ((Count *) g_ptr_array_index (all, i))->side);
  if (sides->len == 0)
    return 16;
  qsort (sides->data, sides->len, sizeof (gint64), compare_sides);
  for (guint i = 0; i < sides->len; i++)
    {
      before += ((Count *) g_hash_table_lookup (counts, &g_array_index (sides, gint64, i)))->n[which];
      if (2 * before >= total[which])
        return MAX (g_array_index (sides, gint64, i), 16);
    }
  return 16;
}

/* --- From plan to boxes ------------------------------------------------------------------------------------------ */

/* Boxes that a box holds, through nodes that only arrange. */
static void
emit_children (TmPlan *plan, TmLayout *layout, GArray *node_of_box, guint *box_of_node, guint parent)
{
  typedef struct
  {
    guint node;
    gint64 x, y;
  } Step;
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (Step));
  const guint own = g_array_index (node_of_box, guint, parent);
  Step step = { tm_plan_node (plan, own)->first, tm_layout_box (layout, parent)->x, tm_layout_box (layout, parent)->y };

  tm_layout_box (layout, parent)->first_child = layout->boxes->len;
  g_array_append_val (left, step);
  while (left->len > 0)
    {
      const TmPlanNode *node;
      TmBox box = { 0 };

      step = g_array_index (left, Step, left->len - 1);
      g_array_set_size (left, left->len - 1);
      if (step.node == TM_NO_NODE)
        continue;
      node = tm_plan_node (plan, step.node);
      if (node->next != TM_NO_NODE)
        {
          const Step beside = { node->next, step.x, step.y };
          g_array_append_val (left, beside);
        }
      if (!node->boxed)
        {
          const Step inside = { node->first, tm_plane_add (step.x, node->x), tm_plane_add (step.y, node->y) };
          g_array_append_val (left, inside);
          continue;
        }
      box.kind = node->kind;
      box.x = tm_plane_add (step.x, node->x);
      box.y = tm_plane_add (step.y, node->y);
      box.width = node->width;
      box.height = node->height;
      box.parent = parent;
      box.caption = node->caption;
      box.caption_height = node->caption_height;
      box.module = node->module;
      box.fold = node->fold;
      box.fold_count = node->fold_count;
      box.tensor = node->tensor;
      if (node->kind == TM_BOX_TENSOR)
        {
          box.sheet = node->sheet;
          box.sheet_x = box.x + node->sheet_x;
          box.sheet_y = box.y + node->sheet_y;
          layout->box_of_tensor[node->tensor] = layout->boxes->len;
        }
      box_of_node[step.node] = layout->boxes->len;
      g_array_append_val (layout->boxes, box);
      g_array_append_val (node_of_box, step.node);
    }
  tm_layout_box (layout, parent)->n_children = layout->boxes->len - tm_layout_box (layout, parent)->first_child;
}

static gboolean
emit (TmPlan *plan, Layout *self, guint root, GCancellable *cancellable)
{
  TmLayout *layout = &self->layout;
  g_autoptr (GArray) node_of_box = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint *box_of_node = g_new (guint, plan->nodes->len);
  const TmPlanNode *node = tm_plan_node (plan, root);
  const TmBox model = { .kind = TM_BOX_MODEL,
                        .width = node->width,
                        .height = node->height,
                        .parent = TM_NO_BOX,
                        .caption = node->caption,
                        .caption_height = node->caption_height,
                        .module = node->module,
                        .fold = -1,
                        .tensor = G_MAXUINT };

  for (guint i = 0; i < plan->nodes->len; i++)
    box_of_node[i] = TM_NO_BOX;
  box_of_node[root] = 0;
  g_array_append_val (layout->boxes, model);
  g_array_append_val (node_of_box, root);
  for (guint i = 0; i < layout->boxes->len; i++)
    {
      if (i % 1024 == 0 && g_cancellable_is_cancelled (cancellable))
        return FALSE;
      emit_children (plan, layout, node_of_box, box_of_node, i);
    }

  for (guint i = 0; i < plan->planned->len; i++)
    {
      const TmPlanned *planned = &g_array_index (plan->planned, TmPlanned, i);

      if (box_of_node[planned->node] != TM_NO_BOX)
        g_hash_table_insert (self->box_of_module, (gpointer) planned->module,
                             GUINT_TO_POINTER (box_of_node[planned->node] + 1));
    }
  tm_plan_draw_lines (plan, layout, box_of_node);
  return TRUE;
}

static void
list_tensor_modules (Layout *self)
{
  g_autoptr (GPtrArray) left = g_ptr_array_new ();

  g_ptr_array_add (left, self->layout.model->root);
  while (left->len > 0)
    {
      TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);

      for (guint i = 0; i < module->tensors->len; i++)
        self->module_of_tensor[g_array_index (module->tensors, guint, i)] = module;
      for (guint i = 0; i < module->children->len; i++)
        g_ptr_array_add (left, g_ptr_array_index (module->children, i));
    }
}

/* The same tensor of the fold's first block. */
static guint
find_drawn (const TmLayout *layout, guint tensor)
{
  const guint index = layout->box_of_tensor[tensor] == TM_NO_BOX ? tm_layout_find_hiding_fold (layout, tensor) : TM_NO_BOX;
  const TmModule *first = index == TM_NO_BOX ? NULL : tm_layout_box (layout, index)->module;
  const char *name = tm_model_tensor (layout->model, tensor)->name;
  const TmModule *module = first != NULL ? tm_model_tensor (layout->model, tensor)->owner : NULL;
  g_autofree char *drawn = NULL;
  gint64 found;

  if (layout->box_of_tensor[tensor] != TM_NO_BOX)
    return tensor;
  while (module != NULL && module->parent != first->parent)
    module = module->parent;
  if (module == NULL || !g_str_has_prefix (name, module->path))
    return G_MAXUINT;
  drawn = g_strconcat (first->path, name + strlen (module->path), NULL);
  found = tm_model_find_tensor (layout->model, drawn);
  return found < 0 ? G_MAXUINT : (guint) found;
}

TmLayout *
tm_layout_new (TmModel *model, GHashTable *unfolded, GCancellable *cancellable)
{
  Layout *self = g_new0 (Layout, 1);
  TmLayout *layout = &self->layout;
  TmPlan plan = { .model = model, .layout = layout, .unfolded = unfolded };
  gboolean done;
  guint root;

  layout->model = g_object_ref (model);
  layout->boxes = g_array_new (FALSE, FALSE, sizeof (TmBox));
  layout->lines = g_array_new (FALSE, FALSE, sizeof (TmHeavyLine));
  layout->arrows = g_array_new (FALSE, FALSE, sizeof (TmHeavyLine));
  layout->strings = g_string_chunk_new (4096);
  layout->unit = find_unit (model);
  layout->box_of_tensor = g_new (guint, MAX (model->tensors->len, 1));
  for (guint i = 0; i < model->tensors->len; i++)
    layout->box_of_tensor[i] = TM_NO_BOX;
  self->box_of_module = g_hash_table_new (NULL, NULL);
  self->module_of_tensor = g_new0 (TmModule *, MAX (model->tensors->len, 1));
  list_tensor_modules (self);

  plan.unit = layout->unit;
  plan.margin = plan.gap = (plan.unit + 7) / 8;
  plan.padding = (plan.unit + 3) / 4;
  plan.caption = plan.margin * 6;
  plan.tensor_caption = plan.margin * 3;
  plan.names = tm_names_new ();
  plan.nodes = g_array_new (FALSE, FALSE, sizeof (TmPlanNode));
  plan.neighbours = g_array_new (FALSE, FALSE, sizeof (TmNeighbours));
  plan.cards = g_array_new (FALSE, FALSE, sizeof (TmNeighbours));
  plan.planned = g_array_new (FALSE, FALSE, sizeof (TmPlanned));

  root = tm_plan_model (&plan, cancellable);
  done = root != TM_NO_NODE && emit (&plan, self, root, cancellable);
  if (done)
    {
      self->index = tm_box_index_new (layout);
      layout->drawn_of_tensor = g_new (guint, MAX (model->tensors->len, 1));
      for (guint i = 0; i < model->tensors->len && done; i++)
        {
          layout->drawn_of_tensor[i] = find_drawn (layout, i);
          done = i % 4096 != 0 || !g_cancellable_is_cancelled (cancellable);
        }
    }

  tm_names_free (plan.names);
  g_array_unref (plan.nodes);
  g_array_unref (plan.neighbours);
  g_array_unref (plan.cards);
  g_array_unref (plan.planned);
  if (!done)
    g_clear_pointer (&layout, tm_layout_free);
  return layout;
}

void
tm_layout_free (TmLayout *layout)
{
  Layout *self = (Layout *) layout;

  if (layout == NULL)
    return;
  g_clear_pointer (&self->index, tm_box_index_free);
  g_hash_table_unref (self->box_of_module);
  g_free (self->module_of_tensor);
  g_array_unref (layout->boxes);
  g_array_unref (layout->lines);
  g_array_unref (layout->arrows);
  g_string_chunk_free (layout->strings);
  g_free (layout->box_of_tensor);
  g_free (layout->drawn_of_tensor);
  g_object_unref (layout->model);
  g_free (self);
}

/* --- Questions --------------------------------------------------------------------------------------------------- */

guint
tm_layout_pick (const TmLayout *layout, gint64 x, gint64 y)
{
  return tm_box_index_pick (((const Layout *) layout)->index, layout, x, y);
}

guint
tm_layout_find_module (const TmLayout *layout, const TmModule *module)
{
  for (; module != NULL; module = module->parent)
    {
      const guint box = GPOINTER_TO_UINT (g_hash_table_lookup (((const Layout *) layout)->box_of_module, module));

      if (box != 0)
        return box - 1;
    }
  return TM_NO_BOX;
}

void
tm_layout_sort_columns (TmLayout *layout)
{
  for (guint i = 0; i < layout->boxes->len; i++)
    {
      TmBox *box = tm_layout_box (layout, i);

      if (box->kind == TM_BOX_TENSOR)
        tm_sheet_sort_columns (&box->sheet, tm_model_tensor (layout->model, box->tensor));
    }
}

guint
tm_layout_find_hiding_fold (const TmLayout *layout, guint tensor)
{
  if (layout->box_of_tensor[tensor] != TM_NO_BOX)
    return TM_NO_BOX;
  return tm_layout_find_module (layout, ((const Layout *) layout)->module_of_tensor[tensor]);
}

/* How far b lies from a in a direction: G_MAXINT64 if not there. Distance along it first, then beside it. */
static gboolean
is_nearer (const TmBox *from, const TmBox *box, int dx, int dy, gint64 best[2])
{
  gint64 along, beside;

  if (dx != 0)
    {
      along = dx > 0 ? box->x - (from->x + from->width) : from->x - (box->x + box->width);
      beside = MAX (0, MAX (box->y - (from->y + from->height), from->y - (box->y + box->height)));
      if (along >= 0 && beside == 0)
        beside = ABS (box->y - from->y) / 1024; /* in the same row: the one that begins level */
      else if (along >= 0)
        along = MIN (along, G_MAXINT64 / 4) + G_MAXINT64 / 2;
    }
  else
    {
      along = dy > 0 ? box->y - (from->y + from->height) : from->y - (box->y + box->height);
      beside = MAX (0, MAX (box->x - (from->x + from->width), from->x - (box->x + box->width)));
      if (along >= 0 && beside == 0)
        beside = ABS (box->x - from->x) / 1024;
      else if (along >= 0)
        along = MIN (along, G_MAXINT64 / 4) + G_MAXINT64 / 2;
    }
  if (along < 0 || along > best[0] || (along == best[0] && beside >= best[1]))
    return FALSE;
  best[0] = along;
  best[1] = beside;
  return TRUE;
}

/* Into a box met on the way out of its neighbour, down to where the one before was: the tensor nearest to it. */
static guint
enter (const TmLayout *layout, guint into, const TmBox *from, gboolean tensor)
{
  while (tensor && tm_layout_box (layout, into)->n_children > 0)
    {
      const TmBox *box = tm_layout_box (layout, into);
      guint nearest = box->first_child;
      gint64 best = G_MAXINT64;

      for (guint i = 0; i < box->n_children; i++)
        {
          const TmBox *child = tm_layout_box (layout, box->first_child + i);
          const gint64 across = MAX (0, MAX (child->x - (from->x + from->width), from->x - (child->x + child->width)));
          const gint64 down = MAX (0, MAX (child->y - (from->y + from->height), from->y - (child->y + child->height)));
          const gint64 level = (ABS (child->x - from->x) + ABS (child->y - from->y)) / 1024;
          const gint64 distance = tm_plane_add (tm_plane_add (across, down), level);

          if (distance < best)
            {
              best = distance;
              nearest = box->first_child + i;
            }
        }
      into = nearest;
    }
  return into;
}

guint
tm_layout_get_neighbour (const TmLayout *layout, guint box, int dx, int dy)
{
  const TmBox *from;
  gboolean tensor;

  if (box >= layout->boxes->len || (dx == 0) == (dy == 0))
    return TM_NO_BOX;
  from = tm_layout_box (layout, box);
  tensor = from->kind == TM_BOX_TENSOR;
  for (guint at = box; tm_layout_box (layout, at)->parent != TM_NO_BOX; at = tm_layout_box (layout, at)->parent)
    {
      const TmBox *parent = tm_layout_box (layout, tm_layout_box (layout, at)->parent);
      gint64 best[2] = { G_MAXINT64, G_MAXINT64 };
      guint found = TM_NO_BOX;

      for (guint i = 0; i < parent->n_children; i++)
        if (parent->first_child + i != at
            && is_nearer (tm_layout_box (layout, at), tm_layout_box (layout, parent->first_child + i), dx, dy, best))
          found = parent->first_child + i;
      /* a sibling that is not level is only better than none at the outermost box */
      if (found != TM_NO_BOX && (best[0] < G_MAXINT64 / 2 || tm_layout_box (layout, at)->parent == 0))
        return enter (layout, found, from, tensor);
    }
  return TM_NO_BOX;
}
