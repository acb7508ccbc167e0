/* The pass over a model's tensors: pieces of them on all threads, each thread with cells of its own. */
#include <math.h>
#include <string.h>

#include "analysis/count.h"
#include "analysis/groups.h"
#include "analysis/statistics-private.h"

#define PIECE 1048576u                  /* elements that one thread takes at a time */
#define CHUNK 65536u                    /* decoded at once */
#define FLUSH (G_GUINT64_CONSTANT (1) << 30) /* before a cell could overflow */
#define LOWEST_CODE (-32768)
#define N_CODES (65536 + 32768)
#define MAX_SCATTERED 65536u            /* groups that are looked at one by one */

/* --- One tensor under way ----------------------------------------------------------------------------------------- */

typedef struct
{
  guint index;
  const TmTensor *tensor;
  TmStatisticsParts parts;      /* to be found */
  gboolean codes, scales, doubles;
  TmGroupLayout layout;
  guint64 *first_column;        /* of each group, where they go through a table */
  guint64 first_item, n_items;
  TmMoments *values, *scale_moments; /* of each piece, added up in order */
  GMutex lock;
  guint64 n_left;
  guint n_open;                 /* threads that hold some of its cells */
  guint64 *value_sums, *scale_sums, *code_sums;
  gboolean wide_codes;          /* a code is outside of the table */
  char *fault;
} Task;

typedef struct
{
  Task *task;                   /* whose cells these are */
  guint64 pending;
  guint32 *values, *scales;     /* TM_COUNT_CELLS */
  guint64 *codes;               /* N_CODES */
  float *numbers;
  double *doubles;
  gint32 *raw;
} Thread;

typedef struct
{
  TmStatisticsSet *set;
  Task *task;
  guint n;
  Thread *thread;
  GMutex lock;
  TmProgressFunc progress;
  gpointer progress_data;
  guint64 n_elements, n_done;
  GCancellable *cancellable;
} Run;

/* Integers and floats that float32 does not hold. */
static gboolean
needs_doubles (const TmTensor *tensor)
{
  switch (tm_tensor_get_native_dtype (tensor))
    {
    case TM_DTYPE_F64:
    case TM_DTYPE_I64:
    case TM_DTYPE_U64:
    case TM_DTYPE_I32:
    case TM_DTYPE_U32:
      return !tensor->quantized;
    default:
      return FALSE;
    }
}

static void
init_task (Task *task, const TmTensor *tensor, guint index, TmStatisticsParts parts)
{
  task->index = index;
  task->tensor = tensor;
  task->parts = parts;
  task->codes = (parts & TM_STATISTICS_CODES) && tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW);
  task->scales = (parts & TM_STATISTICS_SCALES) && tensor->quantized && tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE);
  g_mutex_init (&task->lock);
  if (tensor->fault != NULL)
    {
      task->fault = g_strdup (tensor->fault);
      return;
    }
  task->doubles = needs_doubles (tensor);
  task->n_items = tensor->n_elements / PIECE + (tensor->n_elements % PIECE != 0);
  task->n_left = task->n_items;
  task->values = g_new0 (TmMoments, task->n_items + 1);
  task->scale_moments = g_new0 (TmMoments, task->n_items + 1);
  tm_group_layout_init (&task->layout, tensor);
  if (task->scales && task->layout.table != NULL)
    {
      task->first_column = g_new (guint64, task->layout.width + 1);
      for (guint64 i = task->layout.line; i-- > 0;)
        task->first_column[task->layout.table[i]] = i;
    }
}

static void
release_sums (Task *task)
{
  g_clear_pointer (&task->value_sums, g_free);
  g_clear_pointer (&task->scale_sums, g_free);
  g_clear_pointer (&task->code_sums, g_free);
  g_clear_pointer (&task->values, g_free);
  g_clear_pointer (&task->scale_moments, g_free);
  g_clear_pointer (&task->first_column, g_free);
}

/* --- Result ------------------------------------------------------------------------------------------------------- */

