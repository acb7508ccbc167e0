/* scalar against the reference's samples: value bit for bit, raw, scale and offset, and the place of the bits. */
#include "json-tree.h"
#include "run-cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of a record as the reader of it gets it: float32 text, or one of the three words. */
static float
read_float (const char *text)
{
  if (strcmp (text, "NaN") == 0)
    return NAN;
  if (strcmp (text, "Infinity") == 0 || strcmp (text, "-Infinity") == 0)
    return text[0] == '-' ? -INFINITY : INFINITY;
  return strtof (text, NULL);
}

static void
assert_same_bits (const char *text, const char *hex)
{
  float value = read_float (text);
  guint32 bits, wanted = (guint32)g_ascii_strtoull (hex, NULL, 16);

  memcpy (&bits, &value, sizeof bits);
  if (isnan (value) && (wanted & 0x7fffffffu) > 0x7f800000u)
    return;
  g_assert_cmphex (bits, ==, wanted);
}

/* Puts raw together again from the pieces that the record names, read from the file by this test. */
static guint64
read_pieces (const JsonTree *location, const guint8 *bytes, gsize n)
{
  guint64 raw = 0;
  guint filled = 0;

  for (guint i = 0; i < json_tree_length (location); i++)
    {
      const JsonTree *piece = json_tree_at (location, i);
      guint64 at = g_ascii_strtoull (json_tree_text (piece, "byte"), NULL, 10);
      guint bit = (guint)g_ascii_strtoull (json_tree_text (piece, "bit"), NULL, 10);
      guint bits = (guint)g_ascii_strtoull (json_tree_text (piece, "bits"), NULL, 10);

      for (guint b = 0; b < bits; b++, filled++)
        {
          guint64 place = at * 8 + bit + b;
          g_assert_cmpuint (place / 8, <, n);
          raw |= (guint64)((bytes[place / 8] >> (place % 8)) & 1) << filled;
        }
    }
  return raw;
}

static void
check_record (const char *line, char **sample, const char *index, const guint8 *bytes, gsize n_bytes)
{
  g_autoptr (JsonTree) record = json_tree_read (line);
  const char *raw = json_tree_text (record, "raw"), *value = json_tree_text (record, "value");
  gboolean quantized = strcmp (json_tree_text (record, "quantized"), "true") == 0;
  g_autoptr (GString) printed = g_string_new (NULL);

  g_assert_cmpstr (json_tree_text (record, "tensor"), ==, sample[0]);
  g_assert_cmpstr (json_tree_text (record, "dtype"), ==, sample[1]);
  for (guint axis = 0; axis < json_tree_length (json_tree_get (record, "index")); axis++)
    g_string_append_printf (printed, "%s%s", axis > 0 ? "," : "",
                            json_tree_at (json_tree_get (record, "index"), axis)->text);
  g_assert_cmpstr (printed->str, ==, index);

  if (g_str_has_prefix (sample[11], "0x") && strlen (sample[11]) == 10)
    assert_same_bits (value, sample[11]);
  else if (g_str_has_prefix (sample[11], "0x"))
    g_assert_cmpfloat (strtod (value, NULL), ==, strtod (sample[12], NULL));
  else
    g_assert_cmpstr (value, ==, sample[12]);

  if (!quantized)
    {
      g_assert_null (raw);
      g_assert_null (json_tree_text (record, "scale"));
      if (g_str_has_prefix (sample[7], "0x"))
        g_assert_cmpuint (g_ascii_strtoull (json_tree_text (record, "raw_hex"), NULL, 16), ==,
                          g_ascii_strtoull (sample[7], NULL, 16));
      return;
    }
  g_assert_cmpstr (raw, ==, sample[7]);
  assert_same_bits (json_tree_text (record, "scale"), sample[9]);
  {
    guint bits = (guint)g_ascii_strtoull (json_tree_text (record, "raw_bits"), NULL, 10);
    guint64 mask = (G_GUINT64_CONSTANT (1) << bits) - 1, wanted = (guint64)g_ascii_strtoll (raw, NULL, 10) & mask;

    g_assert_cmpuint (g_ascii_strtoull (json_tree_text (record, "raw_hex"), NULL, 16), ==, wanted);
    if (!g_str_has_prefix (sample[1], "TQ1")) /* its digits are no bits of their own */
      g_assert_cmpuint (read_pieces (json_tree_get (record, "location"), bytes, n_bytes), ==, wanted);
  }
}

