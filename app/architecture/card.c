/* Inside a card: roles from left to right. Attention (norms, then pairs of columns: q over k, output over v), cross
 * attention, state space, feed-forward (norms, router, gate, up, down; experts and shared experts in rows under them), then
 * what is left. A block in which no role is known is a flow in the file's order. */
#include "architecture/card-place.h"

#include <stdlib.h>
#include <string.h>

static const char *const section_names[TM_N_SECTIONS]
    = { "attention", "cross attention", "state space", "feed-forward", "other" };

/* --- Collecting -------------------------------------------------------------------------------------------------- */

static void
add_item (TmCard *card, guint node, const TmModule *holder, const char *path, const char *role)
{
  TmCardItem item = { .node = node, .holder = holder, .appearance = card->items->len };
  const gsize skip = strlen (card->card->path) + 1;

  item.name = g_ascii_strdown (path + MIN (skip, strlen (path)), -1);
  tm_card_place_layer (card, &item, role);
  card->any_role |= item.section != TM_SECTION_OTHER;
  if (item.section != TM_SECTION_OTHER && !item.is_norm)
    for (const TmModule *at = holder; at != NULL && at != card->card && !g_hash_table_contains (card->sections, at);
         at = at->parent)
      g_hash_table_insert (card->sections, (gpointer) at, GUINT_TO_POINTER (item.section + 1u));
  g_array_append_val (card->items, item);
}

static void
add_parameters (TmCard *card, TmModule *module)
{
  for (guint i = 0; i < module->tensors->len; i++)
    {
      const guint tensor = g_array_index (module->tensors, guint, i);
      const char *name = tm_model_tensor (card->plan->model, tensor)->name;
      const gsize skip = strlen (module->path) + 1;
      const gboolean plain = strcmp (name + skip, "weight") == 0 || strcmp (name + skip, "bias") == 0;

      add_item (card, tm_plan_add_parameter (card->plan, module, tensor), module, name,
                plain ? NULL : tm_names_find_role (card->plan->names, name));
    }
}

/* Everything below the card that is not in a card of its own, in tree order. */
static void
collect (TmCard *card, GHashTable *node_of_module)
{
  typedef struct
  {
    TmModule *module;
    guint child;
  } Place;
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (Place));
  Place at = { card->card, 0 };

  add_parameters (card, card->card);
  g_array_append_val (path, at);
  while (path->len > 0)
    {
      Place *place = &g_array_index (path, Place, path->len - 1);
      TmModule *module = place->module;
      TmModule *child;

      if (place->child >= module->children->len)
        {
          g_array_set_size (path, path->len - 1);
          continue;
        }
      child = g_ptr_array_index (module->children, place->child);
      if (tm_plan_is_element (child))
        {
          guint node;

          place->child += tm_plan_stack (card->plan, module, place->child, node_of_module, &node);
          add_item (card, node, module, child->path, child->role == TM_MODULE_EXPERTS ? "moe.expert" : NULL);
          continue;
        }
      place->child++;
      if (child->children->len == 0)
        add_item (card, tm_plan_add_cell (card->plan, child), module, child->path, child->role_name);
      else
        {
          at = (Place) { child, 0 };
          g_array_append_val (path, at); /* place is no longer valid */
          add_parameters (card, child);
        }
    }
}

/* --- Sections ---------------------------------------------------------------------------------------------------- */

static int
compare_items (const void *a, const void *b)
{
  const TmCardItem *x = a, *y = b;

  if (x->section != y->section)
    return x->section < y->section ? -1 : 1;
  if (x->slot != y->slot)
    return x->slot < y->slot ? -1 : 1;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  return x->appearance < y->appearance ? -1 : x->appearance > y->appearance;
}

/* Columns of two rows; the second row begins at one height for all of them. */
static guint
make_pairs (TmPlan *plan, const guint *top, guint n_top, const guint *bottom, guint n_bottom)
{
  const guint pairs = tm_plan_arrange (plan);
  gint64 below = 0, x = 0;

  for (guint i = 0; i < n_top; i++)
    below = MAX (below, tm_plan_node (plan, top[i])->height);
  if (n_top > 0)
    below = tm_plane_add (below, plan->gap);
  for (guint i = 0; i < MAX (n_top, n_bottom); i++)
    {
      gint64 width = 0;

      if (i < n_top)
        {
          tm_plan_place (plan, pairs, top[i], x, 0);
          width = tm_plan_node (plan, top[i])->width;
          if (i > 0)
            tm_plan_note (plan, top[i - 1], top[i], FALSE);
        }
      if (i < n_bottom)
        {
          tm_plan_place (plan, pairs, bottom[i], x, below);
          width = MAX (width, tm_plan_node (plan, bottom[i])->width);
          if (i > 0)
            tm_plan_note (plan, bottom[i - 1], bottom[i], FALSE);
          if (i < n_top)
            tm_plan_note (plan, top[i], bottom[i], TRUE);
        }
      x = tm_plane_add (x, tm_plane_add (width, plan->gap));
    }
  return pairs;
}

