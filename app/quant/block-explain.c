/* One scalar of one block, read field by field: the scalar record's raw code, scale, terms and places. It shares
 * nothing with the kernels but the code books, so each checks the other. */
#include <math.h>

#include "quant/block-type.h"
#include "quant/half.h"
#include "quant/iq-table.h"
#include "quant/quant-private.h"

typedef struct
{
  const guint8 *b; /* the block */
  guint e;         /* the element */
  TmSource *source;
  guint64 base;
  TmScalar *s;
  guint raw; /* collected from pieces */
  guint raw_bits;
  gint level;
  float scale, offset;
  TmPacking *packing; /* or NULL: only the record is wanted */
  const TmStored *stored;
  guint64 first; /* the block's first byte in stored */
} Block;

/* Bits of the block that are this element's. */
static void
own (Block *x, const char *name, const char *meaning, TmPackRole role, guint byte, guint bit, guint bits, double number)
{
  if (x->packing)
    tm_packing_add_own (x->packing, x->stored, name, meaning, role, x->first + byte, bit, bits, number);
}

static void
own_grid (Block *x, const guint8 *entry, guint n, guint lane)
{
  if (x->packing == NULL)
    return;
  memcpy (x->packing->grid, entry, n);
  x->packing->n_grid = n;
  x->packing->lane = lane;
}

/* The next higher bits of raw, cut at byte borders. */
static void
piece (Block *x, guint byte, guint bit, guint bits)
{
  while (bits > 0)
    {
      guint n = MIN (bits, 8 - bit);

      x->raw |= ((guint)x->b[byte] >> bit & ((1u << n) - 1)) << x->raw_bits;
      x->raw_bits += n;
      own (x, "q", "code", TM_PACK_CODE, byte, bit, n, x->b[byte] >> bit & ((1u << n) - 1));
      tm_scalar_add_location (x->s, x->source, x->base + byte, bit, n);
      byte++;
      bit = 0;
      bits -= n;
    }
}

static void
nibble (Block *x, guint byte, gboolean high)
{
  piece (x, byte, high ? 4 : 0, 4);
}

static float
term_f16 (Block *x, const char *name, guint byte)
{
  float value = tm_load_f16 (x->b + byte);

  own (x, name, name[0] == 'm' || name[1] == 'm' ? "offset" : "scale",
       name[0] == 'm' || name[1] == 'm' ? TM_PACK_OFFSET : TM_PACK_SCALE, byte, 0, 16, (double)value);
  tm_scalar_add_term_f32 (x->s, name, value);
  return value;
}

static void
term_int (Block *x, const char *name, gint value)
{
  tm_scalar_add_term_int (x->s, name, value);
}

static void
code_terms (Block *x, gint zero_point)
{
  term_int (x, "q", (gint)x->raw);
  x->level = (gint)x->raw - zero_point;
}

static void
book_terms (Block *x, const gint8 *book)
{
  x->level = book[x->raw];
  term_int (x, "q", (gint)x->raw);
  term_int (x, "level", x->level);
}

/* --- plain nibbles, fifth bits, bytes
 * --------------------------------------------------------------------------------- */

