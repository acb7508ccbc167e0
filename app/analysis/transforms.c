#include "analysis/transforms-private.h"

#include <string.h>

#include "io/json.h"

/* What a file may claim and still be looked at: real ones have a few hundred. */
#define MAX_HEADS 65536u

static void
clear_hypothesis (gpointer hypothesis)
{
  tm_reading_free (((TmHypothesis *) hypothesis)->reading);
}

GArray *
tm_hypotheses_new (void)
{
  GArray *hypotheses = g_array_new (FALSE, FALSE, sizeof (TmHypothesis));

  g_array_set_clear_func (hypotheses, clear_hypothesis);
  return hypotheses;
}

void
tm_hypotheses_add (GArray *hypotheses, TmReading *reading, guint tier)
{
  TmHypothesis hypothesis = { reading, tier };

  if (tm_reading_is_sound (reading))
    g_array_append_val (hypotheses, hypothesis);
  else
    tm_reading_free (reading);
}

/* --- Head counts -------------------------------------------------------------------------------------------------- */

static guint64
read_number (TmModel *model, const char *key)
{
  const TmMetadata *entry = tm_model_find_metadata (model, key);

  if (entry == NULL)
    return 0;
  switch (entry->type)
    {
    case TM_META_U8:
    case TM_META_U16:
    case TM_META_U32:
    case TM_META_U64:
      return entry->as.u;
    case TM_META_I8:
    case TM_META_I16:
    case TM_META_I32:
    case TM_META_I64:
      return entry->as.i > 0 ? (guint64) entry->as.i : 0;
    default:
      return 0;
    }
}

/* A member of a nested configuration ("text_config") that is metadata as its text. */
static guint64
read_nested_number (TmModel *model, const char *key, const char *member)
{
  const TmMetadata *entry = tm_model_find_metadata (model, key);
  g_auto (TmJson) json = { 0 };
  guint64 number = 0;

  if (entry == NULL || entry->type != TM_META_JSON)
    return 0;
  tm_json_init (&json, entry->string, entry->string_length, 0);
  for (TmJsonToken token; (token = tm_json_next (&json)) > TM_JSON_END;)
    if (token == TM_JSON_KEY && json.depth == 1 && tm_json_string_equals (&json, member))
      return tm_json_next (&json) == TM_JSON_NUMBER && tm_json_get_u64 (&json, &number) ? number : 0;
  return 0;
}

static guint64
read_config_number (TmModel *model, const char *member, const char *older)
{
  g_autofree char *key = g_strconcat ("config.", member, NULL), *older_key = g_strconcat ("config.", older, NULL);
  guint64 number = read_number (model, key);

  if (number == 0)
    number = read_nested_number (model, "config.text_config", member);
  return number != 0 ? number : read_number (model, older_key);
}

static void
add_heads (TmTransforms *transforms, TmModel *model)
{
  guint64 heads = 0, kv = 0;

  if (model->architecture != NULL)
    {
      g_autofree char *key = g_strconcat (model->architecture, ".attention.head_count", NULL);
      g_autofree char *kv_key = g_strconcat (key, "_kv", NULL);

      heads = read_number (model, key);
      kv = read_number (model, kv_key);
    }
  if (heads == 0)
    {
      heads = read_config_number (model, "num_attention_heads", "n_head");
      kv = read_config_number (model, "num_key_value_heads", "num_kv_heads");
    }
  if (heads == 0 || heads > MAX_HEADS || kv > MAX_HEADS)
    return;
  kv = kv != 0 ? kv : heads;
  for (guint i = 0; i < transforms->n_heads; i++)
    if (transforms->heads[i].heads == heads && transforms->heads[i].kv == kv)
      return;
  transforms->heads[transforms->n_heads].heads = heads;
  transforms->heads[transforms->n_heads++].kv = kv;
}

