/* EXL2: every group of columns has its own width.
 *
 *   q_weight     I32 [words, O]    a dense stream down each column of words, anew at each group's first row of words
 *   q_groups     I16 [2G]          width in bits and first row of words of each group
 *   q_scale      I32 [G, O/8]      nibbles s along rows
 *   q_scale_max  F16 [G]           scale = (s + 1)² × max / 256
 *   q_invperm    I32 [I]           stored row of each column
 *
 * value = scale × (code − 2^(bits − 1)). The runtime works in half precision: its last bits differ. */
#include "recognise/integer-claim.h"

extern const TmConvention tm_convention_exl2;

static const char *const suffixes[]
    = { ".q_weight", ".q_groups", ".q_scale", ".q_scale_max", ".q_invperm", ".q_perm", NULL };

#define MOST_COLUMNS (1u << 20)

typedef struct
{
  const TmStored *weight, *groups, *scale, *scale_max, *invperm;
  guint64 n_rows, n_columns, n_groups;
} Exl2;

/* Widths and places of the groups; NULL: they fit. */
static const char *
read_groups (const Exl2 *q, TmRaggedWords *ragged)
{
  g_autofree gint64 *pairs = tm_operand_load_i64 (q->groups, 2 * q->n_groups, NULL);
  guint64 row = 0;

  if (pairs == NULL)
    return "q_groups cannot be read";
  for (guint64 g = 0; g < q->n_groups; g++)
    {
      const gint64 bits = pairs[2 * g], begin = pairs[2 * g + 1] & 0xFFFF;
      const gint64 end = g + 1 < q->n_groups ? pairs[2 * g + 3] & 0xFFFF : (gint64) q->weight->shape[0];

      if (bits < 2 || bits > 8 || bits == 7)
        return "q_groups has a width that is none of 2, 3, 4, 5, 6 and 8 bits";
      if (begin >= end || (g == 0 && begin != 0) || end > (gint64) q->weight->shape[0])
        return "q_groups has groups that do not follow each other";
      ragged->bits[g] = (guint8) bits;
      ragged->word_row[g] = (guint32) begin;
      ragged->first[g] = (guint32) MIN (row, G_MAXUINT32);
      row += (guint64) (end - begin) * 32 / (guint64) bits;
    }
  if (row != q->n_columns)
    return "q_groups has other columns than q_invperm";
  for (guint64 g = 0; g < q->n_groups; g++)
    for (guint64 r = ragged->first[g]; r < (g + 1 < q->n_groups ? ragged->first[g + 1] : q->n_columns); r++)
      ragged->group_of_row[r] = (guint32) g;
  return NULL;
}

static const char *
read_permutation (const Exl2 *q, TmRaggedWords *ragged)
{
  g_autofree gint64 *rows = tm_operand_load_i64 (q->invperm, q->n_columns, NULL);

  if (rows == NULL)
    return "q_invperm cannot be read";
  for (guint64 i = 0; i < q->n_columns; i++)
    ragged->column[i] = G_MAXUINT32;
  for (guint64 i = 0; i < q->n_columns; i++)
    {
      if (rows[i] < 0 || (guint64) rows[i] >= q->n_columns || ragged->column[rows[i]] != G_MAXUINT32)
        return "q_invperm is no permutation of the columns";
      ragged->stored_row[i] = (guint32) rows[i];
      ragged->column[rows[i]] = (guint32) i;
    }
  return NULL;
}

