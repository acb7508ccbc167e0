/* Outside the cards: stacks of cards, modules as boxes around what they hold, and the model itself: embeddings above its
 * blocks, norms and heads below them. What is tall (a vocabulary of 128 256 rows) stands beside the stack. */
#include "architecture/plan.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CELL 8 /* tensors of one layer: weight, bias, running statistics, scales */
#define FEW                                                                                                            \
  4 /* numbered modules inside a card that do not fold and are fewer are drawn as part of it (T5's layer.0 … 2) */

/* --- What is drawn how ------------------------------------------------------------------------------------------- */

static gboolean
is_numbered (const TmModule *module)
{
  return module->number >= 0 && (module->role == TM_MODULE_BLOCK || module->role == TM_MODULE_EXPERTS);
}

gboolean
tm_plan_is_element (const TmModule *module)
{
  guint n = 0;

  if (!is_numbered (module))
    return FALSE;
  if (module->role == TM_MODULE_EXPERTS || module->parent->folds->len > 0)
    return TRUE;
  for (guint i = 0; i < module->parent->children->len && n < FEW; i++)
    n += is_numbered (g_ptr_array_index (module->parent->children, i));
  if (n >= FEW)
    return TRUE;
  for (const TmModule *above = module->parent; above != NULL; above = above->parent)
    if (is_numbered (above))
      return FALSE;
  return TRUE;
}

static gboolean
is_unfolded (const TmPlan *plan, const TmModule *parent, const TmFold *fold)
{
  const TmModule *first = g_ptr_array_index (parent->children, fold->first);

  return plan->unfolded != NULL && g_hash_table_contains (plan->unfolded, first->path);
}

gboolean
tm_plan_is_hidden (const TmPlan *plan, const TmModule *parent, guint child)
{
  const TmFold *fold = tm_module_get_fold (parent, child);

  return fold != NULL && child > fold->first && !is_unfolded (plan, parent, fold)
         && tm_plan_is_element (g_ptr_array_index (parent->children, child));
}

/* --- Stacks ------------------------------------------------------------------------------------------------------ */

static gsize
stem_length (const TmModule *module)
{
  gsize length = strlen (module->name);

  while (length > 0 && g_ascii_isdigit (module->name[length - 1]))
    length--;
  return length;
}

/* "blk.3 – 20" */
static char *
make_caption (const TmModule *module, const TmFold *fold)
{
  const TmModule *last;

  if (fold == NULL)
    return g_strdup (module->name);
  last = g_ptr_array_index (module->parent->children, fold->first + fold->count - 1);
  return g_strdup_printf ("%s – %" G_GINT64_FORMAT, module->name, last->number);
}

static guint
add_card (TmPlan *plan, TmModule *parent, guint child, GHashTable *node_of_module, guint *n_taken)
{
  TmModule *module = g_ptr_array_index (parent->children, child);
  const TmFold *fold = tm_module_get_fold (parent, child);
  g_autofree char *caption = NULL;
  const guint content = GPOINTER_TO_UINT (g_hash_table_lookup (node_of_module, module)) - 1;
  guint card;

  if (fold != NULL && is_unfolded (plan, parent, fold))
    fold = NULL;
  caption = make_caption (module, fold);
  card = tm_plan_add_box (plan, TM_BOX_CARD, content, caption, module);
  tm_plan_show_module (plan, module, card);
  *n_taken = 1;
  if (fold != NULL)
    {
      tm_plan_node (plan, card)->fold_count = fold->count;
      tm_plan_node (plan, card)->fold = (gint) (fold - (const TmFold *) (gpointer) parent->folds->data);
      for (guint i = 1; i < fold->count; i++)
        tm_plan_show_module (plan, g_ptr_array_index (parent->children, child + i), card);
      *n_taken = fold->count;
    }
  return card;
}

