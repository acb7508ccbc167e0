/* info and tensors: the records' exact form, metadata of every type, text that no terminal can be hurt by. */
#include "json-tree.h"
#include "make-gguf.h"
#include "run-cli.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
test_info_record (void)
{
  g_autofree char *path = golden_path ("gguf/hand/v3-little.gguf");
  g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==,
                   "{\"format\":\"GGUF\",\"version\":\"3\",\"byte_order\":\"little\",\"architecture\":\"llama\","
                   "\"name\":null,\"tensors\":2,"
                   "\"quantized_tensors\":1,\"parameters\":384,\"bytes\":972,\"bits_per_weight\":20.25,\"dtypes\":[{"
                   "\"dtype\":\"F32\",\"tensors\":1,"
                   "\"parameters\":192,\"bytes\":768},{\"dtype\":\"Q8_0\",\"tensors\":1,\"parameters\":192,\"bytes\":"
                   "204}],\"granularity\":["
                   "{\"granularity\":\"per-group\",\"levels\":[[1,32]],\"tensors\":1}],\"metadata\":[{\"key\":"
                   "\"general.architecture\",\"type\":\"string\","
                   "\"value\":\"llama\"},{\"key\":\"llama.block_count\",\"type\":\"u32\",\"value\":1},{\"key\":\"a."
                   "i16\",\"type\":\"array\","
                   "\"item_type\":\"i16\",\"length\":3,\"value\":[1,-2,300]}],\"files\":[{\"path\":\"v3-little.gguf\","
                   "\"bytes\":1248}],"
                   "\"quantization\":[{\"scheme\":\"ggml\",\"tensors\":1,\"parameters\":192,\"bits\":8,\"group\":32,"
                   "\"symmetric\":true,\"config\":\"absent\"}],\"assumptions\":[],\"problems\":[]}\n");
}

static void
test_tensors_record (void)
{
  g_autofree char *path = golden_path ("gguf/hand/v3-little.gguf");
  g_autoptr (CliRun) run = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (CliRun) stored = cli_run ("tensors", "--json", "--stored", path, NULL);

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==,
                   "[{\"name\":\"w.f32\",\"dtype\":\"F32\",\"quantized\":false,\"scheme\":null,\"shape\":[3,64],"
                   "\"stride\":[64,1],\"layout\":\"row-major\","
                   "\"device\":null,\"parameters\":192,\"bytes\":768,\"bits_per_weight\":32,\"granularity\":null,"
                   "\"operands\":[{\"role\":\"values\","
                   "\"name\":\"w.f32\",\"dtype\":\"F32\",\"shape\":[3,64],\"file\":\"v3-little.gguf\",\"offset\":256,"
                   "\"bytes\":768}],\"module\":\"w\"},"
                   "{\"name\":\"w.q8_0\",\"dtype\":\"Q8_0\",\"quantized\":true,\"scheme\":\"ggml\",\"shape\":[3,64],"
                   "\"stride\":[64,1],"
                   "\"layout\":\"row-major\",\"device\":null,\"parameters\":192,\"bytes\":204,\"bits_per_weight\":8.5,"
                   "\"granularity\":{"
                   "\"name\":\"per-group\",\"levels\":[[1,32]],\"axis\":1,\"permuted\":false},\"operands\":[{\"role\":"
                   "\"values\",\"name\":\"w.q8_0\","
                   "\"dtype\":\"Q8_0\",\"shape\":[3,64],\"file\":\"v3-little.gguf\",\"offset\":1024,\"bytes\":204}],"
                   "\"module\":\"w\"}]\n");
  g_assert_cmpstr (stored->out, ==, run->out);
}

/* Every version and byte order tells the same tensors. */
static void
test_versions_agree (void)
{
  static const char *const names[] = { "v1-little", "v2-little", "v3-big" };
  g_autofree char *baseline = golden_path ("gguf/hand/v3-little.gguf");
  g_autoptr (CliRun) wanted = cli_run ("values", baseline, "w.q8_0", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *relative = g_strdup_printf ("gguf/hand/%s.gguf", names[i]), *path = golden_path (relative);
      g_autoptr (CliRun) run = cli_run ("values", path, "w.q8_0", NULL), info = cli_run ("info", "--json", path, NULL);
      g_autoptr (JsonTree) record = NULL;

      cli_assert_ok (run);
      g_assert_cmpstr (run->out, ==, wanted->out);
      record = json_tree_read (info->out);
      g_assert_cmpstr (json_tree_text (record, "byte_order"), ==, strstr (names[i], "big") ? "big" : "little");
      g_assert_cmpint (json_tree_text (record, "version")[0], ==, names[i][1]);
    }
}

