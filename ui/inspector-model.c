/* Model, module, fold: totals, dtypes by parameters, granularity, metadata, files. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"
#include "ui/widgets.h"

#include "io/number.h"
#include "io/text.h"

#define METADATA_ITEMS 16 /* items of a long array that are shown */

static void
get_family_color (TmDocument *document, TmDtype dtype, GdkRGBA *rgba)
{
  const TmTheme *theme = tm_document_get_theme (document);
  TmColor color = theme->family[tm_dtype_get_info (dtype)->family];
  *rgba = (GdkRGBA) { (float) (color >> 24) / 255.0f, (float) (color >> 16 & 255) / 255.0f, (float) (color >> 8 & 255) / 255.0f,
                      1.0f };
}

static void
add_escaped_row (GtkWidget *card, const char *key, const char *value)
{
  if (value == NULL)
    return;
  g_autofree char *escaped = tm_text_escape (value, -1);
  tm_card_add_row (card, key, escaped, NULL);
}

static void
add_dtypes (GtkWidget *box, TmDocument *document, GArray *counts)
{
  guint64 total = 0;
  for (guint i = 0; i < counts->len; i++)
    total += g_array_index (counts, TmDtypeCount, i).parameters;
  GtkWidget *card = tm_card_new (box, "Dtypes by parameters");
  for (guint i = 0; i < counts->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (counts, TmDtypeCount, i);
      double share = total > 0 ? (double) count->parameters / (double) total : 0;
      g_autofree char *text = g_strdup_printf (share >= 0.001 || share == 0 ? "%.1f %%" : "%.3f %%", share * 100);
      g_autofree char *parameters = tm_format_count (count->parameters), *n = tm_format_count (count->tensors);
      g_autofree char *bytes = tm_format_size (count->bytes);
      g_autofree char *tip = g_strdup_printf ("%s tensor%s, %s parameter%s, %s", n, count->tensors == 1 ? "" : "s", parameters,
                                              count->parameters == 1 ? "" : "s", bytes);
      GdkRGBA color;
      get_family_color (document, count->code, &color);
      GtkWidget *row = tm_card_add_bar (card, tm_chip_new (count->code, count->dtype), share, text, &color);
      gtk_widget_set_tooltip_text (row, tip);
    }
}

static void
add_granularities (GtkWidget *box, TmModel *model)
{
  g_autoptr (GArray) counts = tm_model_count_granularities (model);
  GtkWidget *card = tm_card_new (box, "Granularity");
  for (guint i = 0; i < counts->len; i++)
    {
      const TmGranularityCount *count = &g_array_index (counts, TmGranularityCount, i);
      g_autofree char *what = tm_granularity_describe (count->granularity);
      g_autofree char *dtype = tm_text_escape (count->dtype != NULL ? count->dtype : "", -1);
      g_autofree char *key = dtype[0] != '\0' ? g_strdup_printf ("%s (%s)", what, dtype) : g_strdup (what);
      g_autofree char *n = tm_format_count (count->tensors);
      g_autofree char *value = g_strdup_printf (count->tensors == 1 ? "%s tensor" : "%s tensors", n);
      GtkWidget *number = tm_card_add_row (card, key, value, NULL);
      GtkLabel *name = GTK_LABEL (gtk_widget_get_first_child (gtk_widget_get_parent (number)));
      gtk_label_set_ellipsize (name, PANGO_ELLIPSIZE_NONE); /* the words are what this card is for: wrap, never cut */
      gtk_label_set_wrap (name, TRUE);
      gtk_label_set_wrap_mode (name, PANGO_WRAP_WORD_CHAR);
      gtk_label_set_max_width_chars (name, 24);
      gtk_label_set_wrap (GTK_LABEL (number), FALSE);
    }
}

static GtkWidget *
add_expander (GtkWidget *box, const char *title)
{
  return tm_card_new (tm_expander_new (box, title, NULL), NULL);
}

static void
add_metadata (GtkWidget *box, TmModel *model)
{
  if (model->metadata->len == 0)
    return;
  g_autofree char *title = g_strdup_printf ("Metadata (%u)", model->metadata->len);
  GtkWidget *card = add_expander (box, title);
  for (guint i = 0; i < model->metadata->len && i < 1000; i++)
    {
      const TmMetadata *entry = g_ptr_array_index (model->metadata, i);
      g_autofree char *key = tm_text_escape (entry->key, (gssize) entry->key_length);
      g_autofree char *value = NULL;
      if (entry->type == TM_META_ARRAY) /* its items are in the file: the inspector reads none on this thread */
        value = g_strdup_printf ("%s × %" G_GUINT64_FORMAT, tm_meta_type_get_name (entry->item_type), entry->n_items);
      else
        {
          g_autofree char *full = tm_metadata_format (entry, METADATA_ITEMS);
          value = tm_text_elide (full, 400);
        }
      tm_card_add_row (card, key, value, tm_meta_type_get_name (entry->type));
    }
}

