/* Addresses: what each form means, what a wrong one is told, and that writing and reading lead back. */
#include <string.h>

#include "io/error.h"
#include "model/address.h"
#include "support/fake-model.h"

static void
assert_parses (TmModel *model, const char *text, TmAddressKind kind, TmWithin within)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;
  g_autoptr (GError) error = NULL;

  tm_address_parse (model, text, &address, &error);
  g_assert_no_error (error);
  g_assert_cmpint (address.kind, ==, kind);
  g_assert_cmpint (address.within, ==, within);
}

/* The error is one line that holds this. */
static void
assert_refuses (TmModel *model, const char *text, const char *part)
{
  TmAddress address = { .kind = TM_ADDRESS_STORED, .tensor = 7 };
  g_autoptr (GError) error = NULL;

  g_assert_false (tm_address_parse (model, text, &address, &error));
  g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” says “%s”, not “%s”", text, error->message, part);
  g_assert_null (strchr (error->message, '\n'));
  g_assert_cmpuint (address.tensor, ==, 7); /* untouched */
}

static void
assert_back (TmModel *model, const TmAddress *address)
{
  g_autofree char *text = tm_address_format (model, address);
  g_auto (TmAddress) back = TM_ADDRESS_INIT;
  g_autoptr (GError) error = NULL;

  tm_address_parse (model, text, &back, &error);
  g_assert_no_error (error);
  if (!tm_address_equal (address, &back))
    g_error ("“%s” does not lead back", text);
}

static void
assert_formats (TmModel *model, const char *text, const char *expected)
{
  g_auto (TmAddress) address = TM_ADDRESS_INIT;
  g_autofree char *formatted = NULL;
  g_autoptr (GError) error = NULL;

  tm_address_parse (model, text, &address, &error);
  g_assert_no_error (error);
  formatted = tm_address_format (model, &address);
  g_assert_cmpstr (formatted, ==, expected);
  assert_back (model, &address);
}

static void
test_kinds (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);
  g_auto (TmAddress) address = TM_ADDRESS_INIT;

  assert_parses (model, "", TM_ADDRESS_MODEL, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.3", TM_ADDRESS_MODULE, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.3.attn_q", TM_ADDRESS_MODULE, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.2-4", TM_ADDRESS_FOLD, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.0-1", TM_ADDRESS_FOLD, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.3.attn_q.weight", TM_ADDRESS_TENSOR, TM_WITHIN_WHOLE);
  assert_parses (model, "stored:blk.3.attn_q.weight", TM_ADDRESS_STORED, TM_WITHIN_WHOLE);
  assert_parses (model, "blk.3.attn_q.weight[37,53]", TM_ADDRESS_TENSOR, TM_WITHIN_INDEX);
  assert_parses (model, "blk.3.attn_q.weight[0:4,0:32]", TM_ADDRESS_TENSOR, TM_WITHIN_REGION);
  assert_parses (model, "stored:blk.3.attn_norm.weight[255]", TM_ADDRESS_STORED, TM_WITHIN_INDEX);

  g_assert_true (tm_address_parse (model, "blk.3.attn_q.weight[37, 53]", &address, NULL));
  g_assert_cmpuint (address.rank, ==, 2);
  g_assert_cmpuint (address.start[0], ==, 37);
  g_assert_cmpuint (address.start[1], ==, 53);
  g_assert_cmpuint (address.end[1], ==, 54);
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "blk.3.attn_k.weight[:8,100:]", &address, NULL));
  g_assert_cmpuint (address.start[0], ==, 0);
  g_assert_cmpuint (address.end[0], ==, 8);
  g_assert_cmpuint (address.start[1], ==, 100);
  g_assert_cmpuint (address.end[1], ==, 256);
}

