#include "ui/document.h"

#define TILE_CACHE_BYTES (192u << 20) /* 768 tiles: several screens of every level, and a bound whatever the file's size */
#define MERGE_WINDOW_US (G_USEC_PER_SEC)
#define MAX_HISTORY 500

struct _TmDocument
{
  GObject parent_instance;

  TmModel *model;
  TmLayout *layout;
  TmTiles *tiles;
  TmComparison *comparison;
  TmStatisticsSet *statistics;
  GHashTable *ranges; /* tensor + 1: a person chose its colour range */
  GHashTable *unfolded; /* paths of the first folded modules */
  GCancellable *layout_job;
  TmAssume *assume;     /* a person's choices; NULL: none */
  gboolean keeps_view;

  TmAddress selection;
  TmAddress hover;
  gboolean has_hover;

  GPtrArray *history; /* TmAddress *; the entry at position is the selection */
  guint position;
  gint64 recorded_at;

  TmOverlay overlay;
  TmReduce reduce;
  gboolean boundaries;
  gboolean can_sort, sort_columns;
  TmTheme theme;
};

G_DEFINE_FINAL_TYPE (TmDocument, tm_document, G_TYPE_OBJECT)

enum
{
  MODEL_CHANGED,
  LAYOUT_CHANGED,
  SELECTION_CHANGED,
  FLY_TO,
  VIEW_CHANGED,
  TILES_CHANGED,
  HOVER_CHANGED,
  HISTORY_CHANGED,
  COMPARISON_CHANGED,
  STATISTICS_CHANGED,
  PROBLEM,
  REOPEN,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
history_entry_free (gpointer entry)
{
  tm_address_clear (entry);
  g_free (entry);
}

static TmAddress *
history_entry_new (const TmAddress *address)
{
  TmAddress *entry = g_new0 (TmAddress, 1);

  tm_address_copy (address, entry);
  return entry;
}

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
                                       "comparison-changed", "statistics-changed" };

  G_OBJECT_CLASS (klass)->finalize = tm_document_finalize;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    signals[i] = g_signal_new (names[i], TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PROBLEM] = g_signal_new ("problem", TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                   G_TYPE_STRING);
  signals[REOPEN] = g_signal_new ("reopen", TM_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                  G_TYPE_POINTER);
}

static void
tm_document_init (TmDocument *self)
{
  self->history = g_ptr_array_new_with_free_func (history_entry_free);
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
  g_autoptr (TmLayout) old = g_steal_pointer (&self->layout);
  self->layout = g_steal_pointer (&layout);
  if (self->comparison)
    tm_comparison_forget_marks (self->comparison);
  g_signal_emit (self, signals[LAYOUT_CHANGED], 0);
}

static void
start_layout (TmDocument *self)
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

static void
on_tiles (gpointer data)
{
  g_signal_emit (data, signals[TILES_CHANGED], 0);
}

/* Takes a new model; what the old one had is gone when the observers have heard of it. */
static void
take_model (TmDocument *self, TmModel *model)
{
  g_autoptr (TmModel) old_model = g_steal_pointer (&self->model);
  g_autoptr (TmLayout) old_layout = g_steal_pointer (&self->layout);
  TmTiles *old_tiles = g_steal_pointer (&self->tiles);
  TmComparison *old_comparison = g_steal_pointer (&self->comparison);

  cancel_layout (self);
  if (self->overlay == TM_OVERLAY_ERROR)
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
      self->tiles = tm_tiles_new (model, TILE_CACHE_BYTES, on_tiles, self);
      for (guint i = 0; i < model->tensors->len && !self->can_sort; i++)
        self->can_sort = tm_model_tensor (model, i)->granularity != NULL && tm_model_tensor (model, i)->granularity->table != NULL;
    }

  g_signal_emit (self, signals[MODEL_CHANGED], 0);
  if (old_comparison)
    {
      g_signal_emit (self, signals[COMPARISON_CHANGED], 0);
      g_signal_emit (self, signals[VIEW_CHANGED], 0);
      tm_comparison_free (old_comparison);
    }
  g_signal_emit (self, signals[HOVER_CHANGED], 0);
  g_signal_emit (self, signals[SELECTION_CHANGED], 0);
  g_signal_emit (self, signals[HISTORY_CHANGED], 0);
  if (old_tiles)
    tm_tiles_free (old_tiles);
  start_layout (self);
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
    g_ptr_array_add (self->history, history_entry_new (&self->selection));
  take_model (self, model);
}

