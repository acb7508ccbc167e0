/* stats, sparsity and tensors --filter, run as a person or a script runs them. */
#include "json-tree.h"
#include "run-cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *sample, *sample_float;

static double
get_number (const JsonTree *object, const char *key)
{
  const char *text = json_tree_text (object, key);

  g_assert_nonnull (text);
  return g_ascii_strtod (text, NULL);
}

/* --- stats -------------------------------------------------------------------------------------------------------- */

static void
check_counts (const JsonTree *object)
{
  const JsonTree *histogram = json_tree_get (object, "histogram"), *codes = json_tree_get (object, "codes");
  const JsonTree *counts = json_tree_get (histogram, "counts");
  double finite = get_number (object, "count") - get_number (object, "nan") - get_number (object, "inf"), total = 0;

  g_assert_cmpuint (json_tree_length (json_tree_get (histogram, "edges")), ==, json_tree_length (counts) + 1);
  for (guint i = 0; i < json_tree_length (counts); i++)
    total += g_ascii_strtod (json_tree_at (counts, i)->text, NULL);
  g_assert_cmpfloat (total, ==, finite);
  if (codes->kind == JSON_NULL)
    return;
  total = 0;
  counts = json_tree_get (codes, "counts");
  for (guint i = 0; i < json_tree_length (counts); i++)
    total += g_ascii_strtod (json_tree_at (counts, i)->text, NULL);
  g_assert_cmpfloat (total, ==, get_number (object, "count"));
}

static void
test_stats_json (void)
{
  g_autoptr (CliRun) run = cli_run ("stats", "--json", sample, NULL), again = cli_run ("stats", "--json", sample, NULL);
  g_auto (GStrv) lines = NULL;
  guint quantized = 0;

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==, again->out); /* the second comes from the cache */
  lines = g_strsplit (run->out, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 57 + 1);
  for (guint i = 0; i < 57; i++)
    {
      g_autoptr (JsonTree) object = json_tree_read (lines[i]);
      g_autofree char *keys = json_tree_keys (object), *percentiles = json_tree_keys (json_tree_get (object, "percentiles"));
      double before = get_number (object, "min");

      g_assert_cmpstr (keys, ==, "tensor,count,min,max,absmax,mean,std,rms,zeros,nan,inf,percentiles,histogram,codes");
      g_assert_cmpstr (percentiles, ==, "0.1,1,5,25,50,75,95,99,99.9");
      for (guint j = 0; j < 9; j++)
        {
          const JsonTree *percentile = g_ptr_array_index (json_tree_get (object, "percentiles")->items, j);
          double value = g_ascii_strtod (percentile->text, NULL);

          g_assert_cmpfloat (value, >=, before);
          before = value;
        }
      g_assert_cmpfloat (get_number (object, "max"), >=, before);
      check_counts (object);
      quantized += json_tree_get (object, "codes")->kind == JSON_OBJECT;
    }
  g_assert_cmpuint (quantized, >, 0);
}

