/* Damaged companions: a problem that names the piece, the stored tensors left in sight, never a crash. */
#include <string.h>

#include "recognise/conv-check.h"
#include "recognise/quant-state.h"

static const float sixteen[16];

/* Every tensor that has a decoder is decoded in full, whatever it says. */
static void
decode_all (TmModel *model)
{
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      gsize n = (gsize) MIN (tensor->n_elements, 40000);
      g_autofree float *out = g_new (float, n + 1);
      g_autofree gint32 *raw = g_new (gint32, n + 1);
      g_autofree guint64 *index = g_new0 (guint64, tensor->rank + 1);

      for (guint q = 0; q < TM_N_QUANTITIES; q++)
        {
          tm_tensor_decode (tensor, (TmQuantity) q, 0, n, out, NULL, NULL);
          tm_tensor_decode (tensor, (TmQuantity) q, tensor->n_elements - n, n, out, NULL, NULL);
        }
      tm_tensor_decode_raw (tensor, 0, n, raw, NULL, NULL);
      for (guint k = 0; k < 3 && tensor->n_elements > 0; k++)
        {
          g_auto (TmScalar) scalar = TM_SCALAR_INIT;
          g_auto (TmPacking) packing = TM_PACKING_INIT;

          tm_tensor_unflatten (tensor, k == 0 ? 0 : k == 1 ? tensor->n_elements / 2 : tensor->n_elements - 1, index);
          if (tm_tensor_explain (tensor, index, &scalar, NULL))
            {
              g_autofree char *text = tm_scalar_to_json (&scalar);

              g_assert_nonnull (text);
            }
          tm_tensor_describe_block (tensor, index, &packing, NULL);
        }
    }
}

/* Opens what was built and asserts that nothing was folded and that the problem's words have the piece. */
static void
refused (Build *build, const char *code, const char *piece)
{
  char *folder = make_folder ();
  g_autoptr (TmModel) model = NULL;
  gboolean found = FALSE;

  build_write (build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  g_assert_cmpuint (model->tensors->len, ==, model->stored->len);
  for (guint i = 0; i < model->tensors->len; i++)
    g_assert_false (tm_model_tensor (model, i)->quantized);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      found |= strcmp (problem->code, code) == 0 && strstr (problem->message, piece) != NULL;
      if (!found)
        g_test_message ("%s: %s", problem->code, problem->message);
    }
  g_assert_true (found);
  decode_all (model);
  remove_folder (folder);
}

static void
add_state (Build *build, const char *json)
{
  g_autofree char *shape = g_strdup_printf ("%zu", strlen (json));

  build_add (build, "a.weight.quant_state.bitsandbytes__nf4", "U8", shape, json, strlen (json));
}

static void
begin_nf4 (Build *build, const char *blocks, gsize n_blocks)
{
  build_init (build);
  build_add (build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (build, "a.weight.absmax", "F32", blocks, NULL, 4 * n_blocks);
  build_add (build, "a.weight.quant_map", "F32", "16", sixteen, 64);
}

static void
test_quant_state (void)
{
  static const char *const broken[] = {
    "",
    "{",
    "[]",
    "{\"quant_type\":\"nf4\"}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[0,64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[-1,64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[1e2,64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[\"64\"]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[[64]]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":64}",
    "{\"quant_type\":\"nf4\",\"blocksize\":0,\"shape\":[64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":-64,\"shape\":[64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":99999999999999999999,\"shape\":[64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[4294967296,4294967296]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[9223372036854775807,2]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[1,1,1,1,1,1,1,1,64]}",
    "{\"quant_type\":\"int4\",\"blocksize\":64,\"shape\":[64]}",
    "{\"quant_type\":4,\"blocksize\":64,\"shape\":[64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"blocksize\":32,\"shape\":[64]}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":256}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":0,\"nested_offset\":0}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":256,\"nested_offset\":1e999}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":256,\"nested_offset\":\"0\"}",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64]} x",
    "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      TmQuantState state;
      g_autoptr (GError) error = NULL;
      Build build;

      g_assert_false (tm_quant_state_parse (broken[i], strlen (broken[i]), &state, &error));
      g_assert_nonnull (error);
      if (broken[i][0] == '\0')
        continue; /* no tensor of no bytes here */
      begin_nf4 (&build, "1", 1);
      add_state (&build, broken[i]);
      refused (&build, "quant-state", "quant_state");
    }
}

