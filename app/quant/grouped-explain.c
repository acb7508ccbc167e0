/* The record of one scalar of a grouped codec, and the picture of how it is packed. */
#include <math.h>

#include "quant/grouped.h"
#include "quant/half.h"
#include "quant/operand.h"

void
tm_scalar_set_f32 (TmScalar *scalar, float value, double exact)
{
  scalar->value.kind = TM_NUMBER_F32;
  scalar->value.as.f32 = value;
  scalar->has_exact = !isnan (exact) && !isnan (value) && exact != (double) value;
  scalar->exact = scalar->has_exact ? exact : 0;
}

/* book × outer + offset, times level: as near as two doubles a number can be kept. */
static double
exact_nested (double book, double outer, double offset, double level)
{
  double product = book * outer, sum = product + offset; /* 24 × 24 bits: exact */
  double back = sum - product, rest = (product - (sum - back)) + (offset - back);
  double high = sum * level, low = fma (sum, level, -high) + rest * level;

  return high + low;
}

/* Everything that goes into one value. */
typedef struct
{
  guint64 bit, entry, slice;
  gint32 code; /* as it enters the formula */
  float scale, zero, level;
  float stored_scale, global; /* before levels are multiplied */
  guint8 scale_code;
  float nested_book, nested;
} Pieces;

static gboolean
read_pieces (const TmGrouped *grouped, guint64 flat, Pieces *p, GError **error)
{
  guint32 field;

  *p = (Pieces) { .bit = tm_grouped_code_bit (grouped, flat), .global = 1 };
  p->entry = tm_grouped_entry (grouped, flat, &p->slice);
  if (!tm_operand_read_fields (grouped->codes, p->bit, grouped->bits, 1, &field, error)
      || !tm_grouped_read_scales (grouped, p->entry, 1, 1, &p->scale, error))
    return FALSE;
  p->code = grouped->is_signed ? (gint8) field : (gint32) field;
  if (grouped->zero && !tm_operand_read_f32 (grouped->zero, p->entry, 1, &p->zero, error))
    return FALSE;
  if (tm_dtype_get_info (grouped->scale_as)->bits == 8
      && !tm_stored_read (grouped->scale, p->entry, 1, &p->scale_code, error))
    return FALSE;
  if (grouped->nested)
    {
      if (!tm_operand_read_f32 (grouped->nested_book, p->scale_code, 1, &p->nested_book, error)
          || !tm_operand_read_f32 (grouped->nested, p->entry / grouped->nested_block, 1, &p->nested, error))
        return FALSE;
    }
  else if (!tm_read_as (grouped->scale, grouped->scale_as, p->entry, 1, &p->stored_scale, error))
    return FALSE;
  if (grouped->global_kind != TM_GLOBAL_NONE
      && !tm_operand_read_f32 (grouped->global, grouped->global->n_elements > 1 ? p->slice : 0, 1, &p->global, error))
    return FALSE;
  if (grouped->form == TM_MAP_BOOK)
    {
      float buffer[256];
      const float *book = tm_grouped_read_book (grouped, buffer, error);

      if (book == NULL)
        return FALSE;
      p->level = book[field];
    }
  return TRUE;
}

static void
set_value (const TmGrouped *grouped, const Pieces *p, TmScalar *scalar)
{
  const float s = p->scale, z = p->zero, c = (float) p->code;
  const double es = (double) p->stored_scale, ez = (double) z, ec = (double) c;

  switch (grouped->form)
    {
    case TM_MAP_BOOK:
      if (grouped->nested)
        tm_scalar_set_f32 (scalar, p->level * s,
                           exact_nested ((double) p->nested_book, (double) p->nested, (double) grouped->nested_offset,
                                         (double) p->level));
      else if (grouped->global_kind == TM_GLOBAL_DIVISOR)
        tm_scalar_set_f32 (scalar, p->level * s, es * (double) p->level / (double) p->global);
      else
        tm_scalar_set_f32 (scalar, p->level * s, es * (double) p->level * (double) p->global);
      break;
    case TM_MAP_SIGNED:
      tm_scalar_set_f32 (scalar, c * s, ec * es);
      break;
    case TM_MAP_ROW_MAX:
      tm_scalar_set_f32 (scalar, (c * s) * TM_ONE_127TH, ec * es * (double) TM_ONE_127TH);
      break;
    case TM_MAP_SUB_MUL:
      tm_scalar_set_f32 (scalar, (c - z) * s, (ec - ez) * es);
      break;
    case TM_MAP_MUL_SUB:
      tm_scalar_set_f32 (scalar, s * c - z, es * ec - ez);
      break;
    case TM_MAP_MUL_ADD:
    default:
      tm_scalar_set_f32 (scalar, s * c + z, es * ec + ez);
      break;
    }
}

static void
add_terms (const TmGrouped *grouped, const Pieces *p, TmScalar *scalar)
{
  if (grouped->nested)
    {
      tm_scalar_add_term_int (scalar, "a", p->scale_code);
      tm_scalar_add_term_f32 (scalar, "map", p->nested_book);
      tm_scalar_add_term_f32 (scalar, "nested", p->nested);
      tm_scalar_add_term_f32 (scalar, "offset", grouped->nested_offset);
      tm_scalar_add_term_f32 (scalar, "absmax", p->scale);
    }
  else if (grouped->scale_as == TM_DTYPE_F8_E8M0)
    tm_scalar_add_term_int (scalar, grouped->scale_term, p->scale_code);
  else
    tm_scalar_add_term_f32 (scalar, grouped->scale_term, p->stored_scale);
  if (grouped->global_kind != TM_GLOBAL_NONE)
    tm_scalar_add_term_f32 (scalar, "global", p->global);
  if (grouped->zero)
    tm_scalar_add_term_f32 (scalar, grouped->zero_term, p->zero);
  tm_scalar_add_term_int (scalar, "q", p->code);
  if (grouped->form == TM_MAP_BOOK)
    tm_scalar_add_term_f32 (scalar, "level", p->level);
}

