#include "support/families.h"

#include <stdio.h>
#include <string.h>

#include "support/fake-model.h"

const char *const tm_families[]
    = { "llama-hf",  "gpt2",   "bert",   "t5",   "vit",  "mamba", "mixtral", "qwen3moe-gguf",
        "deepseek2", "gemma2", "resnet", "unet", "clip", "flat",  NULL };

typedef struct
{
  const char *name;
  guint64 shape[4];
} Row; /* ends at the first 0 of a shape */

static void
add_rows (TmModel *model, const char *prefix, const Row *rows)
{
  for (; rows->name != NULL; rows++)
    {
      g_autofree char *name = g_strconcat (prefix, rows->name, NULL);
      guint rank = 0;

      while (rank < 4 && rows->shape[rank] != 0)
        rank++;
      tm_fake_model_add (model, name, TM_DTYPE_BF16, rank, rows->shape);
    }
}
#define ADD(prefix, ...) add_rows (model, prefix, (const Row[]) { __VA_ARGS__, { NULL, { 0 } } })

/* prefix with the number in it, as blocks 0 … n − 1 */
#define EACH(n, format, ...)                                                                                           \
  for (guint block = 0; block < (n); block++)                                                                          \
    {                                                                                                                  \
      char prefix[160];                                                                                                \
      g_snprintf (prefix, sizeof prefix, format, block);                                                               \
      ADD (prefix, __VA_ARGS__);                                                                                       \
    }

static void
add_llama (TmModel *model, guint blocks)
{
  ADD ("lm_head.", { "weight", { 512, 64 } });
  ADD ("model.embed_tokens.", { "weight", { 512, 64 } });
  EACH (blocks, "model.layers.%u.", { "input_layernorm.weight", { 64 } }, { "mlp.down_proj.weight", { 64, 172 } },
        { "mlp.gate_proj.weight", { 172, 64 } }, { "mlp.up_proj.weight", { 172, 64 } },
        { "post_attention_layernorm.weight", { 64 } }, { "self_attn.k_proj.weight", { 16, 64 } },
        { "self_attn.o_proj.weight", { 64, 64 } }, { "self_attn.q_proj.weight", { 64, 64 } },
        { "self_attn.v_proj.weight", { 16, 64 } })
  ADD ("model.norm.", { "weight", { 64 } });
}

static void
add_gemma2 (TmModel *model)
{
  ADD ("model.", { "embed_tokens.weight", { 2048, 64 } }, { "norm.weight", { 64 } });
  EACH (5, "model.layers.%u.", { "input_layernorm.weight", { 64 } }, { "post_attention_layernorm.weight", { 64 } },
        { "pre_feedforward_layernorm.weight", { 64 } }, { "post_feedforward_layernorm.weight", { 64 } },
        { "self_attn.q_proj.weight", { 64, 64 } }, { "self_attn.k_proj.weight", { 32, 64 } },
        { "self_attn.v_proj.weight", { 32, 64 } }, { "self_attn.o_proj.weight", { 64, 64 } },
        { "mlp.gate_proj.weight", { 256, 64 } }, { "mlp.up_proj.weight", { 256, 64 } },
        { "mlp.down_proj.weight", { 64, 256 } })
}

static void
add_gpt2 (TmModel *model)
{
  ADD ("transformer.", { "wte.weight", { 512, 64 } }, { "wpe.weight", { 128, 64 } });
  EACH (6, "transformer.h.%u.", { "ln_1.weight", { 64 } }, { "ln_1.bias", { 64 } }, { "attn.bias", { 1, 1, 128, 128 } },
        { "attn.c_attn.weight", { 64, 192 } }, { "attn.c_attn.bias", { 192 } }, { "attn.c_proj.weight", { 64, 64 } },
        { "attn.c_proj.bias", { 64 } }, { "ln_2.weight", { 64 } }, { "ln_2.bias", { 64 } },
        { "mlp.c_fc.weight", { 64, 256 } }, { "mlp.c_fc.bias", { 256 } }, { "mlp.c_proj.weight", { 256, 64 } },
        { "mlp.c_proj.bias", { 64 } })
  ADD ("transformer.", { "ln_f.weight", { 64 } }, { "ln_f.bias", { 64 } });
}

