/* One scalar of a packed integer tensor: its record, and the picture of its words. Codes are read through their place,
 * not through the unpacking of runs, so each checks the other. */
#include <math.h>

#include "quant/packed-integer.h"
#include "quant/quant-private.h"

typedef struct
{
  guint64 slice, row, column;
  guint group;
  TmCodePiece piece[TM_MAX_CODE_PIECES], zero_piece[TM_MAX_CODE_PIECES];
  guint n_pieces, n_zero_pieces;
  guint code, stored_zero;
  guint bits;
  float scale, zero;
} Place;

static gboolean
read_pieces (const TmStored *stored, const TmCodePiece *piece, guint n, guint *code, guint *bits, GError **error)
{
  *code = *bits = 0;
  for (guint i = 0; i < n; i++)
    {
      guint32 part;

      if (!tm_operand_read_fields (stored, piece[i].bit, piece[i].bits, 1, &part, error))
        return FALSE;
      *code |= part << *bits;
      *bits += piece[i].bits;
    }
  return TRUE;
}

static gboolean
find (const TmTensor *tensor, guint64 flat, Place *at, GError **error)
{
  const TmPackedInteger *data = tensor->codec_data;
  guint zero_bits;

  at->column = flat % data->n_columns;
  at->row = flat / data->n_columns % data->n_rows;
  at->slice = flat / data->n_columns / data->n_rows;
  at->group = tm_packed_integer_get_group (data, at->column);
  at->n_pieces = tm_packed_integer_locate (data, at->slice, at->row, at->column, at->piece);
  at->n_zero_pieces = tm_packed_integer_locate_zero (data, at->slice, at->row, at->group, at->zero_piece);
  return read_pieces (data->words, at->piece, at->n_pieces, &at->code, &at->bits, error)
         && read_pieces (data->zero.stored, at->zero_piece, at->n_zero_pieces, &at->stored_zero, &zero_bits, error)
         && tm_packed_integer_read_parameter (data, &data->scale, at->slice, at->row, 1, at->group, 1,
                                              (TmParameterNumbers) { &at->scale, 1, 1 }, error)
         && tm_packed_integer_read_parameter (data, &data->zero, at->slice, at->row, 1, at->group, 1,
                                              (TmParameterNumbers) { &at->zero, 1, 1 }, error);
}

static gint
signed_code (const TmPackedInteger *data, guint code)
{
  return (gint) (code ^ data->flip) - (gint) data->flip;
}

gboolean
tm_packed_integer_explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error)
{
  const TmPackedInteger *data = tensor->codec_data;
  Place at = { 0 };
  gint q;
  double exact;

  if (!find (tensor, flat, &at, error))
    return FALSE;
  q = signed_code (data, at.code);
  scalar->has_raw = TRUE;
  scalar->raw = data->is_signed ? q : (gint) at.code;
  scalar->raw_bits = at.bits;
  scalar->pattern[0] = at.code;
  scalar->has_scale = TRUE;
  scalar->scale = (double) at.scale;
  scalar->formula = data->formula;
  scalar->value.kind = TM_NUMBER_F32;
  tm_scalar_add_term_f32 (scalar, "scale", at.scale);
  tm_scalar_add_term_int (scalar, "q", q);
  if (data->zero_is_offset)
    {
      scalar->has_offset = TRUE;
      scalar->offset = (double) at.zero;
      tm_scalar_add_term_f32 (scalar, "offset", at.zero);
      scalar->value.as.f32 = at.scale * (float) q + at.zero;
      exact = (double) at.scale * q + (double) at.zero;
    }
  else
    {
      scalar->has_zero_point = TRUE;
      scalar->zero_point = (double) at.zero;
      if (data->zero.kind != TM_PARAMETER_NONE)
        {
          if (at.zero == floorf (at.zero) && fabsf (at.zero) < 1e6f)
            tm_scalar_add_term_int (scalar, "zero", (gint64) at.zero);
          else
            tm_scalar_add_term_f32 (scalar, "zero", at.zero);
        }
      if (at.n_zero_pieces && data->zero.add)
        tm_scalar_add_term_int (scalar, "stored_zero", at.stored_zero);
      scalar->value.as.f32 = at.scale * ((float) q - at.zero);
      exact = (double) at.scale * (q - (double) at.zero);
    }
  if (data->middle)
    tm_scalar_add_term_int (scalar, "signed_q", q - (gint) data->middle);
  if (data->n_groups > 1)
    tm_scalar_add_term_int (scalar, "group", at.group);
  if (!isnan (exact) && exact != (double) scalar->value.as.f32)
    {
      scalar->has_exact = TRUE;
      scalar->exact = exact;
    }
  for (guint i = 0; i < at.n_pieces; i++)
    tm_operand_add_location (scalar, data->words, at.piece[i].bit, at.piece[i].bits);
  tm_explain_group (tensor, scalar);
  return TRUE;
}

