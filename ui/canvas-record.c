#include "ui/canvas-record.h"

typedef struct
{
  TmModel *model;
  guint tensor;
  guint64 flat;
} Job;

typedef struct
{
  char *raw, *value, *text, *problem;
} Texts;

static void
job_free (gpointer data)
{
  Job *job = data;

  g_object_unref (job->model);
  g_free (job);
}

static void
texts_free (gpointer data)
{
  Texts *texts = data;

  g_free (texts->raw);
  g_free (texts->value);
  g_free (texts->text);
  g_free (texts->problem);
  g_free (texts);
}

static void
run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  const TmTensor *tensor = tm_model_tensor (job->model, job->tensor);
  g_autofree guint64 *index = g_new0 (guint64, MAX (tensor->rank, 1));
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  Texts *texts = g_new0 (Texts, 1);

  tm_tensor_unflatten (tensor, job->flat, index);
  if (tm_tensor_explain (tensor, index, &scalar, &error))
    {
      if (tensor->quantized && scalar.has_raw)
        texts->raw = g_strdup_printf ("%" G_GINT64_FORMAT, scalar.raw);
      texts->value = tm_scalar_format_value (&scalar);
      texts->text = tm_scalar_to_text (&scalar);
    }
  else
    texts->problem = g_strdup (error ? error->message : "cannot be read");
  g_task_return_pointer (task, texts, texts_free);
}

static void
finished (GObject *source, GAsyncResult *result, gpointer data)
{
  TmRecord *record = data;
  Texts *texts;

  /* A record that was freed cancelled its job: it must not be touched any more. */
  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return;
  texts = g_task_propagate_pointer (G_TASK (result), NULL);
  if (!texts)
    return;
  record->raw = g_steal_pointer (&texts->raw);
  record->value = g_steal_pointer (&texts->value);
  record->text = g_steal_pointer (&texts->text);
  record->problem = g_steal_pointer (&texts->problem);
  texts_free (texts);
  record->ready = TRUE;
  record->done (record, record->data);
}

TmRecord *
tm_record_new (TmModel *model, guint tensor, guint64 flat, void (*done) (TmRecord *, gpointer), gpointer data)
{
  TmRecord *record = g_new0 (TmRecord, 1);
  Job *job = g_new0 (Job, 1);
  g_autoptr (GTask) task = NULL;

  record->model = g_object_ref (model);
  record->tensor = tensor;
  record->flat = flat;
  record->done = done;
  record->data = data;
  record->job = g_cancellable_new ();
  *job = (Job) { g_object_ref (model), tensor, flat };
  task = g_task_new (NULL, record->job, finished, record);
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, run);
  return record;
}

void
tm_record_free (TmRecord *record)
{
  if (!record)
    return;
  g_cancellable_cancel (record->job);
  g_object_unref (record->job);
  g_object_unref (record->model);
  g_free (record->raw);
  g_free (record->value);
  g_free (record->text);
  g_free (record->problem);
  g_free (record);
}

gboolean
tm_record_is (const TmRecord *record, TmModel *model, guint tensor, guint64 flat)
{
  return record && record->model == model && record->tensor == tensor && record->flat == flat;
}
