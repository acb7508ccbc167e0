#include "recognise/recognise.h"

#include <string.h>

#include "formats/formats.h"
#include "quant/codecs.h"

static TmTensor *
tensor_new (const TmStored *stored, guint index)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->name = g_strdup (stored->name);
  tensor->dtype = stored->dtype;
  tensor->rank = stored->rank;
  tensor->shape = g_memdup2 (stored->shape, sizeof (guint64) * stored->rank);
  tensor->stride = g_memdup2 (stored->stride, sizeof (gint64) * stored->rank);
  tensor->n_elements = stored->n_elements;
  tensor->bytes = stored->bytes;
  tensor->operand = g_new (TmOperand, 1);
  tensor->operand[0] = (TmOperand) { TM_ROLE_VALUES, index };
  tensor->n_operands = 1;
  tensor->values = stored;
  tensor->module = NULL;
  tm_codec_attach_simple (tensor);

  if (stored->fault != NULL)
    {
      /* what the header says of it stays visible, values cannot be had */
      g_free (tensor->fault);
      tensor->fault = g_strdup (stored->fault);
      tensor->codec = NULL;
    }
  tensor->dtype_label = stored->type_label != NULL ? stored->type_label : tm_dtype_get_name (tensor->dtype);
  return tensor;
}

/* "X.weight" of NVFP4 may have "X.scale" beside it: F32, one number or one an expert (formats/ggml.md 3.6). It is folded
 * into the weight as its global scale and is no tensor of its own any more. */
static gboolean
is_companion (const TmStored *weight, const TmStored *scale)
{
  const gsize length = strlen (weight->name);

  if (scale->dtype != TM_DTYPE_F32 || scale->fault != NULL || weight->fault != NULL || length < 7
      || !g_str_has_suffix (weight->name, ".weight") || strncmp (weight->name, scale->name, length - 6) != 0
      || strcmp (scale->name + length - 6, "scale") != 0)
    return FALSE;
  return scale->n_elements == 1 || (weight->rank == 3 && scale->n_elements == weight->shape[0]);
}

static GHashTable *
find_companions (TmModel *model)
{
  g_autoptr (GHashTable) by_name = NULL;
  g_autoptr (GHashTable) companions = NULL; /* index of the weight + 1 → index of its scale + 1 */

  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *weight = tm_model_stored (model, i);
      g_autofree char *name = NULL;
      guint scale;

      if (weight->dtype != TM_DTYPE_NVFP4 || !g_str_has_suffix (weight->name, ".weight"))
        continue;
      if (by_name == NULL)
        {
          companions = g_hash_table_new (NULL, NULL);
          by_name = g_hash_table_new (g_str_hash, g_str_equal);
          for (guint j = 0; j < model->stored->len; j++)
            g_hash_table_insert (by_name, tm_model_stored (model, j)->name, GUINT_TO_POINTER (j + 1));
        }
      name = g_strdup_printf ("%.*s.scale", (int) (strlen (weight->name) - 7), weight->name);
      scale = GPOINTER_TO_UINT (g_hash_table_lookup (by_name, name));
      if (scale != 0 && is_companion (weight, tm_model_stored (model, scale - 1)))
        g_hash_table_insert (companions, GUINT_TO_POINTER (i + 1), GUINT_TO_POINTER (scale));
    }
  return g_steal_pointer (&companions);
}

void
tm_recognise_tensors (TmModel *model)
{
  g_autoptr (GHashTable) companions = find_companions (model);
  g_autoptr (GHashTable) folded = g_hash_table_new (NULL, NULL);

  if (companions != NULL)
    {
      GHashTableIter iter;
      gpointer scale;

      g_hash_table_iter_init (&iter, companions);
      while (g_hash_table_iter_next (&iter, NULL, &scale))
        g_hash_table_add (folded, scale);
    }

  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *stored = tm_model_stored (model, i);
      guint scale = companions == NULL ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (companions, GUINT_TO_POINTER (i + 1)));
      TmTensor *tensor;

      if (g_hash_table_contains (folded, GUINT_TO_POINTER (i + 1)))
        continue;
      tensor = tensor_new (stored, i);
      g_ptr_array_add (model->tensors, tensor);
      if (scale == 0)
        continue;

      tensor->operand = g_renew (TmOperand, tensor->operand, 2);
      tensor->operand[1] = (TmOperand) { TM_ROLE_GLOBAL_SCALE, scale - 1 };
      tensor->n_operands = 2;
      tensor->bytes += tm_model_stored (model, scale - 1)->bytes; /* both lie in files: no overflow */
      tm_codec_attach_nvfp4_companion (tensor, tm_model_stored (model, scale - 1));
    }
}

TmModel *
tm_open_model (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmModel) model = tm_model_new (path);

  if (!tm_formats_read (path, model, cancellable, error))
    return NULL;
  tm_recognise_tensors (model);
  tm_recognise_modules (model);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  tm_model_seal (model);
  return g_steal_pointer (&model);
}
