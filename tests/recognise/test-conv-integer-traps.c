/* Known traps of integer codes in packed words; each is named as in the list of traps. */
#include <string.h>

#include "recognise/conv-check.h"

#define HALF(x)                                                                                                        \
  ((x) == 0 ? 0 : (x) == 0.5 ? 0x3800 : (x) == 1 ? 0x3C00 : (x) == 2 ? 0x4000 : (x) == 10 ? 0x4900 : 0x7E00)

static void
add_halves (Build *build, const char *name, const char *shape, const guint16 *halves, gsize n)
{
  build_add (build, name, "F16", shape, halves, 2 * n);
}

static void
add_same (Build *build, const char *name, const char *dtype, const char *shape, guint32 word, gsize n)
{
  g_autofree guint32 *words = g_new (guint32, n);

  for (gsize i = 0; i < n; i++)
    words[i] = word;
  build_add (build, name, dtype, shape, words, 4 * n);
}

static void
add_same_halves (Build *build, const char *name, const char *shape, guint16 half, gsize n)
{
  g_autofree guint16 *halves = g_new (guint16, n);

  for (gsize i = 0; i < n; i++)
    halves[i] = half;
  add_halves (build, name, shape, halves, n);
}

/* One GPTQ layer of 32 columns × 8 rows, all codes 8, scale 0.5, zero points stored as given; 4 groups of 8. */
static char *
gptq_folder (guint32 zeros, const char *config, const gint32 *g_idx)
{
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  add_same (&build, "l.qweight", "I32", "4,8", 0x88888888, 32);
  add_same (&build, "l.qzeros", "I32", "4,1", zeros, 4);
  add_same_halves (&build, "l.scales", "4,8", 0x3800, 32);
  if (g_idx)
    build_add (&build, "l.g_idx", "I32", "32", g_idx, 128);
  build_write (&build, folder, "model.safetensors");
  if (config)
    write_text (folder, "config.json", config);
  return folder;
}

#define GPTQ(format, sym)                                                                                              \
  "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":8,\"sym\":" sym                       \
  ",\"checkpoint_format\":\"" format "\"}}"