static void
explain_simple (Block *x, TmDtype dtype)
{
  const guint e = x->e;

  switch ((gint)dtype)
    {
    case TM_DTYPE_Q4_0:
    case TM_DTYPE_IQ4_NL:
      nibble (x, 2 + (e & 15), e >= 16);
      break;
    case TM_DTYPE_Q4_1:
      nibble (x, 4 + (e & 15), e >= 16);
      break;
    case TM_DTYPE_Q5_0:
      nibble (x, 6 + (e & 15), e >= 16);
      piece (x, 2 + (e >> 3), e & 7, 1);
      break;
    case TM_DTYPE_Q5_1:
      nibble (x, 8 + (e & 15), e >= 16);
      piece (x, 4 + (e >> 3), e & 7, 1);
      break;
    case TM_DTYPE_Q8_0:
      piece (x, 2 + e, 0, 8);
      break;
    case TM_DTYPE_Q8_1:
    case TM_DTYPE_Q8_K:
      piece (x, 4 + e, 0, 8);
      break;
    case TM_DTYPE_Q1_0:
      piece (x, 2 + (e >> 3), e & 7, 1);
      break;
    case TM_DTYPE_Q2_0:
      piece (x, 2 + (e >> 2), 2 * (e & 3), 2);
      break;
    case TM_DTYPE_TQ2_0:
      piece (x, 32 * (e >> 7) + (e & 31), 2 * ((e >> 5) & 3), 2);
      break;
    default:
      break;
    }
  if (dtype == TM_DTYPE_Q8_K)
    {
      x->scale = tm_load_f32 (x->b);
      own (x, "d", "scale", TM_PACK_SCALE, 0, 0, 32, (double)x->scale);
      tm_scalar_add_term_f32 (x->s, "d", x->scale);
    }
  else
    x->scale = term_f16 (x, "d", dtype == TM_DTYPE_TQ2_0 ? 64 : 0);
  if (dtype == TM_DTYPE_IQ4_NL)
    book_terms (x, tm_kvalues_iq4nl);
  else if (tm_dtype_get_info (dtype)->code_bits == 8)
    {
      x->level = (gint8)x->raw;
      term_int (x, "q", x->level);
    }
  else if (dtype == TM_DTYPE_Q1_0)
    {
      term_int (x, "q", (gint)x->raw);
      x->level = 2 * (gint)x->raw - 1;
      term_int (x, "level", x->level);
    }
  else
    code_terms (x, tm_block_type_get (dtype)->zero_point);
  if (dtype == TM_DTYPE_Q4_1 || dtype == TM_DTYPE_Q5_1)
    x->offset = term_f16 (x, "m", 2);
}

static void
explain_tq1_0 (Block *x)
{
  static const guint power[5] = { 1, 3, 9, 27, 81 };
  const guint e = x->e;
  guint byte, digit;

  if (e < 160)
    byte = e % 32, digit = e / 32;
  else if (e < 240)
    byte = 32 + (e - 160) % 16, digit = (e - 160) / 16;
  else
    byte = 48 + (e - 240) % 4, digit = (e - 240) / 4;
  /* A trit has no bits of its own: its place is the byte it shares. */
  tm_scalar_add_location (x->s, x->source, x->base + byte, 0, 8);
  x->raw = (((x->b[byte] * power[digit]) & 255) * 3) >> 8;
  own (x, "q", "five codes to the base of three", TM_PACK_CODE, byte, 0, 8, x->raw);
  x->raw_bits = 2;
  x->scale = term_f16 (x, "d", 52);
  term_int (x, "byte", x->b[byte]);
  term_int (x, "digit", (gint)digit);
  code_terms (x, 1);
}

/* --- K super-blocks
 * ---------------------------------------------------------------------------------------------------- */

static void
explain_min_k (Block *x, guint d_at, guint sc, guint m)
{
  float d, dmin;

  d = term_f16 (x, "d", d_at);
  term_int (x, "sc", (gint)sc);
  code_terms (x, 0);
  dmin = term_f16 (x, "dmin", d_at + 2);
  term_int (x, "m", (gint)m);
  x->scale = d * (float)sc;
  x->offset = -(dmin * (float)m);
}

