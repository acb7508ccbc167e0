/* Known traps of packed floats, code books, MLX and quanto; each is named as in the list of traps. */
#include <math.h>
#include <string.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "recognise/conv-check.h"

static const float nf4[16]
    = { -1.0f,      -0.6961928f, -0.52507305f, -0.39491748f, -0.28444138f, -0.18477343f, -0.09105003f, 0.0f,
        0.0795803f, 0.1609302f,  0.2461123f,   0.33791524f,  0.44070983f,  0.562617f,    0.72295684f,  1.0f };

/* A folder with one file of the parts, opened. */
static TmModel *
open_build (Build *build, const char *config)
{
  char *folder = make_folder ();
  TmModel *model;

  build_write (build, folder, "model.safetensors");
  if (config != NULL)
    write_text (folder, "config.json", config);
  model = open_with (folder, NULL);
  remove_folder (folder);
  return model;
}

static void
add_state (Build *build, const char *name, const char *json)
{
  g_autofree char *shape = g_strdup_printf ("%zu", strlen (json));

  build_add (build, name, "U8", shape, json, strlen (json));
}

/* B101: high nibble first, shape and block size from the JSON, code table from the file. */
static void
test_b101 (void)
{
  guint8 codes[32] = { 0xF0 };
  const float absmax[1] = { 2 };
  Build build;
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  float changed[16];

  build_init (&build);
  build_add (&build, "l.weight", "U8", "32,1", codes, 32);
  build_add (&build, "l.weight.absmax", "F32", "1", absmax, 4);
  build_add (&build, "l.weight.quant_map", "F32", "16", nf4, 64);
  add_state (&build, "l.weight.quant_state.bitsandbytes__nf4",
             "{\"quant_type\": \"nf4\", \"blocksize\": 64, \"dtype\": \"float16\", \"shape\": [4, 16]}");
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "l.weight");
  g_assert_cmpuint (tensor->shape[0], ==, 4);
  g_assert_cmpuint (tensor->shape[1], ==, 16);
  g_assert_cmpfloat (value_at (tensor, 0, 0), ==, 2.0f);
  g_assert_cmpfloat (value_at (tensor, 0, 1), ==, -2.0f);
  check_agrees (tensor, 20);

  /* another table in the file is another value */
  memcpy (changed, nf4, sizeof nf4);
  changed[15] = 0.5f;
  g_clear_object (&model);
  build_init (&build);
  build_add (&build, "l.weight", "U8", "32,1", codes, 32);
  build_add (&build, "l.weight.absmax", "F32", "1", absmax, 4);
  build_add (&build, "l.weight.quant_map", "F32", "16", changed, 64);
  add_state (&build, "l.weight.quant_state.bitsandbytes__nf4",
             "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64]}");
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "l.weight");
  g_assert_cmpuint (tensor->rank, ==, 1);
  g_assert_cmpfloat (value_at (tensor, 0, 0), ==, 1.0f);
}

/* B102: absmax itself in eight bits: table × outer absmax, then the offset. */
static void
test_b102 (void)
{
  guint8 codes[32], absmax[1] = { 200 };
  float map[256] = { 0 };
  const float outer[1] = { 3 };
  const float c = 0.3712f, offset = 0.1f;
  Build build;
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  guint64 index[1] = { 1 };

  map[200] = c;
  memset (codes, 0xF3, sizeof codes);
  build_init (&build);
  build_add (&build, "l.weight", "U8", "32,1", codes, 32);
  build_add (&build, "l.weight.absmax", "U8", "1", absmax, 1);
  build_add (&build, "l.weight.quant_map", "F32", "16", nf4, 64);
  build_add (&build, "l.weight.nested_absmax", "F32", "1", outer, 4);
  build_add (&build, "l.weight.nested_quant_map", "F32", "256", map, 1024);
  add_state (
      &build, "l.weight.quant_state.bitsandbytes__nf4",
      "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":256,\"nested_dtype\":\"float32\","
      "\"nested_offset\":0.1}");
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "l.weight");
  {
    volatile float product = c * outer[0];
    volatile float all = product + offset;
    volatile float value = nf4[3] * all;

    g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
    g_assert_cmpfloat (scalar.scale, ==, (double) all);
    g_assert_cmpfloat (scalar.value.as.f32, ==, value);
    g_assert_cmpfloat (value_at (tensor, 0, 1), ==, value);
    g_assert_cmpfloat (value_at (tensor, 0, 0), ==, all);
  }
  g_assert_cmpuint (tensor->granularity->n_levels, ==, 2);
  check_agrees (tensor, 20);
}

