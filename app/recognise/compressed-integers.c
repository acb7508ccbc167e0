/* compressed-tensors with integer codes; a weight [O, I] or, for experts, [E, O, I] with every slice packed alone.
 *
 * pack-quantized
 *   weight_packed      I32 [O, words]      codes along rows, stored as q + 2^(bits − 1); dense, or (older, 3 5 6 7 bits) padded
 *   weight_scale       [O, G]
 *   weight_shape       I64 [2]             O, I
 *   weight_zero_point  I32 [words, G]      packed down columns with the same offset; older: I8 [O, G], without it
 *   weight_g_idx       I32 [I]             −1 throughout: not used
 * int-quantized
 *   weight             I8 [O, I]
 *   weight_scale       [O, 1], [O, G], [O] or one number;   weight_zero_point likewise
 *
 * value = scale × (code − zero point), both as they are stored. */
#include <string.h>

#include "recognise/integer-claim.h"

#define MOST_SLICES 65536u
#define MOST_INDEXED (1u << 26) /* columns of a group index */

extern const TmConvention tm_convention_compressed_integers;

static const char *const suffixes[]
    = { ".weight", ".weight_packed", ".weight_scale", ".weight_zero_point", ".weight_shape", ".weight_g_idx", NULL };

typedef struct
{
  TmFolding *folding;
  const TmBundle *bundle;
  const TmStored *packed, *scale, *zero, *shape, *g_idx;
  guint64 n_slices, n_rows, n_columns, n_groups, group_size;
  guint bits;
  gboolean padded;
  const char *packing_evidence; /* where the number of words does not tell; else NULL */
  guint32 *table;
} Packed;

static TmClaim
refuse (const Packed *q, const char *what, const TmStored *stored)
{
  g_autofree char *shape = tm_claim_format_shape (stored);

  return tm_folding_refuse (q->folding, &tm_convention_compressed_integers, q->bundle, "shape",
                            "%s %s has the shape %s", what, stored->name, shape);
}

/* --- Config ----------------------------------------------------------------------------------------------------------- */

/* Of the config group that the module belongs to; FALSE: it says nothing. */
static gboolean
get_stated (const Packed *q, const char *member, guint64 *number)
{
  return tm_module_settings_get_weights_u64 (tm_folding_get_settings (q->folding), q->bundle->prefix, member, number);
}

static void
check_config (const Packed *q, TmTensor *tensor)
{
  const char *symmetric = tm_module_settings_get_weights (tm_folding_get_settings (q->folding), q->bundle->prefix, "symmetric");
  const char *strategy = tm_module_settings_get_weights (tm_folding_get_settings (q->folding), q->bundle->prefix, "strategy");
  guint64 stated;

  if (get_stated (q, "num_bits", &stated) && stated != q->bits)
    tm_claim_conflict (q->folding, tensor, "%" G_GUINT64_FORMAT " bits, its shapes %u", stated, q->bits);
  if (get_stated (q, "group_size", &stated) && stated > 0
      && (q->n_groups > 1 ? stated != q->group_size : stated < q->n_columns))
    tm_claim_conflict (q->folding, tensor, "groups of %" G_GUINT64_FORMAT ", its shapes %" G_GUINT64_FORMAT, stated,
                       q->group_size);
  else if (strategy && (strcmp (strategy, "channel") == 0 || strcmp (strategy, "tensor") == 0) && q->n_groups > 1)
    tm_claim_conflict (q->folding, tensor, "a scale for each %s, its shapes groups of %" G_GUINT64_FORMAT, strategy,
                       q->group_size);
  if (symmetric && q->zero == NULL && strcmp (symmetric, "false") == 0)
    tm_claim_conflict (q->folding, tensor, "not symmetric, and weight_zero_point is missing: the middle code is taken");
  if (q->g_idx == NULL && q->n_groups > 1
      && g_strcmp0 (tm_module_settings_get_weights (tm_folding_get_settings (q->folding), q->bundle->prefix, "actorder"),
                    "group")
             == 0)
    tm_claim_conflict (q->folding, tensor,
                       "actorder group, and weight_g_idx is missing: columns are taken in sequence, which may be wrong");
  if (symmetric && tensor->symmetric == 0 && strcmp (symmetric, "true") == 0)
    tm_claim_conflict (q->folding, tensor, "symmetric, its zero points are not all the middle code");
}

