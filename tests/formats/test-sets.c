/* Sets of files: split GGUF, sharded safetensors, folders, links, config.json. */
#include <unistd.h>

#include "formats-test.h"
#include "gguf-builder.h"
#include "io/limits.h"
#include "recognise/recognise.h"

/* --- safetensors ---------------------------------------------------------------------------------------------------- */

static char *
write_safetensors (const char *folder, const char *name, const char *header, guint data_bytes)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
  g_autofree guint8 *data = g_malloc0 (data_bytes + 1);

  g_byte_array_append (bytes, (const guint8 *) &length, 8);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (bytes, data, data_bytes);
  return write_file (folder, name, bytes->data, bytes->len);
}

#define SHARD(name) "{\"" name "\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"

typedef struct
{
  const char *folder;
  gboolean index_opens;  /* when the index file itself is opened */
  guint n_stored;        /* of the folder */
  const char *code;      /* NULL: no problem */
  TmSeverity severity;
} Case;

static const Case cases[] = {
  { "ok", TRUE, 2, NULL, 0 },
  { "ok-no-metadata", TRUE, 2, NULL, 0 },
  { "ok-wrong-total-size", TRUE, 2, "total-size", TM_SEVERITY_WARNING },
  { "ok-total-size-float", TRUE, 2, NULL, 0 },
  { "shard-missing", TRUE, 2, "missing-shard", TM_SEVERITY_ERROR },
  { "tensor-not-in-shard", TRUE, 2, "not-in-shard", TM_SEVERITY_ERROR },
  { "tensor-not-in-index", TRUE, 2, "not-in-index", TM_SEVERITY_WARNING },
  { "tensor-in-two-shards", TRUE, 3, "in-two-shards", TM_SEVERITY_WARNING },
  { "path-traversal", TRUE, 2, "unsafe-shard-name", TM_SEVERITY_ERROR },
  { "path-absolute", TRUE, 2, "unsafe-shard-name", TM_SEVERITY_ERROR },
  { "shard-name-empty", TRUE, 2, "unsafe-shard-name", TM_SEVERITY_ERROR },
  { "weight-map-array", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "weight-map-number", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "weight-map-missing", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "weight-map-duplicate", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "index-not-json", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "index-truncated", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "index-deep", FALSE, 2, "index-unreadable", TM_SEVERITY_ERROR },
  { "shard-malformed", TRUE, 2, "past-end", TM_SEVERITY_ERROR },
};

static void
test_index (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *row = &cases[i];
      g_autofree char *folder = golden ("safetensors-bad/index", row->folder);
      g_autofree char *index = g_build_filename (folder, "model.safetensors.index.json", NULL);
      g_autofree char *shard = g_build_filename (folder, "model-00001-of-00002.safetensors", NULL);
      const char *ways[] = { folder, shard, index };

      g_test_message ("%s", row->folder);
      for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
        {
          g_autoptr (TmModel) model = NULL;

          if (way == 2 && !row->index_opens)
            {
              g_autofree char *message = refuse (index, TM_ERROR_FORMAT);

              g_assert_nonnull (strstr (message, "byte"));
              g_assert_nonnull (strstr (message, "2 shards beside it"));
              continue;
            }
          /* A shard that the index cannot name is opened by itself or with its numbered siblings. */
          if (way == 1 && (g_str_has_prefix (row->folder, "path-") || strcmp (row->folder, "shard-name-empty") == 0))
            continue;
          model = open_model (ways[way]);
          g_assert_cmpstr (model->format, ==, "safetensors");
          g_assert_cmpuint (model->stored->len, ==, row->n_stored);
          if (row->code != NULL)
            assert_problem (model, row->code, NULL, row->severity);
          else
            g_assert_cmpuint (model->problems->len, ==, 0);
        }
    }
}