/* B104: one row in the list, with its own shape and dtype; nothing left over to be quantized again. */
static void
test_b104 (void)
{
  g_autofree char *path = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant", "bnb-nf4", NULL);
  g_autoptr (TmModel) model = open_with (path, NULL);
  const TmTensor *tensor = tm_model_tensor (model, 0);

  g_assert_cmpuint (model->tensors->len, ==, 1);
  g_assert_cmpstr (tensor->dtype_label, ==, "NF4");
  g_assert_cmpuint (tensor->shape[0], ==, 64);
  g_assert_cmpuint (tensor->shape[1], ==, 128);
  g_assert_cmpuint (tensor->group_size, ==, 64);
  g_assert_cmpuint (tensor->n_operands, ==, 4);
  g_assert_cmpuint (model->parameters, ==, 64 * 128);
}

/* B105: more than 2^31 elements, in a file without a byte of data on the disk. */
static void
test_b105 (void)
{
  const guint64 n = (G_GUINT64_CONSTANT (1) << 31) + 64, codes = n / 2, blocks = n / 64;
  char *folder = make_folder ();
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autofree char *state
      = g_strdup_printf ("{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[%" G_GUINT64_FORMAT ",64]}", n / 64);
  const guint64 absmax_at = codes, map_at = absmax_at + 4 * blocks, state_at = map_at + 64,
                end = state_at + strlen (state);
  g_autofree char *header = g_strdup_printf (
      "{\"w.weight\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT ",1],\"data_offsets\":[0,%" G_GUINT64_FORMAT "]},"
      "\"w.weight.absmax\":{\"dtype\":\"F32\",\"shape\":[%" G_GUINT64_FORMAT "],\"data_offsets\":[%" G_GUINT64_FORMAT
      ",%" G_GUINT64_FORMAT "]},"
      "\"w.weight.quant_map\":{\"dtype\":\"F32\",\"shape\":[16],\"data_offsets\":[%" G_GUINT64_FORMAT
      ",%" G_GUINT64_FORMAT "]},"
      "\"w.weight.quant_state.bitsandbytes__nf4\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":["
      "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}}",
      codes, codes, blocks, absmax_at, map_at, map_at, state_at, strlen (state), state_at, end);
  const guint64 length = GUINT64_TO_LE ((guint64) strlen (header)), base = 8 + strlen (header);
  const float four = 4;
  const guint8 last = 0x0F;
  int fd = g_open (path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, (off_t) (base + end)), ==, 0);
  g_assert_cmpint (pwrite (fd, &length, 8, 0), ==, 8);
  g_assert_cmpint (pwrite (fd, header, strlen (header), 8), ==, (gssize) strlen (header));
  g_assert_cmpint (pwrite (fd, nf4, 64, (off_t) (base + map_at)), ==, 64);
  g_assert_cmpint (pwrite (fd, state, strlen (state), (off_t) (base + state_at)), ==, (gssize) strlen (state));
  g_assert_cmpint (pwrite (fd, &last, 1, (off_t) (base + codes - 1)), ==, 1);
  g_assert_cmpint (pwrite (fd, &four, 4, (off_t) (base + absmax_at + 4 * (blocks - 1))), ==, 4);
  model = open_with (folder, NULL);
  tensor = need_tensor (model, "w.weight");
  g_assert_cmpuint (tensor->n_elements, ==, n);
  g_assert_cmpfloat (value_at (tensor, n / 64 - 1, 63), ==, 4.0f);
  g_assert_cmpfloat (value_at (tensor, n / 64 - 1, 62), ==, -4.0f);
  g_assert_cmpfloat (value_at (tensor, n / 64 - 2, 62), ==, -0.0f);
  close (fd);
  remove_folder (folder);
}

