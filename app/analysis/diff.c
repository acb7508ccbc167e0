#include "analysis/diff.h"

#include <math.h>
#include <string.h>

#include "analysis/diff-sums.h"
#include "io/error.h"

#define CHUNK 1048576u     /* elements that one thread takes at a time */
#define MAX_CHUNK 8388608u /* where the reference lies across, tall chunks save reads */
#define TALL_ROWS 64u
#define PIECE 65536u  /* decoded at once: fits in a core's cache */
#define ROUNDED_AT_LEAST 0.05 /* of the errors that a rounded reference is expected to make */
#define ROUNDED_REST 0.001    /* share that may be over half a step all the same */
#define EXPLAINS 0.01 /* of the squared error is left, where a constant is said to explain it */

/* --- One tensor under way ----------------------------------------------------------------------------------------- */

typedef struct
{
  const TmAlignedPair *pair;
  const TmTensor *tensor;
  TmDiffTensor *result;
  TmSteps *steps;
  gsize once; /* steps were asked for */
  TmGroupLayout layout;
  gboolean transposed, has_offset, wide;
  float rounded;       /* half a unit in the last place, of a reference of 16 bits */
  guint64 n, chunk; /* elements compared, of a chunk */
  guint64 first_item, n_items;
  GMutex lock;
  guint64 next;        /* chunk to merge next */
  GHashTable *waiting; /* chunk number → TmDiffSums, done before their turn */
  TmDiffSums *sums;
  GArray *worst;
  char *fault;
} Comparison;

typedef struct
{
  float *y, *x, *scale, *offset;
  gint32 *raw;
  gsize x_size;
} Buffers;

typedef struct
{
  TmAlignment *alignment;
  Comparison *comparison;
  guint n;
  Buffers *buffers; /* of each thread */
  GMutex lock;
  TmProgressFunc progress;
  gpointer progress_data;
  guint64 n_elements, n_done;
  GCancellable *cancellable;
} Run;

/* Errors are even up to rounded / m for mantissas m of 1 … 2; what is beyond t of them: the mean of (1 / m − t)² m / 2. */
static float
get_rounded_mean (float rounded, float tolerance)
{
  float t = rounded > 0 ? tolerance / rounded : 1;

  return t < 0.5f ? rounded * (0.3466f - t + 0.75f * t * t) : 0;
}

static void
init_comparison (Comparison *comparison, const TmAlignment *alignment, const TmAlignedPair *pair)
{
  const TmReading *reading = pair->reading;

  comparison->pair = pair;
  comparison->tensor = tm_model_tensor (alignment->candidate, pair->candidate);
  comparison->n = MIN (reading->rows * reading->columns, comparison->tensor->n_elements);
  comparison->transposed = tm_reading_is_transposed (reading);
  comparison->has_offset = tm_tensor_has_quantity (comparison->tensor, TM_QUANTITY_OFFSET);
  comparison->rounded = tm_reading_get_rounding (reading);
  comparison->wide = tm_diff_is_wide (comparison->tensor, reading);
  comparison->chunk = CHUNK;
  if (comparison->transposed && !comparison->wide)
    comparison->chunk
        = CLAMP (MIN (reading->columns, MAX_CHUNK) * TALL_ROWS, CHUNK, MAX_CHUNK) / reading->columns * reading->columns;
  if (comparison->chunk == 0)
    comparison->chunk = MAX_CHUNK;
  comparison->n_items = (comparison->n + comparison->chunk - 1) / comparison->chunk;
  tm_group_layout_init (&comparison->layout, comparison->tensor);
  comparison->waiting = g_hash_table_new (g_int64_hash, g_int64_equal);
  comparison->sums = g_new0 (TmDiffSums, 1);
  comparison->worst = g_array_new (FALSE, FALSE, sizeof (TmDiffGroup));
  comparison->result = g_new0 (TmDiffTensor, 1);
  comparison->result->pair = pair;
  g_mutex_init (&comparison->lock);
}

typedef struct
{
  guint64 number;
  TmDiffSums *sums;
} Waiting;

