/* The document: selection, history, going up and into, folds, layout in the background. No display. */
#include "recognise/recognise.h"
#include "ui/document.h"

#include <string.h>

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

/* --- Overlays that judge ------------------------------------------------------------------------------------------- */

static void
wait_for (TmDocument *document, gboolean (*there) (TmDocument *))
{
  const gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  while (!there (document))
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      g_main_context_iteration (NULL, FALSE);
    }
}

static gboolean
has_tiles (TmDocument *document)
{
  return tm_zeros_get_tiles (tm_document_get_zeros (document)) != NULL;
}

static gboolean
has_backend (TmDocument *document)
{
  return tm_document_get_backend (document) >= 0 && tm_document_get_marks (document) != NULL;
}

static guint
find (TmDocument *document, const char *name)
{
  gint64 tensor = tm_model_find_tensor (tm_document_get_model (document), name);

  g_assert_cmpint (tensor, >=, 0);
  return (guint) tensor;
}

static void
zeros (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) found = NULL, some = g_ptr_array_new ();
  g_autofree char *facts = NULL, *all = NULL, *one = NULL;
  TmLegendEntry entries[TM_LEGEND_ENTRIES];
  const TmTheme *theme = tm_document_get_theme (document);
  const guint pruned = find (document, "blk.2.ffn_up.weight");

  g_assert_null (tm_document_peek_zeros (document));
  wait_for_layout (document, NULL);
  tm_document_set_overlay (document, TM_OVERLAY_SPARSITY);
  g_assert_nonnull (tm_document_peek_zeros (document));
  g_assert_cmpstr (tm_document_get_marks (document)[pruned].text, ==, "not counted");
  g_assert_cmpuint (tm_document_get_marks (document)[pruned].fill, ==, theme->kind[TM_ZERO_NONE]);
  g_assert_cmpuint (tm_document_list_legend (document, pruned, entries, &facts), ==, 1);
  g_assert_cmpstr (entries[0].text, ==, "zero");
  g_assert_cmpstr (facts, ==, "not counted yet");

  found = tm_sparsity_run (tm_document_get_model (document), NULL, NULL, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_ptr_array_add (some, g_ptr_array_index (found, pruned));
  g_ptr_array_add (some, g_ptr_array_index (found, pruned)); /* counted twice is taken once */
  tm_document_take_sparsity (document, some);
  g_assert_cmpuint (tm_zeros_count_missing (tm_document_get_zeros (document)), ==, found->len - 1);
  g_assert_cmpstr (tm_document_get_marks (document)[pruned].text, ==, "53.1 % zeros");
  g_assert_cmpuint (tm_document_get_marks (document)[pruned].fill, ==, tm_theme_kind_color (theme, TM_ZERO_PLAIN, 0.46875));
  g_assert_cmpuint (tm_document_list_legend (document, -1, entries, &all), ==, 2);
  g_assert_cmpstr (entries[0].text, ==, "zero 46.9 %");
  g_assert_cmpstr (entries[1].text, ==, "zero: group without a scale 6.2 %");
  g_assert_cmphex (entries[1].color, ==, theme->kind[TM_ZERO_NO_SCALE]);
  g_assert_cmpstr (all, ==, "1 of 57 tensors counted");
  tm_document_take_sparsity (document, found);
  g_assert_cmpuint (tm_zeros_count_missing (tm_document_get_zeros (document)), ==, 0);
  g_assert_cmpuint (tm_document_list_legend (document, pruned, entries, &one), ==, 2);
  g_assert_nonnull (strstr (one, "zero before quantization; certain: 2:4, 384 groups without a scale, 48 rows of zeros"));
  wait_for (document, has_tiles);

  /* another overlay takes it back; what was counted stays; another model has nothing of it */
  tm_document_set_overlay (document, TM_OVERLAY_VALUE);
  g_assert_null (tm_document_get_marks (document));
  tm_document_set_overlay (document, TM_OVERLAY_SPARSITY);
  g_assert_cmpstr (tm_document_get_marks (document)[pruned].text, ==, "53.1 % zeros");
  tm_document_set_model (document, NULL);
  g_assert_null (tm_document_peek_zeros (document));
  g_assert_cmpint (tm_document_get_overlay (document), ==, TM_OVERLAY_VALUE);
}

static void
backends (void)
{
  g_autoptr (TmDocument) document = open_sample ();
  g_autofree char *facts = NULL, *more = NULL;
  TmLegendEntry entries[TM_LEGEND_ENTRIES];
  const TmTheme *theme = tm_document_get_theme (document);
  const guint embedding = find (document, "token_embd.weight"), other = find (document, "blk.2.ffn_up.weight");

  wait_for_layout (document, NULL);
  g_assert_cmpint (tm_document_get_backend (document), ==, -1);
  tm_document_set_overlay (document, TM_OVERLAY_BACKEND);
  wait_for (document, has_backend);
  g_assert_cmpint (tm_document_get_backend (document), ==, tm_backends_find ("cuda")); /* the first that knows it all, no processor */
  g_assert_cmpuint (tm_document_get_marks (document)[embedding].fill, ==, theme->support[TM_SUPPORT_NATIVE]);

  tm_document_set_backend (document, tm_backends_find ("opencl"));
  wait_for (document, has_backend);
  g_assert_cmpuint (tm_document_get_marks (document)[embedding].fill, ==, theme->support[TM_SUPPORT_FALLBACK]);
  g_assert_cmpstr (tm_document_get_marks (document)[embedding].text, ==, "fallback");
  g_assert_cmpuint (tm_document_get_marks (document)[other].fill, ==, theme->support[TM_SUPPORT_NATIVE]);
  g_assert_cmpuint (tm_document_list_legend (document, -1, entries, &facts), ==, 2);
  g_assert_cmpstr (entries[0].text, ==, "native 56");
  g_assert_cmpstr (entries[1].text, ==, "fallback 1");
  g_assert_true (g_str_has_prefix (facts, "as of 20"));

  /* nothing is known: said so, not guessed */
  tm_document_set_overlay (document, TM_OVERLAY_VALUE);
  tm_document_set_backend (document, tm_backends_find ("mlx-metal"));
  g_assert_cmpint (tm_document_get_overlay (document), ==, TM_OVERLAY_BACKEND);
  wait_for (document, has_backend);
  g_assert_cmpuint (tm_document_list_legend (document, -1, entries, &more), ==, 1);
  g_assert_cmpstr (entries[0].text, ==, "unknown 57");
  g_assert_cmphex (tm_document_get_marks (document)[other].fill, ==, theme->support[TM_SUPPORT_UNKNOWN]);
  tm_document_set_backend (document, -1);
  g_assert_cmpint (tm_document_get_backend (document), ==, tm_backends_find ("mlx-metal"));
  tm_document_set_overlay (document, TM_OVERLAY_DTYPE);
  g_assert_null (tm_document_get_marks (document));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/document/zeros", zeros);
  g_test_add_func ("/document/backends", backends);
  g_test_add_func ("/document/history", history);
  g_test_add_func ("/document/steps-are-one-entry", steps_are_one_entry);
  g_test_add_func ("/document/out-of-range", out_of_range);
  g_test_add_func ("/document/up-and-into", up_and_into);
  g_test_add_func ("/document/stepping-tensors", stepping_tensors);
  g_test_add_func ("/document/folds", folds);
  g_test_add_func ("/document/emptied", emptied);
  return g_test_run ();
}
