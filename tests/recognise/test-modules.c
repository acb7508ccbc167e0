/* Names → module tree: repeated blocks, their order, folds, roles, and the architecture where only names tell it. */
#include <string.h>
#include <time.h>

#include "recognise/names.h"
#include "recognise/recognise.h"
#include "support/families.h"
#include "support/fake-model.h"
#include "support/shrink.h"

static TmModule *
module_at (TmModel *model, const char *path)
{
  TmModule *module = tm_module_find (model->root, path);

  if (module == NULL)
    g_error ("no module %s", path);
  return module;
}

static void
add_vector (TmModel *model, const char *name)
{
  tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 4);
}

/* Folds of a module as "1+2 3+19". */
static void
assert_folds (const TmModule *module, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < module->folds->len; i++)
    {
      const TmFold *fold = &g_array_index (module->folds, TmFold, i);
      const TmModule *first = g_ptr_array_index (module->children, fold->first);

      g_string_append_printf (text, "%s%s×%u", i > 0 ? " " : "", first->name, fold->count);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

/* True of every tree: paths, totals, tensors once, modules of tensors. */
static void
check_tree (TmModel *model)
{
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  guint n_tensors = 0;

  g_ptr_array_add (left, model->root);
  while (left->len > 0)
    {
      TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);
      guint below = module->tensors->len;
      guint end_of_fold = 0;

      for (guint i = 0; i < module->tensors->len; i++)
        {
          const TmTensor *tensor = tm_model_tensor (model, g_array_index (module->tensors, guint, i));

          n_tensors++;
          g_assert_cmpstr (tensor->module, ==, module->path);
          g_assert_true (module->parent == NULL || g_str_has_prefix (tensor->name, module->path));
        }
      for (guint i = 0; i < module->children->len; i++)
        {
          TmModule *child = g_ptr_array_index (module->children, i);

          g_assert_true (child->parent == module);
          g_assert_cmpstr (child->name, !=, "");
          g_assert_true (g_str_has_suffix (child->path, child->name));
          below += child->n_tensors;
          g_ptr_array_add (left, child);
        }
      g_assert_cmpuint (module->n_tensors, ==, below);
      for (guint i = 0; i < module->folds->len; i++)
        {
          const TmFold *fold = &g_array_index (module->folds, TmFold, i);

          g_assert_cmpuint (fold->first, >=, end_of_fold);
          g_assert_cmpuint (fold->count, >=, 2);
          end_of_fold = fold->first + fold->count;
          g_assert_cmpuint (end_of_fold, <=, module->children->len);
        }
    }
  g_assert_cmpuint (n_tensors, ==, model->tensors->len);
  g_assert_cmpuint (model->root->n_tensors, ==, n_tensors);
  g_assert_cmpuint (model->root->parameters, ==, model->parameters);
}

static void
test_llama (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (8, FALSE);
  TmModule *block = module_at (model, "blk.3");

  check_tree (model);
  g_assert_cmpstr (block->name, ==, "blk.3");
  g_assert_cmpint (block->number, ==, 3);
  g_assert_cmpint (block->role, ==, TM_MODULE_BLOCK);
  g_assert_true (block->parent == model->root);
  g_assert_cmpuint (block->n_tensors, ==, 9);
  assert_folds (model->root, "blk.0×8");
  g_assert_cmpstr (tm_model_tensor (model, tm_model_find_tensor (model, "blk.3.attn_q.weight"))->module, ==,
                   "blk.3.attn_q");
  g_assert_cmpstr (module_at (model, "blk.3.attn_q")->role_name, ==, "attn.q");
  g_assert_cmpint (module_at (model, "blk.3.attn_q")->role, ==, TM_MODULE_ATTENTION);
  g_assert_cmpint (module_at (model, "blk.3.attn_q")->number, ==, -1);
  g_assert_cmpint (module_at (model, "blk.3.ffn_norm")->role, ==, TM_MODULE_NORM);
  g_assert_cmpint (module_at (model, "token_embd")->role, ==, TM_MODULE_EMBEDDING);
  g_assert_cmpint (module_at (model, "output")->role, ==, TM_MODULE_HEAD);
  g_assert_null (tm_module_find (model->root, "blk"));
}

