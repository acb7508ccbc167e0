#include <string.h>

#include "io/error.h"
#include "model/model.h"

static TmStored *
add_stored (TmModel *model, const char *name)
{
  TmStored *stored = g_new0 (TmStored, 1);

  stored->name = g_strdup (name);
  stored->shape = g_new0 (guint64, 1);
  stored->stride = g_new0 (gint64, 1);
  g_ptr_array_add (model->stored, stored);
  return stored;
}

static TmTensor *
add_tensor (TmModel *model, const char *name, TmDtype dtype, guint64 elements, guint64 bytes)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);

  tensor->name = g_strdup (name);
  tensor->dtype = dtype;
  tensor->dtype_label = tm_dtype_get_name (dtype);
  tensor->quantized = tm_dtype_get_info (dtype)->quantized;
  tensor->rank = 1;
  tensor->shape = g_new0 (guint64, 1);
  tensor->stride = g_new0 (gint64, 1);
  tensor->shape[0] = tensor->n_elements = elements;
  tensor->bytes = bytes;
  g_ptr_array_add (model->tensors, tensor);
  return tensor;
}

static void
test_names (void)
{
  static const char *const names[] = { "a", "b", "a", "", "a#2", "b#7", "a", "c#01" };
  g_autoptr (TmModel) model = tm_model_new ("/folder/m.gguf");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      add_stored (model, names[i]);
      add_tensor (model, names[i], TM_DTYPE_F32, 1, 4);
    }
  tm_model_seal (model);
  for (int pass = 0; pass < 2; pass++)
    {
      gint64 (*find) (TmModel *, const char *) = pass == 0 ? tm_model_find_tensor : tm_model_find_stored;

      g_assert_cmpint (find (model, "a"), ==, 0);
      g_assert_cmpint (find (model, "a#1"), ==, 0);
      g_assert_cmpint (find (model, "a#2"), ==, 4); /* the exact whole name wins */
      g_assert_cmpint (find (model, "a#3"), ==, 6);
      g_assert_cmpint (find (model, "a#4"), ==, -1);
      g_assert_cmpint (find (model, "a#0"), ==, -1);
      g_assert_cmpint (find (model, "a#03"), ==, -1);
      g_assert_cmpint (find (model, "a#"), ==, -1);
      g_assert_cmpint (find (model, "a#99999999999999999999999"), ==, -1);
      g_assert_cmpint (find (model, "b"), ==, 1);
      g_assert_cmpint (find (model, "b#1"), ==, -1); /* unique names have no number */
      g_assert_cmpint (find (model, "b#7"), ==, 5);
      g_assert_cmpint (find (model, ""), ==, 3);
      g_assert_cmpint (find (model, "c#01"), ==, 7);
      g_assert_cmpint (find (model, "d"), ==, -1);
    }
  g_assert_cmpuint (tm_model_tensor (model, 0)->ordinal, ==, 1);
  g_assert_cmpuint (tm_model_tensor (model, 2)->ordinal, ==, 2);
  g_assert_cmpuint (tm_model_tensor (model, 6)->ordinal, ==, 3);
  g_assert_cmpuint (tm_model_tensor (model, 1)->ordinal, ==, 0);
  g_assert_cmpstr (model->title, ==, "m.gguf");
  g_assert_nonnull (model->root);
}

static void
test_totals (void)
{
  g_autoptr (TmModel) model = tm_model_new ("m");
  g_autoptr (GArray) dtypes = NULL;
  g_autofree char *text = NULL;
  const TmDtypeCount *count;

  add_tensor (model, "n", TM_DTYPE_F32, 64, 256);
  add_tensor (model, "a", TM_DTYPE_Q4_K, 512, 288);
  add_tensor (model, "b", TM_DTYPE_Q4_K, 256, 144);
  add_tensor (model, "c", TM_DTYPE_F32, 64, 256);
  model->architecture = g_strdup ("llama");
  tm_model_seal (model);
  g_assert_cmpuint (model->parameters, ==, 896);
  g_assert_cmpuint (model->bytes, ==, 944);
  g_assert_cmpuint (model->n_quantized, ==, 2);
  dtypes = tm_model_count_dtypes (model);
  g_assert_cmpuint (dtypes->len, ==, 2);
  count = &g_array_index (dtypes, TmDtypeCount, 0);
  g_assert_cmpstr (count->dtype, ==, "Q4_K");
  g_assert_cmpuint (count->tensors, ==, 2);
  g_assert_cmpuint (count->parameters, ==, 768);
  g_assert_cmpuint (count->bytes, ==, 432);
  text = tm_model_describe (model);
  g_assert_nonnull (strstr (text, " parameters · "));
  g_assert_nonnull (strstr (text, " · llama · 8.43 bits/weight"));
}

