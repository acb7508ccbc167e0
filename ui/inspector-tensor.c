/* Tensor, stored tensor, region. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include <string.h>

#include "io/number.h"
#include "io/text.h"
#include "model/quantization.h"
#include "quant/codecs.h"

static char *
format_unsigned (guint rank, const guint64 *numbers)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", numbers[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static char *
format_signed (guint rank, const gint64 *numbers)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", numbers[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

/* GGUF counts the other way round (ne[0] is the row length): both orders stand beside each other. */
static char *
format_ne (guint rank, const guint64 *shape)
{
  GString *text = g_string_new ("ne = [");
  for (guint i = rank; i > 0; i--)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i < rank ? ", " : "", shape[i - 1]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static gboolean
is_row_major (guint rank, const guint64 *shape, const gint64 *stride)
{
  guint64 expected = 1;
  for (guint i = rank; i > 0; i--)
    {
      if (shape[i - 1] != 1 && stride[i - 1] != (gint64) expected)
        return FALSE;
      expected *= shape[i - 1];
    }
  return TRUE;
}

static void
add_fault (GtkWidget *card, const char *fault)
{
  if (fault == NULL)
    return;
  g_autofree char *escaped = tm_text_escape (fault, -1);
  gtk_widget_add_css_class (tm_card_add_text (card, escaped, FALSE), "fault");
}

/* --- Raw bytes of what nobody here decodes ------------------------------------------------------------------------------ */

#define RAW_BYTES 128
#define RAW_BYTES_A_LINE 8

typedef struct
{
  TmModel *model; /* own reference: keeps the stored tensor */
  const TmStored *stored;
} RawJob;

static void
raw_job_free (RawJob *job)
{
  g_object_unref (job->model);
  g_free (job);
}

static void
raw_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const TmStored *stored = ((RawJob *) data)->stored;
  guint8 bytes[RAW_BYTES];
  gsize n = (gsize) MIN (stored->bytes, sizeof bytes);
  g_autoptr (GError) error = NULL;
  GString *text = g_string_new (NULL);

  if (!tm_source_read (stored->source, stored->offset, bytes, n, &error))
    g_string_append (text, error->message);
  else
    for (gsize i = 0; i < n; i++)
      g_string_append_printf (text, "%02X%s", bytes[i], i + 1 == n ? "" : (i + 1) % RAW_BYTES_A_LINE == 0 ? "\n" : " ");
  g_task_return_pointer (task, g_string_free (text, FALSE), g_free);
}

static void
raw_done (GObject *label, GAsyncResult *result, gpointer data)
{
  g_autofree char *text = g_task_propagate_pointer (G_TASK (result), NULL);
  if (text != NULL)
    gtk_label_set_text (GTK_LABEL (label), text);
}

static void
add_raw_bytes (GtkWidget *box, TmModel *model, const TmStored *stored)
{
  if (stored == NULL || stored->source == NULL || stored->bytes == 0)
    return;
  RawJob *job = g_new (RawJob, 1);
  job->model = g_object_ref (model);
  job->stored = stored;
  GtkWidget *card = tm_card_new (box, stored->bytes > RAW_BYTES ? "Raw bytes, the first 128" : "Raw bytes");
  GtkWidget *label = tm_card_add_text (card, "", FALSE);
  gtk_widget_add_css_class (label, "monospace");
  g_autoptr (GTask) task = g_task_new (label, NULL, raw_done, NULL);
  g_task_set_task_data (task, job, (GDestroyNotify) raw_job_free);
  g_task_run_in_thread (task, raw_run);
}

/* --- The first values of a stored tensor -------------------------------------------------------------------------------- */

#define FIRST_VALUES 16

typedef struct
{
  TmModel *model;
  guint index;
} FirstJob;

static void
first_job_free (FirstJob *job)
{
  g_object_unref (job->model);
  g_free (job);
}

static void
first_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const FirstJob *job = data;
  TmTensor *tensor = tm_tensor_new_stored (job->model, job->index);
  g_autofree guint64 *index = g_new0 (guint64, MAX (tensor->rank, 1));
  GString *text = g_string_new (tensor->fault);

  for (guint64 i = 0; tensor->fault == NULL && i < MIN (tensor->n_elements, FIRST_VALUES); i++)
    {
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;
      g_autoptr (GError) error = NULL;

      tm_tensor_unflatten (tensor, i, index);
      if (!tm_tensor_explain (tensor, index, &scalar, &error))
        {
          g_string_append (text, error->message);
          break;
        }
      g_autofree char *place = format_unsigned (tensor->rank, index);
      g_autofree char *shown = tm_scalar_format_value (&scalar);
      g_autofree char *value = tm_text_escape (shown, -1);
      g_autofree char *hex = tm_scalar_format_hex (&scalar);
      g_string_append_printf (text, "%s%s  %s", i > 0 ? "\n" : "", place, value);
      if (hex != NULL)
        g_string_append_printf (text, "  %s", hex);
    }
  tm_tensor_free (tensor);
  g_task_return_pointer (task, g_string_free (text, FALSE), g_free);
}

