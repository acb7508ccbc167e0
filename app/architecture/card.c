/* Inside a card: roles from left to right. Attention (norms, then pairs of columns: q over k, output over v), cross
 * attention, state space, feed-forward (norms, router, gate, up, down; experts and shared experts in rows under them), then
 * what is left. A block in which no role is known is a flow in the file's order. */
#include "architecture/plan.h"

#include <stdlib.h>
#include <string.h>

typedef enum { SECTION_ATTENTION, SECTION_CROSS, SECTION_STATE, SECTION_FEED_FORWARD, SECTION_OTHER, N_SECTIONS } Section;
typedef enum { SLOT_NORM, SLOT_TOP, SLOT_BOTTOM, SLOT_EXPERTS, SLOT_SHARED, SLOT_SMALL, SLOT_POST_NORM, N_SLOTS } Slot;

typedef struct
{
  guint node;
  const TmModule *holder; /* the module its name hangs in, below the card */
  Section section;
  Slot slot;
  gint order;             /* within its slot */
  guint appearance;
  gboolean is_norm;
  char *name;             /* lower case, relative to the card */
} Item;

typedef struct
{
  TmPlan *plan;
  TmModule *card;
  GArray *items;
  GHashTable *sections; /* module below the card → section + 1 of its first layer that has one */
  gboolean any_role;
} Card;

static const char *const section_names[N_SECTIONS] = { "attention", "cross attention", "state space", "feed-forward", "other" };

/* --- Roles to places --------------------------------------------------------------------------------------------- */

typedef struct { const char *role; Section section; Slot slot; gint order; } RolePlace;

static const RolePlace role_places[] = { /* longer roles before their beginnings */
  { "attn.q_a", SECTION_ATTENTION, SLOT_TOP, 0 },
  { "attn.q_b", SECTION_ATTENTION, SLOT_TOP, 1 },
  { "attn.qkv", SECTION_ATTENTION, SLOT_TOP, 0 },
  { "attn.q", SECTION_ATTENTION, SLOT_TOP, 0 },
  { "attn.gate", SECTION_ATTENTION, SLOT_TOP, 3 },
  { "attn.output", SECTION_ATTENTION, SLOT_TOP, 2 },
  { "attn.o", SECTION_ATTENTION, SLOT_TOP, 2 },
  { "attn.kv_a", SECTION_ATTENTION, SLOT_BOTTOM, 0 },
  { "attn.kv_b", SECTION_ATTENTION, SLOT_BOTTOM, 1 },
  { "attn.kv", SECTION_ATTENTION, SLOT_BOTTOM, 0 },
  { "attn.k_b", SECTION_ATTENTION, SLOT_BOTTOM, 1 },
  { "attn.v_b", SECTION_ATTENTION, SLOT_BOTTOM, 2 },
  { "attn.k", SECTION_ATTENTION, SLOT_BOTTOM, 0 },
  { "attn.v", SECTION_ATTENTION, SLOT_BOTTOM, 1 },
  { "attn", SECTION_ATTENTION, SLOT_SMALL, 0 },
  { "cross_attn.q", SECTION_CROSS, SLOT_TOP, 0 },
  { "cross_attn.o", SECTION_CROSS, SLOT_TOP, 2 },
  { "cross_attn.k", SECTION_CROSS, SLOT_BOTTOM, 0 },
  { "cross_attn.v", SECTION_CROSS, SLOT_BOTTOM, 1 },
  { "cross_attn", SECTION_CROSS, SLOT_SMALL, 0 },
  { "rope", SECTION_ATTENTION, SLOT_SMALL, 1 },
  { "ssm", SECTION_STATE, SLOT_TOP, 0 },
  { "mlp.gate_up", SECTION_FEED_FORWARD, SLOT_TOP, 1 },
  { "mlp.gate", SECTION_FEED_FORWARD, SLOT_TOP, 1 },
  { "mlp.up", SECTION_FEED_FORWARD, SLOT_TOP, 2 },
  { "mlp.down", SECTION_FEED_FORWARD, SLOT_TOP, 3 },
  { "mlp", SECTION_FEED_FORWARD, SLOT_TOP, 4 },
  { "moe.router", SECTION_FEED_FORWARD, SLOT_TOP, 0 },
  { "moe.expert.gate", SECTION_FEED_FORWARD, SLOT_EXPERTS, 0 },
  { "moe.expert.up", SECTION_FEED_FORWARD, SLOT_EXPERTS, 1 },
  { "moe.expert.down", SECTION_FEED_FORWARD, SLOT_EXPERTS, 2 },
  { "moe.expert", SECTION_FEED_FORWARD, SLOT_EXPERTS, 3 },
  { "moe.shared.gate", SECTION_FEED_FORWARD, SLOT_SHARED, 0 },
  { "moe.shared.up", SECTION_FEED_FORWARD, SLOT_SHARED, 1 },
  { "moe.shared.down", SECTION_FEED_FORWARD, SLOT_SHARED, 2 },
  { "moe.shared", SECTION_FEED_FORWARD, SLOT_SHARED, 3 },
};

