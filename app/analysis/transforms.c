#include "analysis/transforms.h"

#include <string.h>

#include "io/json.h"

/* What a file may claim and still be looked at: real ones have a few hundred of either. */
#define MAX_HEADS 65536u
#define MAX_PLANES 65536u
#define MAX_ATTENTION_ROWS (1u << 24)

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

static void
add (GArray *hypotheses, TmReading *reading, guint tier)
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
    case TM_META_U8: case TM_META_U16: case TM_META_U32: case TM_META_U64:
      return entry->as.u;
    case TM_META_I8: case TM_META_I16: case TM_META_I32: case TM_META_I64:
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

void
tm_transforms_init (TmTransforms *transforms, TmModel *candidate, TmModel *reference)
{
  *transforms = (TmTransforms){ .candidate = candidate, .reference = reference };
  transforms->candidate_is_gguf = g_strcmp0 (candidate->format, "GGUF") == 0;
  transforms->reference_is_gguf = g_strcmp0 (reference->format, "GGUF") == 0;
  add_heads (transforms, candidate);
  add_heads (transforms, reference);
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

static guint64
get_columns (const TmTensor *tensor)
{
  return tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
}

static const TmTensor *
get_reference (const TmTransforms *transforms, guint index)
{
  return tm_model_tensor (transforms->reference, index);
}

/* --- Parts -------------------------------------------------------------------------------------------------------- */

static TmReadingPart
make_part (const TmTransforms *transforms, guint index, guint64 base, guint64 n_rows, guint64 row_step, guint64 column_step)
{
  return (TmReadingPart){ .tensor = get_reference (transforms, index), .index = index, .n_rows = n_rows, .base = base,
                          .row_step = row_step, .column_step = column_step };
}

/* A matrix of rows × columns at base: as it lies, or lying the other way round. */
static TmReadingPart
make_plane (const TmTransforms *transforms, guint index, guint64 base, guint64 rows, guint64 columns, gboolean transposed)
{
  return transposed ? make_part (transforms, index, base, rows, 1, rows)
                    : make_part (transforms, index, base, rows, columns, 1);
}

static char *
join_words (const char *first, const char *second)
{
  return strcmp (first, "identity") == 0 ? g_strdup (second) : g_strconcat (first, " + ", second, NULL);
}

/* --- Rotary rows -------------------------------------------------------------------------------------------------- */

static TmReading *
copy_reading (const TmReading *reading, char *words)
{
  TmReading *copy = tm_reading_new (reading->columns, words);

  for (guint i = 0; i < reading->parts->len; i++)
    tm_reading_add (copy, &g_array_index (reading->parts, TmReadingPart, i));
  copy->change = reading->change;
  return copy;
}

static void
add_rotary (const TmReading *plain, TmRowOrder order, guint64 heads, guint tier, GArray *hypotheses)
{
  g_autofree char *words = g_strdup_printf ("rotary-permutation(heads=%" G_GUINT64_FORMAT ")", heads);
  TmReading *reading;

  if (heads == 0 || plain->rows % heads != 0 || plain->rows / heads % 2 != 0 || plain->rows / heads < 4)
    return;
  reading = tm_reading_new (plain->columns, join_words (plain->words, words));
  for (guint i = 0; i < plain->parts->len; i++)
    {
      TmReadingPart part = g_array_index (plain->parts, TmReadingPart, i);

      part.order = order;
      part.head = plain->rows / heads;
      tm_reading_add (reading, &part);
    }
  add (hypotheses, reading, tier);
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

/* --- Fused attention ---------------------------------------------------------------------------------------------- */

typedef enum
{
  LAYOUT_SEPARATE, /* a tensor each */
  LAYOUT_PLAIN,    /* all of q, all of k, all of v */
  LAYOUT_GROUPED,  /* a key head at a time: its q heads, k, v */
} Layout;

typedef struct
{
  const TmTransforms *transforms;
  Layout from;
  guint reference[3]; /* of q, k, v; all the same where they are fused */
  guint64 heads, kv, head, columns;
  TmRowOrder order; /* of q and k */
} Attention;

static guint64
get_row (const Attention *attention, guint which, guint64 i)
{
  guint64 d = attention->head, per = attention->heads / attention->kv;

  if (attention->from == LAYOUT_SEPARATE)
    return i * d;
  if (attention->from == LAYOUT_PLAIN)
    return d * (i + (which == 0 ? 0 : attention->heads + (which == 2 ? attention->kv : 0)));
  if (which == 0)
    return d * (i / per * (per + 2) + i % per);
  return d * (i * (per + 2) + per + (which == 2 ? 1 : 0));
}

static void
add_head (const Attention *attention, guint which, guint64 i, TmReading *reading)
{
  TmReadingPart part = make_part (attention->transforms, attention->reference[which],
                                  get_row (attention, which, i) * attention->columns, attention->head, attention->columns, 1);

  if (which < 2 && attention->order != TM_ROWS_AS_THEY_ARE)
    {
      part.order = attention->order;
      part.head = attention->head;
    }
  tm_reading_add (reading, &part);
}

static TmReading *
make_attention (const Attention *attention, Layout to, guint only, char *words)
{
  TmReading *reading = tm_reading_new (attention->columns, words);
  guint64 per = attention->heads / attention->kv;

  if (to == LAYOUT_GROUPED)
    for (guint64 g = 0; g < attention->kv; g++)
      {
        for (guint64 i = 0; i < per; i++)
          add_head (attention, 0, g * per + i, reading);
        add_head (attention, 1, g, reading);
        add_head (attention, 2, g, reading);
      }
  else
    for (guint which = 0; which < 3; which++)
      for (guint64 i = 0; (only == 3 || only == which) && i < (which == 0 ? attention->heads : attention->kv); i++)
        add_head (attention, which, i, reading);
  return reading;
}

/* Head counts worth a try for rows of q and of k: told ones, then usual head sizes. Calls with head 1 first, which is all
 * that plain layouts ask for. */
static void
foreach_heads (const Attention *shape, guint64 q_rows, guint64 k_rows, void (*func) (const Attention *, guint tier, gpointer),
               gpointer data)
{
  static const guint sizes[] = { 64, 128, 80, 96, 32, 256, 112, 160, 192, 48, 16, 8 };
  Attention attention = *shape;

  for (guint i = 0; i < shape->transforms->n_heads; i++)
    {
      attention.heads = shape->transforms->heads[i].heads;
      attention.kv = shape->transforms->heads[i].kv;
      attention.head = q_rows / attention.heads;
      if (attention.heads * attention.head == q_rows && attention.kv * attention.head == k_rows
          && attention.heads % attention.kv == 0)
        func (&attention, 0, data);
    }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      attention.head = sizes[i];
      attention.heads = q_rows / sizes[i];
      attention.kv = k_rows / sizes[i];
      if (q_rows % sizes[i] == 0 && k_rows % sizes[i] == 0 && attention.kv > 0 && attention.heads % attention.kv == 0)
        func (&attention, 1, data);
    }
}

static void
add_regrouped (const Attention *shape, guint tier, gpointer hypotheses)
{
  Attention attention = *shape;

  for (guint way = 0; way < 2; way++)
    {
      char *words = g_strdup_printf ("regrouped-qkv(heads=%" G_GUINT64_FORMAT ",kv=%" G_GUINT64_FORMAT ")", attention.heads,
                                     attention.kv);

      attention.from = way == 0 ? LAYOUT_GROUPED : LAYOUT_PLAIN;
      add (hypotheses, make_attention (&attention, way == 0 ? LAYOUT_PLAIN : LAYOUT_GROUPED, 3, words), tier);
    }
}

/* Fused on both sides, heads regrouped. */
static void
add_qkv_regrouped (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 columns,
                   GArray *hypotheses)
{
  Attention shape = { .transforms = transforms, .reference = { reference, reference, reference }, .columns = columns };
  guint64 rows = candidate->n_elements / MAX (columns, 1);

  for (guint i = 0; i < transforms->n_heads; i++)
    {
      guint64 all = transforms->heads[i].heads + 2 * transforms->heads[i].kv;

      if (rows % all == 0)
        foreach_heads (&shape, rows / all * transforms->heads[i].heads, rows / all * transforms->heads[i].kv, add_regrouped,
                       hypotheses);
    }
  if (transforms->n_heads == 0 && rows % 3 == 0)
    foreach_heads (&shape, rows / 3, rows / 3, add_regrouped, hypotheses);
}

typedef struct
{
  GArray *hypotheses;
  guint which;
} QkvPart;

static void
add_qkv_part_of_heads (const Attention *shape, guint tier, gpointer data)
{
  static const TmRowOrder orders[] = { TM_ROWS_AS_THEY_ARE, TM_ROWS_ROTARY, TM_ROWS_ROTARY_BACK };
  static const Layout layouts[] = { LAYOUT_PLAIN, LAYOUT_GROUPED };
  const QkvPart *part = data;
  Attention attention = *shape;

  for (guint l = 0; l < G_N_ELEMENTS (layouts); l++)
    for (guint o = 0; o < G_N_ELEMENTS (orders) && (o == 0 || part->which < 2); o++)
      {
        GString *words = g_string_new ("split-qkv");

        attention.from = layouts[l];
        attention.order = orders[o];
        if (layouts[l] == LAYOUT_GROUPED)
          g_string_append_printf (words, "(heads=%" G_GUINT64_FORMAT ",kv=%" G_GUINT64_FORMAT ")", attention.heads,
                                  attention.kv);
        if (o > 0)
          g_string_append_printf (words, " + rotary-permutation(heads=%" G_GUINT64_FORMAT ")",
                                  part->which == 0 ? attention.heads : attention.kv);
        add (part->hypotheses, make_attention (&attention, LAYOUT_SEPARATE, part->which, g_string_free (words, FALSE)), tier);
      }
}

void
tm_transforms_add_qkv_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                            GArray *hypotheses)
{
  const TmTensor *fused = get_reference (transforms, reference);
  guint64 columns = candidate->rank > 1 ? get_columns (candidate) : 1, rows = candidate->n_elements / MAX (columns, 1), all, q, k;
  Attention shape = { .transforms = transforms, .from = LAYOUT_PLAIN, .reference = { reference, reference, reference },
                      .columns = columns };
  QkvPart part = { hypotheses, which };

  if (columns == 0 || rows == 0 || (fused->rank > 1 ? get_columns (fused) : 1) != columns)
    return;
  all = fused->n_elements / columns;
  if (all > MAX_ATTENTION_ROWS || all <= rows || (which > 0 && all <= 2 * rows) || (which == 0 && (all - rows) % 2 != 0))
    return;
  q = which == 0 ? rows : all - 2 * rows;
  k = which == 0 ? (all - rows) / 2 : rows;
  shape.heads = q; /* heads of one row: the plain layout needs no more */
  shape.kv = k;
  shape.head = 1;
  add (hypotheses, make_attention (&shape, LAYOUT_SEPARATE, which, g_strdup ("split-qkv")), 0);
  foreach_heads (&shape, q, k, add_qkv_part_of_heads, &part);
}

