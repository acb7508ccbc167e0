#include "analysis/report.h"

#include <string.h>

#include "analysis/backends.h"
#include "analysis/report-html.h"
#include "io/json-writer.h"
#include "io/output-file.h"

gboolean
tm_report_format_of_path (const char *path, TmReportFormat *format)
{
  static const struct
  {
    const char *ending;
    TmReportFormat format;
  } endings[] = {
    { ".html", TM_REPORT_HTML },
    { ".htm", TM_REPORT_HTML },
    { ".json", TM_REPORT_JSON },
  };
  g_autofree char *lower = g_ascii_strdown (path, -1);
  const char *name = strrchr (lower, G_DIR_SEPARATOR);

  name = name != NULL ? name + 1 : lower;
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i].ending) && strlen (name) > strlen (endings[i].ending))
      {
        *format = endings[i].format;
        return TRUE;
      }
  return FALSE;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_string (TmJsonWriter *json, const char *key, const char *text)
{
  tm_json_key (json, key);
  tm_json_string (json, text, -1);
}

static void
write_uint (TmJsonWriter *json, const char *key, guint64 number)
{
  tm_json_key (json, key);
  tm_json_uint (json, number);
}

static void
write_model (TmJsonWriter *json, TmModel *model)
{
  tm_json_begin_object (json);
  write_string (json, "path", model->path);
  write_string (json, "format", model->format);
  write_string (json, "version", model->version);
  write_string (json, "architecture", model->architecture);
  write_string (json, "name", model->name);
  write_uint (json, "tensors", model->tensors->len);
  write_uint (json, "quantized_tensors", model->n_quantized);
  write_uint (json, "parameters", model->parameters);
  write_uint (json, "bytes", model->bytes);
  tm_json_key (json, "bits_per_weight");
  tm_json_float64 (json, model->parameters > 0 ? 8.0 * (double) model->bytes / (double) model->parameters : 0);
  tm_json_end_object (json);
}

static void
write_dtypes (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) dtypes = tm_model_count_dtypes (model);

  tm_json_begin_array (json);
  for (guint i = 0; i < dtypes->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (dtypes, TmDtypeCount, i);

      tm_json_begin_object (json);
      write_string (json, "dtype", count->dtype);
      write_uint (json, "tensors", count->tensors);
      write_uint (json, "parameters", count->parameters);
      write_uint (json, "bytes", count->bytes);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_tensors (TmJsonWriter *json, TmModel *model)
{
  tm_json_begin_array (json);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      g_autofree char *granularity = tensor->granularity != NULL ? tm_granularity_describe (tensor->granularity) : NULL;

      tm_json_begin_object (json);
      write_string (json, "name", tensor->name);
      write_string (json, "dtype",
                    tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype));
      write_string (json, "scheme", tensor->scheme);
      tm_json_key (json, "shape");
      tm_json_uints (json, tensor->shape, tensor->rank);
      write_uint (json, "parameters", tensor->n_elements);
      write_uint (json, "bytes", tensor->bytes);
      tm_json_key (json, "bits_per_weight");
      tm_json_float64 (json, tm_tensor_get_bits_per_weight (tensor));
      write_string (json, "granularity", granularity);
      write_string (json, "module", tensor->module);
      if (tensor->fault != NULL)
        write_string (json, "fault", tensor->fault);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_backends (TmJsonWriter *json, TmModel *model)
{
  TmBackendSummary *summaries = tm_backends_summarize (model);

  tm_json_begin_object (json);
  write_string (json, "as_of", tm_backends_get_as_of ());
  tm_json_key (json, "backends");
  tm_json_begin_array (json);
  for (guint b = 0; b < tm_backends_get_n (); b++)
    {
      tm_json_begin_object (json);
      write_string (json, "id", tm_backends_get (b)->id);
      write_string (json, "name", tm_backends_get (b)->name);
      for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
        write_uint (json, tm_support_state_get_name ((TmSupportState) state), summaries[b].count[state]);
      write_string (json, "needs", summaries[b].needs);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
  tm_json_end_object (json);
  tm_backend_summaries_free (summaries);
}

static void
write_problems (TmJsonWriter *json, TmModel *model)
{
  tm_json_begin_array (json);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      tm_json_begin_object (json);
      write_string (json, "severity", tm_severity_get_name (problem->severity));
      write_string (json, "code", problem->code);
      write_string (json, "message", problem->message);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
make_json (TmModel *model, const TmDiff *diff, GString *out)
{
  TmJsonWriter json;

  tm_json_writer_init (&json, out);
  tm_json_begin_object (&json);
  tm_json_key (&json, "model");
  write_model (&json, model);
  if (diff != NULL)
    {
      tm_json_key (&json, "reference");
      write_model (&json, diff->alignment->reference);
    }
  tm_json_key (&json, "dtypes");
  write_dtypes (&json, model);
  tm_json_key (&json, "tensors");
  write_tensors (&json, model);
  tm_json_key (&json, "support");
  write_backends (&json, model);
  tm_json_key (&json, "problems");
  write_problems (&json, model);
  tm_json_key (&json, "diff");
  if (diff != NULL)
    tm_diff_write_json (&json, diff);
  else
    tm_json_null (&json);
  tm_json_end_object (&json);
  g_string_append_c (out, '\n');
}

/* --- Both --------------------------------------------------------------------------------------------------------- */

GString *
tm_report_make (TmModel *model, const TmDiff *diff, TmReportFormat format)
{
  GString *out = g_string_new (NULL);

  if (format == TM_REPORT_JSON)
    make_json (model, diff, out);
  else
    tm_report_make_html (model, diff, out);
  return out;
}

gboolean
tm_report_write (TmModel *model, const TmDiff *diff, TmReportFormat format, const char *path, GError **error)
{
  g_autoptr (GString) text = tm_report_make (model, diff, format);
  TmOutputFile *file = tm_output_file_new (path, error);

  if (file == NULL)
    return FALSE;
  if (tm_output_file_write (file, text->str, text->len, error))
    return tm_output_file_commit (file, error);
  tm_output_file_discard (file);
  return FALSE;
}