static gboolean
holds_any (const char *text, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strstr (text, *words) != NULL)
      return TRUE;
  return FALSE;
}
#define HOLDS(text, ...) holds_any (text, (const char *const[]) { __VA_ARGS__, NULL })

static gboolean
is_cross (const char *name)
{
  return HOLDS (name, "cross_attn", "crossattention", "encdecattention", "encoder_attn", "attn2", "cross_attention");
}

/* "gate", "up", "down" where the role says only which kind of layer it is. */
static gint
order_by_word (const char *name)
{
  if (HOLDS (name, "gate_up", "up_gate", "gate", "w1"))
    return 0;
  if (HOLDS (name, "up", "w3"))
    return 1;
  return HOLDS (name, "down", "w2") ? 2 : 3;
}

static void
place_by_role (Item *item, const char *role)
{
  item->section = SECTION_OTHER;
  item->slot = SLOT_TOP;
  item->order = 0;
  if (role == NULL)
    return;
  item->is_norm = g_str_has_prefix (role, "norm") || strcmp (role, "mtp.norm") == 0;
  for (guint i = 0; i < G_N_ELEMENTS (role_places); i++)
    if (g_str_has_prefix (role, role_places[i].role))
      {
        item->section = role_places[i].section;
        item->slot = role_places[i].slot;
        item->order = role_places[i].order;
        break;
      }
  if (item->section == SECTION_ATTENTION && is_cross (item->name))
    item->section = SECTION_CROSS;
  if (strcmp (role, "moe.expert") == 0 || strcmp (role, "moe.shared") == 0)
    item->order = order_by_word (item->name);
}

/* Where a layer without a role of its own hangs in one that has: "mlp.2" in "mlp". */
static void
place_by_holder (Card *card, Item *item)
{
  for (const TmModule *holder = item->holder; holder != NULL && holder != card->card; holder = holder->parent)
    {
      item->slot = SLOT_TOP;
      item->order = 5;
      switch (holder->role)
        {
        case TM_MODULE_ATTENTION:
          item->section = is_cross (item->name) ? SECTION_CROSS : SECTION_ATTENTION;
          return;
        case TM_MODULE_SSM:
          item->section = SECTION_STATE;
          return;
        case TM_MODULE_FEED_FORWARD:
          item->section = SECTION_FEED_FORWARD;
          return;
        case TM_MODULE_EXPERTS:
          item->section = SECTION_FEED_FORWARD;
          item->slot = SLOT_EXPERTS;
          return;
        default:
          break;
        }
    }
}

/* --- Norms ------------------------------------------------------------------------------------------------------- */