static void
add_first_values (GtkWidget *box, TmModel *model, guint index)
{
  const TmStored *stored = tm_model_stored (model, index);

  if (stored->source == NULL || stored->n_elements == 0 || stored->fault != NULL)
    return;
  FirstJob *job = g_new (FirstJob, 1);
  *job = (FirstJob) { g_object_ref (model), index };
  GtkWidget *card = tm_card_new (box, stored->n_elements > FIRST_VALUES ? "Values, the first 16" : "Values");
  GtkWidget *label = tm_card_add_text (card, "", FALSE);
  gtk_widget_add_css_class (label, "monospace");
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  g_autoptr (GTask) task = g_task_new (label, NULL, raw_done, NULL);
  g_task_set_task_data (task, job, (GDestroyNotify) first_job_free);
  g_task_run_in_thread (task, first_run);
}

void
tm_inspector_add_tensor (GtkWidget *box, TmDocument *document, guint index)
{
  TmModel *model = tm_document_get_model (document);
  const TmTensor *tensor = tm_model_tensor (model, index);
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  GtkWidget *card = tm_card_new (box, "Tensor");
  add_fault (card, tensor->fault);

  g_autofree char *name = tm_text_escape (tensor->name, -1);
  tm_card_add_row (card, "name", name, NULL);
  g_autofree char *label = tm_text_escape (tensor->dtype_label, -1);
  g_autofree char *dtype = g_strdup_printf ("%s · %s", label, tensor->quantized ? "quantized" : "not quantized");
  tm_card_add_row (card, "dtype", dtype,
                   tensor->quantized ? "The stored integers stand for real values through a scale"
                                     : "An ordinary dtype: the stored value is the value");
  if (tensor->scheme != NULL)
    tm_card_add_row (card, "scheme", tensor->scheme, NULL);
  g_autofree char *shape = format_unsigned (tensor->rank, tensor->shape);
  tm_card_add_row (card, "shape", shape, "Outermost axis first");
  if (g_strcmp0 (model->format, "GGUF") == 0 && tensor->rank > 1)
    {
      g_autofree char *ne = format_ne (tensor->rank, tensor->shape);
      tm_card_add_row (card, "stored order", ne, "The file counts dimensions fastest first");
    }
  g_autofree char *rank = g_strdup_printf ("%u", tensor->rank);
  tm_card_add_row (card, "rank", rank, NULL);
  g_autofree char *elements = tm_format_count (tensor->n_elements);
  tm_card_add_row (card, "elements", elements, NULL);
  if (tensor->stride != NULL)
    {
      g_autofree char *stride = format_signed (tensor->rank, tensor->stride);
      tm_card_add_row (card, "stride", stride, "In elements");
      const char *order = is_row_major (tensor->rank, tensor->shape, tensor->stride) ? "row-major" : "strided";
      g_autofree char *layout
          = info->block_elements > 1
                ? g_strdup_printf ("%s, packed %u B / %u", order, info->block_bytes, info->block_elements)
                : g_strdup (order);
      tm_card_add_row (card, "layout", layout, "How elements follow each other in the file");
    }
  g_autofree char *granularity = tm_granularity_describe (tensor->granularity);
  tm_card_add_row (card, "granularity", granularity, "Which elements share one set of quantization parameters");
  if (tensor->n_elements > 0 && tensor->fault == NULL)
    {
      char buffer[TM_NUMBER_SIZE];
      g_autofree char *bpw = g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.6g", tm_tensor_get_bits_per_weight (tensor)));
      tm_card_add_row (card, "bits / weight", bpw, "All bytes of the tensor, its parameters included");
    }
  g_autofree char *bytes = tm_format_count (tensor->bytes);
  g_autofree char *place = tensor->values != NULL ? g_strdup_printf ("%s @ 0x%" G_GINT64_MODIFIER "X", bytes, tensor->values->offset)
                                                  : g_strdup (bytes);
  tm_card_add_row (card, "bytes", place, "Size and where it begins in the file");
  if (tensor->values != NULL && tensor->values->source != NULL)
    {
      g_autofree char *file = tm_text_escape (tm_source_get_name (tensor->values->source), -1);
      tm_card_add_row (card, "file", file, NULL);
    }
  const char *device = tensor->values != NULL ? tensor->values->device : NULL;
  g_autofree char *device_text = device != NULL ? tm_text_escape (device, -1) : g_strdup ("not recorded");
  tm_card_add_row (card, "device", device_text, NULL);
  if (tensor->dtype == TM_DTYPE_UNKNOWN)
    add_raw_bytes (box, model, tensor->values);
}

