#include "cli/cli.h"

#include "model/address.h"

/* All indices are read before the first record is printed: either every record is there or none. */
static guint64 *
parse_indices (const CliOptions *options, const TmTensor *tensor, GError **error)
{
  guint n = options->arguments->len - 2;
  g_autofree guint64 *indices = g_new0 (guint64, (gsize)n * tensor->rank + 1);

  for (guint i = 0; i < n; i++)
    if (!tm_index_parse (g_ptr_array_index (options->arguments, i + 2), tensor->rank, tensor->shape,
                         indices + (gsize)i * tensor->rank, error))
      return NULL;
  return g_steal_pointer (&indices);
}

static gboolean
print_records (const CliOptions *options, const TmTensor *tensor, GError **error)
{
  g_autofree guint64 *indices = parse_indices (options, tensor, error);
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean json = (options->given & CLI_OPTION_JSON) != 0;

  if (indices == NULL)
    return FALSE;
  for (guint i = 0; i + 2 < options->arguments->len; i++)
    {
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;
      g_autofree char *record = NULL;

      if (!tm_tensor_explain (tensor, indices + (gsize)i * tensor->rank, &scalar, error))
        return FALSE;
      record = json ? tm_scalar_to_json (&scalar) : tm_scalar_to_text (&scalar);
      if (!json && i > 0)
        g_string_append_c (out, '\n');
      g_string_append (out, record);
      if (out->len > 0 && out->str[out->len - 1] != '\n')
        g_string_append_c (out, '\n');
      if (!cli_flush (out, CLI_FLUSH, error))
        return FALSE;
    }
  return cli_flush (out, 0, error);
}

int
cli_scalar (const CliOptions *options)
{
  const char *path = g_ptr_array_index (options->arguments, 0), *name = g_ptr_array_index (options->arguments, 1);
  GError *error = NULL;
  g_autoptr (TmModel) model = cli_open_model (path, options, &error);
  TmTensor *owned = NULL;
  const TmTensor *tensor;
  gboolean ok, faulty;

  if (model == NULL)
    return cli_fail (path, error);
  tensor = cli_find_tensor (model, name, (options->given & CLI_OPTION_STORED) != 0, &owned, &error);
  if (tensor == NULL)
    return cli_fail (path, error);
  faulty = tensor->fault != NULL;
  ok = print_records (options, tensor, &error);
  tm_tensor_free (owned);
  if (ok)
    return CLI_OK;
  if (error->domain != G_IO_ERROR && !faulty) /* a fault names its tensor itself */
    g_prefix_error (&error, "%s: ", name);
  return cli_fail (path, error);
}
