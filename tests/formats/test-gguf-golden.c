/* Every file of golden/gguf: the answers of formats/ggml.md 5.4, and what the library's own reader found in valid ones. */
#include <errno.h>
#include <stdlib.h>

#include "formats-test.h"

typedef struct
{
  const char *file;
  int refused;          /* error code, or −1: it opens */
  const char *says;     /* refused: part of the message; opens: problem code, NULL for none at all */
  TmSeverity severity;  /* of that problem */
} Answer;

static const Answer bad[] = {
  { "empty.gguf", TM_ERROR_KIND, "empty", 0 },
  { "magic-only.gguf", TM_ERROR_TRUNCATED, "byte 4", 0 },
  { "magic-wrong.gguf", TM_ERROR_FORMAT, "no GGUF magic at byte 0", 0 },
  { "ggml-old-magic.gguf", TM_ERROR_KIND, "before GGUF", 0 },
  { "version-0.gguf", TM_ERROR_FORMAT, "version 0 at byte 4", 0 },
  { "version-4.gguf", TM_ERROR_FORMAT, "version 4 at byte 4", 0 },
  { "version-swapped-only.gguf", TM_ERROR_FORMAT, "byte 8", 0 },
  { "ends-in-header.gguf", TM_ERROR_TRUNCATED, "byte 20", 0 },
  { "ends-in-key.gguf", TM_ERROR_FORMAT, "16 bytes left", 0 },
  { "n-tensors-2p63.gguf", TM_ERROR_FORMAT, "byte 8", 0 },
  { "n-tensors-1e12.gguf", TM_ERROR_FORMAT, "byte 8", 0 },
  { "n-tensors-plus-1.gguf", TM_ERROR_FORMAT, "more tensors than it lists", 0 },
  { "n-kv-1e12.gguf", TM_ERROR_FORMAT, "byte 16", 0 },
  { "key-length-2p62.gguf", TM_ERROR_TRUNCATED, "byte 24", 0 },
  { "key-length-max.gguf", TM_ERROR_TRUNCATED, "byte 24", 0 },
  { "key-empty.gguf", -1, "empty-key", TM_SEVERITY_WARNING },
  { "key-duplicate.gguf", -1, "duplicate-key", TM_SEVERITY_WARNING },
  { "kv-type-13.gguf", TM_ERROR_FORMAT, "type 13 at byte 33", 0 },
  { "array-type-13.gguf", TM_ERROR_FORMAT, "type 13 at byte 37", 0 },
  { "array-count-wraps.gguf", TM_ERROR_TRUNCATED, "byte 41", 0 },
  { "array-strings-1e12.gguf", TM_ERROR_TRUNCATED, "byte 41", 0 },
  { "array-nested-20000.gguf", TM_ERROR_FORMAT, "nested deeper than 8", 0 },
  { "alignment-0.gguf", TM_ERROR_FORMAT, "general.alignment 0 at byte 24", 0 },
  { "alignment-48.gguf", TM_ERROR_FORMAT, "general.alignment 48 at byte 24", 0 },
  { "alignment-u64.gguf", TM_ERROR_FORMAT, "must be u32 but is u64", 0 },
  { "alignment-str.gguf", TM_ERROR_FORMAT, "must be u32 but is string", 0 },
  { "alignment-2p31.gguf", TM_ERROR_FORMAT, "2147483648 at byte 24", 0 },
  { "alignment-64-laid-out-32.gguf", -1, "misaligned", TM_SEVERITY_WARNING },
  { "tensor-duplicate.gguf", -1, "duplicate-name", TM_SEVERITY_WARNING },
  { "tensor-name-empty.gguf", -1, NULL, 0 },
  { "n-dims-2p32.gguf", TM_ERROR_FORMAT, "byte 33", 0 },
  { "dim-negative.gguf", -1, "shape-overflow", TM_SEVERITY_ERROR },
  { "dims-overflow.gguf", -1, "shape-overflow", TM_SEVERITY_ERROR },
  { "dims-product-negative.gguf", -1, "shape-overflow", TM_SEVERITY_ERROR },
  { "dims-wrap-to-small.gguf", -1, "shape-overflow", TM_SEVERITY_ERROR },
  { "dims-bytes-overflow.gguf", -1, "shape-overflow", TM_SEVERITY_ERROR },
  { "type-4.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-5.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-31.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-33.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-36.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-38.gguf", -1, "removed-dtype", TM_SEVERITY_ERROR },
  { "type-43.gguf", -1, "unknown-dtype", TM_SEVERITY_ERROR },
  { "type-999.gguf", -1, "unknown-dtype", TM_SEVERITY_ERROR },
  { "type-4294967295.gguf", -1, "unknown-dtype", TM_SEVERITY_ERROR },
  { "row-not-multiple.gguf", -1, "row-not-blocks", TM_SEVERITY_ERROR },
  { "offset-misaligned.gguf", -1, "past-end", TM_SEVERITY_ERROR },
  { "offset-past-end.gguf", -1, "past-end", TM_SEVERITY_ERROR },
  { "offset-wraps.gguf", -1, "past-end", TM_SEVERITY_ERROR },
  { "overlap.gguf", -1, "overlap", TM_SEVERITY_WARNING },
  { "data-one-byte-short.gguf", -1, "past-end", TM_SEVERITY_ERROR },
  { "data-missing.gguf", -1, "past-end", TM_SEVERITY_ERROR },
};

