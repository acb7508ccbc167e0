#include "view/packing-card.h"

#include <string.h>

#include "io/error.h"
#include "io/number.h"
#include "io/text.h"

/* A field of more bits than this is not looked at bit by bit: a code book of millions of entries. */
#define MAX_MARKED_BITS ((guint64) TM_PACKING_RUN_MAX * 8)

static guint64
end_of (const TmPackField *field)
{
  return field->byte + (field->bit + field->bits + 7) / 8;
}

/* --- Legend ---------------------------------------------------------------------------------------------------------- */

static guint16
find_legend (GArray *legend, const TmPackField *field)
{
  for (guint i = 0; i < legend->len; i++)
    {
      const TmPackingLegend *entry = &g_array_index (legend, TmPackingLegend, i);
      if (entry->stored == field->stored && strcmp (entry->name, field->name) == 0)
        return (guint16) i;
    }
  return TM_NO_LEGEND;
}

static guint16
add_legend (GArray *legend, const TmPackField *field)
{
  guint16 at = find_legend (legend, field);
  if (at != TM_NO_LEGEND)
    {
      TmPackingLegend *entry = &g_array_index (legend, TmPackingLegend, at);
      entry->byte = MIN (entry->byte, field->byte);
      entry->bits += field->bits;
      return at;
    }
  if (legend->len >= TM_NO_LEGEND)
    return TM_NO_LEGEND;
  guint n_codes = 0, n_others = 0;
  for (guint i = 0; i < legend->len; i++)
    if (g_array_index (legend, TmPackingLegend, i).role == TM_PACK_CODE)
      n_codes++;
    else
      n_others++;
  /* Codes have the first two colours to themselves: one finds them again in every picture. */
  guint color = field->role != TM_PACK_CODE ? 2 + n_others : n_codes < 2 ? n_codes : 5 + n_codes;
  TmPackingLegend fresh = { field->name, field->meaning, field->role, field->stored, field->byte, field->bits, color, FALSE };
  g_array_append_val (legend, fresh);
  return (guint16) (legend->len - 1);
}

/* --- Runs ------------------------------------------------------------------------------------------------------------ */

static void
run_free (TmPackingRun *run)
{
  g_free (run->title);
  g_free (run->byte);
  g_free (run);
}

typedef struct { const TmStored *stored; guint64 start, end; guint order; } Span;

static gint
compare_spans (gconstpointer a, gconstpointer b)
{
  const Span *x = a, *y = b;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start ? 1 : 0;
}

static void
add_spans (GArray *spans, const GArray *fields)
{
  for (guint i = 0; fields != NULL && i < fields->len; i++)
    {
      const TmPackField *field = &g_array_index (fields, TmPackField, i);
      guint order = spans->len;
      if (field->bits == 0 || field->stored == NULL)
        continue;
      for (guint j = 0; j < spans->len; j++)
        if (g_array_index (spans, Span, j).stored == field->stored)
          {
            order = g_array_index (spans, Span, j).order;
            break;
          }
      Span span = { field->stored, field->byte, MIN (end_of (field), field->stored->bytes), order };
      if (span.start < span.end)
        g_array_append_val (spans, span);
    }
}

/* Spans of one stored tensor that touch or overlap become one; stored tensors in the order they were first named. */
static void
merge_spans (GArray *spans)
{
  g_array_sort (spans, compare_spans);
  guint n = 0;
  for (guint i = 0; i < spans->len; i++)
    {
      Span *span = &g_array_index (spans, Span, i), *last = n > 0 ? &g_array_index (spans, Span, n - 1) : NULL;
      if (last != NULL && last->stored == span->stored && span->start <= last->end)
        last->end = MAX (last->end, span->end);
      else
        g_array_index (spans, Span, n++) = *span;
    }
  g_array_set_size (spans, n);
}

/* The part of a long span that is shown: where the scalar's own bits are. */
static void
cut_span (const Span *span, const GArray *own, guint64 *start, guint64 *end)
{
  guint64 at = span->start;
  *start = span->start;
  *end = span->end;
  if (span->end - span->start <= TM_PACKING_RUN_MAX)
    return;
  for (guint i = 0; own != NULL && i < own->len; i++)
    {
      const TmPackField *field = &g_array_index (own, TmPackField, i);
      if (field->stored == span->stored && field->byte >= span->start && field->byte < span->end)
        {
          at = field->byte;
          break;
        }
    }
  guint64 back = MIN (at - span->start, TM_PACKING_RUN_MAX / 2) & ~(guint64) 15;
  *start = at - back - (at - back - span->start) % 16;
  *end = MIN (*start + TM_PACKING_RUN_MAX, span->end);
}