/* --- Scales and zero points by element -------------------------------------------------------------------------------- */

/* [O, G], [O, 1], [O] or one number, with the slices in front of a rank 3. FALSE: no such shape. */
static gboolean
set_elements (const Packed *q, const TmStored *stored, TmGroupParameter *parameter, guint64 *n_groups)
{
  const guint lead = q->n_slices > 1 ? 1 : 0;
  const guint64 *shape = stored->shape;
  guint rank = stored->rank;

  *parameter = (TmGroupParameter) { .kind = TM_PARAMETER_ELEMENTS, .stored = stored };
  *n_groups = 1;
  if (stored->n_elements == 1 && q->n_slices == 1)
    return TRUE;
  if (rank == 3 && shape[0] == q->n_slices)
    {
      parameter->slice_step = q->n_slices > 1 ? shape[1] * shape[2] : 0;
      shape++;
      rank--;
    }
  else if (lead)
    return FALSE;
  if (rank == 0 || rank > 2 || shape[0] != q->n_rows || stored->n_elements == 0)
    return FALSE;
  *n_groups = rank == 2 ? shape[1] : 1;
  parameter->row_step = *n_groups;
  parameter->group_step = *n_groups > 1 ? 1 : 0;
  return *n_groups <= q->n_columns;
}

static void
guess_group_size (Packed *q)
{
  guint64 stated;

  q->group_size = tm_claim_guess_group_size (q->n_columns, q->n_groups);
  if (get_stated (q, "group_size", &stated))
    tm_claim_take_group_size (stated, q->n_columns, q->n_groups, &q->group_size);
}

static gboolean
is_number (const TmStored *stored)
{
  return tm_operand_is_float (stored) && tm_dtype_get_info (stored->dtype)->bits >= 16;
}

static void
set_symmetry (TmTensor *tensor, const TmPackedInteger *data, const Packed *q, guint middle)
{
  const TmZeroCensus census = tm_claim_count_zeros (&data->zero, q->n_rows, q->n_groups);

  if (data->zero.kind == TM_PARAMETER_NONE || data->zero.kind == TM_PARAMETER_CONSTANT)
    tensor->symmetric = 1;
  else if (census.known)
    tensor->symmetric = census.uniform && census.least == middle;
  else
    tensor->symmetric = 0;
}

static TmTensor *
begin (const Packed *q, TmDtype code, TmPackedInteger **data)
{
  const guint64 shape[3] = { q->n_slices, q->n_rows, q->n_columns };
  const guint rank = q->packed->rank;
  TmTensor *tensor = tm_folding_begin (q->folding, &tm_convention_compressed_integers, tm_claim_weight_name (q->bundle),
                                       code, rank, rank == 3 ? shape : shape + 1);

  if (tensor == NULL)
    return NULL;
  tm_folding_add (q->folding, tensor, TM_ROLE_VALUES, q->packed);
  tm_folding_add (q->folding, tensor, TM_ROLE_SCALE, q->scale);
  tm_folding_add (q->folding, tensor, TM_ROLE_ZERO_POINT, q->zero);
  tm_folding_add (q->folding, tensor, TM_ROLE_OTHER, q->shape);
  tensor->code_bits = q->bits;
  *data = g_new0 (TmPackedInteger, 1);
  (*data)->words = q->packed;
  (*data)->n_slices = q->n_slices;
  (*data)->n_rows = q->n_rows;
  (*data)->n_columns = q->n_columns;
  (*data)->formula = "scale × (q − zero)";
  return tensor;
}

