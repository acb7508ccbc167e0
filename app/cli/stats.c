#include "cli/cli.h"
#include "cli/table.h"

#include <math.h>

#include "analysis/statistics.h"
#include "io/error.h"
#include "io/number.h"
#include "io/text.h"

#define BARS 25       /* lines of a drawn histogram */
#define BAR_WIDTH 48

/* --- Text --------------------------------------------------------------------------------------------------------- */

static char *
format_number (double number)
{
  return isnan (number) ? g_strdup ("") : g_strdup_printf ("%.5g", number);
}

static const char *
get_label (const TmTensor *tensor)
{
  return tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype);
}

static void
add_row (CliTable *table, const TmTensor *tensor, const TmStatistics *one)
{
  const TmDistribution *values = &one->values;
  gboolean known = one->fault == NULL;

  cli_table_add (table, tm_text_escape (tensor->name, -1), "");
  cli_table_add (table, tm_text_escape (get_label (tensor), -1), cli_style_dtype (tensor->dtype));
  cli_table_add (table, format_number (values->min), "");
  cli_table_add (table, format_number (values->max), "");
  cli_table_add (table, format_number (values->mean), "");
  cli_table_add (table, format_number (values->std), "");
  cli_table_add (table, known ? tm_format_count (values->n_zeros) : g_strdup ("?"), "");
  cli_table_add (table, known ? tm_format_count (values->n_nan) : g_strdup ("?"), "");
  cli_table_add (table, known ? tm_format_count (values->n_inf) : g_strdup ("?"), "");
  cli_table_add (table, one->codes != NULL ? g_strdup_printf ("%u/%u", one->codes_used, one->n_codes) : g_strdup (""), "");
  cli_table_add (table, known ? g_strdup ("") : tm_text_escape (one->fault, -1), cli_style_severity (TM_SEVERITY_ERROR));
}

static void
add_sum_row (CliTable *table, TmStatisticsSet *set)
{
  g_autoptr (TmStatistics) sum = tm_statistics_set_sum (set, tm_statistics_set_get_model (set)->root, NULL);
  const TmDistribution *values = &sum->values;

  cli_table_add (table, g_strdup_printf ("(all %u)", sum->tensors), cli_style_dim ());
  cli_table_add (table, g_strdup (""), "");
  cli_table_add (table, format_number (values->min), "");
  cli_table_add (table, format_number (values->max), "");
  cli_table_add (table, format_number (values->mean), "");
  cli_table_add (table, format_number (values->std), "");
  cli_table_add (table, tm_format_count (values->n_zeros), "");
  cli_table_add (table, tm_format_count (values->n_nan), "");
  cli_table_add (table, tm_format_count (values->n_inf), "");
  cli_table_add (table, sum->codes != NULL ? g_strdup_printf ("%u/%u", sum->codes_used, sum->n_codes) : g_strdup (""), "");
  cli_table_add (table, g_strdup (""), "");
}

