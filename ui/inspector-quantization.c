/* Quantization of the model: schemes, what is left in full precision, conflicts, size against bfloat16; and the readings that
 * the file leaves open, each with a switch. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include "io/number.h"
#include "io/text.h"
#include "model/quantization.h"

/* --- Schemes --------------------------------------------------------------------------------------------------------- */

/* "4 bits, groups of 128, symmetric" */
static char *
describe_scheme (const TmSchemeCount *count)
{
  g_autoptr (GString) text = g_string_new (count->scheme);
  if (count->bits > 0)
    g_string_append_printf (text, " · %u bit%s", count->bits, count->bits == 1 ? "" : "s");
  if (count->group > 0)
    g_string_append_printf (text, " · groups of %" G_GUINT64_FORMAT, count->group);
  if (count->symmetric >= 0)
    g_string_append (text, count->symmetric == 1 ? " · symmetric" : " · asymmetric");
  return g_strdup (text->str);
}

static void
add_part (GtkWidget *card, const char *key, const TmQuantizationPart *part, const char *note)
{
  if (part->tensors == 0)
    return;
  g_autofree char *parameters = tm_format_parameters (part->parameters);
  g_autofree char *exact = tm_format_count (part->parameters);
  g_autofree char *size = tm_format_size (part->bytes);
  g_autofree char *text = g_strdup_printf ("%u tensor%s · %s%s%s", part->tensors, part->tensors == 1 ? "" : "s", parameters,
                                           note != NULL ? "\n" : "", note != NULL ? note : "");
  g_autofree char *tip = g_strdup_printf ("%s numbers, %s", exact, size);
  tm_card_add_row (card, key, text, tip);
}

static char *
describe_exclusions (TmModel *model, const TmQuantizationSummary *summary)
{
  if (model->quantization_file == NULL)
    return NULL;
  if (summary->matrices_excluded == summary->matrices.tensors)
    return g_strdup_printf ("%s lists them", model->quantization_file);
  if (summary->matrices_excluded == 0)
    return g_strdup_printf ("%s does not list them", model->quantization_file);
  return g_strdup_printf ("%s lists %u of them", model->quantization_file, summary->matrices_excluded);
}

static void
add_schemes (GtkWidget *card, TmModel *model, const GArray *schemes)
{
  for (guint i = 0; i < schemes->len; i++)
    {
      const TmSchemeCount *count = &g_array_index (schemes, TmSchemeCount, i);
      g_autofree char *what = describe_scheme (count);
      g_autofree char *parameters = tm_format_parameters (count->parameters);
      g_autofree char *size = tm_format_size (count->bytes);
      gtk_widget_add_css_class (tm_card_add_text (card, what, FALSE), "scheme");
      g_autofree char *text = g_strdup_printf ("%u tensor%s · %s", count->tensors, count->tensors == 1 ? "" : "s", parameters);
      tm_card_add_row (card, "quantized", text, size);
      if (model->quantization_file != NULL)
        {
          g_autofree char *state
              = count->conflicts == 0 ? g_strdup_printf ("agrees")
                : count->conflicts == count->tensors
                    ? g_strdup ("differs")
                    : g_strdup_printf ("differs for %u of %u", count->conflicts, count->tensors);
          GtkWidget *label = tm_card_add_row (card, model->quantization_file, state,
                                              "What the config file says against what the tensors are; the tensors win");
          if (count->conflicts > 0)
            gtk_widget_add_css_class (label, "fault");
        }
    }
}

/* What the config and the tensors disagree about: the first of it, and how much more the problems have. */
static void
add_conflict (GtkWidget *card, TmModel *model)
{
  const TmProblem *first = NULL;
  guint n = 0;
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);
      if (strcmp (problem->code, "config-conflict") != 0)
        continue;
      first = first != NULL ? first : problem;
      n++;
    }
  if (first == NULL)
    return;
  g_autofree char *message = tm_text_escape (first->message, -1);
  g_autofree char *text = n == 1 ? g_strdup (message) : g_strdup_printf ("%s; %u more among the problems", message, n - 1);
  GtkWidget *label = tm_card_add_text (card, text, FALSE);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "dim-label");
}

