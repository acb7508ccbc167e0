/* A quantized tensor's step: how far apart two neighbouring codes are at an element, what tolerance rounding of the scale
 * itself asks for, and which codes are the ends of the range. Told from codes, scales and values alone. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

#define TM_STEP_CODES 256

typedef struct
{
  gboolean defined;  /* FALSE: no scale, or a code does not stand for one level (grids of several elements) */
  gboolean leveled;  /* codes stand for uneven levels: gaps below; else every gap is the scale itself */
  gint32 first, last; /* uniform codes: ends of the range in use */
  float tolerance;   /* of the value's magnitude: the scale was rounded after it was used */
  float above[TM_STEP_CODES], below[TM_STEP_CODES]; /* leveled: to the next level, in scales; NaN: a code not seen */
  gint8 end[TM_STEP_CODES];                         /* leveled: 1 the highest level, −1 the lowest, else 0 */
  double lowest, highest;                           /* leveled: of the levels seen */
} TmSteps;

/* Reads a sample of codes. Errors: as tm_tensor_decode; an ordinary tensor is no error, only not defined. */
gboolean tm_steps_init (TmSteps *steps, TmModel *model, const TmTensor *tensor, GCancellable *cancellable, GError **error);

/* Leveled: the end levels, in scales, and half the gap to the level next to each. */
void tm_steps_get_ends (const TmSteps *steps, double *lowest, double *below, double *highest, double *above);

/* Of one element: distance to the next code on the side of error = candidate − reference, and whether an error of more than
 * half of it there means that the range ended (clipped). 0: not defined for it. */
float tm_steps_get (const TmSteps *steps, float scale, gint32 raw, double error, gboolean *at_end);

G_END_DECLS
