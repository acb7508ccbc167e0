/* values: npy read back by a parser of this test's own, text and CSV, every quantity, files that appear whole or not.
 */
#include "json-tree.h"
#include "make-gguf.h"
#include "run-cli.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- npy ---------------------------------------------------------------------------------------------------------- */

typedef struct
{
  char *bytes;
  gsize n_bytes;
  char *descr, *shape; /* "<f4", "3, 64" */
  const char *data;
  gsize n_data;
} Npy;

static char *
cut_between (const char *text, const char *before, const char *after)
{
  const char *begin = strstr (text, before), *end;

  g_assert_nonnull (begin);
  begin += strlen (before);
  end = strstr (begin, after);
  g_assert_nonnull (end);
  return g_strndup (begin, (gsize)(end - begin));
}

static void
read_npy (const char *path, Npy *npy)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *header = NULL;
  gsize length;

  g_file_get_contents (path, &npy->bytes, &npy->n_bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (npy->n_bytes, >=, 10);
  g_assert_cmpmem (npy->bytes, 8, "\x93NUMPY\x01\x00", 8);
  length = (guint8)npy->bytes[8] + 256u * (guint8)npy->bytes[9];
  g_assert_cmpuint (npy->n_bytes, >=, 10 + length);
  g_assert_cmpuint ((10 + length) % 64, ==, 0);
  header = g_strndup (npy->bytes + 10, length);
  g_assert_cmpint (header[length - 1], ==, '\n');
  g_assert_nonnull (strstr (header, "'fortran_order': False"));
  npy->descr = cut_between (header, "'descr': '", "'");
  npy->shape = cut_between (header, "'shape': (", ")");
  npy->data = npy->bytes + 10 + length;
  npy->n_data = npy->n_bytes - 10 - length;
}

static void
clear_npy (Npy *npy)
{
  g_free (npy->bytes);
  g_free (npy->descr);
  g_free (npy->shape);
}

static void
export_npy (const char *model, const char *tensor, const char *region, const char *quantity, Npy *npy)
{
  g_autofree char *path = scratch_path ("out.npy");
  g_autoptr (CliRun) run
      = cli_run ("values", model, tensor, "--region", region, "--quantity", quantity, "-o", path, NULL);

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==, "");
  read_npy (path, npy);
  g_unlink (path);
}

/* Whole tensors of every type: the file's payload has the checksum that the reference's decoder gave. */
static void
test_every_type (void)
{
  g_autofree char *model = golden_path ("gguf/valid/all-types.gguf");
  g_autoptr (GPtrArray) tensors = golden_read_tsv ("gguf/valid/all-types.tensors.tsv");
  guint compared = 0;

  for (guint i = 0; i < tensors->len; i++)
    {
      char **row = g_ptr_array_index (tensors, i);
      guint rank = (guint)atoi (row[3]);
      g_autoptr (GString) region = g_string_new (NULL), shape = g_string_new (NULL);
      gboolean wide = strcmp (row[1], "F64") == 0, integer = row[1][0] == 'I' && g_ascii_isdigit (row[1][1]);
      Npy npy;

      g_test_message ("%s %s", row[0], row[1]);
      for (guint axis = rank; axis > 0; axis--)
        {
          g_string_append_printf (region, "%s:", axis < rank ? "," : "");
          g_string_append_printf (shape, "%s%s%s", axis < rank ? " " : "", row[3 + axis],
                                  axis > 1 || rank == 1 ? "," : "");
        }
      export_npy (model, row[0], region->str, "value", &npy);
      g_assert_cmpstr (npy.shape, ==, shape->str);
      if (integer)
        g_assert_cmpstr (npy.descr, ==,
                         strcmp (row[1], "I8") == 0    ? "|i1"
                         : strcmp (row[1], "I16") == 0 ? "<i2"
                         : strcmp (row[1], "I32") == 0 ? "<i4"
                                                       : "<i8");
      else
        g_assert_cmpstr (npy.descr, ==, wide ? "<f8" : "<f4");
      { /* what is not decoded to float32 is stored as it is, so it has the checksum of the file's own bytes */
        g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)npy.data, npy.n_data);
        g_assert_cmpstr (sum, ==, integer || wide ? row[15] : row[16]);
        compared++;
      }
      clear_npy (&npy);
    }
  g_assert_cmpuint (compared, ==, 35);
}

