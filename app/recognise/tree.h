/* The module tree while it is made: what the module structs have no place for. */
#pragma once

#include "recognise/names.h"

G_BEGIN_DECLS

typedef struct
{
  TmModule *module;
  guint parent;            /* index of the parent's node; the root's is 0, itself */
  guint path_length;
  guint appearance;        /* position among its siblings, by first tensor */
  gint64 number;           /* its name's number, or −1: after a list word, alone, or glued to the name's end */
  guint stem;              /* bytes of the name before that number */
  enum { TM_NUMBER_NONE, TM_NUMBER_LISTED, TM_NUMBER_ALONE, TM_NUMBER_GLUED } numbering;
  guint first_member, n_members; /* its tensors and those below it: a run of the tree's members */
  guint64 kind;            /* sum over its tensors of a hash of (relative name, rank) */
  guint64 same[2];         /* sums over its tensors of hashes of all that makes blocks equal */
} TmNode;

typedef struct
{
  TmModel *model;
  GArray *nodes;           /* TmNode; parents before children */
  guint *node_of_tensor;
  guint *members;          /* tensors in tree order */
} TmTree;

#define tm_tree_node(tree, i) (&g_array_index ((tree)->nodes, TmNode, (i)))

/* Tells repeated blocks from other numbered modules, puts numbered siblings in order, and finds the folds. */
void tm_tree_find_repeated (TmTree *tree);

G_END_DECLS
