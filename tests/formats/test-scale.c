/* Large inputs: headers only are read, memory stays flat, nothing is quadratic. Times are the processor's, best of three, so
 * that another load on the machine does not matter; under a sanitizer they are not looked at. */
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "formats-test.h"
#include "gguf-builder.h"

#if defined(__SANITIZE_ADDRESS__)
#define TIMED 0
#define SHARE 10 /* of every large number: sanitizers are slow */
#else
#define TIMED 1
#define SHARE 1
#endif

static TmModel *
open_timed (const char *path, double limit)
{
  TmModel *model = NULL;
  double best = G_MAXDOUBLE;

  for (int i = 0; i < (TIMED ? 3 : 1); i++)
    {
      clock_t start;

      g_clear_object (&model);
      start = clock ();
      model = open_model (path);
      best = MIN (best, (double) (clock () - start) / CLOCKS_PER_SEC);
    }
  g_test_minimized_result (best, "%s: %.4f s", path, best);
  if (TIMED)
    g_assert_cmpfloat (best, <, limit);
  return model;
}

static long
get_peak_kib (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static gboolean
stretch (const char *path, guint64 size)
{
  gboolean ok = truncate (path, (off_t) size) == 0;

  if (!ok)
    g_test_fail_printf ("no sparse files here");
  return ok;
}

/* 1000 tensors of 100 MiB each: 100 GB, of which only the header is there. */
static void
test_sparse (void)
{
  const guint64 n = 1000, columns = 4096, rows = 6400, bytes = columns * rows * 4;
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  guint64 data_start;
  long before;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, n, 0);
  for (guint64 i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("blk.%u.ffn_up.weight", (guint) i);

      gguf_info (&gguf, name, 2, (guint64[]){ columns, rows }, 0, i * bytes);
    }
  gguf_pad (&gguf, 32);
  data_start = gguf.bytes->len;
  path = gguf_save (&gguf, folder, "sparse.gguf");
  if (stretch (path, data_start + n * bytes))
    {
      g_autoptr (TmModel) model = NULL;

      before = get_peak_kib ();
      model = open_timed (path, 0.05);
      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpuint (tm_model_stored (model, 999)->offset, ==, data_start + 999 * bytes);
      if (TIMED)
        g_assert_cmpint (get_peak_kib () - before, <, 32 * 1024);
    }
  remove_folder (folder);
}

/* B182, B025: 262 144 tokens, as many scores and types, and the merges. */
static void
test_vocabulary (void)
{
  const guint n = 262144 / SHARE;
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (GPtrArray) items = NULL;
  const TmMetadata *tokens;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 0, 4);
  for (guint list = 0; list < 2; list++)
    {
      gguf_key (&gguf, list == 0 ? "tokenizer.ggml.tokens" : "tokenizer.ggml.merges", TM_META_ARRAY);
      gguf_uint (&gguf, TM_META_STRING, 4);
      gguf_uint (&gguf, n, 8);
      for (guint i = 0; i < n; i++)
        {
          char token[32];

          g_snprintf (token, sizeof token, list == 0 ? "token%u" : "tok en%u", i);
          gguf_string (&gguf, token);
        }
    }
  for (guint list = 0; list < 2; list++)
    {
      gguf_key (&gguf, list == 0 ? "tokenizer.ggml.scores" : "tokenizer.ggml.token_type", TM_META_ARRAY);
      gguf_uint (&gguf, list == 0 ? TM_META_F32 : TM_META_I32, 4);
      gguf_uint (&gguf, n, 8);
      for (guint i = 0; i < n; i++)
        gguf_uint (&gguf, i, 4);
    }
  gguf_pad (&gguf, 32);
  path = gguf_save (&gguf, folder, "vocabulary.gguf");
  model = open_timed (path, 0.05);
  tokens = tm_model_find_metadata (model, "tokenizer.ggml.tokens");
  g_assert_cmpuint (tokens->n_items, ==, n);
  items = tm_metadata_read_items (tokens, 16, NULL);
  g_assert_cmpuint (items->len, ==, 16);
  g_assert_cmpstr (((TmMetadata *) g_ptr_array_index (items, 15))->string, ==, "token15");
  remove_folder (folder);
}

static void
test_many_tensors (void)
{
  const guint n = 200000 / SHARE;
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, n, 0);
  for (guint i = 0; i < n; i++)
    {
      char name[64];

      g_snprintf (name, sizeof name, "blk.%u.expert.%u.weight", i / 1000, i % 1000);
      gguf_info (&gguf, name, 1, (guint64[]){ 8 }, 0, (guint64) i * 32);
    }
  gguf_pad (&gguf, 32);
  g_byte_array_set_size (gguf.bytes, gguf.bytes->len + n * 32);
  path = gguf_save (&gguf, folder, "many.gguf");
  model = open_timed (path, 1.0);
  g_assert_cmpuint (model->stored->len, ==, n);
  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpint (tm_model_find_stored (model, SHARE == 1 ? "blk.199.expert.999.weight" : "blk.19.expert.999.weight"), ==, n - 1);
  remove_folder (folder);
}

/* All of them on the same bytes under one name: every pair is a fault, and the time stays linear. */
static void
test_many_faults (void)
{
  const guint n = 150000;
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, n, 0);
  for (guint i = 0; i < n; i++)
    gguf_info (&gguf, "w", 1, (guint64[]){ 8 }, 0, 0);
  gguf_pad (&gguf, 32);
  g_byte_array_set_size (gguf.bytes, gguf.bytes->len + 32);
  path = gguf_save (&gguf, folder, "faults.gguf");
  model = open_timed (path, 2.0);
  g_assert_cmpuint (model->stored->len, ==, n);
  g_assert_cmpuint (tm_model_stored (model, n - 1)->ordinal, ==, n);
  assert_problem (model, "too-many-problems", NULL, TM_SEVERITY_ERROR);
  remove_folder (folder);
}

