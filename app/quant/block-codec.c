/* Block types put together from their tables and kernels, for whoever decodes blocks without a tensor. */
#include "quant/block-type.h"
#include "quant/kernels.h"

static void
fill (TmBlockCodec codecs[TM_N_DTYPES], const TmKernels *kernels)
{
  for (guint i = 0; i < TM_N_DTYPES; i++)
    {
      const TmBlockType *type = tm_block_type_get ((TmDtype)i);
      const TmBlockKernels *block = &kernels->block[i];

      if (type == NULL)
        continue;
      codecs[i] = (TmBlockCodec){ .dtype = (TmDtype)i,
                                  .granularity = type->granularity,
                                  .values = block->values,
                                  .raw = block->raw,
                                  .scale = block->scale,
                                  .offset = block->offset,
                                  .level = block->level,
                                  .form = type->form,
                                  .zero_point = type->zero_point,
                                  .formula = type->formula,
                                  .field = type->field,
                                  .n_fields = type->n_fields,
                                  .big_endian_known = type->big_endian_known };
    }
}

static TmBlockCodec chosen[TM_N_DTYPES], portable[TM_N_DTYPES];

static gboolean
prepare (TmDtype dtype)
{
  static gsize ready;

  if (g_once_init_enter (&ready))
    {
      fill (chosen, tm_kernels_get ());
      fill (portable, &tm_kernels_portable);
      g_once_init_leave (&ready, 1);
    }
  return (guint)dtype < TM_N_DTYPES && chosen[dtype].values != NULL;
}

const TmBlockCodec *
tm_block_codec_get (TmDtype dtype)
{
  return prepare (dtype) ? &chosen[dtype] : NULL;
}

const TmBlockCodec *
tm_block_codec_get_portable (TmDtype dtype)
{
  return prepare (dtype) ? &portable[dtype] : NULL;
}
