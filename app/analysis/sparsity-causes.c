#include "analysis/sparsity-causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define STEP_TOLERANCE 1e-6f /* of a step: float arithmetic */
#define EVEN 0.01            /* levels next to zero that are as evenly spaced as this count as even */

TmZeroCause
tm_zero_piece_classify (const TmZeroPiece *piece, gsize i, gboolean *without_scale)
{
  float x, step;
  gboolean is_zero = piece->value[i] == 0, at_end;

  *without_scale = FALSE;
  if (piece->reference == NULL || !isfinite (piece->reference[i]))
    return is_zero ? TM_ZERO_PLAIN : TM_ZERO_NONE;
  x = piece->reference[i];
  if (!is_zero)
    return x == 0 ? TM_ZERO_REVIVED : TM_ZERO_NONE;
  if (x == 0)
    return TM_ZERO_PRUNED;
  if (piece->scale == NULL || !piece->steps->defined)
    return TM_ZERO_ROUNDED;
  *without_scale = piece->scale[i] == 0;
  step = tm_steps_get (piece->steps, piece->scale[i], piece->raw != NULL ? piece->raw[i] : 0, (double) -x, &at_end);
  if (step > 0 && fabsf (x) > step * (0.5f + STEP_TOLERANCE) + fabsf (x) * (piece->steps->tolerance + piece->rounded))
    return TM_ZERO_FORCED;
  return TM_ZERO_ROUNDED;
}

/* --- Pool --------------------------------------------------------------------------------------------------------- */

void
tm_zero_pool_add (TmZeroPool *pool, const TmZeroPiece *piece, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      double level = (double) piece->value[i] / (double) piece->scale[i];

      if (piece->scale[i] == 0)
        {
          pool->zero_scale++;
          continue;
        }
      if (!isfinite (level))
        continue;
      pool->of++;
      if (piece->raw == NULL)
        pool->steps[lrint (CLAMP (level, -TM_POOL_REACH, TM_POOL_REACH)) + TM_POOL_REACH]++;
      else if (piece->raw[i] >= 0 && piece->raw[i] < TM_STEP_CODES && pool->count[piece->raw[i]]++ == 0)
        pool->level[piece->raw[i]] = level;
    }
}

void
tm_zero_pool_merge (TmZeroPool *pool, const TmZeroPool *other)
{
  pool->of += other->of;
  pool->zero_scale += other->zero_scale;
  for (guint i = 0; i < G_N_ELEMENTS (pool->steps); i++)
    pool->steps[i] += other->steps[i];
  for (guint i = 0; i < TM_STEP_CODES; i++)
    {
      if (pool->count[i] == 0)
        pool->level[i] = other->level[i];
      pool->count[i] += other->count[i];
    }
}

typedef struct
{
  double level;
  guint64 count;
} Level;

static int
compare_levels (gconstpointer a, gconstpointer b)
{
  const Level *x = a, *y = b;

  return x->level < y->level ? -1 : x->level > y->level ? 1 : 0;
}

/* Levels in use, ascending, codes of one level together. Returns how many. */
static guint
sort_levels (const TmZeroPool *pool, Level *levels)
{
  guint n = 0, kept = 0;

  for (guint i = 0; i < TM_STEP_CODES; i++)
    if (pool->count[i] > 0)
      levels[n++] = (Level){ pool->level[i], pool->count[i] };
  qsort (levels, n, sizeof *levels, compare_levels);
  for (guint i = 0; i < n; i++)
    if (kept > 0 && fabs (levels[i].level - levels[kept - 1].level) <= 1e-5 * fabs (levels[i].level))
      levels[kept - 1].count += levels[i].count;
    else
      levels[kept++] = levels[i];
  return kept;
}

static void
estimate_uneven (const TmZeroPool *pool, guint code_bits, TmSparsityEstimate *estimate)
{
  Level levels[TM_STEP_CODES];
  guint n = sort_levels (pool, levels), zero = 0;
  guint64 above[2], below[2];
  double gap;

  while (zero < n && levels[zero].level != 0)
    zero++;
  if (zero == n)
    {
      estimate->why = "no element has a code for zero";
      return;
    }
  if (zero < 2 || zero + 2 >= n)
    {
      estimate->why = "there are no two codes in use on either side of zero";
      return;
    }
  gap = levels[zero + 1].level;
  if (fabs (levels[zero + 2].level - 2 * gap) > EVEN * gap || fabs (levels[zero - 1].level + gap) > EVEN * gap
      || fabs (levels[zero - 2].level + 2 * gap) > EVEN * gap)
    {
      estimate->why = "codes next to zero are not evenly spaced, or not all in use";
      return;
    }
  for (guint i = 0; i < 2; i++)
    {
      above[i] = levels[zero + 1 + i].count;
      below[i] = levels[zero - 1 - i].count;
    }
  tm_sparsity_estimate (pool->of, levels[zero].count, above, below, code_bits, n, estimate);
}

