#include "ui/outline-model.h"

#include <string.h>

#include "io/text.h"
#include "model/quantization.h"

typedef struct
{
  TmOutlineKind kind;
  guint index;      /* FOLD, TENSOR, STORED: as in the row */
  TmModule *module; /* as in the row */
} Entry;

struct _TmOutlineList
{
  GObject parent_instance;
  TmModel *model;
  GArray *entries;
  gboolean flat;
  guint owner;      /* of a list of operands */
};

G_DEFINE_FINAL_TYPE (TmOutlineRow, tm_outline_row, G_TYPE_OBJECT)

static void tm_outline_list_model_init (GListModelInterface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE (TmOutlineList, tm_outline_list, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, tm_outline_list_model_init))

static void
tm_outline_row_finalize (GObject *object)
{
  g_object_unref (TM_OUTLINE_ROW (object)->model);
  G_OBJECT_CLASS (tm_outline_row_parent_class)->finalize (object);
}

static void
tm_outline_row_class_init (TmOutlineRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = tm_outline_row_finalize;
}

static void
tm_outline_row_init (TmOutlineRow *row)
{
}

/* A module that holds one tensor and nothing else reads better as that tensor: "attn_q.weight". */
static gboolean
is_single (const TmModule *module)
{
  return module->children->len == 0 && module->tensors->len == 1;
}

/* The tensor's name without the path of the module above the one it stands in. */
static const char *
relative_name (const TmTensor *tensor, const TmModule *list_owner)
{
  gsize n = strlen (list_owner->path);
  if (n > 0 && strncmp (tensor->name, list_owner->path, n) == 0 && tensor->name[n] == '.')
    return tensor->name + n + 1;
  return tensor->name;
}

char *
tm_outline_row_get_text (TmOutlineRow *row)
{
  switch (row->kind)
    {
    case TM_OUTLINE_MODULE:
      return tm_text_escape (row->module->name, -1);
    case TM_OUTLINE_FOLD:
      {
        const TmFold *fold = &g_array_index (row->module->folds, TmFold, row->index);
        const TmModule *first = g_ptr_array_index (row->module->children, fold->first);
        const TmModule *last = g_ptr_array_index (row->module->children, fold->first + fold->count - 1);
        g_autofree char *name = tm_text_escape (first->name, -1);
        return g_strdup_printf ("%s – %" G_GINT64_FORMAT " ×%u", name, last->number, fold->count);
      }
    case TM_OUTLINE_STORED:
      {
        /* What it adds to the weight's name: "qweight", "absmax". */
        const TmTensor *tensor = tm_model_tensor (row->model, row->owner);
        const TmStored *stored = tm_model_stored (row->model, row->index);
        const char *name = stored->name;
        gsize n = strlen (tensor->name), module = tensor->module != NULL ? strlen (tensor->module) : 0;
        if (strncmp (name, tensor->name, n) == 0 && name[n] == '.')
          name += n + 1;
        else if (module > 0 && strncmp (name, tensor->module, module) == 0 && name[module] == '.')
          name += module + 1;
        return tm_text_escape (name[0] != '\0' ? name : "(no name)", -1);
      }
    default:
      {
        const TmTensor *tensor = tm_model_tensor (row->model, row->index);
        const char *name = row->full_name ? tensor->name : relative_name (tensor, row->module);
        g_autofree char *escaped = tm_text_escape (name[0] != '\0' ? name : "(no name)", -1);
        return tensor->ordinal > 0 ? g_strdup_printf ("%s#%u", escaped, tensor->ordinal) : g_steal_pointer (&escaped);
      }
    }
}

