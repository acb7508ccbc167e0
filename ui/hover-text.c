#include "ui/hover-text.h"

#include "io/number.h"
#include "io/text.h"

struct _TmHoverText
{
  TmDocument *document;
  void (*changed) (const char *text, gpointer data);
  gpointer data;
  GCancellable *running; /* one read at a time */
  gboolean again;        /* the pointer went on meanwhile */
};

typedef struct
{
  TmModel *model;
  TmModel *causes; /* under the overlay that shows them; else NULL */
  guint tensor;
  guint64 *index;
} Read;

static void start_read (TmHoverText *hover);

static void
read_free (gpointer data)
{
  Read *read = data;

  g_object_unref (read->model);
  g_clear_object (&read->causes);
  g_free (read->index);
  g_free (read);
}

static char *
describe_scalar (const TmTensor *tensor, const TmScalar *scalar)
{
  g_autofree char *value = tm_scalar_format_value (scalar);

  if (tensor->quantized && scalar->has_raw)
    return g_strdup_printf ("raw %" G_GINT64_FORMAT " · dequantized %s", scalar->raw, value);
  return g_strdup_printf ("value %s", value);
}

/* " · rounded to zero" */
static char *
describe_cause (const Read *read, GCancellable *cancellable)
{
  const TmTensor *tensor = read->causes ? tm_model_tensor (read->causes, read->tensor) : NULL;
  float cause;

  if (!tensor || !tensor->codec
      || !tm_tensor_decode (tensor, TM_QUANTITY_VALUE, tm_tensor_flatten (tensor, read->index), 1, &cause, cancellable, NULL)
      || !(cause >= 1 && cause < TM_N_ZERO_CAUSES))
    return g_strdup ("");
  return g_strconcat (" · ", tm_zero_cause_get_name ((TmZeroCause) cause), NULL);
}

static void
read_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Read *read = data;
  const TmTensor *tensor = tm_model_tensor (read->model, read->tensor);
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;

  if (tm_tensor_explain (tensor, read->index, &scalar, &error))
    {
      g_autofree char *text = describe_scalar (tensor, &scalar), *cause = describe_cause (read, cancellable);

      g_task_return_pointer (task, g_strconcat (text, cause, NULL), g_free);
    }
  else
    g_task_return_pointer (task, tm_text_escape (error->message, -1), g_free);
}

static void
read_done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmHoverText *hover = data;
  GTask *task = G_TASK (result);
  g_autofree char *text = g_task_propagate_pointer (task, NULL);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    return; /* hover is gone */
  g_clear_object (&hover->running);
  if (hover->again)
    start_read (hover);
  else if (text && tm_document_get_hover (hover->document))
    {
      TmModel *model = tm_document_get_model (hover->document);
      g_autofree char *address = tm_address_format (model, tm_document_get_hover (hover->document));
      g_autofree char *shown = tm_text_escape (address, -1);
      g_autofree char *line = g_strdup_printf ("%s   %s", shown, text);

      hover->changed (line, hover->data);
    }
}

static void
start_read (TmHoverText *hover)
{
  const TmAddress *at = tm_document_get_hover (hover->document);
  TmModel *model = tm_document_get_model (hover->document);
  g_autoptr (GTask) task = NULL;
  Read *read;

  hover->again = FALSE;
  if (!at || !model || at->kind != TM_ADDRESS_TENSOR || at->within != TM_WITHIN_INDEX)
    return;
  read = g_new0 (Read, 1);
  read->model = g_object_ref (model);
  if (tm_document_get_overlay (hover->document) == TM_OVERLAY_SPARSITY && tm_zeros_get_causes (tm_document_get_zeros (hover->document)))
    read->causes = g_object_ref (tm_zeros_get_causes (tm_document_get_zeros (hover->document)));
  read->tensor = at->tensor;
  read->index = g_memdup2 (at->start, MAX (at->rank, 1) * sizeof (guint64));
  hover->running = g_cancellable_new ();
  task = g_task_new (NULL, hover->running, read_done, hover);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, read, read_free);
  g_task_run_in_thread (task, read_run);
}

static char *
describe_whole (TmModel *model, const TmAddress *at)
{
  g_autofree char *address = tm_address_format (model, at);
  g_autofree char *shown = tm_text_escape (address, -1);

  if (at->kind == TM_ADDRESS_TENSOR)
    {
      const TmTensor *tensor = tm_model_tensor (model, at->tensor);
      g_autofree char *label = tm_text_escape (tensor->dtype_label, -1);
      g_autofree char *size = tm_format_size (tensor->bytes);
      g_autofree char *granularity = tm_granularity_describe (tensor->granularity);
      g_autoptr (GString) shape = g_string_new (NULL);

      for (guint i = 0; i < tensor->rank; i++)
        g_string_append_printf (shape, "%s%" G_GUINT64_FORMAT, i ? ", " : "", tensor->shape[i]);
      return g_strdup_printf ("%s   %s [%s] · %s · %s", shown, label, shape->str, size, granularity);
    }
  if (at->kind == TM_ADDRESS_MODULE && at->module)
    {
      g_autofree char *parameters = tm_format_parameters (at->module->parameters);
      g_autofree char *size = tm_format_size (at->module->bytes);

      return g_strdup_printf ("%s   %s parameters · %s", shown, parameters, size);
    }
  return g_steal_pointer (&shown);
}

static void
on_hover (TmHoverText *hover)
{
  const TmAddress *at = tm_document_get_hover (hover->document);
  TmModel *model = tm_document_get_model (hover->document);
  g_autofree char *line = NULL;

  if (!at || !model || at->kind == TM_ADDRESS_MODEL)
    {
      hover->changed (NULL, hover->data);
      return;
    }
  if (at->kind == TM_ADDRESS_TENSOR && at->within == TM_WITHIN_INDEX)
    {
      if (hover->running)
        hover->again = TRUE;
      else
        start_read (hover);
      return;
    }
  line = describe_whole (model, at);
  hover->changed (line, hover->data);
}

TmHoverText *
tm_hover_text_new (TmDocument *document, void (*changed) (const char *text, gpointer data), gpointer data)
{
  TmHoverText *hover = g_new0 (TmHoverText, 1);

  hover->document = g_object_ref (document);
  hover->changed = changed;
  hover->data = data;
  g_signal_connect_swapped (document, "hover-changed", G_CALLBACK (on_hover), hover);
  return hover;
}

void
tm_hover_text_free (TmHoverText *hover)
{
  g_signal_handlers_disconnect_by_data (hover->document, hover);
  if (hover->running)
    g_cancellable_cancel (hover->running);
  g_clear_object (&hover->running);
  g_object_unref (hover->document);
  g_free (hover);
}
