#include "ui/zeros.h"

#include <string.h>

#define CAUSE_CACHE_BYTES (96u << 20) /* 384 tiles */

struct _TmZeros
{
  TmModel *model, *causes;
  TmAlignment *alignment;
  TmTiles *tiles;
  GCancellable *making; /* the model of the causes */
  GPtrArray *found;     /* TmSparsity by tensor, or NULL */
  guint counted;
  guint64 elements, cause[TM_N_ZERO_CAUSES]; /* of all that were counted */
  TmTensorMark *marks;
  void (*changed) (gpointer);
  gpointer data;
};

/* --- Model of the causes: as many tensors as the model has, so it is made on a worker ------------------------------- */

typedef struct
{
  TmModel *model;
  TmAlignment *alignment;
} Making;

static void
making_free (gpointer data)
{
  Making *making = data;

  g_object_unref (making->model);
  g_clear_pointer (&making->alignment, tm_alignment_unref);
  g_free (making);
}

static void
make_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Making *making = data;

  g_task_return_pointer (task, tm_sparsity_new_cause_model (making->model, making->alignment), g_object_unref);
}

static void
make_done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmZeros *zeros = data;
  g_autoptr (TmModel) causes = g_task_propagate_pointer (G_TASK (result), NULL);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return; /* zeros are gone */
  g_clear_object (&zeros->making);
  zeros->causes = g_steal_pointer (&causes);
  zeros->tiles = tm_tiles_new (zeros->causes, CAUSE_CACHE_BYTES, zeros->changed, zeros->data);
  zeros->changed (zeros->data);
}

static void
sparsity_free (gpointer data)
{
  tm_sparsity_unref (data);
}

TmZeros *
tm_zeros_new (TmModel *model, TmAlignment *alignment, void (*changed) (gpointer), gpointer data)
{
  TmZeros *zeros = g_new0 (TmZeros, 1);
  Making *making = g_new0 (Making, 1);
  g_autoptr (GTask) task = NULL;

  zeros->model = g_object_ref (model);
  zeros->alignment = alignment ? tm_alignment_ref (alignment) : NULL;
  zeros->found = g_ptr_array_new_with_free_func (sparsity_free);
  g_ptr_array_set_size (zeros->found, (gint) model->tensors->len);
  zeros->changed = changed;
  zeros->data = data;

  making->model = g_object_ref (model);
  making->alignment = alignment ? tm_alignment_ref (alignment) : NULL;
  zeros->making = g_cancellable_new ();
  task = g_task_new (NULL, zeros->making, make_done, zeros);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, making, making_free);
  g_task_run_in_thread (task, make_run);
  return zeros;
}

void
tm_zeros_free (TmZeros *zeros)
{
  if (!zeros)
    return;
  if (zeros->making)
    g_cancellable_cancel (zeros->making);
  g_clear_object (&zeros->making);
  g_clear_pointer (&zeros->tiles, tm_tiles_free);
  g_clear_object (&zeros->causes);
  g_clear_pointer (&zeros->alignment, tm_alignment_unref);
  g_ptr_array_unref (zeros->found);
  g_free (zeros->marks);
  g_object_unref (zeros->model);
  g_free (zeros);
}

TmAlignment *
tm_zeros_get_alignment (const TmZeros *zeros)
{
  return zeros->alignment;
}

TmModel *
tm_zeros_get_causes (const TmZeros *zeros)
{
  return zeros->causes;
}

TmTiles *
tm_zeros_get_tiles (const TmZeros *zeros)
{
  return zeros->tiles;
}

/* --- What was counted -------------------------------------------------------------------------------------------- */

void
tm_zeros_take (TmZeros *zeros, TmSparsity *one)
{
  guint64 cause[TM_N_ZERO_CAUSES];

  if (one->tensor >= zeros->found->len || g_ptr_array_index (zeros->found, one->tensor))
    return;
  g_ptr_array_index (zeros->found, one->tensor) = tm_sparsity_ref (one);
  zeros->counted++;
  tm_zeros_forget_marks (zeros);
  if (one->fault)
    return;
  tm_sparsity_count_causes (one, cause);
  zeros->elements += one->count;
  for (guint i = 0; i < TM_N_ZERO_CAUSES; i++)
    zeros->cause[i] += cause[i];
}

