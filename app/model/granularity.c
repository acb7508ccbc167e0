#include "model/granularity.h"

#include <string.h>

TmGranularity *
tm_granularity_new (guint rank, const guint64 *shape, gboolean reshaped, guint n_levels, const guint64 *level_extents,
                    const char *const *labels)
{
  TmGranularity *granularity = g_new0 (TmGranularity, 1);

  granularity->ref_count = 1;
  granularity->rank = rank;
  granularity->shape = g_memdup2 (shape, sizeof (guint64) * rank);
  granularity->reshaped = reshaped;
  granularity->n_levels = CLAMP (n_levels, 1, TM_MAX_LEVELS);
  granularity->table_axis = -1;
  for (guint i = 0; i < granularity->n_levels; i++)
    {
      TmGranularityLevel *level = &granularity->level[i];

      level->label = labels[i];
      level->extent = g_new (guint64, rank);
      level->written = g_new (guint64, rank);
      for (guint axis = 0; axis < rank; axis++)
        {
          level->written[axis] = MAX (level_extents[i * rank + axis], 1);
          level->extent[axis] = CLAMP (level->written[axis], 1, MAX (shape[axis], 1));
        }
    }
  return granularity;
}

void
tm_granularity_set_table (TmGranularity *granularity, guint axis, guint32 *table)
{
  g_free (granularity->table);
  granularity->table = table;
  granularity->table_axis = table ? (gint)axis : -1;
}

/* --- Order by group -------------------------------------------------------------------------------------------------- */

#define MAX_ORDER ((guint64) 1 << 22) /* longer rows than any weight has */

static void
order_free (TmAxisOrder *order)
{
  if (order == NULL)
    return;
  g_free (order->logical);
  g_free (order->shown);
  g_free (order);
}

static gint
compare_groups (gconstpointer a, gconstpointer b, gpointer table)
{
  const guint32 i = *(const guint32 *) a, j = *(const guint32 *) b, *group = table;

  if (group[i] != group[j])
    return group[i] < group[j] ? -1 : 1;
  return i < j ? -1 : i > j ? 1 : 0;
}

static TmAxisOrder *
order_new (guint32 *table, guint64 length)
{
  TmAxisOrder *order = g_new0 (TmAxisOrder, 1);

  order->length = length;
  order->logical = g_new (guint32, (gsize) length);
  order->shown = g_new (guint32, (gsize) length);
  for (guint32 i = 0; i < length; i++)
    order->logical[i] = i;
  g_qsort_with_data (order->logical, (gint) length, sizeof (guint32), compare_groups, table);
  for (guint32 i = 0; i < length; i++)
    order->shown[order->logical[i]] = i;
  return order;
}

const TmAxisOrder *
tm_granularity_get_order (TmGranularity *granularity)
{
  TmAxisOrder *order;

  if (granularity == NULL || granularity->table == NULL || granularity->shape[granularity->table_axis] > MAX_ORDER)
    return NULL;
  order = g_atomic_pointer_get (&granularity->order);
  if (order != NULL)
    return order;
  order = order_new (granularity->table, granularity->shape[granularity->table_axis]);
  if (!g_atomic_pointer_compare_and_exchange (&granularity->order, NULL, order))
    order_free (order); /* another thread was faster */
  return g_atomic_pointer_get (&granularity->order);
}

TmGranularity *
tm_granularity_ref (TmGranularity *granularity)
{
  g_atomic_int_inc (&granularity->ref_count);
  return granularity;
}

void
tm_granularity_unref (TmGranularity *granularity)
{
  if (!g_atomic_int_dec_and_test (&granularity->ref_count))
    return;
  for (guint i = 0; i < granularity->n_levels; i++)
    {
      g_free (granularity->level[i].extent);
      g_free (granularity->level[i].written);
    }
  g_free (granularity->shape);
  g_free (granularity->table);
  order_free (granularity->order);
  g_free (granularity);
}

gboolean
tm_granularity_equal_levels (const TmGranularity *a, const TmGranularity *b)
{
  if (a == b)
    return TRUE;
  if (a == NULL || b == NULL || a->rank != b->rank || a->n_levels != b->n_levels || a->reshaped != b->reshaped
      || a->table_axis != b->table_axis)
    return FALSE;
  for (guint level = 0; level < a->n_levels; level++)
    if (memcmp (a->level[level].written, b->level[level].written, sizeof (guint64) * a->rank) != 0)
      return FALSE;
  return TRUE;
}

static guint64
axis_length (const TmGranularity *granularity, guint axis)
{
  return MAX (granularity->shape[axis], 1);
}

