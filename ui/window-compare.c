/* Comparing: a worker opens the reference and runs the diff, the window goes on; then the panel under the canvas has it. */
#include "analysis/diff.h"
#include "io/text.h"
#include "recognise/recognise.h"
#include "ui/file-dialog.h"
#include "ui/file-set.h"
#include "ui/window-private.h"

#define LOOK_MS 100 /* how often progress is looked at */

/* The worker's side. */
typedef struct
{
  TmModel *candidate, *reference; /* own references; reference NULL: to be opened */
  char *path;
  GMutex lock;
  double fraction; /* below 0: not known */
} Work;

typedef struct
{
  TmWindow *window;
  TmJob *job;
  GTask *task;
  char *name;
  guint timer;
} Comparing;

static void
work_free (gpointer data)
{
  Work *work = data;

  g_object_unref (work->candidate);
  g_clear_object (&work->reference);
  g_free (work->path);
  g_mutex_clear (&work->lock);
  g_free (work);
}

static void
set_fraction (Work *work, double fraction)
{
  g_mutex_lock (&work->lock);
  work->fraction = fraction;
  g_mutex_unlock (&work->lock);
}

static void
on_align (double fraction, const char *text, gpointer work)
{
  set_fraction (work, fraction * 0.15);
}

static void
on_diff (double fraction, const char *text, gpointer work)
{
  set_fraction (work, 0.15 + fraction * 0.85);
}

static void
compare_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) reference
      = work->reference ? g_object_ref (work->reference) : tm_open_model (work->path, cancellable, &error);
  g_autoptr (TmAlignment) alignment
      = reference ? tm_align (work->candidate, reference, NULL, 0, on_align, work, cancellable, &error) : NULL;
  g_autoptr (TmDiff) diff = alignment ? tm_diff_run (alignment, on_diff, work, cancellable, &error) : NULL;

  if (diff)
    g_task_return_pointer (task, g_steal_pointer (&diff), (GDestroyNotify) tm_diff_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static gboolean
look (gpointer data)
{
  Comparing *comparing = data;
  Work *work = g_task_get_task_data (comparing->task);

  g_mutex_lock (&work->lock);
  const double fraction = work->fraction;
  g_mutex_unlock (&work->lock);
  tm_jobs_set_progress (comparing->window->jobs, comparing->job, fraction);
  return G_SOURCE_CONTINUE;
}

static void
say (TmWindow *self, const char *format, const char *name)
{
  g_autofree char *message = g_strdup_printf (format, name);

  tm_status_bar_set_message (self->status_bar, message);
}

static void
take_diff (TmWindow *self, TmDiff *diff, const char *name)
{
  if (diff->alignment->candidate != tm_document_get_model (self->document))
    return; /* the model it was asked for is gone */
  tm_document_set_diff (self->document, diff);
  g_set_object (&self->reference, diff->alignment->reference);
  if (diff->alignment->pairs->len == 0)
    {
      g_autofree char *message = g_strdup_printf ("No tensor of %s has a counterpart in this model: names, shapes and values "
                                                  "say that they are different models.", name);

      tm_window_show_problem (self, message);
    }
  else
    tm_document_set_overlay (self->document, TM_OVERLAY_ERROR);
  say (self, "Compared with %s", name);
}

static void
compare_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Comparing *comparing = data;
  TmWindow *self = comparing->window;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmDiff) diff = g_task_propagate_pointer (G_TASK (result), &error);

  g_source_remove (comparing->timer);
  tm_jobs_end (self->jobs, comparing->job);
  if (self->comparing == g_task_get_cancellable (G_TASK (result)))
    g_clear_object (&self->comparing);
  if (gtk_widget_in_destruction (GTK_WIDGET (self)) || !gtk_window_get_application (GTK_WINDOW (self)))
    ; /* closed meanwhile */
  else if (diff)
    take_diff (self, diff, comparing->name);
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    say (self, "Comparing with %s was cancelled", comparing->name);
  else
    {
      g_autofree char *message = g_strdup_printf ("%s: %s", comparing->name, error->message);

      tm_window_show_problem (self, message);
    }
  g_object_unref (self);
  g_free (comparing->name);
  g_free (comparing);
}

/* With what is at path, or with a model that is open. One at a time: a newer one ends an older. */
static void
start (TmWindow *self, const char *path, TmModel *reference)
{
  TmModel *model = tm_document_get_model (self->document);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = NULL;
  g_autofree char *base = g_path_get_basename (path), *label = NULL;
  Comparing *comparing;
  Work *work;

  if (!model)
    return;
  tm_window_stop_comparing (self);
  self->comparing = g_object_ref (cancellable);
  comparing = g_new0 (Comparing, 1);
  comparing->window = g_object_ref (self);
  comparing->name = tm_text_escape (base, -1);
  label = g_strdup_printf ("Comparing with %s", comparing->name);
  comparing->job = tm_jobs_start (self->jobs, label, cancellable);

  work = g_new0 (Work, 1);
  g_mutex_init (&work->lock);
  work->candidate = g_object_ref (model);
  work->reference = reference ? g_object_ref (reference) : NULL;
  work->path = g_strdup (path);
  work->fraction = -1;

  comparing->task = task = g_task_new (NULL, cancellable, compare_done, comparing);
  g_task_set_task_data (task, work, work_free);
  g_task_set_return_on_cancel (task, TRUE);
  comparing->timer = g_timeout_add (LOOK_MS, look, comparing);
  g_task_run_in_thread (task, compare_run);
}

void
tm_window_stop_comparing (TmWindow *self)
{
  if (self->comparing)
    g_cancellable_cancel (self->comparing);
  g_clear_object (&self->comparing);
}

void
tm_window_compare (TmWindow *self, const char *path)
{
  if (tm_document_get_model (self->document))
    tm_banner_clear (self->banner); /* what was said about another reference */
  start (self, path, NULL);
}

void
tm_window_compare_any (TmWindow *self, GPtrArray *paths)
{
  g_autoptr (GPtrArray) models = tm_file_set_group (paths);

  if (models->len == 1)
    tm_window_compare (self, g_ptr_array_index (models, 0));
  else if (models->len > 1)
    tm_window_show_problem (self, "Compare takes one model, and there are several. Drop one of them.");
}

/* The model was read again: what it is compared with stays. */
void
tm_window_compare_again (TmWindow *self, TmModel *reference)
{
  start (self, reference->path, reference);
}

static void
on_chosen (GListModel *files, gpointer data)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < g_list_model_get_n_items (files); i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);
      char *path = g_file_get_path (file);

      if (path)
        g_ptr_array_add (paths, path);
    }
  tm_window_compare_any (data, paths);
}

void
tm_window_choose_reference (TmWindow *self, gboolean folder)
{
  tm_file_dialog_open (GTK_WINDOW (self), folder ? "Compare with a Model Folder" : "Compare with a Model", folder, on_chosen,
                       self);
}
