/* Counting zeros by cause: of all tensors while the overlay that shows them is chosen, of one where somebody asks. What was
 * found stays, also when it is cancelled. */
#include "ui/window-private.h"

#define LOOK_MS 150
#define LOOK_MS_PER_TENSORS 1000u  /* every so many tensors make a look a millisecond rarer: all marks are made anew */
#define BATCH_ELEMENTS (1u << 25)  /* tensors are counted so many elements at a time, and shown then */
#define BATCH_TENSORS 256u

typedef struct
{
  gint ref_count;
  TmModel *model;
  TmAlignment *alignment; /* or NULL */
  GArray *tensors;        /* guint, in order */
  guint64 elements;       /* of all of them */

  GMutex lock;
  GPtrArray *arrived;     /* TmSparsity */
  guint64 done, batch;    /* elements counted, and of the batch under way */
  double fraction;
} Work;

typedef struct
{
  TmWindow *window;
  Work *work;
  GCancellable *cancellable;
  TmJob *job;
  guint timer, tensor;
  gboolean all;
} Counting;

static void
work_unref (gpointer data)
{
  Work *work = data;

  if (!g_atomic_int_dec_and_test (&work->ref_count))
    return;
  g_object_unref (work->model);
  g_clear_pointer (&work->alignment, tm_alignment_unref);
  g_array_unref (work->tensors);
  g_ptr_array_unref (work->arrived);
  g_mutex_clear (&work->lock);
  g_free (work);
}

/* --- On a worker ------------------------------------------------------------------------------------------------- */

static void
on_progress (double fraction, const char *text, gpointer data)
{
  Work *work = data;

  g_mutex_lock (&work->lock);
  work->fraction = (double) work->done + fraction * (double) work->batch;
  g_mutex_unlock (&work->lock);
}

static guint
take_batch (const Work *work, guint first, guint64 *elements)
{
  guint n = 0;

  for (*elements = 0; first + n < work->tensors->len && n < BATCH_TENSORS && *elements < BATCH_ELEMENTS; n++)
    *elements += tm_model_tensor (work->model, g_array_index (work->tensors, guint, first + n))->n_elements;
  return n;
}

static void
count_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  g_autoptr (GError) error = NULL;
  guint n;

  for (guint first = 0; first < work->tensors->len; first += n)
    {
      g_autoptr (GPtrArray) found = NULL;
      guint64 elements;

      n = take_batch (work, first, &elements);
      g_mutex_lock (&work->lock);
      work->batch = elements;
      g_mutex_unlock (&work->lock);
      found = tm_sparsity_run (work->model, work->alignment, &g_array_index (work->tensors, guint, first), n, on_progress, work,
                               cancellable, &error);
      if (!found)
        {
          g_task_return_error (task, g_steal_pointer (&error));
          return;
        }
      g_mutex_lock (&work->lock);
      work->done += elements;
      work->batch = 0;
      work->fraction = (double) work->done;
      for (guint i = 0; i < found->len; i++)
        g_ptr_array_add (work->arrived, tm_sparsity_ref (g_ptr_array_index (found, i)));
      g_mutex_unlock (&work->lock);
    }
  g_task_return_boolean (task, TRUE);
}

/* --- In the window ------------------------------------------------------------------------------------------------ */

/* Whether it is what the document says is under way: one that was stopped, or gave way to another, only hands in what it found. */
static gboolean
is_newest (const Counting *counting)
{
  return counting->window->counting == counting->cancellable;
}

/* What was found is of the model as it is shown, and against what it is compared with now. */
static gboolean
is_current (const Counting *counting)
{
  TmWindow *self = counting->window;
  TmZeros *zeros;

  if (gtk_widget_in_destruction (GTK_WIDGET (self)) || !self->document
      || tm_document_get_model (self->document) != counting->work->model)
    return FALSE;
  zeros = tm_document_peek_zeros (self->document);
  return zeros && tm_zeros_get_alignment (zeros) == counting->work->alignment;
}

static gboolean
look (gpointer data)
{
  Counting *counting = data;
  Work *work = counting->work;
  TmWindow *self = counting->window;
  g_autoptr (GPtrArray) arrived = NULL;
  double fraction;

  g_mutex_lock (&work->lock);
  arrived = g_steal_pointer (&work->arrived);
  work->arrived = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_sparsity_unref);
  fraction = work->elements ? work->fraction / (double) work->elements : 1;
  g_mutex_unlock (&work->lock);
  if (self->jobs)
    tm_jobs_set_progress (self->jobs, counting->job, fraction);
  if (!is_current (counting))
    return G_SOURCE_CONTINUE;
  if (arrived->len)
    tm_document_take_sparsity (self->document, arrived);
  if (is_newest (counting))
    tm_document_set_counting (self->document, counting->all ? TM_COUNTING_ALL : TM_COUNTING_ONE, counting->tensor, fraction);
  return G_SOURCE_CONTINUE;
}

