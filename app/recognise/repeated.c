/* Repeated blocks: which numbered siblings are blocks, their order, and runs of equal ones. */
#include "recognise/tree.h"

#include <stdlib.h>
#include <string.h>

/* --- Signatures -------------------------------------------------------------------------------------------------- */

static guint64
mix (guint64 hash, guint64 word)
{
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static guint64
hash_bytes (guint64 hash, const char *bytes, gsize length)
{
  guint64 word;

  for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word)
    {
      memcpy (&word, bytes, sizeof word);
      hash = mix (hash, word);
    }
  word = length;
  memcpy (&word, bytes, length); /* the length itself in the bytes that are left over */
  return mix (hash, word ^ ((guint64) length << 56));
}

static guint64
hash_type (const TmTensor *tensor)
{
  guint64 hash = mix (mix (tensor->dtype, tensor->quantized), tensor->rank);

  for (guint axis = 0; axis < tensor->rank; axis++)
    hash = mix (hash, tensor->shape[axis]);
  if (tensor->scheme != NULL)
    hash = hash_bytes (hash, tensor->scheme, strlen (tensor->scheme));
  if (tensor->granularity != NULL)
    hash = mix (hash, tensor->granularity->n_levels + 16 * (guint64) tensor->granularity->rank);
  return mix (hash, tensor->fault != NULL);
}

/* The same order of blocks whatever the order of their tensors in the file: sums. */
static void
sign_blocks (TmTree *tree)
{
  for (guint i = 0; i < tree->model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (tree->model, i);
      const guint64 type = hash_type (tensor);
      const gsize length = strlen (tensor->name);

      for (guint n = tree->node_of_tensor[i]; n != 0; n = tm_tree_node (tree, n)->parent)
        {
          TmNode *node = tm_tree_node (tree, n);
          guint64 name;

          if (node->numbering == TM_NUMBER_NONE)
            continue;
          name = hash_bytes (7, tensor->name + node->path_length + 1, length - node->path_length - 1);
          node->kind += mix (name, tensor->rank);
          node->same[0] += mix (name, type);
          node->same[1] += mix (mix (type, 77), name);
        }
    }
}

/* --- Which numbers count blocks ---------------------------------------------------------------------------------- */

typedef struct
{
  gint numbering;
  guint64 kind;
  guint stem_length;
  const char *stem;
} AlikeKey;

static guint
alike_hash (gconstpointer data)
{
  const AlikeKey *key = data;
  guint64 hash = mix (key->kind, key->stem_length + 64 * (guint64) key->numbering);

  for (guint i = 0; i < key->stem_length; i++)
    hash = mix (hash, (guint8) key->stem[i]);
  return (guint) hash;
}

static gboolean
alike_equal (gconstpointer a, gconstpointer b)
{
  const AlikeKey *x = a, *y = b;

  return x->kind == y->kind && x->numbering == y->numbering && x->stem_length == y->stem_length
         && memcmp (x->stem, y->stem, x->stem_length) == 0;
}

static AlikeKey
alike_key (const TmNode *node)
{
  return (AlikeKey) { (gint) node->numbering, node->kind, node->stem, node->module->name };
}

/* A number after a list word counts blocks. A number alone ("mlp.0") does where a sibling holds the same names and ranks,
 * a glued one ("layer1") where three do. nodes: siblings. */
static void
set_numbers (TmTree *tree, const guint *siblings, guint n)
{
  g_autoptr (GHashTable) alike = NULL; /* AlikeKey → how many */

  for (guint i = 0; i < n; i++)
    {
      TmNode *node = tm_tree_node (tree, siblings[i]);

      if (node->numbering == TM_NUMBER_LISTED)
        node->module->number = node->number;
      else if (node->numbering != TM_NUMBER_NONE && node->module->children->len > 0)
        {
          AlikeKey key = alike_key (node);
          guint count;

          if (alike == NULL)
            alike = g_hash_table_new_full (alike_hash, alike_equal, g_free, NULL);
          count = GPOINTER_TO_UINT (g_hash_table_lookup (alike, &key));
          g_hash_table_insert (alike, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (count + 1));
        }
    }
  for (guint i = 0; alike != NULL && i < n; i++)
    {
      TmNode *node = tm_tree_node (tree, siblings[i]);
      AlikeKey key = alike_key (node);

      if (node->module->number >= 0 || node->numbering == TM_NUMBER_NONE)
        continue;
      if (GPOINTER_TO_UINT (g_hash_table_lookup (alike, &key)) >= (node->numbering == TM_NUMBER_ALONE ? 2u : 3u))
        node->module->number = node->number;
    }
}