guint
tm_plan_stack (TmPlan *plan, TmModule *parent, guint first, GHashTable *node_of_module, guint *node)
{
  const TmModule *head = g_ptr_array_index (parent->children, first);
  const gsize stem = stem_length (head);
  g_autoptr (GArray) cards = g_array_new (FALSE, FALSE, sizeof (guint));
  const guint *listed;
  gint64 width = 0;
  guint at = first;

  while (at < parent->children->len)
    {
      const TmModule *module = g_ptr_array_index (parent->children, at);
      guint taken, card;

      if (!tm_plan_is_element (module) || stem_length (module) != stem || memcmp (module->name, head->name, stem) != 0)
        break;
      card = add_card (plan, parent, at, node_of_module, &taken);
      g_array_append_val (cards, card);
      at += taken;
    }

  listed = (const guint *) (gpointer) cards->data;
  if (head->role == TM_MODULE_EXPERTS)
    {
      *node = tm_plan_flow (plan, listed, cards->len, 0, FALSE); /* experts work side by side: no order, no arrows */
      return at - first;
    }
  for (guint i = 0; i < cards->len; i++)
    width = MAX (width, tm_plan_node (plan, listed[i])->width);
  for (guint i = 0; i < cards->len; i++)
    {
      const TmNeighbours pair = { i > 0 ? listed[i - 1] : 0, listed[i], TRUE };

      tm_plan_node (plan, listed[i])->width = width;
      if (i > 0)
        g_array_append_val (plan->cards, pair);
    }
  *node = tm_plan_column (plan, listed, cards->len, 4 * plan->gap, FALSE);
  return at - first;
}

/* --- Groups ------------------------------------------------------------------------------------------------------ */

typedef enum
{
  BEFORE_EMBEDDING,
  BEFORE,
  STACK,
  AFTER_NORM,
  AFTER,
  AFTER_HEAD
} Order;
typedef struct
{
  guint node, appearance;
  Order order;
} Part;

static int
compare_parts (const void *a, const void *b)
{
  const Part *x = a, *y = b;

  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  return x->appearance < y->appearance ? -1 : x->appearance > y->appearance;
}

static Order
find_order (const TmModule *module, const char *role, gboolean after_stack)
{
  switch (module != NULL ? module->role : TM_MODULE_OTHER)
    {
    case TM_MODULE_EMBEDDING:
      return BEFORE_EMBEDDING;
    case TM_MODULE_NORM:
      return g_strcmp0 (role, "embedding.norm") == 0 || strstr (module->name, "pre_") != NULL
                     || strstr (module->name, "emb") != NULL
                 ? BEFORE
                 : AFTER_NORM;
    case TM_MODULE_HEAD:
      return AFTER_HEAD;
    case TM_MODULE_CONVOLUTION:
      return strstr (module->name, "out") != NULL ? AFTER : BEFORE;
    default:
      return g_strcmp0 (role, "rope") == 0 || !after_stack ? BEFORE : AFTER;
    }
}

static void
add_part (GArray *parts, guint node, Order order)
{
  const Part part = { node, parts->len, order };

  g_array_append_val (parts, part);
}

static GArray *
list_parts (TmPlan *plan, TmModule *module, GHashTable *node_of_module, gboolean *any_stack)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  gboolean numbered_seen = FALSE;

  *any_stack = FALSE;
  for (guint i = 0; i < module->tensors->len; i++)
    add_part (parts, tm_plan_add_parameter (plan, module, g_array_index (module->tensors, guint, i)), BEFORE);
  for (guint i = 0; i < module->children->len;)
    {
      TmModule *child = g_ptr_array_index (module->children, i);
      guint node;

      if (tm_plan_is_element (child))
        {
          i += tm_plan_stack (plan, module, i, node_of_module, &node);
          add_part (parts, node, STACK);
          *any_stack = numbered_seen = TRUE;
          continue;
        }
      node = GPOINTER_TO_UINT (g_hash_table_lookup (node_of_module, child)) - 1;
      add_part (parts, node, find_order (child, child->role_name, numbered_seen));
      i++;
    }
  return parts;
}

