/* Zeros of a tensor by their cause, and what is certain of them. Counted when somebody asks, on workers. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include "io/number.h"
#include "io/text.h"

static char *
format_part (guint64 part, guint64 of)
{
  g_autofree char *share = tm_zeros_format_share (part, of), *count = tm_format_count (part);

  return g_strdup_printf ("%s · %s", share, count);
}

/* --- Causes ------------------------------------------------------------------------------------------------------- */

static void
add_cause (GtkWidget *card, const TmTheme *theme, TmZeroCause cause, guint64 part, guint64 of)
{
  static const char *const names[TM_N_ZERO_CAUSES] = { "not zero", "pruned", "rounded", "forced", "revived", "zero", "no scale" };
  const TmColor fill = theme->kind[cause];
  const GdkRGBA color = { (float) TM_COLOR_RED (fill) / 255, (float) TM_COLOR_GREEN (fill) / 255, (float) TM_COLOR_BLUE (fill) / 255, 1 };
  g_autofree char *text = format_part (part, of);
  GtkWidget *label = gtk_label_new (names[cause]), *row;

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  row = tm_card_add_bar (card, label, of ? (double) part / (double) of : 0, text, &color);
  gtk_label_set_width_chars (GTK_LABEL (gtk_widget_get_last_child (row)), 17); /* bars are compared with each other */
  gtk_label_set_xalign (GTK_LABEL (gtk_widget_get_last_child (row)), 1);
  gtk_widget_set_tooltip_text (row, tm_zeros_get_tooltip (cause));
}

static void
add_causes (GtkWidget *card, const TmTheme *theme, const TmSparsity *one)
{
  guint64 cause[TM_N_ZERO_CAUSES];

  tm_sparsity_count_causes (one, cause);
  for (guint i = 1; i < TM_N_ZERO_CAUSES; i++)
    {
      const gboolean expected = one->has_reference ? i <= TM_ZERO_ROUNDED || i == TM_ZERO_REVIVED : i == TM_ZERO_PLAIN;

      if (cause[i] > 0 || expected)
        add_cause (card, theme, (TmZeroCause) i, cause[i], one->count);
    }
}

/* --- What is certain ---------------------------------------------------------------------------------------------- */

/* "3 of 256: 4, 77, 80", and no more than a few of them. */
static void
add_listed (GtkWidget *card, const char *key, guint64 found, guint64 of, const guint64 *list, const char *tooltip)
{
  g_autofree char *number = tm_format_count (found), *all = tm_format_count (of);
  g_autoptr (GString) text = g_string_new (NULL);
  const guint n = (guint) MIN (found, 8);

  g_string_append_printf (text, "%s of %s", number, all);
  for (guint i = 0; list && i < n; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : ": ", list[i]);
  if (list && found > n)
    g_string_append (text, ", …");
  tm_card_add_row (card, key, text->str, tooltip);
}

static void
add_patterns (GtkWidget *card, const TmSparsity *one)
{
  g_autoptr (GPtrArray) patterns = tm_sparsity_list_patterns (one);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < patterns->len; i++)
    g_string_append_printf (text, "%s%s", i ? ", " : "", (const char *) g_ptr_array_index (patterns, i));
  if (one->n_patterns > 0)
    tm_card_add_row (card, "N:M pattern", patterns->len ? text->str : "none",
                     "2:4: of every four neighbours along the input axis at most two are kept. Named only where chance does not explain it.");
}

static void
add_blocks (GtkWidget *card, const TmSparsity *one)
{
  for (guint i = TM_SPARSITY_BLOCKS; i-- > 0;)
    if (one->zero_blocks[i] > 0)
      {
        const guint side = 4u << i;
        g_autofree char *key = g_strdup_printf ("%u×%u blocks", side, side);

        add_listed (card, key, one->zero_blocks[i], one->blocks[i], NULL, "Whole blocks of nothing but zeros; of the sizes looked for, the largest there are");
        return;
      }
}

static void
add_facts (GtkWidget *box, const TmSparsity *one)
{
  GtkWidget *card = tm_card_new (box, "Certain about its zeros");

  if (one->has_groups)
    {
      add_listed (card, "no scale", one->zero_scales, one->groups, one->zero_scales ? one->zero_group : NULL,
                  "Groups whose scale is 0: all of their values are the same, whatever their codes");
      if (one->zero_groups != one->zero_scales)
        add_listed (card, "zero groups", one->zero_groups, one->groups, one->zero_group, "Groups of nothing but zeros");
    }
  if (one->rows > 1 || one->columns > 1)
    {
      add_listed (card, "zero rows", one->zero_rows, one->rows, one->zero_row, "Rows of nothing but zeros: output channels that are dead");
      add_listed (card, "zero columns", one->zero_columns, one->columns, one->zero_column,
                  "Columns of nothing but zeros: input channels that are not read");
    }
  add_patterns (card, one);
  add_blocks (card, one);
  if (one->negative_zeros > 0)
    {
      g_autofree char *text = tm_format_count (one->negative_zeros);

      tm_card_add_row (card, "−0", text, "Zeros with a negative sign; they are among the zeros");
    }
}

