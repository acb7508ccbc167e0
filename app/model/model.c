#include "model/model.h"

#include <string.h>

#include "io/limits.h"
#include "io/number.h"
#include "model/name-table.h"

G_DEFINE_FINAL_TYPE (TmModel, tm_model, G_TYPE_OBJECT)

static void
tm_model_init (TmModel *model)
{
  model->files = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_source_unref);
  model->stored = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_stored_free);
  model->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_tensor_free);
  model->metadata = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_metadata_free);
  model->problems = g_ptr_array_new_with_free_func ((GDestroyNotify) tm_problem_free);
  model->assumptions = g_ptr_array_new ();
}

static void
clear_names (TmModel *model)
{
  if (model->by_name != model->by_stored_name)
    g_clear_pointer (&model->by_name, tm_name_table_free);
  g_clear_pointer (&model->by_stored_name, tm_name_table_free);
  model->by_name = NULL;
}

static void
tm_model_finalize (GObject *object)
{
  TmModel *model = TM_MODEL (object);

  clear_names (model);
  g_clear_pointer (&model->root, tm_module_free);
  g_ptr_array_unref (model->tensors); /* before what they are made of */
  g_ptr_array_unref (model->stored);
  g_ptr_array_unref (model->metadata);
  g_ptr_array_unref (model->problems);
  g_ptr_array_unref (model->assumptions);
  g_free (model->quantization_file);
  g_ptr_array_unref (model->files);
  g_free (model->path);
  g_free (model->title);
  g_free (model->format);
  g_free (model->version);
  g_free (model->byte_order);
  g_free (model->architecture);
  g_free (model->name);
  G_OBJECT_CLASS (tm_model_parent_class)->finalize (object);
}

static void
tm_model_class_init (TmModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = tm_model_finalize;
}

TmModel *
tm_model_new (const char *path)
{
  TmModel *model = g_object_new (TM_TYPE_MODEL, NULL);

  model->path = g_strdup (path);
  model->title = g_path_get_basename (path);
  return model;
}

void
tm_model_add_problem (TmModel *model, TmSeverity severity, const char *code, TmSource *source, guint64 offset,
                      const char *tensor, const char *format, ...)
{
  TmProblem *problem;
  va_list args;

  if (model->problems->len > TM_MAX_PROBLEMS)
    return;
  problem = g_new0 (TmProblem, 1);
  if (model->problems->len == TM_MAX_PROBLEMS)
    {
      problem->severity = TM_SEVERITY_ERROR;
      problem->code = g_strdup ("too-many-problems");
      problem->message = g_strdup ("more problems than are listed here");
      problem->offset = TM_NO_OFFSET;
      g_ptr_array_add (model->problems, problem);
      return;
    }
  problem->severity = severity;
  problem->code = g_strdup (code);
  va_start (args, format);
  problem->message = g_strdup_vprintf (format, args);
  va_end (args);
  problem->file = source != NULL ? g_strdup (tm_source_get_name (source)) : NULL;
  problem->tensor = g_strdup (tensor);
  problem->offset = offset;
  g_ptr_array_add (model->problems, problem);
}

guint
tm_model_count_problems (TmModel *model, TmSeverity at_least)
{
  guint n = 0;

  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      n += problem->severity >= at_least;
    }
  return n;
}

const TmMetadata *
tm_model_find_metadata (TmModel *model, const char *key)
{
  gsize length = strlen (key);

  for (guint i = 0; i < model->metadata->len; i++)
    {
      const TmMetadata *entry = g_ptr_array_index (model->metadata, i);

      if (entry->key_length == length && memcmp (entry->key, key, length) == 0)
        return entry;
    }
  return NULL;
}

/* --- Names --------------------------------------------------------------------------------------------------------- */

/* Names that stand more than once get ordinals: 1 for the first, then 2 … */
typedef struct
{
  TmModel *model;
  TmNameTable *again; /* how many there are so far */
  gboolean stored;
} Ordinals;

