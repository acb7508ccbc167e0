#include "io/error.h"

G_DEFINE_QUARK (tm-error-quark, tm_error)
