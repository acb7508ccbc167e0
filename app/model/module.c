#include "model/module.h"

#include <string.h>

/* What a module without children or folds has: one empty array for all, never written to. */
static GPtrArray no_children;
static GArray no_folds;

/* One piece of memory with its texts: a large model has as many modules as tensors. */
static TmModule *
new_module (const char *path, gsize path_length, const char *name, gsize name_length, gboolean name_in_path, TmModule *parent)
{
  TmModule *module = g_malloc (sizeof *module + path_length + 1 + (name_in_path ? 0 : name_length + 1));
  char *text = (char *) (module + 1);

  memset (module, 0, sizeof *module);
  memcpy (text, path, path_length);
  text[path_length] = '\0';
  module->path = text;
  module->name = text + path_length - (name_in_path ? name_length : 0);
  if (!name_in_path)
    {
      text += path_length + 1;
      memcpy (text, name, name_length);
      text[name_length] = '\0';
      module->name = text;
    }
  module->number = -1;
  module->parent = parent;
  module->children = &no_children;
  module->folds = &no_folds;
  module->tensors = &module->only_tensors;
  module->only_tensors.data = (char *) &module->only_tensor;
  if (parent != NULL)
    {
      if (parent->children == &no_children)
        parent->children = g_ptr_array_new ();
      g_ptr_array_add (parent->children, module);
    }
  return module;
}

TmModule *
tm_module_new (const char *name, const char *path, TmModule *parent)
{
  const gsize path_length = strlen (path), name_length = strlen (name);
  const gboolean in_path = name_length <= path_length && memcmp (path + path_length - name_length, name, name_length) == 0;

  return new_module (path, path_length, name, name_length, in_path, parent);
}

TmModule *
tm_module_new_at (const char *path, gsize path_length, gsize name_start, TmModule *parent)
{
  return new_module (path, path_length, path + name_start, path_length - name_start, TRUE, parent);
}

void
tm_module_add_tensor (TmModule *module, guint tensor)
{
  if (module->tensors == &module->only_tensors && module->tensors->len == 0)
    {
      module->only_tensor = tensor;
      module->only_tensors.len = 1;
      return;
    }
  if (module->tensors == &module->only_tensors)
    {
      module->tensors = g_array_new (FALSE, FALSE, sizeof (guint));
      g_array_append_val (module->tensors, module->only_tensor);
    }
  g_array_append_val (module->tensors, tensor);
}

void
tm_module_add_fold (TmModule *module, TmFold fold)
{
  if (module->folds == &no_folds)
    module->folds = g_array_new (FALSE, FALSE, sizeof (TmFold));
  g_array_append_val (module->folds, fold);
}

/* Names come from files, so the tree can be as deep as a name is long: no recursion. */
void
tm_module_free (TmModule *root)
{
  g_autoptr (GPtrArray) left = NULL;

  if (root == NULL)
    return;
  left = g_ptr_array_new ();
  g_ptr_array_add (left, root);
  while (left->len > 0)
    {
      TmModule *module = g_ptr_array_steal_index_fast (left, left->len - 1);

      for (guint i = 0; i < module->children->len; i++)
        g_ptr_array_add (left, g_ptr_array_index (module->children, i));
      if (module->children != &no_children)
        g_ptr_array_unref (module->children);
      if (module->tensors != &module->only_tensors)
        g_array_unref (module->tensors);
      if (module->folds != &no_folds)
        g_array_unref (module->folds);
      g_free (module);
    }
}

TmModule *
tm_module_find (TmModule *root, const char *path)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();

  /* Names hold dots of their own ("blk.0"), so more than one child can begin the path; all of them are tried. */
  g_ptr_array_add (candidates, root);
  while (candidates->len > 0)
    {
      TmModule *module = g_ptr_array_steal_index_fast (candidates, candidates->len - 1);

      if (strcmp (module->path, path) == 0)
        return module;
      for (guint i = module->children->len; i-- > 0;)
        {
          TmModule *child = g_ptr_array_index (module->children, i);
          gsize length = strlen (child->path);

          if (strncmp (child->path, path, length) == 0 && (path[length] == '.' || path[length] == '\0'))
            g_ptr_array_add (candidates, child);
        }
    }
  return NULL;
}

const TmFold *
tm_module_get_fold (const TmModule *module, guint child)
{
  guint low = 0, high = module->folds->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const TmFold *fold = &g_array_index (module->folds, TmFold, middle);

      if (child < fold->first)
        high = middle;
      else if (child - fold->first < fold->count)
        return fold;
      else
        low = middle + 1;
    }
  return NULL;
}
