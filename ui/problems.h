/* Problems: what the model's files are at fault for, as a list in which each entry can be copied. */
#pragma once

#include <gtk/gtk.h>

#include "model/model.h"

G_BEGIN_DECLS

/* "past-end: … (model.gguf, byte 4096)" on one line, escaped. (transfer full) */
char *tm_problem_describe (const TmProblem *problem);

/* A list for a popover. */
GtkWidget *tm_problems_new (void);
void tm_problems_set_model (GtkWidget *problems, TmModel *model);

G_END_DECLS
