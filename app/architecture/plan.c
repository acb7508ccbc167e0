#include "architecture/plan.h"

#include <math.h>
#include <string.h>

#include "io/text.h"

/* A sheet longer than this many times its width is shown in a box of this aspect. */
#define MAX_ASPECT 16

static guint
add_node (TmPlan *plan)
{
  const TmPlanNode node = { .kind = TM_BOX_GROUP,
                            .first = TM_NO_NODE,
                            .last = TM_NO_NODE,
                            .next = TM_NO_NODE,
                            .fold = -1,
                            .tensor = G_MAXUINT,
                            .head = TM_NO_NODE,
                            .tail = TM_NO_NODE };

  g_array_append_val (plan->nodes, node);
  return plan->nodes->len - 1;
}

static const char *
keep_caption (TmPlan *plan, const char *text)
{
  g_autofree char *escaped = tm_text_escape (text, -1);

  return g_string_chunk_insert (plan->layout->strings, escaped);
}

void
tm_plan_show_module (TmPlan *plan, const TmModule *module, guint node)
{
  const TmPlanned planned = { module, node };

  g_array_append_val (plan->planned, planned);
}

/* --- Tensors ----------------------------------------------------------------------------------------------------- */

guint
tm_plan_add_tensor (TmPlan *plan, guint tensor, const char *caption)
{
  const guint index = add_node (plan);
  TmPlanNode *node = tm_plan_node (plan, index);
  gint64 width, height;

  node->boxed = TRUE;
  node->kind = TM_BOX_TENSOR;
  node->tensor = tensor;
  node->head = node->tail = index;
  node->caption = keep_caption (plan, caption);
  node->caption_height = plan->tensor_caption;
  tm_sheet_init (&node->sheet, tm_model_tensor (plan->model, tensor));

  /* wide enough for a short name, and never thinner than a box of 16 : 1 */
  width = MAX (node->sheet.width, plan->unit * 3 / 4);
  height = MAX (node->sheet.height, plan->unit * 3 / 8);
  width = MAX (width, node->sheet.height / MAX_ASPECT);
  height = MAX (height, node->sheet.width / MAX_ASPECT);
  node->sheet_x = plan->margin + (width - node->sheet.width) / 2;
  node->sheet_y = plan->tensor_caption + (height - node->sheet.height) / 2;
  node->width = width + 2 * plan->margin;
  node->height = plan->tensor_caption + height + plan->margin;
  return index;
}

/* In a card, where modules have no boxes, "dense" and "0" say nothing without the one around them. */
static gboolean
needs_parent (const TmModule *module)
{
  static const char *const words[]
      = { "dense", "proj", "projection", "linear", "layer_norm", "layernorm", "norm", "conv", "fc" };
  const TmModule *above = module->parent;

  if (tm_plan_is_element (above))
    return FALSE;
  while (above != NULL && !tm_plan_is_element (above))
    above = above->parent;
  if (above == NULL)
    return FALSE;
  if (tm_parse_number (module->name, -1) >= 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (module->name, words[i]) == 0)
      return TRUE;
  return FALSE;
}

/* "attn_q" for blk.0.attn_q.weight, "attn_q.bias" beside it, "A_log" for a parameter of the card itself, "mlp.0". */
guint
tm_plan_add_parameter (TmPlan *plan, TmModule *module, guint tensor)
{
  const TmTensor *what = tm_model_tensor (plan->model, tensor);
  const gboolean root = module->parent == NULL;
  const char *leaf = root ? what->name : what->name + strlen (module->path) + 1;
  GString *caption = g_string_new (NULL);
  guint node;

  if (!root && module->children->len == 0 && !tm_plan_is_element (module))
    {
      if (needs_parent (module))
        g_string_append_printf (caption, "%s.", module->parent->name);
      g_string_append (caption, module->name);
      if (strcmp (leaf, "weight") != 0)
        g_string_append_printf (caption, ".%s", leaf);
    }
  else
    g_string_append (caption, leaf);
  if (what->ordinal > 1)
    g_string_append_printf (caption, "#%u", what->ordinal);
  node = tm_plan_add_tensor (plan, tensor, caption->str);
  g_string_free (caption, TRUE);
  return node;
}

guint
tm_plan_add_cell (TmPlan *plan, TmModule *module)
{
  const guint n = module->tensors->len;
  g_autofree guint *nodes = g_new (guint, MAX (n, 1));
  guint largest = 0;
  guint cell, others;

  for (guint i = 0; i < n; i++)
    {
      const guint tensor = g_array_index (module->tensors, guint, i);

      nodes[i] = tm_plan_add_parameter (plan, module, tensor);
      if (tm_model_tensor (plan->model, tensor)->n_elements
          > tm_model_tensor (plan->model, g_array_index (module->tensors, guint, largest))->n_elements)
        largest = i;
    }
  if (n == 0)
    return tm_plan_arrange (plan);
  tm_plan_show_module (plan, module, nodes[largest]);
  if (n == 1)
    return nodes[0];

  cell = nodes[largest];
  memmove (nodes + 1, nodes, largest * sizeof *nodes);
  nodes[0] = cell;
  others = n == 2
               ? nodes[1]
               : tm_plan_flow (
                   plan, nodes + 1, n - 1,
                   MAX (tm_plan_node (plan, cell)->width, 2 * tm_plan_node (plan, nodes[1])->width + plan->gap), TRUE);
  return tm_plan_column (plan, (guint[]) { cell, others }, 2, plan->gap, TRUE);
}

/* --- Arrangements ------------------------------------------------------------------------------------------------ */