/* B090: v1 stores the zero point less one, v2 as it is. */
static void
test_b090 (void)
{
  static const struct
  {
    guint32 zeros;
    const char *config, *choice;
    float value;
  } rows[] = {
    { 0x77777777, GPTQ ("gptq", "true"), NULL, 0 },
    { 0x88888888, GPTQ ("gptq_v2", "true"), NULL, 0 },
    { 0x77777777, NULL, NULL, 0 },
    { 0x88888888, NULL, NULL, 0 },
    { 0x88888888, GPTQ ("gptq_v2", "true"), "v1", -0.5f },
    { 0x77777777, NULL, "v2", 0.5f },
    { 0x97777777, NULL, NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *folder = gptq_folder (rows[i].zeros, rows[i].config, NULL);
      g_autoptr (TmModel) model
          = rows[i].choice ? open_with (folder, "gptq-zeros", rows[i].choice, NULL) : open_with (folder, NULL);
      const TmTensor *tensor = need_tensor (model, "l.weight");

      g_assert_cmpfloat (value_at (tensor, 0, 0), ==, rows[i].value);
      g_assert_cmpfloat (value_at (tensor, 6, 31), ==, rows[i].value);
      if (rows[i].choice == NULL)
        g_assert_false (tensor->config_conflict);
      g_assert_cmpstr (find_assumption (model, "gptq-zeros")->alternatives, ==, "v1|v2");
      check_agrees (tensor, 10);
      remove_folder (folder);
    }
}

/* B091: the config says v1 and the zero points say v2: they win, it is told why, and can be switched. */
static void
test_b091 (void)
{
  char *folder = gptq_folder (0x88888888, GPTQ ("gptq", "true"), NULL);
  g_autoptr (TmModel) model = open_with (folder, NULL), switched = open_with (folder, "gptq-zeros", "v1", NULL);
  const TmAssumption *assumption = find_assumption (model, "gptq-zeros");

  g_assert_cmpfloat (value_at (need_tensor (model, "l.weight"), 0, 0), ==, 0);
  g_assert_cmpstr (assumption->value, ==, "v2");
  g_assert_nonnull (strstr (assumption->evidence, "stored as 8"));
  g_assert_nonnull (strstr (assumption->evidence, "checkpoint_format is gptq"));
  g_assert_true (need_tensor (model, "l.weight")->config_conflict);
  g_assert_true (has_problem (model, "config-conflict"));
  g_assert_cmpfloat (value_at (need_tensor (switched, "l.weight"), 0, 0), ==, -0.5f);
  remove_folder (folder);
}

/* B093: a group index that was never filled. */
static void
test_b093 (void)
{
  const gint32 zeros[32] = { 0 };
  char *folder = make_folder ();
  Build build;
  guint16 scales[4 * 8];

  for (guint i = 0; i < 32; i++)
    scales[i] = (guint16) HALF (i / 8 == 0 ? 1 : i / 8 == 3 ? 10 : 2);
  build_init (&build);
  add_same (&build, "l.qweight", "I32", "4,8", 0x99999999, 32);
  add_same (&build, "l.qzeros", "I32", "4,1", 0x77777777, 4);
  add_halves (&build, "l.scales", "4,8", scales, 32);
  build_add (&build, "l.g_idx", "I32", "32", zeros, 128);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL), literal = open_with (folder, "g-idx", "literal", NULL);
    const TmTensor *tensor = need_tensor (model, "l.weight");

    g_assert_cmpfloat (value_at (tensor, 0, 0), ==, 1);
    g_assert_cmpfloat (value_at (tensor, 0, 31), ==, 10);
    g_assert_null (tensor->granularity->table);
    g_assert_cmpstr (find_assumption (model, "g-idx")->value, ==, "sequential");
    g_assert_true (has_problem (model, "group-index"));
    g_assert_cmpfloat (value_at (need_tensor (literal, "l.weight"), 0, 31), ==, 1);
    check_agrees (need_tensor (literal, "l.weight"), 10);
  }
  remove_folder (folder);
}

/* B094: columns take the scale of their group, and the granularity is a table, not rectangles. */
static void
test_b094 (void)
{
  const gint32 g_idx[8] = { 1, 0, 1, 0, 1, 0, 1, 0 };
  guint16 scales[16];
  Build build;
  char *folder = make_folder ();

  for (guint i = 0; i < 16; i++)
    scales[i] = (guint16) HALF (i < 8 ? 1 : 10);
  build_init (&build);
  add_same (&build, "l.qweight", "I32", "1,8", 0x99999999, 8);
  add_same (&build, "l.qzeros", "I32", "2,1", 0x77777777, 2);
  add_halves (&build, "l.scales", "2,8", scales, 16);
  build_add (&build, "l.g_idx", "I32", "8", g_idx, 32);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    const TmTensor *tensor = need_tensor (model, "l.weight");

    for (guint i = 0; i < 8; i++)
      g_assert_cmpfloat (value_at (tensor, 3, i), ==, g_idx[i] ? 10 : 1);
    g_assert_cmpint (tensor->granularity->table_axis, ==, 1);
    for (guint i = 0; i < 8; i++)
      g_assert_cmpuint (tensor->granularity->table[i], ==, (guint) g_idx[i]);
    check_agrees (tensor, 20);
  }
  remove_folder (folder);
}