void
tm_inspector_add_quantization (GtkWidget *box, TmDocument *document)
{
  TmModel *model = tm_document_get_model (document);
  g_auto (TmQuantizationSummary) summary = { 0 };
  tm_model_summarise_quantization (model, &summary);
  if (summary.quantized.tensors == 0)
    return;

  GtkWidget *card = tm_card_new (box, "Quantization");
  add_schemes (card, model, summary.schemes);
  add_conflict (card, model);
  if (model->quantization_file == NULL && g_strcmp0 (model->format, "safetensors") == 0)
    tm_card_add_row (card, "config file", "absent", "All of this was found in the tensors alone");
  g_autofree char *exclusions = describe_exclusions (model, &summary);
  add_part (card, "full precision", &summary.matrices, exclusions);
  add_part (card, "norms, biases", &summary.small, NULL);
  add_part (card, "companions", &summary.companions, NULL);
  add_part (card, "bookkeeping", &summary.bookkeeping, NULL);
  if (model->parameters > 0 && summary.bfloat16_bytes < G_MAXUINT64)
    {
      g_autofree char *full = tm_format_size (summary.bfloat16_bytes);
      g_autofree char *text
          = g_strdup_printf ("%.1f %% of %s", 100 * (double) model->bytes / (double) summary.bfloat16_bytes, full);
      tm_card_add_row (card, "in bfloat16", text, "Size against the same model with two bytes a parameter");
    }
}

/* --- Assumptions ----------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmDocument *document; /* not owned: the widget is gone before it */
  char *tensor;         /* NULL: the whole model */
  char *key;
  char **values;
  guint current;
} Switch;

static void
switch_free (gpointer data)
{
  Switch *choice = data;
  g_free (choice->tensor);
  g_free (choice->key);
  g_strfreev (choice->values);
  g_free (choice);
}

static void
switched (GtkDropDown *drop_down, GParamSpec *pspec, Switch *choice)
{
  guint selected = gtk_drop_down_get_selected (drop_down);
  if (selected == choice->current || selected == GTK_INVALID_LIST_POSITION)
    return;
  choice->current = selected;
  tm_document_assume (choice->document, choice->tensor, choice->key, choice->values[selected]);
}

static void
entered (GtkEntry *entry, Switch *choice)
{
  tm_document_assume (choice->document, choice->tensor, choice->key, gtk_editable_get_text (GTK_EDITABLE (entry)));
}

/* The alternatives as words; NULL where any number may be one. */
static char **
split_alternatives (const TmAssumption *assumption)
{
  if (assumption->alternatives == NULL)
    return NULL;
  char **words = g_strsplit (assumption->alternatives, "|", -1);
  if (g_strv_length (words) > 1 && g_strv_contains ((const char *const *) words, assumption->value))
    return words;
  g_strfreev (words);
  return NULL;
}

