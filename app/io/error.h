/* One error domain for the engine. A message is one line and says what is wrong and where (byte offset, JSON position,
 * tensor); whoever shows it puts the file's name in front. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_ERROR (tm_error_quark ())
GQuark tm_error_quark (void);

typedef enum
{
  TM_ERROR_IO,          /* the system cannot read or write */
  TM_ERROR_TRUNCATED,   /* bytes that were there, or were promised, are not */
  TM_ERROR_FORMAT,      /* the container's own structure cannot be read */
  TM_ERROR_KIND,        /* another kind of file: Git LFS pointer, HTML page, archive, folder without a model */
  TM_ERROR_UNSUPPORTED, /* understood, and not decoded: unknown or removed dtype, fork type */
  TM_ERROR_TENSOR,      /* this tensor is at fault; the rest of the file is usable */
  TM_ERROR_ADDRESS,     /* no such tensor, index outside the shape, region that does not parse */
  TM_ERROR_QUANTITY,    /* the tensor has no such quantity (raw, scale, zero point, offset) */
} TmError;

G_END_DECLS