static guint
make_section (TmPlan *plan, TmSection section, const TmCardItem *items, guint n)
{
  g_autofree guint *nodes = g_new (guint, n);
  guint first[TM_N_SLOTS + 1] = { 0 };
  guint column[4], rows[3];
  guint n_columns = 0, n_rows = 0;

  for (guint i = 0; i < n; i++)
    {
      nodes[i] = items[i].node;
      first[items[i].slot + 1]++;
    }
  for (guint slot = 0; slot < TM_N_SLOTS; slot++)
    first[slot + 1] += first[slot];
#define SLOT_NODES(slot) nodes + first[slot], first[(slot) + 1] - first[slot]
#define IS_USED(slot) (first[(slot) + 1] > first[slot])

  if (section == TM_SECTION_OTHER)
    return tm_plan_flow (plan, nodes, n, 0, TRUE);
  if (IS_USED (TM_SLOT_NORM))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (TM_SLOT_NORM), plan->gap, TRUE);
  if (section == TM_SECTION_STATE && IS_USED (TM_SLOT_TOP))
    rows[n_rows++] = tm_plan_flow (plan, SLOT_NODES (TM_SLOT_TOP), 0, TRUE);
  else if (IS_USED (TM_SLOT_TOP) || IS_USED (TM_SLOT_BOTTOM))
    rows[n_rows++] = make_pairs (plan, SLOT_NODES (TM_SLOT_TOP), SLOT_NODES (TM_SLOT_BOTTOM));
  if (IS_USED (TM_SLOT_EXPERTS))
    rows[n_rows++] = tm_plan_row (plan, SLOT_NODES (TM_SLOT_EXPERTS), plan->gap, TRUE);
  if (IS_USED (TM_SLOT_SHARED))
    rows[n_rows++] = tm_plan_row (plan, SLOT_NODES (TM_SLOT_SHARED), plan->gap, TRUE);
  if (n_rows > 0)
    column[n_columns++] = n_rows == 1 ? rows[0] : tm_plan_column (plan, rows, n_rows, plan->gap, FALSE);
  if (IS_USED (TM_SLOT_SMALL))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (TM_SLOT_SMALL), plan->gap, TRUE);
  if (IS_USED (TM_SLOT_POST_NORM))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (TM_SLOT_POST_NORM), plan->gap, TRUE);
#undef SLOT_NODES
#undef IS_USED
  return tm_plan_row (plan, column, n_columns, plan->gap, TRUE);
}

/* Modules between the card and its tensors ("self_attn") have no box of their own: their section stands for them. */
static void
show_holders (TmCard *card, const TmCardItem *items, guint n, guint box, GHashTable *shown)
{
  for (guint i = 0; i < n; i++)
    for (const TmModule *holder = items[i].holder; holder != NULL && holder != card->card; holder = holder->parent)
      if (g_hash_table_add (shown, (gpointer) holder))
        tm_plan_show_module (card->plan, holder, box);
}

guint
tm_plan_card_content (TmPlan *plan, TmModule *module, GHashTable *node_of_module)
{
  TmCard card = { .plan = plan, .card = module, .items = g_array_new (FALSE, FALSE, sizeof (TmCardItem)) };
  g_autoptr (GHashTable) shown = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  gboolean used[TM_N_SECTIONS] = { FALSE }, pre_feed_forward = FALSE;
  guint sections[TM_N_SECTIONS], n_sections = 0, content;

  card.sections = known;
  collect (&card, node_of_module);
  for (guint i = 0; i < card.items->len; i++)
    {
      const TmCardItem *item = &g_array_index (card.items, TmCardItem, i);

      if (!item->is_norm)
        used[item->section] = TRUE;
      pre_feed_forward |= strstr (item->name, "pre_feedforward_layernorm") != NULL;
    }
  for (guint i = 0; i < card.items->len; i++)
    if (g_array_index (card.items, TmCardItem, i).is_norm)
      tm_card_place_norm (&card, &g_array_index (card.items, TmCardItem, i), pre_feed_forward, used);

  if (!card.any_role)
    {
      g_autofree guint *nodes = g_new (guint, MAX (card.items->len, 1));

      for (guint i = 0; i < card.items->len; i++)
        nodes[i] = g_array_index (card.items, TmCardItem, i).node;
      content = tm_plan_flow (plan, nodes, card.items->len, 0, TRUE);
    }
  else
    {
      TmCardItem *items;
      gint64 height = 0;

      qsort (card.items->data, card.items->len, sizeof (TmCardItem), compare_items);
      items = (TmCardItem *) (gpointer) card.items->data;
      for (guint i = 0, end; i < card.items->len; i = end)
        {
          guint section;

          for (end = i + 1; end < card.items->len && items[end].section == items[i].section;)
            end++;
          if (end - i == card.items->len && (module->role == TM_MODULE_EXPERTS || card.items->len == 1))
            {
              content
                  = make_section (plan, items[i].section, items + i, end - i); /* one of many alike: no word for it */
              show_holders (&card, items + i, end - i, content, shown);
              goto done;
            }
          section = tm_plan_add_box (plan, TM_BOX_GROUP, make_section (plan, items[i].section, items + i, end - i),
                                     section_names[items[i].section], NULL);
          show_holders (&card, items + i, end - i, section, shown);
          sections[n_sections++] = section;
        }
      for (guint i = 0; i < n_sections; i++)
        height = MAX (height, tm_plan_node (plan, sections[i])->height);
      for (guint i = 0; i < n_sections; i++)
        tm_plan_node (plan, sections[i])->height = height; /* one lower edge */
      content = tm_plan_row (plan, sections, n_sections, plan->padding, FALSE);
    }

done:
  for (guint i = 0; i < card.items->len; i++)
    g_free (g_array_index (card.items, TmCardItem, i).name);
  g_array_unref (card.items);
  return content;
}
