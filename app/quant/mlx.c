/* MLX affine: every row is one dense little-endian bit stream, fields of 2, 3, 4, 5, 6 or 8 bits one after the other, so
 * that 3, 5 and 6 bits cross bytes and words.
 *
 *   weight          U32 words [O, I·bits/32]
 *   scales, biases  one number a group along the row; scales may be negative
 *
 * value = f32(code × scale) + bias: two roundings. */
#include "quant/grouped.h"

void
tm_grouped_set_affine (TmGrouped *grouped, const TmStored *codes, guint bits, const TmStored *biases)
{
  grouped->codes = codes;
  grouped->bits = bits;
  grouped->form = TM_MAP_MUL_ADD;
  grouped->zero = biases;
  grouped->zero_is_offset = TRUE;
  grouped->zero_term = "bias";
  grouped->zero_meaning = "bias of the group";
  grouped->formula = "scale × q + bias";
}