/* --- int-quantized ---------------------------------------------------------------------------------------------------- */

static TmClaim
claim_bytes (Packed *q)
{
  guint64 zero_groups = 0;
  TmPackedInteger *data;
  TmGroupParameter scale, zero = { .kind = TM_PARAMETER_NONE };
  TmTensor *tensor;

  if (q->packed->rank < 2 || q->packed->rank > 3 || q->packed->n_elements == 0)
    return refuse (q, "a matrix is wanted, but", q->packed);
  q->n_slices = q->packed->rank == 3 ? q->packed->shape[0] : 1;
  q->n_rows = q->packed->shape[q->packed->rank - 2];
  q->n_columns = q->packed->shape[q->packed->rank - 1];
  q->bits = 8;
  if (!is_number (q->scale) || !set_elements (q, q->scale, &scale, &q->n_groups))
    return refuse (q, "a scale for all, for each row or for groups of a row is wanted, but", q->scale);
  guess_group_size (q);
  if (q->group_size == 0
      || (q->zero
          && (!set_elements (q, q->zero, &zero, &zero_groups) || zero_groups != q->n_groups
              || !(tm_operand_is_integer (q->zero) || is_number (q->zero)))))
    return refuse (q, "the shape of the scales is wanted, but", q->group_size ? q->zero : q->scale);
  tensor = begin (q, TM_DTYPE_CODE_I8, &data);
  if (tensor == NULL)
    return refuse (q, "more elements than can be counted:", q->packed);
  data->arrangement = TM_WORDS_ALONG_ROWS;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, 8, FALSE, q->n_columns, q->n_rows * q->n_columns };
  data->scale = scale;
  data->zero = zero;
  data->is_signed = TRUE;
  data->flip = 0x80;
  if (q->zero == NULL)
    data->formula = "scale × q";
  set_symmetry (tensor, data, q, 0);
  tm_claim_set_groups (tensor, data, q->n_groups, q->group_size, NULL);
  check_config (q, tensor);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (q->folding, tensor);
}

/* --- pack-quantized --------------------------------------------------------------------------------------------------- */

static guint64
words_of (guint64 n, guint bits, gboolean padded)
{
  const guint each = 32 / bits;

  return padded ? (n + each - 1) / each : (n * bits + 31) / 32;
}

typedef enum
{
  TM_UNUSED_UNKNOWN,
  TM_UNUSED_ZERO,
  TM_UNUSED_SET,
} TmUnusedBits;

#define MOST_WORDS 4096u /* looked at: chance leaves the top bits of twenty words zero once in a million times */

/* Padded words have ⌊32 / bits⌋ codes and leave bits over at the top; so does the last word of a row. */
static TmUnusedBits
look_at_unused (const Packed *q, guint bits)
{
  const guint64 each = 32 / bits, words = q->packed->shape[q->packed->rank - 1];
  const gsize n = (gsize) MIN (q->packed->n_elements, MOST_WORDS);
  g_autofree gint64 *numbers = g_new (gint64, n);
  gboolean any = FALSE;

  if (q->packed->fault || !tm_operand_read_i64 (q->packed, 0, n, numbers, NULL))
    return TM_UNUSED_UNKNOWN;
  for (gsize i = 0; i < n; i++)
    {
      const guint64 left = q->n_columns - i % words * each;

      if ((guint64) (guint32) numbers[i] >> (MIN (left, each) * bits))
        return TM_UNUSED_SET;
      any = any || numbers[i] != 0;
    }
  return any ? TM_UNUSED_ZERO : TM_UNUSED_UNKNOWN;
}

#define STATED 10000u /* more than all that is only usual */

