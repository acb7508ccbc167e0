/* A tensor built by hand over bytes in memory. */
#pragma once

#include <string.h>

#include "io/source.h"
#include "quant/codecs.h"

/* bytes begin at `at` in a file called "made.bin" (what lies before is 0xA5). shape: rank numbers. */
static inline TmTensor *
make_tensor (TmDtype dtype, guint rank, const guint64 *shape, const void *bytes, gsize n_bytes, gsize at,
             gboolean big_endian, TmStored **stored_out)
{
  TmStored *stored = g_new0 (TmStored, 1);
  TmTensor *tensor = g_new0 (TmTensor, 1);
  guint8 *file = g_malloc (at + n_bytes + 1);
  g_autoptr (GBytes) contents = NULL;

  memset (file, 0xA5, at);
  memcpy (file + at, bytes, n_bytes);
  contents = g_bytes_new_take (file, at + n_bytes);
  stored->name = g_strdup ("w");
  stored->dtype = dtype;
  stored->rank = rank;
  stored->shape = g_memdup2 (shape, sizeof *shape * rank);
  stored->n_elements = 1;
  for (guint i = 0; i < rank; i++)
    stored->n_elements *= shape[i];
  stored->source = tm_source_new_bytes ("/somewhere/made.bin", contents);
  stored->offset = at;
  stored->bytes = n_bytes;
  stored->big_endian = big_endian;
  tensor->name = g_strdup ("w");
  tensor->rank = rank;
  tensor->shape = g_memdup2 (shape, sizeof *shape * rank);
  tensor->n_elements = stored->n_elements;
  tensor->bytes = n_bytes;
  tensor->values = stored;
  tm_codec_attach_simple (tensor);
  *stored_out = stored;
  return tensor;
}

static inline void
free_tensor (TmTensor *tensor, TmStored *stored)
{
  tm_tensor_free (tensor);
  tm_stored_free (stored);
}

/* One block of one row, decoded. */
static inline void
decode_row (TmDtype dtype, const void *bytes, gsize n_bytes, gsize n, float *out)
{
  guint64 shape[1] = { n };
  TmStored *stored;
  TmTensor *tensor = make_tensor (dtype, 1, shape, bytes, n_bytes, 3, FALSE, &stored);
  g_autoptr (GError) error = NULL;

  g_assert_null (tensor->fault);
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, n, out, NULL, &error));
  g_assert_no_error (error);
  free_tensor (tensor, stored);
}