/* A norm goes where its name says, else where the layers beside it in the same module are. */
static void
place_norm (Card *card, Item *item, gboolean has_pre_feed_forward, const gboolean used[N_SECTIONS])
{
  const char *name = item->name;
  guint section = N_SECTIONS;
  gboolean post = FALSE;

  if (strstr (name, "post_attention_layernorm") != NULL)
    {
      section = has_pre_feed_forward ? SECTION_ATTENTION : SECTION_FEED_FORWARD;
      post = has_pre_feed_forward;
    }
  else if (is_cross (name))
    section = SECTION_CROSS;
  else if (HOLDS (name, "layer_output_norm", "post_ffw", "post_feedforward", "final_layer_norm"))
    {
      section = SECTION_FEED_FORWARD;
      post = TRUE;
    }
  else if (strncmp (name, "output.", 7) == 0) /* BERT: after the feed-forward layer */
    {
      section = SECTION_FEED_FORWARD;
      post = TRUE;
    }
  else if (HOLDS (name, "ffn", "ffw", "mlp", "feed_forward", "feedforward", "ln_2", "norm2", "norm_2", "ln2", "layernorm_after"))
    section = SECTION_FEED_FORWARD;
  else if (HOLDS (name, "attn", "attention", "input_layernorm", "ln_1", "norm1", "norm_1", "ln1", "layernorm_before"))
    {
      section = SECTION_ATTENTION;
      post = HOLDS (name, "attn_output_norm", "post_attention", "attention.output", "output_norm");
    }
  else if (strstr (name, "ssm") != NULL || strstr (name, "mixer") != NULL)
    section = SECTION_STATE;
  else
    section = GPOINTER_TO_UINT (g_hash_table_lookup (card->sections, item->holder)) - 1u;

  if (section >= N_SECTIONS || !used[section])
    for (section = SECTION_ATTENTION; section < SECTION_OTHER && !used[section];)
      section++;
  item->section = (Section) section;
  item->slot = post ? SLOT_POST_NORM : SLOT_NORM;
  item->order = 0;
}

/* --- Collecting -------------------------------------------------------------------------------------------------- */

static void
add_item (Card *card, guint node, const TmModule *holder, const char *path, const char *role)
{
  Item item = { .node = node, .holder = holder, .appearance = card->items->len };
  const gsize skip = strlen (card->card->path) + 1;

  item.name = g_ascii_strdown (path + MIN (skip, strlen (path)), -1);
  place_by_role (&item, role);
  if (item.section == SECTION_OTHER && !item.is_norm)
    place_by_holder (card, &item);
  card->any_role |= item.section != SECTION_OTHER;
  if (item.section != SECTION_OTHER && !item.is_norm)
    for (const TmModule *at = holder; at != NULL && at != card->card && !g_hash_table_contains (card->sections, at); at = at->parent)
      g_hash_table_insert (card->sections, (gpointer) at, GUINT_TO_POINTER (item.section + 1u));
  g_array_append_val (card->items, item);
}

