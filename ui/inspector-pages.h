/* What the inspector says of each kind of selection. Pages append cards to an empty vertical box; nothing here blocks. */
#pragma once

#include "model/group-range.h"
#include "ui/document.h"
#include "view/packing-card.h"

G_BEGIN_DECLS

void tm_inspector_add_model (GtkWidget *box, TmDocument *document);
void tm_inspector_add_module (GtkWidget *box, TmDocument *document, TmModule *module, const TmFold *fold);
void tm_inspector_add_tensor (GtkWidget *box, TmDocument *document, guint tensor);
void tm_inspector_add_operands (GtkWidget *box, TmDocument *document, guint tensor); /* nothing where one holds it all */
/* How the file was read where it leaves it open, each with a switch: of one tensor, or alike ones together (−1). */
void tm_inspector_add_assumptions (GtkWidget *box, TmDocument *document, gint64 tensor);
void tm_inspector_add_quantization (GtkWidget *box, TmDocument *document);
void tm_inspector_add_stored (GtkWidget *box, TmDocument *document, guint stored);
void tm_inspector_add_region (GtkWidget *box, TmDocument *document, const TmAddress *address);

/* The record was explained on a worker; range NULL where the group has none or is too large, fault: why there is no record. */
void tm_inspector_add_scalar (GtkWidget *box, TmDocument *document, guint tensor, const TmScalar *scalar,
                              const TmGroupRange *range, const char *fault);
/* What the comparison says; nothing without one. delta and baseline (the reference's scalar) were read on a worker; fault: why
 * there is no delta. */
void tm_inspector_add_delta (GtkWidget *box, TmDocument *document, guint tensor, const TmScalar *scalar, const TmDelta *delta,
                             const TmScalar *baseline, const char *fault);
void tm_inspector_add_tensor_error (GtkWidget *box, TmDocument *document, guint tensor);
/* Its scales and what the reference would need; asked for on a worker, statistics-changed says when they are there. */
void tm_inspector_add_scale_ranges (GtkWidget *box, TmDocument *document, guint tensor);
void tm_inspector_add_total_error (GtkWidget *box, TmDocument *document, const TmModule *module);
/* What is known of it; nothing where nothing is. selected: a value to mark, or NaN. */
void tm_inspector_add_distribution (GtkWidget *box, TmDocument *document, guint tensor, double selected);
void tm_inspector_add_total_distribution (GtkWidget *box, TmDocument *document, const TmModule *module);
/* Nothing where nothing can be read. cause: of the selected scalar, −1 for none. */
void tm_inspector_add_sparsity (GtkWidget *box, TmDocument *document, guint tensor, int cause);
typedef enum { TM_ZEROS_NOT_COUNTED, TM_ZEROS_BEING_COUNTED, TM_ZEROS_COUNTED } TmZerosShown;
TmZerosShown tm_inspector_get_zeros_shown (TmDocument *document, guint tensor);
/* The chosen backend's own card, under its overlay. */
void tm_inspector_add_chosen_support (GtkWidget *box, TmDocument *document, gint64 tensor);
void tm_inspector_add_support (GtkWidget *box, TmDocument *document, guint tensor);
void tm_inspector_add_model_support (GtkWidget *box, TmDocument *document);
/* The bytes were read on a worker. */
void tm_inspector_add_packing (GtkWidget *box, TmDocument *document, TmPackingCard *packing);

G_END_DECLS
