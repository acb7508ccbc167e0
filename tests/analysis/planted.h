/* Models of chosen values in memory, for tests of analysis. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef struct
{
  TmModel *model;
  GByteArray *bytes;
} Planted;

void planted_begin (Planted *planted, const char *format, const char *architecture);
void planted_number (Planted *planted, const char *key, guint32 number);
/* values: rank axes' product of them. Returns nothing to free. */
void planted_f32 (Planted *planted, const char *name, guint rank, const guint64 *shape, const float *values);
void planted_bytes (Planted *planted, const char *name, TmDtype dtype, guint rank, const guint64 *shape, gconstpointer bytes,
                    gsize count);
TmModel *planted_end (Planted *planted);

#define planted_matrix(planted, name, rows, columns, values) \
  planted_f32 (planted, name, 2, (guint64[]){ rows, columns }, values)
#define planted_vector(planted, name, n, values) planted_f32 (planted, name, 1, (guint64[]){ n }, values)

/* n of them, near a bell of width 1, the same on every run. (transfer full) */
float *planted_noise (gsize n, guint32 seed);
/* Q8_0 by nearest rounding; n is a multiple of 32; scale_factor 1, or more to spoil it. (transfer full) */
guint8 *planted_q8_0 (const float *values, gsize n, gsize *count);

G_END_DECLS