/* A tensor of a shard that is not here is listed, and says why it has no values. */
static void
test_absent (void)
{
  g_autofree char *folder = golden ("safetensors-bad/index", "shard-missing");
  g_autofree char *lacking = golden ("safetensors-bad/index", "tensor-not-in-shard");
  g_autofree char *unsafe = golden ("safetensors-bad/index", "path-traversal");
  g_autoptr (TmModel) missing_model = open_model (folder);
  g_autoptr (TmModel) lacking_model = open_model (lacking);
  g_autoptr (TmModel) unsafe_model = open_model (unsafe);
  const TmStored *b = find_stored (missing_model, "b"), *a = find_stored (missing_model, "a");
  const TmProblem *problem = find_problem (missing_model, "missing-shard", NULL);

  g_assert_null (b->source);
  g_assert_cmpstr (b->fault, ==, problem->message);
  g_assert_cmpstr (problem->file, ==, "model-00002-of-00002.safetensors");
  g_assert_null (a->fault);
  g_assert_cmpint (a->dtype, ==, TM_DTYPE_F32);

  g_assert_cmpstr (find_stored (lacking_model, "b")->fault, ==, find_problem (lacking_model, "not-in-shard", "b")->message);
  g_assert_nonnull (strstr (find_stored (unsafe_model, "a")->fault, "../ok/model-00001-of-00002.safetensors"));
  g_assert_cmpuint (unsafe_model->files->len, ==, 1);
}

static void
test_follow_index (void)
{
  g_autofree char *folder = golden ("safetensors-bad/index", "tensor-in-two-shards");
  g_autoptr (TmModel) model = open_model (folder);
  const TmStored *b = find_stored (model, "b"), *other = find_stored (model, "b#2");

  g_assert_cmpstr (tm_source_get_name (b->source), ==, "model-00002-of-00002.safetensors");
  g_assert_cmpstr (tm_source_get_name (other->source), ==, "model-00001-of-00002.safetensors");
  g_assert_true (find_stored (model, "b#1") == b);
}

static void
test_folder_without_index (void)
{
  char *folder = make_folder ();
  g_autofree char *one = write_safetensors (folder, "m-00001-of-00003.safetensors", SHARD ("a"), 8);
  g_autofree char *three = write_safetensors (folder, "m-00003-of-00003.safetensors", SHARD ("c"), 8);
  const char *ways[] = { folder, one, three };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (TmModel) model = open_model (ways[i]);

      g_assert_cmpuint (model->stored->len, ==, 2);
      g_assert_cmpuint (model->files->len, ==, 2);
      g_assert_cmpuint (model->problems->len, ==, 1);
      g_assert_cmpstr (find_problem (model, "missing-shard", NULL)->file, ==, "m-00002-of-00003.safetensors");
    }
  remove_folder (folder);
}

/* An index that is no file: its message says what it speaks of, the shards are opened. */
static void
test_index_is_a_folder (void)
{
  char *folder = make_folder ();
  g_autofree char *shard = write_safetensors (folder, "model.safetensors", SHARD ("a"), 8);
  g_autofree char *index = g_build_filename (folder, "model.safetensors.index.json", NULL);
  const char *ways[] = { folder, shard };

  g_assert_cmpint (g_mkdir (index, 0755), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (TmModel) model = open_model (ways[i]);

      g_assert_cmpuint (model->stored->len, ==, 1);
      g_assert_true (g_str_has_prefix (find_problem (model, "index-unreadable", NULL)->message, "shard index: is a folder"));
    }
  g_rmdir (index);
  remove_folder (folder);
}

static void
test_folder_kinds (void)
{
  char *folder = make_folder ();
  g_autofree char *message G_GNUC_UNUSED = refuse (folder, TM_ERROR_KIND);
  g_autofree char *a = NULL;
  g_autofree char *several = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 0, 0);
  g_free (gguf_save (&gguf, folder, "one.gguf"));
  {
    g_autoptr (TmModel) model = open_model (folder);

    g_assert_cmpstr (model->format, ==, "GGUF");
  }
  gguf_begin (&gguf, 3, FALSE, 0, 0);
  g_free (gguf_save (&gguf, folder, "two.gguf"));
  several = refuse (folder, TM_ERROR_KIND);
  g_assert_nonnull (strstr (several, "2 GGUF files"));

  a = write_safetensors (folder, "a.safetensors", SHARD ("a"), 8);
  {
    g_autoptr (TmModel) model = open_model (folder);

    g_assert_cmpstr (model->format, ==, "safetensors");
  }
  remove_folder (folder);
}