/* The numbers of a file as float32, whatever they are in it. */
static float *
narrow (const Npy *npy, gsize *n)
{
  static const struct
  {
    const char *descr;
    gsize size;
  } sizes[] = { { "|b1", 1 }, { "|i1", 1 }, { "|u1", 1 }, { "<i2", 2 }, { "<u2", 2 }, { "<i4", 4 },
                { "<u4", 4 }, { "<f4", 4 }, { "<i8", 8 }, { "<u8", 8 }, { "<f8", 8 } };
  gsize size = 0;
  float *numbers;

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (strcmp (sizes[i].descr, npy->descr) == 0)
      size = sizes[i].size;
  g_assert_cmpuint (size, >, 0);
  *n = npy->n_data / size;
  numbers = g_new (float, *n + 1);
  for (gsize i = 0; i < *n; i++)
    {
      union
      {
        gint64 i;
        guint64 u;
        double d;
        float f;
      } number = { .u = 0 };

      memcpy (&number, npy->data + i * size, size);
      if (npy->descr[1] == 'f')
        numbers[i] = size == 8 ? (float)number.d : number.f;
      else if (npy->descr[1] == 'i')
        numbers[i] = (float)((gint64)(number.u << (64 - 8 * size)) >> (64 - 8 * size));
      else
        numbers[i] = (float)number.u;
    }
  return numbers;
}

/* Every dtype of safetensors, against the values of its reference implementations. */
static void
test_plain_dtypes (void)
{
  g_autofree char *model = golden_path ("quant/plain-dtypes"),
                  *listing = golden_path ("quant/plain-dtypes/expected.json");
  g_autofree char *values = golden_path ("quant/plain-dtypes/expected.f32"), *text = NULL, *expected = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = NULL;
  const JsonTree *logical;
  gsize length;

  g_file_get_contents (listing, &text, NULL, &error);
  g_assert_no_error (error);
  g_file_get_contents (values, &expected, &length, &error);
  g_assert_no_error (error);
  tree = json_tree_read (text);
  logical = json_tree_get (tree, "logical");
  g_assert_cmpuint (json_tree_length (logical), ==, 21);
  for (guint i = 0; i < json_tree_length (logical); i++)
    {
      const JsonTree *tensor = json_tree_at (logical, i);
      const char *at = expected + 4 * g_ascii_strtoull (json_tree_text (tensor, "f32_offset_elements"), NULL, 10);
      g_autofree float *numbers = NULL;
      gsize n;
      Npy npy;

      g_test_message ("%s", json_tree_text (tensor, "name"));
      export_npy (model, json_tree_text (tensor, "name"), ":,:", "value", &npy);
      numbers = narrow (&npy, &n);
      g_assert_cmpuint (n, >, 0);
      for (gsize j = 0; j < n; j++)
        {
          float wanted;

          memcpy (&wanted, at + 4 * j, 4);
          if (wanted == wanted)
            g_assert_cmpmem (&numbers[j], 4, &wanted, 4);
          else
            g_assert_true (numbers[j] != numbers[j]);
        }
      clear_npy (&npy);
    }
}

/* --- Regions ------------------------------------------------------------------------------------------------------ */

/* F32 [2, 3, 4] with the numbers 0 … 23, Q4_0 [2, 32], I64 and F64 with numbers that only they hold. */
static char *
make_model (void)
{
  char *path = scratch_path ("values.gguf");
  float numbers[24];
  gint64 wide[2] = { G_MININT64, 9007199254740993 };
  double doubles[2] = { 0.1, -1e300 };
  guint32 halves[4] = { 0x7fc00000u, 0x7f800000u, 0xff800000u, 0x80000000u };
  guint8 blocks[36] = { 0, 0x3c };
  guint64 dims[3] = { 4, 3, 2 }, two = 2, four = 4, packed[2] = { 32, 2 }, nothing[3] = { 4, 0, 1 };
  MakeGguf make;

  for (guint i = 0; i < 24; i++)
    numbers[i] = (float)i;
  blocks[18] = 0, blocks[19] = 0xc0; /* −2 */
  for (guint i = 0; i < 16; i++)
    blocks[2 + i] = blocks[20 + i] = (guint8)(i | (15 - i) << 4);
  make_gguf_init (&make);
  make_gguf_tensor (&make, "cube", 3, dims, 0, numbers, sizeof numbers);
  make_gguf_tensor (&make, "wide", 1, &two, 27, wide, sizeof wide);
  make_gguf_tensor (&make, "double", 1, &two, 28, doubles, sizeof doubles);
  make_gguf_tensor (&make, "special", 1, &four, 0, halves, sizeof halves);
  make_gguf_tensor (&make, "packed", 2, packed, 2, blocks, sizeof blocks);
  make_gguf_tensor (&make, "empty", 3, nothing, 0, NULL, 0);
  make_gguf_write (&make, path, 0);
  return path;
}

