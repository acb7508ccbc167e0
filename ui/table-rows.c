#include "ui/table-rows.h"

#include <math.h>
#include <string.h>

/* What is read from, by row, cell and worker: lives as long as one of them does. Atomic reference counted box. */
typedef struct
{
  GArray *entries; /* TmTableEntry, ascending by tensor or in the table's own order */
  gpointer owner;
  GDestroyNotify release;
} Entries;

struct _TmTableRows
{
  GObject parent_instance;
  Entries *entries;     /* NULL: none */
  GArray *order;        /* guint: entries, sorted */
  GArray *shown;        /* guint: of them, those that are let through */
  GHashTable *let;      /* tensors; NULL: everything */
  GHashTable *position; /* tensor → its place in shown + 1; NULL until somebody asks */
  const TmTableColumn *column;
  gboolean descending;
  GCancellable *sorting; /* the last one */
};

static guint changing_signal;

static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (TmTableRows, tm_table_rows, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
entries_clear (gpointer data)
{
  Entries *entries = data;

  g_array_unref (entries->entries);
  if (entries->release)
    entries->release (entries->owner);
}

static void
entries_unref (gpointer entries)
{
  g_atomic_rc_box_release_full (entries, entries_clear);
}

/* --- As a list ---------------------------------------------------------------------------------------------------- */

static GType
get_item_type (GListModel *model)
{
  return TM_TYPE_TABLE_ROW;
}

static guint
get_n_items (GListModel *model)
{
  return TM_TABLE_ROWS (model)->shown->len;
}

static gpointer
get_item (GListModel *model, guint position)
{
  TmTableRows *self = TM_TABLE_ROWS (model);
  TmTableRow *row;

  if (position >= self->shown->len)
    return NULL;
  row = tm_table_row_new (&g_array_index (self->entries->entries, TmTableEntry, g_array_index (self->shown, guint, position)));
  /* A row that is still held reads from what it was made of. */
  g_object_set_data_full (G_OBJECT (row), "entries", g_atomic_rc_box_acquire (self->entries), entries_unref);
  return row;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

static guint
get_tensor (TmTableRows *self, guint entry)
{
  return g_array_index (self->entries->entries, TmTableEntry, entry).tensor;
}

/* Shows the order through the filter. */
static void
show (TmTableRows *self)
{
  GArray *shown = g_array_sized_new (FALSE, FALSE, sizeof (guint), self->order->len);
  const guint before = self->shown->len;

  for (guint i = 0; i < self->order->len; i++)
    {
      const guint entry = g_array_index (self->order, guint, i);

      if (!self->let || g_hash_table_contains (self->let, GUINT_TO_POINTER (get_tensor (self, entry) + 1)))
        g_array_append_val (shown, entry);
    }
  g_signal_emit (self, changing_signal, 0);
  g_array_unref (self->shown);
  self->shown = shown;
  g_clear_pointer (&self->position, g_hash_table_unref);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, shown->len);
}

guint
tm_table_rows_find (TmTableRows *self, guint tensor)
{
  if (!self->position)
    {
      self->position = g_hash_table_new (NULL, NULL);
      for (guint i = 0; i < self->shown->len; i++)
        g_hash_table_insert (self->position, GUINT_TO_POINTER (get_tensor (self, g_array_index (self->shown, guint, i)) + 1),
                             GUINT_TO_POINTER (i + 1));
    }
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->position, GUINT_TO_POINTER (tensor + 1))) - 1;
}

/* --- Sorting ------------------------------------------------------------------------------------------------------- */

typedef struct
{
  Entries *entries;
  const TmTableColumn *column;
  gboolean descending;
} Sort;

typedef struct
{
  guint entry;
  double number;
  char *text;
} Key;

static void
sort_free (gpointer data)
{
  entries_unref (((Sort *) data)->entries);
  g_free (data);
}

/* What is not known comes last either way; what is equal stays as it came. */
static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const Key *x = a, *y = b;
  const Sort *sort = data;
  int found;

  if (sort->column->number)
    {
      if (isnan (x->number) || isnan (y->number))
        found = 0;
      else
        found = (x->number > y->number) - (x->number < y->number);
      if (isnan (x->number) != isnan (y->number))
        return isnan (x->number) ? 1 : -1;
    }
  else
    found = g_strcmp0 (x->text, y->text);
  if (found)
    return sort->descending ? -found : found;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

