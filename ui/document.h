/* Document: what one window shows, and the one place its widgets meet: the model with its layout and tiles, the one
 * selection (an address) with its history, the overlay and its switches. Outliner, canvas, breadcrumb and inspector observe
 * it and never each other.
 *
 * Signals (all on the main thread, no arguments unless given):
 *   model-changed      another model, or none; layout and tiles may not be there yet
 *   layout-changed     the layout was made, or a fold opened or closed
 *   selection-changed
 *   fly-to             after selection-changed, when the canvas should bring the selection into view
 *   view-changed       overlay, reduction, boundaries, theme
 *   tiles-changed      tiles arrived
 *   hover-changed
 *   history-changed    whether back and forward are possible
 *   comparison-changed another comparison, or none
 *   statistics-changed more is known
 *   sparsity-changed   more zeros were counted, or counting began or ended
 *   counting           how far counting is
 *   problem (char *)   something to show in the banner
 *   reopen (TmAssume *) a person chose another reading: open the model again with these choices (borrowed)
 */
#pragma once

#include <gtk/gtk.h>

#include "analysis/statistics.h"
#include "model/address.h"
#include "recognise/assume.h"
#include "ui/comparison.h"
#include "ui/support-map.h"
#include "ui/zeros.h"
#include "view/scene.h"

G_BEGIN_DECLS

#define TM_TYPE_DOCUMENT (tm_document_get_type ())
G_DECLARE_FINAL_TYPE (TmDocument, tm_document, TM, DOCUMENT, GObject)

TmDocument *tm_document_new (void);

/* Takes a reference on model (NULL empties the document) and lays it out on a worker. */
void tm_document_set_model (TmDocument *document, TmModel *model);
/* The same model read again, perhaps with other readings (assume, copied; NULL: none): selection, history, opened folds and
 * the view stay as far as the new one has what they speak of. */
void tm_document_replace_model (TmDocument *document, TmModel *model, const TmAssume *assume);
gboolean tm_document_keeps_view (TmDocument *document); /* within model-changed: it is such a replacement */
TmModel *tm_document_get_model (TmDocument *document);         /* NULL when empty */
const TmLayout *tm_document_get_layout (TmDocument *document); /* NULL until it is made */
TmTiles *tm_document_get_tiles (TmDocument *document);         /* NULL when empty */

/* What the model differs from a reference in; NULL takes it away. A diff of another model is not taken. It goes with the
 * model. */
void tm_document_set_diff (TmDocument *document, TmDiff *diff);
TmComparison *tm_document_get_comparison (TmDocument *document); /* NULL: none */
/* Of the model; NULL when empty. Whoever computes some says so (statistics-changed); the selected tensor's colours are then by
 * them. */
TmStatisticsSet *tm_document_get_statistics (TmDocument *document);
void tm_document_statistics_arrived (TmDocument *document);
/* The colour range of a tensor's values as a person chose it; 0: as the statistics say. */
void tm_document_set_range (TmDocument *document, guint tensor, float range);
/* Zeros by cause, as far as they were counted; made when first asked for, and anew when the comparison changes. NULL when
 * empty. */
TmZeros *tm_document_get_zeros (TmDocument *document);
TmZeros *tm_document_peek_zeros (TmDocument *document); /* NULL until somebody asked for them */
void tm_document_take_sparsity (TmDocument *document, GPtrArray *found); /* of TmSparsity */
/* Whether zeros are being counted, and how far that is; said by who counts. */
typedef enum { TM_COUNTING_NONE, TM_COUNTING_ONE, TM_COUNTING_ALL } TmCounting;
void tm_document_set_counting (TmDocument *document, TmCounting counting, guint tensor, double fraction);
TmCounting tm_document_get_counting (TmDocument *document, guint *tensor, double *fraction);
/* The backend of the overlay of that name; −1 as long as none is chosen. Choosing one chooses the overlay. */
gint tm_document_get_backend (TmDocument *document);
TmSupportMap *tm_document_get_support (TmDocument *document); /* NULL: none */
void tm_document_set_backend (TmDocument *document, gint backend);
/* Entries of the legend, of overlays that have such: of one tensor, or (−1) of all. facts: (transfer full), NULL for none. */
guint tm_document_list_legend (TmDocument *document, gint64 tensor, TmLegendEntry entries[TM_LEGEND_ENTRIES], char **facts);
/* What the overlay judges each tensor to be; NULL under overlays that do not, and until there is a layout. */
const TmTensorMark *tm_document_get_marks (TmDocument *document);