static void
add_qkv_join_of_heads (const Attention *shape, guint tier, gpointer hypotheses)
{
  static const TmRowOrder orders[] = { TM_ROWS_AS_THEY_ARE, TM_ROWS_ROTARY, TM_ROWS_ROTARY_BACK };
  static const Layout layouts[] = { LAYOUT_PLAIN, LAYOUT_GROUPED };
  Attention attention = *shape;

  for (guint l = 0; l < G_N_ELEMENTS (layouts); l++)
    for (guint o = 0; o < G_N_ELEMENTS (orders); o++)
      {
        GString *words = g_string_new ("fused-qkv");

        attention.order = orders[o];
        if (layouts[l] == LAYOUT_GROUPED)
          g_string_append_printf (words, "(heads=%" G_GUINT64_FORMAT ",kv=%" G_GUINT64_FORMAT ")", attention.heads,
                                  attention.kv);
        if (o > 0)
          g_string_append_printf (words, " + rotary-permutation(heads=%" G_GUINT64_FORMAT ")", attention.heads);
        add (hypotheses, make_attention (&attention, layouts[l], 3, g_string_free (words, FALSE)), tier);
      }
}

void
tm_transforms_add_qkv_join (const TmTransforms *transforms, const TmTensor *candidate, const guint references[3],
                            GArray *hypotheses)
{
  guint64 columns = candidate->rank > 1 ? get_columns (candidate) : 1, rows[3];
  Attention shape = { .transforms = transforms, .from = LAYOUT_SEPARATE, .columns = columns, .head = 1,
                      .reference = { references[0], references[1], references[2] } };

  for (guint i = 0; i < 3; i++)
    {
      const TmTensor *one = get_reference (transforms, references[i]);

      if (columns == 0 || (one->rank > 1 ? get_columns (one) : 1) != columns)
        return;
      rows[i] = one->n_elements / columns;
    }
  if (rows[1] == 0 || MAX (rows[0], rows[1]) > MAX_ATTENTION_ROWS || rows[1] != rows[2] || (rows[0] + rows[1] + rows[2]) * columns != candidate->n_elements)
    return;
  shape.heads = rows[0];
  shape.kv = rows[1];
  add (hypotheses, make_attention (&shape, LAYOUT_PLAIN, 3, g_strdup ("fused-qkv")), 0);
  foreach_heads (&shape, rows[0], rows[1], add_qkv_join_of_heads, hypotheses);
}