static gboolean
is_signed (const TmTensor *tensor, const guint64 *sums)
{
  switch (tensor->dtype)
    {
    case TM_DTYPE_I2:
    case TM_DTYPE_I4:
    case TM_DTYPE_I8:
    case TM_DTYPE_I16:
    case TM_DTYPE_CODE_I2:
    case TM_DTYPE_CODE_I4:
    case TM_DTYPE_CODE_I8:
    case TM_DTYPE_Q8_0:
    case TM_DTYPE_Q8_1:
    case TM_DTYPE_Q8_K:
      return TRUE;
    default:
      for (int i = LOWEST_CODE; i < 0; i++)
        if (sums[i - LOWEST_CODE] > 0)
          return TRUE;
      return FALSE;
    }
}

static void
finish_codes (const Task *task, TmStatistics *statistics)
{
  const guint64 *sums = task->code_sums;
  guint bits = task->tensor->code_bits;
  int first = N_CODES, last = -1;

  if (sums == NULL || task->wide_codes || bits == 0 || bits > 16)
    return;
  for (int i = 0; i < N_CODES; i++)
    if (sums[i] > 0)
      {
        first = MIN (first, i);
        last = i;
      }
  statistics->first_code = is_signed (task->tensor, sums) ? -(1 << (bits - 1)) : 0;
  statistics->first_code = MIN (statistics->first_code, first + LOWEST_CODE);
  statistics->n_codes = MAX (1u << bits, (guint) (last + LOWEST_CODE - statistics->first_code + 1));
  statistics->codes = g_new0 (guint64, statistics->n_codes);
  for (int i = MIN (first, N_CODES); i <= last; i++)
    {
      statistics->codes[i + LOWEST_CODE - statistics->first_code] = sums[i];
      statistics->codes_used += sums[i] > 0;
    }
}

static void
add_up (const TmMoments *pieces, guint64 n, const guint64 *sums, TmDistribution *distribution)
{
  TmMoments all;

  tm_moments_init (&all);
  for (guint64 i = 0; i < n; i++)
    tm_moments_add (&all, &pieces[i]);
  tm_count_finish (&all, sums, distribution);
}

/* Parts that were known before are taken over. */
static TmStatistics *
make_statistics (const Task *task, const TmStatistics *before)
{
  TmStatistics *statistics = tm_statistics_new ();

  statistics->parts = task->parts;
  statistics->fault = g_strdup (task->fault);
  if (statistics->fault != NULL)
    return statistics;
  if (task->parts & TM_STATISTICS_VALUES)
    add_up (task->values, task->n_items, task->value_sums, &statistics->values);
  if (task->parts & TM_STATISTICS_CODES)
    finish_codes (task, statistics);
  if (task->scales)
    {
      add_up (task->scale_moments, task->n_items, task->scale_sums, &statistics->scales);
      statistics->has_scales = statistics->scales.count > 0;
    }
  if (before == NULL || before->fault != NULL)
    return statistics;
  statistics->parts |= before->parts;
  if (!(task->parts & TM_STATISTICS_VALUES))
    tm_distribution_copy (&before->values, &statistics->values);
  if (!(task->parts & TM_STATISTICS_CODES) && before->codes != NULL)
    {
      statistics->codes = g_memdup2 (before->codes, before->n_codes * sizeof *before->codes);
      statistics->first_code = before->first_code;
      statistics->n_codes = before->n_codes;
      statistics->codes_used = before->codes_used;
    }
  if (!(task->parts & TM_STATISTICS_SCALES))
    {
      tm_distribution_copy (&before->scales, &statistics->scales);
      statistics->has_scales = before->has_scales;
    }
  return statistics;
}

static void
publish (TmStatisticsSet *set, Task *task)
{
  gboolean taken = FALSE;

  while (!taken) /* made without the lock, which a window may be waiting for */
    {
      g_autoptr (TmStatistics) before = tm_statistics_set_get (set, task->index);
      g_autoptr (TmStatistics) statistics = make_statistics (task, before);

      g_mutex_lock (&set->lock);
      taken = set->of[task->index] == before; /* else somebody else found another part of it meanwhile */
      if (taken)
        {
          set->n_known += before == NULL;
          tm_statistics_unref (before);
          set->of[task->index] = g_steal_pointer (&statistics);
        }
      g_mutex_unlock (&set->lock);
    }
  release_sums (task);
}

