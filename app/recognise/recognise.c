#include "recognise/recognise.h"

#include <string.h>

#include "formats/formats.h"
#include "recognise/check-config.h"
#include "recognise/config.h"
#include "recognise/convention.h"
#include "recognise/left-alone.h"

void
tm_recognise_tensors (TmModel *model)
{
  tm_fold (model, NULL, NULL);
}

/* The folder whose config.json speaks of the model, or NULL where the container needs none. */
static char *
find_config_folder (TmModel *model)
{
  if (g_strcmp0 (model->format, "safetensors") != 0)
    return NULL;
  return g_file_test (model->path, G_FILE_TEST_IS_DIR) ? g_strdup (model->path) : g_path_get_dirname (model->path);
}

/* The reader of the folder has looked at config.json too. */
static gboolean
is_said (TmModel *model, const char *fault)
{
  for (guint i = 0; i < model->problems->len && g_str_has_prefix (fault, "config.json:"); i++)
    if (strcmp (((const TmProblem *) g_ptr_array_index (model->problems, i))->code, "config-unreadable") == 0)
      return TRUE;
  return FALSE;
}

TmModel *
tm_open_model (const char *path, GCancellable *cancellable, GError **error)
{
  return tm_open_model_with (path, NULL, cancellable, error);
}

TmModel *
tm_open_model_with (const char *path, const TmAssume *assume, GCancellable *cancellable, GError **error)
{
  g_autoptr (TmModel) model = tm_model_new (path);

  if (!tm_formats_read (path, model, cancellable, error))
    return NULL;

  g_autofree char *folder = find_config_folder (model);
  g_autoptr (GPtrArray) faults = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (TmConfig) config = tm_config_load (folder, faults);
  for (guint i = 0; i < faults->len; i++)
    if (!is_said (model, g_ptr_array_index (faults, i)))
      tm_model_add_problem (model, TM_SEVERITY_WARNING, "config", NULL, TM_NO_OFFSET, NULL, "%s",
                            (const char *) g_ptr_array_index (faults, i));
  model->quantization_file = g_strdup (tm_config_get_quantization_file (config));

  tm_fold (model, config, assume);
  tm_recognise_modules (model);
  tm_mark_left_alone (model, config);
  tm_check_config (model, config);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  tm_model_seal (model);
  return g_steal_pointer (&model);
}
