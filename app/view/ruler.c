/* See ruler.h and the rules there: footprint, run numbers, fade. All block arithmetic is 64-bit integers; floating point
 * only chooses strengths. */
#include "view/ruler.h"

#include <math.h>
#include <string.h>

typedef __int128 TmFixed;

/* Entries hold elements as gint32: what lies beyond is shown as outside. */
#define MAX_LENGTH (G_MAXINT32 - 2)
/* m + dx + dy and B must stay within a gint32. */
#define MAX_FLAT_BLOCK ((guint64) 1 << 29)

/* One axis of the pane while its ruler is made: elements under consecutive half pixels. */
typedef struct
{
  guint64 length;   /* elements of the pane on this axis */
  int first, n;     /* pixels */
  int reach;        /* half pixels before the first pixel's centre that at[] has */
  gint64 *at;       /* element − origin at half pixel 2·first + 1 − reach + i */
  double scale;
} Axis;

/* --- Fade ---------------------------------------------------------------------------------------------------------- */

static guint
fade (double from, double to, double pitch)
{
  double t = (pitch - from) / (to - from);

  if (!(t > 0))
    return 0;
  if (t >= 1)
    return 255;
  return (guint) floor (t * t * (3 - 2 * t) * 255 + 0.5);
}

guint
tm_ruler_line_strength (double pitch, double width)
{
  return fade (4 * width, 10 * width, pitch);
}

guint
tm_ruler_halo_strength (double pitch, double width)
{
  return fade (4 * (width + 2), 8 * (width + 2), pitch);
}

/* The same in device pixels: widths and thresholds both grow with the device's scale. */
static guint
line_strength (double pitch, guint width, guint device_scale)
{
  return tm_ruler_line_strength (pitch / device_scale, width);
}

static guint
halo_strength (double pitch, guint width, guint device_scale)
{
  return tm_ruler_halo_strength (pitch / device_scale, width);
}

/* --- Runs on one axis ---------------------------------------------------------------------------------------------- */

/* What makes lines on one axis: a run number for every element. */
typedef struct
{
  const guint32 *table;
  guint64 extent; /* ≥ slice: none within a slice */
  guint64 slice;  /* elements of a slice (rows of a merged stack), else the length */
  guint64 length;
} Runs;

static guint64
run_number (const Runs *runs, guint64 e)
{
  if (runs->table)
    return runs->table[e];
  if (runs->slice >= runs->length)
    return e / runs->extent;
  return e / runs->slice * (runs->slice / runs->extent + (runs->slice % runs->extent != 0))
         + e % runs->slice / runs->extent;
}

static guint64
count_runs (const Runs *runs)
{
  return runs->length ? run_number (runs, runs->length - 1) + 1 : 0;
}

static gboolean
level_is_flat (const TmRun *run)
{
  return run->kind == TM_RUN_FLAT && run->flat > 0;
}

static Runs
row_runs (const TmBoundaries *boundaries, const TmRun *run)
{
  return (Runs) { run->row_runs, run->kind == TM_RUN_FLAT ? MAX (run->flat / MAX (boundaries->columns, 1), 1) : run->rows,
                  boundaries->slice_rows, boundaries->rows };
}

static Runs
column_runs (const TmBoundaries *boundaries, const TmRun *run)
{
  guint64 extent = run->kind == TM_RUN_FLAT ? run->flat : run->columns;

  return (Runs) { run->column_runs, extent, boundaries->columns, boundaries->columns };
}

/* A coarse level draws on an axis only if it is coarser there than the next finer level: else it would make every line
 * of the finer one heavy, and the hierarchy would vanish. */
static gboolean
is_coarser (const Runs *runs, const Runs *finer)
{
  return count_runs (runs) < count_runs (finer);
}

static gboolean
level_draws (const TmBoundaries *boundaries, guint level, gboolean rows)
{
  Runs (*get) (const TmBoundaries *, const TmRun *) = rows ? row_runs : column_runs;
  Runs own = get (boundaries, &boundaries->run[level]);

  if (count_runs (&own) < 2)
    return FALSE;
  if (level + 1 < boundaries->n_runs)
    {
      Runs finer = get (boundaries, &boundaries->run[level + 1]);

      return is_coarser (&own, &finer);
    }
  return TRUE;
}

/* Pitch in device pixels around a pixel: extent × scale; of a table the elements within ±8 px for each change in them. */
static double
pitch_around (const Runs *runs, gint64 a, gint64 b, double scale)
{
  if (!runs->table)
    return (double) MIN (runs->extent, runs->slice) * scale;
  a = CLAMP (a - 1, 0, (gint64) runs->length - 1);
  b = CLAMP (b, 0, (gint64) runs->length - 1);
  if (runs->table[a] == runs->table[b])
    return G_MAXDOUBLE;
  return (double) (b - a) * scale / (runs->table[b] - runs->table[a]);
}

