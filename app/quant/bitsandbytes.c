/* bitsandbytes.
 *
 * 4-bit (NF4, FP4): two codes a byte, the first in the HIGH nibble; blocks run over the flattened matrix and cross rows.
 *   weight                 the bytes, whatever dtype they are labelled
 *   absmax                 float32 a block; nested: a byte a block
 *   quant_map              the code book, sixteen float32
 *   nested_absmax, nested_quant_map   A = map[byte] × nested_absmax[block / nested_blocksize] + nested_offset, in that order
 * value = quant_map[code] × A.
 *
 * int8: a row has its largest magnitude in SCB; value = (code × SCB) × f32(1/127), in that order. */
#include "quant/grouped.h"

void
tm_grouped_set_bitsandbytes (TmGrouped *grouped, const TmStored *codes, const TmStored *map, const TmStored *absmax,
                             gboolean high_first)
{
  grouped->codes = codes;
  grouped->bits = 4;
  grouped->high_first = high_first;
  grouped->form = TM_MAP_BOOK;
  grouped->book_stored = map;
  grouped->n_book = 16;
  grouped->scale = absmax;
  grouped->scale_as = absmax->dtype;
  grouped->scale_term = "absmax";
  grouped->scale_meaning = "largest magnitude of the block";
  grouped->formula = "absmax × codebook[q]";
}

void
tm_grouped_set_nested (TmGrouped *grouped, const TmStored *absmax, const TmStored *map, guint64 block, float offset)
{
  grouped->nested = absmax;
  grouped->nested_book = map;
  grouped->nested_block = block;
  grouped->nested_offset = offset;
  grouped->scale_meaning = "code of the block's largest magnitude";
  grouped->formula = "(map[a] × nested + offset) × codebook[q]";
}

void
tm_grouped_set_row_max (TmGrouped *grouped, const TmStored *codes, const TmStored *row_max)
{
  grouped->codes = codes;
  grouped->bits = 8;
  grouped->is_signed = TRUE;
  grouped->has_zero_point = TRUE;
  grouped->form = TM_MAP_ROW_MAX;
  grouped->scale = row_max;
  grouped->scale_as = row_max->dtype;
  grouped->scale_term = "SCB";
  grouped->scale_meaning = "largest magnitude of the row";
  grouped->formula = "q × SCB × (1 / 127)";
}
