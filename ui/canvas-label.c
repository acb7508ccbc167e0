/* Words about the view: the accessible label of the plane, the zoom label, the message in the middle, and the legend's turn. */
#include "ui/canvas-private.h"

#include "io/text.h"
#include "ui/canvas-record.h"

#include <math.h>

/* --- The selected scalar's record -------------------------------------------------------------------------------- */

static void
on_record (TmRecord *record, gpointer data)
{
  tm_canvas_update_label (data);
}

void
tm_canvas_update_record (TmCanvas *self)
{
  TmModel *model = tm_document_get_model (self->document);
  guint tensor;
  guint64 flat;

  if (!tm_document_get_scalar (self->document, &tensor, &flat))
    {
      g_clear_pointer (&self->selected, tm_record_free);
      return;
    }
  if (tm_record_is (self->selected, model, tensor, flat))
    return;
  g_clear_pointer (&self->selected, tm_record_free);
  self->selected = tm_record_new (model, tensor, flat, on_record, self);
}

/* --- Accessible label -------------------------------------------------------------------------------------------- */

static void
append_within (GString *text, const TmAddress *address)
{
  if (address->within == TM_WITHIN_WHOLE)
    return;
  g_string_append (text, address->within == TM_WITHIN_INDEX ? "; scalar " : "; region ");
  for (guint i = 0; i < address->rank; i++)
    {
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", address->start[i]);
      if (address->within == TM_WITHIN_REGION)
        g_string_append_printf (text, ":%" G_GUINT64_FORMAT, address->end[i]);
    }
}

static const char *
get_depth_name (TmDepth depth)
{
  static const char *const names[] = { "architecture", "heat map", "cells" };

  return names[CLAMP (depth, 0, 2)];
}

static gboolean
is_sorted (TmCanvas *self, guint tensor)
{
  const TmBox *box = tm_canvas_get_tensor_box (self, tensor);

  return box && box->sheet.order;
}

static char *
make_label (TmCanvas *self)
{
  TmModel *model = tm_document_get_model (self->document);
  const TmAddress *selection = tm_document_get_selection (self->document);
  const TmLegend *legend = tm_scene_get_legend (self->scene);
  GString *text;

  if (!model)
    return g_strdup ("Canvas, no model open");
  if (!self->layout)
    return g_strdup_printf ("Model %s, being laid out", model->title);

  text = g_string_new (NULL);
  if (selection->kind == TM_ADDRESS_TENSOR)
    {
      const TmTensor *tensor = tm_model_tensor (model, selection->tensor);
      TmAddress whole = { .kind = TM_ADDRESS_TENSOR, .tensor = selection->tensor };
      g_autofree char *name = tm_address_format (model, &whole);

      g_string_append_printf (text, "%s, %s, %s", name, tensor->dtype_label, get_depth_name (legend->depth));
      if (is_sorted (self, selection->tensor))
        g_string_append (text, ", columns sorted by group");
      append_within (text, selection);
      if (self->selected && self->selected->ready)
        {
          if (self->selected->problem)
            g_string_append_printf (text, ": %s", self->selected->problem);
          else if (self->selected->raw)
            g_string_append_printf (text, ": raw %s, dequantized %s", self->selected->raw, self->selected->value);
          else
            g_string_append_printf (text, ": value %s", self->selected->value);
        }
    }
  else
    {
      g_string_append_printf (text, "Model %s, %u tensor%s, %s; ", model->title, model->tensors->len,
                              model->tensors->len == 1 ? "" : "s", get_depth_name (legend->depth));
      if (selection->kind == TM_ADDRESS_MODEL)
        g_string_append (text, "nothing selected");
      else
        {
          g_autofree char *name = tm_address_format (model, selection);

          g_string_append_printf (text, "%s selected", name);
        }
    }
  {
    char *valid = tm_text_escape (text->str, (gssize) text->len);

    g_string_free (text, TRUE);
    return valid;
  }
}

/* --- Message in the middle --------------------------------------------------------------------------------------- */

static const char *
get_quantity_problem (const TmTensor *tensor, TmOverlay overlay)
{
  if (overlay == TM_OVERLAY_SCALE && !tensor->quantized)
    return "not quantized: no scale; the stored value is the value";
  if (overlay == TM_OVERLAY_SCALE && !tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE))
    return "this scheme has no scale; the value overlay shows what it stands for";
  return NULL;
}

/* Says why nothing is to be seen where a tensor fills the view. */
static char *
make_message (TmCanvas *self)
{
  TmModel *model = tm_document_get_model (self->document);
  const TmLegend *legend = tm_scene_get_legend (self->scene);
  const TmTensor *tensor;
  const char *problem;

  if (!model)
    return NULL;
  if (!self->layout)
    return self->slow ? g_strdup_printf ("Laying out %u tensors\u2026", model->tensors->len) : NULL;
  if (model->tensors->len == 0)
    return g_strdup ("This model has no tensors: nothing to show. Its metadata is in the inspector.");
  if (self->layout->boxes->len && legend->tensor < model->tensors->len && legend->depth != TM_DEPTH_ARCHITECTURE)
    {
      tensor = tm_model_tensor (model, legend->tensor);
      if (tensor->fault)
        return tm_text_escape (tensor->fault, -1);
      problem = legend->depth == TM_DEPTH_HEAT_MAP
                    ? get_quantity_problem (tensor, tm_document_get_overlay (self->document))
                    : NULL;
      if (problem)
        {
          g_autofree char *dtype = tm_text_escape (tensor->dtype_label, -1);

          return g_strdup_printf ("%s: %s", dtype, problem);
        }
    }
  if (tm_document_get_selection (self->document)->kind == TM_ADDRESS_TENSOR)
    {
      tensor = tm_model_tensor (model, tm_document_get_selection (self->document)->tensor);
      if (tensor->n_elements == 0 && !tensor->fault)
        return g_strdup ("This tensor has no elements: nothing to show.");
      if (tensor->fault && legend->tensor == tm_document_get_selection (self->document)->tensor)
        return tm_text_escape (tensor->fault, -1);
    }
  return NULL;
}

/* --- Zoom -------------------------------------------------------------------------------------------------------- */

static char *
make_zoom (double pixels)
{
  char number[32];

  if (!(pixels > 0))
    return NULL;
  if (pixels >= 1e-4)
    g_snprintf (number, sizeof number, "%.4g", pixels);
  else
    g_snprintf (number, sizeof number, "%.2e", pixels);
  return g_strdup_printf ("1 element = %s px", number);
}

static void
set_text (GtkWidget *label, const char *text)
{
  if (text && g_strcmp0 (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
  if (gtk_widget_get_visible (label) != (text != NULL))
    gtk_widget_set_visible (label, text != NULL);
}

void
tm_canvas_update_label (TmCanvas *self)
{
  g_autofree char *label = make_label (self), *message = make_message (self), *zoom = NULL;
  const TmLegend *legend = tm_scene_get_legend (self->scene);

  if (g_strcmp0 (label, self->label))
    {
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->plane), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
      g_free (self->label);
      self->label = g_steal_pointer (&label);
    }
  if (self->layout && self->camera_ready && self->layout->model->tensors->len > 0)
    zoom = make_zoom (self->camera.scale);
  set_text (self->zoom, zoom);
  set_text (self->message, message);
  tm_legend_bar_update (self->legend, self->layout && self->camera_ready ? legend : NULL);
}