/* Float8 ones of that shape, and a grid of scales 1 2 3 … */
static TmModel *
open_fp8 (const char *shape, gsize n, const char *scale_shape, gsize n_scales, const char *config)
{
  g_autofree guint8 *ones = g_malloc (n);
  g_autofree float *scales = g_new (float, n_scales);
  Build build;

  memset (ones, 0x38, n);
  for (gsize i = 0; i < n_scales; i++)
    scales[i] = (float) (i + 1);
  build_init (&build);
  build_add (&build, "m.weight", "F8_E4M3", shape, ones, n);
  build_add (&build, "m.weight_scale_inv", "F32", scale_shape, scales, n_scales * 4);
  return open_build (&build, config);
}

/* B106: blocks of 128 though 130 / 2 is 65. */
static void
test_b106 (void)
{
  static const char config[] = "{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}}";

  for (guint with = 0; with < 2; with++)
    {
      g_autoptr (TmModel) model = open_fp8 ("130,130", 130 * 130, "2,2", 4, with ? config : NULL);
      const TmTensor *tensor = need_tensor (model, "m.weight");

      g_assert_cmpfloat (value_at (tensor, 127, 0), ==, 1);
      g_assert_cmpfloat (value_at (tensor, 128, 0), ==, 3);
      g_assert_cmpfloat (value_at (tensor, 0, 128), ==, 2);
      g_assert_cmpfloat (value_at (tensor, 0, 127), ==, 1);
      g_assert_cmpfloat (value_at (tensor, 129, 129), ==, 4);
      g_assert_cmpint (find_assumption (model, "group") != NULL, ==, !with);
      check_agrees (tensor, 30);
    }
  { /* 1000 rows in 8 blocks: 128, not 125 */
    g_autoptr (TmModel) model = open_fp8 ("1000,128", 1000 * 128, "8,1", 8, NULL);
    const TmTensor *tensor = need_tensor (model, "m.weight");

    g_assert_cmpfloat (value_at (tensor, 126, 0), ==, 1);
    g_assert_cmpfloat (value_at (tensor, 127, 0), ==, 1);
    g_assert_cmpfloat (value_at (tensor, 128, 0), ==, 2);
    g_assert_cmpstr (find_assumption (model, "group")->value, ==, "128");
  }
}

/* B108: stacked experts; a grid an expert, short blocks at the end of each. */
static void
test_b108 (void)
{
  g_autoptr (TmModel) model = open_fp8 ("2,130,130", 2 * 130 * 130, "2,2,2", 8, NULL);
  const TmTensor *tensor = need_tensor (model, "m.weight");

  g_assert_cmpfloat (value_at (tensor, 129, 129), ==, 4);
  g_assert_cmpfloat (value_at (tensor, 130, 0), ==, 5);
  g_assert_cmpfloat (value_at (tensor, 130 + 127, 128), ==, 6);
  g_assert_cmpfloat (value_at (tensor, 130 + 128, 127), ==, 7);
  g_assert_cmpfloat (value_at (tensor, 259, 129), ==, 8);
  g_assert_cmpuint (tensor->granularity->level[0].extent[0], ==, 1);
  check_agrees (tensor, 30);
}

/* B110: the global scale divides or multiplies by its name; a person can turn it round. */
static void
test_b110 (void)
{
  guint8 codes[8], scale[1] = { 0x48 }; /* 4.0 */
  const float quarter = 0.25f, four = 4;
  g_autoptr (TmModel) model = NULL;
  char *folder;
  Build build;

  memset (codes, 0x44, sizeof codes); /* 2.0 2.0 */
  build_init (&build);
  build_add (&build, "a.weight", "U8", "1,8", codes, 8);
  build_add (&build, "a.weight_scale", "F8_E4M3", "1,1", scale, 1);
  build_add (&build, "a.weight_scale_2", "F32", "", &quarter, 4);
  build_add (&build, "b.weight_packed", "U8", "1,8", codes, 8);
  build_add (&build, "b.weight_scale", "F8_E4M3", "1,1", scale, 1);
  build_add (&build, "b.weight_global_scale", "F32", "1", &four, 4);
  folder = make_folder ();
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  g_assert_cmpfloat (value_at (need_tensor (model, "a.weight"), 0, 3), ==, 2.0f);
  g_assert_cmpfloat (value_at (need_tensor (model, "b.weight"), 0, 3), ==, 2.0f);
  g_assert_cmpstr (need_tensor (model, "a.weight")->scheme, ==, "modelopt");
  g_assert_cmpuint (model->assumptions->len, ==, 2);
  check_agrees (need_tensor (model, "b.weight"), 10);
  g_clear_object (&model);
  model = open_with (folder, "global-scale", "factor", NULL);
  g_assert_cmpfloat (value_at (need_tensor (model, "a.weight"), 0, 3), ==, 2.0f);
  g_assert_cmpfloat (value_at (need_tensor (model, "b.weight"), 0, 3), ==, 32.0f);
  g_assert_cmpstr (find_assumption (model, "global-scale")->value, ==, "factor");
  remove_folder (folder);
}

