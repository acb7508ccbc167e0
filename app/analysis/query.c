#include "analysis/query-private.h"

#include <math.h>
#include <string.h>

TmQueryNeeds
tm_query_get_needs (const TmQuery *query)
{
  return query->needs;
}

typedef enum { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES } Answer;

static Answer
make_answer (gboolean yes)
{
  return yes ? ANSWER_YES : ANSWER_NO;
}

static Answer
match_text (const TmQueryStep *step, const char *text)
{
  g_autofree char *lower = g_ascii_strdown (text != NULL ? text : "", -1);
  gboolean part = step->field == TM_FIELD_NAME || step->field == TM_FIELD_MODULE, yes;

  if (step->pattern != NULL)
    {
      g_autofree char *valid = g_utf8_make_valid (lower, -1);

      yes = g_pattern_spec_match_string (step->pattern, valid);
    }
  else
    yes = part ? strstr (lower, step->text) != NULL : strcmp (lower, step->text) == 0;
  return make_answer (yes == (step->relation == TM_RELATION_EQUAL));
}

static Answer
match_is (const TmQueryStep *step, const TmTensor *tensor)
{
  gboolean yes = FALSE;

  switch (step->text[0])
    {
    case 'q':
      yes = tensor->quantized;
      break;
    case 'o':
      yes = !tensor->quantized;
      break;
    case 'r':
      yes = tensor->fault == NULL;
      break;
    case 'f':
      yes = tensor->fault != NULL;
      break;
    default:
      yes = tensor->rank >= 2;
    }
  return make_answer (yes == (step->relation == TM_RELATION_EQUAL));
}

static double
get_structure (TmQueryFieldKind field, const TmTensor *tensor)
{
  guint64 columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;

  switch ((int) field)
    {
    case TM_FIELD_ROWS:
      return columns > 0 ? (double) (tensor->n_elements / columns) : 0;
    case TM_FIELD_COLUMNS:
      return (double) columns;
    case TM_FIELD_RANK:
      return tensor->rank;
    case TM_FIELD_PARAMETERS:
      return (double) tensor->n_elements;
    case TM_FIELD_BYTES:
      return (double) tensor->bytes;
    case TM_FIELD_BPW:
      return tm_tensor_get_bits_per_weight (tensor);
    case TM_FIELD_BITS:
      return tensor->quantized ? tensor->code_bits : (double) NAN;
    case TM_FIELD_GROUP:
      return tensor->quantized ? (double) tensor->group_size : (double) NAN;
    default:
      return (double) NAN;
    }
}

static double
get_statistic (const TmQueryStep *step, const TmStatistics *statistics)
{
  const TmDistribution *values = &statistics->values;
  double of = step->percent ? (double) MAX (values->count, 1) / 100 : 1;

  if (statistics->fault != NULL
      || !(statistics->parts & (step->field == TM_FIELD_CODES ? TM_STATISTICS_CODES : TM_STATISTICS_VALUES)))
    return (double) NAN;
  switch ((int) step->field)
    {
    case TM_FIELD_MIN:
      return values->min;
    case TM_FIELD_MAX:
      return values->max;
    case TM_FIELD_ABSMAX:
      return values->absmax;
    case TM_FIELD_MEAN:
      return values->mean;
    case TM_FIELD_STD:
      return values->std;
    case TM_FIELD_RMS:
      return values->rms;
    case TM_FIELD_ZEROS:
      return (double) values->n_zeros / of;
    case TM_FIELD_NAN:
      return (double) values->n_nan / of;
    case TM_FIELD_INF:
      return (double) values->n_inf / of;
    case TM_FIELD_CODES:
      return statistics->codes != NULL ? statistics->codes_used : (double) NAN;
    default:
      return (double) NAN;
    }
}

static double
get_error (const TmQueryStep *step, const TmDiffTensor *diff)
{
  double of = step->percent ? 100 : 1;

  if (diff->fault != NULL)
    return (double) NAN;
  switch ((int) step->field)
    {
    case TM_FIELD_SQNR:
      return diff->sqnr_db;
    case TM_FIELD_COSINE:
      return diff->cosine;
    case TM_FIELD_MSE:
      return diff->mse;
    case TM_FIELD_MAXERROR:
      return diff->max_abs;
    case TM_FIELD_OVERSTEP:
      return diff->over_half_step * of;
    case TM_FIELD_CLIPPED:
      return diff->clipped * of;
    default:
      return (double) NAN;
    }
}

