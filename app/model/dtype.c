/* One row a dtype, in the order of the enumeration. Sizes of block types: formats/ggml.md section 1. */
#include "model/dtype.h"

#include <string.h>

#define PLAIN(code, label, family_, bits_)                                                                             \
  [TM_DTYPE_##code] = {                                                                                                \
    .name = label, .family = TM_FAMILY_##family_, .block_elements = 1, .block_bytes = (bits_) / 8, .bits = (bits_)     \
  }
#define BLOCK(code, family_, elements, bytes, code_bits_)                                                              \
  [TM_DTYPE_##code] = { .name = #code,                                                                                 \
                        .family = TM_FAMILY_##family_,                                                                 \
                        .block_elements = (elements),                                                                  \
                        .block_bytes = (bytes),                                                                        \
                        .bits = 8 * (bytes) / (elements),                                                              \
                        .code_bits = (code_bits_),                                                                     \
                        .quantized = TRUE }

#define CODE(code, label, family_, bits_)                                                                              \
  [TM_DTYPE_CODE_##code] = { .name = label,                                                                            \
                             .family = TM_FAMILY_##family_,                                                            \
                             .block_elements = 1,                                                                      \
                             .block_bytes = (bits_) / 8,                                                               \
                             .bits = (bits_),                                                                          \
                             .code_bits = (bits_),                                                                     \
                             .quantized = TRUE }

/* clang-format off */
static const TmDtypeInfo dtypes[TM_N_DTYPES] = {
  PLAIN (UNKNOWN, "unknown", PLAIN, 0),
  PLAIN (F64, "F64", FLOAT, 64),
  PLAIN (F32, "F32", FLOAT, 32),
  PLAIN (F16, "F16", HALF, 16),
  PLAIN (BF16, "BF16", HALF, 16),
  PLAIN (F8_E4M3, "F8_E4M3", FLOAT8, 8),
  PLAIN (F8_E4M3FNUZ, "F8_E4M3FNUZ", FLOAT8, 8),
  PLAIN (F8_E5M2, "F8_E5M2", FLOAT8, 8),
  PLAIN (F8_E5M2FNUZ, "F8_E5M2FNUZ", FLOAT8, 8),
  PLAIN (F8_E8M0, "F8_E8M0", FLOAT8, 8),
  PLAIN (F6_E2M3, "F6_E2M3", FLOAT4, 6),
  PLAIN (F6_E3M2, "F6_E3M2", FLOAT4, 6),
  PLAIN (F4, "F4", FLOAT4, 4),
  PLAIN (I64, "I64", PLAIN, 64),
  PLAIN (I32, "I32", PLAIN, 32),
  PLAIN (I16, "I16", PLAIN, 16),
  PLAIN (I8, "I8", PLAIN, 8),
  PLAIN (I4, "I4", PLAIN, 4),
  PLAIN (I2, "I2", PLAIN, 2),
  PLAIN (U64, "U64", PLAIN, 64),
  PLAIN (U32, "U32", PLAIN, 32),
  PLAIN (U16, "U16", PLAIN, 16),
  PLAIN (U8, "U8", PLAIN, 8),
  PLAIN (U4, "U4", PLAIN, 4),
  PLAIN (U2, "U2", PLAIN, 2),
  PLAIN (BOOL, "BOOL", PLAIN, 8),
  PLAIN (C64, "C64", PLAIN, 64),
  PLAIN (C128, "C128", PLAIN, 128),
  PLAIN (STRING, "STRING", PLAIN, 0),
  BLOCK (Q4_0, BITS_4, 32, 18, 4),
  BLOCK (Q4_1, BITS_4, 32, 20, 4),
  BLOCK (Q5_0, BITS_5, 32, 22, 5),
  BLOCK (Q5_1, BITS_5, 32, 24, 5),
  BLOCK (Q8_0, BITS_8, 32, 34, 8),
  BLOCK (Q8_1, BITS_8, 32, 36, 8),
  BLOCK (Q2_K, BITS_2, 256, 84, 2),
  BLOCK (Q3_K, BITS_3, 256, 110, 3),
  BLOCK (Q4_K, BITS_4, 256, 144, 4),
  BLOCK (Q5_K, BITS_5, 256, 176, 5),
  BLOCK (Q6_K, BITS_6_7, 256, 210, 6),
  BLOCK (Q8_K, BITS_8, 256, 292, 8),
  BLOCK (IQ2_XXS, BITS_2, 256, 66, 8),
  BLOCK (IQ2_XS, BITS_2, 256, 74, 9),
  BLOCK (IQ2_S, BITS_2, 256, 82, 10),
  BLOCK (IQ3_XXS, BITS_3, 256, 98, 8),
  BLOCK (IQ3_S, BITS_3, 256, 110, 9),
  BLOCK (IQ1_S, BITS_1, 256, 50, 11),
  BLOCK (IQ1_M, BITS_1, 256, 56, 11),
  BLOCK (IQ4_NL, FLOAT4, 32, 18, 4),
  BLOCK (IQ4_XS, FLOAT4, 256, 136, 4),
  BLOCK (TQ1_0, BITS_1, 256, 54, 2),
  BLOCK (TQ2_0, BITS_1, 256, 66, 2),
  BLOCK (MXFP4, FLOAT4, 32, 17, 4),
  BLOCK (NVFP4, FLOAT4, 64, 36, 4),
  BLOCK (Q1_0, BITS_1, 128, 18, 1),
  BLOCK (Q2_0, BITS_2, 64, 18, 2),
  CODE (U1, "U1", BITS_1, 1),
  CODE (U2, "U2", BITS_2, 2),
  CODE (U3, "U3", BITS_3, 3),
  CODE (U4, "U4", BITS_4, 4),
  CODE (U5, "U5", BITS_5, 5),
  CODE (U6, "U6", BITS_6_7, 6),
  CODE (U7, "U7", BITS_6_7, 7),
  CODE (U8, "U8", BITS_8, 8),
  CODE (I2, "I2", BITS_2, 2),
  CODE (I4, "I4", BITS_4, 4),
  CODE (I8, "I8", BITS_8, 8),
  CODE (NF4, "NF4", FLOAT4, 4),
  CODE (FP4, "FP4", FLOAT4, 4),
};
/* clang-format on */