void
tm_zero_pool_estimate (const TmZeroPool *pool, const TmSteps *steps, guint code_bits, TmSparsityEstimate *estimate)
{
  const guint64 *at = pool->steps + TM_POOL_REACH;
  guint used = 0;

  *estimate = (TmSparsityEstimate){ .verdict = TM_ESTIMATE_UNTOLD, .of = pool->of };
  if (!steps->defined)
    estimate->why = "one code stands for several elements";
  else if (steps->leveled)
    estimate_uneven (pool, code_bits, estimate);
  else
    {
      const guint64 above[2] = { at[1], at[2] }, below[2] = { at[-1], at[-2] };
      guint64 all_below = 0, all_above = 0;

      for (gint i = 1; i <= TM_POOL_REACH; i++)
        {
          all_below += at[-i];
          all_above += at[i];
        }
      for (guint i = 0; i < G_N_ELEMENTS (pool->steps); i++)
        used += pool->steps[i] > 0;
      /* Weights of one sign: the zero point was cut to the end of the codes. */
      if (all_below == 0 && all_above > 0)
        tm_sparsity_estimate (pool->of, at[0], above, NULL, code_bits, used, estimate);
      else if (all_above == 0 && all_below > 0)
        tm_sparsity_estimate (pool->of, at[0], below, NULL, code_bits, used, estimate);
      else
        tm_sparsity_estimate (pool->of, at[0], above, below, code_bits, used, estimate);
    }
  if (pool->zero_scale > 0 && (estimate->verdict == TM_ESTIMATE_ROUNDING || estimate->verdict == TM_ESTIMATE_PRUNED))
    {
      /* Groups without a scale were nothing but zeros. */
      estimate->verdict = TM_ESTIMATE_PRUNED;
      estimate->pruned_low += (double) pool->zero_scale;
      estimate->pruned_high += (double) pool->zero_scale;
    }
}

/* --- For pictures ------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmModel *model;
  TmAlignment *alignment;      /* or NULL */
  const TmAlignedPair *pair;   /* or NULL */
  const TmTensor *tensor;
  GMutex lock;
  TmSteps *steps;              /* found when first asked for */
} Causes;

static Causes *
new_causes (TmModel *model, TmAlignment *alignment, guint tensor)
{
  Causes *causes = g_new0 (Causes, 1);

  causes->model = g_object_ref (model);
  causes->alignment = alignment != NULL ? tm_alignment_ref (alignment) : NULL;
  causes->pair = alignment != NULL ? tm_alignment_find (alignment, tensor) : NULL;
  causes->tensor = tm_model_tensor (model, tensor);
  g_mutex_init (&causes->lock);
  return causes;
}

static void
free_causes (gpointer data)
{
  Causes *causes = data;

  if (causes->alignment != NULL)
    tm_alignment_unref (causes->alignment);
  g_object_unref (causes->model);
  g_mutex_clear (&causes->lock);
  g_free (causes->steps);
  g_free (causes);
}

static const TmSteps *
get_steps (Causes *causes, GCancellable *cancellable, GError **error)
{
  TmSteps *steps;

  g_mutex_lock (&causes->lock);
  steps = causes->steps;
  if (steps == NULL)
    {
      steps = g_new0 (TmSteps, 1);
      if (tm_steps_init (steps, causes->model, causes->tensor, cancellable, error))
        causes->steps = steps;
      else
        g_clear_pointer (&steps, g_free);
    }
  g_mutex_unlock (&causes->lock);
  return steps;
}

#define PIECE 4096u

