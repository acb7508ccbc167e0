/* What statistics and their cache share. */
#pragma once

#include "analysis/statistics.h"

G_BEGIN_DECLS

struct _TmStatisticsSet
{
  gint ref_count;
  GMutex lock;
  TmModel *model;
  TmStatistics **of; /* of each tensor, or NULL */
  guint n_known;     /* of them, those that are not */
  gboolean loaded;
  char *identity;    /* of the model's files and readings, when the set was made; NULL: not to be kept */
};

TmStatistics *tm_statistics_new (void);

/* Files, sizes, times and readings as one word; NULL where a file cannot be looked at. (transfer full) */
char *tm_statistics_cache_identify (TmModel *model);
/* Both hold no lock; of: an array of own references, one a tensor. Failing is no matter. */
void tm_statistics_cache_load (const char *identity, TmStatistics **of, guint n);
void tm_statistics_cache_save (const char *identity, TmStatistics *const *of, guint n);

G_END_DECLS