/* --- The picture ------------------------------------------------------------------------------------------------------ */

/* Bits of the unit that is drawn: a 32-bit word, a 16-bit one, a byte. */
static guint
word_bits (const TmStored *stored)
{
  return MAX (tm_dtype_get_info (stored->dtype)->bits, 8);
}

static gboolean
in_words (const Place *at, guint width, guint64 bit)
{
  for (guint i = 0; i < at->n_pieces; i++)
    if (at->piece[i].bit / width == bit / width)
      return TRUE;
  return FALSE;
}

/* A code that may share a word with the scalar: shown where it does. */
static gboolean
add_neighbour (const TmPackedInteger *data, const Place *at, guint64 row, guint64 column, TmPacking *packing,
               GError **error)
{
  const guint width = word_bits (data->words);
  TmCodePiece piece[TM_MAX_CODE_PIECES];
  guint n;

  if (row >= data->n_rows || column >= data->n_columns)
    return TRUE;
  n = tm_packed_integer_locate (data, at->slice, row, column, piece);
  for (guint i = 0; i < n; i++)
    if (in_words (at, width, piece[i].bit))
      {
        guint32 part;
        TmPackField *field;

        if (!tm_operand_read_fields (data->words, piece[i].bit, piece[i].bits, 1, &part, error))
          return FALSE;
        field = tm_packing_add_field (packing, data->words, "q", n > 1 ? "part of a code" : "code", TM_PACK_CODE,
                                      piece[i].bit / 8, (guint) (piece[i].bit % 8), piece[i].bits);
        field->element = (at->slice * data->n_rows + row) * data->n_columns + column;
        field->has_number = TRUE;
        field->number = part;
      }
  return TRUE;
}

static gboolean
add_words (const TmPackedInteger *data, const Place *at, TmPacking *packing, GError **error)
{
  const guint64 stored_row = data->ragged ? data->ragged->stored_row[at->column] : 0;

  switch (data->arrangement)
    {
    case TM_WORDS_ALONG_COLUMNS:
      for (guint64 r = at->row / 32 * 32; r < at->row / 32 * 32 + 32; r++)
        if (!add_neighbour (data, at, r, at->column, packing, error))
          return FALSE;
      return TRUE;
    case TM_WORDS_ROW_PAIRS:
      return add_neighbour (data, at, at->row & ~(guint64) 1, at->column, packing, error)
             && add_neighbour (data, at, at->row | 1, at->column, packing, error);
    case TM_WORDS_RAGGED:
      for (guint64 r = stored_row - MIN (stored_row, 32); r < MIN (stored_row + 33, data->n_columns); r++)
        if (!add_neighbour (data, at, at->row, data->ragged->column[r], packing, error))
          return FALSE;
      return TRUE;
    case TM_WORDS_ALONG_ROWS:
    case TM_WORDS_TILES:
    default:
      for (guint64 c = at->column - MIN (at->column, 63); c < at->column + 64; c++)
        if (!add_neighbour (data, at, at->row, c, packing, error))
          return FALSE;
      return TRUE;
    }
}

static gint
compare_place (gconstpointer a, gconstpointer b)
{
  const TmPackField *x = a, *y = b;
  const guint64 p = x->byte * 8 + x->bit, q = y->byte * 8 + y->bit;

  return p < q ? -1 : p > q;
}

/* What no code of a padded word uses. */
static void
add_padding (const TmPackedInteger *data, const Place *at, TmPacking *packing)
{
  const guint used = 32 / data->layout.bits * data->layout.bits;
  const guint64 word = at->piece[0].bit / 32 * 32 + used;

  if (data->layout.order == TM_ORDER_PADDED && used < 32)
    tm_packing_add_field (packing, data->words, "unused", "bits that no code uses", TM_PACK_OTHER, word / 8,
                          (guint) (word % 8), 32 - used);
}