static void
add_result (GtkWidget *box, GtkWidget *card, TmDocument *document, const TmSparsity *one, int cause)
{
  g_autofree char *summary = tm_sparsity_describe (one), *estimate = tm_sparsity_describe_estimate (one);

  if (summary[0] != '\0')
    summary[0] = g_ascii_toupper (summary[0]);
  if (!estimate)
    tm_card_add_text (card, summary, FALSE);
  add_causes (card, tm_document_get_theme (document), one);
  if (one->has_reference && one->compared < one->count)
    {
      g_autofree char *part = format_part (one->compared, one->count);

      tm_card_add_row (card, "compared", part, "Elements that have a counterpart in the reference");
    }
  if (one->no_zero_code)
    tm_card_add_row (card, "code for 0", "none", "Quantized with an offset: no code stands for exactly 0, but by accident");
  if (cause >= 0)
    tm_card_add_row (card, "this scalar", tm_zero_cause_get_name ((TmZeroCause) cause), tm_zeros_get_tooltip ((TmZeroCause) cause));
  if (estimate)
    tm_card_add_text (card, estimate, FALSE);
  add_facts (box, one);
}

/* --- Not counted yet ---------------------------------------------------------------------------------------------- */

static void
on_counting (TmDocument *document, GtkWidget *bar)
{
  guint tensor;
  double fraction;

  if (tm_document_get_counting (document, &tensor, &fraction) != TM_COUNTING_NONE)
    gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (bar), CLAMP (fraction, 0, 1));
}

static void
add_progress (GtkWidget *card, TmDocument *document, gboolean all)
{
  GtkWidget *bar = gtk_progress_bar_new (), *cancel = gtk_button_new_with_label ("Cancel");

  tm_card_add_text (card, all ? "Being counted, with those of all tensors." : "Being counted.", FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_PROPERTY_LABEL, "Counting zeros", -1);
  gtk_widget_set_margin_top (bar, 4);
  gtk_widget_set_margin_bottom (bar, 6);
  gtk_widget_set_margin_end (bar, 6);
  gtk_box_append (GTK_BOX (card), bar);
  on_counting (document, bar);
  g_signal_connect_object (document, "counting", G_CALLBACK (on_counting), bar, 0);
  gtk_widget_set_halign (cancel, GTK_ALIGN_START);
  gtk_accessible_update_property (GTK_ACCESSIBLE (cancel), GTK_ACCESSIBLE_PROPERTY_LABEL, "Cancel counting zeros", -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (cancel), "win.stop-counting");
  gtk_box_append (GTK_BOX (card), cancel);
}

static void
add_offer (GtkWidget *card)
{
  GtkWidget *button = gtk_button_new_with_label ("Count zeros");

  tm_card_add_text (card, "Not counted yet: all values have to be read.", FALSE);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.count-zeros");
  gtk_box_append (GTK_BOX (card), button);
}

TmZerosShown
tm_inspector_get_zeros_shown (TmDocument *document, guint tensor)
{
  TmZeros *zeros = tm_document_peek_zeros (document);
  TmCounting counting;
  double fraction;
  guint of;

  if (zeros && tm_zeros_get (zeros, tensor))
    return TM_ZEROS_COUNTED;
  counting = tm_document_get_counting (document, &of, &fraction);
  if (counting == TM_COUNTING_ALL || (counting == TM_COUNTING_ONE && of == tensor))
    return TM_ZEROS_BEING_COUNTED;
  return TM_ZEROS_NOT_COUNTED;
}

void
tm_inspector_add_sparsity (GtkWidget *box, TmDocument *document, guint tensor, int cause)
{
  const TmTensor *of = tm_model_tensor (tm_document_get_model (document), tensor);
  TmZeros *zeros = tm_document_peek_zeros (document);
  GtkWidget *card;
  guint counted;
  double fraction;

  if (!tm_tensor_is_readable (of) || of->n_elements == 0)
    return;
  card = tm_card_new (box, zeros && tm_zeros_get_alignment (zeros) ? "Zeros by cause" : "Zeros");
  switch (tm_inspector_get_zeros_shown (document, tensor))
    {
    case TM_ZEROS_COUNTED:
      {
        const TmSparsity *one = tm_zeros_get (zeros, tensor);
        g_autofree char *fault = one->fault ? tm_text_escape (one->fault, -1) : NULL;

        if (fault)
          tm_card_add_text (card, fault, FALSE);
        else
          add_result (box, card, document, one, cause);
        return;
      }
    case TM_ZEROS_BEING_COUNTED:
      add_progress (card, document, tm_document_get_counting (document, &counted, &fraction) == TM_COUNTING_ALL);
      return;
    case TM_ZEROS_NOT_COUNTED:
    default:
      add_offer (card);
    }
}