/* Hands a thread's cells to their tensor. The last one to do so, when all pieces are done, makes the result. */
static void
flush (Run *run, Thread *thread, gboolean leave)
{
  Task *task = thread->task;
  gboolean done = FALSE;

  if (task == NULL)
    return;
  g_mutex_lock (&task->lock);
  if (task->value_sums == NULL)
    {
      task->value_sums = g_new0 (guint64, TM_N_CELLS);
      task->scale_sums = task->scales ? g_new0 (guint64, TM_N_CELLS) : NULL;
      task->code_sums = task->codes ? g_new0 (guint64, N_CODES) : NULL;
    }
  tm_count_flush (thread->values, task->value_sums);
  if (task->scales)
    tm_count_flush (thread->scales, task->scale_sums);
  if (task->codes)
    {
      for (gsize i = 0; i < N_CODES; i++)
        task->code_sums[i] += thread->codes[i];
      memset (thread->codes, 0, N_CODES * sizeof *thread->codes);
    }
  thread->pending = 0;
  if (leave)
    {
      thread->task = NULL;
      done = --task->n_open == 0 && task->n_left == 0;
    }
  g_mutex_unlock (&task->lock);
  if (done)
    publish (run->set, task);
}

/* --- Chunks ------------------------------------------------------------------------------------------------------- */

/* In place, from the end on: a double has at least as many bytes. */
static void
widen (TmDtype dtype, double *numbers, gsize n)
{
  gsize size = dtype == TM_DTYPE_I32 || dtype == TM_DTYPE_U32 ? 4 : 8;

  for (gsize i = dtype == TM_DTYPE_F64 ? 0 : n; i-- > 0;)
    {
      guint64 bits = 0;

      if (size == 4)
        {
          guint32 half;

          memcpy (&half, (const guint8 *) numbers + 4 * i, sizeof half);
          bits = dtype == TM_DTYPE_I32 ? (guint64) (gint64) (gint32) half : half;
        }
      else
        memcpy (&bits, numbers + i, sizeof bits);
      numbers[i] = dtype == TM_DTYPE_I64 || dtype == TM_DTYPE_I32 ? (double) (gint64) bits : (double) bits;
    }
}

static gboolean
count_values (const Task *task, Thread *thread, TmMoments *moments, guint64 first, gsize n, GCancellable *cancellable,
              GError **error)
{
  if (task->doubles)
    {
      if (thread->doubles == NULL)
        thread->doubles = g_new (double, CHUNK);
      if (!tm_tensor_decode_native (task->tensor, first, n, thread->doubles, cancellable, error))
        return FALSE;
      widen (tm_tensor_get_native_dtype (task->tensor), thread->doubles, n);
      tm_count_doubles (moments, thread->values, thread->doubles, n);
      return TRUE;
    }
  if (!tm_tensor_decode (task->tensor, TM_QUANTITY_VALUE, first, n, thread->numbers, cancellable, error))
    return FALSE;
  tm_count_floats (moments, thread->values, thread->numbers, n);
  return TRUE;
}

