/* GPTQ (AutoGPTQ, GPTQModel; shared by other tools): a weight [O, I] is stored transposed.
 *
 *   qweight I32 [I·bits/32, O]   codes down each column of words
 *   qzeros  I32 [G, O·bits/32]   zero points along rows, less one in checkpoint format v1; or as numbers [G, O]
 *   scales  F16 [G, O]
 *   g_idx   I32 [I]              group of each column; act-order scatters them; absent in old files
 *
 * value = scales[g][o] × (code − zero), g = g_idx[i]. */
#include <string.h>

#include "io/number.h"
#include "recognise/integer-claim.h"

extern const TmConvention tm_convention_gptq;

static const char *const suffixes[] = { ".qweight", ".qzeros", ".scales", ".g_idx", NULL };

typedef struct
{
  const TmStored *qweight, *qzeros, *scales, *g_idx;
  guint64 n_rows, n_columns, n_groups, group_size;
  guint bits;
  gboolean plain_zeros; /* numbers, not packed */
  gboolean asked_groups; /* a person chose how g_idx is read */
  guint32 *table;
} Gptq;

/* GEMV of AutoAWQ with few columns (128 in groups of 64, 256 in groups of 32) has the shapes of GPTQ in groups of a word,
 * which nobody writes. g_idx and the config tell, or the padding of its scales, which is zero. */
static gboolean
is_gemv_instead (TmFolding *folding, const Gptq *q)
{
  const char *method = tm_config_get_quantization (tm_folding_get_config (folding), "quant_method");
  float last;

  if (q->g_idx != NULL || q->scales->shape[0] != q->qweight->shape[0] || q->qzeros->shape[0] != q->qweight->shape[0]
      || q->qzeros->shape[1] * 8 != q->scales->shape[1]
      || !(q->qweight->shape[1] == 16 || q->qweight->shape[1] == 32))
    return FALSE;
  if (method != NULL && (strcmp (method, "gptq") == 0 || strcmp (method, "awq") == 0))
    return strcmp (method, "awq") == 0;
  return tm_operand_read_f32 (q->scales, q->scales->shape[1] - 1, 1, &last, NULL) && last == 0;
}

static gboolean
is_awq (TmFolding *folding, const Gptq *q)
{
  return q->scales->shape[1] == 8 * q->qweight->shape[1]
         || (q->scales->shape[1] != q->qweight->shape[1] && q->scales->shape[0] == q->qweight->shape[0]
             && q->qzeros->shape[0] == q->qweight->shape[0] && q->qzeros->shape[1] * 8 == q->scales->shape[1])
         || is_gemv_instead (folding, q);
}

/* Bits from the zero points' width, or where those are plain numbers from the length of g_idx or the config. */
static guint
find_bits (TmFolding *folding, const Gptq *q, const TmBundle *bundle)
{
  guint64 bits = 0;

  if (!q->plain_zeros)
    {
      for (guint b = 2; b <= 8; b++)
        if (q->n_rows <= G_MAXUINT32 && q->n_rows * b == 32 * q->qzeros->shape[1])
          return b;
      return 0;
    }
  if (q->g_idx != NULL && q->g_idx->n_elements > 0 && q->qweight->shape[0] * 32 % q->g_idx->n_elements == 0)
    bits = q->qweight->shape[0] * 32 / q->g_idx->n_elements;
  else if (!tm_config_get_quantization_u64 (tm_folding_get_config (folding), "bits", &bits))
    {
      g_autofree char *name = tm_claim_weight_name (bundle);
      const char *choice = tm_folding_get_choice (folding, name, "bits");

      bits = choice ? g_ascii_strtoull (choice, NULL, 10) : 4;
    }
  return bits >= 2 && bits <= 8 ? (guint) bits : 0;
}

/* A setting of this module: of `dynamic`'s first pattern that matches, else the general one. */
static const char *
get_setting (TmFolding *folding, const char *module, const char *member)
{
  const char *own = tm_module_settings_get_dynamic (tm_folding_get_settings (folding), module, member, NULL);

  return own ? own : tm_config_get_quantization (tm_folding_get_config (folding), member);
}

