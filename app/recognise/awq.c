/* AWQ, four bits, in the three layouts that AutoAWQ writes. Zero points are stored as they are.
 *
 *   GEMM       qweight I32 [I, O/8]    qzeros I32 [G, O/8]    scales [G, O]      nibbles of a word: 0 2 4 6 1 3 5 7
 *   GEMV       qweight I32 [O, I/8]    qzeros I32 [O, w]      scales [O, 8w]     w padded; nibbles in order
 *   GEMV-fast  qweight I16 [O/4, I]    qzeros F16 [8w, O]     scales [8w, O]     qzeros = −scale × zero, added */
#include <string.h>

#include "recognise/integer-claim.h"

extern const TmConvention tm_convention_awq;

static const char *const suffixes[] = { ".qweight", ".qzeros", ".scales", NULL };

typedef struct
{
  TmFolding *folding;
  const TmBundle *bundle;
  const TmStored *qweight, *qzeros, *scales;
  guint64 n_rows, n_columns, n_groups, group_size;
} Awq;

static TmClaim
refuse (const Awq *q, const char *what, const TmStored *stored)
{
  g_autofree char *shape = tm_claim_format_shape (stored);

  return tm_folding_refuse (q->folding, &tm_convention_awq, q->bundle, "shape", "%s %s has the shape %s", what,
                            stored->name, shape);
}

static void
check_config (const Awq *q, TmTensor *tensor)
{
  const TmConfig *config = tm_folding_get_config (q->folding);
  const char *method = tm_config_get_quantization (config, "quant_method");
  guint64 stated;

  if (method && strcmp (method, "awq") != 0 && strcmp (method, "auto-round") != 0)
    return;
  if ((tm_config_get_quantization_u64 (config, "bits", &stated)
       || tm_config_get_quantization_u64 (config, "w_bit", &stated))
      && stated != 4)
    tm_claim_conflict (q->folding, tensor, "%" G_GUINT64_FORMAT " bits, its shapes 4", stated);
  if ((tm_config_get_quantization_u64 (config, "group_size", &stated)
       || tm_config_get_quantization_u64 (config, "q_group_size", &stated))
      && stated != q->group_size && !(q->n_groups == 1 && stated >= q->n_columns))
    tm_claim_conflict (q->folding, tensor, "groups of %" G_GUINT64_FORMAT ", its shapes %" G_GUINT64_FORMAT, stated,
                       q->group_size);
}

static TmTensor *
begin (const Awq *q, TmPackedInteger **data)
{
  const guint64 shape[2] = { q->n_rows, q->n_columns };
  TmTensor *tensor = tm_folding_begin (q->folding, &tm_convention_awq, tm_claim_weight_name (q->bundle),
                                       tm_dtype_get_code (4, FALSE), 2, shape);

  if (tensor == NULL)
    return NULL;
  tm_folding_add (q->folding, tensor, TM_ROLE_VALUES, q->qweight);
  tm_folding_add (q->folding, tensor, TM_ROLE_SCALE, q->scales);
  tm_folding_add (q->folding, tensor, TM_ROLE_ZERO_POINT, q->qzeros);
  tensor->code_bits = 4;
  *data = g_new0 (TmPackedInteger, 1);
  (*data)->words = q->qweight;
  (*data)->n_slices = 1;
  (*data)->n_rows = q->n_rows;
  (*data)->n_columns = q->n_columns;
  (*data)->formula = "scale × (q − zero)";
  return tensor;
}

static TmClaim
finish (const Awq *q, TmTensor *tensor, TmPackedInteger *data)
{
  const TmZeroCensus census = tm_claim_count_zeros (&data->zero, q->n_rows, q->n_groups);

  tm_claim_set_groups (tensor, data, q->n_groups, q->group_size, NULL);
  if (census.known)
    tensor->symmetric = census.uniform && census.least == 8;
  check_config (q, tensor);
  tm_packed_integer_attach (tensor, data);
  return tm_folding_commit (q->folding, tensor);
}

