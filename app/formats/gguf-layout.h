/* Second half of reading a GGUF file: from the tensor infos to dtypes, byte ranges, and what is wrong with them. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 at;     /* where the info stands in the file */
  guint64 offset; /* of the data, from the start of the data section */
  guint32 type;
  gboolean blank; /* all of it is zero */
} TmGgufInfo;

/* infos: one TmGgufInfo a stored tensor of model, which has name, shape, source and byte order. header_end: first byte
 * after the infos. FALSE where the list itself cannot be right. */
gboolean tm_gguf_lay_out (TmSource *source, TmModel *model, const GArray *infos, guint64 header_end, guint64 alignment,
                          GError **error);

G_END_DECLS