/* B096: zero points as numbers, of the shape of the scales: used as they are. */
static void
test_b096 (void)
{
  guint16 zeros[2] = { 0x4200, 0xC500 }; /* 3, −5 */
  const gint64 shape[2] = { 1, 16 };
  Build build;
  char *folder = make_folder ();

  build_init (&build);
  add_same (&build, "a.weight_packed", "I32", "1,2", 0xAAAAAAAA, 2); /* q = 2 */
  add_same_halves (&build, "a.weight_scale", "1,2", 0x3C00, 2);
  add_halves (&build, "a.weight_zero_point", "1,2", zeros, 2);
  build_add (&build, "a.weight_shape", "I64", "2", shape, 16);
  /* the same in GPTQ's clothes: codes 10, zero point 3, no more added */
  add_same (&build, "b.qweight", "I32", "2,1", 0xAAAAAAAA, 2);
  add_same_halves (&build, "b.scales", "2,1", 0x3C00, 2);
  add_halves (&build, "b.qzeros", "2,1", zeros, 2);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);

    g_assert_cmpfloat (value_at (need_tensor (model, "a.weight"), 0, 0), ==, -1);
    g_assert_cmpfloat (value_at (need_tensor (model, "a.weight"), 0, 15), ==, 7);
    g_assert_cmpfloat (value_at (need_tensor (model, "b.weight"), 0, 0), ==, 7);
    g_assert_cmpfloat (value_at (need_tensor (model, "b.weight"), 0, 15), ==, 15);
    check_agrees (need_tensor (model, "a.weight"), 10);
    check_agrees (need_tensor (model, "b.weight"), 10);
  }
  remove_folder (folder);
}

static char *
awq_folder (guint32 zeros)
{
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  add_same (&build, "l.qweight", "I32", "4,1", 0x76543210, 4);
  add_same (&build, "l.qzeros", "I32", "1,1", zeros, 1);
  add_same_halves (&build, "l.scales", "1,8", 0x3C00, 8);
  build_write (&build, folder, "model.safetensors");
  return folder;
}

/* B097: nibbles of a word are interleaved, of weights and of zero points. */
static void
test_b097 (void)
{
  static const float order[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };
  char *folder = awq_folder (0), *with_zeros = awq_folder (0x76543210);
  g_autoptr (TmModel) model = open_with (folder, NULL), linear = open_with (folder, "nibbles", "linear", NULL);
  g_autoptr (TmModel) zeros = open_with (with_zeros, NULL);

  for (guint o = 0; o < 8; o++)
    {
      g_assert_cmpfloat (value_at (need_tensor (model, "l.weight"), o, 0), ==, order[o]);
      g_assert_cmpfloat (value_at (need_tensor (linear, "l.weight"), o, 2), ==, (float) o);
      g_assert_cmpfloat (value_at (need_tensor (zeros, "l.weight"), o, 3), ==, 0);
    }
  g_assert_cmpstr (find_assumption (model, "nibbles")->value, ==, "interleaved");
  check_agrees (need_tensor (zeros, "l.weight"), 10);
  remove_folder (folder);
  remove_folder (with_zeros);
}

/* B099: 32 inputs × 64 outputs, stored [in, out/8] and [out, in/8]: both are shown [out, in]. */
static void
test_b099 (void)
{
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  add_same (&build, "gemm.qweight", "I32", "32,8", 0, 256);
  add_same (&build, "gemm.qzeros", "I32", "1,8", 0, 8);
  add_same_halves (&build, "gemm.scales", "1,64", 0x3C00, 64);
  add_same (&build, "gemv.qweight", "I32", "64,4", 0x87654321, 256);
  add_same (&build, "gemv.qzeros", "I32", "64,4", 0, 256);
  add_same_halves (&build, "gemv.scales", "64,32", 0x3C00, 2048);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    const TmTensor *gemm = need_tensor (model, "gemm.weight"), *gemv = need_tensor (model, "gemv.weight");

    g_assert_cmpuint (gemm->shape[0], ==, 64);
    g_assert_cmpuint (gemm->shape[1], ==, 32);
    g_assert_cmpuint (gemv->shape[0], ==, 64);
    g_assert_cmpuint (gemv->shape[1], ==, 32);
    g_assert_cmpuint (gemm->values->shape[1], ==, 8);
    for (guint i = 0; i < 8; i++)
      g_assert_cmpfloat (value_at (gemv, 5, i), ==, (float) (i + 1));
  }
  remove_folder (folder);
}

