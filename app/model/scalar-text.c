/* Scalar records as text: the one writer for command line, inspector, tooltip and clipboard. */
#include <math.h>
#include <string.h>

#include "io/number.h"
#include "io/text.h"
#include "model/tensor.h"

static const TmTensor *
record_tensor (const TmScalar *scalar)
{
  return scalar->tensor;
}

/* --- Numbers
 * ------------------------------------------------------------------------------------------------------------- */

typedef enum
{
  STYLE_TEXT,
  STYLE_JSON
} Style;

/* JSON has no NaN and infinities: they are strings there. */
static void
append_float (GString *out, Style style, double value, gboolean wide)
{
  char buffer[TM_NUMBER_SIZE];
  gboolean quote = style == STYLE_JSON && !isfinite (value);

  if (wide)
    tm_format_float64 (buffer, value);
  else
    tm_format_float32 (buffer, (float)value);
  g_string_append_printf (out, quote ? "\"%s\"" : "%s", buffer);
}

static void
append_number (GString *out, Style style, const TmNumber *number)
{
  switch (number->kind)
    {
    case TM_NUMBER_F32:
      append_float (out, style, (double)number->as.f32, FALSE);
      break;
    case TM_NUMBER_F64:
      append_float (out, style, number->as.f64, TRUE);
      break;
    case TM_NUMBER_I64:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, number->as.i64);
      break;
    case TM_NUMBER_U64:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, number->as.u64);
      break;
    case TM_NUMBER_BOOL:
      g_string_append (out, number->as.b ? "true" : "false");
      if (style == STYLE_TEXT && number->stored_bool > 1)
        g_string_append_printf (out, " (byte %u)", number->stored_bool);
      break;
    case TM_NUMBER_COMPLEX:
    case TM_NUMBER_COMPLEX128:
      {
        gboolean wide = number->kind == TM_NUMBER_COMPLEX128;

        g_string_append_c (out, '[');
        append_float (out, style, number->as.c.re, wide);
        g_string_append (out, style == STYLE_JSON ? "," : ", ");
        append_float (out, style, number->as.c.im, wide);
        g_string_append_c (out, ']');
        break;
      }
    case TM_NUMBER_TEXT:
    default:
      if (style == STYLE_JSON)
        tm_json_append_string (out, number->text ? number->text : "", -1);
      else
        {
          g_autofree char *escaped = tm_text_escape (number->text ? number->text : "", -1);

          g_string_append (out, escaped);
        }
      break;
    }
}

char *
tm_number_format (const TmNumber *number)
{
  GString *out = g_string_new (NULL);

  append_number (out, STYLE_TEXT, number);
  return g_string_free (out, FALSE);
}

/* Significant bits of an ordinary float narrower than binary32, else 0. */
static guint
narrow_bits (TmDtype dtype)
{
  switch ((gint)dtype)
    {
    case TM_DTYPE_F16:
      return 11;
    case TM_DTYPE_BF16:
      return 8;
    case TM_DTYPE_F8_E4M3:
    case TM_DTYPE_F8_E4M3FNUZ:
    case TM_DTYPE_F6_E2M3:
      return 4;
    case TM_DTYPE_F8_E5M2:
    case TM_DTYPE_F8_E5M2FNUZ:
    case TM_DTYPE_F6_E3M2:
      return 3;
    default:
      return 0;
    }
}

char *
tm_scalar_format_value (const TmScalar *scalar)
{
  const TmTensor *tensor = record_tensor (scalar);
  guint bits = tensor && !tensor->quantized ? narrow_bits (tensor->dtype) : 0;
  char buffer[TM_NUMBER_SIZE];

  /* The fewest digits that tell the number from its neighbours in the stored type. */
  if (bits && scalar->value.kind == TM_NUMBER_F32)
    return g_strdup (tm_format_narrow_float (buffer, scalar->value.as.f32, bits));
  return tm_number_format (&scalar->value);
}

char *
tm_scalar_format_hex (const TmScalar *scalar)
{
  guint digits = (scalar->raw_bits + 3) / 4;

  if (scalar->raw_bits == 0)
    return NULL;
  if (digits > 16)
    return g_strdup_printf ("0x%0*" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", (gint)digits - 16,
                            scalar->pattern[1], scalar->pattern[0]);
  return g_strdup_printf ("0x%0*" G_GINT64_MODIFIER "x", (gint)digits, scalar->pattern[0]);
}

char *
tm_scalar_format_bits (const TmScalar *scalar)
{
  GString *out;

  if (scalar->raw_bits == 0)
    return NULL;
  out = g_string_new (NULL);
  for (guint bit = MIN (scalar->raw_bits, 128); bit-- > 0;)
    g_string_append_c (out, scalar->pattern[bit / 64] >> (bit % 64) & 1 ? '1' : '0');
  return g_string_free (out, FALSE);
}

/* --- Formula
 * ---------------------------------------------------------------------------------------------------------------- */

static gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static void
append_term (GString *out, const TmNumber *number)
{
  g_autofree char *text = tm_number_format (number);

  /* A sign after an operator reads badly. */
  g_string_append_printf (out, text[0] == '-' ? "(%s)" : "%s", text);
}

char *
tm_scalar_format_formula (const TmScalar *scalar)
{
  GString *out;

  if (scalar->formula == NULL)
    return NULL;
  out = g_string_new (NULL);
  for (const char *p = scalar->formula; *p;)
    {
      g_autofree char *name = NULL;
      const TmTerm *term;
      gsize n = 0;

      while (is_name (p[n]))
        n++;
      if (n == 0 || g_ascii_isdigit (*p))
        {
          n = MAX (n, 1);
          g_string_append_len (out, p, (gssize)n);
          p += n;
          continue;
        }
      name = g_strndup (p, n);
      p += n;
      /* A look-up is replaced by the number found. */
      term = tm_scalar_get_term (scalar, *p == '[' && strcmp (name, "codebook") == 0 ? "level" : name);
      if (term == NULL)
        {
          g_string_append (out, name);
          continue;
        }
      while (*p == '[' && strchr (p, ']'))
        p = strchr (p, ']') + 1;
      append_term (out, &term->value);
    }
  return g_string_free (out, FALSE);
}

/* --- JSON
 * ---------------------------------------------------------------------------------------------------------------------
 */

static void
append_list (GString *out, const guint64 *numbers, guint n)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GUINT64_FORMAT, i ? "," : "", numbers[i]);
  g_string_append_c (out, ']');
}

static void
append_parameter (GString *out, const char *key, gboolean has, double value, gboolean wide)
{
  g_string_append_printf (out, ",\"%s\":", key);
  if (has)
    append_float (out, STYLE_JSON, value, wide);
  else
    g_string_append (out, "null");
}

static void
append_terms (GString *out, const TmScalar *scalar)
{
  g_string_append (out, ",\"terms\":{");
  for (guint i = 0; i < scalar->n_terms; i++)
    {
      const TmNumber *number = &scalar->term[i].value;

      if (i)
        g_string_append_c (out, ',');
      tm_json_append_string (out, scalar->term[i].name, -1);
      g_string_append_c (out, ':');
      /* A term is exact: digits of the double, so that it can be computed with in any width. */
      if (number->kind == TM_NUMBER_F32)
        append_float (out, STYLE_JSON, (double)number->as.f32, TRUE);
      else
        append_number (out, STYLE_JSON, number);
    }
  g_string_append_c (out, '}');
}

static void
append_locations (GString *out, const TmScalar *scalar)
{
  g_string_append (out, ",\"location\":[");
  for (guint i = 0; i < scalar->n_locations; i++)
    {
      const TmLocation *location = &scalar->location[i];

      g_string_append (out, i ? ",{\"file\":" : "{\"file\":");
      tm_json_append_string (out, location->source ? tm_source_get_name (location->source) : "", -1);
      g_string_append_printf (out, ",\"byte\":%" G_GUINT64_FORMAT ",\"bit\":%u,\"bits\":%u}", location->byte,
                              location->bit, location->bits);
    }
  g_string_append_c (out, ']');
}

char *
tm_scalar_to_json (const TmScalar *scalar)
{
  const TmTensor *tensor = record_tensor (scalar);
  GString *out = g_string_new ("{\"tensor\":");
  g_autofree char *hex = tm_scalar_format_hex (scalar);

  tm_json_append_string (out, tensor->name, -1);
  g_string_append (out, ",\"index\":");
  append_list (out, scalar->index, scalar->rank);
  g_string_append (out, ",\"dtype\":");
  tm_json_append_string (out, tensor->dtype_label, -1);
  g_string_append_printf (out, ",\"quantized\":%s,\"raw\":", tensor->quantized ? "true" : "false");
  if (scalar->has_raw)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, scalar->raw);
  else
    g_string_append (out, "null");
  if (hex)
    g_string_append_printf (out, ",\"raw_bits\":%u,\"raw_hex\":\"%s\"", scalar->raw_bits, hex);
  else
    g_string_append (out, ",\"raw_bits\":null,\"raw_hex\":null");
  append_parameter (out, "scale", scalar->has_scale, scalar->scale, scalar->scale_is_f64);
  append_parameter (out, "zero_point", scalar->has_zero_point, scalar->zero_point, FALSE);
  append_parameter (out, "offset", scalar->has_offset, scalar->offset, FALSE);
  g_string_append (out, ",\"value\":");
  append_number (out, STYLE_JSON, &scalar->value);
  if (scalar->has_exact)
    append_parameter (out, "exact", TRUE, scalar->exact, TRUE);
  if (scalar->has_group)
    {
      g_string_append_printf (out, ",\"group\":{\"level\":%u,\"start\":", scalar->group_level);
      append_list (out, scalar->group_start, scalar->group_rank);
      g_string_append (out, ",\"end\":");
      append_list (out, scalar->group_end, scalar->group_rank);
      g_string_append_c (out, '}');
    }
  else
    g_string_append (out, ",\"group\":null");
  g_string_append (out, ",\"formula\":");
  if (scalar->formula)
    tm_json_append_string (out, scalar->formula, -1);
  else
    g_string_append (out, "null");
  append_terms (out, scalar);
  append_locations (out, scalar);
  g_string_append_c (out, '}');
  return g_string_free (out, FALSE);
}

