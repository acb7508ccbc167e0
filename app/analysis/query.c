#include "analysis/query.h"

#include <math.h>
#include <string.h>

#include "io/error.h"

#define MAX_DEPTH 256 /* parentheses and nots within each other */

typedef enum
{
  FIELD_NAME, FIELD_MODULE, FIELD_DTYPE, FIELD_SCHEME, FIELD_GRANULARITY, FIELD_IS,
  FIELD_ROWS, FIELD_COLUMNS, FIELD_RANK, FIELD_PARAMETERS, FIELD_BYTES, FIELD_BPW, FIELD_BITS, FIELD_GROUP,
  FIELD_MIN, FIELD_MAX, FIELD_ABSMAX, FIELD_MEAN, FIELD_STD, FIELD_RMS, FIELD_ZEROS, FIELD_NAN, FIELD_INF, FIELD_CODES,
  FIELD_SQNR, FIELD_COSINE, FIELD_MSE, FIELD_MAXERROR, FIELD_OVERSTEP, FIELD_CLIPPED,
  N_FIELDS
} Field;

static const TmQueryField fields[N_FIELDS] = {
  [FIELD_NAME] = { "name", "name: a part of it, or a pattern", TRUE, 0 },
  [FIELD_MODULE] = { "module", "dotted path of its module: a part of it, or a pattern", TRUE, 0 },
  [FIELD_DTYPE] = { "dtype", "dtype: Q6_K, BF16", TRUE, 0 },
  [FIELD_SCHEME] = { "scheme", "quantization scheme: ggml, gptq", TRUE, 0 },
  [FIELD_GRANULARITY] = { "granularity", "per-tensor, per-channel, per-group, per-block", TRUE, 0 },
  [FIELD_IS] = { "is", "quantized, ordinary, readable, faulty, matrix", TRUE, 0 },
  [FIELD_ROWS] = { "rows", "all axes but the last, multiplied", FALSE, 0 },
  [FIELD_COLUMNS] = { "columns", "length of the last axis", FALSE, 0 },
  [FIELD_RANK] = { "rank", "number of axes", FALSE, 0 },
  [FIELD_PARAMETERS] = { "parameters", "elements", FALSE, 0 },
  [FIELD_BYTES] = { "bytes", "size in the files", FALSE, 0 },
  [FIELD_BPW] = { "bpw", "bits per weight", FALSE, 0 },
  [FIELD_BITS] = { "bits", "bits of one code", FALSE, 0 },
  [FIELD_GROUP] = { "group", "elements of a row that share a scale", FALSE, 0 },
  [FIELD_MIN] = { "min", "lowest value", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_MAX] = { "max", "highest value", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_ABSMAX] = { "absmax", "largest magnitude", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_MEAN] = { "mean", "mean", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_STD] = { "std", "standard deviation", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_RMS] = { "rms", "root of the mean square", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_ZEROS] = { "zeros", "zeros: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_NAN] = { "nan", "NaN: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_INF] = { "inf", "infinities: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [FIELD_CODES] = { "codes", "raw codes in use", FALSE, TM_QUERY_NEEDS_CODES },
  [FIELD_SQNR] = { "sqnr", "signal to quantization noise, dB", FALSE, TM_QUERY_NEEDS_DIFF },
  [FIELD_COSINE] = { "cosine", "cosine with the reference", FALSE, TM_QUERY_NEEDS_DIFF },
  [FIELD_MSE] = { "mse", "mean squared error", FALSE, TM_QUERY_NEEDS_DIFF },
  [FIELD_MAXERROR] = { "maxerror", "largest error", FALSE, TM_QUERY_NEEDS_DIFF },
  [FIELD_OVERSTEP] = { "overstep", "share with an error over half a step", FALSE, TM_QUERY_NEEDS_DIFF },
  [FIELD_CLIPPED] = { "clipped", "share that is clipped", FALSE, TM_QUERY_NEEDS_DIFF },
};

const TmQueryField *
tm_query_get_fields (guint *n)
{
  *n = N_FIELDS;
  return fields;
}

typedef enum { IS_LESS, IS_AT_MOST, IS_MORE, IS_AT_LEAST, IS_EQUAL, IS_OTHER } Relation;
typedef enum { STEP_TERM, STEP_NOT, STEP_AND, STEP_OR, STEP_OPEN } StepKind;

typedef struct
{
  StepKind kind;
  Field field;
  Relation relation;
  double number;
  gboolean percent;
  char *text;             /* lower case */
  GPatternSpec *pattern;  /* or NULL */
} Step;

struct _TmQuery
{
  GArray *steps; /* Step: terms before what joins them */
  TmQueryNeeds needs;
};

static void
clear_step (gpointer data)
{
  Step *step = data;

  g_free (step->text);
  if (step->pattern != NULL)
    g_pattern_spec_free (step->pattern);
}

void
tm_query_free (TmQuery *query)
{
  if (query == NULL)
    return;
  g_array_unref (query->steps);
  g_free (query);
}

/* --- Parsing ------------------------------------------------------------------------------------------------------ */

typedef struct
{
  const char *text, *at;
  TmQuery *query;
  GArray *waiting;   /* Step: what joins, and open parentheses, until their terms are there */
  GArray *open;      /* const char *: where parentheses were opened */
  guint *place;
  GError **error;
} Parser;

static gboolean
fail (Parser *parser, const char *where, const char *message)
{
  guint at = 0;

  for (const char *p = parser->text; p < where; p++) /* bytes that continue a character do not count */
    at += ((guint8) *p & 0xc0) != 0x80;
  if (parser->place != NULL)
    *parser->place = at;
  g_set_error (parser->error, TM_ERROR, TM_ERROR_ADDRESS, "%s at character %u", message, at + 1);
  return FALSE;
}

static void
skip_space (Parser *parser)
{
  while (g_ascii_isspace (*parser->at))
    parser->at++;
}

static gboolean
ends_word (char c)
{
  return c == '\0' || g_ascii_isspace (c) || strchr ("()<>=!:\"", c) != NULL;
}

/* A word or a quoted text, in lower case. NULL: said. */
static char *
take_text (Parser *parser, gboolean *quoted)
{
  const char *start = parser->at;
  g_autofree char *word = NULL;

  *quoted = *start == '"';
  if (*quoted)
    {
      const char *end = strchr (start + 1, '"');

      if (end == NULL)
        {
          fail (parser, start, "the quotation mark is not closed");
          return NULL;
        }
      word = g_strndup (start + 1, (gsize) (end - start - 1));
      parser->at = end + 1;
    }
  else
    {
      /* After a field's colon a value may hold colons itself. */
      while (!ends_word (*parser->at))
        parser->at++;
      word = g_strndup (start, (gsize) (parser->at - start));
    }
  return g_ascii_strdown (word, -1);
}

static void
push_output (Parser *parser, Step step)
{
  g_array_append_val (parser->query->steps, step);
}

/* What binds at least as closely as level comes before it. */
static void
settle (Parser *parser, StepKind level)
{
  while (parser->waiting->len > 0)
    {
      Step *last = &g_array_index (parser->waiting, Step, parser->waiting->len - 1);

      if (last->kind == STEP_OPEN || last->kind > level)
        return;
      push_output (parser, *last);
      g_array_set_size (parser->waiting, parser->waiting->len - 1);
    }
}

static void
wait (Parser *parser, StepKind kind)
{
  Step step = { .kind = kind };

  g_array_append_val (parser->waiting, step);
}

static gboolean
take_relation (Parser *parser, Relation *relation)
{
  static const struct { const char *text; Relation relation; } known[] = {
    { ">=", IS_AT_LEAST }, { "<=", IS_AT_MOST }, { "!=", IS_OTHER }, { "==", IS_EQUAL }, { ">", IS_MORE }, { "<", IS_LESS },
    { "=", IS_EQUAL },     { ":", IS_EQUAL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_has_prefix (parser->at, known[i].text))
      {
        *relation = known[i].relation;
        parser->at += strlen (known[i].text);
        return TRUE;
      }
  return FALSE;
}

static gboolean
take_number (Parser *parser, Step *step)
{
  static const struct { const char *text; double factor; } units[] = {
    { "", 1 },    { "%", 1 },   { "db", 1 },  { "b", 1 },  { "k", 1e3 }, { "m", 1e6 }, { "g", 1e9 }, { "t", 1e12 },
    { "kb", 1e3 }, { "mb", 1e6 }, { "gb", 1e9 }, { "tb", 1e12 }, { "ki", 0x1p10 }, { "mi", 0x1p20 }, { "gi", 0x1p30 },
    { "ti", 0x1p40 }, { "kib", 0x1p10 }, { "mib", 0x1p20 }, { "gib", 0x1p30 }, { "tib", 0x1p40 },
  };
  const char *start = parser->at, *end;
  g_autofree char *unit = NULL;
  char *after;
  gboolean shareable = step->field == FIELD_ZEROS || step->field == FIELD_NAN || step->field == FIELD_INF
                       || step->field == FIELD_OVERSTEP || step->field == FIELD_CLIPPED;

  if (strchr ("+-.0123456789", *start) == NULL || *start == '\0')
    return fail (parser, start, "a number is expected");
  step->number = g_ascii_strtod (start, &after);
  if (after == start || !isfinite (step->number))
    return fail (parser, start, "a number is expected");
  for (end = after; !ends_word (*end);)
    end++;
  unit = g_ascii_strdown (after, end - after);
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (unit, units[i].text) == 0)
      {
        step->percent = *unit == '%';
        if (step->percent && !shareable)
          return fail (parser, after, "this has no share in percent");
        step->number *= units[i].factor;
        parser->at = end;
        return TRUE;
      }
  return fail (parser, after, "this unit is not known");
}

static gboolean
check_is (Parser *parser, const char *where, const char *text)
{
  static const char *const known[] = { "quantized", "ordinary", "readable", "faulty", "matrix", NULL };

  return g_strv_contains (known, text)
         || fail (parser, where, "\"is\" takes quantized, ordinary, readable, faulty or matrix");
}

static gboolean
set_text (Parser *parser, Step *step)
{
  const char *start = parser->at;
  gboolean quoted;

  step->text = take_text (parser, &quoted);
  if (step->text == NULL)
    return FALSE;
  if (*step->text == '\0' && !quoted)
    return fail (parser, start, "a text is expected");
  if (!quoted && strpbrk (step->text, "*?") != NULL)
    step->pattern = g_pattern_spec_new (step->text);
  return step->field != FIELD_IS || check_is (parser, start, step->text);
}

static gboolean
take_term (Parser *parser, Step *step)
{
  const char *start = parser->at, *relation_at;
  g_autofree char *word = NULL;
  gboolean quoted;

  *step = (Step){ .kind = STEP_TERM, .field = FIELD_NAME, .relation = IS_EQUAL };
  word = take_text (parser, &quoted);
  if (word == NULL)
    return FALSE;
  relation_at = parser->at;
  if (!quoted && g_ascii_isspace (*parser->at)) /* "rows > 4096" */
    {
      const char *next = parser->at;

      while (g_ascii_isspace (*next))
        next++;
      if (*next != '\0' && strchr ("<>=", *next) != NULL)
        parser->at = next;
    }
  if (quoted || !take_relation (parser, &step->relation))
    {
      parser->at = start;
      return set_text (parser, step);
    }
  for (step->field = 0; step->field < N_FIELDS; step->field++)
    if (strcmp (word, fields[step->field].name) == 0)
      break;
  if (step->field == N_FIELDS)
    return fail (parser, start, *word == '\0' ? "a field is expected" : "this field is not known");
  parser->query->needs |= fields[step->field].needs;
  skip_space (parser);
  if (!fields[step->field].is_text)
    return take_number (parser, step);
  if (step->relation != IS_EQUAL && step->relation != IS_OTHER)
    return fail (parser, relation_at, "a text can be compared with : = and != only");
  return set_text (parser, step);
}

/* The word that comes next, if it is alone; its length, or 0. */
static gsize
match_word (const Parser *parser, const char *word)
{
  gsize n = strlen (word);

  return g_ascii_strncasecmp (parser->at, word, n) == 0 && ends_word (parser->at[n]) && strchr (":=<>!", parser->at[n] ? parser->at[n] : ' ') == NULL
             ? n
             : 0;
}

/* Where a term may begin. FALSE with *done: it was no term. */
static gboolean
take_operand (Parser *parser, gboolean *is_term)
{
  gsize n = match_word (parser, "not");
  Step step;

  *is_term = FALSE;
  if (*parser->at == '(' || *parser->at == '-' || *parser->at == '!' || n > 0)
    {
      if (parser->waiting->len >= MAX_DEPTH)
        return fail (parser, parser->at, "this is nested too deeply");
      if (*parser->at == '(')
        g_array_append_val (parser->open, parser->at);
      wait (parser, *parser->at == '(' ? STEP_OPEN : STEP_NOT);
      parser->at += MAX (n, 1);
      return TRUE;
    }
  if (*parser->at == '\0' || *parser->at == ')' || match_word (parser, "and") > 0 || match_word (parser, "or") > 0)
    return fail (parser, parser->at, "a condition is expected");
  *is_term = TRUE;
  if (!take_term (parser, &step))
    {
      clear_step (&step);
      return FALSE;
    }
  push_output (parser, step);
  return TRUE;
}

/* After a term: closes, joins. FALSE at the end, or said. */
static gboolean
take_join (Parser *parser, gboolean *is_join)
{
  gsize n;

  *is_join = FALSE;
  if (*parser->at == ')')
    {
      if (parser->open->len == 0)
        return fail (parser, parser->at, "there is no parenthesis to close");
      settle (parser, STEP_OR);
      g_array_set_size (parser->waiting, parser->waiting->len - 1);
      g_array_set_size (parser->open, parser->open->len - 1);
      parser->at++;
      return TRUE;
    }
  *is_join = TRUE;
  n = match_word (parser, "or");
  if (n > 0)
    {
      settle (parser, STEP_OR);
      wait (parser, STEP_OR);
      parser->at += n;
      return TRUE;
    }
  settle (parser, STEP_AND);
  wait (parser, STEP_AND);
  parser->at += match_word (parser, "and");
  return TRUE;
}

static gboolean
parse (Parser *parser)
{
  gboolean wants_term = TRUE, flag;

  skip_space (parser);
  if (*parser->at == '\0')
    return TRUE;
  while (wants_term || *parser->at != '\0')
    {
      if (wants_term)
        {
          if (!take_operand (parser, &flag))
            return FALSE;
          wants_term = !flag;
        }
      else
        {
          if (!take_join (parser, &flag))
            return FALSE;
          wants_term = flag;
        }
      skip_space (parser);
    }
  if (parser->open->len > 0)
    return fail (parser, g_array_index (parser->open, const char *, parser->open->len - 1), "the parenthesis is not closed");
  settle (parser, STEP_OR);
  return TRUE;
}

TmQuery *
tm_query_parse (const char *text, guint *at, GError **error)
{
  g_autoptr (TmQuery) query = g_new0 (TmQuery, 1);
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (const char *));
  Parser parser = { .text = text, .at = text, .query = query, .waiting = waiting, .open = open, .place = at, .error = error };

  query->steps = g_array_new (FALSE, FALSE, sizeof (Step));
  g_array_set_clear_func (query->steps, clear_step);
  return parse (&parser) ? g_steal_pointer (&query) : NULL;
}

