/* Names → module tree. A module is the part of a name before a dot; the last part is the tensor itself. */
#include "recognise/recognise.h"

#include <string.h>

#include "model/name-table.h"
#include "recognise/tree.h"

#define MAX_DEPTH 24  /* real trees have 10; what is deeper stays in the tensor's own part of the name */
#define MAX_PATH 1024 /* dots after that many bytes do not split */

/* --- Splitting --------------------------------------------------------------------------------------------------- */

typedef struct
{
  guint start, end;
  gint64 number;
  guint stem;
  int numbering;
} Part; /* bytes [start, end) of the name */

/* Where the part that starts here ends: at the next dot that leaves it at least one byte, so no module has an empty name
 * ("a..b" is ".b" in "a"). G_MAXUINT: no dot follows. */
static guint
find_dot (const char *name, guint start)
{
  const char *dot;

  if (start >= MAX_PATH || name[start] == '\0')
    return G_MAXUINT;
  dot = memchr (name + start + 1, '.', strnlen (name + start + 1, MAX_PATH - start));
  return dot == NULL ? G_MAXUINT : (guint) (dot - name);
}

static void
set_number (const char *name, Part *part, int numbering, guint digits_from)
{
  part->number = tm_parse_number (name + digits_from, (gssize) (part->end - digits_from));
  part->stem = digits_from - part->start;
  part->numbering = part->number >= 0 ? numbering : TM_NUMBER_NONE;
}

static guint
split (const char *name, Part parts[MAX_DEPTH])
{
  guint n = 0;
  guint start = 0;

  while (n < MAX_DEPTH)
    {
      Part part = { start, find_dot (name, start), -1, 0, TM_NUMBER_NONE };
      guint digits;

      if (part.end == G_MAXUINT)
        break;
      if (g_ascii_isdigit (name[part.end + 1]) && tm_is_list_word (name + start, (gssize) (part.end - start)))
        {
          const guint after = part.end + 1;
          const guint number_end = find_dot (name, after);

          if (number_end != G_MAXUINT && tm_parse_number (name + after, (gssize) (number_end - after)) >= 0)
            {
              part.end = number_end;
              set_number (name, &part, TM_NUMBER_LISTED, after);
            }
        }
      if (part.numbering == TM_NUMBER_NONE)
        {
          for (digits = part.end; digits > start && g_ascii_isdigit (name[digits - 1]);)
            digits--;
          if (digits < part.end)
            set_number (name, &part, digits == start ? TM_NUMBER_ALONE : TM_NUMBER_GLUED, digits);
        }
      parts[n++] = part;
      start = part.end + 1;
    }
  return n;
}

/* --- Building ---------------------------------------------------------------------------------------------------- */

static guint
add_node (TmTree *tree, guint parent, const char *name, const Part *part)
{
  TmNode node = { .parent = parent, .path_length = part->end, .number = part->number, .stem = part->stem };
  TmModule *above = tm_tree_node (tree, parent)->module;

  node.numbering = part->numbering;
  node.appearance = above->children->len;
  node.module = tm_module_new_at (name, part->end, part->start, above);
  g_array_append_val (tree->nodes, node);
  return tree->nodes->len - 1;
}

/* How many of its modules a name has in common with the one before it, whose parts are given. */
static guint
count_common (const char *name, const Part *parts, guint n, const char *before, const Part *before_parts,
              guint n_before)
{
  guint common = 0;

  while (
      common < MIN (n, n_before) && parts[common].end == before_parts[common].end
      && memcmp (name + parts[common].start, before + parts[common].start, parts[common].end + 1 - parts[common].start)
             == 0)
    common++;
  return common;
}

static void
build (TmTree *tree)
{
  TmModel *model = tree->model;
  g_autoptr (TmNameTable) by_path = tm_name_table_new (model->tensors->len); /* of the nodes: places in names of tensors */
  Part parts[2][MAX_DEPTH];
  guint nodes[MAX_DEPTH + 1] = { 0 }; /* nodes[k]: the module of the first k parts of the name before */
  guint n_before = 0;

  for (guint i = 0; i < model->tensors->len; i++)
    {
      TmTensor *tensor = tm_model_tensor (model, i);
      Part *own = parts[i % 2];
      const guint n = split (tensor->name, own);
      const guint common = i == 0 ? 0
                                  : count_common (tensor->name, own, n, tm_model_tensor (model, i - 1)->name,
                                                  parts[(i + 1) % 2], n_before);
      guint known, node = 0;

      /* from the whole path upwards: siblings are the rule, new modules the exception */
      for (known = n; known > common; known--)
        {
          const guint found = tm_name_table_add (by_path, tensor->name, own[known - 1].end, tree->nodes->len + known - 1 - common);

          if (found != TM_NO_NUMBER)
            {
              node = found;
              break;
            }
        }
      for (guint p = known; node != 0 && p < n; p++) /* fewer are new than was thought */
        tm_name_table_set (by_path, tensor->name, own[p].end, tree->nodes->len + p - known);
      if (node == 0)
        node = nodes[known];
      for (guint p = known; p-- > common;)
        nodes[p] = tm_tree_node (tree, p + 1 == known ? node : nodes[p + 1])->parent;
      nodes[known] = node;
      for (guint p = known; p < n; p++)
        {
          node = nodes[p + 1] = add_node (tree, node, tensor->name, &own[p]);
        }
      n_before = n;
      tree->node_of_tensor[i] = node;
      tm_module_add_tensor (tm_tree_node (tree, node)->module, i);
      tensor->owner = tm_tree_node (tree, node)->module;
      tensor->module = tensor->owner->path;
    }
}