/* B081: an index of 500 000 names. */
static void
test_index (void)
{
  const guint n = 500000 / SHARE;
  static const char header[] = "{\"model.layers.0.mlp.experts.0.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
  char *folder = make_folder ();
  g_autoptr (GString) index = g_string_new ("{\"metadata\":{\"total_size\":4},\"weight_map\":{");
  g_autoptr (GString) shard = g_string_new_len ((const char *) &length, 8);
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (index, "%s\"model.layers.%u.mlp.experts.%u.weight\": \"model-%05u-of-00200.safetensors\"", i > 0 ? "," : "",
                            i / 5000, i % 5000, i / 2500 + 1);
  g_string_append (index, "}}");
  g_string_append (shard, header);
  g_string_append_len (shard, "\0\0\0\0", 4);
  g_free (write_file (folder, "model-00001-of-00200.safetensors", shard->str, shard->len));
  path = write_file (folder, "model.safetensors.index.json", index->str, index->len);
  model = open_timed (path, 2.0);
  g_assert_cmpuint (model->stored->len, ==, n);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_ERROR), ==, n / 2500 - 1 + 2499);
  g_assert_nonnull (tm_model_stored (model, tm_model_find_stored (model, SHARE == 1 ? "model.layers.99.mlp.experts.4999.weight" : "model.layers.9.mlp.experts.4999.weight"))->fault);
  remove_folder (folder);
}

/* The largest header there may be, and one byte more. */
static void
test_header_limit (void)
{
  const gsize length = 100000000;
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  g_autofree char *message = NULL;
  char *bytes = g_malloc (length + 9);
  guint64 le = GUINT64_TO_LE ((guint64) length);
  long before;

  memset (bytes + 8, ' ', length + 1);
  memcpy (bytes, &le, 8);
  memcpy (bytes + 8, "{}", 2);
  path = write_file (folder, "limit.safetensors", bytes, length + 8);
  le = GUINT64_TO_LE ((guint64) length + 1);
  memcpy (bytes, &le, 8);
  g_free (write_file (folder, "over.safetensors", bytes, length + 9));
  g_free (bytes);

  /* The peak so far was this function's own copy; opening must not need a second one on top of the header. */
  before = get_peak_kib ();
  {
    g_autoptr (TmModel) model = open_timed (path, 1.0);

    g_assert_cmpuint (model->stored->len, ==, 0);
    g_assert_cmpuint (model->problems->len, ==, 0);
  }
  if (TIMED)
    g_assert_cmpint (get_peak_kib () - before, <, 50 * 1024);
  g_free (path);
  path = g_build_filename (folder, "over.safetensors", NULL);
  message = refuse (path, TM_ERROR_FORMAT);
  g_assert_nonnull (strstr (message, "100000001"));
  remove_folder (folder);
}

/* A header full of tensors: 400 000 entries, 37 MB. */
static void
test_large_header (void)
{
  const guint n = 400000 / SHARE;
  char *folder = make_folder ();
  g_autoptr (GString) text = g_string_new ("");
  g_autoptr (TmModel) model = NULL;
  g_autofree char *path = NULL;
  guint64 length;

  g_string_append_len (text, "\0\0\0\0\0\0\0\0{", 9);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s\"model.layers.%u.mlp.experts.%u.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                            i > 0 ? "," : "", i / 5000, i % 5000, i * 4, i * 4 + 4);
  g_string_append_c (text, '}');
  length = GUINT64_TO_LE ((guint64) (text->len - 8));
  memcpy (text->str, &length, 8);
  path = write_file (folder, "large.safetensors", text->str, text->len);
  if (stretch (path, text->len + (guint64) n * 4))
    {
      model = open_timed (path, 2.0);
      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpuint (model->stored->len, ==, n);
    }
  remove_folder (folder);
}

/* Zeros as far as the eye can see: refused early, not walked. */
static void
test_blank (void)
{
  char *folder = make_folder ();
  g_autofree char *path = NULL;
  Gguf gguf;

  for (guint i = 0; i < 2; i++)
    {
      clock_t start;

      gguf_begin (&gguf, 3, FALSE, i == 0 ? 1000000000 : 0, i == 0 ? 0 : 1000000000);
      g_free (path);
      path = gguf_save (&gguf, folder, "blank.gguf");
      if (!stretch (path, (guint64) 100 << 30))
        break;
      start = clock ();
      g_free (refuse (path, TM_ERROR_FORMAT));
      g_assert_cmpint (clock () - start, <, CLOCKS_PER_SEC);
    }
  remove_folder (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scale/sparse", test_sparse);
  g_test_add_func ("/scale/vocabulary", test_vocabulary);
  g_test_add_func ("/traps/B182", test_vocabulary);
  g_test_add_func ("/scale/many-tensors", test_many_tensors);
  g_test_add_func ("/scale/many-faults", test_many_faults);
  g_test_add_func ("/scale/index", test_index);
  g_test_add_func ("/traps/B081", test_index);
  g_test_add_func ("/scale/header-limit", test_header_limit);
  g_test_add_func ("/scale/large-header", test_large_header);
  g_test_add_func ("/scale/blank", test_blank);
  return g_test_run ();
}