static void
paint_field (TmPackingRun *run, const TmPackField *field, guint16 legend, guint64 legend_byte)
{
  if (field->stored != run->stored)
    return;
  guint64 start = MAX (field->byte, run->first), end = MIN (end_of (field), run->first + run->n);
  for (guint64 at = start; at < end; at++)
    {
      TmPackingByte *byte = &run->byte[at - run->first];
      if (byte->legend == TM_NO_LEGEND) /* two fields in one byte: the lower one names it */
        {
          byte->legend = legend;
          byte->at = (guint32) (at - legend_byte);
        }
    }
}

static void
mark_own (TmPackingRun *run, const TmPackField *field)
{
  if (field->stored != run->stored || field->bits > MAX_MARKED_BITS)
    return;
  for (guint64 b = 0; b < field->bits; b++)
    {
      guint64 bit = field->bit + b, at = field->byte + bit / 8;
      if (at >= run->first && at < run->first + run->n)
        run->byte[at - run->first].own |= (guint8) (1u << (bit & 7));
    }
}

static gboolean
read_stored (const TmStored *stored, guint64 first, gsize n, guint8 *to, GError **error)
{
  guint64 offset;
  if (stored->source == NULL || __builtin_add_overflow (stored->offset, first, &offset))
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_TENSOR, "the file that holds it is missing");
      return FALSE;
    }
  return tm_source_read (stored->source, offset, to, n, error);
}

/* The last part of a name says what a stored tensor is: "qweight". */
static const char *
short_name (const TmStored *stored)
{
  const char *dot = strrchr (stored->name, '.');
  return dot != NULL && dot[1] != '\0' ? dot + 1 : stored->name;
}

static TmPackingRun *
run_new (const Span *span, const GArray *own, gboolean several_files, GError **error)
{
  guint64 start, end;
  cut_span (span, own, &start, &end);
  gsize n = (gsize) (end - start);
  g_autofree guint8 *bytes = g_malloc (n);
  if (!read_stored (span->stored, start, n, bytes, error))
    return NULL;

  TmPackingRun *run = g_new0 (TmPackingRun, 1);
  run->stored = span->stored;
  run->first = start;
  run->n = (guint) n;
  run->cut_before = start > span->start;
  run->cut_after = end < span->end;
  run->byte = g_new0 (TmPackingByte, n);
  for (gsize i = 0; i < n; i++)
    run->byte[i] = (TmPackingByte) { bytes[i], 0, TM_NO_LEGEND, 0 };
  g_autofree char *name = tm_text_escape (short_name (span->stored), -1);
  g_autofree char *file = several_files ? tm_text_escape (tm_source_get_name (span->stored->source), -1) : NULL;
  run->title = g_strdup_printf ("%s · 0x%" G_GINT64_MODIFIER "X%s%s", name, span->stored->offset + start,
                                file != NULL ? " · " : "", file != NULL ? file : "");
  return run;
}

static gboolean
are_several_files (const GArray *spans)
{
  for (guint i = 1; i < spans->len; i++)
    if (g_array_index (spans, Span, i).stored->source != g_array_index (spans, Span, 0).stored->source)
      return TRUE;
  return FALSE;
}

static gboolean
make_runs (TmPackingCard *card, const TmPacking *packing, GError **error)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (Span));
  add_spans (spans, packing->fields);
  add_spans (spans, packing->own);
  merge_spans (spans);
  gboolean several = are_several_files (spans);
  for (guint i = 0; i < spans->len; i++)
    {
      TmPackingRun *run = run_new (&g_array_index (spans, Span, i), packing->own, several, error);
      if (run == NULL)
        return FALSE;
      g_ptr_array_add (card->runs, run);
    }

  const GArray *lists[] = { packing->fields, packing->own };
  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; lists[l] != NULL && i < lists[l]->len; i++)
      {
        const TmPackField *field = &g_array_index (lists[l], TmPackField, i);
        if (field->stored == NULL || field->bits == 0)
          continue;
        /* An own piece of a field that is named otherwise ("zero" in "qzeros") belongs to that field. */
        guint16 at = find_legend (card->legend, field);
        if (l == 0 && at == TM_NO_LEGEND)
          continue;
        for (guint r = 0; r < card->runs->len; r++)
          {
            TmPackingRun *run = g_ptr_array_index (card->runs, r);
            if (at != TM_NO_LEGEND)
              paint_field (run, field, at, g_array_index (card->legend, TmPackingLegend, at).byte);
            if (l == 1)
              mark_own (run, field);
          }
      }
  for (guint r = 0; r < card->runs->len; r++)
    {
      const TmPackingRun *run = g_ptr_array_index (card->runs, r);
      for (guint i = 0; i < run->n; i++)
        if (run->byte[i].own && run->byte[i].legend != TM_NO_LEGEND)
          g_array_index (card->legend, TmPackingLegend, run->byte[i].legend).own = TRUE;
    }
  return TRUE;
}

