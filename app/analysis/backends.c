#include "analysis/backends.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/backends-table.h"

#define MAX_SCHEMES 2

const char *
tm_backends_get_as_of (void)
{
  return tm_backends_as_of;
}

guint
tm_backends_get_n (void)
{
  return tm_n_backend_rows;
}

const TmBackend *
tm_backends_get (guint backend)
{
  return backend < tm_n_backend_rows ? &tm_backend_rows[backend] : NULL;
}

gint
tm_backends_find (const char *id)
{
  for (guint i = 0; i < tm_n_backend_rows; i++)
    if (strcmp (tm_backend_rows[i].id, id) == 0)
      return (gint) i;
  return -1;
}

const char *
tm_support_state_get_name (TmSupportState state)
{
  static const char *const names[TM_N_SUPPORT_STATES]
      = { "native", "dequantized", "fallback", "unsupported", "unknown" };

  return (guint) state < TM_N_SUPPORT_STATES ? names[state] : "unknown";
}

/* --- What a tensor is looked up as -------------------------------------------------------------------------------- */

static gboolean
is_gguf (TmModel *model)
{
  return g_strcmp0 (model->format, "GGUF") == 0;
}

/* The module's role, or that of the nearest one above it that has any. */
static TmModuleRole
find_role (const TmTensor *tensor)
{
  const TmModule *module = tensor->owner;

  while (module != NULL && module->role == TM_MODULE_OTHER)
    module = module->parent;
  return module != NULL ? module->role : TM_MODULE_OTHER;
}

TmOperation
tm_tensor_get_operation (TmModel *model, const TmTensor *tensor)
{
  TmModuleRole role = find_role (tensor);
  gboolean ggml = is_gguf (model);

  if (role == TM_MODULE_EMBEDDING && tensor->rank == 2)
    return ggml ? TM_OPERATION_GET_ROWS : TM_OPERATION_EMBEDDING;
  if (role == TM_MODULE_EXPERTS)
    return !ggml ? TM_OPERATION_MOE : tensor->rank == 3 ? TM_OPERATION_MUL_MAT_ID : TM_OPERATION_MUL_MAT;
  if (!ggml && tensor->rank >= 4)
    return TM_OPERATION_CONV;
  return ggml ? TM_OPERATION_MUL_MAT : TM_OPERATION_LINEAR;
}

const char *
tm_tensor_get_scheme_name (const TmTensor *tensor)
{
  if (tensor->scheme == NULL || strcmp (tensor->scheme, "ggml") == 0)
    return tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype);
  return tensor->scheme;
}

static gboolean
fits (const TmSupportMatch *match, const TmTensor *tensor)
{
  return strcmp (match->convention, tensor->scheme) == 0
         && (match->dtype == NULL || strcmp (match->dtype, tm_dtype_get_name (tensor->dtype)) == 0)
         && (match->bits == 0 || match->bits == tensor->code_bits)
         && (match->group == 0 || match->group == tensor->group_size);
}

static gint
find_scheme (const char *id)
{
  for (guint i = 0; i < tm_n_support_schemes; i++)
    if (strcmp (tm_support_schemes[i], id) == 0)
      return (gint) i;
  return -1;
}

/* The table's schemes for a tensor: the ggml type itself, and GGUF as such for who takes the file as a whole. */
static void
find_schemes (TmModel *model, const TmTensor *tensor, gint schemes[MAX_SCHEMES])
{
  schemes[0] = schemes[1] = -1;
  if (is_gguf (model))
    {
      g_autofree char *id = g_strconcat ("ggml:", tm_dtype_get_name (tensor->dtype), NULL);

      schemes[0] = find_scheme (id);
      schemes[1] = tensor->quantized ? find_scheme ("gguf") : -1;
      return;
    }
  for (guint i = 0; tensor->scheme != NULL && i < tm_n_support_matches; i++)
    if (fits (&tm_support_matches[i], tensor))
      {
        for (guint k = 0; k < MAX_SCHEMES; k++)
          schemes[k] = tm_support_matches[i].scheme[k];
        return;
      }
}

/* --- Looking up --------------------------------------------------------------------------------------------------- */

static int
compare_rows (const void *a, const void *b)
{
  const TmSupportRow *x = a, *y = b;

  if (x->scheme != y->scheme)
    return x->scheme < y->scheme ? -1 : 1;
  if (x->backend != y->backend)
    return x->backend < y->backend ? -1 : 1;
  return (x->operation > y->operation) - (x->operation < y->operation);
}