static guint *
get_ordinal (const Ordinals *ordinals, guint i)
{
  return ordinals->stored ? &tm_model_stored (ordinals->model, i)->ordinal : &tm_model_tensor (ordinals->model, i)->ordinal;
}

static void
count_again (guint i, guint first, gpointer data)
{
  Ordinals *ordinals = data;
  const char *name = ordinals->stored ? tm_model_stored (ordinals->model, i)->name : tm_model_tensor (ordinals->model, i)->name;
  const gsize length = strlen (name);
  guint before;

  if (ordinals->again == NULL)
    ordinals->again = tm_name_table_new (0);
  before = tm_name_table_add (ordinals->again, name, length, 2);
  if (before == TM_NO_NUMBER)
    *get_ordinal (ordinals, first) = before = 1;
  else
    tm_name_table_set (ordinals->again, name, length, before + 1);
  *get_ordinal (ordinals, i) = before + 1;
}

static const char *
stored_name_at (gconstpointer stored, guint i)
{
  return ((const TmStored *) g_ptr_array_index ((GPtrArray *) stored, i))->name;
}

static const char *
tensor_name_at (gconstpointer tensors, guint i)
{
  return ((const TmTensor *) g_ptr_array_index ((GPtrArray *) tensors, i))->name;
}

static TmNameTable *
enter_names (TmModel *model, gboolean stored)
{
  Ordinals ordinals = { model, NULL, stored };
  const GPtrArray *items = stored ? model->stored : model->tensors;
  TmNameTable *table = tm_name_table_new (items->len);

  for (guint i = 0; i < items->len; i++)
    *get_ordinal (&ordinals, i) = 0;
  tm_name_table_add_all (table, items->len, stored ? stored_name_at : tensor_name_at, items, count_again, &ordinals);
  tm_name_table_free (ordinals.again);
  return table;
}

/* Nothing is folded: the names of the logical tensors are those of the stored ones, in the same order. */
static gboolean
has_stored_names (const TmModel *model)
{
  if (model->tensors->len != model->stored->len)
    return FALSE;
  for (guint i = 0; i < model->tensors->len; i++)
    if (tm_model_tensor (model, i)->name != tm_model_stored (model, i)->name)
      return FALSE;
  return TRUE;
}

static guint64
add_saturated (guint64 a, guint64 b)
{
  guint64 sum;

  return __builtin_add_overflow (a, b, &sum) ? G_MAXUINT64 : sum;
}

void
tm_model_seal (TmModel *model)
{
  gboolean alike;

  clear_names (model);
  model->by_stored_name = enter_names (model, TRUE);
  alike = has_stored_names (model);
  model->by_name = alike ? model->by_stored_name : enter_names (model, FALSE);
  model->parameters = model->bytes = 0;
  model->n_quantized = 0;
  for (guint i = 0; i < model->tensors->len; i++)
    {
      TmTensor *tensor = tm_model_tensor (model, i);

      if (alike)
        tensor->ordinal = tm_model_stored (model, i)->ordinal;
      model->parameters = add_saturated (model->parameters, tensor->n_elements);
      model->bytes = add_saturated (model->bytes, tensor->bytes);
      model->n_quantized += tensor->quantized ? 1 : 0;
    }

  if (model->root == NULL)
    model->root = tm_module_new ("", "", NULL);
}

/* "name#12" → the length of "name" and 12. Ordinals are written without leading zeros. */
static gboolean
split_ordinal (const char *name, gsize *length, guint *ordinal)
{
  const char *mark = strrchr (name, '#');
  guint64 number = 0;

  if (mark == NULL || mark[1] < '1' || mark[1] > '9')
    return FALSE;
  for (const char *digit = mark + 1; *digit != '\0'; digit++)
    {
      if (!g_ascii_isdigit (*digit) || number > G_MAXUINT32)
        return FALSE;
      number = number * 10 + (guint64) (*digit - '0');
    }
  if (number > G_MAXUINT32)
    return FALSE;
  *length = (gsize) (mark - name);
  *ordinal = (guint) number;
  return TRUE;
}