/* B099b: a reader that packs along columns, adds nothing to zero points and interleaves nothing sees other numbers. */
static void
test_b099b (void)
{
  const guint32 words[2] = { 0x76543210, 0xFEDCBA98 };
  char *folder = make_folder (), *awq = awq_folder (0);
  Build build;

  build_init (&build);
  build_add (&build, "l.qweight", "I32", "2,1", words, 8);
  add_same_halves (&build, "l.scales", "1,1", 0x3C00, 1);
  add_same_halves (&build, "l.qzeros", "1,1", 0, 1);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL), interleaved = open_with (awq, NULL);
    const TmTensor *tensor = need_tensor (model, "l.weight");

    g_assert_cmpuint (tensor->shape[0], ==, 1);
    g_assert_cmpuint (tensor->shape[1], ==, 16);
    for (guint i = 0; i < 16; i++)
      g_assert_cmpfloat (value_at (tensor, 0, i), ==, (float) i);
    g_assert_cmpfloat (value_at (need_tensor (interleaved, "l.weight"), 1, 0), ==, 4);
  }
  remove_folder (folder);
  remove_folder (awq);
}

/* B100: places and words are those of the file. */
static void
test_b100 (void)
{
  char *folder = gptq_folder (0x77777777, NULL, NULL);
  g_autoptr (TmModel) model = open_with (folder, NULL);
  const TmTensor *tensor = need_tensor (model, "l.weight");
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  const guint64 index[2] = { 5, 13 };
  guint8 byte;

  g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
  g_assert_cmpuint (scalar.n_locations, ==, 1);
  /* word row 13 / 8 = 1, column 5, nibble 5 */
  g_assert_cmpuint (scalar.location[0].byte, ==, tensor->values->offset + (1 * 8 + 5) * 4 + 2);
  g_assert_cmpuint (scalar.location[0].bit, ==, 4);
  g_assert_true (tm_source_read (scalar.location[0].source, scalar.location[0].byte, &byte, 1, NULL));
  g_assert_cmpint (byte >> 4, ==, scalar.raw);
  remove_folder (folder);
}

/* B112: three bits, 512 columns: 52 words are padded, 48 are dense. */
static void
test_b112 (void)
{
  for (guint padded = 0; padded < 2; padded++)
    {
      const guint n_words = padded ? 52 : 48;
      const gint64 shape[2] = { 1, 512 };
      g_autofree guint32 *words = g_new0 (guint32, n_words);
      g_autofree char *size = g_strdup_printf ("1,%u", n_words);
      char *folder = make_folder ();
      Build build;

      for (guint i = 0; i < 512; i++)
        for (guint b = 0; b < 3; b++)
          {
            guint bit = padded ? i / 10 * 32 + i % 10 * 3 + b : 3 * i + b;

            words[bit / 32] |= (i % 8 >> b & 1) << bit % 32;
          }
      build_init (&build);
      build_add (&build, "l.weight_packed", "I32", size, words, 4 * n_words);
      add_same_halves (&build, "l.weight_scale", "1,1", 0x3C00, 1);
      build_add (&build, "l.weight_shape", "I64", "2", shape, 16);
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);
        const TmTensor *tensor = need_tensor (model, "l.weight");

        g_assert_cmpstr (tensor->dtype_label, ==, "U3");
        for (guint i = 0; i < 512; i++)
          g_assert_cmpfloat (value_at (tensor, 0, i), ==, (float) (i % 8) - 4);
        g_assert_cmpstr (find_assumption (model, "packing")->value, ==, padded ? "padded" : "dense");
        check_agrees (tensor, 20);
      }
      remove_folder (folder);
    }
  { /* 128 words are 512 columns of eight bits or, padded, of seven: said to be so, and can be switched */
    const gint64 shape[2] = { 1, 512 };
    char *folder = make_folder ();
    Build build;

    build_init (&build);
    add_same (&build, "l.weight_packed", "I32", "1,128", 0x80808080, 128);
    add_same_halves (&build, "l.weight_scale", "1,1", 0x3C00, 1);
    build_add (&build, "l.weight_shape", "I64", "2", shape, 16);
    build_write (&build, folder, "model.safetensors");
    {
      g_autoptr (TmModel) model = open_with (folder, NULL), seven = open_with (folder, "bits", "7", NULL);

      g_assert_cmpstr (need_tensor (model, "l.weight")->dtype_label, ==, "U8");
      g_assert_cmpstr (find_assumption (model, "bits")->alternatives, ==, "8|7");
      g_assert_cmpfloat (value_at (need_tensor (model, "l.weight"), 0, 100), ==, 0);
      g_assert_cmpstr (need_tensor (seven, "l.weight")->dtype_label, ==, "U7");
    }
    remove_folder (folder);
  }
}