/* Parts of one side of the stack: those that are low beside its width in rows above or below it, the others beside it. */
static guint
split_side (TmPlan *plan, const guint *nodes, guint n, gint64 width, guint *beside)
{
  g_autofree guint *low = g_new (guint, MAX (n, 1)), *tall = g_new (guint, MAX (n, 1));
  guint n_low = 0, n_tall = 0;

  for (guint i = 0; i < n; i++)
    if (tm_plan_node (plan, nodes[i])->height > width / 2)
      tall[n_tall++] = nodes[i];
    else
      low[n_low++] = nodes[i];
  *beside = n_tall > 0 ? tm_plan_row (plan, tall, n_tall, plan->gap, FALSE) : TM_NO_NODE;
  return n_low > 0 ? tm_plan_flow (plan, low, n_low, width, FALSE) : TM_NO_NODE;
}

static guint
arrange_around_stack (TmPlan *plan, GArray *parts)
{
  g_autofree guint *nodes = g_new (guint, parts->len);
  guint first = 0, end, centre[3], n_centre = 0, above, below, left, right, stack, middle, whole;
  gint64 x = 0, height, top;

  qsort (parts->data, parts->len, sizeof (Part), compare_parts);
  for (guint i = 0; i < parts->len; i++)
    nodes[i] = g_array_index (parts, Part, i).node;
  while (g_array_index (parts, Part, first).order < STACK)
    first++;
  for (end = first; end < parts->len && g_array_index (parts, Part, end).order == STACK;)
    end++;

  stack = end - first == 1 ? nodes[first] : tm_plan_row (plan, nodes + first, end - first, 2 * plan->padding, FALSE);
  above = split_side (plan, nodes, first, tm_plan_node (plan, stack)->width, &left);
  below = split_side (plan, nodes + end, parts->len - end, tm_plan_node (plan, stack)->width, &right);
  if (above != TM_NO_NODE)
    centre[n_centre++] = above;
  centre[n_centre++] = stack;
  if (below != TM_NO_NODE)
    centre[n_centre++] = below;
  middle = n_centre == 1 ? stack : tm_plan_column (plan, centre, n_centre, 4 * plan->gap, FALSE);
  if (left == TM_NO_NODE && right == TM_NO_NODE)
    return middle;

  whole = tm_plan_arrange (plan);
  height = tm_plan_node (plan, middle)->height;
  if (left != TM_NO_NODE)
    {
      tm_plan_place (plan, whole, left, 0, 0);
      x = tm_plane_add (tm_plan_node (plan, left)->width, 2 * plan->padding);
    }
  tm_plan_place (plan, whole, middle, x, 0);
  if (right != TM_NO_NODE)
    {
      /* its foot level with the stack's, where the data come out; taller than all of it: from the top */
      x = tm_plane_add (x, tm_plane_add (tm_plan_node (plan, middle)->width, 2 * plan->padding));
      top = MAX (height - tm_plan_node (plan, right)->height, 0);
      tm_plan_place (plan, whole, right, x, top);
    }
  return whole;
}

static guint
arrange_group (TmPlan *plan, TmModule *module, GHashTable *node_of_module)
{
  gboolean any_stack;
  g_autoptr (GArray) parts = list_parts (plan, module, node_of_module, &any_stack);
  g_autofree guint *nodes = NULL;

  if (any_stack)
    return arrange_around_stack (plan, parts);
  /* the file's order, but embeddings first and heads last */
  for (guint i = 0; i < parts->len; i++)
    if (g_array_index (parts, Part, i).order != BEFORE_EMBEDDING && g_array_index (parts, Part, i).order != AFTER_HEAD)
      g_array_index (parts, Part, i).order = STACK;
  if (parts->len > 0)
    qsort (parts->data, parts->len, sizeof (Part), compare_parts);
  nodes = g_new (guint, MAX (parts->len, 1));
  for (guint i = 0; i < parts->len; i++)
    nodes[i] = g_array_index (parts, Part, i).node;
  return tm_plan_flow (plan, nodes, parts->len, 0, TRUE);
}