/* Plain zeros of groups whose scale is 0. */
static gboolean
find_no_scale (const TmTensor *tensor, guint64 first, gsize n, guint8 *causes, float *scale, GCancellable *cancellable,
               GError **error)
{
  if (!tensor->quantized || !tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE) || memchr (causes, TM_ZERO_PLAIN, n) == NULL)
    return TRUE;
  if (!tm_tensor_decode (tensor, TM_QUANTITY_SCALE, first, n, scale, cancellable, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (causes[i] == TM_ZERO_PLAIN && scale[i] == 0)
      causes[i] = TM_ZERO_NO_SCALE;
  return TRUE;
}

static gboolean
classify_piece (Causes *causes, guint64 first, gsize n, guint8 *out, GCancellable *cancellable, GError **error)
{
  float value[PIECE], reference[PIECE], scale[PIECE];
  gint32 raw[PIECE];
  TmZeroPiece piece = { .value = value };
  gboolean without_scale;

  if (!tm_tensor_decode (causes->tensor, TM_QUANTITY_VALUE, first, n, value, cancellable, error))
    return FALSE;
  if (causes->pair != NULL)
    {
      piece.steps = get_steps (causes, cancellable, error);
      if (piece.steps == NULL || !tm_reading_decode (causes->pair->reading, first, n, reference, cancellable, error))
        return FALSE;
      piece.reference = reference;
      piece.rounded = tm_reading_get_rounding (causes->pair->reading);
      piece.scale = piece.steps->defined ? scale : NULL;
      piece.raw = piece.steps->leveled ? raw : NULL;
      if ((piece.scale != NULL && !tm_tensor_decode (causes->tensor, TM_QUANTITY_SCALE, first, n, scale, cancellable, error))
          || (piece.scale != NULL && piece.raw != NULL
              && !tm_tensor_decode_raw (causes->tensor, first, n, raw, cancellable, error)))
        return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    out[i] = (guint8) tm_zero_piece_classify (&piece, i, &without_scale);
  return causes->pair != NULL || find_no_scale (causes->tensor, first, n, out, scale, cancellable, error);
}

static gboolean
classify (Causes *causes, guint64 first, gsize count, guint8 *out, GCancellable *cancellable, GError **error)
{
  while (count > 0)
    {
      gsize n = MIN (count, PIECE);

      if (!classify_piece (causes, first, n, out, cancellable, error))
        return FALSE;
      first += n;
      out += n;
      count -= n;
    }
  return TRUE;
}

gboolean
tm_sparsity_classify (TmModel *model, TmAlignment *alignment, guint tensor, guint64 first, gsize count, guint8 *causes,
                      GCancellable *cancellable, GError **error)
{
  Causes *of = new_causes (model, alignment, tensor);
  gboolean ok = classify (of, first, count, causes, cancellable, error);

  free_causes (of);
  return ok;
}

static gboolean
decode_causes (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  guint8 causes[PIECE];

  while (count > 0)
    {
      gsize n = MIN (count, PIECE);

      if (!classify_piece (tensor->codec_data, first, n, causes, NULL, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = (float) causes[i];
      first += n;
      out += n;
      count -= n;
    }
  return TRUE;
}

static const TmCodec cause_codec = { .name = "zeros by cause", .values = decode_causes, .free_data = free_causes };

static TmTensor *
make_cause_tensor (TmModel *model, TmAlignment *alignment, guint index)
{
  const TmTensor *candidate = tm_model_tensor (model, index);
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->name = g_strdup (candidate->name);
  tensor->dtype = TM_DTYPE_F32;
  tensor->dtype_label = "zeros";
  tensor->symmetric = -1;
  tensor->rank = candidate->rank;
  tensor->shape = g_memdup2 (candidate->shape, candidate->rank * sizeof *candidate->shape);
  tensor->stride = g_memdup2 (candidate->stride, candidate->stride != NULL ? candidate->rank * sizeof *candidate->stride : 0);
  tensor->n_elements = candidate->n_elements;
  tensor->bytes = candidate->bytes;
  tensor->granularity = candidate->granularity != NULL ? tm_granularity_ref (candidate->granularity) : NULL;
  tensor->values = candidate->values; /* alive as long as the model, which the new one keeps */
  tensor->module = candidate->module;
  tensor->fault = g_strdup (candidate->fault);
  if (tensor->fault == NULL)
    {
      tensor->codec = &cause_codec;
      tensor->codec_data = new_causes (model, alignment, index);
    }
  return tensor;
}

TmModel *
tm_sparsity_new_cause_model (TmModel *model, TmAlignment *alignment)
{
  TmModel *causes = tm_model_new (model->path);

  g_object_set_data_full (G_OBJECT (causes), "tm-model", g_object_ref (model), g_object_unref);
  for (guint i = 0; i < model->tensors->len; i++)
    g_ptr_array_add (causes->tensors, make_cause_tensor (model, alignment, i));
  tm_model_seal (causes);
  return causes;
}
