/* diff, backends and report, run as a person or a script runs them. */
#include "json-tree.h"
#include "make-gguf.h"
#include "run-cli.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *sample, *sample_float;

static JsonTree *
read_json (const CliRun *run)
{
  cli_assert_ok (run);
  return json_tree_read (run->out);
}

static double
get_number (const JsonTree *object, const char *key)
{
  const char *text = json_tree_text (object, key);

  g_assert_nonnull (text);
  return strcmp (text, "Infinity") == 0    ? HUGE_VAL
         : strcmp (text, "-Infinity") == 0 ? -HUGE_VAL
                                           : g_ascii_strtod (text, NULL);
}

/* --- diff --------------------------------------------------------------------------------------------------------- */

static void
test_diff_json (void)
{
  g_autoptr (CliRun) run = cli_run ("diff", "--json", sample, sample_float, NULL);
  g_autoptr (JsonTree) tree = read_json (run);
  g_autofree char *keys = json_tree_keys (tree), *tensor_keys = NULL, *unaligned_keys = NULL, *total_keys = NULL;
  const JsonTree *tensors = json_tree_get (tree, "tensors");
  double before = -HUGE_VAL, parameters = 0;
  guint n_exact = 0;

  g_assert_cmpstr (keys, ==, "candidate,reference,tensors,unaligned,total");
  g_assert_cmpstr (json_tree_text (tree, "candidate"), ==, sample);
  g_assert_cmpstr (json_tree_text (tree, "reference"), ==, sample_float);
  g_assert_cmpuint (json_tree_length (tensors), ==, 57);
  tensor_keys = json_tree_keys (json_tree_at (tensors, 0));
  g_assert_cmpstr (tensor_keys, ==,
                   "name,reference_name,transform,parameters,bits_per_weight,max_abs,mse,sqnr_db,cosine,"
                   "over_half_step,clipped");
  for (guint i = 0; i < 57; i++)
    {
      const JsonTree *tensor = json_tree_at (tensors, i);
      const char *name = json_tree_text (tensor, "name");
      double sqnr = get_number (tensor, "sqnr_db");

      g_assert_cmpfloat (sqnr, >=, before); /* worst first */
      before = sqnr;
      parameters += get_number (tensor, "parameters");
      if (strcmp (name, "blk.3.attn_k.weight") == 0)
        {
          g_assert_cmpstr (json_tree_text (tensor, "reference_name"), ==, "model.layers.3.self_attn.k_proj.weight");
          g_assert_cmpstr (json_tree_text (tensor, "transform"), ==, "rotary-permutation(heads=4)");
          g_assert_cmpfloat (get_number (tensor, "bits_per_weight"), ==, 4.5);
          g_assert_cmpfloat (get_number (tensor, "parameters"), ==, 128 * 256);
        }
      if (strstr (name, "norm") != NULL)
        {
          g_assert_cmpstr (json_tree_text (tensor, "sqnr_db"), ==, "Infinity");
          g_assert_null (json_tree_text (tensor, "over_half_step"));
          g_assert_null (json_tree_text (tensor, "clipped"));
          g_assert_cmpfloat (get_number (tensor, "max_abs"), ==, 0);
          n_exact++;
        }
    }
  g_assert_cmpuint (n_exact, ==, 13);
  unaligned_keys = json_tree_keys (json_tree_get (tree, "unaligned"));
  g_assert_cmpstr (unaligned_keys, ==, "candidate,reference");
  total_keys = json_tree_keys (json_tree_get (tree, "total"));
  g_assert_cmpstr (total_keys, ==, "sqnr_db,parameters");
  g_assert_cmpfloat (get_number (json_tree_get (tree, "total"), "parameters"), ==, parameters);
}