/* --- Roles and totals -------------------------------------------------------------------------------------------- */

static gboolean
is_plain_parameter (const char *leaf)
{
  return strcmp (leaf, "weight") == 0 || strcmp (leaf, "bias") == 0;
}

static const char *
find_role (TmTree *tree, TmNames *names, const TmModule *module)
{
  const char *role = tm_names_find_role (names, module->path);

  for (guint i = 0; role == NULL && i < MIN (module->tensors->len, 4); i++)
    {
      const TmTensor *tensor = tm_model_tensor (tree->model, g_array_index (module->tensors, guint, i));
      const char *leaf = tensor->name + strlen (module->path) + 1;

      if (!is_plain_parameter (leaf))
        role = tm_names_find_role (names, tensor->name);
    }
  return role;
}

/* The segment's own name without the number of a list. */
static TmModuleRole
segment_role (const TmNode *node)
{
  g_autofree char *word = NULL;

  if (node->numbering == TM_NUMBER_NONE || node->stem == 0)
    return tm_segment_get_module_role (node->module->name);
  word = g_strndup (node->module->name, node->stem);
  return tm_segment_get_module_role (word);
}

static void
set_roles (TmTree *tree)
{
  g_autoptr (TmNames) names = tm_names_new ();

  for (guint i = 1; i < tree->nodes->len; i++)
    {
      const TmNode *node = tm_tree_node (tree, i);
      TmModule *module = node->module;
      const gboolean leaf = module->children->len == 0;

      if (module->number >= 0)
        {
          module->role = segment_role (node) == TM_MODULE_EXPERTS ? TM_MODULE_EXPERTS : TM_MODULE_BLOCK;
          continue;
        }
      if (module->tensors->len > 0)
        {
          module->role_name = find_role (tree, names, module);
          module->role = tm_role_get_module_role (module->role_name);
        }
      if (!leaf || module->role_name == NULL)
        {
          const TmModuleRole own = segment_role (node);

          if (own != TM_MODULE_OTHER || !leaf)
            module->role = own;
        }
    }
}

static guint64
add_saturated (guint64 a, guint64 b)
{
  guint64 sum;

  return __builtin_add_overflow (a, b, &sum) ? G_MAXUINT64 : sum;
}

static void
add_totals (TmTree *tree)
{
  for (guint i = 0; i < tree->model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (tree->model, i);
      TmModule *module = tm_tree_node (tree, tree->node_of_tensor[i])->module;

      module->parameters = add_saturated (module->parameters, tensor->n_elements);
      module->bytes = add_saturated (module->bytes, tensor->bytes);
      module->n_tensors++;
    }
  for (guint i = tree->nodes->len; i-- > 1;)
    {
      const TmNode *node = tm_tree_node (tree, i);
      TmModule *above = tm_tree_node (tree, node->parent)->module;

      above->parameters = add_saturated (above->parameters, node->module->parameters);
      above->bytes = add_saturated (above->bytes, node->module->bytes);
      above->n_tensors += node->module->n_tensors;
    }
}

void
tm_recognise_modules (TmModel *model)
{
  TmTree tree = { .model = model };
  TmNode root = { .module = tm_module_new ("", "", NULL), .number = -1 };

  tree.nodes = g_array_sized_new (FALSE, FALSE, sizeof (TmNode), model->tensors->len + 1);
  tree.node_of_tensor = g_new0 (guint, MAX (model->tensors->len, 1));
  tree.members = g_new0 (guint, MAX (model->tensors->len, 1));
  g_array_append_val (tree.nodes, root);
  g_clear_pointer (&model->root, tm_module_free);
  model->root = root.module;

  build (&tree);
  tm_tree_find_repeated (&tree);
  set_roles (&tree);
  add_totals (&tree);
  if (model->architecture == NULL)
    model->architecture = g_strdup (tm_detect_architecture (model->root, model->tensors));

  g_free (tree.node_of_tensor);
  g_free (tree.members);
  g_array_unref (tree.nodes);
}
