#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/table.h"

#include "analysis/query.h"
#include "io/json-writer.h"
#include "io/number.h"
#include "io/text.h"
#include "model/quantization.h"
#include "quant/codecs.h"

static const char *
get_dtype_label (const TmTensor *tensor)
{
  return tensor->dtype_label ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype);
}

static const char *
get_stored_label (const TmStored *stored)
{
  return stored->type_label ? stored->type_label : tm_dtype_get_name (stored->dtype);
}

/* Where one name stands twice, name#n: what the other commands take. Records have the name as it is stored. */
static char *
format_name (const char *name, guint ordinal)
{
  return ordinal > 0 ? g_strdup_printf ("%s#%u", name, ordinal) : g_strdup (name);
}

/* "row-major", "column-major", or "strided" for any other order of the elements. Axes of one element have no say. */
static const char *
get_layout (const TmTensor *tensor)
{
  gboolean rows = TRUE, columns = TRUE;
  guint64 row_step = 1, column_step = 1;

  if (tensor->stride == NULL)
    return "row-major";
  for (guint i = tensor->rank; i > 0; i--)
    {
      rows = rows && (tensor->shape[i - 1] <= 1 || (guint64)tensor->stride[i - 1] == row_step);
      row_step *= tensor->shape[i - 1];
    }
  for (guint i = 0; i < tensor->rank; i++)
    {
      columns = columns && (tensor->shape[i] <= 1 || (guint64)tensor->stride[i] == column_step);
      column_step *= tensor->shape[i];
    }
  return rows || tensor->n_elements == 0 ? "row-major" : columns ? "column-major" : "strided";
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_string_key (TmJsonWriter *json, const char *key, const char *text)
{
  tm_json_key (json, key);
  tm_json_string (json, text, -1);
}

static void
write_uint_key (TmJsonWriter *json, const char *key, guint64 number)
{
  tm_json_key (json, key);
  tm_json_uint (json, number);
}

static void
write_granularity (TmJsonWriter *json, const TmGranularity *granularity)
{
  gint axis;

  tm_json_key (json, "granularity");
  if (granularity == NULL)
    {
      tm_json_null (json);
      return;
    }
  tm_json_begin_object (json);
  write_string_key (json, "name", tm_granularity_kind_get_name (tm_granularity_get_kind (granularity)));
  tm_json_key (json, "levels");
  tm_json_begin_array (json);
  for (guint level = 0; level < granularity->n_levels; level++)
    tm_json_uints (json, granularity->level[level].extent, granularity->rank);
  tm_json_end_array (json);
  axis = tm_granularity_get_axis (granularity);
  tm_json_key (json, "axis");
  if (axis < 0)
    tm_json_null (json);
  else
    tm_json_int (json, axis);
  tm_json_key (json, "permuted");
  tm_json_bool (json, granularity->table != NULL);
  if (granularity->reshaped)
    {
      tm_json_key (json, "reshape");
      tm_json_uints (json, granularity->shape, granularity->rank);
    }
  tm_json_end_object (json);
}

static void
write_operands (TmJsonWriter *json, TmModel *model, const TmTensor *tensor)
{
  tm_json_key (json, "operands");
  tm_json_begin_array (json);
  for (guint i = 0; i < tensor->n_operands; i++)
    {
      const TmStored *stored = tm_model_stored (model, tensor->operand[i].stored);

      tm_json_begin_object (json);
      write_string_key (json, "role", tm_operand_role_get_name (tensor->operand[i].role));
      write_string_key (json, "name", stored->name);
      write_string_key (json, "dtype", get_stored_label (stored));
      tm_json_key (json, "shape");
      tm_json_uints (json, stored->shape, stored->rank);
      write_string_key (json, "file", stored->source ? tm_source_get_name (stored->source) : NULL);
      write_uint_key (json, "offset", stored->offset);
      write_uint_key (json, "bytes", stored->bytes);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_tensor (TmJsonWriter *json, TmModel *model, const TmTensor *tensor, const char *module)
{
  tm_json_begin_object (json);
  write_string_key (json, "name", tensor->name);
  write_string_key (json, "dtype", get_dtype_label (tensor));
  tm_json_key (json, "quantized");
  tm_json_bool (json, tensor->quantized);
  write_string_key (json, "scheme", tensor->scheme);
  tm_json_key (json, "shape");
  tm_json_uints (json, tensor->shape, tensor->rank);
  tm_json_key (json, "stride");
  tm_json_begin_array (json);
  for (guint i = 0; i < tensor->rank && tensor->stride != NULL; i++)
    tm_json_int (json, tensor->stride[i]);
  tm_json_end_array (json);
  write_string_key (json, "layout", get_layout (tensor));
  write_string_key (json, "device", tensor->values->device);
  write_uint_key (json, "parameters", tensor->n_elements);
  write_uint_key (json, "bytes", tensor->bytes);
  tm_json_key (json, "bits_per_weight");
  tm_json_float64 (json, tm_tensor_get_bits_per_weight (tensor));
  write_granularity (json, tensor->granularity);
  write_operands (json, model, tensor);
  write_string_key (json, "module", module);
  tm_json_end_object (json);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

/* The module of every stored tensor: that of the logical tensor it belongs to. Borrowed strings; NULL for none. */
static const char **
find_modules (TmModel *model)
{
  const char **modules = g_new0 (const char *, model->stored->len + 1);

  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      for (guint j = 0; j < tensor->n_operands; j++)
        modules[tensor->operand[j].stored] = tensor->module;
    }
  return modules;
}

typedef gboolean (*RowFunc) (TmModel *model, const TmTensor *tensor, const char *module, gpointer user_data,
                             GError **error);

/* chosen: indices of logical tensors, or NULL for all. */
static gboolean
foreach_row (TmModel *model, gboolean stored, const GArray *chosen, RowFunc func, gpointer user_data, GError **error)
{
  g_autofree const char **modules = stored ? find_modules (model) : NULL;
  guint n = stored ? model->stored->len : chosen ? chosen->len : model->tensors->len;
  gboolean ok = TRUE;

  for (guint i = 0; i < n && ok; i++)
    if (stored)
      {
        TmTensor *tensor = tm_tensor_new_stored (model, i);
        ok = func (model, tensor, modules[i], user_data, error);
        tm_tensor_free (tensor);
      }
    else
      {
        const TmTensor *tensor = tm_model_tensor (model, chosen ? g_array_index (chosen, guint, i) : i);
        ok = func (model, tensor, tensor->module, user_data, error);
      }
  return ok;
}

static gboolean
print_row_json (TmModel *model, const TmTensor *tensor, const char *module, gpointer user_data, GError **error)
{
  TmJsonWriter *json = user_data;

  write_tensor (json, model, tensor, module);
  return cli_flush (json->out, CLI_FLUSH, error);
}

static gboolean
print_json (TmModel *model, gboolean stored, const GArray *chosen, GError **error)
{
  GString *out = g_string_new (NULL);
  TmJsonWriter json;
  gboolean ok;

  tm_json_writer_init (&json, out);
  tm_json_begin_array (&json);
  ok = foreach_row (model, stored, chosen, print_row_json, &json, error);
  if (ok)
    {
      tm_json_end_array (&json);
      g_string_append_c (out, '\n');
      ok = cli_flush (out, 0, error);
    }
  g_string_free (out, TRUE);
  return ok;
}

static gboolean
add_row (TmModel *model, const TmTensor *tensor, const char *module, gpointer user_data, GError **error)
{
  CliTable *table = user_data;
  g_autofree char *name = format_name (tensor->name, tensor->ordinal);

  cli_table_add (table, tm_text_escape (name, -1), "");
  cli_table_add (table, tm_text_escape (get_dtype_label (tensor), -1), cli_style_dtype (tensor->dtype));
  cli_table_add (table, cli_format_shape (tensor->rank, tensor->shape), "");
  cli_table_add (table, tm_format_size (tensor->bytes), "");
  cli_table_add (table, g_strdup_printf ("%.2f", tm_tensor_get_bits_per_weight (tensor)), "");
  cli_table_add (table, tensor->granularity ? tm_granularity_describe (tensor->granularity) : g_strdup (""),
                 cli_style_dim ());
  cli_table_add (table, tensor->fault ? tm_text_escape (tensor->fault, -1) : g_strdup (""),
                 cli_style_severity (TM_SEVERITY_ERROR));
  return TRUE;
}

static gboolean
print_text (TmModel *model, gboolean stored, const GArray *chosen, GError **error)
{
  static const char *const titles[] = { "name", "dtype", "shape", "size", "bits per weight", "granularity", "", NULL };
  g_autoptr (CliTable) table = cli_table_new ("lllrrll");
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; titles[i] != NULL; i++)
    cli_table_add (table, g_strdup (titles[i]), cli_style_dim ());
  foreach_row (model, stored, chosen, add_row, table, NULL);
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    {
      cli_table_append_row (table, row, "", out);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

/* --- Filter ------------------------------------------------------------------------------------------------------- */

/* Indices of what matches, after what the query asks for has been found. diff may be NULL. */
static GArray *
run_query (TmModel *model, const TmQuery *query, const TmDiff *diff, GError **error)
{
  g_autoptr (TmStatisticsSet) set = tm_statistics_set_new (model);
  gboolean ok = tm_query_prepare (query, set, cli_progress, (gpointer) "Counting", cli_start_work (), error);

  cli_end_progress ();
  return ok ? tm_query_run (query, model, set, diff) : NULL;
}

static int
filter (const CliOptions *options, TmModel *model, const TmQuery *query, GArray **chosen)
{
  GError *error = NULL;
  g_autoptr (TmDiff) diff = NULL;

  if (tm_query_get_needs (query) & TM_QUERY_NEEDS_DIFF)
    {
      g_autoptr (TmModel) reference = cli_open_model (options->reference, options, &error);

      if (reference == NULL)
        return cli_fail (options->reference, error);
      diff = cli_make_diff (model, reference, NULL, &error);
    }
  if (error == NULL)
    *chosen = run_query (model, query, diff, &error);
  return error == NULL ? CLI_OK : cli_fail (model->path, error);
}

int
cli_tensors (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  gboolean stored = (options->given & CLI_OPTION_STORED) != 0;
  GError *error = NULL;
  g_autoptr (TmQuery) query = NULL;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (GArray) chosen = NULL;
  int status;

  if (options->filter != NULL && stored)
    return cli_usage ("--filter is about logical tensors, --stored about stored ones");
  if (options->filter != NULL)
    {
      query = tm_query_parse (options->filter, NULL, &error);
      if (query == NULL)
        {
          status = cli_usage ("--filter '%s': %s", options->filter, error->message);
          g_error_free (error);
          return status;
        }
      if ((tm_query_get_needs (query) & TM_QUERY_NEEDS_DIFF) && options->reference == NULL)
        return cli_usage ("--filter '%s' compares with another model: --reference names it", options->filter);
    }
  model = cli_open_model (path, options, &error);
  if (model == NULL)
    return cli_fail (path, error);
  status = query != NULL ? filter (options, model, query, &chosen) : CLI_OK;
  if (status != CLI_OK)
    return status;
  if (!(options->given & CLI_OPTION_JSON ? print_json (model, stored, chosen, &error)
                                         : print_text (model, stored, chosen, &error)))
    return cli_fail (path, error);
  return CLI_OK;
}
