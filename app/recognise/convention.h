/* Conventions: how a quantized weight is spread over several stored tensors. One const row and one small file each.
 *
 * fold.c merges the stored tensors of all shards into bundles (everything that shares a module's prefix and ends in a
 * suffix that some convention knows) and offers each bundle to the conventions in table order. A convention looks at the
 * facts of the tensors (names, dtypes, shapes); config only decides what shapes cannot tell. It checks every shape relation
 * exactly, then either builds the logical tensor or says what is missing or wrong; then the stored tensors stay visible. */
#pragma once

#include "model/model.h"
#include "recognise/assume.h"
#include "recognise/config.h"
#include "recognise/module-settings.h"

G_BEGIN_DECLS

typedef struct
{
  const char *suffix; /* as the conventions' tables have it, separator included: ".qweight", "_blocks" */
  guint stored;       /* index into the model */
} TmPart;

typedef struct
{
  GArray *parts; /* TmPart */
  char prefix[]; /* "model.layers.0.self_attn.q_proj"; may be "" */
} TmBundle;

typedef struct _TmFolding TmFolding;

typedef enum
{
  TM_CLAIM_NO,     /* not this convention's */
  TM_CLAIM_FOLDED, /* tm_folding_commit() was called */
  TM_CLAIM_BROKEN, /* this convention's, and at fault: tm_folding_refuse() was called */
} TmClaim;

typedef struct
{
  const char *scheme;           /* as in records: "gptq" */
  const char *const *suffixes;  /* NULL-terminated; every ending it may own, bookkeeping included */
  /* Never asked about a ".weight" alone: it takes a companion to be quantized. */
  TmClaim (*claim) (TmFolding *folding, const TmBundle *bundle);
} TmConvention;

/* --- What a claim asks -------------------------------------------------------------------------------------------- */

/* The part with that suffix, or NULL. */
const TmStored *tm_bundle_get (const TmFolding *folding, const TmBundle *bundle, const char *suffix);
/* Any stored tensor by its whole name (the first of it), or NULL. */
const TmStored *tm_folding_find_stored (TmFolding *folding, const char *name);
TmModel *tm_folding_get_model (const TmFolding *folding);
const TmConfig *tm_folding_get_config (const TmFolding *folding); /* never NULL; may be empty */
TmModuleSettings *tm_folding_get_settings (TmFolding *folding);   /* what it says of single modules */
/* What a person chose for a tensor (or the model), or NULL. */
const char *tm_folding_get_choice (const TmFolding *folding, const char *tensor, const char *key);

/* --- What a claim says -------------------------------------------------------------------------------------------- */

/* A logical tensor under way: name taken over, row-major, no operands yet. n_elements is checked (NULL on overflow). */
TmTensor *tm_folding_begin (TmFolding *folding, const TmConvention *convention, char *name, TmDtype code, guint rank,
                            const guint64 *shape);
/* Every part that belongs to it, the one with the codes first. bytes are added up. Missing optional parts (NULL) are passed by. */
void tm_folding_add (TmFolding *folding, TmTensor *tensor, TmOperandRole role, const TmStored *stored);
/* A reading that the file leaves open, and how it was decided. alternatives: "v1|v2". printf-like evidence. */
void tm_folding_assume (TmFolding *folding, const TmTensor *tensor, const char *key, const char *value,
                        const char *alternatives, const char *evidence, ...) G_GNUC_PRINTF (6, 7);
/* A note or warning about a tensor that is folded all the same (config contradicts the file, zero point wraps …). */
void tm_folding_warn (TmFolding *folding, const TmTensor *tensor, TmSeverity severity, const char *code, const char *format,
                      ...) G_GNUC_PRINTF (5, 6);
/* Done: codec, granularity, code_bits, group_size and symmetric are set. Takes tensor. */
TmClaim tm_folding_commit (TmFolding *folding, TmTensor *tensor);
/* Not foldable: an error among the problems that names the module and the piece. */
TmClaim tm_folding_refuse (TmFolding *folding, const TmConvention *convention, const TmBundle *bundle, const char *code,
                           const char *format, ...) G_GNUC_PRINTF (5, 6);

/* --- The table, and the step that uses it -------------------------------------------------------------------------- */

extern const TmConvention *const tm_conventions[]; /* NULL-terminated */

/* Fills model->tensors (file order of the first operand), model->assumptions and problems. */
void tm_fold (TmModel *model, const TmConfig *config, const TmAssume *assume);

G_END_DECLS
