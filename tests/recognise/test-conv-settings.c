/* What config files say of single modules and of the whole, held against the tensors; and pieces that fit nothing. */
#include <string.h>

#include "model/quantization.h"
#include "recognise/conv-check.h"

/* A GPTQ layer: n_columns × 32 rows, groups rows of scales 1, 2, 3 … and zero points 0; codes all one. */
static void
add_gptq (Build *build, const char *prefix, guint bits, guint n_columns, guint n_groups)
{
  const guint word_rows = n_columns * bits / 32;
  g_autofree guint32 *words = g_new0 (guint32, word_rows * 32), *zeros = g_new0 (guint32, n_groups * bits);
  g_autofree float *scales = g_new (float, n_groups * 32);
  static const char *const endings[] = { "qweight", "qzeros", "scales" };
  char *names[3], *shapes[3];

  for (guint i = 0; i < n_columns * bits; i += bits) /* the lowest bit of every code */
    for (guint o = 0; o < 32; o++)
      words[i / 32 * 32 + o] |= 1u << (i % 32);
  for (guint i = 0; i < n_groups * bits; i++)
    zeros[i] = 0xFFFFFFFFu; /* wraps to 0 */
  for (guint i = 0; i < n_groups * 32; i++)
    scales[i] = (float) (i / 32 + 1);
  for (guint i = 0; i < 3; i++)
    names[i] = g_strdup_printf ("%s.%s", prefix, endings[i]);
  shapes[0] = g_strdup_printf ("%u,32", word_rows);
  shapes[1] = g_strdup_printf ("%u,%u", n_groups, bits);
  shapes[2] = g_strdup_printf ("%u,32", n_groups);
  build_add (build, names[0], "I32", shapes[0], words, word_rows * 128);
  build_add (build, names[1], "I32", shapes[1], zeros, n_groups * bits * 4);
  build_add (build, names[2], "F32", shapes[2], scales, n_groups * 128);
  for (guint i = 0; i < 3; i++)
    {
      g_free (names[i]);
      g_free (shapes[i]);
    }
}

static TmModel *
open_gptq (guint bits, guint n_columns, guint n_groups, const char *file, const char *config)
{
  char *folder = make_folder ();
  TmModel *model;
  Build build;

  build_init (&build);
  add_gptq (&build, "model.layers.0.mlp.down_proj", bits, n_columns, n_groups);
  build_write (&build, folder, "model.safetensors");
  write_text (folder, file, config);
  model = open_with (folder, NULL);
  remove_folder (folder);
  return model;
}

#define DYNAMIC                                                                                                        \
  "\"bits\":4,\"group_size\":32,\"dynamic\":{\"-:.*\\\\.gate\":{},\"+:.*\\\\.down_proj\":{\"bits\":8,\"group_size\":16}}"