/* With an index only what it lists is read. */
static void
test_unlisted_copy (void)
{
  static const char index[] = "{\"weight_map\":{\"a\":\"model-1.safetensors\"}}";
  char *folder = make_folder ();

  g_free (write_safetensors (folder, "model-1.safetensors", SHARD ("a"), 8));
  g_free (write_safetensors (folder, "consolidated.safetensors", SHARD ("z"), 8));
  g_free (write_file (folder, "model.safetensors.index.json", index, strlen (index)));
  {
    g_autoptr (TmModel) model = open_model (folder);
    g_autofree char *copy = g_build_filename (folder, "consolidated.safetensors", NULL);
    g_autoptr (TmModel) alone = open_model (copy);

    g_assert_cmpuint (model->stored->len, ==, 1);
    assert_problem (model, "unlisted-shard", NULL, TM_SEVERITY_NOTE);
    g_assert_cmpuint (alone->stored->len, ==, 1);
    g_assert_cmpstr (tm_model_stored (alone, 0)->name, ==, "z");
  }
  remove_folder (folder);
}

static void
test_all_missing (void)
{
  static const char index[] = "{\"weight_map\":{\"a\":\"gone.safetensors\"}}";
  char *folder = make_folder ();
  g_autofree char *path = write_file (folder, "model.safetensors.index.json", index, strlen (index));
  g_autofree char *message = refuse (path, TM_ERROR_IO);

  g_assert_nonnull (strstr (message, "gone.safetensors"));
  remove_folder (folder);
}

/* An index that sends nothing into the shards that are here (empty, or of another set) does not hide them. */
static void
test_index_of_others (void)
{
  static const char *const indices[] = { "{\"weight_map\":{}}", "{\"weight_map\":{\"a\":\"pytorch_model.bin\",\"b\":\"../model-1.safetensors\"}}" };

  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    {
      char *folder = make_folder ();

      g_free (write_safetensors (folder, "model-1.safetensors", SHARD ("a"), 8));
      g_free (write_file (folder, "model.safetensors.index.json", indices[i], strlen (indices[i])));
      {
        g_autoptr (TmModel) model = open_model (folder);

        g_assert_cmpuint (model->stored->len, ==, 1);
        g_assert_null (tm_model_stored (model, 0)->fault);
        assert_problem (model, "index-unreadable", NULL, TM_SEVERITY_ERROR);
      }
      remove_folder (folder);
    }
}

/* A path of another system is no plain name, also where a file is called so. */
static void
test_backslash (void)
{
  static const char index[] = "{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"..\\\\b.safetensors\"}}";
  char *folder = make_folder ();

  g_free (write_safetensors (folder, "model-1.safetensors", SHARD ("a"), 8));
  g_free (write_safetensors (folder, "..\\b.safetensors", SHARD ("b"), 8));
  g_free (write_file (folder, "model.safetensors.index.json", index, strlen (index)));
  {
    g_autoptr (TmModel) model = open_model (folder);

    g_assert_cmpuint (model->files->len, ==, 1);
    g_assert_cmpuint (model->stored->len, ==, 2);
    g_assert_nonnull (tm_model_stored (model, 1)->fault);
    assert_problem (model, "unsafe-shard-name", NULL, TM_SEVERITY_ERROR);
  }
  remove_folder (folder);
}

/* A name that stands twice in a shard is told, whatever the index knows of it; names that the index has in no order too. */
static void
test_twice_in_a_shard (void)
{
  static const char *const indices[] = { "{\"weight_map\":{\"b\":\"model-1.safetensors\",\"a\":\"model-1.safetensors\"}}",
                                         "{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-1.safetensors\"}}",
                                         "{\"weight_map\":{\"b\":\"model-1.safetensors\"}}" };
  static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                               "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]},"
                               "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}";

  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    {
      char *folder = make_folder ();

      g_free (write_safetensors (folder, "model-1.safetensors", header, 12));
      g_free (write_file (folder, "model.safetensors.index.json", indices[i], strlen (indices[i])));
      {
        g_autoptr (TmModel) model = open_model (folder);

        g_assert_cmpuint (model->stored->len, ==, 3);
        assert_problem (model, "duplicate-name", "a", TM_SEVERITY_WARNING);
        g_assert_null (find_problem (model, "not-in-shard", NULL));
        g_assert_cmpint (tm_model_find_stored (model, "a"), ==, 0);
      }
      remove_folder (folder);
    }
}

