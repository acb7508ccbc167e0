/* One scalar record: what cli.md's `scalar` prints, and what inspector, tooltip and "copy record" print too.
 *
 * value = scale × (raw − zero_point) where there is a zero point; scale × raw + offset where there is an offset;
 * codebook and float codes say so in formula and give the looked-up number in terms. */
#pragma once

#include <glib.h>

#include "io/source.h"

G_BEGIN_DECLS

#define TM_SCALAR_MAX_TERMS 12
#define TM_SCALAR_MAX_LOCATIONS 16 /* a big-endian C128: a piece a byte */

typedef enum
{
  TM_NUMBER_F32, TM_NUMBER_F64, TM_NUMBER_I64, TM_NUMBER_U64, TM_NUMBER_BOOL,
  TM_NUMBER_COMPLEX,  /* re, im; float32 parts for C64 */
  TM_NUMBER_COMPLEX128,
  TM_NUMBER_TEXT,
} TmNumberKind;

typedef struct
{
  TmNumberKind kind;
  union { float f32; double f64; gint64 i64; guint64 u64; gboolean b; struct { double re, im; } c; } as;
  char *text;         /* TM_NUMBER_TEXT; owned */
  guint8 stored_bool; /* the byte of a BOOL */
} TmNumber;

typedef struct
{
  const char *name; /* static: "d", "sc", "q", "grid", "lane", "sign" */
  TmNumber value;   /* F32, F64 or I64 */
} TmTerm;

typedef struct
{
  TmSource *source; /* borrowed from the stored tensor */
  guint64 byte;     /* offset in source */
  guint bit;        /* lowest bit of the piece within byte (0 … 7); pieces longer than a byte start at bit 0 */
  guint bits;
} TmLocation;

typedef struct
{
  const void *tensor; /* const TmTensor * */
  guint64 *index;     /* rank numbers; owned */
  guint rank;

  gboolean has_raw;
  gint64 raw;               /* exactly as stored, before any offset */
  guint raw_bits;           /* width of the stored pattern in bits; 0 where there is none (text) */
  guint64 pattern[2];       /* stored bit pattern, low half first; the number's bits whatever the byte order */
  gboolean has_scale, scale_is_f64;
  double scale;             /* effective: all levels multiplied */
  gboolean has_zero_point;
  double zero_point;
  gboolean has_offset;
  double offset;

  TmNumber value;           /* float32 of the reference implementation, or the ordinary value */
  gboolean has_exact;       /* the exact number differs from value: here it is, rounded to binary64 */
  double exact;

  gboolean has_group;
  guint group_level;        /* index of the finest level */
  guint64 *group_start, *group_end; /* half-open, counted shape, group_rank numbers; owned */
  guint group_rank;

  const char *formula;      /* static: "d × sc × (q − 32)"; NULL for an ordinary dtype */
  TmTerm term[TM_SCALAR_MAX_TERMS];
  guint n_terms;
  TmLocation location[TM_SCALAR_MAX_LOCATIONS]; /* pieces of raw from its low bits up */
  guint n_locations;
} TmScalar;

/* Zeroes a record; clear frees what it owns and zeroes it. For stack use with g_auto (TmScalar). */
#define TM_SCALAR_INIT { 0 }
void tm_scalar_clear (TmScalar *scalar);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmScalar, tm_scalar_clear)

void tm_scalar_add_term_f32 (TmScalar *scalar, const char *name, float value);
void tm_scalar_add_term_f64 (TmScalar *scalar, const char *name, double value);
void tm_scalar_add_term_int (TmScalar *scalar, const char *name, gint64 value);
void tm_scalar_add_location (TmScalar *scalar, TmSource *source, guint64 byte, guint bit, guint bits);
const TmTerm *tm_scalar_get_term (const TmScalar *scalar, const char *name); /* NULL if none */

/* --- Texts: one writer for CLI, inspector, tooltip and clipboard (transfer full) -------------------------------- */

/* The JSON object of cli.md, one line, no newline at the end. */
char *tm_scalar_to_json (const TmScalar *scalar);
/* Aligned lines for people: the text of `scalar` without --json and of "copy record". */
char *tm_scalar_to_text (const TmScalar *scalar);
/* "0.012930393", "NaN", "true": the value in the shortest text that reads back. */
char *tm_scalar_format_value (const TmScalar *scalar);
/* The formula with its numbers: "3.1232834e-05 × 46 × (41 − 32)"; NULL where there is no formula. */
char *tm_scalar_format_formula (const TmScalar *scalar);
/* "0x29", "0x3f800000": raw_bits wide; NULL where raw_bits is 0. */
char *tm_scalar_format_hex (const TmScalar *scalar);
char *tm_scalar_format_bits (const TmScalar *scalar); /* "101001" */
char *tm_number_format (const TmNumber *number);

G_END_DECLS
