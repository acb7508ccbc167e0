/* Backend support: what runs the schemes of a tensor or of the model, and how. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include "analysis/backends.h"
#include "io/text.h"

/* A sign and the word: never a sign alone. */
static const char *
get_sign (TmSupportState state)
{
  static const char *const signs[TM_N_SUPPORT_STATES] = { "✓", "≈", "↩", "✗", "?" };

  return signs[MIN (state, TM_SUPPORT_UNKNOWN)];
}

static void
add_foot (GtkWidget *card)
{
  g_autofree char *text = g_strdup_printf ("As of %s; sources are in the tooltips.", tm_backends_get_as_of ());

  gtk_widget_add_css_class (tm_card_add_text (card, text, FALSE), "dim-label");
}

static GtkWidget *
add_expander (GtkWidget *box, const char *title)
{
  GtkWidget *expander = gtk_expander_new (title), *inner = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_widget_add_css_class (expander, "card-title");
  gtk_expander_set_child (GTK_EXPANDER (expander), inner);
  gtk_box_append (GTK_BOX (box), expander);
  return tm_card_new (inner, NULL);
}

void
tm_inspector_add_support (GtkWidget *box, TmDocument *document, guint index)
{
  TmModel *model = tm_document_get_model (document);
  const TmTensor *tensor = tm_model_tensor (model, index);
  g_autofree TmSupport *support = g_new0 (TmSupport, tm_backends_get_n ());
  GtkWidget *card = add_expander (box, "Backend support");

  tm_tensor_get_all_support (model, tensor, support);
  for (guint i = 0; i < tm_backends_get_n (); i++)
    {
      g_autofree char *text
          = g_strdup_printf ("%s %s", tm_support_state_get_name (support[i].state), get_sign (support[i].state));
      g_autofree char *tip = g_strdup_printf ("%s%s%s%s%s%s", *support[i].needs ? "needs " : "", support[i].needs,
                                              *support[i].needs ? "\n" : "", support[i].note, *support[i].note ? "\n" : "",
                                              *support[i].source ? support[i].source : "no row in the table");
      tm_card_add_row (card, tm_backends_get (i)->name, text, tip);
    }
  add_foot (card);
}

/* "33 native · 7 fallback" */
static char *
format_summary (const TmBackendSummary *summary)
{
  GString *text = g_string_new (NULL);

  for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
    if (summary->count[state])
      g_string_append_printf (text, "%s%u %s", text->len ? "\n" : "", summary->count[state],
                              tm_support_state_get_name ((TmSupportState) state));
  return g_string_free (text, FALSE);
}

void
tm_inspector_add_model_support (GtkWidget *box, TmDocument *document)
{
  TmModel *model = tm_document_get_model (document);
  TmBackendSummary *summaries = tm_backends_summarize (model);
  GtkWidget *card = add_expander (box, "Backend support");

  for (guint i = 0; i < tm_backends_get_n (); i++)
    {
      g_autofree char *text = format_summary (&summaries[i]);

      tm_card_add_row (card, tm_backends_get (i)->name, text, summaries[i].needs);
    }
  add_foot (card);
  tm_backend_summaries_free (summaries);
}