/* --- The tree ---------------------------------------------------------------------------------------------------- */

/* A module that only holds one other has no box of its own: "vision_tower.vision_model". */
static guint
make_group (TmPlan *plan, TmModule *module, GHashTable *node_of_module)
{
  guint node;

  if (module->tensors->len == 0 && module->children->len == 1)
    {
      TmModule *only = g_ptr_array_index (module->children, 0);
      g_autofree char *caption = NULL;

      node = GPOINTER_TO_UINT (g_hash_table_lookup (node_of_module, only)) - 1;
      if (!tm_plan_is_element (only) && tm_plan_node (plan, node)->boxed
          && tm_plan_node (plan, node)->kind == TM_BOX_GROUP)
        {
          caption = g_strdup_printf ("%s.%s", module->name, tm_plan_node (plan, node)->caption);
          tm_plan_node (plan, node)->caption = g_string_chunk_insert_const (plan->layout->strings, caption);
          tm_plan_node (plan, node)->module = module;
          tm_plan_show_module (plan, module, node);
          return node;
        }
    }
  node = tm_plan_add_box (plan, TM_BOX_GROUP, arrange_group (plan, module, node_of_module), module->name, module);
  tm_plan_show_module (plan, module, node);
  return node;
}

/* Modules that are drawn, parents before their children. inside: whether each is drawn in a card. */
static GPtrArray *
list_modules (const TmPlan *plan, GArray *inside)
{
  GPtrArray *modules = g_ptr_array_new ();
  guint8 in_card = FALSE;

  g_ptr_array_add (modules, plan->model->root);
  g_array_append_val (inside, in_card);
  for (guint i = 0; i < modules->len; i++)
    {
      TmModule *module = g_ptr_array_index (modules, i);

      in_card = g_array_index (inside, guint8, i) || tm_plan_is_element (module);
      for (guint c = 0; c < module->children->len; c++)
        if (!tm_plan_is_hidden (plan, module, c))
          {
            g_ptr_array_add (modules, g_ptr_array_index (module->children, c));
            g_array_append_val (inside, in_card);
          }
    }
  return modules;
}

guint
tm_plan_model (TmPlan *plan, GCancellable *cancellable)
{
  g_autoptr (GHashTable) node_of_module = g_hash_table_new (NULL, NULL); /* node + 1 */
  g_autoptr (GArray) inside = g_array_new (FALSE, FALSE, sizeof (guint8));
  g_autoptr (GPtrArray) modules = list_modules (plan, inside);
  guint node = TM_NO_NODE;

  for (guint i = modules->len; i-- > 0;)
    {
      TmModule *module = g_ptr_array_index (modules, i);

      if (i % 256 == 0 && g_cancellable_is_cancelled (cancellable))
        return TM_NO_NODE;
      if (module->parent == NULL)
        {
          node = tm_plan_add_box (plan, TM_BOX_MODEL, arrange_group (plan, module, node_of_module), plan->model->title,
                                  module);
          tm_plan_show_module (plan, module, node);
          return node;
        }
      if (tm_plan_is_element (module))
        node = tm_plan_card_content (plan, module, node_of_module);
      else if (g_array_index (inside, guint8, i))
        continue; /* its card draws it */
      else if (module->children->len == 0 && module->tensors->len <= MAX_CELL)
        node = tm_plan_add_cell (plan, module);
      else
        node = make_group (plan, module, node_of_module);
      g_hash_table_insert (node_of_module, module, GUINT_TO_POINTER (node + 1));
    }
  return node;
}
