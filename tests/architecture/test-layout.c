/* Layouts of models: folds, roles, heavy lines, arrows, picking, and what is true of every layout (layout-check.c). */
#include <string.h>

#include "architecture/layout-check.h"
#include "support/fake-model.h"

static const TmBox *
box_of (const TmLayout *layout, const char *name)
{
  const gint64 tensor = tm_model_find_tensor (layout->model, name);

  g_assert_cmpint (tensor, >=, 0);
  g_assert_cmpuint (layout->box_of_tensor[tensor], !=, TM_NO_BOX);
  return tm_layout_box (layout, layout->box_of_tensor[tensor]);
}

static const TmBox *
card_of (const TmLayout *layout, const char *path)
{
  const TmModule *module = tm_module_find (layout->model->root, path);

  g_assert_nonnull (module);
  return tm_layout_box (layout, tm_layout_find_module (layout, module));
}

static gboolean
has_line (const TmLayout *layout, const char *a, const char *b)
{
  const gint64 tensor_a = tm_model_find_tensor (layout->model, a), tensor_b = tm_model_find_tensor (layout->model, b);

  g_assert_cmpint (tensor_a, >=, 0);
  g_assert_cmpint (tensor_b, >=, 0);
  for (guint i = 0; i < layout->lines->len; i++)
    {
      const TmHeavyLine *line = &g_array_index (layout->lines, TmHeavyLine, i);

      if (line->box_a == layout->box_of_tensor[tensor_a] && line->box_b == layout->box_of_tensor[tensor_b])
        return TRUE;
    }
  return FALSE;
}

static void
test_llama (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_tinyllama (TRUE);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  const TmBox *norm, *q, *k, *v, *o, *gate, *up, *down, *card;

  check_layout (layout);
  g_assert_cmpint (layout->unit, ==, 2048);
  card = card_of (layout, "blk.2");
  g_assert_cmpint (card->kind, ==, TM_BOX_CARD);
  g_assert_cmpstr (card->caption, ==, "blk.2 – 20");
  g_assert_cmpuint (card->fold_count, ==, 19);
  g_assert_true (card_of (layout, "blk.7") == card);
  g_assert_true (card_of (layout, "blk.7.attn_q") == card);
  g_assert_cmpuint (card_of (layout, "blk.21")->fold_count, ==, 0);
  g_assert_cmpint (card_of (layout, "blk.21")->fold, ==, -1);
  g_assert_cmpstr (card_of (layout, "blk.0")->caption, ==, "blk.0 – 1");

  norm = box_of (layout, "blk.2.attn_norm.weight");
  q = box_of (layout, "blk.2.attn_q.weight");
  k = box_of (layout, "blk.2.attn_k.weight");
  v = box_of (layout, "blk.2.attn_v.weight");
  o = box_of (layout, "blk.2.attn_output.weight");
  gate = box_of (layout, "blk.2.ffn_gate.weight");
  up = box_of (layout, "blk.2.ffn_up.weight");
  down = box_of (layout, "blk.2.ffn_down.weight");
  g_assert_cmpstr (q->caption, ==, "attn_q");
  /* norm | q over k | output over v || norm | gate | up | down, upper edges level */
  g_assert_cmpint (norm->x + norm->width, <, q->x);
  g_assert_cmpint (q->x, ==, k->x);
  g_assert_cmpint (q->y + q->height, <, k->y);
  g_assert_cmpint (q->x + q->width, <, o->x);
  g_assert_cmpint (o->x, ==, v->x);
  g_assert_cmpint (k->y, ==, v->y);
  g_assert_cmpint (o->x + o->width, <, gate->x);
  g_assert_cmpint (gate->x, <, up->x);
  g_assert_cmpint (up->x, <, down->x);
  g_assert_cmpint (norm->y, ==, q->y);
  g_assert_cmpint (q->y, ==, o->y);
  g_assert_cmpint (q->y, ==, gate->y);
  g_assert_cmpint (gate->y, ==, down->y);
  /* one element is one unit, true aspect */
  g_assert_cmpint (down->sheet.width, ==, 5632);
  g_assert_cmpint (down->sheet.height, ==, 2048);

  /* blocks under each other, equal widths */
  g_assert_cmpint (card_of (layout, "blk.0")->x, ==, card->x);
  g_assert_cmpint (card_of (layout, "blk.0")->width, ==, card->width);
  g_assert_cmpint (card_of (layout, "blk.0")->y, <, card->y);
  g_assert_cmpuint (layout->arrows->len, ==, 2);
}

static void
test_lines (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);

  check_layout (layout);
  /* in a card: F32 norm beside Q4_K; Q4_K output over Q6_K v; Q4_K k beside Q6_K v; up beside down */
  g_assert_true (has_line (layout, "blk.0.attn_norm.weight", "blk.0.attn_q.weight"));
  g_assert_true (has_line (layout, "blk.0.attn_output.weight", "blk.0.attn_v.weight"));
  g_assert_true (has_line (layout, "blk.0.attn_k.weight", "blk.0.attn_v.weight"));
  g_assert_true (has_line (layout, "blk.0.ffn_up.weight", "blk.0.ffn_down.weight"));
  g_assert_false (has_line (layout, "blk.0.attn_q.weight", "blk.0.attn_k.weight"));
  g_assert_false (has_line (layout, "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"));
  g_assert_false (has_line (layout, "blk.2.attn_k.weight", "blk.2.attn_v.weight"));
  /* between cards, at the tensors of one name that differ */
  g_assert_true (has_line (layout, "blk.0.attn_v.weight", "blk.2.attn_v.weight"));
  g_assert_true (has_line (layout, "blk.0.ffn_down.weight", "blk.2.ffn_down.weight"));
  g_assert_true (has_line (layout, "blk.2.ffn_down.weight", "blk.5.ffn_down.weight"));
  g_assert_false (has_line (layout, "blk.0.attn_q.weight", "blk.2.attn_q.weight"));
  g_assert_false (has_line (layout, "blk.0.attn_norm.weight", "blk.2.attn_norm.weight"));
  g_assert_cmpuint (layout->lines->len, ==, 3 * 2 + 2 * 3 + 2 * 2);
}

