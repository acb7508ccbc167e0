/* What converters do to weights, as readings to try: a pair's hypotheses, and the decision between them by error. Every
 * maker adds to hypotheses what fits the shapes, and nothing where nothing fits. */
#pragma once

#include "analysis/align-names.h"
#include "analysis/reading.h"

G_BEGIN_DECLS

#define TM_MAX_HEAD_COUNTS 4

typedef struct
{
  TmModel *candidate, *reference;
  gboolean candidate_is_gguf, reference_is_gguf;
  struct { guint64 heads, kv; } heads[TM_MAX_HEAD_COUNTS]; /* what metadata and config of both sides say */
  guint n_heads;
  /* Linear attention: key heads, value heads, and rows of one of each; 0 where that is not told. */
  struct { guint64 keys, values, key_size, value_size; } linear[TM_MAX_HEAD_COUNTS];
  guint n_linear;
} TmTransforms;

void tm_transforms_init (TmTransforms *transforms, TmModel *candidate, TmModel *reference);

/* Tier 0 is always tried, tier 1 only where nothing of tier 0 fits well. */
typedef struct
{
  TmReading *reading;
  guint tier;
} TmHypothesis;

GArray *tm_hypotheses_new (void); /* of TmHypothesis; owns the readings */

/* One tensor for one. */
void tm_transforms_add_single (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate, guint reference,
                               GArray *hypotheses);
/* Stacked experts from one tensor an expert (references: as many as the first axis is long), and back. */
void tm_transforms_add_stack (const TmTransforms *transforms, const TmTensor *candidate, const guint *references, guint n,
                              GArray *hypotheses);
void tm_transforms_add_expert (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 expert,
                               GArray *hypotheses);
/* All of q, k, v from one tensor each; one of them (which: 0 1 2) from the fused one. */
void tm_transforms_add_qkv_join (const TmTransforms *transforms, const TmTensor *candidate, const guint references[3],
                                 GArray *hypotheses);
void tm_transforms_add_qkv_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                 GArray *hypotheses);
/* Gate (which 0) or up (1) from the fused one, of one or of all experts; both joined. */
void tm_transforms_add_gate_up_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                     GArray *hypotheses);
void tm_transforms_add_gate_up_join (const TmTransforms *transforms, const TmTensor *candidate, guint gate, guint up,
                                     GArray *hypotheses);
/* Multi-head latent attention: k_b or v_b (which 0 1) from kv_b, and kv_b from both. */
void tm_transforms_add_latent_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                    GArray *hypotheses);
void tm_transforms_add_latent_join (const TmTransforms *transforms, const TmTensor *candidate, guint k_b, guint v_b,
                                    GArray *hypotheses);

/* Linear attention: its q, k, v (which 0) or its gate (1) from the projection that makes all of them, a key head at a time,
 * and that from both. */
void tm_transforms_add_qkvz_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                  GArray *hypotheses);
void tm_transforms_add_qkvz_join (const TmTransforms *transforms, const TmTensor *candidate, guint qkv, guint gate,
                                  GArray *hypotheses);

/* How a reading fits, on a fixed sample of some ten thousand elements. */
typedef struct
{
  guint64 n; /* finite on both sides */
  double error, power; /* Σ e², Σ x² */
  double correlation;  /* means taken off; 0 where one side is constant */
} TmFit;

/* The best of the hypotheses, taken out of the array; an earlier one stays unless the other's error is clearly smaller. NULL:
 * there is none, or the sample cannot be read (then error is set). */
TmReading *tm_hypotheses_decide (GArray *hypotheses, const TmTensor *candidate, TmFit *fit, GCancellable *cancellable,
                                 GError **error);

G_END_DECLS