guint
tm_plan_arrange (TmPlan *plan)
{
  return add_node (plan);
}

void
tm_plan_place (TmPlan *plan, guint arrangement, guint node, gint64 x, gint64 y)
{
  TmPlanNode *holder = tm_plan_node (plan, arrangement);
  TmPlanNode *held = tm_plan_node (plan, node);

  held->x = x;
  held->y = y;
  held->next = TM_NO_NODE;
  if (holder->first == TM_NO_NODE)
    holder->first = node;
  else
    tm_plan_node (plan, holder->last)->next = node;
  holder->last = node;
  holder->width = MAX (holder->width, tm_plane_add (x, held->width));
  holder->height = MAX (holder->height, tm_plane_add (y, held->height));
  if (holder->head == TM_NO_NODE)
    holder->head = held->head;
  if (held->tail != TM_NO_NODE)
    holder->tail = held->tail;
}

void
tm_plan_note (TmPlan *plan, guint a, guint b, gboolean below)
{
  const TmNeighbours neighbours
      = { below ? tm_plan_node (plan, a)->tail : tm_plan_node (plan, a)->head, tm_plan_node (plan, b)->head, below };

  if (neighbours.a != TM_NO_NODE && neighbours.b != TM_NO_NODE)
    g_array_append_val (plan->neighbours, neighbours);
}

guint
tm_plan_row (TmPlan *plan, const guint *nodes, guint n, gint64 gap, gboolean note)
{
  const guint row = tm_plan_arrange (plan);
  gint64 x = 0;

  for (guint i = 0; i < n; i++)
    {
      tm_plan_place (plan, row, nodes[i], x, 0);
      x = tm_plane_add (x, tm_plane_add (tm_plan_node (plan, nodes[i])->width, gap));
      if (note && i > 0)
        tm_plan_note (plan, nodes[i - 1], nodes[i], FALSE);
    }
  return row;
}

guint
tm_plan_column (TmPlan *plan, const guint *nodes, guint n, gint64 gap, gboolean note)
{
  const guint column = tm_plan_arrange (plan);
  gint64 y = 0;

  for (guint i = 0; i < n; i++)
    {
      tm_plan_place (plan, column, nodes[i], 0, y);
      y = tm_plane_add (y, tm_plane_add (tm_plan_node (plan, nodes[i])->height, gap));
      if (note && i > 0)
        tm_plan_note (plan, nodes[i - 1], nodes[i], TRUE);
    }
  return column;
}

/* Height of the flow where a row may be as wide as this. */
static gint64
flow_height (TmPlan *plan, const guint *nodes, guint n, gint64 width)
{
  gint64 x = 0, y = 0, row = 0;

  for (guint i = 0; i < n; i++)
    {
      const TmPlanNode *node = tm_plan_node (plan, nodes[i]);

      if (x > 0 && tm_plane_add (x, node->width) > width)
        {
          y = tm_plane_add (y, tm_plane_add (row, plan->gap));
          x = row = 0;
        }
      x = tm_plane_add (x, tm_plane_add (node->width, plan->gap));
      row = MAX (row, node->height);
    }
  return tm_plane_add (y, row);
}

/* The narrowest width whose flow is not taller than wide, to within a sixteenth. */
static gint64
square_width (TmPlan *plan, const guint *nodes, guint n)
{
  gint64 low = 1, high = 0;

  for (guint i = 0; i < n; i++)
    {
      low = MAX (low, tm_plan_node (plan, nodes[i])->width);
      high = tm_plane_add (high, tm_plane_add (tm_plan_node (plan, nodes[i])->width, plan->gap));
    }
  high = MAX (high, low);
  while (high - low > low / 16)
    {
      const gint64 middle = low + (high - low) / 2;

      if (flow_height (plan, nodes, n, middle) <= middle)
        high = middle;
      else
        low = middle + 1;
    }
  return high;
}

guint
tm_plan_flow (TmPlan *plan, const guint *nodes, guint n, gint64 width, gboolean note)
{
  const guint flow = tm_plan_arrange (plan);
  gint64 x = 0, y = 0, row = 0;

  if (width == 0)
    width = square_width (plan, nodes, n);
  for (guint i = 0; i < n; i++)
    {
      const TmPlanNode *node = tm_plan_node (plan, nodes[i]);

      if (x > 0 && tm_plane_add (x, node->width) > width)
        {
          y = tm_plane_add (y, tm_plane_add (row, plan->gap));
          x = row = 0;
        }
      else if (note && i > 0)
        tm_plan_note (plan, nodes[i - 1], nodes[i], FALSE);
      tm_plan_place (plan, flow, nodes[i], x, y);
      x = tm_plane_add (x, tm_plane_add (node->width, plan->gap));
      row = MAX (row, node->height);
    }
  return flow;
}

guint
tm_plan_add_box (TmPlan *plan, TmBoxKind kind, guint content, const char *caption, TmModule *module)
{
  const guint index = add_node (plan);
  TmPlanNode *node = tm_plan_node (plan, index);
  const gboolean section = module == NULL; /* no frame of its own: less room */
  const gint64 padding = section ? plan->gap : plan->padding;

  node->boxed = TRUE;
  node->kind = kind;
  node->caption = keep_caption (plan, caption);
  node->caption_height = section ? 4 * plan->margin : plan->caption;
  node->module = module;
  tm_plan_place (plan, index, content, padding, node->caption_height);
  node->width = tm_plane_add (node->width, padding);
  node->height = tm_plane_add (node->height, padding);
  return index;
}