static void
add_bert (TmModel *model)
{
  ADD ("bert.embeddings.", { "word_embeddings.weight", { 512, 64 } }, { "position_embeddings.weight", { 128, 64 } },
       { "token_type_embeddings.weight", { 2, 64 } }, { "LayerNorm.weight", { 64 } }, { "LayerNorm.bias", { 64 } });
  EACH (4, "bert.encoder.layer.%u.", { "attention.self.query.weight", { 64, 64 } },
        { "attention.self.query.bias", { 64 } }, { "attention.self.key.weight", { 64, 64 } },
        { "attention.self.key.bias", { 64 } }, { "attention.self.value.weight", { 64, 64 } },
        { "attention.self.value.bias", { 64 } }, { "attention.output.dense.weight", { 64, 64 } },
        { "attention.output.dense.bias", { 64 } }, { "attention.output.LayerNorm.weight", { 64 } },
        { "attention.output.LayerNorm.bias", { 64 } }, { "intermediate.dense.weight", { 256, 64 } },
        { "intermediate.dense.bias", { 256 } }, { "output.dense.weight", { 64, 256 } }, { "output.dense.bias", { 64 } },
        { "output.LayerNorm.weight", { 64 } }, { "output.LayerNorm.bias", { 64 } })
  ADD ("bert.pooler.dense.", { "weight", { 64, 64 } }, { "bias", { 64 } });
  ADD ("cls.predictions.", { "bias", { 512 } }, { "transform.dense.weight", { 64, 64 } },
       { "transform.LayerNorm.weight", { 64 } });
}

static void
add_t5 (TmModel *model)
{
  ADD ("shared.", { "weight", { 512, 64 } });
  ADD ("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.", { "weight", { 32, 8 } });
  EACH (4, "encoder.block.%u.layer.", { "0.SelfAttention.q.weight", { 64, 64 } },
        { "0.SelfAttention.k.weight", { 64, 64 } }, { "0.SelfAttention.v.weight", { 64, 64 } },
        { "0.SelfAttention.o.weight", { 64, 64 } }, { "0.layer_norm.weight", { 64 } },
        { "1.DenseReluDense.wi.weight", { 256, 64 } }, { "1.DenseReluDense.wo.weight", { 64, 256 } },
        { "1.layer_norm.weight", { 64 } })
  ADD ("encoder.final_layer_norm.", { "weight", { 64 } });
  ADD ("decoder.block.0.layer.0.SelfAttention.relative_attention_bias.", { "weight", { 32, 8 } });
  EACH (4, "decoder.block.%u.layer.", { "0.SelfAttention.q.weight", { 64, 64 } },
        { "0.SelfAttention.k.weight", { 64, 64 } }, { "0.SelfAttention.v.weight", { 64, 64 } },
        { "0.SelfAttention.o.weight", { 64, 64 } }, { "0.layer_norm.weight", { 64 } },
        { "1.EncDecAttention.q.weight", { 64, 64 } }, { "1.EncDecAttention.k.weight", { 64, 64 } },
        { "1.EncDecAttention.v.weight", { 64, 64 } }, { "1.EncDecAttention.o.weight", { 64, 64 } },
        { "1.layer_norm.weight", { 64 } }, { "2.DenseReluDense.wi.weight", { 256, 64 } },
        { "2.DenseReluDense.wo.weight", { 64, 256 } }, { "2.layer_norm.weight", { 64 } })
  ADD ("decoder.final_layer_norm.", { "weight", { 64 } });
  ADD ("lm_head.", { "weight", { 512, 64 } });
}

static void
add_vit (TmModel *model)
{
  ADD ("vit.embeddings.", { "cls_token", { 1, 1, 64 } }, { "position_embeddings", { 1, 197, 64 } },
       { "patch_embeddings.projection.weight", { 64, 3, 16, 16 } }, { "patch_embeddings.projection.bias", { 64 } });
  EACH (5, "vit.encoder.layer.%u.", { "layernorm_before.weight", { 64 } }, { "layernorm_before.bias", { 64 } },
        { "attention.attention.query.weight", { 64, 64 } }, { "attention.attention.key.weight", { 64, 64 } },
        { "attention.attention.value.weight", { 64, 64 } }, { "attention.output.dense.weight", { 64, 64 } },
        { "intermediate.dense.weight", { 256, 64 } }, { "output.dense.weight", { 64, 256 } },
        { "layernorm_after.weight", { 64 } }, { "layernorm_after.bias", { 64 } })
  ADD ("vit.layernorm.", { "weight", { 64 } }, { "bias", { 64 } });
  ADD ("classifier.", { "weight", { 10, 64 } }, { "bias", { 10 } });
}

