/* Sparsity by cause: which elements are zero, and why. A zero is an element whose value is 0, whatever its code and zero point.
 *
 * With a reference (an aligned pair) the causes are exact. Without one they are estimated, from how many elements have the
 * codes next to the one for zero; where that says nothing, it says so. Certain in both cases: groups, rows, columns and blocks
 * of nothing but zeros, and N:M patterns against what chance would give. */
#pragma once

#include "analysis/align.h"
#include "io/json-writer.h"

G_BEGIN_DECLS

#define TM_SPARSITY_LIST 32      /* rows, columns and groups named; all are counted */
#define TM_SPARSITY_BLOCKS 5     /* square blocks of 4, 8, 16, 32, 64 */
#define TM_SPARSITY_PATTERNS 7

/* n of m elements next to each other along the input axis are kept: at least m − n are zero. Groups are aligned; a rest at
 * the end of a row is left out. The input axis is the last one, of convolutions (four axes or five) the second. */
typedef struct
{
  guint n, m;
  guint64 groups, complying;
  double chance;       /* share of groups that would comply if the zeros were strewn */
  gboolean holds;      /* all comply, at least half is zero, and chance does not explain it */
  gboolean mostly;     /* not all, and far more than chance */
  gboolean implied;    /* by a stricter pattern that holds; not named */
} TmSparsityPattern;

typedef enum
{
  TM_ESTIMATE_NONE,          /* not asked for: ordinary dtype, or there is a reference */
  TM_ESTIMATE_UNTOLD,        /* cannot be told without the original; why says why */
  TM_ESTIMATE_ROUNDING,      /* rounding alone explains the zeros: the interval begins at 0, or too near to it */
  TM_ESTIMATE_PRUNED,        /* there were zeros before quantization */
} TmEstimateVerdict;

typedef struct
{
  TmEstimateVerdict verdict;
  const char *why;             /* static; UNTOLD */
  double pruned_low, pruned_high; /* elements; of ROUNDING and PRUNED */
  guint64 in_zero_code;        /* elements in the code for zero, or nearest to zero */
  guint64 of;                  /* elements it was made from: those with a scale */
} TmSparsityEstimate;

typedef enum
{
  TM_ZERO_NONE,                /* not zero, nor was it */
  TM_ZERO_PRUNED,              /* zero in the reference */
  TM_ZERO_ROUNDED,             /* not zero in the reference, at most half a step from it */
  TM_ZERO_FORCED,              /* not zero in the reference, and farther */
  TM_ZERO_REVIVED,             /* zero in the reference, and no longer */
  TM_ZERO_PLAIN,               /* zero, and nothing is known of the reference */
  TM_ZERO_NO_SCALE,            /* likewise, and certain: the scale of its group is 0 */
  TM_N_ZERO_CAUSES
} TmZeroCause;

/* Immutable. */
typedef struct
{
  gint ref_count;
  guint tensor;
  char *fault;                 /* NULL, or why it cannot be read; then nothing below counts */
  guint64 count, zeros, negative_zeros;
  gboolean no_zero_code;       /* quantized with an offset: no code is for zero, but by accident */

  gboolean has_groups;         /* quantized, and the groups lie so that they can be counted */
  guint64 groups, zero_groups; /* of the finest granularity; zero: all their values are */
  guint64 zero_scales;         /* groups whose scale is 0 */
  guint64 rows, columns;       /* last axis: columns; all others: rows */
  guint64 zero_rows, zero_columns;
  guint64 zero_row[TM_SPARSITY_LIST], zero_column[TM_SPARSITY_LIST], zero_group[TM_SPARSITY_LIST]; /* the first ones */

  TmSparsityPattern pattern[TM_SPARSITY_PATTERNS];
  guint n_patterns;            /* 0: fewer than two axes */
  guint64 blocks[TM_SPARSITY_BLOCKS], zero_blocks[TM_SPARSITY_BLOCKS]; /* whole ones, of 4 << i */
  guint block_size;            /* largest whose zero share is nearly that of the elements; 0: zeros do not lie in blocks */
  guint64 row_blocks[TM_SPARSITY_BLOCKS], zero_row_blocks[TM_SPARSITY_BLOCKS]; /* the same of blocks of one row */
  guint row_block_size;

  gboolean has_reference;
  guint64 compared;            /* elements that have a counterpart */
  guint64 reference_zeros;
  guint64 pruned, rounded, revived;
  guint64 forced;              /* of rounded: farther than half a step */
  guint64 without_scale;       /* of rounded, or without a reference of zeros: the scale of the group is 0 */
  guint64 kept_nonzero;        /* neither is zero */
  TmSparsityPattern reference_pattern[TM_SPARSITY_PATTERNS]; /* of the reference, as it is read */
  guint n_reference_patterns;
  TmSparsityEstimate estimate;
} TmSparsity;

