#include "ui/jobs.h"

#define SHOW_AFTER_MS 200

struct _TmJob
{
  TmJobs *jobs;
  char *label;
  GCancellable *cancellable;
  double fraction;
  gboolean shown;
  guint timer;
};

struct _TmJobs
{
  GObject parent_instance;
  GQueue running; /* TmJob *, oldest first */
};

G_DEFINE_FINAL_TYPE (TmJobs, tm_jobs, G_TYPE_OBJECT)

static guint changed_signal;

static void
job_free (gpointer data)
{
  TmJob *job = data;

  g_clear_handle_id (&job->timer, g_source_remove);
  g_clear_object (&job->cancellable);
  g_free (job->label);
  g_free (job);
}

static void
tm_jobs_finalize (GObject *object)
{
  g_queue_clear_full (&TM_JOBS (object)->running, job_free);
  G_OBJECT_CLASS (tm_jobs_parent_class)->finalize (object);
}

static void
tm_jobs_class_init (TmJobsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = tm_jobs_finalize;
  changed_signal = g_signal_new ("changed", TM_TYPE_JOBS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
tm_jobs_init (TmJobs *self)
{
}

TmJobs *
tm_jobs_new (void)
{
  return g_object_new (TM_TYPE_JOBS, NULL);
}

static gboolean
show_job (gpointer data)
{
  TmJob *job = data;

  job->timer = 0;
  job->shown = TRUE;
  g_signal_emit (job->jobs, changed_signal, 0);
  return G_SOURCE_REMOVE;
}

TmJob *
tm_jobs_start (TmJobs *self, const char *label, GCancellable *cancellable)
{
  TmJob *job = g_new0 (TmJob, 1);

  job->jobs = self;
  job->label = g_strdup (label);
  job->cancellable = cancellable ? g_object_ref (cancellable) : NULL;
  job->fraction = -1;
  job->timer = g_timeout_add (SHOW_AFTER_MS, show_job, job);
  g_queue_push_tail (&self->running, job);
  return job;
}

void
tm_jobs_set_progress (TmJobs *self, TmJob *job, double fraction)
{
  job->fraction = fraction;
  if (job->shown)
    g_signal_emit (self, changed_signal, 0);
}

void
tm_jobs_set_label (TmJobs *self, TmJob *job, const char *label)
{
  if (!g_strcmp0 (job->label, label))
    return;
  g_free (job->label);
  job->label = g_strdup (label);
  if (job->shown)
    g_signal_emit (self, changed_signal, 0);
}

void
tm_jobs_end (TmJobs *self, TmJob *job)
{
  gboolean shown = job->shown;

  g_queue_remove (&self->running, job);
  job_free (job);
  if (shown)
    g_signal_emit (self, changed_signal, 0);
}

static TmJob *
find_shown (TmJobs *self)
{
  for (GList *link = self->running.head; link; link = link->next)
    if (((TmJob *) link->data)->shown)
      return link->data;
  return NULL;
}

gboolean
tm_jobs_get_shown (TmJobs *self, const char **label, double *fraction, gboolean *can_cancel)
{
  TmJob *job = find_shown (self);

  if (!job)
    return FALSE;
  *label = job->label;
  *fraction = job->fraction;
  *can_cancel = job->cancellable != NULL;
  return TRUE;
}

void
tm_jobs_cancel_shown (TmJobs *self)
{
  TmJob *job = find_shown (self);

  if (job && job->cancellable)
    g_cancellable_cancel (job->cancellable);
}

void
tm_jobs_cancel_all (TmJobs *self)
{
  for (GList *link = self->running.head; link; link = link->next)
    if (((TmJob *) link->data)->cancellable)
      g_cancellable_cancel (((TmJob *) link->data)->cancellable);
}
