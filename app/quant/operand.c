#include "quant/operand.h"

#include <string.h>

#include "io/error.h"
#include "quant/codecs.h"
#include "quant/half.h"
#include "quant/kernels.h"
#include "quant/quant-private.h"

#define CHUNK 4096u /* bytes on the stack */

/* --- Elements -------------------------------------------------------------------------------------------------------- */

gboolean
tm_operand_is_integer (const TmStored *stored)
{
  return (stored->dtype >= TM_DTYPE_I64 && stored->dtype <= TM_DTYPE_U8 && tm_dtype_get_info (stored->dtype)->bits >= 8)
         || stored->dtype == TM_DTYPE_BOOL;
}

gboolean
tm_operand_is_float (const TmStored *stored)
{
  return stored->dtype >= TM_DTYPE_F64 && stored->dtype <= TM_DTYPE_F8_E8M0;
}

/* Elements as little-endian bytes. */
static gboolean
read_elements (const TmStored *stored, guint64 first, gsize count, guint size, guint8 *packed, GError **error)
{
  guint64 at;

  if (__builtin_mul_overflow (first, (guint64) size, &at))
    at = G_MAXUINT64;
  if (!tm_stored_read (stored, at, count * size, packed, error))
    return FALSE;
  if (stored->big_endian && size > 1)
    for (gsize i = 0; i < count; i++)
      for (guint b = 0; b < size / 2; b++)
        {
          guint8 *p = packed + i * size, low = p[b];

          p[b] = p[size - 1 - b];
          p[size - 1 - b] = low;
        }
  return TRUE;
}

static gint64
integer_at (TmDtype dtype, const guint8 *p)
{
  switch ((gint) dtype)
    {
    case TM_DTYPE_I8:
      return (gint8) *p;
    case TM_DTYPE_I16:
      return (gint16) tm_load_u16 (p);
    case TM_DTYPE_U16:
      return tm_load_u16 (p);
    case TM_DTYPE_I32:
      return (gint32) tm_load_u32 (p);
    case TM_DTYPE_U32:
      return tm_load_u32 (p);
    case TM_DTYPE_I64:
    case TM_DTYPE_U64:
      return (gint64) tm_load_u64 (p);
    default:
      return *p;
    }
}

static gboolean
refuse_dtype (const TmStored *stored, GError **error)
{
  g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s is %s, of which no numbers can be had here", stored->name,
               stored->type_label ? stored->type_label : tm_dtype_get_name (stored->dtype));
  return FALSE;
}