gboolean
tm_grouped_explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error)
{
  const TmGrouped *grouped = tensor->codec_data;
  Pieces p;

  if (!read_pieces (grouped, flat, &p, error))
    return FALSE;
  scalar->has_raw = TRUE;
  scalar->raw = p.code;
  scalar->raw_bits = grouped->bits;
  scalar->pattern[0] = (guint64) p.code & ((G_GUINT64_CONSTANT (1) << grouped->bits) - 1);
  scalar->has_scale = TRUE;
  scalar->scale = (double) (grouped->form == TM_MAP_ROW_MAX ? p.scale * TM_ONE_127TH : p.scale);
  if (grouped->zero && grouped->zero_is_offset)
    {
      scalar->has_offset = TRUE;
      scalar->offset = (double) (grouped->zero_negated ? -p.zero : p.zero);
    }
  else if (grouped->zero || grouped->has_zero_point)
    {
      scalar->has_zero_point = TRUE;
      scalar->zero_point = (double) p.zero;
    }
  set_value (grouped, &p, scalar);
  scalar->formula = grouped->formula;
  add_terms (grouped, &p, scalar);
  tm_operand_add_location (scalar, grouped->codes, p.bit, grouped->bits);
  tm_explain_group (tensor, scalar);
  return TRUE;
}

/* --- The picture ----------------------------------------------------------------------------------------------------- */

static const char *
title_of (const TmGrouped *grouped)
{
  if (grouped->plane)
    return grouped->word_bytes == 4 ? "32-bit words of ten codes of 3 bits, from rows a step apart"
           : grouped->bits == 8     ? "a byte a code"
                                    : "bytes of codes from rows a step apart";
  switch (grouped->bits)
    {
    case 8:
      return "a byte a code";
    case 4:
      return "two codes a byte";
    case 2:
      return "four codes a byte";
    default:
      return "a dense stream of bits, codes across bytes";
    }
}

static const char *
order_of (const TmGrouped *grouped)
{
  if (grouped->high_first)
    return "the even element is in the high nibble";
  if (grouped->plane && grouped->n_fields > 1)
    return grouped->first_is_top ? "the first of the rows is in the highest field"
                                 : "the first of the rows is in the lowest field";
  return NULL;
}

/* One operand's entry as a field, and as this scalar's own. */
static void
add_entry (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning, TmPackRole role,
           guint64 entry, double number)
{
  const guint bits = tm_dtype_get_info (stored->dtype)->bits;
  const guint64 byte = entry * bits / 8;
  TmPackField *field = tm_packing_add_field (packing, stored, name, meaning, role, byte, 0, bits);

  field->has_number = TRUE;
  field->number = number;
  tm_packing_add_own (packing, stored, name, meaning, role, byte, 0, bits, number);
}

gboolean
tm_grouped_describe_block (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error)
{
  const TmGrouped *grouped = tensor->codec_data;
  /* Codes that fill whole bytes: eight of a stream, one word of planes. */
  const guint n = grouped->plane ? grouped->n_fields : 8;
  const guint64 first = flat / 8 * 8;
  Pieces p;

  if (!read_pieces (grouped, flat, &p, error))
    return FALSE;
  packing->title = title_of (grouped);
  packing->order = order_of (grouped);
  for (guint k = 0; k < n; k++)
    {
      guint64 element = grouped->plane == 0  ? first + k
                        : grouped->fold != 0 ? TM_NO_ELEMENT
                                             : flat % grouped->plane + k * grouped->plane;
      guint64 bit;
      guint32 code;
      TmPackField *field;

      if (grouped->plane == 0 || element != TM_NO_ELEMENT)
        {
          if (element >= tensor->n_elements)
            continue;
          bit = tm_grouped_code_bit (grouped, element);
        }
      else
        bit = p.bit / (8 * grouped->word_bytes) * (8 * grouped->word_bytes) + k * grouped->bits;
      if (!tm_operand_read_fields (grouped->codes, bit, grouped->bits, 1, &code, error))
        return FALSE;
      field = tm_packing_add_field (packing, grouped->codes, "codes", "one code", TM_PACK_CODE, bit / 8,
                                    (guint) (bit % 8), grouped->bits);
      field->element = element;
      field->has_number = TRUE;
      field->number = grouped->is_signed ? (gint8) code : (double) code;
    }
  tm_packing_add_own (packing, grouped->codes, "code", "this element's code", TM_PACK_CODE, p.bit / 8,
                      (guint) (p.bit % 8), grouped->bits, p.code)
      ->element
      = flat;
  add_entry (packing, grouped->scale, grouped->scale_term, grouped->scale_meaning, TM_PACK_SCALE, p.entry,
             grouped->nested ? p.scale_code : (double) p.stored_scale);
  if (grouped->nested)
    add_entry (packing, grouped->nested, "nested", "scale of the largest magnitudes", TM_PACK_SCALE,
               p.entry / grouped->nested_block, (double) p.nested);
  if (grouped->global_kind != TM_GLOBAL_NONE)
    add_entry (packing, grouped->global, "global", "scale of the whole tensor", TM_PACK_SCALE,
               grouped->global->n_elements > 1 ? p.slice : 0, (double) p.global);
  if (grouped->zero)
    add_entry (packing, grouped->zero, grouped->zero_term, grouped->zero_meaning,
               grouped->zero_is_offset ? TM_PACK_OFFSET : TM_PACK_ZERO_POINT, p.entry, (double) p.zero);
  return TRUE;
}
