#include "ui/query-filter.h"

#include "analysis/query.h"

#define LOOK_MS 200

struct _TmQueryFilter
{
  TmDocument *document;
  void (*answered) (const TmQueryAnswer *answer, gpointer data);
  gpointer data;
  GTask *running; /* the last one */
  guint timer;
};

/* The worker's side. */
typedef struct
{
  TmModel *model;
  TmStatisticsSet *set;
  TmDiff *diff; /* NULL: not compared */
  TmQuery *query;
  GMutex lock;
  double progress;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;

  g_object_unref (work->model);
  g_clear_pointer (&work->set, tm_statistics_set_unref);
  g_clear_pointer (&work->diff, tm_diff_unref);
  tm_query_free (work->query);
  g_mutex_clear (&work->lock);
  g_free (work);
}

static void
on_progress (double fraction, const char *text, gpointer data)
{
  Work *work = data;

  g_mutex_lock (&work->lock);
  work->progress = fraction;
  g_mutex_unlock (&work->lock);
}

static void
run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  g_autoptr (GError) error = NULL;

  if ((tm_query_get_needs (work->query) & (TM_QUERY_NEEDS_VALUES | TM_QUERY_NEEDS_CODES)) && work->set)
    {
      tm_statistics_set_load (work->set);
      if (!tm_query_prepare (work->query, work->set, on_progress, work, cancellable, &error))
        {
          g_task_return_error (task, g_steal_pointer (&error));
          return;
        }
    }
  g_task_return_pointer (task, tm_query_run (work->query, work->model, work->set, work->diff), (GDestroyNotify) g_array_unref);
}

static void
stop (TmQueryFilter *filter)
{
  g_clear_handle_id (&filter->timer, g_source_remove);
  if (filter->running)
    g_cancellable_cancel (g_task_get_cancellable (filter->running));
  g_clear_object (&filter->running);
}

static void
done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmQueryFilter *filter = data;
  g_autoptr (GArray) found = NULL;

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return; /* another text is asked for, or nobody is there */
  found = g_task_propagate_pointer (G_TASK (result), NULL);
  stop (filter);
  if (found)
    filter->answered (&(TmQueryAnswer) { .found = found, .progress = 1 }, filter->data);
}

static gboolean
look (gpointer data)
{
  TmQueryFilter *filter = data;
  Work *work = g_task_get_task_data (filter->running);

  g_mutex_lock (&work->lock);
  const double progress = work->progress;
  g_mutex_unlock (&work->lock);
  filter->answered (&(TmQueryAnswer) { .progress = progress }, filter->data);
  return G_SOURCE_CONTINUE;
}

void
tm_query_filter_ask (TmQueryFilter *filter, const char *text)
{
  TmModel *model = tm_document_get_model (filter->document);
  TmComparison *comparison = tm_document_get_comparison (filter->document);
  g_autoptr (GCancellable) cancellable = NULL;
  g_autoptr (GError) error = NULL;
  TmQuery *query;
  Work *work;
  guint at = 0;

  stop (filter);
  if (!text || !*text || !model)
    return;
  query = tm_query_parse (text, &at, &error);
  if (!query)
    {
      filter->answered (&(TmQueryAnswer) { .problem = error->message, .has_place = TRUE, .at = at }, filter->data);
      return;
    }
  if ((tm_query_get_needs (query) & TM_QUERY_NEEDS_DIFF) && !comparison)
    {
      filter->answered (&(TmQueryAnswer) { .problem = "This asks for the error against a reference: compare with one first" },
                        filter->data);
      tm_query_free (query);
      return;
    }
  work = g_new0 (Work, 1);
  g_mutex_init (&work->lock);
  work->model = g_object_ref (model);
  work->set = tm_statistics_set_ref (tm_document_get_statistics (filter->document));
  work->diff = comparison ? tm_diff_ref (tm_comparison_get_diff (comparison)) : NULL;
  work->query = query;
  cancellable = g_cancellable_new ();
  filter->running = g_task_new (NULL, cancellable, done, filter);
  g_task_set_check_cancellable (filter->running, FALSE);
  g_task_set_task_data (filter->running, work, work_free);
  filter->timer = g_timeout_add (LOOK_MS, look, filter);
  g_task_run_in_thread (filter->running, run);
}

TmQueryFilter *
tm_query_filter_new (TmDocument *document, void (*answered) (const TmQueryAnswer *answer, gpointer data), gpointer data)
{
  TmQueryFilter *filter = g_new0 (TmQueryFilter, 1);

  filter->document = g_object_ref (document);
  filter->answered = answered;
  filter->data = data;
  return filter;
}

void
tm_query_filter_free (TmQueryFilter *filter)
{
  stop (filter);
  g_object_unref (filter->document);
  g_free (filter);
}