/* GPTQModel's overrides, wherever the settings are; the general ones are for the other modules. */
static void
test_dynamic (void)
{
  static const char *const configs[][2] = {
    { "config.json", "{\"quantization_config\":{\"quant_method\":\"gptq\"," DYNAMIC "}}" },
    { "config.json", "{\"text_config\":{\"quantization_config\":{\"quant_method\":\"gptq\"," DYNAMIC "}}}" },
    { "quantize_config.json", "{" DYNAMIC "}" },
    { "quant_config.json", "{" DYNAMIC "}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (configs); i++)
    {
      g_autoptr (TmModel) own = open_gptq (8, 64, 4, configs[i][0], configs[i][1]);
      g_autoptr (TmModel) general = open_gptq (4, 64, 2, configs[i][0], configs[i][1]);

      g_assert_false (need_tensor (own, "model.layers.0.mlp.down_proj.weight")->config_conflict);
      g_assert_true (need_tensor (general, "model.layers.0.mlp.down_proj.weight")->config_conflict);
    }
}

/* "-:" is a list of modules to leave alone: one that is quantized contradicts it, one that is not is as it should be. */
static void
test_dynamic_left_alone (void)
{
  static const char config[] = "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32,"
                               "\"dynamic\":{\"-:.*mlp.*\":{}}}}";
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  add_gptq (&build, "model.layers.0.mlp.down_proj", 4, 64, 2);
  add_gptq (&build, "model.layers.0.self_attn.q_proj", 4, 64, 2);
  build_add (&build, "model.layers.0.mlp.gate.weight", "F16", "8,8", NULL, 128);
  build_add (&build, "lm_head.weight", "F16", "8,8", NULL, 128);
  build_write (&build, folder, "model.safetensors");
  write_text (folder, "config.json", config);
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    g_auto (TmQuantizationSummary) summary = { 0 };

    g_assert_true (need_tensor (model, "model.layers.0.mlp.down_proj.weight")->config_conflict);
    g_assert_false (need_tensor (model, "model.layers.0.self_attn.q_proj.weight")->config_conflict);
    g_assert_true (need_tensor (model, "model.layers.0.mlp.gate.weight")->config_excludes);
    g_assert_false (need_tensor (model, "lm_head.weight")->config_excludes);
    tm_model_summarise_quantization (model, &summary);
    g_assert_cmpuint (summary.conflicts, ==, 1);
    g_assert_cmpuint (summary.matrices.tensors, ==, 2);
    g_assert_cmpuint (summary.matrices_excluded, ==, 1);
  }
  remove_folder (folder);
}

/* desc_act without a group index cannot be undone; with one that scatters nothing it may be. */
static void
test_desc_act (void)
{
  g_autoptr (TmModel) lost
      = open_gptq (4, 64, 2, "quantize_config.json", "{\"bits\":4,\"group_size\":32,\"desc_act\":true}");
  g_autoptr (TmModel) whole
      = open_gptq (4, 64, 1, "quantize_config.json", "{\"bits\":4,\"group_size\":-1,\"desc_act\":true}");

  g_assert_true (has_problem (lost, "missing-companion"));
  g_assert_cmpstr (find_assumption (lost, "g-idx")->value, ==, "sequential");
  g_assert_cmpfloat (value_at (need_tensor (lost, "model.layers.0.mlp.down_proj.weight"), 5, 32), ==, 2);
  g_assert_false (has_problem (whole, "missing-companion"));
}

/* 64 columns in two groups: halves, unless the config says 48 and 16. */
static void
test_short_group (void)
{
  g_autoptr (TmModel) said = open_gptq (4, 64, 2, "quantize_config.json", "{\"bits\":4,\"group_size\":48}");
  g_autoptr (TmModel) silent = open_gptq (4, 64, 2, "quantize_config.json", "{\"bits\":4}");
  g_autoptr (TmModel) wrong = open_gptq (4, 64, 2, "quantize_config.json", "{\"bits\":4,\"group_size\":16}");
  const TmTensor *tensor = need_tensor (said, "model.layers.0.mlp.down_proj.weight");

  g_assert_cmpfloat (value_at (tensor, 5, 47), ==, 1);
  g_assert_cmpfloat (value_at (tensor, 5, 48), ==, 2);
  g_assert_cmpuint (tensor->group_size, ==, 48);
  g_assert_false (tensor->config_conflict);
  tensor = need_tensor (silent, "model.layers.0.mlp.down_proj.weight");
  g_assert_cmpfloat (value_at (tensor, 5, 31), ==, 1);
  g_assert_cmpfloat (value_at (tensor, 5, 32), ==, 2);
  tensor = need_tensor (wrong, "model.layers.0.mlp.down_proj.weight");
  g_assert_cmpfloat (value_at (tensor, 5, 32), ==, 2);
  g_assert_true (tensor->config_conflict);
}

/* The same names and shapes with shuffled words: nothing is folded, and it is said why. */
static void
test_shuffled_format (void)
{
  static const char *const formats[] = { "marlin", "bitblas" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autofree char *config = g_strdup_printf ("{\"bits\":4,\"checkpoint_format\":\"%s\"}", formats[i]);
      g_autoptr (TmModel) model = open_gptq (4, 64, 2, "quantize_config.json", config);

      g_assert_cmpuint (model->n_quantized, ==, 0);
      g_assert_true (has_problem (model, "values-not-defined"));
      g_assert_cmpint (tm_model_find_tensor (model, "model.layers.0.mlp.down_proj.qweight"), >=, 0);
    }
}

/* --- compressed-tensors ---------------------------------------------------------------------------------------------- */

/* n_columns codes a row in two rows of words, one scale a row. */
static void
add_packed (Build *build, const char *prefix, const guint32 *words, guint n_words, guint n_columns)
{
  const gint64 shape[2] = { 2, n_columns };
  const float scales[2] = { 1, 1 };
  g_autofree char *packed = g_strconcat (prefix, ".weight_packed", NULL), *text = g_strdup_printf ("2,%u", n_words);
  g_autofree char *scale = g_strconcat (prefix, ".weight_scale", NULL);
  g_autofree char *sizes = g_strconcat (prefix, ".weight_shape", NULL);

  build_add (build, packed, "I32", text, words, n_words * 8);
  build_add (build, scale, "F32", "2,1", scales, 8);
  build_add (build, sizes, "I64", "2", shape, 16);
}

#define GROUPS(ignore, first, first_bits, second, second_bits)                                                         \
  "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"mixed-precision\",\"ignore\":["      \
  ignore "],\"config_groups\":{\"group_0\":{\"targets\":[\"" first "\"],\"weights\":{\"num_bits\":" first_bits         \
  ",\"strategy\":\"channel\"}},\"group_1\":{\"targets\":[\"" second "\"],\"weights\":{\"num_bits\":" second_bits       \
  ",\"strategy\":\"channel\"}}}}}"

/* A group is found by whole name, then pattern, then class; its bits are held against the tensors, and so is ignore. */
static void
test_config_groups (void)
{
  static const struct
  {
    const char *config;
    gboolean conflict_a, conflict_b;
  } rows[] = {
    { GROUPS ("", "re:.*q_proj", "4", "re:.*down_proj", "8"), FALSE, FALSE },
    { GROUPS ("", "re:.*q_proj", "8", "re:.*down_proj", "4"), TRUE, TRUE },
    { GROUPS ("", "Linear", "4", "model.mlp.down_proj", "8"), FALSE, FALSE },
    { GROUPS ("", "Linear", "8", "re:.*q_proj", "4"), FALSE, FALSE },
    { GROUPS ("", "re:q_proj", "8", "Linear", "4"), FALSE, TRUE }, /* from the beginning of the name */
    { GROUPS ("\"lm_head\",\"re:.*down_proj\"", "re:.*q_proj", "4", "re:.*down_proj", "8"), FALSE, TRUE },
    { GROUPS ("\"model.mlp.down_proj\"", "re:.*q_proj", "4", "re:.*down_proj", "8"), FALSE, TRUE },
  };
  static const guint32 words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *folder = make_folder ();
      Build build;

      build_init (&build);
      add_packed (&build, "model.attn.q_proj", words, 2, 16);
      add_packed (&build, "model.mlp.down_proj", words, 4, 16);
      build_write (&build, folder, "model.safetensors");
      write_text (folder, "config.json", rows[i].config);
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);
        const TmTensor *a = need_tensor (model, "model.attn.q_proj.weight"),
                       *b = need_tensor (model, "model.mlp.down_proj.weight");

        g_assert_cmpuint (a->code_bits, ==, 4);
        g_assert_cmpuint (b->code_bits, ==, 8);
        g_assert_cmpint (a->config_conflict, ==, rows[i].conflict_a);
        g_assert_cmpint (b->config_conflict, ==, rows[i].conflict_b);
      }
      remove_folder (folder);
    }
}