static void
test_bitsandbytes (void)
{
  static const char fine[] = "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64]}";
  static const char nested[]
      = "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[64],\"nested_blocksize\":256,\"nested_offset\":0.5}";
  Build build;

  begin_nf4 (&build, "2", 2); /* one block too many */
  add_state (&build, fine);
  refused (&build, "companion-shape", "absmax has 2 entries for 1 blocks");

  begin_nf4 (&build, "1", 1);
  add_state (&build, "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[66]}");
  refused (&build, "companion-shape", "bytes");

  begin_nf4 (&build, "1", 1);
  add_state (&build, "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[1073741824,1073741824]}");
  refused (&build, "companion-shape", "bytes");

  build_init (&build);
  build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (&build, "a.weight.absmax", "F32", "1", NULL, 4);
  add_state (&build, fine);
  refused (&build, "companion-shape", "quant_map");

  build_init (&build);
  build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (&build, "a.weight.absmax", "F32", "1", NULL, 4);
  build_add (&build, "a.weight.quant_map", "F32", "15", NULL, 60);
  add_state (&build, fine);
  refused (&build, "companion-shape", "sixteen");

  build_init (&build);
  build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (&build, "a.weight.quant_map", "F32", "16", sixteen, 64);
  add_state (&build, fine);
  refused (&build, "missing-companion", "absmax is missing");

  for (guint lacking = 0; lacking < 3; lacking++)
    { /* nested, without its outer scales, its table, or with a table too short for the codes */
      static const char *const piece[] = { "nested_absmax is missing", "nested_quant_map is missing", "256" };

      build_init (&build);
      build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
      build_add (&build, "a.weight.absmax", "U8", "1", "\xFF", 1);
      build_add (&build, "a.weight.quant_map", "F32", "16", sixteen, 64);
      if (lacking != 0)
        build_add (&build, "a.weight.nested_absmax", "F32", "1", NULL, 4);
      if (lacking != 1)
        build_add (&build, "a.weight.nested_quant_map", "F32", lacking == 2 ? "255" : "256", NULL,
                   lacking == 2 ? 1020 : 1024);
      add_state (&build, nested);
      refused (&build, "companion-shape", piece[lacking]);
    }

  build_init (&build); /* nested by its dtype, and the state does not say so */
  build_add (&build, "a.weight", "U8", "32,1", NULL, 32);
  build_add (&build, "a.weight.absmax", "U8", "1", NULL, 1);
  build_add (&build, "a.weight.quant_map", "F32", "16", sixteen, 64);
  add_state (&build, fine);
  refused (&build, "companion-shape", "nested");

  build_init (&build);
  build_add (&build, "a.weight", "I8", "4,8", NULL, 32);
  build_add (&build, "a.SCB", "F32", "5", NULL, 20);
  refused (&build, "companion-shape", "SCB");

  build_init (&build);
  build_add (&build, "a.weight", "I8", "4,8", NULL, 32);
  build_add (&build, "a.SCB", "F32", "4", NULL, 16);
  build_add (&build, "a.weight_format", "U8", "", "\x02", 1);
  refused (&build, "weight-format", "GPU");
}

/* Without the JSON the shape is gone: one row, and said so. */
static void
test_state_missing (void)
{
  char *folder = make_folder ();
  g_autoptr (TmModel) model = NULL;
  const TmTensor *tensor;
  Build build;

  begin_nf4 (&build, "1", 1);
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  tensor = need_tensor (model, "a.weight");
  g_assert_cmpuint (tensor->rank, ==, 1);
  g_assert_cmpuint (tensor->n_elements, ==, 64);
  g_assert_true (has_problem (model, "quant-state"));
  g_assert_nonnull (find_assumption (model, "group"));
  decode_all (model);
  remove_folder (folder);
}

