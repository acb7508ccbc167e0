/* See tiles.h and tile-make.h. Elements come in whole row segments through tm_tensor_decode(), so a super-block is
 * decoded once; they are folded into one line of texels at a time. */
#include "view/tile-make.h"

#include <math.h>
#include <string.h>

#include "io/error.h"

#define CHUNK 65536u          /* elements decoded at once */
#define SAMPLE_SEGMENT 16384u /* elements of a row that a sample reads at most */
#define SAMPLE_PIECE 256u     /* of longer rows it reads pieces: a super-block each */
#define SAMPLE_ROWS 8u        /* rows a texel at most */

typedef struct
{
  const TmTensor *tensor;
  TmQuantity quantity;
  TmReduce reduce;
  guint level;
  guint64 base, columns, n_elements; /* pane's first flat index, row length, end of the tensor */
  guint64 n_held;                    /* elements from here on are missing (a partial download) */
  guint64 r0, r1, c0, c1;            /* cells of the tile */
  guint width, height;
  TmTileBetween between;
  gpointer between_data;
  GCancellable *cancellable;
  float *buffer; /* CHUNK */
  const TmAxisOrder *order; /* of the sheet's columns, or NULL */
  float *row;               /* with an order: whole rows as the tensor has them, from row ready on */
  guint64 ready, n_ready;
  gboolean sampling;
} Pass;

/* --- A line of texels ------------------------------------------------------------------------------------------------
 * The element of largest magnitude by one comparison: magnitude's bits above the inverted sign, moved to where signed
 * numbers compare (that is what every processor does many of at once). NaN > Inf > finite falls out of the encoding; of
 * two equal magnitudes the positive one wins, so the order of folding is no matter. */
#define LEAST G_MININT32 /* −0: loses against every element, and is what a texel of no element at all shows */
#define LANES 16
#define COLUMN_LEVELS 3  /* up to this level columns are kept apart until the line is written: runs are too short */

typedef struct
{
  gint32 column[TM_TILE << COLUMN_LEVELS];
  gint32 largest[TM_TILE];
  double sum[TM_TILE];
  guint64 n[TM_TILE];
  guint64 kind[TM_TILE][TM_N_KINDS];
} Line;

static gint32
order_of_bits (guint32 bits)
{
  return (gint32) ((bits << 1 | ~bits >> 31) ^ 0x80000000u);
}

static gint32
order_of_float (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return order_of_bits (bits);
}

static float
float_of_order (gint32 order)
{
  guint32 shifted = (guint32) order ^ 0x80000000u, bits = shifted >> 1 | ~shifted << 31;
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static gint32
find_largest (const float *values, gsize n)
{
  gint32 lane[LANES], best = LEAST;
  guint32 bits[LANES];
  gsize i = 0;

  for (int j = 0; j < LANES; j++)
    lane[j] = LEAST;
  for (; i + LANES <= n; i += LANES)
    {
      memcpy (bits, values + i, sizeof bits);
      for (int j = 0; j < LANES; j++)
        lane[j] = MAX (lane[j], order_of_bits (bits[j]));
    }
  for (; i < n; i++)
    best = MAX (best, order_of_float (values[i]));
  for (int j = 0; j < LANES; j++)
    best = MAX (best, lane[j]);
  return best;
}

static void
raise_columns (gint32 *columns, const float *values, gsize n)
{
  guint32 bits[LANES];
  gint32 lane[LANES];
  gsize i = 0;

  for (; i + LANES <= n; i += LANES)
    {
      memcpy (bits, values + i, sizeof bits);
      memcpy (lane, columns + i, sizeof lane);
      for (int j = 0; j < LANES; j++)
        lane[j] = MAX (lane[j], order_of_bits (bits[j]));
      memcpy (columns + i, lane, sizeof lane);
    }
  for (; i < n; i++)
    columns[i] = MAX (columns[i], order_of_float (values[i]));
}

static double
find_sum (const float *values, gsize n, gboolean squares)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += squares ? (double) values[i] * (double) values[i] : (double) values[i];
  return sum;
}

/* Level 0 is the element itself, whatever the reduction; of kinds it has the same coding as the others. */
static gboolean
is_largest (const Pass *pass)
{
  return pass->reduce == TM_REDUCE_LARGEST || (pass->level == 0 && pass->reduce != TM_REDUCE_KINDS);
}