static void
explain_k (Block *x, TmDtype dtype)
{
  const guint e = x->e, plane_byte = 32 * (e >> 7) + (e & 31), plane_bit = 2 * ((e >> 5) & 3);
  const guint8 *p;
  guint s, sc, m;

  switch ((gint)dtype)
    {
    case TM_DTYPE_Q2_K:
      piece (x, 16 + plane_byte, plane_bit, 2);
      own (x, "sc", "sub-scale", TM_PACK_SCALE, e >> 4, 0, 4, x->b[e >> 4] & 15);
      own (x, "m", "sub-min", TM_PACK_OFFSET, e >> 4, 4, 4, x->b[e >> 4] >> 4);
      explain_min_k (x, 80, x->b[e >> 4] & 15, x->b[e >> 4] >> 4);
      break;
    case TM_DTYPE_Q3_K:
      piece (x, 32 + plane_byte, plane_bit, 2);
      piece (x, e & 31, e >> 5, 1);
      p = x->b + 96;
      s = e >> 4;
      sc = (s < 8 ? p[s] & 15u : p[s - 8] >> 4) | (p[8 + (s & 3)] >> (2 * (s >> 2)) & 3u) << 4;
      own (x, "sc", "low bits of the sub-scale", TM_PACK_SCALE, 96 + (s & 7), s < 8 ? 0 : 4, 4, sc & 15);
      own (x, "sc", "high bits of the sub-scale", TM_PACK_SCALE, 104 + (s & 3), 2 * (s >> 2), 2, sc >> 4);
      x->scale = term_f16 (x, "d", 108) * (float)((gint)sc - 32);
      term_int (x, "sc", (gint)sc);
      code_terms (x, 4);
      break;
    case TM_DTYPE_Q4_K:
    case TM_DTYPE_Q5_K:
      nibble (x, (dtype == TM_DTYPE_Q4_K ? 16 : 48) + 32 * (e >> 6) + (e & 31), (e & 63) >= 32);
      if (dtype == TM_DTYPE_Q5_K)
        piece (x, 16 + (e & 31), e >> 5, 1);
      p = x->b + 4;
      s = e >> 5;
      sc = s < 4 ? p[s] & 63u : (p[s + 4] & 15u) + 16u * (p[s - 4] >> 6);
      m = s < 4 ? p[s + 4] & 63u : (p[s + 4] >> 4) + 16u * (p[s] >> 6);
      if (s < 4)
        {
          own (x, "sc", "sub-scale", TM_PACK_SCALE, 4 + s, 0, 6, sc);
          own (x, "m", "sub-min", TM_PACK_OFFSET, 8 + s, 0, 6, m);
        }
      else
        {
          own (x, "sc", "low bits of the sub-scale", TM_PACK_SCALE, 8 + s, 0, 4, sc & 15);
          own (x, "sc", "high bits of the sub-scale", TM_PACK_SCALE, s, 6, 2, sc >> 4);
          own (x, "m", "low bits of the sub-min", TM_PACK_OFFSET, 8 + s, 4, 4, m & 15);
          own (x, "m", "high bits of the sub-min", TM_PACK_OFFSET, 4 + s, 6, 2, m >> 4);
        }
      explain_min_k (x, 0, sc, m);
      break;
    case TM_DTYPE_Q6_K:
    default:
      nibble (x, 64 * (e >> 7) + (e & 63), (e & 127) >= 64);
      piece (x, 128 + plane_byte, plane_bit, 2);
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 192 + (e >> 4), 0, 8, (gint8)x->b[192 + (e >> 4)]);
      x->scale = term_f16 (x, "d", 208) * (float)(gint8)x->b[192 + (e >> 4)];
      term_int (x, "sc", (gint8)x->b[192 + (e >> 4)]);
      code_terms (x, 32);
      break;
    }
}

/* --- four-bit code books
 * ------------------------------------------------------------------------------------------------ */

static void
explain_fp4 (Block *x, TmDtype dtype)
{
  const guint e = x->e, s = e >> 5, in = e & 31;
  gint sc;

  switch ((gint)dtype)
    {
    case TM_DTYPE_IQ4_XS:
      nibble (x, 8 + 16 * s + (in & 15), in >= 16);
      sc = (x->b[4 + (s >> 1)] >> (4 * (s & 1)) & 15) + 16 * (tm_load_u16 (x->b + 2) >> (2 * s) & 3);
      own (x, "sc", "low bits of the sub-scale", TM_PACK_SCALE, 4 + (s >> 1), 4 * (s & 1), 4, sc & 15);
      own (x, "sc", "high bits of the sub-scale", TM_PACK_SCALE, 2, 2 * s, 2, sc >> 4);
      x->scale = term_f16 (x, "d", 0) * (float)(sc - 32);
      term_int (x, "sc", sc);
      book_terms (x, tm_kvalues_iq4nl);
      break;
    case TM_DTYPE_MXFP4:
      nibble (x, 1 + (e & 15), e >= 16);
      x->scale = tm_e8m0_half_to_float (x->b[0]);
      own (x, "e", "scale", TM_PACK_SCALE, 0, 0, 8, (double)x->scale);
      term_int (x, "e", x->b[0]);
      book_terms (x, tm_kvalues_fp4);
      break;
    case TM_DTYPE_NVFP4:
    default:
      nibble (x, 4 + 8 * (e >> 4) + (e & 7), (e & 15) >= 8);
      x->scale = tm_ue4m3_half_to_float (x->b[e >> 4]);
      own (x, "d", "scale", TM_PACK_SCALE, e >> 4, 0, 8, (double)x->scale);
      term_int (x, "e", x->b[e >> 4]);
      tm_scalar_add_term_f32 (x->s, "d", x->scale);
      book_terms (x, tm_kvalues_fp4);
      break;
    }
}

/* --- grids
 * ---------------------------------------------------------------------------------------------------------------- */

