/* Backend support against the facts it is made from, and the states of single tensors. */
#include "planted.h"

#include <string.h>

#include "analysis/backends.h"
#include "support/fake-model.h"

static TmSupportState
get_state (TmModel *model, const char *tensor, const char *backend)
{
  gint64 index = tm_model_find_tensor (model, tensor);
  gint found = tm_backends_find (backend);

  g_assert_cmpint (index, >=, 0);
  g_assert_cmpint (found, >=, 0);
  return tm_tensor_get_support (model, tm_model_tensor (model, (guint) index), (guint) found).state;
}

static void
test_ggml (void)
{
  TmModel *model = tm_fake_model_new ("x.gguf");
  g_autoptr (TmModel) held G_GNUC_UNUSED = model;

  tm_fake_model_add_shape (model, "token_embd.weight", TM_DTYPE_NVFP4, 64, 64);
  tm_fake_model_add_shape (model, "blk.0.attn_q.weight", TM_DTYPE_NVFP4, 64, 64);
  tm_fake_model_add_shape (model, "blk.0.ffn_up_exps.weight", TM_DTYPE_Q4_K, 2, 64, 256);
  tm_fake_model_add_shape (model, "blk.0.ffn_down.weight", TM_DTYPE_TQ1_0, 64, 256);
  tm_fake_model_add_shape (model, "blk.0.attn_k.weight", TM_DTYPE_Q4_K, 64, 256);
  tm_fake_model_add_shape (model, "blk.0.attn_norm.weight", TM_DTYPE_F32, 64);
  tm_fake_model_finish (model);

  g_assert_cmpint (tm_tensor_get_operation (model, tm_model_tensor (model, 0)), ==, TM_OPERATION_GET_ROWS);
  g_assert_cmpint (tm_tensor_get_operation (model, tm_model_tensor (model, 1)), ==, TM_OPERATION_MUL_MAT);
  g_assert_cmpint (tm_tensor_get_operation (model, tm_model_tensor (model, 2)), ==, TM_OPERATION_MUL_MAT_ID);
  /* one type, two operations: NNC */
  g_assert_cmpint (get_state (model, "blk.0.attn_q.weight", "cuda"), ==, TM_SUPPORT_NATIVE);
  g_assert_cmpint (get_state (model, "token_embd.weight", "cuda"), ==, TM_SUPPORT_FALLBACK);
  /* CCC, NN-, DCC, ??? */
  g_assert_cmpint (get_state (model, "blk.0.ffn_down.weight", "vulkan"), ==, TM_SUPPORT_FALLBACK);
  g_assert_cmpint (get_state (model, "blk.0.attn_k.weight", "cpu-repack-x86"), ==, TM_SUPPORT_NATIVE);
  g_assert_cmpint (get_state (model, "blk.0.ffn_down.weight", "cpu-repack-x86"), ==, TM_SUPPORT_UNSUPPORTED);
  g_assert_cmpint (get_state (model, "blk.0.attn_k.weight", "blas"), ==, TM_SUPPORT_DEQUANTIZED);
  g_assert_cmpint (get_state (model, "blk.0.ffn_up_exps.weight", "blas"), ==, TM_SUPPORT_FALLBACK);
  g_assert_cmpint (get_state (model, "blk.0.attn_k.weight", "rpc"), ==, TM_SUPPORT_UNKNOWN);
  /* GGUF as a file, for who takes it as such; not where no source says so */
  g_assert_cmpint (get_state (model, "blk.0.attn_k.weight", "vllm-ada"), ==, TM_SUPPORT_NATIVE);
  g_assert_cmpint (get_state (model, "blk.0.attn_norm.weight", "vllm-ada"), ==, TM_SUPPORT_UNKNOWN);
  g_assert_cmpint (get_state (model, "blk.0.attn_k.weight", "mlx-metal"), ==, TM_SUPPORT_UNKNOWN);

  {
    TmBackendSummary *summaries = tm_backends_summarize (model);

    for (guint b = 0; b < tm_backends_get_n (); b++)
      {
        guint sum = 0;

        for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
          sum += summaries[b].count[state];
        g_assert_cmpuint (sum, ==, model->tensors->len);
        g_assert_true (g_str_has_prefix (summaries[b].needs, tm_backends_get (b)->hardware));
      }
    g_assert_cmpuint (summaries[tm_backends_find ("cuda")].count[TM_SUPPORT_FALLBACK], ==, 2);
    tm_backend_summaries_free (summaries);
  }
}

/* Every row has a source, and an ordinary checkpoint is unknown everywhere rather than fine. */
static void
test_sources (void)
{
  g_autofree float *values = planted_noise (64, 1);
  g_autofree TmSupport *support = g_new (TmSupport, tm_backends_get_n ());
  Planted planted;
  g_autoptr (TmModel) model = NULL, llama = tm_fake_model_new_llama (2, TRUE);

  planted_begin (&planted, "safetensors", NULL);
  planted_matrix (&planted, "model.layers.0.mlp.up_proj.weight", 8, 8, values);
  model = planted_end (&planted);
  tm_tensor_get_all_support (model, tm_model_tensor (model, 0), support);
  for (guint b = 0; b < tm_backends_get_n (); b++)
    g_assert_cmpint (support[b].state, ==, TM_SUPPORT_UNKNOWN);
  for (guint i = 0; i < llama->tensors->len; i++)
    {
      tm_tensor_get_all_support (llama, tm_model_tensor (llama, i), support);
      for (guint b = 0; b < tm_backends_get_n (); b++)
        g_assert_true (support[b].state == TM_SUPPORT_UNKNOWN || support[b].source[0] != '\0');
    }
  g_assert_nonnull (strstr (tm_backends_get_as_of (), "20"));
  g_assert_cmpint (tm_backends_find ("no such backend"), ==, -1);
}

/* The summary counts every tensor as it is judged by itself. */
static void
test_summary (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (3, TRUE);
  g_autofree TmSupport *support = g_new (TmSupport, tm_backends_get_n ());
  g_autofree guint *count = g_new0 (guint, (gsize) tm_backends_get_n () * TM_N_SUPPORT_STATES);
  TmBackendSummary *summaries = tm_backends_summarize (model);

  for (guint i = 0; i < model->tensors->len; i++)
    {
      tm_tensor_get_all_support (model, tm_model_tensor (model, i), support);
      for (guint b = 0; b < tm_backends_get_n (); b++)
        count[b * TM_N_SUPPORT_STATES + support[b].state]++;
    }
  for (guint b = 0; b < tm_backends_get_n (); b++)
    for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
      g_assert_cmpuint (summaries[b].count[state], ==, count[b * TM_N_SUPPORT_STATES + state]);
  tm_backend_summaries_free (summaries);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/ggml", test_ggml);
  g_test_add_func ("/backends/sources", test_sources);
  g_test_add_func ("/backends/summary", test_summary);
  return g_test_run ();
}