static void
test_float8 (void)
{
  Build build;

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "4,8", NULL, 32);
  build_add (&build, "a.weight_scale", "F32", "3", NULL, 12);
  refused (&build, "fp8-scale", "3 scales");

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "7,11", NULL, 77);
  build_add (&build, "a.weight_scale_inv", "F32", "3,5", NULL, 60);
  refused (&build, "fp8-scale", "fit no block size");

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "4,8", NULL, 32);
  build_add (&build, "a.weight_scale", "I32", "4", NULL, 16);
  refused (&build, "fp8-scale", "I32");

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "2,4,8", NULL, 64);
  build_add (&build, "a.weight_scale", "F32", "3,1,1", NULL, 12);
  refused (&build, "fp8-scale", "shape");

  build_init (&build);
  build_add (&build, "a.weight", "F8_E4M3", "4,64", NULL, 256);
  build_add (&build, "a.weight_scale", "U8", "4,3", NULL, 12);
  refused (&build, "fp8-scale", "32");
}

static void
test_float4 (void)
{
  Build build;

  build_init (&build);
  build_add (&build, "a.weight_packed", "U8", "2,16", NULL, 32);
  refused (&build, "missing-companion", "weight_scale");

  build_init (&build);
  build_add (&build, "a.weight_packed", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight_scale", "U8", "2,2", NULL, 4);
  refused (&build, "companion-shape", "32 elements");

  build_init (&build);
  build_add (&build, "a.weight_packed", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight_scale", "F8_E4M3", "2,2", NULL, 4);
  refused (&build, "missing-companion", "weight_global_scale");

  build_init (&build);
  build_add (&build, "a.weight", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight_scale", "F8_E4M3", "2,3", NULL, 6);
  build_add (&build, "a.weight_scale_2", "F32", "", NULL, 4);
  refused (&build, "companion-shape", "16 elements");

  build_init (&build);
  build_add (&build, "a.weight", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight_scale", "F8_E4M3", "2,2", NULL, 4);
  build_add (&build, "a.weight_scale_2", "F32", "3", NULL, 12);
  refused (&build, "companion-shape", "weight_scale_2");

  build_init (&build);
  build_add (&build, "x_blocks", "U8", "2,3,16", NULL, 96);
  refused (&build, "missing-companion", "scales");

  build_init (&build);
  build_add (&build, "x_blocks", "U8", "2,3,16", NULL, 96);
  build_add (&build, "x_scales", "U8", "3,2", NULL, 6);
  refused (&build, "companion-shape", "scales");
}

static void
test_mlx (void)
{
  Build build;

  build_init (&build);
  build_add (&build, "a.weight", "U32", "2,16", NULL, 128);
  build_add (&build, "a.biases", "F16", "2,2", NULL, 8);
  refused (&build, "missing-companion", "scales");

  build_init (&build);
  build_add (&build, "a.weight", "U32", "2,16", NULL, 128);
  build_add (&build, "a.scales", "F16", "2,2", NULL, 8);
  refused (&build, "missing-companion", "biases");

  build_init (&build);
  build_add (&build, "a.weight", "U32", "2,16", NULL, 128);
  build_add (&build, "a.scales", "F16", "2,3", NULL, 12);
  build_add (&build, "a.biases", "F16", "2,3", NULL, 12);
  refused (&build, "companion-shape", "scales");

  build_init (&build);
  build_add (&build, "a.weight", "U32", "2,16", NULL, 128);
  build_add (&build, "a.scales", "F16", "2,2", NULL, 8);
  build_add (&build, "a.biases", "F16", "2,1", NULL, 4);
  refused (&build, "companion-shape", "biases");

  build_init (&build); /* bits × group = 7 */
  build_add (&build, "a.weight", "U32", "2,7", NULL, 56);
  build_add (&build, "a.scales", "F16", "2,32", NULL, 128);
  build_add (&build, "a.biases", "F16", "2,32", NULL, 128);
  refused (&build, "companion-shape", "= 7");
}

static void
test_hqq (void)
{
  for (guint wrong = 0; wrong < 7; wrong++)
    {
      static const char *const piece[]
          = { "scale is missing", "nbits", "axis", "shape", "packing", "W_q", "group_size" };
      const gint32 nbits = wrong == 1 ? 77 : 4, group = wrong == 6 ? 0 : 8, axis = wrong == 2 ? 2 : 1;
      const gint64 shape[2] = { wrong == 3 ? -2 : 2, wrong == 5 ? 16 : 8 };
      Build build;

      build_init (&build);
      build_add (&build, "a.W_q", "U8", "1,8", NULL, 8);
      if (wrong != 0)
        build_add (&build, "a.scale", "F16",
                   wrong == 5   ? "4,1"
                   : wrong == 6 ? "3,1"
                                : "2,1",
                   NULL,
                   wrong == 5   ? 8
                   : wrong == 6 ? 6
                                : 4);
      build_add (&build, "a.zero", "F16",
                 wrong == 5   ? "4,1"
                 : wrong == 6 ? "3,1"
                              : "2,1",
                 NULL,
                 wrong == 5   ? 8
                 : wrong == 6 ? 6
                              : 4);
      build_add (&build, "a.nbits", "I32", "", &nbits, 4);
      build_add (&build, "a.group_size", "I32", "", &group, 4);
      build_add (&build, "a.axis", "I32", "", &axis, 4);
      build_add (&build, "a.shape", "I64", "2", shape, 16);
      build_add (&build, "a.packing", "U8", "7", wrong == 4 ? "4bit_99" : "4bit_u8", 7);
      refused (&build, wrong == 0 ? "missing-companion" : wrong >= 5 ? "companion-shape" : "hqq-facts", piece[wrong]);
    }
}

static void
test_quanto_and_aqlm (void)
{
  Build build;

  build_init (&build); /* no width anywhere */
  build_add (&build, "a.weight._data._data", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight._scale", "F32", "4,1", NULL, 16);
  build_add (&build, "a.weight._shift", "F32", "4,1", NULL, 16);
  refused (&build, "quanto-shape", "shape is not stored");

  build_init (&build);
  build_add (&build, "a.weight._data._data", "U8", "2,16", NULL, 32);
  build_add (&build, "a.weight._scale", "F32", "4,1", NULL, 16);
  refused (&build, "missing-companion", "_shift");

  build_init (&build);
  build_add (&build, "a.weight._data._data", "U8", "3,16", NULL, 48);
  build_add (&build, "a.weight._scale", "F32", "4,1", NULL, 16);
  build_add (&build, "a.weight._shift", "F32", "4,1", NULL, 16);
  build_add (&build, "a.bias", "F32", "4", NULL, 16);
  refused (&build, "quanto-shape", "rows");

  build_init (&build);
  build_add (&build, "a.weight._data", "I8", "4,16", NULL, 64);
  build_add (&build, "a.weight._scale", "F32", "3,1", NULL, 12);
  refused (&build, "companion-shape", "_scale");

  build_init (&build);
  build_add (&build, "a.codes", "I8", "4,2,2", NULL, 16);
  build_add (&build, "a.codebooks", "F16", "3,4,1,8", NULL, 192);
  build_add (&build, "a.scales", "F16", "4,1,1,1", NULL, 8);
  refused (&build, "companion-shape", "codebooks");

  build_init (&build); /* entries that are no power of two could be left by a code */
  build_add (&build, "a.codes", "I8", "4,2,1", NULL, 8);
  build_add (&build, "a.codebooks", "F16", "1,3,1,8", NULL, 48);
  build_add (&build, "a.scales", "F16", "4,1,1,1", NULL, 8);
  refused (&build, "companion-shape", "codebooks");
}

/* Schemes without a scalar to show say so and keep their tensors. */
static void
test_listed (void)
{
  char *folder = make_folder ();
  g_autoptr (TmModel) model = NULL;
  guint notes = 0;
  Build build;

  build_init (&build);
  build_add (&build, "a.Qidxs", "I64", "2,2", NULL, 32);
  build_add (&build, "a.SU", "F16", "4", NULL, 8);
  build_add (&build, "a.SV", "F16", "4", NULL, 8);
  build_add (&build, "b.indices", "I32", "2", NULL, 8);
  build_add (&build, "b.centroids.weight", "F16", "1,4", NULL, 8);
  build_add (&build, "c.trellis", "I16", "2,2,16", NULL, 128);
  build_add (&build, "c.suh", "F16", "4", NULL, 8);
  build_add (&build, "d.qweight", "I8", "4,4", NULL, 16);
  build_add (&build, "d.weight_scales", "F16", "4", NULL, 8);
  build_write (&build, folder, "model.safetensors");
  model = open_with (folder, NULL);
  g_assert_cmpuint (model->tensors->len, ==, model->stored->len);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      notes += strcmp (problem->code, "values-not-defined") == 0;
      g_assert_cmpint (problem->severity, ==, TM_SEVERITY_NOTE);
    }
  g_assert_cmpuint (notes, ==, 4);
  remove_folder (folder);
}

/* Golden files with digits of the header, letters of names or bytes of small companions changed. */
static void
test_mutated (void)
{
  g_autofree char *root = g_build_filename (g_test_get_dir (G_TEST_DIST), "golden", "quant", NULL);
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (4711);
  const guint rounds = g_test_thorough () ? 200 : 25;
  char *folder = make_folder ();
  g_autofree char *target = g_build_filename (folder, "model.safetensors", NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (root, name, "model.safetensors", NULL), *bytes = NULL;
      gsize length;

      if (!g_file_get_contents (path, &bytes, &length, NULL))
        continue;
      for (guint round = 0; round < rounds; round++)
        {
          g_autofree char *copy = g_memdup2 (bytes, length);
          guint64 header;
          g_autoptr (TmModel) model = NULL;

          memcpy (&header, copy, 8);
          header = GUINT64_FROM_LE (header);
          for (guint change = 0; change < 1 + round % 3; change++)
            {
              gsize at = 8 + (gsize) g_rand_int_range (rand, 0, (gint32) header);

              if (round % 5 == 4) /* data: the JSON, sizes and axes are among the last bytes */
                copy[length - 1 - (gsize) g_rand_int_range (rand, 0, (gint32) MIN (length - 8 - header, 400))]
                    = (char) g_rand_int_range (rand, 0, 256);
              else
                {
                  while (at < 8 + header && !g_ascii_isalnum (copy[at]))
                    at++;
                  if (at < 8 + header)
                    copy[at] = g_ascii_isdigit (copy[at]) ? (char) ('0' + g_rand_int_range (rand, 0, 10)) : 'z';
                }
            }
          g_assert_true (
              g_file_set_contents_full (target, copy, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
          model = tm_open_model (folder, NULL, NULL);
          if (model != NULL)
            decode_all (model);
        }
    }
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/damage/quant-state", test_quant_state);
  g_test_add_func ("/damage/bitsandbytes", test_bitsandbytes);
  g_test_add_func ("/damage/state-missing", test_state_missing);
  g_test_add_func ("/damage/float8", test_float8);
  g_test_add_func ("/damage/float4", test_float4);
  g_test_add_func ("/damage/mlx", test_mlx);
  g_test_add_func ("/damage/hqq", test_hqq);
  g_test_add_func ("/damage/quanto-and-aqlm", test_quanto_and_aqlm);
  g_test_add_func ("/damage/listed", test_listed);
  g_test_add_func ("/damage/mutated", test_mutated);
  return g_test_run ();
}
