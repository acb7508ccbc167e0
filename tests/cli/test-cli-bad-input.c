/* Every broken file is answered as bad-input demands: refused with one line, or opened with its faults named. */
#include "json-tree.h"
#include "run-cli.h"

#include <string.h>

/* What is read although something in it is wrong. Everything else among the bad GGUF files is refused. */
static const char *const opened_gguf[] = {
  "key-empty",         "key-duplicate",       "alignment-64-laid-out-32", "tensor-duplicate",     "tensor-name-empty",
  "dim-negative",      "dims-overflow",       "dims-product-negative",    "dims-wrap-to-small",   "dims-bytes-overflow",
  "type-4",            "type-5",              "type-31",                  "type-33",              "type-36",
  "type-38",           "type-43",             "type-999",                 "type-4294967295",      "row-not-multiple",
  "offset-misaligned", "offset-past-end",     "offset-wraps",             "overlap",              "data-one-byte-short",
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

/* Opened: both records are JSON, text and JSON hold no control characters, and --strict answers as the problems say. */
static guint
check_opened (const char *path)
{
  g_autoptr (CliRun) text = cli_run ("info", path, NULL), strict = cli_run ("info", "--json", "--strict", path, NULL);
  g_autoptr (CliRun) tensors = cli_run ("tensors", "--json", path, NULL), rows = cli_run ("tensors", path, NULL);
  g_autoptr (JsonTree) record = NULL, list = NULL;
  guint severe;

  cli_assert_ok (text);
  cli_assert_ok (tensors);
  cli_assert_ok (rows);
  record = json_tree_read (strict->out);
  list = json_tree_read (tensors->out);
  g_assert_cmpstr (json_tree_text (record, "tensors"), !=, "");
  g_assert_cmpuint (json_tree_length (list), ==, (guint) g_ascii_strtoull (json_tree_text (record, "tensors"), NULL, 10));
  for (const char *c = text->out; *c != '\0'; c++)
    g_assert_true (*c == '\n' || (guchar) *c >= 0x20);
  for (const char *c = rows->out; *c != '\0'; c++)
    g_assert_true (*c == '\n' || (guchar) *c >= 0x20);

  severe = count_severe (json_tree_get (record, "problems"));
  g_assert_cmpint (strict->status, ==, severe > 0 ? 1 : 0);
  if (severe > 0)
    g_assert_true (strchr (strict->err, '\n') == strict->err + strlen (strict->err) - 1);
  else
    g_assert_cmpstr (strict->err, ==, "");
  return severe;
}

/* Every tensor is listed, and its values are either there or refused with one line. */
static void
check_values (const char *path)
{
  g_autoptr (CliRun) tensors = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (JsonTree) list = json_tree_read (tensors->out);

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
          check_values (path);
        }
      else
        {
          g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);
          cli_assert_refused (run, 1);
          g_assert_nonnull (strstr (run->err, row[0]));
        }
    }
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
      check_values (path);
    }
}

static void
test_safetensors (void)
{
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
      g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);

      g_test_message ("%s (%s): %s", name, class, json_tree_text (file, "wrong"));
      if (g_str_has_prefix (class, "header-")) /* the header cannot be read */
        {
          cli_assert_refused (run, 1);
          g_assert_nonnull (strstr (run->err, name));
        }
      else if (strcmp (class, "ok") == 0)
        {
          g_assert_cmpuint (check_opened (path), ==, 0);
          check_values (path);
        }
      else if (run->status == 0) /* a fault of single tensors: named, and the rest is there */
        {
          if (strcmp (class, "odd") != 0)
            g_assert_cmpuint (check_opened (path), >, 0);
          check_values (path);
        }
      else
        cli_assert_refused (run, 1);
    }
}

/* Of these classes the structure is read, so refusing the whole file would be wrong. */
static void
test_safetensors_opens_what_it_can (void)
{
  static const char *const names[] = { "size-too-small",  "size-too-large", "overflow-product", "overlap",        "hole-between",
                                       "trailing-bytes",  "data-truncated", "data-missing",     "offsets-past-end", "dtype-unknown",
                                       "f4-odd-count",    "f6-misaligned",  "duplicate-tensor-same", "duplicate-tensor-two-ranges",
                                       "offsets-reversed" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *relative = g_strdup_printf ("safetensors-bad/%s.safetensors", names[i]), *path = golden_path (relative);

      g_test_message ("%s", names[i]);
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/bad/gguf", test_gguf);
  g_test_add_func ("/cli/bad/gguf-by-hand", test_gguf_by_hand);
  g_test_add_func ("/cli/bad/safetensors", test_safetensors);
  g_test_add_func ("/cli/bad/safetensors-opens-what-it-can", test_safetensors_opens_what_it_can);
  g_test_add_func ("/cli/bad/indexes", test_indexes);
  return g_test_run ();
}
