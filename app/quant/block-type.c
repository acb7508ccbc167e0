/* Field tables of the block types, from formats/ggml.md section 3. */
#include "quant/block-type.h"

#define FIELDS(T, ...) static const TmBlockField T##_fields[] = { __VA_ARGS__ }

/* clang-format off */
FIELDS (Q4_0, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qs", 2, 16, TM_FIELD_NIBBLES, "codes" });
FIELDS (Q4_1, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "m", 2, 2, TM_FIELD_F16, "offset" },
        { "qs", 4, 16, TM_FIELD_NIBBLES, "codes" });
FIELDS (Q5_0, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qh", 2, 4, TM_FIELD_1_BIT, "fifth bits of the codes" },
        { "qs", 6, 16, TM_FIELD_NIBBLES, "low four bits of the codes" });
FIELDS (Q5_1, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "m", 2, 2, TM_FIELD_F16, "offset" },
        { "qh", 4, 4, TM_FIELD_1_BIT, "fifth bits of the codes" },
        { "qs", 8, 16, TM_FIELD_NIBBLES, "low four bits of the codes" });
FIELDS (Q8_0, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qs", 2, 32, TM_FIELD_I8, "codes" });
FIELDS (Q8_1, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "s", 2, 2, TM_FIELD_F16, "scale times the sum of the codes" },
        { "qs", 4, 32, TM_FIELD_I8, "codes" });
FIELDS (Q8_K, { "d", 0, 4, TM_FIELD_F32, "scale" }, { "qs", 4, 256, TM_FIELD_I8, "codes" },
        { "bsums", 260, 32, TM_FIELD_I16, "sums of sixteen codes" });
FIELDS (Q1_0, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qs", 2, 16, TM_FIELD_1_BIT, "codes" });
FIELDS (Q2_0, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qs", 2, 16, TM_FIELD_2_BITS, "codes" });
FIELDS (Q2_K, { "scales", 0, 16, TM_FIELD_NIBBLES, "sub-scales (low) and sub-mins (high)" },
        { "qs", 16, 64, TM_FIELD_2_BITS, "codes" }, { "d", 80, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "dmin", 82, 2, TM_FIELD_F16, "scale of the sub-mins" });
FIELDS (Q3_K, { "hmask", 0, 32, TM_FIELD_1_BIT, "third bits of the codes" },
        { "qs", 32, 64, TM_FIELD_2_BITS, "low two bits of the codes" },
        { "scales", 96, 12, TM_FIELD_6_BITS, "sub-scales" }, { "d", 108, 2, TM_FIELD_F16, "scale of the sub-scales" });
FIELDS (Q4_K, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "dmin", 2, 2, TM_FIELD_F16, "scale of the sub-mins" },
        { "scales", 4, 12, TM_FIELD_6_BITS, "sub-scales and sub-mins" }, { "qs", 16, 128, TM_FIELD_NIBBLES, "codes" });
FIELDS (Q5_K, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "dmin", 2, 2, TM_FIELD_F16, "scale of the sub-mins" },
        { "scales", 4, 12, TM_FIELD_6_BITS, "sub-scales and sub-mins" },
        { "qh", 16, 32, TM_FIELD_1_BIT, "fifth bits of the codes" },
        { "qs", 48, 128, TM_FIELD_NIBBLES, "low four bits of the codes" });
FIELDS (Q6_K, { "ql", 0, 128, TM_FIELD_NIBBLES, "low four bits of the codes" },
        { "qh", 128, 64, TM_FIELD_2_BITS, "high two bits of the codes" },
        { "scales", 192, 16, TM_FIELD_I8, "sub-scales" }, { "d", 208, 2, TM_FIELD_F16, "scale of the sub-scales" });
FIELDS (TQ1_0, { "qs", 0, 48, TM_FIELD_TRITS, "codes, five a byte" }, { "qh", 48, 4, TM_FIELD_TRITS, "codes, four a byte" },
        { "d", 52, 2, TM_FIELD_F16, "scale" });
FIELDS (TQ2_0, { "qs", 0, 64, TM_FIELD_2_BITS, "codes" }, { "d", 64, 2, TM_FIELD_F16, "scale" });
FIELDS (IQ4_NL, { "d", 0, 2, TM_FIELD_F16, "scale" }, { "qs", 2, 16, TM_FIELD_NIBBLES, "code book indices" });
FIELDS (IQ4_XS, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "scales_h", 2, 2, TM_FIELD_U16, "high two bits of the sub-scales" },
        { "scales_l", 4, 4, TM_FIELD_NIBBLES, "low four bits of the sub-scales" },
        { "qs", 8, 128, TM_FIELD_NIBBLES, "code book indices" });
FIELDS (MXFP4, { "e", 0, 1, TM_FIELD_E8M0, "scale" }, { "qs", 1, 16, TM_FIELD_NIBBLES, "E2M1 codes" });
FIELDS (NVFP4, { "d", 0, 4, TM_FIELD_UE4M3, "scales" }, { "qs", 4, 32, TM_FIELD_NIBBLES, "E2M1 codes" });
FIELDS (IQ2_XXS, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 64, TM_FIELD_U32, "grid indices, signs and sub-scales, eight bytes for 32 elements" });
FIELDS (IQ2_XS, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 64, TM_FIELD_U16, "grid indices (nine bits) and signs (seven)" },
        { "scales", 66, 8, TM_FIELD_NIBBLES, "sub-scales" });
FIELDS (IQ2_S, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 32, TM_FIELD_U8, "low eight bits of the grid indices" }, { "signs", 34, 32, TM_FIELD_1_BIT, "signs" },
        { "qh", 66, 8, TM_FIELD_2_BITS, "high two bits of the grid indices" },
        { "scales", 74, 8, TM_FIELD_NIBBLES, "sub-scales" });