static void
make_legend (TmPackingCard *card, const TmPacking *packing)
{
  for (guint i = 0; packing->fields != NULL && i < packing->fields->len; i++)
    {
      const TmPackField *field = &g_array_index (packing->fields, TmPackField, i);
      if (field->stored != NULL && field->bits > 0)
        add_legend (card->legend, field);
    }
  for (guint i = 0; packing->own != NULL && i < packing->own->len; i++)
    { /* what the picture of the block leaves out: another tensor's number */
      const TmPackField *own = &g_array_index (packing->own, TmPackField, i);
      gboolean covered = own->stored == NULL || own->bits == 0;
      for (guint f = 0; packing->fields != NULL && f < packing->fields->len && !covered; f++)
        {
          const TmPackField *field = &g_array_index (packing->fields, TmPackField, f);
          covered = field->stored == own->stored && field->byte <= own->byte && end_of (field) > own->byte;
        }
      if (!covered)
        add_legend (card->legend, own);
    }
}

static gboolean
is_block_type (const TmTensor *tensor)
{
  return g_strcmp0 (tensor->scheme, "ggml") == 0 && tm_dtype_get_info (tensor->dtype)->block_elements > 1 && tensor->rank > 0;
}

/* --- Words ----------------------------------------------------------------------------------------------------------- */

/* Up to 64 bits of a field, from the bytes that were read. */
static gboolean
get_bits (const TmPackingCard *card, const TmPackField *field, guint64 *bits)
{
  if (field->bits == 0 || field->bits > 64)
    return FALSE;
  for (guint r = 0; r < card->runs->len; r++)
    {
      const TmPackingRun *run = g_ptr_array_index (card->runs, r);
      if (run->stored != field->stored || field->byte < run->first || end_of (field) > run->first + run->n)
        continue;
      *bits = 0;
      for (guint64 b = 0; b < field->bits; b++)
        {
          guint64 bit = field->bit + b;
          guint8 byte = run->byte[field->byte - run->first + bit / 8].value;
          *bits |= (guint64) (byte >> (bit & 7) & 1) << b;
        }
      return TRUE;
    }
  return FALSE;
}

static void
append_binary (GString *text, guint64 bits, guint64 n)
{
  for (guint64 b = n; b > 0; b--)
    g_string_append_c (text, bits >> (b - 1) & 1 ? '1' : '0');
}

static const TmPackingByte *
find_byte (const TmPackingCard *card, const TmStored *stored, guint64 byte)
{
  for (guint r = 0; r < card->runs->len; r++)
    {
      const TmPackingRun *run = g_ptr_array_index (card->runs, r);
      if (run->stored == stored && byte >= run->first && byte < run->first + run->n)
        return &run->byte[byte - run->first];
    }
  return NULL;
}

static void
append_number (GString *text, double number)
{
  char buffer[TM_NUMBER_SIZE];
  g_string_append (text, tm_format_float32 (buffer, (float) number));
}

