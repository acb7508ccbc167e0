/* Linear attention aligned across formats, and other changes that only one architecture makes: every reading is held to bit
 * equality against values moved about here by plain loops written from the formulas. */
#include "planted.h"

#include <string.h>

#include "analysis/diff.h"

#define D 8 /* columns of the matrices here */

static TmAlignment *
align (TmModel *candidate, TmModel *reference)
{
  g_autoptr (GError) error = NULL;
  TmAlignment *alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return alignment;
}

static void
assert_exact (TmModel *candidate, TmModel *reference, const char *name, const char *words)
{
  g_autoptr (TmAlignment) alignment = align (candidate, reference);
  gint64 index = tm_model_find_tensor (candidate, name);
  const TmTensor *tensor = tm_model_tensor (candidate, (guint) index);
  const TmAlignedPair *pair = tm_alignment_find (alignment, (guint) index);
  g_autofree float *y = g_new (float, tensor->n_elements), *x = g_new (float, tensor->n_elements);
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (pair);
  g_assert_cmpstr (pair->reading->words, ==, words);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, tensor->n_elements, y, NULL, &error));
  for (guint64 step = 1; step <= tensor->n_elements; step += 1 + tensor->n_elements / 3)
    for (guint64 first = 0; first < tensor->n_elements; first += step)
      {
        gsize count = (gsize) MIN (step, tensor->n_elements - first);

        memset (x, 0, count * sizeof *x);
        g_assert_true (tm_reading_decode (pair->reading, first, count, x, NULL, &error));
        g_assert_cmpmem (x, count * sizeof *x, y + first, count * sizeof *y);
      }
}

static TmModel *
make_one (gboolean is_gguf, const char *name, guint rank, const guint64 *shape, const float *values)
{
  Planted planted;

  planted_begin (&planted, is_gguf ? "GGUF" : "safetensors", is_gguf ? "x" : NULL);
  if (is_gguf)
    {
      planted_number (&planted, "x.ssm.group_count", 2);
      planted_number (&planted, "x.ssm.time_step_rank", 6);
      planted_number (&planted, "x.ssm.state_size", 3);
      planted_number (&planted, "x.ssm.inner_size", 12);
    }
  planted_f32 (&planted, name, rank, shape, values);
  return planted_end (&planted);
}

/* --- Order of value heads: 2 key heads of 3 rows, 6 value heads of 2 ---------------------------------------------- */

static const guint gguf_head_from_checkpoint[] = { 0, 3, 1, 4, 2, 5 };

static void
test_value_heads (void)
{
  static const struct
  {
    const char *gguf, *checkpoint;
    guint kept, unit; /* rows */
  } rows[] = {
    { "blk.0.attn_qkv.weight", "model.layers.0.linear_attn.in_proj_qkv.weight", 12, 2 },
    { "blk.0.attn_gate.weight", "model.layers.0.linear_attn.in_proj_z.weight", 0, 2 },
    { "blk.0.ssm_alpha.weight", "model.layers.0.linear_attn.in_proj_a.weight", 0, 1 },
    { "blk.0.ssm_beta.weight", "model.layers.0.linear_attn.in_proj_b.weight", 0, 1 },
  };

  for (guint t = 0; t < G_N_ELEMENTS (rows); t++)
    {
      guint n = rows[t].kept + 6 * rows[t].unit;
      g_autofree float *source = planted_noise (n * D, 40 + t), *moved = g_memdup2 (source, n * D * sizeof *source);
      g_autoptr (TmModel) gguf = NULL, checkpoint = NULL;

      for (guint head = 0; head < 6; head++)
        memcpy (moved + (rows[t].kept + head * rows[t].unit) * D,
                source + (rows[t].kept + gguf_head_from_checkpoint[head] * rows[t].unit) * D,
                rows[t].unit * D * sizeof *source);
      gguf = make_one (TRUE, rows[t].gguf, 2, (guint64[]) { n, D }, moved);
      checkpoint = make_one (FALSE, rows[t].checkpoint, 2, (guint64[]) { n, D }, source);
      assert_exact (gguf, checkpoint, rows[t].gguf, "value-heads(3 from 2)");
      assert_exact (checkpoint, gguf, rows[t].checkpoint, "value-heads(2 from 3)");
    }
}

