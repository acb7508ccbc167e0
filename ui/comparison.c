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
};

TmComparison *
tm_comparison_new (TmDiff *diff, void (*changed) (gpointer), gpointer data)
{
  TmComparison *comparison = g_new0 (TmComparison, 1);

  comparison->diff = tm_diff_ref (diff);
  comparison->errors = tm_diff_new_error_model (diff->alignment);
  comparison->tiles = tm_tiles_new (comparison->errors, ERROR_CACHE_BYTES, changed, data);
  return comparison;
}

void
tm_comparison_free (TmComparison *comparison)
{
  if (!comparison)
    return;
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
