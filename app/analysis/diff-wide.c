/* Dtypes that float32 cannot hold: doubles, whole numbers of 32 bits and more, complex numbers. They are compared in double,
 * whole numbers by their exact difference, so that "exact" is never said of what only looks alike in float32. */
#include "analysis/diff-sums.h"

#include <math.h>
#include <string.h>

#define NATIVE_SIZE 16 /* of the largest element */

static gboolean
is_wide (TmDtype dtype)
{
  switch ((gint) dtype)
    {
    case TM_DTYPE_F64:
    case TM_DTYPE_I64:
    case TM_DTYPE_I32:
    case TM_DTYPE_U64:
    case TM_DTYPE_U32:
    case TM_DTYPE_C64:
    case TM_DTYPE_C128:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
tm_diff_is_wide (const TmTensor *candidate, const TmReading *reading)
{
  gboolean wide = is_wide (tm_tensor_get_native_dtype (candidate));

  for (guint i = 0; i < reading->parts->len; i++)
    wide = wide || is_wide (tm_tensor_get_native_dtype (g_array_index (reading->parts, TmReadingPart, i).tensor));
  return wide && !candidate->quantized;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

__extension__ typedef __int128 Whole;

typedef struct
{
  gboolean is_whole;
  Whole whole;
  double real, imaginary;
} Number;

static Number
make_whole (Whole whole)
{
  return (Number) { .is_whole = TRUE, .whole = whole, .real = (double) whole };
}

#define LOAD(type, member) \
  type member; \
  memcpy (&member, from, sizeof member)

static Number
load (TmDtype dtype, const guint8 *from)
{
  switch ((gint) dtype)
    {
    case TM_DTYPE_F64:
      {
        LOAD (double, number);
        return (Number) { .real = number };
      }
    case TM_DTYPE_C64:
      {
        float parts[2];
        memcpy (parts, from, sizeof parts);
        return (Number) { .real = (double) parts[0], .imaginary = (double) parts[1] };
      }
    case TM_DTYPE_C128:
      {
        double parts[2];
        memcpy (parts, from, sizeof parts);
        return (Number) { .real = parts[0], .imaginary = parts[1] };
      }
    case TM_DTYPE_I64:
      {
        LOAD (gint64, number);
        return make_whole (number);
      }
    case TM_DTYPE_U64:
      {
        LOAD (guint64, number);
        return make_whole (number);
      }
    case TM_DTYPE_I32:
      {
        LOAD (gint32, number);
        return make_whole (number);
      }
    case TM_DTYPE_U32:
      {
        LOAD (guint32, number);
        return make_whole (number);
      }
    case TM_DTYPE_I16:
      {
        LOAD (gint16, number);
        return make_whole (number);
      }
    case TM_DTYPE_U16:
      {
        LOAD (guint16, number);
        return make_whole (number);
      }
    case TM_DTYPE_I8:
      {
        LOAD (gint8, number);
        return make_whole (number);
      }
    case TM_DTYPE_U8:
    case TM_DTYPE_BOOL:
      return make_whole (*from);
    case TM_DTYPE_F32:
    default:
      {
        LOAD (float, number);
        return (Number) { .real = (double) number };
      }
    }
}

static Number
change (TmValueChange how, Number number)
{
  switch (how)
    {
    case TM_CHANGE_PLUS_ONE:
      return number.is_whole ? make_whole (number.whole + 1) : (Number) { .real = number.real + 1, .imaginary = number.imaginary };
    case TM_CHANGE_MINUS_ONE:
      return number.is_whole ? make_whole (number.whole - 1) : (Number) { .real = number.real - 1, .imaginary = number.imaginary };
    case TM_CHANGE_NEG_EXP:
      return (Number) { .real = -exp (number.real) };
    case TM_CHANGE_LOG_NEG:
      return (Number) { .real = log (-number.real) };
    case TM_CHANGE_NONE:
    default:
      return number;
    }
}

static gboolean
is_finite (const Number *number)
{
  return isfinite (number->real) && isfinite (number->imaginary);
}

static gboolean
is_nan (const Number *number)
{
  return isnan (number->real) || isnan (number->imaginary);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* As many elements of the reference from flat on as lie in a row in its file, at most max. */
static gboolean
read_run (const TmReading *reading, guint64 flat, gsize max, guint8 *out, TmDtype *dtype, gsize *size, gsize *n,
          GCancellable *cancellable, GError **error)
{
  guint64 at, column = flat % reading->columns, row = flat / reading->columns;
  const TmReadingPart *part = tm_reading_locate (reading, flat, &at);

  *n = 1;
  if (part->column_step == 1 || reading->columns == 1)
    *n = (gsize) MIN (max, reading->columns - column);
  if (part->order == TM_ROWS_AS_THEY_ARE && part->row_step == reading->columns
      && (part->column_step == 1 || reading->columns == 1))
    *n = (gsize) MIN (max, (part->first_row + part->n_rows - row) * reading->columns - column);
  *dtype = tm_tensor_get_native_dtype (part->tensor);
  *size = tm_tensor_get_native_size (part->tensor);
  return tm_tensor_decode_native (part->tensor, at, *n, out, cancellable, error);
}

/* --- Sums --------------------------------------------------------------------------------------------------------- */

static void
add_number (TmDiffSums *sums, TmGroupSum *group, guint64 flat, const Number *y, const Number *x)
{
  double real, imaginary, squared, size;

  if (!is_finite (x) || !is_finite (y))
    {
      if ((is_nan (x) && is_nan (y)) || (x->real == y->real && x->imaginary == y->imaginary))
        sums->n_same_nonfinite++;
      else
        sums->n_other_nonfinite++;
      return;
    }
  sums->n++;
  real = x->is_whole && y->is_whole ? (double) (y->whole - x->whole) : y->real - x->real;
  imaginary = y->imaginary - x->imaginary;
  size = imaginary == 0 ? fabs (real) : hypot (real, imaginary);
  squared = real * real + imaginary * imaginary;
  sums->sum_xx += x->real * x->real + x->imaginary * x->imaginary;
  sums->sum_yy += y->real * y->real + y->imaginary * y->imaginary;
  sums->sum_ee += squared;
  sums->sum_e += real;
  if (size > sums->max_abs)
    {
      sums->max_abs = size;
      sums->max_at = flat;
    }
  if (group == NULL)
    return;
  if (group->count == 0)
    group->first = flat;
  group->count++;
  group->sum_ee += squared;
  group->max_abs = MAX (group->max_abs, size);
}

gboolean
tm_diff_sums_add_wide (TmDiffSums *sums, const TmDiffWidePiece *piece, GError **error)
{
  const TmDtype y_dtype = tm_tensor_get_native_dtype (piece->tensor);
  const gsize y_size = tm_tensor_get_native_size (piece->tensor);
  g_autofree guint8 *ys = g_malloc (piece->count * y_size + 1), *xs = g_malloc (piece->count * NATIVE_SIZE + 1);

  if (!tm_tensor_decode_native (piece->tensor, piece->first, piece->count, ys, piece->cancellable, error))
    return FALSE;
  for (gsize at = 0; at < piece->count;)
    {
      TmDtype x_dtype;
      gsize x_size, n;

      if (!read_run (piece->reading, piece->first + at, piece->count - at, xs, &x_dtype, &x_size, &n, piece->cancellable,
                     error))
        return FALSE;
      for (gsize i = 0; i < n; i++)
        {
          Number x = change (piece->reading->change, load (x_dtype, xs + i * x_size));
          Number y = load (y_dtype, ys + (at + i) * y_size);
          guint64 flat = piece->first + at + i, number = 0;

          if (sums->group != NULL)
            tm_group_layout_next (piece->layout, flat, 1, &number);
          add_number (sums, sums->group != NULL ? &sums->group[number - sums->first_group] : NULL, flat, &y, &x);
        }
      at += n;
    }
  return TRUE;
}