static void
test_unfold (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);
  g_autoptr (GHashTable) unfolded = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (TmLayout) folded = tm_layout_new (model, unfolded, NULL);
  g_autoptr (TmLayout) open = NULL;
  const TmBox *card;
  gint64 hidden = tm_model_find_tensor (model, "blk.4.attn_q.weight");

  card = tm_layout_box (folded, tm_layout_find_hiding_fold (folded, (guint) hidden));
  g_assert_cmpstr (card->module->path, ==, "blk.2");
  g_assert_cmpint (card->fold, ==, 1);
  g_assert_cmpuint (card->fold_count, ==, 3);

  g_hash_table_add (unfolded, (gpointer) card->module->path);
  open = tm_layout_new (model, unfolded, NULL);
  check_layout (open);
  g_assert_cmpuint (tm_layout_find_hiding_fold (open, (guint) hidden), ==, TM_NO_BOX);
  g_assert_cmpstr (card_of (open, "blk.4")->caption, ==, "blk.4");
  g_assert_cmpuint (card_of (open, "blk.2")->fold_count, ==, 0);
  g_assert_cmpuint (card_of (open, "blk.0")->fold_count, ==, 2);
  g_assert_cmpuint (open->arrows->len, ==, 4);
  /* in place: what is above stays where it was */
  g_assert_cmpint (card_of (open, "blk.0")->y, ==, card_of (folded, "blk.0")->y);
  g_assert_cmpint (card_of (open, "blk.2")->y, ==, card_of (folded, "blk.2")->y);
  g_assert_cmpint (card_of (open, "blk.2")->x, ==, card_of (folded, "blk.2")->x);
}

static void
test_deterministic (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (9, TRUE);
  g_autoptr (TmLayout) a = tm_layout_new (model, NULL, NULL);
  g_autoptr (TmLayout) b = tm_layout_new (model, NULL, NULL);

  g_assert_cmpuint (a->boxes->len, ==, b->boxes->len);
  for (guint i = 0; i < a->boxes->len; i++)
    {
      const TmBox *x = tm_layout_box (a, i), *y = tm_layout_box (b, i);

      g_assert_true (x->x == y->x && x->y == y->y && x->width == y->width && x->height == y->height && x->tensor == y->tensor);
      g_assert_cmpstr (x->caption, ==, y->caption);
    }
  g_assert_cmpmem (a->lines->data, a->lines->len * sizeof (TmHeavyLine), b->lines->data, b->lines->len * sizeof (TmHeavyLine));
}

static guint
step (const TmLayout *layout, const char *from, int dx, int dy)
{
  return tm_layout_get_neighbour (layout, layout->box_of_tensor[tm_model_find_tensor (layout->model, from)], dx, dy);
}

static void
assert_step (const TmLayout *layout, const char *from, int dx, int dy, const char *to)
{
  const guint box = step (layout, from, dx, dy);

  g_assert_cmpuint (box, !=, TM_NO_BOX);
  g_assert_cmpint (tm_layout_box (layout, box)->kind, ==, TM_BOX_TENSOR);
  g_assert_cmpstr (tm_model_tensor (layout->model, tm_layout_box (layout, box)->tensor)->name, ==, to);
}

static void
test_arrow_keys (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
  const guint card = tm_layout_find_module (layout, tm_module_find (model->root, "blk.0"));

  assert_step (layout, "blk.0.attn_norm.weight", 1, 0, "blk.0.attn_q.weight");
  assert_step (layout, "blk.0.attn_q.weight", 1, 0, "blk.0.attn_output.weight");
  assert_step (layout, "blk.0.attn_q.weight", -1, 0, "blk.0.attn_norm.weight");
  assert_step (layout, "blk.0.attn_q.weight", 0, 1, "blk.0.attn_k.weight");
  assert_step (layout, "blk.0.attn_k.weight", 1, 0, "blk.0.attn_v.weight");
  assert_step (layout, "blk.0.attn_output.weight", 1, 0, "blk.0.ffn_norm.weight");
  assert_step (layout, "blk.0.ffn_norm.weight", -1, 0, "blk.0.attn_output.weight");
  assert_step (layout, "blk.0.ffn_down.weight", 0, 1, "blk.2.ffn_down.weight");
  assert_step (layout, "blk.2.ffn_gate.weight", 0, -1, "blk.0.ffn_gate.weight");
  g_assert_cmpuint (tm_layout_get_neighbour (layout, card, 0, 1), ==,
                    tm_layout_find_module (layout, tm_module_find (model->root, "blk.2")));
  g_assert_cmpuint (tm_layout_get_neighbour (layout, 0, 1, 0), ==, TM_NO_BOX);
}

static void
test_cancelled (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (3, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  g_cancellable_cancel (cancellable);
  g_assert_null (tm_layout_new (model, NULL, cancellable));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/llama", test_llama);
  g_test_add_func ("/layout/lines", test_lines);
  g_test_add_func ("/layout/unfold", test_unfold);
  g_test_add_func ("/layout/deterministic", test_deterministic);
  g_test_add_func ("/layout/arrow-keys", test_arrow_keys);
  g_test_add_func ("/layout/cancelled", test_cancelled);
  return g_test_run ();
}