/* --- One axis ------------------------------------------------------------------------------------------------------ */

static gint64
axis_at (const Axis *axis, int i, int half_pixels)
{
  return axis->at[2 * i + axis->reach + half_pixels];
}

static gint64
axis_clamped (const Axis *axis, int i, int half_pixels)
{
  return CLAMP (axis_at (axis, i, half_pixels), 0, (gint64) axis->length - 1);
}

static gboolean
runs_differ (const Axis *axis, const Runs *runs, int i, int width)
{
  gint64 a = axis_clamped (axis, i, -width), b = axis_clamped (axis, i, width);

  return a != b && run_number (runs, (guint64) a) != run_number (runs, (guint64) b);
}

static void
raise_strengths (TmRulerEntry *entry, guint line, guint halo)
{
  line = MAX (line, (guint) TM_RULER_LINE (entry->strengths));
  halo = MAX (halo, (guint) TM_RULER_HALO (entry->strengths));
  entry->strengths = (entry->strengths & ~0xffff) | (gint32) (line | halo << 8);
}

/* A level on one axis: how it fades there. */
typedef struct
{
  gboolean draws;
  Runs runs;
  double density; /* lines a pixel */
  guint line, halo; /* of a table those of its mean pitch; the local ones are found pixel by pixel */
} Fade;

static Fade
get_fade (const TmBoundaries *boundaries, guint level, gboolean rows, double scale, guint device_scale)
{
  const TmRun *run = &boundaries->run[level];
  Fade result = { .runs = rows ? row_runs (boundaries, run) : column_runs (boundaries, run) };
  double pitch;

  if (level_is_flat (run) || !level_draws (boundaries, level, rows))
    return result;
  result.draws = TRUE;
  result.density = (double) count_runs (&result.runs) / (double) result.runs.length / scale;
  pitch = result.runs.table ? 1 / result.density : pitch_around (&result.runs, 0, 0, scale);
  result.line = line_strength (pitch, run->width, device_scale);
  result.halo = halo_strength (pitch, run->width, device_scale);
  return result;
}

static guint
weaken (guint strength, double share)
{
  return share < 1 ? (guint) floor (strength * share + 0.5) : strength;
}

static void
add_level (const Axis *axis, const Fade *fades, guint width, guint device_scale, double share, TmRulerEntry *entries)
{
  const Runs *runs = &fades->runs;
  int w = (int) (width * device_scale), v = (int) ((width + 2) * device_scale), window = 16 * (int) device_scale;
  guint line = weaken (fades->line, share), halo = weaken (fades->halo, share);

  if (!fades->draws || (!runs->table && !line && !halo))
    return;
  for (int i = 0; i < axis->n; i++)
    {
      if ((entries[i].strengths & TM_RULER_OUTSIDE) || !runs_differ (axis, runs, i, v))
        continue;
      if (runs->table)
        {
          double pitch = pitch_around (runs, axis_clamped (axis, i, -window), axis_clamped (axis, i, window), axis->scale);

          line = weaken (line_strength (pitch, width, device_scale), share);
          halo = weaken (halo_strength (pitch, width, device_scale), share);
        }
      raise_strengths (&entries[i], line && runs_differ (axis, runs, i, w) ? line : 0, halo);
    }
}

static gboolean
axis_is_outside (const Axis *axis, gint64 e)
{
  return e < 0 || (guint64) e >= axis->length;
}

/* Ink iff exactly one end of the footprint is outside; never fades. */
static void
add_outline (const Axis *axis, guint width, guint device_scale, TmRulerEntry *entries)
{
  int w = (int) (width * device_scale), v = (int) ((width + 2) * device_scale);

  for (int i = 0; i < axis->n; i++)
    {
      gboolean line = axis_is_outside (axis, axis_at (axis, i, -w)) != axis_is_outside (axis, axis_at (axis, i, w));
      gboolean halo = axis_is_outside (axis, axis_at (axis, i, -v)) != axis_is_outside (axis, axis_at (axis, i, v));

      if (!line && !halo)
        continue;
      raise_strengths (&entries[i], line ? 255 : 0, halo ? 255 : 0);
      if (entries[i].strengths & TM_RULER_OUTSIDE)
        entries[i].strengths |= TM_RULER_NEAR;
    }
}