/* What differs between blocks is never hidden: dtype is part of being equal. */
static void
test_mixed (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (10, TRUE);

  check_tree (model);
  assert_folds (model->root, "blk.0×2 blk.2×7");
}

/* One block's tensor of another shape, another rank, another name, one more, or unreadable. */
static void
test_differences (void)
{
  for (guint kind = 0; kind < 6; kind++)
    {
      g_autoptr (TmModel) model = tm_fake_model_new ("differences");

      for (guint block = 0; block < 6; block++)
        {
          g_autofree char *name = g_strdup_printf ("layers.%u.%s.weight", block, block == 3 && kind == 3 ? "wk" : "wq");
          g_autofree char *norm = g_strdup_printf ("layers.%u.norm.weight", block);
          g_autofree char *more = g_strdup_printf ("layers.%u.more.weight", block);

          if (block == 3 && kind == 1)
            tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 4, 8);
          else if (block == 3 && kind == 2)
            tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 1, 8, 8);
          else
            tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 8, 8);
          add_vector (model, norm);
          if (block == 3 && kind == 4)
            add_vector (model, more);
          if (block == 3 && kind == 5)
            tm_model_stored (model, model->stored->len - 1)->fault = g_strdup ("past the end");
        }
      tm_fake_model_finish (model);
      check_tree (model);
      assert_folds (model->root, kind == 0 ? "layers.0×6" : "layers.0×3 layers.4×2");
    }
}

/* Files sorted by name, blocks torn apart between shards, missing blocks, and two lists side by side. */
static void
test_order (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("order");
  const guint order[] = { 0, 1, 10, 11, 2, 3, 4, 5, 7, 8, 9 };
  TmModule *last;

  for (guint half = 0; half < 2; half++)
    for (guint i = 0; i < G_N_ELEMENTS (order); i++)
      {
        /* the second half of the blocks has its tensors the other way round */
        g_autofree char *name
            = g_strdup_printf ("layers.%u.%s", order[i], (half == 0) == (i % 2 == 0) ? "a.weight" : "b.weight");

        add_vector (model, name);
      }
  add_vector (model, "blocks.1.a.weight");
  add_vector (model, "blocks.0.a.weight");
  tm_fake_model_finish (model);
  check_tree (model);
  assert_folds (model->root, "layers.0×6 layers.7×5 blocks.0×2");
  last = g_ptr_array_index (model->root->children, 10);
  g_assert_cmpstr (last->name, ==, "layers.11");
}

static void
test_families (void)
{
  for (guint i = 0; tm_families[i] != NULL; i++)
    {
      g_autoptr (TmModel) model = tm_family_new (tm_families[i]);
      check_tree (model);
    }
}

static void
test_gpt2 (void)
{
  g_autoptr (TmModel) model = tm_family_new ("gpt2");

  assert_folds (module_at (model, "transformer"), "h.0×6");
  g_assert_cmpstr (module_at (model, "transformer.h.0.attn.c_attn")->role_name, ==, "attn.qkv");
  g_assert_cmpstr (module_at (model, "transformer.h.0.mlp.c_proj")->role_name, ==, "mlp.down");
  g_assert_cmpstr (module_at (model, "transformer.h.0.attn.c_proj")->role_name, ==, "attn.o");
  g_assert_cmpint (module_at (model, "transformer.h.0.mlp")->role, ==, TM_MODULE_FEED_FORWARD);
  g_assert_cmpint (module_at (model, "transformer.wpe")->role, ==, TM_MODULE_EMBEDDING);
  g_assert_cmpstr (model->architecture, ==, "gpt2");
}

static void
test_t5 (void)
{
  g_autoptr (TmModel) model = tm_family_new ("t5");

  /* block 0 alone has the relative bias */
  assert_folds (module_at (model, "encoder"), "block.1×3");
  assert_folds (module_at (model, "decoder"), "block.1×3");
  assert_folds (module_at (model, "decoder.block.2"), "");
  g_assert_cmpstr (module_at (model, "decoder.block.2.layer.1.EncDecAttention.q")->role_name, ==, "cross_attn.q");
  g_assert_cmpstr (module_at (model, "decoder.block.2.layer.0.SelfAttention.q")->role_name, ==, "attn.q");
  g_assert_cmpstr (module_at (model, "encoder.block.2.layer.1.DenseReluDense.wo")->role_name, ==, "mlp.down");
}