static void
test_refusals (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);

  assert_refuses (model, "blk.3.attn_z.weight", "module “blk.3” has nothing called “attn_z.weight”");
  assert_refuses (model, "nothing", "no tensor or module is called “nothing”");
  assert_refuses (model, "blk", "“blk”");
  assert_refuses (model, "blk.2-3", "blk.2-3");
  assert_refuses (model, "blk.1-4", "blk.1-4");
  assert_refuses (model, "stored:nothing", "no stored tensor");
  assert_refuses (model, "blk.3[1,2]", "only tensors have elements");
  assert_refuses (model, "blk.3.attn_q.weight[1]", "needs 2 numbers, not 1");
  assert_refuses (model, "blk.3.attn_q.weight[]", "needs 2 numbers, not 0");
  assert_refuses (model, "blk.3.attn_q.weight[1,2,3]", "shape [256, 256]");
  assert_refuses (model, "blk.3.attn_q.weight[256,0]", "256 is outside axis 0, which goes from 0 to 255");
  assert_refuses (model, "blk.3.attn_q.weight[0,-1]", "“-1” is no number");
  assert_refuses (model, "blk.3.attn_q.weight[0,+1]", "“+1” is no number");
  assert_refuses (model, "blk.3.attn_q.weight[0,0x1]", "is no number");
  assert_refuses (model, "blk.3.attn_q.weight[0,1e1]", "is no number");
  assert_refuses (model, "blk.3.attn_q.weight[0,]", "missing");
  assert_refuses (model, "blk.3.attn_q.weight[,]", "missing");
  assert_refuses (model, "blk.3.attn_q.weight[0,99999999999999999999]", "64 bits");
  assert_refuses (model, "blk.3.attn_q.weight[0,18446744073709551616]", "64 bits");
  assert_refuses (model, "blk.3.attn_q.weight[0,18446744073709551615]", "outside axis 1");
  assert_refuses (model, "blk.3.attn_q.weight[0:257,:]", "outside axis 0");
  assert_refuses (model, "blk.3.attn_q.weight[5:4,:]", "holds nothing");
  assert_refuses (model, "blk.3.attn_q.weight[4:4,:]", "holds nothing");
  assert_refuses (model, "blk.3.attn_q.weight[1:2:3,:]", "is no number");
  assert_refuses (model, "blk.3.attn_q.weight[:]", "needs 2 ranges");
  assert_refuses (model, "blk.3.attn_q.weight]", "“blk.3.attn_q” has nothing called “weight]”");
  assert_refuses (model, "blk.3.attn_q.weight[1,2", "“weight[1,2”");
  assert_refuses (model, "[1,2]", "no tensor or module");
  assert_refuses (model, "a\nb\x1b[1]", "a\\nb\\e");
}

static void
test_formats (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (6, TRUE);

  assert_formats (model, "", "");
  assert_formats (model, "blk.3", "blk.3");
  assert_formats (model, "blk.2-4", "blk.2-4");
  assert_formats (model, "module:blk.3", "blk.3");
  assert_formats (model, "output.weight", "output.weight");
  assert_formats (model, "output.weight[ 3 , 007 ]", "output.weight[3,7]");
  assert_formats (model, "output.weight[:,5]", "output.weight[0:1024,5:6]");
  assert_formats (model, "output.weight[:,5:]", "output.weight[0:1024,5:256]");
  assert_formats (model, "stored:output.weight[:2,0:1]", "stored:output.weight[0:2,0:1]");
}

/* The exact whole name wins over taking its end for brackets; ordinals tell equal names apart. */
static TmModel *
make_tricky (void)
{
  TmModel *model = tm_fake_model_new ("tricky");
  const char *const names[]
      = { "w",        "w[0]", "w[0][0]", "w[0:1]",   "w#1",      "w#2",  "w",       "w",       "",        "a,b",
          "a,b[1,2]", "m",    "m.x",     "stored:w", "module:m", "m.y.", ".",       "blk.0.w", "blk.1.w", "blk.0-1",
          "]",        "[",    "[]",      "w[]",      "0",        "w[1",  "\xff[0]", "ä[ö]",    "#1",      "#" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    tm_fake_model_add_shape (model, names[i], TM_DTYPE_F32, 5);
  tm_fake_model_add (model, "scalar", TM_DTYPE_F32, 0, NULL);
  tm_fake_model_add_shape (model, "cube", TM_DTYPE_F32, 2, 3, 4);
  tm_fake_model_add_shape (model, "empty", TM_DTYPE_F32, 0, 4);
  return tm_fake_model_finish (model);
}

static void
test_tricky (void)
{
  g_autoptr (TmModel) model = make_tricky ();
  g_auto (TmAddress) address = TM_ADDRESS_INIT;

  g_assert_true (tm_address_parse (model, "w[0]", &address, NULL));
  g_assert_cmpint (address.within, ==, TM_WITHIN_WHOLE);
  g_assert_cmpstr (tm_model_tensor (model, address.tensor)->name, ==, "w[0]");
  g_assert_true (tm_address_parse (model, "w[3]", &address, NULL));
  g_assert_cmpint (address.within, ==, TM_WITHIN_INDEX);
  g_assert_cmpuint (address.tensor, ==, 0);
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "w[0][3]", &address, NULL));
  g_assert_cmpstr (tm_model_tensor (model, address.tensor)->name, ==, "w[0]");
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "w#3[2]", &address, NULL));
  g_assert_cmpuint (address.tensor, ==, 7);
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "w#1", &address, NULL));
  g_assert_cmpstr (tm_model_tensor (model, address.tensor)->name, ==, "w#1");
  g_assert_true (tm_address_parse (model, "scalar[]", &address, NULL));
  g_assert_cmpint (address.within, ==, TM_WITHIN_INDEX);
  g_assert_cmpuint (address.rank, ==, 0);
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "cube[1,:,2:4]", &address, NULL));
  g_assert_cmpint (address.within, ==, TM_WITHIN_REGION);
  g_assert_cmpuint (address.end[0], ==, 2);
  tm_address_clear (&address);
  g_assert_true (tm_address_parse (model, "empty[:,1:2]", &address, NULL));
  tm_address_clear (&address);
  assert_refuses (model, "scalar[0]", "without axes");
  assert_refuses (model, "scalar[:]", "without axes");
  assert_refuses (model, "empty[0,0]", "axis 0 is empty");
  assert_parses (model, "w[]", TM_ADDRESS_TENSOR, TM_WITHIN_WHOLE); /* a name */
}

