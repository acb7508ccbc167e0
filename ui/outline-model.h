/* Rows of the outliner: a compact list model over one module's children and tensors, folds as one row; objects are made only
 * when a row is shown, so half a million tensors cost an array. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

typedef enum { TM_OUTLINE_MODULE, TM_OUTLINE_FOLD, TM_OUTLINE_TENSOR, TM_OUTLINE_STORED } TmOutlineKind;

#define TM_TYPE_OUTLINE_ROW (tm_outline_row_get_type ())
G_DECLARE_FINAL_TYPE (TmOutlineRow, tm_outline_row, TM, OUTLINE_ROW, GObject)

struct _TmOutlineRow
{
  GObject parent_instance;
  TmModel *model;    /* own reference: keeps module and tensor alive */
  TmOutlineKind kind;
  TmModule *module;  /* MODULE: itself; FOLD: the parent; TENSOR: the module whose list it stands in */
  guint index;       /* FOLD: index into module->folds; TENSOR: logical tensor; STORED: stored tensor */
  guint owner;       /* STORED: the logical tensor it is a piece of */
  gboolean full_name;/* TENSOR in a flat list (search result): show the whole name */
};

/* Text of a row, escaped. (transfer full) */
char *tm_outline_row_get_text (TmOutlineRow *row);
/* The address a click on the row selects. */
void tm_outline_row_get_address (TmOutlineRow *row, TmAddress *address);

#define TM_TYPE_OUTLINE_LIST (tm_outline_list_get_type ())
G_DECLARE_FINAL_TYPE (TmOutlineList, tm_outline_list, TM, OUTLINE_LIST, GObject)

/* Children of a module; modules of one tensor stand as that tensor. fold: −1, or only the blocks of that fold. */
TmOutlineList *tm_outline_list_new (TmModel *model, TmModule *module, gint fold);
/* What a folded weight is stored as. */
TmOutlineList *tm_outline_list_new_operands (TmModel *model, guint tensor);
/* A flat list of tensors by full name. Takes the array (of guint). */
TmOutlineList *tm_outline_list_new_flat (TmModel *model, GArray *tensors);
/* For GtkTreeListModel: the list below a row, NULL for a leaf. */
GListModel *tm_outline_list_get_children (TmOutlineRow *row);
/* Position of the entry that is or leads to the address; G_MAXUINT if none. */
guint tm_outline_list_find (TmOutlineList *list, const TmAddress *address);

G_END_DECLS
