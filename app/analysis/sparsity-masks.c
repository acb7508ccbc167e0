#include "analysis/sparsity-masks.h"

#include <math.h>
#include <string.h>

/* --- Bits --------------------------------------------------------------------------------------------------------- */

struct _TmBits
{
  guint64 n;
  guint64 word[];
};

TmBits *
tm_bits_new (guint64 n)
{
  TmBits *bits = g_malloc0 (sizeof (TmBits) + (n / 64 + 1) * sizeof (guint64));

  bits->n = n;
  return bits;
}

void
tm_bits_free (TmBits *bits)
{
  g_free (bits);
}

guint64
tm_bits_get_size (const TmBits *bits)
{
  return bits->n;
}

static void
set_bits (TmBits *bits, guint64 word, guint64 mask)
{
  if ((__atomic_load_n (&bits->word[word], __ATOMIC_RELAXED) & mask) != mask)
    __atomic_fetch_or (&bits->word[word], mask, __ATOMIC_RELAXED);
}

void
tm_bits_set (TmBits *bits, guint64 i)
{
  set_bits (bits, i >> 6, G_GUINT64_CONSTANT (1) << (i & 63));
}

gboolean
tm_bits_get (const TmBits *bits, guint64 i)
{
  return (bits->word[i >> 6] >> (i & 63) & 1) != 0;
}

/* --- A tile ------------------------------------------------------------------------------------------------------- */

void
tm_mask_clear (TmMask *mask)
{
  g_free (mask->zero);
  *mask = (TmMask){ 0 };
}

static guint64
low_bits (guint64 n)
{
  return n >= 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << n) - 1;
}

void
tm_mask_set (TmMask *mask, const float *values, gsize rows, gsize columns, guint64 *zeros, guint64 *negative_zeros)
{
  mask->rows = rows;
  mask->columns = columns;
  mask->words = (columns + 63) / 64;
  *zeros = *negative_zeros = 0;
  if (mask->size < rows * mask->words)
    {
      mask->size = rows * mask->words;
      mask->zero = g_renew (guint64, mask->zero, mask->size);
    }
  for (gsize r = 0; r < rows; r++)
    for (gsize w = 0; w < mask->words; w++)
      {
        const float *from = values + r * columns + w * 64;
        gsize n = MIN (columns - w * 64, 64);
        guint64 word = 0, negative = 0;

        for (gsize i = 0; i < n; i++)
          {
            guint32 bits;

            memcpy (&bits, from + i, sizeof bits);
            word |= (guint64) (bits << 1 == 0) << i;
            negative += bits == 0x80000000u;
          }
        mask->zero[r * mask->words + w] = word;
        *zeros += (guint64) __builtin_popcountll (word);
        *negative_zeros += negative;
      }
}

gboolean
tm_mask_is_zero (const TmMask *mask, gsize row, gsize column, gsize count)
{
  const guint64 *words = mask->zero + row * mask->words;

  while (count > 0)
    {
      gsize at = column & 63, n = MIN (count, 64 - at);
      guint64 wanted = low_bits (n) << at;

      if ((words[column >> 6] & wanted) != wanted)
        return FALSE;
      column += n;
      count -= n;
    }
  return TRUE;
}

void
tm_mask_mark_lines (const TmMask *mask, guint64 first_row, guint64 first_column, TmBits *rows_used, TmBits *columns_used)
{
  for (gsize w = 0; w < mask->words; w++)
    {
      guint64 valid = low_bits (mask->columns - w * 64), all = 0;

      for (gsize r = 0; r < mask->rows; r++)
        {
          guint64 used = ~mask->zero[r * mask->words + w] & valid;

          all |= used;
          if (used != 0)
            tm_bits_set (rows_used, first_row + r);
        }
      set_bits (columns_used, first_column / 64 + w, all);
    }
}

/* --- Patterns ----------------------------------------------------------------------------------------------------- */

/* Stricter ones first among those that imply each other. */
static const struct { guint n, m; } patterns[TM_SPARSITY_PATTERNS] = {
  { 1, 8 }, { 1, 4 }, { 2, 8 }, { 1, 2 }, { 2, 4 }, { 4, 8 }, { 8, 16 },
};

/* In every field of m bits: its number of ones, plus so much that the field's highest bit tells whether they are at least
 * m − n. Pairs have no room for that, and are told by their two bits. */
