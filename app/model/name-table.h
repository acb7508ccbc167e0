/* Names → numbers, for as many names as a model has. Names are borrowed, need no NUL behind them, and stay where they are as
 * long as the table; what a table says of one is the number it was first entered with. Finding may be done by any thread. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _TmNameTable TmNameTable;

#define TM_NO_NUMBER G_MAXUINT32

/* expected: about how many names; 0 where that is not known. */
TmNameTable *tm_name_table_new (guint expected);
void tm_name_table_free (TmNameTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmNameTable, tm_name_table_free)

/* Enters a name unless it is there: TM_NO_NUMBER, or the number that it has and keeps. */
guint tm_name_table_add (TmNameTable *table, const char *name, gsize length, guint number);
/* The same for names 0 … n − 1, each with its own number: told is called for every one that is there already, with the number it
 * has. Much quicker than one by one, for a large table is waited for only once in a while. */
typedef const char *(*TmNameAt) (gconstpointer names, guint i);
typedef void (*TmNameTold) (guint i, guint number, gpointer data);
void tm_name_table_add_all (TmNameTable *table, guint n, TmNameAt name_at, gconstpointer names, TmNameTold told, gpointer data);
/* The number of a name, or TM_NO_NUMBER. */
guint tm_name_table_find (const TmNameTable *table, const char *name, gsize length);
/* Another number for a name that is there. */
void tm_name_table_set (TmNameTable *table, const char *name, gsize length, guint number);

G_END_DECLS
