/* Tensor table: every tensor with its figures, sortable; statistics are asked for when it is shown. */
#include "ui/tensor-table.h"

#include "ui/table-view.h"

#include "io/number.h"
#include "io/text.h"

#include <math.h>

#define TM_TYPE_TENSOR_TABLE (tm_tensor_table_get_type ())
G_DECLARE_FINAL_TYPE (TmTensorTable, tm_tensor_table, TM, TENSOR_TABLE, GtkWidget)

/* What rows read from. */
typedef struct
{
  TmModel *model;
  TmStatisticsSet *set;
} Source;

struct _TmTensorTable
{
  GtkWidget parent_instance;
  TmDocument *document;
  gboolean filled;
  GtkWidget *table, *title;
};

G_DEFINE_FINAL_TYPE (TmTensorTable, tm_tensor_table, GTK_TYPE_WIDGET)

/* --- Columns ----------------------------------------------------------------------------------------------------- */

static const TmTensor *
get_tensor (const TmTableEntry *entry)
{
  return tm_model_tensor (((Source *) entry->owner)->model, entry->tensor);
}

/* (transfer full); NULL where nothing is known. */
static TmStatistics *
get_statistics (const TmTableEntry *entry)
{
  TmStatistics *statistics = tm_statistics_set_get (((Source *) entry->owner)->set, entry->tensor);

  if (statistics && (statistics->fault || !(statistics->parts & TM_STATISTICS_VALUES)))
    g_clear_pointer (&statistics, tm_statistics_unref);
  return statistics;
}

static char *
format_name (const TmTableEntry *entry)
{
  return tm_text_escape (get_tensor (entry)->name, -1);
}

static char *
format_dtype (const TmTableEntry *entry)
{
  return tm_text_escape (get_tensor (entry)->dtype_label, -1);
}

static char *
format_shape (const TmTableEntry *entry)
{
  const TmTensor *tensor = get_tensor (entry);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? " × " : "", tensor->shape[i]);
  return g_string_free (text, FALSE);
}

static double
get_parameters (const TmTableEntry *entry)
{
  return (double) get_tensor (entry)->n_elements;
}

static char *
format_parameters (const TmTableEntry *entry)
{
  return tm_format_parameters (get_tensor (entry)->n_elements);
}

static double
get_bytes (const TmTableEntry *entry)
{
  return (double) get_tensor (entry)->bytes;
}

static char *
format_bytes (const TmTableEntry *entry)
{
  return tm_format_size (get_tensor (entry)->bytes);
}

static double
get_bits (const TmTableEntry *entry)
{
  return tm_tensor_get_bits_per_weight (get_tensor (entry));
}

static char *
format_bits (const TmTableEntry *entry)
{
  return g_strdup_printf ("%.2f", get_bits (entry));
}

/* A figure of the distribution and its column's two functions. */
#define FIGURE(name, expression)                                                                                      \
  static double get_##name (const TmTableEntry *entry)                                                                    \
  {                                                                                                                   \
    g_autoptr (TmStatistics) statistics = get_statistics (entry);                                                       \
    const TmDistribution *values = statistics ? &statistics->values : NULL;                                           \
    return values ? (expression) : (double) NAN;                                                                      \
  }

FIGURE (min, values->min)
FIGURE (max, values->max)
FIGURE (mean, values->mean)
FIGURE (std, values->std)
FIGURE (zeros, values->count ? (double) values->n_zeros / (double) values->count : 0)
FIGURE (strange, (double) (values->n_nan + values->n_inf))

static char *
format_min (const TmTableEntry *entry)
{
  return tm_table_format_number (get_min (entry));
}

static char *
format_max (const TmTableEntry *entry)
{
  return tm_table_format_number (get_max (entry));
}

static char *
format_mean (const TmTableEntry *entry)
{
  return tm_table_format_number (get_mean (entry));
}

static char *
format_std (const TmTableEntry *entry)
{
  return tm_table_format_number (get_std (entry));
}

static char *
format_zeros (const TmTableEntry *entry)
{
  return tm_table_format_share (get_zeros (entry));
}

static char *
format_strange (const TmTableEntry *entry)
{
  const double count = get_strange (entry);

  return isnan (count) ? NULL : tm_format_count ((guint64) count);
}

/* How many of its codes a tensor makes use of. */
static TmStatistics *
get_codes (const TmTableEntry *entry)
{
  TmStatistics *statistics = tm_statistics_set_get (((Source *) entry->owner)->set, entry->tensor);

  if (statistics && (statistics->fault || !statistics->codes))
    g_clear_pointer (&statistics, tm_statistics_unref);
  return statistics;
}

static double
get_codes_used (const TmTableEntry *entry)
{
  g_autoptr (TmStatistics) statistics = get_codes (entry);

  return statistics ? (double) statistics->codes_used : (double) NAN;
}

static char *
format_codes_used (const TmTableEntry *entry)
{
  g_autoptr (TmStatistics) statistics = get_codes (entry);

  return statistics ? g_strdup_printf ("%u / %u", statistics->codes_used, statistics->n_codes) : NULL;
}

static double
get_scale (const TmTableEntry *entry, gboolean largest)
{
  g_autoptr (TmStatistics) statistics = tm_statistics_set_get (((Source *) entry->owner)->set, entry->tensor);

  if (!statistics || statistics->fault || !statistics->has_scales)
    return (double) NAN;
  return largest ? statistics->scales.max : statistics->scales.min;
}