void
tm_outline_row_get_address (TmOutlineRow *row, TmAddress *address)
{
  *address = (TmAddress) TM_ADDRESS_INIT;
  switch (row->kind)
    {
    case TM_OUTLINE_MODULE:
      address->kind = TM_ADDRESS_MODULE;
      address->module = row->module;
      break;
    case TM_OUTLINE_FOLD:
      address->kind = TM_ADDRESS_FOLD;
      address->module = row->module;
      address->fold = row->index;
      break;
    case TM_OUTLINE_STORED:
      address->kind = TM_ADDRESS_STORED;
      address->tensor = row->index;
      break;
    default:
      address->kind = TM_ADDRESS_TENSOR;
      address->tensor = row->index;
      break;
    }
}

/* --- The list --------------------------------------------------------------------------------------------------- */

static GType
list_get_item_type (GListModel *model)
{
  return TM_TYPE_OUTLINE_ROW;
}

static guint
list_get_n_items (GListModel *model)
{
  return TM_OUTLINE_LIST (model)->entries->len;
}

static gpointer
list_get_item (GListModel *model, guint position)
{
  TmOutlineList *list = TM_OUTLINE_LIST (model);
  if (position >= list->entries->len)
    return NULL;
  const Entry *entry = &g_array_index (list->entries, Entry, position);
  TmOutlineRow *row = g_object_new (TM_TYPE_OUTLINE_ROW, NULL);
  row->model = g_object_ref (list->model);
  row->kind = entry->kind;
  row->module = entry->module;
  row->index = entry->index;
  row->owner = list->owner;
  row->full_name = list->flat;
  return row;
}

static void
tm_outline_list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = list_get_item_type;
  iface->get_n_items = list_get_n_items;
  iface->get_item = list_get_item;
}

static void
tm_outline_list_finalize (GObject *object)
{
  TmOutlineList *list = TM_OUTLINE_LIST (object);
  g_array_unref (list->entries);
  g_object_unref (list->model);
  G_OBJECT_CLASS (tm_outline_list_parent_class)->finalize (object);
}

static void
tm_outline_list_class_init (TmOutlineListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = tm_outline_list_finalize;
}

static void
tm_outline_list_init (TmOutlineList *list)
{
  list->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
}

/* First tensor of a module in file order: what decides where it stands among its siblings. */
static guint
first_tensor (const TmModule *module)
{
  while (module->tensors->len == 0 && module->children->len > 0)
    module = g_ptr_array_index (module->children, 0);
  return module->tensors->len > 0 ? g_array_index (module->tensors, guint, 0) : G_MAXUINT;
}

static void
append_child (TmOutlineList *list, TmModule *owner, TmModule *child)
{
  Entry entry = { TM_OUTLINE_MODULE, 0, child };
  if (is_single (child))
    entry = (Entry) { TM_OUTLINE_TENSOR, g_array_index (child->tensors, guint, 0), owner };
  g_array_append_val (list->entries, entry);
}

TmOutlineList *
tm_outline_list_new (TmModel *model, TmModule *module, gint fold)
{
  TmOutlineList *list = g_object_new (TM_TYPE_OUTLINE_LIST, NULL);
  list->model = g_object_ref (model);
  if (fold >= 0)
    {
      const TmFold *range = &g_array_index (module->folds, TmFold, fold);
      for (guint i = 0; i < range->count; i++)
        append_child (list, module, g_ptr_array_index (module->children, range->first + i));
      return list;
    }

  /* Children and own tensors merge in file order, as the model is read: embedding, blocks, output. */
  guint t = 0;
  for (guint i = 0, f = 0; i < module->children->len;)
    {
      TmModule *child = g_ptr_array_index (module->children, i);
      guint at = first_tensor (child);
      for (; t < module->tensors->len && g_array_index (module->tensors, guint, t) < at; t++)
        {
          Entry entry = { TM_OUTLINE_TENSOR, g_array_index (module->tensors, guint, t), module };
          g_array_append_val (list->entries, entry);
        }
      while (f < module->folds->len && g_array_index (module->folds, TmFold, f).first < i)
        f++;
      if (f < module->folds->len && g_array_index (module->folds, TmFold, f).first == i)
        {
          Entry entry = { TM_OUTLINE_FOLD, f, module };
          g_array_append_val (list->entries, entry);
          i += g_array_index (module->folds, TmFold, f).count;
          continue;
        }
      append_child (list, module, child);
      i++;
    }
  for (; t < module->tensors->len; t++)
    {
      Entry entry = { TM_OUTLINE_TENSOR, g_array_index (module->tensors, guint, t), module };
      g_array_append_val (list->entries, entry);
    }
  return list;
}