static void
clear_comparison (Comparison *comparison)
{
  GHashTableIter iter;
  gpointer waiting;

  g_hash_table_iter_init (&iter, comparison->waiting);
  while (g_hash_table_iter_next (&iter, NULL, &waiting))
    {
      tm_diff_sums_free (((Waiting *) waiting)->sums);
      g_free (waiting);
    }
  g_hash_table_unref (comparison->waiting);
  tm_diff_sums_free (comparison->sums);
  g_array_unref (comparison->worst);
  g_free (comparison->steps);
  g_free (comparison->fault);
  g_mutex_clear (&comparison->lock);
}

/* --- Chunks ------------------------------------------------------------------------------------------------------- */

typedef struct
{
  const Comparison *comparison;
  Buffers *buffers;
  guint64 first;
  gsize count;
  GCancellable *cancellable;
} Codes;

static const gint32 *
fetch_raw (gpointer data, GError **error)
{
  const Codes *codes = data;

  return tm_tensor_decode_raw (codes->comparison->tensor, codes->first, codes->count, codes->buffers->raw,
                               codes->cancellable, error)
             ? codes->buffers->raw
             : NULL;
}

static const float *
fetch_offset (gpointer data, GError **error)
{
  const Codes *codes = data;
  Buffers *buffers = codes->buffers;

  if (buffers->offset == NULL)
    buffers->offset = g_new (float, PIECE);
  return tm_tensor_decode (codes->comparison->tensor, TM_QUANTITY_OFFSET, codes->first, codes->count, buffers->offset,
                           codes->cancellable, error)
             ? buffers->offset
             : NULL;
}

static void
grow_buffers (Buffers *buffers, gsize x_size)
{
  if (buffers->y == NULL)
    {
      buffers->y = g_new (float, PIECE);
      buffers->scale = g_new (float, PIECE);
      buffers->raw = g_new (gint32, PIECE);
    }
  if (buffers->x_size < x_size)
    {
      g_free (buffers->x);
      buffers->x = g_new (float, x_size);
      buffers->x_size = x_size;
    }
}

static gboolean
sum_chunk (const Run *run, Comparison *comparison, Buffers *buffers, guint64 first, guint64 count, TmDiffSums *sums,
           GError **error)
{
  const TmReading *reading = comparison->pair->reading;

  if (comparison->wide)
    {
      for (guint64 at = 0; at < count; at += PIECE)
        {
          TmDiffWidePiece piece = { .tensor = comparison->tensor,
                                    .reading = reading,
                                    .layout = &comparison->layout,
                                    .first = first + at,
                                    .count = (gsize) MIN (count - at, PIECE),
                                    .cancellable = run->cancellable };

          if (!tm_diff_sums_add_wide (sums, &piece, error) || !tm_work_pause (run->cancellable, error))
            return FALSE;
        }
      return TRUE;
    }
  grow_buffers (buffers, comparison->transposed ? (gsize) count : PIECE);
  if (comparison->transposed && !tm_reading_decode (reading, first, (gsize) count, buffers->x, run->cancellable, error))
    return FALSE;
  for (guint64 at = 0; at < count;)
    {
      gsize n = (gsize) MIN (count - at, PIECE);
      Codes codes = { comparison, buffers, first + at, n, run->cancellable };
      TmDiffPiece piece = { .steps = comparison->steps,
                            .layout = &comparison->layout,
                            .first = first + at,
                            .count = n,
                            .y = buffers->y,
                            .x = comparison->transposed ? buffers->x + at : buffers->x,
                            .scale = comparison->steps->defined ? buffers->scale : NULL,
                            .fetch_raw = fetch_raw,
                            .fetch_offset = comparison->has_offset ? fetch_offset : NULL,
                            .rounded = comparison->rounded,
                            .rounded_mean = get_rounded_mean (comparison->rounded, comparison->steps->tolerance),
                            .data = &codes };

      if ((!comparison->transposed && !tm_reading_decode (reading, first + at, n, piece.x, run->cancellable, error))
          || !tm_tensor_decode (comparison->tensor, TM_QUANTITY_VALUE, first + at, n, piece.y, run->cancellable, error)
          || (piece.scale != NULL
              && !tm_tensor_decode (comparison->tensor, TM_QUANTITY_SCALE, first + at, n, piece.scale, run->cancellable,
                                    error))
          || !tm_diff_sums_add (sums, &piece, error) || !tm_work_pause (run->cancellable, error))
        return FALSE;
      at += n;
    }
  return TRUE;
}

