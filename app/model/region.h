/* Numbers of a region, piece by piece and in row-major order, so that a region of any size passes through a buffer of
 * fixed size. What a number is depends on the quantity: the tensor's native dtype for values (float32 for quantized
 * ones), I32 for raw codes, F32 for scale, zero point and offset. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

/* Called with count numbers of the region's dtype. FALSE stops, with error set. */
typedef gboolean (*TmRegionFunc) (gconstpointer numbers, gsize count, gpointer user_data, GError **error);

TmDtype tm_region_get_dtype (const TmTensor *tensor, TmQuantity quantity);
gsize tm_region_get_number_size (const TmTensor *tensor, TmQuantity quantity);

/* start, end: rank numbers, half-open and inside the shape. Errors as in tm_tensor_decode(), and func's. */
gboolean tm_region_foreach (const TmTensor *tensor, TmQuantity quantity, const guint64 *start, const guint64 *end,
                            TmRegionFunc func, gpointer user_data, GCancellable *cancellable, GError **error);

G_END_DECLS
