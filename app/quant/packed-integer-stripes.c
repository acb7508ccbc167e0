/* What decoding a packed integer tensor keeps for the next runs.
 *
 * A run along a row of a packing that goes down columns touches a word of every row of words: the same words hold the
 * rows beside it, so a stripe of rows is read, or unpacked, at once. */
#include "io/error.h"
#include "quant/packed-integer.h"
#include "quant/quant-private.h"

enum
{
  STRIPE_RIBBONS,
  STRIPE_CODES,
  STRIPE_SCALES,
  STRIPE_RIBBON_SCALES,
  STRIPE_VALUES
};

#define NARROW_BYTES 524288u /* what the processor's cache holds beside other things */
#define APART 64u            /* what lies a power of two apart would all fall on the same few lines of the cache */

static gboolean
is_long (const TmPackedInteger *data, const TmPackedRectangle *at)
{
  return at->n_rows < 64 && (at->n_columns >= 4096 || at->n_columns >= data->n_columns / 2);
}

/* Whole rows around the wanted ones, as many as fit into so many bytes. */
static TmPackedRectangle
widen (const TmPackedInteger *data, const TmPackedRectangle *at, gsize bytes, gsize bytes_a_row)
{
  const guint64 at_once = MAX (bytes / MAX (bytes_a_row, 1) / 32 * 32, TM_RIBBON_LINES);
  const guint64 from = at->row / at_once * at_once, to = MIN (from + at_once, data->n_rows);
  TmPackedRectangle whole = { at->slice, at->row, 0, at->n_rows, (gsize) data->n_columns };

  if (at->row + at->n_rows <= to)
    {
      whole.row = from;
      whole.n_rows = (gsize) (to - from);
    }
  return whole;
}

/* From a row and column on that begin a ribbon and a word of it. */
static void
begin_ribbon (TmPackedRectangle *at)
{
  at->n_rows += (gsize) (at->row % TM_RIBBON_LINES);
  at->row -= at->row % TM_RIBBON_LINES;
  at->n_columns += (gsize) (at->column % 32);
  at->column -= at->column % 32;
}

static TmStripe *
find (const TmPackedInteger *data, guint64 key, const TmPackedRectangle *at)
{
  return tm_stripe_find (data->owner, key, at->slice * data->n_rows + at->row, at->n_rows, at->column, at->n_columns);
}

static TmStripe *
take (gsize size, GError **error)
{
  TmStripe *stripe = tm_stripe_take (size);

  if (stripe == NULL)
    g_set_error_literal (error, TM_ERROR, TM_ERROR_TENSOR, "out of memory");
  return stripe;
}

static void
fill (TmStripe *stripe, const TmPackedInteger *data, guint64 key, const TmPackedRectangle *at, gsize pitch)
{
  stripe->owner = data->owner;
  stripe->key = key;
  stripe->row = at->slice * data->n_rows + at->row;
  stripe->n_rows = at->n_rows;
  stripe->column = at->column;
  stripe->n_columns = at->n_columns;
  stripe->pitch = pitch;
}

static gsize
rows_before (const TmStripe *stripe, const TmPackedInteger *data, const TmPackedRectangle *at)
{
  return (gsize) (at->slice * data->n_rows + at->row - stripe->row);
}

gboolean
tm_packed_integer_has_ribbons (const TmPackedInteger *data, TmCodeLayout *ribbon)
{
  return tm_packed_integer_get_ribbon (data, ribbon)
         && tm_layout_get_ribbon_bytes (ribbon, data->n_columns) <= TM_STRIPE_BYTES / 2
         && data->n_groups <= TM_STRIPE_BYTES / 512;
}

