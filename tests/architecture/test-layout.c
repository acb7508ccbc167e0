/* Layouts of models: folds, roles, heavy lines, arrows, picking, and what is true of every layout (layout-check.c). */
#include <string.h>
#include <time.h>

#include "architecture/layout-check.h"
#include "recognise/recognise.h"
#include "support/families.h"
#include "support/fake-model.h"
#include "support/shrink.h"

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

      g_assert_true (x->x == y->x && x->y == y->y && x->width == y->width && x->height == y->height
                     && x->tensor == y->tensor);
      g_assert_cmpstr (x->caption, ==, y->caption);
    }
  g_assert_cmpmem (a->lines->data, a->lines->len * sizeof (TmHeavyLine), b->lines->data,
                   b->lines->len * sizeof (TmHeavyLine));
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

static void
test_families (void)
{
  for (guint i = 0; tm_families[i] != NULL; i++)
    {
      g_autoptr (TmModel) model = tm_family_new (tm_families[i]);
      g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);

      check_layout (layout);
      /* no ribbon: what is long is a tensor, not the arrangement */
      g_assert_cmpint (tm_layout_box (layout, 0)->width, <, 4 * tm_layout_box (layout, 0)->height);
      g_assert_cmpint (tm_layout_box (layout, 0)->height, <, 4 * tm_layout_box (layout, 0)->width);
    }
}

static const TmBox *
parent_of (const TmLayout *layout, const TmBox *box)
{
  return tm_layout_box (layout, box->parent);
}

static void
test_roles (void)
{
  g_autoptr (TmModel) t5 = tm_family_new ("t5");
  g_autoptr (TmLayout) layout = tm_layout_new (t5, NULL, NULL);
  g_autoptr (TmModel) gemma = tm_family_new ("gemma2");
  g_autoptr (TmLayout) second = tm_layout_new (gemma, NULL, NULL);
  g_autoptr (TmModel) mixture = tm_family_new ("deepseek2");
  g_autoptr (TmLayout) third = tm_layout_new (mixture, NULL, NULL);
  const TmBox *router, *expert, *shared;

  /* sub-blocks of a T5 block are its sections, not cards of their own */
  g_assert_cmpstr (parent_of (layout, box_of (layout, "decoder.block.1.layer.0.SelfAttention.q.weight"))->caption, ==,
                   "attention");
  g_assert_cmpstr (parent_of (layout, box_of (layout, "decoder.block.1.layer.1.EncDecAttention.q.weight"))->caption, ==,
                   "cross attention");
  g_assert_cmpstr (parent_of (layout, box_of (layout, "decoder.block.1.layer.2.DenseReluDense.wi.weight"))->caption, ==,
                   "feed-forward");
  g_assert_cmpstr (parent_of (layout, box_of (layout, "decoder.block.1.layer.1.layer_norm.weight"))->caption, ==,
                   "cross attention");
  g_assert_cmpstr (parent_of (layout, box_of (layout, "decoder.block.1.layer.2.layer_norm.weight"))->caption, ==,
                   "feed-forward");
  g_assert_true (card_of (layout, "decoder.block.1.layer.1.EncDecAttention")
                 == parent_of (layout, box_of (layout, "decoder.block.1.layer.1.EncDecAttention.q.weight")));

  /* Gemma's post_attention_layernorm is a norm after attention, its pre_feedforward one before the feed-forward layers */
  g_assert_cmpstr (parent_of (second, box_of (second, "model.layers.0.post_attention_layernorm.weight"))->caption, ==,
                   "attention");
  g_assert_cmpint (box_of (second, "model.layers.0.post_attention_layernorm.weight")->x, >,
                   box_of (second, "model.layers.0.self_attn.o_proj.weight")->x);
  g_assert_cmpint (box_of (second, "model.layers.0.pre_feedforward_layernorm.weight")->x, <,
                   box_of (second, "model.layers.0.mlp.gate_proj.weight")->x);
  g_assert_cmpint (box_of (second, "model.layers.0.post_feedforward_layernorm.weight")->x, >,
                   box_of (second, "model.layers.0.mlp.down_proj.weight")->x);

  /* router over experts over shared experts; the experts are one folded card */
  router = box_of (third, "model.layers.2.mlp.gate.weight");
  expert = card_of (third, "model.layers.2.mlp.experts.0");
  shared = box_of (third, "model.layers.2.mlp.shared_experts.up_proj.weight");
  g_assert_cmpint (expert->kind, ==, TM_BOX_CARD);
  g_assert_cmpuint (expert->fold_count, ==, 16);
  g_assert_cmpint (router->y, <, expert->y);
  g_assert_cmpint (expert->y + expert->height, <=, shared->y);
  g_assert_cmpint (box_of (third, "model.layers.2.mlp.experts.0.gate_proj.weight")->x, <,
                   box_of (third, "model.layers.2.mlp.experts.0.down_proj.weight")->x);
  g_assert_cmpuint (third->arrows->len, ==, 1); /* dense → mixture; none between experts */
}

