/* The document: selection, history, going up and into, folds, layout in the background. No display. */
#include "recognise/recognise.h"
#include "ui/document.h"

static TmDocument *
open_sample (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = tm_open_model (g_getenv ("SAMPLE"), NULL, &error);
  TmDocument *document = tm_document_new ();

  g_assert_no_error (error);
  tm_document_set_model (document, model);
  return document;
}

static void
at (TmDocument *document, const char *expected)
{
  g_autofree char *address
      = tm_address_format (tm_document_get_model (document), tm_document_get_selection (document));

  g_assert_cmpstr (address, ==, expected);
}

static void
go (TmDocument *document, const char *address)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (tm_document_go_to (document, address, &error));
  g_assert_no_error (error);
}

static void
wait_for_layout (TmDocument *document, const TmLayout *other_than)
{
  const gint64 end = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;

  while (!tm_document_get_layout (document) || tm_document_get_layout (document) == other_than)
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      g_main_context_iteration (NULL, FALSE);
    }
}

static void
history (void)
{
  g_autoptr (TmDocument) document = open_sample ();

  at (document, "");
  g_assert_false (tm_document_can_go_back (document));
  go (document, "blk.2");
  go (document, "blk.2.attn_q.weight");
  go (document, "blk.2.attn_q.weight");
  tm_document_go_back (document);
  at (document, "blk.2");
  g_assert_true (tm_document_can_go_forward (document));
  tm_document_go_forward (document);
  at (document, "blk.2.attn_q.weight");
  g_assert_false (tm_document_can_go_forward (document));
  tm_document_go_back (document);
  tm_document_go_back (document);
  at (document, "");
  g_assert_false (tm_document_can_go_back (document));
  /* a new way drops the old one */
  go (document, "blk.5");
  g_assert_false (tm_document_can_go_forward (document));
  tm_document_go_back (document);
  at (document, "");
}

static void
steps_are_one_entry (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  guint tensor;
  guint64 flat;

  go (document, "blk.0.attn_v.weight");
  g_assert_true (tm_document_get_tensor (document, &tensor));
  g_assert_false (tm_document_get_scalar (document, &tensor, &flat));
  for (guint64 i = 0; i < 20; i++)
    tm_document_select_scalar (document, tensor, 256 + i, FALSE);
  at (document, "blk.0.attn_v.weight[1,19]");
  g_assert_true (tm_document_get_scalar (document, &tensor, &flat));
  g_assert_cmpuint (flat, ==, 275);
  tm_document_go_back (document);
  at (document, "blk.0.attn_v.weight");
}

static void
out_of_range (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  g_autoptr (GError) error = NULL;

  tm_document_select_tensor (document, G_MAXUINT, FALSE);
  tm_document_select_scalar (document, 0, G_MAXUINT64, FALSE);
  g_assert_false (tm_document_go_to (document, "no.such.tensor", &error));
  g_assert_nonnull (error);
  at (document, "");
  g_assert_false (tm_document_can_go_back (document));
}

static void
up_and_into (void)
{
  g_autoptr (TmDocument) document = open_sample ();

  go (document, "blk.2.attn_v.weight[1,2]");
  tm_document_go_up (document);
  at (document, "blk.2.attn_v.weight");
  tm_document_go_up (document);
  at (document, "blk.2");
  tm_document_go_up (document);
  at (document, "");
  tm_document_go_up (document);
  at (document, "");
  go (document, "blk.2");
  tm_document_go_into (document);
  at (document, "blk.2.attn_norm.weight");
  tm_document_go_into (document);
  at (document, "blk.2.attn_norm.weight[0]");
  tm_document_go_into (document);
  at (document, "blk.2.attn_norm.weight[0]");
}

static void
stepping_tensors (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  const guint n = tm_document_get_model (document)->tensors->len;
  guint tensor;

  tm_document_step_tensor (document, 1);
  g_assert_true (tm_document_get_tensor (document, &tensor));
  g_assert_cmpuint (tensor, ==, 0);
  tm_document_step_tensor (document, -1);
  g_assert_true (tm_document_get_tensor (document, &tensor));
  g_assert_cmpuint (tensor, ==, 0);
  for (guint i = 0; i < n + 5; i++)
    tm_document_step_tensor (document, 1);
  g_assert_true (tm_document_get_tensor (document, &tensor));
  g_assert_cmpuint (tensor, ==, n - 1);
}

static void
folds (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  const TmLayout *first;

  wait_for_layout (document, NULL);
  first = tm_document_get_layout (document);
  g_assert_false (tm_document_get_unfolded (document, "blk.0"));
  /* what a fold shows needs no unfolding, what it hides does */
  go (document, "blk.0.attn_q.weight");
  g_assert_false (tm_document_get_unfolded (document, "blk.0"));
  go (document, "blk.1.attn_q.weight");
  g_assert_true (tm_document_get_unfolded (document, "blk.0"));
  wait_for_layout (document, first);
  first = tm_document_get_layout (document);
  tm_document_set_unfolded (document, "blk.0", TRUE);
  tm_document_set_unfolded (document, "blk.0", FALSE);
  wait_for_layout (document, first);
  g_assert_false (tm_document_get_unfolded (document, "blk.0"));
  /* two requests at once: the later one counts, the earlier one is dropped */
  tm_document_set_unfolded (document, "blk.0", TRUE);
  tm_document_set_unfolded (document, "blk.3", TRUE);
  wait_for_layout (document, tm_document_get_layout (document));
}

static void
emptied (void)
{
  g_autoptr (TmDocument) document = open_sample ();

  go (document, "blk.2");
  tm_document_set_model (document, NULL); /* while a layout is on its way */
  g_assert_null (tm_document_get_model (document));
  g_assert_null (tm_document_get_layout (document));
  g_assert_null (tm_document_get_tiles (document));
  g_assert_false (tm_document_can_go_back (document));
  tm_document_go_up (document);
  tm_document_go_into (document);
  tm_document_step_tensor (document, 1);
  g_assert_false (tm_document_go_to (document, "blk.2", NULL));
  for (guint i = 0; i < 50; i++)
    {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (2000);
    }
  g_assert_null (tm_document_get_layout (document));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/document/history", history);
  g_test_add_func ("/document/steps-are-one-entry", steps_are_one_entry);
  g_test_add_func ("/document/out-of-range", out_of_range);
  g_test_add_func ("/document/up-and-into", up_and_into);
  g_test_add_func ("/document/stepping-tensors", stepping_tensors);
  g_test_add_func ("/document/folds", folds);
  g_test_add_func ("/document/emptied", emptied);
  return g_test_run ();
}
