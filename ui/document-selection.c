/* The document's one selection, its history, and the ways from one thing to the next. */
#include "ui/document-private.h"

#define MERGE_WINDOW_US (G_USEC_PER_SEC)
#define MAX_HISTORY 500

void
tm_document_history_entry_free (gpointer entry)
{
  tm_address_clear (entry);
  g_free (entry);
}

TmAddress *
tm_document_history_entry_new (const TmAddress *address)
{
  TmAddress *entry = g_new0 (TmAddress, 1);

  tm_address_copy (address, entry);
  return entry;
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
  g_signal_emit (self, tm_document_signals[SELECTION_CHANGED], 0);
  if (fly)
    g_signal_emit (self, tm_document_signals[FLY_TO], 0);
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
  g_ptr_array_add (self->history, tm_document_history_entry_new (address));
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
        g_signal_emit (self, tm_document_signals[FLY_TO], 0);
      return;
    }
  record (self, address);
  take_selection (self, address, fly);
  g_signal_emit (self, tm_document_signals[HISTORY_CHANGED], 0);
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
    module = tm_model_tensor (self->model, address->tensor)->owner;

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
    tm_document_start_layout (self);
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
  g_signal_emit (self, tm_document_signals[HISTORY_CHANGED], 0);
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
          TmModule *module = tm_model_tensor (self->model, at->tensor)->owner;

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
  tm_document_start_layout (self);
}

gboolean
tm_document_get_unfolded (TmDocument *self, const char *path)
{
  return g_hash_table_contains (self->unfolded, path);
}