/* All samples of one tensor in one run, as a script would ask for them. */
static void
check_tensor (const char *path, GPtrArray *samples, guint first, guint count, guint rank, const guint8 *bytes,
              gsize n_bytes)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CliRun) run = NULL;
  g_auto (GStrv) lines = NULL;

  g_ptr_array_add (arguments, g_strdup ("scalar"));
  g_ptr_array_add (arguments, g_strdup ("--json"));
  g_ptr_array_add (arguments, g_strdup (path));
  g_ptr_array_add (arguments, g_strdup (((char **)g_ptr_array_index (samples, first))[0]));
  for (guint i = 0; i < count; i++)
    {
      char **sample = g_ptr_array_index (samples, first + i);
      GString *index = g_string_new (NULL);

      for (guint axis = rank; axis > 0; axis--) /* the file of samples counts fastest first */
        g_string_append_printf (index, "%s%s", axis < rank ? "," : "", sample[2 + axis]);
      g_ptr_array_add (arguments, g_string_free (index, FALSE));
    }
  run = cli_run_argv ((const char *const *)arguments->pdata, arguments->len);
  cli_assert_ok (run);
  lines = g_strsplit (run->out, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, count + 1);
  for (guint i = 0; i < count; i++)
    check_record (lines[i], g_ptr_array_index (samples, first + i), g_ptr_array_index (arguments, 4 + i), bytes,
                  n_bytes);
}

static void
check_file (const char *name)
{
  g_autofree char *model = g_strdup_printf ("gguf/valid/%s.gguf", name), *path = golden_path (model), *bytes = NULL;
  g_autofree char *tensor_rows = g_strdup_printf ("gguf/valid/%s.tensors.tsv", name);
  g_autofree char *sample_rows = g_strdup_printf ("gguf/valid/%s.samples.tsv", name);
  g_autoptr (GPtrArray) tensors = golden_read_tsv (tensor_rows), samples = golden_read_tsv (sample_rows);
  g_autoptr (GError) error = NULL;
  gsize n_bytes;
  guint first = 0;

  g_file_get_contents (path, &bytes, &n_bytes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < tensors->len; i++)
    {
      char **tensor = g_ptr_array_index (tensors, i);
      guint count = 0;

      while (first + count < samples->len
             && strcmp (((char **)g_ptr_array_index (samples, first + count))[0], tensor[0]) == 0)
        count++;
      g_assert_cmpuint (count, >, 0);
      g_test_message ("%s", tensor[0]);
      check_tensor (path, samples, first, count, (guint)atoi (tensor[3]), (const guint8 *)bytes, n_bytes);
      first += count;
    }
  g_assert_cmpuint (first, ==, samples->len);
}

static void
test_all_types (void)
{
  check_file ("all-types");
}

static void
test_tiny_llama (void)
{
  check_file ("tiny-llama-mixed");
}

static void
test_bad_index (void)
{
  static const char *const wrong[] = { "",     "0",   "0,0,0", "3,0",  "0,64",  "-1,0",
                                       "0,-1", "0,x", "0;0",   "+0,0", "0x0,0", "0,18446744073709551616",
                                       "0," };
  g_autofree char *path = golden_path ("gguf/hand/v3-little.gguf");

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      /* a good index before it prints nothing either */
      g_autoptr (CliRun) run = cli_run ("scalar", path, "w.q8_0", "0,0", wrong[i], NULL);
      g_test_message ("'%s': %s", wrong[i], run->err);
      cli_assert_refused (run, 1);
    }
  {
    g_autoptr (CliRun) run = cli_run ("scalar", path, "no.such", "0,0", NULL);
    cli_assert_refused (run, 1);
    g_assert_nonnull (strstr (run->err, "no.such"));
  }
}

