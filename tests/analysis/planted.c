#include "planted.h"

#include <math.h>
#include <string.h>

#include "recognise/recognise.h"

void
planted_begin (Planted *planted, const char *format, const char *architecture)
{
  planted->model = tm_model_new (format);
  planted->model->format = g_strdup (format);
  planted->model->architecture = g_strdup (architecture);
  planted->bytes = g_byte_array_new ();
}

void
planted_number (Planted *planted, const char *key, guint32 number)
{
  TmMetadata *entry = g_new0 (TmMetadata, 1);

  entry->key = g_strdup (key);
  entry->key_length = strlen (key);
  entry->type = TM_META_U32;
  entry->as.u = number;
  g_ptr_array_add (planted->model->metadata, entry);
}

void
planted_bytes (Planted *planted, const char *name, TmDtype dtype, guint rank, const guint64 *shape, gconstpointer bytes,
               gsize count)
{
  TmStored *stored = g_new0 (TmStored, 1);
  gint64 stride = 1;

  stored->name = g_strdup (name);
  stored->dtype = dtype;
  stored->rank = rank;
  stored->shape = g_memdup2 (shape, rank * sizeof *shape);
  stored->stride = g_new (gint64, rank + 1);
  stored->n_elements = 1;
  for (guint axis = rank; axis-- > 0;)
    {
      stored->stride[axis] = stride;
      stride *= (gint64) shape[axis];
      stored->n_elements *= shape[axis];
    }
  stored->bytes = count;
  stored->offset = planted->bytes->len;
  g_byte_array_append (planted->bytes, bytes, (guint) count);
  g_ptr_array_add (planted->model->stored, stored);
}

void
planted_f32 (Planted *planted, const char *name, guint rank, const guint64 *shape, const float *values)
{
  gsize n = 1;

  for (guint i = 0; i < rank; i++)
    n *= shape[i];
  planted_bytes (planted, name, TM_DTYPE_F32, rank, shape, values, n * sizeof *values);
}

TmModel *
planted_end (Planted *planted)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (g_steal_pointer (&planted->bytes));
  TmSource *source = tm_source_new_bytes ("planted", bytes);

  g_ptr_array_add (planted->model->files, source);
  for (guint i = 0; i < planted->model->stored->len; i++)
    tm_model_stored (planted->model, i)->source = tm_source_ref (source);
  tm_recognise_tensors (planted->model);
  tm_recognise_modules (planted->model);
  tm_model_seal (planted->model);
  return planted->model;
}

float *
planted_noise (gsize n, guint32 seed)
{
  float *values = g_new (float, n + 1);
  guint32 state = seed * 2654435761u + 1;

  for (gsize i = 0; i < n; i++)
    {
      double sum = 0;

      for (int k = 0; k < 6; k++)
        {
          state = state * 1664525u + 1013904223u;
          sum += (double) (state >> 8) / 16777216.0;
        }
      values[i] = (float) ((sum - 3) * 1.4142);
    }
  return values;
}

static guint16
half_of_power_free (float value) /* a half by truncation: its value is exact afterwards */
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return (guint16) (((bits >> 13) & 0x3ff) | ((((bits >> 23) & 255) - 112) << 10));
}

static float
value_of_half (guint16 half)
{
  return ldexpf ((float) ((half & 0x3ff) | 0x400), (half >> 10) - 25);
}

guint8 *
planted_q8_0 (const float *values, gsize n, gsize *count)
{
  guint8 *bytes = g_malloc0 (n / 32 * 34);

  *count = n / 32 * 34;
  for (gsize block = 0; block < n / 32; block++)
    {
      guint8 *at = bytes + 34 * block;
      float largest = 1e-4f, scale;
      guint16 half;

      for (gsize i = 0; i < 32; i++)
        largest = fmaxf (largest, fabsf (values[32 * block + i]));
      half = half_of_power_free (largest / 126.9f);
      scale = value_of_half (half);
      at[0] = (guint8) (half & 255);
      at[1] = (guint8) (half >> 8);
      for (gsize i = 0; i < 32; i++)
        at[2 + i] = (guint8) (gint8) CLAMP (rintf (values[32 * block + i] / scale), -127, 127);
    }
  return bytes;
}