/* Vectors, and columns of the matrix that reads the heads. */
static void
test_value_heads_elsewhere (void)
{
  g_autofree float *bias = planted_noise (6, 50), *bias_moved = g_new (float, 6);
  g_autofree float *out = planted_noise (D * 12, 51), *out_moved = g_new (float, D * 12);
  g_autoptr (TmModel) gguf_bias = NULL, checkpoint_bias = NULL, gguf_out = NULL, checkpoint_out = NULL;

  for (guint head = 0; head < 6; head++)
    {
      bias_moved[head] = bias[gguf_head_from_checkpoint[head]];
      for (guint row = 0; row < D; row++)
        memcpy (out_moved + row * 12 + head * 2, out + row * 12 + gguf_head_from_checkpoint[head] * 2, 2 * sizeof *out);
    }
  gguf_bias = make_one (TRUE, "blk.0.ssm_dt.bias", 1, (guint64[]) { 6 }, bias_moved);
  checkpoint_bias = make_one (FALSE, "model.layers.0.linear_attn.dt_bias", 1, (guint64[]) { 6 }, bias);
  assert_exact (gguf_bias, checkpoint_bias, "blk.0.ssm_dt.bias", "value-heads(3 from 2)");
  gguf_out = make_one (TRUE, "blk.0.ssm_out.weight", 2, (guint64[]) { D, 12 }, out_moved);
  checkpoint_out = make_one (FALSE, "model.layers.0.linear_attn.out_proj.weight", 2, (guint64[]) { D, 12 }, out);
  assert_exact (gguf_out, checkpoint_out, "blk.0.ssm_out.weight", "value-heads(3 from 2)");
  assert_exact (checkpoint_out, gguf_out, "model.layers.0.linear_attn.out_proj.weight", "value-heads(2 from 3)");
  /* Left as it was by another converter. */
  {
    g_autoptr (TmModel) same = make_one (TRUE, "blk.0.ssm_out.weight", 2, (guint64[]) { D, 12 }, out);

    assert_exact (same, checkpoint_out, "blk.0.ssm_out.weight", "identity");
  }
}

/* The worked example: 2 key heads, 2 value heads each, all of one row. */
static void
test_qkvz (void)
{
  static const guint qkv_from[] = { 0, 6, 1, 7, 2, 3, 8, 9 }, gate_from[] = { 4, 5, 10, 11 };
  g_autofree float *all = planted_noise (12 * D, 60), *qkv = g_new (float, 8 * D), *gate = g_new (float, 4 * D);
  g_autoptr (TmModel) gguf = NULL, checkpoint = NULL;
  Planted planted;

  for (guint i = 0; i < 8; i++)
    memcpy (qkv + i * D, all + qkv_from[i] * D, D * sizeof *all);
  for (guint i = 0; i < 4; i++)
    memcpy (gate + i * D, all + gate_from[i] * D, D * sizeof *all);
  for (guint told = 0; told < 2; told++)
    {
      planted_begin (&planted, "GGUF", "x");
      if (told)
        {
          planted_number (&planted, "x.ssm.group_count", 2);
          planted_number (&planted, "x.ssm.time_step_rank", 4);
          planted_number (&planted, "x.ssm.state_size", 1);
          planted_number (&planted, "x.ssm.inner_size", 4);
        }
      planted_matrix (&planted, "blk.0.attn_qkv.weight", 8, D, qkv);
      planted_matrix (&planted, "blk.0.attn_gate.weight", 4, D, gate);
      g_set_object (&gguf, NULL);
      gguf = planted_end (&planted);
      planted_begin (&planted, "safetensors", NULL);
      planted_matrix (&planted, "model.layers.0.linear_attn.in_proj_qkvz.weight", 12, D, all);
      g_set_object (&checkpoint, NULL);
      checkpoint = planted_end (&planted);
      assert_exact (gguf, checkpoint, "blk.0.attn_qkv.weight", "split-qkvz(heads=2)");
      assert_exact (gguf, checkpoint, "blk.0.attn_gate.weight", "split-qkvz(heads=2)");
      assert_exact (checkpoint, gguf, "model.layers.0.linear_attn.in_proj_qkvz.weight", "fused-qkvz(heads=2)");
    }
}