/* --- For people
 * ----------------------------------------------------------------------------------------------------------------- */

#define LABEL_WIDTH 13

static void
append_label (GString *out, const char *label)
{
  g_string_append_printf (out, "%-*s", LABEL_WIDTH, label);
}

static void
append_float_line (GString *out, const char *label, gboolean has, double value, gboolean wide)
{
  if (!has)
    return;
  append_label (out, label);
  append_float (out, STYLE_TEXT, value, wide);
  g_string_append_c (out, '\n');
}

static void
append_location_lines (GString *out, const TmScalar *scalar)
{
  for (guint i = 0; i < scalar->n_locations; i++)
    {
      const TmLocation *location = &scalar->location[i];
      g_autofree char *file = tm_text_escape (location->source ? tm_source_get_name (location->source) : "", -1);

      append_label (out, i ? "" : "location");
      g_string_append_printf (out, "%s byte %" G_GUINT64_FORMAT, file, location->byte);
      if (location->bits > 8)
        g_string_append_printf (out, " to %" G_GUINT64_FORMAT "\n", location->byte + location->bits / 8 - 1);
      else if (location->bits == 8)
        g_string_append_c (out, '\n');
      else if (location->bits == 1)
        g_string_append_printf (out, ", bit %u\n", location->bit);
      else
        g_string_append_printf (out, ", bits %u to %u\n", location->bit, location->bit + location->bits - 1);
    }
}

char *
tm_scalar_to_text (const TmScalar *scalar)
{
  const TmTensor *tensor = record_tensor (scalar);
  GString *out = g_string_new (NULL);
  g_autofree char *name = tm_text_escape (tensor->name, -1), *dtype = tm_text_escape (tensor->dtype_label, -1);
  g_autofree char *value = tm_scalar_format_value (scalar), *formula = tm_scalar_format_formula (scalar);
  g_autofree char *hex = tm_scalar_format_hex (scalar), *bits = tm_scalar_format_bits (scalar);

  append_label (out, "tensor");
  g_string_append_printf (out, "%s [", name);
  for (guint i = 0; i < scalar->rank; i++)
    g_string_append_printf (out, "%s%" G_GUINT64_FORMAT, i ? ", " : "", scalar->index[i]);
  g_string_append (out, "]\n");
  append_label (out, "dtype");
  g_string_append_printf (out, "%s\n", dtype);
  if (scalar->has_raw)
    {
      g_autofree char *raw = g_strdup_printf ("%" G_GINT64_FORMAT, scalar->raw);

      append_label (out, "raw");
      g_string_append_printf (out, "%-12s dequantized  %s\n", raw, value);
    }
  else
    {
      append_label (out, tensor->quantized ? "dequantized" : "value");
      g_string_append_printf (out, "%s\n", value);
    }
  append_float_line (out, "exact", scalar->has_exact, scalar->exact, TRUE);
  if (hex)
    {
      append_label (out, "bits");
      g_string_append_printf (out, "%-12s %s\n", hex, bits);
    }
  append_float_line (out, "scale", scalar->has_scale, scalar->scale, scalar->scale_is_f64);
  append_float_line (out, "zero point", scalar->has_zero_point, scalar->zero_point, FALSE);
  append_float_line (out, "offset", scalar->has_offset, scalar->offset, FALSE);
  if (formula)
    {
      append_label (out, "formula");
      g_string_append_printf (out, "%s\n", scalar->formula);
      append_label (out, "");
      g_string_append_printf (out, "%s = %s\n", formula, value);
    }
  for (guint i = 0; i < scalar->n_terms; i++)
    {
      g_autofree char *text = tm_number_format (&scalar->term[i].value);

      append_label (out, i ? "" : "terms");
      g_string_append_printf (out, "%-8s %s\n", scalar->term[i].name, text);
    }
  if (scalar->has_group)
    {
      append_label (out, "group");
      g_string_append_c (out, '[');
      for (guint i = 0; i < scalar->group_rank; i++)
        g_string_append_printf (out, "%s%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, i ? ", " : "",
                                scalar->group_start[i], scalar->group_end[i]);
      g_string_append_c (out, ']');
      if (tensor->granularity)
        {
          g_autofree char *granularity = tm_granularity_describe (tensor->granularity);

          g_string_append_printf (out, " %s", granularity);
        }
      g_string_append_c (out, '\n');
    }
  append_location_lines (out, scalar);
  if (out->len && out->str[out->len - 1] == '\n')
    g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}