static gboolean
print_table (TmStatisticsSet *set, const GArray *tensors, GError **error)
{
  static const char *const titles[]
      = { "tensor", "dtype", "min", "max", "mean", "std", "zeros", "NaN", "Inf", "codes", "", NULL };
  g_autoptr (CliTable) table = cli_table_new ("llrrrrrrrrl");
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; titles[i] != NULL; i++)
    cli_table_add (table, g_strdup (titles[i]), cli_style_dim ());
  for (guint i = 0; i < tensors->len; i++)
    {
      guint index = g_array_index (tensors, guint, i);
      g_autoptr (TmStatistics) one = tm_statistics_set_get (set, index);

      add_row (table, tm_model_tensor (tm_statistics_set_get_model (set), index), one);
    }
  if (tensors->len > 1)
    add_sum_row (table, set);
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    {
      cli_table_append_row (table, row, "", out);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

static void
add_line (CliTable *table, const char *name, char *text)
{
  cli_table_add (table, g_strdup (name), cli_style_dim ());
  cli_table_add (table, text, "");
}

static void
append_bars (GString *out, const TmDistribution *values)
{
  double counts[BARS], most = 0, reach = values->absmax;

  if (!(reach > 0))
    return;
  tm_distribution_rebin (values, -reach, nextafter (reach, (double) INFINITY), BARS, counts);
  for (guint i = 0; i < BARS; i++)
    most = MAX (most, counts[i]);
  for (guint i = 0; i < BARS; i++)
    {
      guint width = (guint) ceil (counts[i] / most * BAR_WIDTH);

      g_string_append_printf (out, "  %12.5g  ", (2 * ((double) i + 0.5) / BARS - 1) * reach);
      for (guint j = 0; j < width; j++)
        g_string_append (out, "▇");
      g_string_append_c (out, '\n');
    }
}

static void
append_detail (GString *out, const char *title, const char *label, const TmStatistics *one)
{
  const TmDistribution *values = &one->values;
  g_autoptr (CliTable) table = cli_table_new ("ll");
  g_autofree char *name = tm_text_escape (title, -1);

  g_string_append_printf (out, "%s%s%s · %s\n", cli_style_heading (), name, cli_style_end (), label);
  add_line (table, "count", tm_format_count (values->count));
  add_line (table, "min … max", g_strdup_printf ("%.7g … %.7g", values->min, values->max));
  add_line (table, "absmax", g_strdup_printf ("%.7g", values->absmax));
  add_line (table, "mean", g_strdup_printf ("%.7g", values->mean));
  add_line (table, "std", g_strdup_printf ("%.7g", values->std));
  add_line (table, "RMS", g_strdup_printf ("%.7g", values->rms));
  add_line (table, "zeros", tm_format_count (values->n_zeros));
  add_line (table, "NaN", tm_format_count (values->n_nan));
  add_line (table, "Inf", tm_format_count (values->n_inf));
  for (guint i = 0; i < TM_N_PERCENTILES && values->n_finite > 0; i++)
    {
      g_autofree char *percent = g_strdup_printf ("%g %%", tm_percentiles[i]);

      add_line (table, percent, format_number (tm_distribution_get_percentile (values, tm_percentiles[i])));
    }
  if (one->codes != NULL)
    add_line (table, "codes", tm_statistics_describe_codes (one));
  if (one->has_scales)
    add_line (table, "scales", tm_statistics_describe_scales (one));
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    cli_table_append_row (table, row, "  ", out);
  append_bars (out, values);
}

static gboolean
print_details (TmStatisticsSet *set, const GArray *tensors, const GPtrArray *modules, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < tensors->len; i++)
    {
      guint index = g_array_index (tensors, guint, i);
      g_autoptr (TmStatistics) one = tm_statistics_set_get (set, index);

      if (i > 0)
        g_string_append_c (out, '\n');
      append_detail (out, tm_model_tensor (tm_statistics_set_get_model (set), index)->name,
                     get_label (tm_model_tensor (tm_statistics_set_get_model (set), index)), one);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  for (guint i = 0; i < modules->len; i++)
    {
      const TmModule *module = g_ptr_array_index (modules, i);
      g_autoptr (TmStatistics) sum = tm_statistics_set_sum (set, module, NULL);
      g_autofree char *label = g_strdup_printf ("%u tensors", sum->tensors);

      if (tensors->len + i > 0)
        g_string_append_c (out, '\n');
      append_detail (out, module->path, label, sum);
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static gboolean
print_json (TmStatisticsSet *set, const GArray *tensors, const GPtrArray *modules, gboolean full, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < tensors->len; i++)
    {
      guint index = g_array_index (tensors, guint, i);
      const TmTensor *tensor = tm_model_tensor (tm_statistics_set_get_model (set), index);
      g_autoptr (TmStatistics) one = tm_statistics_set_get (set, index);
      TmJsonWriter json;

      tm_json_writer_init (&json, out);
      if (one->fault == NULL)
        tm_statistics_write_json (&json, one, tensor, full);
      else
        {
          tm_json_begin_object (&json);
          tm_json_key (&json, "tensor");
          tm_json_string (&json, tensor->name, -1);
          tm_json_key (&json, "fault");
          tm_json_string (&json, one->fault, -1);
          tm_json_end_object (&json);
        }
      g_string_append_c (out, '\n');
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  for (guint i = 0; i < modules->len; i++)
    {
      const TmModule *module = g_ptr_array_index (modules, i);
      g_autoptr (TmStatistics) sum = tm_statistics_set_sum (set, module, NULL);
      TmJsonWriter json;

      tm_json_writer_init (&json, out);
      tm_statistics_write_sum_json (&json, sum, module->path, full);
      g_string_append_c (out, '\n');
    }
  return cli_flush (out, 0, error);
}

/* --- The command -------------------------------------------------------------------------------------------------- */

/* A tensor that was named and cannot be read is a failure; among all of them it is told. */
static gboolean
check_faults (TmStatisticsSet *set, const GArray *tensors, GError **error)
{
  for (guint i = 0; i < tensors->len; i++)
    {
      guint index = g_array_index (tensors, guint, i);
      g_autoptr (TmStatistics) one = tm_statistics_set_get (set, index);

      if (one->fault == NULL)
        continue;
      g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s: %s", tm_model_tensor (tm_statistics_set_get_model (set), index)->name,
                   one->fault);
      return FALSE;
    }
  return TRUE;
}

/* Names of modules go to modules, those of tensors to tensors. FALSE: one is neither. */
static gboolean
find_named (TmModel *model, const GPtrArray *arguments, GArray **tensors, GPtrArray *modules, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < arguments->len; i++)
    {
      const char *name = g_ptr_array_index (arguments, i);
      const TmModule *module = i > 0 && tm_model_find_tensor (model, name) < 0 ? tm_module_find (model->root, name) : NULL;

      g_ptr_array_add (module != NULL ? modules : names, module != NULL ? (gpointer) module : (gpointer) name);
    }
  if (names->len == 1 && modules->len > 0)
    *tensors = g_array_new (FALSE, FALSE, sizeof (guint));
  else
    *tensors = cli_find_tensors (model, names, 1, error);
  return *tensors != NULL;
}

/* Tensors, and those below modules. (transfer full) */
static GArray *
list_all (const GArray *tensors, const GPtrArray *modules)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) open = g_ptr_array_new ();

  g_array_append_vals (all, tensors->data, tensors->len);
  for (guint i = 0; i < modules->len; i++)
    g_ptr_array_add (open, g_ptr_array_index (modules, i));
  while (open->len > 0)
    {
      const TmModule *module = g_ptr_array_steal_index (open, open->len - 1);

      g_array_append_vals (all, module->tensors->data, module->tensors->len);
      for (guint i = 0; i < module->children->len; i++)
        g_ptr_array_add (open, g_ptr_array_index (module->children, i));
    }
  return all;
}

