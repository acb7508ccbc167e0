/* Glossary: each term of the field defined once. Tooltips quote it, the glossary window lists it. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct { const char *term, *definition; } TmGlossaryEntry;

/* Terminated by a NULL term. */
extern const TmGlossaryEntry tm_glossary[];

/* The definition of a term ("super-block", any case); NULL if there is none. */
const char *tm_glossary_get (const char *term);

GtkWidget *tm_glossary_window_new (GtkWindow *parent);

G_END_DECLS
