/* Columns of the tables under the canvas: a column says how a row reads and what it is sorted by. Rows are objects that stand
 * for a tensor each. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define TM_TYPE_TABLE_ROW (tm_table_row_get_type ())
G_DECLARE_FINAL_TYPE (TmTableRow, tm_table_row, TM, TABLE_ROW, GObject)

struct _TmTableRow
{
  GObject parent_instance;
  guint tensor;       /* index in the document's model */
  gpointer owner;     /* of the table: what columns read from; outlives the rows */
  gconstpointer data; /* the table's own */
};

TmTableRow *tm_table_row_new (guint tensor, gpointer owner, gconstpointer data);
void tm_table_row_changed (TmTableRow *row); /* cells that show it read it again */

typedef struct
{
  const char *title;
  int width;                                           /* of the column; 0: takes what is left */
  char *(*format) (const TmTableRow *row);             /* (transfer full) */
  double (*number) (const TmTableRow *row);            /* sorted by; NaN comes last; NULL: by the text */
} TmTableColumn;

/* Appends n columns to a column view; columns is static. */
void tm_table_add_columns (GtkColumnView *view, const TmTableColumn *columns, guint n);

G_END_DECLS
