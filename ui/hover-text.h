/* Hover text: one line for what is under the pointer. Values are read on a worker, one at a time, the newest wins. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

typedef struct _TmHoverText TmHoverText;

/* changed: called on the main thread with the line, or NULL when nothing is under the pointer. */
TmHoverText *tm_hover_text_new (TmDocument *document, void (*changed) (const char *text, gpointer data), gpointer data);
void tm_hover_text_free (TmHoverText *hover);

G_END_DECLS
