#include "support/fake-model.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "recognise/recognise.h"

#define IN_MEMORY (64u << 20)
#define ALIGNMENT 32

TmModel *
tm_fake_model_new (const char *title)
{
  TmModel *model = tm_model_new (title);

  g_free (model->format);
  model->format = g_strdup ("GGUF");
  return model;
}

guint
tm_fake_model_add (TmModel *model, const char *name, TmDtype dtype, guint rank, const guint64 *shape)
{
  TmStored *stored = g_new0 (TmStored, 1);
  gint64 stride = 1;

  stored->name = g_strdup (name);
  stored->dtype = dtype;
  stored->rank = rank;
  stored->shape = g_memdup2 (shape, rank * sizeof *shape);
  stored->stride = g_new (gint64, rank);
  stored->n_elements = 1;
  for (guint axis = rank; axis-- > 0;)
    {
      stored->stride[axis] = stride;
      stride = (gint64) ((guint64) stride * shape[axis]);
      stored->n_elements *= shape[axis];
    }
  if (!tm_dtype_get_bytes (dtype, stored->n_elements, rank > 0 ? shape[rank - 1] : 1, &stored->bytes))
    stored->bytes = 0;
  g_ptr_array_add (model->stored, stored);
  return model->stored->len - 1;
}

static guint32
next (guint32 *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void
put_half (guint8 *at, guint16 half)
{
  at[0] = (guint8) (half & 255);
  at[1] = (guint8) (half >> 8);
}

/* Floats near ±0.05, codes at random, block scales small and finite. */
static void
fill (const TmStored *stored, guint8 *bytes, guint32 *state)
{
  const TmDtypeInfo *info = tm_dtype_get_info (stored->dtype);

  if (stored->bytes == 0) /* claims more than there is */
    return;
  for (guint64 i = 0; i < stored->bytes; i++)
    bytes[i] = (guint8) next (state);

  if (stored->dtype == TM_DTYPE_F32)
    for (guint64 i = 0; i < stored->n_elements; i++)
      {
        float value = ((float) (next (state) % 2001) - 1000.0f) / 20000.0f;
        memcpy (bytes + 4 * i, &value, 4);
      }
  else if (stored->dtype == TM_DTYPE_F16 || stored->dtype == TM_DTYPE_BF16)
    for (guint64 i = 0; i < stored->n_elements; i++)
      put_half (bytes + 2 * i, (guint16) ((stored->dtype == TM_DTYPE_F16 ? 0x2800 : 0x3c80) | (next (state) & 0x83ff)));
  else if (info->block_elements > 1 && info->block_bytes > 0)
    for (guint64 at = 0; at + info->block_bytes <= stored->bytes; at += info->block_bytes)
      switch (stored->dtype)
        {
        case TM_DTYPE_Q6_K:
          put_half (bytes + at + 208, (guint16) (0x0100 + (next (state) & 0xff)));
          break;
        case TM_DTYPE_Q3_K:
          put_half (bytes + at + 108, (guint16) (0x0100 + (next (state) & 0xff)));
          break;
        case TM_DTYPE_Q2_K:
          put_half (bytes + at + 80, (guint16) (0x0400 + (next (state) & 0xff)));
          put_half (bytes + at + 82, (guint16) (0x0400 + (next (state) & 0xff)));
          break;
        case TM_DTYPE_Q4_K:
        case TM_DTYPE_Q5_K:
          put_half (bytes + at, (guint16) (0x0800 + (next (state) & 0xff)));
          put_half (bytes + at + 2, (guint16) (0x1000 + (next (state) & 0xff)));
          break;
        default:
          put_half (bytes + at, (guint16) (0x1400 + (next (state) & 0xff)));
          if (stored->dtype == TM_DTYPE_Q4_1 || stored->dtype == TM_DTYPE_Q5_1)
            put_half (bytes + at + 2, (guint16) (0x9400 + (next (state) & 0xff)));
          break;
        }
}

static TmSource *
make_sparse (guint64 size)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  TmSource *source;
  int fd = g_file_open_tmp ("tensormorph-fake-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (ftruncate (fd, (off_t) size), ==, 0);
  close (fd);
  source = tm_source_open (path, &error);
  g_assert_no_error (error);
  unlink (path);
  return source;
}

TmModel *
tm_fake_model_finish (TmModel *model)
{
  guint64 size = 0;
  guint32 state = 1;
  TmSource *source;

  for (guint i = 0; i < model->stored->len; i++)
    {
      TmStored *stored = tm_model_stored (model, i);

      stored->offset = size;
      size += (stored->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  if (size <= IN_MEMORY)
    {
      guint8 *bytes = g_malloc0 (size);
      g_autoptr (GBytes) all = g_bytes_new_take (bytes, size);

      for (guint i = 0; i < model->stored->len; i++)
        fill (tm_model_stored (model, i), bytes + tm_model_stored (model, i)->offset, &state);
      source = tm_source_new_bytes (model->path, all);
    }
  else
    source = make_sparse (size);
  g_ptr_array_add (model->files, source);
  for (guint i = 0; i < model->stored->len; i++)
    tm_model_stored (model, i)->source = tm_source_ref (source);

  tm_recognise_tensors (model);
  tm_recognise_modules (model);
  tm_model_seal (model);
  return model;
}

static TmModel *
make_llama (const char *title, guint blocks, gboolean mixed, guint64 embed, guint64 kv, guint64 ff, guint64 vocabulary)
{
  TmModel *model = tm_fake_model_new (title);

  model->architecture = g_strdup ("llama");
  tm_fake_model_add_shape (model, "token_embd.weight", TM_DTYPE_Q4_K, vocabulary, embed);
  for (guint i = 0; i < blocks; i++)
    {
      const TmDtype better = mixed && (i < 2 || i + 1 == blocks) ? TM_DTYPE_Q6_K : TM_DTYPE_Q4_K;
      const struct
      {
        const char *name;
        TmDtype dtype;
        guint rank;
        guint64 shape[2];
      } tensors[] = {
        { "attn_norm", TM_DTYPE_F32, 1, { embed } },
        { "attn_q", TM_DTYPE_Q4_K, 2, { embed, embed } },
        { "attn_k", TM_DTYPE_Q4_K, 2, { kv, embed } },
        { "attn_v", better, 2, { kv, embed } },
        { "attn_output", TM_DTYPE_Q4_K, 2, { embed, embed } },
        { "ffn_gate", TM_DTYPE_Q4_K, 2, { ff, embed } },
        { "ffn_up", TM_DTYPE_Q4_K, 2, { ff, embed } },
        { "ffn_down", better, 2, { embed, ff } },
        { "ffn_norm", TM_DTYPE_F32, 1, { embed } },
      };

      for (guint t = 0; t < G_N_ELEMENTS (tensors); t++)
        {
          g_autofree char *name = g_strdup_printf ("blk.%u.%s.weight", i, tensors[t].name);

          tm_fake_model_add (model, name, tensors[t].dtype, tensors[t].rank, tensors[t].shape);
        }
    }
  tm_fake_model_add_shape (model, "output_norm.weight", TM_DTYPE_F32, embed);
  tm_fake_model_add_shape (model, "output.weight", mixed ? TM_DTYPE_Q6_K : TM_DTYPE_Q4_K, vocabulary, embed);
  return tm_fake_model_finish (model);
}

TmModel *
tm_fake_model_new_llama (guint blocks, gboolean mixed)
{
  return make_llama ("/models/llama.gguf", blocks, mixed, 256, 64, 768, 1024);
}

TmModel *
tm_fake_model_new_tinyllama (gboolean mixed)
{
  return make_llama ("/models/tinyllama-1.1b.Q4_K_M.gguf", 22, mixed, 2048, 256, 5632, 32000);
}