/* Chunks are merged in their order, so that the sums are the same whatever thread was first. */
static void
hand_in (Comparison *comparison, guint64 number, TmDiffSums *sums)
{
  Waiting *waiting = g_new (Waiting, 1);

  *waiting = (Waiting) { number, sums };
  g_mutex_lock (&comparison->lock);
  g_hash_table_insert (comparison->waiting, &waiting->number, waiting);
  while ((waiting = g_hash_table_lookup (comparison->waiting, &comparison->next)) != NULL)
    {
      g_hash_table_remove (comparison->waiting, &comparison->next);
      tm_diff_sums_merge (comparison->sums, waiting->sums, comparison->worst);
      g_free (waiting);
      comparison->next++;
    }
  g_mutex_unlock (&comparison->lock);
}

static gboolean
prepare (const Run *run, Comparison *comparison, GError **error)
{
  gboolean ok = TRUE;

  g_mutex_lock (&comparison->lock);
  if (comparison->steps == NULL)
    {
      comparison->steps = g_new0 (TmSteps, 1);
      ok = tm_steps_init (comparison->steps, run->alignment->candidate, comparison->tensor, run->cancellable, error);
    }
  ok = ok && comparison->fault == NULL;
  g_mutex_unlock (&comparison->lock);
  return ok;
}

static void
report (Run *run, const Comparison *comparison, guint64 count)
{
  g_mutex_lock (&run->lock);
  run->n_done += count;
  if (run->progress != NULL)
    run->progress ((double) run->n_done / (double) MAX (run->n_elements, 1), comparison->tensor->name,
                   run->progress_data);
  g_mutex_unlock (&run->lock);
}

static gboolean
compare_chunk (guint64 item, guint thread, gpointer data, GError **error)
{
  Run *run = data;
  Comparison *comparison = &run->comparison[tm_work_find_task (&run->comparison->first_item, sizeof *run->comparison, run->n, item)];
  guint64 number = item - comparison->first_item, first = number * comparison->chunk;
  guint64 count = MIN (comparison->n - first, comparison->chunk);
  g_autoptr (GError) unread = NULL;
  TmDiffSums *sums = NULL;

  if (prepare (run, comparison, &unread))
    {
      sums = tm_diff_sums_new (&comparison->layout, first, count);
      if (sum_chunk (run, comparison, &run->buffers[thread], first, count, sums, &unread))
        hand_in (comparison, number, g_steal_pointer (&sums));
      tm_diff_sums_free (sums);
    }
  if (g_error_matches (unread, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&unread));
      return FALSE;
    }
  if (unread != NULL)
    {
      g_mutex_lock (&comparison->lock);
      if (comparison->fault == NULL)
        comparison->fault = g_strdup (unread->message);
      g_mutex_unlock (&comparison->lock);
    }
  report (run, comparison, count);
  return TRUE;
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

static double
get_sqnr (double sum_xx, double sum_ee)
{
  if (!(sum_ee > 0))
    return (double) INFINITY;
  return 10 * log10 (MAX (sum_xx, 0) / sum_ee); /* of zero: minus infinity */
}

/* Whether y = x + offset, or y = ratio × x, leaves nearly nothing of the error. */
static void
find_constant (TmDiffTensor *result)
{
  double n = (double) result->n, mean = result->sum_e / n;
  double without_offset = MAX (result->sum_ee - n * mean * mean, 0);
  double sum_xy = (result->sum_xx + result->sum_yy - result->sum_ee) / 2;
  double ratio = result->sum_xx > 0 ? sum_xy / result->sum_xx : 0;
  double without_ratio = MAX (result->sum_yy - ratio * sum_xy, 0);
  gboolean offset_explains = without_offset <= EXPLAINS * result->sum_ee;
  gboolean ratio_explains = result->sum_xx > 0 && without_ratio <= EXPLAINS * result->sum_ee;

  if (!(result->sum_ee > 0) || result->n < 8)
    return;
  result->has_offset = offset_explains && (!ratio_explains || without_offset <= without_ratio);
  result->has_ratio = ratio_explains && !result->has_offset;
  result->offset = mean;
  result->ratio = ratio;
}

