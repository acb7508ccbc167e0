/* Dtypes: what one stored element, code or block is. One row a dtype in a table; names are those of the field
 * (cli.md's list for plain dtypes, the customary upper-case names of ggml for block types).
 *
 * "quantized" is a property of the dtype: a quantized dtype stores an integer (or code) that only approximates the real
 * value once combined with a scale and often a zero point. An ordinary dtype's stored value is the value. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  TM_DTYPE_UNKNOWN,
  /* plain */
  TM_DTYPE_F64, TM_DTYPE_F32, TM_DTYPE_F16, TM_DTYPE_BF16,
  TM_DTYPE_F8_E4M3, TM_DTYPE_F8_E4M3FNUZ, TM_DTYPE_F8_E5M2, TM_DTYPE_F8_E5M2FNUZ, TM_DTYPE_F8_E8M0,
  TM_DTYPE_F6_E2M3, TM_DTYPE_F6_E3M2, TM_DTYPE_F4,
  TM_DTYPE_I64, TM_DTYPE_I32, TM_DTYPE_I16, TM_DTYPE_I8, TM_DTYPE_I4, TM_DTYPE_I2,
  TM_DTYPE_U64, TM_DTYPE_U32, TM_DTYPE_U16, TM_DTYPE_U8, TM_DTYPE_U4, TM_DTYPE_U2,
  TM_DTYPE_BOOL, TM_DTYPE_C64, TM_DTYPE_C128, TM_DTYPE_STRING,
  /* ggml block types (formats/ggml.md section 1) */
  TM_DTYPE_Q4_0, TM_DTYPE_Q4_1, TM_DTYPE_Q5_0, TM_DTYPE_Q5_1, TM_DTYPE_Q8_0, TM_DTYPE_Q8_1,
  TM_DTYPE_Q2_K, TM_DTYPE_Q3_K, TM_DTYPE_Q4_K, TM_DTYPE_Q5_K, TM_DTYPE_Q6_K, TM_DTYPE_Q8_K,
  TM_DTYPE_IQ2_XXS, TM_DTYPE_IQ2_XS, TM_DTYPE_IQ2_S, TM_DTYPE_IQ3_XXS, TM_DTYPE_IQ3_S, TM_DTYPE_IQ1_S, TM_DTYPE_IQ1_M,
  TM_DTYPE_IQ4_NL, TM_DTYPE_IQ4_XS, TM_DTYPE_TQ1_0, TM_DTYPE_TQ2_0, TM_DTYPE_MXFP4, TM_DTYPE_NVFP4,
  TM_DTYPE_Q1_0, TM_DTYPE_Q2_0,
  /* Codes of quantized weights, whatever words hold them; the tensor's scale makes them numbers. Named as the plain ones
   * (U4, I8; tm_dtype_from_name() gives those); NF4 and FP4 are bitsandbytes' tables. */
  TM_DTYPE_CODE_U1,
  TM_DTYPE_CODE_U2,
  TM_DTYPE_CODE_U3,
  TM_DTYPE_CODE_U4,
  TM_DTYPE_CODE_U5,
  TM_DTYPE_CODE_U6,
  TM_DTYPE_CODE_U7,
  TM_DTYPE_CODE_U8,
  TM_DTYPE_CODE_I2,
  TM_DTYPE_CODE_I4,
  TM_DTYPE_CODE_I8,
  TM_DTYPE_CODE_NF4,
  TM_DTYPE_CODE_FP4,
  TM_N_DTYPES
} TmDtype;

/* Families as the colour table of interaction.md has them; also the order of legends. */
typedef enum
{
  TM_FAMILY_FLOAT,       /* F64 F32 */
  TM_FAMILY_HALF,        /* F16 BF16 */
  TM_FAMILY_FLOAT8,
  TM_FAMILY_BITS_8,
  TM_FAMILY_BITS_6_7,
  TM_FAMILY_BITS_5,
  TM_FAMILY_BITS_4,
  TM_FAMILY_BITS_3,
  TM_FAMILY_BITS_2,
  TM_FAMILY_BITS_1,      /* 1-bit and ternary */
  TM_FAMILY_FLOAT4,      /* float4 and 4-bit codebooks (IQ4, MXFP4, NVFP4, F4), float6 too */
  TM_FAMILY_PLAIN,       /* plain integers, bool, complex, text, unknown */
  TM_N_FAMILIES
} TmFamily;

typedef struct
{
  const char *name;      /* "Q4_K" */
  TmFamily family;
  guint block_elements;  /* 1 for plain dtypes */
  guint block_bytes;     /* bytes of a block; 0 where an element is less than a byte or has no fixed size */
  guint bits;            /* bits of a plain element; for block types 8 × block_bytes / block_elements rounded down */
  guint code_bits;       /* quantized: bits of one raw code (index bits for grid codebooks); else 0 */
  gboolean quantized;
} TmDtypeInfo;

const TmDtypeInfo *tm_dtype_get_info (TmDtype dtype); /* never NULL; a row "unknown" for bad values */
const char *tm_dtype_get_name (TmDtype dtype);
/* The dtype of a quantized integer code: 1 to 8 bits; signed ones of 2, 4 and 8. TM_DTYPE_UNKNOWN otherwise. */
TmDtype tm_dtype_get_code (guint bits, gboolean is_signed);
TmDtype tm_dtype_from_name (const char *name); /* exact, upper case; TM_DTYPE_UNKNOWN if none */

/* Bytes of n_elements stored one after the other, rows of row_elements (block types: rows hold whole blocks; plain
 * sub-byte dtypes: the whole must fill bytes). FALSE on overflow or where the division leaves a rest. */
gboolean tm_dtype_get_bytes (TmDtype dtype, guint64 n_elements, guint64 row_elements, guint64 *bytes);

G_END_DECLS
