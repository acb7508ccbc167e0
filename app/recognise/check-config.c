#include "recognise/check-config.h"

#include <string.h>

#include "io/number.h"
#include "recognise/module-settings.h"

typedef struct
{
  TmModel *model;
  const TmConfig *config;
  TmModuleSettings *settings;
  GHashTable *faulty; /* names of tensors with an error; they belong to the problems */
} Check;

/* --- The convention -------------------------------------------------------------------------------------------------- */

/* What tensors of a quant_method are called here. Methods whose tensors may be anyone's are not among them. */
static const struct
{
  const char *method;
  const char *schemes[4];
} methods[] = {
  { "gptq", { "gptq" } },
  { "awq", { "awq" } },
  { "auto-round", { "gptq", "awq" } },
  { "bitsandbytes", { "bitsandbytes" } },
  { "fp8", { "fp8", "mxfp4" } },
  { "fbgemm_fp8", { "fp8" } },
  { "compressed-tensors", { "compressed-tensors" } },
  { "modelopt", { "modelopt", "fp8" } },
  { "mxfp4", { "mxfp4" } },
  { "hqq", { "hqq" } },
  { "quanto", { "quanto" } },
  { "torchao", { "torchao" } },
  { "aqlm", { "aqlm" } },
  { "exl2", { "exl2" } },
};

static void
check_method (const Check *check)
{
  const char *method = tm_config_get_quantization (check->config, "quant_method");
  const char *const *schemes = NULL;
  const TmTensor *first = NULL;
  guint n = 0;

  for (guint i = 0; method != NULL && i < G_N_ELEMENTS (methods); i++)
    if (strcmp (method, methods[i].method) == 0)
      schemes = methods[i].schemes;
  if (method == NULL)
    return;
  for (guint i = 0; i < check->model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (check->model, i);

      if (!tensor->quantized)
        continue;
      if (schemes == NULL)
        return; /* its tensors may be anyone's */
      for (guint s = 0; s < 4 && schemes[s] != NULL; s++)
        if (strcmp (tensor->scheme, schemes[s]) == 0)
          return; /* mixed files are usual */
      first = first ? first : tensor;
      n++;
    }
  if (first == NULL)
    { /* a note or an error about its pieces says more */
      for (guint i = 0; i < check->model->problems->len; i++)
        {
          const TmProblem *problem = g_ptr_array_index (check->model->problems, i);

          if (problem->severity == TM_SEVERITY_ERROR || strcmp (problem->code, "values-not-defined") == 0)
            return;
        }
      if (check->model->tensors->len > 0)
        tm_model_add_problem (check->model, TM_SEVERITY_WARNING, "config-conflict", NULL, TM_NO_OFFSET, NULL,
                              "%s says quant_method %s, but no tensor is quantized that way",
                              tm_config_get_quantization_file (check->config), method);
      return;
    }
  tm_model_add_problem (check->model, TM_SEVERITY_WARNING, "config-conflict", first->values->source,
                        first->values->offset, first->name,
                        "%s says quant_method %s, but %s and %u more are stored as %s has it; the tensors win",
                        tm_config_get_quantization_file (check->config), method, first->name, n - 1, first->scheme);
  for (guint i = 0; i < check->model->tensors->len; i++)
    {
      TmTensor *tensor = tm_model_tensor (check->model, i);

      tensor->config_conflict = tensor->config_conflict || tensor->quantized;
    }
}

/* Looked up once: there may be as many problems as tensors. */
static void
find_faulty (Check *check)
{
  check->faulty = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < check->model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (check->model->problems, i);

      if (problem->severity == TM_SEVERITY_ERROR && problem->tensor != NULL)
        g_hash_table_add (check->faulty, problem->tensor);
    }
}

/* Float8 weights are only codes where the config speaks of scales. */
static void
check_scales (Check *check)
{
  static const char *const scaled[] = { "fp8", "fbgemm_fp8", "compressed-tensors", "modelopt", NULL };
  const char *method = tm_config_get_quantization (check->config, "quant_method");

  if (method == NULL || !g_strv_contains (scaled, method))
    return;
  find_faulty (check);
  for (guint i = 0; i < check->model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (check->model, i);

      if (tensor->quantized || tensor->config_excludes || tensor->rank < 2
          || tm_dtype_get_info (tensor->dtype)->family != TM_FAMILY_FLOAT8 || tensor->dtype == TM_DTYPE_F8_E8M0
          || g_hash_table_contains (check->faulty, tensor->name))
        continue;
      tm_model_add_problem (check->model, TM_SEVERITY_ERROR, "missing-companion", tensor->values->source,
                            tensor->values->offset, tensor->name,
                            "%s is %s without a scale that goes with it, though %s says quant_method %s; its codes are "
                            "shown as they are",
                            tensor->name, tensor->dtype_label, tm_config_get_quantization_file (check->config), method);
    }
}