static void
grid_terms (Block *x, guint sc, gint magnitude, guint lane, gboolean negative)
{
  term_int (x, "sc", (gint)sc);
  term_int (x, "index", (gint)x->raw);
  term_int (x, "grid", magnitude);
  term_int (x, "lane", (gint)lane);
  term_int (x, "sign", negative ? -1 : 1);
  x->level = negative ? -magnitude : magnitude;
  term_int (x, "level", x->level);
}

/* Seven signs from bit first_bit of the block on; the eighth makes their number even. */
static gboolean
sign7 (Block *x, guint code, guint lane, guint first_bit)
{
  guint parity = (guint)__builtin_parity (code & 127);
  gboolean negative = lane < 7 ? code >> lane & 1 : parity;

  if (lane < 7)
    own (x, "sign", "sign", TM_PACK_SIGN, 0, first_bit + lane, 1, negative ? -1 : 1);
  else
    own (x, "sign", "seven signs, whose parity is the eighth", TM_PACK_SIGN, 0, first_bit, 7, negative ? -1 : 1);
  return negative;
}

static gboolean
sign8 (Block *x, guint byte, guint lane)
{
  gboolean negative = x->b[byte] >> lane & 1;

  own (x, "sign", "sign", TM_PACK_SIGN, byte, lane, 1, negative ? -1 : 1);
  return negative;
}

static void
explain_iq23 (Block *x, TmDtype dtype)
{
  const guint8 *b = x->b;
  const guint e = x->e, lane8 = e & 7, lane4 = e & 3, g8 = e >> 3, g4 = e >> 2, g32 = e >> 5;
  const float d = term_f16 (x, "d", 0);
  guint sc, word;

  switch ((gint)dtype)
    {
    case TM_DTYPE_IQ2_XXS:
      piece (x, 2 + 8 * g32 + (g8 & 3), 0, 8);
      word = tm_load_u32 (b + 2 + 8 * g32 + 4);
      sc = word >> 28;
      x->scale = d * (0.5f + (float)sc) / 4;
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 2 + 8 * g32 + 7, 4, 4, sc);
      own_grid (x, tm_iq2xxs_grid[x->raw], 8, lane8);
      grid_terms (x, sc, tm_iq2xxs_grid[x->raw][lane8], lane8,
                  sign7 (x, word >> (7 * (g8 & 3)), lane8, 8 * (2 + 8 * g32 + 4) + 7 * (g8 & 3)));
      break;
    case TM_DTYPE_IQ2_XS:
      piece (x, 2 + 2 * g8, 0, 8);
      piece (x, 3 + 2 * g8, 0, 1);
      sc = b[66 + (e >> 5)] >> (4 * (e >> 4 & 1)) & 15;
      x->scale = d * (0.5f + (float)sc) / 4;
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 66 + (e >> 5), 4 * (e >> 4 & 1), 4, sc);
      own_grid (x, tm_iq2xs_grid[x->raw], 8, lane8);
      grid_terms (x, sc, tm_iq2xs_grid[x->raw][lane8], lane8,
                  sign7 (x, b[3 + 2 * g8] >> 1, lane8, 8 * (3 + 2 * g8) + 1));
      break;
    case TM_DTYPE_IQ2_S:
      piece (x, 2 + g8, 0, 8);
      piece (x, 66 + (g8 >> 2), 2 * (g8 & 3), 2);
      sc = b[74 + (e >> 5)] >> (4 * (e >> 4 & 1)) & 15;
      x->scale = d * (0.5f + (float)sc) / 4;
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 74 + (e >> 5), 4 * (e >> 4 & 1), 4, sc);
      own_grid (x, tm_iq2s_grid[x->raw], 8, lane8);
      grid_terms (x, sc, tm_iq2s_grid[x->raw][lane8], lane8, sign8 (x, 34 + g8, lane8));
      break;
    case TM_DTYPE_IQ3_XXS:
      piece (x, 2 + g4, 0, 8);
      word = tm_load_u32 (b + 66 + 4 * g32);
      sc = word >> 28;
      x->scale = d * (0.5f + (float)sc) / 2;
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 66 + 4 * g32 + 3, 4, 4, sc);
      own_grid (x, tm_iq3xxs_grid[x->raw], 4, lane4);
      grid_terms (x, sc, tm_iq3xxs_grid[x->raw][lane4], lane4,
                  sign7 (x, word >> (7 * (g8 & 3)), lane8, 8 * (66 + 4 * g32) + 7 * (g8 & 3)));
      break;
    case TM_DTYPE_IQ3_S:
    default:
      piece (x, 2 + g4, 0, 8);
      piece (x, 66 + (g4 >> 3), g4 & 7, 1);
      sc = b[106 + (e >> 6)] >> (4 * (e >> 5 & 1)) & 15;
      x->scale = d * (float)(1 + 2 * sc);
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 106 + (e >> 6), 4 * (e >> 5 & 1), 4, sc);
      own_grid (x, tm_iq3s_grid[x->raw], 4, lane4);
      grid_terms (x, sc, tm_iq3s_grid[x->raw][lane4], lane4, sign8 (x, 74 + g8, lane8));
      break;
    }
}

