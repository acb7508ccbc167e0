/* Tensor table: every tensor with its figures, under the canvas. Filled when it is first shown. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

GtkWidget *tm_tensor_table_new (TmDocument *document);

G_END_DECLS