/* Whoever reads config.json has one limit: what is over it is told once. */
static void
test_large_config (void)
{
  char *folder = make_folder ();
  g_autofree char *path = write_file (folder, "config.json", "{}", 2);

  g_free (write_safetensors (folder, "model-1.safetensors", SHARD ("a"), 8));
  g_assert_cmpint (truncate (path, (off_t) TM_MAX_CONFIG_FILE + 1), ==, 0);
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (TmModel) model = tm_open_model (folder, NULL, &error);

    g_assert_no_error (error);
    g_assert_cmpuint (model->problems->len, ==, 1);
    assert_problem (model, "config-unreadable", NULL, TM_SEVERITY_WARNING);
  }
  remove_folder (folder);
}

/* Links: inside the folder or the cache tree they are followed, elsewhere not. */
static void
test_links (void)
{
  static const char index[] = "{\"weight_map\":{\"a\":\"in.safetensors\",\"b\":\"out.safetensors\"}}";
  char *root = make_folder (), *elsewhere = make_folder ();
  g_autofree char *blobs = g_build_filename (root, "hub", "blobs", NULL);
  g_autofree char *snapshot = g_build_filename (root, "hub", "snapshots", "abc", NULL);
  g_autofree char *in = g_build_filename (snapshot, "in.safetensors", NULL);
  g_autofree char *out = g_build_filename (snapshot, "out.safetensors", NULL);
  g_autofree char *outside = write_safetensors (elsewhere, "b.safetensors", SHARD ("b"), 8);

  g_assert_cmpint (g_mkdir_with_parents (blobs, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (snapshot, 0700), ==, 0);
  g_free (write_safetensors (blobs, "0123", SHARD ("a"), 8));
  g_free (write_file (snapshot, "model.safetensors.index.json", index, strlen (index)));
  g_assert_cmpint (symlink ("../../blobs/0123", in), ==, 0);
  g_assert_cmpint (symlink (outside, out), ==, 0);
  {
    g_autoptr (TmModel) model = open_model (snapshot);
    g_autoptr (TmModel) alone = open_model (out); /* a link that the person opens is followed; it is listed in the index */

    g_assert_cmpuint (model->files->len, ==, 1);
    g_assert_null (find_stored (model, "a")->fault);
    g_assert_nonnull (find_stored (model, "b")->fault);
    assert_problem (model, "unsafe-shard-name", NULL, TM_SEVERITY_ERROR);
    g_assert_cmpstr (find_problem (model, "unsafe-shard-name", NULL)->file, ==, "out.safetensors");
    g_assert_cmpuint (alone->files->len, ==, 2);
  }
  remove_folder (root);
  remove_folder (elsewhere);
}

static void
test_config (void)
{
  static const char config[] = "{\"model_type\":\"llama\",\"hidden_size\":64,\"rope\":-1.5,\"tie\":false,\"architectures\":[\"X\"],"
                               "\"text_config\":{\"quantization_config\":{\"bits\":4}},\"big\":18446744073709551615,\"none\":null}";
  static const char only_list[] = "{\"architectures\":[\"LlamaForCausalLM\"]}";
  static const char broken[] = "{\"model_type\":\"llama\",";
  char *folder = make_folder ();
  g_autofree char *path = write_safetensors (folder, "model.safetensors", SHARD ("a"), 8);

  g_free (write_file (folder, "config.json", config, strlen (config)));
  {
    g_autoptr (TmModel) model = open_model (path);

    g_assert_cmpstr (model->architecture, ==, "llama");
    g_assert_cmpint (tm_model_find_metadata (model, "config.hidden_size")->as.i, ==, 64);
    g_assert_cmpint (tm_model_find_metadata (model, "config.rope")->type, ==, TM_META_F64);
    g_assert_true (tm_model_find_metadata (model, "config.rope")->as.f == -1.5);
    g_assert_cmpint (tm_model_find_metadata (model, "config.tie")->type, ==, TM_META_BOOL);
    g_assert_cmpuint (tm_model_find_metadata (model, "config.big")->as.u, ==, G_MAXUINT64);
    g_assert_cmpstr (tm_model_find_metadata (model, "config.text_config")->string, ==, "{\"quantization_config\":{\"bits\":4}}");
    g_assert_cmpstr (tm_model_find_metadata (model, "config.none")->string, ==, "null");
    g_assert_cmpuint (model->problems->len, ==, 0);
  }
  g_free (write_file (folder, "config.json", only_list, strlen (only_list)));
  {
    g_autoptr (TmModel) model = open_model (folder);

    g_assert_cmpstr (model->architecture, ==, "LlamaForCausalLM");
  }
  g_free (write_file (folder, "config.json", broken, strlen (broken)));
  {
    g_autoptr (TmModel) model = open_model (folder);

    g_assert_null (model->architecture);
    assert_problem (model, "config-unreadable", NULL, TM_SEVERITY_WARNING);
  }
  remove_folder (folder);
}

/* --- split GGUF ------------------------------------------------------------------------------------------------------ */

typedef struct { guint no, count; int tensors; const char *tensor; const char *architecture; } Part;

static char *
write_part (const char *folder, const char *name, const Part *part)
{
  static const float values[4] = { 1, 2, 3, 4 };
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, part->tensor != NULL ? 1 : 0, part->architecture != NULL ? 4 : 3);
  if (part->architecture != NULL)
    gguf_key_string (&gguf, "general.architecture", part->architecture);
  gguf_key (&gguf, "split.no", TM_META_U16);
  gguf_uint (&gguf, part->no, 2);
  gguf_key (&gguf, "split.count", TM_META_U16);
  gguf_uint (&gguf, part->count, 2);
  gguf_key (&gguf, "split.tensors.count", TM_META_I32);
  gguf_uint (&gguf, (guint64) part->tensors, 4);
  if (part->tensor != NULL)
    gguf_info (&gguf, part->tensor, 1, (guint64[]){ 4 }, 0, 0);
  gguf_pad (&gguf, 32);
  if (part->tensor != NULL)
    {
      gguf_floats (&gguf, values, 4);
      gguf_pad (&gguf, 32);
    }
  return gguf_save (&gguf, folder, name);
}