static void
check_config (TmFolding *folding, TmTensor *tensor, const Gptq *q, const char *module)
{
  const char *method = tm_config_get_quantization (tm_folding_get_config (folding), "quant_method");
  const char *bits, *group, *sym;
  gboolean left_alone;

  if (!tm_config_has_quantization (tm_folding_get_config (folding))
      || (method && strcmp (method, "gptq") != 0 && strcmp (method, "auto-round") != 0))
    return;
  bits = get_setting (folding, module, "bits");
  group = get_setting (folding, module, "group_size");
  sym = get_setting (folding, module, "sym");
  if (bits && g_ascii_strtoll (bits, NULL, 10) != (gint64) q->bits)
    tm_claim_conflict (folding, tensor, "%s bits, its shapes %u", bits, q->bits);
  tm_module_settings_get_dynamic (tm_folding_get_settings (folding), module, "#", &left_alone);
  if (left_alone)
    tm_claim_conflict (folding, tensor, "in dynamic that this module is left alone");
  if (group && q->group_size && !q->asked_groups)
    {
      gint64 stated = g_ascii_strtoll (group, NULL, 10);

      if (stated <= 0        ? q->n_groups != 1
          : q->n_groups != 1 ? stated != (gint64) q->group_size
                             : stated < (gint64) q->n_columns)
        tm_claim_conflict (folding, tensor, "groups of %s, its shapes %" G_GUINT64_FORMAT, group, q->group_size);
    }
  if (q->table != NULL && !q->asked_groups && g_strcmp0 (get_setting (folding, module, "desc_act"), "false") == 0)
    tm_claim_conflict (folding, tensor, "desc_act false, but g_idx scatters the columns of a group");
  if (sym && tensor->symmetric >= 0 && (strcmp (sym, "true") == 0) != (tensor->symmetric == 1))
    {
      if (strcmp (sym, "true") == 0) /* an asymmetric file may happen to be symmetric */
        tm_claim_conflict (folding, tensor, "symmetric, its zero points are not all the middle code");
    }
}

/* Stored zero points: less one (v1) or as they are (v2). */
static void
decide_zeros (TmFolding *folding, TmTensor *tensor, TmPackedInteger *data, const Gptq *q)
{
  const char *format = tm_config_get_quantization (tm_folding_get_config (folding), "checkpoint_format");
  const TmZeroCensus census = tm_claim_count_zeros (&data->zero, q->n_rows, q->n_groups);
  const guint middle = 1u << (q->bits - 1), top = (1u << q->bits) - 1;
  const char *stated = format == NULL                                                      ? NULL
                       : strcmp (format, "gptq") == 0                                      ? "v1"
                       : strcmp (format, "gptq_v2") == 0 || strcmp (format, "gptq_p") == 0 ? "v2"
                                                                                           : NULL;
  const char *seen = !census.known || !census.uniform ? NULL
                     : census.least == middle - 1     ? "v1"
                     : census.least == middle         ? "v2"
                                                      : NULL;
  const char *value;

  if (seen && stated && strcmp (seen, stated) != 0)
    {
      value = tm_claim_choose (folding, tensor, "gptq-zeros", seen, "v1|v2",
                               "every zero point is stored as %u, the middle of %s, though checkpoint_format is %s",
                               census.least, seen, format);
      tm_claim_conflict (folding, tensor, "checkpoint_format %s, but every zero point is stored as %u, as %s has it",
                         format, census.least, seen);
    }
  else if (stated)
    value = tm_claim_choose (folding, tensor, "gptq-zeros", stated, "v1|v2", "checkpoint_format is %s", format);
  else if (seen)
    value = tm_claim_choose (folding, tensor, "gptq-zeros", seen, "v1|v2",
                             "every zero point is stored as %u, as symmetric files of %s have it", census.least, seen);
  else
    value = tm_claim_choose (folding, tensor, "gptq-zeros", "v1", "v1|v2",
                             "assumed: no checkpoint_format, and the zero points vary");
  data->zero.add = strcmp (value, "v1") == 0 ? 1 : 0;
  if (census.known)
    tensor->symmetric = census.uniform && ((census.least + data->zero.add) & top) == middle;
  if (census.known && data->zero.add && census.most == top)
    tm_folding_warn (folding, tensor, TM_SEVERITY_NOTE, "zero-point-wraps",
                     "zero points stored as %u are read as 0, as AutoGPTQ does; exllamav2 takes %u", top, top + 1);
}

