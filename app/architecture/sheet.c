#include "architecture/sheet.h"

/* A side longer than this is no picture any more, and sums of sides must stay far inside 64 bits: such a sheet is wrapped
 * (its sides are then below 2^34 whatever the shape says). */
#define MAX_SIDE ((guint64) 1 << 36)

#define MERGED_LIMIT 65536

/* The power of two next to √n, the larger one where two are as near: 2^(k+1) from √n = 1.5 · 2^k on, that is 4n ≥ 9 · 4^k. */
static guint64
wrapped_columns (guint64 n)
{
  guint64 below = 1;

  while (below < (guint64) 1 << 31 && below * 2 <= n / (below * 2))
    below *= 2;
  /* n ≥ 2.25 · below², without a product that overflows */
  return n / below / below >= 3 || (n - below * below * 2 >= (below * below + 3) / 4 && n >= below * below * 2)
             ? below * 2
             : below;
}

static guint64
product (const guint64 *shape, guint from, guint to)
{
  guint64 result = 1;

  for (guint axis = from; axis < to; axis++)
    result *= shape[axis]; /* a factor of n_elements, which does not overflow */
  return result;
}

static void
set_wrapped (TmSheet *sheet)
{
  sheet->kind = TM_SHEET_WRAPPED;
  sheet->columns = wrapped_columns (sheet->n_elements);
  sheet->rows = (sheet->n_elements - 1) / sheet->columns + 1;
  sheet->n_panes = sheet->panes_across = 1;
  sheet->gap = sheet->slice_columns = 0;
}

/* Panes in a grid whose outline is as near to a square as whole rows of panes allow. */
static gboolean
set_stack (TmSheet *sheet, guint64 n_panes)
{
  const guint64 shorter = MIN (sheet->rows, sheet->columns);
  guint64 cell_width, cell_height, across, down, width, height;

  if (sheet->rows > MAX_SIDE || sheet->columns > MAX_SIDE)
    return FALSE;

  sheet->kind = TM_SHEET_STACK;
  sheet->n_panes = n_panes;
  sheet->gap = n_panes > 1 ? MAX (1, shorter / 16) : 0;
  cell_width = sheet->columns + sheet->gap;
  cell_height = sheet->rows + sheet->gap;

  /* across / down = cell_height / cell_width and across · down = n; 32 bits are enough for a grid and keep it exact. */
  across = 1;
  if (n_panes > 1)
    {
      guint64 low = 1, high = MIN (n_panes, G_MAXUINT32);
      while (low < high)
        {
          guint64 middle = low + (high - low) / 2;
          guint64 rows_of_panes = (n_panes - 1) / middle + 1;
          if ((unsigned __int128) middle * cell_width >= (unsigned __int128) rows_of_panes * cell_height)
            high = middle;
          else
            low = middle + 1;
        }
      across = low;
      if (across > 1)
        {
          /* the last count that is taller than wide may be nearer to a square */
          unsigned __int128 taller = (unsigned __int128) ((n_panes - 1) / (across - 1) + 1) * cell_height;
          unsigned __int128 wider = (unsigned __int128) across * cell_width;
          if (taller < wider)
            across--;
        }
    }
  down = (n_panes - 1) / across + 1;
  across = (n_panes - 1) / down + 1; /* no empty column at the right */

  if (__builtin_mul_overflow (across, cell_width, &width) || __builtin_mul_overflow (down, cell_height, &height)
      || width > MAX_SIDE || height > MAX_SIDE)
    return FALSE;
  sheet->panes_across = across;
  sheet->width = (gint64) (width - sheet->gap);
  sheet->height = (gint64) (height - sheet->gap);
  return TRUE;
}