/* "qh[2] bits 0-1  10 of 0xCA", "scales[0] = 0x2E = 46", "d = 0x020C = 3.1232834e-05" */
static void
append_piece (const TmPackingCard *card, const TmPackField *field, GString *text)
{
  const TmPackingByte *first = find_byte (card, field->stored, field->byte);
  const TmPackingLegend *entry = first != NULL && first->legend != TM_NO_LEGEND
                                     ? &g_array_index (card->legend, TmPackingLegend, first->legend)
                                     : NULL;
  guint64 bits = 0, n_bytes = end_of (field) - field->byte;
  gboolean whole_bytes = field->bit == 0 && field->bits % 8 == 0;

  /* "sc: scales[3]": what it is in the formula, and where that is. A code's own name says nothing new. */
  if (entry == NULL || (strcmp (entry->name, field->name) != 0 && field->role != TM_PACK_CODE))
    g_string_append_printf (text, entry != NULL ? "%s: " : "%s", field->name);
  if (entry != NULL)
    {
      g_string_append (text, entry->name);
      if (entry->bits > field->bits)
        g_string_append_printf (text, "[%" G_GUINT64_FORMAT "]", (guint64) first->at / MAX (whole_bytes ? n_bytes : 1, 1));
    }
  if (!whole_bytes)
    {
      if (field->bits == 1)
        g_string_append_printf (text, " bit %u", field->bit);
      else
        g_string_append_printf (text, " bits %u-%" G_GUINT64_FORMAT, field->bit, field->bit + field->bits - 1);
    }
  if (get_bits (card, field, &bits))
    {
      if (whole_bytes)
        g_string_append_printf (text, " = 0x%0*" G_GINT64_MODIFIER "X", (int) (field->bits / 4), bits);
      else
        {
          g_string_append (text, "  ");
          append_binary (text, bits, field->bits);
          if (n_bytes == 1 && first != NULL)
            g_string_append_printf (text, " of 0x%02X", first->value);
        }
    }
  if (field->has_number && field->role == TM_PACK_SIGN)
    g_string_append (text, field->number < 0 ? " = minus" : " = plus");
  else if (field->has_number && !(field->role == TM_PACK_CODE && !whole_bytes))
    {
      g_string_append (text, " = ");
      append_number (text, field->number);
    }
}

/* "raw = 10 1001₂ = 41": the pieces from the high bits down. */
static void
append_raw (const TmPackingCard *card, const TmPacking *packing, const TmScalar *scalar, GString *text)
{
  guint n_pieces = 0;
  if (!scalar->has_raw)
    return;
  g_autoptr (GString) binary = g_string_new (NULL);
  for (guint i = packing->own != NULL ? packing->own->len : 0; i > 0; i--)
    {
      const TmPackField *field = &g_array_index (packing->own, TmPackField, i - 1);
      guint64 bits;
      if (field->role != TM_PACK_CODE || !get_bits (card, field, &bits))
        continue;
      if (binary->len > 0)
        g_string_append_c (binary, ' ');
      append_binary (binary, bits, field->bits);
      n_pieces++;
    }
  g_string_append (text, "raw = ");
  if (n_pieces > 0 && binary->len - (n_pieces - 1) == scalar->raw_bits)
    g_string_append_printf (text, "%s₂ = ", binary->str);
  g_string_append_printf (text, "%" G_GINT64_FORMAT "\n", scalar->raw);
}

static char *
make_bits (const TmPackingCard *card, const TmPacking *packing, const TmScalar *scalar)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const GArray *own = packing->own;

  /* High bits first, as one writes a number. */
  for (guint i = own != NULL ? own->len : 0; i > 0; i--)
    if (g_array_index (own, TmPackField, i - 1).role == TM_PACK_CODE)
      {
        append_piece (card, &g_array_index (own, TmPackField, i - 1), text);
        g_string_append_c (text, '\n');
      }
  append_raw (card, packing, scalar, text);
  if (packing->n_grid > 0)
    {
      g_string_append_printf (text, "grid[%" G_GINT64_FORMAT "] =", scalar->raw);
      for (guint i = 0; i < packing->n_grid; i++)
        g_string_append_printf (text, i == packing->lane ? " [%d]" : " %d", packing->grid[i]);
      g_string_append_printf (text, ", lane %u\n", packing->lane);
    }
  for (guint i = 0; own != NULL && i < own->len; i++)
    if (g_array_index (own, TmPackField, i).role != TM_PACK_CODE)
      {
        append_piece (card, &g_array_index (own, TmPackField, i), text);
        g_string_append_c (text, '\n');
      }
  if (text->len > 0 && text->str[text->len - 1] == '\n')
    g_string_truncate (text, text->len - 1);
  return g_strdup (text->str);
}

/* "Q6_K super-block, 210 bytes, 256 values", "gptq U4, 32-bit word of eight codes" */
static char *
make_title (const TmTensor *tensor, const TmPacking *packing)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  g_autofree char *label = tm_text_escape (tensor->dtype_label != NULL ? tensor->dtype_label : "", -1);
  if (is_block_type (tensor))
    return g_strdup_printf ("%s %s, %u bytes, %u values", label,
                            tensor->granularity != NULL && tensor->granularity->n_levels > 1 ? "super-block" : "block",
                            info->block_bytes, info->block_elements);
  return g_strdup_printf ("%s%s%s, %s", tensor->scheme != NULL ? tensor->scheme : "", tensor->scheme != NULL ? " " : "", label,
                          packing->title != NULL ? packing->title : "stored words");
}

