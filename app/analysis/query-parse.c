/* The filter language: text to steps, terms before what joins them. No recursion: texts come from outside. */
#include "analysis/query-private.h"

#include <math.h>
#include <string.h>

#include "io/error.h"

#define MAX_DEPTH 256 /* parentheses and nots within each other */

const TmQueryField tm_query_fields[TM_N_FIELDS] = {
  [TM_FIELD_NAME] = { "name", "name: a part of it, or a pattern", TRUE, 0 },
  [TM_FIELD_MODULE] = { "module", "dotted path of its module: a part of it, or a pattern", TRUE, 0 },
  [TM_FIELD_DTYPE] = { "dtype", "dtype: Q6_K, BF16", TRUE, 0 },
  [TM_FIELD_SCHEME] = { "scheme", "quantization scheme: ggml, gptq", TRUE, 0 },
  [TM_FIELD_GRANULARITY] = { "granularity", "per-tensor, per-channel, per-group, per-block", TRUE, 0 },
  [TM_FIELD_IS] = { "is", "quantized, ordinary, readable, faulty, matrix", TRUE, 0 },
  [TM_FIELD_ROWS] = { "rows", "all axes but the last, multiplied", FALSE, 0 },
  [TM_FIELD_COLUMNS] = { "columns", "length of the last axis", FALSE, 0 },
  [TM_FIELD_RANK] = { "rank", "number of axes", FALSE, 0 },
  [TM_FIELD_PARAMETERS] = { "parameters", "elements", FALSE, 0 },
  [TM_FIELD_BYTES] = { "bytes", "size in the files", FALSE, 0 },
  [TM_FIELD_BPW] = { "bpw", "bits per weight", FALSE, 0 },
  [TM_FIELD_BITS] = { "bits", "bits of one code", FALSE, 0 },
  [TM_FIELD_GROUP] = { "group", "elements of a row that share a scale", FALSE, 0 },
  [TM_FIELD_MIN] = { "min", "lowest value", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_MAX] = { "max", "highest value", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_ABSMAX] = { "absmax", "largest magnitude", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_MEAN] = { "mean", "mean", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_STD] = { "std", "standard deviation", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_RMS] = { "rms", "root of the mean square", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_ZEROS] = { "zeros", "zeros: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_NAN] = { "nan", "NaN: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_INF] = { "inf", "infinities: how many, or with % their share", FALSE, TM_QUERY_NEEDS_VALUES },
  [TM_FIELD_CODES] = { "codes", "raw codes in use", FALSE, TM_QUERY_NEEDS_CODES },
  [TM_FIELD_SQNR] = { "sqnr", "signal to quantization noise, dB", FALSE, TM_QUERY_NEEDS_DIFF },
  [TM_FIELD_COSINE] = { "cosine", "cosine with the reference", FALSE, TM_QUERY_NEEDS_DIFF },
  [TM_FIELD_MSE] = { "mse", "mean squared error", FALSE, TM_QUERY_NEEDS_DIFF },
  [TM_FIELD_MAXERROR] = { "maxerror", "largest error", FALSE, TM_QUERY_NEEDS_DIFF },
  [TM_FIELD_OVERSTEP] = { "overstep", "share with an error over half a step", FALSE, TM_QUERY_NEEDS_DIFF },
  [TM_FIELD_CLIPPED] = { "clipped", "share that is clipped", FALSE, TM_QUERY_NEEDS_DIFF },
};

const TmQueryField *
tm_query_get_fields (guint *n)
{
  *n = TM_N_FIELDS;
  return tm_query_fields;
}