const TmDtypeInfo *
tm_dtype_get_info (TmDtype dtype)
{
  return (guint)dtype < TM_N_DTYPES ? &dtypes[dtype] : &dtypes[TM_DTYPE_UNKNOWN];
}

const char *
tm_dtype_get_name (TmDtype dtype)
{
  return tm_dtype_get_info (dtype)->name;
}

TmDtype
tm_dtype_get_code (guint bits, gboolean is_signed)
{
  if (is_signed)
    return bits == 8 ? TM_DTYPE_CODE_I8 : bits == 4 ? TM_DTYPE_CODE_I4 : bits == 2 ? TM_DTYPE_CODE_I2 : TM_DTYPE_UNKNOWN;
  return bits >= 1 && bits <= 8 ? (TmDtype) (TM_DTYPE_CODE_U1 + bits - 1) : TM_DTYPE_UNKNOWN;
}

TmDtype
tm_dtype_from_name (const char *name)
{
  for (guint i = TM_DTYPE_UNKNOWN + 1; i < TM_DTYPE_CODE_U1; i++)
    if (name && strcmp (dtypes[i].name, name) == 0)
      return (TmDtype)i;
  return TM_DTYPE_UNKNOWN;
}

gboolean
tm_dtype_get_bytes (TmDtype dtype, guint64 n_elements, guint64 row_elements, guint64 *bytes)
{
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  guint64 units, bits;

  *bytes = 0;
  if (info->bits == 0)
    return FALSE;
  if (info->block_elements > 1)
    {
      if (row_elements % info->block_elements != 0 || n_elements % info->block_elements != 0)
        return FALSE;
      units = n_elements / info->block_elements;
      return !__builtin_mul_overflow (units, (guint64)info->block_bytes, bytes);
    }
  /* The whole must fill bytes, and the count of bits itself must fit 64 bits, as the reference reader has it. */
  if (__builtin_mul_overflow (n_elements, (guint64)info->bits, &bits) || bits % 8 != 0)
    return FALSE;
  *bytes = bits / 8;
  return TRUE;
}