static gboolean
count_codes (Task *task, Thread *thread, guint64 first, gsize n, GCancellable *cancellable, GError **error)
{
  guint32 outside = 0;

  if (!tm_tensor_decode_raw (task->tensor, first, n, thread->raw, cancellable, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      guint32 at = (guint32) thread->raw[i] - (guint32) LOWEST_CODE;

      if (at < N_CODES)
        thread->codes[at]++;
      else
        outside = 1;
    }
  if (outside)
    {
      g_mutex_lock (&task->lock);
      task->wide_codes = TRUE;
      g_mutex_unlock (&task->lock);
    }
  return TRUE;
}

/* Scales of the groups whose first element is among these. */
static gboolean
count_scales (const Task *task, Thread *thread, TmMoments *moments, guint64 first, gsize n, GCancellable *cancellable,
              GError **error)
{
  const TmGroupLayout *layout = &task->layout;
  TmGroupCursor cursor;
  gsize found = 0;

  if (layout->band_lines > 1 && first / layout->line % layout->band_lines != 0
      && (first + n - 1) / layout->line / layout->band_lines == first / layout->line / layout->band_lines)
    return TRUE; /* all within a band that began before */
  if (!tm_tensor_decode (task->tensor, TM_QUANTITY_SCALE, first, n, thread->numbers, cancellable, error))
    return FALSE;
  tm_group_cursor_init (&cursor, layout, first);
  for (gsize i = 0; i < n;)
    {
      guint64 line = cursor.line, at = cursor.at, start = cursor.group * layout->extent, group;
      gboolean begins = task->first_column != NULL ? task->first_column[layout->table[at]] == at : at == start;

      if (begins && (layout->band_lines == 1 || line % layout->band_lines == 0))
        thread->numbers[found++] = thread->numbers[i];
      i += (gsize) tm_group_cursor_next (&cursor, n - i, &group);
    }
  tm_count_floats (moments, thread->scales, thread->numbers, found);
  return TRUE;
}

/* Of groups that do not follow the elements' order. */
static gboolean
count_scattered_scales (const Task *task, Thread *thread, TmMoments *moments, GCancellable *cancellable, GError **error)
{
  const TmGranularity *granularity = task->tensor->granularity;
  const guint64 *extent = granularity != NULL ? granularity->level[granularity->n_levels - 1].extent : NULL;
  guint64 n = 1;

  for (guint axis = 0; granularity != NULL && axis < granularity->rank; axis++)
    {
      guint64 blocks = (granularity->shape[axis] - 1) / extent[axis] + 1;

      if (n > MAX_SCATTERED / blocks || (gint) axis == granularity->table_axis)
        return TRUE;
      n *= blocks;
    }
  for (guint64 block = 0; block < n; block++)
    {
      guint64 rest = block, flat = 0, stride = 1;
      float scale;

      for (guint axis = granularity != NULL ? granularity->rank : 0; axis-- > 0;)
        {
          guint64 blocks = (granularity->shape[axis] - 1) / extent[axis] + 1;

          flat += rest % blocks * extent[axis] * stride;
          rest /= blocks;
          stride *= granularity->shape[axis];
        }
      if (!tm_tensor_decode (task->tensor, TM_QUANTITY_SCALE, flat, 1, &scale, cancellable, error))
        return FALSE;
      tm_count_floats (moments, thread->scales, &scale, 1);
    }
  return TRUE;
}

static gboolean
count_piece (Run *run, Task *task, Thread *thread, guint64 number, GError **error)
{
  guint64 first = number * PIECE, end = MIN (task->tensor->n_elements - first, PIECE) + first;
  TmMoments *values = &task->values[number], *scales = &task->scale_moments[number];

  tm_moments_init (values);
  tm_moments_init (scales);
  if (task->scales && !task->layout.grouped && number == 0
      && !count_scattered_scales (task, thread, scales, run->cancellable, error))
    return FALSE;
  while (first < end)
    {
      gsize n = (gsize) MIN (end - first, CHUNK);

      if (((task->parts & TM_STATISTICS_VALUES) && !count_values (task, thread, values, first, n, run->cancellable, error))
          || (task->codes && !count_codes (task, thread, first, n, run->cancellable, error))
          || (task->scales && task->layout.grouped && !count_scales (task, thread, scales, first, n, run->cancellable, error))
          || !tm_work_pause (run->cancellable, error))
        return FALSE;
      first += n;
    }
  return TRUE;
}

static void
enter (Run *run, Thread *thread, Task *task)
{
  if (thread->task != task)
    {
      flush (run, thread, TRUE);
      g_mutex_lock (&task->lock);
      task->n_open++;
      g_mutex_unlock (&task->lock);
      thread->task = task;
    }
  if (thread->numbers == NULL)
    {
      thread->numbers = g_new (float, CHUNK);
      thread->values = g_new0 (guint32, TM_COUNT_CELLS);
    }
  if (task->codes && thread->raw == NULL)
    {
      thread->raw = g_new (gint32, CHUNK);
      thread->codes = g_new0 (guint64, N_CODES);
    }
  if (task->scales && thread->scales == NULL)
    thread->scales = g_new0 (guint32, TM_COUNT_CELLS);
}

static void
report (Run *run, const Task *task, guint64 count)
{
  g_mutex_lock (&run->lock);
  run->n_done += count;
  if (run->progress != NULL)
    run->progress ((double) run->n_done / (double) MAX (run->n_elements, 1), task->tensor->name, run->progress_data);
  g_mutex_unlock (&run->lock);
}

static gboolean
take_piece (guint64 item, guint number, gpointer data, GError **error)
{
  Run *run = data;
  Task *task = &run->task[tm_work_find_task (&run->task->first_item, sizeof *run->task, run->n, item)];
  Thread *thread = &run->thread[number];
  guint64 piece = item - task->first_item, count = MIN (task->tensor->n_elements - piece * PIECE, PIECE);
  g_autoptr (GError) unread = NULL;

  enter (run, thread, task);
  if (!count_piece (run, task, thread, piece, &unread) && g_error_matches (unread, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&unread));
      return FALSE;
    }
  g_mutex_lock (&task->lock);
  if (unread != NULL && task->fault == NULL)
    task->fault = g_strdup (unread->message);
  task->n_left--;
  g_mutex_unlock (&task->lock);
  thread->pending += count;
  if (thread->pending >= FLUSH)
    flush (run, thread, FALSE);
  report (run, task, count);
  return TRUE;
}