/* Worst groups of each tensor, worst first, and the sum of every module. */
static void
test_diff_full (void)
{
  g_autoptr (CliRun) run = cli_run ("diff", "--json", "--full", sample, sample_float, NULL);
  g_autoptr (JsonTree) diff = NULL;
  const JsonTree *tensors, *modules;
  guint groups = 0;

  cli_assert_ok (run);
  diff = json_tree_read (run->out);
  tensors = json_tree_get (diff, "tensors");
  modules = json_tree_get (diff, "modules");
  for (guint i = 0; i < json_tree_length (tensors); i++)
    {
      const JsonTree *worst = json_tree_get (json_tree_at (tensors, i), "worst_groups");

      for (guint j = 0; j < json_tree_length (worst); j++)
        {
          double mse = g_ascii_strtod (json_tree_text (json_tree_at (worst, j), "mse"), NULL);

          groups++;
          if (j > 0)
            g_assert_cmpfloat (mse, <=, g_ascii_strtod (json_tree_text (json_tree_at (worst, j - 1), "mse"), NULL));
        }
    }
  g_assert_cmpuint (groups, >, 100);
  g_assert_cmpuint (json_tree_length (modules), >, 4);
  g_assert_nonnull (json_tree_text (json_tree_at (modules, 0), "worst"));
}

static void
test_diff_tensors (void)
{
  g_autoptr (CliRun) run
      = cli_run ("diff", sample, "--json", sample_float, "output.weight", "blk.2.attn_k.weight", "output.weight", NULL);
  g_autoptr (JsonTree) tree = read_json (run);
  g_autoptr (CliRun) missing = cli_run ("diff", sample, sample_float, "no.such.weight", NULL);
  g_autoptr (CliRun) no_file = cli_run ("diff", sample, "/no/such/file", NULL);

  g_assert_cmpuint (json_tree_length (json_tree_get (tree, "tensors")), ==, 2);
  g_assert_cmpstr (json_tree_text (json_tree_at (json_tree_get (tree, "tensors"), 0), "name"), ==, "output.weight");
  cli_assert_refused (missing, 1);
  cli_assert_refused (no_file, 1);
  g_assert_nonnull (strstr (no_file->err, "/no/such/file"));
}

static void
test_diff_text (void)
{
  g_autoptr (CliRun) run = cli_run ("diff", sample, sample_float, NULL);
  g_auto (GStrv) lines = NULL;

  cli_assert_ok (run);
  lines = g_strsplit (run->out, "\n", -1);
  g_assert_true (g_str_has_prefix (lines[0], "tensor"));
  g_assert_nonnull (strstr (lines[0], "SQNR"));
  g_assert_nonnull (strstr (lines[57], "exact"));
  g_assert_nonnull (strstr (run->out, "57 tensors aligned, 0 left over"));
  g_assert_null (strstr (run->out, "groups clip"));
}

/* Of tensors that are named: scales against the reference, with and without clipping. */
static void
test_diff_scales (void)
{
  g_autoptr (CliRun) some = cli_run ("diff", sample, sample_float, "blk.2.attn_output.weight", "output_norm.weight", NULL);
  g_autoptr (CliRun) none = cli_run ("diff", sample, sample_float, "blk.2.attn_v.weight", NULL);

  cli_assert_ok (some);
  cli_assert_ok (none);
  g_assert_nonnull (strstr (some->out, "blk.2.attn_output.weight · scales\n"));
  g_assert_null (strstr (some->out, "output_norm.weight · scales"));
  g_assert_nonnull (strstr (some->out, " groups clip ("));
  g_assert_nonnull (strstr (none->out, "None of"));
}