static void
test_experts (void)
{
  g_autoptr (TmModel) mixtral = tm_family_new ("mixtral");
  g_autoptr (TmModel) deepseek = tm_family_new ("deepseek2");
  g_autoptr (TmModel) stacked = tm_family_new ("qwen3moe-gguf");
  TmModule *expert = module_at (mixtral, "model.layers.1.block_sparse_moe.experts.5");

  assert_folds (module_at (mixtral, "model.layers.1.block_sparse_moe"), "experts.0×8");
  assert_folds (module_at (mixtral, "model"), "layers.0×3");
  g_assert_cmpint (expert->role, ==, TM_MODULE_EXPERTS);
  g_assert_cmpint (expert->number, ==, 5);
  g_assert_cmpstr (module_at (mixtral, "model.layers.1.block_sparse_moe.gate")->role_name, ==, "moe.router");
  /* dense layers before the mixture */
  assert_folds (module_at (deepseek, "model"), "layers.0×2 layers.2×3");
  g_assert_cmpstr (module_at (deepseek, "model.layers.2.mlp.shared_experts.up_proj")->role_name, ==, "moe.shared.up");
  /* a stack is one tensor */
  g_assert_cmpstr (module_at (stacked, "blk.0.ffn_up_exps")->role_name, ==, "moe.expert.up");
  g_assert_cmpint (module_at (stacked, "blk.0.ffn_up_exps")->role, ==, TM_MODULE_EXPERTS);
}

/* Numbers after other words are children of a sequence, unless their siblings hold the same. */
static void
test_numbers (void)
{
  g_autoptr (TmModel) resnet = tm_family_new ("resnet");
  g_autoptr (TmModel) model = tm_fake_model_new ("numbers");

  assert_folds (module_at (resnet, "layer3"), "1×5");
  g_assert_cmpint (module_at (resnet, "layer3.1")->role, ==, TM_MODULE_BLOCK);
  g_assert_cmpint (module_at (resnet, "layer3.0")->number, ==, -1); /* has a downsample: alone of its kind */
  g_assert_cmpint (module_at (resnet, "layer3.0.downsample.1")->number, ==, -1);
  g_assert_cmpint (module_at (resnet, "layer3")->number, ==, -1);
  g_assert_cmpint (module_at (resnet, "layer3.1.conv2")->role, ==, TM_MODULE_CONVOLUTION);

  add_vector (model, "net.mlp.0.weight");
  add_vector (model, "net.mlp.2.weight");
  for (guint i = 1; i <= 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("net.stage%u.conv.weight", i);
      g_autofree char *single = g_strdup_printf ("net.conv2d_%u.weight", i);

      add_vector (model, name);
      add_vector (model, single);
    }
  add_vector (model, "net.layers.weight");
  add_vector (model, "net.layers.7");
  add_vector (model, "net.layers.x.weight");
  tm_fake_model_finish (model);
  check_tree (model);
  g_assert_cmpint (module_at (model, "net.mlp.2")->number, ==, -1);
  g_assert_cmpint (module_at (model, "net.conv2d_3")->number, ==, -1);
  g_assert_cmpint (module_at (model, "net.stage3")->number, ==, 3);
  assert_folds (module_at (model, "net"), "stage1×4");
  g_assert_cmpuint (module_at (model, "net.layers")->tensors->len, ==, 2);
}

static void
test_detect (void)
{
  static const struct
  {
    const char *architecture, *names[4];
  } samples[] = {
#include "recognise/detect-samples-table.h"
  };

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autoptr (TmModel) model = tm_fake_model_new ("sample");

      for (guint n = 0; n < 4 && samples[i].names[n] != NULL; n++)
        add_vector (model, samples[i].names[n]);
      tm_fake_model_finish (model);
      g_assert_cmpstr (model->architecture, ==, samples[i].architecture);
    }
  g_assert_cmpuint (G_N_ELEMENTS (samples), >=, 20);
}

