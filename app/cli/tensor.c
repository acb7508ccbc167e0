#include "cli/cli.h"

#include "io/error.h"
#include "model/address.h"
#include "quant/codecs.h"
#include "recognise/recognise.h"

#include <string.h>

TmModel *
cli_open_model (const char *path, const CliOptions *options, GError **error)
{
  static GPtrArray *opened;
  TmModel *model = tm_open_model_with (path, options->assume, NULL, error);

  if (model != NULL)
    {
      if (opened == NULL)
        opened = g_ptr_array_new ();
      g_ptr_array_add (opened, g_object_ref (model));
    }
  return model;
}

const TmTensor *
cli_find_tensor (TmModel *model, const char *name, gboolean stored, TmTensor **owned, GError **error)
{
  gint64 index = stored ? -1 : tm_address_find_name (model, FALSE, name);

  *owned = NULL;
  if (index >= 0)
    return tm_model_tensor (model, index);
  if (g_str_has_prefix (name, "stored:"))
    {
      stored = TRUE;
      index = tm_address_find_name (model, TRUE, name + strlen ("stored:"));
    }
  if (index < 0 && stored)
    index = tm_address_find_name (model, TRUE, name);
  if (index >= 0)
    {
      *owned = tm_tensor_new_stored (model, (guint) index);
      if ((*owned)->values->dtype == TM_DTYPE_UNKNOWN) /* nobody here decodes it: its bytes can be had all the same */
        tm_codec_attach_bytes (*owned);
      return *owned;
    }
  g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "there is no %stensor \"%s\"", stored ? "stored " : "", name);
  return NULL;
}

GArray *
cli_find_tensors (TmModel *model, const GPtrArray *arguments, guint first, GError **error)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; arguments->len <= first && i < model->tensors->len; i++)
    g_array_append_val (tensors, i);
  for (guint i = first; i < arguments->len; i++)
    {
      const char *name = g_ptr_array_index (arguments, i);
      gint64 found = tm_model_find_tensor (model, name);
      guint index = (guint)found;

      if (found < 0)
        {
          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "there is no tensor \"%s\"", name);
          return NULL;
        }
      if (g_hash_table_add (seen, GUINT_TO_POINTER (index)))
        g_array_append_val (tensors, index);
    }
  return g_steal_pointer (&tensors);
}

char *
cli_format_shape (guint rank, const guint64 *shape)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", shape[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}