static void
test_saturates (void)
{
  g_autoptr (TmModel) model = tm_model_new ("m");

  add_tensor (model, "a", TM_DTYPE_F32, G_MAXUINT64 - 1, G_MAXUINT64 - 1);
  add_tensor (model, "b", TM_DTYPE_F32, 5, 20);
  tm_model_seal (model);
  g_assert_cmpuint (model->parameters, ==, G_MAXUINT64);
  g_assert_cmpuint (model->bytes, ==, G_MAXUINT64);
}

static void
test_granularities (void)
{
  static const char *const labels[] = { "super-block", "sub-block" };
  guint64 shape[2] = { 4, 512 }, q4[4] = { 1, 256, 1, 32 }, q6[4] = { 1, 256, 1, 16 };
  g_autoptr (TmModel) model = tm_model_new ("m");
  g_autoptr (GArray) counts = NULL;
  const TmGranularityCount *row;

  for (guint i = 0; i < 6; i++)
    {
      TmTensor *tensor = add_tensor (model, "t", i < 3 ? TM_DTYPE_Q4_K : i < 5 ? TM_DTYPE_Q6_K : TM_DTYPE_F32, 2048, 1152);

      if (i < 5)
        tensor->granularity = tm_granularity_new (2, shape, FALSE, 2, i < 3 ? q4 : q6, labels);
    }
  tm_model_seal (model);
  counts = tm_model_count_granularities (model);
  g_assert_cmpuint (counts->len, ==, 3);
  row = &g_array_index (counts, TmGranularityCount, 0);
  g_assert_cmpuint (row->tensors, ==, 3);
  g_assert_cmpstr (row->dtype, ==, "Q4_K");
  g_assert_cmpuint (row->granularity->level[1].extent[1], ==, 32);
  row = &g_array_index (counts, TmGranularityCount, 2);
  g_assert_null (row->granularity);
  g_assert_cmpstr (row->dtype, ==, "F32");
}

static void
test_problems (void)
{
  g_autoptr (TmModel) model = tm_model_new ("m");
  g_autoptr (GBytes) bytes = g_bytes_new_static ("", 0);
  g_autoptr (TmSource) source = tm_source_new_bytes ("dir/file.gguf", bytes);
  const TmProblem *problem;

  tm_model_add_problem (model, TM_SEVERITY_ERROR, "past-end", source, 12, "w", "tensor \"%s\" ends", "w");
  tm_model_add_problem (model, TM_SEVERITY_WARNING, "gap", NULL, TM_NO_OFFSET, NULL, "a gap");
  tm_model_add_problem (model, TM_SEVERITY_NOTE, "trailing-bytes", NULL, 3, NULL, "rest");
  problem = g_ptr_array_index (model->problems, 0);
  g_assert_cmpstr (problem->message, ==, "tensor \"w\" ends");
  g_assert_cmpstr (problem->file, ==, "file.gguf");
  g_assert_cmpstr (problem->tensor, ==, "w");
  g_assert_cmpuint (problem->offset, ==, 12);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_ERROR), ==, 1);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 2);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_NOTE), ==, 3);
  g_assert_cmpstr (tm_severity_get_name (TM_SEVERITY_NOTE), ==, "note");
  g_assert_cmpstr (tm_severity_get_name (TM_SEVERITY_WARNING), ==, "warning");
  g_assert_cmpstr (tm_severity_get_name (TM_SEVERITY_ERROR), ==, "error");
}