/* The config of a packed weight asks for companions that are not there. */
static void
test_missing_by_config (void)
{
  static const guint32 words[4] = { 1, 2, 3, 4 };
  static const struct
  {
    const char *weights, *said;
  } rows[] = { { "\"num_bits\":4,\"symmetric\":true", NULL },
               { "\"num_bits\":4,\"symmetric\":false", "weight_zero_point is missing" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *config = g_strdup_printf ("{\"quantization_config\":{\"quant_method\":\"compressed-tensors\","
                                                 "\"config_groups\":{\"g\":{\"targets\":[\"Linear\"],\"weights\":{%s}}}}}",
                                                 rows[i].weights);
      char *folder = make_folder ();
      Build build;

      build_init (&build);
      add_packed (&build, "a", words, 2, 16);
      build_write (&build, folder, "model.safetensors");
      write_text (folder, "config.json", config);
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_cmpuint (model->n_quantized, ==, 1);
        g_assert_cmpint (need_tensor (model, "a.weight")->config_conflict, ==, rows[i].said != NULL);
        for (guint p = 0; p < model->problems->len; p++)
          g_assert_nonnull (strstr (((const TmProblem *) g_ptr_array_index (model->problems, p))->message, rows[i].said));
      }
      remove_folder (folder);
    }
}

/* B112: 77 columns of three bits are eight words either way; the two bits that padded words leave over tell. */
static void
test_b112_same_words (void)
{
  guint32 padded[16], dense[16];
  char *folder = make_folder ();
  Build build;

  for (guint w = 0; w < 16; w++)
    {
      const guint n = w % 8 == 7 ? 7 : 10;

      padded[w] = 0;
      for (guint k = 0; k < n; k++)
        padded[w] |= (w % 8 * 10 + k) % 8 << (3 * k);
      dense[w] = 0;
    }
  for (guint row = 0; row < 2; row++)
    for (guint i = 0; i < 77 * 3; i++)
      dense[row * 8 + i / 32] |= (i / 3 % 8 >> i % 3 & 1) << i % 32;
  build_init (&build);
  add_packed (&build, "padded", padded, 8, 77);
  add_packed (&build, "dense", dense, 8, 77);
  build_write (&build, folder, "model.safetensors");
  write_text (folder, "config.json",
              "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"config_groups\":{\"group_0\":"
              "{\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":3}}}}}");
  {
    static const char *const names[] = { "padded.weight", "dense.weight" };
    g_autoptr (TmModel) model = open_with (folder, NULL), asked = open_with (folder, "packing", "dense", NULL);

    for (guint n = 0; n < 2; n++)
      for (guint i = 0; i < 77; i++)
        g_assert_cmpfloat (value_at (need_tensor (model, names[n]), 1, i), ==, (float) (i % 8) - 4);
    g_assert_cmpfloat (value_at (need_tensor (asked, "padded.weight"), 0, 10), !=, (float) (10 % 8) - 4);
    for (guint i = 0; i < model->assumptions->len; i++)
      {
        const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);

        g_assert_cmpstr (assumption->key, ==, "packing"); /* the width is not open */
        g_assert_cmpstr (assumption->value, ==, assumption->tensor[0] == 'p' ? "padded" : "dense");
      }
    g_assert_cmpuint (model->assumptions->len, ==, 2);
    check_agrees (need_tensor (model, "padded.weight"), 20);
  }
  remove_folder (folder);
}

