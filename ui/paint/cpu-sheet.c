/* Sheets by plain C: the reference the shaders are compared with. Everything that depends on one axis alone is worked out
 * once a column or once a row; a pixel is a look-up, and a blend only where a line or halo has strength. */
#include "ui/paint/raster.h"

#include "view/colormap.h"

#include <string.h>

typedef struct
{
  int first, end;
  guint32 page;
} Segment; /* columns that lie in one wanted tile */

struct _TmSheetScratch
{
  int size;            /* columns there is room for */
  gint32 *texel;       /* element >> level */
  guint8 *line, *halo; /* of the column ruler */
  guint8 *row_line, *row_halo;
  guint8 *place; /* OUTSIDE, NEAR, CENTRE bits */
  gint32 *inked; /* columns with a line or halo of their own */
  Segment *segment;
};

enum
{
  OUTSIDE = 1,
  NEAR = 2,
  CENTRE = 4
};

/* What is the same for all rows of one sheet. */
typedef struct
{
  TmRaster *raster;
  const TmPrimSheet *sheet;
  const TmTheme *theme;
  TmSheetScratch *scratch;
  TmColormapScale scale;
  const TmColor *palette;
  guint32 under, blank, nan, line, hatch_fill, hatch;
  int left, n, skip;      /* first column on the raster, columns, ruler entries before it */
  int corner_x, corner_y; /* where a hatch is anchored */
  int n_inked, n_segments;
  gint64 last_row; /* rows above have every cell; this one has last_columns */
  gint64 last_columns;
  gboolean saw_infinity;
} Job;

TmSheetScratch *
tm_sheet_scratch_new (void)
{
  return g_new0 (TmSheetScratch, 1);
}

void
tm_sheet_scratch_free (TmSheetScratch *scratch)
{
  g_free (scratch->texel);
  g_free (scratch->line);
  g_free (scratch->halo);
  g_free (scratch->row_line);
  g_free (scratch->row_halo);
  g_free (scratch->place);
  g_free (scratch->inked);
  g_free (scratch->segment);
  g_free (scratch);
}

static void
scratch_ensure (TmSheetScratch *s, int n)
{
  if (n <= s->size)
    return;
  s->size = n;
  s->texel = g_renew (gint32, s->texel, n);
  s->line = g_renew (guint8, s->line, n);
  s->halo = g_renew (guint8, s->halo, n);
  s->row_line = g_renew (guint8, s->row_line, n);
  s->row_halo = g_renew (guint8, s->row_halo, n);
  s->place = g_renew (guint8, s->place, n);
  s->inked = g_renew (gint32, s->inked, n);
  s->segment = g_renew (Segment, s->segment, n);
}

static guint8
get_place (const TmRulerEntry *entry)
{
  guint8 place = 0;
  if (entry->strengths & TM_RULER_OUTSIDE)
    place |= OUTSIDE;
  if (entry->strengths & TM_RULER_NEAR)
    place |= NEAR;
  /* The mark of an infinity: the middle 0.4 of the cell, in 24-bit fractions. */
  if (entry->fraction >= TM_MARK_FIRST && entry->fraction <= TM_MARK_LAST)
    place |= CENTRE;
  return place;
}

static void
prepare_columns (Job *job)
{
  const TmPrimSheet *sheet = job->sheet;
  TmSheetScratch *s = job->scratch;
  scratch_ensure (s, job->n);
  job->n_inked = job->n_segments = 0;
  for (int i = 0; i < job->n; i++)
    {
      const TmRulerEntry *entry = &sheet->rulers->x[job->skip + i];
      s->texel[i] = MAX (entry->element, 0) >> MIN (sheet->level, 31u);
      s->line[i] = TM_RULER_LINE (entry->strengths);
      s->halo[i] = TM_RULER_HALO (entry->strengths);
      s->place[i] = get_place (entry);
      if (s->line[i] != 0 || s->halo[i] != 0)
        s->inked[job->n_inked++] = i;
      if (s->place[i] & OUTSIDE)
        continue;
      guint32 page = (guint32) (s->texel[i] >> 8) - sheet->page_x;
      if (job->n_segments == 0 || s->segment[job->n_segments - 1].page != page
          || s->segment[job->n_segments - 1].end != i)
        s->segment[job->n_segments++] = (Segment) { i, i, page };
      s->segment[job->n_segments - 1].end = i + 1;
    }
}