/* FALSE: refused, with a reason. */
static gboolean
read_groups (TmFolding *folding, TmTensor *tensor, Gptq *q, const char *module, GError **error)
{
  gboolean all_zero = FALSE;

  if (q->g_idx != NULL && q->g_idx->fault == NULL)
    {
      const char *value;

      if (!tm_claim_read_index (q->g_idx, q->n_columns, q->n_groups, &q->table, &q->group_size, &all_zero, error))
        return FALSE;
      if (all_zero && q->n_groups > 1)
        {
          value = tm_claim_choose (folding, tensor, "g-idx", "sequential", "literal|sequential",
                                   "g_idx is all zero though there are %" G_GUINT64_FORMAT " groups: never filled",
                                   q->n_groups);
          tm_folding_warn (folding, tensor, TM_SEVERITY_NOTE, "group-index",
                           "g_idx is all zero though there are %" G_GUINT64_FORMAT " groups; columns are taken %s",
                           q->n_groups, strcmp (value, "literal") == 0 ? "literally" : "in sequence");
          if (strcmp (value, "literal") == 0)
            {
              q->table = g_new0 (guint32, q->n_columns);
              q->asked_groups = TRUE;
              return TRUE;
            }
        }
      else
        {
          value = tm_folding_get_choice (folding, tensor->name, "g-idx");
          if (q->table == NULL || value == NULL || strcmp (value, "sequential") != 0)
            return TRUE;
          tm_folding_assume (folding, tensor, "g-idx", "sequential", "literal|sequential",
                             "chosen; otherwise literal, because g_idx names every column's group");
          g_clear_pointer (&q->table, g_free);
        }
    }
  if (q->g_idx == NULL && q->n_groups > 1 && g_strcmp0 (get_setting (folding, module, "desc_act"), "true") == 0)
    {
      tm_folding_assume (folding, tensor, "g-idx", "sequential", NULL,
                         "the config says desc_act, and g_idx, which has every column's group, is missing");
      tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "missing-companion",
                       "g_idx is missing though the config says desc_act: columns are taken in sequence, which may be "
                       "wrong");
    }
  q->group_size = tm_claim_guess_group_size (q->n_columns, q->n_groups);
  {
    /* The last group may be short: the config knows by how much. */
    const char *text = get_setting (folding, module, "group_size");
    guint64 stated;

    if (text && tm_parse_u64 (text, -1, &stated))
      tm_claim_take_group_size (stated, q->n_columns, q->n_groups, &q->group_size);
  }
  return TRUE;
}

static TmClaim
refuse (TmFolding *folding, const TmBundle *bundle, const char *what, const TmStored *stored)
{
  g_autofree char *shape = tm_claim_format_shape (stored);

  return tm_folding_refuse (folding, &tm_convention_gptq, bundle, "shape", "%s %s has the shape %s", what, stored->name,
                            shape);
}

static gboolean
has_planes (TmFolding *folding, const Gptq *q)
{
  const char *format = tm_config_get_quantization (tm_folding_get_config (folding), "checkpoint_format");

  return (q->bits >= 5 && q->bits <= 7) || (q->bits == 3 && format && strcmp (format, "gptq_p") == 0);
}

static TmClaim
build (TmFolding *folding, const TmBundle *bundle, Gptq *q)
{
  const gboolean planes = has_planes (folding, q);
  const guint64 shape[2] = { q->n_rows, q->n_columns };
  g_autoptr (GError) error = NULL;
  TmPackedInteger *data;
  TmTensor *tensor = tm_folding_begin (folding, &tm_convention_gptq, tm_claim_weight_name (bundle),
                                       tm_dtype_get_code (q->bits, FALSE), 2, shape);

  if (tensor == NULL)
    return tm_folding_refuse (folding, &tm_convention_gptq, bundle, "shape",
                              "it has more elements than can be counted");
  tm_folding_add (folding, tensor, TM_ROLE_VALUES, q->qweight);
  tm_folding_add (folding, tensor, TM_ROLE_SCALE, q->scales);
  tm_folding_add (folding, tensor, TM_ROLE_ZERO_POINT, q->qzeros);
  tm_folding_add (folding, tensor, TM_ROLE_GROUP_INDEX, q->g_idx);
  if (!read_groups (folding, tensor, q, bundle->prefix, &error) || q->group_size == 0)
    {
      tm_tensor_free (tensor);
      return tm_folding_refuse (folding, &tm_convention_gptq, bundle, "group-index", "%s",
                                error ? error->message : "its columns do not fall into that many groups");
    }
  data = g_new0 (TmPackedInteger, 1);
  data->arrangement = TM_WORDS_ALONG_ROWS;
  data->layout = (TmCodeLayout) { planes ? TM_ORDER_PLANES : TM_ORDER_STREAM, q->bits, TRUE, q->n_rows, 0 };
  data->words = q->qweight;
  data->n_slices = 1;
  data->n_rows = q->n_rows;
  data->n_columns = q->n_columns;
  data->index_stored = q->g_idx;
  data->scale = (TmGroupParameter) {
    .kind = TM_PARAMETER_ELEMENTS, .stored = q->scales, .row_step = 1, .group_step = q->n_rows
  };
  if (q->plain_zeros)
    data->zero = (TmGroupParameter) {
      .kind = TM_PARAMETER_ELEMENTS, .stored = q->qzeros, .row_step = 1, .group_step = q->n_rows
    };
  else
    data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CODES,
                                      .stored = q->qzeros,
                                      .lines_are_groups = TRUE,
                                      .layout = { data->layout.order, q->bits, FALSE, q->qzeros->shape[1] * 4, 0 } };
  data->formula = "scale × (q − zero)";
  tensor->code_bits = q->bits;
  tm_claim_set_groups (tensor, data, q->n_groups, q->group_size, q->table);
  if (!q->plain_zeros)
    decide_zeros (folding, tensor, data, q);
  check_config (folding, tensor, q, bundle->prefix);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (folding, tensor);
}

