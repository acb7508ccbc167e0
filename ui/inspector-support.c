/* Backend support: what runs the schemes of a tensor or of the model, and how. */
#include "ui/inspector-pages.h"
#include "ui/inspector-rows.h"

#include "analysis/backends.h"
#include "io/text.h"

#include <string.h>

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

/* --- The chosen one ------------------------------------------------------------------------------------------------ */

static const char *
get_operation_name (TmOperation operation)
{
  switch (operation)
    {
    case TM_OPERATION_MUL_MAT:
    case TM_OPERATION_LINEAR:
      return "matrix product";
    case TM_OPERATION_MUL_MAT_ID:
    case TM_OPERATION_MOE:
      return "product by expert";
    case TM_OPERATION_GET_ROWS:
    case TM_OPERATION_EMBEDDING:
      return "row look-up";
    case TM_OPERATION_CONV:
    default:
      return "convolution";
    }
}

static void
add_known (GtkWidget *card, const char *key, const char *text, const char *tooltip)
{
  if (text[0] != '\0')
    tm_card_add_row (card, key, text, tooltip);
}

/* A commit's name takes no more room than it needs to be found; the tooltip has all of it. */
static void
add_source (GtkWidget *card, const char *source)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (const char *at = source; *at != '\0'; at++)
    {
      gsize digits = strspn (at, "0123456789abcdef");

      if (digits == 40 && at > source && at[-1] == '@')
        {
          g_string_append_len (text, at, 10);
          at += 39;
        }
      else
        g_string_append_c (text, *at);
    }
  tm_card_add_row (card, "source", text->len ? text->str : "no row in the table",
                   *source ? source : "The sources that were read do not say");
}

static void
add_tensor_rows (GtkWidget *card, TmModel *model, const TmTensor *tensor, guint backend)
{
  const TmSupport support = tm_tensor_get_support (model, tensor, backend);
  g_autofree char *how = g_strdup_printf ("%s %s", tm_support_state_get_title (support.state), get_sign (support.state));
  g_autofree char *scheme = tm_text_escape (tm_tensor_get_scheme_name (tensor), -1);

  tm_card_add_row (card, "runs", how, tm_support_state_get_tooltip (support.state));
  tm_card_add_row (card, "scheme", scheme, "What the table is asked for");
  tm_card_add_row (card, "as", get_operation_name (tm_tensor_get_operation (model, tensor)), "What the tensor is used in, by its place in the model");
  if (!g_str_equal (support.needs, "any"))
    add_known (card, "needs", support.needs, "What this scheme asks for there");
  if (*support.note)
    tm_card_add_text (card, support.note, FALSE);
  add_source (card, support.source);
}

static void
add_model_rows (GtkWidget *card, TmDocument *document)
{
  TmModel *model = tm_document_get_model (document);
  const TmTheme *theme = tm_document_get_theme (document);
  const guint *counts = tm_support_map_get_counts (tm_document_get_support (document));

  for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
    {
      const guint count = counts[state];
      const TmColor fill = theme->support[state];
      const GdkRGBA color = { (float) TM_COLOR_RED (fill) / 255, (float) TM_COLOR_GREEN (fill) / 255, (float) TM_COLOR_BLUE (fill) / 255, 1 };
      g_autofree char *text = g_strdup_printf ("%u", count);
      GtkWidget *label;

      if (count == 0)
        continue;
      label = gtk_label_new (tm_support_state_get_title ((TmSupportState) state));
      gtk_label_set_xalign (GTK_LABEL (label), 0);
      gtk_widget_set_tooltip_text (tm_card_add_bar (card, label, (double) count / MAX (model->tensors->len, 1), text, &color),
                                   tm_support_state_get_tooltip ((TmSupportState) state));
    }
}

