/* Linear attention: value heads in another order, and projections in one tensor or in several. */
#include "analysis/transforms-private.h"

#include <string.h>

/* --- Order of value heads ----------------------------------------------------------------------------------------- */

/* What of a tensor goes by value heads: its last rows, or its columns. */
static const struct
{
  const char *kind;
  gboolean after_keys, one_row, columns;
} by_value_head[] = {
  { "attn_qkv", TRUE, FALSE, FALSE }, { "ssm_conv1d", TRUE, FALSE, FALSE }, { "attn_gate", FALSE, FALSE, FALSE },
  { "ssm_alpha", FALSE, TRUE, FALSE }, { "ssm_beta", FALSE, TRUE, FALSE },  { "ssm_a", FALSE, TRUE, FALSE },
  { "ssm_dt", FALSE, TRUE, FALSE },    { "ssm_out", FALSE, FALSE, TRUE },
};

static gint
find_kind (const TmNameKey *key)
{
  for (guint i = 0; key->kind != NULL && i < G_N_ELEMENTS (by_value_head); i++)
    if (strcmp (key->kind, by_value_head[i].kind) == 0)
      return (gint) i;
  return -1;
}

guint64
tm_transforms_get_value_columns (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate)
{
  gint kind = find_kind (key);

  if (kind < 0 || !by_value_head[kind].columns || candidate->rank != 2)
    return 0;
  for (guint i = 0; i < transforms->n_linear; i++)
    if (candidate->shape[1] == transforms->linear[i].values * transforms->linear[i].value_size)
      return transforms->linear[i].value_size;
  return 0;
}

/* rows: of the plain reading; the first of them stay. */
static void
add_dealt (const TmReading *plain, guint64 kept, guint64 head, guint64 unit, guint64 ways, GArray *hypotheses)
{
  TmReadingPart part = g_array_index (plain->parts, TmReadingPart, 0), moved = part;
  g_autofree char *words = g_strdup_printf ("value-heads(%" G_GUINT64_FORMAT " from %" G_GUINT64_FORMAT ")",
                                            head / unit / ways, ways);
  TmReading *reading = tm_reading_new (plain->columns, tm_words_join (plain->words, words));

  part.n_rows = kept;
  if (kept > 0)
    tm_reading_add (reading, &part);
  moved.n_rows -= kept;
  moved.base += kept * moved.row_step;
  moved.order = TM_ROWS_DEALT;
  moved.head = head;
  moved.unit = unit;
  moved.ways = ways;
  tm_reading_add (reading, &moved);
  tm_hypotheses_add (hypotheses, reading, 0);
}

void
tm_transforms_add_value_heads (const TmTransforms *transforms, const TmNameKey *key, const TmTensor *candidate,
                               const TmReading *plain, GArray *hypotheses)
{
  gint kind = find_kind (key);

  if (kind < 0 || plain->parts->len != 1)
    return;
  for (guint i = 0; i < transforms->n_linear; i++)
    {
      guint64 keys = transforms->linear[i].keys, values = transforms->linear[i].values;
      guint64 kept = by_value_head[kind].after_keys ? 2 * keys * transforms->linear[i].key_size : 0;
      guint64 unit = by_value_head[kind].one_row || by_value_head[kind].columns ? 1 : transforms->linear[i].value_size;
      guint64 head = values * unit;

      if (values % keys != 0 || values == keys || plain->rows <= kept
          || (by_value_head[kind].columns
                  ? plain->columns != transforms->linear[i].value_size || (plain->rows - kept) % head != 0
                  : plain->rows - kept != head))
        continue;
      add_dealt (plain, kept, head, unit, keys, hypotheses);
      add_dealt (plain, kept, head, unit, values / keys, hypotheses);
    }
}

/* --- All projections in one --------------------------------------------------------------------------------------- */

typedef struct
{
  const TmTransforms *transforms;
  guint64 keys, key_rows, value_rows, columns; /* rows of one key head, and of its value heads */
} Projection;

static const guint64 usual_keys[] = { 16, 32, 8, 64, 4, 2, 1 };