static const Answer hand[] = {
  { "v3-little.gguf", -1, NULL, 0 },
  { "v2-little.gguf", -1, NULL, 0 },
  { "v1-little.gguf", -1, "version-1", TM_SEVERITY_WARNING },
  { "v3-big.gguf", -1, "big-endian", TM_SEVERITY_WARNING },
  { "v3-nested-arrays.gguf", -1, "nested-array", TM_SEVERITY_WARNING },
  { "v3-long-name.gguf", -1, "long-name", TM_SEVERITY_WARNING },
  { "v3-five-dims.gguf", -1, "many-dimensions", TM_SEVERITY_WARNING },
  { "v3-zero-dims.gguf", -1, NULL, 0 },
  { "v3-empty-tensor.gguf", -1, NULL, 0 },
  { "v3-offsets-not-in-order.gguf", -1, "tensor-order", TM_SEVERITY_WARNING },
  { "v3-gap.gguf", -1, "gap", TM_SEVERITY_WARNING },
  { "v3-no-tail-padding.gguf", -1, "no-tail-padding", TM_SEVERITY_WARNING },
  { "v3-trailing-bytes.gguf", -1, "trailing-bytes", TM_SEVERITY_NOTE },
  { "v3-bool-2.gguf", -1, "odd-bool", TM_SEVERITY_WARNING },
  { "v3-string-with-nul.gguf", -1, NULL, 0 },
  { "v3-header-only.gguf", -1, NULL, 0 },
};

static void
check_answer (const char *folder, const Answer *answer)
{
  g_autofree char *path = golden (folder, answer->file);

  g_test_message ("%s", answer->file);
  if (answer->refused >= 0)
    {
      g_autofree char *message = refuse (path, answer->refused);

      if (strstr (message, answer->says) == NULL)
        g_error ("%s: \"%s\" does not say \"%s\"", answer->file, message, answer->says);
    }
  else
    {
      g_autoptr (TmModel) model = open_model (path);

      if (answer->says == NULL)
        g_assert_cmpuint (model->problems->len, ==, 0);
      else
        assert_problem (model, answer->says, NULL, answer->severity);
      /* An error about a tensor is the tensor's fault in the same words, and the other way round. */
      for (guint i = 0; i < model->stored->len; i++)
        {
          const TmStored *stored = tm_model_stored (model, i);
          guint errors = 0;

          for (guint j = 0; j < model->problems->len; j++)
            {
              const TmProblem *problem = g_ptr_array_index (model->problems, j);

              if (problem->severity == TM_SEVERITY_ERROR && g_strcmp0 (problem->tensor, stored->name) == 0)
                {
                  if (errors++ == 0)
                    g_assert_cmpstr (problem->message, ==, stored->fault);
                }
            }
          g_assert_cmpint (errors > 0, ==, stored->fault != NULL);
        }
    }
}

static void
test_bad (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    check_answer ("gguf/bad", &bad[i]);
}

static void
test_hand (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (hand); i++)
    check_answer ("gguf/hand", &hand[i]);
}

/* No file of a folder is left out, and what the library refuses we refuse or warn of. */
static void
check_manifest (const char *folder, const Answer *answers, guint n, guint answer_column, guint data_column)
{
  g_autofree char *path = golden (folder, "manifest.tsv");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n_lines = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], "\t", -1);
      gboolean rejects = strcmp (cells[answer_column], "OK") != 0 || strcmp (cells[data_column], "OK") != 0;
      const Answer *answer = NULL;

      n_lines++;
      for (guint j = 0; j < n; j++)
        if (strcmp (answers[j].file, cells[0]) == 0)
          answer = &answers[j];
      g_assert_nonnull (answer);
      if (rejects && answer->refused < 0)
        {
          g_autofree char *file = golden (folder, cells[0]);
          g_autoptr (TmModel) model = open_model (file);

          if (tm_model_count_problems (model, TM_SEVERITY_WARNING) == 0)
            g_error ("%s: the library refuses it, we say nothing", cells[0]);
        }
    }
  g_assert_cmpuint (n_lines, ==, n);
}