static void
test_modules (void)
{
  TmModule *root = tm_module_new ("", "", NULL);
  TmModule *block = tm_module_new ("blk.0", "blk.0", root);
  TmModule *other = tm_module_new ("blk", "blk", root);
  TmModule *attention = tm_module_new ("attn", "blk.0.attn", block);
  TmModule *deep = root;
  TmFold folds[] = { { 2, 3 }, { 7, 2 } };

  g_assert_true (tm_module_find (root, "") == root);
  g_assert_true (tm_module_find (root, "blk.0") == block);
  g_assert_true (tm_module_find (root, "blk") == other);
  g_assert_true (tm_module_find (root, "blk.0.attn") == attention);
  g_assert_null (tm_module_find (root, "blk.0.att"));
  g_assert_null (tm_module_find (root, "blk.00"));
  g_assert_cmpint (attention->number, ==, -1);
  g_assert_true (attention->parent == block);

  for (guint i = 0; i < G_N_ELEMENTS (folds); i++)
    tm_module_add_fold (root, folds[i]);
  for (guint child = 0; child < 12; child++)
    {
      const TmFold *fold = tm_module_get_fold (root, child);

      if (child >= 2 && child < 5)
        g_assert_cmpuint (fold->first, ==, 2);
      else if (child >= 7 && child < 9)
        g_assert_cmpuint (fold->first, ==, 7);
      else
        g_assert_null (fold);
    }

  /* Freeing does not recurse. */
  for (guint i = 0; i < 200000; i++)
    deep = tm_module_new ("x", "x", deep);
  tm_module_free (root);
}

/* --- Metadata --------------------------------------------------------------------------------------------------------- */

static void
test_metadata_format (void)
{
  static const struct { TmMetadata entry; const char *text; } rows[] = {
    { { .type = TM_META_U64, .as.u = G_MAXUINT64 }, "18446744073709551615" },
    { { .type = TM_META_I64, .as.i = G_MININT64 }, "-9223372036854775808" },
    { { .type = TM_META_I8, .as.i = -5 }, "-5" },
    { { .type = TM_META_F32, .as.f = (double) 0.1f }, "0.1" },
    { { .type = TM_META_F64, .as.f = 0.1 }, "0.1" },
    { { .type = TM_META_BOOL, .as.b = TRUE, .raw_bool = 1 }, "true" },
    { { .type = TM_META_BOOL, .as.b = TRUE, .raw_bool = 2 }, "true (stored as 2)" },
    { { .type = TM_META_STRING, .string = (char *) "a\nb", .string_length = 3 }, "a\\nb" },
    { { .type = TM_META_JSON, .string = (char *) "[1,2]", .string_length = 5 }, "[1,2]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = tm_metadata_format (&rows[i].entry, 16);

      g_assert_cmpstr (text, ==, rows[i].text);
    }
}

static void
test_metadata_array (void)
{
  static const guint8 data[] = { 1, 0, 2, 0, 3, 0, 4, 0 };
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, sizeof data);
  g_autoptr (TmSource) source = tm_source_new_bytes ("x", bytes);
  TmMetadata entry = { .type = TM_META_ARRAY, .item_type = TM_META_U16, .n_items = 4, .source = source, .size = 8, .version = 3 };
  g_autofree char *whole = tm_metadata_format (&entry, 4);
  g_autofree char *part = tm_metadata_format (&entry, 2);
  g_autofree char *none = tm_metadata_format (&entry, 0);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (whole, ==, "[1, 2, 3, 4]");
  g_assert_cmpstr (part, ==, "[1, 2, … 4 items]");
  g_assert_cmpstr (none, ==, "[… 4 items]");
  entry.n_items = 5; /* one more than its bytes hold */
  g_assert_null (tm_metadata_read_items (&entry, 5, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_TRUNCATED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/names", test_names);
  g_test_add_func ("/model/totals", test_totals);
  g_test_add_func ("/model/saturates", test_saturates);
  g_test_add_func ("/model/granularities", test_granularities);
  g_test_add_func ("/model/problems", test_problems);
  g_test_add_func ("/model/modules", test_modules);
  g_test_add_func ("/model/metadata-format", test_metadata_format);
  g_test_add_func ("/model/metadata-array", test_metadata_array);
  return g_test_run ();
}
