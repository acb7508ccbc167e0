#include "ui/comparison.h"

#include "io/text.h"

#include <math.h>
#include <string.h>

#define ERROR_CACHE_BYTES (96u << 20) /* 384 tiles */

struct _TmComparison
{
  TmDiff *diff;
  TmModel *errors;
  TmTiles *tiles;
  TmTensorMark *marks; /* NULL until they are asked for */
  GHashTable *ranges;  /* tensor + 1 → TmScaleRanges */
  GTask *measuring;    /* NULL: nothing is */
  void (*measured) (gpointer);
  gpointer data;
};

TmComparison *
tm_comparison_new (TmDiff *diff, void (*changed) (gpointer), gpointer data)
{
  TmComparison *comparison = g_new0 (TmComparison, 1);

  comparison->diff = tm_diff_ref (diff);
  comparison->ranges = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) tm_scale_ranges_free);
  comparison->errors = tm_diff_new_error_model (diff->alignment);
  comparison->tiles = tm_tiles_new (comparison->errors, ERROR_CACHE_BYTES, changed, data);
  return comparison;
}

static void
stop_measuring (TmComparison *comparison)
{
  if (comparison->measuring)
    g_cancellable_cancel (g_task_get_cancellable (comparison->measuring));
  g_clear_object (&comparison->measuring);
}

void
tm_comparison_free (TmComparison *comparison)
{
  if (!comparison)
    return;
  stop_measuring (comparison);
  g_hash_table_unref (comparison->ranges);
  tm_tiles_free (comparison->tiles);
  g_object_unref (comparison->errors);
  tm_diff_unref (comparison->diff);
  g_free (comparison->marks);
  g_free (comparison);
}

TmDiff *
tm_comparison_get_diff (const TmComparison *comparison)
{
  return comparison->diff;
}

TmTiles *
tm_comparison_get_tiles (const TmComparison *comparison)
{
  return comparison->tiles;
}

/* --- Marks ------------------------------------------------------------------------------------------------------- */

static void
set_mark (TmTensorMark *mark, const TmDiffTensor *tensor, gboolean worst_of_many, const TmTheme *theme)
{
  if (!tensor || tensor->fault)
    {
      *mark = (TmTensorMark) { .fill = theme->card, .hatched = TRUE };
      g_strlcpy (mark->text, tensor ? "not compared" : "not aligned", sizeof mark->text);
      return;
    }
  g_autofree char *sqnr = tm_diff_format_sqnr (tensor->sqnr_db);

  mark->hatched = FALSE;
  mark->fill = tm_theme_judgement_color (theme, isinf (tensor->sqnr_db)
                                                    ? (tensor->sqnr_db > 0 ? 1 : 0)
                                                    : (tensor->sqnr_db - TM_SQNR_BAD) / (TM_SQNR_GOOD - TM_SQNR_BAD));
  g_snprintf (mark->text, sizeof mark->text, "%s%s", worst_of_many && !tensor->exact ? "≥ " : "", sqnr);
}

const TmTensorMark *
tm_comparison_get_marks (TmComparison *comparison, const TmLayout *layout, const TmTheme *theme)
{
  const TmDiff *diff = comparison->diff;
  TmModel *model = diff->alignment->candidate;
  const guint n = model->tensors->len;
  g_autofree const TmDiffTensor **of_tensor = NULL;
  g_autofree gboolean *many = NULL;

  if (comparison->marks || layout->model != model)
    return comparison->marks;
  comparison->marks = g_new0 (TmTensorMark, n + 1);
  of_tensor = g_new0 (const TmDiffTensor *, n + 1);
  many = g_new0 (gboolean, n + 1);
  for (guint i = 0; i < n; i++)
    of_tensor[i] = tm_diff_find (diff, i);
  for (guint i = 0; i < n; i++)
    {
      const guint drawn = layout->drawn_of_tensor[i];

      if (drawn == i || drawn >= n)
        continue;
      many[drawn] = TRUE;
      if (of_tensor[drawn] && !of_tensor[drawn]->fault && of_tensor[i] && !of_tensor[i]->fault
          && of_tensor[i]->sqnr_db < of_tensor[drawn]->sqnr_db)
        of_tensor[drawn] = of_tensor[i];
    }
  for (guint i = 0; i < n; i++)
    set_mark (&comparison->marks[i], of_tensor[i], many[i], theme);
  return comparison->marks;
}

void
tm_comparison_forget_marks (TmComparison *comparison)
{
  g_clear_pointer (&comparison->marks, g_free);
}

/* --- Scales ------------------------------------------------------------------------------------------------------ */

typedef struct
{
  TmDiff *diff;
  guint tensor;
} Measure;

static void
measure_free (gpointer data)
{
  tm_diff_unref (((Measure *) data)->diff);
  g_free (data);
}

