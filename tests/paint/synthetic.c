#include "paint/synthetic.h"

#include <math.h>

#include "recognise/recognise.h"

/* Roughly normal, with columns that are louder than others. */
static float
number_at (guint64 i)
{
  guint64 h = (i + 1) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  float sum = (float) (h & 255) + (float) (h >> 8 & 255) + (float) (h >> 16 & 255) + (float) (h >> 24 & 255) - 510.0f;
  return sum * 1e-4f * (i % 97 == 0 ? 4.0f : 1.0f);
}

static gboolean
get_values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  for (gsize i = 0; i < count; i++)
    out[i] = number_at (first + i);
  if (first == 0 && count > 3)
    {
      out[1] = NAN;
      out[2] = INFINITY;
      out[3] = -INFINITY;
    }
  return TRUE;
}

static gboolean
get_raw (const TmTensor *tensor, guint64 first, gsize count, gint32 *out, GError **error)
{
  for (gsize i = 0; i < count; i++)
    out[i] = (gint32) ((first + i) * 2654435761u >> 16 & 15);
  return TRUE;
}

static gboolean
get_parameter (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, GError **error)
{
  for (gsize i = 0; i < count; i++)
    out[i] = number_at ((first + i) / 32) * 0.1f;
  return TRUE;
}

static gboolean
has_parameter (const TmTensor *tensor, TmQuantity quantity)
{
  return quantity == TM_QUANTITY_SCALE;
}

static const TmCodec quantized_codec = {
  .name = "synthetic", .values = get_values, .raw = get_raw, .parameter = get_parameter, .has_parameter = has_parameter
};
static const TmCodec plain_codec = { .name = "synthetic", .values = get_values };

static TmTensor *
add_tensor (TmModel *model, const char *name, TmDtype dtype, guint rank, const guint64 *shape)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);
  TmStored *stored = g_new0 (TmStored, 1);
  tensor->name = g_strdup (name);
  tensor->dtype = dtype;
  tensor->dtype_label = tm_dtype_get_name (dtype);
  tensor->quantized = tm_dtype_get_info (dtype)->quantized;
  tensor->rank = rank;
  tensor->shape = g_memdup2 (shape, rank * sizeof *shape);
  tensor->stride = g_new0 (gint64, MAX (rank, 1));
  tensor->n_elements = 1;
  for (guint i = rank; i-- > 0; tensor->n_elements *= shape[i])
    tensor->stride[i] = (gint64) tensor->n_elements;
  tensor->codec = tensor->quantized ? &quantized_codec : &plain_codec;
  tensor->operand = g_new0 (TmOperand, 1);
  tensor->n_operands = 1;
  tensor->operand[0].stored = model->stored->len;
  stored->name = g_strdup (name);
  stored->dtype = dtype;
  stored->rank = rank;
  stored->shape = g_memdup2 (shape, rank * sizeof *shape);
  stored->stride = g_memdup2 (tensor->stride, MAX (rank, 1) * sizeof *tensor->stride);
  stored->n_elements = tensor->n_elements;
  tensor->values = stored;
  g_ptr_array_add (model->stored, stored);
  g_ptr_array_add (model->tensors, tensor);
  return tensor;
}

static void
set_nested (TmTensor *tensor, guint64 fine)
{
  static const char *const labels[] = { "super-block", "group" };
  const guint64 extents[] = { 1, 256, 1, fine };
  tensor->granularity = tm_granularity_new (2, tensor->shape, FALSE, 2, extents, labels);
  tensor->scheme = "synthetic";
}

static TmModel *
finish (TmModel *model)
{
  tm_recognise_modules (model);
  tm_model_seal (model);
  return model;
}