/* --- Others ------------------------------------------------------------------------------------------------------- */

/* Three thirds under a name of its own; positions whose first rows are for padding; experts in one matrix, lying across. */
static void
test_others (void)
{
  g_autofree float *packed = planted_noise (12 * D, 70), *positions = planted_noise (10 * D, 71);
  g_autofree float *flat = planted_noise (6 * 4, 72), *stack = g_new (float, 6 * 4);
  g_autoptr (TmModel) gguf = NULL, checkpoint = NULL;
  Planted planted;

  for (guint expert = 0; expert < 2; expert++) /* 2 × [3, 4] to 2 × [4, 3] */
    for (guint row = 0; row < 3; row++)
      for (guint column = 0; column < 4; column++)
        stack[(expert * 4 + column) * 3 + row] = flat[(expert * 3 + row) * 4 + column];
  planted_begin (&planted, "GGUF", "x");
  planted_matrix (&planted, "blk.0.attn_q.weight", 4, D, packed);
  planted_matrix (&planted, "blk.0.attn_k.weight", 4, D, packed + 4 * D);
  planted_matrix (&planted, "blk.0.attn_v.weight", 4, D, packed + 8 * D);
  planted_matrix (&planted, "position_embd.weight", 8, D, positions + 2 * D);
  planted_f32 (&planted, "blk.0.ffn_gate_exps.weight", 3, (guint64[]) { 2, 4, 3 }, stack);
  gguf = planted_end (&planted);
  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, "model.layers.0.self_attn.W_pack.weight", 12, D, packed);
  planted_matrix (&planted, "roberta.embeddings.position_embeddings.weight", 10, D, positions);
  planted_matrix (&planted, "transformer.blocks.0.ffn.experts.mlp.w1", 6, 4, flat);
  checkpoint = planted_end (&planted);
  assert_exact (gguf, checkpoint, "blk.0.attn_q.weight", "split-qkv");
  assert_exact (gguf, checkpoint, "blk.0.attn_v.weight", "split-qkv");
  assert_exact (gguf, checkpoint, "position_embd.weight", "rows-from(2)");
  assert_exact (gguf, checkpoint, "blk.0.ffn_gate_exps.weight", "reshape + transpose");
  assert_exact (checkpoint, gguf, "model.layers.0.self_attn.W_pack.weight", "fused-qkv");
  assert_exact (checkpoint, gguf, "transformer.blocks.0.ffn.experts.mlp.w1", "reshape + transpose");
}

/* Gate and up by turns, as one checkpoint joins them, from a GGUF that has them apart. */
static void
test_alternate (void)
{
  g_autofree float *gate = planted_noise (6 * D, 80), *up = planted_noise (6 * D, 81), *both = g_new (float, 12 * D);
  g_autoptr (TmModel) gguf = NULL, checkpoint = NULL;
  Planted planted;

  for (guint row = 0; row < 6; row++)
    {
      memcpy (both + 2 * row * D, gate + row * D, D * sizeof *both);
      memcpy (both + (2 * row + 1) * D, up + row * D, D * sizeof *both);
    }
  planted_begin (&planted, "GGUF", "x");
  planted_f32 (&planted, "blk.0.ffn_gate_exps.weight", 3, (guint64[]) { 2, 3, D }, gate);
  planted_f32 (&planted, "blk.0.ffn_up_exps.weight", 3, (guint64[]) { 2, 3, D }, up);
  gguf = planted_end (&planted);
  planted_begin (&planted, "safetensors", NULL);
  planted_f32 (&planted, "model.layers.0.mlp.experts.gate_up_proj", 3, (guint64[]) { 2, 6, D }, both);
  checkpoint = planted_end (&planted);
  assert_exact (gguf, checkpoint, "blk.0.ffn_up_exps.weight", "split-gate-up(alternate)");
  assert_exact (checkpoint, gguf, "model.layers.0.mlp.experts.gate_up_proj", "fused-gate-up(alternate)");
}