void
tm_inspector_add_chosen_support (GtkWidget *box, TmDocument *document, gint64 tensor)
{
  const gint chosen = tm_document_get_backend (document);
  TmModel *model = tm_document_get_model (document);
  GtkWidget *card;

  if (chosen < 0)
    return;
  card = tm_card_new (box, tm_backends_get ((guint) chosen)->name);
  if (tensor < 0)
    add_model_rows (card, document);
  add_known (card, "hardware", tm_backends_get ((guint) chosen)->hardware, "What the backend runs on");
  if (tensor >= 0)
    add_tensor_rows (card, model, tm_model_tensor (model, (guint) tensor), (guint) chosen);
  tm_card_add_row (card, "as of", tm_backends_get_as_of (), "The day the table is of. Nothing in it was measured here: it states what code and documentation say.");
}

/* --- All of them, when the list is opened --------------------------------------------------------------------------- */

static void
fill_tensor (GtkWidget *card, TmModel *model, guint index)
{
  const TmTensor *tensor = tm_model_tensor (model, index);
  g_autofree TmSupport *support = g_new0 (TmSupport, tm_backends_get_n ());

  tm_tensor_get_all_support (model, tensor, support);
  for (guint i = 0; i < tm_backends_get_n (); i++)
    {
      g_autofree char *text
          = g_strdup_printf ("%s %s", tm_support_state_get_title (support[i].state), get_sign (support[i].state));
      g_autofree char *tip = g_strdup_printf ("%s\n%s%s%s%s%s%s", tm_backends_get (i)->hardware, *support[i].needs ? "needs " : "",
                                              support[i].needs, *support[i].needs ? "\n" : "", support[i].note,
                                              *support[i].note ? "\n" : "",
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
                              tm_support_state_get_title ((TmSupportState) state));
  return g_string_free (text, FALSE);
}

/* All tensors times all backends: on a worker. */
static void
summarize_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_pointer (task, tm_backends_summarize (data), (GDestroyNotify) tm_backend_summaries_free);
}

static void
summarize_done (GObject *card, GAsyncResult *result, gpointer data)
{
  TmBackendSummary *summaries = g_task_propagate_pointer (G_TASK (result), NULL);

  for (guint i = 0; summaries && i < tm_backends_get_n (); i++)
    {
      g_autofree char *text = format_summary (&summaries[i]);

      tm_card_add_row (GTK_WIDGET (card), tm_backends_get (i)->name, text, summaries[i].needs);
    }
  add_foot (GTK_WIDGET (card));
  tm_backend_summaries_free (summaries);
}

typedef struct
{
  TmModel *model;
  GtkWidget *card;
  gint64 tensor;
  gboolean asked; /* filled, or about to be */
} List;

static void
list_free (gpointer data, GClosure *closure)
{
  g_object_unref (((List *) data)->model);
  g_free (data);
}

static void
on_expanded (GtkExpander *expander, GParamSpec *pspec, gpointer data)
{
  List *list = data;

  if (!gtk_expander_get_expanded (expander) || list->asked)
    return;
  list->asked = TRUE;
  if (list->tensor >= 0)
    fill_tensor (list->card, list->model, (guint) list->tensor);
  else
    {
      g_autoptr (GTask) task = g_task_new (list->card, NULL, summarize_done, NULL);

      g_task_set_task_data (task, g_object_ref (list->model), g_object_unref);
      g_task_run_in_thread (task, summarize_run);
    }
}

static void
add_list (GtkWidget *box, TmDocument *document, gint64 tensor)
{
  GtkWidget *expander, *inner = tm_expander_new (box, "Backend support", &expander);
  List *list = g_new0 (List, 1);

  list->model = g_object_ref (tm_document_get_model (document));
  list->card = tm_card_new (inner, NULL);
  list->tensor = tensor;
  g_signal_connect_data (expander, "notify::expanded", G_CALLBACK (on_expanded), list, list_free, 0);
}

void
tm_inspector_add_support (GtkWidget *box, TmDocument *document, guint index)
{
  add_list (box, document, index);
}

void
tm_inspector_add_model_support (GtkWidget *box, TmDocument *document)
{
  add_list (box, document, -1);
}