/* Experts: weight_shape once for all, or once a slice. */
static void
test_shape_per_slice (void)
{
  static const gint64 alike[6] = { 2, 8, 2, 8, 2, 8 }, unlike[6] = { 2, 8, 2, 7, 2, 8 };
  static const guint32 words[6] = { 0x88888888, 0x99999999, 0xAAAAAAAA, 0x77777777, 0, 0xFFFFFFFF };
  static const float scales[6] = { 1, 1, 1, 1, 1, 1 };

  for (guint i = 0; i < 2; i++)
    {
      char *folder = make_folder ();
      Build build;

      build_init (&build);
      build_add (&build, "e.weight_packed", "I32", "3,2,1", words, 24);
      build_add (&build, "e.weight_scale", "F32", "3,2,1", scales, 24);
      build_add (&build, "e.weight_shape", "I64", "3,2", i ? unlike : alike, 48);
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        if (i == 0)
          {
            float values[48];

            g_assert_true (tm_tensor_decode (need_tensor (model, "e.weight"), TM_QUANTITY_VALUE, 0, 48, values, NULL, NULL));
            g_assert_cmpfloat (values[0], ==, 0);
            g_assert_cmpfloat (values[8], ==, 1);
            g_assert_cmpfloat (values[24], ==, -1);
            g_assert_cmpfloat (values[47], ==, 7);
          }
        else
          g_assert_true (has_problem (model, "shape") && model->n_quantized == 0);
      }
      remove_folder (folder);
    }
}

/* --- AWQ ------------------------------------------------------------------------------------------------------------- */

/* GEMV with one group of 256 columns: more than the usual sizes, as the padding or the config has it. */
static void
test_gemv_whole_row (void)
{
  g_autofree guint8 *zeros = g_new0 (guint8, 8 * 128);
  const guint32 packed_zeros[8] = { 3, 3, 3, 3, 3, 3, 3, 3 };
  float scales[64] = { 0 };

  for (guint config = 0; config < 2; config++)
    {
      char *folder = make_folder ();
      Build build;

      for (guint o = 0; o < 8; o++)
        scales[o * 8] = 0.5f;
      build_init (&build);
      build_add (&build, "l.qweight", "I32", "8,32", zeros, 1024);
      build_add (&build, "l.qzeros", "I32", "8,1", packed_zeros, 32);
      build_add (&build, "l.scales", "F32", "8,8", scales, 256);
      build_write (&build, folder, "model.safetensors");
      if (config)
        write_text (folder, "config.json",
                    "{\"quantization_config\":{\"quant_method\":\"awq\",\"group_size\":256,\"version\":\"gemv\"}}");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);
        const TmTensor *tensor = need_tensor (model, "l.weight");

        g_assert_cmpfloat (value_at (tensor, 7, 0), ==, -1.5f);
        g_assert_cmpfloat (value_at (tensor, 7, 255), ==, -1.5f);
        g_assert_false (tensor->config_conflict);
      }
      remove_folder (folder);
    }
}

/* --- FP8 ------------------------------------------------------------------------------------------------------------- */

/* Block sizes of whichever config group, as a list or as text; a grid that plainly has other blocks contradicts it. */
static void
test_fp8_blocks (void)
{
  static const struct
  {
    const char *config;
    guint64 rows, columns;
    gboolean conflict;
  } rows[] = {
    { "{\"quant_method\":\"compressed-tensors\",\"config_groups\":{\"group_7\":{\"targets\":[\"Linear\"],\"weights\":"
      "{\"block_structure\":[64,48]}}}}",
      64, 48, FALSE },
    { "{\"quant_method\":\"compressed-tensors\",\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":"
      "{\"block_structure\":\"64x48\"}}}}",
      64, 48, FALSE },
    { "{\"quant_method\":\"fp8\",\"weight_block_size\":[64,48]}", 64, 48, FALSE },
    { "{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}", 64, 32, TRUE },
    { "{\"quant_method\":\"fp8\",\"weight_block_size\":[0,\"x\"]}", 64, 32, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree guint8 *codes = g_malloc (192 * 96);
      g_autofree char *config = g_strdup_printf ("{\"quantization_config\":%s}", rows[i].config);
      const guint grid_columns = (guint) ((96 + rows[i].columns - 1) / rows[i].columns);
      g_autofree char *shape = g_strdup_printf ("3,%u", grid_columns);
      float scales[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
      char *folder = make_folder ();
      Build build;

      memset (codes, 0x38, 192 * 96); /* 1 */
      build_init (&build);
      build_add (&build, "l.weight", "F8_E4M3", "192,96", codes, 192 * 96);
      build_add (&build, "l.weight_scale", "F32", shape, scales, 12 * grid_columns);
      build_write (&build, folder, "model.safetensors");
      write_text (folder, "config.json", config);
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);
        const TmTensor *tensor = need_tensor (model, "l.weight");

        g_assert_cmpfloat (value_at (tensor, 63, rows[i].columns - 1), ==, 1);
        g_assert_cmpfloat (value_at (tensor, 63, rows[i].columns), ==, 2);
        g_assert_cmpfloat (value_at (tensor, 64, 0), ==, (float) (grid_columns + 1));
        g_assert_cmpint (tensor->config_conflict, ==, rows[i].conflict);
      }
      remove_folder (folder);
    }
}

