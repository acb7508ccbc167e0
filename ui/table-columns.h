/* Columns of the tables under the canvas: a column says how an entry reads and what it is sorted by. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A tensor in a table. */
typedef struct
{
  guint tensor;       /* index in the document's model */
  gpointer owner;     /* of the table: what columns read from */
  gconstpointer data; /* the table's own */
} TmTableEntry;

/* Functions are called on any thread. */
typedef struct
{
  const char *title;
  int width;                                          /* of the column; 0: takes what is left */
  char *(*format) (const TmTableEntry *entry);        /* (transfer full); NULL: nothing is known */
  double (*number) (const TmTableEntry *entry);       /* sorted by; NaN comes last; NULL: by the text */
  gboolean is_late;                                   /* from statistics: it may be known later */
} TmTableColumn;

/* How tables write what several of them show; NaN: NULL. (transfer full) */
char *tm_table_format_number (double number);
char *tm_table_format_share (double share);

/* What a column view's item is: an entry of its own. */
#define TM_TYPE_TABLE_ROW (tm_table_row_get_type ())
G_DECLARE_FINAL_TYPE (TmTableRow, tm_table_row, TM, TABLE_ROW, GObject)
TmTableRow *tm_table_row_new (const TmTableEntry *entry);
const TmTableEntry *tm_table_row_get_entry (TmTableRow *row);

/* The labels that show rows now; tm_table_cells_refresh() lets them read again. */
typedef GHashTable TmTableCells;
TmTableCells *tm_table_cells_new (void);
void tm_table_cells_refresh (TmTableCells *cells);

/* Appends n columns to a column view; columns is static, cells outlives the view. */
void tm_table_add_columns (GtkColumnView *view, const TmTableColumn *columns, guint n, TmTableCells *cells);
/* What a column view's header is set to; NULL: as the entries come. */
const TmTableColumn *tm_table_get_sorted (GtkColumnView *view, gboolean *descending);

G_END_DECLS
