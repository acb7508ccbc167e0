#include "analysis/sparsity.h"

#include <string.h>

#include "analysis/groups.h"
#include "analysis/sparsity-causes.h"
#include "analysis/sparsity-masks.h"

#define BAND 64u              /* rows of a tile of a wide matrix; the largest block */
#define TILE_COLUMNS 1024u
#define TILE 65536u           /* elements */
#define MAX_SLAB 4194304u     /* elements of an output channel of a convolution */

/* --- One tensor under way ----------------------------------------------------------------------------------------- */

typedef struct
{
  guint index;
  const TmTensor *tensor;
  const TmAlignedPair *pair;    /* or NULL */
  guint64 rows, columns;
  guint64 slab_rows, inner;     /* convolutions: rows of an output channel, elements between input channels; else 0 */
  guint64 item_rows;
  guint64 first_item, n_items;
  TmGroupLayout layout;
  gboolean grouped, has_scale;
  TmSteps *steps;
  GMutex lock;
  TmBits *rows_used, *columns_used, *groups_used, *scales_used; /* a bit is set by what is not zero */
  TmMaskSums masks, reference_masks;
  TmZeroPool pool;
  guint64 zeros, negative_zeros, compared, reference_zeros, without_scale, cause[TM_ZERO_PLAIN + 1];
  char *fault;
} Task;

typedef struct
{
  gsize size;
  float *value, *scale, *reference;
  gint32 *raw;
  TmMask mask;
} Buffers;

typedef struct
{
  TmModel *model;
  Task *task;
  guint n;
  Buffers *buffers;
  GMutex lock;
  TmProgressFunc progress;
  gpointer progress_data;
  guint64 n_elements, n_done;
  GCancellable *cancellable;
} Run;

static void
set_geometry (Task *task, const TmTensor *tensor)
{
  task->columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
  task->rows = tensor->n_elements / MAX (task->columns, 1);
  task->item_rows = task->columns > TILE_COLUMNS ? BAND : MAX (TILE / MAX (task->columns, 1) / BAND, 1) * BAND;
  if (tensor->rank == 4 || tensor->rank == 5)
    {
      guint64 slab = tensor->n_elements / MAX (tensor->shape[0], 1);

      if (slab <= MAX_SLAB)
        {
          task->slab_rows = slab / task->columns;
          task->inner = slab / tensor->shape[1];
          task->item_rows = task->slab_rows * MAX (TILE / slab, 1);
        }
    }
}

static void
init_task (Task *task, TmModel *model, TmAlignment *alignment, guint index)
{
  const TmTensor *tensor = tm_model_tensor (model, index);

  task->index = index;
  task->tensor = tensor;
  g_mutex_init (&task->lock);
  if (tensor->fault != NULL)
    task->fault = g_strdup (tensor->fault);
  if (tensor->fault != NULL || tensor->n_elements == 0)
    return;
  task->pair = alignment != NULL ? tm_alignment_find (alignment, index) : NULL;
  set_geometry (task, tensor);
  task->n_items = (task->rows - 1) / task->item_rows + 1;
  task->has_scale = tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE);
  tm_group_layout_init (&task->layout, tensor);
  task->grouped = tensor->quantized && task->layout.grouped;
}

/* Where the first item begins, so that tensors that wait take no memory. */
static gboolean
prepare (const Run *run, Task *task, GError **error)
{
  gboolean ok = TRUE;

  g_mutex_lock (&task->lock);
  if (task->steps == NULL && task->fault == NULL)
    {
      const TmGroupLayout *layout = &task->layout;

      task->steps = g_new0 (TmSteps, 1);
      task->rows_used = tm_bits_new (task->rows);
      task->columns_used = tm_bits_new (task->columns);
      if (task->grouped)
        {
          guint64 lines = task->tensor->n_elements / layout->line;
          guint64 n = ((lines - 1) / layout->band_lines + 1) * layout->width;

          task->groups_used = tm_bits_new (n);
          task->scales_used = tm_bits_new (n);
        }
      ok = tm_steps_init (task->steps, run->model, task->tensor, run->cancellable, error);
    }
  ok = ok && task->fault == NULL;
  g_mutex_unlock (&task->lock);
  return ok;
}

/* --- Tiles -------------------------------------------------------------------------------------------------------- */

typedef struct
{
  guint64 row, column;
  gsize rows, columns;
} Tile;

static gboolean
decode (const Task *task, TmQuantity quantity, const Tile *tile, float *out, GCancellable *cancellable, GError **error)
{
  guint64 first = tile->row * task->columns + tile->column;

  if (tile->columns == task->columns)
    return tm_tensor_decode (task->tensor, quantity, first, tile->rows * tile->columns, out, cancellable, error);
  return tm_tensor_decode_rectangle (task->tensor, quantity, first, tile->rows, tile->columns, out, cancellable, error);
}

