/* Export dialog: what can be taken away of what is open, and where it goes. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

typedef enum
{
  TM_TAKE_PICTURE_PNG,
  TM_TAKE_PICTURE_SVG,
  TM_TAKE_VALUES_CSV,
  TM_TAKE_VALUES_NPY,
  TM_TAKE_RAW_CSV,
  TM_TAKE_RAW_NPY,
  TM_TAKE_REPORT_HTML,
  TM_TAKE_REPORT_JSON,
  TM_N_TAKES
} TmTake;

typedef void (*TmTaken) (TmTake take, const TmAddress *address, const char *path, gpointer data);

/* address: what values and codes are taken of; part: it is what is meant, not the view. chosen: called with what, of what,
 * and the path to write. data must live as long as parent. */
GtkWidget *tm_export_dialog_new (GtkWindow *parent, TmDocument *document, const TmAddress *address, gboolean part,
                                 TmTaken chosen, gpointer data);

G_END_DECLS