static void
test_strict (void)
{
  check_manifest ("gguf/bad", bad, G_N_ELEMENTS (bad), 1, 2);
  check_manifest ("gguf/hand", hand, G_N_ELEMENTS (hand), 3, 3);
}

static void
assert_shape (const TmStored *stored, guint rank, const guint64 *shape)
{
  gint64 stride = 1;

  g_assert_cmpuint (stored->rank, ==, rank);
  for (guint axis = rank; axis-- > 0;)
    {
      g_assert_cmpuint (stored->shape[axis], ==, shape[axis]);
      g_assert_cmpint (stored->stride[axis], ==, stride);
      stride *= (gint64) shape[axis];
    }
}

/* The same two tensors and three keys in every version and byte order. */
static void
test_versions (void)
{
  static const char *const files[] = { "v3-little.gguf", "v2-little.gguf", "v1-little.gguf", "v3-big.gguf" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = golden ("gguf/hand", files[i]);
      g_autoptr (TmModel) model = open_model (path);
      const TmStored *w = find_stored (model, "w.f32"), *q = find_stored (model, "w.q8_0");

      g_assert_cmpstr (model->format, ==, "GGUF");
      g_assert_cmpint (model->version[0], ==, files[i][1]);
      g_assert_cmpstr (model->byte_order, ==, strstr (files[i], "big") ? "big" : "little");
      g_assert_cmpstr (model->architecture, ==, "llama");
      g_assert_cmpuint (model->metadata->len, ==, 3);
      g_assert_cmpuint (model->stored->len, ==, 2);
      assert_shape (w, 2, (guint64[]){ 3, 64 });
      assert_shape (q, 2, (guint64[]){ 3, 64 });
      g_assert_cmpint (w->dtype, ==, TM_DTYPE_F32);
      g_assert_cmpint (q->dtype, ==, TM_DTYPE_Q8_0);
      g_assert_cmpuint (w->bytes, ==, 768);
      g_assert_cmpuint (q->bytes, ==, 204);
      g_assert_cmpint (w->big_endian, ==, strstr (files[i], "big") != NULL);
      g_assert_null (w->fault);
    }
}

/* --- valid: what the library's reader found ------------------------------------------------------------------------- */

static void
append_value (GString *text, const TmMetadata *entry)
{
  switch (entry->type)
    {
    case TM_META_U8: case TM_META_U16: case TM_META_U32: case TM_META_U64:
      g_string_append_printf (text, "%" G_GUINT64_FORMAT, entry->as.u);
      break;
    case TM_META_I8: case TM_META_I16: case TM_META_I32: case TM_META_I64:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, entry->as.i);
      break;
    case TM_META_F32:
      g_string_append_printf (text, "%.9g", entry->as.f);
      break;
    case TM_META_F64:
      g_string_append_printf (text, "%.17g", entry->as.f);
      break;
    case TM_META_BOOL:
      g_string_append (text, entry->as.b ? "true" : "false");
      break;
    case TM_META_STRING:
      g_string_append_c (text, '"');
      for (gsize i = 0; i < entry->string_length; i++)
        {
          guchar c = (guchar) entry->string[i];

          if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
            g_string_append_c (text, (char) c);
          else
            g_string_append_printf (text, "\\x%02x", c);
        }
      g_string_append_c (text, '"');
      break;
    default:
      g_assert_not_reached ();
    }
}

static const char *
get_short_type (TmMetaType type)
{
  return type == TM_META_STRING ? "str" : type == TM_META_ARRAY ? "arr" : tm_meta_type_get_name (type);
}

static void
check_kv (TmModel *model, const char *name)
{
  g_autofree char *base = g_strconcat (name, ".kv.tsv", NULL);
  g_autofree char *path = golden ("gguf/valid", base);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++, n++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], "\t", -1);
      const TmMetadata *entry = g_ptr_array_index (model->metadata, n);
      g_autoptr (GString) value = g_string_new (NULL);

      g_assert_cmpstr (entry->key, ==, cells[0]);
      g_assert_cmpstr (get_short_type (entry->type), ==, cells[1]);
      if (entry->type == TM_META_ARRAY)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (GPtrArray) items = tm_metadata_read_items (entry, G_MAXUINT64, &error);

          g_assert_no_error (error);
          g_assert_cmpstr (get_short_type (entry->item_type), ==, cells[2]);
          g_assert_cmpuint (entry->n_items, ==, g_ascii_strtoull (cells[3], NULL, 10));
          g_assert_cmpuint (items->len, ==, entry->n_items);
          for (guint j = 0; j < items->len; j++)
            {
              if (j > 0)
                g_string_append_c (value, ',');
              append_value (value, g_ptr_array_index (items, j));
            }
        }
      else
        append_value (value, entry);
      g_assert_cmpstr (value->str, ==, cells[4] != NULL ? cells[4] : "");
    }
  g_assert_cmpuint (model->metadata->len, ==, n);
}