/* Pixels of the pane with outline and halo, within the viewport. */
static void
axis_init (Axis *axis, guint64 length, int snapped_start, int snapped_end, int viewport, int margin, int reach,
           double scale)
{
  int first = CLAMP (snapped_start - margin, 0, viewport), end = CLAMP (snapped_end + margin, 0, viewport);

  *axis = (Axis) { MIN (length, MAX_LENGTH), first, MAX (end - first, 0), reach, NULL, scale };
}

static void
axis_fill (Axis *axis, TmFixed x0, guint64 d, gint64 origin, TmRulerEntry *entries)
{
  int n = 2 * axis->n + 2 * axis->reach;
  TmFixed x = x0 - (TmFixed) origin * ((TmFixed) 1 << 32) + (2 * (TmFixed) axis->first + 1 - axis->reach) * d;
  gint64 last = (gint64) axis->length + 2;

  axis->at = g_new (gint64, (gsize) n);
  for (int i = 0; i < n; i++, x += d)
    {
      int own = i - axis->reach;

      axis->at[i] = (gint64) (x >> 32);
      if (own >= 0 && own % 2 == 0 && own / 2 < axis->n)
        entries[own / 2] = (TmRulerEntry) {
          .element = (gint32) CLAMP (axis->at[i], -2, last),
          .fraction = (gint32) ((guint32) x >> 8),
          .strengths = axis_is_outside (axis, axis->at[i]) ? TM_RULER_OUTSIDE : 0,
        };
    }
}

/* --- Flat levels --------------------------------------------------------------------------------------------------- */

static void
fill_flat_columns (const Axis *axis, guint64 block, int w, int v, TmFlatEntry *entries)
{
  for (int i = 0; i < axis->n; i++)
    {
      guint64 a = (guint64) axis_clamped (axis, i, -w), b = (guint64) axis_clamped (axis, i, w);
      guint64 c = (guint64) axis_clamped (axis, i, -v), d = (guint64) axis_clamped (axis, i, v);

      entries[i] = (TmFlatEntry) { (gint32) (a % block), (gint32) MIN (b - a, block),
                                   (gint32) (c % block), (gint32) MIN (d - c, block) };
    }
}

/* upright: a = b = the centre's row, so that only the upright pieces of the staircase show. */
static void
fill_flat_rows (const Axis *axis, guint64 block, guint64 columns, guint64 base, int w, int v, gboolean upright,
                TmFlatEntry *entries)
{
  for (int i = 0; i < axis->n; i++)
    {
      guint64 a = (guint64) axis_clamped (axis, i, upright ? 0 : -w), b = (guint64) axis_clamped (axis, i, upright ? 0 : w);
      guint64 c = (guint64) axis_clamped (axis, i, upright ? 0 : -v), d = (guint64) axis_clamped (axis, i, upright ? 0 : v);

      entries[i] = (TmFlatEntry) { (gint32) ((base + a * columns) % block), (gint32) MIN ((b - a) * columns, block),
                                   (gint32) ((base + c * columns) % block), (gint32) MIN ((d - c) * columns, block) };
    }
}

static void
add_flat_level (TmRulers *rulers, const Axis *x, const Axis *y, const TmBoundaries *boundaries, guint level,
                guint64 base, guint device_scale)
{
  const TmRun *run = &boundaries->run[level];
  guint64 columns = x->length, block = run->flat;
  double pitch = (double) (block < columns ? 1 : block / columns) * x->scale;
  guint line = line_strength (pitch, run->width, device_scale), halo = halo_strength (pitch, run->width, device_scale);
  int w = (int) (run->width * device_scale), v = (int) ((run->width + 2) * device_scale);
  gboolean upright = block < columns && level + 1 < boundaries->n_runs;
  guint l = rulers->n_flat;

  if ((!line && !halo) || block >= MAX_FLAT_BLOCK)
    return;
  rulers->flat_line[l] = (guint8) line;
  rulers->flat_halo[l] = (guint8) halo;
  rulers->flat_block[l] = (gint32) block;
  rulers->flat_x[l] = g_renew (TmFlatEntry, rulers->flat_x[l], (gsize) MAX (x->n, 1));
  rulers->flat_y[l] = g_renew (TmFlatEntry, rulers->flat_y[l], (gsize) MAX (y->n, 1));
  fill_flat_columns (x, block, w, v, rulers->flat_x[l]);
  fill_flat_rows (y, block, columns, base, w, v, upright, rulers->flat_y[l]);
  rulers->n_flat++;
}