gint64
tm_model_find_tensor (TmModel *model, const char *name)
{
  guint found = model->by_name != NULL ? tm_name_table_find (model->by_name, name, strlen (name)) : TM_NO_NUMBER;
  gsize length;
  guint ordinal;

  if (found != TM_NO_NUMBER)
    return found;
  if (!split_ordinal (name, &length, &ordinal))
    return -1;
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);

      if (tensor->ordinal == ordinal && strncmp (tensor->name, name, length) == 0 && tensor->name[length] == '\0')
        return i;
    }
  return -1;
}

gint64
tm_model_find_stored (TmModel *model, const char *name)
{
  guint found = model->by_stored_name != NULL ? tm_name_table_find (model->by_stored_name, name, strlen (name)) : TM_NO_NUMBER;
  gsize length;
  guint ordinal;

  if (found != TM_NO_NUMBER)
    return found;
  if (!split_ordinal (name, &length, &ordinal))
    return -1;
  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *stored = tm_model_stored (model, i);

      if (stored->ordinal == ordinal && strncmp (stored->name, name, length) == 0 && stored->name[length] == '\0')
        return i;
    }
  return -1;
}

/* --- Censuses ------------------------------------------------------------------------------------------------------ */

static const char *
get_dtype_label (const TmTensor *tensor)
{
  return tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype);
}

static gint
compare_dtypes (gconstpointer a, gconstpointer b)
{
  const TmDtypeCount *x = a, *y = b;

  if (x->parameters != y->parameters)
    return x->parameters < y->parameters ? 1 : -1;
  if (x->tensors != y->tensors)
    return x->tensors < y->tensors ? 1 : -1;
  return strcmp (x->dtype, y->dtype);
}

GArray *
tm_model_count_dtypes (TmModel *model)
{
  GArray *counts = g_array_new (FALSE, TRUE, sizeof (TmDtypeCount));
  g_autoptr (GHashTable) rows = g_hash_table_new (g_str_hash, g_str_equal);
  const char *before = NULL;
  guint row = 0;

  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      const char *label = get_dtype_label (tensor);
      TmDtypeCount *count;

      if (label != before) /* mostly the one before's */
        row = GPOINTER_TO_UINT (g_hash_table_lookup (rows, label));
      before = label;
      if (row == 0)
        {
          TmDtypeCount fresh = { .dtype = label, .code = tensor->dtype };

          g_array_append_val (counts, fresh);
          row = counts->len;
          g_hash_table_insert (rows, (gpointer) label, GUINT_TO_POINTER (row));
        }
      count = &g_array_index (counts, TmDtypeCount, row - 1);
      count->tensors++;
      count->parameters = add_saturated (count->parameters, tensor->n_elements);
      count->bytes = add_saturated (count->bytes, tensor->bytes);
    }
  g_array_sort (counts, compare_dtypes);
  return counts;
}

static gint
compare_granularities (gconstpointer a, gconstpointer b)
{
  const TmGranularityCount *x = a, *y = b;

  if (x->tensors != y->tensors)
    return x->tensors < y->tensors ? 1 : -1;
  return strcmp (x->dtype, y->dtype);
}

