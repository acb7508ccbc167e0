/* Taking away: pictures at once, regions and reports on a worker, each whole or not at all. */
#include "analysis/report.h"
#include "io/text.h"
#include "model/export.h"
#include "ui/canvas-picture.h"
#include "ui/export-dialog.h"
#include "ui/window-private.h"

#define LOOK_MS 150

/* The worker's side. */
typedef struct
{
  TmModel *model;
  TmDiff *diff; /* reports: NULL where nothing is compared */
  TmTake take;
  char *path;
  TmAddress address;
  gint thousandths; /* atomic: how far */
} Work;

typedef struct
{
  TmWindow *window;
  TmJob *job;
  GTask *task;
  guint timer;
} Exporting;

static void
work_free (gpointer data)
{
  Work *work = data;

  g_object_unref (work->model);
  g_clear_pointer (&work->diff, tm_diff_unref);
  g_free (work->path);
  tm_address_clear (&work->address);
  g_free (work);
}

static gboolean
on_progress (guint64 done, guint64 total, gpointer data, GError **error)
{
  g_atomic_int_set (&((Work *) data)->thousandths, (gint) (done * 1000 / MAX (total, 1)));
  return TRUE;
}

static gboolean
write_region (Work *work, GCancellable *cancellable, GError **error)
{
  const gboolean part = work->address.within != TM_WITHIN_WHOLE;
  TmExport export = {
    .tensor = tm_model_tensor (work->model, work->address.tensor),
    .quantity = work->take == TM_TAKE_RAW_CSV || work->take == TM_TAKE_RAW_NPY ? TM_QUANTITY_RAW : TM_QUANTITY_VALUE,
    .start = part ? work->address.start : NULL,
    .end = part ? work->address.end : NULL,
    .format = work->take == TM_TAKE_VALUES_NPY || work->take == TM_TAKE_RAW_NPY ? TM_EXPORT_NPY : TM_EXPORT_CSV,
    .progress = on_progress,
    .user_data = work,
  };

  return tm_export_file (&export, work->path, cancellable, error);
}

static void
export_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  g_autoptr (GError) error = NULL;
  gboolean written;

  if (work->take == TM_TAKE_REPORT_HTML || work->take == TM_TAKE_REPORT_JSON)
    written = tm_report_write (work->model, work->diff, work->take == TM_TAKE_REPORT_HTML ? TM_REPORT_HTML : TM_REPORT_JSON,
                               work->path, &error);
  else
    written = write_region (work, cancellable, &error);
  if (written)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
tell (TmWindow *self, const char *path, const GError *error)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = tm_text_escape (base, -1);
  g_autofree char *message = NULL;

  if (!error)
    message = g_strdup_printf ("Saved %s", name);
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    message = g_strdup_printf ("Saving %s was cancelled", name);
  else
    {
      message = g_strdup_printf ("%s was not saved: %s", name, error->message);
      tm_window_show_problem (self, message);
      return;
    }
  tm_status_bar_set_message (self->status_bar, message);
}

static void
export_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Exporting *exporting = data;
  TmWindow *self = exporting->window;
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;

  g_task_propagate_boolean (G_TASK (result), &error);
  g_source_remove (exporting->timer);
  tm_jobs_end (self->jobs, exporting->job);
  if (!gtk_widget_in_destruction (GTK_WIDGET (self)) && gtk_window_get_application (GTK_WINDOW (self)))
    tell (self, work->path, error);
  g_object_unref (self);
  g_free (exporting);
}

static gboolean
look (gpointer data)
{
  Exporting *exporting = data;
  Work *work = g_task_get_task_data (exporting->task);
  const gint thousandths = g_atomic_int_get (&work->thousandths);

  tm_jobs_set_progress (exporting->window->jobs, exporting->job, thousandths < 0 ? -1 : thousandths / 1000.0);
  return G_SOURCE_CONTINUE;
}

static void
start (TmWindow *self, TmTake take, const TmAddress *address, const char *path)
{
  TmComparison *comparison = tm_document_get_comparison (self->document);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = NULL;
  g_autofree char *base = g_path_get_basename (path), *name = tm_text_escape (base, -1);
  g_autofree char *label = g_strdup_printf ("Saving %s", name);
  Exporting *exporting = g_new0 (Exporting, 1);
  Work *work = g_new0 (Work, 1);

  work->model = g_object_ref (tm_document_get_model (self->document));
  work->diff = comparison ? tm_diff_ref (tm_comparison_get_diff (comparison)) : NULL;
  work->take = take;
  work->path = g_strdup (path);
  work->thousandths = -1;
  tm_address_copy (address, &work->address);

  exporting->window = g_object_ref (self);
  exporting->job = tm_jobs_start (self->jobs, label, take < TM_TAKE_REPORT_HTML ? cancellable : NULL);
  exporting->task = task = g_task_new (NULL, cancellable, export_done, exporting);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, work, work_free);
  exporting->timer = g_timeout_add (LOOK_MS, look, exporting);
  g_task_run_in_thread (task, export_run);
}

static void
on_chosen (TmTake take, const TmAddress *address, const char *path, gpointer data)
{
  TmWindow *self = data;

  if (!tm_document_get_model (self->document))
    return;
  if (take == TM_TAKE_PICTURE_PNG || take == TM_TAKE_PICTURE_SVG)
    {
      g_autoptr (GError) error = NULL;

      tm_canvas_write_picture (self->canvas, path, &error);
      tell (self, path, error);
    }
  else
    start (self, take, address, path);
}

static void
present (TmWindow *self, const TmAddress *address, gboolean part)
{
  GtkWidget *dialog = tm_export_dialog_new (GTK_WINDOW (self), self->document, address, part, on_chosen, self);

  if (gtk_widget_has_css_class (GTK_WIDGET (self), "dark"))
    gtk_widget_add_css_class (dialog, "dark");
  gtk_window_present (GTK_WINDOW (dialog));
}

void
tm_window_export (TmWindow *self)
{
  present (self, tm_document_get_selection (self->document), FALSE);
}

void
tm_window_export_region (TmWindow *self)
{
  const TmAddress *selection = tm_document_get_selection (self->document);

  if (selection->kind == TM_ADDRESS_TENSOR)
    present (self, selection, TRUE);
}

void
tm_window_export_tensor (TmWindow *self)
{
  TmAddress address = { .kind = TM_ADDRESS_TENSOR };

  if (tm_document_get_tensor (self->document, &address.tensor))
    present (self, &address, TRUE);
}
