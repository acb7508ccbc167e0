/* A model: what one opened file, shard set or folder holds. Filled by formats (files, stored tensors, metadata,
 * problems) and recognise (logical tensors, module tree), then immutable; any thread may read it and hold a reference. */
#pragma once

#include <gio/gio.h>

#include "model/metadata.h"
#include "model/module.h"
#include "model/problem.h"
#include "model/tensor.h"

G_BEGIN_DECLS

/* A reading that the file leaves open, how it was decided, and on what evidence. A person can decide otherwise
 * (recognise/assume.h). */
typedef struct
{
  char *tensor;       /* logical name */
  char *key, *value;  /* "gptq-zeros", "v1" */
  char *alternatives; /* "v1|v2" */
  char *evidence;     /* one line */
} TmAssumption;

#define TM_TYPE_MODEL (tm_model_get_type ())
G_DECLARE_FINAL_TYPE (TmModel, tm_model, TM, MODEL, GObject)

struct _TmModel
{
  GObject parent_instance;

  char *path;          /* what the person opened */
  char *title;         /* its last component, for the window's title */
  char *format;        /* "GGUF", "safetensors" */
  char *version;       /* "3"; NULL where the format has none */
  char *byte_order;    /* "little", "big" */
  char *architecture;  /* "llama", or NULL */
  char *name;          /* general.name, or NULL */
  GPtrArray *files;    /* TmSource *, in order; missing ones are not here */
  GPtrArray *stored;   /* TmStored *, file order */
  GPtrArray *tensors;  /* TmTensor *, file order */
  GPtrArray *metadata; /* TmMetadata * */
  GPtrArray *problems; /* TmProblem * */
  GPtrArray *assumptions; /* TmAssumption * */
  char *quantization_file; /* config file that speaks of quantization ("config.json"), or NULL */
  TmModule *root;      /* the module tree; never NULL once open */
  guint64 parameters;  /* elements of all logical tensors */
  guint64 bytes;       /* bytes of all logical tensors' operands */
  guint n_quantized;
  struct _TmNameTable *by_name; /* logical name → index of the first of that name */
  struct _TmNameTable *by_stored_name; /* may be the same one */
};

TmModel *tm_model_new (const char *path);

#define tm_model_tensor(model, i) ((TmTensor *) g_ptr_array_index ((model)->tensors, (i)))
#define tm_model_stored(model, i) ((TmStored *) g_ptr_array_index ((model)->stored, (i)))

/* printf-like. tensor and source may be NULL; offset may be TM_NO_OFFSET. */
void tm_model_add_problem (TmModel *model, TmSeverity severity, const char *code, TmSource *source, guint64 offset,
                           const char *tensor, const char *format, ...) G_GNUC_PRINTF (7, 8);
guint tm_model_count_problems (TmModel *model, TmSeverity at_least);

/* First metadata entry of a key, or NULL. */
const TmMetadata *tm_model_find_metadata (TmModel *model, const char *key);

/* After formats and recognise have filled the arrays: ordinals of duplicate names, name tables, totals. */
void tm_model_seal (TmModel *model);

/* Lookup by "name" or "name#n" (the exact whole name wins). −1 if there is none. stored: among stored tensors. */
gint64 tm_model_find_tensor (TmModel *model, const char *name);
gint64 tm_model_find_stored (TmModel *model, const char *name);

/* --- Censuses (transfer full), largest first ------------------------------------------------------------------- */
typedef struct { const char *dtype; TmDtype code; guint tensors; guint64 parameters, bytes; } TmDtypeCount;
typedef struct { const TmGranularity *granularity; const char *dtype; guint tensors; } TmGranularityCount;
GArray *tm_model_count_dtypes (TmModel *model);        /* of TmDtypeCount */
GArray *tm_model_count_granularities (TmModel *model); /* of TmGranularityCount; granularity NULL: not quantized */

/* Quantization schemes: one row for all tensors alike in scheme, bits, group and symmetry. */
typedef struct
{
  const char *scheme;     /* "gptq", "ggml" */
  guint bits;             /* of one code */
  guint64 group;          /* elements that share one scale along the row; 0: per channel or per tensor */
  gint symmetric;         /* 1, 0, −1 where it does not apply */
  guint tensors;
  guint64 parameters, bytes;
  guint conflicts;        /* tensors of it that the config file describes otherwise */
} TmSchemeCount;
GArray *tm_model_count_schemes (TmModel *model);

/* "1.10 B parameters · 636 MiB · llama · 4.85 bits/weight" (transfer full) */
char *tm_model_describe (TmModel *model);

G_END_DECLS
