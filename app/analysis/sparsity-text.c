/* What sparsity says in words and as JSON. */
#include "analysis/sparsity.h"

#include <math.h>

static GPtrArray *
list_patterns (const TmSparsityPattern *patterns, guint n)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    {
      const TmSparsityPattern *pattern = &patterns[i];

      if ((pattern->holds || pattern->mostly) && !pattern->implied)
        g_ptr_array_add (names, g_strdup_printf ("%s%u:%u", pattern->holds ? "" : "mostly ", pattern->n, pattern->m));
    }
  return names;
}

GPtrArray *
tm_sparsity_list_patterns (const TmSparsity *sparsity)
{
  return list_patterns (sparsity->pattern, sparsity->n_patterns);
}

GPtrArray *
tm_sparsity_list_reference_patterns (const TmSparsity *sparsity)
{
  return list_patterns (sparsity->reference_pattern, sparsity->n_reference_patterns);
}

char *
tm_sparsity_format_block (const TmSparsity *sparsity)
{
  if (sparsity->block_size > 0 && sparsity->block_size >= sparsity->row_block_size)
    return g_strdup_printf ("%u×%u", sparsity->block_size, sparsity->block_size);
  return sparsity->row_block_size > 0 ? g_strdup_printf ("1×%u", sparsity->row_block_size) : NULL;
}

/* Patterns of the reference that hold in it and no longer here, "2:4 of the reference is lost". */
static void
append_lost (GString *text, const TmSparsity *sparsity)
{
  for (guint i = 0; i < sparsity->n_reference_patterns && i < sparsity->n_patterns; i++)
    if (sparsity->reference_pattern[i].holds && !sparsity->reference_pattern[i].implied
        && sparsity->pattern[i].complying < sparsity->pattern[i].groups)
      g_string_append_printf (text, "; %u:%u of the reference is lost", sparsity->pattern[i].n, sparsity->pattern[i].m);
}

const char *
tm_zero_cause_get_name (TmZeroCause cause)
{
  static const char *const names[]
      = { [TM_ZERO_NONE] = "not zero",          [TM_ZERO_PRUNED] = "pruned",   [TM_ZERO_ROUNDED] = "rounded to zero",
          [TM_ZERO_FORCED] = "forced to zero",  [TM_ZERO_REVIVED] = "revived", [TM_ZERO_PLAIN] = "zero",
          [TM_ZERO_NO_SCALE] = "zero: group without a scale" };

  return (guint) cause < G_N_ELEMENTS (names) ? names[cause] : "";
}

static double
get_percent (double part, guint64 of)
{
  return of > 0 ? 100 * part / (double) of : 0;
}

static void
append_estimate (GString *text, const TmSparsity *sparsity)
{
  const TmSparsityEstimate *estimate = &sparsity->estimate;

  switch (estimate->verdict)
    {
    case TM_ESTIMATE_NONE:
      g_string_append (text, ", as they are stored");
      return;
    case TM_ESTIMATE_UNTOLD:
      g_string_append_printf (text, "; how many were zero before cannot be told without the original file: %s", estimate->why);
      return;
    case TM_ESTIMATE_ROUNDING:
      g_string_append (text, "; rounding alone explains them");
      return;
    case TM_ESTIMATE_PRUNED:
    default:
      g_string_append_printf (text, "; %.1f–%.1f %% were zero before quantization, the rest rounded to zero",
                              get_percent (estimate->pruned_low, sparsity->count),
                              get_percent (estimate->pruned_high, sparsity->count));
    }
}

char *
tm_sparsity_describe (const TmSparsity *sparsity)
{
  GString *text = g_string_new (NULL);

  if (sparsity->fault != NULL)
    return g_string_free (g_string_append (text, sparsity->fault), FALSE);
  if (sparsity->zeros == 0 && sparsity->revived == 0 && !sparsity->no_zero_code)
    return g_string_free (g_string_append (text, "no zeros"), FALSE);
  if (sparsity->no_zero_code && !sparsity->has_reference && sparsity->estimate.of > 0)
    g_string_append_printf (text, "no code is for zero, %.1f %% have the one nearest to it",
                            get_percent ((double) sparsity->estimate.in_zero_code, sparsity->estimate.of));
  else
    g_string_append_printf (text, "%.1f %% zeros", get_percent ((double) sparsity->zeros, sparsity->count));
  if (!sparsity->has_reference)
    {
      append_estimate (text, sparsity);
      return g_string_free (text, FALSE);
    }
  g_string_append_printf (text, ": %.1f %% were zero before, %.1f %% rounded to zero",
                          get_percent ((double) sparsity->pruned, sparsity->count),
                          get_percent ((double) (sparsity->rounded - sparsity->forced), sparsity->count));
  if (sparsity->forced > 0)
    g_string_append_printf (text, ", %.1f %% forced from farther than half a step",
                            get_percent ((double) sparsity->forced, sparsity->count));
  if (sparsity->revived > 0)
    g_string_append_printf (text, "; %.1f %% were zero and no longer are", get_percent ((double) sparsity->revived, sparsity->count));
  append_lost (text, sparsity);
  return g_string_free (text, FALSE);
}

