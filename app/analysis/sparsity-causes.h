/* Zeros told apart, element by element. Internal to sparsity. */
#pragma once

#include "analysis/sparsity.h"
#include "analysis/steps.h"

G_BEGIN_DECLS

typedef struct
{
  const TmSteps *steps;     /* defined or not */
  const float *value, *reference, *scale; /* reference: NaN where there is none; NULL: nowhere. scale NULL: no steps */
  const gint32 *raw;        /* NULL: all codes are evenly spaced */
  float rounded;            /* the reference may be a rounded copy: largest error, as a share of its value */
} TmZeroPiece;

/* Of element i. without_scale: it is rounded, and its group has no scale. */
TmZeroCause tm_zero_piece_classify (const TmZeroPiece *piece, gsize i, gboolean *without_scale);

/* How an element counts towards the estimate. */
#define TM_POOL_REACH 16
typedef struct
{
  guint64 of;                              /* elements with a scale, finite */
  guint64 steps[2 * TM_POOL_REACH + 1];    /* even codes: elements so many steps from zero */
  guint64 count[TM_STEP_CODES];            /* uneven codes */
  double level[TM_STEP_CODES];             /* of a code with a count, in scales */
  guint64 zero_scale;                      /* elements whose scale is 0 */
} TmZeroPool;

void tm_zero_pool_add (TmZeroPool *pool, const TmZeroPiece *piece, gsize n);
void tm_zero_pool_merge (TmZeroPool *pool, const TmZeroPool *other);
void tm_zero_pool_estimate (const TmZeroPool *pool, const TmSteps *steps, guint code_bits, TmSparsityEstimate *estimate);

G_END_DECLS