/* The k-th number of key heads to try: told ones first. 0: there are no more. */
static guint64
get_keys (const TmTransforms *transforms, guint k, guint *tier)
{
  *tier = k < transforms->n_linear ? 0 : 1;
  if (k < transforms->n_linear)
    return transforms->linear[k].keys;
  k -= transforms->n_linear;
  return k < G_N_ELEMENTS (usual_keys) ? usual_keys[k] : 0;
}

static gboolean
set_projection (Projection *projection, guint64 keys, guint64 all, guint64 gate)
{
  if (all <= 2 * gate || (all - 2 * gate) % (2 * keys) != 0 || gate % keys != 0 || gate == 0)
    return FALSE;
  projection->keys = keys;
  projection->key_rows = (all - 2 * gate) / 2 / keys;
  projection->value_rows = gate / keys;
  return TRUE;
}

static void
add_rows (const Projection *projection, guint reference, guint64 row, guint64 n, TmReading *reading)
{
  TmReadingPart part = tm_transforms_make_part (projection->transforms, reference, row * projection->columns, n,
                                                projection->columns, 1);

  tm_reading_add (reading, &part);
}

void
tm_transforms_add_qkvz_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                             GArray *hypotheses)
{
  const TmTensor *all = tm_transforms_get_reference (transforms, reference);
  Projection projection = { .transforms = transforms, .columns = tm_tensor_get_columns (candidate) };
  guint64 gate, keys;
  guint tier;

  if (candidate->rank != 2 || all->rank != 2 || all->shape[1] != candidate->shape[1] || candidate->n_elements == 0
      || all->shape[0] <= candidate->shape[0])
    return;
  gate = which == 1 ? candidate->shape[0] : all->shape[0] - candidate->shape[0];
  for (guint k = 0; (keys = get_keys (transforms, k, &tier)) != 0; k++)
    {
      guint64 row, rows[4];
      TmReading *reading;

      if (!set_projection (&projection, keys, all->shape[0], gate))
        continue;
      row = 2 * projection.key_rows + 2 * projection.value_rows;
      rows[0] = rows[1] = projection.key_rows;
      rows[2] = rows[3] = projection.value_rows;
      reading = tm_reading_new (projection.columns, g_strdup_printf ("split-qkvz(heads=%" G_GUINT64_FORMAT ")", keys));
      for (guint part = which == 1 ? 3 : 0; part < (which == 1 ? 4 : 3); part++)
        for (guint64 head = 0; head < keys; head++)
          {
            guint64 at = head * row;

            for (guint before = 0; before < part; before++)
              at += rows[before];
            add_rows (&projection, reference, at, rows[part], reading);
          }
      tm_hypotheses_add (hypotheses, reading, tier);
    }
}

void
tm_transforms_add_qkvz_join (const TmTransforms *transforms, const TmTensor *candidate, guint qkv, guint gate,
                             GArray *hypotheses)
{
  const TmTensor *z = tm_transforms_get_reference (transforms, gate), *other = tm_transforms_get_reference (transforms, qkv);
  Projection projection = { .transforms = transforms, .columns = tm_tensor_get_columns (candidate) };
  guint64 keys;
  guint tier;

  if (candidate->rank != 2 || z->rank != 2 || other->rank != 2 || z->shape[1] != candidate->shape[1]
      || other->shape[1] != candidate->shape[1] || candidate->n_elements == 0
      || z->shape[0] + other->shape[0] != candidate->shape[0])
    return;
  for (guint k = 0; (keys = get_keys (transforms, k, &tier)) != 0; k++)
    {
      TmReading *reading;

      if (!set_projection (&projection, keys, candidate->shape[0], z->shape[0]))
        continue;
      reading = tm_reading_new (projection.columns, g_strdup_printf ("fused-qkvz(heads=%" G_GUINT64_FORMAT ")", keys));
      for (guint64 head = 0; head < keys; head++)
        {
          guint64 all_keys = keys * projection.key_rows;

          add_rows (&projection, qkv, head * projection.key_rows, projection.key_rows, reading);
          add_rows (&projection, qkv, all_keys + head * projection.key_rows, projection.key_rows, reading);
          add_rows (&projection, qkv, 2 * all_keys + head * projection.value_rows, projection.value_rows, reading);
          add_rows (&projection, gate, head * projection.value_rows, projection.value_rows, reading);
        }
      tm_hypotheses_add (hypotheses, reading, tier);
    }
}