static void
assert_text (const char *model, const char *tensor, const char *region, const char *expected)
{
  g_autoptr (CliRun) run = cli_run ("values", model, tensor, region ? "--region" : NULL, region, NULL);

  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==, expected);
}

static void
test_text (void)
{
  g_autofree char *model = make_model ();

  assert_text (model, "cube", NULL,
               " 0   1   2   3\n 4   5   6   7\n 8   9  10  11\n\n12  13  14  15\n16  17  18  19\n20  21  22  23\n");
  assert_text (model, "cube", "1:2,:,1:3", "13  14\n17  18\n21  22\n");
  assert_text (model, "cube", ":,2:,3:", "11\n\n23\n");
  assert_text (model, "cube", "0:1,1:2,2:3", "6\n");
  assert_text (model, "wide", NULL, "-9223372036854775808\n    9007199254740993\n");
  assert_text (model, "double", NULL, "    0.1\n-1e+300\n");
  assert_text (model, "empty", NULL, "");
  assert_text (model, "special", NULL, "      NaN\n Infinity\n-Infinity\n     -0.0\n");
}

static void
test_json (void)
{
  g_autofree char *model = make_model ();
  g_autoptr (CliRun) cube = cli_run ("values", "--json", model, "cube", "--region", ":,1:,:2", NULL);
  g_autoptr (CliRun) special = cli_run ("values", "--json", model, "special", NULL);
  g_autoptr (CliRun) empty = cli_run ("values", "--json", model, "empty", NULL);

  cli_assert_ok (cube);
  g_assert_cmpstr (cube->out, ==,
                   "{\"tensor\":\"cube\",\"quantity\":\"value\",\"dtype\":\"F32\",\"start\":[0,1,0],\"end\":[2,3,2],"
                   "\"values\":[[[4,5],[8,9]],[[16,17],[20,21]]]}\n");
  g_assert_nonnull (strstr (special->out, "\"values\":[\"NaN\",\"Infinity\",\"-Infinity\",-0.0]}"));
  g_assert_nonnull (strstr (empty->out, "\"start\":[0,0,0],\"end\":[1,0,4],\"values\":[[]]}"));
}

static void
test_csv (void)
{
  g_autofree char *model = make_model (), *path = scratch_path ("out.CSV"), *text = NULL;
  g_autoptr (CliRun) run = cli_run ("values", model, "cube", "--region=:,1:,:", "-o", path, NULL);
  g_autoptr (GError) error = NULL;

  cli_assert_ok (run);
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "4,5,6,7\n8,9,10,11\n16,17,18,19\n20,21,22,23\n");
  g_unlink (path);
}

static void
test_npy_regions (void)
{
  g_autofree char *model = make_model ();
  const float expected[4] = { 14, 15, 18, 19 };
  Npy npy;

  export_npy (model, "cube", "1:,:2,2:", "value", &npy);
  g_assert_cmpstr (npy.shape, ==, "1, 2, 2");
  g_assert_cmpmem (npy.data, npy.n_data, expected, sizeof expected);
  clear_npy (&npy);
  export_npy (model, "empty", ":,:,:", "value", &npy);
  g_assert_cmpstr (npy.shape, ==, "1, 0, 4");
  g_assert_cmpuint (npy.n_data, ==, 0);
  clear_npy (&npy);
}

/* Q4_0 with d = 1 and d = −2: value = d × (raw − 8). */
static void
test_quantities (void)
{
  g_autofree char *model = make_model ();
  gint32 raw[64];
  float scale[64], zero[64], value[64];
  Npy npy;

  for (int i = 0; i < 64; i++)
    {
      raw[i] = i % 32 < 16 ? i % 32 : 31 - i % 32;
      scale[i] = i < 32 ? 1 : -2;
      zero[i] = 8;
      value[i] = scale[i] * (float)(raw[i] - 8);
    }
  export_npy (model, "packed", ":,:", "raw", &npy);
  g_assert_cmpstr (npy.descr, ==, "<i4");
  g_assert_cmpstr (npy.shape, ==, "2, 32");
  g_assert_cmpmem (npy.data, npy.n_data, raw, sizeof raw);
  clear_npy (&npy);
  export_npy (model, "packed", ":,:", "scale", &npy);
  g_assert_cmpstr (npy.descr, ==, "<f4");
  g_assert_cmpmem (npy.data, npy.n_data, scale, sizeof scale);
  clear_npy (&npy);
  export_npy (model, "packed", ":,:", "zero-point", &npy);
  g_assert_cmpmem (npy.data, npy.n_data, zero, sizeof zero);
  clear_npy (&npy);
  export_npy (model, "packed", ":,:", "value", &npy);
  g_assert_cmpmem (npy.data, npy.n_data, value, sizeof value);
  clear_npy (&npy);
  export_npy (model, "packed", "1:,15:17", "raw", &npy);
  g_assert_cmpmem (npy.data, npy.n_data, raw + 47, 2 * sizeof *raw);
  clear_npy (&npy);
}

