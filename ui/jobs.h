/* Jobs: long work of one window, for the status line: what runs, how far it is, and a way to stop it. A job shows only
 * after 200 ms, so that quick work does not flicker. Main thread only. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define TM_TYPE_JOBS (tm_jobs_get_type ())
G_DECLARE_FINAL_TYPE (TmJobs, tm_jobs, TM, JOBS, GObject)

typedef struct _TmJob TmJob;

TmJobs *tm_jobs_new (void); /* emits "changed" when what should be shown changes */

/* label is text for people. cancellable may be NULL: then it cannot be stopped. */
TmJob *tm_jobs_start (TmJobs *jobs, const char *label, GCancellable *cancellable);
void tm_jobs_set_progress (TmJobs *jobs, TmJob *job, double fraction); /* below 0: not known */
void tm_jobs_set_label (TmJobs *jobs, TmJob *job, const char *label);
void tm_jobs_end (TmJobs *jobs, TmJob *job);

/* The oldest job that is old enough to be shown. FALSE if there is none. label is the job's. */
gboolean tm_jobs_get_shown (TmJobs *jobs, const char **label, double *fraction, gboolean *can_cancel);
void tm_jobs_cancel_shown (TmJobs *jobs);
void tm_jobs_cancel_all (TmJobs *jobs);

G_END_DECLS