/* --- One for one -------------------------------------------------------------------------------------------------- */

static TmReading *
make_flat (const TmTransforms *transforms, guint reference, guint64 rows, guint64 columns, const char *words)
{
  TmReading *reading = tm_reading_new (columns, g_strdup (words));
  TmReadingPart part = make_part (transforms, reference, 0, rows, columns, 1);

  tm_reading_add (reading, &part);
  return reading;
}

/* The last two axes the other way round. */
static void
add_transposed (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 columns, GArray *hypotheses)
{
  Shape a = squeeze (candidate), b = squeeze (get_reference (transforms, reference));
  guint64 planes = a.rank == 3 ? a.axis[0] : 1;
  const guint64 *at = a.axis + (a.rank == 3 ? 1 : 0), *bt = b.axis + (b.rank == 3 ? 1 : 0);
  TmReading *reading;

  if (a.rank != b.rank || (a.rank != 2 && a.rank != 3) || (a.rank == 3 && a.axis[0] != b.axis[0]) || at[0] != bt[1]
      || at[1] != bt[0] || at[1] != columns || planes > MAX_PLANES)
    return;
  reading = tm_reading_new (columns, g_strdup ("transpose"));
  for (guint64 i = 0; i < planes; i++)
    {
      TmReadingPart part = make_plane (transforms, reference, i * at[0] * at[1], at[0], at[1], TRUE);

      tm_reading_add (reading, &part);
    }
  add (hypotheses, reading, at[0] == at[1] ? 1 : 0);
}