/* --- Bits and groups ------------------------------------------------------------------------------------------------- */

static const TmStored *
find_operand (const Check *check, const TmTensor *tensor, TmOperandRole role)
{
  for (guint o = 0; o < tensor->n_operands; o++)
    if (tensor->operand[o].role == role)
      return tm_model_stored (check->model, tensor->operand[o].stored);
  return NULL;
}

static char *
differ (const char *what, const char *stated, guint64 found)
{
  guint64 number;

  if (stated == NULL || !tm_parse_u64 (stated, -1, &number) || number == found)
    return NULL;
  return g_strdup_printf ("%s %s, the tensors have %" G_GUINT64_FORMAT, what, stated, found);
}

static gboolean
is_true (const Check *check, const char *member)
{
  return g_strcmp0 (tm_config_get_quantization (check->config, member), "true") == 0;
}

static char *
check_bitsandbytes (const Check *check, const TmTensor *tensor)
{
  const gboolean bytes = tensor->code_bits == 8;
  const char *type = tm_config_get_quantization (check->config, "bnb_4bit_quant_type");
  const char *nested = tm_config_get_quantization (check->config, "bnb_4bit_use_double_quant");

  if (is_true (check, bytes ? "load_in_4bit" : "load_in_8bit")
      && !is_true (check, bytes ? "load_in_8bit" : "load_in_4bit"))
    return g_strdup_printf ("%s bits, the tensors have %u", bytes ? "4" : "8", tensor->code_bits);
  if (bytes)
    return NULL;
  if (type && g_ascii_strcasecmp (type, tensor->dtype_label) != 0)
    return g_strdup_printf ("%s, the tensors are %s", type, tensor->dtype_label);
  if (nested && (strcmp (nested, "true") == 0) != (find_operand (check, tensor, TM_ROLE_GLOBAL_SCALE) != NULL))
    return g_strdup_printf ("bnb_4bit_use_double_quant %s, and absmax is %s", nested,
                            strcmp (nested, "true") == 0 ? "not nested" : "nested");
  return NULL;
}

static char *
check_hqq (const Check *check, const TmTensor *tensor)
{
  static const char prefix[] = "quant_config.weight_quant_params.";
  g_autofree char *bits = g_strconcat (prefix, "nbits", NULL), *group = g_strconcat (prefix, "group_size", NULL);
  const TmStored *scale = find_operand (check, tensor, TM_ROLE_SCALE);
  char *why = differ ("bits", tm_config_get_quantization (check->config, bits), tensor->code_bits);

  if (why == NULL && scale != NULL && scale->n_elements > 0)
    why = differ ("groups of", tm_config_get_quantization (check->config, group), tensor->n_elements / scale->n_elements);
  return why;
}

static char *
check_quanto (const Check *check, const TmTensor *tensor)
{
  const char *type = tm_config_get_quantization (check->config, "weights");

  if (type == NULL)
    return NULL;
  if (g_str_has_suffix (type, "int4") || g_str_has_suffix (type, "int2") || g_str_has_suffix (type, "int8"))
    return differ ("weights of bits", type + strlen (type) - 1, tensor->code_bits);
  return NULL;
}

static char *
check_aqlm (const Check *check, const TmTensor *tensor)
{
  const TmStored *books = find_operand (check, tensor, TM_ROLE_CODEBOOK);
  static const char *const members[] = { "num_codebooks", NULL, "out_group_size", "in_group_size" };
  char *why = NULL;

  for (guint axis = 0; books != NULL && books->rank == 4 && axis < 4 && why == NULL; axis++)
    if (members[axis] != NULL)
      why = differ (members[axis], tm_config_get_quantization (check->config, members[axis]), books->shape[axis]);
  return why;
}

