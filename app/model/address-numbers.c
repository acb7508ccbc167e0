/* Indices and regions: "37,530" and "0:4,0:32" against a shape. */
#include <string.h>

#include "io/error.h"
#include "io/number.h"
#include "io/text.h"
#include "model/address.h"

static char *
describe_shape (guint rank, const guint64 *shape)
{
  GString *text = g_string_new ("[");

  for (guint axis = 0; axis < rank; axis++)
    g_string_append_printf (text, axis == 0 ? "%" G_GUINT64_FORMAT : ", %" G_GUINT64_FORMAT, shape[axis]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static void
trim (const char **text, gsize *length)
{
  while (*length > 0 && **text == ' ')
    {
      (*text)++;
      (*length)--;
    }
  while (*length > 0 && (*text)[*length - 1] == ' ')
    (*length)--;
}

static gboolean
parse_number (const char *text, gsize length, guint64 *number, GError **error)
{
  g_autofree char *shown = NULL;

  trim (&text, &length);
  if (length > 0 && tm_parse_u64 (text, (gssize) length, number))
    return TRUE;
  shown = tm_text_escape (text, (gssize) MIN (length, 80));
  if (length == 0)
    g_set_error_literal (error, TM_ERROR, TM_ERROR_ADDRESS, "a number is missing");
  else if (strspn (text, "0123456789") >= length)
    g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "%s does not fit in 64 bits", shown);
  else
    g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "“%s” is no number", shown);
  return FALSE;
}

/* Cuts text at its commas into exactly rank pieces. (transfer full): start and length of each. */
typedef struct
{
  const char *text;
  gsize length;
} Piece;

static Piece *
cut (const char *text, guint rank, const guint64 *shape, const char *what, GError **error)
{
  g_autofree Piece *pieces = g_new0 (Piece, MAX (rank, 1));
  g_autofree char *shown = NULL;
  gsize length = strlen (text);
  guint n = 0;

  trim (&text, &length);
  if (length > 0 || rank == 1)
    for (const char *at = text;; at++)
      {
        const gsize piece = MIN (strcspn (at, ","), length - (gsize) (at - text));

        if (n < rank)
          pieces[n] = (Piece) { at, piece };
        n++;
        at += piece;
        if (at >= text + length)
          break;
      }
  if (n == rank)
    return g_steal_pointer (&pieces);
  shown = describe_shape (rank, shape);
  if (rank == 0)
    g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                 "a tensor without axes has one element, addressed by no number at all");
  else
    g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "shape %s has %u %s and so needs %u %s, not %u", shown, rank,
                 rank == 1 ? "axis" : "axes", rank, what, n);
  return NULL;
}

gboolean
tm_index_parse (const char *text, guint rank, const guint64 *shape, guint64 *index, GError **error)
{
  g_autofree Piece *pieces = cut (text, rank, shape, rank == 1 ? "number" : "numbers", error);

  if (pieces == NULL)
    return FALSE;
  for (guint axis = 0; axis < rank; axis++)
    {
      if (!parse_number (pieces[axis].text, pieces[axis].length, &index[axis], error))
        return FALSE;
      if (shape[axis] == 0)
        {
          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "axis %u is empty: there is no element to address", axis);
          return FALSE;
        }
      if (index[axis] >= shape[axis])
        {
          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                       "%" G_GUINT64_FORMAT " is outside axis %u, which goes from 0 to %" G_GUINT64_FORMAT, index[axis],
                       axis, shape[axis] - 1);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
parse_range (Piece piece, guint axis, guint64 length, guint64 *start, guint64 *end, GError **error)
{
  const char *colon;

  trim (&piece.text, &piece.length);
  colon = memchr (piece.text, ':', piece.length);
  *start = 0;
  *end = length;
  if (colon == NULL) /* one index of this axis */
    {
      if (!parse_number (piece.text, piece.length, start, error))
        return FALSE;
      *end = *start == G_MAXUINT64 ? *start : *start + 1;
    }
  else
    {
      const gsize before = (gsize) (colon - piece.text), after = piece.length - before - 1;

      if (before > 0 && !parse_number (piece.text, before, start, error))
        return FALSE;
      if (after > 0 && !parse_number (colon + 1, after, end, error))
        return FALSE;
    }
  if (*end > length || *start > length)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                   "range %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " is outside axis %u, which has %" G_GUINT64_FORMAT
                   " elements",
                   *start, *end, axis, length);
      return FALSE;
    }
  if (*start > *end || (*start == *end && length > 0))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS,
                   "range %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " on axis %u holds nothing (ranges are half-open)",
                   *start, *end, axis);
      return FALSE;
    }
  return TRUE;
}

gboolean
tm_region_parse (const char *text, guint rank, const guint64 *shape, guint64 *start, guint64 *end, GError **error)
{
  g_autofree Piece *pieces = cut (text, rank, shape, rank == 1 ? "range" : "ranges", error);

  if (pieces == NULL)
    return FALSE;
  for (guint axis = 0; axis < rank; axis++)
    if (!parse_range (pieces[axis], axis, shape[axis], &start[axis], &end[axis], error))
      return FALSE;
  return TRUE;
}