int
cli_stats (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  gboolean named = options->arguments->len > 1, ok;
  GError *error = NULL;
  g_autoptr (TmModel) model = cli_open_model (path, options, &error);
  g_autoptr (TmStatisticsSet) set = NULL;
  g_autoptr (GArray) tensors = NULL, all = NULL;
  g_autoptr (GPtrArray) modules = g_ptr_array_new ();

  if (model == NULL)
    return cli_fail (path, error);
  if (!find_named (model, options->arguments, &tensors, modules, &error))
    return cli_fail (path, error);
  all = list_all (tensors, modules);
  set = tm_statistics_set_new (model);
  ok = tm_statistics_set_compute (set, (const guint *) (const void *) all->data, all->len, TM_STATISTICS_ALL, cli_progress,
                                  (gpointer) "Counting", cli_start_work (), &error);
  cli_end_progress ();
  if (!ok || (named && !check_faults (set, tensors, &error)))
    return cli_fail (path, error);
  if (options->given & CLI_OPTION_JSON)
    ok = print_json (set, tensors, modules, (options->given & CLI_OPTION_FULL) != 0, &error);
  else
    ok = named ? print_details (set, tensors, modules, &error) : print_table (set, tensors, &error);
  return ok ? CLI_OK : cli_fail (path, error);
}