TmModel *
synthetic_model_new (guint n_tensors, guint64 rows, guint64 columns)
{
  static const char *const role[]
      = { "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down" };
  static const TmDtype dtype[]
      = { TM_DTYPE_Q4_K, TM_DTYPE_Q6_K, TM_DTYPE_F16, TM_DTYPE_Q8_0, TM_DTYPE_Q4_K, TM_DTYPE_Q5_K, TM_DTYPE_IQ2_XXS };
  TmModel *model = tm_model_new ("synthetic.gguf");
  model->format = g_strdup ("GGUF");
  for (guint i = 0; i < n_tensors; i++)
    {
      guint block = i / 8, part = i % 8;
      g_autofree char *name = g_strdup_printf ("blk.%u.%s.weight", block, role[part]);
      gboolean empty = i % 40 == 39;
      guint64 shape[] = { empty                    ? 0
                          : part == 0              ? columns
                          : part == 2 || part == 3 ? MAX (rows / 4, 1)
                          : part >= 5              ? rows * 2
                                                   : rows,
                          columns };
      TmDtype type = part == 0 ? TM_DTYPE_F32 : dtype[(part * 3 + block * 5) % G_N_ELEMENTS (dtype)];
      TmTensor *tensor = add_tensor (model, name, type, part == 0 && !empty ? 1 : 2, shape);
      if (tensor->quantized && !empty)
        set_nested (tensor, type == TM_DTYPE_Q6_K ? 16 : 32);
      if (i % 32 == 31)
        {
          tensor->fault = g_strdup ("its bytes end before they should");
          tensor->codec = NULL;
        }
    }
  return finish (model);
}

TmModel *
synthetic_tensor_new (guint64 rows, guint64 columns, guint64 flat)
{
  TmModel *model = tm_model_new ("synthetic.gguf");
  guint64 shape[] = { rows, columns };
  TmTensor *tensor = add_tensor (model, "blk.0.attn_q.weight", TM_DTYPE_Q4_K, 2, shape);
  if (flat == 0)
    set_nested (tensor, 32);
  else
    {
      static const char *const labels[] = { "super-block", "group" };
      const guint64 counted[] = { rows * columns }, extents[] = { flat * 64, flat };
      tensor->granularity = tm_granularity_new (1, counted, TRUE, 2, extents, labels);
      tensor->scheme = "synthetic";
    }
  return finish (model);
}

static gboolean
get_kinds (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  guint64 columns = tensor->shape[tensor->rank - 1];
  for (gsize i = 0; i < count; i++)
    {
      guint64 row = (first + i) / columns, column = (first + i) % columns, h = (first + i + 1) * 0x9e3779b97f4a7c15u;
      gboolean strewn = (h >> 40) % 7 == 0;
      out[i] = (float) ((strewn ? h >> 50 : row / 16 + column / 24) % TM_N_KINDS);
    }
  return TRUE;
}

static const TmCodec kinds_codec = { .name = "kinds", .values = get_kinds };

TmModel *
synthetic_kinds_new (TmModel *model)
{
  TmModel *kinds = tm_model_new ("kinds.gguf");
  kinds->format = g_strdup ("GGUF");
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *of = tm_model_tensor (model, i);
      TmTensor *tensor = add_tensor (kinds, of->name, TM_DTYPE_F32, of->rank, of->shape);
      tensor->fault = g_strdup (of->fault);
      tensor->codec = tensor->fault != NULL ? NULL : &kinds_codec;
    }
  return finish (kinds);
}

static gboolean
is_settled (const TmScene *scene, const TmView *view)
{
  guint n;
  const TmPrim *prims = tm_scene_get_prims (scene, &n);
  if (tm_tiles_count_pending (view->tiles) > 0 || (view->kind_tiles != NULL && tm_tiles_count_pending (view->kind_tiles) > 0) || tm_scene_get_legend (scene)->sampled)
    return FALSE;
  for (guint i = 0; i < n; i++)
    for (gsize k = 0; prims[i].kind == TM_PRIM_SHEET && tm_scene_get_legend (scene)->any_sheet
                      && k < (gsize) prims[i].as.sheet.n_pages_x * prims[i].as.sheet.n_pages_y;
         k++)
      if (prims[i].as.sheet.pages[k].tile == NULL)
        return FALSE;
  return TRUE;
}

void
settle_scene (TmScene *scene, const TmView *view)
{
  gint64 until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  for (guint calm = 0; calm < 2 && g_get_monotonic_time () < until;)
    {
      tm_scene_update (scene, view);
      calm = is_settled (scene, view) ? calm + 1 : 0;
      while (g_main_context_iteration (NULL, FALSE))
        ;
      if (calm == 0)
        g_usleep (2000);
    }
}