/* --- Pieces that fit nothing ----------------------------------------------------------------------------------------- */

static void
test_leftovers (void)
{
  static const struct
  {
    const char *names[3], *dtypes[3], *shapes[3];
    guint bytes[3];
    const char *said;
  } rows[] = {
    { { "a.weight_packed", "a.weight_scale" }, { "I16", "F16" }, { "4,4", "4,1" }, { 32, 8 }, "weight_packed is I16" },
    { { "a.weight", "a.weight_scale" }, { "U8", "F32" }, { "4,4", "1" }, { 16, 4 }, "weight is U8" },
    { { "a.weight_scale", "a.weight_shape" }, { "F32", "I64" }, { "1", "2" }, { 4, 16 }, "weight_packed is missing" },
    { { "a.qzeros", "a.scales" }, { "I32", "F16" }, { "1,1", "1,8" }, { 4, 16 }, "qweight is missing" },
    { { "a.qweight", "a.scales" }, { "U8", "F16" }, { "4,4", "1,4" }, { 16, 8 }, "qweight is U8" },
    { { "a.weight._scale" }, { "F16" }, { "4,1" }, { 8 }, "weight._data is missing" },
    { { "a.nbits", "a.scale" }, { "I32", "F16" }, { "1", "4,1" }, { 4, 8 }, "W_q is missing" },
    { { "a.weight", "a.scales" }, { "I8", "F16" }, { "4,4", "4,1" }, { 16, 8 }, "weight is I8" },
    { { "a.weight", "a.weight_format" }, { "I8", "U8" }, { "4,4", "" }, { 16, 1 }, "weight is I8" },
    { { "a.weight" }, { "U32" }, { "2,2" }, { 16 }, "its scales are missing" },
    { { "a.scales", "a.biases" }, { "F16", "F16" }, { "4,1", "4,1" }, { 8, 8 }, "weight is missing" },
    { { "x_blocks", "x_scales" }, { "U8", "U8" }, { "2,1,8", "2,1" }, { 16, 2 }, "U8 […, 16] is wanted" },
    { { "x_scales" }, { "U8" }, { "2,1" }, { 2 }, "what they scale is missing" },
    { { "a.codes", "a.scales" }, { "I8", "F16" }, { "4,2,1", "4,1,1,1" }, { 8, 8 }, "codebooks is missing" },
    { { "x", "x_scale_inv" }, { "U8", "F32" }, { "2,2,2", "2,1,1" }, { 8, 8 }, "it is U8" },
    { { "x_scale_inv" }, { "F32" }, { "2,1,1" }, { 8 }, "scale_inv is for is missing" },
    { { "a.codebooks", "a.scales" }, { "F16", "F16" }, { "1,2,1,2", "4,1,1,1" }, { 8, 8 }, "codes is missing" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *folder = make_folder ();
      gboolean found = FALSE;
      Build build;

      build_init (&build);
      for (guint k = 0; k < 3 && rows[i].names[k]; k++)
        build_add (&build, rows[i].names[k], rows[i].dtypes[k], rows[i].shapes[k], NULL, rows[i].bytes[k]);
      build_add (&build, "b.weight", "F32", "2,2", NULL, 16);
      build_add (&build, "b.scale", "F32", "2", NULL, 8); /* an ordinary model's */
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_cmpuint (model->n_quantized, ==, 0);
        g_assert_cmpuint (model->problems->len, ==, 1);
        for (guint p = 0; p < model->problems->len; p++)
          {
            const TmProblem *problem = g_ptr_array_index (model->problems, p);

            g_assert_cmpint (problem->severity, ==, TM_SEVERITY_ERROR);
            found = found || (strcmp (problem->code, "unrecognised-pieces") == 0 && strstr (problem->message, rows[i].said));
            if (!found)
              g_test_message ("%s: %s", problem->code, problem->message);
          }
      }
      g_assert_true (found);
      remove_folder (folder);
    }
}