TmSparsity *tm_sparsity_ref (TmSparsity *sparsity);
void tm_sparsity_unref (TmSparsity *sparsity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmSparsity, tm_sparsity_unref)

/* One tensor each, in the order of tensors (NULL: all of the model). alignment (may be NULL): what model is the candidate of;
 * tensors without a counterpart are looked at without. Blocking, with threads of its own. Errors: G_IO_ERROR_CANCELLED alone.
 * (transfer full) (element-type TmSparsity) */
GPtrArray *tm_sparsity_run (TmModel *model, TmAlignment *alignment, const guint *tensors, guint n, TmProgressFunc progress,
                            gpointer data, GCancellable *cancellable, GError **error);

/* Causes of elements first … first + count − 1 (TmZeroCause), for pictures and tooltips. alignment may be NULL. */
gboolean tm_sparsity_classify (TmModel *model, TmAlignment *alignment, guint tensor, guint64 first, gsize count, guint8 *causes,
                               GCancellable *cancellable, GError **error);
/* A model like the candidate, tensor for tensor, whose values are the causes' numbers, to be shown as tiles: as the error
 * model of diff.h. (transfer full) */
TmModel *tm_sparsity_new_cause_model (TmModel *model, TmAlignment *alignment);

/* Names of patterns that hold, "2:4", or mostly do, "mostly 2:4". (transfer full) (element-type char *) */
GPtrArray *tm_sparsity_list_patterns (const TmSparsity *sparsity);
GPtrArray *tm_sparsity_list_reference_patterns (const TmSparsity *sparsity);
/* "16×16", "1×32": the largest blocks that zeros lie in; NULL where they do not. (transfer full) */
char *tm_sparsity_format_block (const TmSparsity *sparsity);
/* "38.2 % zeros in the codes; 9.1–10.1 % were zero before quantization, the rest rounded to zero": never a number without
 * its interval. (transfer full) */
char *tm_sparsity_describe (const TmSparsity *sparsity);
/* How many elements each cause has; TM_ZERO_NONE: the rest. Sums up to count. */
void tm_sparsity_count_causes (const TmSparsity *sparsity, guint64 cause[TM_N_ZERO_CAUSES]);
/* What is certain whatever the causes: "2:4", "3 rows of zeros", …; NULL: nothing. (transfer full) */
char *tm_sparsity_describe_facts (const TmSparsity *sparsity);
/* What the estimate says, and how sure it is; NULL: there is none. (transfer full) */
char *tm_sparsity_describe_estimate (const TmSparsity *sparsity);
const char *tm_zero_cause_get_name (TmZeroCause cause); /* "pruned", … */
/* The object of `sparsity --json`. */
void tm_sparsity_write_json (TmJsonWriter *json, const TmSparsity *sparsity, TmModel *model);
/* The same with what else there is to say. */
void tm_sparsity_write_full_json (TmJsonWriter *json, const TmSparsity *sparsity, TmModel *model);

/* Share of groups of m with at least m − n zeros, of zeros strewn with share p. */
double tm_sparsity_get_chance (guint n, guint m, double p);

/* The estimate alone, from counts: zero of the code for zero, above[0], above[1] of the two next above it, below[0], below[1]
 * of those below. below NULL: zero is at the end of the codes, and only half of what rounds to it is there. */
void tm_sparsity_estimate (guint64 of, guint64 zero, const guint64 above[2], const guint64 below[2], guint code_bits,
                           guint codes_used, TmSparsityEstimate *estimate);

G_END_DECLS