/* Addresses go over as text: the new model has modules and indices of its own. What it does not have is left out. */
static void
move_history (TmDocument *self, TmModel *model)
{
  g_autoptr (GPtrArray) old = g_steal_pointer (&self->history);
  guint position = 0;

  self->history = g_ptr_array_new_with_free_func (history_entry_free);
  for (guint i = 0; i < old->len; i++)
    {
      g_autofree char *text = tm_address_format (self->model, g_ptr_array_index (old, i));
      TmAddress address = TM_ADDRESS_INIT;

      if (text && tm_address_parse (model, text, &address, NULL))
        {
          g_ptr_array_add (self->history, history_entry_new (&address));
          if (i <= self->position)
            position = self->history->len - 1;
        }
      tm_address_clear (&address);
    }
  if (self->history->len == 0)
    {
      TmAddress whole = TM_ADDRESS_INIT;
      g_ptr_array_add (self->history, history_entry_new (&whole));
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
  g_signal_emit (self, signals[REOPEN], 0, assume);
}

void
tm_document_forget_assumptions (TmDocument *self)
{
  g_autoptr (TmAssume) none = tm_assume_new ();

  if (self->model)
    g_signal_emit (self, signals[REOPEN], 0, none);
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

void
tm_document_set_diff (TmDocument *self, TmDiff *diff)
{
  TmComparison *old = self->comparison;

  if (diff && diff->alignment->candidate != self->model)
    return;
  if (!diff && !old)
    return;
  self->comparison = diff ? tm_comparison_new (diff, on_tiles, self) : NULL;
  if (!diff && self->overlay == TM_OVERLAY_ERROR)
    self->overlay = TM_OVERLAY_VALUE;
  g_signal_emit (self, signals[COMPARISON_CHANGED], 0);
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
  tm_comparison_free (old);
}

TmComparison *
tm_document_get_comparison (TmDocument *self)
{
  return self->comparison;
}

const TmTensorMark *
tm_document_get_marks (TmDocument *self)
{
  if (self->overlay != TM_OVERLAY_ERROR || !self->comparison || !self->layout)
    return NULL;
  return tm_comparison_get_marks (self->comparison, self->layout, &self->theme);
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
  g_signal_emit (self, signals[STATISTICS_CHANGED], 0);
  g_signal_emit (self, signals[TILES_CHANGED], 0);
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
  g_signal_emit (self, signals[TILES_CHANGED], 0);
}

/* --- Selection and history --------------------------------------------------------------------------------------- */

const TmAddress *
tm_document_get_selection (TmDocument *self)
{
  return &self->selection;
}

static void
take_selection (TmDocument *self, const TmAddress *address, gboolean fly)
{
  TmAddress copy = TM_ADDRESS_INIT;

  tm_address_copy (address, &copy); /* address may be the selection itself or a history entry */
  tm_address_clear (&self->selection);
  self->selection = copy;
  g_signal_emit (self, signals[SELECTION_CHANGED], 0);
  if (fly)
    g_signal_emit (self, signals[FLY_TO], 0);
}

static gboolean
is_step_in_one_tensor (const TmAddress *from, const TmAddress *to)
{
  return from->kind == to->kind && (to->kind == TM_ADDRESS_TENSOR || to->kind == TM_ADDRESS_STORED)
         && from->tensor == to->tensor && from->within == TM_WITHIN_INDEX && to->within == TM_WITHIN_INDEX;
}

static void
record (TmDocument *self, const TmAddress *address)
{
  gint64 now = g_get_monotonic_time ();
  gboolean merge = self->history->len > 0 && is_step_in_one_tensor (&self->selection, address)
                   && self->recorded_at && now - self->recorded_at < MERGE_WINDOW_US;

  if (self->position + 1 < self->history->len)
    g_ptr_array_set_size (self->history, (gint) self->position + 1);
  if (merge)
    g_ptr_array_set_size (self->history, (gint) self->history->len - 1);
  g_ptr_array_add (self->history, history_entry_new (address));
  if (self->history->len > MAX_HISTORY)
    g_ptr_array_remove_index (self->history, 0);
  self->position = self->history->len - 1;
  self->recorded_at = now;
}

void
tm_document_select (TmDocument *self, const TmAddress *address, gboolean fly)
{
  if (!self->model)
    return;
  if (tm_address_equal (&self->selection, address))
    {
      if (fly)
        g_signal_emit (self, signals[FLY_TO], 0);
      return;
    }
  record (self, address);
  take_selection (self, address, fly);
  g_signal_emit (self, signals[HISTORY_CHANGED], 0);
}

void
tm_document_select_tensor (TmDocument *self, guint tensor, gboolean fly)
{
  TmAddress address = { .kind = TM_ADDRESS_TENSOR, .tensor = tensor };

  if (self->model && tensor < self->model->tensors->len)
    tm_document_select (self, &address, fly);
}

void
tm_document_select_scalar (TmDocument *self, guint index, guint64 flat, gboolean fly)
{
  g_auto (TmAddress) address = { .kind = TM_ADDRESS_TENSOR, .tensor = index, .within = TM_WITHIN_INDEX };
  TmTensor *tensor;

  if (!self->model || index >= self->model->tensors->len)
    return;
  tensor = tm_model_tensor (self->model, index);
  if (flat >= tensor->n_elements)
    return;
  address.rank = tensor->rank;
  address.start = g_new0 (guint64, MAX (tensor->rank, 1));
  address.end = g_new0 (guint64, MAX (tensor->rank, 1));
  tm_tensor_unflatten (tensor, flat, address.start);
  for (guint i = 0; i < tensor->rank; i++)
    address.end[i] = address.start[i] + 1;
  tm_document_select (self, &address, fly);
}

void
tm_document_select_module (TmDocument *self, TmModule *module, gboolean fly)
{
  TmAddress address = { .kind = TM_ADDRESS_MODULE, .module = module };

  if (!module || !module->parent)
    address = (TmAddress) { .kind = TM_ADDRESS_MODEL };
  tm_document_select (self, &address, fly);
}

/* What is inside a fold is not drawn: going to it opens the fold. */
static void
unfold_for (TmDocument *self, const TmAddress *address)
{
  TmModule *module = NULL;
  gboolean changed = FALSE;

  if (address->kind == TM_ADDRESS_MODULE)
    module = address->module;
  else if (address->kind == TM_ADDRESS_TENSOR)
    module = tm_module_find (self->model->root, tm_model_tensor (self->model, address->tensor)->module);

  for (; module && module->parent; module = module->parent)
    {
      guint child;
      const TmFold *fold;
      TmModule *first;

      if (!module->parent->folds->len || !g_ptr_array_find (module->parent->children, module, &child))
        continue;
      fold = tm_module_get_fold (module->parent, child);
      if (!fold)
        continue;
      first = g_ptr_array_index (module->parent->children, fold->first);
      if (first != module && !g_hash_table_contains (self->unfolded, first->path))
        {
          g_hash_table_add (self->unfolded, g_strdup (first->path));
          changed = TRUE;
        }
    }
  if (changed)
    start_layout (self);
}

gboolean
tm_document_go_to (TmDocument *self, const char *text, GError **error)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;
  g_autofree char *trimmed = g_strstrip (g_strdup (text));

  if (!self->model)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED, "no model is open");
      return FALSE;
    }
  if (!tm_address_parse (self->model, trimmed, &address, error))
    return FALSE;
  unfold_for (self, &address);
  tm_document_select (self, &address, TRUE);
  return TRUE;
}

