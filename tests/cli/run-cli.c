#include "run-cli.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

static char *program, *scratch;

void
cli_init (int argc, char **argv)
{
  g_assert_cmpint (argc, >=, 2);
  program = argv[1];
}

const char *
cli_path (void)
{
  return program;
}

CliRun *
cli_run_argv (const char *const *arguments, gsize n)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  CliRun *run = g_new0 (CliRun, 1);
  int status;

  g_ptr_array_add (argv, program);
  for (gsize i = 0; i < n; i++)
    g_ptr_array_add (argv, (gpointer)arguments[i]);
  g_ptr_array_add (argv, NULL);
  g_spawn_sync (NULL, (char **)argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &run->out, &run->err, &status, &error);
  g_assert_no_error (error);
  run->status = WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
  return run;
}

CliRun *
cli_run (const char *argument, ...)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  va_list list;

  va_start (list, argument);
  for (; argument != NULL; argument = va_arg (list, const char *))
    g_ptr_array_add (arguments, (gpointer)argument);
  va_end (list);
  return cli_run_argv ((const char *const *)arguments->pdata, arguments->len);
}

void
cli_run_free (CliRun *run)
{
  g_free (run->out);
  g_free (run->err);
  g_free (run);
}

void
cli_assert_ok (const CliRun *run)
{
  g_assert_cmpstr (run->err, ==, "");
  g_assert_cmpint (run->status, ==, 0);
}

void
cli_assert_refused (const CliRun *run, int status)
{
  g_assert_cmpint (run->status, ==, status);
  g_assert_cmpstr (run->out, ==, "");
  g_assert_true (g_str_has_prefix (run->err, "tensormorph-cli: "));
  g_assert_cmpuint (strlen (run->err), >, strlen ("tensormorph-cli: \n"));
  g_assert_true (strchr (run->err, '\n') == run->err + strlen (run->err) - 1);
  for (const char *c = run->err; *c != '\n'; c++)
    g_assert_cmpint ((guchar)*c, >=, 0x20);
}

char *
golden_path (const char *relative)
{
  return g_test_build_filename (G_TEST_DIST, "golden", relative, NULL);
}

char *
scratch_path (const char *name)
{
  g_autoptr (GError) error = NULL;

  if (scratch == NULL)
    scratch = g_dir_make_tmp ("tensormorph-cli-XXXXXX", &error);
  g_assert_no_error (error);
  return g_build_filename (scratch, name, NULL);
}

void
cli_cleanup (void)
{
  GDir *dir = scratch ? g_dir_open (scratch, 0, NULL) : NULL;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (scratch, name, NULL);
      g_unlink (path);
    }
  if (dir != NULL)
    g_dir_close (dir);
  if (scratch != NULL)
    g_rmdir (scratch);
}

GPtrArray *
golden_read_tsv (const char *relative)
{
  g_autofree char *path = golden_path (relative), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0' && lines[i][0] != '#')
      g_ptr_array_add (rows, g_strsplit (lines[i], "\t", -1));
  g_assert_cmpuint (rows->len, >, 0);
  return rows;
}
