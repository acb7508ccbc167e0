/* Every broken file is answered as bad-input demands: refused with one line, or opened with its faults named. */
#include "json-tree.h"
#include "run-cli.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* What is read although something in it is wrong. Everything else among the bad GGUF files is refused. */
static const char *const opened_gguf[] = {
  "key-empty",
  "key-duplicate",
  "alignment-64-laid-out-32",
  "tensor-duplicate",
  "tensor-name-empty",
  "dim-negative",
  "dims-overflow",
  "dims-product-negative",
  "dims-wrap-to-small",
  "dims-bytes-overflow",
  "type-4",
  "type-5",
  "type-31",
  "type-33",
  "type-36",
  "type-38",
  "type-43",
  "type-999",
  "type-4294967295",
  "row-not-multiple",
  "offset-misaligned",
  "offset-past-end",
  "offset-wraps",
  "overlap",
  "data-one-byte-short",
  "data-missing",
};

static guint
count_severe (const JsonTree *problems)
{
  guint n = 0;

  for (guint i = 0; i < json_tree_length (problems); i++)
    n += strcmp (json_tree_text (json_tree_at (problems, i), "severity"), "note") != 0;
  return n;
}

/* Opened: the records are JSON, text holds no control characters, --strict answers as the problems say, and every
 * tensor's values are either there or refused with one line. Returns how many errors and warnings there are. */
static guint
check_opened (const char *path)
{
  g_autoptr (CliRun) strict = cli_run ("info", "--json", "--strict", path, NULL), text = cli_run ("info", path, NULL);
  g_autoptr (CliRun) tensors = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (JsonTree) record = json_tree_read (strict->out), list = json_tree_read (tensors->out);
  guint severe = count_severe (json_tree_get (record, "problems"));

  cli_assert_ok (text);
  cli_assert_ok (tensors);
  g_assert_cmpuint (json_tree_length (list), ==,
                    (guint)g_ascii_strtoull (json_tree_text (record, "tensors"), NULL, 10));
  for (const char *c = text->out; *c != '\0'; c++)
    g_assert_true (*c == '\n' || (guchar)*c >= 0x20);
  g_assert_cmpint (strict->status, ==, severe > 0 ? 1 : 0);
  if (severe > 0)
    g_assert_true (strchr (strict->err, '\n') == strict->err + strlen (strict->err) - 1);
  else
    g_assert_cmpstr (strict->err, ==, "");

  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *tensor = json_tree_at (list, i), *shape = json_tree_get (tensor, "shape");
      g_autoptr (GString) region = g_string_new (NULL);
      g_autoptr (CliRun) run = NULL;

      for (guint axis = 0; axis < json_tree_length (shape); axis++)
        g_string_append (region, axis > 0 ? ",:1" : ":1");
      run = cli_run ("values", path, json_tree_text (tensor, "name"), "--region", region->str, NULL);
      if (run->status != 0)
        cli_assert_refused (run, 1);
    }
  return severe;
}

static void
test_gguf (void)
{
  g_autoptr (GPtrArray) rows = golden_read_tsv ("gguf/bad/manifest.tsv");

  for (guint i = 0; i < rows->len; i++)
    {
      char **row = g_ptr_array_index (rows, i);
      g_autofree char *relative = g_build_filename ("gguf", "bad", row[0], NULL), *path = golden_path (relative);
      g_autofree char *name = g_strndup (row[0], strlen (row[0]) - strlen (".gguf"));
      gboolean opened = FALSE;

      g_test_message ("%s: %s", row[0], row[6]);
      for (gsize j = 0; j < G_N_ELEMENTS (opened_gguf); j++)
        opened = opened || strcmp (opened_gguf[j], name) == 0;
      if (opened)
        {
          guint severe = check_opened (path);
          /* an empty name is legal; everything else has a fault that is named */
          g_assert_cmpint (severe > 0, ==, strcmp (name, "tensor-name-empty") != 0);
        }
      else
        {
          g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);
          cli_assert_refused (run, 1);
          g_assert_nonnull (strstr (run->err, row[0]));
        }
    }
}

/* Values of an unknown type are refused; its bytes can be had all the same (trap B035). */
static void
test_unknown_bytes (void)
{
  g_autofree char *path = golden_path ("gguf/bad/type-43.gguf");
  g_autoptr (CliRun) value = cli_run ("scalar", path, "w", "0,0", NULL);
  g_autoptr (CliRun) bytes = cli_run ("values", path, "w", "--stored", "--json", "--region", "0:8", NULL);

  cli_assert_refused (value, 1);
  cli_assert_ok (bytes);
  g_assert_nonnull (strstr (bytes->out, "\"values\":[100,121,125,61,27,246,22,62]"));
}

/* Correct by the format's text: all open, and --strict refuses what the reference's reader refuses. */
static void
test_gguf_by_hand (void)
{
  g_autoptr (GPtrArray) rows = golden_read_tsv ("gguf/hand/manifest.tsv");

  for (guint i = 0; i < rows->len; i++)
    {
      char **row = g_ptr_array_index (rows, i);
      g_autofree char *relative = g_build_filename ("gguf", "hand", row[0], NULL), *path = golden_path (relative);
      guint severe;

      g_test_message ("%s: %s", row[0], row[7]);
      severe = check_opened (path);
      g_assert_cmpint (severe > 0, ==, strcmp (row[3], "REJECT") == 0 || strcmp (row[0], "v3-bool-2.gguf") == 0);
    }
}

