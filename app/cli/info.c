#include "cli/info.h"

#include "io/error.h"

double
cli_info_get_bits_per_weight (guint64 bytes, guint64 parameters)
{
  return parameters > 0 ? (double)bytes * 8 / (double)parameters : 0;
}

static void
clear_granularity_row (gpointer row)
{
  g_string_free (((CliGranularityRow *)row)->dtypes, TRUE);
}

static void
add_dtype_name (GString *dtypes, const char *dtype)
{
  g_auto (GStrv) names = g_strsplit (dtypes->str, ", ", -1);

  if (!g_strv_contains ((const char *const *)names, dtype))
    g_string_append_printf (dtypes, "%s%s", dtypes->len > 0 ? ", " : "", dtype);
}

static gint
compare_granularity_rows (gconstpointer a, gconstpointer b)
{
  guint left = ((const CliGranularityRow *)a)->tensors, right = ((const CliGranularityRow *)b)->tensors;

  return left < right ? 1 : left > right ? -1 : 0;
}

GArray *
cli_info_count_granularities (TmModel *model)
{
  g_autoptr (GArray) counts = tm_model_count_granularities (model);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (CliGranularityRow));

  g_array_set_clear_func (rows, clear_granularity_row);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmGranularityCount *count = &g_array_index (counts, TmGranularityCount, i);
      CliGranularityRow *row = NULL;

      for (guint j = 0; j < rows->len && row == NULL; j++)
        if (tm_granularity_equal_levels (g_array_index (rows, CliGranularityRow, j).granularity, count->granularity))
          row = &g_array_index (rows, CliGranularityRow, j);
      if (row == NULL)
        {
          CliGranularityRow fresh = { count->granularity, g_string_new (NULL), 0 };
          g_array_append_val (rows, fresh);
          row = &g_array_index (rows, CliGranularityRow, rows->len - 1);
        }
      row->tensors += count->tensors;
      add_dtype_name (row->dtypes, count->dtype);
    }
  g_array_sort (rows, compare_granularity_rows);
  return rows;
}

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
  g_autoptr (TmModel) model = cli_open_model (path, options, &error);

  if (model == NULL)
    return cli_fail (path, error);
  if (!(options->given & CLI_OPTION_JSON ? cli_info_print_json (model, full, &error)
                                         : cli_info_print_text (model, full, &error)))
    return cli_fail (path, error);
  if ((options->given & CLI_OPTION_STRICT) && tm_model_count_problems (model, TM_SEVERITY_WARNING) > 0)
    return fail_strictly (path, model);
  return CLI_OK;
}