static Answer
compare (double number, const TmQueryStep *step)
{
  if (isnan (number))
    return ANSWER_UNKNOWN;
  switch (step->relation)
    {
    case TM_RELATION_LESS:
      return make_answer (number < step->number);
    case TM_RELATION_AT_MOST:
      return make_answer (number <= step->number);
    case TM_RELATION_MORE:
      return make_answer (number > step->number);
    case TM_RELATION_AT_LEAST:
      return make_answer (number >= step->number);
    case TM_RELATION_OTHER:
      return make_answer (number != step->number);
    case TM_RELATION_EQUAL:
    default:
      return make_answer (number == step->number);
    }
}

static Answer
ask (const TmQueryStep *step, const TmTensor *tensor, const TmStatistics *statistics, const TmDiffTensor *diff)
{
  switch ((int) step->field)
    {
    case TM_FIELD_NAME:
      return match_text (step, tensor->name);
    case TM_FIELD_MODULE:
      return match_text (step, tensor->module);
    case TM_FIELD_DTYPE:
      return match_text (step, tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype));
    case TM_FIELD_SCHEME:
      return match_text (step, tensor->scheme);
    case TM_FIELD_GRANULARITY:
      return match_text (step, tensor->granularity != NULL
                                   ? tm_granularity_kind_get_name (tm_granularity_get_kind (tensor->granularity))
                                   : "");
    case TM_FIELD_IS:
      return match_is (step, tensor);
    default:
      break;
    }
  if (tm_query_fields[step->field].needs == 0)
    return compare (get_structure (step->field, tensor), step);
  if (tm_query_fields[step->field].needs == TM_QUERY_NEEDS_DIFF)
    return diff != NULL ? compare (get_error (step, diff), step) : ANSWER_UNKNOWN;
  return statistics != NULL ? compare (get_statistic (step, statistics), step) : ANSWER_UNKNOWN;
}

gboolean
tm_query_matches (const TmQuery *query, TmModel *model, guint tensor, const TmStatistics *statistics, const TmDiffTensor *diff)
{
  g_autofree guint8 *answers = g_malloc ((gsize) query->steps->len + 1);
  guint n = 0;

  if (query->steps->len == 0)
    return TRUE;
  for (guint i = 0; i < query->steps->len; i++)
    {
      const TmQueryStep *step = &g_array_index (query->steps, TmQueryStep, i);

      switch (step->kind)
        {
        case TM_QUERY_NOT:
          answers[n - 1] = (guint8) (ANSWER_YES - answers[n - 1]);
          break;
        case TM_QUERY_AND:
          n--;
          answers[n - 1] = MIN (answers[n - 1], answers[n]);
          break;
        case TM_QUERY_OR:
          n--;
          answers[n - 1] = MAX (answers[n - 1], answers[n]);
          break;
        case TM_QUERY_TERM:
        case TM_QUERY_OPEN:
        default:
          answers[n++] = (guint8) ask (step, tm_model_tensor (model, tensor), statistics, diff);
        }
    }
  return answers[0] == ANSWER_YES;
}

GArray *
tm_query_run (const TmQuery *query, TmModel *model, TmStatisticsSet *set, const TmDiff *diff)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));
  const gboolean counts = set != NULL && (query->needs & (TM_QUERY_NEEDS_VALUES | TM_QUERY_NEEDS_CODES)) != 0;

  for (guint i = 0; i < model->tensors->len; i++)
    {
      g_autoptr (TmStatistics) statistics = counts ? tm_statistics_set_get (set, i) : NULL;

      if (tm_query_matches (query, model, i, statistics, diff != NULL ? tm_diff_find (diff, i) : NULL))
        g_array_append_val (found, i);
    }
  return found;
}

gboolean
tm_query_prepare (const TmQuery *query, TmStatisticsSet *set, TmProgressFunc progress, gpointer data, GCancellable *cancellable,
                  GError **error)
{
  TmStatisticsParts parts = 0;

  if (query->needs & TM_QUERY_NEEDS_VALUES)
    parts |= TM_STATISTICS_VALUES;
  if (query->needs & TM_QUERY_NEEDS_CODES)
    parts |= TM_STATISTICS_CODES;
  return parts == 0 || tm_statistics_set_compute (set, NULL, 0, parts, progress, data, cancellable, error);
}
