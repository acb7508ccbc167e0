/* Inspector: answers in this order: raw and dequantized side by side; the formula with numbers; the group; the tensor.
 * A scalar is explained on a worker, since a read can block on a slow disk; the old page stays until the new one is there. */
#include "ui/accessible.h"
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"
#include "ui/widgets.h"

#include "io/text.h"

#include <math.h>

#define TM_TYPE_INSPECTOR (tm_inspector_get_type ())
G_DECLARE_FINAL_TYPE (TmInspector, tm_inspector, TM, INSPECTOR, GtkWidget)

struct _TmInspector
{
  GtkWidget parent_instance;
  TmDocument *document;
  GtkWidget *scrolled, *page;
  GCancellable *explaining;
  guint known; /* of the selection's statistics when it was last asked */
  TmZerosShown zeros;
};

G_DEFINE_FINAL_TYPE (TmInspector, tm_inspector, GTK_TYPE_WIDGET)

static GtkWidget *
page_new (void)
{
  GtkWidget *page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_add_css_class (page, "inspector-page");
  return page;
}

static void
set_page (TmInspector *self, GtkWidget *page)
{
  /* Moving from scalar to scalar must not jump: the scroll position outlives the page. */
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scrolled));
  double at = gtk_adjustment_get_value (adjustment);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scrolled), page);
  self->page = page;
  tm_accessible_name_parts (page); /* switches have parts of their own */
  gtk_adjustment_set_value (adjustment, at);
}

/* --- Scalars ------------------------------------------------------------------------------------------------------ */

typedef struct
{
  TmModel *model; /* own reference: keeps the tensor alive */
  guint tensor;
  TmScalar scalar;
  TmGroupRange range;
  gboolean has_range;
  TmPackingCard *packing; /* NULL where there is no picture of it */
  char *fault;
  guint64 *index;
  TmDiff *diff; /* NULL: not compared */
  TmDelta delta;
  TmScalar baseline;
  char *delta_fault;
  TmModel *causes; /* zeros by cause; NULL: not made */
  int cause;       /* TmZeroCause, or −1 */
} ExplainJob;

static void
explain_job_free (ExplainJob *job)
{
  tm_scalar_clear (&job->scalar);
  tm_packing_card_unref (job->packing);
  tm_scalar_clear (&job->baseline);
  g_clear_pointer (&job->diff, tm_diff_unref);
  g_clear_object (&job->causes);
  g_free (job->delta_fault);
  g_free (job->fault);
  g_free (job->index);
  g_object_unref (job->model);
  g_free (job);
}

/* The reference's side of the same scalar. */
static void
explain_delta (ExplainJob *job)
{
  const TmAlignedPair *pair = tm_alignment_find (job->diff->alignment, job->tensor);
  g_autoptr (GError) error = NULL;

  if (pair == NULL)
    {
      job->delta_fault = g_strdup ("Not aligned: the reference has no counterpart of this tensor.");
      return;
    }
  if (!tm_diff_explain (job->diff->alignment, pair, job->index, &job->delta, &error))
    {
      job->delta_fault = tm_text_escape (error->message, -1);
      return;
    }
  const TmTensor *reference = tm_model_tensor (job->diff->alignment->reference, job->delta.reference);
  g_autofree guint64 *index = g_new0 (guint64, reference->rank + 1);
  tm_tensor_unflatten (reference, job->delta.reference_flat, index);
  tm_tensor_explain (reference, index, &job->baseline, NULL);
}

static void
explain_cause (ExplainJob *job, GCancellable *cancellable)
{
  const TmTensor *tensor = tm_model_tensor (job->causes, job->tensor);
  float cause;
  if (tensor->codec != NULL
      && tm_tensor_decode (tensor, TM_QUANTITY_VALUE, tm_tensor_flatten (tensor, job->index), 1, &cause, cancellable, NULL))
    job->cause = (int) cause;
}

static void
explain_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  ExplainJob *job = data;
  const TmTensor *tensor = tm_model_tensor (job->model, job->tensor);
  g_autoptr (GError) error = NULL;
  if (g_task_return_error_if_cancelled (task))
    return;
  if (!tm_tensor_explain (tensor, job->index, &job->scalar, &error))
    {
      job->fault = g_strdup (error->message);
      tm_scalar_clear (&job->scalar);
      job->scalar.rank = tensor->rank;
      job->scalar.index = g_memdup2 (job->index, sizeof (guint64) * tensor->rank);
    }
  else
    {
      job->has_range = tm_tensor_get_group_range (tensor, &job->scalar, &job->range, cancellable, NULL);
      if (job->diff != NULL)
        explain_delta (job);
      if (job->causes != NULL)
        explain_cause (job, cancellable);
      if (tensor->quantized)
        job->packing = tm_packing_card_new (tensor, &job->scalar, NULL);
    }
  g_task_return_boolean (task, TRUE);
}