static TmClaim
claim_gemm (Awq *q)
{
  const guint64 words = q->qweight->shape[1];
  TmPackedInteger *data;
  TmTensor *tensor;
  TmCodeOrder order;

  q->n_rows = 8 * words;
  q->n_columns = q->qweight->shape[0];
  q->n_groups = q->scales->shape[0];
  if (q->qzeros->shape[0] != q->n_groups || q->qzeros->shape[1] != words)
    return refuse (q, "a row for each group of scales, as wide as qweight, is wanted, but", q->qzeros);
  if (q->n_columns % q->n_groups != 0)
    return refuse (q, "its columns do not fall into whole groups:", q->scales);
  q->group_size = q->n_columns / q->n_groups;
  tensor = begin (q, &data);
  if (tensor == NULL)
    return refuse (q, "more elements than can be counted:", q->qweight);
  order = strcmp (tm_claim_choose (q->folding, tensor, "nibbles", "interleaved", "interleaved|linear",
                                   "qweight is [I, O/8], and AutoAWQ interleaves the nibbles of such words"),
                  "linear")
                  == 0
              ? TM_ORDER_STREAM
              : TM_ORDER_AWQ;
  data->arrangement = TM_WORDS_ALONG_COLUMNS;
  data->layout = (TmCodeLayout) { order, 4, FALSE, words * 4, 0 };
  data->scale = (TmGroupParameter) {
    .kind = TM_PARAMETER_ELEMENTS, .stored = q->scales, .row_step = 1, .group_step = q->n_rows
  };
  data->zero = (TmGroupParameter) {
    .kind = TM_PARAMETER_CODES, .stored = q->qzeros, .lines_are_groups = TRUE, .layout = data->layout
  };
  return finish (q, tensor, data);
}

/* How wide the padded rows of zero points are for a group size: words of eight. */
static guint64
padded_words (guint64 n_columns, guint64 group_size)
{
  const guint64 words = (n_columns / group_size + 7) / 8, to = group_size >= 128 ? 1 : group_size == 64 ? 2 : 4;

  return (words + to - 1) / to * to;
}

/* Scales that are not padding, of row 0. */
static guint64
count_scales (const Awq *q, gboolean transposed)
{
  const guint64 n = transposed ? q->scales->shape[0] : q->scales->shape[1];
  guint64 used = 0;

  for (guint64 g = 0; g < MIN (n, 4096); g++)
    {
      float scale;

      if (!tm_operand_read_f32 (q->scales, transposed ? g * q->scales->shape[1] : g, 1, &scale, NULL))
        return 0;
      if (scale != 0)
        used = g + 1;
    }
  return used;
}

/* Group sizes that give the padded width; which one, by choice, by the padding, by config, by custom. Larger ones than
 * usual, a whole row among them, are thought of where the padding or the config speaks of them. */
static gboolean
find_group_size (Awq *q, TmTensor *tensor, guint64 words, gboolean transposed)
{
  guint64 sizes[] = { 128, 64, 32, 0, 0 };
  g_autoptr (GString) alternatives = g_string_new (NULL);
  guint64 fits[G_N_ELEMENTS (sizes)], used = count_scales (q, transposed), stated = 0, size;
  guint n = 0;

  if (!tm_config_get_quantization_u64 (tm_folding_get_config (q->folding), "group_size", &stated))
    tm_config_get_quantization_u64 (tm_folding_get_config (q->folding), "q_group_size", &stated);
  if (stated > 128)
    sizes[3] = stated;
  if (used > 0 && q->n_columns % used == 0 && q->n_columns / used > 128 && q->n_columns / used != stated)
    sizes[4] = q->n_columns / used;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (sizes[i] > 0 && q->n_columns % sizes[i] == 0 && padded_words (q->n_columns, sizes[i]) == words)
      {
        fits[n++] = sizes[i];
        g_string_append_printf (alternatives, "%s%" G_GUINT64_FORMAT, alternatives->len ? "|" : "", sizes[i]);
      }
  if (n == 0)
    return FALSE;
  size = fits[0];
  for (guint i = n; i-- > 0;)
    if (fits[i] == stated)
      size = stated;
  for (guint i = 0; i < n; i++)
    if (q->n_columns / fits[i] == used)
      size = fits[i];
  if (n > 1)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, size);

      size = g_ascii_strtoull (tm_claim_choose (q->folding, tensor, "group", text, alternatives->str,
                                                "the padded width fits several; %" G_GUINT64_FORMAT
                                                " scales of the first row are not zero%s",
                                                used, stated == size ? ", and the config says so" : ""),
                               NULL, 10);
    }
  q->group_size = size;
  q->n_groups = q->n_columns / size;
  return TRUE;
}

static TmClaim
claim_gemv (Awq *q)
{
  const guint64 words = q->qzeros->shape[1];
  TmPackedInteger *data;
  TmTensor *tensor;

  q->n_rows = q->qweight->shape[0];
  q->n_columns = q->qweight->shape[1] <= G_MAXUINT32 ? 8 * q->qweight->shape[1] : 0;
  tensor = begin (q, &data);
  if (tensor == NULL)
    return refuse (q, "more elements than can be counted:", q->qweight);
  if (!find_group_size (q, tensor, words, FALSE))
    {
      g_free (data);
      tm_tensor_free (tensor);
      return refuse (q, "no group of 128, 64 or 32 columns gives the padded width of qzeros:", q->qzeros);
    }
  data->arrangement = TM_WORDS_ALONG_ROWS;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, 4, FALSE, q->qweight->shape[1] * 4, 0 };
  data->scale = (TmGroupParameter) {
    .kind = TM_PARAMETER_ELEMENTS, .stored = q->scales, .row_step = q->scales->shape[1], .group_step = 1
  };
  data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CODES,
                                    .stored = q->qzeros,
                                    .layout = { TM_ORDER_STREAM, 4, FALSE, words * 4, 0 } };
  return finish (q, tensor, data);
}