static void
add_element (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning, TmPackRole role,
             guint64 index, double number)
{
  const guint bits = tm_dtype_get_info (stored->dtype)->bits;
  TmPackField *field = tm_packing_add_field (packing, stored, name, meaning, role, index * bits / 8, 0, bits);

  field->has_number = TRUE;
  field->number = number;
  tm_packing_add_own (packing, stored, name, meaning, role, index * bits / 8, 0, bits, number);
}

static guint64
element_index (const TmGroupParameter *p, const Place *at)
{
  return at->slice * p->slice_step + at->row * p->row_step + at->group * p->group_step;
}

static void
add_parameters (const TmPackedInteger *data, const Place *at, TmPacking *packing)
{
  const TmGroupParameter *scale = &data->scale, *zero = &data->zero;
  const TmPackRole role = data->zero_is_offset ? TM_PACK_OFFSET : TM_PACK_ZERO_POINT;
  const char *name = data->zero_is_offset ? "offset" : "zero";
  TmCodePiece piece[TM_MAX_CODE_PIECES];

  if (scale->kind == TM_PARAMETER_ELEMENTS)
    add_element (packing, scale->stored, "scale", "scale of the group", TM_PACK_SCALE, element_index (scale, at),
                 (double) at->scale);
  if (data->ragged && tm_layout_locate (&scale->layout, 0, at->group, at->row, piece) == 1)
    {
      tm_packing_add_field (packing, scale->stored, "s", "scales of eight rows", TM_PACK_SCALE, piece[0].bit / 32 * 4,
                            0, 32)
          ->unit
          = 4;
      tm_packing_add_own (packing, scale->stored, "s", "root of the scale, less one", TM_PACK_SCALE, piece[0].bit / 8,
                          (guint) (piece[0].bit % 8), piece[0].bits, (double) at->scale);
    }
  if (zero->kind == TM_PARAMETER_ELEMENTS)
    add_element (packing, zero->stored, name, data->zero_is_offset ? "offset of the group" : "zero point of the group",
                 role, element_index (zero, at), (double) at->zero - (double) zero->shift);
  for (guint i = 0; i < at->n_zero_pieces; i++)
    {
      const TmCodePiece *p = &at->zero_piece[i];

      if (i == 0 || p->bit / 32 != at->zero_piece[i - 1].bit / 32)
        tm_packing_add_field (packing, zero->stored, name, "zero points of neighbours", role, p->bit / 32 * 4, 0, 32)
            ->unit
            = zero->layout.order == TM_ORDER_PLANES || 32 % zero->layout.bits ? 0 : zero->layout.bits;
      tm_packing_add_own (packing, zero->stored, name, zero->add ? "zero point less one" : "zero point", role,
                          p->bit / 8, (guint) (p->bit % 8), p->bits, at->stored_zero);
    }
  if (data->index && data->index_stored)
    add_element (packing, data->index_stored, data->ragged ? "invperm" : "g_idx",
                 data->ragged ? "stored row of the column" : "group of the column", TM_PACK_GROUP_INDEX, at->column,
                 data->ragged ? data->ragged->stored_row[at->column] : at->group);
}

gboolean
tm_packed_integer_describe (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error)
{
  const TmPackedInteger *data = tensor->codec_data;
  Place at = { 0 };
  guint shift = 0;

  if (!find (tensor, flat, &at, error) || !add_words (data, &at, packing, error))
    return FALSE;
  add_padding (data, &at, packing);
  g_array_sort (packing->fields, compare_place);
  packing->title = at.n_pieces > 1 ? "words that hold the code" : word_bits (data->words) == 8 ? "byte" : "word";
  packing->order = data->arrangement == TM_WORDS_ROW_PAIRS ? "two rows of one column in a byte"
                   : data->arrangement == TM_WORDS_TILES   ? "tiles of four rows × 64 columns"
                   : data->arrangement == TM_WORDS_RAGGED  ? "one dense stream down each column, anew for every group"
                   : word_bits (data->words) == 8          ? NULL
                                                           : tm_layout_get_order_text (&data->layout);
  for (guint i = 0; i < at.n_pieces; i++)
    {
      tm_packing_add_own (packing, data->words, "q", "code", TM_PACK_CODE, at.piece[i].bit / 8,
                          (guint) (at.piece[i].bit % 8), at.piece[i].bits,
                          at.n_pieces == 1 && data->is_signed
                              ? signed_code (data, at.code)
                              : (gint) (at.code >> shift & ((1u << at.piece[i].bits) - 1)));
      shift += at.piece[i].bits;
    }
  add_parameters (data, &at, packing);
  return TRUE;
}
