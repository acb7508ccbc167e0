/* The codec of ordinary dtypes: the stored element is the value. Facts: formats/safetensors.md section 3.
 *
 * Elements lie one after the other without padding: element k of a dtype of w bits is bits wk … w(k+1)−1 of a stream
 * whose bit i is bit i&7 of byte i>>3. For F4 the even element is the low nibble; for F6 the order is assumed. */
#include <math.h>

#include "io/error.h"
#include "quant/half.h"
#include "quant/kernels.h"
#include "quant/quant-private.h"

/* --- Small floats through tables -------------------------------------------------------------------------------------
 */

typedef enum
{
  SPECIAL_NONE,
  SPECIAL_IEEE,
  SPECIAL_FN,
  SPECIAL_FNUZ
} Special;

typedef struct
{
  guint exponent_bits, mantissa_bits;
  gint bias;
  Special special; /* how NaN and infinities are coded */
} SmallFloat;

enum
{
  TABLE_E4M3,
  TABLE_E4M3FNUZ,
  TABLE_E5M2,
  TABLE_E5M2FNUZ,
  TABLE_E2M3,
  TABLE_E3M2,
  TABLE_E2M1,
  TABLE_E8M0,
  N_TABLES
};

static const SmallFloat small_floats[TABLE_E8M0] = {
  [TABLE_E4M3] = { 4, 3, 7, SPECIAL_FN },    [TABLE_E4M3FNUZ] = { 4, 3, 8, SPECIAL_FNUZ },
  [TABLE_E5M2] = { 5, 2, 15, SPECIAL_IEEE }, [TABLE_E5M2FNUZ] = { 5, 2, 16, SPECIAL_FNUZ },
  [TABLE_E2M3] = { 2, 3, 1, SPECIAL_NONE },  [TABLE_E3M2] = { 3, 2, 3, SPECIAL_NONE },
  [TABLE_E2M1] = { 2, 1, 1, SPECIAL_NONE },
};

static float
small_float_decode (const SmallFloat *f, guint code)
{
  guint magnitude_bits = f->exponent_bits + f->mantissa_bits;
  guint sign = code >> magnitude_bits & 1, exponent = code >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
  guint mantissa = code & ((1u << f->mantissa_bits) - 1), top = (1u << f->exponent_bits) - 1;
  float x;

  if (f->special == SPECIAL_FNUZ && code == 1u << magnitude_bits)
    return NAN;
  if (f->special == SPECIAL_FN && exponent == top && mantissa == (1u << f->mantissa_bits) - 1)
    return sign ? -NAN : NAN;
  if (f->special == SPECIAL_IEEE && exponent == top)
    x = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    x = ldexpf ((float)mantissa, 1 - f->bias - (gint)f->mantissa_bits);
  else
    x = ldexpf ((float)(mantissa | 1u << f->mantissa_bits), (gint)exponent - f->bias - (gint)f->mantissa_bits);
  return sign ? -x : x;
}

static const float (*small_float_tables (void))[256]
{
  static float tables[N_TABLES][256];
  static gsize ready;

  if (g_once_init_enter (&ready))
    {
      for (guint t = 0; t < TABLE_E8M0; t++)
        for (guint code = 0; code < 256; code++)
          tables[t][code] = small_float_decode (&small_floats[t], code);
      /* 2^(code − 127); code 0 is a binary32 subnormal; there is no zero and no sign. */
      for (guint code = 0; code < 255; code++)
        tables[TABLE_E8M0][code] = tm_float_from_bits (code ? code << 23 : 0x00400000u);
      tables[TABLE_E8M0][255] = NAN;
      g_once_init_leave (&ready, 1);
    }
  return (const float (*)[256])tables;
}

static const float *
small_float_table (TmDtype dtype)
{
  switch ((gint)dtype)
    {
    case TM_DTYPE_F8_E4M3:
      return small_float_tables ()[TABLE_E4M3];
    case TM_DTYPE_F8_E4M3FNUZ:
      return small_float_tables ()[TABLE_E4M3FNUZ];
    case TM_DTYPE_F8_E5M2:
      return small_float_tables ()[TABLE_E5M2];
    case TM_DTYPE_F8_E5M2FNUZ:
      return small_float_tables ()[TABLE_E5M2FNUZ];
    case TM_DTYPE_F8_E8M0:
      return small_float_tables ()[TABLE_E8M0];
    case TM_DTYPE_F6_E2M3:
      return small_float_tables ()[TABLE_E2M3];
    case TM_DTYPE_F6_E3M2:
      return small_float_tables ()[TABLE_E3M2];
    case TM_DTYPE_F4:
      return small_float_tables ()[TABLE_E2M1];
    default:
      return NULL;
    }
}

/* --- Rows
 * ---------------------------------------------------------------------------------------------------------------- */

#define TABLE_ROW(name, index)                                                                                         \
  static void name (const guint8 *packed, gsize n, float *out)                                                         \
  {                                                                                                                    \
    const float *table = small_float_tables ()[index];                                                                 \
    for (gsize i = 0; i < n; i++)                                                                                      \
      out[i] = table[packed[i]];                                                                                       \
  }