/* What has no counterpart is listed on both sides. */
static void
test_unaligned (void)
{
  static const float values[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  g_autofree char *one = scratch_path ("one.gguf"), *two = scratch_path ("two.gguf");
  g_autoptr (CliRun) run = NULL, text = NULL;
  g_autoptr (JsonTree) tree = NULL;
  const JsonTree *unaligned;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_tensor (&make, "both", 1, (guint64[]) { 8 }, 0, values, sizeof values);
  make_gguf_tensor (&make, "here", 1, (guint64[]) { 4 }, 0, values, 16);
  make_gguf_write (&make, one, 0);
  make_gguf_init (&make);
  make_gguf_tensor (&make, "both", 1, (guint64[]) { 8 }, 0, values, sizeof values);
  make_gguf_tensor (&make, "there", 1, (guint64[]) { 2 }, 0, values, 8);
  make_gguf_write (&make, two, 0);
  run = cli_run ("diff", "--json", one, two, NULL);
  tree = read_json (run);
  unaligned = json_tree_get (tree, "unaligned");
  g_assert_cmpuint (json_tree_length (json_tree_get (unaligned, "candidate")), ==, 1);
  g_assert_cmpstr (json_tree_at (json_tree_get (unaligned, "candidate"), 0)->text, ==, "here");
  g_assert_cmpuint (json_tree_length (json_tree_get (unaligned, "reference")), ==, 1);
  g_assert_cmpstr (json_tree_at (json_tree_get (unaligned, "reference"), 0)->text, ==, "there");
  text = cli_run ("diff", one, two, NULL);
  g_assert_nonnull (strstr (text->out, "1 tensors aligned, 2 left over"));
  g_assert_nonnull (strstr (text->out, "  there\n"));
}

/* --- backends ----------------------------------------------------------------------------------------------------- */

static void
test_backends (void)
{
  g_autoptr (CliRun) run = cli_run ("backends", "--json", sample, NULL), text = cli_run ("backends", sample, NULL);
  g_autoptr (JsonTree) tree = read_json (run);
  g_autofree char *keys = json_tree_keys (tree), *backend_keys = NULL, *tensor_keys = NULL;
  const JsonTree *backends = json_tree_get (tree, "backends"), *tensors = json_tree_get (tree, "tensors");
  static const char *const states[] = { "native", "dequantized", "fallback", "unsupported", "unknown" };

  g_assert_cmpstr (keys, ==, "as_of,backends,tensors");
  backend_keys = json_tree_keys (json_tree_at (backends, 0));
  g_assert_cmpstr (backend_keys, ==, "id,name,native,dequantized,fallback,unsupported,unknown,needs");
  tensor_keys = json_tree_keys (json_tree_at (tensors, 0));
  g_assert_cmpstr (tensor_keys, ==, "name,scheme,support");
  g_assert_cmpuint (json_tree_length (tensors), ==, 57);
  g_assert_cmpstr (json_tree_text (json_tree_at (tensors, 0), "scheme"), ==, "Q8_0");

  /* counts are those of the tensors' states */
  for (guint b = 0; b < json_tree_length (backends); b++)
    {
      const JsonTree *backend = json_tree_at (backends, b);
      guint count[5] = { 0 };

      for (guint i = 0; i < 57; i++)
        {
          const char *state
              = json_tree_text (json_tree_get (json_tree_at (tensors, i), "support"), json_tree_text (backend, "id"));

          for (guint s = 0; s < 5; s++)
            count[s] += strcmp (state, states[s]) == 0;
        }
      for (guint s = 0; s < 5; s++)
        g_assert_cmpuint ((guint) get_number (backend, states[s]), ==, count[s]);
    }
  cli_assert_ok (text);
  g_assert_nonnull (strstr (text->out, "As of 20"));
  g_assert_nonnull (strstr (text->out, "\ncuda"));
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/* Every tag is closed, in order; nothing from elsewhere; no script. */
static void
assert_html (const char *html)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_free);

  g_assert_true (g_str_has_prefix (html, "<!DOCTYPE html>"));
  g_assert_true (g_utf8_validate (html, -1, NULL));
  g_assert_null (strstr (html, "http:"));
  g_assert_null (strstr (html, "https:"));
  g_assert_null (strstr (html, "<script"));
  g_assert_null (strstr (html, "<link"));
  g_assert_null (strstr (html, "<img"));
  g_assert_null (strstr (html, "url("));
  g_assert_nonnull (strstr (html, "prefers-color-scheme"));
  for (const char *at = strchr (html, '<'); at != NULL; at = strchr (at + 1, '<'))
    {
      const char *end = strchr (at, '>');
      gboolean closing = at[1] == '/';
      g_autofree char *name = g_strndup (at + 1 + closing, strcspn (at + 1 + closing, " />"));

      g_assert_nonnull (end);
      if (at[1] == '!' || end[-1] == '/' || strcmp (name, "meta") == 0)
        continue;
      if (closing)
        {
          g_assert_cmpuint (open->len, >, 0);
          g_assert_cmpstr (name, ==, g_ptr_array_index (open, open->len - 1));
          g_ptr_array_set_size (open, (gint) open->len - 1);
        }
      else
        g_ptr_array_add (open, g_steal_pointer (&name));
    }
  g_assert_cmpuint (open->len, ==, 0);
}

