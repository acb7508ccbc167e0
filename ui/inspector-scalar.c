/* The scalar: raw and dequantized side by side, the formula with its numbers, the group, where the bits are. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include <string.h>

#include "io/number.h"
#include "io/text.h"

static char *
format_index (guint rank, const guint64 *index)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", index[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

/* "row 37 · cols 512 … 527", or the corner indices where there are more than two axes; "row 37 · the 128 cols of group 3"
 * where the columns go through a table. */
static char *
format_group (const TmScalar *scalar, const TmGranularity *granularity)
{
  const guint64 *start = scalar->group_start, *end = scalar->group_end;
  if (granularity != NULL && granularity->table != NULL && granularity->table_axis == (gint) scalar->group_rank - 1)
    {
      guint last = scalar->group_rank - 1;
      guint64 members = tm_granularity_count_members (granularity, start[last]);
      g_autofree char *rows = last == 1 ? g_strdup_printf ("row %" G_GUINT64_FORMAT, start[0]) : format_index (last, start);
      return g_strdup_printf ("%s · the %" G_GUINT64_FORMAT " col%s of group %u", last > 0 ? rows : "", members,
                              members == 1 ? "" : "s", granularity->table[start[last]]);
    }
  if (scalar->group_rank == 2)
    {
      g_autofree char *rows = end[0] - start[0] == 1
                                  ? g_strdup_printf ("row %" G_GUINT64_FORMAT, start[0])
                                  : g_strdup_printf ("rows %" G_GUINT64_FORMAT " … %" G_GUINT64_FORMAT, start[0], end[0] - 1);
      g_autofree char *columns
          = end[1] - start[1] == 1
                ? g_strdup_printf ("col %" G_GUINT64_FORMAT, start[1])
                : g_strdup_printf ("cols %" G_GUINT64_FORMAT " … %" G_GUINT64_FORMAT, start[1], end[1] - 1);
      return g_strdup_printf ("%s · %s", rows, columns);
    }
  if (scalar->group_rank == 1)
    return g_strdup_printf ("elements %" G_GUINT64_FORMAT " … %" G_GUINT64_FORMAT, start[0], end[0] - 1);
  g_autofree guint64 *last = g_new (guint64, scalar->group_rank + 1);
  for (guint i = 0; i < scalar->group_rank; i++)
    last[i] = end[i] - 1;
  g_autofree char *from = format_index (scalar->group_rank, start);
  g_autofree char *to = format_index (scalar->group_rank, last);
  return g_strdup_printf ("%s … %s", from, to);
}

static char *
format_location (const TmScalar *scalar)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < scalar->n_locations; i++)
    {
      const TmLocation *l = &scalar->location[i];
      g_string_append_printf (text, "%s0x%" G_GINT64_MODIFIER "X", i > 0 ? "\n" : "", l->byte);
      if (l->bits % 8 == 0 && l->bit == 0)
        g_string_append_printf (text, l->bits == 8 ? ", 1 byte" : ", %u bytes", l->bits / 8);
      else if (l->bits == 1)
        g_string_append_printf (text, " bit %u", l->bit);
      else
        g_string_append_printf (text, " bits %u-%u", l->bit, l->bit + l->bits - 1);
    }
  return g_string_free (text, FALSE);
}

static char *
format_bits_of_value (const TmNumber *value)
{
  guint32 bits;
  guint64 wide;
  switch (value->kind)
    {
    case TM_NUMBER_F32:
      memcpy (&bits, &value->as.f32, sizeof bits);
      return g_strdup_printf ("float32 0x%08x", bits);
    case TM_NUMBER_F64:
      memcpy (&wide, &value->as.f64, sizeof wide);
      return g_strdup_printf ("float64 0x%016" G_GINT64_MODIFIER "x", wide);
    default:
      return NULL;
    }
}

static char *
format_exact_value (const TmScalar *scalar)
{
  const TmNumber *value = &scalar->value;
  if (scalar->has_exact)
    {
      g_autofree char *exact = tm_format_exact (scalar->exact);
      return g_strdup_printf ("exact before rounding: %s", exact);
    }
  double number;
  if (value->kind == TM_NUMBER_F32)
    number = (double) value->as.f32;
  else if (value->kind == TM_NUMBER_F64)
    number = value->as.f64;
  else
    return NULL;
  if (!(number - number == 0)) /* NaN or infinite */
    return NULL;
  g_autofree char *exact = tm_format_exact (number);
  return g_strdup_printf ("exactly %s", exact);
}

static void
add_parameter (GtkWidget *card, const char *key, double value, gboolean is_f64)
{
  char buffer[TM_NUMBER_SIZE];
  const char *text = is_f64 ? tm_format_float64 (buffer, value) : tm_format_float32 (buffer, (float) value);
  g_autofree char *exact = value - value == 0 ? tm_format_exact (value) : NULL;
  g_autofree char *tip = exact != NULL ? g_strdup_printf ("exactly %s", exact) : NULL;
  tm_card_add_row (card, key, text, tip);
}