const guint8 *
tm_packed_integer_get_ribbons (const TmPackedInteger *data, const TmCodeLayout *ribbon, const TmPackedRectangle *at,
                               gsize *pitch, gsize *line, gsize *first, GError **error)
{
  TmStripe *stripe = find (data, STRIPE_RIBBONS, at);
  gsize rows;

  if (stripe == NULL)
    {
      TmPackedRectangle whole = *at;
      gsize bytes;

      /* Pieces of turned rows are short, so more of them are read at once than the second cache holds. */
      if (is_long (data, at))
        whole = widen (data, at, data->layout.down ? TM_STRIPE_BYTES / 4 : TM_STRIPE_BYTES / 2,
                       (tm_layout_get_ribbon_bytes (ribbon, data->n_columns) + APART) / TM_RIBBON_LINES);
      begin_ribbon (&whole);
      bytes = tm_layout_get_ribbon_bytes (ribbon, whole.n_columns) + APART;
      stripe = take ((whole.n_rows + TM_RIBBON_LINES - 1) / TM_RIBBON_LINES * bytes, error);
      if (stripe == NULL
          || !tm_packed_integer_read_ribbons (data, whole.slice, whole.row, whole.n_rows, whole.column, whole.n_columns,
                                              stripe->bytes, bytes, error))
        return NULL;
      fill (stripe, data, STRIPE_RIBBONS, &whole, bytes);
    }
  rows = rows_before (stripe, data, at);
  *pitch = stripe->pitch;
  *line = rows % TM_RIBBON_LINES;
  *first = (gsize) (at->column - stripe->column);
  return stripe->bytes + rows / TM_RIBBON_LINES * stripe->pitch;
}

/* Their codes, a byte each. */
static gboolean
unpack_ribbons (const TmPackedInteger *data, const TmCodeLayout *ribbon, const TmPackedRectangle *at, guint8 *out,
                gsize out_pitch, GError **error)
{
  gsize pitch, line, first, begin;
  const guint8 *words = tm_packed_integer_get_ribbons (data, ribbon, at, &pitch, &line, &first, error);

  if (words == NULL)
    return FALSE;
  begin = tm_layout_get_ribbon_bytes (ribbon, first);
  for (gsize r = 0, n; r < at->n_rows; r += n, line = 0, words += pitch)
    {
      n = MIN (TM_RIBBON_LINES - line, at->n_rows - r);
      tm_layout_unpack_columns (ribbon, words + begin + 4 * line, TM_RIBBON_PITCH, n, at->n_columns,
                                out + r * out_pitch, out_pitch);
    }
  return TRUE;
}

const guint8 *
tm_packed_integer_get_codes (const TmPackedInteger *data, const TmPackedRectangle *at, gsize *pitch, GError **error)
{
  TmStripe *stripe = find (data, STRIPE_CODES, at);

  if (stripe == NULL)
    {
      TmPackedRectangle whole = *at;
      TmCodeLayout ribbon;
      const gboolean ribbons = tm_packed_integer_has_ribbons (data, &ribbon);
      const gboolean ragged = data->arrangement == TM_WORDS_RAGGED;
      gsize whole_pitch;

      if ((ribbons || ragged || data->layout.down) && is_long (data, at))
        whole = widen (data, at, ragged ? TM_STRIPE_BYTES : NARROW_BYTES, (gsize) data->n_columns + 2 * APART);
      if (whole.n_rows > TM_STRIPE_BYTES / 2 / whole.n_columns) /* not even some rows: only what is asked */
        whole = *at;
      if (ribbons)
        begin_ribbon (&whole);
      whole_pitch = whole.n_columns + (ribbons ? APART : 0);
      stripe = take (whole.n_rows * whole_pitch, error);
      if (stripe == NULL)
        return NULL;
      if (ribbons)
        {
          if (!unpack_ribbons (data, &ribbon, &whole, stripe->bytes, whole_pitch, error))
            return NULL;
        }
      else if (!tm_packed_integer_read_codes (data, whole.slice, whole.row, whole.n_rows, whole.column, whole.n_columns,
                                              stripe->bytes, error))
        return NULL;
      fill (stripe, data, STRIPE_CODES, &whole, whole_pitch);
    }
  *pitch = stripe->pitch;
  return stripe->bytes + rows_before (stripe, data, at) * stripe->pitch + (at->column - stripe->column);
}

