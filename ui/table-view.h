/* Table view: a sortable table of tensors under the canvas with its filter; a row selects its tensor and follows the document's
 * selection. What its panels have in common. */
#pragma once

#include "ui/document.h"
#include "ui/table-columns.h"

G_BEGIN_DECLS

#define TM_TYPE_TABLE_VIEW (tm_table_view_get_type ())
G_DECLARE_FINAL_TYPE (TmTableView, tm_table_view, TM, TABLE_VIEW, GtkWidget)

/* label, filter: accessible names of the rows and of the filter's entry; columns is static. */
GtkWidget *tm_table_view_new (TmDocument *document, const char *label, const char *filter, const TmTableColumn *columns, guint n);
/* A line above the table: title (taken, grows), then the filter, then end (taken; may be NULL), then a button that closes by an
 * action. */
void tm_table_view_set_head (TmTableView *view, GtkWidget *title, GtkWidget *end, const char *close_action, const char *close);
/* entries: TmTableEntry, taken; NULL: none. release: called with owner when nothing reads from it any more. */
void tm_table_view_set_entries (TmTableView *view, GArray *entries, gpointer owner, GDestroyNotify release);
/* What cells read has changed: those that can be seen read again, and late columns are sorted again. */
void tm_table_view_refresh (TmTableView *view);
/* "57", or with a filter on "12 of 57" (transfer full); called back whenever it changes. */
char *tm_table_view_count (TmTableView *view);
void tm_table_view_watch (TmTableView *view, void (*changed) (gpointer data), gpointer data);

G_END_DECLS