/* Rank 0 is addressed by the empty string. */
static void
test_rank_zero (void)
{
  g_autofree char *path = golden_path ("gguf/hand/v3-zero-dims.gguf");
  g_autoptr (CliRun) tensors = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (JsonTree) list = json_tree_read (tensors->out);
  g_autoptr (CliRun) run
      = cli_run ("scalar", "--json", path, json_tree_text (json_tree_at (list, 0), "name"), "", NULL);
  g_autoptr (JsonTree) record = NULL;

  cli_assert_ok (run);
  record = json_tree_read (run->out);
  g_assert_cmpuint (json_tree_length (json_tree_get (record, "index")), ==, 0);
}

/* stored:NAME and --stored give the packed tensor itself; in GGUF that is the same record. */
static void
test_stored (void)
{
  g_autofree char *path = golden_path ("gguf/hand/v3-little.gguf");
  g_autoptr (CliRun) plain = cli_run ("scalar", "--json", path, "w.q8_0", "1,33", NULL);
  g_autoptr (CliRun) address = cli_run ("scalar", "--json", path, "stored:w.q8_0", "1,33", NULL);
  g_autoptr (CliRun) option = cli_run ("scalar", "--json", "--stored", path, "w.q8_0", "1,33", NULL);

  cli_assert_ok (plain);
  g_assert_cmpstr (address->out, ==, plain->out);
  g_assert_cmpstr (option->out, ==, plain->out);
}

/* What the record has, values has too, with the same text; what is null there is an error here. */
static void
test_quantities_agree (void)
{
  static const char *const names[][2]
      = { { "raw", "raw" }, { "scale", "scale" }, { "zero-point", "zero_point" }, { "offset", "offset" } };
  g_autofree char *path = golden_path ("gguf/valid/all-types.gguf");
  g_autoptr (CliRun) listing = cli_run ("tensors", "--json", path, NULL);
  g_autoptr (JsonTree) list = json_tree_read (listing->out);

  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *tensor = json_tree_at (list, i);
      const char *name = json_tree_text (tensor, "name");
      guint rank = json_tree_length (json_tree_get (tensor, "shape"));
      g_autofree char *index = g_strdup (rank == 3 ? "1,0,33" : "1,33"),
                      *region = g_strdup (rank == 3 ? "1:2,0:1,33:34" : "1:2,33:34");
      g_autoptr (CliRun) scalar = cli_run ("scalar", "--json", path, name, index, NULL);
      g_autoptr (JsonTree) record = NULL;

      cli_assert_ok (scalar);
      record = json_tree_read (scalar->out);
      for (gsize j = 0; j < G_N_ELEMENTS (names); j++)
        {
          const char *wanted = json_tree_text (record, names[j][1]);
          g_autoptr (CliRun) run = cli_run ("values", path, name, "--region", region, "--quantity", names[j][0], NULL);

          g_test_message ("%s %s: %s", name, names[j][0], wanted ? wanted : "null");
          if (wanted == NULL)
            {
              cli_assert_refused (run, 1);
              continue;
            }
          cli_assert_ok (run);
          g_assert_cmpstr (g_strchomp (run->out), ==, wanted);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/scalar/all-types", test_all_types);
  g_test_add_func ("/cli/scalar/tiny-llama", test_tiny_llama);
  g_test_add_func ("/cli/scalar/bad-index", test_bad_index);
  g_test_add_func ("/cli/scalar/rank-zero", test_rank_zero);
  g_test_add_func ("/cli/scalar/stored", test_stored);
  g_test_add_func ("/cli/scalar/quantities-agree", test_quantities_agree);
  return g_test_run ();
}
