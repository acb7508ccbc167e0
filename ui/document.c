#include "ui/document-private.h"

#define TILE_CACHE_BYTES (192u << 20) /* 768 tiles: several screens of every level, and a bound whatever the file's size */

G_DEFINE_FINAL_TYPE (TmDocument, tm_document, G_TYPE_OBJECT)

guint tm_document_signals[N_SIGNALS];

static void
cancel_layout (TmDocument *self)
{
  if (self->layout_job)
    g_cancellable_cancel (self->layout_job);
  g_clear_object (&self->layout_job);
}

static void
tm_document_finalize (GObject *object)
{
  TmDocument *self = TM_DOCUMENT (object);

  cancel_layout (self);
  g_clear_pointer (&self->comparison, tm_comparison_free);
  g_clear_pointer (&self->zeros, tm_zeros_free);
  g_clear_pointer (&self->support, tm_support_map_free);
  g_clear_pointer (&self->statistics, tm_statistics_set_unref);
  g_hash_table_unref (self->ranges);
  g_clear_pointer (&self->tiles, tm_tiles_free);
  g_clear_pointer (&self->layout, tm_layout_free);
  tm_address_clear (&self->selection);
  tm_address_clear (&self->hover);
  g_ptr_array_unref (self->history);
  g_hash_table_unref (self->unfolded);
  g_clear_pointer (&self->assume, tm_assume_free);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (tm_document_parent_class)->finalize (object);
}

static void
tm_document_class_init (TmDocumentClass *klass)
{
  static const char *const names[] = { "model-changed", "layout-changed", "selection-changed", "fly-to",
                                       "view-changed",  "tiles-changed",  "hover-changed",     "history-changed",
                                       "comparison-changed", "statistics-changed", "sparsity-changed", "counting" };

  G_OBJECT_CLASS (klass)->finalize = tm_document_finalize;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    tm_document_signals[i] = g_signal_new (names[i], TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  tm_document_signals[PROBLEM] = g_signal_new ("problem", TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                   G_TYPE_STRING);
  tm_document_signals[REOPEN] = g_signal_new ("reopen", TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                  G_TYPE_POINTER);
}

static void
tm_document_init (TmDocument *self)
{
  self->history = g_ptr_array_new_with_free_func (tm_document_history_entry_free);
  self->unfolded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->ranges = g_hash_table_new (NULL, NULL);
  self->overlay = TM_OVERLAY_VALUE;
  self->boundaries = TRUE;
  tm_theme_init (&self->theme, FALSE, 0);
}

TmDocument *
tm_document_new (void)
{
  return g_object_new (TM_TYPE_DOCUMENT, NULL);
}

/* --- Model and layout -------------------------------------------------------------------------------------------- */

typedef struct
{
  TmModel *model;
  GHashTable *unfolded;
  gboolean sort_columns;
} LayoutJob;

static void
layout_job_free (gpointer data)
{
  LayoutJob *job = data;

  g_object_unref (job->model);
  g_hash_table_unref (job->unfolded);
  g_free (job);
}

static void
layout_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  LayoutJob *job = data;
  TmLayout *layout = tm_layout_new (job->model, job->unfolded, cancellable);

  if (layout && job->sort_columns)
    tm_layout_sort_columns (layout);
  if (layout)
    g_task_return_pointer (task, layout, (GDestroyNotify) tm_layout_free);
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
}

static void
layout_done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmDocument *self = TM_DOCUMENT (source);
  g_autoptr (TmLayout) layout = g_task_propagate_pointer (G_TASK (result), NULL);

  /* A newer request has its own cancellable; what an old one made is of no use. */
  if (!layout || g_task_get_cancellable (G_TASK (result)) != self->layout_job)
    return;
  g_clear_object (&self->layout_job);

  /* Observers may still hold the old layout's boxes while they take the new one: it goes last. */
  g_autoptr (TmLayout) old G_GNUC_UNUSED = g_steal_pointer (&self->layout);
  self->layout = g_steal_pointer (&layout);
  tm_document_forget_judgements (self);
  g_signal_emit (self, tm_document_signals[LAYOUT_CHANGED], 0);
}