TmOutlineList *
tm_outline_list_new_operands (TmModel *model, guint tensor)
{
  const TmTensor *weight = tm_model_tensor (model, tensor);
  TmOutlineList *list = g_object_new (TM_TYPE_OUTLINE_LIST, NULL);
  list->model = g_object_ref (model);
  list->owner = tensor;
  for (guint o = 0; o < weight->n_operands; o++)
    {
      Entry entry = { TM_OUTLINE_STORED, weight->operand[o].stored, model->root };
      g_array_append_val (list->entries, entry);
    }
  return list;
}

TmOutlineList *
tm_outline_list_new_flat (TmModel *model, GArray *tensors)
{
  TmOutlineList *list = g_object_new (TM_TYPE_OUTLINE_LIST, NULL);
  list->model = g_object_ref (model);
  list->flat = TRUE;
  for (guint i = 0; i < tensors->len; i++)
    {
      Entry entry = { TM_OUTLINE_TENSOR, g_array_index (tensors, guint, i), model->root };
      g_array_append_val (list->entries, entry);
    }
  g_array_unref (tensors);
  return list;
}

GListModel *
tm_outline_list_get_children (TmOutlineRow *row)
{
  if (row->kind == TM_OUTLINE_MODULE)
    return G_LIST_MODEL (tm_outline_list_new (row->model, row->module, -1));
  if (row->kind == TM_OUTLINE_FOLD)
    return G_LIST_MODEL (tm_outline_list_new (row->model, row->module, (gint) row->index));
  if (row->kind == TM_OUTLINE_TENSOR && tm_model_tensor (row->model, row->index)->n_operands > 1)
    return G_LIST_MODEL (tm_outline_list_new_operands (row->model, row->index));
  return NULL;
}

static gboolean
is_below (const TmModule *module, const TmModule *ancestor)
{
  for (; module != NULL; module = module->parent)
    if (module == ancestor)
      return TRUE;
  return FALSE;
}

guint
tm_outline_list_find (TmOutlineList *list, const TmAddress *address)
{
  TmModule *target = address->module;
  guint tensor = G_MAXUINT;
  if (address->kind == TM_ADDRESS_STORED)
    {
      gint64 owner = tm_model_find_owner (list->model, address->tensor);
      tensor = owner >= 0 ? (guint) owner : G_MAXUINT;
    }
  else if (address->kind == TM_ADDRESS_TENSOR)
    tensor = address->tensor;
  if (tensor != G_MAXUINT)
    target = tm_model_tensor (list->model, tensor)->owner;
  for (guint i = 0; i < list->entries->len; i++)
    {
      const Entry *entry = &g_array_index (list->entries, Entry, i);
      if (entry->kind == TM_OUTLINE_STORED)
        {
          if (address->kind == TM_ADDRESS_STORED && entry->index == address->tensor)
            return i;
          continue;
        }
      if (entry->kind == TM_OUTLINE_TENSOR)
        {
          if (entry->index == tensor)
            return i;
          continue;
        }
      if (entry->kind == TM_OUTLINE_FOLD)
        {
          if (address->kind == TM_ADDRESS_FOLD && address->module == entry->module && address->fold == entry->index)
            return i;
          const TmFold *fold = &g_array_index (entry->module->folds, TmFold, entry->index);
          for (guint c = 0; target != NULL && c < fold->count; c++)
            if (is_below (target, g_ptr_array_index (entry->module->children, fold->first + c)))
              return i;
          continue;
        }
      if (target != NULL && is_below (target, entry->module))
        return i;
    }
  return G_MAXUINT;
}
