#include "cli/cli.h"
#include "cli/diff.h"

#include "analysis/report.h"
#include "io/error.h"

int
cli_report (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  GError *error = NULL;
  g_autoptr (TmModel) model = NULL, reference = NULL;
  g_autoptr (TmDiff) diff = NULL;
  TmReportFormat format;

  if (options->output == NULL)
    return cli_usage ("report needs -o F");
  if (!tm_report_format_of_path (options->output, &format))
    return cli_usage ("cannot tell how to write '%s': its name has to end in .html or .json", options->output);
  model = cli_open_model (path, options, &error);
  if (model == NULL)
    return cli_fail (path, error);
  if (options->reference != NULL)
    {
      reference = cli_open_model (options->reference, options, &error);
      if (reference == NULL)
        return cli_fail (options->reference, error);
      diff = cli_make_diff (model, reference, NULL, &error);
      if (diff == NULL)
        return cli_fail (path, error);
    }
  return tm_report_write (model, diff, format, options->output, &error) ? CLI_OK : cli_fail (options->output, error);
}