/* What no integer of an element is defined for, or no rule is known: listed, with a note that says what is there. */
static void
test_listed (void)
{
  static const struct
  {
    const char *names[3], *dtypes[3], *type, *said;
  } rows[] = {
    { { "a._weight_qdata", "a._weight_scale", "a._weight_zero_point" }, { "I8", "F16", "F16" }, "Int4Tensor", "two 4-bit" },
    { { "a._weight_qdata", "a._weight_scale" }, { "U8", "F16" }, "NVFP4Tensor", "pairs of FP4" },
    { { "a._weight_qdata", "a._weight_scale" }, { "F8_E4M3", "F16" }, "MXTensor", "microscaling" },
    { { "a._weight_qdata" }, { "I8" }, "OfTomorrow", "not known here" },
    { { "a.Qidxs" }, { "I16" }, NULL, "lattice" },
    { { "a.trellis" }, { "I16" }, NULL, "trellis is a bit stream" },
    { { "a.indices", "a.centroids.weight" }, { "I32", "F16" }, NULL, "centroids" },
    { { "a.dense_weights", "a.row_offsets", "a.col_vals" }, { "I64", "I32", "I32" }, NULL, "SpQR" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *folder = make_folder ();
      gboolean found = FALSE;
      Build build;

      build_init (&build);
      if (rows[i].type)
        g_string_append_printf (build.header,
                                "\"__metadata__\":{\"a.weight\":\"{\\\"_type\\\":\\\"%s\\\",\\\"_data\\\":{}}\"}",
                                rows[i].type);
      for (guint k = 0; k < 3 && rows[i].names[k]; k++)
        {
          const guint bytes = strcmp (rows[i].dtypes[k], "I64") == 0                             ? 8
                              : rows[i].dtypes[k][1] == '3'                                       ? 4
                              : rows[i].dtypes[k][1] == '1'                                       ? 2
                                                                                                  : 1;

          build_add (&build, rows[i].names[k], rows[i].dtypes[k], "4,4", NULL, 16 * bytes);
        }
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_cmpuint (model->n_quantized, ==, 0);
        for (guint k = 0; k < 3 && rows[i].names[k]; k++)
          need_tensor (model, rows[i].names[k]);
        for (guint p = 0; p < model->problems->len; p++)
          {
            const TmProblem *problem = g_ptr_array_index (model->problems, p);

            g_assert_cmpstr (problem->code, ==, "values-not-defined");
            found = found || strstr (problem->message, rows[i].said);
          }
        g_assert_true (found);
      }
      remove_folder (folder);
    }
}

/* --- The config as a whole ------------------------------------------------------------------------------------------- */

/* The convention that it names; mixed files are usual, so one tensor of it is enough. */
static void
test_method (void)
{
  g_autoptr (TmModel) right = open_gptq (4, 64, 2, "config.json", "{\"quantization_config\":{\"quant_method\":\"gptq\"}}");
  g_autoptr (TmModel) wrong = open_gptq (4, 64, 2, "config.json", "{\"quantization_config\":{\"quant_method\":\"awq\"}}");
  g_autoptr (TmModel) unknown
      = open_gptq (4, 64, 2, "config.json", "{\"quantization_config\":{\"quant_method\":\"another\"}}");
  char *folder = make_folder ();
  Build build;

  g_assert_false (has_problem (right, "config-conflict"));
  g_assert_true (has_problem (wrong, "config-conflict"));
  g_assert_true (need_tensor (wrong, "model.layers.0.mlp.down_proj.weight")->config_conflict);
  g_assert_false (has_problem (unknown, "config-conflict"));
  build_init (&build);
  build_add (&build, "a.weight", "F16", "8,8", NULL, 128);
  build_write (&build, folder, "model.safetensors");
  write_text (folder, "config.json", "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4}}");
  {
    g_autoptr (TmModel) plain = open_with (folder, NULL);

    g_assert_true (has_problem (plain, "config-conflict"));
  }
  remove_folder (folder);
}

/* Conventions that find all in the tensors are held against what the config says all the same. */
static void
test_bits_and_groups (void)
{
  static const struct
  {
    const char *folder, *config;
    gboolean conflict;
  } rows[] = {
    { "hqq-3bit-axis0", "\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":3,\"group_size\":10}}", FALSE },
    { "hqq-3bit-axis0", "\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":4,\"group_size\":10}}", TRUE },
    { "hqq-3bit-axis0", "\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":3,\"group_size\":64}}", TRUE },
    { "bnb-fp4-nested-blocks-of-2", "\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"fp4\"", FALSE },
    { "bnb-fp4-nested-blocks-of-2", "\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"nf4\"", TRUE },
    { "bnb-fp4-nested-blocks-of-2", "\"bitsandbytes\",\"bnb_4bit_use_double_quant\":false", TRUE },
    { "bnb-int8-odd", "\"bitsandbytes\",\"load_in_8bit\":true,\"load_in_4bit\":false", FALSE },
    { "bnb-int8-odd", "\"bitsandbytes\",\"load_in_4bit\":true", TRUE },
    { "aqlm-1x16", "\"aqlm\",\"in_group_size\":16,\"num_codebooks\":1", FALSE },
    { "aqlm-1x16", "\"aqlm\",\"in_group_size\":8,\"num_codebooks\":1", TRUE },
    { "fp4-mo-nv-experts", "\"modelopt\",\"quant_algo\":\"NVFP4\"", FALSE },
    { "fp4-mo-nv-experts", "\"modelopt\",\"quant_algo\":\"FP8\"", TRUE },
    { "fp4-ct-nv-experts", "\"compressed-tensors\",\"config_groups\":{\"g\":{\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":8}}}", TRUE },
    { "quanto-qint2-axis0", "\"quanto\",\"weights\":\"int2\"", FALSE },
    { "quanto-qint2-axis0", "\"quanto\",\"weights\":\"int8\"", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *from = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant-made", rows[i].folder, NULL);
      g_autofree char *config = g_strdup_printf ("{\"quantization_config\":{\"quant_method\":%s}}", rows[i].config);
      char *folder = make_folder ();
      g_autoptr (GDir) dir = g_dir_open (from, 0, NULL);
      const char *name;

      while ((name = g_dir_read_name (dir)) != NULL)
        if (g_str_has_suffix (name, ".safetensors") || g_str_has_suffix (name, ".index.json"))
          {
            g_autofree char *source = g_build_filename (from, name, NULL), *to = g_build_filename (folder, name, NULL);
            g_autofree char *bytes = NULL;
            gsize length;

            g_assert_true (g_file_get_contents (source, &bytes, &length, NULL));
            g_assert_true (g_file_set_contents_full (to, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
          }
      write_text (folder, "config.json", config);
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);
        guint conflicts = 0;

        for (guint t = 0; t < model->tensors->len; t++)
          conflicts += tm_model_tensor (model, t)->config_conflict ? 1 : 0;
        g_assert_cmpuint (model->n_quantized, ==, 1);
        g_assert_cmpuint (conflicts, ==, rows[i].conflict ? 1 : 0);
        g_assert_cmpint (has_problem (model, "config-conflict"), ==, rows[i].conflict);
      }
      remove_folder (folder);
    }
}