static inline guint32
value_pixel (const Job *job, float value)
{
  int index = tm_colormap_index (&job->scale, value);
  return index < 0 ? job->nan : tm_raster_opaque (job->palette[index]);
}

static void
paint_segment (Job *job, guint32 *out, const Segment *segment, const TmPage *page, gint32 row_texel, int py,
               gboolean row_centre)
{
  const TmSheetScratch *s = job->scratch;
  const TmTile *tile = page != NULL ? page->tile : NULL;
  if (tile == NULL)
    {
      for (int i = segment->first; i < segment->end; i++)
        out[i] = job->blank;
      return;
    }
  if (tile->texels == NULL)
    {
      for (int i = segment->first; i < segment->end; i++)
        out[i] = tm_raster_is_stripe (job->left + i - job->corner_x, py - job->corner_y) ? job->hatch : job->hatch_fill;
      return;
    }
  guint up = MIN (page->up, 31u);
  const float *texels = tile->texels + (gsize) ((row_texel >> up) & (TM_TILE - 1)) * TM_TILE;
  gint32 known = -1;
  guint32 pixel = 0;
  gboolean infinite = FALSE, missing = FALSE;
  for (int i = segment->first; i < segment->end; i++)
    {
      gint32 t = (s->texel[i] >> up) & (TM_TILE - 1);
      if (t != known)
        {
          float value = texels[t];
          guint32 bits;
          memcpy (&bits, &value, sizeof bits);
          infinite = (bits & 0x7fffffffu) == 0x7f800000u;
          missing = bits == TM_TEXEL_MISSING_BITS;
          job->saw_infinity |= infinite;
          pixel = value_pixel (job, value);
          known = t;
        }
      if (missing)
        out[i] = tm_raster_is_stripe (job->left + i - job->corner_x, py - job->corner_y) ? job->hatch : job->hatch_fill;
      else
        out[i] = infinite && row_centre && (s->place[i] & CENTRE) ? job->line : pixel;
    }
}

static inline guint32
blend (guint32 pixel, guint32 with, guint k)
{
  guint32 r = ((pixel >> 16 & 255u) * (255u - k) + (with >> 16 & 255u) * k + 127u) / 255u;
  guint32 g = ((pixel >> 8 & 255u) * (255u - k) + (with >> 8 & 255u) * k + 127u) / 255u;
  guint32 b = ((pixel & 255u) * (255u - k) + (with & 255u) * k + 127u) / 255u;
  return 0xff000000u | r << 16 | g << 8 | b;
}

static inline guint32
ink (guint32 pixel, guint32 line, guint32 halo, guint line_strength, guint halo_strength)
{
  guint k = halo_strength * 3 / 4;
  if (k != 0 && line_strength != 255)
    pixel = blend (pixel, halo, k);
  if (line_strength == 255)
    return line;
  return line_strength != 0 ? blend (pixel, line, line_strength) : pixel;
}

static void
add_flat (guint8 *strength, const TmFlatEntry *columns, int n, gint32 start, gint32 step, gint32 block, guint8 full,
          gboolean halo)
{
  for (int i = 0; i < n; i++)
    {
      gint32 m = (halo ? columns[i].cm_halo : columns[i].cm) + start;
      m -= m >= block ? block : 0;
      guint8 k = m + (halo ? columns[i].dx_halo : columns[i].dx) + step >= block ? full : 0;
      strength[i] = MAX (strength[i], k);
    }
}