TABLE_ROW (e4m3_row, TABLE_E4M3)
TABLE_ROW (e4m3fnuz_row, TABLE_E4M3FNUZ)
TABLE_ROW (e5m2_row, TABLE_E5M2)
TABLE_ROW (e5m2fnuz_row, TABLE_E5M2FNUZ)
TABLE_ROW (e8m0_row, TABLE_E8M0)

static TmRowKernel
row_kernel (TmDtype dtype, const TmKernels *kernels)
{
  switch ((gint)dtype)
    {
    case TM_DTYPE_F8_E4M3:
      return e4m3_row;
    case TM_DTYPE_F8_E4M3FNUZ:
      return e4m3fnuz_row;
    case TM_DTYPE_F8_E5M2:
      return e5m2_row;
    case TM_DTYPE_F8_E5M2FNUZ:
      return e5m2fnuz_row;
    case TM_DTYPE_F8_E8M0:
      return e8m0_row;
    default:
      return (guint)dtype < TM_N_DTYPES ? kernels->row[dtype] : NULL;
    }
}

TmRowKernel
tm_row_kernel_get (TmDtype dtype)
{
  return row_kernel (dtype, tm_kernels_get ());
}

TmRowKernel
tm_row_kernel_get_portable (TmDtype dtype)
{
  return row_kernel (dtype, &tm_kernels_portable);
}

/* --- Packed bytes
 * ---------------------------------------------------------------------------------------------------------- */

static gboolean
is_complex (TmDtype dtype)
{
  return dtype == TM_DTYPE_C64 || dtype == TM_DTYPE_C128;
}

static gboolean
is_signed (TmDtype dtype)
{
  return dtype >= TM_DTYPE_I64 && dtype <= TM_DTYPE_I2;
}

/* Bytes of one number that is turned around by a byte order: half a complex. */
static guint
swap_unit (TmDtype dtype)
{
  guint bytes = tm_dtype_get_info (dtype)->block_bytes;

  return is_complex (dtype) ? bytes / 2 : bytes;
}

static void
swap_bytes (guint8 *p, gsize n_bytes, guint unit)
{
  for (gsize at = 0; unit > 1 && at + unit <= n_bytes; at += unit)
    for (guint i = 0; i < unit / 2; i++)
      {
        guint8 low = p[at + i];

        p[at + i] = p[at + unit - 1 - i];
        p[at + unit - 1 - i] = low;
      }
}

/* The bytes that hold elements first … first + count − 1, little-endian. */
static gboolean
read_elements (const TmTensor *tensor, guint64 first, gsize count, guint8 *packed, GError **error)
{
  const guint bits = tm_dtype_get_info (tensor->dtype)->bits;
  /* The whole tensor's bits fit 64 bits, or it would have a fault. */
  guint64 from = first / 8 * bits + first % 8 * bits / 8;
  guint64 end = first + count, to = end / 8 * bits + (end % 8 * bits + 7) / 8;

  if (!tm_stored_read (tensor->values, from, (gsize)(to - from), packed, error))
    return FALSE;
  if (tensor->values->big_endian)
    swap_bytes (packed, (gsize)(to - from), swap_unit (tensor->dtype));
  return TRUE;
}

/* Code k of a packed run whose first element begins at bit (first × bits) & 7 of packed. At most 8 bits. */
static guint
small_code (const guint8 *packed, guint64 first, gsize k, guint bits)
{
  guint64 bit = first % 8 * bits % 8 + (guint64)k * bits;
  guint shift = (guint)(bit & 7), x = packed[bit >> 3];

  if (shift + bits > 8)
    x |= (guint)packed[(bit >> 3) + 1] << 8;
  return x >> shift & ((1u << bits) - 1);
}

static gint
sign_extend (guint code, guint bits)
{
  guint sign = 1u << (bits - 1);

  return (gint)(code ^ sign) - (gint)sign;
}

/* --- The codec
 * ---------------------------------------------------------------------------------------------------------------- */

static gsize
elements_a_read (TmDtype dtype)
{
  /* One byte is left for a run that starts inside one. */
  return (TM_READ_BYTES - 8) / 16 * 16 * 8 / MAX (tm_dtype_get_info (dtype)->bits, 8);
}

static void
unpack_values (const TmTensor *tensor, guint64 first, gsize n, const guint8 *packed, float *out)
{
  const guint bits = tm_dtype_get_info (tensor->dtype)->bits;
  const float *table = small_float_table (tensor->dtype);
  TmRowKernel row = tm_row_kernel_get (tensor->dtype);

  if (row)
    row (packed, n, out);
  else
    for (gsize i = 0; i < n; i++)
      {
        guint code = small_code (packed, first, i, bits);

        out[i] = table ? table[code] : (float)(is_signed (tensor->dtype) ? sign_extend (code, bits) : (gint)code);
      }
}

/* Little-endian numbers to the host's order, in place. */
static void
to_host (TmDtype dtype, guint8 *p, gsize n_bytes)
{
#if G_BYTE_ORDER != G_LITTLE_ENDIAN
  swap_bytes (p, n_bytes, swap_unit (dtype));
#endif
}