TmQueryNeeds
tm_query_get_needs (const TmQuery *query)
{
  return query->needs;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

typedef enum { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES } Answer;

static Answer
make_answer (gboolean yes)
{
  return yes ? ANSWER_YES : ANSWER_NO;
}

static Answer
match_text (const Step *step, const char *text)
{
  g_autofree char *lower = g_ascii_strdown (text != NULL ? text : "", -1);
  gboolean part = step->field == FIELD_NAME || step->field == FIELD_MODULE, yes;

  if (step->pattern != NULL)
    {
      g_autofree char *valid = g_utf8_make_valid (lower, -1);

      yes = g_pattern_spec_match_string (step->pattern, valid);
    }
  else
    yes = part ? strstr (lower, step->text) != NULL : strcmp (lower, step->text) == 0;
  return make_answer (yes == (step->relation == IS_EQUAL));
}

static Answer
match_is (const Step *step, const TmTensor *tensor)
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
  return make_answer (yes == (step->relation == IS_EQUAL));
}

static double
get_structure (Field field, const TmTensor *tensor)
{
  guint64 columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;

  switch ((int) field)
    {
    case FIELD_ROWS:
      return columns > 0 ? (double) (tensor->n_elements / columns) : 0;
    case FIELD_COLUMNS:
      return (double) columns;
    case FIELD_RANK:
      return tensor->rank;
    case FIELD_PARAMETERS:
      return (double) tensor->n_elements;
    case FIELD_BYTES:
      return (double) tensor->bytes;
    case FIELD_BPW:
      return tm_tensor_get_bits_per_weight (tensor);
    case FIELD_BITS:
      return tensor->quantized ? tensor->code_bits : (double) NAN;
    case FIELD_GROUP:
      return tensor->quantized ? (double) tensor->group_size : (double) NAN;
    default:
      return (double) NAN;
    }
}