void
tm_document_start_layout (TmDocument *self)
{
  LayoutJob *job;
  GHashTableIter iter;
  gpointer path;

  cancel_layout (self);
  if (!self->model)
    return;

  job = g_new0 (LayoutJob, 1);
  job->model = g_object_ref (self->model);
  job->sort_columns = self->sort_columns;
  job->unfolded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_iter_init (&iter, self->unfolded);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    g_hash_table_add (job->unfolded, g_strdup (path));

  self->layout_job = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->layout_job, layout_done, NULL);
  g_task_set_task_data (task, job, layout_job_free);
  g_task_set_return_on_cancel (task, FALSE);
  g_task_run_in_thread (task, layout_run);
}

void
tm_document_tiles_arrived (gpointer data)
{
  g_signal_emit (data, tm_document_signals[TILES_CHANGED], 0);
}

/* Takes a new model; what the old one had is gone when the observers have heard of it. */
static void
take_model (TmDocument *self, TmModel *model)
{
  g_autoptr (TmModel) old_model G_GNUC_UNUSED = g_steal_pointer (&self->model);
  g_autoptr (TmLayout) old_layout G_GNUC_UNUSED = g_steal_pointer (&self->layout);
  TmTiles *old_tiles = g_steal_pointer (&self->tiles);
  TmComparison *old_comparison = g_steal_pointer (&self->comparison);
  TmZeros *old_zeros = tm_document_steal_zeros (self);
  TmSupportMap *old_support = g_steal_pointer (&self->support);
  const gint backend = old_support ? tm_support_map_get_backend (old_support) : -1;

  cancel_layout (self);
  /* Another model is not read through unasked. */
  if (self->overlay == TM_OVERLAY_ERROR || (self->overlay == TM_OVERLAY_SPARSITY && !self->keeps_view))
    self->overlay = TM_OVERLAY_VALUE;
  tm_address_clear (&self->hover);
  self->has_hover = FALSE;
  self->recorded_at = 0;
  self->can_sort = FALSE;
  g_clear_pointer (&self->statistics, tm_statistics_set_unref);
  g_hash_table_remove_all (self->ranges);
  if (model)
    {
      self->statistics = tm_statistics_set_new (model);
      self->model = g_object_ref (model);
      self->tiles = tm_tiles_new (model, TILE_CACHE_BYTES, tm_document_tiles_arrived, self);
      if (self->overlay == TM_OVERLAY_BACKEND)
        self->support = tm_support_map_new (model, backend, tm_document_support_arrived, self);
      for (guint i = 0; i < model->tensors->len && !self->can_sort; i++)
        self->can_sort = tm_model_tensor (model, i)->granularity != NULL && tm_model_tensor (model, i)->granularity->table != NULL;
    }

  g_signal_emit (self, tm_document_signals[MODEL_CHANGED], 0);
  tm_zeros_free (old_zeros);
  tm_support_map_free (old_support);
  if (old_comparison)
    {
      g_signal_emit (self, tm_document_signals[COMPARISON_CHANGED], 0);
      g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
      tm_comparison_free (old_comparison);
    }
  g_signal_emit (self, tm_document_signals[HOVER_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[SELECTION_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[HISTORY_CHANGED], 0);
  if (old_tiles)
    tm_tiles_free (old_tiles);
  tm_document_start_layout (self);
}

void
tm_document_set_model (TmDocument *self, TmModel *model)
{
  tm_address_clear (&self->selection);
  g_hash_table_remove_all (self->unfolded);
  g_ptr_array_set_size (self->history, 0);
  self->position = 0;
  g_clear_pointer (&self->assume, tm_assume_free);
  if (model)
    g_ptr_array_add (self->history, tm_document_history_entry_new (&self->selection));
  take_model (self, model);
}

/* Addresses go over as text: the new model has modules and indices of its own. What it does not have is left out. */
static void
move_history (TmDocument *self, TmModel *model)
{
  g_autoptr (GPtrArray) old = g_steal_pointer (&self->history);
  guint position = 0;

  self->history = g_ptr_array_new_with_free_func (tm_document_history_entry_free);
  for (guint i = 0; i < old->len; i++)
    {
      g_autofree char *text = tm_address_format (self->model, g_ptr_array_index (old, i));
      TmAddress address = TM_ADDRESS_INIT;

      if (text && tm_address_parse (model, text, &address, NULL))
        {
          g_ptr_array_add (self->history, tm_document_history_entry_new (&address));
          if (i <= self->position)
            position = self->history->len - 1;
        }
      tm_address_clear (&address);
    }
  if (self->history->len == 0)
    {
      TmAddress whole = TM_ADDRESS_INIT;
      g_ptr_array_add (self->history, tm_document_history_entry_new (&whole));
    }
  self->position = position;
  tm_address_clear (&self->selection);
  tm_address_copy (g_ptr_array_index (self->history, position), &self->selection);
}

void
tm_document_replace_model (TmDocument *self, TmModel *model, const TmAssume *assume)
{
  TmAssume *copy = assume ? tm_assume_copy (assume) : NULL;

  if (!self->model)
    {
      tm_document_set_model (self, model);
      self->assume = copy;
      return;
    }
  move_history (self, model);
  g_clear_pointer (&self->assume, tm_assume_free);
  self->assume = copy;
  self->keeps_view = TRUE;
  take_model (self, model);
  self->keeps_view = FALSE;
}

gboolean
tm_document_keeps_view (TmDocument *self)
{
  return self->keeps_view;
}

const TmAssume *
tm_document_get_assume (TmDocument *self)
{
  return self->assume;
}

void
tm_document_assume (TmDocument *self, const char *tensor, const char *key, const char *value)
{
  g_autoptr (TmAssume) assume = tm_assume_copy (self->assume);
  g_autoptr (GError) error = NULL;

  if (!self->model)
    return;
  /* A choice for the whole model is meant for all of it: earlier ones for single tensors give way. */
  for (guint i = 0; !tensor && i < self->model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (self->model->assumptions, i);

      if (g_str_equal (assumption->key, key))
        tm_assume_unset (assume, assumption->tensor, key);
    }
  if (!value)
    tm_assume_unset (assume, tensor, key);
  else if (!tm_assume_set (assume, tensor, key, value, &error))
    {
      tm_document_report_problem (self, error->message);
      return;
    }
  g_signal_emit (self, tm_document_signals[REOPEN], 0, assume);
}

void
tm_document_forget_assumptions (TmDocument *self)
{
  g_autoptr (TmAssume) none = tm_assume_new ();

  if (self->model)
    g_signal_emit (self, tm_document_signals[REOPEN], 0, none);
}

TmModel *
tm_document_get_model (TmDocument *self)
{
  return self->model;
}

const TmLayout *
tm_document_get_layout (TmDocument *self)
{
  return self->layout;
}

TmTiles *
tm_document_get_tiles (TmDocument *self)
{
  return self->tiles;
}

/* --- Comparison --------------------------------------------------------------------------------------------------- */

static void
on_measured (gpointer document)
{
  g_signal_emit (document, tm_document_signals[STATISTICS_CHANGED], 0);
}

void
tm_document_set_diff (TmDocument *self, TmDiff *diff)
{
  TmComparison *old = self->comparison;
  TmZeros *old_zeros;

  if (diff && diff->alignment->candidate != self->model)
    return;
  if (!diff && !old)
    return;
  self->comparison = diff ? tm_comparison_new (diff, tm_document_tiles_arrived, self) : NULL;
  if (diff)
    tm_comparison_watch (self->comparison, on_measured, self);
  old_zeros = tm_document_steal_zeros (self); /* causes are against what it is compared with */
  if (!diff && self->overlay == TM_OVERLAY_ERROR)
    self->overlay = TM_OVERLAY_VALUE;
  g_signal_emit (self, tm_document_signals[COMPARISON_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[SPARSITY_CHANGED], 0);
  tm_comparison_free (old);
  tm_zeros_free (old_zeros);
}

TmComparison *
tm_document_get_comparison (TmDocument *self)
{
  return self->comparison;
}

/* --- Statistics --------------------------------------------------------------------------------------------------- */

TmStatisticsSet *
tm_document_get_statistics (TmDocument *self)
{
  return self->statistics;
}

/* The exact 99.9th percentile of magnitude in place of the sample's. */
static void
use_exact_range (TmDocument *self, guint tensor)
{
  g_autoptr (TmStatistics) statistics = self->statistics ? tm_statistics_set_get (self->statistics, tensor) : NULL;

  if (!statistics || statistics->fault || !(statistics->parts & TM_STATISTICS_VALUES)
      || g_hash_table_contains (self->ranges, GUINT_TO_POINTER (tensor + 1)))
    return;
  tm_tiles_set_range (self->tiles, tensor, TM_QUANTITY_VALUE,
                      (float) tm_distribution_get_magnitude_percentile (&statistics->values, 99.9));
}

void
tm_document_statistics_arrived (TmDocument *self)
{
  guint tensor;

  if (tm_document_get_tensor (self, &tensor))
    use_exact_range (self, tensor);
  g_signal_emit (self, tm_document_signals[STATISTICS_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[TILES_CHANGED], 0);
}

void
tm_document_set_range (TmDocument *self, guint tensor, float range)
{
  if (!self->tiles)
    return;
  if (range > 0)
    g_hash_table_add (self->ranges, GUINT_TO_POINTER (tensor + 1));
  else
    g_hash_table_remove (self->ranges, GUINT_TO_POINTER (tensor + 1));
  tm_tiles_set_range (self->tiles, tensor, TM_QUANTITY_VALUE, range);
  if (!(range > 0))
    use_exact_range (self, tensor);
  g_signal_emit (self, tm_document_signals[TILES_CHANGED], 0);
}

/* --- View -------------------------------------------------------------------------------------------------------- */

TmOverlay
tm_document_get_overlay (TmDocument *self)
{
  return self->overlay;
}

void
tm_document_set_overlay (TmDocument *self, TmOverlay overlay)
{
  if (overlay >= TM_N_OVERLAYS || self->overlay == overlay || (overlay == TM_OVERLAY_ERROR && !self->comparison))
    return;
  self->overlay = overlay;
  tm_document_prepare_overlay (self);
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

TmReduce
tm_document_get_reduce (TmDocument *self)
{
  return self->reduce;
}

void
tm_document_set_reduce (TmDocument *self, TmReduce reduce)
{
  if (self->reduce == reduce)
    return;
  self->reduce = reduce;
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

gboolean
tm_document_get_boundaries (TmDocument *self)
{
  return self->boundaries;
}

void
tm_document_set_boundaries (TmDocument *self, gboolean boundaries)
{
  if (self->boundaries == !!boundaries)
    return;
  self->boundaries = !!boundaries;
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

gboolean
tm_document_can_sort_columns (TmDocument *self)
{
  return self->can_sort;
}

gboolean
tm_document_get_sort_columns (TmDocument *self)
{
  return self->sort_columns;
}

void
tm_document_set_sort_columns (TmDocument *self, gboolean sort)
{
  if (self->sort_columns == !!sort)
    return;
  self->sort_columns = !!sort;
  tm_document_start_layout (self);
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

const TmTheme *
tm_document_get_theme (TmDocument *self)
{
  return &self->theme;
}

void
tm_document_set_theme (TmDocument *self, gboolean dark, TmColor accent)
{
  tm_theme_init (&self->theme, dark, accent);
  tm_document_forget_judgements (self);
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

const TmAddress *
tm_document_get_hover (TmDocument *self)
{
  return self->has_hover ? &self->hover : NULL;
}

void
tm_document_set_hover (TmDocument *self, const TmAddress *address)
{
  if (!address && !self->has_hover)
    return;
  if (address && self->has_hover && tm_address_equal (address, &self->hover))
    return;
  tm_address_clear (&self->hover);
  self->has_hover = address != NULL;
  if (address)
    tm_address_copy (address, &self->hover);
  g_signal_emit (self, tm_document_signals[HOVER_CHANGED], 0);
}

void
tm_document_report_problem (TmDocument *self, const char *message)
{
  g_signal_emit (self, tm_document_signals[PROBLEM], 0, message);
}
