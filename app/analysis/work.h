/* Long work in pieces: as many threads as there are cores, progress, cancelling, and room for the picture: while tiles wait
 * to be made, analysis stands aside. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Called from one thread at a time, not always the same one; fraction grows from 0 to 1. text: what is being worked on. */
typedef void (*TmProgressFunc) (double fraction, const char *text, gpointer data);

/* Whether something with a person waiting for it is under way (tiles). Set once, before any work; called on any thread. */
typedef gboolean (*TmWorkBusy) (gpointer data);
void tm_work_set_busy (TmWorkBusy busy, gpointer data);

/* Looks at the cancellable and lets what is urgent pass, for some milliseconds at most. To be called between chunks of a
 * few milliseconds. FALSE: cancelled. */
gboolean tm_work_pause (GCancellable *cancellable, GError **error);

guint tm_work_get_threads (void);

/* Items 0 … n − 1, each once, handed out in order to the threads. item runs on any of them; thread counts from 0. The first
 * error ends the work, and is given. */
typedef gboolean (*TmWorkItem) (guint64 item, guint thread, gpointer data, GError **error);
gboolean tm_work_run (guint64 n, TmWorkItem item, gpointer data, GCancellable *cancellable, GError **error);

/* Where the items of several tasks are numbered through: which task an item is of. first_item: that of task 0, which is 0;
 * stride: bytes from one task to the next; n: at least 1. */
guint tm_work_find_task (const guint64 *first_item, gsize stride, guint n, guint64 item);

G_END_DECLS
