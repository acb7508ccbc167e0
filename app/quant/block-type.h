/* What is said of a block type once: layout, formula, form. */
#pragma once

#include "quant/codecs.h"

typedef struct
{
  guint16 granularity;
  gint8 zero_point; /* −1: a code book */
  gboolean big_endian_known;
  TmBlockForm form;
  const char *formula;
  const TmBlockField *field;
  guint n_fields;
} TmBlockType;

const TmBlockType *tm_block_type_get (TmDtype dtype); /* NULL for plain dtypes */

/* binary16 fields of n_blocks blocks to the host's order of a little-endian file (ggml.md 5.2), in place. */
void tm_block_swap_fields (TmDtype dtype, guint8 *packed, gsize n_blocks);
