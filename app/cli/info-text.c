#include "cli/info.h"
#include "cli/table.h"

#include "io/number.h"
#include "io/text.h"

static void
add_fact (GString *out, const char *name, const char *value)
{
  g_autofree char *escaped = tm_text_escape (value, -1);

  g_string_append_printf (out, "%s%-17s%s%s\n", cli_style_dim (), name, cli_style_end (), escaped);
}

static void
add_heading (GString *out, const char *heading)
{
  g_string_append_printf (out, "\n%s%s%s\n", cli_style_heading (), heading, cli_style_end ());
}

static void
add_rows (GString *out, const CliTable *table)
{
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    cli_table_append_row (table, row, "  ", out);
}

static void
add_header (CliTable *table, const char *const *titles)
{
  for (; *titles != NULL; titles++)
    cli_table_add (table, g_strdup (*titles), cli_style_dim ());
}

static void
add_facts (GString *out, TmModel *model)
{
  g_autofree char *format = g_strdup_printf ("%s%s%s, %s-endian", model->format, model->version ? " " : "",
                                             model->version ? model->version : "", model->byte_order);
  g_autofree char *n_tensors = tm_format_count (model->tensors->len),
                  *n_quantized = tm_format_count (model->n_quantized);
  g_autofree char *tensors = g_strdup_printf ("%s, %s quantized", n_tensors, n_quantized);
  g_autofree char *exact = tm_format_count (model->parameters), *rounded = tm_format_parameters (model->parameters);
  g_autofree char *parameters = g_strdup_printf ("%s (%s)", rounded, exact);
  g_autofree char *exact_bytes = tm_format_count (model->bytes), *size = tm_format_size (model->bytes);
  g_autofree char *bytes = g_strdup_printf ("%s (%s bytes)", size, exact_bytes);
  g_autofree char *bits = g_strdup_printf ("%.2f", cli_info_get_bits_per_weight (model->bytes, model->parameters));

  add_fact (out, "Format", format);
  if (model->architecture)
    add_fact (out, "Architecture", model->architecture);
  if (model->name)
    add_fact (out, "Name", model->name);
  add_fact (out, "Tensors", tensors);
  add_fact (out, "Parameters", parameters);
  add_fact (out, "Size", bytes);
  add_fact (out, "Bits per weight", bits);
}

static void
add_dtypes (GString *out, TmModel *model)
{
  static const char *const titles[] = { "dtype", "tensors", "parameters", "size", "bits per weight", NULL };
  g_autoptr (GArray) counts = tm_model_count_dtypes (model);
  g_autoptr (CliTable) table = cli_table_new ("lrrrr");

  if (counts->len == 0)
    return;
  add_heading (out, "Dtypes");
  add_header (table, titles);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (counts, TmDtypeCount, i);

      cli_table_add (table, tm_text_escape (count->dtype, -1), cli_style_dtype (count->code));
      cli_table_add (table, tm_format_count (count->tensors), "");
      cli_table_add (table, tm_format_count (count->parameters), "");
      cli_table_add (table, tm_format_size (count->bytes), "");
      cli_table_add (table, g_strdup_printf ("%.2f", cli_info_get_bits_per_weight (count->bytes, count->parameters)),
                     "");
    }
  add_rows (out, table);
}

static void
add_granularities (GString *out, TmModel *model)
{
  static const char *const titles[] = { "shared by", "tensors", "dtypes", NULL };
  g_autoptr (GArray) rows = cli_info_count_granularities (model);
  g_autoptr (CliTable) table = cli_table_new ("lrl");

  if (rows->len == 0)
    return;
  add_heading (out, "Granularity");
  add_header (table, titles);
  for (guint i = 0; i < rows->len; i++)
    {
      const CliGranularityRow *row = &g_array_index (rows, CliGranularityRow, i);

      cli_table_add (table, tm_granularity_describe (row->granularity), "");
      cli_table_add (table, tm_format_count (row->tensors), "");
      cli_table_add (table, tm_text_escape (row->dtypes->str, -1), cli_style_dim ());
    }
  add_rows (out, table);
}

static void
add_metadata (GString *out, TmModel *model, gboolean full)
{
  g_autoptr (CliTable) table = cli_table_new ("lll");

  if (model->metadata->len == 0)
    return;
  add_heading (out, "Metadata");
  for (guint i = 0; i < model->metadata->len; i++)
    {
      const TmMetadata *entry = g_ptr_array_index (model->metadata, i);
      const char *type = tm_meta_type_get_name (entry->type);

      cli_table_add (table, tm_text_escape (entry->key, (gssize)entry->key_length), "");
      cli_table_add (table,
                     entry->type == TM_META_ARRAY ? g_strdup_printf ("%s[]", tm_meta_type_get_name (entry->item_type))
                                                  : g_strdup (type),
                     cli_style_dim ());
      cli_table_add (table, tm_metadata_format (entry, full ? entry->n_items : CLI_INFO_CUT), "");
    }
  add_rows (out, table);
}

static void
add_assumptions (GString *out, TmModel *model)
{
  g_autoptr (CliTable) table = cli_table_new ("lll");

  if (model->assumptions->len == 0)
    return;
  add_heading (out, "Assumptions");
  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);
      g_autofree char *choice = g_strdup_printf ("%s=%s", assumption->key, assumption->value);

      cli_table_add (table, tm_text_escape (assumption->tensor, -1), "");
      cli_table_add (table, tm_text_escape (choice, -1), "");
      cli_table_add (table, tm_text_escape (assumption->evidence, -1), cli_style_dim ());
    }
  add_rows (out, table);
}

static void
add_files (GString *out, TmModel *model)
{
  g_autoptr (CliTable) table = cli_table_new ("lr");

  add_heading (out, "Files");
  for (guint i = 0; i < model->files->len; i++)
    {
      TmSource *source = g_ptr_array_index (model->files, i);

      cli_table_add (table, tm_text_escape (tm_source_get_name (source), -1), "");
      cli_table_add (table, tm_format_size (tm_source_get_size (source)), "");
    }
  add_rows (out, table);
}

static void
add_problems (GString *out, TmModel *model)
{
  g_autoptr (CliTable) table = cli_table_new ("lll");

  if (model->problems->len == 0)
    return;
  add_heading (out, "Problems");
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      cli_table_add (table, g_strdup (tm_severity_get_name (problem->severity)),
                     cli_style_severity (problem->severity));
      cli_table_add (table, g_strdup (problem->code), cli_style_dim ());
      cli_table_add (table, tm_text_escape (problem->message, -1), "");
    }
  add_rows (out, table);
}

gboolean
cli_info_print_text (TmModel *model, gboolean full, GError **error)
{
  GString *out = g_string_new (NULL);
  gboolean ok;

  add_facts (out, model);
  add_dtypes (out, model);
  add_granularities (out, model);
  add_metadata (out, model, full);
  add_files (out, model);
  add_assumptions (out, model);
  add_problems (out, model);
  ok = cli_flush (out, 0, error);
  g_string_free (out, TRUE);
  return ok;
}
