/* The table of facts as it is made. Internal to backends. */
#pragma once

#include "analysis/backends.h"

G_BEGIN_DECLS

/* Sorted by scheme, backend, operation; numbers into the tables below. */
typedef struct { guint8 scheme, backend, operation, state; guint16 needs, note, source; } TmSupportRow;
/* dtype NULL, bits 0, group 0: any. scheme −1: no more. */
typedef struct { const char *convention, *dtype; guint bits, group; gint8 scheme[2]; } TmSupportMatch;

extern const char tm_backends_as_of[];
extern const TmBackend tm_backend_rows[];
extern const guint tm_n_backend_rows;
extern const char *const tm_support_schemes[];
extern const guint tm_n_support_schemes;
extern const TmSupportMatch tm_support_matches[];
extern const guint tm_n_support_matches;
extern const char *const tm_support_needs[], *const tm_support_notes[], *const tm_support_sources[];
extern const TmSupportRow tm_support_rows[];
extern const guint tm_n_support_rows;

G_END_DECLS