static void
go_in_history (TmDocument *self, guint position)
{
  self->position = position;
  self->recorded_at = 0;
  take_selection (self, g_ptr_array_index (self->history, position), TRUE);
  g_signal_emit (self, signals[HISTORY_CHANGED], 0);
}

gboolean
tm_document_can_go_back (TmDocument *self)
{
  return self->position > 0;
}

gboolean
tm_document_can_go_forward (TmDocument *self)
{
  return self->position + 1 < self->history->len;
}

void
tm_document_go_back (TmDocument *self)
{
  if (tm_document_can_go_back (self))
    go_in_history (self, self->position - 1);
}

void
tm_document_go_forward (TmDocument *self)
{
  if (tm_document_can_go_forward (self))
    go_in_history (self, self->position + 1);
}

/* A module that only wraps one tensor ("attn_q" of "attn_q.weight") is no station of its own. */
static gboolean
is_wrapper (const TmModule *module)
{
  return module->parent && module->children->len == 0 && module->tensors->len == 1;
}

/* The module, or the fold that stands for it while it is closed. */
static void
select_station (TmDocument *self, TmModule *module)
{
  TmModule *parent = module ? module->parent : NULL;
  guint child;
  const TmFold *fold;

  if (parent && parent->folds->len && g_ptr_array_find (parent->children, module, &child)
      && (fold = tm_module_get_fold (parent, child)))
    {
      TmModule *first = g_ptr_array_index (parent->children, fold->first);

      if (!g_hash_table_contains (self->unfolded, first->path))
        {
          TmAddress address = { .kind = TM_ADDRESS_FOLD, .module = parent };

          address.fold = (guint) (fold - &g_array_index (parent->folds, TmFold, 0));
          tm_document_select (self, &address, TRUE);
          return;
        }
    }
  tm_document_select_module (self, module, TRUE);
}

