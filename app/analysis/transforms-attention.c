/* Attention in one tensor or in several. */
#include "analysis/transforms-private.h"

#define MAX_ATTENTION_ROWS (1u << 24)

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
  TmReadingPart part = tm_transforms_make_part (attention->transforms, attention->reference[which],
                                                get_row (attention, which, i) * attention->columns, attention->head,
                                                attention->columns, 1);

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
foreach_heads (const Attention *shape, guint64 q_rows, guint64 k_rows,
               void (*func) (const Attention *, guint tier, gpointer), gpointer data)
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
      char *words = g_strdup_printf ("regrouped-qkv(heads=%" G_GUINT64_FORMAT ",kv=%" G_GUINT64_FORMAT ")",
                                     attention.heads, attention.kv);

      attention.from = way == 0 ? LAYOUT_GROUPED : LAYOUT_PLAIN;
      tm_hypotheses_add (hypotheses, make_attention (&attention, way == 0 ? LAYOUT_PLAIN : LAYOUT_GROUPED, 3, words),
                         tier);
    }
}

/* Fused on both sides, heads regrouped. */
void
tm_transforms_add_qkv_regrouped (const TmTransforms *transforms, const TmTensor *candidate, guint reference,
                                 guint64 columns, GArray *hypotheses)
{
  Attention shape = { .transforms = transforms, .reference = { reference, reference, reference }, .columns = columns };
  guint64 rows = candidate->n_elements / MAX (columns, 1);

  for (guint i = 0; i < transforms->n_heads; i++)
    {
      guint64 all = transforms->heads[i].heads + 2 * transforms->heads[i].kv;

      if (rows % all == 0)
        foreach_heads (&shape, rows / all * transforms->heads[i].heads, rows / all * transforms->heads[i].kv,
                       add_regrouped, hypotheses);
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
        tm_hypotheses_add (part->hypotheses,
                           make_attention (&attention, LAYOUT_SEPARATE, part->which, g_string_free (words, FALSE)),
                           tier);
      }
}

void
tm_transforms_add_qkv_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                            GArray *hypotheses)
{
  const TmTensor *fused = tm_transforms_get_reference (transforms, reference);
  guint64 columns = candidate->rank > 1 ? tm_tensor_get_columns (candidate) : 1,
          rows = candidate->n_elements / MAX (columns, 1), all, q, k;
  Attention shape = {
    .transforms = transforms, .from = LAYOUT_PLAIN, .reference = { reference, reference, reference }, .columns = columns
  };
  QkvPart part = { hypotheses, which };

  if (columns == 0 || rows == 0 || (fused->rank > 1 ? tm_tensor_get_columns (fused) : 1) != columns)
    return;
  all = fused->n_elements / columns;
  if (all > MAX_ATTENTION_ROWS || all <= rows || (which > 0 && all <= 2 * rows)
      || (which == 0 && (all - rows) % 2 != 0))
    return;
  q = which == 0 ? rows : all - 2 * rows;
  k = which == 0 ? (all - rows) / 2 : rows;
  shape.heads = q; /* heads of one row: the plain layout needs no more */
  shape.kv = k;
  shape.head = 1;
  tm_hypotheses_add (hypotheses, make_attention (&shape, LAYOUT_SEPARATE, which, g_strdup ("split-qkv")), 0);
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
        tm_hypotheses_add (hypotheses, make_attention (&attention, layouts[l], 3, g_string_free (words, FALSE)), tier);
      }
}

