/* Inside of the document, for its own files alone. */
#pragma once

#include "ui/document.h"

G_BEGIN_DECLS

struct _TmDocument
{
  GObject parent_instance;

  TmModel *model;
  TmLayout *layout;
  TmTiles *tiles;
  TmComparison *comparison;
  TmZeros *zeros;        /* NULL until they are asked for */
  TmSupportMap *support; /* NULL until the overlay is chosen */
  TmCounting counting;
  guint counted_tensor;
  double counted;
  TmStatisticsSet *statistics;
  GHashTable *ranges; /* tensor + 1: a person chose its colour range */
  GHashTable *unfolded; /* paths of the first folded modules */
  GCancellable *layout_job;
  TmAssume *assume;     /* a person's choices; NULL: none */
  gboolean keeps_view;

  TmAddress selection;
  TmAddress hover;
  gboolean has_hover;

  GPtrArray *history; /* TmAddress *; the entry at position is the selection */
  guint position;
  gint64 recorded_at;

  TmOverlay overlay;
  TmReduce reduce;
  gboolean boundaries;
  gboolean can_sort, sort_columns;
  TmTheme theme;
};

typedef enum
{
  MODEL_CHANGED,
  LAYOUT_CHANGED,
  SELECTION_CHANGED,
  FLY_TO,
  VIEW_CHANGED,
  TILES_CHANGED,
  HOVER_CHANGED,
  HISTORY_CHANGED,
  COMPARISON_CHANGED,
  STATISTICS_CHANGED,
  SPARSITY_CHANGED,
  COUNTING,
  PROBLEM,
  REOPEN,
  N_SIGNALS
} TmDocumentSignal;

extern guint tm_document_signals[N_SIGNALS];

/* An entry of the history: a copy of an address. */
TmAddress *tm_document_history_entry_new (const TmAddress *address);
void tm_document_history_entry_free (gpointer entry);

/* document-judge.c: takes away what was judged of the model, or of its comparison; what it returns is freed when the
 * observers have heard of it. */
TmZeros *tm_document_steal_zeros (TmDocument *document);
void tm_document_forget_judgements (TmDocument *document); /* marks, when layout or theme changed */
void tm_document_tiles_arrived (gpointer document);
void tm_document_support_arrived (gpointer document);
/* Makes what an overlay shows. */
void tm_document_prepare_overlay (TmDocument *document);

/* Lays the model out on a worker, with the folds as they are now; layout-changed follows. */
void tm_document_start_layout (TmDocument *document);

G_END_DECLS