static void
test_safetensors (void)
{
  /* of these the structure is read, so that refusing the whole file would be wrong */
  static const char *const opened[]
      = { "ok", "size-mismatch", "overflow", "offsets", "incomplete", "sub-byte", "dtype", "duplicate-key", NULL };
  g_autofree char *manifest = golden_path ("safetensors-bad/manifest.json"), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = NULL;
  const JsonTree *files;

  g_file_get_contents (manifest, &text, NULL, &error);
  g_assert_no_error (error);
  tree = json_tree_read (text);
  files = json_tree_get (tree, "files");
  g_assert_cmpuint (json_tree_length (files), >, 100);
  for (guint i = 0; i < json_tree_length (files); i++)
    {
      const JsonTree *file = json_tree_at (files, i);
      const char *name = json_tree_text (file, "file"), *class = json_tree_text (file, "class");
      g_autofree char *relative = g_build_filename ("safetensors-bad", name, NULL), *path = golden_path (relative);
      gboolean header = g_str_has_prefix (class, "header-"); /* the header itself cannot be read */
      g_autoptr (CliRun) run = cli_run ("info", path, NULL);

      g_test_message ("%s (%s): %s: %d %s", name, class, json_tree_text (file, "wrong"), run->status, run->err);
      if (header || run->status != 0)
        {
          g_assert_false (g_strv_contains (opened, class));
          cli_assert_refused (run, 1);
          g_assert_nonnull (strstr (run->err, name));
          continue;
        }
      if (strcmp (class, "ok") == 0)
        g_assert_cmpuint (check_opened (path), ==, 0);
      else if (strcmp (class, "odd") == 0)
        check_opened (path);
      else /* the fault is named */
        g_assert_cmpuint (check_opened (path), >, 0);
    }
}

static void
test_indexes (void)
{
  g_autofree char *manifest = golden_path ("safetensors-bad/manifest-index.json"), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) list = NULL;

  g_file_get_contents (manifest, &text, NULL, &error);
  g_assert_no_error (error);
  list = json_tree_read (text);
  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_at (list, i);
      const char *policy = json_tree_text (entry, "policy");
      g_autofree char *relative = g_build_filename ("safetensors-bad", json_tree_text (entry, "folder"), NULL);
      g_autofree char *path = golden_path (relative);
      g_autoptr (CliRun) run = cli_run ("info", path, NULL);

      g_test_message ("%s: %s", relative, policy);
      if (strcmp (policy, "accept") == 0)
        g_assert_cmpuint (check_opened (path), ==, 0);
      else if (g_str_has_prefix (policy, "open") || strstr (policy, "warn") || strstr (policy, "error on that"))
        g_assert_cmpuint (check_opened (path), >, 0);
      else if (run->status == 0)
        g_assert_cmpuint (check_opened (path), >, 0);
      else
        cli_assert_refused (run, 1);
    }
}

/* What lies outside of the folder is not read through a link, config.json neither; a fault of it is said once. */
static void
test_config (void)
{
  static const guint8 bytes[] = "\x02\0\0\0\0\0\0\0{}";
  g_autofree char *model = scratch_path ("model.safetensors"), *config = scratch_path ("config.json");
  g_autofree char *outside = g_build_filename (g_get_tmp_dir (), "tensormorph-outside.json", NULL);

  g_assert_true (g_file_set_contents (model, (const char *)bytes, 10, NULL));
  g_assert_true (g_file_set_contents (outside, "{\"model_type\":\"secret\"}", -1, NULL));
  for (guint link = 0; link < 2; link++)
    {
      g_autoptr (CliRun) run = NULL;
      g_autoptr (JsonTree) record = NULL;

      if (link)
        g_assert_cmpint (symlink (outside, config), ==, 0);
      else
        g_assert_true (g_file_set_contents (config, "{\"model_type\":", -1, NULL));
      run = cli_run ("info", "--json", model, NULL);
      cli_assert_ok (run);
      record = json_tree_read (run->out);
      g_assert_null (json_tree_text (record, "architecture"));
      g_assert_cmpuint (json_tree_length (json_tree_get (record, "problems")), ==, 1);
      g_assert_cmpuint (count_severe (json_tree_get (record, "problems")), ==, 1);
      g_unlink (config);
    }
  g_unlink (outside);
  g_unlink (model);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/bad/gguf", test_gguf);
  g_test_add_func ("/cli/bad/traps/B035", test_unknown_bytes);
  g_test_add_func ("/cli/bad/gguf-by-hand", test_gguf_by_hand);
  g_test_add_func ("/cli/bad/safetensors", test_safetensors);
  g_test_add_func ("/cli/bad/indexes", test_indexes);
  g_test_add_func ("/cli/bad/config", test_config);
  return g_test_run ();
}
