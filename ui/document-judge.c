/* The document, continued: overlays that judge tensors (error, zeros by cause, backend), and their legend. */
#include "ui/document-private.h"

/* --- Zeros --------------------------------------------------------------------------------------------------------- */

TmZeros *
tm_document_steal_zeros (TmDocument *self)
{
  self->counting = TM_COUNTING_NONE;
  return g_steal_pointer (&self->zeros);
}

TmZeros *
tm_document_get_zeros (TmDocument *self)
{
  if (!self->zeros && self->model)
    self->zeros = tm_zeros_new (self->model, self->comparison ? tm_comparison_get_diff (self->comparison)->alignment : NULL,
                                tm_document_tiles_arrived, self);
  return self->zeros;
}

TmZeros *
tm_document_peek_zeros (TmDocument *self)
{
  return self->zeros;
}

void
tm_document_take_sparsity (TmDocument *self, GPtrArray *found)
{
  TmZeros *zeros = tm_document_get_zeros (self);

  for (guint i = 0; zeros && i < found->len; i++)
    tm_zeros_take (zeros, g_ptr_array_index (found, i));
  g_signal_emit (self, tm_document_signals[SPARSITY_CHANGED], 0);
  g_signal_emit (self, tm_document_signals[TILES_CHANGED], 0);
}

void
tm_document_set_counting (TmDocument *self, TmCounting counting, guint tensor, double fraction)
{
  const gboolean other = self->counting != counting || self->counted_tensor != tensor;

  self->counting = counting;
  self->counted_tensor = tensor;
  self->counted = fraction;
  if (other)
    g_signal_emit (self, tm_document_signals[SPARSITY_CHANGED], 0);
  else
    g_signal_emit (self, tm_document_signals[COUNTING], 0);
}

TmCounting
tm_document_get_counting (TmDocument *self, guint *tensor, double *fraction)
{
  *tensor = self->counted_tensor;
  *fraction = self->counted;
  return self->counting;
}

/* --- Backend ------------------------------------------------------------------------------------------------------- */

gint
tm_document_get_backend (TmDocument *self)
{
  return self->support ? tm_support_map_get_backend (self->support) : -1;
}

TmSupportMap *
tm_document_get_support (TmDocument *self)
{
  return self->support;
}

void
tm_document_support_arrived (gpointer data)
{
  g_signal_emit (data, tm_document_signals[VIEW_CHANGED], 0);
}

void
tm_document_set_backend (TmDocument *self, gint backend)
{
  TmSupportMap *old = self->support;

  if (!self->model || backend < 0 || (guint) backend >= tm_backends_get_n ())
    return;
  if (tm_document_get_backend (self) != backend)
    {
      self->support = tm_support_map_new (self->model, backend, tm_document_support_arrived, self);
      tm_support_map_free (old);
    }
  else if (self->overlay == TM_OVERLAY_BACKEND)
    return;
  self->overlay = TM_OVERLAY_BACKEND;
  g_signal_emit (self, tm_document_signals[VIEW_CHANGED], 0);
}

/* --- All of them --------------------------------------------------------------------------------------------------- */

void
tm_document_prepare_overlay (TmDocument *self)
{
  if (self->overlay == TM_OVERLAY_SPARSITY)
    tm_document_get_zeros (self);
  if (self->overlay == TM_OVERLAY_BACKEND && !self->support && self->model)
    self->support = tm_support_map_new (self->model, -1, tm_document_support_arrived, self);
}

void
tm_document_forget_judgements (TmDocument *self)
{
  if (self->comparison)
    tm_comparison_forget_marks (self->comparison);
  if (self->zeros)
    tm_zeros_forget_marks (self->zeros);
  if (self->support)
    tm_support_map_forget_marks (self->support);
}

const TmTensorMark *
tm_document_get_marks (TmDocument *self)
{
  if (!self->layout)
    return NULL;
  if (self->overlay == TM_OVERLAY_ERROR && self->comparison)
    return tm_comparison_get_marks (self->comparison, self->layout, &self->theme);
  if (self->overlay == TM_OVERLAY_SPARSITY && tm_document_get_zeros (self))
    return tm_zeros_get_marks (self->zeros, self->layout, &self->theme);
  if (self->overlay == TM_OVERLAY_BACKEND && self->support)
    return tm_support_map_get_marks (self->support, self->layout, &self->theme);
  return NULL;
}

guint
tm_document_list_legend (TmDocument *self, gint64 tensor, TmLegendEntry entries[TM_LEGEND_ENTRIES], char **facts)
{
  *facts = NULL;
  if (self->overlay == TM_OVERLAY_SPARSITY && self->model)
    return tm_zeros_list_legend (tm_document_get_zeros (self), tensor, &self->theme, entries, facts);
  if (self->overlay == TM_OVERLAY_BACKEND && self->support)
    {
      *facts = g_strdup_printf ("as of %s", tm_backends_get_as_of ());
      return tm_support_map_list_legend (self->support, &self->theme, entries);
    }
  return 0;
}