void
tm_sparsity_count_causes (const TmSparsity *sparsity, guint64 cause[TM_N_ZERO_CAUSES])
{
  guint64 known = 0, found = 0;

  for (guint i = 0; i < TM_N_ZERO_CAUSES; i++)
    cause[i] = 0;
  if (sparsity->has_reference)
    {
      cause[TM_ZERO_PRUNED] = sparsity->pruned;
      cause[TM_ZERO_FORCED] = sparsity->forced;
      cause[TM_ZERO_ROUNDED] = sparsity->rounded - MIN (sparsity->forced, sparsity->rounded);
      cause[TM_ZERO_REVIVED] = sparsity->revived;
      known = sparsity->pruned + sparsity->rounded;
    }
  else
    known = cause[TM_ZERO_NO_SCALE] = sparsity->without_scale;
  cause[TM_ZERO_PLAIN] = sparsity->zeros - MIN (known, sparsity->zeros); /* of elements without a counterpart, too */
  for (guint i = 1; i < TM_N_ZERO_CAUSES; i++)
    found += cause[i];
  cause[TM_ZERO_NONE] = sparsity->count - MIN (found, sparsity->count);
}

static void
append_fact (GString *text, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
append_fact (GString *text, const char *format, ...)
{
  va_list args;

  g_string_append (text, text->len > 0 ? ", " : "");
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
}

char *
tm_sparsity_describe_facts (const TmSparsity *sparsity)
{
  g_autoptr (GPtrArray) patterns = tm_sparsity_list_patterns (sparsity);
  g_autofree char *block = tm_sparsity_format_block (sparsity);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < patterns->len; i++)
    append_fact (text, "%s", (const char *) g_ptr_array_index (patterns, i));
  if (sparsity->zero_scales > 0)
    append_fact (text, "%" G_GUINT64_FORMAT " %s without a scale", sparsity->zero_scales, sparsity->zero_scales == 1 ? "group" : "groups");
  else if (sparsity->zero_groups > 0)
    append_fact (text, "%" G_GUINT64_FORMAT " %s of zeros", sparsity->zero_groups, sparsity->zero_groups == 1 ? "group" : "groups");
  if (sparsity->zero_rows > 0)
    append_fact (text, "%" G_GUINT64_FORMAT " %s of zeros", sparsity->zero_rows, sparsity->zero_rows == 1 ? "row" : "rows");
  if (sparsity->zero_columns > 0)
    append_fact (text, "%" G_GUINT64_FORMAT " %s of zeros", sparsity->zero_columns, sparsity->zero_columns == 1 ? "column" : "columns");
  if (block != NULL)
    append_fact (text, "in blocks of %s", block);
  return g_string_free (text, text->len == 0);
}