/* Widths that give the number of words: the config's first, then the usual ones, dense before padded. */
static gboolean
find_bits (Packed *q, const char **evidence, GString *alternatives)
{
  static const guint8 order[] = { 4, 8, 2, 1, 3, 6, 5, 7 };
  const guint64 words = q->packed->shape[q->packed->rank - 1];
  guint64 stated = 0;
  g_autofree char *name = tm_claim_weight_name (q->bundle);
  const char *bits_choice = tm_folding_get_choice (q->folding, name, "bits");
  const char *packing_choice = tm_folding_get_choice (q->folding, name, "packing");
  guint64 chosen = bits_choice ? g_ascii_strtoull (bits_choice, NULL, 10) : 0;
  guint best = 0;
  TmUnusedBits unused;

  get_stated (q, "num_bits", &stated);
  *evidence = "the usual width that gives as many words";
  for (guint padded = 0; padded < 2; padded++)
    for (guint i = 0; i < G_N_ELEMENTS (order); i++)
      {
        const guint bits = order[i];
        const gboolean either = 32 % bits != 0 && words_of (q->n_columns, bits, FALSE) == words_of (q->n_columns, bits, TRUE);
        guint rank = 10 * ((guint) G_N_ELEMENTS (order) - i) + (padded && !either ? 0 : 1000);

        if ((padded && 32 % bits == 0) || words_of (q->n_columns, bits, padded) != words)
          continue;
        if (!(padded && either)) /* that width is there already */
          g_string_append_printf (alternatives, "%s%u", alternatives->len ? "|" : "", bits);
        unused = either ? look_at_unused (q, bits) : TM_UNUSED_UNKNOWN; /* as many words either way: what is in them tells */
        if (unused != TM_UNUSED_UNKNOWN && (unused == TM_UNUSED_ZERO) == (padded == 1))
          rank += 5;
        if (stated == bits)
          rank += STATED;
        if (packing_choice && (strcmp (packing_choice, "padded") == 0) == (padded == 1) && 32 % bits != 0)
          rank += 2 * STATED;
        if (chosen == bits)
          rank += 4 * STATED;
        if (rank > best)
          {
            best = rank;
            q->bits = bits;
            q->padded = padded == 1;
            q->packing_evidence = !either                    ? NULL
                                  : unused == TM_UNUSED_ZERO ? "the bits that padded words leave over are all zero"
                                  : unused == TM_UNUSED_SET  ? "bits that padded words would leave over are set"
                                                             : "nothing tells which; newer files are dense";
          }
      }
  if (chosen == q->bits)
    *evidence = "chosen";
  else if (stated == q->bits)
    *evidence = "the config's num_bits gives as many words";
  return best > 0;
}

/* Zero points: packed down columns like the codes, or plain numbers without the offset. */
static gboolean
set_zero (const Packed *q, TmPackedInteger *data)
{
  const float middle = (float) (1u << (q->bits - 1));
  const TmStored *zero = q->zero;
  guint64 n_groups;

  if (zero == NULL)
    {
      data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CONSTANT, .constant = middle };
      return TRUE;
    }
  if (zero->dtype == TM_DTYPE_I32 && zero->rank == q->packed->rank && zero->rank >= 2)
    {
      const guint64 words = zero->shape[zero->rank - 2];
      const gboolean dense = words == words_of (q->n_rows, q->bits, FALSE);
      const gboolean padded = words == words_of (q->n_rows, q->bits, TRUE);

      if (zero->shape[zero->rank - 1] == q->n_groups && (zero->rank == 2 || zero->shape[0] == q->n_slices)
          && (dense || padded))
        {
          const TmCodeOrder order = padded && (!dense || q->padded) ? TM_ORDER_PADDED : TM_ORDER_STREAM;

          data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CODES,
                                            .stored = zero,
                                            .lines_are_groups = TRUE,
                                            .layout = { order, q->bits, TRUE, q->n_groups, words * q->n_groups * 4 } };
          return TRUE;
        }
    }
  if (!tm_operand_is_integer (zero) && !is_number (zero))
    return FALSE;
  if (!set_elements (q, zero, &data->zero, &n_groups) || n_groups != q->n_groups)
    return FALSE;
  data->zero.shift = middle;
  return TRUE;
}

