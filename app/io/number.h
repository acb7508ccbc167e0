/* Numbers as text, the same in every locale. (transfer full) unless it says otherwise. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TM_NUMBER_SIZE 40 /* enough for any number below, NUL included */

/* Fewest significant digits that read back to the same float32 / float64. "NaN", "Infinity", "-Infinity" and "-0.0" are
 * spelled so; whole numbers have no point ("3", "-0.0" excepted); exponents as in "3.1232834e-05". Writes into buffer. */
char *tm_format_float32 (char buffer[TM_NUMBER_SIZE], float value);
char *tm_format_float64 (char buffer[TM_NUMBER_SIZE], double value);
/* Fewest digits that read back to the same number of a narrower float, given by its significant bits and the float32 it
 * decodes to (F16: 11, BF16: 8, F8_E4M3: 4, F8_E5M2: 3 …): shortest decimal closer to value than to its neighbours;
 * whole numbers below 2^24 exactly ("448"). */
char *tm_format_narrow_float (char buffer[TM_NUMBER_SIZE], float value, guint significant_bits);
/* The exact decimal expansion of a double (finite): for "exact value" on hover. (transfer full) */
char *tm_format_exact (double value);

/* For people: counts "1 100 048 384" with thin spaces (U+2009); "1.10 B"; "636 MiB" (binary units). */
char *tm_format_count (guint64 n);
char *tm_format_parameters (guint64 n);
char *tm_format_size (guint64 bytes);
/* Rounded to what fits in max_chars characters, for cells on the canvas. Writes into buffer. */
char *tm_format_cell (char buffer[TM_NUMBER_SIZE], float value, guint max_chars);

/* Decimal digits only, 64 bits, overflow is FALSE. length −1: NUL-terminated. */
gboolean tm_parse_u64 (const char *text, gssize length, guint64 *value);

G_END_DECLS
