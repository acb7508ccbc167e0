/* What the codec of AQLM wants to know. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

#define TM_AQLM_MAX_BOOKS 8u
#define TM_AQLM_MAX_NUMBERS 4194304u /* of all books: kept in memory */

typedef struct
{
  const TmStored *codes, *codebooks, *scales;
  guint n_books, n_entries; /* entries: a power of two */
  guint out_group, in_group;
  guint64 columns;
  float *books; /* filled by the codec */
  GMutex mutex;
} TmAqlm;

/* Takes a copy. Shapes have been checked. */
void tm_codec_attach_aqlm (TmTensor *tensor, const TmAqlm *description);

G_END_DECLS