/* A float8 weight alone may be just that, which is noted, unless the config speaks of scales. */
static void
test_float8_without_scale (void)
{
  for (guint said = 0; said < 2; said++)
    {
      char *folder = make_folder ();
      Build build;

      build_init (&build);
      build_add (&build, "a.weight", "F8_E4M3", "4,4", NULL, 16);
      build_add (&build, "lm_head.weight", "F8_E4M3", "4,4", NULL, 16);
      build_write (&build, folder, "model.safetensors");
      if (said)
        write_text (folder, "config.json",
                    "{\"quantization_config\":{\"quant_method\":\"fp8\",\"ignored_layers\":[\"lm_head\"]}}");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_cmpuint (model->problems->len, ==, 1);
        g_assert_true (has_problem (model, said ? "missing-companion" : "float8-without-scale"));
        g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, said);
      }
      remove_folder (folder);
    }
}

/* Companions that contradict each other or say what cannot be are named; what can be decoded still is. */
static void
test_lying_companions (void)
{
  static const struct
  {
    const char *folder, *tensor, *code;
    gint32 number;
    gboolean folded;
  } rows[] = {
    { "hqq-4bit-axis0", "model.layers.2.mlp.down_proj.group_size", "companion-shape", 0, FALSE },
    { "hqq-4bit-axis0", "model.layers.2.mlp.down_proj.group_size", "companion-shape", -64, FALSE },
    { "hqq-4bit-axis0", "model.layers.2.mlp.down_proj.group_size", "companion-shape", 11, FALSE },
    { "hqq-4bit-axis0", "model.layers.2.mlp.down_proj.axis", "hqq-facts", 2, FALSE },
    { "fp4-ct-nv-experts", "model.layers.2.mlp.down_proj.weight_global_scale", "scale-not-finite", 0, TRUE },
    { "fp4-ct-nv-experts", "model.layers.2.mlp.down_proj.weight_global_scale", "scale-not-finite", 0x7F800000, TRUE },
    { "ct-3bit-act-bf16", "model.layers.2.mlp.down_proj.weight_g_idx", "group-index", -1, FALSE },
    { "gptq-5bit-act", "model.layers.0.self_attn.q_proj.g_idx", "group-index", -1, FALSE },
    { "gptq-5bit-act", "model.layers.0.self_attn.q_proj.g_idx", "group-index", 4, FALSE },
    { "gptq-5bit-act", "model.layers.0.self_attn.q_proj.g_idx", "group-index", G_MAXINT32, FALSE },
    { "exl2-8-to-2", "model.layers.2.mlp.down_proj.q_invperm", "groups", 100, FALSE },
    { "exl2-8-to-2", "model.layers.2.mlp.down_proj.q_invperm", "groups", -1, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *from = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant-made", rows[i].folder, NULL);
      g_autoptr (TmModel) fine = open_with (from, NULL);
      const TmStored *stored = tm_model_stored (fine, (guint) tm_model_find_stored (fine, rows[i].tensor));
      g_autoptr (GDir) dir = g_dir_open (from, 0, NULL);
      char *folder = make_folder ();
      const char *name;

      g_assert_cmpuint (fine->n_quantized, ==, 1);
      while ((name = g_dir_read_name (dir)) != NULL)
        if (g_str_has_suffix (name, ".safetensors") || g_str_has_suffix (name, ".index.json"))
          {
            g_autofree char *source = g_build_filename (from, name, NULL), *to = g_build_filename (folder, name, NULL);
            g_autofree char *bytes = NULL;
            gsize length;

            g_assert_true (g_file_get_contents (source, &bytes, &length, NULL));
            if (strcmp (name, tm_source_get_name (stored->source)) == 0)
              memcpy (bytes + stored->offset, &rows[i].number, 4); /* the first number of it */
            g_assert_true (g_file_set_contents_full (to, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
          }
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_true (has_problem (model, rows[i].code));
        g_assert_cmpuint (model->n_quantized, ==, rows[i].folded ? 1 : 0);
      }
      remove_folder (folder);
    }
}

/* quant_state speaks of nested scales, and they are plain numbers. */
static void
test_nested_that_is_not (void)
{
  static const char state[] = "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[8,8],\"nested_blocksize\":256,"
                              "\"nested_offset\":0.5}";
  static const float one = 1;
  float book[16];
  char *folder = make_folder ();
  g_autofree char *length = g_strdup_printf ("%zu", strlen (state));
  Build build;

  for (guint i = 0; i < 16; i++)
    book[i] = (float) i;
  build_init (&build);
  build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (&build, "a.weight.absmax", "F32", "1", &one, 4);
  build_add (&build, "a.weight.quant_map", "F32", "16", book, 64);
  build_add (&build, "a.weight.quant_state.bitsandbytes__nf4", "U8", length, state, strlen (state));
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);

    g_assert_true (has_problem (model, "quant-state"));
    g_assert_true (need_tensor (model, "a.weight")->quantized);
  }
  remove_folder (folder);
}

