/* Shared by the tests of containers. */
#pragma once

#include <string.h>

#include <glib/gstdio.h>

#include "formats/formats.h"
#include "io/error.h"

/* A golden file or folder. */
static inline char *
golden (const char *folder, const char *name)
{
  return g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", folder, name, NULL);
}

/* Opens and seals; the error, if any, is the test's end. */
static inline TmModel *
open_model (const char *path)
{
  TmModel *model = tm_model_new (path);
  g_autoptr (GError) error = NULL;

  if (!tm_formats_read (path, model, NULL, &error))
    g_error ("%s: %s", path, error->message);
  tm_model_seal (model);
  return model;
}

/* Must be refused; the message. */
static inline char *
refuse (const char *path, int code)
{
  g_autoptr (TmModel) model = tm_model_new (path);
  g_autoptr (GError) error = NULL;

  if (tm_formats_read (path, model, NULL, &error))
    g_error ("%s: opened, should be refused", path);
  if (!g_error_matches (error, TM_ERROR, code))
    g_error ("%s: %s (code %d, not %d)", path, error->message, error->code, code);
  g_assert_null (strchr (error->message, '\n'));
  return g_strdup (error->message);
}

/* The first problem of a code, about a tensor if one is given. */
static inline const TmProblem *
find_problem (TmModel *model, const char *code, const char *tensor)
{
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      if (strcmp (problem->code, code) == 0 && (tensor == NULL || g_strcmp0 (problem->tensor, tensor) == 0))
        return problem;
    }
  return NULL;
}

static inline void
assert_problem (TmModel *model, const char *code, const char *tensor, TmSeverity severity)
{
  const TmProblem *problem = find_problem (model, code, tensor);

  if (problem == NULL)
    {
      for (guint i = 0; i < model->problems->len; i++)
        {
          const TmProblem *other = g_ptr_array_index (model->problems, i);

          g_test_message ("problem %s: %s", other->code, other->message);
        }
      g_error ("%s: no problem \"%s\"", model->path, code);
    }
  g_assert_cmpint (problem->severity, ==, severity);
  g_assert_null (strchr (problem->code, ' '));
}

static inline TmStored *
find_stored (TmModel *model, const char *name)
{
  gint64 index = tm_model_find_stored (model, name);

  if (index < 0)
    g_error ("%s: no tensor \"%s\"", model->path, name);
  return tm_model_stored (model, index);
}

/* A scratch folder that is removed with everything in it. */
static inline char *
make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("tensormorph-XXXXXX", &error);

  g_assert_no_error (error);
  return folder;
}

static inline void
remove_folder (char *folder)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  g_dir_close (dir);
  for (guint i = 0; i < names->len; i++)
    {
      char *path = g_ptr_array_index (names, i);

      if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK) && g_file_test (path, G_FILE_TEST_IS_DIR))
        remove_folder (g_strdup (path));
      else
        g_unlink (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

static inline char *
write_file (const char *folder, const char *name, gconstpointer data, gsize length)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder, name, NULL);

  g_unlink (path); /* writing without a temporary file does not cut an old one */
  g_file_set_contents_full (path, data, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
  return path;
}