static gboolean
keeps_columns (const Pass *pass)
{
  return is_largest (pass) && pass->level <= COLUMN_LEVELS;
}

static void
line_reset (Line *line)
{
  memset (line->sum, 0, sizeof line->sum);
  memset (line->n, 0, sizeof line->n);
  memset (line->kind, 0, sizeof line->kind);
  for (gsize t = 0; t < G_N_ELEMENTS (line->largest); t++)
    line->largest[t] = LEAST;
  for (gsize c = 0; c < G_N_ELEMENTS (line->column); c++)
    line->column[c] = LEAST;
}

/* What is no kind (missing, not readable as one) beats them all. */
static void
count_kinds (Line *line, guint t, const float *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (values[i] >= 0 && values[i] < TM_N_KINDS)
      line->kind[t][(guint) values[i]]++;
    else
      line->largest[t] = MAX (line->largest[t], order_of_float (values[i]));
}

static float
get_kind_texel (const Line *line, guint t)
{
  guint best = 1;

  if (line->largest[t] != LEAST)
    return float_of_order (line->largest[t]);
  for (guint k = 2; k < TM_N_KINDS; k++)
    if (line->kind[t][k] > line->kind[t][best])
      best = k;
  if (line->kind[t][best] == 0)
    return 0;
  return (float) (best * TM_KIND_SHARES)
         + ceilf ((float) ((double) line->kind[t][best] / (double) line->n[t]) * (TM_KIND_SHARES - 1));
}

/* Folds n elements of a row, the first of them c columns right of the tile's edge. */
static void
line_fold (Line *line, const Pass *pass, guint64 c, const float *values, gsize n)
{
  if (keeps_columns (pass))
    {
      raise_columns (line->column + c, values, n);
      return;
    }
  while (n)
    {
      guint t = (guint) (c >> pass->level);
      guint64 end = ((guint64) t + 1) << pass->level;
      gsize run = (gsize) MIN (n, end - c);

      if (is_largest (pass))
        line->largest[t] = MAX (line->largest[t], find_largest (values, run));
      else if (pass->reduce == TM_REDUCE_KINDS)
        count_kinds (line, t, values, run);
      else
        line->sum[t] += find_sum (values, run, pass->reduce == TM_REDUCE_RMS);
      line->n[t] += run;
      values += run;
      c += run;
      n -= run;
    }
}

static void
line_gather_columns (Line *line, const Pass *pass)
{
  guint n = (guint) (pass->c1 - pass->c0);

  for (guint c = 0; c < n; c++)
    line->largest[c >> pass->level] = MAX (line->largest[c >> pass->level], line->column[c]);
}

static void
line_write (Line *line, const Pass *pass, float *out)
{
  if (keeps_columns (pass))
    line_gather_columns (line, pass);
  for (guint t = 0; t < pass->width; t++)
    if (pass->reduce == TM_REDUCE_KINDS)
      out[t] = get_kind_texel (line, t);
    else if (is_largest (pass) || !line->n[t])
      out[t] = float_of_order (line->largest[t]);
    else if (pass->reduce == TM_REDUCE_MEAN)
      out[t] = (float) (line->sum[t] / (double) line->n[t]);
    else
      out[t] = (float) sqrt (line->sum[t] / (double) line->n[t]);
}

/* Texels that no sample fell on take their neighbour's. */
static void
line_fill_gaps (const Line *line, const Pass *pass, float *out)
{
  guint first = 0;

  if (keeps_columns (pass))
    return; /* rows that short are read whole */
  while (first < pass->width && !line->n[first])
    first++;
  if (first == pass->width)
    return;
  for (guint t = 0; t < first; t++)
    out[t] = out[first];
  for (guint t = first + 1; t < pass->width; t++)
    if (!line->n[t])
      out[t] = out[t - 1];
}

/* --- The passes ----------------------------------------------------------------------------------------------------- */

