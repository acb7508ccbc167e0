#include "recognise/convention.h"

#include <stdarg.h>
#include <string.h>

#include "model/name-table.h"
#include "quant/codecs.h"
#include "recognise/leftovers.h"

struct _TmFolding
{
  TmModel *model;
  const TmConfig *config;
  TmModuleSettings *settings; /* made when first asked for */
  const TmAssume *assume;
  TmNameTable *by_name; /* of the stored tensors; made when first asked for */
  guint8 *taken;       /* a stored tensor: 1 when it is an operand of a folded one */
  TmTensor **lead;     /* a stored tensor: the logical one whose first operand it is */
};

/* --- Bundles -------------------------------------------------------------------------------------------------------- */

/* What conventions' suffixes end in: by their last byte, longest first. */
typedef struct
{
  const char *suffix;
  gsize length;
  guint next; /* + 1, of the same last byte; 0: none */
} Ending;

typedef struct
{
  GArray *endings;
  guint first[256]; /* + 1 */
} Endings;

static int
compare_endings (const void *a, const void *b)
{
  const Ending *x = a, *y = b;
  return x->length != y->length ? (x->length < y->length ? -1 : 1) : strcmp (x->suffix, y->suffix);
}

static void
collect_endings (Endings *endings)
{
  *endings = (Endings) { .endings = g_array_new (FALSE, FALSE, sizeof (Ending)) };
  for (guint c = 0; tm_conventions[c] != NULL; c++)
    for (guint s = 0; tm_conventions[c]->suffixes[s] != NULL; s++)
      {
        const Ending ending = { tm_conventions[c]->suffixes[s], strlen (tm_conventions[c]->suffixes[s]), 0 };
        g_array_append_val (endings->endings, ending);
      }
  g_array_sort (endings->endings, compare_endings);
  for (guint i = 0; i < endings->endings->len; i++)
    {
      Ending *ending = &g_array_index (endings->endings, Ending, i);
      if (i > 0 && strcmp (ending->suffix, ending[-1].suffix) == 0)
        continue;
      guint *first = &endings->first[(guint8) ending->suffix[ending->length - 1]];
      ending->next = *first;
      *first = i + 1;
    }
}

/* The longest known suffix of a name. A name that is a suffix without its dot ("weight") has the empty prefix. */
static const char *
find_suffix (const Endings *endings, const char *name, gsize length, gsize *prefix_length)
{
  const char *bare = NULL;
  if (length == 0)
    return NULL;
  for (guint i = endings->first[(guint8) name[length - 1]]; i != 0;)
    {
      const Ending *ending = &g_array_index (endings->endings, Ending, i - 1);
      if (length > ending->length && memcmp (name + length - ending->length, ending->suffix, ending->length) == 0)
        {
          *prefix_length = length - ending->length;
          return ending->suffix;
        }
      if (length + 1 == ending->length && ending->suffix[0] == '.' && memcmp (name, ending->suffix + 1, length) == 0)
        bare = ending->suffix;
      i = ending->next;
    }
  *prefix_length = 0;
  return bare;
}

static void
bundle_free (TmBundle *bundle)
{
  g_array_unref (bundle->parts);
  g_free (bundle);
}

static void
add_part (TmBundle *bundle, const char *suffix, guint stored)
{
  const TmPart part = { suffix, stored };
  for (guint p = 0; p < bundle->parts->len; p++)
    if (g_array_index (bundle->parts, TmPart, p).suffix == suffix)
      return;
  g_array_append_val (bundle->parts, part);
}

/* A weight without companions is nobody's: every claim asks for one. Words of one are a quantized weight's all the same. */
static gboolean
is_alone (const char *suffix, const TmStored *stored)
{
  return strcmp (suffix, ".weight") == 0 && stored->dtype != TM_DTYPE_U32;
}

/* In order of the first part. A name that stands twice is in the bundle once, with its first place. */
static GPtrArray *
collect_bundles (TmModel *model)
{
  Endings endings;
  g_autoptr (TmNameTable) by_prefix = NULL;
  g_autofree const char **suffixes = g_new (const char *, MAX (model->stored->len, 1));
  gboolean any = FALSE;
  gsize length = 0;
  GPtrArray *bundles = g_ptr_array_new_with_free_func ((GDestroyNotify) bundle_free);

  collect_endings (&endings);
  for (guint i = 0; i < model->stored->len; i++)
    {
      const char *name = tm_model_stored (model, i)->name;
      suffixes[i] = find_suffix (&endings, name, strlen (name), &length);
      any = any || (suffixes[i] != NULL && !is_alone (suffixes[i], tm_model_stored (model, i)));
    }
  g_array_unref (endings.endings);
  by_prefix = tm_name_table_new (any ? model->stored->len / 2 : 0);
  for (guint i = 0; any && i < model->stored->len; i++)
    if (suffixes[i] != NULL)
      {
        const char *name = tm_model_stored (model, i)->name;
        const gsize all = strlen (name), own = strlen (suffixes[i]);
        length = all > own ? all - own : 0;
        const guint known = tm_name_table_add (by_prefix, name, length, bundles->len);
        if (known == TM_NO_NUMBER)
          {
            TmBundle *bundle = g_malloc (sizeof *bundle + length + 1);
            memcpy (bundle->prefix, name, length);
            bundle->prefix[length] = '\0';
            bundle->parts = g_array_new (FALSE, FALSE, sizeof (TmPart));
            g_ptr_array_add (bundles, bundle);
          }
        add_part (g_ptr_array_index (bundles, known != TM_NO_NUMBER ? known : bundles->len - 1), suffixes[i], i);
      }
  return bundles;
}