/* --- Metadata ----------------------------------------------------------------------------------------------------- */

static void
assert_number (const char *text, const char *type, const char *wanted)
{
  if (strcmp (wanted, "nan") == 0)
    g_assert_cmpstr (text, ==, "NaN");
  else if (strcmp (wanted, "-inf") == 0)
    g_assert_cmpstr (text, ==, "-Infinity");
  else if (strcmp (type, "f32") == 0)
    {
      float number = strtof (text, NULL), other = strtof (wanted, NULL);
      g_assert_cmpmem (&number, 4, &other, 4);
    }
  else if (strcmp (type, "f64") == 0)
    {
      double number = strtod (text, NULL), other = strtod (wanted, NULL);
      g_assert_cmpmem (&number, 8, &other, 8);
    }
  else
    g_assert_cmpstr (text, ==, wanted);
}

/* The golden list escapes strings in C's manner; bytes that are no UTF-8 are U+FFFD in JSON. */
static void
assert_string (const char *text, const char *quoted)
{
  g_autofree char *inner = g_strndup (quoted + 1, strlen (quoted) - 2);
  g_autoptr (GString) bytes = g_string_new (NULL);
  g_autofree char *valid = NULL;

  for (const char *c = inner; *c != '\0'; c++)
    if (c[0] == '\\' && c[1] == 'x')
      {
        g_string_append_c (bytes, (char)(g_ascii_xdigit_value (c[2]) * 16 + g_ascii_xdigit_value (c[3])));
        c += 3;
      }
    else
      g_string_append_c (bytes, *c);
  valid = g_utf8_make_valid (bytes->str, (gssize)bytes->len);
  g_assert_cmpstr (text, ==, valid);
}

static void
assert_value (const JsonTree *value, const char *type, const char *wanted)
{
  if (strcmp (type, "str") == 0)
    assert_string (value->text, wanted);
  else
    assert_number (value->text, type, wanted);
}

static void
check_metadata (const char *model, const char *listing, gboolean full)
{
  g_autofree char *path = golden_path (model);
  g_autoptr (GPtrArray) rows = golden_read_tsv (listing);
  g_autoptr (CliRun) run = cli_run ("info", "--json", path, full ? "--full" : NULL, NULL);
  g_autoptr (JsonTree) record = NULL;
  const JsonTree *metadata;

  cli_assert_ok (run);
  record = json_tree_read (run->out);
  metadata = json_tree_get (record, "metadata");
  g_assert_cmpuint (json_tree_length (metadata), ==, rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      char **row = g_ptr_array_index (rows, i);
      const JsonTree *entry = json_tree_at (metadata, i), *value = json_tree_get (entry, "value");
      gboolean array = strcmp (row[1], "arr") == 0;
      const char *type = array ? row[2] : row[1];
      g_autofree char *keys = json_tree_keys (entry);

      g_test_message ("%s", row[0]);
      g_assert_cmpstr (json_tree_text (entry, "key"), ==, row[0]);
      if (!array)
        {
          g_assert_cmpstr (keys, ==, "key,type,value");
          g_assert_cmpstr (json_tree_text (entry, "type"), ==, strcmp (type, "str") == 0 ? "string" : type);
          assert_value (value, type, row[4]);
          continue;
        }
      g_assert_cmpstr (keys, ==, "key,type,item_type,length,value");
      g_assert_cmpstr (json_tree_text (entry, "type"), ==, "array");
      g_assert_cmpstr (json_tree_text (entry, "item_type"), ==, strcmp (type, "str") == 0 ? "string" : type);
      g_assert_cmpstr (json_tree_text (entry, "length"), ==, row[3]);
      g_assert_cmpuint (json_tree_length (value), ==, full ? (guint)atoi (row[3]) : MIN ((guint)atoi (row[3]), 16));
      if (json_tree_length (value) > 0)
        {
          g_auto (GStrv) items = g_strsplit (row[4], ",", -1); /* no golden string has a comma */
          for (guint j = 0; j < json_tree_length (value); j++)
            assert_value (json_tree_at (value, j), type, items[j]);
        }
    }
}

static void
test_metadata (void)
{
  check_metadata ("gguf/valid/kv-all-types.gguf", "gguf/valid/kv-all-types.kv.tsv", FALSE);
  check_metadata ("gguf/valid/kv-all-types.gguf", "gguf/valid/kv-all-types.kv.tsv", TRUE);
  check_metadata ("gguf/valid/tiny-llama-mixed.gguf", "gguf/valid/tiny-llama-mixed.kv.tsv", FALSE);
}

