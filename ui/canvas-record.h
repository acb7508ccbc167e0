/* Record: the exact texts of one scalar, read on a worker. Kept until another is wanted. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef struct _TmRecord TmRecord;

struct _TmRecord
{
  TmModel *model; /* own reference */
  guint tensor;
  guint64 flat;
  gboolean ready;
  char *raw, *value, *text; /* raw NULL for an ordinary dtype; text: the whole record for people */
  char *problem;            /* why there is none */
  GCancellable *job;
  void (*done) (TmRecord *record, gpointer data);
  gpointer data;
};

/* Starts to read; done is called once, on the main context, unless the record was freed before. */
TmRecord *tm_record_new (TmModel *model, guint tensor, guint64 flat, void (*done) (TmRecord *, gpointer), gpointer data);
void tm_record_free (TmRecord *record);
gboolean tm_record_is (const TmRecord *record, TmModel *model, guint tensor, guint64 flat); /* record may be NULL */

G_END_DECLS