/* Embeddings come first and heads last: left or above, right or below. */
static void
test_ends (void)
{
  const char *const names[][3] = { { "llama-hf", "model.embed_tokens.weight", "lm_head.weight" },
                                   { "mixtral", "model.embed_tokens.weight", "lm_head.weight" },
                                   { "qwen3moe-gguf", "token_embd.weight", "output.weight" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (TmModel) model = tm_family_new (names[i][0]);
      g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);
      const TmBox *first = box_of (layout, names[i][1]), *last = box_of (layout, names[i][2]);
      const TmBox *card = NULL;

      for (guint b = 0; b < layout->boxes->len && card == NULL; b++)
        if (tm_layout_box (layout, b)->kind == TM_BOX_CARD)
          card = tm_layout_box (layout, b);
      g_assert_true (first->x + first->width <= card->x || first->y + first->height <= card->y);
      g_assert_true (last->x >= card->x + card->width || last->y >= card->y + card->height);
    }
}

/* --- Random trees and hostile shapes ----------------------------------------------------------------------------- */

static guint64 seed = 88172645463325252u;
static guint
draw (guint n)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (guint) (seed % n);
}

static void
test_random (void)
{
  const char *const parts[]
      = { "layers.0",     "layers.1", "layers.2", "experts.0", "experts.1", "experts.2", "attn", "mlp",
          "q_proj",       "norm",     "ln_1",     "0",         "1",         "2",         "a",    "b",
          "embed_tokens", "lm_head",  "blk.7",    "stage1",    "stage2",    "stage3" };
  const TmDtype dtypes[] = { TM_DTYPE_F32, TM_DTYPE_F16, TM_DTYPE_BF16 };

  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (TmModel) model = tm_fake_model_new ("random");
      g_autoptr (GHashTable) unfolded = g_hash_table_new (g_str_hash, g_str_equal);
      g_autoptr (TmLayout) layout = NULL;

      for (guint i = 0; i < 20 + round * 5; i++)
        {
          g_autoptr (GString) name = g_string_new (NULL);
          guint64 shape[4];
          const guint rank = draw (5);

          for (guint p = 1 + draw (6); p > 0; p--)
            g_string_append_printf (name, "%s.", parts[draw (G_N_ELEMENTS (parts))]);
          g_string_append (name, draw (3) == 0 ? "bias" : "weight");
          for (guint axis = 0; axis < rank; axis++)
            shape[axis] = draw (12) == 0 ? draw (2000) : draw (60);
          tm_fake_model_add (model, name->str, dtypes[draw (3)], rank, shape);
        }
      tm_fake_model_finish (model);
      if (round % 3 == 0)
        for (guint i = 0; i < 3; i++)
          g_hash_table_add (unfolded, (gpointer) (i == 0 ? "layers.0" : i == 1 ? "layers.1" : "attn.experts.0"));
      layout = tm_layout_new (model, unfolded, NULL);
      check_layout (layout);
    }
}

static void
add_huge (TmModel *model, const char *name, guint rank, const guint64 *shape)
{
  const guint index = tm_fake_model_add (model, name, TM_DTYPE_F32, rank, shape);
  TmStored *stored = tm_model_stored (model, index);

  stored->bytes = 0;
  stored->fault = g_strdup ("the file ends before it");
}
#define ADD_HUGE(name, ...)                                                                                            \
  add_huge (model, name, G_N_ELEMENTS (((guint64[]) { __VA_ARGS__ })), (guint64[]) { __VA_ARGS__ })

