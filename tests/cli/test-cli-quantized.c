/* Weights out of several stored tensors: quantization and assumptions of info, operands, --stored, --assume. */
#include "json-tree.h"
#include "run-cli.h"

#include <glib/gstdio.h>
#include <string.h>

#define WEIGHT "model.layers.1.mlp.up_proj.weight"

static const JsonTree *
find (const JsonTree *array, const char *key, const char *value)
{
  for (guint i = 0; i < json_tree_length (array); i++)
    if (g_strcmp0 (json_tree_text (json_tree_at (array, i), key), value) == 0)
      return json_tree_at (array, i);
  g_error ("nothing has %s = %s", key, value);
}

/* A folder of two shards, FP8 in one layer and GPTQ in the other, under a config that speaks of FP8 alone. */
static void
test_info (void)
{
  g_autofree char *path = golden_path ("quant/sharded-mixed");
  g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL), text = cli_run ("info", path, NULL);
  cli_assert_ok (run);
  g_autoptr (JsonTree) record = json_tree_read (run->out);

  g_assert_cmpstr (json_tree_text (record, "quantized_tensors"), ==, "2");
  g_assert_cmpuint (json_tree_length (json_tree_get (record, "quantization")), ==, 2);
  const JsonTree *gptq = find (json_tree_get (record, "quantization"), "scheme", "gptq");
  g_autofree char *keys = json_tree_keys (gptq);
  g_assert_cmpstr (keys, ==, "scheme,tensors,parameters,bits,group,symmetric,config");
  g_assert_cmpstr (json_tree_text (gptq, "tensors"), ==, "1");
  g_assert_cmpstr (json_tree_text (gptq, "parameters"), ==, "2048");
  g_assert_cmpstr (json_tree_text (gptq, "bits"), ==, "4");
  g_assert_cmpstr (json_tree_text (gptq, "group"), ==, "32");
  g_assert_cmpstr (json_tree_text (gptq, "symmetric"), ==, "true");
  const JsonTree *fp8 = find (json_tree_get (record, "quantization"), "scheme", "fp8");
  g_assert_cmpstr (json_tree_text (fp8, "bits"), ==, "8");
  g_assert_cmpstr (json_tree_text (fp8, "group"), ==, "128"); /* along the row, of blocks of 128 × 128 */
  g_assert_null (json_tree_text (fp8, "symmetric"));

  const JsonTree *assumption = find (json_tree_get (record, "assumptions"), "tensor", WEIGHT);
  g_autofree char *members = json_tree_keys (assumption);
  g_assert_cmpstr (members, ==, "tensor,key,value,evidence");
  g_assert_cmpstr (json_tree_text (assumption, "key"), ==, "gptq-zeros");
  g_assert_cmpstr (json_tree_text (assumption, "value"), ==, "v1");
  g_assert_cmpuint (strlen (json_tree_text (assumption, "evidence")), >, 10);

  cli_assert_ok (text);
  g_assert_nonnull (strstr (text->out, "\nQuantization\n"));
  g_assert_nonnull (strstr (text->out, "in bfloat16"));
  g_assert_nonnull (strstr (text->out, "gptq-zeros=v1"));
}

/* The pieces of one weight lie in two files; each is there for --stored too, as the file has it. */
static void
test_operands (void)
{
  g_autofree char *path = golden_path ("quant/sharded-mixed");
  g_autoptr (CliRun) logical = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (CliRun) stored = cli_run ("tensors", "--json", "--stored", path, NULL);
  g_autoptr (JsonTree) folded = json_tree_read (logical->out), plain = json_tree_read (stored->out);
  const JsonTree *weight = find (folded, "name", WEIGHT), *operands = json_tree_get (weight, "operands");
  g_autoptr (GHashTable) files = g_hash_table_new (g_str_hash, g_str_equal);

  g_assert_cmpuint (json_tree_length (folded), ==, 3);
  g_assert_cmpuint (json_tree_length (plain), ==, 7);
  g_assert_cmpstr (json_tree_text (weight, "dtype"), ==, "U4");
  g_assert_cmpuint (json_tree_length (operands), ==, 4);
  for (guint i = 0; i < json_tree_length (operands); i++)
    {
      const JsonTree *operand = json_tree_at (operands, i);
      const char *name = json_tree_text (operand, "name");
      const JsonTree *twin = find (plain, "name", name), *place = json_tree_at (json_tree_get (twin, "operands"), 0);

      g_assert_cmpstr (json_tree_text (place, "file"), ==, json_tree_text (operand, "file"));
      g_assert_cmpstr (json_tree_text (place, "offset"), ==, json_tree_text (operand, "offset"));
      g_assert_cmpstr (json_tree_text (twin, "bytes"), ==, json_tree_text (operand, "bytes"));
      g_assert_cmpstr (json_tree_text (twin, "module"), ==, json_tree_text (weight, "module"));
      g_hash_table_add (files, (gpointer) json_tree_text (operand, "file"));
    }
  g_assert_cmpuint (g_hash_table_size (files), ==, 2);
  g_assert_cmpstr (json_tree_text (json_tree_at (operands, 0), "role"), ==, "values");
}