static double
get_number (const TmScalar *scalar)
{
  return scalar->value.kind == TM_NUMBER_F32   ? (double) scalar->value.as.f32
         : scalar->value.kind == TM_NUMBER_F64 ? scalar->value.as.f64
                                               : (double) NAN;
}

static void
explain_done (GObject *object, GAsyncResult *result, gpointer user_data)
{
  TmInspector *self = TM_INSPECTOR (object);
  ExplainJob *job = g_task_get_task_data (G_TASK (result));
  /* GTask answers "cancelled" even when the work won the race, so a stale record is never shown. */
  if (!g_task_propagate_boolean (G_TASK (result), NULL) || self->document == NULL
      || job->model != tm_document_get_model (self->document))
    return;
  GtkWidget *page = page_new ();
  /* First what the picture shows. */
  TmOverlay overlay = tm_document_get_overlay (self->document);
  gboolean first = overlay == TM_OVERLAY_ERROR;
  if (overlay == TM_OVERLAY_BACKEND)
    tm_inspector_add_chosen_support (page, self->document, job->tensor);
  if (!first)
    tm_inspector_add_scalar (page, self->document, job->tensor, &job->scalar, job->has_range ? &job->range : NULL, job->fault);
  if (job->diff != NULL && job->fault == NULL)
    tm_inspector_add_delta (page, self->document, job->tensor, &job->scalar, &job->delta, &job->baseline, job->delta_fault);
  if (first)
    tm_inspector_add_scalar (page, self->document, job->tensor, &job->scalar, job->has_range ? &job->range : NULL, job->fault);
  if (overlay == TM_OVERLAY_SPARSITY)
    tm_inspector_add_sparsity (page, self->document, job->tensor, job->cause);
  tm_inspector_add_assumptions (page, self->document, job->tensor);
  if (job->packing != NULL)
    tm_inspector_add_packing (page, self->document, job->packing);
  tm_inspector_add_tensor_error (page, self->document, job->tensor);
  tm_inspector_add_scale_ranges (page, self->document, job->tensor);
  tm_inspector_add_tensor (page, self->document, job->tensor);
  tm_inspector_add_distribution (page, self->document, job->tensor, get_number (&job->scalar));
  if (overlay != TM_OVERLAY_SPARSITY)
    tm_inspector_add_sparsity (page, self->document, job->tensor, job->cause);
  tm_inspector_add_operands (page, self->document, job->tensor);
  tm_inspector_add_support (page, self->document, job->tensor);
  set_page (self, page);
}

static void
explain_start (TmInspector *self, guint tensor, guint64 flat)
{
  TmModel *model = tm_document_get_model (self->document);
  const TmTensor *t = tm_model_tensor (model, tensor);
  ExplainJob *job = g_new0 (ExplainJob, 1);
  job->model = g_object_ref (model);
  TmComparison *comparison = tm_document_get_comparison (self->document);
  job->diff = comparison != NULL ? tm_diff_ref (tm_comparison_get_diff (comparison)) : NULL;
  job->tensor = tensor;
  TmZeros *zeros = tm_document_peek_zeros (self->document);
  job->cause = -1;
  job->causes = zeros != NULL && tm_zeros_get_causes (zeros) != NULL ? g_object_ref (tm_zeros_get_causes (zeros)) : NULL;
  job->index = g_new0 (guint64, t->rank + 1);
  tm_tensor_unflatten (t, flat, job->index);
  self->explaining = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->explaining, explain_done, NULL);
  g_task_set_task_data (task, job, (GDestroyNotify) explain_job_free);
  g_task_set_check_cancellable (task, TRUE);
  g_task_run_in_thread (task, explain_run);
}

/* --- Everything else ------------------------------------------------------------------------------------------------ */

