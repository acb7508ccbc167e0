/* The sample's encoders were written without the engine: what they pack, the engine's decoders must unpack to numbers
 * as near as the type allows. And the sample has what every view needs to have something to show. */
#include "quant/codecs.h"
#include "recognise/recognise.h"

#include "sample-quantize.h"

#include <math.h>
#include <string.h>

static const char *sample_path;

/* --- Encoders ------------------------------------------------------------------------------------------------------
 */

static void
test_halves (void)
{
  for (guint bits = 0; bits < 0x7c00; bits++)
    {
      float here = sample_half_to_float ((guint16)bits), above = sample_half_to_float ((guint16)(bits + 1));

      g_assert_cmphex (sample_float_to_half (here), ==, bits);
      g_assert_cmphex (sample_float_to_half (-here), ==, bits | 0x8000);
      if (bits + 1 == 0x7c00)
        break;
      /* the middle goes to the even neighbour, and no further */
      g_assert_cmphex (sample_float_to_half ((here + above) / 2), ==, bits & 1 ? bits + 1 : bits);
      g_assert_cmphex (sample_float_to_half (nextafterf ((here + above) / 2, INFINITY)), ==, bits + 1);
      g_assert_cmphex (sample_float_to_half (nextafterf ((here + above) / 2, 0)), ==, bits);
    }
}

typedef struct
{
  SampleType type;
  TmDtype dtype;
  double largest_error; /* root mean square of the error over that of the values, for noise */
} Encoder;

static const Encoder encoders[] = {
  { SAMPLE_Q8_0, TM_DTYPE_Q8_0, 0.008 },
  { SAMPLE_Q4_K, TM_DTYPE_Q4_K, 0.09 },
  { SAMPLE_Q6_K, TM_DTYPE_Q6_K, 0.025 },
};

static double
measure_error (const Encoder *encoder, const float *values)
{
  const TmBlockCodec *codec = tm_block_codec_get (encoder->dtype);
  const SampleTypeInfo *info = &sample_types[encoder->type];
  guint8 packed[2048];
  float decoded[256];
  double error = 0, power = 0;
  gsize n_blocks = 256 / info->elements;

  g_assert_cmpuint (info->elements, ==, tm_dtype_get_info (encoder->dtype)->block_elements);
  g_assert_cmpuint (info->bytes, ==, tm_dtype_get_info (encoder->dtype)->block_bytes);
  for (gsize b = 0; b < n_blocks; b++)
    info->encode (values + b * info->elements, packed + b * info->bytes);
  codec->values (packed, n_blocks, decoded);
  for (int i = 0; i < 256; i++)
    {
      error += ((double)decoded[i] - (double)values[i]) * ((double)decoded[i] - (double)values[i]);
      power += (double)values[i] * (double)values[i];
    }
  return power > 0 ? sqrt (error / power) : error;
}

static void
test_encoders (void)
{
  for (gsize e = 0; e < G_N_ELEMENTS (encoders); e++)
    for (int round = 0; round < 200; round++)
      {
        float values[256];

        for (int i = 0; i < 256; i++) /* every 16 of another size: an error of order shows at once */
          values[i] = (float)(g_test_rand_double_range (-1, 1) * (1 + i / 16) * 0.01);
        g_assert_cmpfloat (measure_error (&encoders[e], values), <, encoders[e].largest_error);
      }
}

static void
test_flat_blocks (void)
{
  for (gsize e = 0; e < G_N_ELEMENTS (encoders); e++)
    {
      float values[256] = { 0 };

      g_assert_cmpfloat (measure_error (&encoders[e], values), ==, 0);
      for (int i = 0; i < 256; i++)
        values[i] = -0.5f;
      g_assert_cmpfloat (measure_error (&encoders[e], values), <, 0.02);
    }
}

/* --- The file ------------------------------------------------------------------------------------------------------
 */

static TmModel *
open_sample (void)
{
  g_autoptr (GError) error = NULL;
  TmModel *model = tm_open_model (sample_path, NULL, &error);

  g_assert_no_error (error);
  return model;
}

static void
test_sample_is_clean (void)
{
  g_autoptr (TmModel) model = open_sample ();

  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpstr (model->name, ==, "Tensormorph sample");
  g_assert_cmpstr (model->architecture, ==, "llama");
  g_assert_cmpuint (model->tensors->len, ==, 57);
}

static void
test_sample_folds (void)
{
  g_autoptr (TmModel) model = open_sample ();
  const TmModule *parent = tm_module_find (model->root, "blk.0")->parent;

  g_assert_cmpuint (parent->folds->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const TmFold *fold = &g_array_index (parent->folds, TmFold, i);
      const TmModule *first = g_ptr_array_index (parent->children, fold->first);

      g_assert_cmpstr (first->path, ==, i == 0 ? "blk.0" : "blk.3");
      g_assert_cmpuint (fold->count, ==, 2);
    }
}

static float *
decode (TmModel *model, const char *name, guint64 *n)
{
  const TmTensor *tensor = tm_model_tensor (model, (guint)tm_model_find_tensor (model, name));
  g_autoptr (GError) error = NULL;
  float *values = g_new (float, tensor->n_elements);

  *n = tensor->n_elements;
  tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, tensor->n_elements, values, NULL, &error);
  g_assert_no_error (error);
  return values;
}

/* Two of four gone, and some rows whole: in a type that keeps zeros. */
static void
test_sample_pruned (void)
{
  g_autoptr (TmModel) model = open_sample ();
  guint64 n, zeros = 0, rows = 0;
  g_autofree float *values = decode (model, "blk.2.ffn_up.weight", &n);

  for (guint64 at = 0; at < n; at += 4)
    {
      guint in_four = 0;
      for (guint i = 0; i < 4; i++)
        in_four += values[at + i] == 0;
      g_assert_cmpuint (in_four, >=, 2);
      zeros += in_four;
    }
  for (guint64 row = 0; row < n / 256; row++)
    {
      gboolean empty = TRUE;
      for (guint column = 0; column < 256 && empty; column++)
        empty = values[row * 256 + column] == 0;
      rows += empty;
    }
  g_assert_cmpuint (rows, ==, 48);
  g_assert_cmpuint (zeros, <, n * 6 / 10);
}

/* Spread of the columns: most alike, a few many times as wide. */
static void
test_sample_outliers (void)
{
  g_autoptr (TmModel) model = open_sample ();
  guint64 n;
  g_autofree float *values = decode (model, "blk.0.attn_q.weight", &n);
  double power[256] = { 0 }, whole = 0, widest = 0;

  for (guint64 i = 0; i < n; i++)
    power[i % 256] += (double)values[i] * (double)values[i];
  for (guint column = 0; column < 256; column++)
    {
      whole += power[column];
      widest = MAX (widest, power[column]);
    }
  g_assert_cmpfloat (widest, >, 8 * whole / 256);
  g_assert_cmpfloat (widest, <, 0.3 * whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  sample_path = argv[1];
  g_test_add_func ("/sample/halves", test_halves);
  g_test_add_func ("/sample/encoders", test_encoders);
  g_test_add_func ("/sample/flat-blocks", test_flat_blocks);
  g_test_add_func ("/sample/is-clean", test_sample_is_clean);
  g_test_add_func ("/sample/folds", test_sample_folds);
  g_test_add_func ("/sample/pruned", test_sample_pruned);
  g_test_add_func ("/sample/outliers", test_sample_outliers);
  return g_test_run ();
}