/* Shapes a header may claim whatever the file holds: nothing overflows, everything is drawn. */
static void
test_huge (void)
{
  const guint64 one = 1;
  g_autoptr (TmModel) model = tm_fake_model_new ("huge");
  g_autoptr (TmLayout) layout = NULL;

  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *name = g_strdup_printf ("layers.%u.mlp.up_proj.weight", i);
      ADD_HUGE (name, one << (20 + i), i % 2 == 0 ? 7 : one << 3);
    }
  ADD_HUGE ("row.weight", 1, 1000000000);
  ADD_HUGE ("vector.weight", one << 40);
  ADD_HUGE ("most.weight", G_MAXUINT64);
  ADD_HUGE ("column.weight", one << 62, 1);
  ADD_HUGE ("stack.weight", one << 30, one << 15, one << 15);
  ADD_HUGE ("empty.weight", 0, one << 62);
  ADD_HUGE ("small.weight", 3, 3);
  tm_fake_model_finish (model);
  layout = tm_layout_new (model, NULL, NULL);
  check_layout (layout);
}

static void
test_empty (void)
{
  g_autoptr (TmModel) model = tm_fake_model_finish (tm_fake_model_new ("empty"));
  g_autoptr (TmLayout) layout = tm_layout_new (model, NULL, NULL);

  g_assert_cmpuint (layout->boxes->len, ==, 1);
  g_assert_cmpuint (layout->lines->len, ==, 0);
  g_assert_cmpuint (tm_layout_pick (layout, 1, 1), ==, 0);
}

/* --- Many -------------------------------------------------------------------------------------------------------- */

static void
test_many (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("many");
  g_autoptr (TmLayout) layout = NULL;
  const TmBox *whole;
  clock_t began; /* processor time: other work on the machine does not count */
  double seconds;

  for (guint i = 0; i < 500000 / TM_SHRINK; i++)
    {
      char name[60];

      g_snprintf (name, sizeof name, "part%u.tensor%u", i / 700, i);
      tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 1 + draw (64), 1 + draw (64));
    }
  tm_recognise_tensors (model);
  tm_recognise_modules (model);
  tm_model_seal (model);
  began = clock ();
  layout = tm_layout_new (model, NULL, NULL);
  seconds = (double) (clock () - began) / CLOCKS_PER_SEC;
  g_test_message ("layout of %u tensors: %.2f s", model->tensors->len, seconds);
  g_assert_cmpfloat (seconds, <, 30.0); /* quadratic work would be hours, also under sanitizers */
  whole = tm_layout_box (layout, 0);
  g_assert_cmpint (whole->width, <, 2 * whole->height);
  g_assert_cmpint (whole->height, <, 2 * whole->width);

  began = clock ();
  for (guint i = 0; i < 100000; i++)
    {
      const TmBox *box = tm_layout_box (layout, draw (layout->boxes->len));
      const guint found = tm_layout_pick (layout, box->x, box->y);

      g_assert_true (tm_layout_box (layout, found) == box);
    }
  seconds = (double) (clock () - began) / CLOCKS_PER_SEC;
  g_test_message ("100 000 picks: %.3f s", seconds);
  g_assert_cmpfloat (seconds, <, 5.0);
}

/* One box with 100 000 children, among them one large one. */
static void
test_pick_flat (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("flat");
  g_autoptr (TmLayout) layout = NULL;

  for (guint i = 0; i < 100000 / TM_SHRINK; i++)
    {
      char name[40];

      g_snprintf (name, sizeof name, "t%u", i);
      tm_fake_model_add_shape (model, name, TM_DTYPE_F32, i == 4000 ? 3000 : 1 + draw (32),
                               i == 4000 ? 5000 : 1 + draw (32));
    }
  tm_recognise_tensors (model);
  tm_recognise_modules (model);
  tm_model_seal (model);
  layout = tm_layout_new (model, NULL, NULL);
  check_layout (layout);
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
  g_test_add_func ("/layout/families", test_families);
  g_test_add_func ("/layout/roles", test_roles);
  g_test_add_func ("/layout/ends", test_ends);
  g_test_add_func ("/layout/random", test_random);
  g_test_add_func ("/layout/huge", test_huge);
  g_test_add_func ("/layout/empty", test_empty);
  g_test_add_func ("/layout/many", test_many);
  g_test_add_func ("/layout/pick-flat", test_pick_flat);
  return g_test_run ();
}
