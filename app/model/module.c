#include "model/module.h"

#include <string.h>

TmModule *
tm_module_new (const char *name, const char *path, TmModule *parent)
{
  TmModule *module = g_new0 (TmModule, 1);

  module->name = g_strdup (name);
  module->path = g_strdup (path);
  module->number = -1;
  module->parent = parent;
  module->children = g_ptr_array_new ();
  module->tensors = g_array_new (FALSE, FALSE, sizeof (guint));
  module->folds = g_array_new (FALSE, FALSE, sizeof (TmFold));
  if (parent != NULL)
    g_ptr_array_add (parent->children, module);
  return module;
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
      g_ptr_array_unref (module->children);
      g_array_unref (module->tensors);
      g_array_unref (module->folds);
      g_free (module->name);
      g_free (module->path);
      g_free (module->role_name);
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
