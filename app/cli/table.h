/* Aligned columns for people. Cells count in columns of the terminal, so wide and combining letters stay in line. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CliTable CliTable;

/* alignments: one character a column, 'l' or 'r'. */
CliTable *cli_table_new (const char *alignments);
void cli_table_free (CliTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliTable, cli_table_free)

/* Takes text. style: escape sequences before the text, "" for none; static. */
void cli_table_add (CliTable *table, char *text, const char *style);

/* Appends a row and empties nothing: rows are numbered 0 … n − 1. */
guint cli_table_get_n_rows (const CliTable *table);
void cli_table_append_row (const CliTable *table, guint row, const char *indent, GString *out);

G_END_DECLS
