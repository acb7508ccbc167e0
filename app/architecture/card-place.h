/* Where a layer stands in its card: its section, and its slot there. */
#pragma once

#include "architecture/plan.h"

G_BEGIN_DECLS

typedef enum
{
  TM_SECTION_ATTENTION, TM_SECTION_CROSS, TM_SECTION_STATE, TM_SECTION_FEED_FORWARD, TM_SECTION_OTHER, TM_N_SECTIONS
} TmSection;
typedef enum
{
  TM_SLOT_NORM, TM_SLOT_TOP, TM_SLOT_BOTTOM, TM_SLOT_EXPERTS, TM_SLOT_SHARED, TM_SLOT_SMALL, TM_SLOT_POST_NORM, TM_N_SLOTS
} TmSlot;

typedef struct
{
  guint node;
  const TmModule *holder; /* the module its name hangs in, below the card */
  TmSection section;
  TmSlot slot;
  gint order;             /* within its slot */
  guint appearance;
  gboolean is_norm;
  char *name;             /* lower case, relative to the card */
} TmCardItem;

typedef struct
{
  TmPlan *plan;
  TmModule *card;
  GArray *items;        /* TmCardItem */
  GHashTable *sections; /* module below the card → section + 1 of its first layer that has one */
  gboolean any_role;
} TmCard;

/* By its role, else by the module it hangs in. */
void tm_card_place_layer (TmCard *card, TmCardItem *item, const char *role);
/* A norm, once the layers have their places. used: sections that hold layers. */
void tm_card_place_norm (TmCard *card, TmCardItem *item, gboolean has_pre_feed_forward, const gboolean *used);

G_END_DECLS