static void
test_nested_arrays (void)
{
  g_autofree char *path = golden_path ("gguf/hand/v3-nested-arrays.gguf");
  g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);

  cli_assert_ok (run);
  g_assert_nonnull (strstr (
      run->out,
      "{\"key\":\"a.nested\",\"type\":\"array\",\"item_type\":\"array\",\"length\":3,\"value\":[[1,2],[],[3]]}"));
}

/* An inner array that is cut tells its length too. */
static void
test_long_nested_array (void)
{
  g_autofree char *path = scratch_path ("nested.gguf");
  g_autoptr (CliRun) run = NULL, full = NULL;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_key (&make, "a", 9);
  make_gguf_uint (make.metadata, 9, 4);
  make_gguf_uint (make.metadata, 1, 8);
  make_gguf_uint (make.metadata, 0, 4);
  make_gguf_uint (make.metadata, 20, 8);
  for (guint i = 0; i < 20; i++)
    make_gguf_uint (make.metadata, i, 1);
  make_gguf_write (&make, path, 0);
  run = cli_run ("info", "--json", path, NULL);
  full = cli_run ("info", "--json", "--full", path, NULL);
  g_assert_nonnull (
      strstr (run->out, "\"length\":1,\"value\":[{\"length\":20,\"value\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}]"));
  g_assert_nonnull (strstr (full->out, "\"length\":1,\"value\":[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]]"));
  g_unlink (path);
}

/* --- Censuses ----------------------------------------------------------------------------------------------------- */

static void
test_censuses_add_up (void)
{
  g_autofree char *path = golden_path ("gguf/valid/tiny-llama-mixed.gguf");
  g_autoptr (GPtrArray) rows = golden_read_tsv ("gguf/valid/tiny-llama-mixed.tensors.tsv");
  g_autoptr (CliRun) run = cli_run ("info", "--json", path, NULL);
  g_autoptr (JsonTree) record = json_tree_read (run->out);
  const JsonTree *dtypes = json_tree_get (record, "dtypes");
  guint64 parameters = 0, bytes = 0, tensors = 0, listed = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      char **row = g_ptr_array_index (rows, i);
      parameters += g_ascii_strtoull (row[11], NULL, 10);
      bytes += g_ascii_strtoull (row[10], NULL, 10);
    }
  for (guint i = 0; i < json_tree_length (dtypes); i++)
    {
      tensors += g_ascii_strtoull (json_tree_text (json_tree_at (dtypes, i), "tensors"), NULL, 10);
      listed += g_ascii_strtoull (json_tree_text (json_tree_at (dtypes, i), "parameters"), NULL, 10);
    }
  g_assert_cmpuint (tensors, ==, rows->len);
  g_assert_cmpuint (listed, ==, parameters);
  g_assert_cmpuint (g_ascii_strtoull (json_tree_text (record, "parameters"), NULL, 10), ==, parameters);
  g_assert_cmpuint (g_ascii_strtoull (json_tree_text (record, "bytes"), NULL, 10), ==, bytes);
  g_assert_cmpfloat (strtod (json_tree_text (record, "bits_per_weight"), NULL), ==,
                     (double)bytes * 8 / (double)parameters);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

/* B029: an escape sequence and a newline in names never reach the terminal, nor the one line of an error. */
static void
test_escapes (void)
{
  g_autofree char *path = scratch_path ("escapes.gguf");
  const float number = 1;
  guint64 one = 1;
  g_autoptr (CliRun) info = NULL, tensors = NULL, json = NULL, scalar = NULL, missing = NULL;
  g_autoptr (JsonTree) list = NULL;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_key (&make, "general.name", 8);
  make_gguf_string (make.metadata, "red \033[31m\nline\342\200\256bidi", -1);
  make_gguf_tensor (&make, "a\033[2J\nb", 1, &one, 0, &number, 4);
  make_gguf_write (&make, path, 0);
  info = cli_run ("info", path, NULL);
  tensors = cli_run ("tensors", path, NULL);
  json = cli_run ("tensors", "--json", path, NULL);
  scalar = cli_run ("scalar", path, "a\033[2J\nb", "0", NULL);
  missing = cli_run ("scalar", path, "a\033[2J\nc", "0", NULL);
  cli_assert_ok (info);
  cli_assert_ok (tensors);
  cli_assert_ok (scalar);
  cli_assert_refused (missing, 1);
  g_assert_null (strchr (info->out, '\033'));
  g_assert_null (strstr (info->out, "\342\200\256"));
  g_assert_null (strchr (tensors->out, '\033'));
  g_assert_null (strchr (scalar->out, '\033'));
  g_assert_nonnull (strstr (tensors->out, "a\\e[2J\\nb"));
  list = json_tree_read (json->out);
  g_assert_cmpstr (json_tree_text (json_tree_at (list, 0), "name"), ==, "a\033[2J\nb");
  g_assert_null (strchr (json->out, '\033'));
  g_unlink (path);
}