/* What a piece adds to its module's name: "qweight". */
static const char *
name_in_module (const TmTensor *tensor, const TmStored *stored)
{
  gsize n = tensor->module != NULL ? strlen (tensor->module) : 0;
  if (n > 0 && strncmp (stored->name, tensor->module, n) == 0 && stored->name[n] == '.' && stored->name[n + 1] != '\0')
    return stored->name + n + 1;
  return stored->name;
}

static void
add_operand (GtkWidget *card, const TmTensor *tensor, TmOperandRole kind, const TmStored *stored)
{
  g_autofree char *label = tm_text_escape (stored->type_label != NULL ? stored->type_label : tm_dtype_get_name (stored->dtype), -1);
  g_autofree char *shape = format_unsigned (stored->rank, stored->shape);
  g_autofree char *name = tm_text_escape (name_in_module (tensor, stored), -1);
  g_autofree char *full = tm_text_escape (stored->name, -1);
  g_autofree char *file = stored->source != NULL ? tm_text_escape (tm_source_get_name (stored->source), -1) : NULL;
  g_autofree char *bytes = tm_format_count (stored->bytes);
  g_auto (GStrv) words = g_strsplit (tm_operand_role_get_name (kind), "_", -1);
  g_autofree char *role = g_strjoinv (" ", words);
  g_autofree char *text = g_strdup_printf ("%s\n%s %s", name, label, shape);
  g_autofree char *tip = g_strdup_printf ("%s\n%s bytes", full, bytes);
  g_autofree char *place = g_strdup_printf ("%s @ 0x%" G_GINT64_MODIFIER "X", file != NULL ? file : "missing file", stored->offset);

  tm_card_add_row (card, kind == TM_ROLE_OTHER ? "bookkeeping" : role, text, tip);
  GtkWidget *where = tm_card_add_text (card, place, FALSE);
  gtk_label_set_xalign (GTK_LABEL (where), 0);
  gtk_widget_add_css_class (where, "caption");
  gtk_widget_add_css_class (where, "dim-label");
}

void
tm_inspector_add_operands (GtkWidget *box, TmDocument *document, guint index)
{
  TmModel *model = tm_document_get_model (document);
  const TmTensor *tensor = tm_model_tensor (model, index);
  if (tensor->n_operands < 2)
    return;
  GtkWidget *card = tm_card_new (box, "Stored as");
  for (guint o = 0; o < tensor->n_operands; o++)
    add_operand (card, tensor, tensor->operand[o].role, tm_model_stored (model, tensor->operand[o].stored));
}

void
tm_inspector_add_stored (GtkWidget *box, TmDocument *document, guint index)
{
  const TmStored *stored = tm_model_stored (tm_document_get_model (document), index);
  GtkWidget *card = tm_card_new (box, "Stored tensor");
  add_fault (card, stored->fault);
  g_autofree char *name = tm_text_escape (stored->name, -1);
  tm_card_add_row (card, "name", name, NULL);
  tm_card_add_row (card, "dtype", stored->type_label != NULL ? stored->type_label : tm_dtype_get_name (stored->dtype), NULL);
  g_autofree char *shape = format_unsigned (stored->rank, stored->shape);
  tm_card_add_row (card, "shape", shape, "Outermost axis first");
  g_autofree char *elements = tm_format_count (stored->n_elements);
  tm_card_add_row (card, "elements", elements, NULL);
  g_autofree char *bytes = tm_format_count (stored->bytes);
  g_autofree char *place = g_strdup_printf ("%s @ 0x%" G_GINT64_MODIFIER "X", bytes, stored->offset);
  tm_card_add_row (card, "bytes", place, "Size and where it begins in the file");
  g_autofree char *file = stored->source != NULL ? tm_text_escape (tm_source_get_name (stored->source), -1) : g_strdup ("missing");
  tm_card_add_row (card, "file", file, NULL);
  TmModel *model = tm_document_get_model (document);
  gint64 owner = tm_model_find_owner (model, index);
  if (owner >= 0 && tm_model_tensor (model, owner)->n_operands > 1)
    {
      g_autofree char *weight = tm_text_escape (tm_model_tensor (model, owner)->name, -1);
      tm_card_add_row (card, "part of", weight, "The weight that it is a piece of");
    }
  if (stored->dtype == TM_DTYPE_UNKNOWN)
    add_raw_bytes (box, model, stored);
  else
    add_first_values (box, model, index);
}

void
tm_inspector_add_region (GtkWidget *box, TmDocument *document, const TmAddress *address)
{
  g_autofree char *text = tm_address_format (tm_document_get_model (document), address);
  g_autofree char *escaped = tm_text_escape (text, -1);
  guint64 count = 1;
  for (guint i = 0; i < address->rank; i++)
    if (__builtin_mul_overflow (count, address->end[i] - address->start[i], &count))
      count = G_MAXUINT64;
  GtkWidget *card = tm_card_new (box, "Region");
  tm_card_add_row (card, "address", escaped, NULL);
  g_autofree char *elements = tm_format_count (count);
  tm_card_add_row (card, "elements", elements, NULL);
}