static gboolean
kind_is (const TmNameKey *key, const char *kind)
{
  return key->kind != NULL && strcmp (key->kind, kind) == 0;
}

static void
add_change (const TmReading *plain, TmValueChange change, const char *words, GArray *hypotheses)
{
  TmReading *reading = copy_reading (plain, join_words (plain->words, words));

  reading->change = change;
  add (hypotheses, reading, 0);
}

static void
add_variants (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate, guint reference,
              const TmReading *plain, GArray *hypotheses)
{
  if (kind_is (key, "attn_q") || kind_is (key, "attn_k"))
    add_rotaries (transforms, plain, kind_is (key, "attn_k"), hypotheses);
  if (kind_is (key, "attn_qkv"))
    add_qkv_regrouped (transforms, candidate, reference, plain->columns, hypotheses);
  if (!key->bias && squeeze (candidate).rank <= 1 && strstr (key->key, "norm") != NULL)
    {
      add_change (plain, TM_CHANGE_PLUS_ONE, "norm-plus-one", hypotheses);
      add_change (plain, TM_CHANGE_MINUS_ONE, "norm-minus-one", hypotheses);
    }
  if (kind_is (key, "ssm_a"))
    {
      add_change (plain, TM_CHANGE_NEG_EXP, "negative-exp", hypotheses);
      add_change (plain, TM_CHANGE_LOG_NEG, "log-of-negative", hypotheses);
    }
}