static gboolean
decode_raw (const Task *task, const Tile *tile, Buffers *buffers, GCancellable *cancellable, GError **error)
{
  gsize n = tile->rows * tile->columns;

  if (tile->columns == task->columns)
    return tm_tensor_decode_raw (task->tensor, tile->row * task->columns, n, buffers->raw, cancellable, error);
  /* The reference is read after the codes, and its place is free until then. */
  if (!decode (task, TM_QUANTITY_RAW, tile, buffers->reference, cancellable, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    buffers->raw[i] = (gint32) buffers->reference[i];
  return TRUE;
}

/* Where there is no reference: NaN. */
static gboolean
decode_reference (const Task *task, const Tile *tile, float *out, GCancellable *cancellable, GError **error)
{
  const TmReading *reading = task->pair->reading;
  guint64 end = tile->row + tile->rows;
  gsize covered;

  if (reading->columns != task->columns) /* a vector that is read as a column */
    {
      for (gsize r = 0; r < tile->rows; r++)
        if (!tm_reading_decode (reading, (tile->row + r) * task->columns + tile->column, tile->columns, out + r * tile->columns,
                                cancellable, error))
          return FALSE;
      return TRUE;
    }
  covered = reading->rows <= tile->row ? 0 : (gsize) (MIN (end, reading->rows) - tile->row);
  for (gsize i = covered * tile->columns; i < tile->rows * tile->columns; i++)
    out[i] = __builtin_nanf ("");
  return covered == 0
         || tm_reading_decode_rectangle (reading, tile->row, tile->row + covered, tile->column, tile->column + tile->columns, out,
                                         cancellable, error);
}

static void
mark_groups (const Task *task, const Tile *tile, const Buffers *buffers)
{
  for (gsize r = 0; r < tile->rows; r++)
    for (gsize c = 0; c < tile->columns;)
      {
        guint64 group, flat = (tile->row + r) * task->columns + tile->column + c;
        gsize run = (gsize) tm_group_layout_next (&task->layout, flat, tile->columns - c, &group);

        if (!tm_mask_is_zero (&buffers->mask, r, c, run))
          tm_bits_set (task->groups_used, group);
        if (task->has_scale && buffers->scale[r * tile->columns + c] != 0)
          tm_bits_set (task->scales_used, group);
        c += run;
      }
}

static void
count_causes (Task *task, const TmZeroPiece *piece, gsize n)
{
  guint64 cause[TM_ZERO_PLAIN + 1] = { 0 }, compared = 0, reference_zeros = 0, without = 0;

  for (gsize i = 0; i < n; i++)
    {
      gboolean without_scale;
      TmZeroCause one = tm_zero_piece_classify (piece, i, &without_scale);

      cause[one]++;
      without += without_scale;
      compared += piece->reference[i] - piece->reference[i] == 0; /* finite */
      reference_zeros += piece->reference[i] == 0;
    }
  g_mutex_lock (&task->lock);
  for (guint i = 0; i <= TM_ZERO_PLAIN; i++)
    task->cause[i] += cause[i];
  task->compared += compared;
  task->reference_zeros += reference_zeros;
  task->without_scale += without;
  g_mutex_unlock (&task->lock);
}

static void
count_pool (Task *task, const TmZeroPiece *piece, gsize n)
{
  g_autofree TmZeroPool *pool = g_new0 (TmZeroPool, 1);
  guint64 without = 0;

  tm_zero_pool_add (pool, piece, n);
  for (gsize i = 0; i < n; i++)
    without += piece->value[i] == 0 && piece->scale[i] == 0;
  g_mutex_lock (&task->lock);
  tm_zero_pool_merge (&task->pool, pool);
  task->without_scale += without;
  g_mutex_unlock (&task->lock);
}

static void
count_masks (Task *task, const Tile *tile, const TmMask *mask, gboolean of_reference)
{
  TmMaskSums sums = { 0 };
  guint rank = task->tensor->rank;

  if (!of_reference)
    tm_mask_mark_lines (mask, tile->row, tile->column, task->rows_used, task->columns_used);
  if (task->slab_rows > 0)
    for (gsize slab = 0; slab < tile->rows / task->slab_rows; slab++)
      tm_mask_count_channels (mask, slab * task->slab_rows, task->slab_rows, task->inner, &sums);
  else if (rank == 2 || rank == 3)
    {
      tm_mask_count_patterns (mask, &sums);
      /* Blocks do not reach over from one matrix of a stack to the next. */
      if (!of_reference)
        tm_mask_count_blocks (mask, rank == 2 ? 0 : task->tensor->shape[rank - 2], &sums);
    }
  g_mutex_lock (&task->lock);
  tm_mask_sums_add (of_reference ? &task->reference_masks : &task->masks, &sums);
  g_mutex_unlock (&task->lock);
}

static void
grow_buffers (Buffers *buffers, gsize n)
{
  if (n <= buffers->size)
    return;
  buffers->size = n;
  buffers->value = g_renew (float, buffers->value, n);
  buffers->scale = g_renew (float, buffers->scale, n);
  buffers->reference = g_renew (float, buffers->reference, n);
  buffers->raw = g_renew (gint32, buffers->raw, n);
}

static gboolean
look_at_tile (const Run *run, Task *task, Buffers *buffers, const Tile *tile, GError **error)
{
  gsize n = tile->rows * tile->columns;
  guint64 zeros, negative_zeros;
  TmZeroPiece piece = { .steps = task->steps };

  grow_buffers (buffers, n);
  if (!decode (task, TM_QUANTITY_VALUE, tile, buffers->value, run->cancellable, error)
      || (task->has_scale && !decode (task, TM_QUANTITY_SCALE, tile, buffers->scale, run->cancellable, error))
      || (task->steps->defined && task->steps->leveled && !decode_raw (task, tile, buffers, run->cancellable, error))
      || (task->pair != NULL && !decode_reference (task, tile, buffers->reference, run->cancellable, error)))
    return FALSE;
  piece.value = buffers->value;
  piece.reference = task->pair != NULL ? buffers->reference : NULL;
  piece.scale = task->steps->defined ? buffers->scale : NULL;
  piece.raw = task->steps->leveled ? buffers->raw : NULL;
  piece.rounded = task->pair != NULL ? tm_reading_get_rounding (task->pair->reading) : 0;

  tm_mask_set (&buffers->mask, buffers->value, tile->rows, tile->columns, &zeros, &negative_zeros);
  g_mutex_lock (&task->lock);
  task->zeros += zeros;
  task->negative_zeros += negative_zeros;
  g_mutex_unlock (&task->lock);
  count_masks (task, tile, &buffers->mask, FALSE);
  if (task->grouped)
    mark_groups (task, tile, buffers);
  if (piece.reference != NULL)
    {
      tm_mask_set (&buffers->mask, buffers->reference, tile->rows, tile->columns, &zeros, &negative_zeros);
      count_masks (task, tile, &buffers->mask, TRUE);
    }
  if (piece.reference != NULL)
    count_causes (task, &piece, n);
  else if (piece.scale != NULL)
    count_pool (task, &piece, n);
  return tm_work_pause (run->cancellable, error);
}

static gboolean
take_item (guint64 item, guint thread, gpointer data, GError **error)
{
  Run *run = data;
  Task *task = &run->task[tm_work_find_task (&run->task->first_item, sizeof *run->task, run->n, item)];
  Tile tile = { .row = (item - task->first_item) * task->item_rows };
  g_autoptr (GError) unread = NULL;
  gboolean ok = prepare (run, task, &unread), wide = task->columns > TILE_COLUMNS && task->slab_rows == 0;

  tile.rows = (gsize) MIN (task->rows - tile.row, task->item_rows);
  while (ok && tile.column < task->columns)
    {
      tile.columns = (gsize) MIN (task->columns - tile.column, wide ? TILE_COLUMNS : task->columns);
      ok = look_at_tile (run, task, &run->buffers[thread], &tile, &unread);
      tile.column += tile.columns;
    }
  if (g_error_matches (unread, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&unread));
      return FALSE;
    }
  g_mutex_lock (&task->lock);
  if (unread != NULL && task->fault == NULL)
    task->fault = g_strdup (unread->message);
  g_mutex_unlock (&task->lock);
  g_mutex_lock (&run->lock);
  run->n_done += tile.rows * task->columns;
  if (run->progress != NULL)
    run->progress ((double) run->n_done / (double) MAX (run->n_elements, 1), task->tensor->name, run->progress_data);
  g_mutex_unlock (&run->lock);
  return TRUE;
}

/* --- Result ------------------------------------------------------------------------------------------------------- */

static void
finish_groups (const Task *task, TmSparsity *result)
{
  const TmGroupLayout *layout = &task->layout;
  guint64 n = tm_bits_get_size (task->groups_used);
  g_autoptr (GHashTable) used = layout->table != NULL ? g_hash_table_new (NULL, NULL) : NULL;

  for (guint64 i = 0; used != NULL && i < layout->line; i++)
    g_hash_table_add (used, GUINT_TO_POINTER (layout->table[i]));
  result->has_groups = TRUE;
  for (guint64 group = 0; group < n; group++)
    {
      if (used != NULL && !g_hash_table_contains (used, GUINT_TO_POINTER ((guint) (group % layout->width))))
        continue;
      result->groups++;
      result->zero_scales += task->has_scale && !tm_bits_get (task->scales_used, group);
      if (tm_bits_get (task->groups_used, group))
        continue;
      if (result->zero_groups < TM_SPARSITY_LIST)
        result->zero_group[result->zero_groups] = group;
      result->zero_groups++;
    }
}

static guint64
list_clear (const TmBits *bits, guint64 *list)
{
  guint64 found = 0;

  for (guint64 i = 0; i < tm_bits_get_size (bits); i++)
    if (!tm_bits_get (bits, i))
      {
        if (found < TM_SPARSITY_LIST)
          list[found] = i;
        found++;
      }
  return found;
}

static void
finish_task (const Task *task, TmSparsity *result)
{
  const TmTensor *tensor = task->tensor;

  result->tensor = task->index;
  result->fault = g_strdup (task->fault);
  result->count = tensor->n_elements;
  result->rows = task->rows;
  result->columns = task->columns;
  if (result->fault != NULL || task->steps == NULL)
    return;
  result->zeros = task->zeros;
  result->negative_zeros = task->negative_zeros;
  result->no_zero_code = tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET);
  if (task->grouped)
    finish_groups (task, result);
  if (tensor->rank >= 2)
    {
      result->zero_rows = list_clear (task->rows_used, result->zero_row);
      result->zero_columns = list_clear (task->columns_used, result->zero_column);
    }
  result->n_patterns
      = tm_mask_sums_find_patterns (&task->masks, tensor->quantized ? MAX (tensor->code_bits, 1) : 0, result->pattern);
  tm_mask_sums_find_blocks (&task->masks, result);
  if (task->pair != NULL)
    {
      result->has_reference = TRUE;
      result->n_reference_patterns
          = tm_mask_sums_find_patterns (&task->reference_masks, 0, result->reference_pattern);
      result->compared = task->compared;
      result->reference_zeros = task->reference_zeros;
      result->pruned = task->cause[TM_ZERO_PRUNED];
      result->rounded = task->cause[TM_ZERO_ROUNDED] + task->cause[TM_ZERO_FORCED];
      result->forced = task->cause[TM_ZERO_FORCED];
      result->revived = task->cause[TM_ZERO_REVIVED];
      result->without_scale = task->without_scale;
      result->kept_nonzero = task->compared - result->pruned - result->rounded - result->revived;
    }
  else if (tensor->quantized)
    {
      result->without_scale = task->without_scale;
      tm_zero_pool_estimate (&task->pool, task->steps, tensor->code_bits, &result->estimate);
    }
}