/* --- Order ------------------------------------------------------------------------------------------------------- */

typedef struct
{
  guint place, appearance, node;
  gint64 number;
} Place;

static int
compare_places (const void *a, const void *b)
{
  const Place *x = a, *y = b;

  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return x->appearance < y->appearance ? -1 : x->appearance > y->appearance;
}

static guint
stem_hash (gconstpointer data)
{
  const AlikeKey *key = data;
  guint hash = 5381;

  for (guint i = 0; i < key->stem_length; i++)
    hash = hash * 33 + (guint8) key->stem[i];
  return hash;
}

static gboolean
stem_equal (gconstpointer a, gconstpointer b)
{
  const AlikeKey *x = a, *y = b;

  return x->stem_length == y->stem_length && memcmp (x->stem, y->stem, x->stem_length) == 0;
}

/* Numbers of one list stand together, in order, where the first of them appeared: files sorted by name have 10 before 2. */
static void
sort_siblings (TmTree *tree, guint *siblings, guint n)
{
  g_autoptr (GHashTable) first = g_hash_table_new_full (stem_hash, stem_equal, g_free, NULL); /* stem → place + 1 */
  g_autofree Place *places = g_new (Place, n);
  GPtrArray *children = tm_tree_node (tree, tm_tree_node (tree, siblings[0])->parent)->module->children;

  for (guint i = 0; i < n; i++)
    {
      const TmNode *node = tm_tree_node (tree, siblings[i]);
      guint place = i;

      /* numbers alone that count nothing are in order among themselves all the same */
      if (node->module->number >= 0 || node->numbering == TM_NUMBER_ALONE)
        {
          AlikeKey key = alike_key (node);

          place = GPOINTER_TO_UINT (g_hash_table_lookup (first, &key));
          if (place == 0)
            {
              g_hash_table_insert (first, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (i + 1));
              place = i + 1;
            }
          place--;
        }
      places[i] = (Place) { place, i, siblings[i],
                            node->module->number >= 0 || node->numbering == TM_NUMBER_ALONE ? node->number : 0 };
    }
  qsort (places, n, sizeof *places, compare_places);
  for (guint i = 0; i < n; i++)
    {
      siblings[i] = places[i].node;
      g_ptr_array_index (children, i) = tm_tree_node (tree, places[i].node)->module;
    }
}

/* --- Folds ------------------------------------------------------------------------------------------------------- */

/* Children of node p are children[start[p]] … children[start[p + 1] − 1]. */
typedef struct
{
  guint *start, *children;
} Children;

/* Tensors in tree order, so that those of a module are one run. */
static void
order_members (TmTree *tree, const Children *children)
{
  const guint n_nodes = tree->nodes->len;

  for (guint p = n_nodes; p-- > 0;)
    {
      TmNode *node = tm_tree_node (tree, p);

      node->n_members += node->module->tensors->len;
      if (p > 0)
        tm_tree_node (tree, node->parent)->n_members += node->n_members;
    }
  for (guint p = 0; p < n_nodes; p++)
    {
      const TmNode *node = tm_tree_node (tree, p);
      guint at = node->first_member;

      for (guint i = 0; i < node->module->tensors->len; i++)
        tree->members[at++] = g_array_index (node->module->tensors, guint, i);
      for (guint i = children->start[p]; i < children->start[p + 1]; i++)
        {
          tm_tree_node (tree, children->children[i])->first_member = at;
          at += tm_tree_node (tree, children->children[i])->n_members;
        }
    }
}

typedef struct
{
  const char *name;
  guint tensor;
} Member; /* name relative to the block */