static TmModel *
open_parts (char **folder, const Part *parts, guint n, guint opened)
{
  g_autofree char *path = NULL;

  *folder = make_folder ();
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("m-%05u-of-%05u.gguf", i + 1, n);

      if (parts[i].count > 0)
        g_free (write_part (*folder, name, &parts[i]));
      if (i == opened)
        path = g_build_filename (*folder, name, NULL);
    }
  return open_model (path);
}

static void
test_metadata_only_first (void)
{
  static const Part parts[] = { { 0, 3, 2, NULL, "llama" }, { 1, 3, 2, "a", NULL }, { 2, 3, 2, "output.weight", NULL } };

  for (guint opened = 0; opened < 3; opened++)
    {
      char *folder;
      g_autoptr (TmModel) model = open_parts (&folder, parts, 3, opened);

      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpstr (model->architecture, ==, "llama");
      g_assert_cmpuint (model->stored->len, ==, 2);
      g_assert_cmpuint (model->metadata->len, ==, 4);
      find_stored (model, "output.weight");
      remove_folder (folder);
    }
}

static void
test_missing_part (void)
{
  static const Part parts[] = { { 0, 3, 3, "a", "llama" }, { 0, 0, 0, NULL, NULL }, { 2, 3, 3, "c", NULL } };
  char *folder;
  g_autoptr (TmModel) model = open_parts (&folder, parts, 3, 2);

  g_assert_cmpuint (model->problems->len, ==, 1);
  assert_problem (model, "missing-shard", NULL, TM_SEVERITY_ERROR);
  g_assert_cmpstr (find_problem (model, "missing-shard", NULL)->file, ==, "m-00002-of-00003.gguf");
  g_assert_cmpuint (model->stored->len, ==, 2);
  g_assert_cmpstr (model->architecture, ==, "llama");
  remove_folder (folder);
}