static void
clear_step (gpointer data)
{
  TmQueryStep *step = data;

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
  GArray *waiting;   /* TmQueryStep: what joins, and open parentheses, until their terms are there */
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
push_output (Parser *parser, TmQueryStep step)
{
  g_array_append_val (parser->query->steps, step);
}

/* What binds at least as closely as level comes before it. */
static void
settle (Parser *parser, TmQueryStepKind level)
{
  while (parser->waiting->len > 0)
    {
      TmQueryStep *last = &g_array_index (parser->waiting, TmQueryStep, parser->waiting->len - 1);

      if (last->kind == TM_QUERY_OPEN || last->kind > level)
        return;
      push_output (parser, *last);
      g_array_set_size (parser->waiting, parser->waiting->len - 1);
    }
}

static void
wait (Parser *parser, TmQueryStepKind kind)
{
  TmQueryStep step = { .kind = kind };

  g_array_append_val (parser->waiting, step);
}

static gboolean
take_relation (Parser *parser, TmQueryRelation *relation)
{
  static const struct { const char *text; TmQueryRelation relation; } known[] = {
    { ">=", TM_RELATION_AT_LEAST }, { "<=", TM_RELATION_AT_MOST }, { "!=", TM_RELATION_OTHER },
    { "==", TM_RELATION_EQUAL },    { ">", TM_RELATION_MORE },     { "<", TM_RELATION_LESS },
    { "=", TM_RELATION_EQUAL },     { ":", TM_RELATION_EQUAL },
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
take_number (Parser *parser, TmQueryStep *step)
{
  static const struct { const char *text; double factor; } units[] = {
    { "", 1 },    { "%", 1 },   { "db", 1 },  { "b", 1 },  { "k", 1e3 }, { "m", 1e6 }, { "g", 1e9 }, { "t", 1e12 },
    { "kb", 1e3 }, { "mb", 1e6 }, { "gb", 1e9 }, { "tb", 1e12 }, { "ki", 0x1p10 }, { "mi", 0x1p20 }, { "gi", 0x1p30 },
    { "ti", 0x1p40 }, { "kib", 0x1p10 }, { "mib", 0x1p20 }, { "gib", 0x1p30 }, { "tib", 0x1p40 },
  };
  const char *start = parser->at, *end;
  g_autofree char *unit = NULL;
  char *after;
  gboolean shareable = step->field == TM_FIELD_ZEROS || step->field == TM_FIELD_NAN || step->field == TM_FIELD_INF
                       || step->field == TM_FIELD_OVERSTEP || step->field == TM_FIELD_CLIPPED;

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
set_text (Parser *parser, TmQueryStep *step)
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
  return step->field != TM_FIELD_IS || check_is (parser, start, step->text);
}

static gboolean
take_term (Parser *parser, TmQueryStep *step)
{
  const char *start = parser->at, *relation_at;
  g_autofree char *word = NULL;
  gboolean quoted;

  *step = (TmQueryStep){ .kind = TM_QUERY_TERM, .field = TM_FIELD_NAME, .relation = TM_RELATION_EQUAL };
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
  for (step->field = 0; step->field < TM_N_FIELDS; step->field++)
    if (strcmp (word, tm_query_fields[step->field].name) == 0)
      break;
  if (step->field == TM_N_FIELDS)
    return fail (parser, start, *word == '\0' ? "a field is expected" : "this field is not known");
  parser->query->needs |= tm_query_fields[step->field].needs;
  skip_space (parser);
  if (!tm_query_fields[step->field].is_text)
    return take_number (parser, step);
  if (step->relation != TM_RELATION_EQUAL && step->relation != TM_RELATION_OTHER)
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
  TmQueryStep step;

  *is_term = FALSE;
  if (*parser->at == '(' || *parser->at == '-' || *parser->at == '!' || n > 0)
    {
      if (parser->waiting->len >= MAX_DEPTH)
        return fail (parser, parser->at, "this is nested too deeply");
      if (*parser->at == '(')
        g_array_append_val (parser->open, parser->at);
      wait (parser, *parser->at == '(' ? TM_QUERY_OPEN : TM_QUERY_NOT);
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
      settle (parser, TM_QUERY_OR);
      g_array_set_size (parser->waiting, parser->waiting->len - 1);
      g_array_set_size (parser->open, parser->open->len - 1);
      parser->at++;
      return TRUE;
    }
  *is_join = TRUE;
  n = match_word (parser, "or");
  if (n > 0)
    {
      settle (parser, TM_QUERY_OR);
      wait (parser, TM_QUERY_OR);
      parser->at += n;
      return TRUE;
    }
  settle (parser, TM_QUERY_AND);
  wait (parser, TM_QUERY_AND);
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
  settle (parser, TM_QUERY_OR);
  return TRUE;
}

TmQuery *
tm_query_parse (const char *text, guint *at, GError **error)
{
  g_autoptr (TmQuery) query = g_new0 (TmQuery, 1);
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (TmQueryStep));
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (const char *));
  Parser parser = { .text = text, .at = text, .query = query, .waiting = waiting, .open = open, .place = at, .error = error };

  query->steps = g_array_new (FALSE, FALSE, sizeof (TmQueryStep));
  g_array_set_clear_func (query->steps, clear_step);
  return parse (&parser) ? g_steal_pointer (&query) : NULL;
}
