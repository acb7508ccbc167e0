#include "cli/cli.h"
#include "cli/table.h"

#include "io/error.h"
#include "io/json-writer.h"
#include "io/number.h"
#include "io/text.h"
#include "recognise/recognise.h"

#include <string.h>

#define CUT 16u /* entries of a metadata array that are shown without --full */

static double
get_bits_per_weight (guint64 bytes, guint64 parameters)
{
  return parameters > 0 ? (double) bytes * 8 / (double) parameters : 0;
}

/* --- Granularity census: the model's is by dtype too; the record's by granularity alone ---------------------------- */

typedef struct
{
  const TmGranularity *granularity;
  GString *dtypes;
  guint tensors;
} GranularityRow;

static void
clear_granularity_row (gpointer row)
{
  g_string_free (((GranularityRow *) row)->dtypes, TRUE);
}

static void
add_dtype_name (GString *dtypes, const char *dtype)
{
  g_auto (GStrv) names = g_strsplit (dtypes->str, ", ", -1);

  if (!g_strv_contains ((const char *const *) names, dtype))
    g_string_append_printf (dtypes, "%s%s", dtypes->len > 0 ? ", " : "", dtype);
}

static gint
compare_granularity_rows (gconstpointer a, gconstpointer b)
{
  guint left = ((const GranularityRow *) a)->tensors, right = ((const GranularityRow *) b)->tensors;

  return left < right ? 1 : left > right ? -1 : 0;
}

static GArray *
count_granularities (TmModel *model)
{
  g_autoptr (GArray) counts = tm_model_count_granularities (model);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (GranularityRow));

  g_array_set_clear_func (rows, clear_granularity_row);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmGranularityCount *count = &g_array_index (counts, TmGranularityCount, i);
      GranularityRow *row = NULL;

      for (guint j = 0; j < rows->len && row == NULL; j++)
        if (tm_granularity_equal_levels (g_array_index (rows, GranularityRow, j).granularity, count->granularity))
          row = &g_array_index (rows, GranularityRow, j);
      if (row == NULL)
        {
          GranularityRow fresh = { count->granularity, g_string_new (NULL), 0 };
          g_array_append_val (rows, fresh);
          row = &g_array_index (rows, GranularityRow, rows->len - 1);
        }
      row->tensors += count->tensors;
      add_dtype_name (row->dtypes, count->dtype);
    }
  g_array_sort (rows, compare_granularity_rows);
  return rows;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_string_key (TmJsonWriter *json, const char *key, const char *text)
{
  tm_json_key (json, key);
  tm_json_string (json, text, -1);
}