/* Line and halo strengths of one row into row_line and row_halo. FALSE: nothing but the columns' own ink. */
static gboolean
combine_row (Job *job, const TmRulerEntry *row, int ruler_y)
{
  const TmRulers *rulers = job->sheet->rulers;
  TmSheetScratch *s = job->scratch;
  guint8 line = TM_RULER_LINE (row->strengths), halo = TM_RULER_HALO (row->strengths);
  gboolean outside = (row->strengths & TM_RULER_OUTSIDE) != 0;
  if (!outside && line == 0 && halo == 0 && rulers->n_flat == 0)
    return FALSE;
  for (int i = 0; i < job->n; i++)
    {
      s->row_line[i] = MAX (s->line[i], line);
      s->row_halo[i] = MAX (s->halo[i], halo);
    }
  for (guint l = 0; !outside && l < rulers->n_flat; l++)
    {
      const TmFlatEntry *y = &rulers->flat_y[l][ruler_y];
      const TmFlatEntry *x = rulers->flat_x[l] + job->skip;
      if (rulers->flat_line[l] != 0)
        add_flat (s->row_line, x, job->n, y->cm, y->dx, rulers->flat_block[l], rulers->flat_line[l], FALSE);
      if (rulers->flat_halo[l] != 0)
        add_flat (s->row_halo, x, job->n, y->cm_halo, y->dx_halo, rulers->flat_block[l], rulers->flat_halo[l], TRUE);
    }
  /* Outside on one axis: that axis alone. On both: the smaller, or a corner would get a stray dot. */
  for (int i = 0; i < job->n; i++)
    if ((s->place[i] & OUTSIDE) || outside)
      {
        gboolean both = (s->place[i] & OUTSIDE) && outside;
        s->row_line[i] = both ? MIN (s->line[i], line) : outside ? line : s->line[i];
        s->row_halo[i] = both ? MIN (s->halo[i], halo) : outside ? halo : s->halo[i];
      }
  return TRUE;
}

static void
paint_row (Job *job, guint32 *out, int py, int ruler_y)
{
  const TmPrimSheet *sheet = job->sheet;
  const TmRulerEntry *row = &sheet->rulers->y[ruler_y];
  TmSheetScratch *s = job->scratch;
  gboolean outside = (row->strengths & TM_RULER_OUTSIDE) != 0;
  job->saw_infinity = FALSE;

  if (!outside)
    {
      gint32 texel = MAX (row->element, 0) >> MIN (sheet->level, 31u);
      guint32 page_row = (guint32) (texel >> 8) - sheet->page_y;
      for (int k = 0; k < job->n_segments; k++)
        {
          const Segment *segment = &s->segment[k];
          const TmPage *page = page_row < sheet->n_pages_y && segment->page < sheet->n_pages_x
                                   ? &sheet->pages[(gsize) page_row * sheet->n_pages_x + segment->page]
                                   : NULL;
          paint_segment (job, out, segment, page, texel, py, sheet->cell_px >= 8 && (get_place (row) & CENTRE));
        }
      if (row->element >= job->last_row)
        for (int i = 0; i < job->n; i++)
          if (row->element > job->last_row || sheet->rulers->x[job->skip + i].element >= job->last_columns)
            out[i] = job->under;
    }
  for (int i = 0; i < job->n; i++)
    if (((s->place[i] & (OUTSIDE | NEAR)) == (OUTSIDE | NEAR)) || (outside && !(s->place[i] & OUTSIDE)))
      out[i] = job->under;

  guint32 line = tm_raster_opaque (job->theme->line), halo = tm_raster_opaque (job->theme->halo);
  if (!combine_row (job, row, ruler_y))
    for (int k = 0; k < job->n_inked; k++)
      {
        int i = s->inked[k];
        out[i] = ink (out[i], line, halo, s->line[i], s->halo[i]);
      }
  else
    for (int i = 0; i < job->n; i++)
      if ((s->row_line[i] | s->row_halo[i]) != 0 && (s->place[i] & (OUTSIDE | NEAR)) != OUTSIDE)
        out[i] = ink (out[i], line, halo, s->row_line[i], s->row_halo[i]);
}

/* Two rows that cannot differ: the same texels, the same ruler, nothing that depends on the row's place in the cell. */
static gboolean
same_row (const Job *job, int a, int b)
{
  const TmRulers *rulers = job->sheet->rulers;
  return rulers->n_flat == 0 && !job->saw_infinity && rulers->y[a].element == rulers->y[b].element
         && rulers->y[a].strengths == rulers->y[b].strengths;
}