static char *
check_modelopt (const Check *check, const TmTensor *tensor)
{
  static const struct
  {
    const char *algorithm, *dtype;
  } known[] = { { "NVFP4", "F4" },        { "NVFP4_AWQ", "F4" },           { "FP8", "F8_E4M3" },
                { "W4A16_AWQ", "I4" },    { "FP8_PER_CHANNEL_PER_TOKEN", "F8_E4M3" },
                { "INT4_AWQ", "I4" },     { "W8A8_SQ_PER_CHANNEL", "I8" }, { "W8A16", "I8" } };
  const char *algorithm = tm_config_get_quantization (check->config, "quant_algo");

  for (guint i = 0; algorithm != NULL && i < G_N_ELEMENTS (known); i++)
    if (strcmp (algorithm, known[i].algorithm) == 0 && strcmp (tensor->dtype_label, known[i].dtype) != 0)
      return g_strdup_printf ("quant_algo %s, the tensors are %s", algorithm, tensor->dtype_label);
  return NULL;
}

/* The modes without biases; affine weights are checked where their bits are decided. */
static char *
check_mlx (const Check *check, const TmTensor *tensor)
{
  g_autofree char *own_bits = g_strconcat (tensor->module, ".bits", NULL),
                  *own_group = g_strconcat (tensor->module, ".group_size", NULL);
  const char *bits = tm_config_get_quantization (check->config, own_bits);
  const char *group = tm_config_get_quantization (check->config, own_group);
  char *why;

  if (find_operand (check, tensor, TM_ROLE_OFFSET) != NULL)
    return NULL;
  why = differ ("bits", bits ? bits : tm_config_get_quantization (check->config, "bits"), tensor->code_bits);
  if (why == NULL && tensor->group_size > 0)
    why = differ ("groups of", group ? group : tm_config_get_quantization (check->config, "group_size"),
                  tensor->group_size);
  return why;
}

static char *
check_compressed (const Check *check, const TmTensor *tensor)
{
  return differ ("bits", tm_module_settings_get_weights (check->settings, tensor->module, "num_bits"),
                 tensor->code_bits);
}

static const struct
{
  const char *scheme;
  char *(*check) (const Check *check, const TmTensor *tensor);
} checks[] = {
  { "bitsandbytes", check_bitsandbytes }, { "hqq", check_hqq }, { "quanto", check_quanto },
  { "aqlm", check_aqlm },                 { "mlx", check_mlx }, { "compressed-tensors", check_compressed },
  { "modelopt", check_modelopt },
};

/* Without a config it may be meant so: one note for all. */
static void
note_float8 (Check *check)
{
  TmModel *model = check->model;
  const TmTensor *first = NULL;
  guint n = 0;

  find_faulty (check);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);

      if (tensor->quantized || tensor->rank < 2 || !g_str_has_suffix (tensor->name, ".weight")
          || tm_dtype_get_info (tensor->dtype)->family != TM_FAMILY_FLOAT8 || tensor->dtype == TM_DTYPE_F8_E8M0
          || g_hash_table_contains (check->faulty, tensor->name))
        continue;
      first = first ? first : tensor;
      n++;
    }
  if (n > 0)
    tm_model_add_problem (model, TM_SEVERITY_NOTE, "float8-without-scale", first->values->source, first->values->offset,
                          first->name, "%s%s no scale beside %s: values are those of the codes alone", first->name,
                          n > 1 ? " and other float8 weights have" : " is float8 and has", n > 1 ? "them" : "it");
}

void
tm_check_config (TmModel *model, const TmConfig *config)
{
  g_autoptr (TmModuleSettings) settings = NULL;
  Check check = { .model = model, .config = config };

  if (!tm_config_has_quantization (config))
    {
      if (g_strcmp0 (model->format, "safetensors") == 0)
        note_float8 (&check);
      g_clear_pointer (&check.faulty, g_hash_table_unref);
      return;
    }
  settings = check.settings = tm_module_settings_new (config);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      TmTensor *tensor = tm_model_tensor (model, i);

      for (guint c = 0; tensor->quantized && !tensor->config_conflict && tensor->module && c < G_N_ELEMENTS (checks); c++)
        if (strcmp (tensor->scheme, checks[c].scheme) == 0)
          {
            g_autofree char *why = checks[c].check (&check, tensor);

            if (why == NULL)
              continue;
            tensor->config_conflict = TRUE;
            tm_model_add_problem (model, TM_SEVERITY_WARNING, "config-conflict", tensor->values->source,
                                  tensor->values->offset, tensor->name, "%s: %s says %s", tensor->name,
                                  tm_config_get_quantization_file (config), why);
          }
    }
  check_scales (&check);
  check_method (&check);
  g_clear_pointer (&check.faulty, g_hash_table_unref);
}