static TmClaim
build (TmFolding *folding, const TmBundle *bundle, const Exl2 *q)
{
  const TmConvention *self = &tm_convention_exl2;
  const guint64 shape[2] = { q->n_rows, q->n_columns };
  TmRaggedWords *ragged = g_new0 (TmRaggedWords, 1);
  TmPackedInteger *data = g_new0 (TmPackedInteger, 1);
  TmTensor *tensor;
  const char *why;
  guint32 *table;
  guint least = 8, most = 0;
  guint64 bits_of_all = 0;

  data->ragged = ragged;
  ragged->bits = g_new0 (guint8, q->n_groups);
  ragged->word_row = g_new0 (guint32, q->n_groups);
  ragged->first = g_new0 (guint32, q->n_groups);
  ragged->stored_row = g_new0 (guint32, q->n_columns);
  ragged->column = g_new0 (guint32, q->n_columns);
  ragged->group_of_row = g_new0 (guint32, q->n_columns);
  ragged->scale_max = tm_operand_load_f32 (q->scale_max, q->n_groups, NULL);
  why = ragged->scale_max == NULL ? "q_scale_max cannot be read" : read_groups (q, ragged);
  if (why == NULL)
    why = read_permutation (q, ragged);
  if (why)
    {
      tm_packed_integer_free (data);
      return tm_folding_refuse (folding, self, bundle, "groups", "%s", why);
    }
  for (guint64 g = 0; g < q->n_groups; g++)
    {
      least = MIN (least, ragged->bits[g]);
      most = MAX (most, ragged->bits[g]);
    }
  for (guint64 i = 0; i < q->n_columns; i++)
    bits_of_all += ragged->bits[ragged->group_of_row[i]];
  tensor = tm_folding_begin (folding, self, tm_claim_weight_name (bundle), tm_dtype_get_code (most, FALSE), 2, shape);
  if (tensor == NULL)
    {
      tm_packed_integer_free (data);
      return tm_folding_refuse (folding, self, bundle, "shape", "it has more elements than can be counted");
    }
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, q->weight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, q->scale);
  tm_folding_add (folding, tensor, TM_ROLE_GLOBAL_SCALE, q->scale_max);
  tm_folding_add (folding, tensor, TM_ROLE_GROUP_INDEX, q->invperm);
  tm_folding_add (folding, tensor, TM_ROLE_OTHER, q->groups);
  tm_folding_add (folding, tensor, TM_ROLE_OTHER, tm_bundle_get (folding, bundle, ".q_perm"));
  tensor->code_bits = most;
  tensor->symmetric = 1;
  data->arrangement = TM_WORDS_RAGGED;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, most, TRUE, q->n_rows, 0 };
  data->words = q->weight;
  data->n_slices = 1;
  data->n_rows = q->n_rows;
  data->n_columns = q->n_columns;
  data->index_stored = q->invperm;
  data->formula = "scale × (q − zero)";
  data->scale = (TmGroupParameter) { .kind = TM_PARAMETER_CODES,
                                     .stored = q->scale,
                                     .lines_are_groups = TRUE,
                                     .layout = { TM_ORDER_STREAM, 4, FALSE, q->scale->shape[1] * 4, 0 } };
  data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CONSTANT };
  table = g_new (guint32, q->n_columns);
  for (guint64 i = 0; i < q->n_columns; i++)
    table[i] = ragged->group_of_row[ragged->stored_row[i]];
  tm_claim_set_groups (tensor, data, q->n_groups, q->n_groups > 1 ? ragged->first[1] : q->n_columns, table);
  if (least != most)
    tm_folding_warn (folding, tensor, TM_SEVERITY_NOTE, "mixed-bits",
                     "its groups have codes of %u to %u bits, %.2f on average; the runtime rounds to half precision",
                     least, most, (double) bits_of_all / (double) q->n_columns);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (folding, tensor);
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const TmConvention *self = &tm_convention_exl2;
  Exl2 q = { tm_bundle_get (folding, bundle, ".q_weight"),
             tm_bundle_get (folding, bundle, ".q_groups"),
             tm_bundle_get (folding, bundle, ".q_scale"),
             tm_bundle_get (folding, bundle, ".q_scale_max"),
             tm_bundle_get (folding, bundle, ".q_invperm"),
             0,
             0,
             0 };

  if (q.weight == NULL || q.weight->dtype != TM_DTYPE_I32)
    return TM_CLAIM_NO;
  if (q.groups == NULL || q.scale == NULL || q.scale_max == NULL || q.invperm == NULL)
    return tm_folding_refuse (folding, self, bundle, "missing-companion", "%s is missing",
                              !q.groups      ? "q_groups"
                              : !q.scale     ? "q_scale"
                              : !q.scale_max ? "q_scale_max"
                                             : "q_invperm");
  q.n_groups = q.scale_max->n_elements;
  q.n_columns = q.invperm->n_elements;
  if (!tm_claim_is_matrix (q.weight, TM_DTYPE_I32) || !tm_claim_is_matrix (q.scale, TM_DTYPE_I32)
      || !tm_operand_is_float (q.scale_max) || !tm_operand_is_integer (q.groups) || !tm_operand_is_integer (q.invperm)
      || q.n_groups == 0 || q.n_columns == 0 || q.n_columns > MOST_COLUMNS || q.n_groups > q.n_columns
      || q.groups->n_elements != 2 * q.n_groups || q.scale->shape[0] != q.n_groups || q.scale->shape[1] > G_MAXUINT32
      || q.scale->shape[1] * 8 != q.weight->shape[1])
    return tm_folding_refuse (folding, self, bundle, "shape", "the shapes of its pieces do not fit each other");
  if (q.groups->fault || q.scale_max->fault || q.invperm->fault)
    return tm_folding_refuse (folding, self, bundle, "missing-companion",
                              "a piece that says how it is packed cannot be read");
  q.n_rows = q.weight->shape[1];
  return build (folding, bundle, &q);
}

const TmConvention tm_convention_exl2 = { "exl2", suffixes, claim };
