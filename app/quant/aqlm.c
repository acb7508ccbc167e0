/* AQLM: a code picks a vector of out_group × in_group numbers out of each of several books; their sum times the row's scale
 * is a block of the weight. No scalar has an integer of its own.
 *
 *   codes      I8 or I16 [O/og, I/ig, books], unsigned (taken mod the book's length)
 *   codebooks  [books, entries, og, ig]
 *   scales     [O/og, 1, 1, 1]
 *
 * value = (book 0 + book 1 + …) × scale, sums in float32 in the order of the books. */
#include "quant/aqlm.h"

#include <string.h>

#include "quant/grouped.h"
#include "quant/operand.h"

#define VECTORS 512u /* whose codes are read at once */

/* The element's place: which vector, and which lane of it. */
typedef struct
{
  guint64 out_group, vector;
  guint lane;
} Place;

static Place
find_place (const TmAqlm *aqlm, guint64 flat)
{
  const guint64 row = flat / aqlm->columns, column = flat % aqlm->columns;

  return (Place) { .out_group = row / aqlm->out_group,
                   .vector = row / aqlm->out_group * (aqlm->columns / aqlm->in_group) + column / aqlm->in_group,
                   .lane = (guint) (row % aqlm->out_group * aqlm->in_group + column % aqlm->in_group) };
}

/* Codes of n vectors, one after the other; packed is at least as large. */
static gboolean
read_codes (const TmAqlm *aqlm, guint64 vector, gsize n, guint16 *code, GError **error)
{
  const guint size = tm_dtype_get_info (aqlm->codes->dtype)->block_bytes;
  const gsize count = n * aqlm->n_books;
  const guint mask = aqlm->n_entries - 1;
  guint8 packed[2 * TM_AQLM_MAX_BOOKS * VECTORS];

  if (!tm_stored_read (aqlm->codes, vector * aqlm->n_books * size, count * size, packed, error))
    return FALSE;
  for (gsize i = 0; i < count; i++)
    code[i] = (guint16) ((size == 1 ? packed[i] : (guint) packed[2 * i] | (guint) packed[2 * i + 1] << 8) & mask);
  return TRUE;
}

/* The books in memory, read once by whichever thread needs them first; NULL with error set where they cannot be read. */
static const float *
get_books (TmAqlm *aqlm, GError **error)
{
  const float *books;

  g_mutex_lock (&aqlm->mutex);
  if (aqlm->books == NULL)
    aqlm->books = tm_operand_load_f32 (aqlm->codebooks, TM_AQLM_MAX_NUMBERS, error);
  books = aqlm->books;
  g_mutex_unlock (&aqlm->mutex);
  return books;
}

/* A whole vector of the usual eight: lengths that the compiler knows. */
static void
sum_eight (const TmAqlm *aqlm, const float *books, const guint16 *code, float scale, float *restrict out)
{
  float sum[8] = { 0 };

  for (guint b = 0; b < aqlm->n_books; b++, books += (gsize) aqlm->n_entries * 8)
    for (guint i = 0; i < 8; i++)
      sum[i] += books[(gsize) code[b] * 8 + i];
  for (guint i = 0; i < 8; i++)
    out[i] = sum[i] * scale;
}

/* n numbers of the vector from lane on: the sum over the books. */
static void
sum_books (const TmAqlm *aqlm, const float *books, const guint16 *code, guint lane, gsize n, float *out)
{
  const guint group = aqlm->out_group * aqlm->in_group;

  for (gsize i = 0; i < n; i++)
    out[i] = 0;
  for (guint b = 0; b < aqlm->n_books; b++)
    {
      const float *entry = books + ((gsize) b * aqlm->n_entries + code[b]) * group + lane;

      for (gsize i = 0; i < n; i++)
        out[i] += entry[i];
    }
}