static void
test_detect_families (void)
{
  const char *const expected[][2]
      = { { "llama-hf", "llama" },      { "bert", "bert" },           { "t5", "t5" },         { "vit", "vit" },
          { "mamba", "mamba" },         { "deepseek2", "deepseek2" }, { "gemma2", "gemma2" }, { "resnet", "resnet" },
          { "unet", "diffusers unet" }, { "clip", "clip" },           { "flat", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr (TmModel) model = tm_family_new (expected[i][0]);
      g_assert_cmpstr (model->architecture, ==, expected[i][1]);
    }
}

/* A file's own word is never overruled. */
static void
test_detect_given (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("given");

  model->architecture = g_strdup ("mistral");
  add_vector (model, "model.layers.0.self_attn.q_proj.weight");
  add_vector (model, "model.layers.0.mlp.gate_proj.weight");
  tm_fake_model_finish (model);
  g_assert_cmpstr (model->architecture, ==, "mistral");
}

/* Every name of the facts table has the role it says. */
static void
test_roles (void)
{
  g_autoptr (TmNames) names = tm_names_new ();
  const char *const roles[][2] = {
    { "model.layers.17.self_attn.q_proj", "attn.q" },
    { "blk.3.attn_v", "attn.v" },
    { "blk.3.attn_v.weight", "attn.v" },
    { "model.layers.2.mlp.experts.77.down_proj", "moe.expert.down" },
    { "layers.3.feed_forward.w1", "mlp.gate" },
    { "layers.3.feed_forward.w3", "mlp.up" },
    { "transformer.h.11.ln_1", "norm" },
    { "lm_head", "head" },
    { "model.layers.1.mlp.gate", "moe.router" },
    { "model.layers.1.mlp.gate_proj", "mlp.gate" },
    { "language_model.model.layers.4.self_attn.o_proj", "attn.o" },
    { "visual.blocks.3.attn.qkv", "attn.qkv" },
    { "unheard.of", NULL },
    { "", NULL },
    { "....", NULL },
    { "\xff\xfe", NULL },
  };

  for (guint i = 0; i < tm_n_name_rows; i++)
    g_assert_cmpstr (tm_names_find_role (names, tm_name_rows[i].name), ==, tm_name_rows[i].role);
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    g_assert_cmpstr (tm_names_find_role (names, roles[i][0]), ==, roles[i][1]);
  g_assert_cmpuint (tm_n_name_rows, >, 400);
}

static void
test_list_words (void)
{
  g_assert_true (tm_is_list_word ("layers", -1));
  g_assert_true (tm_is_list_word ("layer", -1));
  g_assert_true (tm_is_list_word ("blk", -1));
  g_assert_true (tm_is_list_word ("h", -1));
  g_assert_true (tm_is_list_word ("h.0", 1));
  g_assert_false (tm_is_list_word ("la", -1));
  g_assert_false (tm_is_list_word ("layersx", -1));
  g_assert_false (tm_is_list_word ("", -1));
  g_assert_false (tm_is_list_word ("mlp", -1));
  g_assert_cmpint (tm_parse_number ("007", -1), ==, 7);
  g_assert_cmpint (tm_parse_number ("", -1), ==, -1);
  g_assert_cmpint (tm_parse_number ("1x", -1), ==, -1);
  g_assert_cmpint (tm_parse_number ("9999999999999999999", -1), ==, -1);
}

/* --- Hostile names ----------------------------------------------------------------------------------------------- */

static void
test_hostile (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("hostile");
  g_autofree char *dots = g_strnfill (10000, '.');
  g_autofree char *nested = NULL;
  g_autofree char *length = g_strnfill (100000, 'a');
  g_autoptr (GString) deep = g_string_new (NULL);

  for (guint i = 0; i < 3000; i++)
    g_string_append (deep, "layers.0.");
  nested = g_strdup (deep->str);
  add_vector (model, "");
  add_vector (model, ".");
  add_vector (model, "..");
  add_vector (model, ".a");
  add_vector (model, "a.");
  add_vector (model, "a..b");
  add_vector (model, "a.b");
  add_vector (model, "a");
  add_vector (model, "a");
  add_vector (model, dots);
  add_vector (model, nested);
  add_vector (model, length);
  add_vector (model, "\xff\xfe.\x80.weight");
  add_vector (model, "layers.00.w");
  add_vector (model, "layers.0.w");
  add_vector (model, "layers.99999999999999999999.w");
  add_vector (model, "layers.-1.w");
  add_vector (model, "layers.0");
  add_vector (model, "layers..0.w");
  tm_fake_model_finish (model);
  check_tree (model);
  g_assert_cmpuint (module_at (model, "a")->tensors->len, ==, 3);
  g_assert_cmpuint (model->tensors->len, ==, 19);
}

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
      = { "layers", ".", "0", "1", "2", ".", "weight", "a", ".", "experts", "attn", "..", "mlp", "12", "blk", "\xc3" };

  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (TmModel) model = tm_fake_model_new ("random");

      for (guint i = 0; i < 80; i++)
        {
          g_autoptr (GString) name = g_string_new (NULL);

          for (guint p = draw (9); p > 0; p--)
            g_string_append (name, parts[draw (G_N_ELEMENTS (parts))]);
          add_vector (model, name->str);
        }
      tm_fake_model_finish (model);
      check_tree (model);
    }
}

