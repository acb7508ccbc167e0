/* Every golden vector of integer codes in packed words: bit for bit, with config.json and without. */
#include <math.h>
#include <string.h>

#include "model/group-range.h"
#include "recognise/conv-check.h"

typedef struct
{
  const char *folder, *scheme, *dtype;
  guint bits;
  guint64 group;
  gint symmetric;
  gboolean permuted;
  const char *key, *value; /* what must be asked for where no config tells; NULL where the tensors do */
} Case;

static const Case cases[] = {
  { "gptq-2bit", "gptq", "U2", 2, 32, 0, FALSE, NULL, NULL },
  { "gptq-3bit", "gptq", "U3", 3, 32, 0, FALSE, NULL, NULL },
  { "gptq-4bit-asym-desc_act", "gptq", "U4", 4, 32, 0, TRUE, NULL, NULL },
  { "gptq-4bit-g64-partial-last", "gptq", "U4", 4, 64, -2, FALSE, NULL, NULL },
  { "gptq-4bit-no-g_idx", "gptq", "U4", 4, 32, -2, FALSE, NULL, NULL },
  { "gptq-4bit-perchannel", "gptq", "U4", 4, 0, -2, FALSE, NULL, NULL },
  { "gptq-4bit-sym", "gptq", "U4", 4, 32, 1, FALSE, NULL, NULL },
  { "gptq-4bit-v1-zero-wraps", "gptq", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "gptq-8bit", "gptq", "U8", 8, 64, -2, FALSE, NULL, NULL },
  { "gptq_p-6bit", "gptq", "U6", 6, 32, 0, FALSE, "gptq-zeros", "v2" },
  { "gptq_v2-3bit", "gptq", "U3", 3, 32, 0, FALSE, "gptq-zeros", "v2" },
  { "gptq_v2-4bit-asym", "gptq", "U4", 4, 32, 0, FALSE, "gptq-zeros", "v2" },
  { "awq-gemm-4bit", "awq", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "awq-gemv-4bit", "awq", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "awq-gemv_fast-4bit", "awq", "U4", 4, 64, -1, FALSE, NULL, NULL },
  { "ct-pack-int3-dense", "compressed-tensors", "U3", 3, 32, 1, FALSE, NULL, NULL },
  { "ct-pack-int3-padded-old", "compressed-tensors", "U3", 3, 32, 1, FALSE, NULL, NULL },
  { "ct-pack-int4-actorder", "compressed-tensors", "U4", 4, 32, 1, TRUE, NULL, NULL },
  { "ct-pack-int4-asym", "compressed-tensors", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "ct-pack-int4-asym-odd-rows", "compressed-tensors", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "ct-pack-int4-asym-zp-unpacked-old", "compressed-tensors", "U4", 4, 32, 0, FALSE, NULL, NULL },
  { "ct-pack-int4-channel-odd-cols", "compressed-tensors", "U4", 4, 0, 1, FALSE, NULL, NULL },
  { "ct-pack-int4-sym", "compressed-tensors", "U4", 4, 32, 1, FALSE, NULL, NULL },
  { "ct-pack-int8", "compressed-tensors", "U8", 8, 32, 1, FALSE, NULL, NULL },
  { "ct-int-quantized-asym", "compressed-tensors", "I8", 8, 0, 0, FALSE, NULL, NULL },
  { "ct-int-quantized-w8a8", "compressed-tensors", "I8", 8, 0, 1, FALSE, NULL, NULL },
  { "modelopt-int4-awq", "modelopt", "I4", 4, 32, 1, FALSE, NULL, NULL },
  { "torchao-int8", "torchao", "I8", 8, 0, 1, FALSE, NULL, NULL },
  { "exl2-mixed-bits", "exl2", "U8", 8, 32, 1, TRUE, NULL, NULL },
};

static char *
golden_folder (const char *name)
{
  return g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant", name, NULL);
}