static gboolean
values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  guint8 packed[TM_READ_BYTES];
  const gsize most = elements_a_read (tensor->dtype);

  if (tensor->dtype == TM_DTYPE_F32)
    {
      if (!read_elements (tensor, first, count, (guint8 *)out, error))
        return FALSE;
      to_host (TM_DTYPE_F32, (guint8 *)out, count * sizeof *out);
      return TRUE;
    }
  while (count > 0)
    {
      gsize n = MIN (count, most);

      if (!read_elements (tensor, first, n, packed, error))
        return FALSE;
      unpack_values (tensor, first, n, packed, out);
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

static gboolean
native (const TmTensor *tensor, guint64 first, gsize count, gpointer out, GError **error)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  guint8 packed[TM_READ_BYTES], *to = out;

  if (tm_tensor_get_native_dtype (tensor) == TM_DTYPE_F32)
    return values (tensor, first, count, out, error);
  if (info->bits >= 8)
    {
      if (!read_elements (tensor, first, count, to, error))
        return FALSE;
      to_host (tensor->dtype, to, count * info->block_bytes);
      return TRUE;
    }
  while (count > 0)
    {
      gsize n = MIN (count, elements_a_read (tensor->dtype));

      if (!read_elements (tensor, first, n, packed, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        {
          guint code = small_code (packed, first, i, info->bits);

          to[i] = (guint8)(is_signed (tensor->dtype) ? sign_extend (code, info->bits) : (gint)code);
        }
      to += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

/* Where the number's bits are, low bits first. */
static void
add_locations (const TmTensor *tensor, guint64 flat, TmScalar *scalar)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  const TmStored *stored = tensor->values;
  guint64 byte;
  guint unit;

  if (info->bits < 8)
    {
      guint64 at = flat / 8 * info->bits + flat % 8 * info->bits / 8;
      guint bit = (guint)(flat % 8 * info->bits % 8), low = MIN (info->bits, 8 - bit);

      tm_scalar_add_location (scalar, stored->source, stored->offset + at, bit, low);
      if (low < info->bits)
        tm_scalar_add_location (scalar, stored->source, stored->offset + at + 1, 0, info->bits - low);
      return;
    }
  byte = stored->offset + flat * info->block_bytes;
  unit = swap_unit (tensor->dtype);
  if (!stored->big_endian || unit == 1)
    tm_scalar_add_location (scalar, stored->source, byte, 0, info->bits);
  else
    for (guint part = 0; part < info->block_bytes; part += unit)
      for (guint i = unit; i-- > 0;)
        tm_scalar_add_location (scalar, stored->source, byte + part + i, 0, 8);
}

static gboolean
explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error)
{
  const TmDtype dtype = tensor->dtype;
  const guint bits = tm_dtype_get_info (dtype)->bits;
  TmNumber *value = &scalar->value;
  guint8 packed[16] = { 0 };
  guint64 low;

  if (!read_elements (tensor, flat, 1, packed, error))
    return FALSE;
  low = tm_load_u64 (packed);
  if (bits < 8)
    low = small_code (packed, flat, 0, bits);
  else if (bits < 64)
    low &= (G_GUINT64_CONSTANT (1) << bits) - 1;
  scalar->raw_bits = bits;
  scalar->pattern[0] = low;
  scalar->pattern[1] = bits > 64 ? tm_load_u64 (packed + 8) : 0;
  add_locations (tensor, flat, scalar);
  switch ((gint)dtype)
    {
    case TM_DTYPE_F64:
      value->kind = TM_NUMBER_F64;
      value->as.f64 = tm_double_from_bits (low);
      break;
    case TM_DTYPE_BOOL:
      value->kind = TM_NUMBER_BOOL;
      value->as.b = low != 0;
      value->stored_bool = (guint8)low;
      break;
    case TM_DTYPE_C64:
      value->kind = TM_NUMBER_COMPLEX;
      value->as.c.re = (double)tm_load_f32 (packed);
      value->as.c.im = (double)tm_load_f32 (packed + 4);
      break;
    case TM_DTYPE_C128:
      value->kind = TM_NUMBER_COMPLEX128;
      value->as.c.re = tm_double_from_bits (low);
      value->as.c.im = tm_double_from_bits (scalar->pattern[1]);
      break;
    default:
      if (is_signed (dtype))
        {
          value->kind = TM_NUMBER_I64;
          value->as.i64 = bits == 64 ? (gint64)low : (gint64)(low << (64 - bits)) >> (64 - bits);
        }
      else if (dtype >= TM_DTYPE_U64 && dtype <= TM_DTYPE_U2)
        {
          value->kind = TM_NUMBER_U64;
          value->as.u64 = low;
        }
      else
        {
          value->kind = TM_NUMBER_F32;
          if (bits < 8)
            value->as.f32 = small_float_table (dtype)[low];
          else
            tm_row_kernel_get (dtype) (packed, 1, &value->as.f32);
        }
      break;
    }
  return TRUE;
}

const TmCodec tm_codec_plain = {
  .name = "plain",
  .values = values,
  .native = native,
  .explain = explain,
};