void
tm_transforms_add_single (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate, guint reference,
                          GArray *hypotheses)
{
  const TmTensor *other = get_reference (transforms, reference);
  gboolean moves = kind_is (key, "attn_q") || kind_is (key, "attn_k") || kind_is (key, "attn_qkv");
  guint64 columns = candidate->rank > 1 || !moves ? get_columns (candidate) : 1, rows;
  guint before = hypotheses->len;

  if (columns == 0 || candidate->n_elements == 0 || other->n_elements == 0)
    return;
  rows = candidate->n_elements / columns;
  if (same_squeezed (candidate, other))
    add (hypotheses, make_flat (transforms, reference, rows, columns, same_shape (candidate, other) ? "identity" : "squeeze"),
         0);
  add_transposed (transforms, candidate, reference, columns, hypotheses);
  if (hypotheses->len == before && candidate->n_elements == other->n_elements)
    add (hypotheses, make_flat (transforms, reference, rows, columns, "reshape"), 0);
  if (hypotheses->len == before && candidate->rank == 2 && other->rank == 2 && get_columns (other) == columns
      && (kind_is (key, "token_embd") || kind_is (key, "output") || kind_is (key, "position_embd")))
    {
      guint64 common = MIN (rows, other->shape[0]);
      g_autofree char *words = g_strdup_printf ("common-rows(%" G_GUINT64_FORMAT ")", common);

      add (hypotheses, make_flat (transforms, reference, common, columns, words), 0);
    }
  if (hypotheses->len > before)
    {
      g_autoptr (TmReading) plain = copy_reading (g_array_index (hypotheses, TmHypothesis, before).reading, NULL);

      plain->words = g_strdup (g_array_index (hypotheses, TmHypothesis, before).reading->words);
      add_variants (transforms, key, candidate, reference, plain, hypotheses);
    }
}

/* --- Experts ------------------------------------------------------------------------------------------------------ */

void
tm_transforms_add_stack (const TmTransforms *transforms, const TmTensor *candidate, const guint *references, guint n,
                         GArray *hypotheses)
{
  guint64 columns = get_columns (candidate), rows;

  if (candidate->rank < 2 || candidate->rank > 3 || candidate->shape[0] != n || candidate->n_elements == 0)
    return;
  rows = candidate->rank == 3 ? candidate->shape[1] : 1;
  for (guint transposed = 0; transposed < 2; transposed++)
    {
      TmReading *reading = tm_reading_new (
          columns, g_strdup_printf (transposed ? "stacked-experts(%u) + transpose" : "stacked-experts(%u)", n));
      gboolean fits = TRUE;

      for (guint i = 0; i < n && fits; i++)
        {
          const TmTensor *one = get_reference (transforms, references[i]);
          TmReadingPart part = make_plane (transforms, references[i], 0, rows, columns, transposed);

          fits = one->n_elements == rows * columns && get_columns (one) == (transposed ? rows : columns);
          if (fits)
            tm_reading_add (reading, &part);
        }
      if (fits && (!transposed || rows > 1))
        add (hypotheses, reading, transposed && rows == columns ? 1 : 0);
      else
        tm_reading_free (reading);
    }
}