static void
test_set_errors (void)
{
  static const struct { Part parts[2]; const char *code; } rows[] = {
    { { { 0, 2, 2, "a", "x" }, { 1, 3, 2, "b", NULL } }, "split-count" },
    { { { 0, 1, 2, "a", "x" }, { 1, 2, 2, "b", NULL } }, "split-count" },
    { { { 0, 2, 2, "a", "x" }, { 0, 2, 2, "b", NULL } }, "split-number" },
    { { { 0, 2, 3, "a", "x" }, { 1, 2, 3, "b", NULL } }, "split-tensor-count" },
    { { { 0, 2, 2, "a", "x" }, { 1, 2, 5, "b", NULL } }, "split-tensor-count" },
    { { { 0, 2, 2, "a", "x" }, { 1, 2, 2, "a", NULL } }, "duplicate-name" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) /* opened by either part */
    {
      char *folder;
      g_autoptr (TmModel) model = open_parts (&folder, rows[i / 2].parts, 2, i % 2);

      g_assert_cmpuint (model->stored->len, ==, 2);
      g_assert_cmpuint (model->problems->len, ==, 1);
      assert_problem (model, rows[i / 2].code, NULL, TM_SEVERITY_ERROR);
      remove_folder (folder);
    }
}

/* Parts by their names alone: the set is opened and the missing keys are said; a single file of such a name is itself. */
static void
test_parts_without_keys (void)
{
  static const float values[4] = { 1, 2, 3, 4 };
  char *folder = make_folder ();

  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("m-%05u-of-00002.gguf", i);
      g_autofree char *path = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 1, 0);
      gguf_info (&gguf, i == 1 ? "a" : "b", 1, (guint64[]){ 4 }, 0, 0);
      gguf_pad (&gguf, 32);
      gguf_floats (&gguf, values, 4);
      gguf_pad (&gguf, 32);
      path = gguf_save (&gguf, folder, name);
      g_autoptr (TmModel) model = open_model (path);
      g_assert_cmpuint (model->stored->len, ==, i);
      g_assert_cmpuint (model->problems->len, ==, i == 1 ? 0 : 6);
    }
  remove_folder (folder);
}

static void
test_unreadable_part (void)
{
  static const Part parts[] = { { 0, 2, 2, "a", "x" }, { 0, 0, 0, NULL, NULL } };
  char *folder;
  g_autoptr (TmModel) first G_GNUC_UNUSED = open_parts (&folder, parts, 2, 0);
  g_autofree char *path = g_build_filename (folder, "m-00001-of-00002.gguf", NULL);
  g_autofree char *other G_GNUC_UNUSED = write_file (folder, "m-00002-of-00002.gguf", "GGUF\3", 5);
  g_autoptr (TmModel) model = open_model (path);

  assert_problem (model, "shard-unreadable", NULL, TM_SEVERITY_ERROR);
  g_assert_cmpuint (model->stored->len, ==, 1);
  remove_folder (folder);
}

static void
test_part_of_another_name (void)
{
  static const Part part = { 0, 2, 2, "a", "x" };
  char *folder = make_folder ();
  g_autofree char *path = write_part (folder, "renamed.gguf", &part);
  g_autoptr (TmModel) model = open_model (path);

  assert_problem (model, "split-name", NULL, TM_SEVERITY_ERROR);
  g_assert_cmpuint (model->stored->len, ==, 1);
  remove_folder (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sets/index", test_index);
  g_test_add_func ("/sets/absent", test_absent);
  g_test_add_func ("/sets/follow-index", test_follow_index);
  g_test_add_func ("/sets/folder-without-index", test_folder_without_index);
  g_test_add_func ("/sets/index-is-a-folder", test_index_is_a_folder);
  g_test_add_func ("/sets/folder-kinds", test_folder_kinds);
  g_test_add_func ("/sets/unlisted-copy", test_unlisted_copy);
  g_test_add_func ("/sets/all-missing", test_all_missing);
  g_test_add_func ("/sets/index-of-others", test_index_of_others);
  g_test_add_func ("/sets/backslash", test_backslash);
  g_test_add_func ("/sets/twice-in-a-shard", test_twice_in_a_shard);
  g_test_add_func ("/sets/large-config", test_large_config);
  g_test_add_func ("/sets/links", test_links);
  g_test_add_func ("/sets/config", test_config);
  g_test_add_func ("/sets/split/metadata-only-first", test_metadata_only_first);
  g_test_add_func ("/sets/split/missing-part", test_missing_part);
  g_test_add_func ("/sets/split/set-errors", test_set_errors);
  g_test_add_func ("/sets/split/parts-without-keys", test_parts_without_keys);
  g_test_add_func ("/sets/split/unreadable-part", test_unreadable_part);
  g_test_add_func ("/sets/split/another-name", test_part_of_another_name);
  g_test_add_func ("/traps/B015", test_metadata_only_first);
  g_test_add_func ("/traps/B015/missing", test_missing_part);
  return g_test_run ();
}