static void
add_files (GtkWidget *box, TmModel *model)
{
  if (model->files->len == 0)
    return;
  GtkWidget *card = tm_card_new (box, model->files->len == 1 ? "File" : "Files");
  for (guint i = 0; i < model->files->len && i < 200; i++)
    {
      TmSource *source = g_ptr_array_index (model->files, i);
      g_autofree char *name = tm_text_escape (tm_source_get_name (source), -1);
      g_autofree char *path = tm_text_escape (tm_source_get_path (source), -1);
      g_autofree char *size = tm_format_size (tm_source_get_size (source));
      tm_card_add_row (card, name, size, path);
    }
}

void
tm_inspector_add_model (GtkWidget *box, TmDocument *document)
{
  TmModel *model = tm_document_get_model (document);
  GtkWidget *card = tm_card_new (box, "Model");
  g_autofree char *format = model->version != NULL ? g_strdup_printf ("%s v%s", model->format, model->version) : g_strdup (model->format);
  tm_card_add_row (card, "format", format, NULL);
  if (g_strcmp0 (model->byte_order, "big") == 0)
    tm_card_add_row (card, "byte order", "big-endian", NULL);
  add_escaped_row (card, "architecture", model->architecture);
  add_escaped_row (card, "name", model->name);
  g_autofree char *parameters = tm_format_parameters (model->parameters);
  g_autofree char *exact = tm_format_count (model->parameters);
  tm_card_add_row (card, "parameters", parameters, exact);
  g_autofree char *size = tm_format_size (model->bytes);
  g_autofree char *bytes = tm_format_count (model->bytes);
  g_autofree char *bytes_tip = g_strdup_printf ("%s bytes", bytes);
  tm_card_add_row (card, "size", size, bytes_tip);
  if (model->parameters > 0)
    {
      g_autofree char *bpw = g_strdup_printf ("%.2f", (double) model->bytes * 8 / (double) model->parameters);
      tm_card_add_row (card, "bits / weight", bpw, NULL);
    }
  g_autofree char *n_tensors = tm_format_count (model->tensors->len), *n_quantized = tm_format_count (model->n_quantized);
  g_autofree char *tensors = g_strdup_printf ("%s (%s quantized)", n_tensors, n_quantized);
  tm_card_add_row (card, "tensors", tensors, NULL);

  if (model->tensors->len > 0)
    {
      g_autoptr (GArray) counts = tm_model_count_dtypes (model);
      add_dtypes (box, document, counts);
  tm_inspector_add_total_distribution (box, document, model->root);
      tm_inspector_add_quantization (box, document);
      tm_inspector_add_assumptions (box, document, -1);
      add_granularities (box, model);
  tm_inspector_add_model_support (box, document);
    }
  add_files (box, model);
  add_metadata (box, model);
}

static const char *
role_name (const TmModule *module)
{
  switch (module->role)
    {
    case TM_MODULE_EMBEDDING: return "embedding";
    case TM_MODULE_BLOCK: return "block";
    case TM_MODULE_ATTENTION: return "attention";
    case TM_MODULE_FEED_FORWARD: return "feed-forward";
    case TM_MODULE_EXPERTS: return "experts";
    case TM_MODULE_ROUTER: return "router";
    case TM_MODULE_NORM: return "norm";
    case TM_MODULE_SSM: return "state space";
    case TM_MODULE_CONVOLUTION: return "convolution";
    case TM_MODULE_HEAD: return "head";
    default: return NULL;
    }
}

void
tm_inspector_add_module (GtkWidget *box, TmDocument *document, TmModule *module, const TmFold *fold)
{
  guint64 parameters = module->parameters, bytes = module->bytes;
  guint n_tensors = module->n_tensors;
  const TmModule *shown = module;
  GtkWidget *card = tm_card_new (box, fold != NULL ? "Equal blocks" : "Module");
  if (fold != NULL)
    {
      const TmModule *first = g_ptr_array_index (module->children, fold->first);
      const TmModule *last = g_ptr_array_index (module->children, fold->first + fold->count - 1);
      parameters = bytes = n_tensors = 0;
      for (guint i = 0; i < fold->count; i++)
        {
          const TmModule *block = g_ptr_array_index (module->children, fold->first + i);
          parameters += block->parameters;
          bytes += block->bytes;
          n_tensors += block->n_tensors;
        }
      shown = first;
      g_autofree char *from = tm_text_escape (first->path, -1);
      g_autofree char *range = g_strdup_printf ("%s – %" G_GINT64_FORMAT, from, last->number);
      tm_card_add_row (card, "blocks", range, "Same names, shapes, dtypes and granularity");
      g_autofree char *count = tm_format_count (fold->count);
      tm_card_add_row (card, "count", count, NULL);
    }
  else
    add_escaped_row (card, "path", module->path);
  const char *role = role_name (shown);
  if (role != NULL)
    tm_card_add_row (card, "role", role, NULL);
  g_autofree char *short_count = tm_format_parameters (parameters);
  g_autofree char *count = tm_format_count (parameters);
  tm_card_add_row (card, "parameters", short_count, count);
  g_autofree char *size = tm_format_size (bytes);
  tm_card_add_row (card, "size", size, NULL);
  if (parameters > 0)
    {
      g_autofree char *bpw = g_strdup_printf ("%.2f", (double) bytes * 8 / (double) parameters);
      tm_card_add_row (card, "bits / weight", bpw, NULL);
    }
  g_autofree char *tensors = tm_format_count (n_tensors);
  tm_card_add_row (card, "tensors", tensors, NULL);
}
