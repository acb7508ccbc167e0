/* A query as it was parsed (query-parse.c), for who answers it (query.c). */
#pragma once

#include "analysis/query.h"

G_BEGIN_DECLS

typedef enum
{
  TM_FIELD_NAME, TM_FIELD_MODULE, TM_FIELD_DTYPE, TM_FIELD_SCHEME, TM_FIELD_GRANULARITY, TM_FIELD_IS,
  TM_FIELD_ROWS, TM_FIELD_COLUMNS, TM_FIELD_RANK, TM_FIELD_PARAMETERS, TM_FIELD_BYTES, TM_FIELD_BPW, TM_FIELD_BITS, TM_FIELD_GROUP,
  TM_FIELD_MIN, TM_FIELD_MAX, TM_FIELD_ABSMAX, TM_FIELD_MEAN, TM_FIELD_STD, TM_FIELD_RMS,
  TM_FIELD_ZEROS, TM_FIELD_NAN, TM_FIELD_INF, TM_FIELD_CODES,
  TM_FIELD_SQNR, TM_FIELD_COSINE, TM_FIELD_MSE, TM_FIELD_MAXERROR, TM_FIELD_OVERSTEP, TM_FIELD_CLIPPED,
  TM_N_FIELDS
} TmQueryFieldKind;

extern const TmQueryField tm_query_fields[TM_N_FIELDS];

typedef enum
{
  TM_RELATION_LESS, TM_RELATION_AT_MOST, TM_RELATION_MORE, TM_RELATION_AT_LEAST, TM_RELATION_EQUAL, TM_RELATION_OTHER
} TmQueryRelation;
typedef enum { TM_QUERY_TERM, TM_QUERY_NOT, TM_QUERY_AND, TM_QUERY_OR, TM_QUERY_OPEN } TmQueryStepKind;

typedef struct
{
  TmQueryStepKind kind;
  TmQueryFieldKind field;
  TmQueryRelation relation;
  double number;
  gboolean percent;
  char *text;             /* lower case */
  GPatternSpec *pattern;  /* or NULL */
} TmQueryStep;

struct _TmQuery
{
  GArray *steps; /* TmQueryStep: terms before what joins them */
  TmQueryNeeds needs;
};

G_END_DECLS