/* The code is cut out of the word that --stored prints, at the place that the record tells. */
static void
test_stored_word (void)
{
  g_autofree char *path = golden_path ("quant/sharded-mixed");
  g_autoptr (CliRun) run = cli_run ("scalar", "--json", path, WEIGHT, "3,21", NULL);
  g_autoptr (CliRun) word = cli_run ("scalar", "--json", "--stored", path, "model.layers.1.mlp.up_proj.qweight", "2,3", NULL);
  g_autoptr (CliRun) address = cli_run ("scalar", "--json", path, "stored:model.layers.1.mlp.up_proj.qweight", "2,3", NULL);
  cli_assert_ok (run);
  cli_assert_ok (word);
  g_autoptr (JsonTree) record = json_tree_read (run->out), packed = json_tree_read (word->out);
  gint64 bits = g_ascii_strtoll (json_tree_text (packed, "value"), NULL, 10);
  g_autofree char *code = g_strdup_printf ("%u", (guint) ((guint32) bits >> 20 & 15)); /* column 21: field 5 of word 2 */

  g_assert_cmpstr (json_tree_text (record, "raw"), ==, code);
  g_assert_cmpstr (address->out, ==, word->out);
}

static void
test_assume (void)
{
  g_autofree char *path = golden_path ("quant/sharded-mixed");
  g_autoptr (CliRun) v1 = cli_run ("scalar", "--json", path, WEIGHT, "3,21", NULL);
  g_autoptr (CliRun) v2 = cli_run ("scalar", "--json", "--assume", "gptq-zeros=v2", path, WEIGHT, "3,21", NULL);
  g_autoptr (CliRun) info = cli_run ("info", "--json", "--assume=gptq-zeros=v2", path, NULL);
  g_autoptr (CliRun) values = cli_run ("values", "--assume", "gptq-zeros=v2", "--region", "3:4,21:22", path, WEIGHT, NULL);
  g_autoptr (JsonTree) first = json_tree_read (v1->out), second = json_tree_read (v2->out), record = json_tree_read (info->out);

  g_assert_cmpstr (json_tree_text (first, "zero_point"), ==, "8");
  g_assert_cmpstr (json_tree_text (second, "zero_point"), ==, "7");
  g_assert_cmpstr (json_tree_text (first, "raw"), ==, json_tree_text (second, "raw"));
  g_assert_cmpstr (json_tree_text (find (json_tree_get (record, "assumptions"), "tensor", WEIGHT), "value"), ==, "v2");
  g_strchomp (values->out);
  g_assert_cmpstr (values->out, ==, json_tree_text (second, "value"));

  g_autoptr (CliRun) unknown = cli_run ("info", "--assume", "gptq-ones=v2", path, NULL);
  cli_assert_refused (unknown, 2);
  g_assert_nonnull (strstr (unknown->err, "gptq-zeros"));
  g_assert_nonnull (strstr (unknown->err, "global-scale"));
  g_autoptr (CliRun) unfit = cli_run ("tensors", "--assume", "gptq-zeros=v3", path, NULL);
  cli_assert_refused (unfit, 2);
}

/* Without its second shard a weight is not folded, and the problem names the piece; what the first one holds stays usable. */
static void
test_missing_piece (void)
{
  static const char *const names[] = { "config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors" };
  g_autofree char *folder = scratch_path ("without-a-shard");
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *relative = g_build_filename ("quant/sharded-mixed", names[i], NULL), *from = golden_path (relative);
      g_autofree char *to = g_build_filename (folder, names[i], NULL), *bytes = NULL;
      gsize size;
      g_assert_true (g_file_get_contents (from, &bytes, &size, NULL) && g_file_set_contents (to, bytes, (gssize) size, NULL));
    }
  g_autoptr (CliRun) run = cli_run ("info", "--json", folder, NULL);
  g_autoptr (CliRun) word = cli_run ("scalar", "--json", folder, "model.layers.1.mlp.up_proj.qweight", "2,3", NULL);
  g_autoptr (JsonTree) record = json_tree_read (run->out);
  const JsonTree *problem = find (json_tree_get (record, "problems"), "code", "missing-piece");

  g_assert_cmpstr (json_tree_text (problem, "severity"), ==, "error");
  g_assert_nonnull (strstr (json_tree_text (problem, "message"), "weight_scale_inv"));
  g_assert_nonnull (strstr (json_tree_text (problem, "message"), "model-00002-of-00002.safetensors"));
  g_assert_cmpstr (json_tree_text (record, "quantized_tensors"), ==, "0");
  cli_assert_ok (word);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/quantized/info", test_info);
  g_test_add_func ("/cli/quantized/operands", test_operands);
  g_test_add_func ("/cli/quantized/stored-word", test_stored_word);
  g_test_add_func ("/cli/quantized/assume", test_assume);
  g_test_add_func ("/cli/quantized/missing-piece", test_missing_piece);
  int status = g_test_run ();
  cli_cleanup ();
  return status;
}