static void
update (TmInspector *self)
{
  g_cancellable_cancel (self->explaining);
  g_clear_object (&self->explaining);

  TmModel *model = tm_document_get_model (self->document);
  guint tensor;
  guint64 flat;
  if (model != NULL && tm_document_get_tensor (self->document, &tensor))
    self->zeros = tm_inspector_get_zeros_shown (self->document, tensor);
  if (model != NULL && tm_document_get_scalar (self->document, &tensor, &flat))
    {
      explain_start (self, tensor, flat);
      return;
    }

  GtkWidget *page = page_new ();
  TmOverlay overlay = tm_document_get_overlay (self->document);
  if (model != NULL)
    {
      const TmAddress *address = tm_document_get_selection (self->document);
      TmAddressKind kind = address != NULL ? address->kind : TM_ADDRESS_MODEL;
      if (kind == TM_ADDRESS_TENSOR)
        {
          if (address->within == TM_WITHIN_REGION)
            tm_inspector_add_region (page, self->document, address);
          if (overlay == TM_OVERLAY_BACKEND)
            tm_inspector_add_chosen_support (page, self->document, address->tensor);
          if (overlay == TM_OVERLAY_SPARSITY)
            tm_inspector_add_sparsity (page, self->document, address->tensor, -1);
          tm_inspector_add_assumptions (page, self->document, address->tensor);
          tm_inspector_add_tensor_error (page, self->document, address->tensor);
          tm_inspector_add_scale_ranges (page, self->document, address->tensor);
          tm_inspector_add_tensor (page, self->document, address->tensor);
          tm_inspector_add_distribution (page, self->document, address->tensor, (double) NAN);
          if (overlay != TM_OVERLAY_SPARSITY)
            tm_inspector_add_sparsity (page, self->document, address->tensor, -1);
          tm_inspector_add_operands (page, self->document, address->tensor);
          tm_inspector_add_support (page, self->document, address->tensor);
        }
      else if (kind == TM_ADDRESS_STORED)
        tm_inspector_add_stored (page, self->document, address->tensor);
      else if (kind == TM_ADDRESS_FOLD)
        {
          const TmFold *fold = &g_array_index (address->module->folds, TmFold, address->fold);
          tm_inspector_add_module (page, self->document, address->module, fold);
        }
      else if (kind == TM_ADDRESS_MODULE && address->module != model->root)
        {
          tm_inspector_add_total_error (page, self->document, address->module);
          tm_inspector_add_module (page, self->document, address->module, NULL);
          tm_inspector_add_total_distribution (page, self->document, address->module);
        }
      else
        {
          if (overlay == TM_OVERLAY_BACKEND)
            tm_inspector_add_chosen_support (page, self->document, -1);
          tm_inspector_add_total_error (page, self->document, model->root);
          tm_inspector_add_model (page, self->document);
        }
    }
  set_page (self, page);
}

static void
selection_changed (TmDocument *document, TmInspector *self)
{
  self->known = 0;
  update (self);
}

static void
document_changed (TmDocument *document, TmInspector *self)
{
  update (self);
}

/* A page that shows all there is of its statistics stays as it is: somebody may be dragging in it. */
static void
statistics_changed (TmDocument *document, TmInspector *self)
{
  TmStatisticsSet *set = tm_document_get_statistics (document);
  guint tensor, known = 0;
  if (set == NULL)
    return;
  if (tm_document_get_tensor (document, &tensor))
    {
      g_autoptr (TmStatistics) statistics = tm_statistics_set_get (set, tensor);
      TmComparison *comparison = tm_document_get_comparison (document);
      known = statistics != NULL ? 1 + statistics->parts : 0;
      if (comparison != NULL && tm_comparison_has_scale_ranges (comparison, tensor))
        known += 1 + TM_STATISTICS_ALL + 1;
    }
  else
    { /* sums are shown when nothing is missing any more */
      const TmAddress *address = tm_document_get_selection (document);
      const TmModule *module = address->kind == TM_ADDRESS_MODULE ? address->module
                                                                  : tm_document_get_model (document)->root;
      known = tm_statistics_set_has_all (set, module) ? 1 : 0;
    }
  if (known != 0 && known != self->known)
    update (self);
  self->known = known;
}

static void
sparsity_changed (TmDocument *document, TmInspector *self)
{
  guint tensor;

  if (tm_document_get_tensor (document, &tensor) && tm_inspector_get_zeros_shown (document, tensor) != self->zeros)
    update (self);
}

static void
tm_inspector_dispose (GObject *object)
{
  TmInspector *self = TM_INSPECTOR (object);
  g_cancellable_cancel (self->explaining);
  g_clear_object (&self->explaining);
  g_clear_pointer (&self->scrolled, gtk_widget_unparent);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_inspector_parent_class)->dispose (object);
}

static void
tm_inspector_class_init (TmInspectorClass *class)
{
  G_OBJECT_CLASS (class)->dispose = tm_inspector_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "inspector");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_inspector_init (TmInspector *self)
{
  self->scrolled = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_parent (self->scrolled, GTK_WIDGET (self));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Inspector", -1);
}

GtkWidget *
tm_inspector_new (TmDocument *document)
{
  TmInspector *self = g_object_new (TM_TYPE_INSPECTOR, NULL);
  self->document = g_object_ref (document);
  g_signal_connect_object (document, "model-changed", G_CALLBACK (document_changed), self, 0);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (selection_changed), self, 0);
  g_signal_connect_object (document, "comparison-changed", G_CALLBACK (document_changed), self, 0);
  g_signal_connect_object (document, "statistics-changed", G_CALLBACK (statistics_changed), self, 0);
  g_signal_connect_object (document, "sparsity-changed", G_CALLBACK (sparsity_changed), self, 0);
  g_signal_connect_object (document, "view-changed", G_CALLBACK (document_changed), self, 0);
  update (self);
  return GTK_WIDGET (self);
}