/* Selection. select() records history (equal addresses are not recorded twice; moving from scalar to scalar in one tensor
 * replaces the last entry made within a second). fly: also emit fly-to. */
const TmAddress *tm_document_get_selection (TmDocument *document);
void tm_document_select (TmDocument *document, const TmAddress *address, gboolean fly);
void tm_document_select_tensor (TmDocument *document, guint tensor, gboolean fly);
/* Opens what hides it, selects it and flies to it. */
void tm_document_show_tensor (TmDocument *document, guint tensor);
void tm_document_select_scalar (TmDocument *document, guint tensor, guint64 flat, gboolean fly);
void tm_document_select_module (TmDocument *document, TmModule *module, gboolean fly);
gboolean tm_document_go_to (TmDocument *document, const char *text, GError **error); /* address grammar; flies */
void tm_document_go_back (TmDocument *document);
void tm_document_go_forward (TmDocument *document);
gboolean tm_document_can_go_back (TmDocument *document);
gboolean tm_document_can_go_forward (TmDocument *document);
void tm_document_go_up (TmDocument *document);   /* scalar → tensor → module → … → model */
void tm_document_go_into (TmDocument *document); /* model → first module → first tensor → first scalar */
void tm_document_step_tensor (TmDocument *document, int by); /* next, previous tensor */

/* The selected scalar's flat index; FALSE if the selection is not one scalar of a logical tensor. */
gboolean tm_document_get_scalar (TmDocument *document, guint *tensor, guint64 *flat);
/* The tensor that is selected or whose scalar or region is; FALSE otherwise. */
gboolean tm_document_get_tensor (TmDocument *document, guint *tensor);

/* Choices where the file leaves a reading open. assume() asks for the model to be opened again (signal reopen): tensor NULL
 * for the whole model, value NULL to take a choice back; forget_assumptions() takes all back. */
const TmAssume *tm_document_get_assume (TmDocument *document); /* NULL: none */
void tm_document_assume (TmDocument *document, const char *tensor, const char *key, const char *value);
void tm_document_forget_assumptions (TmDocument *document);

/* Folds: opens the fold whose first module has this path in place (or closes it again). */
void tm_document_set_unfolded (TmDocument *document, const char *path, gboolean unfolded);
gboolean tm_document_get_unfolded (TmDocument *document, const char *path);

TmOverlay tm_document_get_overlay (TmDocument *document);
/* ERROR needs a comparison: without one it is not taken. */
void tm_document_set_overlay (TmDocument *document, TmOverlay overlay);
TmReduce tm_document_get_reduce (TmDocument *document);
void tm_document_set_reduce (TmDocument *document, TmReduce reduce);
gboolean tm_document_get_boundaries (TmDocument *document);
void tm_document_set_boundaries (TmDocument *document, gboolean boundaries);
/* Columns sorted by group where a table scatters them (act-order); can: some tensor has such columns. */
gboolean tm_document_can_sort_columns (TmDocument *document);
gboolean tm_document_get_sort_columns (TmDocument *document);
void tm_document_set_sort_columns (TmDocument *document, gboolean sort);
const TmTheme *tm_document_get_theme (TmDocument *document);
void tm_document_set_theme (TmDocument *document, gboolean dark, TmColor accent);

/* What is under the pointer, for the status line: NULL when nothing. */
const TmAddress *tm_document_get_hover (TmDocument *document);
void tm_document_set_hover (TmDocument *document, const TmAddress *address);

void tm_document_report_problem (TmDocument *document, const char *message); /* emits problem */

G_END_DECLS