/* B115: quantization_config inside text_config. */
static void
test_b115 (void)
{
  g_autoptr (TmModel) model = open_fp8 (
      "128,96", 128 * 96, "2,2", 4,
      "{\"text_config\":{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[64,48]}}}");
  const TmTensor *tensor = need_tensor (model, "m.weight");

  g_assert_cmpfloat (value_at (tensor, 63, 47), ==, 1);
  g_assert_cmpfloat (value_at (tensor, 63, 48), ==, 2);
  g_assert_cmpfloat (value_at (tensor, 64, 0), ==, 3);
  g_assert_null (find_assumption (model, "group"));
  g_assert_cmpstr (model->quantization_file, ==, "config.json");
}

static void
add_mlx (Build *build, const char *prefix, guint words, guint groups)
{
  g_autofree char *weight = g_strconcat (prefix, ".weight", NULL), *scales = g_strconcat (prefix, ".scales", NULL);
  g_autofree char *biases = g_strconcat (prefix, ".biases", NULL);
  g_autofree char *shape = g_strdup_printf ("2,%u", words), *grid = g_strdup_printf ("2,%u", groups);

  build_add (build, weight, "U32", shape, NULL, 8 * words);
  build_add (build, scales, "F16", grid, NULL, 4 * groups);
  build_add (build, biases, "F16", grid, NULL, 4 * groups);
}

/* B116: bits by layer, from config where shapes fit it, else said to be assumed. */
static void
test_b116 (void)
{
  static const char config[] = "{\"quantization\":{\"group_size\":64,\"bits\":4,\"b\":{\"group_size\":32,\"bits\":6},"
                               "\"c\":{\"group_size\":64,\"bits\":8}}}";
  g_autoptr (TmModel) model = NULL;
  Build build;

  build_init (&build);
  add_mlx (&build, "a", 16, 2); /* 4 × 64 = 8 × 32 */
  add_mlx (&build, "b", 24, 4); /* 6 × 32 = 3 × 64 */
  add_mlx (&build, "c", 16, 2); /* 8 × 64 does not fit */
  model = open_build (&build, config);
  g_assert_cmpstr (need_tensor (model, "a.weight")->dtype_label, ==, "U4");
  g_assert_cmpuint (need_tensor (model, "a.weight")->shape[1], ==, 128);
  g_assert_cmpstr (need_tensor (model, "b.weight")->dtype_label, ==, "U6");
  g_assert_cmpuint (need_tensor (model, "b.weight")->group_size, ==, 32);
  g_assert_cmpuint (need_tensor (model, "b.weight")->shape[1], ==, 128);
  g_assert_false (need_tensor (model, "b.weight")->config_conflict);
  g_assert_true (need_tensor (model, "c.weight")->config_conflict);
  g_assert_cmpstr (need_tensor (model, "c.weight")->dtype_label, ==, "U4");
  g_assert_true (has_problem (model, "config-conflict"));
  g_assert_nonnull (strstr (find_assumption (model, "bits")->evidence, "config.json"));
  g_clear_object (&model);

  /* without config: a norm of the layer's width tells, else the customary group */
  build_init (&build);
  add_mlx (&build, "model.layers.0.self_attn.q_proj", 24, 4);
  add_mlx (&build, "other", 24, 4);
  build_add (&build, "model.layers.0.input_layernorm.weight", "F16", "128", NULL, 256);
  model = open_build (&build, NULL);
  g_assert_cmpstr (need_tensor (model, "model.layers.0.self_attn.q_proj.weight")->dtype_label, ==, "U6");
  g_assert_cmpstr (need_tensor (model, "other.weight")->dtype_label, ==, "U3");
  g_assert_cmpuint (model->assumptions->len, ==, 4);
}