static void
check_all_back (TmModel *model)
{
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      TmAddress address = { .kind = TM_ADDRESS_TENSOR, .tensor = i, .rank = tensor->rank };
      guint64 start[4] = { 0 }, end[4] = { 0 };

      assert_back (model, &address);
      for (guint axis = 0; axis < tensor->rank; axis++)
        {
          start[axis] = tensor->shape[axis] > 1 ? axis : 0;
          end[axis] = start[axis] + 1;
        }
      address.start = start;
      address.end = end;
      address.within = TM_WITHIN_INDEX;
      if (tensor->n_elements > 0)
        assert_back (model, &address);
      address.within = TM_WITHIN_REGION;
      for (guint axis = 0; axis < tensor->rank; axis++)
        end[axis] = tensor->shape[axis];
      if (tensor->n_elements > 0 && tensor->rank > 0)
        assert_back (model, &address);
    }
  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmAddress address = { .kind = TM_ADDRESS_STORED, .tensor = i };
      if (strcmp (tm_model_stored (model, i)->name, "w") != 0 || tm_model_stored (model, i)->ordinal != 1)
        assert_back (model, &address);
    }
}

static void
check_modules_back (TmModel *model)
{
  g_autoptr (GPtrArray) left = g_ptr_array_new ();

  g_ptr_array_add (left, model->root);
  while (left->len > 0)
    {
      TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);
      const TmAddress address = { .kind = module == model->root ? TM_ADDRESS_MODEL : TM_ADDRESS_MODULE,
                                  .module = module == model->root ? NULL : module };

      assert_back (model, &address);
      for (guint i = 0; i < module->folds->len; i++)
        {
          const TmAddress fold = { .kind = TM_ADDRESS_FOLD, .module = module, .fold = i };
          assert_back (model, &fold);
        }
      for (guint i = 0; i < module->children->len; i++)
        g_ptr_array_add (left, g_ptr_array_index (module->children, i));
    }
}

static void
test_round_trip (void)
{
  g_autoptr (TmModel) tricky = make_tricky ();
  g_autoptr (TmModel) llama = tm_fake_model_new_llama (5, TRUE);

  check_all_back (tricky);
  check_modules_back (tricky);
  check_all_back (llama);
  check_modules_back (llama);
}

static void
test_copy (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (3, FALSE);
  g_auto (TmAddress) a = TM_ADDRESS_INIT;
  g_auto (TmAddress) b = TM_ADDRESS_INIT;

  g_assert_true (tm_address_parse (model, "output.weight[3,4]", &a, NULL));
  tm_address_copy (&a, &b);
  g_assert_true (tm_address_equal (&a, &b));
  b.start[1] = 5;
  g_assert_false (tm_address_equal (&a, &b));
  b.start[1] = 4;
  b.within = TM_WITHIN_REGION;
  g_assert_false (tm_address_equal (&a, &b));
  tm_address_clear (&b);
  g_assert_cmpint (b.kind, ==, TM_ADDRESS_MODEL);
  g_assert_false (tm_address_equal (&a, &b));
}

static void
test_index (void)
{
  const guint64 shape[3] = { 4, 1, G_MAXUINT64 };
  guint64 index[3], start[3], end[3];

  g_assert_true (tm_index_parse ("3,0,18446744073709551614", 3, shape, index, NULL));
  g_assert_cmpuint (index[2], ==, G_MAXUINT64 - 1);
  g_assert_false (tm_index_parse ("3,0", 3, shape, index, NULL));
  g_assert_true (tm_index_parse ("", 0, NULL, index, NULL));
  g_assert_false (tm_index_parse ("0", 0, NULL, index, NULL));
  g_assert_true (tm_region_parse (":,:,18446744073709551614:", 3, shape, start, end, NULL));
  g_assert_cmpuint (end[2], ==, G_MAXUINT64);
  g_assert_true (tm_region_parse ("1:3,0,7:9", 3, shape, start, end, NULL));
  g_assert_cmpuint (start[0], ==, 1);
  g_assert_cmpuint (end[1], ==, 1);
  g_assert_false (tm_region_parse (":,:,18446744073709551615", 3, shape, start, end, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/address/kinds", test_kinds);
  g_test_add_func ("/address/refusals", test_refusals);
  g_test_add_func ("/address/formats", test_formats);
  g_test_add_func ("/address/tricky", test_tricky);
  g_test_add_func ("/address/round-trip", test_round_trip);
  g_test_add_func ("/address/copy", test_copy);
  g_test_add_func ("/address/index", test_index);
  return g_test_run ();
}