/* Convolutions with the input channels last, both ways; of one shape too. */
static void
test_channels (void)
{
  static const guint64 shapes[][4] = { { 3, 5, 2, 4 }, { 3, 4, 4, 4 } }; /* [o, i, h, w] */

  for (guint t = 0; t < G_N_ELEMENTS (shapes); t++)
    {
      const guint64 *s = shapes[t], n = s[0] * s[1] * s[2] * s[3];
      g_autofree float *first = planted_noise (n, 90 + t), *last = g_new (float, n);
      g_autoptr (TmModel) a = NULL, b = NULL;

      for (guint64 o = 0; o < s[0]; o++)
        for (guint64 i = 0; i < s[1]; i++)
          for (guint64 h = 0; h < s[2]; h++)
            for (guint64 w = 0; w < s[3]; w++)
              last[((o * s[2] + h) * s[3] + w) * s[1] + i] = first[((o * s[1] + i) * s[2] + h) * s[3] + w];
      a = make_one (FALSE, "conv.weight", 4, s, first);
      b = make_one (FALSE, "conv.weight", 4, (guint64[]) { s[0], s[2], s[3], s[1] }, last);
      assert_exact (b, a, "conv.weight", "channels-last");
      assert_exact (a, b, "conv.weight", "channels-first");
    }
}

/* Names say nothing, and two of one shape are alike: the one that fits better is taken, whatever comes first. */
static void
test_best_guess (void)
{
  g_autofree float *x = planted_noise (64 * 64, 95), *y = g_new (float, 64 * 64);
  g_autoptr (TmModel) a = NULL, b = NULL;
  Planted planted;

  for (guint i = 0; i < 64 * 64; i++)
    y[i] = 2 * x[i] + 1;
  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, "foo.weight", 64, 64, x);
  planted_matrix (&planted, "bar.weight", 64, 64, y);
  a = planted_end (&planted);
  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, "one.weight", 64, 64, y);
  planted_matrix (&planted, "two.weight", 64, 64, x);
  b = planted_end (&planted);
  assert_exact (a, b, "foo.weight", "identity");
  assert_exact (a, b, "bar.weight", "identity");
}

/* A tensor without elements is not left over where both sides have it. */
static void
test_empty (void)
{
  const float one[1] = { 1 };
  g_autoptr (TmModel) a = NULL, b = NULL;
  Planted planted;

  planted_begin (&planted, "safetensors", NULL);
  planted_f32 (&planted, "both", 2, (guint64[]) { 0, 5 }, one);
  planted_f32 (&planted, "alone", 2, (guint64[]) { 0, 5 }, one);
  a = planted_end (&planted);
  planted_begin (&planted, "safetensors", NULL);
  planted_f32 (&planted, "both", 2, (guint64[]) { 5, 0 }, one);
  planted_f32 (&planted, "other", 1, (guint64[]) { 1 }, one);
  b = planted_end (&planted);
  {
    g_autoptr (TmAlignment) alignment = align (a, b);

    g_assert_cmpuint (alignment->pairs->len, ==, 0);
    g_assert_cmpuint (alignment->candidate_left->len, ==, 1);
    g_assert_cmpuint (g_array_index (alignment->candidate_left, guint, 0), ==, 1);
    g_assert_cmpuint (alignment->reference_left->len, ==, 1);
    g_assert_cmpuint (g_array_index (alignment->reference_left, guint, 0), ==, 1);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/align-linear/value-heads", test_value_heads);
  g_test_add_func ("/align-linear/value-heads-elsewhere", test_value_heads_elsewhere);
  g_test_add_func ("/align-linear/qkvz", test_qkvz);
  g_test_add_func ("/align-linear/others", test_others);
  g_test_add_func ("/align-linear/alternate", test_alternate);
  g_test_add_func ("/align-linear/channels", test_channels);
  g_test_add_func ("/align-linear/best-guess", test_best_guess);
  g_test_add_func ("/align-linear/empty", test_empty);
  return g_test_run ();
}