void
tm_transforms_add_expert (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint64 expert,
                          GArray *hypotheses)
{
  const TmTensor *stack = get_reference (transforms, reference);
  guint64 columns = get_columns (candidate), rows = candidate->n_elements / MAX (columns, 1);

  if (stack->rank < 2 || stack->rank > 3 || expert >= stack->shape[0] || candidate->n_elements == 0
      || stack->n_elements / stack->shape[0] != candidate->n_elements)
    return;
  for (guint transposed = 0; transposed < 2; transposed++)
    {
      TmReadingPart part = make_plane (transforms, reference, expert * candidate->n_elements, rows, columns, transposed);
      TmReading *reading;

      if (get_columns (stack) != (transposed ? rows : columns) || (transposed && rows == 1))
        continue;
      reading = tm_reading_new (columns, g_strdup_printf (transposed ? "expert-slice(%" G_GUINT64_FORMAT ") + transpose"
                                                                     : "expert-slice(%" G_GUINT64_FORMAT ")", expert));
      tm_reading_add (reading, &part);
      add (hypotheses, reading, transposed && rows == columns ? 1 : 0);
    }
}

/* --- Gate and up -------------------------------------------------------------------------------------------------- */

/* [experts, rows, columns], from rank 3, or one expert's from rank 2; vectors have columns 1. */
static gboolean
get_stack (const TmTensor *tensor, gboolean bias, guint64 stack[3])
{
  guint rank = tensor->rank + (bias ? 1 : 0);

  if (tensor->n_elements == 0 || (rank != 2 && rank != 3))
    return FALSE;
  stack[0] = rank == 3 ? tensor->shape[0] : 1;
  stack[2] = bias ? 1 : get_columns (tensor);
  stack[1] = tensor->n_elements / stack[0] / stack[2];
  return TRUE;
}

static gboolean
is_vector (const TmTensor *candidate, const TmTensor *reference, gboolean stacked)
{
  return candidate->rank == reference->rank && candidate->rank == (stacked ? 2 : 1);
}

void
tm_transforms_add_gate_up_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                                GArray *hypotheses)
{
  const TmTensor *fused = get_reference (transforms, reference);
  /* A matrix of gate rows has half of the fused one's rows; a stack of biases half of its columns. */
  gboolean bias = is_vector (candidate, fused, FALSE)
                  || (is_vector (candidate, fused, TRUE) && get_columns (fused) == 2 * get_columns (candidate)
                      && candidate->shape[0] == fused->shape[0]);
  guint64 a[3], b[3];

  if (!get_stack (candidate, bias, a) || !get_stack (fused, bias, b) || a[0] != b[0] || a[0] > MAX_PLANES)
    return;
  for (guint transposed = 0; transposed < 2; transposed++)
    for (guint alternate = 0; alternate < 2; alternate++)
      {
        guint64 rows = a[1], columns = a[2], step = transposed ? 1 : columns;
        TmReading *reading;

        if (transposed ? bias || b[1] != columns || b[2] != 2 * rows : b[1] != 2 * rows || b[2] != columns)
          continue;
        reading = tm_reading_new (columns, g_strconcat ("split-gate-up(", alternate ? "alternate" : "halves", ")",
                                                        transposed ? " + transpose" : "", NULL));
        for (guint64 expert = 0; expert < a[0]; expert++)
          {
            guint64 base = expert * 2 * rows * columns + which * (alternate ? step : rows * step);
            TmReadingPart part = make_part (transforms, reference, base, rows, alternate ? 2 * step : step,
                                            transposed ? 2 * rows : 1);

            tm_reading_add (reading, &part);
          }
        add (hypotheses, reading, 0);
      }
}