static void
add_parameters (Card *card, TmModule *module)
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
collect (Card *card, GHashTable *node_of_module)
{
  typedef struct { TmModule *module; guint child; } Place;
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
  const Item *x = a, *y = b;

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
make_section (TmPlan *plan, Section section, const Item *items, guint n)
{
  g_autofree guint *nodes = g_new (guint, n);
  guint first[N_SLOTS + 1] = { 0 };
  guint column[4], rows[3];
  guint n_columns = 0, n_rows = 0;

  for (guint i = 0; i < n; i++)
    {
      nodes[i] = items[i].node;
      first[items[i].slot + 1]++;
    }
  for (guint slot = 0; slot < N_SLOTS; slot++)
    first[slot + 1] += first[slot];
#define SLOT_NODES(slot) nodes + first[slot], first[(slot) + 1] - first[slot]
#define IS_USED(slot) (first[(slot) + 1] > first[slot])

  if (section == SECTION_OTHER)
    return tm_plan_flow (plan, nodes, n, 0, TRUE);
  if (IS_USED (SLOT_NORM))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (SLOT_NORM), plan->gap, TRUE);
  if (section == SECTION_STATE && IS_USED (SLOT_TOP))
    rows[n_rows++] = tm_plan_flow (plan, SLOT_NODES (SLOT_TOP), 0, TRUE);
  else if (IS_USED (SLOT_TOP) || IS_USED (SLOT_BOTTOM))
    rows[n_rows++] = make_pairs (plan, SLOT_NODES (SLOT_TOP), SLOT_NODES (SLOT_BOTTOM));
  if (IS_USED (SLOT_EXPERTS))
    rows[n_rows++] = tm_plan_row (plan, SLOT_NODES (SLOT_EXPERTS), plan->gap, TRUE);
  if (IS_USED (SLOT_SHARED))
    rows[n_rows++] = tm_plan_row (plan, SLOT_NODES (SLOT_SHARED), plan->gap, TRUE);
  if (n_rows > 0)
    column[n_columns++] = n_rows == 1 ? rows[0] : tm_plan_column (plan, rows, n_rows, plan->gap, FALSE);
  if (IS_USED (SLOT_SMALL))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (SLOT_SMALL), plan->gap, TRUE);
  if (IS_USED (SLOT_POST_NORM))
    column[n_columns++] = tm_plan_column (plan, SLOT_NODES (SLOT_POST_NORM), plan->gap, TRUE);
#undef SLOT_NODES
#undef IS_USED
  return tm_plan_row (plan, column, n_columns, plan->gap, TRUE);
}

/* Modules between the card and its tensors ("self_attn") have no box of their own: their section stands for them. */
static void
show_holders (Card *card, const Item *items, guint n, guint box, GHashTable *shown)
{
  for (guint i = 0; i < n; i++)
    for (const TmModule *holder = items[i].holder; holder != NULL && holder != card->card; holder = holder->parent)
      if (g_hash_table_add (shown, (gpointer) holder))
        tm_plan_show_module (card->plan, holder, box);
}

guint
tm_plan_card_content (TmPlan *plan, TmModule *module, GHashTable *node_of_module)
{
  Card card = { .plan = plan, .card = module, .items = g_array_new (FALSE, FALSE, sizeof (Item)) };
  g_autoptr (GHashTable) shown = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  gboolean used[N_SECTIONS] = { FALSE }, pre_feed_forward = FALSE;
  guint sections[N_SECTIONS], n_sections = 0, content;

  card.sections = known;
  collect (&card, node_of_module);
  for (guint i = 0; i < card.items->len; i++)
    {
      const Item *item = &g_array_index (card.items, Item, i);

      if (!item->is_norm)
        used[item->section] = TRUE;
      pre_feed_forward |= strstr (item->name, "pre_feedforward_layernorm") != NULL;
    }
  for (guint i = 0; i < card.items->len; i++)
    if (g_array_index (card.items, Item, i).is_norm)
      place_norm (&card, &g_array_index (card.items, Item, i), pre_feed_forward, used);

  if (!card.any_role)
    {
      g_autofree guint *nodes = g_new (guint, MAX (card.items->len, 1));

      for (guint i = 0; i < card.items->len; i++)
        nodes[i] = g_array_index (card.items, Item, i).node;
      content = tm_plan_flow (plan, nodes, card.items->len, 0, TRUE);
    }
  else
    {
      Item *items;
      gint64 height = 0;

      qsort (card.items->data, card.items->len, sizeof (Item), compare_items);
      items = (Item *) (gpointer) card.items->data;
      for (guint i = 0, end; i < card.items->len; i = end)
        {
          guint section;

          for (end = i + 1; end < card.items->len && items[end].section == items[i].section;)
            end++;
          if (end - i == card.items->len && (module->role == TM_MODULE_EXPERTS || card.items->len == 1))
            {
              content = make_section (plan, items[i].section, items + i, end - i); /* one of many alike: no word for it */
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
    g_free (g_array_index (card.items, Item, i).name);
  g_array_unref (card.items);
  return content;
}
