/* A granularity over one pane of a sheet, normalised once.
 *
 * A level is a list of axes (length, extent), outer to inner, over the flat index. Axes that are contiguous in the flat
 * index merge. Then the list is cut where the pane's rows begin: if that works, the block number is a function of the row
 * and a function of the column, and each of them is an extent or a table of run numbers. A single axis that cannot be cut
 * is a flat block. What is left (blocks of several axes across a reshape that rows do not divide) has different
 * neighbours everywhere when its innermost axis is strided, and is drawn so; no known scheme has anything else. */
#include "view/ruler.h"

#include <string.h>

/* Run tables are made for axes up to this length: 64 MiB. */
#define MAX_TABLE ((guint64) 1 << 24)

typedef struct
{
  guint64 length, extent; /* extent ≥ 1; the outermost length may be ragged */
  const guint32 *table;   /* group of each index, instead of index div extent */
} Part;

typedef struct
{
  Part part[TM_MAX_LEVELS * 8]; /* outer to inner */
  guint n;
} Parts;

/* --- The list of axes ---------------------------------------------------------------------------------------------- */

/* Puts an axis inside of what the list has, merging where the blocks stay contiguous in the flat index. */
static gboolean
parts_append (Parts *parts, Part inner)
{
  Part *outer = parts->n ? &parts->part[parts->n - 1] : NULL;
  guint64 length;

  inner.extent = MIN (inner.extent, inner.length);
  if (inner.length == 1)
    return TRUE;
  if (outer && !outer->table && !inner.table
      && !__builtin_mul_overflow (outer->length, inner.length, &length))
    {
      if (inner.extent == inner.length) /* whole: any extent outside of it counts in wholes */
        {
          *outer = (Part) { length, outer->extent * inner.length, NULL };
          return TRUE;
        }
      if (outer->extent == 1 && inner.length % inner.extent == 0)
        {
          *outer = (Part) { length, inner.extent, NULL };
          return TRUE;
        }
    }
  if (parts->n == G_N_ELEMENTS (parts->part))
    return FALSE;
  parts->part[parts->n++] = inner;
  return TRUE;
}

static gboolean
parts_init (Parts *parts, const TmGranularity *granularity, guint level)
{
  parts->n = 0;
  for (guint k = 0; k < granularity->rank; k++)
    {
      guint64 length = granularity->shape[k], extent = MAX (granularity->level[level].extent[k], 1);
      gboolean through_table = granularity->table && granularity->table_axis == (gint) k && extent < length;

      if (!parts_append (parts, (Part) { length, extent, through_table ? granularity->table : NULL }))
        return FALSE;
    }
  return TRUE;
}

/* Cuts the list so that the inner list has exactly size elements: FALSE where blocks run across. */
static gboolean
parts_cut (const Parts *whole, guint64 size, Parts *outer, Parts *inner)
{
  guint k = whole->n;
  guint64 product = 1;

  outer->n = inner->n = 0;
  while (k > 0 && product < size && whole->part[k - 1].length <= size / product)
    product *= whole->part[--k].length;
  for (guint i = 0; i < k; i++)
    outer->part[outer->n++] = whole->part[i];
  if (product < size && k > 0)
    {
      Part cut = outer->part[--outer->n];
      guint64 m = size / product;

      /* The outermost axis may end in the middle of a row: a wrapped sheet's last row is short. */
      if (size % product != 0 || cut.table || (k > 1 && cut.length % m != 0))
        return FALSE;
      guint64 rows = cut.length / m + (cut.length % m != 0);

      if (cut.extent >= cut.length)
        {
          parts_append (outer, (Part) { rows, rows, NULL });
          parts_append (inner, (Part) { m, m, NULL });
        }
      else if (cut.extent % m == 0)
        {
          parts_append (outer, (Part) { rows, cut.extent / m, NULL });
          parts_append (inner, (Part) { m, m, NULL });
        }
      else if (m % cut.extent == 0)
        {
          parts_append (outer, (Part) { rows, 1, NULL });
          parts_append (inner, (Part) { m, cut.extent, NULL });
        }
      else
        return FALSE;
    }
  for (guint i = k; i < whole->n; i++)
    if (!parts_append (inner, whole->part[i]))
      return FALSE;
  return TRUE;
}