static guint64
find_complying (guint64 zero, guint n, guint m)
{
  static const guint64 ones[5] = { 0, G_GUINT64_CONSTANT (0x5555555555555555), G_GUINT64_CONSTANT (0x1111111111111111),
                                   G_GUINT64_CONSTANT (0x0101010101010101), G_GUINT64_CONSTANT (0x0001000100010001) };
  guint64 sums = zero;
  guint field = 1, at = 0;

  if (m == 2)
    return (zero | zero >> 1) & ones[1];
  for (; field < m; field *= 2)
    {
      guint64 lower = ones[++at] * ((G_GUINT64_CONSTANT (1) << field) - 1);

      sums = (sums & lower) + (sums >> field & lower);
    }
  return (sums + ones[at] * ((1u << (m - 1)) - (m - n))) & ones[at] * (1u << (m - 1));
}

static void
count_word (guint64 zero, gsize valid, TmMaskSums *sums)
{
  sums->elements += valid;
  sums->zeros += (guint64) __builtin_popcountll (zero);
  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    {
      guint m = patterns[i].m;
      gsize whole = valid / m;

      sums->groups[i] += whole;
      sums->complying[i] += (guint64) __builtin_popcountll (find_complying (zero & low_bits (whole * m), patterns[i].n, m)
                                                            & low_bits (whole * m));
    }
}

void
tm_mask_count_patterns (const TmMask *mask, TmMaskSums *sums)
{
  for (gsize r = 0; r < mask->rows; r++)
    for (gsize w = 0; w < mask->words; w++)
      count_word (mask->zero[r * mask->words + w], MIN (mask->columns - w * 64, 64), sums);
}

void
tm_mask_count_channels (const TmMask *mask, gsize first_row, gsize n_rows, guint64 inner, TmMaskSums *sums)
{
  guint64 channels = n_rows * mask->columns / inner;

  for (guint64 place = 0; place < inner; place++)
    for (guint64 first = 0; first < channels; first += 64)
      {
        gsize n = (gsize) MIN (channels - first, 64);
        guint64 zero = 0;

        for (gsize i = 0; i < n; i++)
          {
            guint64 flat = (first + i) * inner + place;
            gsize row = first_row + (gsize) (flat / mask->columns), column = (gsize) (flat % mask->columns);

            zero |= (mask->zero[row * mask->words + (column >> 6)] >> (column & 63) & 1) << i;
          }
        count_word (zero, n, sums);
      }
}

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

static guint64
count_zero_blocks (guint64 used, gsize n, guint size)
{
  guint64 found = 0;

  for (gsize i = 0; i < n; i++)
    found += (used >> (i * size) & low_bits (size)) == 0;
  return found;
}

void
tm_mask_count_blocks (const TmMask *mask, guint64 matrix_rows, TmMaskSums *sums)
{
  for (guint i = 0; i < TM_SPARSITY_BLOCKS; i++)
    {
      guint size = 4u << i;

      for (gsize row = 0; row < mask->rows; row++)
        for (gsize w = 0; w < mask->words; w++)
          {
            gsize n = MIN (mask->columns - w * 64, 64) / size;

            sums->row_blocks[i] += n;
            sums->zero_row_blocks[i] += count_zero_blocks (~mask->zero[row * mask->words + w], n, size);
          }
      if (matrix_rows % size != 0)
        continue;
      for (gsize row = 0; row + size <= mask->rows; row += size)
        for (gsize w = 0; w < mask->words; w++)
          {
            gsize n = MIN (mask->columns - w * 64, 64) / size;
            guint64 used = 0;

            for (gsize r = row; r < row + size; r++)
              used |= ~mask->zero[r * mask->words + w];
            sums->blocks[i] += n;
            sums->zero_blocks[i] += count_zero_blocks (used, n, size);
          }
    }
}

/* --- Result ------------------------------------------------------------------------------------------------------- */

void
tm_mask_sums_add (TmMaskSums *sums, const TmMaskSums *other)
{
  sums->elements += other->elements;
  sums->zeros += other->zeros;
  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    {
      sums->groups[i] += other->groups[i];
      sums->complying[i] += other->complying[i];
    }
  for (guint i = 0; i < TM_SPARSITY_BLOCKS; i++)
    {
      sums->blocks[i] += other->blocks[i];
      sums->zero_blocks[i] += other->zero_blocks[i];
      sums->row_blocks[i] += other->row_blocks[i];
      sums->zero_row_blocks[i] += other->zero_row_blocks[i];
    }
}

/* Groups that chance would have failed: that none did has a probability of e to minus that. */
#define SURE 6.0
#define SURE_OF_CODES 20.0
#define FEWEST_OF_TWO_BITS 10000u
#define FAR_SIGMAS 10.0
/* Of the way from chance to all: rows differ, and zeros of codes cluster by scale, so a mere excess says nothing. */
#define FAR_SHARE 0.3
#define FAR_SHARE_OF_CODES 0.5
#define AS_MANY 0.9
#define BLOCKED 0.95   /* share of the zeros that zero blocks have to hold */