static void
write_dtypes (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) counts = tm_model_count_dtypes (model);

  tm_json_key (json, "dtypes");
  tm_json_begin_array (json);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (counts, TmDtypeCount, i);

      tm_json_begin_object (json);
      write_string_key (json, "dtype", count->dtype);
      tm_json_key (json, "tensors");
      tm_json_uint (json, count->tensors);
      tm_json_key (json, "parameters");
      tm_json_uint (json, count->parameters);
      tm_json_key (json, "bytes");
      tm_json_uint (json, count->bytes);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_granularities (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) rows = count_granularities (model);

  tm_json_key (json, "granularity");
  tm_json_begin_array (json);
  for (guint i = 0; i < rows->len; i++)
    {
      const GranularityRow *row = &g_array_index (rows, GranularityRow, i);
      const TmGranularity *granularity = row->granularity;

      if (granularity == NULL) /* what is not quantized has none */
        continue;
      tm_json_begin_object (json);
      write_string_key (json, "granularity",
                        tm_granularity_kind_get_name (tm_granularity_get_kind (granularity)));
      tm_json_key (json, "levels");
      tm_json_begin_array (json);
      for (guint level = 0; level < granularity->n_levels; level++)
        tm_json_uints (json, granularity->level[level].extent, granularity->rank);
      tm_json_end_array (json);
      tm_json_key (json, "tensors");
      tm_json_uint (json, row->tensors);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static gboolean write_items (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error);

/* Arrays within arrays: brackets alone, or with their length told where they are cut. The reader refuses deep nesting. */
static gboolean
write_nested (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  gboolean cut = !full && entry->n_items > CUT;

  if (cut)
    {
      tm_json_begin_object (json);
      tm_json_key (json, "length");
      tm_json_uint (json, entry->n_items);
      tm_json_key (json, "value");
    }
  if (!write_items (json, entry, full, error))
    return FALSE;
  if (cut)
    tm_json_end_object (json);
  return TRUE;
}

static gboolean
write_value (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  switch (entry->type)
    {
    case TM_META_U8:
    case TM_META_U16:
    case TM_META_U32:
    case TM_META_U64:
      tm_json_uint (json, entry->as.u);
      return TRUE;
    case TM_META_I8:
    case TM_META_I16:
    case TM_META_I32:
    case TM_META_I64:
      tm_json_int (json, entry->as.i);
      return TRUE;
    case TM_META_F32:
      tm_json_float32 (json, (float) entry->as.f);
      return TRUE;
    case TM_META_F64:
      tm_json_float64 (json, entry->as.f);
      return TRUE;
    case TM_META_BOOL:
      tm_json_bool (json, entry->as.b);
      return TRUE;
    case TM_META_STRING:
      tm_json_string (json, entry->string, (gssize) entry->string_length);
      return TRUE;
    case TM_META_JSON:
      tm_json_raw (json, entry->string, (gssize) entry->string_length);
      return TRUE;
    case TM_META_ARRAY:
      return write_nested (json, entry, full, error);
    default:
      tm_json_null (json);
      return TRUE;
    }
}

static gboolean
write_items (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  g_autoptr (GPtrArray) items = tm_metadata_read_items (entry, full ? entry->n_items : CUT, error);

  if (items == NULL)
    return FALSE;
  tm_json_begin_array (json);
  for (guint i = 0; i < items->len; i++)
    if (!write_value (json, g_ptr_array_index (items, i), full, error) || !cli_flush (json->out, CLI_FLUSH, error))
      return FALSE;
  tm_json_end_array (json);
  return TRUE;
}

static gboolean
write_metadata (TmJsonWriter *json, TmModel *model, gboolean full, GError **error)
{
  tm_json_key (json, "metadata");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->metadata->len; i++)
    {
      const TmMetadata *entry = g_ptr_array_index (model->metadata, i);

      tm_json_begin_object (json);
      tm_json_key (json, "key");
      tm_json_string (json, entry->key, (gssize) entry->key_length);
      write_string_key (json, "type", tm_meta_type_get_name (entry->type));
      if (entry->type == TM_META_ARRAY)
        {
          write_string_key (json, "item_type", tm_meta_type_get_name (entry->item_type));
          tm_json_key (json, "length");
          tm_json_uint (json, entry->n_items);
        }
      tm_json_key (json, "value");
      if (entry->type == TM_META_ARRAY ? !write_items (json, entry, full, error)
                                       : !write_value (json, entry, full, error))
        return FALSE;
      tm_json_end_object (json);
      if (!cli_flush (json->out, CLI_FLUSH, error))
        return FALSE;
    }
  tm_json_end_array (json);
  return TRUE;
}

static void
write_files (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "files");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->files->len; i++)
    {
      TmSource *source = g_ptr_array_index (model->files, i);

      tm_json_begin_object (json);
      write_string_key (json, "path", tm_source_get_name (source));
      tm_json_key (json, "bytes");
      tm_json_uint (json, tm_source_get_size (source));
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_problems (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "problems");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      tm_json_begin_object (json);
      write_string_key (json, "severity", tm_severity_get_name (problem->severity));
      write_string_key (json, "code", problem->code);
      write_string_key (json, "message", problem->message);
      write_string_key (json, "file", problem->file);
      tm_json_key (json, "offset");
      if (problem->offset == TM_NO_OFFSET)
        tm_json_null (json);
      else
        tm_json_uint (json, problem->offset);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_assumptions (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "assumptions");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);

      tm_json_begin_object (json);
      write_string_key (json, "tensor", assumption->tensor);
      write_string_key (json, "key", assumption->key);
      write_string_key (json, "value", assumption->value);
      write_string_key (json, "evidence", assumption->evidence);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_empty_array (TmJsonWriter *json, const char *key)
{
  tm_json_key (json, key);
  tm_json_begin_array (json);
  tm_json_end_array (json);
}

