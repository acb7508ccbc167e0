#include "analysis/statistics.h"

#include <math.h>

#include "analysis/statistics-private.h"
#include "io/number.h"

/* --- One ---------------------------------------------------------------------------------------------------------- */

TmStatistics *
tm_statistics_new (void)
{
  TmStatistics *statistics = g_new0 (TmStatistics, 1);

  statistics->ref_count = 1;
  statistics->tensors = 1;
  tm_distribution_init (&statistics->values);
  tm_distribution_init (&statistics->scales);
  return statistics;
}

TmStatistics *
tm_statistics_ref (TmStatistics *statistics)
{
  g_atomic_int_inc (&statistics->ref_count);
  return statistics;
}

void
tm_statistics_unref (TmStatistics *statistics)
{
  if (statistics == NULL || !g_atomic_int_dec_and_test (&statistics->ref_count))
    return;
  tm_distribution_clear (&statistics->values);
  tm_distribution_clear (&statistics->scales);
  g_free (statistics->codes);
  g_free (statistics->fault);
  g_free (statistics);
}

char *
tm_statistics_describe_codes (const TmStatistics *statistics)
{
  return statistics->codes == NULL ? NULL : g_strdup_printf ("%u of %u codes used", statistics->codes_used, statistics->n_codes);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_uint (TmJsonWriter *json, const char *key, guint64 number)
{
  tm_json_key (json, key);
  tm_json_uint (json, number);
}

/* wide: float64's digits. */
static void
write_number (TmJsonWriter *json, const char *key, double number, gboolean wide)
{
  tm_json_key (json, key);
  if (isnan (number))
    tm_json_null (json);
  else if (wide)
    tm_json_float64 (json, number);
  else
    tm_json_float32 (json, (float) number);
}

static void
write_percentiles (TmJsonWriter *json, const TmDistribution *values, gboolean wide)
{
  tm_json_key (json, "percentiles");
  tm_json_begin_object (json);
  for (guint i = 0; i < TM_N_PERCENTILES; i++)
    {
      char key[TM_NUMBER_SIZE];

      write_number (json, tm_format_float64 (key, tm_percentiles[i]),
                    tm_distribution_get_percentile (values, tm_percentiles[i]), wide);
    }
  tm_json_end_object (json);
}

static void
write_histogram (TmJsonWriter *json, const TmDistribution *values)
{
  g_auto (TmHistogram) histogram = { 0 };

  tm_distribution_get_histogram (values, &histogram);
  tm_json_key (json, "histogram");
  tm_json_begin_object (json);
  tm_json_key (json, "edges");
  tm_json_begin_array (json);
  for (guint i = 0; histogram.n > 0 && i <= histogram.n; i++)
    tm_json_float64 (json, histogram.edges[i]);
  tm_json_end_array (json);
  tm_json_key (json, "counts");
  tm_json_uints (json, histogram.counts, histogram.n);
  tm_json_end_object (json);
}

static void
write_codes (TmJsonWriter *json, const TmStatistics *statistics)
{
  tm_json_key (json, "codes");
  if (statistics->codes == NULL)
    {
      tm_json_null (json);
      return;
    }
  tm_json_begin_object (json);
  if (statistics->first_code != 0)
    {
      tm_json_key (json, "first");
      tm_json_int (json, statistics->first_code);
    }
  tm_json_key (json, "counts");
  tm_json_uints (json, statistics->codes, statistics->n_codes);
  tm_json_end_object (json);
}

static void
write_numbers (TmJsonWriter *json, const TmDistribution *values, gboolean wide)
{
  write_uint (json, "count", values->count);
  write_number (json, "min", values->min, wide);
  write_number (json, "max", values->max, wide);
  write_number (json, "absmax", values->absmax, wide);
  write_number (json, "mean", values->mean, TRUE);
  write_number (json, "std", values->std, TRUE);
  write_number (json, "rms", values->rms, TRUE);
  write_uint (json, "zeros", values->n_zeros);
  write_uint (json, "nan", values->n_nan);
  write_uint (json, "inf", values->n_inf);
  write_percentiles (json, values, wide);
  write_histogram (json, values);
}

static void
write_scales (TmJsonWriter *json, const TmStatistics *statistics)
{
  tm_json_key (json, "scales");
  if (!statistics->has_scales)
    {
      tm_json_null (json);
      return;
    }
  tm_json_begin_object (json);
  write_numbers (json, &statistics->scales, FALSE);
  write_uint (json, "outliers", tm_distribution_count_outliers (&statistics->scales, NULL));
  tm_json_end_object (json);
}

static void
write_rest (TmJsonWriter *json, const TmStatistics *statistics, gboolean wide, gboolean full)
{
  write_numbers (json, &statistics->values, wide);
  write_codes (json, statistics);
  if (full)
    write_scales (json, statistics);
  tm_json_end_object (json);
}

void
tm_statistics_write_json (TmJsonWriter *json, const TmStatistics *statistics, const TmTensor *tensor, gboolean full)
{
  TmDtype dtype = tm_tensor_get_native_dtype (tensor);

  tm_json_begin_object (json);
  tm_json_key (json, "tensor");
  tm_json_string (json, tensor->name, -1);
  write_rest (json, statistics, dtype == TM_DTYPE_F64 || (dtype >= TM_DTYPE_I64 && dtype <= TM_DTYPE_U2), full);
}

void
tm_statistics_write_sum_json (TmJsonWriter *json, const TmStatistics *statistics, const char *module, gboolean full)
{
  tm_json_begin_object (json);
  tm_json_key (json, "module");
  tm_json_string (json, module, -1);
  write_uint (json, "tensors", statistics->tensors);
  write_rest (json, statistics, TRUE, full);
}

char *
tm_statistics_describe_scales (const TmStatistics *statistics)
{
  const TmDistribution *scales = &statistics->scales;
  double median;
  guint64 outliers;
  GString *text;

  if (!statistics->has_scales)
    return NULL;
  outliers = tm_distribution_count_outliers (scales, &median);
  text = g_string_new (NULL);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT ", %.5g … %.5g", scales->count, scales->min, scales->max);
  if (!isnan (median))
    g_string_append_printf (text, ", median %.5g", median);
  if (scales->n_zeros > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " zero", scales->n_zeros);
  if (scales->n_nan + scales->n_inf > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " not finite", scales->n_nan + scales->n_inf);
  if (outliers > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " far from the others", outliers);
  return g_string_free (text, FALSE);
}