/* B081: an index of 500 000 names opens, and its tree is there at once. */
static void
test_many (void)
{
  const char *const leaves[] = { "w1.weight", "w2.weight", "w3.weight" };
  g_autoptr (TmModel) model = tm_fake_model_new ("many");
  clock_t began; /* processor time: other work on the machine does not count */
  double seconds;

  for (guint layer = 0; layer < 60 / TM_SHRINK; layer++)
    for (guint expert = 0; expert < 926; expert++)
      for (guint leaf = 0; leaf < 9; leaf++)
        {
          char name[120];

          g_snprintf (name, sizeof name, "model.layers.%u.mlp.experts.%u.part%u.%s", layer, expert, leaf / 3,
                      leaves[leaf % 3]);
          tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 1);
        }
  g_assert_cmpuint (model->stored->len, >, 500000 / TM_SHRINK);
  tm_recognise_tensors (model);
  began = clock ();
  tm_recognise_modules (model);
  seconds = (double) (clock () - began) / CLOCKS_PER_SEC;
  g_test_message ("module tree of %u tensors: %.2f s", model->tensors->len, seconds);
  assert_folds (module_at (model, "model"), TM_SHRINK == 1 ? "layers.0×60" : "layers.0×6");
  g_assert_cmpfloat (seconds, <, 30.0); /* quadratic work would be minutes, also under sanitizers */
}

/* Half a million names of which no two are of a kind. */
static void
test_many_kinds (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("kinds");
  clock_t began;
  double seconds;

  for (guint i = 0; i < 200000 / TM_SHRINK; i++)
    {
      char name[120];

      g_snprintf (name, sizeof name, "%c%c%c%c.odd%c%c.thing", 'a' + draw (26), 'a' + draw (26), 'a' + draw (26),
                  'a' + draw (26), 'a' + draw (26), 'a' + draw (26));
      tm_fake_model_add_shape (model, name, TM_DTYPE_F32, 1);
    }
  tm_recognise_tensors (model);
  began = clock ();
  tm_recognise_modules (model);
  seconds = (double) (clock () - began) / CLOCKS_PER_SEC;
  g_test_message ("module tree of %u names of different kinds: %.2f s", model->tensors->len, seconds);
  g_assert_cmpfloat (seconds, <, 30.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/modules/llama", test_llama);
  g_test_add_func ("/modules/mixed", test_mixed);
  g_test_add_func ("/modules/differences", test_differences);
  g_test_add_func ("/modules/order", test_order);
  g_test_add_func ("/modules/families", test_families);
  g_test_add_func ("/modules/gpt2", test_gpt2);
  g_test_add_func ("/modules/t5", test_t5);
  g_test_add_func ("/modules/experts", test_experts);
  g_test_add_func ("/modules/numbers", test_numbers);
  g_test_add_func ("/modules/detect", test_detect);
  g_test_add_func ("/modules/detect-families", test_detect_families);
  g_test_add_func ("/modules/detect-given", test_detect_given);
  g_test_add_func ("/modules/roles", test_roles);
  g_test_add_func ("/modules/list-words", test_list_words);
  g_test_add_func ("/modules/hostile", test_hostile);
  g_test_add_func ("/modules/random", test_random);
  g_test_add_func ("/traps/B081", test_many);
  g_test_add_func ("/modules/many-kinds", test_many_kinds);
  return g_test_run ();
}