void
tm_document_go_up (TmDocument *self)
{
  const TmAddress *at = &self->selection;

  if (!self->model)
    return;
  switch (at->kind)
    {
    case TM_ADDRESS_TENSOR:
      if (at->within != TM_WITHIN_WHOLE)
        tm_document_select_tensor (self, at->tensor, TRUE);
      else
        {
          TmModule *module = tm_module_find (self->model->root, tm_model_tensor (self->model, at->tensor)->module);

          if (module && is_wrapper (module))
            module = module->parent;
          select_station (self, module ? module : self->model->root);
        }
      break;
    case TM_ADDRESS_STORED:
      {
        TmAddress up = { .kind = at->within == TM_WITHIN_WHOLE ? TM_ADDRESS_MODEL : TM_ADDRESS_STORED,
                         .tensor = at->tensor };
        tm_document_select (self, &up, TRUE);
      }
      break;
    case TM_ADDRESS_FOLD:
      select_station (self, at->module);
      break;
    case TM_ADDRESS_MODULE:
      select_station (self, at->module->parent);
      break;
    case TM_ADDRESS_MODEL:
      break;
    }
}

static void
go_into_module (TmDocument *self, TmModule *module)
{
  /* Tensors directly in a module come first where it has both. */
  if (module->tensors->len)
    tm_document_select_tensor (self, g_array_index (module->tensors, guint, 0), TRUE);
  else if (module->children->len)
    {
      TmModule *first = g_ptr_array_index (module->children, 0);

      if (is_wrapper (first))
        tm_document_select_tensor (self, g_array_index (first->tensors, guint, 0), TRUE);
      else
        select_station (self, first);
    }
}

void
tm_document_go_into (TmDocument *self)
{
  const TmAddress *at = &self->selection;

  if (!self->model)
    return;
  switch (at->kind)
    {
    case TM_ADDRESS_MODEL:
      go_into_module (self, self->model->root);
      break;
    case TM_ADDRESS_MODULE:
      go_into_module (self, at->module);
      break;
    case TM_ADDRESS_FOLD:
      {
        TmFold *fold = &g_array_index (at->module->folds, TmFold, at->fold);

        go_into_module (self, g_ptr_array_index (at->module->children, fold->first));
      }
      break;
    case TM_ADDRESS_TENSOR:
      if (at->within == TM_WITHIN_WHOLE)
        tm_document_select_scalar (self, at->tensor, 0, TRUE);
      break;
    case TM_ADDRESS_STORED:
      break;
    }
}

void
tm_document_show_tensor (TmDocument *self, guint tensor)
{
  TmAddress address = { .kind = TM_ADDRESS_TENSOR, .tensor = tensor };

  if (!self->model || tensor >= self->model->tensors->len)
    return;
  unfold_for (self, &address);
  tm_document_select (self, &address, TRUE);
}

void
tm_document_step_tensor (TmDocument *self, int by)
{
  gint64 n, next;
  guint tensor;

  if (!self->model || self->model->tensors->len == 0)
    return;
  n = self->model->tensors->len;
  if (tm_document_get_tensor (self, &tensor))
    next = (gint64) tensor + by;
  else
    next = by > 0 ? 0 : n - 1;
  if (next < 0 || next >= n)
    return;
  TmAddress address = { .kind = TM_ADDRESS_TENSOR, .tensor = (guint) next };
  unfold_for (self, &address);
  tm_document_select (self, &address, TRUE);
}

gboolean
tm_document_get_tensor (TmDocument *self, guint *tensor)
{
  if (!self->model || self->selection.kind != TM_ADDRESS_TENSOR)
    return FALSE;
  *tensor = self->selection.tensor;
  return TRUE;
}

gboolean
tm_document_get_scalar (TmDocument *self, guint *tensor, guint64 *flat)
{
  if (!tm_document_get_tensor (self, tensor) || self->selection.within != TM_WITHIN_INDEX)
    return FALSE;
  *flat = tm_tensor_flatten (tm_model_tensor (self->model, *tensor), self->selection.start);
  return TRUE;
}

void
tm_document_set_unfolded (TmDocument *self, const char *path, gboolean unfolded)
{
  if (tm_document_get_unfolded (self, path) == !!unfolded)
    return;
  if (unfolded)
    g_hash_table_add (self->unfolded, g_strdup (path));
  else
    g_hash_table_remove (self->unfolded, path);
  start_layout (self);
}

gboolean
tm_document_get_unfolded (TmDocument *self, const char *path)
{
  return g_hash_table_contains (self->unfolded, path);
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
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
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
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
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
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
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
  start_layout (self);
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
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
  if (self->comparison)
    tm_comparison_forget_marks (self->comparison);
  g_signal_emit (self, signals[VIEW_CHANGED], 0);
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
  g_signal_emit (self, signals[HOVER_CHANGED], 0);
}

void
tm_document_report_problem (TmDocument *self, const char *message)
{
  g_signal_emit (self, signals[PROBLEM], 0, message);
}