/* --- A set -------------------------------------------------------------------------------------------------------- */

TmStatisticsSet *
tm_statistics_set_new (TmModel *model)
{
  TmStatisticsSet *set = g_new0 (TmStatisticsSet, 1);

  set->ref_count = 1;
  g_mutex_init (&set->lock);
  set->model = g_object_ref (model);
  set->of = g_new0 (TmStatistics *, model->tensors->len + 1);
  set->identity = tm_statistics_cache_identify (model);
  return set;
}

TmStatisticsSet *
tm_statistics_set_ref (TmStatisticsSet *set)
{
  g_atomic_int_inc (&set->ref_count);
  return set;
}

void
tm_statistics_set_unref (TmStatisticsSet *set)
{
  if (set == NULL || !g_atomic_int_dec_and_test (&set->ref_count))
    return;
  for (guint i = 0; i < set->model->tensors->len; i++)
    tm_statistics_unref (set->of[i]);
  g_free (set->of);
  g_free (set->identity);
  g_object_unref (set->model);
  g_mutex_clear (&set->lock);
  g_free (set);
}

TmModel *
tm_statistics_set_get_model (TmStatisticsSet *set)
{
  return set->model;
}

void
tm_statistics_set_load (TmStatisticsSet *set)
{
  guint n = set->model->tensors->len;
  g_autofree TmStatistics **kept = NULL;
  gboolean first;

  g_mutex_lock (&set->lock);
  first = !set->loaded;
  set->loaded = TRUE;
  g_mutex_unlock (&set->lock);
  if (!first || set->identity == NULL)
    return;
  kept = g_new0 (TmStatistics *, n + 1);
  tm_statistics_cache_load (set->identity, kept, n);
  g_mutex_lock (&set->lock);
  for (guint i = 0; i < n; i++)
    if (set->of[i] == NULL && kept[i] != NULL)
      {
        set->of[i] = g_steal_pointer (&kept[i]);
        set->n_known++;
      }
  g_mutex_unlock (&set->lock);
  for (guint i = 0; i < n; i++)
    tm_statistics_unref (kept[i]);
}

