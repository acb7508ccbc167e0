#include "analysis/steps.h"

#include <math.h>

#include "quant/codecs.h"
#include "quant/grouped.h"

#define SPOTS 16
#define SPOT_ELEMENTS 4096u
#define SAME_LEVEL 1e-5  /* a value is one rounding away from scale × level */
#define ALL_CODES_SEEN 3 /* bits: of so few codes a sample has them all, and some are never used */

/* How much a scale may be off that was rounded when it was stored, after it had served to make the codes. */
static float
get_tolerance (TmModel *model, const TmTensor *tensor)
{
  const TmBlockCodec *block = tm_block_codec_get (tensor->values->dtype);

  for (guint i = 0; i < tensor->n_operands; i++)
    if (tensor->operand[i].role == TM_ROLE_SCALE)
      switch (tm_model_stored (model, tensor->operand[i].stored)->dtype)
        {
        case TM_DTYPE_F16:
          return 0x1p-11f;
        case TM_DTYPE_BF16:
          return 0x1p-8f;
        default:
          return 0x1p-22f;
        }
  for (guint i = 0; block != NULL && i < block->n_fields; i++)
    if (block->field[i].kind == TM_FIELD_F16)
      return 0x1p-11f;
  return 0x1p-22f;
}

typedef struct
{
  double level[TM_STEP_CODES];
  gboolean seen[TM_STEP_CODES];
  gboolean even; /* a code stands for one level */
  gint32 low, high;
} Codes;

static void
look_at (Codes *codes, const gint32 *raw, const float *scale, const float *value, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      double level = (double) value[i] / (double) scale[i];

      codes->low = MIN (codes->low, raw[i]);
      codes->high = MAX (codes->high, raw[i]);
      if (scale[i] == 0 || !isfinite (level))
        continue;
      if (raw[i] < 0 || raw[i] >= TM_STEP_CODES)
        codes->even = FALSE;
      else if (!codes->seen[raw[i]])
        {
          codes->seen[raw[i]] = TRUE;
          codes->level[raw[i]] = level;
        }
      else if (fabs (level - codes->level[raw[i]]) > SAME_LEVEL * fabs (level))
        codes->even = FALSE;
    }
}

static gboolean
read_codes (Codes *codes, const TmTensor *tensor, GCancellable *cancellable, GError **error)
{
  g_autofree float *scale = g_new (float, 2 * SPOT_ELEMENTS);
  g_autofree gint32 *raw = g_new (gint32, SPOT_ELEMENTS);
  guint64 free_places = tensor->n_elements - MIN (tensor->n_elements, SPOT_ELEMENTS);
  gsize n = (gsize) MIN (tensor->n_elements, SPOT_ELEMENTS);

  for (guint i = 0; i < SPOTS; i++)
    {
      guint64 first = free_places / (SPOTS - 1) * i & ~(guint64) 255;

      if (!tm_tensor_decode_raw (tensor, first, n, raw, cancellable, error)
          || !tm_tensor_decode (tensor, TM_QUANTITY_SCALE, first, n, scale, cancellable, error)
          || !tm_tensor_decode (tensor, TM_QUANTITY_VALUE, first, n, scale + SPOT_ELEMENTS, cancellable, error))
        return FALSE;
      look_at (codes, raw, scale, scale + SPOT_ELEMENTS, n);
      if (free_places == 0)
        break;
    }
  return TRUE;
}

/* Small float8 codes are rare: a sample does not have the neighbours of zero. All levels are known if those seen are as they
 * should be. */
static void
add_float8_levels (Codes *codes, TmDtype dtype)
{
  const float *book = tm_book_float8 (dtype);

  if (book == NULL || !codes->even)
    return;
  for (guint i = 0; i < TM_STEP_CODES; i++)
    if (codes->seen[i] && !(fabs (codes->level[i] - (double) book[i]) <= SAME_LEVEL * fabs ((double) book[i])))
      return;
  for (guint i = 0; i < TM_STEP_CODES; i++)
    if (isfinite (book[i]))
      {
        codes->seen[i] = TRUE;
        codes->level[i] = (double) book[i];
      }
}

