/* Byte codes with a scale: float8 in all forms (per tensor, channel, block, MX) and int8.
 *
 *   weight      one byte a scalar, row-major
 *   scale       one number a block; E8M0 bytes are 2^(e − 127)
 *
 * value = decode(byte) × scale: one rounding. 0x7F and 0xFF of E4M3 are NaN. */
#include "quant/grouped.h"

void
tm_grouped_set_float8 (TmGrouped *grouped, const TmStored *codes, TmDtype dtype)
{
  grouped->codes = codes;
  grouped->bits = 8;
  grouped->form = TM_MAP_BOOK;
  grouped->book = tm_book_float8 (dtype);
  grouped->n_book = 256;
}

void
tm_grouped_set_int8 (TmGrouped *grouped, const TmStored *codes)
{
  grouped->codes = codes;
  grouped->bits = 8;
  grouped->is_signed = TRUE;
  grouped->has_zero_point = TRUE;
  grouped->form = TM_MAP_SIGNED;
  grouped->formula = "scale × q";
}

void
tm_grouped_set_scale (TmGrouped *grouped, const TmStored *scale, TmDtype as)
{
  grouped->scale = scale;
  grouped->scale_as = as;
  if (as == TM_DTYPE_F8_E8M0)
    {
      grouped->scale_term = "e";
      grouped->scale_meaning = "power of two";
      grouped->formula = "2^(e − 127) × level";
    }
  else
    {
      grouped->scale_term = "scale";
      grouped->scale_meaning = "scale of the block";
      if (grouped->form == TM_MAP_BOOK)
        grouped->formula = "scale × level";
    }
}