static void
finish_tensor (Comparison *comparison)
{
  TmDiffTensor *result = comparison->result;
  TmDiffSums *sums = comparison->sums;
  guint64 close;

  result->fault = g_steal_pointer (&comparison->fault);
  if (result->fault == NULL && sums->n == 0 && comparison->n > 0
      && sums->n_same_nonfinite + sums->n_other_nonfinite == 0)
    result->fault = g_strdup ("it was not compared");
  tm_diff_sums_finish (sums, comparison->worst);
  result->n = sums->n;
  result->n_same_nonfinite = sums->n_same_nonfinite;
  result->n_other_nonfinite = sums->n_other_nonfinite;
  result->sum_xx = sums->sum_xx;
  result->sum_yy = sums->sum_yy;
  result->sum_ee = sums->sum_ee;
  result->sum_e = sums->sum_e;
  result->max_abs = sums->max_abs;
  result->max_at = sums->max_at;
  result->exact = !(sums->max_abs > 0) && sums->n_other_nonfinite == 0;
  result->mse = sums->n > 0 ? sums->sum_ee / (double) sums->n : 0;
  result->sqnr_db = get_sqnr (sums->sum_xx, sums->sum_ee);
  result->cosine = (double) NAN;
  if (sums->sum_xx > 0 && sums->sum_yy > 0)
    result->cosine
        = CLAMP ((sums->sum_xx + sums->sum_yy - sums->sum_ee) / 2 / sqrt (sums->sum_xx) / sqrt (sums->sum_yy), -1, 1);
  find_constant (result);

  result->has_steps = sums->n_stepped > 0;
  result->n_stepped = sums->n_stepped;
  result->n_over = sums->n_over;
  result->n_clipped = sums->n_clipped;
  /* A reference of 16 bits may be a rounded copy of what was quantized. Then about as many errors as that explains are a
   * little over half a step, and nearly none that are not clipped are over by more. */
  close = (sums->n_over - sums->n_clipped) - (sums->n_over_rounded - sums->n_clipped_rounded);
  if (close > 0 && (double) close >= ROUNDED_AT_LEAST * sums->expected_over
      && (double) (sums->n_over_rounded - sums->n_clipped_rounded) <= ROUNDED_REST * (double) sums->n_stepped)
    {
      result->rounded_reference = TRUE;
      result->n_over = sums->n_over_rounded;
      result->n_clipped = sums->n_clipped_rounded;
    }
  result->over_half_step = result->clipped = (double) NAN;
  if (result->has_steps)
    {
      result->over_half_step = (double) result->n_over / (double) sums->n_stepped;
      result->clipped = (double) result->n_clipped / (double) sums->n_stepped;
      result->rms_steps = sqrt (sums->sum_steps2 / (double) sums->n_stepped);
    }
  result->max_steps = sums->max_steps;
  memcpy (result->histogram, sums->histogram, sizeof result->histogram);
  result->below = sums->below;
  result->above = sums->above;
  result->n_worst = comparison->worst->len;
  result->worst = g_memdup2 (comparison->worst->data, comparison->worst->len * sizeof (TmDiffGroup));
}

static void
free_tensor (gpointer data)
{
  TmDiffTensor *tensor = data;

  g_free (tensor->fault);
  g_free (tensor->worst);
  g_free (tensor);
}

/* Worst first: what is not finite on one side alone, then by SQNR, then by error, then in the candidate's order. */
static int
compare_results (gconstpointer a, gconstpointer b)
{
  const TmDiffTensor *x = *(const TmDiffTensor *const *) a, *y = *(const TmDiffTensor *const *) b;
  gboolean x_other = x->n_other_nonfinite > 0, y_other = y->n_other_nonfinite > 0;

  if ((x->fault != NULL) != (y->fault != NULL))
    return x->fault != NULL ? 1 : -1;
  if (x_other != y_other)
    return x_other ? -1 : 1;
  if (x->sqnr_db != y->sqnr_db)
    return x->sqnr_db < y->sqnr_db ? -1 : 1;
  if (x->mse != y->mse)
    return x->mse > y->mse ? -1 : 1;
  return x->pair->candidate < y->pair->candidate ? -1 : 1;
}

static void
add_to_total (TmDiffTotal *total, const TmDiffTensor *tensor)
{
  if (tensor->fault != NULL)
    return;
  total->tensors++;
  total->parameters += tensor->n;
  total->sum_xx += tensor->sum_xx;
  total->sum_ee += tensor->sum_ee;
  total->max_abs = MAX (total->max_abs, tensor->max_abs);
  if (total->worst == NULL || compare_results (&tensor, &total->worst) < 0)
    total->worst = tensor;
}