/* B118: scales in half precision, arithmetic in float32; the exact number is told where it differs. */
static void
test_b118 (void)
{
  const guint16 scale[1] = { 0x2E66 }, bias[1] = { 0xB555 }; /* 0.0999756, −0.333252 */
  guint32 words[8];
  g_autoptr (TmModel) model = NULL;
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  const guint64 index[2] = { 0, 5 };
  Build build;

  for (guint i = 0; i < 8; i++)
    words[i] = 0xDDDDDDDD;
  build_init (&build);
  build_add (&build, "a.weight", "U32", "1,8", words, 32);
  build_add (&build, "a.scales", "F16", "1,1", scale, 2);
  build_add (&build, "a.biases", "F16", "1,1", bias, 2);
  model = open_build (&build, NULL);
  g_assert_true (tm_tensor_explain (need_tensor (model, "a.weight"), index, &scalar, NULL));
  {
    volatile float product = 0.0999755859375f * 13;
    volatile float value = product + -0.333251953125f;

    g_assert_cmpfloat (scalar.value.as.f32, ==, value);
    g_assert_cmpfloat (scalar.has_exact ? scalar.exact : (double) value, ==, 0.0999755859375 * 13 + -0.333251953125);
  }
}

/* B119: the logical type first, not the container's. */
static void
test_b119 (void)
{
  const float scale[1] = { 0.5f }, shift[1] = { 1.5f };
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  build_init (&build);
  build_add (&build, "a.weight._data._data", "U8", "1,16", NULL, 16);
  build_add (&build, "a.weight._scale", "F32", "1,1", scale, 4);
  build_add (&build, "a.weight._shift", "F32", "1,1", shift, 4);
  build_add (&build, "a.bias", "F32", "2", NULL, 8);
  model = open_build (&build, "{\"quantization_config\":{\"quant_method\":\"quanto\",\"weights\":\"int4\"}}");
  tensor = need_tensor (model, "a.weight");
  g_assert_cmpstr (tensor->dtype_label, ==, "U4");
  g_assert_cmpuint (tensor->code_bits, ==, 4);
  g_assert_cmpuint (tensor->shape[0], ==, 2);
  g_assert_cmpuint (tensor->shape[1], ==, 8);
  g_assert_cmpfloat (value_at (tensor, 1, 7), ==, -1.5f);
}

/* B120: gate and up alternate. */
static void
test_b120 (void)
{
  g_autofree char *path = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant", "mxfp4-gpt-oss-hf", NULL);
  g_autoptr (TmModel) model = open_with (path, NULL);

  g_assert_true (has_problem (model, "interleaved-rows"));
  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 0);
}

/* B045: the pairs of a byte are neighbours here; the other nibble first only where a person says so. */
static void
test_b045 (void)
{
  static const float want[16] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6 };
  guint8 bytes[16], scale[1] = { 127 };
  char *folder = make_folder ();
  g_autoptr (TmModel) model = NULL;
  Build build;

  for (guint i = 0; i < 16; i++)
    bytes[i] = (guint8) ((2 * i + 1) % 16 << 4 | 2 * i % 16);
  build_init (&build);
  build_add (&build, "x_blocks", "U8", "1,1,1,16", bytes, 16);
  build_add (&build, "x_scales", "U8", "1,1,1", scale, 1);
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  for (guint i = 0; i < 32; i++)
    {
      float got = value_at (need_tensor (model, "x"), 0, i);

      g_assert_cmpfloat (got, ==, want[i % 16]);
      g_assert_cmpint (signbit (got) != 0, ==, signbit (want[i % 16]) != 0);
    }
  g_clear_object (&model);
  model = open_with (folder, "fp4-order", "high", NULL);
  g_assert_cmpfloat (value_at (need_tensor (model, "x"), 0, 0), ==, 0.5f);
  g_assert_cmpfloat (value_at (need_tensor (model, "x"), 0, 1), ==, 0);
  g_assert_nonnull (find_assumption (model, "fp4-order"));
  remove_folder (folder);
}