static void
sort_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Sort *sort = data;
  const guint n = sort->entries->entries->len;
  g_autofree Key *keys = g_new (Key, (gsize) n + 1);
  GArray *order = g_array_sized_new (FALSE, FALSE, sizeof (guint), n);

  for (guint i = 0; i < n; i++)
    {
      const TmTableEntry *entry = &g_array_index (sort->entries->entries, TmTableEntry, i);

      keys[i] = (Key) { .entry = i,
                        .number = sort->column->number ? sort->column->number (entry) : 0,
                        .text = sort->column->number ? NULL : sort->column->format (entry) };
    }
  if (!g_cancellable_is_cancelled (cancellable))
    g_qsort_with_data (keys, (gint) n, sizeof *keys, compare_keys, data);
  for (guint i = 0; i < n; i++)
    {
      g_array_append_val (order, keys[i].entry);
      g_free (keys[i].text);
    }
  g_task_return_pointer (task, order, (GDestroyNotify) g_array_unref);
}

static void
take_order (TmTableRows *self, GArray *order)
{
  const gboolean same = order->len == self->order->len
                        && (order->len == 0 || memcmp (order->data, self->order->data, order->len * sizeof (guint)) == 0);

  g_array_unref (self->order);
  self->order = order;
  if (!same)
    show (self);
}

static void
sort_done (GObject *object, GAsyncResult *result, gpointer data)
{
  TmTableRows *self = TM_TABLE_ROWS (object);
  GArray *order = g_task_propagate_pointer (G_TASK (result), NULL);

  if (!order)
    return; /* another order is asked for, or other entries */
  g_clear_object (&self->sorting);
  take_order (self, order);
}

static void
stop_sorting (TmTableRows *self)
{
  if (self->sorting)
    g_cancellable_cancel (self->sorting);
  g_clear_object (&self->sorting);
}

static GArray *
order_as_they_came (TmTableRows *self)
{
  const guint n = self->entries ? self->entries->entries->len : 0;
  GArray *order = g_array_sized_new (FALSE, FALSE, sizeof (guint), n);

  for (guint i = 0; i < n; i++)
    g_array_append_val (order, i);
  return order;
}

void
tm_table_rows_sort (TmTableRows *self, const TmTableColumn *column, gboolean descending)
{
  g_autoptr (GTask) task = NULL;
  Sort *sort;

  stop_sorting (self);
  self->column = column;
  self->descending = descending;
  if (!column || !self->entries)
    {
      take_order (self, order_as_they_came (self));
      return;
    }
  sort = g_new0 (Sort, 1);
  *sort = (Sort) { g_atomic_rc_box_acquire (self->entries), column, descending };
  self->sorting = g_cancellable_new ();
  task = g_task_new (self, self->sorting, sort_done, NULL);
  g_task_set_task_data (task, sort, sort_free);
  g_task_run_in_thread (task, sort_run);
}

/* --- What it is of -------------------------------------------------------------------------------------------------- */

void
tm_table_rows_filter (TmTableRows *self, const GArray *tensors)
{
  g_clear_pointer (&self->let, g_hash_table_unref);
  if (tensors)
    {
      self->let = g_hash_table_new (NULL, NULL);
      for (guint i = 0; i < tensors->len; i++)
        g_hash_table_add (self->let, GUINT_TO_POINTER (g_array_index (tensors, guint, i) + 1));
    }
  show (self);
}

void
tm_table_rows_set (TmTableRows *self, GArray *entries, gpointer owner, GDestroyNotify release)
{
  const guint before = self->shown->len;

  stop_sorting (self);
  g_signal_emit (self, changing_signal, 0);
  g_array_set_size (self->shown, 0);
  g_clear_pointer (&self->position, g_hash_table_unref);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, 0);
  g_clear_pointer (&self->entries, entries_unref);
  if (entries)
    {
      self->entries = g_atomic_rc_box_new0 (Entries);
      *self->entries = (Entries) { entries, owner, release };
    }
  g_array_unref (self->order);
  self->order = order_as_they_came (self);
  show (self);
  if (self->column)
    tm_table_rows_sort (self, self->column, self->descending);
}

guint
tm_table_rows_count_all (TmTableRows *self)
{
  return self->order->len;
}

static void
tm_table_rows_finalize (GObject *object)
{
  TmTableRows *self = TM_TABLE_ROWS (object);

  stop_sorting (self);
  g_clear_pointer (&self->entries, entries_unref);
  g_clear_pointer (&self->let, g_hash_table_unref);
  g_clear_pointer (&self->position, g_hash_table_unref);
  g_array_unref (self->order);
  g_array_unref (self->shown);
  G_OBJECT_CLASS (tm_table_rows_parent_class)->finalize (object);
}

static void
tm_table_rows_class_init (TmTableRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = tm_table_rows_finalize;
  changing_signal = g_signal_new ("changing", TM_TYPE_TABLE_ROWS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
tm_table_rows_init (TmTableRows *self)
{
  self->order = g_array_new (FALSE, FALSE, sizeof (guint));
  self->shown = g_array_new (FALSE, FALSE, sizeof (guint));
}

TmTableRows *
tm_table_rows_new (void)
{
  return g_object_new (TM_TYPE_TABLE_ROWS, NULL);
}