static void
add_mamba (TmModel *model)
{
  ADD ("backbone.embeddings.", { "weight", { 512, 64 } });
  EACH (6, "backbone.layers.%u.", { "norm.weight", { 64 } }, { "mixer.A_log", { 128, 16 } }, { "mixer.D", { 128 } },
        { "mixer.conv1d.weight", { 128, 1, 4 } }, { "mixer.conv1d.bias", { 128 } },
        { "mixer.dt_proj.weight", { 128, 4 } }, { "mixer.dt_proj.bias", { 128 } },
        { "mixer.in_proj.weight", { 256, 64 } }, { "mixer.out_proj.weight", { 64, 128 } },
        { "mixer.x_proj.weight", { 36, 128 } })
  ADD ("backbone.norm_f.", { "weight", { 64 } });
}

static void
add_mixtral (TmModel *model)
{
  ADD ("model.embed_tokens.", { "weight", { 512, 64 } });
  for (guint layer = 0; layer < 3; layer++)
    {
      char prefix[80];

      g_snprintf (prefix, sizeof prefix, "model.layers.%u.", layer);
      ADD (prefix, { "block_sparse_moe.gate.weight", { 8, 64 } });
      for (guint expert = 0; expert < 8; expert++)
        {
          char inner[120];

          g_snprintf (inner, sizeof inner, "%sblock_sparse_moe.experts.%u.", prefix, expert);
          ADD (inner, { "w1.weight", { 128, 64 } }, { "w2.weight", { 64, 128 } }, { "w3.weight", { 128, 64 } });
        }
      ADD (prefix, { "input_layernorm.weight", { 64 } }, { "post_attention_layernorm.weight", { 64 } },
           { "self_attn.q_proj.weight", { 64, 64 } }, { "self_attn.k_proj.weight", { 16, 64 } },
           { "self_attn.v_proj.weight", { 16, 64 } }, { "self_attn.o_proj.weight", { 64, 64 } });
    }
  ADD ("model.norm.", { "weight", { 64 } });
  ADD ("lm_head.", { "weight", { 512, 64 } });
}

static void
add_qwen3moe_gguf (TmModel *model)
{
  ADD ("token_embd.", { "weight", { 512, 64 } });
  EACH (3, "blk.%u.", { "attn_norm.weight", { 64 } }, { "attn_q.weight", { 128, 64 } },
        { "attn_q_norm.weight", { 16 } }, { "attn_k.weight", { 32, 64 } }, { "attn_k_norm.weight", { 16 } },
        { "attn_v.weight", { 32, 64 } }, { "attn_output.weight", { 64, 128 } }, { "ffn_norm.weight", { 64 } },
        { "ffn_gate_inp.weight", { 32, 64 } }, { "ffn_gate_exps.weight", { 32, 256, 256 } },
        { "ffn_up_exps.weight", { 32, 256, 256 } }, { "ffn_down_exps.weight", { 32, 256, 256 } })
  ADD ("output_norm.", { "weight", { 64 } });
  ADD ("output.", { "weight", { 512, 64 } });
}