/* Against the numbers that `values` prints. */
static void
test_stats_value (void)
{
  const char *name = "blk.3.attn_k.weight";
  g_autoptr (CliRun) run = cli_run ("stats", "--json", sample, name, NULL), values = cli_run ("values", sample, name, NULL);
  g_autoptr (JsonTree) object = NULL;
  g_auto (GStrv) words = NULL;
  double count = 0, sum = 0, zeros = 0, min = HUGE_VAL, max = -HUGE_VAL;

  cli_assert_ok (run);
  cli_assert_ok (values);
  object = json_tree_read (run->out);
  words = g_strsplit_set (values->out, " \n", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      {
        double value = (double) strtof (words[i], NULL);

        count++;
        sum += value;
        zeros += value == 0;
        min = MIN (min, value);
        max = MAX (max, value);
      }
  g_assert_cmpfloat (get_number (object, "count"), ==, count);
  g_assert_cmpfloat (get_number (object, "zeros"), ==, zeros);
  g_assert_true ((float) get_number (object, "min") == (float) min && (float) get_number (object, "max") == (float) max);
  g_assert_cmpfloat_with_epsilon (get_number (object, "mean"), sum / count, 1e-12);
}

static void
test_stats_text (void)
{
  g_autoptr (CliRun) all = cli_run ("stats", sample, NULL), one = cli_run ("stats", sample, "blk.3.attn_k.weight", NULL);
  g_autoptr (CliRun) none = cli_run ("stats", sample, "no.such", NULL), help = cli_run ("stats", "--help", NULL);

  cli_assert_ok (all);
  g_assert_nonnull (strstr (all->out, "blk.3.attn_k.weight"));
  cli_assert_ok (one);
  g_assert_nonnull (strstr (one->out, "99.9 %"));
  g_assert_nonnull (strstr (one->out, "codes used"));
  cli_assert_refused (none, 1);
  cli_assert_ok (help);
  g_assert_nonnull (strstr (help->out, "nearest rank"));
}

/* Scales, and a module: the tensors below it together. */
static void
test_stats_full (void)
{
  g_autoptr (CliRun) one = cli_run ("stats", "--json", "--full", sample, "blk.3.attn_k.weight", NULL);
  g_autoptr (CliRun) plain = cli_run ("stats", "--json", "--full", sample, "output_norm.weight", NULL);
  g_autoptr (CliRun) module = cli_run ("stats", "--json", sample, "blk.3", NULL);
  g_autoptr (CliRun) all = cli_run ("stats", "--json", sample, NULL), text = cli_run ("stats", sample, "blk.3", NULL);
  g_autoptr (JsonTree) scaled = NULL, ordinary = NULL, sum = NULL;
  g_auto (GStrv) lines = NULL;
  double count = 0, zeros = 0, n = 0;

  cli_assert_ok (one);
  cli_assert_ok (plain);
  cli_assert_ok (module);
  cli_assert_ok (text);
  scaled = json_tree_read (one->out);
  ordinary = json_tree_read (plain->out);
  sum = json_tree_read (module->out);
  g_assert_cmpint (json_tree_get (ordinary, "scales")->kind, ==, JSON_NULL);
  g_assert_cmpint (json_tree_get (scaled, "scales")->kind, ==, JSON_OBJECT);
  g_assert_cmpfloat (get_number (json_tree_get (scaled, "scales"), "count"), >, 0);
  g_assert_cmpfloat (get_number (json_tree_get (scaled, "scales"), "outliers"), >=, 0);
  lines = g_strsplit (all->out, "\n", -1);
  for (guint i = 0; i < 57; i++)
    {
      g_autoptr (JsonTree) object = json_tree_read (lines[i]);

      if (!g_str_has_prefix (json_tree_text (object, "tensor"), "blk.3."))
        continue;
      n++;
      count += get_number (object, "count");
      zeros += get_number (object, "zeros");
    }
  g_assert_cmpstr (json_tree_text (sum, "module"), ==, "blk.3");
  g_assert_cmpfloat (get_number (sum, "tensors"), ==, n);
  g_assert_cmpfloat (get_number (sum, "count"), ==, count);
  g_assert_cmpfloat (get_number (sum, "zeros"), ==, zeros);
  g_assert_nonnull (strstr (text->out, "99.9 %"));
}

/* --- sparsity ----------------------------------------------------------------------------------------------------- */

static void
test_sparsity_json (void)
{
  g_autoptr (CliRun) without = cli_run ("sparsity", "--json", sample, NULL);
  g_autoptr (CliRun) with = cli_run ("sparsity", "--json", sample, "--reference", sample_float, NULL);
  g_auto (GStrv) first = NULL, second = NULL;

  cli_assert_ok (without);
  cli_assert_ok (with);
  first = g_strsplit (without->out, "\n", -1);
  second = g_strsplit (with->out, "\n", -1);
  g_assert_cmpuint (g_strv_length (first), ==, 57 + 1);
  g_assert_cmpuint (g_strv_length (second), ==, 57 + 1);
  for (guint i = 0; i < 57; i++)
    {
      g_autoptr (JsonTree) a = json_tree_read (first[i]), b = json_tree_read (second[i]);
      g_autofree char *keys = json_tree_keys (a);
      const JsonTree *reference = json_tree_get (b, "reference");

      g_assert_cmpstr (keys, ==, "tensor,count,zeros,zero_groups,zero_rows,zero_columns,patterns,reference,estimate");
      g_assert_cmpint (json_tree_get (a, "reference")->kind, ==, JSON_NULL);
      g_assert_cmpint (json_tree_get (b, "estimate")->kind, ==, JSON_NULL);
      g_assert_cmpint (reference->kind, ==, JSON_OBJECT);
      g_assert_cmpfloat (get_number (reference, "pruned") + get_number (reference, "rounded"), ==, get_number (b, "zeros"));
      g_assert_cmpstr (json_tree_text (a, "zeros"), ==, json_tree_text (b, "zeros"));
    }
}

static void
test_sparsity_full (void)
{
  g_autoptr (CliRun) run = cli_run ("sparsity", "--json", "--full", sample, "output.weight", "--reference", sample_float, NULL);
  g_autoptr (JsonTree) object = NULL;
  g_autofree char *keys = NULL;

  cli_assert_ok (run);
  object = json_tree_read (run->out);
  keys = json_tree_keys (object);
  g_assert_cmpstr (keys, ==,
                   "tensor,count,zeros,zero_groups,zero_rows,zero_columns,patterns,reference,estimate,negative_zeros,"
                   "zero_scales,zero_row_list,zero_column_list,zero_group_list,blocks,reference_zeros,"
                   "reference_patterns,kept_nonzero,without_scale");
  g_assert_cmpfloat (get_number (object, "reference_zeros"), ==,
                     get_number (json_tree_get (object, "reference"), "pruned")
                         + get_number (json_tree_get (object, "reference"), "revived"));
}

/* --- tensors --filter --------------------------------------------------------------------------------------------- */

static guint
count_found (const char *filter, const char *reference)
{
  g_autoptr (CliRun) run = reference != NULL ? cli_run ("tensors", "--json", sample, "--filter", filter, "--reference", reference, NULL)
                                             : cli_run ("tensors", "--json", sample, "--filter", filter, NULL);
  g_autoptr (JsonTree) tree = NULL;

  cli_assert_ok (run);
  tree = json_tree_read (run->out);
  return json_tree_length (tree);
}

static void
test_filter (void)
{
  g_autoptr (CliRun) broken = cli_run ("tensors", sample, "--filter", "rows>x", NULL);
  g_autoptr (CliRun) alone = cli_run ("tensors", sample, "--filter", "sqnr<20", NULL);
  guint quantized = count_found ("is:quantized", NULL), ordinary = count_found ("not is:quantized", NULL);

  g_assert_cmpuint (quantized + ordinary, ==, 57);
  g_assert_cmpuint (quantized, >, 0);
  g_assert_cmpuint (count_found ("nan>0 or inf>0", NULL), ==, 0);
  g_assert_cmpuint (count_found ("absmax>0", NULL), ==, 57);
  g_assert_cmpuint (count_found ("sqnr<1000", sample_float) + count_found ("sqnr>=1000", sample_float), ==, 57);
  cli_assert_refused (broken, 2);
  g_assert_nonnull (strstr (broken->err, "at character 6"));
  cli_assert_refused (alone, 2);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  sample = argv[2];
  sample_float = argv[3];
  g_test_add_func ("/cli/stats/json", test_stats_json);
  g_test_add_func ("/cli/stats/value", test_stats_value);
  g_test_add_func ("/cli/stats/text", test_stats_text);
  g_test_add_func ("/cli/stats/full", test_stats_full);
  g_test_add_func ("/cli/sparsity/full", test_sparsity_full);
  g_test_add_func ("/cli/sparsity/json", test_sparsity_json);
  g_test_add_func ("/cli/filter", test_filter);
  status = g_test_run ();
  cli_cleanup ();
  return status;
}