/* Rows of one dtype and number of levels are tried one after the other: real models have a handful of them. */
GArray *
tm_model_count_granularities (TmModel *model)
{
  GArray *counts = g_array_new (FALSE, TRUE, sizeof (TmGranularityCount));
  g_autoptr (GHashTable) rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
  guint before = 0;

  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      const TmGranularity *granularity = tensor->granularity;
      g_autofree char *key = NULL;
      GArray *bucket;
      TmGranularityCount *count = before < counts->len ? &g_array_index (counts, TmGranularityCount, before) : NULL;

      if (count != NULL && count->dtype == get_dtype_label (tensor)
          && (count->granularity == granularity || tm_granularity_equal_levels (count->granularity, granularity)))
        { /* mostly like the one before */
          count->tensors++;
          continue;
        }
      key = g_strdup_printf ("%u %s", granularity != NULL ? granularity->n_levels : 0, get_dtype_label (tensor));
      bucket = g_hash_table_lookup (rows, key);
      count = NULL;
      if (bucket == NULL)
        {
          bucket = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (rows, g_steal_pointer (&key), bucket);
        }
      for (guint j = 0; j < bucket->len && count == NULL; j++)
        {
          TmGranularityCount *row = &g_array_index (counts, TmGranularityCount, g_array_index (bucket, guint, j));

          if (row->granularity == granularity || tm_granularity_equal_levels (row->granularity, granularity))
            count = row;
        }
      if (count == NULL)
        {
          TmGranularityCount fresh = { .granularity = granularity, .dtype = get_dtype_label (tensor) };
          guint row = counts->len;

          g_array_append_val (counts, fresh);
          g_array_append_val (bucket, row);
          count = &g_array_index (counts, TmGranularityCount, row);
        }
      count->tensors++;
      before = (guint) (count - &g_array_index (counts, TmGranularityCount, 0));
    }
  g_array_sort (counts, compare_granularities);
  return counts;
}

static gint
compare_schemes (gconstpointer a, gconstpointer b)
{
  const TmSchemeCount *x = a, *y = b;
  return x->parameters != y->parameters ? (x->parameters < y->parameters ? 1 : -1) : g_strcmp0 (x->scheme, y->scheme);
}

GArray *
tm_model_count_schemes (TmModel *model)
{
  GArray *counts = g_array_new (FALSE, TRUE, sizeof (TmSchemeCount));
  guint last = 0; /* tensors alike follow each other: look there first */

  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      TmSchemeCount *row = NULL;

      if (!tensor->quantized || tensor->scheme == NULL)
        continue;
      for (guint j = 0; j < counts->len && row == NULL; j++)
        {
          TmSchemeCount *at = &g_array_index (counts, TmSchemeCount, (last + j) % counts->len);

          if (strcmp (at->scheme, tensor->scheme) == 0 && at->bits == tensor->code_bits && at->group == tensor->group_size
              && at->symmetric == tensor->symmetric)
            {
              row = at;
              last = (last + j) % counts->len;
            }
        }
      if (row == NULL)
        {
          TmSchemeCount fresh
              = { tensor->scheme, tensor->code_bits, tensor->group_size, tensor->symmetric, 0, 0, 0, 0 };

          g_array_append_val (counts, fresh);
          last = counts->len - 1;
          row = &g_array_index (counts, TmSchemeCount, last);
        }
      row->tensors++;
      row->parameters += tensor->n_elements;
      row->bytes += tensor->bytes;
      row->conflicts += tensor->config_conflict ? 1 : 0;
    }
  g_array_sort (counts, compare_schemes);
  return counts;
}

char *
tm_model_describe (TmModel *model)
{
  g_autofree char *parameters = tm_format_parameters (model->parameters);
  g_autofree char *size = tm_format_size (model->bytes);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s parameter%s · %s", parameters, model->parameters == 1 ? "" : "s", size);
  if (model->architecture != NULL)
    {
      g_autofree char *architecture = g_utf8_make_valid (model->architecture, -1);

      g_string_append_printf (text, " · %s", architecture);
    }
  if (model->parameters > 0)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      double bits = (double) model->bytes * 8.0 / (double) model->parameters;

      g_string_append_printf (text, " · %s bits/weight", g_ascii_formatd (buffer, sizeof buffer, "%.2f", bits));
    }
  return g_string_free (text, FALSE);
}