/* Of linear attention: what a GGUF says as a state space's, and a config by name. */
static void
add_linear (TmTransforms *transforms, TmModel *model)
{
  static const char *const config[] = { "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
                                        "linear_value_head_dim" };
  static const char *const gguf[] = { "group_count", "time_step_rank", "state_size", "inner_size" };
  guint64 number[4] = { 0 };

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *key
          = model->architecture != NULL ? g_strconcat (model->architecture, ".ssm.", gguf[i], NULL) : NULL;

      number[i] = key != NULL ? read_number (model, key) : 0;
    }
  if (number[1] != 0)
    number[3] /= number[1];
  else
    for (guint i = 0; i < 4; i++)
      number[i] = read_config_number (model, config[i], config[i]);
  for (guint i = 0; i < 4; i++)
    if (number[i] == 0 || number[i] > MAX_HEADS)
      return;
  transforms->linear[transforms->n_linear].keys = number[0];
  transforms->linear[transforms->n_linear].values = number[1];
  transforms->linear[transforms->n_linear].key_size = number[2];
  transforms->linear[transforms->n_linear++].value_size = number[3];
}

void
tm_transforms_init (TmTransforms *transforms, TmModel *candidate, TmModel *reference)
{
  *transforms = (TmTransforms) { .candidate = candidate, .reference = reference };
  transforms->candidate_is_gguf = g_strcmp0 (candidate->format, "GGUF") == 0;
  transforms->reference_is_gguf = g_strcmp0 (reference->format, "GGUF") == 0;
  add_heads (transforms, candidate);
  add_heads (transforms, reference);
  add_linear (transforms, candidate);
  add_linear (transforms, reference);
}

/* --- Shapes ------------------------------------------------------------------------------------------------------- */

/* A shape without its axes of one: at most 3 of them matter here. */
typedef struct
{
  guint rank; /* 4: more than 3 */
  guint64 axis[4];
} Shape;

static Shape
squeeze (const TmTensor *tensor)
{
  Shape shape = { 0 };

  for (guint i = 0; i < tensor->rank && shape.rank < 4; i++)
    if (tensor->shape[i] != 1)
      shape.axis[shape.rank++] = tensor->shape[i];
  return shape;
}

