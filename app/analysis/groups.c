#include "analysis/groups.h"

static gboolean
set_band (TmGroupLayout *layout, guint64 line, guint64 band_lines, guint64 extent)
{
  layout->line = line;
  layout->band_lines = MAX (band_lines, 1);
  layout->extent = MAX (extent, 1);
  layout->width = (line + layout->extent - 1) / layout->extent;
  return TRUE;
}

/* Whether all axes before one have extent 1. */
static gboolean
is_one_before (const TmGranularity *granularity, const guint64 *extent, guint axis)
{
  for (guint i = 0; i < axis; i++)
    if (extent[i] != 1)
      return FALSE;
  return TRUE;
}

static gboolean
find_bands (TmGroupLayout *layout, const TmGranularity *granularity)
{
  const guint64 *shape = granularity->shape, *extent = granularity->level[granularity->n_levels - 1].extent;
  guint rank = granularity->rank, cut = rank;
  guint64 inner = 1;

  while (cut > 0 && extent[cut - 1] >= shape[cut - 1])
    inner *= shape[--cut];
  if (cut == 0)
    return FALSE;
  cut--;
  if (is_one_before (granularity, extent, cut)) /* runs that lie together */
    return set_band (layout, shape[cut] * inner, 1, extent[cut] * inner);
  if (rank >= 2 && cut == rank - 1 && is_one_before (granularity, extent, rank - 2)
      && (rank == 2 || shape[rank - 2] % extent[rank - 2] == 0))
    return set_band (layout, shape[rank - 1], extent[rank - 2], extent[rank - 1]);
  return FALSE;
}

static gboolean
find_table_bands (TmGroupLayout *layout, const TmGranularity *granularity)
{
  const guint64 *extent = granularity->level[granularity->n_levels - 1].extent;

  if (granularity->rank != 2 || granularity->table_axis != 1)
    return FALSE;
  set_band (layout, granularity->shape[1], extent[0], 1);
  layout->table = granularity->table;
  layout->width = 0;
  for (guint64 i = 0; i < granularity->shape[1]; i++)
    layout->width = MAX (layout->width, (guint64) layout->table[i] + 1);
  return layout->width <= granularity->shape[1];
}

void
tm_group_layout_init (TmGroupLayout *layout, const TmTensor *tensor)
{
  const TmGranularity *granularity = tensor->granularity;

  *layout = (TmGroupLayout) { 0 };
  if (tensor->n_elements == 0)
    return;
  if (granularity == NULL)
    layout->grouped = tensor->rank > 1 && !tensor->quantized
                      && set_band (layout, tensor->shape[tensor->rank - 1], 1, tensor->shape[tensor->rank - 1]);
  else if (granularity->table != NULL)
    layout->grouped = find_table_bands (layout, granularity);
  else
    layout->grouped = find_bands (layout, granularity);
}

guint64
tm_group_layout_next (const TmGroupLayout *layout, guint64 flat, guint64 max, guint64 *group)
{
  guint64 line, at, end;

  *group = 0;
  if (!layout->grouped)
    return max;
  line = flat / layout->line;
  at = flat % layout->line;
  if (layout->table != NULL)
    {
      *group = line / layout->band_lines * layout->width + layout->table[at];
      for (end = at + 1; end < layout->line && end - at < max && layout->table[end] == layout->table[at];)
        end++;
      return MIN (end - at, max);
    }
  *group = line / layout->band_lines * layout->width + at / layout->extent;
  end = MIN (at / layout->extent * layout->extent + layout->extent, layout->line);
  return MIN (end - at, max);
}