void
tm_transforms_add_gate_up_join (const TmTransforms *transforms, const TmTensor *candidate, guint gate, guint up,
                                GArray *hypotheses)
{
  const TmTensor *half = get_reference (transforms, gate);
  gboolean bias = is_vector (candidate, half, FALSE)
                  || (is_vector (candidate, half, TRUE) && get_columns (candidate) == 2 * get_columns (half)
                      && candidate->shape[0] == half->shape[0]);
  guint64 a[3], b[3], c[3];
  TmReading *reading;

  if (!get_stack (candidate, bias, a) || !get_stack (half, bias, b) || !get_stack (get_reference (transforms, up), bias, c)
      || memcmp (b, c, sizeof b) != 0 || a[0] != b[0] || a[1] != 2 * b[1] || a[2] != b[2] || a[0] > MAX_PLANES)
    return;
  reading = tm_reading_new (a[2], g_strdup ("fused-gate-up"));
  for (guint64 expert = 0; expert < a[0]; expert++)
    for (guint which = 0; which < 2; which++)
      {
        TmReadingPart part = make_plane (transforms, which == 0 ? gate : up, expert * b[1] * b[2], b[1], b[2], FALSE);

        tm_reading_add (reading, &part);
      }
  add (hypotheses, reading, 0);
}

/* --- Latent attention --------------------------------------------------------------------------------------------- */

void
tm_transforms_add_latent_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                               GArray *hypotheses)
{
  const TmTensor *joined = get_reference (transforms, reference);
  guint64 heads, latent, all, size;
  TmReading *reading;

  if (candidate->rank != 3 || joined->rank != 2 || candidate->n_elements == 0 || joined->n_elements == 0)
    return;
  heads = candidate->shape[0];
  latent = candidate->shape[which == 0 ? 1 : 2];
  size = candidate->shape[which == 0 ? 2 : 1];
  all = joined->shape[0] / heads;
  if (joined->shape[1] != latent || all * heads != joined->shape[0] || all <= size || heads > MAX_PLANES)
    return;
  reading = tm_reading_new (get_columns (candidate), g_strdup (which == 0 ? "split-kv-b + transpose" : "split-kv-b"));
  for (guint64 head = 0; head < heads; head++)
    {
      guint64 base = (head * all + (which == 0 ? 0 : all - size)) * latent;
      TmReadingPart part = which == 0 ? make_part (transforms, reference, base, latent, 1, latent)
                                      : make_part (transforms, reference, base, size, latent, 1);

      tm_reading_add (reading, &part);
    }
  add (hypotheses, reading, 0);
}

void
tm_transforms_add_latent_join (const TmTransforms *transforms, const TmTensor *candidate, guint k_b, guint v_b,
                               GArray *hypotheses)
{
  const TmTensor *k = get_reference (transforms, k_b), *v = get_reference (transforms, v_b);
  TmReading *reading;

  if (candidate->rank != 2 || k->rank != 3 || v->rank != 3 || k->shape[0] != v->shape[0] || k->shape[1] != candidate->shape[1]
      || v->shape[2] != candidate->shape[1] || candidate->n_elements == 0 || k->n_elements == 0 || v->n_elements == 0
      || k->shape[0] > MAX_PLANES
      || k->shape[0] * (k->shape[2] + v->shape[1]) != candidate->shape[0])
    return;
  reading = tm_reading_new (candidate->shape[1], g_strdup ("joined-kv-b + transpose"));
  for (guint64 head = 0; head < k->shape[0]; head++)
    {
      TmReadingPart part = make_plane (transforms, k_b, head * k->shape[1] * k->shape[2], k->shape[2], k->shape[1], TRUE);

      tm_reading_add (reading, &part);
      part = make_plane (transforms, v_b, head * v->shape[1] * v->shape[2], v->shape[1], v->shape[2], FALSE);
      tm_reading_add (reading, &part);
    }
  add (hypotheses, reading, 0);
}
