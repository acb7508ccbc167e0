#include "view/tile-schedule.h"

struct _TmJobQueue
{
  gint refs;
  GThreadPool *pool; /* main thread */
  GMainContext *context;
  TmJobsDone done;   /* main thread, with data; NULL once closed */
  gpointer data;

  GMutex lock;
  GPtrArray *waiting, *running, *finished;
  GSource *idle;
  guint64 numbers;
  gboolean closed;
};

/* --- Jobs ----------------------------------------------------------------------------------------------------------- */

TmJob *
tm_job_new (TmModel *model, const TmTensor *tensor, const TmTileKey *key, const TmSheet *sheet)
{
  TmJob *job = g_new0 (TmJob, 1);

  job->refs = 1;
  job->model = g_object_ref (model);
  job->tensor = tensor;
  job->key = *key;
  if (sheet)
    job->sheet = *sheet;
  job->cancellable = g_cancellable_new ();
  return job;
}

TmJob *
tm_job_ref (TmJob *job)
{
  g_atomic_int_inc (&job->refs);
  return job;
}

void
tm_job_unref (TmJob *job)
{
  if (!g_atomic_int_dec_and_test (&job->refs))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (job->child); i++)
    if (job->child[i])
      g_atomic_rc_box_release (job->child[i]);
  if (job->texels)
    g_atomic_rc_box_release (job->texels);
  g_clear_error (&job->error);
  g_object_unref (job->cancellable);
  g_object_unref (job->model);
  g_free (job);
}

static gboolean
job_make_tile (TmJob *job, TmTileBetween between, gpointer data)
{
  guint64 elements;

  if (!tm_tile_measure (&job->sheet, &job->key, &job->width, &job->height, &elements))
    job->height = 1; /* making it says what is wrong */
  job->texels = g_atomic_rc_box_alloc0 ((gsize) job->height * TM_TILE * sizeof (float));
  if (job->merge)
    {
      const float *child[4] = { job->child[0], job->child[1], job->child[2], job->child[3] };

      tm_tile_merge (child, job->child_width, job->child_height, job->width, job->height, job->texels);
      return TRUE;
    }
  return tm_tile_make_full (job->tensor, &job->sheet, &job->key, job->exact, job->texels, &job->width, &job->height,
                            between, data, job->cancellable, &job->error);
}

static void
job_run (TmJob *job, TmTileBetween between, gpointer data)
{
  gint64 start = g_get_monotonic_time ();

  if (job->kind == TM_JOB_RANGE)
    job->range = tm_tensor_sample_range (job->tensor, job->key.quantity, job->cancellable, &job->error);
  else if (!job_make_tile (job, between, data))
    g_clear_pointer (&job->texels, g_atomic_rc_box_release);
  job->ms = (double) (g_get_monotonic_time () - start) / 1000;
}

/* --- What is waited for --------------------------------------------------------------------------------------------- */

static gint n_urgent; /* atomic: of all queues */

static void
begin_counting (TmJob *job)
{
  if (job->costly)
    return; /* there is a sample of it to look at meanwhile */
  job->counted = TRUE;
  g_atomic_int_inc (&n_urgent);
}

static void
end_counting (TmJob *job)
{
  if (job->counted)
    g_atomic_int_add (&n_urgent, -1);
  job->counted = FALSE;
}

guint
tm_job_queues_count_urgent (void)
{
  return (guint) g_atomic_int_get (&n_urgent);
}

/* --- The queue ------------------------------------------------------------------------------------------------------ */

static void
queue_unref (TmJobQueue *queue)
{
  if (!g_atomic_int_dec_and_test (&queue->refs))
    return;
  g_ptr_array_unref (queue->waiting);
  g_ptr_array_unref (queue->running);
  g_ptr_array_unref (queue->finished);
  g_main_context_unref (queue->context);
  g_mutex_clear (&queue->lock);
  g_free (queue);
}

static gboolean
goes_before (const TmJob *a, const TmJob *b)
{
  if (a->costly != b->costly)
    return b->costly;
  if (a->priority != b->priority)
    return a->priority < b->priority;
  return a->number < b->number;
}

/* The best of what waits, now running; NULL if there is none. */
static TmJob *
queue_take (TmJobQueue *queue, gboolean costly_too)
{
  TmJob *best = NULL;
  guint at = 0;

  g_mutex_lock (&queue->lock);
  for (guint i = 0; i < queue->waiting->len; i++)
    {
      TmJob *job = g_ptr_array_index (queue->waiting, i);

      if ((costly_too || !job->costly) && (!best || goes_before (job, best)))
        {
          best = job;
          at = i;
        }
    }
  if (best)
    g_ptr_array_add (queue->running, g_ptr_array_steal_index_fast (queue->waiting, at));
  g_mutex_unlock (&queue->lock);
  return best;
}

