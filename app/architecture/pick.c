/* Finding a box under a point: down from the model's box; where a box has many children, through a grid over it. */
#include "architecture/plan.h"

#define MANY 32

/* Children of one box by grid cell; cells are about as many as children. */
typedef struct
{
  guint columns, rows;
  gint64 cell_width, cell_height;
  guint *start; /* columns × rows + 1 offsets into children */
  guint *children;
} Grid;

struct _TmBoxIndex
{
  GHashTable *grids; /* box + 1 → Grid */
};

static void
grid_free (gpointer data)
{
  Grid *grid = data;

  g_free (grid->start);
  g_free (grid->children);
  g_free (grid);
}

typedef struct
{
  guint x0, y0, x1, y1;
} Cells;

static Cells
cells_of (const Grid *grid, const TmBox *parent, const TmBox *child)
{
  return (Cells) {
    (guint) MIN ((child->x - parent->x) / grid->cell_width, grid->columns - 1),
    (guint) MIN ((child->y - parent->y) / grid->cell_height, grid->rows - 1),
    (guint) MIN ((child->x + child->width - 1 - parent->x) / grid->cell_width, grid->columns - 1),
    (guint) MIN ((child->y + child->height - 1 - parent->y) / grid->cell_height, grid->rows - 1),
  };
}

static Grid *
grid_new (const TmLayout *layout, const TmBox *parent)
{
  Grid *grid = g_new0 (Grid, 1);
  guint n_cells, total = 0;
  double aspect = (double) parent->width / (double) parent->height;

  grid->columns = 1;
  while ((double) grid->columns * grid->columns < (double) parent->n_children * aspect
         && grid->columns < parent->n_children)
    grid->columns++;
  grid->rows = (parent->n_children - 1) / grid->columns + 1;
  grid->cell_width = parent->width / grid->columns + 1;
  grid->cell_height = parent->height / grid->rows + 1;
  n_cells = grid->columns * grid->rows;
  grid->start = g_new0 (guint, n_cells + 2);

  for (guint pass = 0; pass < 2; pass++)
    {
      for (guint i = 0; i < parent->n_children; i++)
        {
          const Cells cells = cells_of (grid, parent, tm_layout_box (layout, parent->first_child + i));

          for (guint y = cells.y0; y <= cells.y1; y++)
            for (guint x = cells.x0; x <= cells.x1; x++)
              if (pass == 0)
                grid->start[y * grid->columns + x + 2]++;
              else
                grid->children[grid->start[y * grid->columns + x + 1]++] = parent->first_child + i;
        }
      if (pass == 1)
        break;
      for (guint i = 2; i < n_cells + 2; i++)
        grid->start[i] = total += grid->start[i];
      grid->children = g_new (guint, MAX (total, 1));
    }
  return grid;
}

TmBoxIndex *
tm_box_index_new (const TmLayout *layout)
{
  TmBoxIndex *index = g_new0 (TmBoxIndex, 1);

  index->grids = g_hash_table_new_full (NULL, NULL, NULL, grid_free);
  for (guint i = 0; i < layout->boxes->len; i++)
    if (tm_layout_box (layout, i)->n_children > MANY)
      g_hash_table_insert (index->grids, GUINT_TO_POINTER (i + 1), grid_new (layout, tm_layout_box (layout, i)));
  return index;
}

void
tm_box_index_free (TmBoxIndex *index)
{
  g_hash_table_unref (index->grids);
  g_free (index);
}

static gboolean
holds (const TmBox *box, gint64 x, gint64 y)
{
  return x >= box->x && y >= box->y && x < box->x + box->width && y < box->y + box->height;
}

guint
tm_box_index_pick (const TmBoxIndex *index, const TmLayout *layout, gint64 x, gint64 y)
{
  guint at = 0, found;

  if (layout->boxes->len == 0 || !holds (tm_layout_box (layout, 0), x, y))
    return TM_NO_BOX;
  for (;; at = found)
    {
      const TmBox *box = tm_layout_box (layout, at);
      const Grid *grid = box->n_children > MANY ? g_hash_table_lookup (index->grids, GUINT_TO_POINTER (at + 1)) : NULL;

      found = TM_NO_BOX;
      if (grid == NULL)
        {
          for (guint i = 0; i < box->n_children && found == TM_NO_BOX; i++)
            if (holds (tm_layout_box (layout, box->first_child + i), x, y))
              found = box->first_child + i;
        }
      else
        {
          const guint cell
              = (guint) ((y - box->y) / grid->cell_height) * grid->columns + (guint) ((x - box->x) / grid->cell_width);

          for (guint i = grid->start[cell]; i < grid->start[cell + 1] && found == TM_NO_BOX; i++)
            if (holds (tm_layout_box (layout, grid->children[i]), x, y))
              found = grid->children[i];
        }
      if (found == TM_NO_BOX)
        return at;
    }
}
