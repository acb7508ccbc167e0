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

/* The same from one place on, element by element, without a division each time. */
typedef struct
{
  const TmGroupLayout *layout;
  guint64 line, at;    /* where it is */
  guint64 base, group; /* first group of the band; the group within it */
  guint64 left;        /* elements left in the group on this line */
} TmGroupCursor;

static inline void
tm_group_cursor_init (TmGroupCursor *cursor, const TmGroupLayout *layout, guint64 flat)
{
  *cursor = (TmGroupCursor){ .layout = layout };
  if (!layout->grouped)
    return;
  cursor->line = flat / layout->line;
  cursor->at = flat % layout->line;
  cursor->base = cursor->line / layout->band_lines * layout->width;
  cursor->group = cursor->at / layout->extent;
  cursor->left = MIN (layout->extent - cursor->at % layout->extent, layout->line - cursor->at);
}

/* Elements from here on that are in one group, at most max, and moves past them. */
static inline guint64
tm_group_cursor_next (TmGroupCursor *cursor, guint64 max, guint64 *group)
{
  const TmGroupLayout *layout = cursor->layout;
  guint64 n = MIN (cursor->left, max);

  if (!layout->grouped)
    {
      *group = 0;
      return max;
    }
  *group = cursor->base + (layout->table != NULL ? layout->table[cursor->at] : cursor->group);
  cursor->at += n;
  cursor->left -= n;
  if (cursor->left > 0)
    return n;
  cursor->group++;
  if (cursor->at == layout->line)
    {
      cursor->line++;
      cursor->at = cursor->group = 0;
      cursor->base = cursor->line / layout->band_lines * layout->width;
    }
  cursor->left = MIN (layout->extent, layout->line - cursor->at);
  return n;
}

G_END_DECLS
