/* The window's own widgets, each made for one document. Constructors only; everything else goes through the document and
 * actions ("win.*" on the window, "canvas.*" on the canvas). */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

/* How the canvas paints: TM_RENDERER_AUTO tries OpenGL and falls back. */
typedef enum { TM_RENDERER_AUTO, TM_RENDERER_GL, TM_RENDERER_CPU } TmRenderer;

/* Canvas with its floating breadcrumb, legend and zoom label. Emits "renderer-changed" (char *name, char *why-or-NULL). */
GtkWidget *tm_canvas_new (TmDocument *document, TmRenderer renderer);
GtkWidget *tm_outliner_new (TmDocument *document);
void tm_outliner_focus_filter (GtkWidget *outliner);
GtkWidget *tm_inspector_new (TmDocument *document);
/* What the comparison says, under the canvas: ranked, worst first. */
GtkWidget *tm_compare_panel_new (TmDocument *document);
/* Breadcrumb that is also the address bar. */
GtkWidget *tm_breadcrumb_new (TmDocument *document);
void tm_breadcrumb_edit (GtkWidget *breadcrumb); /* Ctrl+L */
/* Dtype chip: coloured pill with the dtype's name. */
GtkWidget *tm_chip_new (TmDtype dtype, const char *label);
void tm_chip_set (GtkWidget *chip, TmDtype dtype, const char *label);

G_END_DECLS
