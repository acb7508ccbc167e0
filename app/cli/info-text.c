#include "cli/info.h"
#include "cli/table.h"

#include "io/number.h"
#include "io/text.h"
#include "model/quantization.h"

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
add_part (CliTable *table, const char *what, const TmQuantizationPart *part, const char *note)
{
  if (part->tensors == 0)
    return;
  cli_table_add (table, g_strdup (what), "");
  cli_table_add (table, tm_format_count (part->tensors), "");
  cli_table_add (table, tm_format_count (part->parameters), "");
  cli_table_add (table, tm_format_size (part->bytes), "");
  cli_table_add (table, g_strdup (note), cli_style_dim ());
}

/* "12 of them listed by config.json" */
static char *
describe_exclusions (TmModel *model, const TmQuantizationSummary *summary)
{
  if (model->quantization_file == NULL)
    return g_strdup ("");
  if (summary->matrices_excluded == summary->matrices.tensors)
    return g_strdup_printf ("listed by %s", model->quantization_file);
  if (summary->matrices_excluded == 0)
    return g_strdup_printf ("not listed by %s", model->quantization_file);
  return g_strdup_printf ("%u of them listed by %s", summary->matrices_excluded, model->quantization_file);
}

static void
add_schemes (GString *out, TmModel *model, const TmQuantizationSummary *summary)
{
  static const char *const titles[] = { "scheme", "bits", "group", "symmetric", "tensors", "parameters", "size", "config", NULL };
  g_autoptr (CliTable) table = cli_table_new ("lrrlrrrl");

  add_header (table, titles);
  for (guint i = 0; i < summary->schemes->len; i++)
    {
      const TmSchemeCount *count = &g_array_index (summary->schemes, TmSchemeCount, i);

      cli_table_add (table, g_strdup (count->scheme), "");
      cli_table_add (table, count->bits > 0 ? g_strdup_printf ("%u", count->bits) : g_strdup ("-"), "");
      cli_table_add (table, count->group > 0 ? tm_format_count (count->group) : g_strdup ("-"), "");
      cli_table_add (table, g_strdup (count->symmetric == 1 ? "yes" : count->symmetric == 0 ? "no" : "-"), "");
      cli_table_add (table, tm_format_count (count->tensors), "");
      cli_table_add (table, tm_format_count (count->parameters), "");
      cli_table_add (table, tm_format_size (count->bytes), "");
      cli_table_add (table,
                     count->conflicts > 0 && count->conflicts < count->tensors
                         ? g_strdup_printf ("differs for %u", count->conflicts)
                         : g_strdup (tm_scheme_count_get_config (model, count)),
                     count->conflicts > 0 ? cli_style_severity (TM_SEVERITY_WARNING) : cli_style_dim ());
    }
  add_rows (out, table);
}

static void
add_quantization (GString *out, TmModel *model)
{
  g_auto (TmQuantizationSummary) summary = { 0 };
  g_autoptr (CliTable) parts = cli_table_new ("lrrrl");
  g_autofree char *exclusions = NULL;

  tm_model_summarise_quantization (model, &summary);
  if (summary.quantized.tensors == 0)
    return;
  exclusions = describe_exclusions (model, &summary);
  add_heading (out, "Quantization");
  add_schemes (out, model, &summary);
  add_part (parts, "left in full precision", &summary.matrices, exclusions);
  add_part (parts, "norms, biases and the like", &summary.small, "");
  add_part (parts, "companions, within the above sizes", &summary.companions, "scales, zero points, code books");
  add_part (parts, "bookkeeping", &summary.bookkeeping, "does not enter the values");
  add_rows (out, parts);
  if (model->bytes > 0 && summary.bfloat16_bytes < G_MAXUINT64)
    {
      g_autofree char *size = tm_format_size (model->bytes), *full = tm_format_size (summary.bfloat16_bytes);

      g_string_append_printf (out, "  %s, in bfloat16 %s: %.1f %%\n", size, full,
                              100 * (double) model->bytes / (double) summary.bfloat16_bytes);
    }
}

static void
add_assumptions (GString *out, TmModel *model)
{
  g_autoptr (CliTable) table = cli_table_new ("llll");
  g_autoptr (GArray) groups = tm_model_group_assumptions (model);

  if (groups->len == 0)
    return;
  add_heading (out, "Assumptions");
  for (guint i = 0; i < groups->len; i++)
    {
      const TmAssumptionGroup *group = &g_array_index (groups, TmAssumptionGroup, i);
      const TmAssumption *assumption = group->first;
      g_autofree char *choice = g_strdup_printf ("%s=%s", assumption->key, assumption->value);
      g_autofree char *name = tm_text_escape (assumption->tensor, -1);
      g_autofree char *others = assumption->alternatives ? g_strdup_printf ("of %s", assumption->alternatives) : g_strdup ("");

      cli_table_add (table, tm_text_escape (choice, -1), "");
      cli_table_add (table, tm_text_escape (others, -1), cli_style_dim ());
      cli_table_add (table,
                     group->tensors == 1 ? g_strdup (name)
                                         : g_strdup_printf ("%s and %u more", name, group->tensors - 1),
                     "");
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
  add_quantization (out, model);
  add_metadata (out, model, full);
  add_files (out, model);
  add_assumptions (out, model);
  add_problems (out, model);
  ok = cli_flush (out, 0, error);
  g_string_free (out, TRUE);
  return ok;
}