static GtkWidget *
switch_new (TmDocument *document, const TmAssumption *assumption, const char *tensor)
{
  Switch *choice = g_new0 (Switch, 1);
  choice->document = document;
  choice->tensor = g_strdup (tensor);
  choice->key = g_strdup (assumption->key);
  choice->values = split_alternatives (assumption);
  GtkWidget *widget;
  if (choice->values != NULL)
    {
      widget = gtk_drop_down_new_from_strings ((const char *const *) choice->values);
      for (guint i = 0; choice->values[i] != NULL; i++)
        if (g_str_equal (choice->values[i], assumption->value))
          choice->current = i;
      gtk_drop_down_set_selected (GTK_DROP_DOWN (widget), choice->current);
      g_autofree char *shown = g_strdup_printf ("%s: %s", assumption->key, assumption->value);
      /* Newer toolkits label both by what is chosen, which does not say of what it is a choice. */
      GtkAccessible *button = GTK_ACCESSIBLE (gtk_widget_get_first_child (widget));
      gtk_accessible_reset_relation (button, GTK_ACCESSIBLE_RELATION_LABELLED_BY);
      gtk_accessible_reset_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
      gtk_accessible_update_property (button, GTK_ACCESSIBLE_PROPERTY_LABEL, shown, -1);
      g_signal_connect (widget, "notify::selected", G_CALLBACK (switched), choice);
    }
  else
    {
      widget = gtk_entry_new ();
      gtk_editable_set_text (GTK_EDITABLE (widget), assumption->value);
      gtk_editable_set_width_chars (GTK_EDITABLE (widget), 8);
      g_signal_connect (widget, "activate", G_CALLBACK (entered), choice);
    }
  g_object_set_data_full (G_OBJECT (widget), "switch", choice, switch_free);
  g_autofree char *name = g_strdup_printf ("%s, %s", assumption->key, tensor != NULL ? "this tensor" : "whole model");
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_widget_set_valign (widget, GTK_ALIGN_CENTER);
  return widget;
}

static GtkWidget *
wrapped_label_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  return label;
}

static void
add_assumption (GtkWidget *card, TmDocument *document, const TmAssumption *assumption, guint tensors, const char *tensor)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_add_css_class (row, "inspector-row");
  GtkWidget *key = wrapped_label_new (assumption->key);
  gtk_widget_add_css_class (key, "monospace");
  gtk_widget_set_hexpand (key, TRUE);
  gtk_box_append (GTK_BOX (row), key);
  gtk_box_append (GTK_BOX (row), switch_new (document, assumption, tensor));
  gtk_box_append (GTK_BOX (card), row);

  g_autofree char *evidence = tm_text_escape (assumption->evidence, -1);
  g_autofree char *name = tm_text_escape (assumption->tensor, -1);
  g_autofree char *text = tensor != NULL   ? g_strdup (evidence)
                          : tensors == 1 ? g_strdup_printf ("%s: %s", name, evidence)
                                         : g_strdup_printf ("%u tensors: %s", tensors, evidence);
  GtkWidget *why = wrapped_label_new (text);
  gtk_widget_add_css_class (why, "caption");
  gtk_widget_add_css_class (why, "dim-label");
  gtk_widget_add_css_class (why, "evidence");
  gtk_box_append (GTK_BOX (card), why);
}

static void
forget (GtkButton *button, TmDocument *document)
{
  tm_document_forget_assumptions (document);
}

void
tm_inspector_add_assumptions (GtkWidget *box, TmDocument *document, gint64 tensor)
{
  TmModel *model = tm_document_get_model (document);
  GtkWidget *card = NULL;
  if (tensor >= 0)
    {
      const TmTensor *of = tm_model_tensor (model, (guint) tensor);
      for (guint i = 0; of->quantized && i < model->assumptions->len; i++)
        {
          const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);
          if (!g_str_equal (assumption->tensor, of->name))
            continue;
          if (card == NULL)
            card = tm_card_new (box, "How it is read");
          add_assumption (card, document, assumption, 1, of->name);
        }
      return;
    }

  g_autoptr (GArray) groups = tm_model_group_assumptions (model);
  for (guint i = 0; i < groups->len && i < 100; i++)
    {
      const TmAssumptionGroup *group = &g_array_index (groups, TmAssumptionGroup, i);
      if (card == NULL)
        card = tm_card_new (box, "How it is read");
      add_assumption (card, document, group->first, group->tensors, NULL);
    }
  if (tm_document_get_assume (document) != NULL && !tm_assume_is_empty (tm_document_get_assume (document)))
    {
      if (card == NULL)
        card = tm_card_new (box, "How it is read");
      GtkWidget *button = gtk_button_new_with_label ("Take all choices back");
      gtk_widget_set_halign (button, GTK_ALIGN_START);
      g_signal_connect (button, "clicked", G_CALLBACK (forget), document);
      gtk_box_append (GTK_BOX (card), button);
    }
}