static TmDiff *
collect (const Run *run)
{
  TmDiff *diff = g_new0 (TmDiff, 1);

  diff->ref_count = 1;
  diff->alignment = tm_alignment_ref (run->alignment);
  diff->tensors = g_ptr_array_new_with_free_func (free_tensor);
  diff->of_pair = g_new0 (TmDiffTensor *, run->n + 1);
  for (guint i = 0; i < run->n; i++)
    {
      finish_tensor (&run->comparison[i]);
      diff->of_pair[i] = g_steal_pointer (&run->comparison[i].result);
      g_ptr_array_add (diff->tensors, diff->of_pair[i]);
      add_to_total (&diff->total, diff->of_pair[i]);
    }
  diff->total.sqnr_db = get_sqnr (diff->total.sum_xx, diff->total.sum_ee);
  g_ptr_array_sort (diff->tensors, compare_results);
  return diff;
}

TmDiff *
tm_diff_run (TmAlignment *alignment, TmProgressFunc progress, gpointer data, GCancellable *cancellable, GError **error)
{
  Run run = { .alignment = alignment,
              .n = alignment->pairs->len,
              .progress = progress,
              .progress_data = data,
              .cancellable = cancellable };
  guint64 n_items = 0;
  TmDiff *diff = NULL;

  run.comparison = g_new0 (Comparison, run.n + 1);
  run.buffers = g_new0 (Buffers, tm_work_get_threads ());
  g_mutex_init (&run.lock);
  for (guint i = 0; i < run.n; i++)
    {
      init_comparison (&run.comparison[i], alignment, tm_alignment_pair (alignment, i));
      run.comparison[i].first_item = n_items;
      n_items += run.comparison[i].n_items;
      run.n_elements += run.comparison[i].n;
    }
  if (tm_work_run (n_items, compare_chunk, &run, cancellable, error))
    diff = collect (&run);

  for (guint i = 0; i < run.n; i++)
    {
      if (run.comparison[i].result != NULL)
        free_tensor (run.comparison[i].result);
      clear_comparison (&run.comparison[i]);
    }
  for (guint i = 0; i < tm_work_get_threads (); i++)
    {
      g_free (run.buffers[i].y);
      g_free (run.buffers[i].x);
      g_free (run.buffers[i].scale);
      g_free (run.buffers[i].offset);
      g_free (run.buffers[i].raw);
    }
  g_free (run.buffers);
  g_free (run.comparison);
  g_mutex_clear (&run.lock);
  return diff;
}

TmDiff *
tm_diff_ref (TmDiff *diff)
{
  g_atomic_int_inc (&diff->ref_count);
  return diff;
}

void
tm_diff_unref (TmDiff *diff)
{
  if (diff == NULL || !g_atomic_int_dec_and_test (&diff->ref_count))
    return;
  g_ptr_array_unref (diff->tensors);
  g_free (diff->of_pair);
  tm_alignment_unref (diff->alignment);
  g_free (diff);
}

const TmDiffTensor *
tm_diff_find (const TmDiff *diff, guint candidate)
{
  guint low = 0, high = diff->alignment->pairs->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2, at = tm_alignment_pair (diff->alignment, middle)->candidate;

      if (at == candidate)
        return diff->of_pair[middle];
      if (at < candidate)
        low = middle + 1;
      else
        high = middle;
    }
  return NULL;
}

TmDiffTotal
tm_diff_sum_module (const TmDiff *diff, const TmModule *module)
{
  TmDiffTotal total = { 0 };
  g_autoptr (GPtrArray) open = g_ptr_array_new ();

  g_ptr_array_add (open, (gpointer) module);
  while (open->len > 0)
    {
      const TmModule *one = g_ptr_array_steal_index (open, open->len - 1);

      for (guint i = 0; i < one->tensors->len; i++)
        {
          const TmDiffTensor *tensor = tm_diff_find (diff, g_array_index (one->tensors, guint, i));

          if (tensor != NULL)
            add_to_total (&total, tensor);
        }
      for (guint i = 0; i < one->children->len; i++)
        g_ptr_array_add (open, g_ptr_array_index (one->children, i));
    }
  total.sqnr_db = get_sqnr (total.sum_xx, total.sum_ee);
  return total;
}