static void
check_tensors (TmModel *model, const char *name)
{
  g_autofree char *base = g_strconcat (name, ".tensors.tsv", NULL);
  g_autofree char *path = golden ("gguf/valid", base);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++, n++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], "\t", -1);
      const TmStored *stored = tm_model_stored (model, n);
      g_autofree guint8 *bytes = g_malloc (MAX (stored->bytes, 1));
      g_autofree char *sum = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_cmpstr (stored->name, ==, cells[0]);
      g_assert_cmpstr (tm_dtype_get_name (stored->dtype), ==, cells[1]);
      g_assert_cmpuint (stored->rank, ==, g_ascii_strtoull (cells[3], NULL, 10));
      for (guint axis = 0; axis < stored->rank; axis++)
        g_assert_cmpuint (stored->shape[stored->rank - 1 - axis], ==, g_ascii_strtoull (cells[4 + axis], NULL, 10));
      g_assert_cmpuint (stored->offset, ==, g_ascii_strtoull (cells[9], NULL, 10));
      g_assert_cmpuint (stored->bytes, ==, g_ascii_strtoull (cells[10], NULL, 10));
      g_assert_cmpuint (stored->n_elements, ==, g_ascii_strtoull (cells[11], NULL, 10));
      g_assert_null (stored->fault);
      g_assert_true (tm_source_read (stored->source, stored->offset, bytes, stored->bytes, &error));
      sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes, stored->bytes);
      g_assert_cmpstr (sum, ==, cells[15]);
    }
  g_assert_cmpuint (model->stored->len, ==, n);
}

static void
test_valid (gconstpointer data)
{
  const char *name = data;
  g_autofree char *file = g_strconcat (name, ".gguf", NULL);
  g_autofree char *path = golden ("gguf/valid", file);
  g_autoptr (TmModel) model = open_model (path);

  g_assert_cmpuint (model->problems->len, ==, 0);
  check_kv (model, name);
  check_tensors (model, name);
}

/* The two parts: opening either gives both, and each part's table is its half. */
static void
test_valid_split (void)
{
  for (int opened = 1; opened <= 2; opened++)
    {
      g_autofree char *name = g_strdup_printf ("tiny-split-%05d-of-00002.gguf", opened);
      g_autofree char *path = golden ("gguf/valid", name);
      g_autoptr (TmModel) model = open_model (path);
      guint n = 0;

      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpuint (model->files->len, ==, 2);
      g_assert_cmpstr (model->architecture, ==, "llama");
      g_assert_cmpstr (model->name, ==, "split in two");
      check_kv (model, "tiny-split-00001-of-00002");
      for (int part = 1; part <= 2; part++)
        {
          g_autofree char *table = g_strdup_printf ("tiny-split-%05d-of-00002.tensors.tsv", part);
          g_autofree char *table_path = golden ("gguf/valid", table);
          g_autofree char *text = NULL;
          g_auto (GStrv) lines = NULL;

          g_assert_true (g_file_get_contents (table_path, &text, NULL, NULL));
          lines = g_strsplit (text, "\n", -1);
          for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++, n++)
            {
              g_auto (GStrv) cells = g_strsplit (lines[i], "\t", -1);
              const TmStored *stored = tm_model_stored (model, n);

              g_assert_cmpstr (stored->name, ==, cells[0]);
              g_assert_cmpuint (stored->offset, ==, g_ascii_strtoull (cells[9], NULL, 10));
              g_assert_true (stored->source == g_ptr_array_index (model->files, part - 1));
            }
        }
      g_assert_cmpuint (model->stored->len, ==, n);
    }
}

int
main (int argc, char *argv[])
{
  static const char *const valid[] = { "align-64", "all-types", "kv-all-types", "moe-stacked", "tiny-llama-mixed" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gguf/bad", test_bad);
  g_test_add_func ("/gguf/hand", test_hand);
  g_test_add_func ("/gguf/as-strict-as-the-library", test_strict);
  g_test_add_func ("/gguf/versions", test_versions);
  for (guint i = 0; i < G_N_ELEMENTS (valid); i++)
    {
      g_autofree char *path = g_strconcat ("/gguf/valid/", valid[i], NULL);

      g_test_add_data_func (path, valid[i], test_valid);
    }
  g_test_add_func ("/gguf/valid/tiny-split", test_valid_split);
  return g_test_run ();
}