/* Many alike are one, with their number. */
static void
test_assumption_groups (void)
{
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *prefix = g_strdup_printf ("model.layers.%u.q_proj", i);

      add_gptq (&build, prefix, 4, 64, 2);
    }
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    g_autoptr (GArray) groups = tm_model_group_assumptions (model);

    g_assert_cmpuint (model->assumptions->len, ==, 5);
    g_assert_cmpuint (groups->len, ==, 1);
    g_assert_cmpuint (g_array_index (groups, TmAssumptionGroup, 0).tensors, ==, 5);
  }
  remove_folder (folder);
}

/* Absurd types and depths never decide anything, and a long key before many items costs no memory for each. */
static void
test_absurd_configs (void)
{
  static const char *const configs[] = {
    "{\"quantization_config\":{\"bits\":{},\"group_size\":[],\"sym\":7,\"checkpoint_format\":[\"x\"],\"dynamic\":[1]}}",
    "{\"quantization_config\":{\"bits\":4,\"group_size\":-9223372036854775808,\"dynamic\":{\"(\":{\"bits\":1}}}}",
    "{\"quantization_config\":{\"bits\":1e400,\"group_size\":18446744073709551615,\"config_groups\":{\"\":{\"\":{}}}}}",
    "{\"quantization_config\":[[[[]]]],\"quantization\":{\"a\":false}}",
    "[]", "7", "{\"quantization_config\":{\"dynamic\":{\"+:(a*)*b\":{\"bits\":3}}}}",
  };
  g_autoptr (GString) deep = g_string_new ("{\"quantization_config\":");
  g_autoptr (GString) wide = g_string_new ("{\"");

  for (guint i = 0; i < G_N_ELEMENTS (configs); i++)
    {
      g_autoptr (TmModel) model = open_gptq (4, 64, 2, "config.json", configs[i]);

      g_assert_cmpfloat (value_at (need_tensor (model, "model.layers.0.mlp.down_proj.weight"), 5, 32), ==, 2);
    }
  for (guint i = 0; i < 5000; i++)
    g_string_append_c (deep, '[');
  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (wide, 'k');
  g_string_append (wide, "\":[0");
  for (guint i = 0; i < 200000; i++)
    g_string_append (wide, ",0");
  g_string_append (wide, "]}");
  {
    g_autoptr (TmModel) a = open_gptq (4, 64, 2, "quantize_config.json", deep->str);
    g_autoptr (TmModel) b = open_gptq (4, 64, 2, "quantize_config.json", wide->str);

    g_assert_true (has_problem (a, "config"));
    g_assert_cmpfloat (value_at (need_tensor (b, "model.layers.0.mlp.down_proj.weight"), 5, 32), ==, 2);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gptq/dynamic", test_dynamic);
  g_test_add_func ("/gptq/dynamic-left-alone", test_dynamic_left_alone);
  g_test_add_func ("/gptq/desc-act", test_desc_act);
  g_test_add_func ("/compressed-tensors/missing-by-config", test_missing_by_config);
  g_test_add_func ("/gptq/short-group", test_short_group);
  g_test_add_func ("/gptq/shuffled-format", test_shuffled_format);
  g_test_add_func ("/compressed-tensors/config-groups", test_config_groups);
  g_test_add_func ("/compressed-tensors/shape-per-slice", test_shape_per_slice);
  g_test_add_func ("/traps/B112-same-words", test_b112_same_words);
  g_test_add_func ("/awq/gemv-whole-row", test_gemv_whole_row);
  g_test_add_func ("/fp8/blocks", test_fp8_blocks);
  g_test_add_func ("/leftovers", test_leftovers);
  g_test_add_func ("/listed", test_listed);
  g_test_add_func ("/lying-companions", test_lying_companions);
  g_test_add_func ("/nested-that-is-not", test_nested_that_is_not);
  g_test_add_func ("/assumption-groups", test_assumption_groups);
  g_test_add_func ("/config/bits-and-groups", test_bits_and_groups);
  g_test_add_func ("/config/float8-without-scale", test_float8_without_scale);
  g_test_add_func ("/config/method", test_method);
  g_test_add_func ("/config/absurd", test_absurd_configs);
  return g_test_run ();
}
