#include "cli/cli.h"
#include "cli/table.h"

#include "analysis/sparsity.h"
#include "io/error.h"
#include "io/number.h"
#include "io/text.h"

static char *
format_some (guint64 n)
{
  return n > 0 ? tm_format_count (n) : g_strdup ("");
}

static char *
join_patterns (const TmSparsity *one)
{
  g_autoptr (GPtrArray) names = tm_sparsity_list_patterns (one);
  g_autofree char *block = tm_sparsity_format_block (one);

  if (block != NULL && one->fault == NULL)
    g_ptr_array_add (names, g_strdup_printf ("%s blocks", block));
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static gboolean
print_text (TmModel *model, const GPtrArray *results, GError **error)
{
  static const char *const titles[]
      = { "tensor", "dtype", "zeros", "zero groups", "zero rows", "zero columns", "patterns", "", NULL };
  g_autoptr (CliTable) table = cli_table_new ("llrrrrll");
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; titles[i] != NULL; i++)
    cli_table_add (table, g_strdup (titles[i]), cli_style_dim ());
  for (guint i = 0; i < results->len; i++)
    {
      const TmSparsity *one = g_ptr_array_index (results, i);
      const TmTensor *tensor = tm_model_tensor (model, one->tensor);
      const char *label = tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype);
      g_autofree char *words = tm_sparsity_describe (one);

      cli_table_add (table, tm_text_escape (tensor->name, -1), "");
      cli_table_add (table, tm_text_escape (label, -1), cli_style_dtype (tensor->dtype));
      cli_table_add (table, one->fault == NULL ? tm_format_count (one->zeros) : g_strdup ("?"), "");
      cli_table_add (table, format_some (one->zero_groups), "");
      cli_table_add (table, format_some (one->zero_rows), "");
      cli_table_add (table, format_some (one->zero_columns), "");
      cli_table_add (table, join_patterns (one), "");
      cli_table_add (table, tm_text_escape (words, -1), one->fault != NULL ? cli_style_severity (TM_SEVERITY_ERROR) : cli_style_dim ());
    }
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    {
      cli_table_append_row (table, row, "", out);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

static gboolean
print_json (TmModel *model, const GPtrArray *results, gboolean full, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < results->len; i++)
    {
      TmJsonWriter json;

      tm_json_writer_init (&json, out);
      if (full)
        tm_sparsity_write_full_json (&json, g_ptr_array_index (results, i), model);
      else
        tm_sparsity_write_json (&json, g_ptr_array_index (results, i), model);
      g_string_append_c (out, '\n');
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

/* A tensor that was named and cannot be read is a failure; among all of them it is told. */
static gboolean
check_faults (TmModel *model, const GPtrArray *results, GError **error)
{
  for (guint i = 0; i < results->len; i++)
    {
      const TmSparsity *one = g_ptr_array_index (results, i);

      if (one->fault == NULL)
        continue;
      g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s: %s", tm_model_tensor (model, one->tensor)->name, one->fault);
      return FALSE;
    }
  return TRUE;
}

static GPtrArray *
look_for_zeros (TmModel *model, TmModel *reference, const GArray *tensors, gboolean named, GError **error)
{
  GCancellable *cancellable = cli_start_work ();
  const guint *indices = (const guint *) (const void *) tensors->data;
  g_autoptr (TmAlignment) alignment = NULL;
  GPtrArray *results = NULL;

  if (reference != NULL)
    alignment = tm_align (model, reference, named ? indices : NULL, named ? tensors->len : 0, cli_progress, (gpointer) "Aligning",
                          cancellable, error);
  if (reference == NULL || alignment != NULL)
    results = tm_sparsity_run (model, alignment, indices, tensors->len, cli_progress, (gpointer) "Looking for zeros", cancellable,
                               error);
  cli_end_progress ();
  return results;
}

int
cli_sparsity (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  gboolean named = options->arguments->len > 1;
  GError *error = NULL;
  g_autoptr (TmModel) model = cli_open_model (path, options, &error);
  g_autoptr (TmModel) reference = NULL;
  g_autoptr (GArray) tensors = NULL;
  g_autoptr (GPtrArray) results = NULL;

  if (model == NULL)
    return cli_fail (path, error);
  tensors = cli_find_tensors (model, options->arguments, 1, &error);
  if (tensors == NULL)
    return cli_fail (path, error);
  if (options->reference != NULL)
    {
      reference = cli_open_model (options->reference, options, &error);
      if (reference == NULL)
        return cli_fail (options->reference, error);
    }
  results = look_for_zeros (model, reference, tensors, named, &error);
  if (results == NULL || (named && !check_faults (model, results, &error)))
    return cli_fail (path, error);
  if (!(options->given & CLI_OPTION_JSON ? print_json (model, results, (options->given & CLI_OPTION_FULL) != 0, &error)
                                          : print_text (model, results, &error)))
    return cli_fail (path, error);
  return CLI_OK;
}