static void
add_quantized (GtkWidget *box, const TmTensor *tensor, const TmScalar *scalar, const TmGroupRange *range)
{
  g_autofree char *value = tm_scalar_format_value (scalar);
  g_autofree char *hex = tm_scalar_format_hex (scalar);
  g_autofree char *bits = tm_scalar_format_bits (scalar);
  g_autofree char *value_bits = format_bits_of_value (&scalar->value);
  g_autofree char *exact_tip = format_exact_value (scalar);

  GtkWidget *pair = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  gtk_box_set_homogeneous (GTK_BOX (pair), TRUE);
  gtk_box_append (GTK_BOX (box), pair);
  if (scalar->has_raw)
    {
      g_autofree char *raw = g_strdup_printf ("%" G_GINT64_FORMAT, scalar->raw);
      g_autofree char *details = g_strdup_printf ("%u bits · %s\n0b%s", scalar->raw_bits, hex, bits);
      tm_card_new_big (pair, "raw (stored)", raw, details, "The integer exactly as it is stored, before any offset", FALSE);
    }
  else
    tm_card_new_big (pair, "raw (stored)", "none", "no integer of its own", "This scheme stores no integer a scalar", FALSE);
  tm_card_new_big (pair, "dequantized", value, value_bits, exact_tip, TRUE);

  g_autofree char *numbers = tm_scalar_format_formula (scalar);
  if (scalar->formula != NULL)
    {
      GtkWidget *card = tm_card_new (box, NULL);
      g_autofree char *text = numbers != NULL
                                  ? g_strdup_printf ("value = %s\n= %s\n= %s", scalar->formula, numbers, value)
                                  : g_strdup_printf ("value = %s\n= %s", scalar->formula, value);
      tm_card_add_text (card, text, TRUE);
      if (scalar->has_exact)
        {
          char buffer[TM_NUMBER_SIZE];
          tm_card_add_row (card, "exact", tm_format_float64 (buffer, scalar->exact), exact_tip);
        }
    }

  GtkWidget *card = tm_card_new (box, "Quantization group");
  if (scalar->has_group)
    {
      const char *label = tensor->granularity != NULL ? tensor->granularity->level[scalar->group_level].label : NULL;
      g_autofree char *group = format_group (scalar, tensor->granularity);
      tm_card_add_row (card, label != NULL ? label : "group", group, "The elements that share these parameters");
    }
  if (scalar->has_scale)
    add_parameter (card, "scale", scalar->scale, scalar->scale_is_f64);
  if (scalar->has_zero_point)
    add_parameter (card, "zero point", scalar->zero_point, FALSE);
  if (scalar->has_offset)
    add_parameter (card, "offset", scalar->offset, FALSE);
  if (range != NULL)
    {
      char low[TM_NUMBER_SIZE], high[TM_NUMBER_SIZE];
      g_autofree char *text = range->n_nan == range->count
                                  ? g_strdup ("all NaN")
                                  : g_strdup_printf ("%s … %s%s", tm_format_float32 (low, range->min),
                                                     tm_format_float32 (high, range->max), range->n_nan > 0 ? ", and NaN" : "");
      tm_card_add_row (card, "range", text, "Smallest and largest dequantized value in the group");
    }
  for (guint i = 0; i < scalar->n_terms; i++)
    {
      if (scalar->has_scale && g_str_equal (scalar->term[i].name, "scale"))
        continue; /* stands above */
      g_autofree char *text = tm_number_format (&scalar->term[i].value);
      tm_card_add_row (card, scalar->term[i].name, text, "A term of the formula");
    }
}

static void
add_ordinary (GtkWidget *box, const TmTensor *tensor, const TmScalar *scalar)
{
  g_autofree char *value = tm_scalar_format_value (scalar);
  g_autofree char *escaped = tm_text_escape (value, -1);
  g_autofree char *hex = tm_scalar_format_hex (scalar);
  g_autofree char *bits = tm_scalar_format_bits (scalar);
  g_autofree char *tip = format_exact_value (scalar);
  g_autofree char *details = hex != NULL ? g_strdup_printf ("%s · %s\n0b%s", tensor->dtype_label, hex, bits)
                                         : g_strdup (tensor->dtype_label);
  tm_card_new_big (box, "value (stored)", escaped, details, tip, FALSE);
  GtkWidget *card = tm_card_new (box, NULL);
  tm_card_add_text (card, "Not quantized: the stored value is the value.", FALSE);
}

void
tm_inspector_add_scalar (GtkWidget *box, TmDocument *document, guint tensor_index, const TmScalar *scalar,
                         const TmGroupRange *range, const char *fault)
{
  const TmTensor *tensor = tm_model_tensor (tm_document_get_model (document), tensor_index);
  g_autofree char *index = format_index (scalar->rank, scalar->index);
  g_autofree char *title = g_strdup_printf ("Scalar %s", index);
  GtkWidget *heading = gtk_label_new (title);
  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_label_set_wrap (GTK_LABEL (heading), TRUE);
  gtk_widget_add_css_class (heading, "card-title");
  gtk_box_append (GTK_BOX (box), heading);

  if (fault != NULL)
    {
      GtkWidget *card = tm_card_new (box, NULL);
      g_autofree char *escaped = tm_text_escape (fault, -1);
      tm_card_add_text (card, escaped, FALSE);
    }
  else
    {
      if (scalar->raw_bits > 0 || scalar->value.kind != TM_NUMBER_TEXT || scalar->value.text != NULL)
        {
          if (tensor->quantized)
            add_quantized (box, tensor, scalar, range);
          else
            add_ordinary (box, tensor, scalar);
        }
      if (scalar->n_locations > 0)
        {
          GtkWidget *card = tm_card_new (box, "Where it is stored");
          g_autofree char *where = format_location (scalar);
          g_autofree char *file = tm_text_escape (tm_source_get_name (scalar->location[0].source), -1);
          tm_card_add_row (card, "bits", where, "Byte offsets in the file, low bits of the integer first");
          tm_card_add_row (card, "file", file, NULL);
        }
    }
}