static void
test_missing_quantity (void)
{
  static const char *const missing[][2]
      = { { "packed", "offset" }, { "cube", "raw" }, { "cube", "scale" }, { "wide", "zero-point" } };
  g_autofree char *model = make_model (), *path = scratch_path ("missing.npy");

  for (gsize i = 0; i < G_N_ELEMENTS (missing); i++)
    {
      g_autoptr (CliRun) run = cli_run ("values", model, missing[i][0], "--quantity", missing[i][1], NULL);
      g_autoptr (CliRun) file = cli_run ("values", model, missing[i][0], "--quantity", missing[i][1], "-o", path, NULL);

      cli_assert_refused (run, 1);
      cli_assert_refused (file, 1);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    }
}

static void
test_bad_region (void)
{
  static const char *const wrong[]
      = { "", ":", ":,:", ":,:,:,:", "1:1,:,:", "0:3,:,:", "2:1,:,:", "a:b,:,:", "0:1,:,:,", "-1:,:,:" };
  g_autofree char *model = make_model (), *path = scratch_path ("region.npy");

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (CliRun) run = cli_run ("values", model, "cube", "--region", wrong[i], "-o", path, NULL);
      g_test_message ("'%s': %s", wrong[i], run->err);
      cli_assert_refused (run, 1);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    }
}

/* --- Where the output goes -----------------------------------------------------------------------------------------
 */

static guint
count_files (void)
{
  g_autofree char *any = scratch_path ("x"), *folder = g_path_get_dirname (any);
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  g_dir_close (dir);
  return n;
}

static void
test_unwritable (void)
{
  g_autofree char *model = make_model (), *nowhere = scratch_path ("no-folder/out.npy"),
                  *folder = scratch_path ("folder.npy");
  g_autoptr (CliRun) run = cli_run ("values", model, "cube", "-o", nowhere, NULL), second = NULL;

  cli_assert_refused (run, 1);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  second = cli_run ("values", model, "cube", "-o", folder, NULL);
  cli_assert_refused (second, 1);
  g_rmdir (folder);
}

/* A read that fails half way leaves an older file as it was. */
static void
test_old_file_survives (void)
{
  g_autofree char *model = scratch_path ("short.gguf"), *path = scratch_path ("old.npy"), *text = NULL;
  guint64 dims[2] = { 1024, 1024 };
  g_autoptr (CliRun) run = NULL;
  guint before;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_tensor (&make, "w", 2, dims, 0, NULL, 4096 * 1024);
  make_gguf_write (&make, model, 0);
  g_assert_cmpint (truncate (model, 3 << 20), ==, 0);
  g_assert_true (g_file_set_contents (path, "old", 3, NULL));
  before = count_files ();
  run = cli_run ("values", model, "w", "-o", path, NULL);
  cli_assert_refused (run, 1);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "old");
  g_assert_cmpuint (count_files (), ==, before);
  g_unlink (path);
  g_unlink (model);
}

/* 16 GiB of zeros as CSV: far from done when the signal comes, and in memory never more than a piece of it. */
static void
test_interrupt (void)
{
  g_autofree char *model = scratch_path ("long.gguf"), *path = scratch_path ("long.csv");
  char *argv[] = { (char *)cli_path (), (char *)"values", model, (char *)"w", (char *)"-o", path, NULL };
  guint64 dims[2] = { 65536, 65536 };
  g_autoptr (GError) error = NULL;
  guint before;
  GPid child;
  int status;
  MakeGguf make;

  make_gguf_init (&make);
  make_gguf_tensor (&make, "w", 2, dims, 0, NULL, 32);
  make_gguf_write (&make, model, G_GUINT64_CONSTANT (65536) * 65536 * 4);
  before = count_files ();
  g_spawn_async (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &child, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 3000 && count_files () == before; i++)
    g_usleep (10000);
  g_assert_cmpuint (count_files (), ==, before + 1); /* under another name */
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  kill (child, SIGINT);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGINT);
  g_assert_cmpuint (count_files (), ==, before);
  g_unlink (model);
}