static void
add_deepseek2 (TmModel *model)
{
  ADD ("model.embed_tokens.", { "weight", { 512, 64 } });
  for (guint layer = 0; layer < 5; layer++)
    {
      char prefix[80];

      g_snprintf (prefix, sizeof prefix, "model.layers.%u.", layer);
      ADD (prefix, { "input_layernorm.weight", { 64 } }, { "post_attention_layernorm.weight", { 64 } },
           { "self_attn.q_a_proj.weight", { 48, 64 } }, { "self_attn.q_a_layernorm.weight", { 48 } },
           { "self_attn.q_b_proj.weight", { 96, 48 } }, { "self_attn.kv_a_proj_with_mqa.weight", { 40, 64 } },
           { "self_attn.kv_a_layernorm.weight", { 32 } }, { "self_attn.kv_b_proj.weight", { 128, 32 } },
           { "self_attn.o_proj.weight", { 64, 64 } });
      if (layer < 2)
        {
          ADD (prefix, { "mlp.gate_proj.weight", { 256, 64 } }, { "mlp.up_proj.weight", { 256, 64 } },
               { "mlp.down_proj.weight", { 64, 256 } });
          continue;
        }
      ADD (prefix, { "mlp.gate.weight", { 16, 64 } }, { "mlp.gate.e_score_correction_bias", { 16 } },
           { "mlp.shared_experts.gate_proj.weight", { 96, 64 } }, { "mlp.shared_experts.up_proj.weight", { 96, 64 } },
           { "mlp.shared_experts.down_proj.weight", { 64, 96 } });
      for (guint expert = 0; expert < 16; expert++)
        {
          char inner[120];

          g_snprintf (inner, sizeof inner, "%smlp.experts.%u.", prefix, expert);
          ADD (inner, { "gate_proj.weight", { 96, 64 } }, { "up_proj.weight", { 96, 64 } },
               { "down_proj.weight", { 64, 96 } });
        }
    }
  ADD ("model.norm.", { "weight", { 64 } });
  ADD ("lm_head.", { "weight", { 512, 64 } });
}

static void
add_norm (TmModel *model, const char *prefix, guint64 n)
{
  ADD (prefix, { "weight", { n } }, { "bias", { n } }, { "running_mean", { n } }, { "running_var", { n } },
       { "num_batches_tracked", { 0 } });
}

static void
add_resnet (TmModel *model)
{
  const guint blocks[] = { 3, 4, 6, 3 };
  guint64 in = 64;

  ADD ("conv1.", { "weight", { 64, 3, 7, 7 } });
  add_norm (model, "bn1.", 64);
  for (guint stage = 0; stage < 4; stage++)
    for (guint block = 0; block < blocks[stage]; block++)
      {
        const guint64 inner = (guint64) 16 << stage, out = 4 * inner;
        char prefix[80], norm[100];

        for (guint conv = 1; conv <= 3; conv++)
          {
            g_snprintf (prefix, sizeof prefix, "layer%u.%u.conv%u.", stage + 1, block, conv);
            if (conv == 2)
              ADD (prefix, { "weight", { inner, inner, 3, 3 } });
            else
              ADD (prefix, { "weight", { conv == 1 ? inner : out, conv == 1 ? in : inner, 1, 1 } });
            g_snprintf (norm, sizeof norm, "layer%u.%u.bn%u.", stage + 1, block, conv);
            add_norm (model, norm, conv == 3 ? out : inner);
          }
        if (block == 0)
          {
            g_snprintf (prefix, sizeof prefix, "layer%u.0.downsample.0.", stage + 1);
            ADD (prefix, { "weight", { out, in, 1, 1 } });
            g_snprintf (prefix, sizeof prefix, "layer%u.0.downsample.1.", stage + 1);
            add_norm (model, prefix, out);
          }
        in = out;
      }
  ADD ("fc.", { "weight", { 100, 512 } }, { "bias", { 100 } });
}