/* B017: both of one name are listed; #n tells them apart, the bare name is the first. */
static void
test_duplicates (void)
{
  g_autofree char *path = scratch_path ("duplicates.gguf");
  const float numbers[4] = { 1, 2, 3, 4 };
  guint64 two = 2;
  g_autoptr (CliRun) tensors = NULL, first = NULL, second = NULL, bare = NULL, third = NULL;
  g_autoptr (JsonTree) list = NULL;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_tensor (&make, "w", 1, &two, 0, numbers, 8);
  make_gguf_tensor (&make, "w", 1, &two, 0, numbers + 2, 8);
  make_gguf_write (&make, path, 0);
  tensors = cli_run ("tensors", "--json", path, NULL);
  bare = cli_run ("values", path, "w", NULL);
  first = cli_run ("values", path, "w#1", NULL);
  second = cli_run ("values", path, "w#2", NULL);
  third = cli_run ("values", path, "w#3", NULL);
  list = json_tree_read (tensors->out);
  g_assert_cmpuint (json_tree_length (list), ==, 2);
  g_assert_cmpstr (bare->out, ==, "1\n2\n");
  g_assert_cmpstr (first->out, ==, "1\n2\n");
  g_assert_cmpstr (second->out, ==, "3\n4\n");
  cli_assert_refused (third, 1);
  g_unlink (path);
}

/* One grammar with the window: name#1 for a unique name, stored:NAME; and a name that is no text as it is shown. */
static void
test_names (void)
{
  static const char *const names[] = { "w#1", "stored:w", "stored:w#1", "\xff\x1b", "\\xFF\\e", "\uFFFD\x1b" };
  g_autofree char *path = scratch_path ("names.gguf");
  const float numbers[4] = { 1, 2, 1, 2 };
  guint64 two = 2;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_key (&make, "general.name", 8);
  make_gguf_string (make.metadata, "a\0b", 3);
  make_gguf_tensor (&make, "w", 1, &two, 0, numbers, 8);
  make_gguf_tensor (&make, "\xff\x1b", 1, &two, 0, numbers + 2, 8);
  make_gguf_write (&make, path, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (CliRun) run = cli_run ("values", path, names[i], NULL);

      cli_assert_ok (run);
      g_assert_cmpstr (run->out, ==, "1\n2\n");
    }
  g_autoptr (CliRun) info = cli_run ("info", "--json", path, NULL), text = cli_run ("info", path, NULL);
  g_assert_nonnull (strstr (info->out, "\"name\":\"a\\u0000b\""));
  g_assert_nonnull (strstr (text->out, "a\\x00b\n"));
  g_unlink (path);
}

/* B031: the file's own label of its type is metadata; what it holds is counted. */
static void
test_file_type (void)
{
  g_autofree char *path = golden_path ("gguf/valid/tiny-llama-mixed.gguf");
  g_autoptr (CliRun) run = cli_run ("info", path, NULL);

  cli_assert_ok (run);
  g_assert_nonnull (strstr (run->out, "general.file_type"));
  g_assert_nonnull (strstr (run->out, "Q4_K"));
  g_assert_nonnull (strstr (run->out, "Q6_K"));
  g_assert_nonnull (strstr (run->out, "F32"));
}

/* A pipe is no terminal: no colour, whatever the environment says. */
static void
test_no_colour (void)
{
  g_autofree char *path = golden_path ("gguf/valid/tiny-llama-mixed.gguf");
  g_autoptr (CliRun) info = cli_run ("info", path, NULL), tensors = cli_run ("tensors", path, NULL);

  g_assert_null (strchr (info->out, '\033'));
  g_assert_null (strchr (tensors->out, '\033'));
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/info/record", test_info_record);
  g_test_add_func ("/cli/info/metadata", test_metadata);
  g_test_add_func ("/cli/info/nested-arrays", test_nested_arrays);
  g_test_add_func ("/cli/info/long-nested-array", test_long_nested_array);
  g_test_add_func ("/cli/info/censuses-add-up", test_censuses_add_up);
  g_test_add_func ("/cli/info/no-colour", test_no_colour);
  g_test_add_func ("/cli/tensors/record", test_tensors_record);
  g_test_add_func ("/cli/tensors/versions-agree", test_versions_agree);
  g_test_add_func ("/traps/B017", test_duplicates);
  g_test_add_func ("/cli/names", test_names);
  g_test_add_func ("/traps/B029", test_escapes);
  g_test_add_func ("/traps/B031", test_file_type);
  status = g_test_run ();
  cli_cleanup ();
  return status;
}
