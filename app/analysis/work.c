#include "analysis/work.h"

#define PASS_MICROSECONDS 2000
#define PASS_TIMES 20

static TmWorkBusy is_busy;
static gpointer busy_data;

void
tm_work_set_busy (TmWorkBusy busy, gpointer data)
{
  is_busy = busy;
  busy_data = data;
}

gboolean
tm_work_pause (GCancellable *cancellable, GError **error)
{
  for (int i = 0; is_busy != NULL && i < PASS_TIMES && is_busy (busy_data); i++)
    {
      if (g_cancellable_is_cancelled (cancellable))
        break;
      g_usleep (PASS_MICROSECONDS);
    }
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

guint
tm_work_get_threads (void)
{
  return CLAMP (g_get_num_processors (), 1, 64);
}

typedef struct
{
  GMutex lock;
  guint64 next, n;
  TmWorkItem item;
  gpointer data;
  GCancellable *cancellable;
  GError *error;
} Work;

typedef struct
{
  Work *work;
  guint thread;
} Worker;

static gboolean
take_item (Work *work, guint64 *item)
{
  gboolean more;

  g_mutex_lock (&work->lock);
  more = work->error == NULL && work->next < work->n;
  if (more)
    *item = work->next++;
  g_mutex_unlock (&work->lock);
  return more;
}

static gpointer
run_worker (gpointer data)
{
  Worker *worker = data;
  Work *work = worker->work;
  guint64 item;

  while (take_item (work, &item))
    {
      GError *error = NULL;

      if (tm_work_pause (work->cancellable, &error) && work->item (item, worker->thread, work->data, &error))
        continue;
      g_mutex_lock (&work->lock);
      if (work->error == NULL)
        work->error = error;
      else
        g_error_free (error);
      g_mutex_unlock (&work->lock);
    }
  return NULL;
}

gboolean
tm_work_run (guint64 n, TmWorkItem item, gpointer data, GCancellable *cancellable, GError **error)
{
  Work work = { .n = n, .item = item, .data = data, .cancellable = cancellable };
  guint n_threads = (guint) MIN (n, (guint64) tm_work_get_threads ());
  g_autofree Worker *workers = g_new0 (Worker, MAX (n_threads, 1));
  g_autofree GThread **threads = g_new0 (GThread *, MAX (n_threads, 1));

  g_mutex_init (&work.lock);
  for (guint i = 0; i < n_threads; i++)
    {
      workers[i] = (Worker) { &work, i };
      if (i > 0) /* a thread that cannot be had is one less */
        threads[i] = g_thread_try_new ("analysis", run_worker, &workers[i], NULL);
    }
  if (n_threads > 0)
    run_worker (&workers[0]);
  for (guint i = 1; i < n_threads; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
  g_mutex_clear (&work.lock);
  if (work.error == NULL)
    return !g_cancellable_set_error_if_cancelled (cancellable, error);
  g_propagate_error (error, work.error);
  return FALSE;
}

guint
tm_work_find_task (const guint64 *first_item, gsize stride, guint n, guint64 item)
{
  guint low = 0, high = n;

  while (high - low > 1)
    {
      guint middle = low + (high - low) / 2;

      if (*(const guint64 *) (const void *) ((const char *) first_item + stride * middle) <= item)
        low = middle;
      else
        high = middle;
    }
  return low;
}