static gboolean
publish (gpointer data)
{
  TmJobQueue *queue = data;
  GPtrArray *jobs;

  g_mutex_lock (&queue->lock);
  jobs = queue->finished;
  queue->finished = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_job_unref);
  g_clear_pointer (&queue->idle, g_source_unref);
  g_mutex_unlock (&queue->lock);
  if (queue->done)
    queue->done (jobs, queue->data);
  g_ptr_array_unref (jobs);
  return G_SOURCE_REMOVE;
}

/* With the lock. Before a frame is drawn: results that wait for a quiet moment would wait through a whole pan. */
static void
queue_ask_for_publish (TmJobQueue *queue)
{
  if (queue->idle)
    return;
  queue->idle = g_idle_source_new ();
  g_source_set_priority (queue->idle, G_PRIORITY_HIGH_IDLE);
  g_atomic_int_inc (&queue->refs);
  g_source_set_callback (queue->idle, publish, queue, (GDestroyNotify) queue_unref);
  g_source_attach (queue->idle, queue->context);
}

static void
queue_finish (TmJobQueue *queue, TmJob *job)
{
  guint at;

  g_mutex_lock (&queue->lock);
  end_counting (job);
  if (g_ptr_array_find (queue->running, job, &at))
    {
      g_ptr_array_steal_index_fast (queue->running, at);
      if (!queue->closed && !g_cancellable_is_cancelled (job->cancellable))
        {
          g_ptr_array_add (queue->finished, g_steal_pointer (&job));
          queue_ask_for_publish (queue);
        }
    }
  g_mutex_unlock (&queue->lock);
  g_clear_pointer (&job, tm_job_unref);
}

/* Between two chunks of a costly job: short work passes on the same thread. */
static void
let_pass (gpointer data)
{
  TmJobQueue *queue = data;
  TmJob *job;

  while ((job = queue_take (queue, FALSE)))
    {
      job_run (job, NULL, NULL);
      queue_finish (queue, job);
    }
}

/* A task of the pool says only that there is work; which, is decided when it starts. */
static void
work (gpointer task, gpointer unused)
{
  TmJobQueue *queue = task;
  TmJob *job = queue_take (queue, TRUE);

  if (job)
    {
      job_run (job, job->costly ? let_pass : NULL, queue);
      queue_finish (queue, job);
    }
  queue_unref (queue);
}

TmJobQueue *
tm_job_queue_new (guint n_threads, TmJobsDone done, gpointer data)
{
  TmJobQueue *queue = g_new0 (TmJobQueue, 1);

  queue->refs = 1;
  queue->pool = g_thread_pool_new (work, NULL, (gint) n_threads, FALSE, NULL);
  queue->context = g_main_context_ref_thread_default ();
  queue->done = done;
  queue->data = data;
  queue->waiting = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_job_unref);
  queue->running = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_job_unref);
  queue->finished = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_job_unref);
  g_mutex_init (&queue->lock);
  return queue;
}

void
tm_job_queue_close (TmJobQueue *queue)
{
  GSource *idle;

  g_mutex_lock (&queue->lock);
  queue->closed = TRUE;
  queue->done = NULL;
  for (guint i = 0; i < queue->waiting->len; i++)
    end_counting (g_ptr_array_index (queue->waiting, i));
  g_ptr_array_set_size (queue->waiting, 0);
  g_ptr_array_set_size (queue->finished, 0);
  for (guint i = 0; i < queue->running->len; i++)
    {
      TmJob *job = g_ptr_array_index (queue->running, i);

      end_counting (job);
      g_cancellable_cancel (job->cancellable);
    }
  idle = g_steal_pointer (&queue->idle);
  g_mutex_unlock (&queue->lock);
  if (idle)
    {
      g_source_destroy (idle);
      g_source_unref (idle);
    }
  /* Tasks left in the pool find nothing and give their reference back. */
  g_thread_pool_free (queue->pool, FALSE, FALSE);
  queue_unref (queue);
}

void
tm_job_queue_push (TmJobQueue *queue, TmJob *job)
{
  g_mutex_lock (&queue->lock);
  job->number = queue->numbers++;
  begin_counting (job);
  g_ptr_array_add (queue->waiting, tm_job_ref (job));
  g_mutex_unlock (&queue->lock);
  g_atomic_int_inc (&queue->refs);
  g_thread_pool_push (queue->pool, queue, NULL);
}

void
tm_job_queue_set_priority (TmJobQueue *queue, TmJob *job, int priority)
{
  if (job->priority == priority)
    return; /* only the main thread writes it */
  g_mutex_lock (&queue->lock);
  job->priority = priority;
  g_mutex_unlock (&queue->lock);
}

void
tm_job_queue_cancel (TmJobQueue *queue, TmJob *job)
{
  g_mutex_lock (&queue->lock);
  g_cancellable_cancel (job->cancellable);
  end_counting (job);
  /* Done already and not yet published: dropped too, so that what was cancelled never arrives. */
  if (!g_ptr_array_remove_fast (queue->waiting, job))
    g_ptr_array_remove_fast (queue->finished, job);
  g_mutex_unlock (&queue->lock);
}