TmSparsity *
tm_zeros_get (const TmZeros *zeros, guint tensor)
{
  return tensor < zeros->found->len ? g_ptr_array_index (zeros->found, tensor) : NULL;
}

guint
tm_zeros_count_missing (const TmZeros *zeros)
{
  return zeros->found->len - zeros->counted;
}

/* --- Marks ------------------------------------------------------------------------------------------------------- */

typedef struct
{
  guint64 elements, cause[TM_N_ZERO_CAUSES];
  guint counted, faults;
} Sum;

static void
add_up (Sum *sum, const TmSparsity *one)
{
  guint64 cause[TM_N_ZERO_CAUSES];

  sum->counted++;
  sum->faults += one->fault != NULL;
  if (one->fault)
    return;
  tm_sparsity_count_causes (one, cause);
  sum->elements += one->count;
  for (guint i = 0; i < TM_N_ZERO_CAUSES; i++)
    sum->cause[i] += cause[i];
}

static void
set_mark (TmTensorMark *mark, const Sum *sum, const TmTheme *theme)
{
  guint most = 1;
  guint64 part = 0;

  if (sum->counted == 0 || sum->counted == sum->faults)
    {
      *mark = (TmTensorMark) { .fill = theme->kind[0], .hatched = sum->counted > 0 };
      g_strlcpy (mark->text, sum->counted ? "not readable" : "not counted", sizeof mark->text);
      return;
    }
  for (guint i = 1; i < TM_N_ZERO_CAUSES; i++)
    {
      most = sum->cause[i] > sum->cause[most] ? i : most;
      part += i == TM_ZERO_REVIVED ? 0 : sum->cause[i];
    }
  mark->hatched = FALSE;
  mark->fill = tm_theme_kind_color (theme, most, sum->elements ? (double) sum->cause[most] / (double) sum->elements : 0);
  if (most == TM_ZERO_REVIVED)
    part = sum->cause[most];
  g_autofree char *share = tm_zeros_format_share (part, sum->elements);
  g_snprintf (mark->text, sizeof mark->text, "%s %s", share, most == TM_ZERO_REVIVED && part ? "revived" : "zeros");
}

const TmTensorMark *
tm_zeros_get_marks (TmZeros *zeros, const TmLayout *layout, const TmTheme *theme)
{
  const guint n = zeros->found->len;
  g_autofree Sum *sums = NULL;

  if (zeros->marks || layout->model != zeros->model)
    return zeros->marks;
  zeros->marks = g_new0 (TmTensorMark, n + 1);
  sums = g_new0 (Sum, n + 1);
  for (guint i = 0; i < n; i++)
    if (tm_zeros_get (zeros, i) && layout->drawn_of_tensor[i] < n)
      add_up (&sums[layout->drawn_of_tensor[i]], tm_zeros_get (zeros, i));
  for (guint i = 0; i < n; i++)
    set_mark (&zeros->marks[i], &sums[i], theme);
  return zeros->marks;
}

void
tm_zeros_forget_marks (TmZeros *zeros)
{
  g_clear_pointer (&zeros->marks, g_free);
}

/* --- Words ------------------------------------------------------------------------------------------------------- */

char *
tm_zeros_format_share (guint64 part, guint64 of)
{
  const double percent = of ? 100 * (double) part / (double) of : 0;

  if (part == 0)
    return g_strdup ("0 %");
  if (part == of)
    return g_strdup ("100 %");
  if (percent < 0.05)
    return g_strdup ("< 0.1 %");
  return g_strdup_printf ("%.1f %%", MIN (percent, 99.9));
}