static gboolean
print_json (TmModel *model, gboolean full, GError **error)
{
  GString *out = g_string_new (NULL);
  TmJsonWriter json;
  gboolean ok;

  tm_json_writer_init (&json, out);
  tm_json_begin_object (&json);
  write_string_key (&json, "format", model->format);
  write_string_key (&json, "version", model->version);
  write_string_key (&json, "byte_order", model->byte_order);
  write_string_key (&json, "architecture", model->architecture);
  write_string_key (&json, "name", model->name);
  tm_json_key (&json, "tensors");
  tm_json_uint (&json, model->tensors->len);
  tm_json_key (&json, "quantized_tensors");
  tm_json_uint (&json, model->n_quantized);
  tm_json_key (&json, "parameters");
  tm_json_uint (&json, model->parameters);
  tm_json_key (&json, "bytes");
  tm_json_uint (&json, model->bytes);
  tm_json_key (&json, "bits_per_weight");
  tm_json_float64 (&json, get_bits_per_weight (model->bytes, model->parameters));
  write_dtypes (&json, model);
  write_granularities (&json, model);
  ok = write_metadata (&json, model, full, error);
  if (ok)
    {
      write_files (&json, model);
      write_empty_array (&json, "quantization"); /* conventions above a container's own types */
      write_assumptions (&json, model);
      write_problems (&json, model);
      tm_json_end_object (&json);
      g_string_append_c (out, '\n');
      ok = cli_flush (out, 0, error);
    }
  g_string_free (out, TRUE);
  return ok;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

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
  g_autofree char *n_tensors = tm_format_count (model->tensors->len), *n_quantized = tm_format_count (model->n_quantized);
  g_autofree char *tensors = g_strdup_printf ("%s, %s quantized", n_tensors, n_quantized);
  g_autofree char *exact = tm_format_count (model->parameters), *rounded = tm_format_parameters (model->parameters);
  g_autofree char *parameters = g_strdup_printf ("%s (%s)", rounded, exact);
  g_autofree char *exact_bytes = tm_format_count (model->bytes), *size = tm_format_size (model->bytes);
  g_autofree char *bytes = g_strdup_printf ("%s (%s bytes)", size, exact_bytes);
  g_autofree char *bits = g_strdup_printf ("%.2f", get_bits_per_weight (model->bytes, model->parameters));

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
      cli_table_add (table, g_strdup_printf ("%.2f", get_bits_per_weight (count->bytes, count->parameters)), "");
    }
  add_rows (out, table);
}

static void
add_granularities (GString *out, TmModel *model)
{
  static const char *const titles[] = { "shared by", "tensors", "dtypes", NULL };
  g_autoptr (GArray) rows = count_granularities (model);
  g_autoptr (CliTable) table = cli_table_new ("lrl");

  if (rows->len == 0)
    return;
  add_heading (out, "Granularity");
  add_header (table, titles);
  for (guint i = 0; i < rows->len; i++)
    {
      const GranularityRow *row = &g_array_index (rows, GranularityRow, i);

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

      cli_table_add (table, tm_text_escape (entry->key, (gssize) entry->key_length), "");
      cli_table_add (table, entry->type == TM_META_ARRAY ? g_strdup_printf ("%s[]", tm_meta_type_get_name (entry->item_type))
                                                         : g_strdup (type), cli_style_dim ());
      cli_table_add (table, tm_metadata_format (entry, full ? entry->n_items : CUT), "");
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

      cli_table_add (table, g_strdup (tm_severity_get_name (problem->severity)), cli_style_severity (problem->severity));
      cli_table_add (table, g_strdup (problem->code), cli_style_dim ());
      cli_table_add (table, tm_text_escape (problem->message, -1), "");
    }
  add_rows (out, table);
}

static gboolean
print_text (TmModel *model, gboolean full, GError **error)
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

/* --- The command -------------------------------------------------------------------------------------------------- */

/* The first of the worst, and how many there are. */
static int
fail_strictly (const char *path, TmModel *model)
{
  guint errors = tm_model_count_problems (model, TM_SEVERITY_ERROR);
  guint warnings = tm_model_count_problems (model, TM_SEVERITY_WARNING) - errors;
  const TmProblem *worst = NULL;

  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);
      if (worst == NULL || problem->severity > worst->severity)
        worst = problem;
    }
  return cli_fail (path, g_error_new (TM_ERROR, TM_ERROR_FORMAT, "%u error%s, %u warning%s; first: %s", errors,
                                      errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", worst->message));
}

int
cli_info (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  gboolean full = (options->given & CLI_OPTION_FULL) != 0;
  GError *error = NULL;
  g_autoptr (TmModel) model = tm_open_model_with (path, options->assume, NULL, &error);

  if (model == NULL)
    return cli_fail (path, error);
  if (!(options->given & CLI_OPTION_JSON ? print_json (model, full, &error) : print_text (model, full, &error)))
    return cli_fail (path, error);
  if ((options->given & CLI_OPTION_STRICT) && tm_model_count_problems (model, TM_SEVERITY_WARNING) > 0)
    return fail_strictly (path, model);
  return CLI_OK;
}