FIELDS (IQ3_XXS, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 64, TM_FIELD_U8, "grid indices" }, { "scales", 66, 32, TM_FIELD_U32, "signs and sub-scales" });
FIELDS (IQ3_S, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 64, TM_FIELD_U8, "low eight bits of the grid indices" },
        { "qh", 66, 8, TM_FIELD_1_BIT, "ninth bits of the grid indices" }, { "signs", 74, 32, TM_FIELD_1_BIT, "signs" },
        { "scales", 106, 4, TM_FIELD_NIBBLES, "sub-scales" });
FIELDS (IQ1_S, { "d", 0, 2, TM_FIELD_F16, "scale of the sub-scales" },
        { "qs", 2, 32, TM_FIELD_U8, "low eight bits of the grid indices" },
        { "qh", 34, 16, TM_FIELD_U16, "high three bits of the grid indices, sub-scales, signs of delta" });
FIELDS (IQ1_M, { "qs", 0, 32, TM_FIELD_U8, "low eight bits of the grid indices" },
        { "qh", 32, 16, TM_FIELD_NIBBLES, "high three bits of the grid indices, signs of delta" },
        { "scales", 48, 8, TM_FIELD_U16, "sub-scales, and the scale's bits in the top nibbles" });
/* clang-format on */

#define TYPE(T, group, zero, form_, known, text)                                                                       \
  [TM_DTYPE_##T] = { .granularity = (group),                                                                           \
                     .zero_point = (zero),                                                                             \
                     .form = TM_FORM_##form_,                                                                          \
                     .big_endian_known = (known),                                                                      \
                     .formula = text,                                                                                  \
                     .field = T##_fields,                                                                              \
                     .n_fields = G_N_ELEMENTS (T##_fields) }

/* clang-format off */
static const TmBlockType types[TM_N_DTYPES] = {
  TYPE (Q4_0, 32, 8, SL, TRUE, "d × (q − 8)"),
  TYPE (Q4_1, 32, 0, SL_PLUS_O, FALSE, "d × q + m"),
  TYPE (Q5_0, 32, 16, SL, FALSE, "d × (q − 16)"),
  TYPE (Q5_1, 32, 0, SL_PLUS_O, FALSE, "d × q + m"),
  TYPE (Q8_0, 32, 0, SL, TRUE, "d × q"),
  TYPE (Q8_1, 32, 0, SL, FALSE, "d × q"),
  TYPE (Q8_K, 256, 0, SL, FALSE, "d × q"),
  TYPE (Q1_0, 128, -1, SL, FALSE, "d × (2 × q − 1)"),
  TYPE (Q2_0, 64, 1, SL, FALSE, "d × (q − 1)"),
  TYPE (Q2_K, 16, 0, SL_PLUS_O, FALSE, "d × sc × q − dmin × m"),
  TYPE (Q3_K, 16, 4, SL, FALSE, "d × (sc − 32) × (q − 4)"),
  TYPE (Q4_K, 32, 0, SL_PLUS_O, TRUE, "d × sc × q − dmin × m"),
  TYPE (Q5_K, 32, 0, SL_PLUS_O, FALSE, "d × sc × q − dmin × m"),
  TYPE (Q6_K, 16, 32, SL, TRUE, "d × sc × (q − 32)"),
  TYPE (TQ1_0, 256, 1, SL, FALSE, "d × (q − 1)"),
  TYPE (TQ2_0, 256, 1, SL, FALSE, "d × (q − 1)"),
  TYPE (IQ4_NL, 32, -1, SL, FALSE, "d × codebook[q]"),
  TYPE (IQ4_XS, 32, -1, SL, FALSE, "d × (sc − 32) × codebook[q]"),
  TYPE (MXFP4, 32, -1, SL, TRUE, "2^(e − 128) × codebook[q]"),
  TYPE (NVFP4, 16, -1, SL, FALSE, "d × codebook[q] × factor (no companion: 1)"),
  TYPE (IQ2_XXS, 32, -1, SL, FALSE, "d × (0.5 + sc) / 4 × sign × grid[index][lane]"),
  TYPE (IQ2_XS, 16, -1, SL, FALSE, "d × (0.5 + sc) / 4 × sign × grid[index][lane]"),
  TYPE (IQ2_S, 16, -1, SL, FALSE, "d × (0.5 + sc) / 4 × sign × grid[index][lane]"),
  TYPE (IQ3_XXS, 32, -1, SL, FALSE, "d × (0.5 + sc) / 2 × sign × grid[index][lane]"),
  TYPE (IQ3_S, 32, -1, SL, FALSE, "d × (1 + 2 × sc) × sign × grid[index][lane]"),
  TYPE (IQ1_S, 32, -1, S_L_PLUS_O, FALSE, "d × (2 × sc + 1) × (grid[index][lane] + delta)"),
  TYPE (IQ1_M, 16, -1, S_L_PLUS_O, FALSE, "d × (2 × sc + 1) × (grid[index][lane] + delta)"),
};
/* clang-format on */

const TmBlockType *
tm_block_type_get (TmDtype dtype)
{
  return (guint)dtype < TM_N_DTYPES && types[dtype].granularity ? &types[dtype] : NULL;
}

void
tm_block_swap_fields (TmDtype dtype, guint8 *packed, gsize n_blocks)
{
  const TmBlockType *type = tm_block_type_get (dtype);
  guint size = tm_dtype_get_info (dtype)->block_bytes;

  for (guint f = 0; f < type->n_fields; f++)
    if (type->field[f].kind == TM_FIELD_F16)
      for (gsize i = 0; i < n_blocks; i++)
        {
          guint8 *p = packed + i * size + type->field[f].offset, low = p[0];

          p[0] = p[1];
          p[1] = low;
        }
}
