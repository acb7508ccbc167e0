/* The rows of a table as a list model: entries in an order and, of them, those that a filter lets through. Made for hundreds of
 * thousands: a row is made when it is looked at, and sorting runs on a worker. Main thread.
 *
 * Emits "changing" before all rows change: a selection that is not taken back then would look through all of them for its row. */
#pragma once

#include "ui/table-columns.h"

G_BEGIN_DECLS

#define TM_TYPE_TABLE_ROWS (tm_table_rows_get_type ())
G_DECLARE_FINAL_TYPE (TmTableRows, tm_table_rows, TM, TABLE_ROWS, GObject)

TmTableRows *tm_table_rows_new (void);
/* entries: TmTableEntry, taken; NULL: none. release is called with owner when neither rows nor a worker read from it any more;
 * what row objects are left by then are not read. */
void tm_table_rows_set (TmTableRows *rows, GArray *entries, gpointer owner, GDestroyNotify release);
/* Sorts by a column (NULL: as they came), in the background; rows stay as they are until it is done. */
void tm_table_rows_sort (TmTableRows *rows, const TmTableColumn *column, gboolean descending);
/* tensors: guint, ascending; what is let through. NULL: everything. */
void tm_table_rows_filter (TmTableRows *rows, const GArray *tensors);
guint tm_table_rows_count_all (TmTableRows *rows); /* whatever the filter says */
/* Where a tensor's row is; GTK_INVALID_LIST_POSITION: nowhere. */
guint tm_table_rows_find (TmTableRows *rows, guint tensor);

G_END_DECLS
