/* The values of one quantization group: what range the group of a scalar spans. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

#define TM_GROUP_RANGE_MAX 1048576 /* elements; a larger group (per-tensor) is what statistics are for */

typedef struct
{
  guint64 count;   /* elements in the group */
  guint64 n_nan;   /* of them NaN; left out of min and max */
  float min, max;  /* infinities included; both NaN where all are */
} TmGroupRange;

/* Decodes the group of the scalar: the block that group_start … group_end names (in the counted shape, which is a reshape
 * of the tensor and so has the same flat indices); on an axis that goes through a table every index of the same group,
 * not the run of neighbours alone. Blocking; for workers. Errors: as tm_tensor_decode; TM_ERROR_QUANTITY where the scalar has
 * no group or the group is larger than TM_GROUP_RANGE_MAX. */
gboolean tm_tensor_get_group_range (const TmTensor *tensor, const TmScalar *scalar, TmGroupRange *range,
                                    GCancellable *cancellable, GError **error);

G_END_DECLS
