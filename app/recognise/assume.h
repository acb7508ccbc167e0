/* Assumptions: readings that a file leaves open. The product decides by evidence, says so (TmAssumption on the model), and a
 * person may decide otherwise, for one tensor or for the whole model (TmAssume; --assume KEY=VALUE). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Keys and their values as cli.md lists them:
 *   gptq-zeros=v1|v2   nibbles=interleaved|linear   bits=N   group=N   fp4-order=low|high   packing=padded|dense
 *   global-scale=factor|divisor   float8=fn|fnuz   g-idx=literal|sequential   void=bf16|f8_e4m3|… */

typedef struct _TmAssume TmAssume;

TmAssume *tm_assume_new (void);
void tm_assume_free (TmAssume *assume);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmAssume, tm_assume_free)

/* tensor: logical name, or NULL for the whole model. FALSE: unknown key (the message lists all) or value that does not fit. */
gboolean tm_assume_set (TmAssume *assume, const char *tensor, const char *key, const char *value, GError **error);
void tm_assume_unset (TmAssume *assume, const char *tensor, const char *key);
/* The tensor's own choice, else the model's, else NULL. assume may be NULL. */
const char *tm_assume_get (const TmAssume *assume, const char *tensor, const char *key);
gboolean tm_assume_is_empty (const TmAssume *assume);
TmAssume *tm_assume_copy (const TmAssume *assume);
/* NULL-terminated "KEY=VALUES" lines for help and messages. */
const char *const *tm_assume_get_keys (void);

G_END_DECLS
