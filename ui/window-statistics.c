/* Statistics: of the selected tensor at once, of all tensors on demand, and of a small model's when there is nothing else to
 * do. What was found stays, also when it is cancelled. */
#include <string.h>

#include "analysis/statistics.h"
#include "io/text.h"
#include "ui/window-private.h"

#define LOOK_MS 150
#define IDLE_AFTER_MS 1500
#define IDLE_MAX_BYTES (1ull << 30) /* models that are read through without being asked */
#define IDLE_MAX_TENSORS 20000u     /* a millisecond each, whatever their size */
#define SCAN_MISSES 64u             /* after so many that are not done the others are not either, nearly */

typedef struct
{
  TmWindow *window;
  TmStatisticsSet *set;
  GCancellable **place; /* in the window */
  TmJob *job;
  GArray *waiting;      /* guint: tensors; from first on those that were not done when last looked at */
  guint first, n, timer;
  gboolean all;
} Computing;

typedef struct
{
  TmStatisticsSet *set;
  guint tensor;
  gboolean all;
} Work;

static void
work_free (gpointer data)
{
  tm_statistics_set_unref (((Work *) data)->set);
  g_free (data);
}

static void
compute_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  g_autoptr (GError) error = NULL;

  tm_statistics_set_load (work->set);
  if (tm_statistics_set_compute (work->set, work->all ? NULL : &work->tensor, work->all ? 0 : 1, TM_STATISTICS_ALL, NULL, NULL,
                                 cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static gboolean
is_done (TmStatisticsSet *set, guint tensor)
{
  g_autoptr (TmStatistics) statistics = tm_statistics_set_get (set, tensor);

  return statistics && (statistics->fault || statistics->parts == TM_STATISTICS_ALL);
}

static gboolean
look (gpointer data)
{
  Computing *computing = data;
  const guint before = computing->first;
  guint *waiting = (guint *) (gpointer) computing->waiting->data, at = before, misses[SCAN_MISSES], n_misses = 0;
  g_autofree char *label = NULL;

  while (at < computing->n && n_misses < SCAN_MISSES)
    {
      at += tm_statistics_set_count_done (computing->set, waiting + at, computing->n - at);
      if (at < computing->n)
        misses[n_misses++] = waiting[at++];
    }
  computing->first = at - n_misses;
  memcpy (waiting + computing->first, misses, n_misses * sizeof *misses);
  label = g_strdup_printf ("Statistics %u / %u", computing->first, computing->n);
  tm_jobs_set_label (computing->window->jobs, computing->job, label);
  tm_jobs_set_progress (computing->window->jobs, computing->job, (double) computing->first / MAX (computing->n, 1));
  if (before != computing->first)
    tm_document_statistics_arrived (computing->window->document);
  return G_SOURCE_CONTINUE;
}

static void
compute_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Computing *computing = data;
  TmWindow *self = computing->window;
  const gboolean ok = g_task_propagate_boolean (G_TASK (result), NULL);

  g_source_remove (computing->timer);
  tm_jobs_end (self->jobs, computing->job);
  if (*computing->place == g_task_get_cancellable (G_TASK (result)))
    g_clear_object (computing->place);
  if (!gtk_widget_in_destruction (GTK_WIDGET (self)) && self->document
      && tm_document_get_statistics (self->document) == computing->set)
    {
      tm_document_statistics_arrived (self->document);
      if (!ok && computing->all)
        tm_status_bar_set_message (self->status_bar, "Statistics were cancelled; what was found stays");
    }
  g_array_unref (computing->waiting);
  tm_statistics_set_unref (computing->set);
  g_object_unref (self);
  g_free (computing);
}

static void
start (TmWindow *self, GCancellable **place, gint64 tensor)
{
  TmStatisticsSet *set = tm_document_get_statistics (self->document);
  TmModel *model = tm_document_get_model (self->document);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = NULL;
  Computing *computing;
  Work *work;

  if (*place)
    g_cancellable_cancel (*place);
  g_set_object (place, cancellable);
  computing = g_new0 (Computing, 1);
  computing->window = g_object_ref (self);
  computing->set = tm_statistics_set_ref (set);
  computing->place = place;
  computing->all = tensor < 0;
  computing->waiting = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = tensor < 0 ? 0 : (guint) tensor; i < (tensor < 0 ? model->tensors->len : (guint) tensor + 1); i++)
    g_array_append_val (computing->waiting, i);
  computing->n = computing->waiting->len;
  computing->job = tm_jobs_start (self->jobs, "Statistics", cancellable);
  computing->timer = g_timeout_add (LOOK_MS, look, computing);

  work = g_new0 (Work, 1);
  work->set = tm_statistics_set_ref (set);
  work->tensor = (guint) MAX (tensor, 0);
  work->all = tensor < 0;
  task = g_task_new (NULL, cancellable, compute_done, computing);
  g_task_set_task_data (task, work, work_free);
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, compute_run);
}

void
tm_window_compute_all (TmWindow *self)
{
  if (tm_document_get_statistics (self->document) && !self->computing_all)
    start (self, &self->computing_all, -1);
}

static void
compute_selected (TmWindow *self)
{
  TmStatisticsSet *set = tm_document_get_statistics (self->document);
  guint tensor;

  if (!set || !tm_document_get_tensor (self->document, &tensor) || is_done (set, tensor)
      || !tm_tensor_is_readable (tm_model_tensor (tm_document_get_model (self->document), tensor)))
    return;
  start (self, &self->computing_one, tensor);
}

static gboolean
on_idle (gpointer data)
{
  TmWindow *self = data;
  TmModel *model = tm_document_get_model (self->document);

  self->computing_idle = 0;
  if (model && model->bytes <= IDLE_MAX_BYTES && model->tensors->len <= IDLE_MAX_TENSORS)
    tm_window_compute_all (self);
  return G_SOURCE_REMOVE;
}

void
tm_window_stop_statistics (TmWindow *self)
{
  GCancellable **places[] = { &self->computing_all, &self->computing_one };

  g_clear_handle_id (&self->computing_idle, g_source_remove);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      if (*places[i])
        g_cancellable_cancel (*places[i]);
      g_clear_object (places[i]);
    }
}

static void
on_model_changed (TmWindow *self)
{
  tm_window_stop_statistics (self);
  if (tm_document_get_model (self->document))
    self->computing_idle = g_timeout_add (IDLE_AFTER_MS, on_idle, self);
}

void
tm_window_install_statistics (TmWindow *self)
{
  g_signal_connect_swapped (self->document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (self->document, "selection-changed", G_CALLBACK (compute_selected), self);
}