static void
set_ends (TmSteps *steps, const TmTensor *tensor, const Codes *codes)
{
  gboolean is_signed
      = codes->low < 0 || tensor->dtype == TM_DTYPE_I8 || tensor->dtype == TM_DTYPE_I4 || tensor->dtype == TM_DTYPE_I2;
  gint32 all = tensor->code_bits > 0 && tensor->code_bits < 31 ? (1 << tensor->code_bits) - 1 : G_MAXINT32;

  if (tensor->code_bits <= ALL_CODES_SEEN)
    {
      steps->first = codes->low;
      steps->last = codes->high;
    }
  else
    {
      /* The lowest signed code has no counterpart, and symmetric schemes leave it out. */
      steps->first = is_signed ? -(all / 2) : 0;
      steps->last = is_signed ? all / 2 : all;
    }
}

static void
set_gaps (TmSteps *steps, const Codes *codes)
{
  for (guint i = 0; i < TM_STEP_CODES; i++)
    {
      double above = (double) INFINITY, below = (double) INFINITY;

      steps->above[i] = steps->below[i] = NAN;
      for (guint j = 0; codes->seen[i] && j < TM_STEP_CODES; j++)
        if (codes->seen[j] && codes->level[j] > codes->level[i])
          above = MIN (above, codes->level[j] - codes->level[i]);
        else if (codes->seen[j] && codes->level[j] < codes->level[i])
          below = MIN (below, codes->level[i] - codes->level[j]);
      if (isinf (above) && isinf (below))
        continue;
      steps->end[i] = (gint8) (isinf (above) ? 1 : isinf (below) ? -1 : 0);
      if (isinf (above))
        steps->highest = codes->level[i];
      if (isinf (below))
        steps->lowest = codes->level[i];
      steps->above[i] = (float) (isinf (above) ? below : above);
      steps->below[i] = (float) (isinf (below) ? above : below);
    }
}

gboolean
tm_steps_init (TmSteps *steps, TmModel *model, const TmTensor *tensor, GCancellable *cancellable, GError **error)
{
  Codes codes = { .even = TRUE, .low = G_MAXINT32, .high = G_MININT32 };
  gboolean uniform
      = tm_tensor_has_quantity (tensor, TM_QUANTITY_ZERO_POINT) || tm_tensor_has_quantity (tensor, TM_QUANTITY_OFFSET);

  *steps = (TmSteps) { 0 };
  if (!tensor->quantized || tensor->n_elements == 0 || !tm_tensor_has_quantity (tensor, TM_QUANTITY_SCALE)
      || !tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW))
    return TRUE;
  if (!read_codes (&codes, tensor, cancellable, error))
    return FALSE;
  add_float8_levels (&codes, tensor->dtype);
  steps->tolerance = get_tolerance (model, tensor);
  steps->leveled = !uniform;
  steps->defined = uniform || (codes.even && tensor->code_bits <= 8);
  if (uniform)
    set_ends (steps, tensor, &codes);
  else if (steps->defined)
    set_gaps (steps, &codes);
  return TRUE;
}

void
tm_steps_get_ends (const TmSteps *steps, double *lowest, double *below, double *highest, double *above)
{
  *lowest = steps->lowest;
  *highest = steps->highest;
  *below = *above = 0;
  for (guint i = 0; steps->leveled && i < TM_STEP_CODES; i++)
    if (steps->end[i] > 0)
      *above = (double) steps->below[i] / 2;
    else if (steps->end[i] < 0)
      *below = (double) steps->above[i] / 2;
}

float
tm_steps_get (const TmSteps *steps, float scale, gint32 raw, double error, gboolean *at_end)
{
  float size = fabsf (scale), gap;
  gboolean upwards = (error < 0) == (scale > 0); /* the reference is on the side of larger levels */

  *at_end = FALSE;
  if (!steps->defined || !(size > 0) || isinf (size))
    return 0;
  if (!steps->leveled)
    {
      *at_end = upwards ? raw >= steps->last : raw <= steps->first;
      return size;
    }
  if (raw < 0 || raw >= TM_STEP_CODES)
    return 0;
  gap = upwards ? steps->above[raw] : steps->below[raw];
  *at_end = steps->end[raw] == (upwards ? 1 : -1);
  return gap > 0 ? gap * size : 0;
}