/* --- What a claim asks ---------------------------------------------------------------------------------------------- */

const TmStored *
tm_bundle_get (const TmFolding *folding, const TmBundle *bundle, const char *suffix)
{
  for (guint p = 0; p < bundle->parts->len; p++)
    {
      const TmPart *part = &g_array_index (bundle->parts, TmPart, p);
      if (strcmp (part->suffix, suffix) == 0)
        return tm_model_stored (folding->model, part->stored);
    }
  return NULL;
}

const TmStored *
tm_folding_find_stored (TmFolding *folding, const char *name)
{
  if (folding->by_name == NULL)
    {
      folding->by_name = tm_name_table_new (folding->model->stored->len);
      for (guint i = 0; i < folding->model->stored->len; i++) /* the first of a name stays */
        {
          const char *own = tm_model_stored (folding->model, i)->name;
          tm_name_table_add (folding->by_name, own, strlen (own), i);
        }
    }
  const guint found = tm_name_table_find (folding->by_name, name, strlen (name));
  return found != TM_NO_NUMBER ? tm_model_stored (folding->model, found) : NULL;
}

TmModel *
tm_folding_get_model (const TmFolding *folding)
{
  return folding->model;
}

const TmConfig *
tm_folding_get_config (const TmFolding *folding)
{
  return folding->config;
}

TmModuleSettings *
tm_folding_get_settings (TmFolding *folding)
{
  if (folding->settings == NULL)
    folding->settings = tm_module_settings_new (folding->config);
  return folding->settings;
}

const char *
tm_folding_get_choice (const TmFolding *folding, const char *tensor, const char *key)
{
  return tm_assume_get (folding->assume, tensor, key);
}

/* --- What a claim says ---------------------------------------------------------------------------------------------- */

TmTensor *
tm_folding_begin (TmFolding *folding, const TmConvention *convention, char *name, TmDtype code, guint rank,
                  const guint64 *shape)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);
  tensor->name = name;
  tensor->dtype = code;
  tensor->dtype_label = tm_dtype_get_name (code);
  tensor->quantized = TRUE;
  tensor->scheme = convention->scheme;
  tensor->symmetric = -1;
  tensor->rank = rank;
  tensor->shape = g_memdup2 (shape, sizeof (guint64) * MAX (rank, 1));
  tensor->stride = g_new0 (gint64, MAX (rank, 1));
  guint64 n = 1;
  for (guint a = rank; a > 0; a--)
    {
      tensor->stride[a - 1] = (gint64) n;
      if (__builtin_mul_overflow (n, shape[a - 1], &n) || n > G_MAXINT64)
        {
          tm_tensor_free (tensor);
          return NULL;
        }
    }
  tensor->n_elements = n;
  return tensor;
}

void
tm_folding_add (TmFolding *folding, TmTensor *tensor, TmOperandRole role, const TmStored *stored)
{
  if (stored == NULL)
    return;
  tm_tensor_add_operand (tensor, role, stored->index);
  if (tensor->n_operands == 1)
    tensor->values = stored;
  tensor->bytes += stored->bytes; /* ranges of files: their sum fits */
}

static void
assumption_free (TmAssumption *assumption)
{
  g_free (assumption->tensor);
  g_free (assumption->key);
  g_free (assumption->value);
  g_free (assumption->alternatives);
  g_free (assumption->evidence);
  g_free (assumption);
}

void
tm_folding_assume (TmFolding *folding, const TmTensor *tensor, const char *key, const char *value,
                   const char *alternatives, const char *evidence, ...)
{
  TmAssumption *assumption = g_new0 (TmAssumption, 1);
  va_list args;
  assumption->tensor = g_strdup (tensor->name);
  assumption->key = g_strdup (key);
  assumption->value = g_strdup (value);
  assumption->alternatives = g_strdup (alternatives);
  va_start (args, evidence);
  assumption->evidence = g_strdup_vprintf (evidence, args);
  va_end (args);
  g_ptr_array_add (folding->model->assumptions, assumption);
}

void
tm_folding_warn (TmFolding *folding, const TmTensor *tensor, TmSeverity severity, const char *code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  const TmStored *at = tensor->values;
  tm_model_add_problem (folding->model, severity, code, at != NULL ? at->source : NULL, at != NULL ? at->offset : TM_NO_OFFSET,
                        tensor->name, "%s: %s", tensor->name, message);
}