/* Two numbers, three, or two for each slice. */
static gboolean
is_shape (const Packed *q)
{
  const TmStored *shape = q->shape;

  return shape->rank == 2 ? shape->shape[1] == 2 && (shape->shape[0] == 1 || shape->shape[0] == q->n_slices)
                                && shape->n_elements <= MOST_SLICES * 2
                          : shape->rank == 1 && (shape->n_elements == 2 || shape->n_elements == 3);
}

/* O and I by weight_shape, or without it by what is packed and scaled. */
static const char *
find_shape (Packed *q)
{
  g_autoptr (GError) error = NULL;
  g_autofree gint64 *numbers = NULL;
  const TmStored *packed = q->packed;

  q->n_slices = packed->rank == 3 ? packed->shape[0] : 1;
  q->n_rows = packed->shape[packed->rank - 2];
  if (q->shape == NULL)
    return "weight_shape is missing";
  if (q->shape->fault || !is_shape (q))
    return "weight_shape does not hold two numbers";
  numbers = tm_operand_load_i64 (q->shape, MAX (q->shape->n_elements, 3), &error);
  if (numbers == NULL)
    return "weight_shape cannot be read";
  for (guint64 k = 2; q->shape->rank == 2 && k < q->shape->n_elements; k++)
    if (numbers[k] != numbers[k - 2])
      return "weight_shape is not the same for all slices";
  if (numbers[q->shape->n_elements - 1] <= 0 || numbers[q->shape->n_elements - 2] != (gint64) q->n_rows)
    return "weight_shape has other rows than weight_packed";
  q->n_columns = (guint64) numbers[q->shape->n_elements - 1];
  if (q->n_columns > G_MAXINT64 / 64 || packed->shape[packed->rank - 1] > q->n_columns)
    return "weight_shape has other columns than weight_packed";
  return NULL;
}

/* −1 throughout. */
static gboolean
is_unused_index (const Packed *q)
{
  g_autofree gint64 *index
      = q->g_idx->n_elements == q->n_columns ? tm_operand_load_i64 (q->g_idx, MOST_INDEXED, NULL) : NULL;

  for (guint64 i = 0; index != NULL && i < q->n_columns; i++)
    if (index[i] != -1)
      return FALSE;
  return index != NULL;
}

