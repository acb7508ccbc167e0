/* The module tree: dotted names as people think of them. Built by recognise, owned by the model, plain structs.
 *
 * "blk.0.attn_q.weight" gives root › blk.0 › attn_q › tensor. A list word and its number are one module (name "blk.0"),
 * a repeated block. Folds are runs of two or more equal consecutive repeated siblings: same relative names, shapes,
 * dtypes and granularity. A folded module stays in the tree; folds only say what may be drawn once. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  TM_MODULE_OTHER,
  TM_MODULE_EMBEDDING,
  TM_MODULE_BLOCK,        /* repeated block: transformer layer, residual block */
  TM_MODULE_ATTENTION,
  TM_MODULE_FEED_FORWARD,
  TM_MODULE_EXPERTS,      /* stack or list of experts */
  TM_MODULE_ROUTER,
  TM_MODULE_NORM,
  TM_MODULE_SSM,
  TM_MODULE_CONVOLUTION,
  TM_MODULE_HEAD,
} TmModuleRole;

typedef struct _TmModule TmModule;

/* One fold of a module's children: children[first] … children[first + count − 1] are equal; count ≥ 2. */
typedef struct { guint first, count; } TmFold;

struct _TmModule
{
  char *name;          /* last segment, or list word and number: "attn_q", "blk.0"; the root's is "" */
  char *path;          /* full dotted path; the root's is "" */
  TmModuleRole role;
  char *role_name;     /* finer role from names.json's patterns: "attn.q", "mlp.gate", "norm"; NULL if none */
  gint64 number;       /* of a repeated block or expert; −1 otherwise */
  TmModule *parent;    /* NULL at the root */
  GPtrArray *children; /* TmModule *, in order (numbered siblings by number); owned */
  GArray *tensors;     /* guint: logical tensors directly in it, as indices into the model */
  GArray *folds;       /* TmFold, ascending */
  guint64 parameters, bytes; /* of everything below */
  guint n_tensors;           /* of everything below */
};

TmModule *tm_module_new (const char *name, const char *path, TmModule *parent); /* parent takes it */
void tm_module_free (TmModule *module); /* iterative; frees everything below */
TmModule *tm_module_find (TmModule *root, const char *path); /* NULL if none */
/* The fold that holds child number i of module, or NULL. */
const TmFold *tm_module_get_fold (const TmModule *module, guint child);

G_END_DECLS