/* --- The pass ----------------------------------------------------------------------------------------------------- */

static void
add_task (Run *run, guint index, TmStatisticsParts parts)
{
  g_autoptr (TmStatistics) known = tm_statistics_set_get (run->set, index);
  Task *task = &run->task[run->n];

  if (known != NULL)
    parts &= known->fault != NULL ? 0 : (TmStatisticsParts) (TM_STATISTICS_ALL & ~known->parts);
  if (parts == 0)
    return;
  init_task (task, tm_model_tensor (run->set->model, index), index, parts);
  run->n++;
}

static void
keep (TmStatisticsSet *set)
{
  guint n = set->model->tensors->len;
  g_autofree TmStatistics **all = g_new0 (TmStatistics *, n + 1);
  g_autofree char *now = tm_statistics_cache_identify (set->model);

  if (set->identity == NULL || g_strcmp0 (now, set->identity) != 0)
    return;
  for (guint i = 0; i < n; i++)
    all[i] = tm_statistics_set_get (set, i);
  tm_statistics_cache_save (set->identity, all, n);
  for (guint i = 0; i < n; i++)
    tm_statistics_unref (all[i]);
}

static void
clear_thread (Thread *thread)
{
  g_free (thread->values);
  g_free (thread->scales);
  g_free (thread->codes);
  g_free (thread->numbers);
  g_free (thread->doubles);
  g_free (thread->raw);
}

gboolean
tm_statistics_set_compute (TmStatisticsSet *set, const guint *tensors, guint n, TmStatisticsParts parts, TmProgressFunc progress,
                           gpointer data, GCancellable *cancellable, GError **error)
{
  Run run = { .set = set, .progress = progress, .progress_data = data, .cancellable = cancellable };
  g_autofree guint8 *asked = NULL;
  guint64 n_items = 0;
  gboolean ok;

  tm_statistics_set_load (set);
  asked = g_malloc0 ((gsize) set->model->tensors->len + 1);
  if (tensors == NULL)
    n = set->model->tensors->len;
  run.task = g_new0 (Task, n + 1);
  run.thread = g_new0 (Thread, tm_work_get_threads ());
  g_mutex_init (&run.lock);
  for (guint i = 0; i < n; i++)
    {
      guint index = tensors != NULL ? tensors[i] : i;

      if (index < set->model->tensors->len && !asked[index])
        add_task (&run, index, parts);
      if (index < set->model->tensors->len)
        asked[index] = TRUE;
    }
  for (guint i = 0; i < run.n; i++)
    {
      run.task[i].first_item = n_items;
      n_items += run.task[i].n_items;
      run.n_elements += run.task[i].n_items > 0 ? run.task[i].tensor->n_elements : 0;
      if (run.task[i].n_items == 0)
        publish (set, &run.task[i]);
    }
  ok = tm_work_run (n_items, take_piece, &run, cancellable, error);
  for (guint i = 0; i < tm_work_get_threads (); i++)
    {
      flush (&run, &run.thread[i], TRUE);
      clear_thread (&run.thread[i]);
    }
  if (n_items > 0)
    keep (set);
  for (guint i = 0; i < run.n; i++)
    {
      release_sums (&run.task[i]);
      g_free (run.task[i].fault);
      g_mutex_clear (&run.task[i].lock);
    }
  g_free (run.task);
  g_free (run.thread);
  g_mutex_clear (&run.lock);
  return ok;
}
