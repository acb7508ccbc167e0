/* Query entry: where a person types the filter language. What cannot be read is underlined and told in words under it;
 * statistics that the query asks for are computed with progress and a way to cancel. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

/* found: guint, tensors, ascending, borrowed; NULL: nothing is asked for, everything is to be shown. Not called while a text is
 * wrong or its statistics are under way. */
typedef void (*TmQueryFound) (const GArray *found, gpointer data);

/* A vertical box. stopped (may be NULL): Escape was pressed; the text is empty by then. label: accessible name. */
GtkWidget *tm_query_entry_new (TmDocument *document, const char *label, TmQueryFound found, void (*stopped) (gpointer data),
                               gpointer data);
void tm_query_entry_focus (GtkWidget *entry);

G_END_DECLS
