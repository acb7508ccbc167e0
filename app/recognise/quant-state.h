/* The JSON that bitsandbytes keeps in a tensor of bytes: the only place that has a 4-bit weight's shape. Strict: every
 * member of the right type, once, sizes that fit 63 bits. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_QUANT_STATE_MAX_RANK 8u

typedef struct
{
  gboolean is_fp4; /* else NF4 */
  guint64 block;
  guint rank;
  guint64 shape[TM_QUANT_STATE_MAX_RANK];
  guint64 n_elements;
  gboolean nested;
  guint64 nested_block;
  float nested_offset;
} TmQuantState;

/* FALSE with one line of what is wrong. */
gboolean tm_quant_state_parse (const char *text, gsize length, TmQuantState *state, GError **error);

G_END_DECLS