TmStatistics *
tm_statistics_set_get (TmStatisticsSet *set, guint tensor)
{
  TmStatistics *statistics = NULL;

  g_mutex_lock (&set->lock);
  if (tensor < set->model->tensors->len && set->of[tensor] != NULL)
    statistics = tm_statistics_ref (set->of[tensor]);
  g_mutex_unlock (&set->lock);
  return statistics;
}

guint
tm_statistics_set_count_done (TmStatisticsSet *set, const guint *tensors, guint n)
{
  guint done = 0;

  g_mutex_lock (&set->lock);
  while (done < n && set->of[tensors[done]] != NULL
         && (set->of[tensors[done]]->fault != NULL || set->of[tensors[done]]->parts == TM_STATISTICS_ALL))
    done++;
  g_mutex_unlock (&set->lock);
  return done;
}

gboolean
tm_statistics_set_has_all (TmStatisticsSet *set, const TmModule *module)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  gboolean all = TRUE;

  g_mutex_lock (&set->lock);
  if (module->parent == NULL)
    all = set->n_known == set->model->tensors->len;
  else
    g_ptr_array_add (open, (gpointer) module);
  while (open->len > 0 && all)
    {
      const TmModule *below = g_ptr_array_steal_index_fast (open, open->len - 1);

      for (guint i = 0; i < below->tensors->len && all; i++)
        all = set->of[g_array_index (below->tensors, guint, i)] != NULL;
      for (guint i = 0; i < below->children->len; i++)
        g_ptr_array_add (open, g_ptr_array_index (below->children, i));
    }
  g_mutex_unlock (&set->lock);
  return all;
}

/* --- Sums --------------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmStatistics *sum;
  gboolean has_codes, codes_differ;
} Sum;

static void
drop_codes (Sum *sum)
{
  sum->codes_differ = TRUE;
  g_clear_pointer (&sum->sum->codes, g_free);
  sum->sum->n_codes = sum->sum->codes_used = 0;
  sum->sum->first_code = 0;
}

static void
add_codes (Sum *sum, const TmStatistics *one)
{
  TmStatistics *all = sum->sum;

  if (sum->codes_differ || one->codes == NULL)
    return;
  if (!sum->has_codes)
    {
      sum->has_codes = TRUE;
      all->codes = g_new0 (guint64, one->n_codes);
      all->n_codes = one->n_codes;
      all->first_code = one->first_code;
    }
  else if (all->n_codes != one->n_codes || all->first_code != one->first_code)
    {
      drop_codes (sum);
      return;
    }
  all->codes_used = 0;
  for (guint i = 0; i < all->n_codes; i++)
    {
      all->codes[i] += one->codes[i];
      all->codes_used += all->codes[i] > 0;
    }
}

TmStatistics *
tm_statistics_set_sum (TmStatisticsSet *set, const TmModule *module, guint *missing)
{
  Sum sum = { .sum = tm_statistics_new () };
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  guint n_missing = 0;

  sum.sum->tensors = 0;
  sum.sum->parts = TM_STATISTICS_ALL;
  g_ptr_array_add (open, (gpointer) module);
  while (open->len > 0)
    {
      const TmModule *below = g_ptr_array_steal_index (open, open->len - 1);

      for (guint i = 0; i < below->tensors->len; i++)
        {
          g_autoptr (TmStatistics) one = tm_statistics_set_get (set, g_array_index (below->tensors, guint, i));

          if (one == NULL)
            {
              n_missing++;
              continue;
            }
          if (one->fault != NULL)
            continue;
          sum.sum->tensors++;
          sum.sum->parts &= one->parts;
          tm_distribution_add (&sum.sum->values, &one->values);
          add_codes (&sum, one);
          if (one->has_scales)
            tm_distribution_add (&sum.sum->scales, &one->scales);
          sum.sum->has_scales = sum.sum->has_scales || one->has_scales;
        }
      for (guint i = 0; i < below->children->len; i++)
        g_ptr_array_add (open, g_ptr_array_index (below->children, i));
    }
  if (missing != NULL)
    *missing = n_missing;
  return sum.sum;
}