/* Runs with stdout at descriptor; stderr and the exit status are kept. */
static int
run_with_stdout (const char *const *arguments, int descriptor, char **err)
{
  g_autofree char *path = scratch_path ("stderr");
  int errors = g_open (path, O_CREAT | O_TRUNC | O_WRONLY, 0600), status;
  pid_t child = fork ();

  if (child == 0)
    {
      dup2 (descriptor, STDOUT_FILENO);
      dup2 (errors, STDERR_FILENO);
      execv (cli_path (), (char **)arguments);
      _exit (127);
    }
  close (errors);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_true (g_file_get_contents (path, err, NULL, NULL));
  g_unlink (path);
  return WEXITSTATUS (status);
}

static void
test_closed_pipe (void)
{
  g_autofree char *model = make_model (), *err = NULL, *full_err = NULL;
  const char *const arguments[] = { "tensormorph-cli", "values", model, "cube", NULL };
  int ends[2], full;

  g_assert_cmpint (pipe (ends), ==, 0);
  close (ends[0]);
  g_assert_cmpint (run_with_stdout (arguments, ends[1], &err), ==, 0);
  g_assert_cmpstr (err, ==, "");
  close (ends[1]);

  full = g_open ("/dev/full", O_WRONLY, 0);
  if (full < 0)
    return;
  g_assert_cmpint (run_with_stdout (arguments, full, &full_err), ==, 1);
  g_assert_true (g_str_has_prefix (full_err, "tensormorph-cli: "));
  close (full);
}

/* B180, B105: element numbers beyond 32 bits. */
static void
test_far_rows (void)
{
  g_autofree char *model = scratch_path ("far.gguf");
  guint64 dims[2] = { 8960, 262144 };
  const float mark = 7.25f;
  guint64 at;
  g_autoptr (CliRun) run = NULL, scalar = NULL;
  g_autoptr (JsonTree) record = NULL;
  MakeGguf make;
  int descriptor;
  GStatBuf before;

  make_gguf_init (&make);
  make_gguf_tensor (&make, "w", 2, dims, 0, NULL, 32);
  make_gguf_write (&make, model, 8960u * G_GUINT64_CONSTANT (262144) * 4);
  g_assert_cmpint (g_stat (model, &before), ==, 0);
  at = (guint64)before.st_size - 32 - 8960u * G_GUINT64_CONSTANT (262144) * 4
       + (G_GUINT64_CONSTANT (239674) * 8960 + 5) * 4;
  descriptor = g_open (model, O_WRONLY, 0);
  g_assert_cmpint (pwrite (descriptor, &mark, 4, (off_t)at), ==, 4);
  close (descriptor);
  run = cli_run ("values", model, "w", "--region", "239674:239675,4:7", NULL);
  cli_assert_ok (run);
  g_assert_cmpstr (run->out, ==, "   0  7.25     0\n");
  scalar = cli_run ("scalar", "--json", model, "w", "239674,5", NULL);
  cli_assert_ok (scalar);
  record = json_tree_read (scalar->out);
  g_assert_cmpstr (json_tree_text (record, "value"), ==, "7.25");
  g_assert_cmpuint (
      g_ascii_strtoull (json_tree_text (json_tree_at (json_tree_get (record, "location"), 0), "byte"), NULL, 10), ==,
      at);
  g_unlink (model);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  cli_init (argc, argv);
  g_test_add_func ("/cli/values/every-type", test_every_type);
  g_test_add_func ("/cli/values/plain-dtypes", test_plain_dtypes);
  g_test_add_func ("/cli/values/text", test_text);
  g_test_add_func ("/cli/values/json", test_json);
  g_test_add_func ("/cli/values/csv", test_csv);
  g_test_add_func ("/cli/values/npy-regions", test_npy_regions);
  g_test_add_func ("/cli/values/quantities", test_quantities);
  g_test_add_func ("/cli/values/missing-quantity", test_missing_quantity);
  g_test_add_func ("/cli/values/bad-region", test_bad_region);
  g_test_add_func ("/cli/values/unwritable", test_unwritable);
  g_test_add_func ("/cli/values/old-file-survives", test_old_file_survives);
  g_test_add_func ("/cli/values/interrupt", test_interrupt);
  g_test_add_func ("/cli/values/closed-pipe", test_closed_pipe);
  g_test_add_func ("/traps/B180", test_far_rows);
  status = g_test_run ();
  cli_cleanup ();
  return status;
}
