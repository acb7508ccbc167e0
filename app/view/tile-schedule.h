/* Jobs of the tiles and the threads that do them. Internal to the tiles.
 *
 * The queue is its own object, referenced by every task: whoever made it lets go of it at any moment, and workers finish
 * by themselves. A job references the model, so its tensor outlives it. */
#pragma once

#include "view/tile-make.h"

G_BEGIN_DECLS

typedef enum { TM_JOB_TILE, TM_JOB_RANGE } TmJobKind;

typedef struct
{
  gint refs;
  TmJobKind kind;
  TmModel *model;
  const TmTensor *tensor;
  TmTileKey key; /* RANGE: tensor and quantity */
  TmSheet sheet;
  gboolean exact;
  gboolean costly; /* after everything that is not, and lets such work pass while it runs */
  gboolean counted; /* among what is waited for; under the queue's lock */
  float *child[4]; /* finer exact tiles to merge: own references; NULL: read the tensor */
  guint child_width[4], child_height[4];
  gboolean merge;
  guint64 frame; /* last frame that wanted it; main thread */
  int priority;  /* smaller first; under the queue's lock */
  guint64 number;
  GCancellable *cancellable;

  /* what came of it */
  float *texels; /* atomic box */
  guint width, height;
  float range;
  double ms;
  GError *error;
} TmJob;

typedef struct _TmJobQueue TmJobQueue;

/* Everything done since the last call; the array keeps the references. */
typedef void (*TmJobsDone) (GPtrArray *jobs, gpointer data);

TmJob *tm_job_new (TmModel *model, const TmTensor *tensor, const TmTileKey *key, const TmSheet *sheet);
TmJob *tm_job_ref (TmJob *job);
void tm_job_unref (TmJob *job);

/* done is called on the thread-default main context of the caller, in one idle at most. */
TmJobQueue *tm_job_queue_new (guint n_threads, TmJobsDone done, gpointer data);
/* Drops what waits, cancels what runs, and waits for nothing; done is not called any more. */
void tm_job_queue_close (TmJobQueue *queue);
void tm_job_queue_push (TmJobQueue *queue, TmJob *job);
void tm_job_queue_set_priority (TmJobQueue *queue, TmJob *job, int priority);
/* Takes it out if it has not started, else cancels it; its result will not come. */
void tm_job_queue_cancel (TmJobQueue *queue, TmJob *job);

/* Jobs of all queues that wait or run and are not costly. Any thread. */
guint tm_job_queues_count_urgent (void);

G_END_DECLS