char *
tm_sparsity_describe_estimate (const TmSparsity *sparsity)
{
  const TmSparsityEstimate *estimate = &sparsity->estimate;
  const double low = get_percent (estimate->pruned_low, sparsity->count), high = get_percent (estimate->pruned_high, sparsity->count);

  switch (estimate->verdict)
    {
    case TM_ESTIMATE_PRUNED:
      return g_strdup_printf ("Between %.1f and %.1f %% of the elements were zero before quantization; the others rounded to zero. "
                              "The range is what the counts of the neighbouring codes leave open, at three sigma; it supposes weights "
                              "spread evenly around zero. The original file gives exact counts.", low, high);
    case TM_ESTIMATE_ROUNDING:
      return g_strdup_printf ("Rounding alone explains the zeros: by the counts of the neighbouring codes, at three sigma, between %.1f "
                              "and %.1f %% of the elements may have been zero before, which is too near to none to call them pruned.",
                              low, high);
    case TM_ESTIMATE_UNTOLD:
      return g_strdup_printf ("How many were zero before cannot be told without the original file: %s.",
                              estimate->why != NULL ? estimate->why : "nothing says so");
    case TM_ESTIMATE_NONE:
    default:
      return NULL;
    }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void
write_patterns (TmJsonWriter *json, const char *key, GPtrArray *patterns)
{
  tm_json_key (json, key);
  tm_json_begin_array (json);
  for (guint i = 0; i < patterns->len; i++)
    tm_json_string (json, g_ptr_array_index (patterns, i), -1);
  tm_json_end_array (json);
}

static void
write_uint (TmJsonWriter *json, const char *key, guint64 number)
{
  tm_json_key (json, key);
  tm_json_uint (json, number);
}

static void
write_list (TmJsonWriter *json, const char *key, const guint64 *list, guint64 n)
{
  tm_json_key (json, key);
  tm_json_uints (json, list, (gsize) MIN (n, TM_SPARSITY_LIST));
}

static void
write_more (TmJsonWriter *json, const TmSparsity *sparsity)
{
  g_autoptr (GPtrArray) reference_patterns = tm_sparsity_list_reference_patterns (sparsity);
  g_autofree char *block = tm_sparsity_format_block (sparsity);

  write_uint (json, "negative_zeros", sparsity->negative_zeros);
  write_uint (json, "zero_scales", sparsity->zero_scales);
  write_list (json, "zero_row_list", sparsity->zero_row, sparsity->zero_rows);
  write_list (json, "zero_column_list", sparsity->zero_column, sparsity->zero_columns);
  write_list (json, "zero_group_list", sparsity->zero_group, sparsity->zero_groups);
  tm_json_key (json, "blocks");
  if (block != NULL)
    tm_json_string (json, block, -1);
  else
    tm_json_null (json);
  if (!sparsity->has_reference)
    return;
  write_uint (json, "reference_zeros", sparsity->reference_zeros);
  write_patterns (json, "reference_patterns", reference_patterns);
  write_uint (json, "kept_nonzero", sparsity->kept_nonzero);
  write_uint (json, "without_scale", sparsity->without_scale);
}

static void
write_json (TmJsonWriter *json, const TmSparsity *sparsity, TmModel *model, gboolean full)
{
  const TmSparsityEstimate *estimate = &sparsity->estimate;
  g_autoptr (GPtrArray) patterns = tm_sparsity_list_patterns (sparsity);

  tm_json_begin_object (json);
  tm_json_key (json, "tensor");
  tm_json_string (json, tm_model_tensor (model, sparsity->tensor)->name, -1);
  if (sparsity->fault != NULL)
    {
      tm_json_key (json, "fault");
      tm_json_string (json, sparsity->fault, -1);
      tm_json_end_object (json);
      return;
    }
  write_uint (json, "count", sparsity->count);
  write_uint (json, "zeros", sparsity->zeros);
  write_uint (json, "zero_groups", sparsity->zero_groups);
  write_uint (json, "zero_rows", sparsity->zero_rows);
  write_uint (json, "zero_columns", sparsity->zero_columns);
  write_patterns (json, "patterns", patterns);
  tm_json_key (json, "reference");
  if (sparsity->has_reference)
    {
      tm_json_begin_object (json);
      write_uint (json, "pruned", sparsity->pruned);
      write_uint (json, "rounded", sparsity->rounded);
      write_uint (json, "revived", sparsity->revived);
      if (sparsity->forced > 0)
        write_uint (json, "forced", sparsity->forced);
      tm_json_end_object (json);
    }
  else
    tm_json_null (json);
  tm_json_key (json, "estimate");
  if (estimate->verdict == TM_ESTIMATE_ROUNDING || estimate->verdict == TM_ESTIMATE_PRUNED)
    {
      tm_json_begin_object (json);
      write_uint (json, "pruned_low", (guint64) floor (estimate->pruned_low));
      write_uint (json, "pruned_high", (guint64) ceil (estimate->pruned_high));
      tm_json_key (json, "confident");
      tm_json_bool (json, estimate->verdict == TM_ESTIMATE_PRUNED);
      tm_json_end_object (json);
    }
  else
    tm_json_null (json);
  if (full)
    write_more (json, sparsity);
  tm_json_end_object (json);
}

void
tm_sparsity_write_json (TmJsonWriter *json, const TmSparsity *sparsity, TmModel *model)
{
  write_json (json, sparsity, model, FALSE);
}

void
tm_sparsity_write_full_json (TmJsonWriter *json, const TmSparsity *sparsity, TmModel *model)
{
  write_json (json, sparsity, model, TRUE);
}