/* --- The bound on ink ----------------------------------------------------------------------------------------------
 * One level in two directions stays below 0.20 (with its halo 0.25) by its fade alone. Nested levels of which the coarse
 * one is two-dimensional may pass it: then the finer ones give way. */
#define MAX_LINE 0.19
#define MAX_LINE_AND_HALO 0.24

typedef struct
{
  guint n, coarsest; /* coarsest that shows at all */
  guint device_scale;
  guint width[4];
  Fade x[4], y[4];
} Fades;

static void
fades_init (Fades *fades, const TmBoundaries *boundaries, double scale, guint device_scale)
{
  *fades = (Fades) { .n = boundaries->n_runs, .coarsest = boundaries->n_runs, .device_scale = device_scale };
  for (guint l = fades->n; l-- > 0;)
    {
      fades->width[l] = boundaries->run[l].width;
      fades->x[l] = get_fade (boundaries, l, FALSE, scale, device_scale);
      fades->y[l] = get_fade (boundaries, l, TRUE, scale, device_scale);
      if (fades->x[l].line || fades->x[l].halo || fades->y[l].line || fades->y[l].halo)
        fades->coarsest = l;
    }
}

/* Share of pixels covered on one axis. A finer level's lines that lie on a coarser one's are the coarser one's. */
static double
cover_axis (const Fades *fades, const Fade *axis, double share, gboolean with_halo)
{
  double covered = 0, density = 0;

  for (guint l = 0; l < fades->n; l++)
    {
      double own = axis[l].density - density, k = (l > fades->coarsest ? share : 1) / 255;
      double line = axis[l].line * k, halo = with_halo ? axis[l].halo * k * 0.75 : 0;

      if (!axis[l].draws || own <= 0)
        continue;
      covered += own * fades->device_scale * (fades->width[l] * (1 - (1 - line) * (1 - halo)) + 2 * halo);
      density = axis[l].density;
    }
  return MIN (covered, 1);
}

static gboolean
fades_fit (const Fades *fades, double share)
{
  double x = cover_axis (fades, fades->x, share, FALSE), y = cover_axis (fades, fades->y, share, FALSE);
  double hx = cover_axis (fades, fades->x, share, TRUE), hy = cover_axis (fades, fades->y, share, TRUE);

  return 1 - (1 - x) * (1 - y) <= MAX_LINE && 1 - (1 - hx) * (1 - hy) <= MAX_LINE_AND_HALO;
}

static double
fades_find_share (const Fades *fades)
{
  double low = 0, high = 1;

  if (fades->coarsest + 1 >= fades->n || fades_fit (fades, 1))
    return 1;
  for (int i = 0; i < 10; i++)
    {
      double middle = (low + high) / 2;

      if (fades_fit (fades, middle))
        low = middle;
      else
        high = middle;
    }
  return low;
}

static void
add_levels (TmRulers *rulers, const Axis *x, const Axis *y, const TmBoundaries *boundaries, guint64 base,
            guint device_scale)
{
  Fades fades;

  fades_init (&fades, boundaries, x->scale, device_scale);
  rulers->finer = fades_find_share (&fades);
  for (guint l = 0; l < fades.n; l++)
    {
      double share = l > fades.coarsest ? rulers->finer : 1;

      if (level_is_flat (&boundaries->run[l]))
        add_flat_level (rulers, x, y, boundaries, l, base, device_scale);
      add_level (x, &fades.x[l], fades.width[l], device_scale, share, rulers->x);
      add_level (y, &fades.y[l], fades.width[l], device_scale, share, rulers->y);
    }
}

/* Half pixels that any footprint reaches from a pixel's centre. */
static int
get_reach (const TmBoundaries *boundaries, guint outline_width, guint device_scale)
{
  guint width = outline_width;

  for (guint l = 0; boundaries && l < boundaries->n_runs; l++)
    width = MAX (width, boundaries->run[l].width);
  return (int) (MAX (width + 2, 16) * device_scale);
}