TmGranularityKind
tm_granularity_get_kind (const TmGranularity *granularity)
{
  const guint64 *extent = granularity->level[granularity->n_levels - 1].extent;
  guint whole = 0, cut = 0, single = 0; /* axes longer than 1: one block, runs of blocks, every index its own */

  for (guint axis = 0; axis < granularity->rank; axis++)
    {
      guint64 length = axis_length (granularity, axis);

      if (length == 1)
        continue;
      if (extent[axis] >= length)
        whole++;
      else if (extent[axis] > 1)
        cut++;
      else
        single++;
    }
  if (cut == 0 && single == 0)
    return TM_PER_TENSOR;
  if (cut == 0 && single == 1)
    return whole > 0 ? TM_PER_CHANNEL : TM_PER_BLOCK;
  if (cut == 1 && whole == 0)
    return TM_PER_GROUP;
  return TM_PER_BLOCK;
}

const char *
tm_granularity_kind_get_name (TmGranularityKind kind)
{
  switch (kind)
    {
    case TM_PER_TENSOR:
      return "per-tensor";
    case TM_PER_CHANNEL:
      return "per-channel";
    case TM_PER_GROUP:
      return "per-group";
    case TM_PER_BLOCK:
    default:
      return "per-block";
    }
}

gint
tm_granularity_get_axis (const TmGranularity *granularity)
{
  TmGranularityKind kind = tm_granularity_get_kind (granularity);
  const guint64 *extent = granularity->level[granularity->n_levels - 1].extent;

  for (guint axis = 0; axis < granularity->rank; axis++)
    {
      guint64 length = axis_length (granularity, axis);

      if (length > 1
          && ((kind == TM_PER_CHANNEL && extent[axis] == 1)
              || (kind == TM_PER_GROUP && extent[axis] > 1 && extent[axis] < length)))
        return (gint)axis;
    }
  return -1;
}

/* "256", "128×128": the extents of one level without the axes on which every index stands alone. */
static void
append_extents (GString *text, const TmGranularity *granularity, guint level)
{
  const guint64 *written = granularity->level[level].written;
  gboolean any = FALSE;

  for (guint axis = 0; axis < granularity->rank; axis++)
    if (written[axis] > 1)
      {
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, any ? "×" : "", written[axis]);
        any = TRUE;
      }
  if (!any)
    g_string_append_c (text, '1');
}

static gboolean
level_is_whole (const TmGranularity *granularity, guint level)
{
  for (guint axis = 0; axis < granularity->rank; axis++)
    if (granularity->level[level].extent[axis] < axis_length (granularity, axis))
      return FALSE;
  return TRUE;
}

char *
tm_granularity_describe (const TmGranularity *granularity)
{
  GString *text;
  TmGranularityKind kind;

  if (granularity == NULL)
    return g_strdup ("not quantized");
  text = g_string_new (NULL);
  kind = tm_granularity_get_kind (granularity);
  g_string_append (text, tm_granularity_kind_get_name (kind));
  if (kind == TM_PER_CHANNEL)
    g_string_append_printf (text, " (axis %d)", tm_granularity_get_axis (granularity));
  else if (kind != TM_PER_TENSOR)
    {
      g_string_append_c (text, ' ');
      append_extents (text, granularity, granularity->n_levels - 1);
    }
  for (guint level = granularity->n_levels - 1; level-- > 0;)
    {
      g_string_append_printf (text, " ⊂ %s", granularity->level[level].label);
      if (!level_is_whole (granularity, level) || g_str_equal (granularity->level[level].label, "super-block"))
        {
          g_string_append_c (text, ' ');
          append_extents (text, granularity, level);
        }
    }
  if (granularity->reshaped)
    {
      g_string_append (text, " over [");
      for (guint axis = 0; axis < granularity->rank; axis++)
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, axis ? ", " : "", granularity->shape[axis]);
      g_string_append_c (text, ']');
    }
  if (granularity->table)
    g_string_append_printf (text, ", permuted (axis %d)", granularity->table_axis);
  return g_string_free (text, FALSE);
}

void
tm_granularity_get_block (const TmGranularity *granularity, guint level, const guint64 *index, guint64 *start,
                          guint64 *end)
{
  const guint64 *extent = granularity->level[MIN (level, granularity->n_levels - 1)].extent;

  for (guint axis = 0; axis < granularity->rank; axis++)
    {
      guint64 length = granularity->shape[axis];

      if (granularity->table && (gint)axis == granularity->table_axis && index[axis] < length)
        {
          const guint32 *table = granularity->table;
          guint64 first = index[axis], last = index[axis];

          while (first > 0 && table[first - 1] == table[index[axis]])
            first--;
          while (last + 1 < length && table[last + 1] == table[index[axis]])
            last++;
          start[axis] = first;
          end[axis] = last + 1;
          continue;
        }
      start[axis] = index[axis] / extent[axis] * extent[axis];
      end[axis] = start[axis] + MIN (extent[axis], length - MIN (length, start[axis]));
    }
}

guint64
tm_granularity_count_members (const TmGranularity *granularity, guint64 index)
{
  guint axis = (guint) granularity->table_axis;
  guint64 count = 0;

  if (granularity->table == NULL || index >= granularity->shape[axis])
    return 0;
  for (guint64 i = 0; i < granularity->shape[axis]; i++)
    count += granularity->table[i] == granularity->table[index];
  return count;
}