/* B074, B077: NaN codes of scaled float8, and E8M0's NaN over its whole block. */
static void
test_b074 (void)
{
  const guint8 bytes[4] = { 0x7E, 0x7F, 0xFF, 0x01 };
  const float two = 2;
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "1,4", bytes, 4);
  build_add (&build, "a.weight_scale", "F32", "", &two, 4);
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "a.weight");
  g_assert_cmpfloat (value_at (tensor, 0, 0), ==, 896);
  g_assert_true (isnan (value_at (tensor, 0, 1)) && isnan (value_at (tensor, 0, 2)));
  g_assert_cmpfloat (value_at (tensor, 0, 3), ==, 0.00390625f);
}

static void
test_b077 (void)
{
  guint8 codes[32] = { 0 }, scale[2] = { 255, 0 };
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  codes[16] = 2; /* 1.0 */
  build_init (&build);
  build_add (&build, "a.weight_packed", "U8", "1,32", codes, 32);
  build_add (&build, "a.weight_scale", "U8", "1,2", scale, 2);
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "a.weight");
  for (guint i = 0; i < 32; i++)
    g_assert_true (isnan (value_at (tensor, 0, i)));
  g_assert_cmpfloat (value_at (tensor, 0, 32), ==, 0x1p-127f);
}

/* B075: another reading of the same bytes, when asked for. */
static void
test_b075 (void)
{
  const guint8 bytes[3] = { 0x40, 0x7F, 0x80 };
  const float one = 1;
  char *folder = make_folder ();
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "1,3", bytes, 3);
  build_add (&build, "a.weight_scale", "F32", "1", &one, 4);
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, "float8", "fnuz", NULL);
  tensor = need_tensor (model, "a.weight");
  g_assert_cmpfloat (value_at (tensor, 0, 0), ==, 1);
  g_assert_cmpfloat (value_at (tensor, 0, 1), ==, 240);
  g_assert_true (isnan (value_at (tensor, 0, 2)));
  g_assert_cmpstr (tensor->dtype_label, ==, "F8_E4M3FNUZ");
  g_assert_cmpstr (find_assumption (model, "float8")->value, ==, "fnuz");
  remove_folder (folder);
}

/* quanto along the last axis: columns of the grouped matrix are i·(O/g) + o div g. */
static void
test_quanto_last_axis (void)
{
  enum
  {
    O = 12,
    I = 5,
    G = 4,
    COLUMNS = O * I / G,
    STEP = 2
  };
  guint8 packed[STEP * COLUMNS] = { 0 };
  float scale[COLUMNS], shift[COLUMNS];
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  for (guint o = 0; o < O; o++)
    for (guint i = 0; i < I; i++)
      {
        guint row = o % G, column = i * (O / G) + o / G;

        packed[row % STEP * COLUMNS + column] |= (guint8) ((3 * o + 5 * i) % 16 << (row / STEP * 4));
      }
  for (guint c = 0; c < COLUMNS; c++)
    {
      scale[c] = 0.1f * (float) (c + 1);
      shift[c] = (float) c;
    }
  build_init (&build);
  build_add (&build, "a.weight._data._data", "U8", "2,15", packed, sizeof packed);
  build_add (&build, "a.weight._scale", "F32", "1,15", scale, sizeof scale);
  build_add (&build, "a.weight._shift", "F32", "1,15", shift, sizeof shift);
  build_add (&build, "a.bias", "F32", "12", NULL, 48);
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "a.weight");
  for (guint o = 0; o < O; o++)
    for (guint i = 0; i < I; i++)
      {
        guint column = i * (O / G) + o / G;
        volatile float product = scale[column] * (float) ((3 * o + 5 * i) % 16);
        volatile float value = product - shift[column];

        g_assert_cmpfloat (value_at (tensor, o, i), ==, value);
      }
  g_assert_cmpstr (find_assumption (model, "bits")->value, ==, "4");
  check_agrees (tensor, 40);
}