static float
tm_tile_missing (void)
{
  guint32 bits = TM_TEXEL_MISSING_BITS;
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Decodes what there is of n elements from cell (r, c) on: a wrapped sheet's last row is short. */
static gboolean
pass_decode (Pass *pass, guint64 r, guint64 c, guint64 n, gsize *got, GError **error)
{
  guint64 first = pass->base + r * pass->columns + c;

  gsize held;

  *got = first >= pass->n_elements ? 0 : (gsize) MIN (n, pass->n_elements - first);
  held = first >= pass->n_held ? 0 : (gsize) MIN ((guint64) *got, pass->n_held - first);
  if (g_cancellable_set_error_if_cancelled (pass->cancellable, error))
    return FALSE;
  if (held && !tm_tensor_decode (pass->tensor, pass->quantity, first, held, pass->buffer, pass->cancellable, error))
    return FALSE;
  for (gsize i = held; i < *got; i++)
    pass->buffer[i] = tm_tile_missing ();
  if (pass->between)
    pass->between (pass->between_data);
  return TRUE;
}

static gboolean
pass_fold_row (Pass *pass, Line *line, guint64 r, GError **error)
{
  for (guint64 c = pass->c0; c < pass->c1; c += CHUNK)
    {
      gsize got;

      if (!pass_decode (pass, r, c, MIN (CHUNK, pass->c1 - c), &got, error))
        return FALSE;
      line_fold (line, pass, c - pass->c0, pass->buffer, got);
    }
  return TRUE;
}

/* A row whose columns stand in another order than in the tensor is decoded whole, then picked from. */
static gboolean
pass_fold_sorted_row (Pass *pass, Line *line, guint64 r, GError **error)
{
  guint64 first = pass->base + r * pass->columns;
  guint64 held = first >= pass->n_held ? 0 : MIN (pass->columns, pass->n_held - first);

  if (g_cancellable_set_error_if_cancelled (pass->cancellable, error))
    return FALSE;
  if (pass->n_ready > 0 && r >= pass->ready && r < pass->ready + pass->n_ready)
    ; /* decoded with the rows before it */
  else
    {
      guint64 n_rows = held < pass->columns || pass->sampling ? 1 : CLAMP (CHUNK / pass->columns, 1, pass->r1 - r);

      if (n_rows > 1 && first + n_rows * pass->columns > pass->n_held)
        n_rows = 1;
      for (guint64 i = held; i < pass->columns; i++)
        pass->row[i] = tm_tile_missing ();
      if (held && !tm_tensor_decode_rectangle (pass->tensor, pass->quantity, first, (gsize) n_rows,
                                               (gsize) (n_rows > 1 ? pass->columns : held), pass->row, pass->cancellable, error))
        return FALSE;
      pass->ready = r;
      pass->n_ready = n_rows;
      if (pass->between)
        pass->between (pass->between_data);
    }
  const float *row = pass->row + (r - pass->ready) * pass->columns;
  for (guint64 c = pass->c0; c < pass->c1; c += CHUNK)
    {
      gsize n = (gsize) MIN (CHUNK, pass->c1 - c);

      for (gsize i = 0; i < n; i++)
        pass->buffer[i] = row[pass->order->logical[c + i]];
      line_fold (line, pass, c - pass->c0, pass->buffer, n);
    }
  return TRUE;
}

static void
pass_end_row (const Pass *pass, Line *line, guint64 r, float *texels)
{
  guint64 texel_row = (r - pass->r0) >> pass->level;

  if (r + 1 < pass->r1 && (r + 1 - pass->r0) >> pass->level == texel_row)
    return;
  line_write (line, pass, texels + texel_row * TM_TILE);
  line_reset (line);
}

/* Rows and columns at once where the tensor's rows are strided in the file: whatever holds one holds its neighbours. */
static gboolean
pass_fold_rows (Pass *pass, Line *line, guint64 r, guint64 n_rows, float *texels, GError **error)
{
  guint64 first = pass->base + r * pass->columns + pass->c0, width = pass->c1 - pass->c0;

  if (g_cancellable_set_error_if_cancelled (pass->cancellable, error)
      || !tm_tensor_decode_rectangle (pass->tensor, pass->quantity, first, (gsize) n_rows, (gsize) width, pass->buffer,
                                      pass->cancellable, error))
    return FALSE;
  if (pass->between)
    pass->between (pass->between_data);
  for (guint64 i = 0; i < n_rows; i++)
    {
      line_fold (line, pass, 0, pass->buffer + i * width, (gsize) width);
      pass_end_row (pass, line, r + i, texels);
    }
  return TRUE;
}

static gboolean
pass_can_fold_rows (const Pass *pass)
{
  const TmTensor *tensor = pass->tensor;

  return tensor->codec != NULL && tensor->codec->rectangle != NULL && tensor->fault == NULL && tensor->rank > 0
         && tensor->shape[tensor->rank - 1] == pass->columns && pass->c1 - pass->c0 <= CHUNK;
}

static gboolean
pass_exact (Pass *pass, Line *line, float *texels, GError **error)
{
  gboolean whole_rows = pass->order == NULL && pass->c0 == 0 && pass->c1 == pass->columns && pass->columns <= CHUNK;
  gboolean rectangles = !whole_rows && pass->order == NULL && pass_can_fold_rows (pass);
  guint64 at_once = whole_rows ? CHUNK / pass->columns : rectangles ? CHUNK / (pass->c1 - pass->c0) : 1;

  for (guint64 r = pass->r0; r < pass->r1; r += at_once)
    {
      guint64 n_rows = MIN (at_once, pass->r1 - r);
      gsize got;

      if (rectangles)
        {
          if (!pass_fold_rows (pass, line, r, n_rows, texels, error))
            return FALSE;
          continue;
        }
      if (!whole_rows)
        {
          if (!(pass->order ? pass_fold_sorted_row (pass, line, r, error) : pass_fold_row (pass, line, r, error)))
            return FALSE;
          pass_end_row (pass, line, r, texels);
          continue;
        }
      if (!pass_decode (pass, r, 0, n_rows * pass->columns, &got, error))
        return FALSE;
      for (guint64 i = 0; i < n_rows; i++)
        {
          gsize start = (gsize) MIN (i * pass->columns, got);

          line_fold (line, pass, 0, pass->buffer + start, (gsize) MIN (pass->columns, got - start));
          pass_end_row (pass, line, r + i, texels);
        }
    }
  return TRUE;
}

static gboolean
pass_sample_row (Pass *pass, Line *line, guint64 r, GError **error)
{
  guint64 segment = pass->c1 - pass->c0, n_pieces = SAMPLE_SEGMENT / SAMPLE_PIECE;
  gsize got;

  if (pass->order)
    return pass_fold_sorted_row (pass, line, r, error);
  if (segment <= SAMPLE_SEGMENT)
    return pass_fold_row (pass, line, r, error);
  for (guint64 i = 0; i < n_pieces; i++)
    {
      guint64 c = segment / n_pieces * i / SAMPLE_PIECE * SAMPLE_PIECE;

      if (!pass_decode (pass, r, pass->c0 + c, MIN (SAMPLE_PIECE, segment - c), &got, error))
        return FALSE;
      line_fold (line, pass, c, pass->buffer, got);
    }
  return TRUE;
}

static gboolean
pass_sample (Pass *pass, Line *line, float *texels, GError **error)
{
  guint64 n_rows = CLAMP (SAMPLE_SEGMENT / (pass->c1 - pass->c0), 1, SAMPLE_ROWS);

  for (guint t = 0; t < pass->height; t++)
    {
      guint64 first = pass->r0 + ((guint64) t << pass->level);
      guint64 n = MIN ((guint64) 1 << pass->level, pass->r1 - first), step = MAX (n / n_rows, 1);

      for (guint64 r = MIN (step / 2, n - 1); r < n; r += step)
        if (!pass_sample_row (pass, line, first + r, error))
          return FALSE;
      line_write (line, pass, texels + t * TM_TILE);
      line_fill_gaps (line, pass, texels + t * TM_TILE);
      line_reset (line);
    }
  return TRUE;
}

/* --- Where a tile is ------------------------------------------------------------------------------------------------ */

static gboolean
pass_locate (Pass *pass, const TmSheet *sheet, const TmTileKey *key)
{
  guint shift = key->level + 8u;

  if (!sheet->n_elements || key->level > 40 || key->pane >= sheet->n_panes || !sheet->rows || !sheet->columns
      || key->column > (sheet->columns - 1) >> shift || key->row > (sheet->rows - 1) >> shift)
    return FALSE;
  pass->level = key->level;
  pass->columns = sheet->columns;
  pass->order = sheet->order;
  pass->n_elements = sheet->n_elements;
  pass->base = key->pane * sheet->rows * sheet->columns;
  pass->c0 = (guint64) key->column << shift;
  pass->r0 = (guint64) key->row << shift;
  pass->c1 = MIN (pass->c0 + ((guint64) 1 << shift), sheet->columns);
  pass->r1 = MIN (pass->r0 + ((guint64) 1 << shift), sheet->rows);
  pass->width = (guint) ((pass->c1 - pass->c0 - 1) >> key->level) + 1;
  pass->height = (guint) ((pass->r1 - pass->r0 - 1) >> key->level) + 1;
  return TRUE;
}

gboolean
tm_tile_measure (const TmSheet *sheet, const TmTileKey *key, guint *width, guint *height, guint64 *elements)
{
  Pass pass = { 0 };

  if (!pass_locate (&pass, sheet, key))
    return FALSE;
  *width = pass.width;
  *height = pass.height;
  if (__builtin_mul_overflow (pass.c1 - pass.c0, pass.r1 - pass.r0, elements))
    *elements = G_MAXUINT64;
  return TRUE;
}

guint
tm_tile_get_top_level (const TmSheet *sheet)
{
  guint64 last = MAX (MAX (sheet->rows, sheet->columns), 1) - 1;
  guint level = 0;

  while (level < 40 && last >> level >> 8)
    level++;
  return level;
}

guint
tm_tiles_level_for_scale (double scale)
{
  guint level = 0;

  while (level < 40 && ldexp (scale, (int) level) < 1)
    level++;
  return level;
}

/* --- Making ---------------------------------------------------------------------------------------------------------- */

gboolean
tm_tile_make_full (const TmTensor *tensor, const TmSheet *sheet, const TmTileKey *key, gboolean exact, float *texels,
                   guint *width, guint *height, TmTileBetween between, gpointer between_data,
                   GCancellable *cancellable, GError **error)
{
  Pass pass = { .tensor = tensor, .quantity = key->quantity, .reduce = key->reduce, .cancellable = cancellable,
                .between = between, .between_data = between_data };
  g_autofree Line *line = NULL;
  gboolean made;

  if (!pass_locate (&pass, sheet, key))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "tile %u, %u of level %u is outside of the sheet", key->column,
                   key->row, key->level);
      return FALSE;
    }
  pass.n_held = tensor->fault != NULL ? tensor->available : tensor->n_elements;
  line = g_new (Line, 1);
  line_reset (line);
  pass.buffer = g_new (float, CHUNK);
  pass.row = pass.order ? g_new (float, (gsize) MAX (CHUNK, pass.columns)) : NULL;
  pass.sampling = !exact && pass.level > 0;
  made = exact || pass.level == 0 ? pass_exact (&pass, line, texels, error) : pass_sample (&pass, line, texels, error);
  g_free (pass.buffer);
  g_free (pass.row);
  *width = pass.width;
  *height = pass.height;
  return made;
}

gboolean
tm_tile_make (const TmTensor *tensor, const TmSheet *sheet, const TmTileKey *key, gboolean exact, float *texels,
              guint *width, guint *height, GCancellable *cancellable, GError **error)
{
  return tm_tile_make_full (tensor, sheet, key, exact, texels, width, height, NULL, NULL, cancellable, error);
}

void
tm_tile_merge (const float *const child[4], const guint child_width[4], const guint child_height[4], guint width,
               guint height, float *texels)
{
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        guint quarter = (x >= TM_TILE / 2 ? 1u : 0) + (y >= TM_TILE / 2 ? 2u : 0);
        guint cx = 2 * x % TM_TILE, cy = 2 * y % TM_TILE;
        gint32 best = LEAST;

        for (guint j = cy; child[quarter] && j < MIN (cy + 2, child_height[quarter]); j++)
          for (guint i = cx; i < MIN (cx + 2, child_width[quarter]); i++)
            best = MAX (best, order_of_float (child[quarter][j * TM_TILE + i]));
        texels[y * TM_TILE + x] = float_of_order (best);
      }
}