static void
measure_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Measure *measure = data;
  const TmAlignment *alignment = measure->diff->alignment;

  g_task_return_pointer (task,
                         tm_scale_ranges_measure (alignment, tm_alignment_find (alignment, measure->tensor), cancellable, NULL),
                         (GDestroyNotify) tm_scale_ranges_free);
}

static void
measure_done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmComparison *comparison = data;
  const Measure *measure = g_task_get_task_data (G_TASK (result));
  TmScaleRanges *ranges = NULL;

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return; /* the comparison may be gone */
  ranges = g_task_propagate_pointer (G_TASK (result), NULL);
  if (ranges)
    g_hash_table_insert (comparison->ranges, GUINT_TO_POINTER (measure->tensor + 1), ranges);
  g_clear_object (&comparison->measuring);
  if (ranges && comparison->measured)
    comparison->measured (comparison->data);
}

gboolean
tm_comparison_has_scale_ranges (TmComparison *comparison, guint tensor)
{
  return g_hash_table_contains (comparison->ranges, GUINT_TO_POINTER (tensor + 1));
}

const TmScaleRanges *
tm_comparison_want_scale_ranges (TmComparison *comparison, guint tensor)
{
  g_autoptr (GCancellable) cancellable = NULL;
  Measure *measure;

  if (tm_comparison_has_scale_ranges (comparison, tensor) || !tm_alignment_find (comparison->diff->alignment, tensor))
    return g_hash_table_lookup (comparison->ranges, GUINT_TO_POINTER (tensor + 1));
  if (comparison->measuring && ((Measure *) g_task_get_task_data (comparison->measuring))->tensor == tensor)
    return NULL;
  stop_measuring (comparison);
  measure = g_new0 (Measure, 1);
  measure->diff = tm_diff_ref (comparison->diff);
  measure->tensor = tensor;
  cancellable = g_cancellable_new ();
  comparison->measuring = g_task_new (NULL, cancellable, measure_done, comparison);
  g_task_set_check_cancellable (comparison->measuring, FALSE);
  g_task_set_task_data (comparison->measuring, measure, measure_free);
  g_task_run_in_thread (comparison->measuring, measure_run);
  return NULL;
}

void
tm_comparison_watch (TmComparison *comparison, void (*measured) (gpointer), gpointer data)
{
  comparison->measured = measured;
  comparison->data = data;
}

/* --- Words ------------------------------------------------------------------------------------------------------- */

char *
tm_comparison_name_model (TmModel *model)
{
  g_autoptr (GArray) dtypes = tm_model_count_dtypes (model);
  g_autofree char *title = tm_text_escape (model->title, -1);
  g_autofree char *dtype = dtypes->len ? tm_text_escape (g_array_index (dtypes, TmDtypeCount, 0).dtype, -1) : NULL;

  return dtype ? g_strdup_printf ("%s (%s %s)", title, dtype, model->format) : g_steal_pointer (&title);
}

/* "rotary-permutation(heads=4)" → "rotary permutation": how many heads and the like stands with each tensor. */
static char *
to_words (const char *transform)
{
  char *words = g_strndup (transform, strcspn (transform, "("));

  return g_strdelimit (words, "-", ' ');
}

char *
tm_comparison_describe (const TmComparison *comparison)
{
  const TmAlignment *alignment = comparison->diff->alignment;
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) transforms = g_ptr_array_new_with_free_func (g_free);
  GString *text = g_string_new (NULL);
  const guint left = alignment->candidate_left->len + alignment->reference_left->len;
  guint exact = 0;

  for (guint i = 0; i < alignment->pairs->len; i++)
    {
      g_autofree char *words = to_words (tm_alignment_pair (alignment, i)->reading->words);
      const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, words));
      gpointer key = words;

      exact += !comparison->diff->of_pair[i]->fault && comparison->diff->of_pair[i]->exact;
      if (g_str_equal (words, "identity"))
        continue;
      if (n == 0)
        g_ptr_array_add (transforms, g_steal_pointer (&words));
      else
        g_hash_table_lookup_extended (counts, words, &key, NULL);
      g_hash_table_insert (counts, key, GUINT_TO_POINTER (n + 1));
    }
  g_string_append_printf (text, "%u %s aligned, %u left over", alignment->pairs->len,
                          alignment->pairs->len == 1 ? "tensor" : "tensors", left);
  if (exact)
    g_string_append_printf (text, " · %u exact", exact);
  for (guint i = 0; i < transforms->len; i++)
    {
      const char *transform = g_ptr_array_index (transforms, i);

      g_string_append_printf (text, " · %s undone for %u", transform, GPOINTER_TO_UINT (g_hash_table_lookup (counts, transform)));
    }
  return g_string_free (text, FALSE);
}
