/* Wrong usage, help, version: what a person meets before any file is opened. */
#include "run-cli.h"

#include <string.h>

static void
test_usage (void)
{
  static const char *const wrong[][8] = {
    { NULL },
    { "", NULL },
    { "inspect", "x.gguf", NULL },
    { "--json", NULL },
    { "info", NULL },
    { "info", "a.gguf", "b.gguf", NULL },
    { "info", "--fast", "x.gguf", NULL },
    { "info", "--strictly", "x.gguf", NULL },
    { "info", "--stored", "x.gguf", NULL },
    { "info", "--assume", NULL },
    { "tensors", "x.gguf", "--filter", NULL },
    { "scalar", "x.gguf", NULL },
    { "scalar", "x.gguf", "t", NULL },
    { "values", "x.gguf", NULL },
    { "values", "x.gguf", "t", "0,0", NULL },
    { "values", "x.gguf", "t", "--region", NULL },
    { "values", "x.gguf", "t", "--quantity", "values", NULL },
    { "values", "x.gguf", "t", "-o", "out.txt", NULL },
    { "values", "x.gguf", "t", "-o", ".npy", NULL },
    { "values", "x.gguf", "t", "-o", NULL },
    { "stats", NULL },
    { "sparsity", NULL },
    { "diff", "x.gguf", NULL },
    { "backends", NULL },
    { "graph", "x.gguf", NULL },
    { "report", "x.gguf", NULL },
    { "report", "x.gguf", "-o", "x.txt", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (CliRun) run = cli_run_argv (wrong[i], g_strv_length ((char **)wrong[i]));

      g_test_message ("%" G_GSIZE_FORMAT ": %s", i, run->err);
      cli_assert_refused (run, 2);
    }
}

static void
test_assume (void)
{
  static const char *const known[]
      = { "gptq-zeros=v1", "gptq-zeros=v2",        "nibbles=linear", "bits=4",           "group=128", "fp4-order=high",
          "packing=dense", "global-scale=divisor", "float8=fnuz",    "g-idx=sequential", "void=bf16", "void=f8_e4m3" };
  static const char *const wrong[]
      = { "gptq-zeros=v3", "bits=four", "bits=", "group=-1", "void=", "gptq-zeros", "=v1" };
  g_autofree char *file = golden_path ("gguf/hand/v3-little.gguf");
  g_autoptr (CliRun) unknown = cli_run ("info", "--assume", "zeros=v1", file, NULL);

  cli_assert_refused (unknown, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_autoptr (CliRun) run = cli_run ("info", "--assume", known[i], file, NULL);
      g_autofree char *key = g_strndup (known[i], strcspn (known[i], "="));

      cli_assert_ok (run);
      g_assert_nonnull (strstr (unknown->err, key)); /* an unknown key lists those that there are */
    }
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (CliRun) run = cli_run ("tensors", file, "--assume", wrong[i], NULL);
      cli_assert_refused (run, 2);
    }
}

static void
test_help (void)
{
  static const char *const commands[] = { "info", "tensors", "scalar", "values" };
  g_autoptr (CliRun) help = cli_run ("--help", NULL), version = cli_run ("--version", NULL);

  cli_assert_ok (help);
  cli_assert_ok (version);
  g_assert_cmpstr (version->out, ==, "tensormorph-cli " VERSION "\n");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (CliRun) run = cli_run (commands[i], "--help", NULL);

      cli_assert_ok (run);
      g_assert_nonnull (strstr (run->out, "--json"));
      g_assert_nonnull (strstr (run->out, "--assume"));
      g_assert_nonnull (strstr (help->out, commands[i]));
    }
}

static void
test_no_file (void)
{
  static const char *const commands[][4]
      = { { "info", NULL }, { "tensors", NULL }, { "scalar", "t", "0", NULL }, { "values", "t", NULL } };
  g_autofree char *absent = golden_path ("gguf/absent.gguf");

  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (CliRun) run
          = cli_run (commands[i][0], absent, commands[i][1], commands[i][1] ? commands[i][2] : NULL, NULL);

      cli_assert_refused (run, 1);
      g_assert_nonnull (strstr (run->err, "absent.gguf: "));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/usage", test_usage);
  g_test_add_func ("/cli/assume", test_assume);
  g_test_add_func ("/cli/help", test_help);
  g_test_add_func ("/cli/no-file", test_no_file);
  return g_test_run ();
}