/* --- A list as extents or run numbers of one axis ------------------------------------------------------------------- */

static gboolean
parts_differ (const Parts *parts, guint64 i)
{
  guint64 a = i - 1, b = i;

  for (guint k = parts->n; k-- > 0;)
    {
      const Part *part = &parts->part[k];
      guint64 at = a % part->length, bt = b % part->length;

      if (part->table ? part->table[at] != part->table[bt] : at / part->extent != bt / part->extent)
        return TRUE;
      a /= part->length;
      b /= part->length;
    }
  return FALSE;
}

/* Run numbers of a list that is no plain extent; *extent is its shortest description where runs turn out to be even. */
static guint32 *
parts_make_table (const Parts *parts, guint64 length, guint64 *extent)
{
  guint32 *runs;
  guint64 first = 0;
  gboolean even = TRUE;

  *extent = length;
  if (length > MAX_TABLE)
    return NULL;
  runs = g_new (guint32, (gsize) MAX (length, 1));
  runs[0] = 0;
  for (guint64 i = 1; i < length; i++)
    {
      gboolean change = parts_differ (parts, i);

      if (change && !first)
        first = i;
      if (first && change != (i % first == 0))
        even = FALSE;
      runs[i] = runs[i - 1] + (change ? 1 : 0);
    }
  if (!even)
    return runs;
  if (first)
    *extent = first;
  g_free (runs);
  return NULL;
}

static void
parts_to_axis (const Parts *parts, guint64 length, guint64 *extent, guint32 **runs)
{
  *runs = NULL;
  *extent = length;
  if (parts->n == 1 && !parts->part[0].table)
    *extent = MIN (parts->part[0].extent, length);
  else if (parts->n && !parts->part[parts->n - 1].table && parts->part[parts->n - 1].extent == 1)
    *extent = 1; /* the innermost differs at every step */
  else if (parts->n)
    *runs = parts_make_table (parts, length, extent);
}

static gboolean
level_is_whole (const TmGranularity *granularity, guint level)
{
  for (guint k = 0; k < granularity->rank; k++)
    if (granularity->level[level].extent[k] < granularity->shape[k])
      return FALSE;
  return TRUE;
}

static void
run_init_level (TmRun *run, const TmGranularity *granularity, guint level, const TmSheet *sheet)
{
  guint64 rows = sheet->rows, columns = sheet->columns;
  Parts whole, outer, inner, panes, pane_rows;

  run->kind = TM_RUN_RECTANGLE;
  run->rows = rows;
  run->columns = columns;
  if (level_is_whole (granularity, level) || !parts_init (&whole, granularity, level))
    return;
  if (parts_cut (&whole, columns, &outer, &inner)
      && (sheet->n_panes <= 1 || parts_cut (&outer, rows, &panes, &pane_rows)))
    {
      parts_to_axis (&inner, columns, &run->columns, &run->column_runs);
      parts_to_axis (sheet->n_panes <= 1 ? &outer : &pane_rows, rows, &run->rows, &run->row_runs);
    }
  else if (whole.n == 1 && !whole.part[0].table)
    {
      run->kind = TM_RUN_FLAT;
      run->flat = whole.part[0].extent;
    }
  else if (whole.n && !whole.part[whole.n - 1].table && whole.part[whole.n - 1].extent == 1)
    run->rows = run->columns = 1;
}

