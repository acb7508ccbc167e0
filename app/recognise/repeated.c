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

static GArray *
list_members (TmTree *tree, const TmNode *node)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_autoptr (GPtrArray) left = g_ptr_array_new ();

  g_ptr_array_add (left, node->module);
  while (left->len > 0)
    {
      const TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);

      for (guint i = 0; i < module->children->len; i++)
        g_ptr_array_add (left, g_ptr_array_index (module->children, i));
      for (guint i = 0; i < module->tensors->len; i++)
        {
          const guint tensor = g_array_index (module->tensors, guint, i);
          const Member member = { tm_model_tensor (tree->model, tensor)->name + node->path_length + 1, tensor };

          g_array_append_val (members, member);
        }
    }
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

static gboolean
is_same_in_order (TmTree *tree, const GArray *a, const GArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const Member *x = &g_array_index (a, Member, i), *y = &g_array_index (b, Member, i);

      if (strcmp (x->name, y->name) != 0
          || !is_same_type (tm_model_tensor (tree->model, x->tensor), tm_model_tensor (tree->model, y->tensor)))
        return FALSE;
    }
  return TRUE;
}

/* Sums of hashes only say who may be equal; a fold hides blocks, so it is decided by comparing. Equal blocks mostly have
 * their tensors in one order; where not, both are sorted. */
static gboolean
is_same_block (TmTree *tree, GArray *a, GArray *b)
{
  if (is_same_in_order (tree, a, b))
    return TRUE;
  if (a->len != b->len || a->len == 0)
    return FALSE;
  qsort (a->data, a->len, sizeof (Member), compare_members);
  qsort (b->data, b->len, sizeof (Member), compare_members);
  return is_same_in_order (tree, a, b);
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
  GArray *folds = tm_tree_node (tree, tm_tree_node (tree, siblings[0])->parent)->module->folds;
  GArray *before = NULL; /* members of siblings[i − 1], if listed */
  guint first = 0;

  for (guint i = 1; i <= n; i++)
    {
      GArray *members = NULL;
      gboolean same = FALSE;

      if (i < n && may_follow (tm_tree_node (tree, siblings[i - 1]), tm_tree_node (tree, siblings[i])))
        {
          if (before == NULL)
            before = list_members (tree, tm_tree_node (tree, siblings[i - 1]));
          members = list_members (tree, tm_tree_node (tree, siblings[i]));
          same = is_same_block (tree, before, members);
        }
      g_clear_pointer (&before, g_array_unref);
      before = members;
      if (same)
        continue;
      if (i - first >= 2)
        {
          const TmFold fold = { first, i - first };
          g_array_append_val (folds, fold);
        }
      first = i;
    }
  g_clear_pointer (&before, g_array_unref);
}

void
tm_tree_find_repeated (TmTree *tree)
{
  const guint n_nodes = tree->nodes->len;
  g_autofree guint *start
      = g_new0 (guint, n_nodes + 2); /* children of node p are order[start[p]] … order[start[p + 1] − 1] */
  g_autofree guint *order = g_new (guint, n_nodes);

  sign_blocks (tree);
  for (guint i = 1; i < n_nodes; i++)
    start[tm_tree_node (tree, i)->parent + 2]++;
  for (guint i = 2; i < n_nodes + 2; i++)
    start[i] += start[i - 1];
  for (guint i = 1; i < n_nodes; i++)
    order[start[tm_tree_node (tree, i)->parent + 1]++] = i;

  for (guint p = 0; p < n_nodes; p++)
    {
      guint *siblings = order + start[p];
      const guint n = start[p + 1] - start[p];
      gboolean numbered = FALSE;

      for (guint i = 0; i < n; i++)
        numbered |= tm_tree_node (tree, siblings[i])->numbering != TM_NUMBER_NONE;
      if (!numbered)
        continue;
      set_numbers (tree, siblings, n);
      sort_siblings (tree, siblings, n);
      find_folds (tree, siblings, n);
    }
}