/* B113: symmetric codes are stored with 2^(bits − 1) added. */
static void
test_b113 (void)
{
  const gint64 shape[2] = { 2, 8 };
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  add_same (&build, "l.weight_packed", "I32", "2,1", 0x88888888, 2);
  add_same_halves (&build, "l.weight_scale", "2,1", 0x3C00, 2);
  build_add (&build, "l.weight_shape", "I64", "2", shape, 16);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    const TmTensor *tensor = need_tensor (model, "l.weight");

    for (guint i = 0; i < 16; i++)
      g_assert_cmpfloat (value_at (tensor, i / 8, i % 8), ==, 0);
    g_assert_cmpint (tensor->symmetric, ==, 1);
    { /* the record has the code as it is stored, and the signed one beside it */
      g_auto (TmScalar) scalar = TM_SCALAR_INIT;
      const guint64 index[2] = { 1, 3 };
      g_autofree char *text = NULL;

      g_assert_true (tm_tensor_explain (tensor, index, &scalar, NULL));
      g_assert_cmpint (scalar.raw, ==, 8);
      text = tm_scalar_to_json (&scalar);
      g_assert_nonnull (strstr (text, "\"q\":8,\"zero\":8,\"signed_q\":0"));
    }
  }
  remove_folder (folder);
}

/* B078, B184: parameters are those of the weight; companions are under it and in its bits per weight. */
static void
test_b078 (void)
{
  gint32 g_idx[64];
  char *folder = make_folder ();
  Build build;

  for (gint32 i = 0; i < 64; i++)
    g_idx[i] = i / 32;
  build_init (&build);
  add_same (&build, "l.qweight", "I32", "8,32", 0, 256);
  add_same (&build, "l.qzeros", "I32", "2,4", 0x77777777, 8);
  add_same_halves (&build, "l.scales", "2,32", 0x3C00, 64);
  build_add (&build, "l.g_idx", "I32", "64", g_idx, 256);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    const TmTensor *tensor = need_tensor (model, "l.weight");
    const guint64 bytes = 1024 + 32 + 128 + 256;

    g_assert_cmpuint (model->tensors->len, ==, 1);
    g_assert_cmpuint (model->stored->len, ==, 4);
    g_assert_cmpuint (model->parameters, ==, 2048);
    g_assert_cmpuint (tensor->bytes, ==, bytes);
    g_assert_cmpfloat (tm_tensor_get_bits_per_weight (tensor), ==, (double) bytes * 8 / 2048);
  }
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traps/B078", test_b078);
  g_test_add_func ("/traps/B090", test_b090);
  g_test_add_func ("/traps/B091", test_b091);
  g_test_add_func ("/traps/B093", test_b093);
  g_test_add_func ("/traps/B094", test_b094);
  g_test_add_func ("/traps/B096", test_b096);
  g_test_add_func ("/traps/B097", test_b097);
  g_test_add_func ("/traps/B099", test_b099);
  g_test_add_func ("/traps/B099b", test_b099b);
  g_test_add_func ("/traps/B100", test_b100);
  g_test_add_func ("/traps/B112", test_b112);
  g_test_add_func ("/traps/B113", test_b113);
  g_test_add_func ("/traps/B184", test_b078);
  return g_test_run ();
}