static gboolean
values (const TmTensor *tensor, guint64 first, gsize count, float *out, GError **error)
{
  TmAqlm *aqlm = tensor->codec_data;
  const float *books = get_books (aqlm, error);
  guint64 held = G_MAXUINT64;
  float scale = 0;

  if (books == NULL)
    return FALSE;
  while (count > 0)
    { /* as much of one row as is asked for, some hundred vectors at a time */
      const guint64 column = first % aqlm->columns;
      const guint into = (guint) (column % aqlm->in_group);
      Place place = find_place (aqlm, first);
      gsize n = (gsize) MIN ((guint64) MIN (count, (gsize) VECTORS * aqlm->in_group - into), aqlm->columns - column);
      guint lane = place.lane;
      guint16 code[TM_AQLM_MAX_BOOKS * VECTORS];

      if (!read_codes (aqlm, place.vector, (into + n - 1) / aqlm->in_group + 1, code, error)
          || (place.out_group != held && !tm_operand_read_f32 (aqlm->scales, place.out_group, 1, &scale, error)))
        return FALSE;
      held = place.out_group;
      count -= n;
      first += n;
      for (const guint16 *at = code; n > 0; at += aqlm->n_books)
        {
          gsize k = MIN (n, aqlm->in_group - lane % aqlm->in_group);

          if (k == 8 && aqlm->out_group * aqlm->in_group == 8)
            sum_eight (aqlm, books, at, scale, out);
          else
            {
              sum_books (aqlm, books, at, lane, k, out);
              for (gsize i = 0; i < k; i++)
                out[i] *= scale;
            }
          lane -= lane % aqlm->in_group; /* the next vector's same row of lanes */
          out += k;
          n -= k;
        }
    }
  return TRUE;
}

static gboolean
has_parameter (const TmTensor *tensor, TmQuantity quantity)
{
  (void) tensor;
  return quantity == TM_QUANTITY_SCALE;
}