static TmClaim
claim_gemv_fast (Awq *q)
{
  TmPackedInteger *data;
  TmTensor *tensor;

  q->n_rows = q->scales->shape[1];
  q->n_columns = q->qweight->shape[1];
  if (q->qzeros->shape[0] != q->scales->shape[0] || q->qzeros->shape[1] != q->n_rows)
    return refuse (q, "the shape of scales is wanted, but", q->qzeros);
  if (q->qweight->shape[0] > G_MAXINT64 / 8 || q->qweight->shape[0] * 4 != q->n_rows || q->n_columns % 64 != 0
      || q->scales->shape[0] % 8 != 0)
    return refuse (q, "tiles of 4 × 64 are wanted, but", q->qweight);
  tensor = begin (q, &data);
  if (tensor == NULL)
    return refuse (q, "more elements than can be counted:", q->qweight);
  if (!find_group_size (q, tensor, q->scales->shape[0] / 8, TRUE))
    {
      g_free (data);
      tm_tensor_free (tensor);
      return refuse (q, "no group of 128, 64 or 32 columns gives the padded height of scales:", q->scales);
    }
  data->arrangement = TM_WORDS_TILES;
  data->layout = (TmCodeLayout) { TM_ORDER_STREAM, 4, FALSE, q->n_columns * 2, 0 };
  data->scale = (TmGroupParameter) {
    .kind = TM_PARAMETER_ELEMENTS, .stored = q->scales, .row_step = 1, .group_step = q->n_rows
  };
  data->zero = (TmGroupParameter) {
    .kind = TM_PARAMETER_ELEMENTS, .stored = q->qzeros, .row_step = 1, .group_step = q->n_rows
  };
  data->zero_is_offset = TRUE;
  data->formula = "scale × q + offset";
  return finish (q, tensor, data);
}

/* As many rows of scales as of qweight are GEMM's groups of one column, which nobody writes, or GEMV's padded rows. */
static gboolean
is_gemv_instead (const Awq *q)
{
  const guint64 n_columns = 8 * q->qweight->shape[1];
  const char *version = tm_config_get_quantization (tm_folding_get_config (q->folding), "version");

  if (version != NULL && g_ascii_strcasecmp (version, "gemm") == 0)
    return FALSE;
  if (q->scales->shape[0] != q->qweight->shape[0] || q->qzeros->shape[0] != q->qweight->shape[0])
    return FALSE;
  for (guint size = 128; size >= 32; size /= 2)
    if (n_columns % size == 0 && padded_words (n_columns, size) == q->qzeros->shape[1])
      return TRUE;
  return FALSE;
}

static TmClaim
claim (TmFolding *folding, const TmBundle *bundle)
{
  Awq q = { folding,
            bundle,
            tm_bundle_get (folding, bundle, ".qweight"),
            tm_bundle_get (folding, bundle, ".qzeros"),
            tm_bundle_get (folding, bundle, ".scales"),
            0,
            0,
            0,
            0 };

  if (q.qweight == NULL || (q.qweight->dtype != TM_DTYPE_I32 && q.qweight->dtype != TM_DTYPE_I16))
    return TM_CLAIM_NO;
  if (q.scales == NULL || q.qzeros == NULL)
    return tm_folding_refuse (folding, &tm_convention_awq, bundle, "missing-companion", "%s missing",
                              q.scales || q.qzeros ? (q.scales ? "qzeros is" : "scales is") : "scales and qzeros are");
  if (!tm_claim_is_matrix (q.qweight, q.qweight->dtype))
    return refuse (&q, "its", q.qweight);
  if (!tm_claim_is_float_matrix (q.scales))
    return refuse (&q, "its", q.scales);
  if (q.qweight->dtype == TM_DTYPE_I16)
    return tm_claim_is_float_matrix (q.qzeros) ? claim_gemv_fast (&q) : refuse (&q, "its", q.qzeros);
  if (!tm_claim_is_matrix (q.qzeros, TM_DTYPE_I32))
    return refuse (&q, "its", q.qzeros);
  return q.qweight->shape[1] <= G_MAXUINT32 && q.scales->shape[1] == 8 * q.qweight->shape[1] && !is_gemv_instead (&q)
             ? claim_gemm (&q)
             : claim_gemv (&q);
}

const TmConvention tm_convention_awq = { "awq", suffixes, claim };
