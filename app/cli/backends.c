#include "cli/cli.h"
#include "cli/table.h"

#include "analysis/backends.h"
#include "io/json-writer.h"
#include "io/text.h"

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_string (TmJsonWriter *json, const char *key, const char *text)
{
  tm_json_key (json, key);
  tm_json_string (json, text, -1);
}

static void
write_backend (TmJsonWriter *json, const TmBackend *backend, const TmBackendSummary *summary)
{
  tm_json_begin_object (json);
  write_string (json, "id", backend->id);
  write_string (json, "name", backend->name);
  for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
    {
      tm_json_key (json, tm_support_state_get_name ((TmSupportState) state));
      tm_json_uint (json, summary->count[state]);
    }
  write_string (json, "needs", summary->needs);
  tm_json_end_object (json);
}

static void
write_tensor (TmJsonWriter *json, TmModel *model, const TmTensor *tensor)
{
  g_autofree TmSupport *support = g_new (TmSupport, tm_backends_get_n ());

  tm_tensor_get_all_support (model, tensor, support);
  tm_json_begin_object (json);
  write_string (json, "name", tensor->name);
  write_string (json, "scheme", tm_tensor_get_scheme_name (tensor));
  tm_json_key (json, "support");
  tm_json_begin_object (json);
  for (guint b = 0; b < tm_backends_get_n (); b++)
    write_string (json, tm_backends_get (b)->id, tm_support_state_get_name (support[b].state));
  tm_json_end_object (json);
  tm_json_end_object (json);
}

static gboolean
print_json (TmModel *model, const TmBackendSummary *summaries, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  TmJsonWriter json;

  tm_json_writer_init (&json, out);
  tm_json_begin_object (&json);
  write_string (&json, "as_of", tm_backends_get_as_of ());
  tm_json_key (&json, "backends");
  tm_json_begin_array (&json);
  for (guint b = 0; b < tm_backends_get_n (); b++)
    write_backend (&json, tm_backends_get (b), &summaries[b]);
  tm_json_end_array (&json);
  tm_json_key (&json, "tensors");
  tm_json_begin_array (&json);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      write_tensor (&json, model, tm_model_tensor (model, i));
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  tm_json_end_array (&json);
  tm_json_end_object (&json);
  g_string_append_c (out, '\n');
  return cli_flush (out, 0, error);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static char *
format_count (guint count)
{
  return count > 0 ? g_strdup_printf ("%u", count) : g_strdup ("");
}

/* Backends of which nothing is known for this model are told by number alone. */
static gboolean
print_text (TmModel *model, const TmBackendSummary *summaries, GError **error)
{
  static const char *const titles[]
      = { "backend", "native", "dequantized", "fallback", "unsupported", "unknown", "needs", NULL };
  g_autoptr (CliTable) table = cli_table_new ("lrrrrrl");
  g_autoptr (GString) out = g_string_new (NULL);
  guint unknown = 0;

  for (guint i = 0; titles[i] != NULL; i++)
    cli_table_add (table, g_strdup (titles[i]), cli_style_dim ());
  for (guint b = 0; b < tm_backends_get_n (); b++)
    {
      if (summaries[b].count[TM_SUPPORT_UNKNOWN] == model->tensors->len)
        {
          unknown++;
          continue;
        }
      cli_table_add (table, g_strdup (tm_backends_get (b)->id), "");
      for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
        cli_table_add (table, format_count (summaries[b].count[state]), "");
      cli_table_add (table, tm_text_escape (summaries[b].needs, -1), cli_style_dim ());
    }
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    cli_table_append_row (table, row, "", out);
  g_string_append_printf (out,
                          "\nTensors, of %u, by how each backend runs their scheme; of %u backends nothing is known.\n"
                          "As of %s.\n",
                          model->tensors->len, unknown, tm_backends_get_as_of ());
  return cli_flush (out, 0, error);
}

int
cli_backends (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  GError *error = NULL;
  g_autoptr (TmModel) model = cli_open_model (path, options, &error);
  TmBackendSummary *summaries;
  gboolean ok;

  if (model == NULL)
    return cli_fail (path, error);
  summaries = tm_backends_summarize (model);
  ok = options->given & CLI_OPTION_JSON ? print_json (model, summaries, &error) : print_text (model, summaries, &error);
  tm_backend_summaries_free (summaries);
  return ok ? CLI_OK : cli_fail (path, error);
}
