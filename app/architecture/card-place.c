#include "architecture/card-place.h"

#include <string.h>

/* --- Roles to places --------------------------------------------------------------------------------------------- */

typedef struct
{
  const char *role;
  TmSection section;
  TmSlot slot;
  gint order;
} RolePlace;

static const RolePlace role_places[] = {
  /* longer roles before their beginnings */
  { "attn.q_a", TM_SECTION_ATTENTION, TM_SLOT_TOP, 0 },
  { "attn.q_b", TM_SECTION_ATTENTION, TM_SLOT_TOP, 1 },
  { "attn.qkv", TM_SECTION_ATTENTION, TM_SLOT_TOP, 0 },
  { "attn.q", TM_SECTION_ATTENTION, TM_SLOT_TOP, 0 },
  { "attn.gate", TM_SECTION_ATTENTION, TM_SLOT_TOP, 3 },
  { "attn.output", TM_SECTION_ATTENTION, TM_SLOT_TOP, 2 },
  { "attn.o", TM_SECTION_ATTENTION, TM_SLOT_TOP, 2 },
  { "attn.kv_a", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 0 },
  { "attn.kv_b", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 1 },
  { "attn.kv", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 0 },
  { "attn.k_b", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 1 },
  { "attn.v_b", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 2 },
  { "attn.k", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 0 },
  { "attn.v", TM_SECTION_ATTENTION, TM_SLOT_BOTTOM, 1 },
  { "attn", TM_SECTION_ATTENTION, TM_SLOT_SMALL, 0 },
  { "cross_attn.q", TM_SECTION_CROSS, TM_SLOT_TOP, 0 },
  { "cross_attn.o", TM_SECTION_CROSS, TM_SLOT_TOP, 2 },
  { "cross_attn.k", TM_SECTION_CROSS, TM_SLOT_BOTTOM, 0 },
  { "cross_attn.v", TM_SECTION_CROSS, TM_SLOT_BOTTOM, 1 },
  { "cross_attn", TM_SECTION_CROSS, TM_SLOT_SMALL, 0 },
  { "rope", TM_SECTION_ATTENTION, TM_SLOT_SMALL, 1 },
  { "ssm", TM_SECTION_STATE, TM_SLOT_TOP, 0 },
  { "mlp.gate_up", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 1 },
  { "mlp.gate", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 1 },
  { "mlp.up", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 2 },
  { "mlp.down", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 3 },
  { "mlp", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 4 },
  { "moe.router", TM_SECTION_FEED_FORWARD, TM_SLOT_TOP, 0 },
  { "moe.expert.gate", TM_SECTION_FEED_FORWARD, TM_SLOT_EXPERTS, 0 },
  { "moe.expert.up", TM_SECTION_FEED_FORWARD, TM_SLOT_EXPERTS, 1 },
  { "moe.expert.down", TM_SECTION_FEED_FORWARD, TM_SLOT_EXPERTS, 2 },
  { "moe.expert", TM_SECTION_FEED_FORWARD, TM_SLOT_EXPERTS, 3 },
  { "moe.shared.gate", TM_SECTION_FEED_FORWARD, TM_SLOT_SHARED, 0 },
  { "moe.shared.up", TM_SECTION_FEED_FORWARD, TM_SLOT_SHARED, 1 },
  { "moe.shared.down", TM_SECTION_FEED_FORWARD, TM_SLOT_SHARED, 2 },
  { "moe.shared", TM_SECTION_FEED_FORWARD, TM_SLOT_SHARED, 3 },
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
place_by_role (TmCardItem *item, const char *role)
{
  item->section = TM_SECTION_OTHER;
  item->slot = TM_SLOT_TOP;
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
  if (item->section == TM_SECTION_ATTENTION && is_cross (item->name))
    item->section = TM_SECTION_CROSS;
  if (strcmp (role, "moe.expert") == 0 || strcmp (role, "moe.shared") == 0)
    item->order = order_by_word (item->name);
}

/* Where a layer without a role of its own hangs in one that has: "mlp.2" in "mlp". */
static void
place_by_holder (TmCard *card, TmCardItem *item)
{
  for (const TmModule *holder = item->holder; holder != NULL && holder != card->card; holder = holder->parent)
    {
      item->slot = TM_SLOT_TOP;
      item->order = 5;
      switch (holder->role)
        {
        case TM_MODULE_ATTENTION:
          item->section = is_cross (item->name) ? TM_SECTION_CROSS : TM_SECTION_ATTENTION;
          return;
        case TM_MODULE_SSM:
          item->section = TM_SECTION_STATE;
          return;
        case TM_MODULE_FEED_FORWARD:
          item->section = TM_SECTION_FEED_FORWARD;
          return;
        case TM_MODULE_EXPERTS:
          item->section = TM_SECTION_FEED_FORWARD;
          item->slot = TM_SLOT_EXPERTS;
          return;
        default:
          break;
        }
    }
}

void
tm_card_place_layer (TmCard *card, TmCardItem *item, const char *role)
{
  place_by_role (item, role);
  if (item->section == TM_SECTION_OTHER && !item->is_norm)
    place_by_holder (card, item);
}

/* --- Norms ------------------------------------------------------------------------------------------------------- */

/* A norm goes where its name says, else where the layers beside it in the same module are. */
void
tm_card_place_norm (TmCard *card, TmCardItem *item, gboolean has_pre_feed_forward, const gboolean *used)
{
  const char *name = item->name;
  guint section = TM_N_SECTIONS;
  gboolean post = FALSE;

  if (strstr (name, "post_attention_layernorm") != NULL)
    {
      section = has_pre_feed_forward ? TM_SECTION_ATTENTION : TM_SECTION_FEED_FORWARD;
      post = has_pre_feed_forward;
    }
  else if (is_cross (name))
    section = TM_SECTION_CROSS;
  else if (HOLDS (name, "layer_output_norm", "post_ffw", "post_feedforward", "final_layer_norm"))
    {
      section = TM_SECTION_FEED_FORWARD;
      post = TRUE;
    }
  else if (strncmp (name, "output.", 7) == 0) /* BERT: after the feed-forward layer */
    {
      section = TM_SECTION_FEED_FORWARD;
      post = TRUE;
    }
  else if (HOLDS (name, "ffn", "ffw", "mlp", "feed_forward", "feedforward", "ln_2", "norm2", "norm_2", "ln2",
                  "layernorm_after"))
    section = TM_SECTION_FEED_FORWARD;
  else if (HOLDS (name, "attn", "attention", "input_layernorm", "ln_1", "norm1", "norm_1", "ln1", "layernorm_before"))
    {
      section = TM_SECTION_ATTENTION;
      post = HOLDS (name, "attn_output_norm", "post_attention", "attention.output", "output_norm");
    }
  else if (strstr (name, "ssm") != NULL || strstr (name, "mixer") != NULL)
    section = TM_SECTION_STATE;
  else
    section = GPOINTER_TO_UINT (g_hash_table_lookup (card->sections, item->holder)) - 1u;

  if (section >= TM_N_SECTIONS || !used[section])
    for (section = TM_SECTION_ATTENTION; section < TM_SECTION_OTHER && !used[section];)
      section++;
  item->section = (TmSection) section;
  item->slot = post ? TM_SLOT_POST_NORM : TM_SLOT_NORM;
  item->order = 0;
}
