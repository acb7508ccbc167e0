#include "ui/canvas-steps.h"

/* A group on a reshaped axis has no closed form along a column: so many elements are looked at before giving up. */
#define MAX_SEARCH 65536

typedef struct { guint64 pane, row, column; } Cell;

static Cell
cell_of (const TmSheet *sheet, guint64 flat)
{
  guint64 of_pane = sheet->rows * sheet->columns;
  guint64 rest = flat % of_pane, column = rest % sheet->columns;

  return (Cell) { flat / of_pane, rest / sheet->columns, sheet->order ? sheet->order->shown[column] : column };
}

static guint64
flat_of (const TmSheet *sheet, Cell cell)
{
  guint64 column = sheet->order ? sheet->order->logical[cell.column] : cell.column;

  return cell.pane * sheet->rows * sheet->columns + cell.row * sheet->columns + column;
}

gboolean
tm_step_scalar (const TmSheet *sheet, guint64 flat, int dx, int dy, guint64 *result)
{
  Cell cell;

  if (sheet->rows == 0 || sheet->columns == 0 || flat >= sheet->n_elements)
    return FALSE;
  cell = cell_of (sheet, flat);
  if ((dx < 0 && cell.column == 0) || (dx > 0 && cell.column + 1 >= sheet->columns) || (dy < 0 && cell.row == 0)
      || (dy > 0 && cell.row + 1 >= sheet->rows))
    return FALSE;
  cell.column += (guint64) (gint64) dx;
  cell.row += (guint64) (gint64) dy;
  *result = flat_of (sheet, cell);
  return *result < sheet->n_elements;
}

/* --- Boundaries -------------------------------------------------------------------------------------------------- */

/* The finest group of an element as ranges in the counted shape; start, end: granularity's rank numbers. */
static void
group_of (const TmGranularity *granularity, guint64 flat, guint64 *start, guint64 *end)
{
  g_autofree guint64 *index = g_new0 (guint64, MAX (granularity->rank, 1));

  for (guint axis = granularity->rank; axis-- > 0;)
    {
      index[axis] = flat % granularity->shape[axis];
      flat /= granularity->shape[axis];
    }
  tm_granularity_get_block (granularity, granularity->n_levels - 1, index, start, end);
}

guint64
tm_step_group_start (const TmTensor *tensor, guint64 flat)
{
  const TmGranularity *granularity = tensor->granularity;
  g_autofree guint64 *start = NULL, *end = NULL;
  guint64 result = 0;

  if (!granularity || granularity->n_levels == 0 || granularity->rank == 0)
    return flat;
  start = g_new0 (guint64, granularity->rank);
  end = g_new0 (guint64, granularity->rank);
  group_of (granularity, flat, start, end);
  for (guint axis = 0; axis < granularity->rank; axis++)
    result = result * granularity->shape[axis] + start[axis];
  return result;
}

/* Where the sheet's axis is an axis of the tensor the group's range answers at once. */
static gboolean
step_on_axis (const TmGranularity *granularity, guint64 flat, guint axis, int by, guint64 at, guint64 length,
              guint64 *target)
{
  g_autofree guint64 *start = g_new0 (guint64, granularity->rank), *end = g_new0 (guint64, granularity->rank);

  group_of (granularity, flat, start, end);
  if (by > 0)
    *target = MIN (end[axis], length - 1);
  else if (start[axis] < at || at == 0)
    *target = start[axis];
  else
    {
      guint64 stride = 1;

      for (guint i = axis + 1; i < granularity->rank; i++)
        stride *= granularity->shape[i];
      group_of (granularity, flat - stride, start, end);
      *target = start[axis];
    }
  return *target != at;
}

/* Columns sorted by group: to the next column of another group, or to where this one (or the one before) begins. */
static gboolean
step_in_order (const TmGranularity *granularity, const TmSheet *sheet, int by, guint64 at, guint64 *target)
{
  const guint32 *logical = sheet->order->logical, *table = granularity->table;

  *target = at;
  if (by > 0)
    {
      while (*target + 1 < sheet->columns && table[logical[*target]] == table[logical[at]])
        ++*target;
      return *target != at;
    }
  if (at > 0 && table[logical[at - 1]] != table[logical[at]])
    at = --*target;
  while (*target > 0 && table[logical[*target - 1]] == table[logical[at]])
    --*target;
  return TRUE;
}