static const TmSupportRow *
find_row (gint scheme, guint backend, TmOperation operation)
{
  const TmSupportRow key = { .scheme = (guint8) scheme, .backend = (guint8) backend, .operation = (guint8) operation };

  return scheme < 0 ? NULL : bsearch (&key, tm_support_rows, tm_n_support_rows, sizeof key, compare_rows);
}

/* Who takes GGUF as a whole has no operations of ggml. */
static TmOperation
get_general (TmOperation operation)
{
  switch (operation)
    {
    case TM_OPERATION_MUL_MAT:
      return TM_OPERATION_LINEAR;
    case TM_OPERATION_MUL_MAT_ID:
      return TM_OPERATION_MOE;
    case TM_OPERATION_GET_ROWS:
      return TM_OPERATION_EMBEDDING;
    case TM_OPERATION_LINEAR:
    case TM_OPERATION_MOE:
    case TM_OPERATION_EMBEDDING:
    case TM_OPERATION_CONV:
    default:
      return operation;
    }
}

static TmSupport
look_up (const gint schemes[MAX_SCHEMES], guint backend, TmOperation operation)
{
  const TmSupportRow *row = NULL;

  for (guint i = 0; row == NULL && i < MAX_SCHEMES; i++)
    {
      row = find_row (schemes[i], backend, operation);
      if (row == NULL)
        row = find_row (schemes[i], backend, get_general (operation));
    }
  if (row == NULL)
    return (TmSupport) { TM_SUPPORT_UNKNOWN, "", "", "" };
  return (TmSupport) { (TmSupportState) row->state, tm_support_needs[row->needs], tm_support_notes[row->note],
                       tm_support_sources[row->source] };
}

TmSupport
tm_tensor_get_support (TmModel *model, const TmTensor *tensor, guint backend)
{
  gint schemes[MAX_SCHEMES];

  find_schemes (model, tensor, schemes);
  return look_up (schemes, backend, tm_tensor_get_operation (model, tensor));
}

void
tm_tensor_get_all_support (TmModel *model, const TmTensor *tensor, TmSupport *support)
{
  TmOperation operation = tm_tensor_get_operation (model, tensor);
  gint schemes[MAX_SCHEMES];

  find_schemes (model, tensor, schemes);
  for (guint b = 0; b < tm_n_backend_rows; b++)
    support[b] = look_up (schemes, b, operation);
}

static gboolean
is_looked_up_alike (TmModel *model, const TmTensor *tensor, const gint schemes[MAX_SCHEMES], TmOperation operation)
{
  gint own[MAX_SCHEMES];

  find_schemes (model, tensor, own);
  return memcmp (own, schemes, sizeof own) == 0 && tm_tensor_get_operation (model, tensor) == operation;
}

TmBackendSummary *
tm_backends_summarize (TmModel *model)
{
  TmBackendSummary *summaries = g_new0 (TmBackendSummary, tm_n_backend_rows + 1);
  g_autofree GHashTable **needs = g_new (GHashTable *, tm_n_backend_rows);
  g_autofree GString **texts = g_new (GString *, tm_n_backend_rows);
  g_autofree TmSupport *support = g_new (TmSupport, tm_n_backend_rows);
  guint n_alike = 0;

  for (guint b = 0; b < tm_n_backend_rows; b++)
    {
      needs[b] = g_hash_table_new (NULL, NULL);
      texts[b] = g_string_new (tm_backend_rows[b].hardware);
    }
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);
      const TmOperation operation = tm_tensor_get_operation (model, tensor);
      gint schemes[MAX_SCHEMES];

      find_schemes (model, tensor, schemes);
      n_alike++;
      if (i + 1 < model->tensors->len && is_looked_up_alike (model, tm_model_tensor (model, i + 1), schemes, operation))
        continue; /* mostly whole runs of tensors are alike */
      for (guint b = 0; b < tm_n_backend_rows; b++)
        {
          support[b] = look_up (schemes, b, operation);
          summaries[b].count[support[b].state] += n_alike;
          if (support[b].state <= TM_SUPPORT_DEQUANTIZED && support[b].needs[0] != '\0'
              && strcmp (support[b].needs, "any") != 0 && g_hash_table_add (needs[b], (gpointer) support[b].needs))
            g_string_append_printf (texts[b], "; %s", support[b].needs);
        }
      n_alike = 0;
    }
  for (guint b = 0; b < tm_n_backend_rows; b++)
    {
      g_hash_table_unref (needs[b]);
      summaries[b].needs = g_string_free (texts[b], FALSE);
    }
  return summaries;
}

void
tm_backend_summaries_free (TmBackendSummary *summaries)
{
  if (summaries == NULL)
    return;
  for (guint b = 0; b < tm_n_backend_rows; b++)
    g_free (summaries[b].needs);
  g_free (summaries);
}
