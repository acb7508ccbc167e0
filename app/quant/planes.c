/* HQQ and quanto: a grouped matrix Q of R rows, packed along its rows. Word row r holds the rows r, r + step, r + 2·step …
 * of Q, step = ceil(R / n) with n fields a word; flattened, field k holds elements k·step·C … of Q (C columns).
 *
 *   HQQ     the first row in the HIGHEST field; Q is a plain reshape of the weight: [n/g, g] (axis 1), [g, n/g] (axis 0)
 *           bytes of n = 1, 2, 4, 8 fields, or 3 bits in 32-bit words of ten fields
 *           value = f32(code − zero) × scale; zero is a float, usually fractional
 *   quanto  the first row in the LOWEST field; [n/g, g] (axis 0), or (axis −1) [g, n/g] with column i·(O/g) + o div g and row
 *           o mod g
 *           value = f32(scale × code) − shift, or with integer shifts scale × (code − shift) */
#include "quant/grouped.h"

void
tm_grouped_set_hqq (TmGrouped *grouped, const TmStored *codes, guint bits, guint n_fields, guint word_bytes,
                    guint64 plane, const TmStored *zero)
{
  grouped->codes = codes;
  grouped->bits = bits;
  grouped->plane = plane;
  grouped->n_fields = n_fields;
  grouped->word_bytes = word_bytes;
  grouped->first_is_top = TRUE;
  grouped->form = TM_MAP_SUB_MUL;
  grouped->zero = zero;
  grouped->zero_term = "zero";
  grouped->zero_meaning = "zero point of the group";
  grouped->formula = "(q − zero) × scale";
}

void
tm_grouped_set_quanto (TmGrouped *grouped, const TmStored *codes, guint bits, guint64 plane, const TmStored *shift)
{
  grouped->codes = codes;
  grouped->bits = bits;
  grouped->plane = plane;
  grouped->n_fields = 8 / bits;
  grouped->word_bytes = 1;
  grouped->zero = shift;
  grouped->zero_term = "shift";
  grouped->zero_meaning = "shift of the group";
  if (tm_operand_is_float (shift))
    {
      grouped->form = TM_MAP_MUL_SUB;
      grouped->zero_is_offset = grouped->zero_negated = TRUE;
      grouped->formula = "scale × q − shift";
    }
  else
    {
      grouped->form = TM_MAP_SUB_MUL;
      grouped->formula = "scale × (q − shift)";
    }
}