/* Columns sorted by group: every group is one run. */
static void
run_sort_columns (TmRun *run, const TmGranularity *granularity, guint level, const TmSheet *sheet)
{
  const guint32 *logical = sheet->order->logical, *table = granularity->table;
  const guint64 columns = sheet->columns;
  guint64 first = 0;
  gboolean even = TRUE;

  if (run->kind != TM_RUN_RECTANGLE
      || granularity->level[level].extent[granularity->table_axis] >= granularity->shape[granularity->table_axis])
    return;
  g_free (run->column_runs);
  run->column_runs = g_new0 (guint32, (gsize) columns);
  run->columns = columns;
  for (guint64 i = 1; i < columns; i++)
    {
      const gboolean change = table[logical[i]] != table[logical[i - 1]];

      if (change && !first)
        first = i;
      if (first && change != (i % first == 0))
        even = FALSE;
      run->column_runs[i] = run->column_runs[i - 1] + (change ? 1 : 0);
    }
  if (!even)
    return;
  if (first)
    run->columns = first;
  g_clear_pointer (&run->column_runs, g_free);
}

/* --- Words and widths ----------------------------------------------------------------------------------------------- */

/* The extents that are more than one element: "32", "128 × 128". */
static char *
describe_extents (const TmGranularity *granularity, guint level)
{
  GString *text = g_string_new (NULL);

  for (guint k = 0; k < granularity->rank; k++)
    {
      guint64 extent = MIN (granularity->level[level].extent[k], granularity->shape[k]);

      if (extent > 1)
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, text->len ? " × " : "", extent);
    }
  if (!text->len)
    g_string_append_c (text, '1');
  return g_string_free (text, FALSE);
}

static gboolean
run_is_two_dimensional (const TmBoundaries *boundaries, const TmRun *run)
{
  return run->kind == TM_RUN_RECTANGLE && !run->row_runs && !run->column_runs && run->rows > 1 && run->columns > 1
         && run->rows < boundaries->rows && run->columns < boundaries->columns;
}

TmBoundaries *
tm_boundaries_new (const TmTensor *tensor, const TmSheet *sheet)
{
  const TmGranularity *granularity = tensor->granularity;
  TmBoundaries *boundaries;

  if (!granularity || !sheet->rows || !sheet->columns)
    return NULL;
  boundaries = g_new0 (TmBoundaries, 1);
  boundaries->rows = boundaries->slice_rows = sheet->rows;
  boundaries->columns = sheet->columns;
  boundaries->n_runs = MIN (granularity->n_levels, G_N_ELEMENTS (boundaries->run));
  for (guint l = 0; l < boundaries->n_runs; l++)
    {
      TmRun *run = &boundaries->run[l];

      run_init_level (run, granularity, l, sheet);
      if (sheet->order)
        run_sort_columns (run, granularity, l, sheet);
      run->label = granularity->level[l].label;
      run->size = describe_extents (granularity, l);
      run->width = l == 0 && (boundaries->n_runs > 1 || run_is_two_dimensional (boundaries, run)) ? 2 : 1;
    }
  return boundaries;
}

TmBoundaries *
tm_boundaries_new_manual (guint64 rows, guint64 columns, guint64 slice_rows, guint n_runs, const TmRun *runs)
{
  TmBoundaries *boundaries = g_new0 (TmBoundaries, 1);

  boundaries->rows = rows;
  boundaries->columns = columns;
  boundaries->slice_rows = slice_rows ? slice_rows : rows;
  boundaries->n_runs = MIN (n_runs, G_N_ELEMENTS (boundaries->run));
  for (guint l = 0; l < boundaries->n_runs; l++)
    {
      TmRun *run = &boundaries->run[l];

      *run = runs[l];
      run->rows = MAX (run->rows, 1);
      run->columns = MAX (run->columns, 1);
      run->row_runs = g_memdup2 (run->row_runs, (gsize) rows * sizeof *run->row_runs);
      run->column_runs = g_memdup2 (run->column_runs, (gsize) columns * sizeof *run->column_runs);
      run->size = g_strdup (run->size);
    }
  return boundaries;
}

void
tm_boundaries_free (TmBoundaries *boundaries)
{
  if (!boundaries)
    return;
  for (guint l = 0; l < boundaries->n_runs; l++)
    {
      g_free (boundaries->run[l].row_runs);
      g_free (boundaries->run[l].column_runs);
      g_free (boundaries->run[l].size);
    }
  g_free (boundaries);
}
