/* Stored tensors → logical tensors where nothing but the names and types says so. */
#include <string.h>

#include "recognise/recognise.h"
#include "support/fake-model.h"

static const TmTensor *
tensor_at (TmModel *model, const char *name)
{
  const gint64 found = tm_model_find_tensor (model, name);

  g_assert_cmpint (found, >=, 0);
  return tm_model_tensor (model, (guint) found);
}

static void
test_one_each (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new_llama (2, TRUE);

  g_assert_cmpuint (model->tensors->len, ==, model->stored->len);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      const TmStored *stored = tm_model_stored (model, i);

      g_assert_cmpstr (tensor->name, ==, stored->name);
      g_assert_true (tensor->values == stored);
      g_assert_cmpuint (tensor->n_operands, ==, 1);
      g_assert_cmpuint (tensor->operand[0].stored, ==, i);
      g_assert_cmpuint (tensor->n_elements, ==, stored->n_elements);
      g_assert_cmpuint (tensor->bytes, ==, stored->bytes);
      g_assert_cmpint (tensor->quantized, ==, stored->dtype != TM_DTYPE_F32);
      g_assert_true ((tensor->granularity != NULL) == tensor->quantized);
      g_assert_nonnull (tensor->codec);
      g_assert_null (tensor->fault);
      g_assert_nonnull (tensor->module);
    }
}

/* What cannot be read stays where it was, with its reason. */
static void
test_fault (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("fault");
  g_autoptr (GError) error = NULL;
  const TmTensor *tensor;
  float value;

  tm_fake_model_add_shape (model, "whole.weight", TM_DTYPE_Q4_K, 2, 256);
  tm_fake_model_add_shape (model, "cut.weight", TM_DTYPE_Q4_K, 2, 256);
  tm_model_stored (model, 1)->fault = g_strdup ("the file ends before its last byte");
  tm_fake_model_finish (model);
  g_assert_cmpuint (model->tensors->len, ==, 2);
  tensor = tensor_at (model, "cut.weight");
  g_assert_cmpstr (tensor->fault, ==, "the file ends before its last byte");
  g_assert_null (tensor->codec);
  g_assert_cmpint (tensor->dtype, ==, TM_DTYPE_Q4_K);
  g_assert_cmpstr (tensor->dtype_label, ==, "Q4_K");
  g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 1, &value, NULL, &error));
  g_assert_nonnull (error);
  g_assert_true (tm_tensor_decode (tensor_at (model, "whole.weight"), TM_QUANTITY_VALUE, 0, 1, &value, NULL, NULL));
}

/* X.scale beside an NVFP4 X.weight is its factor; beside anything else, or of another size, it is a tensor. */
static void
test_companion (void)
{
  g_autoptr (TmModel) model = tm_fake_model_new ("companion");
  const TmTensor *folded;

  tm_fake_model_add_shape (model, "a.weight", TM_DTYPE_NVFP4, 4, 64);
  tm_fake_model_add_shape (model, "a.scale", TM_DTYPE_F32, 1);
  tm_fake_model_add_shape (model, "b.weight", TM_DTYPE_NVFP4, 3, 4, 64);
  tm_fake_model_add_shape (model, "b.scale", TM_DTYPE_F32, 3);
  tm_fake_model_add_shape (model, "c.weight", TM_DTYPE_NVFP4, 4, 64);
  tm_fake_model_add_shape (model, "c.scale", TM_DTYPE_F32, 3);
  tm_fake_model_add_shape (model, "d.weight", TM_DTYPE_F32, 4, 64);
  tm_fake_model_add_shape (model, "d.scale", TM_DTYPE_F32, 1);
  tm_fake_model_add_shape (model, "e.weight", TM_DTYPE_NVFP4, 4, 64);
  tm_fake_model_finish (model);

  g_assert_cmpuint (model->tensors->len, ==, 7);
  g_assert_cmpint (tm_model_find_tensor (model, "a.scale"), ==, -1);
  g_assert_cmpint (tm_model_find_tensor (model, "b.scale"), ==, -1);
  g_assert_cmpint (tm_model_find_tensor (model, "c.scale"), >=, 0);
  g_assert_cmpint (tm_model_find_tensor (model, "d.scale"), >=, 0);
  g_assert_cmpint (tm_model_find_stored (model, "a.scale"), ==, 1);
  folded = tensor_at (model, "a.weight");
  g_assert_cmpuint (folded->n_operands, ==, 2);
  g_assert_cmpint (folded->operand[1].role, ==, TM_ROLE_GLOBAL_SCALE);
  g_assert_cmpuint (folded->operand[1].stored, ==, 1);
  g_assert_cmpuint (folded->bytes, ==, tm_model_stored (model, 0)->bytes + 4);
  g_assert_cmpuint (tensor_at (model, "b.weight")->n_operands, ==, 2);
  g_assert_cmpuint (tensor_at (model, "c.weight")->n_operands, ==, 1);
  g_assert_cmpuint (tensor_at (model, "e.weight")->n_operands, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensors/one-each", test_one_each);
  g_test_add_func ("/tensors/fault", test_fault);
  g_test_add_func ("/tensors/companion", test_companion);
  return g_test_run ();
}