static void
explain_iq1 (Block *x, TmDtype dtype)
{
  const guint8 *b = x->b;
  const guint e = x->e, lane = e & 7, g8 = e >> 3;
  guint sc, bits = 0;
  gboolean negative;
  float d;

  if (dtype == TM_DTYPE_IQ1_S)
    {
      guint at = 34 + 2 * (e >> 5), from = 3 * (g8 & 3), word = tm_load_u16 (b + at);

      piece (x, 2 + g8, 0, 8);
      piece (x, at + (from >> 3), from & 7, 3);
      sc = word >> 12 & 7;
      negative = word >> 15;
      own (x, "sc", "sub-scale", TM_PACK_SCALE, at + 1, 4, 3, sc);
      own (x, "delta", "sign of the shift by an eighth", TM_PACK_SIGN, at + 1, 7, 1, negative ? -1 : 1);
      d = term_f16 (x, "d", 0);
    }
  else
    {
      piece (x, g8, 0, 8);
      piece (x, 32 + (g8 >> 1), 4 * (g8 & 1), 3);
      for (guint k = 0; k < 4; k++)
        bits |= (guint)(b[49 + 2 * k] >> 4) << (4 * k);
      sc = tm_load_u16 (b + 48 + 2 * (e >> 6)) >> (3 * (e >> 4 & 3)) & 7u;
      negative = b[32 + (g8 >> 1)] >> (4 * (g8 & 1) + 3) & 1;
      d = tm_half_to_float ((guint16)bits);
      own (x, "sc", "sub-scale", TM_PACK_SCALE, 48 + 2 * (e >> 6), 3 * (e >> 4 & 3), 3, sc);
      own (x, "delta", "sign of the shift by an eighth", TM_PACK_SIGN, 32 + (g8 >> 1), 4 * (g8 & 1) + 3, 1,
           negative ? -1 : 1);
      for (guint k = 0; k < 4; k++)
        own (x, "d", "four bits of the scale", TM_PACK_SCALE, 49 + 2 * k, 4, 4, b[49 + 2 * k] >> 4);
      tm_scalar_add_term_f32 (x->s, "d", d);
    }
  x->scale = d * (float)(2 * sc + 1);
  x->offset = negative ? -0.125f : 0.125f;
  x->level = tm_iq1s_grid[x->raw][lane];
  own_grid (x, (const guint8 *)tm_iq1s_grid[x->raw], 8, lane);
  term_int (x, "sc", (gint)sc);
  term_int (x, "index", (gint)x->raw);
  term_int (x, "grid", x->level);
  term_int (x, "lane", (gint)lane);
  tm_scalar_add_term_f32 (x->s, "delta", x->offset);
}

/* --- all of it
 * ------------------------------------------------------------------------------------------------------------ */

static void
finish (Block *x, const TmBlockType *type, TmDtype dtype)
{
  TmScalar *s = x->s;
  double exact;
  float value;

  s->has_raw = TRUE;
  s->raw = tm_dtype_get_info (dtype)->code_bits == 8 && type->zero_point == 0 ? (gint8)x->raw : (gint)x->raw;
  s->raw_bits = x->raw_bits;
  s->pattern[0] = x->raw;
  s->has_scale = TRUE;
  s->scale = (double)x->scale;
  s->formula = type->formula;
  /* Exact in binary64: products of at most 24 and 8 bits; the sums of section 2 of ggml.md. */
  switch (type->form)
    {
    case TM_FORM_SL_PLUS_O:
      value = x->scale * (float)x->level + x->offset;
      exact = (double)x->scale * x->level + (double)x->offset;
      s->has_offset = TRUE;
      s->offset = (double)x->offset;
      break;
    case TM_FORM_S_L_PLUS_O:
      value = x->scale * ((float)x->level + x->offset);
      exact = (double)x->scale * (x->level + (double)x->offset);
      break;
    case TM_FORM_SL:
    default:
      value = x->scale * (float)x->level;
      exact = (double)x->scale * x->level;
      if (type->zero_point >= 0)
        {
          s->has_zero_point = TRUE;
          s->zero_point = type->zero_point;
        }
      break;
    }
  s->value.kind = TM_NUMBER_F32;
  s->value.as.f32 = value;
  if (!isnan (exact) && exact != (double)value)
    {
      s->has_exact = TRUE;
      s->exact = exact;
    }
}

