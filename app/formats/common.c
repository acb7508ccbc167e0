#include "formats/readers.h"

#include <string.h>

#include "model/name-table.h"

void
tm_stored_mark (TmModel *model, TmStored *stored, const char *code, guint64 offset, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  tm_model_add_problem (model, TM_SEVERITY_ERROR, code, stored->source, offset, stored->name, "%s", message);
  if (stored->fault == NULL)
    stored->fault = g_steal_pointer (&message);
}

gboolean
tm_stored_measure (TmStored *stored, gboolean zero_wins)
{
  guint64 product = 1;
  gint64 stride = 1;
  gboolean fits = TRUE;

  if (stored->stride == NULL)
    stored->stride = g_new0 (gint64, MAX (stored->rank, 1));
  for (guint axis = 0; axis < stored->rank; axis++)
    if (__builtin_mul_overflow (product, stored->shape[axis], &product))
      fits = FALSE;
  for (guint axis = 0; axis < stored->rank; axis++)
    if (stored->shape[axis] == 0 && zero_wins)
      {
        fits = TRUE;
        product = 0;
      }
  for (guint axis = stored->rank; axis-- > 0;)
    {
      stored->stride[axis] = stride;
      /* Only a tensor without elements, or one at fault, gets here: its strides are never used. */
      if (stored->shape[axis] > G_MAXINT64 || __builtin_mul_overflow (stride, (gint64) stored->shape[axis], &stride))
        stride = G_MAXINT64;
    }
  stored->n_elements = fits ? product : 0;
  return fits;
}

void
tm_model_report_duplicates (TmModel *model)
{
  g_autoptr (TmNameTable) names = NULL;
  guint sorted = 1;

  /* most writers sort by name, and then nothing stands twice */
  while (sorted < model->stored->len && strcmp (tm_model_stored (model, sorted - 1)->name, tm_model_stored (model, sorted)->name) < 0)
    sorted++;
  if (sorted >= model->stored->len)
    return;
  names = tm_name_table_new (model->stored->len);
  for (guint i = 0; i < model->stored->len; i++)
    {
      TmStored *stored = tm_model_stored (model, i);

      if (tm_name_table_add (names, stored->name, strlen (stored->name), i) != TM_NO_NUMBER)
        tm_model_add_problem (model, TM_SEVERITY_WARNING, "duplicate-name", stored->source, TM_NO_OFFSET, stored->name,
                              "tensor \"%s\": the name stands more than once; the bare name is the first", stored->name);
    }
}

void
tm_model_take_part (TmModel *model, TmModel *part)
{
  g_ptr_array_extend_and_steal (model->files, g_steal_pointer (&part->files));
  g_ptr_array_extend_and_steal (model->stored, g_steal_pointer (&part->stored));
  g_ptr_array_extend_and_steal (model->problems, g_steal_pointer (&part->problems));
  part->files = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_source_unref);
  part->stored = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_stored_free);
  part->problems = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_problem_free);
}

char *
tm_name_from_bytes (char *bytes, gsize length)
{
  GString *name;

  if (memchr (bytes, '\0', length) == NULL)
    return bytes;
  name = g_string_sized_new (length + 16);
  for (gsize i = 0; i < length; i++)
    if (bytes[i] == '\0')
      g_string_append (name, "\xc0\x80");
    else
      g_string_append_c (name, bytes[i]);
  g_free (bytes);
  return g_string_free (name, FALSE);
}

void
tm_model_add_file_problem (TmModel *model, const char *code, const char *file, const char *format, ...)
{
  g_autofree char *message = NULL;
  guint before = model->problems->len;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  tm_model_add_problem (model, TM_SEVERITY_ERROR, code, NULL, TM_NO_OFFSET, NULL, "%s", message);
  if (model->problems->len > before)
    {
      TmProblem *problem = g_ptr_array_index (model->problems, before);

      problem->file = file != NULL ? g_path_get_basename (file) : NULL;
    }
}
