#include "recognise/quant-state.h"

#include <math.h>
#include <string.h>

#include "io/error.h"
#include "io/json.h"

enum
{
  SEEN_TYPE = 1,
  SEEN_BLOCK = 2,
  SEEN_SHAPE = 4,
  SEEN_NESTED_BLOCK = 8,
  SEEN_NESTED_OFFSET = 16
};

static gboolean
fail (GError **error, const char *message)
{
  g_set_error_literal (error, TM_ERROR, TM_ERROR_FORMAT, message);
  return FALSE;
}

static gboolean
parse_shape (TmJson *json, TmQuantState *state, GError **error)
{
  TmJsonToken token;

  state->n_elements = 1;
  while ((token = tm_json_next (json)) == TM_JSON_NUMBER)
    {
      guint64 length;

      if (state->rank == TM_QUANT_STATE_MAX_RANK)
        return fail (error, "its shape has too many axes");
      if (!tm_json_get_u64 (json, &length) || length == 0)
        return fail (error, "its shape has an axis that is no size");
      if (__builtin_mul_overflow (state->n_elements, length, &state->n_elements) || state->n_elements > G_MAXINT64)
        return fail (error, "its shape has more elements than can be counted");
      state->shape[state->rank++] = length;
    }
  if (token != TM_JSON_ARRAY_END || state->rank == 0)
    return fail (error, "its shape is no list of sizes");
  return TRUE;
}

static gboolean
parse_member (TmJson *json, const char *key, TmQuantState *state, guint *seen, GError **error)
{
  static const struct
  {
    const char *key;
    guint bit;
  } known[] = { { "quant_type", SEEN_TYPE },
                { "blocksize", SEEN_BLOCK },
                { "shape", SEEN_SHAPE },
                { "nested_blocksize", SEEN_NESTED_BLOCK },
                { "nested_offset", SEEN_NESTED_OFFSET } };
  guint bit = 0;
  TmJsonToken token = tm_json_next (json);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (key, known[i].key) == 0)
      bit = known[i].bit;
  if (bit == 0)
    return tm_json_skip (json) || fail (error, "it is no JSON");
  if (*seen & bit)
    return fail (error, "it says something twice");
  *seen |= bit;
  switch (bit)
    {
    case SEEN_TYPE:
      state->is_fp4 = token == TM_JSON_STRING && tm_json_string_equals (json, "fp4");
      return state->is_fp4 || (token == TM_JSON_STRING && tm_json_string_equals (json, "nf4"))
             || fail (error, "its quant_type is neither nf4 nor fp4");
    case SEEN_BLOCK:
      return (token == TM_JSON_NUMBER && tm_json_get_u64 (json, &state->block) && state->block > 0
              && state->block <= G_MAXINT32)
             || fail (error, "its blocksize is no size");
    case SEEN_SHAPE:
      return token == TM_JSON_ARRAY ? parse_shape (json, state, error) : fail (error, "its shape is no list of sizes");
    case SEEN_NESTED_BLOCK:
      state->nested = TRUE;
      return (token == TM_JSON_NUMBER && tm_json_get_u64 (json, &state->nested_block) && state->nested_block > 0
              && state->nested_block <= G_MAXINT32)
             || fail (error, "its nested_blocksize is no size");
    case SEEN_NESTED_OFFSET:
    default:
      if (token != TM_JSON_NUMBER)
        return fail (error, "its nested_offset is no number");
      state->nested_offset = (float) tm_json_get_double (json);
      return isfinite (state->nested_offset) || fail (error, "its nested_offset is no number");
    }
}

gboolean
tm_quant_state_parse (const char *text, gsize length, TmQuantState *state, GError **error)
{
  g_auto (TmJson) json = { 0 };
  guint seen = 0;
  TmJsonToken token;

  memset (state, 0, sizeof *state);
  tm_json_init (&json, text, length, 0);
  if (tm_json_next (&json) != TM_JSON_OBJECT)
    return fail (error, "it is no JSON object");
  while ((token = tm_json_next (&json)) == TM_JSON_KEY)
    {
      g_autofree char *key = tm_json_dup_string (&json, NULL);

      if (!parse_member (&json, key, state, &seen, error))
        return FALSE;
    }
  if (token != TM_JSON_OBJECT_END || tm_json_next (&json) != TM_JSON_END)
    return fail (error, "it is no JSON");
  if (!(seen & SEEN_BLOCK) || !(seen & SEEN_SHAPE) || !(seen & SEEN_TYPE))
    return fail (error, "it lacks shape, blocksize or quant_type");
  if (state->nested && !(seen & SEEN_NESTED_OFFSET))
    return fail (error, "it lacks nested_offset");
  return TRUE;
}
