/* What the files of the window share: window.c (structure), window-open.c, window-actions.c, window-drop.c,
 * window-compare.c, window-statistics.c,
 * window-sparsity.c, window-dock.c, window-export.c. */
#pragma once

#include "ui/banner.h"
#include "ui/empty-page.h"
#include "ui/jobs.h"
#include "ui/finder.h"
#include "ui/panes.h"
#include "ui/status-bar.h"
#include "ui/window.h"

G_BEGIN_DECLS

struct _TmWindow
{
  GtkApplicationWindow parent_instance;

  TmDocument *document;
  TmJobs *jobs;
  TmAppearance *appearance;

  /* template */
  GtkWidget *title, *subtitle;
  GtkMenuButton *open_button, *overlay_button, *menu_button;
  GtkToggleButton *boundaries_button;
  GtkWidget *open_label, *compare_label, *overlay_label, *boundaries_label, *open_arrow, *overlay_arrow;
  GtkImage *compare_icon, *overlay_icon, *boundaries_icon;
  TmBanner *banner;
  GtkOverlay *over;
  GtkStack *stack;
  GtkWidget *content;
  GMenu *recent_menu, *backend_menu;

  TmEmptyPage *empty_page;
  TmPanes *panes;
  GtkWidget *outliner, *canvas, *inspector;
  TmStatusBar *status_bar;
  GtkWidget *drop_page;
  GtkWidget *dock, *dock_switcher; /* under the canvas */
  GtkStack *dock_stack;
  gboolean table_shown;
  GCancellable *comparing;
  GCancellable *computing_all, *computing_one; /* statistics */
  guint computing_idle;
  GCancellable *counting; /* zeros */
  gboolean counting_all;
  gpointer counted;       /* TmZeros that the overlay began to count, only to compare with */
  TmModel *reference; /* what the model is compared with, to do it again when it is read again */
  GtkWidget *palette;

  guint opening; /* models on their way into this window */
  gboolean narrow, tight;
  int title_chars;    /* of the header's title, at most */
  int end_with_words; /* width of the header's end when it was last not tight */
  guint naming; /* idle */
};

void tm_window_install_actions (TmWindow *window);
void tm_window_update_actions (TmWindow *window);
void tm_window_install_drop (TmWindow *window);
void tm_window_refresh_recent (TmWindow *window);
void tm_window_reload (TmWindow *window);
void tm_window_reopen (TmWindow *window, gpointer assume); /* const TmAssume *: readings that a person chose */
void tm_window_open_sample (TmWindow *window);

/* window-compare.c */
void tm_window_choose_reference (TmWindow *window, gboolean folder);
void tm_window_compare (TmWindow *window, const char *path);
void tm_window_compare_any (TmWindow *window, GPtrArray *paths); /* of one model */
void tm_window_compare_again (TmWindow *window, TmModel *reference);
void tm_window_stop_comparing (TmWindow *window); /* the work, not the result */

/* window-export.c */
void tm_window_export (TmWindow *window);
void tm_window_export_region (TmWindow *window);
void tm_window_export_tensor (TmWindow *window); /* the whole one, whatever is selected in it */

/* window-dock.c */
void tm_window_build_dock (TmWindow *window);
void tm_window_update_dock (TmWindow *window, gboolean show_comparison);
void tm_window_show_table (TmWindow *window, gboolean shown);

/* window-statistics.c */
void tm_window_install_statistics (TmWindow *window);
void tm_window_compute_all (TmWindow *window);
void tm_window_stop_statistics (TmWindow *window);

/* window-sparsity.c */
void tm_window_install_sparsity (TmWindow *window);
void tm_window_count_zeros (TmWindow *window, gint64 tensor); /* −1: of all; not those that were counted */
void tm_window_stop_counting (TmWindow *window);

G_END_DECLS
