/* A model of one tensor whose values are a function of the flat index, for the tests of the tiles. */
#pragma once

#include "model/model.h"

typedef struct
{
  float (*value) (guint64 flat);
  guint64 fail_from;      /* reading this element or a later one fails; G_MAXUINT64: none */
  gint blocked;           /* atomic: decoding waits while it is not 0 */
  gint started, finished; /* atomic: calls of the codec */
  gint64 decoded;         /* elements, under the lock */
  gint64 calls;
} FakeTensor;

static GMutex fake_lock;
static GCond fake_cond;

static inline gboolean
fake_values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  FakeTensor *fake = tensor->codec_data;

  g_mutex_lock (&fake_lock);
  fake->started++;
  g_cond_broadcast (&fake_cond);
  while (fake->blocked)
    g_cond_wait (&fake_cond, &fake_lock);
  fake->decoded += (gint64) count;
  fake->calls++;
  g_mutex_unlock (&fake_lock);
  if (first + count > fake->fail_from)
    {
      g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_IO, "bytes that were there are not");
      return FALSE;
    }
  for (gsize i = 0; i < count; i++)
    out[i] = fake->value (first + i);
  g_mutex_lock (&fake_lock);
  fake->finished++;
  g_cond_broadcast (&fake_cond);
  g_mutex_unlock (&fake_lock);
  return TRUE;
}

static inline void
fake_block (FakeTensor *fake, gboolean blocked)
{
  g_mutex_lock (&fake_lock);
  fake->blocked = blocked;
  g_cond_broadcast (&fake_cond);
  g_mutex_unlock (&fake_lock);
}

/* Waits until the codec was called n times, or finished n. */
static inline void
fake_wait (FakeTensor *fake, const gint *counter, gint n)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&fake_lock);
  while (*counter < n)
    g_assert_true (g_cond_wait_until (&fake_cond, &fake_lock, end));
  g_mutex_unlock (&fake_lock);
}

static const TmCodec fake_codec = { .name = "fake", .values = fake_values, .free_data = g_free };

static inline TmTensor *
fake_tensor_new (guint rank, const guint64 *shape, float (*value) (guint64))
{
  TmTensor *tensor = g_new0 (TmTensor, 1);
  FakeTensor *fake = g_new0 (FakeTensor, 1);

  fake->value = value;
  fake->fail_from = G_MAXUINT64;
  tensor->name = g_strdup ("fake");
  tensor->dtype = TM_DTYPE_F32;
  tensor->rank = rank;
  tensor->shape = g_memdup2 (shape, MAX (rank, 1) * sizeof *shape);
  tensor->stride = g_new0 (gint64, MAX (rank, 1));
  tensor->n_elements = 1;
  for (guint k = 0; k < rank; k++)
    tensor->n_elements *= shape[k];
  tensor->codec = &fake_codec;
  tensor->codec_data = fake;
  return tensor;
}

#define FAKE(tensor) ((FakeTensor *) (tensor)->codec_data)

/* (transfer full); takes the tensor */
static inline TmModel *
fake_model_new (TmTensor *tensor)
{
  TmModel *model = tm_model_new ("fake");

  g_ptr_array_add (model->tensors, tensor);
  return model;
}