void
tm_transforms_add_qkv_join (const TmTransforms *transforms, const TmTensor *candidate, const guint references[3],
                            GArray *hypotheses)
{
  guint64 columns = candidate->rank > 1 ? tm_tensor_get_columns (candidate) : 1, rows[3];
  Attention shape = { .transforms = transforms,
                      .from = LAYOUT_SEPARATE,
                      .columns = columns,
                      .head = 1,
                      .reference = { references[0], references[1], references[2] } };

  for (guint i = 0; i < 3; i++)
    {
      const TmTensor *one = tm_transforms_get_reference (transforms, references[i]);

      if (columns == 0 || (one->rank > 1 ? tm_tensor_get_columns (one) : 1) != columns)
        return;
      rows[i] = one->n_elements / columns;
    }
  if (rows[1] == 0 || MAX (rows[0], rows[1]) > MAX_ATTENTION_ROWS || rows[1] != rows[2]
      || (rows[0] + rows[1] + rows[2]) * columns != candidate->n_elements)
    return;
  shape.heads = rows[0];
  shape.kv = rows[1];
  tm_hypotheses_add (hypotheses, make_attention (&shape, LAYOUT_PLAIN, 3, g_strdup ("fused-qkv")), 0);
  foreach_heads (&shape, rows[0], rows[1], add_qkv_join_of_heads, hypotheses);
}

/* --- Latent attention --------------------------------------------------------------------------------------------- */

void
tm_transforms_add_latent_part (const TmTransforms *transforms, const TmTensor *candidate, guint reference, guint which,
                               GArray *hypotheses)
{
  const TmTensor *joined = tm_transforms_get_reference (transforms, reference);
  guint64 heads, latent, all, size;
  TmReading *reading;

  if (candidate->rank != 3 || joined->rank != 2 || candidate->n_elements == 0 || joined->n_elements == 0)
    return;
  heads = candidate->shape[0];
  latent = candidate->shape[which == 0 ? 1 : 2];
  size = candidate->shape[which == 0 ? 2 : 1];
  all = joined->shape[0] / heads;
  if (joined->shape[1] != latent || all * heads != joined->shape[0] || all <= size || heads > TM_MAX_PLANES)
    return;
  reading = tm_reading_new (tm_tensor_get_columns (candidate),
                            g_strdup (which == 0 ? "split-kv-b + transpose" : "split-kv-b"));
  for (guint64 head = 0; head < heads; head++)
    {
      guint64 base = (head * all + (which == 0 ? 0 : all - size)) * latent;
      TmReadingPart part = which == 0 ? tm_transforms_make_part (transforms, reference, base, latent, 1, latent)
                                      : tm_transforms_make_part (transforms, reference, base, size, latent, 1);

      tm_reading_add (reading, &part);
    }
  tm_hypotheses_add (hypotheses, reading, 0);
}

void
tm_transforms_add_latent_join (const TmTransforms *transforms, const TmTensor *candidate, guint k_b, guint v_b,
                               GArray *hypotheses)
{
  const TmTensor *k = tm_transforms_get_reference (transforms, k_b), *v = tm_transforms_get_reference (transforms, v_b);
  TmReading *reading;

  if (candidate->rank != 2 || k->rank != 3 || v->rank != 3 || k->shape[0] != v->shape[0]
      || k->shape[1] != candidate->shape[1] || v->shape[2] != candidate->shape[1] || candidate->n_elements == 0
      || k->n_elements == 0 || v->n_elements == 0 || k->shape[0] > TM_MAX_PLANES
      || k->shape[0] * (k->shape[2] + v->shape[1]) != candidate->shape[0])
    return;
  reading = tm_reading_new (candidate->shape[1], g_strdup ("joined-kv-b + transpose"));
  for (guint64 head = 0; head < k->shape[0]; head++)
    {
      TmReadingPart part = tm_transforms_make_plane (transforms, k_b, head * k->shape[1] * k->shape[2], k->shape[2],
                                                     k->shape[1], TRUE);

      tm_reading_add (reading, &part);
      part = tm_transforms_make_plane (transforms, v_b, head * v->shape[1] * v->shape[2], v->shape[1], v->shape[2],
                                       FALSE);
      tm_reading_add (reading, &part);
    }
  tm_hypotheses_add (hypotheses, reading, 0);
}
