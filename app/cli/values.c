#include "cli/cli.h"

#include "io/error.h"
#include "io/json-writer.h"
#include "model/address.h"
#include "model/export.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* --- Interruption and progress ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;

static void
interrupt (int number)
{
  interrupted = number;
}

static void
catch_interrupts (void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = interrupt }, old;

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction (numbers[i], &action, NULL);
}

typedef struct
{
  gboolean wanted;
  gint64 last; /* when progress was shown */
  gboolean shown;
} Progress;

/* After every piece. On a terminal a line that is written over, at most ten times a second, never in the first 200 ms.
 */
static gboolean
report (guint64 done, guint64 total, gpointer user_data, GError **error)
{
  Progress *progress = user_data;
  gint64 now;

  if (interrupted)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
      return FALSE;
    }
  if (!progress->wanted)
    return TRUE;
  now = g_get_monotonic_time ();
  if (progress->last == 0)
    progress->last = now + 100 * G_TIME_SPAN_MILLISECOND;
  else if (now - progress->last >= 100 * G_TIME_SPAN_MILLISECOND)
    {
      fprintf (stderr, "\r%3.0f %%", 100 * (double)done / (double)total);
      progress->last = now;
      progress->shown = TRUE;
    }
  return TRUE;
}

static void
clear_progress (Progress *progress)
{
  if (progress->shown)
    fprintf (stderr, "\r     \r");
}

/* --- Printing ----------------------------------------------------------------------------------------------------- */

static gboolean
write_to_stdout (gconstpointer bytes, gsize count, gpointer user_data, GError **error)
{
  return cli_write (bytes, count, error);
}

static gboolean
print_json (const CliOptions *options, TmExport *export, GError **error)
{
  const TmTensor *tensor = export->tensor;
  g_autoptr (GString) out = g_string_new (NULL);
  TmJsonWriter json;

  tm_json_writer_init (&json, out);
  tm_json_begin_object (&json);
  tm_json_key (&json, "tensor");
  tm_json_string (&json, tensor->name, -1);
  tm_json_key (&json, "quantity");
  tm_json_string (&json, cli_quantity_get_name (options->quantity), -1);
  tm_json_key (&json, "dtype");
  tm_json_string (&json, tm_dtype_get_name (tm_region_get_dtype (tensor, options->quantity)), -1);
  tm_json_key (&json, "start");
  tm_json_uints (&json, export->start, tensor->rank);
  tm_json_key (&json, "end");
  tm_json_uints (&json, export->end, tensor->rank);
  tm_json_key (&json, "values");
  export->format = TM_EXPORT_JSON;
  return cli_flush (out, 0, error) && tm_export_region (export, NULL, error) && cli_write ("}\n", 2, error);
}

static gboolean
print_region (const CliOptions *options, const TmTensor *tensor, GError **error)
{
  g_autofree guint64 *start = g_new0 (guint64, tensor->rank + 1), *end = g_new0 (guint64, tensor->rank + 1);
  Progress progress = { .wanted = isatty (STDERR_FILENO) && (options->output || !isatty (STDOUT_FILENO)) };
  TmExport export = { .tensor = tensor,
                      .quantity = options->quantity,
                      .start = start,
                      .end = end,
                      .format = TM_EXPORT_TEXT,
                      .write = write_to_stdout,
                      .progress = report,
                      .user_data = &progress };
  gboolean ok;

  for (guint i = 0; i < tensor->rank; i++)
    end[i] = tensor->shape[i];
  if (options->region && !tm_region_parse (options->region, tensor->rank, tensor->shape, start, end, error))
    return FALSE;
  /* an empty run says what is wrong before anything is printed */
  if (!tm_tensor_decode (tensor, options->quantity, 0, 0, NULL, NULL, error))
    return FALSE;
  if (options->output)
    {
      tm_export_format_from_path (options->output, &export.format);
      ok = tm_export_file (&export, options->output, NULL, error);
    }
  else if (options->given & CLI_OPTION_JSON)
    ok = print_json (options, &export, error);
  else
    ok = tm_export_region (&export, NULL, error);
  clear_progress (&progress);
  return ok;
}

int
cli_values (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0), *name = g_ptr_array_index (options->arguments, 1);
  GError *error = NULL;
  g_autoptr (TmModel) model = NULL;
  TmTensor *owned = NULL;
  TmExportFormat format;
  const TmTensor *tensor;
  gboolean ok, faulty;

  if (options->output && !tm_export_format_from_path (options->output, &format))
    return cli_usage ("'%s' ends neither in .npy nor in .csv", options->output);
  if (options->output && (options->given & CLI_OPTION_JSON))
    return cli_usage ("--json is for standard output, -o for a file");
  if (options->output)
    catch_interrupts ();
  model = cli_open_model (path, options, &error);
  if (model == NULL)
    return cli_fail (path, error);
  tensor = cli_find_tensor (model, name, (options->given & CLI_OPTION_STORED) != 0, &owned, &error);
  if (tensor == NULL)
    return cli_fail (path, error);
  faulty = tensor->fault != NULL;
  ok = print_region (options, tensor, &error);
  tm_tensor_free (owned);
  if (ok)
    return CLI_OK;
  if (interrupted && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    { /* the file is gone; end as any interrupted program does */
      g_error_free (error);
      signal (interrupted, SIG_DFL);
      raise (interrupted);
      return CLI_FAILED;
    }
  if (error->domain != G_IO_ERROR && !faulty) /* a fault names its tensor itself */
    g_prefix_error (&error, "%s: ", name);
  return cli_fail (path, error);
}