static void
read_fields (Block *x, TmDtype dtype)
{
  switch ((gint)dtype)
    {
    case TM_DTYPE_TQ1_0:
      explain_tq1_0 (x);
      break;
    case TM_DTYPE_Q2_K:
    case TM_DTYPE_Q3_K:
    case TM_DTYPE_Q4_K:
    case TM_DTYPE_Q5_K:
    case TM_DTYPE_Q6_K:
      explain_k (x, dtype);
      break;
    case TM_DTYPE_IQ4_XS:
    case TM_DTYPE_MXFP4:
    case TM_DTYPE_NVFP4:
      explain_fp4 (x, dtype);
      break;
    case TM_DTYPE_IQ2_XXS:
    case TM_DTYPE_IQ2_XS:
    case TM_DTYPE_IQ2_S:
    case TM_DTYPE_IQ3_XXS:
    case TM_DTYPE_IQ3_S:
      explain_iq23 (x, dtype);
      break;
    case TM_DTYPE_IQ1_S:
    case TM_DTYPE_IQ1_M:
      explain_iq1 (x, dtype);
      break;
    default:
      explain_simple (x, dtype);
      break;
    }
}

void
tm_block_explain (TmDtype dtype, const guint8 *block, guint element, TmSource *source, guint64 base, TmScalar *scalar)
{
  Block x = { .b = block, .e = element, .source = source, .base = base, .s = scalar };

  read_fields (&x, dtype);
  finish (&x, tm_block_type_get (dtype), dtype);
}

/* --- its picture
 * ------------------------------------------------------------------------------------------------------------ */

static TmPackRole
field_role (const TmBlockField *field)
{
  static const struct { const char *name; TmPackRole role; } roles[] = {
    { "d", TM_PACK_SCALE }, { "e", TM_PACK_SCALE }, { "scales", TM_PACK_SCALE }, { "scales_h", TM_PACK_SCALE },
    { "scales_l", TM_PACK_SCALE }, { "m", TM_PACK_OFFSET }, { "dmin", TM_PACK_OFFSET }, { "signs", TM_PACK_SIGN },
    { "s", TM_PACK_OTHER }, { "bsums", TM_PACK_OTHER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    if (g_str_equal (roles[i].name, field->name))
      return roles[i].role;
  return TM_PACK_CODE;
}

static guint
field_unit (TmFieldKind kind)
{
  static const guint8 units[] = { [TM_FIELD_E8M0] = 8,   [TM_FIELD_UE4M3] = 8,  [TM_FIELD_I8] = 8,
                                  [TM_FIELD_I16] = 16,   [TM_FIELD_U8] = 8,     [TM_FIELD_U16] = 16,
                                  [TM_FIELD_U32] = 32,   [TM_FIELD_6_BITS] = 6, [TM_FIELD_NIBBLES] = 4,
                                  [TM_FIELD_2_BITS] = 2, [TM_FIELD_1_BIT] = 1,  [TM_FIELD_TRITS] = 8 };

  return (guint)kind < G_N_ELEMENTS (units) ? units[kind] : 0;
}

void
tm_block_describe (TmDtype dtype, const guint8 *block, guint element, const TmStored *stored, guint64 first,
                   TmPacking *packing)
{
  const TmBlockType *type = tm_block_type_get (dtype);
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  Block x = { .b = block, .e = element, .source = stored->source, .base = stored->offset + first, .s = &scalar,
              .packing = packing, .stored = stored, .first = first };

  packing->title = "block";
  for (guint f = 0; f < type->n_fields; f++)
    {
      const TmBlockField *field = &type->field[f];

      tm_packing_add_field (packing, stored, field->name, field->meaning, field_role (field), first + field->offset, 0,
                            8 * (guint64)field->bytes)
          ->unit = field_unit (field->kind);
    }
  read_fields (&x, dtype);
}