static void
count_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Counting *counting = data;
  TmWindow *self = counting->window;
  const gboolean newest = is_newest (counting);
  const gboolean ok = g_task_propagate_boolean (G_TASK (result), NULL);

  g_source_remove (counting->timer);
  if (newest)
    g_clear_object (&self->counting);
  if (is_current (counting))
    {
      look (counting);
      if (newest)
        tm_document_set_counting (self->document, TM_COUNTING_NONE, 0, 0);
      if (!ok && newest)
        tm_status_bar_set_message (self->status_bar, "Counting zeros was cancelled; what was found stays");
    }
  if (self->jobs)
    tm_jobs_end (self->jobs, counting->job);
  work_unref (counting->work);
  g_object_unref (counting->cancellable);
  g_object_unref (self);
  g_free (counting);
}

/* tensor −1: all, the selected one first. */
static void
start (TmWindow *self, gint64 tensor)
{
  TmModel *model = tm_document_get_model (self->document);
  TmZeros *zeros = tm_document_get_zeros (self->document);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = NULL;
  Work *work = g_new0 (Work, 1);
  Counting *counting = g_new0 (Counting, 1);
  guint first = G_MAXUINT;

  tm_window_stop_counting (self);
  self->counting = g_object_ref (cancellable);
  work->ref_count = 2;
  work->model = g_object_ref (model);
  work->alignment = tm_zeros_get_alignment (zeros) ? tm_alignment_ref (tm_zeros_get_alignment (zeros)) : NULL;
  work->tensors = g_array_new (FALSE, FALSE, sizeof (guint));
  work->arrived = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_sparsity_unref);
  g_mutex_init (&work->lock);
  if (tensor >= 0)
    first = (guint) tensor;
  else
    tm_document_get_tensor (self->document, &first);
  if (first < model->tensors->len && !tm_zeros_get (zeros, first))
    g_array_append_val (work->tensors, first);
  for (guint i = 0; tensor < 0 && i < model->tensors->len; i++)
    if (i != first && !tm_zeros_get (zeros, i))
      g_array_append_val (work->tensors, i);
  for (guint i = 0; i < work->tensors->len; i++)
    work->elements += tm_model_tensor (model, g_array_index (work->tensors, guint, i))->n_elements;

  counting->window = g_object_ref (self);
  counting->work = work;
  counting->cancellable = g_object_ref (cancellable);
  counting->all = tensor < 0;
  counting->tensor = (guint) MAX (tensor, 0);
  counting->job = tm_jobs_start (self->jobs, "Counting zeros", cancellable);
  counting->timer = g_timeout_add (LOOK_MS + model->tensors->len / LOOK_MS_PER_TENSORS, look, counting);
  task = g_task_new (NULL, cancellable, count_done, counting);
  g_task_set_task_data (task, work, work_unref);
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, count_run);
  self->counting_all = counting->all;
  tm_document_set_counting (self->document, counting->all ? TM_COUNTING_ALL : TM_COUNTING_ONE, counting->tensor, 0);
}

void
tm_window_count_zeros (TmWindow *self, gint64 tensor)
{
  TmZeros *zeros = tm_document_get_zeros (self->document);

  if (!zeros || (tensor >= 0 ? tm_zeros_get (zeros, (guint) tensor) != NULL : tm_zeros_count_missing (zeros) == 0))
    return;
  if (!self->counting || !self->counting_all) /* all of them has this one too */
    start (self, tensor);
}

void
tm_window_stop_counting (TmWindow *self)
{
  if (self->counting)
    g_cancellable_cancel (self->counting);
  g_clear_object (&self->counting);
  self->counting_all = FALSE;
  if (self->document && tm_document_get_model (self->document))
    tm_document_set_counting (self->document, TM_COUNTING_NONE, 0, 0);
}

/* Follows the overlay: counts while it is chosen, and begins again when what zeros are compared with has changed. */
static void
follow (TmWindow *self)
{
  TmZeros *zeros = NULL;

  if (tm_document_get_model (self->document) && tm_document_get_overlay (self->document) == TM_OVERLAY_SPARSITY)
    zeros = tm_document_get_zeros (self->document);
  if (zeros == self->counted)
    return;
  self->counted = zeros; /* once: who cancels it is not asked again */
  if (zeros)
    tm_window_count_zeros (self, -1);
  else if (self->counting_all)
    tm_window_stop_counting (self);
}

static void
on_model_changed (TmWindow *self)
{
  self->counted = NULL;
  tm_window_stop_counting (self);
}

static void
on_comparison_changed (TmWindow *self)
{
  on_model_changed (self);
  follow (self);
}

void
tm_window_install_sparsity (TmWindow *self)
{
  g_signal_connect_swapped (self->document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (self->document, "comparison-changed", G_CALLBACK (on_comparison_changed), self);
  g_signal_connect_swapped (self->document, "view-changed", G_CALLBACK (follow), self);
  g_signal_connect_swapped (self->document, "layout-changed", G_CALLBACK (follow), self);
}