gboolean
tm_operand_read_f32 (const TmStored *stored, guint64 first, gsize count, float *out, GError **error)
{
  const guint size = tm_dtype_get_info (stored->dtype)->block_bytes;
  const gboolean integer = tm_operand_is_integer (stored);
  TmRowKernel row = integer ? NULL : tm_row_kernel_get (stored->dtype);
  guint8 packed[CHUNK];

  if (!integer && row == NULL && stored->dtype != TM_DTYPE_F64)
    return refuse_dtype (stored, error);
  while (count > 0)
    {
      gsize n = MIN (count, CHUNK / size);

      if (!read_elements (stored, first, n, size, packed, error))
        return FALSE;
      if (row)
        row (packed, n, out);
      else
        for (gsize i = 0; i < n; i++)
          out[i] = integer ? (float) integer_at (stored->dtype, packed + i * size)
                           : (float) tm_double_from_bits (tm_load_u64 (packed + i * size));
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

gboolean
tm_operand_read_i64 (const TmStored *stored, guint64 first, gsize count, gint64 *out, GError **error)
{
  const guint size = tm_dtype_get_info (stored->dtype)->block_bytes;
  guint8 packed[CHUNK];

  if (!tm_operand_is_integer (stored))
    return refuse_dtype (stored, error);
  while (count > 0)
    {
      gsize n = MIN (count, CHUNK / size);

      if (!read_elements (stored, first, n, size, packed, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        {
          out[i] = integer_at (stored->dtype, packed + i * size);
          if (stored->dtype == TM_DTYPE_U64 && out[i] < 0)
            {
              g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s holds numbers past 63 bits", stored->name);
              return FALSE;
            }
        }
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

static gboolean
check_load (const TmStored *stored, guint64 max, GError **error)
{
  if (stored->fault == NULL && stored->n_elements <= MIN (max, G_MAXSIZE / 16))
    return TRUE;
  if (stored->fault)
    g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s: %s", stored->name, stored->fault);
  else
    g_set_error (error, TM_ERROR, TM_ERROR_TENSOR,
                 "%s has %" G_GUINT64_FORMAT " elements, more than the %" G_GUINT64_FORMAT " that make sense",
                 stored->name, stored->n_elements, max);
  return FALSE;
}

#define LOAD(function, type, read)                                                                                     \
  type *function (const TmStored *stored, guint64 max, GError **error)                                                 \
  {                                                                                                                    \
    type *out;                                                                                                         \
                                                                                                                       \
    if (!check_load (stored, max, error))                                                                              \
      return NULL;                                                                                                     \
    out = g_try_malloc (sizeof *out * (gsize) MAX (stored->n_elements, 1));                                            \
    if (out == NULL)                                                                                                   \
      g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s: out of memory", stored->name);                               \
    else if (!read (stored, 0, (gsize) stored->n_elements, out, error))                                                \
      g_clear_pointer (&out, g_free);                                                                                  \
    return out;                                                                                                        \
  }

LOAD (tm_operand_load_f32, float, tm_operand_read_f32)
LOAD (tm_operand_load_i64, gint64, tm_operand_read_i64)

/* --- Bits ------------------------------------------------------------------------------------------------------------ */

/* Up to 25 bits: four bytes hold them wherever they begin. */
static guint32
field_at (const guint8 *packed, gsize readable, guint64 bit, guint bits)
{
  const guint64 byte = bit >> 3;
  guint32 word = 0;

  if (byte + 4 <= readable)
    word = tm_load_u32 (packed + byte);
  else
    for (guint b = 0; b < 4 && byte + b < readable; b++)
      word |= (guint32) packed[byte + b] << (8 * b);
  return word >> (bit & 7) & (((guint32) 1 << bits) - 1);
}

gboolean
tm_operand_read_fields (const TmStored *stored, guint64 first_bit, guint bits, gsize count, guint32 *out,
                        GError **error)
{
  guint8 packed[CHUNK];

  while (count > 0)
    {
      gsize n = MIN (count, (CHUNK - 8) * 8 / bits), size;
      guint skip = (guint) (first_bit & 7);

      size = (skip + n * bits + 7) / 8;
      if (!tm_stored_read (stored, first_bit >> 3, size, packed, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = field_at (packed, size, skip + (guint64) i * bits, bits);
      out += n;
      first_bit += (guint64) n * bits;
      count -= n;
    }
  return TRUE;
}

void
tm_fields_unpack (const guint8 *packed, gsize readable, guint64 first_bit, guint bits, gsize count, guint8 *out)
{
  gsize i = 0;

  if (bits == 8 && first_bit % 8 == 0 && first_bit / 8 + count <= readable)
    {
      memcpy (out, packed + first_bit / 8, count);
      return;
    }
  if (bits == 4)
    {
      const guint8 *p = packed + first_bit / 8;
      gsize pairs;

      if (first_bit & 4 && count > 0 && first_bit / 8 < readable)
        out[i++] = *p++ >> 4;
      pairs = MIN ((count - i) / 2, readable - MIN (readable, (gsize) (p - packed)));
      tm_kernels_get ()->integer.split_nibbles (p, pairs, out + i);
      i += 2 * pairs;
    }
  else if (bits < 8)
    {
      /* eight codes are a whole number of bytes: up to the first that begins a byte, then eight at a time */
      while (i < count && (first_bit + (guint64) i * bits) % 8 != 0 && i < 8)
        {
          out[i] = (guint8) field_at (packed, readable, first_bit + (guint64) i * bits, bits);
          i++;
        }
      if (i < count && (first_bit + (guint64) i * bits) % 8 == 0)
        {
          const gsize at = (gsize) ((first_bit + (guint64) i * bits) / 8);
          gsize n = (count - i) / 8;

          n = at + 8 <= readable ? MIN (n, (readable - at - 8) / bits + 1) : 0;
          tm_kernels_get ()->integer.unpack_eights (packed + at, n, bits, out + i);
          i += 8 * n;
        }
    }
  for (; i < count; i++)
    out[i] = (guint8) field_at (packed, readable, first_bit + (guint64) i * bits, bits);
}

void
tm_operand_add_location (TmScalar *scalar, const TmStored *stored, guint64 first_bit, guint bits)
{
  while (bits > 0)
    {
      guint bit = (guint) (first_bit & 7), n = MIN (bits, 8 - bit);

      tm_scalar_add_location (scalar, stored->source, stored->offset + (first_bit >> 3), bit, n);
      first_bit += n;
      bits -= n;
    }
}

/* --- Bands ----------------------------------------------------------------------------------------------------------- */

gboolean
tm_operand_read_band (const TmStored *stored, guint64 first, guint64 pitch, gsize n_rows, gsize n_bytes, guint8 *out,
                      gsize out_pitch, GError **error)
{
  guint8 packed[TM_READ_BYTES];

  if (n_rows == 0 || n_bytes == 0)
    return TRUE;
  if (pitch == n_bytes && out_pitch == n_bytes)
    return tm_stored_read (stored, first, n_rows * n_bytes, out, error);
  while (n_rows > 0)
    { /* a read costs about as much as copying 1 KiB from a memory that is not near */
      gsize n = pitch - n_bytes > 1024 || pitch > TM_READ_BYTES - n_bytes
                    ? 1
                    : MIN (n_rows, (TM_READ_BYTES - n_bytes) / (gsize) pitch + 1);

      if (n == 1)
        {
          if (!tm_stored_read (stored, first, n_bytes, out, error))
            return FALSE;
        }
      else
        {
          if (!tm_stored_read (stored, first, (n - 1) * (gsize) pitch + n_bytes, packed, error))
            return FALSE;
          for (gsize r = 0; r < n; r++)
            memcpy (out + r * out_pitch, packed + r * pitch, n_bytes);
        }
      out += n * out_pitch;
      first += n * pitch;
      n_rows -= n;
    }
  return TRUE;
}

#define SLOTS 4

typedef struct
{
  TmStripe slot[SLOTS];
  guint64 used[SLOTS], clock;
} Stripes;

static void
stripes_free (gpointer pointer)
{
  Stripes *stripes = pointer;

  for (guint s = 0; s < SLOTS; s++)
    g_free (stripes->slot[s].bytes);
  g_free (stripes);
}

static Stripes *
stripes_get (void)
{
  static GPrivate key = G_PRIVATE_INIT (stripes_free);
  Stripes *stripes = g_private_get (&key);

  if (stripes == NULL)
    {
      stripes = g_new0 (Stripes, 1);
      g_private_set (&key, stripes);
    }
  return stripes;
}

guint64
tm_stripe_owner_new (void)
{
  static GMutex mutex;
  static guint64 last;
  guint64 owner;

  g_mutex_lock (&mutex);
  owner = ++last;
  g_mutex_unlock (&mutex);
  return owner;
}

TmStripe *
tm_stripe_find (guint64 owner, guint64 key, guint64 row, guint64 n_rows, guint64 column, guint64 n_columns)
{
  Stripes *stripes = stripes_get ();

  for (guint s = 0; s < SLOTS; s++)
    {
      TmStripe *stripe = &stripes->slot[s];

      if (stripe->owner == owner && stripe->key == key && row >= stripe->row
          && row + n_rows <= stripe->row + stripe->n_rows && column >= stripe->column
          && column + n_columns <= stripe->column + stripe->n_columns)
        {
          stripes->used[s] = ++stripes->clock;
          return stripe;
        }
    }
  return NULL;
}

TmStripe *
tm_stripe_take (gsize size)
{
  Stripes *stripes = stripes_get ();
  guint oldest = 0;
  TmStripe *stripe;

  if (size > TM_STRIPE_BYTES)
    return NULL;
  for (guint s = 1; s < SLOTS; s++)
    if (stripes->used[s] < stripes->used[oldest])
      oldest = s;
  stripe = &stripes->slot[oldest];
  stripes->used[oldest] = ++stripes->clock;
  stripe->owner = 0;
  if (stripe->size < size)
    {
      g_free (stripe->bytes);
      stripe->size = 0;
      stripe->bytes = g_try_malloc (size);
      if (stripe->bytes == NULL)
        return NULL;
      stripe->size = size;
    }
  return stripe;
}