static TmClaim
claim_packed (Packed *q)
{
  const TmConvention *self = &tm_convention_compressed_integers;
  g_autoptr (GString) alternatives = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  TmGroupParameter scale;
  TmPackedInteger *data;
  TmTensor *tensor;
  const char *why, *evidence;
  gboolean all_zero = FALSE;

  if (q->packed->rank < 2 || q->packed->rank > 3 || q->packed->n_elements == 0)
    return refuse (q, "a matrix is wanted, but", q->packed);
  why = find_shape (q);
  if (why)
    return tm_folding_refuse (q->folding, self, q->bundle, q->shape ? "shape" : "missing-companion", "%s", why);
  if (!find_bits (q, &evidence, alternatives))
    return refuse (q, "no width of 1 to 8 bits gives as many words:", q->packed);
  if (!is_number (q->scale) || !set_elements (q, q->scale, &scale, &q->n_groups))
    return refuse (q, "a row of scales for each row is wanted, but", q->scale);
  guess_group_size (q);
  if (q->group_size == 0)
    return refuse (q, "its columns do not fall into as many groups as", q->scale);
  tensor = begin (q, tm_dtype_get_code (q->bits, FALSE), &data);
  if (tensor == NULL)
    return refuse (q, "more elements than can be counted:", q->packed);
  tm_folding_add (q->folding, tensor, TM_ROLE_GROUP_INDEX, q->g_idx);
  data->arrangement = TM_WORDS_ALONG_ROWS;
  data->layout = (TmCodeLayout) { q->padded ? TM_ORDER_PADDED : TM_ORDER_STREAM, q->bits, FALSE,
                                  q->packed->shape[q->packed->rank - 1] * 4,
                                  q->packed->shape[q->packed->rank - 1] * 4 * q->n_rows };
  data->middle = 1u << (q->bits - 1);
  data->scale = scale;
  if (!set_zero (q, data))
    {
      g_free (data);
      tm_tensor_free (tensor);
      return refuse (q, "zero points packed down columns, or one for each scale, are wanted, but", q->zero);
    }
  if (q->g_idx && q->g_idx->fault == NULL)
    {
      data->index_stored = q->g_idx;
      if (is_unused_index (q))
        data->index_stored = NULL;
      else if (!tm_claim_read_index (q->g_idx, q->n_columns, q->n_groups, &q->table, &q->group_size, &all_zero, &error))
        {
          g_free (data);
          tm_tensor_free (tensor);
          return tm_folding_refuse (q->folding, self, q->bundle, "group-index", "%s", error->message);
        }
      if (all_zero && q->n_groups > 1)
        {
          g_clear_pointer (&q->table, g_free);
          guess_group_size (q);
          if (strcmp (tm_claim_choose (q->folding, tensor, "g-idx", "sequential", "literal|sequential",
                                       "weight_g_idx is all zero though there are %" G_GUINT64_FORMAT " groups",
                                       q->n_groups),
                      "literal")
              == 0)
            q->table = g_new0 (guint32, q->n_columns);
        }
    }
  set_symmetry (tensor, data, q, 1u << (q->bits - 1));
  if (strchr (alternatives->str, '|') != NULL)
    {
      g_autofree char *bits = g_strdup_printf ("%u", q->bits);

      tm_folding_assume (q->folding, tensor, "bits", bits, alternatives->str, "%s", evidence);
    }
  if (32 % q->bits != 0)
    tm_folding_assume (q->folding, tensor, "packing", q->padded ? "padded" : "dense", "padded|dense",
                       "%" G_GUINT64_FORMAT " columns of %u bits are %" G_GUINT64_FORMAT
                       " words dense and %" G_GUINT64_FORMAT " padded; there are %" G_GUINT64_FORMAT "%s%s",
                       q->n_columns, q->bits, words_of (q->n_columns, q->bits, FALSE),
                       words_of (q->n_columns, q->bits, TRUE), q->packed->shape[q->packed->rank - 1],
                       q->packing_evidence ? "; " : "", q->packing_evidence ? q->packing_evidence : "");
  tm_claim_set_groups (tensor, data, q->n_groups, q->group_size, q->table);
  check_config (q, tensor);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (q->folding, tensor);
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  Packed q = { .folding = folding, .bundle = bundle };

  q.packed = tm_bundle_get (folding, bundle, ".weight_packed");
  q.scale = tm_bundle_get (folding, bundle, ".weight_scale");
  q.zero = tm_bundle_get (folding, bundle, ".weight_zero_point");
  q.shape = tm_bundle_get (folding, bundle, ".weight_shape");
  q.g_idx = tm_bundle_get (folding, bundle, ".weight_g_idx");
  if (q.packed != NULL && q.packed->dtype == TM_DTYPE_I32)
    {
      if (q.scale == NULL)
        return tm_folding_refuse (folding, &tm_convention_compressed_integers, bundle, "missing-companion",
                                  "weight_scale is missing");
      return claim_packed (&q);
    }
  q.packed = tm_bundle_get (folding, bundle, ".weight");
  if (q.packed == NULL || q.packed->dtype != TM_DTYPE_I8 || q.scale == NULL || !is_number (q.scale))
    return TM_CLAIM_NO;
  return claim_bytes (&q);
}

const TmConvention tm_convention_compressed_integers = { "compressed-tensors", suffixes, claim };