/* torchao's Float8Tensor, and an expert stack whose name has no ".weight". */
static void
test_other_names (void)
{
  const guint8 ones[8] = { 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38 };
  const float rows[2] = { 2, 3 };
  g_autoptr (TmModel) model = NULL;
  Build build;

  build_init (&build);
  build_add (&build, "a._weight_qdata", "F8_E4M3", "2,4", ones, 8);
  build_add (&build, "a._weight_scale", "F32", "2,1", rows, 8);
  build_add (&build, "l.experts.gate_up_proj", "F8_E4M3", "2,2,2", ones, 8);
  build_add (&build, "l.experts.gate_up_proj_scale_inv", "F32", "2,1,1", rows, 8);
  model = open_build (&build, NULL);
  g_assert_cmpuint (model->tensors->len, ==, 2);
  g_assert_cmpstr (need_tensor (model, "a.weight")->scheme, ==, "torchao");
  g_assert_cmpfloat (value_at (need_tensor (model, "a.weight"), 1, 0), ==, 3);
  g_assert_cmpfloat (value_at (need_tensor (model, "l.experts.gate_up_proj"), 3, 1), ==, 3);
  g_assert_cmpfloat (value_at (need_tensor (model, "l.experts.gate_up_proj"), 1, 1), ==, 2);
}

/* HQQ whose groups end inside rows, and seven bits kept in bytes. */
static void
test_hqq_across_rows (void)
{
  guint8 codes[24];
  const gint32 nbits = 6, group = 8, axis = 1;
  const gint64 shape[2] = { 2, 12 };
  const guint16 scale[3] = { 0x3C00, 0x4000, 0x4400 }, zero[3] = { 0x3800, 0x3800, 0x3800 }; /* 1 2 4, 0.5 */
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  for (guint i = 0; i < 24; i++)
    codes[i] = (guint8) i;
  build_init (&build);
  build_add (&build, "a.W_q", "U8", "3,8", codes, 24);
  build_add (&build, "a.scale", "F16", "3,1", scale, 6);
  build_add (&build, "a.zero", "F16", "3,1", zero, 6);
  build_add (&build, "a.nbits", "I32", "", &nbits, 4);
  build_add (&build, "a.group_size", "I32", "", &group, 4);
  build_add (&build, "a.axis", "I32", "", &axis, 4);
  build_add (&build, "a.shape", "I64", "2", shape, 16);
  model = open_build (&build, NULL);
  tensor = need_tensor (model, "a.weight");
  g_assert_true (tensor->granularity->reshaped);
  g_assert_cmpfloat (value_at (tensor, 0, 7), ==, 6.5f);
  g_assert_cmpfloat (value_at (tensor, 0, 8), ==, 15);
  g_assert_cmpfloat (value_at (tensor, 1, 11), ==, 90);
  check_agrees (tensor, 20);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traps/B045", test_b045);
  g_test_add_func ("/traps/B074", test_b074);
  g_test_add_func ("/traps/B075", test_b075);
  g_test_add_func ("/traps/B077", test_b077);
  g_test_add_func ("/traps/B101", test_b101);
  g_test_add_func ("/traps/B102", test_b102);
  g_test_add_func ("/traps/B104", test_b104);
  g_test_add_func ("/traps/B105", test_b105);
  g_test_add_func ("/traps/B106", test_b106);
  g_test_add_func ("/traps/B108", test_b108);
  g_test_add_func ("/traps/B110", test_b110);
  g_test_add_func ("/traps/B115", test_b115);
  g_test_add_func ("/traps/B116", test_b116);
  g_test_add_func ("/traps/B118", test_b118);
  g_test_add_func ("/traps/B119", test_b119);
  g_test_add_func ("/traps/B120", test_b120);
  g_test_add_func ("/quanto/last-axis", test_quanto_last_axis);
  g_test_add_func ("/float8/other-names", test_other_names);
  g_test_add_func ("/hqq/across-rows", test_hqq_across_rows);
  return g_test_run ();
}