const char *
tm_zeros_get_tooltip (TmZeroCause cause)
{
  static const char *const tooltips[TM_N_ZERO_CAUSES] = {
    [TM_ZERO_PRUNED] = "Zero in the reference already",
    [TM_ZERO_ROUNDED] = "Not zero in the reference, and at most half a step from it: quantization made it zero",
    [TM_ZERO_FORCED] = "Not zero in the reference, and farther from zero than half a step: rounding does not explain it",
    [TM_ZERO_REVIVED] = "Zero in the reference, and no longer",
    [TM_ZERO_PLAIN] = "Zero; without a reference its cause is not known",
    [TM_ZERO_NO_SCALE] = "Zero for certain: the scale of its group is 0",
  };

  return (guint) cause < TM_N_ZERO_CAUSES ? tooltips[cause] : NULL;
}

/* Causes that are named even where none was found: they are what one looks for. */
static gboolean
is_expected (TmZeroCause cause, gboolean reference)
{
  return reference ? cause == TM_ZERO_PRUNED || cause == TM_ZERO_ROUNDED || cause == TM_ZERO_REVIVED : cause == TM_ZERO_PLAIN;
}

static char *
describe_tensor (const TmSparsity *one)
{
  g_autofree char *certain = one && !one->fault ? tm_sparsity_describe_facts (one) : NULL;
  g_autofree char *before = NULL;

  if (!one)
    return g_strdup ("not counted yet");
  if (one->fault)
    return NULL;
  if (one->no_zero_code && !one->has_reference)
    before = g_strdup ("no code stands for zero");
  else if (one->zeros > 0 && one->estimate.verdict == TM_ESTIMATE_PRUNED)
    before = g_strdup_printf ("%.1f–%.1f %% zero before quantization", 100 * one->estimate.pruned_low / (double) one->count,
                              100 * one->estimate.pruned_high / (double) one->count);
  else if (one->zeros > 0 && one->estimate.verdict == TM_ESTIMATE_ROUNDING)
    before = g_strdup ("rounding alone explains them");
  else if (one->zeros > 0 && one->estimate.verdict == TM_ESTIMATE_UNTOLD)
    before = g_strdup ("pruned or rounded: needs the original");
  if (before && certain)
    return g_strdup_printf ("%s; certain: %s", before, certain);
  return before ? g_steal_pointer (&before) : g_steal_pointer (&certain);
}

guint
tm_zeros_list_legend (const TmZeros *zeros, gint64 tensor, const TmTheme *theme, TmLegendEntry entries[TM_LEGEND_ENTRIES], char **facts)
{
  const TmSparsity *one = tensor >= 0 ? tm_zeros_get (zeros, (guint) tensor) : NULL;
  const gboolean known = tensor < 0 ? zeros->elements > 0 : one && !one->fault;
  gboolean reference = zeros->alignment != NULL;
  guint64 cause[TM_N_ZERO_CAUSES] = { 0 }, elements = zeros->elements;
  guint n = 0;

  if (tensor < 0)
    memcpy (cause, zeros->cause, sizeof cause);
  else if (known)
    {
      tm_sparsity_count_causes (one, cause);
      elements = one->count;
      reference = one->has_reference;
    }
  else if (zeros->alignment)
    reference = tm_alignment_find (zeros->alignment, (guint) tensor) != NULL;
  for (guint i = 1; i < TM_N_ZERO_CAUSES; i++)
    {
      g_autofree char *share = known ? tm_zeros_format_share (cause[i], elements) : NULL;

      if (cause[i] == 0 && !is_expected ((TmZeroCause) i, reference))
        continue;
      entries[n] = (TmLegendEntry) { .color = theme->kind[i], .tooltip = tm_zeros_get_tooltip ((TmZeroCause) i) };
      g_snprintf (entries[n].text, sizeof entries[n].text, "%s%s%s", tm_zero_cause_get_name ((TmZeroCause) i), share ? " " : "",
                  share ? share : "");
      n++;
    }
  if (tensor >= 0)
    *facts = describe_tensor (one);
  else
    *facts = zeros->counted < zeros->found->len
                 ? g_strdup_printf ("%u of %u tensors counted", zeros->counted, zeros->found->len)
                 : g_strdup ("shares of the whole model");
  return n;
}