void
tm_rulers_trim (const TmRulerEntry *entries, int first, int *from, int *to)
{
  const int drawn = TM_RULER_OUTSIDE | TM_RULER_NEAR;
  while (*from < *to && (entries[*from - first].strengths & drawn) == TM_RULER_OUTSIDE)
    (*from)++;
  while (*from < *to && (entries[*to - 1 - first].strengths & drawn) == TM_RULER_OUTSIDE)
    (*to)--;
}

static gboolean
has_failed_tile (const TmPrimSheet *sheet)
{
  for (gsize i = 0; i < (gsize) sheet->n_pages_x * sheet->n_pages_y; i++)
    if (sheet->pages[i].tile != NULL && sheet->pages[i].tile->texels == NULL)
      return TRUE;
  return FALSE;
}

void
tm_raster_sheet (TmRaster *raster, const TmPrimSheet *sheet, const TmTheme *theme, TmSheetScratch *scratch)
{
  const TmRulers *rulers = sheet->rulers;
  int left = MAX (MAX (sheet->x, rulers->first_x), 0), top = MAX (MAX (sheet->y, rulers->first_y), 0);
  int right = MIN (MIN (sheet->x + sheet->width, rulers->first_x + rulers->n_x), raster->width);
  int bottom = MIN (MIN (sheet->y + sheet->height, rulers->first_y + rulers->n_y), raster->height);
  if (left < right && top < bottom)
    {
      tm_rulers_trim (rulers->x, rulers->first_x, &left, &right);
      tm_rulers_trim (rulers->y, rulers->first_y, &top, &bottom);
    }
  if (left >= right || top >= bottom)
    return;

  Job job = { .raster = raster,
              .sheet = sheet,
              .theme = theme,
              .scratch = scratch,
              .left = left,
              .n = right - left,
              .skip = left - rulers->first_x,
              .corner_x = left,
              .corner_y = top };
  tm_colormap_scale_init (&job.scale, sheet->palette, sheet->low, sheet->range);
  job.palette = tm_theme_get_map (theme, sheet->palette);
  job.under = tm_raster_opaque (sheet->under);
  job.blank = tm_raster_opaque (sheet->blank);
  job.nan = tm_raster_opaque (theme->nan);
  job.line = tm_raster_opaque (theme->line);
  job.hatch = tm_raster_opaque (theme->hatch);
  job.hatch_fill = tm_raster_opaque (sheet->under);
  guint64 cells = sheet->n_elements > sheet->base ? sheet->n_elements - sheet->base : 0;
  guint64 full_rows = sheet->columns > 0 ? cells / sheet->columns : 0;
  job.last_row = (gint64) MIN (full_rows, (guint64) G_MAXINT32);
  job.last_columns = sheet->columns > 0 && full_rows < G_MAXINT32 ? (gint64) (cells % sheet->columns) : 0;
  prepare_columns (&job);

  gboolean failed = has_failed_tile (sheet);
  int painted = -1;
  for (int py = top; py < bottom; py++)
    {
      int ruler_y = py - rulers->first_y;
      int strengths = rulers->y[ruler_y].strengths;
      if ((strengths & TM_RULER_OUTSIDE) && !(strengths & TM_RULER_NEAR))
        continue;
      guint32 *out = raster->pixels + (gsize) py * raster->stride + left;
      /* Copying a row would copy what lies beside the pane too: only where every column belongs to it. */
      if (painted == py - 1 && painted >= top && !failed && same_row (&job, ruler_y, ruler_y - 1)
          && (scratch->place[0] & (OUTSIDE | NEAR)) != OUTSIDE
          && (scratch->place[job.n - 1] & (OUTSIDE | NEAR)) != OUTSIDE)
        memcpy (out, out - raster->stride, (gsize) job.n * sizeof *out);
      else
        paint_row (&job, out, py, ruler_y);
      painted = py;
    }
}