static gboolean
parameter (const TmTensor *tensor, TmQuantity quantity, guint64 first, gsize count, float *out, GError **error)
{
  const TmAqlm *aqlm = tensor->codec_data;

  (void) quantity;
  while (count > 0)
    {
      gsize n = (gsize) MIN ((guint64) count, aqlm->columns - first % aqlm->columns);
      float scale;

      if (!tm_operand_read_f32 (aqlm->scales, find_place (aqlm, first).out_group, 1, &scale, error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        out[i] = scale;
      out += n;
      first += n;
      count -= n;
    }
  return TRUE;
}

static gboolean
explain (const TmTensor *tensor, guint64 flat, TmScalar *scalar, GError **error)
{
  static const char *const code_name[] = { "code0", "code1", "code2", "code3" };
  static const char *const level_name[] = { "level0", "level1", "level2", "level3" };
  static const char *const formula[]
      = { "level0 × scale", "(level0 + level1) × scale", "(level0 + level1 + level2) × scale",
          "(level0 + level1 + level2 + level3) × scale" };
  TmAqlm *aqlm = tensor->codec_data;
  const guint group = aqlm->out_group * aqlm->in_group;
  const float *books = get_books (aqlm, error);
  Place place = find_place (aqlm, flat);
  guint16 code[TM_AQLM_MAX_BOOKS];
  float scale, sum = 0;
  double exact = 0;

  if (books == NULL || !read_codes (aqlm, place.vector, 1, code, error)
      || !tm_operand_read_f32 (aqlm->scales, place.out_group, 1, &scale, error))
    return FALSE;
  for (guint b = 0; b < aqlm->n_books; b++)
    {
      float level = books[((gsize) b * aqlm->n_entries + code[b]) * group + place.lane];

      sum += level;
      exact += (double) level;
      if (b < G_N_ELEMENTS (code_name))
        {
          tm_scalar_add_term_int (scalar, code_name[b], code[b]);
          tm_scalar_add_term_f32 (scalar, level_name[b], level);
        }
    }
  tm_scalar_add_term_f32 (scalar, "scale", scale);
  if (aqlm->n_books > G_N_ELEMENTS (code_name))
    tm_scalar_add_term_f32 (scalar, "sum", sum);
  tm_scalar_add_term_int (scalar, "lane", place.lane);
  scalar->has_scale = TRUE;
  scalar->scale = (double) scale;
  scalar->formula = aqlm->n_books <= G_N_ELEMENTS (formula) ? formula[aqlm->n_books - 1] : "sum × scale";
  tm_scalar_set_f32 (scalar, sum * scale, exact * (double) scale);
  { /* no code of its own: where the vector's codes are */
    const guint bits = tm_dtype_get_info (aqlm->codes->dtype)->bits;

    for (guint b = 0; b < MIN (aqlm->n_books, 4); b++)
      tm_operand_add_location (scalar, aqlm->codes, (place.vector * aqlm->n_books + b) * bits, bits);
  }
  tm_explain_group (tensor, scalar);
  return TRUE;
}

static gboolean
describe_block (const TmTensor *tensor, guint64 flat, TmPacking *packing, GError **error)
{
  TmAqlm *aqlm = tensor->codec_data;
  const float *books = get_books (aqlm, error);
  const guint group = aqlm->out_group * aqlm->in_group, bits = tm_dtype_get_info (aqlm->codes->dtype)->bits;
  const guint book_bits = tm_dtype_get_info (aqlm->codebooks->dtype)->bits;
  const guint scale_bits = tm_dtype_get_info (aqlm->scales->dtype)->bits;
  Place place = find_place (aqlm, flat);
  guint16 code[TM_AQLM_MAX_BOOKS];
  float scale;

  if (books == NULL || !read_codes (aqlm, place.vector, 1, code, error)
      || !tm_operand_read_f32 (aqlm->scales, place.out_group, 1, &scale, error))
    return FALSE;
  packing->title = "codes of one vector, one a book";
  for (guint b = 0; b < aqlm->n_books; b++)
    {
      const guint64 byte = (place.vector * aqlm->n_books + b) * bits / 8;
      const guint64 entry = ((guint64) b * aqlm->n_entries + code[b]) * group;
      TmPackField *field = tm_packing_add_field (packing, aqlm->codes, "codes", "which vector of its book",
                                                 TM_PACK_CODE, byte, 0, bits);

      field->has_number = TRUE;
      field->number = code[b];
      tm_packing_add_field (packing, aqlm->codebooks, "codebooks", "the vector", TM_PACK_CODEBOOK,
                            entry * book_bits / 8, 0, (guint64) group * book_bits)
          ->unit
          = book_bits;
      tm_packing_add_own (packing, aqlm->codes, "code", "which vector of its book", TM_PACK_CODE, byte, 0, bits,
                          code[b]);
      tm_packing_add_own (packing, aqlm->codebooks, "level", "this element's number in it", TM_PACK_CODEBOOK,
                          (entry + place.lane) * book_bits / 8, 0, book_bits, (double) books[entry + place.lane]);
    }
  tm_packing_add_field (packing, aqlm->scales, "scales", "scale of the row", TM_PACK_SCALE,
                        place.out_group * scale_bits / 8, 0, scale_bits);
  tm_packing_add_own (packing, aqlm->scales, "scale", "scale of the row", TM_PACK_SCALE,
                      place.out_group * scale_bits / 8, 0, scale_bits, (double) scale);
  return TRUE;
}

static void
free_data (gpointer pointer)
{
  TmAqlm *aqlm = pointer;

  g_mutex_clear (&aqlm->mutex);
  g_free (aqlm->books);
  g_free (aqlm);
}

static const TmCodec codec = {
  .name = "aqlm",
  .values = values,
  .parameter = parameter,
  .has_parameter = has_parameter,
  .explain = explain,
  .describe_block = describe_block,
  .free_data = free_data,
};

void
tm_codec_attach_aqlm (TmTensor *tensor, const TmAqlm *description)
{
  TmAqlm *aqlm = g_memdup2 (description, sizeof *description);

  aqlm->books = NULL;
  g_mutex_init (&aqlm->mutex);
  tensor->codec_data = aqlm;
  tensor->codec = &codec;
}