static double
get_min_scale (const TmTableEntry *entry)
{
  return get_scale (entry, FALSE);
}

static double
get_max_scale (const TmTableEntry *entry)
{
  return get_scale (entry, TRUE);
}

static char *
format_min_scale (const TmTableEntry *entry)
{
  return tm_table_format_number (get_min_scale (entry));
}

static char *
format_max_scale (const TmTableEntry *entry)
{
  return tm_table_format_number (get_max_scale (entry));
}

static const TmTableColumn columns[] = {
  { "tensor", 0, format_name, NULL, FALSE },
  { "dtype", 72, format_dtype, NULL, FALSE },
  { "shape", 118, format_shape, NULL, FALSE },
  { "parameters", 92, format_parameters, get_parameters, FALSE },
  { "size", 84, format_bytes, get_bytes, FALSE },
  { "bits/w", 66, format_bits, get_bits, FALSE },
  { "min", 84, format_min, get_min, TRUE },
  { "max", 84, format_max, get_max, TRUE },
  { "mean", 92, format_mean, get_mean, TRUE },
  { "std", 84, format_std, get_std, TRUE },
  { "zeros", 78, format_zeros, get_zeros, TRUE },
  { "codes used", 92, format_codes_used, get_codes_used, TRUE },
  { "min scale", 92, format_min_scale, get_min_scale, TRUE },
  { "max scale", 92, format_max_scale, get_max_scale, TRUE },
  { "NaN, Inf", 78, format_strange, get_strange, TRUE },
};

/* --- Rows -------------------------------------------------------------------------------------------------------- */

static void
source_free (gpointer data)
{
  Source *source = data;

  g_object_unref (source->model);
  tm_statistics_set_unref (source->set);
  g_free (source);
}

static void
fill (TmTensorTable *self)
{
  TmModel *model = tm_document_get_model (self->document);
  GArray *entries;
  Source *source;

  if (self->filled || !model)
    return;
  self->filled = TRUE;
  source = g_new0 (Source, 1);
  source->model = g_object_ref (model);
  source->set = tm_statistics_set_ref (tm_document_get_statistics (self->document));
  entries = g_array_sized_new (FALSE, FALSE, sizeof (TmTableEntry), model->tensors->len);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTableEntry entry = { .tensor = i, .owner = source };

      g_array_append_val (entries, entry);
    }
  tm_table_view_set_entries (TM_TABLE_VIEW (self->table), entries, source, source_free);
}

static void
on_model_changed (TmTensorTable *self)
{
  self->filled = FALSE;
  tm_table_view_set_entries (TM_TABLE_VIEW (self->table), NULL, NULL, NULL);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    fill (self);
}

static void
on_statistics_changed (TmTensorTable *self)
{
  if (self->filled && gtk_widget_get_mapped (GTK_WIDGET (self)))
    tm_table_view_refresh (TM_TABLE_VIEW (self->table));
}

static void
show_title (gpointer data)
{
  TmTensorTable *self = data;
  g_autofree char *count = tm_table_view_count (TM_TABLE_VIEW (self->table));
  g_autofree char *title = g_strdup_printf (g_str_equal (count, "1") ? "%s tensor" : "%s tensors", count);

  gtk_label_set_text (GTK_LABEL (self->title), title);
}

/* --- Widget ------------------------------------------------------------------------------------------------------ */

static void
tm_tensor_table_map (GtkWidget *widget)
{
  TmTensorTable *self = TM_TENSOR_TABLE (widget);

  if (self->filled)
    tm_table_view_refresh (TM_TABLE_VIEW (self->table)); /* what came while nobody looked */
  else
    fill (self);
  GTK_WIDGET_CLASS (tm_tensor_table_parent_class)->map (widget);
}

static void
tm_tensor_table_dispose (GObject *object)
{
  TmTensorTable *self = TM_TENSOR_TABLE (object);

  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_pointer (&self->table, gtk_widget_unparent);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (tm_tensor_table_parent_class)->dispose (object);
}

static void
tm_tensor_table_class_init (TmTensorTableClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = tm_tensor_table_dispose;
  GTK_WIDGET_CLASS (klass)->map = tm_tensor_table_map;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (klass), "tm-dock");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
tm_tensor_table_init (TmTensorTable *self)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Tensor table", -1);
}

GtkWidget *
tm_tensor_table_new (TmDocument *document)
{
  TmTensorTable *self = g_object_new (TM_TYPE_TENSOR_TABLE, NULL);

  self->document = g_object_ref (document);
  self->title = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->title, "heading");
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  self->table = tm_table_view_new (document, "Tensors", "Filter the table", columns, G_N_ELEMENTS (columns));
  tm_table_view_set_head (TM_TABLE_VIEW (self->table), self->title, NULL, "win.close-table", "Close the table");
  tm_table_view_watch (TM_TABLE_VIEW (self->table), show_title, self);
  gtk_widget_set_parent (self->table, GTK_WIDGET (self));
  g_signal_connect_swapped (document, "model-changed", G_CALLBACK (on_model_changed), self);
  g_signal_connect_swapped (document, "statistics-changed", G_CALLBACK (on_statistics_changed), self);
  return GTK_WIDGET (self);
}