/* Formats of the same names whose words are shuffled for one kernel; NULL for those that are not. */
static const char *
find_shuffled (TmFolding *folding)
{
  static const char *const shuffled[] = { "marlin", "bitblas", "qqq", "marlin_24" };
  const char *format = tm_config_get_quantization (tm_folding_get_config (folding), "checkpoint_format");

  if (format == NULL && g_strcmp0 (tm_config_get_quantization (tm_folding_get_config (folding), "is_marlin_format"), "true") == 0)
    return "marlin";
  for (guint i = 0; format != NULL && i < G_N_ELEMENTS (shuffled); i++)
    if (g_ascii_strcasecmp (format, shuffled[i]) == 0)
      return shuffled[i];
  return NULL;
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  const char *shuffled;
  Gptq q = { tm_bundle_get (folding, bundle, ".qweight"), tm_bundle_get (folding, bundle, ".qzeros"),
             tm_bundle_get (folding, bundle, ".scales"), tm_bundle_get (folding, bundle, ".g_idx"), 0 };

  if (q.qweight == NULL || q.qweight->dtype != TM_DTYPE_I32)
    return TM_CLAIM_NO;
  if (q.scales == NULL || q.qzeros == NULL)
    return tm_folding_refuse (folding, &tm_convention_gptq, bundle, "missing-companion", "%s missing",
                              q.scales || q.qzeros ? (q.scales ? "qzeros is" : "scales is") : "scales and qzeros are");
  if (!tm_claim_is_matrix (q.qweight, TM_DTYPE_I32))
    return refuse (folding, bundle, "its", q.qweight);
  if (!tm_claim_is_float_matrix (q.scales))
    return refuse (folding, bundle, "its", q.scales);
  q.plain_zeros = tm_claim_is_float_matrix (q.qzeros);
  if (!q.plain_zeros && !tm_claim_is_matrix (q.qzeros, TM_DTYPE_I32))
    return refuse (folding, bundle, "its", q.qzeros);
  if (!q.plain_zeros && is_awq (folding, &q))
    return TM_CLAIM_NO;
  q.n_groups = q.scales->shape[0];
  q.n_rows = q.scales->shape[1];
  if (q.n_rows != q.qweight->shape[1])
    return refuse (folding, bundle, "as many columns as qweight has rows of the weight are wanted, but", q.scales);
  if (q.qzeros->shape[0] != q.n_groups || (q.plain_zeros && q.qzeros->shape[1] != q.n_rows))
    return refuse (folding, bundle, "a row for each group of scales is wanted, but", q.qzeros);
  shuffled = find_shuffled (folding);
  if (shuffled != NULL)
    {
      tm_model_add_problem (tm_folding_get_model (folding), TM_SEVERITY_NOTE, "values-not-defined", q.qweight->source,
                            q.qweight->offset, q.qweight->name,
                            "%s is GPTQ in checkpoint_format %s: its codes are in the order of one GPU kernel, which the "
                            "file does not tell; its pieces are shown as they are stored",
                            bundle->prefix[0] ? bundle->prefix : q.qweight->name, shuffled);
      return TM_CLAIM_BROKEN;
    }
  q.bits = find_bits (folding, &q, bundle);
  if (q.bits == 0)
    return refuse (folding, bundle, "no width of 2 to 8 bits gives the columns of qzeros:", q.qzeros);
  if (q.qweight->shape[0] > G_MAXINT64 / 64 || q.qweight->shape[0] * 32 % q.bits != 0)
    return refuse (folding, bundle, "its rows do not hold whole columns:", q.qweight);
  q.n_columns = q.qweight->shape[0] * 32 / q.bits;
  if (has_planes (folding, &q) && (q.n_columns % 32 != 0 || q.n_rows % 32 != 0))
    return refuse (folding, bundle, "bit planes hold 32 codes each, but", q.qweight);
  if (q.n_groups > q.n_columns)
    return refuse (folding, bundle, "more groups than columns:", q.scales);
  return build (folding, bundle, &q);
}

const TmConvention tm_convention_gptq = { "gptq", suffixes, claim };
