/* Every golden vector of the float codes, code books, MLX, HQQ, quanto and AQLM: bit for bit, with config.json and without. */
#include <string.h>

#include "recognise/conv-check.h"

typedef struct
{
  const char *folder, *scheme, *dtype;
  guint bits;
  guint64 group;
  const char *key, *value; /* what must be asked for where no config tells; NULL where shapes do */
} Case;

static const Case cases[] = {
  { "aqlm-2x8", "aqlm", "U8", 8, 8, NULL, NULL },
  { "bnb-fp4", "bitsandbytes", "FP4", 4, 64, NULL, NULL },
  { "bnb-int8", "bitsandbytes", "I8", 8, 0, NULL, NULL },
  { "bnb-nf4", "bitsandbytes", "NF4", 4, 64, NULL, NULL },
  { "bnb-nf4-nested", "bitsandbytes", "NF4", 4, 32, NULL, NULL },
  { "bnb-nf4-odd-rows-cross-blocks", "bitsandbytes", "NF4", 4, 64, NULL, NULL },
  { "bnb-nf4-storage-bf16", "bitsandbytes", "NF4", 4, 64, NULL, NULL },
  { "ct-float-quantized-block", "compressed-tensors", "F8_E4M3", 8, 128, NULL, NULL },
  { "ct-float-quantized-channel", "compressed-tensors", "F8_E4M3", 8, 0, NULL, NULL },
  { "ct-mxfp4", "compressed-tensors", "F4", 4, 32, NULL, NULL },
  { "ct-mxfp8", "compressed-tensors", "F8_E4M3", 8, 32, NULL, NULL },
  { "ct-nvfp4", "compressed-tensors", "F4", 4, 16, NULL, NULL },
  { "deepseek-v4-fp4-expert", "mxfp4", "F4", 4, 32, NULL, NULL },
  { "fp8-block-128x128-edge", "fp8", "F8_E4M3", 8, 128, NULL, NULL },
  { "fp8-block-ue8m0-scale", "fp8", "F8_E4M3", 8, 128, NULL, NULL },
  { "fp8-e5m2-per-tensor", "fp8", "F8_E5M2", 8, 0, NULL, NULL },
  { "fp8-per-tensor", "fp8", "F8_E4M3", 8, 0, NULL, NULL },
  { "hqq-1bit-axis1", "hqq", "U1", 1, 32, NULL, NULL },
  { "hqq-2bit-axis0", "hqq", "U2", 2, 0, NULL, NULL },
  { "hqq-3bit-axis1", "hqq", "U3", 3, 64, NULL, NULL },
  { "hqq-4bit-axis1", "hqq", "U4", 4, 64, NULL, NULL },
  { "hqq-8bit-axis1", "hqq", "U8", 8, 64, NULL, NULL },
  { "mlx-affine-2bit", "mlx", "U2", 2, 32, NULL, NULL },
  { "mlx-affine-3bit", "mlx", "U3", 3, 32, NULL, NULL },
  { "mlx-affine-4bit", "mlx", "U4", 4, 64, NULL, NULL },
  { "mlx-affine-5bit", "mlx", "U5", 5, 32, NULL, NULL },
  { "mlx-affine-6bit", "mlx", "U6", 6, 32, "bits", "6" },
  { "mlx-affine-8bit", "mlx", "U8", 8, 32, "group", "32" },
  { "mlx-mxfp4", "mlx", "F4", 4, 32, NULL, NULL },
  { "mlx-mxfp8", "mlx", "F8_E4M3", 8, 32, NULL, NULL },
  { "mlx-nvfp4", "mlx", "F4", 4, 16, NULL, NULL },
  { "modelopt-nvfp4", "modelopt", "F4", 4, 16, NULL, NULL },
  { "mxfp4-gpt-oss-hf", "mxfp4", "F4", 4, 32, NULL, NULL },
  { "mxfp4-gpt-oss-original", "mxfp4", "F4", 4, 32, NULL, NULL },
  { "quanto-qint2", "quanto", "U2", 2, 32, NULL, NULL },
  { "quanto-qint4", "quanto", "U4", 4, 64, NULL, NULL },
  { "quanto-qint4-intshift", "quanto", "U4", 4, 32, NULL, NULL },
  { "quanto-qint8", "quanto", "I8", 8, 0, NULL, NULL },
};

static char *
golden_folder (const char *name)
{
  return g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant", name, NULL);
}

/* A copy without config.json; quanto's packed weights get a bias, which is what gives their shape. */
static char *
copy_folder (const char *from, const Case *c, gboolean with_config)
{
  g_autofree char *model = g_build_filename (from, "model.safetensors", NULL), *bytes = NULL;
  g_autofree char *config = g_build_filename (from, "config.json", NULL), *text = NULL;
  char *folder = make_folder ();
  g_autofree char *to = g_build_filename (folder, "model.safetensors", NULL);
  gsize length;

  g_assert_true (g_file_get_contents (model, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents_full (to, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  if (with_config && g_file_get_contents (config, &text, NULL, NULL))
    write_text (folder, "config.json", text);
  if (strcmp (c->scheme, "quanto") == 0 && c->bits < 8)
    {
      Build build;

      build_init (&build);
      build_add (&build, "model.layers.0.self_attn.q_proj.bias", "F32", "64", NULL, 256);
      build_write (&build, folder, "model-bias.safetensors");
    }
  return folder;
}

static void
check_folder (const char *path, const char *golden, const Case *c, gboolean with_config)
{
  g_autoptr (TmModel) model
      = with_config || c->key == NULL ? open_with (path, NULL) : open_with (path, c->key, c->value, NULL);
  const TmTensor *tensor = NULL;

  check_golden (model, golden, NULL);
  for (guint i = 0; i < model->tensors->len && tensor == NULL; i++)
    if (tm_model_tensor (model, i)->quantized)
      tensor = tm_model_tensor (model, i);
  g_assert_nonnull (tensor);
  if (with_config || strcmp (c->scheme, "compressed-tensors") != 0 || c->dtype[1] == '4')
    g_assert_cmpstr (tensor->scheme, ==, c->scheme);
  g_assert_cmpstr (tensor->dtype_label, ==, c->dtype);
  g_assert_cmpuint (tensor->code_bits, ==, c->bits);
  g_assert_cmpuint (tensor->group_size, ==, c->group);
  g_assert_false (tensor->config_conflict);
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 0);
  check_agrees (tensor, 60);
}

static void
test_folder (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *golden = golden_folder (c->folder);
  char *with = copy_folder (golden, c, TRUE), *without = copy_folder (golden, c, FALSE);

  check_folder (with, golden, c, TRUE);
  check_folder (without, golden, c, FALSE);
  remove_folder (with);
  remove_folder (without);
}

/* Two conventions under one config, companions in different shards. */
static void
test_sharded (void)
{
  g_autofree char *golden = golden_folder ("sharded-mixed");
  g_autoptr (TmModel) model = open_with (golden, NULL);
  const TmTensor *tensor = need_tensor (model, "model.layers.0.mlp.up_proj.weight");

  check_golden (model, golden, NULL);
  g_assert_cmpstr (tensor->scheme, ==, "fp8");
  g_assert_cmpuint (tensor->group_size, ==, 128);
  g_assert_true (tm_model_stored (model, tensor->operand[0].stored)->source
                 != tm_model_stored (model, tensor->operand[1].stored)->source);
  check_agrees (tensor, 60);
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
  return g_test_run ();
}