static double
get_statistic (const Step *step, const TmStatistics *statistics)
{
  const TmDistribution *values = &statistics->values;
  double of = step->percent ? (double) MAX (values->count, 1) / 100 : 1;

  if (statistics->fault != NULL
      || !(statistics->parts & (step->field == FIELD_CODES ? TM_STATISTICS_CODES : TM_STATISTICS_VALUES)))
    return (double) NAN;
  switch ((int) step->field)
    {
    case FIELD_MIN:
      return values->min;
    case FIELD_MAX:
      return values->max;
    case FIELD_ABSMAX:
      return values->absmax;
    case FIELD_MEAN:
      return values->mean;
    case FIELD_STD:
      return values->std;
    case FIELD_RMS:
      return values->rms;
    case FIELD_ZEROS:
      return (double) values->n_zeros / of;
    case FIELD_NAN:
      return (double) values->n_nan / of;
    case FIELD_INF:
      return (double) values->n_inf / of;
    case FIELD_CODES:
      return statistics->codes != NULL ? statistics->codes_used : (double) NAN;
    default:
      return (double) NAN;
    }
}

static double
get_error (const Step *step, const TmDiffTensor *diff)
{
  double of = step->percent ? 100 : 1;

  if (diff->fault != NULL)
    return (double) NAN;
  switch ((int) step->field)
    {
    case FIELD_SQNR:
      return diff->sqnr_db;
    case FIELD_COSINE:
      return diff->cosine;
    case FIELD_MSE:
      return diff->mse;
    case FIELD_MAXERROR:
      return diff->max_abs;
    case FIELD_OVERSTEP:
      return diff->over_half_step * of;
    case FIELD_CLIPPED:
      return diff->clipped * of;
    default:
      return (double) NAN;
    }
}

