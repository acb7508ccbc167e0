/* How well a reading fits, and which of several is kept. */
#include "analysis/transforms.h"

#include <math.h>

#define PATCHES 12
#define PATCH_ROWS 8u
#define PATCH_COLUMNS 512u
#define PATCH_ELEMENTS (PATCH_ROWS * PATCH_COLUMNS)
#define CLEARLY_SMALLER 0.5 /* of two squared errors */
#define FITS_WELL 0.25      /* of the squared values: 6 dB */

typedef struct
{
  guint64 row, column, rows, columns;
} Patch;

static guint64
scatter (guint64 *state, guint64 below)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 20) % below;
}

/* The same places for every hypothesis, spread over the matrix. */
static Patch
make_patch (const TmReading *reading, guint64 *state)
{
  Patch patch;
  guint64 free_rows, free_columns;

  patch.columns = MIN (reading->columns, reading->rows < PATCH_ROWS ? PATCH_ELEMENTS / reading->rows : PATCH_COLUMNS);
  patch.rows = MIN (reading->rows, PATCH_ELEMENTS / patch.columns);
  free_rows = reading->rows - patch.rows + 1;
  free_columns = reading->columns - patch.columns + 1;
  patch.row = scatter (state, free_rows);
  patch.column = scatter (state, free_columns) & ~(guint64) 255; /* where blocks begin */
  return patch;
}

typedef struct
{
  Patch patch[PATCHES];
  float *candidate; /* PATCHES × PATCH_ELEMENTS */
  float *reference; /* PATCH_ELEMENTS */
  GCancellable *cancellable;
} Sample;

static gboolean
take_sample (Sample *sample, const TmTensor *candidate, const TmReading *reading, GError **error)
{
  guint64 state = candidate->n_elements;

  for (guint i = 0; i < PATCHES; i++)
    {
      Patch *patch = &sample->patch[i];
      float *out = sample->candidate + i * PATCH_ELEMENTS;

      *patch = make_patch (reading, &state);
      for (guint64 row = 0; row < patch->rows; row++)
        if (!tm_tensor_decode (candidate, TM_QUANTITY_VALUE, (patch->row + row) * reading->columns + patch->column,
                               patch->columns, out + row * patch->columns, sample->cancellable, error))
          return FALSE;
    }
  return TRUE;
}

static gboolean
measure (const Sample *sample, const TmReading *reading, TmFit *fit, GError **error)
{
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, n, vx, vy;

  *fit = (TmFit) { 0 };
  for (guint i = 0; i < PATCHES; i++)
    {
      const Patch *patch = &sample->patch[i];
      const float *ys = sample->candidate + i * PATCH_ELEMENTS;

      if (!tm_reading_decode_rectangle (reading, patch->row, patch->row + patch->rows, patch->column,
                                        patch->column + patch->columns, sample->reference, sample->cancellable, error))
        return FALSE;
      for (guint64 k = 0; k < patch->rows * patch->columns; k++)
        {
          double x = (double) sample->reference[k], y = (double) ys[k];

          if (!isfinite (x) || !isfinite (y))
            continue;
          fit->n++;
          fit->error += (y - x) * (y - x);
          sx += x;
          sy += y;
          sxx += x * x;
          syy += y * y;
          sxy += x * y;
        }
    }
  fit->power = sxx;
  n = MAX ((double) fit->n, 1);
  vx = sxx - sx * sx / n;
  vy = syy - sy * sy / n;
  if (vx > 1e-12 * sxx && vy > 1e-12 * syy)
    fit->correlation = (sxy - sx * sy / n) / sqrt (vx * vy);
  return TRUE;
}

/* Readings that differ in rows or columns cannot be told apart on the same places; there are none. */
static gboolean
is_alike (const TmReading *a, const TmReading *b)
{
  return a->rows == b->rows && a->columns == b->columns;
}

TmReading *
tm_hypotheses_decide (GArray *hypotheses, const TmTensor *candidate, TmFit *fit, GCancellable *cancellable,
                      GError **error)
{
  TmHypothesis *first = hypotheses->len > 0 ? &g_array_index (hypotheses, TmHypothesis, 0) : NULL;
  g_autofree float *memory = NULL;
  Sample sample = { .cancellable = cancellable };
  guint best = 0;
  TmReading *reading;

  if (first == NULL)
    return NULL;
  memory = g_new (float, (PATCHES + 1) * PATCH_ELEMENTS);
  sample.candidate = memory;
  sample.reference = memory + PATCHES * PATCH_ELEMENTS;
  if (!take_sample (&sample, candidate, first->reading, error) || !measure (&sample, first->reading, fit, error))
    return NULL;
  for (guint tier = 0; tier < 2; tier++)
    for (guint i = 1; i < hypotheses->len && (tier == 0 || fit->error > FITS_WELL * fit->power); i++)
      {
        const TmHypothesis *hypothesis = &g_array_index (hypotheses, TmHypothesis, i);
        TmFit other;

        if (hypothesis->tier != tier || !is_alike (hypothesis->reading, first->reading))
          continue;
        if (!measure (&sample, hypothesis->reading, &other, error))
          return NULL;
        if (other.n * 2 >= fit->n && other.n > 0 && (fit->n == 0 || other.error < CLEARLY_SMALLER * fit->error))
          {
            *fit = other;
            best = i;
          }
      }
  reading = g_array_index (hypotheses, TmHypothesis, best).reading;
  g_array_index (hypotheses, TmHypothesis, best).reading = NULL;
  return reading;
}
