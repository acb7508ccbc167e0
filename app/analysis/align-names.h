/* One key for one thing, whatever a format calls it: "blk.3.attn_q.weight" for "model.layers.3.self_attn.q_proj.weight". */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef struct
{
  char *key;         /* numbers of blocks in it, experts not; an unlisted name without its containers */
  const char *kind;  /* "attn_q": the last part of a listed key without block and ending, static; NULL for an unlisted name */
  gint64 expert;     /* −1: none, or all of them stacked */
  gboolean bias;
  gboolean post_norm; /* the name says "after attention", which is two different norms: see tm_name_key_set_post_norm() */
} TmNameKey;

void tm_name_key_clear (TmNameKey *key);
void tm_name_key_init (TmNameKey *key, const char *name);

/* "post_attention_layernorm" is the feed-forward norm, unless the model has a "pre_feedforward_layernorm" too. */
void tm_name_key_set_post_norm (TmNameKey *key);

/* The key of another kind in the same block: "blk.3.attn_qkv.weight". (transfer full) */
char *tm_name_key_sibling (const TmNameKey *key, const char *kind);

G_END_DECLS
