#include "model/scalar.h"

#include <string.h>

void
tm_scalar_clear (TmScalar *scalar)
{
  g_free (scalar->index);
  g_free (scalar->group_start);
  g_free (scalar->group_end);
  g_free (scalar->value.text);
  memset (scalar, 0, sizeof *scalar);
}

static TmNumber *
add_term (TmScalar *scalar, const char *name, TmNumberKind kind)
{
  TmTerm *term;

  g_return_val_if_fail (scalar->n_terms < TM_SCALAR_MAX_TERMS, &scalar->term[0].value);
  term = &scalar->term[scalar->n_terms++];
  term->name = name;
  term->value.kind = kind;
  return &term->value;
}

void
tm_scalar_add_term_f32 (TmScalar *scalar, const char *name, float value)
{
  add_term (scalar, name, TM_NUMBER_F32)->as.f32 = value;
}

void
tm_scalar_add_term_f64 (TmScalar *scalar, const char *name, double value)
{
  add_term (scalar, name, TM_NUMBER_F64)->as.f64 = value;
}

void
tm_scalar_add_term_int (TmScalar *scalar, const char *name, gint64 value)
{
  add_term (scalar, name, TM_NUMBER_I64)->as.i64 = value;
}

void
tm_scalar_add_location (TmScalar *scalar, TmSource *source, guint64 byte, guint bit, guint bits)
{
  g_return_if_fail (scalar->n_locations < TM_SCALAR_MAX_LOCATIONS);
  scalar->location[scalar->n_locations++] = (TmLocation){ .source = source, .byte = byte, .bit = bit, .bits = bits };
}

const TmTerm *
tm_scalar_get_term (const TmScalar *scalar, const char *name)
{
  for (guint i = 0; i < scalar->n_terms; i++)
    if (strcmp (scalar->term[i].name, name) == 0)
      return &scalar->term[i];
  return NULL;
}
