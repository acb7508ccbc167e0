/* Four-bit floats, two a byte, the even element in the low nibble: MXFP4 and NVFP4 of every writer.
 *
 *   codes       E2M1: 0 0.5 1 1.5 2 3 4 6 and the negatives (code 8 is −0)
 *   scale       one byte a group along the row: E8M0 (MXFP4, groups of 32) or E4M3 (NVFP4, groups of 16)
 *   global      NVFP4: one float32, by which the group's scale is multiplied (ModelOpt) or divided (compressed-tensors)
 *
 * value = level × f32(scale × global), the effective scale rounded first. */
#include "quant/grouped.h"

void
tm_grouped_set_float4 (TmGrouped *grouped, const TmStored *codes, gboolean high_first)
{
  grouped->codes = codes;
  grouped->bits = 4;
  grouped->high_first = high_first;
  grouped->form = TM_MAP_BOOK;
  grouped->book = tm_book_e2m1;
  grouped->n_book = 16;
}

void
tm_grouped_set_global (TmGrouped *grouped, const TmStored *global, TmGlobal kind)
{
  grouped->global = global;
  grouped->global_kind = kind;
  grouped->formula = kind == TM_GLOBAL_DIVISOR ? "scale / global × level" : "scale × global × level";
}
