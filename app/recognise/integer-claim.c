#include "recognise/integer-claim.h"

#include <stdarg.h>
#include <string.h>

#include "io/error.h"

#define MOST_ZEROS 65536u /* of one tensor: enough for every usual one, and no long read while a model opens */
#define MOST_COLUMNS (1u << 26)

char *
tm_claim_weight_name (const TmBundle *bundle)
{
  return bundle->prefix[0] ? g_strconcat (bundle->prefix, ".weight", NULL) : g_strdup ("weight");
}

gboolean
tm_claim_is_matrix (const TmStored *stored, TmDtype dtype)
{
  return stored != NULL && stored->dtype == dtype && stored->rank == 2 && stored->n_elements > 0;
}

gboolean
tm_claim_is_float_matrix (const TmStored *stored)
{
  return stored != NULL && tm_operand_is_float (stored) && tm_dtype_get_info (stored->dtype)->bits >= 16
         && stored->rank == 2 && stored->n_elements > 0;
}

char *
tm_claim_format_shape (const TmStored *stored)
{
  GString *text = g_string_new ("[");

  for (guint axis = 0; axis < stored->rank; axis++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, axis ? ", " : "", stored->shape[axis]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

const char *
tm_claim_choose (TmFolding *folding, const TmTensor *tensor, const char *key, const char *fallback,
                 const char *alternatives, const char *evidence, ...)
{
  const char *choice = tm_folding_get_choice (folding, tensor->name, key), *value = fallback;
  va_list args;

  va_start (args, evidence);
  g_autofree char *text = g_strdup_vprintf (evidence, args);
  va_end (args);
  if (choice != NULL)
    {
      g_auto (GStrv) words = g_strsplit (alternatives, "|", -1);

      if (g_strv_contains ((const char *const *) words, choice))
        value = choice;
    }
  if (choice != NULL && value == choice)
    tm_folding_assume (folding, tensor, key, value, alternatives, "chosen; otherwise %s, because %s", fallback, text);
  else if (choice != NULL)
    tm_folding_assume (folding, tensor, key, value, alternatives, "%s; the choice of %s does not fit its shapes", text,
                       choice);
  else
    tm_folding_assume (folding, tensor, key, value, alternatives, "%s", text);
  return value;
}

void
tm_claim_conflict (TmFolding *folding, TmTensor *tensor, const char *format, ...)
{
  const char *file = tm_config_get_quantization_file (tm_folding_get_config (folding));
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  tensor->config_conflict = TRUE;
  tm_folding_warn (folding, tensor, TM_SEVERITY_WARNING, "config-conflict", "%s says %s", file ? file : "config.json",
                   text);
}

void
tm_claim_set_groups (TmTensor *tensor, TmPackedInteger *data, guint64 n_groups, guint64 group_size, guint32 *table)
{
  static const char *const channel[] = { "channel" }, *const group[] = { "group" }, *const whole[] = { "tensor" };
  const gboolean per_tensor = n_groups == 1 && data->scale.kind == TM_PARAMETER_ELEMENTS && data->scale.row_step == 0;
  guint64 extents[3] = { 1, 1, 1 };

  data->n_groups = n_groups;
  data->group_size = MAX (group_size, 1);
  if (n_groups == 1)
    data->group_size = data->n_columns;
  extents[tensor->rank - 1] = data->group_size;
  if (per_tensor)
    for (guint axis = 0; axis < tensor->rank; axis++)
      extents[axis] = tensor->shape[axis];
  tensor->granularity = tm_granularity_new (tensor->rank, tensor->shape, FALSE, 1, extents,
                                            per_tensor      ? whole
                                            : n_groups == 1 ? channel
                                                            : group);
  tensor->group_size = n_groups == 1 ? 0 : group_size;
  if (table)
    {
      tm_granularity_set_table (tensor->granularity, tensor->rank - 1, table);
      data->index = table;
    }
}

guint64
tm_claim_guess_group_size (guint64 n_columns, guint64 n_groups)
{
  guint64 size = 1;

  if (n_groups == 0 || n_groups > n_columns)
    return 0;
  if (n_columns % n_groups == 0)
    return n_columns / n_groups;
  while (size * n_groups < n_columns)
    size *= 2;
  return (n_groups - 1) * size < n_columns ? size : 0;
}

void
tm_claim_take_group_size (guint64 stated, guint64 n_columns, guint64 n_groups, guint64 *group_size)
{
  if (n_groups > 1 && stated > 0 && stated < n_columns && (n_columns - 1) / stated + 1 == n_groups)
    *group_size = stated;
}

gboolean
tm_claim_read_index (const TmStored *stored, guint64 n_columns, guint64 n_groups, guint32 **table, guint64 *group_size,
                     gboolean *all_zero, GError **error)
{
  g_autofree gint64 *index = NULL;
  g_autofree guint32 *groups = NULL, *count = NULL;
  gboolean sequential = TRUE;

  *table = NULL;
  if (!tm_operand_is_integer (stored) || stored->n_elements != n_columns || n_columns > MOST_COLUMNS
      || n_groups > n_columns)
    {
      g_autofree char *shape = tm_claim_format_shape (stored);

      g_set_error (error, TM_ERROR, TM_ERROR_TENSOR, "%s is %s, and there are %" G_GUINT64_FORMAT " columns",
                   stored->name, shape, n_columns);
      return FALSE;
    }
  index = tm_operand_load_i64 (stored, n_columns, error);
  if (index == NULL)
    return FALSE;
  groups = g_new (guint32, n_columns);
  count = g_new0 (guint32, n_groups);
  *all_zero = TRUE;
  *group_size = 0;
  for (guint64 i = 0; i < n_columns; i++)
    {
      if (index[i] < 0 || (guint64) index[i] >= n_groups)
        {
          g_set_error (error, TM_ERROR, TM_ERROR_TENSOR,
                       "%s puts column %" G_GUINT64_FORMAT " in group %" G_GINT64_FORMAT " of %" G_GUINT64_FORMAT,
                       stored->name, i, index[i], n_groups);
          return FALSE;
        }
      groups[i] = (guint32) index[i];
      *all_zero = *all_zero && index[i] == 0;
      count[index[i]]++;
      *group_size = MAX (*group_size, count[index[i]]);
    }
  for (guint64 i = 0; i < n_columns && sequential; i++)
    sequential = groups[i] == i / *group_size;
  if (!sequential)
    *table = g_steal_pointer (&groups);
  return TRUE;
}

TmZeroCensus
tm_claim_count_zeros (const TmGroupParameter *zero, guint64 n_rows, guint64 n_groups)
{
  TmZeroCensus census = { .least = G_MAXUINT };
  const guint64 n_lines = zero->lines_are_groups ? n_groups : n_rows,
                length = zero->lines_are_groups ? n_rows : n_groups;
  const gsize n = (gsize) MIN (length, MOST_ZEROS);
  const gsize lines = (gsize) CLAMP (MOST_ZEROS / n, 1, n_lines);
  g_autofree guint8 *codes = NULL;

  if (zero->kind != TM_PARAMETER_CODES || zero->stored->fault != NULL)
    return census;
  codes = g_malloc (n * lines);
  if (!tm_layout_read (&zero->layout, zero->stored, 0, 0, lines, 0, n, codes, NULL))
    return census;
  census.known = TRUE;
  for (gsize i = 0; i < n * lines; i++)
    {
      census.least = MIN (census.least, codes[i]);
      census.most = MAX (census.most, codes[i]);
    }
  census.uniform = census.least == census.most;
  census.n_read = n * lines;
  census.n_all = n_rows * n_groups;
  return census;
}