static int
compare_members (const void *a, const void *b)
{
  const Member *x = a, *y = b;
  const int order = strcmp (x->name, y->name);

  return order != 0 ? order : x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static Member *
sort_members (TmTree *tree, const TmNode *node)
{
  Member *members = g_new (Member, node->n_members);

  for (guint i = 0; i < node->n_members; i++)
    {
      members[i].tensor = tree->members[node->first_member + i];
      members[i].name = tm_model_tensor (tree->model, members[i].tensor)->name + node->path_length + 1;
    }
  qsort (members, node->n_members, sizeof *members, compare_members);
  return members;
}

static gboolean
is_same_type (const TmTensor *a, const TmTensor *b)
{
  return a->dtype == b->dtype && a->quantized == b->quantized && g_strcmp0 (a->scheme, b->scheme) == 0
         && g_strcmp0 (a->dtype_label, b->dtype_label) == 0 && a->rank == b->rank
         && (a->rank == 0 || memcmp (a->shape, b->shape, a->rank * sizeof *a->shape) == 0)
         && (a->fault != NULL) == (b->fault != NULL) && tm_granularity_equal_levels (a->granularity, b->granularity);
}

/* Sums of hashes only say who may be equal; a fold hides blocks, so it is decided by comparing. Equal blocks mostly have
 * their tensors in one order; where not, both are sorted. */
static gboolean
is_same_block (TmTree *tree, const TmNode *a, const TmNode *b)
{
  g_autofree Member *sorted_a = NULL, *sorted_b = NULL;

  if (a->n_members != b->n_members)
    return FALSE;
  for (guint i = 0; i < a->n_members; i++)
    {
      const TmTensor *x = tm_model_tensor (tree->model, tree->members[a->first_member + i]);
      const TmTensor *y = tm_model_tensor (tree->model, tree->members[b->first_member + i]);

      if (strcmp (x->name + a->path_length, y->name + b->path_length) == 0 && is_same_type (x, y))
        continue;
      sorted_a = sort_members (tree, a);
      sorted_b = sort_members (tree, b);
      break;
    }
  for (guint i = 0; sorted_a != NULL && i < a->n_members; i++)
    if (strcmp (sorted_a[i].name, sorted_b[i].name) != 0
        || !is_same_type (tm_model_tensor (tree->model, sorted_a[i].tensor),
                          tm_model_tensor (tree->model, sorted_b[i].tensor)))
      return FALSE;
  return TRUE;
}

static gboolean
may_follow (const TmNode *before, const TmNode *node)
{
  return before->module->number >= 0 && node->module->number == before->module->number + 1
         && before->numbering == node->numbering && before->stem == node->stem
         && memcmp (before->module->name, node->module->name, node->stem) == 0 && before->same[0] == node->same[0]
         && before->same[1] == node->same[1];
}

static void
find_folds (TmTree *tree, const guint *siblings, guint n)
{
  TmModule *above = tm_tree_node (tree, tm_tree_node (tree, siblings[0])->parent)->module;
  guint first = 0;

  for (guint i = 1; i <= n; i++)
    {
      const TmNode *before = tm_tree_node (tree, siblings[i - 1]);

      if (i < n && may_follow (before, tm_tree_node (tree, siblings[i]))
          && is_same_block (tree, before, tm_tree_node (tree, siblings[i])))
        continue;
      if (i - first >= 2)
        {
          tm_module_add_fold (above, (TmFold) { first, i - first });
        }
      first = i;
    }
}

void
tm_tree_find_repeated (TmTree *tree)
{
  const guint n_nodes = tree->nodes->len;
  g_autofree guint *start = g_new0 (guint, n_nodes + 2);
  g_autofree guint *listed = g_new (guint, n_nodes);
  g_autofree guint8 *numbered = g_new0 (guint8, n_nodes);
  const Children children = { start, listed };

  sign_blocks (tree);
  for (guint i = 1; i < n_nodes; i++)
    {
      const TmNode *node = tm_tree_node (tree, i);

      start[node->parent + 2]++;
      numbered[node->parent] |= node->numbering != TM_NUMBER_NONE;
    }
  for (guint i = 2; i < n_nodes + 2; i++)
    start[i] += start[i - 1];
  for (guint i = 1; i < n_nodes; i++)
    listed[start[tm_tree_node (tree, i)->parent + 1]++] = i;

  for (guint p = 0; p < n_nodes; p++)
    if (numbered[p])
      {
        set_numbers (tree, listed + start[p], start[p + 1] - start[p]);
        sort_siblings (tree, listed + start[p], start[p + 1] - start[p]);
      }
  order_members (tree, &children);
  for (guint p = 0; p < n_nodes; p++)
    if (numbered[p])
      find_folds (tree, listed + start[p], start[p + 1] - start[p]);
}