static Answer
compare (double number, const Step *step)
{
  if (isnan (number))
    return ANSWER_UNKNOWN;
  switch (step->relation)
    {
    case IS_LESS:
      return make_answer (number < step->number);
    case IS_AT_MOST:
      return make_answer (number <= step->number);
    case IS_MORE:
      return make_answer (number > step->number);
    case IS_AT_LEAST:
      return make_answer (number >= step->number);
    case IS_OTHER:
      return make_answer (number != step->number);
    case IS_EQUAL:
    default:
      return make_answer (number == step->number);
    }
}

static Answer
ask (const Step *step, const TmTensor *tensor, const TmStatistics *statistics, const TmDiffTensor *diff)
{
  switch ((int) step->field)
    {
    case FIELD_NAME:
      return match_text (step, tensor->name);
    case FIELD_MODULE:
      return match_text (step, tensor->module);
    case FIELD_DTYPE:
      return match_text (step, tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype));
    case FIELD_SCHEME:
      return match_text (step, tensor->scheme);
    case FIELD_GRANULARITY:
      return match_text (step, tensor->granularity != NULL
                                   ? tm_granularity_kind_get_name (tm_granularity_get_kind (tensor->granularity))
                                   : "");
    case FIELD_IS:
      return match_is (step, tensor);
    default:
      break;
    }
  if (fields[step->field].needs == 0)
    return compare (get_structure (step->field, tensor), step);
  if (fields[step->field].needs == TM_QUERY_NEEDS_DIFF)
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
      const Step *step = &g_array_index (query->steps, Step, i);

      switch (step->kind)
        {
        case STEP_NOT:
          answers[n - 1] = (guint8) (ANSWER_YES - answers[n - 1]);
          break;
        case STEP_AND:
          n--;
          answers[n - 1] = MIN (answers[n - 1], answers[n]);
          break;
        case STEP_OR:
          n--;
          answers[n - 1] = MAX (answers[n - 1], answers[n]);
          break;
        case STEP_TERM:
        case STEP_OPEN:
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