/* Everywhere else the groups of the elements on the way are compared one after the other. */
static gboolean
step_by_search (const TmTensor *tensor, const TmSheet *sheet, guint64 flat, int dx, int dy, guint64 *result)
{
  guint64 at = flat, next, group = tm_step_group_start (tensor, flat);

  for (guint i = 0; i < MAX_SEARCH && tm_step_scalar (sheet, at, dx, dy, &next); i++)
    {
      guint64 other = tm_step_group_start (tensor, next);

      if (dx + dy > 0 && other != group)
        {
          *result = next;
          return TRUE;
        }
      if (dx + dy < 0 && other != group)
        {
          if (i > 0)
            break; /* at is where this group starts */
          group = other;
        }
      at = next;
    }
  *result = at;
  return at != flat;
}

gboolean
tm_step_boundary (const TmTensor *tensor, const TmSheet *sheet, guint64 flat, int dx, int dy, guint64 *result)
{
  const TmGranularity *granularity = tensor->granularity;
  Cell cell;
  guint64 at, length, target;
  gboolean moved;

  if (sheet->rows == 0 || sheet->columns == 0 || flat >= sheet->n_elements)
    return FALSE;
  cell = cell_of (sheet, flat);
  at = dx ? cell.column : cell.row;
  length = dx ? sheet->columns : sheet->rows;

  if (!granularity || granularity->n_levels == 0 || granularity->rank == 0)
    {
      target = dx + dy > 0 ? length - 1 : 0;
      moved = target != at;
    }
  else if (sheet->order && dx)
    moved = step_in_order (granularity, sheet, dx, at, &target);
  else if (!granularity->reshaped && granularity->rank >= 2
           && (sheet->kind == TM_SHEET_MATRIX || sheet->kind == TM_SHEET_STACK))
    moved = step_on_axis (granularity, flat, granularity->rank - (dx ? 1 : 2), dx + dy, at, length, &target);
  else
    return step_by_search (tensor, sheet, flat, dx, dy, result);

  if (!moved)
    return FALSE;
  if (dx)
    cell.column = target;
  else
    cell.row = target;
  *result = MIN (flat_of (sheet, cell), sheet->n_elements - 1);
  return *result != flat;
}

gboolean
tm_step_slice (const TmTensor *tensor, guint64 flat, int by, guint64 *result)
{
  guint64 slice;

  if (tensor->rank < 3 || tensor->shape[0] == 0 || flat >= tensor->n_elements)
    return FALSE;
  slice = tensor->n_elements / tensor->shape[0];
  if (by < 0 ? flat < slice : tensor->n_elements - flat <= slice)
    return FALSE;
  *result = by < 0 ? flat - slice : flat + slice;
  return TRUE;
}

/* --- Regions ----------------------------------------------------------------------------------------------------- */

void
tm_step_clamp_to_pane (const TmSheet *sheet, guint64 flat, gint64 *x, gint64 *y)
{
  gint64 left, top;

  if (sheet->rows == 0 || sheet->columns == 0)
    return;
  tm_sheet_get_pane_origin (sheet, cell_of (sheet, flat).pane, &left, &top);
  *x = CLAMP (*x, left, left + (gint64) sheet->columns - 1);
  *y = CLAMP (*y, top, top + (gint64) sheet->rows - 1);
}

void
tm_step_region (const TmTensor *tensor, const TmSheet *sheet, guint64 a, guint64 b, TmAddress *address)
{
  guint rank = tensor->rank;
  g_autofree guint64 *ia = g_new0 (guint64, MAX (rank, 1)), *ib = g_new0 (guint64, MAX (rank, 1));
  gboolean whole = FALSE;

  *address = (TmAddress) { .kind = TM_ADDRESS_TENSOR, .within = TM_WITHIN_REGION, .rank = rank };
  address->start = g_new0 (guint64, MAX (rank, 1));
  address->end = g_new0 (guint64, MAX (rank, 1));
  tm_tensor_unflatten (tensor, a, ia);
  tm_tensor_unflatten (tensor, b, ib);
  for (guint axis = 0; axis < rank; axis++)
    {
      address->start[axis] = whole ? 0 : MIN (ia[axis], ib[axis]);
      address->end[axis] = whole ? tensor->shape[axis] : MAX (ia[axis], ib[axis]) + 1;
      /* Merged columns: once an axis spans several indices, the columns between hold the later axes whole. */
      if (sheet->kind == TM_SHEET_MERGED && axis > 0 && ia[axis] != ib[axis])
        whole = TRUE;
    }
}