static gboolean
same_shape (const TmTensor *a, const TmTensor *b)
{
  return a->rank == b->rank && (a->rank == 0 || memcmp (a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static gboolean
same_squeezed (const TmTensor *a, const TmTensor *b)
{
  guint i = 0, j = 0;

  for (;; i++, j++)
    {
      while (i < a->rank && a->shape[i] == 1)
        i++;
      while (j < b->rank && b->shape[j] == 1)
        j++;
      if (i == a->rank || j == b->rank)
        return i == a->rank && j == b->rank;
      if (a->shape[i] != b->shape[j])
        return FALSE;
    }
}

guint64
tm_tensor_get_columns (const TmTensor *tensor)
{
  return tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
}

const TmTensor *
tm_transforms_get_reference (const TmTransforms *transforms, guint index)
{
  return tm_model_tensor (transforms->reference, index);
}

/* --- Parts -------------------------------------------------------------------------------------------------------- */

TmReadingPart
tm_transforms_make_part (const TmTransforms *transforms, guint index, guint64 base, guint64 n_rows, guint64 row_step,
                         guint64 column_step)
{
  return (TmReadingPart) { .tensor = tm_transforms_get_reference (transforms, index),
                           .index = index,
                           .n_rows = n_rows,
                           .base = base,
                           .row_step = row_step,
                           .column_step = column_step };
}

/* A matrix of rows × columns at base: as it lies, or lying the other way round. */
TmReadingPart
tm_transforms_make_plane (const TmTransforms *transforms, guint index, guint64 base, guint64 rows, guint64 columns,
                          gboolean transposed)
{
  return transposed ? tm_transforms_make_part (transforms, index, base, rows, 1, rows)
                    : tm_transforms_make_part (transforms, index, base, rows, columns, 1);
}

char *
tm_words_join (const char *first, const char *second)
{
  return strcmp (first, "identity") == 0 ? g_strdup (second) : g_strconcat (first, " + ", second, NULL);
}

/* --- Rotary rows -------------------------------------------------------------------------------------------------- */

TmReading *
tm_reading_copy (const TmReading *reading, char *words)
{
  TmReading *copy = tm_reading_new (reading->columns, words);

  for (guint i = 0; i < reading->parts->len; i++)
    tm_reading_add (copy, &g_array_index (reading->parts, TmReadingPart, i));
  copy->change = reading->change;
  return copy;
}

static TmReading *
copy_whole (const TmReading *reading)
{
  return tm_reading_copy (reading, g_strdup (reading->words));
}

static void
add_rotary (const TmReading *plain, TmRowOrder order, guint64 heads, guint tier, GArray *hypotheses)
{
  g_autofree char *words = g_strdup_printf ("rotary-permutation(heads=%" G_GUINT64_FORMAT ")", heads);
  TmReading *reading;

  if (heads == 0 || plain->rows % heads != 0 || plain->rows / heads % 2 != 0 || plain->rows / heads < 4)
    return;
  reading = tm_reading_new (plain->columns, tm_words_join (plain->words, words));
  for (guint i = 0; i < plain->parts->len; i++)
    {
      TmReadingPart part = g_array_index (plain->parts, TmReadingPart, i);

      part.order = order;
      part.head = plain->rows / heads;
      tm_reading_add (reading, &part);
    }
  tm_hypotheses_add (hypotheses, reading, tier);
}

/* Head counts that are told come first, and the direction in which converters go; other head sizes where all that fails. */
static void
add_rotaries (const TmTransforms *transforms, const TmReading *plain, gboolean key_heads, GArray *hypotheses)
{
  static const TmRowOrder orders[] = { TM_ROWS_ROTARY, TM_ROWS_ROTARY_BACK };
  gboolean usual[] = { transforms->candidate_is_gguf && !transforms->reference_is_gguf,
                       transforms->reference_is_gguf && !transforms->candidate_is_gguf };

  for (guint o = 0; o < G_N_ELEMENTS (orders); o++)
    {
      for (guint i = 0; i < transforms->n_heads; i++)
        {
          guint64 heads = transforms->heads[i].heads, kv = transforms->heads[i].kv;

          add_rotary (plain, orders[o], key_heads ? kv : heads, usual[o] ? 0 : 1, hypotheses);
          if (key_heads && kv != heads)
            add_rotary (plain, orders[o], heads, 1, hypotheses);
        }
      for (guint64 d = 4; d <= 512; d += 2)
        {
          guint64 heads = plain->rows / d;
          gboolean told = FALSE;

          for (guint i = 0; i < transforms->n_heads; i++)
            told = told || heads == (key_heads ? transforms->heads[i].kv : transforms->heads[i].heads);
          if (plain->rows % d == 0 && !told)
            add_rotary (plain, orders[o], heads, 1, hypotheses);
        }
    }
}

/* --- One for one -------------------------------------------------------------------------------------------------- */

static TmReading *
make_flat (const TmTransforms *transforms, guint reference, guint64 rows, guint64 columns, const char *words)
{
  TmReading *reading = tm_reading_new (columns, g_strdup (words));
  TmReadingPart part = tm_transforms_make_part (transforms, reference, 0, rows, columns, 1);

  tm_reading_add (reading, &part);
  return reading;
}

/* The last two axes the other way round. */
static void
add_transposed (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 columns,
                GArray *hypotheses)
{
  Shape a = squeeze (candidate), b = squeeze (tm_transforms_get_reference (transforms, reference));
  guint64 planes = a.rank == 3 ? a.axis[0] : 1;
  const guint64 *at = a.axis + (a.rank == 3 ? 1 : 0), *bt = b.axis + (b.rank == 3 ? 1 : 0);
  TmReading *reading;

  if (a.rank != b.rank || (a.rank != 2 && a.rank != 3) || (a.rank == 3 && a.axis[0] != b.axis[0]) || at[0] != bt[1]
      || at[1] != bt[0] || at[1] != columns || planes > TM_MAX_PLANES)
    return;
  reading = tm_reading_new (columns, g_strdup ("transpose"));
  for (guint64 i = 0; i < planes; i++)
    {
      TmReadingPart part = tm_transforms_make_plane (transforms, reference, i * at[0] * at[1], at[0], at[1], TRUE);

      tm_reading_add (reading, &part);
    }
  tm_hypotheses_add (hypotheses, reading, at[0] == at[1] ? 1 : 0);
}

/* A stack of matrices against one matrix with all their rows, each lying the other way round. */
static void
add_flattened (const TmTransforms *transforms, const TmTensor *candidate, guint reference, GArray *hypotheses)
{
  const TmTensor *other = tm_transforms_get_reference (transforms, reference);
  const TmTensor *stack = candidate->rank == 3 ? candidate : other, *flat = candidate->rank == 3 ? other : candidate;
  TmReading *reading;

  if (stack->rank != 3 || flat->rank != 2 || flat->shape[1] != stack->shape[1] || stack->shape[0] > TM_MAX_PLANES
      || flat->shape[0] != stack->shape[0] * stack->shape[2])
    return;
  reading = tm_reading_new (tm_tensor_get_columns (candidate), g_strdup ("reshape + transpose"));
  for (guint64 i = 0; i < stack->shape[0]; i++)
    {
      guint64 columns = tm_tensor_get_columns (candidate), rows = stack->shape[1] * stack->shape[2] / columns;
      TmReadingPart part = tm_transforms_make_plane (transforms, reference, i * rows * columns, rows, columns, TRUE);

      tm_reading_add (reading, &part);
    }
  tm_hypotheses_add (hypotheses, reading, 0);
}

/* Convolutions with the input channels last on one side, and before the kernel's axes on the other. */
static void
add_channels_moved (const TmTransforms *transforms, const TmTensor *candidate, guint reference, GArray *hypotheses)
{
  const TmTensor *other = tm_transforms_get_reference (transforms, reference);
  const guint64 *a = candidate->shape, *b = other->shape;

  if (candidate->rank != 4 || other->rank != 4 || a[0] != b[0] || a[0] * a[1] > TM_MAX_PLANES)
    return;
  if (a[1] == b[2] && a[2] == b[3] && a[3] == b[1]) /* [o, h, w, i] from [o, i, h, w] */
    {
      guint64 plane = a[1] * a[2];
      TmReading *reading = tm_reading_new (a[3], g_strdup ("channels-last"));

      for (guint64 o = 0; o < a[0]; o++)
        {
          TmReadingPart part = tm_transforms_make_part (transforms, reference, o * plane * a[3], plane, 1, plane);

          tm_reading_add (reading, &part);
        }
      tm_hypotheses_add (hypotheses, reading, same_shape (candidate, other) ? 1 : 0);
    }
  if (a[1] == b[3] && a[2] == b[1] && a[3] == b[2]) /* [o, i, h, w] from [o, h, w, i] */
    {
      TmReading *reading = tm_reading_new (a[3], g_strdup ("channels-first"));

      for (guint64 o = 0; o < a[0]; o++)
        for (guint64 i = 0; i < a[1]; i++)
          {
            TmReadingPart part = tm_transforms_make_part (transforms, reference, o * a[1] * a[2] * a[3] + i, a[2],
                                                          a[3] * a[1], a[1]);

            tm_reading_add (reading, &part);
          }
      tm_hypotheses_add (hypotheses, reading, same_shape (candidate, other) ? 1 : 0);
    }
}

/* The first rows, for padding, were cut off. */
static void
add_later_rows (const TmTransforms *transforms, guint reference, guint64 rows, guint64 columns, guint64 cut,
                GArray *hypotheses)
{
  TmReading *reading
      = tm_reading_new (columns, g_strdup_printf ("rows-from(%" G_GUINT64_FORMAT ")", cut));
  TmReadingPart part = tm_transforms_make_part (transforms, reference, cut * columns, rows, columns, 1);

  tm_reading_add (reading, &part);
  tm_hypotheses_add (hypotheses, reading, 0);
}

static gboolean
kind_is (const TmNameKey *key, const char *kind)
{
  return key->kind != NULL && strcmp (key->kind, kind) == 0;
}

static void
add_change (const TmReading *plain, TmValueChange change, const char *words, GArray *hypotheses)
{
  TmReading *reading = tm_reading_copy (plain, tm_words_join (plain->words, words));

  reading->change = change;
  tm_hypotheses_add (hypotheses, reading, 0);
}

static void
add_variants (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate, guint reference,
              const TmReading *plain, guint before, GArray *hypotheses)
{
  if (kind_is (key, "attn_q") || kind_is (key, "attn_k"))
    add_rotaries (transforms, plain, kind_is (key, "attn_k"), hypotheses);
  if (kind_is (key, "attn_qkv"))
    tm_transforms_add_qkv_regrouped (transforms, candidate, reference, plain->columns, hypotheses);
  tm_transforms_add_value_heads (transforms, key, candidate, plain, hypotheses);
  if (!key->bias && squeeze (candidate).rank <= 1 && strstr (key->key, "norm") != NULL)
    {
      add_change (plain, TM_CHANGE_PLUS_ONE, "norm-plus-one", hypotheses);
      add_change (plain, TM_CHANGE_MINUS_ONE, "norm-minus-one", hypotheses);
    }
  if (kind_is (key, "ssm_a"))
    for (guint i = before, n = hypotheses->len; i < n; i++)
      {
        g_autoptr (TmReading) moved = copy_whole (g_array_index (hypotheses, TmHypothesis, i).reading);

        add_change (moved, TM_CHANGE_NEG_EXP, "negative-exp", hypotheses);
        add_change (moved, TM_CHANGE_LOG_NEG, "log-of-negative", hypotheses);
      }
}

void
tm_transforms_add_single (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate,
                          guint reference, GArray *hypotheses)
{
  const TmTensor *other = tm_transforms_get_reference (transforms, reference);
  gboolean moves = kind_is (key, "attn_q") || kind_is (key, "attn_k") || kind_is (key, "attn_qkv")
                   || kind_is (key, "ssm_a") || kind_is (key, "ssm_dt");
  guint64 columns = candidate->rank > 1 || !moves ? tm_tensor_get_columns (candidate) : 1, rows;
  guint64 value_columns = tm_transforms_get_value_columns (transforms, key, candidate);
  guint before = hypotheses->len;

  if (columns == 0 || candidate->n_elements == 0 || other->n_elements == 0)
    return;
  if (value_columns > 0 && same_squeezed (candidate, other))
    columns = value_columns;
  rows = candidate->n_elements / columns;
  if (same_squeezed (candidate, other))
    tm_hypotheses_add (
        hypotheses,
        make_flat (transforms, reference, rows, columns, same_shape (candidate, other) ? "identity" : "squeeze"), 0);
  add_transposed (transforms, candidate, reference, columns, hypotheses);
  if (hypotheses->len == before || (candidate->rank == 4 && same_shape (candidate, other)))
    add_channels_moved (transforms, candidate, reference, hypotheses);
  if (hypotheses->len == before && candidate->n_elements == other->n_elements)
    {
      tm_hypotheses_add (hypotheses, make_flat (transforms, reference, rows, columns, "reshape"), 0);
      add_flattened (transforms, candidate, reference, hypotheses);
    }
  if (hypotheses->len == before && candidate->rank == 2 && other->rank == 2 && tm_tensor_get_columns (other) == columns
      && (kind_is (key, "token_embd") || kind_is (key, "output") || kind_is (key, "position_embd")))
    {
      guint64 common = MIN (rows, other->shape[0]);
      g_autofree char *words = g_strdup_printf ("common-rows(%" G_GUINT64_FORMAT ")", common);

      tm_hypotheses_add (hypotheses, make_flat (transforms, reference, common, columns, words), 0);
      if (kind_is (key, "position_embd") && rows < other->shape[0])
        add_later_rows (transforms, reference, rows, columns, other->shape[0] - rows, hypotheses);
    }
  if (hypotheses->len > before)
    {
      g_autoptr (TmReading) plain = copy_whole (g_array_index (hypotheses, TmHypothesis, before).reading);

      add_variants (transforms, key, candidate, reference, plain, before, hypotheses);
    }
}
