/* Which group an element is in, as a number, for running sums over groups: from block shapes alone. Groups of one band are
 * numbered side by side; bands follow each other in the order of elements, so sums of a band are done when it has passed. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean grouped;    /* FALSE: the whole tensor is one group, or its groups lie scattered */
  guint64 line;        /* elements of a line: groups repeat from line to line */
  guint64 band_lines;  /* lines that share groups */
  guint64 extent;      /* elements of a line in one group */
  guint64 width;       /* groups of a band */
  const guint32 *table; /* group of each element of a line, or NULL */
} TmGroupLayout;

/* An ordinary tensor's groups are its rows. The layout borrows from the tensor. */
void tm_group_layout_init (TmGroupLayout *layout, const TmTensor *tensor);

/* Elements from flat on that are in one group, at most max; *group is its number. */
guint64 tm_group_layout_next (const TmGroupLayout *layout, guint64 flat, guint64 max, guint64 *group);

G_END_DECLS