static void
add_unet (TmModel *model)
{
  ADD ("conv_in.", { "weight", { 32, 4, 3, 3 } }, { "bias", { 32 } });
  ADD ("time_embedding.", { "linear_1.weight", { 128, 32 } }, { "linear_2.weight", { 128, 128 } });
  for (guint side = 0; side < 2; side++)
    for (guint block = 0; block < 3; block++)
      for (guint inner = 0; inner < 2; inner++)
        {
          char prefix[120];

          g_snprintf (prefix, sizeof prefix, "%s.%u.resnets.%u.", side == 0 ? "down_blocks" : "up_blocks", block,
                      inner);
          ADD (prefix, { "norm1.weight", { 32 } }, { "conv1.weight", { 32, 32, 3, 3 } },
               { "time_emb_proj.weight", { 32, 128 } }, { "norm2.weight", { 32 } },
               { "conv2.weight", { 32, 32, 3, 3 } });
          g_snprintf (prefix, sizeof prefix, "%s.%u.attentions.%u.transformer_blocks.0.",
                      side == 0 ? "down_blocks" : "up_blocks", block, inner);
          ADD (prefix, { "norm1.weight", { 32 } }, { "attn1.to_q.weight", { 32, 32 } },
               { "attn1.to_k.weight", { 32, 32 } }, { "attn1.to_v.weight", { 32, 32 } },
               { "attn1.to_out.0.weight", { 32, 32 } }, { "norm2.weight", { 32 } }, { "attn2.to_q.weight", { 32, 32 } },
               { "attn2.to_k.weight", { 32, 96 } }, { "attn2.to_v.weight", { 32, 96 } },
               { "attn2.to_out.0.weight", { 32, 32 } }, { "norm3.weight", { 32 } },
               { "ff.net.0.proj.weight", { 256, 32 } }, { "ff.net.2.weight", { 32, 128 } });
        }
  ADD ("mid_block.resnets.0.", { "conv1.weight", { 32, 32, 3, 3 } });
  ADD ("conv_out.", { "weight", { 4, 32, 3, 3 } });
}

static void
add_clip (TmModel *model)
{
  const char *const towers[] = { "text_model", "vision_model" };

  ADD ("", { "logit_scale", { 0 } });
  for (guint tower = 0; tower < 2; tower++)
    {
      char prefix[80];

      g_snprintf (prefix, sizeof prefix, "%s.embeddings.position_embedding.", towers[tower]);
      ADD (prefix, { "weight", { 77, 64 } });
      for (guint layer = 0; layer < 4; layer++)
        {
          g_snprintf (prefix, sizeof prefix, "%s.encoder.layers.%u.", towers[tower], layer);
          ADD (prefix, { "layer_norm1.weight", { 64 } }, { "self_attn.q_proj.weight", { 64, 64 } },
               { "self_attn.k_proj.weight", { 64, 64 } }, { "self_attn.v_proj.weight", { 64, 64 } },
               { "self_attn.out_proj.weight", { 64, 64 } }, { "layer_norm2.weight", { 64 } },
               { "mlp.fc1.weight", { 256, 64 } }, { "mlp.fc2.weight", { 64, 256 } });
        }
      g_snprintf (prefix, sizeof prefix, "%s.final_layer_norm.", towers[tower]);
      ADD (prefix, { "weight", { 64 } });
    }
  ADD ("", { "text_projection.weight", { 64, 64 } }, { "visual_projection.weight", { 64, 64 } });
}

static void
add_flat (TmModel *model)
{
  EACH (40, "tensor%u", { "", { 32 + block % 7 * 8, 16 + block % 5 * 16 } })
  ADD ("", { "bias", { 100 } }, { "scalar", { 0 } }, { "long", { 4000, 3 } });
}

TmModel *
tm_family_new (const char *family)
{
  TmModel *model = tm_fake_model_new (family);

  if (strcmp (family, "llama-hf") == 0)
    add_llama (model, 12);
  else if (strcmp (family, "gpt2") == 0)
    add_gpt2 (model);
  else if (strcmp (family, "bert") == 0)
    add_bert (model);
  else if (strcmp (family, "t5") == 0)
    add_t5 (model);
  else if (strcmp (family, "vit") == 0)
    add_vit (model);
  else if (strcmp (family, "mamba") == 0)
    add_mamba (model);
  else if (strcmp (family, "mixtral") == 0)
    add_mixtral (model);
  else if (strcmp (family, "qwen3moe-gguf") == 0)
    add_qwen3moe_gguf (model);
  else if (strcmp (family, "deepseek2") == 0)
    add_deepseek2 (model);
  else if (strcmp (family, "gemma2") == 0)
    add_gemma2 (model);
  else if (strcmp (family, "resnet") == 0)
    add_resnet (model);
  else if (strcmp (family, "unet") == 0)
    add_unet (model);
  else if (strcmp (family, "clip") == 0)
    add_clip (model);
  else
    add_flat (model);
  return tm_fake_model_finish (model);
}