void
tm_sheet_init (TmSheet *sheet, const TmTensor *tensor)
{
  const guint64 *shape = tensor->shape;
  const guint rank = tensor->rank;
  guint64 after_first, leading;

  *sheet = (TmSheet) { .kind = TM_SHEET_MATRIX, .n_elements = tensor->n_elements, .n_panes = 1, .panes_across = 1 };
  if (tensor->n_elements == 0)
    return;

  if (rank == 0)
    sheet->rows = sheet->columns = 1;
  else if (product (shape, 0, rank - 1) == 1)
    set_wrapped (sheet);
  else if (rank == 2)
    {
      sheet->rows = shape[0];
      sheet->columns = shape[1];
    }
  else
    {
      after_first = product (shape, 1, rank);
      leading = product (shape, 0, rank - 2);
      if (leading == 1 || after_first >= MERGED_LIMIT)
        {
          sheet->rows = shape[rank - 2];
          sheet->columns = shape[rank - 1];
          if (!set_stack (sheet, leading))
            set_wrapped (sheet);
        }
      else if (shape[0] == 1)
        set_wrapped (sheet);
      else
        {
          sheet->kind = TM_SHEET_MERGED;
          sheet->rows = shape[0];
          sheet->columns = after_first;
          sheet->slice_columns = after_first / shape[1];
        }
    }

  if (sheet->kind != TM_SHEET_STACK)
    {
      if (sheet->rows > MAX_SIDE || sheet->columns > MAX_SIDE)
        set_wrapped (sheet);
      sheet->width = (gint64) sheet->columns;
      sheet->height = (gint64) sheet->rows;
    }
}

gboolean
tm_sheet_sort_columns (TmSheet *sheet, const TmTensor *tensor)
{
  const TmGranularity *granularity = tensor->granularity;

  sheet->order = NULL;
  if ((sheet->kind == TM_SHEET_MATRIX || sheet->kind == TM_SHEET_STACK) && granularity != NULL && !granularity->reshaped
      && granularity->table != NULL && tensor->rank == granularity->rank
      && granularity->table_axis == (gint) tensor->rank - 1 && granularity->shape[granularity->table_axis] == sheet->columns)
    sheet->order = tm_granularity_get_order (tensor->granularity);
  return sheet->order != NULL;
}

void
tm_sheet_get_pane_origin (const TmSheet *sheet, guint64 pane, gint64 *x, gint64 *y)
{
  *x = (gint64) (pane % sheet->panes_across * (sheet->columns + sheet->gap));
  *y = (gint64) (pane / sheet->panes_across * (sheet->rows + sheet->gap));
}

void
tm_sheet_locate (const TmSheet *sheet, guint64 flat, gint64 *x, gint64 *y)
{
  guint64 in_pane, pane;

  if (sheet->columns == 0 || sheet->rows == 0)
    {
      *x = *y = 0;
      return;
    }
  /* one pane only: rows × columns of a wrapped sheet may round up past 64 bits */
  pane = sheet->n_panes > 1 ? flat / (sheet->rows * sheet->columns) : 0;
  in_pane = sheet->n_panes > 1 ? flat % (sheet->rows * sheet->columns) : flat;
  tm_sheet_get_pane_origin (sheet, pane, x, y);
  *x += (gint64) (sheet->order != NULL ? sheet->order->shown[in_pane % sheet->columns] : in_pane % sheet->columns);
  *y += (gint64) (in_pane / sheet->columns);
}

gboolean
tm_sheet_pick (const TmSheet *sheet, gint64 x, gint64 y, guint64 *flat)
{
  guint64 across, down, row, column, pane = 0, index;

  if (x < 0 || y < 0 || x >= sheet->width || y >= sheet->height)
    return FALSE;
  across = (guint64) x / (sheet->columns + sheet->gap);
  column = (guint64) x % (sheet->columns + sheet->gap);
  down = (guint64) y / (sheet->rows + sheet->gap);
  row = (guint64) y % (sheet->rows + sheet->gap);
  if (column >= sheet->columns || row >= sheet->rows || across >= sheet->panes_across)
    return FALSE;
  if (sheet->order != NULL)
    column = sheet->order->logical[column];
  pane = down * sheet->panes_across + across;
  if (pane >= sheet->n_panes)
    return FALSE;
  if (__builtin_mul_overflow (pane * sheet->rows + row, sheet->columns, &index)
      || __builtin_add_overflow (index, column, &index) || index >= sheet->n_elements)
    return FALSE;
  *flat = index;
  return TRUE;
}