static void
test_report_html (void)
{
  g_autofree char *path = scratch_path ("report.html"), *html = NULL;
  g_autoptr (CliRun) run = cli_run ("report", sample, "--reference", sample_float, "-o", path, NULL);

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==, "");
  g_assert_true (g_file_get_contents (path, &html, NULL, NULL));
  assert_html (html);
  g_assert_nonnull (strstr (html, "blk.3.attn_output.weight"));
  g_assert_nonnull (strstr (html, "rotary-permutation(heads=8)"));
  g_assert_nonnull (strstr (html, "57 tensors aligned, 0 left over"));
  g_assert_nonnull (strstr (html, "class=\"histogram\""));
  g_assert_nonnull (strstr (html, ">exact<"));
}

static void
test_report_json (void)
{
  g_autofree char *path = scratch_path ("report.json"), *text = NULL, *keys = NULL;
  g_autoptr (CliRun) run = cli_run ("report", sample, "-o", path, NULL);
  g_autoptr (CliRun) compared = NULL;
  g_autoptr (JsonTree) tree = NULL, other = NULL;

  cli_assert_ok (run);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  tree = json_tree_read (text);
  keys = json_tree_keys (tree);
  g_assert_cmpstr (keys, ==, "model,dtypes,tensors,support,problems,diff");
  g_assert_cmpuint (json_tree_length (json_tree_get (tree, "tensors")), ==, 57);
  g_assert_cmpint (json_tree_get (tree, "diff")->kind, ==, JSON_NULL);
  compared = cli_run ("report", sample, "--reference", sample_float, "-o", path, NULL);
  cli_assert_ok (compared);
  g_clear_pointer (&text, g_free);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  other = json_tree_read (text);
  g_assert_cmpuint (json_tree_length (json_tree_get (json_tree_get (other, "diff"), "tensors")), ==, 57);
}

/* A file's text is never markup. */
static void
test_report_escapes (void)
{
  static const float values[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  g_autofree char *model = scratch_path ("<b>odd & \"ends\".gguf"), *path = scratch_path ("odd.html"), *html = NULL;
  g_autoptr (CliRun) run = NULL;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_key (&make, "general.architecture", 8);
  make_gguf_string (make.metadata, "</style><script>alert(1)</script>", -1);
  make_gguf_key (&make, "general.name", 8);
  make_gguf_string (make.metadata, "<img src=x>\x1b[31m\xff", -1);
  make_gguf_tensor (&make, "<script>\n\"'&", 1, (guint64[]) { 8 }, 0, values, sizeof values);
  make_gguf_write (&make, model, 0);
  run = cli_run ("report", model, "--reference", model, "-o", path, NULL);
  cli_assert_ok (run);
  g_assert_true (g_file_get_contents (path, &html, NULL, NULL));
  assert_html (html);
  g_assert_nonnull (strstr (html, "&lt;script&gt;\\n&quot;"));
}

/* Whole or not at all: what cannot be made leaves an old report as it was. */
static void
test_report_fails (void)
{
  g_autofree char *path = scratch_path ("kept.html"), *text = NULL,
                  *nowhere = g_build_filename (path, "inside.html", NULL);
  g_autoptr (CliRun) no_model = NULL, no_reference = NULL, no_place = NULL;

  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  no_model = cli_run ("report", "/no/such/file", "-o", path, NULL);
  cli_assert_refused (no_model, 1);
  no_reference = cli_run ("report", sample, "--reference", "/no/such/file", "-o", path, NULL);
  cli_assert_refused (no_reference, 1);
  no_place = cli_run ("report", sample, "-o", nowhere, NULL);
  cli_assert_refused (no_place, 1);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "old");
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  if (argc != 4)
    g_error ("after the program: the sample and its float source");
  sample = argv[2];
  sample_float = argv[3];
  g_test_add_func ("/cli/diff/json", test_diff_json);
  g_test_add_func ("/cli/diff/full", test_diff_full);
  g_test_add_func ("/cli/diff/tensors", test_diff_tensors);
  g_test_add_func ("/cli/diff/text", test_diff_text);
  g_test_add_func ("/cli/diff/scales", test_diff_scales);
  g_test_add_func ("/cli/diff/unaligned", test_unaligned);
  g_test_add_func ("/cli/backends", test_backends);
  g_test_add_func ("/cli/report/html", test_report_html);
  g_test_add_func ("/cli/report/json", test_report_json);
  g_test_add_func ("/cli/report/escapes", test_report_escapes);
  g_test_add_func ("/cli/report/fails", test_report_fails);
  status = g_test_run ();
  cli_cleanup ();
  return status;
}