TmClaim
tm_folding_commit (TmFolding *folding, TmTensor *tensor)
{
  for (guint o = 0; o < tensor->n_operands; o++)
    {
      const TmStored *stored = tm_model_stored (folding->model, tensor->operand[o].stored);
      folding->taken[tensor->operand[o].stored] = 1;
      /* What is wrong with a piece is wrong with the weight: listed, and its values refused in the same words. */
      if (stored->fault != NULL && tensor->operand[o].role != TM_ROLE_OTHER && tensor->fault == NULL)
        tensor->fault = g_strdup (stored->fault);
    }
  folding->lead[tensor->operand[0].stored] = tensor;
  return TM_CLAIM_FOLDED;
}

TmClaim
tm_folding_refuse (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, const char *code,
                   const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  const TmStored *at = tm_model_stored (folding->model, g_array_index (bundle->parts, TmPart, 0).stored);
  for (guint p = 0; p < bundle->parts->len; p++)
    { /* a piece whose file is not there has no shape that could be right: its absence is what is wrong */
      const TmStored *piece = tm_model_stored (folding->model, g_array_index (bundle->parts, TmPart, p).stored);
      if (piece->source == NULL)
        {
          g_free (message);
          message = g_strdup_printf ("its %s is not there: %s", piece->name,
                                     piece->fault != NULL ? piece->fault : "no file holds it");
          code = "missing-piece";
          break;
        }
    }
  tm_model_add_problem (folding->model, TM_SEVERITY_ERROR, code, at->source, at->offset, at->name,
                        "%s looks like %s, but %s; its pieces are shown as they are stored",
                        bundle->prefix[0] != '\0' ? bundle->prefix : at->name, convention->scheme, message);
  return TM_CLAIM_BROKEN;
}

/* --- The step ------------------------------------------------------------------------------------------------------- */

static TmTensor *
plain_tensor_new (const TmStored *stored, guint index)
{
  TmTensor *tensor = g_new0 (TmTensor, 1);
  tensor->shares_stored = TRUE;
  tensor->name = stored->name;
  tensor->dtype = stored->dtype;
  tensor->symmetric = -1;
  tensor->rank = stored->rank;
  tensor->shape = stored->shape;
  tensor->stride = stored->stride;
  tensor->n_elements = stored->n_elements;
  tensor->bytes = stored->bytes;
  tm_tensor_add_operand (tensor, TM_ROLE_VALUES, index);
  tensor->values = stored;
  tm_codec_attach_simple (tensor);
  if (stored->fault != NULL)
    { /* what the header says of it stays visible; values cannot be had, or only those that are there */
      g_free (tensor->fault);
      tensor->fault = g_strdup (stored->fault);
      if (tensor->available == 0)
        tensor->codec = NULL;
    }
  tensor->dtype_label = stored->type_label != NULL ? stored->type_label : tm_dtype_get_name (tensor->dtype);
  return tensor;
}

void
tm_fold (TmModel *model, const TmConfig *config, const TmAssume *assume)
{
  guint n = model->stored->len;
  g_autofree guint8 *taken = g_new0 (guint8, MAX (n, 1));
  g_autofree TmTensor **lead = g_new0 (TmTensor *, MAX (n, 1));
  g_autoptr (TmConfig) empty = config == NULL ? tm_config_load (NULL, NULL) : NULL;
  TmFolding folding = { .model = model, .config = config != NULL ? config : empty, .assume = assume, .taken = taken, .lead = lead };

  g_ptr_array_set_free_func (model->assumptions, (GDestroyNotify) assumption_free);
  for (guint i = 0; i < n; i++)
    tm_model_stored (model, i)->index = i;

  g_autoptr (GPtrArray) bundles = collect_bundles (model);
  for (guint b = 0; b < bundles->len; b++)
    {
      const TmBundle *bundle = g_ptr_array_index (bundles, b);
      TmClaim claim = TM_CLAIM_NO;
      if (bundle->parts->len == 1 && is_alone (g_array_index (bundle->parts, TmPart, 0).suffix,
                       tm_model_stored (model, g_array_index (bundle->parts, TmPart, 0).stored)))
        continue;
      for (guint c = 0; tm_conventions[c] != NULL && claim == TM_CLAIM_NO; c++)
        claim = tm_conventions[c]->claim (&folding, bundle);
      if (claim == TM_CLAIM_NO)
        tm_report_leftovers (&folding, bundle);
    }

  for (guint i = 0; i < n; i++)
    {
      if (lead[i] != NULL)
        g_ptr_array_add (model->tensors, lead[i]);
      else if (!taken[i])
        g_ptr_array_add (model->tensors, plain_tensor_new (tm_model_stored (model, i), i));
    }
  g_clear_pointer (&folding.by_name, tm_name_table_free);
  g_clear_pointer (&folding.settings, tm_module_settings_free);
}