void
tm_rulers_build_at (TmRulers *rulers, const TmCamera *camera, gint64 origin_x, gint64 origin_y, guint64 rows,
                    guint64 columns, guint64 base, const TmBoundaries *boundaries, gboolean show_lines,
                    guint outline_width, guint device_scale)
{
  gboolean lines = show_lines && boundaries && boundaries->rows == rows && boundaries->columns == columns;
  int margin, reach;
  Axis x, y;

  device_scale = CLAMP (device_scale, 1, 16);
  outline_width = MIN (outline_width, 64);
  margin = outline_width ? (int) ((outline_width + 2) * device_scale + 1) / 2 + 1 : 0;
  reach = get_reach (lines ? boundaries : NULL, outline_width, device_scale);
  rulers->n_flat = 0;
  rulers->n_x = rulers->n_y = 0;
  if (!rows || !columns)
    return;
  axis_init (&x, columns, tm_camera_snap_x (camera, origin_x),
             tm_camera_snap_x (camera, origin_x + (gint64) MIN (columns, MAX_LENGTH)), camera->width, margin, reach,
             camera->scale);
  axis_init (&y, rows, tm_camera_snap_y (camera, origin_y),
             tm_camera_snap_y (camera, origin_y + (gint64) MIN (rows, MAX_LENGTH)), camera->height, margin, reach,
             camera->scale);
  rulers->first_x = x.first;
  rulers->first_y = y.first;
  rulers->n_x = x.n;
  rulers->n_y = y.n;
  rulers->x = g_renew (TmRulerEntry, rulers->x, (gsize) MAX (x.n, 1));
  rulers->y = g_renew (TmRulerEntry, rulers->y, (gsize) MAX (y.n, 1));
  axis_fill (&x, camera->x0, camera->d, origin_x, rulers->x);
  axis_fill (&y, camera->y0, camera->d, origin_y, rulers->y);
  rulers->finer = 1;
  if (lines)
    add_levels (rulers, &x, &y, boundaries, base, device_scale);
  if (outline_width)
    {
      add_outline (&x, outline_width, device_scale, rulers->x);
      add_outline (&y, outline_width, device_scale, rulers->y);
    }
  g_free (x.at);
  g_free (y.at);
}

void
tm_rulers_build (TmRulers *rulers, const TmCamera *camera, gint64 origin_x, gint64 origin_y, guint64 rows,
                 guint64 columns, const TmBoundaries *boundaries, gboolean show_lines, guint outline_width,
                 guint device_scale)
{
  tm_rulers_build_at (rulers, camera, origin_x, origin_y, rows, columns, 0, boundaries, show_lines, outline_width,
                      device_scale);
}

void
tm_rulers_clear (TmRulers *rulers)
{
  g_free (rulers->x);
  g_free (rulers->y);
  for (guint l = 0; l < G_N_ELEMENTS (rulers->flat_x); l++)
    {
      g_free (rulers->flat_x[l]);
      g_free (rulers->flat_y[l]);
    }
  memset (rulers, 0, sizeof *rulers);
}

/* --- What the shader computes --------------------------------------------------------------------------------------- */

static gboolean
flat_ink (gint32 column, gint32 row, gint32 dx, gint32 dy, gint32 block)
{
  gint32 m = column + row;

  if (m >= block)
    m -= block;
  return m + dx + dy >= block;
}

void
tm_rulers_get_ink (const TmRulers *rulers, int px, int py, guint *line, guint *halo)
{
  int i = px - rulers->first_x, j = py - rulers->first_y;
  gint32 sx, sy;

  *line = *halo = 0;
  if (i < 0 || j < 0 || i >= rulers->n_x || j >= rulers->n_y)
    return;
  sx = rulers->x[i].strengths;
  sy = rulers->y[j].strengths;
  if ((sx & TM_RULER_OUTSIDE && !(sx & TM_RULER_NEAR)) || (sy & TM_RULER_OUTSIDE && !(sy & TM_RULER_NEAR)))
    return;
  if (sx & sy & TM_RULER_OUTSIDE)
    {
      *line = (guint) MIN (TM_RULER_LINE (sx), TM_RULER_LINE (sy));
      *halo = (guint) MIN (TM_RULER_HALO (sx), TM_RULER_HALO (sy));
      return;
    }
  if ((sx | sy) & TM_RULER_OUTSIDE)
    {
      gint32 own = sx & TM_RULER_OUTSIDE ? sx : sy;

      *line = (guint) TM_RULER_LINE (own);
      *halo = (guint) TM_RULER_HALO (own);
      return;
    }
  *line = (guint) MAX (TM_RULER_LINE (sx), TM_RULER_LINE (sy));
  *halo = (guint) MAX (TM_RULER_HALO (sx), TM_RULER_HALO (sy));
  for (guint l = 0; l < rulers->n_flat; l++)
    {
      const TmFlatEntry *c = &rulers->flat_x[l][i], *r = &rulers->flat_y[l][j];

      if (flat_ink (c->cm, r->cm, c->dx, r->dx, rulers->flat_block[l]))
        *line = MAX (*line, rulers->flat_line[l]);
      if (flat_ink (c->cm_halo, r->cm_halo, c->dx_halo, r->dx_halo, rulers->flat_block[l]))
        *halo = MAX (*halo, rulers->flat_halo[l]);
    }
}