/* Block types lie in rows, one block after the other: that is a place one can name. */
static char *
make_place (const TmTensor *tensor, const TmScalar *scalar, const TmPackingCard *card)
{
  const TmDtypeInfo *info = tm_dtype_get_info (tensor->dtype);
  if (card->runs->len == 0)
    return NULL;
  const TmPackingRun *run = g_ptr_array_index (card->runs, 0);
  guint64 at = run->stored->offset + run->first;
  if (!is_block_type (tensor))
    return NULL;
  guint64 column = scalar->index[tensor->rank - 1], row = 0;
  for (guint axis = 0; axis + 1 < tensor->rank; axis++)
    row = row * tensor->shape[axis] + scalar->index[axis];
  return tensor->rank == 1
             ? g_strdup_printf ("block %" G_GUINT64_FORMAT " · file 0x%" G_GINT64_MODIFIER "X", column / info->block_elements, at)
             : g_strdup_printf ("block %" G_GUINT64_FORMAT " of row %" G_GUINT64_FORMAT " · file 0x%" G_GINT64_MODIFIER "X",
                                column / info->block_elements, row, at);
}

static char *
make_description (const TmPackingCard *card)
{
  g_autoptr (GString) text = g_string_new (card->title);
  if (card->place != NULL)
    g_string_append_printf (text, "; %s", card->place);
  for (guint i = 0; i < card->legend->len; i++)
    {
      const TmPackingLegend *entry = &g_array_index (card->legend, TmPackingLegend, i);
      g_string_append_printf (text, "; %s, %" G_GUINT64_FORMAT " bytes%s%s%s", entry->name, (entry->bits + 7) / 8,
                              entry->meaning != NULL ? ", " : "", entry->meaning != NULL ? entry->meaning : "",
                              entry->own ? ", holds bits of this value" : "");
    }
  return g_strdup (text->str);
}

TmPackingCard *
tm_packing_card_new (const TmTensor *tensor, const TmScalar *scalar, GError **error)
{
  g_auto (TmPacking) packing = TM_PACKING_INIT;
  if (!tm_tensor_describe_block (tensor, scalar->index, &packing, error))
    return NULL;

  g_autoptr (TmPackingCard) card = g_atomic_rc_box_new0 (TmPackingCard);
  card->legend = g_array_new (FALSE, FALSE, sizeof (TmPackingLegend));
  card->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  make_legend (card, &packing);
  if (!make_runs (card, &packing, error))
    return NULL;
  card->title = make_title (tensor, &packing);
  card->place = make_place (tensor, scalar, card);
  card->order = g_strdup (packing.order);
  card->bits = make_bits (card, &packing, scalar);
  card->description = make_description (card);
  return g_steal_pointer (&card);
}

static void
clear (gpointer data)
{
  TmPackingCard *card = data;
  g_free (card->title);
  g_free (card->place);
  g_free (card->order);
  g_clear_pointer (&card->legend, g_array_unref);
  g_clear_pointer (&card->runs, g_ptr_array_unref);
  g_free (card->bits);
  g_free (card->description);
}

TmPackingCard *
tm_packing_card_ref (TmPackingCard *card)
{
  return g_atomic_rc_box_acquire (card);
}

void
tm_packing_card_unref (TmPackingCard *card)
{
  if (card != NULL)
    g_atomic_rc_box_release_full (card, clear);
}

char *
tm_packing_card_describe_byte (const TmPackingCard *card, const TmPackingRun *run, guint i)
{
  const TmPackingByte *byte = &run->byte[i];
  g_autoptr (GString) text = g_string_new (NULL);
  const TmPackingLegend *entry
      = byte->legend != TM_NO_LEGEND ? &g_array_index (card->legend, TmPackingLegend, byte->legend) : NULL;

  if (entry != NULL)
    g_string_append_printf (text, "%s[%u] · ", entry->name, byte->at);
  g_string_append_printf (text, "file 0x%" G_GINT64_MODIFIER "X · 0x%02X = ", run->stored->offset + run->first + i, byte->value);
  append_binary (text, byte->value, 8);
  g_string_append (text, "₂");
  if (byte->own == 255)
    g_string_append (text, "\nall bits are this value's own");
  else if (byte->own != 0)
    {
      guint low = (guint) g_bit_nth_lsf (byte->own, -1), high = low;
      while (high < 7 && byte->own >> (high + 1) & 1)
        high++;
      g_string_append_printf (text, low == high ? "\nbit %u is this value's own" : "\nbits %u-%u are this value's own", low, high);
    }
  if (entry != NULL && entry->meaning != NULL)
    g_string_append_printf (text, "\n%s", entry->meaning);
  return g_strdup (text->str);
}