gboolean
tm_packed_integer_get_parameters (const TmPackedInteger *data, const TmPackedRectangle *at, gboolean ribbons,
                                  TmPackedParameters *parameters, GError **error)
{
  const guint64 key = ribbons ? STRIPE_RIBBON_SCALES : STRIPE_SCALES;
  const guint64 group = data->index ? 0 : at->column / data->group_size;
  const gsize n_groups
      = (gsize) ((data->index ? data->n_groups : (at->column + at->n_columns - 1) / data->group_size + 1) - group);
  const TmPackedRectangle groups = { at->slice, at->row, group, at->n_rows, n_groups };
  TmStripe *stripe = find (data, key, &groups);
  gsize at_row, at_group, lines;

  if (stripe == NULL)
    {
      TmPackedRectangle whole = groups;
      TmParameterNumbers to;
      gsize n;

      if (is_long (data, at) && data->scale.row_step <= 1 && data->n_groups > 1 && data->n_groups <= NARROW_BYTES / 8)
        {
          whole = widen (data, at, NARROW_BYTES / 4, (gsize) data->n_groups * 8);
          whole.n_columns = (gsize) data->n_groups;
        }
      if (ribbons)
        {
          whole.n_rows += (gsize) (whole.row % TM_RIBBON_LINES);
          whole.row -= whole.row % TM_RIBBON_LINES;
        }
      lines = (whole.n_rows + TM_RIBBON_LINES - 1) / TM_RIBBON_LINES * TM_RIBBON_LINES + 16;
      n = whole.n_columns * (ribbons ? lines : whole.n_rows);
      stripe = take (n * 8, error);
      if (stripe == NULL)
        return FALSE;
      to.at = (float *) (gpointer) stripe->bytes;
      to.row = ribbons ? 1 : whole.n_columns;
      to.group = ribbons ? lines : 1;
      if (!tm_packed_integer_read_parameter (data, &data->scale, whole.slice, whole.row, whole.n_rows, whole.column,
                                             whole.n_columns, to, error))
        return FALSE;
      to.at += n;
      if (!tm_packed_integer_read_parameter (data, &data->zero, whole.slice, whole.row, whole.n_rows, whole.column,
                                             whole.n_columns, to, error))
        return FALSE;
      fill (stripe, data, key, &whole, n);
    }
  at_row = rows_before (stripe, data, at);
  at_group = (gsize) (group - stripe->column);
  lines = (gsize) (stripe->pitch / stripe->n_columns);
  parameters->row = ribbons ? 1 : (gsize) stripe->n_columns;
  parameters->group = ribbons ? lines : 1;
  parameters->scales
      = (const float *) (gpointer) stripe->bytes + at_row * parameters->row + at_group * parameters->group;
  parameters->zeros = parameters->scales + stripe->pitch;
  return TRUE;
}

const float *
tm_packed_integer_get_values (const TmPackedInteger *data, const TmPackedRectangle *at, TmPackedDecode decode,
                              GError **error)
{
  TmStripe *stripe = find (data, STRIPE_VALUES, at);

  if (stripe == NULL)
    {
      const TmPackedRectangle whole = widen (data, at, NARROW_BYTES, (gsize) data->n_columns * sizeof (float));

      stripe = take (whole.n_rows * whole.n_columns * sizeof (float), error);
      if (stripe == NULL || !decode (data, &whole, (float *) (gpointer) stripe->bytes, error))
        return NULL;
      fill (stripe, data, STRIPE_VALUES, &whole, whole.n_columns);
    }
  return (const float *) (gpointer) stripe->bytes + rows_before (stripe, data, at) * stripe->pitch
         + (at->column - stripe->column);
}

gboolean
tm_packed_integer_wants_values (const TmPackedInteger *data, const TmPackedRectangle *at)
{
  return at->n_rows < TM_RIBBON_LINES && is_long (data, at)
         && data->n_columns <= TM_STRIPE_BYTES / sizeof (float) / TM_RIBBON_LINES;
}
