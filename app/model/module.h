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
  const char *name;    /* last segment, or list word and number: "attn_q", "blk.0"; the root's is "" */
  const char *path;    /* full dotted path; the root's is "" */
  TmModuleRole role;
  const char *role_name; /* static: finer role from names.json's patterns: "attn.q", "mlp.gate", "norm"; NULL if none */
  gint64 number;       /* of a repeated block or expert; −1 otherwise */
  TmModule *parent;    /* NULL at the root */
  GPtrArray *children; /* TmModule *, in order (numbered siblings by number); owned */
  GArray *tensors;     /* guint: logical tensors directly in it, as indices into the model; tm_module_add_tensor() */
  GArray *folds;       /* TmFold, ascending; tm_module_add_fold() */
  guint64 parameters, bytes; /* of everything below */
  guint n_tensors;           /* of everything below */
  /* Most modules hold one tensor and nothing else: that needs no array of its own. */
  guint only_tensor;
  GArray only_tensors;
};

TmModule *tm_module_new (const char *name, const char *path, TmModule *parent); /* parent takes it */
/* The same, its name being the end of the path's first path_length bytes from name_start on. */
TmModule *tm_module_new_at (const char *path, gsize path_length, gsize name_start, TmModule *parent);
void tm_module_add_tensor (TmModule *module, guint tensor);
void tm_module_add_fold (TmModule *module, TmFold fold);
void tm_module_free (TmModule *module); /* iterative; frees everything below */
TmModule *tm_module_find (TmModule *root, const char *path); /* NULL if none */
/* The fold that holds child number i of module, or NULL. */
const TmFold *tm_module_get_fold (const TmModule *module, guint child);

G_END_DECLS