/* The range of a scalar's group, against every column of its row that shares the group, wherever it stands. */
static void
check_group_range (const TmTensor *tensor, guint64 row, guint64 column)
{
  const TmGranularity *granularity = tensor->granularity;
  guint64 n = tensor->shape[1], index[] = { row, column }, count = 0;
  g_autofree float *values = g_new (float, n);
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  float min = INFINITY, max = -INFINITY;
  TmGroupRange range;

  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  g_assert_no_error (error);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, row * n, n, values, NULL, NULL));
  for (guint64 j = 0; j < n; j++)
    {
      gboolean same = granularity->table ? granularity->table[j] == granularity->table[column]
                                         : j >= scalar.group_start[1] && j < scalar.group_end[1];

      if (!same)
        continue;
      min = fminf (min, values[j]);
      max = fmaxf (max, values[j]);
      count++;
    }
  g_assert_true (tm_tensor_get_group_range (tensor, &scalar, &range, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (range.count, ==, count);
  g_assert_cmpfloat (range.min, ==, min);
  g_assert_cmpfloat (range.max, ==, max);
  if (granularity->table)
    g_assert_cmpuint (tm_granularity_count_members (granularity, index[1]), ==, count);
}

static void
check_model (TmModel *model, const char *golden, const Case *c)
{
  const TmTensor *tensor = need_tensor (model, "model.layers.0.self_attn.q_proj.weight");

  check_golden (model, golden, NULL);
  g_assert_cmpuint (model->tensors->len, ==, 1);
  g_assert_cmpstr (tensor->scheme, ==, c->scheme);
  g_assert_cmpstr (tensor->dtype_label, ==, c->dtype);
  g_assert_cmpuint (tensor->code_bits, ==, c->bits);
  g_assert_cmpuint (tensor->group_size, ==, c->group);
  if (c->symmetric > -2)
    g_assert_cmpint (tensor->symmetric, ==, c->symmetric);
  g_assert_cmpint (tensor->granularity->table != NULL, ==, c->permuted);
  g_assert_false (tensor->config_conflict);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 0);
  check_agrees (tensor, 60);
  check_group_range (tensor, 3, 20);
  check_group_range (tensor, tensor->shape[0] - 1, tensor->shape[1] - 1);
}

static void
test_folder (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *golden = golden_folder (c->folder), *from = g_build_filename (golden, "model.safetensors", NULL);
  g_autoptr (TmModel) with = open_with (golden, NULL), without = NULL;
  g_autofree char *bytes = NULL, *to = NULL;
  char *folder = make_folder ();
  gsize length;

  check_model (with, golden, c);
  to = g_build_filename (folder, "model.safetensors", NULL);
  g_assert_true (g_file_get_contents (from, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents_full (to, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  without = c->key ? open_with (folder, c->key, c->value, NULL) : open_with (folder, NULL);
  check_model (without, golden, c);
  remove_folder (folder);
}

/* The GPTQ half of two conventions under one config. */
static void
test_sharded (void)
{
  g_autofree char *golden = golden_folder ("sharded-mixed");
  g_autoptr (TmModel) model = open_with (golden, NULL);
  guint n = 0;

  for (guint i = 0; i < model->tensors->len; i++)
    if (g_strcmp0 (tm_model_tensor (model, i)->scheme, "gptq") == 0)
      {
        check_golden (model, golden, tm_model_tensor (model, i)->name);
        check_agrees (tm_model_tensor (model, i), 30);
        n++;
      }
  g_assert_cmpuint (n, >, 0);
}

static guint8 *
make_noise (gsize n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint8 *bytes = g_malloc (n);

  for (gsize i = 0; i + 4 <= n; i += 4)
    {
      guint32 word = g_rand_int (rand);

      memcpy (bytes + i, &word, 4);
    }
  return bytes;
}

/* More rows than one stripe of the scratch holds, and no multiple of any stripe: GPTQ (act-order too) and AWQ. */
static void
test_large (gconstpointer data)
{
  const gboolean gptq = GPOINTER_TO_INT (data) != 0, act_order = GPOINTER_TO_INT (data) == 2;
  const guint n_rows = 1192, n_columns = 4096, n_groups = 32;
  g_autofree guint8 *words = make_noise (n_rows * n_columns / 2), *zeros = make_noise (n_groups * n_rows / 2);
  g_autofree guint16 *scales = g_new (guint16, n_groups * n_rows);
  g_autofree gint32 *index = g_new (gint32, n_columns);
  g_autoptr (TmModel) model = NULL;
  char *folder = make_folder ();
  Build build;

  for (guint i = 0; i < n_groups * n_rows; i++)
    scales[i] = (guint16) (0x2000 + i * 37 % 0x1000);
  for (guint i = 0; i < n_columns; i++)
    index[i] = (gint32) (act_order ? i * 2654435761u >> 27 : i / 128);
  build_init (&build);
  build_add (&build, "l.qweight", "I32", gptq ? "512,1192" : "4096,149", words, n_rows * n_columns / 2);
  build_add (&build, "l.qzeros", "I32", "32,149", zeros, n_groups * n_rows / 2);
  build_add (&build, "l.scales", "F16", "32,1192", scales, n_groups * n_rows * 2);
  if (gptq)
    build_add (&build, "l.g_idx", "I32", "4096", index, n_columns * 4);
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  g_assert_cmpint (need_tensor (model, "l.weight")->granularity->table != NULL, ==, act_order);
  check_agrees (need_tensor (model, "l.weight"), 60);
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/golden/", cases[i].folder, NULL);

      g_test_add_data_func (path, &cases[i], test_folder);
    }
  g_test_add_func ("/golden/sharded-mixed", test_sharded);
  g_test_add_data_func ("/large/awq", GINT_TO_POINTER (0), test_large);
  g_test_add_data_func ("/large/gptq", GINT_TO_POINTER (1), test_large);
  g_test_add_data_func ("/large/act-order", GINT_TO_POINTER (2), test_large);
  return g_test_run ();
}