static void
finish_pattern (TmSparsityPattern *pattern, double p, guint code_bits)
{
  double groups = (double) pattern->groups, share = groups > 0 ? (double) pattern->complying / groups : 0;
  double failing = groups * (1 - pattern->chance), sigma = sqrt (pattern->chance * (1 - pattern->chance) / MAX (groups, 1));
  double least = 1 - (double) pattern->n / pattern->m, excess = share - pattern->chance;

  if (pattern->groups == 0 || failing <= (code_bits > 0 ? SURE_OF_CODES : SURE)
      || (code_bits > 0 && code_bits <= 2 && pattern->groups < FEWEST_OF_TWO_BITS))
    return;
  if (pattern->complying == pattern->groups)
    pattern->holds = p >= least - 1e-12;
  else
    pattern->mostly = excess > FAR_SIGMAS * sigma
                      && excess > (code_bits > 0 ? FAR_SHARE_OF_CODES : FAR_SHARE) * (1 - pattern->chance);
}

/* Zeros of the stricter one are enough for the other, however they lie. */
static gboolean
implies (const TmSparsityPattern *a, const TmSparsityPattern *b)
{
  return b->m % a->m == 0 ? a->n * (b->m / a->m) <= b->n : a->m % b->m == 0 && a->n <= b->n;
}

static double
get_share (const TmSparsityPattern *pattern)
{
  return (double) pattern->complying / (double) MAX (pattern->groups, 1);
}

/* A pattern makes others more frequent too: of those that mostly hold the one of most groups is told, the strictest
 * of those with about as many, and none where one holds. */
static void
keep_most (TmSparsityPattern *pattern)
{
  gboolean done = FALSE;
  double most = 0;

  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    {
      done = done || pattern[i].holds;
      if (pattern[i].mostly)
        most = MAX (most, get_share (&pattern[i]));
    }
  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    {
      pattern[i].mostly = pattern[i].mostly && !done && get_share (&pattern[i]) >= AS_MANY * most;
      done = done || pattern[i].mostly;
    }
}

guint
tm_mask_sums_find_patterns (const TmMaskSums *sums, guint code_bits, TmSparsityPattern pattern[TM_SPARSITY_PATTERNS])
{
  double p = sums->elements > 0 ? (double) sums->zeros / (double) sums->elements : 0;

  if (sums->elements == 0)
    return 0;
  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    {
      pattern[i] = (TmSparsityPattern){ .n = patterns[i].n, .m = patterns[i].m, .groups = sums->groups[i],
                                        .complying = sums->complying[i],
                                        .chance = tm_sparsity_get_chance (patterns[i].n, patterns[i].m, p) };
      finish_pattern (&pattern[i], p, code_bits);
    }
  for (guint i = 0; i < TM_SPARSITY_PATTERNS; i++)
    for (guint j = 0; j < TM_SPARSITY_PATTERNS; j++)
      if (i != j && implies (&pattern[j], &pattern[i]) && pattern[j].holds)
        pattern[i].implied = TRUE;
  keep_most (pattern);
  return TM_SPARSITY_PATTERNS;
}

static gboolean
holds_zeros (guint64 zero_blocks, guint64 blocks, double p)
{
  return zero_blocks > 0 && (double) zero_blocks / (double) blocks >= BLOCKED * p;
}

void
tm_mask_sums_find_blocks (const TmMaskSums *sums, TmSparsity *result)
{
  double p = sums->elements > 0 ? (double) sums->zeros / (double) sums->elements : 0;

  for (guint i = 0; i < TM_SPARSITY_BLOCKS; i++)
    {
      result->blocks[i] = sums->blocks[i];
      result->zero_blocks[i] = sums->zero_blocks[i];
      if (holds_zeros (sums->zero_blocks[i], sums->blocks[i], p))
        result->block_size = 4u << i;
      result->row_blocks[i] = sums->row_blocks[i];
      result->zero_row_blocks[i] = sums->zero_row_blocks[i];
      /* Zero rows are told by themselves. */
      if (holds_zeros (sums->zero_row_blocks[i], sums->row_blocks[i], p)
          && (double) result->zero_rows * (double) result->columns < BLOCKED * (double) sums->zeros)
        result->row_block_size = 4u << i;
    }
  for (guint i = 0; i < result->n_patterns && (result->block_size > 0 || result->row_block_size > 0); i++)
    result->pattern[i].mostly = FALSE; /* blocks make groups of them too */
}