GPtrArray *
tm_sparsity_run (TmModel *model, TmAlignment *alignment, const guint *tensors, guint n, TmProgressFunc progress, gpointer data,
                 GCancellable *cancellable, GError **error)
{
  Run run = { .model = model, .progress = progress, .progress_data = data, .cancellable = cancellable };
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_sparsity_unref);
  guint64 n_items = 0;

  run.n = tensors != NULL ? n : model->tensors->len;
  run.task = g_new0 (Task, run.n + 1);
  run.buffers = g_new0 (Buffers, tm_work_get_threads ());
  g_mutex_init (&run.lock);
  for (guint i = 0; i < run.n; i++)
    {
      init_task (&run.task[i], model, alignment, tensors != NULL ? tensors[i] : i);
      run.task[i].first_item = n_items;
      n_items += run.task[i].n_items;
      run.n_elements += run.task[i].rows * run.task[i].columns;
    }
  if (!tm_work_run (n_items, take_item, &run, cancellable, error))
    g_clear_pointer (&results, g_ptr_array_unref);
  for (guint i = 0; i < run.n; i++)
    {
      Task *task = &run.task[i];

      if (results != NULL)
        {
          TmSparsity *result = g_new0 (TmSparsity, 1);

          result->ref_count = 1;
          finish_task (task, result);
          g_ptr_array_add (results, result);
        }
      tm_bits_free (task->rows_used);
      tm_bits_free (task->columns_used);
      tm_bits_free (task->groups_used);
      tm_bits_free (task->scales_used);
      g_free (task->steps);
      g_free (task->fault);
      g_mutex_clear (&task->lock);
    }
  for (guint i = 0; i < tm_work_get_threads (); i++)
    {
      g_free (run.buffers[i].value);
      g_free (run.buffers[i].scale);
      g_free (run.buffers[i].reference);
      g_free (run.buffers[i].raw);
      tm_mask_clear (&run.buffers[i].mask);
    }
  g_free (run.buffers);
  g_free (run.task);
  g_mutex_clear (&run.lock);
  return results;
}

TmSparsity *
tm_sparsity_ref (TmSparsity *sparsity)
{
  g_atomic_int_inc (&sparsity->ref_count);
  return sparsity;
}

void
tm_sparsity_unref (TmSparsity *sparsity)
{
  if (sparsity == NULL || !g_atomic_int_dec_and_test (&sparsity->ref_count))
    return;
  g_free (sparsity->fault);
  g_free (sparsity);
}
