/* Backend support: what runs the schemes in a model, and how, by a table of facts (data/backends.json) with the day it is of
 * and a source for each row. What the table does not say is unknown. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef enum
{
  TM_SUPPORT_NATIVE,      /* a kernel reads the stored codes */
  TM_SUPPORT_DEQUANTIZED, /* the weights are expanded as a whole, then a float kernel runs */
  TM_SUPPORT_FALLBACK,    /* declined there; the processor runs it */
  TM_SUPPORT_UNSUPPORTED,
  TM_SUPPORT_UNKNOWN,
  TM_N_SUPPORT_STATES
} TmSupportState;

typedef enum
{
  TM_OPERATION_MUL_MAT, TM_OPERATION_MUL_MAT_ID, TM_OPERATION_GET_ROWS, /* ggml's */
  TM_OPERATION_LINEAR, TM_OPERATION_MOE, TM_OPERATION_EMBEDDING, TM_OPERATION_CONV,
} TmOperation;

typedef struct
{
  const char *id; /* "cuda", "vllm-ada" */
  const char *name, *family, *hardware;
} TmBackend;

/* All static. Texts are "" where there is nothing to say; source: "owner/repo:path@commit" or a page, several joined. */
typedef struct
{
  TmSupportState state;
  const char *needs, *note, *source;
} TmSupport;

const char *tm_backends_get_as_of (void);
guint tm_backends_get_n (void);
const TmBackend *tm_backends_get (guint backend);
gint tm_backends_find (const char *id); /* −1 if there is none */
const char *tm_support_state_get_name (TmSupportState state); /* "native" … "fallback" … */

/* What a tensor is looked up as: matrix multiplication, of expert stacks by expert, row look-up for embeddings. */
TmOperation tm_tensor_get_operation (TmModel *model, const TmTensor *tensor);
/* "Q4_K", "gptq"; "unquantized" dtypes by their own name. Static. */
const char *tm_tensor_get_scheme_name (const TmTensor *tensor);
TmSupport tm_tensor_get_support (TmModel *model, const TmTensor *tensor, guint backend);
/* Of every backend; support: tm_backends_get_n () of them. */
void tm_tensor_get_all_support (TmModel *model, const TmTensor *tensor, TmSupport *support);

typedef struct
{
  guint count[TM_N_SUPPORT_STATES]; /* tensors */
  char *needs;                      /* hardware, then what its rows in use ask for */
} TmBackendSummary;

/* Of every backend, tm_backends_get_n () of them. (transfer full) (free with tm_backend_summaries_free) */
TmBackendSummary *tm_backends_summarize (TmModel *model);
void tm_backend_summaries_free (TmBackendSummary *summaries);

G_END_DECLS
