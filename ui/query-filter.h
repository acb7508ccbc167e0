/* Query filter: a text of the filter language answered on a worker, with the statistics that it asks for. The last text wins. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

typedef struct
{
  GArray *found;   /* guint, tensors; NULL where there is no answer (yet). Borrowed */
  const char *problem; /* what is wrong with the text */
  gboolean has_place;  /* whether it is one character's fault, */
  guint at;            /* and which one's */
  double progress;     /* no answer yet: how far its statistics are, 0 … 1 */
} TmQueryAnswer;

typedef struct _TmQueryFilter TmQueryFilter;

/* answered: on the main context, several times for one text while statistics are being computed; never for a text that is no
 * longer asked for. */
TmQueryFilter *tm_query_filter_new (TmDocument *document, void (*answered) (const TmQueryAnswer *answer, gpointer data),
                                    gpointer data);
void tm_query_filter_free (TmQueryFilter *filter);
/* NULL or "": nothing is asked for. A text that is wrong is answered at once. */
void tm_query_filter_ask (TmQueryFilter *filter, const char *text);

G_END_DECLS
